//! Times the factorisation of KKT matrices that are built as those of a predicted walk in three dimensions.
//!
//!     cargo run --release -p soleus-optimization --example walking_kkt_bench -- INTERVALS MUSCLES [linear|constant|free] [periodic]
//!
//! 31 coordinates in a trunk and four limbs, muscles with activation and tendon force as states, three Radau points in
//! an interval, rates and controls as variables; numbers are drawn from a seed. The last words say how controls go inside an interval
//! and whether the last point meets the first one. `SHOW` in the environment prints the largest fronts.

use soleus_math::Random;
use soleus_optimization::linear::SparseLdlt;
use soleus_optimization::nlp::{KktOrdering, KktPattern, SparsityPattern, Stages};
use std::time::Instant;

const COORDINATES: usize = 31;
const ARMS: usize = 8;
const POINTS: usize = 3;

/// Coordinates that a muscle crosses: of the trunk, or a run of those of a leg.
fn crossed(muscle: usize, muscles: usize) -> Vec<usize> {
    if muscle < 6 {
        return (20..23).collect();
    }
    let leg = if muscle < 6 + (muscles - 6) / 2 { 6 } else { 13 };
    match muscle % 4 {
        0 => (leg..leg + 3).collect(),
        1 => (leg..leg + 4).collect(),
        2 => (leg + 3..leg + 6).collect(),
        _ => (leg + 4..leg + 7).collect(),
    }
}

/// Variables and rows with their stages; places of the matrices.
#[derive(Default)]
struct Problem {
    stages: Stages,
    jacobian: Vec<(usize, usize)>,
    hessian: Vec<(usize, usize)>,
}

impl Problem {
    fn variables(&mut self, count: usize, stage: u32) -> Vec<usize> {
        let first = self.stages.of_variable.len();
        self.stages.of_variable.extend(std::iter::repeat_n(stage, count));
        (first..first + count).collect()
    }

    fn row(&mut self, variables: impl IntoIterator<Item = usize>) {
        let row = self.stages.of_constraint.len();
        let variables: Vec<usize> = variables.into_iter().collect();
        let stage = variables.iter().map(|&v| self.stages.of_variable[v]).min().unwrap_or(0);
        self.jacobian.extend(variables.iter().map(|&v| (row, v)));
        self.stages.of_constraint.push(stage);
    }

    fn meet(&mut self, variables: &[usize]) {
        for (k, &a) in variables.iter().enumerate() {
            self.hessian.extend(variables[..=k].iter().map(|&b| (a.max(b), a.min(b))));
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, otherwise: usize| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(otherwise);
    let (intervals, muscles) = (number(0, 50), number(1, 92));
    let has = |word: &str| words.iter().any(|w| w == word);
    let mut p = Problem::default();
    let time = p.variables(1, Stages::BORDER)[0];
    let (n, controls) = (COORDINATES, muscles + ARMS);
    let states = 2 * n + 2 * muscles + ARMS;

    // Points: q, u, a, F, arms; then rates of all but q; then controls.
    let points: Vec<Vec<usize>> = (0..=POINTS * intervals)
        .map(|k| p.variables(states + states - n + controls, (k / POINTS) as u32))
        .collect();
    let rate = |i: usize| if i < n { n + i } else { states + i - n };
    for (k, x) in points.iter().enumerate() {
        let (q, u, udot) = (&x[..n], &x[n..2 * n], &x[states..states + n]);
        let (activation, force) = (2 * n, 2 * n + muscles);
        for i in 0..n {
            let pull = (0..muscles).filter(|&m| crossed(m, muscles).contains(&i)).map(|m| x[force + m]);
            let arm = (i >= n - ARMS).then(|| x[2 * n + 2 * muscles + i + ARMS - n]);
            p.row(q.iter().chain(u).chain(udot).copied().chain(pull).chain(arm));
        }
        for m in 0..muscles {
            let across: Vec<usize> = crossed(m, muscles).iter().flat_map(|&i| [q[i], u[i]]).collect();
            let own = [x[activation + m], x[force + m], x[rate(force + m)]];
            p.row(own.iter().chain(&across).copied());
            p.meet(&own.iter().chain(&across).copied().collect::<Vec<_>>());
            p.row([x[activation + m], x[rate(activation + m)], x[2 * states - n + m]]);
            p.meet(&[x[2 * states - n + m]]);
        }
        for i in 0..ARMS {
            let state = 2 * n + 2 * muscles + i;
            p.row([x[state], x[rate(state)], x[2 * states - n + muscles + i]]);
            p.meet(&[x[2 * states - n + muscles + i]]);
        }
        p.meet(&q.iter().chain(u).copied().collect::<Vec<_>>());
        for &a in udot {
            p.meet(&[a]);
            p.hessian.extend(q.iter().map(|&b| (a, b)));
        }
        if k % POINTS == 0 && k > 0 {
            let inside = &points[k - POINTS..=k];
            for j in 1..=POINTS {
                for i in 0..states {
                    p.row(inside.iter().map(|x| x[i]).chain([inside[j][rate(i)], time]));
                    p.hessian.push((inside[j][rate(i)], time));
                }
                for i in 2 * states - n..2 * states - n + controls {
                    if has("linear") && j < POINTS {
                        p.row([inside[0][i], inside[j][i], inside[POINTS][i]]);
                    } else if has("constant") && j < POINTS {
                        p.row([inside[j][i], inside[POINTS][i]]);
                    }
                }
            }
        }
    }
    if has("periodic") {
        let copies = p.variables(states, Stages::BORDER);
        for i in 0..states {
            p.row([points[0][i], copies[i]]);
            p.row([points[POINTS * intervals][i], copies[i]]);
        }
    }

    let (variables, rows) = (p.stages.of_variable.len(), p.stages.of_constraint.len());
    let jacobian = SparsityPattern::from_places(rows, variables, p.jacobian);
    let hessian = SparsityPattern::from_places(variables, variables, p.hessian);
    println!("{variables} variables, {rows} rows, {} and {} places", jacobian.len(), hessian.len());
    let pattern = KktPattern::new(&hessian, &jacobian);
    let mut random = Random::new(7);
    let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| 2.0 * random.unit() - 1.0).collect() };
    let (w, j) = (draw(hessian.len()), draw(jacobian.len()));
    let d: Vec<f64> = draw(variables).iter().map(|x| 60.0 + 10f64.powf(4.0 * x)).collect();
    let mut values = vec![0.0; pattern.lower.len()];
    pattern.assemble(&w, &j, &d, &vec![0.0; rows], &mut values);
    let b = draw(variables + rows);
    let mut first: Option<Vec<f64>> = None;
    for threads in [1, 2] {
        let begin = Instant::now();
        let mut solver: SparseLdlt = pattern.solver(Some(&p.stages), KktOrdering::Automatic, threads);
        let s = solver.symbolic();
        println!(
            "analysed in {:.2} s: {:.2e} operations, {:.1} million places",
            begin.elapsed().as_secs_f64(),
            s.num_operations,
            s.num_factor as f64 * 1e-6
        );
        for _ in 0..3 {
            let begin = Instant::now();
            let inertia = solver.factor(&values);
            let factored = begin.elapsed().as_secs_f64();
            let mut x = b.clone();
            let begin = Instant::now();
            solver.solve(&mut x);
            println!(
                "{threads} threads: factor {factored:.3} s ({:.2e} operations/s), solve {:.3} s, {} waited, {inertia:?}",
                solver.symbolic().num_operations / factored,
                begin.elapsed().as_secs_f64(),
                solver.num_waited()
            );
            assert!(first.as_ref().is_none_or(|f| *f == x), "bits depend on threads");
            first = Some(x);
        }
    }
}

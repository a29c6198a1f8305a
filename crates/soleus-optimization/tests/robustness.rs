//! Whatever the problem: an answer, and an honest one.

use crate::common::{Model, Pieces};
use soleus_math::Random;
use soleus_math::Real;
use soleus_math::norm::largest;
use soleus_optimization::nlp::{
    NlpError, NonlinearProgram, Options, Solution, SparsityPattern, Stages, Status, solve, solve_from,
};
use std::ops::ControlFlow;

const INF: f64 = f64::INFINITY;

fn run(p: &mut impl NonlinearProgram, options: &Options) -> Result<Solution, NlpError> {
    solve(p, options, None, &mut |_| ControlFlow::Continue(()))
}

/// Errors of the optimality conditions computed from the problem alone: feasibility, stationarity, signs and
/// complementarity.
fn conditions(p: &mut impl NonlinearProgram, s: &Solution) -> f64 {
    let (n, m) = (p.num_variables(), p.num_constraints());
    let (mut lower, mut upper, mut c_lower, mut c_upper) =
        (vec![0.0; n], vec![0.0; n], vec![0.0; m], vec![0.0; m]);
    p.compute_variable_bounds(&mut lower, &mut upper);
    p.compute_constraint_bounds(&mut c_lower, &mut c_upper);
    let (mut g, mut c) = (vec![0.0; n], vec![0.0; m]);
    p.compute_gradient(&s.x, &mut g);
    p.compute_constraints(&s.x, &mut c);
    let mut j = vec![0.0; p.jacobian_pattern().len()];
    p.compute_jacobian(&s.x, &mut j);
    for ((r, k), v) in p.jacobian_pattern().places().zip(&j) {
        g[k] += v * s.multipliers[r];
    }
    let mut worst = 0.0f64;
    for i in 0..n {
        worst = largest([worst, lower[i] - s.x[i], s.x[i] - upper[i]]);
        let (zl, zu) = (s.lower_multipliers[i], s.upper_multipliers[i]);
        worst = largest([worst, -zl, -zu]);
        if lower[i] < upper[i] {
            worst = largest([worst, (g[i] - zl + zu).abs()]);
            worst = largest([worst, if zl > 0.0 { zl * (s.x[i] - lower[i]) } else { 0.0 }]);
            worst = largest([worst, if zu > 0.0 { zu * (upper[i] - s.x[i]) } else { 0.0 }]);
        }
    }
    for r in 0..m {
        worst = largest([worst, c_lower[r] - c[r], c[r] - c_upper[r]]);
        let y = s.multipliers[r];
        if c_lower[r] < c_upper[r] {
            let distance = if y < 0.0 { c[r] - c_lower[r] } else { c_upper[r] - c[r] };
            worst = largest([worst, if y.abs() > 1e-12 { (y * distance).abs() } else { 0.0 }]);
        }
    }
    worst
}

/// Random quartics with random quadratic rows.
struct Rough {
    n: usize,
    numbers: Vec<f64>,
}

impl Model for Rough {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        let k = |i: usize| self.numbers[i % self.numbers.len()];
        for (r, c) in c.iter_mut().enumerate() {
            for i in 0..self.n {
                let next = x[(i + r + 1) % self.n];
                *c += x[i] * k(17 * r + i) + x[i] * next * k(31 * r + 3 * i) + x[i].sin() * k(r + i);
            }
        }
        let mut f = T::zero();
        for i in 0..self.n {
            f += x[i].sq().sq() * 0.1 + x[i] * x[(i + 2) % self.n] * k(7 * i) + x[i] * k(5 * i + 1);
        }
        f
    }
}

fn rough(seed: u64) -> Pieces<Rough> {
    let mut random = Random::new(seed);
    let n = 1 + (random.unit() * 9.0) as usize;
    let m = (random.unit() * n as f64) as usize;
    let numbers: Vec<f64> = (0..97).map(|_| 4.0 * random.unit() - 2.0).collect();
    let mut bound = |chance: f64, value: f64, none: f64| if random.unit() < chance { value } else { none };
    let lower: Vec<f64> = (0..n).map(|_| bound(0.5, -1.5, -INF)).collect();
    let upper: Vec<f64> = (0..n).map(|_| bound(0.5, 1.5, INF)).collect();
    let row_lower: Vec<f64> = (0..m).map(|_| bound(0.7, -0.5, -INF)).collect();
    let row_upper: Vec<f64> =
        row_lower.iter().map(|&l| bound(0.5, if l == -INF { 0.3 } else { l }, INF)).collect();
    let start = (0..n).map(|_| 6.0 * random.unit() - 3.0).collect();
    Pieces::dense(Rough { n, numbers }, [lower, upper], [row_lower, row_upper], start)
}

/// Three linear rows on six variables; no objective.
struct Planes;

/// Coefficients of the rows and their right-hand sides.
const PLANES: ([[f64; 6]; 3], [f64; 3]) = (
    [[1.0, 2.0, 0.0, -1.0, 0.5, 3.0], [0.0, 1.0, -1.0, 4.0, 0.0, 1.0], [2.0, 0.0, 1.0, 0.0, -3.0, 1.0]],
    [4.0, -7.0, 11.0],
);

impl Model for Planes {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        for (c, row) in c.iter_mut().zip(&PLANES.0) {
            for (&x, &a) in x.iter().zip(row) {
                *c += x * a;
            }
        }
        T::zero()
    }
}

/// One step to linear rows is the shortest there is: it ends at the foot of the perpendicular, x₀ + Aᵀλ with A(x₀ + Aᵀλ) = b.
#[test]
fn analytic_feasibility_steps_are_the_shortest() {
    let start = vec![1.0, -2.0, 3.0, 0.5, -1.0, 2.0];
    let (a, b) = PLANES;
    let mut p = Pieces::dense(Planes, [vec![-INF; 6], vec![INF; 6]], [b.to_vec(), b.to_vec()], start.clone());
    let mut seen = Vec::new();
    let options = Options { feasibility_steps: 5, scaling_max_gradient: None, ..Default::default() };
    let s = solve(&mut p, &options, None, &mut |i| {
        seen.push((i.in_restoration, i.constraint_violation));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(s.status, Status::Solved);
    assert_eq!(s.counts.iterations, 1, "{seen:?}");
    assert!(seen[0].0 && seen[0].1 < 1e-12, "{seen:?}");
    // The way is a combination of the rows: the part of it across all rows vanishes.
    let mut way: Vec<f64> = s.x.iter().zip(&start).map(|(x, x0)| x - x0).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in a {
        let mut v = row.to_vec();
        for e in &basis {
            let d: f64 = v.iter().zip(e).map(|(a, b)| a * b).sum();
            v.iter_mut().zip(e).for_each(|(v, e)| *v -= d * e);
        }
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        basis.push(v.iter().map(|v| v / norm).collect());
    }
    for e in &basis {
        let d: f64 = way.iter().zip(e).map(|(a, b)| a * b).sum();
        way.iter_mut().zip(e).for_each(|(v, e)| *v -= d * e);
    }
    assert!(way.iter().all(|v| v.abs() < 1e-12), "{way:?}");
}

/// Where an iteration begins does not change what a solution is.
#[test]
fn identity_optimality_after_feasibility_steps() {
    let mut unsolved = 0;
    for seed in 0..300 {
        let mut p = rough(seed);
        let options = Options { max_iterations: 1000, feasibility_steps: 20, ..Default::default() };
        let s = run(&mut p, &options).unwrap();
        match s.status {
            Status::Solved | Status::Acceptable => {
                // As in `identity_optimality_of_rough_problems`.
                let error = conditions(&mut p, &s);
                assert!(error < 1e-5, "seed {seed}: {error:e} {:?}", s.certificate);
            }
            Status::Infeasible => {
                assert!(s.certificate.constraint_violation > 1e-6, "seed {seed}: {:?}", s.certificate);
            }
            _ => unsolved += 1,
        }
    }
    assert!(unsolved <= 3, "{unsolved}");
}

#[test]
fn identity_optimality_of_rough_problems() {
    let mut tally = [0; 3];
    for seed in 0..300 {
        let mut p = rough(seed);
        let s = run(&mut p, &Options { max_iterations: 1000, ..Default::default() }).unwrap();
        match s.status {
            Status::Solved | Status::Acceptable => {
                // Tolerance 1e-8 scaled; multipliers and scales here are below a hundred.
                let error = conditions(&mut p, &s);
                assert!(error < 1e-5, "seed {seed}: {error:e} {:?}", s.certificate);
                tally[0] += 1;
            }
            Status::Infeasible => {
                assert!(s.certificate.constraint_violation > 1e-6, "seed {seed}: {:?}", s.certificate);
                tally[1] += 1;
            }
            other => {
                println!("seed {seed}: {other:?} {:?}", s.certificate);
                tally[2] += 1;
            }
        }
    }
    println!("{} solved, {} locally infeasible, {} given up", tally[0], tally[1], tally[2]);
    assert!(tally[2] <= 3, "{tally:?}");
}

/// Whatever the sizes of its variables, a solution is one of the problem as stated, multipliers included; and the problem with
/// sizes knows it for one.
#[test]
fn identity_sizes_change_no_conditions() {
    let mut solved = 0;
    for seed in 0..100 {
        let mut p = rough(seed);
        let mut random = Random::new(seed + 1000);
        p.sizes = Some((0..p.num_variables()).map(|_| 10f64.powf(3.0 * random.unit() - 1.5)).collect());
        let options = Options { max_iterations: 1000, ..Default::default() };
        let s = run(&mut p, &options).unwrap();
        if s.status != Status::Solved {
            continue;
        }
        solved += 1;
        let error = conditions(&mut p, &s);
        assert!(error < 1e-5, "seed {seed}: {error:e} {:?}", s.certificate);
        let near = options.near_solution();
        let again = solve(&mut p, &near, Some(&s.warm_start()), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(again.status.is_solved() && again.counts.iterations <= 5, "seed {seed}: {again}");
        let sequence =
            solve_from(&mut p, &near, &s.warm_start(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(sequence.status.is_solved() && sequence.counts.iterations <= 5, "seed {seed}: {sequence}");
    }
    assert!(solved >= 80, "{solved} of 100");
}

/// A problem without anything, or with nothing free.
struct Bare {
    n: usize,
    rows: Vec<(f64, f64)>,
    fixed: bool,
    jacobian: SparsityPattern,
    hessian: SparsityPattern,
    stages: Option<Stages>,
}

impl Bare {
    fn new(n: usize, rows: Vec<(f64, f64)>, fixed: bool) -> Self {
        let jacobian = SparsityPattern::from_places(rows.len(), n, vec![]);
        Bare { n, rows, fixed, jacobian, hessian: SparsityPattern::from_places(n, n, vec![]), stages: None }
    }
}

impl NonlinearProgram for Bare {
    fn num_variables(&self) -> usize {
        self.n
    }
    fn num_constraints(&self) -> usize {
        self.rows.len()
    }
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        lower.fill(if self.fixed { 1.0 } else { 0.0 });
        upper.fill(1.0);
    }
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        for (i, &(l, u)) in self.rows.iter().enumerate() {
            (lower[i], upper[i]) = (l, u);
        }
    }
    fn compute_start(&self, x: &mut [f64]) {
        x.fill(0.5);
    }
    fn jacobian_pattern(&self) -> &SparsityPattern {
        &self.jacobian
    }
    fn hessian_pattern(&self) -> &SparsityPattern {
        &self.hessian
    }
    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        x.iter().sum()
    }
    fn compute_gradient(&mut self, _: &[f64], g: &mut [f64]) {
        g.fill(1.0);
    }
    fn compute_constraints(&mut self, _: &[f64], c: &mut [f64]) {
        c.fill(0.25);
    }
    fn compute_jacobian(&mut self, _: &[f64], _: &mut [f64]) {}
    fn compute_hessian(&mut self, _: &[f64], _: f64, _: &[f64], _: &mut [f64]) {}
    fn stages(&self) -> Option<&Stages> {
        self.stages.as_ref()
    }
}

#[test]
fn analytic_empty_and_fixed_problems() {
    let options = Options::default();
    assert_eq!(run(&mut Bare::new(0, vec![], false), &options).unwrap().status, Status::Solved);
    let s = run(&mut Bare::new(3, vec![], true), &options).unwrap();
    assert_eq!((s.status, s.x, s.objective), (Status::Solved, vec![1.0; 3], 3.0));
    let s = run(&mut Bare::new(2, vec![], false), &options).unwrap();
    assert_eq!(s.status, Status::Solved);
    assert!(s.x.iter().all(|x| (0.0..1e-6).contains(x)));
    // Rows that nothing can change: met, not met, and without bounds.
    let s = run(&mut Bare::new(2, vec![(0.0, 1.0), (-INF, INF)], false), &options).unwrap();
    assert_eq!(s.status, Status::Solved);
    let s = run(&mut Bare::new(2, vec![(0.5, 0.5)], false), &options).unwrap();
    assert_eq!((s.status, s.certificate.worst_constraint), (Status::Infeasible, Some(0)));
    let s = run(&mut Bare::new(2, vec![(0.5, 1.0)], true), &options).unwrap();
    assert!(!s.status.is_solved(), "{:?}", s.status);
    assert!((s.certificate.constraint_violation - 0.25).abs() < 1e-6);
}

#[test]
fn analytic_contradictions_are_named() {
    let options = Options::default();
    let e = run(&mut Bare::new(1, vec![(1.0, 0.0)], false), &options).unwrap_err();
    assert_eq!(e, NlpError::ConstraintBounds { index: 0, lower: 1.0, upper: 0.0 });
    assert_eq!(e.to_string(), "constraint 0 has lower bound 1 above its upper bound 0");
    let mut p = Bare::new(2, vec![], false);
    p.stages = Some(Stages { of_variable: vec![0], of_constraint: vec![] });
    let e = run(&mut p, &options).unwrap_err();
    assert!(matches!(e, NlpError::Length { what: "stages of variables", found: 1, expected: 2 }));
    let mut p = Bare::new(2, vec![], false);
    p.hessian = SparsityPattern::from_places(2, 2, vec![(0, 1)]);
    assert!(matches!(run(&mut p, &options).unwrap_err(), NlpError::UpperTriangle { row: 0, column: 1 }));
    let mut p = Bare::new(2, vec![(0.0, 0.0)], false);
    p.jacobian = SparsityPattern::from_places(1, 2, vec![(0, 7)]);
    let e = run(&mut p, &options).unwrap_err();
    assert_eq!(e, NlpError::PatternPlace { what: "Jacobian", row: 0, column: 7, variables: 2 });
    let bad = Options { tolerance: -1.0, ..options };
    assert!(matches!(
        run(&mut Bare::new(1, vec![], false), &bad),
        Err(NlpError::Option { name: "tolerance", .. })
    ));
}

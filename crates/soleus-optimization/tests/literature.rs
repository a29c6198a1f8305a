//! Problems of the literature that are hard for a reason: bad scaling, no constraint qualification, no minimum, many inequalities.
//!
//! Numbers beside them are those of Ipopt 3.14 with MUMPS and exact derivatives, from the same start (by CasADi 3.8.2, 2026).

use crate::common::{Model, Piece, Pieces};
use soleus_math::{Random, Real};
use soleus_optimization::nlp::{NonlinearProgram, Options, Solution, Status, solve};
use std::ops::ControlFlow;

const INF: f64 = f64::INFINITY;

fn run(p: &mut impl NonlinearProgram) -> Solution {
    let s = solve(p, &Options::default(), None, &mut |_| ControlFlow::Continue(())).unwrap();
    println!("{s}");
    s
}

fn free(n: usize) -> [Vec<f64>; 2] {
    [vec![-INF; n], vec![INF; n]]
}

/// Two generators and three buses (Hock & Schittkowski 1981, problem 109).
struct Hs109;

impl Model for Hs109 {
    fn eval<T: Real>(&self, _: usize, x: &[T], g: &mut [T]) -> T {
        let (a, b, c) = (50.176, 0.25f64.sin(), 0.25f64.cos());
        let loss = 0.7533e-3 * a;
        let (x5, x6, x7) = (x[4], x[5], x[6]);
        g[0] = x[3] - x[2] + 0.55;
        g[1] = x[2] - x[3] + 0.55;
        g[2] = -x[0].sq() - x[7].sq() + 2.25e6;
        g[3] = -x[1].sq() - x[8].sq() + 2.25e6;
        g[4] = x5 * x6 * (-x[2] - 0.25).sin() + x5 * x7 * (-x[3] - 0.25).sin() + x5.sq() * (2.0 * b)
            - x[0] * a
            + 400.0 * a;
        g[5] = x5 * x6 * (x[2] - 0.25).sin() + x6 * x7 * (x[2] - x[3] - 0.25).sin() + x6.sq() * (2.0 * b)
            - x[1] * a
            + 400.0 * a;
        g[6] = x5 * x7 * (x[3] - 0.25).sin()
            + x6 * x7 * (x[3] - x[2] - 0.25).sin()
            + x7.sq() * (2.0 * b)
            + 881.779 * a;
        g[7] = x[7] * a + x5 * x6 * (-x[2] - 0.25).cos() + x5 * x7 * (-x[3] - 0.25).cos() - 200.0 * a
            + x5.sq() * (loss - 2.0 * c);
        g[8] = x[8] * a + x5 * x6 * (x[2] - 0.25).cos() + x6 * x7 * (x[2] - x[3] - 0.25).cos() - 200.0 * a
            + x6.sq() * (loss - 2.0 * c);
        g[9] = x5 * x7 * (x[3] - 0.25).cos()
            + x6 * x7 * (x[3] - x[2] - 0.25).cos()
            + x7.sq() * (loss - 2.0 * c)
            + 22.938 * a;
        x[0] * 3.0 + x[0].sq() * x[0] * 1e-6 + x[1].sq() * x[1] * 0.522074e-6 + x[1] * 2.0
    }
}

#[test]
fn analytic_hs109() {
    let bounds = [
        vec![0.0, 0.0, -0.55, -0.55, 196.0, 196.0, 196.0, -400.0, -400.0],
        vec![INF, INF, 0.55, 0.55, 252.0, 252.0, 252.0, 800.0, 800.0],
    ];
    let rows = [vec![0.0; 10], [vec![INF; 4], vec![0.0; 6]].concat()];
    let s = run(&mut Pieces::dense(Hs109, bounds, rows, vec![0.0; 9]));
    // Ipopt, which sees no gradients above 100 at a start outside the bounds and so scales no row, without widening bounds (`bound_relax_factor` 0):
    // 5326.8513300912 after 21 iterations.
    assert_eq!(s.status, Status::Solved, "{s}");
    assert!((s.objective - 5_326.851_330_091_2).abs() < 1e-5, "{s}");
    assert!(s.counts.iterations < 60, "{s}");
}

/// y = x₀ exp(x₁/(t + x₂)), fitted (Meyer 1970; MGH10 of NIST).
struct Meyer;

impl Model for Meyer {
    fn eval<T: Real>(&self, _: usize, x: &[T], _: &mut [T]) -> T {
        let data = [
            34780.0, 28610.0, 23650.0, 19630.0, 16370.0, 13720.0, 11540.0, 9744.0, 8261.0, 7030.0, 6005.0,
            5147.0, 4427.0, 3820.0, 3307.0, 2872.0,
        ];
        data.iter().enumerate().fold(T::zero(), |sum, (i, &y)| {
            sum + (x[0] * (x[1] / (x[2] + (50.0 + 5.0 * i as f64))).exp() - y).sq()
        })
    }
}

#[test]
fn analytic_meyer() {
    for start in [vec![0.02, 4000.0, 250.0], vec![2.0, 400000.0, 25000.0]] {
        let s = run(&mut Pieces::dense(Meyer, free(3), free(0), start));
        // NIST: 87.9458551705, at 5.6096364710e-3, 6.1813463463e3, 3.4522363462e2.
        assert!(s.status.is_solved(), "{s}");
        assert!((s.objective - 87.9458551705).abs() < 1e-6, "{s}");
        assert!((s.x[1] - 6181.3463463).abs() < 1e-2, "{s}");
    }
}

/// CUTEst's PENALTY3.
struct Penalty3;

impl Model for Penalty3 {
    fn eval<T: Real>(&self, _: usize, x: &[T], _: &mut [T]) -> T {
        let n = x.len();
        let (mut a, mut b) = (T::zero(), T::zero());
        for i in 0..n - 2 {
            a += (x[i] + x[i + 1] * 2.0 + x[i + 2] * 10.0 - 1.0).sq();
            b += (x[i] * 2.0 + x[i + 1] - 3.0).sq();
        }
        let squares = x.iter().fold(T::zero(), |s, x| s + x.sq() - n as f64);
        let ones = x[..n / 2].iter().fold(T::zero(), |s, x| s + (*x - 1.0).sq());
        (x[n - 1].exp() * a + a * b + x[n - 2].exp() * b + 1.0) * 1e-3 + squares.sq() + ones
    }
}

#[test]
fn analytic_penalty3() {
    for alternating in [false, true] {
        let n = 50;
        let start = (0..n)
            .map(|i| if alternating { [-1.0, 1.0][(i + 1) % 2] } else { (i + 1) as f64 / (n + 1) as f64 });
        let s = run(&mut Pieces::dense(Penalty3, free(n), free(0), start.collect()));
        // 2418.447112 after 67 iterations; 0.001 is the least that the terms allow, where Ipopt stops at its limit of 3000.
        let objective = if alternating { 1e-3 } else { 2418.447112 };
        assert!(s.status.is_solved() && (s.objective - objective).abs() < 1e-6, "{s}");
        assert!(s.counts.iterations < 150 && s.certificate.weakness().is_none(), "{s}");
    }
}

/// No constraint qualification at the minimum: multipliers grow without end (Hock & Schittkowski, 13; Schittkowski 1987, 220 and 221).
struct Cusp(u32);

impl Model for Cusp {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        let t = x[0] - 1.0;
        let cube = t.sq() * t;
        match self.0 {
            13 => {
                c[0] = -cube - x[1];
                (x[0] - 2.0).sq() + x[1].sq()
            }
            220 => {
                c[0] = cube - x[1];
                x[0]
            }
            _ => {
                c[0] = -cube - x[1];
                -x[0]
            }
        }
    }
}

fn cusp(number: u32) -> Pieces<Cusp> {
    let (bounds, rows, start) = match number {
        13 => ([vec![0.0; 2], vec![INF; 2]], [vec![0.0], vec![INF]], vec![-2.0; 2]),
        220 => ([vec![1.0, 0.0], vec![INF; 2]], [vec![0.0], vec![0.0]], vec![25000.0; 2]),
        _ => ([vec![0.0; 2], vec![1.0; 2]], [vec![0.0], vec![INF]], vec![0.25; 2]),
    };
    Pieces::dense(Cusp(number), bounds, rows, start)
}

#[test]
fn analytic_cusps_are_solved_with_a_warning() {
    for (number, minimum, near) in [(13, 1.0, 1e-2), (220, 1.0, 2e-2), (221, -1.0, 1e-5)] {
        let s = run(&mut cusp(number));
        // Ipopt: 0.99458, 1.01388, −1.00000001; the minima are 1, 1, −1. The way along the cusp is flat: an error of 10⁻⁸ in the row is one of its cube root, 2·10⁻³,
        // in x. HS220 scales its row by 5·10⁻⁸.
        assert_eq!(s.status, Status::Solved, "{s}");
        assert!((s.objective - minimum).abs() < near, "{s}");
        assert!(s.certificate.weakness().is_some() && s.to_string().contains("relative to these"), "{s}");
    }
}

/// −x₀ − x₁/2, and x₀ − x₁.
struct Falling;

impl Model for Falling {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        if let Some(c) = c.first_mut() {
            *c = x[0] - x[1];
        }
        -x[0] - x[1] * 0.5
    }
}

#[test]
fn analytic_objectives_without_a_minimum_diverge() {
    let lower = || [vec![0.0; 2], vec![INF; 2]];
    let rows = |upper: f64| [vec![0.0], vec![upper]];
    let cases = [
        (lower(), free(0)),
        (free(2), free(0)),
        (free(2), rows(INF)),
        (free(2), rows(0.0)),
        (lower(), rows(INF)),
    ];
    for (bounds, rows) in cases {
        let s = run(&mut Pieces::dense(Falling, bounds, rows, vec![1.0; 2]));
        assert_eq!(s.status, Status::Diverging, "{s}");
        assert!(s.counts.iterations < 60, "{s}");
    }
}

/// The largest polygon with n vertices and unit diameter (COPS).
struct Polygon;

impl Model for Polygon {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        let [ri, rj, ti, tj] = [x[0], x[1], x[2], x[3]];
        c[0] = ri.sq() + rj.sq() - ri * rj * (tj - ti).cos() * 2.0;
        if c.len() == 1 {
            return T::zero();
        }
        c[1] = tj - ti;
        ri * rj * (tj - ti).sin() * -0.5
    }
}

fn polygon(n: usize) -> Pieces<Polygon> {
    let mut pieces = Vec::new();
    let mut upper = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let row = upper.len();
            upper.push(1.0);
            let mut rows = vec![row];
            if j == i + 1 {
                rows.push(row + 1);
                upper.push(INF);
            }
            pieces.push(Piece::new(vec![i, j, n + i, n + j], rows));
        }
    }
    let lower = upper.iter().map(|u: &f64| if u.is_finite() { -INF } else { 0.0 }).collect();
    let bounds = [vec![0.0; 2 * n], [vec![1.0; n], vec![std::f64::consts::PI; n]].concat()];
    let f = |i: usize| (i + 1) as f64;
    let start = (0..n)
        .map(|i| 4.0 * f(i) * (n as f64 - i as f64) / (n as f64 + 1.0).powi(2))
        .chain((0..n).map(|i| std::f64::consts::PI * f(i) / n as f64));
    Pieces::new(Polygon, pieces, bounds, [lower, upper], start.collect())
}

#[test]
fn analytic_polygon() {
    // 1274 inequalities: 0.7197409059 after 38 iterations.
    let s = run(&mut polygon(50));
    assert!(s.status.is_solved() && (s.objective + 0.719_740_9).abs() < 1e-6, "{s}");
    assert!(s.counts.iterations < 60, "{s}");
    // Eliminated rows with slacks leave as many small remainders, whose memory is found again in constant time: 3239 inequalities take 0.014 s an iteration
    // (derivatives by dual numbers included), where looking at all free memory for each row took 0.10 s; 20 099 take 0.08 s.
}

/// Σ (xᵢ + i/100)², x ≥ 0: a convex problem whose solution is at all of its bounds.
struct AtBounds;

impl Model for AtBounds {
    fn eval<T: Real>(&self, _: usize, x: &[T], _: &mut [T]) -> T {
        x.iter().enumerate().fold(T::zero(), |sum, (i, x)| sum + (*x + 1e-2 * (i + 1) as f64).sq())
    }
}

/// The gap bounds the error of the objective of a convex problem, and one that matters is told.
#[test]
fn analytic_the_gap_bounds_the_error_of_the_objective() {
    let n = 50;
    let minimum: f64 = (1..=n).map(|i| (1e-2 * f64::from(i)).powi(2)).sum();
    for tolerance in [1e-1, 1e-2, 1e-4, 1e-8] {
        let bounds = [vec![0.0; n as usize], vec![INF; n as usize]];
        let mut p = Pieces::dense(AtBounds, bounds, free(0), vec![1.0; n as usize]);
        let options = Options {
            complementarity_tolerance: tolerance,
            dual_tolerance: 1.0,
            ..Options::with_tolerance(tolerance)
        };
        let s = solve(&mut p, &options, None, &mut |_| ControlFlow::Continue(())).unwrap();
        let (gap, error) = (s.certificate.gap, s.objective - minimum);
        println!("tolerance {tolerance:e}: gap {gap:e}, error {error:e}");
        assert!(s.status.is_solved(), "{s}");
        // f(x) − f(0) ≤ ∇f·x = (z + r)·x, where r is what is left of the gradient of the Lagrangian; a sum of 50 terms is rounded by less than
        // 1e-11.
        let left = s.certificate.dual_infeasibility * s.x.iter().sum::<f64>();
        assert!((-1e-11..=gap + left + 1e-11).contains(&error), "{gap} {left} {error}");
        let told = s.certificate.inaccuracy(s.objective).is_some();
        assert_eq!(told, gap > 0.02 * s.objective, "{gap}");
    }
}

/// Electrons on a sphere (COPS): Σ 1/|xᵢ − xⱼ|, |xᵢ| = 1.
struct Electrons;

impl Model for Electrons {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        let squared = |x: &[T]| x[0].sq() + x[1].sq() + x[2].sq();
        match c.first_mut() {
            Some(c) => {
                *c = squared(x) - 1.0;
                T::zero()
            }
            None => squared(&[x[0] - x[3], x[1] - x[4], x[2] - x[5]]).sqrt().recip(),
        }
    }
}

#[test]
fn analytic_electrons_on_a_sphere() {
    let n = 25;
    let three = |i: usize| 3 * i..3 * i + 3;
    let on_sphere = (0..n).map(|i| Piece::new(three(i).collect(), vec![i]));
    let pairs =
        (0..n).flat_map(|i| (i + 1..n).map(move |j| Piece::new(three(i).chain(three(j)).collect(), vec![])));
    let mut random = Random::new(1);
    let start: Vec<f64> = (0..n)
        .flat_map(|_| {
            let (theta, phi) = (std::f64::consts::TAU * random.unit(), std::f64::consts::PI * random.unit());
            [theta.cos() * phi.sin(), theta.sin() * phi.sin(), phi.cos()]
        })
        .collect();
    let rows = [vec![0.0; n], vec![0.0; n]];
    let s = run(&mut Pieces::new(Electrons, on_sphere.chain(pairs).collect(), free(3 * n), rows, start));
    // The least energy of 25 electrons is 243.812760 (Thomson's problem, Wales & Ulker 2006); a local minimum lies above.
    assert!(s.status.is_solved() && (243.8127..245.0).contains(&s.objective), "{s}");
    assert!(s.counts.iterations < 400, "{s}");
}

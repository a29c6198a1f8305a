//! Load sharing against Clarabel, an interior-point solver of cone programs, on the same programs.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use soleus_math::Random;
use soleus_math::norm::largest_difference;
use soleus_optimization::separable::PowerProgram;

/// A program: columns of A, right-hand side, bounds.
struct Data {
    columns: Vec<Vec<f64>>,
    rhs: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Muscles over a few joints each, and a weak reserve for each joint, as in static optimization.
fn data(random: &mut Random, m: usize, muscles: usize) -> Data {
    let mut d = Data { columns: Vec::new(), rhs: vec![0.0; m], lower: Vec::new(), upper: Vec::new() };
    for _ in 0..muscles {
        let mut column = vec![0.0; m];
        for _ in 0..3 {
            let r = ((random.signed() + 1.0) * 0.5 * m as f64) as usize % m;
            column[r] = 80.0 * random.signed();
        }
        let a = 0.5 * (random.signed() + 1.0);
        for (b, c) in d.rhs.iter_mut().zip(&column) {
            *b += a * c;
        }
        d.columns.push(column);
        d.lower.push(0.01);
        d.upper.push(1.0);
    }
    for r in 0..m {
        d.columns.push((0..m).map(|k| f64::from(u8::from(k == r))).collect());
        d.lower.push(-100.0);
        d.upper.push(100.0);
    }
    d
}

/// Minimizes Σ xᵢ² (`quadratic`) or Σ xᵢ over non-negative parts: ½ xᵀ P x + qᵀ x, A x = b, −x ≤ −l, x ≤ u.
fn clarabel(d: &Data, quadratic: bool) -> (Vec<f64>, f64) {
    let (m, n) = (d.rhs.len(), d.columns.len());
    let (mut rows, mut cols, mut vals) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |r: usize, c: usize, v: f64| {
        rows.push(r);
        cols.push(c);
        vals.push(v);
    };
    for (i, column) in d.columns.iter().enumerate() {
        for (r, &a) in column.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            put(r, i, a);
        }
        put(m + i, i, -1.0);
        put(m + n + i, i, 1.0);
    }
    let a = CscMatrix::new_from_triplets(m + 2 * n, n, rows, cols, vals);
    let mut b = d.rhs.clone();
    b.extend(d.lower.iter().map(|l| -l));
    b.extend(&d.upper);
    let (p, q) = match quadratic {
        true => {
            let index: Vec<usize> = (0..n).collect();
            (CscMatrix::new_from_triplets(n, n, index.clone(), index, vec![2.0; n]), vec![0.0; n])
        }
        false => (CscMatrix::zeros((n, n)), vec![1.0; n]),
    };
    let cones = [SupportedConeT::ZeroConeT(m), SupportedConeT::NonnegativeConeT(2 * n)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-12)
        .tol_gap_rel(1e-12)
        .tol_feas(1e-12)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).unwrap();
    solver.solve();
    assert!(matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved));
    (solver.solution.x.clone(), solver.solution.obj_val)
}

fn ours(d: &Data, exponent: f64) -> (Vec<f64>, f64) {
    let mut p = PowerProgram::new(d.rhs.len(), d.columns.len(), exponent).unwrap();
    p.lower.clone_from(&d.lower);
    p.upper.clone_from(&d.upper);
    p.rhs.clone_from(&d.rhs);
    d.columns.iter().for_each(|c| p.push_column(c));
    let shared = p.solve().unwrap();
    assert!(shared.feasible, "violation {}", shared.violation);
    (p.x, shared.cost)
}

/// The quadratic program has one solution; both find it. Clarabel stops at 1e-12 in the cost, which is 1e-6 in x.
#[test]
fn identity_quadratic_program_as_clarabel_solves_it() {
    let mut random = Random::new(5);
    for (m, muscles) in [(2, 6), (10, 18), (23, 54), (31, 80)] {
        for _ in 0..10 {
            let d = data(&mut random, m, muscles);
            let ((x, cost), (y, other)) = (ours(&d, 2.0), clarabel(&d, true));
            assert!((cost - other).abs() <= 1e-9 * cost.max(1.0), "{m}×{muscles}: {cost} and {other}");
            let off = largest_difference(&x, &y);
            assert!(off < 1e-5, "{m}×{muscles}: activations differ by {off}");
        }
    }
}

/// The linear program (p = 1, all unknowns positive) may have many solutions, all of the same cost.
#[test]
fn identity_linear_program_as_clarabel_solves_it() {
    let mut random = Random::new(9);
    for (m, muscles) in [(2, 8), (6, 30)] {
        for _ in 0..10 {
            let mut d = data(&mut random, m, muscles);
            d.columns.truncate(muscles);
            d.lower.truncate(muscles);
            d.upper.truncate(muscles);
            let ((_, cost), (_, other)) = (ours(&d, 1.0), clarabel(&d, false));
            assert!((cost - other).abs() <= 1e-7 * cost, "{m}×{muscles}: {cost} and {other}");
        }
    }
}

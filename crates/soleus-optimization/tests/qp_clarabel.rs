//! Dense quadratic programs against Clarabel, an interior-point solver of cone programs, on the same programs.

use crate::common::Random;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};
use soleus_optimization::nlp::Status;
use soleus_optimization::qp::{QpSolver, QuadraticProgram};

/// ½ xᵀH x + gᵀx, A x = b for the first half of the rows, A x ≤ b for the others, l ≤ x ≤ u.
fn clarabel(h: &[f64], g: &[f64], a: &[f64], b: &[f64], [l, u]: [f64; 2]) -> Vec<f64> {
    let (n, m) = (g.len(), b.len());
    let equalities = m / 2;
    let upper: Vec<(usize, usize)> = (0..n).flat_map(|c| (0..=c).map(move |r| (r, c))).collect();
    let p = CscMatrix::new_from_triplets(
        n,
        n,
        upper.iter().map(|p| p.0).collect(),
        upper.iter().map(|p| p.1).collect(),
        upper.iter().map(|&(r, c)| h[r * n + c]).collect(),
    );
    let mut triplets: Vec<(usize, usize, f64)> =
        (0..m).flat_map(|r| (0..n).map(move |c| (r, c, a[r * n + c]))).collect();
    triplets.extend((0..n).map(|i| (m + i, i, -1.0)));
    triplets.extend((0..n).map(|i| (m + n + i, i, 1.0)));
    let rows = CscMatrix::new_from_triplets(
        m + 2 * n,
        n,
        triplets.iter().map(|t| t.0).collect(),
        triplets.iter().map(|t| t.1).collect(),
        triplets.iter().map(|t| t.2).collect(),
    );
    let mut rhs = b.to_vec();
    rhs.extend(std::iter::repeat_n(-l, n));
    rhs.extend(std::iter::repeat_n(u, n));
    let cones =
        [SupportedConeT::ZeroConeT(equalities), SupportedConeT::NonnegativeConeT(m - equalities + 2 * n)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&p, g, &rows, &rhs, &cones, settings).unwrap();
    solver.solve();
    assert_eq!(solver.solution.status, SolverStatus::Solved);
    solver.solution.x.clone()
}

#[test]
fn identity_random_programs_as_clarabel() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut next = || 2.0 * random.next() - 1.0;
        let (n, m) = (5 + 4 * (seed as usize % 9), 2 + seed as usize % 7);
        let factor: Vec<f64> = (0..n * n).map(|_| next()).collect();
        let mut h = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                h[j * n + i] = (0..n).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            }
            h[i * n + i] += 0.1;
        }
        let g: Vec<f64> = (0..n).map(|_| 5.0 * next()).collect();
        let a: Vec<f64> = (0..m * n).map(|_| next()).collect();
        // Rows pass through a point inside the bounds.
        let x: Vec<f64> = (0..n).map(|_| 0.8 * next()).collect();
        let b: Vec<f64> = (0..m).map(|r| (0..n).map(|i| a[r * n + i] * x[i]).sum()).collect();
        let row_lower: Vec<f64> = (0..m).map(|r| if r < m / 2 { b[r] } else { f64::NEG_INFINITY }).collect();
        let qp = QuadraticProgram {
            h: &h,
            g: &g,
            a: &a,
            row_lower: &row_lower,
            row_upper: &b,
            lower: &vec![-1.0; n],
            upper: &vec![1.0; n],
        };
        let s = QpSolver::default().solve(&qp).unwrap();
        assert_eq!(s.status, Status::Solved);
        let theirs = clarabel(&h, &g, &a, &b, [-1.0, 1.0]);
        for (i, (a, b)) in s.x.iter().zip(&theirs).enumerate() {
            // Clarabel's gap of 1e-10 over the least eigenvalue 0.1 is an error of some 1e-5 in x.
            assert!((a - b).abs() < 1e-4, "seed {seed}, x{i}: {a} and {b}");
        }
        assert!(qp.objective(&s.x) < qp.objective(&theirs) + 1e-7, "seed {seed}");
    }
}

//! Small problems with known solutions. Numbers HSxxx are those of Hock & Schittkowski (1981), *Test Examples for
//! Nonlinear Programming Codes*; solutions are theirs.

use crate::common::{Model, Pieces};
use soleus_math::Real;
use soleus_optimization::nlp::{NonlinearProgram, Options, Solution, Status, solve};
use std::ops::ControlFlow;

const INF: f64 = f64::INFINITY;

fn run(p: &mut impl NonlinearProgram) -> Solution {
    run_with(p, &Options::default())
}

fn run_with(p: &mut impl NonlinearProgram, options: &Options) -> Solution {
    let mut log = String::new();
    let solution = solve(p, options, None, &mut |i| {
        log += &format!(
            "{:4}{} f {:12.5e} c {:9.2e} d {:9.2e} mu {:9.2e} |d| {:9.2e} reg {:8.1e} a {:8.1e} {:8.1e} {}\n",
            i.iteration,
            if i.in_restoration { 'r' } else { ' ' },
            i.objective,
            i.constraint_violation,
            i.dual_infeasibility,
            i.barrier,
            i.step,
            i.regularization,
            i.alpha_primal,
            i.alpha_dual,
            i.trials
        );
        ControlFlow::Continue(())
    })
    .unwrap();
    println!(
        "{log}{:?} f {:?} {:?} {:?}",
        solution.status, solution.objective, solution.certificate, solution.counts
    );
    solution
}

/// A problem as one function of all variables.
macro_rules! problem {
    ($name:ident, |$x:ident, $c:ident| $body:block) => {
        struct $name;
        impl Model for $name {
            #[allow(unused_variables)]
            fn eval<T: Real>(&self, _: usize, $x: &[T], $c: &mut [T]) -> T $body
        }
    };
}

#[track_caller]
fn check(s: &Solution, objective: f64, x: &[f64], tolerance: f64) {
    assert_eq!(s.status, Status::Solved, "{:?}", s.certificate);
    let scale = objective.abs().max(1.0);
    assert!((s.objective - objective).abs() < tolerance * scale, "objective {} not {objective}", s.objective);
    for (i, (a, b)) in s.x.iter().zip(x).enumerate() {
        assert!((a - b).abs() < tolerance * b.abs().max(1.0), "x{i} is {a}, not {b}");
    }
}

problem!(Rosenbrock, |x, c| { (x[1] - x[0].sq()).sq() * 100.0 + (x[0] - 1.0).sq() });

#[test]
fn analytic_rosenbrock() {
    let mut p = Pieces::dense(Rosenbrock, [vec![-INF; 2], vec![INF; 2]], [vec![], vec![]], vec![-1.2, 1.0]);
    check(&run(&mut p), 0.0, &[1.0, 1.0], 1e-7);
}

problem!(Hs6, |x, c| {
    c[0] = (x[1] - x[0].sq()) * 10.0;
    (-x[0] + 1.0).sq()
});

#[test]
fn analytic_hs6() {
    let mut p = Pieces::dense(Hs6, [vec![-INF; 2], vec![INF; 2]], [vec![0.0], vec![0.0]], vec![-1.2, 1.0]);
    check(&run(&mut p), 0.0, &[1.0, 1.0], 1e-7);
}

problem!(Hs15, |x, c| {
    c[0] = x[0] * x[1];
    c[1] = x[0] + x[1].sq();
    (x[1] - x[0].sq()).sq() * 100.0 + (-x[0] + 1.0).sq()
});

#[test]
fn analytic_hs15() {
    let mut p =
        Pieces::dense(Hs15, [vec![-INF; 2], vec![0.5, INF]], [vec![1.0, 0.0], vec![INF; 2]], vec![-2.0, 1.0]);
    check(&run(&mut p), 306.5, &[0.5, 2.0], 1e-6);
}

problem!(Hs26, |x, c| {
    c[0] = (x[1].sq() + 1.0) * x[0] + x[2].sq().sq();
    (x[0] - x[1]).sq() + (x[1] - x[2]).sq().sq()
});

#[test]
fn analytic_hs26() {
    // The Hessian is singular at the solution, so x is known to a third of the digits only.
    let mut p =
        Pieces::dense(Hs26, [vec![-INF; 3], vec![INF; 3]], [vec![3.0], vec![3.0]], vec![-2.6, 2.0, 2.0]);
    check(&run(&mut p), 0.0, &[1.0, 1.0, 1.0], 2e-2);
}

problem!(Hs39, |x, c| {
    c[0] = x[1] - x[0].sq() * x[0] - x[2].sq();
    c[1] = x[0].sq() - x[1] - x[3].sq();
    -x[0]
});

#[test]
fn analytic_hs39() {
    let mut p =
        Pieces::dense(Hs39, [vec![-INF; 4], vec![INF; 4]], [vec![0.0; 2], vec![0.0; 2]], vec![2.0; 4]);
    check(&run(&mut p), -1.0, &[1.0, 1.0, 0.0, 0.0], 1e-6);
}

problem!(Hs71, |x, c| {
    c[0] = x[0] * x[1] * x[2] * x[3];
    c[1] = x[0].sq() + x[1].sq() + x[2].sq() + x[3].sq();
    x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
});

fn hs71() -> Pieces<Hs71> {
    let bounds = [vec![1.0; 4], vec![5.0; 4]];
    Pieces::dense(Hs71, bounds, [vec![25.0, 40.0], vec![INF, 40.0]], vec![1.0, 5.0, 5.0, 1.0])
}

#[test]
fn analytic_hs71() {
    let s = run(&mut hs71());
    check(&s, 17.0140172891563, &[1.0, 4.742_999_6, 3.821_15, 1.379_408_3], 1e-6);
    // Multipliers as Ipopt's example gives them.
    assert!((s.multipliers[0] + 0.552_293_66).abs() < 1e-6 && (s.multipliers[1] - 0.161_468_56).abs() < 1e-6);
    assert!((s.lower_multipliers[0] - 1.087_871_2).abs() < 1e-6);
    // Ipopt takes 8 iterations.
    assert!(s.counts.iterations <= 9, "{}", s.counts.iterations);
}

problem!(Hs100, |x, c| {
    let sq = |v: T| v.sq();
    c[0] = -(sq(x[0]) * 2.0 + sq(sq(x[1])) * 3.0 + x[2] + sq(x[3]) * 4.0 + x[4] * 5.0) + 127.0;
    c[1] = -(x[0] * 7.0 + x[1] * 3.0 + sq(x[2]) * 10.0 + x[3] - x[4]) + 282.0;
    c[2] = -(x[0] * 23.0 + sq(x[1]) + sq(x[5]) * 6.0 - x[6] * 8.0) + 196.0;
    c[3] = -(sq(x[0]) * 4.0 + sq(x[1]) - x[0] * x[1] * 3.0 + sq(x[2]) * 2.0 + x[5] * 5.0 - x[6] * 11.0);
    sq(x[0] - 10.0)
        + sq(x[1] - 12.0) * 5.0
        + sq(sq(x[2]))
        + sq(x[3] - 11.0) * 3.0
        + x[4].powi(6) * 10.0
        + sq(x[5]) * 7.0
        + sq(sq(x[6]))
        - x[5] * x[6] * 4.0
        - x[5] * 10.0
        - x[6] * 8.0
});

#[test]
fn analytic_hs100() {
    let start = vec![1.0, 2.0, 0.0, 4.0, 0.0, 1.0, 1.0];
    let mut p = Pieces::dense(Hs100, [vec![-INF; 7], vec![INF; 7]], [vec![0.0; 4], vec![INF; 4]], start);
    let x = [2.330499, 1.951372, -0.4775414, 4.365726, -0.6244870, 1.038131, 1.594227];
    check(&run(&mut p), 680.630_057_3, &x, 1e-6);
}

problem!(Dependent, |x, c| {
    // The second row is twice the first: multipliers are not unique.
    c[0] = x[0] + x[1] - 1.0;
    c[1] = (x[0] + x[1]) * 2.0 - 2.0;
    c[2] = x[0].sq() + x[1].sq() - 1.0;
    (x[0] - 2.0).sq() + x[1].sq() + x[2].sq()
});

#[test]
fn analytic_dependent_rows() {
    let rows = [vec![0.0; 3], vec![0.0; 3]];
    let mut p = Pieces::dense(Dependent, [vec![-INF; 3], vec![INF; 3]], rows, vec![0.9, 0.3, 1.0]);
    check(&run(&mut p), 1.0, &[1.0, 0.0, 0.0], 1e-6);
}

problem!(Infeasible, |x, c| {
    c[0] = x[0].sq() + x[1].sq();
    c[1] = x[0] + x[1];
    x[0]
});

#[test]
fn analytic_infeasible_problem_is_called_so() {
    // x₀² + x₁² ≤ 1 and x₀ + x₁ = 3 exclude each other; the nearest is on the diagonal.
    let rows = [vec![-INF, 3.0], vec![1.0, 3.0]];
    let mut p = Pieces::dense(Infeasible, [vec![-INF; 2], vec![INF; 2]], rows, vec![0.1, 0.5]);
    let s = run(&mut p);
    assert_eq!(s.status, Status::Infeasible);
    assert!(s.certificate.constraint_violation > 0.1);
    assert!(s.certificate.worst_constraint.is_some());
    assert!((s.x[0] - s.x[1]).abs() < 1e-3, "{:?}", s.x);
}

problem!(Unbounded, |x, c| { -x[0] - x[1] * 0.5 });

#[test]
fn analytic_unbounded_problem_diverges() {
    let mut p = Pieces::dense(Unbounded, [vec![0.0; 2], vec![INF; 2]], [vec![], vec![]], vec![1.0; 2]);
    let s = run(&mut p);
    assert!(matches!(s.status, Status::Diverging | Status::IterationLimit), "{:?}", s.status);
}

problem!(Logarithm, |x, c| { x[0] * 3.0 - x[0].ln() });

#[test]
fn analytic_not_finite_shortens_the_step() {
    // From x = 10 the first step leads to negative x, where the logarithm does not exist.
    let mut p = Pieces::dense(Logarithm, [vec![-INF], vec![INF]], [vec![], vec![]], vec![10.0]);
    check(&run(&mut p), 1.0 + 3f64.ln(), &[1.0 / 3.0], 1e-6);
}

#[test]
fn analytic_start_that_is_not_finite_is_named() {
    let mut p = Pieces::dense(Logarithm, [vec![-INF], vec![INF]], [vec![], vec![]], vec![-1.0]);
    assert_eq!(run(&mut p).status, Status::NotFinite);
}

#[test]
fn identity_warm_start_needs_few_iterations() {
    let cold = run(&mut hs71());
    let mut warm = cold.warm_start();
    warm.barrier = Some(1e-7);
    let options = Options { warm_start_push: 1e-7, ..Default::default() };
    let again = solve(&mut hs71(), &options, Some(&warm), &mut |_| ControlFlow::Continue(())).unwrap();
    check(&again, cold.objective, &cold.x, 1e-6);
    assert!(again.counts.iterations <= 3, "{}", again.counts.iterations);
}

#[test]
fn identity_stopping_keeps_the_last_iterate() {
    let mut last = Vec::new();
    let s = solve(&mut hs71(), &Options::default(), None, &mut |i| {
        last = i.x.to_vec();
        if i.iteration == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .unwrap();
    assert_eq!((s.status, s.x), (Status::Stopped, last));
}

#[test]
fn identity_same_bits_twice() {
    let (a, b) = (run(&mut hs71()), run(&mut hs71()));
    assert_eq!(a, b);
}

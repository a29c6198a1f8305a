//! Series of related problems.

use crate::common::chain::{FastChain, swing_up};
use crate::common::{Model, Pieces};
use soleus_math::Real;
use soleus_optimization::nlp::{NonlinearProgram, Options, Solution, Status, WarmStart, solve, solve_from};
use std::ops::ControlFlow;

fn cold(p: &mut impl NonlinearProgram) -> Solution {
    solve(p, &Options::default(), None, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn next(p: &mut impl NonlinearProgram, from: &Solution) -> Solution {
    solve_from(p, &Options::default(), &from.warm_start(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// (x₀ − a)² + (x₁ − 1)² with x₀ + x₁ ≤ 2, 0 ≤ x ≤ 1.5.
struct Moving {
    a: f64,
}

impl Model for Moving {
    fn eval<T: Real>(&self, _: usize, x: &[T], c: &mut [T]) -> T {
        c[0] = x[0] + x[1];
        (x[0] - self.a).sq() + (x[1] - 1.0).sq()
    }
}

fn moving(a: f64) -> Pieces<Moving> {
    Pieces::dense(
        Moving { a },
        [vec![0.0; 2], vec![1.5; 2]],
        [vec![f64::NEG_INFINITY], vec![2.0]],
        vec![0.5; 2],
    )
}

#[test]
fn analytic_active_set_follows_a_moving_target() {
    let mut last = cold(&mut moving(0.5));
    // Free, at the row, at row and bound, and back to the lower bound.
    for (a, x) in
        [(0.8, [0.8, 1.0]), (1.4, [1.2, 0.8]), (3.0, [1.5, 0.5]), (1.2, [1.1, 0.9]), (-1.0, [0.0, 1.0])]
    {
        let s = next(&mut moving(a), &last);
        assert_eq!(s.status, Status::Solved);
        assert!((s.x[0] - x[0]).abs() < 1e-9 && (s.x[1] - x[1]).abs() < 1e-9, "{a}: {:?}", s.x);
        // A quadratic program: one step, whatever the number of changes of the set.
        assert!(s.counts.iterations <= 1, "{:?}", s.counts);
        last = s;
    }
}

#[test]
fn identity_series_of_swing_ups_as_from_scratch() {
    let problem = |torque: f64| FastChain::new(swing_up(2, 41, 2.0, torque));
    let mut last = cold(&mut problem(10.0));
    assert_eq!(last.status, Status::Solved);
    for torque in [9.9, 9.7, 9.4] {
        let from_scratch = cold(&mut problem(torque));
        let s = next(&mut problem(torque), &last);
        println!(
            "{torque}: {} and {} factorisations",
            s.counts.factorizations, from_scratch.counts.factorizations
        );
        assert_eq!(s.status, Status::Solved);
        assert!(s.counts.factorizations > 0, "the bound on torques is not active; the test shows nothing");
        assert!(s.certificate.scaled_error <= 1e-8 && s.certificate.constraint_violation < 1e-8);
        // The same valley, unless the start of the cold solve leads elsewhere.
        assert!(s.objective < from_scratch.objective + 1e-5 * from_scratch.objective.abs());
        assert!(s.counts.factorizations < from_scratch.counts.factorizations / 2);
        last = s;
    }
}

/// Interior points from a neighbour's solution, multipliers included, with the settings for that; and polished.
#[test]
fn identity_swing_ups_next_to_each_other() {
    let problem = |torque: f64| FastChain::new(swing_up(2, 41, 2.0, torque));
    let mut last = cold(&mut problem(10.0));
    let options = Options { polishing_steps: 1, ..Options::default().near_solution() };
    let run = |torque: f64, from: &Solution, options: &Options| {
        let mut p = problem(torque);
        solve(&mut p, options, Some(&from.warm_start()), &mut |_| ControlFlow::Continue(())).unwrap()
    };
    for torque in [9.9, 9.7, 9.4] {
        let from_scratch = cold(&mut problem(torque));
        let s = run(torque, &last, &options);
        println!("{torque}: {} and {} iterations", s.counts.iterations, from_scratch.counts.iterations);
        assert_eq!(s.status, Status::Solved);
        assert!(s.objective < from_scratch.objective + 1e-5 * from_scratch.objective.abs());
        assert!(s.counts.iterations < from_scratch.counts.iterations);
        let plain = run(torque, &last, &Options { polishing_steps: 0, ..options.clone() });
        let violation = |s: &Solution| s.certificate.constraint_violation;
        assert!(violation(&s) <= violation(&plain), "{} {}", violation(&s), violation(&plain));
        last = s;
    }
    // The solution itself is where it ends.
    let again = run(9.4, &last, &Options { polishing_steps: 0, ..options });
    assert!(again.counts.iterations <= 1, "{again}");
}

#[test]
fn identity_far_start_falls_back_to_interior_points() {
    let mut p = FastChain::new(swing_up(1, 41, 3.0, 6.0));
    let (n, m) = (p.num_variables(), p.num_constraints());
    let mut x = vec![0.0; n];
    p.compute_start(&mut x);
    let nothing = WarmStart {
        x,
        multipliers: vec![0.0; m],
        lower_multipliers: vec![0.0; n],
        upper_multipliers: vec![0.0; n],
        barrier: Some(0.1),
    };
    let s = solve_from(&mut p, &Options::default(), &nothing, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(s.status, Status::Solved);
    assert!((s.objective - 36.956_669_5).abs() < 1e-6, "{}", s.objective);
}

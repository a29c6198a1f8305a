//! Stiff and index-1 problems with known answers.

#![allow(non_snake_case)] // J and M as in the literature.

use crate::common::Dense;
use soleus_simulation::implicit::solve_consistent_rates;
use soleus_simulation::{
    End, ErrorNorm, ImplicitMidpoint, ImplicitOde, Integrator, Outcome, RadauIIA5, RosenbrockEuler,
    StepOptions, integrate,
};
use std::ops::ControlFlow;

fn run<P: ImplicitOde>(i: &mut dyn Integrator<P>, mut p: P, x0: &[f64], t: f64) -> Outcome {
    let o = integrate(i, &mut p, (0.0, x0), t, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, End::Reached, "{o:?}");
    o
}

/// Robertson (1966): rates from 1e-2 to 1e8. The third equation is the sum, an algebraic one.
fn robertson(algebraic: bool) -> impl ImplicitOde {
    Dense::new(3, move |_, x: &[f64], d: &[f64], r: &mut [f64], J: &mut [f64], M: &mut [f64]| {
        let a = 0.04 * x[0] - 1e4 * x[1] * x[2];
        let b = 3e7 * x[1] * x[1];
        r[0] = d[0] + a;
        r[1] = d[1] - a + b;
        J[..6].copy_from_slice(&[0.04, -1e4 * x[2], -1e4 * x[1], -0.04, 1e4 * x[2] + 6e7 * x[1], 1e4 * x[1]]);
        (M[0], M[4]) = (1.0, 1.0);
        if algebraic {
            r[2] = x[0] + x[1] + x[2] - 1.0;
            J[6..].fill(1.0);
        } else {
            r[2] = d[2] - b;
            J[7] = -6e7 * x[1];
            M[8] = 1.0;
        }
    })
}

/// Values at t = 40 and 4e5 as widely printed for this problem (three digits), compared to half a percent; both forms
/// also keep the sum of the states.
#[test]
fn analytic_robertson() {
    for algebraic in [false, true] {
        for (t, want) in [(40.0, [0.7158, 9.185e-6, 0.2842]), (4e5, [4.93e-3, 1.98e-8, 0.99507])] {
            let norm = ErrorNorm::uniform(3).with_units(&[1.0, 1e-4, 1.0]);
            let options = StepOptions { initial_step: Some(1e-4), ..StepOptions::with_accuracy(1e-8) };
            let o = run(&mut RadauIIA5::new(norm, options), robertson(algebraic), &[1.0, 0.0, 0.0], t);
            for (x, w) in o.state.iter().zip(want) {
                assert!((x - w).abs() < 5e-3 * w, "t = {t}: {x} {w}");
            }
            assert!((o.state.iter().sum::<f64>() - 1.0).abs() < 1e-10);
            // The work, so that a slowdown shows.
            assert!(o.statistics.steps < 400, "{:?}", o.statistics);
        }
    }
}

fn van_der_pol(mu: f64) -> impl ImplicitOde {
    Dense::new(2, move |_, x: &[f64], d: &[f64], r: &mut [f64], J: &mut [f64], M: &mut [f64]| {
        r[0] = d[0] - x[1];
        r[1] = d[1] - mu * ((1.0 - x[0] * x[0]) * x[1] - x[0]);
        J.copy_from_slice(&[0.0, -1.0, mu * (2.0 * x[0] * x[1] + 1.0), -mu * (1.0 - x[0] * x[0])]);
        (M[0], M[3]) = (1.0, 1.0);
    })
}

/// The stiff oscillator of Hairer & Wanner (1996), μ = 1e6, at t = 1 and 2; their reference solution.
#[test]
fn analytic_van_der_pol() {
    let norm = || ErrorNorm::uniform(2);
    for (t, want) in [(1.0, -1.86364625480813), (2.0, 1.706167732170469)] {
        let options = StepOptions { initial_step: Some(1e-6), ..StepOptions::with_accuracy(1e-7) };
        let o = run(&mut RadauIIA5::new(norm(), options), van_der_pol(1e6), &[2.0, -0.66], t);
        assert!((o.state[0] - want).abs() < 1e-5, "{} {want} {:?}", o.state[0], o.statistics);
        assert!(o.statistics.steps < 1500, "{:?}", o.statistics);
    }
}

/// A massless body between a spring and a damper: c ẋ + k x = F(t) with no mass anywhere, and an algebraic
/// force y = k x. ∂f/∂ẋ is singular, the combination with ∂f/∂x is not.
fn massless() -> impl ImplicitOde {
    Dense::new(2, |t: f64, x: &[f64], d: &[f64], r: &mut [f64], J: &mut [f64], M: &mut [f64]| {
        r[0] = d[0] + x[1] - t.cos();
        r[1] = x[1] - 3.0 * x[0];
        J.copy_from_slice(&[0.0, 1.0, -3.0, 1.0]);
        M[0] = 1.0;
    })
}

/// ẋ = −3x + cos t from x(0) = 1.
fn massless_solution(t: f64) -> f64 {
    0.7 * (-3.0 * t).exp() + 0.3 * t.cos() + 0.1 * t.sin()
}

#[test]
fn analytic_index_one_with_inconsistent_start() {
    let n = || ErrorNorm::uniform(2);
    let start = [1.0, -7.0];
    let (mut x, mut xdot) = (start, [0.0; 2]);
    solve_consistent_rates(&mut massless(), &n(), 0.0, &mut x, &mut xdot).unwrap();
    // The settling step is 1e-8 s: states keep eight digits, rates seven.
    assert!((x[0] - 1.0).abs() < 1e-7 && (x[1] - 3.0).abs() < 1e-7, "{x:?}");
    assert!((xdot[0] + 2.0).abs() < 1e-6 && (xdot[1] + 6.0).abs() < 1e-6, "{xdot:?}");

    let want = massless_solution(2.0);
    let radau = run(&mut RadauIIA5::new(n(), StepOptions::with_accuracy(1e-9)), massless(), &start, 2.0);
    assert!((radau.state[0] - want).abs() < 1e-7, "{} {want}", radau.state[0]);
    assert!((radau.state[1] - 3.0 * radau.state[0]).abs() < 1e-12);
    let midpoint = run(&mut ImplicitMidpoint::new(n(), 1e-3), massless(), &start, 2.0);
    assert!((midpoint.state[0] - want).abs() < 1e-6);
    let rosenbrock = run(&mut RosenbrockEuler::new(n(), 1e-3), massless(), &start, 2.0);
    // First order: h/2 |ẍ| ~ 5e-4.
    assert!((rosenbrock.state[0] - want).abs() < 1e-3);
}

/// A stiff linear system at steps far beyond its time constant: L-stable methods damp it, the solution stays
/// on the slow part.
#[test]
fn analytic_stiff_linear_is_damped() {
    let p = || {
        Dense::new(1, |t: f64, x: &[f64], d: &[f64], r: &mut [f64], J: &mut [f64], M: &mut [f64]| {
            r[0] = d[0] + 1e6 * (x[0] - t.cos()) + t.sin();
            (J[0], M[0]) = (1e6, 1.0);
        })
    };
    let n = || ErrorNorm::uniform(1);
    let o = run(&mut RosenbrockEuler::new(n(), 0.01), p(), &[1.5], 1.0);
    assert!((o.state[0] - 1f64.cos()).abs() < 1e-7, "{}", o.state[0]);
    let o = run(&mut RadauIIA5::new(n(), StepOptions::with_accuracy(1e-8)), p(), &[1.5], 1.0);
    assert!((o.state[0] - 1f64.cos()).abs() < 1e-8, "{}", o.state[0]);
}

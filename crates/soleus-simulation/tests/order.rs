//! The error of every method falls as its order says.

#![allow(non_snake_case)] // J and M as in the literature.

use crate::common::{Dense, Oscillator};
use soleus_simulation::{
    ErrorNorm, Event, ExplicitOde, ExplicitRungeKutta, ImplicitMidpoint, ImplicitOde, Integrator, RadauIIA5,
    RhsError, RosenbrockEuler, SemiExplicitEuler, StepOptions, integrate,
};
use std::ops::ControlFlow;

/// Fixed steps: an accuracy nothing misses, and a first step that is also the longest.
fn fixed(h: f64) -> StepOptions {
    StepOptions { accuracy: 1e9, initial_step: Some(h), max_step: h, ..StepOptions::default() }
}

/// A pendulum with a driving torque: not linear, depends on time.
struct Driven;

fn driven(t: f64, x: &[f64]) -> [f64; 2] {
    [x[1], -x[0].sin() - 0.2 * x[1] + 0.5 * (1.3 * t).cos()]
}

impl ExplicitOde for Driven {
    fn dim(&self) -> usize {
        2
    }
    fn rhs(&mut self, t: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
        xdot.copy_from_slice(&driven(t, x));
        Ok(())
    }
}

impl soleus_simulation::MechanicalOde for Driven {
    fn num_coordinates(&self) -> usize {
        1
    }
    fn coordinate_rates(&mut self, x: &[f64], qdot: &mut [f64]) {
        qdot[0] = x[1];
    }
}

/// The same as an implicit problem, mixed so that ∂f/∂ẋ is not a unit matrix.
fn implicit_driven() -> impl ImplicitOde {
    Dense::new(2, |t, x: &[f64], d: &[f64], r: &mut [f64], J: &mut [f64], M: &mut [f64]| {
        let f = driven(t, x);
        let e = [d[0] - f[0], d[1] - f[1]];
        r[0] = e[0] + 0.5 * e[1];
        r[1] = 2.0 * e[1] - 0.3 * e[0];
        let (s0, s1) = (x[0].cos(), 0.2);
        J.copy_from_slice(&[0.5 * s0, -1.0 + 0.5 * s1, 2.0 * s0, 2.0 * s1 + 0.3]);
        M.copy_from_slice(&[1.0, 0.5, -0.3, 2.0]);
    })
}

const START: [f64; 2] = [1.0, 0.3];
const END: f64 = 2.0;

fn end<P>(integrator: &mut dyn Integrator<P>, mut problem: P) -> [f64; 2] {
    let o =
        integrate(integrator, &mut problem, (0.0, &START), END, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, soleus_simulation::End::Reached);
    [o.state[0], o.state[1]]
}

fn truth() -> [f64; 2] {
    let norm = ErrorNorm::uniform(2);
    end(&mut ExplicitRungeKutta::dormand_prince(norm, StepOptions::with_accuracy(1e-14)), Driven)
}

/// The slope of log error against log step over two halvings.
fn slope(run: impl Fn(f64) -> [f64; 2], h: f64) -> f64 {
    let want = truth();
    let error = |h: f64| {
        let x = run(h);
        ((x[0] - want[0]).powi(2) + (x[1] - want[1]).powi(2)).sqrt()
    };
    (error(h) / error(h / 4.0)).log2() / 2.0
}

/// Two halvings of a step in the asymptotic range leave the slope within a tenth or two of the order.
fn check(name: &str, order: f64, found: f64) {
    assert!((found - order).abs() < 0.2, "{name}: order {order}, found {found}");
}

#[test]
fn order_of_every_integrator() {
    let n = || ErrorNorm::uniform(2);
    check("Merson", 4.0, slope(|h| end(&mut ExplicitRungeKutta::merson(n(), fixed(h)), Driven), 0.05));
    let dopri = |h| end(&mut ExplicitRungeKutta::dormand_prince(n(), fixed(h)), Driven);
    check("Dormand–Prince", 5.0, slope(dopri, 0.1));
    check("semi-explicit Euler", 1.0, slope(|h| end(&mut SemiExplicitEuler::new(2, h), Driven), 0.002));
    let rosenbrock = |h| end(&mut RosenbrockEuler::new(n(), h), implicit_driven());
    check("Rosenbrock", 1.0, slope(rosenbrock, 0.002));
    check("midpoint", 2.0, slope(|h| end(&mut ImplicitMidpoint::new(n(), h), implicit_driven()), 0.02));
    // With an accuracy of 1e9 Newton would stop at once, so Radau runs at a tight accuracy and short steps.
    let radau = |h| {
        let options =
            StepOptions { accuracy: 1e-3, initial_step: Some(h), max_step: h, ..StepOptions::default() };
        let mut r = RadauIIA5::new(n(), options);
        r.newton_tolerance = Some(1e-13);
        end(&mut r, implicit_driven())
    };
    check("Radau IIA", 5.0, slope(radau, 0.2));
}

/// Between the ends of a step the error falls with the order of the interpolant plus one.
#[test]
fn order_of_dense_output() {
    let n = || ErrorNorm::uniform(2);
    let omega: f64 = 1.7;
    let middle = |integrator: &mut dyn Integrator<Oscillator>, h: f64| {
        let mut p = Oscillator { omega };
        integrator.start(&mut p, 0.0, &[1.0, 0.0]).unwrap();
        integrator.step(&mut p, h).unwrap();
        let mut x = [0.0; 2];
        integrator.interpolate(0.4 * h, &mut x);
        (x[0] - (omega * 0.4 * h).cos()).hypot(x[1] + omega * (omega * 0.4 * h).sin())
    };
    let slope = |make: &dyn Fn(f64) -> ExplicitRungeKutta| {
        (middle(&mut make(0.2), 0.2) / middle(&mut make(0.05), 0.05)).log2() / 2.0
    };
    check("cubic", 4.0, slope(&|h| ExplicitRungeKutta::merson(n(), fixed(h))));
    check("quartic", 5.0, slope(&|h| ExplicitRungeKutta::dormand_prince(n(), fixed(h))));
}

/// A fixed step bends as its rates say: the slope of the interpolant at the end of a step is the rate there, and that at
/// the start of the next. The midpoint rule, which has no rates at its ends, keeps its order in between.
#[test]
fn order_of_dense_output_of_fixed_steps() {
    let n = || ErrorNorm::uniform(2);
    fn slopes_meet<P>(name: &str, integrator: &mut dyn Integrator<P>, mut p: P) {
        let h = 0.05;
        let slope = |integrator: &dyn Integrator<P>, from: f64| {
            let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
            integrator.interpolate(from, &mut a);
            integrator.interpolate(from + 1e-6, &mut b);
            [0, 1].map(|i| (b[i] - a[i]) * 1e6)
        };
        integrator.start(&mut p, 0.0, &START).unwrap();
        integrator.step(&mut p, h).unwrap();
        let (before, rates) = (slope(integrator, h - 1e-6), integrator.rates().to_vec());
        integrator.step(&mut p, 2.0 * h).unwrap();
        let after = slope(integrator, h);
        for i in 0..2 {
            // One-sided differences over 1e-6 s of a curve that bends by some 1/s².
            assert!((before[i] - rates[i]).abs() < 1e-4, "{name}: {before:?} {rates:?}");
            assert!((after[i] - rates[i]).abs() < 1e-4, "{name}: {after:?} {rates:?}");
        }
    }
    slopes_meet("semi-explicit Euler", &mut SemiExplicitEuler::new(2, 0.05), Driven);
    slopes_meet("Rosenbrock", &mut RosenbrockEuler::new(n(), 0.05), implicit_driven());

    // Two steps of the midpoint rule: the error within the second falls as h³, as it does at its end.
    let within = |h: f64| {
        let (mut p, mut m) = (implicit_driven(), ImplicitMidpoint::new(n(), h));
        m.start(&mut p, 0.0, &START).unwrap();
        m.step(&mut p, 2.0 * h).unwrap();
        m.step(&mut p, 2.0 * h).unwrap();
        let mut x = [0.0; 2];
        Integrator::<dyn ImplicitOde>::interpolate(&m, 1.4 * h, &mut x);
        let (mut p, mut r) =
            (Driven, ExplicitRungeKutta::dormand_prince(n(), StepOptions::with_accuracy(1e-12)));
        let o =
            integrate(&mut r, &mut p, (0.0, &START), 1.4 * h, &mut [], &mut |_| ControlFlow::Continue(()));
        (x[0] - o.state[0]).hypot(x[1] - o.state[1])
    };
    check("midpoint within a step", 3.0, (within(0.04) / within(0.01)).log2() / 2.0);
}

/// Error control does what it is asked: the end error falls with the accuracy, and stays near it.
#[test]
fn order_of_error_control() {
    let n = || ErrorNorm::uniform(2);
    let want = truth();
    for accuracy in [1e-4, 1e-6, 1e-8, 1e-10] {
        let o = || StepOptions::with_accuracy(accuracy);
        let ends = [
            end(&mut ExplicitRungeKutta::merson(n(), o()), Driven),
            end(&mut ExplicitRungeKutta::dormand_prince(n(), o()), Driven),
            end(&mut RadauIIA5::new(n(), o()), implicit_driven()),
        ];
        for (i, x) in ends.iter().enumerate() {
            let e = (x[0] - want[0]).hypot(x[1] - want[1]);
            // Errors of at most a few hundred steps add up, and the pairs carry on the better of their results.
            assert!(e < 20.0 * accuracy, "method {i} at {accuracy}: {e}");
        }
    }
}

/// Zeros of cos(ωt) by events, to the error of the dense output.
#[test]
fn analytic_events() {
    let omega = 2.0;
    let mut times = Vec::new();
    let mut integrator =
        ExplicitRungeKutta::dormand_prince(ErrorNorm::uniform(2), StepOptions::with_accuracy(1e-10));
    let mut events = [
        Event::new(|_, x: &[f64]| x[0]).in_direction(soleus_simulation::Direction::Falling),
        Event::terminal(|t, _: &[f64]| t - 5.0),
    ];
    let mut p = Oscillator { omega };
    let o = integrate(&mut integrator, &mut p, (0.0, &[1.0, 0.0]), 10.0, &mut events, &mut |v| {
        times.extend(v.events.iter().filter(|e| e.0 == 0).map(|e| e.1));
        ControlFlow::Continue(())
    });
    assert_eq!(o.end, soleus_simulation::End::Event { index: 1 });
    assert!((o.time - 5.0).abs() < 1e-14);
    let pi = std::f64::consts::PI;
    assert_eq!(times.len(), 2);
    for (k, t) in times.iter().enumerate() {
        let want = (0.5 + 2.0 * k as f64) * pi / omega;
        assert!((t - want).abs() < 1e-8, "{t} {want}");
    }
    assert!((o.state[0] - (omega * 5.0).cos()).abs() < 1e-8);
}

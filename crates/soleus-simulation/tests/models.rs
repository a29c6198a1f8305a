//! Models as problems: energy, constraints, derivatives, repeatability, and ends that are not ends.

#![allow(non_snake_case)] // J, M and V as in the literature.

use crate::common::{held, load, passive, reference};
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::system::{State, System};
use soleus_math::norm::largest;
use soleus_simulation::linear::SparseLu;
use soleus_simulation::system::{Constant, Feedback, state_labels, state_name};
use soleus_simulation::{
    Controls, End, ExplicitOde, ExplicitRungeKutta, ImplicitMidpoint, ImplicitOde, ImplicitSystemOde,
    Integrator, ModelControls, Outcome, Quantity, RadauIIA5, RosenbrockEuler, SemiExplicitEuler, StepOptions,
    Stop, SystemOde, Trajectory, integrate,
};
use soleus_testing::reference_test;
use std::ops::ControlFlow;
use std::path::Path;

type Free<'a> = SystemOde<'a, Constant>;

fn free(system: &System) -> Free<'_> {
    SystemOde::new(system, Constant(vec![0.0; system.num_controls]))
}

fn run<'s>(
    i: &mut dyn Integrator<Free<'s>>,
    ode: &mut Free<'s>,
    x: &State<f64>,
    duration: f64,
) -> (Outcome, Trajectory) {
    let x0 = Free::vector(x);
    let mut rows = Trajectory::new(x0.len());
    let o = integrate(i, ode, (x.time, &x0), x.time + duration, &mut [], &mut |v| {
        rows.push(v.t1, v.x);
        ControlFlow::Continue(())
    });
    (o, rows)
}

/// Kinetic energy and that of gravity, J.
fn energy(ode: &mut Free<'_>, t: f64, x: &[f64]) -> f64 {
    let g = ode.system().gravity;
    let ws = ode.compute(t, x).unwrap();
    let mut e = 0.0;
    for (b, i) in ws.kin.inertia.iter().enumerate() {
        let V = ws.kin.V_GB[b];
        e += 0.5 * V.dot(i.momentum(V)) - g.dot(ws.kin.X_GB[b].p * i.mass + i.moment);
    }
    e
}

/// Largest change of energy along a motion.
fn drift(ode: &mut Free<'_>, rows: &Trajectory) -> f64 {
    let e: Vec<f64> = (0..rows.len()).map(|i| energy(ode, rows.times[i], rows.row(i))).collect();
    largest(e.iter().map(|x| (x - e[0]).abs()))
}

/// Two frictionless links for 5 s: drift below 1e-3, 1e-6 and 1e-9 J at accuracies 1e-5, 1e-8 and 1e-11.
#[test]
fn conserves_energy_of_a_passive_model() {
    let (_, system) = passive();
    let x = system.default_state.clone();
    let mut ode = free(&system).with_jacobian();
    let norm = ode.error_norm();
    for (accuracy, bound) in [(1e-5, 1e-3), (1e-8, 1e-6), (1e-11, 1e-9)] {
        let o = || StepOptions::with_accuracy(accuracy);
        let methods: [Box<dyn Integrator<Free<'_>>>; 3] = [
            Box::new(ExplicitRungeKutta::merson(norm.clone(), o())),
            Box::new(ExplicitRungeKutta::dormand_prince(norm.clone(), o())),
            Box::new(RadauIIA5::new(norm.clone(), o())),
        ];
        for (k, mut m) in methods.into_iter().enumerate() {
            let (outcome, rows) = run(&mut *m, &mut ode, &x, 5.0);
            assert_eq!(outcome.end, End::Reached);
            let d = drift(&mut ode, &rows);
            println!(
                "accuracy {accuracy:e}, method {k}: drift {d:.2e} J in {} steps",
                outcome.statistics.steps
            );
            assert!(d < bound, "method {k} at {accuracy}: {d} J");
        }
    }
    // Fixed steps of 1 ms: midpoint and semi-explicit Euler stay bounded, to their order.
    let mut midpoint = ImplicitMidpoint::new(norm.clone(), 1e-3);
    let (_, rows) = run(&mut midpoint, &mut ode, &x, 5.0);
    let d = drift(&mut ode, &rows);
    assert!(d < 1e-3, "midpoint {d}");
    let (_, rows) = run(&mut SemiExplicitEuler::new(norm.dim(), 1e-3), &mut ode, &x, 5.0);
    let d = drift(&mut ode, &rows);
    assert!(d < 0.6, "semi-explicit Euler {d}");
}

/// Bodies and joints of reference models, with every force but gravity and every controller taken out, for half a second
/// from their default pose in motion: the drift of energy is below 1e-3, 1e-6 and 1e-9 of the energy put in, at accuracies of
/// 1e-5, 1e-8 and 1e-11. Bounds as for the small model above; constraints take part in Rajagopal2016.
#[reference_test]
fn conserves_energy_of_reference_models_without_muscles() {
    let folder = reference();
    for name in ["double_pendulum", "arm26", "gait10dof18musc", "gait2354_simbody", "Rajagopal2016"] {
        let (mut model, _) = load(&folder.join(format!("models/{name}.osim")));
        model.forces.clear();
        model.controllers.clear();
        let system = System::compile(&model).unwrap();
        let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
        Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut ws).unwrap();
        // Speeds that differ from joint to joint, none of those that are held.
        for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            if m != usize::MAX && !c.locked {
                x.u[m] = 1.0 + (m as f64).sin();
            }
        }
        let mut ode = free(&system);
        let norm = ode.error_norm();
        let mut start = SystemOde::<Constant>::vector(&x);
        let mut unused = vec![0.0; start.len()];
        // Far from a motion that the couplers allow: a loose tolerance takes it there, a tight one the rest of the way.
        for tolerance in [0.2, 1e-12] {
            ExplicitOde::project(&mut ode, 0.0, &mut start, &mut unused, tolerance).unwrap();
        }
        let n = x.q.len();
        x.q.copy_from_slice(&start[..n]);
        x.u.copy_from_slice(&start[n..2 * n]);
        // Kinetic energy at the start, to which gravity adds about as much on the way.
        let mut rest = x.clone();
        rest.u.fill(0.0);
        let put_in =
            energy(&mut ode, 0.0, &start) - energy(&mut ode, 0.0, &SystemOde::<Constant>::vector(&rest));
        for (accuracy, bound) in [(1e-5, 1e-3), (1e-8, 1e-6), (1e-11, 1e-9)] {
            let mut m =
                ExplicitRungeKutta::dormand_prince(norm.clone(), StepOptions::with_accuracy(accuracy));
            let (outcome, rows) = run(&mut m, &mut ode, &x, 0.5);
            assert_eq!(outcome.end, End::Reached, "{name}");
            let d = drift(&mut ode, &rows) / put_in;
            println!(
                "{name} at {accuracy:e}: drift {d:.1e} of {put_in:.1} J in {} steps",
                outcome.statistics.steps
            );
            assert!(d < bound, "{name} at {accuracy}: {d}");
        }
    }
}

/// Two threads that simulate one system at once get the bits that one gets alone. Nothing inside a simulation is parallel,
/// so this is all that threads can do to it.
#[test]
fn identity_same_bits_on_two_threads() {
    let file = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim"));
    let (model, system) = load(file);
    let simulate = || {
        let mut controls = ModelControls::new(&model, &system);
        controls.add_excitation(&model, &system, 0.3);
        let mut ode = ImplicitSystemOde::new(&system, controls);
        let (y0, norm) = (ode.vector(&system.default_state), ode.error_norm());
        let n = norm.dim();
        let options = StepOptions::with_accuracy(1e-5);
        let mut i = RadauIIA5::with_solvers(norm, options, SparseLu::new(n), SparseLu::new(n));
        let o = integrate(&mut i, &mut ode, (0.0, &y0), 0.3, &mut [], &mut |_| ControlFlow::Continue(()));
        assert_eq!(o.end, End::Reached);
        (o.state.iter().map(|x| x.to_bits()).collect::<Vec<u64>>(), o.statistics)
    };
    let alone = simulate();
    let together: Vec<_> = std::thread::scope(|s| {
        let threads = [s.spawn(simulate), s.spawn(simulate)];
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(together.iter().all(|t| *t == alone));
}

/// A step that cannot be accurate is taken at the smallest size when that is asked for, and counted; else it is the end.
#[test]
fn analytic_smallest_step_may_be_forced() {
    use soleus_simulation::{ErrorNorm, RhsError, Stop};
    // x' = sign of sin(1000 t): steps across the jumps miss any accuracy.
    struct Jumps;
    impl ExplicitOde for Jumps {
        fn dim(&self) -> usize {
            1
        }
        fn rhs(&mut self, t: f64, _: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
            xdot[0] = (1000.0 * t).sin().signum();
            Ok(())
        }
    }
    let run = |force_min_step| {
        let options = StepOptions { min_step: 1e-4, force_min_step, ..StepOptions::with_accuracy(1e-9) };
        let mut m = ExplicitRungeKutta::merson(ErrorNorm::uniform(1), options);
        integrate(&mut m, &mut Jumps, (0.0, &[0.0]), 0.02, &mut [], &mut |_| ControlFlow::Continue(()))
    };
    let (forced, plain) = (run(true), run(false));
    assert_eq!(forced.end, End::Reached);
    assert!(forced.statistics.inaccurate >= 6, "{:?}", forced.statistics);
    // Between six jumps it is exact; at each a step of 1e-4 s may be off by twice its length.
    let period = 2e-3 * std::f64::consts::PI;
    let (whole, left) = ((0.02 / period).floor(), 0.02 % period);
    let exact = if left < 0.5 * period { left } else { period - left };
    assert!(whole == 3.0 && (forced.state[0] - exact).abs() < 7.0 * 2e-4, "{} {exact}", forced.state[0]);
    assert!(matches!(plain.end, End::Stopped(Stop::Underflow { .. })), "{:?}", plain.end);
}

/// Projection keeps position and speed errors below a tenth of the accuracy, and energy all the same.
#[test]
fn conserves_constraints_and_energy() {
    let (model, system) = held();
    let mut x = system.default_state.clone();
    Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut system.workspace()).unwrap();
    let mut ode = free(&system).with_jacobian();
    let norm = ode.error_norm();
    let accuracy = 1e-7;
    let o = || StepOptions::with_accuracy(accuracy);
    let methods: [Box<dyn Integrator<Free<'_>>>; 3] = [
        Box::new(ExplicitRungeKutta::merson(norm.clone(), o())),
        Box::new(ExplicitRungeKutta::dormand_prince(norm.clone(), o())),
        Box::new(RadauIIA5::new(norm.clone(), o())),
    ];
    for (k, mut m) in methods.into_iter().enumerate() {
        let (outcome, rows) = run(&mut *m, &mut ode, &x, 3.0);
        assert_eq!(outcome.end, End::Reached, "method {k}");
        for i in 0..rows.len() {
            let ws = ode.compute(rows.times[i], rows.row(i)).unwrap();
            for e in ws.constraints.qerr.iter().chain(&ws.constraints.uerr) {
                assert!(e.abs() <= 0.1 * accuracy * 1.01, "method {k}, t = {}: {e}", rows.times[i]);
            }
        }
        let d = drift(&mut ode, &rows);
        println!("method {k}: drift {d:.2e} J, {:?}", outcome.statistics);
        assert!(d < 1e-4, "method {k}: {d} J");
    }
}

/// The same motion from the implicit form, with multipliers as unknowns.
#[test]
fn identity_constrained_motion_implicit_and_explicit() {
    let (model, system) = held();
    let mut x = system.default_state.clone();
    Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut system.workspace()).unwrap();
    let mut ode = free(&system);
    let norm = ode.error_norm();
    let mut i = ExplicitRungeKutta::dormand_prince(norm.clone(), StepOptions::with_accuracy(1e-10));
    let (want, _) = run(&mut i, &mut ode, &x, 0.5);
    let mut implicit = ImplicitSystemOde::new(&system, Constant(vec![]));
    let (y0, y_norm) = (implicit.vector(&x), implicit.error_norm());
    let n = y_norm.dim();
    assert_eq!(n, want.state.len() + 1);
    let options = StepOptions::with_accuracy(1e-8);
    let mut radau = RadauIIA5::with_solvers(y_norm, options, SparseLu::new(n), SparseLu::new(n));
    let o =
        integrate(&mut radau, &mut implicit, (0.0, &y0), 0.5, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, End::Reached, "{:?}", o.statistics);
    let error: Vec<f64> = o.state.iter().zip(&want.state).map(|(a, b)| a - b).collect();
    let (e, _) = norm.norm(&want.state, &error);
    assert!(e < 1e-6, "{e} {:?}", o.statistics);
    // The multiplier at the end is that of the explicit equations.
    let ws = ode.compute(0.5, &o.state[..n - 1]).unwrap();
    let lambda = ws.constraints.lambda[0];
    assert!((o.state[n - 1] - lambda).abs() < 1e-4 * lambda.abs(), "{} {lambda}", o.state[n - 1]);
}

/// The same rope twice: implicit methods run, the motion is that of one rope, and each carries half.
#[test]
fn identity_redundant_constraints_share_the_load() {
    let (mut model, one) = held();
    let mut x = one.default_state.clone();
    Assembler::new(&model, &one).solve_assembly(&one, &mut x, &mut one.workspace()).unwrap();
    let rope = model.constraints[0].clone();
    model.constraints.push(rope);
    let two = System::compile(&model).unwrap();
    let ends =
        [&one, &two].map(|system| {
            let mut implicit = ImplicitSystemOde::new(system, Constant(vec![]));
            let (y0, norm) = (implicit.vector(&x), implicit.error_norm());
            let n = norm.dim();
            let options = StepOptions::with_accuracy(1e-8);
            let mut radau = RadauIIA5::with_solvers(norm, options, SparseLu::new(n), SparseLu::new(n));
            let o = integrate(&mut radau, &mut implicit, (0.0, &y0), 0.5, &mut [], &mut |_| {
                ControlFlow::Continue(())
            });
            assert_eq!(o.end, End::Reached, "{:?}", o.statistics);
            o.state
        });
    let nx = ends[0].len() - 1;
    for (i, (a, b)) in ends[0][..nx].iter().zip(&ends[1]).enumerate() {
        // The accuracy of either motion.
        assert!((a - b).abs() < 1e-6, "state {i}: {a} {b}");
    }
    let (alone, shared) = (ends[0][nx], &ends[1][nx..]);
    for l in shared {
        assert!((l - 0.5 * alone).abs() < 1e-4 * alone.abs(), "{l} of {alone}");
    }
}

/// ∂f/∂x of the model as an implicit problem, against central differences.
#[test]
fn deriv_system_jacobian() {
    let shipped =
        |name: &str| load(Path::new(&format!("{}/../../models/{name}.osim", env!("CARGO_MANIFEST_DIR")))).1;
    check_system_jacobian(&[passive().1, shipped("leg_swing"), shipped("reach")]);
}

#[reference_test]
fn deriv_system_jacobian_of_an_arm() {
    check_system_jacobian(&[load(&reference().join("models/arm26.osim")).1]);
}

fn check_system_jacobian(systems: &[System]) {
    for system in systems {
        let mut ode = SystemOde::new(system, Constant(vec![0.3; system.num_controls])).with_jacobian();
        ode.damping = (0..system.tree.num_mobilities).map(|i| 0.1 * i as f64).collect();
        let mut start = system.default_state.clone();
        for (i, (q, u)) in start.q.iter_mut().zip(&mut start.u).enumerate() {
            *q += 0.3 + 0.1 * i as f64;
            *u += 0.5 - 0.2 * i as f64;
        }
        system.solve_equilibrium(&mut start, &vec![0.3; system.num_controls], &mut system.workspace());
        let x = SystemOde::<Constant>::vector(&start);
        let n = x.len();
        let (mut J, mut M) = (vec![0.0; n * n], vec![0.0; n * n]);
        ode.jacobians(0.0, &x, &vec![0.0; n], &mut J, &mut M).unwrap();
        let (mut hi, mut lo) = (vec![0.0; n], vec![0.0; n]);
        for c in 0..n {
            let h = 1e-6 * x[c].abs().max(0.1);
            let mut y = x.clone();
            y[c] = x[c] + h;
            ode.residual(0.0, &y, &vec![0.0; n], &mut hi).unwrap();
            y[c] = x[c] - h;
            ode.residual(0.0, &y, &vec![0.0; n], &mut lo).unwrap();
            for r in 0..n {
                // Roundoff ε·|f|/h ~ 1e-9 |f|, where accelerations reach 1e2, fiber stiffness 1e4.
                let fd = (hi[r] - lo[r]) / (2.0 * h);
                let scale = J[r * n + c].abs().max(hi[r].abs()).max(1.0);
                assert!((fd - J[r * n + c]).abs() < 1e-5 * scale, "({r}, {c}): {} {fd}", J[r * n + c]);
                assert_eq!(M[r * n + c], f64::from(u8::from(r == c)));
            }
        }
    }
}

/// The same run twice gives the same bits, and so does a fresh integrator after other work.
#[reference_test]
fn identity_same_input_same_bits() {
    let folder = reference();
    let (model, system) = load(&folder.join("models/gait10dof18musc.osim"));
    let once = |disturb: bool| {
        let mut controls = ModelControls::new(&model, &system);
        controls.add_excitation(&model, &system, 0.05);
        let mut ode = SystemOde::new(&system, controls);
        let x0 = SystemOde::<ModelControls>::vector(&system.default_state);
        if disturb {
            let other: Vec<f64> = x0.iter().map(|x| x + 0.1).collect();
            ode.rhs(0.3, &other, &mut vec![0.0; x0.len()]).unwrap();
        }
        let mut i = ExplicitRungeKutta::merson(ode.error_norm(), StepOptions::with_accuracy(1e-4));
        integrate(&mut i, &mut ode, (0.0, &x0), 0.1, &mut [], &mut |_| ControlFlow::Continue(()))
    };
    let (a, b) = (once(false), once(true));
    assert!(a.state.iter().zip(&b.state).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert_eq!(a.statistics, b.statistics);
}

/// Implicit methods on a model with muscles agree with the explicit one.
#[reference_test]
fn identity_implicit_and_explicit_methods_agree() {
    let folder = reference();
    let (model, system) = load(&folder.join("models/arm26.osim"));
    let mut controls = ModelControls::new(&model, &system);
    controls.add_excitation(&model, &system, 0.3);
    let mut x = system.default_state.clone();
    let mut values = vec![0.0; system.num_controls];
    controls.compute(0.0, &x, &mut values);
    assert!(system.solve_equilibrium(&mut x, &values, &mut system.workspace()).is_empty());
    let x0 = SystemOde::<ModelControls>::vector(&x);
    let mut ode = SystemOde::new(&system, controls).with_jacobian();
    let norm = ode.error_norm();
    fn go<P>(i: &mut dyn Integrator<P>, ode: &mut P, x0: &[f64]) -> Outcome {
        let o = integrate(i, ode, (0.0, x0), 0.2, &mut [], &mut |_| ControlFlow::Continue(()));
        assert_eq!(o.end, End::Reached, "{:?}", o.statistics);
        o
    }
    let tight = StepOptions::with_accuracy(1e-10);
    let want = go(&mut ExplicitRungeKutta::dormand_prince(norm.clone(), tight), &mut ode, &x0);
    let check = |name: &str, o: Outcome, tolerance: f64| {
        let error: Vec<f64> = o.state.iter().zip(&want.state).map(|(a, b)| a - b).collect();
        let (e, at) = norm.norm(&want.state, &error);
        println!("{name}: {e:.2e} {:?}", o.statistics);
        assert!(e < tolerance, "{name}: {e} at {}", state_name(&model, &system, at));
    };
    let mut radau = RadauIIA5::new(norm.clone(), StepOptions::with_accuracy(1e-6));
    check("Radau", go(&mut radau, &mut ode, &x0), 1e-4);
    // The implicit form with sparse Jacobians and factors is the same motion.
    {
        let mut controls = ModelControls::new(&model, &system);
        controls.add_excitation(&model, &system, 0.3);
        let mut sparse = ImplicitSystemOde::new(&system, controls);
        let (y0, norm) = (sparse.vector(&x), sparse.error_norm());
        let n = norm.dim();
        let tight = StepOptions::with_accuracy(1e-6);
        let mut radau = RadauIIA5::with_solvers(norm, tight, SparseLu::new(n), SparseLu::new(n));
        check("Radau, sparse", go(&mut radau, &mut sparse, &y0), 1e-4);
    }
    // No orders here: near t = 0.155 s the elbow begins to move abruptly, and beyond it the midpoint rule stays 1.2e-3
    // from the other methods (in the speed of the elbow) however short its step. Before, all agree to 1e-6. The cause is
    // not known; `order_on_a_model_with_muscles` has the orders. These tolerances are what was measured, doubled or more.
    for (h, tolerance) in [(1e-3, 2e-2), (2.5e-4, 1.5e-3)] {
        check("midpoint", go(&mut ImplicitMidpoint::new(norm.clone(), h), &mut ode, &x0), tolerance);
    }
    for (h, tolerance) in [(1e-3, 1e-1), (2.5e-4, 3e-2)] {
        check("Rosenbrock", go(&mut RosenbrockEuler::new(norm.clone(), h), &mut ode, &x0), tolerance);
    }
}

/// The orders of the fixed-step methods hold on a model with muscles.
#[reference_test]
fn order_on_a_model_with_muscles() {
    let folder = reference();
    let (model, system) = load(&folder.join("models/Tug_of_War_Millard.osim"));
    let mut controls = ModelControls::new(&model, &system);
    controls.add_excitation(&model, &system, 0.3);
    let mut x = system.default_state.clone();
    let mut values = vec![0.0; system.num_controls];
    controls.compute(0.0, &x, &mut values);
    assert!(system.solve_equilibrium(&mut x, &values, &mut system.workspace()).is_empty());
    fn end<P>(i: &mut dyn Integrator<P>, p: &mut P, x0: &[f64]) -> Vec<f64> {
        let o = integrate(i, p, (0.0, x0), 0.2, &mut [], &mut |_| ControlFlow::Continue(()));
        assert_eq!(o.end, End::Reached);
        o.state
    }
    let mut explicit = SystemOde::new(&system, controls.clone());
    let mut tight =
        ExplicitRungeKutta::dormand_prince(explicit.error_norm(), StepOptions::with_accuracy(1e-11));
    let want = end(&mut tight, &mut explicit, &SystemOde::<ModelControls>::vector(&x));
    let mut implicit = ImplicitSystemOde::new(&system, controls);
    let (y0, norm) = (implicit.vector(&x), implicit.error_norm());
    let n = norm.dim();
    let error = |y: Vec<f64>| largest(y.iter().zip(&want).map(|(a, b)| (a - b).abs()));
    let mut rosenbrock = |h| {
        let mut m = RosenbrockEuler::with_solver(norm.clone(), h, SparseLu::new(n));
        error(end(&mut m, &mut implicit, &y0))
    };
    let slope = (rosenbrock(1e-3) / rosenbrock(2.5e-4)).log2() / 2.0;
    assert!((slope - 1.0).abs() < 0.1, "Rosenbrock: {slope}");
    let mut midpoint = |h| {
        let mut m = ImplicitMidpoint::with_solver(norm.clone(), h, SparseLu::new(n));
        error(end(&mut m, &mut implicit, &y0))
    };
    let slope = (midpoint(1e-3) / midpoint(2.5e-4)).log2() / 2.0;
    assert!((slope - 2.0).abs() < 0.1, "midpoint: {slope}");
}

/// NaN from the controls ends the run at its time, names a state, and keeps everything before.
#[reference_test]
fn analytic_nan_ends_with_time_and_state() {
    let folder = reference();
    let (model, system) = load(&folder.join("models/Tug_of_War.osim"));
    let bad = Feedback(|t: f64, _: &State<f64>, c: &mut [f64]| c.fill(if t > 0.1 { f64::NAN } else { 0.05 }));
    let mut ode = SystemOde::new(&system, bad);
    let x0 = SystemOde::<Constant>::vector(&system.default_state);
    let mut i = ExplicitRungeKutta::merson(ode.error_norm(), StepOptions::default());
    let mut last = 0.0;
    let o = integrate(&mut i, &mut ode, (0.0, &x0), 1.0, &mut [], &mut |v| {
        last = v.t1;
        ControlFlow::Continue(())
    });
    let End::Stopped(stop) = &o.end else { panic!("{:?}", o.end) };
    assert!((o.time - 0.1).abs() < 1e-9 && o.time == last, "{}", o.time);
    assert!(matches!(stop, Stop::NotFinite { quantity: Quantity::State | Quantity::Rate, .. }), "{stop:?}");
    let name = state_name(&model, &system, stop.component().unwrap());
    assert!(name.contains("muscle"), "{name}");
    assert!(o.state.iter().all(|x| x.is_finite()));
}

/// A solution that runs away in finite time ends in a step underflow there: ẋ = x², x = 1/(1 − t).
#[test]
fn analytic_blow_up_is_an_underflow() {
    struct Blow;
    impl ExplicitOde for Blow {
        fn dim(&self) -> usize {
            1
        }
        fn rhs(&mut self, _: f64, x: &[f64], d: &mut [f64]) -> Result<(), soleus_simulation::RhsError> {
            d[0] = x[0] * x[0];
            Ok(())
        }
    }
    let norm = soleus_simulation::ErrorNorm::uniform(1);
    let mut i = ExplicitRungeKutta::dormand_prince(norm, StepOptions::default());
    let o = integrate(&mut i, &mut Blow, (0.0, &[1.0]), 2.0, &mut [], &mut |_| ControlFlow::Continue(()));
    assert!(
        matches!(o.end, End::Stopped(Stop::Underflow { component: 0, .. } | Stop::NotFinite { .. })),
        "{o:?}"
    );
    assert!((o.time - 1.0).abs() < 1e-3, "{}", o.time);
}

/// Labels are those of OpenSim's tables, and each state has one.
#[test]
fn identity_every_state_has_a_label() {
    let (model, system) = passive();
    let labels = state_labels(&model, &system);
    assert_eq!(labels[0], ("/jointset/pin/swing/value".to_string(), 0));
    assert_eq!(labels[3], ("/jointset/ball/rx/speed".to_string(), 5));
    let mut at: Vec<usize> = labels.iter().map(|l| l.1).collect();
    at.sort_unstable();
    assert_eq!(at, (0..8).collect::<Vec<_>>());
}

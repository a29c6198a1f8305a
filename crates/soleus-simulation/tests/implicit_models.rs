//! Whole models in implicit form: the same motion as the explicit form, at the order of each method.

use soleus_dynamics::system::{State, System};
use soleus_simulation::system::{Constant, ImplicitSystemOde};
use soleus_simulation::{
    End, ErrorNorm, ExplicitRungeKutta, ImplicitMidpoint, Integrator, RadauIIA5, RosenbrockEuler,
    StepOptions, SystemOde, integrate,
};
use soleus_testing::{reference_test, shared};
use std::ops::ControlFlow;

const EXCITATION: f64 = 0.3;
const DURATION: f64 = 0.1;

/// The leg that ships, fibers in equilibrium.
fn leg() -> (System, State<f64>) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file);
    let system = System::compile(&model.unwrap()).unwrap();
    let mut x = system.default_state.clone();
    let controls = vec![EXCITATION; system.num_controls];
    let failures = system.solve_equilibrium(&mut x, &controls, &mut system.workspace());
    assert!(failures.is_empty());
    (system, x)
}

fn controls(system: &System) -> Constant {
    Constant(vec![EXCITATION; system.num_controls])
}

fn vector(x: &State<f64>) -> Vec<f64> {
    [x.q.clone(), x.u.clone(), x.z.clone()].concat()
}

/// The motion by an explicit method at a tolerance far below what is compared.
fn reference(system: &System, x: &State<f64>) -> Vec<f64> {
    let mut ode = SystemOde::new(system, controls(system));
    let norm = ode.error_norm();
    let mut method = ExplicitRungeKutta::dormand_prince(norm, StepOptions::with_accuracy(1e-11));
    let o = integrate(&mut method, &mut ode, (0.0, &vector(x)), DURATION, &mut [], &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(o.end, End::Reached);
    o.state
}

fn implicit<'s>(
    system: &'s System,
    x: &State<f64>,
    method: &mut dyn Integrator<ImplicitSystemOde<'s, Constant>>,
) -> Vec<f64> {
    let mut dae = ImplicitSystemOde::new(system, controls(system));
    let o =
        integrate(method, &mut dae, (0.0, &vector(x)), DURATION, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, End::Reached, "{o:?}");
    o.state
}

/// Largest difference of the joint angles, rad.
fn angle_error(a: &[f64], b: &[f64], n: usize) -> f64 {
    (0..n).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max)
}

#[test]
fn identity_implicit_and_explicit_motion_agree() {
    let (system, x) = leg();
    let want = reference(&system, &x);
    let n = vector(&x).len();
    let mut radau = RadauIIA5::new(ErrorNorm::uniform(n), StepOptions::with_accuracy(1e-8));
    let got = implicit(&system, &x, &mut radau);
    let error = angle_error(&got, &want, system.tree.num_mobilities);
    println!("Radau IIA 5 at 1e-8: {error:.1e} rad off");
    assert!(error < 1e-7, "{error}");
}

/// Error falls as h and h² when the step is halved.
#[test]
fn order_fixed_step_methods_on_a_leg() {
    let (system, x) = leg();
    let want = reference(&system, &x);
    let (n, dim) = (system.tree.num_mobilities, vector(&x).len());
    let error = |order: usize, h: f64| {
        let norm = ErrorNorm::uniform(dim);
        let got = if order == 1 {
            implicit(&system, &x, &mut RosenbrockEuler::new(norm, h))
        } else {
            implicit(&system, &x, &mut ImplicitMidpoint::new(norm, h))
        };
        angle_error(&got, &want, n)
    };
    for (order, h) in [(1, 2e-4), (2, 4e-4)] {
        let (coarse, fine) = (error(order, h), error(order, h / 2.0));
        let slope = (coarse / fine).log2();
        println!("order {order}: {coarse:.2e} at {h}, {fine:.2e} at half of it, slope {slope:.2}");
        // Activation has a corner where excitation meets it, which costs a few percent of the slope.
        assert!((slope - order as f64).abs() < 0.15, "order {order}: slope {slope}");
    }
}

/// A planar loop closed by a weld: three of the weld's equations are off the plane and have no entries at all.
#[reference_test("data/osim_zoo")]
fn identity_planar_loop_closed_by_a_weld() {
    let file = shared!("data/osim_zoo/CoupledCoordinatesMPPsMomentArmTest.osim");
    let bytes = std::fs::read(file).unwrap();
    let model = soleus_io::osim::read_model(&bytes, file).0.unwrap();
    let system = System::compile(&model).unwrap();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    soleus_dynamics::assembly::Assembler::new(&model, &system)
        .solve_assembly(&system, &mut x, &mut ws)
        .unwrap();
    system.solve_equilibrium(&mut x, &controls(&system).0, &mut ws);
    let want = reference(&system, &x);
    let mut dae = ImplicitSystemOde::new(&system, controls(&system));
    let y = dae.vector(&x);
    let mut radau = RadauIIA5::new(dae.error_norm(), StepOptions::with_accuracy(1e-8));
    let o = integrate(&mut radau, &mut dae, (0.0, &y), DURATION, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, End::Reached, "{o:?}");
    let error = angle_error(&o.state, &want, system.tree.num_mobilities);
    assert!(error < 1e-6, "{error}");
}

//! Reflexes of a model beside OpenSim 4.6.

use soleus_dynamics::System;
use soleus_simulation::{
    Controls, End, ExplicitRungeKutta, ModelControls, StepOptions, SystemOde, integrate,
};
use std::ops::ControlFlow;

/// A block on a slider, pulled by a muscle that answers to stretch.
const BLOCK: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="off">
<gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="block"><mass>2</mass><mass_center>0 0 0</mass_center>
<inertia>0.02 0.03 0.025 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><SliderJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/block</socket_child_frame><coordinates><Coordinate name="x"><default_value>0.31</default_value>
<default_speed_value>0.1</default_speed_value></Coordinate></coordinates></SliderJoint></objects></JointSet>
<ForceSet name="forceset"><objects>
<Thelen2003Muscle name="muscle"><path><GeometryPath name="path"><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>0 0 0</location></PathPoint>
<PathPoint name="b"><socket_parent_frame>/bodyset/block</socket_parent_frame><location>0 0 0</location></PathPoint>
</objects></PathPointSet></GeometryPath></path><max_isometric_force>500</max_isometric_force>
<optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length></Thelen2003Muscle>
</objects></ForceSet><ControllerSet name="controllerset"><objects><ToyReflexController name="reflexes"><socket_actuators>/forceset/muscle</socket_actuators><gain>0.85</gain></ToyReflexController></objects></ControllerSet></Model></OpenSimDocument>"#;

fn block() -> (System, ModelControls) {
    let (model, diagnostics) = soleus_io::osim::read_model(BLOCK.as_bytes(), "block.osim");
    let model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
    assert!(diagnostics.list.is_empty() && model.unsupported.is_empty(), "{:?}", diagnostics.list);
    let system = System::compile(&model).unwrap();
    let controls = ModelControls::new(&model, &system);
    (system, controls)
}

/// The gain is 0.85, the fastest shortening 0.1 m · 10/s: 0.85 times the speed in m/s, and nothing while it shortens.
#[test]
fn opensim_val_reflex_answers_to_lengthening() {
    let (system, mut controls) = block();
    let mut x = system.default_state.clone();
    for (speed, excitation) in [(0.1, 0.085), (0.37, 0.3145), (-0.2, 0.0)] {
        x.u[0] = speed;
        let mut values = [f64::NAN];
        controls.compute(0.0, &x, &mut values);
        assert!((values[0] - excitation).abs() < 1e-16, "{speed}: {}", values[0]);
    }
}

/// 0.02 s from equilibrium at 2 m/s. OpenSim's runs at accuracies of 1e-9 and 1e-10 differ by 2e-7.
#[test]
fn opensim_val_motion_with_a_reflex() {
    let (system, controls) = block();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    x.u[0] = 2.0;
    assert!(system.solve_equilibrium(&mut x, &[0.0], &mut ws).is_empty());
    let mut ode = SystemOde::new(&system, controls);
    let mut i = ExplicitRungeKutta::dormand_prince(ode.error_norm(), StepOptions::with_accuracy(1e-10));
    let x0 = SystemOde::<ModelControls>::vector(&x);
    let o = integrate(&mut i, &mut ode, (0.0, &x0), 0.02, &mut [], &mut |_| ControlFlow::Continue(()));
    assert_eq!(o.end, End::Reached);
    let want = [0.3177746229154887, -0.7598877251597246, 0.40440305112648206, 0.11520503137904368];
    for (a, b) in o.state.iter().zip(want) {
        assert!((a - b).abs() < 1e-6, "{:?}", o.state);
    }
}

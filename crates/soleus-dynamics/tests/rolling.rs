//! The rolling constraint, which none of the reference models has.

use soleus_dynamics::System;

/// A ball on a free joint that rolls on the ground; coordinates, speeds and results as OpenSim 4.6 gave them once the
/// constraint was switched on by `setIsEnforced` and the speeds were put on its equations.
const BALL: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="roll">
<gravity>0 -9.80665 0</gravity><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="ball"><mass>2</mass><mass_center>0.01 0.02 -0.03</mass_center>
<inertia>0.02 0.03 0.025 0.001 0.002 -0.001</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><FreeJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/ball</socket_child_frame><coordinates><Coordinate name="rx" /><Coordinate name="ry" />
<Coordinate name="rz" /><Coordinate name="tx" /><Coordinate name="ty" /><Coordinate name="tz" /></coordinates>
</FreeJoint></objects></JointSet>
<ConstraintSet name="constraintset"><objects><RollingOnSurfaceConstraint name="roll">
<socket_rolling_body>/bodyset/ball</socket_rolling_body><socket_surface_body>/ground</socket_surface_body>
<isEnforced>true</isEnforced><surface_normal>0 1 0</surface_normal><surface_height>0</surface_height>
<friction_coefficient>1</friction_coefficient><contact_radius>0.1</contact_radius>
</RollingOnSurfaceConstraint></objects></ConstraintSet>
</Model></OpenSimDocument>"#;

#[test]
fn opensim_val_rolling_on_a_plane() {
    let (model, diagnostics) = soleus_io::osim::read_model(BALL.as_bytes(), "ball.osim");
    let model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
    let system = System::compile(&model).unwrap();
    let mut x = system.default_state.clone();
    x.q = vec![0.4, 0.0, 0.30000000000000004, 0.30000000000000004, 0.0, 0.2];
    x.u = vec![0.5, 0.2096235336281182, -0.4958062815050469, 0.04192470672562362, 0.0, -0.06288706008843542];
    let udot = [
        -16.29069629387116,
        -0.4324390303808551,
        1.7139723232768045,
        -0.2229982026158564,
        0.0,
        -0.003427638281647938,
    ];
    let lambda = [-18.978407446296995, -0.27907103092387164, 0.5251952163427503, 1.043669645710722];
    let mut ws = system.workspace();
    system.compute_motion(&x, &[], &mut ws).unwrap();
    // Both programs solve the same small systems; what is left is rounding.
    for (a, b) in ws.udot.iter().zip(udot).chain(ws.constraints.lambda.iter().zip(lambda)) {
        assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} {b}");
    }
}

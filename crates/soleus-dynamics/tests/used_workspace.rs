//! What was computed before leaves no trace: a workspace that has been used gives the bits of a new one.

use crate::common::{Subject, references, shipped};
use soleus_dynamics::{State, System};
use soleus_testing::reference_test;

/// u̇, ż and λ; none where the model has no accelerations.
fn motion(
    system: &System,
    x: &State<f64>,
    controls: &[f64],
    ws: &mut soleus_dynamics::Workspace<f64>,
) -> Option<Vec<u64>> {
    system.compute_motion(x, controls, ws).ok()?;
    Some([&ws.udot[..], &ws.zdot, &ws.constraints.lambda].concat().iter().map(|x| x.to_bits()).collect())
}

fn check(subjects: &[Subject]) {
    let mut compared = 0;
    for Subject { name, system, states } in subjects {
        let mut used = system.workspace();
        // There and back: every state is preceded by another one.
        for (x, controls) in states.iter().chain(states.iter().rev()) {
            let (new, used) = (
                motion(system, x, controls, &mut system.workspace()),
                motion(system, x, controls, &mut used),
            );
            assert_eq!(new, used, "{name} at {} s", x.time);
            compared += usize::from(new.is_some());
        }
    }
    assert!(compared > 0);
    println!("{compared} motions of {} models have the same bits", subjects.len());
}

#[test]
fn identity_shipped_models() {
    check(&shipped());
}

#[reference_test]
fn identity_reference_models() {
    check(&references());
}

/// A cart whose place is prescribed, and on it a block on a ball joint of which one angle is locked.
const CART: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600"><Model name="cart"><Ground name="ground" />
<BodySet name="bodyset"><objects>
<Body name="cart"><mass>3</mass><mass_center>0 0 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body>
<Body name="block"><mass>2</mass><mass_center>0.1 0.2 0.05</mass_center><inertia>0.02 0.03 0.025 0 0 0</inertia></Body>
</objects></BodySet>
<JointSet name="jointset"><objects>
<SliderJoint name="track"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/cart</socket_child_frame>
<coordinates><Coordinate name="x"><prescribed>true</prescribed><prescribed_function>
<StepFunction><transition_start_time>0</transition_start_time><transition_end_time>0.2</transition_end_time><start_value>0</start_value><end_value>0.4</end_value></StepFunction>
</prescribed_function></Coordinate></coordinates></SliderJoint>
<BallJoint name="ball"><socket_parent_frame>/bodyset/cart</socket_parent_frame><socket_child_frame>/bodyset/block</socket_child_frame>
<coordinates><Coordinate name="a" /><Coordinate name="b"><locked>true</locked></Coordinate><Coordinate name="c" /></coordinates></BallJoint>
</objects></JointSet></Model></OpenSimDocument>"#;

/// Accelerations of prescribed coordinates added up from one evaluation to the next, and so did those of locked angles of ball joints.
#[test]
fn issue_constraints_do_not_add_up_from_one_evaluation_to_the_next() {
    let (model, _) = soleus_io::osim::read_model(CART.as_bytes(), "cart.osim");
    let model = model.unwrap();
    let system = System::compile(&model).unwrap();
    let [x, a, c] =
        ["x", "a", "c"].map(|n| system.tree.mobility_of_coordinate[model.coordinate(n).unwrap().0]);
    let mut ws = system.workspace();
    let mut states = Vec::new();
    for k in 0..5 {
        let s = 0.2 * f64::from(k);
        let mut state = system.default_state.clone();
        state.time = 0.2 * s;
        [state.q[a], state.q[c], state.u[a], state.u[c]] = [0.3 + s, -0.2, 1.5, -0.7 + s];
        system.compute_motion(&state, &[], &mut ws).unwrap();
        // Of 0.4 s³ (10 − 15 s + 6 s²) with s = t/0.2.
        let wanted = 0.4 / 0.04 * (60.0 * s - 180.0 * s * s + 120.0 * s * s * s);
        assert!((ws.udot[x] - wanted).abs() < 1e-10, "{} {wanted}", ws.udot[x]);
        states.push((state, Vec::new()));
    }
    check(&[Subject { name: "cart".into(), system, states }]);
}

use crate::models::{leg, pendulum};
use soleus::evaluation::NamedState;
use soleus::{Collected, Context, ErrorKind, Evaluate, Memory, Outcome};

#[test]
fn analytic_accelerations_of_a_pendulum() {
    let files = Memory::new().with("p.osim", pendulum("p", ("2", "0.1"), ""));
    let states = vec![NamedState::default().with("angle", 0.3, 2.0)];
    let request = Evaluate { model: "p.osim".into(), states: states.into(), ..Default::default() };
    let found = request.run(&Context::new(&files)).unwrap();
    // (I + m c²) q̈ = −m g c sin q, with m = 2 kg, c = 0.5 m, I = 0.1 kg·m².
    let expected = -2.0 * 9.80665 * 0.5 * 0.3f64.sin() / (0.1 + 2.0 * 0.25);
    // A dozen roundings.
    assert!((found.states[0].accelerations[0] / expected - 1.0).abs() < 1e-14);
    assert_eq!(found.tree_order, ["/jointset/hinge/angle"]);
    found.verdict().unwrap();
}

/// States by name and states of a file are the same; so is the request after a trip through JSON.
#[test]
fn identity_states_of_a_file_and_values() {
    let json = r#"{"states": [{"coordinates": {"knee_angle": [-0.7, 1.0]}, "aux_states": {"/forceset/soleus/activation": 0.5}}, {}]}"#;
    let files = leg().with("states.json", json);
    let cx = Context::new(&files);
    let of_file = Evaluate {
        model: "leg.osim".into(),
        states: "states.json".into(),
        output: Some("out.json".into()),
        ..Default::default()
    };
    let mut bent = NamedState::default().with("knee_angle", -0.7, 1.0);
    bent.aux_states.insert("/forceset/soleus/activation".into(), 0.5);
    let of_values = Evaluate { states: vec![bent, NamedState::default()].into(), ..of_file.clone() };
    let a = of_file.run(&cx).unwrap();
    assert_eq!(a.to_json(), of_values.run(&cx).unwrap().to_json());
    let text = serde_json::to_string(&of_file).unwrap();
    let again: Evaluate = serde_json::from_str(&text).unwrap();
    again.run(&cx).unwrap().write(&cx).unwrap();
    use soleus::Files;
    let written = files.read("out.json".as_ref()).unwrap();
    assert_eq!(written, (a.to_json().to_string() + "\n").into_bytes());
}

#[test]
fn issue_21_accelerations_that_are_not_finite_are_named() {
    let actuator = "<CoordinateActuator name=\"motor\"><coordinate>angle</coordinate>\
        <optimal_force>1</optimal_force></CoordinateActuator>";
    let files = Memory::new().with("p.osim", pendulum("p", ("2", "0.1"), actuator));
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let driven = NamedState { controls: Some(vec![f64::INFINITY]), ..Default::default() };
    let request = Evaluate {
        model: "p.osim".into(),
        states: vec![NamedState::default(), driven].into(),
        ..Default::default()
    };
    let found = request.run(&cx).unwrap();
    let e = found.verdict().unwrap_err();
    assert_eq!(e.kind(), ErrorKind::NotSolved);
    for said in [e.to_string(), told.diagnostics()[0].to_string()] {
        assert!(said.contains("state 1") && said.contains("/jointset/hinge/angle"), "{said}");
    }
    assert_eq!((found.not_finite.len(), found.not_finite[0].state), (1, 1));
    assert_eq!(found.states.len(), 2, "the other states are there");
}

#[test]
fn analytic_states_that_the_model_does_not_have() {
    let files = leg();
    let cx = Context::new(&files);
    let says = |state: NamedState| {
        let request = Evaluate { model: "leg.osim".into(), states: vec![state].into(), ..Default::default() };
        request.run(&cx).unwrap_err().to_string()
    };
    let said = says(NamedState::default().with("knee_angel", 0.0, 0.0));
    assert!(said.contains("no coordinate `knee_angel`") && said.contains("knee_angle?"), "{said}");
    let said = says(NamedState { controls: Some(vec![0.0]), ..Default::default() });
    assert!(said.contains("`controls` has 1 entries, the model needs 8"), "{said}");
}

/// A contact mesh that is a device was called "not found".
#[test]
#[cfg(unix)]
fn issue_16_a_mesh_that_is_a_device_is_called_that() {
    let model = "<OpenSimDocument Version=\"40600\"><Model name=\"m\"><Ground name=\"ground\"/><ContactGeometrySet name=\"contactgeometryset\"><objects>\
        <ContactMesh name=\"floor\"><socket_frame>/ground</socket_frame><filename>FILE</filename></ContactMesh></objects></ContactGeometrySet>\
        <ForceSet name=\"forceset\"><objects><ElasticFoundationForce name=\"f\"><ElasticFoundationForce::ContactParametersSet name=\"contact_parameters\">\
        <objects><ElasticFoundationForce::ContactParameters><geometry>floor</geometry><stiffness>1e6</stiffness>\
        </ElasticFoundationForce::ContactParameters></objects></ElasticFoundationForce::ContactParametersSet></ElasticFoundationForce></objects></ForceSet>\
        </Model></OpenSimDocument>";
    for (file, words) in [("/dev/zero", "not a regular file"), ("/dev/none.obj", "not found")] {
        let document =
            soleus::engine::io::osim::read_document(model.replace("FILE", file).as_bytes(), "m.osim").0;
        let files = soleus::Disk::new();
        let request = soleus::Jacobians { model: document.unwrap().into(), ..soleus::Jacobians::default() };
        let said = request.run(&soleus::Context::new(&files)).map(drop).unwrap_err().to_string();
        assert!(said.contains("`floor`") && said.contains(words), "{said}");
    }
}

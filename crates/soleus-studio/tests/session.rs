//! What a page asks of a session, beside what the library says.

use serde_json::{Value, json};
use soleus::{Context, Evaluator, InverseKinematics, Memory, Outcome};
use soleus_studio::{Answer, Session};
use std::sync::Arc;

const LEG: &[u8] = include_bytes!("../../../models/leg_swing.osim");

fn session() -> (Session, usize, Value) {
    let files = Arc::new(Memory::new().with("leg.osim", LEG));
    let mut session = Session::new(files, vec!["leg.osim".into()]);
    let model = ask(&mut session, "open_model", json!({ "file": "leg.osim" }));
    let id = model.value["id"].as_u64().unwrap() as usize;
    (session, id, model.value)
}

fn ask(session: &mut Session, method: &str, fields: Value) -> Answer {
    session.answer(method, &fields, &[]).unwrap_or_else(|e| panic!("{method}: {}", e.value()))
}

fn numbers(a: &Answer, place: &Value) -> Vec<f64> {
    let (kind, size) = if place.get("f32").is_some() { ("f32", 4) } else { ("f64", 8) };
    let [at, count] = [0, 1].map(|i| place[kind][i].as_u64().unwrap() as usize);
    let bytes = &a.block.0[at..at + count * size];
    if size == 4 {
        bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
    } else {
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// Moment arms of a curve are those of the library at the same state.
#[test]
fn identity_curves_are_the_librarys_moment_arms() {
    let (mut session, id, model) = session();
    let muscle = model["paths"][0]["path"].as_str().unwrap().to_string();
    let fields = json!({ "model": id, "coordinate": "knee_angle", "quantity": "moment_arm", "muscles": [muscle], "points": 5, "q": { "hip_angle": 0.2 } });
    let hip = model["coordinates"].as_array().unwrap().iter().any(|c| c["name"] == "hip_angle");
    let fields = if hip {
        fields
    } else {
        json!({ "model": id, "coordinate": "knee_angle", "quantity": "moment_arm", "muscles": [muscle], "points": 5 })
    };
    let curve = ask(&mut session, "curve", fields);
    let (x, y) = (numbers(&curve, &curve.value["x"]), numbers(&curve, &curve.value["y"][0]));
    let files = Memory::new().with("leg.osim", LEG);
    let e = Evaluator::read(&Context::new(&files), &"leg.osim".into()).unwrap();
    let knee = e.coordinate("knee_angle").unwrap();
    let quantity = e.quantity("moment_arm:knee_angle").unwrap();
    for (x, y) in x.iter().zip(&y) {
        let mut q = e.system.default_state.q.clone();
        if hip {
            q[e.coordinate("hip_angle").unwrap()] = 0.2;
        }
        q[knee] = *x;
        let mut out = vec![0.0; quantity.size(&e)];
        let states = soleus::states::States { q: Some(soleus::states::Rows::all(&q)), ..Default::default() };
        e.evaluate(&states, std::slice::from_ref(&quantity), &mut [&mut out[..]], 1).unwrap();
        // The same lines compute both.
        assert_eq!(out[0], *y);
    }
    assert!(y.iter().any(|y| *y != 0.0) || model["paths"].as_array().unwrap().len() > 1);
}

/// A property that is changed and put back gives the file of before, digit by digit; a value that makes no sense changes nothing.
#[test]
fn identity_changes_can_be_undone() {
    let (mut session, id, model) = session();
    let before = ask(&mut session, "write_model", json!({ "model": id })).value["text"].clone();
    let path = model["paths"][0]["path"].clone();
    let set = json!({ "model": id, "path": path, "name": "max_isometric_force", "text": "1234.5" });
    let changed = ask(&mut session, "set", set);
    assert_eq!(changed.value["model"]["paths"][0]["strength"], 1234.5);
    let difference = ask(&mut session, "difference", json!({ "model": id })).value["lines"].to_string();
    assert!(difference.contains("1234.5"), "{difference}");
    let wrong = json!({ "model": id, "path": path, "name": "max_isometric_force", "text": "strong" });
    assert!(session.answer("set", &wrong, &[]).is_err());
    let none = json!({ "model": id, "path": path, "name": "no_such_property", "text": "1" });
    assert!(session.answer("set", &none, &[]).is_err());
    let back =
        json!({ "model": id, "path": path, "name": "max_isometric_force", "text": changed.value["before"] });
    ask(&mut session, "set", back);
    assert_eq!(ask(&mut session, "write_model", json!({ "model": id })).value["text"], before);
    assert_eq!(ask(&mut session, "difference", json!({ "model": id })).value["lines"], json!([]));
}

/// Messages that make no sense are refused, and the session goes on.
#[test]
fn analytic_wrong_messages_are_refused() {
    let (mut session, id, _) = session();
    for (method, fields) in [
        ("nothing", json!({})),
        ("pose", json!({})),
        ("pose", json!({ "model": 77 })),
        ("pose", json!({ "model": id, "q": { "no_such": 1.0 } })),
        ("curve", json!({ "model": id, "coordinate": "no_such", "quantity": "moment_arm" })),
        ("frames", json!({ "motion": 0 })),
        ("read", json!({ "file": "/etc/passwd" })),
        ("open_model", json!({ "file": "../../etc/passwd" })),
        ("put", json!({ "files": [{ "name": "x", "bytes": { "u8": [0, 99] } }] })),
        ("set", Value::Null),
    ] {
        assert!(session.answer(method, &fields, &[]).is_err(), "{method} {fields}");
    }
    assert!(session.answer("pose", &json!({ "model": id }), &[]).is_ok());
}

/// A tool from JSON gives the bytes that the library gives.
#[test]
fn identity_tools_from_json_give_the_same_bytes() {
    let files = Memory::new().with("leg.osim", LEG);
    let request = soleus::Simulation {
        model: "leg.osim".into(),
        duration: 0.02,
        output: soleus::simulation::SimulationOutput { folder: Some("out".into()), name: Some("leg".into()) },
        ..Default::default()
    };
    let cx = Context::new(&files);
    let wanted: Vec<_> =
        request.run(&cx).unwrap().artifacts().iter().map(|a| a.to_bytes().into_owned()).collect();
    let ran = soleus_studio::tools::run("simulate", serde_json::to_value(&request).unwrap(), &cx).unwrap();
    assert!(!wanted.is_empty());
    assert_eq!(ran.files.into_iter().map(|f| f.1).collect::<Vec<_>>(), wanted);
    let empty = serde_json::to_value(InverseKinematics::default()).unwrap();
    assert!(soleus_studio::tools::run("inverse_kinematics", empty, &cx).is_err());
}

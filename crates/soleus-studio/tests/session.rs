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

/// Of two coupled coordinates one moves the other; one that is locked stays, and what was moved gives way to it; where nothing can give way,
/// the answer says by how much.
#[test]
fn analytic_locked_coordinates_are_held() {
    let coupler = r#"<ConstraintSet><objects><CoordinateCouplerConstraint name="c"><coupled_coordinates_function><LinearFunction>
        <coefficients>0.5 0.1</coefficients></LinearFunction></coupled_coordinates_function><independent_coordinate_names>knee_angle
        </independent_coordinate_names><dependent_coordinate_name>ankle_angle</dependent_coordinate_name>
        </CoordinateCouplerConstraint></objects></ConstraintSet></Model>"#;
    let text = String::from_utf8(LEG.to_vec()).unwrap().replace("</Model>", coupler);
    let files = Arc::new(Memory::new().with("leg.osim", text));
    let mut session = Session::new(files, vec!["leg.osim".into()]);
    let model = ask(&mut session, "open_model", json!({ "file": "leg.osim" })).value;
    let place =
        |name: &str| model["coordinates"].as_array().unwrap().iter().position(|c| c["name"] == name).unwrap();
    let [hip, knee, ankle] = ["hip_flexion", "knee_angle", "ankle_angle"].map(place);
    let mut pose = |knee: f64, ankle: f64, locked: &[&str], moved: Option<&str>| {
        let q = json!({ "hip_flexion": 0.3, "knee_angle": knee, "ankle_angle": ankle });
        ask(&mut session, "pose", json!({ "model": 0, "q": q, "locked": locked, "moved": moved })).value
    };
    let of = |a: &Value, k: usize| a["q"][k].as_f64().unwrap();
    // ankle = 0.5 knee + 0.1, and the slider of the knee is where it was moved to, digit for digit.
    let a = pose(-0.6, 0.0, &["hip_flexion"], Some("knee_angle"));
    assert_eq!((a["met"].as_str(), of(&a, hip), of(&a, knee)), (Some("all"), 0.3, -0.6));
    assert!((of(&a, ankle) + 0.2).abs() < 1e-9, "{a}");
    // With the ankle locked, only one value of the knee is left: (−0.2 − 0.1) / 0.5.
    let a = pose(-0.9, -0.2, &["ankle_angle"], Some("knee_angle"));
    assert_eq!((a["met"].as_str(), of(&a, ankle)), (Some("moved"), -0.2));
    assert!((of(&a, knee) + 0.6).abs() < 1e-9, "{a}");
    // Values of a motion are rounded, and that is no reason to refuse another slider.
    let [k, t] = [-1.3_f32, -0.55_f32].map(f64::from);
    let a = pose(k, t, &["ankle_angle", "knee_angle"], Some("hip_flexion"));
    assert_eq!((a["met"].as_str(), of(&a, knee), of(&a, ankle)), (Some("all"), k, t));
    // Both locked apart from one another: nothing moves, and the error is ankle − 0.5 knee − 0.1 = 0.15.
    let a = pose(-0.9, -0.2, &["ankle_angle", "knee_angle"], None);
    assert_eq!((a["met"].as_str(), of(&a, knee), of(&a, ankle)), (Some("not"), -0.9, -0.2));
    assert!((a["error"].as_f64().unwrap() - 0.15).abs() < 1e-12, "{a}");
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

fn text_of(session: &mut Session, id: usize) -> Value {
    ask(session, "write_model", json!({ "model": id })).value["text"].clone()
}

fn has(model: &Value, path: &str) -> bool {
    model["components"].as_array().unwrap().iter().any(|c| c[0] == path)
}

/// Parts that are added and taken out again leave the file of before; versions lead back and forth.
#[test]
fn identity_parts_can_be_added_removed_and_restored() {
    let (mut session, id, _) = session();
    let before = text_of(&mut session, id);
    let spring = json!({ "type": "spring", "coordinate": "knee_angle", "stiffness": 50.0, "name": "brace" });
    let added = ask(&mut session, "add", json!({ "model": id, "part": spring })).value;
    let with_spring = text_of(&mut session, id);
    assert_ne!(with_spring, before);
    let path = "/forceset/brace";
    assert!(has(&added["model"], path), "{}", added["model"]["components"]);
    let gone = ask(&mut session, "remove", json!({ "model": id, "path": path })).value;
    assert!(!has(&gone["model"], path));
    assert_eq!(text_of(&mut session, id), before);
    ask(&mut session, "restore", json!({ "model": id, "version": gone["version"][0] }));
    assert_eq!(text_of(&mut session, id), with_spring);
    ask(&mut session, "restore", json!({ "model": id, "version": added["version"][0] }));
    assert_eq!(text_of(&mut session, id), before);

    let copied = ask(&mut session, "add", json!({ "model": id, "like": "/forceset/soleus" })).value;
    assert_eq!(copied["path"], "/forceset/soleus_2");
    assert!(has(&copied["model"], "/forceset/soleus_2"));
    let marker = json!({ "name": "heel", "body": "foot" });
    let marked = ask(&mut session, "add", json!({ "model": id, "marker": marker })).value;
    assert!(marked["model"]["markers"].as_array().unwrap().iter().any(|m| m["name"] == "heel"));
}

/// What others need stays, and so does what is no member of a list; the model is as it was.
#[test]
fn analytic_parts_that_are_needed_stay() {
    let (mut session, id, _) = session();
    let before = text_of(&mut session, id);
    for fields in [
        json!({ "model": id, "path": "/bodyset/thigh" }),
        json!({ "model": id, "path": "/forceset/soleus/path" }),
        json!({ "model": id, "path": "/nothing" }),
    ] {
        assert!(session.answer("remove", &fields, &[]).is_err(), "{fields}");
    }
    for fields in [
        json!({ "model": id, "like": "/" }),
        json!({ "model": id, "part": { "type": "spring" } }),
        json!({ "model": id, "part": { "type": "anchor" } }),
        json!({ "model": id, "marker": { "name": "a b", "body": "foot" } }),
        json!({ "model": id, "marker": { "name": "x", "body": "tail" } }),
        json!({ "model": id }),
    ] {
        assert!(session.answer("add", &fields, &[]).is_err(), "{fields}");
    }
    assert!(session.answer("restore", &json!({ "model": id, "version": 3 }), &[]).is_err());
    assert_eq!(text_of(&mut session, id), before);
}

/// A new point of a path lies between its original and the next, so that the path is as long as before.
#[test]
fn analytic_a_new_path_point_between_two_changes_no_length() {
    let (mut session, id, _) = session();
    let length = |session: &mut Session| {
        let a = ask(session, "values", json!({ "model": id, "path": "/forceset/iliopsoas" })).value;
        a["values"][0][1].as_f64().unwrap()
    };
    let before = length(&mut session);
    let like = "/forceset/iliopsoas/path/GeometryPath/PathPointSet/iliopsoas-P1";
    let added = ask(&mut session, "add", json!({ "model": id, "like": like })).value;
    assert_eq!(added["path"], format!("{like}_2"));
    assert!((length(&mut session) - before).abs() < 1e-12);
}

/// Handles lie where the points of a path are; one that is moved takes its point along, to a hundredth of a millimeter.
#[test]
fn identity_handles_move_what_they_hold() {
    let (mut session, id, _) = session();
    let handles = |session: &mut Session| {
        let a = ask(session, "handles", json!({ "model": id, "path": "/forceset/iliopsoas" }));
        a.value["handles"].as_array().unwrap().clone()
    };
    let list = handles(&mut session);
    assert!(list.iter().filter(|h| h["kind"] == "point").count() >= 3, "{list:?}");
    let pose = ask(&mut session, "pose", json!({ "model": id }));
    let (poses, points) = (numbers(&pose, &pose.value["poses"]), numbers(&pose, &pose.value["points"]));
    // In the default pose of this model bodies are not turned: the first point is its station beside its body.
    let body = list[0]["body"].as_u64().unwrap() as usize;
    for k in 0..3 {
        let station = list[0]["station"][k].as_f64().unwrap();
        assert!((poses[7 * body + k] + station - points[k]).abs() < 1e-6);
    }
    let mut to = list[0].clone();
    let station = [0.0123, -0.0456, 0.0789];
    to["station"] = json!(station);
    to["model"] = json!(id);
    let moved = ask(&mut session, "move", to.clone()).value;
    assert_eq!(moved["after"], "0.0123 -0.0456 0.0789");
    assert_eq!(handles(&mut session)[0]["station"], json!(station));
    to["station"] = json!([0.0, 1.0]);
    assert!(session.answer("move", &to, &[]).is_err());
    let set = json!({ "model": id, "path": list[0]["path"], "name": "location", "text": moved["before"] });
    ask(&mut session, "set", set);
    assert_eq!(handles(&mut session)[0]["station"], list[0]["station"]);
}

/// Wrap objects have handles too, of a muscle that knows them and of their own.
#[test]
fn identity_wrap_objects_have_handles() {
    let (mut session, id, model) = session();
    let paths = model["paths"].as_array().unwrap().iter().map(|p| p["path"].clone());
    let mut wraps = Vec::new();
    for path in paths {
        let a = ask(&mut session, "handles", json!({ "model": id, "path": path })).value;
        wraps.extend(a["handles"].as_array().unwrap().iter().filter(|h| h["kind"] == "wrap").cloned());
    }
    assert!(!wraps.is_empty());
    let own = ask(&mut session, "handles", json!({ "model": id, "path": wraps[0]["path"] })).value;
    assert_eq!(own["handles"][0]["path"], wraps[0]["path"]);
    let mut to = wraps[0].clone();
    (to["model"], to["station"]) = (json!(id), json!([0.0, -0.4, 0.01]));
    ask(&mut session, "move", to);
    let now = ask(&mut session, "handles", json!({ "model": id, "path": wraps[0]["path"] })).value;
    let place = now["handles"][0]["station"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap());
    assert!(place.zip([0.0, -0.4, 0.01]).all(|(a, b)| (a - b).abs() < 1e-5));
}

/// A motion in numbers has the frames of a pose at the same values; one that takes the place of another keeps its number.
#[test]
fn identity_reached_motions_are_poses() {
    let (mut session, id, _) = session();
    let reached = json!({ "names": ["knee_angle"], "times": [0.0, 0.1], "rows": [[-0.2], [-0.5]] });
    let open = ask(&mut session, "open_motion", json!({ "model": id, "reached": reached })).value;
    let frames = ask(&mut session, "frames", json!({ "motion": open["id"], "rows": [1] }));
    let pose = ask(&mut session, "pose", json!({ "model": id, "q": { "knee_angle": -0.5 } }));
    assert_eq!(numbers(&frames, &frames.value["poses"]), numbers(&pose, &pose.value["poses"]));
    let next = json!({ "model": id, "reached": reached, "replace": open["id"] });
    assert_eq!(ask(&mut session, "open_motion", next).value["id"], open["id"]);
    let wrong = json!({ "names": ["knee_angle"], "times": [0.0], "rows": [[1.0, 2.0]] });
    assert!(session.answer("open_motion", &json!({ "model": id, "reached": wrong }), &[]).is_err());
}

/// Where a table of activations says nothing, none are shown.
#[test]
fn analytic_activations_end_with_their_table() {
    let muscle = session().2["paths"][0]["path"].as_str().unwrap().to_string();
    let motion = "inDegrees=no\nendheader\ntime\tknee_angle\n0\t-0.2\n1\t-0.3\n2\t-0.4\n3\t-0.5\n";
    let active = format!("endheader\ntime\t{muscle}/activation\n1\t0.3\n2\t0.7\n");
    let files = Memory::new().with("leg.osim", LEG).with("leg.mot", motion).with("a.sto", active.as_bytes());
    let mut session = Session::new(Arc::new(files), vec!["leg.osim".into()]);
    let id = ask(&mut session, "open_model", json!({ "file": "leg.osim" })).value["id"].clone();
    let fields = json!({ "model": id, "file": "leg.mot", "activations": "a.sto" });
    let open = ask(&mut session, "open_motion", fields).value;
    assert_eq!(open["activations_known"], json!([1.0, 2.0]));
    let frames = ask(&mut session, "frames", json!({ "motion": open["id"], "rows": [0, 1, 2, 3] }));
    let activity = numbers(&frames, &frames.value["activity"]);
    let first: Vec<f64> = activity.chunks(activity.len() / 4).map(|row| row[0]).collect();
    assert!(first[0].is_nan() && first[3].is_nan(), "{first:?}");
    assert!((first[1] - 0.3).abs() < 1e-6 && (first[2] - 0.7).abs() < 1e-6, "{first:?}");
}

/// A joint has the values of its coordinates, and a shape says which component it is.
#[test]
fn identity_joints_and_shapes_are_components() {
    let (mut session, id, model) = session();
    let coordinate =
        model["coordinates"].as_array().unwrap().iter().find(|c| c["name"] == "knee_angle").unwrap();
    let joint = coordinate["path"].as_str().unwrap().rsplit_once('/').unwrap().0;
    let fields = json!({ "model": id, "path": joint, "q": { "knee_angle": -0.5 } });
    let values = ask(&mut session, "values", fields).value["values"].clone();
    assert_eq!(values[0][0], "knee_angle");
    assert!((values[0][1].as_f64().unwrap() + 0.5_f64.to_degrees()).abs() < 1e-9, "{values}");
    let files =
        Memory::new().with("geodesic_paths.osim", include_bytes!("../../../models/geodesic_paths.osim"));
    let mut session = Session::new(Arc::new(files), vec!["geodesic_paths.osim".into()]);
    let model = ask(&mut session, "open_model", json!({ "file": "geodesic_paths.osim" })).value;
    let scene = ask(&mut session, "scene", json!({ "model": model["id"] })).value;
    let shapes = scene["shapes"].as_array().unwrap();
    let surfaces: Vec<_> = shapes.iter().filter(|s| s["layer"] != "body").collect();
    assert!(!surfaces.is_empty() && surfaces.iter().all(|s| has(&model, s["component"].as_str().unwrap())));
}

/// Tells of the motions that were reached.
#[derive(Default)]
struct Seen(std::sync::Mutex<Vec<(usize, Option<f64>)>>);

impl soleus::Monitor for Seen {
    fn wants_motion(&self) -> bool {
        true
    }

    fn motion(&self, r: &soleus::Reached) {
        assert_eq!(r.rows.len(), r.times.len());
        assert!(r.rows.iter().all(|row| row.len() == r.names.len()));
        self.0.lock().unwrap().push((r.times.len(), r.marker_error.map(|e| e.0)));
    }

    fn is_cancelled(&self) -> bool {
        self.0.lock().unwrap().len() >= 3
    }
}

/// Iterates of a predicted walk are told as whole motions.
#[test]
fn identity_iterates_are_told() {
    let (seen, files) = (Seen::default(), Memory::new());
    let walk = soleus::PredictWalk::default().run(&Context::new(&files).with_monitor(&seen));
    assert!(walk.is_err());
    let told = seen.0.into_inner().unwrap();
    assert!(told.len() >= 3 && told.iter().all(|(count, error)| *count > 5 && error.is_none()), "{told:?}");
}

//! What a page asks of Studio: conversations that are nearly right.

use crate::subject::SUBJECT;
use crate::tools::{Patient, all_files, scaling_request};
use serde_json::{Value, json};
use soleus::Monitor as _;
use soleus::files::Files;
use soleus_studio::engine::{self, PageMonitor};
use soleus_studio::{Session, message};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Messages that are answered, at most: a conversation is for one case.
const MOST_MESSAGES: usize = 40;

/// Conversations, each a list of messages: `[method, fields]`. The block of numbers is the model of the subject in all of them.
pub fn conversations() -> Vec<Vec<u8>> {
    let q = json!({ "knee_angle": -0.5, "hip_flexion": 0.2 });
    let opened = json!(["open_model", { "file": "subject.osim" }]);
    let [flexor, knee] = ["/forceset/flexor", "/bodyset/thigh/knee_drum"];
    let reached = json!({ "names": ["hip_flexion", "knee_angle"], "times": [0.0, 0.1], "rows": [[0.1, -0.2], [0.2, -0.3]] });
    let run = |tool: &str, request: Value| json!(["run", { "tool": tool, "request": request }]);
    let angles =
        json!({ "model": "subject.osim", "markers": "walk.trc", "output": { "motion": "page_ik.mot" } });
    let moments = json!({ "model": "subject.osim", "motion": "walk.mot", "loads": "loads.xml", "cutoff_hz": 6.0, "output": "page_id.sto" });
    let list = [
        json!([
            opened,
            ["scene", { "model": 0 }],
            ["pose", { "model": 0, "q": q }],
            ["values", { "model": 0, "path": flexor, "q": q, "activation": 0.3 }],
            ["curve", { "model": 0, "coordinate": "knee_angle", "quantity": "moment_arm", "muscles": [flexor, "/forceset/vasti"], "points": 9, "from": -1.0, "to": 0.1, "q": q }],
            ["open_motion", { "model": 0, "file": "walk.mot", "activations": "controls.sto", "loads": "loads.xml" }],
            ["frames", { "motion": 0, "rows": [0, 3, 11] }],
            ["open_motion", { "model": 0, "reached": reached, "replace": 0 }],
            ["frames", { "motion": 0, "rows": [0, 1] }],
            ["markers", { "file": "walk.trc" }],
            ["table", { "file": "walk.mot" }],
            ["table", { "file": "walk.c3d", "take": "forces" }],
            ["cycles", { "trials": [{ "markers": "lab/walk.trc", "loads": "lab/walk_grf.mot", "curves": ["lab/walk_truth.sto"] }] }]
        ]),
        json!([
            opened,
            ["properties", { "model": 0, "path": flexor }],
            ["set", { "model": 0, "path": flexor, "name": "max_isometric_force", "text": "1234.5" }],
            ["set", { "model": 0, "path": flexor, "name": "max_isometric_force", "text": null }],
            ["handles", { "model": 0, "path": flexor }],
            ["handles", { "model": 0, "path": knee }],
            ["move", { "model": 0, "path": "/markerset/Knee", "property": "location", "body": 2, "frame": 2, "station": [0.0, -0.4, 0.07] }],
            ["add", { "model": 0, "part": { "type": "spring", "name": "exo", "coordinate": "knee_angle", "stiffness": 20.0 } }],
            ["add", { "model": 0, "marker": { "name": "Heel", "body": "shank", "location": [0.0, -0.4, 0.0] } }],
            ["add", { "model": 0, "like": flexor }],
            ["remove", { "model": 0, "path": "/forceset/stop" }],
            ["restore", { "model": 0, "version": 1 }],
            ["difference", { "model": 0 }],
            ["write_model", { "model": 0, "file": "changed.osim" }],
            ["open_model", { "file": "changed.osim" }]
        ]),
        json!([
            ["put", { "files": [{ "name": "put.osim", "bytes": { "u8": [0, SUBJECT.len()] } }] }],
            ["files", {}],
            ["read", { "file": "put.osim" }],
            ["open_model", { "file": "put.osim" }],
            ["walker", {}],
            ["tools", {}],
            ["same", { "tool": "inverse_kinematics", "request": angles }],
            ["same", { "tool": "scale", "request": scaling_request() }]
        ]),
        json!([
            run("inverse_kinematics", angles),
            run("inverse_dynamics", moments),
            run("scale", scaling_request()),
            run("convert", json!({ "input": "walk.trc", "output": "page.sto", "rate": 50.0 })),
            run("upgrade", json!({ "file": "subject.osim", "output": "page.osim" })),
            run(
                "evaluate",
                json!({ "model": "subject.osim", "states": "states.json", "output": "page.json" })
            ),
            run("setup_file", json!({ "file": "no_such_setup.xml" }))
        ]),
    ];
    list.map(|c| serde_json::to_vec_pretty(&c).unwrap_or_default()).into()
}

/// Holds a conversation. Every message has an answer that a page can read, and the session goes on.
pub fn converse(bytes: &[u8]) {
    // What comes through the socket may be anything.
    if let Some((value, block)) = message::read(bytes) {
        message::bytes_of(&value, block);
    }
    let Ok(Value::Array(list)) = serde_json::from_slice::<Value>(bytes) else { return };
    hold(&list, &mut |_, _| {});
}

/// Answers each message; `heard` gets it and what was answered.
fn hold(list: &[Value], heard: &mut dyn FnMut(&Value, &Value)) {
    let files = Arc::new(all_files());
    let names: Vec<PathBuf> = files.names();
    let mut session = Session::new(files.clone(), names);
    let patient = Patient::new();
    for (id, said) in list.iter().take(MOST_MESSAGES).enumerate() {
        if patient.is_cancelled() {
            return;
        }
        let value = json!({ "id": id, "method": said.get(0), "fields": said.get(1) });
        let answer = match said.get(0).and_then(Value::as_str) {
            Some("run") => {
                let monitor = PageMonitor {
                    id: id.into(),
                    tell: &|told| assert!(!told.is_null()),
                    seconds: &|| patient.seconds().unwrap_or(0.0),
                    cancelled: &|| patient.is_cancelled(),
                    last: Mutex::new([-1.0; 2]),
                };
                engine::run(&*files as &dyn Files, &monitor, 1, &value)
            }
            _ => engine::answer(&mut session, &id.into(), &value, SUBJECT.as_bytes()),
        };
        let Some((answer, _)) = message::read(&answer) else { panic!("the answer is no message") };
        assert!(answer.get("answer").is_some() || answer.get("refused").is_some(), "{answer}");
        heard(said, &answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that refuses the right messages would be tested on nothing but its refusals.
    #[test]
    fn identity_the_right_messages_are_answered() {
        let mut wrong = Vec::new();
        for text in conversations() {
            let list: Vec<Value> = serde_json::from_slice(&text).unwrap();
            hold(&list, &mut |said, answer| {
                // A setup file that is not there is refused.
                let is_missing = said.to_string().contains("no_such_setup");
                if answer.get("refused").is_some() != is_missing {
                    wrong.push(format!("{said}: {answer}"));
                }
            });
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

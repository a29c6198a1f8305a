//! The same request outside of a page: as a command, and in Python.

use super::TOOLS;
use super::python::{python, python_of_command};
use super::setups::by_setup_file;
use super::verbs::{SPACED, VERBS};
use serde_json::{Map, Value, json};
use soleus::analysis::standard;
use std::path::Path;

/// Groups that a request may be without: their fields count one by one.
const OPTIONAL: &[&str] = &["factors", "placing"];

/// A request as a command and in Python: where there is no such verb, by a setup file; where Python has no such function, by the command. Where
/// one of them is null, the list that belongs to it names the fields that it has no flag, keyword or element for.
pub fn same(tool: &str, request: &Value) -> Value {
    let Some(t) = TOOLS.iter().find(|t| t.name == tool) else { return Value::Null };
    let mut changed = Vec::new();
    collect("", request, Some(&(t.defaults)()), &mut changed);
    let both = |found: Result<String, Vec<String>>| match found {
        Ok(text) => (Value::from(text), Vec::new()),
        Err(missing) => (Value::Null, missing),
    };
    let [command, python] = match by_setup_file(tool, &changed) {
        Some(Ok([command, python])) => [Ok(command), Ok(python)],
        Some(Err(missing)) => [Err(missing.clone()), Err(missing)],
        None => {
            let command = command(tool, request, &changed);
            let python = match python(tool, request, &changed) {
                // Python has no function for it, but the command.
                Err(missing) if missing.is_empty() => command.clone().map(|c| python_of_command(&c)),
                found => found,
            };
            [command, python]
        }
    };
    let (command, no_flag) = both(command);
    let (python, no_keyword) = both(python);
    json!({ "command": command, "no_flag": no_flag, "python": python, "no_keyword": no_keyword })
}

/// Fields of a request that are not at their defaults, by path. Of a group that a request may be without, no defaults are known.
fn collect<'r>(path: &str, request: &'r Value, known: Option<&Value>, out: &mut Vec<(String, &'r Value)>) {
    let none = Map::new();
    let defaults = known.unwrap_or(&Value::Null);
    // Where the default is known and null, false is an answer.
    let is_off = known.is_none() && *request == false;
    let fields_known = match defaults {
        Value::Object(known) => Some(known),
        Value::Null if OPTIONAL.contains(&path) => Some(&none),
        _ => None,
    };
    let (Value::Object(fields), Some(fields_known)) = (request, fields_known) else {
        let is_empty = is_off || (defaults.is_null() && (*request == json!([]) || *request == ""));
        if !is_same(request, defaults) && !request.is_null() && !is_empty {
            out.push((path.to_string(), request));
        }
        return;
    };
    for (key, value) in fields {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(&path, value, fields_known.get(key), out);
    }
}

/// Whether two values are the same. A page writes 1 for 1.0.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        _ => a == b,
    }
}

/// Words of the trials of `soleus gait`: files of each kind for all trials. Nothing where one trial has what another has not.
fn trials(list: &[Value]) -> Option<Vec<String>> {
    let files = |key: &str| -> Vec<Vec<String>> {
        let of = |t: &Value| match t.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().map(plain).collect(),
            Some(file) => vec![plain(file)],
        };
        list.iter().map(of).collect()
    };
    let mut words = Vec::new();
    if list.is_empty() {
        return None;
    }
    for (key, flag) in [("markers", ""), ("loads", "--loads"), ("curves", "--curves"), ("emg", "--emg")] {
        let found = files(key);
        if found.iter().any(|f| f.len() != found[0].len()) || (key != "curves" && found[0].len() > 1) {
            return None;
        }
        if found[0].is_empty() {
            continue;
        }
        if !flag.is_empty() {
            words.push(flag.to_string());
        }
        words.extend(found.iter().flatten().map(|w| quoted(w)));
    }
    Some(words)
}

/// Words of the trials of `soleus pipeline`: loads for all of them or for none.
fn recorded(list: &[Value]) -> Option<Vec<String>> {
    let of = |key: &str| list.iter().filter_map(|t| t.get(key)?.as_str()).map(quoted).collect::<Vec<_>>();
    let (markers, loads) = (of("markers"), of("loads"));
    if list.is_empty() || markers.len() != list.len() || ![0, list.len()].contains(&loads.len()) {
        return None;
    }
    let mut words = vec!["--markers".to_string()];
    words.extend(markers);
    if !loads.is_empty() {
        words.push("--loads".to_string());
        words.extend(loads);
    }
    Some(words)
}

/// Words of parts as `soleus add` takes them; nothing if one has a property that no word can say.
fn parts(list: &[Value]) -> Option<Vec<String>> {
    let point = |v: &Value| {
        let place: Vec<String> = v.get("location")?.as_array()?.iter().map(plain).collect();
        Some(format!("{}:{}", v.get("body")?.as_str()?, place.join(",")))
    };
    let part = |part: &Value| {
        let fields = part.as_object()?;
        let mut words = vec![fields.get("type").map_or("spring".to_string(), plain)];
        for (key, value) in fields.iter().filter(|(key, v)| *key != "type" && !v.is_null()) {
            match value {
                Value::Object(bounds) if key == "free" => {
                    for (name, ends) in bounds {
                        let ends: Vec<String> = ends.as_array()?.iter().map(plain).collect();
                        words.push(format!("free.{name}={}", ends.join(",")));
                    }
                }
                Value::Object(_) => words.push(format!("{key}={}", point(value)?)),
                Value::Array(list) => {
                    let list: Vec<String> = list.iter().map(plain).collect();
                    words.push(format!("{key}={}", list.join(",")));
                }
                value => words.push(format!("{key}={}", plain(value))),
            }
        }
        // Words are separated by spaces, whatever a shell makes of quotes.
        words.iter().all(|w| !w.contains(char::is_whitespace)).then(|| quoted(&words.join(" ")))
    };
    list.iter().map(part).collect()
}

/// Words of analyses as `soleus analyze` names them; nothing if one has settings that no word can say.
fn analyses(list: &[Value]) -> Option<Vec<String>> {
    const NAMES: &[&str] = &[
        "kinematics",
        "body",
        "muscle",
        "joint-reaction",
        "joint-power",
        "forces",
        "actuation",
        "induced",
        "states",
        "probes",
    ];
    let of = |v: &Value, key: &str| v.get(key).cloned().unwrap_or(Value::Null);
    // The command has these for all analyses together.
    let (every, degrees) = (of(list.first()?, "step_interval"), of(list.first()?, "in_degrees"));
    let (mut names, mut points): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for analysis in list {
        if of(analysis, "on") != true
            || of(analysis, "step_interval") != every
            || of(analysis, "in_degrees") != degrees
        {
            return None;
        }
        let kind = of(analysis, "kind");
        if let Some(point) = kind.get("point_kinematics") {
            let place: Vec<String> = point.get("point")?.as_array()?.iter().map(plain).collect();
            let (name, body) = (point.get("point_name")?.as_str()?, point.get("body")?.as_str()?);
            if !of(point, "relative_to").is_null() {
                return None;
            }
            points.push(format!("{name}={body},{}", place.join(",")));
            continue;
        }
        let usual = |name: &&str| {
            let usual = standard(name).and_then(|s| serde_json::to_value(s).ok());
            usual.is_some_and(|u| is_same(&of(&u, "kind"), &kind) && of(&u, "name") == of(analysis, "name"))
        };
        names.push(NAMES.iter().copied().find(usual)?);
    }
    if !points.is_empty() {
        names.push("point");
    }
    let mut words = vec!["--analyses".to_string(), names.join(",")];
    words.extend(points.iter().flat_map(|p| ["--point".to_string(), quoted(p)]));
    if !is_same(&every, &json!(1)) {
        words.extend(["--every".to_string(), plain(&every)]);
    }
    if degrees == false {
        words.push("--radians".to_string());
    }
    Some(words)
}

/// Words of factors of bodies as `soleus scale` takes them; nothing if one is not applied.
fn factors(list: &[Value]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for factor in list.iter().filter(|f| f.get("apply") == Some(&Value::Bool(true))) {
        let scales: Vec<String> = factor.get("scales")?.as_array()?.iter().map(plain).collect();
        words.push("--factor".to_string());
        words.push(quoted(&format!("{}={}", factor.get("segment")?.as_str()?, scales.join(","))));
    }
    (words.len() == 2 * list.len()).then_some(words)
}

/// What `soleus scale` takes for granted: one static trial for sizes and places, and the name of the file as that of the model.
fn is_said_otherwise(request: &Value, path: &str, value: &Value) -> bool {
    let of = |path: &str| request.pointer(path).unwrap_or(&Value::Null);
    match path {
        "placing.markers" | "placing.from" | "placing.to" => {
            is_same(of(&path.replace("placing.", "/factors/")), value)
        }
        "name" => {
            of("/output/model").as_str().and_then(|f| Path::new(f).file_stem()?.to_str()) == value.as_str()
        }
        _ => false,
    }
}

/// The command; or the fields that it has no flag for.
fn command(tool: &str, request: &Value, changed: &[(String, &Value)]) -> Result<String, Vec<String>> {
    let verb = VERBS.iter().find(|v| v.tool == tool).ok_or_else(Vec::new)?;
    let mut words = vec!["soleus".to_string(), verb.verb.to_string()];
    // The verb leaves out the forces that the request would have to name.
    let mut missing = Vec::new();
    for (path, value) in changed {
        if let ("gait", "trials", Value::Array(list)) = (tool, path.as_str(), value)
            && let Some(found) = trials(list)
        {
            words.extend(found);
            continue;
        }
        let listed = match (tool, path.as_str(), value) {
            ("pipeline_of_trials", "trials", Value::Array(list)) => recorded(list),
            ("add", "parts", Value::Array(list)) => parts(list),
            ("analyze", "analyses", Value::Array(list)) => analyses(list),
            ("scale", "factors.manual", Value::Array(list)) => factors(list),
            ("scale", path, value) if is_said_otherwise(request, path, value) => Some(Vec::new()),
            ("pipeline_of_trials" | "scale", "map", Value::Array(list)) => {
                let pair = |p: &Value| Some(format!("{}={}", p.get(0)?.as_str()?, p.get(1)?.as_str()?));
                list.iter()
                    .map(pair)
                    .collect::<Option<Vec<_>>>()
                    .map(|l| vec!["--map".to_string(), quoted(&l.join(","))])
            }
            _ => None,
        };
        if let Some(found) = listed {
            words.extend(found);
            continue;
        }
        if ["trials", "parts"].contains(&path.as_str()) {
            missing.push(path.clone());
            continue;
        }
        let Some((_, flag)) = verb.flags().find(|(f, _)| f == path) else {
            missing.push(path.clone());
            continue;
        };
        match (value, flag.strip_suffix('!')) {
            (Value::Bool(false), Some(flag)) => words.push(flag.to_string()),
            (Value::Bool(true), Some(_)) | (Value::Bool(false), None) => {}
            (Value::Bool(true), None) => words.push(flag.to_string()),
            (Value::Array(list), _) => {
                let list: Vec<String> = list.iter().map(plain).collect();
                let spaced = SPACED.contains(flag);
                words.push(flag.to_string());
                words.push(if spaced {
                    list.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(" ")
                } else {
                    quoted(&list.join(","))
                });
            }
            (value, _) => {
                if !flag.is_empty() {
                    words.push(flag.to_string());
                }
                words.push(quoted(&plain(value)));
            }
        }
    }
    if tool == "inverse_dynamics"
        && request.get("exclude").and_then(Value::as_array).is_some_and(Vec::is_empty)
    {
        words.push("--exclude".to_string());
    }
    if tool == "scale" && is_static(request, "/factors") && !is_static(request, "/placing") {
        words.push("--keep-markers".to_string());
    }
    if missing.is_empty() { Ok(words.join(" ")) } else { Err(missing) }
}

/// Whether a part of scaling has a static trial.
fn is_static(request: &Value, part: &str) -> bool {
    request.pointer(part).and_then(|p| p.get("markers")).is_some_and(|m| !m.is_null())
}

/// As a word of a command.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// A word of a command as a shell takes it.
fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_-./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(tool: &str, fields: &Value) -> Value {
        let t = TOOLS.iter().find(|t| t.name == tool).unwrap();
        let mut request = (t.defaults)();
        for (key, value) in fields.as_object().unwrap() {
            let place = request
                .pointer_mut(&format!("/{}", key.replace('.', "/")))
                .unwrap_or_else(|| panic!("{key}"));
            *place = value.clone();
        }
        request
    }

    #[test]
    fn analytic_commands_and_python() {
        let fields =
            json!({ "model": "a b.osim", "markers": "walk.trc", "from": 0.5, "output.motion": "it's.mot" });
        let found = same("inverse_kinematics", &request("inverse_kinematics", &fields));
        assert_eq!(
            found["command"],
            "soleus ik --model 'a b.osim' --markers walk.trc --from 0.5 --out 'it'\\''s.mot'"
        );
        assert_eq!(
            found["python"],
            "import soleus\n\nmodel = soleus.read(\"a b.osim\")\nresult = model.inverse_kinematics(markers=\"walk.trc\", \
             time=(0.5, None))\nresult.motion.save(\"it's.mot\")"
        );
        let fields = json!({ "model": "m.osim", "motion": "w.mot", "muscle_physiology": false, "reserves": [1.0], "output.folder": "so" });
        let found = same("static_optimization", &request("static_optimization", &fields));
        assert_eq!(
            found["command"],
            "soleus so --model m.osim --motion w.mot --reserves 1.0 --isometric --out so"
        );
    }

    #[test]
    fn analytic_python_of_predictions() {
        let fields = json!({ "speed": 1.1, "slope_deg": 3.0 });
        let found = same("predict_walk", &request("predict_walk", &fields));
        assert_eq!(found["python"], "import soleus\n\nresult = soleus.predict_walk(1.1, slope_deg=3.0)");
        assert_eq!(found["command"], "soleus demo --speed 1.1 --slope 3.0");
        let fields = json!({ "model": "m.osim", "whole": true, "free": ["exo.stiffness=0,300"] });
        let found = same("predict", &request("predict", &fields));
        let python = "model = soleus.read(\"m.osim\")\nresult = soleus.predict.gait(model, symmetric=False, free={\"exo.stiffness\": (0, 300)})";
        assert_eq!(found["python"], format!("import soleus\n\n{python}"));
        assert_eq!(found["command"], "soleus predict m.osim --whole --free exo.stiffness=0,300");
        let fields = json!({ "file": "old.osim", "output": "new.osim" });
        let found = same("upgrade", &request("upgrade", &fields));
        assert_eq!(found["command"], "soleus upgrade old.osim --out new.osim");
    }

    /// A page writes whole numbers without a point.
    #[test]
    fn analytic_defaults_are_not_repeated() {
        let fields = json!({ "tracking.model": "m.osim", "tracking.motion": "w.mot", "tracking.maximum_step": 1, "find_weights": 0 });
        let found = same("residual_reduction", &request("residual_reduction", &fields));
        assert_eq!(found["command"], "soleus rra --model m.osim --motion w.mot");
        // Without a word the verb, Python and the request replace the muscles; it has no flag that keeps them.
        let fields = json!({ "tracking.model": "m.osim", "tracking.replace_forces": false });
        let found = same("residual_reduction", &request("residual_reduction", &fields));
        assert!(found["command"].is_null());
    }

    #[test]
    fn analytic_commands_of_trials_and_parts() {
        let fields = json!({ "model": "g.osim", "still": "s.trc", "mass": 72, "muscles": false, "trials": [
            { "markers": "a 1.trc", "loads": "a.mot" }, { "markers": "b.trc", "loads": "b.mot" } ] });
        let found = same("pipeline_of_trials", &request("pipeline_of_trials", &fields));
        assert_eq!(
            found["command"],
            "soleus pipeline --model g.osim --static s.trc --mass 72 --markers 'a 1.trc' b.trc --loads a.mot b.mot --no-muscles"
        );
        let spring = json!({ "type": "spring", "coordinate": "ankle_angle_r", "stiffness": 100, "name": null, "free": { "stiffness": [0, 500] } });
        let strap = json!({ "type": "ligament", "from": { "body": "femur_r", "location": [0, 0.1, 0] }, "to": { "body": "tibia_r", "location": [0, 0, 0] },
            "stiffness": 1e4, "rest_length": 0.2 });
        let fields = json!({ "model": "m.osim", "parts": [spring, strap], "output": "exo.osim" });
        let found = same("add", &request("add", &fields));
        assert_eq!(
            found["command"],
            "soleus add m.osim 'spring coordinate=ankle_angle_r stiffness=100 free.stiffness=0,500' \
             'ligament from=femur_r:0,0.1,0 to=tibia_r:0,0,0 stiffness=10000.0 rest_length=0.2' --out exo.osim"
        );
        for part in [spring, strap] {
            let words = parts(std::slice::from_ref(&part)).unwrap().remove(0);
            let read: soleus::addition::Part = words.trim_matches('\'').parse().unwrap();
            assert_eq!(read, serde_json::from_value(part).unwrap());
        }
        let fields = json!({ "model": "m.osim", "output": "m.txt" });
        assert_eq!(
            same("model_info", &request("model_info", &fields))["command"],
            "soleus info m.osim > m.txt"
        );
        assert_eq!(same("leg_tour", &Value::Null)["command"], "soleus demo --leg");
    }

    #[test]
    fn analytic_commands_of_analyses() {
        let named = |names: &[&str]| -> Vec<Value> {
            names.iter().map(|n| serde_json::to_value(standard(n).unwrap()).unwrap()).collect()
        };
        let point = json!({ "name": "PointKinematics", "on": true, "step_interval": 1, "in_degrees": true,
            "kind": { "point_kinematics": { "body": "calcn_r", "point_name": "heel", "point": [0.0, -0.01, 0.5] } } });
        let mut list = named(&["body", "joint-reaction"]);
        list.push(point);
        let mut fields =
            json!({ "model": "m.osim", "motion": "w.mot", "analyses": list, "output.folder": "out" });
        let found = same("analyze", &request("analyze", &fields));
        assert_eq!(
            found["command"],
            "soleus analyze --model m.osim --motion w.mot --analyses body,joint-reaction,point --point heel=calcn_r,0.0,-0.01,0.5 --out out"
        );
        fields["analyses"][1]["kind"]["joint_reaction"]["on_bodies"] = json!(["parent"]);
        let found = same("analyze", &request("analyze", &fields));
        assert_eq!((&found["command"], &found["no_flag"]), (&Value::Null, &json!(["analyses"])));
    }

    /// One static trial for sizes and markers is one flag; two are more than the command has.
    #[test]
    fn analytic_commands_of_scaling() {
        let manual = json!([{ "segment": "torso", "apply": true, "scales": [1.0, 1.1, 1.0] }]);
        let mut fields = json!({ "model": "m.osim", "mass": 72, "map": [["R Knee", "RLFC"]], "output.model": "subject.osim", "output.pose": null,
            "factors": { "markers": "s.trc", "from": 1.0, "manual": manual }, "placing": { "markers": "s.trc", "from": 1.0 } });
        let found = same("scale", &request("scale", &fields));
        assert_eq!(
            found["command"],
            "soleus scale --model m.osim --mass 72 --map 'R Knee=RLFC' --static s.trc --from 1.0 --factor torso=1.0,1.1,1.0 --out subject.osim"
        );
        fields["placing"]["from"] = json!(2.0);
        assert_eq!(same("scale", &request("scale", &fields))["no_flag"], json!(["placing.from"]));
        fields["placing"] = Value::Null;
        let found = same("scale", &request("scale", &fields));
        assert!(
            found["command"].as_str().unwrap().ends_with(" --out subject.osim --keep-markers"),
            "{found}"
        );
    }

    #[test]
    fn analytic_commands_of_files_without_flags() {
        let trial = |k: u32| json!({ "markers": format!("{k}.trc"), "loads": null, "curves": [format!("{k}.mot")], "emg": [] });
        let mut fields = json!({ "trials": [trial(1), trial(2)], "output": "gait" });
        let found = same("gait", &request("gait", &fields));
        assert_eq!(found["command"], "soleus gait 1.trc 2.trc --curves 1.mot 2.mot --out gait");
        fields["trials"][1]["curves"] = json!([]);
        assert!(same("gait", &request("gait", &fields))["command"].is_null());
        let fields = json!({ "input": "a.c3d", "output": "a.trc", "rate": 100 });
        let found = same("convert", &request("convert", &fields));
        assert_eq!(found["command"], "soleus convert a.c3d a.trc --rate 100");
    }

    /// A problem of optimal control is solved; groups of a request become keywords.
    #[test]
    fn analytic_python_of_optimal_control() {
        let fields = json!({ "model": "m.osim", "kinematics": "w.mot", "changes.loads": "grf.xml", "changes.reserves": [10.0], "from": 0.5, "solution": "i.sto" });
        let found = same("inverse", &request("inverse", &fields));
        let python = "model = soleus.read(\"m.osim\")\nresult = model.inverse(motion=\"w.mot\", loads=\"grf.xml\", reserves=[10.0], \
                      time=(0.5, None)).solve(output=\"i.sto\")";
        assert_eq!(found["python"], format!("import soleus\n\n{python}"));
        let fields = json!({ "model": "m.osim", "orientations": "o.sto", "from": 0.1 });
        let found = same("sensor_kinematics", &request("sensor_kinematics", &fields));
        assert!(
            found["python"].as_str().unwrap().ends_with("(orientations=\"o.sto\", **{\"from\": 0.1})"),
            "{found}"
        );
    }

    /// Sizes and places of markers have one static trial in Python.
    #[test]
    fn analytic_python_of_scaling() {
        let fields = json!({ "model": "m.osim", "mass": 70.0, "factors": { "markers": "s.trc", "measurement_file": "s.xml", "order": [] }, "placing": { "markers": "s.trc" } });
        let found = same("scale", &request("scale", &fields));
        assert!(
            found["python"]
                .as_str()
                .unwrap()
                .ends_with("model.scale(static=\"s.trc\", measurements=\"s.xml\", mass=70.0)"),
            "{found}"
        );
        let fields = json!({ "model": "m.osim", "factors": { "markers": "s.trc", "from_markers": true }, "placing": { "markers": "t.trc" } });
        let found = same("scale", &request("scale", &fields));
        assert_eq!(found["no_keyword"], json!(["factors.from_markers", "placing.markers"]));
    }

    /// What Python has no keyword for must not be dropped in silence.
    #[test]
    fn analytic_no_python_without_a_keyword() {
        let fields = json!({ "model": "m.osim", "tolerance": 1e-3, "eigenvalues": true });
        let found = same("equilibrium", &request("equilibrium", &fields));
        assert!(found["python"].is_null());
        assert_eq!(found["no_keyword"], json!(["tolerance"]));
        let fields = json!({ "model": "m.osim", "markers": "w.trc", "output.fixed_digits": true });
        assert_eq!(
            same("inverse_kinematics", &request("inverse_kinematics", &fields))["no_keyword"],
            json!(["output.fixed_digits"])
        );
        let found = same("convert", &request("convert", &json!({ "input": "it's.c3d", "output": "a.trc" })));
        let python = r#"subprocess.run("soleus convert 'it'\\''s.c3d' a.trc", shell=True, check=True)"#;
        assert_eq!(found["python"], format!("import subprocess\n\n{python}"));
    }

    /// What a verb has no flag for must not be dropped in silence.
    #[test]
    fn analytic_no_command_without_a_flag() {
        let fields = json!({ "model": "m.osim", "motion": "w.mot", "joints": ["knee"] });
        assert!(same("inverse_dynamics", &request("inverse_dynamics", &fields))["command"].is_null());
    }
}

//! The same request outside of a page: as a command, and in Python.

use super::TOOLS;
use super::verbs::{SPACED, VERBS};
use serde_json::{Map, Value, json};

/// Methods of a model in Python that have another name than the tool.
const METHODS: &[(&str, &str)] = &[
    ("computed_muscle_control", "cmc"),
    ("residual_reduction", "rra"),
    ("residual_elimination", "rea"),
    ("reconcile", "make_consistent"),
];

/// Tools that Python has no function for, or another one: arrays of a compiled model instead of a file.
const COMMAND_ONLY: &[&str] =
    &["gait", "assign_loads", "synthesize", "evaluate", "jacobians", "generate", "upgrade", "convert"];

/// A request as a command and in Python; `command` is null where the command has no flags for it.
pub fn same(tool: &str, request: &Value) -> Value {
    let Some(t) = TOOLS.iter().find(|t| t.name == tool) else { return Value::Null };
    let mut changed = Vec::new();
    collect("", request, &(t.defaults)(), &mut changed);
    json!({ "command": command(tool, request, &changed), "python": python(tool, request, &changed) })
}

/// Fields of a request that are not at their defaults, by path.
fn collect<'r>(path: &str, request: &'r Value, defaults: &Value, out: &mut Vec<(String, &'r Value)>) {
    let (Value::Object(fields), Value::Object(known)) = (request, defaults) else {
        if !is_same(request, defaults) && !request.is_null() {
            out.push((path.to_string(), request));
        }
        return;
    };
    for (key, value) in fields {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        collect(&path, value, known.get(key).unwrap_or(&Value::Null), out);
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
    for (key, flag) in [("markers", ""), ("loads", "--loads"), ("curves", "--curves"), ("emg", "--emg-raw")] {
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

fn command(tool: &str, request: &Value, changed: &[(String, &Value)]) -> Option<String> {
    let verb = VERBS.iter().find(|v| v.tool == tool)?;
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
    missing.is_empty().then(|| words.join(" "))
}

fn python(tool: &str, request: &Value, changed: &[(String, &Value)]) -> String {
    if COMMAND_ONLY.contains(&tool) {
        return "(the Python package has no function for this)".to_string();
    }
    let mut arguments = Vec::new();
    let mut save = None;
    let (mut from, mut to) = (None, None);
    for (path, value) in changed {
        let key = path.strip_prefix("tracking.").unwrap_or(path);
        match key {
            "model" => {}
            "from" => from = Some(literal(value)),
            "to" => to = Some(literal(value)),
            "task_file" => arguments.push(format!("tasks={}", literal(value))),
            _ if key == "output.motion" || key == "output" => save = Some(literal(value)),
            _ if key.starts_with("output") => {}
            _ if key.contains('.') => {}
            "name" | "study_only" if tool == "predict" => {}
            "whole" if tool == "predict" => arguments.push("symmetric=False".to_string()),
            "free" if tool == "predict" => arguments.push(free(value)),
            _ => arguments.push(format!("{key}={}", literal(value))),
        }
    }
    if tool == "inverse_dynamics"
        && request.get("exclude").and_then(Value::as_array).is_some_and(Vec::is_empty)
    {
        arguments.push("exclude=[]".to_string());
    }
    if from.is_some() || to.is_some() {
        let or_none = |x: Option<String>| x.unwrap_or_else(|| "None".to_string());
        arguments.push(format!("time=({}, {})", or_none(from), or_none(to)));
    }
    let method = METHODS.iter().find(|(t, _)| *t == tool).map_or(tool, |(_, m)| m);
    let arguments = arguments.join(", ");
    let model = request.get("model").or_else(|| request.pointer("/tracking/model")).map(literal);
    let mut lines = vec!["import soleus".to_string(), String::new()];
    match (tool, model) {
        ("predict_walk", _) => {
            lines.push(format!("walk = soleus.predict_walk({})", arguments.replace("speed=", "")))
        }
        ("setup_file", _) => {
            lines.push(format!("soleus.run({})", request.get("file").map_or(String::new(), literal)))
        }
        ("solve", _) => lines
            .push(format!("soleus.study({}).solve()", request.get("study").map_or(String::new(), literal))),
        ("predict", model) => {
            lines.push(format!("model = soleus.read({})", model.unwrap_or_default()));
            let rest = if arguments.is_empty() { String::new() } else { format!(", {arguments}") };
            lines.push(format!("gait = soleus.predict.gait(model{rest})"));
        }
        (_, model) => {
            lines.push(format!("model = soleus.read({})", model.unwrap_or_default()));
            lines.push(format!("result = model.{method}({arguments})"));
        }
    }
    match (tool, save) {
        ("inverse_kinematics", Some(file)) => lines.push(format!("result.motion.save({file})")),
        ("inverse_dynamics", Some(file)) => lines.push(format!("result.moments.save({file})")),
        _ => {}
    }
    lines.join("\n")
}

/// `COMPONENT.PROPERTY=LOWER,UPPER` as the dictionary that Python takes.
fn free(list: &Value) -> String {
    let entry = |v: &Value| {
        let (name, bounds) = v.as_str()?.split_once('=')?;
        let (lower, upper) = bounds.split_once(',')?;
        Some(format!("{}: ({lower}, {upper})", json!(name)))
    };
    let entries: Vec<String> = list.as_array().into_iter().flatten().filter_map(entry).collect();
    format!("free={{{}}}", entries.join(", "))
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

/// As a literal of Python. JSON's strings, numbers and lists are Python's.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_string(),
        Value::Bool(b) => if *b { "True" } else { "False" }.to_string(),
        Value::Array(list) => format!("[{}]", list.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => object(map),
        other => other.to_string(),
    }
}

fn object(map: &Map<String, Value>) -> String {
    let fields: Vec<String> = map.iter().map(|(k, v)| format!("{}: {}", json!(k), literal(v))).collect();
    format!("{{{}}}", fields.join(", "))
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
        assert_eq!(found["python"], "import soleus\n\nwalk = soleus.predict_walk(1.1, slope_deg=3.0)");
        assert_eq!(found["command"], "soleus demo --speed 1.1 --slope 3.0");
        let fields = json!({ "model": "m.osim", "whole": true, "free": ["exo.stiffness=0,300"] });
        let found = same("predict", &request("predict", &fields));
        let python = "model = soleus.read(\"m.osim\")\ngait = soleus.predict.gait(model, symmetric=False, free={\"exo.stiffness\": (0, 300)})";
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

    /// What a verb has no flag for must not be dropped in silence.
    #[test]
    fn analytic_no_command_without_a_flag() {
        let fields = json!({ "model": "m.osim", "motion": "w.mot", "joints": ["knee"] });
        assert!(same("inverse_dynamics", &request("inverse_dynamics", &fields))["command"].is_null());
    }
}

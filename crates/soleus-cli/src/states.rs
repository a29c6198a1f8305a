//! The states file of `soleus eval`: JSON in, states of a system out.

use crate::failure::{Failure, edit_distance};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use soleus_dynamics::{State, System};
use soleus_model::Model;
use std::path::Path;

/// What one entry of the states file asks for.
pub struct Input {
    /// Time, coordinates, speeds and auxiliary states.
    pub state: State<f64>,
    /// Controls in the model's order.
    pub controls: Vec<f64>,
    /// Accelerations for inverse dynamics, if given.
    pub udot: Option<Vec<f64>>,
    /// Rates of q, u and z, if given.
    pub xdot: Option<Vec<f64>>,
    /// Multipliers of the constraints, if given.
    pub lambda: Option<Vec<f64>>,
}

/// What is wrong with a state: a sentence, the key it concerns, and what to do.
#[derive(Debug, Default)]
pub struct Wrong {
    message: String,
    key: String,
    hint: String,
}

impl Wrong {
    fn new(key: &str, message: impl Into<String>) -> Self {
        Wrong { message: message.into(), key: key.to_string(), hint: String::new() }
    }

    /// A name that the model does not have, with the nearest one it has.
    fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> Self {
        // Of a path only the end is compared when the name is no path.
        let near = |k: &str| match name.contains('/') {
            true => edit_distance(name, k),
            false => edit_distance(name, k.rsplit('/').next().unwrap_or(k)),
        };
        let hint = known.min_by_key(|k| near(k)).map_or(String::new(), |k| format!("did you mean {k}?"));
        Wrong { message: format!("the model has no {what} `{name}`"), key: name.to_string(), hint }
    }
}

#[derive(Deserialize)]
struct StatesFile<'t> {
    #[serde(borrow)]
    states: Vec<&'t RawValue>,
}

/// The states of a file, each still as text, so that their lines can be told.
pub fn split<'t>(text: &'t str, file: &Path) -> Result<Vec<&'t RawValue>, Failure> {
    match serde_json::from_str::<StatesFile>(text) {
        Ok(f) => Ok(f.states),
        Err(e) => {
            let line = u32::try_from(e.line()).unwrap_or(0);
            let what = if e.is_data() { "the states cannot be read" } else { "the file is not JSON" };
            // The place stands in the next line of the message.
            let why = e.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            let hint = "give an object like {\"states\": [{\"coordinates\": {\"/jointset/hip/hip_flexion\": [0.1, 0]}}]}";
            Err(Failure::content(file, line, "", format!("{what}: {why}"), hint))
        }
    }
}

/// The failure for state `i`, with the line of the key it concerns.
pub fn failure(file: &Path, text: &str, state: &RawValue, i: usize, wrong: Wrong) -> Failure {
    // The state is a part of the text, so its place follows from the two addresses.
    let start = (state.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let key = format!("\"{}\"", wrong.key);
    let at = start + state.get().find(&key).unwrap_or(0);
    let line = 1 + text.bytes().take(at).filter(|&b| b == b'\n').count();
    let line = u32::try_from(line).unwrap_or(0);
    Failure::content(file, line, "", format!("state {i}: {}", wrong.message), &wrong.hint)
}

/// Reads one state; names that the model does not have are errors.
pub fn read(model: &Model, system: &System, state: &RawValue) -> Result<Input, Wrong> {
    let s: Value = serde_json::from_str(state.get()).map_err(|e| Wrong::new("", e.to_string()))?;
    if !s.is_object() {
        return Err(Wrong::new("", "a state is an object {…}"));
    }
    let mut x = system.default_state.clone();
    if let Some(t) = s.get("time") {
        x.time = number(t).ok_or_else(|| Wrong::new("time", "`time` is not a number"))?;
    }
    for (name, v) in object(&s, "coordinates")? {
        let known = || model.coordinates.iter().map(|c| c.path.as_str());
        let id = model.coordinate(name).ok_or_else(|| Wrong::unknown("coordinate", name, known()))?;
        let pair = v.as_array().map(|a| a.iter().filter_map(number).collect::<Vec<_>>());
        let (Some([q, u]), Some(&m)) = (pair.as_deref(), system.tree.mobility_of_coordinate.get(id.0)) else {
            return Err(Wrong::new(name, format!("coordinate `{name}` needs [value, speed]")));
        };
        (x.q[m], x.u[m]) = (*q, *u);
    }
    for (name, v) in object(&s, "aux_states")? {
        let known = || system.aux_names.iter().map(String::as_str);
        let i = known().position(|n| n == name).ok_or_else(|| Wrong::unknown("state", name, known()))?;
        x.z[i] = number(v).ok_or_else(|| Wrong::new(name, format!("state `{name}` is not a number")))?;
    }
    let n = system.num_controls;
    let controls = list(s.get("controls"), "controls", n)?.unwrap_or_else(|| vec![0.0; n]);
    let udot = s.get("inverse_dynamics").and_then(|d| d.get("udot"));
    let udot = list(udot, "udot", system.tree.num_mobilities)?;
    let num_states = x.q.len() + x.u.len() + x.z.len();
    let xdot = list(s.get("xdot"), "xdot", num_states)?;
    let lambda = list(s.get("lambda"), "lambda", system.constraints.num_rows())?;
    Ok(Input { state: x, controls, udot, xdot, lambda })
}

/// The entries of an object; none when the key is not there.
fn object<'v>(s: &'v Value, key: &str) -> Result<impl Iterator<Item = (&'v String, &'v Value)>, Wrong> {
    match s.get(key) {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(o)) => Ok(Some(o.iter()).into_iter().flatten()),
        Some(_) => Err(Wrong::new(key, format!("`{key}` is not an object"))),
    }
}

/// A list of `count` numbers.
fn list(value: Option<&Value>, key: &str, count: usize) -> Result<Option<Vec<f64>>, Wrong> {
    let Some(value) = value else { return Ok(None) };
    let entries = value.as_array().ok_or_else(|| Wrong::new(key, format!("`{key}` is not a list")))?;
    if entries.len() != count {
        let hint = format!("`soleus eval` without `{key}` writes their order to the result");
        let message = format!("`{key}` has {} entries, the model needs {count}", entries.len());
        return Err(Wrong { hint, ..Wrong::new(key, message) });
    }
    let mut out = Vec::with_capacity(count);
    for (i, e) in entries.iter().enumerate() {
        out.push(number(e).ok_or_else(|| Wrong::new(key, format!("entry {i} of `{key}` is not a number")))?);
    }
    Ok(Some(out))
}

/// Numbers may be written as "NaN" and "Infinity", which JSON has no other way to say.
fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.parse().ok(),
        _ => None,
    }
}

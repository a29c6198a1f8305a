//! States by the names of what they hold: a JSON file, or values, in; states of a system out.

use crate::context::Context;
use crate::error::Error;
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use soleus_dynamics::{State, System};
use soleus_model::{Model, nearest_name};
use std::collections::BTreeMap;
use std::path::Path;

/// A state by the names of what it holds. What is left out takes the model's default.
///
/// ```
/// use soleus::evaluation::NamedState;
/// let bent = NamedState::default().with("knee_angle", -0.7, 0.0);
/// assert_eq!(bent.coordinates["knee_angle"], [-0.7, 0.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedState {
    /// Time, s.
    pub time: Option<f64>,
    /// Value (rad or m) and speed (rad/s or m/s) of coordinates, by path or name.
    pub coordinates: BTreeMap<String, [f64; 2]>,
    /// Activations, fiber lengths and other states of forces, by path.
    pub aux_states: BTreeMap<String, f64>,
    /// Controls in the model's order; all zero without them.
    pub controls: Option<Vec<f64>>,
    /// Accelerations for inverse dynamics, in the order of the mobilities; all zero without them.
    pub udot: Option<Vec<f64>>,
    /// Rates of all states, for the implicit equations; those of the motion without them.
    pub xdot: Option<Vec<f64>>,
    /// Multipliers of the constraints, for the implicit equations; those of the motion without them.
    pub lambda: Option<Vec<f64>>,
}

impl NamedState {
    /// With a coordinate at a value (rad or m) and a speed (rad/s or m/s).
    pub fn with(mut self, coordinate: &str, value: f64, speed: f64) -> Self {
        self.coordinates.insert(coordinate.to_string(), [value, speed]);
        self
    }
}

impl From<Vec<NamedState>> for Source<Vec<NamedState>> {
    fn from(states: Vec<NamedState>) -> Self {
        Source::Value(std::sync::Arc::new(states))
    }
}

/// A state of a system, and what else is asked for at it.
#[derive(Clone, Debug)]
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
        let hint = nearest_name(name, known, 2).map_or(String::new(), |k| format!("did you mean {k}?"));
        Wrong { message: format!("the model has no {what} `{name}`"), key: name.to_string(), hint }
    }
}

#[derive(Deserialize)]
struct StatesFile<'t> {
    #[serde(borrow)]
    states: Vec<&'t RawValue>,
}

/// The states that a request names: those of a file, or values; the default state if it names none.
pub fn inputs(
    cx: &Context,
    source: &Source<Vec<NamedState>>,
    (path, model, system): (&ModelSource, &Model, &System),
) -> Result<Vec<Input>, Error> {
    match source {
        Source::Value(list) => {
            let wrong = |i: usize, w: Wrong| {
                Error::content(source.path(), 0, "", format!("state {i}: {}", w.message), &w.hint)
            };
            list.iter().enumerate().map(|(i, s)| resolve(model, system, s).map_err(|w| wrong(i, w))).collect()
        }
        Source::File(file) if source.is_given() => {
            let text = cx.read_text(file)?;
            let read = |(i, state): (usize, &&RawValue)| {
                let found = parse(state).and_then(|s| resolve(model, system, &s));
                found.map_err(|wrong| failure(file, &text, state, i, wrong))
            };
            split(&text, file)?.iter().enumerate().map(read).collect()
        }
        Source::File(_) => {
            let found = resolve(model, system, &NamedState::default());
            Ok(vec![found.map_err(|w| Error::content(path.path(), 0, "", w.message, &w.hint))?])
        }
    }
}

/// The states of a file, each still as text, so that their lines can be told.
fn split<'t>(text: &'t str, file: &Path) -> Result<Vec<&'t RawValue>, Error> {
    match serde_json::from_str::<StatesFile>(text) {
        Ok(f) => Ok(f.states),
        Err(e) => {
            let line = u32::try_from(e.line()).unwrap_or(0);
            let what = if e.is_data() { "the states cannot be read" } else { "the file is not JSON" };
            // The place stands in the next line of the message.
            let why = e.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            let hint = "give an object like {\"states\": [{\"coordinates\": {\"/jointset/hip/hip_flexion\": [0.1, 0]}}]}";
            Err(Error::content(file, line, "", format!("{what}: {why}"), hint))
        }
    }
}

/// The failure for state `i`, with the line of the key it concerns.
fn failure(file: &Path, text: &str, state: &RawValue, i: usize, wrong: Wrong) -> Error {
    // The state is a part of the text, so its place follows from the two addresses.
    let start = (state.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let key = format!("\"{}\"", wrong.key);
    let at = start + state.get().find(&key).unwrap_or(0);
    let line = 1 + text.bytes().take(at).filter(|&b| b == b'\n').count();
    let line = u32::try_from(line).unwrap_or(0);
    Error::content(file, line, "", format!("state {i}: {}", wrong.message), &wrong.hint)
}

/// Reads one state of a file.
fn parse(state: &RawValue) -> Result<NamedState, Wrong> {
    let s: Value = serde_json::from_str(state.get()).map_err(|e| Wrong::new("", e.to_string()))?;
    if !s.is_object() {
        return Err(Wrong::new("", "a state is an object {…}"));
    }
    let mut named = NamedState::default();
    if let Some(t) = s.get("time") {
        named.time = Some(number(t).ok_or_else(|| Wrong::new("time", "`time` is not a number"))?);
    }
    for (name, v) in object(&s, "coordinates")? {
        let pair = v.as_array().map(|a| a.iter().filter_map(number).collect::<Vec<_>>());
        let Some([q, u]) = pair.as_deref() else {
            return Err(Wrong::new(name, format!("coordinate `{name}` needs [value, speed]")));
        };
        named.coordinates.insert(name.clone(), [*q, *u]);
    }
    for (name, v) in object(&s, "aux_states")? {
        let z = number(v).ok_or_else(|| Wrong::new(name, format!("state `{name}` is not a number")))?;
        named.aux_states.insert(name.clone(), z);
    }
    named.controls = list(s.get("controls"), "controls")?;
    named.udot = list(s.get("inverse_dynamics").and_then(|d| d.get("udot")), "udot")?;
    named.xdot = list(s.get("xdot"), "xdot")?;
    named.lambda = list(s.get("lambda"), "lambda")?;
    Ok(named)
}

/// The state of a system; names that the model does not have are errors.
fn resolve(model: &Model, system: &System, s: &NamedState) -> Result<Input, Wrong> {
    let mut x = system.default_state.clone();
    x.time = s.time.unwrap_or(x.time);
    for (name, [q, u]) in &s.coordinates {
        let known = || model.coordinates.iter().map(|c| c.path.as_str());
        let id = model.coordinate(name).ok_or_else(|| Wrong::unknown("coordinate", name, known()))?;
        let mobility = system.tree.mobility_of_coordinate.get(id.0);
        let Some(&m) = mobility.filter(|m| **m < x.q.len()) else {
            return Err(Wrong::new(name, format!("coordinate `{name}` moves nothing")));
        };
        (x.q[m], x.u[m]) = (*q, *u);
    }
    for (name, z) in &s.aux_states {
        let known = || system.aux_names.iter().map(String::as_str);
        let i = known().position(|n| n == name).ok_or_else(|| Wrong::unknown("state", name, known()))?;
        x.z[i] = *z;
    }
    let n = system.num_controls;
    let controls = counted(&s.controls, "controls", n)?.unwrap_or_else(|| vec![0.0; n]);
    let udot = counted(&s.udot, "udot", system.tree.num_mobilities)?;
    let num_states = x.q.len() + x.u.len() + x.z.len();
    let xdot = counted(&s.xdot, "xdot", num_states)?;
    let lambda = counted(&s.lambda, "lambda", system.constraints.num_rows())?;
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
fn counted(list: &Option<Vec<f64>>, key: &str, count: usize) -> Result<Option<Vec<f64>>, Wrong> {
    match list.as_ref().map(Vec::len).filter(|n| *n != count) {
        None => Ok(list.clone()),
        Some(n) => {
            let hint = format!("`soleus eval` without `{key}` writes their order to the result");
            let message = format!("`{key}` has {n} entries, the model needs {count}");
            Err(Wrong { hint, ..Wrong::new(key, message) })
        }
    }
}

/// A list of numbers.
fn list(value: Option<&Value>, key: &str) -> Result<Option<Vec<f64>>, Wrong> {
    let Some(value) = value else { return Ok(None) };
    let entries = value.as_array().ok_or_else(|| Wrong::new(key, format!("`{key}` is not a list")))?;
    let mut out = Vec::with_capacity(entries.len());
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

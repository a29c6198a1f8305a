//! Named states of a model as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A state by name. Missing values take the model's defaults.
///
/// ```
/// use soleus_io::states::NamedState;
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
    /// Controls in the model's order; default: zero.
    pub controls: Option<Vec<f64>>,
    /// Accelerations for inverse dynamics, in the order of the mobilities; default: zero.
    pub udot: Option<Vec<f64>>,
    /// Rates of all states, for the implicit equations; default: those of the motion.
    pub xdot: Option<Vec<f64>>,
    /// Multipliers of the constraints, for the implicit equations; default: those of the motion.
    pub lambda: Option<Vec<f64>>,
}

impl NamedState {
    /// Adds a coordinate with its value (rad or m) and speed (rad/s or m/s).
    pub fn with(mut self, coordinate: &str, value: f64, speed: f64) -> Self {
        self.coordinates.insert(coordinate.to_string(), [value, speed]);
        self
    }
}

/// Error in a file of states, or in one of the states.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StatesError {
    /// Line in the file.
    pub line: u32,
    /// Error message.
    pub message: String,
    /// Remedy; may be empty.
    pub hint: String,
}

/// A file `{"states": [{…}, …]}` whose states are read one by one, so that later errors can refer to their lines.
#[derive(Clone, Debug)]
pub struct StatesFile<'t> {
    text: &'t str,
    states: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
struct Content<'t> {
    #[serde(borrow)]
    states: Vec<&'t RawValue>,
}

/// What is wrong with a state: the key it concerns, and a sentence.
struct Wrong {
    key: String,
    message: String,
}

impl Wrong {
    fn new(key: &str, message: impl Into<String>) -> Self {
        Wrong { key: key.to_string(), message: message.into() }
    }
}

impl<'t> StatesFile<'t> {
    /// Finds the states of a file.
    pub fn read(text: &'t str) -> Result<Self, StatesError> {
        match serde_json::from_str::<Content>(text) {
            Ok(Content { states }) => Ok(StatesFile { text, states }),
            Err(e) => {
                let what = if e.is_data() { "the states cannot be read" } else { "the file is not JSON" };
                // The line is told apart from the message.
                let why = e.to_string();
                let why = why.split(" at line ").next().unwrap_or_default();
                let hint = "give an object like {\"states\": [{\"coordinates\": {\"/jointset/hip/hip_flexion\": [0.1, 0]}}]}";
                Err(StatesError {
                    line: u32::try_from(e.line()).unwrap_or(0),
                    message: format!("{what}: {why}"),
                    hint: hint.to_string(),
                })
            }
        }
    }

    /// Number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// State `i`, counted from 0.
    pub fn state(&self, i: usize) -> Result<NamedState, StatesError> {
        parse(self.states[i].get()).map_err(|wrong| StatesError {
            line: self.line_of(i, &wrong.key),
            message: wrong.message,
            hint: String::new(),
        })
    }

    /// Line of `key` in state `i`, or the first line of the state if it has no such key.
    pub fn line_of(&self, i: usize, key: &str) -> u32 {
        let state = self.states[i].get();
        // The state is a part of the text, so its place follows from the two addresses.
        let start = (state.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let at = start + state.find(&format!("\"{key}\"")).unwrap_or(0);
        let line = 1 + self.text.bytes().take(at).filter(|&b| b == b'\n').count();
        u32::try_from(line).unwrap_or(0)
    }
}

/// Reads one state of a file.
fn parse(state: &str) -> Result<NamedState, Wrong> {
    let s: Value = serde_json::from_str(state).map_err(|e| Wrong::new("", e.to_string()))?;
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

/// The entries of an object; none when the key is not there.
fn object<'v>(s: &'v Value, key: &str) -> Result<impl Iterator<Item = (&'v String, &'v Value)>, Wrong> {
    match s.get(key) {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(o)) => Ok(Some(o.iter()).into_iter().flatten()),
        Some(_) => Err(Wrong::new(key, format!("`{key}` is not an object"))),
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

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "{\"states\": [\n {\"time\": 0.5,\n  \"coordinates\": {\"hip\": [0.1, \"NaN\"]}},\n \
        {\"inverse_dynamics\": {\"udot\": [1, 2]},\n  \"controls\": [\"Infinity\"],\n  \"aux_states\": {\"a\": 3}}]}";

    #[test]
    fn analytic_states_are_read_by_name() {
        let file = StatesFile::read(TWO).unwrap();
        assert_eq!(file.len(), 2);
        let first = file.state(0).unwrap();
        assert_eq!((first.time, first.coordinates["hip"][0]), (Some(0.5), 0.1));
        assert!(first.coordinates["hip"][1].is_nan());
        let expected = NamedState {
            udot: Some(vec![1.0, 2.0]),
            controls: Some(vec![f64::INFINITY]),
            aux_states: [("a".to_string(), 3.0)].into(),
            ..Default::default()
        };
        assert_eq!(file.state(1).unwrap(), expected);
    }

    #[test]
    fn analytic_mistakes_are_told_with_their_line() {
        let file = StatesFile::read(TWO).unwrap();
        assert_eq!((file.line_of(0, "hip"), file.line_of(1, "a"), file.line_of(1, "none")), (3, 6, 4));
        let wrong = TWO.replace("[\"Infinity\"]", "[true]");
        let error = StatesFile::read(&wrong).unwrap().state(1).unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (5, "entry 0 of `controls` is not a number"));
        let error = StatesFile::read("{\n\"states\": 1}").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.message.starts_with("the states cannot be read: invalid type"), "{error}");
        assert!(StatesFile::read("[").unwrap_err().message.starts_with("the file is not JSON"));
    }
}

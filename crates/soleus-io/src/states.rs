//! States of a model as JSON (docs/formats.md): what is given of each, by name, with the lines for messages. Whether a model has
//! such names is for those who know one.

use crate::plain::Plain;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use soleus_model::Diagnostics;

/// What is given of one state. The rest is the model's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateValues {
    /// `time`, s.
    pub time: Option<f64>,
    /// `coordinates`: value and speed by path or name; rad or m, and per second.
    pub coordinates: Vec<(String, [f64; 2])>,
    /// `aux_states`: values by path.
    pub aux_states: Vec<(String, f64)>,
    /// `controls`, in the order of the model.
    pub controls: Option<Vec<f64>>,
    /// `inverse_dynamics.udot`: accelerations, in the order of the tree.
    pub udot: Option<Vec<f64>>,
    /// `xdot`: rates of coordinates, speeds and auxiliary states.
    pub xdot: Option<Vec<f64>>,
    /// `lambda`: multipliers of the constraints.
    pub lambda: Option<Vec<f64>>,
}

/// A state of a file, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StateEntry<'t> {
    /// What is given.
    pub values: StateValues,
    /// Its text.
    text: &'t str,
    /// Line of its first character, from 1.
    line: u32,
}

impl StateEntry<'_> {
    /// The line of a key of the state, or of the state itself where it has no such key.
    pub fn line_of(&self, key: &str) -> u32 {
        let at = self.text.find(&format!("\"{key}\"")).unwrap_or(0);
        self.line + self.text[..at].matches('\n').count() as u32
    }
}

#[derive(Deserialize)]
struct StatesFile<'t> {
    #[serde(borrow)]
    states: Vec<&'t RawValue>,
}

/// Reads the states of a file; keys that are not known are ignored, so that results can be read. `None` if and only if `log`
/// holds an error.
pub fn read<'t>(text: &'t str, log: &mut Diagnostics) -> Option<Vec<StateEntry<'t>>> {
    let states = match serde_json::from_str::<StatesFile>(text) {
        Ok(file) => file.states,
        Err(e) => {
            let line = u32::try_from(e.line()).unwrap_or(0);
            let what = if e.is_data() { "the states cannot be read" } else { "the file is not JSON" };
            // The place is told apart from the message.
            let why = e.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            let hint = "give an object like {\"states\": [{\"coordinates\": {\"/jointset/hip/hip_flexion\": [0.1, 0]}}]}";
            log.error(line, "", format!("{what}: {why}"), hint);
            return None;
        }
    };
    let mut list = Vec::with_capacity(states.len());
    let (mut line, mut counted) = (1, 0);
    for (i, state) in states.into_iter().enumerate() {
        // The state is a part of the text, so its place follows from the two addresses.
        let start = (state.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        line += text[counted..start].matches('\n').count() as u32;
        counted = start;
        let mut entry = StateEntry { values: StateValues::default(), text: state.get(), line };
        match values(state) {
            Ok(values) => entry.values = values,
            Err((key, message)) => log.error(entry.line_of(&key), "", format!("state {i}: {message}"), ""),
        }
        list.push(entry);
    }
    (!log.has_errors()).then_some(list)
}

/// The key that is wrong, and what is wrong with it.
type Wrong = (String, String);

fn values(state: &RawValue) -> Result<StateValues, Wrong> {
    let s: Value = serde_json::from_str(state.get()).map_err(|e| (String::new(), e.to_string()))?;
    let Some(s) = s.as_object() else { return Err((String::new(), "a state is an object {…}".into())) };
    let mut out = StateValues::default();
    if let Some(t) = s.get("time") {
        out.time = Some(number(t).ok_or(("time".to_string(), "`time` is not a number".to_string()))?);
    }
    for (name, v) in object(s, "coordinates")? {
        let pair = v.as_array().map(|a| a.iter().filter_map(number).collect::<Vec<_>>());
        let pair = pair.and_then(|p| <[f64; 2]>::try_from(p).ok());
        let wrong = || (name.clone(), format!("coordinate `{name}` needs [value, speed]"));
        out.coordinates.push((name.clone(), pair.ok_or_else(wrong)?));
    }
    for (name, v) in object(s, "aux_states")? {
        let wrong = || (name.clone(), format!("state `{name}` is not a number"));
        out.aux_states.push((name.clone(), number(v).ok_or_else(wrong)?));
    }
    out.controls = list(s.get("controls"), "controls")?;
    out.udot = list(s.get("inverse_dynamics").and_then(|d| d.get("udot")), "udot")?;
    out.xdot = list(s.get("xdot"), "xdot")?;
    out.lambda = list(s.get("lambda"), "lambda")?;
    Ok(out)
}

/// The entries of an object; none when the key is not there.
fn object<'v>(
    s: &'v Map<String, Value>,
    key: &str,
) -> Result<impl Iterator<Item = (&'v String, &'v Value)>, Wrong> {
    match s.get(key) {
        None => Ok(None.into_iter().flatten()),
        Some(Value::Object(o)) => Ok(Some(o.iter()).into_iter().flatten()),
        Some(_) => Err((key.to_string(), format!("`{key}` is not an object"))),
    }
}

fn list(value: Option<&Value>, key: &str) -> Result<Option<Vec<f64>>, Wrong> {
    let Some(value) = value else { return Ok(None) };
    let wrong = |message: String| (key.to_string(), message);
    let entries = value.as_array().ok_or_else(|| wrong(format!("`{key}` is not a list")))?;
    let numbers = entries.iter().enumerate();
    numbers
        .map(|(i, e)| number(e).ok_or_else(|| wrong(format!("entry {i} of `{key}` is not a number"))))
        .collect::<Result<Vec<f64>, Wrong>>()
        .map(Some)
}

/// Numbers may be written as "NaN" and "Infinity", which JSON has no other way to say.
fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.parse().ok(),
        _ => None,
    }
}

/// States as a file that [`read`] reads back to the last digit.
pub fn write(states: &[StateValues]) -> String {
    fn plain<T: Plain>(value: &T) -> Value {
        // Numbers and texts are always JSON.
        serde_json::to_value(value.form()).unwrap_or_default()
    }
    let each = states.iter().map(|s| {
        let mut o = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            o.extend(value.map(|v| (key.to_string(), v)));
        };
        let coordinates: Map<String, Value> =
            s.coordinates.iter().map(|(name, pair)| (name.clone(), plain(pair))).collect();
        let aux: Map<String, Value> = s.aux_states.iter().map(|(name, x)| (name.clone(), plain(x))).collect();
        put("time", s.time.as_ref().map(plain));
        put("coordinates", (!coordinates.is_empty()).then_some(Value::Object(coordinates)));
        put("aux_states", (!aux.is_empty()).then_some(Value::Object(aux)));
        put("controls", s.controls.as_ref().map(plain));
        put("inverse_dynamics", s.udot.as_ref().map(|u| serde_json::json!({ "udot": plain(u) })));
        put("xdot", s.xdot.as_ref().map(plain));
        put("lambda", s.lambda.as_ref().map(plain));
        Value::Object(o)
    });
    let file = serde_json::json!({ "states": each.collect::<Vec<Value>>() });
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_states_are_kept() {
        let states = [
            StateValues::default(),
            StateValues {
                time: Some(0.1),
                coordinates: vec![("knee".into(), [1.0 / 3.0, -0.0]), ("ankle".into(), [f64::INFINITY, 2.0])],
                aux_states: vec![("/forceset/soleus/activation".into(), 0.05)],
                controls: Some(vec![0.5, f64::NEG_INFINITY]),
                udot: Some(vec![5e-324]),
                xdot: Some(vec![]),
                lambda: Some(vec![1e22]),
            },
        ];
        let text = write(&states);
        let mut log = Diagnostics::new("states.json");
        let again = read(&text, &mut log).unwrap_or_else(|| panic!("{text}{log:?}"));
        assert_eq!(again.iter().map(|e| e.values.clone()).collect::<Vec<_>>(), states, "{text}");
        // Lines are those of the file.
        let lines: Vec<&str> = text.lines().collect();
        for (entry, key) in [(1, "ankle"), (1, "udot")] {
            let line = again[entry].line_of(key) as usize;
            assert!(lines[line - 1].contains(key), "{key} in line {line}: {text}");
        }
    }

    #[test]
    fn identity_mistakes_are_named() {
        for (state, line, words) in [
            ("[1]", 3, "state 1: a state is an object {…}"),
            ("{\"time\": true}", 3, "state 1: `time` is not a number"),
            ("{\n\"coordinates\": {\"knee\": [1]}}", 4, "state 1: coordinate `knee` needs [value, speed]"),
            ("{\n\n\"aux_states\": {\"a\": []}}", 5, "state 1: state `a` is not a number"),
            ("{\"coordinates\": 1}", 3, "state 1: `coordinates` is not an object"),
            ("{\n\"controls\": 1}", 4, "state 1: `controls` is not a list"),
            ("{\"xdot\": [1, \"x\"]}", 3, "state 1: entry 1 of `xdot` is not a number"),
            ("{", 4, "the file is not JSON"),
        ] {
            let text = format!("{{\"states\": [\n{{}},\n{state}\n]}}");
            let mut log = Diagnostics::new("states.json");
            assert!(read(&text, &mut log).is_none(), "{text}");
            let found = log.list.iter().any(|d| d.line == line && d.message.contains(words));
            assert!(found, "{text}\n{:?}", log.list);
        }
        let mut log = Diagnostics::new("states.json");
        assert!(read("{}", &mut log).is_none() && log.list[0].message.contains("the states cannot be read"));
    }
}

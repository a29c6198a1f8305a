//! Conversion of named states, from a file or from values, to states of a system.

use crate::context::Context;
use crate::error::Error;
use crate::source::{ModelSource, Source};
use soleus_dynamics::{State, System};
use soleus_io::states::StatesFile;
use soleus_model::{Model, nearest_name};

pub use soleus_io::states::NamedState;

impl From<Vec<NamedState>> for Source<Vec<NamedState>> {
    fn from(states: Vec<NamedState>) -> Self {
        Source::Value(std::sync::Arc::new(states))
    }
}

/// A state of a system, with additional inputs for its evaluation.
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

/// An error in a state: message, key and remedy.
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

/// The states of a request: from a file or from values; the default state if there are none.
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
            let list =
                StatesFile::read(&text).map_err(|e| Error::content(file, e.line, "", e.message, &e.hint))?;
            let wrong = |i: usize, line: u32, message: String, hint: &str| {
                Error::content(file, line, "", format!("state {i}: {message}"), hint)
            };
            let read = |i: usize| {
                let named = list.state(i).map_err(|e| wrong(i, e.line, e.message, &e.hint))?;
                let found = resolve(model, system, &named);
                found.map_err(|w| wrong(i, list.line_of(i, &w.key), w.message, &w.hint))
            };
            (0..list.len()).map(read).collect()
        }
        Source::File(_) => {
            let found = resolve(model, system, &NamedState::default());
            Ok(vec![found.map_err(|w| Error::content(path.path(), 0, "", w.message, &w.hint))?])
        }
    }
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
            return Err(Wrong::new(name, format!("coordinate `{name}` moves no body")));
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

/// A list of `count` numbers.
fn counted(list: &Option<Vec<f64>>, key: &str, count: usize) -> Result<Option<Vec<f64>>, Wrong> {
    match list.as_ref().map(Vec::len).filter(|n| *n != count) {
        None => Ok(list.clone()),
        Some(n) => {
            let hint = format!("run `soleus eval` without `{key}` to see their order in the result");
            let message = format!("`{key}` has {n} entries, the model needs {count}");
            Err(Wrong { hint, ..Wrong::new(key, message) })
        }
    }
}

//! Initial state of a simulation.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::read_numbers;
use crate::source::Source;
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::system::{State, System, Workspace};
use soleus_math::Table;
use soleus_model::Model;
use soleus_simulation::system::{state_column, state_labels};
use soleus_simulation::{Controls, ModelControls};
use std::path::Path;

/// Reads a table of states, in rad and m.
pub fn read_states(cx: &Context, source: &Source<Table>) -> Result<Table, Error> {
    let table = read_numbers(cx, source)?;
    if table.in_degrees == Some(true) {
        let hint = "give states in radians: inDegrees=no";
        return Err(Error::content(source.path(), 0, "", "the states are in degrees", hint));
    }
    Ok(table)
}

/// Sets a state from a row of a table; warns about states that are not in the table, which keep their values, and about
/// columns that are not states. `path` is the table file.
pub fn set_from_row(
    cx: &Context,
    (model, system): (&Model, &System),
    (path, table): (&Path, &Table),
    row: usize,
    x: &mut State<f64>,
) {
    x.time = table.times()[row];
    let n = x.q.len();
    let mut used = vec![false; table.labels().len()];
    let mut missing = Vec::new();
    for (label, i) in state_labels(model, system) {
        let Some(c) = state_column(table.labels(), &label) else {
            missing.push(label);
            continue;
        };
        used[c] = true;
        let v = table.columns()[c][row];
        match i {
            _ if i < n => x.q[i] = v,
            _ if i < 2 * n => x.u[i - n] = v,
            _ => x.z[i - 2 * n] = v,
        }
    }
    for (label, _) in table.labels().iter().zip(used).filter(|(_, used)| !used) {
        cx.warn(path, format!("the model has no state `{label}`"), "");
    }
    if let Some(first) = missing.first() {
        let (have, all) = (2 * n + x.z.len() - missing.len(), 2 * n + x.z.len());
        let message =
            format!("{have} of {all} states are given; default values are used for the others ({first}, …)");
        cx.warn(path, message, "");
    }
}

/// Assembles a state: projects it onto the constraints of the model, if any.
pub fn assemble(
    path: &Path,
    (model, system): (&Model, &System),
    x: &mut State<f64>,
    ws: &mut Workspace<f64>,
) -> Result<(), Error> {
    if system.constraints.num_rows() == 0 {
        return Ok(());
    }
    let done = Assembler::new(model, system).solve_assembly(system, x, ws);
    done.map(|_| ())
        .map_err(|e| Error::content(path, 0, "", e.to_string(), "start from another state: --initial"))
}

/// Equilibrates fibers with their tendons; warns if there is no equilibrium.
pub fn equilibrate(
    cx: &Context,
    path: &Path,
    (model, system): (&Model, &System),
    controls: &ModelControls,
    x: &mut State<f64>,
    ws: &mut Workspace<f64>,
) {
    let mut values = vec![0.0; system.num_controls];
    controls.clone().compute(x.time, x, &mut values);
    for (i, e) in system.solve_equilibrium(x, &values, ws) {
        let message = format!("{} is not in equilibrium at the start: {e}", model.forces[i].path);
        cx.warn(path, message, "");
    }
}

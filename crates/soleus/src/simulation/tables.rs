//! Tables of a simulation.

use soleus_dynamics::system::System;
use soleus_math::table::{Element, Table, TableError};
use soleus_model::Model;
use soleus_simulation::system::state_labels;
use soleus_simulation::{ModelControls, SystemOde, Trajectory};

/// States, in the order and with the labels of OpenSim's tables.
pub fn states(model: &Model, system: &System, rows: &Trajectory) -> Result<Table, TableError> {
    let (labels, places): (Vec<String>, Vec<usize>) = state_labels(model, system).into_iter().unzip();
    let columns = places.iter().map(|&k| (0..rows.len()).map(|i| rows.row(i)[k]).collect()).collect();
    table(model, labels, rows, columns)
}

/// Controls under the given labels.
pub fn controls(
    model: &Model,
    system: &System,
    controls: &ModelControls,
    rows: &Trajectory,
    labels: Vec<String>,
) -> Result<Table, TableError> {
    let mut ode = SystemOde::new(system, controls.clone());
    let mut columns = vec![Vec::with_capacity(rows.len()); labels.len()];
    for (i, &t) in rows.times.iter().enumerate() {
        for (column, c) in columns.iter_mut().zip(ode.compute_controls(t, rows.row(i))) {
            column.push(*c);
        }
    }
    table(model, labels, rows, columns)
}

/// A table in radians, named after the model.
fn table(
    model: &Model,
    labels: Vec<String>,
    rows: &Trajectory,
    columns: Vec<Vec<f64>>,
) -> Result<Table, TableError> {
    let mut table = Table::new(Element::Scalar, labels, rows.times.clone(), columns)?;
    table.name.clone_from(&model.name);
    table.in_degrees = Some(false);
    Ok(table)
}

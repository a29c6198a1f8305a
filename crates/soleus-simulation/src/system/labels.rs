//! Names of states and controls, as OpenSim's tables have them.

use soleus_dynamics::system::System;
use soleus_model::model::Model;

/// Labels of all states in the order of OpenSim's tables, each with its position in x = [q, u, z]:
/// `/jointset/knee/angle/value` and `/speed` of each coordinate, then `/forceset/soleus/activation`, ….
pub fn state_labels(model: &Model, system: &System) -> Vec<(String, usize)> {
    let n = system.tree.num_mobilities;
    let mut labels = Vec::with_capacity(2 * n + system.num_aux);
    for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
        if m != usize::MAX {
            labels.push((format!("{}/value", c.path), m));
            labels.push((format!("{}/speed", c.path), n + m));
        }
    }
    labels.extend(system.aux_names.iter().enumerate().map(|(i, name)| (name.clone(), 2 * n + i)));
    labels
}

/// Label of the state at a position in x.
pub fn state_name(model: &Model, system: &System, at: usize) -> String {
    let labels = state_labels(model, system);
    match labels.iter().find(|(_, i)| *i == at) {
        Some((name, _)) => name.clone(),
        None => format!("state {at}"),
    }
}

/// Absolute path of the force of each control, with a number where a force has several.
pub fn control_labels(model: &Model, system: &System) -> Vec<String> {
    let mut labels = vec![String::new(); system.num_controls];
    for (f, s) in model.forces.iter().zip(&system.forces) {
        let several = s.controls.len() > 1;
        for (k, c) in s.controls.clone().enumerate() {
            labels[c] = if several { format!("{}_{k}", f.path) } else { f.path.clone() };
        }
    }
    labels
}

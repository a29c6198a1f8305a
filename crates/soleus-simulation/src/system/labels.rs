//! Names of states and controls, as in OpenSim's tables.

use soleus_dynamics::system::System;
use soleus_model::model::Model;

/// Labels of all states in the order of OpenSim's tables, each with its index in x = [q, u, z]:
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

/// Label of the state at an index in x.
pub fn state_name(model: &Model, system: &System, at: usize) -> String {
    let labels = state_labels(model, system);
    match labels.iter().find(|(_, i)| *i == at) {
        Some((name, _)) => name.clone(),
        None => format!("state {at}"),
    }
}

/// Absolute path of the force of each control, with a number if a force has several.
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

/// The column of a table that contains a state, by its label in any version of OpenSim: the path, its end after any
/// `/`, or the old `knee_angle`, `knee_angle_u` and `soleus.activation`.
pub fn state_column(columns: &[String], state: &str) -> Option<usize> {
    let find = |label: &str| columns.iter().position(|c| c == label);
    let ends = state.match_indices('/').map(|(i, _)| &state[i + 1..]);
    let (owner, variable) = state.rsplit_once('/')?;
    let owner = owner.rsplit('/').next().unwrap_or(owner);
    let old = match variable {
        "value" => owner.to_string(),
        "speed" => format!("{owner}_u"),
        _ => format!("{owner}.{variable}"),
    };
    find(state).or_else(|| ends.into_iter().find_map(find)).or_else(|| find(&old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_states_are_found_under_old_labels() {
        let columns: Vec<String> =
            ["knee_angle", "knee_angle_u", "soleus.activation", "hip/hip_flexion/value"]
                .map(String::from)
                .into();
        let at = |state: &str| state_column(&columns, state);
        assert_eq!(at("/jointset/knee/knee_angle/value"), Some(0));
        assert_eq!(at("/jointset/knee/knee_angle/speed"), Some(1));
        assert_eq!(at("/forceset/soleus/activation"), Some(2));
        assert_eq!(at("/jointset/hip/hip_flexion/value"), Some(3));
        assert_eq!(at("/forceset/soleus/fiber_length"), None);
    }
}

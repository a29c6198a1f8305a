//! Conversion of measured loads to forces of a model.

use soleus_math::Table;
use soleus_model::external_loads::{ExternalForceSource, ExternalLoads};
use soleus_model::force::{ExternalForce, Force, ForceKind};

/// Why measured loads cannot be applied to a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadsError {
    /// A force without a table.
    #[error("external force `{force}` has no data file, and neither do the loads")]
    NoData {
        /// The force.
        force: String,
    },
    /// An identifier that does not match three columns.
    #[error(
        "external force `{force}`: `{identifier}` matches {found} column(s) of the data; expected 3 (x, y, z)"
    )]
    Columns {
        /// The force.
        force: String,
        /// The identifier.
        identifier: String,
        /// Number of columns that start with it.
        found: usize,
    },
    /// Values are missing.
    #[error("external force `{force}`: column `{label}` has no value at row {row} (counted from 0)")]
    Missing {
        /// The force.
        force: String,
        /// The column.
        label: String,
        /// The row.
        row: usize,
    },
}

/// The forces of an `ExternalLoads` file with their data, to be added to [`soleus_model::Model::forces`].
///
/// `table_of` returns the table of a file named in the loads. `datafile` of the loads takes precedence over the data
/// sources of the forces, and an identifier refers to the three columns whose labels start with it, both as in OpenSim.
pub fn external_forces<'t>(
    loads: &ExternalLoads,
    table_of: &dyn Fn(&str) -> Option<&'t Table>,
) -> Result<Vec<Force>, LoadsError> {
    let mut forces = Vec::with_capacity(loads.forces.len());
    for source in &loads.forces {
        let name = loads.datafile.as_ref().or(source.data_source_name.as_ref());
        let table = name
            .and_then(|n| table_of(n))
            .ok_or_else(|| LoadsError::NoData { force: source.name.clone() })?;
        let columns = |identifier: &Option<String>| match identifier {
            None => Ok(None),
            Some(id) => three_columns(source, table, id).map(Some),
        };
        forces.push(Force {
            name: source.name.clone(),
            path: format!("/{}/{}", loads.name, source.name),
            class: "ExternalForce".to_string(),
            enabled: source.enabled,
            line_of_action: None,
            kind: ForceKind::ExternalForce(ExternalForce {
                applied_to_body: source.applied_to_body,
                applied_to_body_label: source.applied_to_body_label.clone(),
                force_expressed_in_body: source.force_expressed_in_body,
                point_expressed_in_body: source.point_expressed_in_body,
                time: table.times().to_vec(),
                force: columns(&source.force_identifier)?,
                point: columns(&source.point_identifier)?,
                torque: columns(&source.torque_identifier)?,
            }),
        });
    }
    Ok(forces)
}

/// How names of columns end.
const AXES: [[&str; 3]; 3] = [["x", "y", "z"], ["X", "Y", "Z"], ["1", "2", "3"]];

fn three_columns(
    source: &ExternalForceSource,
    table: &Table,
    identifier: &str,
) -> Result<[Vec<f64>; 3], LoadsError> {
    // What the columns are called says which axis they are of, wherever they stand; other names go by their order, as in OpenSim.
    let column = |end: &str| {
        let is_it = |l: &String| l.strip_prefix(identifier) == Some(end);
        let mut at = (0..table.labels().len()).filter(|&i| is_it(&table.labels()[i]));
        at.next().filter(|_| at.next().is_none())
    };
    let by_name = AXES.iter().find_map(|axes| axes.iter().map(|a| column(a)).collect::<Option<Vec<usize>>>());
    let found: Vec<usize> = by_name.unwrap_or_else(|| {
        (0..table.labels().len()).filter(|&i| table.labels()[i].starts_with(identifier)).collect()
    });
    let force = source.name.clone();
    if found.len() != 3 || table.element().components() != 1 {
        return Err(LoadsError::Columns { force, identifier: identifier.to_string(), found: found.len() });
    }
    for &i in &found {
        if let Some(row) = table.columns()[i].iter().position(|x| !x.is_finite()) {
            return Err(LoadsError::Missing { force, label: table.labels()[i].clone(), row });
        }
    }
    Ok([0, 1, 2].map(|c| table.columns()[found[c]].clone()))
}

//! The motion to be analysed: states over time, from a table of coordinates or states.

use super::Analyze;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::{GAP_HINT, read_numbers_of_motion};
use crate::inverse_dynamics::check_span;
use crate::inverse_kinematics::range;
use serde::{Deserialize, Serialize};
use soleus_dynamics::System;
use soleus_math::Table;
use soleus_model::{Diagnostics, Model};
use soleus_simulation::system::{state_column, state_labels};
use soleus_tools::analysis::{HistoryError, MotionSettings, StateHistory};
use soleus_tools::quality::{check_cutoff, check_points, check_units};
use std::path::Path;

/// Meaning of the columns of a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MotionKind {
    /// States if the columns include speeds and the table is not in degrees, otherwise coordinates.
    #[default]
    ByColumns,
    /// States, in rad and m.
    States,
    /// Coordinates; in degrees if the table header says so.
    Coordinates,
}

/// The motion of a request, put on the states of the model.
pub(super) fn read(
    cx: &Context,
    request: &Analyze,
    (model, system): (&Model, &System),
) -> Result<StateHistory, Error> {
    let file = request.motion.path();
    let table = read_numbers_of_motion(cx, &request.motion)?;
    let speeds = match &request.speeds {
        Some(source) => Some(read_numbers_of_motion(cx, source)?),
        None => None,
    };
    let is_states = match request.motion_kind {
        MotionKind::ByColumns => has_speeds(model, system, &table),
        kind => kind == MotionKind::States,
    };
    let (cutoff_hz, opensim_faults) = (request.cutoff_hz, request.opensim_faults);
    let range = range(file, request.from, request.to)?;
    warn_of_data(cx, file, (model, system), &table, range, cutoff_hz.filter(|_| !is_states));
    let root_angles = request.root_angles;
    let settings = MotionSettings { cutoff_hz, opensim_faults, root_angles };
    let history = match is_states {
        true if root_angles => StateHistory::from_states(model, system, table).map(StateHistory::by_angles),
        true => StateHistory::from_states(model, system, table),
        false => StateHistory::from_coordinates(model, system, &table, speeds.as_ref(), &settings),
    };
    let history = history.map_err(|e| no_motion(file, &e))?;
    warn_of_defaults(cx, file, &history);
    Ok(history)
}

/// Whether a table is one of states: it has speeds, and is not in degrees.
fn has_speeds(model: &Model, system: &System, table: &Table) -> bool {
    let n = system.tree.num_mobilities;
    let speeds = state_labels(model, system).into_iter().filter(|(_, at)| (n..2 * n).contains(at));
    table.in_degrees != Some(true)
        && speeds.into_iter().any(|(l, _)| state_column(table.labels(), &l).is_some())
}

/// A table that is no motion of the model.
pub(super) fn no_motion(file: &Path, e: &HistoryError) -> Error {
    let hint = match e {
        HistoryError::Nothing => {
            "columns are named after coordinates (knee_angle) or states (/jointset/…/value)"
        }
        HistoryError::Missing { .. } => GAP_HINT,
        _ => "",
    };
    Error::content(file, 0, "", e.to_string(), hint)
}

/// Says if angles look like degrees where radians are expected, if measured forces act far from where they should or end before the motion,
/// and if a filter would do nothing.
fn warn_of_data(
    cx: &Context,
    file: &Path,
    (model, system): (&Model, &System),
    motion: &Table,
    range: [f64; 2],
    cutoff_hz: Option<f64>,
) {
    let mut log = Diagnostics::new(file.display().to_string());
    check_units(model, motion, &mut log);
    check_points(model, system, motion, &model.forces, &mut log);
    check_span(motion, range, &model.forces, &mut log);
    if let Some(hz) = cutoff_hz {
        check_cutoff(motion.times(), hz, &mut log);
    }
    cx.report(&log);
}

/// Names the states that the data lack.
fn warn_of_defaults(cx: &Context, file: &Path, history: &StateHistory) {
    let mut log = Diagnostics::new(file.display().to_string());
    if let Some(first) = history.at_default.first() {
        let n = history.at_default.len();
        log.warn(
            0,
            "",
            format!("{n} states have no column (`{first}`, …): their default values are used"),
            "",
        );
    }
    cx.report(&log);
}

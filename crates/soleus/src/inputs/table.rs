//! Reads tables over time in all formats.

use super::paths::has_ending;
use crate::context::Context;
use crate::error::Error;
use crate::gait::turned;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_io::c3d::C3d;
use soleus_io::table::OUT_OF_ORDER;
use soleus_math::Table;
use soleus_math::signal::lowpass;
use soleus_math::table::{Element, meters_per};
use soleus_model::{Diagnostics, Model, Severity};
use soleus_simulation::system::state_column;
use soleus_tools::gait::laboratory_turn;
use std::path::Path;
use std::sync::Arc;

/// Data to extract from a C3D file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Marker trajectories.
    #[default]
    Markers,
    /// Ground reactions: force, center of pressure and free moment of each plate, in N, m and N m.
    Forces,
    /// Analog channels as recorded.
    Analog,
}

impl std::str::FromStr for Take {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "markers" => Ok(Take::Markers),
            "forces" => Ok(Take::Forces),
            "analog" => Ok(Take::Analog),
            _ => Err(format!("`{word}` is not one of markers, forces, analog")),
        }
    }
}

/// Remedy for a gap in a motion.
pub const GAP_HINT: &str = "a motion needs a value in every row: fill the gap, or remove these rows";

/// Low-pass filters a motion. Free joints to ground are filtered by their pose, so the heading does not matter.
pub fn lowpass_of_motion(
    file: &Path,
    model: &Model,
    table: &Table,
    cutoff_hz: f64,
    hint: &str,
) -> Result<Table, Error> {
    let bare = Model { forces: Vec::new(), ..model.clone() };
    let system = super::model::compile(file, &bare, &Options::default())?;
    let column = |c: usize| {
        let label = format!("{}/value", bare.coordinates[c].path);
        state_column(table.labels(), &label).filter(|_| table.element() == Element::Scalar)
    };
    let filter = |t: &Table| lowpass(t, cutoff_hz);
    soleus_tools::free_motion::filtered(&bare, &system, table, column, filter)
        .map_err(|e| Error::content(file, 0, "", e.to_string(), hint))
}

/// Reads a table. `take` and `threshold` (N) are for C3D files.
pub fn read(cx: &Context, source: &Source<Table>, take: Take, threshold: f64) -> Result<Table, Error> {
    let (table, log) = parse(cx, source, take, threshold)?;
    cx.settle(source.path(), table, log)
}

/// Reads a table that must not be empty.
pub fn read_rows(cx: &Context, source: &Source<Table>, take: Take) -> Result<Table, Error> {
    let (table, mut log) = parse(cx, source, take, 0.0)?;
    if let Some(t) = &table {
        check_rows(t, &mut log);
    }
    cx.settle(source.path(), table, log)
}

/// Warns if the units of angles or lengths in a motion look wrong.
pub fn warn_of_units(cx: &Context, model: &Model, source: &Source<Table>, motion: &Table) {
    let mut log = Diagnostics::new(source.path().display().to_string());
    soleus_tools::quality::check_units(model, motion, &mut log);
    cx.report(&log);
}

/// Reads a table with increasing times; warns if its frame rate is inconsistent.
pub fn read_in_order(cx: &Context, source: &Source<Table>, take: Take) -> Result<Table, Error> {
    let (table, mut log) = parse(cx, source, take, 0.0)?;
    if let Some(t) = &table {
        check_rows(t, &mut log);
        let mut more = Diagnostics::new(source.path().display().to_string());
        soleus_tools::quality::check_times(t, &mut more);
        // The reader of a text file knows the line.
        if !(more.has_errors() && make_order_an_error(&mut log)) {
            log.list.extend(more.list);
        }
    }
    cx.settle(source.path(), table, log)
}

/// Reads a table of coordinates or states. Times may repeat, because OpenSim's tools write some rows twice, but must
/// not decrease.
pub fn read_motion(cx: &Context, source: &Source<Table>, take: Take) -> Result<Table, Error> {
    let (table, mut log) = parse(cx, source, take, 0.0)?;
    if let Some(t) = &table {
        check_rows(t, &mut log);
        let back = t.times().windows(2).find(|w| !(w[1] >= w[0]));
        if let Some(w) = back
            && !make_order_an_error(&mut log)
        {
            let message = format!("time {} s does not follow {} s", w[1], w[0]);
            log.error(0, "", message, OUT_OF_ORDER);
        }
    }
    cx.settle(source.path(), table, log)
}

/// Reads a table of numbers.
pub fn read_numbers(cx: &Context, source: &Source<Table>) -> Result<Table, Error> {
    numbers(source.path(), read_rows(cx, source, Take::Analog)?)
}

/// Reads a table of coordinates or states in order of time.
pub fn read_numbers_of_motion(cx: &Context, source: &Source<Table>) -> Result<Table, Error> {
    numbers(source.path(), read_motion(cx, source, Take::Analog)?)
}

fn numbers(path: &Path, table: Table) -> Result<Table, Error> {
    match table.element() {
        Element::Scalar => Ok(table),
        _ => {
            let message = "the table has vector columns, not coordinates or states";
            let hint = "use `soleus ik` to compute a motion from markers or orientations";
            Err(Error::content(path, 0, "", message, hint))
        }
    }
}

/// Reads markers, in meters, and the length unit of the file in meters.
pub fn read_markers(cx: &Context, source: &Source<Table>) -> Result<(Table, f64), Error> {
    let mut table = read_in_order(cx, source, Take::Markers)?;
    let wrong = |e: String| Error::content(source.path(), 0, "", e, "");
    if table.element() == Element::Scalar {
        table = table.packed().map_err(|e| wrong(format!("the file contains no markers: {e}")))?;
    }
    let per_unit = match table.metadata_value("Units").map(str::to_string) {
        None => 1.0,
        Some(unit) => {
            table = table.in_meters().ok_or_else(|| wrong(format!("`{unit}` is not a unit of length")))?;
            meters_per(&unit).unwrap_or(1.0)
        }
    };
    // Laboratories have z up, models y; other formats were turned by whoever wrote them.
    if is_c3d(source.path())
        && let Some(turn) = laboratory_turn(&table).filter(|t| !t.words.is_empty())
    {
        let path = source.path().display();
        cx.note(format!(
            "{path}: {} up, subject faces along {}: rotated by {}",
            turn.up, turn.forward, turn.words
        ));
        table = turned(&table, turn.rotation);
    }
    Ok((table, per_unit))
}

fn parse(
    cx: &Context,
    source: &Source<Table>,
    take: Take,
    threshold: f64,
) -> Result<(Option<Table>, Diagnostics), Error> {
    let path = match source {
        Source::Value(table) => {
            let log = Diagnostics::new(source.path().display().to_string());
            return Ok((Some(Arc::unwrap_or_clone(table.clone())), log));
        }
        Source::File(path) => path,
    };
    let (bytes, name) = (cx.read(path)?, path.display().to_string());
    Ok(if is_c3d(path) {
        read_c3d(&bytes, &name, take, threshold)
    } else {
        soleus_io::table::read(&bytes, &name)
    })
}

/// Whether a file is C3D, by its extension.
pub fn is_c3d(path: &Path) -> bool {
    has_ending(path, "c3d")
}

/// Nothing can be computed from a table without rows.
fn check_rows(table: &Table, log: &mut Diagnostics) {
    if table.rows() == 0 && !log.has_errors() {
        let hint = "there are no rows after the labels; the file may be truncated";
        log.error(0, "", "the table has no rows", hint);
    }
}

/// Makes the warning that rows are out of order an error; false if there is none.
fn make_order_an_error(log: &mut Diagnostics) -> bool {
    let mut warnings = log.list.iter_mut().filter(|d| d.hint == OUT_OF_ORDER);
    warnings.next().map(|d| d.severity = Severity::Error).is_some()
}

fn read_c3d(bytes: &[u8], name: &str, take: Take, threshold: f64) -> (Option<Table>, Diagnostics) {
    let (trial, mut log) = soleus_io::c3d::read(bytes, name);
    let Some(trial) = trial else { return (None, log) };
    let holds = contents(&trial);
    let start = trial.start_time();
    let events = trial.events.clone();
    let mut table = match take {
        Take::Markers => Some(trial.markers()),
        Take::Forces => trial.ground_reactions(threshold, &mut log),
        Take::Analog => Some(trial.analog),
    };
    // Headers of .sto and .mot keep what happened, in the time of the table.
    for (i, e) in events.iter().enumerate() {
        if let Some(t) = &mut table {
            let what = format!("{} {}", e.context, e.label);
            t.set_metadata(&format!("event_{}", i + 1), format!("{:.4} {}", e.time - start, what.trim()));
        }
    }
    if table.as_ref().is_some_and(|t| t.labels().is_empty()) {
        let wanted = match take {
            Take::Markers => "markers",
            Take::Forces => "supported force plates",
            Take::Analog => "analog channels",
        };
        log.error(0, "", format!("the file has no {wanted}"), &holds);
        return (None, log);
    }
    (table, log)
}

/// What a trial holds, for somebody who looked for something else.
fn contents(trial: &C3d) -> String {
    let markers = trial.markers().labels().len();
    let others = trial.points.labels().len() - markers;
    let rotations = trial.parameters.counts("ROTATION", "USED").first().copied().unwrap_or(0);
    let parts = [
        (markers, "markers (`--take markers`)"),
        (trial.analog.labels().len(), "analog channels (`--take analog`)"),
        (others, "points that are angles, forces, moments, powers or scalars of a model (not supported)"),
        (rotations, "segment orientations in group ROTATION (not supported)"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() { "it has no data".to_string() } else { format!("it has {}", parts.join(", ")) }
}

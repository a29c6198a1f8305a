//! Reading tables and telling the user about their problems.

use crate::failure::Failure;
use crate::load;
use clap::ValueEnum;
use soleus_io::c3d::C3d;
use soleus_io::table::OUT_OF_ORDER;
use soleus_math::Table;
use soleus_model::{Diagnostics, Severity};
use std::path::Path;

/// What to take out of a C3D file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Take {
    /// Marker trajectories
    Markers,
    /// Ground reactions: force, center of pressure and free moment of each plate, in N, m and N m
    Forces,
    /// Analog channels as they were recorded
    Analog,
}

/// What to do about a gap in a motion.
pub const GAP_HINT: &str = "a motion has a number in every row: fill the gap, or take the rows around it out";

/// Whether a file is C3D by its name.
pub fn is_c3d(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("c3d"))
}

/// Reads a table; prints its diagnostics to stderr. `take` and `threshold` (N) are for C3D files.
pub fn read(path: &Path, take: Take, threshold: f64) -> Result<Table, Failure> {
    let (table, log) = parse(path, take, threshold)?;
    told(path, table, &log)
}

/// Reads a table that must have rows.
pub fn read_rows(path: &Path, take: Take) -> Result<Table, Failure> {
    let (table, mut log) = parse(path, take, 0.0)?;
    if let Some(t) = &table {
        check_rows(t, &mut log);
    }
    told(path, table, &log)
}

/// Reads a table whose rows must be in the order of time; says where its frame rate is odd.
pub fn read_in_order(path: &Path, take: Take) -> Result<Table, Failure> {
    let (table, mut log) = parse(path, take, 0.0)?;
    if let Some(t) = &table {
        check_rows(t, &mut log);
        let mut more = Diagnostics::new(path.display().to_string());
        soleus_tools::quality::check_times(t, &mut more);
        // The reader of a text file knows the line.
        if !(more.has_errors() && make_order_an_error(&mut log)) {
            log.list.extend(more.list);
        }
    }
    told(path, table, &log)
}

fn parse(path: &Path, take: Take, threshold: f64) -> Result<(Option<Table>, Diagnostics), Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::read(path, e))?;
    let name = path.display().to_string();
    Ok(if is_c3d(path) {
        read_c3d(&bytes, &name, take, threshold)
    } else {
        soleus_io::table::read(&bytes, &name)
    })
}

/// Prints what was found; the table if it is whole.
fn told(path: &Path, table: Option<Table>, log: &Diagnostics) -> Result<Table, Failure> {
    load::report(log);
    table.filter(|_| !log.has_errors()).ok_or_else(|| load::errors(path, log))
}

/// Nothing can be computed from a table without rows.
fn check_rows(table: &Table, log: &mut Diagnostics) {
    if table.rows() == 0 && !log.has_errors() {
        let hint = "no numbers follow the labels; the file may have been cut off";
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
    let table = match take {
        Take::Markers => Some(trial.markers()),
        Take::Forces => trial.ground_reactions(threshold, &mut log),
        Take::Analog => Some(trial.analog),
    };
    if table.as_ref().is_some_and(|t| t.labels().is_empty()) {
        let wanted = match take {
            Take::Markers => "markers",
            Take::Forces => "force plates that can be read",
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
        (others, "points that are angles, forces, moments, powers or scalars of a model, which are not read"),
        (rotations, "orientations of segments (group ROTATION), which are not read"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() {
        "it has no data at all".to_string()
    } else {
        format!("it has {}", parts.join(", "))
    }
}

//! Analyses of a motion, as in OpenSim.
//!
//! A [`StateHistory`] contains the motion of the model; [`analyze`] evaluates it row by row, up to accelerations, and
//! calls each [`Analysis`]. Results are tables with OpenSim's names, labels and units.

mod actuation;
mod body_kinematics;
mod force_reporter;
mod forces;
mod given_forces;
mod history;
mod induced_accelerations;
mod joint_power;
mod joint_reaction;
mod kinematics;
mod muscle_analysis;
mod output_reporter;
mod point_kinematics;
mod probe_operation;
mod probe_reporter;
mod recorder;
mod states_reporter;
#[cfg(test)]
mod tests;

pub use actuation::Actuation;
pub use body_kinematics::{BodyKinematics, mass_center_motion};
pub use force_reporter::ForceReporter;
pub(crate) use force_reporter::{force_labels, push_forces};
pub use forces::ActuatorLoad;
pub use history::{HistoryError, MotionSettings, StateHistory};
pub(crate) use history::{Splines, rows_within};
pub use induced_accelerations::{ContactConstraint, InducedAccelerations, InducedSettings};
pub use joint_power::JointPower;
pub use joint_reaction::{JointReaction, ReactionChoice};
pub use kinematics::Kinematics;
pub use muscle_analysis::MuscleAnalysis;
pub use output_reporter::OutputReporter;
pub use point_kinematics::PointKinematics;
pub use probe_operation::LookBack;
pub use probe_reporter::ProbeReporter;
pub use recorder::Recorder;
pub use states_reporter::StatesReporter;

use crate::static_optimization;
use soleus_dynamics::assembly::{Assembler, NotAssembled};
use soleus_dynamics::system::MotionError;
use soleus_dynamics::{State, System, Workspace};
use soleus_math::Table;
use soleus_math::names::nearest_name;
use soleus_math::table::TableError;
use soleus_model::Model;
use soleus_model::body::Frame;
use soleus_optimization::separable::SharingError;
use soleus_simulation::Controls;
use std::ops::RangeInclusive;

/// The evaluated model at one time of a motion.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The model.
    pub model: &'a Model,
    /// The compiled model.
    pub system: &'a System,
    /// Time, coordinates, speeds and auxiliary states.
    pub x: &'a State<f64>,
    /// Controls of the actuators, if an analysis needs forces.
    pub controls: &'a [f64],
    /// Kinematics, paths, loads and accelerations, including those of the bodies, if an analysis needs them.
    pub ws: &'a Workspace<f64>,
    /// Row of the history.
    pub row: usize,
}

/// An analysis that is evaluated at each time of a motion.
pub trait Analysis {
    /// Records the values at one time.
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError>;
    /// Whether forces and accelerations are needed, or only the state.
    fn needs_motion(&self) -> bool {
        true
    }
    /// Whether every row must be recorded, even if fewer are reported.
    fn looks_back(&self) -> bool {
        false
    }
    /// Notes about the result.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// Warnings about the result.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// Description of unsolved rows; the tables then contain the closest solution found.
    fn unsolved(&self) -> Option<String> {
        None
    }
    /// Suffix of the table whose columns are controls, for use in a simulation.
    fn controls(&self) -> Option<&'static str> {
        None
    }
    /// The recorded tables.
    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError>;
}

/// A table, and the suffix of its file name.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Suffix after the names of tool and analysis: `_q`, `_pos_global`, `_ReactionLoads`. Without a leading `_` it
    /// follows the name of the tool directly: `Outputs`.
    pub suffix: String,
    /// The table.
    pub table: Table,
}

/// An analysis and its schedule.
pub struct Scheduled<'a> {
    /// Name of the analysis; part of the file names.
    pub name: String,
    /// Use every Nth row of the history; the first and the last row of the range are always included.
    pub step_interval: usize,
    /// The analysis.
    pub analysis: Box<dyn Analysis + 'a>,
}

/// Why an analysis is impossible.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// A name that is not in the model.
    #[error("the model has no {what} `{name}`{}", nearest.as_ref().map_or(String::new(), |n| format!("; the nearest is `{n}`")))]
    Unknown {
        /// Kind of component.
        what: &'static str,
        /// Its name.
        name: String,
        /// The most similar name in the model.
        nearest: Option<String>,
    },
    /// Inconsistent settings.
    #[error("{0}")]
    Setting(String),
    /// Required columns are missing.
    #[error("the table has no column for {what} `{name}`")]
    Missing {
        /// Kind of data.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A pose cannot satisfy the constraints.
    #[error("at {time} s: {source}")]
    Assembly {
        /// Time, s.
        time: f64,
        /// Cause.
        source: NotAssembled,
    },
    /// Accelerations cannot be computed.
    #[error("at {time} s: {source}")]
    Motion {
        /// Time, s.
        time: f64,
        /// Cause.
        source: MotionError,
    },
    /// Static optimization failed.
    #[error(transparent)]
    StaticOptimization(Box<static_optimization::Error>),
    /// The results do not form a valid table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Cancelled; recorded rows are kept.
    #[error("stopped")]
    Stopped,
}

impl AnalysisError {
    /// Whether the input is valid but an iteration did not converge.
    pub fn is_not_converged(&self) -> bool {
        use static_optimization::Error;
        let AnalysisError::StaticOptimization(e) = self else { return false };
        matches!(**e, Error::Sharing { source: SharingError::NotConverged { .. }, .. })
    }
}

/// Problems of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Rows analysed.
    pub rows: usize,
    /// Muscles without equilibrium: time (s), force, reason.
    pub not_in_equilibrium: Vec<(f64, usize, String)>,
    /// Times (s) without accelerations, because the mass matrix is singular.
    pub without_accelerations: Vec<f64>,
    /// Time (s) of the last row if an analysis cancelled the run ([`AnalysisError::Stopped`]) before the end of the
    /// range.
    pub stopped: Option<f64>,
}

/// Preparation of states before the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preparation {
    /// Whether to equilibrate muscle fibers with their tendons at the activations of the history.
    pub solve_for_equilibrium: bool,
    /// Whether speeds are not projected onto the constraints, as in OpenSim.
    pub opensim_faults: bool,
}

/// Runs the analyses for rows of a history. Each pose is first projected onto the constraints.
pub fn analyze(
    (model, system): (&Model, &System),
    history: &StateHistory,
    rows: RangeInclusive<usize>,
    controls: &mut dyn Controls,
    preparation: Preparation,
    analyses: &mut [Scheduled],
) -> Result<Report, AnalysisError> {
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    let mut values = vec![0.0; system.num_controls];
    let assembler = (system.constraints.num_rows() > 0).then(|| Assembler::new(model, system));
    let mut report = Report::default();
    for row in rows.clone() {
        let always = row == *rows.start() || row == *rows.end();
        let due = |a: &Scheduled| always || row % a.step_interval.max(1) == 0;
        if !analyses.iter().any(due) {
            continue;
        }
        history.state(row, &mut x);
        if let Some(assembler) = &assembler {
            assemble(assembler, (model, system), &mut x, &mut ws, preparation.opensim_faults)
                .map_err(|source| AnalysisError::Assembly { time: x.time, source })?;
        }
        let moves = analyses.iter().any(|a| due(a) && a.analysis.needs_motion());
        if moves || preparation.solve_for_equilibrium {
            controls.compute(x.time, &x, &mut values);
        }
        if preparation.solve_for_equilibrium {
            for (force, why) in system.solve_equilibrium(&mut x, &values, &mut ws) {
                report.not_in_equilibrium.push((x.time, force, why.to_string()));
            }
        }
        if moves {
            if system.compute_motion(&x, &values, &mut ws).is_err() {
                ws.udot.fill(f64::NAN);
                report.without_accelerations.push(x.time);
            }
            system.compute_body_accelerations(&mut ws);
        }
        let now = Moment { model, system, x: &x, controls: &values, ws: &ws, row };
        let mut stopped = false;
        for a in analyses.iter_mut().filter(|a| due(a)) {
            match a.analysis.record(&now) {
                // The others record this row too, so that all tables have the same rows.
                Err(AnalysisError::Stopped) => stopped = true,
                done => done?,
            }
        }
        report.rows += 1;
        if stopped && row != *rows.end() {
            report.stopped = Some(x.time);
            break;
        }
    }
    Ok(report)
}

/// Puts a pose and its speeds on the constraints. OpenSim leaves the speeds of a model with constraints of its own as they
/// are; those of locked coordinates it corrects.
fn assemble(
    assembler: &Assembler,
    (model, system): (&Model, &System),
    x: &mut State<f64>,
    ws: &mut Workspace<f64>,
    opensim_faults: bool,
) -> Result<(), NotAssembled> {
    let speeds = (opensim_faults && !model.constraints.is_empty()).then(|| x.u.clone());
    assembler.solve_assembly(system, x, ws)?;
    if let Some(u) = speeds {
        x.u = u;
    }
    Ok(())
}

/// The name most like one that is not there, if one is like it.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    nearest_name(name, known, 2).map(str::to_string)
}

/// A frame by its name, or by its path or the end of it.
fn frame<'m>(model: &'m Model, name: &str) -> Option<&'m Frame> {
    let by_path = |f: &&Frame| f.path == name || f.path.strip_suffix(name).is_some_and(|p| p.ends_with('/'));
    // A body comes before an offset frame that happens to have its name.
    let body = model.bodies.iter().find(|b| b.name == name).map(|b| &model.frames[b.frame.0]);
    body.or_else(|| model.frames.iter().find(|f| f.name == name))
        .or_else(|| model.frames.iter().find(by_path))
}

/// The frame, or the error that says it is not there.
fn required_frame<'m>(model: &'m Model, name: &str) -> Result<&'m Frame, AnalysisError> {
    frame(model, name).ok_or_else(|| AnalysisError::Unknown {
        what: "frame",
        name: name.to_string(),
        nearest: nearest(name, model.frames.iter().map(|f| f.name.as_str())),
    })
}

/// The coordinates of a list of names, or all of them for the word `all`.
fn coordinates(model: &Model, names: &[String]) -> Result<Vec<usize>, AnalysisError> {
    if names.iter().any(|n| n.eq_ignore_ascii_case("all")) {
        return Ok((0..model.coordinates.len()).collect());
    }
    let find = |name: &String| {
        model.coordinate(name).map(|c| c.0).ok_or_else(|| AnalysisError::Unknown {
            what: "coordinate",
            name: name.clone(),
            nearest: nearest(name, model.coordinates.iter().map(|c| c.name.as_str())),
        })
    };
    names.iter().map(find).collect()
}

/// The bodies of a list of names without ground, or all of them for the word `all`; and whether the centre of mass of
/// the whole model is among them.
fn bodies(model: &Model, names: &[String], all_means_com: bool) -> Result<(Vec<usize>, bool), AnalysisError> {
    let mut list = Vec::new();
    let mut com = false;
    for name in names {
        if name.eq_ignore_ascii_case("all") {
            return Ok(((1..model.bodies.len()).collect(), com || all_means_com));
        }
        if name.eq_ignore_ascii_case("center_of_mass") {
            com = true;
            continue;
        }
        let found = model.bodies.iter().position(|b| b.name == *name).filter(|&b| b > 0);
        list.push(found.ok_or_else(|| AnalysisError::Unknown {
            what: "body",
            name: name.clone(),
            nearest: nearest(name, model.bodies.iter().skip(1).map(|b| b.name.as_str())),
        })?);
    }
    Ok((list, com))
}

/// A setting of an analysis whose numbers are in SI units, for the header of its files.
const SI: &str = "\nUnits: s, m, kg, N, N m, W, rad.\n\n";
/// The same where angles may be in degrees.
const SI_OR_DEGREES: &str =
    "\nUnits: s, m, kg, N, N m, W; angles in degrees where inDegrees says yes, else in rad.\n\n";

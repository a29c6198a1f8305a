//! What can be told about a motion: OpenSim's analyses.
//!
//! A [`StateHistory`] says how the model moved; [`analyze`] goes through it row by row, computes everything up to
//! accelerations, and lets each [`Analysis`] write down what it is about. Tables out, with OpenSim's names, labels and units.

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
use soleus_math::table::TableError;
use soleus_model::Model;
use soleus_model::body::Frame;
use soleus_optimization::separable::SharingError;
use soleus_simulation::Controls;
use std::ops::RangeInclusive;

/// The model at one instant of a motion, with everything computed.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The model.
    pub model: &'a Model,
    /// The model, ready for computing.
    pub system: &'a System,
    /// Time, coordinates, speeds and auxiliary states.
    pub x: &'a State<f64>,
    /// Controls of the actuators, if an analysis needs the motion.
    pub controls: &'a [f64],
    /// Kinematics, paths, loads and accelerations, those of the bodies included, if an analysis needs them.
    pub ws: &'a Workspace<f64>,
    /// Number of the row in the history.
    pub row: usize,
}

/// One kind of question put to every instant of a motion.
pub trait Analysis {
    /// Writes down what the instant has to say.
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError>;
    /// Whether forces and accelerations of the instant are needed, or its state alone.
    fn needs_motion(&self) -> bool {
        true
    }
    /// Whether every row must be recorded, however few are asked for.
    fn looks_back(&self) -> bool {
        false
    }
    /// What to know about the result, in words.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// What went less than well, in words.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    /// What could not be solved, in words; the tables then hold the nearest that was found.
    fn unsolved(&self) -> Option<String> {
        None
    }
    /// The end of the name of the table whose columns are controls, to drive a simulation with.
    fn controls(&self) -> Option<&'static str> {
        None
    }
    /// What was written down.
    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError>;
}

/// A table, and the end of the name of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// What comes after the names of tool and analysis: `_q`, `_pos_global`, `_ReactionLoads`. Without its leading `_`, it
    /// comes right after the tool's: `Outputs`.
    pub suffix: String,
    /// The table.
    pub table: Table,
}

/// An analysis and when it is made.
pub struct Scheduled<'a> {
    /// Name of the analysis; part of the file names.
    pub name: String,
    /// Every how many rows of the history; the first and the last row of the range count always.
    pub step_interval: usize,
    /// The analysis.
    pub analysis: Box<dyn Analysis + 'a>,
}

/// Why an analysis is impossible.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// A name that the model does not have.
    #[error("the model has no {what} `{name}`{}", nearest.as_ref().map_or(String::new(), |n| format!("; the nearest is `{n}`")))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// A name that is there and differs least.
        nearest: Option<String>,
    },
    /// Lists that do not go together.
    #[error("{0}")]
    Setting(String),
    /// Columns that are needed are not there.
    #[error("the table has no column for {what} `{name}`")]
    Missing {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A pose does not fit the constraints.
    #[error("at {time} s: {source}")]
    Assembly {
        /// s.
        time: f64,
        /// Why.
        source: NotAssembled,
    },
    /// Accelerations cannot be found.
    #[error("at {time} s: {source}")]
    Motion {
        /// s.
        time: f64,
        /// Why.
        source: MotionError,
    },
    /// Static optimization failed.
    #[error(transparent)]
    StaticOptimization(Box<static_optimization::Error>),
    /// The results do not make a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No further rows are wanted; those that were recorded are kept.
    #[error("stopped")]
    Stopped,
}

impl AnalysisError {
    /// Whether the input is sound and an iteration did not converge.
    pub fn is_not_converged(&self) -> bool {
        use static_optimization::Error;
        let AnalysisError::StaticOptimization(e) = self else { return false };
        matches!(**e, Error::Sharing { source: SharingError::NotConverged { .. }, .. })
    }
}

/// What went less than well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Rows analysed.
    pub rows: usize,
    /// Muscles without equilibrium: time (s), force, reason.
    pub not_in_equilibrium: Vec<(f64, usize, String)>,
    /// Instants (s) without accelerations: nothing resists a force.
    pub without_accelerations: Vec<f64>,
    /// The last row's time (s) if an analysis asked to stop ([`AnalysisError::Stopped`]) before the last row of the range.
    pub stopped: Option<f64>,
}

/// How states are prepared before they are analysed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preparation {
    /// Whether fibers of muscles are put in equilibrium with their tendons at the activations of the history.
    pub solve_for_equilibrium: bool,
    /// Speeds are left off the constraints, as OpenSim leaves them.
    pub opensim_faults: bool,
}

/// Makes the analyses for rows of a history. Each pose is put on the constraints first.
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

/// The name that differs least from one that is not there.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
    let distance = |a: &str, b: &str| -> usize {
        // Pairs of neighbouring letters that only one of the two has: cheap, and good enough for a hint.
        let pairs = |s: &str| -> Vec<(char, char)> { s.chars().zip(s.chars().skip(1)).collect() };
        let (p, q) = (pairs(a), pairs(b));
        p.iter().filter(|x| !q.contains(x)).count() + q.iter().filter(|x| !p.contains(x)).count()
    };
    known.min_by_key(|k| distance(name, k)).map(str::to_string)
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

//! Static optimization: muscle forces of a measured motion.
//!
//! At each time, the activations a of the actuators minimize the effort subject to the measured accelerations:
//!
//!   min Σ |aᵢ|ᵖ   subject to   Cᵀ F a = Cᵀ (M u̇ + c − f₀),   l ≤ a ≤ u                   (1)
//!
//! F contains the generalized forces of the actuators at full activation: for a muscle, strength times moment arms,
//! where the strength is its active force with a rigid tendon at the current length and velocity, or its maximum
//! isometric force. f₀ are all other forces. The columns of C are the motions allowed by the constraints, so that no
//! multipliers appear. Passive forces of muscles are ignored, as in OpenSim's `StaticOptimization`.
//!
//! Method: Anderson and Pandy (2001). Equations, bounds and accelerations (splines through the speeds) are those of
//! OpenSim.

mod coordinate_actuators;
mod sharing;
#[cfg(test)]
mod tests;

use coordinate_actuators::Follower;
pub use sharing::LoadSharing;

use crate::analysis::{
    Analysis, AnalysisError, HistoryError, Moment, Output, Recorder, StateHistory, force_labels, push_forces,
};
use soleus_dynamics::System;
use soleus_dynamics::system::SystemError;
use soleus_math::Table;
use soleus_math::table::TableError;
use soleus_model::Model;
use soleus_optimization::separable::SharingError;
use std::ops::RangeInclusive;

/// End of the name of the table of activations, which are controls.
const ACTIVATION: &str = "_activation";

/// Settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Exponent p of (1), at least 1.
    pub exponent: f64,
    /// Whether the strength of muscles depends on their length and velocity.
    pub use_muscle_physiology: bool,
    /// Whether to use the model's actuators. Otherwise its muscles are replaced by ideal actuators of strength 1 on all
    /// free coordinates; actuators that are not muscles are kept.
    pub use_model_force_set: bool,
    /// Reproduces errors of OpenSim 4.6 in the muscle strengths, for comparison.
    pub opensim_faults: bool,
    /// Whether to include the moment that a path over several wrap objects has, in OpenSim, about joints that move the
    /// whole path. Muscle forces then depend on the direction in which the subject faces.
    pub unbalanced_paths: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            exponent: 2.0,
            use_muscle_physiology: true,
            use_model_force_set: true,
            opensim_faults: false,
            unbalanced_paths: false,
        }
    }
}

/// Why there is no solution.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no actuators.
    #[error("the model has no enabled actuators")]
    NoActuators,
    /// An actuator without a scalar control.
    #[error("actuator `{name}` has several controls, which static optimization does not support")]
    NotScalar {
        /// Its name.
        name: String,
    },
    /// A muscle class with unknown strength.
    #[error("muscle `{name}`: the strength of a {class} does not depend on length and velocity alone")]
    NoStrength {
        /// Its name.
        name: String,
        /// Its class.
        class: String,
    },
    /// The program (1) was not solved.
    #[error("at {time:.4} s: {source}")]
    Sharing {
        /// Time, s.
        time: f64,
        /// Cause.
        source: SharingError,
    },
    /// Invalid settings.
    #[error(transparent)]
    Setting(SharingError),
    /// The model with coordinate actuators cannot be compiled.
    #[error(transparent)]
    System(Box<SystemError>),
    /// The motion has no accelerations.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// A time at which the actuators are too weak.
#[derive(Clone, Debug, PartialEq)]
pub struct TooWeak {
    /// Time, s.
    pub time: f64,
    /// Coordinates and their missing generalized force (N·m or N), largest first.
    pub missing: Vec<(String, f64)>,
}

/// Part of the load of a coordinate that is not carried by muscles, over a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Help {
    /// The coordinate.
    pub coordinate: String,
    /// Whether muscles act on it as well, so that the other actuators are reserves. Otherwise these are residuals, or
    /// drive the joint.
    pub has_muscles: bool,
    /// Maximum load, N·m or N.
    pub largest_load: f64,
    /// Maximum part not carried by muscles, N·m or N.
    pub largest: f64,
    /// Time of that maximum, s.
    pub time: f64,
}

/// Reserves that carry more than this part of the largest load are worth a warning: what OpenSim's guide to CMC takes for acceptable.
const MUCH_HELP: f64 = 0.1;
/// Smaller loads are not worth one, N·m or N.
const LITTLE_LOAD: f64 = 5.0;

/// Static optimization as an analysis of a motion.
#[derive(Clone, Debug)]
pub struct StaticOptimization {
    /// The model with coordinate actuators, where the model's own muscles are not used.
    follower: Option<Box<Follower>>,
    sharing: LoadSharing,
    udot: Vec<Vec<f64>>,
    first: usize,
    row: Vec<f64>,
    accelerations: Vec<f64>,
    activations: Recorder,
    forces: Recorder,
    /// Times at which the actuators are too weak.
    pub too_weak: Vec<TooWeak>,
    /// Total number of Newton steps.
    pub iterations: usize,
    /// What reserves and residuals do, by mobility; `None` for those that are held.
    help: Vec<Option<Help>>,
}

impl StaticOptimization {
    /// For rows of a history; accelerations are computed from its speeds.
    pub fn new(
        model: &Model,
        system: &System,
        history: &StateHistory,
        rows: RangeInclusive<usize>,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let udot = history.accelerations(system, rows.clone())?;
        let follower = match settings.use_model_force_set {
            true => None,
            false => {
                let made = Follower::new(model, system, settings.opensim_faults);
                Some(Box::new(made.map_err(|e| Error::System(Box::new(e)))?))
            }
        };
        let (model, system) = follower.as_ref().map_or((model, system), |f| (&f.model, &f.system));
        let sharing = LoadSharing::new(model, system, settings)?;
        let text = "\nActivations of muscles and controls of other actuators by static optimization.\n\n";
        let labels = sharing.names().map(str::to_string).collect();
        let activations = Recorder::new("Static Optimization", text, labels);
        let text = "\nForces (N) and torques (N m) that act on the model, by static optimization.\n\n";
        Ok(StaticOptimization {
            help: vec![None; system.tree.num_mobilities],
            udot,
            first: *rows.start(),
            row: Vec::new(),
            accelerations: vec![0.0; system.tree.num_mobilities],
            activations,
            forces: Recorder::new("ModelForces", text, force_labels(model, system)),
            follower,
            sharing,
            too_weak: Vec::new(),
            iterations: 0,
        })
    }

    /// Loads of coordinates that are not carried by muscles: coordinates with muscles, sorted by the fraction of the
    /// load, and coordinates without muscles, sorted by the load; largest first.
    pub fn help(&self) -> [Vec<&Help>; 2] {
        let given = self.help.iter().flatten().filter(|h| h.largest > 0.0);
        let (mut with, mut without): (Vec<_>, Vec<_>) = given.partition(|h| h.has_muscles);
        let part = |h: &Help| h.largest / h.largest_load.max(LITTLE_LOAD);
        with.sort_by(|a, b| part(b).total_cmp(&part(a)));
        without.sort_by(|a, b| b.largest.total_cmp(&a.largest));
        [with, without]
    }

    fn note_help(&mut self, time: f64) {
        for (m, load, carried, muscles) in self.sharing.helped() {
            let h = self.help[m].get_or_insert_with(|| Help {
                coordinate: self.sharing.coordinate(m).to_string(),
                has_muscles: false,
                largest_load: 0.0,
                largest: 0.0,
                time,
            });
            h.has_muscles |= muscles;
            h.largest_load = h.largest_load.max(load.abs());
            if carried.abs() > h.largest {
                (h.largest, h.time) = (carried.abs(), time);
            }
        }
    }
}

impl Analysis for StaticOptimization {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let row = now.row - self.first;
        for (a, column) in self.accelerations.iter_mut().zip(&self.udot) {
            *a = column[row];
        }
        let (system, x, controls, ws) = match &mut self.follower {
            None => (now.system, now.x, now.controls, now.ws),
            Some(f) => {
                f.follow(now.x);
                (&f.system, &f.x, f.controls.as_slice(), &f.ws)
            }
        };
        let found = self
            .sharing
            .solve(x, &self.accelerations)
            .map_err(|e| AnalysisError::StaticOptimization(Box::new(e)))?;
        self.iterations += found.iterations;
        if !found.feasible {
            let missing = self.sharing.missing();
            self.too_weak.push(TooWeak { time: now.x.time, missing });
        }
        self.activations.push(now.x.time, self.sharing.activations().iter().copied());
        self.row.clear();
        let given = |i: usize| self.sharing.force(i);
        push_forces(system, (x, controls), ws, &given, &mut self.row);
        self.forces.push(now.x.time, self.row.iter().copied());
        self.note_help(now.x.time);
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let [reserves, others] = self.help();
        let mut notes = Vec::new();
        let list = |parts: Vec<String>| parts.join(", ");
        // What would be printed as nothing is nothing.
        let has_reserves = !reserves.is_empty();
        let reserves: Vec<&&Help> = reserves.iter().filter(|h| h.largest >= 0.05).take(4).collect();
        if !reserves.is_empty() {
            let part = |h: &&&Help| {
                let percent = 100.0 * h.largest / h.largest_load;
                match h.largest_load > LITTLE_LOAD {
                    true => format!("{} {:.1} ({percent:.0} %)", h.coordinate, h.largest),
                    false => format!("{} {:.1}", h.coordinate, h.largest),
                }
            };
            let most = list(reserves.iter().map(part).collect());
            notes.push(format!("peak reserves (N m or N, and share of the peak load): {most}"));
        } else if has_reserves {
            notes.push("reserves are negligible".to_string());
        }
        if !others.is_empty() {
            let most =
                list(others.iter().take(6).map(|h| format!("{} {:.1}", h.coordinate, h.largest)).collect());
            notes.push(format!("peak actuator loads where no muscle acts (N m or N): {most}"));
        }
        notes
    }

    fn warnings(&self) -> Vec<String> {
        let [reserves, _] = self.help();
        let is_much = |h: &&&Help| h.largest_load > LITTLE_LOAD && h.largest > MUCH_HELP * h.largest_load;
        let much = reserves.iter().filter(is_much);
        let part = |h: &&Help| {
            format!("{} {:.0} % at {:.3} s", h.coordinate, 100.0 * h.largest / h.largest_load, h.time)
        };
        let much: Vec<String> = much.map(part).collect();
        match much.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "reserves exceed {:.0} % of the peak load: {}",
                100.0 * MUCH_HELP,
                much.join(", ")
            )],
        }
    }

    fn unsolved(&self) -> Option<String> {
        let worst = self.too_weak.iter().max_by(|a, b| total(a).total_cmp(&total(b)))?;
        let parts = worst.missing.iter().take(4).map(|(name, f)| format!("{name} {f:.3}"));
        Some(format!(
            "the actuators are too weak at {} of {} times; worst at {:.3} s, with missing loads (N m or N): {}",
            self.too_weak.len(),
            self.activations.rows(),
            worst.time,
            parts.collect::<Vec<_>>().join(", ")
        ))
    }

    fn controls(&self) -> Option<&'static str> {
        Some(ACTIVATION)
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let mut list = vec![
            Output { suffix: ACTIVATION.to_string(), table: self.activations.table()? },
            Output { suffix: "_force".to_string(), table: self.forces.table()? },
        ];
        if !self.too_weak.is_empty() {
            list.push(Output { suffix: "_missing".to_string(), table: missing(&self.too_weak)? });
        }
        Ok(list)
    }
}

/// What each coordinate lacks, at the instants at which the actuators are too weak.
fn missing(list: &[TooWeak]) -> Result<Table, TableError> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in list.iter().flat_map(|w| &w.missing) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let text = "\nGeneralized forces (N m or N) that the actuators cannot produce.\n\n";
    let mut table = Recorder::new("Missing", text, names.clone());
    for w in list {
        let at = |n: &String| w.missing.iter().find(|(name, _)| name == n).map_or(0.0, |(_, f)| *f);
        table.push(w.time, names.iter().map(at));
    }
    table.table()
}

fn total(w: &TooWeak) -> f64 {
    w.missing.iter().map(|(_, f)| f.abs()).sum()
}

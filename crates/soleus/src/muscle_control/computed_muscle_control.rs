//! Computed muscle control.

use super::run::{self, Job};
use super::{TrackedMotion, Tracking, inputs, page};
use crate::context::{Context, Silent};
use crate::emg::Emg;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use soleus_io::setup::CmcSetup;
use soleus_model::Model;
use soleus_tools::tracking::{
    Effort as Kernel, InitialStates, MeasuredActivation, Settings, Target, add_foot_springs,
};
use std::path::Path;

/// Computes muscle excitations that drive a simulation along a motion.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ComputedMuscleControl {
    /// Model, motion and settings of tracking.
    pub tracking: Tracking,
    /// Length of a control window, s.
    pub window: f64,
    /// Whether accelerations are matched exactly; otherwise they are weighted by the tasks against effort.
    pub exact: bool,
    /// Definition of effort.
    pub effort: Effort,
    /// Weight of changes of excitation between windows, relative to effort; 0 for none, as in OpenSim and in setup
    /// files. With 0.1, squared changes in a walk are less than half, at nearly the same effort and tracking error;
    /// from 1 on, muscles co-contract to reduce changes.
    pub smoothness: f64,
    /// Minimum excitation of the muscles.
    pub least_excitation: f64,
    /// Start this much earlier (s) with muscles at rest, as in Thelen & Anderson (2006); default: a first window of
    /// 0.03 s is fitted, as in OpenSim, and tracking starts at its end.
    pub lead: Option<f64>,
    /// Whether springs and dampers hold each foot under a measured force at its target position, in proportion to its
    /// share of the load, as in Thelen & Anderson (2006).
    pub foot_springs: bool,
    /// Measured EMG, for comparison with activations and, if it has a weight, for tracking.
    pub emg: Option<Emg>,
}

/// Definition of effort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Squared forces relative to the maximum forces at the current length and velocity: OpenSim's fast target.
    #[default]
    Strength,
    /// Squared forces relative to maximum isometric forces: OpenSim's slow target.
    Stress,
    /// Squared activations.
    Activation,
    /// Squared activations weighted by muscle volume: Thelen & Anderson (2006).
    Volume,
    /// Cubed activations.
    Cubed,
}

impl Effort {
    fn kernel(self) -> Kernel {
        match self {
            Effort::Strength => Kernel::Strength,
            Effort::Stress => Kernel::Stress,
            Effort::Activation => Kernel::Activation { exponent: 2.0, by_volume: false },
            Effort::Volume => Kernel::Activation { exponent: 2.0, by_volume: true },
            Effort::Cubed => Kernel::Activation { exponent: 3.0, by_volume: false },
        }
    }
}

impl Default for ComputedMuscleControl {
    fn default() -> Self {
        ComputedMuscleControl {
            tracking: Tracking::default(),
            window: 0.01,
            exact: true,
            effort: Effort::Strength,
            smoothness: 0.1,
            least_excitation: 0.01,
            lead: None,
            foot_springs: false,
            emg: None,
        }
    }
}

impl ComputedMuscleControl {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &CmcSetup) -> Result<Self, Error> {
        let tracking = Tracking { exclude: s.excluded.clone(), ..Tracking::from_setup(path, &s.tracking)? };
        Ok(ComputedMuscleControl {
            tracking,
            window: s.window,
            exact: s.use_fast_target,
            effort: if s.use_fast_target { Effort::Strength } else { Effort::Stress },
            smoothness: 0.0,
            least_excitation: inputs::LEAST_OF_OPENSIM,
            lead: None,
            foot_springs: false,
            emg: None,
        })
    }

    /// Tracks the motion. If the run cannot continue or is cancelled, the results so far are kept and the verdict gives
    /// the reason.
    pub fn run(&self, cx: &Context) -> Result<TrackedMotion, Error> {
        let request = &self.tracking;
        self.check()?;
        let mut model = run::read_model(cx, request)?;
        let springs = match self.foot_springs {
            true => add_foot_springs(&mut model),
            false => Vec::new(),
        };
        let system = run::compile(request, &model)?;
        let (history, data) = inputs::motion(cx, request, (&model, &system))?;
        let range = inputs::range(cx, request, data, self.window)?;
        let emg = match &self.emg {
            Some(emg) => emg.curves(cx, &model)?,
            None => Vec::new(),
        };
        let weight = self.emg.as_ref().map_or(0.0, |e| e.weight);
        let (tasks, task_lines) = inputs::tasks(cx, request, (&model, &system), &history)?;
        let mut job = Job {
            request,
            both: (&model, &system),
            history: &history,
            range,
            data,
            settings: Settings {
                window: self.window,
                target: if self.exact { Target::Exact } else { Target::Weighted },
                effort: self.effort.kernel(),
                smoothness: self.smoothness,
                measured: measured(&model, &emg, weight),
                ..Settings::default()
            },
            least_excitation: self.least_excitation,
            initial: match self.lead {
                Some(lead) => InitialStates::Earlier(lead),
                None => InitialStates::FirstWindow,
            },
            tasks,
            task_lines,
            springs: &springs,
            emg: &emg,
        };
        let mut found = job.run(cx)?;
        if let Some(file) = &request.page {
            // Beside excitations that may not change for nothing, those that may.
            let rough = match self.smoothness > 0.0 && !cx.monitor.is_cancelled() {
                true => {
                    job.settings.smoothness = 0.0;
                    job.run(&Context { monitor: &Silent, ..*cx }).ok()
                }
                false => None,
            };
            let rough = rough.map(|r| r.control_nodes);
            let figure = page::figure(cx, request, &found.states);
            let rough = rough.as_ref().map(|r| (self.smoothness, r));
            found.page = Some((file.clone(), page::page(&found, figure.as_ref(), rough)));
        }
        Ok(found)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong =
            |message: String, hint: &str| Err(Error::content(self.tracking.path(), 0, "", message, hint));
        if !(self.window > 0.0 && self.window.is_finite()) {
            return wrong(format!("a window of {} s is not valid", self.window), "usual is 0.01");
        }
        if !(0.0..1.0).contains(&self.least_excitation) {
            let message = format!("{} is not a valid minimum excitation", self.least_excitation);
            return wrong(message, "give a number from 0 to 1, such as 0.01");
        }
        if !(self.smoothness >= 0.0 && self.smoothness.is_finite()) {
            return wrong(
                format!("{} is not a valid penalty on changes of excitation", self.smoothness),
                "give 0 or a positive number",
            );
        }
        let is_squared = self.effort != Effort::Cubed || !self.exact;
        if self.emg.as_ref().is_some_and(|e| e.weight > 0.0) && !is_squared {
            let message = "an EMG weight needs a quadratic effort, not cubed activations";
            return wrong(message.to_string(), "use another effort, such as activation, or a weight of 0");
        }
        if let Some(lead) = self.lead.filter(|l| !(*l >= 0.0 && l.is_finite())) {
            return wrong(
                format!("{lead} s is not a valid lead time"),
                "give 0 or a positive number, such as 0.1",
            );
        }
        Ok(())
    }
}

/// EMG as activations to come near to.
fn measured(model: &Model, curves: &[crate::emg::EmgCurve], weight: f64) -> Vec<MeasuredActivation> {
    let curves = curves.iter().filter(|_| weight > 0.0);
    let one = |c: &crate::emg::EmgCurve| {
        let force = model.forces.iter().position(|f| f.name == c.muscle)?;
        Some(MeasuredActivation { force, weight, times: c.times.clone(), values: c.values.clone() })
    };
    curves.filter_map(one).collect()
}

//! Controlled actuators: ranges of their forces within a window, and controls for the desired forces.

use super::TrackingError;
use super::contraction::{
    CONVERGED, CONVERGED_AT_LIMITS, CONVERGED_WITHIN, Contraction, Course, LONGEST_STEP,
    LONGEST_STEP_AT_LIMITS, NotContracted, Step,
};
use super::excitation::{Tried, excitation_for, guess, root};
use crate::analysis::ActuatorLoad;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{System, Workspace};
use soleus_math::elementary;
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_simulation::system::ControlNodes;

/// A limit of a control.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// Constant.
    Constant(f64),
    /// A function of time.
    Nodes(ControlNodes),
}

impl Limit {
    fn at(&self, t: f64) -> f64 {
        match self {
            Limit::Constant(x) => *x,
            Limit::Nodes(nodes) => nodes.value(t),
        }
    }
}

/// A controlled actuator.
#[derive(Clone, Debug, PartialEq)]
pub struct Driven {
    /// Index of the force in the model.
    pub force: usize,
    /// Minimum control.
    pub min: Limit,
    /// Maximum control.
    pub max: Limit,
    /// Whether the control is constant over a window, as for muscles, or linear between windows.
    pub use_steps: bool,
}

/// An actuator ready to be driven.
#[derive(Clone, Debug)]
pub(super) struct Actuator {
    pub load: ActuatorLoad,
    pub name: String,
    /// Its control in the model.
    pub control: usize,
    pub use_steps: bool,
    min: Limit,
    max: Limit,
    pub is_muscle: bool,
    /// Maximal isometric force of a muscle, optimal force of another, N or N·m.
    pub optimal_force: f64,
    /// Volume up to a factor: maximal isometric force times optimal fiber length, N·m.
    pub volume: f64,
    /// Place of the activation among the states of a muscle.
    activation: Option<usize>,
    /// Time constant of an ideal actuator with a lag, s.
    lag: Option<f64>,
}

/// A range of what is reached at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Range {
    /// Force at the least and greatest control, N or N·m.
    pub force: [f64; 2],
    /// Activation then; controls of other actuators.
    pub activation: [f64; 2],
    /// The controls.
    pub control: [f64; 2],
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Actuators {
    pub list: Vec<Actuator>,
    pub ranges: Vec<Range>,
    /// What a muscle could exert at full activation on a rigid tendon; optimal force of other actuators.
    pub strengths: Vec<f64>,
    /// Forces to exert at the end of the window, N or N·m.
    pub forces: Vec<f64>,
    values: Vec<f64>,
    z: Vec<f64>,
    steps: Vec<Step>,
}

/// A muscle whose force changes by less than this (N) between least and greatest control gets the least, as in OpenSim.
const NO_RANGE: f64 = 1.0;
/// Controls without a limit reach so far, as in OpenSim.
const FARTHEST: f64 = 10_000.0;
/// A strength below this part of the maximal isometric force counts as this much: the muscle is left where it costs least.
const LEAST_STRENGTH: f64 = 1e-4;

impl Actuators {
    pub fn new(model: &Model, system: &System, driven: &[Driven]) -> Result<Self, TrackingError> {
        let mut list = Vec::with_capacity(driven.len());
        for d in driven {
            let (force, compiled) = (&model.forces[d.force], &system.forces[d.force]);
            let name = force.name.clone();
            let Some(load) = ActuatorLoad::new(system, d.force) else {
                return Err(TrackingError::NotScalar { name });
            };
            let (is_muscle, optimal_force, volume) = match &force.kind {
                ForceKind::Muscle(m) => {
                    (true, m.max_isometric_force, m.max_isometric_force * m.optimal_fiber_length)
                }
                _ => (false, load.optimal_force(system), 0.0),
            };
            if !(optimal_force != 0.0 && optimal_force.is_finite()) {
                return Err(TrackingError::NoForce { name, optimal_force });
            }
            let activation = match &compiled.actor {
                Actor::Muscle(m) => m.state_names().iter().position(|n| *n == "activation"),
                Actor::Force(_) => None,
            };
            let lag = match &compiled.actor {
                Actor::Force(f) => match f.kernel() {
                    Kernel::ActivationCoordinateActuator(a) => Some(a.time_constant),
                    _ => None,
                },
                Actor::Muscle(_) => None,
            };
            list.push(Actuator {
                load,
                name,
                control: compiled.controls.start,
                use_steps: d.use_steps || is_muscle,
                min: d.min.clone(),
                max: d.max.clone(),
                is_muscle,
                optimal_force,
                volume,
                activation,
                lag,
            });
        }
        if list.is_empty() {
            return Err(TrackingError::NoActuators);
        }
        // Volumes count against each other only.
        let muscles = list.iter().filter(|a| a.is_muscle).count().max(1) as f64;
        let mean = list.iter().map(|a| a.volume).sum::<f64>() / muscles;
        list.iter_mut().for_each(|a| a.volume = if a.is_muscle { a.volume / mean } else { 1.0 });
        let n = list.len();
        Ok(Actuators {
            ranges: vec![Range::default(); n],
            strengths: vec![1.0; n],
            forces: vec![0.0; n],
            values: vec![0.0; n],
            z: Vec::new(),
            steps: Vec::new(),
            list,
        })
    }

    /// None at all.
    pub fn none() -> Self {
        let (list, ranges) = (Vec::new(), Vec::new());
        Actuators {
            list,
            ranges,
            strengths: Vec::new(),
            forces: Vec::new(),
            values: Vec::new(),
            z: Vec::new(),
            steps: Vec::new(),
        }
    }

    pub fn has_muscles(&self) -> bool {
        self.list.iter().any(|a| a.is_muscle)
    }

    /// Controls that were found, actuator by actuator.
    pub fn controls(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().copied()
    }

    /// The control of one that was found.
    pub fn control(&self, actuator: usize) -> f64 {
        self.values[actuator]
    }

    /// Limits of the controls at a time.
    pub fn limits(&self, time: f64) -> Result<Vec<[f64; 2]>, TrackingError> {
        let of = |a: &Actuator| {
            let (min, max) = (a.min.at(time).max(-FARTHEST), a.max.at(time).min(FARTHEST));
            match min <= max {
                true => Ok([min, max]),
                false => Err(TrackingError::Limits { name: a.name.clone(), min, max, time }),
            }
        };
        self.list.iter().map(of).collect()
    }

    /// Forces at the end of a window at the limits of the controls.
    pub fn compute_ranges(
        &mut self,
        system: &System,
        courses: &[Course],
        z: &[f64],
        span: (f64, f64),
        limits: &[[f64; 2]],
    ) -> Result<(), TrackingError> {
        for (i, a) in self.list.iter().enumerate() {
            let range = &mut self.ranges[i];
            range.control = limits[i];
            let states = &z[system.forces[a.load.force].states.clone()];
            for k in 0..2 {
                let control = limits[i][k];
                (range.force[k], range.activation[k]) = match &system.forces[a.load.force].actor {
                    Actor::Muscle(m) => {
                        let (longest_step, converged) = (LONGEST_STEP_AT_LIMITS, CONVERGED_AT_LIMITS);
                        let c = Contraction { longest_step, converged, ..contraction(m, &courses[i], span) };
                        self.z.clear();
                        self.z.extend_from_slice(states);
                        let force = c.run(control, &mut self.z).map_err(|e| lost(a, e, control))?;
                        (force, a.activation.map_or(control, |k| self.z[k]))
                    }
                    Actor::Force(_) => {
                        let reached = a.reached(control, states, span);
                        (a.optimal_force * reached, reached)
                    }
                };
            }
        }
        Ok(())
    }

    /// Forces at full activation on a rigid tendon, at the pose of a workspace.
    pub fn compute_strengths(&mut self, system: &System, ws: &Workspace<f64>, opensim_faults: bool) {
        for (a, strength) in self.list.iter().zip(&mut self.strengths) {
            let i = a.load.force;
            *strength = match &system.forces[i].actor {
                Actor::Muscle(m) => {
                    let (L, Ldot) = (ws.paths[i].length(), ws.paths[i].speed());
                    let strength = m.active_force_on_rigid_tendon(L, Ldot, opensim_faults);
                    strength.unwrap_or(a.optimal_force).max(LEAST_STRENGTH * a.optimal_force)
                }
                Actor::Force(_) => a.optimal_force.abs(),
            };
        }
    }

    /// Controls that lead to the forces.
    pub fn compute_controls(
        &mut self,
        system: &System,
        courses: &[Course],
        z: &[f64],
        span: (f64, f64),
        limits: &[[f64; 2]],
    ) -> Result<(), TrackingError> {
        for (i, a) in self.list.iter().enumerate() {
            let states = &z[system.forces[a.load.force].states.clone()];
            let [min, max] = limits[i];
            self.values[i] = match &system.forces[a.load.force].actor {
                Actor::Muscle(m) => {
                    let range = self.ranges[i].force;
                    if range[1] - range[0] < NO_RANGE {
                        self.values[i] = min;
                        continue;
                    }
                    let c = Contraction {
                        converged: CONVERGED_WITHIN,
                        by_excitation: true,
                        ..contraction(m, &courses[i], span)
                    };
                    let room = &mut self.z;
                    let mut run = |e: f64| {
                        room.clear();
                        room.extend_from_slice(states);
                        let force = c.run(e, room).map_err(|n| lost(a, n, e))?;
                        Ok(Tried { excitation: e, activation: a.activation.map_or(e, |k| room[k]), force })
                    };
                    match a.activation {
                        Some(k) => {
                            let ends = [0, 1].map(|k| Tried {
                                excitation: limits[i][k],
                                activation: self.ranges[i].activation[k],
                                force: range[k],
                            });
                            let (target, activation) = (self.forces[i], states[k]);
                            // Where Newton's method fails, as at a corner of the muscle, interpolation succeeds.
                            let found = guess(target, ends, activation).and_then(|e| {
                                c.excitation_for(target, e, limits[i], (states, &mut self.steps))
                            });
                            match found {
                                Some(e) => e,
                                None => excitation_for(target, ends, activation, run)?,
                            }
                        }
                        None => root([min, max], range, self.forces[i], |e| run(e).map(|t| t.force))?,
                    }
                }
                Actor::Force(_) => {
                    a.control_for(self.forces[i] / a.optimal_force, states, span).clamp(min, max)
                }
            };
        }
        Ok(())
    }

    /// Carries the states of all actuators to the end of a span at the controls that were found, along given paths.
    pub fn carry(
        &mut self,
        system: &System,
        courses: &[Course],
        z: &mut [f64],
        (span, is_held): ((f64, f64), bool),
        controls: &[f64],
    ) -> Result<(), TrackingError> {
        for (i, a) in self.list.iter().enumerate() {
            let states = &mut z[system.forces[a.load.force].states.clone()];
            match &system.forces[a.load.force].actor {
                Actor::Muscle(m) => {
                    let c = Contraction { is_held, ..contraction(m, &courses[i], span) };
                    c.run(controls[i], states).map_err(|e| lost(a, e, controls[i]))?;
                }
                Actor::Force(_) if a.lag.is_some() => states[0] = a.reached(controls[i], states, span),
                Actor::Force(_) => {}
            }
        }
        Ok(())
    }
}

impl Actuator {
    /// Part of the optimal force at the end of a window under a constant control.
    fn reached(&self, control: f64, states: &[f64], (t0, t1): (f64, f64)) -> f64 {
        match self.lag {
            Some(tau) => control + (states[0] - control) * elementary::exp(-(t1 - t0) / tau),
            None => control,
        }
    }

    /// The inverse of [`reached`](Self::reached).
    fn control_for(&self, reached: f64, states: &[f64], (t0, t1): (f64, f64)) -> f64 {
        match self.lag {
            Some(tau) => {
                let rest = elementary::exp(-(t1 - t0) / tau);
                (reached - states[0] * rest) / (1.0 - rest)
            }
            None => reached,
        }
    }
}

fn contraction<'a>(
    muscle: &'a CompiledMuscle,
    course: &'a Course,
    (from, to): (f64, f64),
) -> Contraction<'a> {
    Contraction {
        muscle,
        course,
        is_held: false,
        from,
        to,
        longest_step: LONGEST_STEP,
        converged: CONVERGED,
        by_excitation: false,
    }
}

fn lost(a: &Actuator, e: NotContracted, excitation: f64) -> TrackingError {
    TrackingError::Muscle { time: e.time, name: a.name.clone(), excitation }
}

//! Static optimization at one time.

use super::{Error, Settings};
use crate::analysis::ActuatorLoad;
use crate::inverse_dynamics::Solver;
use crate::inverse_kinematics::eliminate::Elimination;
use soleus_dynamics::constraint::CompiledConstraint;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{State, System};
use soleus_math::SpatialVec;
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_optimization::separable::{PowerProgram, Shared};

/// How much a coordinate that a constraint holds is preferred as the dependent one.
const HELD: f64 = 1e6;

/// Distributes the load at one time among the actuators of a model; memory is allocated once, and each solution starts
/// from the previous one.
#[derive(Clone, Debug)]
pub struct LoadSharing {
    /// The model without its actuators.
    system: System,
    actuators: Vec<Actuator>,
    solver: Solver,
    elimination: Elimination,
    program: PowerProgram,
    /// Mobility and name of each equation.
    equations: Vec<usize>,
    names: Vec<String>,
    settings: Settings,
    body: Vec<SpatialVec<f64>>,
    column: Vec<f64>,
    reduced: Vec<f64>,
    strength: Vec<f64>,
    forces: Vec<Option<f64>>,
    /// By equation: what actuators that are not muscles carry, and whether muscles could.
    helped: Vec<(f64, bool)>,
}

/// A muscle with a smaller moment arm does not act on a coordinate, m.
const NO_EFFECT: f64 = 1e-3;
/// Moment arms that are rounding, m: wrapping is exact to a micrometer or so, which gives a muscle some effect on joints that it does not
/// cross. At p = 2 they change nothing. A residual actuator at 100 times its optimal force would at p = 6 move all muscles to spare
/// the 1e-6 of it that they seem to carry.
const ROUNDING: f64 = 1e-5;

#[derive(Clone, Debug)]
struct Actuator {
    load: ActuatorLoad,
    name: String,
    is_muscle: bool,
    /// Force at full activation, if it does not depend on the state.
    strength: Option<f64>,
    /// Mobilities that move all of its path alike, where wrapping leaves a moment about them all the same.
    alike: Vec<usize>,
}

impl LoadSharing {
    /// For all enabled actuators of a model.
    pub fn new(model: &Model, system: &System, settings: &Settings) -> Result<Self, Error> {
        let mut without = system.clone();
        let mut actuators = Vec::new();
        let mut bounds = Vec::new();
        for (i, f) in model.forces.iter().enumerate() {
            if !system.forces[i].enabled || !f.is_actuator() {
                continue;
            }
            let name = f.name.clone();
            let (Some(load), Some(range)) = (ActuatorLoad::new(system, i), f.control_range()) else {
                return Err(Error::NotScalar { name });
            };
            let strength = match (&system.forces[i].actor, &f.kind) {
                (Actor::Muscle(m), ForceKind::Muscle(p)) => {
                    if settings.use_muscle_physiology {
                        if m.active_force_on_rigid_tendon(1.0, 0.0, false).is_none() {
                            return Err(Error::NoStrength { name, class: f.class.clone() });
                        }
                        None
                    } else {
                        Some(p.max_isometric_force)
                    }
                }
                _ => Some(load.optimal_force(system)),
            };
            without.forces[i].enabled = false;
            bounds.push(range);
            let is_muscle = matches!(f.kind, ForceKind::Muscle(_));
            let alike = if settings.unbalanced_paths { Vec::new() } else { system.unbalanced_about(i) };
            actuators.push(Actuator { load, name, is_muscle, strength, alike });
        }
        if actuators.is_empty() {
            return Err(Error::NoActuators);
        }

        let tree = &system.tree;
        let n = tree.num_mobilities;
        let mut elimination = Elimination::new(system.constraints.num_rows(), n);
        for c in &system.constraints.list {
            match c {
                CompiledConstraint::Locked { mobility, .. }
                | CompiledConstraint::Prescribed { mobility, .. } => {
                    elimination.preference[*mobility] = HELD;
                }
                CompiledConstraint::Coupler { dependent, .. } => elimination.preference[*dependent] = HELD,
                _ => {}
            }
        }
        let names = tree.coordinate_of_mobility.iter();
        let names =
            names.map(|c| c.map_or("?".to_string(), |c| model.coordinates[c.0].name.clone())).collect();
        let mut program = PowerProgram::new(0, actuators.len(), settings.exponent).map_err(Error::Setting)?;
        for (i, range) in bounds.iter().enumerate() {
            (program.lower[i], program.upper[i]) = (range.min, range.max);
        }
        Ok(LoadSharing {
            solver: Solver::with_paths(&without),
            elimination,
            program,
            equations: Vec::new(),
            names,
            settings: settings.clone(),
            body: vec![SpatialVec::zero(); tree.nodes.len()],
            column: vec![0.0; n],
            reduced: Vec::new(),
            strength: vec![0.0; actuators.len()],
            forces: vec![None; system.forces.len()],
            helped: Vec::new(),
            system: without,
            actuators,
        })
    }

    /// The same without bounds on the activations.
    pub fn without_limits(mut self) -> Self {
        self.program.lower.fill(f64::NEG_INFINITY);
        self.program.upper.fill(f64::INFINITY);
        self
    }

    /// Names of the actuators, in the order of the activations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.actuators.iter().map(|a| a.name.as_str())
    }

    /// Activations of muscles and controls of other actuators, after [`solve`](Self::solve).
    pub fn activations(&self) -> &[f64] {
        &self.program.x
    }

    /// Force (N or N·m) of a force of the model; `None` if it is not an actuator.
    pub fn force(&self, i: usize) -> Option<f64> {
        self.forces[i]
    }

    /// Coordinates and their missing generalized force (N·m or N), largest first.
    pub fn missing(&self) -> Vec<(String, f64)> {
        let all = self.equations.iter().zip(&self.program.missing);
        let least = 1e-6 * self.program.missing.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let mut list: Vec<_> =
            all.filter(|(_, f)| f.abs() > least).map(|(&m, &f)| (self.names[m].clone(), f)).collect();
        list.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        list
    }

    /// After [`solve`](Self::solve), for each free coordinate: mobility, load (N·m or N), the part not carried by
    /// muscles, and whether muscles act on it.
    pub fn helped(&self) -> impl Iterator<Item = (usize, f64, f64, bool)> {
        let both = self.equations.iter().zip(&self.program.rhs).zip(&self.helped);
        both.map(|((&m, &load), &(carried, muscles))| (m, load, carried, muscles))
    }

    /// Name of the coordinate of a mobility.
    pub fn coordinate(&self, mobility: usize) -> &str {
        &self.names[mobility]
    }

    /// Solves (1) of the module for the time, coordinates and speeds of a state and the accelerations u̇ of the motion.
    pub fn solve(&mut self, x: &State<f64>, udot: &[f64]) -> Result<Shared, Error> {
        // Motions that constraints allow, and accelerations that obey them.
        self.solver.state.time = x.time;
        self.solver.state.q.copy_from_slice(&x.q);
        self.solver.state.u.copy_from_slice(&x.u);
        self.solver.state.z.copy_from_slice(&x.z);
        let (state, ws) = (&self.solver.state, &mut self.solver.ws);
        self.system.compute_kinematics(state, ws);
        self.system.constraints.compute(&self.system.tree, &ws.kin, x.time, &mut ws.constraints);
        self.elimination.compute(&ws.constraints.G, &ws.constraints.bias);
        self.solver.udot.copy_from_slice(udot);
        self.elimination.complete(&mut self.solver.udot);

        // Load to share: Cᵀ (M u̇ + c − f₀).
        self.solver.compute(&self.system);
        self.choose_equations()?;
        self.elimination.project(&mut self.solver.tau);
        for (b, &m) in self.program.rhs.iter_mut().zip(&self.equations) {
            *b = self.solver.tau[m];
        }

        // What each actuator can do: Cᵀ F.
        self.program.clear_columns();
        let ws = &self.solver.ws;
        for (a, strength) in self.actuators.iter().zip(&mut self.strength) {
            let i = a.load.force;
            *strength = match (&self.system.forces[i].actor, a.strength) {
                (_, Some(f)) => f,
                (Actor::Muscle(m), None) => {
                    let (L, Ldot) = (ws.paths[i].length(), ws.paths[i].speed());
                    m.active_force_on_rigid_tendon(L, Ldot, self.settings.opensim_faults).unwrap_or(0.0)
                }
                _ => 0.0,
            };
            a.load.generalized(&self.system, ws, x.time, *strength, &mut self.body, &mut self.column);
            a.alike.iter().for_each(|&m| self.column[m] = 0.0);
            self.elimination.project(&mut self.column);
            self.reduced.clear();
            self.reduced.extend(self.equations.iter().map(|&m| self.column[m]));
            if a.is_muscle && self.settings.exponent > 2.0 {
                let least = ROUNDING * *strength;
                self.reduced.iter_mut().filter(|f| f.abs() < least).for_each(|f| *f = 0.0);
            }
            self.program.push_column(&self.reduced);
        }
        let shared = self.program.solve().map_err(|source| Error::Sharing { time: x.time, source })?;
        for ((a, s), x) in self.actuators.iter().zip(&self.strength).zip(&self.program.x) {
            self.forces[a.load.force] = Some(s * x);
        }
        self.helped.clear();
        self.helped.resize(self.equations.len(), (0.0, false));
        for (i, (a, strength)) in self.actuators.iter().zip(&self.strength).enumerate() {
            for (r, f) in self.program.column(i) {
                match a.is_muscle {
                    true => self.helped[r].1 |= f.abs() > NO_EFFECT * strength,
                    false => self.helped[r].0 += f * self.program.x[i],
                }
            }
        }
        Ok(shared)
    }

    /// After [`solve`](Self::solve): the activations of least effort with the same generalized forces as the given
    /// ones, and the maximum generalized force (N·m or N) by which those miss the load. Measures the quality of
    /// solutions of other programs.
    pub fn solve_like(&mut self, activations: &[f64]) -> Result<(Shared, f64), Error> {
        let time = self.solver.state.time;
        let load = self.program.rhs.clone();
        self.program.set_rhs_by(activations);
        let miss = soleus_math::norm::largest_difference(&load, &self.program.rhs);
        let shared = self.program.solve().map_err(|source| Error::Sharing { time, source });
        self.program.rhs = load;
        Ok((shared?, miss))
    }

    /// One equation for each independent mobility; room for them when they are new.
    fn choose_equations(&mut self) -> Result<(), Error> {
        let independent = (0..self.names.len()).filter(|&m| self.elimination.is_independent[m]);
        if independent.clone().eq(self.equations.iter().copied()) {
            return Ok(());
        }
        self.equations = independent.collect();
        let mut program =
            PowerProgram::new(self.equations.len(), self.actuators.len(), self.settings.exponent)
                .map_err(Error::Setting)?;
        program.lower.clone_from(&self.program.lower);
        program.upper.clone_from(&self.program.upper);
        self.program = program;
        Ok(())
    }
}

//! Actuators with a prescribed force.

use soleus_dynamics::force::{Kernel, PathForce};
use soleus_dynamics::multibody::compute_generalized_forces;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Loads, System, Workspace};
use soleus_math::SpatialVec;

/// The load of an actuator that exerts a given force (N or N·m), regardless of its force law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActuatorLoad {
    /// Index of the force in the model.
    pub force: usize,
}

impl ActuatorLoad {
    /// `None` if the force is not a scalar actuator.
    pub fn new(system: &System, force: usize) -> Option<Self> {
        match &system.forces.get(force)?.actor {
            Actor::Muscle(_) => Some(ActuatorLoad { force }),
            Actor::Force(c) => match c.kernel() {
                Kernel::CoordinateActuator(_)
                | Kernel::ActivationCoordinateActuator(_)
                | Kernel::PointActuator(_)
                | Kernel::TorqueActuator(_)
                | Kernel::PointToPointActuator(_) => Some(ActuatorLoad { force }),
                Kernel::Path(p) if p.num_controls() > 0 => Some(ActuatorLoad { force }),
                _ => None,
            },
        }
    }

    /// Force (N or N·m) at a control of one: the optimal force of an ideal actuator, 1 for other actuators.
    pub fn optimal_force(&self, system: &System) -> f64 {
        let Actor::Force(c) = &system.forces[self.force].actor else { return 1.0 };
        match c.kernel() {
            Kernel::CoordinateActuator(a) => a.optimal_force,
            Kernel::ActivationCoordinateActuator(a) => a.optimal_force,
            Kernel::PointActuator(a) => a.optimal_force,
            Kernel::TorqueActuator(a) => a.optimal_force,
            Kernel::PointToPointActuator(a) => a.optimal_force,
            Kernel::Path(PathForce::Actuator { optimal_force }) => *optimal_force,
            _ => 1.0,
        }
    }

    /// Adds the load for a force `actuation` (N or N·m), after `compute_paths`.
    pub fn add(
        &self,
        system: &System,
        ws: &Workspace<f64>,
        time: f64,
        actuation: f64,
        loads: &mut Loads<f64>,
    ) {
        let f = &system.forces[self.force];
        let kin = ws.kin.view(time);
        if let Some(path) = &f.path {
            path.apply_tension(&kin, &ws.paths[self.force], actuation, loads);
            return;
        }
        let Actor::Force(c) = &f.actor else { return };
        let optimal = self.optimal_force(system);
        let control = if optimal == 0.0 { 0.0 } else { actuation / optimal };
        match c.kernel() {
            Kernel::ActivationCoordinateActuator(a) => loads.mobility[a.mobility] += actuation,
            Kernel::CoordinateActuator(a) => loads.mobility[a.mobility] += actuation,
            Kernel::PointActuator(a) => a.apply(&kin, control, loads),
            Kernel::TorqueActuator(a) => a.apply(&kin, control, loads),
            Kernel::PointToPointActuator(a) => a.apply(&kin, control, loads),
            _ => {}
        }
    }

    /// Writes the generalized forces for `actuation`; `body` is scratch memory, one entry per body.
    pub fn generalized(
        &self,
        system: &System,
        ws: &Workspace<f64>,
        time: f64,
        actuation: f64,
        body: &mut [SpatialVec<f64>],
        out: &mut [f64],
    ) {
        body.fill(SpatialVec::zero());
        out.fill(0.0);
        self.add(system, ws, time, actuation, &mut Loads { body, mobility: out });
        compute_generalized_forces(&system.tree, &ws.kin, body, out);
    }
}

//! A stretch reflex.

use soleus_dynamics::system::{State, System, Workspace};
use soleus_model::controller::Controller;
use soleus_model::force::ForceKind;
use soleus_model::model::Model;

/// Excitations in response to lengthening of muscles:
///
///   e = g max(L̇, 0) / (l₀ v_max)                                           (1)
///
/// with L̇ the lengthening speed of the whole muscle, m/s. Source: behaviour of OpenSim's `ToyReflexController`.
#[derive(Clone, Debug)]
pub struct Reflexes {
    /// Poses and speeds follow from the state; forces play no part.
    system: System,
    ws: Workspace<f64>,
    muscles: Vec<Reflex>,
}

#[derive(Clone, Debug)]
struct Reflex {
    force: usize,
    control: usize,
    /// g / (l₀ v_max), s/m.
    gain: f64,
}

impl Reflexes {
    /// The reflexes of a controller; for muscles only.
    pub fn new(model: &Model, system: &System, controller: &Controller, gain: f64) -> Self {
        let reflex = |f: &soleus_model::id::ForceId| {
            let ForceKind::Muscle(m) = &model.forces[f.0].kind else { return None };
            let control = system.forces[f.0].controls.start;
            let gain = gain / (m.optimal_fiber_length * m.max_contraction_velocity);
            Some(Reflex { force: f.0, control, gain })
        };
        Reflexes {
            system: system.clone(),
            ws: system.workspace(),
            muscles: controller.actuators.iter().filter_map(reflex).collect(),
        }
    }

    /// Adds the excitations (1) at a state.
    pub fn add(&mut self, x: &State<f64>, controls: &mut [f64]) {
        self.system.compute_kinematics(x, &mut self.ws);
        let kin = self.ws.kin.view(x.time);
        for r in &self.muscles {
            let Some(path) = &self.system.forces[r.force].path else { continue };
            let st = &mut self.ws.paths[r.force];
            path.compute_position(&kin, st);
            path.compute_speed(&kin, st);
            controls[r.control] += r.gain * st.speed().max(0.0);
        }
    }
}

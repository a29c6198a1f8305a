//! Static optimization with ideal coordinate actuators instead of the model's muscles.

use soleus_dynamics::constraint::CompiledConstraint;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{Options, State, System, Workspace};
use soleus_model::Model;
use soleus_model::force::{ControlRange, CoordinateActuator, Force, ForceKind};

/// The model with a `CoordinateActuator` of optimal force 1 on every free coordinate (not locked, prescribed or
/// coupled), in the order of the tree, before its forces; and without its muscles.
pub fn with_coordinate_actuators(model: &Model, system: &System) -> Model {
    let held = |m: usize| {
        system.constraints.list.iter().any(|c| match c {
            CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } => {
                *mobility == m
            }
            CompiledConstraint::Coupler { dependent, .. } => *dependent == m,
            _ => false,
        })
    };
    let mut forces = Vec::new();
    for (m, coordinate) in system.tree.coordinate_of_mobility.iter().enumerate() {
        let Some(coordinate) = coordinate.filter(|_| !held(m)) else { continue };
        let name = format!("{}_actuator", model.coordinates[coordinate.0].name);
        let actuator =
            CoordinateActuator { control: ControlRange::default(), coordinate, optimal_force: 1.0 };
        forces.push(Force::of_coordinate("/forceset", name, actuator));
    }
    let mut model = model.clone();
    forces.extend(model.forces.into_iter().filter(|f| !matches!(f.kind, ForceKind::Muscle(_))));
    model.forces = forces;
    model
}

/// A separate system that follows the motion of another with the same tree.
#[derive(Clone, Debug)]
pub struct Follower {
    /// The model.
    pub model: Model,
    /// The compiled model.
    pub system: System,
    /// State, with default values of auxiliary states.
    pub x: State<f64>,
    /// Controls, all zero.
    pub controls: Vec<f64>,
    /// Kinematics, paths and forces.
    pub ws: Workspace<f64>,
}

impl Follower {
    /// The model with coordinate actuators instead of muscles.
    pub fn new(model: &Model, system: &System, opensim_faults: bool) -> Result<Self, SystemError> {
        let model = with_coordinate_actuators(model, system);
        let system = System::compile_with(&model, &Options { opensim_faults })?;
        Ok(Follower {
            x: system.default_state.clone(),
            controls: vec![0.0; system.num_controls],
            ws: system.workspace(),
            model,
            system,
        })
    }

    /// Copies time, coordinates and speeds of another state.
    pub fn follow(&mut self, x: &State<f64>) {
        self.x.time = x.time;
        self.x.q.copy_from_slice(&x.q);
        self.x.u.copy_from_slice(&x.u);
        self.system.compute_kinematics(&self.x, &mut self.ws);
        self.system.compute_paths(&self.x, &mut self.ws);
        self.system.compute_forces(&self.x, &self.controls, &mut self.ws);
    }
}

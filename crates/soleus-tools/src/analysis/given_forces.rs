//! Actuator forces from a table, such as results of static optimization.

use super::{ActuatorLoad, AnalysisError, Moment};
use soleus_dynamics::{Loads, System, Workspace};
use soleus_math::Table;
use soleus_model::Model;

/// Forces over time (N and N·m, columns by the names of actuators) in place of what states and controls say.
#[derive(Clone, Debug)]
pub(super) struct GivenForces {
    table: Table,
    columns: Vec<(ActuatorLoad, usize)>,
}

impl GivenForces {
    /// The table must contain all enabled actuators.
    pub fn new(model: &Model, system: &System, table: &Table) -> Result<Self, AnalysisError> {
        let mut columns = Vec::new();
        for (i, f) in model.forces.iter().enumerate() {
            if !system.forces[i].enabled || !f.is_actuator() {
                continue;
            }
            let Some(load) = ActuatorLoad::new(system, i) else { continue };
            let Some(column) = table.index_of(&f.name).or_else(|| table.index_of(&f.path)) else {
                return Err(AnalysisError::Missing { what: "actuator", name: f.name.clone() });
            };
            columns.push((load, column));
        }
        Ok(GivenForces { table: table.clone(), columns })
    }

    /// Disables the actuators of the model.
    pub fn switch_off(&self, system: &mut System) {
        for (load, _) in &self.columns {
            system.forces[load.force].enabled = false;
        }
    }

    /// Force of an actuator at time t, interpolated linearly; `None` if it is not in the table.
    pub fn at(&self, force: usize, t: f64) -> Option<f64> {
        let (_, column) = self.columns.iter().find(|(load, _)| load.force == force)?;
        Some(interpolate(self.table.times(), &self.table.columns()[*column], t))
    }

    /// Kinematics, loads, accelerations and multipliers of a system whose own actuators are disabled.
    pub fn compute(
        &self,
        system: &System,
        now: &Moment,
        ws: &mut Workspace<f64>,
    ) -> Result<(), AnalysisError> {
        let x = now.x;
        system.compute_kinematics(x, ws);
        system.compute_paths(x, ws);
        system.compute_forces(x, now.controls, ws);
        let mut body = std::mem::take(&mut ws.body_load);
        let mut mobility = std::mem::take(&mut ws.mobility_load);
        let mut loads = Loads { body: &mut body, mobility: &mut mobility };
        for &(load, column) in &self.columns {
            let force = interpolate(self.table.times(), &self.table.columns()[column], x.time);
            load.add(system, ws, x.time, force, &mut loads);
        }
        (ws.body_load, ws.mobility_load) = (body, mobility);
        system.compute_accelerations(x, ws).map_err(|source| AnalysisError::Motion { time: x.time, source })
    }
}

/// The value at time t on straight lines through samples; the end values beyond them.
fn interpolate(times: &[f64], values: &[f64], t: f64) -> f64 {
    let k = times.partition_point(|&x| x <= t);
    match (k.checked_sub(1), values.get(k)) {
        (None, first) => first.copied().unwrap_or(f64::NAN),
        (Some(i), None) => values.get(i).copied().unwrap_or(f64::NAN),
        (Some(i), Some(next)) => {
            let s = (t - times[i]) / (times[k] - times[i]);
            values[i] + s * (next - values[i])
        }
    }
}

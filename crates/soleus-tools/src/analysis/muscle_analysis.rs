//! `MuscleAnalysis`: lengths, velocities, forces, powers and moment arms of muscles.

use super::{Analysis, AnalysisError, Moment, Output, Recorder, SI, coordinates, nearest};
use soleus_dynamics::System;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::muscle::MuscleInfo;
use soleus_model::Model;
use soleus_model::force::ForceKind;

/// What is asked of each muscle, and the name of its table.
type Quantity = (&'static str, fn(&MuscleInfo<f64>) -> f64);

/// The tables in OpenSim's order.
const QUANTITIES: [Quantity; 18] = [
    ("PennationAngle", |m| m.pennation_angle),
    ("Length", |m| m.length),
    ("FiberLength", |m| m.fiber_length),
    ("NormalizedFiberLength", |m| m.normalized_fiber_length),
    ("TendonLength", |m| m.tendon_length),
    ("FiberVelocity", |m| m.fiber_velocity),
    ("NormFiberVelocity", |m| m.normalized_fiber_velocity),
    ("PennationAngularVelocity", |m| m.pennation_angular_velocity),
    ("TendonForce", |m| m.actuation),
    ("FiberForce", |m| m.fiber_force),
    ("ActiveFiberForce", |m| m.active_fiber_force),
    ("PassiveFiberForce", |m| m.passive_fiber_force),
    ("ActiveFiberForceAlongTendon", |m| m.active_fiber_force_along_tendon),
    ("PassiveFiberForceAlongTendon", |m| m.passive_fiber_force_along_tendon),
    ("FiberActivePower", |m| m.fiber_active_power),
    ("FiberPassivePower", |m| m.fiber_passive_power),
    ("TendonPower", |m| m.tendon_power),
    ("MuscleActuatorPower", |m| m.muscle_power),
];

/// Quantities of muscles, and their moment arms and moments about coordinates.
#[derive(Clone, Debug)]
pub struct MuscleAnalysis {
    muscles: Vec<usize>,
    coordinates: Vec<usize>,
    quantities: Vec<Recorder>,
    arms: Vec<Recorder>,
    moments: Vec<Recorder>,
    info: Vec<MuscleInfo<f64>>,
    values: Vec<f64>,
}

impl MuscleAnalysis {
    /// For the named muscles and moment arms about the named coordinates; `all` for all of them. `None`: no moment
    /// arms.
    pub fn new(
        model: &Model,
        muscles: &[String],
        moment_arms: Option<&[String]>,
        opensim_faults: bool,
    ) -> Result<Self, AnalysisError> {
        // OpenSim sees only the muscles of the force set.
        let is_muscle = |f: &&soleus_model::Force| {
            matches!(f.kind, ForceKind::Muscle(_)) && (!opensim_faults || f.path.starts_with("/forceset/"))
        };
        let list: Vec<usize> = if muscles.iter().any(|m| m.eq_ignore_ascii_case("all")) {
            (0..model.forces.len()).filter(|&i| is_muscle(&&model.forces[i])).collect()
        } else {
            let find = |name: &String| {
                let found = model.forces.iter().position(|f| f.name == *name && is_muscle(&f));
                found.ok_or_else(|| AnalysisError::Unknown {
                    what: "muscle",
                    name: name.clone(),
                    nearest: nearest(name, model.forces.iter().filter(is_muscle).map(|f| f.name.as_str())),
                })
            };
            muscles.iter().map(find).collect::<Result<_, _>>()?
        };
        let about = moment_arms.map_or(Ok(Vec::new()), |names| coordinates(model, names))?;
        let labels: Vec<String> = list.iter().map(|&i| model.forces[i].name.clone()).collect();
        let table = |name: String| Recorder::new(name, SI, labels.clone());
        let each = |what: &str| -> Vec<Recorder> {
            about.iter().map(|&c| table(format!("{what}_{}", model.coordinates[c].name))).collect()
        };
        Ok(MuscleAnalysis {
            quantities: QUANTITIES.iter().map(|q| table(q.0.to_string())).collect(),
            arms: each("MomentArm"),
            moments: each("Moment"),
            info: Vec::with_capacity(list.len()),
            values: vec![0.0; list.len() * about.len()],
            muscles: list,
            coordinates: about,
        })
    }

    fn info(system: &System, now: &Moment, i: usize) -> Option<MuscleInfo<f64>> {
        system.muscle_info(i, now.x, now.controls, now.ws)
    }
}

impl Analysis for MuscleAnalysis {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let t = now.x.time;
        self.info.clear();
        self.info.extend(self.muscles.iter().filter_map(|&i| Self::info(now.system, now, i)));
        for (table, (_, quantity)) in self.quantities.iter_mut().zip(QUANTITIES) {
            table.push(t, self.info.iter().map(quantity));
        }
        if self.coordinates.is_empty() {
            return Ok(());
        }
        let (nm, nc) = (self.muscles.len(), self.coordinates.len());
        let mut arms = MomentArms::new(now.system, now.ws);
        for (k, &i) in self.muscles.iter().enumerate() {
            arms.compute_path(now.system, now.ws, i);
            for (c, &coordinate) in self.coordinates.iter().enumerate() {
                self.values[c * nm + k] = arms.arm(now.system.tree.mobility_of_coordinate[coordinate]);
            }
        }
        for c in 0..nc {
            let row = &self.values[c * nm..(c + 1) * nm];
            self.arms[c].push(t, row.iter().copied());
            self.moments[c].push(t, row.iter().zip(&self.info).map(|(r, m)| r * m.actuation));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let all = self.arms.into_iter().chain(self.moments).chain(self.quantities);
        all.map(|r| {
            let table = r.table()?;
            Ok(Output { suffix: format!("_{}", table.name), table })
        })
        .collect()
    }
}

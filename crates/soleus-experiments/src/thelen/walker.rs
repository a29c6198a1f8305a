//! One walker: residuals eliminated, then muscles controlled.

use super::TRACKING;
use crate::desk;
use soleus::muscle_control::{CoordinateError, Effort, Tracking, TrackingTask};
use soleus::residual_elimination::GaitCycle;
use soleus::{ComputedMuscleControl, Error, ResidualElimination};
use soleus_model::{Force, ForceKind, Model};
use std::path::{Path, PathBuf};

/// A walker and the half cycle that is looked at.
pub struct Walker {
    name: &'static str,
    model: PathBuf,
    motion: PathBuf,
    loads: PathBuf,
    /// Beginning and end, s: one foot strike and the next.
    range: [f64; 2],
}

/// What came of it.
pub struct Walk {
    pub name: &'static str,
    pub duration: f64,
    /// Changes of the pelvis (AP, ML, SI, mm) and the back (flexion, bending, rotation, deg).
    pub changes: [f64; 6],
    pub residual_over_weight: f64,
    coordinates: Vec<CoordinateError>,
    /// Forces of the springs along x, z and y, N.
    pub reactions: [f64; 3],
    pub weak_windows: usize,
    /// Time of REA and CMC, s.
    pub seconds: [Option<f64>; 2],
}

impl Walker {
    /// Those whose data are there.
    pub fn all(data: &Path) -> Vec<Walker> {
        let walking = data.join("walking");
        let gait2354 = walking.join("gait2354_subject01");
        let gait2392 = walking.join("gait2392_subject01");
        let rajagopal = walking.join("rajagopal_3d");
        let arnold = walking.join("arnold_subject02");
        let walkers = vec![
            Walker {
                name: "gait2354, subject01",
                model: gait2354.join("reference/subject01_simbody.osim"),
                motion: gait2354.join("subject01_walk1_ik.mot"),
                loads: gait2354.join("subject01_walk1_grf.xml"),
                range: [0.618, 1.247],
            },
            Walker {
                name: "gait2392, subject01, 92 muscles",
                model: gait2392.join("reference/subject01_simbody_adjusted.osim"),
                motion: gait2354.join("subject01_walk1_ik.mot"),
                loads: gait2354.join("subject01_walk1_grf.xml"),
                range: [0.618, 1.247],
            },
            Walker {
                name: "Rajagopal 2016",
                model: rajagopal.join("subject_walk_scaled.osim"),
                motion: rajagopal.join("coordinates.mot"),
                loads: rajagopal.join("grf_walk.xml"),
                range: [0.836, 1.411],
            },
            Walker {
                name: "Arnold 2013, subject02",
                model: arnold.join("subject02_armless.osim"),
                motion: arnold.join("subject02_walk3_ik_solution.mot"),
                loads: arnold.join("external_loads.xml"),
                range: [0.735, 1.258],
            },
        ];
        let is_there = |w: &Walker| [&w.model, &w.motion, &w.loads].iter().all(|f| f.is_file());
        walkers.into_iter().filter(is_there).collect()
    }

    /// Eliminates residuals, and controls the muscles along what is left.
    pub fn run(&self, window: f64) -> Result<Walk, Error> {
        desk::enter(Some(1), true, |cx| {
            let clock = || cx.monitor.seconds();
            let begin = clock();
            let request = ResidualElimination {
                model: self.model.clone().into(),
                motion: self.motion.clone().into(),
                loads: Some(self.loads.clone()),
                cutoff_hz: Some(6.0),
                cycle: GaitCycle::Half,
                from: Some(self.range[0]),
                to: Some(self.range[1]),
                step: Some(0.002),
                ..Default::default()
            };
            let rea = request.run(cx)?;
            let middle = clock();
            let model = soleus::inputs::model::read(cx, &self.model.clone().into())?;
            let is_joint = |name: &str| !name.starts_with("pelvis_");
            let names = model.coordinates.iter().map(|c| c.name.clone()).filter(|n| is_joint(n));
            let task =
                |coordinate| TrackingTask { coordinate, kp: 100.0, kv: 20.0, ..TrackingTask::default() };
            let request = ComputedMuscleControl {
                tracking: Tracking {
                    model: self.model.clone().into(),
                    motion: rea.found.motion.clone().into(),
                    loads: Some(self.loads.clone()),
                    reserves: vec![1.0],
                    // Nothing pushes the pelvis but the ground.
                    exclude: residuals(&model),
                    tasks: names.map(task).collect(),
                    ..Default::default()
                },
                window,
                effort: Effort::Volume,
                foot_springs: true,
                ..Default::default()
            };
            let cmc = request.run(cx)?;
            let end = clock();
            let took = |a: Option<f64>, b: Option<f64>| Some(b? - a?);
            let squares = |ending: &str| -> f64 {
                let springs = cmc.report.helpers.iter().filter(|h| h.name.ends_with(ending));
                springs.map(|h| h.rms * h.rms).sum::<f64>().sqrt()
            };
            let factors = [1e3, 1e3, 1e3, 1f64.to_degrees(), 1f64.to_degrees(), 1f64.to_degrees()];
            let mut changes = [f64::NAN; 6];
            for ((out, c), factor) in changes.iter_mut().zip(ordered(&rea)).zip(factors) {
                *out = factor * c;
            }
            Ok(Walk {
                name: self.name,
                duration: self.range[1] - self.range[0],
                changes,
                residual_over_weight: rea.found.residual[0].max(rea.found.residual[1]) / rea.weight,
                coordinates: cmc.report.coordinates.clone(),
                reactions: ["_spring_fx", "_spring_fz", "_spring_fy"].map(squares),
                weak_windows: cmc.report.short_windows,
                seconds: [took(begin, middle), took(middle, end)],
            })
        })
    }
}

/// Actuators of a model that push its pelvis from nowhere.
fn residuals(model: &Model) -> Vec<String> {
    let pushes = |f: &&Force| match &f.kind {
        ForceKind::CoordinateActuator(a) => model.coordinates[a.coordinate.0].name.starts_with("pelvis_"),
        _ => false,
    };
    model.forces.iter().filter(pushes).map(|f| f.name.clone()).collect()
}

/// Changes in the order of Table 3.
fn ordered(rea: &soleus::residual_elimination::MotionWithoutResiduals) -> impl Iterator<Item = f64> + '_ {
    use soleus_tools::residual_elimination::Role::*;
    let roles = [AnteriorPosterior, MedialLateral, SuperiorInferior, Flexion, Bending, Rotation];
    roles.into_iter().map(|role| {
        let found = rea.found.changes.iter().find(|c| c.role == role);
        found.map_or(f64::NAN, |c| c.rms)
    })
}

impl Walk {
    /// Errors in the order of Table 4, over both sides; NaN where the model has no such coordinate.
    pub fn errors(&self) -> Vec<f64> {
        let of = |names: &[&str]| {
            let squares: Vec<f64> = self
                .coordinates
                .iter()
                .filter(|c| names.iter().any(|n| c.name.starts_with(n)) && !c.name.ends_with("beta"))
                .map(|c| c.rms * c.rms)
                .collect();
            (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
        };
        TRACKING.iter().map(|(_, names, _, _)| of(names)).collect()
    }
}

//! One walker: residuals eliminated, then muscles controlled.

use crate::desk;
use soleus::emg::Emg;
use soleus::muscle_control::{Effort, TrackedMotion, Tracking, TrackingTask};
use soleus::residual_elimination::{GaitCycle, MotionWithoutResiduals};
use soleus::{ComputedMuscleControl, Context, Error, ResidualElimination};
use soleus_model::{Force, ForceKind, Model};
use std::path::{Path, PathBuf};

/// A walker and the half cycle that is looked at.
pub struct Walker {
    pub name: &'static str,
    model: PathBuf,
    motion: PathBuf,
    loads: PathBuf,
    /// Beginning and end, s: one foot strike and the next.
    range: [f64; 2],
    /// Whether the motion was simulated, without residuals.
    is_simulated: bool,
}

/// What came of it.
pub struct Walk {
    pub name: &'static str,
    pub duration: f64,
    /// Whether the motion was simulated, without residuals.
    pub is_simulated: bool,
    /// Changes of the pelvis (AP, ML, SI, mm) and the back (flexion, bending, rotation, deg).
    pub changes: [f64; 6],
    pub residual_over_weight: f64,
    /// By length of a window.
    pub controls: Vec<Control>,
    /// Time of REA and of CMC with the first length, s.
    pub seconds: [Option<f64>; 2],
}

/// Computed muscle control of a walk in windows of one length.
pub struct Control {
    /// Errors in the order of Table 4, over both sides; NaN where the model has no such coordinate.
    pub errors: Vec<f64>,
    /// Forces of the springs along x, z and y, N.
    pub reactions: [f64; 3],
    pub weak_windows: usize,
}

impl Walker {
    /// Those whose data are there.
    pub fn all(data: &Path) -> Vec<Walker> {
        let walking = data.join("walking");
        let gait2354 = walking.join("gait2354_subject01");
        let gait2392 = walking.join("gait2392_subject01");
        let rajagopal = walking.join("rajagopal_3d");
        let arnold = walking.join("arnold_subject02");
        // Simulations that track measured walks: they have been free of residuals before, so that Table 3 has nothing to change.
        let simulated = |name, subject: &str, range| {
            let folder = walking.join(format!("arnold2013_subject{subject}"));
            Walker {
                name,
                model: folder.join(format!("subject{subject}_final.osim")),
                motion: folder.join("unperturbed.sto"),
                loads: folder.join("grf.mot"),
                range,
                is_simulated: true,
            }
        };
        let walkers = vec![
            Walker {
                name: "gait2354, subject01",
                model: gait2354.join("reference/subject01_simbody.osim"),
                motion: gait2354.join("subject01_walk1_ik.mot"),
                loads: gait2354.join("subject01_walk1_grf.xml"),
                range: [0.618, 1.247],
                is_simulated: false,
            },
            Walker {
                name: "gait2392, subject01, 92 muscles",
                model: gait2392.join("reference/subject01_simbody_adjusted.osim"),
                motion: gait2354.join("subject01_walk1_ik.mot"),
                loads: gait2354.join("subject01_walk1_grf.xml"),
                range: [0.618, 1.247],
                is_simulated: false,
            },
            Walker {
                name: "Rajagopal 2016",
                model: rajagopal.join("subject_walk_scaled.osim"),
                motion: rajagopal.join("coordinates.mot"),
                loads: rajagopal.join("grf_walk.xml"),
                range: [0.836, 1.411],
                is_simulated: false,
            },
            Walker {
                name: "Arnold 2013, subject02",
                model: arnold.join("subject02_armless.osim"),
                motion: arnold.join("subject02_walk3_ik_solution.mot"),
                loads: arnold.join("external_loads.xml"),
                range: [0.735, 1.258],
                is_simulated: false,
            },
            simulated("Arnold 2013, subject01, simulated", "01", [3.39, 3.957]),
            simulated("Arnold 2013, subject04, simulated", "04", [1.415, 1.975]),
        ];
        let is_there = |w: &Walker| [&w.model, &w.motion, &w.loads].iter().all(|f| f.is_file());
        walkers.into_iter().filter(is_there).collect()
    }

    /// Eliminates residuals, and controls the muscles along what is left.
    pub fn run(&self, windows: &[f64]) -> Result<Walk, Error> {
        desk::enter(Some(1), true, |cx| {
            let clock = || cx.monitor.seconds();
            let begin = clock();
            let rea = self.elimination().run(cx)?;
            let middle = clock();
            let (mut controls, mut end) = (Vec::new(), None);
            for &window in windows {
                let cmc = ComputedMuscleControl { window, ..self.control(cx, &rea)? }.run(cx)?;
                end = end.or_else(clock);
                let rows = cmc.report.published_tables();
                let of = |table: u8| rows.iter().filter(move |r| r.table == table).map(|r| r.rms);
                let mut reactions = [f64::NAN; 3];
                reactions.iter_mut().zip(of(5)).for_each(|(r, x)| *r = x);
                let weak_windows = cmc.report.short_windows;
                controls.push(Control { errors: of(4).collect(), reactions, weak_windows });
            }
            let took = |a: Option<f64>, b: Option<f64>| Some(b? - a?);
            let factors = [1e3, 1e3, 1e3, 1f64.to_degrees(), 1f64.to_degrees(), 1f64.to_degrees()];
            let mut changes = [f64::NAN; 6];
            for ((out, c), factor) in changes.iter_mut().zip(ordered(&rea)).zip(factors) {
                *out = factor * c;
            }
            Ok(Walk {
                name: self.name,
                duration: self.range[1] - self.range[0],
                is_simulated: self.is_simulated,
                changes,
                residual_over_weight: rea.found.residual[0].max(rea.found.residual[1]) / rea.weight,
                controls,
                seconds: [took(begin, middle), took(middle, end)],
            })
        })
    }

    fn elimination(&self) -> ResidualElimination {
        ResidualElimination {
            model: self.model.clone().into(),
            motion: self.motion.clone().into(),
            loads: Some(self.loads.clone()),
            cutoff_hz: Some(6.0),
            cycle: GaitCycle::Half,
            from: Some(self.range[0]),
            to: Some(self.range[1]),
            step: Some(0.002),
            ..Default::default()
        }
    }

    /// Muscles along a motion without residuals; windows are those of the paper.
    fn control(&self, cx: &Context, rea: &MotionWithoutResiduals) -> Result<ComputedMuscleControl, Error> {
        let model = soleus::inputs::model::read(cx, &self.model.clone().into())?;
        let is_joint = |name: &str| !name.starts_with("pelvis_");
        let names = model.coordinates.iter().map(|c| c.name.clone()).filter(|n| is_joint(n));
        let task = |coordinate| TrackingTask { coordinate, kp: 100.0, kv: 20.0, ..TrackingTask::default() };
        Ok(ComputedMuscleControl {
            tracking: Tracking {
                model: self.model.clone().into(),
                motion: rea.found.motion.clone().into(),
                loads: Some(self.loads.clone()),
                reserves: vec![1.0],
                // Nothing pushes the pelvis but the ground.
                exclude: ground(&model),
                tasks: names.map(task).collect(),
                ..Default::default()
            },
            window: 0.01,
            effort: Effort::Volume,
            foot_springs: true,
            ..Default::default()
        })
    }

    /// The electromyograms of this walker, where there are any.
    pub fn emg(&self) -> Option<Emg> {
        let signals = self.model.parent()?.join("electromyography.sto");
        let channels = CHANNELS.iter().map(|(channel, muscles)| {
            (channel.to_string(), muscles.iter().map(|m| format!("{m}_{EMG_SIDE}")).collect())
        });
        signals.is_file().then(|| Emg {
            signals: signals.into(),
            channels: channels.collect(),
            ..Emg::default()
        })
    }

    /// What Fig. 3 and the appendix look at.
    pub fn look_closer(&self, windows: &[f64]) -> Result<Closer, Error> {
        desk::enter(Some(1), true, |cx| {
            let rea = self.elimination().run(cx)?;
            let plain = ComputedMuscleControl { smoothness: 0.0, ..self.control(cx, &rea)? };
            let mut by_window = Vec::new();
            for &window in windows {
                let found = ComputedMuscleControl { window, ..plain.clone() }.run(cx)?;
                by_window.push([fluctuation(&found), joint_error(&found)]);
            }
            let better = ComputedMuscleControl { window: 0.005, emg: self.emg(), ..self.control(cx, &rea)? };
            let found = better.run(cx)?;
            let emg = found.report.emg.iter().map(|c| (c.channel.clone(), c.likeness.correlation)).collect();
            // As in the appendix, from the middle of the half cycle: there is a motion before it.
            let later = self.range[0] + LEAD + 0.03;
            let mut from_later = better.clone();
            from_later.tracking.from = Some(later);
            let early = ComputedMuscleControl { lead: Some(LEAD), ..from_later.clone() }.run(cx)?;
            let late = from_later.run(cx)?;
            Ok(Closer { by_window, emg, lead: likeness(&early, &late, &found, later) })
        })
    }
}

/// What a closer look at a walker finds.
pub struct Closer {
    /// By window: changes of excitation per second, mean over muscles, and error of the joints, deg RMS.
    pub by_window: Vec<[f64; 2]>,
    /// Channel, and correlation of activation and EMG; that of the best of its muscles is taken.
    pub emg: Vec<(String, Option<f64>)>,
    /// RMS difference of activations from those of a simulation that began earlier, 0.05 s after the beginning: with a lead and without.
    pub lead: [f64; 2],
}

/// Muscles begin so much earlier, s: the appendix.
pub const LEAD: f64 = 0.1;
/// The leg that electrodes were on.
const EMG_SIDE: &str = "r";
/// Channels of Rajagopal's walker and the muscles under them.
const CHANNELS: [(&str, &[&str]); 9] = [
    ("soleus", &["soleus"]),
    ("gastrocnemius", &["gasmed", "gaslat"]),
    ("tibialis_anterior", &["tibant"]),
    ("medial_hamstrings", &["semimem", "semiten"]),
    ("biceps_femoris", &["bflh"]),
    ("vastus_lateralis", &["vaslat"]),
    ("vastus_medius", &["vasmed"]),
    ("rectus_femoris", &["recfem"]),
    ("gluteus_medius", &["glmed1", "glmed2", "glmed3"]),
];

/// Sizes of all changes of excitation per second, mean over muscles.
fn fluctuation(found: &TrackedMotion) -> f64 {
    let t = &found.control_nodes;
    let states = found.states.labels();
    let is_muscle = |label: &str| {
        let name = label.strip_suffix(".excitation").unwrap_or(label);
        states.iter().any(|s| s.ends_with(&format!("/{name}/activation")))
    };
    let of = |y: &[f64]| y.windows(2).map(|w| (w[1] - w[0]).abs()).sum::<f64>();
    let muscles = t.labels().iter().zip(t.columns()).filter(|(l, _)| is_muscle(l));
    let (sum, n) = muscles.fold((0.0, 0.0), |(s, n), (_, y)| (s + of(y), n + 1.0));
    sum / n / (t.times()[t.rows() - 1] - t.times()[0])
}

/// Error of the joints, deg RMS.
fn joint_error(found: &TrackedMotion) -> f64 {
    let angles = found.report.coordinates.iter().filter(|c| c.is_followed && c.unit == "deg");
    let (sum, n) = angles.fold((0.0, 0.0), |(s, n), c| (s + c.rms * c.rms, n + 1.0));
    (sum / n).sqrt()
}

/// RMS difference of the activations of two simulations from those of a whole one, 0.05 s after a time.
fn likeness(early: &TrackedMotion, late: &TrackedMotion, whole: &TrackedMotion, from: f64) -> [f64; 2] {
    let at = |found: &TrackedMotion| -> Vec<f64> {
        let t = &found.states;
        let row = t.times().partition_point(|x| *x < from + 0.05).min(t.rows() - 1);
        let activations = t.labels().iter().zip(t.columns()).filter(|(l, _)| l.ends_with("/activation"));
        activations.map(|(_, y)| y[row]).collect()
    };
    let want = at(whole);
    [early, late].map(|found| {
        let squares: f64 = at(found).iter().zip(&want).map(|(a, b)| (a - b).powi(2)).sum();
        (squares / want.len() as f64).sqrt()
    })
}

/// Actuators of a model that push its pelvis from nowhere, and contacts, which would push in addition to the measured loads.
fn ground(model: &Model) -> Vec<String> {
    let pushes = |f: &&Force| match &f.kind {
        ForceKind::CoordinateActuator(a) => model.coordinates[a.coordinate.0].name.starts_with("pelvis_"),
        ForceKind::SmoothSphereHalfSpaceForce(_) => true,
        _ => false,
    };
    model.forces.iter().filter(pushes).map(|f| f.name.clone()).collect()
}

/// Changes in the order of Table 3.
fn ordered(rea: &MotionWithoutResiduals) -> impl Iterator<Item = f64> + '_ {
    use soleus_tools::residual_elimination::Role::*;
    let roles = [AnteriorPosterior, MedialLateral, SuperiorInferior, Flexion, Bending, Rotation];
    roles.into_iter().map(|role| {
        let found = rea.found.changes.iter().find(|c| c.role == role);
        found.map_or(f64::NAN, |c| c.rms)
    })
}

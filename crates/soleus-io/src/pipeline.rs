//! Pipeline files (TOML): one subject, several trials, and the steps from markers to joint reactions.

use crate::plain::toml_text;
use serde::{Deserialize, Serialize};
use soleus_model::Diagnostics;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One subject and several trials. File names are taken from the folder of the pipeline file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pipeline {
    /// Title of the summary. Default: the name of the file.
    pub name: Option<String>,
    /// Folder for results. Default `results`.
    pub out: Option<PathBuf>,
    /// A model that fits the subject already, in place of `scale`.
    pub model: Option<PathBuf>,
    /// How to make the model.
    pub scale: Option<Scale>,
    /// Inverse kinematics.
    pub ik: Kinematics,
    /// Inertial sensors, for trials with `orientations`.
    pub imu: Option<Sensors>,
    /// Low-pass filter of the joint angles.
    pub filter: Option<Filter>,
    /// Every trial with loads is brought to obey the model: later steps take its motion, model and loads.
    pub reconcile: Option<Reconciliation>,
    /// Residual elimination of every trial with loads: later steps take its motion.
    pub rea: Option<Elimination>,
    /// Residual reduction of every trial with loads: later steps take its motion, and its model.
    pub rra: Option<Reduction>,
    /// Inverse dynamics; done as well for every trial with loads.
    pub id: Option<Dynamics>,
    /// Static optimization.
    pub so: Option<Optimization>,
    /// Joint reactions, from the muscle forces of static optimization.
    pub jr: Option<Reactions>,
    /// Computed muscle control.
    pub cmc: Option<MuscleControl>,
    /// Muscles by optimal control along the motion, with activation dynamics.
    pub inverse: Option<Excitations>,
    /// The trials.
    pub trials: Vec<Trial>,
}

/// `[scale]`: a setup file of the ScaleTool, or its parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scale {
    /// Setup file of the ScaleTool.
    pub setup: Option<PathBuf>,
    /// Generic model.
    pub model: Option<PathBuf>,
    /// Markers of a static trial.
    pub markers: Option<PathBuf>,
    /// Markers to put on the model first: a file with a MarkerSet.
    pub marker_set: Option<PathBuf>,
    /// Pairs of markers and the bodies they scale: a file with a MeasurementSet, or a setup of the ScaleTool. Without it all markers tell the
    /// sizes of all bodies.
    pub measurements: Option<PathBuf>,
    /// Weights of the static pose: a file with an IKTaskSet, or a setup of the ScaleTool.
    pub tasks: Option<PathBuf>,
    /// Mass of the subject, kg.
    #[serde(with = "crate::plain")]
    pub mass: Option<f64>,
    /// Height of the subject, m: the size of segments whose markers do not tell it.
    #[serde(with = "crate::plain")]
    pub height: Option<f64>,
    /// Names of markers in the static trial, and those that the model has for them, where they are not known.
    pub map: BTreeMap<String, String>,
    /// Whether each body keeps its share of the mass. Default false.
    pub preserve_mass_distribution: bool,
    /// First time of the static trial, s.
    #[serde(with = "crate::plain")]
    pub from: Option<f64>,
    /// Last time of the static trial, s.
    #[serde(with = "crate::plain")]
    pub to: Option<f64>,
    /// Whether markers stay where scaling puts them. Default false.
    pub keep_markers: bool,
}

/// `[ik]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Kinematics {
    /// Weights: a file with an IKTaskSet. Default 1 for every marker.
    pub tasks: Option<PathBuf>,
}

/// `[imu]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sensors {
    /// Orientations while the subject stands in the default pose of the model: they tell how the sensors sit. Without it the
    /// model has frames for the sensors already.
    pub calibration: Option<PathBuf>,
    /// The sensor that tells the heading.
    pub base: Option<String>,
    /// Its axis along which the subject faces, such as `-z`.
    pub heading_axis: Option<String>,
    /// From the world of the sensors to ground: space-fixed angles about x, y, z, degrees.
    #[serde(with = "crate::plain")]
    pub rotations_deg: [f64; 3],
    /// Weights of sensors by name. Default 1.
    pub weights: BTreeMap<String, f64>,
}

/// `[filter]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Cutoff frequency, Hz.
    #[serde(with = "crate::plain")]
    pub lowpass_hz: f64,
}

/// `[id]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dynamics {
    /// Forces of the model that do not act. Default muscles and actuators.
    pub exclude: Option<Vec<String>>,
}

/// `[so]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Optimization {
    /// Files with force sets: residual and reserve actuators.
    pub actuators: Vec<PathBuf>,
    /// Optimal force (N m or N) of an actuator for every coordinate that has none.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Optimal moment (N m) and force (N) of actuators at joints with ground.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Exponent of the activations. Default 2.
    #[serde(with = "crate::plain")]
    pub exponent: Option<f64>,
    /// Whether lengths and speeds of fibers limit forces. Default true.
    pub physiology: Option<bool>,
}

/// `[reconcile]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reconciliation {
    /// Above this frequency markers alone do not move the model, Hz. Default 10.
    #[serde(with = "crate::plain")]
    pub cutoff_hz: Option<f64>,
    /// Standard deviation of residuals, N and N m. Default: there are none.
    #[serde(with = "crate::plain")]
    pub residual_sd: Option<f64>,
    /// Of masses, as a part of each; 0 keeps them. Default 0.1.
    #[serde(with = "crate::plain")]
    pub mass_sd: Option<f64>,
    /// Of mass centres, m; 0 keeps them. Default 0.02.
    #[serde(with = "crate::plain")]
    pub mass_center_sd: Option<f64>,
    /// Of an offset of the points where loads act, m. Default 0.005.
    #[serde(with = "crate::plain")]
    pub load_offset_sd: Option<f64>,
    /// Of the gain of each load, as a part of it, and of the tilt of its axes, rad. Default 0.01.
    #[serde(with = "crate::plain")]
    pub load_gain_sd: Option<f64>,
    /// Of a lag of the loads, s. Default 0.
    #[serde(with = "crate::plain")]
    pub load_delay_sd: Option<f64>,
    /// Of the markers' places in their bodies, m. Default 0.
    #[serde(with = "crate::plain")]
    pub marker_offset_sd: Option<f64>,
}

/// `[rea]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Elimination {
    /// Which part of a gait cycle each trial is: `half`, `whole`, or none. Default none.
    pub cycle: Option<String>,
}

/// `[rra]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reduction {
    /// Coordinates to follow, with weights: a file with a CMC_TaskSet. Default all.
    pub tasks: Option<PathBuf>,
    /// Files with force sets: the actuators. Default those of `residuals` and `reserves`.
    pub actuators: Vec<PathBuf>,
    /// Optimal moment (N m) and force (N) of actuators at joints with ground. Default 4 and 8, where there are no files.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Optimal force (N m or N) of the other actuators. Default 1000, where there are no files.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Body whose mass centre is moved.
    pub mass_center: Option<String>,
    /// Whether masses are changed as recommended, too. Default false.
    pub change_masses: bool,
}

/// `[cmc]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MuscleControl {
    /// Coordinates to follow: a file with a CMC_TaskSet. Default all.
    pub tasks: Option<PathBuf>,
    /// Limits of controls: a file with a ControlSet.
    pub limits: Option<PathBuf>,
    /// Files with force sets: residual and reserve actuators.
    pub actuators: Vec<PathBuf>,
    /// Optimal moment (N m) and force (N) of actuators at joints with ground.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Optimal force (N m or N) of an actuator for every coordinate that has none.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Length of a window, s. Default 0.01.
    #[serde(with = "crate::plain")]
    pub window: Option<f64>,
    /// Price of a change of excitation from one window to the next. Default 0.
    #[serde(with = "crate::plain")]
    pub smoothness: Option<f64>,
}

/// `[inverse]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Excitations {
    /// Optimal moment (N m) and force (N) of actuators at joints with ground.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Optimal force (N m or N) of an actuator for every coordinate that has none.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Longest mesh interval, s. Default 0.02.
    #[serde(with = "crate::plain")]
    pub mesh_interval: Option<f64>,
    /// Tendons stretch. Default: they do not.
    pub elastic_tendons: bool,
}

/// `[jr]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reactions {
    /// Joints. Default all.
    pub joints: Option<Vec<String>>,
    /// `parent` or `child`. Default child.
    pub on: Option<String>,
    /// Frame to express them in. Default ground.
    pub frame: Option<String>,
}

/// `[[trials]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Name; its results are in a folder of that name.
    pub name: String,
    /// Markers (.trc, .sto, .c3d).
    #[serde(default)]
    pub markers: Option<PathBuf>,
    /// In place of markers: orientations of inertial sensors (.sto, quaternions).
    #[serde(default)]
    pub orientations: Option<PathBuf>,
    /// Measured loads: force plates over time (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml).
    #[serde(default)]
    pub loads: Option<PathBuf>,
    /// Weights, in place of those of `[ik]`.
    #[serde(default)]
    pub tasks: Option<PathBuf>,
    /// First time, s.
    #[serde(default, with = "crate::plain")]
    pub from: Option<f64>,
    /// Last time, s.
    #[serde(default, with = "crate::plain")]
    pub to: Option<f64>,
}

/// Reads a pipeline file and checks what can be checked without opening others. `None` if and only if `log` holds an error.
pub fn read(text: &str, log: &mut Diagnostics) -> Option<Pipeline> {
    match toml::from_str::<Pipeline>(text) {
        Ok(pipeline) => {
            pipeline.check(log);
            (!log.has_errors()).then_some(pipeline)
        }
        Err(e) => {
            let line_of = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count() as u32;
            let line = e.span().map_or(0, |s| line_of(s.start));
            log.error(line, "", e.message().to_string(), "`soleus pipeline --help` shows a pipeline file");
            None
        }
    }
}

/// A pipeline as a file that [`read`] reads back.
pub fn write(pipeline: &Pipeline) -> String {
    // Texts, numbers, lists and tables are always JSON; paths are if they are UTF-8, as those of a file are.
    let value = serde_json::to_value(pipeline).unwrap_or_default();
    value.as_object().map_or(String::new(), toml_text::document)
}

impl Pipeline {
    /// Tells what does not go together.
    pub fn check(&self, log: &mut Diagnostics) {
        let mut wrong = |message: String, hint: &str| log.error(0, "", message, hint);
        match (&self.model, &self.scale) {
            (None, None) => wrong("the pipeline has no model".into(), "add `model` or a table [scale]"),
            (Some(_), Some(_)) => {
                wrong("the pipeline has both `model` and [scale]".into(), "keep one of them");
            }
            (None, Some(s)) if s.setup.is_none() && s.model.is_none() => {
                wrong("[scale] names neither `setup` nor `model`".into(), "give one of them");
            }
            _ => {}
        }
        if self.reconcile.is_some() && (self.rea.is_some() || self.rra.is_some()) {
            let message = "[reconcile] already removes the residuals; [rea] and [rra] cannot be used with it";
            wrong(message.into(), "remove one of them");
        }
        if self.jr.is_some() && self.so.is_none() {
            wrong("[jr] needs the muscle forces of [so]".into(), "add a table [so]");
        }
        for (i, t) in self.trials.iter().enumerate() {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
            if t.name.is_empty() || t.name.starts_with('.') || !t.name.chars().all(is_name) {
                wrong(
                    format!("`{}` is not a valid trial name: results go to a folder of this name", t.name),
                    "",
                );
            }
            match (&t.markers, &t.orientations) {
                (Some(_), Some(_)) => {
                    let message = format!("trial `{}` has both `markers` and `orientations`", t.name);
                    wrong(message, "keep one of them");
                }
                (None, None) => {
                    let message = format!("trial `{}` has neither `markers` nor `orientations`", t.name);
                    wrong(message, "give one of them");
                }
                (None, Some(_)) if t.tasks.is_some() => {
                    let message = format!("trial `{}` has `tasks`, which apply to markers only", t.name);
                    wrong(message, "set the weights of sensors in [imu]");
                }
                _ => {}
            }
            if self.trials[..i].iter().any(|o| o.name == t.name) {
                wrong(format!("two trials have the name `{}`", t.name), "");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> (Option<Pipeline>, Vec<String>) {
        let mut log = Diagnostics::new("pipeline.toml");
        let pipeline = read(text, &mut log);
        (pipeline, log.list.iter().map(|d| format!("{}: {} [{}]", d.line, d.message, d.hint)).collect())
    }

    /// The pipeline in the guide, and one with everything else.
    #[test]
    fn identity_pipelines_are_kept() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/pipeline.md");
        let guide = std::fs::read_to_string(guide).unwrap_or_default();
        let example = guide.split("```toml\n").nth(1).and_then(|b| b.split("```").next()).unwrap_or_default();
        let full = "model = 'a \"b\" \\c.osim'\nout = 'o'\nid = { exclude = ['x'] }\nso = {}\nreconcile = { mass_sd = 0, cutoff_hz = 8 }\n[imu]\nrotations_deg = [0, 0.1, -inf]\n\
            weights = { 'a b' = 0.1 }\n[[trials]]\nname = 't'\nmarkers = 'm.trc'\nfrom = -inf\nto = inf\n";
        for text in [example, full] {
            let (pipeline, log) = read_text(text);
            let pipeline = pipeline.unwrap_or_else(|| panic!("{text}\n{log:?}"));
            let written = write(&pipeline);
            assert_eq!(read_text(&written).0.as_ref(), Some(&pipeline), "{written}");
            let json = serde_json::to_string(&pipeline).unwrap_or_default();
            assert_eq!(serde_json::from_str::<Pipeline>(&json).ok(), Some(pipeline), "{json}");
        }
    }

    #[test]
    fn identity_mistakes_are_named() {
        let trial = "[[trials]]\nname = 't'\nmarkers = 'm'\n";
        for (text, line, words) in [
            ("modl = 'a'\n".to_string(), 1, "unknown field `modl`"),
            ("name = 'a'\n".to_string(), 0, "no model"),
            ("model = 'a'\n[scale]\nmodel = 'b'\n".to_string(), 0, "both `model` and [scale]"),
            ("[scale]\n".to_string(), 0, "neither `setup` nor `model`"),
            ("model = 'a'\n[jr]\n".to_string(), 0, "needs the muscle forces"),
            ("model = 'a'\n[reconcile]\n[rra]\n".to_string(), 0, "already removes the residuals"),
            (format!("model = 'a'\n{trial}{trial}"), 0, "two trials have the name `t`"),
            (
                "model = 'a'\n[[trials]]\nname = '..'\nmarkers = 'm'\n".to_string(),
                0,
                "is not a valid trial name",
            ),
            ("model = 'a'\n[[trials]]\nname = 't'\n".to_string(), 0, "neither `markers` nor `orientations`"),
            (format!("model = 'a'\n{trial}orientations = 'o'\n"), 0, "both `markers` and `orientations`"),
            (
                "model = 'a'\n[[trials]]\nname = 't'\norientations = 'o'\ntasks = 't'\n".to_string(),
                0,
                "apply to markers only",
            ),
            (format!("model = 'a'\n{trial}from = '0.5'\n"), 5, "expected a number"),
        ] {
            let (pipeline, log) = read_text(&text);
            assert!(pipeline.is_none(), "{text}");
            let found = log.iter().any(|l| l.starts_with(&format!("{line}: ")) && l.contains(words));
            assert!(found, "{text}\n{log:#?}");
        }
    }
}

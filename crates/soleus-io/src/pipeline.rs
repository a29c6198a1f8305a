//! Pipeline files (TOML): one subject, several trials, and the steps from markers to joint reactions.

use crate::plain::toml_text;
use serde::{Deserialize, Serialize};
use soleus_model::Diagnostics;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One subject and several trials. File names are relative to the folder of the pipeline file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pipeline {
    /// Title of the summary. Default: the name of the file.
    pub name: Option<String>,
    /// Results folder. Default `results`.
    pub out: Option<PathBuf>,
    /// A scaled model, instead of `scale`.
    pub model: Option<PathBuf>,
    /// Scaling of a generic model.
    pub scale: Option<Scale>,
    /// Inverse kinematics.
    pub ik: Kinematics,
    /// Inertial sensors, for trials with `orientations`.
    pub imu: Option<Sensors>,
    /// Low-pass filter of the joint angles.
    pub filter: Option<Filter>,
    /// Dynamically consistent motion for every trial with loads: later steps use its motion, model and loads.
    pub reconcile: Option<Reconciliation>,
    /// Residual elimination for every trial with loads: later steps use its motion.
    pub rea: Option<Elimination>,
    /// Residual reduction for every trial with loads: later steps use its motion and its model.
    pub rra: Option<Reduction>,
    /// Inverse dynamics; by default for every trial with loads.
    pub id: Option<Dynamics>,
    /// Static optimization.
    pub so: Option<Optimization>,
    /// Joint reactions, from the muscle forces of static optimization.
    pub jr: Option<Reactions>,
    /// Computed muscle control.
    pub cmc: Option<MuscleControl>,
    /// Muscle excitations by optimal control along the motion, with activation dynamics.
    pub inverse: Option<Excitations>,
    /// Normative curves beside those of the subject (.csv): columns `percent`, and NAME and `sd_NAME` for each curve. Default: angles of
    /// Winter's adults.
    pub normative: Option<PathBuf>,
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
    /// Marker set to add to the model first: a file with a MarkerSet.
    pub marker_set: Option<PathBuf>,
    /// Marker pairs and the bodies they scale: a file with a MeasurementSet, or a setup of the ScaleTool. Default: all
    /// body sizes are fitted to all markers.
    pub measurements: Option<PathBuf>,
    /// Weights of the static pose: a file with an IKTaskSet, or a setup of the ScaleTool.
    pub tasks: Option<PathBuf>,
    /// Mass of the subject, kg.
    #[serde(with = "crate::plain")]
    pub mass: Option<f64>,
    /// Height of the subject, m: determines the size of segments without suitable markers.
    #[serde(with = "crate::plain")]
    pub height: Option<f64>,
    /// Marker names in the static trial and the corresponding names on the model, for names that are not recognized.
    pub map: BTreeMap<String, String>,
    /// Whether each body keeps its fraction of the total mass. Default false.
    pub preserve_mass_distribution: bool,
    /// Start time in the static trial, s.
    #[serde(with = "crate::plain")]
    pub from: Option<f64>,
    /// End time in the static trial, s.
    #[serde(with = "crate::plain")]
    pub to: Option<f64>,
    /// Whether markers are only scaled, not placed. Default false.
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
    /// Orientations while the subject stands in the default pose of the model, for sensor placement. Default: the model
    /// already has frames for the sensors.
    pub calibration: Option<PathBuf>,
    /// Sensor that defines the heading.
    pub base: Option<String>,
    /// Axis of that sensor that points in the facing direction, such as `-z`.
    pub heading_axis: Option<String>,
    /// Rotation from the sensors' world frame to ground: space-fixed angles about x, y, z, degrees.
    #[serde(with = "crate::plain")]
    pub rotations_deg: [f64; 3],
    /// Weights of sensors by name. Default 1.
    pub weights: BTreeMap<String, f64>,
}

/// `[filter]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Cutoff frequency, Hz; `cutoff_hz` is accepted too.
    #[serde(alias = "cutoff_hz", with = "crate::plain")]
    pub lowpass_hz: f64,
}

/// `[id]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dynamics {
    /// Model forces to exclude. Default: muscles and actuators.
    pub exclude: Option<Vec<String>>,
}

/// `[so]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Optimization {
    /// Files with force sets, such as residual and reserve actuators.
    pub actuators: Vec<PathBuf>,
    /// Optimal force (N m or N) of reserve actuators for all free coordinates without an actuator.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Optimal moment (N m) and force (N) of residual actuators between ground and the model.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Exponent of the activations. Default 2.
    #[serde(with = "crate::plain")]
    pub exponent: Option<f64>,
    /// Whether muscle force depends on fiber length and velocity. Default true.
    pub physiology: Option<bool>,
}

/// `[reconcile]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reconciliation {
    /// Frequency above which markers alone do not affect the motion, Hz; `lowpass_hz` is accepted too. Default 10.
    #[serde(alias = "lowpass_hz", with = "crate::plain")]
    pub cutoff_hz: Option<f64>,
    /// Standard deviation of the residuals, N and N m. Default: no residuals.
    #[serde(with = "crate::plain")]
    pub residual_sd: Option<f64>,
    /// Standard deviation of the masses, as a fraction of each; 0 keeps them fixed. Default 0.1.
    #[serde(with = "crate::plain")]
    pub mass_sd: Option<f64>,
    /// Standard deviation of the mass centres, m; 0 keeps them fixed. Default 0.02.
    #[serde(with = "crate::plain")]
    pub mass_center_sd: Option<f64>,
    /// Standard deviation of an offset of the points where loads act, m. Default 0.005.
    #[serde(with = "crate::plain")]
    pub load_offset_sd: Option<f64>,
    /// Standard deviation of the gain of each load, as a fraction, and of the tilt of its axes, rad. Default 0.01.
    #[serde(with = "crate::plain")]
    pub load_gain_sd: Option<f64>,
    /// Standard deviation of a delay of the loads, s. Default 0.
    #[serde(with = "crate::plain")]
    pub load_delay_sd: Option<f64>,
    /// Standard deviation of the marker locations on their bodies, m. Default 0.
    #[serde(with = "crate::plain")]
    pub marker_offset_sd: Option<f64>,
}

/// `[rea]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Elimination {
    /// Part of a gait cycle in each trial: `half`, `whole`, or none. Default none.
    pub cycle: Option<String>,
}

/// `[rra]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reduction {
    /// Coordinates to track, with weights: a file with a CMC_TaskSet. Default all.
    pub tasks: Option<PathBuf>,
    /// Files with force sets: the actuators. Default: those of `residuals` and `reserves`.
    pub actuators: Vec<PathBuf>,
    /// Optimal moment (N m) and force (N) of residual actuators between ground and the model. Default 4 and 8, if there
    /// are no files.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Optimal force (N m or N) of the other actuators. Default 1000, if there are no files.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Body whose mass centre is adjusted.
    pub mass_center: Option<String>,
    /// Whether to apply the recommended mass changes as well. Default false.
    pub change_masses: bool,
}

/// `[cmc]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MuscleControl {
    /// Coordinates to track: a file with a CMC_TaskSet. Default all.
    pub tasks: Option<PathBuf>,
    /// Control limits: a file with a ControlSet.
    pub limits: Option<PathBuf>,
    /// Files with force sets, such as residual and reserve actuators.
    pub actuators: Vec<PathBuf>,
    /// Optimal moment (N m) and force (N) of residual actuators between ground and the model.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Optimal force (N m or N) of reserve actuators for all free coordinates without an actuator.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Length of a control window, s. Default 0.01.
    #[serde(with = "crate::plain")]
    pub window: Option<f64>,
    /// Weight of changes of excitation between windows. Default 0.
    #[serde(with = "crate::plain")]
    pub smoothness: Option<f64>,
}

/// `[inverse]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Excitations {
    /// Optimal moment (N m) and force (N) of residual actuators between ground and the model.
    #[serde(with = "crate::plain")]
    pub residuals: Option<[f64; 2]>,
    /// Optimal force (N m or N) of reserve actuators for all free coordinates without an actuator.
    #[serde(with = "crate::plain")]
    pub reserves: Option<f64>,
    /// Maximum mesh interval, s. Default 0.02.
    #[serde(with = "crate::plain")]
    pub mesh_interval: Option<f64>,
    /// Whether tendons are compliant. Default false.
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
    /// Frame in which they are expressed. Default ground.
    pub frame: Option<String>,
}

/// `[[trials]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Name; results are in a folder with that name.
    pub name: String,
    /// Markers (.trc, .sto, .c3d).
    #[serde(default)]
    pub markers: Option<PathBuf>,
    /// Orientations of inertial sensors (.sto, quaternions), instead of markers.
    #[serde(default)]
    pub orientations: Option<PathBuf>,
    /// Measured loads: force plates over time (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml).
    #[serde(default)]
    pub loads: Option<PathBuf>,
    /// Weights, instead of those in `[ik]`.
    #[serde(default)]
    pub tasks: Option<PathBuf>,
    /// Start time, s.
    #[serde(default, with = "crate::plain")]
    pub from: Option<f64>,
    /// End time, s.
    #[serde(default, with = "crate::plain")]
    pub to: Option<f64>,
}

/// Reads a pipeline file and checks what can be checked without opening other files. `None` if and only if `log`
/// contains an error.
pub fn read(text: &str, log: &mut Diagnostics) -> Option<Pipeline> {
    match toml::from_str::<Pipeline>(text) {
        Ok(pipeline) => {
            pipeline.check(log);
            (!log.has_errors()).then_some(pipeline)
        }
        Err(e) => {
            let line_of = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count() as u32;
            let line = e.span().map_or(0, |s| line_of(s.start));
            let hint = similar_field(e.message());
            let hint = hint.unwrap_or_else(|| "`soleus pipeline --help` shows a pipeline file".to_string());
            log.error(line, "", e.message().to_string(), &hint);
            None
        }
    }
}

/// The known field that is most like an unknown one, from a message of serde: unknown field `a`, expected one of `b`, `c`.
fn similar_field(message: &str) -> Option<String> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let wanted = names.next()?;
    soleus_model::nearest_name(wanted, names, 3).map(|name| format!("did you mean `{name}`?"))
}

/// A pipeline as a file that [`read`] reads back.
pub fn write(pipeline: &Pipeline) -> String {
    // Texts, numbers, lists and tables are always JSON; paths are if they are UTF-8, as those of a file are.
    let value = serde_json::to_value(pipeline).unwrap_or_default();
    value.as_object().map_or(String::new(), toml_text::document)
}

impl Pipeline {
    /// Reports inconsistent settings.
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

    /// Filters take the word of the other, and of the command.
    #[test]
    fn identity_both_words_for_a_cutoff() {
        let both = |filter: &str, reconcile: &str| {
            let trial = "[[trials]]\nname = 't'\nmarkers = 'm'\n";
            let text = format!("model = 'a'\n[filter]\n{filter} = 6\n[reconcile]\n{reconcile} = 8\n{trial}");
            read_text(&text).0.unwrap_or_else(|| panic!("{text}"))
        };
        assert_eq!(both("lowpass_hz", "cutoff_hz"), both("cutoff_hz", "lowpass_hz"));
    }

    #[test]
    fn identity_mistakes_are_named() {
        let trial = "[[trials]]\nname = 't'\nmarkers = 'm'\n";
        for (text, line, words) in [
            ("modl = 'a'\n".to_string(), 1, "unknown field `modl`"),
            ("model = 'a'\n[fitler]\nlowpass_hz = 6\n".to_string(), 2, "[did you mean `filter`?]"),
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

//! What a study file says.

use crate::context::Context;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A study: one subject, several trials. File names are taken from the folder of the study file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Title of the summary. Default: the name of the file.
    pub name: Option<String>,
    /// Folder for results. Default `results`.
    pub out: Option<PathBuf>,
    /// A model that fits the subject already, in place of `scale`.
    pub model: Option<PathBuf>,
    /// How to make the model.
    pub scale: Option<Scale>,
    /// Inverse kinematics.
    #[serde(default)]
    pub ik: Kinematics,
    /// Inertial sensors, for trials with `orientations`.
    pub imu: Option<Sensors>,
    /// Low-pass on the joint angles.
    pub filter: Option<Filter>,
    /// Inverse dynamics; done as well for every trial with loads.
    pub id: Option<Dynamics>,
    /// Static optimization.
    pub so: Option<Optimization>,
    /// Joint reactions, from the muscle forces of static optimization.
    pub jr: Option<Reactions>,
    /// The trials.
    #[serde(default)]
    pub trials: Vec<Trial>,
}

/// `[scale]`: a setup file of the ScaleTool, or its parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    pub setup: Option<PathBuf>,
    pub model: Option<PathBuf>,
    pub markers: Option<PathBuf>,
    pub marker_set: Option<PathBuf>,
    pub measurements: Option<PathBuf>,
    pub tasks: Option<PathBuf>,
    pub mass: Option<f64>,
    #[serde(default)]
    pub preserve_mass_distribution: bool,
    pub from: Option<f64>,
    pub to: Option<f64>,
    #[serde(default)]
    pub keep_markers: bool,
}

/// `[ik]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinematics {
    pub tasks: Option<PathBuf>,
}

/// `[imu]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensors {
    /// Orientations while the subject stands in the default pose of the model: they tell how the sensors sit. Without it the
    /// model has frames for the sensors already.
    pub calibration: Option<PathBuf>,
    /// The sensor that tells the heading, and its axis along which the subject faces, such as `-z`.
    pub base: Option<String>,
    pub heading_axis: Option<String>,
    /// From the world of the sensors to ground: space-fixed angles about x, y, z, degrees.
    #[serde(default)]
    pub rotations_deg: [f64; 3],
    /// Weights of sensors by name. Default 1.
    #[serde(default)]
    pub weights: BTreeMap<String, f64>,
}

/// `[filter]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    pub lowpass_hz: f64,
}

/// `[id]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dynamics {
    /// Forces of the model that do not act. Default muscles and actuators.
    pub exclude: Option<Vec<String>>,
}

/// `[so]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Optimization {
    /// Files with force sets: residual and reserve actuators.
    #[serde(default)]
    pub actuators: Vec<PathBuf>,
    /// Optimal force (N m or N) of an actuator for every coordinate that has none.
    pub reserves: Option<f64>,
    /// Optimal moment (N m) and force (N) of actuators at joints with ground.
    pub residuals: Option<[f64; 2]>,
    /// Exponent of the activations. Default 2.
    pub exponent: Option<f64>,
    /// Whether lengths and speeds of fibers limit forces. Default true.
    pub physiology: Option<bool>,
}

/// `[jr]`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reactions {
    /// Joints. Default all.
    pub joints: Option<Vec<String>>,
    /// `parent` or `child`. Default child.
    pub on: Option<String>,
    /// Frame to express them in. Default ground.
    pub frame: Option<String>,
}

/// `[[trials]]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Name; its results are in a folder of that name.
    pub name: String,
    /// Markers (.trc, .sto, .c3d).
    pub markers: Option<PathBuf>,
    /// In place of markers: orientations of inertial sensors (.sto, quaternions).
    pub orientations: Option<PathBuf>,
    /// Measured loads: an XML file with ExternalLoads.
    pub loads: Option<PathBuf>,
    /// Weights, in place of those of `[ik]`.
    pub tasks: Option<PathBuf>,
    /// First time, s.
    pub from: Option<f64>,
    /// Last time, s.
    pub to: Option<f64>,
}

impl Study {
    /// Reads a study file and checks what can be checked without opening others.
    pub fn read(cx: &Context, path: &Path) -> Result<Study, Error> {
        Study::parse(path, &cx.read_text(path)?)
    }

    /// As [`Study::read`], from text.
    pub fn parse(path: &Path, text: &str) -> Result<Study, Error> {
        let study: Study = toml::from_str(text).map_err(|e| {
            let line =
                e.span().map_or(0, |s| 1 + text[..s.start.min(text.len())].matches('\n').count() as u32);
            let hint = "`soleus pipeline --help` shows a study file";
            Error::content(path, line, "", e.message().to_string(), hint)
        })?;
        let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
        match (&study.model, &study.scale) {
            (None, None) => {
                return wrong("the study has no model".into(), "give `model`, or a table [scale]");
            }
            (Some(_), Some(_)) => {
                return wrong("the study has both `model` and [scale]".into(), "give one of them");
            }
            (None, Some(s)) if s.setup.is_none() && s.model.is_none() => {
                return wrong("[scale] names neither `setup` nor `model`".into(), "give one of them");
            }
            _ => {}
        }
        if study.jr.is_some() && study.so.is_none() {
            return wrong("[jr] needs the muscle forces of [so]".into(), "add a table [so]");
        }
        for (i, t) in study.trials.iter().enumerate() {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
            if t.name.is_empty() || t.name.starts_with('.') || !t.name.chars().all(is_name) {
                return wrong(format!("`{}` is no name for a trial: it names a folder", t.name), "");
            }
            match (&t.markers, &t.orientations) {
                (Some(_), Some(_)) => {
                    let message = format!("trial `{}` has both `markers` and `orientations`", t.name);
                    return wrong(message, "give one of them");
                }
                (None, None) => {
                    let message = format!("trial `{}` has neither `markers` nor `orientations`", t.name);
                    return wrong(message, "give one of them");
                }
                (None, Some(_)) if t.tasks.is_some() => {
                    let message = format!("trial `{}` has `tasks`, which are for markers", t.name);
                    return wrong(message, "weights of sensors are in [imu]");
                }
                _ => {}
            }
            if study.trials[..i].iter().any(|o| o.name == t.name) {
                return wrong(format!("two trials are called `{}`", t.name), "");
            }
        }
        Ok(study)
    }
}

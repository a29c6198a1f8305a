//! `IMUPlacer` and `IMUInverseKinematicsTool`: motion from inertial sensors.

use super::properties::Properties;
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Element};

/// Setup of an `IMUPlacer`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImuPlacerSetup {
    /// `model_file`.
    pub model_file: Option<String>,
    /// `base_imu_label`: the column that defines the heading.
    pub base_imu_label: Option<String>,
    /// `base_heading_axis`: the axis of that sensor that points in the facing direction, such as `-z`.
    pub base_heading_axis: Option<String>,
    /// `sensor_to_opensim_rotations`: space-fixed angles about x, y, z, rad.
    #[serde(with = "crate::plain")]
    pub sensor_to_opensim_rotations: [f64; 3],
    /// `orientation_file_for_calibration`.
    pub orientation_file: Option<String>,
    /// `output_model_file`.
    pub output_model_file: Option<String>,
}

/// Setup of an `IMUInverseKinematicsTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImuInverseKinematicsSetup {
    /// Name of the tool.
    pub name: String,
    /// `model_file`.
    pub model_file: Option<String>,
    /// `results_directory`. Default `./`.
    pub results_directory: String,
    /// `sensor_to_opensim_rotations`: space-fixed angles about x, y, z, rad.
    #[serde(with = "crate::plain")]
    pub sensor_to_opensim_rotations: [f64; 3],
    /// `orientations_file`.
    pub orientations_file: Option<String>,
    /// `OrientationWeightSet`: sensors and their weights.
    #[serde(with = "crate::plain")]
    pub weights: Vec<(String, f64)>,
    /// `time_range`, s. Default: all times.
    #[serde(with = "crate::plain")]
    pub time_range: [f64; 2],
    /// `report_errors`. Default true.
    pub report_errors: bool,
    /// `output_motion_file`.
    pub output_motion_file: Option<String>,
}

impl Default for ImuInverseKinematicsSetup {
    fn default() -> Self {
        ImuInverseKinematicsSetup {
            name: String::new(),
            model_file: None,
            results_directory: "./".into(),
            sensor_to_opensim_rotations: [0.0; 3],
            orientations_file: None,
            weights: Vec::new(),
            time_range: [f64::NEG_INFINITY, f64::INFINITY],
            report_errors: true,
            output_motion_file: None,
        }
    }
}

pub(super) fn read_placer(tool: &Element, log: &mut Diagnostics) -> ImuPlacerSetup {
    let mut p = Properties::new(tool, log);
    let setup = ImuPlacerSetup {
        model_file: p.text("model_file"),
        base_imu_label: p.text("base_imu_label"),
        base_heading_axis: p.text("base_heading_axis"),
        sensor_to_opensim_rotations: p.numbers("sensor_to_opensim_rotations").unwrap_or_default(),
        orientation_file: p.text("orientation_file_for_calibration"),
        output_model_file: p.text("output_model_file"),
    };
    p.finish();
    setup
}

pub(super) fn read_inverse_kinematics(tool: &Element, log: &mut Diagnostics) -> ImuInverseKinematicsSetup {
    let name = tool.name().to_string();
    let mut p = Properties::new(tool, log);
    // Constraints are met whatever their weight, and the accuracy is that of rounding.
    p.skip(&["input_directory", "constraint_weight", "accuracy"]);
    let set = p.find("OrientationWeightSet").or(p.find("orientation_weights"));
    let d = ImuInverseKinematicsSetup::default();
    let mut setup = ImuInverseKinematicsSetup {
        name,
        model_file: p.text("model_file"),
        results_directory: p.text("results_directory").unwrap_or(d.results_directory),
        sensor_to_opensim_rotations: p.numbers("sensor_to_opensim_rotations").unwrap_or_default(),
        orientations_file: p.text("orientations_file"),
        weights: Vec::new(),
        time_range: p.numbers("time_range").unwrap_or(d.time_range),
        report_errors: p.boolean("report_errors", d.report_errors),
        output_motion_file: p.text("output_motion_file"),
    };
    p.finish();
    for e in set.and_then(|s| s.child("objects")).into_iter().flat_map(Element::children) {
        let mut p = Properties::new(e, log);
        let weight = p.number("weight", 1.0);
        p.finish();
        setup.weights.push((e.name().to_string(), weight));
    }
    setup
}

//! `InverseDynamicsTool`.

use super::properties::Properties;
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Element};

/// Setup of an `InverseDynamicsTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InverseDynamicsSetup {
    /// Name of the tool.
    pub name: String,
    /// `model_file`.
    pub model_file: Option<String>,
    /// `results_directory`. Default `./`.
    pub results_directory: String,
    /// `time_range`, s. Default: all times.
    #[serde(with = "crate::plain")]
    pub time_range: [f64; 2],
    /// `forces_to_exclude`: names, groups, or `all`, `actuators`, `muscles`, ignoring case.
    pub forces_to_exclude: Vec<String>,
    /// `external_loads_file`.
    pub external_loads_file: Option<String>,
    /// `coordinates_file`.
    pub coordinates_file: Option<String>,
    /// `lowpass_cutoff_frequency_for_coordinates`, Hz; negative: none.
    #[serde(with = "crate::plain")]
    pub lowpass_cutoff_frequency_for_coordinates: f64,
    /// `output_gen_force_file`. Default `inverse_dynamics.sto`.
    pub output_gen_force_file: String,
    /// `joints_to_report_body_forces`: names, or `all`.
    pub joints_to_report_body_forces: Vec<String>,
    /// `output_body_forces_file`. Default `body_forces_at_joints.sto`.
    pub output_body_forces_file: String,
}

impl Default for InverseDynamicsSetup {
    fn default() -> Self {
        InverseDynamicsSetup {
            name: String::new(),
            model_file: None,
            results_directory: "./".into(),
            time_range: [f64::NEG_INFINITY, f64::INFINITY],
            forces_to_exclude: Vec::new(),
            external_loads_file: None,
            coordinates_file: None,
            lowpass_cutoff_frequency_for_coordinates: -1.0,
            output_gen_force_file: "inverse_dynamics.sto".into(),
            joints_to_report_body_forces: Vec::new(),
            output_body_forces_file: "body_forces_at_joints.sto".into(),
        }
    }
}

pub(super) fn read(tool: &Element, log: &mut Diagnostics) -> InverseDynamicsSetup {
    let name = tool.name().to_string();
    let mut p = Properties::new(tool, log);
    // Degrees are told by the coordinates file itself.
    p.skip(&["input_directory", "coordinates_in_degrees"]);
    let d = InverseDynamicsSetup::default();
    let setup = InverseDynamicsSetup {
        name,
        model_file: p.text("model_file"),
        results_directory: p.text("results_directory").unwrap_or(d.results_directory),
        time_range: p.numbers("time_range").unwrap_or(d.time_range),
        forces_to_exclude: p.words("forces_to_exclude"),
        external_loads_file: p.text("external_loads_file"),
        coordinates_file: p.text("coordinates_file"),
        lowpass_cutoff_frequency_for_coordinates: p
            .number("lowpass_cutoff_frequency_for_coordinates", d.lowpass_cutoff_frequency_for_coordinates),
        output_gen_force_file: p.text("output_gen_force_file").unwrap_or(d.output_gen_force_file),
        joints_to_report_body_forces: p.words("joints_to_report_body_forces"),
        output_body_forces_file: p.text("output_body_forces_file").unwrap_or(d.output_body_forces_file),
    };
    p.finish();
    setup
}

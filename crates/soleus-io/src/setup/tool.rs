//! Common properties of the setup files of `ForwardTool`, `AnalyzeTool`, `RRATool` and `CMCTool`.

use super::properties::Properties;
use serde::{Deserialize, Serialize};
use soleus_model::Element;

/// Common properties of these tools, with defaults; source: OpenSim's `AbstractTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSetup {
    /// Name of the tool; prefix of the result files.
    pub name: String,
    /// `model_file`.
    pub model_file: Option<String>,
    /// `replace_force_set`: whether the model's own forces are removed.
    pub replace_force_set: bool,
    /// `force_set_files`: files whose forces are added to the model.
    pub force_set_files: Vec<String>,
    /// `results_directory`. Default `./`.
    pub results_directory: String,
    /// `initial_time`, s. Default 0.
    #[serde(with = "crate::plain")]
    pub initial_time: f64,
    /// `final_time`, s. Default 1.
    #[serde(with = "crate::plain")]
    pub final_time: f64,
    /// `solve_for_equilibrium_for_auxiliary_states`. Default false.
    pub solve_for_equilibrium: bool,
    /// `maximum_number_of_integrator_steps`. Default 20000. OpenSim's tools do not enforce it.
    #[serde(with = "crate::plain")]
    pub maximum_steps: f64,
    /// `maximum_integrator_step_size`, s. Default 1.
    #[serde(with = "crate::plain")]
    pub maximum_step: f64,
    /// `minimum_integrator_step_size`, s. Default 1e-8.
    #[serde(with = "crate::plain")]
    pub minimum_step: f64,
    /// `integrator_error_tolerance`. Default 1e-5.
    #[serde(with = "crate::plain")]
    pub error_tolerance: f64,
    /// Members of `AnalysisSet`, as in the file.
    #[serde(with = "crate::plain")]
    pub analyses: Vec<Element>,
    /// Members of `ControllerSet`, as in the file.
    #[serde(with = "crate::plain")]
    pub controllers: Vec<Element>,
    /// `external_loads_file`.
    pub external_loads_file: Option<String>,
}

impl Default for ToolSetup {
    fn default() -> Self {
        ToolSetup {
            name: String::new(),
            model_file: None,
            replace_force_set: false,
            force_set_files: Vec::new(),
            results_directory: "./".into(),
            initial_time: 0.0,
            final_time: 1.0,
            solve_for_equilibrium: false,
            maximum_steps: 20000.0,
            maximum_step: 1.0,
            minimum_step: 1e-8,
            error_tolerance: 1e-5,
            analyses: Vec::new(),
            controllers: Vec::new(),
            external_loads_file: None,
        }
    }
}

/// Reads them; `replaces` is the tool's own default of `replace_force_set`.
pub(super) fn read(p: &mut Properties, name: &str, replaces: bool) -> ToolSetup {
    // Digits of the result are always as many as it takes to read the same number back.
    p.skip(&["defaults", "output_precision"]);
    let d = ToolSetup::default();
    ToolSetup {
        name: name.to_string(),
        model_file: p.text("model_file"),
        replace_force_set: p.boolean("replace_force_set", replaces),
        force_set_files: p.words("force_set_files"),
        results_directory: p.text("results_directory").unwrap_or(d.results_directory),
        initial_time: p.number("initial_time", d.initial_time),
        final_time: p.number("final_time", d.final_time),
        solve_for_equilibrium: p
            .boolean("solve_for_equilibrium_for_auxiliary_states", d.solve_for_equilibrium),
        maximum_steps: p.number("maximum_number_of_integrator_steps", d.maximum_steps),
        maximum_step: p.number("maximum_integrator_step_size", d.maximum_step),
        minimum_step: p.number("minimum_integrator_step_size", d.minimum_step),
        error_tolerance: p.number("integrator_error_tolerance", d.error_tolerance),
        analyses: members(p, "AnalysisSet"),
        controllers: members(p, "ControllerSet"),
        external_loads_file: p.text("external_loads_file"),
    }
}

/// The members of a set.
fn members(p: &mut Properties, tag: &'static str) -> Vec<Element> {
    let objects = p.find(tag).and_then(|set| set.child("objects"));
    objects.into_iter().flat_map(Element::children).cloned().collect()
}

//! `AnalyzeTool`.

use super::analysis::{AnalysisSetup, read_analyses};
use super::properties::Properties;
use super::tool::{self, ToolSetup};
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Element};

/// Setup of an `AnalyzeTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalyzeSetup {
    /// Properties shared with other tools.
    pub tool: ToolSetup,
    /// Members of `AnalysisSet`.
    pub analyses: Vec<AnalysisSetup>,
    /// `states_file`.
    pub states_file: Option<String>,
    /// `coordinates_file`, if there is no `states_file`.
    pub coordinates_file: Option<String>,
    /// `speeds_file`, in addition to the coordinates.
    pub speeds_file: Option<String>,
    /// `lowpass_cutoff_frequency_for_coordinates`, Hz; negative: none.
    #[serde(with = "crate::plain")]
    pub lowpass_cutoff_frequency_for_coordinates: f64,
}

impl Default for AnalyzeSetup {
    fn default() -> Self {
        AnalyzeSetup {
            tool: ToolSetup::default(),
            analyses: Vec::new(),
            states_file: None,
            coordinates_file: None,
            speeds_file: None,
            lowpass_cutoff_frequency_for_coordinates: -1.0,
        }
    }
}

pub(super) fn read(element: &Element, log: &mut Diagnostics) -> AnalyzeSetup {
    let mut p = Properties::new(element, log);
    let tool = tool::read(&mut p, element.name(), false);
    // Steps of an integrator mean nothing here.
    let states_file = p.text("states_file");
    let coordinates_file = p.text("coordinates_file");
    let speeds_file = p.text("speeds_file");
    let cutoff = p.number(
        "lowpass_cutoff_frequency_for_coordinates",
        AnalyzeSetup::default().lowpass_cutoff_frequency_for_coordinates,
    );
    p.finish();
    let analyses = read_analyses(&tool.analyses, log);
    AnalyzeSetup {
        tool,
        analyses,
        states_file,
        coordinates_file,
        speeds_file,
        lowpass_cutoff_frequency_for_coordinates: cutoff,
    }
}

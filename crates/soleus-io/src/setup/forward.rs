//! `ForwardTool`.

use super::analysis::{AnalysisSetup, read_analyses};
use super::properties::Properties;
use super::tool::{self, ToolSetup};
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Element};

/// Setup of a `ForwardTool`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ForwardSetup {
    /// Properties shared with other tools.
    pub tool: ToolSetup,
    /// Members of `AnalysisSet`.
    pub analyses: Vec<AnalysisSetup>,
    /// `states_file`: contains the initial state, the last row at or before `initial_time`.
    pub states_file: Option<String>,
}

pub(super) fn read(element: &Element, log: &mut Diagnostics) -> ForwardSetup {
    let mut p = Properties::new(element, log);
    let tool = tool::read(&mut p, element.name(), false);
    let states_file = p.text("states_file");
    // OpenSim 4 has no such property any more: steps follow the error tolerance.
    let asked = p.boolean("use_specified_dt", false);
    p.finish();
    if asked {
        let line = element.child("use_specified_dt").map_or(0, |e| e.line);
        log.warn(line, "", "`use_specified_dt` has no effect, as in OpenSim 4", "");
    }
    let analyses = read_analyses(&tool.analyses, log);
    ForwardSetup { tool, analyses, states_file }
}

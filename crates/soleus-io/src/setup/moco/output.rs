//! Common parts of `MocoOutputGoal`, similar goals, and constraints on outputs.

use crate::setup::properties::Properties;
use crate::study::{OutputSource, OutputUse};
use soleus_math::Function;
use soleus_model::{Diagnostics, Element};

pub(super) fn read(p: &mut Properties) -> OutputSource {
    let index = p.number("output_index", -1.0);
    OutputSource {
        path: p.text("output_path").unwrap_or_default(),
        second_path: p.text("second_output_path"),
        operation: p.text("operation"),
        exponent: p.number("exponent", 1.0),
        index: (index >= 0.0).then_some(index as usize),
    }
}

/// The use that a class of goals makes of an output; `None` if the class is none of these.
pub(super) fn use_of(e: &Element, p: &mut Properties) -> Option<OutputUse> {
    Some(match e.tag.as_str() {
        "MocoOutputGoal" => OutputUse::Integral,
        "MocoInitialOutputGoal" => OutputUse::Initial,
        "MocoFinalOutputGoal" => OutputUse::Final,
        "MocoOutputExtremumGoal" => OutputUse::Extremum {
            maximum: p.text("extremum_type").is_some_and(|t| t == "maximum"),
            smoothing: p.number("smoothing_factor", 1.0),
        },
        "MocoOutputTrackingGoal" => {
            let f = p.find("tracking_function");
            OutputUse::Tracking(f.and_then(|f| function(f, p.log())))
        }
        "MocoOutputPeriodicityGoal" => OutputUse::Periodicity,
        _ => return None,
    })
}

/// The function that a property holds, if it holds one.
pub(super) fn function(property: &Element, log: &mut Diagnostics) -> Option<Function> {
    property.children().next().and_then(|f| soleus_model::build_function(f, log))
}

//! Path constraints of a `MocoStudy`.

use super::output;
use crate::setup::properties::Properties;
use crate::study::{FramePair, FunctionBounds, PathConstraint, PathConstraintKind};
use soleus_model::{Diagnostics, Element};

/// Reads a constraint; `None`, with an error, if it is not known.
pub(super) fn read(e: &Element, log: &mut Diagnostics) -> Option<PathConstraint> {
    let info = e.child("MocoConstraintInfo").and_then(|i| i.child("bounds"));
    let bounds = info.and_then(|b| b.children().next()).and_then(|b| super::bounds(b, log));
    let mut p = Properties::new(e, log);
    p.skip(&["MocoConstraintInfo"]);
    let kind = match e.tag.as_str() {
        "MocoControlBoundConstraint" => PathConstraintKind::ControlBound {
            paths: p.words("control_paths"),
            bounds: function_bounds(&mut p),
        },
        "MocoStateBoundConstraint" => {
            PathConstraintKind::StateBound { paths: p.words("state_paths"), bounds: function_bounds(&mut p) }
        }
        "MocoOutputBoundConstraint" => {
            PathConstraintKind::OutputBound { output: output::read(&mut p), bounds: function_bounds(&mut p) }
        }
        "MocoOutputConstraint" => PathConstraintKind::Output {
            output: output::read(&mut p),
            bounds: bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
        },
        "MocoFrameDistanceConstraint" => {
            let pairs = p.find("frame_pairs");
            PathConstraintKind::FrameDistance {
                pairs: pairs.iter().flat_map(|l| l.children()).map(pair).collect(),
                projection: p.text("projection").unwrap_or_else(|| "none".into()),
                vector: p.numbers("projection_vector").unwrap_or_default(),
            }
        }
        other => {
            let message = format!("path constraints of class `{other}` are not supported");
            log.error(e.line, e.name(), message, "");
            return None;
        }
    };
    p.finish();
    Some(PathConstraint { name: e.name().to_string(), kind, line: e.line })
}

fn function_bounds(p: &mut Properties) -> FunctionBounds {
    let mut read = |tag: &'static str| p.find(tag).and_then(|f| output::function(f, p.log()));
    let (lower, upper) = (read("lower_bound"), read("upper_bound"));
    FunctionBounds { lower, upper, equality_with_lower: p.boolean("equality_with_lower", false) }
}

fn pair(e: &Element) -> FramePair {
    let text = |tag: &str| e.child_text(tag).unwrap_or_default();
    let number = |tag: &str, default: f64| text(tag).parse().unwrap_or(default);
    FramePair {
        frames: [text("frame1_path"), text("frame2_path")],
        distance: [number("minimum_distance", 0.0), number("maximum_distance", f64::INFINITY)],
    }
}

//! Path constraints of a `MocoStudy`.

use super::output::{self, OutputSource};
use crate::setup::properties::Properties;
use soleus_math::Function;
use soleus_model::{Diagnostics, Element};

/// A constraint along the motion.
#[derive(Clone, Debug, PartialEq)]
pub struct MocoPathConstraint {
    /// Name.
    pub name: String,
    /// What it asks for.
    pub kind: PathConstraintKind,
    /// Line in the file.
    pub line: u32,
}

/// `lower_bound`, `upper_bound` and `equality_with_lower`: functions of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionBounds {
    /// `lower_bound`.
    pub lower: Option<Function>,
    /// `upper_bound`.
    pub upper: Option<Function>,
    /// `equality_with_lower`. Default false.
    pub equality_with_lower: bool,
}

/// A pair of `MocoFrameDistanceConstraint`.
#[derive(Clone, Debug, PartialEq)]
pub struct FramePair {
    /// `frame1_path`, `frame2_path`.
    pub frames: [String; 2],
    /// `minimum_distance`, `maximum_distance`, m. Default 0 and infinite.
    pub distance: [f64; 2],
}

/// What constraints ask for, by class.
#[derive(Clone, Debug, PartialEq)]
pub enum PathConstraintKind {
    /// `MocoControlBoundConstraint`.
    ControlBound {
        /// `control_paths`.
        paths: Vec<String>,
        /// Bounds.
        bounds: FunctionBounds,
    },
    /// `MocoStateBoundConstraint`.
    StateBound {
        /// `state_paths`.
        paths: Vec<String>,
        /// Bounds.
        bounds: FunctionBounds,
    },
    /// `MocoOutputBoundConstraint`.
    OutputBound {
        /// The output.
        output: OutputSource,
        /// Bounds.
        bounds: FunctionBounds,
    },
    /// `MocoOutputConstraint`.
    Output {
        /// The output.
        output: OutputSource,
        /// Bounds of `MocoConstraintInfo`.
        bounds: [f64; 2],
    },
    /// `MocoFrameDistanceConstraint`.
    FrameDistance {
        /// `frame_pairs`.
        pairs: Vec<FramePair>,
        /// `projection`: `none`, `vector` or `plane`.
        projection: String,
        /// `projection_vector`.
        vector: [f64; 3],
    },
}

/// Reads a constraint; `None`, with an error, if it is not known.
pub(super) fn read(e: &Element, log: &mut Diagnostics) -> Option<MocoPathConstraint> {
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
    Some(MocoPathConstraint { name: e.name().to_string(), kind, line: e.line })
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

//! Types of path constraints.

use super::goals::{OUTPUT, PROJECTION, PROJECTION_VECTOR};
use super::{Class, Field, Kind};

const LOWER: Field = row!("lower" => "lower_bound", Constant, "", "none", "least value");
const UPPER: Field = row!("upper" => "upper_bound", Constant, "", "none", "greatest value");

/// Types of path constraints.
pub(in crate::study) const CONSTRAINTS: &[Class] = &[
    Class {
        name: "control_bound",
        class: "MocoControlBoundConstraint",
        fields: &[
            row!("controls" => "control_paths", Texts, "", "needed", "paths of the controls"),
            LOWER,
            UPPER,
        ],
        help: "controls stay between functions of time",
    },
    Class {
        name: "state_bound",
        class: "MocoStateBoundConstraint",
        fields: &[row!("states" => "state_paths", Texts, "", "needed", "paths of the states"), LOWER, UPPER],
        help: "states stay between functions of time",
    },
    Class {
        name: "frame_distance",
        class: "MocoFrameDistanceConstraint",
        fields: &[
            row!("pairs" => "frame_pairs", FramePairs, "m", "needed",
                "frames and how far apart their origins may be"),
            PROJECTION,
            PROJECTION_VECTOR,
        ],
        help: "frames keep a distance",
    },
    Class {
        name: "output",
        class: "MocoOutputConstraint",
        fields: OUTPUT,
        help: "an output stays within `bounds`",
    },
];

/// Fields that all path constraints have.
pub(in crate::study) const CONSTRAINT: &[Field] = &[
    row!("type" => "", Text, "", "needed", "one of those below"),
    row!("name" => "", Text, "", "its type", "its name in reports"),
    row!("bounds" => "", Bounds, "the constraint's", "0", "of its values"),
];

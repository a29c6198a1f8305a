//! Types of path constraints.

use super::Kind::*;
use super::goals::{PROJECTION, PROJECTION_VECTOR};
use super::{Class, Field, field};

/// Types of path constraints.
pub(in crate::study) const CONSTRAINTS: &[Class] = &[
    Class {
        name: "control_bound",
        class: "MocoControlBoundConstraint",
        fields: &[
            field("controls", "control_paths", Texts, "", "needed", "paths of the controls"),
            field("lower", "lower_bound", Constant, "", "none", "least value"),
            field("upper", "upper_bound", Constant, "", "none", "greatest value"),
        ],
        help: "controls stay between functions of time",
    },
    Class {
        name: "state_bound",
        class: "MocoStateBoundConstraint",
        fields: &[
            field("states", "state_paths", Texts, "", "needed", "paths of the states"),
            field("lower", "lower_bound", Constant, "", "none", "least value"),
            field("upper", "upper_bound", Constant, "", "none", "greatest value"),
        ],
        help: "states stay between functions of time",
    },
    Class {
        name: "frame_distance",
        class: "MocoFrameDistanceConstraint",
        fields: &[
            field(
                "pairs",
                "frame_pairs",
                FramePairs,
                "m",
                "needed",
                "frames and how far apart their origins may be",
            ),
            PROJECTION,
            PROJECTION_VECTOR,
        ],
        help: "frames keep a distance",
    },
    Class {
        name: "output",
        class: "MocoOutputConstraint",
        fields: &[
            field("output", "output_path", Text, "", "needed", "path of the output, `/component|output`"),
            field(
                "second_output",
                "second_output_path",
                Text,
                "",
                "none",
                "another output to combine it with",
            ),
            field(
                "operation",
                "operation",
                Text,
                "",
                "none",
                "`addition`, `subtraction`, `multiplication` or `division`",
            ),
            field("exponent", "exponent", Number, "", "1", "power of the value"),
            field("index", "output_index", Number, "", "norm", "which number of a vector, from 0"),
        ],
        help: "an output stays within `bounds`",
    },
];

/// Fields that all path constraints have.
pub(in crate::study) const CONSTRAINT: &[Field] = &[
    field("type", "", Text, "", "needed", "one of those below"),
    field("name", "", Text, "", "its type", "its name in reports"),
    field("bounds", "", Bounds, "the constraint's", "0", "of its values"),
];

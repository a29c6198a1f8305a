//! Types of path constraints.

use super::goals::{OUTPUT, PROJECTION, PROJECTION_VECTOR};
use super::{Class, Field, Kind};

const LOWER: Field = row!("lower" => Function, "", "none", "least value");
const UPPER: Field = row!("upper" => Function, "", "none", "greatest value");
const EQUAL: Field =
    row!("equal_to_lower" => Boolean, "", "false", "the value is `lower`; there is no `upper`");

/// Types of path constraints.
pub(in crate::study::file) const CONSTRAINTS: &[Class] = &[
    Class {
        name: "control_bound",
        class: "MocoControlBoundConstraint",
        fields: &[row!("controls" => Texts, "", "needed", "paths of the controls"), LOWER, UPPER, EQUAL],
        help: "controls stay between functions of time",
    },
    Class {
        name: "state_bound",
        class: "MocoStateBoundConstraint",
        fields: &[row!("states" => Texts, "", "needed", "paths of the states"), LOWER, UPPER, EQUAL],
        help: "states stay between functions of time",
    },
    Class {
        name: "formula",
        class: "",
        fields: &[
            row!("formula" => Formula, "", "needed", "what is held: docs/guide/formulas.md"),
            LOWER,
            UPPER,
            EQUAL,
        ],
        help: "a formula of quantities of the model stays between numbers or functions of time",
    },
    Class {
        name: "frame_distance",
        class: "MocoFrameDistanceConstraint",
        fields: &[
            row!("pairs" => FramePairs, "m", "needed", "frames and how far apart their origins may be"),
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
    Class {
        name: "output_bound",
        class: "MocoOutputBoundConstraint",
        fields: &[OUTPUT[0], OUTPUT[1], OUTPUT[2], OUTPUT[3], OUTPUT[4], LOWER, UPPER, EQUAL],
        help: "an output stays between functions of time",
    },
];

/// One pair of frames.
pub(in crate::study::file) const FRAME_PAIR: &[Field] = &[
    row!("frames" => Texts, "", "needed", "paths of both"),
    row!("bounds" => Bounds, "m", "needed", "of their distance"),
];

/// Fields that all path constraints have.
pub(in crate::study::file) const CONSTRAINT: &[Field] = &[
    row!("type" => Text, "", "needed", "one of those below; `formula` where there is a formula"),
    row!("name" => Text, "", "its type", "its name in reports"),
    row!("bounds" => Bounds, "the constraint's", "0", "of its values"),
];

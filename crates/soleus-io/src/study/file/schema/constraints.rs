//! Types of path constraints.

use super::goals::{OUTPUT, PROJECTION, PROJECTION_VECTOR};
use super::{Class, Field, Kind};

const LOWER: Field = row!("lower" => Function, "", "none", "minimum value");
const UPPER: Field = row!("upper" => Function, "", "none", "maximum value");
const EQUAL: Field =
    row!("equal_to_lower" => Boolean, "", "false", "the value must equal `lower`; `upper` is not used");

/// Types of path constraints.
pub(in crate::study::file) const CONSTRAINTS: &[Class] = &[
    Class {
        name: "control_bound",
        class: "MocoControlBoundConstraint",
        fields: &[row!("controls" => Texts, "", "required", "paths of the controls"), LOWER, UPPER, EQUAL],
        help: "bounds on controls that are functions of time",
    },
    Class {
        name: "state_bound",
        class: "MocoStateBoundConstraint",
        fields: &[row!("states" => Texts, "", "required", "paths of the states"), LOWER, UPPER, EQUAL],
        help: "bounds on states that are functions of time",
    },
    Class {
        name: "formula",
        class: "",
        fields: &[
            row!("formula" => Formula, "", "required", "the constrained quantity: docs/guide/formulas.md"),
            LOWER,
            UPPER,
            EQUAL,
        ],
        help: "bounds on a formula of model quantities, constant or functions of time",
    },
    Class {
        name: "frame_distance",
        class: "MocoFrameDistanceConstraint",
        fields: &[
            row!("pairs" => FramePairs, "m", "required", "pairs of frames and the bounds of the distance between their origins"),
            PROJECTION,
            PROJECTION_VECTOR,
        ],
        help: "bounds on distances between frames",
    },
    Class { name: "output", class: "MocoOutputConstraint", fields: OUTPUT, help: "bounds on an output" },
    Class {
        name: "output_bound",
        class: "MocoOutputBoundConstraint",
        fields: &[OUTPUT[0], OUTPUT[1], OUTPUT[2], OUTPUT[3], OUTPUT[4], LOWER, UPPER, EQUAL],
        help: "bounds on an output that are functions of time",
    },
];

/// One pair of frames.
pub(in crate::study::file) const FRAME_PAIR: &[Field] = &[
    row!("frames" => Texts, "", "required", "paths of both frames"),
    row!("bounds" => Bounds, "m", "required", "bounds of the distance"),
];

/// Fields that all path constraints have.
pub(in crate::study::file) const CONSTRAINT: &[Field] = &[
    row!("type" => Text, "", "required", "one of the types below; `formula` if a formula is given"),
    row!("name" => Text, "", "its type", "name in reports"),
    row!("bounds" => Bounds, "the constraint's", "0", "of its values"),
];

//! Types of goals.

use super::{Class, Field, Kind};

const FRAMES: Field = row!("frames" => Texts, "", "all frames in the table", "paths of the frames");
const EXPONENT: Field = row!("exponent" => Number, "", "2", "exponent of each value");
const STATES_TABLE: Field =
    row!("states_reference" => Reference, "", "none", "states to compute the reference from");
const FORWARD: Field = row!("forward" => Text, "", "positive-x", "direction of walking");
const UNUSED: Field =
    row!("allow_unused" => Boolean, "", "false", "columns that do not match the model are ignored");
const CONTACT_GROUPS: Field =
    row!("groups" => ContactGroups, "", "required", "contacts and the measured force they correspond to");
const LOADS: Field = row!("loads" => File, "", "required", "measured forces: an XML file with ExternalLoads");
pub(super) const PROJECTION: Field =
    row!("projection" => Text, "", "none", "`none`, `vector` or `plane`: which part of the error is used");
pub(super) const PROJECTION_VECTOR: Field =
    row!("projection_vector" => Numbers, "", "required for a projection", "direction in ground");
const STATE_WEIGHTS: Field = row!("weights" => Weights, "", "1", "by name of the state");
const PATTERNS: Field = row!("weight_patterns" => Weights, "", "none",
        "by regular expression; later entries take precedence, and names over all");
const PATTERN: Field = row!("pattern" => Text, "", "all", "regular expression: only matching states");
pub(super) const OUTPUT: &[Field] = &[
    row!("output" => Text, "", "required", "path of the output, `/component|output`"),
    row!("second_output" => Text, "", "none", "another output to combine it with"),
    row!("operation" => Text, "", "none", "`addition`, `subtraction`, `multiplication` or `division`"),
    row!("exponent" => Number, "", "1", "exponent of the value"),
    row!("index" => Number, "", "norm", "index of the vector component, from 0"),
];

/// A table file and what is done to it.
pub(in crate::study::file) const REFERENCE: &[Field] = &[
    row!("file" => File, "", "required", "the table"),
    row!("lowpass_hz" => Number, "Hz", "none", "cutoff frequency of a filter"),
    row!("speeds" => Boolean, "", "false", "speeds are added as derivatives of the values"),
    row!("operators" => Texts, "", "radians and full names",
        "operations in this order, instead of `lowpass_hz` and `speeds`: `radians`, `absolute_state_names`, `coupled_coordinates`, `speeds`, `{ lowpass_hz }`"),
];

/// A group of contacts.
pub(in crate::study::file) const CONTACT_GROUP: &[Field] = &[
    row!("forces" => Texts, "", "required", "paths of the contact forces"),
    row!("external_force" => Text, "", "required", "name of the measured force"),
    row!("frames" => Texts, "", "none", "alternative frames for that of the measured force"),
];

/// Types of goals.
pub(in crate::study::file) const GOALS: &[Class] = &[
    Class { name: "final_time", class: "MocoFinalTimeGoal", fields: &[], help: "the final time, s" },
    Class {
        name: "average_speed",
        class: "MocoAverageSpeedGoal",
        fields: &[row!("speed" => Number, "m/s", "0", "of the mass centre")],
        help: "average speed, distance divided by duration (constraint)",
    },
    Class {
        name: "control",
        class: "MocoControlGoal",
        fields: &[EXPONENT, row!("weights" => Weights, "", "1", "by name of the control"), PATTERNS],
        help: "∫ Σ w |e|ᵖ dt: effort",
    },
    Class {
        name: "sum_squared_state",
        class: "MocoSumSquaredStateGoal",
        fields: &[PATTERN, STATE_WEIGHTS, PATTERNS],
        help: "∫ Σ w x² dt",
    },
    Class {
        name: "state_tracking",
        class: "MocoStateTrackingGoal",
        fields: &[
            row!("reference" => Reference, "", "required", "states or coordinates over time"),
            PATTERN,
            STATE_WEIGHTS,
            PATTERNS,
            row!("scale_weights_with_range" => Boolean, "", "false", "divide weights by the range of the data"),
            UNUSED,
        ],
        help: "∫ Σ w (x − x_ref)² dt",
    },
    Class {
        name: "control_tracking",
        class: "MocoControlTrackingGoal",
        fields: &[
            row!("reference" => Reference, "", "required", "controls over time"),
            row!("weights" => Weights, "", "1", "by name of the control"),
            PATTERNS,
            UNUSED,
        ],
        help: "∫ Σ w (e − e_ref)² dt",
    },
    Class {
        name: "marker_final",
        class: "MocoMarkerFinalGoal",
        fields: &[
            row!("marker" => Text, "", "required", "path or name of the marker"),
            row!("location" => Numbers, "m", "[0, 0, 0]", "in ground"),
        ],
        help: "squared distance of a marker from a target at the final time, m²",
    },
    Class {
        name: "marker_tracking",
        class: "MocoMarkerTrackingGoal",
        fields: &[
            row!("reference" => File, "", "required", "markers over time (.trc)"),
            row!("weights" => Weights, "", "default_weight", "by name of the marker"),
            row!("default_weight" => Number, "", "1", "weight of markers without one"),
            UNUSED,
        ],
        help: "tracks measured markers",
    },
    Class {
        name: "translation_tracking",
        class: "MocoTranslationTrackingGoal",
        fields: &[
            STATES_TABLE,
            row!("reference" => File, "m", "none", "positions of frames over time"),
            FRAMES,
            row!("weights" => Weights, "", "1", "by path of the frame"),
        ],
        help: "tracks positions of frames",
    },
    Class {
        name: "orientation_tracking",
        class: "MocoOrientationTrackingGoal",
        fields: &[
            STATES_TABLE,
            row!("reference" => File, "", "none", "orientations of frames over time"),
            FRAMES,
            row!("weights" => Weights, "", "1", "by path of the frame"),
        ],
        help: "tracks orientations of frames",
    },
    Class {
        name: "angular_velocity_tracking",
        class: "MocoAngularVelocityTrackingGoal",
        fields: &[
            STATES_TABLE,
            row!("reference" => File, "rad/s", "none", "angular velocities over time"),
            FRAMES,
            row!("weights" => Weights, "", "1", "by path of the frame"),
        ],
        help: "tracks angular velocities of frames",
    },
    Class {
        name: "acceleration_tracking",
        class: "MocoAccelerationTrackingGoal",
        fields: &[
            row!("reference" => File, "m/s²", "required", "accelerations over time"),
            FRAMES,
            row!("weights" => Weights, "", "1", "by path of the frame"),
            row!("gravity_offset" => Boolean, "", "false", "subtract gravity, as accelerometers measure"),
            row!("in_frames" => Boolean, "", "false", "express in the frames instead of in ground"),
        ],
        help: "tracks accelerations of frames",
    },
    Class {
        name: "contact_tracking",
        class: "MocoContactTrackingGoal",
        fields: &[
            CONTACT_GROUPS,
            LOADS,
            PROJECTION,
            PROJECTION_VECTOR,
            row!("normalize" => Boolean, "", "false", "divide errors by the peak of the data"),
        ],
        help: "tracks measured contact forces",
    },
    Class {
        name: "contact_impulse_tracking",
        class: "MocoContactImpulseTrackingGoal",
        fields: &[CONTACT_GROUPS, LOADS, row!("axis" => Number, "", "required", "0, 1 or 2: x, y or z")],
        help: "tracks measured contact impulses",
    },
    Class {
        name: "generalized_force_tracking",
        class: "MocoGeneralizedForceTrackingGoal",
        fields: &[
            row!("reference" => Reference, "", "required", "generalized forces over time"),
            row!("forces" => Texts, "", "all", "forces included"),
            row!("weights" => Weights, "", "1", "by name of the generalized force"),
            PATTERNS,
            UNUSED,
            row!("normalize" => Boolean, "", "false", "divide errors by the peak of the data"),
            row!("ignore_constrained" => Boolean, "", "true",
                "ignore coordinates that are determined by constraints"),
        ],
        help: "tracks joint moments",
    },
    Class {
        name: "joint_reaction",
        class: "MocoJointReactionGoal",
        fields: &[
            row!("joint" => Text, "", "required", "path of the joint"),
            row!("on" => Text, "", "parent", "`parent` or `child`: the body the load acts on"),
            row!("in_frame" => Text, "", "the joint frame on that body", "frame in which it is expressed"),
            row!("measures" => Texts, "", "all", "`force-x`, …, `moment-z`"),
            row!("weights" => Weights, "", "1", "by measure"),
        ],
        help: "∫ Σ w R² dt / (m g): joint loads",
    },
    Class {
        name: "initial_activation",
        class: "MocoInitialActivationGoal",
        fields: &[],
        help: "initial activations equal excitations (constraint)",
    },
    Class {
        name: "initial_force_equilibrium",
        class: "MocoInitialForceEquilibriumDGFGoal",
        fields: &[],
        help: "initial equilibrium of fibers and tendons (constraint)",
    },
    Class {
        name: "initial_velocity_equilibrium",
        class: "MocoInitialVelocityEquilibriumDGFGoal",
        fields: &[],
        help: "initial equilibrium of fiber velocities (constraint)",
    },
    Class {
        name: "periodicity",
        class: "MocoPeriodicityGoal",
        fields: &[
            row!("states" => Pairs, "", "none", "states whose final value equals their initial value, or that of another"),
            row!("controls" => Pairs, "", "none", "controls with the same condition"),
            row!("negated_states" => Pairs, "", "none", "states whose final value is the negative of the initial value"),
            row!("negated_controls" => Pairs, "", "none", "controls with the same condition"),
        ],
        help: "periodicity (constraint)",
    },
    Class {
        name: "output",
        class: "MocoOutputGoal",
        fields: OUTPUT,
        help: "integral of a power of an output",
    },
    Class {
        name: "initial_output",
        class: "MocoInitialOutputGoal",
        fields: OUTPUT,
        help: "an output at the initial time",
    },
    Class {
        name: "final_output",
        class: "MocoFinalOutputGoal",
        fields: OUTPUT,
        help: "an output at the final time",
    },
    Class {
        name: "output_extremum",
        class: "MocoOutputExtremumGoal",
        fields: &[
            OUTPUT[0],
            OUTPUT[1],
            OUTPUT[2],
            OUTPUT[3],
            OUTPUT[4],
            row!("extremum" => Text, "", "minimum", "`minimum` or `maximum`"),
            row!("smoothing" => Number, "", "1", "sharpness of the smooth approximation of the extremum"),
        ],
        help: "the minimum or maximum of an output",
    },
    Class {
        name: "output_tracking",
        class: "MocoOutputTrackingGoal",
        fields: &[
            OUTPUT[0],
            OUTPUT[1],
            OUTPUT[2],
            OUTPUT[3],
            OUTPUT[4],
            row!("reference" => Function, "the output's", "none", "the function to track"),
        ],
        help: "tracks a function of time with an output",
    },
    Class {
        name: "output_periodicity",
        class: "MocoOutputPeriodicityGoal",
        fields: OUTPUT,
        help: "periodicity of an output (constraint)",
    },
    Class {
        name: "step_time_asymmetry",
        class: "MocoStepTimeAsymmetryGoal",
        fields: &[
            row!("left_contacts" => Texts, "", "required", "contact forces of the left foot"),
            row!("right_contacts" => Texts, "", "required", "contact forces of the right foot"),
            row!("left_foot" => Text, "", "required", "the contact force that locates the left foot"),
            row!("right_foot" => Text, "", "required", "the contact force that locates the right foot"),
            row!("target" => Number, "", "0", "target asymmetry, −1 to 1"),
            row!("threshold" => Number, "N", "25", "force threshold for contact"),
            row!("up" => Text, "", "positive-y", "direction of the contact force"),
            FORWARD,
            row!("contact_smoothing" => Number, "", "0.25", "smoothing of contact detection"),
            row!("smoothing" => Number, "", "10", "smoothing of the transition between feet"),
        ],
        help: "step-time asymmetry",
    },
    Class {
        name: "step_length_asymmetry",
        class: "MocoStepLengthAsymmetryGoal",
        fields: &[
            row!("left_foot" => Text, "", "required", "frame of the left foot"),
            row!("right_foot" => Text, "", "required", "frame of the right foot"),
            row!("target" => Number, "", "0", "target asymmetry, −1 to 1"),
            row!("stride" => Number, "m", "required", "length of a stride"),
            FORWARD,
            row!("smoothing" => Number, "", "5", "smoothing of the transition between feet"),
        ],
        help: "step-length asymmetry",
    },
    Class {
        name: "formula",
        class: "",
        fields: &[
            row!("formula" => Formula, "", "required", "the quantity to minimise or constrain: docs/guide/formulas.md"),
            row!("when" => Text, "", "integral",
                "how a formula of time-varying quantities is reduced: `integral`, `initial` or `final`"),
        ],
        help: "a formula of model quantities",
    },
    Class {
        name: "expression",
        class: "MocoExpressionBasedParameterGoal",
        fields: &[
            row!("expression" => Text, "", "required", "formula of the variables"),
            row!("parameters" => Texts, "", "required", "names of parameters of the study"),
            row!("variables" => Texts, "", "required", "their names in the formula, in the same order"),
        ],
        help: "a formula of parameters",
    },
];

//! Types of goals.

use super::{Class, Field, Kind};

const FRAMES: Field = row!("frames" => Texts, "", "all in the table", "paths of the frames");
const EXPONENT: Field = row!("exponent" => Number, "", "2", "power of each value");
const STATES_TABLE: Field =
    row!("states_reference" => Reference, "", "none", "states to compute the reference from");
const FORWARD: Field = row!("forward" => Text, "", "positive-x", "direction of walking");
const UNUSED: Field =
    row!("allow_unused" => Boolean, "", "false", "columns that the model has nothing for are ignored");
const CONTACT_GROUPS: Field =
    row!("groups" => ContactGroups, "", "needed", "contacts and the measured force they stand for");
const LOADS: Field = row!("loads" => File, "", "needed", "measured forces: an XML file with ExternalLoads");
pub(super) const PROJECTION: Field =
    row!("projection" => Text, "", "none", "`none`, `vector` or `plane`: which part counts");
pub(super) const PROJECTION_VECTOR: Field =
    row!("projection_vector" => Numbers, "", "needed by projection", "direction in ground");
const STATE_WEIGHTS: Field = row!("weights" => Weights, "", "1", "by name of the state");
const PATTERNS: Field = row!("weight_patterns" => Weights, "", "none",
        "by regular expression; later ones win, and names over all");
const PATTERN: Field = row!("pattern" => Text, "", "all", "regular expression: only these");
pub(super) const OUTPUT: &[Field] = &[
    row!("output" => Text, "", "needed", "path of the output, `/component|output`"),
    row!("second_output" => Text, "", "none", "another output to combine it with"),
    row!("operation" => Text, "", "none", "`addition`, `subtraction`, `multiplication` or `division`"),
    row!("exponent" => Number, "", "1", "power of the value"),
    row!("index" => Number, "", "norm", "which number of a vector, from 0"),
];

/// A table file and what is done to it.
pub(in crate::study::file) const REFERENCE: &[Field] = &[
    row!("file" => File, "", "needed", "the table"),
    row!("lowpass_hz" => Number, "Hz", "none", "cutoff frequency of a filter"),
    row!("speeds" => Boolean, "", "false", "speeds are added as derivatives of the values"),
    row!("operators" => Texts, "", "radians and full names",
        "all that is done, in this order, in place of `lowpass_hz` and `speeds`: `radians`, `absolute_state_names`, `coupled_coordinates`, `speeds`, `{ lowpass_hz }`"),
];

/// A group of contacts.
pub(in crate::study::file) const CONTACT_GROUP: &[Field] = &[
    row!("forces" => Texts, "", "needed", "paths of the contact forces"),
    row!("external_force" => Text, "", "needed", "name of the measured force"),
    row!("frames" => Texts, "", "none", "frames that may stand for that of the measured force"),
];

/// Types of goals.
pub(in crate::study::file) const GOALS: &[Class] = &[
    Class { name: "final_time", class: "MocoFinalTimeGoal", fields: &[], help: "the final time, s" },
    Class {
        name: "average_speed",
        class: "MocoAverageSpeedGoal",
        fields: &[row!("speed" => Number, "m/s", "0", "of the center of mass")],
        help: "distance over duration is a given speed (constraint)",
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
            row!("reference" => Reference, "", "needed", "states or coordinates over time"),
            PATTERN,
            STATE_WEIGHTS,
            PATTERNS,
            row!("scale_weights_with_range" => Boolean, "", "false", "weights over the range of the data"),
            UNUSED,
        ],
        help: "∫ Σ w (x − x_ref)² dt",
    },
    Class {
        name: "control_tracking",
        class: "MocoControlTrackingGoal",
        fields: &[
            row!("reference" => Reference, "", "needed", "controls over time"),
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
            row!("marker" => Text, "", "needed", "path or name of the marker"),
            row!("location" => Numbers, "m", "[0, 0, 0]", "in ground"),
        ],
        help: "squared distance of a marker from a place at the end, m²",
    },
    Class {
        name: "marker_tracking",
        class: "MocoMarkerTrackingGoal",
        fields: &[
            row!("reference" => File, "", "needed", "markers over time (.trc)"),
            row!("weights" => Weights, "", "default_weight", "by name of the marker"),
            row!("default_weight" => Number, "", "1", "of markers that have none"),
            UNUSED,
        ],
        help: "markers follow measured ones",
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
        help: "positions of frames follow a table",
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
        help: "orientations of frames follow a table",
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
        help: "angular velocities of frames follow a table",
    },
    Class {
        name: "acceleration_tracking",
        class: "MocoAccelerationTrackingGoal",
        fields: &[
            row!("reference" => File, "m/s²", "needed", "accelerations over time"),
            FRAMES,
            row!("weights" => Weights, "", "1", "by path of the frame"),
            row!("gravity_offset" => Boolean, "", "false", "gravity is subtracted, as accelerometers do"),
            row!("in_frames" => Boolean, "", "false", "in the frames themselves, not in ground"),
        ],
        help: "accelerations of frames follow a table",
    },
    Class {
        name: "contact_tracking",
        class: "MocoContactTrackingGoal",
        fields: &[
            CONTACT_GROUPS,
            LOADS,
            PROJECTION,
            PROJECTION_VECTOR,
            row!("normalize" => Boolean, "", "false", "errors over the peak of the data"),
        ],
        help: "contact forces follow measured ones",
    },
    Class {
        name: "contact_impulse_tracking",
        class: "MocoContactImpulseTrackingGoal",
        fields: &[CONTACT_GROUPS, LOADS, row!("axis" => Number, "", "needed", "0, 1 or 2: x, y or z")],
        help: "impulses of contacts follow measured ones",
    },
    Class {
        name: "generalized_force_tracking",
        class: "MocoGeneralizedForceTrackingGoal",
        fields: &[
            row!("reference" => Reference, "", "needed", "generalized forces over time"),
            row!("forces" => Texts, "", "all", "forces that count"),
            row!("weights" => Weights, "", "1", "by name of the generalized force"),
            PATTERNS,
            UNUSED,
            row!("normalize" => Boolean, "", "false", "errors over the peak of the data"),
            row!("ignore_constrained" => Boolean, "", "true",
                "coordinates that constraints hold do not count"),
        ],
        help: "joint moments follow a table",
    },
    Class {
        name: "joint_reaction",
        class: "MocoJointReactionGoal",
        fields: &[
            row!("joint" => Text, "", "needed", "path of the joint"),
            row!("on" => Text, "", "parent", "`parent` or `child`: the body the load acts on"),
            row!("in_frame" => Text, "", "the joint's on that body", "frame of its components"),
            row!("measures" => Texts, "", "all", "`force-x`, …, `moment-z`"),
            row!("weights" => Weights, "", "1", "by measure"),
        ],
        help: "∫ Σ w R² dt over m g: joint loads",
    },
    Class {
        name: "initial_activation",
        class: "MocoInitialActivationGoal",
        fields: &[],
        help: "activations begin at their excitations (constraint)",
    },
    Class {
        name: "initial_force_equilibrium",
        class: "MocoInitialForceEquilibriumDGFGoal",
        fields: &[],
        help: "fibers begin in equilibrium with their tendons (constraint)",
    },
    Class {
        name: "initial_velocity_equilibrium",
        class: "MocoInitialVelocityEquilibriumDGFGoal",
        fields: &[],
        help: "fiber speeds begin in equilibrium (constraint)",
    },
    Class {
        name: "periodicity",
        class: "MocoPeriodicityGoal",
        fields: &[
            row!("states" => Pairs, "", "none", "states that end where they, or others, began"),
            row!("controls" => Pairs, "", "none", "controls that do"),
            row!("negated_states" => Pairs, "", "none", "states that end at minus the value"),
            row!("negated_controls" => Pairs, "", "none", "controls that do"),
        ],
        help: "the end meets the beginning (constraint)",
    },
    Class { name: "output", class: "MocoOutputGoal", fields: OUTPUT, help: "∫ of a power of an output" },
    Class {
        name: "initial_output",
        class: "MocoInitialOutputGoal",
        fields: OUTPUT,
        help: "an output at the beginning",
    },
    Class {
        name: "final_output",
        class: "MocoFinalOutputGoal",
        fields: OUTPUT,
        help: "an output at the end",
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
            row!("smoothing" => Number, "", "1", "how closely a smooth function follows the extremum"),
        ],
        help: "the least or greatest value of an output",
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
            row!("reference" => Function, "the output's", "none", "what it follows"),
        ],
        help: "an output follows a function of time",
    },
    Class {
        name: "output_periodicity",
        class: "MocoOutputPeriodicityGoal",
        fields: OUTPUT,
        help: "an output ends where it began (constraint)",
    },
    Class {
        name: "step_time_asymmetry",
        class: "MocoStepTimeAsymmetryGoal",
        fields: &[
            row!("left_contacts" => Texts, "", "needed", "contact forces of the left foot"),
            row!("right_contacts" => Texts, "", "needed", "contact forces of the right foot"),
            row!("left_foot" => Text, "", "needed", "the contact force that tells where the left foot is"),
            row!("right_foot" => Text, "", "needed", "the one of the right foot"),
            row!("target" => Number, "", "0", "wanted asymmetry, −1 to 1"),
            row!("threshold" => Number, "N", "25", "force that counts as contact"),
            row!("up" => Text, "", "positive-y", "direction of the contact force"),
            FORWARD,
            row!("contact_smoothing" => Number, "", "0.25", "of the detection of contact"),
            row!("smoothing" => Number, "", "10", "of the change from one foot to the other"),
        ],
        help: "left and right steps take times in a given relation",
    },
    Class {
        name: "step_length_asymmetry",
        class: "MocoStepLengthAsymmetryGoal",
        fields: &[
            row!("left_foot" => Text, "", "needed", "frame of the left foot"),
            row!("right_foot" => Text, "", "needed", "frame of the right foot"),
            row!("target" => Number, "", "0", "wanted asymmetry, −1 to 1"),
            row!("stride" => Number, "m", "needed", "length of a stride"),
            FORWARD,
            row!("smoothing" => Number, "", "5", "of the change from one foot to the other"),
        ],
        help: "left and right steps have lengths in a given relation",
    },
    Class {
        name: "formula",
        class: "",
        fields: &[
            row!("formula" => Formula, "", "needed", "what is minimized or held: docs/guide/formulas.md"),
            row!("when" => Text, "", "integral",
                "what counts where the formula does not say: `integral`, `initial` or `final`"),
        ],
        help: "a formula of quantities of the model",
    },
    Class {
        name: "expression",
        class: "MocoExpressionBasedParameterGoal",
        fields: &[
            row!("expression" => Text, "", "needed", "formula of the variables"),
            row!("parameters" => Texts, "", "needed", "names of parameters of the study"),
            row!("variables" => Texts, "", "needed", "what the formula calls them, in the same order"),
        ],
        help: "a formula of parameters",
    },
];

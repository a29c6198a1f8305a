//! Types of goals.

use super::{Class, Field, Kind};

const FRAMES: Field = row!("frames" => "frame_paths", Texts, "", "all in the table", "paths of the frames");
const EXPONENT: Field = row!("exponent" => "exponent", Number, "", "2", "power of each value");
const STATES_TABLE: Field = row!("states_reference" => "states_reference", Reference, "", "none",
    "states to compute the reference from");
const UNUSED: Field = row!("allow_unused" => "allow_unused_references", Boolean, "", "false",
    "columns that the model has nothing for are ignored");
const CONTACT_GROUPS: Field = row!("groups" => "contact_groups", ContactGroups, "", "needed",
    "contacts and the measured force they stand for");
const LOADS: Field = row!("loads" => "external_loads_file", File, "", "needed",
    "measured forces: an XML file with ExternalLoads");
pub(super) const PROJECTION: Field =
    row!("projection" => "projection", Text, "", "none", "`none`, `vector` or `plane`: which part counts");
pub(super) const PROJECTION_VECTOR: Field = row!("projection_vector" => "projection_vector", Numbers, "", "needed by projection",
    "direction in ground");
const STATE_WEIGHTS: Field = row!("weights" => "state_weights", Weights, "", "1", "by name of the state");
const PATTERN: Field = row!("pattern" => "pattern", Text, "", "all", "regular expression: only these");
pub(super) const OUTPUT: &[Field] = &[
    row!("output" => "output_path", Text, "", "needed", "path of the output, `/component|output`"),
    row!("second_output" => "second_output_path", Text, "", "none", "another output to combine it with"),
    row!("operation" => "operation", Text, "", "none",
        "`addition`, `subtraction`, `multiplication` or `division`"),
    row!("exponent" => "exponent", Number, "", "1", "power of the value"),
    row!("index" => "output_index", Number, "", "norm", "which number of a vector, from 0"),
];

/// Types of goals.
pub(in crate::study) const GOALS: &[Class] = &[
    Class { name: "final_time", class: "MocoFinalTimeGoal", fields: &[], help: "the final time, s" },
    Class {
        name: "average_speed",
        class: "MocoAverageSpeedGoal",
        fields: &[row!("speed" => "desired_average_speed", Number, "m/s", "0", "of the center of mass")],
        help: "distance over duration is a given speed (constraint)",
    },
    Class {
        name: "control",
        class: "MocoControlGoal",
        fields: &[
            EXPONENT,
            row!("weights" => "control_weights", Weights, "", "1", "by name of the control"),
            row!("weight_patterns" => "control_weights_pattern", Weights, "", "none", "by regular expression"),
        ],
        help: "∫ Σ w |e|ᵖ dt: effort",
    },
    Class {
        name: "sum_squared_state",
        class: "MocoSumSquaredStateGoal",
        fields: &[PATTERN, STATE_WEIGHTS],
        help: "∫ Σ w x² dt",
    },
    Class {
        name: "state_tracking",
        class: "MocoStateTrackingGoal",
        fields: &[
            row!("reference" => "TableProcessor", Reference, "", "needed", "states or coordinates over time"),
            PATTERN,
            STATE_WEIGHTS,
            row!("scale_weights_with_range" => "scale_weights_with_range", Boolean, "", "false",
                "weights over the range of the data"),
            UNUSED,
        ],
        help: "∫ Σ w (x − x_ref)² dt",
    },
    Class {
        name: "control_tracking",
        class: "MocoControlTrackingGoal",
        fields: &[
            row!("reference" => "TableProcessor", Reference, "", "needed", "controls over time"),
            row!("weights" => "control_weights", Weights, "", "1", "by name of the control"),
            UNUSED,
        ],
        help: "∫ Σ w (e − e_ref)² dt",
    },
    Class {
        name: "marker_final",
        class: "MocoMarkerFinalGoal",
        fields: &[
            row!("marker" => "point_name", Text, "", "needed", "path or name of the marker"),
            row!("location" => "reference_location", Numbers, "m", "[0, 0, 0]", "in ground"),
        ],
        help: "squared distance of a marker from a place at the end, m²",
    },
    Class {
        name: "translation_tracking",
        class: "MocoTranslationTrackingGoal",
        fields: &[
            STATES_TABLE,
            row!("reference" => "translation_reference_file", File, "m", "none", "positions of frames over time"),
            FRAMES,
            row!("weights" => "translation_weights", Weights, "", "1", "by path of the frame"),
        ],
        help: "positions of frames follow a table",
    },
    Class {
        name: "orientation_tracking",
        class: "MocoOrientationTrackingGoal",
        fields: &[
            STATES_TABLE,
            row!("reference" => "rotation_reference_file", File, "", "none", "orientations of frames over time"),
            FRAMES,
            row!("weights" => "rotation_weights", Weights, "", "1", "by path of the frame"),
        ],
        help: "orientations of frames follow a table",
    },
    Class {
        name: "angular_velocity_tracking",
        class: "MocoAngularVelocityTrackingGoal",
        fields: &[
            STATES_TABLE,
            row!("reference" => "angular_velocity_reference_file", File, "rad/s", "none",
                "angular velocities over time"),
            FRAMES,
            row!("weights" => "angular_velocity_weights", Weights, "", "1", "by path of the frame"),
        ],
        help: "angular velocities of frames follow a table",
    },
    Class {
        name: "acceleration_tracking",
        class: "MocoAccelerationTrackingGoal",
        fields: &[
            row!("reference" => "acceleration_reference_file", File, "m/s²", "needed", "accelerations over time"),
            FRAMES,
            row!("weights" => "acceleration_weights", Weights, "", "1", "by path of the frame"),
            row!("gravity_offset" => "gravity_offset", Boolean, "", "false",
                "gravity is subtracted, as accelerometers do"),
            row!("in_frames" => "express_accelerations_in_tracking_frames", Boolean, "", "false",
                "in the frames themselves, not in ground"),
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
            row!("normalize" => "normalize_tracking_error", Boolean, "", "false",
                "errors over the peak of the data"),
        ],
        help: "contact forces follow measured ones",
    },
    Class {
        name: "contact_impulse_tracking",
        class: "MocoContactImpulseTrackingGoal",
        fields: &[
            CONTACT_GROUPS,
            LOADS,
            row!("axis" => "impulse_axis", Number, "", "needed", "0, 1 or 2: x, y or z"),
        ],
        help: "impulses of contacts follow measured ones",
    },
    Class {
        name: "generalized_force_tracking",
        class: "MocoGeneralizedForceTrackingGoal",
        fields: &[
            row!("reference" => "TableProcessor", Reference, "", "needed", "generalized forces over time"),
            row!("forces" => "force_paths", Texts, "", "all", "forces that count"),
            row!("weights" => "generalized_force_weights", Weights, "", "1", "by name of the generalized force"),
            row!("weight_patterns" => "generalized_force_weights_pattern", Weights, "", "none",
                "by regular expression"),
            UNUSED,
            row!("normalize" => "normalize_tracking_error", Boolean, "", "false",
                "errors over the peak of the data"),
            row!("ignore_constrained" => "ignore_constrained_coordinates", Boolean, "", "true",
                "coordinates that constraints hold do not count"),
        ],
        help: "joint moments follow a table",
    },
    Class {
        name: "joint_reaction",
        class: "MocoJointReactionGoal",
        fields: &[
            row!("joint" => "joint_path", Text, "", "needed", "path of the joint"),
            row!("on" => "loads_frame", Text, "", "parent", "`parent` or `child`: the body the load acts on"),
            row!("in_frame" => "expressed_in_frame_path", Text, "", "the joint's on that body", "frame of its components"),
            row!("measures" => "reaction_measures", Texts, "", "all", "`force-x`, …, `moment-z`"),
            row!("weights" => "reaction_weights", Weights, "", "1", "by measure"),
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
            row!("states" => "state_pairs", Pairs, "", "none", "states that end where they, or others, began"),
            row!("controls" => "control_pairs", Pairs, "", "none", "controls that do"),
            row!("negated_states" => "state_pairs", Pairs, "", "none", "states that end at minus the value"),
            row!("negated_controls" => "control_pairs", Pairs, "", "none", "controls that do"),
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
        name: "expression",
        class: "MocoExpressionBasedParameterGoal",
        fields: &[
            row!("expression" => "expression", Text, "", "needed", "formula of the variables"),
            row!("parameters" => "parameters", Parameters, "", "needed", "names of parameters of the study"),
            row!("variables" => "variables", Texts, "", "needed",
                "what the formula calls them, in the same order"),
        ],
        help: "a formula of parameters",
    },
];

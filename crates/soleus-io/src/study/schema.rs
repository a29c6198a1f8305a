//! Every field of a study file: what it holds, its unit and what it is when left out.
//!
//! Reader, suggestions and the reference in the guide all come from these lists.

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text.
    Text,
    /// The name of a file, taken from the folder of the study.
    File,
    /// A number; `inf` and `-inf` too.
    Number,
    /// A whole number, at least one.
    Count,
    /// `true` or `false`.
    Boolean,
    /// One number, or `[lower, upper]`.
    Bounds,
    /// A list of numbers.
    Numbers,
    /// A list of texts.
    Texts,
    /// A table from names to numbers.
    Weights,
    /// A table file, with operators on it.
    Reference,
    /// A list of variables at both ends: a name for `[name, name]`.
    Pairs,
    /// A list of tables that name contacts and the measured force they stand for.
    ContactGroups,
    /// A list of tables of two frames and their distances.
    FramePairs,
    /// A constant function of time.
    Constant,
    /// Fields of their own.
    Table,
    /// A list of tables with fields of their own.
    Tables,
}

impl Kind {
    /// In words, for messages and the guide.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::File => "file",
            Kind::Number | Kind::Constant => "number",
            Kind::Count => "whole number",
            Kind::Boolean => "true or false",
            Kind::Bounds => "number or [lower, upper]",
            Kind::Numbers => "list of numbers",
            Kind::Texts => "list of texts",
            Kind::Weights => "table name = number",
            Kind::Reference => "file, or { file, lowpass_hz, speeds }",
            Kind::Pairs => "list of names or [initial, final]",
            Kind::ContactGroups => "list of { forces, external_force, frames }",
            Kind::FramePairs => "list of { frames = [a, b], bounds }",
            Kind::Table => "table",
            Kind::Tables => "list of tables",
        }
    }
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub name: &'static str,
    /// The property that OpenSim has for it; empty where it has none.
    pub property: &'static str,
    pub kind: Kind,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// What it is when left out, in words.
    pub default: &'static str,
    pub help: &'static str,
}

/// A kind of goal, path constraint or operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// `type` in the study file.
    pub name: &'static str,
    /// Class in OpenSim.
    pub class: &'static str,
    pub fields: &'static [Field],
    pub help: &'static str,
}

const fn field(
    name: &'static str,
    property: &'static str,
    kind: Kind,
    unit: &'static str,
    default: &'static str,
    help: &'static str,
) -> Field {
    Field { name, property, kind, unit, default, help }
}

use Kind::*;

/// The outermost table.
pub(super) const STUDY: &[Field] = &[
    field("name", "", Text, "", "name of the file", "names results and the report"),
    field("model", "", File, "", "needed", "an `.osim` file, or `builtin:reach`"),
    field(
        "kinematics",
        "",
        File,
        "",
        "none",
        "motion of all coordinates that is given; they leave the problem",
    ),
    field("operators", "", Tables, "", "none", "changes of the model before all else, in their order"),
    field("time", "", Table, "", "needed", "when the motion begins and ends"),
    field("defaults", "", Table, "", "see there", "bounds of what has none of its own"),
    field("states", "", Tables, "", "model's", "bounds of states"),
    field("controls", "", Tables, "", "model's", "bounds of controls"),
    field("parameters", "", Tables, "", "none", "properties of the model to be found"),
    field("goals", "", Tables, "", "none", "what is minimized, and what holds between the ends"),
    field("path_constraints", "", Tables, "", "none", "what holds all the time"),
    field("solver", "", Table, "", "see there", "mesh, scheme, tolerances"),
    field("refine", "", Table, "", "off", "meshes that get finer until the motion is right"),
    field("guess", "", Table, "", "from bounds", "where to start"),
    field("output", "", Table, "", "see there", "files to write"),
];

/// `[time]`.
pub(super) const TIME: &[Field] = &[
    field("initial", "", Bounds, "s", "0", "initial time"),
    field("final", "", Bounds, "s", "needed", "final time; two numbers leave it free between them"),
];

/// `[defaults]`.
pub(super) const DEFAULTS: &[Field] = &[
    field("speeds", "default_speed_bounds", Bounds, "rad/s, m/s", "[-50, 50]", "speeds of coordinates"),
    field(
        "multipliers",
        "multiplier_bounds",
        Bounds,
        "N, N·m",
        "[-1000, 1000]",
        "multipliers of kinematic constraints",
    ),
    field(
        "activations_from_excitations",
        "bound_activation_from_excitation",
        Boolean,
        "",
        "true",
        "activations have the bounds of their excitations",
    ),
];

/// `[[states]]` and `[[controls]]`.
pub(super) const VARIABLE: &[Field] = &[
    field("name", "", Text, "", "name or pattern", "path of the variable, or the end of it: `knee/value`"),
    field(
        "pattern",
        "",
        Text,
        "",
        "name or pattern",
        "regular expression for whole names; names win over patterns",
    ),
    field("bounds", "bounds", Bounds, "SI", "model's", "bounds at all times"),
    field("initial", "initial_bounds", Bounds, "SI", "bounds", "bounds at the initial time"),
    field("final", "final_bounds", Bounds, "SI", "bounds", "bounds at the final time"),
    field("bounds_deg", "bounds", Bounds, "degrees", "", "the same in degrees"),
    field("initial_deg", "initial_bounds", Bounds, "degrees", "", "the same in degrees"),
    field("final_deg", "final_bounds", Bounds, "degrees", "", "the same in degrees"),
];

/// `[[parameters]]`.
pub(super) const PARAMETER: &[Field] = &[
    field("name", "", Text, "", "needed", "its name in the solution"),
    field("components", "component_paths", Texts, "", "needed", "components that share the value"),
    field("property", "property_name", Text, "", "needed", "property, as the model file calls it"),
    field("element", "property_element", Number, "", "0", "which number of a vector, from 0"),
    field("bounds", "", Bounds, "the property's", "needed", "bounds of the value"),
];

/// Fields that all goals have.
pub(super) const GOAL: &[Field] = &[
    field("type", "", Text, "", "needed", "one of those below"),
    field("name", "", Text, "", "its type", "its name in reports"),
    field("weight", "weight", Number, "", "1", "factor of the cost"),
    field("mode", "mode", Text, "", "the type's", "`cost` or `constraint`"),
    field("bounds", "", Bounds, "the goal's", "0", "of a constraint's values"),
    field(
        "divide_by_displacement",
        "divide_by_displacement",
        Boolean,
        "",
        "false",
        "cost per metre travelled",
    ),
    field("divide_by_duration", "divide_by_duration", Boolean, "", "false", "cost per second"),
    field("divide_by_mass", "divide_by_mass", Boolean, "", "false", "cost per kilogram"),
];

const FRAMES: Field = field("frames", "frame_paths", Texts, "", "all in the table", "paths of the frames");
const EXPONENT: Field = field("exponent", "exponent", Number, "", "2", "power of each value");
const STATES_TABLE: Field = field(
    "states_reference",
    "states_reference",
    Reference,
    "",
    "none",
    "states to compute the reference from",
);
const UNUSED: Field = field(
    "allow_unused",
    "allow_unused_references",
    Boolean,
    "",
    "false",
    "columns that the model has nothing for are ignored",
);
const CONTACT_GROUPS: Field = field(
    "groups",
    "contact_groups",
    ContactGroups,
    "",
    "needed",
    "contacts and the measured force they stand for",
);
const LOADS: Field = field(
    "loads",
    "external_loads_file",
    File,
    "",
    "needed",
    "measured forces: an XML file with ExternalLoads",
);
const PROJECTION: Field =
    field("projection", "projection", Text, "", "none", "`none`, `vector` or `plane`: which part counts");
const PROJECTION_VECTOR: Field = field(
    "projection_vector",
    "projection_vector",
    Numbers,
    "",
    "needed by projection",
    "direction in ground",
);
const STATE_WEIGHTS: Field = field("weights", "state_weights", Weights, "", "1", "by name of the state");
const PATTERN: Field = field("pattern", "pattern", Text, "", "all", "regular expression: only these");
const OUTPUT: &[Field] = &[
    field("output", "output_path", Text, "", "needed", "path of the output, `/component|output`"),
    field("second_output", "second_output_path", Text, "", "none", "another output to combine it with"),
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
];

/// Types of goals.
pub(super) const GOALS: &[Class] = &[
    Class { name: "final_time", class: "MocoFinalTimeGoal", fields: &[], help: "the final time, s" },
    Class {
        name: "average_speed",
        class: "MocoAverageSpeedGoal",
        fields: &[field("speed", "desired_average_speed", Number, "m/s", "0", "of the center of mass")],
        help: "distance over duration is a given speed (constraint)",
    },
    Class {
        name: "control",
        class: "MocoControlGoal",
        fields: &[
            EXPONENT,
            field("weights", "control_weights", Weights, "", "1", "by name of the control"),
            field("weight_patterns", "control_weights_pattern", Weights, "", "none", "by regular expression"),
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
            field("reference", "TableProcessor", Reference, "", "needed", "states or coordinates over time"),
            PATTERN,
            STATE_WEIGHTS,
            field(
                "scale_weights_with_range",
                "scale_weights_with_range",
                Boolean,
                "",
                "false",
                "weights over the range of the data",
            ),
            UNUSED,
        ],
        help: "∫ Σ w (x − x_ref)² dt",
    },
    Class {
        name: "control_tracking",
        class: "MocoControlTrackingGoal",
        fields: &[
            field("reference", "TableProcessor", Reference, "", "needed", "controls over time"),
            field("weights", "control_weights", Weights, "", "1", "by name of the control"),
            UNUSED,
        ],
        help: "∫ Σ w (e − e_ref)² dt",
    },
    Class {
        name: "marker_final",
        class: "MocoMarkerFinalGoal",
        fields: &[
            field("marker", "point_name", Text, "", "needed", "path or name of the marker"),
            field("location", "reference_location", Numbers, "m", "[0, 0, 0]", "in ground"),
        ],
        help: "squared distance of a marker from a place at the end, m²",
    },
    Class {
        name: "translation_tracking",
        class: "MocoTranslationTrackingGoal",
        fields: &[
            STATES_TABLE,
            field(
                "reference",
                "translation_reference_file",
                File,
                "m",
                "none",
                "positions of frames over time",
            ),
            FRAMES,
            field("weights", "translation_weights", Weights, "", "1", "by path of the frame"),
        ],
        help: "positions of frames follow a table",
    },
    Class {
        name: "orientation_tracking",
        class: "MocoOrientationTrackingGoal",
        fields: &[
            STATES_TABLE,
            field(
                "reference",
                "rotation_reference_file",
                File,
                "",
                "none",
                "orientations of frames over time",
            ),
            FRAMES,
            field("weights", "rotation_weights", Weights, "", "1", "by path of the frame"),
        ],
        help: "orientations of frames follow a table",
    },
    Class {
        name: "angular_velocity_tracking",
        class: "MocoAngularVelocityTrackingGoal",
        fields: &[
            STATES_TABLE,
            field(
                "reference",
                "angular_velocity_reference_file",
                File,
                "rad/s",
                "none",
                "angular velocities over time",
            ),
            FRAMES,
            field("weights", "angular_velocity_weights", Weights, "", "1", "by path of the frame"),
        ],
        help: "angular velocities of frames follow a table",
    },
    Class {
        name: "acceleration_tracking",
        class: "MocoAccelerationTrackingGoal",
        fields: &[
            field(
                "reference",
                "acceleration_reference_file",
                File,
                "m/s²",
                "needed",
                "accelerations over time",
            ),
            FRAMES,
            field("weights", "acceleration_weights", Weights, "", "1", "by path of the frame"),
            field(
                "gravity_offset",
                "gravity_offset",
                Boolean,
                "",
                "false",
                "gravity is subtracted, as accelerometers do",
            ),
            field(
                "in_frames",
                "express_accelerations_in_tracking_frames",
                Boolean,
                "",
                "false",
                "in the frames themselves, not in ground",
            ),
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
            field(
                "normalize",
                "normalize_tracking_error",
                Boolean,
                "",
                "false",
                "errors over the peak of the data",
            ),
        ],
        help: "contact forces follow measured ones",
    },
    Class {
        name: "contact_impulse_tracking",
        class: "MocoContactImpulseTrackingGoal",
        fields: &[
            CONTACT_GROUPS,
            LOADS,
            field("axis", "impulse_axis", Number, "", "needed", "0, 1 or 2: x, y or z"),
        ],
        help: "impulses of contacts follow measured ones",
    },
    Class {
        name: "generalized_force_tracking",
        class: "MocoGeneralizedForceTrackingGoal",
        fields: &[
            field("reference", "TableProcessor", Reference, "", "needed", "generalized forces over time"),
            field("forces", "force_paths", Texts, "", "all", "forces that count"),
            field(
                "weights",
                "generalized_force_weights",
                Weights,
                "",
                "1",
                "by name of the generalized force",
            ),
            field(
                "weight_patterns",
                "generalized_force_weights_pattern",
                Weights,
                "",
                "none",
                "by regular expression",
            ),
            UNUSED,
            field(
                "normalize",
                "normalize_tracking_error",
                Boolean,
                "",
                "false",
                "errors over the peak of the data",
            ),
            field(
                "ignore_constrained",
                "ignore_constrained_coordinates",
                Boolean,
                "",
                "true",
                "coordinates that constraints hold do not count",
            ),
        ],
        help: "joint moments follow a table",
    },
    Class {
        name: "joint_reaction",
        class: "MocoJointReactionGoal",
        fields: &[
            field("joint", "joint_path", Text, "", "needed", "path of the joint"),
            field("on", "loads_frame", Text, "", "parent", "`parent` or `child`: the body the load acts on"),
            field("in_frame", "expressed_in_frame_path", Text, "", "/ground", "frame of its components"),
            field("measures", "reaction_measures", Texts, "", "all", "`force-x`, …, `moment-z`"),
            field("weights", "reaction_weights", Weights, "", "1", "by measure"),
        ],
        help: "∫ Σ w R² dt over (m g)²: joint loads",
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
            field("states", "state_pairs", Pairs, "", "none", "states that end where they, or others, began"),
            field("controls", "control_pairs", Pairs, "", "none", "controls that do"),
            field("negated_states", "state_pairs", Pairs, "", "none", "states that end at minus the value"),
            field("negated_controls", "control_pairs", Pairs, "", "none", "controls that do"),
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
        fields: &[field("expression", "expression", Text, "", "needed", "formula of parameters")],
        help: "a formula of parameters",
    },
];

/// Types of path constraints.
pub(super) const CONSTRAINTS: &[Class] = &[
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
pub(super) const CONSTRAINT: &[Field] = &[
    field("type", "", Text, "", "needed", "one of those below"),
    field("name", "", Text, "", "its type", "its name in reports"),
    field("bounds", "", Bounds, "the constraint's", "0", "of its values"),
];

const BOUND: Field = field("bound", "bound", Number, "", "none", "controls lie between −bound and bound");
const SKIP: Field = field(
    "skip_actuated",
    "skip_coordinates_with_actuators",
    Boolean,
    "",
    "true",
    "coordinates that have an actuator get none",
);

/// Fields that all operators have.
pub(super) const OPERATOR: &[Field] = &[field("type", "", Text, "", "needed", "one of those below")];

/// Operators on the model.
pub(super) const OPERATORS: &[Class] = &[
    Class {
        name: "add_external_loads",
        class: "ModOpAddExternalLoads",
        fields: &[field("file", "filepath", File, "", "needed", "an XML file with ExternalLoads")],
        help: "measured forces act on the model",
    },
    Class {
        name: "add_reserves",
        class: "ModOpAddReserves",
        fields: &[
            field("optimal_force", "optimal_force", Number, "N, N·m", "1", "force at a control of 1"),
            BOUND,
            SKIP,
            field(
                "skip_residuals",
                "skip_residual_coordinates",
                Boolean,
                "",
                "false",
                "coordinates between ground and the first body get none",
            ),
        ],
        help: "an actuator for every coordinate",
    },
    Class {
        name: "add_residuals",
        class: "ModOpAddResiduals",
        fields: &[
            field(
                "rotational_force",
                "rotational_optimal_force",
                Number,
                "N·m",
                "1",
                "moment at a control of 1",
            ),
            field(
                "translational_force",
                "translational_optimal_force",
                Number,
                "N",
                "1",
                "force at a control of 1",
            ),
            BOUND,
            SKIP,
        ],
        help: "actuators between ground and the model",
    },
    Class { name: "remove_muscles", class: "ModOpRemoveMuscles", fields: &[], help: "takes all muscles out" },
    Class {
        name: "replace_joints_with_welds",
        class: "ModOpReplaceJointsWithWelds",
        fields: &[field("joints", "joint_paths", Texts, "", "needed", "paths of the joints")],
        help: "joints that do not move",
    },
    Class {
        name: "ignore_activation_dynamics",
        class: "ModOpIgnoreActivationDynamics",
        fields: &[],
        help: "activations are excitations",
    },
    Class {
        name: "ignore_tendon_compliance",
        class: "ModOpIgnoreTendonCompliance",
        fields: &[],
        help: "tendons are rigid",
    },
    Class {
        name: "scale_max_isometric_force",
        class: "ModOpScaleMaxIsometricForce",
        fields: &[field("factor", "scale_factor", Number, "", "1", "for all muscles")],
        help: "stronger or weaker muscles",
    },
    Class {
        name: "replace_muscles_with_path_actuators",
        class: "ModOpReplaceMusclesWithPathActuators",
        fields: &[],
        help: "plain forces along the paths of muscles",
    },
    Class {
        name: "replace_muscles_with_degroote_fregly_2016",
        class: "ModOpReplaceMusclesWithDeGrooteFregly2016",
        fields: &[],
        help: "smooth muscles made for optimal control",
    },
    Class {
        name: "replace_paths",
        class: "ModOpReplacePathsWithFunctionBasedPaths",
        fields: &[field(
            "file",
            "paths_file",
            File,
            "",
            "needed",
            "FunctionBasedPaths, as `soleus fit-paths` writes",
        )],
        help: "polynomials in place of muscle paths",
    },
    Class {
        name: "tendon_compliance_dynamics_mode",
        class: "ModOpTendonComplianceDynamicsModeDGF",
        fields: &[field("mode", "mode", Text, "", "explicit", "`explicit` or `implicit`")],
        help: "which equation De Groote–Fregly muscles solve",
    },
    Class {
        name: "ignore_passive_fiber_forces",
        class: "ModOpIgnorePassiveFiberForcesDGF",
        fields: &[],
        help: "fibers resist no stretch",
    },
    Class {
        name: "passive_fiber_strain",
        class: "ModOpPassiveFiberStrainAtOneNormForceDGF",
        fields: &[field(
            "strain",
            "passive_fiber_strain_at_one_norm_force",
            Number,
            "",
            "0.6",
            "at maximal isometric force",
        )],
        help: "how stiff fibers are",
    },
    Class {
        name: "scale_active_fiber_force_curve_width",
        class: "ModOpScaleActiveFiberForceCurveWidthDGF",
        fields: &[field("factor", "scale_factor", Number, "", "1", "for all muscles")],
        help: "wider or narrower force–length curves",
    },
    Class {
        name: "fiber_damping",
        class: "ModOpFiberDampingDGF",
        fields: &[field("damping", "fiber_damping", Number, "", "0", "for all muscles")],
        help: "damping of fibers",
    },
];

/// `[solver]`.
pub(super) const SOLVER: &[Field] = &[
    field(
        "scheme",
        "transcription_scheme",
        Text,
        "",
        "hermite-simpson",
        "`trapezoidal`, `hermite-simpson`, `midpoint`, `backward-euler`, `legendre-gauss-N`, `legendre-gauss-radau-N` with N from 1 to 9",
    ),
    field("intervals", "num_mesh_intervals", Count, "", "100", "equal mesh intervals"),
    field("mesh", "mesh", Numbers, "", "equal intervals", "mesh points from 0 to 1"),
    field(
        "dynamics",
        "multibody_dynamics_mode",
        Text,
        "",
        "explicit",
        "`explicit` or `implicit`: accelerations without or with bounds and costs",
    ),
    field(
        "interpolate_controls",
        "interpolate_control_mesh_interior_points",
        Boolean,
        "",
        "true",
        "controls inside an interval lie on a line",
    ),
    field(
        "constrain_interior",
        "enforce_path_constraint_mesh_interior_points",
        Boolean,
        "",
        "false",
        "path constraints hold inside intervals too",
    ),
    field(
        "constraint_method",
        "kinematic_constraint_method",
        Text,
        "",
        "Posa2016",
        "`Posa2016` or `Bordalba2023`",
    ),
    field(
        "constraint_derivatives",
        "enforce_constraint_derivatives",
        Boolean,
        "",
        "true",
        "kinematic constraints hold for speeds and accelerations too",
    ),
    field("tolerance", "", Number, "", "1e-6", "of the optimality conditions"),
    field(
        "constraint_tolerance",
        "optim_constraint_tolerance",
        Number,
        "the constraint's",
        "1e-4",
        "of constraints",
    ),
    field("max_iterations", "optim_max_iterations", Count, "", "3000", "iterations before it gives up"),
    field("barrier", "", Number, "", "0.1", "first barrier parameter; a small one stays close to the guess"),
    field("threads", "", Count, "", "cores", "threads; results do not depend on them"),
    field("multiplier_weight", "lagrange_multiplier_weight", Number, "", "0", "cost of squared multipliers"),
    field(
        "acceleration_weight",
        "implicit_multibody_accelerations_weight",
        Number,
        "",
        "0",
        "cost of squared accelerations, implicit only",
    ),
    field(
        "auxiliary_weight",
        "implicit_auxiliary_derivatives_weight",
        Number,
        "",
        "0",
        "cost of squared rates of implicit muscle states",
    ),
    field(
        "projection_weight",
        "state_projection_distance_weight",
        Number,
        "",
        "1e-6",
        "cost of the distance of projected states",
    ),
    field(
        "velocity_corrections",
        "velocity_correction_bounds",
        Bounds,
        "",
        "[-0.1, 0.1]",
        "corrections of Posa's method",
    ),
    field(
        "projection_multipliers",
        "projection_slack_variable_bounds",
        Bounds,
        "",
        "[-0.001, 0.001]",
        "multipliers of Bordalba's method",
    ),
    field(
        "accelerations",
        "implicit_multibody_acceleration_bounds",
        Bounds,
        "rad/s², m/s²",
        "[-1000, 1000]",
        "accelerations, implicit only",
    ),
    field(
        "auxiliary_rates",
        "implicit_auxiliary_derivative_bounds",
        Bounds,
        "1/s",
        "[-1000, 1000]",
        "rates of implicit muscle states",
    ),
];

/// Weights of the solver that count only if a flag of OpenSim's says so.
pub(super) const WEIGHT_FLAGS: &[(&str, &str)] = &[
    ("multiplier_weight", "minimize_lagrange_multipliers"),
    ("acceleration_weight", "minimize_implicit_multibody_accelerations"),
    ("auxiliary_weight", "minimize_implicit_auxiliary_derivatives"),
    ("projection_weight", "minimize_state_projection_distance"),
];

/// `[refine]`.
pub(super) const REFINE: &[Field] = &[
    field(
        "tolerance",
        "",
        Number,
        "",
        "1e-4",
        "largest error of a state over an interval, relative to its size",
    ),
    field("start", "", Count, "", "solver.intervals", "equal intervals of the first mesh"),
    field("max_intervals", "", Count, "", "1000", "intervals of the last mesh at most"),
    field("max_meshes", "", Count, "", "10", "meshes at most"),
];

/// `[guess]`.
pub(super) const GUESS: &[Field] = &[
    field("file", "guess_file", File, "", "none", "a solution (.sto), by name of column"),
    field("coordinates", "", File, "", "none", "coordinates over time: inverse kinematics"),
    field("activations", "", File, "", "none", "activations over time: static optimization"),
    field(
        "time_stepping",
        "",
        Boolean,
        "",
        "false",
        "a simulation from the middle of the initial bounds under the guessed controls",
    ),
];

/// `[output]`.
pub(super) const OUTPUT_FILES: &[Field] = &[
    field("solution", "", File, "", "NAME_solution.sto", "the solution, with Moco's layout"),
    field("report", "", File, "", "none", "a page with costs, quality, plots and an animated figure"),
    field("iterate", "", File, "", "SOLUTION.iterate", "the last iterate, which `--resume` starts from"),
    field("save_every_s", "", Number, "s", "30", "time between two iterates on disk"),
];

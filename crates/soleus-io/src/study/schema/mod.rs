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
    /// A list of names of parameters.
    Parameters,
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
            Kind::Texts | Kind::Parameters => "list of texts",
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

mod constraints;
mod goals;
mod operators;

pub(super) use constraints::{CONSTRAINT, CONSTRAINTS};
pub(super) use goals::GOALS;
pub(super) use operators::{OPERATOR, OPERATORS};

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

/// `[solver]`.
pub(super) const SOLVER: &[Field] = &[
    field(
        "scheme",
        "transcription_scheme",
        Text,
        "",
        "hermite-simpson",
        "`trapezoidal`, `hermite-simpson`, `hermite-simpson-compressed` (both times fixed), `midpoint`, `backward-euler`, `legendre-gauss-N`, `legendre-gauss-radau-N` with N from 1 to 9",
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

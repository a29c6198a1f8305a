//! All fields of a study file with their content, unit and default.
//!
//! Reader, suggestions and the reference in the guide use these lists.

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
    /// One pair of bounds, or several.
    BoundsList,
    /// A formula of quantities of the model.
    Formula,
    /// A table from names to formulas.
    Formulas,
    /// A table from names to table files.
    References,
    /// A function of time: a number where it is constant.
    Function,
    /// Functions of time by name.
    Functions,
    /// An element of an OpenSim file.
    Xml,
    /// A list of elements of an OpenSim file.
    XmlList,
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
            Kind::Number => "number",
            Kind::Count => "whole number",
            Kind::Boolean => "true or false",
            Kind::Bounds => "number or [lower, upper]",
            Kind::BoundsList => "number, [lower, upper], or list of [lower, upper]",
            Kind::Numbers => "list of numbers",
            Kind::Texts => "list of texts",
            Kind::Weights => "table name = number",
            Kind::Formula => "formula",
            Kind::Formulas => "table name = formula",
            Kind::References => "table name = file, or { file, lowpass_hz }",
            Kind::Function => "number or function",
            Kind::Functions => "table name = function",
            Kind::Xml => "XML text",
            Kind::XmlList => "list of XML texts",
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

/// A field as a row: name => kind, unit, default, meaning. A macro, so that rows stay rows.
macro_rules! row {
    ($name:literal => $kind:ident, $unit:literal, $default:literal, $help:literal) => {
        Field { name: $name, kind: Kind::$kind, unit: $unit, default: $default, help: $help }
    };
}

mod constraints;
mod functions;
mod goals;
mod operators;

pub(super) use constraints::{CONSTRAINT, CONSTRAINTS, FRAME_PAIR};
pub(super) use functions::FUNCTIONS;
pub(super) use goals::{CONTACT_GROUP, GOALS, REFERENCE};
pub(super) use operators::{OPERATOR, OPERATORS};

/// Default of a field that must be there.
pub(super) const NEEDED: &str = "required";

/// The outermost table.
pub(super) const STUDY: &[Field] = &[
    row!("name" => Text, "", "name of the file", "name of the results and the report"),
    row!("model" => File, "", "required",
        "an `.osim` file, or `builtin:reach`, `builtin:leg_swing`, `builtin:suspended_mass`"),
    row!("model_xml" => Xml, "", "none", "instead of `model`: a `Model` element of an OpenSim file"),
    row!("external_loads_xml" => Xml, "", "none",
        "measured forces that act on the model: an `ExternalLoads` element"),
    row!("kinematics" => File, "", "none", "prescribed motion of all coordinates, which are then not variables"),
    row!("prescribed" => Tables, "", "none", "prescribed motions of single coordinates, given by points"),
    row!("operators" => Tables, "", "none", "changes to the model, applied first and in this order"),
    row!("forces" => Tables, "", "none", "forces defined by formulas, added to the model"),
    row!("symmetry" => Text, "", "none",
        "`left-right`: half a gait cycle, at the end of which each side has the initial state of the other, displaced forward; `cycle`: a whole cycle, at the end of which the model has its initial state, displaced forward"),
    row!("time" => Table, "", "required", "initial and final time of the motion"),
    row!("defaults" => Table, "", "see there", "default bounds"),
    row!("states" => Tables, "", "model's", "bounds of states"),
    row!("controls" => Tables, "", "model's", "bounds of controls"),
    row!("parameters" => Tables, "", "none", "model properties to optimise"),
    row!("goals" => Tables, "", "none", "costs and endpoint constraints"),
    row!("path_constraints" => Tables, "", "none", "constraints at all times"),
    row!("tables" => References, "", "none", "time series used in formulas: `name[column]`"),
    row!("definitions" => Formulas, "", "none", "named formulas for use in other formulas"),
    row!("derived" => Formulas, "", "none", "formulas to evaluate along the solution and write to a table"),
    row!("solver" => Table, "", "see there", "mesh, scheme, tolerances"),
    row!("refine" => Table, "", "off", "mesh refinement until the error is small enough"),
    row!("guess" => Table, "", "from bounds", "initial guess"),
    row!("help" => Table, "", "off", "temporary forces on the coordinates, penalised and then removed: for poor guesses"),
    row!("starts" => Table, "", "one", "several initial guesses; the best solution is kept, and the spread is reported"),
    row!("continuation" => Table, "", "none", "the same problem at a series of values, each started from the previous solution"),
    row!("output" => Table, "", "see there", "files to write"),
    row!("phases" => Tables, "", "one",
        "consecutive motions; the fields above apply to all of them"),
    row!("links" => Tables, "", "continuous", "differences at the transition between phases"),
];

/// Fields of a study that are lists: a phase adds to them.
pub(super) const LIST_FIELDS: &[&str] =
    &["operators", "forces", "prescribed", "states", "controls", "parameters", "goals", "path_constraints"];

/// `[[phases]]`.
pub(super) const PHASE: &[Field] = &[
    row!("name" => Text, "", "phase1, phase2, …", "name of its files"),
    row!("model" => File, "", "the study's", "a different model"),
    row!("model_xml" => Xml, "", "the study's", "a different model, as an element"),
    row!("external_loads_xml" => Xml, "", "the study's", "measured forces, as an element"),
    row!("symmetry" => Text, "", "the study's", "`left-right` or `cycle`"),
    row!("kinematics" => File, "", "the study's", "prescribed motion"),
    row!("prescribed" => Tables, "", "none", "after those of the study"),
    row!("operators" => Tables, "", "none", "after those of the study"),
    row!("forces" => Tables, "", "none", "after those of the study"),
    row!("time" => Table, "", "the study's", "initial and final time"),
    row!("defaults" => Table, "", "the study's", "override those of the study, field by field"),
    row!("states" => Tables, "", "none", "after those of the study"),
    row!("controls" => Tables, "", "none", "after those of the study"),
    row!("parameters" => Tables, "", "none",
        "after those of the study; the same name means the same parameter in all phases"),
    row!("goals" => Tables, "", "none", "after those of the study"),
    row!("path_constraints" => Tables, "", "none", "after those of the study"),
    row!("tables" => References, "", "none", "in addition to those of the study"),
    row!("definitions" => Formulas, "", "none", "in addition to those of the study"),
    row!("derived" => Formulas, "", "none", "in addition to those of the study"),
    row!("solver" => Table, "", "the study's",
        "mesh and scheme, field by field; tolerances and limits of the first phase apply to all"),
    row!("guess" => Table, "", "the study's", "its initial guess"),
];

/// `[[links]]`.
pub(super) const LINK: &[Field] = &[
    row!("after" => Text, "", "required", "name of the preceding phase"),
    row!("free" => Texts, "", "none", "regular expressions: states that may jump"),
    row!("factors" => Weights, "", "1",
        "factors from final states of this phase to initial states of the next: an impact"),
];

/// `[time]`.
pub(super) const TIME: &[Field] = &[
    row!("initial" => Bounds, "s", "0", "initial time"),
    row!("final" => Bounds, "s", "required", "final time; two numbers give a range in which it is free"),
];

/// `[defaults]`.
pub(super) const DEFAULTS: &[Field] = &[
    row!("speeds" => Bounds, "rad/s, m/s", "[-50, 50]", "speeds of coordinates"),
    row!("multipliers" => Bounds, "N, N·m", "[-1000, 1000]", "multipliers of kinematic constraints"),
    row!("activations_from_excitations" => Boolean, "", "true",
        "bound activations like their excitations"),
    row!("later_entries" => Text, "", "add",
        "how a later entry of [[states]] or [[controls]] combines with earlier ones for the same variable: `add` changes only what it names, `replace` discards the earlier ones, as Moco does"),
];

/// `[[states]]` and `[[controls]]`.
pub(super) const VARIABLE: &[Field] = &[
    row!("name" => Text, "", "name or pattern", "path of the variable, or its last part: `knee/value`"),
    row!("pattern" => Text, "", "name or pattern",
        "regular expression for full names; names take precedence over patterns"),
    row!("bounds" => Bounds, "SI", "model's", "bounds at all times"),
    row!("initial" => Bounds, "SI", "bounds", "bounds at the initial time"),
    row!("final" => Bounds, "SI", "bounds", "bounds at the final time"),
    row!("bounds_deg" => Bounds, "degrees", "", "the same in degrees"),
    row!("initial_deg" => Bounds, "degrees", "", "the same in degrees"),
    row!("final_deg" => Bounds, "degrees", "", "the same in degrees"),
];

/// `[[parameters]]`.
pub(super) const PARAMETER: &[Field] = &[
    row!("name" => Text, "", "required", "name in the solution"),
    row!("components" => Texts, "", "required", "components that share the value"),
    row!("property" => Text, "", "required", "property name as in the model file"),
    row!("element" => Number, "", "0", "index of the vector component, from 0"),
    row!("bounds" => Bounds, "the property's", "required", "bounds of the value"),
];

/// `[[forces]]`.
pub(super) const FORCE: &[Field] = &[
    row!("name" => Text, "", "required", "name; its path is /forceset/NAME"),
    row!("coordinate" => Text, "", "none", "the coordinate on which it acts"),
    row!("frame" => Text, "", "none", "the frame on which it acts, instead of a coordinate"),
    row!("point" => Numbers, "m", "[0, 0, 0]", "point of application in that frame"),
    row!("formula" => Formula, "N m, N", "none", "generalized force, or a vector in ground: docs/guide/formulas.md"),
    row!("constants" => Weights, "", "none", "named constants; `[[parameters]]` can optimise them, with the name as `property`"),
    row!("states" => Formulas, "", "none", "states of the force, each with its time derivative"),
    row!("start" => Weights, "", "0", "initial values of these states in simulations and guesses"),
    row!("control" => Bounds, "", "[-inf, inf]", "bounds of its control, if a formula uses the word `control`"),
];

/// `[[prescribed]]`.
pub(super) const PRESCRIBED: &[Field] = &[
    row!("coordinate" => Text, "", "required", "path of the coordinate"),
    row!("degree" => Count, "", "5", "degree of the spline through the points"),
    row!("times" => Numbers, "s", "required", "times of the points"),
    row!("values" => Numbers, "rad, m", "required", "values of the coordinate"),
];

/// Fields that all goals have.
pub(super) const GOAL: &[Field] = &[
    row!("type" => Text, "", "required", "one of the types below; `formula` if a formula is given"),
    row!("name" => Text, "", "its type", "name in reports"),
    row!("weight" => Number, "", "1", "weight of the cost"),
    row!("mode" => Text, "", "the type's", "`cost` or `constraint`"),
    row!("bounds" => BoundsList, "the goal's", "0",
        "bounds of a constraint's values: one pair for all, or one pair each"),
    row!("divide_by_displacement" => Boolean, "", "false", "cost per metre travelled"),
    row!("divide_by_duration" => Boolean, "", "false", "cost per second"),
    row!("divide_by_mass" => Boolean, "", "false", "cost per kilogram"),
];

/// `[solver]`.
pub(super) const SOLVER: &[Field] = &[
    row!("scheme" => Text, "", "hermite-simpson",
        "`trapezoidal`, `hermite-simpson`, `hermite-simpson-compressed` (both times fixed), `midpoint`, `backward-euler`, `legendre-gauss-N`, `legendre-gauss-radau-N` with N from 1 to 9"),
    row!("intervals" => Count, "", "100", "number of equal mesh intervals"),
    row!("mesh" => Numbers, "", "equal intervals", "mesh points from 0 to 1"),
    row!("coarse" => Numbers, "", "none", "coarser meshes to solve first, each the initial guess of the next"),
    row!("dynamics" => Text, "", "explicit",
        "`explicit` or `implicit`: accelerations without, or with, their own bounds and costs"),
    row!("interpolate_controls" => Boolean, "", "true", "controls are linear within each interval"),
    row!("constrain_interior" => Boolean, "", "false", "enforce path constraints inside intervals too"),
    row!("scale_variables" => Boolean, "", "false",
        "scale each variable by the width of its bounds; may help if the widths differ greatly"),
    row!("constraint_method" => Text, "", "Posa2016", "`Posa2016` or `Bordalba2023`"),
    row!("constraint_derivatives" => Boolean, "", "true",
        "enforce kinematic constraints for speeds and accelerations too"),
    row!("tolerance" => Number, "", "1e-6", "of the optimality conditions"),
    row!("moco_tolerance" => Number, "", "none",
        "convergence tolerance as defined by Moco, if `tolerance` is not given"),
    row!("constraint_tolerance" => Number, "the constraint's", "1e-4", "of constraints"),
    row!("max_iterations" => Count, "", "3000", "maximum number of iterations"),
    row!("barrier" => Number, "", "0.1; 1e-4 with a guess file", "initial barrier parameter; a small one stays close to the guess"),
    row!("threads" => Count, "", "cores", "number of threads; results do not depend on it"),
    row!("multiplier_weight" => Number, "", "0", "cost of squared multipliers"),
    row!("acceleration_weight" => Number, "", "0", "cost of squared accelerations, implicit only"),
    row!("auxiliary_weight" => Number, "", "0", "cost of squared rates of implicit muscle states"),
    row!("projection_weight" => Number, "", "1e-6", "cost of the distance of projected states"),
    row!("velocity_corrections" => Bounds, "", "[-0.1, 0.1]", "corrections of Posa's method"),
    row!("projection_multipliers" => Bounds, "", "[-0.001, 0.001]", "multipliers of Bordalba's method"),
    row!("accelerations" => Bounds, "rad/s², m/s²", "[-1000, 1000]", "accelerations, implicit only"),
    row!("auxiliary_rates" => Bounds, "1/s", "[-1000, 1000]", "rates of implicit muscle states"),
];

/// `[refine]`.
pub(super) const REFINE: &[Field] = &[
    row!("tolerance" => Number, "", "1e-4", "largest allowed error of a state over an interval, relative to its magnitude"),
    row!("start" => Count, "", "solver.intervals", "number of equal intervals of the first mesh"),
    row!("max_intervals" => Count, "", "1000", "maximum number of intervals"),
    row!("max_meshes" => Count, "", "10", "maximum number of meshes"),
];

/// `[guess]`.
pub(super) const GUESS: &[Field] = &[
    row!("file" => File, "", "none", "a solution (.sto); columns are matched by name"),
    row!("coordinates" => File, "", "none", "coordinates over time: inverse kinematics"),
    row!("activations" => File, "", "none", "activations over time: static optimization"),
    row!("time_stepping" => Boolean, "", "false",
        "a simulation from the middle of the initial bounds under the guessed controls"),
    row!("swing_deg" => Number, "degrees", "none",
        "a rough gait: the model moves forward at the speed of the goal `average_speed`, the hips swing by this angle, and muscle activity is low"),
];

/// `[help]`.
pub(super) const HELP: &[Field] = &[
    row!("penalties" => Numbers, "", "[10, 100]",
        "penalties on the squared forces, each divided by its strength, in successive problems; the last problem has no such forces"),
    row!("strength" => Number, "N, N·m", "100", "force on a coordinate at which the normalised force is 1"),
    row!("strengths" => Weights, "N, N·m", "strength", "the same for single coordinates, by name; 0 means no such force"),
    row!("tolerance" => Number, "", "1e-3", "tolerance of the problems before the last"),
    row!("max_iterations" => Count, "", "300", "maximum iterations of each; the next problem starts from what was reached"),
    row!("feasibility_steps" => Count, "", "none",
        "maximum number of steps at the start of the first problem that only reduce the violation of constraints: for guesses far from satisfying them"),
];

/// `[starts]`.
pub(super) const STARTS: &[Field] = &[
    row!("count" => Count, "", "5", "number of initial guesses; the first is the guess itself"),
    row!("noise" => Number, "", "0.1", "amplitude of the smooth perturbations of the others, as a fraction of the range of each coordinate"),
    row!("seed" => Count, "", "1", "seed of the random numbers"),
];

/// `[continuation]`.
pub(super) const CONTINUATION: &[Field] = &[
    row!("of" => Text, "", "required",
        "`speed` (of the goal `average_speed`, m/s), `slope` (of the ground, degrees), `weight` (of a goal) or `property` (of components)"),
    row!("values" => Numbers, "", "required", "in order; if one is not solved, an intermediate value is inserted"),
    row!("goal" => Text, "", "required for `weight`", "name of the goal"),
    row!("components" => Texts, "", "required for `property`", "components that share the value"),
    row!("property" => Text, "", "required for `property`", "property name as in the model file"),
    row!("element" => Number, "", "0", "index of the vector component, from 0"),
];

/// `[output]`.
pub(super) const OUTPUT_FILES: &[Field] = &[
    row!("solution" => File, "", "NAME_solution.sto", "the solution, with Moco's layout"),
    row!("report" => File, "", "none", "a page with costs, quality, plots and an animated figure"),
    row!("iterate" => File, "", "SOLUTION.iterate", "the last iterate, for `--resume`; if named, it is kept on success with the multipliers, for `--guess`"),
    row!("derived" => File, "", "NAME_derived.sto", "values of the formulas of `derived`"),
    row!("save_every_s" => Number, "s", "30", "time between two saved iterates"),
];

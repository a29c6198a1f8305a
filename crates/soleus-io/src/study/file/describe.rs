//! Fields of all tables of a study file, and where their values are stored. Used for both reading and writing.

use super::fields::{Fields, choice};
use crate::study::{
    ContactGroup, ContinuationSettings, FormulaForce, FrameTracking, FunctionBounds, Goal, GoalKind,
    GuessSettings, HelpSettings, LinkSettings, ModelStepKind, OutputSettings, OutputSource, OutputUse,
    Parameter, PathConstraintKind, PrescribedCoordinate, Problem, RefineSettings, Solver, StartSettings,
    Study, TableSource, VariableInfo, Weight, WeightedSet,
};
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::{ModelOperator, Reserves, Residuals};

/// Names, files and elements of a problem.
pub(super) fn problem(f: &mut dyn Fields, p: &mut Problem) {
    f.optional_text("model", &mut p.model_file);
    f.element("model_xml", &mut p.model);
    f.element("external_loads_xml", &mut p.external_loads);
    let mut symmetry = p.symmetry.clone().unwrap_or_default();
    f.word("symmetry", &mut symmetry, &["", "left-right", "cycle"]);
    p.symmetry = (!symmetry.is_empty()).then_some(symmetry);
    f.table_sources("tables", &mut p.tables);
    f.formulas("definitions", &mut p.definitions);
    f.formulas("derived", &mut p.derived);
}

/// `[defaults]`.
pub(super) fn defaults(f: &mut dyn Fields, p: &mut Problem) {
    given(&mut p.default_speed_bounds, |b| f.bounds("speeds", b));
    given(&mut p.multiplier_bounds, |b| f.bounds("multipliers", b));
    f.boolean("activations_from_excitations", &mut p.bound_activation_from_excitation);
    choice(f, "later_entries", ["add", "replace"], &mut p.replace_entries);
}

/// A value that is always there, read as one that may not be.
fn given<T: Copy>(value: &mut T, read: impl FnOnce(&mut Option<T>)) {
    let mut optional = Some(*value);
    read(&mut optional);
    *value = optional.unwrap_or(*value);
}

/// `[[states]]` and `[[controls]]`, but for the name.
pub(super) fn variable(f: &mut dyn Fields, v: &mut VariableInfo) {
    f.angle_bounds("bounds", "bounds_deg", &mut v.bounds);
    f.angle_bounds("initial", "initial_deg", &mut v.initial);
    f.angle_bounds("final", "final_deg", &mut v.last);
}

/// `[[parameters]]`.
pub(super) fn parameter(f: &mut dyn Fields, p: &mut Parameter) {
    f.text("name", &mut p.name);
    f.texts("components", &mut p.component_paths);
    f.text("property", &mut p.property_name);
    f.index("element", &mut p.property_element);
    given(&mut p.bounds, |b| f.bounds("bounds", b));
}

/// `[[forces]]`.
pub(super) fn force(f: &mut dyn Fields, p: &mut FormulaForce) {
    f.text("name", &mut p.name);
    f.optional_text("coordinate", &mut p.coordinate);
    f.optional_text("frame", &mut p.frame);
    f.vector("point", &mut p.point);
    f.formula("formula", &mut p.formula);
    f.weights("constants", &mut p.constants);
    f.formulas("states", &mut p.states);
    f.weights("start", &mut p.start);
    f.bounds("control", &mut p.control);
}

/// `[[prescribed]]`.
pub(super) fn prescribed(f: &mut dyn Fields, p: &mut PrescribedCoordinate) {
    f.text("coordinate", &mut p.path);
    given(&mut p.degree, |d| f.count("degree", d));
    f.numbers("times", &mut p.x);
    f.numbers("values", &mut p.y);
}

/// `[solver]`, what the problem keeps of it.
pub(super) fn solver(f: &mut dyn Fields, s: &mut Solver) {
    f.text("scheme", &mut s.transcription_scheme);
    given(&mut s.num_mesh_intervals, |n| f.count("intervals", n));
    f.numbers("mesh", &mut s.mesh);
    choice(f, "dynamics", ["explicit", "implicit"], &mut s.implicit);
    f.boolean("interpolate_controls", &mut s.interpolate_control_mesh_interior_points);
    f.boolean("constrain_interior", &mut s.enforce_path_constraint_mesh_interior_points);
    f.boolean("scale_variables", &mut s.scale_variables_using_bounds);
    f.word("constraint_method", &mut s.kinematic_constraint_method, &["Posa2016", "Bordalba2023"]);
    f.boolean("constraint_derivatives", &mut s.enforce_constraint_derivatives);
    f.number("moco_tolerance", &mut s.optim_convergence_tolerance);
    f.number("constraint_tolerance", &mut s.optim_constraint_tolerance);
    let mut limit = (s.optim_max_iterations >= 1.0).then_some(s.optim_max_iterations as usize);
    f.count("max_iterations", &mut limit);
    s.optim_max_iterations = limit.map_or(s.optim_max_iterations, |n| n as f64);
    for (name, weight) in [
        ("multiplier_weight", &mut s.multiplier_weight),
        ("acceleration_weight", &mut s.acceleration_weight),
        ("auxiliary_weight", &mut s.auxiliary_weight),
        ("projection_weight", &mut s.projection_weight),
    ] {
        f.number(name, weight);
        *weight = weight.max(0.0);
    }
    given(&mut s.velocity_correction_bounds, |b| f.bounds("velocity_corrections", b));
    given(&mut s.projection_slack_variable_bounds, |b| f.bounds("projection_multipliers", b));
    given(&mut s.implicit_multibody_acceleration_bounds, |b| f.bounds("accelerations", b));
    given(&mut s.implicit_auxiliary_derivative_bounds, |b| f.bounds("auxiliary_rates", b));
}

/// `[solver]`, what Moco has no word for.
pub(super) fn own_solver(f: &mut dyn Fields, s: &mut Study) {
    f.positive("tolerance", &mut s.tolerance);
    f.positive("barrier", &mut s.barrier);
    f.count("threads", &mut s.threads);
    let mut coarse: Vec<f64> = s.coarse.iter().map(|n| *n as f64).collect();
    f.numbers("coarse", &mut coarse);
    s.coarse = coarse.into_iter().map(|n| n as usize).collect();
}

/// `[help]`.
pub(super) fn help(f: &mut dyn Fields, s: &mut HelpSettings) {
    f.numbers("penalties", &mut s.penalties);
    given(&mut s.strength, |x| f.positive("strength", x));
    f.weights("strengths", &mut s.strengths);
    given(&mut s.tolerance, |x| f.positive("tolerance", x));
    given(&mut s.max_iterations, |n| f.count("max_iterations", n));
    f.count("feasibility_steps", &mut s.feasibility_steps);
}

/// `[starts]`.
pub(super) fn starts(f: &mut dyn Fields, s: &mut StartSettings) {
    given(&mut s.count, |n| f.count("count", n));
    given(&mut s.noise, |x| f.positive("noise", x));
    given(&mut s.seed, |n| f.count("seed", n));
}

/// `[continuation]`.
pub(super) fn continuation(f: &mut dyn Fields, s: &mut ContinuationSettings) {
    f.word("of", &mut s.of, &["speed", "slope", "weight", "property"]);
    f.numbers("values", &mut s.values);
    f.optional_text("goal", &mut s.goal);
    f.texts("components", &mut s.components);
    f.optional_text("property", &mut s.property);
    f.index("element", &mut s.element);
}

/// `[refine]`.
pub(super) fn refine(f: &mut dyn Fields, s: &mut RefineSettings) {
    given(&mut s.tolerance, |x| f.positive("tolerance", x));
    f.count("start", &mut s.start);
    given(&mut s.max_intervals, |n| f.count("max_intervals", n));
    given(&mut s.max_meshes, |n| f.count("max_meshes", n));
}

/// `[guess]`, but for the file.
pub(super) fn guess(f: &mut dyn Fields, s: &mut GuessSettings) {
    f.optional_text("coordinates", &mut s.coordinates);
    f.optional_text("activations", &mut s.activations);
    f.boolean("time_stepping", &mut s.time_stepping);
    f.positive("swing_deg", &mut s.swing_deg);
}

/// `[guess]`: its file is the solver's.
pub(super) fn guess_file(f: &mut dyn Fields, s: &mut Solver) {
    f.optional_text("file", &mut s.guess_file);
}

/// `[output]`.
pub(super) fn output(f: &mut dyn Fields, s: &mut OutputSettings) {
    f.optional_text("solution", &mut s.solution);
    f.optional_text("report", &mut s.report);
    f.optional_text("iterate", &mut s.iterate);
    f.optional_text("derived", &mut s.derived);
    f.positive("save_every_s", &mut s.save_every_s);
}

/// `[[links]]`, but for the phase before.
pub(super) fn link(f: &mut dyn Fields, l: &mut LinkSettings) {
    f.texts("free", &mut l.free);
    let mut factors: Vec<Weight> =
        l.factors.iter().map(|(name, weight)| Weight { name: name.clone(), weight: *weight }).collect();
    f.weights("factors", &mut factors);
    l.factors = factors.into_iter().map(|w| (w.name, w.weight)).collect();
}

/// What all goals have.
pub(super) fn goal(f: &mut dyn Fields, g: &mut Goal) {
    f.text("name", &mut g.name);
    f.number("weight", &mut g.weight);
    // Moco's word for a constraint is known too.
    let words = ["", "cost", "constraint", "endpoint_constraint"];
    let mut mode = words[g.constraint.map_or(0, |c| 1 + usize::from(c))].to_string();
    f.word("mode", &mut mode, &words);
    g.constraint = (!mode.is_empty()).then_some(mode != "cost");
    f.bounds_list("bounds", &mut g.bounds);
    f.boolean("divide_by_displacement", &mut g.divide_by_displacement);
    f.boolean("divide_by_duration", &mut g.divide_by_duration);
    f.boolean("divide_by_mass", &mut g.divide_by_mass);
}

/// The name of a type of goal.
pub(super) fn goal_type(kind: &GoalKind) -> &'static str {
    match kind {
        GoalKind::FinalTime => "final_time",
        GoalKind::AverageSpeed(_) => "average_speed",
        GoalKind::Control { .. } => "control",
        GoalKind::SumSquaredState { .. } => "sum_squared_state",
        GoalKind::StateTracking { .. } => "state_tracking",
        GoalKind::ControlTracking { .. } => "control_tracking",
        GoalKind::MarkerFinal { .. } => "marker_final",
        GoalKind::MarkerTracking { .. } => "marker_tracking",
        GoalKind::InitialActivation => "initial_activation",
        GoalKind::InitialVelocityEquilibrium => "initial_velocity_equilibrium",
        GoalKind::InitialForceEquilibrium => "initial_force_equilibrium",
        GoalKind::Periodicity { .. } => "periodicity",
        GoalKind::Output { of, .. } => match of {
            OutputUse::Integral => "output",
            OutputUse::Initial => "initial_output",
            OutputUse::Final => "final_output",
            OutputUse::Extremum { .. } => "output_extremum",
            OutputUse::Tracking(_) => "output_tracking",
            OutputUse::Periodicity => "output_periodicity",
        },
        GoalKind::FrameTracking { what, .. } => match what {
            FrameTracking::Translation => "translation_tracking",
            FrameTracking::Orientation => "orientation_tracking",
            FrameTracking::AngularVelocity => "angular_velocity_tracking",
            FrameTracking::Acceleration { .. } => "acceleration_tracking",
        },
        GoalKind::JointReaction { .. } => "joint_reaction",
        GoalKind::GeneralizedForceTracking { .. } => "generalized_force_tracking",
        GoalKind::ContactImpulse { .. } => "contact_impulse_tracking",
        GoalKind::StepTimeAsymmetry { .. } => "step_time_asymmetry",
        GoalKind::StepLengthAsymmetry { .. } => "step_length_asymmetry",
        GoalKind::Formula { .. } => "formula",
        GoalKind::ParameterExpression { .. } => "expression",
        GoalKind::ContactTracking { .. } => "contact_tracking",
    }
}

/// A goal of a type whose fields are all left out; `None` if there is no such type.
pub(super) fn usual_goal(name: &str) -> Option<GoalKind> {
    let none = || "none".to_string();
    let frames = |what| GoalKind::FrameTracking {
        what,
        states: TableSource::default(),
        file: None,
        frames: Vec::new(),
        weights: Vec::new(),
    };
    let output = |of| GoalKind::Output { output: OutputSource::default(), of };
    let (weights, reference) = (WeightedSet::default(), TableSource::default());
    Some(match name {
        "final_time" => GoalKind::FinalTime,
        "average_speed" => GoalKind::AverageSpeed(0.0),
        "control" => GoalKind::Control { weights, exponent: 2.0 },
        "sum_squared_state" => GoalKind::SumSquaredState { pattern: None, weights },
        "state_tracking" => GoalKind::StateTracking {
            reference,
            pattern: None,
            weights,
            scale_weights_with_range: false,
            allow_unused: false,
        },
        "control_tracking" => GoalKind::ControlTracking { reference, weights, allow_unused: false },
        "marker_final" => GoalKind::MarkerFinal { point: String::new(), location: [0.0; 3] },
        "marker_tracking" => GoalKind::MarkerTracking {
            file: None,
            weights: Vec::new(),
            default_weight: 1.0,
            allow_unused: false,
        },
        "initial_activation" => GoalKind::InitialActivation,
        "initial_velocity_equilibrium" => GoalKind::InitialVelocityEquilibrium,
        "initial_force_equilibrium" => GoalKind::InitialForceEquilibrium,
        "periodicity" => GoalKind::Periodicity { states: Vec::new(), controls: Vec::new() },
        "output" => output(OutputUse::Integral),
        "initial_output" => output(OutputUse::Initial),
        "final_output" => output(OutputUse::Final),
        "output_extremum" => output(OutputUse::Extremum { maximum: false, smoothing: 1.0 }),
        "output_tracking" => output(OutputUse::Tracking(None)),
        "output_periodicity" => output(OutputUse::Periodicity),
        "translation_tracking" => frames(FrameTracking::Translation),
        "orientation_tracking" => frames(FrameTracking::Orientation),
        "angular_velocity_tracking" => frames(FrameTracking::AngularVelocity),
        "acceleration_tracking" => {
            frames(FrameTracking::Acceleration { gravity_offset: false, in_frames: false })
        }
        "joint_reaction" => GoalKind::JointReaction {
            joint: String::new(),
            on_child: false,
            expressed_in: None,
            measures: Vec::new(),
            weights: Vec::new(),
        },
        "generalized_force_tracking" => GoalKind::GeneralizedForceTracking {
            reference,
            forces: Vec::new(),
            weights,
            allow_unused: false,
            normalize: false,
            ignore_constrained: true,
        },
        "contact_impulse_tracking" => {
            GoalKind::ContactImpulse { groups: Vec::new(), loads_file: None, axis: -1.0 }
        }
        "step_time_asymmetry" => GoalKind::StepTimeAsymmetry {
            contacts: [Vec::new(), Vec::new()],
            feet: [String::new(), String::new()],
            target: 0.0,
            threshold: 25.0,
            up: "positive-y".into(),
            forward: "positive-x".into(),
            contact_smoothing: 0.25,
            smoothing: 10.0,
        },
        "step_length_asymmetry" => GoalKind::StepLengthAsymmetry {
            feet: [String::new(), String::new()],
            forward: "positive-x".into(),
            smoothing: 5.0,
            target: 0.0,
            stride: -1.0,
        },
        "formula" => GoalKind::Formula { formula: String::new(), when: "integral".into() },
        "expression" => GoalKind::ParameterExpression {
            expression: String::new(),
            parameters: Vec::new(),
            variables: Vec::new(),
        },
        "contact_tracking" => GoalKind::ContactTracking {
            groups: Vec::new(),
            loads_file: None,
            projection: none(),
            vector: [0.0; 3],
            normalize: false,
        },
        _ => return None,
    })
}

/// What goals of one type have.
pub(super) fn goal_kind(f: &mut dyn Fields, kind: &mut GoalKind) {
    match kind {
        GoalKind::FinalTime
        | GoalKind::InitialActivation
        | GoalKind::InitialVelocityEquilibrium
        | GoalKind::InitialForceEquilibrium => {}
        GoalKind::AverageSpeed(speed) => f.number("speed", speed),
        GoalKind::Control { weights, exponent } => {
            f.number("exponent", exponent);
            weighted(f, weights);
        }
        GoalKind::SumSquaredState { pattern, weights } => {
            f.optional_text("pattern", pattern);
            weighted(f, weights);
        }
        GoalKind::StateTracking { reference, pattern, weights, scale_weights_with_range, allow_unused } => {
            f.table_source("reference", reference);
            f.optional_text("pattern", pattern);
            weighted(f, weights);
            f.boolean("scale_weights_with_range", scale_weights_with_range);
            f.boolean("allow_unused", allow_unused);
        }
        GoalKind::ControlTracking { reference, weights, allow_unused } => {
            f.table_source("reference", reference);
            weighted(f, weights);
            f.boolean("allow_unused", allow_unused);
        }
        GoalKind::MarkerFinal { point, location } => {
            f.text("marker", point);
            f.vector("location", location);
        }
        GoalKind::MarkerTracking { file, weights, default_weight, allow_unused } => {
            f.optional_text("reference", file);
            f.weights("weights", weights);
            f.number("default_weight", default_weight);
            f.boolean("allow_unused", allow_unused);
        }
        GoalKind::Periodicity { states, controls } => {
            f.pairs("states", "negated_states", states);
            f.pairs("controls", "negated_controls", controls);
        }
        GoalKind::Output { output, of } => {
            output_source(f, output);
            match of {
                OutputUse::Integral | OutputUse::Initial | OutputUse::Final | OutputUse::Periodicity => {}
                OutputUse::Extremum { maximum, smoothing } => {
                    choice(f, "extremum", ["minimum", "maximum"], maximum);
                    f.number("smoothing", smoothing);
                }
                OutputUse::Tracking(reference) => f.function("reference", reference),
            }
        }
        GoalKind::FrameTracking { what, states, file, frames, weights } => {
            match what {
                FrameTracking::Acceleration { gravity_offset, in_frames } => {
                    f.boolean("gravity_offset", gravity_offset);
                    f.boolean("in_frames", in_frames);
                }
                _ => f.table_source("states_reference", states),
            }
            f.optional_text("reference", file);
            f.texts("frames", frames);
            f.weights("weights", weights);
        }
        GoalKind::JointReaction { joint, on_child, expressed_in, measures, weights } => {
            f.text("joint", joint);
            choice(f, "on", ["parent", "child"], on_child);
            f.optional_text("in_frame", expressed_in);
            f.texts("measures", measures);
            f.weights("weights", weights);
        }
        GoalKind::GeneralizedForceTracking {
            reference,
            forces,
            weights,
            allow_unused,
            normalize,
            ignore_constrained,
        } => {
            f.table_source("reference", reference);
            f.texts("forces", forces);
            weighted(f, weights);
            f.boolean("allow_unused", allow_unused);
            f.boolean("normalize", normalize);
            f.boolean("ignore_constrained", ignore_constrained);
        }
        GoalKind::ContactImpulse { groups, loads_file, axis } => {
            f.contact_groups("groups", groups);
            f.optional_text("loads", loads_file);
            f.number("axis", axis);
        }
        GoalKind::StepTimeAsymmetry {
            contacts: [left, right],
            feet: [left_foot, right_foot],
            target,
            threshold,
            up,
            forward,
            contact_smoothing,
            smoothing,
        } => {
            f.texts("left_contacts", left);
            f.texts("right_contacts", right);
            f.text("left_foot", left_foot);
            f.text("right_foot", right_foot);
            f.number("target", target);
            f.number("threshold", threshold);
            f.text("up", up);
            f.text("forward", forward);
            f.number("contact_smoothing", contact_smoothing);
            f.number("smoothing", smoothing);
        }
        GoalKind::StepLengthAsymmetry {
            feet: [left_foot, right_foot],
            forward,
            smoothing,
            target,
            stride,
        } => {
            f.text("left_foot", left_foot);
            f.text("right_foot", right_foot);
            f.number("target", target);
            f.number("stride", stride);
            f.text("forward", forward);
            f.number("smoothing", smoothing);
        }
        GoalKind::Formula { formula, when } => {
            f.formula("formula", formula);
            f.word("when", when, &["integral", "initial", "final"]);
        }
        GoalKind::ParameterExpression { expression, parameters, variables } => {
            f.text("expression", expression);
            f.texts("parameters", parameters);
            f.texts("variables", variables);
        }
        GoalKind::ContactTracking { groups, loads_file, projection, vector, normalize } => {
            f.contact_groups("groups", groups);
            f.optional_text("loads", loads_file);
            f.text("projection", projection);
            f.vector("projection_vector", vector);
            f.boolean("normalize", normalize);
        }
    }
}

fn weighted(f: &mut dyn Fields, weights: &mut WeightedSet) {
    f.weights("weights", &mut weights.names);
    f.weights("weight_patterns", &mut weights.patterns);
}

fn output_source(f: &mut dyn Fields, o: &mut OutputSource) {
    f.text("output", &mut o.path);
    f.optional_text("second_output", &mut o.second_path);
    f.optional_text("operation", &mut o.operation);
    f.number("exponent", &mut o.exponent);
    f.index("index", &mut o.index);
}

/// A group of contacts.
pub(super) fn contact_group(f: &mut dyn Fields, g: &mut ContactGroup) {
    f.texts("forces", &mut g.forces);
    f.text("external_force", &mut g.external_force);
    f.texts("frames", &mut g.alternative_frames);
}

/// The name of a type of path constraint.
pub(super) fn constraint_type(kind: &PathConstraintKind) -> &'static str {
    match kind {
        PathConstraintKind::ControlBound { .. } => "control_bound",
        PathConstraintKind::StateBound { .. } => "state_bound",
        PathConstraintKind::OutputBound { .. } => "output_bound",
        PathConstraintKind::Output { .. } => "output",
        PathConstraintKind::Formula { .. } => "formula",
        PathConstraintKind::FrameDistance { .. } => "frame_distance",
    }
}

/// A path constraint of a type whose fields are all left out.
pub(super) fn usual_constraint(name: &str) -> Option<PathConstraintKind> {
    let (bounds, output) = (FunctionBounds::default(), OutputSource::default());
    Some(match name {
        "control_bound" => PathConstraintKind::ControlBound { paths: Vec::new(), bounds },
        "state_bound" => PathConstraintKind::StateBound { paths: Vec::new(), bounds },
        "output_bound" => PathConstraintKind::OutputBound { output, bounds },
        "output" => PathConstraintKind::Output { output, bounds: [f64::NEG_INFINITY, f64::INFINITY] },
        "formula" => PathConstraintKind::Formula { formula: String::new(), bounds },
        "frame_distance" => PathConstraintKind::FrameDistance {
            pairs: Vec::new(),
            projection: "none".into(),
            vector: [0.0; 3],
        },
        _ => return None,
    })
}

/// What path constraints of one type have.
pub(super) fn constraint_kind(f: &mut dyn Fields, kind: &mut PathConstraintKind) {
    match kind {
        PathConstraintKind::ControlBound { paths, bounds } => {
            f.texts("controls", paths);
            function_bounds(f, bounds);
        }
        PathConstraintKind::StateBound { paths, bounds } => {
            f.texts("states", paths);
            function_bounds(f, bounds);
        }
        PathConstraintKind::OutputBound { output, bounds } => {
            output_source(f, output);
            function_bounds(f, bounds);
        }
        PathConstraintKind::Output { output, bounds } => {
            output_source(f, output);
            given(bounds, |b| f.bounds("bounds", b));
        }
        PathConstraintKind::Formula { formula, bounds } => {
            f.formula("formula", formula);
            function_bounds(f, bounds);
        }
        PathConstraintKind::FrameDistance { pairs, projection, vector } => {
            f.frame_pairs("pairs", pairs);
            f.text("projection", projection);
            f.vector("projection_vector", vector);
        }
    }
}

fn function_bounds(f: &mut dyn Fields, b: &mut FunctionBounds) {
    f.function("lower", &mut b.lower);
    f.function("upper", &mut b.upper);
    f.boolean("equal_to_lower", &mut b.equality_with_lower);
}

/// The name of a type of operator.
pub(super) fn operator_type(kind: &ModelStepKind) -> &'static str {
    match kind {
        ModelStepKind::ExternalLoads(_) => "add_external_loads",
        ModelStepKind::FunctionBasedPaths(_) => "replace_paths",
        ModelStepKind::PrescribeCoordinates(_) => "prescribe_coordinates",
        ModelStepKind::Operator(o) => match o {
            ModelOperator::ReplaceJointsWithWelds(_) => "replace_joints_with_welds",
            ModelOperator::AddReserves(_) => "add_reserves",
            ModelOperator::AddResiduals(_) => "add_residuals",
            ModelOperator::RemoveMuscles => "remove_muscles",
            ModelOperator::IgnoreActivationDynamics => "ignore_activation_dynamics",
            ModelOperator::IgnoreTendonCompliance => "ignore_tendon_compliance",
            ModelOperator::ScaleMaxIsometricForce(_) => "scale_max_isometric_force",
            ModelOperator::ReplaceMusclesWithPathActuators => "replace_muscles_with_path_actuators",
            ModelOperator::ReplaceMusclesWithDeGrooteFregly2016 => {
                "replace_muscles_with_degroote_fregly_2016"
            }
            ModelOperator::TendonComplianceDynamicsMode(_) => "tendon_compliance_dynamics_mode",
            ModelOperator::IgnorePassiveFiberForces => "ignore_passive_fiber_forces",
            ModelOperator::PassiveFiberStrainAtOneNormForce(_) => "passive_fiber_strain",
            ModelOperator::ScaleActiveFiberForceCurveWidth(_) => "scale_active_fiber_force_curve_width",
            ModelOperator::FiberDamping(_) => "fiber_damping",
            ModelOperator::Slope(_) => "slope",
            ModelOperator::ReplacePaths(_) => "replace_paths_inline",
            ModelOperator::PrescribeCoordinateValues(_) => "prescribe_functions",
        },
    }
}

/// An operator of a type whose fields are all left out.
pub(super) fn usual_operator(name: &str) -> Option<ModelStepKind> {
    Some(ModelStepKind::Operator(match name {
        "add_external_loads" => return Some(ModelStepKind::ExternalLoads(String::new())),
        "replace_paths" => return Some(ModelStepKind::FunctionBasedPaths(String::new())),
        "prescribe_coordinates" => return Some(ModelStepKind::PrescribeCoordinates(TableSource::default())),
        "replace_joints_with_welds" => ModelOperator::ReplaceJointsWithWelds(Vec::new()),
        "add_reserves" => ModelOperator::AddReserves(Reserves::default()),
        "add_residuals" => ModelOperator::AddResiduals(Residuals::default()),
        "remove_muscles" => ModelOperator::RemoveMuscles,
        "ignore_activation_dynamics" => ModelOperator::IgnoreActivationDynamics,
        "ignore_tendon_compliance" => ModelOperator::IgnoreTendonCompliance,
        "scale_max_isometric_force" => ModelOperator::ScaleMaxIsometricForce(1.0),
        "replace_muscles_with_path_actuators" => ModelOperator::ReplaceMusclesWithPathActuators,
        "replace_muscles_with_degroote_fregly_2016" => ModelOperator::ReplaceMusclesWithDeGrooteFregly2016,
        "tendon_compliance_dynamics_mode" => {
            ModelOperator::TendonComplianceDynamicsMode(TendonDynamicsMode::Explicit)
        }
        "ignore_passive_fiber_forces" => ModelOperator::IgnorePassiveFiberForces,
        "passive_fiber_strain" => ModelOperator::PassiveFiberStrainAtOneNormForce(0.6),
        "scale_active_fiber_force_curve_width" => ModelOperator::ScaleActiveFiberForceCurveWidth(1.0),
        "fiber_damping" => ModelOperator::FiberDamping(0.0),
        "slope" => ModelOperator::Slope(0.0),
        "replace_paths_inline" => ModelOperator::ReplacePaths(Vec::new()),
        "prescribe_functions" => ModelOperator::PrescribeCoordinateValues(Vec::new()),
        _ => return None,
    }))
}

/// What operators of one type have.
pub(super) fn operator(f: &mut dyn Fields, kind: &mut ModelStepKind) {
    match kind {
        ModelStepKind::ExternalLoads(file) | ModelStepKind::FunctionBasedPaths(file) => f.text("file", file),
        ModelStepKind::PrescribeCoordinates(reference) => f.table_source("reference", reference),
        ModelStepKind::Operator(o) => match o {
            ModelOperator::ReplaceJointsWithWelds(joints) => f.texts("joints", joints),
            ModelOperator::AddReserves(r) => {
                f.number("optimal_force", &mut r.optimal_force);
                f.optional_number("bound", &mut r.bound);
                f.boolean("skip_actuated", &mut r.skip_coordinates_with_actuators);
                f.boolean("skip_residuals", &mut r.skip_residual_coordinates);
            }
            ModelOperator::AddResiduals(r) => {
                f.number("rotational_force", &mut r.rotational_optimal_force);
                f.number("translational_force", &mut r.translational_optimal_force);
                f.optional_number("bound", &mut r.bound);
                f.boolean("skip_actuated", &mut r.skip_coordinates_with_actuators);
            }
            ModelOperator::ScaleMaxIsometricForce(x) | ModelOperator::ScaleActiveFiberForceCurveWidth(x) => {
                f.number("factor", x);
            }
            ModelOperator::PassiveFiberStrainAtOneNormForce(x) => f.number("strain", x),
            ModelOperator::FiberDamping(x) => f.number("damping", x),
            ModelOperator::Slope(x) => f.number("degrees", x),
            ModelOperator::TendonComplianceDynamicsMode(mode) => {
                let mut is_implicit = *mode == TendonDynamicsMode::Implicit;
                choice(f, "mode", ["explicit", "implicit"], &mut is_implicit);
                *mode = match is_implicit {
                    true => TendonDynamicsMode::Implicit,
                    false => TendonDynamicsMode::Explicit,
                };
            }
            ModelOperator::RemoveMuscles
            | ModelOperator::IgnoreActivationDynamics
            | ModelOperator::IgnoreTendonCompliance
            | ModelOperator::ReplaceMusclesWithPathActuators
            | ModelOperator::ReplaceMusclesWithDeGrooteFregly2016
            | ModelOperator::IgnorePassiveFiberForces => {}
            ModelOperator::ReplacePaths(paths) => f.elements("paths", paths),
            ModelOperator::PrescribeCoordinateValues(list) => f.functions("functions", list),
        },
    }
}

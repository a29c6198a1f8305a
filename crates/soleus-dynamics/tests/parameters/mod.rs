//! Derivatives of the implicit equations by numbers of the model.

mod others;
mod properties;

use crate::common::{direction, files, moved, reference, shifted};
use properties::set;
use soleus_dynamics::implicit::{ImplicitSystem, Parameter, ParameterError};
use soleus_dynamics::kinematics::Resolve;
use soleus_dynamics::{Options, State, System};
use soleus_math::norm::largest_size;
use soleus_math::vec3;
use soleus_model::Model;
use soleus_model::constraint::ConstraintKind;
use soleus_model::contact::{ContactGeometry, ContactShape, TriangleMesh};
use soleus_model::force::{ElasticFoundationForce, ForceKind};
use soleus_model::muscle::MuscleKind;
use soleus_testing::reference_test;
use std::path::Path;

fn read(file: &str) -> Model {
    let file = reference().join("models").join(file);
    let (model, diagnostics) =
        soleus_io::osim::read_model(&std::fs::read(&file).unwrap(), file.to_str().unwrap());
    let mut model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
    for c in &mut model.constraints {
        if let ConstraintKind::PointOnLine { direction, .. } = &mut c.kind {
            // Of a line along an axis, two directions across it are equally good; differences would jump between them.
            *direction = vec3(0.05, 1.0, 0.1);
        }
    }
    model
}

/// A state a little off one with muscles in equilibrium and spheres in the ground, and rates.
fn state(model: &Model, system: &System, controls: &[f64]) -> (State<f64>, Vec<f64>) {
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    system.solve_equilibrium(&mut x, controls, &mut ws);
    let mut x = moved(&x, 3);
    x.u.iter_mut().zip(direction(8, x.q.len(), 2.0)).for_each(|(u, d)| *u += d);
    // The lowest sphere goes 1 cm into the ground.
    system.compute_kinematics(&x, &mut ws);
    let kin = ws.kin.view(0.0);
    let bottom = |g: &ContactGeometry| match g.shape {
        ContactShape::Sphere { radius } => {
            let frame = system.tree.frame(g.frame);
            kin.point(frame.body, frame.X_BF * g.location).y - radius
        }
        _ => f64::INFINITY,
    };
    let lowest = model.contact_geometries.iter().map(bottom).fold(f64::INFINITY, f64::min);
    let height = model.coordinates.iter().position(|c| c.name.ends_with("_ty") || c.name == "yTranslation");
    if let (true, Some(c)) = (lowest.is_finite(), height) {
        x.q[system.tree.mobility_of_coordinate[c]] -= lowest + 0.01;
    }
    let n = 2 * x.q.len() + x.z.len();
    (x, direction(5, n, 3.0))
}

/// Which kind of parameter a name is: its last words without numbers and names of points.
fn kind_of(model: &Model, path: &str) -> String {
    let force = model.forces.iter().find(|f| path.starts_with(&format!("{}/", f.path)));
    let class = force.map_or("", |f| f.class.as_str());
    let words: Vec<&str> = path.split('/').filter(|w| w.parse::<usize>().is_err()).collect();
    format!("{class} {}", words[words.len() - 1])
}

/// Some of what the models that ship have.
const WANTED_OF_SHIPPED: [&str; 7] = [
    " mass",
    " radius",
    "Bogert2011ContactForce damping",
    "Chadwick2009Muscle optimal_fiber_length",
    "DeGrooteFregly2016Muscle tendon_slack_length",
    "Millard2012EquilibriumMuscle pennation_angle_at_optimal",
    "QuadraticDragForce drag_area",
];

/// The models that ship, against central differences between models with another value.
#[test]
fn deriv_residual_by_parameters_of_shipped_models() {
    let mut kinds = std::collections::BTreeSet::new();
    for file in files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models")), "osim") {
        let (model, diagnostics) =
            soleus_io::osim::read_model(&std::fs::read(&file).unwrap(), file.to_str().unwrap());
        let model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
        check_model(file.to_str().unwrap(), &model, &mut kinds);
    }
    println!("{} kinds of parameters: {kinds:?}", kinds.len());
    for wanted in WANTED_OF_SHIPPED {
        assert!(kinds.contains(wanted), "no model has {wanted}: {kinds:?}");
    }
}

/// Every kind of parameter that the models have, against central differences between models with another value.
#[reference_test]
fn deriv_residual_by_parameters() {
    let mut kinds = std::collections::BTreeSet::new();
    for file in [
        "gait10dof18musc.osim",
        "2D_gait.osim",
        "Rajagopal2016.osim",
        "arm26.osim",
        "gait2354_simbody.osim",
        "bouncing_block.osim",
        "subject01_metabolics_path_spring.osim",
    ] {
        let model = read(file);
        check_model(file, &model, &mut kinds);
    }
    println!("{} kinds of parameters: {kinds:?}", kinds.len());
    for wanted in [
        "Thelen2003Muscle optimal_fiber_length",
        "Millard2012EquilibriumMuscle tendon_slack_length",
        "Millard2012EquilibriumMuscle pennation_angle_at_optimal",
        "Millard2012EquilibriumMuscle strain_at_one_norm_force",
        "Millard2012EquilibriumMuscle isometric_slope",
        "Thelen2003Muscle FmaxTendonStrain",
        "Thelen2003Muscle location",
        "SmoothSphereHalfSpaceForce dissipation",
        "SmoothSphereHalfSpaceForce radius",
        "HuntCrossleyForce stiffness",
        " location",
        "PathSpring resting_length",
        "CoordinateActuator optimal_force",
        " translation",
        " orientation",
        " xyz_body_rotation",
        " radius",
        " dimensions",
        " axis",
        " value",
        " coefficients",
    ] {
        assert!(kinds.contains(wanted), "no model has {wanted}");
    }
}

/// The muscles of optimal control and those of old files, in the places of a model's own.
#[reference_test]
fn deriv_residual_by_parameters_of_other_muscles() {
    let model = read("gait10dof18musc.osim");
    for kind in [
        MuscleKind::DeGrooteFregly2016(Default::default()),
        MuscleKind::Bogert2011(Default::default()),
        MuscleKind::Chadwick2009(Default::default()),
        MuscleKind::DeGroote2016(Default::default()),
        MuscleKind::Millard2012Equilibrium(Default::default()),
        MuscleKind::Schutte1993(Default::default()),
        MuscleKind::Delp1990(Default::default()),
        MuscleKind::Thelen2003Deprecated(Default::default()),
        MuscleKind::RigidTendon(Default::default()),
    ] {
        let mut changed = model.clone();
        for f in &mut changed.forces {
            if let ForceKind::Muscle(m) = &mut f.kind {
                m.kind = kind.clone();
                m.pennation_angle_at_optimal = m.pennation_angle_at_optimal.max(0.15);
                f.class = "muscle".to_string();
            }
        }
        let mut kinds = std::collections::BTreeSet::new();
        let system = System::compile(&changed).unwrap();
        let controls = shifted(&vec![0.2; system.num_controls], 1);
        let (x, xdot) = state(&changed, &system, &controls);
        // Tendons a little shorter than in equilibrium, so that all of them pull.
        for f in &mut changed.forces {
            if let ForceKind::Muscle(m) = &mut f.kind {
                m.tendon_slack_length *= 0.985;
            }
        }
        check_model_at("muscles", &changed, (&x, &xdot, &controls), &mut kinds);
        for wanted in ["optimal_fiber_length", "tendon_slack_length", "pennation_angle_at_optimal"] {
            assert!(kinds.contains(&format!("muscle {wanted}")), "{kinds:?}");
        }
    }
}

/// A limit that is exceeded, and a box in the place of the sphere, on a bed of springs.
#[reference_test]
fn deriv_residual_by_parameters_of_limits_and_meshes() {
    let mut model = read("bouncing_block.osim");
    let system = System::compile(&model).unwrap();
    let controls = vec![0.0; system.num_controls];
    let (x, xdot) = state(&model, &system, &controls);
    for f in &mut model.forces {
        match &mut f.kind {
            ForceKind::CoordinateLimitForce(limit) => {
                let q = x.q[system.tree.mobility(limit.coordinate)];
                limit.upper_limit = q.to_degrees() - 2.0;
            }
            ForceKind::HuntCrossleyForce(c) => {
                let mut parameters = c.contact_parameters.clone();
                parameters[0].stiffness = 1e7;
                f.class = "ElasticFoundationForce".to_string();
                f.kind = ForceKind::ElasticFoundationForce(ElasticFoundationForce {
                    contact_parameters: parameters,
                    transition_velocity: c.transition_velocity,
                });
            }
            _ => {}
        }
    }
    // Two triangles on each of the six sides, counter-clockwise from outside.
    let vertices = (0..8).map(|i| [0, 1, 2].map(|k| if i >> k & 1 == 1 { 0.06 } else { -0.06 }));
    let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let mesh = TriangleMesh {
        vertices: vertices.map(|[x, y, z]| vec3(x, y, z)).collect(),
        faces: sides.iter().flat_map(|s| [[s[0], s[1], s[2]], [s[0], s[2], s[3]]]).collect(),
    };
    for g in &mut model.contact_geometries {
        if let ContactShape::Sphere { .. } = g.shape {
            g.shape = ContactShape::Mesh { filename: String::new(), mesh: Some(mesh.clone()) };
        }
    }
    let mut kinds = std::collections::BTreeSet::new();
    check_model_at("limits and meshes", &model, (&x, &xdot, &controls), &mut kinds);
    for wanted in [
        "CoordinateLimitForce upper_limit",
        "CoordinateLimitForce transition",
        "ElasticFoundationForce stiffness",
        "ElasticFoundationForce viscous_friction",
        " location",
    ] {
        assert!(kinds.contains(wanted), "{wanted} is not in {kinds:?}");
    }
}

fn check_model(file: &str, model: &Model, kinds: &mut std::collections::BTreeSet<String>) {
    let system = System::compile(model).unwrap();
    let controls = shifted(&vec![0.2; system.num_controls], 1);
    let (x, xdot) = state(model, &system, &controls);
    check_model_at(file, model, (&x, &xdot, &controls), kinds);
}

fn check_model_at(
    file: &str,
    model: &Model,
    (x, xdot, controls): (&State<f64>, &[f64], &[f64]),
    kinds: &mut std::collections::BTreeSet<String>,
) {
    check_some(file, model, (x, xdot, controls), kinds, |_| true);
}

/// The same for those parameters whose names are `asked` for.
fn check_some(
    file: &str,
    model: &Model,
    (x, xdot, controls): (&State<f64>, &[f64], &[f64]),
    kinds: &mut std::collections::BTreeSet<String>,
    asked: impl Fn(&str) -> bool,
) {
    let system = System::compile(model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let mut all = implicit.parameter_names(model, &Options::default());
    all.retain(|name| asked(name));
    // The first four of each kind, and two further on.
    let mut count = std::collections::BTreeMap::<String, usize>::new();
    let names = all.iter().filter(|n| {
        let k = count.entry(kind_of(model, n)).or_default();
        *k += 1;
        [1, 2, 3, 4, 8, 23].contains(k)
    });
    let parameters: Vec<Parameter> =
        names.map(|n| implicit.parameter(model, &Options::default(), n).unwrap()).collect();
    let lambda = direction(6, implicit.num_multipliers(), 10.0);
    let point = (x, xdot, controls, &lambda[..]);
    let df_dp = columns(&implicit, point, &parameters);
    let nr = implicit.num_residuals();
    for (p, column) in parameters.iter().zip(df_dp.chunks(nr)) {
        let at = |v: f64| residual_with(model, &p.path, v, point);
        let scale = largest_size(column);
        let size = p.value.abs().max(1e-2);
        // A value at the end of its range has no value beyond it to compare with.
        let mut beyond = model.clone();
        set(&mut beyond, &p.path, p.value - 1e-4 * size);
        if System::compile(&beyond).is_err() {
            continue;
        }
        // Richardson's combination of two steps, against what one step says of the error of two.
        let difference = |h: f64| {
            let (up, down) = (at(p.value + h), at(p.value - h));
            up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect::<Vec<f64>>()
        };
        let h = 2e-5 * size;
        let (coarse, fine, middle) = (difference(h), difference(0.5 * h), at(p.value));
        for i in 0..nr {
            let fd = (4.0 * fine[i] - coarse[i]) / 3.0;
            // Truncation is less than what the step makes of it, also where a curve bends at the end of a stretch that two
            // steps straddle; rounding of residuals of 1e4 at most, over h.
            let error = 1e-7 * scale + (fine[i] - coarse[i]).abs() + 1e-11 * (middle[i].abs() + 10.0) / h;
            assert!(
                (column[i] - fd).abs() <= error,
                "{file} {} row {i}: {} {fd} (scale {scale}, error {error:e})",
                p.path,
                column[i]
            );
        }
        if scale > 0.0 {
            kinds.insert(kind_of(model, &p.path));
        }
    }
}

/// State, rates, controls and multipliers.
type Point<'a> = (&'a State<f64>, &'a [f64], &'a [f64], &'a [f64]);

/// The derivative of the residual by each parameter, one after the other.
fn columns(
    implicit: &ImplicitSystem,
    (x, xdot, controls, lambda): Point,
    parameters: &[Parameter],
) -> Vec<f64> {
    let mut df_dp = vec![f64::NAN; implicit.num_residuals() * parameters.len()];
    let mut room = implicit.parameter_workspace();
    implicit.compute_parameter_jacobian(x, xdot, controls, lambda, parameters, &mut room, &mut df_dp);
    df_dp
}

/// The residual of the model with another value of a parameter.
fn residual_with(model: &Model, path: &str, value: f64, (x, xdot, controls, lambda): Point) -> Vec<f64> {
    let mut changed = model.clone();
    set(&mut changed, path, value);
    let system = System::compile(&changed).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let mut r = vec![0.0; implicit.num_residuals()];
    implicit.compute_residual(x, xdot, controls, lambda, &mut system.workspace(), &mut r);
    r
}

/// What is not supported is refused by name, with what there is.
#[reference_test]
fn analytic_unknown_parameters_are_refused() {
    let model = read("gait10dof18musc.osim");
    let system = System::compile(&model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let ask = |path: &str| implicit.parameter(&model, &Options::default(), path);
    assert!(matches!(ask("/bodyset/nobody/mass"), Err(ParameterError::NotFound { .. })));
    let muscle = model.forces.iter().find(|f| matches!(f.kind, ForceKind::Muscle(_))).unwrap();
    let e = ask(&format!("{}/default_activation", muscle.path)).unwrap_err();
    assert!(e.to_string().contains("max_isometric_force, "), "{e}");
    let body = &model.bodies[1].path;
    assert!(matches!(ask(&format!("{body}/mass_center/3")), Err(ParameterError::NotSupported { .. })));
    assert_eq!(ask(&format!("{body}/mass")).unwrap().unit, "kg");
    assert_eq!(ask(&format!("{}/optimal_fiber_length", muscle.path)).unwrap().unit, "m");
    // The whole body is moved by its joint, not by a property; markers are in no equation.
    assert!(matches!(ask(&format!("{body}/translation/0")), Err(ParameterError::NotSupported { .. })));
    if let Some(marker) = model.markers.first() {
        let e = ask(&format!("{}/location/0", marker.path)).unwrap_err();
        assert!(e.to_string().contains("do not enter the equations of motion"), "{e}");
    }
}

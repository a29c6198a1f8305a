//! Derivatives of the implicit equations by numbers of the model.

mod common;

use common::{direction, moved, reference, shifted};
use soleus_dynamics::implicit::{ImplicitSystem, Parameter, ParameterError};
use soleus_dynamics::{Options, State, System};
use soleus_model::Model;
use soleus_model::force::ForceKind;

fn read(file: &str) -> Option<Model> {
    let file = reference()?.join("models").join(file);
    let (model, diagnostics) =
        soleus_io::osim::read_model(&std::fs::read(&file).unwrap(), file.to_str().unwrap());
    Some(model.unwrap_or_else(|| panic!("{:?}", diagnostics.list)))
}

/// The residual of a model at a state that is a little off its default.
fn residual(model: &Model, controls: &[f64]) -> (Vec<f64>, State<f64>, Vec<f64>) {
    let system = System::compile(model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let mut x = moved(&system.default_state, 3);
    x.u.iter_mut().zip(direction(4, x.q.len(), 2.0)).for_each(|(u, d)| *u += d);
    let xdot = direction(5, implicit.num_states(), 3.0);
    let lambda = vec![0.0; implicit.num_multipliers()];
    let mut r = vec![0.0; implicit.num_residuals()];
    implicit.compute_residual(&x, &xdot, controls, &lambda, &mut system.workspace(), &mut r);
    (r, x, xdot)
}

/// A property by its name, to change it.
fn slot<'a>(model: &'a mut Model, path: &str) -> &'a mut f64 {
    if let Some(b) = model.bodies.iter_mut().find(|b| path.starts_with(&format!("{}/", b.path))) {
        return match &path[b.path.len() + 1..] {
            "mass" => &mut b.mass,
            "mass_center/0" => &mut b.mass_center.x,
            "mass_center/1" => &mut b.mass_center.y,
            "mass_center/2" => &mut b.mass_center.z,
            "inertia/0" => &mut b.inertia.xx,
            "inertia/2" => &mut b.inertia.zz,
            "inertia/3" => &mut b.inertia.xy,
            other => panic!("{other}"),
        };
    }
    let f = model.forces.iter_mut().find(|f| path.starts_with(&format!("{}/", f.path))).unwrap();
    let name = path[f.path.len() + 1..].to_string();
    match (&mut f.kind, name.as_str()) {
        (ForceKind::Muscle(m), "max_isometric_force") => &mut m.max_isometric_force,
        (ForceKind::CoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::CoordinateLimitForce(a), "upper_stiffness") => &mut a.upper_stiffness,
        (ForceKind::CoordinateLimitForce(a), "damping") => &mut a.damping,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "stiffness") => &mut a.stiffness,
        (ForceKind::SmoothSphereHalfSpaceForce(a), "dynamic_friction") => &mut a.dynamic_friction,
        (_, other) => panic!("{other}"),
    }
}

/// Every supported kind of parameter of three models against central differences between models with another value.
#[test]
fn deriv_residual_by_parameters() {
    for (file, suffixes) in [
        ("gait10dof18musc.osim", &["mass", "mass_center/1", "inertia/2", "max_isometric_force"][..]),
        (
            "2D_gait.osim",
            &["mass", "mass_center/0", "stiffness", "dynamic_friction", "optimal_force", "damping"],
        ),
        ("Rajagopal2016.osim", &["mass", "mass_center/2", "inertia/0", "inertia/3", "optimal_force"]),
    ] {
        let Some(model) = read(file) else { return };
        let system = System::compile(&model).unwrap();
        let implicit = ImplicitSystem::new(&system);
        let controls = shifted(&vec![0.2; system.num_controls], 1);
        let (_, x, xdot) = residual(&model, &controls);
        let paths = model.bodies.iter().map(|b| &b.path).chain(model.forces.iter().map(|f| &f.path));
        let names: Vec<String> =
            paths.flat_map(|p| suffixes.iter().map(move |s| format!("{p}/{s}"))).collect();
        let parameters: Vec<Parameter> =
            names.iter().filter_map(|n| implicit.parameter(&model, &Options::default(), n).ok()).collect();
        assert!(parameters.len() >= 10, "{file}: {}", parameters.len());
        let nr = implicit.num_residuals();
        let mut df_dp = vec![f64::NAN; nr * parameters.len()];
        implicit.compute_parameter_jacobian(
            &x,
            &xdot,
            &controls,
            &parameters,
            &mut system.workspace(),
            &mut df_dp,
        );
        for (p, column) in parameters.iter().zip(df_dp.chunks(nr)).step_by(3) {
            let h = 1e-4 * p.value.abs().max(1e-2);
            let at = |v: f64| {
                let mut changed = model.clone();
                *slot(&mut changed, &p.path) = v;
                residual(&changed, &controls).0
            };
            let (up, down) = (at(p.value + h), at(p.value - h));
            let scale = column.iter().map(|x| x.abs()).fold(1e-3, f64::max);
            for i in 0..nr {
                // Affine or quadratic: no truncation. Rounding of residuals of 1e4 at most, divided by h.
                let fd = (up[i] - down[i]) / (2.0 * h);
                let noise = 1e-11 * (up[i].abs() + 10.0) / h;
                assert!(
                    (column[i] - fd).abs() <= 1e-7 * scale + noise,
                    "{file} {} row {i}: {} {fd}",
                    p.path,
                    column[i]
                );
            }
        }
    }
}

/// What is not supported is refused by name, with what there is.
#[test]
fn analytic_unknown_parameters_are_refused() {
    let Some(model) = read("gait10dof18musc.osim") else { return };
    let system = System::compile(&model).unwrap();
    let implicit = ImplicitSystem::new(&system);
    let ask = |path: &str| implicit.parameter(&model, &Options::default(), path);
    assert!(matches!(ask("/bodyset/nobody/mass"), Err(ParameterError::NotFound { .. })));
    let muscle = model.forces.iter().find(|f| matches!(f.kind, ForceKind::Muscle(_))).unwrap();
    let e = ask(&format!("{}/optimal_fiber_length", muscle.path)).unwrap_err();
    assert!(e.to_string().contains("max_isometric_force"), "{e}");
    let body = &model.bodies[0].path;
    assert!(matches!(ask(&format!("{body}/mass_center/3")), Err(ParameterError::NotSupported { .. })));
}

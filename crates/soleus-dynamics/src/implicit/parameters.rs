//! Derivatives of the implicit equations by numbers of the model.
//!
//! A parameter is named by the path of its component and its property: `/bodyset/torso/mass`,
//! `/bodyset/torso/mass_center/1`, `/forceset/soleus_r/max_isometric_force`.
//!
//! Newton–Euler is linear in mass, first moment and inertia of a body. Of forces those properties are known here that their
//! load is affine in, f = a + b p; two values of p then give b exactly, whatever the class.

use super::{ImplicitSystem, apply_force};
use crate::Options;
use crate::kinematics::Loads;
use crate::multibody::{Tree, compute_accelerations, compute_generalized_forces};
use crate::system::{Actor, State, System, SystemError, Workspace};
use soleus_math::{SpatialInertia, SpatialVec, SymMat33, Vec3};
use soleus_model::Model;
use soleus_model::force::ForceKind;

/// Why the equations cannot be differentiated by a number of the model.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ParameterError {
    /// The name is not that of a property of a component.
    #[error("there is no `{path}` in the model; a parameter is named like /bodyset/torso/mass")]
    NotFound {
        /// What was asked for.
        path: String,
    },
    /// The property is there, but its derivative is not.
    #[error("no derivative by `{path}`; for a {class} there is one by {supported}")]
    NotSupported {
        /// What was asked for.
        path: String,
        /// Class of the component.
        class: String,
        /// Properties of this class that can be had.
        supported: String,
    },
    /// The model does not compile with another value.
    #[error(transparent)]
    System(#[from] SystemError),
}

/// A number of the model that the implicit equations are differentiated by.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Path of component and property.
    pub path: String,
    /// Its value in the model, in the units of the file.
    pub value: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Change of inertia of some nodes per unit, about the body's origin and in the body.
    Inertial(Vec<(usize, SpatialInertia<f64>)>),
    /// A force, its law at another value, and how far that value is away.
    Affine { force: usize, other: Box<Actor>, step: f64 },
}

/// Properties of bodies.
const OF_BODIES: &str = "mass, mass_center/0 to 2, inertia/0 to 5";

impl ImplicitSystem<'_> {
    /// The parameter of that name. `model` and `options` are those that the system was compiled from.
    pub fn parameter(
        &self,
        model: &Model,
        options: &Options,
        path: &str,
    ) -> Result<Parameter, ParameterError> {
        let not_found = || ParameterError::NotFound { path: path.to_string() };
        for (b, body) in model.bodies.iter().enumerate() {
            let Some(property) = property_of(path, &body.path) else { continue };
            let (value, change) =
                body_change(model, b, property).ok_or_else(|| ParameterError::NotSupported {
                    path: path.to_string(),
                    class: "Body".to_string(),
                    supported: OF_BODIES.to_string(),
                })?;
            let kind = Kind::Inertial(nodes_of_body(&self.system.tree, b, change));
            return Ok(Parameter { path: path.to_string(), value, kind });
        }
        for (i, force) in model.forces.iter().enumerate() {
            let Some(property) = property_of(path, &force.path) else { continue };
            let mut changed = model.clone();
            let Some(slot) = affine_property(&mut changed.forces[i].kind, property) else {
                let mut kind = force.kind.clone();
                let names = NAMES.iter().filter(|n| affine_property(&mut kind, n).is_some());
                let list: Vec<&str> = names.copied().collect();
                return Err(ParameterError::NotSupported {
                    path: path.to_string(),
                    class: force.class.clone(),
                    supported: if list.is_empty() { "nothing".to_string() } else { list.join(", ") },
                });
            };
            let value = *slot;
            // As far away as the value is large, so that nothing is lost to cancellation.
            let step = if value == 0.0 { 1.0 } else { value };
            *slot = value + step;
            let mut other = System::compile_with(&changed, options)?;
            let other = Box::new(other.forces.swap_remove(i).actor);
            return Ok(Parameter {
                path: path.to_string(),
                value,
                kind: Kind::Affine { force: i, other, step },
            });
        }
        Err(not_found())
    }

    /// ∂f/∂p of each parameter, one column of `num_residuals` numbers after the other.
    pub fn compute_parameter_jacobian(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
        parameters: &[Parameter],
        ws: &mut Workspace<f64>,
        df_dp: &mut [f64],
    ) {
        let s = self.system;
        let n = s.tree.num_mobilities;
        let (udot, zdot) = (&xdot[n..2 * n], &xdot[2 * n..]);
        s.compute_kinematics(x, ws);
        s.compute_paths(x, ws);
        // Gravity enters as an acceleration of ground.
        ws.A_GB[0] = SpatialVec::new(Vec3::zero(), -s.gravity);
        compute_accelerations(&s.tree, &ws.kin, udot, &mut ws.A_GB);
        for (p, column) in parameters.iter().zip(df_dp.chunks_exact_mut(self.num_residuals())) {
            column.fill(0.0);
            let (ru, rest) = column[n..].split_at_mut(n);
            ws.body_load.fill(SpatialVec::zero());
            ws.mobility_load.fill(0.0);
            match &p.kind {
                Kind::Inertial(nodes) => {
                    for &(b, change) in nodes {
                        let R_GB = ws.kin.X_GB[b].R;
                        let I = SpatialInertia {
                            mass: change.mass,
                            moment: R_GB * change.moment,
                            inertia: R_GB.reexpress(change.inertia),
                        };
                        let w = ws.kin.V_GB[b].w;
                        let gyro = SpatialVec::new(w.cross(I.inertia * w), w.cross(w.cross(I.moment)));
                        ws.body_load[b] -= I.momentum(ws.A_GB[b]) + gyro;
                    }
                }
                Kind::Affine { force, other, step } => {
                    let f = &s.forces[*force];
                    if !f.enabled {
                        continue;
                    }
                    let rz = &mut rest[f.states.clone()];
                    let kin = ws.kin.view(x.time);
                    let path = f.path.as_ref().map(|p| (p, &ws.paths[*force]));
                    let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
                    // The load at the model's value with the sign turned, then that at the other.
                    apply_force(f, &f.actor, path, &kin, x, controls, zdot, rz, &mut loads);
                    let base = [rz.first(), rz.get(1), rz.get(2)].map(|r| r.copied().unwrap_or(0.0));
                    loads.body.iter_mut().for_each(|f| *f = -*f);
                    loads.mobility.iter_mut().for_each(|f| *f = -*f);
                    apply_force(f, other, path, &kin, x, controls, zdot, rz, &mut loads);
                    for (r, base) in rz.iter_mut().zip(base) {
                        *r = (*r - base) / step;
                    }
                    loads.body.iter_mut().for_each(|f| *f = *f * step.recip());
                    loads.mobility.iter_mut().for_each(|f| *f /= step);
                }
            }
            compute_generalized_forces(&s.tree, &ws.kin, &mut ws.body_load, ru);
            for (r, m) in ru.iter_mut().zip(&ws.mobility_load) {
                *r = -(*r + m);
            }
        }
    }
}

/// What follows the path of the component, if the name begins with it.
fn property_of<'a>(path: &'a str, component: &str) -> Option<&'a str> {
    path.strip_prefix(component)?.strip_prefix('/')
}

/// Value of a property of a body, and the change of its inertia about the origin per unit.
///
/// With mass m, mass centre c and central inertia I_c: moment h = m c, inertia I_c + m (c·c 1 − c cᵀ).
fn body_change(model: &Model, body: usize, property: &str) -> Option<(f64, SpatialInertia<f64>)> {
    let b = &model.bodies[body];
    let (m, c) = (b.mass, b.mass_center);
    let zero = SymMat33::zero();
    let (name, index) = property.split_once('/').map_or((property, None), |(n, i)| (n, i.parse().ok()));
    match (name, index) {
        ("mass", None) => Some((m, SpatialInertia { mass: 1.0, moment: c, inertia: SymMat33::of_point(c) })),
        ("mass_center", Some(k)) if k < 3 => {
            // ∂(c·c 1 − c cᵀ)/∂c_k, the polar form of a quadratic one.
            let e = Vec3::unit(k);
            let inertia = SymMat33::of_point(c + e) - SymMat33::of_point(c) - SymMat33::of_point(e);
            Some((c[k], SpatialInertia { mass: 0.0, moment: e * m, inertia: inertia.scale(m) }))
        }
        ("inertia", Some(k)) if k < 6 => {
            let mut unit = zero;
            let I = &b.inertia;
            let (slot, value): (&mut f64, f64) = match k {
                0 => (&mut unit.xx, I.xx),
                1 => (&mut unit.yy, I.yy),
                2 => (&mut unit.zz, I.zz),
                3 => (&mut unit.xy, I.xy),
                4 => (&mut unit.xz, I.xz),
                _ => (&mut unit.yz, I.yz),
            };
            *slot = 1.0;
            Some((value, SpatialInertia { mass: 0.0, moment: Vec3::zero(), inertia: unit }))
        }
        _ => None,
    }
}

/// The nodes of a body, which share its inertia evenly.
fn nodes_of_body(tree: &Tree, body: usize, change: SpatialInertia<f64>) -> Vec<(usize, SpatialInertia<f64>)> {
    let nodes: Vec<usize> =
        (1..tree.nodes.len()).filter(|&i| tree.nodes[i].body.is_some_and(|b| b.0 == body)).collect();
    let share = 1.0 / nodes.len().max(1) as f64;
    let part = SpatialInertia {
        mass: change.mass * share,
        moment: change.moment * share,
        inertia: change.inertia.scale(share),
    };
    nodes.into_iter().map(|b| (b, part)).collect()
}

/// Names of all properties that [`affine_property`] knows of some class.
const NAMES: &[&str] = &[
    "optimal_force",
    "max_isometric_force",
    "stiffness",
    "rest_length",
    "viscosity",
    "upper_stiffness",
    "lower_stiffness",
    "damping",
    "rotational_stiffness/0",
    "rotational_stiffness/1",
    "rotational_stiffness/2",
    "translational_stiffness/0",
    "translational_stiffness/1",
    "translational_stiffness/2",
    "rotational_damping/0",
    "rotational_damping/1",
    "rotational_damping/2",
    "translational_damping/0",
    "translational_damping/1",
    "translational_damping/2",
    "static_friction",
    "dynamic_friction",
    "viscous_friction",
    "pcsa_force",
    "linear_stiffness",
];

/// The property of that name, if the load is an affine function of it.
fn affine_property<'a>(kind: &'a mut ForceKind, property: &str) -> Option<&'a mut f64> {
    let (name, index) =
        property.split_once('/').map_or((property, 0), |(n, i)| (n, i.parse().unwrap_or(usize::MAX)));
    if index > 2 {
        return None;
    }
    Some(match (kind, name) {
        (ForceKind::Muscle(m), "max_isometric_force") => &mut m.max_isometric_force,
        (ForceKind::CoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::ActivationCoordinateActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PointActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::TorqueActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PointToPointActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::PathActuator(a), "optimal_force") => &mut a.optimal_force,
        (ForceKind::SpringGeneralizedForce(f), "stiffness") => &mut f.stiffness,
        (ForceKind::SpringGeneralizedForce(f), "rest_length") => &mut f.rest_length,
        (ForceKind::SpringGeneralizedForce(f), "viscosity") => &mut f.viscosity,
        (ForceKind::CoordinateLimitForce(f), "upper_stiffness") => &mut f.upper_stiffness,
        (ForceKind::CoordinateLimitForce(f), "lower_stiffness") => &mut f.lower_stiffness,
        (ForceKind::CoordinateLimitForce(f), "damping") => &mut f.damping,
        (ForceKind::PointToPointSpring(f), "stiffness") => &mut f.stiffness,
        (ForceKind::PointToPointSpring(f), "rest_length") => &mut f.rest_length,
        (ForceKind::BushingForce(f), "rotational_stiffness") => &mut f.rotational_stiffness[index],
        (ForceKind::BushingForce(f), "translational_stiffness") => &mut f.translational_stiffness[index],
        (ForceKind::BushingForce(f), "rotational_damping") => &mut f.rotational_damping[index],
        (ForceKind::BushingForce(f), "translational_damping") => &mut f.translational_damping[index],
        (ForceKind::SmoothSphereHalfSpaceForce(f), "stiffness") => &mut f.stiffness,
        (ForceKind::SmoothSphereHalfSpaceForce(f), "static_friction") => &mut f.static_friction,
        (ForceKind::SmoothSphereHalfSpaceForce(f), "dynamic_friction") => &mut f.dynamic_friction,
        (ForceKind::SmoothSphereHalfSpaceForce(f), "viscous_friction") => &mut f.viscous_friction,
        (ForceKind::PathSpring(f), "stiffness") => &mut f.stiffness,
        (ForceKind::Ligament(f), "pcsa_force") => &mut f.pcsa_force,
        (ForceKind::Blankevoort1991Ligament(f), "linear_stiffness") => &mut f.linear_stiffness,
        _ => return None,
    })
}

//! Musculoskeletal dynamics as one implicit equation, f(x, ẋ, e, λ, t) = 0, and its exact Jacobians.
//!
//! States x = (q, u, z), controls e, multipliers λ. The rows, in this order:
//!
//!   q̇ − N(q) u                                          n rows     kinematics
//!   M u̇ + c(q, u) − Jᵀ F − τ + Gᵀ λ                      n rows     inverse dynamics, O(N)
//!   force balance of each muscle, ż − rate of others     nz rows    in the order of z
//!   G u̇ − b                                             m rows     constraints, on accelerations
//!
//! In this form (van den Bogert, Blana and Heinrich 2011, eq. 13; Dembia et al. 2020, eq. 1) no matrix is inverted and
//! there are no singularities, neither for massless segments nor at zero activation. The Jacobians are sparse; their
//! pattern is determined once from the structure of the model.

mod constraints;
mod given_motion;
mod hessian;
mod jacobian;
mod parameters;
mod pattern;
mod scatter;
mod sparse;
mod straight;

pub use given_motion::{GivenMotion, JointLoad, JointLoadPoint, MotionPoint, Reaction};
pub use hessian::{HessianWorkspace, ImplicitHessian, ReactionScratch, ReactionSum};
pub use jacobian::{ImplicitJacobian, JacobianWorkspace};
pub use parameters::{Parameter, ParameterError, ParameterWorkspace};
pub use sparse::SparseMatrix;

use crate::kinematics::{Kinematics, Loads};
use crate::multibody::compute_inverse_dynamics;
use crate::path::{CompiledPath, PathState};
use crate::system::{Actor, State, SystemForce, SystemRef, Workspace};
use pattern::Pattern;
use scatter::ScatterPlan;
use soleus_math::{Dual, Over, Part, Real, SpatialVec, same, same_mut};
use std::sync::Arc;

/// A system in implicit form.
#[derive(Clone, Debug)]
pub struct ImplicitSystem<'a> {
    /// The system.
    pub system: SystemRef<'a>,
    pattern: Arc<Pattern>,
    plan: Arc<ScatterPlan>,
}

/// The structure of a system's equations, without the system, for reuse.
#[derive(Clone, Debug)]
pub struct ImplicitStructure {
    pattern: Arc<Pattern>,
    plan: Arc<ScatterPlan>,
}

impl ImplicitStructure {
    /// The system in implicit form. It must be the one for which the structure was found, or differ from it only in its
    /// numbers.
    pub fn system<'a>(&self, system: impl Into<SystemRef<'a>>) -> ImplicitSystem<'a> {
        ImplicitSystem { system: system.into(), pattern: self.pattern.clone(), plan: self.plan.clone() }
    }
}

impl<'a> ImplicitSystem<'a> {
    /// Finds the structure of the equations.
    pub fn new(system: impl Into<SystemRef<'a>>) -> Self {
        let system = system.into();
        let pattern = Pattern::find(&system);
        let plan = ScatterPlan::find(&system, &pattern);
        ImplicitSystem { system, pattern: Arc::new(pattern), plan: Arc::new(plan) }
    }

    /// The structure.
    pub fn structure(&self) -> ImplicitStructure {
        ImplicitStructure { pattern: self.pattern.clone(), plan: self.plan.clone() }
    }

    /// Number of states: coordinates, speeds, auxiliary states.
    pub fn num_states(&self) -> usize {
        2 * self.system.tree.num_mobilities + self.system.num_aux
    }

    /// Number of multipliers.
    pub fn num_multipliers(&self) -> usize {
        self.system.constraints.num_rows()
    }

    /// Number of residuals.
    pub fn num_residuals(&self) -> usize {
        self.num_states() + self.num_multipliers()
    }

    /// The residual f at a state `x` with rates `xdot` (q̇, u̇, ż), controls and multipliers.
    pub fn compute_residual<T: Real>(
        &self,
        x: &State<T>,
        xdot: &[T],
        controls: &[T],
        lambda: &[T],
        ws: &mut Workspace<T>,
        r: &mut [T],
    ) {
        T::choose(
            (ws, r),
            |(ws, r)| {
                let [xdot, controls, lambda] = [xdot, controls, lambda].map(T::plain_list);
                self.compute_plain_residual(
                    same(x),
                    xdot,
                    controls,
                    lambda,
                    same_mut(ws),
                    T::plain_list_mut(r),
                );
            },
            |(ws, r)| {
                self.system.compute_kinematics(x, ws);
                self.compute_residual_of_motion(x, xdot, controls, lambda, ws, r);
            },
        );
    }

    #[inline(never)]
    fn compute_plain_residual(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
        lambda: &[f64],
        ws: &mut Workspace<f64>,
        r: &mut [f64],
    ) {
        self.system.compute_kinematics(x, ws);
        self.compute_residual_of_motion(x, xdot, controls, lambda, ws, r);
    }

    /// [`compute_residual`](Self::compute_residual) along one direction. Not generic, so that other crates share the
    /// compiled code.
    #[inline(never)]
    pub fn compute_residual_along(
        &self,
        x: &State<Dual<f64, 1>>,
        xdot: &[Dual<f64, 1>],
        controls: &[Dual<f64, 1>],
        lambda: &[Dual<f64, 1>],
        ws: &mut Workspace<Dual<f64, 1>>,
        r: &mut [Dual<f64, 1>],
    ) {
        self.compute_residual(x, xdot, controls, lambda, ws, r);
    }

    /// The residual for the motion of the bodies in the workspace.
    fn compute_residual_of_motion<T: Real>(
        &self,
        x: &State<T>,
        xdot: &[T],
        controls: &[T],
        lambda: &[T],
        ws: &mut Workspace<T>,
        r: &mut [T],
    ) {
        let s = &*self.system;
        let n = s.tree.num_mobilities;
        let (qdot, rest) = xdot.split_at(n);
        let (udot, zdot) = rest.split_at(n);
        s.compute_paths(x, ws);

        let (rq, rest) = r.split_at_mut(n);
        let (ru, rest) = rest.split_at_mut(n);
        let (rz, rc) = rest.split_at_mut(s.num_aux);
        s.compute_coordinate_rates(x, rq);
        for (r, &qdot) in rq.iter_mut().zip(qdot) {
            *r = qdot - *r;
        }

        self.compute_loads(x, controls, zdot, ws, rz);
        // The accelerations and joint wrenches of inverse dynamics need scratch of their own.
        let (mut A, mut F) = (std::mem::take(&mut ws.A_GB), std::mem::take(&mut ws.scratch));
        compute_inverse_dynamics(&s.tree, &ws.kin, udot, &ws.body_load, &mut A, &mut F, ru);
        (ws.A_GB, ws.scratch) = (A, F);
        for (r, &m) in ru.iter_mut().zip(&ws.mobility_load) {
            *r -= m;
        }

        s.constraints.compute(&s.tree, &ws.kin, x.time, &mut ws.constraints);
        for (i, (rc, &l)) in rc.iter_mut().zip(lambda).enumerate() {
            T::enter(Part::Constraint, i);
            let mut a = ws.constraints.bias[i];
            for (j, &g) in ws.constraints.G[i * n..(i + 1) * n].iter().enumerate() {
                a += g * udot[j];
                ru[j] += g * l;
            }
            *rc = a;
        }
    }

    /// Loads of gravity and forces, with muscles and other states as residuals.
    fn compute_loads<T: Real>(
        &self,
        x: &State<T>,
        controls: &[T],
        zdot: &[T],
        ws: &mut Workspace<T>,
        rz: &mut [T],
    ) {
        let s = &*self.system;
        s.compute_gravity(&ws.kin, &mut ws.body_load);
        ws.mobility_load.fill(T::zero());
        let kin = ws.kin.view(x.time);
        let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
        for (i, f) in s.forces.iter().enumerate() {
            let rz = &mut rz[f.states.clone()];
            if f.enabled {
                T::enter(Part::Force, i);
                let path = f.path.as_ref().map(|p| (p, &ws.paths[i]));
                ws.tension[i] = apply_force(f, &f.actor, path, &kin, x, controls, zdot, rz, &mut loads);
            } else {
                // A force that is switched off keeps its states.
                rz.copy_from_slice(&zdot[f.states.clone()]);
            }
        }
    }
}

/// Adds the load of one force that follows the law of `actor`, and writes the residuals of its states. Returns its tension
/// if it acts along a path.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn apply_force<P: Real, T: Over<P>>(
    f: &SystemForce,
    actor: &Actor<P>,
    path: Option<(&CompiledPath, &PathState<T>)>,
    kin: &Kinematics<T>,
    x: &State<T>,
    controls: &[T],
    zdot: &[T],
    rz: &mut [T],
    loads: &mut Loads<T>,
) -> T {
    let (z, zd, e) = (&x.z[f.states.clone()], &zdot[f.states.clone()], &controls[f.controls.clone()]);
    match (actor, path) {
        (_, Some((p, st))) => {
            let control = e.first().copied().unwrap_or(T::zero());
            let tension = path_law(actor, [st.length(), st.speed(), control], z, zd, rz);
            p.apply_tension(kin, st, tension, loads);
            return tension;
        }
        (Actor::Force(c), None) => {
            c.apply(kin, e, z, rz, loads);
            subtract_from(zd, rz);
        }
        (Actor::Muscle(_), None) => rz.copy_from_slice(zd),
    }
    T::zero()
}

/// Tension of a force along a path at (length, speed, control), and the residuals of its states.
#[inline]
fn path_law<P: Real, T: Over<P>>(actor: &Actor<P>, [L, v, e]: [T; 3], z: &[T], zdot: &[T], r: &mut [T]) -> T {
    match actor {
        Actor::Muscle(m) => m.residual(L, v, e, z, zdot, r),
        Actor::Force(c) => {
            let Some(law) = c.path_force() else {
                r.copy_from_slice(zdot);
                return T::zero();
            };
            law.states_dot(L, v, e, z, r);
            subtract_from(zdot, r);
            law.tension(L, v, e, z)
        }
    }
}

/// r ← rate − r.
fn subtract_from<T: Real>(rate: &[T], r: &mut [T]) {
    for (r, &rate) in r.iter_mut().zip(rate) {
        *r = rate - *r;
    }
}

/// A wrench about a body's origin p, about the origin of ground.
#[inline(always)]
fn to_ground<T: Real>(f: SpatialVec<T>, p: soleus_math::Vec3<T>) -> SpatialVec<T> {
    SpatialVec::new(f.w + p.cross(f.v), f.v)
}

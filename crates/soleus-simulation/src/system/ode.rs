//! The equations of a model.

use super::controls::Controls;
use super::project::Projector;
use crate::error_norm::ErrorNorm;
use crate::linear::Pattern;
use crate::ode::{ExplicitOde, ImplicitOde, MechanicalOde, Projected, RhsError};
use soleus_dynamics::joint::angles_rate;
use soleus_dynamics::system::{MotionError, State, System, SystemRef, Workspace};
use soleus_math::{Dual, Real, vec3};

/// Directions of one evaluation with derivatives.
const LANES: usize = 8;

/// The equations of motion of a system under given controls, with x = [q, u, z]:
///
///   q̇ = N(q) u,   u̇ from M u̇ + Gᵀλ = f, G u̇ = b,   ż from the forces        (1)
///
/// As an [`ImplicitOde`] it is ẋ − f(t, x) = 0, with exact ∂f/∂x by dual numbers; controls count as functions of
/// time there, so that feedback through the state is left out of the Jacobian (it only slows Newton's method).
pub struct SystemOde<'a, C> {
    system: SystemRef<'a>,
    /// What sets the controls.
    pub controls: C,
    /// Damping of each mobility besides the model's own, N·s/m or N·m·s/rad; none when empty.
    pub damping: Vec<f64>,
    x: State<f64>,
    values: Vec<f64>,
    ws: Workspace<f64>,
    projector: Projector,
    error: Vec<f64>,
    dual: Option<Box<DualRoom>>,
}

/// What the Jacobian needs.
struct DualRoom {
    ws: Workspace<Dual<f64, LANES>>,
    x: State<Dual<f64, LANES>>,
    controls: Vec<Dual<f64, LANES>>,
    pattern: Pattern,
}

impl<'a, C: Controls> SystemOde<'a, C> {
    /// The equations of `system` under `controls`.
    pub fn new(system: impl Into<SystemRef<'a>>, controls: C) -> Self {
        let system = system.into();
        SystemOde {
            x: system.default_state.clone(),
            values: vec![0.0; system.num_controls],
            ws: system.workspace(),
            projector: Projector::new(&system),
            error: vec![0.0; 2 * system.tree.num_mobilities],
            dual: None,
            damping: Vec::new(),
            system,
            controls,
        }
    }

    /// The same, ready for implicit methods.
    pub fn with_jacobian(mut self) -> Self {
        let n = ExplicitOde::dim(&self);
        self.dual = Some(Box::new(DualRoom {
            ws: self.system.workspace(),
            x: self.x.lift(),
            controls: vec![Dual::default(); self.values.len()],
            pattern: Pattern::dense(n),
        }));
        self
    }

    /// The system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The norm in which Simbody measures errors of q, u and z. A joint that could turn by quaternions has one
    /// more coordinate there, which counts in the mean.
    pub fn error_norm(&self) -> ErrorNorm {
        let n = self.system.tree.num_mobilities;
        let (slots, z) = (n + self.projector.angular().len(), self.system.num_aux);
        ErrorNorm::grouped(&[(n, slots, false), (n, n, true), (z, z, true)])
    }

    /// x = [q, u, z] of a state.
    pub fn vector(state: &State<f64>) -> Vec<f64> {
        [&state.q[..], &state.u, &state.z].concat()
    }

    /// Controls at a time and state, as of the last evaluation of [`compute_controls`](Self::compute_controls).
    pub fn control_values(&self) -> &[f64] {
        &self.values
    }

    /// Controls at a time and state.
    pub fn compute_controls(&mut self, t: f64, x: &[f64]) -> &[f64] {
        self.load(t, x);
        self.controls.compute(t, &self.x, &mut self.values);
        &self.values
    }

    /// Everything the system computes at (t, x), accelerations included.
    pub fn compute(&mut self, t: f64, x: &[f64]) -> Result<&Workspace<f64>, RhsError> {
        self.load(t, x);
        self.controls.compute(t, &self.x, &mut self.values);
        compute_motion(&self.system, &self.x, &self.values, &self.damping, &mut self.ws)?;
        Ok(&self.ws)
    }

    fn load(&mut self, t: f64, x: &[f64]) {
        let n = self.x.q.len();
        self.x.time = t;
        self.x.q.copy_from_slice(&x[..n]);
        self.x.u.copy_from_slice(&x[n..2 * n]);
        self.x.z.copy_from_slice(&x[2 * n..]);
    }
}

/// As [`System::compute_motion`], with damping besides.
fn compute_motion<T: Real>(
    system: &System,
    x: &State<T>,
    controls: &[T],
    damping: &[f64],
    ws: &mut Workspace<T>,
) -> Result<(), MotionError> {
    system.compute_kinematics(x, ws);
    system.compute_paths(x, ws);
    system.compute_forces(x, controls, ws);
    for ((load, u), d) in ws.mobility_load.iter_mut().zip(&x.u).zip(damping) {
        *load -= *u * *d;
    }
    system.compute_accelerations(x, ws)
}

impl<C: Controls> ExplicitOde for SystemOde<'_, C> {
    fn dim(&self) -> usize {
        2 * self.system.tree.num_mobilities + self.system.num_aux
    }

    fn rhs(&mut self, t: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
        self.compute(t, x)?;
        let n = self.x.q.len();
        self.projector.rates(&self.x.q, &self.x.u, &mut xdot[..n]);
        xdot[n..2 * n].copy_from_slice(&self.ws.udot);
        xdot[2 * n..].copy_from_slice(&self.ws.zdot);
        Ok(())
    }

    fn project(
        &mut self,
        t: f64,
        x: &mut [f64],
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        if self.system.constraints.num_rows() == 0 {
            return Ok(Projected::default());
        }
        self.load(t, x);
        let n = self.x.q.len();
        self.error.copy_from_slice(&error[..2 * n]);
        let done =
            self.projector.project(&self.system, &mut self.x, &mut self.ws, &mut self.error, tolerance)?;
        if done.changed {
            x[..n].copy_from_slice(&self.x.q);
            x[n..2 * n].copy_from_slice(&self.x.u);
            error[..2 * n].copy_from_slice(&self.error);
        }
        Ok(done)
    }
}

impl<C: Controls> MechanicalOde for SystemOde<'_, C> {
    fn num_coordinates(&self) -> usize {
        self.system.tree.num_mobilities
    }

    fn coordinate_rates(&mut self, x: &[f64], qdot: &mut [f64]) {
        let n = self.system.tree.num_mobilities;
        self.projector.rates(&x[..n], &x[n..2 * n], qdot);
    }
}

impl<C: Controls> ImplicitOde for SystemOde<'_, C> {
    fn dim(&self) -> usize {
        ExplicitOde::dim(self)
    }

    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        self.rhs(t, x, r)?;
        for (r, d) in r.iter_mut().zip(xdot) {
            *r = d - *r;
        }
        Ok(())
    }

    /// Dense; empty before [`with_jacobian`](SystemOde::with_jacobian).
    fn pattern(&self) -> &Pattern {
        const NONE: &Pattern = &Pattern::empty();
        self.dual.as_ref().map_or(NONE, |d| &d.pattern)
    }

    fn jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        _xdot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        self.load(t, x);
        self.controls.compute(t, &self.x, &mut self.values);
        let Some(room) = &mut self.dual else {
            return Err(RhsError::Undefined("the Jacobian was not prepared"));
        };
        let (n, dim) = (self.x.q.len(), x.len());
        for (c, v) in room.controls.iter_mut().zip(&self.values) {
            *c = Dual::new(*v, [0.0; LANES]);
        }
        room.x.time = Dual::new(t, [0.0; LANES]);
        for first in (0..dim).step_by(LANES) {
            // Seed the states of this pass, all others constant.
            let entry = |i: usize| match i.checked_sub(first) {
                Some(k) if k < LANES => Dual::variable(x[i], k),
                _ => Dual::new(x[i], [0.0; LANES]),
            };
            for i in 0..n {
                room.x.q[i] = entry(i);
                room.x.u[i] = entry(n + i);
            }
            for i in 2 * n..dim {
                room.x.z[i - 2 * n] = entry(i);
            }
            compute_motion(&self.system, &room.x, &room.controls, &self.damping, &mut room.ws)?;
            let columns = first..dim.min(first + LANES);
            let mut write = |row: usize, value: Dual<f64, LANES>| {
                for c in columns.clone() {
                    df_dx[row * dim + c] = -value.d[c - first];
                }
            };
            for i in 0..n {
                write(i, room.x.u[i]);
                write(n + i, room.ws.udot[i]);
            }
            for &i in self.projector.angular() {
                let v = |x: &[Dual<f64, LANES>]| vec3(x[i], x[i + 1], x[i + 2]);
                for (k, r) in angles_rate(v(&room.x.q), v(&room.x.u)).to_array().into_iter().enumerate() {
                    write(i + k, r);
                }
            }
            for i in 2 * n..dim {
                write(i, room.ws.zdot[i - 2 * n]);
            }
        }
        df_dxdot.fill(0.0);
        for i in 0..dim {
            df_dxdot[i * dim + i] = 1.0;
        }
        Ok(())
    }

    fn consistent_rates(&mut self, t: f64, x: &mut [f64], xdot: &mut [f64]) -> bool {
        self.rhs(t, x, xdot).is_ok() && xdot.iter().all(|d| d.is_finite())
    }

    fn project(
        &mut self,
        t: f64,
        x: &mut [f64],
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        ExplicitOde::project(self, t, x, error, tolerance)
    }
}

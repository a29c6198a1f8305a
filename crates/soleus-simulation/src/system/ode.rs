//! Equations of motion of a model.

use super::controls::Controls;
use super::project::Projector;
use crate::error_norm::ErrorNorm;
use crate::linear::Pattern;
use crate::ode::{ExplicitOde, ImplicitOde, MechanicalOde, Projected, RhsError};
use soleus_dynamics::joint::angles_rate;
use soleus_dynamics::system::{LANES, MotionError, State, System, SystemRef, Workspace};
use soleus_math::{Dual, vec3};

/// The equations of motion of a system under given controls, with x = [q, u, z]:
///
///   q̇ = N(q) u,   u̇ from M u̇ + Gᵀλ = f, G u̇ = b,   ż from the forces        (1)
///
/// As an [`ImplicitOde`] it is ẋ − f(t, x) = 0, with exact ∂f/∂x by dual numbers; controls are treated as functions of
/// time there, so that feedback from the state is left out of the Jacobian (this only slows down Newton's method).
pub struct SystemOde<'a, C> {
    system: SystemRef<'a>,
    /// The controls.
    pub controls: C,
    /// Damping of each mobility in addition to that of the model, N·s/m or N·m·s/rad; empty for none.
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

    /// The same, prepared for implicit methods.
    pub fn with_jacobian(mut self) -> Self {
        self.dual = Some(Box::new(DualRoom::new(&self.system)));
        self
    }

    /// The system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Continues with another system, which differs only in its numbers.
    pub fn replace_system(&mut self, system: impl Into<SystemRef<'a>>) {
        self.system = system.into();
    }

    /// Simbody's error norm for q, u and z. A joint that may use quaternions has one more coordinate there, which is
    /// included in the mean.
    pub fn error_norm(&self) -> ErrorNorm {
        let n = self.system.tree.num_mobilities;
        let (slots, z) = (n + self.projector.angular().len(), self.system.num_aux);
        ErrorNorm::grouped(&[(n, slots, false), (n, n, true), (z, z, true)])
    }

    /// x = [q, u, z] of a state.
    pub fn vector(state: &State<f64>) -> Vec<f64> {
        [&state.q[..], &state.u, &state.z].concat()
    }

    /// Controls of the last call of [`compute_controls`](Self::compute_controls).
    pub fn control_values(&self) -> &[f64] {
        &self.values
    }

    /// Controls at a time and state.
    pub fn compute_controls(&mut self, t: f64, x: &[f64]) -> &[f64] {
        self.load(t, x);
        self.controls.compute(t, &self.x, &mut self.values);
        &self.values
    }

    /// Evaluates the system at (t, x), including accelerations.
    pub fn compute(&mut self, t: f64, x: &[f64]) -> Result<&Workspace<f64>, RhsError> {
        self.load(t, x);
        self.controls.compute(t, &self.x, &mut self.values);
        self.system.compute_damped_motion(&self.x, &self.values, &self.damping, &mut self.ws)?;
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

// What follows is compiled here, once, and not again for every kind of controls.

impl DualRoom {
    #[inline(never)]
    fn new(system: &System) -> Self {
        let n = 2 * system.tree.num_mobilities + system.num_aux;
        DualRoom {
            ws: system.workspace(),
            x: system.default_state.lift(),
            controls: vec![Dual::default(); system.num_controls],
            pattern: Pattern::dense(n),
        }
    }

    /// −∂f/∂x at (t, x), all columns, under controls that count as functions of time; `angular` are the first coordinates of joints
    /// whose speeds are angular velocities.
    #[inline(never)]
    fn compute(
        &mut self,
        system: &System,
        (t, x): (f64, &[f64]),
        controls: &[f64],
        (damping, angular): (&[f64], &[usize]),
        df_dx: &mut [f64],
    ) -> Result<(), MotionError> {
        let (n, dim) = (self.x.q.len(), x.len());
        for (c, v) in self.controls.iter_mut().zip(controls) {
            *c = Dual::new(*v, [0.0; LANES]);
        }
        self.x.time = Dual::new(t, [0.0; LANES]);
        for first in (0..dim).step_by(LANES) {
            // Seed the states of this pass, all others constant.
            let entry = |i: usize| match i.checked_sub(first) {
                Some(k) if k < LANES => Dual::variable(x[i], k),
                _ => Dual::new(x[i], [0.0; LANES]),
            };
            for i in 0..n {
                self.x.q[i] = entry(i);
                self.x.u[i] = entry(n + i);
            }
            for i in 2 * n..dim {
                self.x.z[i - 2 * n] = entry(i);
            }
            system.compute_damped_motion(&self.x, &self.controls, damping, &mut self.ws)?;
            let columns = first..dim.min(first + LANES);
            let mut write = |row: usize, value: Dual<f64, LANES>| {
                for c in columns.clone() {
                    df_dx[row * dim + c] = -value.d[c - first];
                }
            };
            for i in 0..n {
                write(i, self.x.u[i]);
                write(n + i, self.ws.udot[i]);
            }
            for &i in angular {
                let v = |x: &[Dual<f64, LANES>]| vec3(x[i], x[i + 1], x[i + 2]);
                for (k, r) in angles_rate(v(&self.x.q), v(&self.x.u)).to_array().into_iter().enumerate() {
                    write(i + k, r);
                }
            }
            for i in 2 * n..dim {
                write(i, self.ws.zdot[i - 2 * n]);
            }
        }
        Ok(())
    }
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
        room.compute(&self.system, (t, x), &self.values, (&self.damping, self.projector.angular()), df_dx)?;
        let dim = x.len();
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

//! Equations of a model in implicit form.

use super::controls::Controls;
use super::project::Projector;
use crate::error_norm::ErrorNorm;
use crate::linear::Pattern;
use crate::ode::{ImplicitOde, Projected, RhsError};
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitSystem, JacobianWorkspace, SparseMatrix};
use soleus_dynamics::system::{State, System, SystemRef, Workspace};
use soleus_math::elementary;

/// A system under given controls as f(t, y, ẏ) = 0 with y = [q, u, z, λ]: inverse dynamics, force balance of
/// muscles, constraints on accelerations with their multipliers λ, which are algebraic (index 1). Jacobians are
/// exact and sparse; see [`soleus_dynamics::implicit`].
///
/// Controls are treated as functions of time in the Jacobians.
///
/// Redundant constraint equations leave some multipliers undetermined. Their rows then read G u̇ − b − ε S λ = 0 with S
/// the diagonal of G M⁻¹ Gᵀ at one pose. This gives the multipliers of (nearly) smallest norm among those with the same
/// motion, while the constraints are violated by a fraction ε of the acceleration that the constraint forces alone
/// would cause.
pub struct ImplicitSystemOde<'a, C> {
    implicit: ImplicitSystem<'a>,
    /// The controls.
    pub controls: C,
    x: State<f64>,
    values: Vec<f64>,
    ws: Workspace<f64>,
    jw: JacobianWorkspace,
    jacobian: ImplicitJacobian,
    r: Vec<f64>,
    pattern: Pattern,
    /// Where each entry of ∂f/∂x, ∂f/∂λ and ∂f/∂ẋ is in the pattern.
    places: [Vec<usize>; 3],
    projector: Projector,
    error: Vec<f64>,
    /// State and rates of the last Jacobians, whose controls are in `values` until the next load.
    at: [Vec<f64>; 2],
    before: Vec<f64>,
    /// Whether something besides the controls depends on time.
    depends_on_time: bool,
    /// If constraints repeat each other, for each row the place of ∂(row)/∂λ on the diagonal, and ε S; otherwise empty.
    slack: Vec<(usize, f64)>,
}

/// ε of the slack that repeated constraints get: far below any accuracy asked of a step, far enough above rounding
/// that multipliers keep six digits.
const SLACK: f64 = 1e-10;

impl<'a, C: Controls> ImplicitSystemOde<'a, C> {
    /// The equations of `system` under `controls`.
    pub fn new(system: impl Into<SystemRef<'a>>, controls: C) -> Self {
        let implicit = ImplicitSystem::new(system);
        let system = &*implicit.system;
        let jacobian = implicit.jacobian();
        let nx = implicit.num_states();
        let parts = [(&jacobian.dx, 0), (&jacobian.dlambda, nx), (&jacobian.dxdot, 0)];
        let mut rows = vec![Vec::new(); implicit.num_residuals()];
        for (matrix, shift) in parts {
            for (r, c) in entries(matrix) {
                rows[r].push(c + shift);
            }
        }
        let weights = redundant_constraints(system);
        for c in nx..nx + weights.len() {
            rows[c].push(c);
        }
        let pattern = Pattern::from_rows(&rows);
        let weights = weights.iter().enumerate();
        let slack =
            weights.filter_map(|(r, w)| Some((pattern.position(nx + r, nx + r)?, SLACK * w))).collect();
        let places = parts.map(|(matrix, shift)| {
            entries(matrix).filter_map(|(r, c)| pattern.position(r, c + shift)).collect()
        });
        ImplicitSystemOde {
            x: system.default_state.clone(),
            values: vec![0.0; system.num_controls],
            ws: system.workspace(),
            jw: implicit.jacobian_workspace(),
            r: vec![0.0; implicit.num_residuals()],
            jacobian,
            pattern,
            places,
            projector: Projector::new(system),
            error: vec![0.0; 2 * system.tree.num_mobilities],
            at: [vec![f64::NAN; implicit.num_residuals()], vec![f64::NAN; implicit.num_residuals()]],
            before: vec![0.0; system.num_controls],
            depends_on_time: system.depends_on_time(),
            slack,
            controls,
            implicit,
        }
    }

    /// Continues with another system, which differs only in its numbers.
    pub fn replace_system(&mut self, system: impl Into<SystemRef<'a>>) {
        self.implicit.system = system.into();
        // What was computed is that of the other one.
        self.at.iter_mut().filter_map(|list| list.first_mut()).for_each(|x| *x = f64::NAN);
    }

    /// y for a state, with zero multipliers, which are computed at the start.
    pub fn vector(&self, state: &State<f64>) -> Vec<f64> {
        let mut y = [&state.q[..], &state.u, &state.z].concat();
        y.resize(self.implicit.num_residuals(), 0.0);
        y
    }

    /// Copies q, u and z of y into a state.
    pub fn read(&self, y: &[f64], state: &mut State<f64>) {
        let (n, nx) = (state.q.len(), self.implicit.num_states());
        state.q.copy_from_slice(&y[..n]);
        state.u.copy_from_slice(&y[n..2 * n]);
        state.z.copy_from_slice(&y[2 * n..nx]);
    }

    /// Simbody's norm for q, u and z; multipliers are ignored.
    pub fn error_norm(&self) -> ErrorNorm {
        let system = &*self.implicit.system;
        let (n, z, m) = (system.tree.num_mobilities, system.num_aux, self.implicit.num_multipliers());
        let slots = n + self.projector.angular().len();
        let mut units = vec![1.0; 2 * n + z];
        units.resize(2 * n + z + m, f64::INFINITY);
        ErrorNorm::grouped(&[(n, slots, false), (n, n, true), (z, z, true), (m, m, false)]).with_units(&units)
    }

    /// Residual and Jacobians; the state they are for is kept.
    fn compute_jacobians(
        &mut self,
        t: f64,
        y: &[f64],
        ydot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) {
        self.load(t, y);
        let nx = self.implicit.num_states();
        self.implicit.compute_jacobian(
            &self.x,
            &ydot[..nx],
            &self.values,
            &y[nx..],
            &mut self.ws,
            &mut self.jw,
            &mut self.r,
            &mut self.jacobian,
        );
        df_dx.fill(0.0);
        df_dxdot.fill(0.0);
        let j = &self.jacobian;
        for (matrix, places) in [(&j.dx, &self.places[0]), (&j.dlambda, &self.places[1])] {
            for (v, &p) in matrix.value.iter().zip(places) {
                df_dx[p] = *v;
            }
        }
        for (v, &p) in j.dxdot.value.iter().zip(&self.places[2]) {
            df_dxdot[p] = *v;
        }
        for (r, &(p, slack)) in self.slack.iter().enumerate() {
            df_dx[p] -= slack;
            self.r[nx + r] -= slack * y[nx + r];
        }
        self.at[0].copy_from_slice(y);
        self.at[1].copy_from_slice(ydot);
    }

    fn load(&mut self, t: f64, y: &[f64]) {
        let (n, nx) = (self.x.q.len(), self.implicit.num_states());
        // Whatever was computed for another state or time is stale now.
        if let Some(first) = self.at[0].first_mut() {
            *first = f64::NAN;
        }
        self.x.time = t;
        self.x.q.copy_from_slice(&y[..n]);
        self.x.u.copy_from_slice(&y[n..2 * n]);
        self.x.z.copy_from_slice(&y[2 * n..nx]);
        self.controls.compute(t, &self.x, &mut self.values);
    }
}

/// If some constraint equations follow from others wherever the model is, the diagonal of G M⁻¹ Gᵀ; otherwise nothing.
/// They do if G has fewer independent rows than rows at a pose without anything special about it.
fn redundant_constraints(system: &System) -> Vec<f64> {
    let (n, m) = (system.tree.num_mobilities, system.constraints.num_rows());
    if m == 0 {
        return Vec::new();
    }
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    for (i, q) in x.q.iter_mut().enumerate() {
        *q += 0.05 + 0.03 * elementary::sin(1.7 * i as f64);
    }
    system.compute_kinematics(&x, &mut ws);
    system.constraints.compute(&system.tree, &ws.kin, x.time, &mut ws.constraints);
    ws.mass.compute_mass_matrix(&system.tree, &ws.kin);
    let mass: Vec<f64> = (0..n).map(|j| ws.mass.at(j, j)).collect();
    let mut rows: Vec<Vec<f64>> = (0..m).map(|r| ws.constraints.G[r * n..(r + 1) * n].to_vec()).collect();
    let weight = |row: &Vec<f64>| {
        let parts = row.iter().zip(&mass).filter(|(_, m)| **m > 0.0).map(|(g, m)| g * g / m);
        parts.sum::<f64>()
    };
    let mut weights: Vec<f64> = rows.iter().map(weight).collect();
    // Rows without entries, such as those off the plane of a planar model, need some weight too.
    // Where no equation reaches anything, any weight will do.
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let least = if largest > 0.0 { 1e-6 * largest } else { 1.0 };
    weights.iter_mut().for_each(|w| *w = w.max(least));

    // Gram–Schmidt with rows of length one, the longest remaining first.
    let norm = |r: &[f64]| r.iter().map(|x| x * x).sum::<f64>().sqrt();
    for r in &mut rows {
        let size = norm(r);
        r.iter_mut().for_each(|x| *x /= size);
    }
    while let Some(k) = (0..rows.len()).max_by(|&a, &b| norm(&rows[a]).total_cmp(&norm(&rows[b]))) {
        let pivot = rows.swap_remove(k);
        let size = norm(&pivot);
        // A row that depends on others has lost all but rounding; a row of zeros is NaN by now.
        if !(size > 1e-9) {
            return weights;
        }
        for r in &mut rows {
            let along = r.iter().zip(&pivot).map(|(a, b)| a * b).sum::<f64>() / (size * size);
            r.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= along * b);
        }
    }
    Vec::new()
}

/// Row and column of each stored entry.
fn entries(m: &SparseMatrix) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..m.columns).flat_map(move |c| m.row[m.start[c]..m.start[c + 1]].iter().map(move |&r| (r, c)))
}

impl<C: Controls> ImplicitOde for ImplicitSystemOde<'_, C> {
    fn dim(&self) -> usize {
        self.implicit.num_residuals()
    }

    fn residual(&mut self, t: f64, y: &[f64], ydot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        self.load(t, y);
        let nx = self.implicit.num_states();
        self.implicit.compute_residual(&self.x, &ydot[..nx], &self.values, &y[nx..], &mut self.ws, r);
        for (k, &(_, slack)) in self.slack.iter().enumerate() {
            r[nx + k] -= slack * y[nx + k];
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    fn jacobians(
        &mut self,
        t: f64,
        y: &[f64],
        ydot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        self.compute_jacobians(t, y, ydot, df_dx, df_dxdot);
        Ok(())
    }

    fn residual_and_jacobians(
        &mut self,
        t: f64,
        y: &[f64],
        ydot: &[f64],
        r: &mut [f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        self.compute_jacobians(t, y, ydot, df_dx, df_dxdot);
        r.copy_from_slice(&self.r);
        Ok(())
    }

    /// From ∂f/∂u and the change of the controls, where the Jacobians at this state are at hand and nothing but the
    /// controls depends on time.
    fn time_change(
        &mut self,
        t1: f64,
        y: &[f64],
        ydot: &[f64],
        r0: &[f64],
        change: &mut [f64],
    ) -> Result<(), RhsError> {
        if self.depends_on_time || self.at[0] != *y || self.at[1] != *ydot {
            self.residual(t1, y, ydot, change)?;
            for (c, r) in change.iter_mut().zip(r0) {
                *c -= r;
            }
            return Ok(());
        }
        self.before.copy_from_slice(&self.values);
        self.load(t1, y);
        for (b, v) in self.before.iter_mut().zip(&self.values) {
            *b = v - *b;
        }
        change.fill(0.0);
        self.jacobian.du.multiply_add(1.0, &self.before, change);
        Ok(())
    }

    /// From the explicit equations, where they have an answer.
    fn consistent_rates(&mut self, t: f64, y: &mut [f64], ydot: &mut [f64]) -> bool {
        self.load(t, y);
        let (n, nx) = (self.x.q.len(), self.implicit.num_states());
        let system = &*self.implicit.system;
        if system.compute_motion(&self.x, &self.values, &mut self.ws).is_err() {
            return false;
        }
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        if !finite(&self.ws.udot) || !finite(&self.ws.zdot) || !finite(&self.ws.constraints.lambda) {
            return false;
        }
        self.projector.rates(&self.x.q, &self.x.u, &mut ydot[..n]);
        ydot[n..2 * n].copy_from_slice(&self.ws.udot);
        ydot[2 * n..nx].copy_from_slice(&self.ws.zdot);
        ydot[nx..].fill(0.0);
        y[nx..].copy_from_slice(&self.ws.constraints.lambda);
        true
    }

    fn project(
        &mut self,
        t: f64,
        y: &mut [f64],
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        let system = &*self.implicit.system;
        if system.constraints.num_rows() == 0 {
            return Ok(Projected::default());
        }
        self.load(t, y);
        let n = self.x.q.len();
        self.error.copy_from_slice(&error[..2 * n]);
        let done = self.projector.project(
            &self.implicit.system,
            &mut self.x,
            &mut self.ws,
            &mut self.error,
            tolerance,
        )?;
        if done.changed {
            y[..n].copy_from_slice(&self.x.q);
            y[n..2 * n].copy_from_slice(&self.x.u);
            error[..2 * n].copy_from_slice(&self.error);
        }
        Ok(done)
    }
}

//! A model as an implicit equation with exact, sparse Jacobians.

use super::controls::Controls;
use super::project::Projector;
use crate::linear::Pattern;
use crate::ode::{ImplicitOde, Projected, RhsError};
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitSystem, JacobianWorkspace, SparseMatrix};
use soleus_dynamics::system::{State, System, Workspace};

/// The implicit equations f(t, y, ẏ) = 0 of a system under given controls, with y = [q, u, z, λ]:
/// kinematics, inverse dynamics, force balance of the muscles, constraints on accelerations.
///
/// Multipliers λ are algebraic: their rates do not appear. The index is 1 wherever the constraints are independent
/// and [∂f/∂ẋ ∂f/∂λ] is regular together with ∂f/∂x, massless segments and muscles at rest included.
pub struct SystemDae<'a, C> {
    implicit: ImplicitSystem<'a>,
    /// What sets the controls.
    pub controls: C,
    x: State<f64>,
    values: Vec<f64>,
    ws: Workspace<f64>,
    jw: JacobianWorkspace,
    jacobian: ImplicitJacobian,
    pattern: Pattern,
    /// Where each entry of the three matrices goes in the common pattern.
    from_dx: Vec<usize>,
    from_dxdot: Vec<usize>,
    from_dlambda: Vec<usize>,
    residual: Vec<f64>,
    projector: Projector,
    error: Vec<f64>,
}

impl<'a, C: Controls> SystemDae<'a, C> {
    /// The equations of `system` under `controls`.
    pub fn new(system: &'a System, controls: C) -> Self {
        let implicit = ImplicitSystem::new(system);
        let jacobian = implicit.jacobian();
        let (nx, dim) = (implicit.num_states(), implicit.num_residuals());
        let mut rows = vec![Vec::new(); dim];
        let mut add = |m: &SparseMatrix, shift: usize| {
            for c in 0..m.columns {
                for &r in &m.row[m.start[c]..m.start[c + 1]] {
                    rows[r].push(c + shift);
                }
            }
        };
        add(&jacobian.dx, 0);
        add(&jacobian.dxdot, 0);
        add(&jacobian.dlambda, nx);
        let pattern = Pattern::from_rows(&rows);
        let place: std::collections::BTreeMap<(usize, usize), usize> =
            pattern.places().map(|(r, c, k)| ((r, c), k)).collect();
        let map = |m: &SparseMatrix, shift: usize| {
            let mut out = Vec::with_capacity(m.num_entries());
            for c in 0..m.columns {
                out.extend(m.row[m.start[c]..m.start[c + 1]].iter().map(|&r| place[&(r, c + shift)]));
            }
            out
        };
        SystemDae {
            from_dx: map(&jacobian.dx, 0),
            from_dxdot: map(&jacobian.dxdot, 0),
            from_dlambda: map(&jacobian.dlambda, nx),
            x: system.default_state.clone(),
            values: vec![0.0; system.num_controls],
            ws: system.workspace(),
            jw: implicit.jacobian_workspace(),
            residual: vec![0.0; dim],
            projector: Projector::new(system),
            error: vec![0.0; 2 * system.tree.num_mobilities],
            jacobian,
            pattern,
            implicit,
            controls,
        }
    }

    /// The system.
    pub fn system(&self) -> &'a System {
        self.implicit.system
    }

    /// Number of states without the multipliers.
    pub fn num_states(&self) -> usize {
        self.implicit.num_states()
    }

    fn set(&mut self, t: f64, y: &[f64]) {
        let n = self.x.q.len();
        let nx = self.implicit.num_states();
        self.x.time = t;
        self.x.q.copy_from_slice(&y[..n]);
        self.x.u.copy_from_slice(&y[n..2 * n]);
        self.x.z.copy_from_slice(&y[2 * n..nx]);
        self.controls.compute(t, &self.x, &mut self.values);
    }
}

impl<C: Controls> ImplicitOde for SystemDae<'_, C> {
    fn dim(&self) -> usize {
        self.implicit.num_residuals()
    }

    fn residual(&mut self, t: f64, y: &[f64], ydot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        self.set(t, y);
        let nx = self.implicit.num_states();
        self.implicit.compute_residual(&self.x, &ydot[..nx], &self.values, &y[nx..], &mut self.ws, r);
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
        self.set(t, y);
        let nx = self.implicit.num_states();
        self.implicit.compute_jacobian(
            &self.x,
            &ydot[..nx],
            &self.values,
            &y[nx..],
            &mut self.ws,
            &mut self.jw,
            &mut self.residual,
            &mut self.jacobian,
        );
        df_dx.fill(0.0);
        df_dxdot.fill(0.0);
        for (&k, &v) in self.from_dx.iter().zip(&self.jacobian.dx.value) {
            df_dx[k] = v;
        }
        for (&k, &v) in self.from_dlambda.iter().zip(&self.jacobian.dlambda.value) {
            df_dx[k] = v;
        }
        for (&k, &v) in self.from_dxdot.iter().zip(&self.jacobian.dxdot.value) {
            df_dxdot[k] = v;
        }
        Ok(())
    }

    fn project(
        &mut self,
        t: f64,
        y: &mut [f64],
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        if self.implicit.num_multipliers() == 0 {
            return Ok(Projected::default());
        }
        let n = self.x.q.len();
        self.set(t, y);
        self.error.copy_from_slice(&error[..2 * n]);
        let done =
            self.projector.project(self.implicit.system, &mut self.x, &mut self.ws, &mut self.error, tolerance)?;
        y[..n].copy_from_slice(&self.x.q);
        y[n..2 * n].copy_from_slice(&self.x.u);
        error[..2 * n].copy_from_slice(&self.error);
        Ok(done)
    }
}

//! The equations of motion as release 2 of DAS3 has them, which are not quite those of its bodies.

use super::Das3;
use soleus_dynamics::multibody::compute_generalized_forces;
use soleus_dynamics::system::{State, System, Workspace};
use soleus_math::{Dual, Real, SpatialVec, Vec3};
use soleus_simulation::linear::Pattern;
use soleus_simulation::{ImplicitOde, RhsError};

/// Coordinates and speeds of the arm.
const SEEDS: usize = 22;
type D = Dual<f64, SEEDS>;

/// A problem with the terms left out that release 2 leaves out.
///
/// The angular acceleration of a segment is
///
///   α = Σ hₖ q̈ₖ + Σ ωₖ₋₁ × hₖ q̇ₖ                                   (1)
///
/// over the axes hₖ from the thorax to it, with ωₖ₋₁ the angular velocity of the segment that carries an axis. Release 2
/// has no second sum, neither in the moments nor in the accelerations of joints and mass centres that follow from α; only
/// for the hand, from the wrist on, is it complete. What is missing is a wrench on each segment,
///
///   I (α̂, â),   α̂ᵢ = α̂ₚ + ωₚ × ωᵢ,   âᵢ = âₚ + α̂ₚ × (pᵢ − pₚ),   on the hand with α̂ = 0            (2)
///
/// with p the parent of segment i. Found from the authors' own run: with both parts of (2) as unknown factors, the moments
/// that it leaves in complete equations give 1.0005 and 0.9996.
pub struct AsReleased<'a, P> {
    inner: P,
    system: &'a System,
    hand: usize,
    ws: Workspace<f64>,
    dual: Workspace<D>,
    x: State<f64>,
    x_dual: State<D>,
    missing: Vec<f64>,
    missing_dual: Vec<D>,
    /// The residual of complete equations.
    complete: Vec<f64>,
    /// Where the derivatives of the equations of motion by coordinates and speeds are.
    places: Vec<(usize, usize, usize)>,
}

impl<'a, P: ImplicitOde> AsReleased<'a, P> {
    /// `inner` is the problem of the arm with complete equations.
    pub fn new(d: &'a Das3, inner: P) -> Self {
        let (n, inner_dim) = (d.system.tree.num_mobilities, inner.dim());
        let mut places = Vec::with_capacity(2 * n * n);
        for (row, column) in (0..n).flat_map(|r| (0..2 * n).map(move |c| (r, c))) {
            if let Some(k) = inner.pattern().position(n + row, column) {
                places.push((row, column, k));
            }
        }
        AsReleased {
            inner,
            hand: d.system.tree.node_of_body[d.others.hand.0],
            ws: d.system.workspace(),
            dual: d.system.workspace(),
            x: d.equilibrium.clone(),
            x_dual: d.equilibrium.lift(),
            missing: vec![0.0; n],
            missing_dual: vec![D::zero(); n],
            complete: vec![0.0; inner_dim],
            places,
            system: &d.system,
        }
    }

    /// What is missing at x, N·m.
    fn compute_missing(&mut self, x: &[f64]) {
        let n = self.x.q.len();
        self.x.q.copy_from_slice(&x[..n]);
        self.x.u.copy_from_slice(&x[n..2 * n]);
        missing_moments(self.system, self.hand, &self.x, &mut self.ws, &mut self.missing);
    }

    /// The same with derivatives.
    fn compute_missing_derivatives(&mut self, x: &[f64]) {
        let n = self.x.q.len();
        for i in 0..n {
            self.x_dual.q[i] = D::variable(x[i], i);
            self.x_dual.u[i] = D::variable(x[n + i], n + i);
        }
        missing_moments(self.system, self.hand, &self.x_dual, &mut self.dual, &mut self.missing_dual);
    }
}

/// The generalized forces of the wrenches (2).
fn missing_moments<T: Real>(
    system: &System,
    hand: usize,
    x: &State<T>,
    ws: &mut Workspace<T>,
    moments: &mut [T],
) {
    system.compute_kinematics(x, ws);
    ws.A_GB[0] = SpatialVec::zero();
    for i in 1..system.tree.nodes.len() {
        let p = system.tree.nodes[i].parent;
        let (w_p, w_i) = (ws.kin.V_GB[p].w, ws.kin.V_GB[i].w);
        let arm = ws.kin.X_GB[i].p - ws.kin.X_GB[p].p;
        ws.A_GB[i] = SpatialVec::new(ws.A_GB[p].w + w_p.cross(w_i), ws.A_GB[p].v + ws.A_GB[p].w.cross(arm));
        let of_inertia = if i == hand { SpatialVec::new(Vec3::zero(), ws.A_GB[i].v) } else { ws.A_GB[i] };
        ws.body_load[i] = ws.kin.inertia[i].momentum(of_inertia);
    }
    ws.body_load[0] = SpatialVec::zero();
    moments.fill(T::zero());
    compute_generalized_forces(&system.tree, &ws.kin, &mut ws.body_load, moments);
}

impl<P: ImplicitOde> ImplicitOde for AsReleased<'_, P> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        self.inner.residual(t, x, xdot, r)?;
        self.compute_missing(x);
        let n = self.missing.len();
        r[n..2 * n].iter_mut().zip(&self.missing).for_each(|(r, m)| *r -= m);
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        self.inner.pattern()
    }

    fn jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        self.inner.jacobians(t, x, xdot, df_dx, df_dxdot)?;
        self.compute_missing_derivatives(x);
        for &(row, column, k) in &self.places {
            df_dx[k] -= self.missing_dual[row].d[column];
        }
        Ok(())
    }

    fn time_change(
        &mut self,
        t1: f64,
        x: &[f64],
        xdot: &[f64],
        r0: &[f64],
        change: &mut [f64],
    ) -> Result<(), RhsError> {
        // What is missing does not depend on time.
        let n = self.missing.len();
        self.compute_missing(x);
        self.complete.copy_from_slice(r0);
        self.complete[n..2 * n].iter_mut().zip(&self.missing).for_each(|(r, m)| *r += m);
        self.inner.time_change(t1, x, xdot, &self.complete, change)
    }
}

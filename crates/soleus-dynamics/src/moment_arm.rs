//! Moment arms: the generalized force of a unit tension on a coordinate.
//!
//! Constraints couple coordinates, so the arm of a path about coordinate i counts what moves with
//! it (Sherman, Seth, Delp 2013): with c the speeds that follow when coordinate i has unit speed,
//!
//!   r_i = c · f,   f = Jᵀ F + τ of a unit tension                      (1)
//!   c = e_i − Gᵀ (G Gᵀ)⁺ G e_i, divided by its own entry i             (2)
//!
//! For a path that no constraint touches, r_i = −∂L/∂q_i.

use crate::constraint::CompiledConstraint;
use crate::kinematics::Loads;
use crate::multibody::compute_generalized_forces;
use crate::system::{System, Workspace};
use soleus_math::dense::solve_min_norm;
use soleus_math::{Real, SpatialVec};

/// Scratch of the moment-arm computations.
#[derive(Clone, Debug)]
pub struct MomentArms<T: Real> {
    body: Vec<SpatialVec<T>>,
    /// Generalized force of the last path asked for.
    pub generalized_force: Vec<T>,
    /// Coupling vectors (2), one row per mobility.
    coupling: Vec<T>,
    n: usize,
}

impl<T: Real> MomentArms<T> {
    /// Finds how speeds are coupled at the current pose; `ws.constraints` must be computed.
    pub fn new(system: &System, ws: &Workspace<T>) -> Self {
        let n = system.tree.num_mobilities;
        let mut coupling = vec![T::zero(); n * n];
        for i in 0..n {
            compute_coupling(system, ws, i, &mut coupling[i * n..(i + 1) * n]);
        }
        MomentArms {
            body: vec![SpatialVec::zero(); system.tree.nodes.len()],
            generalized_force: vec![T::zero(); n],
            coupling,
            n,
        }
    }

    /// Generalized force of a unit tension along the path of force number `force`; its moment arms
    /// then come from [`arm`](Self::arm).
    pub fn compute_path(&mut self, system: &System, ws: &Workspace<T>, force: usize) {
        self.body.fill(SpatialVec::zero());
        self.generalized_force.fill(T::zero());
        let Some(path) = &system.forces[force].path else { return };
        let kin = ws.kin.view(T::zero());
        let mut loads = Loads { body: &mut self.body, mobility: &mut self.generalized_force };
        path.apply_tension(&kin, &ws.paths[force], T::one(), &mut loads);
        compute_generalized_forces(&system.tree, &ws.kin, &mut self.body, &mut self.generalized_force);
    }

    /// Moment arm (1) of the last path about the coordinate at a mobility, m or, for a translation, 1.
    pub fn arm(&self, mobility: usize) -> T {
        let c = &self.coupling[mobility * self.n..(mobility + 1) * self.n];
        c.iter().zip(&self.generalized_force).map(|(&c, &f)| c * f).sum()
    }
}

/// The coupling vector (2) of one mobility. A lock on the mobility itself is left out, as OpenSim does.
fn compute_coupling<T: Real>(system: &System, ws: &Workspace<T>, mobility: usize, c: &mut [T]) {
    let n = c.len();
    c[mobility] = T::one();

    // Rows of G that count.
    let mut rows = Vec::new();
    let (mut p, mut v) = (0, system.constraints.num_position());
    for k in &system.constraints.list {
        let own_lock = matches!(k, CompiledConstraint::Locked { mobility: m, .. } if *m == mobility);
        if !own_lock {
            rows.extend(p..p + k.num_position());
            rows.extend(v..v + k.num_speed());
        }
        p += k.num_position();
        v += k.num_speed();
    }
    let m = rows.len();
    let row = |r: usize| &ws.constraints.G[rows[r] * n..(rows[r] + 1) * n];
    let mut y: Vec<T> = (0..m).map(|r| row(r)[mobility]).collect();
    if y.iter().all(|y| y.value() == 0.0) {
        return;
    }
    let mut gg = vec![T::zero(); m * m];
    for a in 0..m {
        for b in 0..m {
            gg[a * m + b] = row(a).iter().zip(row(b)).map(|(&x, &y)| x * y).sum();
        }
    }
    solve_min_norm(&gg, &mut y, &mut vec![T::zero(); 2 * m * m + 4 * m], &mut vec![0; m]);
    for (r, &y) in y.iter().enumerate() {
        for (c, &g) in c.iter_mut().zip(row(r)) {
            *c -= g * y;
        }
    }
    let own = c[mobility];
    for c in c.iter_mut() {
        *c /= own;
    }
}

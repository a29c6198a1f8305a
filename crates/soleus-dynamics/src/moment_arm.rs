//! Moment arms: the generalized force of a unit tension on a coordinate.
//!
//! Constraints couple coordinates, so the moment arm of a path about coordinate i includes the coordinates that move
//! with it (Sherman, Seth, Delp 2013): with c the speeds when coordinate i has unit speed,
//!
//!   r_i = c · f,   f = Jᵀ F + τ of a unit tension                      (1)
//!   c = e_i − Gᵀ (G Gᵀ)⁺ G e_i, divided by its own entry i             (2)
//!
//! For a path without constrained coordinates, r_i = −∂L/∂q_i.

use crate::constraint::CompiledConstraint;
use crate::kinematics::Loads;
use crate::multibody::compute_generalized_forces;
use crate::system::{System, Workspace};
use soleus_math::dense::{factorize_min_norm, solve_min_norm_factorized};
use soleus_math::{Real, SpatialVec};

/// Scratch memory for moment arms.
#[derive(Clone, Debug)]
pub struct MomentArms<T: Real> {
    body: Vec<SpatialVec<T>>,
    /// Generalized force of the last path.
    pub generalized_force: Vec<T>,
    /// Coupling vectors (2), one row per mobility.
    coupling: Vec<T>,
    n: usize,
}

impl<T: Real> MomentArms<T> {
    /// Determines the coupling of speeds at the current pose; `ws.constraints` must be computed.
    pub fn new(system: &System, ws: &Workspace<T>) -> Self {
        let n = system.tree.num_mobilities;
        let mut coupling = vec![T::zero(); n * n];
        // G Gᵀ is factorised once for all mobilities, and once more for each that is locked.
        let mut of_all = None;
        for i in 0..n {
            let c = &mut coupling[i * n..(i + 1) * n];
            c[i] = T::one();
            match is_locked(system, i) {
                true => Rows::new(system, ws, Some(i)).compute_coupling(i, c),
                false => of_all.get_or_insert_with(|| Rows::new(system, ws, None)).compute_coupling(i, c),
            }
        }
        MomentArms {
            body: vec![SpatialVec::zero(); system.tree.nodes.len()],
            generalized_force: vec![T::zero(); n],
            coupling,
            n,
        }
    }

    /// Generalized force of a unit tension along the path of force `force`; its moment arms are then returned by
    /// [`arm`](Self::arm).
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

/// Whether a mobility is locked.
fn is_locked(system: &System, mobility: usize) -> bool {
    let locks = |k: &CompiledConstraint| matches!(k, CompiledConstraint::Locked { mobility: m, .. } if *m == mobility);
    system.constraints.list.iter().any(locks)
}

/// The rows of G that count, and the factors of G Gᵀ.
struct Rows<T> {
    G: Vec<T>,
    n: usize,
    rank: Option<usize>,
    scratch: Vec<T>,
    order: Vec<usize>,
}

impl<T: Real> Rows<T> {
    /// All rows but a lock on the mobility asked for, which is left out, as OpenSim does.
    fn new(system: &System, ws: &Workspace<T>, unlocked: Option<usize>) -> Rows<T> {
        let n = system.tree.num_mobilities;
        let mut G = Vec::new();
        let (mut p, mut v) = (0, system.constraints.num_position());
        for k in &system.constraints.list {
            let own_lock =
                matches!(k, CompiledConstraint::Locked { mobility: m, .. } if Some(*m) == unlocked);
            if !own_lock {
                G.extend_from_slice(&ws.constraints.G[p * n..(p + k.num_position()) * n]);
                G.extend_from_slice(&ws.constraints.G[v * n..(v + k.num_speed()) * n]);
            }
            p += k.num_position();
            v += k.num_speed();
        }
        Rows { G, n, rank: None, scratch: Vec::new(), order: Vec::new() }
    }

    fn factorize(&mut self) -> usize {
        let m = self.G.len() / self.n;
        let row = |r: usize| &self.G[r * self.n..(r + 1) * self.n];
        let mut gg = vec![T::zero(); m * m];
        for a in 0..m {
            for b in 0..=a {
                gg[a * m + b] = row(a).iter().zip(row(b)).map(|(&x, &y)| x * y).sum();
                gg[b * m + a] = gg[a * m + b];
            }
        }
        self.scratch = vec![T::zero(); 2 * m * m + 4 * m];
        self.order = vec![0; m];
        factorize_min_norm(&gg, &mut self.scratch, &mut self.order)
    }

    /// The coupling vector (2) of one mobility; `c` is its unit vector.
    fn compute_coupling(&mut self, mobility: usize, c: &mut [T]) {
        let mut y: Vec<T> = self.G.chunks_exact(self.n).map(|row| row[mobility]).collect();
        if y.iter().all(|y| y.value() == 0.0) {
            return;
        }
        let rank = match self.rank {
            Some(rank) => rank,
            None => self.factorize(),
        };
        self.rank = Some(rank);
        solve_min_norm_factorized(rank, &mut y, &mut self.scratch, &self.order);
        for (row, &y) in self.G.chunks_exact(self.n).zip(&y) {
            for (c, &g) in c.iter_mut().zip(row) {
                *c -= g * y;
            }
        }
        let own = c[mobility];
        for c in c.iter_mut() {
            *c /= own;
        }
    }
}

//! The Hessian of a weighted sum of the implicit equations, yᵀ f, exact and sparse.
//!
//! It is needed for optimal control: y are the multipliers of the equations at one node. The variables are w = (x, ẋ,
//! e, λ), in this order, and the lower triangle is stored.
//!
//! The tree has its own recursion ([`InverseDynamicsHessian`]), in which every load moves with its body. Changes of a
//! force beyond that are computed by jets over the few variables it depends on: for a contact the pose and velocity of
//! its body, for a path its coordinates, for a muscle length, speed, excitation and its own states.

mod constraints;
mod forces;
mod paths;
mod places;
mod reaction;
mod scratch;

pub use reaction::{ReactionScratch, ReactionSum};

use super::ImplicitSystem;
use super::sparse::SparseMatrix;
use crate::joint::angles_rate;
use crate::kinematics::Loads;
use crate::multibody::{InverseDynamicsDerivatives, InverseDynamicsHessian};
use crate::system::{State, Workspace};
use constraints::ConstraintPlan;
use forces::{BodyGradient, ForcePlan};
use paths::{PathPlan, PathSecond};
use scratch::JetScratch;
use soleus_math::{Jet, SpatialVec, Vec3};

/// ∂²(yᵀ f)/∂w² and ∂(yᵀ f)/∂w for the variables w = (x, ẋ, e, λ).
#[derive(Clone, Debug)]
pub struct ImplicitHessian {
    /// Lower triangle: row ≥ column.
    pub lower: SparseMatrix,
    /// The Jacobian's transpose times y, by variable.
    pub gradient: Vec<f64>,
}

/// Scratch memory for the Hessian of one system, allocated once.
#[derive(Clone, Debug)]
pub struct HessianWorkspace {
    ws: Workspace<f64>,
    r: Vec<f64>,
    first: InverseDynamicsDerivatives<f64>,
    tree: InverseDynamicsHessian,
    places: DensePlaces,
    paths: Vec<PathPlan>,
    forces: Vec<ForcePlan>,
    constraints: Vec<ConstraintPlan>,
    path: PathSecond,
    loads: BodyGradient,
    jets: JetScratch,
}

/// Where entries of the dense n × n matrices go: (place in the sparse matrix, place in the dense one).
#[derive(Clone, Debug, Default)]
struct DensePlaces {
    qq: Vec<(usize, usize)>,
    qu: Vec<(usize, usize)>,
    uu: Vec<(usize, usize)>,
    qa: Vec<(usize, usize)>,
}

/// Where each kind of variable starts in w.
#[derive(Clone, Copy, Debug)]
struct Layout {
    n: usize,
    u: usize,
    z: usize,
    qdot: usize,
    udot: usize,
    zdot: usize,
    e: usize,
    lambda: usize,
}

/// The jets of a set of variables may be found in several rounds; each round takes some of them.
/// All at once if one jet holds them, otherwise every pair of blocks of half that size.
fn rounds(count: usize) -> Vec<Vec<usize>> {
    if count <= scratch::CAPACITY {
        return vec![(0..count).collect()];
    }
    let half = scratch::CAPACITY / 2;
    let blocks: Vec<Vec<usize>> =
        (0..count).step_by(half).map(|b| (b..count.min(b + half)).collect()).collect();
    let mut list = Vec::new();
    for (i, a) in blocks.iter().enumerate() {
        for b in &blocks[i + 1..] {
            list.push([&a[..], b].concat());
        }
    }
    list
}

impl ImplicitSystem<'_> {
    /// Number of variables w = (x, ẋ, e, λ).
    pub fn num_variables(&self) -> usize {
        2 * self.num_states() + self.system.num_controls + self.num_multipliers()
    }

    fn layout(&self) -> Layout {
        let (n, nx) = (self.system.tree.num_mobilities, self.num_states());
        let e = 2 * nx;
        Layout {
            n,
            u: n,
            z: 2 * n,
            qdot: nx,
            udot: nx + n,
            zdot: nx + 2 * n,
            e,
            lambda: e + self.system.num_controls,
        }
    }

    /// Memory for the Hessian; its pattern is the same for all states and weights.
    pub fn hessian(&self) -> ImplicitHessian {
        let n = self.num_variables();
        ImplicitHessian {
            lower: SparseMatrix::with_pattern(n, n, self.hessian_places()),
            gradient: vec![0.0; n],
        }
    }

    /// Scratch memory for its computation.
    pub fn hessian_workspace(&self) -> HessianWorkspace {
        let s = &*self.system;
        let lower = self.hessian().lower;
        let w = self.layout();
        let mut places = DensePlaces::default();
        for i in 0..w.n {
            for j in 0..w.n {
                let source = i * w.n + j;
                if j <= i {
                    places.qq.extend(lower.position(i, j).map(|k| (k, source)));
                    places.uu.extend(lower.position(w.u + i, w.u + j).map(|k| (k, source)));
                }
                places.qu.extend(lower.position(w.u + j, i).map(|k| (k, source)));
                places.qa.extend(lower.position(w.udot + j, i).map(|k| (k, source)));
            }
        }
        let paths = self.path_plans(&lower);
        let forces = self.force_plans(&lower);
        let constraints = self.constraint_plans(&lower);
        let size = |list: &[PathPlan]| list.iter().map(|p| p.num_mobilities()).max().unwrap_or(0);
        HessianWorkspace {
            ws: s.workspace(),
            r: vec![0.0; self.num_residuals()],
            first: InverseDynamicsDerivatives::new(&s.tree),
            tree: InverseDynamicsHessian::new(&s.tree, !forces.is_empty()),
            places,
            path: PathSecond::new(size(&paths)),
            loads: BodyGradient::new(s, &forces),
            jets: JetScratch::new(s, &paths, &forces, &constraints),
            paths,
            forces,
            constraints,
        }
    }

    /// Gradient and Hessian of yᵀ f, one weight per residual.
    #[allow(clippy::too_many_arguments)]
    pub fn compute_hessian(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
        lambda: &[f64],
        y: &[f64],
        hw: &mut HessianWorkspace,
        hessian: &mut ImplicitHessian,
    ) {
        let s = &*self.system;
        let n = s.tree.num_mobilities;
        let udot = &xdot[n..2 * n];
        let (y_u, y_z) = (&y[n..2 * n], &y[2 * n..2 * n + s.num_aux]);
        hessian.lower.value.fill(0.0);
        hessian.gradient.fill(0.0);

        // The tree, with the loads of forces without a path moving along with their bodies.
        self.compute_residual(x, xdot, controls, lambda, &mut hw.ws, &mut hw.r);
        self.subtract_gravity(&mut hw.ws);
        let Workspace { kin, paths, tension, body_load, mobility_load, .. } = &mut hw.ws;
        for plan in hw.paths.iter().filter(|p| p.has_points()) {
            if let Some(p) = &s.forces[plan.force].path {
                let mut loads = Loads { body: body_load, mobility: mobility_load };
                p.apply_tension(&kin.view(x.time), &paths[plan.force], -tension[plan.force], &mut loads);
            }
        }
        hw.first.compute(&s.tree, &hw.ws.kin, udot, s.gravity, &hw.ws.body_load);
        hw.tree.compute(&s.tree, &hw.ws.kin, &hw.first, udot, y_u);

        self.kinematic_hessian(x, &y[..n], hw, hessian);
        self.path_hessians(x, controls, &xdot[2 * n..], y_u, y_z, hw, hessian);
        self.force_hessians(x, controls, y_u, y_z, hw, hessian);
        self.constraint_hessians(x, udot, lambda, y, hw, hessian);

        // What was gathered by mobility.
        let (w, value) = (self.layout(), &mut hessian.lower.value);
        for (list, from) in [
            (&hw.places.qq, &hw.tree.qq),
            (&hw.places.qu, &hw.tree.qu),
            (&hw.places.uu, &hw.tree.uu),
            (&hw.places.qa, &hw.tree.qa),
        ] {
            for &(to, k) in list {
                value[to] += from[k];
            }
        }
        for j in 0..n {
            hessian.gradient[j] += hw.tree.q[j];
            hessian.gradient[w.u + j] += hw.tree.u[j];
            hessian.gradient[w.udot + j] += hw.tree.a[j];
        }
        // Switched-off forces and states of plain forces: r = ż − …
        for f in s.forces.iter().filter(|f| !f.enabled || f.path.is_none()) {
            for k in f.states.clone() {
                hessian.gradient[w.zdot + k] += y_z[k];
            }
        }
    }

    /// Rows q̇ − N(q) u.
    fn kinematic_hessian(
        &self,
        x: &State<f64>,
        y: &[f64],
        hw: &mut HessianWorkspace,
        hessian: &mut ImplicitHessian,
    ) {
        let (tree, w) = (&self.system.tree, self.layout());
        for (j, &y_j) in y.iter().enumerate() {
            hessian.gradient[w.qdot + j] += y_j;
            match tree.angular[j] {
                None => hessian.gradient[w.u + j] -= y_j,
                Some(u0) if u0 == j => {
                    type J = Jet<6, 21>;
                    let q = Vec3::from_array([0, 1, 2].map(|c| J::variable(x.q[u0 + c], c)));
                    let u = Vec3::from_array([0, 1, 2].map(|c| J::variable(x.u[u0 + c], 3 + c)));
                    let rate = angles_rate(q, u);
                    let phi = -(rate.x * y[u0] + rate.y * y[u0 + 1] + rate.z * y[u0 + 2]);
                    for a in 0..3 {
                        hw.tree.q[u0 + a] += phi.g[a];
                        hw.tree.u[u0 + a] += phi.g[3 + a];
                        for b in 0..3 {
                            hw.tree.qq[(u0 + a) * w.n + u0 + b] += phi.second(a, b);
                            hw.tree.qu[(u0 + a) * w.n + u0 + b] += phi.second(a, 3 + b);
                        }
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Takes gravity off the loads: the tree counts it as an acceleration of ground.
    pub(super) fn subtract_gravity(&self, ws: &mut Workspace<f64>) {
        let g = self.system.gravity;
        for (f, i) in ws.body_load.iter_mut().zip(&ws.kin.inertia) {
            *f -= SpatialVec::new(i.moment.cross(g), g * i.mass);
        }
    }
}

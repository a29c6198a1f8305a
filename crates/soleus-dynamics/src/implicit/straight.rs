//! Derivatives of straight paths in closed form.
//!
//! Between points A and B of two bodies the path pulls along e = (p_B − p_A)/ℓ. A coordinate that moves one of the two bodies,
//! by a twist (ω, v) about the origin of ground, moves its point by a = v + ω × p, and with s = 1 if that is B, −1 if A,
//!
//!   ∂ℓ = s e·a,   ∂e = s (a − e (e·a))/ℓ,   ∂ℓ̇ = ∂e·(v_B − v_A) + s e·∂v                         (1)
//!
//! where v_A and v_B are the velocities of the points and ∂v is how that of the moved one changes. The pull on the point that is
//! moved changes by ∂e − ω × e beyond turning with its body, which the tree counts, that on the other by ∂e. A coordinate that
//! moves both bodies, or none, changes nothing of this.

use super::ImplicitSystem;
use super::jacobian::JacobianWorkspace;
use crate::path::{COINCIDENT_M, CompiledPath, PointOrigin};
use crate::system::Workspace;
use soleus_math::SpatialVec;

impl ImplicitSystem<'_> {
    /// Whether the path of a force runs straight between points fixed to bodies, as it is now.
    pub(super) fn runs_straight(&self, ws: &Workspace<f64>, i: usize) -> bool {
        match &self.system.forces[i].path {
            Some(CompiledPath::Geometry(path)) => {
                let is_point = |o: PointOrigin| matches!(o, PointOrigin::Point(_));
                !path.has_moving() && ws.paths[i].points().iter().all(|p| is_point(p.origin))
            }
            _ => false,
        }
    }

    /// Length and speed of such a path by coordinates, and what its load changes as seen from the bodies.
    pub(super) fn straight_path(&self, ws: &Workspace<f64>, jw: &mut JacobianWorkspace, i: usize) {
        let n = self.system.tree.num_mobilities;
        let JacobianWorkspace { tree, paths, moves, delta, .. } = jw;
        let (list, tension) = (&self.pattern.path[i], ws.tension[i]);
        let out = &mut paths[i];
        out.L_q.fill(0.0);
        out.v_q.fill(0.0);
        for pair in ws.paths[i].points().windows(2) {
            let (A, B) = (&pair[0], &pair[1]);
            if A.body == B.body || A.to_next < COINCIDENT_M {
                continue;
            }
            let e = (B.p_G - A.p_G) / A.to_next;
            let [v_A, v_B] = [A, B].map(|p| tree.V[p.body].v + tree.V[p.body].w.cross(p.p_G));
            for (k, &c) in list.iter().enumerate() {
                let (by_A, by_B) = (moves[A.body * n + c], moves[B.body * n + c]);
                if by_A == by_B {
                    continue;
                }
                let (moved, sign) = if by_B { (B, 1.0) } else { (A, -1.0) };
                let (T, eta, V) = (tree.twist[c], tree.eta[c], tree.V[moved.body]);
                let a = T.v + T.w.cross(moved.p_G);
                let along = e.dot(a);
                let de = (a - e * along) * (sign / A.to_next);
                let dw = T.w.cross(V.w) + eta.w;
                let dv = T.w.cross(V.v) + T.v.cross(V.w) + eta.v + dw.cross(moved.p_G) + V.w.cross(a);
                out.L_q[k] += sign * along;
                out.v_q[k] += de.dot(v_B - v_A) + sign * e.dot(dv);

                let seen = de - T.w.cross(e);
                let (on_A, on_B) = if by_B { (de, seen) } else { (seen, de) };
                let (on_A, on_B) = (on_A * tension, on_B * tension);
                delta[A.body * n + c] += SpatialVec::new(A.p_G.cross(on_A), on_A);
                delta[B.body * n + c] -= SpatialVec::new(B.p_G.cross(on_B), on_B);
            }
        }
    }
}

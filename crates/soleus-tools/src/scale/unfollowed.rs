//! Motions of bodies that a model cannot follow, such as those sideways in a planar model.
//!
//! Each body may be displaced by a twist δ = (ω, v) that no coordinate can produce. Its markers are then displaced by
//! v + ω × r, which is neither due to size nor to marker placement, because it differs between trials. The twist is
//! estimated from the distances eₘ of the markers by least squares, with a wide prior:
//!
//!   min over δ   Σₘ wₘ |eₘ − v − ω × rₘ|² / σ²  +  |ω|² / σ_ω²  +  |v|² / σ_v²
//!
//! A model that moves freely in ground has no such motions.

use super::sizes::MARKER_SD_M;
use soleus_dynamics::System;
use soleus_math::dense::{factorize_cholesky, solve_cholesky};
use soleus_math::{Vec3, vec3};
use soleus_model::Model;
use soleus_model::id::CoordinateId;

/// How far bodies turn and move where the model does not, rad and m: a leg that is spread, a subject who stands beside the line of progress.
const TURN_SD: f64 = 0.2;
const SHIFT_SD_M: f64 = 0.1;
/// A twist that differs less from the others is none of its own; the differences below are right to about 1e-6.
const SAME: f64 = 1e-3;

/// A twist of a body: angular velocity, and velocity of its origin, in ground.
type Twist = [f64; 6];

/// Motions that no coordinate gives.
pub(super) struct Unfollowed {
    /// For each node of the tree, twists of unit length at right angles to each other.
    twists: Vec<Vec<Twist>>,
    /// Origins of the nodes in ground.
    origins: Vec<Vec3<f64>>,
}

impl Unfollowed {
    /// Finds them for a pose.
    pub fn new(model: &Model, system: &System, q: &[f64]) -> Self {
        let mut ws = system.workspace();
        let mut state = system.default_state.clone();
        let mut at = |q: &[f64]| {
            state.q.copy_from_slice(q);
            system.compute_kinematics(&state, &mut ws);
            ws.kin.X_GB.clone()
        };
        let here = at(q);
        let mut followed: Vec<Vec<Twist>> = vec![Vec::new(); here.len()];
        let free = (0..model.coordinates.len()).filter(|&c| !model.is_constrained(CoordinateId(c)));
        let mut moved = q.to_vec();
        const H: f64 = 1e-6;
        for m in free.map(|c| system.tree.mobility_of_coordinate[c]).filter(|&m| m != usize::MAX) {
            moved[m] += H;
            let there = at(&moved);
            moved[m] = q[m];
            for (i, list) in followed.iter_mut().enumerate() {
                let w = (there[i].R * here[i].R.inverse()).to_rotation_vector() * (1.0 / H);
                let v = (there[i].p - here[i].p) * (1.0 / H);
                push_apart(list, [w.x, w.y, w.z, v.x, v.y, v.z]);
            }
        }
        let twists = followed.into_iter().map(|mut list| {
            let known = list.len();
            for k in 0..6 {
                let mut unit = [0.0; 6];
                unit[k] = 1.0;
                push_apart(&mut list, unit);
            }
            list.split_off(known)
        });
        Unfollowed { twists: twists.collect(), origins: here.iter().map(|X| X.p).collect() }
    }

    /// Number of such motions of a node.
    pub fn count(&self, node: usize) -> usize {
        self.twists[node].len()
    }

    /// How motion `k` of a node moves a point at `place`, m.
    pub fn moves(&self, node: usize, k: usize, place: Vec3<f64>) -> Vec3<f64> {
        let [a, b, c, x, y, z] = self.twists[node][k];
        vec3(x, y, z) + vec3(a, b, c).cross(place - self.origins[node])
    }

    /// One over the variance of motion `k` of a node.
    pub fn prior(&self, node: usize, k: usize) -> f64 {
        let [a, b, c, x, y, z] = self.twists[node][k];
        (a * a + b * b + c * c) / TURN_SD.powi(2) + (x * x + y * y + z * z) / SHIFT_SD_M.powi(2)
    }

    /// How far each marker of a node is displaced by such motions, m. Markers are weight, place on the model and distance from it.
    pub fn displacements(&self, node: usize, markers: &[(f64, Vec3<f64>, Vec3<f64>)]) -> Vec<Vec3<f64>> {
        let n = self.count(node);
        let (mut normal, mut x) = (vec![0.0; n * n], vec![0.0; n]);
        for a in 0..n {
            for (w, place, error) in markers {
                let w = w / (MARKER_SD_M * MARKER_SD_M);
                x[a] += w * self.moves(node, a, *place).dot(*error);
                for b in 0..n {
                    normal[a * n + b] += w * self.moves(node, a, *place).dot(self.moves(node, b, *place));
                }
            }
            normal[a * n + a] += self.prior(node, a);
        }
        factorize_cholesky(&mut normal, n, 1e-12);
        solve_cholesky(&normal, n, &mut x);
        let sum = |place: Vec3<f64>| {
            (0..n).fold(Vec3::zero(), |sum: Vec3<f64>, k| sum + self.moves(node, k, place) * x[k])
        };
        markers.iter().map(|(_, place, _)| sum(*place)).collect()
    }
}

/// Adds the part of a twist that the others do not have, if there is one.
fn push_apart(list: &mut Vec<Twist>, twist: Twist) {
    let dot = |a: &Twist, b: &Twist| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
    let size = dot(&twist, &twist).sqrt();
    let mut rest = twist;
    // Twice, as the first pass leaves rounding behind.
    for _ in 0..2 {
        for other in list.iter() {
            let part = dot(&rest, other);
            rest.iter_mut().zip(other).for_each(|(r, o)| *r -= part * o);
        }
    }
    let left = dot(&rest, &rest).sqrt();
    if list.len() < 6 && left > SAME * size.max(SAME) {
        list.push(rest.map(|r| r / left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twists in a plane leave those across it.
    #[test]
    fn analytic_what_a_plane_leaves_out() {
        let mut list = Vec::new();
        for t in
            [[0.0, 0.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.3, 0.4, 0.0], [0.0, 0.0, 0.5, -1.0, 0.2, 0.0]]
        {
            push_apart(&mut list, t);
        }
        assert_eq!(list.len(), 3);
        // One that depends on them adds nothing.
        push_apart(&mut list, [0.0, 0.0, -3.0, 5.0, 1.0, 0.0]);
        assert_eq!(list.len(), 3);
        for k in 0..6 {
            let mut unit = [0.0; 6];
            unit[k] = 1.0;
            push_apart(&mut list, unit);
        }
        let left = list.split_off(3);
        assert_eq!(left, [0, 1, 5].map(|k| std::array::from_fn(|i| f64::from(u8::from(i == k)))));
    }
}

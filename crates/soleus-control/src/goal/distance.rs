//! The squared distance of two frames, with derivatives joint by joint.
//!
//! A point s of the last body of a chain is at x = X₁(q₁) X₂(q₂) … s. With G the rotation before joint i, s_i the point as seen from its body
//! and v_j,b = ∂X_j/∂b s_j,
//!
//!   ∂x/∂a = G_i ∂X_i/∂a s_i,    ∂²x/∂a∂b = G_i ∂²X_i/∂a∂b s_i  in one joint,  G_i ∂R_i/∂a R_{i+1} … R_{j−1} v_j,b  in two      (1)
//!
//! so that jets are only needed for the few coordinates of one joint, not for the whole tree.

use super::contact::Projection;
use crate::function::{PointFunction, Scratch, places};
use crate::problem::{PointVariable, Term};
use soleus_dynamics::joint::JointMotion;
use soleus_dynamics::multibody::Node;
use soleus_dynamics::{BodyFrame, System};
use soleus_math::{Jet, Mat33, Real, Transform, Vec3, vec3};
use std::sync::Arc;

/// Jets over the coordinates of a joint, six at most.
type Joint = Jet<6, 21>;

/// |part of x_A − x_B|² of the origins of two frames.
struct SquaredDistance {
    system: Arc<System>,
    frames: [BodyFrame; 2],
    projection: Projection,
    /// Mobilities that move either, the inputs.
    list: Vec<usize>,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

/// Room for all of it.
struct Memory {
    q: Vec<f64>,
    /// Slopes of x_A − x_B, and second derivatives row by row.
    first: Vec<Vec3<f64>>,
    second: Vec<Vec3<f64>>,
}

/// A pose over a joint, with derivatives by its coordinates.
struct Link {
    /// Where its coordinates are among the inputs.
    places: Vec<usize>,
    X: Transform<f64>,
    /// ∂X, as rotation and translation.
    first: Vec<(Mat33<f64>, Vec3<f64>)>,
    /// ∂²X, row by row.
    second: Vec<(Mat33<f64>, Vec3<f64>)>,
    /// G and s of (1).
    before: Mat33<f64>,
    point: Vec3<f64>,
}

/// Pose of a body in its parent.
fn pose<T: Real>(node: &Node, q: &[T]) -> Transform<T> {
    let mut m = JointMotion::rest();
    node.joint.compute(q, &[T::zero(); 6][..q.len()], &mut m);
    if node.reversed {
        m = m.reversed(node.nu);
    }
    Transform::cst(node.X_PF) * m.X_FM * Transform::cst(node.X_MB)
}

/// A part of a pose of jets: its value, or a derivative.
fn part(x: &Transform<Joint>, of: impl Fn(&Joint) -> f64) -> (Mat33<f64>, Vec3<f64>) {
    let v = |v: &Vec3<Joint>| vec3(of(&v.x), of(&v.y), of(&v.z));
    (Mat33 { col: [v(&x.R.0.col[0]), v(&x.R.0.col[1]), v(&x.R.0.col[2])] }, v(&x.p))
}

impl SquaredDistance {
    /// Bodies from ground to a frame.
    fn chain(&self, frame: &BodyFrame) -> Vec<usize> {
        let mut bodies = Vec::new();
        let mut b = frame.body;
        while b != 0 {
            bodies.push(b);
            b = self.system.tree.nodes[b].parent;
        }
        bodies.reverse();
        bodies
    }

    fn position(&self, frame: &BodyFrame, q: &[f64]) -> Vec3<f64> {
        let mut x = frame.X_BF.p;
        for &b in self.chain(frame).iter().rev() {
            let node = &self.system.tree.nodes[b];
            x = pose(node, &q[node.u0..node.u0 + node.nu]) * x;
        }
        x
    }

    fn set(&self, z: &[f64], q: &mut [f64]) {
        for (&m, &z) in self.list.iter().zip(z) {
            q[m] = z;
        }
    }

    /// Adds a point's derivatives times `sign`; returns the point.
    fn add(&self, frame: &BodyFrame, sign: f64, m: &mut Memory) -> Vec3<f64> {
        let n = self.list.len();
        let mut links: Vec<Link> = Vec::new();
        let mut before = Mat33::identity();
        for b in self.chain(frame) {
            let node = &self.system.tree.nodes[b];
            let range = node.u0..node.u0 + node.nu;
            let q: Vec<Joint> =
                m.q[range.clone()].iter().enumerate().map(|(i, &q)| Joint::variable(q, i)).collect();
            let x = pose(node, &q);
            let (R, p) = part(&x, |j| j.v);
            let pairs = (0..node.nu).flat_map(|a| (0..node.nu).map(move |b| (a, b)));
            links.push(Link {
                places: range.filter_map(|u| self.list.iter().position(|&l| l == u)).collect(),
                X: Transform { R: soleus_math::Rotation(R), p },
                first: (0..node.nu).map(|a| part(&x, |j| j.g[a])).collect(),
                second: pairs.map(|(a, b)| part(&x, |j| j.second(a, b))).collect(),
                before,
                point: Vec3::zero(),
            });
            before = before * R;
        }
        let mut x = frame.X_BF.p;
        for l in links.iter_mut().rev() {
            l.point = x;
            x = l.X * x;
        }
        for (j, l) in links.iter().enumerate() {
            for (b, &to) in l.places.iter().enumerate() {
                let (dR, dp) = l.first[b];
                let mut v = dR * l.point + dp;
                m.first[to] += l.before * v * sign;
                for (a, &from) in l.places.iter().enumerate() {
                    let (ddR, ddp) = l.second[a * l.places.len() + b];
                    m.second[to * n + from] += l.before * (ddR * l.point + ddp) * sign;
                }
                for k in links[..j].iter().rev() {
                    for (a, &from) in k.places.iter().enumerate() {
                        let h = k.before * (k.first[a].0 * v) * sign;
                        m.second[to * n + from] += h;
                        m.second[from * n + to] += h;
                    }
                    v = k.X.R * v;
                }
            }
        }
        x
    }

    /// The part of the difference that counts, and derivatives of all of it in `m`.
    fn difference(&self, z: &[f64], m: &mut Memory) -> Vec3<f64> {
        self.set(z, &mut m.q);
        m.first.fill(Vec3::zero());
        m.second.fill(Vec3::zero());
        let [a, b] = &self.frames;
        let d = self.add(a, 1.0, m) - self.add(b, -1.0, m);
        self.projection.of(d)
    }
}

impl PointFunction for SquaredDistance {
    fn num_inputs(&self) -> usize {
        self.list.len()
    }

    fn num_outputs(&self) -> usize {
        1
    }

    places!();

    fn scratch(&self) -> Scratch {
        let n = self.list.len();
        let q = self.system.default_state.q.clone();
        Box::new(Memory { q, first: vec![Vec3::zero(); n], second: vec![Vec3::zero(); n * n] })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.set(z, &mut m.q);
        let [a, b] = &self.frames;
        let d = self.projection.of(self.position(a, &m.q) - self.position(b, &m.q));
        values[0] = d.dot(d);
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let d = self.difference(z, m);
        for (v, x) in values.iter_mut().zip(&m.first) {
            *v = 2.0 * d.dot(*x);
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let d = self.difference(z, m);
        let n = self.list.len();
        let mut at = 0;
        for i in 0..n {
            let x = self.projection.of(m.first[i]);
            for j in 0..=i {
                values[at] = 2.0 * y[0] * (x.dot(m.first[j]) + d.dot(m.second[i * n + j]));
                at += 1;
            }
        }
    }
}

/// The squared distance (m²) of the origins of two frames, or of a part of what is between them.
pub(super) fn squared_distance(system: &Arc<System>, frames: [BodyFrame; 2], projection: Projection) -> Term {
    let mut f = SquaredDistance {
        system: system.clone(),
        frames,
        projection,
        list: Vec::new(),
        jacobian_places: Vec::new(),
        hessian_places: Vec::new(),
    };
    let mut list: Vec<usize> = frames
        .iter()
        .flat_map(|frame| f.chain(frame))
        .flat_map(|b| {
            let node = &system.tree.nodes[b];
            node.u0..node.u0 + node.nu
        })
        .collect();
    list.sort_unstable();
    list.dedup();
    let n = list.len();
    f.jacobian_places = (0..n).map(|i| (0, i)).collect();
    f.hessian_places = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    f.list = list;
    Term { inputs: f.list.iter().map(|&m| PointVariable::State(m)).collect(), function: Arc::new(f) }
}

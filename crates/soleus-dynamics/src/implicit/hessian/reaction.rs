//! Sum of contact forces on bodies, with first and second derivatives.
//!
//! Tracking of measured ground reactions is part of the cost in optimal control, and the solver needs the Hessian. A
//! contact depends on displacement θ and velocity ν of its bodies; jets over these twelve numbers and the second
//! derivatives (2) of [`forces`](super::forces) give that of any weighted component, at the cost of evaluating a few
//! contacts.

use super::super::jacobian::CHUNK;
use super::forces::{displacement, moved_along};
use super::rounds;
use super::scratch::J;
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::{
    InverseDynamicsDerivatives, InverseDynamicsHessian, TreeKinematics, compute_kinematics, cross,
};
use crate::system::{Actor, System};
use soleus_math::{Dual, Real, SpatialVec, Transform, Vec3, vec3};

/// Displacement and velocity of a body.
const PER_BODY: usize = 12;
/// The scalar of the Jacobian, so that no other is compiled: pose and velocity of a body, six numbers each, go one after the other.
type D = Dual<f64, CHUNK>;
const ROUND: usize = PER_BODY / 2;

/// F(q, u): the sum of the contact forces (not moments) on bodies, in ground.
#[derive(Clone, Debug)]
pub struct ReactionSum {
    contacts: Vec<Contact>,
    mobilities: Vec<usize>,
    /// Nodes of the tree that have these mobilities.
    nodes: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Contact {
    force: usize,
    /// The body on which it is counted.
    counted: usize,
    /// Bodies it sees that move, and others.
    bodies: Vec<usize>,
    still: Vec<usize>,
    rounds: Vec<Vec<usize>>,
}

/// F with its derivatives with respect to the coordinates, then the speeds, of [`ReactionSum::mobilities`]; and scratch
/// memory.
#[derive(Clone, Debug)]
pub struct ReactionScratch {
    /// F, N.
    pub value: Vec3<f64>,
    /// ∂F/∂(q, u).
    pub first: Vec<Vec3<f64>>,
    /// ∂²(c·F)/∂(q, u)², row by row, symmetric.
    pub second: Vec<f64>,
    kin: TreeKinematics<f64>,
    derivatives: InverseDynamicsDerivatives<f64>,
    hessian: InverseDynamicsHessian,
    zeros: Vec<f64>,
    no_loads: Vec<SpatialVec<f64>>,
    plain: Lifted<f64>,
    /// With the pose, and with the velocity, as variables.
    duals: [Lifted<D>; 2],
    jets: Lifted<J>,
    theta: Vec<SpatialVec<f64>>,
    nu: Vec<SpatialVec<f64>>,
    by: Vec<f64>,
    g: Vec<f64>,
    h: Vec<f64>,
    product: Vec<f64>,
}

/// Poses, velocities and loads in one scalar.
#[derive(Clone, Debug)]
struct Lifted<T: Real> {
    X_GB: Vec<Transform<T>>,
    V_GB: Vec<SpatialVec<T>>,
    body: Vec<SpatialVec<T>>,
    mobility: Vec<T>,
}

impl<T: Real> Lifted<T> {
    fn new(s: &System) -> Self {
        let nb = s.tree.nodes.len();
        Lifted {
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![SpatialVec::zero(); nb],
            body: vec![SpatialVec::zero(); nb],
            mobility: vec![T::zero(); s.tree.num_mobilities],
        }
    }
}

impl ReactionSum {
    /// The sum of `contacts`: forces of the system that depend only on bodies, each with the body on which it acts.
    /// `None` if one of them is not such a force.
    pub fn new(s: &System, contacts: &[(usize, usize)]) -> Option<Self> {
        let mut made = Vec::new();
        let mut mobilities = Vec::new();
        for &(force, counted) in contacts {
            let f = s.forces.get(force)?;
            let Actor::Force(law) = &f.actor else { return None };
            let (mut bodies, direct) = law.touches();
            if !direct.is_empty() || !f.controls.is_empty() || !f.states.is_empty() || f.path.is_some() {
                return None;
            }
            bodies.sort_unstable();
            bodies.dedup();
            let (bodies, still): (Vec<_>, Vec<_>) =
                bodies.into_iter().partition(|&b| !s.tree.supports(b).is_empty());
            mobilities.extend(bodies.iter().flat_map(|&b| s.tree.supports(b)));
            let rounds = rounds(PER_BODY * bodies.len());
            made.push(Contact { force, counted, bodies, still, rounds });
        }
        mobilities.sort_unstable();
        mobilities.dedup();
        let has = |i: &usize| {
            let node = &s.tree.nodes[*i];
            mobilities.iter().any(|j| (node.u0..node.u0 + node.nu).contains(j))
        };
        let nodes = (0..s.tree.nodes.len()).filter(has).collect();
        Some(ReactionSum { contacts: made, mobilities, nodes })
    }

    /// Mobilities on which the sum depends, increasing.
    pub fn mobilities(&self) -> &[usize] {
        &self.mobilities
    }

    /// Memory for one thread.
    pub fn scratch(&self, s: &System) -> ReactionScratch {
        let (n, nb, k) = (s.tree.num_mobilities, s.tree.nodes.len(), self.mobilities.len());
        let seen = PER_BODY * self.contacts.iter().map(|c| c.bodies.len()).max().unwrap_or(0);
        let zero = SpatialVec::zero();
        ReactionScratch {
            value: Vec3::zero(),
            first: vec![Vec3::zero(); 2 * k],
            second: vec![0.0; 4 * k * k],
            kin: TreeKinematics::new(&s.tree),
            derivatives: InverseDynamicsDerivatives::new(&s.tree),
            hessian: InverseDynamicsHessian::new(&s.tree, true),
            zeros: vec![0.0; n],
            no_loads: vec![zero; nb],
            plain: Lifted::new(s),
            duals: [Lifted::new(s), Lifted::new(s)],
            jets: Lifted::new(s),
            theta: vec![zero; nb],
            nu: vec![zero; nb],
            by: vec![0.0; 2 * k * seen],
            g: vec![0.0; seen],
            h: vec![0.0; seen * seen],
            product: vec![0.0; 2 * k * seen],
        }
    }

    /// F; `q` and `u` are those of the whole tree.
    pub fn compute_value(&self, s: &System, q: &[f64], u: &[f64], w: &mut ReactionScratch) {
        compute_kinematics(&s.tree, q, u, &mut w.kin);
        w.value = Vec3::zero();
        w.plain.X_GB.copy_from_slice(&w.kin.X_GB);
        w.plain.V_GB.copy_from_slice(&w.kin.V_GB);
        for c in &self.contacts {
            w.value += c.apply(s, &mut w.plain);
        }
    }

    /// F and ∂F/∂(q, u).
    pub fn compute_first(&self, s: &System, q: &[f64], u: &[f64], w: &mut ReactionScratch) {
        self.compute_value(s, q, u, w);
        self.compute_twists(s, w);
        w.first.fill(Vec3::zero());
        let k = self.mobilities.len();
        for (number, c) in self.contacts.iter().enumerate() {
            for (i, &b) in c.bodies.iter().enumerate() {
                let mut F_x = [Vec3::zero(); PER_BODY];
                for (half, duals) in w.duals.iter_mut().enumerate() {
                    let first = ROUND * half;
                    let round: [usize; ROUND] = std::array::from_fn(|v| PER_BODY * i + first + v);
                    if !self.is_lifted(number) {
                        c.lift(&round, &w.kin, &w.derivatives, duals, D::variable);
                    }
                    let F = c.apply(s, duals);
                    for v in 0..ROUND {
                        F_x[first + v] = vec3(F.x.d[v], F.y.d[v], F.z.d[v]);
                    }
                }
                for (a, &j) in self.mobilities.iter().enumerate() {
                    if !s.tree.moves(j, b) {
                        continue;
                    }
                    let d = &w.derivatives;
                    let along = |theta: SpatialVec<f64>, nu: SpatialVec<f64>| {
                        let x = twelve(theta, nu);
                        F_x.iter().zip(&x).fold(Vec3::zero(), |sum, (F, x)| sum + *F * *x)
                    };
                    w.first[a] += along(d.twist[j], d.eta[j]);
                    w.first[k + a] += along(SpatialVec::zero(), d.S[j]);
                }
            }
        }
    }

    /// ∂²(c·F)/∂(q, u)²; the first derivatives must be those of the same motion.
    pub fn compute_second(&self, s: &System, c: Vec3<f64>, w: &mut ReactionScratch) {
        let ReactionScratch { kin, derivatives: d, hessian, theta, nu, second, .. } = w;
        hessian.compute_joints(&s.tree, kin, d, &self.nodes);
        theta.fill(SpatialVec::zero());
        nu.fill(SpatialVec::zero());
        second.fill(0.0);
        for number in 0..self.contacts.len() {
            self.second_of_contact(s, number, c, w);
        }
        self.second_of_bodies(s, w);
    }

    /// Whether the contact before this one saw the same single body, which is lifted still.
    fn is_lifted(&self, number: usize) -> bool {
        let now = &self.contacts[number];
        let before = number.checked_sub(1).map(|n| &self.contacts[n]);
        now.rounds.len() == 1
            && before.is_some_and(|b| b.bodies.len() == 1 && b.bodies == now.bodies && b.still == now.still)
    }

    /// Twists, and what speeds and coordinates change in velocities.
    fn compute_twists(&self, s: &System, w: &mut ReactionScratch) {
        w.derivatives.compute(&s.tree, &w.kin, &w.zeros, Vec3::zero(), &w.no_loads);
    }

    fn second_of_contact(&self, s: &System, number: usize, c: Vec3<f64>, w: &mut ReactionScratch) {
        let contact = &self.contacts[number];
        let seen = PER_BODY * contact.bodies.len();
        for round in &contact.rounds {
            if !self.is_lifted(number) {
                contact.lift(round, &w.kin, &w.derivatives, &mut w.jets, J::variable);
            }
            let F = contact.apply(s, &mut w.jets);
            let phi = F.x * c.x + F.y * c.y + F.z * c.z;
            for (a, &r) in round.iter().enumerate() {
                w.g[r] = phi.g[a];
                for (b, &l) in round.iter().enumerate() {
                    w.h[r * seen + l] = phi.second(a, b);
                }
            }
        }
        for (i, &b) in contact.bodies.iter().enumerate() {
            let at = |n: usize| {
                let g = &w.g[PER_BODY * i + n..];
                vec3(g[0], g[1], g[2])
            };
            w.theta[b] += SpatialVec::new(at(0), at(3));
            w.nu[b] += SpatialVec::new(at(6), at(9));
        }
        let k = self.mobilities.len();
        let by = &mut w.by[..2 * k * seen];
        by.fill(0.0);
        let d = &w.derivatives;
        for (a, &j) in self.mobilities.iter().enumerate() {
            for (i, _) in contact.bodies.iter().enumerate().filter(|&(_, &b)| s.tree.moves(j, b)) {
                let at = PER_BODY * i;
                by[a * seen + at..][..PER_BODY].copy_from_slice(&twelve(d.twist[j], d.eta[j]));
                by[(k + a) * seen + at..][..PER_BODY].copy_from_slice(&twelve(SpatialVec::zero(), d.S[j]));
            }
        }
        for a in 0..2 * k {
            let row = &by[a * seen..(a + 1) * seen];
            let product = &mut w.product[a * seen..(a + 1) * seen];
            product.fill(0.0);
            for (l, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                for (p, h) in product.iter_mut().zip(&w.h[l * seen..(l + 1) * seen]) {
                    *p += x * h;
                }
            }
        }
        for a in 0..2 * k {
            let product = &w.product[a * seen..(a + 1) * seen];
            for b in 0..=a {
                let h: f64 = product.iter().zip(&by[b * seen..(b + 1) * seen]).map(|(x, y)| x * y).sum();
                w.second[a * 2 * k + b] += h;
            }
        }
    }

    /// Adds the second derivatives of the bodies' motion, and mirrors the lower triangle.
    fn second_of_bodies(&self, s: &System, w: &mut ReactionScratch) {
        let (k, nodes) = (self.mobilities.len(), &s.tree.nodes);
        let place = |j: usize| self.mobilities.binary_search(&j).ok();
        let ReactionScratch { derivatives: d, hessian, theta, nu, second, .. } = w;
        let mut add = |a: usize, b: usize, h: f64| second[a.max(b) * 2 * k + a.min(b)] += h;
        for (i, node) in nodes.iter().enumerate().skip(1).rev() {
            let (gt, gn) = (theta[i], nu[i]);
            for (r, j) in (node.u0..node.u0 + node.nu).enumerate() {
                let Some(a) = place(j) else { continue };
                let T = d.twist[j];
                let mut up = node.parent;
                while up != 0 {
                    let above = &nodes[up];
                    for l in above.u0..above.u0 + above.nu {
                        let Some(b) = place(l) else { continue };
                        add(a, b, 0.5 * gt.dot(cross(d.twist[l], T)) - gn.dot(cross(T, d.eta[l])));
                        add(a, k + b, -gn.dot(cross(T, d.S[l])));
                    }
                    up = above.parent;
                }
                // Within the joint.
                let own = &hessian.second[i];
                let at = |x: usize, y: usize| {
                    let (x, y) = (x.max(y), x.min(y));
                    let p = x * (x + 1) / 2 + y;
                    gt.dot(own.twist[p]) + gn.dot(own.V[p])
                };
                for (c, l) in (node.u0..node.u0 + node.nu).enumerate() {
                    let Some(b) = place(l) else { continue };
                    if b <= a {
                        add(a, b, at(r, c));
                        add(k + a, k + b, at(node.nu + r, node.nu + c));
                    }
                    add(a, k + b, at(r, node.nu + c));
                }
            }
            if node.parent != 0 {
                theta[node.parent] += gt;
                nu[node.parent] += gn;
            }
        }
        for a in 0..2 * k {
            for b in 0..a {
                second[b * 2 * k + a] = second[a * 2 * k + b];
            }
        }
    }
}

impl Contact {
    /// Poses and velocities of the bodies with the variables `round` of what the contact sees.
    fn lift<T: Real>(
        &self,
        round: &[usize],
        kin: &TreeKinematics<f64>,
        d: &InverseDynamicsDerivatives<f64>,
        to: &mut Lifted<T>,
        make: impl Fn(f64, usize) -> T,
    ) {
        for &b in &self.still {
            to.X_GB[b] = Transform::cst(kin.X_GB[b]);
            to.V_GB[b] = SpatialVec::new(Vec3::cst(kin.V_GB[b].w), Vec3::cst(kin.V_GB[b].v));
        }
        let variable = |v: usize, value: f64| match round.iter().position(|&r| r == v) {
            Some(place) => make(value, place),
            None => T::cst(value),
        };
        let three =
            |v: usize, x: Vec3<f64>| vec3(variable(v, x.x), variable(v + 1, x.y), variable(v + 2, x.z));
        for (i, &b) in self.bodies.iter().enumerate() {
            let at = PER_BODY * i;
            let theta = SpatialVec::new(three(at, Vec3::zero()), three(at + 3, Vec3::zero()));
            let V = SpatialVec::new(three(at + 6, d.V[b].w), three(at + 9, d.V[b].v));
            (to.X_GB[b], to.V_GB[b]) = moved_along(displacement(theta), kin.X_GB[b], V);
        }
    }

    /// The force on the counted body.
    fn apply<T: Real>(&self, s: &System, at: &mut Lifted<T>) -> Vec3<T> {
        let Actor::Force(law) = &s.forces[self.force].actor else { return Vec3::zero() };
        for &b in self.bodies.iter().chain(&self.still) {
            at.body[b] = SpatialVec::zero();
        }
        let kin = Kinematics { time: T::zero(), X_GB: &at.X_GB, V_GB: &at.V_GB, q: &[], u: &[] };
        let mut loads = Loads { body: &mut at.body, mobility: &mut at.mobility };
        law.apply(&kin, &[], &[], &mut [], &mut loads);
        at.body[self.counted].v
    }
}

fn twelve(theta: SpatialVec<f64>, nu: SpatialVec<f64>) -> [f64; PER_BODY] {
    let [a, b, c, d] = [theta.w, theta.v, nu.w, nu.v].map(|x| x.to_array());
    [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2]]
}

//! Ground reactions that follow measured ones.

use super::kinematic::{Motion, supports};
use crate::function::SmoothFunction;
use crate::problem::{Goal, PointVariable, Term};
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Loads, System};
use soleus_math::{Function, Real, SpatialVec, Vec3, vec3};
use std::sync::Arc;

/// What of the difference counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// All of it.
    None,
    /// The part along a direction of length 1.
    Vector(Vec3<f64>),
    /// The part across a direction of length 1.
    Plane(Vec3<f64>),
}

impl Projection {
    /// The part of a vector that counts.
    pub(super) fn of<T: Real>(self, d: Vec3<T>) -> Vec3<T> {
        match self {
            Projection::None => d,
            Projection::Vector(n) => Vec3::cst(n) * d.dot(Vec3::cst(n)),
            Projection::Plane(n) => d - Vec3::cst(n) * d.dot(Vec3::cst(n)),
        }
    }
}

/// Contacts whose sum follows one measured force.
#[derive(Clone, Debug)]
pub struct ContactGroup {
    /// Forces of the system, with the body on which each is counted.
    pub contacts: Vec<(usize, usize)>,
    /// Measured force in ground, N, of time.
    pub force: [Function; 3],
    /// The difference is divided by this, axis by axis.
    pub scale: [f64; 3],
}

/// |projection of (Σ f − r(t))/scale|².
struct ForceError {
    system: Arc<System>,
    group: ContactGroup,
    mobilities: Vec<usize>,
    projection: Projection,
}

struct Memory<T: Real> {
    motion: Motion<T>,
    body: Vec<SpatialVec<T>>,
    mobility: Vec<T>,
}

impl SmoothFunction for ForceError {
    type Scratch<T: Real> = Memory<T>;

    fn num_inputs(&self) -> usize {
        1 + 2 * self.mobilities.len()
    }

    fn scratch<T: Real>(&self) -> Memory<T> {
        let tree = &self.system.tree;
        Memory {
            motion: Motion::new(&self.system),
            body: vec![SpatialVec::zero(); tree.nodes.len()],
            mobility: vec![T::zero(); tree.num_mobilities],
        }
    }

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], m: &mut Memory<T>) {
        let (q, u) = z[1..].split_at(self.mobilities.len());
        for ((&i, &q), &u) in self.mobilities.iter().zip(q).zip(u) {
            (m.motion.q[i], m.motion.u[i]) = (q, u);
        }
        m.motion.compute(&self.system);
        let kin = m.motion.kin.view(z[0]);
        let mut sum = Vec3::zero();
        for &(force, body) in &self.group.contacts {
            let Actor::Force(contact) = &self.system.forces[force].actor else { continue };
            m.body.fill(SpatialVec::zero());
            let mut loads = Loads { body: &mut m.body, mobility: &mut m.mobility };
            contact.apply(&kin, &[], &[], &mut [], &mut loads);
            sum += m.body[body].v;
        }
        let r = |i: usize| self.group.force[i].value(&z[..1]);
        let [a, b, c] = self.group.scale;
        let d = sum - vec3(r(0), r(1), r(2));
        let d = vec3(d.x / a, d.y / b, d.z / c);
        let d = self.projection.of(d);
        values[0] = d.dot(d);
    }
}

/// ∫ Σ |projected difference of forces|² dt, divided by `per` (N; Moco takes the weight of the model).
pub fn contact_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    groups: Vec<ContactGroup>,
    projection: Projection,
    per: f64,
) -> Goal {
    let term = |group: ContactGroup| {
        let mut mobilities: Vec<usize> = Vec::new();
        for &(force, _) in &group.contacts {
            if let Actor::Force(c) = &system.forces[force].actor {
                mobilities.extend(c.touches().0.iter().flat_map(|&b| supports(system, b)));
            }
        }
        mobilities.sort_unstable();
        mobilities.dedup();
        let n = system.tree.num_mobilities;
        let mut inputs = vec![PointVariable::Time];
        inputs.extend(mobilities.iter().map(|&m| PointVariable::State(m)));
        inputs.extend(mobilities.iter().map(|&m| PointVariable::State(n + m)));
        Term::of_model(inputs, ForceError { system: system.clone(), group, mobilities, projection })
    };
    Goal::integral(name, weight / per, groups.into_iter().map(term).collect())
}

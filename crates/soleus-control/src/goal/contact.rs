//! Tracking of measured ground reactions.

use super::reaction::{OfForce, reaction_term};
use crate::problem::{Goal, PointVariable};
use soleus_dynamics::System;
use soleus_math::{Function, Real, Vec3, vec3};
use std::sync::Arc;

/// Projection of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// No projection.
    None,
    /// Component along a unit vector.
    Vector(Vec3<f64>),
    /// Component perpendicular to a unit vector.
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

/// Contacts whose total force tracks a measured force.
#[derive(Clone, Debug)]
pub struct ContactGroup {
    /// Forces of the system, with the body on which each acts.
    pub contacts: Vec<(usize, usize)>,
    /// Measured force in ground, N, of time.
    pub force: [Function; 3],
    /// Divisor of the difference along each axis.
    pub scale: [f64; 3],
}

/// |projection of (F − r(t))/scale|².
struct ForceError {
    force: [Function; 3],
    scale: [f64; 3],
    projection: Projection,
}

impl OfForce for ForceError {
    fn evaluate<T: Real>(&self, force: Vec3<T>, time: T) -> T {
        let r = |i: usize| self.force[i].value(&[time]);
        let [a, b, c] = self.scale;
        let d = force - vec3(r(0), r(1), r(2));
        let d = vec3(d.x / a, d.y / b, d.z / c);
        let d = self.projection.of(d);
        d.dot(d)
    }
}

/// ∫ Σ |projected difference of forces|² dt, divided by `per` (N; in Moco the weight of the model).
///
/// `None` if a force is not a contact.
pub fn contact_tracking(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    groups: Vec<ContactGroup>,
    projection: Projection,
    per: f64,
) -> Option<Goal> {
    let term = |group: ContactGroup| {
        let error = ForceError { force: group.force, scale: group.scale, projection };
        reaction_term(system, &group.contacts, PointVariable::Time, error)
    };
    let terms = groups.into_iter().map(term).collect::<Option<Vec<_>>>()?;
    Some(Goal::integral(name, weight / per, terms))
}

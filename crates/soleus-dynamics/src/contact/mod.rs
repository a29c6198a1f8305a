//! Contact between bodies.

pub mod bogert2011;
pub mod convex;
pub mod elastic_foundation;
pub mod ellipsoid;
pub mod exponential;
pub mod friction;
pub mod geometry;
pub mod hunt_crossley1975;
pub mod mesh;
pub mod smooth_sphere_half_space;

pub use bogert2011::Bogert2011Contact;
pub use elastic_foundation::ElasticFoundation;
pub use ellipsoid::EllipsoidContact;
pub use exponential::{ContactMemory, ExponentialContact};
pub use friction::Friction;
pub use geometry::Surface;
pub use hunt_crossley1975::HuntCrossley;
pub use mesh::MeshSurface;
pub use smooth_sphere_half_space::SmoothSphereHalfSpace;

use crate::{Kinematics, Loads};
use soleus_math::{Real, Vec3};

/// A point force between two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Touch<T: Real> {
    /// Body on which −`force` acts.
    pub body1: usize,
    /// Body on which `force` acts.
    pub body2: usize,
    /// Point of application, in ground.
    pub point: Vec3<T>,
    /// Force on body 2, in ground, N.
    pub force: Vec3<T>,
    /// Unit vector normal to the surfaces, in ground; it may point either way.
    pub normal: Vec3<T>,
}

impl<T: Real> Touch<T> {
    /// Adds both forces.
    #[inline]
    pub fn apply(&self, kin: &Kinematics<T>, loads: &mut Loads<T>) {
        loads.add_force_at(kin, self.body1, self.point, -self.force);
        loads.add_force_at(kin, self.body2, self.point, self.force);
    }
}

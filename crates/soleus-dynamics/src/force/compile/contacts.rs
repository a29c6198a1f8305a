//! Contact.

use super::*;

impl<P: Real> Making<'_, '_, P> {
    pub(super) fn hunt_crossley_force(
        &mut self,
        m: &model::HuntCrossleyForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name, geometries, options) = (self.resolve, self.name, self.geometries, self.options);
        let kernel = hunt_crossley(m, resolve, geometries, options, self.n.constant)?;
        let labels = contact_labels(name, &m.contact_parameters, resolve, geometries);
        Ok((Kernel::HuntCrossley(kernel), labels))
    }

    pub(super) fn elastic_foundation_force(
        &mut self,
        m: &model::ElasticFoundationForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name, geometries) = (self.resolve, self.name, self.geometries);
        let kernel = elastic_foundation(m, resolve, geometries, self.n.constant)?;
        let labels = contact_labels(name, &m.contact_parameters, resolve, geometries);
        Ok((Kernel::ElasticFoundation(kernel), labels))
    }

    pub(super) fn smooth_sphere_half_space_force(
        &mut self,
        m: &model::SmoothSphereHalfSpaceForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name, geometries) = (self.resolve, self.name, self.geometries);
        Ok((
            Kernel::SmoothSphereHalfSpace(smooth(m, resolve, geometries, self.n.constant)?),
            two_frames(name, ["Sphere", "HalfSpace"], "torque"),
        ))
    }

    pub(super) fn exponential_contact_force(
        &mut self,
        m: &model::ExponentialContactForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name, options) = (self.resolve, self.name, self.options);
        let labels = two_frames(name, [resolve.frame_name(m.frame), "ground"], "torque");
        Ok((Kernel::Exponential(exponential(self.n, m, resolve, options)?), labels))
    }

    pub(super) fn ellipsoid_contact(
        &mut self,
        m: &model::EllipsoidContact,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        let (point, mut ellipsoid) =
            (self.n.frame(resolve, m.point_frame), self.n.frame(resolve, m.ellipsoid_frame));
        ellipsoid.X_BF.p = ellipsoid.X_BF * self.n.vector("center", m.center);
        for radius in m.radii.to_array() {
            above_0("radii", radius)?;
        }
        let a = self.n.vector("radii", m.radii);
        let a2 = a.mul_elem(a);
        let contact = EllipsoidContact {
            point_body: point.body,
            p_BP: point.X_BF * self.n.vector("point", m.point),
            ellipsoid,
            per_radius2: vec3(a2.x.recip(), a2.y.recip(), a2.z.recip()),
            factor: self.n.at_least_0("stiffness", m.stiffness)? * (a2.x + a2.y + a2.z),
            smoothing2: self.n.above_0("smoothing", m.smoothing)?.sq(),
        };
        let mut labels = Vec::new();
        xyz(&mut labels, name, resolve.frame_name(m.point_frame), "force");
        Ok((Kernel::Ellipsoid(contact), labels))
    }

    pub(super) fn bogert2011_contact(
        &mut self,
        m: &model::Bogert2011Contact,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        let frame = self.n.frame(resolve, m.frame);
        let contact = Bogert2011Contact {
            body: frame.body,
            p_BP: frame.X_BF * self.n.vector("location", m.location),
            stiffness: self.n.at_least_0("stiffness", m.stiffness)?,
            damping: self.n.at_least_0("damping", m.damping)?,
            linear_stiffness: self.n.at_least_0("linear_stiffness", m.linear_stiffness)?,
            height2: self.n.above_0("transition_height", m.transition_height)?.sq(),
            friction: self.n.at_least_0("friction", m.friction)?,
            speed2: self.n.above_0("transition_velocity", m.transition_velocity)?.sq(),
        };
        let labels = two_frames(name, [resolve.frame_name(m.frame), "ground"], "torque");
        Ok((Kernel::Bogert2011(contact), labels))
    }
}

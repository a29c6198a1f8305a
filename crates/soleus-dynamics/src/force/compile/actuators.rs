//! Actuators without paths.

use super::*;

impl<P: Real> Making<'_, '_, P> {
    pub(super) fn coordinate_actuator(
        &mut self,
        m: &model::CoordinateActuator,
    ) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        Ok((
            Kernel::CoordinateActuator(CoordinateActuator {
                mobility: resolve.mobility(m.coordinate),
                optimal_force: self.n.number("optimal_force", m.optimal_force),
            }),
            self.one_column(),
        ))
    }

    pub(super) fn activation_coordinate_actuator(
        &mut self,
        m: &model::ActivationCoordinateActuator,
    ) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        Ok((
            Kernel::ActivationCoordinateActuator(ActivationCoordinateActuator {
                mobility: resolve.mobility(m.coordinate),
                optimal_force: self.n.number("optimal_force", m.optimal_force),
                time_constant: self.n.above_0("activation_time_constant", m.activation_time_constant)?,
                default_activation: m.default_activation,
            }),
            self.one_column(),
        ))
    }

    pub(super) fn point_actuator(&mut self, m: &model::PointActuator) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        let frame = self.n.frame(resolve, m.body);
        let direction = Direction::new(&frame, self.n.unit("direction", m.direction)?, m.force_is_global);
        let place = Place::new(&frame, self.n.vector("point", m.point), m.point_is_global);
        let optimal_force = self.n.number("optimal_force", m.optimal_force);
        Ok((
            Kernel::PointActuator(PointActuator { body: frame.body, place, direction, optimal_force }),
            self.one_column(),
        ))
    }

    pub(super) fn torque_actuator(&mut self, m: &model::TorqueActuator) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        let (a, b) = (self.n.frame(resolve, m.body_a), self.n.frame(resolve, m.body_b));
        let axis = Direction::new(&a, self.n.unit("axis", m.axis)?, m.torque_is_global);
        let optimal_force = self.n.number("optimal_force", m.optimal_force);
        let torque = TorqueActuator { body_a: a.body, body_b: b.body, axis, optimal_force };
        Ok((Kernel::TorqueActuator(torque), self.one_column()))
    }

    pub(super) fn body_actuator(&mut self, m: &model::BodyActuator) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        let frame = self.n.frame(resolve, m.body);
        let place = Place::new(&frame, self.n.vector("point", m.point), m.point_is_global);
        let global = m.spatial_force_is_global;
        let actuator = BodyActuator { body: frame.body, R_BF: frame.X_BF.R, place, global };
        Ok((Kernel::BodyActuator(actuator), Vec::new()))
    }

    pub(super) fn point_to_point_actuator(
        &mut self,
        m: &model::PointToPointActuator,
    ) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        let (a, b) = (self.n.frame(resolve, m.body_a), self.n.frame(resolve, m.body_b));
        let actuator = PointToPointActuator {
            body_a: a.body,
            body_b: b.body,
            place_a: Place::new(&a, self.n.vector("pointA", m.point_a), m.points_are_global),
            place_b: Place::new(&b, self.n.vector("pointB", m.point_b), m.points_are_global),
            optimal_force: self.n.number("optimal_force", m.optimal_force),
        };
        Ok((Kernel::PointToPointActuator(actuator), self.one_column()))
    }
}

//! Springs, limits, bushings, drag, and forces by formula.

use super::*;

impl<P: Real> Making<'_, '_, P> {
    pub(super) fn spring_generalized_force(
        &mut self,
        m: &model::SpringGeneralizedForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        Ok((
            Kernel::SpringGeneralizedForce(SpringGeneralizedForce {
                mobility: resolve.mobility(m.coordinate),
                stiffness: self.n.number("stiffness", m.stiffness),
                rest_length: self.n.number("rest_length", m.rest_length),
                viscosity: self.n.number("viscosity", m.viscosity),
            }),
            vec![format!("{name}_Force")],
        ))
    }

    pub(super) fn coordinate_limit_force(
        &mut self,
        m: &model::CoordinateLimitForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        let (mobility, rotational) = (resolve.mobility(m.coordinate), resolve.is_rotational(m.coordinate));
        let limit = CoordinateLimit::new_over(m, mobility, rotational, self.n.constant)?;
        Ok((Kernel::CoordinateLimit(limit), vec![name.to_string(), "PotentialEnergy".to_string()]))
    }

    pub(super) fn point_to_point_spring(
        &mut self,
        m: &model::PointToPointSpring,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name, options) = (self.resolve, self.name, self.options);
        let law = PointLaw::Spring {
            stiffness: self.n.number("stiffness", m.stiffness),
            rest_length: self.n.number("rest_length", m.rest_length),
        };
        let points = [self.n.vector("point1", m.point1), self.n.vector("point2", m.point2)];
        let frames = [resolve.frame_name(m.body1), resolve.frame_name(m.body2)];
        let labels = two_frames(name, frames, "point");
        Ok((point_to_point(self.n, resolve, [m.body1, m.body2], points, options.opensim_faults, law), labels))
    }

    pub(super) fn bushing_force(&mut self, m: &model::BushingForce) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        let springs = Springs::Linear {
            rotational: self.n.vector("rotational_stiffness", m.rotational_stiffness),
            translational: self.n.vector("translational_stiffness", m.translational_stiffness),
        };
        let damping = [m.rotational_damping, m.translational_damping];
        Ok(bushing(self.n, name, resolve, [m.frame1, m.frame2], springs, damping))
    }

    pub(super) fn function_based_bushing_force(
        &mut self,
        m: &model::FunctionBasedBushingForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        m.moment.iter().chain(&m.force).try_for_each(|f| of_one_variable("bushing function", f))?;
        let [a, b, c] = m.moment.clone();
        let [d, e, f] = m.force.clone();
        let springs = Springs::Functions(Box::new([a, b, c, d, e, f]));
        let damping = [m.rotational_damping, m.translational_damping];
        Ok(bushing(self.n, name, resolve, [m.frame1, m.frame2], springs, damping))
    }

    pub(super) fn expression_based_coordinate_force(
        &mut self,
        m: &model::ExpressionBasedCoordinateForce,
    ) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        Ok((
            Kernel::ExpressionCoordinate(ExpressionCoordinateForce {
                mobility: resolve.mobility(m.coordinate),
                expression: expression("expression", &m.expression, &["q", "qdot"])?,
            }),
            self.one_column(),
        ))
    }

    pub(super) fn expression_based_point_to_point_force(
        &mut self,
        m: &model::ExpressionBasedPointToPointForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name, options) = (self.resolve, self.name, self.options);
        let law = PointLaw::Expression(expression("expression", &m.expression, &["d", "ddot"])?);
        let points = [self.n.vector("point1", m.point1), self.n.vector("point2", m.point2)];
        let labels = two_frames(name, [&m.body1_label, &m.body2_label], "point");
        Ok((point_to_point(self.n, resolve, [m.body1, m.body2], points, options.opensim_faults, law), labels))
    }

    pub(super) fn expression_based_bushing_force(
        &mut self,
        m: &model::ExpressionBasedBushingForce,
    ) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        const VARIABLES: [&str; 6] = ["theta_x", "theta_y", "theta_z", "delta_x", "delta_y", "delta_z"];
        let e = |what, text: &str| expression(what, text, &VARIABLES);
        let springs = Springs::Expressions(Box::new([
            e("Mx_expression", &m.moment[0])?,
            e("My_expression", &m.moment[1])?,
            e("Mz_expression", &m.moment[2])?,
            e("Fx_expression", &m.force[0])?,
            e("Fy_expression", &m.force[1])?,
            e("Fz_expression", &m.force[2])?,
        ]));
        let damping = [m.rotational_damping, m.translational_damping];
        Ok(bushing(self.n, name, resolve, [m.frame1, m.frame2], springs, damping))
    }

    pub(super) fn passive_joint_moment(
        &mut self,
        m: &model::PassiveJointMoment,
    ) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        Ok((
            Kernel::PassiveJoint(PassiveJoint {
                mobility: resolve.mobility(m.coordinate),
                stiffness: self.n.at_least_0("stiffness", m.stiffness)?,
                damping: self.n.at_least_0("damping", m.damping)?,
                stop_stiffness: self.n.at_least_0("stop_stiffness", m.stop_stiffness)?,
                range: [self.n.number("range/0", m.range[0]), self.n.number("range/1", m.range[1])],
            }),
            self.one_column(),
        ))
    }

    pub(super) fn quadratic_drag(&mut self, m: &model::QuadraticDrag) -> Result<Compiled<P>, ForceError> {
        let (resolve, name) = (self.resolve, self.name);
        let frame = self.n.frame(resolve, m.frame);
        let drag = QuadraticDrag {
            body: frame.body,
            p_BP: frame.X_BF * self.n.vector("location", m.location),
            factor: self.n.at_least_0("air_density", m.air_density)?
                * 0.5
                * self.n.at_least_0("drag_area", m.drag_area)?,
            speed2: self.n.at_least_0("transition_velocity", m.transition_velocity)?.sq(),
        };
        let mut labels = Vec::new();
        xyz(&mut labels, name, resolve.frame_name(m.frame), "force");
        Ok((Kernel::Drag(drag), labels))
    }
}

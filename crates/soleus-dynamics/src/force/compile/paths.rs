//! Forces along paths.

use super::*;

impl<P: Real> Making<'_, '_, P> {
    pub(super) fn expression_based_path_force(
        &mut self,
        m: &model::ExpressionBasedPathForce,
    ) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        Ok(path(
            name,
            PathForce::Expression {
                resting_length: self.n.at_least_0("resting_length", m.resting_length)?,
                clamp_stretch: m.clamp_stretch,
                expression: expression("expression", &m.expression, &["s", "ldot"])?,
            },
        ))
    }

    pub(super) fn path_actuator(&mut self, m: &model::PathActuator) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        Ok(path(name, PathForce::Actuator { optimal_force: self.n.number("optimal_force", m.optimal_force) }))
    }

    pub(super) fn path_spring(&mut self, m: &model::PathSpring) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        Ok(path(
            name,
            PathForce::Spring {
                resting_length: self.n.at_least_0("resting_length", m.resting_length)?,
                stiffness: self.n.at_least_0("stiffness", m.stiffness)?,
                dissipation: self.n.at_least_0("dissipation", m.dissipation)?,
            },
        ))
    }

    pub(super) fn ligament(&mut self, m: &model::Ligament) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        of_one_variable("force_length_curve", &m.force_length_curve)?;
        Ok(path(
            name,
            PathForce::Ligament {
                resting_length: self.n.above_0("resting_length", m.resting_length)?,
                pcsa_force: self.n.number("pcsa_force", m.pcsa_force),
                curve: Box::new(m.force_length_curve.clone()),
            },
        ))
    }

    pub(super) fn blankevoort1991_ligament(
        &mut self,
        m: &model::Blankevoort1991Ligament,
    ) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        Ok(path(
            name,
            PathForce::Blankevoort1991(Blankevoort1991 {
                linear_stiffness: self.n.at_least_0("linear_stiffness", m.linear_stiffness)?,
                transition_strain: self.n.at_least_0("transition_strain", m.transition_strain)?,
                damping_coefficient: self.n.at_least_0("damping_coefficient", m.damping_coefficient)?,
                slack_length: self.n.above_0("slack_length", m.slack_length)?,
            }),
        ))
    }

    pub(super) fn clutched_path_spring(
        &mut self,
        m: &model::ClutchedPathSpring,
    ) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        Ok(path(
            name,
            PathForce::ClutchedSpring {
                stiffness: self.n.at_least_0("stiffness", m.stiffness)?,
                dissipation: self.n.at_least_0("dissipation", m.dissipation)?,
                relaxation: self.n.above_0("relaxation_time_constant", m.relaxation_time_constant)?,
                initial_stretch: at_least_0("initial_stretch", m.initial_stretch)?,
            },
        ))
    }

    pub(super) fn mc_kibben_actuator(
        &mut self,
        m: &model::McKibbenActuator,
    ) -> Result<Compiled<P>, ForceError> {
        let name = self.name;
        let turns = self.n.above_0("number_of_turns", m.number_of_turns)?;
        Ok(path(
            name,
            PathForce::McKibben {
                factor: (turns * 4.0 * turns * std::f64::consts::PI).recip(),
                thread_length_sq: self.n.number("thread_length", m.thread_length).sq(),
                cord_length: self.n.number("cord_length", m.cord_length),
            },
        ))
    }
}

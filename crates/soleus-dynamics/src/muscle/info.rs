//! All quantities of a muscle at one time.

use soleus_math::Real;

/// Lengths, velocities, forces, stiffnesses, powers and energies of one muscle.
///
/// NaN if the class does not define a quantity (OpenSim's older classes leave many unset). SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleInfo<T> {
    /// Muscle–tendon length L, m.
    pub length: T,
    /// dL/dt, m/s.
    pub lengthening_speed: T,
    /// Excitation as given.
    pub excitation: T,
    /// Activation after clamping.
    pub activation: T,
    /// Fiber length, m.
    pub fiber_length: T,
    /// Fiber length in units of l₀.
    pub normalized_fiber_length: T,
    /// Pennation angle φ, rad.
    pub pennation_angle: T,
    /// cos φ.
    pub cos_pennation_angle: T,
    /// Tendon length, m.
    pub tendon_length: T,
    /// Tendon length / slack length − 1.
    pub tendon_strain: T,
    /// Rate of the fiber length, m/s.
    pub fiber_velocity: T,
    /// Fiber velocity in units of `max_contraction_velocity` · l₀.
    pub normalized_fiber_velocity: T,
    /// Rate of l cos φ, m/s.
    pub fiber_velocity_along_tendon: T,
    /// dφ/dt, rad/s.
    pub pennation_angular_velocity: T,
    /// Rate of the tendon length, m/s.
    pub tendon_velocity: T,
    /// Active force–length multiplier.
    pub active_force_length_multiplier: T,
    /// Passive force–length multiplier.
    pub passive_force_multiplier: T,
    /// Force–velocity multiplier.
    pub force_velocity_multiplier: T,
    /// Total fiber force, N.
    pub fiber_force: T,
    /// Total fiber force along the tendon, N.
    pub fiber_force_along_tendon: T,
    /// Active fiber force, N.
    pub active_fiber_force: T,
    /// Passive fiber force, elastic and damping, N.
    pub passive_fiber_force: T,
    /// Elastic part of the passive fiber force, N.
    pub passive_fiber_elastic_force: T,
    /// Damping part of the passive fiber force, N.
    pub passive_fiber_damping_force: T,
    /// Active fiber force along the tendon, N.
    pub active_fiber_force_along_tendon: T,
    /// Passive fiber force along the tendon, N.
    pub passive_fiber_force_along_tendon: T,
    /// Tendon force, N.
    pub tendon_force: T,
    /// Tension along the path, N.
    pub actuation: T,
    /// Derivative of the fiber force with respect to the fiber length, N/m.
    pub fiber_stiffness: T,
    /// Derivative of the fiber force along the tendon with respect to the fiber length along the tendon, N/m.
    pub fiber_stiffness_along_tendon: T,
    /// Derivative of the tendon force with respect to the tendon length, N/m; infinite for a rigid tendon.
    pub tendon_stiffness: T,
    /// Stiffness of fiber and tendon in series, N/m.
    pub muscle_stiffness: T,
    /// −(active + damping force) · fiber velocity, W.
    pub fiber_active_power: T,
    /// −elastic passive force · fiber velocity, W.
    pub fiber_passive_power: T,
    /// −tendon force · tendon velocity, W.
    pub tendon_power: T,
    /// −tendon force · lengthening speed, W.
    pub muscle_power: T,
    /// Energy stored in the passive fiber, J.
    pub fiber_potential_energy: T,
    /// Energy stored in the tendon, J.
    pub tendon_potential_energy: T,
    /// Sum of both, J.
    pub muscle_potential_energy: T,
    /// Whether the fiber is clamped at its minimum length.
    pub fiber_clamped: bool,
}

impl<T: Real> MuscleInfo<T> {
    /// All unknown but the inputs.
    pub(crate) fn unknown(length: T, lengthening_speed: T, excitation: T) -> MuscleInfo<T> {
        let nan = T::cst(f64::NAN);
        MuscleInfo {
            length,
            lengthening_speed,
            excitation,
            activation: nan,
            fiber_length: nan,
            normalized_fiber_length: nan,
            pennation_angle: nan,
            cos_pennation_angle: nan,
            tendon_length: nan,
            tendon_strain: nan,
            fiber_velocity: nan,
            normalized_fiber_velocity: nan,
            fiber_velocity_along_tendon: nan,
            pennation_angular_velocity: nan,
            tendon_velocity: nan,
            active_force_length_multiplier: nan,
            passive_force_multiplier: nan,
            force_velocity_multiplier: nan,
            fiber_force: nan,
            fiber_force_along_tendon: nan,
            active_fiber_force: nan,
            passive_fiber_force: nan,
            passive_fiber_elastic_force: nan,
            passive_fiber_damping_force: nan,
            active_fiber_force_along_tendon: nan,
            passive_fiber_force_along_tendon: nan,
            tendon_force: nan,
            actuation: nan,
            fiber_stiffness: nan,
            fiber_stiffness_along_tendon: nan,
            tendon_stiffness: nan,
            muscle_stiffness: nan,
            fiber_active_power: nan,
            fiber_passive_power: nan,
            tendon_power: nan,
            muscle_power: nan,
            fiber_potential_energy: nan,
            tendon_potential_energy: nan,
            muscle_potential_energy: nan,
            fiber_clamped: false,
        }
    }

    /// Fills in what follows from the forces, velocities and stiffnesses already set.
    pub(crate) fn complete(&mut self, rigid_tendon: bool) {
        self.fiber_force_along_tendon = self.fiber_force * self.cos_pennation_angle;
        self.active_fiber_force_along_tendon = self.active_fiber_force * self.cos_pennation_angle;
        self.passive_fiber_force_along_tendon = self.passive_fiber_force * self.cos_pennation_angle;
        self.actuation = self.tendon_force;
        self.fiber_active_power =
            -(self.active_fiber_force + self.passive_fiber_damping_force) * self.fiber_velocity;
        self.fiber_passive_power = -(self.passive_fiber_elastic_force * self.fiber_velocity);
        self.tendon_power = -(self.tendon_force * self.tendon_velocity);
        self.muscle_power = -(self.tendon_force * self.lengthening_speed);
        self.muscle_potential_energy = self.fiber_potential_energy + self.tendon_potential_energy;

        let (km, kt) = (self.fiber_stiffness_along_tendon, self.tendon_stiffness);
        self.muscle_stiffness = if rigid_tendon {
            km
        } else if (km * kt).value().abs() > 0.0 && (km + kt).value().abs() > super::pennation::SIGNIFICANT {
            km * kt / (km + kt)
        } else {
            T::zero()
        };
    }
}

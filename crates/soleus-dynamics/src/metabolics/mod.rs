//! Metabolic rates of muscles.

pub mod bhargava2004;
pub mod bhargava2004_smooth;
pub mod probe;
pub mod umberger2010;

use crate::muscle::MuscleInfo;
use soleus_math::Real;
use soleus_math::elementary;

/// Inputs of a metabolic model for a muscle at one time. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleAtWork<T> {
    /// Excitation.
    pub excitation: T,
    /// Activation.
    pub activation: T,
    /// Active fiber force, N.
    pub active_fiber_force: T,
    /// Passive fiber force, elastic and damping, N.
    pub passive_fiber_force: T,
    /// Fiber velocity, m/s; negative when shortening.
    pub fiber_velocity: T,
    /// Fiber length in units of l₀.
    pub normalized_fiber_length: T,
    /// Active force–length multiplier.
    pub active_force_length_multiplier: T,
}

impl<T: Real> From<&MuscleInfo<T>> for MuscleAtWork<T> {
    fn from(info: &MuscleInfo<T>) -> Self {
        MuscleAtWork {
            excitation: info.excitation,
            activation: info.activation,
            active_fiber_force: info.active_fiber_force,
            passive_fiber_force: info.passive_fiber_force,
            fiber_velocity: info.fiber_velocity,
            normalized_fiber_length: info.normalized_fiber_length,
            active_force_length_multiplier: info.active_force_length_multiplier,
        }
    }
}

impl<T: Real> MuscleAtWork<T> {
    /// Excitation, activation and active force times a factor (`muscle_effort_scaling_factor`).
    #[inline]
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        MuscleAtWork {
            excitation: self.excitation * factor,
            activation: self.activation * factor,
            active_fiber_force: self.active_fiber_force * factor,
            ..*self
        }
    }
}

/// Metabolic rates of one muscle, W. Terms that a model does not have are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetabolicRates<T> {
    /// Heat of activation; for Umberger (2010), of activation and maintenance together.
    pub activation: T,
    /// Heat of maintenance.
    pub maintenance: T,
    /// Heat of shortening and lengthening, after correction for a nonnegative total.
    pub shortening: T,
    /// Mechanical power of the active fiber force.
    pub work: T,
    /// Their sum, with the heat not below its minimum.
    pub total: T,
}

/// Muscle mass (kg) = F₀/σ · ρ · l₀, with specific tension σ (Pa) (default 0.25 MPa) and density ρ [kg/m³] (default
/// 1059.7).
pub fn muscle_mass(f0: f64, l0: f64, specific_tension: f64, density: f64) -> f64 {
    f0 / specific_tension * density * l0
}

/// Basal rate (W) of a body of a given mass (kg): coefficient · massᵉˣᵖᵒⁿᵉⁿᵗ (OpenSim's defaults 1.2 and 1).
pub fn basal_rate(body_mass: f64, coefficient: f64, exponent: f64) -> f64 {
    coefficient * elementary::powf(body_mass, exponent)
}

/// Excitations of slow and fast fibers with the slow share r: r sin(πe/2) and (1 − r)(1 − cos(πe/2)).
///
/// Source: Bhargava, Pandy and Anderson (2004), eqs. 9 and 10.
#[inline]
pub(crate) fn recruitment<T: Real>(r: f64, e: T) -> (T, T) {
    let (s, c) = (e * std::f64::consts::FRAC_PI_2).sin_cos();
    (s * r, (c * -1.0 + 1.0) * (1.0 - r))
}

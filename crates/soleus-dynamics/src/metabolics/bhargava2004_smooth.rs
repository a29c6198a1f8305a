//! The metabolic rate of Bhargava et al. (2004) as smoothed by Falisse et al. (2019) for optimal control.
//!
//! Switches are ½ + ½ tanh(b x). It also differs from [`bhargava2004`](super::bhargava2004): maintenance heat is
//! proportional to the fiber length itself, heat of lengthening is 0.157 of the total force, the lower bound of heat is
//! 1 W for each kilogram of muscle, and a negative sum goes to the shortening heat.
//!
//! Source: Bhargava, Pandy & Anderson (2004), J Biomech 37:81; Falisse et al. (2019), J R Soc Interface 16:20190402, supplement, and
//! its public code, which has the factor l̃ that the text leaves out.

use super::MuscleAtWork;
use soleus_math::Real;
use std::f64::consts::FRAC_PI_2;

/// Density of muscle, kg/m³.
const DENSITY: f64 = 1059.7;
// Heat of activation and of maintenance of slow and fast fibers, W/kg.
const ACTIVATION: [f64; 2] = [40.0, 133.0];
const MAINTENANCE: [f64; 2] = [74.0, 111.0];
/// Least heat, W/kg.
const LEAST_HEAT: f64 = 1.0;

/// Parameters of a muscle. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothBhargava2004 {
    /// Mass, kg.
    pub mass: f64,
    /// Fraction of slow-twitch fibers.
    pub slow_twitch: f64,
    /// F_max, N.
    pub max_isometric_force: f64,
    /// Smoothing b of the switches.
    pub smoothing: f64,
}

/// Rates, W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates<T> {
    /// Heat of activation.
    pub activation: T,
    /// Heat of maintenance.
    pub maintenance: T,
    /// Heat of shortening and lengthening.
    pub shortening: T,
    /// Work of the contractile element.
    pub work: T,
    /// Total, with the heat not below its minimum.
    pub total: T,
}

impl SmoothBhargava2004 {
    /// Mass of a muscle, kg, from F_max (N), l₀ (m) and specific tension (Pa).
    pub fn mass(max_isometric_force: f64, optimal_fiber_length: f64, specific_tension: f64) -> f64 {
        max_isometric_force * optimal_fiber_length * DENSITY / specific_tension
    }

    /// The rates of a muscle.
    pub fn rates<T: Real>(&self, m: &MuscleAtWork<T>) -> Rates<T> {
        let switch = |x: T| ((x * self.smoothing).tanh() + 1.0) * 0.5;
        let slow = (m.excitation * FRAC_PI_2).sin() * self.slow_twitch;
        let fast = (-(m.excitation * FRAC_PI_2).cos() + 1.0) * (1.0 - self.slow_twitch);
        let activation = (slow * ACTIVATION[0] + fast * ACTIVATION[1]) * self.mass;
        let maintenance =
            m.normalized_fiber_length * (slow * MAINTENANCE[0] + fast * MAINTENANCE[1]) * self.mass;
        let isometric = m.activation * m.active_force_length_multiplier * self.max_isometric_force;
        let force = m.active_fiber_force + m.passive_fiber_force;
        let lengthens = switch(m.fiber_velocity);
        let coefficient = (isometric * 0.16 + force * 0.18) * (-lengthens + 1.0) + force * 0.157 * lengthens;
        let shortening = -coefficient * m.fiber_velocity;
        let work = -m.active_fiber_force * m.fiber_velocity * (-lengthens + 1.0);
        // Energy does not flow back: what the sum is below zero goes to the heat of shortening.
        let sum = activation + maintenance + shortening + work;
        let shortening = shortening - sum * switch(-sum);
        let heat = (activation + maintenance + shortening) / self.mass;
        let heat = (heat + (-heat + LEAST_HEAT) * switch(-heat + LEAST_HEAT)) * self.mass;
        Rates { activation, maintenance, shortening, work, total: heat + work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOLEUS: SmoothBhargava2004 =
        SmoothBhargava2004 { mass: 0.3, slow_twitch: 0.803, max_isometric_force: 3549.0, smoothing: 1e6 };

    fn at(velocity: f64) -> MuscleAtWork<f64> {
        MuscleAtWork {
            excitation: 0.5,
            activation: 0.5,
            active_fiber_force: 1500.0,
            passive_fiber_force: 100.0,
            fiber_velocity: velocity,
            normalized_fiber_length: 0.9,
            active_force_length_multiplier: 0.95,
        }
    }

    #[test]
    fn analytic_sharp_switches_give_bhargavas_cases() {
        let (slow, fast) = (0.803 * std::f64::consts::FRAC_PI_4.sin(), 0.197 * (1.0 - 0.5f64.sqrt()));
        let still = 0.3 * (40.0 * slow + 133.0 * fast) + 0.3 * 0.9 * (74.0 * slow + 111.0 * fast);
        let shortening = SOLEUS.rates(&at(-0.1));
        let alpha = 0.16 * 0.5 * 0.95 * 3549.0 + 0.18 * 1600.0;
        assert!((shortening.total - (still + alpha * 0.1 + 150.0)).abs() < 1e-9, "{shortening:?}");
        // Lengthening takes heat, down to the sum of zero, and then heat is at least 1 W/kg.
        let lengthening = SOLEUS.rates(&at(0.05));
        assert!((lengthening.total - (still - 0.157 * 1600.0 * 0.05)).abs() < 1e-9, "{lengthening:?}");
        assert!(lengthening.work.abs() < 1e-9, "{lengthening:?}");
        let fast = SOLEUS.rates(&at(2.0));
        assert!((fast.total - 0.3).abs() < 1e-9, "{fast:?}");
    }
}

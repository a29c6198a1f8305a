//! The metabolic model of Umberger (2010), after Umberger, Gerritsen and Martin (2003).

use super::{MetabolicRates, MuscleAtWork, recruitment};
use soleus_math::Real;

/// Parameters of one muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct UmbergerMuscle {
    /// Mass m, kg.
    pub mass: f64,
    /// `optimal_fiber_length` of the muscle, m.
    pub optimal_fiber_length: f64,
    /// `max_contraction_velocity` of the muscle, l₀/s.
    pub max_contraction_velocity: f64,
    /// `ratio_slow_twitch_fibers`. Default 0.5.
    pub ratio_slow_twitch_fibers: f64,
}

/// The model and its options, with the properties of OpenSim's Umberger2010MuscleMetabolicsProbe.
#[derive(Clone, Debug, PartialEq)]
pub struct Umberger2010 {
    /// `activation_maintenance_rate_on`. Default true.
    pub activation_maintenance_rate_on: bool,
    /// `shortening_rate_on`. Default true.
    pub shortening_rate_on: bool,
    /// `mechanical_work_rate_on`. Default true.
    pub mechanical_work_rate_on: bool,
    /// `enforce_minimum_heat_rate_per_muscle`: 1 W/kg. Default true.
    pub enforce_minimum_heat_rate_per_muscle: bool,
    /// `aerobic_factor`. Default 1.5.
    pub aerobic_factor: f64,
    /// `muscle_effort_scaling_factor`. Default 1.
    pub muscle_effort_scaling_factor: f64,
    /// `use_Bhargava_recruitment_model`. Default true.
    pub use_bhargava_recruitment_model: bool,
    /// `include_negative_mechanical_work`. Default true.
    pub include_negative_mechanical_work: bool,
    /// `forbid_negative_total_power`. Default true.
    pub forbid_negative_total_power: bool,
}

impl Default for Umberger2010 {
    fn default() -> Self {
        Umberger2010 {
            activation_maintenance_rate_on: true,
            shortening_rate_on: true,
            mechanical_work_rate_on: true,
            enforce_minimum_heat_rate_per_muscle: true,
            aerobic_factor: 1.5,
            muscle_effort_scaling_factor: 1.0,
            use_bhargava_recruitment_model: true,
            include_negative_mechanical_work: true,
            forbid_negative_total_power: true,
        }
    }
}

/// Largest shortening heat rate of slow fibers, W/kg.
const SLOW_LIMIT: f64 = 100.0;

impl Umberger2010 {
    /// Rates (W) of one muscle, with A = e if e > a, else (e + a)/2; r the slow share of the recruited fibers; S
    /// the aerobic factor; v the fiber velocity in l₀/s; α_s = 250/v_max, α_f = 153/v_max. Per kg of muscle:
    ///
    ///   activation and maintenance  S A^0.6 (128 (1 − r) + 25), times (0.4 + 0.6 f_L) above l₀     (1)
    ///   shortening    S A² [r min(100, −α_s v) − (1 − r) α_f v] for v ≤ 0                        (2)
    ///   lengthening   S A k α_s v, k = 4, or 0.3 without negative work                            (3)
    ///                 (2) and (3) times f_L above l₀
    ///   work          −max(F_a, 0) l₀ v/m                                                        (4)
    ///
    /// Source: Umberger (2010); Uchida et al. (2016) for the recruitment and the options.
    pub fn rates<T: Real>(&self, p: &UmbergerMuscle, at: &MuscleAtWork<T>) -> MetabolicRates<T> {
        let at = at.scaled(self.muscle_effort_scaling_factor);
        let (e, a) = (at.excitation, at.activation);
        let zero = T::zero();
        let A = if e.value() > a.value() { e } else { (e + a) * 0.5 };
        let slow = if self.use_bhargava_recruitment_model {
            let (us, uf) = recruitment(p.ratio_slow_twitch_fibers, e);
            if e.value() == 0.0 { T::one() } else { us / (us + uf) }
        } else {
            T::cst(p.ratio_slow_twitch_fibers)
        };
        let fast = slow * -1.0 + 1.0;
        let fl = at.active_force_length_multiplier;
        let long = at.normalized_fiber_length.value() > 1.0;
        let counts = |on: bool| on || self.forbid_negative_total_power;

        let mut heat = zero;
        if counts(self.activation_maintenance_rate_on) {
            heat = A.powf(0.6) * (fast * 128.0 + 25.0) * self.aerobic_factor;
            if long {
                heat *= fl * 0.6 + 0.4;
            }
        }
        let mut shortening = zero;
        if counts(self.shortening_rate_on) {
            let v = at.fiber_velocity * (1.0 / p.optimal_fiber_length);
            let alpha_fast = 153.0 / p.max_contraction_velocity;
            let alpha_slow = 250.0 / p.max_contraction_velocity;
            shortening = if v.value() <= 0.0 {
                let rate = v * -alpha_slow;
                let rate = if rate.value() > SLOW_LIMIT { T::cst(SLOW_LIMIT) } else { rate };
                A * A * (rate * slow - v * fast * alpha_fast) * self.aerobic_factor
            } else {
                let k = if self.include_negative_mechanical_work { 4.0 } else { 0.3 };
                A * v * (self.aerobic_factor * k * alpha_slow)
            };
            if long {
                shortening *= fl;
            }
        }
        let mut work = zero;
        let shortens = at.fiber_velocity.value() <= 0.0;
        if counts(self.mechanical_work_rate_on) && (self.include_negative_mechanical_work || shortens) {
            let force = if at.active_fiber_force.value() < 0.0 { zero } else { at.active_fiber_force };
            work = -(force * at.fiber_velocity) * (1.0 / p.mass);
        }
        if self.forbid_negative_total_power {
            let total = heat + shortening + work;
            if total.value() < 0.0 {
                shortening -= total;
            }
        }

        let mut total = zero;
        if self.activation_maintenance_rate_on && self.shortening_rate_on {
            total = heat + shortening;
            if self.enforce_minimum_heat_rate_per_muscle && total.value() < 1.0 {
                total = T::one();
            }
        } else if self.activation_maintenance_rate_on {
            total = heat;
        } else if self.shortening_rate_on {
            total = shortening;
        }
        if self.mechanical_work_rate_on {
            total += work;
        }
        MetabolicRates {
            activation: heat * p.mass,
            maintenance: zero,
            shortening: shortening * p.mass,
            work: work * p.mass,
            total: total * p.mass,
        }
    }
}

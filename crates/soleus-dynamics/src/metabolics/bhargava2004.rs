//! The metabolic model of Bhargava, Pandy and Anderson (2004).

use super::{MetabolicRates, MuscleAtWork, recruitment};
use soleus_math::{Function, Real};

/// Transition between two regimes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Switch {
    /// Discontinuous, as in OpenSim's probe and by default in Bhargava2004SmoothedMuscleMetabolics.
    #[default]
    Sharp,
    /// `smoothing_type` tanh: left + (right − left)(½ + ½ tanh(b c)).
    Tanh,
    /// `smoothing_type` huber.
    Huber,
}

/// Parameters of one muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct BhargavaMuscle {
    /// Mass m, kg.
    pub mass: f64,
    /// `max_isometric_force` F₀ of the muscle, N.
    pub max_isometric_force: f64,
    /// `ratio_slow_twitch_fibers`. Default 0.5.
    pub ratio_slow_twitch_fibers: f64,
    /// `activation_constant_slow_twitch`, W/kg. Default 40.
    pub activation_constant_slow_twitch: f64,
    /// `activation_constant_fast_twitch`, W/kg. Default 133.
    pub activation_constant_fast_twitch: f64,
    /// `maintenance_constant_slow_twitch`, W/kg. Default 74.
    pub maintenance_constant_slow_twitch: f64,
    /// `maintenance_constant_fast_twitch`, W/kg. Default 111.
    pub maintenance_constant_fast_twitch: f64,
}

impl BhargavaMuscle {
    /// A muscle of a given mass (kg) and maximum isometric force (N), with OpenSim's defaults for other parameters.
    pub fn new(mass: f64, max_isometric_force: f64) -> BhargavaMuscle {
        BhargavaMuscle {
            mass,
            max_isometric_force,
            ratio_slow_twitch_fibers: 0.5,
            activation_constant_slow_twitch: 40.0,
            activation_constant_fast_twitch: 133.0,
            maintenance_constant_slow_twitch: 74.0,
            maintenance_constant_fast_twitch: 111.0,
        }
    }
}

/// The model and its options, with the properties of OpenSim's Bhargava2004MuscleMetabolicsProbe and
/// Bhargava2004SmoothedMuscleMetabolics.
#[derive(Clone, Debug, PartialEq)]
pub struct Bhargava2004 {
    /// `activation_rate_on`. Default true.
    pub activation_rate_on: bool,
    /// `maintenance_rate_on`. Default true.
    pub maintenance_rate_on: bool,
    /// `shortening_rate_on`. Default true.
    pub shortening_rate_on: bool,
    /// `mechanical_work_rate_on`. Default true.
    pub mechanical_work_rate_on: bool,
    /// `enforce_minimum_heat_rate_per_muscle`: 1 W/kg. Default true.
    pub enforce_minimum_heat_rate_per_muscle: bool,
    /// `normalized_fiber_length_dependence_on_maintenance_rate`. `None` for the default: linear interpolation of (0, ½)
    /// (½, ½) (1, 1) (3/2, 0) (2, 0).
    pub fiber_length_dependence: Option<Function>,
    /// `use_force_dependent_shortening_prop_constant`. Default false.
    pub use_force_dependent_shortening_prop_constant: bool,
    /// `muscle_effort_scaling_factor`. Default 1.
    pub muscle_effort_scaling_factor: f64,
    /// `include_negative_mechanical_work`. Default true.
    pub include_negative_mechanical_work: bool,
    /// `forbid_negative_total_power`. Default true.
    pub forbid_negative_total_power: bool,
    /// `use_smoothing` and `smoothing_type` of the smoothed class. Default [`Switch::Sharp`].
    pub switch: Switch,
    /// `velocity_smoothing`. Default 10.
    pub velocity_smoothing: f64,
    /// `power_smoothing`. Default 10.
    pub power_smoothing: f64,
    /// `heat_rate_smoothing`. Default 10.
    pub heat_rate_smoothing: f64,
}

impl Default for Bhargava2004 {
    fn default() -> Self {
        Bhargava2004 {
            activation_rate_on: true,
            maintenance_rate_on: true,
            shortening_rate_on: true,
            mechanical_work_rate_on: true,
            enforce_minimum_heat_rate_per_muscle: true,
            fiber_length_dependence: None,
            use_force_dependent_shortening_prop_constant: false,
            muscle_effort_scaling_factor: 1.0,
            include_negative_mechanical_work: true,
            forbid_negative_total_power: true,
            switch: Switch::Sharp,
            velocity_smoothing: 10.0,
            power_smoothing: 10.0,
            heat_rate_smoothing: 10.0,
        }
    }
}

/// Added to the velocity by the smoothed class, so that Huber's quotient is defined at rest, m/s.
const AT_REST: f64 = 1e-16;

impl Switch {
    /// `left` where c ≤ 0, `right` where c > 0, or something between. `b` sets the sharpness; `up` says which
    /// side Huber's parabola opens to.
    #[inline]
    fn choose<T: Real>(self, c: T, left: T, right: T, b: f64, up: bool) -> T {
        match self {
            Switch::Sharp => {
                if c.value() <= 0.0 {
                    left
                } else {
                    right
                }
            }
            Switch::Tanh => left + (right - left) * ((c * b).tanh() * 0.5 + 0.5),
            Switch::Huber => {
                let offset = if up { left } else { right };
                let y = if up { c * b + 0.5 } else { c * -b + 0.5 };
                let f = if y.value() < 0.0 {
                    offset
                } else if y.value() <= 1.0 {
                    y * y * 0.5 + offset
                } else {
                    y - 0.5 + offset
                };
                (right - left) / c * (f * (1.0 / b) + offset * (1.0 - 1.0 / b))
            }
        }
    }
}

impl Bhargava2004 {
    /// Rates (W) of one muscle, with u_s, u_f the excitations of slow and fast fibers, v the fiber velocity, F_a
    /// and F_p the active and passive force, x the normalized fiber length:
    ///
    ///   activation   m (40 u_s + 133 u_f)                                            (1)
    ///   maintenance  m g(x) (74 u_s + 111 u_f)                                       (2)
    ///   shortening   −α v,  α = ¼(F_a + F_p) for v ≤ 0, else 0                        (3)
    ///                or α = 0.16 a f_L F₀ + 0.18(F_a + F_p), else 0.157(F_a + F_p)
    ///   work         −F_a v                                                          (4)
    ///
    /// The decay of the activation heat over time is neglected, as in OpenSim.
    ///
    /// Source: Bhargava, Pandy and Anderson (2004); Anderson (1999) for ¼; Umberger (2003) for the minimum.
    pub fn rates<T: Real>(&self, p: &BhargavaMuscle, at: &MuscleAtWork<T>) -> MetabolicRates<T> {
        let at = at.scaled(self.muscle_effort_scaling_factor);
        let (us, uf) = recruitment(p.ratio_slow_twitch_fibers, at.excitation);
        let zero = T::zero();
        // Terms that are switched off still count for the sign of the total.
        let counts = |on: bool| on || self.forbid_negative_total_power;
        let activation = if counts(self.activation_rate_on) {
            (us * p.activation_constant_slow_twitch + uf * p.activation_constant_fast_twitch) * p.mass
        } else {
            zero
        };
        let maintenance = if counts(self.maintenance_rate_on) {
            (us * p.maintenance_constant_slow_twitch + uf * p.maintenance_constant_fast_twitch)
                * self.length_dependence(at.normalized_fiber_length)
                * p.mass
        } else {
            zero
        };

        let v = if self.switch == Switch::Sharp { at.fiber_velocity } else { at.fiber_velocity + AT_REST };
        let force = at.active_fiber_force + at.passive_fiber_force;
        let b = self.velocity_smoothing;
        let mut shortening = zero;
        if counts(self.shortening_rate_on) {
            let alpha = if self.use_force_dependent_shortening_prop_constant {
                let isometric = at.activation * at.active_force_length_multiplier * p.max_isometric_force;
                // Between two lines through the origin Huber's form does not apply.
                let switch = if self.switch == Switch::Huber { Switch::Tanh } else { self.switch };
                switch.choose(v, isometric * 0.16 + force * 0.18, force * 0.157, b, false)
            } else {
                self.switch.choose(v, force * 0.25, zero, b, false)
            };
            shortening = -(alpha * v);
        }
        let mut work = zero;
        if counts(self.mechanical_work_rate_on) {
            work = -(at.active_fiber_force * at.fiber_velocity);
            if !self.include_negative_mechanical_work {
                work = self.switch.choose(v, work, zero, b, false);
            }
        }

        // More shortening heat, if the total were negative.
        if self.forbid_negative_total_power {
            let total = activation + maintenance + shortening + work;
            shortening -= self.switch.choose(-total, zero, total, self.power_smoothing, true);
        }
        let heat_complete = self.activation_rate_on && self.maintenance_rate_on && self.shortening_rate_on;
        let mut total = zero;
        if heat_complete {
            let heat = activation + maintenance + shortening;
            total = heat;
            if self.enforce_minimum_heat_rate_per_muscle {
                let least = T::cst(p.mass);
                total = self.switch.choose(least - heat, heat, least, self.heat_rate_smoothing, true);
            }
        } else {
            if self.activation_rate_on {
                total += activation;
            }
            if self.maintenance_rate_on {
                total += maintenance;
            }
            if self.shortening_rate_on {
                total += shortening;
            }
        }
        if self.mechanical_work_rate_on {
            total += work;
        }
        MetabolicRates { activation, maintenance, shortening, work, total }
    }

    /// g of (2).
    fn length_dependence<T: Real>(&self, x: T) -> T {
        if let Some(g) = &self.fiber_length_dependence {
            return g.value(&[x]);
        }
        match x.value() {
            x if x <= 0.5 => T::cst(0.5),
            v if v <= 1.0 => x,
            v if v <= 1.5 => x * -2.0 + 3.0,
            _ => T::zero(),
        }
    }
}

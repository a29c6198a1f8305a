//! Common elements of the muscles of van den Bogert (2011) and Chadwick (2009): Hill-type elements with few parameters.

use super::activation::RateActivation;
use super::error::{MuscleError, require};
use crate::constants::Constants;
use soleus_math::Real;
use soleus_model::muscle::Muscle;

/// The numbers of a muscle that are not those of every muscle, as files have them.
pub(super) struct HillNumbers {
    pub activation_time_constant: f64,
    pub deactivation_time_constant: f64,
    pub force_length_width: f64,
    pub hill_a: f64,
    pub max_eccentric_force: f64,
    pub tendon_strain_at_max_force: f64,
    pub parallel_slack_length: f64,
    pub parallel_stiffness: f64,
    pub damping: f64,
    pub default_activation: f64,
}

/// The [`HillNumbers`] of a muscle of this kind, with these property names.
macro_rules! hill_numbers {
    ($p:expr) => {
        $crate::muscle::hill::HillNumbers {
            activation_time_constant: $p.activation_time_constant,
            deactivation_time_constant: $p.deactivation_time_constant,
            force_length_width: $p.force_length_width,
            hill_a: $p.hill_a,
            max_eccentric_force: $p.max_eccentric_force,
            tendon_strain_at_max_force: $p.tendon_strain_at_max_force,
            parallel_slack_length: $p.parallel_slack_length,
            parallel_stiffness: $p.parallel_stiffness,
            damping: $p.damping,
            default_activation: $p.default_activation,
        }
    };
}
pub(super) use hill_numbers;

/// Constants of the elements.
pub(super) struct Hill<P> {
    pub activation: RateActivation<P>,
    pub f0: P,
    pub l0: P,
    pub ls: P,
    pub vmax: P,
    pub alpha0: P,
    /// 1/w², w the width of the active force–length curve.
    pub per_w2: P,
    pub hill: P,
    pub fmax: P,
    /// Stretch of the tendon at the maximal force, m.
    pub stretch: P,
    pub x_slack: P,
    pub k: P,
    pub damping: P,
}

impl<P: Real> Hill<P> {
    /// Checks the numbers and makes each a constant of type `P` by its name.
    pub fn compile(m: &Muscle, p: &HillNumbers, constant: &mut Constants<P>) -> Result<Hill<P>, MuscleError> {
        let positive = [
            ("max_isometric_force", m.max_isometric_force),
            ("optimal_fiber_length", m.optimal_fiber_length),
            ("tendon_slack_length", m.tendon_slack_length),
            ("max_contraction_velocity", m.max_contraction_velocity),
            ("activation_time_constant", p.activation_time_constant),
            ("deactivation_time_constant", p.deactivation_time_constant),
            ("force_length_width", p.force_length_width),
            ("hill_a", p.hill_a),
            ("tendon_strain_at_max_force", p.tendon_strain_at_max_force),
            ("damping", p.damping),
        ];
        for (name, value) in positive {
            require(name, value, value > 0.0, "greater than zero")?;
        }
        let fmax = p.max_eccentric_force;
        require("max_eccentric_force", fmax, fmax > 1.0, "greater than 1")?;
        require("parallel_slack_length", p.parallel_slack_length, true, "finite")?;
        require("parallel_stiffness", p.parallel_stiffness, p.parallel_stiffness >= 0.0, "at least zero")?;
        require("pennation_angle_at_optimal", m.pennation_angle_at_optimal, true, "finite")?;
        require("default_activation", p.default_activation, true, "finite")?;
        let width = constant("force_length_width", p.force_length_width);
        let ls = constant("tendon_slack_length", m.tendon_slack_length);
        Ok(Hill {
            activation: RateActivation::from_time_constants(
                constant("activation_time_constant", p.activation_time_constant),
                constant("deactivation_time_constant", p.deactivation_time_constant),
            ),
            f0: constant("max_isometric_force", m.max_isometric_force),
            l0: constant("optimal_fiber_length", m.optimal_fiber_length),
            ls,
            vmax: constant("max_contraction_velocity", m.max_contraction_velocity),
            alpha0: constant("pennation_angle_at_optimal", m.pennation_angle_at_optimal),
            per_w2: (width * width).recip(),
            hill: constant("hill_a", p.hill_a),
            fmax: constant("max_eccentric_force", fmax),
            stretch: ls * constant("tendon_strain_at_max_force", p.tendon_strain_at_max_force),
            x_slack: constant("parallel_slack_length", p.parallel_slack_length),
            k: constant("parallel_stiffness", p.parallel_stiffness),
            damping: constant("damping", p.damping),
        })
    }
}

/// The root of q y² + b y + c that has the sign of −c for b > 0, without cancellation: where a fiber with a damper is in
/// balance on one branch of the force–velocity curve.
#[inline(always)]
pub(super) fn root<T: Real>(q: T, b: T, c: T) -> T {
    let d = (b * b - q * c * 4.0).sqrt();
    T::zero().where_at_most(b, || -(c * 2.0) / (b + d), || (d - b) / (q * 2.0))
}

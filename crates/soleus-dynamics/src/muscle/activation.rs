//! Activation dynamics.

use super::error::{MuscleError, require};
use soleus_math::{Over, Real};

/// 1/τ of rising and falling activation, 1/s.
fn per_time_constant<P: Real>(tau_act: P, tau_deact: P) -> Result<[P; 2], MuscleError> {
    let taus = [("activation_time_constant", tau_act), ("deactivation_time_constant", tau_deact)];
    for (name, tau) in taus {
        require(name, tau.value(), tau.value() > 0.0, "greater than zero")?;
    }
    Ok([tau_act.recip(), tau_deact.recip()])
}

/// First-order activation with separate time constants for rising and falling:
///
///   ȧ = (e − a)/τ,   τ = τ_act (½ + 3/2 a) for e > a,  τ_deact / (½ + 3/2 a) otherwise
///
/// Source: Winters (1995), Thelen (2003), as in OpenSim's MuscleFirstOrderActivationDynamicModel. The activation is
/// clamped to [minimum, 1] before use; the excitation is not clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstOrderActivation<P = f64> {
    per_tau_act: P,
    per_tau_deact: P,
    minimum: P,
}

impl<P: Real> FirstOrderActivation<P> {
    /// Time constants in s; minimum activation in [0, 1).
    pub fn new(tau_act: P, tau_deact: P, minimum: P) -> Result<FirstOrderActivation<P>, MuscleError> {
        let [per_tau_act, per_tau_deact] = per_time_constant(tau_act, tau_deact)?;
        let ok = (0.0..1.0).contains(&minimum.value());
        require("minimum_activation", minimum.value(), ok, "in [0, 1)")?;
        Ok(FirstOrderActivation { per_tau_act, per_tau_deact, minimum })
    }

    /// The clamped activation.
    #[inline(always)]
    pub fn clamp<T: Over<P>>(&self, a: T) -> T {
        a.where_below(T::lift(self.minimum), || T::lift(self.minimum), || a.min(T::one()))
    }

    /// ȧ, 1/s of a (clamped) activation.
    #[inline(always)]
    pub fn rate<T: Over<P>>(&self, a: T, e: T) -> T {
        let z = a * 1.5 + 0.5;
        let d = e - a;
        a.where_below(e, || d * self.per_tau_act / z, || d * self.per_tau_deact * z)
    }
}

/// The smooth first-order activation of De Groote and Fregly:
///
///   f = ½ tanh(b (e − a)),  z = ½ + 3/2 a
///   ȧ = [ (f + ½)/(τ_act z) + (½ − f) z/τ_deact ] (e − a)
///
/// Source: De Groote, Kinney, Rao and Fregly (2016), eqs. 1 and 2. Neither a nor e is clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothActivation<P = f64> {
    per_tau_act: P,
    per_tau_deact: P,
    smoothing: P,
}

impl<P: Real> SmoothActivation<P> {
    /// Time constants in s; smoothing b > 0, where 10 is close to a discontinuous switch.
    pub fn new(tau_act: P, tau_deact: P, smoothing: P) -> Result<SmoothActivation<P>, MuscleError> {
        let [per_tau_act, per_tau_deact] = per_time_constant(tau_act, tau_deact)?;
        let ok = smoothing.value() > 0.0;
        require("activation_dynamics_smoothing", smoothing.value(), ok, "greater than zero")?;
        Ok(SmoothActivation { per_tau_act, per_tau_deact, smoothing })
    }

    /// ȧ, 1/s.
    #[inline(always)]
    pub fn rate<T: Over<P>>(&self, a: T, e: T) -> T {
        let z = a * 1.5 + 0.5;
        let d = e - a;
        let f = (d * self.smoothing).tanh() * 0.5;
        ((f + 0.5) * self.per_tau_act / z + (f * -1.0 + 0.5) * z * self.per_tau_deact) * d
    }
}

/// Critically damped second-order activation, twice as fast while falling:
///
///   ä = ω² e − (2 ω ȧ + ω² (a − a_min)/(1 − a_min)),  ω = 1/τ, or 2/τ while ȧ < 0
///
/// Source: OpenSim's MuscleSecondOrderActivationDynamicModel (Millard). The excitation is clamped to [0, 1] and the
/// activation to [a_min, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondOrderActivation {
    omega: f64,
    minimum: f64,
}

impl SecondOrderActivation {
    /// Twitch time constant τ in s (OpenSim's default 0.05), minimum activation (0.01).
    pub fn new(twitch_time_constant: f64, minimum: f64) -> Result<SecondOrderActivation, MuscleError> {
        let ok = twitch_time_constant > 0.0;
        require("twitch_time_constant", twitch_time_constant, ok, "greater than zero")?;
        require("minimum_activation", minimum, (0.0..1.0).contains(&minimum), "in [0, 1)")?;
        Ok(SecondOrderActivation { omega: 1.0 / twitch_time_constant, minimum })
    }

    /// ä [1/s²] from ȧ, a and e.
    #[inline]
    pub fn acceleration<T: Real>(&self, adot: T, a: T, e: T) -> T {
        let omega = adot.where_below(T::zero(), || T::cst(2.0 * self.omega), || T::cst(self.omega));
        let scaled = (a.clamp(self.minimum, 1.0) - self.minimum) / (1.0 - self.minimum);
        (e.clamp(0.0, 1.0) - scaled) * (omega * omega) - adot * (omega * 2.0)
    }
}

/// Activation of the older SIMM muscles, in units of a time scale:
///
///   ȧ = (e − a)(k₁ e + k₂)/T for e ≥ a,  (e − a) k₂/T otherwise
///
/// Source: Zajac (1989); Schutte et al. (1993). Van den Bogert et al. (2011), eq. 7, use the first form for both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateActivation<P = f64> {
    /// k₁/T, 1/s.
    pub k1: P,
    /// k₂/T, 1/s.
    pub k2: P,
    /// Whether k₁ is used only while the activation rises.
    pub switches: bool,
}

impl<P: Real> RateActivation<P> {
    /// From the time constants of rising and falling activation (s) at full and at zero excitation; the first form for
    /// both.
    pub fn from_time_constants(tau_act: P, tau_deact: P) -> RateActivation<P> {
        let k2 = tau_deact.recip();
        RateActivation { k1: tau_act.recip() - k2, k2, switches: false }
    }

    /// ȧ, 1/s.
    #[inline(always)]
    pub fn rate<T: Over<P>>(&self, a: T, e: T) -> T {
        let rising = || (e - a) * (e * self.k1 + self.k2);
        if !self.switches {
            return rising();
        }
        e.where_below(a, || (e - a) * self.k2, rising)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;

    type D = Dual<f64, 2>;

    /// Rising and falling, with and without clamp: duals against central differences.
    #[test]
    fn deriv_rates() {
        let first = FirstOrderActivation::new(0.01, 0.04, 0.01).unwrap();
        let smooth = SmoothActivation::new(0.015, 0.06, 10.0).unwrap();
        let simm = RateActivation { k1: 76.67, k2: 14.59854, switches: true };
        let second = SecondOrderActivation::new(0.05, 0.01).unwrap();
        fn all<T: Real>(
            k: (&FirstOrderActivation, &SmoothActivation, &RateActivation, &SecondOrderActivation),
            a: T,
            e: T,
        ) -> [T; 4] {
            [k.0.rate(k.0.clamp(a), e), k.1.rate(a, e), k.2.rate(a, e), k.3.acceleration(a - 0.4, a, e)]
        }
        let k = (&first, &smooth, &simm, &second);
        let h = 1e-6;
        for (a, e) in [(0.2, 0.7), (0.7, 0.2), (0.005, 0.3), (0.5, 1.2)] {
            let dual = all(k, D::variable(a, 0), D::variable(e, 1));
            let fd_a = (all(k, a + h, e), all(k, a - h, e));
            let fd_e = (all(k, a, e + h), all(k, a, e - h));
            for (i, dual) in dual.iter().enumerate() {
                assert_eq!(dual.v.to_bits(), all(k, a, e)[i].to_bits());
                let fd = [(fd_a.0[i] - fd_a.1[i]) / (2.0 * h), (fd_e.0[i] - fd_e.1[i]) / (2.0 * h)];
                for (d, fd) in dual.d.iter().zip(fd) {
                    // Truncation h² f‴ ~ 1e-7, roundoff ε f/h ~ 1e-8 with f up to 400.
                    assert!((d - fd).abs() < 1e-5, "{i}: {d} {fd}");
                }
            }
        }
    }

    /// With e = 1 and a = 0.5 by hand: z = 1.25.
    #[test]
    fn analytic_first_order() {
        let first = FirstOrderActivation::new(0.01, 0.04, 0.01).unwrap();
        assert!((first.rate(0.5, 1.0) - 0.5 / (0.01 * 1.25)).abs() < 1e-13);
        assert!((first.rate(0.5, 0.0) + 0.5 * 1.25 / 0.04).abs() < 1e-13);
        assert!(FirstOrderActivation::new(0.0, 0.04, 0.01).is_err());
        assert!(FirstOrderActivation::new(f64::NAN, 0.04, 0.01).is_err());
    }
}

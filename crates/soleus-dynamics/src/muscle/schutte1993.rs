//! Schutte's muscle (1993), the default muscle of SIMM.

use super::activation::RateActivation;
use super::error::{MuscleError, require};
use super::simm::{ROUNDOFF, SimmGeometry, SimmMuscle, cos_pennation, curve, value};
use crate::constants::Constants;
use soleus_math::elementary;
use soleus_math::{Function, Over, Real};
use soleus_model::muscle::{Muscle, Schutte1993, default_curves};

/// A compiled Schutte1993Muscle_Deprecated. States: activation, fiber length (m).
///
/// With the force left for the contractile element F = max(f_T/cos φ − f_P, 0) and A = a f_L, the damped Hill
/// hyperbola gives a quadratic for the fiber velocity v in l₀ per time scale, damping B:
///
///   F < A:  v = ½(−b − √(b² − 4c)),  c = k(F − A)/B,  b = −k(F/k + A + B)/B           (1)
///   else:   v = ½(−b + √(b² − 4c)),  c = −(s k/(B(k + 1)))(F − A),
///           b = −(F/B − 1.4 A/B − s k/(k + 1)),      k = 0.15, s = 0.13               (2)
///
/// Source: Schutte, Rodgers, Zajac and Glaser (1993); OpenSim's Schutte1993Muscle_Deprecated.
#[derive(Clone, Debug, PartialEq)]
pub struct Schutte1993Muscle<P = f64> {
    activation: RateActivation<P>,
    active: Function,
    /// `None`: exp(8(x − 1))/e⁴.
    passive: Option<Function>,
    tendon: Function,
    damping: P,
    time_scale: P,
    g: SimmGeometry<P>,
}

impl Schutte1993Muscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Schutte1993) -> Result<Schutte1993Muscle, MuscleError> {
        Schutte1993Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl SimmMuscle for Schutte1993Muscle {
    fn geometry(&self) -> &SimmGeometry {
        &self.g
    }

    fn active_force<T: Real>(&self, x: T) -> T {
        value(&self.active, x)
    }

    fn passive_force<T: Real>(&self, x: T) -> T {
        self.passive(x)
    }

    fn tendon_force(&self, strain: f64) -> f64 {
        value(&self.tendon, strain)
    }

    fn tension_and_velocity<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> (T, T) {
        let mut dot = [T::zero(); 2];
        (self.dynamics(L, Ldot, e, states, &mut dot), dot[1])
    }
}

impl<P: Real> Schutte1993Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Schutte1993,
        constant: &mut Constants<P>,
    ) -> Result<Schutte1993Muscle<P>, MuscleError> {
        let g = SimmGeometry::new("Schutte1993Muscle_Deprecated", m, constant)?;
        require("time_scale", p.time_scale, p.time_scale > 0.0, "greater than zero")?;
        require("damping", p.damping, p.damping > 0.0, "greater than zero")?;
        require("activation1", p.activation1, true, "finite")?;
        require("activation2", p.activation2, true, "finite")?;
        let time_scale = constant("time_scale", p.time_scale);
        Ok(Schutte1993Muscle {
            activation: RateActivation {
                k1: constant("activation1", p.activation1) / time_scale,
                k2: constant("activation2", p.activation2) / time_scale,
                switches: true,
            },
            active: curve(&p.active_force_length_curve, &default_curves::ACTIVE_FORCE_LENGTH)?,
            passive: p.passive_force_length_curve.clone(),
            tendon: curve(&p.tendon_force_length_curve, &default_curves::TENDON_FORCE_LENGTH)?,
            damping: constant("damping", p.damping),
            time_scale,
            g,
        })
    }

    #[inline]
    fn passive<T: Real>(&self, x: T) -> T {
        match &self.passive {
            Some(f) => value(f, x),
            None => ((x - 1.0) * 8.0).exp() * elementary::exp(-4f64),
        }
    }

    /// (1) and (2).
    #[inline]
    fn velocity<T: Over<P>>(&self, A: T, F: T) -> T {
        const K: f64 = 0.15;
        const S: f64 = 0.13;
        let per_b = self.damping.recip();
        let shortening = || {
            let c = (F - A) * (per_b * K);
            let b = -(F + A * K + self.damping * K) * per_b;
            (-b - (b * b - c * 4.0).sqrt()) * 0.5
        };
        let lengthening = || {
            let c = (F - A) * (per_b * (-S * K) / (K + 1.0));
            let b = -((F - A * 1.4) * per_b - S * K / (K + 1.0));
            (-b + (b * b - c * 4.0).sqrt()) * 0.5
        };
        F.where_below(A, shortening, lengthening)
    }

    /// Tension (N); writes the rates of activation and fiber length.
    #[inline]
    pub fn dynamics<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, x) = (states[0], states[1] * self.g.per_l0);
        let cos = cos_pennation(states[1], self.g.width);
        let strain = (L - states[1] * cos) * self.g.per_ls - 1.0;
        let ft = strain.where_below(T::zero(), T::zero, || value(&self.tendon, strain));
        states_dot[0] = self.activation.rate(a, e);
        // At a right angle the fiber waits for the tendon, then follows the path.
        let upright = || {
            let follows = || Ldot * self.g.upright_cos(L);
            ft.abs().where_at_most(T::cst(ROUNDOFF), T::zero, follows)
        };
        let balanced = || {
            let fl = value(&self.active, x);
            let fl = fl.where_below(T::zero(), T::zero, || fl);
            let F = ft / cos - self.passive(x);
            let F = F.where_below(T::zero(), T::zero, || F);
            self.velocity(a * fl, F) * (self.g.l0 / self.time_scale)
        };
        states_dot[1] = cos.abs().where_at_most(T::cst(ROUNDOFF), upright, balanced);
        ft * self.g.f0
    }
}

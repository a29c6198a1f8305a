//! The first implementation of Thelen's muscle in OpenSim, which it keeps for old model files.

use super::error::{MuscleError, require};
use super::simm::{ROUNDOFF, SimmGeometry, SimmMuscle, cos_pennation};
use crate::constants::Constants;
use soleus_math::elementary;
use soleus_math::{Over, Real};
use soleus_model::muscle::{Muscle, Thelen2003Deprecated};

/// Force at the end of the tendon's toe.
const F_TOE: f64 = 0.333333;
/// Smallest activation in the force–velocity law, and the step of its straight continuations.
const EPSILON: f64 = 1e-6;

/// A compiled Thelen2003Muscle_Deprecated. States: activation, fiber length (m).
///
/// As Thelen's (2003) muscle, with: rounded toe constants of the tendon and a small extra stiffness 0.001 l_t/l_s, so
/// that it never becomes slack; a passive force e^(K(x−1)/ε)/e^K that is not zero at rest and is linear above F₀; a
/// damping term B in the denominator of the velocity law; the maximum velocity V₀ + a(V − V₀), also below zero
/// activation; constant activation time constants; no clamping.
///
/// Source: Thelen (2003); OpenSim's Thelen2003Muscle_Deprecated.
#[derive(Clone, Debug, PartialEq)]
pub struct Thelen2003OriginalMuscle<P = f64> {
    per_tau_act: P,
    per_tau_deact: P,
    vmax: P,
    vmax0: P,
    toe: P,
    ktoe: P,
    ctoe: f64,
    klin: P,
    per_kact: P,
    kpas: P,
    epas: P,
    strain: P,
    damping: P,
    per_af: P,
    flen: P,
    clen: P,
    g: SimmGeometry<P>,
}

impl Thelen2003OriginalMuscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Thelen2003Deprecated) -> Result<Thelen2003OriginalMuscle, MuscleError> {
        Thelen2003OriginalMuscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl SimmMuscle for Thelen2003OriginalMuscle {
    const SLACK_TENDON_IS_ZERO: bool = false;

    fn geometry(&self) -> &SimmGeometry {
        &self.g
    }

    fn active_force<T: Real>(&self, x: T) -> T {
        self.active(x)
    }

    fn passive_force<T: Real>(&self, x: T) -> T {
        self.passive(x)
    }

    fn tendon_force(&self, strain: f64) -> f64 {
        self.tendon(strain)
    }

    fn tension_and_velocity<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> (T, T) {
        let mut dot = [T::zero(); 2];
        (self.dynamics(L, Ldot, e, states, &mut dot), dot[1])
    }
}

impl<P: Real> Thelen2003OriginalMuscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Thelen2003Deprecated,
        constant: &mut Constants<P>,
    ) -> Result<Thelen2003OriginalMuscle<P>, MuscleError> {
        let g = SimmGeometry::new("Thelen2003Muscle_Deprecated", m, constant)?;
        let positive = [
            ("activation_time_constant", p.activation_time_constant),
            ("deactivation_time_constant", p.deactivation_time_constant),
            ("FmaxTendonStrain", p.fmax_tendon_strain),
            ("FmaxMuscleStrain", p.fmax_muscle_strain),
            ("KshapeActive", p.kshape_active),
            ("KshapePassive", p.kshape_passive),
            ("Af", p.af),
        ];
        for (name, value) in positive {
            require(name, value, value > 0.0, "greater than zero")?;
        }
        require("Flen", p.flen, p.flen > 1.0, "greater than 1")?;
        require("damping", p.damping, p.damping >= 0.0, "at least zero")?;
        require("Vmax", p.vmax, true, "finite")?;
        require("Vmax0", p.vmax0, true, "finite")?;
        let tendon_strain = constant("FmaxTendonStrain", p.fmax_tendon_strain);
        let strain = constant("FmaxMuscleStrain", p.fmax_muscle_strain);
        let kpas = constant("KshapePassive", p.kshape_passive);
        let (af, flen) = (constant("Af", p.af), constant("Flen", p.flen));
        let toe = tendon_strain * 0.609;
        Ok(Thelen2003OriginalMuscle {
            per_tau_act: constant("activation_time_constant", p.activation_time_constant).recip(),
            per_tau_deact: constant("deactivation_time_constant", p.deactivation_time_constant).recip(),
            vmax: constant("Vmax", p.vmax),
            vmax0: constant("Vmax0", p.vmax0),
            toe,
            ktoe: P::cst(3.0) / toe,
            ctoe: F_TOE / (elementary::exp(3f64) - 1.0),
            klin: P::cst(1.712) / tendon_strain,
            per_kact: constant("KshapeActive", p.kshape_active).recip(),
            kpas: kpas / strain,
            epas: (-kpas).exp(),
            strain,
            damping: constant("damping", p.damping),
            per_af: af.recip(),
            flen,
            clen: (P::cst(2.0) / af + 2.0) / (flen - 1.0),
            g,
        })
    }

    fn tendon<T: Over<P>>(&self, y: T) -> T {
        let f = if y.value() > self.toe.value() {
            (y - self.toe) * self.klin + F_TOE
        } else if y.value() > 0.0 {
            ((y * self.ktoe).exp() - 1.0) * self.ctoe
        } else {
            T::zero()
        };
        f + (y + 1.0) * 0.001
    }

    fn active<T: Over<P>>(&self, x: T) -> T {
        let d = x - 1.0;
        (d * d * -self.per_kact).exp()
    }

    fn passive<T: Over<P>>(&self, x: T) -> T {
        let d = x - 1.0;
        if d.value() > self.strain.value() {
            (d - self.strain) * self.kpas + 1.0
        } else {
            (d * self.kpas).exp() * self.epas
        }
    }

    /// Velocity in units of the largest velocity, from A = a f_L and F.
    fn velocity<T: Over<P>>(&self, A: T, F: T) -> T {
        let shortening = |F: T| (F - A) / (F * self.per_af + A + self.damping);
        let lengthening = |F: T| (F - A) / ((A * self.flen - F) * self.clen + self.damping);
        // Beyond both ends OpenSim goes on with a secant over a millionth, which must be taken as it is.
        if F.value() < 0.0 {
            let (v0, v1) = (shortening(T::zero()), shortening(T::cst(EPSILON)));
            v0 + F * (v1 - v0) / EPSILON
        } else if F.value() < A.value() {
            shortening(F)
        } else if F.value() < 0.95 * A.value() * self.flen.value() {
            lengthening(F)
        } else {
            let (F0, F1) = (A * (self.flen * 0.95), A * (self.flen * (0.95 + EPSILON)));
            let (v0, v1) = (lengthening(F0), lengthening(F1));
            v0 + (F - F0) * (v1 - v0) / (F1 - F0)
        }
    }

    /// Tension (N); writes the rates of activation and fiber length.
    #[inline]
    pub fn dynamics<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, x) = (states[0], states[1] * self.g.per_l0);
        let vmax =
            if a.value() < 1.0 { a * (self.vmax - self.vmax0) + self.vmax0 } else { T::lift(self.vmax) };
        let cos = cos_pennation(states[1], self.g.width);
        let ft = self.tendon((L - states[1] * cos) * self.g.per_ls - 1.0);
        let per_tau = if e.value() >= a.value() { self.per_tau_act } else { self.per_tau_deact };
        states_dot[0] = (e - a) * per_tau;
        states_dot[1] = if cos.value().abs() <= ROUNDOFF {
            if ft.value().abs() <= ROUNDOFF { T::zero() } else { Ldot / self.g.upright_cos(L) }
        } else {
            let a = if a.value() < EPSILON { T::cst(EPSILON) } else { a };
            self.velocity(a * self.active(x), ft / cos - self.passive(x)) * vmax * self.g.l0
        };
        ft * self.g.f0
    }
}

//! The first implementation of Thelen's muscle in OpenSim, kept by it for old model files.

use super::equilibrium::Equilibrium;
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use super::simm::{Isometric, ROUNDOFF, SimmGeometry, cos_pennation};
use soleus_math::Real;
use soleus_model::muscle::{Muscle, Thelen2003Deprecated};

/// Force at the end of the tendon's toe.
const F_TOE: f64 = 0.333333;
/// Smallest activation in the force–velocity law, and the step of its straight continuations.
const EPSILON: f64 = 1e-6;

/// A Thelen2003Muscle_Deprecated, ready for computing. States: activation, fiber length (m).
///
/// As Thelen's (2003) muscle, with: rounded toe constants of the tendon and a small extra stiffness
/// 0.001 l_t/l_s, so that it never goes slack; a passive force e^(K(x−1)/ε)/e^K that is not zero at rest and
/// goes on straight above F₀; a damping term B in the denominator of the velocity law; the largest velocity
/// V₀ + a(V − V₀), also below zero activation; constant activation time constants; no clamping.
///
/// Source: Thelen (2003); OpenSim's Thelen2003Muscle_Deprecated.
#[derive(Clone, Debug, PartialEq)]
pub struct Thelen2003OriginalMuscle {
    per_tau_act: f64,
    per_tau_deact: f64,
    vmax: f64,
    vmax0: f64,
    toe: f64,
    ktoe: f64,
    ctoe: f64,
    klin: f64,
    per_kact: f64,
    kpas: f64,
    epas: f64,
    strain: f64,
    damping: f64,
    per_af: f64,
    flen: f64,
    clen: f64,
    g: SimmGeometry,
}

impl Thelen2003OriginalMuscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Thelen2003Deprecated) -> Result<Thelen2003OriginalMuscle, MuscleError> {
        let g = SimmGeometry::new("Thelen2003Muscle_Deprecated", m)?;
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
        let toe = 0.609 * p.fmax_tendon_strain;
        Ok(Thelen2003OriginalMuscle {
            per_tau_act: 1.0 / p.activation_time_constant,
            per_tau_deact: 1.0 / p.deactivation_time_constant,
            vmax: p.vmax,
            vmax0: p.vmax0,
            toe,
            ktoe: 3.0 / toe,
            ctoe: F_TOE / (3f64.exp() - 1.0),
            klin: 1.712 / p.fmax_tendon_strain,
            per_kact: 1.0 / p.kshape_active,
            kpas: p.kshape_passive / p.fmax_muscle_strain,
            epas: (-p.kshape_passive).exp(),
            strain: p.fmax_muscle_strain,
            damping: p.damping,
            per_af: 1.0 / p.af,
            flen: p.flen,
            clen: (2.0 + 2.0 / p.af) / (p.flen - 1.0),
            g,
        })
    }

    fn tendon<T: Real>(&self, y: T) -> T {
        let f = if y.value() > self.toe {
            (y - self.toe) * self.klin + F_TOE
        } else if y.value() > 0.0 {
            ((y * self.ktoe).exp() - 1.0) * self.ctoe
        } else {
            T::zero()
        };
        f + (y + 1.0) * 0.001
    }

    fn active<T: Real>(&self, x: T) -> T {
        let d = x - 1.0;
        (d * d * -self.per_kact).exp()
    }

    fn passive<T: Real>(&self, x: T) -> T {
        let d = x - 1.0;
        if d.value() > self.strain {
            (d - self.strain) * self.kpas + 1.0
        } else {
            (d * self.kpas).exp() * self.epas
        }
    }

    /// Velocity in units of the largest velocity, from A = a f_L and F.
    fn velocity<T: Real>(&self, A: T, F: T) -> T {
        let shortening = |F: T| (F - A) / (F * self.per_af + A + self.damping);
        let lengthening = |F: T| (F - A) / ((A * self.flen - F) * self.clen + self.damping);
        // Beyond both ends OpenSim goes on with a secant over a millionth, which must be taken as it is.
        if F.value() < 0.0 {
            let (v0, v1) = (shortening(T::zero()), shortening(T::cst(EPSILON)));
            v0 + F * (v1 - v0) / EPSILON
        } else if F.value() < A.value() {
            shortening(F)
        } else if F.value() < 0.95 * A.value() * self.flen {
            lengthening(F)
        } else {
            let (F0, F1) = (A * (0.95 * self.flen), A * ((0.95 + EPSILON) * self.flen));
            let (v0, v1) = (lengthening(F0), lengthening(F1));
            v0 + (F - F0) * (v1 - v0) / (F1 - F0)
        }
    }

    /// Tension (N); writes the rates of activation and fiber length.
    #[inline]
    pub fn dynamics<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, x) = (states[0], states[1] * self.g.per_l0);
        let vmax =
            if a.value() < 1.0 { a * (self.vmax - self.vmax0) + self.vmax0 } else { T::cst(self.vmax) };
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

    /// Everything OpenSim says about this muscle; the rest is NaN.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut dot = [T::zero(); 2];
        let tension = self.dynamics(L, Ldot, e, states, &mut dot);
        let x = states[1] * self.g.per_l0;
        let multipliers = (self.active(x), self.passive(x));
        self.g.info((L, Ldot, e), (states[0], states[1], dot[1]), multipliers, tension)
    }

    /// Balances fiber and tendon at rest.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let isometric = Isometric {
            g: &self.g,
            active: &|x| self.active(x),
            passive: &|x| self.passive(x),
            tendon: &|y| self.tendon(y),
            start: self.g.l0,
            slack_tendon_is_zero: false,
        };
        let (l, found) = isometric.relax(L, activation)?;
        states[0] = activation;
        states[1] = l;
        Ok(found)
    }
}

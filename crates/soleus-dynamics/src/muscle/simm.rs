//! Common parts of the muscles inherited from SIMM: curves as functions, pennation, and the relaxation that finds their
//! equilibrium.

use super::equilibrium::Equilibrium;
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use crate::constants::Constants;
use soleus_math::elementary;
use soleus_math::function::SimmSpline;
use soleus_math::{Function, Over, Real};
use soleus_model::muscle::Muscle;

/// SIMM's zero.
pub(crate) const ROUNDOFF: f64 = 2e-13;

/// The curve of the file, or the spline through the default knots.
pub(crate) fn curve(given: &Option<Function>, knots: &[(f64, f64)]) -> Result<Function, MuscleError> {
    if let Some(f) = given {
        return Ok(f.clone());
    }
    let (x, y) = knots.iter().copied().unzip();
    SimmSpline::new(x, y).map(Function::from).map_err(|e| MuscleError::Function { why: e.to_string() })
}

/// Value of a function of one variable.
#[inline(always)]
pub(crate) fn value<T: Real>(f: &Function, x: T) -> T {
    f.value(&[x])
}

/// cos φ with sin φ = w/l, the angle held in [0, π/2].
#[inline]
pub(crate) fn cos_pennation<P: Real, T: Over<P>>(l: T, w: P) -> T {
    let sloping = || {
        let s = l.recip() * w;
        // OpenSim's cosine of π/2 in double precision is not quite zero.
        let upright = || T::cst(elementary::cos(std::f64::consts::FRAC_PI_2));
        // Also straight if s is not a number.
        let below_upright = || T::zero().where_below(s, || (T::one() - s * s).sqrt(), T::one);
        T::one().where_at_most(s, upright, below_upright)
    };
    l.where_below(T::cst(f64::EPSILON), T::one, sloping)
}

/// The pennation angle of [`cos_pennation`], rad.
pub(crate) fn pennation<T: Real>(l: T, w: f64) -> T {
    if l.value() < f64::EPSILON {
        return T::zero();
    }
    let s = l.recip() * w;
    if s.value() >= 1.0 {
        T::cst(std::f64::consts::FRAC_PI_2)
    } else if s.value() <= 0.0 || s.value().is_nan() {
        T::zero()
    } else {
        s.asin()
    }
}

/// Sizes of a SIMM muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SimmGeometry<P = f64> {
    pub f0: P,
    pub l0: P,
    pub ls: P,
    pub per_l0: P,
    pub per_ls: P,
    /// l₀ sin α₀, m.
    pub width: P,
    per_v0: P,
}

impl<P: Real> SimmGeometry<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn new(
        class: &'static str,
        m: &Muscle,
        constant: &mut Constants<P>,
    ) -> Result<SimmGeometry<P>, MuscleError> {
        if m.ignore_tendon_compliance {
            return Err(MuscleError::Unsupported { class, flag: "ignore_tendon_compliance" });
        }
        if m.ignore_activation_dynamics {
            return Err(MuscleError::Unsupported { class, flag: "ignore_activation_dynamics" });
        }
        let (l0, ls) = (m.optimal_fiber_length, m.tendon_slack_length);
        require("max_isometric_force", m.max_isometric_force, true, "finite")?;
        require("optimal_fiber_length", l0, l0 > 0.0, "greater than zero")?;
        require("tendon_slack_length", ls, ls > 0.0, "greater than zero")?;
        require("max_contraction_velocity", m.max_contraction_velocity, true, "finite")?;
        require("pennation_angle_at_optimal", m.pennation_angle_at_optimal, true, "finite")?;
        let (l0, ls) = (constant("optimal_fiber_length", l0), constant("tendon_slack_length", ls));
        let vmax = constant("max_contraction_velocity", m.max_contraction_velocity);
        Ok(SimmGeometry {
            f0: constant("max_isometric_force", m.max_isometric_force),
            l0,
            ls,
            per_l0: l0.recip(),
            per_ls: ls.recip(),
            width: l0 * constant("pennation_angle_at_optimal", m.pennation_angle_at_optimal).sin(),
            per_v0: (vmax * l0).recip(),
        })
    }

    /// cos φ of a fiber that would reach from a rigid tendon, used while the real one stands upright.
    pub fn upright_cos<T: Over<P>>(&self, L: T) -> T {
        // The first length is normalized by l₀, the second is not: so it is in SIMM and in OpenSim.
        let h = L * self.per_l0 - self.ls;
        cos_pennation((h * h + self.width * self.width).sqrt(), self.width)
    }
}

impl SimmGeometry {
    /// What OpenSim reports, from (L, L̇, e), (a, l, l̇), (f_L, f_P) and the tension.
    pub fn info<T: Real>(
        &self,
        (L, Ldot, e): (T, T, T),
        (a, l, ldot): (T, T, T),
        (fl, fp): (T, T),
        tension: T,
    ) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let cos = cos_pennation(l, self.width);
        info.activation = a;
        info.fiber_length = l;
        info.normalized_fiber_length = l * self.per_l0;
        info.pennation_angle = pennation(l, self.width);
        info.cos_pennation_angle = cos;
        info.tendon_length = L - l * cos;
        info.tendon_strain = info.tendon_length * self.per_ls - 1.0;
        info.fiber_velocity = ldot;
        info.normalized_fiber_velocity = ldot * self.per_v0;
        info.active_force_length_multiplier = fl;
        info.passive_force_multiplier = fp;
        info.passive_fiber_force = fp * self.f0;
        info.fiber_force = tension / cos;
        info.active_fiber_force = info.fiber_force - info.passive_fiber_force;
        info.active_fiber_force_along_tendon = info.active_fiber_force * cos;
        info.passive_fiber_force_along_tendon = info.passive_fiber_force * cos;
        info.tendon_force = tension;
        info.actuation = tension;
        info
    }
}

/// A muscle inherited from SIMM. Forces are in units of F₀, of normalized fiber length and tendon strain; with how the fiber moves,
/// all that is asked of such a muscle follows from them.
pub(crate) trait SimmMuscle {
    /// Whether a negative tendon strain means no force, or the tendon function is asked.
    const SLACK_TENDON_IS_ZERO: bool = true;

    /// Its sizes.
    fn geometry(&self) -> &SimmGeometry;

    /// f_L.
    fn active_force<T: Real>(&self, x: T) -> T;

    /// f_P.
    fn passive_force<T: Real>(&self, x: T) -> T;

    /// f_T.
    fn tendon_force(&self, strain: f64) -> f64;

    /// Tension (N) and fiber velocity, m/s.
    fn tension_and_velocity<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> (T, T);

    /// Fiber length (m) at which the search for equilibrium begins.
    fn first_length(&self, _: f64) -> f64 {
        self.geometry().l0
    }

    /// Everything OpenSim says about this muscle; the rest is NaN.
    fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let g = self.geometry();
        let (tension, velocity) = self.tension_and_velocity(L, Ldot, e, states);
        let x = states[1] * g.per_l0;
        let multipliers = (self.active_force(x), self.passive_force(x));
        g.info((L, Ldot, e), (states[0], states[1], velocity), multipliers, tension)
    }

    /// Balances fiber and tendon at rest: writes the activation, the fiber length, and zeros.
    fn solve_equilibrium(
        &self,
        L: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let (l, found) = self.relax(L, activation)?;
        states.fill(0.0);
        (states[0], states[1]) = (activation, l);
        Ok(found)
    }

    /// Fiber length at which fiber and tendon pull alike at rest, and the outcome.
    ///
    /// SIMM's relaxation: change the fiber length by error / stiffness with the stiffnesses guessed from
    /// the forces, interpolate after each change of sign, stop below 0.01 N. It stops far from roundoff, so the
    /// same steps must be taken to arrive at OpenSim's number.
    fn relax(&self, L: f64, a: f64) -> Result<(f64, Equilibrium), MuscleError> {
        let g = self.geometry();
        let w = g.width;
        let rigid = |l_along: f64| l_along / elementary::cos(elementary::atan(w / l_along));
        if L < g.ls {
            let found = Equilibrium { at_lower_bound: true, ..Equilibrium::immediate(0.0) };
            return Ok((w, found));
        }
        let mut l = self.first_length(L);
        let mut cos = cos_pennation(l, w);
        let mut lt = L - l * cos;
        if lt < g.ls {
            lt = g.ls;
            cos = elementary::cos(elementary::atan(w / (L - lt)));
            l = rigid(L - lt).max(w);
        }

        let (mut error, mut l_before) = (0.0f64, f64::NAN);
        let mut tendon = 0.0;
        let mut iterations = 0;
        for i in 0..100 {
            iterations = i;
            let fa = (self.active_force(l / g.l0) * a).max(0.0);
            let fp = self.passive_force(l / g.l0).max(0.0);
            let strain = lt / g.ls - 1.0;
            let ft = if strain < 0.0 && Self::SLACK_TENDON_IS_ZERO { 0.0 } else { self.tendon_force(strain) };
            tendon = ft * g.f0;
            let mut error_before = error;
            error = tendon - (fa + fp) * g.f0 * cos;
            if error.abs() <= 0.01 {
                break;
            }
            if i == 0 {
                error_before = error;
            }
            let sign = |x: f64| x >= 0.0;
            if sign(error) != sign(error_before) {
                let share = error.abs() / (error.abs() + error_before.abs());
                let last = l_before;
                l_before = l;
                l += share * (last - l);
            } else {
                // Modulus and largest stress of tendon, MPa: they bound the stiffness from below.
                const MODULUS: f64 = 1200.0;
                const STRESS: f64 = 32.0;
                let kt = self.tendon_force(strain) * g.f0 / g.ls;
                let kt = kt.max((fa + fp) * MODULUS * g.f0 / (STRESS * g.ls));
                let kf = g.f0 / g.l0 * (self.active_force(l / g.l0) + self.passive_force(l / g.l0));
                let change = (error / (kf / cos + kt)).abs();
                let change = if (change / g.l0).abs() > 0.5 { 0.5 * g.l0 } else { change };
                l_before = l;
                l += if error > 0.0 { change } else { -change };
            }
            cos = cos_pennation(l, w);
            lt = L - l * cos;
            if lt < g.ls {
                lt = g.ls;
                cos = elementary::cos(elementary::atan(w / (L - lt)));
                l = rigid(L - lt);
            }
        }
        if !(l.is_finite() && error.is_finite()) {
            let (length, activation, residual, tolerance) = (L, a, error, 0.01);
            return Err(MuscleError::NoEquilibrium { length, activation, residual, tolerance, iterations });
        }
        Ok((l, Equilibrium { tendon_force: tendon, residual: error, iterations, at_lower_bound: false }))
    }
}

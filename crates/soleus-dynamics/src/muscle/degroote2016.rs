//! The muscle of De Groote et al. (2016) as used by its authors for gait prediction (Falisse et al. 2019): the tendon
//! force is a state.
//!
//! With f the tendon force over F_max, and l_mt and v_mt length and speed of the muscle–tendon unit:
//!
//!   l̃_t = ln(5 (f + 0.25 − s)) / k + 0.995                             (1)  tendon, s so that all k meet at l̃_t = 1
//!   l_m = √((l₀ sin α₀)² + (l_mt − l_s l̃_t)²),  cos α = (l_mt − l_s l̃_t) / l_m    (2)  constant width
//!   v_t = l_s ḟ / (0.2 k exp(k (l̃_t − 0.995))),  v_m = (v_mt − v_t) cos α          (3)
//!   f_a = a f_l(l̃_m) f_v(ṽ_m) + β ṽ_m,  f_p = (exp(4 (l̃_m − 1)/0.6) − 1 + p₁)/p₂    (4)
//!   0 = (f_a + f_p) cos α − f                                           (5)
//!
//! Damping β ṽ_m is part of the active force and therefore of the work of the contractile element.
//! `DeGrooteFregly2016Muscle`, in OpenSim and here, is a different muscle: it has 1 and 0.2 instead of 0.995 and 0.25,
//! and different force–velocity curves, so that tendons have no force at their slack length.
//!
//! Source: De Groote, Kinney, Rao & Fregly (2016), Ann Biomed Eng 44:2922, eqs. 1–7; constants and (3) as in the public code of Falisse et
//! al. (2019, 2022).

use super::equilibrium::Equilibrium;
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use super::pennation::SIGNIFICANT;
use crate::constants::Constants;
use soleus_math::elementary;
use soleus_math::{Over, Real};
use soleus_model::muscle::{DeGroote2016 as Parameters, Muscle};

/// k of (1) without any change of stiffness.
const TENDON_STIFFNESS: f64 = 35.0;
/// b of the three Gaussians of f_l: height, centre, width, change of width with length.
const ACTIVE: [[f64; 4]; 3] = [
    [0.814_483_478_343_008, 1.055_033_428_970_575, 0.162_384_573_599_574, 0.063_303_448_465_465],
    [0.433_004_984_392_647, 0.716_775_413_397_760, -0.029_947_116_970_696, 0.200_356_847_296_188],
    [0.1, 1.0, 0.353_553_390_593_273_8, 0.0],
];
/// d of f_v = d₁ ln((d₂ ṽ + d₃) + √((d₂ ṽ + d₃)² + 1)) + d₄.
const VELOCITY: [f64; 4] =
    [-0.318_323_436_899_127, -8.149_156_043_475_25, -0.374_121_508_647_863, 0.885_644_059_915_004];
/// p₁ and p₂ of f_p.
const PASSIVE: [f64; 2] = [0.995_172_050_006_169, 53.598_150_033_144_236];

/// Parameters. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeGroote2016<P = f64> {
    /// F_max, N.
    pub max_isometric_force: P,
    /// l₀, m.
    pub optimal_fiber_length: P,
    /// l_s, m.
    pub tendon_slack_length: P,
    /// α₀, rad.
    pub pennation_angle: P,
    /// v_max, l₀/s.
    pub max_contraction_velocity: P,
    /// β.
    pub damping: P,
    /// k.
    pub tendon_stiffness: P,
}

/// Force balance of the muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance<T> {
    /// Right-hand side of (5): zero in equilibrium of fiber and tendon.
    pub residual: T,
    /// l̃_m.
    pub normalized_fiber_length: T,
    /// v_m, m/s.
    pub fiber_velocity: T,
    /// f_l.
    pub active_force_length: T,
    /// F_max f_a, N.
    pub active_force: T,
    /// F_max f_p, N.
    pub passive_force: T,
}

/// Where fiber and tendon are: all that does not depend on speeds.
struct Position<T> {
    /// f + 0.25 − s.
    shifted: T,
    lt_n: T,
    lm: T,
    lm_n: T,
    cos_alpha: T,
    fl: T,
    fp: T,
}

impl<P: Real> DeGroote2016<P> {
    /// Force balance at an activation, a normalized tendon force and its rate (1/s), and the length (m) and speed (m/s)
    /// of the muscle–tendon unit. Smooth for f > s − 0.25.
    pub fn balance<T: Over<P>>(&self, activation: T, force: T, rate: T, length: T, speed: T) -> Balance<T> {
        let p = self.position(force, length);
        // (3): with (1) the exponential is 5 (f + 0.25 − s).
        let vt = rate * self.tendon_slack_length / (p.shifted * self.tendon_stiffness);
        let vm = (speed - vt) * p.cos_alpha;
        let vm_n = vm * (self.max_contraction_velocity * self.optimal_fiber_length).recip();
        let fa = activation * p.fl * force_velocity(vm_n) + vm_n * self.damping; // (4)
        Balance {
            residual: (fa + p.fp) * p.cos_alpha - force,
            normalized_fiber_length: p.lm_n,
            fiber_velocity: vm,
            active_force_length: p.fl,
            active_force: fa * self.max_isometric_force,
            passive_force: p.fp * self.max_isometric_force,
        }
    }

    fn position<T: Over<P>>(&self, force: T, length: T) -> Position<T> {
        let k = self.tendon_stiffness;
        let shift = ((k * 0.005).exp() - P::cst(elementary::exp(TENDON_STIFFNESS * 0.005))) * -0.2;
        let shifted = force + (P::cst(0.25) - shift);
        let lt_n = (shifted * 5.0).ln() * k.recip() + 0.995; // (1)
        let width = self.optimal_fiber_length * self.pennation_angle.sin();
        let along = length - lt_n * self.tendon_slack_length;
        let lm = (along.sq() + width * width).sqrt(); // (2)
        let lm_n = lm * self.optimal_fiber_length.recip();
        let fl = ACTIVE.iter().fold(T::zero(), |sum, &[height, centre, wide, slope]| {
            let z = (lm_n - centre) / (lm_n * slope + wide);
            sum + (z.sq() * -0.5).exp() * height
        });
        let fp = (((lm_n - 1.0) * (4.0 / 0.6)).exp() - 1.0 + PASSIVE[0]) / PASSIVE[1];
        Position { shifted, lt_n, lm, lm_n, cos_alpha: along / lm, fl, fp }
    }
}

/// f_v of (4).
fn force_velocity<T: Real>(vm_n: T) -> T {
    let inner = vm_n * VELOCITY[1] + VELOCITY[2];
    (inner + (inner.sq() + 1.0).sqrt()).ln() * VELOCITY[0] + VELOCITY[3]
}

/// Its slope.
fn force_velocity_slope<T: Real>(vm_n: T) -> T {
    let inner = vm_n * VELOCITY[1] + VELOCITY[2];
    (inner.sq() + 1.0).sqrt().recip() * (VELOCITY[0] * VELOCITY[1])
}

/// The muscle in a model. States: activation and normalized tendon force; the control is the rate of activation, 1/s.
#[derive(Clone, Debug, PartialEq)]
pub struct DeGroote2016Muscle<P = f64> {
    /// Parameters of (1) to (5).
    pub contraction: DeGroote2016<P>,
    default_state: [f64; 2],
}

impl DeGroote2016Muscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Parameters) -> Result<DeGroote2016Muscle, MuscleError> {
        DeGroote2016Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl<P: Real> DeGroote2016Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Parameters,
        constant: &mut Constants<P>,
    ) -> Result<DeGroote2016Muscle<P>, MuscleError> {
        let positive = [
            ("max_isometric_force", m.max_isometric_force),
            ("optimal_fiber_length", m.optimal_fiber_length),
            ("tendon_slack_length", m.tendon_slack_length),
            ("max_contraction_velocity", m.max_contraction_velocity),
            ("fiber_damping", p.fiber_damping),
            ("tendon_stiffness", p.tendon_stiffness),
        ];
        for (name, value) in positive {
            require(name, value, value > 0.0, "greater than zero")?;
        }
        let alpha0 = m.pennation_angle_at_optimal;
        let ok = (0.0..=std::f64::consts::FRAC_PI_2 - SIGNIFICANT).contains(&alpha0);
        require("pennation_angle_at_optimal", alpha0, ok, "in [0, π/2)")?;
        Ok(DeGroote2016Muscle {
            contraction: DeGroote2016 {
                max_isometric_force: constant("max_isometric_force", m.max_isometric_force),
                optimal_fiber_length: constant("optimal_fiber_length", m.optimal_fiber_length),
                tendon_slack_length: constant("tendon_slack_length", m.tendon_slack_length),
                pennation_angle: constant("pennation_angle_at_optimal", alpha0),
                max_contraction_velocity: constant("max_contraction_velocity", m.max_contraction_velocity),
                damping: constant("fiber_damping", p.fiber_damping),
                tendon_stiffness: constant("tendon_stiffness", p.tendon_stiffness),
            },
            default_state: [p.default_activation, p.default_normalized_tendon_force],
        })
    }

    /// Tension (N), with the dynamics as residuals: ȧ minus the control, and (5).
    #[inline]
    pub fn implicit<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], rates: &[T], r: &mut [T]) -> T {
        r[0] = rates[0] - e;
        r[1] = self.contraction.balance(states[0], states[1], rates[1], L, Ldot).residual;
        states[1] * self.contraction.max_isometric_force
    }
}

impl DeGroote2016Muscle {
    /// Default states.
    pub fn default_states(&self) -> &[f64] {
        &self.default_state
    }

    /// ṽ_m where fibers pull with `load`, F_max: a f_l f_v + β ṽ = load, which rises with ṽ, by Newton's method within bounds.
    fn velocity<T: Real>(&self, gain: T, load: T) -> T {
        let (g, want, beta) = (gain.value(), load.value(), self.contraction.damping);
        let error = |v: f64| g * force_velocity(v) + beta * v - want;
        let (mut lo, mut hi) = (-1.0, 1.0);
        while error(lo) > 0.0 && lo > -1e6 {
            lo *= 2.0;
        }
        while error(hi) < 0.0 && hi < 1e6 {
            hi *= 2.0;
        }
        let mut v = 0.0;
        for _ in 0..100 {
            let e = error(v);
            if e > 0.0 {
                hi = v;
            } else {
                lo = v;
            }
            let newton = v - e / (g * force_velocity_slope(v) + beta);
            let next = if newton > lo && newton < hi { newton } else { 0.5 * (lo + hi) };
            if (next - v).abs() <= 4.0 * f64::EPSILON * (1.0 + v.abs()) {
                break;
            }
            v = next;
        }
        let mut root = T::cst(v);
        for _ in 0..T::ORDER {
            let residual = gain * force_velocity(root) + root * beta - load;
            root = root.refine(residual, gain * force_velocity_slope(root) + beta);
        }
        root
    }

    /// Tension (N); writes the rates of the states.
    #[inline]
    pub fn dynamics<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (c, a, f) = (&self.contraction, states[0], states[1]);
        let p = c.position(f, L);
        let vm_n = self.velocity(a * p.fl, f / p.cos_alpha - p.fp);
        let vt = Ldot - vm_n * (c.max_contraction_velocity * c.optimal_fiber_length) / p.cos_alpha;
        states_dot[0] = e;
        states_dot[1] = vt * p.shifted * (c.tendon_stiffness / c.tendon_slack_length);
        f * c.max_isometric_force
    }

    /// All quantities of the muscle, at the rate of the tendon force that satisfies the balance.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let (c, a, f) = (&self.contraction, states[0], states[1]);
        let (f0, l0, ls) = (c.max_isometric_force, c.optimal_fiber_length, c.tendon_slack_length);
        let p = c.position(f, L);
        let v = self.velocity(a * p.fl, f / p.cos_alpha - p.fp);
        let (cos, ldot) = (p.cos_alpha, v * (c.max_contraction_velocity * l0));
        let width = l0 * elementary::sin(c.pennation_angle);
        info.activation = a;
        info.fiber_length = p.lm;
        info.normalized_fiber_length = p.lm_n;
        info.cos_pennation_angle = cos;
        info.pennation_angle = (p.lm.recip() * width).asin();
        info.tendon_length = p.lt_n * ls;
        info.tendon_strain = p.lt_n - 1.0;
        info.fiber_velocity = ldot;
        info.normalized_fiber_velocity = v;
        info.fiber_velocity_along_tendon = ldot / cos;
        info.tendon_velocity = Ldot - info.fiber_velocity_along_tendon;
        info.pennation_angular_velocity = -(ldot / p.lm) * ((p.lm * cos).recip() * width);
        info.active_force_length_multiplier = p.fl;
        info.passive_force_multiplier = p.fp;
        info.force_velocity_multiplier = force_velocity(v);
        info.active_fiber_force = a * p.fl * info.force_velocity_multiplier * f0;
        info.passive_fiber_elastic_force = p.fp * f0;
        info.passive_fiber_damping_force = v * (c.damping * f0);
        info.passive_fiber_force = info.passive_fiber_elastic_force + info.passive_fiber_damping_force;
        info.fiber_force = info.active_fiber_force + info.passive_fiber_force;
        info.tendon_force = f * f0;
        let active = ACTIVE.iter().fold(T::zero(), |sum, &[height, centre, wide, slope]| {
            let w = p.lm_n * slope + wide;
            let z = (p.lm_n - centre) / w;
            sum - (z.sq() * -0.5).exp() * z / w.sq() * (height * (wide + centre * slope))
        });
        let passive = (p.fp - (PASSIVE[0] - 1.0) / PASSIVE[1]) * (4.0 / 0.6);
        info.fiber_stiffness = (a * info.force_velocity_multiplier * active + passive) * (f0 / l0);
        info.fiber_stiffness_along_tendon =
            info.fiber_stiffness * cos.sq() + info.fiber_force * (T::one() - cos.sq()) / p.lm;
        info.tendon_stiffness = p.shifted * (c.tendon_stiffness * f0 / ls);
        info.fiber_potential_energy =
            (passive * (0.6 / 4.0).powi(2) + (p.lm_n - 1.0) * ((PASSIVE[0] - 1.0) / PASSIVE[1])) * (f0 * l0);
        info.tendon_potential_energy =
            (p.shifted * c.tendon_stiffness.recip() - p.lt_n * (p.shifted - f)) * (f0 * ls);
        info.complete(false);
        info
    }

    /// Sets the tendon force to the equilibrium of fiber and tendon with the tendon at rest, by bisection: (5)
    /// decreases with f.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        Ldot: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let f0 = self.contraction.max_isometric_force;
        let r = |f: f64| self.contraction.balance(activation, f, 0.0, L, Ldot).residual;
        states[0] = activation;
        let (mut lo, mut hi, mut iterations) = (0.0, 5.0, 0);
        let at_lo = r(lo);
        if at_lo <= 0.0 {
            // The fiber pushes, or just not.
            states[1] = 0.0;
            let (tendon_force, residual) = (0.0, at_lo * f0);
            return Ok(Equilibrium { tendon_force, residual, iterations, at_lower_bound: at_lo < 0.0 });
        }
        while r(hi) > 0.0 && iterations < 20 {
            hi *= 2.0;
            iterations += 1;
        }
        if !(r(hi) <= 0.0) {
            let (residual, tolerance, length) = (r(hi) * f0, f64::EPSILON * f0, L);
            return Err(MuscleError::NoEquilibrium { length, activation, residual, tolerance, iterations });
        }
        while hi - lo > 1e-14 * hi && iterations < 200 {
            let middle = 0.5 * (lo + hi);
            if r(middle) > 0.0 {
                lo = middle;
            } else {
                hi = middle;
            }
            iterations += 1;
        }
        states[1] = hi;
        Ok(Equilibrium { tendon_force: hi * f0, residual: r(hi) * f0, iterations, at_lower_bound: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;

    const SOLEUS: DeGroote2016 = DeGroote2016 {
        max_isometric_force: 3549.0,
        optimal_fiber_length: 0.05,
        tendon_slack_length: 0.25,
        pennation_angle: 0.43,
        max_contraction_velocity: 10.0,
        damping: 0.01,
        tendon_stiffness: 35.0,
    };

    #[test]
    fn analytic_stiffness_of_the_tendon_leaves_its_force_at_slack_length() {
        // l̃_t = 1 where 5 (f + 0.25) = exp(35 · 0.005), whatever k is.
        let force = 0.2 * 0.175f64.exp() - 0.25;
        let lengths = [15.0, 35.0, 60.0].map(|k| {
            let m = DeGroote2016 { tendon_stiffness: k, ..SOLEUS };
            m.balance(0.5, force, 0.0, 0.3, 0.0).normalized_fiber_length
        });
        // Fibers span 0.05 m and have the width 0.05 sin 0.43.
        let expected = 1f64.hypot(0.43f64.sin());
        for l in lengths {
            assert!((l - expected).abs() < 1e-12, "{lengths:?}");
        }
    }

    /// v_t of (3) is the rate of l_s l̃_t of (1) along ḟ: fibers of a muscle without pennation then change length as the whole less the tendon.
    #[test]
    fn identity_fiber_velocity_is_the_rate_of_its_length() {
        for k in [20.0, 35.0] {
            let m = DeGroote2016 { tendon_stiffness: k, ..SOLEUS };
            let (f, rate, l, v) = (0.4, 1.7, 0.305, -0.08);
            let along = |x, d| Dual::<f64, 1>::new(x, [d]);
            let b = m.balance(along(0.3, 0.0), along(f, rate), along(0.0, 0.0), along(l, v), along(0.0, 0.0));
            let speed = m.balance(0.3, f, rate, l, v).fiber_velocity;
            let slope = b.normalized_fiber_length.d[0] * m.optimal_fiber_length;
            assert!((speed - slope).abs() < 1e-13 * speed.abs().max(1.0), "{speed} {slope}");
        }
    }

    #[test]
    fn deriv_balance() {
        let x = [0.3, 0.4, 1.7, 0.305, -0.08];
        let at = |x: [f64; 5]| SOLEUS.balance(x[0], x[1], x[2], x[3], x[4]).residual;
        for i in 0..5 {
            let d = |k: usize| Dual::<f64, 1>::new(x[k], [f64::from(u8::from(k == i))]);
            let slope = SOLEUS.balance(d(0), d(1), d(2), d(3), d(4)).residual.d[0];
            // Central difference: truncation ~h², roundoff ~ε/h; at h = ε^⅓ near 1e-9 for slopes up to 60.
            let h = f64::EPSILON.cbrt() * x[i].abs();
            let (mut a, mut b) = (x, x);
            a[i] += h;
            b[i] -= h;
            let fd = (at(a) - at(b)) / (2.0 * h);
            assert!((slope - fd).abs() < 1e-7 * slope.abs().max(1.0), "{i}: {slope} {fd}");
            assert_ne!(slope, fd);
        }
    }
}

//! The muscle of De Groote et al. (2016) as its authors use it for predicted walks (Falisse et al. 2019): the tendon force is a state.
//!
//! With f the tendon force over F_max, l_mt and v_mt length and speed of the whole:
//!
//!   l̃_t = ln(5 (f + 0.25 − s)) / k + 0.995                             (1)  tendon, s so that all k meet at l̃_t = 1
//!   l_m = √((l₀ sin α₀)² + (l_mt − l_s l̃_t)²),  cos α = (l_mt − l_s l̃_t) / l_m    (2)  constant width
//!   v_t = l_s ḟ / (0.2 k exp(k (l̃_t − 0.995))),  v_m = (v_mt − v_t) cos α          (3)
//!   f_a = a f_l(l̃_m) f_v(ṽ_m) + β ṽ_m,  f_p = (exp(4 (l̃_m − 1)/0.6) − 1 + p₁)/p₂    (4)
//!   0 = (f_a + f_p) cos α − f                                           (5)
//!
//! Damping β ṽ_m is part of the active force, so it counts as work of the contractile element. `DeGrooteFregly2016Muscle` of
//! OpenSim, and ours of that name, is another muscle: it has 1 and 0.2 for 0.995 and 0.25, and other curves of velocity, so that tendons carry
//! nothing at their slack length.
//!
//! Source: De Groote, Kinney, Rao & Fregly (2016), Ann Biomed Eng 44:2922, eqs. 1–7; constants and (3) as in the public code of Falisse et
//! al. (2019, 2022).

use soleus_math::Real;

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
pub struct DeGroote2016 {
    /// F_max, N.
    pub max_isometric_force: f64,
    /// l₀, m.
    pub optimal_fiber_length: f64,
    /// l_s, m.
    pub tendon_slack_length: f64,
    /// α₀, rad.
    pub pennation_angle: f64,
    /// v_max, l₀/s.
    pub max_contraction_velocity: f64,
    /// β.
    pub damping: f64,
    /// k.
    pub tendon_stiffness: f64,
}

/// What goes on in the muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance<T> {
    /// Right-hand side of (5): zero when fiber and tendon agree.
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

impl DeGroote2016 {
    /// The balance of forces at an activation, a normalised tendon force and its rate (1/s), and a length (m) and
    /// speed (m/s) of fiber and tendon together. Smooth for f > s − 0.25.
    pub fn balance<T: Real>(&self, activation: T, force: T, rate: T, length: T, speed: T) -> Balance<T> {
        let k = self.tendon_stiffness;
        let shift = 0.2 * ((TENDON_STIFFNESS * 0.005).exp() - (k * 0.005).exp());
        let lt_n = ((force + (0.25 - shift)) * 5.0).ln() / k + 0.995; // (1)
        let width = self.optimal_fiber_length * self.pennation_angle.sin();
        let along = length - lt_n * self.tendon_slack_length;
        let lm = (along.sq() + width * width).sqrt(); // (2)
        let cos_alpha = along / lm;
        let vt = rate * self.tendon_slack_length / (((lt_n - 0.995) * k).exp() * (0.2 * k)); // (3)
        let vm = (speed - vt) * cos_alpha;
        let lm_n = lm / self.optimal_fiber_length;
        let vm_n = vm / (self.max_contraction_velocity * self.optimal_fiber_length);
        let fl = ACTIVE.iter().fold(T::zero(), |sum, &[height, centre, wide, slope]| {
            let z = (lm_n - centre) / (lm_n * slope + wide);
            sum + (z.sq() * -0.5).exp() * height
        });
        let inner = vm_n * VELOCITY[1] + VELOCITY[2];
        let fv = (inner + (inner.sq() + 1.0).sqrt()).ln() * VELOCITY[0] + VELOCITY[3];
        let fa = activation * fl * fv + vm_n * self.damping; // (4)
        let fp = (((lm_n - 1.0) * (4.0 / 0.6)).exp() - 1.0 + PASSIVE[0]) / PASSIVE[1];
        Balance {
            residual: (fa + fp) * cos_alpha - force,
            normalized_fiber_length: lm_n,
            fiber_velocity: vm,
            active_force_length: fl,
            active_force: fa * self.max_isometric_force,
            passive_force: fp * self.max_isometric_force,
        }
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

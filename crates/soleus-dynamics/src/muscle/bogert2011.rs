//! The muscle of van den Bogert, Blana and Heinrich (2011), for implicit formulation, without singularities in
//! activation, velocity or pennation.

use super::activation::RateActivation;
use super::equilibrium::Equilibrium;
use super::error::MuscleError;
use super::hill::{Hill, hill_numbers, root};
use super::info::MuscleInfo;
use crate::constants::Constants;
use soleus_math::elementary;
use soleus_math::{Over, Real};
use soleus_model::muscle::{Bogert2011, Muscle};

/// A straight muscle is given this thickness, in units of l₀, so that cos φ stays defined at s = 0.
const LEAST_THICKNESS: f64 = 1e-4;

/// The compiled muscle of van den Bogert et al. (2011). States: activation a, and the fiber
/// length along the tendon s = l cos φ (m).
///
///   l = √(s² + w²),  cos φ = s/l,  w = l₀ sin α₀                                    (6)
///   [F₀ (a f_L(l) f_V(l̇) + f_P(l))] cos φ + F₀ β ṡ/(v_max l₀) = F₀ f_T(L − s)       (4)
///   ȧ = (e − a)(c₁ e + c₂)                                                           (7)
///
/// with l̇ = ṡ cos φ. Equation numbers are those of the paper. The damping β ṡ is an addition: with it (4) can be
/// solved for ṡ everywhere, so that the muscle can also be used with explicit integrators. The paper does not specify
/// the curves; here, with x = l/l₀, v = l̇/(v_max l₀), ε the tendon strain:
///
///   f_L = exp(−((x − 1)/W)²)
///   f_V = (1 + v)/(1 − v/A) for −1 < v ≤ 0, zero below; (f_max v + c)/(v + c) above,
///         c = A (f_max − 1)/(A + 1), so that the slope is continuous                 (Hill)
///   f_P = k (x − x_slack)² and f_T = (ε/ε₀)² where positive
#[derive(Clone, Debug, PartialEq)]
pub struct Bogert2011Muscle<P = f64> {
    activation: RateActivation<P>,
    f0: P,
    l0: P,
    ls: P,
    per_l0: P,
    v0: P,
    per_v0: P,
    width2: P,
    per_w2: P,
    hill: P,
    fmax: P,
    c: P,
    /// 1/(l_s ε₀).
    per_stretch: P,
    x_slack: P,
    k: P,
    beta: P,
    default_state: [f64; 2],
}

impl Bogert2011Muscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Bogert2011) -> Result<Bogert2011Muscle, MuscleError> {
        Bogert2011Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl<P: Real> Bogert2011Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Bogert2011,
        constant: &mut Constants<P>,
    ) -> Result<Bogert2011Muscle<P>, MuscleError> {
        let h = Hill::compile(m, &hill_numbers!(p), constant)?;
        let (l0, v0) = (h.l0, h.vmax * h.l0);
        let thickness = (l0 * h.alpha0.sin()).max(l0 * LEAST_THICKNESS);
        Ok(Bogert2011Muscle {
            activation: h.activation,
            f0: h.f0,
            l0,
            ls: h.ls,
            per_l0: l0.recip(),
            v0,
            per_v0: v0.recip(),
            width2: thickness * thickness,
            per_w2: h.per_w2,
            hill: h.hill,
            fmax: h.fmax,
            c: h.hill * (h.fmax - 1.0) / (h.hill + 1.0),
            per_stretch: h.stretch.recip(),
            x_slack: h.x_slack,
            k: h.k,
            beta: h.damping * h.vmax,
            default_state: [
                p.default_activation,
                m.optimal_fiber_length * elementary::cos(m.pennation_angle_at_optimal),
            ],
        })
    }

    /// l and cos φ of (6).
    #[inline(always)]
    fn fiber<T: Over<P>>(&self, s: T) -> (T, T) {
        let l = (s * s + self.width2).sqrt();
        (l, s / l)
    }

    #[inline(always)]
    fn active<T: Over<P>>(&self, x: T) -> T {
        let d = x - 1.0;
        (d * d * -self.per_w2).exp()
    }

    #[inline(always)]
    fn passive<T: Over<P>>(&self, x: T) -> T {
        let d = x - self.x_slack;
        T::zero().where_below(d, || d * d * self.k, T::zero)
    }

    #[inline(always)]
    fn tendon<T: Over<P>>(&self, lt: T) -> T {
        let d = (lt - self.ls) * self.per_stretch;
        T::zero().where_below(d, || d * d, T::zero)
    }

    #[inline(always)]
    fn force_velocity<T: Over<P>>(&self, v: T) -> T {
        let shortening = || (v + 1.0) / (v * (P::cst(-1.0) / self.hill) + 1.0);
        let lengthening = || (v * self.fmax + self.c) / (v + self.c);
        v.where_at_most(T::cst(-1.0), T::zero, || v.where_at_most(T::zero(), shortening, lengthening))
    }

    /// The force balance (4), left minus right side, in units of F₀: zero on a trajectory. Smooth in all arguments
    /// except for kinks of the curves, and never singular.
    #[inline]
    pub fn residual<T: Over<P>>(&self, L: T, a: T, s: T, sdot: T) -> T {
        let (l, cos) = self.fiber(s);
        let x = l * self.per_l0;
        let y = sdot * self.per_v0;
        let fv = self.force_velocity(y * cos);
        (a * self.active(x) * fv + self.passive(x)) * cos + y * self.beta - self.tendon(L - s)
    }

    /// Tension (N), with the dynamics as residuals: ȧ minus its rate, and the force balance (4).
    pub fn implicit<T: Over<P>>(&self, L: T, e: T, states: &[T], rates: &[T], r: &mut [T]) -> T {
        r[0] = rates[0] - self.activation.rate(states[0], e);
        r[1] = self.residual(L, states[0], states[1], rates[1]);
        self.tendon(L - states[1]) * self.f0
    }
}

impl Bogert2011Muscle {
    /// Default activation and s: the fiber at optimal length.
    pub fn default_states(&self) -> &[f64] {
        &self.default_state
    }

    /// ṡ/(v_max l₀) from A = a f_L cos φ, cos φ and the force R left for them and the damper:
    /// A f_V(y cos φ) + β y = R, a quadratic on each branch of f_V.
    #[inline]
    fn velocity<T: Real>(&self, A: T, cos: T, R: T) -> T {
        // A fiber past upright is the mirror image of one before.
        let sign = cos.where_below(T::zero(), || T::cst(-1.0), T::one);
        let (A, cos, R) = (A * sign, cos * sign, R * sign);
        let (beta, per_hill) = (self.beta, 1.0 / self.hill);
        let shortening = || {
            (R * cos).where_at_most(
                T::cst(-beta),
                || R * (1.0 / beta),
                || root(cos * (-beta * per_hill), (A + R * per_hill) * cos + beta, A - R),
            )
        };
        let lengthening = || root(cos * beta, (A * self.fmax - R) * cos + beta * self.c, (A - R) * self.c);
        sign * A.where_at_most(R, lengthening, shortening)
    }

    /// Tension (N); writes ȧ and ṡ.
    #[inline]
    pub fn dynamics<T: Real>(&self, L: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, s) = (states[0], states[1]);
        let (l, cos) = self.fiber(s);
        let x = l * self.per_l0;
        let ft = self.tendon(L - s);
        states_dot[0] = self.activation.rate(a, e);
        states_dot[1] = self.velocity(a * self.active(x) * cos, cos, ft - self.passive(x) * cos) * self.v0;
        ft * self.f0
    }

    /// Active force along the tendon (N) at full activation with a rigid tendon, F₀ f_L f_V cos φ with s = L − l_s: zero for a fiber that is
    /// upright or shortens faster than v_max.
    pub fn active_force_on_rigid_tendon(&self, L: f64, Ldot: f64) -> f64 {
        let s = L - self.ls;
        if !(s > 0.0) {
            return 0.0;
        }
        let (l, cos) = self.fiber(s);
        let fv = self.force_velocity(Ldot * cos * self.per_v0);
        (self.f0 * self.active(l * self.per_l0) * fv * cos).max(0.0)
    }

    /// All quantities of the muscle. The damper acts along the tendon and is reported projected on the fiber.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let mut dot = [T::zero(); 2];
        info.tendon_force = self.dynamics(L, e, states, &mut dot);
        let (a, s, sdot) = (states[0], states[1], dot[1]);
        let (l, cos) = self.fiber(s);
        let x = l * self.per_l0;
        let ldot = sdot * cos;
        info.activation = a;
        info.fiber_length = l;
        info.normalized_fiber_length = x;
        info.cos_pennation_angle = cos;
        info.pennation_angle = cos.acos();
        info.tendon_length = L - s;
        info.tendon_strain = info.tendon_length / self.ls - 1.0;
        info.fiber_velocity = ldot;
        info.normalized_fiber_velocity = ldot * self.per_v0;
        info.fiber_velocity_along_tendon = sdot;
        info.tendon_velocity = Ldot - sdot;
        info.pennation_angular_velocity = -(sdot * self.width2.sqrt()) / (l * l);
        info.active_force_length_multiplier = self.active(x);
        info.passive_force_multiplier = self.passive(x);
        info.force_velocity_multiplier = self.force_velocity(ldot * self.per_v0);
        info.active_fiber_force =
            a * info.active_force_length_multiplier * info.force_velocity_multiplier * self.f0;
        info.passive_fiber_elastic_force = info.passive_force_multiplier * self.f0;
        info.passive_fiber_damping_force = sdot * (self.beta * self.f0 * self.per_v0) / cos;
        info.passive_fiber_force = info.passive_fiber_elastic_force + info.passive_fiber_damping_force;
        info.fiber_force = info.active_fiber_force + info.passive_fiber_force;
        let d = info.tendon_length - self.ls;
        let stretched = if d.value() > 0.0 { d * self.per_stretch } else { T::zero() };
        info.tendon_stiffness = stretched * (2.0 * self.f0 * self.per_stretch);
        let dx = x - self.x_slack;
        let dx = if dx.value() > 0.0 { dx } else { T::zero() };
        let dfl = (x - 1.0) * info.active_force_length_multiplier * (-2.0 * self.per_w2);
        let dfm = a * info.force_velocity_multiplier * dfl + dx * (2.0 * self.k);
        info.fiber_stiffness = dfm * (self.f0 * self.per_l0);
        // d/ds of F cos φ, with dl/ds = cos φ and d(cos φ)/ds = sin² φ/l.
        let elastic = info.active_fiber_force + info.passive_fiber_elastic_force;
        info.fiber_stiffness_along_tendon =
            info.fiber_stiffness * cos * cos + elastic * (T::one() - cos * cos) / l;
        info.fiber_potential_energy = dx * dx * dx * (self.k * self.f0 * self.l0 / 3.0);
        info.tendon_potential_energy =
            stretched * stretched * stretched * (self.f0 / (3.0 * self.per_stretch));
        info.complete(false);
        info
    }

    /// Sets s to the equilibrium of fiber and tendon at rest, by bisection between s = 0, where the fiber has no force
    /// along the tendon, and the s at which the tendon becomes slack.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let r = |s: f64| self.residual(L, activation, s, 0.0);
        let (mut lo, mut hi) = (0.0, (L - self.ls).max(0.0));
        if !(r(lo) <= 0.0 && r(hi) >= 0.0) {
            let (residual, tolerance) = (r(hi) * self.f0, 0.0);
            let (length, iterations) = (L, 0);
            return Err(MuscleError::NoEquilibrium { length, activation, residual, tolerance, iterations });
        }
        let mut iterations = 0;
        while hi - lo > f64::EPSILON * self.l0 && iterations < 200 {
            let middle = 0.5 * (lo + hi);
            if r(middle) < 0.0 {
                lo = middle;
            } else {
                hi = middle;
            }
            iterations += 1;
        }
        states[0] = activation;
        states[1] = hi;
        let (tendon_force, residual) = (self.tendon(L - hi) * self.f0, r(hi) * self.f0);
        Ok(Equilibrium { tendon_force, residual, iterations, at_lower_bound: hi == 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;
    use soleus_model::muscle::MuscleKind;

    fn muscle(alpha0: f64) -> Bogert2011Muscle {
        let p = Bogert2011::default();
        let mut m = Muscle::new(MuscleKind::Bogert2011(p.clone()));
        m.pennation_angle_at_optimal = alpha0;
        Bogert2011Muscle::compile(&m, &p).unwrap()
    }

    /// The strength on a rigid tendon is the active force of a muscle whose fiber has this length and speed.
    #[test]
    fn identity_strength_is_the_active_force_of_the_fiber() {
        for m in [muscle(0.3), muscle(0.0)] {
            for s in [0.03, 0.08, 0.1, 0.14] {
                for L in [0.29, 0.3, 0.305] {
                    let info = m.info(L, 0.0, 1.0, &[1.0, s]);
                    let along = info.active_fiber_force * info.cos_pennation_angle;
                    let found = m.active_force_on_rigid_tendon(m.ls + s, info.fiber_velocity_along_tendon);
                    assert!((found - along.max(0.0)).abs() < 1e-9 * m.f0, "s {s} L {L}: {found} {along}");
                }
            }
            assert_eq!(m.active_force_on_rigid_tendon(0.9 * m.ls, 0.0), 0.0);
            assert_eq!(m.active_force_on_rigid_tendon(m.ls + 0.1, -1e3), 0.0);
        }
    }

    /// The explicit rate makes the implicit residual vanish, also at zero activation, at upright fibers and
    /// beyond, and at high speed.
    #[test]
    fn identity_explicit_and_implicit() {
        let m = muscle(0.3);
        for a in [0.0, 0.01, 0.5, 1.0] {
            for s in [-0.01, 0.0, 0.001, 0.05, 0.1, 0.17] {
                for L in [0.15, 0.25, 0.3, 0.32, 0.4] {
                    let mut dot = [0.0; 2];
                    m.dynamics(L, 0.3, &[a, s], &mut dot);
                    let r = m.residual(L, a, s, dot[1]);
                    // Forces reach 400 F₀ for a tendon of strain 0.8.
                    assert!(r.abs() < 1e-12 * (1.0 + m.tendon(L - s)), "a {a} s {s} L {L}: {r} {dot:?}");
                }
            }
        }
    }

    /// Rates, tension and residual: duals against central differences.
    #[test]
    fn deriv_dynamics_and_residual() {
        let m = muscle(0.3);
        type D = Dual<f64, 4>;
        fn all<T: Real>(m: &Bogert2011Muscle, z: [T; 4]) -> [T; 4] {
            let mut dot = [T::zero(); 2];
            let f = m.dynamics(z[0], z[1], &[z[2], z[3]], &mut dot);
            [f * 1e-3, dot[0], dot[1], m.residual(z[0], z[2], z[3], z[1])]
        }
        for z in [[0.3, 0.6, 0.4, 0.094], [0.308, 0.1, 0.4, 0.1], [0.3, 0.6, 0.4, 0.099]] {
            let dual = all(&m, std::array::from_fn(|i| D::variable(z[i], i)));
            for i in 0..4 {
                let h = 1e-7;
                let (mut hi, mut lo) = (z, z);
                hi[i] += h;
                lo[i] -= h;
                let (hi, lo, mid) = (all(&m, hi), all(&m, lo), all(&m, z));
                for k in 0..4 {
                    let fd = (hi[k] - lo[k]) / (2.0 * h);
                    // Roundoff ε f/h ~ 1e-8 and truncation h² f‴ with f‴ up to 1e6.
                    assert!(
                        (dual[k].d[i] - fd).abs() < 2e-6 * (1.0 + fd.abs()),
                        "{k} {i}: {} {fd}",
                        dual[k].d[i]
                    );
                    assert_eq!(dual[k].v.to_bits(), mid[k].to_bits());
                }
            }
        }
    }

    /// At the equilibrium nothing moves.
    #[test]
    fn identity_equilibrium_is_at_rest() {
        let m = muscle(0.2);
        for (L, a) in [(0.3, 0.5), (0.35, 0.05), (0.22, 1.0)] {
            let mut s = [0.0; 2];
            let found = m.solve_equilibrium(L, a, &mut s).unwrap();
            let mut dot = [0.0; 2];
            assert_eq!(m.dynamics(L, a, &s, &mut dot), found.tendon_force);
            assert_eq!(dot[0], 0.0);
            assert!(dot[1].abs() < 1e-10, "{dot:?}");
        }
    }
}

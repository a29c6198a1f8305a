//! The muscle of the DAS3 shoulder and arm model.

use super::activation::RateActivation;
use super::equilibrium::Equilibrium;
use super::error::{MuscleError, require};
use super::hill::{Hill, hill_numbers, root};
use super::info::MuscleInfo;
use crate::constants::Constants;
use soleus_math::{Over, Real};
use soleus_model::muscle::{Chadwick2009, Muscle};

/// Below this pennation angle at optimal length the muscle counts as straight, rad, as in DAS3.
const STRAIGHT_BELOW_RAD: f64 = 0.01;

/// The compiled muscle of DAS3. States: activation a, and the fiber length along the
/// tendon in units of l₀, s = l cos φ / l₀.
///
///   l = √(s² + b²),  cos φ = s/l,  b = sin α₀,  l̇ = ṡ cos φ;  l = s where α₀ < 0.01 rad        (1)
///   f_L = exp(−((l − 1)/w)²)                                                                    (2)
///   f_V = (v + l̇)/(v − l̇/A) for l̇ < 0,  (g l̇ + c)/(l̇ + c) else,  c = v A (g − 1)/(A + 1)       (3)
///   f_P = κ l₀/F₀ ε + k ε² (if ε > 0),  ε = l − l_slack                                            (4)
///   f_T = κ/F₀ d + d²/(u l_s)² (if d > 0),  d = L − s l₀ − l_s                                     (5)
///   f_T − (a f_L f_V + f_P) cos φ − β ṡ = 0                                                     (6)
///   ȧ = (e/τ_act + (1 − e)/τ_deact)(e − a)                                                      (7)
///
/// with v the maximum shortening velocity (l₀/s), A Hill's constant, g the maximum lengthening force and κ a stiffness
/// (N/m) that keeps (6) solvable if all elements are slack. Beyond v the branch of (3) continues to negative force. The
/// tension is F₀ f_T.
///
/// Source: Chadwick, Blana, van den Bogert and Kirsch (2009); the laws and numbers of release 2 (2015).
#[derive(Clone, Debug, PartialEq)]
pub struct Chadwick2009Muscle<P = f64> {
    activation: RateActivation<P>,
    f0: P,
    l0: P,
    ls: P,
    vmax: P,
    /// b², zero for a straight muscle.
    b2: P,
    per_w2: P,
    per_hill: P,
    fmax: P,
    c: P,
    x_slack: P,
    k: P,
    /// κ l₀/F₀.
    parallel_floor: P,
    /// κ/F₀, 1/m.
    tendon_floor: P,
    /// 1/(u l_s)², 1/m².
    per_stretch2: P,
    beta: P,
    default_state: [f64; 2],
}

impl Chadwick2009Muscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Chadwick2009) -> Result<Chadwick2009Muscle, MuscleError> {
        Chadwick2009Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl<P: Real> Chadwick2009Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Chadwick2009,
        constant: &mut Constants<P>,
    ) -> Result<Chadwick2009Muscle<P>, MuscleError> {
        let floor = p.linear_stiffness;
        require("linear_stiffness", floor, floor > 0.0, "greater than zero")?;
        let h = Hill::compile(m, &hill_numbers!(p), constant)?;
        let b = if h.alpha0.value() < STRAIGHT_BELOW_RAD { P::zero() } else { h.alpha0.sin() };
        let floor = constant("linear_stiffness", floor);
        Ok(Chadwick2009Muscle {
            activation: h.activation,
            f0: h.f0,
            l0: h.l0,
            ls: h.ls,
            vmax: h.vmax,
            b2: b * b,
            per_w2: h.per_w2,
            per_hill: h.hill.recip(),
            fmax: h.fmax,
            c: h.vmax * h.hill * (h.fmax - 1.0) / (h.hill + 1.0),
            x_slack: h.x_slack,
            k: h.k,
            parallel_floor: floor * h.l0 / h.f0,
            tendon_floor: floor / h.f0,
            per_stretch2: (h.stretch * h.stretch).recip(),
            beta: h.damping,
            default_state: [p.default_activation, (P::one() - b * b).sqrt().value()],
        })
    }

    /// l and cos φ, (1).
    #[inline(always)]
    fn fiber<T: Over<P>>(&self, s: T) -> (T, T) {
        if self.b2.value() == 0.0 {
            return (s, T::one());
        }
        let l = (s * s + self.b2).sqrt();
        (l, s / l)
    }

    /// (2).
    #[inline(always)]
    fn active<T: Over<P>>(&self, l: T) -> T {
        let d = l - 1.0;
        (d * d * -self.per_w2).exp()
    }

    /// (4).
    #[inline(always)]
    fn passive<T: Over<P>>(&self, l: T) -> T {
        let e = l - self.x_slack;
        let f = e * self.parallel_floor;
        T::zero().where_below(e, || f + e * e * self.k, || f)
    }

    /// (5), of the tendon's length.
    #[inline(always)]
    fn tendon<T: Over<P>>(&self, lt: T) -> T {
        let d = lt - self.ls;
        let f = d * self.tendon_floor;
        T::zero().where_below(d, || f + d * d * self.per_stretch2, || f)
    }

    /// (3).
    #[inline(always)]
    fn force_velocity<T: Over<P>>(&self, ldot: T) -> T {
        ldot.where_below(
            T::zero(),
            || (ldot + self.vmax) / (ldot * -self.per_hill + self.vmax),
            || (ldot * self.fmax + self.c) / (ldot + self.c),
        )
    }

    /// Left side of (6), in units of F₀, and f_T.
    #[inline]
    pub fn balance<T: Over<P>>(&self, L: T, a: T, s: T, sdot: T) -> (T, T) {
        let (l, cos) = self.fiber(s);
        let ft = self.tendon(L - s * self.l0);
        let fv = self.force_velocity(sdot * cos);
        (ft - (a * self.active(l) * fv + self.passive(l)) * cos - sdot * self.beta, ft)
    }

    /// Tension (N), with the dynamics as residuals: ȧ minus its rate (7), and the force balance (6).
    #[inline]
    pub fn implicit<T: Over<P>>(&self, L: T, e: T, states: &[T], rates: &[T], r: &mut [T]) -> T {
        r[0] = rates[0] - self.activation.rate(states[0], e);
        let (balance, ft) = self.balance(L, states[0], states[1], rates[1]);
        r[1] = balance;
        ft * self.f0
    }
}

impl Chadwick2009Muscle {
    /// Default activation and s: the fiber at optimal length.
    pub fn default_states(&self) -> &[f64] {
        &self.default_state
    }

    /// ṡ from G = a f_L cos φ, cos φ and the force R left for them and the damper, G f_V(ṡ cos φ) + β ṡ = R:
    /// a quadratic on each branch of f_V.
    #[inline]
    fn velocity<T: Real>(&self, G: T, cos: T, R: T) -> T {
        // A fiber past upright is the mirror image of one before.
        let sign = cos.where_below(T::zero(), || T::cst(-1.0), T::one);
        let (G, cos, R) = (G * sign, cos * sign, R * sign);
        let h = self.per_hill;
        sign * G.where_at_most(
            R,
            || root(cos * self.beta, (G * self.fmax - R) * cos + self.beta * self.c, (G - R) * self.c),
            || root(cos * (-self.beta * h), (G + R * h) * cos + self.beta * self.vmax, (G - R) * self.vmax),
        )
    }

    /// Active force along the tendon (N) at full activation with a rigid tendon, F₀ f_L f_V cos φ with s l₀ = L − l_s: zero for a fiber that is
    /// upright or shortens faster than v.
    pub fn active_force_on_rigid_tendon(&self, L: f64, Ldot: f64) -> f64 {
        let (s, sdot) = ((L - self.ls) / self.l0, Ldot / self.l0);
        if !(s > 0.0) {
            return 0.0;
        }
        let (l, cos) = self.fiber(s);
        (self.f0 * self.active(l) * self.force_velocity(sdot * cos) * cos).max(0.0)
    }

    /// Tension (N); writes ȧ and ṡ.
    #[inline]
    pub fn dynamics<T: Real>(&self, L: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, s) = (states[0], states[1]);
        let (l, cos) = self.fiber(s);
        let ft = self.tendon(L - s * self.l0);
        states_dot[0] = self.activation.rate(a, e);
        states_dot[1] = self.velocity(a * self.active(l) * cos, cos, ft - self.passive(l) * cos);
        ft * self.f0
    }

    /// All quantities of the muscle. The damper acts along the tendon and is reported projected on the fiber.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let mut dot = [T::zero(); 2];
        info.tendon_force = self.dynamics(L, e, states, &mut dot);
        let (a, s, sdot) = (states[0], states[1], dot[1]);
        let (l, cos) = self.fiber(s);
        let ldot = sdot * cos;
        info.activation = a;
        info.fiber_length = l * self.l0;
        info.normalized_fiber_length = l;
        info.cos_pennation_angle = cos;
        info.pennation_angle = cos.acos();
        info.tendon_length = L - s * self.l0;
        info.tendon_strain = info.tendon_length / self.ls - 1.0;
        info.fiber_velocity = ldot * self.l0;
        info.normalized_fiber_velocity = ldot / self.vmax;
        info.fiber_velocity_along_tendon = sdot * self.l0;
        info.tendon_velocity = Ldot - sdot * self.l0;
        info.pennation_angular_velocity = -(sdot * self.b2.sqrt()) / (l * l);
        info.active_force_length_multiplier = self.active(l);
        info.passive_force_multiplier = self.passive(l);
        info.force_velocity_multiplier = self.force_velocity(ldot);
        info.active_fiber_force =
            a * info.active_force_length_multiplier * info.force_velocity_multiplier * self.f0;
        info.passive_fiber_elastic_force = info.passive_force_multiplier * self.f0;
        info.passive_fiber_damping_force = sdot * (self.beta * self.f0) / cos;
        info.passive_fiber_force = info.passive_fiber_elastic_force + info.passive_fiber_damping_force;
        info.fiber_force = info.active_fiber_force + info.passive_fiber_force;
        let above = |x: T| if x.value() > 0.0 { x } else { T::zero() };
        let (d, ep) = (info.tendon_length - self.ls, l - self.x_slack);
        info.tendon_stiffness = (above(d) * (2.0 * self.per_stretch2) + self.tendon_floor) * self.f0;
        let dfl = (l - 1.0) * info.active_force_length_multiplier * (-2.0 * self.per_w2);
        let dfm = a * info.force_velocity_multiplier * dfl + above(ep) * (2.0 * self.k) + self.parallel_floor;
        info.fiber_stiffness = dfm * (self.f0 / self.l0);
        // d/ds of F cos φ, with dl/ds = cos φ and d(cos φ)/ds = sin² φ/l.
        let elastic = info.active_fiber_force + info.passive_fiber_elastic_force;
        info.fiber_stiffness_along_tendon =
            info.fiber_stiffness * cos * cos + elastic * (T::one() - cos * cos) / (l * self.l0);
        let energy =
            |x: T, square: f64, floor: f64| above(x) * x * x * (square / 3.0) + x * x * (0.5 * floor);
        info.fiber_potential_energy = energy(ep, self.k, self.parallel_floor) * (self.f0 * self.l0);
        info.tendon_potential_energy = energy(d, self.per_stretch2, self.tendon_floor) * self.f0;
        info.complete(false);
        info
    }

    /// Sets s to the equilibrium of fiber and tendon at rest, by bisection: f_T decreases without bound as s increases
    /// and the passive force rises, so there is always a solution.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let r = |s: f64| self.balance(L, activation, s, 0.0).0;
        let none = |residual: f64| {
            let (length, tolerance, iterations) = (L, 0.0, 0);
            MuscleError::NoEquilibrium {
                length,
                activation,
                residual: residual * self.f0,
                tolerance,
                iterations,
            }
        };
        // From an upright fiber outwards until the sign changes.
        let (mut lo, mut hi, mut width) = (0.0, 0.5, 0.5);
        while !(r(hi) <= 0.0) {
            (hi, width) = (hi + width, 2.0 * width);
            if !(hi < 1e6) {
                return Err(none(r(hi)));
            }
        }
        width = 0.5;
        while !(r(lo) >= 0.0) {
            (lo, width) = (lo - width, 2.0 * width);
            if !(lo > -1e6) {
                return Err(none(r(lo)));
            }
        }
        let mut iterations = 0;
        while hi - lo > f64::EPSILON && iterations < 200 {
            let middle = 0.5 * (lo + hi);
            if r(middle) > 0.0 {
                lo = middle;
            } else {
                hi = middle;
            }
            iterations += 1;
        }
        states[0] = activation;
        states[1] = hi;
        let (residual, ft) = self.balance(L, activation, hi, 0.0);
        let (tendon_force, residual) = (ft * self.f0, residual * self.f0);
        Ok(Equilibrium { tendon_force, residual, iterations, at_lower_bound: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Dual;
    use soleus_model::muscle::MuscleKind;

    fn muscle(alpha0: f64) -> Chadwick2009Muscle {
        let p = Chadwick2009::default();
        let mut m = Muscle::new(MuscleKind::Chadwick2009(p.clone()));
        m.pennation_angle_at_optimal = alpha0;
        Chadwick2009Muscle::compile(&m, &p).unwrap()
    }

    /// The explicit rate makes the force balance vanish, also at zero activation, at upright fibers and
    /// beyond, and at high speed.
    #[test]
    fn identity_explicit_and_implicit() {
        for m in [muscle(0.3), muscle(0.0)] {
            for a in [0.0, 0.01, 0.5, 1.0] {
                for s in [-0.1, 0.0, 0.01, 0.5, 1.0, 1.7] {
                    for L in [0.15, 0.25, 0.3, 0.32, 0.4] {
                        let mut dot = [0.0; 2];
                        m.dynamics(L, 0.3, &[a, s], &mut dot);
                        let (r, ft) = m.balance(L, a, s, dot[1]);
                        // Forces reach hundreds of F₀ where the tendon is stretched to twice its length.
                        assert!(r.abs() < 1e-12 * (1.0 + ft.abs()), "a {a} s {s} L {L}: {r} {dot:?}");
                    }
                }
            }
        }
    }

    /// The strength on a rigid tendon is the active force of a muscle whose fiber has this length and speed.
    #[test]
    fn identity_strength_is_the_active_force_of_the_fiber() {
        for m in [muscle(0.3), muscle(0.0)] {
            for s in [0.3, 0.8, 1.0, 1.4] {
                for L in [0.29, 0.3, 0.305] {
                    let info = m.info(L, 0.0, 1.0, &[1.0, s]);
                    let along = info.active_fiber_force * info.cos_pennation_angle;
                    let speed = info.fiber_velocity_along_tendon;
                    let found = m.active_force_on_rigid_tendon(m.ls + s * m.l0, speed);
                    assert!((found - along.max(0.0)).abs() < 1e-9 * m.f0, "s {s} L {L}: {found} {along}");
                }
            }
            assert_eq!(m.active_force_on_rigid_tendon(0.9 * m.ls, 0.0), 0.0);
            assert_eq!(m.active_force_on_rigid_tendon(m.ls + m.l0, -1e3), 0.0);
        }
    }

    /// At full stretch of 4 % the tendon pulls with F₀ besides its linear part; so does the parallel element at 1 + w.
    #[test]
    fn analytic_elastic_elements() {
        let m = muscle(0.0);
        assert!((m.tendon(0.2 * 1.04) - (1.0 + 10.0 * 0.008 / 1000.0)).abs() < 1e-14);
        assert!((m.passive(1.56_f64) - (1.0 + 10.0 * 0.056 / 1000.0)).abs() < 1e-14);
        assert!((m.force_velocity(-10.0_f64)).abs() < 1e-15);
        assert_eq!(m.force_velocity(0.0), 1.0);
        assert_eq!(m.active(1.0), 1.0);
    }

    /// Rates, tension and residuals: duals against central differences.
    #[test]
    fn deriv_dynamics_and_residual() {
        type D = Dual<f64, 4>;
        fn all<T: Real>(m: &Chadwick2009Muscle, z: [T; 4]) -> [T; 4] {
            let mut dot = [T::zero(); 2];
            let f = m.dynamics(z[0], z[1], &[z[2], z[3]], &mut dot);
            [f * 1e-3, dot[0], dot[1] * 0.1, m.balance(z[0], z[2], z[3], z[1]).0]
        }
        for m in [muscle(0.3), muscle(0.0)] {
            for z in [
                [0.3, 0.6, 0.4, 0.94],
                [0.308, 0.1, 0.4, 1.02],
                [0.3, -0.6, 0.4, 0.99],
                [0.306, 0.2, 0.0, 1.03],
            ] {
                let dual = all(&m, std::array::from_fn(|i| D::variable(z[i], i)));
                for i in 0..4 {
                    let h = 1e-7;
                    let (mut hi, mut lo) = (z, z);
                    hi[i] += h;
                    lo[i] -= h;
                    let (hi, lo, mid) = (all(&m, hi), all(&m, lo), all(&m, z));
                    for k in 0..4 {
                        let fd = (hi[k] - lo[k]) / (2.0 * h);
                        // Roundoff ε f/h ~ 1e-8, truncation h² f‴ with f‴ up to 1e8 near zero activation.
                        let d = dual[k].d[i];
                        assert!((d - fd).abs() < 5e-6 * (1.0 + fd.abs()), "{z:?} {k} {i}: {d} {fd}");
                        assert_eq!(dual[k].v.to_bits(), mid[k].to_bits());
                    }
                }
            }
        }
    }

    /// At the equilibrium nothing moves.
    #[test]
    fn identity_equilibrium_is_at_rest() {
        let m = muscle(0.2);
        for (L, a) in [(0.3, 0.5), (0.35, 0.05), (0.22, 1.0), (0.1, 0.0)] {
            let mut s = [0.0; 2];
            let found = m.solve_equilibrium(L, a, &mut s).unwrap();
            let mut dot = [0.0; 2];
            assert_eq!(m.dynamics(L, a, &s, &mut dot), found.tendon_force);
            assert_eq!(dot[0], 0.0);
            assert!(dot[1].abs() < 1e-9, "{dot:?}");
        }
        assert!(m.solve_equilibrium(f64::NAN, 0.5, &mut [0.0; 2]).is_err());
    }
}

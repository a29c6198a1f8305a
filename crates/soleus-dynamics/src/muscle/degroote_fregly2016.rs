//! De Groote and Fregly's muscle (2016): smooth closed-form curves for optimal control.

use super::activation::SmoothActivation;
use super::equilibrium::Equilibrium;
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use super::pennation::SIGNIFICANT;
use crate::constants::Constants;
use soleus_math::elementary;
use soleus_math::{Over, Real};
use soleus_model::muscle::{DeGrooteFregly2016, Muscle, TendonDynamicsMode};

/// Height, center, width and skew of the three bells of the active force–length curve. The paper's values,
/// with the height of the first adjusted by OpenSim so that the sum is 1 at optimal length.
const BELLS: [[f64; 4]; 3] = [
    [0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465],
    [0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188],
    [0.1, 1.0, 0.353553390593274, 0.0],
];
/// d₁…d₄ of the force–velocity curve; d₁ and d₄ adjusted by OpenSim so that f_V(−1) = 0 and f_V(0) = 1.
const D: [f64; 4] = [-0.3211346127989808, -8.149, -0.374, 0.8825327733249912];
/// c₁ and c₃ of the tendon curve; c₂ = 1.
const C1: f64 = 0.2;
const C3: f64 = 0.2;
/// Argument of the hyperbolic sine in the inverse of (3) where its bounded form goes on along the tangent: 180 v_max, far
/// beyond what fibers do, and far below what overflows.
const STEEPEST: f64 = 8.0;
/// Bounds of the fiber in the same form, which matter where the path is as short as its tendon: φ is 90° there, and a fiber
/// without pennation has no length. No muscle works at a cosine (89.4°) or a share of l₀ like these.
const LEAST_COS: f64 = 1e-2;
const LEAST_LENGTH: f64 = 1e-3;
/// Exponent of the passive curve.
const KPE: f64 = 4.0;
/// Normalized fiber length where the passive force is zero.
const PASSIVE_ZERO: f64 = 0.2;
/// Largest normalized tendon force an equilibrium is looked for.
const MAX_TENDON_FORCE: f64 = 5.0;

/// A compiled DeGrooteFregly2016Muscle.
///
/// States: activation, unless activation dynamics are ignored; normalized tendon force F̃, unless the tendon is
/// rigid. With x = l/l₀, t = l_t/l_s, v = l̇/(v_max l₀):
///
///   f_L = Σ b₁ exp(−½ (x′ − b₂)²/(b₃ + b₄ x′)²),  x′ = (x − 1)/s + 1           (1)
///   f_P = (exp(4(x − 1)/ε₀) − o)/(e⁴ − o),  o = exp(4(0.2 − 1)/ε₀)             (2)
///   f_V = d₁ ln(w + √(w² + 1)) + d₄,  w = d₂ v + d₃                             (3)
///   f_T = 0.2 exp(k_T (t − 1)) − 0.2,  k_T = ln 6/ε_T                            (4)
///   l cos φ = L − l_s t,  l² = (l cos φ)² + (l₀ sin α₀)²                          (5)
///
/// In explicit tendon dynamics v is computed from f_V = (F̃/cos φ − f_P)/(a f_L); fiber damping is ignored there, as in
/// OpenSim, although it is part of the reported fiber force. Lengths, activations and forces are not clamped and may
/// leave their usual range smoothly.
///
/// Source: De Groote, Kinney, Rao and Fregly (2016) and its supplement; OpenSim's class of the same name, except that
/// each muscle has its own time constants (OpenSim uses those of the first muscle for all).
#[derive(Clone, Debug, PartialEq)]
pub struct DeGrooteFregly2016Muscle<P = f64> {
    activation: SmoothActivation<P>,
    has_activation: bool,
    rigid: bool,
    implicit: bool,
    f0: P,
    l0: P,
    ls: P,
    per_l0: P,
    per_ls: P,
    v0: P,
    per_v0: P,
    /// l₀ sin α₀ and its square.
    width: P,
    width2: P,
    per_scale: P,
    /// 4/ε₀, o and 1/(e⁴ − o); zero slope when the passive force is ignored.
    kpas: P,
    offset: P,
    per_epas: P,
    kt: P,
    beta: P,
    default_state: Vec<f64>,
}

struct Position<T> {
    t: T,
    along: T,
    l: T,
    x: T,
    cos: T,
    sin: T,
    fl: T,
    fp: T,
}

impl DeGrooteFregly2016Muscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &DeGrooteFregly2016) -> Result<DeGrooteFregly2016Muscle, MuscleError> {
        DeGrooteFregly2016Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl<P: Real> DeGrooteFregly2016Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &DeGrooteFregly2016,
        constant: &mut Constants<P>,
    ) -> Result<DeGrooteFregly2016Muscle<P>, MuscleError> {
        let e0 = p.passive_fiber_strain_at_one_norm_force;
        let et = p.tendon_strain_at_one_norm_force;
        let positive = [
            ("max_isometric_force", m.max_isometric_force),
            ("optimal_fiber_length", m.optimal_fiber_length),
            ("max_contraction_velocity", m.max_contraction_velocity),
            ("default_activation", p.default_activation),
            ("passive_fiber_strain_at_one_norm_force", e0),
            ("tendon_strain_at_one_norm_force", et),
        ];
        for (name, value) in positive {
            require(name, value, value > 0.0, "greater than zero")?;
        }
        // A rigid tendon may have no length at all.
        let ls = m.tendon_slack_length;
        if m.ignore_tendon_compliance {
            require("tendon_slack_length", ls, ls >= 0.0, "at least zero")?;
        } else {
            require("tendon_slack_length", ls, ls > 0.0, "greater than zero, unless the tendon is rigid")?;
        }
        let alpha0 = m.pennation_angle_at_optimal;
        let ok = (0.0..=std::f64::consts::FRAC_PI_2 - SIGNIFICANT).contains(&alpha0);
        require("pennation_angle_at_optimal", alpha0, ok, "in [0, π/2)")?;
        let (scale, beta, f) =
            (p.active_force_width_scale, p.fiber_damping, p.default_normalized_tendon_force);
        require("active_force_width_scale", scale, scale >= 1.0, "at least 1")?;
        require("fiber_damping", beta, beta >= 0.0, "at least zero")?;
        let ok = (0.0..=MAX_TENDON_FORCE).contains(&f);
        require("default_normalized_tendon_force", f, ok, "in [0, 5]")?;
        let has_activation = !m.ignore_activation_dynamics;
        let rigid = m.ignore_tendon_compliance;
        let mut default_state = Vec::new();
        if has_activation {
            default_state.push(p.default_activation);
        }
        if !rigid {
            default_state.push(f);
        }
        let l0 = constant("optimal_fiber_length", m.optimal_fiber_length);
        let ls = constant("tendon_slack_length", ls);
        let v0 = constant("max_contraction_velocity", m.max_contraction_velocity) * l0;
        let width = l0 * constant("pennation_angle_at_optimal", alpha0).sin();
        let e0 = constant("passive_fiber_strain_at_one_norm_force", e0);
        let offset = (P::cst(KPE * (PASSIVE_ZERO - 1.0)) / e0).exp();
        let passive = if p.ignore_passive_fiber_force { 0.0 } else { 1.0 };
        Ok(DeGrooteFregly2016Muscle {
            activation: SmoothActivation::new(
                constant("activation_time_constant", p.activation_time_constant),
                constant("deactivation_time_constant", p.deactivation_time_constant),
                constant("activation_dynamics_smoothing", p.activation_dynamics_smoothing),
            )?,
            has_activation,
            rigid,
            implicit: p.tendon_compliance_dynamics_mode == TendonDynamicsMode::Implicit,
            f0: constant("max_isometric_force", m.max_isometric_force),
            l0,
            ls,
            per_l0: l0.recip(),
            per_ls: ls.recip(),
            v0,
            per_v0: v0.recip(),
            width,
            width2: width * width,
            per_scale: constant("active_force_width_scale", scale).recip(),
            kpas: P::cst(KPE) / e0,
            offset,
            per_epas: P::cst(passive) / (P::cst(elementary::exp(KPE)) - offset),
            kt: P::cst(elementary::ln((1.0 + C3) / C1)) / constant("tendon_strain_at_one_norm_force", et),
            beta: constant("fiber_damping", beta),
            default_state,
        })
    }

    /// (1).
    #[inline]
    pub fn active_force_length<T: Over<P>>(&self, x: T) -> T {
        let x = (x - 1.0) * self.per_scale + 1.0;
        let [first, second, third] = BELLS.map(|[b1, b2, b3, b4]| {
            let r = (x - b2) / (x * b4 + b3);
            (r * r * -0.5).exp() * b1
        });
        first + second + third
    }

    /// (2).
    #[inline(always)]
    pub fn passive_force_length<T: Over<P>>(&self, x: T) -> T {
        (((x - 1.0) * self.kpas).exp() - self.offset) * self.per_epas
    }

    /// (4).
    #[inline(always)]
    pub fn tendon_force<T: Over<P>>(&self, t: T) -> T {
        ((t - 1.0) * self.kt).exp() * C1 - C3
    }

    /// The normalized tendon length where (4) is F̃ > −0.2.
    #[inline(always)]
    pub fn tendon_length<T: Over<P>>(&self, f: T) -> T {
        ((f + C3) * (1.0 / C1)).ln() * self.kt.recip() + 1.0
    }

    /// Slope of (4) where it is F̃: k_T (F̃ + 0.2).
    #[inline(always)]
    fn tendon_slope<T: Over<P>>(&self, f: T) -> T {
        (f + C3) * self.kt
    }

    #[inline(always)]
    fn split<'a, T: Over<P>>(&self, e: T, states: &'a [T]) -> (T, &'a [T]) {
        if self.has_activation { (states[0], &states[1..]) } else { (e, states) }
    }

    #[inline(always)]
    fn position<T: Over<P>>(&self, L: T, t: T) -> Position<T> {
        let along = L - t * self.ls;
        self.position_at(t, along, (along * along + self.width2).sqrt())
    }

    /// The same with a fiber of at least [`LEAST_LENGTH`].
    #[inline(always)]
    fn bounded_position<T: Over<P>>(&self, L: T, t: T) -> Position<T> {
        let along = L - t * self.ls;
        let least = (self.l0 * LEAST_LENGTH).sq();
        self.position_at(t, along, Real::max(along * along + self.width2, T::lift(least)).sqrt())
    }

    #[inline(always)]
    fn position_at<T: Over<P>>(&self, t: T, along: T, l: T) -> Position<T> {
        let per_l = l.recip();
        let x = l * self.per_l0;
        Position {
            t,
            along,
            l,
            x,
            cos: along * per_l,
            sin: per_l * self.width,
            fl: self.active_force_length(x),
            fp: self.passive_force_length(x),
        }
    }

    /// Fiber force in units of F₀.
    #[inline(always)]
    fn fiber_force<T: Over<P>>(&self, a: T, p: &Position<T>, v: T, fv: T) -> T {
        a * p.fl * fv + p.fp + v * self.beta
    }

    /// The force balance F̃ − F̃ᴹ cos φ for tendon force F̃ and its rate, 1/s: zero on a trajectory. It has no
    /// singularity in a, unlike the explicit form.
    pub fn residual<T: Over<P>>(&self, L: T, Ldot: T, a: T, f: T, fdot: T) -> T {
        let p = self.position(L, self.tendon_length(f));
        let v = (Ldot - fdot / self.tendon_slope(f) * self.ls) * p.cos * self.per_v0;
        f - self.fiber_force(a, &p, v, DeGrooteFregly2016Muscle::force_velocity(v)) * p.cos
    }

    /// Tension (N), with the dynamics as residuals: ȧ minus its rate, and the force balance of an elastic tendon.
    pub fn implicit<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], rates: &[T], r: &mut [T]) -> T {
        let (a, rest) = self.split(e, states);
        let k = usize::from(self.has_activation);
        if self.has_activation {
            r[0] = rates[0] - self.activation.rate(a, e);
        }
        if self.rigid {
            return self.dynamics(L, Ldot, e, states, &mut [T::zero(); 2][..k]);
        }
        r[k] = self.residual(L, Ldot, a, rest[0], rates[k]);
        rest[0] * self.f0
    }

    /// Tension (N); writes the rates of the states. Tendon dynamics are explicit here in either mode; for implicit
    /// dynamics see [`residual`](Self::residual).
    #[inline]
    pub fn dynamics<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        self.dynamics_of(L, Ldot, e, states, states_dot, None)
    }

    /// The same with bounds on the explicit form, which divides by a f_L and cos φ and has an exponential of the result: rates
    /// of a slack muscle, or of one that is shorter than its tendon, are beyond all numbers and grow with its force. a f_L is at
    /// least `least`, which changes the force at which a muscle rests by at most `least` F₀, and f_V (3) is linear beyond
    /// 180 v_max. Where the path is as short as its tendon, cos φ changes its sign: 1/cos φ goes through zero between
    /// cosines of ∓0.01, and fibers keep a length of 1e-3 l₀.
    pub fn bounded_dynamics<T: Over<P>>(
        &self,
        L: T,
        Ldot: T,
        e: T,
        states: &[T],
        states_dot: &mut [T],
        least: f64,
    ) -> T {
        self.dynamics_of(L, Ldot, e, states, states_dot, Some(least))
    }

    #[inline(always)]
    fn dynamics_of<T: Over<P>>(
        &self,
        L: T,
        Ldot: T,
        e: T,
        states: &[T],
        states_dot: &mut [T],
        least: Option<f64>,
    ) -> T {
        let (a, rest) = self.split(e, states);
        if self.has_activation {
            states_dot[0] = self.activation.rate(a, e);
        }
        if self.rigid {
            let p = self.position(L, T::one());
            let v = Ldot * p.cos * self.per_v0;
            return self.fiber_force(a, &p, v, DeGrooteFregly2016Muscle::force_velocity(v)) * p.cos * self.f0;
        }
        let f = rest[0];
        let t = self.tendon_length(f);
        let ltdot = match least {
            None => {
                let p = self.position(L, t);
                let v = DeGrooteFregly2016Muscle::velocity((f / p.cos - p.fp) / (a * p.fl));
                Ldot - v * self.v0 / p.cos
            }
            Some(least) => {
                let p = self.bounded_position(L, t);
                let over_cos = bounded_division(p.cos);
                let load = over_cos(f) - p.fp;
                let gain = Real::max(a * p.fl, T::cst(least));
                Ldot - over_cos(DeGrooteFregly2016Muscle::bounded_velocity(load / gain) * self.v0)
            }
        };
        states_dot[usize::from(self.has_activation)] = ltdot * self.per_ls * self.tendon_slope(f);
        f * self.f0
    }
}

/// Division by a cosine c; below [`LEAST_COS`] = b multiplication by c (2 − c²/b²)/b², which has the same value and slope at
/// ±b.
#[inline(always)]
fn bounded_division<T: Real>(cos: T) -> impl Fn(T) -> T {
    const PER: f64 = 1.0 / LEAST_COS;
    let n = cos * PER;
    let inside = n * (T::cst(2.0) - n * n) * PER;
    move |x| Real::abs(cos).select_below(T::cst(LEAST_COS), x * inside, x / cos)
}

impl DeGrooteFregly2016Muscle {
    /// Names of the states, in order.
    pub fn state_names(&self) -> &'static [&'static str] {
        match (self.has_activation, self.rigid) {
            (true, true) => &["activation"],
            (true, false) => &["activation", "normalized_tendon_force"],
            (false, true) => &[],
            (false, false) => &["normalized_tendon_force"],
        }
    }

    /// Default states.
    pub fn default_states(&self) -> &[f64] {
        &self.default_state
    }

    /// Whether the model specifies implicit tendon dynamics.
    pub fn wants_implicit(&self) -> bool {
        self.implicit && !self.rigid
    }

    /// Slope of (1).
    fn active_slope<T: Real>(&self, x: T) -> T {
        let x = (x - 1.0) * self.per_scale + 1.0;
        let [first, second, third] = BELLS.map(|[b1, b2, b3, b4]| {
            let w = x * b4 + b3;
            let r = (x - b2) / w;
            -((r * r * -0.5).exp() * (b1 * (b3 + b2 * b4)) * r / (w * w))
        });
        (first + second + third) * self.per_scale
    }

    /// (3).
    #[inline(always)]
    pub fn force_velocity<T: Real>(v: T) -> T {
        let w = v * D[1] + D[2];
        (w + (w * w + 1.0).sqrt()).ln() * D[0] + D[3]
    }

    /// The velocity where (3) is f_V.
    #[inline(always)]
    pub fn velocity<T: Real>(fv: T) -> T {
        (((fv - D[3]) * (1.0 / D[0])).sinh() - D[2]) / D[1]
    }

    /// The same, continued along its tangent where sinh is of more than [`STEEPEST`].
    fn bounded_velocity<T: Real>(fv: T) -> T {
        let w = (fv - D[3]) * (1.0 / D[0]);
        let inside = Real::max(Real::min(w, T::cst(STEEPEST)), T::cst(-STEEPEST));
        (inside.sinh() + (w - inside) * elementary::cosh(STEEPEST) - D[2]) / D[1]
    }

    /// Active force along the tendon (N) at full activation with a rigid tendon, F₀ f_L f_V cos φ. With
    /// `opensim_faults` along the fiber, as in OpenSim 4.6.
    pub fn active_force_on_rigid_tendon(&self, L: f64, Ldot: f64, opensim_faults: bool) -> f64 {
        let p = self.position(L, 1.0);
        let v = Ldot * p.cos * self.per_v0;
        let force = self.f0 * p.fl * Self::force_velocity(v);
        if opensim_faults { force } else { force * p.cos }
    }

    /// All quantities of the muscle, with explicit tendon dynamics.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let (a, rest) = self.split(e, states);
        let p = self.position(L, if self.rigid { T::one() } else { self.tendon_length(rest[0]) });
        let (v, fv, ldot, along, ltdot);
        if self.rigid {
            ltdot = T::zero();
            along = Ldot;
            ldot = Ldot * p.cos;
            v = ldot * self.per_v0;
            fv = Self::force_velocity(v);
        } else {
            fv = (rest[0] / p.cos - p.fp) / (a * p.fl);
            v = Self::velocity(fv);
            ldot = v * self.v0;
            along = ldot / p.cos;
            ltdot = Ldot - along;
        }
        info.activation = a;
        info.fiber_length = p.l;
        info.normalized_fiber_length = p.x;
        info.pennation_angle = p.sin.asin();
        info.cos_pennation_angle = p.cos;
        info.tendon_length = p.t * self.ls;
        info.tendon_strain = p.t - 1.0;
        info.fiber_velocity = ldot;
        info.normalized_fiber_velocity = v;
        info.fiber_velocity_along_tendon = along;
        info.pennation_angular_velocity = -(ldot / p.l) * (p.along.recip() * self.width);
        info.tendon_velocity = ltdot;
        info.active_force_length_multiplier = p.fl;
        info.passive_force_multiplier = p.fp;
        info.force_velocity_multiplier = fv;

        info.active_fiber_force = a * p.fl * fv * self.f0;
        info.passive_fiber_elastic_force = p.fp * self.f0;
        info.passive_fiber_damping_force = v * (self.f0 * self.beta);
        info.passive_fiber_force = info.passive_fiber_elastic_force + info.passive_fiber_damping_force;
        info.fiber_force = info.active_fiber_force + info.passive_fiber_force;
        info.tendon_force = if self.rigid { info.fiber_force * p.cos } else { rest[0] * self.f0 };

        let k = self.fiber_stiffness(a, &p, fv);
        let dphi = -(p.sin / p.l) / (T::one() - p.sin * p.sin).sqrt();
        let dfat = k * p.cos - info.fiber_force * p.sin * dphi;
        info.fiber_stiffness = k;
        info.fiber_stiffness_along_tendon = dfat / (p.cos - p.l * p.sin * dphi);
        info.tendon_stiffness = if self.rigid {
            T::cst(f64::INFINITY)
        } else {
            self.tendon_slope(rest[0]) * (self.f0 * self.per_ls)
        };
        info.fiber_potential_energy = self.passive_energy(p.x);
        info.tendon_potential_energy = if self.rigid { T::zero() } else { self.tendon_energy(p.t) };
        info.complete(self.rigid);
        if !self.rigid {
            // In series without a guard against a zero sum, as in OpenSim: smooth for optimizers.
            let (km, kt) = (info.fiber_stiffness_along_tendon, info.tendon_stiffness);
            info.muscle_stiffness = km * kt / (km + kt);
        }
        info
    }

    /// Rate of the difference between fiber and tendon force, N/s, at constant activation: k_M l̇_∥ − k_T l̇_t, with
    /// the velocities implied by the rate of the tendon force. Zero for a rigid tendon.
    ///
    /// Source: De Groote et al. (2016), as OpenSim linearizes their equilibrium.
    pub fn force_drift<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T], rates: &[T]) -> T {
        if self.rigid {
            return T::zero();
        }
        let (a, rest) = self.split(e, states);
        let fdot = rates[usize::from(self.has_activation)];
        let p = self.position(L, self.tendon_length(rest[0]));
        let ltdot = fdot / self.tendon_slope(rest[0]) * self.ls;
        let along = Ldot - ltdot;
        let v = along * p.cos * self.per_v0;
        let km = self.stiffness_along_tendon(a, &p, v, Self::force_velocity(v));
        let kt = self.tendon_slope(rest[0]) * (self.f0 * self.per_ls);
        km * along - kt * ltdot
    }

    /// Stiffness of the fiber along the tendon, N/m.
    fn stiffness_along_tendon<T: Real>(&self, a: T, p: &Position<T>, v: T, fv: T) -> T {
        let k = self.fiber_stiffness(a, p, fv);
        let dphi = -(p.sin / p.l) / (T::one() - p.sin * p.sin).sqrt();
        let dfat = k * p.cos - self.fiber_force(a, p, v, fv) * self.f0 * p.sin * dphi;
        dfat / (p.cos - p.l * p.sin * dphi)
    }

    /// Stiffness of the fiber, N/m.
    fn fiber_stiffness<T: Real>(&self, a: T, p: &Position<T>, fv: T) -> T {
        let dfp = ((p.x - 1.0) * self.kpas).exp() * (self.kpas * self.per_epas);
        (a * fv * self.active_slope(p.x) + dfp) * (self.f0 * self.per_l0)
    }

    /// ∫ F₀ f_P dl from x = 0.2, J.
    fn passive_energy<T: Real>(&self, x: T) -> T {
        let rise = (((x - 1.0) * self.kpas).exp() - self.offset) * (1.0 / self.kpas);
        (rise - (x - PASSIVE_ZERO) * self.offset) * (self.per_epas * self.f0 * self.l0)
    }

    /// ∫ F₀ f_T dl_t from slack, J.
    fn tendon_energy<T: Real>(&self, t: T) -> T {
        let rise = (((t - 1.0) * self.kt).exp() - 1.0) * (C1 / self.kt);
        (rise - (t - 1.0) * C3) * (self.f0 * self.ls)
    }

    /// Sets the tendon force to equilibrium with the fiber, with the path velocity and a constant tendon force.
    /// Bisection between 0 and 5 F₀, to 1e-10, as in OpenSim; 0 for a muscle that would push.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        Ldot: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        if self.has_activation {
            states[0] = activation;
        }
        if self.rigid {
            return Ok(Equilibrium::immediate(self.info(L, Ldot, activation, states).tendon_force));
        }
        const TOLERANCE: f64 = 1e-10;
        let r = |f: f64| self.residual(L, Ldot, activation, f, 0.0);
        let (mut lo, mut hi) = (0.0, MAX_TENDON_FORCE);
        let slot = &mut states[usize::from(self.has_activation)];
        let at_lo = r(lo);
        if at_lo >= 0.0 {
            // The fiber pushes, or just not: the tendon is slack.
            *slot = 0.0;
            let (tendon_force, residual) = (0.0, -at_lo * self.f0);
            return Ok(Equilibrium { tendon_force, residual, iterations: 0, at_lower_bound: at_lo > 0.0 });
        }
        let mut iterations = 0;
        // A strongly stretched fiber may need more than OpenSim's upper bound.
        while r(hi) < 0.0 && iterations < 20 {
            hi *= 2.0;
            iterations += 1;
        }
        if r(hi).is_nan() || r(hi) < 0.0 {
            let (residual, tolerance) = (-r(hi) * self.f0, TOLERANCE * self.f0);
            return Err(MuscleError::NoEquilibrium {
                length: L,
                activation,
                residual,
                tolerance,
                iterations,
            });
        }
        let mut middle = lo;
        while hi - lo > TOLERANCE {
            middle = 0.5 * (lo + hi);
            if r(middle) > 0.0 {
                hi = middle;
            } else {
                lo = middle;
            }
            iterations += 1;
        }
        *slot = middle;
        let residual = -r(middle) * self.f0;
        Ok(Equilibrium { tendon_force: middle * self.f0, residual, iterations, at_lower_bound: false })
    }
}

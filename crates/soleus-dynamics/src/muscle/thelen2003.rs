//! Thelen's muscle (2003): exponential elasticity and an inverse force–velocity relation.

use super::activation::FirstOrderActivation;
use super::equilibrium::{Balance, Equilibrium, balance, not_found};
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use super::pennation::{AT_SHORTEST, FixedWidthPennation, SIGNIFICANT};
use crate::constants::Constants;
use soleus_math::{Over, Real};
use soleus_model::muscle::{Muscle, Thelen2003};

/// e³, of the tendon's toe with shape factor 3.
const E3: f64 = 20.085_536_923_187_668;
/// Force at the end of the tendon's toe, in units of F₀.
const F_TOE: f64 = 0.33;

/// A compiled Thelen2003Muscle. States: activation, fiber length (m).
///
/// With x = l/l₀, y = l_t/l_s − 1, F̃ forces in units of F₀:
///
///   active    f_L = exp(−(x − 1)²/K_act)                                    (1)
///   passive   f_P = (exp(K_pas (x − 1)/ε₀ᴹ) − 1)/(exp K_pas − 1) for x > 1   (2)
///   tendon    f_T = 0.33 (exp(3y/y_toe) − 1)/(e³ − 1), straight above y_toe   (3)
///   balance   F̃ = a f_L f_V = f_T/cos φ − f_P                              (4)
///   velocity  v = (¼ + ¾a)(F̃ − a f_L)/b                                    (5)
///             b = a f_L + F̃/A_f                            shortening
///             b = (2 + 2/A_f)(a f_L F_len − F̃)/(F_len − 1)  lengthening
///
/// (5) is extrapolated linearly below F̃ = 0 and above a threshold fraction of the maximum force F_len a f_L.
///
/// Source: Thelen (2003), eqs. 3–7, with the toe constants computed exactly; OpenSim's Thelen2003Muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct Thelen2003Muscle<P = f64> {
    activation: FirstOrderActivation<P>,
    pennation: FixedWidthPennation<P>,
    default_state: [f64; 2],
    f0: P,
    l0: P,
    ls: P,
    per_l0: P,
    per_ls: P,
    /// Velocity scale v_max l₀, m/s.
    v0: P,
    per_kact: P,
    /// K_pas/ε₀ᴹ and 1/(exp K_pas − 1).
    kpas: P,
    per_epas: P,
    /// Toe strain, 3/toe strain, 0.33/(e³ − 1), linear stiffness.
    toe: P,
    ktoe: P,
    ctoe: f64,
    klin: P,
    per_af: P,
    flen: P,
    threshold: P,
    /// (2 + 2/A_f)/(F_len − 1).
    clen: P,
    /// Evaluate the fiber's energy at its length in metres, not in l₀, as OpenSim 4.6 does.
    opensim_energy: bool,
}

impl Thelen2003Muscle {
    /// The same muscle with the fiber energy as reported by OpenSim 4.6: evaluated at the length in metres instead of
    /// in units of l₀, which makes it zero for fibers shorter than a metre.
    pub fn with_opensim_energy(mut self, on: bool) -> Self {
        self.opensim_energy = on;
        self
    }

    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Thelen2003) -> Result<Thelen2003Muscle, MuscleError> {
        Thelen2003Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl<P: Real> Thelen2003Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Thelen2003,
        constant: &mut Constants<P>,
    ) -> Result<Thelen2003Muscle<P>, MuscleError> {
        let class = "Thelen2003Muscle";
        if m.ignore_tendon_compliance {
            return Err(MuscleError::Unsupported { class, flag: "ignore_tendon_compliance" });
        }
        if m.ignore_activation_dynamics {
            return Err(MuscleError::Unsupported { class, flag: "ignore_activation_dynamics" });
        }
        let positive = [
            ("max_isometric_force", m.max_isometric_force),
            ("tendon_slack_length", m.tendon_slack_length),
            ("FmaxTendonStrain", p.fmax_tendon_strain),
            ("FmaxMuscleStrain", p.fmax_muscle_strain),
            ("KshapeActive", p.kshape_active),
            ("KshapePassive", p.kshape_passive),
            ("Af", p.af),
        ];
        for (name, value) in positive {
            require(name, value, value > 0.0, "greater than zero")?;
        }
        require("max_contraction_velocity", m.max_contraction_velocity, true, "finite")?;
        require("Flen", p.flen, p.flen > 1.0, "greater than 1")?;
        let threshold = p.fv_linear_extrap_threshold;
        require("fv_linear_extrap_threshold", threshold, threshold > 1.0 / p.flen, "greater than 1/Flen")?;
        let amin = p.minimum_activation;
        require("minimum_activation", amin, amin >= 0.01, "at least 0.01")?;
        require("min_control", m.min_control, m.min_control >= amin, "at least minimum_activation")?;

        let f0 = constant("max_isometric_force", m.max_isometric_force);
        let l0 = constant("optimal_fiber_length", m.optimal_fiber_length);
        let ls = constant("tendon_slack_length", m.tendon_slack_length);
        let vmax = constant("max_contraction_velocity", m.max_contraction_velocity);
        let e0 = constant("FmaxTendonStrain", p.fmax_tendon_strain);
        let kpas = constant("KshapePassive", p.kshape_passive);
        let (af, flen) = (constant("Af", p.af), constant("Flen", p.flen));
        let toe = e0 * 99.0 * E3 / (166.0 * E3 - 67.0);
        Ok(Thelen2003Muscle {
            opensim_energy: false,
            activation: FirstOrderActivation::new(
                constant("activation_time_constant", p.activation_time_constant),
                constant("deactivation_time_constant", p.deactivation_time_constant),
                P::cst(amin),
            )?,
            pennation: FixedWidthPennation::new(
                l0,
                constant("pennation_angle_at_optimal", m.pennation_angle_at_optimal),
                constant("maximum_pennation_angle", p.maximum_pennation_angle),
            )?,
            default_state: [p.default_activation, p.default_fiber_length],
            f0,
            l0,
            ls,
            per_l0: l0.recip(),
            per_ls: ls.recip(),
            v0: vmax * l0,
            per_kact: constant("KshapeActive", p.kshape_active).recip(),
            kpas: kpas / constant("FmaxMuscleStrain", p.fmax_muscle_strain),
            per_epas: (kpas.exp() - 1.0).recip(),
            toe,
            ktoe: P::cst(3.0) / toe,
            ctoe: F_TOE / (E3 - 1.0),
            klin: P::cst(0.67) / (e0 - toe),
            per_af: af.recip(),
            flen,
            threshold: constant("fv_linear_extrap_threshold", threshold),
            clen: (P::cst(2.0) / af + 2.0) / (flen - 1.0),
        })
    }

    /// (1).
    #[inline(always)]
    pub fn active_force_length<T: Over<P>>(&self, x: T) -> T {
        let d = x - 1.0;
        (d * d * -self.per_kact).exp()
    }

    /// (2).
    #[inline(always)]
    pub fn passive_force_length<T: Over<P>>(&self, x: T) -> T {
        T::one().where_below(x, || (((x - 1.0) * self.kpas).exp() - 1.0) * self.per_epas, T::zero)
    }

    /// (3), of the strain y.
    #[inline(always)]
    pub fn tendon_force<T: Over<P>>(&self, y: T) -> T {
        let toe = || ((y * self.ktoe).exp() - 1.0) * self.ctoe;
        T::lift(self.toe).where_below(
            y,
            || (y - self.toe) * self.klin + F_TOE,
            || T::zero().where_below(y, toe, T::zero),
        )
    }

    /// Held at the shortest length?
    #[inline(always)]
    fn is_clamped(&self, l: f64, v: f64) -> bool {
        l <= AT_SHORTEST * self.pennation.min_length().value() && v <= 0.0
    }

    /// `yes()` where the fiber is held at its shortest length, else `no()`.
    #[inline(always)]
    fn where_clamped<T: Over<P>>(&self, l: T, v: T, yes: impl Fn() -> T, no: impl Fn() -> T) -> T {
        l.where_at_most(
            T::lift(self.pennation.min_length() * AT_SHORTEST),
            || v.where_at_most(T::zero(), &yes, &no),
            &no,
        )
    }

    /// Lengths and multipliers at a muscle length and a fiber length.
    #[inline(always)]
    fn position<T: Over<P>>(&self, L: T, l: T) -> Position<T> {
        let shortest = T::lift(self.pennation.min_length());
        let l = shortest.where_below(l, || l, || shortest);
        let (sin, cos) = self.pennation.sin_cos(l);
        let x = l * self.per_l0;
        let strain = (L - l * cos) * self.per_ls - 1.0;
        Position {
            l,
            x,
            sin,
            cos,
            strain,
            ft: self.tendon_force(strain),
            fl: self.active_force_length(x),
            fp: self.passive_force_length(x),
        }
    }

    /// Numerator and denominator of (5): v = N/D, with D > 0 as long as A is.
    #[inline(always)]
    fn velocity_fraction<T: Over<P>>(&self, a: T, A: T, F: T) -> (T, T) {
        let scale = a * 0.75 + 0.25;
        let top = A * self.flen;
        let limit = top * self.threshold;
        let beyond = || {
            let b = (top - limit) * self.clen;
            let v0 = (limit - A) / b;
            (scale * (v0 * b + (F - limit) * (v0 * self.clen + 1.0)), b)
        };
        let lengthening = || F.where_below(limit, || (scale * (F - A), (top - F) * self.clen), beyond);
        let active = || F.where_at_most(A, || (scale * (F - A), F * self.per_af + A), lengthening);
        F.where_at_most(T::zero(), || (scale * (F * (self.per_af + 1.0) - A), A), active)
    }

    /// Tendon force (N), with the dynamics as residuals: ȧ minus its rate, and (5) multiplied by its denominator, r = D
    /// l̇/(v_max l₀) − N. A fiber at its minimum length that would shorten further is clamped.
    pub fn residual<T: Over<P>>(&self, L: T, e: T, states: &[T], rates: &[T], r: &mut [T]) -> T {
        let a = self.activation.clamp(states[0]);
        let p = self.position(L, states[1]);
        let (num, den) = self.velocity_fraction(a, a * p.fl, p.ft / p.cos - p.fp);
        r[0] = rates[0] - self.activation.rate(a, e);
        let v = rates[1] / self.v0;
        r[1] = self.where_clamped(states[1], num, || v, || den * v - num);
        p.ft * self.f0
    }
}

impl Thelen2003Muscle {
    /// Default activation and fiber length.
    pub fn default_states(&self) -> &[f64] {
        &self.default_state
    }

    fn tendon_slope<T: Real>(&self, y: T) -> T {
        if y.value() > self.toe {
            T::cst(self.klin)
        } else if y.value() > 0.0 {
            (y * self.ktoe).exp() * (self.ctoe * self.ktoe)
        } else {
            T::zero()
        }
    }

    /// (5): velocity in units of v_max l₀ from activation a, A = a f_L and F = a f_L f_V.
    #[inline(always)]
    pub fn velocity<T: Real>(&self, a: T, A: T, F: T) -> T {
        let scale = a * 0.75 + 0.25;
        let top = A * self.flen;
        let limit = top * self.threshold;
        let beyond = || {
            let b = (top - limit) * self.clen;
            let v0 = (limit - A) / b;
            scale * (v0 + (F - limit) * (v0 * self.clen + 1.0) / b)
        };
        let lengthening = || F.where_below(limit, || scale * (F - A) / ((top - F) * self.clen), beyond);
        let active = || F.where_at_most(A, || scale * (F - A) / (F * self.per_af + A), lengthening);
        // Value −1 and slope (1 + 1/A_f)/A of the shortening branch at F = 0.
        F.where_at_most(T::zero(), || scale * (F * (1.0 + self.per_af) / A - 1.0), active)
    }

    /// dv/dF of (5).
    fn velocity_slope(&self, a: f64, A: f64, F: f64) -> f64 {
        let scale = 0.25 + 0.75 * a;
        let top = A * self.flen;
        let limit = top * self.threshold;
        let F = F.max(0.0).min(limit);
        let (b, db) =
            if F <= A { (A + F * self.per_af, self.per_af) } else { ((top - F) * self.clen, -self.clen) };
        scale / b - scale * (F - A) / (b * b) * db
    }

    /// The force–velocity multiplier at velocity v: (5) inverted, not below zero. Newton in F; `None`
    /// where OpenSim's iteration gives up too.
    fn force_velocity(&self, a: f64, fl: f64, v: f64, tolerance: f64) -> Option<f64> {
        let A = a * fl;
        let mut F = A;
        for _ in 0..100 {
            let error = self.velocity(a, A, F) - v;
            let slope = self.velocity_slope(a, A, F);
            if slope.abs() > SIGNIFICANT {
                F -= error / slope;
            }
            if error.abs() < tolerance {
                return Some((F / A).max(0.0));
            }
        }
        None
    }

    /// Active force along the tendon (N) at full activation with a rigid tendon, F₀ f_L f_V cos φ; zero at or below the
    /// minimum fiber length.
    pub fn active_force_on_rigid_tendon(&self, L: f64, Ldot: f64) -> f64 {
        let l = self.pennation.fiber_length(L, self.ls);
        if !(l > self.pennation.min_length()) {
            return 0.0;
        }
        let cos = self.pennation.sin_cos(l).1;
        let fl = self.active_force_length(l * self.per_l0);
        // OpenSim inverts (5) to 1e-6 in v; so do we, from the same start, for the same digits.
        let fv = self.force_velocity(1.0, fl, Ldot * cos / self.v0, 1e-6).unwrap_or(0.0);
        self.f0 * fl * fv * cos
    }

    /// Tendon force (N); writes the rates of activation and fiber length. States as described for the type.
    #[inline]
    pub fn dynamics<T: Real>(&self, L: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let a = self.activation.clamp(states[0]);
        let p = self.position(L, states[1]);
        let v = self.velocity(a, a * p.fl, p.ft / p.cos - p.fp);
        states_dot[0] = self.activation.rate(a, e);
        states_dot[1] = self.where_clamped(states[1], v, T::zero, || v * self.v0);
        p.ft * self.f0
    }

    /// All quantities of the muscle.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let a = self.activation.clamp(states[0]);
        let p = self.position(L, states[1]);
        let F = p.ft / p.cos - p.fp;
        let mut fv = F / (a * p.fl);
        let mut v = self.velocity(a, a * p.fl, F);
        let clamped = self.is_clamped(states[1].value(), v.value());
        if clamped {
            v = T::zero();
            fv = T::one();
        }
        let ldot = v * self.v0;
        let phidot = self.pennation.angle_rate(p.l, ldot, p.sin, p.cos);
        let along = ldot * p.cos - p.l * p.sin * phidot;

        info.activation = a;
        info.fiber_length = p.l;
        info.normalized_fiber_length = p.x;
        info.pennation_angle = self.pennation.angle(p.l);
        info.cos_pennation_angle = p.cos;
        info.tendon_length = L - p.l * p.cos;
        info.tendon_strain = p.strain;
        info.fiber_velocity = ldot;
        info.normalized_fiber_velocity = v;
        info.fiber_velocity_along_tendon = along;
        info.pennation_angular_velocity = phidot;
        info.tendon_velocity = Ldot - along;
        info.active_force_length_multiplier = p.fl;
        info.passive_force_multiplier = p.fp;
        info.force_velocity_multiplier = fv;
        info.fiber_clamped = clamped;
        info.passive_fiber_force = p.fp * self.f0;
        info.passive_fiber_elastic_force = info.passive_fiber_force;
        info.passive_fiber_damping_force = T::zero();
        info.tendon_force = p.ft * self.f0;

        // A clamped fiber is reported without active force and stiffness, as OpenSim does.
        let zero = T::zero();
        (info.active_fiber_force, info.fiber_force) = (zero, zero);
        (info.fiber_stiffness, info.fiber_stiffness_along_tendon, info.tendon_stiffness) = (zero, zero, zero);
        if !clamped {
            info.active_fiber_force = a * p.fl * fv * self.f0;
            info.fiber_force = info.active_fiber_force + info.passive_fiber_force;
            info.fiber_stiffness = self.fiber_stiffness(a, p.x, fv, p.fl);
            let slope = self.force_along_tendon_slope(info.fiber_force, info.fiber_stiffness, p.l, p.cos);
            info.fiber_stiffness_along_tendon = slope * p.cos;
            info.tendon_stiffness = self.tendon_slope(p.strain) * (self.f0 * self.per_ls);
        }
        info.fiber_potential_energy = self.passive_energy(if self.opensim_energy { p.l } else { p.x });
        info.tendon_potential_energy = self.tendon_energy(p.strain);
        info.complete(false);
        info
    }

    /// dF_m/dl, N/m.
    fn fiber_stiffness<T: Real>(&self, a: T, x: T, fv: T, fl: T) -> T {
        let dfl = (x - 1.0) * fl * (-2.0 * self.per_kact);
        let dfp = if x.value() > 1.0 {
            ((x - 1.0) * self.kpas).exp() * (self.kpas * self.per_epas)
        } else {
            T::zero()
        };
        (a * fv * dfl + dfp) * (self.f0 * self.per_l0)
    }

    /// d(F_m cos φ)/dl with d(cos φ)/dl = −sin φ dφ/dl.
    fn force_along_tendon_slope<T: Real>(&self, F: T, stiffness: T, l: T, cos: T) -> T {
        stiffness * cos + F * self.cos_slope(l)
    }

    /// d(cos φ)/dl = h²/(l³ √(1 − h²/l²)).
    fn cos_slope<T: Real>(&self, l: T) -> T {
        -(self.pennation.angle_slope(l) * l.recip() * self.pennation.height())
    }

    /// ∫ F₀ f_P dl from l₀, J. (OpenSim 4.6 passes l where x belongs, so it reports zero below 1 m.)
    fn passive_energy<T: Real>(&self, x: T) -> T {
        if x.value() <= 1.0 {
            return T::zero();
        }
        let d = x - 1.0;
        (((d * self.kpas).exp() - 1.0) * (1.0 / self.kpas) - d) * (self.per_epas * self.f0 * self.l0)
    }

    /// ∫ F₀ f_T dl_t from slack, J.
    fn tendon_energy<T: Real>(&self, y: T) -> T {
        let toe = |y: T| (((y * self.ktoe).exp() - 1.0) * (1.0 / self.ktoe) - y) * self.ctoe;
        let area = if y.value() > self.toe {
            let d = y - self.toe;
            toe(T::cst(self.toe)) + (d * (0.5 * self.klin) + F_TOE) * d
        } else if y.value() > 0.0 {
            toe(y)
        } else {
            T::zero()
        };
        area * (self.f0 * self.ls)
    }

    /// Sets the fiber length to the equilibrium with the tendon, with the path velocity distributed in the ratio of
    /// their compliances. `activation` is written into the states.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        Ldot: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let tolerance = (1e-8 * self.f0).max(10.0 * SIGNIFICANT);
        let a = self.activation.clamp(activation);
        let mut b = ThelenBalance { L, Ldot, a, tolerance, ..ThelenBalance::new(self) };
        let start = self.pennation.fiber_length(L, 1.01 * self.ls);
        // Stiffnesses before the first velocity estimate are taken at zero fiber force, as in OpenSim.
        b.error(start);
        b.force = 0.0;
        b.slope();
        b.share_velocity();
        let error = b.error(start);
        let shortest = self.pennation.min_length();
        let slack = self.pennation.fiber_length(L, self.ls);
        let (l, found) = balance(&mut b, start, error, shortest, slack, tolerance, 20)
            .ok_or_else(|| not_found(L, activation, tolerance))?;
        states[0] = activation;
        states[1] = l;
        Ok(found)
    }
}

struct Position<T> {
    l: T,
    x: T,
    sin: T,
    cos: T,
    strain: T,
    ft: T,
    fl: T,
    fp: T,
}

/// The balance at one activation, with the quantities of the last evaluation.
struct ThelenBalance<'a> {
    m: &'a Thelen2003Muscle,
    L: f64,
    Ldot: f64,
    a: f64,
    tolerance: f64,
    fv: f64,
    still: bool,
    l: f64,
    x: f64,
    cos: f64,
    sin: f64,
    strain: f64,
    fl: f64,
    ft: f64,
    /// Fiber force and stiffnesses, N and N/m.
    force: f64,
    k_fiber_at: f64,
    k_tendon: f64,
}

impl<'a> ThelenBalance<'a> {
    fn new(m: &'a Thelen2003Muscle) -> Self {
        let z = 0.0;
        let (l, x, cos, sin, strain, fl, ft) = (z, z, 1.0, z, z, z, z);
        let (a, L, Ldot, tolerance, fv, force) = (z, z, z, z, 1.0, z);
        let (still, k_fiber_at, k_tendon) = (false, z, z);
        ThelenBalance {
            m,
            L,
            Ldot,
            a,
            tolerance,
            fv,
            still,
            l,
            x,
            cos,
            sin,
            strain,
            fl,
            ft,
            force,
            k_fiber_at,
            k_tendon,
        }
    }
}

impl Balance for ThelenBalance<'_> {
    fn error(&mut self, l: f64) -> f64 {
        let m = self.m;
        (self.sin, self.cos) = m.pennation.sin_cos(l);
        self.l = l;
        self.x = l * m.per_l0;
        self.strain = (self.L - l * self.cos) * m.per_ls - 1.0;
        self.fl = m.active_force_length(self.x);
        self.ft = m.tendon_force(self.strain);
        self.force = (self.a * self.fl * self.fv + m.passive_force_length(self.x)) * m.f0;
        self.force * self.cos - self.ft * m.f0
    }

    fn slope(&mut self) -> f64 {
        let m = self.m;
        let stiffness = m.fiber_stiffness(self.a, self.x, self.fv, self.fl);
        let k = m.force_along_tendon_slope(self.force, stiffness, self.l, self.cos);
        self.k_fiber_at = k * self.cos;
        self.k_tendon = m.tendon_slope(self.strain) * (m.f0 * m.per_ls);
        let dlt_dl = -self.cos + self.l * self.sin * m.pennation.angle_slope(self.l);
        k - self.k_tendon * dlt_dl
    }

    fn share_velocity(&mut self) {
        if self.still {
            return;
        }
        let sum = self.k_fiber_at + self.k_tendon;
        let tendon_share =
            if sum.abs() > SIGNIFICANT && self.strain > 0.0 { self.k_fiber_at / sum } else { 1.0 };
        let v = (self.Ldot - tendon_share * self.Ldot) * self.cos / self.m.v0;
        match self.m.force_velocity(self.a, self.fl, v, self.tolerance) {
            Some(fv) => self.fv = fv,
            None => self.hold_still(),
        }
    }

    fn hold_still(&mut self) {
        self.still = true;
        self.fv = 1.0;
    }

    fn tendon_force(&self) -> f64 {
        self.ft * self.m.f0
    }
}

//! Millard's equilibrium muscle (2012): Bézier curves, an elastic or rigid tendon, optional fiber damping.

use super::activation::FirstOrderActivation;
use super::curve_cache::CurveCache;
use super::equilibrium::{Balance, Equilibrium, balance, not_found};
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use super::millard2012_curves::{self as curves, ActiveShape, VelocityShape};
use super::pennation::{AT_SHORTEST, FixedWidthPennation, SIGNIFICANT};
use crate::constants::Constants;
use soleus_math::{BezierCurve, Over, Real};
use soleus_model::muscle::{Millard2012Equilibrium, Muscle};
use std::sync::Arc;

/// Damping below this counts as none (OpenSim's threshold).
const LEAST_DAMPING: f64 = 0.001;

/// The tendon and how the fiber velocity follows from it.
#[derive(Clone, Debug, PartialEq)]
enum Tendon<P> {
    /// Rigid: the fiber moves with the path.
    Rigid,
    /// Elastic, with damping: a f_L f_V(v) + f_P + β v = f_T/cos φ is solved for v.
    Damped(Arc<BezierCurve<P>>),
    /// Elastic, without damping: f_V = (f_T/cos φ − f_P)/(a f_L), v from the inverse curve.
    Undamped(Arc<BezierCurve<P>>, Arc<BezierCurve<P>>),
}

/// A compiled Millard2012EquilibriumMuscle.
///
/// States: activation, unless activation dynamics are ignored; fiber length (m), unless the tendon is rigid.
/// In units of F₀, with x = l/l₀ and v = l̇/(v_max l₀):
///
///   (a f_L(x) f_V(v) + f_P(x) + β v) cos φ = f_T(l_t/l_s)      (1)
///
/// The fiber is not shorter than l_min, the larger of the minimum active length and the length at the maximum pennation
/// angle. A fiber clamped there does not move and is reported with zero force. The tension is F₀ f_T; with a rigid
/// tendon it is the left side, not below zero.
///
/// Source: Millard, Uchida, Seth and Delp (2013), eqs. 6 and 8; OpenSim's class of the same name. Parameters are
/// adjusted as in OpenSim: with damping or a rigid tendon the curves may reach zero force and slope; otherwise they are
/// kept above zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Millard2012EquilibriumMuscle<P = f64> {
    activation: FirstOrderActivation<P>,
    has_activation: bool,
    pennation: FixedWidthPennation<P>,
    tendon: Tendon<P>,
    active: Arc<BezierCurve<P>>,
    passive: Arc<BezierCurve<P>>,
    velocity: Arc<BezierCurve<P>>,
    beta: P,
    f0: P,
    l0: P,
    ls: P,
    per_l0: P,
    per_ls: P,
    /// v_max l₀, m/s, and its reciprocal.
    v0: P,
    per_v0: P,
    min_length: P,
    default_state: Vec<f64>,
}

/// Lengths and what follows from them.
struct Position<T> {
    l: T,
    x: T,
    sin: T,
    cos: T,
    lt: T,
}

impl Millard2012EquilibriumMuscle {
    /// From the model's parameters.
    pub fn compile(
        m: &Muscle,
        p: &Millard2012Equilibrium,
        cache: &mut CurveCache,
    ) -> Result<Millard2012EquilibriumMuscle, MuscleError> {
        Millard2012EquilibriumMuscle::compile_over(m, p, cache, &mut |_, value| value)
    }
}

impl<P: Real> Millard2012EquilibriumMuscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Millard2012Equilibrium,
        cache: &mut CurveCache<P>,
        constant: &mut Constants<P>,
    ) -> Result<Millard2012EquilibriumMuscle<P>, MuscleError> {
        let positive = [
            ("max_isometric_force", m.max_isometric_force),
            ("max_contraction_velocity", m.max_contraction_velocity),
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
        require("fiber_damping", p.fiber_damping, true, "finite")?;
        let beta = if p.fiber_damping < LEAST_DAMPING { 0.0 } else { p.fiber_damping };
        let rigid = m.ignore_tendon_compliance;
        let classic = !rigid && beta == 0.0;

        // Adjustments: the classic Hill model needs to stay away from zero, the others need not.
        let mut amin = p.minimum_activation;
        let mut active = ActiveShape::new(&p.active_force_length_curve, constant);
        let mut velocity = VelocityShape::new(&p.force_velocity_curve, constant);
        let (near_c, near_e) = (velocity.near_c.value(), velocity.near_e.value());
        // A number that is held at a bound does not change with the one that is.
        let at_least = |x: P, low: P| if x.value() > low.value() { x } else { low };
        let at_most = |x: P, high: P| if x.value() < high.value() { x } else { high };
        for (name, near) in [("concentric_slope_near_vmax", near_c), ("eccentric_slope_near_vmax", near_e)] {
            require(name, near, near >= f64::EPSILON.sqrt(), "at least 1.49e-8")?;
        }
        if classic {
            require("minimum_activation", amin, amin >= 0.01, "at least 0.01 without damping")?;
            active.low = at_least(active.low, P::cst(0.1));
            velocity.at_c = at_least(velocity.at_c, velocity.near_c * 0.5);
            velocity.at_e = at_least(velocity.at_e, velocity.near_e * 0.5);
        } else {
            require("minimum_activation", amin, amin >= 0.0, "at least zero")?;
            amin = amin.min(1.0);
            active.low = at_most(active.low, P::zero());
            velocity.at_c = at_most(velocity.at_c, P::zero());
            velocity.at_e = at_most(velocity.at_e, P::zero());
        }
        require("min_control", m.min_control, m.min_control >= amin, "at least minimum_activation")?;

        // OpenSim hands minimum_activation on only if there are activation dynamics; else 0.01 holds.
        let has_activation = !m.ignore_activation_dynamics;
        let activation = if has_activation {
            FirstOrderActivation::new(
                constant("activation_time_constant", p.activation_time_constant),
                constant("deactivation_time_constant", p.deactivation_time_constant),
                P::cst(amin),
            )?
        } else {
            FirstOrderActivation::new(P::cst(0.010), P::cst(0.040), P::cst(0.01))?
        };
        let l0 = constant("optimal_fiber_length", m.optimal_fiber_length);
        let pennation = FixedWidthPennation::new(
            l0,
            constant("pennation_angle_at_optimal", m.pennation_angle_at_optimal),
            constant("maximum_pennation_angle", p.maximum_pennation_angle),
        )?;
        let shortest = (l0 * active.shortest).max(pennation.min_length());
        let min_length = P::cst(SIGNIFICANT).max(shortest);
        let tendon = if rigid {
            Tendon::Rigid
        } else {
            let elastic = curves::tendon_curve(&p.tendon_force_length_curve, cache, constant)?;
            if classic {
                Tendon::Undamped(elastic, curves::inverse_velocity_curve(&velocity, cache)?)
            } else {
                Tendon::Damped(elastic)
            }
        };
        let v0 = constant("max_contraction_velocity", m.max_contraction_velocity) * l0;
        let ls = constant("tendon_slack_length", ls);
        let mut default_state = Vec::new();
        if has_activation {
            default_state.push(Real::clamp(p.default_activation, amin, 1.0));
        }
        if !rigid {
            default_state.push(p.default_fiber_length.max(min_length.value()));
        }
        Ok(Millard2012EquilibriumMuscle {
            activation,
            has_activation,
            pennation,
            tendon,
            active: curves::active_curve(&active, cache)?,
            passive: curves::fiber_curve(&p.fiber_force_length_curve, cache, constant)?,
            velocity: curves::velocity_curve(&velocity, cache)?,
            // Below the threshold the damping counts as none, however it changes.
            beta: if classic || beta == 0.0 { P::zero() } else { constant("fiber_damping", beta) },
            f0: constant("max_isometric_force", m.max_isometric_force),
            l0,
            ls,
            per_l0: l0.recip(),
            per_ls: ls.recip(),
            v0,
            per_v0: v0.recip(),
            min_length,
            default_state,
        })
    }

    /// Activation in use, and the states that follow it.
    #[inline(always)]
    fn split<'a, T: Over<P>>(&self, e: T, states: &'a [T]) -> (T, &'a [T]) {
        if self.has_activation {
            (self.activation.clamp(states[0]), &states[1..])
        } else {
            (self.activation.clamp(e), states)
        }
    }

    /// Fiber length, not below the shortest.
    #[inline(always)]
    fn held_length<T: Over<P>>(&self, l: T) -> T {
        l.where_below(T::lift(self.min_length), || T::lift(self.min_length), || l)
    }

    #[inline(always)]
    fn position<T: Over<P>>(&self, L: T, l: T) -> Position<T> {
        let l = self.held_length(l);
        let (sin, cos) = self.pennation.sin_cos(l);
        Position { l, x: l * self.per_l0, sin, cos, lt: L - l * cos }
    }

    #[inline(always)]
    fn rigid_length<T: Over<P>>(&self, L: T) -> T {
        self.pennation.fiber_length(L, T::lift(self.ls))
    }

    /// v and f_V of an elastic muscle from its multipliers; (1) solved for v.
    #[inline(always)]
    fn elastic_velocity<T: Over<P>>(&self, a: T, fl: T, fp: T, ft: T, per_cos: T) -> (T, T) {
        let rest = ft * per_cos - fp;
        match &self.tendon {
            Tendon::Undamped(_, inverse) => {
                let fv = rest / (a * fl);
                (inverse.value(fv), fv)
            }
            _ => self.velocity.solve_with_damper(a * fl, self.beta, rest),
        }
    }

    /// v and f_V with a rigid tendon; a buckled one stops the fiber.
    #[inline(always)]
    fn rigid_velocity<T: Over<P>>(&self, Ldot: T, p: &Position<T>) -> (T, T) {
        p.lt.where_below(
            T::lift(self.ls - SIGNIFICANT),
            || (T::zero(), T::one()),
            || {
                let v = Ldot * p.cos * self.per_v0;
                (v, self.velocity.value(v))
            },
        )
    }

    /// Held at the shortest length?
    #[inline(always)]
    fn is_clamped(&self, l: f64, v: f64) -> bool {
        l <= AT_SHORTEST * self.min_length.value() && v <= 0.0
    }

    /// `yes()` where the fiber is held at its shortest length, else `no()`.
    #[inline(always)]
    fn where_clamped<T: Over<P>>(&self, l: T, v: T, yes: fn() -> T, no: impl Fn() -> T) -> T {
        l.where_at_most(T::lift(self.min_length * AT_SHORTEST), || v.where_at_most(T::zero(), yes, &no), &no)
    }

    /// Tension (N), with the dynamics as residuals: ȧ minus its rate, and for an elastic tendon the balance
    ///
    ///   r = (a f_L f_V(ṽ) + f_P + β ṽ) cos φ − f_T,   ṽ = l̇/(v_max l₀)
    ///
    /// which has no singularity where a, f_L, cos φ or the slope of f_V are zero. A fiber at its minimum length that
    /// would shorten further is clamped: r = ṽ. Without damping, the inverse curve is not exactly that of f_V, and the
    /// rate of the explicit form is used, as in OpenSim.
    pub fn residual<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], rates: &[T], r: &mut [T]) -> T {
        let Tendon::Damped(tendon) = &self.tendon else {
            let tension = self.dynamics(L, Ldot, e, states, r);
            for (r, &rate) in r.iter_mut().zip(rates) {
                *r = rate - *r;
            }
            return tension;
        };
        let (a, rest) = self.split(e, states);
        let k = usize::from(self.has_activation);
        if self.has_activation {
            r[0] = rates[0] - self.activation.rate(a, e);
        }
        let p = self.position(L, rest[0]);
        let (fl, fp, ft) =
            (self.active.value(p.x), self.passive.value(p.x), tendon.value(p.lt * self.per_ls));
        let v = rates[k] * self.per_v0;
        let balance = || (a * fl * self.velocity.value(v) + fp + v * self.beta) * p.cos - ft;
        r[k] = rest[0].where_at_most(
            T::lift(self.min_length * AT_SHORTEST),
            || ft.where_at_most((a * fl + fp) * p.cos, || v, balance),
            balance,
        );
        ft * self.f0
    }

    /// Tension (N); writes the rates of the states.
    #[inline]
    pub fn dynamics<T: Over<P>>(&self, L: T, Ldot: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, rest) = self.split(e, states);
        if self.has_activation {
            states_dot[0] = self.activation.rate(a, e);
        }
        match &self.tendon {
            Tendon::Rigid => {
                let p = self.position(L, self.rigid_length(L));
                let (v, fv) = self.rigid_velocity(Ldot, &p);
                self.where_clamped(p.l, v, T::zero, || {
                    let fm = a * self.active.value(p.x) * fv + (self.passive.value(p.x) + v * self.beta);
                    fm.where_below(T::zero(), T::zero, || fm * p.cos * self.f0)
                })
            }
            Tendon::Damped(tendon) | Tendon::Undamped(tendon, _) => {
                let l = self.held_length(rest[0]);
                let (along, per_cos) = self.pennation.along_tendon(l);
                let ft = tendon.value((L - along) * self.per_ls);
                let x = l * self.per_l0;
                let (fl, fp) = (self.active.value(x), self.passive.value(x));
                let (v, _) = self.elastic_velocity(a, fl, fp, ft, per_cos);
                states_dot[usize::from(self.has_activation)] =
                    self.where_clamped(l, v, T::zero, || v * self.v0);
                ft * self.f0
            }
        }
    }
}

impl Millard2012EquilibriumMuscle {
    /// Names of the states, in order.
    pub fn state_names(&self) -> &'static [&'static str] {
        match (self.has_activation, &self.tendon) {
            (true, Tendon::Rigid) => &["activation"],
            (true, _) => &["activation", "fiber_length"],
            (false, Tendon::Rigid) => &[],
            (false, _) => &["fiber_length"],
        }
    }

    /// Default states.
    pub fn default_states(&self) -> &[f64] {
        &self.default_state
    }

    /// Minimum fiber length, m.
    pub fn min_fiber_length(&self) -> f64 {
        self.min_length
    }

    /// All quantities of the muscle.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T, states: &[T]) -> MuscleInfo<T> {
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        let (a, rest) = self.split(e, states);
        let rigid = matches!(self.tendon, Tendon::Rigid);
        let p = self.position(L, if rigid { self.rigid_length(L) } else { rest[0] });
        let (fl, dfl) = self.active.value_and_slope(p.x);
        let (fp, dfp) = self.passive.value_and_slope(p.x);
        let lt_n = p.lt * self.per_ls;
        let (mut v, mut fv);
        let (mut ft, kt) = match &self.tendon {
            Tendon::Rigid => {
                (v, fv) = self.rigid_velocity(Ldot, &p);
                info.tendon_potential_energy = T::zero();
                (T::zero(), T::cst(f64::INFINITY))
            }
            Tendon::Damped(tendon) | Tendon::Undamped(tendon, _) => {
                let (ft, slope) = tendon.value_and_slope(lt_n);
                (v, fv) = self.elastic_velocity(a, fl, fp, ft, p.cos.recip());
                info.tendon_potential_energy = tendon.integral(lt_n) * (self.f0 * self.ls);
                (ft, slope * (self.f0 * self.per_ls))
            }
        };
        let held = self.is_clamped(p.l.value(), v.value());
        if held {
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
        info.tendon_length = p.lt;
        info.tendon_strain = lt_n - 1.0;
        info.fiber_velocity = ldot;
        info.normalized_fiber_velocity = v;
        info.fiber_velocity_along_tendon = along;
        info.pennation_angular_velocity = phidot;
        info.tendon_velocity = if rigid && !held { T::zero() } else { Ldot - along };
        info.active_force_length_multiplier = fl;
        info.passive_force_multiplier = fp;
        info.force_velocity_multiplier = fv;
        info.fiber_clamped = held;

        let zero = T::zero();
        let (mut fa, mut elastic, mut damping, mut fm) = (zero, zero, zero, zero);
        (info.fiber_stiffness, info.fiber_stiffness_along_tendon, info.tendon_stiffness) = (zero, zero, zero);
        if !held {
            fa = a * fl * fv * self.f0;
            elastic = fp * self.f0;
            damping = v * (self.f0 * self.beta);
            fm = fa + (elastic + damping);
            // A rigid tendon could be pushed; the damper gives way instead.
            if rigid && fm.value() < 0.0 {
                fm = zero;
                damping = -fa - elastic;
            }
            let k = (a * fv * dfl + dfp) * (self.f0 * self.per_l0);
            let dphi = self.pennation.angle_slope(p.l);
            let dfat = k * p.cos - fm * p.sin * dphi;
            info.fiber_stiffness = k;
            info.fiber_stiffness_along_tendon = dfat / (p.cos - p.l * p.sin * dphi);
            info.tendon_stiffness = kt;
        }
        if rigid {
            ft = fm * p.cos * (1.0 / self.f0);
        }
        info.active_fiber_force = fa;
        info.passive_fiber_elastic_force = elastic;
        info.passive_fiber_damping_force = damping;
        info.passive_fiber_force = elastic + damping;
        info.fiber_force = fm;
        info.tendon_force = ft * self.f0;
        info.fiber_potential_energy = self.passive.integral(p.x) * (self.f0 * self.l0);
        info.complete(rigid);
        info
    }

    /// Active force along the tendon (N) at full activation with a rigid tendon:
    ///
    ///   F₀ f_L(x) f_V(v) cos φ,   l = √(h² + (L − l_s)²),   v = L̇ cos φ/(v_max l₀)
    ///
    /// and zero at or below the minimum fiber length. With `opensim_faults`, cos φ is that of a fiber with a length of
    /// x metres, an error of OpenSim 4.6; for short pennate fibers it is nearly 1.
    pub fn active_force_on_rigid_tendon(&self, L: f64, Ldot: f64, opensim_faults: bool) -> f64 {
        let l = self.rigid_length(L);
        if !(l > self.min_length) {
            return 0.0;
        }
        let x = l * self.per_l0;
        let cos = self.pennation.sin_cos(l).1;
        let v = Ldot * cos * self.per_v0;
        let cos = if opensim_faults { self.pennation.sin_cos(x).1 } else { cos };
        self.f0 * self.active.value(x) * self.velocity.value(v) * cos
    }

    /// Sets the fiber length to the equilibrium with the tendon at rest. The path velocity is ignored, as in OpenSim.
    /// `activation` is the excitation if activation dynamics are ignored; otherwise it is written into the states.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        Ldot: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let a = self.activation.clamp(activation);
        if self.has_activation {
            states[0] = a;
        }
        let tendon = match &self.tendon {
            Tendon::Rigid => {
                let info = self.info(L, Ldot, activation, states);
                return Ok(Equilibrium::immediate(info.tendon_force));
            }
            Tendon::Damped(tendon) | Tendon::Undamped(tendon, _) => tendon,
        };
        let tolerance = (1e-8 * self.f0).max(10.0 * SIGNIFICANT);
        let start = self.pennation.fiber_length(L, 1.01 * self.ls).max(self.min_length);
        let mut b = MillardBalance { m: self, tendon, L, a, l: start, fm: 0.0, ft: 0.0 };
        let error = b.error(start);
        let slack = self.pennation.fiber_length(L, self.ls);
        let (l, found) = balance(&mut b, start, error, self.min_length, slack, tolerance, 200)
            .ok_or_else(|| not_found(L, activation, tolerance))?;
        states[usize::from(self.has_activation)] = l;
        Ok(found)
    }

    /// Sets the fiber length to the equilibrium with the tendon while the path lengthens at `Ldot` (m/s), so that a
    /// simulation starts without a force transient. The path velocity is distributed between fiber and tendon as for
    /// springs in series,
    ///
    ///   v_S = k_T/(k_S + k_T) L̇, zero where the tendon is slack or k_S + k_T vanishes,      (2)
    ///
    /// with v_S the speed of the fiber along the tendon and k_S its isometric stiffness along the tendon. There is
    /// nothing to solve for a rigid tendon.
    ///
    /// Source: Millard, Uchida, Seth and Delp (2013), appendix A, eqs. 23 and 24; the balance is solved by bisection
    /// between the minimum fiber length and the slack tendon. OpenSim 4 equilibrates at rest, as
    /// [`solve_equilibrium`](Self::solve_equilibrium).
    pub fn solve_moving_equilibrium(
        &self,
        L: f64,
        Ldot: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        let a = self.activation.clamp(activation);
        let tendon = match &self.tendon {
            Tendon::Rigid => return self.solve_equilibrium(L, Ldot, activation, states),
            Tendon::Damped(tendon) | Tendon::Undamped(tendon, _) => tendon,
        };
        let residual = |l: f64| {
            let p = self.position(L, l);
            let (fl, dfl) = self.active.value_and_slope(p.x);
            let (fp, dfp) = self.passive.value_and_slope(p.x);
            let (ft, dft) = tendon.value_and_slope(p.lt * self.per_ls);

            // Stiffnesses along the tendon, F₀/m; d(cos φ)/d(l cos φ) = sin²φ/l.
            let (ks, kt) = (
                (a * dfl + dfp) * self.per_l0 * p.cos * p.cos + (a * fl + fp) * p.sin * p.sin / p.l,
                dft * self.per_ls,
            );
            let still = p.lt < self.ls || (ks + kt).abs() <= SIGNIFICANT * (ks.abs() + kt);
            let v = if still { 0.0 } else { kt / (ks + kt) * Ldot * p.cos * self.per_v0 }; // (2)
            (a * fl * self.velocity.value(v) + fp + self.beta * v) * p.cos - ft
        };
        let (mut low, mut high) = (self.min_length, self.pennation.fiber_length(L, self.ls));
        let mut iterations = 0;
        if !(residual(low) < 0.0) {
            high = low;
        }
        while high - low > f64::EPSILON * self.l0 && iterations < 200 {
            let middle = 0.5 * (low + high);
            if residual(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
            iterations += 1;
        }
        if self.has_activation {
            states[0] = a;
        }
        states[usize::from(self.has_activation)] = high;
        let p = self.position(L, high);
        Ok(Equilibrium {
            tendon_force: tendon.value(p.lt * self.per_ls) * self.f0,
            residual: residual(high) * self.f0,
            iterations,
            at_lower_bound: high <= self.min_length,
        })
    }
}

/// The static balance at one activation.
struct MillardBalance<'a> {
    m: &'a Millard2012EquilibriumMuscle,
    tendon: &'a BezierCurve,
    L: f64,
    a: f64,
    /// Of the last evaluation: fiber length, fiber force and tendon force.
    l: f64,
    fm: f64,
    ft: f64,
}

impl Balance for MillardBalance<'_> {
    fn error(&mut self, l: f64) -> f64 {
        let m = self.m;
        let (_, cos) = m.pennation.sin_cos(l);
        let x = l * m.per_l0;
        self.l = l;
        self.fm = (self.a * m.active.value(x) + m.passive.value(x)) * m.f0;
        self.ft = self.tendon.value((self.L - l * cos) * m.per_ls) * m.f0;
        self.fm * cos - self.ft
    }

    fn slope(&mut self) -> f64 {
        let m = self.m;
        let (sin, cos) = m.pennation.sin_cos(self.l);
        let dphi = m.pennation.angle_slope(self.l);
        let x = self.l * m.per_l0;
        let k = (self.a * m.active.value_and_slope(x).1 + m.passive.value_and_slope(x).1) * m.f0 * m.per_l0;
        let lt = self.L - self.l * cos;
        let kt = self.tendon.value_and_slope(lt * m.per_ls).1 * m.f0 * m.per_ls;
        k * cos - self.fm * sin * dphi - kt * (self.l * sin * dphi - cos)
    }

    fn share_velocity(&mut self) {}

    fn hold_still(&mut self) {}

    fn tendon_force(&self) -> f64 {
        self.ft
    }
}

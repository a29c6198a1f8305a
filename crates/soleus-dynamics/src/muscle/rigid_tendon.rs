//! OpenSim's simplest muscle: a rigid tendon, no states, curves as functions.

use super::equilibrium::Equilibrium;
use super::error::{MuscleError, require};
use super::info::MuscleInfo;
use super::simm::{curve, value};
use crate::constants::Constants;
use soleus_math::{Function, Over, Real};
use soleus_model::muscle::{Muscle, RigidTendon, default_curves};

/// A compiled RigidTendonMuscle. No states; activation is the excitation.
///
///   l cos φ = max(L − l_s, 0),  l² = (l cos φ)² + (l₀ sin α₀)²      (1)
///   F_t = F₀ (e f_L(l/l₀) f_V(L̇/(v_max l₀)) + f_P(l/l₀)) cos φ       (2)
///
/// The fiber velocity is assumed to be that of the path, regardless of pennation; f_P is clamped to [0, 10].
///
/// Source: OpenSim's class of the same name.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidTendonMuscle<P = f64> {
    active: Function,
    passive: Function,
    velocity: Function,
    f0: P,
    ls: P,
    per_l0: P,
    per_v0: P,
    width: P,
}

struct State<T> {
    l: T,
    cos: T,
    fl: T,
    fp: T,
    v: T,
    fv: T,
}

impl RigidTendonMuscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &RigidTendon) -> Result<RigidTendonMuscle, MuscleError> {
        RigidTendonMuscle::compile_over(m, p, &mut |_, value| value)
    }

    /// Quantities of this muscle that OpenSim reports; all others are NaN.
    pub fn info<T: Real>(&self, L: T, Ldot: T, e: T) -> MuscleInfo<T> {
        let s = self.state(L, Ldot);
        let mut info = MuscleInfo::unknown(L, Ldot, e);
        info.activation = e;
        info.fiber_length = s.l;
        info.normalized_fiber_length = s.l * self.per_l0;
        info.cos_pennation_angle = s.cos;
        info.pennation_angle = s.cos.acos();
        info.tendon_length = T::cst(self.ls);
        info.tendon_strain = T::zero();
        info.fiber_velocity = Ldot;
        info.normalized_fiber_velocity = s.v;
        info.active_force_length_multiplier = s.fl;
        info.passive_force_multiplier = s.fp;
        info.force_velocity_multiplier = s.fv;
        info.active_fiber_force = e * s.fl * s.fv * self.f0;
        info.passive_fiber_force = s.fp * self.f0;
        info.passive_fiber_elastic_force = info.passive_fiber_force;
        info.passive_fiber_damping_force = T::zero();
        info.fiber_force = info.active_fiber_force + info.passive_fiber_force;
        info.tendon_force = info.fiber_force * s.cos;
        info.fiber_potential_energy = T::zero();
        info.tendon_potential_energy = T::zero();
        info.complete(true);
        info.tendon_power = T::zero();
        info
    }

    /// There is nothing to solve.
    pub fn solve_equilibrium(&self, L: f64, Ldot: f64, activation: f64) -> Equilibrium {
        Equilibrium::immediate(self.dynamics(L, Ldot, activation))
    }
}

impl<P: Real> RigidTendonMuscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &RigidTendon,
        constant: &mut Constants<P>,
    ) -> Result<RigidTendonMuscle<P>, MuscleError> {
        let l0 = m.optimal_fiber_length;
        let v0 = m.max_contraction_velocity * l0;
        require("max_isometric_force", m.max_isometric_force, true, "finite")?;
        require("optimal_fiber_length", l0, l0 > 0.0, "greater than zero")?;
        require("tendon_slack_length", m.tendon_slack_length, true, "finite")?;
        require("max_contraction_velocity", v0 / l0, v0 > 0.0, "greater than zero")?;
        require("pennation_angle_at_optimal", m.pennation_angle_at_optimal, true, "finite")?;
        let l0 = constant("optimal_fiber_length", l0);
        let vmax = constant("max_contraction_velocity", m.max_contraction_velocity);
        Ok(RigidTendonMuscle {
            active: curve(&p.active_force_length_curve, &default_curves::ACTIVE_FORCE_LENGTH)?,
            passive: curve(&p.passive_force_length_curve, &default_curves::PASSIVE_FORCE_LENGTH)?,
            velocity: curve(&p.force_velocity_curve, &default_curves::FORCE_VELOCITY)?,
            f0: constant("max_isometric_force", m.max_isometric_force),
            ls: constant("tendon_slack_length", m.tendon_slack_length),
            per_l0: l0.recip(),
            per_v0: (vmax * l0).recip(),
            width: l0 * constant("pennation_angle_at_optimal", m.pennation_angle_at_optimal).sin(),
        })
    }

    #[inline]
    fn state<T: Over<P>>(&self, L: T, Ldot: T) -> State<T> {
        let along = L - self.ls;
        let along = if along.value() < 0.0 { T::zero() } else { along };
        // Thinner than √ε counts as no pennation, so that cos φ stays 1 when the fiber vanishes.
        let (l, cos) = if self.width.value() > f64::EPSILON.sqrt() {
            let l = (along * along + self.width * self.width).sqrt();
            (l, along / l)
        } else {
            (along, T::one())
        };
        let x = l * self.per_l0;
        let v = Ldot * self.per_v0;
        let (fl, fp, fv) =
            (value(&self.active, x), value(&self.passive, x).clamp(0.0, 10.0), value(&self.velocity, v));
        State { l, cos, fl, fp, v, fv }
    }

    /// Tension (N).
    #[inline]
    pub fn dynamics<T: Over<P>>(&self, L: T, Ldot: T, e: T) -> T {
        let s = self.state(L, Ldot);
        (e * s.fl * s.fv + s.fp) * s.cos * self.f0
    }
}

//! Delp's muscle (1990): a mass between fiber and tendon.

use super::activation::RateActivation;
use super::error::{MuscleError, require};
use super::simm::{SimmGeometry, SimmMuscle, cos_pennation, curve, value};
use crate::constants::Constants;
use soleus_math::{Function, Over, Real};
use soleus_model::muscle::{Delp1990, Muscle, default_curves};

/// A compiled Delp1990Muscle_Deprecated. States: activation, fiber length (m), fiber velocity, m/s.
///
/// With x and v in units of l₀ and l₀ per time scale T, and the mass M = m (l₀/T)²:
///
///   v′ = (f_T cos φ − f cos² φ)/M + v² tan² φ/x,   f = a f_L f_V(v) + f_P      (1)
///
/// Source: Delp (1990), Zajac (1989); OpenSim's Delp1990Muscle_Deprecated.
#[derive(Clone, Debug, PartialEq)]
pub struct Delp1990Muscle<P = f64> {
    activation: RateActivation<P>,
    active: Function,
    passive: Function,
    tendon: Function,
    velocity: Function,
    time_scale: P,
    per_mass: P,
    g: SimmGeometry<P>,
}

impl Delp1990Muscle {
    /// From the model's parameters.
    pub fn compile(m: &Muscle, p: &Delp1990) -> Result<Delp1990Muscle, MuscleError> {
        Delp1990Muscle::compile_over(m, p, &mut |_, value| value)
    }
}

impl SimmMuscle for Delp1990Muscle {
    fn geometry(&self) -> &SimmGeometry {
        &self.g
    }

    fn active_force<T: Real>(&self, x: T) -> T {
        value(&self.active, x)
    }

    fn passive_force<T: Real>(&self, x: T) -> T {
        value(&self.passive, x)
    }

    fn tendon_force(&self, strain: f64) -> f64 {
        value(&self.tendon, strain)
    }

    fn tension_and_velocity<T: Real>(&self, L: T, _: T, e: T, states: &[T]) -> (T, T) {
        let mut dot = [T::zero(); 3];
        (self.dynamics(L, e, states, &mut dot), states[2])
    }

    fn first_length(&self, L: f64) -> f64 {
        L - self.g.ls
    }
}

impl<P: Real> Delp1990Muscle<P> {
    /// From the model's parameters, each converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        p: &Delp1990,
        constant: &mut Constants<P>,
    ) -> Result<Delp1990Muscle<P>, MuscleError> {
        let g = SimmGeometry::new("Delp1990Muscle_Deprecated", m, constant)?;
        require("time_scale", p.time_scale, p.time_scale > 0.0, "greater than zero")?;
        require("mass", p.mass, p.mass > 0.0, "greater than zero")?;
        require("activation1", p.activation1, true, "finite")?;
        require("activation2", p.activation2, true, "finite")?;
        let time_scale = constant("time_scale", p.time_scale);
        let speed = g.l0 / time_scale;
        Ok(Delp1990Muscle {
            activation: RateActivation {
                k1: constant("activation1", p.activation1) / time_scale,
                k2: constant("activation2", p.activation2) / time_scale,
                switches: true,
            },
            active: curve(&p.active_force_length_curve, &default_curves::ACTIVE_FORCE_LENGTH)?,
            passive: curve(&p.passive_force_length_curve, &default_curves::PASSIVE_FORCE_LENGTH)?,
            tendon: curve(&p.tendon_force_length_curve, &default_curves::TENDON_FORCE_LENGTH)?,
            velocity: curve(&p.force_velocity_curve, &default_curves::FORCE_VELOCITY)?,
            time_scale,
            per_mass: (constant("mass", p.mass) * speed * speed).recip(),
            g,
        })
    }

    /// Tension (N); writes the rates of activation, fiber length and fiber velocity.
    #[inline]
    pub fn dynamics<T: Over<P>>(&self, L: T, e: T, states: &[T], states_dot: &mut [T]) -> T {
        let (a, x) = (states[0], states[1] * self.g.per_l0);
        let v = states[2] * (self.time_scale * self.g.per_l0);
        let cos = cos_pennation(states[1], self.g.width);
        let cos2 = cos * cos;
        let strain = (L - states[1] * cos) * self.g.per_ls - 1.0;
        let ft = strain.where_below(T::zero(), T::zero, || value(&self.tendon, strain));
        let f = a * value(&self.active, x) * value(&self.velocity, v) + value(&self.passive, x);
        let tan2 = (T::one() - cos2) / cos2;
        let vdot = (ft * cos - f * cos2) * self.per_mass + v * v * tan2 / x;
        states_dot[0] = self.activation.rate(a, e);
        states_dot[1] = states[2];
        states_dot[2] = vdot * (self.g.l0 / (self.time_scale * self.time_scale));
        ft * self.g.f0
    }
}

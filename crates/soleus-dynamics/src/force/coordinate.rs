//! Generalized forces on one coordinate: actuators and a spring.

use crate::{Kinematics, Loads};
use soleus_math::function::Expression;
use soleus_math::{Over, Real};

/// τ = F₀ x: a control scaled by the optimal force, on one mobility.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateActuator<P = f64> {
    /// Mobility it acts on.
    pub mobility: usize,
    /// Optimal force F₀, N or N·m.
    pub optimal_force: P,
}

impl<P: Real> CoordinateActuator<P> {
    /// Generalized force, N or N·m, at control x.
    #[inline]
    pub fn actuation<T: Over<P>>(&self, x: T) -> T {
        x * self.optimal_force
    }
    /// Adds the force to `loads`.
    #[inline]
    pub fn apply<T: Over<P>>(&self, x: T, loads: &mut Loads<T>) {
        loads.mobility[self.mobility] += self.actuation(x);
    }
}

/// τ = F₀ a with activation dynamics ȧ = (x − a)/T. Neither a nor x is clamped.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivationCoordinateActuator<P = f64> {
    /// Mobility it acts on.
    pub mobility: usize,
    /// Optimal force F₀, N or N·m.
    pub optimal_force: P,
    /// Time constant T, s; above zero.
    pub time_constant: P,
    /// Activation of the default state.
    pub default_activation: f64,
}

impl<P: Real> ActivationCoordinateActuator<P> {
    /// Generalized force, N or N·m, at activation a.
    #[inline]
    pub fn actuation<T: Over<P>>(&self, a: T) -> T {
        a * self.optimal_force
    }
    /// Rate of the activation, 1/s.
    #[inline]
    pub fn activation_rate<T: Over<P>>(&self, x: T, a: T) -> T {
        (x - a) / self.time_constant
    }
}

/// τ = −k (q − q₀) − c u.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringGeneralizedForce<P = f64> {
    /// Mobility it acts on.
    pub mobility: usize,
    /// Stiffness k, N/m or N·m/rad.
    pub stiffness: P,
    /// Rest value q₀, m or rad.
    pub rest_length: P,
    /// Viscosity c, N·s/m or N·m·s/rad.
    pub viscosity: P,
}

impl<P: Real> SpringGeneralizedForce<P> {
    /// Generalized force, N or N·m.
    #[inline]
    pub fn magnitude<T: Over<P>>(&self, kin: &Kinematics<T>) -> T {
        let (q, u) = (kin.q[self.mobility], kin.u[self.mobility]);
        (q - self.rest_length) * -self.stiffness - u * self.viscosity
    }
    /// ½ k (q − q₀)², J. Not included in OpenSim.
    #[inline]
    pub fn potential_energy<T: Over<P>>(&self, kin: &Kinematics<T>) -> T {
        (kin.q[self.mobility] - self.rest_length).sq() * (self.stiffness * 0.5)
    }
}

/// τ = expression(q, q̇), the variables being named `q` and `qdot`; q̇ is the coordinate's speed.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionCoordinateForce {
    /// Mobility it acts on.
    pub mobility: usize,
    /// Generalized force of (q, q̇), N or N·m.
    pub expression: Expression,
}

impl ExpressionCoordinateForce {
    /// Generalized force, N or N·m.
    #[inline]
    pub fn magnitude<T: Real>(&self, kin: &Kinematics<T>) -> T {
        self.expression.value(&[kin.q[self.mobility], kin.u[self.mobility]])
    }
}

//! Small problems with known solutions.

use crate::linear::Pattern;
use crate::ode::{ExplicitOde, ImplicitOde, MechanicalOde, RhsError};

/// x' = v, v' = −ω² x.
pub struct Oscillator {
    pub omega: f64,
}

impl ExplicitOde for Oscillator {
    fn dim(&self) -> usize {
        2
    }
    fn rhs(&mut self, _: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
        xdot[0] = x[1];
        xdot[1] = -self.omega * self.omega * x[0];
        Ok(())
    }
}

impl MechanicalOde for Oscillator {
    fn num_coordinates(&self) -> usize {
        1
    }
    fn coordinate_rates(&mut self, x: &[f64], qdot: &mut [f64]) {
        qdot[0] = x[1];
    }
}

/// f(t, x, ẋ) with Jacobians, dense, from a closure that writes f, ∂f/∂x and ∂f/∂ẋ.
pub struct Dense<F> {
    pub f: F,
    pub pattern: Pattern,
}

impl<F: FnMut(f64, &[f64], &[f64], &mut [f64], &mut [f64], &mut [f64])> Dense<F> {
    pub fn new(dim: usize, f: F) -> Self {
        Dense { f, pattern: Pattern::dense(dim) }
    }
}

impl<F: FnMut(f64, &[f64], &[f64], &mut [f64], &mut [f64], &mut [f64])> ImplicitOde for Dense<F> {
    fn dim(&self) -> usize {
        self.pattern.dim()
    }
    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        let n = self.pattern.len();
        (self.f)(t, x, xdot, r, &mut vec![0.0; n], &mut vec![0.0; n]);
        Ok(())
    }
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
    fn jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        df_dx.fill(0.0);
        df_dxdot.fill(0.0);
        (self.f)(t, x, xdot, &mut vec![0.0; x.len()], df_dx, df_dxdot);
        Ok(())
    }
}

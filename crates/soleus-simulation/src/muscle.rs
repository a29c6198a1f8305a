//! A single muscle with prescribed length.

use crate::error_norm::ErrorNorm;
use crate::linear::Pattern;
use crate::ode::{ExplicitOde, ImplicitOde, RhsError};
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::Dual;

/// Most states that a muscle class has.
const MOST_STATES: usize = 3;

/// Inputs of a muscle at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleInput {
    /// Length L of the whole muscle, m.
    pub length: f64,
    /// Lengthening speed dL/dt, m/s.
    pub speed: f64,
    /// Excitation; the activation in a problem created by [`MuscleOde::at_activation`].
    pub excitation: f64,
}

/// A muscle whose length and excitation are functions of time; its states satisfy
///
///   ż = h(L(t), L̇(t), e(t), z)        or, implicitly,        r(L, L̇, e, z, ż) = 0
///
/// with exact Jacobians of the implicit form by dual numbers.
pub struct MuscleOde<'a, F> {
    muscle: &'a CompiledMuscle,
    input: F,
    /// States in front that are given and not integrated: the activation, or none.
    given: usize,
    dim: usize,
    pattern: Pattern,
}

impl<'a, F: FnMut(f64) -> MuscleInput> MuscleOde<'a, F> {
    /// With the muscle's own activation dynamics.
    pub fn new(muscle: &'a CompiledMuscle, input: F) -> Self {
        MuscleOde::with_given(muscle, input, 0)
    }

    /// With the activation given over time instead of the excitation.
    pub fn at_activation(muscle: &'a CompiledMuscle, input: F) -> Self {
        let first = muscle.state_names().first() == Some(&"activation");
        MuscleOde::with_given(muscle, input, usize::from(first))
    }

    fn with_given(muscle: &'a CompiledMuscle, input: F, given: usize) -> Self {
        let dim = muscle.state_names().len().min(MOST_STATES) - given;
        MuscleOde { muscle, input, given, dim, pattern: Pattern::dense(dim) }
    }

    /// All errors in one group; `units` are the changes that correspond to 1, for example optimal fiber lengths.
    pub fn error_norm(&self, units: &[f64]) -> ErrorNorm {
        ErrorNorm::uniform(self.dim).with_units(units)
    }

    /// Tension at a time and state, N.
    pub fn tension(&mut self, t: f64, x: &[f64]) -> f64 {
        let i = (self.input)(t);
        let (z, mut rates) = (self.states(&i, x), [0.0; MOST_STATES]);
        let n = self.given + self.dim;
        self.muscle.dynamics(i.length, i.speed, i.excitation, &z[..n], &mut rates[..n])
    }

    /// All states of the muscle.
    fn states(&self, i: &MuscleInput, x: &[f64]) -> [f64; MOST_STATES] {
        let mut z = [i.excitation, 0.0, 0.0];
        z[self.given..self.given + self.dim].copy_from_slice(x);
        z
    }
}

impl<F: FnMut(f64) -> MuscleInput> ExplicitOde for MuscleOde<'_, F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn rhs(&mut self, t: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
        let i = (self.input)(t);
        let (z, mut rates) = (self.states(&i, x), [0.0; MOST_STATES]);
        let n = self.given + self.dim;
        self.muscle.dynamics(i.length, i.speed, i.excitation, &z[..n], &mut rates[..n]);
        xdot.copy_from_slice(&rates[self.given..n]);
        Ok(())
    }
}

impl<F: FnMut(f64) -> MuscleInput> ImplicitOde for MuscleOde<'_, F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        let i = (self.input)(t);
        let (z, mut rates, mut all) = (self.states(&i, x), [0.0; MOST_STATES], [0.0; MOST_STATES]);
        let n = self.given + self.dim;
        rates[self.given..n].copy_from_slice(xdot);
        self.muscle.residual(i.length, i.speed, i.excitation, &z[..n], &rates[..n], &mut all[..n]);
        r.copy_from_slice(&all[self.given..n]);
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
        type D = Dual<f64, { 2 * MOST_STATES }>;
        let constant = |v| D::new(v, [0.0; 2 * MOST_STATES]);
        let i = (self.input)(t);
        let (given, n) = (self.given, self.given + self.dim);
        let mut z = self.states(&i, x).map(constant);
        let (mut rates, mut r) = ([constant(0.0); MOST_STATES], [constant(0.0); MOST_STATES]);
        for k in 0..self.dim {
            z[given + k] = D::variable(x[k], k);
            rates[given + k] = D::variable(xdot[k], MOST_STATES + k);
        }
        let (L, Ldot, e) = (constant(i.length), constant(i.speed), constant(i.excitation));
        self.muscle.residual(L, Ldot, e, &z[..n], &rates[..n], &mut r[..n]);
        for row in 0..self.dim {
            for column in 0..self.dim {
                let k = row * self.dim + column;
                df_dx[k] = r[given + row].d[column];
                df_dxdot[k] = r[given + row].d[MOST_STATES + column];
            }
        }
        Ok(())
    }

    fn consistent_rates(&mut self, t: f64, x: &mut [f64], xdot: &mut [f64]) -> bool {
        self.rhs(t, x, xdot).is_ok() && xdot.iter().all(|d| d.is_finite())
    }
}

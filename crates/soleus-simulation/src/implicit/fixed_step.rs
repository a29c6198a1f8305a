//! What implicit methods with a fixed step share: where they are, how they start, how a step ends.

use super::consistent::solve_consistent_rates;
use super::matrices::Matrices;
use crate::error_norm::ErrorNorm;
use crate::explicit::fixed_end;
use crate::integrate::Statistics;
use crate::ode::ImplicitOde;
use crate::stop::Stop;

/// The last step of a method, and what the next one needs.
pub(super) struct FixedStep {
    step: f64,
    pub norm: ErrorNorm,
    pub m: Matrices,
    pub t: [f64; 2],
    pub x: [Vec<f64>; 2],
    /// ẋ as the method has it: at the end of the last step, or in its middle.
    pub xdot: Vec<f64>,
    pub statistics: Statistics,
}

impl FixedStep {
    /// Steps of `step` seconds.
    pub fn new(norm: ErrorNorm, step: f64) -> Self {
        let n = norm.dim();
        let v = || vec![0.0; n];
        FixedStep {
            step,
            norm,
            m: Matrices::default(),
            t: [0.0; 2],
            x: [v(), v()],
            xdot: v(),
            statistics: Statistics::default(),
        }
    }

    /// Begins at (t, x), with rates that fit.
    pub fn start<P: ImplicitOde + ?Sized>(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        if !(self.step > 0.0) || x.len() != self.norm.dim() || p.dim() != x.len() {
            return Err(Stop::Setup(
                "the step must be positive, and state, norm and problem must have the same size",
            ));
        }
        self.statistics = Statistics::default();
        self.m.prepare(p);
        self.t = [t; 2];
        self.x[1].copy_from_slice(x);
        self.xdot.fill(0.0);
        solve_consistent_rates(p, &self.norm, t, &mut self.x[1], &mut self.xdot)?;
        let [a, b] = &mut self.x;
        a.copy_from_slice(b);
        Ok(())
    }

    /// End and length of the next step. The length is the same number for every full step, so that factors can be kept.
    pub fn next(&self, t_max: f64) -> Result<(f64, f64), Stop> {
        let t0 = self.t[1];
        let t1 = fixed_end(t0, self.step, t_max);
        let h = if t1 == t0 + self.step { self.step } else { t1 - t0 };
        if h > 0.0 { Ok((t1, h)) } else { Err(Stop::Setup("a step must go forward in time")) }
    }

    /// Ends a step at `t1` with the state in `x_new`, which is put back on constraints if they are off by more than
    /// `tolerance`; `scratch` is of the same size.
    pub fn finish<P: ImplicitOde + ?Sized>(
        &mut self,
        p: &mut P,
        t1: f64,
        x_new: &mut Vec<f64>,
        scratch: &mut [f64],
        tolerance: f64,
    ) -> Result<(), Stop> {
        let t0 = self.t[1];
        let done =
            p.project(t1, x_new, scratch, tolerance).map_err(|source| Stop::Rhs { time: t0, source })?;
        self.statistics.projections += usize::from(done.changed);
        self.statistics.steps += 1;
        self.t = [t0, t1];
        self.x.swap(0, 1);
        std::mem::swap(&mut self.x[1], x_new);
        Ok(())
    }
}

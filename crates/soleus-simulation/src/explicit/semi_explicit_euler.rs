//! Semi-explicit Euler method.

use crate::hermite::cubic;
use crate::integrate::{Integrator, Statistics};
use crate::ode::MechanicalOde;
use crate::stop::{Quantity, Stop, first_not_finite};

/// Semi-explicit (symplectic) Euler with a fixed step, order 1:
///
///   u₁ = u₀ + h u̇(t₀, q₀, u₀, z₀),   z₁ = z₀ + h ż(t₀, q₀, u₀, z₀)        (1)
///   q₁ = q₀ + h N(q₀) u₁                                                  (2)
///
/// One evaluation per step; energy of undamped motion stays bounded. Dense output is cubic.
#[derive(Clone, Debug)]
pub struct SemiExplicitEuler {
    step: f64,
    /// Constraint error above which a state is projected.
    pub constraint_tolerance: f64,
    t: [f64; 2],
    x: [Vec<f64>; 2],
    /// Rates at the start and end of the last step.
    f: [Vec<f64>; 2],
    x_new: Vec<f64>,
    error: Vec<f64>,
    statistics: Statistics,
}

impl SemiExplicitEuler {
    /// Steps of `step` seconds for `dim` states.
    pub fn new(dim: usize, step: f64) -> Self {
        let v = || vec![0.0; dim];
        SemiExplicitEuler {
            step,
            constraint_tolerance: 1e-6,
            t: [0.0; 2],
            x: [v(), v()],
            f: [v(), v()],
            x_new: v(),
            error: v(),
            statistics: Statistics::default(),
        }
    }

    fn evaluate<P: MechanicalOde + ?Sized>(&mut self, p: &mut P) -> Result<(), Stop> {
        let time = self.t[1];
        self.statistics.evaluations += 1;
        p.rhs(time, &self.x[1], &mut self.f[1]).map_err(|source| Stop::Rhs { time, source })?;
        match first_not_finite(&self.f[1]) {
            Some(component) => Err(Stop::NotFinite { time, component, quantity: Quantity::Rate }),
            None => Ok(()),
        }
    }
}

impl<P: MechanicalOde + ?Sized> Integrator<P> for SemiExplicitEuler {
    fn start(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        if !(self.step > 0.0) || x.len() != self.x_new.len() || p.dim() != x.len() {
            return Err(Stop::Setup(
                "the step must be positive, and state and problem must have the same size",
            ));
        }
        self.statistics = Statistics::default();
        self.t = [t; 2];
        self.x[0].copy_from_slice(x);
        self.x[1].copy_from_slice(x);
        self.evaluate(p)
    }

    fn step(&mut self, p: &mut P, t_max: f64) -> Result<(), Stop> {
        let t0 = self.t[1];
        let t1 = fixed_end(t0, self.step, t_max);
        let h = t1 - t0;
        if !(h > 0.0) {
            return Err(Stop::Setup("a step must go forward in time"));
        }
        let n = p.num_coordinates();
        for i in 0..self.x_new.len() {
            // Coordinates wait for the new speeds.
            let rate = if i < n { 0.0 } else { self.f[1][i] };
            self.x_new[i] = self.x[1][i] + h * rate; // (1)
        }
        p.coordinate_rates(&self.x_new, &mut self.error[..n]);
        for i in 0..n {
            self.x_new[i] += h * self.error[i]; // (2)
        }
        if let Some(component) = first_not_finite(&self.x_new) {
            return Err(Stop::NotFinite { time: t0, component, quantity: Quantity::State });
        }
        let done = p
            .project(t1, &mut self.x_new, &mut self.error, self.constraint_tolerance)
            .map_err(|source| Stop::Rhs { time: t0, source })?;
        self.statistics.projections += usize::from(done.changed);
        self.statistics.steps += 1;
        self.t = [t0, t1];
        self.x.swap(0, 1);
        self.f.swap(0, 1);
        std::mem::swap(&mut self.x[1], &mut self.x_new);
        self.evaluate(p)
    }

    fn span(&self) -> (f64, f64) {
        (self.t[0], self.t[1])
    }

    fn state(&self) -> &[f64] {
        &self.x[1]
    }

    fn rates(&self) -> &[f64] {
        &self.f[1]
    }

    fn interpolate(&self, t: f64, x: &mut [f64]) {
        cubic(self.t, &self.x, [&self.f[0], &self.f[1]], t, x);
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }
}

/// End of a fixed step: at `t_max` when it would end within a thousandth of a step of it, so that a million steps
/// of 1 ms are not followed by one of 1e-10 s.
pub(crate) fn fixed_end(t0: f64, step: f64, t_max: f64) -> f64 {
    if t_max > t0 + 1.001 * step { t0 + step } else { t_max }
}

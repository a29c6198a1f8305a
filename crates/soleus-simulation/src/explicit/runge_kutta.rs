//! Explicit Runge–Kutta pairs with error control.

use super::control::Controller;
use super::tableau::{DORMAND_PRINCE_1980, Dense, MERSON_1957, Tableau};
use crate::error_norm::ErrorNorm;
use crate::hermite::blend;
use crate::integrate::{Integrator, Statistics, StepOptions};
use crate::ode::{ExplicitOde, RhsError};
use crate::stop::{Quantity, Stop, first_not_finite};
use soleus_math::elementary;

/// Simbody's first step, s: a tenth of the time scale of 0.1 s that it assumes.
const SIMBODY_FIRST_STEP: f64 = 0.01;

/// An explicit Runge–Kutta pair with error control and dense output. One evaluation per stage; no memory is allocated
/// after construction.
#[derive(Clone, Debug)]
pub struct ExplicitRungeKutta {
    tableau: Tableau,
    controller: Controller,
    options: StepOptions,
    norm: ErrorNorm,
    t: [f64; 2],
    /// State at the start and end of the last step.
    x: [Vec<f64>; 2],
    /// Rates there.
    f: [Vec<f64>; 2],
    /// Stages after the first; the last is the rates at the end.
    k: Vec<Vec<f64>>,
    x_new: Vec<f64>,
    error: Vec<f64>,
    /// Fifth coefficient of the quartic.
    quartic: Vec<f64>,
    h: f64,
    limiting: Option<usize>,
    statistics: Statistics,
}

/// Why an attempt came to nothing.
enum Failed {
    Rhs(RhsError),
    NotFinite(usize, Quantity),
}

impl ExplicitRungeKutta {
    /// Merson's pair 4(3) with Simbody's step control: OpenSim's default integrator.
    pub fn merson(norm: ErrorNorm, options: StepOptions) -> Self {
        ExplicitRungeKutta::new(MERSON_1957, Controller::Simbody, norm, options)
    }

    /// The pair 5(4) of Dormand & Prince with proportional–integral control.
    pub fn dormand_prince(norm: ErrorNorm, options: StepOptions) -> Self {
        ExplicitRungeKutta::new(DORMAND_PRINCE_1980, Controller::proportional_integral(), norm, options)
    }

    /// Any pair with any step size control.
    pub fn new(tableau: Tableau, controller: Controller, norm: ErrorNorm, options: StepOptions) -> Self {
        let n = norm.dim();
        let v = || vec![0.0; n];
        ExplicitRungeKutta {
            k: vec![v(); tableau.c.len() + 1],
            tableau,
            controller,
            options,
            norm,
            t: [0.0; 2],
            x: [v(), v()],
            f: [v(), v()],
            x_new: v(),
            error: v(),
            quartic: v(),
            h: 0.0,
            limiting: None,
            statistics: Statistics::default(),
        }
    }

    /// One attempt from the state at the end of the last step: leaves the new state in `x_new`, its rates in
    /// the last of `k`, the quartic's coefficient, and returns the relative error with the state it is largest in.
    fn attempt<P: ExplicitOde + ?Sized>(&mut self, p: &mut P, t1: f64) -> Result<(f64, usize), Failed> {
        let (t0, h) = (self.t[1], t1 - self.t[1]);
        let (x0, f0) = (&self.x[1], &self.f[1]);
        let n = x0.len();
        let stages = self.tableau.c.len();

        for s in 0..stages {
            combine(&mut self.x_new, x0, h, self.tableau.a[s], f0, &self.k);
            let t = if self.tableau.c[s] == 1.0 { t1 } else { t0 + self.tableau.c[s] * h };
            self.statistics.evaluations += 1;
            p.rhs(t, &self.x_new, &mut self.k[s]).map_err(Failed::Rhs)?;
        }
        combine(&mut self.x_new, x0, h, self.tableau.b, f0, &self.k);
        if let Some(i) = first_not_finite(&self.x_new) {
            return Err(Failed::NotFinite(i, Quantity::State));
        }

        // Where the rates at the end take part in the error, they come before projection.
        let last_in_error = self.tableau.e.len() > stages + 1;
        if last_in_error {
            self.rates_at_end(p, t1)?;
        }
        let (x0, f0) = (&self.x[1], &self.f[1]);
        for i in 0..n {
            let mut e = self.tableau.e[0] * f0[i];
            for (w, k) in self.tableau.e[1..].iter().zip(&self.k) {
                e += w * k[i];
            }
            self.error[i] = h * e;
        }
        let accuracy = self.options.accuracy;
        let (e, worst) = self.norm.norm(x0, &self.error);
        if !e.is_finite() {
            return Err(Failed::NotFinite(worst, Quantity::Rate));
        }

        // A step that half its length would not save is not worth projecting.
        let forced = self.is_smallest(h);
        if e > f64::from(1 << self.tableau.error_order) * accuracy && !forced {
            return Ok((e / accuracy, worst));
        }
        let tolerance = self.options.constraint_tolerance();
        let done = p.project(t1, &mut self.x_new, &mut self.error, tolerance).map_err(Failed::Rhs)?;
        let (e, worst) = self.norm.norm(x0, &self.error);
        if e <= accuracy || forced {
            if done.changed {
                self.statistics.projections += 1;
            }
            if done.changed || !last_in_error {
                self.rates_at_end(p, t1)?;
            }
            if let Dense::Quartic(d) = &self.tableau.dense {
                for i in 0..n {
                    let mut s = d[0] * self.f[1][i];
                    for (d, k) in d[1..].iter().zip(&self.k) {
                        s += d * k[i];
                    }
                    self.quartic[i] = h * s;
                }
            }
        }
        Ok((e / accuracy, worst))
    }

    /// Whether a step is taken whatever its error.
    fn is_smallest(&self, h: f64) -> bool {
        // A step is the difference of two times, which rounding may have made longer.
        self.options.force_min_step && h <= self.options.min_step * (1.0 + 1e-6)
    }

    /// Rates at `x_new`, into the last of `k`.
    fn rates_at_end<P: ExplicitOde + ?Sized>(&mut self, p: &mut P, t1: f64) -> Result<(), Failed> {
        let Some(last) = self.k.last_mut() else { return Ok(()) };
        self.statistics.evaluations += 1;
        p.rhs(t1, &self.x_new, last).map_err(Failed::Rhs)?;
        match first_not_finite(last) {
            Some(i) => Err(Failed::NotFinite(i, Quantity::Rate)),
            None => Ok(()),
        }
    }

    /// A first step after Hairer, Nørsett & Wanner (1993), section II.4: one explicit Euler step tells the size
    /// of the second derivative.
    fn first_step<P: ExplicitOde + ?Sized>(&mut self, p: &mut P) -> f64 {
        let (x, f) = (&self.x[1], &self.f[1]);
        let (d0, d1) = (self.norm.norm(x, x).0, self.norm.norm(x, f).0);
        let h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
        let h0 = h0.min(self.options.max_step);
        combine(&mut self.x_new, x, h0, &[1.0], f, &[]);
        self.statistics.evaluations += 1;
        if p.rhs(self.t[1] + h0, &self.x_new, &mut self.k[0]).is_err() {
            return h0;
        }
        for i in 0..x.len() {
            self.error[i] = (self.k[0][i] - f[i]) / h0;
        }
        let d2 = self.norm.norm(x, &self.error).0;
        let largest = d1.max(d2);
        let h1 = if largest <= 1e-15 {
            (h0 * 1e-3).max(1e-6)
        } else {
            // The norm is relative to the accuracy: (accuracy/largest)^(1/p).
            elementary::powf(self.options.accuracy / largest, 1.0 / f64::from(self.tableau.error_order))
        };
        if h1.is_finite() { h1.min(100.0 * h0) } else { h0 }
    }
}

/// out = x + h (a₀ f + Σ aⱼ₊₁ kⱼ).
fn combine(out: &mut [f64], x: &[f64], h: f64, a: &[f64], f: &[f64], k: &[Vec<f64>]) {
    let a0 = h * a[0];
    for ((o, x), f) in out.iter_mut().zip(x).zip(f) {
        *o = x + a0 * f;
    }
    for (a, k) in a[1..].iter().zip(k) {
        if *a != 0.0 {
            let a = h * a;
            for (o, k) in out.iter_mut().zip(k) {
                *o += a * k;
            }
        }
    }
}

impl<P: ExplicitOde + ?Sized> Integrator<P> for ExplicitRungeKutta {
    fn start(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        self.options.check()?;
        if x.len() != self.norm.dim() || p.dim() != x.len() {
            return Err(Stop::Setup("state, norm and problem differ in size"));
        }
        self.statistics = Statistics::default();
        self.t = [t; 2];
        self.x[0].copy_from_slice(x);
        self.x[1].copy_from_slice(x);
        if let Some(component) = first_not_finite(x) {
            return Err(Stop::NotFinite { time: t, component, quantity: Quantity::State });
        }
        self.statistics.evaluations += 1;
        p.rhs(t, x, &mut self.f[1]).map_err(|source| Stop::Rhs { time: t, source })?;
        if let Some(component) = first_not_finite(&self.f[1]) {
            return Err(Stop::NotFinite { time: t, component, quantity: Quantity::Rate });
        }
        if let Controller::ProportionalIntegral { .. } = self.controller {
            self.controller = Controller::proportional_integral();
        }
        let h = match (self.options.initial_step, &self.controller) {
            (Some(h), _) => h,
            (None, Controller::Simbody) => SIMBODY_FIRST_STEP,
            (None, _) => self.first_step(p),
        };
        self.h = h.min(self.options.max_step);
        Ok(())
    }

    fn step(&mut self, p: &mut P, t_max: f64) -> Result<(), Stop> {
        let t0 = self.t[1];
        if self.statistics.steps >= self.options.max_steps {
            return Err(Stop::StepLimit { time: t0, steps: self.statistics.steps });
        }
        let mut underflow = None;
        loop {
            let smallest = self.options.smallest(t0);
            if self.h < smallest {
                let usual = Stop::Underflow { time: t0, step: self.h, component: 0, error: f64::INFINITY };
                return Err(underflow.unwrap_or(usual));
            }
            // A step that would end near t_max ends there.
            let limited = t_max < t0 + 0.95 * self.h;
            let t1 = if t_max > t0 + 1.001 * self.h { t0 + self.h } else { t_max };
            if !(t1 > t0) {
                return Err(Stop::Setup("a step must go forward in time"));
            }

            let attempt = self.attempt(p, t1);
            let e = match &attempt {
                Ok((e, component)) => {
                    let (error, component) = (*e, *component);
                    self.limiting = Some(component);
                    underflow = Some(Stop::Underflow { time: t0, step: self.h, component, error });
                    *e
                }
                Err(_) => f64::INFINITY,
            };
            match attempt {
                Err(Failed::Rhs(source)) => underflow = Some(Stop::Rhs { time: t0, source }),
                Err(Failed::NotFinite(component, quantity)) => {
                    self.limiting = Some(component);
                    underflow = Some(Stop::NotFinite { time: t0, component, quantity });
                }
                Ok(_) => {}
            }
            // A step cut short to reach t_max says little about the next; rejected, it shrinks from what it was.
            let tried = if limited { t1 - t0 } else { self.h };
            let (mut accepted, mut next) = self.controller.next(tried, e, self.tableau.error_order, limited);
            if self.options.force_min_step && next < self.options.min_step {
                // At the smallest step an error that can be told is put up with; where there is none, this is the end.
                next = self.options.min_step;
                if !accepted && self.is_smallest(tried) {
                    match underflow.take() {
                        Some(Stop::Underflow { .. }) if e.is_finite() => accepted = true,
                        Some(stop) => return Err(stop),
                        None => {}
                    }
                    self.statistics.inaccurate += 1;
                }
            }
            if !accepted || !limited {
                self.h = next.min(self.options.max_step);
            }
            if !accepted {
                if e.is_finite() {
                    self.statistics.rejected += 1;
                } else {
                    self.statistics.failed += 1;
                }
                continue;
            }

            self.statistics.steps += 1;
            self.t = [t0, t1];
            self.x.swap(0, 1);
            self.f.swap(0, 1);
            std::mem::swap(&mut self.x[1], &mut self.x_new);
            if let Some(last) = self.k.last_mut() {
                std::mem::swap(&mut self.f[1], last);
            }
            return Ok(());
        }
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

    /// The cubic of Hermite, or a quartic that goes with the pair.
    fn interpolate(&self, t: f64, x: &mut [f64]) {
        let h = self.t[1] - self.t[0];
        if !(h > 0.0) {
            x.copy_from_slice(&self.x[1]);
            return;
        }
        let s = (t - self.t[0]) / h;
        for (i, x) in x.iter_mut().enumerate() {
            let (x0, f0, f1) = (self.x[0][i], h * self.f[0][i], h * self.f[1][i]);
            let d = self.x[1][i] - x0;
            let r = if self.tableau.dense == Dense::Cubic { 0.0 } else { self.quartic[i] };
            *x = blend(x0, d, f0, f1, r, s);
        }
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn limiting(&self) -> Option<usize> {
        self.limiting
    }
}

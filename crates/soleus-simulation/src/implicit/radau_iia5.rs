//! Radau IIA of order 5 for f(t, x, ẋ) = 0.

use super::consistent::solve_consistent_rates;
use super::matrices::Matrices;
use super::radau_coefficients::RadauCoefficients;
use crate::error_norm::ErrorNorm;
use crate::integrate::{Integrator, Statistics, StepOptions};
use crate::linear::{Complex, DenseLu, LinearSolver};
use crate::ode::{ImplicitOde, RhsError};
use crate::stop::{Quantity, Stop, first_not_finite};
use soleus_math::elementary;

/// Newton iterations per attempt.
const MAX_ITERATIONS: usize = 7;

/// Jacobians are kept while Newton's method contracts faster than this: they cost many residuals.
const KEEP_JACOBIAN_BELOW: f64 = 0.05;

/// Radau IIA with three stages: order 5, L-stable, stiffly accurate, so that algebraic equations hold at the end of
/// every step. Step control, simplified Newton, dense output of order 3.
///
///   f(t + cᵢ h, x + zᵢ, (1/h) Σⱼ Bᵢⱼ zⱼ) = 0,  i = 0, 1, 2,  B = A⁻¹           (1)
///   x₁ = x + z₂,  ẋ₁ = (1/h) Σⱼ B₂ⱼ zⱼ                                          (2)
///
/// With B = T Λ T⁻¹ the Newton matrix I ⊗ ∂f/∂x + B/h ⊗ ∂f/∂ẋ decouples into a real and a complex system of the size of
/// x:
///
///   ∂f/∂x + (γ/h) ∂f/∂ẋ,   ∂f/∂x + ((α + iβ)/h) ∂f/∂ẋ                           (3)
///
/// and the error of an embedded method of order 3 is
///
///   err = (∂f/∂x + (γ/h) ∂f/∂ẋ)⁻¹ ∂f/∂ẋ (ẋ + Σ eᵢ zᵢ/h)                         (4)
///
/// Source: Hairer & Wanner (1996), section IV.8, written there for M ẋ = g(x); (1) and (4) are the same for the fully
/// implicit form, with ∂f/∂ẋ instead of M.
pub struct RadauIIA5<R = DenseLu<f64>, C = DenseLu<Complex>> {
    /// Newton tolerance relative to the accuracy; `None`: chosen so that its error is negligible.
    pub newton_tolerance: Option<f64>,
    options: StepOptions,
    norm: ErrorNorm,
    c: RadauCoefficients,
    real: R,
    complex: C,
    complex_values: Vec<Complex>,
    m: Matrices,
    t: [f64; 2],
    x: [Vec<f64>; 2],
    xdot: Vec<f64>,
    /// Stages of the last step.
    z_last: [Vec<f64>; 3],
    z: [Vec<f64>; 3],
    w: [Vec<f64>; 3],
    f: [Vec<f64>; 3],
    stage_x: Vec<f64>,
    stage_xdot: Vec<f64>,
    x_new: Vec<f64>,
    error: Vec<f64>,
    pair: Vec<Complex>,
    h: f64,
    /// Step the factors are for; 0 when there are none.
    factored: f64,
    fresh_jacobian: bool,
    /// Contraction of the last Newton iterations.
    theta: f64,
    /// Step and error of the last accepted step.
    accepted: Option<(f64, f64)>,
    rejected: bool,
    limiting: Option<usize>,
    statistics: Statistics,
}

/// What became of one attempt.
enum Attempt {
    /// Relative error, the state it is largest in, Newton iterations.
    Done(f64, usize, usize),
    /// Newton's method will not converge; try this much of the step.
    Diverged(f64, usize, f64),
    NotFinite(usize, Quantity),
    Rhs(RhsError),
}

impl RadauIIA5 {
    /// With dense factors.
    pub fn new(norm: ErrorNorm, options: StepOptions) -> Self {
        let n = norm.dim();
        RadauIIA5::with_solvers(norm, options, DenseLu::new(n), DenseLu::new(n))
    }
}

impl<R: LinearSolver<f64>, C: LinearSolver<Complex>> RadauIIA5<R, C> {
    /// The same with other linear solvers for the real and the complex system.
    pub fn with_solvers(norm: ErrorNorm, options: StepOptions, real: R, complex: C) -> Self {
        let n = norm.dim();
        let v = || vec![0.0; n];
        let three = || [v(), v(), v()];
        RadauIIA5 {
            newton_tolerance: None,
            options,
            norm,
            c: RadauCoefficients::new(),
            real,
            complex,
            complex_values: Vec::new(),
            m: Matrices::default(),
            t: [0.0; 2],
            x: [v(), v()],
            xdot: v(),
            z_last: three(),
            z: three(),
            w: three(),
            f: three(),
            stage_x: v(),
            stage_xdot: v(),
            x_new: v(),
            error: v(),
            pair: vec![Complex::default(); n],
            h: 0.0,
            factored: 0.0,
            fresh_jacobian: false,
            theta: 1.0,
            accepted: None,
            rejected: false,
            limiting: None,
            statistics: Statistics::default(),
        }
    }

    /// What the estimate (4) may be. It has order 3 while the result has order 5, so that an error of the result of
    /// the size asked for belongs to a larger estimate: 0.1 a^(2/3), as in the program RADAU5 (Hairer & Wanner 1996).
    fn allowed(&self) -> f64 {
        let a = self.options.accuracy;
        a.max(0.1 * elementary::powf(a, 2.0 / 3.0))
    }

    /// Both matrices (3).
    fn factorize(&mut self, h: f64) -> Result<(), Stop> {
        let time = self.t[1];
        self.statistics.factorizations += 1;
        self.factored = 0.0;
        self.m.factorize(1.0, self.c.gamma / h, time, &mut self.real)?;
        let s = Complex::new(self.c.alpha / h, self.c.beta / h);
        self.complex_values.clear();
        for (j, m) in self.m.J.iter().zip(&self.m.M) {
            self.complex_values.push(Complex::new(j + s.re * m, s.im * m));
        }
        self.complex
            .factorize(&self.m.pattern, &self.complex_values)
            .map_err(|e| Stop::Singular { time, component: e.column })?;
        self.factored = h;
        Ok(())
    }

    /// Starting values: the last collocation polynomial continued, or a straight line.
    fn predict(&mut self, h: f64) {
        let n = self.xdot.len();
        let last = self.t[1] - self.t[0];
        for s in 0..3 {
            if last > 0.0 {
                let at = 1.0 + self.c.c[s] * h / last;
                let l = self.c.lagrange(at);
                for i in 0..n {
                    let p: f64 = (0..3).map(|k| l[k] * self.z_last[k][i]).sum();
                    self.z[s][i] = p + self.x[0][i] - self.x[1][i];
                }
            } else {
                for i in 0..n {
                    self.z[s][i] = self.c.c[s] * h * self.xdot[i];
                }
            }
        }
        transform(&self.c.T_inverse, &self.z, &mut self.w);
    }

    fn attempt<P: ImplicitOde + ?Sized>(&mut self, p: &mut P, t1: f64) -> Attempt {
        let (t0, h) = (self.t[1], t1 - self.t[1]);
        let n = self.xdot.len();
        let accuracy = self.allowed();
        // Newton's error should not show in the error estimate; see Hairer & Wanner (1996), eq. IV.8.11.
        let usual = (10.0 * f64::EPSILON / accuracy).max(0.03_f64.min(accuracy.sqrt()));
        let wanted = self.newton_tolerance.unwrap_or(usual);
        self.predict(h);

        let (mut last, mut last_ratio, mut iterations) = (0.0, 1.0, 0);
        let mut eta: f64 = 1.0;
        loop {
            iterations += 1;
            self.statistics.newton_iterations += 1;
            for s in 0..3 {
                for i in 0..n {
                    self.stage_x[i] = self.x[1][i] + self.z[s][i];
                    self.stage_xdot[i] = (0..3).map(|k| self.c.B[s][k] * self.z[k][i]).sum::<f64>() / h;
                }
                self.statistics.evaluations += 1;
                let t = if s == 2 { t1 } else { t0 + self.c.c[s] * h };
                if let Err(e) = p.residual(t, &self.stage_x, &self.stage_xdot, &mut self.f[s]) {
                    return Attempt::Rhs(e);
                }
                if let Some(i) = first_not_finite(&self.f[s]) {
                    return Attempt::NotFinite(i, Quantity::Residual);
                }
            }
            // Δw = −(…)⁻¹ T⁻¹ f; the change goes into `f`.
            transform_in_place(&self.c.T_inverse, &mut self.f);
            self.real.solve(&mut self.f[0]);
            for i in 0..n {
                self.pair[i] = Complex::new(self.f[1][i], self.f[2][i]);
            }
            self.complex.solve(&mut self.pair);
            for i in 0..n {
                (self.f[1][i], self.f[2][i]) = (self.pair[i].re, self.pair[i].im);
            }
            let mut change: f64 = 0.0;
            let mut worst = 0;
            for s in 0..3 {
                for i in 0..n {
                    self.w[s][i] -= self.f[s][i];
                }
                let (size, at) = self.norm.norm(&self.x[1], &self.f[s]);
                if !(size <= change) {
                    (change, worst) = (size, at);
                }
            }
            change /= accuracy;
            if !change.is_finite() {
                return Attempt::NotFinite(worst, Quantity::State);
            }
            transform(&self.c.T, &self.w, &mut self.z);

            if iterations > 1 {
                let ratio: f64 = change / last;
                self.theta = if iterations == 2 { ratio } else { (ratio * last_ratio).sqrt() };
                last_ratio = ratio;
                if self.theta >= 0.99 {
                    return Attempt::Diverged(0.5, worst, change);
                }
                eta = self.theta / (1.0 - self.theta);
                // Whether the iterations left can do it; if not, how much shorter the step has to be.
                let left = (MAX_ITERATIONS - iterations) as i32;
                let ahead = eta * change * self.theta.powi(left) / wanted;
                if ahead >= 1.0 && eta * change > wanted {
                    let q = ahead.clamp(1e-4, 20.0);
                    return Attempt::Diverged(
                        0.8 * elementary::powf(q, -1.0 / (4.0 + f64::from(left))),
                        worst,
                        change,
                    );
                }
            }
            last = change.max(f64::MIN_POSITIVE);
            if eta * change <= wanted {
                break;
            }
            if iterations == MAX_ITERATIONS {
                return Attempt::Diverged(0.5, worst, change);
            }
        }

        // (4)
        let e = self.c.e;
        for i in 0..n {
            let slope = (e[0] * self.z[0][i] + e[1] * self.z[1][i] + e[2] * self.z[2][i]) / h;
            self.stage_x[i] = self.xdot[i] + slope;
            self.stage_xdot[i] = -slope;
        }
        self.m.pattern.multiply(&self.m.M, &self.stage_x, &mut self.error);
        self.real.solve(&mut self.error);
        let (mut size, mut worst) = self.norm.norm(&self.x[1], &self.error);

        // Where the estimate is dominated by stiff parts, at the start and after a rejection, it is filtered
        // once more, with f at x + err (eq. IV.8.20).
        if size > accuracy && (self.rejected || self.accepted.is_none()) {
            for i in 0..n {
                self.stage_x[i] = self.x[1][i] + self.error[i];
            }
            self.statistics.evaluations += 1;
            if p.residual(t0, &self.stage_x, &self.stage_xdot, &mut self.error).is_ok() {
                for e in &mut self.error {
                    *e = -*e;
                }
                self.real.solve(&mut self.error);
                (size, worst) = self.norm.norm(&self.x[1], &self.error);
            }
        }
        if !size.is_finite() {
            return Attempt::NotFinite(worst, Quantity::State);
        }
        if size <= accuracy {
            for i in 0..n {
                self.x_new[i] = self.x[1][i] + self.z[2][i]; // (2)
            }
            let tolerance = self.options.constraint_tolerance();
            match p.project(t1, &mut self.x_new, &mut self.error, tolerance) {
                Err(e) => return Attempt::Rhs(e),
                Ok(done) if done.changed => {
                    self.statistics.projections += 1;
                    for i in 0..n {
                        self.z[2][i] = self.x_new[i] - self.x[1][i];
                    }
                }
                Ok(_) => {}
            }
        }
        Attempt::Done(size / accuracy, worst, iterations)
    }
}

/// out = (T ⊗ I) v.
fn transform(T: &[[f64; 3]; 3], v: &[Vec<f64>; 3], out: &mut [Vec<f64>; 3]) {
    for i in 0..v[0].len() {
        let v = [v[0][i], v[1][i], v[2][i]];
        for (row, out) in T.iter().zip(out.iter_mut()) {
            out[i] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
        }
    }
}

fn transform_in_place(T: &[[f64; 3]; 3], v: &mut [Vec<f64>; 3]) {
    for i in 0..v[0].len() {
        let x = [v[0][i], v[1][i], v[2][i]];
        for (row, v) in T.iter().zip(v.iter_mut()) {
            v[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
        }
    }
}

impl<P, R, C> Integrator<P> for RadauIIA5<R, C>
where
    P: ImplicitOde + ?Sized,
    R: LinearSolver<f64>,
    C: LinearSolver<Complex>,
{
    fn start(&mut self, p: &mut P, t: f64, x: &[f64]) -> Result<(), Stop> {
        self.options.check()?;
        if x.len() != self.norm.dim() || p.dim() != x.len() {
            return Err(Stop::Setup("state, norm and problem differ in size"));
        }
        if let Some(component) = first_not_finite(x) {
            return Err(Stop::NotFinite { time: t, component, quantity: Quantity::State });
        }
        self.statistics = Statistics::default();
        self.m.prepare(p);
        self.complex_values.reserve(self.m.pattern.len());
        self.t = [t; 2];
        self.x[1].copy_from_slice(x);
        self.xdot.fill(0.0);
        solve_consistent_rates(p, &self.norm, t, &mut self.x[1], &mut self.xdot)?;
        let [a, b] = &mut self.x;
        a.copy_from_slice(b);
        (self.factored, self.fresh_jacobian, self.theta) = (0.0, false, 1.0);
        (self.accepted, self.rejected) = (None, false);
        // Short enough for the fastest rates, if nothing else is known: 1 % of the way to a unit change.
        let rate = self.norm.norm(&self.x[1], &self.xdot).0;
        let guess = elementary::powf(self.options.accuracy, 0.25) * 0.1 / rate.max(1.0);
        self.h = self.options.initial_step.unwrap_or(guess).min(self.options.max_step);
        Ok(())
    }

    fn step(&mut self, p: &mut P, t_max: f64) -> Result<(), Stop> {
        let t0 = self.t[1];
        if self.statistics.steps >= self.options.max_steps {
            return Err(Stop::StepLimit { time: t0, steps: self.statistics.steps });
        }
        let mut reason = Stop::Underflow { time: t0, step: self.h, component: 0, error: f64::INFINITY };
        loop {
            if self.h < self.options.smallest(t0) {
                return Err(reason);
            }
            let t1 = if t_max > t0 + 1.01 * self.h { t0 + self.h } else { t_max };
            let limited = t_max < t0 + 0.95 * self.h;
            let h = t1 - t0;
            if !(h > 0.0) {
                return Err(Stop::Setup("a step must go forward in time"));
            }
            if !self.fresh_jacobian && self.theta > KEEP_JACOBIAN_BELOW {
                self.statistics.jacobians += 1;
                self.m
                    .evaluate(p, t0, &self.x[1], &self.xdot)
                    .map_err(|source| Stop::Rhs { time: t0, source })?;
                self.fresh_jacobian = true;
                self.factored = 0.0;
            }
            // Factors for a step that differs in its last digits only are as good.
            let old = !((self.factored - h).abs() <= 1e-10 * h);
            if let Err(stop) = if old { self.factorize(h) } else { Ok(()) } {
                // A shorter step weighs ∂f/∂ẋ more and may be regular.
                reason = stop;
                self.h = 0.5 * h;
                self.statistics.failed += 1;
                continue;
            }
            match self.attempt(p, t1) {
                Attempt::Done(e, worst, iterations) => {
                    self.limiting = Some(worst);
                    // Fewer Newton iterations, bolder steps.
                    let safety =
                        0.9 * (2 * MAX_ITERATIONS + 1) as f64 / (2 * MAX_ITERATIONS + iterations) as f64;
                    let mut shrink = (elementary::powf(e, 0.25) / safety).clamp(0.125, 5.0);
                    if e > 1.0 {
                        reason = Stop::Underflow { time: t0, step: h, component: worst, error: e };
                        self.statistics.rejected += 1;
                        self.rejected = true;
                        self.h = if self.accepted.is_none() { 0.1 * h } else { h / shrink };
                        continue;
                    }
                    // Gustafsson's predictive rule: the trend of the last two errors (section IV.8).
                    if let Some((last_h, last_e)) = self.accepted {
                        let trend = (last_h / h) * elementary::powf(e * e / last_e, 0.25) / 0.9;
                        shrink = shrink.max(trend.clamp(0.125, 5.0));
                    }
                    self.accepted = Some((h, e.max(1e-2)));
                    let mut next = h / shrink;
                    if self.rejected {
                        next = next.min(h);
                    }
                    self.rejected = false;
                    // A step up to a fifth longer is not worth new factors.
                    if self.theta <= KEEP_JACOBIAN_BELOW && (1.0..1.2).contains(&(next / h)) {
                        next = h;
                    }
                    if !limited {
                        self.h = next.min(self.options.max_step);
                    }
                    self.fresh_jacobian = false;
                    for i in 0..self.xdot.len() {
                        self.xdot[i] = (0..3).map(|k| self.c.B[2][k] * self.z[k][i]).sum::<f64>() / h;
                    }
                    self.statistics.steps += 1;
                    self.t = [t0, t1];
                    self.x.swap(0, 1);
                    std::mem::swap(&mut self.x[1], &mut self.x_new);
                    std::mem::swap(&mut self.z, &mut self.z_last);
                    return Ok(());
                }
                Attempt::Diverged(factor, component, error) => {
                    self.limiting = Some(component);
                    reason = Stop::Underflow { time: t0, step: h, component, error };
                    self.statistics.failed += 1;
                    // First new Jacobians at the same step, if these are old.
                    if self.fresh_jacobian {
                        self.h = factor * h;
                        self.rejected = true;
                    }
                    self.theta = 1.0;
                }
                Attempt::NotFinite(component, quantity) => {
                    reason = Stop::NotFinite { time: t0, component, quantity };
                    self.statistics.failed += 1;
                    self.rejected = true;
                    self.theta = 1.0;
                    self.h = 0.1 * h;
                }
                Attempt::Rhs(source) => {
                    reason = Stop::Rhs { time: t0, source };
                    self.statistics.failed += 1;
                    self.rejected = true;
                    self.theta = 1.0;
                    self.h = 0.1 * h;
                }
            }
        }
    }

    fn span(&self) -> (f64, f64) {
        (self.t[0], self.t[1])
    }

    fn state(&self) -> &[f64] {
        &self.x[1]
    }

    fn rates(&self) -> &[f64] {
        &self.xdot
    }

    /// The collocation polynomial.
    fn interpolate(&self, t: f64, x: &mut [f64]) {
        let h = self.t[1] - self.t[0];
        if !(h > 0.0) {
            x.copy_from_slice(&self.x[1]);
            return;
        }
        let l = self.c.lagrange((t - self.t[0]) / h);
        for (i, x) in x.iter_mut().enumerate() {
            let z: f64 = (0..3).map(|k| l[k] * self.z_last[k][i]).sum();
            *x = self.x[0][i] + z;
        }
    }

    fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn limiting(&self) -> Option<usize> {
        self.limiting
    }
}

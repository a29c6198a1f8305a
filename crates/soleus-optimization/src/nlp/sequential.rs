//! Sequential quadratic programming from a known active set, for problems similar to one already solved.

use super::interior_point::driver::{check_warm_start, reduced_stages, take_stock};
use super::interior_point::iterate::{Point, Values, errors};
use super::interior_point::layer::Layer;
use super::interior_point::scaled::Scaled;
use super::{
    Counts, Iteration, KktPattern, KktSolver, NlpError, NonlinearProgram, Options, Solution, Status,
    WarmStart, solve,
};
use crate::linear::SparseLdlt;
use std::ops::ControlFlow;

/// Steps to take at most before interior points take over. From a near start Newton's method needs three or four.
const MAX_STEPS: usize = 12;
/// Changes of the active set in one step.
const MAX_CHANGES: usize = 12;
/// A step must reduce the error of the optimality conditions to this part.
const REDUCTION: f64 = 0.9;
/// Barrier parameter with which interior points take over, if the caller gives none: small enough to stay near the
/// start, large enough to move bounds that are active now and were not.
const TAKE_OVER_BARRIER: f64 = 1e-4;

/// Which bound of a variable or row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Active {
    Free,
    Lower,
    Upper,
}

/// Solves a problem whose solution is expected near `start`, such as the next of a series.
///
/// Each step solves the quadratic model of the Lagrangian for the active bounds,
///
///   | W  Jᵀ | | d  |   | −∇f  |
///   | J  0  | | y⁺ | = | b − c |,   d = bound − x for variables at a bound,   y⁺ = 0 for rows at none,
///
/// and updates the set of active bounds by the signs of multipliers and distances until it no longer changes
/// (primal–dual active sets: Hintermüller, Ito & Kunisch 2002). The matrix has the pattern of the interior-point
/// method, so it is also factorized along time. If a step does not reduce the error of the optimality conditions, or
/// the active set does not converge, [`solve`] continues from the best point. The result is therefore as reliable as
/// that of [`solve`], and usually much faster: one factorization per step, and few steps.
pub fn solve_from(
    problem: &mut dyn NonlinearProgram,
    options: &Options,
    start: &WarmStart,
    progress: &mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
) -> Result<Solution, NlpError> {
    Scaled::check_options(options)?;
    let mut scaled = Scaled::new(problem)?;
    check_warm_start(start, &scaled)?;
    scaled.start();
    let mut x = scaled.reduce(&start.x);
    for (x, (&l, &u)) in x.iter_mut().zip(scaled.lower.iter().zip(&scaled.upper)) {
        *x = if x.is_finite() { x.clamp(l, u) } else { 0.0f64.clamp(l, u) };
    }
    scaled.choose_scales(&x, options.scaling_max_gradient);
    let layer = Layer::original(&scaled, 0.0, 0.0);
    let pattern = KktPattern::new(&scaled.hessian, &scaled.jacobian);
    let stages = reduced_stages(&scaled)?;
    let solver = pattern.solver(stages.as_ref(), options.ordering, options.threads);
    let mut newton = Newton::new(&scaled, layer, pattern, solver, x);
    newton.take_multipliers(start, &scaled);

    let mut counts = Counts::default();
    let outcome = newton.run(&mut scaled, options, progress, &mut counts);
    let point = newton.best;
    counts.factorizations = newton.factorizations;
    counts.solves = newton.solves;
    let solution =
        take_stock(scaled, &newton.layer, outcome.unwrap_or(Status::NoProgress), &point, 0.0, counts);
    if outcome.is_some() {
        return Ok(solution);
    }

    // Interior points from the best point known.
    let mut warm = solution.warm_start();
    warm.barrier = start.barrier.or(Some(TAKE_OVER_BARRIER));
    let before = solution.counts;
    let mut solution = solve(problem, options, Some(&warm), progress)?;
    let c = &mut solution.counts;
    c.iterations += before.iterations;
    c.objective += before.objective;
    c.gradient += before.gradient;
    c.constraints += before.constraints;
    c.jacobian += before.jacobian;
    c.hessian += before.hessian;
    c.factorizations += before.factorizations;
    c.solves += before.solves;
    Ok(solution)
}

/// Newton's method on the optimality conditions with changing active sets.
struct Newton {
    layer: Layer,
    pattern: KktPattern,
    solver: SparseLdlt,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Of variables, then rows.
    active: Vec<Active>,
    /// The best point so far with its multipliers, in the form of the interior-point method.
    best: Point,
    values: Values,
    hessian: Vec<f64>,
    /// Values of the whole matrix, and with rows and columns that do not take part replaced.
    whole: Vec<f64>,
    masked: Vec<f64>,
    rhs: Vec<f64>,
    step: Vec<f64>,
    factorizations: usize,
    solves: usize,
}

impl Newton {
    fn new(scaled: &Scaled<'_>, layer: Layer, pattern: KktPattern, solver: SparseLdlt, x: Vec<f64>) -> Self {
        let (nx, n, m) = (layer.nx, layer.n, layer.m);
        let mut w = x.clone();
        w.resize(n, 0.0);
        Newton {
            values: Values::new(scaled, &layer),
            hessian: vec![0.0; scaled.hessian.len()],
            whole: vec![0.0; pattern.lower.len()],
            masked: vec![0.0; pattern.lower.len()],
            rhs: vec![0.0; nx + m],
            step: vec![0.0; nx + m],
            active: vec![Active::Free; nx + m],
            best: Point { w, y: vec![0.0; m], zl: vec![0.0; n], zu: vec![0.0; n] },
            y: vec![0.0; m],
            x,
            layer,
            pattern,
            solver,
            factorizations: 0,
            solves: 0,
        }
    }

    /// Multipliers and active bounds of the start: a bound is active where its multiplier exceeds the distance to it.
    fn take_multipliers(&mut self, start: &WarmStart, scaled: &Scaled<'_>) {
        let (nx, sf) = (self.layer.nx, scaled.objective_scale);
        for (r, &row) in scaled.rows.iter().enumerate() {
            let y = start.multipliers[row] * sf / scaled.row_scale[r];
            self.y[r] = if y.is_finite() { y } else { 0.0 };
        }
        for (k, &i) in scaled.free.iter().enumerate() {
            let scale = sf * scaled.size[k];
            let (zl, zu) = (start.lower_multipliers[i] * scale, start.upper_multipliers[i] * scale);
            if zl > self.x[k] - scaled.lower[k] {
                self.active[k] = Active::Lower;
            } else if zu > scaled.upper[k] - self.x[k] {
                self.active[k] = Active::Upper;
            }
        }
        for (r, active) in self.active[nx..].iter_mut().enumerate() {
            if scaled.is_equality(r) {
                *active = Active::Lower;
            }
        }
    }

    /// Bounds of a variable or a row; those of an equality are zero, since its value has the right-hand side taken.
    fn bounds(&self, scaled: &Scaled<'_>, i: usize) -> (f64, f64) {
        let nx = self.layer.nx;
        match i {
            i if i < nx => (scaled.lower[i], scaled.upper[i]),
            i if scaled.is_equality(i - nx) => (0.0, 0.0),
            i => (scaled.row_lower[i - nx], scaled.row_upper[i - nx]),
        }
    }

    /// Steps until the conditions hold. `None` if interior points had better take over.
    fn run(
        &mut self,
        scaled: &mut Scaled<'_>,
        options: &Options,
        progress: &mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
        counts: &mut Counts,
    ) -> Option<Status> {
        let nx = self.layer.nx;
        let mut work = vec![0.0; self.layer.n];
        let mut rows = vec![0.0; self.layer.m];
        let mut last = f64::INFINITY;
        for step in 0..=MAX_STEPS.min(options.max_iterations) {
            // Where we are, with multipliers of bounds as the gradient of the Lagrangian asks for.
            scaled.constraints(&self.x, &mut rows);
            self.values.f = scaled.objective(&self.x);
            let w_x = self.x.clone();
            let finite = self.values.differentiate(scaled, &self.layer, &w_x);
            if !finite || !self.values.f.is_finite() || !rows.iter().all(|c| c.is_finite()) {
                return None;
            }
            if step == 0 {
                self.choose_rows(scaled, &rows);
            }
            let point = self.point(scaled, &rows);
            let e = errors(scaled, &self.layer, &point, &self.values, 0.0, &mut work);
            let error = e.total();
            if !(error <= REDUCTION * last) && step > 0 && error > options.tolerance {
                return None;
            }
            last = error;
            self.best = point;
            let violation = scaled.violation().0;
            let flow = progress(&Iteration {
                iteration: step,
                in_restoration: false,
                objective: self.values.f / scaled.objective_scale,
                constraint_violation: violation,
                dual_infeasibility: e.dual,
                barrier: 0.0,
                step: self.step[..nx].iter().fold(0.0, |m: f64, d| m.max(d.abs())),
                regularization: 0.0,
                alpha_primal: if step > 0 { 1.0 } else { 0.0 },
                alpha_dual: if step > 0 { 1.0 } else { 0.0 },
                trials: usize::from(step > 0),
                x: scaled.full_x(),
                duals: Some(scaled.duals(&self.best)),
            });
            if flow.is_break() {
                return Some(Status::Stopped);
            }
            let sf = scaled.objective_scale;
            if error <= options.tolerance
                && violation <= options.constraint_tolerance
                && e.dual / sf <= options.dual_tolerance
                && e.complementarity / sf <= options.complementarity_tolerance
            {
                return Some(Status::Solved);
            }
            if step == MAX_STEPS || !self.solve_quadratic_program(scaled, &rows) {
                return None;
            }
            for i in 0..nx {
                self.x[i] = (self.x[i] + self.step[i]).clamp(scaled.lower[i], scaled.upper[i]);
            }
            self.y.copy_from_slice(&self.step[nx..]);
            counts.iterations += 1;
        }
        None
    }

    /// Inequalities at the start: active where the multiplier exceeds the distance.
    fn choose_rows(&mut self, scaled: &Scaled<'_>, rows: &[f64]) {
        let nx = self.layer.nx;
        for r in 0..self.layer.m {
            if scaled.is_equality(r) {
                continue;
            }
            let (lower, upper) = self.bounds(scaled, nx + r);
            self.active[nx + r] = if -self.y[r] > rows[r] - lower {
                Active::Lower
            } else if self.y[r] > upper - rows[r] {
                Active::Upper
            } else {
                Active::Free
            };
        }
    }

    /// The present point in the form of the interior-point method.
    fn point(&mut self, scaled: &Scaled<'_>, rows: &[f64]) -> Point {
        let (nx, n) = (self.layer.nx, self.layer.n);
        let mut w = self.x.clone();
        self.values.g.copy_from_slice(rows);
        for &r in &self.layer.aux_row {
            let slack = rows[r].clamp(scaled.row_lower[r], scaled.row_upper[r]);
            self.values.g[r] = rows[r] - slack;
            w.push(slack);
        }
        let (mut zl, mut zu) = (vec![0.0; n], vec![0.0; n]);
        let mut gradient = self.values.gradient.clone();
        self.layer.add_transposed(scaled, &self.values.jacobian, &self.y, &mut gradient);
        for i in 0..nx {
            match self.active[i] {
                Active::Lower => zl[i] = gradient[i].max(0.0),
                Active::Upper => zu[i] = (-gradient[i]).max(0.0),
                Active::Free => {}
            }
        }
        for (k, &r) in self.layer.aux_row.iter().enumerate() {
            zl[nx + k] = (-self.y[r]).max(0.0);
            zu[nx + k] = self.y[r].max(0.0);
        }
        Point { w, y: self.y.clone(), zl, zu }
    }

    /// Finds the step (d, y⁺) and its active set. False where the set does not settle or the matrix is not that of
    /// a minimum.
    fn solve_quadratic_program(&mut self, scaled: &mut Scaled<'_>, rows: &[f64]) -> bool {
        let (nx, m) = (self.layer.nx, self.layer.m);
        scaled.hessian(&self.x, 1.0, &self.y, &mut self.hessian);
        if !self.hessian.iter().all(|v| v.is_finite()) {
            return false;
        }
        let (d, e) = (vec![0.0; nx], vec![0.0; m]);
        self.pattern.assemble(&self.hessian, &self.values.jacobian, &d, &e, &mut self.whole);
        let at = |this: &Self, i: usize| if i < nx { this.x[i] } else { rows[i - nx] };
        for _ in 0..MAX_CHANGES {
            if !self.solve_with_active_set(scaled, rows) {
                return false;
            }
            // What the model says of distances and multipliers at the end of the step.
            let mut model = vec![0.0; nx + m];
            for ((r, c), &v) in self.pattern.lower.places().zip(&self.whole) {
                model[r] += v * self.step[c];
                if r != c && c < nx {
                    model[c] += v * self.step[r];
                }
            }
            let mut changed = false;
            for i in 0..nx + m {
                if i >= nx && scaled.is_equality(i - nx) {
                    continue;
                }
                let (lower, upper) = self.bounds(scaled, i);
                // Multiplier as the pull of the bound: positive where it holds the variable or row up.
                let (value, pull) = if i < nx {
                    (at(self, i) + self.step[i], self.values.gradient[i] + model[i])
                } else {
                    (at(self, i) + model[i], -self.step[i])
                };
                let next = match self.active[i] {
                    Active::Lower if pull >= 0.0 => Active::Lower,
                    Active::Upper if pull <= 0.0 => Active::Upper,
                    Active::Free if value < lower => Active::Lower,
                    Active::Free if value > upper => Active::Upper,
                    _ => Active::Free,
                };
                changed |= next != self.active[i];
                self.active[i] = next;
            }
            if !changed {
                return true;
            }
        }
        false
    }

    /// One linear system: unknowns that do not take part are replaced by their values.
    fn solve_with_active_set(&mut self, scaled: &Scaled<'_>, rows: &[f64]) -> bool {
        let (nx, m) = (self.layer.nx, self.layer.m);
        // Given values: steps onto bounds, multipliers of zero.
        let mut given = vec![f64::NAN; nx + m];
        for i in 0..nx + m {
            let (lower, upper) = self.bounds(scaled, i);
            match self.active[i] {
                Active::Free if i < nx => self.rhs[i] = -self.values.gradient[i],
                Active::Free => given[i] = 0.0,
                Active::Lower if i < nx => given[i] = lower - self.x[i],
                Active::Upper if i < nx => given[i] = upper - self.x[i],
                Active::Lower => self.rhs[i] = lower - rows[i - nx],
                Active::Upper => self.rhs[i] = upper - rows[i - nx],
            }
        }
        for (k, (r, c)) in self.pattern.lower.places().enumerate() {
            let v = self.whole[k];
            self.masked[k] = match (given[r].is_nan(), given[c].is_nan()) {
                (true, true) => v,
                _ if r == c => {
                    let sign = if r < nx { 1.0 } else { -1.0 };
                    self.rhs[r] = sign * given[r];
                    sign
                }
                _ => 0.0,
            };
        }
        for ((r, c), &v) in self.pattern.lower.places().zip(&self.whole) {
            if r != c {
                match (given[r].is_nan(), given[c].is_nan()) {
                    (true, false) => self.rhs[r] -= v * given[c],
                    (false, true) => self.rhs[c] -= v * given[r],
                    _ => {}
                }
            }
        }
        self.factorizations += 1;
        let inertia = KktSolver::factor(&mut self.solver, &self.masked);
        if inertia.zero > 0 || inertia.negative != m {
            return false;
        }
        // Solve and refine twice.
        self.step.fill(0.0);
        for _ in 0..3 {
            let mut residual = self.rhs.clone();
            for ((r, c), &v) in self.pattern.lower.places().zip(&self.masked) {
                residual[r] -= v * self.step[c];
                if r != c {
                    residual[c] -= v * self.step[r];
                }
            }
            self.solves += 1;
            KktSolver::solve(&mut self.solver, &mut residual);
            for (s, r) in self.step.iter_mut().zip(&residual) {
                *s += r;
            }
        }
        self.step.iter().all(|v| v.is_finite())
    }
}

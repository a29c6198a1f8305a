//! Solves a problem: checks, scaling, start and final evaluation.

use super::iterate::{Point, Values, errors, gap, lagrangian_gradient};
use super::layer::Layer;
use super::method::{End, Method};
use super::scaled::Scaled;
use super::system::{Matrix, System, max_abs};
use crate::nlp::{
    Certificate, Counts, Iteration, KktPattern, NlpError, NonlinearProgram, Options, Solution, Stages,
    Status, WarmStart,
};
use std::ops::ControlFlow;

/// Solves a nonlinear program.
///
/// `warm` is a given point with multipliers that replaces the problem's own initial guess. `progress` is called in
/// every iteration and may stop the solver; the last iterate is returned in any case.
///
/// ```
/// use soleus_optimization::nlp::{solve, NonlinearProgram, Options, SparsityPattern, Status};
/// use std::ops::ControlFlow;
///
/// /// (x − 2)² for x ≤ 1.
/// struct Parabola(SparsityPattern, SparsityPattern);
/// impl NonlinearProgram for Parabola {
///     fn num_variables(&self) -> usize { 1 }
///     fn num_constraints(&self) -> usize { 0 }
///     fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
///         (lower[0], upper[0]) = (f64::NEG_INFINITY, 1.0);
///     }
///     fn compute_constraint_bounds(&self, _: &mut [f64], _: &mut [f64]) {}
///     fn compute_start(&self, x: &mut [f64]) { x[0] = 0.0; }
///     fn jacobian_pattern(&self) -> &SparsityPattern { &self.0 }
///     fn hessian_pattern(&self) -> &SparsityPattern { &self.1 }
///     fn compute_objective(&mut self, x: &[f64]) -> f64 { (x[0] - 2.0).powi(2) }
///     fn compute_gradient(&mut self, x: &[f64], g: &mut [f64]) { g[0] = 2.0 * (x[0] - 2.0); }
///     fn compute_constraints(&mut self, _: &[f64], _: &mut [f64]) {}
///     fn compute_jacobian(&mut self, _: &[f64], _: &mut [f64]) {}
///     fn compute_hessian(&mut self, _: &[f64], sigma: f64, _: &[f64], h: &mut [f64]) { h[0] = 2.0 * sigma; }
/// }
///
/// let mut problem = Parabola(
///     SparsityPattern::from_places(0, 1, vec![]),
///     SparsityPattern::from_places(1, 1, vec![(0, 0)]),
/// );
/// let solution = solve(&mut problem, &Options::default(), None, &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(solution.status, Status::Solved);
/// assert!((solution.x[0] - 1.0).abs() < 1e-7 && (solution.upper_multipliers[0] - 2.0).abs() < 1e-6);
/// # Ok::<(), soleus_optimization::nlp::NlpError>(())
/// ```
pub fn solve(
    problem: &mut dyn NonlinearProgram,
    options: &Options,
    warm: Option<&WarmStart>,
    progress: &mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
) -> Result<Solution, NlpError> {
    Scaled::check_options(options)?;
    let mut scaled = Scaled::new(problem)?;
    if let Some(warm) = warm {
        check_warm_start(warm, &scaled)?;
    }

    // The start, inside the bounds; scales are chosen there.
    let mut x = scaled.start();
    let (push, fraction) = match warm {
        Some(warm) => {
            x = scaled.reduce(&warm.x);
            (options.warm_start_push, options.warm_start_push.min(0.49))
        }
        None => (options.bound_push, options.bound_fraction),
    };
    for (x, (&l, &u)) in x.iter_mut().zip(scaled.lower.iter().zip(&scaled.upper)) {
        if !x.is_finite() {
            *x = 0.0f64.clamp(l, u);
        }
    }
    let room = Layer::original(&scaled, 0.0, 0.0);
    let mut w = x;
    w.resize(room.n, 0.0);
    room.push_inside(&mut w, push, fraction);
    scaled.choose_scales(&w[..room.nx], options.scaling_max_gradient);

    let pattern = KktPattern::new(&scaled.hessian, &scaled.jacobian);
    let stages = reduced_stages(&scaled)?;
    let has_slack = |row: usize| !scaled.is_equality(row);
    let solver = pattern.solver_with_slacks(stages.as_ref(), options.ordering, options.threads, &has_slack);
    let mut system = System::new(pattern, Box::new(solver));
    let mut counts = Counts::default();
    // At most twice: with scales of rows, and without them where these mislead.
    loop {
        let mut layer = Layer::original(&scaled, options.bound_relaxation, options.constraint_tolerance);
        let mut values = Values::new(&scaled, &layer);
        scaled.constraints(&w[..layer.nx], &mut values.g);
        for (k, &r) in layer.aux_row.iter().enumerate() {
            w[layer.nx + k] = values.g[r];
        }
        layer.push_inside(&mut w, push, fraction);
        let finite = values.compute(&mut scaled, &layer, &w) && values.differentiate(&mut scaled, &layer, &w);

        // Multipliers: given ones, or one for bounds and a least-squares fit for rows.
        let has = |b: &[f64], i: usize| if b[i].is_finite() { 1.0 } else { 0.0 };
        let mut point = Point {
            zl: (0..layer.n).map(|i| has(&layer.lower, i)).collect(),
            zu: (0..layer.n).map(|i| has(&layer.upper, i)).collect(),
            y: vec![0.0; layer.m],
            w: w.clone(),
        };
        let mut mu = options.initial_barrier;
        match warm {
            Some(warm) => {
                mu = warm.barrier.unwrap_or(mu);
                take_multipliers(warm, &scaled, &layer, &mut point, options.warm_start_push);
            }
            None if finite && options.feasibility_steps == 0 => {
                fit_multipliers(&scaled, &layer, &values, &mut point, &mut system, options);
            }
            None => {}
        }

        let mut method = Method::new(scaled, system, options, &mut *progress);
        method.counts = counts;
        if warm.is_none() && finite && options.feasibility_steps > 0 {
            method.approach(&mut layer, &mut point, &mut values, mu);
            let Method { scaled, system, .. } = &mut method;
            fit_multipliers(scaled, &layer, &values, &mut point, system, options);
        }
        if warm.is_some() {
            method.trust = options.warm_start_trust;
        }
        let end = if finite {
            let (end, end_point, end_mu) = method.minimize(&mut layer, point, mu, None);
            point = end_point;
            mu = end_mu;
            end
        } else {
            End::NotFinite
        };
        (scaled, system, counts) = (method.scaled, method.system, method.counts);
        if end == End::Misled {
            scaled.forget_row_scales();
            system.forget();
            continue;
        }
        counts.factorizations = system.factorizations;
        counts.solves = system.solves;
        let status = match end {
            End::Solved => Status::Solved,
            End::Acceptable => Status::Acceptable,
            End::Infeasible => Status::Infeasible,
            End::Diverging => Status::Diverging,
            End::IterationLimit => Status::IterationLimit,
            End::Stopped => Status::Stopped,
            End::NoProgress | End::Restored | End::Misled => Status::NoProgress,
            End::NotFinite => Status::NotFinite,
        };
        return Ok(take_stock(scaled, &layer, status, &point, mu, counts));
    }
}

pub(in crate::nlp) fn check_warm_start(warm: &WarmStart, scaled: &Scaled<'_>) -> Result<(), NlpError> {
    let (n, m) = (scaled.problem().num_variables(), scaled.problem().num_constraints());
    let lengths = [
        ("variables of the warm start", warm.x.len(), n),
        ("multipliers of the warm start", warm.multipliers.len(), m),
        ("multipliers of lower bounds of the warm start", warm.lower_multipliers.len(), n),
        ("multipliers of upper bounds of the warm start", warm.upper_multipliers.len(), n),
    ];
    for (what, found, expected) in lengths {
        if found != expected {
            return Err(NlpError::Length { what, found, expected });
        }
    }
    if let Some(mu) = warm.barrier.filter(|mu| !(*mu > 0.0 && mu.is_finite())) {
        return Err(NlpError::Option { name: "barrier", value: mu, hint: "it must be a positive number" });
    }
    Ok(())
}

/// Stages of the variables and rows that are left.
pub(in crate::nlp) fn reduced_stages(scaled: &Scaled<'_>) -> Result<Option<Stages>, NlpError> {
    let Some(stages) = scaled.problem().stages() else { return Ok(None) };
    let (n, m) = (scaled.problem().num_variables(), scaled.problem().num_constraints());
    for (what, found, expected) in [
        ("stages of variables", stages.of_variable.len(), n),
        ("stages of constraints", stages.of_constraint.len(), m),
    ] {
        if found != expected {
            return Err(NlpError::Length { what, found, expected });
        }
    }
    Ok(Some(Stages {
        of_variable: scaled.free.iter().map(|&i| stages.of_variable[i]).collect(),
        of_constraint: scaled.rows.iter().map(|&i| stages.of_constraint[i]).collect(),
    }))
}

/// Multipliers of a warm start in the scaled problem; those of bounds at least `least`.
fn take_multipliers(warm: &WarmStart, scaled: &Scaled<'_>, layer: &Layer, point: &mut Point, least: f64) {
    let sf = scaled.objective_scale;
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    for (r, &row) in scaled.rows.iter().enumerate() {
        point.y[r] = finite(warm.multipliers[row] * sf / scaled.row_scale[r]);
    }
    for (k, &i) in scaled.free.iter().enumerate() {
        point.zl[k] = finite(warm.lower_multipliers[i] * sf * scaled.size[k]);
        point.zu[k] = finite(warm.upper_multipliers[i] * sf * scaled.size[k]);
    }
    // A slack's own optimality condition: −y − z_L + z_U = 0.
    for (k, &r) in layer.aux_row.iter().enumerate() {
        point.zl[layer.nx + k] = (-point.y[r]).max(0.0);
        point.zu[layer.nx + k] = point.y[r].max(0.0);
    }
    for i in 0..layer.n {
        point.zl[i] = if layer.lower[i].is_finite() { point.zl[i].max(least) } else { 0.0 };
        point.zu[i] = if layer.upper[i].is_finite() { point.zu[i].max(least) } else { 0.0 };
    }
}

/// y that minimises the gradient of the Lagrangian (eq. 36), or zero where that is large.
fn fit_multipliers(
    scaled: &Scaled<'_>,
    layer: &Layer,
    values: &Values,
    point: &mut Point,
    system: &mut System,
    options: &Options,
) {
    if layer.m == 0 {
        return;
    }
    let (hessian, sigma) = (vec![0.0; scaled.hessian.len()], vec![1.0; layer.n]);
    let matrix = Matrix { hessian: &hessian, jacobian: &values.jacobian, sigma: &sigma };
    let inertia = system.factor(layer, &matrix, 0.0, 0.0);
    if inertia.zero > 0 || inertia.negative != layer.m {
        return;
    }
    let mut rw = vec![0.0; layer.n];
    lagrangian_gradient(scaled, layer, point, values, &mut rw);
    rw.iter_mut().for_each(|v| *v = -*v);
    let (mut dw, mut y) = (vec![0.0; layer.n], vec![0.0; layer.m]);
    let ratio = system.solve(scaled, layer, &matrix, (&rw, &vec![0.0; layer.m]), (&mut dw, &mut y));
    if ratio < 1e-5 && max_abs(&y) <= options.multiplier_start_max {
        point.y = y;
    }
}

/// Mean size of multipliers up to which errors are not divided by it (s_max).
const MULTIPLIERS_OF_ONE: f64 = 100.0;

/// The solution in the problem's own units, with its certificate.
pub(in crate::nlp) fn take_stock(
    mut scaled: Scaled<'_>,
    layer: &Layer,
    status: Status,
    point: &Point,
    mu: f64,
    counts: Counts,
) -> Solution {
    let mut work_values = Values::new(&scaled, layer);
    let mut work = vec![0.0; layer.n];
    let objective = layer.objective(&mut scaled, &point.w) / scaled.objective_scale;
    layer.constraints(&mut scaled, &point.w, &mut work_values.g);
    work_values.differentiate(&mut scaled, layer, &point.w);
    let e = errors(&scaled, layer, point, &work_values, 0.0, &mut work);
    let (constraint_violation, worst_constraint) = scaled.violation();
    let sf = scaled.objective_scale;
    let worst = (0..layer.nx).max_by(|&a, &b| work[a].abs().total_cmp(&work[b].abs()));
    let certificate = Certificate {
        constraint_violation,
        worst_constraint,
        bound_violation: scaled.bound_violation(),
        dual_infeasibility: e.dual / sf,
        worst_variable: worst.filter(|&i| work[i] != 0.0).map(|i| scaled.free[i]),
        complementarity: e.complementarity / sf,
        gap: gap(layer, point) / sf,
        scaled_error: e.total(),
        multiplier_size: e.dual_scale * MULTIPLIERS_OF_ONE,
    };
    let (y, zl, zu) = scaled.duals(point).unscaled();
    let mut total = scaled.counts;
    total.iterations = counts.iterations;
    total.restoration_iterations = counts.restoration_iterations;
    total.factorizations = counts.factorizations;
    total.solves = counts.solves;
    Solution {
        status,
        x: scaled.full_x().to_vec(),
        objective,
        constraints: scaled.full_constraints().to_vec(),
        multipliers: y,
        lower_multipliers: zl,
        upper_multipliers: zu,
        barrier: mu,
        certificate,
        counts: total,
    }
}

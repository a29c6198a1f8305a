//! The loop over iterates (Algorithm A).

use super::filter::Filter;
use super::iterate::{Errors, Point, Values, errors, largest_dual_step, largest_primal_step};
use super::layer::Layer;
use super::line_search::{Search, Step};
use super::restoration::Parent;
use super::scaled::Scaled;
use super::system::{Matrix, System, max_abs};
use crate::nlp::{Counts, Iteration, Options};
use soleus_math::elementary;
use std::ops::ControlFlow;

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Solved,
    Acceptable,
    Infeasible,
    Diverging,
    IterationLimit,
    Stopped,
    NoProgress,
    NotFinite,
    /// Restoration found a point from which the program can go on.
    Restored,
    /// Scales of rows weigh violations so that no step is long enough to lead anywhere.
    Misled,
}

/// Everything that outlives one run of the loop.
pub(super) struct Method<'a, 'p> {
    pub scaled: Scaled<'p>,
    pub system: System,
    pub options: &'a Options,
    pub progress: &'a mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
    pub counts: Counts,
    /// Full steps that are not judged at the beginning.
    pub trust: usize,
}

// Constants of the barrier update (eqs. 7, 8): `barrier_tol_factor`, `mu_linear_decrease_factor`,
// `mu_superlinear_decrease_power`, `tau_min`.
const KAPPA_EPSILON: f64 = 10.0;
const MU_LINEAR: f64 = 0.2;
const MU_POWER: f64 = 1.5;
const TAU_MIN: f64 = 0.99;

/// Multipliers of bounds stay within this factor of μ over the distance (`kappa_sigma`, eq. 16).
const KAPPA_SIGMA: f64 = 1e10;

/// A step smaller than this in every variable, relatively, is lost in rounding (`tiny_step_tol`).
const TINY_STEP: f64 = 10.0 * f64::EPSILON;

/// A tiny step ends a barrier problem only if multipliers of rows have settled too (`tiny_step_y_tol`).
const TINY_STEP_Y: f64 = 1e-2;

/// Part of the first violation above which steps that are too long, whatever the regularisation, have led nowhere.
const HEADWAY: f64 = 0.5;

/// Violations below are rounding: nothing to polish.
const POLISHED: f64 = 1e-12;

/// Vectors of one run of the loop.
pub(super) struct State {
    pub point: Point,
    pub values: Values,
    pub trial: Point,
    pub trial_values: Values,
    pub mu: f64,
    pub tau: f64,
    pub filter: Filter,
    pub dw: Vec<f64>,
    pub dy: Vec<f64>,
    pub dzl: Vec<f64>,
    pub dzu: Vec<f64>,
    pub rw: Vec<f64>,
    pub ry: Vec<f64>,
    pub sigma: Vec<f64>,
    pub hessian: Vec<f64>,
    /// ∇φ, the gradient of the barrier objective.
    pub gradient: Vec<f64>,
    pub soc_dw: Vec<f64>,
    pub soc_dy: Vec<f64>,
    pub soc_ry: Vec<f64>,
    pub work: Vec<f64>,
    pub theta_max: f64,
    pub theta_min: f64,
    pub search: Search,
}

impl State {
    fn new(scaled: &Scaled<'_>, layer: &Layer, point: Point, mu: f64) -> Self {
        let (n, m) = (layer.n, layer.m);
        State {
            values: Values::new(scaled, layer),
            trial: point.clone(),
            trial_values: Values::new(scaled, layer),
            point,
            mu,
            tau: TAU_MIN.max(1.0 - mu),
            filter: Filter::new(),
            dw: vec![0.0; n],
            dy: vec![0.0; m],
            dzl: vec![0.0; n],
            dzu: vec![0.0; n],
            rw: vec![0.0; n],
            ry: vec![0.0; m],
            sigma: vec![0.0; n],
            hessian: vec![0.0; scaled.hessian.len()],
            gradient: vec![0.0; n],
            soc_dw: vec![0.0; n],
            soc_dy: vec![0.0; m],
            soc_ry: vec![0.0; m],
            work: vec![0.0; n],
            theta_max: 0.0,
            theta_min: 0.0,
            search: Search::default(),
        }
    }

    /// Steps of the multipliers of bounds that belong to a step of w (eq. 12).
    pub fn compute_bound_steps(&mut self, layer: &Layer) {
        let (p, mu) = (&self.point, self.mu);
        for i in 0..layer.n {
            if layer.lower[i] > f64::NEG_INFINITY {
                let s = p.w[i] - layer.lower[i];
                self.dzl[i] = mu / s - p.zl[i] - p.zl[i] / s * self.dw[i];
            }
            if layer.upper[i] < f64::INFINITY {
                let s = layer.upper[i] - p.w[i];
                self.dzu[i] = mu / s - p.zu[i] + p.zu[i] / s * self.dw[i];
            }
        }
    }

    fn compute_sigma(&mut self, layer: &Layer) {
        let p = &self.point;
        for i in 0..layer.n {
            let mut sigma = 0.0;
            if layer.lower[i] > f64::NEG_INFINITY {
                sigma += p.zl[i] / (p.w[i] - layer.lower[i]);
            }
            if layer.upper[i] < f64::INFINITY {
                sigma += p.zu[i] / (layer.upper[i] - p.w[i]);
            }
            self.sigma[i] = sigma;
        }
    }

    /// Keeps the multipliers of bounds near μ over the distance (eq. 16).
    fn clamp_bound_multipliers(&mut self, layer: &Layer) {
        let (p, mu) = (&mut self.point, self.mu);
        for i in 0..layer.n {
            if layer.lower[i] > f64::NEG_INFINITY {
                let s = p.w[i] - layer.lower[i];
                p.zl[i] = p.zl[i].max(mu / (KAPPA_SIGMA * s)).min(KAPPA_SIGMA * mu / s);
            }
            if layer.upper[i] < f64::INFINITY {
                let s = layer.upper[i] - p.w[i];
                p.zu[i] = p.zu[i].max(mu / (KAPPA_SIGMA * s)).min(KAPPA_SIGMA * mu / s);
            }
        }
    }

    /// Moves bounds that rounding has let w come too close to (`slack_move`, section 3.5).
    fn widen(&mut self, layer: &mut Layer) {
        let least = f64::EPSILON * self.mu.min(1.0);
        let most = |bound: f64| elementary::powf(f64::EPSILON, 0.75) * bound.abs().max(1.0);
        for i in 0..layer.n {
            let w = self.point.w[i];
            if w - layer.lower[i] < least {
                layer.lower[i] =
                    w - (self.mu / self.point.zl[i].max(f64::MIN_POSITIVE)).clamp(least, most(w));
                layer.lower[i] = layer.lower[i].min(w - f64::EPSILON * w.abs());
            }
            if layer.upper[i] - w < least {
                layer.upper[i] =
                    w + (self.mu / self.point.zu[i].max(f64::MIN_POSITIVE)).clamp(least, most(w));
                layer.upper[i] = layer.upper[i].max(w + f64::EPSILON * w.abs());
            }
        }
    }
}

impl<'a, 'p> Method<'a, 'p> {
    pub fn new(
        scaled: Scaled<'p>,
        system: System,
        options: &'a Options,
        progress: &'a mut dyn FnMut(&Iteration<'_>) -> ControlFlow<()>,
    ) -> Self {
        Method { scaled, system, options, progress, counts: Counts::default(), trust: 0 }
    }

    /// Runs the loop for the program (`parent` is `None`) or for its restoration. The point and μ where it ended.
    pub fn minimize(
        &mut self,
        layer: &mut Layer,
        point: Point,
        mu: f64,
        parent: Option<&Parent<'_>>,
    ) -> (End, Point, f64) {
        let mut st = State::new(&self.scaled, layer, point, mu);
        if parent.is_none() {
            st.search.trust = self.trust;
        }
        layer.set_barrier(mu);
        st.widen(layer);
        let finite = st.values.compute(&mut self.scaled, layer, &st.point.w)
            && st.values.differentiate(&mut self.scaled, layer, &st.point.w);
        if !finite {
            return (End::NotFinite, st.point, mu);
        }
        let theta = st.values.theta();
        st.theta_max = 1e4 * theta.max(1.0);
        st.theta_min = 1e-4 * theta.max(1.0);

        // The tolerance of complementarity is in units of the objective as stated.
        let complementarity = self.scaled.objective_scale * self.options.complementarity_tolerance;
        let mu_min = self.options.tolerance.min(complementarity) / (KAPPA_EPSILON + 1.0);
        let mut step = Step::default();
        let mut acceptable: Option<(Point, f64)> = None;
        let mut acceptable_count = 0;
        let mut tiny_last = false;
        loop {
            // Where we are; whether that is good enough.
            let e = errors(&self.scaled, layer, &st.point, &st.values, 0.0, &mut st.work);
            if let ControlFlow::Break(()) = self.report(layer, &st, &e, &step, parent.is_some()) {
                return (End::Stopped, st.point, st.mu);
            }
            match parent {
                None => {
                    let violation = self.scaled.violation().0;
                    if self.is_solved(&e, violation) {
                        self.polish(layer, &mut st, violation);
                        return (End::Solved, st.point, st.mu);
                    }
                    if self.is_acceptable(&e, violation) {
                        acceptable_count += 1;
                        if acceptable.as_ref().is_none_or(|(_, best)| e.total() <= *best) {
                            acceptable = Some((st.point.clone(), e.total()));
                        }
                        if acceptable_count == self.options.acceptable_iterations {
                            return (End::Acceptable, st.point, st.mu);
                        }
                    } else {
                        acceptable_count = 0;
                    }
                }
                Some(parent) => {
                    if self.counts.restoration_iterations > parent.first_iteration
                        && parent.takes(&mut self.scaled, &st.point.w)
                    {
                        return (End::Restored, st.point, st.mu);
                    }
                    if e.total() <= self.options.tolerance {
                        return (End::Infeasible, st.point, st.mu);
                    }
                }
            }
            let fail = |end: End, st: State, acceptable: Option<(Point, f64)>| match acceptable {
                Some((point, _)) if end == End::NoProgress => (End::Acceptable, point, st.mu),
                _ => (end, st.point, st.mu),
            };
            if self.counts.iterations >= self.options.max_iterations {
                return fail(End::IterationLimit, st, acceptable);
            }
            if max_abs(&st.point.w[..layer.nx]) > self.options.diverging_above {
                return (End::Diverging, st.point, st.mu);
            }

            // The next barrier problem, or several, if this one is solved.
            let tiny = step.taken && self.is_tiny(&st);
            let stuck = tiny && tiny_last && max_abs(&st.dy) < TINY_STEP_Y;
            tiny_last = tiny;
            if stuck && st.mu <= mu_min {
                return fail(End::NoProgress, st, acceptable);
            }
            self.update_barrier(layer, &mut st, mu_min, stuck);

            // Direction, then a step along it.
            step = Step::default();
            let found = self.compute_direction(layer, &mut st);
            if found {
                step = self.search_line(layer, &mut st);
                if parent.is_none()
                    && st.search.watchdog.is_none()
                    && let Some(lesson) = step.lesson()
                {
                    self.system.learn(lesson);
                    if self.system.in_vain
                        && st.values.theta() > HEADWAY * theta
                        && self.scaled.has_row_scales()
                    {
                        return (End::Misled, st.point, st.mu);
                    }
                }
            }
            if !step.taken {
                let end = match parent {
                    None => self.restore(layer, &mut st),
                    Some(_) => restart_penalties(layer, &mut st),
                };
                match end {
                    End::Restored => {}
                    end => return fail(end, st, acceptable),
                }
                st.search.watchdog = None;
                let finite = st.values.compute(&mut self.scaled, layer, &st.point.w)
                    && st.values.differentiate(&mut self.scaled, layer, &st.point.w);
                if !finite {
                    return fail(End::NoProgress, st, acceptable);
                }
                if parent.is_some() {
                    self.counts.iterations += 1;
                    self.counts.restoration_iterations += 1;
                }
                continue;
            }
            st.widen(layer);
            st.clamp_bound_multipliers(layer);
            self.counts.iterations += 1;
            if parent.is_some() {
                self.counts.restoration_iterations += 1;
            }
        }
    }

    /// Steps from a solution, of Newton or straight to the constraints, as long as they leave these violated less and it stays one.
    fn polish(&mut self, layer: &Layer, st: &mut State, mut violation: f64) {
        for _ in 0..self.options.polishing_steps {
            if violation <= POLISHED {
                return;
            }
            let ways: [fn(&mut Self, &Layer, &mut State) -> bool; 2] =
                [Self::compute_direction, Self::compute_shortest_way];
            let Some(after) = ways.iter().find_map(|way| self.polish_once(layer, st, violation, *way)) else {
                return;
            };
            violation = after;
            self.counts.iterations += 1;
        }
    }

    /// One such step; the violation after it, or none if it was taken back.
    fn polish_once(
        &mut self,
        layer: &Layer,
        st: &mut State,
        violation: f64,
        find_way: fn(&mut Self, &Layer, &mut State) -> bool,
    ) -> Option<f64> {
        let before = (st.point.clone(), st.values.clone());
        if !find_way(self, layer, st) {
            return None;
        }
        let alpha = largest_primal_step(layer, &st.point.w, &st.dw, st.tau);
        for ((t, w), d) in st.trial.w.iter_mut().zip(&st.point.w).zip(&st.dw) {
            *t = w + alpha * d;
        }
        let finite = st.trial_values.compute(&mut self.scaled, layer, &st.trial.w)
            && st.trial_values.differentiate(&mut self.scaled, layer, &st.trial.w);
        let after = self.scaled.violation().0;
        if finite && after < violation {
            self.accept(st, alpha);
            st.clamp_bound_multipliers(layer);
            let e = errors(&self.scaled, layer, &st.point, &st.values, 0.0, &mut st.work);
            if self.is_solved(&e, after) {
                return Some(after);
            }
        }
        (st.point, st.values) = before;
        // What was asked last is what the solution is described by.
        st.values.compute(&mut self.scaled, layer, &st.point.w);
        None
    }

    /// The step d of least dᵀ(I + Σ)d to where the constraints, linear here, hold: J d = −g. A Newton step of the whole problem would
    /// also go along them, far where the objective is flat, and so away from them. Multipliers stay as they are.
    fn compute_shortest_way(&mut self, layer: &Layer, st: &mut State) -> bool {
        st.hessian.fill(0.0);
        st.compute_sigma(layer);
        st.sigma.iter_mut().for_each(|s| *s += 1.0);
        st.rw.fill(0.0);
        for (r, g) in st.ry.iter_mut().zip(&st.values.g) {
            *r = -g;
        }
        let matrix = Matrix { hessian: &st.hessian, jacobian: &st.values.jacobian, sigma: &st.sigma };
        let inertia = self.system.factor(layer, &matrix, 0.0, 0.0);
        if inertia.zero > 0 || inertia.negative != layer.m {
            return false;
        }
        let (rhs, out) = ((&st.rw[..], &st.ry[..]), (&mut st.dw[..], &mut st.dy[..]));
        let ratio = self.system.solve(&self.scaled, layer, &matrix, rhs, out);
        for d in [&mut st.dy, &mut st.dzl, &mut st.dzu] {
            d.fill(0.0);
        }
        ratio <= 1e-5
    }

    fn is_solved(&self, e: &Errors, violation: f64) -> bool {
        let (o, sf) = (self.options, self.scaled.objective_scale);
        e.total() <= o.tolerance
            && e.dual / sf <= o.dual_tolerance
            && violation <= o.constraint_tolerance
            && e.complementarity / sf <= o.complementarity_tolerance
    }

    fn is_acceptable(&self, e: &Errors, violation: f64) -> bool {
        // `acceptable_dual_inf_tol` and `acceptable_compl_inf_tol`.
        let (o, sf) = (self.options, self.scaled.objective_scale);
        o.acceptable_iterations > 0
            && e.total() <= o.acceptable_tolerance
            && e.dual / sf <= 1e10
            && violation <= o.acceptable_constraint_tolerance
            && e.complementarity / sf <= 1e-2
    }

    fn is_tiny(&self, st: &State) -> bool {
        st.dw.iter().zip(&st.point.w).all(|(d, w)| d.abs() <= TINY_STEP * (1.0 + w.abs()))
            && max_abs(&st.values.g) <= 1e-4
    }

    /// Reduces μ while the present barrier problem is solved well enough (eqs. 7, 8).
    fn update_barrier(&mut self, layer: &mut Layer, st: &mut State, mu_min: f64, force: bool) {
        let mut force = force;
        while st.mu > mu_min {
            let e = errors(&self.scaled, layer, &st.point, &st.values, st.mu, &mut st.work);
            if !force && e.total() > KAPPA_EPSILON * st.mu {
                return;
            }
            force = false;
            st.mu = (MU_LINEAR * st.mu).min(elementary::powf(st.mu, MU_POWER)).max(mu_min);
            st.tau = TAU_MIN.max(1.0 - st.mu);
            layer.set_barrier(st.mu);
            if layer.penalty.is_some() {
                st.values.f = layer.objective(&mut self.scaled, &st.point.w);
                layer.gradient(&mut self.scaled, &st.point.w, &mut st.values.gradient);
            }
            st.filter.clear();
            st.search.forget();
        }
    }

    /// The Newton step of the barrier problem (eqs. 11, 12). False where no regularisation gives one.
    fn compute_direction(&mut self, layer: &Layer, st: &mut State) -> bool {
        layer.hessian(&mut self.scaled, &st.point.w, &st.point.y, &mut st.hessian);
        if !st.hessian.iter().all(|v| v.is_finite()) {
            return false;
        }
        st.compute_sigma(layer);
        st.gradient.copy_from_slice(&st.values.gradient);
        layer.add_barrier_gradient(&st.point.w, st.mu, &mut st.gradient);
        st.rw.copy_from_slice(&st.gradient);
        layer.add_transposed(&self.scaled, &st.values.jacobian, &st.point.y, &mut st.rw);
        st.rw.iter_mut().for_each(|v| *v = -*v);
        for (r, g) in st.ry.iter_mut().zip(&st.values.g) {
            *r = -g;
        }
        let matrix = Matrix { hessian: &st.hessian, jacobian: &st.values.jacobian, sigma: &st.sigma };
        let rhs = (&st.rw[..], &st.ry[..]);
        let solution = (&mut st.dw[..], &mut st.dy[..]);
        if self.system.solve_regularized(&self.scaled, layer, &matrix, st.mu, rhs, solution).is_err() {
            return false;
        }
        st.compute_bound_steps(layer);
        true
    }

    /// Takes the trial point that the line search found, with its multipliers.
    pub fn accept(&mut self, st: &mut State, alpha: f64) -> f64 {
        let alpha_dual = largest_dual_step(&st.point.zl, &st.dzl, st.tau).min(largest_dual_step(
            &st.point.zu,
            &st.dzu,
            st.tau,
        ));
        std::mem::swap(&mut st.point.w, &mut st.trial.w);
        std::mem::swap(&mut st.values, &mut st.trial_values);
        for (y, d) in st.point.y.iter_mut().zip(&st.dy) {
            *y += alpha * d;
        }
        for (z, d) in st.point.zl.iter_mut().zip(&st.dzl).chain(st.point.zu.iter_mut().zip(&st.dzu)) {
            *z += alpha_dual * d;
        }
        alpha_dual
    }

    fn report(
        &mut self,
        layer: &Layer,
        st: &State,
        e: &Errors,
        step: &Step,
        in_restoration: bool,
    ) -> ControlFlow<()> {
        // The objective of the program, also in restoration.
        let objective = match &layer.penalty {
            None => st.values.f,
            Some(_) => self.scaled.objective(&st.point.w[..layer.nx]),
        };
        let iteration = Iteration {
            iteration: self.counts.iterations,
            in_restoration,
            objective: objective / self.scaled.objective_scale,
            constraint_violation: self.scaled.violation().0,
            dual_infeasibility: e.dual,
            barrier: st.mu,
            step: max_abs(&st.dw),
            regularization: self.system.delta_w,
            alpha_primal: step.alpha,
            alpha_dual: step.alpha_dual,
            trials: step.trials,
            x: self.scaled.full_x(),
            duals: (!in_restoration).then(|| self.scaled.duals(&st.point)),
        };
        (self.progress)(&iteration)
    }
}

/// In restoration, where no step was found: p and n that are best for the present x, once.
fn restart_penalties(layer: &Layer, st: &mut State) -> End {
    let theta = st.values.theta();
    let phi = st.values.f + layer.barrier(&st.point.w, st.mu);
    if super::restoration::best_penalties(layer, st) {
        st.filter.add((1.0 - 1e-5) * theta, phi - 1e-8 * theta);
        End::Restored
    } else {
        End::NoProgress
    }
}

//! Backtracking along a direction until the filter accepts (section 2.3, with second-order corrections, 2.4).

use super::filter::at_most;
use super::iterate::{Point, errors, largest_primal_step};
use super::layer::Layer;
use super::method::{Method, State};
use super::system::{Lesson, Matrix};
use soleus_math::elementary;

// Constants of the filter method with Ipopt's names and defaults: `gamma_theta`, `gamma_phi`, `delta`, `s_theta`,
// `s_phi`, `eta_phi`, `alpha_min_frac`, `kappa_soc`, `obj_max_inc`.
const GAMMA_THETA: f64 = 1e-5;
const GAMMA_PHI: f64 = 1e-8;
const DELTA: f64 = 1.0;
const S_THETA: f64 = 1.1;
const S_PHI: f64 = 2.3;
const ETA_PHI: f64 = 1e-8;
const ALPHA_MIN_FRACTION: f64 = 0.05;
const KAPPA_SOC: f64 = 0.99;
const OBJECTIVE_MAX_INCREASE: f64 = 5.0;
/// `filter_reset_trigger` and `max_filter_resets`.
const RESET_AFTER: usize = 5;
const MAX_RESETS: usize = 5;
/// `watchdog_shortened_iter_trigger` and `watchdog_trial_iter_max`.
const WATCHDOG_AFTER: usize = 10;
const WATCHDOG_TRIALS: usize = 3;
/// `soft_resto_pderror_reduction_factor` and `max_soft_resto_iters`.
const SOFT_REDUCTION: f64 = 1.0 - 1e-4;
const MAX_SOFT: usize = 10;

/// Ours: a direction that had to be halved so many times, less one, was too long.
const TOO_LONG: usize = 7;

/// What the line search remembers from one iteration to the next.
#[derive(Default)]
pub(super) struct Search {
    /// Iterations in a row that the filter, not the present point, shortened; times it was emptied for that.
    filter_rejections: usize,
    resets: usize,
    /// Iterations in a row with a shortened step.
    shortened: usize,
    pub watchdog: Option<Watchdog>,
    /// Full steps that a warm start may still ask for before its progress is judged.
    pub trust: usize,
    /// Steps in a row that only reduced the primal–dual error.
    soft: usize,
}

/// Where to go back to if steps that make no progress at first do not pay.
pub(super) struct Watchdog {
    point: Point,
    dw: Vec<f64>,
    dy: Vec<f64>,
    reference: Reference,
    trials: usize,
    most_trials: usize,
}

impl Search {
    /// A new barrier problem: what was learnt of the old one does not count.
    pub fn forget(&mut self) {
        self.filter_rejections = 0;
        self.shortened = 0;
        self.watchdog = None;
        self.soft = 0;
    }
}

/// What a line search did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub taken: bool,
    pub alpha: f64,
    pub alpha_dual: f64,
    pub trials: usize,
}

impl Step {
    /// What it says of the direction, if anything.
    pub fn lesson(&self) -> Option<Lesson> {
        match self.trials {
            _ if !self.taken => Some(Lesson::TooLong),
            1 => Some(Lesson::Right),
            trials if trials >= TOO_LONG => Some(Lesson::TooLong),
            _ => None,
        }
    }
}

/// The point that progress is measured from.
#[derive(Clone, Copy)]
struct Reference {
    theta: f64,
    phi: f64,
    /// ∇φᵀ d.
    slope: f64,
    alpha: f64,
}

impl Reference {
    /// Switching condition (eq. 19): the objective matters more than the violation.
    fn is_objective_step(&self, alpha: f64) -> bool {
        self.slope < 0.0
            && alpha * elementary::powf(-self.slope, S_PHI) > DELTA * elementary::powf(self.theta, S_THETA)
    }

    /// Armijo condition (eq. 20).
    fn is_armijo(&self, alpha: f64, phi: f64) -> bool {
        at_most(phi - self.phi, ETA_PHI * alpha * self.slope, self.phi)
    }

    /// Sufficient progress in one of the two (eq. 18).
    fn is_progress(&self, theta: f64, phi: f64) -> bool {
        if phi > self.phi {
            let size = if self.phi.abs() > 10.0 { elementary::log10(self.phi.abs()) } else { 1.0 };
            if elementary::log10(phi - self.phi) > OBJECTIVE_MAX_INCREASE + size {
                return false;
            }
        }
        at_most(theta, (1.0 - GAMMA_THETA) * self.theta, self.theta)
            || at_most(phi - self.phi, -GAMMA_PHI * self.theta, self.phi)
    }

    /// Shortest step worth trying (eq. 23).
    fn alpha_min(&self, theta_min: f64) -> f64 {
        let mut alpha = GAMMA_THETA;
        if self.slope < 0.0 {
            alpha = alpha.min(GAMMA_PHI * self.theta / -self.slope);
            if self.theta <= theta_min {
                alpha = alpha.min(
                    DELTA * elementary::powf(self.theta, S_THETA) / elementary::powf(-self.slope, S_PHI),
                );
            }
        }
        ALPHA_MIN_FRACTION * alpha
    }
}

/// A trial point that may be gone to.
struct Found {
    /// The step that progress was judged for, and the one that leads there.
    alpha_test: f64,
    alpha: f64,
    phi: f64,
    trials: usize,
    /// Whether the full step failed because of the filter alone.
    filter_alone: bool,
}

enum Verdict {
    Accepted,
    /// Rejected by the filter alone.
    Filter,
    Rejected,
}

impl Method<'_, '_> {
    /// Finds a point along (dw, dy) that the filter accepts, and goes there. `taken` is false if there is none.
    pub fn search_line(&mut self, layer: &Layer, st: &mut State) -> Step {
        let alpha_max = largest_primal_step(layer, &st.point.w, &st.dw, st.tau);
        let slope = st.gradient.iter().zip(&st.dw).map(|(g, d)| g * d).sum::<f64>();
        let mut here = Reference {
            theta: st.values.theta(),
            phi: st.values.f + layer.barrier(&st.point.w, st.mu),
            slope,
            alpha: alpha_max,
        };

        // After many short steps, let a few full ones pass unchecked and see where they lead.
        let trust = std::mem::take(&mut st.search.trust);
        if st.search.watchdog.is_none() && (st.search.shortened >= WATCHDOG_AFTER || trust > 0) {
            st.search.watchdog = Some(Watchdog {
                point: st.point.clone(),
                dw: st.dw.clone(),
                dy: st.dy.clone(),
                reference: here,
                trials: 0,
                most_trials: trust.max(WATCHDOG_TRIALS),
            });
        }
        let mut first_known_bad = false;
        if let Some(mut dog) = st.search.watchdog.take() {
            let step = self.try_unchecked(layer, st, &mut dog, alpha_max);
            if step.taken {
                if dog.trials <= dog.most_trials && dog.trials > 0 {
                    st.search.watchdog = Some(dog);
                } else {
                    st.search.shortened = 0;
                }
                return step;
            }
            // It did not pay: back to where it began, and search properly.
            st.point = dog.point;
            st.dw = dog.dw;
            st.dy = dog.dy;
            here = dog.reference;
            st.search.shortened = 0;
            first_known_bad = true;
            st.values.compute(&mut self.scaled, layer, &st.point.w);
            st.values.differentiate(&mut self.scaled, layer, &st.point.w);
            st.compute_bound_steps(layer);
        }

        let alpha_min = here.alpha_min(st.theta_min);
        let mut alpha = here.alpha;
        let mut trials = 0;
        let mut filter_alone = false;
        if first_known_bad {
            alpha *= 0.5;
        }
        while trials == 0 || alpha > alpha_min {
            trials += 1;
            let first = trials == 1 && !first_known_bad;
            if let Some((theta, phi)) = self.evaluate(layer, st, alpha) {
                match self.judge(st, &here, alpha, theta, phi) {
                    Verdict::Accepted => {
                        let found = Found { alpha_test: alpha, alpha, phi, trials, filter_alone };
                        return self.finish(layer, st, &here, found);
                    }
                    Verdict::Filter if first => filter_alone = true,
                    _ => {}
                }
                if first
                    && theta >= here.theta
                    && let Some((taken, phi)) = self.correct_second_order(layer, st, &here, alpha, theta)
                {
                    let found = Found { alpha_test: alpha, alpha: taken, phi, trials, filter_alone };
                    return self.finish(layer, st, &here, found);
                }
            }
            alpha *= 0.5;
        }
        self.try_soft(layer, st, &here, trials)
    }

    /// θ and φ at w + α dw, if the functions are finite there.
    fn evaluate(&mut self, layer: &Layer, st: &mut State, alpha: f64) -> Option<(f64, f64)> {
        for ((t, w), d) in st.trial.w.iter_mut().zip(&st.point.w).zip(&st.dw) {
            *t = w + alpha * d;
        }
        self.evaluate_trial(layer, st)
    }

    fn evaluate_trial(&mut self, layer: &Layer, st: &mut State) -> Option<(f64, f64)> {
        if !st.trial_values.compute(&mut self.scaled, layer, &st.trial.w) {
            return None;
        }
        let phi = st.trial_values.f + layer.barrier(&st.trial.w, st.mu);
        phi.is_finite().then(|| (st.trial_values.theta(), phi))
    }

    fn judge(&self, st: &State, from: &Reference, alpha: f64, theta: f64, phi: f64) -> Verdict {
        if theta > st.theta_max {
            return Verdict::Rejected;
        }
        let good = if from.is_objective_step(alpha) && from.theta <= st.theta_min {
            from.is_armijo(alpha, phi)
        } else {
            from.is_progress(theta, phi)
        };
        match (good, st.filter.accepts(theta, phi)) {
            (true, true) => Verdict::Accepted,
            (true, false) => Verdict::Filter,
            _ => Verdict::Rejected,
        }
    }

    /// Goes to the trial point if derivatives exist there; keeps the books of the filter.
    fn finish(&mut self, layer: &Layer, st: &mut State, from: &Reference, found: Found) -> Step {
        let Found { alpha_test, alpha, phi, trials, filter_alone } = found;
        if !st.trial_values.differentiate(&mut self.scaled, layer, &st.trial.w) {
            return Step { trials, ..Default::default() };
        }
        if !from.is_objective_step(alpha_test) || !from.is_armijo(alpha_test, phi) {
            st.filter.add((1.0 - GAMMA_THETA) * from.theta, from.phi - GAMMA_PHI * from.theta);
        }
        // A filter that keeps shortening steps may be out of date.
        st.search.filter_rejections = if filter_alone { st.search.filter_rejections + 1 } else { 0 };
        if st.search.filter_rejections >= RESET_AFTER && st.search.resets < MAX_RESETS {
            st.filter.clear();
            st.search.resets += 1;
            st.search.filter_rejections = 0;
        }
        st.search.shortened = if trials > 1 { st.search.shortened + 1 } else { 0 };
        st.search.soft = 0;
        let alpha_dual = self.accept(st, alpha);
        Step { taken: true, alpha, alpha_dual, trials }
    }

    /// Corrects a first step that curvature of the rows has spoilt: the same matrix, with the violation at its end
    /// added to the right-hand side (eq. 26). The step taken and φ there, if the filter accepts one.
    fn correct_second_order(
        &mut self,
        layer: &Layer,
        st: &mut State,
        here: &Reference,
        alpha: f64,
        theta: f64,
    ) -> Option<(f64, f64)> {
        let mut theta_last = theta;
        let mut alpha_soc = alpha;
        st.soc_ry.copy_from_slice(&st.ry);
        let mut taken = None;
        for _ in 0..self.options.max_second_order_corrections {
            for (r, g) in st.soc_ry.iter_mut().zip(&st.trial_values.g) {
                *r = alpha_soc * *r - g;
            }
            let matrix = Matrix { hessian: &st.hessian, jacobian: &st.values.jacobian, sigma: &st.sigma };
            let (rhs, out) = ((&st.rw[..], &st.soc_ry[..]), (&mut st.soc_dw[..], &mut st.soc_dy[..]));
            let ratio = self.system.solve(&self.scaled, layer, &matrix, rhs, out);
            if !(ratio <= 1e-5) {
                break;
            }
            alpha_soc = largest_primal_step(layer, &st.point.w, &st.soc_dw, st.tau);
            for ((t, w), d) in st.trial.w.iter_mut().zip(&st.point.w).zip(&st.soc_dw) {
                *t = w + alpha_soc * d;
            }
            let Some((theta, phi)) = self.evaluate_trial(layer, st) else { break };
            if matches!(self.judge(st, here, alpha, theta, phi), Verdict::Accepted) {
                taken = Some((alpha_soc, phi));
                break;
            }
            if theta > KAPPA_SOC * theta_last {
                break;
            }
            theta_last = theta;
        }
        if taken.is_some() {
            std::mem::swap(&mut st.dw, &mut st.soc_dw);
            std::mem::swap(&mut st.dy, &mut st.soc_dy);
            st.compute_bound_steps(layer);
        }
        taken
    }

    /// A full step judged from where the watchdog was set, or let pass.
    fn try_unchecked(&mut self, layer: &Layer, st: &mut State, dog: &mut Watchdog, alpha_max: f64) -> Step {
        let none = Step::default();
        let Some((theta, phi)) = self.evaluate(layer, st, alpha_max) else { return none };
        let from = dog.reference;
        if matches!(self.judge(st, &from, from.alpha, theta, phi), Verdict::Accepted) {
            dog.trials = 0;
            let found =
                Found { alpha_test: from.alpha, alpha: alpha_max, phi, trials: 1, filter_alone: false };
            return self.finish(layer, st, &from, found);
        }
        dog.trials += 1;
        if dog.trials > dog.most_trials || theta > st.theta_max {
            return none;
        }
        if !st.trial_values.differentiate(&mut self.scaled, layer, &st.trial.w) {
            return none;
        }
        let alpha_dual = self.accept(st, alpha_max);
        Step { taken: true, alpha: alpha_max, alpha_dual, trials: 1 }
    }

    /// Before restoration: a step that reduces the primal–dual error may do (section 3.2, soft restoration).
    fn try_soft(&mut self, layer: &Layer, st: &mut State, here: &Reference, trials: usize) -> Step {
        let none = Step { trials, ..Default::default() };
        if layer.penalty.is_some() || st.search.soft >= MAX_SOFT {
            return none;
        }
        let before = errors(&self.scaled, layer, &st.point, &st.values, st.mu, &mut st.work).plain();
        let alpha_dual = super::iterate::largest_dual_step(&st.point.zl, &st.dzl, st.tau)
            .min(super::iterate::largest_dual_step(&st.point.zu, &st.dzu, st.tau));
        let alpha = here.alpha.min(alpha_dual);
        let Some((theta, phi)) = self.evaluate(layer, st, alpha) else { return none };
        if theta > st.theta_max || !st.trial_values.differentiate(&mut self.scaled, layer, &st.trial.w) {
            return none;
        }
        for (t, (y, d)) in st.trial.y.iter_mut().zip(st.point.y.iter().zip(&st.dy)) {
            *t = y + alpha * d;
        }
        for (t, (z, d)) in st.trial.zl.iter_mut().zip(st.point.zl.iter().zip(&st.dzl)) {
            *t = z + alpha * d;
        }
        for (t, (z, d)) in st.trial.zu.iter_mut().zip(st.point.zu.iter().zip(&st.dzu)) {
            *t = z + alpha * d;
        }
        let after = errors(&self.scaled, layer, &st.trial, &st.trial_values, st.mu, &mut st.work).plain();
        if !(after <= SOFT_REDUCTION * before) {
            return none;
        }
        if st.search.soft == 0 {
            st.filter.add((1.0 - GAMMA_THETA) * here.theta, here.phi - GAMMA_PHI * here.theta);
        }
        st.search.soft = if st.filter.accepts(theta, phi) { 0 } else { st.search.soft + 1 };
        std::mem::swap(&mut st.point, &mut st.trial);
        std::mem::swap(&mut st.values, &mut st.trial_values);
        Step { taken: true, alpha, alpha_dual: alpha, trials }
    }
}

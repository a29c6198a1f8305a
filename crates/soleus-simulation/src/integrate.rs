//! Runs an integrator to the end time.

use crate::event::{Event, localize};
use crate::stop::Stop;
use std::ops::ControlFlow;

/// Options of the step size.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOptions {
    /// Accuracy: maximum error per step, in the units of the [`ErrorNorm`](crate::ErrorNorm).
    pub accuracy: f64,
    /// Initial step, s; `None`: chosen by the method.
    pub initial_step: Option<f64>,
    /// Minimum step, s. Below it the integration ends with [`Stop::Underflow`].
    pub min_step: f64,
    /// Maximum step, s.
    pub max_step: f64,
    /// Maximum number of steps.
    pub max_steps: usize,
    /// Constraint error above which a state is projected; `None`: a tenth of the accuracy.
    pub constraint_tolerance: Option<f64>,
    /// Whether a step of `min_step` is accepted regardless of its error, as in Simbody, instead of ending with
    /// [`Stop::Underflow`]. Such steps are counted in [`Statistics::inaccurate`]. For explicit methods.
    pub force_min_step: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        StepOptions {
            accuracy: 1e-5,
            initial_step: None,
            // Near the spacing of f64 at a time of some tens of seconds; shorter steps are lost to rounding.
            min_step: 1e-14,
            max_step: f64::INFINITY,
            max_steps: usize::MAX,
            constraint_tolerance: None,
            force_min_step: false,
        }
    }
}

impl StepOptions {
    /// Default options with this accuracy.
    pub fn with_accuracy(accuracy: f64) -> Self {
        StepOptions { accuracy, ..Default::default() }
    }

    /// Constraint error above which a state is projected.
    pub fn constraint_tolerance(&self) -> f64 {
        self.constraint_tolerance.unwrap_or(0.1 * self.accuracy)
    }

    /// Whether these limits make sense.
    pub(crate) fn check(&self) -> Result<(), Stop> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if !positive(self.accuracy) {
            return Err(Stop::Setup("the accuracy must be a positive number"));
        }
        if !(self.max_step > 0.0) || self.initial_step.is_some_and(|h| !positive(h)) {
            return Err(Stop::Setup("steps must be positive"));
        }
        Ok(())
    }

    /// The step below which time does not advance any more.
    pub(crate) fn smallest(&self, t: f64) -> f64 {
        self.min_step.max(4.0 * f64::EPSILON * t.abs())
    }
}

/// Statistics of an integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: usize,
    /// Attempts whose error was too large.
    pub rejected: usize,
    /// Attempts that failed: no rates, no convergence, no projection.
    pub failed: usize,
    /// Evaluations of the right-hand side or the residual.
    pub evaluations: usize,
    /// Evaluations of the Jacobians.
    pub jacobians: usize,
    /// Factorizations; a complex one counts once.
    pub factorizations: usize,
    /// Newton iterations.
    pub newton_iterations: usize,
    /// Steps whose state was projected onto the constraints.
    pub projections: usize,
    /// Steps accepted with too large an error; see [`StepOptions::force_min_step`].
    pub inaccurate: usize,
}

/// A method that advances a problem `P` step by step.
pub trait Integrator<P: ?Sized> {
    /// Starts at a state and computes its rates.
    fn start(&mut self, problem: &mut P, t: f64, x: &[f64]) -> Result<(), Stop>;

    /// Takes one accepted step that ends at `t_max` at the latest. On error the state is that of the last accepted
    /// step.
    fn step(&mut self, problem: &mut P, t_max: f64) -> Result<(), Stop>;

    /// Start and end of the last step, s.
    fn span(&self) -> (f64, f64);

    /// State at the end of the last step.
    fn state(&self) -> &[f64];

    /// ẋ at the end of the last step.
    fn rates(&self) -> &[f64];

    /// State at a time within the last step.
    fn interpolate(&self, t: f64, x: &mut [f64]);

    /// Statistics since the start.
    fn statistics(&self) -> Statistics;

    /// The state that limits the step: the one with the largest error in the last attempt, if the method estimates
    /// errors.
    fn limiting(&self) -> Option<usize> {
        None
    }
}

/// The last step, or the start.
pub struct View<'a> {
    /// Start of the step, s.
    pub t0: f64,
    /// End of the step, s; at the start it equals `t0`.
    pub t1: f64,
    /// State at the end.
    pub x: &'a [f64],
    interpolate: &'a dyn Fn(f64, &mut [f64]),
    /// Events in this step, in order of time: (index, time).
    pub events: &'a [(usize, f64)],
}

impl View<'_> {
    /// State at a time within the step.
    pub fn interpolate(&self, t: f64, x: &mut [f64]) {
        (self.interpolate)(t, x);
    }
}

/// How an integration ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Reached the end time.
    Reached,
    /// Reached a terminal event.
    Event {
        /// Index of the event.
        index: usize,
    },
    /// Cancelled by the callback.
    Cancelled,
    /// Could not continue.
    Stopped(Stop),
}

/// Result of an integration.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Reason for its end.
    pub end: End,
    /// Time, s.
    pub time: f64,
    /// State at that time.
    pub state: Vec<f64>,
    /// Statistics.
    pub statistics: Statistics,
}

/// Integrates from (`t0`, `x0`) to `t_end`.
///
/// `watch` is called at the start and after every step, can interpolate within it, and may cancel. It is called for all
/// accepted steps, also if the integration fails. A terminal event ends the last step at its time.
pub fn integrate<P: ?Sized>(
    integrator: &mut dyn Integrator<P>,
    problem: &mut P,
    (t0, x0): (f64, &[f64]),
    t_end: f64,
    events: &mut [Event],
    watch: &mut dyn FnMut(&View) -> ControlFlow<()>,
) -> Outcome {
    let outcome =
        |end, time, state: &[f64], statistics| Outcome { end, time, state: state.to_vec(), statistics };
    if !(t_end >= t0) || !t0.is_finite() || !t_end.is_finite() {
        let stop = Stop::Setup("the end must be a time after the start");
        return outcome(End::Stopped(stop), t0, x0, Statistics::default());
    }
    if let Err(stop) = integrator.start(problem, t0, x0) {
        return outcome(End::Stopped(stop), t0, x0, integrator.statistics());
    }
    let first = View { t0, t1: t0, x: x0, interpolate: &|_, x| x.copy_from_slice(x0), events: &[] };
    if watch(&first).is_break() {
        return outcome(End::Cancelled, t0, x0, integrator.statistics());
    }
    let mut g0: Vec<f64> = events.iter_mut().map(|e| (e.function)(t0, x0)).collect();
    let mut between = vec![0.0; x0.len()];
    let mut found = Vec::new();

    while integrator.span().1 < t_end {
        if let Err(stop) = integrator.step(problem, t_end) {
            let (_, t) = integrator.span();
            return outcome(End::Stopped(stop), t, integrator.state(), integrator.statistics());
        }
        let (ta, tb) = integrator.span();

        // Zeros within the step; after a terminal one nothing counts any more.
        found.clear();
        for (i, e) in events.iter_mut().enumerate() {
            let g1 = (e.function)(tb, integrator.state());
            if e.crosses(g0[i], g1) {
                let t = localize(ta, g0[i], tb, g1, |t| {
                    integrator.interpolate(t, &mut between);
                    (e.function)(t, &between)
                });
                found.push((i, t));
            }
            g0[i] = g1;
        }
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        let last = found.iter().position(|&(i, _)| events[i].terminal);

        let interpolate = |t: f64, x: &mut [f64]| integrator.interpolate(t, x);
        if let Some(k) = last {
            found.truncate(k + 1);
            let (index, t) = found[k];
            integrator.interpolate(t, &mut between);
            let view = View { t0: ta, t1: t, x: &between, interpolate: &interpolate, events: &found };
            let _ = watch(&view);
            return outcome(End::Event { index }, t, &between, integrator.statistics());
        }
        let view = View { t0: ta, t1: tb, x: integrator.state(), interpolate: &interpolate, events: &found };
        if watch(&view).is_break() {
            return outcome(End::Cancelled, tb, integrator.state(), integrator.statistics());
        }
    }
    outcome(End::Reached, integrator.span().1, integrator.state(), integrator.statistics())
}

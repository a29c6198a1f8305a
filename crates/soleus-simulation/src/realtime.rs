//! Real-time simulation.

use crate::integrate::{Integrator, Statistics};
use crate::stop::Stop;

/// Statistics and delays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Number of steps.
    pub steps: usize,
    /// Number of steps that missed their deadline.
    pub missed: usize,
    /// Maximum wall-clock time of a step, s.
    pub longest: f64,
    /// Maximum delay of a step, s of wall-clock time.
    pub latest: f64,
    /// Statistics of the integrator.
    pub work: Statistics,
}

/// Advances a problem at a fixed rate: input, step, deadline.
///
/// The integrator should have a fixed step and bounded work, such as [`RosenbrockEuler`](crate::RosenbrockEuler) or
/// [`SemiExplicitEuler`](crate::SemiExplicitEuler); each call of [`tick`](Self::tick) advances the problem by `period`,
/// in as many integration steps as needed. Step i is due at i · period on the clock. The caller provides the clock;
/// this type neither reads a clock nor sleeps.
pub struct RealTimeLoop<'a, P: ?Sized> {
    integrator: &'a mut dyn Integrator<P>,
    problem: &'a mut P,
    period: f64,
    t0: f64,
    begin: f64,
    pace: Pace,
}

impl<'a, P: ?Sized> RealTimeLoop<'a, P> {
    /// Starts at a state; `now` is the time of the clock, s.
    pub fn start(
        integrator: &'a mut dyn Integrator<P>,
        problem: &'a mut P,
        (t0, x0): (f64, &[f64]),
        period: f64,
        now: f64,
    ) -> Result<Self, Stop> {
        if !(period > 0.0) {
            return Err(Stop::Setup("the period must be positive"));
        }
        integrator.start(problem, t0, x0)?;
        Ok(RealTimeLoop { integrator, problem, period, t0, begin: now, pace: Pace::default() })
    }

    /// Advances by one period: `input` may change the problem (for example its controls) at the current time and state;
    /// then the problem is advanced. Returns whether the deadline was met. `clock` returns the time in s.
    pub fn tick(
        &mut self,
        input: &mut dyn FnMut(f64, &[f64], &mut P),
        clock: &mut dyn FnMut() -> f64,
    ) -> Result<bool, Stop> {
        let before = clock();
        let (_, t) = self.integrator.span();
        input(t, self.integrator.state(), self.problem);

        // Times are multiples of the period: nothing adds up.
        let steps = self.pace.steps + 1;
        let end = self.t0 + steps as f64 * self.period;
        while self.integrator.span().1 < end {
            self.integrator.step(self.problem, end)?;
        }
        let after = clock();
        let late = after - (self.begin + steps as f64 * self.period);
        self.pace.steps = steps;
        self.pace.missed += usize::from(late > 0.0);
        self.pace.longest = self.pace.longest.max(after - before);
        self.pace.latest = self.pace.latest.max(late);
        self.pace.work = self.integrator.statistics();
        Ok(late <= 0.0)
    }

    /// Time at which the next step should start, s of the clock: sleep until then.
    pub fn next_begin(&self) -> f64 {
        self.begin + self.pace.steps as f64 * self.period
    }

    /// State and its time.
    pub fn state(&self) -> (f64, &[f64]) {
        (self.integrator.span().1, self.integrator.state())
    }

    /// Statistics and delays so far.
    pub fn pace(&self) -> Pace {
        self.pace
    }
}

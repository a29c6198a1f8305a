//! The gait cycle as an optimal control problem.

use super::Signal;
use super::signal::terms;
use crate::function::SmoothFunction;
use crate::goal::control_effort;
use crate::musculoskeletal::ModelProblem;
use crate::problem::{Bounds, EndpointFunction, EndpointVariable, Goal, PointVariable, Problem};
use crate::solution::Trajectory;
use soleus_math::Real;

/// Symmetry of the legs, half a cycle apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Symmetry {
    /// The motion is a whole cycle.
    #[default]
    None,
    /// The motion is half a cycle; each final state equals the initial state of its mirror image.
    HalfCycle,
}

/// Duration of the whole motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration {
    /// Allowed durations, s.
    pub bounds: Bounds,
    /// Mean and standard deviation of a measured duration, s; included as an additional signal.
    pub measured: Option<[f64; 2]>,
}

/// Cost of the controls: weight/M Σ mean of e^exponent over M controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Weight W.
    pub weight: f64,
    /// Exponent p.
    pub exponent: f64,
}

/// A ground force signal names a force that is not a contact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signal `{0}` tracks ground forces, but names a force that is not a contact")]
pub struct NoContact(pub String);

/// A periodic gait with forward motion.
#[derive(Clone, Debug, PartialEq)]
pub struct GaitCycle {
    /// State of the forward position; all other states are periodic.
    pub forward: usize,
    /// Mean forward speed, m/s.
    pub speed: f64,
    /// Duration of the motion: a cycle, or half of it if symmetric.
    pub duration: Duration,
    /// Half a cycle or a whole cycle.
    pub symmetry: Symmetry,
    /// Tracked signals; empty for a prediction.
    pub signals: Vec<Signal>,
    /// Weight W_track.
    pub tracking_weight: f64,
    /// Cost of the controls.
    pub effort: Effort,
}

impl GaitCycle {
    /// Adds the cycle to the problem of a model: periodicity, tracking, effort, duration, and forward position 0 at the
    /// start.
    pub fn pose(&self, base: &ModelProblem, problem: &mut Problem) -> Result<(), NoContact> {
        problem.initial_time = Bounds::fixed(0.0);
        problem.final_time = self.duration.bounds;
        problem.states[self.forward].initial = Bounds::fixed(0.0);
        problem.goals.push(self.periodicity(base));

        let stretch = if self.symmetry == Symmetry::HalfCycle { 0.5 } else { 1.0 };
        let count = self.signals.len() + usize::from(self.duration.measured.is_some());
        let weight = self.tracking_weight / count.max(1) as f64;
        if !self.signals.is_empty() {
            let terms = terms(&self.signals, &base.system, stretch).map_err(NoContact)?;
            let name = if let [only] = self.signals.as_slice() { &only.name } else { "tracking" };
            problem.goals.push(Goal::mean(name, weight, terms));
        }
        if let Some([mean, deviation]) = self.duration.measured {
            let inputs = vec![EndpointVariable::Last(PointVariable::Time)];
            let f = EndpointFunction::new(inputs, DurationError { mean, deviation });
            problem.goals.push(Goal::endpoint("duration", weight, f));
        }
        if self.effort.weight != 0.0 {
            let n = base.controls.len();
            let all: Vec<(usize, f64)> = (0..n).map(|i| (i, 1.0)).collect();
            let weight = self.effort.weight / n.max(1) as f64;
            let goal = control_effort("effort", weight, &all, self.effort.exponent);
            problem.goals.push(Goal { is_mean: true, ..goal });
        }
        Ok(())
    }

    /// The whole cycle of a motion; a half cycle is completed by its mirror image.
    pub fn whole(&self, base: &ModelProblem, t: &Trajectory) -> Trajectory {
        let mut whole = t.clone();
        let (Some(&first), Some(&last)) = (t.times.first(), t.times.last()) else { return whole };
        if self.symmetry == Symmetry::None {
            return whole;
        }
        let mirrored = |names: &[String], row: &[f64]| -> Vec<f64> {
            (0..row.len()).map(|i| row[mirror_image(names, i)]).collect()
        };
        for k in 1..t.times.len() {
            whole.times.push(last + t.times[k] - first);
            let mut row = mirrored(&base.states, &t.states.rows[k]);
            row[self.forward] += self.speed * (last - first);
            whole.states.rows.push(row);
            whole.rates.rows.extend(t.rates.rows.get(k).map(|r| mirrored(&base.states, r)));
            whole.controls.rows.extend(t.controls.rows.get(k).map(|r| mirrored(&base.controls, r)));
            whole.multipliers.rows.extend(t.multipliers.rows.get(k).cloned());
        }
        whole
    }

    /// The end of the motion is its beginning, further on.
    fn periodicity(&self, base: &ModelProblem) -> Goal {
        let mirror = |names: &[String], i: usize| match self.symmetry {
            Symmetry::None => i,
            Symmetry::HalfCycle => mirror_image(names, i),
        };
        let mut inputs =
            vec![EndpointVariable::Initial(PointVariable::Time), EndpointVariable::Last(PointVariable::Time)];
        let states = (0..base.states.len())
            .map(|i| (PointVariable::State(mirror(&base.states, i)), PointVariable::State(i)));
        let controls = (0..base.controls.len())
            .map(|i| (PointVariable::Control(mirror(&base.controls, i)), PointVariable::Control(i)));
        for (before, after) in states.chain(controls) {
            inputs.extend([EndpointVariable::Initial(before), EndpointVariable::Last(after)]);
        }
        let rows = base.states.len() + base.controls.len();
        let f = Repeats { rows, forward: self.forward, speed: self.speed };
        let bounds = vec![Bounds::fixed(0.0); rows];
        Goal::endpoint_constraint("periodicity", bounds, EndpointFunction::new(inputs, f))
    }
}

/// The entry whose name is that of entry i with `_r` and `_l` exchanged where a part of the path ends so; i itself if
/// there is none.
fn mirror_image(names: &[String], i: usize) -> usize {
    let mirrored: Vec<String> = names[i]
        .split('/')
        .map(|part| match (part.strip_suffix("_r"), part.strip_suffix("_l")) {
            (Some(stem), _) => format!("{stem}_l"),
            (_, Some(stem)) => format!("{stem}_r"),
            _ => part.to_string(),
        })
        .collect();
    let mirrored = mirrored.join("/");
    names.iter().position(|n| *n == mirrored).unwrap_or(i)
}

/// x_after − x_before, less speed · duration in the forward row. Inputs: t₀, t_f, then pairs (before, after).
struct Repeats {
    rows: usize,
    forward: usize,
    speed: f64,
}

impl SmoothFunction for Repeats {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2 + 2 * self.rows
    }
    fn num_outputs(&self) -> usize {
        self.rows
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        for (v, pair) in values.iter_mut().zip(z[2..].chunks_exact(2)) {
            *v = pair[1] - pair[0];
        }
        values[self.forward] -= (z[1] - z[0]) * self.speed;
    }
    fn depends(&self, output: usize, input: usize) -> bool {
        if input < 2 { output == self.forward } else { (input - 2) / 2 == output }
    }
    fn couples(&self, _: usize, _: usize) -> bool {
        false
    }
}

/// ((T − mean)/deviation)².
struct DurationError {
    mean: f64,
    deviation: f64,
}

impl SmoothFunction for DurationError {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = ((z[0] - self.mean) / self.deviation).sq();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_mirror_images() {
        let names: Vec<String> = [
            "/jointset/hip_r/hip_angle_r/value",
            "/jointset/hip_l/hip_angle_l/value",
            "/trunk/value",
            "/x_r",
        ]
        .map(String::from)
        .into();
        assert_eq!([0, 1, 2, 3].map(|i| mirror_image(&names, i)), [1, 0, 2, 3]);
    }
}

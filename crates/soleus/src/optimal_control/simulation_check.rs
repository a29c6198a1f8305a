//! Forward simulation of a solution from its initial state with its controls, independent of the mesh.

use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::{State, System};
use soleus_math::function::{Function, PiecewiseLinear};
use soleus_simulation::system::methods::merson;
use soleus_simulation::{End, ModelControls, StepOptions, SystemOde, View, integrate};
use std::fmt;
use std::ops::ControlFlow;

/// Accuracy of the integrator: its own error then counts for nothing beside that of a mesh.
const ACCURACY: f64 = 1e-8;

/// A part of a state's range below which two motions are called the same.
const SAME: f64 = 0.01;

/// States that hardly move are measured by this, in their own units.
const LEAST_RANGE: f64 = 1e-3;

/// Difference between simulation and solution, relative to the range of each state.
#[derive(Clone, Debug, Default)]
pub struct Distance {
    /// RMS over all states and points.
    pub rms: f64,
    /// At the last point.
    pub end: f64,
    /// State with the largest difference at the last point.
    pub worst: String,
    /// Time until which all states agree, s from the start.
    pub same_for: f64,
    /// Duration of the solution, s.
    pub duration: f64,
    /// Why the simulation did not reach the end.
    pub stopped: Option<String>,
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Distance { rms, end, worst, same_for, duration, .. } = self;
        write!(
            f,
            "forward simulation: final error {end:.1e} of a state's range ({worst}), RMS {rms:.1e}; within 1 % for {same_for:.3} of {duration:.3} s"
        )?;
        match &self.stopped {
            Some(why) => write!(f, "; stopped: {why}"),
            None => Ok(()),
        }
    }
}

/// Simulates a solution of `base` with `system`, the model at the parameters of the solution. There is no feedback, so
/// the simulation eventually departs from an unstable motion even if the solution is accurate.
pub fn simulate(base: &ModelProblem, system: &System, found: &Trajectory) -> Result<Distance, String> {
    let (Some(first), Some(&t0), Some(&tf)) =
        (found.states.rows.first(), found.times.first(), found.times.last())
    else {
        return Err("the motion is empty".into());
    };
    let n = base.num_coordinates();
    let mut x = State { time: t0, ..system.default_state.clone() };
    x.q.copy_from_slice(&first[..n]);
    x.u.copy_from_slice(&first[n..2 * n]);
    x.z.copy_from_slice(&first[2 * n..]);
    let mut course = ModelControls::none(system);
    for i in 0..base.controls.len() {
        let values = found.controls.rows.iter().map(|r| r[i]).collect();
        let line = PiecewiseLinear::new(found.times.clone(), values).map_err(|e| e.to_string())?;
        course.add_function(i, Function::from(line));
    }

    let range = |i: usize| {
        let column = || found.states.rows.iter().map(move |r| r[i]);
        (column().fold(f64::NEG_INFINITY, f64::max) - column().fold(f64::INFINITY, f64::min)).max(LEAST_RANGE)
    };
    let ranges: Vec<f64> = (0..first.len()).map(range).collect();
    let mut d = Distance { duration: tf - t0, ..Distance::default() };
    let (mut sum, mut points, mut same) = (0.0, 0usize, true);
    let mut now = vec![0.0; first.len()];
    let mut ode = SystemOde::new(system, course);
    let mut integrator = merson(ode.error_norm(), StepOptions::with_accuracy(ACCURACY));
    let start = SystemOde::<ModelControls>::vector(&x);
    let outcome = integrate(&mut *integrator, &mut ode, (t0, &start), tf, &mut [], &mut |view: &View| {
        // Every point of the solution that this step passes.
        while points < found.times.len() && found.times[points] <= view.t1 + 1e-12 * (1.0 + tf.abs()) {
            let t = found.times[points];
            view.interpolate(t.min(view.t1), &mut now);
            let far = |i: usize| (now[i] - found.states.rows[points][i]).abs() / ranges[i];
            let worst = (0..now.len()).max_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0);
            sum += (0..now.len()).map(|i| far(i).powi(2)).sum::<f64>();
            (d.end, d.worst) = (far(worst), base.states[worst].clone());
            same &= d.end <= SAME;
            if same {
                d.same_for = t - t0;
            }
            points += 1;
        }
        ControlFlow::Continue(())
    });
    d.rms = (sum / (points.max(1) * first.len().max(1)) as f64).sqrt();
    if let End::Stopped(stop) = outcome.end {
        d.stopped = Some(format!("{stop} at {:.4} s", outcome.time));
    }
    Ok(d)
}

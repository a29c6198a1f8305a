//! Optimization of task weights by repeated runs.
//!
//! Residual reduction trades tracking errors for smaller residuals, and the weights of the tasks determine the
//! trade-off for each coordinate. Tuning them by hand takes days (Sturdy et al. 2022). Here errors and residuals are
//! measured relative to commonly accepted values (5 N and 30 N m RMS, 20 mm and 2 degrees), and weights are changed
//! from run to run: a coordinate with a larger error than the others gets a larger weight, and all weights decrease
//! while residuals are larger than errors. The run with the smallest sum of both is kept.

use super::report::TrackingReport;
use super::run::Job;
use crate::context::{Context, Silent};
use crate::error::Error;
use soleus_io::setup::{TrackedPoint, TrackingTask};
use soleus_tools::tracking::{Followed, Task};

/// What is good: residual force (N) and moment (N·m), error of a place (mm) and of an angle (deg); all root mean squares.
const GOOD: [f64; 4] = [5.0, 30.0, 20.0, 2.0];
/// A weight changes by this factor at most from run to run.
const MOST_CHANGE: f64 = 4.0;

/// Sets the weights of a job to the best found in a number of runs, and returns the tasks with these weights.
pub fn find(cx: &Context, job: &mut Job, runs: usize) -> Result<Vec<TrackingTask>, Error> {
    let quiet = Context { monitor: &Silent, ..*cx };
    let model = job.both.0;
    let mut best: Option<(f64, Vec<Task>)> = None;
    for run in 0..runs {
        cx.go_on()?;
        cx.progress("runs", run, runs);
        let report = job.run(&quiet)?.report;
        let (errors, residuals) = (errors(&report), mean_square(&mut residuals(&report)));
        let mean = mean_square(&mut errors.iter().map(|e| e.1));
        let score = mean + residuals;
        if run == 0 {
            cx.note(format!(
                "given weights: errors {:.2}, residuals {:.2} times the recommended limits",
                mean.sqrt(),
                residuals.sqrt()
            ));
        }
        if score.is_finite() && best.as_ref().is_none_or(|b| score < b.0) {
            best = Some((score, job.tasks.clone()));
        }
        // All together by the balance, each by its share of the errors.
        let all = limited((mean / residuals.max(1e-12)).sqrt());
        for task in &mut job.tasks {
            let name = task.followed.label(model);
            let own = errors
                .iter()
                .find(|(n, _)| *n == name)
                .map_or(1.0, |(_, e)| limited(e / mean.sqrt().max(1e-12)));
            task.weight *= all * own;
        }
    }
    if let Some((score, tasks)) = best {
        job.tasks = tasks;
        cx.note(format!(
            "weights found: errors and residuals together {:.2} times the recommended limits",
            (0.5 * score).sqrt()
        ));
    }
    let task = |t: &Task| TrackingTask {
        coordinate: match &t.followed {
            Followed::Coordinate(c) => model.coordinates[*c].name.clone(),
            Followed::Point(p) => p.name.clone(),
        },
        point: match &t.followed {
            Followed::Coordinate(_) => None,
            Followed::Point(p) => Some(TrackedPoint {
                body: p.body.clone(),
                location: p.location.to_array(),
                direction: p.direction.to_array(),
                frame: p.frame.clone(),
            }),
        },
        weight: t.weight,
        kp: t.kp,
        kv: t.kv,
        ka: t.ka,
        ..TrackingTask::default()
    };
    Ok(job.tasks.iter().map(task).collect())
}

fn limited(x: f64) -> f64 {
    x.clamp(1.0 / MOST_CHANGE, MOST_CHANGE)
}

/// Errors over what is good, by coordinate.
fn errors(report: &TrackingReport) -> Vec<(String, f64)> {
    let good = |unit: &str| if unit == "mm" { GOOD[2] } else { GOOD[3] };
    let followed = report.coordinates.iter().filter(|c| c.is_followed);
    followed.map(|c| (c.name.clone(), c.rms / good(c.unit))).collect()
}

/// Residuals over what is good.
fn residuals(report: &TrackingReport) -> impl Iterator<Item = f64> + '_ {
    let list = report.helpers.iter().filter(|h| h.is_residual);
    list.map(|h| h.rms / if h.is_force { GOOD[0] } else { GOOD[1] })
}

fn mean_square(values: &mut dyn Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(s, n), x| (s + x * x, n + 1.0));
    if n > 0.0 { sum / n } else { 0.0 }
}

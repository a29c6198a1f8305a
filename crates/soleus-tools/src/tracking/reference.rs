//! The motion to track, as functions of time.

use crate::analysis::{HistoryError, Splines, StateHistory};
use soleus_dynamics::System;
use soleus_math::function::GcvSpline;

/// Coordinates, speeds and accelerations over time: quintic splines through the coordinates, through their speeds, and
/// through the derivatives of the speeds at the times of the data, as in OpenSim's `CMCTool`.
///
/// If samples are unevenly spaced, the spline through the speeds and the derivative of the spline through the
/// coordinates differ between samples. Speed errors use the former; predicted poses use the latter, because they would
/// otherwise leave the motion.
#[derive(Clone, Debug)]
pub struct Reference {
    q: Vec<Course>,
    /// Whether a speed is not a rate of its coordinate: that of a ball joint.
    is_angular: Vec<bool>,
    u: Vec<Course>,
    udot: Vec<Course>,
    /// First and last time of the data, s.
    pub span: [f64; 2],
    /// Mean time between samples, s.
    pub sample_interval: f64,
}

/// One quantity over time.
#[derive(Clone, Debug)]
pub(super) enum Course {
    Constant(f64),
    Spline(GcvSpline),
}

impl Course {
    fn value(&self, t: f64) -> f64 {
        match self {
            Course::Constant(c) => *c,
            Course::Spline(s) => s.eval(t)[0],
        }
    }

    /// Value, first and second slope.
    pub fn with_slopes(&self, t: f64) -> [f64; 3] {
        match self {
            Course::Constant(c) => [*c, 0.0, 0.0],
            Course::Spline(s) => s.eval(t),
        }
    }

    /// Value and slope.
    fn with_slope(&self, t: f64) -> [f64; 2] {
        match self {
            Course::Constant(c) => [*c, 0.0],
            Course::Spline(s) => {
                let [value, slope, _] = s.eval(t);
                [value, slope]
            }
        }
    }
}

impl Reference {
    /// From a history.
    pub fn new(system: &System, history: &StateHistory) -> Result<Self, HistoryError> {
        let times = history.times();
        let span = history.data_span().ok_or(HistoryError::Nothing)?;
        let mut splines = Splines::at(times);
        let defaults = history.defaults();
        let n = history.num_mobilities();
        let mut course = |state: usize| -> Result<Course, HistoryError> {
            match history.column(state) {
                None => Ok(Course::Constant(defaults[state])),
                Some(y) if y.iter().all(|x| *x == y[0]) => Ok(Course::Constant(y[0])),
                Some(y) => splines
                    .through(y)
                    .map(Course::Spline)
                    .map_err(|source| HistoryError::Column { name: format!("state {state}"), source }),
            }
        };
        let q = (0..n).map(&mut course).collect::<Result<Vec<_>, _>>()?;
        let u = (n..2 * n).map(&mut course).collect::<Result<Vec<_>, _>>()?;
        let mut udot = Vec::with_capacity(n);
        for u in &u {
            udot.push(match u {
                Course::Constant(_) => Course::Constant(0.0),
                Course::Spline(s) => {
                    let slopes: Vec<f64> = times.iter().map(|&t| s.eval(t)[1]).collect();
                    let through = splines.through(&slopes);
                    Course::Spline(through.map_err(|source| HistoryError::Column {
                        name: "acceleration".to_string(),
                        source,
                    })?)
                }
            });
        }
        let sample_interval = match times {
            [first, .., last] => (last - first) / (times.len() - 1) as f64,
            _ => 0.0,
        };
        let mut is_angular = vec![false; n];
        for node in system.tree.nodes.iter().filter(|node| node.joint.speeds_are_angular_velocity()) {
            is_angular[node.u0..node.u0 + 3].fill(true);
        }
        Ok(Reference { q, is_angular, u, udot, span, sample_interval })
    }

    /// Writes coordinates and speeds at a time, mobility by mobility.
    pub fn pose(&self, t: f64, q: &mut [f64], u: &mut [f64]) {
        for m in 0..self.q.len() {
            let [value, slope] = self.q[m].with_slope(t);
            q[m] = value;
            u[m] = if self.is_angular[m] { self.u[m].value(t) } else { slope };
        }
    }

    /// Coordinate, speed and acceleration of a mobility at a time.
    pub fn at(&self, mobility: usize, t: f64) -> [f64; 3] {
        [&self.q, &self.u, &self.udot].map(|list| list[mobility].value(t))
    }
}

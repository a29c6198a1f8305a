//! A gait behind inertial records as a problem.

use super::record::{Channel as Recorded, Recording};
use crate::sample::{at, lines};
use crate::stages::{Stage, solve_stages};
use soleus::Error;
use soleus::prediction;
use soleus_control::continuation::Outcome;
use soleus_control::gait::{Course, Duration, Effort, GaitCycle, Planar, Symmetry};
use soleus_control::goal::{Channel, Sensor, sensor_tracking};
use soleus_control::{Bounds, Scheme, Trajectory};
use soleus_dynamics::BodyFrame;
use soleus_dynamics::implicit::ReactionSum;
use soleus_math::{Transform, Vec3, vec3};

/// Segments of the record and bodies of the model.
pub const SEGMENTS: [(&str, &str); 7] = [
    ("pelvis", "trunk"),
    ("femur_r", "thigh_r"),
    ("tibia_r", "shank_r"),
    ("foot_r", "foot_r"),
    ("femur_l", "thigh_l"),
    ("tibia_l", "shank_l"),
    ("foot_l", "foot_l"),
];
/// Least standard deviation of accelerometers, m/s², and gyroscopes, rad/s: between cycles some readings hardly differ, and a
/// planar model with rigid segments cannot follow them that closely.
const FLOORS: [f64; 2] = [1.0, 0.2];
/// W of eq. 21.
pub const EFFORT: f64 = 3.0;
/// Nodes of the estimate.
const NODES: usize = 50;
/// The way to the estimate. Backward Euler, which damps, finds the gait, first with reserves and without the curvature of the
/// equations; the midpoint rule, which does not damp, makes it exact.
const STAGES: [Stage; 5] = {
    let first = Stage {
        scheme: Scheme::BackwardEuler,
        nodes: NODES,
        price: Some(1.0),
        curved: false,
        barrier: 1e-3,
        tolerance: 1e-3,
        most: 60,
    };
    let second = Stage { price: Some(10.0), most: 20, ..first };
    let third = Stage { price: Some(100.0), ..second };
    let free = Stage { price: None, curved: true, tolerance: 1e-4, most: 300, ..first };
    [first, second, third, free, Stage { scheme: Scheme::Midpoint, barrier: 1e-4, ..free }]
};

/// Which sensors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorSet {
    All,
    NoFeet,
    RightLeg,
    Gyroscopes,
}

impl SensorSet {
    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            SensorSet::All => "seven sensors",
            SensorSet::NoFeet => "without the feet",
            SensorSet::RightLeg => "pelvis and right leg",
            SensorSet::Gyroscopes => "gyroscopes alone",
        }
    }

    fn has(self, c: &Recorded) -> bool {
        match self {
            SensorSet::All => true,
            SensorSet::NoFeet => !c.name.starts_with("foot"),
            SensorSet::RightLeg => !c.name.ends_with("_l"),
            SensorSet::Gyroscopes => c.kind == "gyro",
        }
    }
}

/// A record and the walker that should have made it.
pub struct Gait {
    /// The walker.
    pub walker: Planar,
    /// The record.
    pub recording: Recording,
    /// W.
    pub effort: f64,
}

impl Gait {
    /// The built-in walker as it is.
    pub fn new(recording: Recording, effort: f64) -> Result<Gait, Error> {
        Ok(Gait { walker: prediction::walker(prediction::model()?)?, recording, effort })
    }

    /// The cycle: duration and mean speed are known, nothing is followed but sensors.
    pub fn cycle(&self) -> GaitCycle {
        GaitCycle {
            forward: self.walker.forward,
            speed: self.recording.speed,
            duration: Duration { bounds: Bounds::fixed(self.recording.duration), measured: None },
            symmetry: Symmetry::None,
            signals: Vec::new(),
            tracking_weight: 0.0,
            effort: Effort { weight: self.effort, exponent: 2.0 },
        }
    }

    /// The sensor that recorded a channel; none if it sees nothing of the plane.
    fn sensor(&self, c: &Recorded) -> Option<Sensor> {
        let axis = c.direction.iter().position(|&d| d == 1.0)?;
        let (_, body) = SEGMENTS.iter().find(|s| s.0 == c.name)?;
        let i = self.walker.base.model.bodies.iter().position(|b| b.name == *body)?;
        let p = vec3(c.position[0], c.position[1], 0.0);
        let body = self.walker.base.system.tree.node_of_body[i];
        let frame = BodyFrame { body, X_BF: Transform::from_offset(p, Vec3::zero()) };
        match (c.kind.as_str(), axis) {
            ("acc", 0 | 1) => Some(Sensor::Accelerometer(frame, axis)),
            ("gyro", 2) => Some(Sensor::Gyroscope(frame, axis)),
            _ => None,
        }
    }

    /// Channels on a mesh: in each interval the mean of what was read in it.
    fn channels(&self, set: SensorSet, nodes: usize) -> Result<Vec<Channel>, Error> {
        let duration = self.recording.duration;
        let mut list = Vec::new();
        for c in self.recording.channels.iter().filter(|c| set.has(c)) {
            let Some(sensor) = self.sensor(c) else { continue };
            let floor = FLOORS[usize::from(c.kind == "gyro")];
            let over = |v: &[f64]| means(v, nodes);
            let per = |v: f64| 1.0 / v.max(0.0).sqrt().max(floor);
            list.push(Channel {
                sensor,
                reading: lines(over(&c.mean), duration)?,
                per_deviation: lines(over(&c.variance).into_iter().map(per).collect(), duration)?,
            });
        }
        Ok(list)
    }

    /// Estimates the gait, from a motion that is nearly one or from what the readings themselves show.
    pub fn estimate(&self, set: SensorSet, guess: Option<&Trajectory>) -> Result<Outcome, Error> {
        let base = &self.walker.base;
        let problem = |nodes: usize| {
            let mut problem = self.walker.problem();
            let posed = self.cycle().pose(base, &mut problem);
            posed.map_err(|e| Error::NotSolved { message: e.to_string() })?;
            problem.goals.push(sensor_tracking("tracking", 1.0, &base.system, self.channels(set, nodes)?));
            Ok(problem)
        };
        match guess {
            Some(t) => solve_stages(&STAGES[STAGES.len() - 1..], &[], t.clone(), &problem),
            None => {
                let start = self.start().ok_or_else(|| Error::NotSolved {
                    message: "a segment lacks an accelerometer or a gyroscope".into(),
                })?;
                solve_stages(&STAGES, &self.walker.reserves(), start, &problem)
            }
        }
    }

    /// Hip, knee and ankle of the right leg, deg, and the force on the right foot, body weights, where the record has its
    /// readings.
    pub fn courses(&self, t: &Trajectory) -> [Vec<f64>; 5] {
        let count = self.recording.find("angle", "knee_angle_r").map_or(100, |c| c.mean.len());
        let w = &self.walker;
        let n = w.base.num_coordinates();
        let weight = w.base.model.total_mass() * w.base.model.gravity.norm();
        let mut courses: [Vec<f64>; 5] = Default::default();
        let sum = ReactionSum::new(&w.base.system, &w.feet[0]);
        let mut scratch = sum.as_ref().map(|s| s.scratch(&w.base.system));
        for k in 0..count {
            let row = at(&t.times, &t.states.rows, self.recording.duration * k as f64 / count as f64);
            for (c, &i) in courses.iter_mut().zip(&w.legs[0]) {
                c.push(row[i].to_degrees());
            }
            let mut force = [0.0; 2];
            if let (Some(sum), Some(scratch)) = (&sum, &mut scratch) {
                sum.compute_value(&w.base.system, &row[..n], &row[n..2 * n], scratch);
                force = [scratch.value.x / weight, scratch.value.y / weight];
            }
            courses[3].push(force[0]);
            courses[4].push(force[1]);
        }
        courses
    }
}

/// Means over equal parts of a cycle whose values stand at its beginning and at equal lines after it.
fn means(values: &[f64], parts: usize) -> Vec<f64> {
    const POINTS: usize = 8;
    let mut course = values.to_vec();
    course.extend(values.first());
    let course = Course(course);
    let phase = |j: usize, k: usize| (j as f64 + (k as f64 + 0.5) / POINTS as f64) / parts as f64;
    let mean = |j: usize| (0..POINTS).map(|k| course.at(phase(j, k))).sum::<f64>() / POINTS as f64;
    (0..parts).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight course has the mean of its ends; over the end of the cycle it goes back to its beginning.
    #[test]
    fn analytic_means() {
        let m = means(&[0.0, 1.0, 2.0, 3.0], 4);
        assert!(m.iter().zip([0.5, 1.5, 2.5, 1.5]).all(|(a, b)| (a - b).abs() < 1e-12), "{m:?}");
        let m = means(&[0.0, 1.0, 2.0, 1.0], 2);
        assert!(m.iter().all(|a| (a - 1.0).abs() < 1e-12), "{m:?}");
    }
}

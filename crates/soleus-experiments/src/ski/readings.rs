//! What sensors would have read of a landing, with noise.

use super::motion::Motion;
use super::skier::Skier;
use crate::random::Random;
use crate::sample::lines;
use soleus::Error;
use soleus_control::goal::{Channel, Sensor};
use soleus_dynamics::{BodyFrame, State};

/// Readings per second.
pub const RATE: usize = 180;
/// Standard deviation of places, m; of angles, rad; of accelerometers, m/s²; of gyroscopes, rad/s.
pub const NOISE: [f64; 4] = [0.01, 2.0 * std::f64::consts::PI / 180.0, 1.0, 0.1];

/// One channel over time; no number where nothing was read.
#[derive(Clone, Debug)]
pub struct Record {
    /// What read it.
    pub sensor: Sensor,
    /// Standard deviation of its noise.
    pub deviation: f64,
    /// At [`times`].
    pub readings: Vec<Option<f64>>,
}

/// When sensors are read: in the middle of each interval of 1/180 s.
pub fn times(duration: f64) -> Vec<f64> {
    let count = (duration * RATE as f64).round() as usize;
    (0..count).map(|k| (k as f64 + 0.5) / RATE as f64).collect()
}

/// Which sensors there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensors {
    /// Coordinates that are seen.
    pub coordinates: Vec<usize>,
    /// Whether inertial sensors are worn on trunk, thighs and shanks.
    pub inertial: bool,
    /// Every how many-th reading is there.
    pub every: usize,
    /// By how much the noise is larger.
    pub noise: f64,
}

impl Sensors {
    /// What they read of the truth. The same seed gives the same noise on a channel, whichever others there are.
    pub fn read(&self, skier: &Skier, truth: &Motion, seed: u64) -> Result<Vec<Record>, Error> {
        let p = &skier.planar;
        let noisy = |channel: u64, sensor: Sensor, deviation: f64, values: Vec<f64>| {
            let mut random = Random::new(seed.wrapping_mul(1000).wrapping_add(channel));
            let readings = values.into_iter().enumerate().map(|(k, v)| {
                let reading = v + self.noise * deviation * random.normal();
                (k % self.every == self.every / 2).then_some(reading)
            });
            // Without noise the readings count as much as with the usual one.
            let factor = if self.noise > 0.0 { self.noise } else { 1.0 };
            Record { sensor, deviation: deviation * factor, readings: readings.collect() }
        };
        let mut list = Vec::new();
        for &i in &self.coordinates {
            let deviation = if [p.forward, p.height].contains(&i) { NOISE[0] } else { NOISE[1] };
            let values = truth.states.iter().map(|x| x.q[i]).collect();
            list.push(noisy(i as u64, Sensor::State(i), deviation, values));
        }
        if self.inertial {
            for (k, frame) in skier.sensors().into_iter().enumerate() {
                let read = inertial(skier, truth, &frame)?;
                let sensors = [
                    (Sensor::Accelerometer(frame, 0), NOISE[2]),
                    (Sensor::Accelerometer(frame, 1), NOISE[2]),
                    (Sensor::Gyroscope(frame, 2), NOISE[3]),
                ];
                for (c, (sensor, deviation)) in sensors.into_iter().enumerate() {
                    let values = read.iter().map(|r| r[c]).collect();
                    list.push(noisy(100 + 3 * k as u64 + c as u64, sensor, deviation, values));
                }
            }
        }
        Ok(list)
    }
}

/// Specific force along x and y of a frame, and angular velocity about z, at each state.
fn inertial(skier: &Skier, motion: &Motion, frame: &BodyFrame) -> Result<Vec<[f64; 3]>, Error> {
    let system = &skier.planar.base.system;
    let mut ws = system.workspace::<f64>();
    let mut one = |(x, e): (&State<f64>, &Vec<f64>)| {
        system
            .compute_motion(x, e, &mut ws)
            .map_err(|source| Error::NotSolved { message: format!("no accelerations: {source}") })?;
        system.compute_body_accelerations(&mut ws);
        let (X, V, A) = (ws.kin.X_GB[frame.body], ws.kin.V_GB[frame.body], ws.A_GB[frame.body]);
        let r = X.R * frame.X_BF.p;
        let a = A.v + A.w.cross(r) + V.w.cross(V.w.cross(r)) - system.gravity;
        let felt = (X.R * frame.X_BF.R).inverse_mul(a);
        Ok([felt.x, felt.y, V.w.z])
    };
    motion.states.iter().zip(&motion.controls).map(&mut one).collect()
}

impl Record {
    /// The mean of what was read in each of `parts` equal parts of the time.
    fn means(&self, parts: usize) -> Vec<Option<f64>> {
        let count = self.readings.len();
        let mean = |j: usize| {
            let part = &self.readings[j * count / parts..(j + 1) * count / parts];
            let read: Vec<f64> = part.iter().flatten().copied().collect();
            (!read.is_empty()).then(|| read.iter().sum::<f64>() / read.len() as f64)
        };
        (0..parts).map(mean).collect()
    }

    /// As a channel of a problem on `nodes` intervals: the mean of what was read in each.
    pub fn channel(&self, nodes: usize, duration: f64) -> Result<Channel, Error> {
        let means = self.means(nodes);
        Ok(Channel {
            sensor: self.sensor,
            reading: lines(means.iter().map(|m| m.unwrap_or(0.0)).collect(), duration)?,
            per_deviation: lines(
                means.iter().map(|m| m.map_or(0.0, |_| 1.0 / self.deviation)).collect(),
                duration,
            )?,
        })
    }

    /// The mean of all.
    pub fn mean(&self) -> f64 {
        let read: Vec<f64> = self.readings.iter().flatten().copied().collect();
        read.iter().sum::<f64>() / read.len().max(1) as f64
    }

    /// Value and slope (per s) at time 0 of the straight line through the readings of the first tenth of a second.
    pub fn at_start(&self) -> Option<[f64; 2]> {
        let first = self.readings.iter().take(RATE / 10).enumerate();
        let read: Vec<[f64; 2]> =
            first.filter_map(|(k, v)| v.map(|v| [(k as f64 + 0.5) / RATE as f64, v])).collect();
        let n = read.len() as f64;
        let mean = |c: usize| read.iter().map(|r| r[c]).sum::<f64>() / n;
        let (t, v) = (mean(0), mean(1));
        let square: f64 = read.iter().map(|r| (r[0] - t) * (r[0] - t)).sum();
        let product: f64 = read.iter().map(|r| (r[0] - t) * (r[1] - v)).sum();
        let slope = product / square;
        slope.is_finite().then_some([v - slope * t, slope])
    }
}

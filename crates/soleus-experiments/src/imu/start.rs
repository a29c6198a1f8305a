//! A start from the readings alone: angles by integration, their means from gravity.

use super::problem::{Gait, SEGMENTS};
use soleus_control::Trajectory;
use soleus_dynamics::State;
use soleus_math::Transform;
use soleus_model::force::ForceKind;

/// Activation of all muscles.
const ACTIVATION: f64 = 0.1;

/// Readings of one sensor in a plane over a cycle, at equal steps of it, its end left out.
pub struct Readings<'a> {
    /// Of the cycle, s.
    pub duration: f64,
    /// Angular velocity, rad/s.
    pub gyroscope: &'a [f64],
    /// Acceleration less gravity in the axes of the segment, m/s².
    pub accelerometer: [&'a [f64]; 2],
}

impl Readings<'_> {
    /// Angle θ of the segment, counter-clockwise, rad. With ω the angular velocity, f the reading of the accelerometer, a the
    /// acceleration of the sensor and g gravity,
    ///
    ///   θ = c + ϑ,      ϑ̇ = ω − mean of ω,      R(θ) f = a − g
    ///
    /// Over a cycle that repeats itself the mean of a is zero, so R(c) turns the mean of R(ϑ) f to the vertical: c is the angle
    /// from that mean to the vertical.
    pub fn angle(&self) -> Vec<f64> {
        let swing = integral(self.gyroscope, self.duration);
        let [mut x, mut y] = [0.0; 2];
        for (k, &angle) in swing.iter().enumerate() {
            let f = self.turned(k, angle);
            x += f[0];
            y += f[1];
        }
        let c = x.atan2(y);
        swing.into_iter().map(|s| s + c).collect()
    }

    /// R(angle) f.
    fn turned(&self, k: usize, angle: f64) -> [f64; 2] {
        let (s, c) = angle.sin_cos();
        let f = self.accelerometer.map(|a| a[k]);
        [c * f[0] - s * f[1], s * f[0] + c * f[1]]
    }

    /// Where the sensor is beside its steady way through the cycle, m: the acceleration along x and y integrated twice.
    pub fn place(&self, angle: &[f64]) -> [Vec<f64>; 2] {
        [0, 1].map(|axis| {
            let a: Vec<f64> = angle.iter().enumerate().map(|(k, &s)| self.turned(k, s)[axis]).collect();
            integral(&integral(&a, self.duration), self.duration)
        })
    }
}

/// The integral of a cycle's values less their mean, itself with mean 0: by the trapezoidal rule at equal steps.
fn integral(rates: &[f64], duration: f64) -> Vec<f64> {
    let n = rates.len();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n.max(1) as f64;
    let (steady, step) = (mean(rates), duration / n.max(1) as f64);
    let mut values = Vec::with_capacity(n);
    let mut sum = 0.0;
    for k in 0..n {
        values.push(sum);
        sum += step * (0.5 * (rates[k] + rates[(k + 1) % n]) - steady);
    }
    let middle = mean(&values);
    values.iter().map(|v| v - middle).collect()
}

/// Slope of a cycle's values, which grow by `growth` over it.
fn slope(values: &[f64], k: usize, duration: f64, growth: f64) -> f64 {
    let n = values.len();
    let (before, after) = ((k + n - 1) % n, (k + 1) % n);
    let turns = f64::from(u8::from(k == 0)) + f64::from(u8::from(k + 1 == n));
    (values[after] - values[before] + turns * growth) * n as f64 / (2.0 * duration)
}

impl Gait {
    /// Readings of a segment, if all three channels of the plane are there.
    fn readings(&self, segment: &str) -> Option<Readings<'_>> {
        let channel = |kind: &str, axis: usize| {
            let list = &self.recording.channels;
            let found = list.iter().find(|c| c.kind == kind && c.name == segment && c.direction[axis] == 1.0);
            found.map(|c| c.mean.as_slice())
        };
        let readings = Readings {
            duration: self.recording.duration,
            gyroscope: channel("gyro", 2)?,
            accelerometer: [channel("acc", 0)?, channel("acc", 1)?],
        };
        let n = readings.gyroscope.len();
        (n > 2 && readings.accelerometer.iter().all(|a| a.len() == n)).then_some(readings)
    }

    /// The motion that the readings show: angles of all segments, the way of the trunk, and a height at which the feet just touch
    /// the ground at the lowest point of the cycle. Muscles are little active and in equilibrium. None if a channel is missing.
    pub fn start(&self) -> Option<Trajectory> {
        let (w, r) = (&self.walker, &self.recording);
        let base = &w.base;
        let all: Vec<Readings<'_>> = SEGMENTS.iter().map(|s| self.readings(s.0)).collect::<Option<_>>()?;
        let angles: Vec<Vec<f64>> = all.iter().map(Readings::angle).collect();
        let n = angles[0].len();
        let (way, mount) = (all[0].place(&angles[0]), r.find("acc", SEGMENTS[0].0)?.position);
        // Coordinates at each step: segments are trunk, thigh, shank and foot, right then left.
        let mut q = vec![vec![0.0; base.num_coordinates()]; n];
        for (k, q) in q.iter_mut().enumerate() {
            let (s, c) = angles[0][k].sin_cos();
            q[w.trunk] = angles[0][k];
            q[w.forward] =
                r.speed * r.duration * k as f64 / n as f64 + way[0][k] - c * mount[0] + s * mount[1];
            q[w.height] = way[1][k] - s * mount[0] - c * mount[1];
            for (leg, first) in w.legs.iter().zip([1, 4]) {
                for (j, &i) in leg.iter().enumerate() {
                    let above = if j == 0 { 0 } else { first + j - 1 };
                    q[i] = angles[first + j][k] - angles[above][k];
                }
            }
        }
        let lowest = q.iter().map(|q| self.lowest(q)).fold(f64::INFINITY, f64::min);
        q.iter_mut().for_each(|q| q[w.height] -= lowest);
        let first = q[0][w.forward];
        q.iter_mut().for_each(|q| q[w.forward] -= first);

        let mut t = Trajectory::default();
        t.states.names.clone_from(&base.states);
        t.controls.names.clone_from(&base.controls);
        let mut ws = base.system.workspace();
        let controls = vec![ACTIVATION; base.controls.len()];
        for k in 0..=n {
            let at = k % n;
            let mut x: State<f64> = base.system.default_state.clone();
            x.q.copy_from_slice(&q[at]);
            for (i, u) in x.u.iter_mut().enumerate() {
                let course: Vec<f64> = q.iter().map(|q| q[i]).collect();
                let growth = if i == w.forward { r.speed * r.duration } else { 0.0 };
                *u = slope(&course, at, r.duration, growth);
                if k == n {
                    x.q[i] += growth;
                }
            }
            for (z, name) in x.z.iter_mut().zip(&base.states[2 * base.num_coordinates()..]) {
                if name.ends_with("/activation") {
                    *z = ACTIVATION;
                }
            }
            // A fiber without equilibrium keeps its default length; this is a start only.
            base.system.solve_equilibrium(&mut x, &controls, &mut ws);
            t.times.push(r.duration * k as f64 / n as f64);
            t.states.rows.push(x.q.iter().chain(&x.u).chain(&x.z).copied().collect());
            t.controls.rows.push(controls.clone());
        }
        Some(t)
    }

    /// Height of the lowest contact of the feet, m.
    fn lowest(&self, q: &[f64]) -> f64 {
        let base = &self.walker.base;
        let mut ws = base.system.workspace::<f64>();
        let mut x = base.system.default_state.clone();
        x.q.copy_from_slice(q);
        base.system.compute_kinematics(&x, &mut ws);
        let mut least = f64::INFINITY;
        for &(force, body) in self.walker.feet.iter().flatten() {
            if let ForceKind::Bogert2011Contact(c) = &base.model.forces[force].kind {
                let X_BF: Transform<f64> = base.model.frames[c.frame.0].X_BF;
                least = least.min((ws.kin.X_GB[body] * (X_BF * c.location)).y);
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// A pendulum of length r that swings about a hinge which itself goes up and down: its sensor tells angle and place.
    #[test]
    fn order_angle_and_place_of_a_pendulum() {
        let (duration, r, g) = (0.8, 0.4, 9.81);
        let w = TAU / duration;
        let errors = [50, 100].map(|n| {
            let (mut gyro, mut acc) = (Vec::new(), [Vec::new(), Vec::new()]);
            let (mut angles, mut places) = (Vec::new(), Vec::new());
            for k in 0..n {
                let t = duration * k as f64 / n as f64;
                let (a, da, dda) =
                    (0.2 + 0.6 * (w * t).sin(), 0.6 * w * (w * t).cos(), -0.6 * w * w * (w * t).sin());
                let hinge = -0.03 * w * w * (w * t).cos();
                let (s, c) = a.sin_cos();
                // The sensor at (0, −r) of the segment: at r (s, −c) from the hinge.
                let ax = r * (c * dda - s * da * da);
                let ay = r * (s * dda + c * da * da) + hinge + g;
                gyro.push(da);
                acc[0].push(c * ax + s * ay);
                acc[1].push(-s * ax + c * ay);
                angles.push(a);
                places.push(0.03 * (w * t).cos() - r * c);
            }
            let readings = Readings { duration, gyroscope: &gyro, accelerometer: [&acc[0], &acc[1]] };
            let found = readings.angle();
            let height = &readings.place(&found)[1];
            let mean = places.iter().sum::<f64>() / n as f64;
            let worst = |a: &[f64], b: &[f64]| crate::report::largest_difference(a, b);
            let moved: Vec<f64> = places.iter().map(|p| p - mean).collect();
            [worst(&angles, &found), worst(&moved, height)]
        });
        // The trapezoidal rule is of order 2.
        for (coarse, fine) in errors[0].iter().zip(&errors[1]) {
            assert!(*fine < 2e-3 && (coarse / fine - 4.0).abs() < 0.4, "{errors:?}");
        }
    }

    /// Slopes of a course that grows: those of a straight line are exact over the end of the cycle too.
    #[test]
    fn analytic_slopes() {
        let line = [0.0, 0.5, 1.0, 1.5];
        assert!((0..4).all(|k| (slope(&line, k, 1.0, 2.0) - 2.0).abs() < 1e-15));
    }
}

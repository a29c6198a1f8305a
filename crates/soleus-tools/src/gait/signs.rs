//! Features of heel and toe motion at foot strike and toe-off.
//!
//! No single feature occurs at the same time in all laboratories: markers are on skin or shoes, heels land flat or not,
//! and frame rates differ. The errors of different features differ, so their weighted mean is better than each of them.

use super::Walk;
use soleus_math::function::GcvSpline;
use soleus_math::{Vec3, vec3};

/// A curve of a foot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    /// Speed of the heel over the ground, m/s.
    HeelSpeed,
    /// Speed of the toe.
    ToeSpeed,
    /// Speed of the point between heel and toe.
    MiddleSpeed,
    /// Upward velocity of the heel, m/s.
    HeelRise,
    /// Upward acceleration of the heel, m/s².
    HeelLift,
}

/// What a curve does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Does {
    /// Falls below a part of the walking speed, and so many m/s.
    FallsTo(f64, f64),
    /// Rises above a part of the walking speed, and so many m/s.
    RisesTo(f64, f64),
    /// Is largest, within so many seconds.
    IsLargest(f64),
    /// Is largest, within so many seconds of the sign before.
    IsLargestAround(f64),
}

/// A sign of an event, and its weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sign {
    pub curve: Curve,
    pub does: Does,
    pub weight: f64,
}

const fn sign(curve: Curve, does: Does, weight: f64) -> Sign {
    Sign { curve, does, weight }
}

// Two times at which the heel slows down tell how it slows down, and so when it began to; the upward acceleration is that of the impact.
// Weights (their sum is 1) and delays (s) were fitted to 12 trials of nine laboratories with force plates, at 1.1 m/s to 3.9 m/s, on the floor and
// on treadmills, in shoes and barefoot, filmed at 60 Hz to 250 Hz, with the same weight for every trial: `scripts/check-gait-events`, which also fits them to
// eight laboratories and judges the ninth.
pub(super) const STRIKE: &[Sign] = &[
    sign(Curve::HeelSpeed, Does::FallsTo(0.3, 0.0), -0.512),
    sign(Curve::HeelSpeed, Does::FallsTo(0.5, 0.0), 1.282),
    sign(Curve::HeelLift, Does::IsLargestAround(0.09), 0.230),
];
pub(super) const STRIKE_AFTER_S: f64 = 0.0107;
pub(super) const OFF: &[Sign] = &[
    sign(Curve::ToeSpeed, Does::RisesTo(0.0, 0.6), 0.371),
    sign(Curve::ToeSpeed, Does::RisesTo(0.0, 1.0), 0.610),
    sign(Curve::HeelSpeed, Does::RisesTo(1.3, 0.0), 0.353),
    sign(Curve::MiddleSpeed, Does::RisesTo(1.0, 0.0), -0.818),
    sign(Curve::HeelRise, Does::IsLargest(0.12), 0.484),
];
pub(super) const OFF_AFTER_S: f64 = 0.0184;

/// Step of the curves between frames, s.
const STEP_S: f64 = 0.001;
/// Frames that are farther apart, s, do not show a strike.
const SLOWEST_S: f64 = 0.1;
/// A crossing farther from a coarse event is another one, s.
const NEAR_S: f64 = 0.12;

/// Curves of a foot between the frames of the cameras.
pub(super) struct FootMotion {
    start: f64,
    speed: f64,
    // In the order of [`Curve`].
    curves: [Vec<f64>; 5],
}

impl FootMotion {
    /// Of a foot: cubic splines through the filtered places of heel and toe.
    pub(super) fn new(walk: &Walk, foot: usize) -> Option<FootMotion> {
        let n = walk.times.len();
        let (start, end) = (walk.times[0], walk.times[n - 1]);
        // Between frames that are far apart there is nothing to see.
        let step = (end - start) / (n as f64 - 1.0);
        if step.is_nan() || step > SLOWEST_S {
            return None;
        }
        // Times in files are rounded; cameras are even.
        let even: Vec<f64> = (0..n).map(|i| start + (end - start) * i as f64 / (n - 1) as f64).collect();
        let spline = |p: &[Vec3<f64>]| -> Option<[GcvSpline; 3]> {
            let of = |k: usize| {
                let y: Vec<f64> = p.iter().map(|p| p.to_array()[k]).collect();
                GcvSpline::interpolate(3, even.clone(), &y).ok()
            };
            Some([of(0)?, of(1)?, of(2)?])
        };
        let [heel, toe] = &walk.feet[foot].1;
        let (heel, toe) = (spline(heel)?, spline(toe)?);
        let steps = ((end - start) / STEP_S) as usize;
        let mut curves = [(); 5].map(|()| Vec::<f64>::with_capacity(steps + 1));
        for i in 0..=steps {
            let t = start + STEP_S * i as f64;
            let at = |s: &[GcvSpline; 3]| {
                let [x, y, z] = [s[0].eval(t), s[1].eval(t), s[2].eval(t)];
                (vec3(x[1], y[1], z[1]) - walk.ground_velocity, vec3(x[2], y[2], z[2]))
            };
            let ((vh, ah), (vo, _)) = (at(&heel), at(&toe));
            let now = [vh.norm(), vo.norm(), ((vh + vo) * 0.5).norm(), vh.dot(walk.up), ah.dot(walk.up)];
            curves.iter_mut().zip(now).for_each(|(c, x)| c.push(x));
        }
        Some(FootMotion { start, speed: walk.speed, curves })
    }

    /// When signs are seen next to a coarse time, s; `None` if one of them is not.
    pub(super) fn times_of(&self, signs: &[Sign], coarse: f64) -> Option<Vec<f64>> {
        let mut times = Vec::with_capacity(signs.len());
        for s in signs {
            let before = times.last().copied().unwrap_or(coarse);
            let near = if matches!(s.does, Does::IsLargestAround(_)) { before } else { coarse };
            times.push(self.time_of(s, near)?);
        }
        Some(times)
    }

    /// When a sign is seen nearest to a time, s.
    fn time_of(&self, sign: &Sign, near: f64) -> Option<f64> {
        let f = &self.curves[sign.curve as usize];
        let place = (near - self.start) / STEP_S;
        let window = |within: f64| {
            let from = (place - within / STEP_S).max(1.0) as usize;
            let to = ((place + within / STEP_S).max(0.0) as usize).min(f.len().saturating_sub(2));
            from..=to
        };
        let time = |i: f64| self.start + STEP_S * i;
        let crossing = |level: f64, rises: bool| {
            let is_one = |&i: &usize| match rises {
                true => f[i - 1] <= level && f[i] > level,
                false => f[i - 1] >= level && f[i] < level,
            };
            let at = |i: usize| (i - 1) as f64 + (level - f[i - 1]) / (f[i] - f[i - 1]);
            let away = |i: f64| (i - place).abs();
            window(NEAR_S).filter(is_one).map(at).min_by(|a, b| away(*a).total_cmp(&away(*b)))
        };
        // The highest of all peaks.
        let peak = |within: f64| {
            let is_peak = |&i: &usize| f[i] >= f[i - 1] && f[i] > f[i + 1];
            window(within).filter(is_peak).max_by(|&a, &b| f[a].total_cmp(&f[b])).map(|i| i as f64)
        };
        let found = match sign.does {
            Does::FallsTo(part, more) => crossing(part * self.speed + more, false),
            Does::RisesTo(part, more) => crossing(part * self.speed + more, true),
            Does::IsLargest(within) | Does::IsLargestAround(within) => peak(within),
        };
        found.map(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heel that slows evenly from 2 m/s at 0.5 s to rest at 0.7 s passes 1 m/s at 0.6 s; one that swings as a sine is fastest at its quarter.
    #[test]
    fn analytic_times_of_signs() {
        let grid =
            |f: &dyn Fn(f64) -> f64| (0..=1000).map(|i| f(STEP_S * f64::from(i))).collect::<Vec<f64>>();
        let slows = grid(&|t| (2.0 - 10.0 * (t - 0.5)).clamp(0.0, 2.0));
        let swings = grid(&|t| (std::f64::consts::TAU * t).sin());
        let motion = FootMotion {
            start: 3.0,
            speed: 2.0,
            curves: [slows.clone(), slows.clone(), slows, swings.clone(), swings],
        };
        let found = |curve, does, near| motion.time_of(&sign(curve, does, 1.0), near);
        let near =
            |a: Option<f64>, b: f64| assert!(a.is_some_and(|a| (a - b).abs() < 1e-9), "{a:?}, not {b}");
        near(found(Curve::HeelSpeed, Does::FallsTo(0.5, 0.0), 3.55), 3.6);
        near(found(Curve::HeelSpeed, Does::FallsTo(0.5, 0.5), 3.55), 3.55);
        near(found(Curve::HeelRise, Does::IsLargest(0.1), 3.3), 3.25);
        // None is near.
        assert_eq!(found(Curve::HeelSpeed, Does::FallsTo(0.5, 0.0), 3.2), None);
        assert_eq!(found(Curve::HeelRise, Does::IsLargest(0.02), 3.3), None);
    }

    #[test]
    fn identity_weights_add_up_to_one() {
        for list in [STRIKE, OFF] {
            let sum: f64 = list.iter().map(|s| s.weight).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}

//! Foot markers and their motion over the ground.

use crate::plates::{FootPaths, Side};
use crate::scale::landmark;
use soleus_math::elementary;
use soleus_math::signal::{Butterworth, even_step, padded};
use soleus_math::table::{Element, Table};
use soleus_math::{Vec3, vec3};

/// Markers of a foot, as column indices of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FootMarkers {
    /// The side.
    pub side: Side,
    /// Heel.
    pub heel: usize,
    /// Toe, or the head of a metatarsal if there is no toe marker.
    pub toe: usize,
}

/// Markers for gait analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaitMarkers {
    /// Right and left foot, if they have markers.
    pub feet: Vec<FootMarkers>,
    /// Pelvis.
    pub pelvis: Vec<usize>,
}

impl GaitMarkers {
    /// Finds the markers by name; the error names the missing landmark.
    pub fn find(labels: &[String]) -> Result<GaitMarkers, String> {
        let named = |side: char, name: &str| {
            (0..labels.len())
                .find(|&i| landmark(&labels[i]).is_some_and(|l| l.side == side && l.name == name))
        };
        let mut feet = Vec::new();
        for (side, letter) in [(Side::Right, 'r'), (Side::Left, 'l')] {
            let toe = ["toe", "first metatarsal", "fifth metatarsal"].iter().find_map(|n| named(letter, n));
            if let (Some(heel), Some(toe)) = (named(letter, "heel"), toe) {
                feet.push(FootMarkers { side, heel, toe });
            }
        }
        if feet.is_empty() {
            return Err("no foot has a marker at its heel and one at its toe".to_string());
        }
        let landmarks = [('r', "ASIS"), ('l', "ASIS"), ('r', "PSIS"), ('l', "PSIS"), ('m', "sacrum")];
        let pelvis: Vec<usize> = landmarks.iter().filter_map(|(s, n)| named(*s, n)).collect();
        if pelvis.is_empty() {
            return Err("no marker is on the pelvis".to_string());
        }
        Ok(GaitMarkers { feet, pelvis })
    }
}

/// Cutoff of the low-pass on markers, Hz: a heel that lands stops within a few hundredths of a second.
const CUTOFF_HZ: f64 = 20.0;
/// Part of the heights of a marker that count as low.
const LOW_PART: f64 = 0.3;
/// Speeds of feet on the ground differ by so much, m/s.
const SPREAD_M_S: f64 = 0.2;

/// A marker in a longer gap is not known, s; nor is it for so long before and after.
const LONGEST_GAP_S: f64 = 0.1;
const EDGE_S: f64 = 0.05;

/// A slower belt is a floor, m/s.
const SLOWEST_BELT_M_S: f64 = 0.1;

/// Motion of subject and ground. On a treadmill the ground moves.
#[derive(Clone, Debug)]
pub struct Walk {
    /// Times, s.
    pub times: Vec<f64>,
    /// Upward direction in the laboratory.
    pub up: Vec3<f64>,
    /// Velocity of the ground, m/s: zero in a gait laboratory, the belt velocity on a treadmill.
    pub ground_velocity: Vec3<f64>,
    /// Direction of progress (horizontal).
    pub forward: Vec3<f64>,
    /// Mean speed of the pelvis relative to the ground, m/s.
    pub speed: f64,
    /// Filtered positions of heel and toe of each foot, m.
    pub feet: Vec<(Side, [Vec<Vec3<f64>>; 2])>,
    /// For each foot, the frames in which heel and toe are known: seen, or in a short gap, and not next to a long one.
    known: Vec<Vec<bool>>,
}

impl Walk {
    /// From markers in meters; `None` if there are too few frames.
    pub fn new(markers: &Table, which: &GaitMarkers) -> Option<Walk> {
        let times = markers.times().to_vec();
        let n = times.len();
        if n < 10 {
            return None;
        }
        let place = |i: usize| filled(markers, i);
        let pelvis: Vec<Vec<Vec3<f64>>> = which.pelvis.iter().filter_map(|&i| place(i)).collect();
        // Before the subject is seen, and after, nobody knows where the pelvis is.
        let is_seen = |r: &usize| which.pelvis.iter().all(|&i| markers.vec3(*r, i).norm_sq().is_finite());
        let (first, last) = ((0..n).find(is_seen).unwrap_or(0), (0..n).rev().find(is_seen).unwrap_or(n - 1));
        let (first, last) = if last > first { (first, last) } else { (0, n - 1) };
        let pelvis: Vec<Vec3<f64>> = (0..n)
            .map(|r| pelvis.iter().fold(Vec3::zero(), |sum, p| sum + p[r]) * (1.0 / pelvis.len() as f64))
            .collect();
        let (mut feet, mut known) = (Vec::new(), Vec::new());
        for f in &which.feet {
            let [heel, toe] = [f.heel, f.toe].map(|i| place(i).and_then(|p| lowpass(&times, &p)));
            if let (Some(heel), Some(toe)) = (heel, toe) {
                feet.push((f.side, [heel, toe]));
                known.push(known_frames(markers, [f.heel, f.toe]));
            }
        }
        if feet.is_empty() || !pelvis.first()?.norm_sq().is_finite() {
            return None;
        }

        // The pelvis is above the feet.
        let mean =
            |list: &[Vec3<f64>]| list.iter().fold(Vec3::zero(), |a, p| a + *p) * (1.0 / list.len() as f64);
        let foot = feet.iter().fold(Vec3::zero(), |a, f| a + mean(&f.1[0])) * (1.0 / feet.len() as f64);
        let above = (mean(&pelvis) - foot).to_array();
        let axis = (0..3).max_by(|&a, &b| above[a].abs().total_cmp(&above[b].abs()))?;
        let up = Vec3::unit(axis) * above[axis].signum();
        let flat = |v: Vec3<f64>| v - up * v.dot(up);

        // Velocities of markers that are low gather at that of the ground.
        let mut low = Vec::new();
        for ((_, both), known) in feet.iter().zip(&known) {
            let rows: Vec<usize> = (0..n).filter(|&r| known[r]).collect();
            for p in both {
                let mut heights: Vec<f64> = rows.iter().map(|&r| p[r].dot(up)).collect();
                heights.sort_by(f64::total_cmp);
                let Some(&limit) = heights.get((LOW_PART * heights.len() as f64) as usize) else { continue };
                let v = velocity(&times, p);
                low.extend(rows.iter().filter(|&&r| p[r].dot(up) <= limit).map(|&r| flat(v[r])));
            }
        }
        let ground_velocity = densest(&low).filter(|v| v.norm_sq().is_finite())?;
        // A floor does not move.
        let ground_velocity =
            if ground_velocity.norm() < SLOWEST_BELT_M_S { Vec3::zero() } else { ground_velocity };
        let whole = flat(pelvis[last] - pelvis[first]) * (1.0 / (times[last] - times[first]));
        let over_ground = whole - ground_velocity;
        let speed = over_ground.norm();
        let forward = if speed > 1e-3 { over_ground * (1.0 / speed) } else { vec3(1.0, 0.0, 0.0) };
        Some(Walk { times, up, ground_velocity, forward, speed, feet, known })
    }

    /// Whether heel and toe of a foot are known at a time.
    pub(super) fn is_known(&self, foot: usize, time: f64) -> bool {
        let row = self.times.partition_point(|t| *t < time).min(self.times.len() - 1);
        self.known[foot][row]
    }

    /// Direction to the right of the subject.
    pub fn right(&self) -> Vec3<f64> {
        self.forward.cross(self.up)
    }

    /// Speeds over the ground of the heel and the toe of a foot, m/s.
    pub(super) fn speeds(&self, foot: usize) -> [Vec<f64>; 2] {
        let speed = |p: &Vec<Vec3<f64>>| {
            velocity(&self.times, p).iter().map(|v| (*v - self.ground_velocity).norm()).collect()
        };
        [speed(&self.feet[foot].1[0]), speed(&self.feet[foot].1[1])]
    }

    /// Position of a heel on the ground at a time, m; on a treadmill, on the belt.
    pub fn heel_on_ground(&self, foot: usize, time: f64) -> Vec3<f64> {
        let p = &self.feet[foot].1[0];
        let next = self.times.partition_point(|t| *t < time).clamp(1, self.times.len() - 1);
        let (a, b) = (self.times[next - 1], self.times[next]);
        let s = ((time - a) / (b - a)).clamp(0.0, 1.0);
        p[next - 1] * (1.0 - s) + p[next] * s - self.ground_velocity * (time - self.times[0])
    }

    /// Paths of the feet, for the assignment of force plates.
    pub fn paths(&self) -> FootPaths {
        let points = |(_, both): &(Side, [Vec<Vec3<f64>>; 2])| {
            (0..self.times.len()).map(|r| vec![both[0][r], both[1][r]]).collect()
        };
        FootPaths { times: self.times.clone(), points: self.feet.iter().map(points).collect() }
    }
}

/// Places of a marker with gaps closed by straight lines, and held at the ends; `None` if it is never seen.
fn filled(markers: &Table, i: usize) -> Option<Vec<Vec3<f64>>> {
    let t = markers.times();
    let seen: Vec<usize> = (0..t.len()).filter(|&r| markers.vec3(r, i).norm_sq().is_finite()).collect();
    let (first, last) = (*seen.first()?, *seen.last()?);
    let place = |r: usize| {
        let next = seen.partition_point(|&s| s < r);
        if r <= first || r >= last || seen[next] == r {
            return markers.vec3(r.clamp(first, last), i);
        }
        let (a, b) = (seen[next - 1], seen[next]);
        let s = (t[r] - t[a]) / (t[b] - t[a]);
        markers.vec3(a, i) * (1.0 - s) + markers.vec3(b, i) * s
    };
    Some((0..t.len()).map(place).collect())
}

/// Frames in which two markers are known: a short gap is, and what is next to a long one is not, since filters carry it over.
fn known_frames(markers: &Table, both: [usize; 2]) -> Vec<bool> {
    let t = markers.times();
    let mut known = vec![true; t.len()];
    for i in both {
        let is_seen = |r: usize| markers.vec3(r, i).norm_sq().is_finite();
        let mut r = 0;
        while r < t.len() {
            let end = (r..t.len()).find(|&k| is_seen(k)).unwrap_or(t.len());
            let is_at_end = r == 0 || end == t.len();
            if end > r && (is_at_end || t[end] - t[r - 1] > LONGEST_GAP_S) {
                let first = t.partition_point(|x| *x <= t[r] - EDGE_S);
                let behind = t.partition_point(|x| *x < t[end - 1] + EDGE_S);
                known.iter_mut().take(behind).skip(first).for_each(|k| *k = false);
            }
            r = end + 1;
        }
    }
    known
}

fn lowpass(times: &[f64], p: &[Vec3<f64>]) -> Option<Vec<Vec3<f64>>> {
    let filter = Butterworth::new(CUTOFF_HZ, even_step(times).ok()?).ok()?;
    let pad = (times.len() / 2).min(60);
    let column = |k: usize| {
        let x: Vec<f64> = p.iter().map(|p| p.to_array()[k]).collect();
        let table = Table::new(Element::Scalar, vec!["x".into()], times.to_vec(), vec![x]).ok()?;
        let wide = padded(&table, pad).ok()?;
        let y = filter.forward_backward(&wide.columns()[0]).ok()?;
        Some(y[pad..pad + times.len()].to_vec())
    };
    let [x, y, z] = [column(0)?, column(1)?, column(2)?];
    Some((0..times.len()).map(|r| vec3(x[r], y[r], z[r])).collect())
}

/// Central differences.
fn velocity(t: &[f64], p: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
    let n = t.len();
    let at = |r: usize| {
        let (a, b) = (r.saturating_sub(1), (r + 1).min(n - 1));
        (p[b] - p[a]) * (1.0 / (t[b] - t[a]))
    };
    (0..n).map(at).collect()
}

/// Where points lie closest together: means that shift to their neighbours, from several starts, then of nearer neighbours.
fn densest(points: &[Vec3<f64>]) -> Option<Vec3<f64>> {
    let weight =
        |p: &Vec3<f64>, m: Vec3<f64>, sd: f64| elementary::exp(-(*p - m).norm_sq() / (2.0 * sd * sd));
    let shifted = |mut m: Vec3<f64>, sd: f64| {
        for _ in 0..10 {
            let sum = points.iter().fold((0.0, Vec3::zero()), |(s, v), p| {
                let w = weight(p, m, sd);
                (s + w, v + *p * w)
            });
            m = sum.1 * (1.0 / sum.0);
        }
        m
    };
    let mut best: Option<(f64, Vec3<f64>)> = None;
    for start in points.iter().step_by((points.len() / 60).max(1)) {
        let m = shifted(*start, SPREAD_M_S);
        let density: f64 = points.iter().map(|p| weight(p, m, SPREAD_M_S)).sum();
        if best.is_none_or(|(d, _)| density > d) {
            best = Some((density, m));
        }
    }
    best.map(|b| shifted(b.1, 0.25 * SPREAD_M_S))
}

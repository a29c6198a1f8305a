//! Shoulders of raised arms.
//!
//! With the arm the clavicle turns back and up about the sternum, and the acromion with it, which models without a clavicle cannot follow. In
//! trunk axes x forward, y up and z to the side of the arm, a clavicle of length l with retraction ρ and elevation ε reaches
//!
//!   c(ρ, ε) = l (−cos ε sin ρ, sin ε, cos ε cos ρ)                 (1)
//!
//! from the sternum, and the acromion moves by c(ρ₀ + Δρ, ε₀ + Δε) − c(ρ₀, ε₀) = (−32, 19, −22) mm when the arm is raised by a right angle. Markers
//! are moved back by this, in proportion to the elevation of the arm, so that they are where they would be with hanging arms.

use super::sizes::MARKER_SD_M;
use soleus_math::{Table, Vec3, elementary, vec3};
use soleus_model::Model;

/// Length of the clavicle, m.
const CLAVICLE_M: f64 = 0.15;
/// Retraction and elevation of the clavicle with hanging arms, rad: those of the Delft Shoulder and Elbow Model (van der Helm 1994).
const REST: [f64; 2] = [0.3802, 0.11];
/// How much both grow until the arm is horizontal, rad: 15° of retraction (Ludewig et al. 2009), and half of that of elevation (McClure et al. 2001:
/// 21° and 10° over the whole range of the arm).
const TURN: [f64; 2] = [15.0 * DEGREE, 7.5 * DEGREE];
const DEGREE: f64 = std::f64::consts::PI / 180.0;
/// How far subjects differ, as a part of the displacement.
const DIFFERENCE: f64 = 0.5;
/// Elevation above which an arm is raised, deg. Between markers at acromion and elbow, hanging arms have 20°.
const RAISED_FROM_DEG: f64 = 30.0;

/// Landmarks of the shoulder, and of the elbow.
const SHOULDER: [&str; 2] = ["acromion", "shoulder joint centre"];
const ELBOW: [&str; 3] =
    ["lateral epicondyle of the elbow", "medial epicondyle of the elbow", "elbow joint centre"];

/// A marker at the shoulder or elbow of a raised arm.
struct Displaced {
    column: usize,
    name: String,
    side: char,
    on_arm: bool,
    /// Part of a distance that is believed to be the place of the marker: its variance over that of all that displaces it.
    part: f64,
    /// How far the arm is raised, as a part of a right angle above `RAISED_FROM_DEG`.
    raised: f64,
}

/// Markers at shoulder and elbow of arms that are raised.
pub(super) struct RaisedArms {
    markers: Vec<Displaced>,
    known: Vec<Option<super::Landmark>>,
}

impl RaisedArms {
    /// Finds them. The elevation is the angle between the line from shoulder to elbow and the one from both shoulders to the pelvis, its mean over the frames.
    /// There are none in a model that has a clavicle or scapula of its own.
    pub fn new(model: &Model, table: &Table, frames: &[Vec<Vec3<f64>>]) -> Self {
        let known = table.labels().iter().map(|l| super::landmark(l)).collect();
        let mut arms = RaisedArms { markers: Vec::new(), known };
        let is_girdle = |name: &str| ["clavic", "scapula"].iter().any(|w| name.to_lowercase().contains(w));
        if model.bodies.iter().any(|b| is_girdle(&b.name)) {
            return arms;
        }
        for side in ['r', 'l'] {
            let angles = frames.iter().filter_map(|f| {
                let [shoulder, elbow] =
                    [arms.middle(f, &SHOULDER, Some(side))?, arms.middle(f, &ELBOW, Some(side))?];
                let (down, arm) = (-arms.up(f)?, elbow - shoulder);
                let cosine = (arm.dot(down) / (arm.norm() * down.norm())).clamp(-1.0, 1.0);
                Some(elementary::acos(cosine).to_degrees())
            });
            let (sum, n) = angles.fold((0.0, 0.0), |(sum, n), a| (sum + a, n + 1.0));
            let raised = (sum / n - RAISED_FROM_DEG) / (90.0 - RAISED_FROM_DEG);
            if raised.is_nan() || raised <= 0.0 {
                continue;
            }
            let sd = DIFFERENCE * raised * displacement().norm();
            let part = 1.0 / (1.0 + (sd / MARKER_SD_M).powi(2));
            let own = arms.known.iter().enumerate().filter_map(|(column, l)| {
                let l = l.as_ref().filter(|l| l.side == side)?;
                let on_arm = ELBOW.contains(&l.name.as_str());
                let name = table.labels()[column].clone();
                (on_arm || SHOULDER.contains(&l.name.as_str())).then_some(Displaced {
                    column,
                    name,
                    side,
                    on_arm,
                    part,
                    raised,
                })
            });
            arms.markers.extend(own.collect::<Vec<_>>());
        }
        arms
    }

    /// Names, with the part of a distance that is attributed to the place of the marker.
    pub fn displaced(&self) -> Vec<(String, f64)> {
        self.markers.iter().map(|d| (d.name.clone(), d.part)).collect()
    }

    /// Those on the arm.
    pub fn on_arms(&self) -> Vec<(String, f64)> {
        self.markers.iter().filter(|d| d.on_arm).map(|d| (d.name.clone(), d.part)).collect()
    }

    /// Moves the markers of a frame to where they would be with hanging shoulders.
    pub fn lower(&self, frame: &mut [Vec3<f64>]) {
        let axes = || {
            let up = self.up(frame)?.normalized();
            let across =
                self.middle(frame, &SHOULDER, Some('r'))? - self.middle(frame, &SHOULDER, Some('l'))?;
            let right = (across - up * up.dot(across)).normalized();
            Some((up.cross(right), up, right))
        };
        let Some((forward, up, right)) = axes() else { return };
        for d in &self.markers {
            let by = displacement() * d.raised;
            let side = if d.side == 'r' { 1.0 } else { -1.0 };
            frame[d.column] = frame[d.column] - forward * by.x - up * by.y - right * (side * by.z);
        }
    }

    /// From the pelvis to the middle of the shoulders.
    fn up(&self, frame: &[Vec3<f64>]) -> Option<Vec3<f64>> {
        Some(self.middle(frame, &SHOULDER, None)? - self.middle(frame, &["ASIS", "PSIS"], None)?)
    }

    /// Middle of the landmarks that are seen.
    fn middle(&self, frame: &[Vec3<f64>], names: &[&str], side: Option<char>) -> Option<Vec3<f64>> {
        let fits = |l: &super::Landmark| names.contains(&l.name.as_str()) && side.is_none_or(|s| s == l.side);
        let list = (self.known.iter().zip(frame))
            .filter(|(l, p)| l.as_ref().is_some_and(fits) && p.norm_sq().is_finite());
        let (sum, n) =
            list.fold((Vec3::zero(), 0.0), |(sum, n): (Vec3<f64>, f64), (_, p)| (sum + *p, n + 1.0));
        (n > 0.0).then(|| sum * (1.0 / n))
    }
}

/// Displacement of the shoulder of an arm that is raised by a right angle, m: forward, up, and outward.
fn displacement() -> Vec3<f64> {
    let end = |[back, up]: [f64; 2]| {
        let ((sr, cr), (se, ce)) = (elementary::sin_cos(back), elementary::sin_cos(up));
        vec3(-ce * sr, se, ce * cr) * CLAVICLE_M // (1)
    };
    end([REST[0] + TURN[0], REST[1] + TURN[1]]) - end(REST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::table::Element;

    /// Arms that hang leave the shoulder where it is; raised by a right angle they move it by 4 cm, back, up and inward.
    #[test]
    fn analytic_arms_that_are_raised() {
        let labels = ["RSHO", "LSHO", "RELB", "LELB", "RASI", "LASI"].map(str::to_string).to_vec();
        let shoulders = [vec3(0.0, 1.4, 0.2), vec3(0.0, 1.4, -0.2)];
        let pelvis = [vec3(0.0, 1.0, 0.1), vec3(0.0, 1.0, -0.1)];
        let with = |right: Vec3<f64>| {
            let left = vec3(0.0, 1.1, -0.2);
            let all = [shoulders[0], shoulders[1], shoulders[0] + right, left, pelvis[0], pelvis[1]].to_vec();
            let columns = all.iter().flat_map(|p| p.to_array()).map(|x| vec![x]).collect();
            let table = Table::new(Element::Vec(3), labels.clone(), vec![0.0], columns).unwrap();
            let found = RaisedArms::new(&Model::default(), &table, std::slice::from_ref(&all));
            let mut lowered = all.clone();
            found.lower(&mut lowered);
            let moved: Vec<Vec3<f64>> = lowered.iter().zip(&all).map(|(a, b)| *a - *b).collect();
            (found.displaced(), moved)
        };
        let (hanging, moved) = with(vec3(0.0, -0.3, 0.0));
        assert!(hanging.is_empty() && moved.iter().all(|d| *d == Vec3::zero()));

        let (raised, moved) = with(vec3(0.0, 0.0, 0.3));
        assert_eq!(raised.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["RSHO", "RELB"]);
        // A clavicle of 0.15 m from 21.8° back and 6.3° up to 36.8° and 13.8°, rounded to 0.1 mm.
        let [x, y, z] = moved[0].to_array().map(|x| 1e3 * x);
        assert!((x - 31.9).abs() < 0.1 && (y + 19.3).abs() < 0.1 && (z - 21.8).abs() < 0.1, "{x} {y} {z}");
        assert_eq!(moved[2], moved[0]);
        assert!([1, 3, 4, 5].iter().all(|&k| moved[k] == Vec3::zero()));
        let part = 1.0 / (1.0 + (0.5 * moved[0].norm() / 0.015).powi(2));
        assert!(raised.iter().all(|(_, p)| (p - part).abs() < 1e-9), "{raised:?} {part}");
    }
}

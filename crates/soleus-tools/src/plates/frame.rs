//! Determines length unit and axes of force plates from the positions of the feet.

use super::assign::loaded;
use super::{FAR_M, FootPaths, Plate};
use soleus_math::{Mat33, Rotation, Table, Vec3};

/// Unit and rotation of a table for which the centres of pressure are under the feet.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Rotation from the axes of the table to ground.
    pub rotation: Rotation<f64>,
    /// The same as text, such as `x:-90`; empty for no rotation.
    pub turns: String,
    /// Length unit of the points, m.
    pub meters: f64,
    /// Median distance of the centres of pressure from the nearest foot, m.
    pub distance: f64,
}

/// Loads that are looked at.
const LOOKS: usize = 200;
/// A change has to bring centres of pressure nearer by this factor, so that what is right stays as it is.
const BETTER: f64 = 0.5;

/// Finds unit and rotation for which the centres of pressure are closest to the feet; the table is not changed if it
/// already fits. Candidates are meters and millimeters, y up and z up, and four headings. `None` if there is no load
/// during the motion.
pub fn fit_to_feet(table: &Table, plates: &[Plate], paths: &FootPaths) -> Option<Fitted> {
    let mut seen: Vec<(Vec3<f64>, Vec3<f64>, usize)> = Vec::new();
    for plate in plates {
        let Some(point) = plate.point else { continue };
        let at = |c: [usize; 3], row: usize| Vec3::from_array(c.map(|c| table.columns()[c][row]));
        for row in loaded(table, plate).into_iter().flat_map(|(a, b)| a..=b) {
            let p = at(point, row);
            if let Some(k) = paths.row_at(table.times()[row]).filter(|_| p.norm_sq().is_finite()) {
                seen.push((p, at(plate.force, row), k));
            }
        }
    }
    let step = (seen.len() / LOOKS).max(1);
    let seen: Vec<_> = seen.into_iter().step_by(step).collect();
    if seen.is_empty() {
        return None;
    }
    let distance = |R: &Rotation<f64>, meters: f64| {
        let mut list: Vec<f64> = seen
            .iter()
            .map(|&(p, f, row)| {
                let p = *R * (p * meters);
                let near =
                    (0..paths.points.len()).map(|k| paths.distance(k, row, p)).fold(f64::INFINITY, f64::min);
                // The ground pushes up: a rotation that turns it over is far from right.
                if (*R * f).y > 0.5 * f.norm() { near } else { f64::INFINITY }
            })
            .collect();
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let (mut best, quarter) = (
        Fitted {
            rotation: Rotation::identity(),
            turns: String::new(),
            meters: 1.0,
            distance: distance(&Rotation::identity(), 1.0),
        },
        std::f64::consts::FRAC_PI_2,
    );
    if best.distance < 0.5 * FAR_M {
        return Some(best);
    }
    for meters in [1.0, 1e-3] {
        for (up, words) in [(Rotation::identity(), ""), (exact(Rotation::about_x(-quarter)), "x:-90")] {
            for turn in 0..4 {
                let angle = [0, 90, 180, -90][turn];
                let R = exact(Rotation::about_y(f64::from(angle).to_radians())) * up;
                let d = distance(&R, meters);
                if d < BETTER * best.distance {
                    let about_y = if angle == 0 { String::new() } else { format!("y:{angle}") };
                    let turns = [words.to_string(), about_y]
                        .into_iter()
                        .filter(|w| !w.is_empty())
                        .collect::<Vec<_>>();
                    best = Fitted { rotation: R, turns: turns.join(" "), meters, distance: d };
                }
            }
        }
    }
    Some(best)
}

/// Quarter turns hold zeros and ones.
fn exact(R: Rotation<f64>) -> Rotation<f64> {
    Rotation(Mat33 { col: R.0.col.map(|c| Vec3::from_array(c.to_array().map(f64::round))) })
}

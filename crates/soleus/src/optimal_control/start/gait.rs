//! Straight-line initial guess for gait.

use crate::context::Context;
use crate::error::Error;
use soleus_control::gait::{Mirror, Walker};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Collocation, Trajectory};
use soleus_io::study::{GoalKind, Study};
use soleus_optimization::NonlinearProgram;
use std::path::Path;

/// Duration of a cycle where the bounds of time leave it open, s.
const CYCLE: f64 = 1.1;

/// Straight lines at the speed specified in the study.
pub fn straight_line(
    path: &Path,
    study: &Study,
    base: &ModelProblem,
    swing_deg: f64,
) -> Result<Trajectory, Error> {
    let refuse = |message: String| {
        let hint = "remove `swing_deg` from [guess], or give a motion to start from";
        Error::content(path, 0, "", message, hint)
    };
    let walker = Walker::new(base.clone()).map_err(|e| refuse(e.to_string()))?;
    let mut speeds = study.setup.goals.iter().filter_map(|g| match &g.kind {
        GoalKind::AverageSpeed(speed) => Some(*speed),
        _ => None,
    });
    let speed = speeds.next_back().unwrap_or(0.0);
    let is_half = study.setup.symmetry.as_deref() == Some("left-right");
    let usual = if is_half { 0.5 * CYCLE } else { CYCLE };
    let [first, last] =
        [study.setup.initial_time.unwrap_or([0.0; 2]), study.setup.final_time.unwrap_or([0.0, 2.0])];
    let duration = usual.clamp((last[0] - first[0]).max(1e-3), (last[1] - first[0]).max(1e-3));
    let mut motion = walker
        .straight_line(speed, duration, swing_deg.to_radians(), is_half)
        .map_err(|e| refuse(e.to_string()))?;
    motion.times.iter_mut().for_each(|t| *t += first[0]);
    Ok(motion)
}

/// States that differ by less, relative to their size, are equal.
const EQUAL: f64 = 1e-9;

/// Warns if both sides do the same at every time of the initial guess of a symmetric half cycle. Newton's steps keep such a symmetry up to rounding, so
/// the legs would never alternate.
pub fn warn_of_two_equal_sides(cx: &Context, path: &Path, base: &ModelProblem, program: &mut Collocation) {
    let Ok(mirror) = Mirror::new(base) else { return };
    let mut x = vec![0.0; program.num_variables()];
    program.compute_start(&mut x);
    if is_own_image(&program.trajectory(&x), &mirror.states) {
        let message = "the initial guess moves both legs alike at every time, and the solver tends to keep this: the legs would not alternate";
        cx.warn(path, message, "set `swing_deg` in [guess], 10 for example, or start from a motion");
    }
}

/// Whether a motion is its own mirror image at every time.
fn is_own_image(t: &Trajectory, image: &[(usize, f64)]) -> bool {
    let has_sides = image.iter().enumerate().any(|(i, m)| m.0 != i);
    let same = |row: &Vec<f64>| {
        image.iter().enumerate().all(|(i, &(j, sign))| {
            let (a, b) = (row[i], sign * row[j]);
            i == j && sign > 0.0 || (a - b).abs() <= EQUAL * (1.0 + a.abs())
        })
    };
    has_sides && t.states.rows.iter().all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_control::solution::Columns;

    /// Forward, list, right hip, left hip. List is opposite in the mirror.
    const IMAGE: [(usize, f64); 4] = [(0, 1.0), (1, -1.0), (3, 1.0), (2, 1.0)];

    fn motion(rows: &[[f64; 4]]) -> Trajectory {
        let rows = rows.iter().map(|r| r.to_vec()).collect();
        Trajectory { states: Columns { names: Vec::new(), rows }, ..Trajectory::default() }
    }

    #[test]
    fn issue_20_guesses_that_are_their_own_image_are_found() {
        assert!(is_own_image(&motion(&[[0.0, 0.0, 0.2, 0.2], [1.0, 0.0, 0.3, 0.3]]), &IMAGE));
        // One leg ahead of the other; a list to one side; nothing that has sides.
        assert!(!is_own_image(&motion(&[[0.0, 0.0, 0.2, 0.2], [1.0, 0.0, 0.3, -0.3]]), &IMAGE));
        assert!(!is_own_image(&motion(&[[0.0, 0.1, 0.2, 0.2]]), &IMAGE));
        assert!(!is_own_image(&motion(&[[0.0; 4]]), &[(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)]));
    }
}

//! Straight-line initial guess for gait.

use crate::error::Error;
use soleus_control::Trajectory;
use soleus_control::gait::Walker;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::setup::moco::GoalKind;
use soleus_io::study::Study;
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

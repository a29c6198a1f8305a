//! A walk in space that follows a measured one: 80 muscles, measured forces of the ground.

use super::solving::{element, find, pose, read};
use super::weak::{cycle, weaken};
use crate::desk::enter;
use soleus::Error;
use soleus::inputs::table::{Take, read_in_order};
use soleus::optimal_control::Solution;
use soleus_control::Trajectory;
use std::path::Path;

const WALK: &str = include_str!("walk3d.toml");
const MOTION: &str = "coordinates.sto";
/// First barrier parameter of a problem that starts from its neighbour's solution.
const NEAR: f64 = 1e-3;

/// Solves it with muscles, by the beginning of their names, that keep a part of their strength; from the measured motion or from
/// another solution. `folder` holds model, motion and ground reactions.
pub fn solve(folder: &Path, weak: (&[&str], f64), from: Option<&Trajectory>) -> Result<Solution, Error> {
    let path = folder.join("walk3d.toml");
    let mut study = read("walk3d.toml", WALK)?;
    let base = pose(&path, &study)?.model;
    let mut element = element(&path, &study)?;
    for muscle in weak.0 {
        weaken(&mut element, muscle, weak.1);
    }
    let is_force = |name: &&String| !name.contains("residual");
    study.setup.goals.push(cycle(&base, |name| name, base.controls.iter().filter(is_force)));
    study.setup.model = Some(element);
    let guess = match from {
        Some(t) => {
            study.barrier = Some(NEAR);
            t.clone()
        }
        None => measured(&folder.join(MOTION))?,
    };
    let mut posed = pose(&path, &study)?;
    posed.inputs.guess = Some(guess);
    find(&posed)
}

/// The measured motion, with speeds by differences and kneecaps that follow their knees.
fn measured(file: &Path) -> Result<Trajectory, Error> {
    /// Rows from one point of the start to the next; the table has one every ms.
    const STRIDE: usize = 5;
    let table = enter(None, false, |cx| read_in_order(cx, &file.into(), Take::Markers))?;
    let times = table.times();
    let last = times.len().saturating_sub(1);
    let rows: Vec<usize> = (0..times.len()).step_by(STRIDE).collect();
    let mut t = Trajectory { times: rows.iter().map(|&i| times[i]).collect(), ..Trajectory::default() };
    t.states.rows = vec![Vec::new(); rows.len()];
    for name in table.labels() {
        let followed = name.replace("/patellofemoral_", "/walker_knee_").replace("_beta/", "/");
        let Some(values) = table.column(&followed) else { continue };
        t.states.names.push(name.clone());
        t.states.names.push(name.replace("/value", "/speed"));
        for (row, &i) in t.states.rows.iter_mut().zip(&rows) {
            let (a, b) = (i.saturating_sub(1), (i + 1).min(last));
            row.push(values[i]);
            row.push((values[b] - values[a]) / (times[b] - times[a]));
        }
    }
    Ok(t)
}

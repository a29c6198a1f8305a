//! Joint loads along a solution.

use super::problem::outputs;
use super::solution::PhaseSolution;
use soleus_dynamics::implicit::JointLoad;
use soleus_model::id::JointId;

/// Moment (N m) and force (N) that a joint exerts on its parent at every point of a solution, in the axes of the
/// joint's parent frame; an error message if there is no such joint.
pub fn along(solution: &PhaseSolution, joint: &str) -> Result<Vec<[f64; 6]>, String> {
    let (base, t) = (&solution.model, &solution.trajectory);
    let system = &base.system;
    let j = base.model.joints.iter().position(|j| j.path == joint || j.name == joint);
    let j = j.ok_or_else(|| format!("no joint is called `{joint}`"))?;
    let load = JointLoad::new(system, outputs::reaction(base, JointId(j), false, None)?);
    let n = base.num_coordinates();
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace::<f64>());
    let mut list = Vec::with_capacity(t.times.len());
    for (r, &time) in t.times.iter().enumerate() {
        let (states, rates) = (&t.states.rows[r], &t.rates.rows[r]);
        x.time = time;
        x.q.copy_from_slice(&states[..n]);
        x.u.copy_from_slice(&states[n..2 * n]);
        let point = load.point(system, &x, &rates[n..2 * n], &mut ws);
        let rest = t.controls.rows[r].iter().chain(&t.multipliers.rows[r]);
        let v: Vec<f64> = states[2 * n..].iter().chain(&rates[2 * n..]).chain(rest).copied().collect();
        list.push(load.value(system, &point, &v));
    }
    Ok(list)
}

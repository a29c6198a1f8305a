//! What a predicted motion is like: energy, steps, feet on the ground.

use super::problem::Walk;
use super::published::{POINTS, Published};
use soleus_control::Trajectory;
use soleus_dynamics::implicit::ReactionSum;
use soleus_dynamics::metabolics::MuscleAtWork;
use soleus_dynamics::system::Actor;

/// Basal rate, W/kg.
const BASAL: f64 = 1.2;
/// A foot is on the ground if it carries this part of body weight.
const CONTACT: f64 = 0.05;

/// Numbers of a motion of half a cycle.
pub struct Gait {
    /// Metabolic energy with the basal rate, J/kg/m.
    pub cost_of_transport: f64,
    /// Strides per second.
    pub stride_frequency: f64,
    /// Parts of the time with both feet on the ground, and with none.
    pub double_support: f64,
    pub aerial: f64,
    /// Greatest ground force under a foot, body weights.
    pub peak_force: f64,
}

impl Gait {
    /// Of a motion at collocation points, the first of which is the initial one.
    pub fn new(walk: &Walk, p: &Published, t: &Trajectory) -> Gait {
        let system = &walk.base.system;
        let n = walk.base.num_coordinates();
        let (mut ws, mut state) = (system.workspace::<f64>(), system.default_state.clone());
        let duration = t.times.last().copied().unwrap_or(f64::NAN);
        let (.., weights) = super::radau();
        let intervals = (t.times.len().saturating_sub(1) / POINTS).max(1);
        let weight_of_body = p.mass * system.gravity.norm();
        let mut feet = ["_r", "_l"].map(|side| {
            let contacts: Vec<(usize, usize)> = walk
                .base
                .model
                .forces
                .iter()
                .enumerate()
                .filter(|(_, f)| f.name.ends_with(side))
                .filter_map(|(i, _)| match &system.forces[i].actor {
                    Actor::Force(c) => c.touches().0.into_iter().find(|&b| b != 0).map(|b| (i, b)),
                    _ => None,
                })
                .collect();
            ReactionSum::new(system, &contacts).map(|sum| (sum.scratch(system), sum))
        });
        let mut gait = Gait {
            cost_of_transport: BASAL / walk.speed,
            stride_frequency: 0.5 / duration,
            double_support: 0.0,
            aerial: 0.0,
            peak_force: 0.0,
        };
        for point in 1..t.times.len() {
            let part = weights[(point - 1) % POINTS] / intervals as f64;
            let (x, rates) = (&t.states.rows[point], &t.rates.rows[point]);
            state.q.copy_from_slice(&x[..n]);
            state.u.copy_from_slice(&x[n..2 * n]);
            system.compute_kinematics(&state, &mut ws);
            system.compute_paths(&state, &mut ws);
            let mut power = 0.0;
            for (m, (&at, &force)) in walk.muscles.iter().zip(&walk.forces).enumerate() {
                let path = &ws.paths[force];
                let b =
                    p.contraction[m].balance(x[at], x[at + 1], rates[at + 1], path.length(), path.speed());
                let work = MuscleAtWork {
                    excitation: x[at],
                    activation: x[at],
                    active_fiber_force: b.active_force,
                    passive_fiber_force: b.passive_force,
                    fiber_velocity: b.fiber_velocity,
                    normalized_fiber_length: b.normalized_fiber_length,
                    active_force_length_multiplier: b.active_force_length,
                };
                power += p.energy[m].rates(&work).total;
            }
            gait.cost_of_transport += part * power / p.mass / walk.speed;
            let mut on_ground = 0;
            for (scratch, sum) in feet.iter_mut().flatten() {
                sum.compute_value(system, &state.q, &state.u, scratch);
                let force = scratch.value.y / weight_of_body;
                on_ground += usize::from(force > CONTACT);
                gait.peak_force = gait.peak_force.max(force);
            }
            gait.double_support += if on_ground == 2 { part } else { 0.0 };
            gait.aerial += if on_ground == 0 { part } else { 0.0 };
        }
        gait
    }
}

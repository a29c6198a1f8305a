//! The whole cycle of a gait.

use soleus_control::Trajectory;
use soleus_control::gait::Walker;
use soleus_dynamics::State;
use soleus_dynamics::implicit::ReactionSum;
use soleus_math::Table;
use soleus_math::table::Element;

/// Share of body weight that counts as contact.
const CONTACT: f64 = 0.05;

/// A whole gait cycle; a half cycle is completed by its mirror image.
pub struct WholeCycle {
    /// States of the model at the points of the cycle.
    pub states: Vec<State<f64>>,
    /// Ground force on each foot (right, left) along x, y, z, body weights.
    pub forces: [Vec<[f64; 3]>; 2],
    /// States over time, rad and m.
    pub motion: Table,
    /// Excitations over time.
    pub excitations: Table,
}

impl WholeCycle {
    /// The cycle of a solution.
    pub fn new(walker: &Walker, t: &Trajectory, speed: f64, is_half: bool) -> WholeCycle {
        let (base, mirror) = (&walker.base, &walker.mirror);
        let n = base.num_coordinates();
        let mut times = t.times.clone();
        let mut rows = t.states.rows.clone();
        let mut controls = t.controls.rows.clone();
        let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
        if is_half {
            let image =
                |row: &[f64], of: &[(usize, f64)]| of.iter().map(|&(i, s)| s * row[i]).collect::<Vec<_>>();
            for k in 1..t.times.len() {
                times.push(last + t.times[k] - first);
                let mut row = image(&t.states.rows[k], &mirror.states);
                row[mirror.forward] += speed * (last - first);
                rows.push(row);
                controls.extend(t.controls.rows.get(k).map(|r| image(r, &mirror.controls)));
            }
        }
        let state = |(row, &time): (&Vec<f64>, &f64)| {
            let mut x = State { time, ..base.system.default_state.clone() };
            x.q.copy_from_slice(&row[..n]);
            x.u.copy_from_slice(&row[n..2 * n]);
            x.z.copy_from_slice(&row[2 * n..]);
            x
        };
        let states: Vec<State<f64>> = rows.iter().zip(&times).map(state).collect();
        let forces = [0, 1].map(|side| ground_forces(walker, &walker.feet[side], &states));
        let table = |names: &[String], rows: &[Vec<f64>]| {
            let columns = (0..names.len()).map(|i| rows.iter().map(|r| r[i]).collect()).collect();
            let mut table =
                Table::new(Element::Scalar, names.to_vec(), times.clone(), columns).unwrap_or_default();
            table.in_degrees = Some(false);
            table
        };
        WholeCycle {
            motion: table(&base.states, &rows),
            excitations: table(&base.controls, &controls),
            states,
            forces,
        }
    }

    /// Duration, s.
    pub fn duration(&self) -> f64 {
        self.states.last().zip(self.states.first()).map_or(0.0, |(b, a)| b.time - a.time)
    }

    fn share(&self, fits: impl Fn(usize) -> bool) -> f64 {
        let n = self.states.len().saturating_sub(1).max(1);
        (0..n).filter(|&k| fits(k)).count() as f64 / n as f64
    }

    /// Fraction of the cycle in which the right foot is on the ground.
    pub fn stance(&self) -> f64 {
        self.share(|k| self.forces[0].get(k).is_some_and(|f| f[1] >= CONTACT))
    }

    /// Fraction of the cycle in which both feet are in the air.
    pub fn aerial(&self) -> f64 {
        self.share(|k| self.forces.iter().all(|f| f.get(k).is_some_and(|f| f[1] < CONTACT)))
    }
}

fn ground_forces(walker: &Walker, foot: &[(usize, usize)], states: &[State<f64>]) -> Vec<[f64; 3]> {
    let system = &walker.base.system;
    let weight = walker.base.model.total_mass() * walker.base.model.gravity.norm();
    let Some(sum) = ReactionSum::new(system, foot) else { return vec![[0.0; 3]; states.len()] };
    let mut scratch = sum.scratch(system);
    let force = |x: &State<f64>| {
        sum.compute_value(system, &x.q, &x.u, &mut scratch);
        scratch.value.to_array().map(|f| f / weight)
    };
    states.iter().map(force).collect()
}

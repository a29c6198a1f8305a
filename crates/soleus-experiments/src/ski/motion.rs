//! Motions of the skier at given times.

use super::skier::Skier;
use crate::sample::at;
use soleus_control::Trajectory;
use soleus_dynamics::State;

/// States and excitations at times.
#[derive(Clone, Debug)]
pub struct Motion {
    /// s.
    pub times: Vec<f64>,
    /// States then.
    pub states: Vec<State<f64>>,
    /// Excitations then.
    pub controls: Vec<Vec<f64>>,
}

impl Motion {
    /// A solution at times: states on lines between its points, excitations on lines between midpoints.
    pub fn sampled(skier: &Skier, t: &Trajectory, times: &[f64]) -> Motion {
        let (middles, rows) = excitations(t);
        Motion {
            times: times.to_vec(),
            states: times.iter().map(|&s| skier.state(&at(&t.times, &t.states.rows, s), s)).collect(),
            controls: times.iter().map(|&s| at(&middles, &rows, s)).collect(),
        }
    }

    /// The motion at other times, on lines.
    pub fn at(&self, skier: &Skier, times: &[f64]) -> Motion {
        let row = |x: &State<f64>| x.q.iter().chain(&x.u).chain(&x.z).copied().collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = self.states.iter().map(row).collect();
        Motion {
            times: times.to_vec(),
            states: times.iter().map(|&t| skier.state(&at(&self.times, &rows, t), t)).collect(),
            controls: times.iter().map(|&t| at(&self.times, &self.controls, t)).collect(),
        }
    }
}

/// Excitations of a solution of the midpoint rule, whose points are nodes and midpoints in turn: at midpoints, the only ones that
/// the rule knows.
pub fn excitations(t: &Trajectory) -> (Vec<f64>, Vec<Vec<f64>>) {
    t.times.iter().copied().zip(t.controls.rows.iter().cloned()).skip(1).step_by(2).unzip()
}

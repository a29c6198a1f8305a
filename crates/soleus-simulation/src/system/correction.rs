//! Feedback towards a recorded motion.

use super::control_nodes::ControlNodes;
use soleus_dynamics::system::State;

/// Control of a coordinate actuator that tracks a motion:
///
///   e = −(kp (q − q_d(t)) + kv (u − u_d(t))) / F                              (1)
///
/// where F is the optimal force of the actuator. Source: behaviour of OpenSim's `CorrectionController`.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// Mobility of the coordinate.
    pub mobility: usize,
    /// Position gain, N·m/rad or N/m.
    pub kp: f64,
    /// Velocity gain, N·m·s/rad or N·s/m.
    pub kv: f64,
    /// Optimal force, N·m or N.
    pub optimal_force: f64,
    /// Desired value q_d, rad or m.
    pub value: ControlNodes,
    /// Desired speed u_d, rad/s or m/s.
    pub speed: ControlNodes,
}

impl Correction {
    /// The control (1).
    pub fn value(&self, t: f64, x: &State<f64>) -> f64 {
        let (q, u) = (x.q[self.mobility], x.u[self.mobility]);
        -(self.kp * (q - self.value.value(t)) + self.kv * (u - self.speed.value(t))) / self.optimal_force
    }
}

//! `Actuation`: force, speed and power of actuators.

use super::{Analysis, AnalysisError, Moment, Output, Recorder, SI};
use soleus_dynamics::System;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::system::Actor;
use soleus_model::Model;

/// Force, speed and power of every enabled actuator. The speed is the one conjugate to the force: the lengthening speed
/// of a path, the speed of a coordinate, the speed of a point along its force, or the relative speed of two bodies
/// about the axis of a torque.
#[derive(Clone, Debug)]
pub struct Actuation {
    opensim_faults: bool,
    actuators: Vec<usize>,
    tables: [Recorder; 3],
}

impl Actuation {
    /// For a model. OpenSim uses the speed of a point regardless of its direction, and treats the axis of a torque as
    /// if it were given in ground; `opensim_faults` reproduces this.
    pub fn new(model: &Model, system: &System, opensim_faults: bool) -> Self {
        let on = |&i: &usize| system.forces[i].enabled && model.forces[i].is_actuator();
        let actuators: Vec<usize> = (0..model.forces.len()).filter(on).collect();
        let labels: Vec<String> = actuators.iter().map(|&i| model.forces[i].name.clone()).collect();
        let table = |name: &str| Recorder::new(name, SI, labels.clone());
        Actuation {
            opensim_faults,
            actuators,
            tables: [table("ActuatorForces"), table("ActuatorSpeeds"), table("ActuatorPowers")],
        }
    }
}

/// Force (N or N·m), speed and power (W) of an actuator.
pub(super) fn at_work(now: &Moment, i: usize, opensim_faults: bool) -> [f64; 3] {
    let s = &now.system.forces[i];
    if s.path.is_some() {
        // A path that shortens under tension does work.
        let (force, speed) = (now.ws.tension[i], now.ws.paths[i].speed());
        return [force, speed, -force * speed];
    }
    let Actor::Force(c) = &s.actor else { return [f64::NAN; 3] };
    let mut values = Vec::new();
    now.system.record_force(i, now.x, now.controls, now.ws, &mut values);
    let force = values.first().copied().unwrap_or(f64::NAN);
    let speed = match c.kernel() {
        Kernel::CoordinateActuator(a) => now.x.u[a.mobility],
        Kernel::ActivationCoordinateActuator(a) => now.x.u[a.mobility],
        Kernel::PointActuator(a) => a.speed(&now.ws.kin.view(now.x.time), opensim_faults),
        Kernel::TorqueActuator(a) => a.speed(&now.ws.kin.view(now.x.time), opensim_faults),
        Kernel::PointToPointActuator(a) => a.speed(&now.ws.kin.view(now.x.time)),
        _ => f64::NAN,
    };
    [force, speed, force * speed]
}

impl Analysis for Actuation {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let all: Vec<[f64; 3]> =
            self.actuators.iter().map(|&i| at_work(now, i, self.opensim_faults)).collect();
        for (k, table) in self.tables.iter_mut().enumerate() {
            table.push(now.x.time, all.iter().map(|a| a[k]));
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let [f, s, p] = self.tables;
        Ok(vec![
            Output { suffix: "_force".to_string(), table: f.table()? },
            Output { suffix: "_speed".to_string(), table: s.table()? },
            Output { suffix: "_power".to_string(), table: p.table()? },
        ])
    }
}

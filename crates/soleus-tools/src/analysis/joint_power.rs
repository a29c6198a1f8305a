//! Net joint moments and joint powers.

use super::{Analysis, AnalysisError, HistoryError, Moment, Output, Recorder, SI, StateHistory};
use crate::inverse_dynamics::Solver;
use soleus_dynamics::System;
use soleus_model::Model;
use std::ops::RangeInclusive;

/// Net generalized force τ of each coordinate (N·m or N), by inverse dynamics without the actuators of the model, and
/// its power τ u (W).
#[derive(Clone, Debug)]
pub struct JointPower {
    system: System,
    solver: Solver,
    udot: Vec<Vec<f64>>,
    first: usize,
    mobilities: Vec<usize>,
    moments: Recorder,
    powers: Recorder,
}

impl JointPower {
    /// For rows of a history; accelerations are computed from its speeds.
    pub fn new(
        model: &Model,
        system: &System,
        history: &StateHistory,
        rows: RangeInclusive<usize>,
    ) -> Result<Self, HistoryError> {
        let mut system = system.clone();
        for (f, s) in model.forces.iter().zip(&mut system.forces) {
            s.enabled &= !f.is_actuator();
        }
        let labels: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
        Ok(JointPower {
            solver: Solver::new(&system),
            udot: history.accelerations(&system, rows.clone())?,
            first: *rows.start(),
            mobilities: system.tree.mobility_of_coordinate.clone(),
            moments: Recorder::new("JointMoments", SI, labels.clone()),
            powers: Recorder::new("JointPowers", SI, labels),
            system,
        })
    }
}

impl Analysis for JointPower {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let row = now.row - self.first;
        self.solver.state.clone_from(now.x);
        for (a, column) in self.solver.udot.iter_mut().zip(&self.udot) {
            *a = column[row];
        }
        self.solver.compute(&self.system);
        let tau = |&m: &usize| self.solver.tau.get(m).copied().unwrap_or(f64::NAN);
        let power = |m: &usize| tau(m) * now.x.u.get(*m).copied().unwrap_or(f64::NAN);
        self.moments.push(now.x.time, self.mobilities.iter().map(tau));
        self.powers.push(now.x.time, self.mobilities.iter().map(power));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(vec![
            Output { suffix: "_moments".to_string(), table: self.moments.table()? },
            Output { suffix: "_powers".to_string(), table: self.powers.table()? },
        ])
    }
}

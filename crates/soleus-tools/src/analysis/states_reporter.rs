//! `StatesReporter`: all states.

use super::{Analysis, AnalysisError, Moment, Output, Recorder, SI};
use soleus_dynamics::System;
use soleus_model::Model;
use soleus_simulation::system::state_labels;

/// All states, in OpenSim's order.
#[derive(Clone, Debug)]
pub struct StatesReporter {
    places: Vec<usize>,
    table: Recorder,
}

impl StatesReporter {
    /// For a model.
    pub fn new(model: &Model, system: &System) -> Self {
        let (labels, places) = state_labels(model, system).into_iter().unzip();
        StatesReporter { places, table: Recorder::new("ModelStates", SI, labels) }
    }
}

impl Analysis for StatesReporter {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let (x, n) = (now.x, now.x.q.len());
        let at = |&i: &usize| match i {
            _ if i < n => x.q[i],
            _ if i < 2 * n => x.u[i - n],
            _ => x.z[i - 2 * n],
        };
        self.table.push(x.time, self.places.iter().map(at));
        Ok(())
    }

    fn needs_motion(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(vec![Output { suffix: "_states".to_string(), table: self.table.table()? }])
    }
}

//! Studies without line numbers.

use super::{ModelStepKind, Problem, Study};
use soleus_model::Element;
use soleus_model::operator::ModelOperator;

impl Study {
    /// The study with all line numbers 0, as if it came from no file: two studies with the same content are then equal.
    pub fn without_lines(mut self) -> Study {
        self.setup = self.setup.without_lines();
        self.phases = self.phases.into_iter().map(Study::without_lines).collect();
        self.links.iter_mut().for_each(|l| l.line = 0);
        self.continuation.iter_mut().for_each(|c| c.line = 0);
        self
    }
}

impl Problem {
    /// The problem with all line numbers 0.
    pub fn without_lines(mut self) -> Problem {
        self.model.iter_mut().chain(&mut self.external_loads).for_each(forget);
        for step in &mut self.model_steps {
            step.line = 0;
            if let ModelStepKind::Operator(ModelOperator::ReplacePaths(paths)) = &mut step.kind {
                paths.iter_mut().for_each(forget);
            }
        }
        self.states.iter_mut().chain(&mut self.controls).for_each(|v| v.line = 0);
        self.parameters.iter_mut().for_each(|p| p.line = 0);
        self.goals.iter_mut().for_each(|g| g.line = 0);
        self.path_constraints.iter_mut().for_each(|c| c.line = 0);
        for f in &mut self.forces {
            f.line = 0;
            f.states.iter_mut().for_each(|s| s.line = 0);
        }
        self.tables.iter_mut().for_each(|t| t.line = 0);
        self.definitions.iter_mut().chain(&mut self.derived).for_each(|f| f.line = 0);
        self
    }
}

fn forget(e: &mut Element) {
    e.line = 0;
    e.children_mut().for_each(forget);
}

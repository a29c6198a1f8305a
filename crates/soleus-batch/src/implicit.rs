//! Recorded implicit equations of a system.

use crate::evaluation::{Layout, Refusal, join_forces, refusal};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::{State, System};
use soleus_graph::{Graph, Program, Recorded, Recording, record};
use soleus_math::Real;
use soleus_math::elementary;
use soleus_model::Model;
use std::ops::Range;

/// Residuals of a system as a graph, as functions of coordinates, speeds, states of forces, controls, time,
/// accelerations, rates of the states of forces and multipliers: inverse dynamics, force balance of muscles,
/// constraints. No matrix is inverted, there are no singularities, and it costs less than accelerations. Useful for
/// collocation, moving-horizon estimation and fits to measured motion.
#[derive(Clone, Debug)]
pub struct ImplicitEvaluation {
    /// The graph, to which derivatives may be added.
    pub graph: Graph,
    /// Indices of coordinates, speeds, states of forces, controls and time among the inputs.
    pub layout: Layout,
    /// Indices of the accelerations, which follow.
    pub udot: Range<usize>,
    /// Rates of the states of forces.
    pub zdot: Range<usize>,
    /// Multipliers of the constraints.
    pub lambda: Range<usize>,
    /// Nodes of the inputs.
    pub inputs: Vec<u32>,
    /// Nodes of the residuals: of the mobilities, of the states of forces, of the constraints.
    pub residuals: Vec<u32>,
}

impl ImplicitEvaluation {
    /// Records the residuals of a system. `model` is used for names in error messages.
    pub fn record(model: &Model, system: &System) -> Result<ImplicitEvaluation, Refusal> {
        let layout = Layout::new(system);
        let implicit = ImplicitSystem::new(system);
        let udot = layout.inputs()..layout.inputs() + layout.u.len();
        let zdot = udot.end..udot.end + layout.z.len();
        let lambda = zdot.end..zdot.end + implicit.num_multipliers();
        let mut made = ImplicitEvaluation {
            graph: Graph::default(),
            udot,
            zdot,
            inputs: (0..lambda.end as u32).collect(),
            lambda,
            layout,
            residuals: Vec::new(),
        };
        let mut start = made.layout.start(system);
        start.extend((0..made.lambda.end - start.len()).map(|i| 0.1 * elementary::sin(1.0 + i as f64)));
        let (recording, outputs) =
            record(&start, |x| made.residual(&implicit, x, &mut system.workspace::<Recorded>()));
        if let Some(refusal) = refusal(model, system, &recording) {
            return Err(refusal);
        }
        let Recording { mut graph, parts, .. } = recording;
        join_forces(&mut graph, &parts);
        (made.graph, made.residuals) = (graph, outputs);
        Ok(made)
    }

    /// Residuals at an input, by the engine. Those of q̇ = N u, which are always zero, are left out.
    pub fn residual<T: Real>(
        &self,
        implicit: &ImplicitSystem,
        x: &[T],
        ws: &mut soleus_dynamics::Workspace<T>,
    ) -> Vec<T> {
        let (state, controls): (State<T>, Vec<T>) = self.layout.state(x);
        let n = self.layout.u.len();
        let mut xdot = state.u.clone();
        xdot.extend(&x[self.udot.clone()]);
        xdot.extend(&x[self.zdot.clone()]);
        let mut r = vec![T::zero(); implicit.num_residuals()];
        implicit.compute_residual(&state, &xdot, &controls, &x[self.lambda.clone()], ws, &mut r);
        r.split_off(n)
    }

    /// The residuals.
    pub fn program(&self) -> Program {
        Program::new(&self.graph, &self.residuals)
    }

    /// Gradient of Σ wᵢ rᵢ with respect to all inputs. The weights w are additional inputs at the end.
    pub fn gradient_program(&self) -> Program {
        let mut graph = self.graph.clone();
        let weights: Vec<u32> = self.residuals.iter().map(|_| graph.input()).collect();
        let gradient = graph.reverse(&self.residuals, &weights, &self.inputs);
        Program::new(&graph, &gradient)
    }

    /// States of [`Evaluation::random_states`](crate::Evaluation::random_states) with accelerations up to ±50, rates
    /// and multipliers up to ±10.
    pub fn random_inputs(&self, model: &Model, system: &System, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = soleus_math::Random::new(seed ^ 0xabcd);
        let mut states = crate::Evaluation::random_states(model, system, count, seed);
        for x in &mut states {
            x.extend(self.udot.clone().map(|_| f64::from((50.0 * random.signed()) as f32)));
            x.extend(self.zdot.clone().map(|_| f64::from((10.0 * random.signed()) as f32)));
            x.extend(self.lambda.clone().map(|_| f64::from((10.0 * random.signed()) as f32)));
        }
        states
    }
}

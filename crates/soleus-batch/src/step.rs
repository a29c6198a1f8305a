//! Time steps as graphs: a step and its gradient are additional programs.

use crate::evaluation::Evaluation;
use soleus_dynamics::System;
use soleus_graph::{Graph, Op, Program};
use std::ops::Range;

/// Method of a step of length h.
///
///   u⁺ = u + h u̇(q, u, z),   q⁺ = q + h q̇(q, u⁺)                     (1)
///   z⁺ = z + h ż              explicit                                 (2)
///   (1 − h ∂ż/∂z) (z⁺ − z) = h ż   linearly implicit                     (3)
///   (M + h D + h² K) (u⁺ − u) = h (f − h K q̇ + …)                       (4)
///
/// (1) is the symplectic Euler method; (3) is Rosenbrock's method of order 1, where ∂ż/∂z has one block for the states
/// of each force and is exact; (4) is also implicit in the speeds, with damping D and stiffness K of joints, muscles
/// and contacts. Muscle fibers with tendons are stiff, with rates of 1000/s and more, and so are limits of joints with
/// little mass, and feet on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// (1) and (2): the fastest.
    SemiImplicit,
    /// (1) and (3): stable for muscles at 1 to 2 ms, not for light joints and feet.
    ImplicitStates,
    /// (3) and (4): stable for all of these at 1 to 2 ms.
    LinearlyImplicit,
}

impl Evaluation {
    /// Adds a step to the graph: nodes of q⁺, u⁺, z⁺, and of the doubt. The node `h` is its length, s.
    fn add_step(&self, graph: &mut Graph, system: &System, step: Step, h: u32) -> (Vec<u32>, u32) {
        if step == Step::LinearlyImplicit {
            return self.add_implicit_step(graph, system, h);
        }
        let at = |r: &Range<usize>| self.inputs[r.clone()].to_vec();
        let (q, u, z) = (at(&self.layout.q), at(&self.layout.u), at(&self.layout.z));
        let moved = |graph: &mut Graph, x: &[u32], rate: &[u32]| -> Vec<u32> {
            x.iter()
                .zip(rate)
                .map(|(&x, &r)| {
                    let change = graph.two(Op::Mul, h, r);
                    graph.two(Op::Add, x, change)
                })
                .collect()
        };
        let faster = moved(graph, &u, &self.udot);
        // q̇ is linear in u: its change along u̇, times h.
        let change = graph.forward(&self.qdot, &u, &self.udot);
        let rates = moved(graph, &self.qdot, &change);
        let placed = moved(graph, &q, &rates);
        let later = match step {
            Step::SemiImplicit => moved(graph, &z, &self.zdot),
            _ => self.implicit_states(graph, system, h, &z),
        };
        (placed.into_iter().chain(faster).chain(later).collect(), self.doubt)
    }

    /// z⁺ of (3).
    fn implicit_states(&self, graph: &mut Graph, system: &System, h: u32, z: &[u32]) -> Vec<u32> {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let blocks: Vec<Range<usize>> = system.forces.iter().map(|f| f.states.clone()).collect();
        let widest = blocks.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        // The columns of all blocks at once: one sweep for the first state of every force, one for the second, …
        let columns: Vec<Vec<u32>> = (0..widest)
            .map(|c| {
                let mut along = vec![zero; z.len()];
                blocks.iter().filter(|b| c < b.len()).for_each(|b| along[b.start + c] = one);
                graph.forward(&self.zdot, z, &along)
            })
            .collect();
        let mut later = z.to_vec();
        for b in blocks.iter().filter(|b| !b.is_empty()) {
            let n = b.len();
            let mut m = vec![zero; n * n];
            let mut x: Vec<u32> = Vec::new();
            for i in 0..n {
                for j in 0..n {
                    let hj = graph.two(Op::Mul, h, columns[j][b.start + i]);
                    let diagonal = if i == j { one } else { zero };
                    m[i * n + j] = graph.two(Op::Sub, diagonal, hj);
                }
                x.push(graph.two(Op::Mul, h, self.zdot[b.start + i]));
            }
            // Elimination from the last state on: activations come first and depend on nothing else.
            for k in (0..n).rev() {
                for i in 0..k {
                    if graph.value_of(m[i * n + k]) == Some(0.0) {
                        continue;
                    }
                    let factor = graph.two(Op::Div, m[i * n + k], m[k * n + k]);
                    for j in 0..k {
                        let less = graph.two(Op::Mul, factor, m[k * n + j]);
                        m[i * n + j] = graph.two(Op::Sub, m[i * n + j], less);
                    }
                    let less = graph.two(Op::Mul, factor, x[k]);
                    x[i] = graph.two(Op::Sub, x[i], less);
                }
            }
            for k in 0..n {
                for j in 0..k {
                    let less = graph.two(Op::Mul, m[k * n + j], x[j]);
                    x[k] = graph.two(Op::Sub, x[k], less);
                }
                x[k] = graph.two(Op::Div, x[k], m[k * n + k]);
                later[b.start + k] = graph.two(Op::Add, z[b.start + k], x[k]);
            }
        }
        later
    }

    /// One step: coordinates, speeds and states of forces after it, then the indicator. Its length is the last input.
    pub fn step_program(&self, system: &System, step: Step) -> Program {
        let mut graph = self.graph.clone();
        let h = graph.input();
        let (mut outputs, doubt) = self.add_step(&mut graph, system, step, h);
        outputs.push(doubt);
        Program::new(&graph, &outputs)
    }

    /// Gradient of Σ wᵢ x⁺ᵢ over a step with respect to all inputs. The weights w are inputs after its length.
    pub fn step_gradient_program(&self, system: &System, step: Step) -> Program {
        let mut graph = self.graph.clone();
        let h = graph.input();
        let (outputs, _) = self.add_step(&mut graph, system, step, h);
        let weights: Vec<u32> = outputs.iter().map(|_| graph.input()).collect();
        let by: Vec<u32> = self.inputs.iter().copied().chain([h]).collect();
        let gradient = graph.reverse(&outputs, &weights, &by);
        Program::new(&graph, &gradient)
    }
}

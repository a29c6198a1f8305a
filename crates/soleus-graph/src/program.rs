//! What some outputs need of a graph, in order.

use crate::graph::{Graph, NONE, Node, Op, Table};

/// The nodes that outputs need, operands first.
#[derive(Clone, Debug)]
pub struct Program {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The part of the model that each belongs to.
    pub parts: Vec<u32>,
    /// What nodes look up.
    pub tables: Vec<Table>,
    /// Nodes that are outputs.
    pub outputs: Vec<u32>,
    /// How many inputs there are.
    pub inputs: usize,
}

impl Program {
    /// What `outputs` need of a graph.
    pub fn new(graph: &Graph, outputs: &[u32]) -> Program {
        let live = graph.live(outputs);
        let mut to = vec![NONE; graph.nodes.len()];
        let (mut nodes, mut parts) = (Vec::new(), Vec::new());
        for (i, n) in graph.nodes.iter().enumerate() {
            if !live[i] {
                continue;
            }
            let mut n = *n;
            let arity = n.op.arity();
            for x in [&mut n.a, &mut n.b, &mut n.c].into_iter().take(arity) {
                *x = to[*x as usize];
            }
            to[i] = nodes.len() as u32;
            nodes.push(n);
            parts.push(graph.parts[i]);
        }
        let outputs = outputs.iter().map(|&o| to[o as usize]).collect();
        Program { nodes, parts, tables: graph.tables.clone(), outputs, inputs: graph.inputs as usize }
    }

    /// How many nodes compute something.
    pub fn operations(&self) -> usize {
        self.nodes.iter().filter(|n| n.op.arity() > 0).count()
    }

    /// How many nodes are functions or divisions, which cost more than the rest.
    pub fn costly(&self) -> usize {
        self.nodes.iter().filter(|n| n.op.is_function() || matches!(n.op, Op::Div | Op::Sqrt)).count()
    }

    /// The outputs at an input, node by node in `f64`: the reference of all other ways.
    pub fn evaluate(&self, x: &[f64]) -> Vec<f64> {
        self.interpret(x, |v| v)
    }

    /// The same with every result rounded to `f32`.
    pub fn evaluate_f32(&self, x: &[f64]) -> Vec<f64> {
        self.interpret(x, |v| f64::from(v as f32))
    }

    fn interpret(&self, x: &[f64], round: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut v = vec![0.0; self.nodes.len()];
        for (i, n) in self.nodes.iter().enumerate() {
            let at = |k: u32| v.get(k as usize).copied().unwrap_or(0.0);
            v[i] = round(match n.op {
                Op::Const => n.constant().unwrap_or(f64::NAN),
                Op::Input => x[n.a as usize],
                Op::Rank => self.tables[n.b as usize].rank(at(n.a)),
                Op::Cell => self.tables[n.b as usize].cell(at(n.a), n.c as usize),
                op => op.compute(at(n.a), at(n.b), at(n.c)),
            });
        }
        self.outputs.iter().map(|&o| v[o as usize]).collect()
    }
}

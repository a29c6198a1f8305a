//! The part of a graph that some outputs need, in order.

use crate::graph::{Graph, NONE, Node, Op, Table};

/// What bytes of a program begin with: a name, and a version.
const HEAD: &[u8] = b"soleus program 1";

/// The nodes that outputs need, operands first.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Part of the model that each node belongs to.
    pub parts: Vec<u32>,
    /// Parts of reverse sweeps: see [`Graph::sweeps`].
    pub sweeps: Vec<u32>,
    /// Lookup tables of the nodes.
    pub tables: Vec<Table>,
    /// Nodes of the outputs.
    pub outputs: Vec<u32>,
    /// Number of inputs.
    pub inputs: usize,
}

impl Program {
    /// The part of a graph that `outputs` need.
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
        let (sweeps, tables) = (graph.sweeps.clone(), graph.tables.clone());
        Program { nodes, parts, sweeps, tables, outputs, inputs: graph.inputs as usize }
    }

    /// The same program, in which reverse sweeps of short parts recompute the values of these parts instead of storing
    /// them: on a device, operations are cheaper than memory.
    pub fn recomputed(&self, longest: usize) -> Program {
        let mut length: std::collections::HashMap<u32, usize> = std::collections::HashMap::new();
        for (n, part) in self.nodes.iter().zip(&self.parts).filter(|(n, _)| n.op.arity() > 0) {
            let _ = n;
            *length.entry(*part).or_default() += 1;
        }
        let origin = |part: u32| {
            let of = self.sweeps.get(part as usize).copied().unwrap_or(NONE);
            (of != NONE && length.get(&of).is_some_and(|l| *l <= longest)).then_some(of)
        };
        let mut made = Program { nodes: Vec::new(), parts: Vec::new(), outputs: Vec::new(), ..self.clone() };
        let mut to = vec![NONE; self.nodes.len()];
        // Nodes computed again, by the part of the sweep and the node.
        let mut again: std::collections::HashMap<(u32, u32), u32> = std::collections::HashMap::new();
        for (i, n) in self.nodes.iter().enumerate() {
            let part = self.parts[i];
            let mut n = *n;
            if let Some(of) = origin(part) {
                // Depth first: what a copy needs comes before it.
                let own = |a: u32| self.nodes[a as usize].op.arity() > 0 && self.parts[a as usize] == of;
                let mut stack: Vec<u32> = n.operands().filter(|a| own(*a)).collect();
                while let Some(&a) = stack.last() {
                    let waits: Vec<u32> = self.nodes[a as usize]
                        .operands()
                        .filter(|b| own(*b) && !again.contains_key(&(part, *b)))
                        .collect();
                    if again.contains_key(&(part, a)) {
                        stack.pop();
                    } else if waits.is_empty() {
                        stack.pop();
                        let mut copy = self.nodes[a as usize];
                        let arity = copy.op.arity();
                        for x in [&mut copy.a, &mut copy.b, &mut copy.c].into_iter().take(arity) {
                            *x = if own(*x) { again[&(part, *x)] } else { to[*x as usize] };
                        }
                        again.insert((part, a), made.nodes.len() as u32);
                        made.nodes.push(copy);
                        made.parts.push(part);
                    } else {
                        stack.extend(waits);
                    }
                }
                let arity = n.op.arity();
                for x in [&mut n.a, &mut n.b, &mut n.c].into_iter().take(arity) {
                    *x = if own(*x) { again[&(part, *x)] } else { to[*x as usize] };
                }
            } else {
                let arity = n.op.arity();
                for x in [&mut n.a, &mut n.b, &mut n.c].into_iter().take(arity) {
                    *x = to[*x as usize];
                }
            }
            to[i] = made.nodes.len() as u32;
            made.nodes.push(n);
            made.parts.push(part);
        }
        made.outputs = self.outputs.iter().map(|&o| to[o as usize]).collect();
        made.without_the_dead()
    }

    /// Only what the outputs need.
    fn without_the_dead(self) -> Program {
        let mut live = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|&o| live[o as usize] = true);
        for i in (0..self.nodes.len()).rev().filter(|&i| self.nodes[i].op.arity() > 0) {
            if live[i] {
                self.nodes[i].operands().for_each(|a| live[a as usize] = true);
            }
        }
        let mut to = vec![NONE; self.nodes.len()];
        let mut made = Program { nodes: Vec::new(), parts: Vec::new(), outputs: Vec::new(), ..self.clone() };
        for (i, n) in self.nodes.iter().enumerate().filter(|(i, _)| live[*i]) {
            let mut n = *n;
            let arity = n.op.arity();
            for x in [&mut n.a, &mut n.b, &mut n.c].into_iter().take(arity) {
                *x = to[*x as usize];
            }
            to[i] = made.nodes.len() as u32;
            made.nodes.push(n);
            made.parts.push(self.parts[i]);
        }
        made.outputs = self.outputs.iter().map(|&o| to[o as usize]).collect();
        made
    }

    /// Number of nodes that compute something.
    pub fn operations(&self) -> usize {
        self.nodes.iter().filter(|n| n.op.arity() > 0).count()
    }

    /// Number of functions and divisions, which are more expensive than other nodes.
    pub fn costly(&self) -> usize {
        self.nodes.iter().filter(|n| n.op.is_function() || matches!(n.op, Op::Div | Op::Sqrt)).count()
    }

    /// Outputs for given inputs, node by node in `f64`: the reference for all other evaluations.
    pub fn evaluate(&self, x: &[f64]) -> Vec<f64> {
        self.interpret(x, |v| v)
    }

    /// The same with every result rounded to `f32`.
    pub fn evaluate_f32(&self, x: &[f64]) -> Vec<f64> {
        self.interpret(x, |v| f64::from(v as f32))
    }

    /// Serializes the program.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        let mut put = |x: u32| bytes.extend(x.to_le_bytes());
        put(self.inputs as u32);
        put(self.nodes.len() as u32);
        for (n, part) in self.nodes.iter().zip(&self.parts) {
            [n.op as u32, n.a, n.b, n.c, *part].into_iter().for_each(&mut put);
        }
        put(self.outputs.len() as u32);
        self.outputs.iter().copied().for_each(&mut put);
        put(self.sweeps.len() as u32);
        self.sweeps.iter().copied().for_each(&mut put);
        put(self.tables.len() as u32);
        for t in &self.tables {
            put(t.width as u32);
            put(t.values.len() as u32);
            for v in &t.values {
                put(v.to_bits() as u32);
                put((v.to_bits() >> 32) as u32);
            }
        }
        bytes
    }

    /// Reads a program written by [`to_bytes`](Self::to_bytes); `None` if invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Program> {
        let mut words =
            bytes.strip_prefix(HEAD)?.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let inputs = words.next()? as usize;
        let count = words.next()?;
        let (mut nodes, mut parts) = (Vec::new(), Vec::new());
        for i in 0..count {
            let op = *Op::ALL.get(words.next()? as usize)?;
            let n = Node { op, a: words.next()?, b: words.next()?, c: words.next()? };
            if n.operands().any(|a| a >= i) || (op == Op::Input && n.a as usize >= inputs) {
                return None;
            }
            nodes.push(n);
            parts.push(words.next()?);
        }
        let outputs: Vec<u32> = (0..words.next()?).map(|_| words.next()).collect::<Option<_>>()?;
        let sweeps: Vec<u32> = (0..words.next()?).map(|_| words.next()).collect::<Option<_>>()?;
        let mut tables = Vec::new();
        for _ in 0..words.next()? {
            let width = words.next()? as usize;
            let count = words.next()?;
            let mut value =
                || Some(f64::from_bits(u64::from(words.next()?) | u64::from(words.next()?) << 32));
            let values: Vec<f64> = (0..count).map(|_| value()).collect::<Option<_>>()?;
            if width == 0 || values.len() < width {
                return None;
            }
            tables.push(Table { values, width });
        }
        let table_of = |n: &Node| !matches!(n.op, Op::Rank | Op::Cell) || (n.b as usize) < tables.len();
        let whole = nodes.iter().all(table_of) && outputs.iter().all(|o| *o < count);
        whole.then_some(Program { nodes, parts, sweeps, tables, outputs, inputs })
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

//! Derivatives of a graph, added to the same graph.

use crate::graph::{Graph, NONE, Node, Op};

impl Graph {
    /// ∂/∂(operand) of node `i`, which is `n`: operands that count, each with its slope.
    fn slopes(&mut self, n: Node, i: u32) -> Vec<(u32, u32)> {
        let Node { op, a, b, c } = n;
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        match op {
            Op::Add => vec![(a, one), (b, one)],
            Op::Sub => vec![(a, one), (b, self.constant(-1.0))],
            Op::Mul => vec![(a, b), (b, a)],
            Op::Mask => {
                let flat = self.two(Op::LessEqual, zero, a);
                let flat2 = self.two(Op::LessEqual, a, zero);
                let is_zero = self.two(Op::Mul, flat, flat2);
                vec![(a, self.select(is_zero, zero, b)), (b, a)]
            }
            Op::Div => {
                let per = self.two(Op::Div, one, b);
                let slope = self.two(Op::Mul, i, per);
                vec![(a, per), (b, self.one(Op::Neg, slope))]
            }
            Op::Neg => vec![(a, self.constant(-1.0))],
            Op::Sqrt => {
                let half = self.constant(0.5);
                vec![(a, self.two(Op::Div, half, i))]
            }
            Op::Sin => vec![(a, self.one(Op::Cos, a))],
            Op::Cos => {
                let sin = self.one(Op::Sin, a);
                vec![(a, self.one(Op::Neg, sin))]
            }
            Op::Tan => {
                let square = self.two(Op::Mul, i, i);
                vec![(a, self.two(Op::Add, square, one))]
            }
            Op::Asin | Op::Acos => {
                let square = self.two(Op::Mul, a, a);
                let rest = self.two(Op::Sub, one, square);
                let root = self.one(Op::Sqrt, rest);
                let sign = self.constant(if op == Op::Asin { 1.0 } else { -1.0 });
                vec![(a, self.two(Op::Div, sign, root))]
            }
            Op::Atan => {
                let square = self.two(Op::Mul, a, a);
                let sum = self.two(Op::Add, square, one);
                vec![(a, self.two(Op::Div, one, sum))]
            }
            Op::Atan2 => {
                let (aa, bb) = (self.two(Op::Mul, a, a), self.two(Op::Mul, b, b));
                let sum = self.two(Op::Add, aa, bb);
                let (by_a, by_b) = (self.two(Op::Div, b, sum), self.two(Op::Div, a, sum));
                vec![(a, by_a), (b, self.one(Op::Neg, by_b))]
            }
            Op::Exp => vec![(a, i)],
            Op::Ln => vec![(a, self.two(Op::Div, one, a))],
            Op::Sinh => vec![(a, self.one(Op::Cosh, a))],
            Op::Cosh => vec![(a, self.one(Op::Sinh, a))],
            Op::Tanh => {
                let square = self.two(Op::Mul, i, i);
                vec![(a, self.two(Op::Sub, one, square))]
            }
            Op::Pow => {
                let p = self.value_of(b).unwrap_or(f64::NAN);
                let (less, p) = (self.constant(p - 1.0), self.constant(p));
                let power = self.two(Op::Pow, a, less);
                vec![(a, self.two(Op::Mul, power, p))]
            }
            Op::Abs => {
                let flag = self.two(Op::Less, a, zero);
                let minus = self.constant(-1.0);
                vec![(a, self.select(flag, minus, one))]
            }
            // `Max` and `Min` take b only where it is beyond a.
            Op::Max | Op::Min => {
                let flag = if op == Op::Max { self.two(Op::Less, a, b) } else { self.two(Op::Less, b, a) };
                vec![(a, self.select(flag, zero, one)), (b, self.select(flag, one, zero))]
            }
            Op::Select => vec![(b, self.select(a, one, zero)), (c, self.select(a, zero, one))],
            Op::Const | Op::Input | Op::Less | Op::LessEqual | Op::Rank | Op::Cell | Op::Held => vec![],
        }
    }

    /// Parts for a reverse sweep, beside those of what is differentiated: what is added to the number of one of them.
    fn sweep_parts(&mut self) -> u32 {
        let first = self.parts.iter().max().map_or(0, |m| m + 1);
        self.sweeps.resize(first as usize, NONE);
        self.sweeps.extend(0..first);
        first
    }

    /// Which nodes `outputs` need.
    pub(crate) fn live(&self, outputs: &[u32]) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        outputs.iter().for_each(|&o| live[o as usize] = true);
        for i in (0..self.nodes.len()).rev() {
            if live[i] {
                self.nodes[i].operands().for_each(|a| live[a as usize] = true);
            }
        }
        live
    }

    /// Σ wᵢ ∂yᵢ/∂x for outputs y and weights w, both nodes, with respect to each node in `by`: one reverse sweep.
    pub fn reverse(&mut self, outputs: &[u32], weights: &[u32], by: &[u32]) -> Vec<u32> {
        let count = self.nodes.len();
        let live = self.live(outputs);
        // What depends on a variable at all.
        let mut active = vec![false; count];
        by.iter().for_each(|&i| active[i as usize] = true);
        for i in 0..count {
            let n = self.nodes[i];
            active[i] |= n.operands().any(|a| active[a as usize]);
        }
        // Beside each share, whether it is zero on a way that is not taken; there slopes need not be numbers.
        let mut share: Vec<(u32, bool)> = vec![(NONE, false); count];
        let add = |g: &mut Graph, slot: &mut (u32, bool), x: u32, masked: bool| {
            *slot = match slot.0 {
                NONE => (x, masked),
                old => (g.two(Op::Add, old, x), slot.1 || masked),
            };
        };
        for (&o, &w) in outputs.iter().zip(weights) {
            add(self, &mut share[o as usize], w, false);
        }
        let zero = self.constant(0.0);
        let parts = self.sweep_parts();
        for i in (0..count as u32).rev() {
            let n = self.nodes[i as usize];
            if !live[i as usize] || !active[i as usize] || n.op.arity() == 0 {
                continue;
            }
            let (w, masked) = share[i as usize];
            if w == NONE {
                continue;
            }
            self.part = parts + self.parts[i as usize];
            if n.op == Op::Select {
                for (operand, yes) in [(n.b, true), (n.c, false)] {
                    if active[operand as usize] {
                        let x = if yes { self.select(n.a, w, zero) } else { self.select(n.a, zero, w) };
                        add(self, &mut share[operand as usize], x, true);
                    }
                }
                continue;
            }
            for (operand, slope) in self.slopes(n, i) {
                if active[operand as usize] {
                    let constant = self.value_of(slope).is_some();
                    let op = if masked && !constant { Op::Mask } else { Op::Mul };
                    let x = self.two(op, w, slope);
                    add(self, &mut share[operand as usize], x, masked);
                }
            }
        }
        self.part = 0;
        by.iter()
            .map(|&i| match share[i as usize].0 {
                NONE => zero,
                x => x,
            })
            .collect()
    }

    /// ∂y/∂x·d for each output y, where the nodes `by` change in the direction of the nodes `along`: one forward sweep.
    pub fn forward(&mut self, outputs: &[u32], by: &[u32], along: &[u32]) -> Vec<u32> {
        let count = self.nodes.len();
        let live = self.live(outputs);
        let mut tangent = vec![NONE; count];
        for (&i, &d) in by.iter().zip(along) {
            tangent[i as usize] = d;
        }
        let zero = self.constant(0.0);
        for i in 0..count as u32 {
            let n = self.nodes[i as usize];
            let moves = |a: u32, t: &[u32]| t[a as usize] != NONE && t[a as usize] != zero;
            if !live[i as usize] || tangent[i as usize] != NONE || !n.operands().any(|a| moves(a, &tangent)) {
                continue;
            }
            self.part = self.parts[i as usize];
            if n.op == Op::Select {
                let at = |a: u32| if tangent[a as usize] == NONE { zero } else { tangent[a as usize] };
                let (yes, no) = (at(n.b), at(n.c));
                tangent[i as usize] = self.select(n.a, yes, no);
                continue;
            }
            let mut sum = zero;
            for (operand, slope) in self.slopes(n, i) {
                if moves(operand, &tangent) {
                    let x = self.two(Op::Mul, tangent[operand as usize], slope);
                    sum = self.two(Op::Add, sum, x);
                }
            }
            tangent[i as usize] = sum;
        }
        self.part = 0;
        outputs
            .iter()
            .map(|&o| if tangent[o as usize] == NONE { zero } else { tangent[o as usize] })
            .collect()
    }
}

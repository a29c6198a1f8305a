//! Graph of operations on symbolic numbers.

use soleus_math::elementary;
use std::collections::HashMap;

/// No operand.
pub const NONE: u32 = u32::MAX;

/// Operation of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Op {
    /// The constant whose bits are `a` (low) and `b` (high).
    Const,
    /// Input `a`.
    Input,
    Add,
    Sub,
    Mul,
    /// a·b, but 0 if a is 0, for any b: for derivatives of a branch that was not taken.
    Mask,
    Div,
    Neg,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Exp,
    Ln,
    Sinh,
    Cosh,
    Tanh,
    /// a to the constant power b.
    Pow,
    Abs,
    Min,
    Max,
    /// 1 if a < b, otherwise 0.
    Less,
    /// 1 if a ≤ b, otherwise 0.
    LessEqual,
    /// b if a is not 0, otherwise c.
    Select,
    /// Number of values in table `b` below a.
    Rank,
    /// Entry `c` of row a of table `b`.
    Cell,
    /// The same number, treated as constant in derivatives.
    Held,
}

impl Op {
    /// All operations, in order.
    pub const ALL: [Op; 31] = {
        use Op::*;
        [
            Const, Input, Add, Sub, Mul, Mask, Div, Neg, Sqrt, Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Exp,
            Ln, Sinh, Cosh, Tanh, Pow, Abs, Min, Max, Less, LessEqual, Select, Rank, Cell, Held,
        ]
    };

    /// Number of operands among `a`, `b`, `c`.
    pub fn arity(self) -> usize {
        match self {
            Op::Const | Op::Input => 0,
            Op::Add | Op::Sub | Op::Mul | Op::Mask | Op::Div | Op::Atan2 | Op::Pow => 2,
            Op::Min | Op::Max | Op::Less | Op::LessEqual => 2,
            Op::Select => 3,
            _ => 1,
        }
    }

    /// Whether it takes more than a few instructions.
    pub fn is_function(self) -> bool {
        use Op::*;
        matches!(
            self,
            Sin | Cos | Tan | Asin | Acos | Atan | Atan2 | Exp | Ln | Sinh | Cosh | Tanh | Pow | Rank | Cell
        )
    }

    /// Value for given operands, in f64. Not for inputs, constants, tables.
    pub fn compute(self, a: f64, b: f64, c: f64) -> f64 {
        let flag = |x: bool| f64::from(u8::from(x));
        match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Mask => {
                if a == 0.0 {
                    0.0
                } else {
                    a * b
                }
            }
            Op::Div => a / b,
            Op::Neg => -a,
            Op::Sqrt => a.sqrt(),
            Op::Sin => elementary::sin(a),
            Op::Cos => elementary::cos(a),
            Op::Tan => elementary::tan(a),
            Op::Asin => elementary::asin(a),
            Op::Acos => elementary::acos(a),
            Op::Atan => elementary::atan(a),
            Op::Atan2 => elementary::atan2(a, b),
            Op::Exp => elementary::exp(a),
            Op::Ln => elementary::ln(a),
            Op::Sinh => elementary::sinh(a),
            Op::Cosh => elementary::cosh(a),
            Op::Tanh => elementary::tanh(a),
            Op::Pow => elementary::powf(a, b),
            Op::Abs => a.abs(),
            Op::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Op::Max => {
                if b > a {
                    b
                } else {
                    a
                }
            }
            Op::Less => flag(a < b),
            Op::LessEqual => flag(a <= b),
            Op::Select => {
                if a != 0.0 {
                    b
                } else {
                    c
                }
            }
            Op::Held => a,
            Op::Const | Op::Input | Op::Rank | Op::Cell => f64::NAN,
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Operation.
    pub op: Op,
    /// First operand.
    pub a: u32,
    /// Second.
    pub b: u32,
    /// Third.
    pub c: u32,
}

impl Node {
    /// The operands that are nodes.
    pub fn operands(&self) -> impl Iterator<Item = u32> + use<> {
        [self.a, self.b, self.c].into_iter().take(self.op.arity())
    }

    /// The value of a constant.
    pub fn constant(&self) -> Option<f64> {
        (self.op == Op::Const).then(|| f64::from_bits(u64::from(self.a) | u64::from(self.b) << 32))
    }
}

/// A lookup table: increasing breakpoints, or rows of equal length in sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The numbers.
    pub values: Vec<f64>,
    /// Number of values per row; 1 for breakpoints.
    pub width: usize,
}

impl Table {
    /// Number of values below x.
    pub fn rank(&self, x: f64) -> f64 {
        self.values.partition_point(|b| x > *b) as f64
    }

    /// Entry of the row nearest to a number.
    pub fn cell(&self, row: f64, column: usize) -> f64 {
        let last = self.values.len() / self.width - 1;
        self.values[(row as usize).min(last) * self.width + column]
    }
}

/// A growing graph. Operands of a node precede it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// Part of the model for which each node was first recorded.
    pub parts: Vec<u32>,
    /// Lookup tables of the nodes.
    pub tables: Vec<Table>,
    /// Number of inputs.
    pub inputs: u32,
    /// Number of the part that is currently recorded.
    pub part: u32,
    /// Parts of reverse sweeps: for each part, the part whose sweep it is; [`NONE`] for others.
    pub sweeps: Vec<u32>,
    /// Number of requested operations.
    pub asked: usize,
    seen: HashMap<Node, u32>,
    known_tables: HashMap<(usize, Vec<u64>), u32>,
}

impl Graph {
    fn intern(&mut self, node: Node) -> u32 {
        if let Some(&i) = self.seen.get(&node) {
            return i;
        }
        let i = self.nodes.len() as u32;
        self.nodes.push(node);
        self.parts.push(self.part);
        self.seen.insert(node, i);
        i
    }

    /// Adds an input.
    pub fn input(&mut self) -> u32 {
        self.inputs += 1;
        self.intern(Node { op: Op::Input, a: self.inputs - 1, b: NONE, c: NONE })
    }

    /// Adds a constant.
    pub fn constant(&mut self, x: f64) -> u32 {
        // A zero has no sign here.
        let bits = if x == 0.0 { 0 } else { x.to_bits() };
        self.intern(Node { op: Op::Const, a: bits as u32, b: (bits >> 32) as u32, c: NONE })
    }

    /// Adds a table, or returns an equal one.
    pub fn table(&mut self, values: Vec<f64>, width: usize) -> u32 {
        let key = (width, values.iter().map(|v| v.to_bits()).collect());
        let next = self.tables.len() as u32;
        let tables = &mut self.tables;
        *self.known_tables.entry(key).or_insert_with(|| {
            tables.push(Table { values, width });
            next
        })
    }

    /// Values of all nodes for given inputs.
    pub fn values(&self, x: &[f64]) -> Vec<f64> {
        let mut v = vec![0.0; self.nodes.len()];
        for (i, n) in self.nodes.iter().enumerate() {
            let at = |k: u32| v.get(k as usize).copied().unwrap_or(0.0);
            v[i] = match n.op {
                Op::Const => n.constant().unwrap_or(f64::NAN),
                Op::Input => x[n.a as usize],
                Op::Rank => self.tables[n.b as usize].rank(at(n.a)),
                Op::Cell => self.tables[n.b as usize].cell(at(n.a), n.c as usize),
                op => op.compute(at(n.a), at(n.b), at(n.c)),
            };
        }
        v
    }

    /// Value of a node, if it is constant.
    pub fn value_of(&self, i: u32) -> Option<f64> {
        self.nodes[i as usize].constant()
    }

    /// Adds an operation with one operand.
    pub fn one(&mut self, op: Op, a: u32) -> u32 {
        self.asked += 1;
        if let Some(x) = self.value_of(a) {
            return self.constant(op.compute(x, 0.0, 0.0));
        }
        let inner = self.nodes[a as usize];
        match (op, inner.op) {
            (Op::Neg, Op::Neg) => return inner.a,
            (Op::Neg, Op::Sub) => return self.two(Op::Sub, inner.b, inner.a),
            (Op::Abs, Op::Neg) => return self.one(Op::Abs, inner.a),
            _ => {}
        }
        self.intern(Node { op, a, b: NONE, c: NONE })
    }

    /// Adds an operation with two operands.
    pub fn two(&mut self, op: Op, mut a: u32, mut b: u32) -> u32 {
        self.asked += 1;
        let (x, y) = (self.value_of(a), self.value_of(b));
        if let (Some(x), Some(y)) = (x, y) {
            return self.constant(op.compute(x, y, 0.0));
        }
        let negated = |g: &Graph, i: u32| {
            let n = g.nodes[i as usize];
            (n.op == Op::Neg).then_some(n.a)
        };
        match op {
            Op::Add => {
                if x == Some(0.0) {
                    return b;
                }
                if y == Some(0.0) {
                    return a;
                }
                if let Some(inner) = negated(self, b) {
                    return self.two(Op::Sub, a, inner);
                }
                if let Some(inner) = negated(self, a) {
                    return self.two(Op::Sub, b, inner);
                }
            }
            Op::Sub => {
                if y == Some(0.0) {
                    return a;
                }
                if x == Some(0.0) {
                    return self.one(Op::Neg, b);
                }
                if a == b {
                    return self.constant(0.0);
                }
                if let Some(y) = y {
                    let minus = self.constant(-y);
                    return self.two(Op::Add, a, minus);
                }
                if let Some(inner) = negated(self, b) {
                    return self.two(Op::Add, a, inner);
                }
            }
            Op::Mul | Op::Mask => {
                if x == Some(0.0) || y == Some(0.0) {
                    return self.constant(0.0);
                }
                if x == Some(1.0) {
                    return b;
                }
                if y == Some(1.0) {
                    return a;
                }
                if x == Some(-1.0) {
                    return self.one(Op::Neg, b);
                }
                if y == Some(-1.0) {
                    return self.one(Op::Neg, a);
                }
                if op == Op::Mul {
                    match (negated(self, a), negated(self, b)) {
                        (Some(a), Some(b)) => return self.two(Op::Mul, a, b),
                        (Some(inner), None) if y.is_none() => {
                            let product = self.two(Op::Mul, inner, b);
                            return self.one(Op::Neg, product);
                        }
                        (None, Some(inner)) if x.is_none() => {
                            let product = self.two(Op::Mul, a, inner);
                            return self.one(Op::Neg, product);
                        }
                        (Some(inner), None) => {
                            let minus = self.constant(-y.unwrap_or(0.0));
                            return self.two(Op::Mul, inner, minus);
                        }
                        (None, Some(inner)) => {
                            let minus = self.constant(-x.unwrap_or(0.0));
                            return self.two(Op::Mul, inner, minus);
                        }
                        (None, None) => {}
                    }
                }
            }
            Op::Div => {
                if x == Some(0.0) {
                    return self.constant(0.0);
                }
                // One rounding more, for a small part of the price.
                if let Some(y) = y {
                    let per = self.constant(1.0 / y);
                    return self.two(Op::Mul, a, per);
                }
            }
            Op::Min | Op::Max if a == b => return a,
            _ => {}
        }
        if matches!(op, Op::Add | Op::Mul) && a > b {
            (a, b) = (b, a);
        }
        self.intern(Node { op, a, b, c: NONE })
    }

    /// b if a is not 0, otherwise c.
    pub fn select(&mut self, a: u32, b: u32, c: u32) -> u32 {
        self.asked += 1;
        match self.value_of(a) {
            Some(x) if x != 0.0 => b,
            Some(_) => c,
            None if b == c => b,
            None => self.intern(Node { op: Op::Select, a, b, c }),
        }
    }

    /// Number of breakpoints of a table below a.
    pub fn rank(&mut self, a: u32, table: u32) -> u32 {
        if let Some(x) = self.value_of(a) {
            return self.constant(self.tables[table as usize].rank(x));
        }
        self.intern(Node { op: Op::Rank, a, b: table, c: NONE })
    }

    /// Entry of row a of a table.
    pub fn cell(&mut self, a: u32, table: u32, column: u32) -> u32 {
        let t = &self.tables[table as usize];
        if let Some(x) = self.value_of(a) {
            return self.constant(t.cell(x, column as usize));
        }
        // A column that is the same in all rows.
        let mut column_values = t.values.iter().skip(column as usize).step_by(t.width);
        let first = *column_values.next().unwrap_or(&f64::NAN);
        if column_values.all(|v| v.to_bits() == first.to_bits()) {
            return self.constant(first);
        }
        self.intern(Node { op: Op::Cell, a, b: table, c: column })
    }
}

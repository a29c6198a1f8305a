//! Compiles an expression with resolved names to a program of the expression evaluator.

use super::bind::{expanded, meaning};
use super::parse::MAX_CHAIN;
use super::{Expr, ExprKind, FormulaError, FormulaProblem as Problem, Meaning, Operator, Scope};
use crate::Real;
use crate::function::Function;
use crate::function::expression::program::{self, Call, Op};
use std::collections::HashMap;
use std::sync::Arc;

/// Longest program; some thousand members of groups.
const MAX_OPS: usize = 200_000;

/// Meanings that lead to other names are followed so often at most.
const MAX_MEANINGS: usize = 20;

/// A compiled expression of inputs: a number, or a vector of three.
///
/// ```
/// use soleus_math::formula::{Expr, Formula, Item, Meaning, Scope, Unknown};
///
/// struct Two;
/// impl Scope for Two {
///     fn resolve(&mut self, name: &str, _: Option<&str>) -> Result<Meaning, Unknown> {
///         match name {
///             "x" => Ok(Meaning::Number(0)),
///             "y" => Ok(Meaning::Number(1)),
///             _ => Err(Unknown::default()),
///         }
///     }
///     fn items(&mut self, _: &str) -> Vec<Item> {
///         Vec::new()
///     }
/// }
///
/// let f = Formula::new(&Expr::parse("max(x, y)^2")?, &mut Two)?;
/// let mut stack = vec![0.0; f.stack_len()];
/// assert_eq!(f.value(&[2.0, 3.0], &mut stack), 9.0);
/// # Ok::<(), soleus_math::formula::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    ops: Vec<Op>,
    tables: Vec<Function>,
    stack: usize,
    /// Where the results are.
    first: usize,
    width: usize,
    /// Places of the inputs that it depends on, rising.
    inputs: Vec<usize>,
}

impl Formula {
    /// Resolves the names and compiles the program.
    pub fn new(e: &Expr, scope: &mut dyn Scope) -> Result<Formula, FormulaError> {
        let e = resolved(e, scope, 0)?;
        let (nodes, known, tables, done) = (Vec::new(), HashMap::new(), Vec::new(), HashMap::new());
        Compiler { scope, nodes, known, tables, done }.formula(&e)
    }

    /// Number of values: one or three.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Size of the stack for evaluation.
    pub fn stack_len(&self) -> usize {
        self.stack
    }

    /// Indices of the inputs on which it depends, increasing.
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// Its value, if it is constant.
    pub fn constant(&self) -> Option<f64> {
        match (&self.ops[..], self.width) {
            ([Op::Constant(c)], 1) => Some(*c),
            _ => None,
        }
    }

    /// The value at the inputs `x` (the first component, for a vector); `stack` has at least
    /// [`stack_len`](Self::stack_len) entries.
    pub fn value<T: Real>(&self, x: &[T], stack: &mut [T]) -> T {
        program::run(&self.ops, &self.tables, &|i| x[i], stack);
        stack[self.first]
    }

    /// Computes the one or three values at the inputs `x`.
    pub fn evaluate<T: Real>(&self, x: &[T], stack: &mut [T], out: &mut [T]) {
        program::run(&self.ops, &self.tables, &|i| x[i], stack);
        out.copy_from_slice(&stack[self.first..self.first + self.width]);
    }
}

impl Expr {
    /// The expression with groups expanded, and names of expressions replaced by them.
    pub fn resolved(&self, scope: &mut dyn Scope) -> Result<Expr, FormulaError> {
        resolved(self, scope, 0)
    }
}

fn resolved(e: &Expr, scope: &mut dyn Scope, depth: usize) -> Result<Expr, FormulaError> {
    let refuse_deep = |e: &Expr| match e.depth() > MAX_CHAIN {
        true => Err(FormulaError::new(e.place(), Problem::TooBig("deeply nested"))),
        false => Ok(()),
    };
    refuse_deep(e)?;
    let e = expanded(e, scope)?;
    let new = e.replaced(&mut |part| {
        let ExprKind::Input(name, item) = part.kind() else { return Ok(None) };
        match meaning(part, name, item.as_deref(), scope)? {
            Meaning::Expr(e) if depth < MAX_MEANINGS => resolved(&e, scope, depth + 1).map(Some),
            Meaning::Expr(_) => Err(FormulaError::new(
                part.place(),
                Problem::TooBig("deeply nested: a name is defined by itself"),
            )),
            _ => Ok(None),
        }
    })?;
    refuse_deep(&new)?;
    Ok(new)
}

/// Instructions and the nodes that they work on.
type Node = (Op, [usize; 3]);

/// What a part of the tree is, by its nodes.
#[derive(Clone, Copy)]
enum Value {
    Number(usize),
    Vector([usize; 3]),
    Condition(usize),
}

impl Value {
    fn word(self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Vector(_) => "a vector",
            Value::Condition(_) => "a condition",
        }
    }
}

struct Compiler<'s> {
    scope: &'s mut dyn Scope,
    nodes: Vec<Node>,
    /// Nodes by what they do, so that equal ones are one.
    known: HashMap<(u64, u64, [usize; 3]), usize>,
    tables: Vec<Arc<Function>>,
    done: HashMap<usize, Value>,
}

/// What tells instructions apart.
fn signature(op: Op) -> (u64, u64) {
    match op {
        Op::Constant(c) => (0, c.to_bits()),
        Op::Variable(i) => (1, i as u64),
        Op::Local(i) => (2, i as u64),
        Op::Negate => (3, 0),
        Op::Add => (4, 0),
        Op::Subtract => (5, 0),
        Op::Multiply => (6, 0),
        Op::Divide => (7, 0),
        Op::Power => (8, 0),
        Op::PowerInteger(n) => (9, n as u64),
        Op::PowerConstant(p) => (10, p.to_bits()),
        Op::Call(f) => (11, f as u64),
        Op::Table(i) => (12, i as u64),
    }
}

impl Compiler<'_> {
    fn formula(mut self, e: &Expr) -> Result<Formula, FormulaError> {
        let results = match self.value(e)? {
            Value::Number(n) => vec![n],
            Value::Vector(v) => v.to_vec(),
            v @ Value::Condition(_) => return Err(wrong(e, "a formula", "a number or a vector", v)),
        };
        let (ops, stack, first) = self.program(&results);
        if ops.len() > MAX_OPS {
            return Err(FormulaError::new(e.place(), Problem::TooBig("long")));
        }
        let mut inputs: Vec<usize> = ops
            .iter()
            .filter_map(|op| match op {
                Op::Variable(i) => Some(*i),
                _ => None,
            })
            .collect();
        inputs.sort_unstable();
        inputs.dedup();
        let tables = self.tables.iter().map(|f| (**f).clone()).collect();
        Ok(Formula { ops, tables, stack, first, width: results.len(), inputs })
    }

    /// The node that does this; what has only constants to work on is worked out.
    fn node(&mut self, mut op: Op, mut of: [usize; 3]) -> usize {
        let constant = |n: usize| match self.nodes[n].0 {
            Op::Constant(c) => Some(c),
            _ => None,
        };
        let count = op.operands();
        if count > 0 && of[..count].iter().all(|&n| constant(n).is_some()) {
            let mut ops: Vec<Op> = of[..count].iter().map(|&n| self.nodes[n].0).collect();
            // Tables are taken as they come; they are few and cheap.
            if !matches!(op, Op::Table(_)) {
                ops.push(op);
                let mut stack = [0.0; 4];
                program::run(&ops, &[], &|_| f64::NAN, &mut stack);
                (op, of) = (Op::Constant(stack[0]), [0; 3]);
            }
        } else if op == Op::Power
            && let Some(p) = constant(of[1])
        {
            (op, of) = (Op::power_by(p), [of[0], 0, 0]);
        }
        let (a, b) = signature(op);
        let next = self.nodes.len();
        let at = *self.known.entry((a, b, of)).or_insert(next);
        if at == next {
            self.nodes.push((op, of));
        }
        at
    }

    fn constant(&mut self, c: f64) -> usize {
        self.node(Op::Constant(c), [0; 3])
    }
    fn one(&mut self, op: Op, a: usize) -> usize {
        self.node(op, [a, 0, 0])
    }
    fn two(&mut self, op: Op, a: usize, b: usize) -> usize {
        self.node(op, [a, b, 0])
    }

    /// The nodes of a part, made once.
    fn value(&mut self, e: &Expr) -> Result<Value, FormulaError> {
        if let Some(v) = self.done.get(&e.key()) {
            return Ok(*v);
        }
        let v = self.new_value(e)?;
        self.done.insert(e.key(), v);
        Ok(v)
    }

    fn number(&mut self, e: &Expr, whose: &str) -> Result<usize, FormulaError> {
        match self.value(e)? {
            Value::Number(n) => Ok(n),
            other => Err(wrong(e, whose, "a number", other)),
        }
    }

    fn vector(&mut self, e: &Expr, whose: &str) -> Result<[usize; 3], FormulaError> {
        match self.value(e)? {
            Value::Vector(v) => Ok(v),
            other => Err(wrong(e, whose, "a vector", other)),
        }
    }

    fn condition(&mut self, e: &Expr, whose: &str) -> Result<usize, FormulaError> {
        match self.value(e)? {
            Value::Condition(n) => Ok(n),
            other => Err(wrong(e, whose, "a condition such as `a < b`", other)),
        }
    }

    /// One instruction on each component of one or two vectors, or on numbers.
    fn each(&mut self, op: Op, a: Value, b: Option<Value>) -> Option<Value> {
        Some(match (a, b) {
            (Value::Number(a), None) => Value::Number(self.one(op, a)),
            (Value::Vector(a), None) => Value::Vector(a.map(|a| self.one(op, a))),
            (Value::Number(a), Some(Value::Number(b))) => Value::Number(self.two(op, a, b)),
            (Value::Vector(a), Some(Value::Vector(b))) => {
                Value::Vector([0, 1, 2].map(|i| self.two(op, a[i], b[i])))
            }
            _ => return None,
        })
    }

    fn new_value(&mut self, e: &Expr) -> Result<Value, FormulaError> {
        Ok(match e.kind() {
            ExprKind::Number(x) => Value::Number(self.constant(*x)),
            ExprKind::Vector([x, y, z]) => {
                Value::Vector([self.number(x, "`[…]`")?, self.number(y, "`[…]`")?, self.number(z, "`[…]`")?])
            }
            ExprKind::Input(name, item) => match meaning(e, name, item.as_deref(), self.scope)? {
                Meaning::Number(i) => Value::Number(self.node(Op::Variable(i), [0; 3])),
                Meaning::Vector(i) => {
                    Value::Vector([0, 1, 2].map(|k| self.node(Op::Variable(i + k), [0; 3])))
                }
                // All of these were replaced before.
                Meaning::Expr(_) => {
                    return Err(FormulaError::new(e.place(), Problem::TooBig("deeply nested")));
                }
            },
            ExprKind::Component(v, i) => {
                let whose = ["`.x`", "`.y`", "`.z`"][*i];
                Value::Number(self.vector(v, whose)?[*i])
            }
            ExprKind::Negate(a) => match self.value(a)? {
                v @ Value::Condition(_) => return Err(wrong(a, "`-`", "a number or a vector", v)),
                v => self.each(Op::Negate, v, None).unwrap_or(v),
            },
            ExprKind::Not(a) => {
                let a = self.condition(a, "`not`")?;
                Value::Condition(self.one(Op::Call(Call::Not), a))
            }
            ExprKind::Sum(list) => self.sum(list)?,
            ExprKind::Binary(o, a, b) => self.binary(*o, a, b)?,
            ExprKind::Call(name, list) => self.call(name, list)?,
            ExprKind::Table(_, function, of) => {
                let of = self.number(of, "a table")?;
                let known = self.tables.iter().position(|f| Arc::ptr_eq(f, function));
                let i = known.unwrap_or(self.tables.len());
                if known.is_none() {
                    self.tables.push(function.clone());
                }
                Value::Number(self.one(Op::Table(i), of))
            }
            ExprKind::Group(r, _) => return Err(FormulaError::new(e.place(), Problem::NoGroup(r.word()))),
            ExprKind::OverTime(t, _) => {
                return Err(FormulaError::new(e.place(), Problem::NotAtAPoint(t.word())));
            }
        })
    }

    fn sum(&mut self, list: &[Expr]) -> Result<Value, FormulaError> {
        let mut total: Option<Value> = None;
        for e in list {
            // a − b is one instruction.
            let (op, e) = match (e.kind(), &total) {
                (ExprKind::Negate(a), Some(_)) => (Op::Subtract, a),
                _ => (Op::Add, e),
            };
            let v = self.value(e)?;
            if let Value::Condition(_) = v {
                return Err(wrong(e, "a sum", "a number or a vector", v));
            }
            total = Some(match total {
                None => v,
                Some(t) => self.each(op, t, Some(v)).ok_or_else(|| {
                    let needed = if let Value::Vector(_) = t { "another vector" } else { "another number" };
                    wrong(e, "a sum", needed, v)
                })?,
            });
        }
        match total {
            Some(v) => Ok(v),
            None => Ok(Value::Number(self.constant(0.0))),
        }
    }

    fn binary(&mut self, o: Operator, a: &Expr, b: &Expr) -> Result<Value, FormulaError> {
        let compare = |c: &mut Self, call: Call, sign: &str| {
            let (a, b) = (c.number(a, sign)?, c.number(b, sign)?);
            Ok::<usize, FormulaError>(c.two(Op::Call(call), a, b))
        };
        Ok(match o {
            Operator::Multiply => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                match (x, y) {
                    (Value::Number(x), Value::Number(y)) => Value::Number(self.two(Op::Multiply, x, y)),
                    (Value::Number(x), Value::Vector(y)) => {
                        Value::Vector(y.map(|y| self.two(Op::Multiply, x, y)))
                    }
                    (Value::Vector(x), Value::Number(y)) => {
                        Value::Vector(x.map(|x| self.two(Op::Multiply, x, y)))
                    }
                    (Value::Vector(_), _) => {
                        return Err(wrong(
                            b,
                            "`*` after a vector",
                            "a number (or write dot(a, b), cross(a, b))",
                            y,
                        ));
                    }
                    _ => {
                        let (e, v) = if let Value::Condition(_) = x { (a, x) } else { (b, y) };
                        return Err(wrong(e, "`*`", "a number or a vector", v));
                    }
                }
            }
            Operator::Divide => {
                let y = self.number(b, "`/`")?;
                match self.value(a)? {
                    Value::Number(x) => Value::Number(self.two(Op::Divide, x, y)),
                    Value::Vector(x) => Value::Vector(x.map(|x| self.two(Op::Divide, x, y))),
                    v @ Value::Condition(_) => return Err(wrong(a, "`/`", "a number or a vector", v)),
                }
            }
            Operator::Power => {
                let (x, y) = (self.number(a, "`^`")?, self.number(b, "`^`")?);
                Value::Number(self.two(Op::Power, x, y))
            }
            Operator::Less => Value::Condition(compare(self, Call::Less, "`<`")?),
            Operator::LessEqual => Value::Condition(compare(self, Call::LessEqual, "`<=`")?),
            Operator::Equal => Value::Condition(compare(self, Call::Equal, "`==`")?),
            Operator::NotEqual => {
                let equal = compare(self, Call::Equal, "`!=`")?;
                Value::Condition(self.one(Op::Call(Call::Not), equal))
            }
            Operator::And | Operator::Or => {
                let (word, call) = if o == Operator::And { ("`and`", Call::And) } else { ("`or`", Call::Or) };
                let (x, y) = (self.condition(a, word)?, self.condition(b, word)?);
                Value::Condition(self.two(Op::Call(call), x, y))
            }
        })
    }

    fn dot(&mut self, a: [usize; 3], b: [usize; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|i| self.two(Op::Multiply, a[i], b[i]));
        let xy = self.two(Op::Add, x, y);
        self.two(Op::Add, xy, z)
    }

    fn call(&mut self, name: &'static str, list: &[Expr]) -> Result<Value, FormulaError> {
        let whose = format!("`{name}`");
        match name {
            "where" => {
                let c = self.condition(&list[0], "the first argument of `where`")?;
                let (a, b) = (self.value(&list[1])?, self.value(&list[2])?);
                let mut pick = |a, b| self.node(Op::Call(Call::Select), [c, a, b]);
                return Ok(match (a, b) {
                    (Value::Number(a), Value::Number(b)) => Value::Number(pick(a, b)),
                    (Value::Vector(a), Value::Vector(b)) => {
                        Value::Vector([0, 1, 2].map(|i| pick(a[i], b[i])))
                    }
                    (Value::Number(_), _) => return Err(wrong(&list[2], "`where`", "another number", b)),
                    (Value::Vector(_), _) => return Err(wrong(&list[2], "`where`", "another vector", b)),
                    _ => return Err(wrong(&list[1], "`where`", "a number or a vector", a)),
                });
            }
            "dot" => {
                let (a, b) = (self.vector(&list[0], &whose)?, self.vector(&list[1], &whose)?);
                return Ok(Value::Number(self.dot(a, b)));
            }
            "norm" => {
                let a = self.vector(&list[0], &whose)?;
                let square = self.dot(a, a);
                return Ok(Value::Number(self.one(Op::Call(Call::Sqrt), square)));
            }
            "cross" => {
                let (a, b) = (self.vector(&list[0], &whose)?, self.vector(&list[1], &whose)?);
                return Ok(Value::Vector([(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
                    let (p, q) = (self.two(Op::Multiply, a[i], b[j]), self.two(Op::Multiply, a[j], b[i]));
                    self.two(Op::Subtract, p, q)
                })));
            }
            _ => {}
        }
        let mut x = Vec::new();
        for e in list {
            x.push(self.number(e, &whose)?);
        }
        let (a, b) = (x[0], x.get(1).copied());
        let call = |c: &mut Self, f: Call, a: usize, b: usize| c.two(Op::Call(f), a, b);
        Ok(Value::Number(match name {
            "min" | "max" => {
                let f = if name == "min" { Call::Min } else { Call::Max };
                x[1..].iter().fold(a, |a, &b| call(self, f, a, b))
            }
            "atan2" => call(self, Call::Atan2, a, b.unwrap_or(a)),
            "hypot" => {
                let b = b.unwrap_or(a);
                let (p, q) = (self.two(Op::Multiply, a, a), self.two(Op::Multiply, b, b));
                let sum = self.two(Op::Add, p, q);
                self.one(Op::Call(Call::Sqrt), sum)
            }
            "smooth_abs" => {
                let w = b.unwrap_or(a);
                let (p, q) = (self.two(Op::Multiply, a, a), self.two(Op::Multiply, w, w));
                let sum = self.two(Op::Add, p, q);
                self.one(Op::Call(Call::Sqrt), sum)
            }
            "clamp" => {
                let raised = call(self, Call::Max, a, x[1]);
                call(self, Call::Min, raised, x[2])
            }
            "softplus" => {
                let s = b.unwrap_or_else(|| self.constant(1.0));
                call(self, Call::Softplus, a, s)
            }
            "smooth_max" | "smooth_min" => {
                let b = x[1];
                let s = x.get(2).copied().unwrap_or_else(|| self.constant(1.0));
                // max(a, b) = b + max(a − b, 0); min(a, b) = b − max(b − a, 0).
                let up = name == "smooth_max";
                let over = if up { self.two(Op::Subtract, a, b) } else { self.two(Op::Subtract, b, a) };
                let soft = call(self, Call::Softplus, over, s);
                self.two(if up { Op::Add } else { Op::Subtract }, b, soft)
            }
            "smooth_step" => {
                let s = b.unwrap_or_else(|| self.constant(1.0));
                let y = self.two(Op::Multiply, a, s);
                let (t, one, half) =
                    (self.one(Op::Call(Call::Tanh), y), self.constant(1.0), self.constant(0.5));
                let sum = self.two(Op::Add, t, one);
                self.two(Op::Multiply, sum, half)
            }
            "log10" => {
                let (log, by) = (self.one(Op::Call(Call::Log), a), self.constant(std::f64::consts::LN_10));
                self.two(Op::Divide, log, by)
            }
            "sign" => {
                let (up, minus) = (self.one(Op::Call(Call::Step), a), self.one(Op::Negate, a));
                let down = self.one(Op::Call(Call::Step), minus);
                self.two(Op::Subtract, up, down)
            }
            "degrees" | "radians" => {
                let factor = if name == "degrees" { 1f64.to_degrees() } else { 1f64.to_radians() };
                let factor = self.constant(factor);
                self.two(Op::Multiply, a, factor)
            }
            _ => {
                // All others are words of expressions too, of one argument.
                let f = Call::from_name(name).filter(|f| f.arguments() == 1).unwrap_or(Call::Abs);
                self.one(Op::Call(f), a)
            }
        }))
    }

    /// Instructions that leave the results on the stack: nodes that are used several times are worked out first and stay.
    /// With the height of the stack and where the results begin.
    fn program(&self, results: &[usize]) -> (Vec<Op>, usize, usize) {
        let operands = |n: usize| &self.nodes[n].1[..self.nodes[n].0.operands()];
        // How often nodes are used by those that are needed; operands have smaller numbers.
        let mut uses = vec![0_usize; self.nodes.len()];
        results.iter().for_each(|&r| uses[r] += 1);
        for n in (0..self.nodes.len()).rev() {
            if uses[n] > 0 {
                operands(n).iter().for_each(|&o| uses[o] += 1);
            }
        }
        let mut ops = Vec::new();
        let (mut height, mut highest) = (0_usize, 1_usize);
        let mut place = vec![None; self.nodes.len()];
        let mut emit = |root: usize, place: &[Option<usize>], height: &mut usize| {
            enum Task {
                Reach(usize),
                Do(Op),
            }
            let mut tasks = vec![Task::Reach(root)];
            while let Some(task) = tasks.pop() {
                let op = match task {
                    Task::Do(op) => op,
                    Task::Reach(n) => match place[n] {
                        Some(at) => Op::Local(at),
                        None => {
                            tasks.push(Task::Do(self.nodes[n].0));
                            tasks.extend(operands(n).iter().rev().map(|&o| Task::Reach(o)));
                            continue;
                        }
                    },
                };
                *height = *height + 1 - op.operands();
                highest = highest.max(*height);
                ops.push(op);
            }
        };
        for n in 0..self.nodes.len() {
            if uses[n] > 1 && self.nodes[n].0.operands() > 0 {
                emit(n, &place, &mut height);
                place[n] = Some(height - 1);
            }
        }
        let first = height;
        results.iter().for_each(|&r| emit(r, &place, &mut height));
        (ops, highest, first)
    }
}

fn wrong(e: &Expr, whose: &str, needed: &'static str, found: Value) -> FormulaError {
    let problem = Problem::WrongType { whose: whose.to_string(), needed, found: found.word() };
    FormulaError::new(e.place(), problem)
}

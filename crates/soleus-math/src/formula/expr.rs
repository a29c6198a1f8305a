//! Expressions as trees.

use super::{FormulaError, FormulaProblem as Problem};
use crate::function::{Function, GcvSpline, PiecewiseLinear};
use crate::names::nearest_name;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// Line and column, from 1; both 0 without text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// An expression. Clones share their parts, and a part that is used several times is evaluated once.
///
/// ```
/// use soleus_math::formula::Expr;
///
/// let a = Expr::item("activation", "soleus_r");
/// let e = a.clone().pow(2.0) + Expr::call("sin", vec![a])? * 0.5;
/// assert_eq!(e.to_string(), "activation[soleus_r] ^ 2 + sin(activation[soleus_r]) * 0.5");
/// assert_eq!(e, Expr::parse("activation[soleus_r]^2 + sin(activation[soleus_r])*0.5")?);
/// # Ok::<(), soleus_math::formula::FormulaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expr(Arc<Node>);

#[derive(Debug)]
struct Node {
    kind: ExprKind,
    place: Place,
    /// Longest way to a leaf.
    depth: u32,
}

impl Drop for Node {
    /// Frees what nothing else uses one after the other: recursion would run out of stack on the long chains that programs build.
    fn drop(&mut self) {
        let mut list = Vec::new();
        take_parts(&mut self.kind, &mut list);
        while let Some(mut e) = list.pop() {
            if let Some(node) = Arc::get_mut(&mut e.0) {
                take_parts(&mut node.kind, &mut list);
            }
        }
    }
}

/// Moves the parts of an expression to a list.
fn take_parts(kind: &mut ExprKind, list: &mut Vec<Expr>) {
    match std::mem::replace(kind, ExprKind::Number(0.0)) {
        ExprKind::Number(_) | ExprKind::Input(..) => {}
        ExprKind::Vector(parts) => list.extend(parts),
        ExprKind::Sum(parts) | ExprKind::Call(_, parts) => list.extend(parts),
        ExprKind::Component(e, _)
        | ExprKind::Negate(e)
        | ExprKind::Not(e)
        | ExprKind::Table(_, _, e)
        | ExprKind::Group(_, e)
        | ExprKind::OverTime(_, e) => list.push(e),
        ExprKind::Binary(_, a, b) => list.extend([a, b]),
    }
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Operator {
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// Reduction of the members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Reduction {
    Sum,
    Mean,
    Min,
    Max,
}

impl Reduction {
    /// Name.
    pub fn word(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Mean => "mean",
            Reduction::Min => "min",
            Reduction::Max => "max",
        }
    }
}

/// Operation on an expression over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUse {
    /// Its value at the initial time.
    Initial,
    /// Its value at the final time.
    Final,
    /// Its integral.
    Integral,
    /// Its mean: the integral divided by the duration.
    Average,
}

impl TimeUse {
    /// All of them.
    pub const ALL: [TimeUse; 4] = [TimeUse::Initial, TimeUse::Final, TimeUse::Integral, TimeUse::Average];

    /// Name.
    pub fn word(self) -> &'static str {
        match self {
            TimeUse::Initial => "initial",
            TimeUse::Final => "final",
            TimeUse::Integral => "integral",
            TimeUse::Average => "average",
        }
    }
}

/// Interpolation of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableKind {
    /// Linear interpolation of points (x, y).
    Linear(Vec<f64>, Vec<f64>),
    /// A natural cubic spline through points (x, y).
    Spline(Vec<f64>, Vec<f64>),
    /// A function of a program; it has no text form.
    Given,
}

/// Kind of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number.
    Number(f64),
    /// A vector of three.
    Vector([Expr; 3]),
    /// A quantity by name, optionally of an object.
    Input(String, Option<String>),
    /// A component of a vector: 0, 1, 2.
    Component(Expr, usize),
    /// −a.
    Negate(Expr),
    /// Not a.
    Not(Expr),
    /// a + b + …
    Sum(Vec<Expr>),
    /// A binary operation.
    Binary(Operator, Expr, Expr),
    /// A function by name.
    Call(&'static str, Vec<Expr>),
    /// A function of one variable.
    Table(TableKind, Arc<Function>, Expr),
    /// A reduction over the members of a group.
    Group(Reduction, Expr),
    /// An operation over time.
    OverTime(TimeUse, Expr),
}

/// Functions with their numbers of arguments: least, most.
const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("sqrt", 1, 1),
    ("exp", 1, 1),
    ("log", 1, 1),
    ("log10", 1, 1),
    ("sin", 1, 1),
    ("cos", 1, 1),
    ("tan", 1, 1),
    ("sec", 1, 1),
    ("csc", 1, 1),
    ("cot", 1, 1),
    ("asin", 1, 1),
    ("acos", 1, 1),
    ("atan", 1, 1),
    ("sinh", 1, 1),
    ("cosh", 1, 1),
    ("tanh", 1, 1),
    ("erf", 1, 1),
    ("erfc", 1, 1),
    ("abs", 1, 1),
    ("square", 1, 1),
    ("cube", 1, 1),
    ("recip", 1, 1),
    ("step", 1, 1),
    ("delta", 1, 1),
    ("floor", 1, 1),
    ("ceil", 1, 1),
    ("sign", 1, 1),
    ("degrees", 1, 1),
    ("radians", 1, 1),
    ("atan2", 2, 2),
    ("hypot", 2, 2),
    ("min", 2, usize::MAX),
    ("max", 2, usize::MAX),
    ("clamp", 3, 3),
    ("softplus", 1, 2),
    ("smooth_max", 2, 3),
    ("smooth_min", 2, 3),
    ("smooth_abs", 2, 2),
    ("smooth_step", 1, 2),
    ("where", 3, 3),
    ("dot", 2, 2),
    ("cross", 2, 2),
    ("norm", 1, 1),
];

/// Names of everything that is called, for messages.
fn callable() -> impl Iterator<Item = &'static str> {
    let others = ["ln", "sum", "mean", "linear", "spline"].into_iter();
    FUNCTIONS.iter().map(|f| f.0).chain(others).chain(TimeUse::ALL.map(TimeUse::word))
}

impl Expr {
    pub(super) fn make(kind: ExprKind, place: Place) -> Expr {
        let mut depth = 0;
        each_part(&kind, &mut |e| depth = depth.max(e.0.depth + 1));
        Expr(Arc::new(Node { kind, place, depth }))
    }

    fn plain(kind: ExprKind) -> Expr {
        Expr::make(kind, Place::default())
    }

    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Expr, FormulaError> {
        super::parse::parse(text)
    }

    /// A number.
    pub fn number(x: f64) -> Expr {
        // Zero has no sign, which would get lost in the text.
        Expr::plain(ExprKind::Number(x + 0.0))
    }

    /// A quantity by name: `time`.
    pub fn input(name: impl Into<String>) -> Expr {
        Expr::plain(ExprKind::Input(name.into(), None))
    }

    /// A quantity of one object, or of those that match a pattern: `activation[soleus_r]`.
    pub fn item(name: impl Into<String>, item: impl Into<String>) -> Expr {
        Expr::plain(ExprKind::Input(name.into(), Some(item.into())))
    }

    /// A vector.
    pub fn vector(x: Expr, y: Expr, z: Expr) -> Expr {
        Expr::plain(ExprKind::Vector([x, y, z]))
    }

    /// A component of a vector: 0, 1 or 2.
    pub fn component(self, axis: usize) -> Expr {
        Expr::plain(ExprKind::Component(self, axis.min(2)))
    }

    /// self ^ exponent.
    pub fn pow(self, exponent: impl Into<Expr>) -> Expr {
        self.binary(Operator::Power, exponent)
    }

    /// A binary operation; `a > b` is `b < a`.
    pub fn binary(self, operator: Operator, other: impl Into<Expr>) -> Expr {
        Expr::plain(ExprKind::Binary(operator, self, other.into()))
    }

    /// The negation of a condition.
    pub fn negated_condition(self) -> Expr {
        Expr::plain(ExprKind::Not(self))
    }

    /// `yes` if the condition holds, otherwise `no`.
    pub fn choose(condition: Expr, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
        Expr::plain(ExprKind::Call("where", vec![condition, yes.into(), no.into()]))
    }

    /// A function by its name in the language, including groups, `integral` and similar functions.
    pub fn call(name: &str, arguments: Vec<Expr>) -> Result<Expr, FormulaError> {
        Expr::call_at(name, arguments, Place::default())
    }

    pub(super) fn call_at(name: &str, mut arguments: Vec<Expr>, place: Place) -> Result<Expr, FormulaError> {
        let found = arguments.len();
        let wrong = |needed| {
            Err(FormulaError::new(place, Problem::WrongArguments { name: name.to_string(), needed, found }))
        };
        let reductions = [Reduction::Sum, Reduction::Mean, Reduction::Min, Reduction::Max];
        if found == 1 {
            let group = reductions.into_iter().find(|r| r.word() == name);
            let over = TimeUse::ALL.into_iter().find(|t| t.word() == name);
            let only = arguments.remove(0);
            match (group, over) {
                (Some(r), _) => return Ok(Expr::make(ExprKind::Group(r, only), place)),
                (_, Some(t)) => return Ok(Expr::make(ExprKind::OverTime(t, only), place)),
                _ => arguments.push(only),
            }
        }
        match name {
            "ln" => return Expr::call_at("log", arguments, place),
            "sum" if found > 1 => return Ok(Expr::make(ExprKind::Sum(arguments), place)),
            "mean" if found > 1 => {
                let sum = Expr::make(ExprKind::Sum(arguments), place);
                let count = Expr::make(ExprKind::Number(found as f64), place);
                return Ok(Expr::make(ExprKind::Binary(Operator::Divide, sum, count), place));
            }
            "sum" | "mean" => return wrong("at least one argument"),
            "linear" | "spline" => return wrong("a variable and two lists of numbers"),
            _ if TimeUse::ALL.iter().any(|t| t.word() == name) => return wrong("one argument"),
            _ => {}
        }
        let Some(&(word, least, most)) = FUNCTIONS.iter().find(|f| f.0 == name) else {
            let nearest = nearest_name(name, callable(), 3).map(str::to_string);
            let problem = Problem::UnknownFunction { name: name.to_string(), nearest };
            return Err(FormulaError::new(place, problem));
        };
        if found < least || found > most {
            return wrong(match (least, most) {
                (1, 1) => "one argument",
                (1, _) => "one or two arguments",
                (2, 2) => "two arguments",
                (2, 3) => "two or three arguments",
                (2, _) => "at least two arguments",
                _ => "three arguments",
            });
        }
        Ok(Expr::make(ExprKind::Call(word, arguments), place))
    }

    /// Linear interpolation of the points (x, y), at `of`.
    pub fn linear(of: Expr, x: Vec<f64>, y: Vec<f64>) -> Result<Expr, FormulaError> {
        Expr::table_at(of, TableKind::Linear(x, y), Place::default())
    }

    /// A natural cubic spline through the points (x, y), at `of`.
    pub fn spline(of: Expr, x: Vec<f64>, y: Vec<f64>) -> Result<Expr, FormulaError> {
        Expr::table_at(of, TableKind::Spline(x, y), Place::default())
    }

    pub(super) fn table_at(of: Expr, kind: TableKind, place: Place) -> Result<Expr, FormulaError> {
        let function = match &kind {
            TableKind::Linear(x, y) => PiecewiseLinear::new(x.clone(), y.clone()).map(Function::from),
            TableKind::Spline(x, y) if x.len() != y.len() || x.len() < 4 => {
                PiecewiseLinear::new(x.clone(), y.clone()).map(Function::from)
            }
            TableKind::Spline(x, y) => GcvSpline::interpolate(3, x.clone(), y).map(Function::from),
            TableKind::Given => Ok(Function::Constant(f64::NAN)),
        };
        match function {
            Ok(f) => Ok(Expr::make(ExprKind::Table(kind, Arc::new(f), of), place)),
            Err(e) => Err(FormulaError::new(place, Problem::BadTable(e.to_string()))),
        }
    }

    /// A function of one variable, at `of`. It has no text form.
    pub fn of_function(function: Arc<Function>, of: Expr) -> Expr {
        Expr::plain(ExprKind::Table(TableKind::Given, function, of))
    }

    /// Kind.
    pub fn kind(&self) -> &ExprKind {
        &self.0.kind
    }

    /// Position in the text.
    pub fn place(&self) -> Place {
        self.0.place
    }

    /// Longest way from it to a number or a name.
    pub(super) fn depth(&self) -> usize {
        self.0.depth as usize
    }

    /// Whether both are the same object.
    pub(super) fn key(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The expression with parts replaced, outermost first: `f` returns the replacement of a part, or `None` to
    /// continue inside it. Shared parts remain shared.
    pub fn replaced<E>(&self, f: &mut dyn FnMut(&Expr) -> Result<Option<Expr>, E>) -> Result<Expr, E> {
        self.replaced_once(f, &mut HashMap::new())
    }

    fn replaced_once<E>(
        &self,
        f: &mut dyn FnMut(&Expr) -> Result<Option<Expr>, E>,
        done: &mut HashMap<usize, Expr>,
    ) -> Result<Expr, E> {
        if let Some(e) = done.get(&self.key()) {
            return Ok(e.clone());
        }
        let new = match f(self)? {
            Some(e) => e,
            None => {
                let mut same = true;
                let mut part = |e: &Expr| -> Result<Expr, E> {
                    let new = e.replaced_once(f, done)?;
                    same &= new.key() == e.key();
                    Ok(new)
                };
                let kind = match self.kind() {
                    ExprKind::Number(_) | ExprKind::Input(..) => return Ok(self.clone()),
                    ExprKind::Vector([x, y, z]) => ExprKind::Vector([part(x)?, part(y)?, part(z)?]),
                    ExprKind::Component(e, i) => ExprKind::Component(part(e)?, *i),
                    ExprKind::Negate(e) => ExprKind::Negate(part(e)?),
                    ExprKind::Not(e) => ExprKind::Not(part(e)?),
                    ExprKind::Sum(list) => ExprKind::Sum(list.iter().map(part).collect::<Result<_, E>>()?),
                    ExprKind::Binary(o, a, b) => ExprKind::Binary(*o, part(a)?, part(b)?),
                    ExprKind::Call(n, list) => {
                        ExprKind::Call(n, list.iter().map(part).collect::<Result<_, E>>()?)
                    }
                    ExprKind::Table(k, function, e) => ExprKind::Table(k.clone(), function.clone(), part(e)?),
                    ExprKind::Group(r, e) => ExprKind::Group(*r, part(e)?),
                    ExprKind::OverTime(t, e) => ExprKind::OverTime(*t, part(e)?),
                };
                match kind {
                    _ if same => self.clone(),
                    // As the parser has it.
                    ExprKind::Negate(e) if matches!(e.kind(), ExprKind::Number(_)) => -e,
                    kind => Expr::make(kind, self.place()),
                }
            }
        };
        done.insert(self.key(), new.clone());
        Ok(new)
    }

    /// Calls `f` once for every part, children before parents.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        let mut seen = std::collections::HashSet::new();
        // What is to be looked into, and what has been; a list in place of recursion, for expressions of any depth.
        let mut tasks = vec![(self.clone(), false)];
        while let Some((e, is_done)) = tasks.pop() {
            if is_done {
                f(&e);
            } else if seen.insert(e.key()) {
                let first = tasks.len();
                tasks.push((e.clone(), true));
                each_part(e.kind(), &mut |part| tasks.push((part.clone(), false)));
                tasks[first + 1..].reverse();
            }
        }
    }
}

/// Calls `f` on the parts of an expression.
pub(super) fn each_part(kind: &ExprKind, f: &mut dyn FnMut(&Expr)) {
    match kind {
        ExprKind::Number(_) | ExprKind::Input(..) => {}
        ExprKind::Vector(list) => list.iter().for_each(f),
        ExprKind::Sum(list) | ExprKind::Call(_, list) => list.iter().for_each(f),
        ExprKind::Component(e, _)
        | ExprKind::Negate(e)
        | ExprKind::Not(e)
        | ExprKind::Table(_, _, e)
        | ExprKind::Group(_, e)
        | ExprKind::OverTime(_, e) => f(e),
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(f),
    }
}

impl PartialEq for Expr {
    /// Whether both say the same, wherever they were written.
    fn eq(&self, other: &Expr) -> bool {
        self.key() == other.key() || self.kind() == other.kind()
    }
}

impl From<f64> for Expr {
    fn from(x: f64) -> Expr {
        Expr::number(x)
    }
}

impl Expr {
    /// a + b; sums of sums are one sum, so that long ones do not nest.
    pub(super) fn plus(self, other: Expr, place: Place) -> Expr {
        let is_sum = matches!(self.kind(), ExprKind::Sum(_));
        let depth = (self.0.depth + u32::from(!is_sum)).max(other.0.depth + 1);
        let mut own = self;
        let mut list = match Arc::get_mut(&mut own.0) {
            Some(Node { kind: ExprKind::Sum(list), .. }) => std::mem::take(list),
            _ => match own.kind() {
                ExprKind::Sum(list) => list.clone(),
                _ => vec![own],
            },
        };
        list.push(other);
        Expr(Arc::new(Node { kind: ExprKind::Sum(list), place, depth }))
    }
}

impl<R: Into<Expr>> Add<R> for Expr {
    type Output = Expr;
    fn add(self, other: R) -> Expr {
        self.plus(other.into(), Place::default())
    }
}
impl<R: Into<Expr>> Sub<R> for Expr {
    type Output = Expr;
    fn sub(self, other: R) -> Expr {
        self.plus(-other.into(), Place::default())
    }
}
impl<R: Into<Expr>> Mul<R> for Expr {
    type Output = Expr;
    fn mul(self, other: R) -> Expr {
        self.binary(Operator::Multiply, other)
    }
}
impl<R: Into<Expr>> Div<R> for Expr {
    type Output = Expr;
    fn div(self, other: R) -> Expr {
        self.binary(Operator::Divide, other)
    }
}
impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        match self.kind() {
            ExprKind::Number(x) => Expr::number(0.0 - x),
            _ => Expr::plain(ExprKind::Negate(self)),
        }
    }
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expr, D::Error> {
        let text = String::deserialize(deserializer)?;
        Expr::parse(&text).map_err(de::Error::custom)
    }
}

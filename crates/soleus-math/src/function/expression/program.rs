//! The program an expression or a [`Formula`](crate::formula::Formula) becomes, and the machine that runs it.

use super::super::Function;
use crate::Real;
use crate::elementary;

/// Most numbers the machine holds at a time: results of definitions and operands that wait.
/// The stack is an array of this size, so that running allocates nothing.
pub(crate) const STACK: usize = 32;

/// Longest program; far above any formula of a model.
pub(super) const MAX_OPS: usize = 10_000;

/// One instruction: takes its operands off the stack and puts its result there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Constant(f64),
    /// Value of a variable.
    Variable(usize),
    /// Copy of a result lower in the stack: the value of a definition.
    Local(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    PowerInteger(i32),
    PowerConstant(f64),
    Call(Call),
    /// A function of one variable, by its place in the list that comes with the program.
    Table(usize),
}

/// Functions by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Sec,
    Csc,
    Tan,
    Cot,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Erf,
    Erfc,
    Step,
    Delta,
    Square,
    Cube,
    Recip,
    Abs,
    Floor,
    Ceil,
    Min,
    Max,
    Atan2,
    Select,
    // What follows has no name in expressions; formulas have operators for it.
    /// 1 where a < b, else 0; and so on.
    Less,
    LessEqual,
    Equal,
    And,
    Or,
    Not,
    /// ln(1 + exp(b a))/b.
    Softplus,
}

impl Call {
    /// The function of this name.
    pub(crate) fn from_name(name: &str) -> Option<Call> {
        Some(match name {
            "sqrt" => Call::Sqrt,
            "exp" => Call::Exp,
            "log" => Call::Log,
            "sin" => Call::Sin,
            "cos" => Call::Cos,
            "sec" => Call::Sec,
            "csc" => Call::Csc,
            "tan" => Call::Tan,
            "cot" => Call::Cot,
            "asin" => Call::Asin,
            "acos" => Call::Acos,
            "atan" => Call::Atan,
            "sinh" => Call::Sinh,
            "cosh" => Call::Cosh,
            "tanh" => Call::Tanh,
            "erf" => Call::Erf,
            "erfc" => Call::Erfc,
            "step" => Call::Step,
            "delta" => Call::Delta,
            "square" => Call::Square,
            "cube" => Call::Cube,
            "recip" => Call::Recip,
            "abs" => Call::Abs,
            "floor" => Call::Floor,
            "ceil" => Call::Ceil,
            "min" => Call::Min,
            "max" => Call::Max,
            "atan2" => Call::Atan2,
            "select" => Call::Select,
            _ => return None,
        })
    }

    /// Number of arguments.
    pub(crate) fn arguments(self) -> usize {
        match self {
            Call::Min | Call::Max | Call::Atan2 | Call::Softplus => 2,
            Call::Less | Call::LessEqual | Call::Equal | Call::And | Call::Or => 2,
            Call::Select => 3,
            _ => 1,
        }
    }

    /// Value for the arguments a, b, c, of which the first `arguments()` count.
    fn apply<T: Real>(self, a: T, b: T, c: T) -> T {
        let flag = |yes: bool| T::cst(if yes { 1.0 } else { 0.0 });
        match self {
            Call::Sqrt => a.sqrt(),
            Call::Exp => a.exp(),
            Call::Log => a.ln(),
            Call::Sin => a.sin(),
            Call::Cos => a.cos(),
            Call::Sec => a.cos().recip(),
            Call::Csc => a.sin().recip(),
            Call::Tan => a.tan(),
            Call::Cot => a.tan().recip(),
            Call::Asin => a.asin(),
            Call::Acos => a.acos(),
            Call::Atan => a.atan(),
            Call::Sinh => a.sinh(),
            Call::Cosh => a.cosh(),
            Call::Tanh => a.tanh(),
            Call::Erf => erf(a, libm::erf(a.value()), 1.0),
            Call::Erfc => erf(a, libm::erfc(a.value()), -1.0),
            Call::Step => flag(a.value() >= 0.0),
            Call::Delta => flag(a.value() == 0.0),
            Call::Square => a * a,
            Call::Cube => a * a * a,
            Call::Recip => a.recip(),
            Call::Abs => a.abs(),
            Call::Floor => T::cst(a.value().floor()),
            Call::Ceil => T::cst(a.value().ceil()),
            Call::Min => a.min(b),
            Call::Max => a.max(b),
            Call::Atan2 => a.atan2(b),
            Call::Select => {
                if a.value() != 0.0 {
                    b
                } else {
                    c
                }
            }
            Call::Less => flag(a.value() < b.value()),
            Call::LessEqual => flag(a.value() <= b.value()),
            Call::Equal => flag(a.value() == b.value()),
            Call::And => flag(a.value() != 0.0 && b.value() != 0.0),
            Call::Or => flag(a.value() != 0.0 || b.value() != 0.0),
            Call::Not => flag(a.value() == 0.0),
            Call::Softplus => softplus(a, b),
        }
    }
}

/// ln(1 + eˢˣ)/s, a smooth max(x, 0) for s > 0, written so that the exponential does not overflow.
fn softplus<T: Real>(x: T, s: T) -> T {
    let y = x * s;
    let soft = if y.value() > 0.0 { y + ((-y).exp() + 1.0).ln() } else { (y.exp() + 1.0).ln() };
    soft / s
}

/// erf (sign +1) or erfc (sign −1) at x, given its value there.
///
/// With f′ = ±2/√π e^(−x²) the derivatives are f⁽ⁿ⁺¹⁾ = (−1)ⁿ Hₙ(x) f′, Hₙ the Hermite polynomials
/// H_{n+1} = 2x Hₙ − 2n H_{n−1}. The difference between x and its plain value has derivatives
/// but no value, so Taylor's series in it ends after as many terms as there are derivatives.
fn erf<T: Real>(x: T, value: f64, sign: f64) -> T {
    let x0 = x.value();
    let dx = x - x0;
    let slope = sign * std::f64::consts::FRAC_2_SQRT_PI * elementary::exp(-x0 * x0);
    let mut y = T::cst(value);
    let (mut h, mut h_before) = (1.0, 0.0);
    let (mut power, mut factor) = (T::one(), slope);
    for n in 0..T::ORDER {
        power *= dx;
        factor /= (n + 1) as f64;
        y += power * (factor * h);
        (h, h_before) = (2.0 * x0 * h - 2.0 * n as f64 * h_before, h);
        factor = -factor;
    }
    y
}

/// aᵇ with both varying.
///
/// For a > 0 it is e^(b ln a). Elsewhere b counts as a constant: a whole b gives a
/// power, any other b not a number.
fn power<T: Real>(a: T, b: T) -> T {
    if a.value() > 0.0 { (b * a.ln()).exp() } else { power_constant(a, b.value()) }
}

/// aᵖ for a constant p, by multiplication where p is a small whole number.
#[inline]
fn power_constant<T: Real>(a: T, p: f64) -> T {
    match whole(p) {
        Some(n) => a.powi(n),
        None => a.powf(p),
    }
}

/// p as a whole number small enough that multiplying is exact enough.
fn whole(p: f64) -> Option<i32> {
    (p.fract() == 0.0 && p.abs() <= 64.0).then_some(p as i32)
}

impl Op {
    /// How many operands it takes.
    pub(crate) fn operands(self) -> usize {
        match self {
            Op::Constant(_) | Op::Variable(_) | Op::Local(_) => 0,
            Op::Negate | Op::PowerInteger(_) | Op::PowerConstant(_) | Op::Table(_) => 1,
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Power => 2,
            Op::Call(f) => f.arguments(),
        }
    }

    /// A power with the constant exponent p.
    pub(crate) fn power_by(p: f64) -> Op {
        match whole(p) {
            Some(n) => Op::PowerInteger(n),
            None => Op::PowerConstant(p),
        }
    }
}

/// Runs a program on a stack that is high enough, which its maker has checked; `variable(i)` gives the variables. Results are the
/// lowest numbers that are left, and their count comes back.
//
// Every scalar has a copy of these lines: it should stay the only one.
#[inline(never)]
pub(crate) fn run<T: Real>(
    ops: &[Op],
    tables: &[Function],
    variable: &dyn Fn(usize) -> T,
    stack: &mut [T],
) -> usize {
    run_with(ops, |table, x| tables[table].value(&[x]), variable, stack)
}

/// As [`run`], with what gives the value of a table.
//
// Expressions have none, and run with two kinds of dual numbers over every scalar: without the functions that a table can be, these
// are a quarter as much to compile.
#[inline(always)]
fn run_with<T: Real>(
    ops: &[Op],
    table: impl Fn(usize, T) -> T,
    variable: &dyn Fn(usize) -> T,
    stack: &mut [T],
) -> usize {
    // Index of the free place above the top.
    let mut top = 0;
    for op in ops {
        let count = op.operands();
        let base = top - count;
        let a = stack[base];
        let result = match *op {
            Op::Constant(c) => T::cst(c),
            Op::Variable(i) => variable(i),
            Op::Local(i) => stack[i],
            Op::Negate => -a,
            Op::Add => a + stack[base + 1],
            Op::Subtract => a - stack[base + 1],
            Op::Multiply => a * stack[base + 1],
            Op::Divide => a / stack[base + 1],
            Op::Power => power(a, stack[base + 1]),
            Op::PowerInteger(n) => a.powi(n),
            Op::PowerConstant(p) => a.powf(p),
            Op::Call(f) => match count {
                1 => f.apply(a, a, a),
                2 => f.apply(a, stack[base + 1], a),
                _ => f.apply(a, stack[base + 1], stack[base + 2]),
            },
            Op::Table(i) => table(i, a),
        };
        stack[base] = result;
        top = base + 1;
    }
    top
}

/// Runs the program of an expression, which needs at most [`STACK`] places and leaves one number on top.
#[inline(never)]
pub(super) fn run_small<T: Real>(ops: &[Op], variable: &dyn Fn(usize) -> T) -> T {
    let mut stack = [T::zero(); STACK];
    // The parser makes no tables.
    let top = run_with(ops, |_, _| T::cst(f64::NAN), variable, &mut stack);
    stack[top - 1]
}

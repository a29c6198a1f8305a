//! The recording scalar.

use crate::graph::{Graph, NONE, Op};
use soleus_math::{Part, Real};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use std::panic::Location;

/// A number that is a node of the graph recorded by this thread, or a constant.
///
/// It also contains the value at the initial state of the recording, for choices that only affect rounding. Kernels
/// require plain copyable scalars, so the graph itself is stored per thread: see [`record`].
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    id: u32,
    v: f64,
}

/// An access to the value of a recorded number that would have fixed a branch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    /// Part of the model that was being computed.
    pub part: Option<(Part, usize)>,
    /// Source file.
    pub file: &'static str,
    /// Line in the source file.
    pub line: u32,
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.rsplit_once("crates/").map_or(self.file, |(_, file)| file);
        write!(f, "{file}:{}", self.line)
    }
}

/// A recording.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The graph.
    pub graph: Graph,
    /// Nodes that are 1 if a recorded branch would have been taken differently.
    pub doubts: Vec<u32>,
    /// Accesses to values of recorded numbers, each location once. If there are any, the graph does not represent the
    /// kernel.
    pub looks: Vec<Look>,
    /// Parts that nodes belong to, by [`Graph::parts`]; number 0 is none.
    pub parts: Vec<(Part, usize)>,
    /// Initial values of the inputs.
    pub start: Vec<f64>,
}

struct Session {
    recording: Recording,
    part: Option<(Part, usize)>,
    looks: BTreeMap<Look, ()>,
}

thread_local! {
    // A scalar is a plain value without room for a reference; the graph is this thread's, and only while `record` runs.
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

fn with<R>(work: impl FnOnce(&mut Session) -> R) -> R {
    SESSION.with(|s| work(s.borrow_mut().as_mut().expect("numbers are recorded within `record`")))
}

/// Records the operations of `work` on inputs with these initial values. Its results are outputs; constants among them
/// become nodes.
///
/// # Panics
///
/// If this thread is already recording.
pub fn record(start: &[f64], work: impl FnOnce(&[Recorded]) -> Vec<Recorded>) -> (Recording, Vec<u32>) {
    let mut recording = Recording { start: start.to_vec(), ..Recording::default() };
    recording.parts.push((Part::Motion, usize::MAX));
    let inputs: Vec<Recorded> = start.iter().map(|&v| Recorded { id: recording.graph.input(), v }).collect();
    go_on(recording, || work(&inputs))
}

/// Continues a recording to which nodes may have been added: `work` gets a function that converts nodes to numbers.
///
/// # Panics
///
/// If this thread is already recording, or there are fewer initial values than inputs of the graph.
pub fn resume(
    mut recording: Recording,
    work: impl FnOnce(&dyn Fn(u32) -> Recorded) -> Vec<Recorded>,
) -> (Recording, Vec<u32>) {
    let parts = recording.graph.parts.iter().max().map_or(0, |m| *m as usize + 1);
    while recording.parts.len() < parts {
        recording.parts.push((Part::Motion, usize::MAX));
    }
    let values = recording.graph.values(&recording.start);
    go_on(recording, || work(&|id| Recorded::of(id, values[id as usize])))
}

fn go_on(recording: Recording, work: impl FnOnce() -> Vec<Recorded>) -> (Recording, Vec<u32>) {
    struct Ended;
    impl Drop for Ended {
        fn drop(&mut self) {
            SESSION.with(|s| *s.borrow_mut() = None);
        }
    }
    SESSION.with(|s| {
        let mut s = s.borrow_mut();
        assert!(s.is_none(), "one recording at a time");
        *s = Some(Session { recording, part: None, looks: BTreeMap::new() });
    });
    let ended = Ended;
    let results = work();
    let outputs = results.into_iter().map(Recorded::node).collect();
    let mut recording = with(|s| {
        let looks = std::mem::take(&mut s.looks);
        s.recording.looks = looks.into_keys().collect();
        std::mem::take(&mut s.recording)
    });
    drop(ended);
    recording.graph.part = 0;
    (recording, outputs)
}

impl Recorded {
    /// Its node.
    fn node(self) -> u32 {
        if self.id != NONE { self.id } else { with(|s| s.recording.graph.constant(self.v)) }
    }

    fn of(id: u32, v: f64) -> Recorded {
        with(|s| match s.recording.graph.value_of(id) {
            Some(v) => Recorded { id: NONE, v },
            None => Recorded { id, v },
        })
    }

    #[inline(never)]
    fn one(self, op: Op) -> Recorded {
        let v = op.compute(self.v, 0.0, 0.0);
        if self.id == NONE {
            return Recorded { id: NONE, v };
        }
        let id = with(|s| s.recording.graph.one(op, self.id));
        Recorded::of(id, v)
    }

    #[inline(never)]
    fn two(self, op: Op, other: Recorded) -> Recorded {
        let v = op.compute(self.v, other.v, 0.0);
        if self.id == NONE && other.id == NONE {
            return Recorded { id: NONE, v };
        }
        let (a, b) = (self.node(), other.node());
        let id = with(|s| s.recording.graph.two(op, a, b));
        Recorded::of(id, v)
    }

    fn select(flag: Recorded, yes: Recorded, no: Recorded) -> Recorded {
        if flag.id == NONE {
            return if flag.v != 0.0 { yes } else { no };
        }
        let (a, b) = (yes.node(), no.node());
        let id = with(|s| s.recording.graph.select(flag.id, a, b));
        Recorded::of(id, if flag.v != 0.0 { yes.v } else { no.v })
    }
}

/// The same node, or the same constant. Two nodes that happen to have equal values are not equal.
impl PartialEq for Recorded {
    fn eq(&self, other: &Recorded) -> bool {
        self.id == other.id && (self.id != NONE || self.v == other.v)
    }
}

impl Default for Recorded {
    fn default() -> Self {
        Recorded { id: NONE, v: 0.0 }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $assign:ident, $assign_method:ident, $op:ident) => {
        impl $trait for Recorded {
            type Output = Recorded;
            fn $method(self, other: Recorded) -> Recorded {
                self.two(Op::$op, other)
            }
        }
        impl $trait<f64> for Recorded {
            type Output = Recorded;
            fn $method(self, other: f64) -> Recorded {
                self.two(Op::$op, Recorded::cst(other))
            }
        }
        impl $assign for Recorded {
            fn $assign_method(&mut self, other: Recorded) {
                *self = self.two(Op::$op, other);
            }
        }
    };
}
operator!(Add, add, AddAssign, add_assign, Add);
operator!(Sub, sub, SubAssign, sub_assign, Sub);
operator!(Mul, mul, MulAssign, mul_assign, Mul);
operator!(Div, div, DivAssign, div_assign, Div);

impl Neg for Recorded {
    type Output = Recorded;
    fn neg(self) -> Recorded {
        self.one(Op::Neg)
    }
}

impl Sum for Recorded {
    fn sum<I: Iterator<Item = Recorded>>(list: I) -> Recorded {
        list.fold(Recorded::default(), |a, b| a + b)
    }
}

impl Real for Recorded {
    const ORDER: usize = 0;
    const RECORDS: bool = true;

    fn cst(x: f64) -> Self {
        Recorded { id: NONE, v: x }
    }

    #[track_caller]
    fn value(self) -> f64 {
        if self.id != NONE {
            let place = Location::caller();
            with(|s| {
                let look = Look { part: s.part, file: place.file(), line: place.line() };
                s.looks.insert(look, ());
            });
        }
        self.v
    }

    fn hint(self) -> f64 {
        self.v
    }

    fn usually_below(self, other: Self) -> bool {
        let below = self.two(Op::Less, other);
        let decided = below.v != 0.0;
        if below.id != NONE {
            let doubt = if decided { Recorded::cst(1.0) - below } else { below };
            with(|s| s.recording.doubts.push(doubt.id));
        }
        decided
    }

    fn select_below(self, other: Self, yes: Self, no: Self) -> Self {
        Recorded::select(self.two(Op::Less, other), yes, no)
    }
    fn select_at_most(self, other: Self, yes: Self, no: Self) -> Self {
        Recorded::select(self.two(Op::LessEqual, other), yes, no)
    }

    fn held(self) -> Self {
        self.one(Op::Held)
    }
    fn refine(self, residual: Self, slope: Self) -> Self {
        self - residual / slope
    }

    fn rank(self, breaks: &[f64]) -> Self {
        let id = self.node();
        let (id, v) = with(|s| {
            let graph = &mut s.recording.graph;
            let table = graph.table(breaks.to_vec(), 1);
            (graph.rank(id, table), graph.tables[table as usize].rank(self.v))
        });
        Recorded::of(id, v)
    }

    fn row<const N: usize>(self, count: usize, row: impl Fn(usize) -> [f64; N]) -> [Self; N] {
        let id = self.node();
        let values: Vec<f64> = (0..count).flat_map(row).collect();
        let table = with(|s| s.recording.graph.table(values, N));
        std::array::from_fn(|column| {
            let (id, v) = with(|s| {
                let graph = &mut s.recording.graph;
                let v = graph.tables[table as usize].cell(self.v, column);
                (graph.cell(id, table, column as u32), v)
            });
            Recorded::of(id, v)
        })
    }

    fn enter(part: Part, number: usize) {
        with(|s| {
            s.part = Some((part, number));
            s.recording.graph.part = s.recording.parts.len() as u32;
            s.recording.parts.push((part, number));
        });
    }

    fn sqrt(self) -> Self {
        self.one(Op::Sqrt)
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.one(Op::Sin), self.one(Op::Cos))
    }
    fn tan(self) -> Self {
        self.one(Op::Tan)
    }
    fn asin(self) -> Self {
        self.one(Op::Asin)
    }
    fn acos(self) -> Self {
        self.one(Op::Acos)
    }
    fn atan(self) -> Self {
        self.one(Op::Atan)
    }
    fn atan2(self, x: Self) -> Self {
        self.two(Op::Atan2, x)
    }
    fn exp(self) -> Self {
        self.one(Op::Exp)
    }
    fn ln(self) -> Self {
        self.one(Op::Ln)
    }
    fn sinh(self) -> Self {
        self.one(Op::Sinh)
    }
    fn cosh(self) -> Self {
        self.one(Op::Cosh)
    }
    fn tanh(self) -> Self {
        self.one(Op::Tanh)
    }
    fn powi(self, n: i32) -> Self {
        if self.id == NONE {
            return Recorded::cst(self.v.powi(n));
        }
        if n < 0 {
            return self.powi(-n).recip();
        }
        let (mut y, mut power, mut rest) = (Recorded::one_(), self, n as u32);
        while rest > 0 {
            if rest & 1 == 1 {
                y *= power;
            }
            rest >>= 1;
            if rest > 0 {
                power *= power;
            }
        }
        y
    }
    fn powf(self, p: f64) -> Self {
        if p == 0.5 {
            self.sqrt()
        } else if p == 1.5 {
            self * self.sqrt()
        } else if p.fract() == 0.0 && p.abs() < 16.0 {
            self.powi(p as i32)
        } else {
            self.two(Op::Pow, Recorded::cst(p))
        }
    }
    fn abs(self) -> Self {
        self.one(Op::Abs)
    }
    fn max(self, other: Self) -> Self {
        self.two(Op::Max, other)
    }
    fn min(self, other: Self) -> Self {
        self.two(Op::Min, other)
    }
    fn clamp(self, lo: f64, hi: f64) -> Self {
        Real::min(Real::max(self, Recorded::cst(lo)), Recorded::cst(hi))
    }
}

impl Recorded {
    fn one_() -> Recorded {
        Recorded::cst(1.0)
    }
}

//! Compiles a program to machine code: straight-line arithmetic, with function calls in between.
//!
//! Arithmetic without functions comes first, then all functions that depend only on it, then the arithmetic that
//! depends on these, and so on, in about ten stages. Within a stage values are kept in registers, and the value needed
//! last is evicted first.

use super::assembler::{self as asm, Assembler, Kind, Mask, Register, Source};
use crate::graph::{NONE, Op};
use crate::program::Program;
use std::collections::HashMap;

/// A function of one stage: results and operands by their places, tables and columns by their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub op: Op,
    pub to: u32,
    pub a: u32,
    /// A place for `Atan2`, a table for `Rank` and `Cell`.
    pub b: u32,
    pub column: u32,
    /// The constant power of `Pow`.
    pub power: f64,
}

impl Call {
    /// The place of the second operand, or of the first if there is no second.
    pub fn second(&self) -> u32 {
        if self.op == Op::Atan2 { self.b } else { self.a }
    }
}

/// Where an output is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    Place(u32),
    Constant(f64),
}

pub(super) struct Compiled {
    pub code: Vec<u8>,
    /// Where the code of each stage begins, and the functions after it.
    pub stages: Vec<(usize, Vec<Call>)>,
    pub places: u32,
    pub constants: Vec<f64>,
    /// Places that hold a constant, for functions of one.
    pub filled: Vec<(u32, f64)>,
    pub outputs: Vec<Output>,
}

/// What is computed of a node, after products have joined sums and comparisons selections.
#[derive(Clone, Copy, Debug)]
enum Work {
    None,
    One(Op, u32),
    Two(Op, u32, u32),
    /// a·b + c, a·b − c, c − a·b.
    Fused(Code3, u32, u32, u32),
    /// Flag by comparing the first two: the third, or the fourth.
    Choice(u8, u32, u32, u32, u32),
    Function,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code3 {
    Plus,
    Minus,
    From,
}

impl Work {
    fn operands(&self) -> Vec<u32> {
        match *self {
            Work::None | Work::Function => vec![],
            Work::One(_, a) => vec![a],
            Work::Two(_, a, b) => vec![a, b],
            Work::Fused(_, a, b, c) => vec![a, b, c],
            Work::Choice(_, a, b, c, d) => vec![a, b, c, d],
        }
    }
}

pub(super) fn compile(p: &Program, single: bool, kind: Kind) -> Compiled {
    let count = p.nodes.len();
    // Held numbers are the numbers themselves.
    let mut same: Vec<u32> = (0..count as u32).collect();
    for (i, n) in p.nodes.iter().enumerate() {
        if n.op == Op::Held {
            same[i] = same[n.a as usize];
        }
    }
    let operands = |i: usize| -> Vec<u32> { p.nodes[i].operands().map(|a| same[a as usize]).collect() };
    let is_constant = |i: u32| p.nodes[i as usize].op == Op::Const;

    // Stages.
    let mut stage = vec![0u32; count];
    for i in 0..count {
        stage[i] = operands(i)
            .into_iter()
            .map(|a| stage[a as usize] + u32::from(p.nodes[a as usize].op.is_function()))
            .max()
            .unwrap_or(0);
    }
    let mut uses = vec![0u32; count];
    (0..count).filter(|&i| p.nodes[i].op != Op::Held).for_each(|i| {
        operands(i).into_iter().for_each(|a| uses[a as usize] += 1);
    });
    let outputs: Vec<u32> = p.outputs.iter().map(|&o| same[o as usize]).collect();
    outputs.iter().for_each(|&o| uses[o as usize] += 1);

    // What each node does.
    let mut work: Vec<Work> = vec![Work::None; count];
    for i in 0..count {
        let n = p.nodes[i];
        let at = |k: u32| same[k as usize];
        work[i] = match n.op {
            Op::Const | Op::Input | Op::Held => Work::None,
            op if op.is_function() => Work::Function,
            Op::Add | Op::Sub => {
                let (a, b) = (at(n.a), at(n.b));
                let product = |k: u32| {
                    let m = p.nodes[k as usize];
                    let alone = m.op == Op::Mul && uses[k as usize] == 1 && stage[k as usize] == stage[i];
                    alone.then(|| (at(m.a), at(m.b)))
                };
                match (n.op, product(a), product(b)) {
                    (Op::Add, _, Some((x, y))) => fused(&mut work, b, Code3::Plus, x, y, a),
                    (Op::Add, Some((x, y)), _) => fused(&mut work, a, Code3::Plus, x, y, b),
                    (_, _, Some((x, y))) => fused(&mut work, b, Code3::From, x, y, a),
                    (_, Some((x, y)), _) => fused(&mut work, a, Code3::Minus, x, y, b),
                    (op, ..) => Work::Two(op, a, b),
                }
            }
            Op::Select => {
                let (flag, yes, no) = (at(n.a), at(n.b), at(n.c));
                let m = p.nodes[flag as usize];
                match m.op {
                    Op::Less => Work::Choice(asm::LESS, at(m.a), at(m.b), yes, no),
                    Op::LessEqual => Work::Choice(asm::LESS_EQUAL, at(m.a), at(m.b), yes, no),
                    _ => Work::Choice(asm::NOT_EQUAL, flag, NONE, yes, no),
                }
            }
            op if op.arity() == 1 => Work::One(op, at(n.a)),
            op => Work::Two(op, at(n.a), at(n.b)),
        };
    }
    // Comparisons that only selections wanted are done.
    let mut wanted = vec![false; count];
    outputs.iter().for_each(|&o| wanted[o as usize] = true);
    for i in (0..count).rev().filter(|&i| p.nodes[i].op != Op::Held) {
        let function = matches!(work[i], Work::Function);
        if function || wanted[i] {
            let list = if function { operands(i) } else { work[i].operands() };
            list.into_iter().filter(|a| *a != NONE).for_each(|a| wanted[a as usize] = true);
        }
    }

    let last_stage = stage.iter().copied().max().unwrap_or(0);
    let mut generator = Generator::new(p, single, kind);
    // All uses of a value in the order in which code runs.
    let mut order: Vec<Vec<u32>> = vec![Vec::new(); 2 * (last_stage as usize + 1)];
    for i in (0..count).filter(|&i| wanted[i]) {
        match work[i] {
            Work::None => {}
            Work::Function => order[2 * stage[i] as usize + 1].push(i as u32),
            _ => order[2 * stage[i] as usize].push(i as u32),
        }
    }
    // The same functions one after the other.
    for list in order.iter_mut().skip(1).step_by(2) {
        list.sort_by_key(|&i| {
            let n = p.nodes[i as usize];
            let (table, row) = if n.op == Op::Cell { (n.b, same[n.a as usize]) } else { (0, 0) };
            (n.op, table, row)
        });
    }
    let mut position = 0;
    for (k, list) in order.iter().enumerate() {
        for &i in list {
            let used = if k % 2 == 1 { operands(i as usize) } else { work[i as usize].operands() };
            for a in used.into_iter().filter(|&a| a != NONE && !is_constant(a)) {
                generator.uses[a as usize].push(position);
            }
            position += 1;
        }
    }
    for &o in outputs.iter().filter(|&&o| !is_constant(o)) {
        generator.uses[o as usize].push(u32::MAX);
    }

    let mut stages = Vec::new();
    for pair in order.chunks(2) {
        let begin = generator.assembler.code.len();
        generator.stage_end = generator.position + pair[0].len() as u32;
        for &i in &pair[0] {
            generator.arithmetic(i, work[i as usize]);
        }
        generator.store_rest();
        generator.assembler.finish();
        let mut calls = Vec::new();
        for &i in &pair[1] {
            calls.push(generator.function(p, i, &operands(i as usize)));
        }
        stages.push((begin, calls));
    }
    let outputs = outputs
        .iter()
        .map(|&o| match p.nodes[o as usize].constant() {
            Some(x) => Output::Constant(x),
            None => Output::Place(generator.place_of[o as usize]),
        })
        .collect();
    Compiled {
        code: generator.assembler.code,
        stages,
        places: generator.places,
        constants: generator.constants,
        filled: generator.filled,
        outputs,
    }
}

fn fused(work: &mut [Work], product: u32, code: Code3, a: u32, b: u32, c: u32) -> Work {
    work[product as usize] = Work::None;
    Work::Fused(code, a, b, c)
}

struct Generator<'a> {
    program: &'a Program,
    assembler: Assembler,
    constants: Vec<f64>,
    constant_of: HashMap<u64, u32>,
    /// Positions at which a value is used, in order, and how many of them are past.
    uses: Vec<Vec<u32>>,
    past: Vec<usize>,
    register_of: Vec<Option<Register>>,
    holds: Vec<u32>,
    scratch: [Register; 2],
    place_of: Vec<u32>,
    free_places: Vec<u32>,
    places: u32,
    filled: Vec<(u32, f64)>,
    position: u32,
    stage_end: u32,
}

impl<'a> Generator<'a> {
    fn new(program: &'a Program, single: bool, kind: Kind) -> Self {
        let count = program.nodes.len();
        let mut place_of = vec![NONE; count];
        for (i, n) in program.nodes.iter().enumerate().filter(|(_, n)| n.op == Op::Input) {
            place_of[i] = n.a;
        }
        Generator {
            program,
            assembler: Assembler { code: Vec::new(), single, kind },
            constants: Vec::new(),
            constant_of: HashMap::new(),
            uses: vec![Vec::new(); count],
            past: vec![0; count],
            register_of: vec![None; count],
            holds: vec![NONE; kind.registers()],
            scratch: kind.scratch(),
            place_of,
            free_places: Vec::new(),
            places: program.inputs as u32,
            filled: Vec::new(),
            position: 0,
            stage_end: 0,
        }
    }

    fn constant(&mut self, x: f64) -> u32 {
        let next = self.constants.len() as u32;
        let list = &mut self.constants;
        *self.constant_of.entry(x.to_bits()).or_insert_with(|| {
            list.push(x);
            next
        })
    }

    /// The next use of a value after the one at hand.
    fn next_use(&self, i: u32) -> Option<u32> {
        let list = &self.uses[i as usize];
        list[self.past[i as usize].min(list.len())..].iter().copied().find(|&u| u > self.position)
    }

    fn place(&mut self, i: u32) -> u32 {
        if self.place_of[i as usize] == NONE {
            self.place_of[i as usize] = self.free_places.pop().unwrap_or_else(|| {
                self.places += 1;
                self.places - 1
            });
        }
        self.place_of[i as usize]
    }

    /// Forgets values that are not used again.
    fn release(&mut self, list: &[u32]) {
        for &i in list.iter().filter(|&&i| i != NONE && self.program.nodes[i as usize].op != Op::Const) {
            let uses = &self.uses[i as usize];
            while self.past[i as usize] < uses.len() && uses[self.past[i as usize]] <= self.position {
                self.past[i as usize] += 1;
            }
            if self.past[i as usize] == uses.len() {
                if let Some(r) = self.register_of[i as usize].take() {
                    self.holds[r as usize] = NONE;
                }
                let place = self.place_of[i as usize];
                if place != NONE && self.program.nodes[i as usize].op != Op::Input {
                    self.free_places.push(place);
                    self.place_of[i as usize] = NONE;
                }
            }
        }
    }

    /// A register for a new value; whoever is needed last gives way, but for those of `pinned`.
    fn allocate(&mut self, pinned: &[u32]) -> Register {
        if let Some(free) = self.holds.iter().position(|&v| v == NONE) {
            return free as Register;
        }
        let mut victim = (0, 0, NONE);
        for (r, &v) in self.holds.iter().enumerate().filter(|(_, v)| !pinned.contains(v)) {
            let next = self.next_use(v).map_or(u32::MAX, |u| u.min(u32::MAX - 1));
            // One that is in memory already costs nothing.
            let next = next.saturating_add(if self.place_of[v as usize] == NONE { 0 } else { 8 });
            if next >= victim.1 {
                victim = (r, next, v);
            }
        }
        let (r, _, v) = victim;
        if self.next_use(v).is_some() && self.place_of[v as usize] == NONE {
            let place = self.place(v);
            self.assembler.store(place, r as Register);
        }
        self.register_of[v as usize] = None;
        self.holds[r] = NONE;
        r as Register
    }

    fn keep(&mut self, i: u32, r: Register) {
        self.holds[r as usize] = i;
        self.register_of[i as usize] = Some(r);
    }

    /// A value in a register; constants into the scratch register given.
    fn in_register(&mut self, i: u32, pinned: &[u32], scratch: Register) -> Register {
        if let Some(x) = self.program.nodes[i as usize].constant() {
            let c = self.constant(x);
            self.assembler.broadcast(scratch, c, Mask::No);
            return scratch;
        }
        if let Some(r) = self.register_of[i as usize] {
            return r;
        }
        let r = self.allocate(pinned);
        self.assembler.one(asm::LOAD, r, Source::Place(self.place_of[i as usize]));
        self.keep(i, r);
        r
    }

    /// A value where it is; loaded if this stage needs it again soon.
    fn source(&mut self, i: u32, pinned: &[u32]) -> Source {
        if let Some(x) = self.program.nodes[i as usize].constant() {
            return Source::Constant(self.constant(x));
        }
        if let Some(r) = self.register_of[i as usize] {
            return Source::Register(r);
        }
        if self.next_use(i).is_some_and(|u| u < self.stage_end.min(self.position + 40)) {
            return Source::Register(self.in_register(i, pinned, self.scratch[0]));
        }
        Source::Place(self.place_of[i as usize])
    }

    /// The register for a result: that of an operand that ends here, or another.
    fn result(&mut self, candidates: &[u32], pinned: &[u32]) -> Register {
        for &i in candidates.iter().filter(|&&i| i != NONE) {
            if let Some(r) = self.register_of[i as usize]
                && self.next_use(i).is_none()
            {
                self.register_of[i as usize] = None;
                self.holds[r as usize] = NONE;
                return r;
            }
        }
        self.allocate(pinned)
    }

    fn is_constant(&self, i: u32) -> bool {
        self.program.nodes[i as usize].op == Op::Const
    }

    fn arithmetic(&mut self, i: u32, work: Work) {
        let all = work.operands();
        match work {
            Work::None | Work::Function => {}
            Work::One(op, a) => match op {
                Op::Sqrt => {
                    let from = self.source(a, &all);
                    let d = self.result(&[a], &all);
                    self.assembler.one(asm::SQRT, d, from);
                    self.keep(i, d);
                }
                _ => {
                    // The sign bit, turned or cleared.
                    let r = self.in_register(a, &all, self.scratch[0]);
                    let bits = match (op, self.assembler.single) {
                        (Op::Neg, _) => -0.0,
                        (_, false) => f64::from_bits(i64::MAX as u64),
                        (_, true) => ALL_BUT_SIGN_F32,
                    };
                    let c = self.constant(bits);
                    let d = self.result(&[a], &all);
                    let code = if op == Op::Neg { asm::XOR } else { asm::AND };
                    self.assembler.two(code, d, r, Source::Constant(c), Mask::No);
                    self.keep(i, d);
                }
            },
            Work::Two(op, a, b) => self.two(i, op, a, b, &all),
            Work::Fused(code, a, b, c) => {
                // The sum is made in the register of c.
                let (a, b) = if self.is_constant(a)
                    || (self.register_of[a as usize].is_none() && !self.is_constant(b))
                {
                    (b, a)
                } else {
                    (a, b)
                };
                let first = self.in_register(a, &all, self.scratch[0]);
                let second = self.source(b, &all);
                let d = match self.register_of[c as usize] {
                    Some(r) if !self.is_constant(c) && self.next_use(c).is_none() && c != a && c != b => {
                        self.register_of[c as usize] = None;
                        self.holds[r as usize] = NONE;
                        r
                    }
                    _ => {
                        let from = if self.is_constant(c) { None } else { Some(self.source(c, &all)) };
                        let d = self.allocate(&all);
                        match from {
                            Some(from) => self.assembler.one(asm::LOAD, d, from),
                            None => {
                                let x = self.program.nodes[c as usize].constant().unwrap_or(0.0);
                                let number = self.constant(x);
                                self.assembler.broadcast(d, number, Mask::No);
                            }
                        }
                        d
                    }
                };
                let op = match code {
                    Code3::Plus => asm::ADD_PRODUCT,
                    Code3::Minus => asm::SUB_FROM_PRODUCT,
                    Code3::From => asm::SUB_PRODUCT,
                };
                self.assembler.two(op, d, first, second, Mask::No);
                self.keep(i, d);
            }
            Work::Choice(how, a, b, yes, no) => {
                let first = self.in_register(a, &all, self.scratch[0]);
                let second =
                    if b == NONE { Source::Constant(self.constant(0.0)) } else { self.source(b, &all) };
                self.assembler.compare(how, first, second);
                let otherwise = self.in_register(no, &all, self.scratch[1]);
                let chosen = self.source(yes, &all);
                let d = self.result(&[a, b, yes, no], &all);
                self.assembler.two(asm::BLEND, d, otherwise, chosen, Mask::Blend);
                self.keep(i, d);
            }
        }
        self.release(&all);
        self.position += 1;
    }

    fn two(&mut self, i: u32, op: Op, mut a: u32, mut b: u32, all: &[u32]) {
        match op {
            Op::Less | Op::LessEqual => {
                let first = self.in_register(a, all, self.scratch[0]);
                let second = self.source(b, all);
                let how = if op == Op::Less { asm::LESS } else { asm::LESS_EQUAL };
                self.assembler.compare(how, first, second);
                let one = self.constant(1.0);
                let d = self.result(&[a, b], all);
                self.assembler.broadcast(d, one, Mask::Zero);
                self.keep(i, d);
                return;
            }
            Op::Mask => {
                let first = self.in_register(a, all, self.scratch[0]);
                let zero = self.constant(0.0);
                self.assembler.compare(asm::NOT_EQUAL, first, Source::Constant(zero));
                let second = self.source(b, all);
                let d = self.result(&[a, b], all);
                self.assembler.two(asm::MUL, d, first, second, Mask::Zero);
                self.keep(i, d);
                return;
            }
            // `Max` of a and b is b where it is larger, and the machine's gives its first operand there.
            Op::Min | Op::Max => (a, b) = (b, a),
            Op::Add | Op::Mul => {
                let ready = |g: &Self, k: u32| g.register_of[k as usize].is_some();
                if self.is_constant(a) || (!ready(self, a) && ready(self, b)) {
                    (a, b) = (b, a);
                }
            }
            _ => {}
        }
        let first = self.in_register(a, all, self.scratch[0]);
        let second = self.source(b, all);
        let code = match op {
            Op::Add => asm::ADD,
            Op::Sub => asm::SUB,
            Op::Mul => asm::MUL,
            Op::Div => asm::DIV,
            Op::Min => asm::MIN,
            _ => asm::MAX,
        };
        let d = self.result(&[a, b], all);
        self.assembler.two(code, d, first, second, Mask::No);
        self.keep(i, d);
    }

    /// Brings what later stages need into memory, and leaves the registers empty.
    fn store_rest(&mut self) {
        for r in 0..self.holds.len() {
            let v = self.holds[r];
            if v == NONE {
                continue;
            }
            let used = self.past[v as usize] < self.uses[v as usize].len();
            if used && self.place_of[v as usize] == NONE {
                let place = self.place(v);
                self.assembler.store(place, r as Register);
            }
            self.holds[r] = NONE;
            self.register_of[v as usize] = None;
        }
    }

    fn function(&mut self, p: &Program, i: u32, operands: &[u32]) -> Call {
        let n = p.nodes[i as usize];
        let at = |g: &mut Self, k: u32| match p.nodes[k as usize].constant() {
            None => g.place_of[k as usize],
            Some(x) => {
                g.places += 1;
                g.filled.push((g.places - 1, x));
                g.places - 1
            }
        };
        let mut call = Call { op: n.op, to: 0, a: at(self, operands[0]), b: n.b, column: n.c, power: 0.0 };
        match n.op {
            Op::Pow => call.power = p.nodes[operands[1] as usize].constant().unwrap_or(f64::NAN),
            Op::Atan2 => call.b = at(self, operands[1]),
            _ => {}
        }
        call.to = self.place(i);
        self.release(operands);
        self.position += 1;
        call
    }
}

/// Stands for the bits of |x| in a list of constants that are rounded to `f32` later.
pub(super) const ALL_BUT_SIGN_F32: f64 = f64::from_bits(0x7ff8_0000_dead_beef);

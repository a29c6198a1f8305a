//! A program as templates over tables: operations that are the same for many muscles, paths or bodies are stored once.
//!
//! A program is divided where its parts change (and where pieces become long). Pieces with the same operations, which
//! differ only in their constants and in the sources of their operands, are instances of one [`Template`]; an instance
//! is a row of numbers and a row of slots. Values are bitwise identical to those of the program: only the order of
//! independent operations changes.

use crate::graph::{NONE, Op, Table};
use crate::program::Program;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Operations of one piece at most. Longer functions take compilers more than their share of time.
const OPERATIONS_OF_A_PIECE: usize = 400;

/// Operations of a piece that belongs to one part: a muscle with its path.
const OPERATIONS_OF_A_LONG_PIECE: usize = 1600;

/// A template with fewer operations than this is not worth its tables.
const OPERATIONS_OF_A_TEMPLATE: usize = 6;

/// Source of an operand of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// None.
    No,
    /// An earlier node of the template.
    Local(u32),
    /// A number that is equal in all instances.
    Number(f64),
    /// A column of the instance's numbers.
    Column(u32),
    /// A column of the instance's slots that contains an input index.
    Input(u32),
    /// A column of the instance's slots that contains a scratch index.
    Place(u32),
}

/// An operation of a template.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemplateNode {
    /// Operation.
    pub op: Op,
    /// The operands.
    pub operands: [Operand; 3],
    /// The table of `Rank` and `Cell`.
    pub table: u32,
    /// The column of `Cell`.
    pub column: u32,
    /// Column of the instance's slots with the scratch index of the value, if other pieces need it; otherwise [`NONE`].
    pub kept: u32,
}

/// Operations shared by one or more instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The operations, operands first.
    pub nodes: Vec<TemplateNode>,
    /// Number of instances.
    pub instances: usize,
    /// Numbers, instance by instance.
    pub numbers: Vec<f64>,
    /// Number of values per instance.
    pub columns: usize,
    /// Inputs and scratch indices, instance by instance.
    pub slots: Vec<u32>,
    /// Number of slots per instance.
    pub width: usize,
}

/// Location of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// In the scratch.
    Place(u32),
    /// Among the inputs.
    Input(u32),
    /// A constant.
    Number(f64),
}

/// A program in this form.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    /// The templates.
    pub templates: Vec<Template>,
    /// Sequence of computations: a template for a range of its instances.
    pub schedule: Vec<(usize, Range<usize>)>,
    /// Size of the scratch memory.
    pub room: usize,
    /// Number of its places, the first ones, that are worth fast memory. A column of slots has only such places or only others.
    pub fast: usize,
    /// Locations of the outputs.
    pub outputs: Vec<Found>,
    /// Lookup tables of the nodes.
    pub tables: Vec<Table>,
    /// Number of inputs.
    pub inputs: usize,
}

/// A piece of a program while templates are looked for.
struct Piece {
    nodes: Vec<u32>,
    template: usize,
    /// Inputs and nodes of other pieces, in the order of their columns, and the constants of all uses.
    from: Vec<u32>,
    numbers: Vec<f64>,
}

/// What two pieces must have in common. Constants are left open.
type Key = Vec<[u32; 5]>;

/// Keys that were seen, each with a number.
#[derive(Default)]
struct Shapes {
    keys: Vec<Key>,
    number: HashMap<Key, usize>,
}

impl Shapes {
    fn piece(&mut self, p: &Program, nodes: Vec<u32>) -> Piece {
        let (key, from, numbers) = key(p, &nodes);
        let keys = &mut self.keys;
        let template = *self.number.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            keys.len() - 1
        });
        Piece { nodes, template, from, numbers }
    }
}

/// The piece that computes each node.
fn piece_of(p: &Program, pieces: &[Piece]) -> Vec<u32> {
    let mut of = vec![NONE; p.nodes.len()];
    for (i, piece) in pieces.iter().enumerate() {
        piece.nodes.iter().for_each(|&n| of[n as usize] = i as u32);
    }
    of
}

const CONSTANT: u32 = 1 << 30;
const INPUT: u32 = 2 << 30;
const PLACE: u32 = 3 << 30;

impl Structured {
    /// Finds the templates of a program.
    pub fn new(p: &Program) -> Structured {
        Structured::with_fast_places(p, 0)
    }

    /// The same for scratch memory of which up to `most` places are faster than the others, as the shared memory of a device is: they hold
    /// the values that are used most for the time that they wait.
    pub fn with_fast_places(p: &Program, most: usize) -> Structured {
        let mut shapes = Shapes::default();
        let pieces: Vec<Piece> = cut(p).into_iter().map(|nodes| shapes.piece(p, nodes)).collect();
        let mut count = vec![0; shapes.keys.len()];
        pieces.iter().for_each(|piece| count[piece.template] += 1);
        // Pieces that are like no other are joined with those that follow: fewer values wait between functions.
        let mut joined: Vec<(Vec<u32>, bool)> = Vec::new();
        for i in schedule(p, &pieces) {
            let Piece { nodes, template, .. } = &pieces[i];
            let single = nodes.len() < OPERATIONS_OF_A_TEMPLATE || count[*template] < 2;
            match joined.last_mut() {
                Some((last, true)) if single && last.len() + nodes.len() <= OPERATIONS_OF_A_PIECE => {
                    last.extend(nodes);
                }
                _ => joined.push((nodes.clone(), single)),
            }
        }
        let mut shapes = Shapes::default();
        let pieces: Vec<Piece> = joined.into_iter().map(|(nodes, _)| shapes.piece(p, nodes)).collect();
        let (place, kept, [fast, room]) = places(p, &pieces, most);
        assemble(p, &pieces, &shapes.keys, &place, &kept, [fast, room])
    }

    /// Number of stored operations.
    pub fn operations(&self) -> usize {
        self.templates.iter().map(|t| t.nodes.len()).sum()
    }

    /// Number of computed operations.
    pub fn computed(&self) -> usize {
        self.templates.iter().map(|t| t.nodes.len() * t.instances).sum()
    }

    /// The outputs at an input, in `f64`.
    pub fn evaluate(&self, x: &[f64]) -> Vec<f64> {
        let mut w = vec![f64::NAN; self.room];
        let mut v = Vec::new();
        for (template, range) in &self.schedule {
            let t = &self.templates[*template];
            for i in range.clone() {
                let numbers = &t.numbers[i * t.columns..(i + 1) * t.columns];
                let slots = &t.slots[i * t.width..(i + 1) * t.width];
                v.clear();
                for n in &t.nodes {
                    let [a, b, c] = n.operands.map(|o| match o {
                        Operand::No => 0.0,
                        Operand::Local(k) => v[k as usize],
                        Operand::Number(x) => x,
                        Operand::Column(k) => numbers[k as usize],
                        Operand::Input(k) => x[slots[k as usize] as usize],
                        Operand::Place(k) => w[slots[k as usize] as usize],
                    });
                    let y = match n.op {
                        Op::Rank => self.tables[n.table as usize].rank(a),
                        Op::Cell => self.tables[n.table as usize].cell(a, n.column as usize),
                        op => op.compute(a, b, c),
                    };
                    v.push(y);
                    if n.kept != NONE {
                        w[slots[n.kept as usize] as usize] = y;
                    }
                }
            }
        }
        let found = |o: &Found| match *o {
            Found::Place(k) => w[k as usize],
            Found::Input(i) => x[i as usize],
            Found::Number(x) => x,
        };
        self.outputs.iter().map(found).collect()
    }
}

/// Pieces of a program: nodes of one part, in order. What a part computes at several times is one piece where nothing stands between.
fn cut(p: &Program) -> Vec<Vec<u32>> {
    let mut runs: Vec<(u32, Vec<u32>)> = Vec::new();
    for i in (0..p.nodes.len()).filter(|&i| p.nodes[i].op.arity() > 0) {
        match runs.last_mut() {
            Some((part, run)) if *part == p.parts[i] => run.push(i as u32),
            _ => runs.push((p.parts[i], vec![i as u32])),
        }
    }
    let mut run_of = vec![usize::MAX; p.nodes.len()];
    for (r, (_, run)) in runs.iter().enumerate() {
        run.iter().for_each(|&i| run_of[i as usize] = r);
    }
    let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); runs.len()];
    for (r, (_, run)) in runs.iter().enumerate() {
        for a in run.iter().flat_map(|&i| p.nodes[i as usize].operands()) {
            let from = run_of[a as usize];
            if from != usize::MAX && from != r {
                after[from].insert(r);
            }
        }
    }
    // The piece that each run went into.
    let mut into: Vec<usize> = (0..runs.len()).collect();
    let mut first: HashMap<u32, usize> = HashMap::new();
    for r in 0..runs.len() {
        let part = runs[r].0;
        let Some(&earlier) = first.get(&part) else {
            first.insert(part, r);
            continue;
        };
        let long = runs[earlier].1.len() + runs[r].1.len() > OPERATIONS_OF_A_LONG_PIECE;
        if part == 0 || long || between(&after, &into, earlier, r) {
            first.insert(part, r);
            continue;
        }
        let nodes = std::mem::take(&mut runs[r].1);
        runs[earlier].1.extend(nodes);
        let next = std::mem::take(&mut after[r]);
        after[earlier].extend(next);
        into[r] = earlier;
    }
    let mut pieces: Vec<Vec<u32>> = Vec::new();
    for (_, run) in runs.into_iter().filter(|(_, run)| !run.is_empty()) {
        let most = if run.len() <= OPERATIONS_OF_A_LONG_PIECE { run.len() } else { OPERATIONS_OF_A_PIECE };
        pieces.extend(run.chunks(most).map(<[u32]>::to_vec));
    }
    pieces
}

/// Whether a run follows an earlier one by way of others.
fn between(after: &[BTreeSet<usize>], into: &[usize], earlier: usize, run: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut stack: Vec<usize> =
        after[earlier].iter().map(|&a| into[a]).filter(|&a| a != run && a != earlier).collect();
    while let Some(at) = stack.pop() {
        for next in after[at].iter().map(|&a| into[a]) {
            if next == run || next == earlier {
                return true;
            }
            if seen.insert(next) {
                stack.push(next);
            }
        }
    }
    false
}

/// The key of a piece, what it needs from elsewhere, and its constants.
fn key(p: &Program, nodes: &[u32]) -> (Key, Vec<u32>, Vec<f64>) {
    let (mut key, mut from, mut numbers) = (Vec::with_capacity(nodes.len()), Vec::new(), Vec::new());
    let mut column_of: HashMap<u32, u32> = HashMap::new();
    let mut local: HashMap<u32, u32> = HashMap::new();
    for (k, &i) in nodes.iter().enumerate() {
        let n = p.nodes[i as usize];
        let mut entry = [n.op as u32, 0, 0, 0, 0];
        let mut operands = [n.a, n.b, n.c];
        if matches!(n.op, Op::Add | Op::Mul) {
            // The order of two operands, which does not matter, says nothing about two pieces: what is computed here comes first, then what
            // was read already, then the rest, then constants.
            let rank = |a: u32| match (local.get(&a), column_of.get(&a), p.nodes[a as usize].constant()) {
                (Some(&l), ..) => (0, l),
                (_, Some(&c), _) => (1, c),
                (_, _, None) => (2 + u32::from(p.nodes[a as usize].op != Op::Input), 0),
                _ => (4, 0),
            };
            if rank(n.b) < rank(n.a) {
                operands.swap(0, 1);
            }
        }
        for (o, &a) in operands.iter().enumerate() {
            entry[o + 1] = if o >= n.op.arity() {
                0
            } else if let Some(x) = p.nodes[a as usize].constant() {
                numbers.push(x);
                CONSTANT
            } else if let Some(&l) = local.get(&a) {
                l
            } else {
                let next = from.len() as u32;
                let column = *column_of.entry(a).or_insert_with(|| {
                    from.push(a);
                    next
                });
                column | if p.nodes[a as usize].op == Op::Input { INPUT } else { PLACE }
            };
        }
        if matches!(n.op, Op::Rank | Op::Cell) {
            (entry[2], entry[4]) = (n.b, n.c);
        }
        local.insert(i, k as u32);
        key.push(entry);
    }
    (key, from, numbers)
}

/// An order of the pieces in which instances of one template follow each other where they can.
fn schedule(p: &Program, pieces: &[Piece]) -> Vec<usize> {
    let piece_of = piece_of(p, pieces);
    let mut waits = vec![0usize; pieces.len()];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); pieces.len()];
    for (i, piece) in pieces.iter().enumerate() {
        let before: BTreeSet<u32> = piece
            .from
            .iter()
            .filter(|&&a| p.nodes[a as usize].op != Op::Input)
            .map(|&a| piece_of[a as usize])
            .collect();
        waits[i] = before.len();
        before.into_iter().for_each(|b| followers[b as usize].push(i));
    }
    // Ready pieces by template.
    let templates = pieces.iter().map(|p| p.template).max().map_or(0, |m| m + 1);
    let mut ready: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); templates];
    let mut all = BTreeSet::new();
    for i in (0..pieces.len()).filter(|&i| waits[i] == 0) {
        ready[pieces[i].template].insert(i);
        all.insert(i);
    }
    let mut order = Vec::with_capacity(pieces.len());
    let mut at = usize::MAX;
    while let Some(&first) = all.first() {
        let next = match ready.get(at).and_then(|r| r.first()) {
            Some(&same) => same,
            None => first,
        };
        at = pieces[next].template;
        all.remove(&next);
        ready[at].remove(&next);
        order.push(next);
        for &f in &followers[next] {
            waits[f] -= 1;
            if waits[f] == 0 {
                ready[pieces[f].template].insert(f);
                all.insert(f);
            }
        }
    }
    order
}

/// Where values wait that other pieces or outputs need: the place of each node, which nodes of each template have one, and how many there are:
/// fast ones, which come first, and all.
fn places(p: &Program, pieces: &[Piece], most: usize) -> (Vec<u32>, Vec<Vec<bool>>, [usize; 2]) {
    let piece_of = piece_of(p, pieces);
    // The position after which a value is not needed; none for those that stay inside.
    let mut last: Vec<Option<usize>> = vec![None; p.nodes.len()];
    for (i, piece) in pieces.iter().enumerate() {
        for &a in piece.from.iter().filter(|&&a| p.nodes[a as usize].op != Op::Input) {
            let l = &mut last[a as usize];
            *l = Some(l.map_or(i, |l| l.max(i)));
        }
    }
    for &o in p.outputs.iter().filter(|&&o| piece_of[o as usize] != NONE) {
        last[o as usize] = Some(pieces.len());
    }
    let templates = pieces.iter().map(|p| p.template).max().map_or(0, |m| m + 1);
    let mut kept: Vec<Vec<bool>> = vec![Vec::new(); templates];
    for piece in pieces {
        let kept = &mut kept[piece.template];
        kept.resize(piece.nodes.len(), false);
        for (k, &n) in piece.nodes.iter().enumerate() {
            kept[k] |= last[n as usize].is_some();
        }
    }
    let waits = |at: usize, n: u32| (at, last[n as usize].unwrap_or(at).max(at));
    let fast = fast_nodes(p, pieces, &kept, &waits, most);
    let mut place = vec![NONE; p.nodes.len()];
    let (mut free, mut rooms) = ([Vec::new(), Vec::new()], [0u32; 2]);
    let mut ending: Vec<Vec<u32>> = vec![Vec::new(); pieces.len() + 1];
    for (at, piece) in pieces.iter().enumerate() {
        for (_, &n) in kept[piece.template].iter().zip(&piece.nodes).filter(|(kept, _)| **kept) {
            let kind = usize::from(!fast[n as usize]);
            place[n as usize] = free[kind].pop().unwrap_or_else(|| {
                rooms[kind] += 1;
                rooms[kind] - 1
            });
            // What only other instances need is free after this piece.
            ending[waits(at, n).1].push(n);
        }
        // A place that ends here is taken by later pieces only.
        for n in ending[at].drain(..) {
            free[usize::from(!fast[n as usize])].push(place[n as usize]);
        }
    }
    for (place, _) in place.iter_mut().zip(&fast).filter(|(place, fast)| **place != NONE && !**fast) {
        *place += rooms[0];
    }
    (place, kept, [rooms[0] as usize, (rooms[0] + rooms[1]) as usize])
}

/// Nodes that are fast together or not at all: how often they are read or written, the sum of their times, and from when to when each of them waits.
#[derive(Default)]
struct Class {
    uses: usize,
    time: usize,
    members: Vec<(usize, usize, u32)>,
}

/// Which nodes wait in fast places: at most so many at a time, those that are used most for the time that they wait. Nodes that a
/// template keeps or reads by the same column are of one kind.
fn fast_nodes(
    p: &Program,
    pieces: &[Piece],
    kept: &[Vec<bool>],
    waits: &dyn Fn(usize, u32) -> (usize, usize),
    most: usize,
) -> Vec<bool> {
    let mut fast = vec![false; p.nodes.len()];
    if most == 0 {
        return fast;
    }
    // The class of each node, by way of an earlier one.
    let mut class: Vec<u32> = (0..p.nodes.len() as u32).collect();
    fn root(class: &mut [u32], mut n: u32) -> u32 {
        while class[n as usize] != n {
            class[n as usize] = class[class[n as usize] as usize];
            n = class[n as usize];
        }
        n
    }
    let mut first: HashMap<(usize, bool, usize), u32> = HashMap::new();
    let mut uses = vec![0usize; p.nodes.len()];
    for piece in pieces {
        let read = piece.from.iter().enumerate().filter(|(_, a)| p.nodes[**a as usize].op != Op::Input);
        let read = read.map(|(k, &a)| ((piece.template, false, k), a));
        let written = piece.nodes.iter().enumerate().filter(|(k, _)| kept[piece.template][*k]);
        for (column, n) in read.chain(written.map(|(k, &n)| ((piece.template, true, k), n))) {
            uses[n as usize] += 1;
            let other = *first.entry(column).or_insert(n);
            let (a, b) = (root(&mut class, n), root(&mut class, other));
            class[a as usize] = b;
        }
    }
    let mut classes: HashMap<u32, Class> = HashMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        for (_, &n) in kept[piece.template].iter().zip(&piece.nodes).filter(|(kept, _)| **kept) {
            let (from, to) = waits(at, n);
            let entry = classes.entry(root(&mut class, n)).or_default();
            entry.uses += uses[n as usize];
            entry.time += to - from + 1;
            entry.members.push((from, to, n));
        }
    }
    let mut classes: Vec<Class> = classes.into_values().collect();
    // Most uses for their time first; a tie by the first node.
    classes
        .sort_by(|a, b| (b.uses * a.time).cmp(&(a.uses * b.time)).then(a.members[0].2.cmp(&b.members[0].2)));
    let mut taken = vec![0usize; pieces.len() + 1];
    for Class { members, .. } in classes {
        members.iter().for_each(|&(from, to, _)| taken[from..=to].iter_mut().for_each(|t| *t += 1));
        if taken.iter().all(|&t| t <= most) {
            members.iter().for_each(|m| fast[m.2 as usize] = true);
        } else {
            members.iter().for_each(|&(from, to, _)| taken[from..=to].iter_mut().for_each(|t| *t -= 1));
        }
    }
    fast
}

fn assemble(
    p: &Program,
    pieces: &[Piece],
    shapes: &[Key],
    place: &[u32],
    kept: &[Vec<bool>],
    [fast, room]: [usize; 2],
) -> Structured {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); shapes.len()];
    pieces.iter().enumerate().for_each(|(i, piece)| members[piece.template].push(i));
    let mut templates = Vec::with_capacity(shapes.len());
    for (shape, (members, kept)) in shapes.iter().zip(members.iter().zip(kept)) {
        let first = &pieces[members[0]];
        // Constants: one number for all instances, or a column; equal columns are one.
        let mut columns: Vec<Vec<u64>> = Vec::new();
        let mut column_of: HashMap<Vec<u64>, u32> = HashMap::new();
        let constants: Vec<Operand> = (0..first.numbers.len())
            .map(|k| {
                let values: Vec<u64> = members.iter().map(|&i| pieces[i].numbers[k].to_bits()).collect();
                if values.iter().all(|v| *v == values[0]) {
                    return Operand::Number(first.numbers[k]);
                }
                let next = columns.len() as u32;
                Operand::Column(*column_of.entry(values.clone()).or_insert_with(|| {
                    columns.push(values);
                    next
                }))
            })
            .collect();
        let mut constants = constants.into_iter();
        let mut width = first.from.len() as u32;
        let nodes = shape
            .iter()
            .zip(kept)
            .map(|(entry, kept)| {
                let mut node = TemplateNode {
                    op: Op::Held,
                    operands: [Operand::No; 3],
                    table: entry[2],
                    column: entry[4],
                    kept: NONE,
                };
                if *kept {
                    node.kept = width;
                    width += 1;
                }
                (node, *entry)
            })
            .collect::<Vec<_>>();
        let nodes: Vec<TemplateNode> = nodes
            .into_iter()
            .zip(&first.nodes)
            .map(|((mut node, entry), &i)| {
                node.op = p.nodes[i as usize].op;
                for o in 0..node.op.arity() {
                    let code = entry[o + 1];
                    node.operands[o] = match code & PLACE {
                        CONSTANT => constants.next().unwrap_or(Operand::No),
                        INPUT => Operand::Input(code & !PLACE),
                        PLACE => Operand::Place(code & !PLACE),
                        _ => Operand::Local(code),
                    };
                }
                if !matches!(node.op, Op::Rank | Op::Cell) {
                    (node.table, node.column) = (NONE, NONE);
                }
                node
            })
            .collect();
        let mut numbers = Vec::with_capacity(columns.len() * members.len());
        let mut slots = Vec::with_capacity(width as usize * members.len());
        for (m, &i) in members.iter().enumerate() {
            numbers.extend(columns.iter().map(|c| f64::from_bits(c[m])));
            slots.extend(pieces[i].from.iter().map(|&a| match p.nodes[a as usize] {
                n if n.op == Op::Input => n.a,
                _ => place[a as usize],
            }));
            let places = pieces[i].nodes.iter().zip(kept).filter(|(_, kept)| **kept);
            slots.extend(places.map(|(&n, _)| place[n as usize]));
        }
        templates.push(Template {
            nodes,
            instances: members.len(),
            numbers,
            columns: columns.len(),
            slots,
            width: width as usize,
        });
    }
    let mut done = vec![0; shapes.len()];
    let mut schedule: Vec<(usize, Range<usize>)> = Vec::new();
    for piece in pieces {
        let t = piece.template;
        let at = done[t];
        done[t] += 1;
        match schedule.last_mut() {
            Some((last, range)) if *last == t => range.end = at + 1,
            _ => schedule.push((t, at..at + 1)),
        }
    }
    let outputs = p
        .outputs
        .iter()
        .map(|&o| match p.nodes[o as usize] {
            n if n.op == Op::Input => Found::Input(n.a),
            n => n.constant().map_or(Found::Place(place[o as usize]), Found::Number),
        })
        .collect();
    Structured { templates, schedule, room, fast, outputs, tables: p.tables.clone(), inputs: p.inputs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recorded, record};
    use soleus_math::{Part, Real};

    /// Six parts that differ in constants and inputs, and one that is like no other.
    fn parts(x: &[Recorded]) -> Vec<Recorded> {
        let mut sum = Recorded::cst(0.0);
        let mut list: Vec<Recorded> = (0..6)
            .map(|i| {
                Recorded::enter(Part::Force, i);
                let a = (x[i] * (1.5 + i as f64) + x[i + 1]).exp();
                let b = (a * x[i]).tanh() + (0.3 + 0.1 * i as f64);
                let c = a.sqrt().min(b / (x[i + 1] + 2.0));
                sum += c * b;
                Real::max(c, a * 0.7)
            })
            .collect();
        Recorded::enter(Part::Motion, 0);
        list.push(sum.sin_cos().0 + x[7] * sum);
        list
    }

    fn bits(list: &[f64]) -> Vec<u64> {
        list.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn identity_templates_compute_the_program() {
        let start: Vec<f64> = (0..8).map(|i| 0.2 + 0.1 * (i as f64).sin()).collect();
        let (recording, outputs) = record(&start, parts);
        let mut graph = recording.graph;
        let program = Program::new(&graph, &outputs);
        let structured = Structured::new(&program);
        // The first part has no sum to add to: five are alike.
        assert!(structured.templates.iter().any(|t| t.instances == 5), "{:?}", structured.schedule);
        assert_eq!(structured.computed(), program.operations());
        assert!(structured.operations() < program.operations() / 2);
        assert_eq!(bits(&structured.evaluate(&start)), bits(&program.evaluate(&start)));

        // The sweep back, where parts are computed again.
        let weights: Vec<u32> = outputs.iter().map(|_| graph.input()).collect();
        let by: Vec<u32> = (0..8).collect();
        let gradient = graph.reverse(&outputs, &weights, &by);
        let program = Program::new(&graph, &gradient);
        let again = program.recomputed(100);
        assert!(again.operations() > program.operations());
        let x: Vec<f64> = start.iter().copied().chain((0..7).map(|i| (1.0 + i as f64).cos())).collect();
        let wanted = bits(&program.evaluate(&x));
        for p in [&program, &again] {
            let structured = Structured::new(p);
            assert_eq!(bits(&structured.evaluate(&x)), wanted);
            assert_eq!(structured.computed(), p.operations());
        }
        assert!(Structured::new(&again).room < Structured::new(&program).room);
    }

    #[test]
    fn identity_fast_places_hold_what_others_would() {
        let start: Vec<f64> = (0..8).map(|i| 0.2 + 0.1 * (i as f64).sin()).collect();
        let (recording, outputs) = record(&start, parts);
        let program = Program::new(&recording.graph, &outputs);
        let plain = Structured::new(&program);
        assert_eq!(plain.fast, 0);
        let wanted = bits(&program.evaluate(&start));
        for most in 1..=plain.room + 2 {
            let s = Structured::with_fast_places(&program, most);
            assert!(s.fast <= most && s.fast <= s.room, "{most}: {} of {}", s.fast, s.room);
            assert_eq!(bits(&s.evaluate(&start)), wanted);
            for t in &s.templates {
                let places = t.nodes.iter().flat_map(|n| {
                    let read = n.operands.into_iter().filter_map(|o| match o {
                        Operand::Place(k) => Some(k),
                        _ => None,
                    });
                    read.chain((n.kept != NONE).then_some(n.kept)).collect::<Vec<_>>()
                });
                for column in places {
                    let is_fast = |i: usize| (t.slots[i * t.width + column as usize] as usize) < s.fast;
                    assert!((0..t.instances).all(|i| is_fast(i) == is_fast(0)));
                }
            }
        }
        assert_eq!(Structured::with_fast_places(&program, plain.room + 2).fast, plain.room);
    }

    #[test]
    fn identity_bytes_of_a_program() {
        let (recording, outputs) = record(&[0.3; 8], parts);
        let program = Program::new(&recording.graph, &outputs);
        let bytes = program.to_bytes();
        assert_eq!(Program::from_bytes(&bytes), Some(program));
        // Whatever is cut off or changed is refused or another program, and never a panic.
        for cut in 0..bytes.len() {
            assert_eq!(Program::from_bytes(&bytes[..cut]), None);
        }
        for at in (0..bytes.len()).step_by(3) {
            let mut other = bytes.clone();
            other[at] ^= 0x55;
            let _ = Program::from_bytes(&other);
        }
    }
}

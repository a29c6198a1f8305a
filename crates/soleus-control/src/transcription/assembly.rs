//! A nonlinear program put together from functions of few variables and from linear equations.
//!
//! Every constraint is a sum of values of functions, and of terms a v or (t_f − t₀) a v of single variables v.
//! So is the objective. What is fixed is no variable of the program.

use super::layout::Input;
use crate::function::{PointFunction, Scratch};
use crate::problem::Bounds;
use soleus_optimization::{NonlinearProgram, SparsityPattern, Stages};
use std::sync::Arc;

/// Marks what has no place.
const NONE: u32 = u32::MAX;

/// Where a value of a function goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub target: Target,
    pub factor: f64,
    /// Whether the duration t_f − t₀ multiplies it too.
    pub by_duration: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    Row(usize),
    Objective(usize),
    Nothing,
}

/// A variable of the program or a fixed one.
#[derive(Clone, Debug)]
struct Unknown {
    bounds: Bounds,
    start: f64,
    stage: u32,
}

/// A constraint.
#[derive(Clone, Debug)]
struct Row {
    bounds: Bounds,
    stage: u32,
    name: String,
}

/// factor · v or factor · (t_f − t₀) · v in a row.
#[derive(Clone, Copy, Debug)]
struct Linear {
    row: usize,
    variable: usize,
    factor: f64,
    by_duration: bool,
}

/// A function with its arguments.
#[derive(Clone, Debug)]
struct Block {
    function: usize,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
}

/// Puts a program together.
#[derive(Default)]
pub(super) struct Builder {
    unknowns: Vec<Unknown>,
    rows: Vec<Row>,
    linear: Vec<Linear>,
    functions: Vec<Arc<dyn PointFunction>>,
    blocks: Vec<Block>,
}

impl Builder {
    /// A variable; fixed if its bounds meet.
    pub fn variable(&mut self, bounds: Bounds, start: f64, stage: u32) -> usize {
        self.unknowns.push(Unknown { bounds, start: bounds.clamp(start), stage });
        self.unknowns.len() - 1
    }

    /// A constraint, empty so far.
    pub fn row(&mut self, bounds: Bounds, stage: u32, name: String) -> usize {
        self.rows.push(Row { bounds, stage, name });
        self.rows.len() - 1
    }

    /// Whether an unknown is fixed or belongs to no time.
    pub fn is_border_or_fixed(&self, unknown: usize) -> bool {
        let u = &self.unknowns[unknown];
        u.stage == Stages::BORDER || u.bounds.is_fixed()
    }

    /// Where an unknown starts.
    pub fn start_of(&self, unknown: usize) -> f64 {
        self.unknowns[unknown].start
    }

    /// Adds factor · v, times the duration if so asked, to a row.
    pub fn linear(&mut self, row: usize, variable: usize, factor: f64, by_duration: bool) {
        if factor != 0.0 {
            self.linear.push(Linear { row, variable, factor, by_duration });
        }
    }

    /// Adds the values of a function.
    pub fn block(&mut self, function: &Arc<dyn PointFunction>, inputs: Vec<Input>, outputs: Vec<Output>) {
        if outputs.iter().all(|o| o.target == Target::Nothing) {
            return;
        }
        let known = self.functions.iter().position(|f| Arc::ptr_eq(f, function));
        let function = known.unwrap_or_else(|| {
            self.functions.push(function.clone());
            self.functions.len() - 1
        });
        self.blocks.push(Block { function, inputs, outputs });
    }

    /// The program; `times` are the variables t₀ and t_f.
    pub fn finish(self, times: [usize; 2], num_goals: usize) -> Assembly {
        let mut free = vec![NONE; self.unknowns.len()];
        let mut variables = Vec::new();
        for (i, u) in self.unknowns.iter().enumerate() {
            if !u.bounds.is_fixed() {
                free[i] = variables.len() as u32;
                variables.push(i);
            }
        }
        let plan = Plan::find(&self, &free, times);
        let n = variables.len();
        let jacobian = SparsityPattern::from_places(plan.rows.len(), n, plan.jacobian_places());
        let hessian = SparsityPattern::from_places(n, n, plan.hessian_places());
        let stages = Stages {
            of_variable: variables.iter().map(|&i| self.unknowns[i].stage).collect(),
            of_constraint: plan.rows.iter().map(|&r| self.rows[r].stage).collect(),
        };
        let scratch = self.functions.iter().map(|f| f.scratch()).collect();
        let size = |f: fn(&dyn PointFunction) -> usize| {
            self.functions.iter().map(|p| f(p.as_ref())).max().unwrap_or(0)
        };
        Assembly {
            full: self.unknowns.iter().map(|u| u.start).collect(),
            z: vec![0.0; size(|f| f.num_inputs())],
            values: vec![0.0; size(|f| f.num_outputs())],
            weights: vec![0.0; size(|f| f.num_outputs())],
            first: vec![0.0; size(|f| f.jacobian_places().len())],
            second: vec![0.0; size(|f| f.hessian_places().len())],
            goals: vec![0.0; num_goals],
            places: plan.locate(&jacobian, &hessian),
            row_of: plan.row_of,
            rows: plan.rows,
            builder: self,
            variables,
            free,
            times,
            jacobian,
            hessian,
            stages,
            scratch,
        }
    }
}

/// One contribution to a sparse matrix or gradient: source · factor, to the place `to`.
#[derive(Clone, Copy, Debug)]
struct Scatter {
    from: u32,
    to: u32,
    factor: f64,
}

/// Contributions of one block.
#[derive(Clone, Debug, Default)]
struct BlockPlaces {
    /// From Jacobian of the function to rows: (place, position in the Jacobian, factor), without and with duration.
    jacobian: [Vec<Scatter>; 2],
    /// From values to rows by t₀ and t_f.
    jacobian_times: Vec<Scatter>,
    /// The same for the objective; `to` is a variable.
    gradient: [Vec<Scatter>; 2],
    gradient_times: Vec<Scatter>,
    /// From the Hessian of the function.
    hessian: Vec<Scatter>,
    /// From its Jacobian, times the weight of the output, to places of t₀ and t_f with the inputs.
    hessian_times: Vec<(u32, Scatter)>,
}

/// Places as (row, column) before patterns are known.
struct Plan<'a> {
    builder: &'a Builder,
    free: &'a [u32],
    times: [usize; 2],
    /// Row of the program for each row of the builder; NONE if nothing in it can change.
    row_of: Vec<u32>,
    /// Its inverse.
    rows: Vec<usize>,
}

impl<'a> Plan<'a> {
    fn find(builder: &'a Builder, free: &'a [u32], times: [usize; 2]) -> Plan<'a> {
        let mut plan = Plan { builder, free, times, row_of: vec![0; builder.rows.len()], rows: Vec::new() };
        let mut alive = vec![false; builder.rows.len()];
        plan.each_jacobian_place(|row, _| alive[row] = true);
        for (r, &alive) in alive.iter().enumerate() {
            plan.row_of[r] = if alive {
                plan.rows.push(r);
                plan.rows.len() as u32 - 1
            } else {
                NONE
            };
        }
        plan
    }

    /// The free variables behind an input, with the slope of the input by them.
    fn behind(&self, input: Input) -> impl Iterator<Item = (u32, f64)> + '_ {
        let pair = match input {
            Input::Variable(v) => [(v, 1.0), (v, 0.0)],
            Input::Time(tau) => [(self.times[0], 1.0 - tau), (self.times[1], tau)],
            Input::Constant(_) => [(self.times[0], 0.0); 2],
        };
        pair.into_iter().filter(|p| p.1 != 0.0).map(|(v, c)| (self.free[v], c)).filter(|p| p.0 != NONE)
    }

    /// t₀ and t_f where free, with the slope of the duration by them.
    fn ends(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        [(self.times[0], -1.0), (self.times[1], 1.0)]
            .into_iter()
            .map(|(v, c)| (self.free[v], c))
            .filter(|p| p.0 != NONE)
    }

    /// Calls with every (row of the builder, variable of the program).
    fn each_jacobian_place(&self, mut f: impl FnMut(usize, u32)) {
        for l in &self.builder.linear {
            if self.free[l.variable] != NONE {
                f(l.row, self.free[l.variable]);
            }
            if l.by_duration {
                self.ends().for_each(|(v, _)| f(l.row, v));
            }
        }
        for b in &self.builder.blocks {
            for &(o, i) in self.builder.functions[b.function].jacobian_places() {
                if let Target::Row(r) = b.outputs[o].target {
                    self.behind(b.inputs[i]).for_each(|(v, _)| f(r, v));
                }
            }
            for o in b.outputs.iter().filter(|o| o.by_duration) {
                if let Target::Row(r) = o.target {
                    self.ends().for_each(|(v, _)| f(r, v));
                }
            }
        }
    }

    fn jacobian_places(&self) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        self.each_jacobian_place(|r, v| {
            if self.row_of[r] != NONE {
                places.push((self.row_of[r] as usize, v as usize));
            }
        });
        places
    }

    fn hessian_places(&self) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        let mut add = |a: u32, b: u32| places.push((a.max(b) as usize, a.min(b) as usize));
        for l in self.builder.linear.iter().filter(|l| l.by_duration && self.free[l.variable] != NONE) {
            self.ends().for_each(|(v, _)| add(self.free[l.variable], v));
        }
        for b in &self.builder.blocks {
            let f = &self.builder.functions[b.function];
            for &(i, j) in f.hessian_places() {
                for (a, _) in self.behind(b.inputs[i]) {
                    self.behind(b.inputs[j]).for_each(|(c, _)| add(a, c));
                }
            }
            for &(o, i) in f.jacobian_places() {
                if b.outputs[o].by_duration && b.outputs[o].target != Target::Nothing {
                    for (a, _) in self.behind(b.inputs[i]) {
                        self.ends().for_each(|(c, _)| add(a, c));
                    }
                }
            }
        }
        places
    }

    /// Positions of all contributions, once the patterns are known.
    fn locate(&self, jacobian: &SparsityPattern, hessian: &SparsityPattern) -> Vec<BlockPlaces> {
        let at = |r: u32, v: u32| jacobian.position(r as usize, v as usize).map_or(NONE, |p| p as u32);
        let at2 = |a: u32, b: u32| {
            hessian.position(a.max(b) as usize, a.min(b) as usize).map_or(NONE, |p| p as u32)
        };
        let mut all = Vec::with_capacity(self.builder.blocks.len());
        for b in &self.builder.blocks {
            let f = &self.builder.functions[b.function];
            let mut p = BlockPlaces::default();
            for (from, &(o, i)) in f.jacobian_places().iter().enumerate() {
                let from = from as u32;
                let output = b.outputs[o];
                let d = usize::from(output.by_duration);
                for (v, slope) in self.behind(b.inputs[i]) {
                    let factor = output.factor * slope;
                    match output.target {
                        Target::Row(r) if self.row_of[r] != NONE => {
                            p.jacobian[d].push(Scatter { from, to: at(self.row_of[r], v), factor });
                        }
                        Target::Objective(_) => p.gradient[d].push(Scatter { from, to: v, factor }),
                        _ => {}
                    }
                    if output.by_duration && output.target != Target::Nothing {
                        for (end, sign) in self.ends() {
                            // On the diagonal both orders of differentiation meet.
                            let twice = if end == v { 2.0 } else { 1.0 };
                            let to = at2(v, end);
                            let factor = twice * slope * sign;
                            p.hessian_times.push((o as u32, Scatter { from, to, factor }));
                        }
                    }
                }
            }
            for (o, output) in b.outputs.iter().enumerate().filter(|(_, o)| o.by_duration) {
                for (v, sign) in self.ends() {
                    let (from, factor) = (o as u32, output.factor * sign);
                    match output.target {
                        Target::Row(r) if self.row_of[r] != NONE => {
                            p.jacobian_times.push(Scatter { from, to: at(self.row_of[r], v), factor });
                        }
                        Target::Objective(_) => p.gradient_times.push(Scatter { from, to: v, factor }),
                        _ => {}
                    }
                }
            }
            for (from, &(i, j)) in f.hessian_places().iter().enumerate() {
                let from = from as u32;
                for (a, sa) in self.behind(b.inputs[i]) {
                    for (c, sc) in self.behind(b.inputs[j]) {
                        // The place (i, j) stands for (j, i) too; of one input with itself, each pair comes twice.
                        if i == j && a < c {
                            continue;
                        }
                        let twice = if i != j && a == c { 2.0 } else { 1.0 };
                        p.hessian.push(Scatter { from, to: at2(a, c), factor: twice * sa * sc });
                    }
                }
            }
            all.push(p);
        }
        all
    }
}

/// A constraint that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Which, and when.
    pub name: String,
    /// How far outside its bounds.
    pub amount: f64,
}

/// The nonlinear program.
pub(super) struct Assembly {
    builder: Builder,
    /// Unknown of each variable.
    variables: Vec<usize>,
    /// Variable of each unknown; NONE if fixed.
    free: Vec<u32>,
    rows: Vec<usize>,
    row_of: Vec<u32>,
    times: [usize; 2],
    jacobian: SparsityPattern,
    hessian: SparsityPattern,
    stages: Stages,
    places: Vec<BlockPlaces>,
    /// Values of all unknowns, fixed ones included.
    full: Vec<f64>,
    scratch: Vec<Scratch>,
    z: Vec<f64>,
    values: Vec<f64>,
    weights: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    goals: Vec<f64>,
}

impl Assembly {
    fn spread(&mut self, x: &[f64]) {
        for (&i, &x) in self.variables.iter().zip(x) {
            self.full[i] = x;
        }
    }

    fn duration(&self) -> f64 {
        self.full[self.times[1]] - self.full[self.times[0]]
    }

    fn gather(&mut self, block: usize) {
        let (t0, tf) = (self.full[self.times[0]], self.full[self.times[1]]);
        for (z, input) in self.z.iter_mut().zip(&self.builder.blocks[block].inputs) {
            *z = match *input {
                Input::Variable(v) => self.full[v],
                Input::Time(tau) => (1.0 - tau) * t0 + tau * tf,
                Input::Constant(c) => c,
            };
        }
    }

    /// All unknowns, fixed ones included, for the variables of the program.
    pub fn unknowns(&mut self, x: &[f64]) -> &[f64] {
        self.spread(x);
        &self.full
    }

    /// Another place to start from, given for all unknowns; fixed ones stay.
    pub fn set_start(&mut self, full: &[f64]) {
        for (u, &x) in self.builder.unknowns.iter_mut().zip(full) {
            u.start = u.bounds.clamp(x);
        }
    }

    /// Where to start, all unknowns.
    pub fn start(&self) -> Vec<f64> {
        self.builder.unknowns.iter().map(|u| u.start).collect()
    }

    /// The value of each goal's cost, weights included.
    pub fn goals(&mut self, x: &[f64]) -> &[f64] {
        self.spread(x);
        self.goals.fill(0.0);
        let duration = self.duration();
        for b in 0..self.builder.blocks.len() {
            let block = &self.builder.blocks[b];
            if !block.outputs.iter().any(|o| matches!(o.target, Target::Objective(_))) {
                continue;
            }
            self.gather(b);
            let block = &self.builder.blocks[b];
            let f = &self.builder.functions[block.function];
            let (n, m) = (block.inputs.len(), block.outputs.len());
            f.compute_values(&self.z[..n], &mut self.values[..m], &mut self.scratch[block.function]);
            for (o, v) in block.outputs.iter().zip(&self.values) {
                if let Target::Objective(g) = o.target {
                    self.goals[g] += o.factor * if o.by_duration { duration * v } else { *v };
                }
            }
        }
        &self.goals
    }

    /// Values of all rows of the builder, those without variables too.
    fn all_rows(&mut self, x: &[f64]) -> Vec<f64> {
        self.spread(x);
        let duration = self.duration();
        let mut all = vec![0.0; self.builder.rows.len()];
        for l in &self.builder.linear {
            let v = l.factor * self.full[l.variable];
            all[l.row] += if l.by_duration { duration * v } else { v };
        }
        for b in 0..self.builder.blocks.len() {
            let block = &self.builder.blocks[b];
            if !block.outputs.iter().any(|o| matches!(o.target, Target::Row(_))) {
                continue;
            }
            self.gather(b);
            let block = &self.builder.blocks[b];
            let f = &self.builder.functions[block.function];
            let (n, m) = (block.inputs.len(), block.outputs.len());
            f.compute_values(&self.z[..n], &mut self.values[..m], &mut self.scratch[block.function]);
            for (o, v) in block.outputs.iter().zip(&self.values) {
                if let Target::Row(r) = o.target {
                    all[r] += o.factor * if o.by_duration { duration * v } else { *v };
                }
            }
        }
        all
    }

    /// Values of all rows of the builder at the start.
    pub fn rows_at_start(&mut self) -> Vec<f64> {
        let mut x = vec![0.0; self.variables.len()];
        self.compute_start(&mut x);
        self.all_rows(&x)
    }

    /// Constraints that are violated by more than `tolerance`, worst first.
    pub fn violations(&mut self, x: &[f64], tolerance: f64, unchangeable_only: bool) -> Vec<Violation> {
        let values = self.all_rows(x);
        let mut list: Vec<Violation> = Vec::new();
        for (i, (row, v)) in self.builder.rows.iter().zip(values).enumerate() {
            if unchangeable_only && self.row_of[i] != NONE {
                continue;
            }
            let amount = (row.bounds.lower - v).max(v - row.bounds.upper).max(0.0);
            if !(amount <= tolerance) {
                list.push(Violation { name: row.name.clone(), amount });
            }
        }
        list.sort_by(|a, b| b.amount.total_cmp(&a.amount));
        list
    }

    /// Jacobian of block `b` and, if asked, its values, in the scratch arrays.
    fn evaluate_first(&mut self, b: usize, with_values: bool) {
        self.gather(b);
        let block = &self.builder.blocks[b];
        let f = &self.builder.functions[block.function];
        let (n, m, k) = (block.inputs.len(), block.outputs.len(), f.jacobian_places().len());
        let scratch = &mut self.scratch[block.function];
        f.compute_jacobian(&self.z[..n], &mut self.first[..k], scratch);
        if with_values {
            f.compute_values(&self.z[..n], &mut self.values[..m], scratch);
        }
    }
}

impl NonlinearProgram for Assembly {
    fn num_variables(&self) -> usize {
        self.variables.len()
    }

    fn num_constraints(&self) -> usize {
        self.rows.len()
    }

    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        for (k, &i) in self.variables.iter().enumerate() {
            let b = self.builder.unknowns[i].bounds;
            (lower[k], upper[k]) = (b.lower, b.upper);
        }
    }

    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        for (k, &r) in self.rows.iter().enumerate() {
            let b = self.builder.rows[r].bounds;
            (lower[k], upper[k]) = (b.lower, b.upper);
        }
    }

    fn compute_start(&self, x: &mut [f64]) {
        for (x, &i) in x.iter_mut().zip(&self.variables) {
            *x = self.builder.unknowns[i].start;
        }
    }

    fn jacobian_pattern(&self) -> &SparsityPattern {
        &self.jacobian
    }

    fn hessian_pattern(&self) -> &SparsityPattern {
        &self.hessian
    }

    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        self.goals(x).iter().sum()
    }

    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        self.spread(x);
        gradient.fill(0.0);
        let scale = [1.0, self.duration()];
        for b in 0..self.builder.blocks.len() {
            let p = &self.places[b];
            if p.gradient.iter().all(Vec::is_empty) && p.gradient_times.is_empty() {
                continue;
            }
            let with_values = !p.gradient_times.is_empty();
            self.evaluate_first(b, with_values);
            let p = &self.places[b];
            for (list, scale) in p.gradient.iter().zip(scale) {
                for s in list {
                    gradient[s.to as usize] += scale * s.factor * self.first[s.from as usize];
                }
            }
            for s in &p.gradient_times {
                gradient[s.to as usize] += s.factor * self.values[s.from as usize];
            }
        }
    }

    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]) {
        let all = self.all_rows(x);
        for (c, &r) in c.iter_mut().zip(&self.rows) {
            *c = all[r];
        }
    }

    fn compute_jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        self.spread(x);
        values.fill(0.0);
        let scale = [1.0, self.duration()];
        let mut add = |r: u32, v: u32, value: f64| {
            if let (true, true, Some(k)) =
                (r != NONE, v != NONE, self.jacobian.position(r as usize, v as usize))
            {
                values[k] += value;
            }
        };
        for l in &self.builder.linear {
            let row = self.row_of[l.row];
            add(row, self.free[l.variable], l.factor * scale[usize::from(l.by_duration)]);
            if l.by_duration {
                let v = l.factor * self.full[l.variable];
                add(row, self.free[self.times[0]], -v);
                add(row, self.free[self.times[1]], v);
            }
        }
        for b in 0..self.builder.blocks.len() {
            let p = &self.places[b];
            if p.jacobian.iter().all(Vec::is_empty) && p.jacobian_times.is_empty() {
                continue;
            }
            let with_values = !p.jacobian_times.is_empty();
            self.evaluate_first(b, with_values);
            let p = &self.places[b];
            for (list, scale) in p.jacobian.iter().zip(scale) {
                for s in list {
                    values[s.to as usize] += scale * s.factor * self.first[s.from as usize];
                }
            }
            for s in &p.jacobian_times {
                values[s.to as usize] += s.factor * self.values[s.from as usize];
            }
        }
    }

    fn compute_hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]) {
        self.spread(x);
        values.fill(0.0);
        let duration = self.duration();
        // (t_f − t₀) a v: only mixed derivatives of times and variable.
        for l in self.builder.linear.iter().filter(|l| l.by_duration) {
            let (row, v) = (self.row_of[l.row], self.free[l.variable]);
            if row == NONE || v == NONE {
                continue;
            }
            for (end, sign) in [(self.times[0], -1.0), (self.times[1], 1.0)] {
                let end = self.free[end];
                if end == NONE {
                    continue;
                }
                if let Some(k) = self.hessian.position(v.max(end) as usize, v.min(end) as usize) {
                    values[k] += sign * l.factor * y[row as usize];
                }
            }
        }
        for b in 0..self.builder.blocks.len() {
            let p = &self.places[b];
            if p.hessian.is_empty() && p.hessian_times.is_empty() {
                continue;
            }
            let block = &self.builder.blocks[b];
            let mut any = false;
            for (w, o) in self.weights.iter_mut().zip(&block.outputs) {
                *w = o.factor
                    * match o.target {
                        Target::Row(r) if self.row_of[r] != NONE => y[self.row_of[r] as usize],
                        Target::Objective(_) => sigma,
                        _ => 0.0,
                    };
                any |= *w != 0.0;
            }
            if !any {
                continue;
            }
            let times = !p.hessian_times.is_empty();
            if times {
                self.evaluate_first(b, false);
                for (o, s) in &self.places[b].hessian_times {
                    values[s.to as usize] +=
                        self.weights[*o as usize] * s.factor * self.first[s.from as usize];
                }
            } else {
                self.gather(b);
            }
            let block = &self.builder.blocks[b];
            let f = &self.builder.functions[block.function];
            let (n, m, k) = (block.inputs.len(), block.outputs.len(), f.hessian_places().len());
            if k == 0 {
                continue;
            }
            for (w, o) in self.weights.iter_mut().zip(&block.outputs) {
                if o.by_duration {
                    *w *= duration;
                }
            }
            let scratch = &mut self.scratch[block.function];
            f.compute_hessian(&self.z[..n], &self.weights[..m], &mut self.second[..k], scratch);
            for s in &self.places[b].hessian {
                values[s.to as usize] += s.factor * self.second[s.from as usize];
            }
        }
    }

    fn stages(&self) -> Option<&Stages> {
        Some(&self.stages)
    }
}

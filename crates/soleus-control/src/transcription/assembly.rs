//! Assembly of a nonlinear program from functions of few variables and linear equations.
//!
//! Every constraint is a sum of values of functions, and of terms a v or (t_f − t₀) a v of single variables v. The same
//! holds for the objective. Fixed values are not variables of the program. Each phase of a problem has its own times.

use super::evaluation::Assembly;
use super::layout::Input;
use crate::function::PointFunction;
use crate::problem::Bounds;
use soleus_optimization::{SparsityPattern, Stages};
use std::sync::Arc;

/// Marks what has no place.
pub(super) const NONE: u32 = u32::MAX;

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
pub(super) struct Unknown {
    pub bounds: Bounds,
    pub start: f64,
    stage: u32,
    /// How far it may differ from its like; see [`Builder::variable_like`].
    size: f64,
    /// What it is made of, if it is a sum Σ c v of others and no variable.
    pub sum: Option<Vec<(usize, f64)>>,
}

/// A constraint.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub bounds: Bounds,
    stage: u32,
    pub name: String,
    /// Fraction τ of the duration at which it holds; none for what belongs to no time.
    pub tau: Option<f64>,
    pub phase: u32,
}

/// factor · v or factor · (t_f − t₀) · v in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub row: usize,
    pub variable: usize,
    pub factor: f64,
    pub by_duration: bool,
    pub phase: u32,
}

/// A function with its arguments.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub function: usize,
    pub inputs: Vec<Input>,
    pub outputs: Vec<Output>,
    pub phase: u32,
}

/// Puts a program together.
#[derive(Default)]
pub(super) struct Builder {
    pub unknowns: Vec<Unknown>,
    pub rows: Vec<Row>,
    pub linear: Vec<Linear>,
    pub functions: Vec<Arc<dyn PointFunction>>,
    pub blocks: Vec<Block>,
    /// The phase that is being put together.
    phase: u32,
}

impl Builder {
    /// What comes next belongs to this phase.
    pub fn begin_phase(&mut self, phase: usize) {
        self.phase = phase as u32;
    }

    /// A variable; fixed if its bounds meet.
    pub fn variable(&mut self, bounds: Bounds, start: f64, stage: u32) -> usize {
        self.variable_like(bounds, bounds, start, stage)
    }

    /// A variable of the size that wider bounds tell: those of a state also where it begins and ends.
    pub fn variable_like(&mut self, like: Bounds, bounds: Bounds, start: f64, stage: u32) -> usize {
        let width = like.upper - like.lower;
        let size = if width > 0.0 && width.is_finite() { width } else { 1.0 };
        self.unknowns.push(Unknown { bounds, start: bounds.clamp(start), stage, size, sum: None });
        self.unknowns.len() - 1
    }

    /// An unknown that is a sum of others, which [`define`](Self::define) has to name before anything depends on it.
    pub fn sum(&mut self, start: f64, stage: u32) -> usize {
        self.unknowns.push(Unknown { bounds: Bounds::FREE, start, stage, size: 1.0, sum: Some(Vec::new()) });
        self.unknowns.len() - 1
    }

    /// Says what a sum is made of; a variable is left as it is.
    pub fn define(&mut self, unknown: usize, terms: Vec<(usize, f64)>) {
        if let Some(sum) = &mut self.unknowns[unknown].sum {
            *sum = terms;
        }
    }

    /// A constraint, empty so far.
    pub fn row(&mut self, bounds: Bounds, stage: u32, tau: Option<f64>, name: String) -> usize {
        self.rows.push(Row { bounds, stage, name, tau, phase: self.phase });
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
        if factor == 0.0 {
            return;
        }
        match self.unknowns[variable].sum.clone() {
            Some(terms) => terms.iter().for_each(|&(v, c)| self.linear(row, v, factor * c, by_duration)),
            None => self.linear.push(Linear { row, variable, factor, by_duration, phase: self.phase }),
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
        self.blocks.push(Block { function, inputs, outputs, phase: self.phase });
    }

    /// The program; `times` are the variables t₀ and t_f of every phase, `in_sizes` says whether variables differ in size.
    pub fn finish(self, times: Vec<[usize; 2]>, num_goals: usize, in_sizes: bool) -> Assembly {
        let mut free = vec![NONE; self.unknowns.len()];
        let mut variables = Vec::new();
        for (i, u) in self.unknowns.iter().enumerate() {
            if !u.bounds.is_fixed() && u.sum.is_none() {
                free[i] = variables.len() as u32;
                variables.push(i);
            }
        }
        let plan = Plan::find(&self, &free, &times);
        let n = variables.len();
        let jacobian = SparsityPattern::from_places(plan.rows.len(), n, plan.jacobian_places());
        let hessian = SparsityPattern::from_places(n, n, plan.hessian_places());
        let stages = Stages {
            of_variable: variables.iter().map(|&i| self.unknowns[i].stage).collect(),
            of_constraint: plan.rows.iter().map(|&r| self.rows[r].stage).collect(),
        };
        let sizes = in_sizes.then(|| variables.iter().map(|&i| self.unknowns[i].size).collect());
        let places = plan.locate(&jacobian, &hessian);
        let linear_places = plan.locate_linear(&jacobian, &hessian);
        let Plan { row_of, rows, .. } = plan;
        let program = Program {
            builder: self,
            variables,
            rows,
            row_of,
            times,
            jacobian,
            hessian,
            stages,
            sizes,
            places,
            linear_places,
        };
        Assembly::new(program, num_goals)
    }
}

/// Everything about the program that does not change.
pub(super) struct Program {
    pub builder: Builder,
    /// Unknown of each variable.
    pub variables: Vec<usize>,
    /// Row of the builder for each constraint, and its inverse; NONE where nothing can change.
    pub rows: Vec<usize>,
    pub row_of: Vec<u32>,
    /// t₀ and t_f of each phase.
    pub times: Vec<[usize; 2]>,
    pub jacobian: SparsityPattern,
    pub hessian: SparsityPattern,
    pub stages: Stages,
    /// Typical size of each variable, where that is to be heeded.
    pub sizes: Option<Vec<f64>>,
    pub places: Vec<BlockPlaces>,
    pub linear_places: Vec<LinearPlaces>,
}

/// Positions of a linear term: in the Jacobian by its variable, t₀ and t_f; in the Hessian with t₀ and t_f.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinearPlaces {
    pub jacobian: [u32; 3],
    pub hessian: [u32; 2],
}

/// One contribution to a sparse matrix or gradient: source · factor, to the place `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    pub from: u32,
    pub to: u32,
    pub factor: f64,
}

/// Contributions of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockPlaces {
    /// From Jacobian of the function to rows: (place, position in the Jacobian, factor), without and with duration.
    pub jacobian: [Vec<Scatter>; 2],
    /// From values to rows by t₀ and t_f.
    pub jacobian_times: Vec<Scatter>,
    /// The same for the objective; `to` is a variable.
    pub gradient: [Vec<Scatter>; 2],
    pub gradient_times: Vec<Scatter>,
    /// From the Hessian of the function.
    pub hessian: Vec<Scatter>,
    /// From its Jacobian, times the weight of the output, to places of t₀ and t_f with the inputs.
    pub hessian_times: Vec<(u32, Scatter)>,
}

/// Places as (row, column) before patterns are known.
struct Plan<'a> {
    builder: &'a Builder,
    free: &'a [u32],
    times: &'a [[usize; 2]],
    /// Row of the program for each row of the builder; NONE if nothing in it can change.
    row_of: Vec<u32>,
    /// Its inverse.
    rows: Vec<usize>,
}

impl<'a> Plan<'a> {
    fn find(builder: &'a Builder, free: &'a [u32], times: &'a [[usize; 2]]) -> Plan<'a> {
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
    fn behind(&self, input: Input, phase: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let [t0, tf] = self.times[phase as usize];
        let mut sum: &[(usize, f64)] = &[];
        let pair = match input {
            Input::Variable(v) => {
                sum = self.builder.unknowns[v].sum.as_deref().unwrap_or_default();
                [(v, 1.0), (v, 0.0)]
            }
            Input::Time(tau) => [(t0, 1.0 - tau), (tf, tau)],
            Input::Constant(_) => [(t0, 0.0); 2],
        };
        // A sum is not a variable itself.
        let all = pair.into_iter().chain(sum.iter().copied()).filter(|p| p.1 != 0.0);
        all.map(|(v, c)| (self.free[v], c)).filter(|p| p.0 != NONE)
    }

    /// t₀ and t_f where free, with the slope of the duration by them.
    fn ends(&self, phase: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        let [t0, tf] = self.times[phase as usize];
        [(t0, -1.0), (tf, 1.0)].into_iter().map(|(v, c)| (self.free[v], c)).filter(|p| p.0 != NONE)
    }

    /// Calls with every (row of the builder, variable of the program).
    fn each_jacobian_place(&self, mut f: impl FnMut(usize, u32)) {
        for l in &self.builder.linear {
            if self.free[l.variable] != NONE {
                f(l.row, self.free[l.variable]);
            }
            if l.by_duration {
                self.ends(l.phase).for_each(|(v, _)| f(l.row, v));
            }
        }
        for b in &self.builder.blocks {
            for &(o, i) in self.builder.functions[b.function].jacobian_places() {
                if let Target::Row(r) = b.outputs[o].target {
                    self.behind(b.inputs[i], b.phase).for_each(|(v, _)| f(r, v));
                }
            }
            for o in b.outputs.iter().filter(|o| o.by_duration) {
                if let Target::Row(r) = o.target {
                    self.ends(b.phase).for_each(|(v, _)| f(r, v));
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
            self.ends(l.phase).for_each(|(v, _)| add(self.free[l.variable], v));
        }
        for b in &self.builder.blocks {
            let f = &self.builder.functions[b.function];
            for &(i, j) in f.hessian_places() {
                for (a, _) in self.behind(b.inputs[i], b.phase) {
                    self.behind(b.inputs[j], b.phase).for_each(|(c, _)| add(a, c));
                }
            }
            for &(o, i) in f.jacobian_places() {
                if b.outputs[o].by_duration && b.outputs[o].target != Target::Nothing {
                    for (a, _) in self.behind(b.inputs[i], b.phase) {
                        self.ends(b.phase).for_each(|(c, _)| add(a, c));
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
                for (v, slope) in self.behind(b.inputs[i], b.phase) {
                    let factor = output.factor * slope;
                    match output.target {
                        Target::Row(r) if self.row_of[r] != NONE => {
                            p.jacobian[d].push(Scatter { from, to: at(self.row_of[r], v), factor });
                        }
                        Target::Objective(_) => p.gradient[d].push(Scatter { from, to: v, factor }),
                        _ => {}
                    }
                    if output.by_duration && output.target != Target::Nothing {
                        for (end, sign) in self.ends(b.phase) {
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
                for (v, sign) in self.ends(b.phase) {
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
                for (a, sa) in self.behind(b.inputs[i], b.phase) {
                    for (c, sc) in self.behind(b.inputs[j], b.phase) {
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

    /// Positions of the linear terms.
    fn locate_linear(&self, jacobian: &SparsityPattern, hessian: &SparsityPattern) -> Vec<LinearPlaces> {
        let place = |l: &Linear| {
            let (row, v) = (self.row_of[l.row], self.free[l.variable]);
            let [t0, tf] =
                self.times[l.phase as usize].map(|t| if l.by_duration { self.free[t] } else { NONE });
            let at = |v: u32| match row != NONE && v != NONE {
                true => jacobian.position(row as usize, v as usize).map_or(NONE, |p| p as u32),
                false => NONE,
            };
            let with = |end: u32| match row != NONE && v != NONE && end != NONE {
                true => {
                    let place = hessian.position(v.max(end) as usize, v.min(end) as usize);
                    place.map_or(NONE, |p| p as u32)
                }
                false => NONE,
            };
            LinearPlaces { jacobian: [v, t0, tf].map(at), hessian: [t0, tf].map(with) }
        };
        self.builder.linear.iter().map(place).collect()
    }
}

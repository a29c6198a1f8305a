//! Values and derivatives of an assembled program, on one or more threads.
//!
//! Every block is evaluated separately into its own memory; sums are then computed in the order of the blocks by one
//! thread. Results are therefore bitwise independent of the number of threads.

use super::assembly::{Block, BlockPlaces, NONE, Program, Row, Scatter, Target};
use super::layout::Input;
use super::matching::unmatched_rows;
use crate::function::Scratch;
use soleus_optimization::{NonlinearProgram, SparsityPattern, Stages};

/// Unknowns that are weighted sums of others.
pub type Sums = Vec<(usize, Vec<(usize, f64)>)>;

/// A violated constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Name.
    pub name: String,
    /// Time, s; `None` for constraints without a time.
    pub time: Option<f64>,
    /// Distance from its bounds.
    pub amount: f64,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)?;
        self.time.map_or(Ok(()), |t| write!(f, " at {t:.4} s"))
    }
}

/// What a block is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ask {
    /// f.
    Values,
    /// ∂f/∂z, then f if something depends on the duration too.
    Jacobian,
    /// ∂²(wᵀ f)/∂z², then ∂f/∂z if something depends on the duration too.
    Hessian,
}

/// One block's share of a computation.
#[derive(Clone, Copy, Debug)]
struct Job {
    block: usize,
    /// Where its numbers begin among the results; the main ones, then the others.
    start: usize,
    main: usize,
    other: usize,
}

/// All blocks that a computation needs.
struct Jobs {
    ask: Ask,
    list: Vec<Job>,
    total: usize,
}

impl Jobs {
    fn new(p: &Program, ask: Ask, needed: impl Fn(usize) -> bool, other: impl Fn(usize) -> bool) -> Jobs {
        let (mut list, mut start) = (Vec::new(), 0);
        for block in (0..p.builder.blocks.len()).filter(|&b| needed(b)) {
            let f = &p.builder.functions[p.builder.blocks[block].function];
            let sizes = match ask {
                Ask::Values => [f.num_outputs(), 0],
                Ask::Jacobian => [f.jacobian_places().len(), f.num_outputs()],
                Ask::Hessian => [f.hessian_places().len(), f.jacobian_places().len()],
            };
            let (main, other) = (sizes[0], if other(block) { sizes[1] } else { 0 });
            list.push(Job { block, start, main, other });
            start += main + other;
        }
        Jobs { ask, list, total: start }
    }

    /// Parts of about equal size, one per thread.
    fn parts(&self, count: usize) -> impl Iterator<Item = &[Job]> {
        let mut rest = &self.list[..];
        (1..=count).map(move |k| {
            let limit = self.total * k / count;
            let end = if k == count { rest.len() } else { rest.partition_point(|j| j.start < limit) };
            let part;
            (part, rest) = rest.split_at(end);
            part
        })
    }
}

/// What one thread needs.
struct Worker {
    scratch: Vec<Scratch>,
    z: Vec<f64>,
    weights: Vec<f64>,
}

/// Weights of the outputs in the Lagrangian: σ of the objective and y of the rows.
#[derive(Clone, Copy)]
struct Lagrangian<'a> {
    sigma: f64,
    y: &'a [f64],
}

impl Worker {
    fn new(p: &Program) -> Worker {
        let b = &p.builder;
        Worker {
            scratch: b.functions.iter().map(|f| f.scratch()).collect(),
            z: vec![0.0; b.functions.iter().map(|f| f.num_inputs()).max().unwrap_or(0)],
            weights: vec![0.0; b.functions.iter().map(|f| f.num_outputs()).max().unwrap_or(0)],
        }
    }

    /// Does its part; `out` begins with the numbers of the first job.
    fn run(&mut self, p: &Program, full: &[f64], ask: Ask, part: &[Job], l: Lagrangian<'_>, out: &mut [f64]) {
        let offset = part.first().map_or(0, |j| j.start);
        for job in part {
            let block = &p.builder.blocks[job.block];
            gather(p, full, block, &mut self.z);
            let f = &p.builder.functions[block.function];
            let z = &self.z[..block.inputs.len()];
            let scratch = &mut self.scratch[block.function];
            let from = job.start - offset;
            let (main, other) = out[from..from + job.main + job.other].split_at_mut(job.main);
            match ask {
                Ask::Values => f.compute_values(z, main, scratch),
                Ask::Jacobian => {
                    f.compute_jacobian(z, main, scratch);
                    if !other.is_empty() {
                        f.compute_values(z, other, scratch);
                    }
                }
                Ask::Hessian => {
                    let weights = &mut self.weights[..block.outputs.len()];
                    if !output_weights(p, block, l, weights) {
                        main.fill(0.0);
                        other.fill(0.0);
                        continue;
                    }
                    if !other.is_empty() {
                        f.compute_jacobian(z, other, scratch);
                    }
                    if !main.is_empty() {
                        let duration = duration(p, full, block.phase);
                        for (w, _) in weights.iter_mut().zip(&block.outputs).filter(|(_, o)| o.by_duration) {
                            *w *= duration;
                        }
                        f.compute_hessian(z, weights, main, scratch);
                    }
                }
            }
        }
    }
}

/// The arguments of a block.
fn gather(p: &Program, full: &[f64], block: &Block, z: &mut [f64]) {
    let [t0, tf] = p.times[block.phase as usize].map(|t| full[t]);
    for (z, input) in z.iter_mut().zip(&block.inputs) {
        *z = match *input {
            Input::Variable(v) => full[v],
            Input::Time(tau) => (1.0 - tau) * t0 + tau * tf,
            Input::Constant(c) => c,
        };
    }
}

fn duration(p: &Program, full: &[f64], phase: u32) -> f64 {
    let [t0, tf] = p.times[phase as usize];
    full[tf] - full[t0]
}

/// Weights of a block's outputs in the Lagrangian, the duration not counted; whether any differs from zero.
fn output_weights(p: &Program, block: &Block, l: Lagrangian<'_>, weights: &mut [f64]) -> bool {
    for (w, o) in weights.iter_mut().zip(&block.outputs) {
        let of = match o.target {
            Target::Row(r) if p.row_of[r] != NONE => l.y[p.row_of[r] as usize],
            Target::Objective(_) => l.sigma,
            _ => 0.0,
        };
        *w = o.factor * of;
    }
    weights.iter().any(|w| *w != 0.0)
}

/// The nonlinear program.
pub(super) struct Assembly {
    program: Program,
    /// Values of all unknowns, fixed ones included.
    full: Vec<f64>,
    workers: Vec<Worker>,
    objective_jobs: Jobs,
    row_jobs: Jobs,
    gradient_jobs: Jobs,
    jacobian_jobs: Jobs,
    hessian_jobs: Jobs,
    results: Vec<f64>,
    row_values: Vec<f64>,
    goals: Vec<f64>,
}

impl Assembly {
    pub fn new(p: Program, num_goals: usize) -> Assembly {
        let outputs = |b: usize| &p.builder.blocks[b].outputs;
        let to_objective = |b: usize| outputs(b).iter().any(|o| matches!(o.target, Target::Objective(_)));
        let to_rows = |b: usize| outputs(b).iter().any(|o| matches!(o.target, Target::Row(_)));
        let filled = |lists: &[Vec<Scatter>; 2], times: &[Scatter]| {
            lists.iter().any(|l| !l.is_empty()) || !times.is_empty()
        };
        let by_gradient = |b: usize| filled(&p.places[b].gradient, &p.places[b].gradient_times);
        let by_jacobian = |b: usize| filled(&p.places[b].jacobian, &p.places[b].jacobian_times);
        let by_hessian = |b: usize| !p.places[b].hessian.is_empty() || !p.places[b].hessian_times.is_empty();
        let objective_jobs = Jobs::new(&p, Ask::Values, to_objective, |_| false);
        let row_jobs = Jobs::new(&p, Ask::Values, to_rows, |_| false);
        let times = |b: usize| !p.places[b].gradient_times.is_empty();
        let gradient_jobs = Jobs::new(&p, Ask::Jacobian, by_gradient, times);
        let times = |b: usize| !p.places[b].jacobian_times.is_empty();
        let jacobian_jobs = Jobs::new(&p, Ask::Jacobian, by_jacobian, times);
        let times = |b: usize| !p.places[b].hessian_times.is_empty();
        let hessian_jobs = Jobs::new(&p, Ask::Hessian, by_hessian, times);
        let all = [&objective_jobs, &row_jobs, &gradient_jobs, &jacobian_jobs, &hessian_jobs];
        Assembly {
            results: vec![0.0; all.iter().map(|j| j.total).max().unwrap_or(0)],
            full: p.builder.unknowns.iter().map(|u| u.start).collect(),
            workers: vec![Worker::new(&p)],
            row_values: vec![0.0; p.builder.rows.len()],
            goals: vec![0.0; num_goals],
            program: p,
            objective_jobs,
            row_jobs,
            gradient_jobs,
            jacobian_jobs,
            hessian_jobs,
        }
    }

    /// How many threads evaluate blocks; at least one.
    pub fn set_threads(&mut self, threads: usize) {
        let p = &self.program;
        self.workers.resize_with(threads.max(1), || Worker::new(p));
    }

    fn spread(&mut self, x: &[f64]) {
        for (&i, &x) in self.program.variables.iter().zip(x) {
            self.full[i] = x;
        }
        for (i, u) in self.program.builder.unknowns.iter().enumerate() {
            if let Some(terms) = &u.sum {
                self.full[i] = terms.iter().map(|&(v, c)| c * self.full[v]).sum();
            }
        }
    }

    /// How variables become unknowns: the unknown of each variable, unknowns that are sums of others, and all of them at the start.
    pub fn spreading(&self) -> (Vec<usize>, Sums, Vec<f64>) {
        let unknowns = self.program.builder.unknowns.iter().enumerate();
        let sums = unknowns.filter_map(|(i, u)| Some((i, u.sum.clone()?))).collect();
        (self.program.variables.clone(), sums, self.full.clone())
    }

    /// All unknowns, fixed ones included, for the variables of the program.
    pub fn unknowns(&mut self, x: &[f64]) -> &[f64] {
        self.spread(x);
        &self.full
    }

    /// Another place to start from, given for all unknowns; fixed ones stay.
    pub fn set_start(&mut self, full: &[f64]) {
        for (u, &x) in self.program.builder.unknowns.iter_mut().zip(full) {
            u.start = u.bounds.clamp(x);
        }
    }

    /// Where to start, all unknowns.
    pub fn start(&self) -> Vec<f64> {
        self.program.builder.unknowns.iter().map(|u| u.start).collect()
    }

    /// The value of each goal's cost, weights included.
    pub fn goals(&mut self, x: &[f64]) -> &[f64] {
        self.spread(x);
        let none = Lagrangian { sigma: 0.0, y: &[] };
        let Assembly { program: p, full, workers, objective_jobs: jobs, results, goals, .. } = self;
        run(p, full, workers, jobs, none, results);
        goals.fill(0.0);
        add_values(p, full, jobs, results, |target, v| {
            if let Target::Objective(g) = target {
                goals[g] += v;
            }
        });
        goals
    }

    /// Values of all rows of the builder, those without variables too.
    fn compute_rows(&mut self, x: &[f64]) {
        self.spread(x);
        let none = Lagrangian { sigma: 0.0, y: &[] };
        let Assembly { program: p, full, workers, row_jobs: jobs, results, row_values: all, .. } = self;
        run(p, full, workers, jobs, none, results);
        all.fill(0.0);
        for l in &p.builder.linear {
            let v = l.factor * full[l.variable];
            all[l.row] += if l.by_duration { duration(p, full, l.phase) * v } else { v };
        }
        add_values(p, full, jobs, results, |target, v| {
            if let Target::Row(r) = target {
                all[r] += v;
            }
        });
    }

    /// Values of all rows of the builder at the start.
    pub fn rows_at_start(&mut self) -> Vec<f64> {
        let mut x = vec![0.0; self.num_variables()];
        self.compute_start(&mut x);
        self.compute_rows(&x);
        self.row_values.clone()
    }

    /// Constraints that are violated by more than `tolerance`, worst first.
    pub fn violations(&mut self, x: &[f64], tolerance: f64, unchangeable_only: bool) -> Vec<Violation> {
        self.compute_rows(x);
        let p = &self.program;
        let mut list: Vec<Violation> = Vec::new();
        for (i, (row, &v)) in p.builder.rows.iter().zip(&self.row_values).enumerate() {
            if unchangeable_only && p.row_of[i] != NONE {
                continue;
            }
            let amount = (row.bounds.lower - v).max(v - row.bounds.upper).max(0.0);
            if !(amount <= tolerance) {
                let [t0, tf] = p.times[row.phase as usize].map(|t| self.full[t]);
                let time = row.tau.map(|tau| (1.0 - tau) * t0 + tau * tf);
                list.push(Violation { name: row.name.clone(), time, amount });
            }
        }
        list.sort_by(|a, b| b.amount.total_cmp(&a.amount));
        list
    }

    /// Names of equations that no variable is left for, once every other equation has one of its own: the rows that a
    /// largest matching of equations and variables leaves out (Dulmage & Mendelsohn 1958).
    pub fn unmatched_equations(&self) -> Vec<String> {
        let p = &self.program;
        let name = |row: usize| p.builder.rows[p.rows[row]].name.clone();
        let equations: Vec<usize> =
            (0..p.rows.len()).filter(|&r| p.builder.rows[p.rows[r]].bounds.is_fixed()).collect();
        let unmatched = unmatched_rows(&p.jacobian, &equations, p.variables.len());
        unmatched.into_iter().map(name).collect()
    }

    /// The constraints of the program.
    pub fn constraints(&self) -> impl Iterator<Item = &Row> {
        self.program.rows.iter().map(|&r| &self.program.builder.rows[r])
    }

    /// The variable of the program that an unknown is, if it is one.
    pub fn variable_of(&self, unknown: usize) -> Option<usize> {
        self.program.variables.binary_search(&unknown).ok()
    }

    /// The unknown behind a variable of the program.
    pub fn unknown_of(&self, variable: usize) -> Option<usize> {
        self.program.variables.get(variable).copied()
    }
}

/// Evaluates all blocks of a computation, each on one of the threads.
fn run(
    p: &Program,
    full: &[f64],
    workers: &mut [Worker],
    jobs: &Jobs,
    l: Lagrangian<'_>,
    results: &mut [f64],
) {
    let results = &mut results[..jobs.total];
    let (first, others) = match workers.split_first_mut() {
        Some((first, others)) if !others.is_empty() => (first, others),
        Some((only, _)) => return only.run(p, full, jobs.ask, &jobs.list, l, results),
        None => return,
    };
    let count = 1 + others.len();
    std::thread::scope(|scope| {
        let mut rest = results;
        let mut others = others.iter_mut();
        for (k, part) in jobs.parts(count).enumerate() {
            let size: usize = part.iter().map(|j| j.main + j.other).sum();
            let out;
            (out, rest) = rest.split_at_mut(size);
            // The last part is this thread's own.
            match others.next().filter(|_| k + 1 < count) {
                Some(w) => {
                    scope.spawn(move || w.run(p, full, jobs.ask, part, l, out));
                }
                None => first.run(p, full, jobs.ask, part, l, out),
            }
        }
    });
}

/// Hands on the values of blocks, factors and durations included.
fn add_values(p: &Program, full: &[f64], jobs: &Jobs, results: &[f64], mut add: impl FnMut(Target, f64)) {
    for job in &jobs.list {
        let block = &p.builder.blocks[job.block];
        let duration = duration(p, full, block.phase);
        for (o, v) in block.outputs.iter().zip(&results[job.start..job.start + job.main]) {
            add(o.target, o.factor * if o.by_duration { duration * v } else { *v });
        }
    }
}

type FirstPlaces<'a> = (&'a [Vec<Scatter>; 2], &'a [Scatter]);

/// Adds the first derivatives of blocks at their places in the gradient or the Jacobian.
fn add_first(
    (p, full): (&Program, &[f64]),
    workers: &mut [Worker],
    jobs: &Jobs,
    results: &mut [f64],
    to: &mut [f64],
    places: impl Fn(&BlockPlaces) -> FirstPlaces<'_>,
) {
    run(p, full, workers, jobs, Lagrangian { sigma: 0.0, y: &[] }, results);
    for job in &jobs.list {
        let scale = [1.0, duration(p, full, p.builder.blocks[job.block].phase)];
        let (first, values) = results[job.start..job.start + job.main + job.other].split_at(job.main);
        let (by_block, by_times) = places(&p.places[job.block]);
        for (list, scale) in by_block.iter().zip(scale) {
            for s in list {
                to[s.to as usize] += scale * s.factor * first[s.from as usize];
            }
        }
        for s in by_times {
            to[s.to as usize] += s.factor * values[s.from as usize];
        }
    }
}

impl NonlinearProgram for Assembly {
    fn num_variables(&self) -> usize {
        self.program.variables.len()
    }

    fn num_constraints(&self) -> usize {
        self.program.rows.len()
    }

    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        for (k, &i) in self.program.variables.iter().enumerate() {
            let b = self.program.builder.unknowns[i].bounds;
            (lower[k], upper[k]) = (b.lower, b.upper);
        }
    }

    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        for (k, &r) in self.program.rows.iter().enumerate() {
            let b = self.program.builder.rows[r].bounds;
            (lower[k], upper[k]) = (b.lower, b.upper);
        }
    }

    fn compute_start(&self, x: &mut [f64]) {
        for (x, &i) in x.iter_mut().zip(&self.program.variables) {
            *x = self.program.builder.unknowns[i].start;
        }
    }

    fn jacobian_pattern(&self) -> &SparsityPattern {
        &self.program.jacobian
    }

    fn hessian_pattern(&self) -> &SparsityPattern {
        &self.program.hessian
    }

    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        self.goals(x).iter().sum()
    }

    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        self.spread(x);
        gradient.fill(0.0);
        let Assembly { program: p, full, workers, gradient_jobs: jobs, results, .. } = self;
        add_first((p, full), workers, jobs, results, gradient, |places| {
            (&places.gradient, &places.gradient_times)
        });
    }

    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]) {
        self.compute_rows(x);
        for (c, &r) in c.iter_mut().zip(&self.program.rows) {
            *c = self.row_values[r];
        }
    }

    fn compute_jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        self.spread(x);
        values.fill(0.0);
        let Assembly { program: p, full, workers, jacobian_jobs: jobs, results, .. } = self;
        for (l, places) in p.builder.linear.iter().zip(&p.linear_places) {
            let scale = if l.by_duration { duration(p, full, l.phase) } else { 1.0 };
            let v = l.factor * full[l.variable];
            for (place, value) in places.jacobian.into_iter().zip([l.factor * scale, -v, v]) {
                if place != NONE {
                    values[place as usize] += value;
                }
            }
        }
        add_first((p, full), workers, jobs, results, values, |places| {
            (&places.jacobian, &places.jacobian_times)
        });
    }

    fn compute_hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]) {
        self.spread(x);
        values.fill(0.0);
        let lagrangian = Lagrangian { sigma, y };
        let Assembly { program: p, full, workers, hessian_jobs: jobs, results, .. } = self;
        // (t_f − t₀) a v: only mixed derivatives of times and variable.
        for (l, places) in p.builder.linear.iter().zip(&p.linear_places).filter(|(l, _)| l.by_duration) {
            for (place, sign) in places.hessian.into_iter().zip([-1.0, 1.0]) {
                if place != NONE {
                    values[place as usize] += sign * l.factor * y[p.row_of[l.row] as usize];
                }
            }
        }
        run(p, full, workers, jobs, lagrangian, results);
        let Some(weights) = workers.first_mut().map(|w| &mut w.weights) else { return };
        for job in &jobs.list {
            let (main, other) = results[job.start..job.start + job.main + job.other].split_at(job.main);
            let places = &p.places[job.block];
            if !other.is_empty() {
                let block = &p.builder.blocks[job.block];
                output_weights(p, block, lagrangian, &mut weights[..block.outputs.len()]);
                for (o, s) in &places.hessian_times {
                    values[s.to as usize] += weights[*o as usize] * s.factor * other[s.from as usize];
                }
            }
            for s in &places.hessian {
                values[s.to as usize] += s.factor * main[s.from as usize];
            }
        }
    }

    fn variable_sizes(&self) -> Option<&[f64]> {
        self.program.sizes.as_deref()
    }
    fn stages(&self) -> Option<&Stages> {
        Some(&self.program.stages)
    }
}

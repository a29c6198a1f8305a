//! A problem on a mesh, as a nonlinear program.

use super::assembly::{Builder, Output, Target};
use super::evaluation::{Assembly, Violation};
use super::layout::{Input, Layout};
use super::program::Transcription;
use super::scheme::Scheme;
use super::settings::{ConstraintMethod, Settings};
use super::states_reader::StatesReader;
use crate::problem::{Link, LinkVariable, Phases, PointVariable, Problem, ProblemError};
use crate::solution::{Trajectory, set_slopes};
use soleus_optimization::{NonlinearProgram, SparsityPattern, Stages};

/// A problem on a mesh: a [`NonlinearProgram`] whose solution is a [`Trajectory`], or one for each phase.
pub struct Collocation {
    pub(super) assembly: Assembly,
    pub(super) phases: Vec<Phase>,
}

/// One phase and its mesh.
pub(super) struct Phase {
    pub problem: Problem,
    pub settings: Settings,
    pub layout: Layout,
}

impl Collocation {
    /// Transcribes a problem; the initial guess is each variable's [guess](crate::Variable::guess).
    pub fn new(problem: Problem, settings: &Settings) -> Result<Collocation, Vec<ProblemError>> {
        Collocation::of_phases(
            Phases { phases: vec![problem], links: Vec::new() },
            std::slice::from_ref(settings),
        )
    }

    /// Transcribes a problem with several phases, each with its own mesh and scheme.
    pub fn of_phases(all: Phases, settings: &[Settings]) -> Result<Collocation, Vec<ProblemError>> {
        let mut errors = all.errors();
        if settings.len() != all.phases.len() {
            let (expected, found) = (all.phases.len(), settings.len());
            errors.push(ProblemError::Sizes { what: "settings of the phases".into(), expected, found });
        }
        for (problem, settings) in all.phases.iter().zip(settings) {
            errors.extend(mesh_error(&settings.mesh));
            let constrained = problem.dynamics.constraints.is_some() && settings.constraint_derivatives;
            let posa = settings.constraint_method == ConstraintMethod::Posa2016;
            let compressed = settings.scheme == Scheme::HermiteSimpsonCompressed;
            if constrained && posa && settings.scheme != Scheme::HermiteSimpson && !compressed {
                errors.push(ProblemError::PosaNeedsHermiteSimpson);
            }
            if compressed && !(problem.initial_time.is_fixed() && problem.final_time.is_fixed()) {
                errors.push(ProblemError::CompressedNeedsTimes);
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let Phases { phases: problems, links } = all;
        let (mut b, mut phases) = (Builder::default(), Vec::new());
        let (mut first_stage, mut num_goals) = (0, 0);
        for (k, (problem, settings)) in problems.into_iter().zip(settings).enumerate() {
            b.begin_phase(k);
            let stencil = settings.scheme.stencil();
            let mut t = Transcription {
                problem: &problem,
                settings,
                stencil: &stencil,
                constraints: problem.dynamics.constraints.as_ref().filter(|_| problem.prescribed.is_empty()),
                b,
                layout: Layout::default(),
                first_stage,
                first_goal: num_goals,
            };
            t.add_unknowns();
            t.add_dynamics();
            t.add_defects();
            t.add_constraints();
            t.add_goals();
            let layout;
            Transcription { b, layout, .. } = t;
            first_stage += settings.mesh.len() as u32;
            num_goals += problem.goals.len() + 1;
            phases.push(Phase { problem, settings: settings.clone(), layout });
        }
        for link in &links {
            add_link(link, &phases, &mut b);
        }
        let times = phases.iter().map(|p| p.layout.times).collect();
        let mut assembly = b.finish(times, num_goals, settings.first().is_some_and(|s| s.scale_variables));
        let mut full = assembly.start();
        phases.iter().for_each(|p| set_slopes(&p.problem, p.settings.scheme, &p.layout, &mut full));
        assembly.set_start(&full);
        let mut c = Collocation { assembly, phases };
        c.complete_start();
        Ok(c)
    }

    /// Copies of initial values and growing sums follow from the rest of the start.
    fn complete_start(&mut self) {
        let mut full = self.assembly.start();
        let layouts = || self.phases.iter().map(|p| &p.layout);
        layouts().flat_map(|l| &l.copies).for_each(|&(v, c)| full[c] = full[v]);
        for &(_, sum) in layouts().flat_map(|l| &l.sums).flatten() {
            full[sum] = 0.0;
        }
        self.assembly.set_start(&full);
        if layouts().all(|l| l.sums.is_empty()) {
            return;
        }
        // With all sums at zero, a row is minus what its interval adds.
        let rows = self.assembly.rows_at_start();
        for list in self.phases.iter().flat_map(|p| &p.layout.sums) {
            let mut sum = 0.0;
            for &(row, variable) in list {
                sum -= rows[row];
                full[variable] = sum;
            }
        }
        self.assembly.set_start(&full);
    }

    /// The problem; with several phases, the first.
    pub fn problem(&self) -> &Problem {
        &self.phases[0].problem
    }

    /// The motion for given variables of the program; with several phases, the first.
    pub fn trajectory(&mut self, x: &[f64]) -> Trajectory {
        let full = self.assembly.unknowns(x);
        Trajectory::collect(&self.phases[0].problem, &self.phases[0].layout, full)
    }

    /// Reader of the motion from variables during a solve; with several phases, of the first.
    pub fn states_reader(&self) -> StatesReader {
        let Phase { problem, layout, .. } = &self.phases[0];
        let (variables, sums, full) = self.assembly.spreading();
        let points = layout.points.iter().map(|p| (p.tau, p.states.clone())).collect();
        let names = problem.states.iter().map(|v| v.name.clone()).collect();
        StatesReader { names, variables, sums, full, times: layout.times, points }
    }

    /// The motions of all phases.
    pub fn trajectories(&mut self, x: &[f64]) -> Vec<Trajectory> {
        let full = self.assembly.unknowns(x);
        self.phases.iter().map(|p| Trajectory::collect(&p.problem, &p.layout, full)).collect()
    }

    /// Cost of each goal, including weights; after the goals of a phase, costs added by the transcription.
    pub fn objective_by_goal(&mut self, x: &[f64]) -> Vec<(String, f64)> {
        let values = self.assembly.goals(x).to_vec();
        let of_phase = |p: &Phase| {
            let names: Vec<String> = p.problem.goals.iter().map(|g| g.name.clone()).collect();
            names.into_iter().chain(["state_projection".to_string()])
        };
        self.phases.iter().flat_map(of_phase).zip(values).collect()
    }

    /// Sets the number of threads that evaluate mesh points; results do not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.assembly.set_threads(threads);
    }

    /// Constraints violated by more than `tolerance`, largest violation first.
    pub fn violations(&mut self, x: &[f64], tolerance: f64) -> Vec<Violation> {
        self.assembly.violations(x, tolerance, false)
    }

    /// Warnings about dependent equations: more equations than the variables they contain.
    pub fn dependent(&self) -> Vec<String> {
        let rows = self.assembly.unmatched_equations();
        rows.iter().map(|name| format!("{name} depends on other equations, or contradicts them")).collect()
    }

    /// At most three bounds with the largest multipliers, which limit the motion most.
    pub fn pressed_bounds(&mut self, x: &[f64], lower: &[f64], upper: &[f64]) -> Vec<String> {
        let pairs = lower.iter().zip(upper).enumerate();
        let mut list: Vec<(f64, usize, bool)> = pairs.map(|(i, (&l, &u))| (l.max(u), i, l > u)).collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        let full = self.assembly.unknowns(x).to_vec();
        let mut names: Vec<String> = Vec::new();
        for (_, i, is_lower) in list.into_iter().take_while(|p| p.0 > 0.0) {
            let unknown = self.assembly.unknown_of(i);
            let name =
                unknown.and_then(|u| self.phases.iter().find_map(|p| p.layout.name(&p.problem, u, &full)));
            let Some((name, time)) = name else { continue };
            let side = if is_lower { "least" } else { "greatest" };
            names.push(format!("{side} {name}{}", time.map_or(String::new(), |t| format!(" at {t:.4} s"))));
            if names.len() == 3 {
                break;
            }
        }
        names
    }

    /// Violated constraints that cannot change because all their variables are fixed.
    pub fn impossible(&mut self, tolerance: f64) -> Vec<Violation> {
        let mut x = vec![0.0; self.num_variables()];
        self.compute_start(&mut x);
        self.assembly.violations(&x, tolerance, true)
    }

    /// Uses a motion as initial guess, matched by name and time; variables without data keep their values. With several
    /// phases, for the first.
    pub fn set_guess(&mut self, guess: &Trajectory) {
        self.set_guess_of(0, guess);
    }

    /// The same for a phase; no effect if there is no such phase.
    pub fn set_guess_of(&mut self, phase: usize, guess: &Trajectory) {
        let Some(p) = self.phases.get(phase) else { return };
        let mut full = self.assembly.start();
        guess.spread_states(&p.problem, &p.layout, &mut full);
        set_slopes(&p.problem, p.settings.scheme, &p.layout, &mut full);
        guess.spread_others(&p.problem, &p.layout, &mut full);
        self.assembly.set_start(&full);
        self.complete_start();
    }
}

/// Puts a link between the end of a phase and the beginning of the next.
fn add_link(link: &Link, phases: &[Phase], b: &mut Builder) {
    b.begin_phase(link.after);
    let (before, after) = (&phases[link.after].layout, &phases[link.after + 1].layout);
    let last = &before.points[before.points.len() - 1];
    let mut inputs = Vec::new();
    for v in &link.inputs {
        let (layout, point, v, end) = match *v {
            LinkVariable::Last(v) => (before, last, v, 1),
            LinkVariable::Initial(v) => (after, &after.points[0], v, 0),
        };
        // A time is a variable of its own, whatever the phase.
        inputs.push(match v {
            PointVariable::Time => Input::Variable(layout.times[end]),
            v => layout.input(point, v),
        });
    }
    let mut outputs = Vec::new();
    for (i, &bounds) in link.bounds.iter().enumerate() {
        let row = b.row(bounds, last.stage, Some(1.0), format!("link {}, value {i}", link.name));
        outputs.push(Output { target: Target::Row(row), factor: 1.0, by_duration: false });
    }
    b.block(&link.function, inputs, outputs);
}

fn mesh_error(mesh: &[f64]) -> Option<ProblemError> {
    let wrong =
        |point: usize| Some(ProblemError::Mesh { point, value: mesh.get(point).copied().unwrap_or(0.0) });
    if mesh.len() < 2 || mesh[0] != 0.0 {
        return wrong(0);
    }
    if let Some(i) = (1..mesh.len()).find(|&i| !(mesh[i] > mesh[i - 1])) {
        return wrong(i);
    }
    if mesh[mesh.len() - 1] != 1.0 { wrong(mesh.len() - 1) } else { None }
}

impl NonlinearProgram for Collocation {
    fn num_variables(&self) -> usize {
        self.assembly.num_variables()
    }
    fn num_constraints(&self) -> usize {
        self.assembly.num_constraints()
    }
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        self.assembly.compute_variable_bounds(lower, upper);
    }
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        self.assembly.compute_constraint_bounds(lower, upper);
    }
    fn compute_start(&self, x: &mut [f64]) {
        self.assembly.compute_start(x);
    }
    fn jacobian_pattern(&self) -> &SparsityPattern {
        self.assembly.jacobian_pattern()
    }
    fn hessian_pattern(&self) -> &SparsityPattern {
        self.assembly.hessian_pattern()
    }
    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        self.assembly.compute_objective(x)
    }
    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        self.assembly.compute_gradient(x, gradient);
    }
    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]) {
        self.assembly.compute_constraints(x, c);
    }
    fn compute_jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        self.assembly.compute_jacobian(x, values);
    }
    fn compute_hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]) {
        self.assembly.compute_hessian(x, sigma, y, values);
    }
    fn variable_sizes(&self) -> Option<&[f64]> {
        self.assembly.variable_sizes()
    }
    fn stages(&self) -> Option<&Stages> {
        self.assembly.stages()
    }
}

//! Construction of a program: unknowns, equations and costs of every point and interval.

use super::assembly::{Builder, Output, Target};
use super::layout::{Input, Layout, PointUnknowns};
use super::scheme::{Scheme, Stencil};
use super::settings::{ConstraintMethod, Settings};
use crate::function::PointFunction;
use crate::problem::{
    Bounds, EndpointFunction, EndpointVariable, Goal, KinematicConstraints, Mode, PointVariable, Problem,
    Term,
};
use soleus_optimization::Stages;
use std::sync::Arc;

/// A program in the making.
pub(super) struct Transcription<'a> {
    pub problem: &'a Problem,
    pub settings: &'a Settings,
    pub stencil: &'a Stencil,
    /// Kinematic constraints that hold along the motion; none if the motion is prescribed.
    pub constraints: Option<&'a KinematicConstraints>,
    pub b: Builder,
    pub layout: Layout,
    /// Stage of the first point, and the number of the first goal.
    pub first_stage: u32,
    pub first_goal: usize,
}

impl Transcription<'_> {
    fn stage(&self, interval: usize) -> u32 {
        self.first_stage + interval as u32
    }

    fn num_intervals(&self) -> usize {
        self.settings.mesh.len() - 1
    }

    /// Points of the grid per interval, the end not counted.
    fn inner(&self) -> usize {
        self.stencil.nodes.len() - 1
    }

    fn is_mesh(&self, point: usize) -> bool {
        point.is_multiple_of(self.inner())
    }

    fn posa(&self) -> bool {
        self.constraints.is_some()
            && self.settings.constraint_derivatives
            && self.settings.constraint_method == ConstraintMethod::Posa2016
    }

    fn bordalba(&self) -> bool {
        self.constraints.is_some()
            && self.settings.constraint_derivatives
            && self.settings.constraint_method == ConstraintMethod::Bordalba2023
    }

    /// Whether the equations q̇ = u of a point get corrections.
    fn corrected(&self, point: usize) -> bool {
        self.posa() && !self.is_mesh(point)
    }

    /// Whether a point is the initial one of Radau's scheme, without dynamics, controls and path constraints.
    fn is_bare_start(&self, point: usize) -> bool {
        let radau = matches!(self.settings.scheme, Scheme::LegendreGaussRadau(_));
        point == 0 && radau && !self.settings.dynamics_at_start
    }

    /// Whether controls inside an interval lie on a line.
    fn interpolates_controls(&self) -> bool {
        self.settings.interpolate_controls && !self.settings.constant_controls
    }

    /// Whether nothing asks for the rates of a point: mesh points of the midpoint rule, the first point of backward
    /// Euler. The dynamics are left out there.
    fn idle(&self, point: usize) -> bool {
        let skips = match self.settings.scheme {
            Scheme::Midpoint => self.is_mesh(point),
            Scheme::BackwardEuler => point == 0,
            _ => self.is_bare_start(point),
        };
        let asked = |v: &EndpointVariable| {
            matches!(
                v,
                EndpointVariable::Initial(PointVariable::Rate(_))
                    | EndpointVariable::Last(PointVariable::Rate(_))
            )
        };
        let goals = &self.problem.goals;
        skips
            && self.constraints.is_none()
            && !goals.iter().flat_map(|g| &g.endpoint).any(|e| e.inputs.iter().any(asked))
    }

    /// Whether states and rates at midpoints are put in place of their equations: with the midpoint rule and known times both
    /// are sums of the states at mesh points. Bounds hold there by themselves.
    ///
    ///   x̄ = ½(x₀ + x₁),   ẋ̄ = (x₁ − x₀)/h
    fn midpoints_follow(&self) -> bool {
        let p = self.problem;
        let inside = |v: &crate::problem::Variable| {
            [v.initial, v.last].iter().all(|b| b.lower >= v.bounds.lower && b.upper <= v.bounds.upper)
        };
        self.settings.scheme == Scheme::Midpoint
            && p.initial_time.is_fixed()
            && p.final_time.is_fixed()
            && self.constraints.is_none()
            && p.prescribed.is_empty()
            && p.dynamics.driven.iter().all(Option::is_none)
            && p.dynamics.rate_bounds.iter().all(|b| *b == Bounds::FREE)
            && p.states.iter().all(inside)
    }

    /// Whether nothing asks for the controls of a point: those at mesh points of the midpoint rule, the first of backward
    /// Euler. An equation between such controls alone, say that they repeat, asks for nothing.
    fn without_controls(&self, point: usize) -> bool {
        let p = self.problem;
        let last = self.num_intervals() * self.inner();
        let in_path = |v: &PointVariable| matches!(v, PointVariable::Control(_));
        let of_control = |v: &EndpointVariable| match v {
            EndpointVariable::Initial(PointVariable::Control(_)) => self.idle(0),
            EndpointVariable::Last(PointVariable::Control(_)) => self.idle(last),
            _ => false,
        };
        let asks = |g: &Goal| {
            let Some(e) = &g.endpoint else { return false };
            let idle: Vec<bool> = e.inputs.iter().map(of_control).collect();
            let places = e.function.jacobian_places();
            let mixed = (0..e.function.num_outputs()).any(|o| {
                let inputs = || places.iter().filter(|p| p.0 == o).map(|p| idle[p.1]);
                inputs().any(|i| i) && inputs().any(|i| !i)
            });
            mixed || matches!(g.mode, Mode::Cost { .. }) && idle.contains(&true)
        };
        self.idle(point)
            && !self.interpolates_controls()
            && !p.goals.iter().any(asks)
            && (self.is_bare_start(point)
                || !p.path_constraints.iter().any(|c| c.term.inputs.iter().any(in_path)))
    }

    pub fn add_unknowns(&mut self) {
        let p = self.problem;
        let mesh = &self.settings.mesh;
        let (n, inner) = (self.num_intervals(), self.inner());
        // Times first: prescribed motions need them.
        let [t0, tf] = [p.initial_time, p.final_time].map(|b| (b, b.middle()));
        self.layout.times = [t0, tf].map(|(b, start)| self.b.variable(b, start, Stages::BORDER));
        self.layout.parameters = p
            .parameters
            .iter()
            .map(|v| self.b.variable(v.bounds, v.bounds.middle(), Stages::BORDER))
            .collect();
        for point in 0..=n * inner {
            let (i, k) = (point / inner, point % inner);
            let tau =
                if k == 0 { mesh[i] } else { mesh[i] + (mesh[i + 1] - mesh[i]) * self.stencil.nodes[k] };
            let time = t0.1 + tau * (tf.1 - t0.1);
            let unknowns = self.add_point(point, point == n * inner, tau, time, self.stage(i));
            self.layout.points.push(unknowns);
            if k == 0 {
                self.layout.mesh.push(point);
            }
        }
        for interval in 0..n {
            self.add_interval(interval);
        }
        if self.settings.scheme == Scheme::HermiteSimpsonCompressed {
            (0..n).for_each(|interval| self.define_midpoint(interval));
        }
        if self.midpoints_follow() {
            (0..n).for_each(|interval| self.define_midpoint_rule(interval));
        }
    }

    /// x̄ = ½(x₀ + x₁) and ẋ̄ = (x₁ − x₀)/h; the duration is known.
    fn define_midpoint_rule(&mut self, interval: usize) {
        let p = self.problem;
        let duration = p.final_time.lower - p.initial_time.lower;
        let h = (self.settings.mesh[interval + 1] - self.settings.mesh[interval]) * duration;
        let first = interval * self.inner();
        let [from, middle, to] = [0, 1, 2].map(|k| &self.layout.points[first + k]);
        for i in 0..p.states.len() {
            self.b.define(middle.states[i], vec![(from.states[i], 0.5), (to.states[i], 0.5)]);
            if p.dynamics.chain[i].is_none() {
                self.b.define(middle.rates[i], vec![(to.states[i], 1.0 / h), (from.states[i], -1.0 / h)]);
            }
        }
    }

    /// x̄ = ½(x₀ + x₁) + h/8 (ẋ₀ − ẋ₁); the duration is known.
    fn define_midpoint(&mut self, interval: usize) {
        let p = self.problem;
        let duration = p.final_time.lower - p.initial_time.lower;
        let h = (self.settings.mesh[interval + 1] - self.settings.mesh[interval]) * duration;
        let first = interval * self.inner();
        let from = &self.layout.points[first];
        let to = self.layout.projected.get(interval).unwrap_or(&self.layout.points[first + 2]);
        for (i, &x) in self.layout.points[first + 1].states.iter().enumerate() {
            let terms = vec![
                (from.states[i], 0.5),
                (to.states[i], 0.5),
                (from.rates[i], h / 8.0),
                (to.rates[i], -h / 8.0),
            ];
            self.b.define(x, terms);
        }
    }

    fn add_point(&mut self, point: usize, last: bool, tau: f64, time: f64, stage: u32) -> PointUnknowns {
        let p = self.problem;
        let without_controls = self.without_controls(point);
        let of = |v: &crate::problem::Variable| {
            if point == 0 {
                v.initial
            } else if last {
                v.last
            } else {
                v.bounds
            }
        };
        let (corrected, idle) = (self.corrected(point), self.idle(point));
        let follows = self.midpoints_follow() && !self.is_mesh(point);
        let is_sum =
            follows || self.settings.scheme == Scheme::HermiteSimpsonCompressed && !self.is_mesh(point);
        let prescribed = |i: usize| p.prescribed.iter().find(|m| m.state == i).map(|m| (m.motion)(time));
        let states: Vec<usize> = (0..p.states.len())
            .map(|i| match prescribed(i) {
                Some(m) => self.b.variable(Bounds::fixed(m[0]), m[0], stage),
                None if is_sum => self.b.sum(p.states[i].guess(tau), stage),
                None => {
                    let v = &p.states[i];
                    self.b.variable_like(v.bounds, of(v), v.guess(tau), stage)
                }
            })
            .collect();
        // The first point of an interval has the control of all of it.
        let inside = point > 0 && !(point - 1).is_multiple_of(self.inner());
        let shared = self.settings.constant_controls && inside;
        let controls: Vec<usize> = match self.layout.points.last() {
            Some(before) if shared => before.controls.clone(),
            _ => p
                .controls
                .iter()
                .map(|v| {
                    let guess = v.guess(tau);
                    let bounds = if without_controls { Bounds::fixed(guess) } else { of(v) };
                    self.b.variable_like(v.bounds, bounds, guess, stage)
                })
                .collect(),
        };
        let rates = (0..p.states.len())
            .map(|i| match (p.dynamics.chain[i], prescribed(i)) {
                (_, Some(m)) => self.b.variable(Bounds::fixed(m[1]), m[1], stage),
                (Some(rate), _) if !corrected => states[rate],
                _ if idle => self.b.variable(Bounds::fixed(0.0), 0.0, stage),
                _ if follows => self.b.sum(0.0, stage),
                _ => match p.dynamics.driven[i] {
                    Some(control) => controls[control],
                    None => {
                        let bounds = p.dynamics.rate_bounds[i];
                        self.b.variable(bounds, bounds.middle(), stage)
                    }
                },
            })
            .collect();
        let mut add = |like: Bounds, b: Bounds, start: f64| self.b.variable_like(like, b, start, stage);
        let multipliers = p.multipliers.iter().map(|v| add(v.bounds, of(v), v.guess(tau))).collect();
        PointUnknowns { states, rates, controls, multipliers, without_controls, tau, stage }
    }

    /// Unknowns of an interval: velocity corrections, or projected states and the multipliers of the projection.
    fn add_interval(&mut self, interval: usize) {
        let p = self.problem;
        let stage = self.stage(interval);
        let Some(c) = self.constraints else { return };
        if self.posa() {
            let bounds = self.settings.correction_bounds;
            let slacks = (0..p.multipliers.len()).map(|_| self.b.variable(bounds, 0.0, stage)).collect();
            self.layout.slacks.push(slacks);
        } else if self.bordalba() {
            let bounds = self.settings.projection_bounds;
            let count = c.projection.num_inputs() - 1 - p.states.len();
            let slacks = (0..count).map(|_| self.b.variable(bounds, 0.0, stage)).collect();
            self.layout.slacks.push(slacks);
            // The auxiliary states are not projected.
            let end = &self.layout.points[self.layout.mesh[interval + 1]];
            let last = interval + 1 == self.num_intervals();
            let end_tau = end.tau;
            let mut projected = PointUnknowns { stage, ..end.clone() };
            for i in 0..2 * c.num_coordinates {
                let v = &p.states[i];
                let bounds = if last { v.last } else { v.bounds };
                projected.states[i] = self.b.variable_like(v.bounds, bounds, v.guess(end_tau), stage);
            }
            for i in 0..2 * c.num_coordinates {
                projected.rates[i] = match p.dynamics.chain[i] {
                    Some(rate) => projected.states[rate],
                    None => self.b.variable(p.dynamics.rate_bounds[i], 0.0, stage),
                };
            }
            self.layout.projected.push(projected);
        }
    }

    fn equation(&mut self, stage: u32, tau: f64, name: String) -> Output {
        let row = self.b.row(Bounds::fixed(0.0), stage, Some(tau), name);
        Output { target: Target::Row(row), factor: 1.0, by_duration: false }
    }

    /// f = 0 at every point whose rates count.
    pub fn add_dynamics(&mut self) {
        for point in 0..self.layout.points.len() {
            if self.idle(point) {
                continue;
            }
            let unknowns = self.layout.points[point].clone();
            let accelerations = self.constraints.is_some()
                && self.settings.constraint_derivatives
                && if self.bordalba() { point == 0 || !self.is_mesh(point) } else { self.is_mesh(point) };
            let outputs = self.add_dynamics_at(&unknowns, self.corrected(point), accelerations, false);
            if self.corrected(point) {
                self.add_correction(point, &unknowns, &outputs);
            }
        }
        for interval in 0..self.layout.projected.len() {
            // Auxiliary states have their equations at the mesh point itself.
            let unknowns = self.layout.projected[interval].clone();
            self.add_dynamics_at(&unknowns, false, true, true);
        }
    }

    /// The rows of f at a point: those of states that are not others' rates, and, if `accelerations`, those of the
    /// constraints. At a `projected` point only the rows of coordinates and speeds.
    fn add_dynamics_at(
        &mut self,
        unknowns: &PointUnknowns,
        corrected: bool,
        accelerations: bool,
        projected: bool,
    ) -> Vec<Output> {
        let p = self.problem;
        let nothing = Output { target: Target::Nothing, factor: 0.0, by_duration: false };
        let nx = p.states.len();
        let multibody = self.constraints.map_or(0, |c| 2 * c.num_coordinates);
        let mut outputs = Vec::with_capacity(p.dynamics.function.num_outputs());
        for i in 0..p.dynamics.function.num_outputs() {
            let wanted = if i >= nx {
                accelerations
            } else {
                let chained = p.dynamics.chain[i].is_some() && !corrected || p.dynamics.driven[i].is_some();
                !chained && (!projected || i < multibody)
            };
            outputs.push(if wanted {
                let of = if i < nx { &p.states[i].name } else { &p.multipliers[i - nx].name };
                self.equation(unknowns.stage, unknowns.tau, format!("dynamics of {of}"))
            } else {
                nothing
            });
        }
        let inputs = self.layout.inputs(unknowns, &p.point_variables());
        self.b.block(&p.dynamics.function, inputs, outputs.clone());
        outputs
    }

    /// q̇ = N u + Gᵀ γ at a midpoint.
    fn add_correction(&mut self, point: usize, unknowns: &PointUnknowns, rows: &[Output]) {
        let Some(c) = self.constraints else { return };
        let slacks = self.layout.slacks[point / self.inner()].clone();
        let inputs = self.with_slacks(unknowns, &slacks);
        let outputs = (0..c.num_coordinates).map(|i| Output { factor: -1.0, ..rows[i] }).collect();
        self.b.block(&c.correction, inputs, outputs);
    }

    /// t, x and slacks.
    fn with_slacks(&self, unknowns: &PointUnknowns, slacks: &[usize]) -> Vec<Input> {
        let mut inputs = vec![Input::Time(unknowns.tau)];
        inputs.extend(unknowns.states.iter().chain(slacks).map(|&v| Input::Variable(v)));
        inputs
    }

    /// The scheme's equations between points, and controls inside intervals.
    pub fn add_defects(&mut self) {
        let p = self.problem;
        let midpoints_follow = self.midpoints_follow();
        let given = |i: usize| p.prescribed.iter().any(|m| m.state == i);
        for interval in 0..self.num_intervals() {
            let first = interval * self.inner();
            let h = self.settings.mesh[interval + 1] - self.settings.mesh[interval];
            let (stage, tau) = (self.stage(interval), Some(self.settings.mesh[interval] + 0.5 * h));
            for (d, defect) in self.stencil.defects.iter().enumerate() {
                // Where midpoints follow, what is left are the equations of states that have other states as their rates.
                let follows = |i: usize| midpoints_follow && (d == 0 || p.dynamics.chain[i].is_none());
                for i in (0..p.states.len()).filter(|&i| !follows(i) && !given(i)) {
                    let name = format!("defect {d} of {} in interval {interval}", p.states[i].name);
                    let row = self.b.row(Bounds::fixed(0.0), stage, tau, name);
                    for k in 0..self.stencil.nodes.len() {
                        let last = k + 1 == self.stencil.nodes.len();
                        let at = match self.layout.projected.get(interval) {
                            Some(projected) if last => projected,
                            _ => &self.layout.points[first + k],
                        };
                        self.b.linear(row, at.states[i], defect.state[k], false);
                        self.b.linear(row, at.rates[i], h * defect.rate[k], true);
                    }
                }
            }
            if !self.interpolates_controls() {
                continue;
            }
            for k in 1..self.inner() {
                let (c, end) = (self.stencil.nodes[k], first + self.inner());
                for i in 0..p.controls.len() {
                    let name = format!("control {} inside interval {interval}", p.controls[i].name);
                    let row = self.b.row(Bounds::fixed(0.0), stage, tau, name);
                    let at = |point: usize| self.layout.points[point].controls[i];
                    let (mid, from, to) = (at(first + k), at(first), at(end));
                    self.b.linear(row, mid, 1.0, false);
                    self.b.linear(row, from, c - 1.0, false);
                    self.b.linear(row, to, -c, false);
                }
            }
        }
    }

    /// Kinematic and path constraints.
    pub fn add_constraints(&mut self) {
        let p = self.problem;
        for m in 0..self.layout.mesh.len() {
            let Some(c) = self.constraints else { break };
            let unknowns = self.layout.points[self.layout.mesh[m]].clone();
            let mut levels = vec![("position", &c.position)];
            if self.settings.constraint_derivatives {
                levels.push(("speed", &c.velocity));
            }
            for (level, function) in levels {
                self.add_values(&unknowns, level, function);
            }
        }
        self.add_projections();
        for c in &p.path_constraints {
            for point in 0..self.layout.points.len() {
                if !self.is_mesh(point) && !self.settings.constrain_interior || self.is_bare_start(point) {
                    continue;
                }
                let unknowns = self.layout.points[point].clone();
                let mut outputs = Vec::new();
                for (i, &bounds) in c.bounds.iter().enumerate() {
                    let name = format!("path constraint {}, value {i}", c.name);
                    let row = self.b.row(bounds, unknowns.stage, Some(unknowns.tau), name);
                    outputs.push(Output { target: Target::Row(row), factor: 1.0, by_duration: false });
                }
                let inputs = self.layout.inputs(&unknowns, &c.term.inputs);
                self.b.block(&c.term.function, inputs, outputs);
            }
        }
    }

    fn add_values(&mut self, unknowns: &PointUnknowns, level: &str, f: &Arc<dyn PointFunction>) {
        let outputs = (0..f.num_outputs())
            .map(|i| {
                self.equation(unknowns.stage, unknowns.tau, format!("kinematic constraint {i}, {level}"))
            })
            .collect();
        let inputs = self.with_slacks(unknowns, &[]);
        self.b.block(f, inputs, outputs);
    }

    /// x = x′ + (∂F/∂x)ᵀ μ at the end of every interval, and the cost of the distance.
    fn add_projections(&mut self) {
        let Some(c) = self.constraints else { return };
        let goal = self.first_goal + self.problem.goals.len();
        for interval in 0..self.layout.projected.len() {
            let unknowns = self.layout.points[self.layout.mesh[interval + 1]].clone();
            let projected = self.layout.projected[interval].clone();
            let slacks = self.layout.slacks[interval].clone();
            let mut outputs = Vec::new();
            for i in 0..2 * c.num_coordinates {
                let name = format!("projection of {} in interval {interval}", self.problem.states[i].name);
                let output = self.equation(self.stage(interval), unknowns.tau, name);
                if let Target::Row(row) = output.target {
                    self.b.linear(row, unknowns.states[i], 1.0, false);
                    self.b.linear(row, projected.states[i], -1.0, false);
                }
                outputs.push(Output { factor: -1.0, ..output });
                if self.settings.projection_weight > 0.0 {
                    let inputs =
                        vec![Input::Variable(unknowns.states[i]), Input::Variable(projected.states[i])];
                    let cost = Output {
                        target: Target::Objective(goal),
                        factor: self.settings.projection_weight,
                        by_duration: false,
                    };
                    self.b.block(&SquaredDifference::shared(), inputs, vec![cost]);
                }
            }
            let inputs = self.with_slacks(&unknowns, &slacks);
            self.b.block(&c.projection, inputs, outputs);
        }
    }

    pub fn add_goals(&mut self) {
        let problem = self.problem;
        for (g, goal) in problem.goals.iter().enumerate() {
            let target = Target::Objective(self.first_goal + g);
            match (&goal.mode, &goal.endpoint) {
                (Mode::Cost { weight }, None) => {
                    let weights = self.quadrature();
                    for terms in &goal.integrals {
                        self.add_integrand(terms, |point| Output {
                            target,
                            factor: weight * weights[point],
                            by_duration: !goal.is_mean,
                        });
                    }
                }
                (Mode::Cost { weight }, Some(e)) => {
                    let output = Output { target, factor: *weight, by_duration: false };
                    let integrals = self.add_integrals(goal);
                    self.add_endpoint(e, &integrals, &vec![output; e.function.num_outputs()]);
                }
                (Mode::Constraint { bounds }, Some(e)) => {
                    let integrals = self.add_integrals(goal);
                    let stage = self.stage(if self.is_at_start(e) { 0 } else { self.num_intervals() });
                    let mut outputs = Vec::new();
                    for (i, &bounds) in bounds.iter().enumerate() {
                        let row = self.b.row(bounds, stage, None, format!("goal {}, value {i}", goal.name));
                        outputs.push(Output { target: Target::Row(row), factor: 1.0, by_duration: false });
                    }
                    self.add_endpoint(e, &integrals, &outputs);
                }
                (Mode::Constraint { bounds }, None) => {
                    let integrals = self.add_integrals(goal);
                    let stage = self.stage(self.num_intervals());
                    for &bounds in bounds {
                        let row = self.b.row(bounds, stage, None, format!("goal {}", goal.name));
                        integrals.iter().for_each(|&s| self.b.linear(row, s, 1.0, false));
                    }
                }
            }
        }
    }

    /// Weight of every point of the grid in an integral over a duration of 1.
    fn quadrature(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.layout.points.len()];
        for interval in 0..self.num_intervals() {
            let h = self.settings.mesh[interval + 1] - self.settings.mesh[interval];
            for (k, w) in self.stencil.quadrature.iter().enumerate() {
                weights[interval * self.inner() + k] += h * w;
            }
        }
        weights
    }

    fn add_integrand(&mut self, terms: &[Term], output: impl Fn(usize) -> Output) {
        for point in 0..self.layout.points.len() {
            let o = output(point);
            if o.factor == 0.0 {
                continue;
            }
            for t in terms {
                let inputs = self.layout.inputs(&self.layout.points[point], &t.inputs);
                self.b.block(&t.function, inputs, vec![o; t.function.num_outputs()]);
            }
        }
    }

    /// Integrals as sums that grow from interval to interval, so that no constraint spans all of time. Returns
    /// the sums at the end.
    fn add_integrals(&mut self, goal: &Goal) -> Vec<usize> {
        let weights = self.quadrature();
        let mut ends = Vec::new();
        for (k, terms) in goal.integrals.iter().enumerate() {
            let mut sum = self.b.variable(Bounds::fixed(0.0), 0.0, self.first_stage);
            let (mut rows, mut sums) = (Vec::new(), Vec::new());
            for interval in 0..self.num_intervals() {
                let stage = self.stage(interval);
                let next = self.b.variable(Bounds::FREE, 0.0, stage + 1);
                let name = format!("integral {k} of {} to the end of interval {interval}", goal.name);
                let row = self.b.row(Bounds::fixed(0.0), stage, None, name);
                self.b.linear(row, next, 1.0, false);
                self.b.linear(row, sum, -1.0, false);
                rows.push(row);
                sums.push(next);
                sum = next;
            }
            self.layout.sums.push(rows.iter().copied().zip(sums).collect());
            let inner = self.inner();
            // A mesh point counts, with its whole weight, for the interval before it.
            self.add_integrand(terms, |point| Output {
                target: Target::Row(rows[point.saturating_sub(1) / inner]),
                factor: -weights[point],
                by_duration: !goal.is_mean,
            });
            ends.push(sum);
        }
        ends
    }

    /// Whether a function depends on the initial point alone.
    fn is_at_start(&self, e: &EndpointFunction) -> bool {
        e.inputs.iter().all(|v| matches!(v, EndpointVariable::Initial(_)))
    }

    fn add_endpoint(&mut self, e: &EndpointFunction, integrals: &[usize], outputs: &[Output]) {
        let both = !self.is_at_start(e);
        let mut inputs = Vec::new();
        for v in &e.inputs {
            inputs.push(match *v {
                EndpointVariable::Initial(v) => self.initial(v, both),
                EndpointVariable::Last(v) => {
                    let last = &self.layout.points[self.layout.points.len() - 1];
                    self.layout.input(last, v)
                }
                EndpointVariable::Integral(k) => Input::Variable(integrals.get(k).copied().unwrap_or(0)),
            });
        }
        self.b.block(&e.function, inputs, outputs.to_vec());
    }

    /// A variable of the initial point; a copy of it in the border if a function of the final point asks.
    fn initial(&mut self, variable: PointVariable, copy: bool) -> Input {
        let input = self.layout.input(&self.layout.points[0], variable);
        match input {
            Input::Variable(v) if copy && !self.b.is_border_or_fixed(v) => {
                if let Some(&(_, c)) = self.layout.copies.iter().find(|c| c.0 == v) {
                    return Input::Variable(c);
                }
                let c = self.b.variable(Bounds::FREE, self.b.start_of(v), Stages::BORDER);
                let row = self.b.row(
                    Bounds::fixed(0.0),
                    self.first_stage,
                    None,
                    format!("copy of the initial {variable:?}"),
                );
                self.b.linear(row, v, 1.0, false);
                self.b.linear(row, c, -1.0, false);
                self.layout.copies.push((v, c));
                Input::Variable(c)
            }
            _ => input,
        }
    }
}

/// (a − b)².
struct SquaredDifference;

impl SquaredDifference {
    fn shared() -> Arc<dyn PointFunction> {
        Arc::new(crate::function::Differentiated::new(SquaredDifference))
    }
}

impl crate::function::SmoothFunction for SquaredDifference {
    type Scratch<T: soleus_math::Real> = ();
    fn num_inputs(&self) -> usize {
        2
    }
    fn scratch<T: soleus_math::Real>(&self) {}
    fn evaluate<T: soleus_math::Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = (z[0] - z[1]).sq();
    }
}

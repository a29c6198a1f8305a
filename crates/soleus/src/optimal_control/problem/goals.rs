//! Converts goals of a study to goals of a problem.

use super::Inputs;
use super::bounds::{implicit_states, is_called, regex};
use super::formulas::{self, Setting};
use super::references::spline;
use crate::context::Context;
use crate::error::Error;
use soleus_control::goal::{self, Reference};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Bounds, Goal, Mode, PointVariable};
use soleus_io::study::{self, GoalKind, PeriodicPair, WeightedSet};
use soleus_math::Table;
use soleus_math::function::Expression;
use soleus_math::vec3;
use std::path::Path;

/// All goals of a study, followed by those of its solver.
pub fn build(
    cx: &Context,
    path: &Path,
    s: &study::Problem,
    base: &ModelProblem,
    inputs: &Inputs,
) -> Result<Vec<Goal>, Error> {
    let mut goals = Vec::new();
    let has_formula = s.goals.iter().any(|g| matches!(g.kind, GoalKind::Formula { .. }));
    let setting = if has_formula { Setting::new(cx, path, s, base)? } else { Setting::default() };
    for g in &s.goals {
        let constraint = is_constraint(g);
        let conversion = Conversion { cx, path, g, study: s, base, inputs, setting: &setting, constraint };
        goals.extend(conversion.goal()?);
    }
    goals.extend(super::symmetry::build(cx, path, s, base)?);
    let squares = |name: &str, weight: f64, list: Vec<PointVariable>| {
        let list: Vec<_> = list.into_iter().map(|v| (v, 1.0)).collect();
        (weight > 0.0 && !list.is_empty()).then(|| goal::sum_of_squares(name, weight, &list))
    };
    let n = base.num_coordinates();
    let multipliers = (0..base.multipliers.len()).map(PointVariable::Multiplier).collect();
    goals.extend(squares("multipliers", s.solver.multiplier_weight, multipliers));
    if s.solver.implicit {
        let rates = (n..2 * n).map(PointVariable::Rate).collect();
        goals.extend(squares("accelerations", s.solver.acceleration_weight, rates));
    }
    let rates = implicit_states(base).into_iter().map(PointVariable::Rate).collect();
    goals.extend(squares("auxiliary_derivatives", s.solver.auxiliary_weight, rates));
    Ok(goals)
}

/// Whether a goal is a constraint: as the file says, or else as its kind usually is.
fn is_constraint(g: &study::Goal) -> bool {
    let usual = match g.kind {
        GoalKind::AverageSpeed(_)
        | GoalKind::InitialActivation
        | GoalKind::InitialVelocityEquilibrium
        | GoalKind::InitialForceEquilibrium
        | GoalKind::Periodicity { .. } => true,
        // A formula with bounds is meant to stay within them.
        GoalKind::Formula { .. } => !g.bounds.is_empty(),
        _ => false,
    };
    g.constraint.unwrap_or(usual)
}

/// One goal of a study, and what it is converted with.
struct Conversion<'a> {
    cx: &'a Context<'a>,
    path: &'a Path,
    g: &'a study::Goal,
    study: &'a study::Problem,
    base: &'a ModelProblem,
    inputs: &'a Inputs,
    setting: &'a Setting,
    /// Whether the goal is a constraint.
    constraint: bool,
}

impl Conversion<'_> {
    /// The goal; none if it has nothing to say about this model.
    fn goal(&self) -> Result<Option<Goal>, Error> {
        let made = self.of_kind()?.map(|m| self.divided(m)).transpose()?;
        match made {
            Some(m) if self.constraint != matches!(m.mode, Mode::Constraint { .. }) => {
                Err(self.refuse("this goal is not supported in that mode"))
            }
            made => Ok(made),
        }
    }

    /// The goal by its kind, before it is divided by anything.
    fn of_kind(&self) -> Result<Option<Goal>, Error> {
        let &Conversion { cx, path, g, base, constraint, .. } = self;
        let (name, weight, system, given) = (g.name.as_str(), g.weight, &base.system, &self.inputs.given);
        let cost = (!constraint).then_some(weight);
        Ok(Some(match &g.kind {
            GoalKind::FinalTime => goal::final_time(name, weight),
            GoalKind::AverageSpeed(speed) => goal::average_speed(name, system, *speed),
            GoalKind::Control { weights, exponent } => {
                let list = weighted(path, g, &base.controls, weights)?;
                goal::control_effort(name, weight, &list, *exponent)
            }
            GoalKind::SumSquaredState { pattern, weights } => {
                self.sum_squared_state(pattern.as_deref(), weights)?
            }
            GoalKind::StateTracking {
                reference,
                pattern,
                weights,
                scale_weights_with_range,
                allow_unused,
            } => {
                let options = (*scale_weights_with_range, *allow_unused);
                self.state_tracking(reference, pattern.as_deref(), weights, options)?
            }
            GoalKind::ControlTracking { reference, weights, allow_unused } => {
                self.control_tracking(reference, weights, *allow_unused)?
            }
            GoalKind::MarkerFinal { point, location } => self.marker_final(point, *location)?,
            GoalKind::MarkerTracking { .. } => super::markers::build(cx, path, g, base, given)?,
            GoalKind::InitialActivation => goal::initial_activation(name, cost, system),
            GoalKind::InitialVelocityEquilibrium => {
                return Ok(goal::initial_velocity_equilibrium(name, cost, system));
            }
            GoalKind::InitialForceEquilibrium => {
                return Ok(goal::initial_force_equilibrium(name, cost, system));
            }
            GoalKind::Periodicity { states, controls } => {
                let mut pairs = paired(path, g, states, &base.states, PointVariable::State)?;
                pairs.extend(paired(path, g, controls, &base.controls, PointVariable::Control)?);
                goal::periodicity(name, &pairs)
            }
            GoalKind::Output { output, of } => super::outputs::build(path, g, base, output, of)?,
            GoalKind::FrameTracking { .. }
            | GoalKind::JointReaction { .. }
            | GoalKind::StepLengthAsymmetry { .. }
            | GoalKind::GeneralizedForceTracking { .. } => {
                // With parameters, the motion's consequences change too.
                let is_prescribed = !self.inputs.motions.is_empty() && self.study.parameters.is_empty();
                super::frames::build(cx, path, g, base, given, is_prescribed)?
            }
            GoalKind::ContactTracking { .. }
            | GoalKind::ContactImpulse { .. }
            | GoalKind::StepTimeAsymmetry { .. } => super::contact::build(cx, path, g, base)?,
            GoalKind::Formula { formula, when } => {
                formulas::build(path, g, base, self.setting, (formula, when), constraint)?
            }
            GoalKind::ParameterExpression { expression, parameters, variables } => {
                self.parameter_expression(expression, parameters, variables)?
            }
        }))
    }

    /// Squares of the states that match the pattern.
    fn sum_squared_state(&self, pattern: Option<&str>, weights: &WeightedSet) -> Result<Goal, Error> {
        let &Conversion { path, g, base, .. } = self;
        let pattern = pattern.map(|p| regex(path, g.line, p)).transpose()?;
        let list: Vec<_> = weighted(path, g, &base.states, weights)?
            .into_iter()
            .filter(|(i, _)| pattern.as_ref().is_none_or(|p| p.is_match(&base.states[*i])))
            .map(|(i, w)| (PointVariable::State(i), w))
            .collect();
        Ok(goal::sum_of_squares(&g.name, g.weight, &list))
    }

    /// Distance of states from the columns of a table.
    fn state_tracking(
        &self,
        reference: &study::TableSource,
        pattern: Option<&str>,
        weights: &WeightedSet,
        (scale_with_range, allow_unused): (bool, bool),
    ) -> Result<Goal, Error> {
        let &Conversion { path, g, base, .. } = self;
        let table = self.table(reference)?;
        let pattern = pattern.map(|p| regex(path, g.line, p)).transpose()?;
        let followed = Followed {
            names: &base.states,
            what: "which is not a state to track",
            weights: weighted(path, g, &base.states, weights)?,
            scale_with_range,
            allow_unused,
            fits: &|label| pattern.as_ref().is_none_or(|p| p.is_match(label)),
            variable: PointVariable::State,
        };
        Ok(goal::tracking(&g.name, g.weight, followed.references(path, g, &table)?))
    }

    /// Distance of controls from the columns of a table.
    fn control_tracking(
        &self,
        reference: &study::TableSource,
        weights: &WeightedSet,
        allow_unused: bool,
    ) -> Result<Goal, Error> {
        let &Conversion { path, g, base, .. } = self;
        let table = self.table(reference)?;
        let followed = Followed {
            names: &base.controls,
            what: "which is not a control",
            weights: weighted(path, g, &base.controls, weights)?,
            scale_with_range: false,
            allow_unused,
            fits: &|_| true,
            variable: PointVariable::Control,
        };
        Ok(goal::tracking(&g.name, g.weight, followed.references(path, g, &table)?))
    }

    /// Distance of a marker from a point at the end.
    fn marker_final(&self, point: &str, [x, y, z]: [f64; 3]) -> Result<Goal, Error> {
        let &Conversion { g, base, .. } = self;
        let i = base.model.markers.iter().position(|m| m.path == *point || m.name == *point);
        let i = i.ok_or_else(|| self.refuse(&format!("no marker is called `{point}`")))?;
        let system = &base.system;
        Ok(goal::marker_final(&g.name, g.weight, system, system.markers[i], vec3(x, y, z)))
    }

    /// A formula of parameters of the problem.
    fn parameter_expression(
        &self,
        expression: &str,
        parameters: &[String],
        variables: &[String],
    ) -> Result<Goal, Error> {
        let g = self.g;
        let words: Vec<&str> = variables.iter().map(String::as_str).collect();
        let formula = Expression::new(expression, &words).map_err(|e| self.refuse(&e.to_string()))?;
        // The parameters in the order of the variables.
        let find = |name: &String| {
            let i = self.study.parameters.iter().position(|p| p.name == *name);
            i.ok_or_else(|| self.refuse(&format!("the problem has no parameter `{name}`")))
        };
        let list = parameters.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        if list.len() != words.len() {
            return Err(self.refuse(&format!("{} parameters, but {} variables", list.len(), words.len())));
        }
        let bounds = g.bounds.first().map_or(Bounds::fixed(0.0), |b| super::pair(*b));
        let mode = match self.constraint {
            true => Mode::Constraint { bounds: vec![bounds] },
            false => Mode::Cost { weight: g.weight },
        };
        Ok(goal::parameter_expression(&g.name, mode, formula, &list))
    }

    /// The goal, divided by displacement, duration or mass if the study says so.
    fn divided(&self, made: Goal) -> Result<Goal, Error> {
        let &Conversion { path, g, base, .. } = self;
        let divides = g.divide_by_displacement || g.divide_by_duration || g.divide_by_mass;
        let is_formula = matches!(g.kind, GoalKind::Formula { .. });
        if is_formula && divides && made.endpoint.is_some() {
            let message = "only an integral can be divided by displacement, duration or mass";
            let hint = "write it into the formula: / displacement, / duration, / mass";
            return Err(Error::content(path, g.line, &g.name, message, hint));
        }
        let mass = g.divide_by_mass.then(|| base.model.total_mass());
        Ok(goal::divided(made, &base.system, g.divide_by_displacement, g.divide_by_duration, mass))
    }

    fn table(&self, reference: &study::TableSource) -> Result<Table, Error> {
        let g = self.g;
        self.inputs.given.table(self.cx, self.path, g.line, &g.name, reference, &self.base.model)
    }

    fn refuse(&self, message: &str) -> Error {
        Error::content(self.path, self.g.line, &self.g.name, message, "")
    }
}

/// Variables that follow the columns of a table that are named after them.
struct Followed<'a> {
    names: &'a [String],
    /// What a column is that is named after none of them.
    what: &'a str,
    weights: Vec<(usize, f64)>,
    /// Whether weights are divided by how far a column moves.
    scale_with_range: bool,
    /// Whether columns that are named after none of them are left out, not refused.
    allow_unused: bool,
    /// Which columns count.
    fits: &'a dyn Fn(&str) -> bool,
    variable: fn(usize) -> PointVariable,
}

impl Followed<'_> {
    fn references(&self, path: &Path, g: &study::Goal, table: &Table) -> Result<Vec<Reference>, Error> {
        let mut list = Vec::new();
        for (label, column) in table.labels().iter().zip(table.columns()) {
            let Some(i) = self.names.iter().position(|s| s == label).filter(|_| (self.fits)(label)) else {
                if self.allow_unused {
                    continue;
                }
                let message = format!("the reference has a column `{label}`, {}", self.what);
                return Err(Error::content(path, g.line, &g.name, message, ""));
            };
            let mut weight = self.weights[i].1;
            if self.scale_with_range {
                let ends = (f64::INFINITY, f64::NEG_INFINITY);
                let (lo, hi) = column.iter().fold(ends, |(a, b), &x| (a.min(x), b.max(x)));
                weight /= hi - lo;
            }
            let function = spline(path, table, column)?;
            list.push(Reference { variable: (self.variable)(i), function, weight });
        }
        Ok(list)
    }
}

/// Weight of each name: 1, or that of the last matching pattern, or that given for the name itself.
pub fn weighted(
    path: &Path,
    g: &study::Goal,
    names: &[String],
    set: &WeightedSet,
) -> Result<Vec<(usize, f64)>, Error> {
    let mut list: Vec<(usize, f64)> = (0..names.len()).map(|i| (i, 1.0)).collect();
    for w in &set.patterns {
        let pattern = regex(path, g.line, &w.name)?;
        list.iter_mut().filter(|p| pattern.is_match(&names[p.0])).for_each(|p| p.1 = w.weight);
    }
    for w in &set.names {
        let Some(i) = names.iter().position(|n| is_called(n, &w.name)) else {
            let message = format!("a weight is given for `{}`, which does not exist", w.name);
            return Err(Error::content(path, g.line, &g.name, message, ""));
        };
        list[i].1 = w.weight;
    }
    Ok(list)
}

fn paired(
    path: &Path,
    g: &study::Goal,
    pairs: &[PeriodicPair],
    names: &[String],
    of: fn(usize) -> PointVariable,
) -> Result<Vec<(PointVariable, PointVariable, bool)>, Error> {
    let find = |name: &String| {
        let message = || format!("no variable is called `{name}`");
        let i = names.iter().position(|n| is_called(n, name));
        i.map(of).ok_or_else(|| Error::content(path, g.line, &g.name, message(), ""))
    };
    pairs.iter().map(|p| Ok((find(&p.initial)?, find(&p.last)?, p.negate))).collect()
}

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
        goals.extend(one(cx, path, g, s, base, inputs, &setting)?);
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

/// One goal; none if it has nothing to say about this model.
fn one(
    cx: &Context,
    path: &Path,
    g: &study::Goal,
    study: &study::Problem,
    base: &ModelProblem,
    inputs: &Inputs,
    setting: &Setting,
) -> Result<Option<Goal>, Error> {
    let given = &inputs.given;
    // With parameters, the motion's consequences change too.
    let is_prescribed = !inputs.motions.is_empty() && study.parameters.is_empty();
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let system = &base.system;
    // What the class does when the file does not say: minimize, or constrain.
    let constrains = matches!(
        g.kind,
        GoalKind::AverageSpeed(_)
            | GoalKind::InitialActivation
            | GoalKind::InitialVelocityEquilibrium
            | GoalKind::InitialForceEquilibrium
            | GoalKind::Periodicity { .. }
    );
    // A formula with bounds is meant to stay within them.
    let is_bounded = matches!(g.kind, GoalKind::Formula { .. }) && !g.bounds.is_empty();
    let constraint = g.constraint.unwrap_or(constrains || is_bounded);
    let cost = (!constraint).then_some(g.weight);
    let (name, weight) = (g.name.as_str(), g.weight);
    let made = match &g.kind {
        GoalKind::FinalTime => Some(goal::final_time(name, weight)),
        GoalKind::AverageSpeed(speed) => Some(goal::average_speed(name, system, *speed)),
        GoalKind::Control { weights, exponent } => {
            let list = weighted(path, g, &base.controls, weights)?;
            Some(goal::control_effort(name, weight, &list, *exponent))
        }
        GoalKind::SumSquaredState { pattern, weights } => {
            let pattern = pattern.as_ref().map(|p| regex(path, g.line, p)).transpose()?;
            let list: Vec<_> = weighted(path, g, &base.states, weights)?
                .into_iter()
                .filter(|(i, _)| pattern.as_ref().is_none_or(|p| p.is_match(&base.states[*i])))
                .map(|(i, w)| (PointVariable::State(i), w))
                .collect();
            Some(goal::sum_of_squares(name, weight, &list))
        }
        GoalKind::StateTracking { reference, pattern, weights, scale_weights_with_range, allow_unused } => {
            let table = given.table(cx, path, g.line, name, reference, &base.model)?;
            let pattern = pattern.as_ref().map(|p| regex(path, g.line, p)).transpose()?;
            let followed = Followed {
                names: &base.states,
                what: "which is not a state to track",
                weights: weighted(path, g, &base.states, weights)?,
                scale_with_range: *scale_weights_with_range,
                allow_unused: *allow_unused,
                fits: &|label| pattern.as_ref().is_none_or(|p| p.is_match(label)),
                variable: PointVariable::State,
            };
            Some(goal::tracking(name, weight, followed.references(path, g, &table)?))
        }
        GoalKind::ControlTracking { reference, weights, allow_unused } => {
            let table = given.table(cx, path, g.line, name, reference, &base.model)?;
            let followed = Followed {
                names: &base.controls,
                what: "which is not a control",
                weights: weighted(path, g, &base.controls, weights)?,
                scale_with_range: false,
                allow_unused: *allow_unused,
                fits: &|_| true,
                variable: PointVariable::Control,
            };
            Some(goal::tracking(name, weight, followed.references(path, g, &table)?))
        }
        GoalKind::MarkerFinal { point, location } => {
            let i = base.model.markers.iter().position(|m| m.path == *point || m.name == *point);
            let i = i.ok_or_else(|| refuse(format!("no marker is called `{point}`")))?;
            let [x, y, z] = *location;
            Some(goal::marker_final(name, weight, system, system.markers[i], vec3(x, y, z)))
        }
        GoalKind::MarkerTracking { .. } => Some(super::markers::build(cx, path, g, base, given)?),
        GoalKind::InitialActivation => Some(goal::initial_activation(name, cost, system)),
        GoalKind::InitialVelocityEquilibrium => goal::initial_velocity_equilibrium(name, cost, system),
        GoalKind::Periodicity { states, controls } => {
            let mut pairs = paired(path, g, states, &base.states, PointVariable::State)?;
            pairs.extend(paired(path, g, controls, &base.controls, PointVariable::Control)?);
            Some(goal::periodicity(name, &pairs))
        }
        GoalKind::InitialForceEquilibrium => goal::initial_force_equilibrium(name, cost, system),
        GoalKind::Output { output, of } => Some(super::outputs::build(path, g, base, output, of)?),
        GoalKind::FrameTracking { .. }
        | GoalKind::JointReaction { .. }
        | GoalKind::StepLengthAsymmetry { .. }
        | GoalKind::GeneralizedForceTracking { .. } => {
            Some(super::frames::build(cx, path, g, base, given, is_prescribed)?)
        }
        GoalKind::ContactTracking { .. }
        | GoalKind::ContactImpulse { .. }
        | GoalKind::StepTimeAsymmetry { .. } => Some(super::contact::build(cx, path, g, base)?),
        GoalKind::Formula { formula, when } => {
            Some(formulas::build(path, g, base, setting, (formula, when), constraint)?)
        }
        GoalKind::ParameterExpression { expression, parameters, variables } => {
            let (formula, list) = parameter_formula(path, g, study, expression, parameters, variables)?;
            let bounds = g.bounds.first().map_or(Bounds::fixed(0.0), |b| super::pair(*b));
            let mode = match constraint {
                true => Mode::Constraint { bounds: vec![bounds] },
                false => Mode::Cost { weight },
            };
            Some(goal::parameter_expression(name, mode, formula, &list))
        }
    };
    let divides = g.divide_by_displacement || g.divide_by_duration || g.divide_by_mass;
    let is_formula = matches!(g.kind, GoalKind::Formula { .. });
    if is_formula && divides && made.as_ref().is_some_and(|m| m.endpoint.is_some()) {
        let message = "only an integral can be divided by displacement, duration or mass";
        let hint = "write it into the formula: / displacement, / duration, / mass";
        return Err(Error::content(path, g.line, &g.name, message, hint));
    }
    let mass = g.divide_by_mass.then(|| base.model.total_mass());
    let made = made.map(|m| goal::divided(m, system, g.divide_by_displacement, g.divide_by_duration, mass));
    match made {
        Some(m) if constraint != matches!(m.mode, Mode::Constraint { .. }) => {
            Err(refuse("this goal is not supported in that mode".to_string()))
        }
        made => Ok(made),
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

/// The formula of a goal about parameters, and the parameters in the order of its variables.
fn parameter_formula(
    path: &Path,
    g: &study::Goal,
    study: &study::Problem,
    expression: &str,
    parameters: &[String],
    variables: &[String],
) -> Result<(Expression, Vec<usize>), Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let words: Vec<&str> = variables.iter().map(String::as_str).collect();
    let formula = Expression::new(expression, &words).map_err(|e| refuse(e.to_string()))?;
    let find = |name: &String| {
        let i = study.parameters.iter().position(|p| p.name == *name);
        i.ok_or_else(|| refuse(format!("the problem has no parameter `{name}`")))
    };
    let list = parameters.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    match list.len() == words.len() {
        true => Ok((formula, list)),
        false => Err(refuse(format!("{} parameters, but {} variables", list.len(), words.len()))),
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

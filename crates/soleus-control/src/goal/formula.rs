//! Goals, path constraints and outputs defined by formulas.

use super::composed::Composer;
use super::constraints::TimeBounds;
use super::model_function::{Make, ModelFunction};
use super::named::{Found, Names};
use super::output::When;
use super::quantity::Quantity;
use super::reaction::contact_force;
use crate::function::{Jetted, PointFunction};
use crate::problem::{
    Bounds, EndpointFunction, EndpointVariable, Goal, Mode, PathConstraint, PointVariable, Term,
};
use soleus_math::formula::{
    Expr, ExprKind, Formula, FormulaError, FormulaProblem, Item, Meaning, Operator, Scope, TimeUse, Unknown,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Words of formulas as inputs of a function of the variables V.
struct Inputs<'a, V> {
    names: &'a Names<'a>,
    composer: Composer<V>,
    /// Quantities that are inputs, with the place of the first of their numbers.
    known: HashMap<String, usize>,
    count: usize,
}

impl<'a, V: Copy + PartialEq> Inputs<'a, V> {
    fn new(names: &'a Names<'a>) -> Inputs<'a, V> {
        Inputs { names, composer: Composer::new(), known: HashMap::new(), count: 0 }
    }

    /// The place of a variable.
    fn variable(&mut self, key: String, v: V) -> usize {
        if let Some(at) = self.known.get(&key) {
            return *at;
        }
        self.composer.plain(v);
        self.known.insert(key, self.count);
        self.count += 1;
        self.count - 1
    }

    /// The place of the first number of a quantity.
    fn quantity(&mut self, key: String, q: Quantity, of: fn(PointVariable) -> V) -> usize {
        if let Some(at) = self.known.get(&key) {
            return *at;
        }
        let (variables, function) = function_of(self.names, q);
        let variables: Vec<V> = variables.into_iter().map(of).collect();
        let first = self.count;
        self.count += function.num_outputs();
        self.composer.quantity(function, &variables);
        self.known.insert(key, first);
        first
    }

    /// The place of a word, at one point of time.
    fn place(
        &mut self,
        name: &str,
        item: Option<&str>,
        end: &str,
        of: fn(PointVariable) -> V,
    ) -> Result<Meaning, Unknown> {
        Ok(match self.names.find(name, item)? {
            Found::Expr(e) => Meaning::Expr(e),
            Found::Variable(v) => Meaning::Number(self.variable(format!("{end}{v:?}"), of(v))),
            Found::Quantity(key, q, offset, width) => {
                let first = self.quantity(format!("{end}{key}"), q, of) + offset;
                if width == 3 { Meaning::Vector(first) } else { Meaning::Number(first) }
            }
        })
    }
}

/// A quantity as a function, with its variables.
fn function_of(names: &Names<'_>, q: Quantity) -> (Vec<PointVariable>, Arc<dyn PointFunction>) {
    let system = &names.base.system;
    if let Quantity::Contact(list) = &q
        && let Some(found) = contact_force(system, list)
    {
        return found;
    }
    let f = ModelFunction::new(system, vec![q], Make::Values(Vec::new()));
    (f.inputs().to_vec(), Arc::new(Jetted::new(f)))
}

/// Words at one point of time.
struct AtPoint<'a>(Inputs<'a, PointVariable>);

impl Scope for AtPoint<'_> {
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown> {
        self.0.place(name, item, "", |v| v)
    }
    fn items(&mut self, name: &str) -> Vec<Item> {
        self.0.names.items(name)
    }
}

/// Words at both ends: those that [`goal`] marks, and parameters.
struct AtEnds<'a>(Inputs<'a, EndpointVariable>);

const INITIAL: &str = "initial ";
const FINAL: &str = "final ";
const INTEGRAL: &str = "integral of";

impl Scope for AtEnds<'_> {
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown> {
        if name == INTEGRAL {
            let k = item.and_then(|i| i.parse().ok()).unwrap_or(0);
            return Ok(Meaning::Number(
                self.0.variable(format!("{INTEGRAL} {k}"), EndpointVariable::Integral(k)),
            ));
        }
        if let Some(name) = name.strip_prefix(INITIAL) {
            return self.0.place(name, item, INITIAL, |v| match v {
                // Parameters are the same at both ends.
                PointVariable::Parameter(_) => EndpointVariable::Last(v),
                _ => EndpointVariable::Initial(v),
            });
        }
        let name = name.strip_prefix(FINAL).unwrap_or(name);
        self.0.place(name, item, FINAL, EndpointVariable::Last)
    }
    fn items(&mut self, name: &str) -> Vec<Item> {
        self.0.names.items(name)
    }
}

/// A formula at one time as a function of the variables of the problem: one value, or three.
pub fn formula_term(names: &Names<'_>, e: &Expr) -> Result<Term, FormulaError> {
    let mut scope = AtPoint(Inputs::new(names));
    let formula = Formula::new(e, &mut scope)?;
    let mut composer = scope.0.composer;
    if scope.0.count == 0 {
        // A function of nothing is not foreseen.
        composer.plain(PointVariable::Time);
    }
    let (inputs, function) = composer.finish(formula);
    Ok(Term { inputs, function })
}

/// The addends of an expression without groups, with their factors.
fn addends(e: &Expr, factor: f64, list: &mut Vec<Expr>) {
    let number = |e: &Expr| match e.kind() {
        ExprKind::Number(x) => Some(*x),
        _ => None,
    };
    match e.kind() {
        ExprKind::Sum(parts) => parts.iter().for_each(|p| addends(p, factor, list)),
        ExprKind::Negate(a) => addends(a, -factor, list),
        ExprKind::Binary(Operator::Multiply, a, b) if number(a).is_some() => {
            addends(b, factor * number(a).unwrap_or(1.0), list);
        }
        ExprKind::Binary(Operator::Multiply, a, b) if number(b).is_some() => {
            addends(a, factor * number(b).unwrap_or(1.0), list);
        }
        ExprKind::Binary(Operator::Divide, a, b) if number(b).is_some() => {
            addends(a, factor / number(b).unwrap_or(1.0), list);
        }
        _ if factor == 1.0 => list.push(e.clone()),
        _ => list.push(e.clone() * factor),
    }
}

/// An integrand as terms: addends that look at different quantities are terms of their own, so that each depends on little.
fn terms(names: &Names<'_>, e: &Expr) -> Result<Vec<Term>, FormulaError> {
    // Types and names are checked as they were written.
    number(names, e)?;
    let mut list = Vec::new();
    addends(e, 1.0, &mut list);
    let mut groups: Vec<(Vec<String>, Expr)> = Vec::new();
    for part in list {
        let mut scope = AtPoint(Inputs::new(names));
        Formula::new(&part, &mut scope)?;
        let mut keys: Vec<String> = scope.0.known.into_keys().collect();
        keys.sort_unstable();
        match groups.iter_mut().find(|g| g.0 == keys) {
            Some(g) => g.1 = g.1.clone() + part,
            None => groups.push((keys, part)),
        }
    }
    groups.iter().map(|g| formula_term(names, &g.1)).collect()
}

/// Refuses a vector.
fn number(names: &Names<'_>, e: &Expr) -> Result<(), FormulaError> {
    match Formula::new(e, &mut AtPoint(Inputs::new(names)))?.width() {
        1 => Ok(()),
        _ => Err(needs_number(e)),
    }
}

fn needs_number(e: &Expr) -> FormulaError {
    let problem = FormulaProblem::WrongType {
        whose: "a cost or an integral".into(),
        needed: "a number",
        found: "a vector",
    };
    FormulaError::new(e.place(), problem)
}

/// Whether something in an expression is of one point of time.
fn changes(names: &Names<'_>, e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |part| {
        if let ExprKind::Input(name, item) = part.kind() {
            let parameter = Found::Variable(PointVariable::Parameter(0));
            let of = names.find(name, item.as_deref()).unwrap_or(parameter);
            found |= !matches!(of, Found::Variable(PointVariable::Parameter(_)) | Found::Expr(_));
        }
    });
    found
}

/// What an expression holds of `integral(…)` and the like.
fn over_time(e: &Expr) -> Option<(TimeUse, Expr)> {
    let mut found = None;
    e.visit(&mut |part| {
        if let ExprKind::OverTime(t, _) = part.kind() {
            found = Some((*t, part.clone()));
        }
    });
    found
}

/// Integrals over time and what is made of them.
struct Ends<'a> {
    names: &'a Names<'a>,
    integrands: Vec<Expr>,
}

impl Ends<'_> {
    /// Marks the words of an expression with the end at which they count.
    fn marked(&self, e: &Expr, end: &str) -> Result<Expr, FormulaError> {
        e.replaced(&mut |part| {
            Ok(match part.kind() {
                ExprKind::Input(name, item) => {
                    let name = format!("{end}{name}");
                    Some(match item {
                        Some(item) => Expr::item(name, item.clone()),
                        None => Expr::input(name),
                    })
                }
                _ => None,
            })
        })
    }

    fn integral(&mut self, e: &Expr) -> Expr {
        let k = self.integrands.iter().position(|i| i == e).unwrap_or_else(|| {
            self.integrands.push(e.clone());
            self.integrands.len() - 1
        });
        Expr::item(INTEGRAL, k.to_string())
    }

    /// An expression of ends and integrals.
    fn of(&mut self, e: &Expr) -> Result<Expr, FormulaError> {
        e.replaced(&mut |part| match part.kind() {
            ExprKind::OverTime(t, inner) => {
                if let Some((own, place)) = over_time(inner) {
                    let problem = FormulaProblem::NestedTimes(own.word(), t.word());
                    return Err(FormulaError::new(place.place(), problem));
                }
                // Wrong types are told where they are written.
                let width = Formula::new(inner, &mut AtPoint(Inputs::new(self.names)))?.width();
                Ok(Some(match t {
                    TimeUse::Initial => self.marked(inner, INITIAL)?,
                    TimeUse::Final => self.marked(inner, FINAL)?,
                    _ if width != 1 => return Err(needs_number(inner)),
                    TimeUse::Integral => self.integral(inner),
                    TimeUse::Average => {
                        let end = |end: &str| Expr::input(format!("{end}time"));
                        self.integral(inner) / (end(FINAL) - end(INITIAL))
                    }
                }))
            }
            ExprKind::Input(name, item) => match self.names.find(name, item.as_deref()) {
                Ok(Found::Variable(PointVariable::Parameter(_)) | Found::Expr(_)) | Err(_) => Ok(None),
                Ok(_) => {
                    let name = item.as_ref().map_or(name.clone(), |i| format!("{name}[{i}]"));
                    Err(FormulaError::new(part.place(), FormulaProblem::ChangesOverTime(name)))
                }
            },
            _ => Ok(None),
        })
    }
}

/// A formula as a cost or an endpoint constraint.
///
/// It is a function of `initial(…)`, `final(…)`, `integral(…)` and `average(…)` of quantities. A formula without any of
/// these that depends on time is evaluated according to `when`. Bounds of a constraint apply to each component of a
/// vector.
pub fn formula_goal(
    name: &str,
    mode: Mode,
    names: &Names<'_>,
    e: &Expr,
    when: When,
) -> Result<Goal, FormulaError> {
    let mut e = e.resolved(&mut AtPoint(Inputs::new(names)))?;
    if over_time(&e).is_none() && changes(names, &e) {
        let word = match when {
            When::Always => "integral",
            When::Initially => "initial",
            When::Finally => "final",
        };
        e = Expr::call(word, vec![e])?;
    }
    let made = |integrals: Vec<Vec<Term>>, endpoint: Option<EndpointFunction>, mode: Mode| Goal {
        name: name.into(),
        mode,
        integrals,
        is_mean: false,
        endpoint,
    };
    // A plain integral needs no function of the ends.
    if let ExprKind::OverTime(TimeUse::Integral, inner) = e.kind()
        && over_time(inner).is_none()
    {
        return Ok(made(vec![terms(names, inner)?], None, mode));
    }
    let mut ends = Ends { names, integrands: Vec::new() };
    let whole = ends.of(&e)?;
    let mut scope = AtEnds(Inputs::new(names));
    let formula = Formula::new(&whole, &mut scope)?;
    let width = formula.width();
    let mode = match mode {
        Mode::Cost { .. } if width > 1 => return Err(needs_number(&e)),
        Mode::Constraint { bounds } if bounds.len() == 1 => {
            Mode::Constraint { bounds: vec![bounds[0]; width] }
        }
        mode => mode,
    };
    let mut composer = scope.0.composer;
    if scope.0.count == 0 {
        composer.plain(EndpointVariable::Last(PointVariable::Time));
    }
    let (inputs, function) = composer.finish(formula);
    let integrals = ends.integrands.iter().map(|i| terms(names, i)).collect::<Result<_, _>>()?;
    Ok(made(integrals, Some(EndpointFunction { inputs, function }), mode))
}

/// A path constraint on a formula. Constant bounds become bounds of the program.
pub fn formula_constraint(
    name: &str,
    names: &Names<'_>,
    e: &Expr,
    bounds: &TimeBounds,
) -> Result<Vec<PathConstraint>, FormulaError> {
    let constant = |f: &Option<soleus_math::Function>, none: f64| match f {
        None => Some(none),
        Some(soleus_math::Function::Constant(c)) => Some(*c),
        Some(_) => None,
    };
    let made = |term: Term, bounds: Bounds| {
        let bounds = vec![bounds; term.function.num_outputs()];
        PathConstraint { name: name.into(), term, bounds }
    };
    let ends = (constant(&bounds.lower, f64::NEG_INFINITY), constant(&bounds.upper, f64::INFINITY));
    if let (Some(lower), Some(upper)) = ends {
        let upper = if bounds.equal { lower } else { upper };
        return Ok(vec![made(formula_term(names, e)?, Bounds::new(lower, upper))]);
    }
    let mut list = Vec::new();
    for (f, b) in bounds.rows() {
        let line = Expr::of_function(Arc::new(f), Expr::input("time"));
        // A line for a vector counts for each of its numbers.
        let line = match formula_term(names, e)?.function.num_outputs() {
            1 => line,
            _ => Expr::vector(line.clone(), line.clone(), line),
        };
        list.push(made(formula_term(names, &(e.clone() - line))?, b));
    }
    Ok(list)
}

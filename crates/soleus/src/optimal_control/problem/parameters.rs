//! Parameters of a study: numbers in the model file.
//!
//! The equations are interpolated by a polynomial in the parameter: from two values if they are linear in it (masses,
//! stiffnesses, optimal forces), otherwise from as many values within the bounds as needed (slack lengths, point
//! locations). The interpolation error is measured, and the parameter is refused if the error is relevant. Goals and
//! path constraints that depend on a parameter, such as a marker location in a tracking goal, are treated in the same
//! way.

use super::{Inputs, constraints, goals};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::optimal_control::model::StudyModel;
use soleus_control::Problem;
use soleus_control::musculoskeletal::{Demands, ModelProblem, Node, ParameterRange, Samples, lagrange, vary};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::{Options, System};
use soleus_io::study;
use soleus_math::elementary;
use soleus_model::Element;
use std::path::Path;
use std::sync::Arc;

/// What a polynomial may leave out of an equation, as a part of its size: well below the tolerance of any solve.
const LEFT_OUT: f64 = 1e-9;

/// Numbers of values to try, for parameters that are not linear.
const NODES: [usize; 5] = [3, 5, 7, 10, 14];

/// The model at other values of each parameter.
///
/// The base system has the parameter at the value of the model file.
pub fn ranges(
    cx: &Context,
    source: &StudyModel,
    s: &study::Problem,
    base: &ModelProblem,
) -> Result<Vec<ParameterRange>, Error> {
    if s.parameters.is_empty() {
        return Ok(Vec::new());
    }
    let model = source.element(cx)?;
    let make = |values: &[(&study::Parameter, f64)]| Ok(at(cx, source, &model, values)?.system);
    let found = sampled(source, &model, &s.parameters, &residuals(&base.system), &make, &|s| residuals(s))?;
    let range = |(base, others): Samples<Arc<System>>| ParameterRange {
        base,
        others: others.into_iter().map(|n| (n.value, n.at)).collect(),
    };
    Ok(found.into_iter().map(range).collect())
}

/// Makes goals and path constraints depend on the parameters.
pub fn vary_goals(
    cx: &Context,
    source: &StudyModel,
    s: &study::Problem,
    inputs: &Inputs,
    problem: &mut Problem,
) -> Result<(), Error> {
    if s.parameters.is_empty() {
        return Ok(());
    }
    let model = source.element(cx)?;
    let make = |values: &[(&study::Parameter, f64)]| {
        let other = at(cx, source, &model, values)?;
        Ok(Demands {
            goals: goals::build(cx, source.path, s, &other, inputs)?,
            path_constraints: constraints::build(cx, source.path, s, &other)?,
        })
    };
    let mut demands = Demands {
        goals: std::mem::take(&mut problem.goals),
        path_constraints: std::mem::take(&mut problem.path_constraints),
    };
    let nodes = sampled(source, &model, &s.parameters, &demands.probe(), &make, &Demands::probe)?;
    vary(&mut demands, &nodes);
    Demands { goals: problem.goals, path_constraints: problem.path_constraints } = demands;
    Ok(())
}

/// The model with the optimized values of the parameters.
pub fn found(
    cx: &Context,
    source: &StudyModel,
    s: &study::Problem,
    values: &[(String, f64)],
) -> Result<ModelProblem, Error> {
    let of = |p: &study::Parameter| values.iter().find(|v| v.0 == p.name).map(|v| v.1);
    let list: Vec<_> = s.parameters.iter().filter_map(|p| of(p).map(|x| (p, x))).collect();
    at(cx, source, &source.element(cx)?, &list)
}

/// The `Model` element with another value for a property of components.
pub fn changed(path: &Path, model: &Element, p: &study::Parameter, value: f64) -> Result<Element, Error> {
    if property(model, p).is_none() {
        let message = format!("no component of {:?} has a number `{}`", p.component_paths, p.property_name);
        return Err(Error::content(path, p.line, &p.name, message, ""));
    }
    let mut changed = model.clone();
    p.component_paths.iter().for_each(|c| set_property(&mut changed, c, p, value));
    Ok(changed)
}

/// The model with parameters at some values.
fn at(
    cx: &Context,
    source: &StudyModel,
    model: &Element,
    values: &[(&study::Parameter, f64)],
) -> Result<ModelProblem, Error> {
    let mut changed = model.clone();
    for (p, x) in values {
        for c in &p.component_paths {
            set_property(&mut changed, c, p, *x);
        }
    }
    let model = source.build_from(cx, changed)?;
    let system = model::compile(source.path, &model, &Options::default())?;
    Ok(ModelProblem::new(Arc::new(model), Arc::new(system)))
}

/// What is made at some values of parameters.
type Make<'a, F> = dyn Fn(&[(&study::Parameter, f64)]) -> Result<F, Error> + 'a;

/// For each parameter its value in the file, and what is made of enough other values that a polynomial through them all is right for
/// every number of `probe`. None are needed where it changes nothing.
fn sampled<F>(
    source: &StudyModel,
    model: &Element,
    parameters: &[study::Parameter],
    base: &[f64],
    make: &Make<F>,
    probe: &dyn Fn(&F) -> Vec<f64>,
) -> Result<Vec<Samples<F>>, Error> {
    let mut list = Vec::new();
    for p in parameters {
        list.push(enough(source, model, p, base, make, probe)?);
    }
    if list.len() > 1 {
        let inside = |(p, r): (&study::Parameter, &Samples<F>)| match p.bounds {
            [a, b] if a.is_finite() && b.is_finite() => a + 0.7 * (b - a),
            _ => r.0 + 0.7,
        };
        let values: Vec<f64> = parameters.iter().zip(&list).map(inside).collect();
        let pairs: Vec<(&study::Parameter, f64)> = parameters.iter().zip(values.iter().copied()).collect();
        let together = probe(&make(&pairs)?);
        let mut sum = base.to_vec();
        for ((value, nodes), &x) in list.iter().zip(&values) {
            for ((s, v), f) in sum.iter_mut().zip(polynomial(*value, base, nodes, probe, x)).zip(base) {
                *s += v - f;
            }
        }
        let off = difference(&sum, &together);
        if !(off <= LEFT_OUT) {
            let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            let message =
                format!("parameters {} interact (by {off:.1e}), which is not supported", names.join(", "));
            let hint = "optimise one of them at a time";
            return Err(Error::content(source.path, parameters[0].line, "", message, hint));
        }
    }
    Ok(list)
}

/// The value of one parameter in the file, and enough others.
fn enough<F>(
    source: &StudyModel,
    model: &Element,
    p: &study::Parameter,
    base: &[f64],
    make: &Make<F>,
    probe: &dyn Fn(&F) -> Vec<f64>,
) -> Result<Samples<F>, Error> {
    let refuse = |message: String| Error::content(source.path, p.line, &p.name, message, "");
    let value = property(model, p).ok_or_else(|| {
        refuse(format!("no component of {:?} has a number `{}`", p.component_paths, p.property_name))
    })?;
    let [lower, upper] = p.bounds;
    let node = |x: f64| -> Result<Node<F>, Error> { Ok(Node { value: x, at: make(&[(p, x)])? }) };
    // How far the polynomial is from what is made at x.
    let left_out = |nodes: &[Node<F>], x: f64| -> Result<f64, Error> {
        Ok(difference(&polynomial(value, base, nodes, probe, x), &probe(&make(&[(p, x)])?)))
    };
    // Shared by several components, the value may differ between them in the file: then none is the base.
    let other = if upper.is_finite() && upper != value { upper } else { value + 1.0 };
    let linear = vec![node(other)?];
    if left_out(&linear, 0.5 * (value + other))? <= LEFT_OUT {
        return Ok((value, linear));
    }
    if !(lower.is_finite() && upper.is_finite() && lower < upper) {
        let message = format!(
            "`{}` does not enter the equations and goals linearly, so both its bounds must be finite",
            p.property_name
        );
        return Err(refuse(message));
    }
    let mut worst = f64::INFINITY;
    for n in NODES {
        // Chebyshev's points; those next to the value of the file add nothing.
        let point = |k: usize| {
            let c = elementary::cos(std::f64::consts::PI * (k as f64 + 0.5) / n as f64);
            0.5 * (lower + upper) + 0.5 * (upper - lower) * c
        };
        let near = |x: &f64| (x - value).abs() < 1e-3 * (upper - lower);
        let nodes = (0..n).map(point).filter(|x| !near(x)).map(node).collect::<Result<Vec<_>, Error>>()?;
        worst = 0.0;
        for share in [0.03, 0.31, 0.52, 0.77, 0.96] {
            worst = f64::max(worst, left_out(&nodes, lower + share * (upper - lower))?);
        }
        if worst <= LEFT_OUT {
            return Ok((value, nodes));
        }
    }
    Err(refuse(format!(
        "equations or goals are too nonlinear in `{}` between {lower} and {upper}: a polynomial through {} values is off by {worst:.1e}; \
         choose narrower bounds",
        p.property_name,
        NODES[NODES.len() - 1]
    )))
}

/// The polynomial through the numbers at the value of the file and at other values, at x.
fn polynomial<F>(
    value: f64,
    base: &[f64],
    nodes: &[Node<F>],
    probe: &dyn Fn(&F) -> Vec<f64>,
    x: f64,
) -> Vec<f64> {
    let values: Vec<f64> = std::iter::once(value).chain(nodes.iter().map(|n| n.value)).collect();
    let basis = lagrange(&values, x);
    let mut sum: Vec<f64> = base.iter().map(|f| basis[0][0] * f).collect();
    for (l, n) in basis[1..].iter().zip(nodes) {
        sum.iter_mut().zip(probe(&n.at)).for_each(|(s, f)| *s += l[0] * f);
    }
    sum
}

/// Largest difference, as a part of the size of the numbers.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    soleus_math::norm::largest(a.iter().zip(b).map(|(a, b)| (a - b).abs() / (1.0 + a.abs() + b.abs())))
}

/// The equations at two seeded states.
fn residuals(s: &System) -> Vec<f64> {
    let implicit = ImplicitSystem::new(s);
    let mut all = Vec::new();
    for seed in [0.3, 2.1] {
        let mut x = s.default_state.clone();
        let wave = |i: usize| elementary::sin(1.7 * i as f64 + seed);
        x.q.iter_mut().enumerate().for_each(|(i, q)| *q += 0.1 * wave(i));
        x.u.iter_mut().enumerate().for_each(|(i, u)| *u += wave(i + 5));
        let xdot: Vec<f64> = (0..implicit.num_states()).map(|i| wave(i + 11)).collect();
        let e = vec![0.3; s.num_controls];
        let lambda = vec![0.7; implicit.num_multipliers()];
        let mut r = vec![0.0; implicit.num_residuals()];
        implicit.compute_residual(&x, &xdot, &e, &lambda, &mut s.workspace(), &mut r);
        all.extend(r);
    }
    all
}

/// The value in the file, of the first component that has it.
fn property(model: &Element, p: &study::Parameter) -> Option<f64> {
    p.component_paths.iter().find_map(|c| {
        let e = component(model, c)?;
        let own = || e.child("constants").and_then(|list| list.child_text(&p.property_name));
        let text = e.child_text(&p.property_name).or_else(own)?;
        text.split_whitespace().nth(p.property_element.unwrap_or(0))?.parse().ok()
    })
}

fn set_property(model: &mut Element, path: &str, p: &study::Parameter, value: f64) {
    let Some(e) = component_mut(model, path) else { return };
    // Constants of a force by formulas are properties too.
    let e = if e.child(&p.property_name).is_none() { e.child_mut("constants") } else { Some(e) };
    let Some(child) = e.and_then(|e| e.child_mut(&p.property_name)) else { return };
    let mut words: Vec<String> = child.text().split_whitespace().map(str::to_string).collect();
    if let Some(word) = words.get_mut(p.property_element.unwrap_or(0)) {
        *word = format!("{value:?}");
        child.set_text(words.join(" "));
    }
}

/// The element of a component, by the last name of its path.
fn component<'a>(e: &'a Element, path: &str) -> Option<&'a Element> {
    let name = path.rsplit('/').next().unwrap_or(path);
    e.children().find_map(|c| if c.name() == name { Some(c) } else { component(c, path) })
}

fn component_mut<'a>(e: &'a mut Element, path: &str) -> Option<&'a mut Element> {
    let name = path.rsplit('/').next().unwrap_or(path);
    for c in e.children_mut() {
        if c.name() == name {
            return Some(c);
        }
        if component(c, path).is_some() {
            return component_mut(c, path);
        }
    }
    None
}

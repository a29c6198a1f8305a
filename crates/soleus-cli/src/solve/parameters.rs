//! Parameters of a study: numbers of the model's file.
//!
//! The equations at several values of a parameter make a polynomial that stands for all values: two values where they are
//! linear in it (masses, stiffnesses, optimal forces), as many as it takes within the parameter's bounds where they are not
//! (slack lengths, places of points). What the polynomial leaves out is measured, and refused if it matters.

use super::model::Source;
use crate::failure::Failure;
use crate::load;
use soleus_control::musculoskeletal::{ModelProblem, ParameterRange};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::{Options, System};
use soleus_io::setup::moco::{MocoParameter, MocoStudySetup};
use soleus_model::Element;
use std::sync::Arc;

/// What a polynomial may leave out of an equation, as a part of its size: well below the tolerance of any solve.
const LEFT_OUT: f64 = 1e-9;

/// Numbers of values to try, for parameters that are not linear.
const NODES: [usize; 5] = [3, 5, 7, 10, 14];

/// For each parameter the model at other values.
///
/// The base system has the parameter at the value of the model file.
pub fn ranges(
    source: &Source,
    s: &MocoStudySetup,
    base: &ModelProblem,
) -> Result<Vec<ParameterRange>, Failure> {
    if s.parameters.is_empty() {
        return Ok(Vec::new());
    }
    let model = source.element()?;
    let list: Vec<ParameterRange> =
        s.parameters.iter().map(|p| range(source, &model, p, &base.system)).collect::<Result<_, _>>()?;
    if list.len() > 1 {
        check_together(source, &model, &s.parameters, &list, &base.system)?;
    }
    Ok(list)
}

/// The model with parameters at the values that were found for them.
pub fn found(source: &Source, s: &MocoStudySetup, values: &[(String, f64)]) -> Result<System, Failure> {
    let of = |p: &MocoParameter| values.iter().find(|v| v.0 == p.name).map(|v| v.1);
    let list: Vec<_> = s.parameters.iter().filter_map(|p| of(p).map(|x| (p, x))).collect();
    at(source, &source.element()?, &list)
}

/// The model with parameters at some values.
fn at(source: &Source, model: &Element, values: &[(&MocoParameter, f64)]) -> Result<System, Failure> {
    let mut changed = model.clone();
    for (p, x) in values {
        for c in &p.component_paths {
            set_property(&mut changed, c, p, *x);
        }
    }
    load::compile(source.path, &source.build_from(changed)?, &Options::default())
}

fn range(
    source: &Source,
    model: &Element,
    p: &MocoParameter,
    base: &System,
) -> Result<ParameterRange, Failure> {
    let refuse = |message: String| Failure::content(source.path, p.line, &p.name, message, "");
    let value = property(model, p).ok_or_else(|| {
        refuse(format!("no component of {:?} has a number `{}`", p.component_paths, p.property_name))
    })?;
    let [lower, upper] = p.bounds;
    let system =
        |x: f64| -> Result<(f64, Arc<System>), Failure> { Ok((x, Arc::new(at(source, model, &[(p, x)])?))) };
    // Shared by several components, the value may differ between them in the file: then none is the base.
    let other = if upper.is_finite() && upper != value { upper } else { value + 1.0 };
    let linear = ParameterRange { base: value, others: vec![system(other)?] };
    let between = 0.5 * (value + other);
    if left_out(base, &linear, between, &system(between)?.1) <= LEFT_OUT {
        return Ok(linear);
    }
    if !(lower.is_finite() && upper.is_finite() && lower < upper) {
        let message = format!(
            "`{}` does not enter the equations linearly, so both its bounds must be finite",
            p.property_name
        );
        return Err(refuse(message));
    }
    let mut worst = f64::INFINITY;
    for n in NODES {
        // Chebyshev's points; those next to the value of the file add nothing.
        let point = |k: usize| {
            let c = (std::f64::consts::PI * (k as f64 + 0.5) / n as f64).cos();
            0.5 * (lower + upper) + 0.5 * (upper - lower) * c
        };
        let near = |x: &f64| (x - value).abs() < 1e-3 * (upper - lower);
        let others =
            (0..n).map(point).filter(|x| !near(x)).map(system).collect::<Result<Vec<_>, Failure>>()?;
        let made = ParameterRange { base: value, others };
        worst = 0.0;
        for share in [0.03, 0.31, 0.52, 0.77, 0.96] {
            let x = lower + share * (upper - lower);
            worst = f64::max(worst, left_out(base, &made, x, &system(x)?.1));
        }
        if worst <= LEFT_OUT {
            return Ok(made);
        }
    }
    Err(refuse(format!(
        "the equations bend too much with `{}` between {lower} and {upper}: a polynomial through {} values is off by {worst:.1e}; \
         choose narrower bounds",
        p.property_name,
        NODES[NODES.len() - 1]
    )))
}

/// Parameters that act on each other cannot be added up.
fn check_together(
    source: &Source,
    model: &Element,
    parameters: &[MocoParameter],
    ranges: &[ParameterRange],
    base: &System,
) -> Result<(), Failure> {
    let inside = |(p, r): (&MocoParameter, &ParameterRange)| match p.bounds {
        [a, b] if a.is_finite() && b.is_finite() => a + 0.7 * (b - a),
        _ => r.base + 0.7,
    };
    let values: Vec<f64> = parameters.iter().zip(ranges).map(inside).collect();
    let pairs: Vec<(&MocoParameter, f64)> = parameters.iter().zip(values.iter().copied()).collect();
    let together = residuals(&at(source, model, &pairs)?);
    let first = residuals(base);
    let mut sum = first.clone();
    for (r, &x) in ranges.iter().zip(&values) {
        for ((s, v), f) in sum.iter_mut().zip(polynomial(&first, r, x)).zip(&first) {
            *s += v - f;
        }
    }
    let off = difference(&sum, &together);
    if off <= LEFT_OUT {
        return Ok(());
    }
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    let message =
        format!("parameters {} act on each other (by {off:.1e}), which is not supported", names.join(", "));
    Err(Failure::content(source.path, parameters[0].line, "", message, "find one of them at a time"))
}

/// How far the polynomial is from the equations at x.
fn left_out(base: &System, r: &ParameterRange, x: f64, exact: &System) -> f64 {
    difference(&polynomial(&residuals(base), r, x), &residuals(exact))
}

/// The polynomial of a parameter at x, for seeded states.
fn polynomial(base: &[f64], r: &ParameterRange, x: f64) -> Vec<f64> {
    let basis = r.basis(x);
    let mut sum: Vec<f64> = base.iter().map(|f| basis[0][0] * f).collect();
    for (l, (_, system)) in basis[1..].iter().zip(&r.others) {
        sum.iter_mut().zip(residuals(system)).for_each(|(s, f)| *s += l[0] * f);
    }
    sum
}

/// Largest difference, as a part of the size of the numbers.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.iter().zip(b).fold(0.0, |w: f64, (a, b)| w.max((a - b).abs() / (1.0 + a.abs() + b.abs())))
}

/// The equations at two seeded states.
fn residuals(s: &System) -> Vec<f64> {
    let implicit = ImplicitSystem::new(s);
    let mut all = Vec::new();
    for seed in [0.3, 2.1] {
        let mut x = s.default_state.clone();
        let wave = |i: usize| (1.7 * i as f64 + seed).sin();
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
fn property(model: &Element, p: &MocoParameter) -> Option<f64> {
    p.component_paths.iter().find_map(|c| {
        let text = component(model, c)?.child_text(&p.property_name)?;
        text.split_whitespace().nth(p.property_element.unwrap_or(0))?.parse().ok()
    })
}

fn set_property(model: &mut Element, path: &str, p: &MocoParameter, value: f64) {
    let Some(e) = component_mut(model, path) else { return };
    let Some(child) = e.child_mut(&p.property_name) else { return };
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

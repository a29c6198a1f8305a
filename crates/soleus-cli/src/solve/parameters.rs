//! Parameters of a study: properties of the model that the equations are linear in.

use super::model::Source;
use crate::failure::Failure;
use crate::load;
use soleus_control::musculoskeletal::{ModelProblem, ParameterRange};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::{Options, System};
use soleus_io::setup::moco::{MocoParameter, MocoStudySetup};
use soleus_model::Element;
use std::sync::Arc;

/// For each parameter the model at a second value; refuses those that do not enter linearly.
///
/// The base system has the parameter at the value of the model file.
pub fn ranges(
    source: &Source,
    s: &MocoStudySetup,
    base: &ModelProblem,
) -> Result<Vec<ParameterRange>, Failure> {
    s.parameters.iter().map(|p| range(source, p, &base.system)).collect()
}

fn range(source: &Source, p: &MocoParameter, base: &System) -> Result<ParameterRange, Failure> {
    let path = source.path;
    let refuse = |message: String| Failure::content(path, p.line, &p.name, message, "");
    let model = source.element()?;
    let value = property(&model, p).ok_or_else(|| {
        refuse(format!("no component of {:?} has a number `{}`", p.component_paths, p.property_name))
    })?;
    let at = |x: f64| -> Result<System, Failure> {
        let mut changed = model.clone();
        for c in &p.component_paths {
            set_property(&mut changed, c, p, x);
        }
        let model = source.build_from(changed)?;
        load::compile(path, &model, &Options::default())
    };
    // Shared by several components, the value may differ between them in the file: then none is the base.
    let other = if p.bounds[1].is_finite() && p.bounds[1] != value { p.bounds[1] } else { value + 1.0 };
    let system = at(other)?;
    let third = 0.5 * (value + other);
    if !is_linear(base, &system, &at(third)?, (third - value) / (other - value)) {
        return Err(refuse(format!(
            "`{}` does not enter the equations linearly; not supported",
            p.property_name
        )));
    }
    Ok(ParameterRange { base: value, other, system: Arc::new(system) })
}

/// Whether f at a third value lies on the line between two, at a seeded state.
fn is_linear(a: &System, b: &System, c: &System, share: f64) -> bool {
    let residual = |s: &System| {
        let implicit = ImplicitSystem::new(s);
        let mut x = s.default_state.clone();
        let wave = |i: usize| (1.7 * i as f64 + 0.3).sin();
        x.q.iter_mut().enumerate().for_each(|(i, q)| *q += 0.1 * wave(i));
        x.u.iter_mut().enumerate().for_each(|(i, u)| *u += wave(i + 5));
        let xdot: Vec<f64> = (0..implicit.num_states()).map(|i| wave(i + 11)).collect();
        let e = vec![0.3; s.num_controls];
        let lambda = vec![0.7; implicit.num_multipliers()];
        let mut r = vec![0.0; implicit.num_residuals()];
        implicit.compute_residual(&x, &xdot, &e, &lambda, &mut s.workspace(), &mut r);
        r
    };
    let (fa, fb, fc) = (residual(a), residual(b), residual(c));
    fa.len() == fb.len()
        && fa.len() == fc.len()
        && (0..fa.len()).all(|i| {
            let line = (1.0 - share) * fa[i] + share * fb[i];
            // Rounding of the two ends.
            (line - fc[i]).abs() <= 1e-9 * (1.0 + fa[i].abs() + fb[i].abs())
        })
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

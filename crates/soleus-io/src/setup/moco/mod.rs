//! `MocoStudy`: an optimal control problem and its solver (`.omoco`), converted to the types of [`crate::study`].

mod goal;
mod model_source;
mod output;
mod path_constraint;
mod position_motion;
mod solver;
mod tools;

pub use tools::{MocoInverseSetup, MocoToolSetup, MocoTrackSetup};
pub(super) use tools::{read_inverse, read_track};

use super::properties::Properties;
use crate::study::{Parameter, Problem, Solver, VariableInfo};
use soleus_model::{Diagnostics, Element};

pub(crate) fn read(study: &Element, log: &mut Diagnostics) -> Problem {
    let name = study.name().to_string();
    let mut p = Properties::new(study, log);
    p.skip(&["write_solution", "results_directory"]);
    let problem = p.find("MocoProblem").or_else(|| p.find("problem"));
    let solver = p.find("MocoCasADiSolver").or_else(|| p.find("solver")).cloned();
    p.skip(&["MocoProblem", "problem", "MocoCasADiSolver", "solver"]);
    p.finish();
    let empty = Element::new("MocoCasADiSolver", study.line);
    let solver = solver::read(solver.as_ref().unwrap_or(&empty), log);
    let phases: Vec<&Element> = problem.map_or(Vec::new(), |p| all(p, "MocoPhase"));
    if phases.len() != 1 {
        let message = format!("the study has {} phases; one is supported", phases.len());
        log.error(study.line, "", message, "");
    }
    let fallback = Element::new("MocoPhase", study.line);
    let phase = phases.first().copied().unwrap_or(&fallback);
    read_phase(name, phase, solver, log)
}

fn read_phase(name: String, phase: &Element, solver: Solver, log: &mut Diagnostics) -> Problem {
    let mut p = Properties::new(phase, log);
    let speed = p.find("default_speed_bounds").or_else(|| named(phase, "default_speed_bounds")).cloned();
    let multiplier = p.find("multiplier_bounds").or_else(|| named(phase, "multiplier_bounds")).cloned();
    let bound_activation_from_excitation = p.boolean("bound_activation_from_excitation", true);
    let processor = p.find("ModelProcessor").or_else(|| p.find("model"));
    let lists: Vec<(Option<&Element>, bool)> = vec![
        (p.find("state_infos_pattern"), true),
        (p.find("state_infos"), false),
        (p.find("control_infos_pattern"), true),
        (p.find("control_infos"), false),
    ];
    let (parameters, goals) = (p.find("parameters"), p.find("goals"));
    let constraints = p.find("path_constraints");
    p.skip(&[
        "ModelProcessor",
        "model",
        "MocoInitialBounds",
        "MocoFinalBounds",
        "MocoBounds",
        "kinematic_constraint_bounds",
    ]);
    p.finish();
    let initial = phase.child("MocoInitialBounds").and_then(|e| bounds(e, log));
    let last = phase.child("MocoFinalBounds").and_then(|e| bounds(e, log));
    let infos = |range: std::ops::Range<usize>, log: &mut Diagnostics| {
        let mut list = Vec::new();
        for (e, is_pattern) in &lists[range] {
            for info in e.iter().flat_map(|e| e.children()).filter(|e| e.tag == "MocoVariableInfo") {
                list.push(variable_info(info, *is_pattern, log));
            }
        }
        list
    };
    let (states, controls) = (infos(0..2, log), infos(2..4, log));
    let source = processor.map(|m| model_source::read(m, log)).unwrap_or_default();
    let (mut model, model_file, model_steps) = (source.model, source.file, source.steps);
    let external_loads = model.as_mut().and_then(take_external_loads);
    let prescribed = model.as_mut().map_or(Vec::new(), |m| position_motion::take(m, log));
    let parameters = parameters
        .iter()
        .flat_map(|e| e.children())
        .filter(|e| e.tag == "MocoParameter")
        .map(|e| parameter(e, log))
        .collect();
    let goals = goals.iter().flat_map(|e| e.children()).filter_map(|e| goal::read(e, log)).collect();
    let path_constraints =
        constraints.iter().flat_map(|e| e.children()).filter_map(|e| path_constraint::read(e, log)).collect();
    Problem {
        name,
        model,
        prescribed,
        external_loads,
        model_file,
        model_steps,
        initial_time: initial,
        final_time: last,
        default_speed_bounds: speed.and_then(|e| bounds(&e, log)).unwrap_or([-50.0, 50.0]),
        bound_activation_from_excitation,
        multiplier_bounds: multiplier.and_then(|e| bounds(&e, log)).unwrap_or([-1000.0, 1000.0]),
        replace_entries: true,
        states,
        controls,
        parameters,
        goals,
        path_constraints,
        solver,
        ..Problem::default()
    }
}

/// Takes `ExternalLoads` out of a model's components.
fn take_external_loads(model: &mut Element) -> Option<Element> {
    model.child_mut("ComponentSet")?.child_mut("objects")?.take_child("ExternalLoads")
}

fn all<'a>(e: &'a Element, tag: &str) -> Vec<&'a Element> {
    let direct = e.children().filter(|c| c.tag == tag);
    let listed = e.children().filter(|c| c.tag == "phases").flat_map(Element::children);
    direct.chain(listed.filter(|c| c.tag == tag)).collect()
}

/// The child whose name attribute is `name`: how one object of a property is written.
fn named<'a>(e: &'a Element, name: &str) -> Option<&'a Element> {
    e.children().find(|c| c.name() == name)
}

/// `bounds`: one value or two, or none.
fn bounds(e: &Element, log: &mut Diagnostics) -> Option<[f64; 2]> {
    let text = e.child_text("bounds").unwrap_or_else(|| e.text());
    numbers(e, &text, log)
}

/// Bounds written as one number or two.
fn numbers(e: &Element, text: &str, log: &mut Diagnostics) -> Option<[f64; 2]> {
    let list: Vec<Option<f64>> = text.split_whitespace().map(|w| w.parse().ok()).collect();
    match list[..] {
        [] => None,
        [Some(x)] => Some([x, x]),
        [Some(a), Some(b)] => Some([a, b]),
        _ => {
            log.error(e.line, e.name(), format!("bounds need one number or two, found `{text}`"), "");
            None
        }
    }
}

fn variable_info(e: &Element, is_pattern: bool, log: &mut Diagnostics) -> VariableInfo {
    let mut of = |tag: &str| e.child_text(tag).and_then(|t| numbers(e, &t, log));
    VariableInfo {
        name: e.name().to_string(),
        is_pattern,
        bounds: of("bounds"),
        initial: of("initial_bounds"),
        last: of("final_bounds"),
        line: e.line,
    }
}

fn parameter(e: &Element, log: &mut Diagnostics) -> Parameter {
    let of = e.child("MocoBounds").and_then(|b| bounds(b, log));
    let mut p = Properties::new(e, log);
    p.skip(&["MocoBounds"]);
    let parameter = Parameter {
        name: e.name().to_string(),
        bounds: of.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
        component_paths: p.words("component_paths"),
        property_name: p.text("property_name").unwrap_or_default(),
        property_element: p.text("property_element").and_then(|t| t.parse().ok()),
        line: e.line,
    };
    p.finish();
    parameter
}

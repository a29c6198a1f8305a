//! Writes a study as a TOML file.

use super::describe;
use super::schema::{self, CONSTRAINTS, Class, GOALS, OPERATORS};
use super::writing::{Writing, bounds, differing};
use crate::plain::toml_text::quoted;
use crate::study::{
    ContinuationSettings, FormulaForce, Goal, GuessSettings, HelpSettings, LinkSettings, OutputSettings,
    Parameter, PrescribedCoordinate, Problem, RefineSettings, Solver, StartSettings, Study, VariableInfo,
};
use std::fmt::Write;

/// A study as a file that [`read`](super::read) reads back exactly, except for line numbers. Default values are left
/// out.
///
/// For a study with phases, `setup` is that of the first, as in the reader.
pub fn write(study: &Study) -> String {
    let mut out = String::new();
    let p = &study.setup;
    if !p.name.is_empty() {
        let _ = writeln!(out, "name = {}", quoted(&p.name));
    }
    match study.phases.is_empty() {
        true => problem(&mut out, "", p, study, &Study::default()),
        false => several(&mut out, study),
    }
    let refine = study.refine.clone();
    if let Some(refine) = refine {
        let usual = RefineSettings::default();
        section(&mut out, "[refine]", true, |w, is_usual| {
            describe::refine(w, &mut if is_usual { usual.clone() } else { refine.clone() });
        });
    }
    if let Some(help) = &study.help {
        section(&mut out, "[help]", true, |w, is_usual| {
            describe::help(w, &mut if is_usual { HelpSettings::default() } else { help.clone() });
        });
    }
    if let Some(starts) = &study.starts {
        section(&mut out, "[starts]", true, |w, is_usual| {
            describe::starts(w, &mut if is_usual { StartSettings::default() } else { starts.clone() });
        });
    }
    if let Some(c) = &study.continuation {
        section(&mut out, "[continuation]", true, |w, is_usual| {
            describe::continuation(
                w,
                &mut if is_usual { ContinuationSettings::default() } else { c.clone() },
            );
        });
    }
    section(&mut out, "[output]", false, |w, is_usual| {
        let usual = OutputSettings::default();
        describe::output(w, &mut if is_usual { usual } else { study.output.clone() });
    });
    out.trim_start().to_string()
}

/// What is said for all phases, the phases, and what holds between them.
fn several(out: &mut String, study: &Study) {
    if let Some(file) = &study.kinematics {
        let _ = writeln!(out, "kinematics = {}", quoted(file));
    }
    section(out, "[solver]", false, |w, is_usual| {
        describe::own_solver(w, &mut if is_usual { Study::default() } else { study.clone() });
    });
    section(out, "[guess]", false, |w, is_usual| {
        describe::guess(w, &mut if is_usual { GuessSettings::default() } else { study.guess.clone() });
    });
    for phase in &study.phases {
        let _ = writeln!(out, "\n[[phases]]\nname = {}", quoted(&phase.setup.name));
        problem(out, "phases.", &phase.setup, phase, study);
    }
    for link in &study.links {
        let after = study.phases.get(link.after).map_or("", |p| p.setup.name.as_str());
        let _ = writeln!(out, "\n[[links]]\nafter = {}", quoted(after));
        fields(out, |w, is_usual| {
            describe::link(w, &mut if is_usual { LinkSettings::default() } else { link.clone() });
        });
    }
}

/// A problem and the settings beside it. `all` holds what is said for all phases.
fn problem(out: &mut String, prefix: &str, p: &Problem, study: &Study, all: &Study) {
    fields(out, |w, is_usual| {
        describe::problem(w, &mut if is_usual { Problem::default() } else { p.clone() })
    });
    if study.kinematics != all.kinematics {
        let _ = writeln!(out, "kinematics = {}", quoted(study.kinematics.as_deref().unwrap_or_default()));
    }
    for step in &p.model_steps {
        let class = class(OPERATORS, describe::operator_type(&step.kind));
        typed(out, &format!("[[{prefix}operators]]"), class, |w, is_usual| {
            let usual = describe::usual_operator(class.name).filter(|_| is_usual);
            describe::operator(w, &mut usual.unwrap_or_else(|| step.kind.clone()));
        });
    }
    if p.initial_time.is_some() || p.final_time.is_some() {
        let _ = writeln!(out, "\n[{prefix}time]");
        for (name, value) in [("initial", p.initial_time.filter(|t| *t != [0.0; 2])), ("final", p.final_time)]
        {
            if let Some(b) = value {
                let _ = writeln!(out, "{name} = {}", bounds(&b));
            }
        }
    }
    section(out, &format!("[{prefix}defaults]"), false, |w, is_usual| {
        describe::defaults(w, &mut if is_usual { Problem::default() } else { p.clone() });
    });
    for c in &p.forces {
        section(out, &format!("[[{prefix}forces]]"), true, |w, is_usual| {
            describe::force(w, &mut if is_usual { FormulaForce::default() } else { c.clone() });
        });
    }
    for c in &p.prescribed {
        section(out, &format!("[[{prefix}prescribed]]"), true, |w, is_usual| {
            describe::prescribed(w, &mut if is_usual { PrescribedCoordinate::default() } else { c.clone() });
        });
    }
    for (list, field) in [(&p.states, "states"), (&p.controls, "controls")] {
        for v in list {
            let key = if v.is_pattern { "pattern" } else { "name" };
            let _ = writeln!(out, "\n[[{prefix}{field}]]\n{key} = {}", quoted(&v.name));
            fields(out, |w, is_usual| {
                describe::variable(w, &mut if is_usual { VariableInfo::new("") } else { v.clone() });
            });
        }
    }
    for q in &p.parameters {
        let _ = writeln!(out, "\n[[{prefix}parameters]]");
        let is_needed = |name: &str| name != "element";
        let list = differing(
            |w, is_usual| {
                describe::parameter(w, &mut if is_usual { Parameter::default() } else { q.clone() });
            },
            is_needed,
        );
        lines(out, &list);
    }
    for g in &p.goals {
        let class = class(GOALS, describe::goal_type(&g.kind));
        typed(out, &format!("[[{prefix}goals]]"), class, |w, is_usual| {
            let usual = describe::usual_goal(class.name).filter(|_| is_usual);
            let mut goal = usual.map_or_else(|| g.clone(), |kind| Goal::new(class.name, kind));
            describe::goal(w, &mut goal);
            describe::goal_kind(w, &mut goal.kind);
        });
    }
    for c in &p.path_constraints {
        let class = class(CONSTRAINTS, describe::constraint_type(&c.kind));
        typed(out, &format!("[[{prefix}path_constraints]]"), class, |w, is_usual| {
            let usual = describe::usual_constraint(class.name).filter(|_| is_usual);
            let name = if is_usual { class.name } else { &c.name };
            w.0.push(("name", quoted(name)));
            describe::constraint_kind(w, &mut usual.unwrap_or_else(|| c.kind.clone()));
        });
    }
    section(out, &format!("[{prefix}solver]"), false, |w, is_usual| {
        describe::solver(w, &mut if is_usual { Solver::default() } else { p.solver.clone() });
        describe::own_solver(w, &mut if is_usual { all.clone() } else { study.clone() });
    });
    section(out, &format!("[{prefix}guess]"), false, |w, is_usual| {
        describe::guess_file(w, &mut if is_usual { Solver::default() } else { p.solver.clone() });
        describe::guess(w, &mut if is_usual { all.guess.clone() } else { study.guess.clone() });
    });
}

/// The type of that name; `describe` and the lists have the same names.
fn class(classes: &'static [Class], name: &str) -> &'static Class {
    classes.iter().find(|c| c.name == name).unwrap_or(&classes[0])
}

/// A table with a type.
fn typed(out: &mut String, head: &str, class: &Class, described: impl Fn(&mut Writing, bool)) {
    let is_needed = |name: &str| class.fields.iter().any(|f| f.name == name && f.default == schema::NEEDED);
    let _ = writeln!(out, "\n{head}\ntype = {}", quoted(class.name));
    lines(out, &differing(described, is_needed));
}

/// A table, left out where it says nothing, unless it is there for its own sake.
fn section(out: &mut String, head: &str, always: bool, described: impl Fn(&mut Writing, bool)) {
    let list = differing(described, |_| false);
    if always || !list.is_empty() {
        let _ = writeln!(out, "\n{head}");
        lines(out, &list);
    }
}

fn fields(out: &mut String, described: impl Fn(&mut Writing, bool)) {
    lines(out, &differing(described, |_| false));
}

fn lines(out: &mut String, list: &[(&'static str, String)]) {
    for (name, value) in list {
        let _ = writeln!(out, "{name} = {value}");
    }
}

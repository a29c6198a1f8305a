//! Study files: TOML to a [`Study`] and back.
//!
//! [`schema`] contains every field with its unit and meaning, for messages and for the guide; [`describe`] contains
//! every field with its value, for reading and writing.

mod describe;
mod fields;
mod phases;
mod reading;
mod reference;
mod schema;
mod value;
mod write;
mod writing;

pub use reference::reference;
pub use write::write;

use super::{
    ContinuationSettings, FormulaForce, Goal, GuessSettings, HelpSettings, ModelStep, OutputSettings,
    Parameter, PathConstraint, PrescribedCoordinate, Problem, RefineSettings, StartSettings, Study,
    VariableInfo,
};
use reading::Reading;
use schema::{CONSTRAINTS, Class, Field, GOALS, OPERATORS};
use soleus_model::Diagnostics;
use toml::de::DeTable;
use value::{Reader, Table};

/// Reads a study file. `None` if and only if `log` contains an error.
pub fn read(text: &str, log: &mut Diagnostics) -> Option<Study> {
    let mut reader = Reader::new(text, log);
    let root = match DeTable::parse(text) {
        Ok(root) => root,
        Err(e) => {
            let line = e.span().map_or(0, |s| reader.line_at(s.start));
            reader.log.error(
                line,
                "",
                e.message().to_string(),
                "a study is a TOML file: docs/guide/study.md",
            );
            return None;
        }
    };
    let r = &mut reader;
    let t = r.root(root.get_ref());
    r.check(t, "a study", &[schema::STUDY]);
    let study = if t.has("phases") { several(r, t) } else { one(r, t) };
    (!log.has_errors()).then_some(study)
}

/// A study of one phase.
fn one(r: &mut Reader<'_>, t: Table<'_>) -> Study {
    let problem = problem(r, t);
    own_settings(r, t, problem)
}

/// A study of several; what concerns them all is said outside of them.
fn several(r: &mut Reader<'_>, t: Table<'_>) -> Study {
    let (phases, links) = phases::read(r, t);
    let Some(first) = phases.first() else {
        r.log.error(t.line, "", "`phases` is empty", "add [[phases]], or remove the field");
        return Study::default();
    };
    let mut setup = first.setup.clone();
    setup.name = r.text(t, "name").unwrap_or_default();
    Study { phases, links, ..own_settings(r, t, setup) }
}

/// What Moco has no word for, beside what it has.
fn own_settings(r: &mut Reader<'_>, t: Table<'_>, setup: Problem) -> Study {
    let mut study =
        Study { kinematics: r.text(t, "kinematics").filter(|f| !f.is_empty()), ..Study::from(setup) };
    if let Some(t) = r.table(t, "solver") {
        describe::own_solver(&mut Reading { r, t, known: &[schema::SOLVER] }, &mut study);
    }
    study.refine = r.table(t, "refine").map(|t| {
        r.check(t, "[refine]", &[schema::REFINE]);
        let mut refine = RefineSettings::default();
        describe::refine(&mut Reading { r, t, known: &[schema::REFINE] }, &mut refine);
        refine
    });
    study.help = r.table(t, "help").map(|t| {
        r.check(t, "[help]", &[schema::HELP]);
        let mut help = HelpSettings::default();
        describe::help(&mut Reading { r, t, known: &[schema::HELP] }, &mut help);
        help
    });
    study.starts = r.table(t, "starts").map(|t| {
        r.check(t, "[starts]", &[schema::STARTS]);
        let mut starts = StartSettings::default();
        describe::starts(&mut Reading { r, t, known: &[schema::STARTS] }, &mut starts);
        starts
    });
    study.continuation = r.table(t, "continuation").map(|t| continuation(r, t));
    study.guess = r.table(t, "guess").map_or(GuessSettings::default(), |t| {
        r.check(t, "[guess]", &[schema::GUESS]);
        let mut guess = GuessSettings::default();
        describe::guess(&mut Reading { r, t, known: &[schema::GUESS] }, &mut guess);
        guess
    });
    study.output = r.table(t, "output").map_or(OutputSettings::default(), |t| {
        r.check(t, "[output]", &[schema::OUTPUT_FILES]);
        let mut output = OutputSettings::default();
        describe::output(&mut Reading { r, t, known: &[schema::OUTPUT_FILES] }, &mut output);
        output
    });
    study
}

/// `[continuation]`.
fn continuation(r: &mut Reader<'_>, t: Table<'_>) -> ContinuationSettings {
    r.check(t, "[continuation]", &[schema::CONTINUATION]);
    let mut c = ContinuationSettings { line: t.line, ..ContinuationSettings::default() };
    describe::continuation(&mut Reading { r, t, known: &[schema::CONTINUATION] }, &mut c);
    let needed: &[&str] = match c.of.as_str() {
        "weight" => &["values", "goal"],
        "property" => &["values", "components", "property"],
        _ => &["of", "values"],
    };
    for name in needed.iter().filter(|name| !t.has(name)) {
        r.log.error(t.line, "", format!("[continuation] needs `{name}`"), "");
    }
    c
}

/// The problem of one phase.
fn problem(r: &mut Reader<'_>, t: Table<'_>) -> Problem {
    let mut p = Problem { name: r.text(t, "name").unwrap_or_default(), ..Problem::default() };
    describe::problem(&mut Reading { r, t, known: &[schema::STUDY] }, &mut p);
    if !t.has("model") && !t.has("model_xml") {
        r.log.error(1, "", "the study has no `model`", "give an .osim file, or `builtin:reach`");
    }
    for (class, o) in listed(r, t, "operators", OPERATORS, (schema::OPERATOR, "operator")) {
        let Some(mut kind) = describe::usual_operator(class.name) else { continue };
        describe::operator(&mut Reading { r, t: o, known: &[schema::OPERATOR, class.fields] }, &mut kind);
        p.model_steps.push(ModelStep { kind, line: o.line });
    }
    time(r, t, &mut p);
    if let Some(t) = r.table(t, "defaults") {
        r.check(t, "[defaults]", &[schema::DEFAULTS]);
        describe::defaults(&mut Reading { r, t, known: &[schema::DEFAULTS] }, &mut p);
    }
    p.forces = forces(r, t);
    p.prescribed = prescribed(r, t);
    p.states = variables(r, t, "states");
    p.controls = variables(r, t, "controls");
    p.parameters = parameters(r, t);
    p.goals = goals(r, t);
    p.path_constraints = path_constraints(r, t);
    if let Some(t) = r.table(t, "solver") {
        r.check(t, "[solver]", &[schema::SOLVER]);
        describe::solver(&mut Reading { r, t, known: &[schema::SOLVER] }, &mut p.solver);
    }
    if let Some(t) = r.table(t, "guess") {
        describe::guess_file(&mut Reading { r, t, known: &[schema::GUESS] }, &mut p.solver);
    }
    p
}

/// `[time]`.
fn time(r: &mut Reader<'_>, t: Table<'_>, p: &mut Problem) {
    if let Some(time) = r.table(t, "time") {
        r.check(time, "[time]", &[schema::TIME]);
        p.initial_time = Some(r.bounds(time, "initial").unwrap_or([0.0; 2]));
        p.final_time = r.bounds(time, "final");
        if !time.has("final") {
            r.log.error(
                time.line,
                "",
                "[time] needs a `final` time",
                "give a time in s, or [earliest, latest]",
            );
        }
    } else if !t.has("time") {
        r.log.error(1, "", "the study has no [time]", "add:  [time]  final = 1.0");
    }
}

/// The tables of a list with their types: goals, path constraints or operators. Those of unknown type are told and left out.
fn listed<'t>(
    r: &mut Reader<'_>,
    t: Table<'t>,
    field: &'static str,
    classes: &'static [Class],
    (common, what): (&'static [Field], &str),
) -> Vec<(&'static Class, Table<'t>)> {
    let mut list = Vec::new();
    for g in r.tables(t, field) {
        let Some(class) = r.class(g, what, classes) else { continue };
        r.check(g, &format!("a {what} of type `{}`", class.name), &[common, class.fields]);
        for f in class.fields.iter().filter(|f| f.default == "required" && !g.has(f.name)) {
            let message = format!("a {what} of type `{}` needs `{}`: {}", class.name, f.name, f.help);
            r.log.error(g.line, "", message, "");
        }
        list.push((class, g));
    }
    list
}

fn goals(r: &mut Reader<'_>, t: Table<'_>) -> Vec<Goal> {
    let mut list = Vec::new();
    for (class, t) in listed(r, t, "goals", GOALS, (schema::GOAL, "goal")) {
        let Some(kind) = describe::usual_goal(class.name) else { continue };
        let mut goal = Goal { line: t.line, ..Goal::new(class.name, kind) };
        let f = &mut Reading { r, t, known: &[schema::GOAL, class.fields] };
        describe::goal(f, &mut goal);
        describe::goal_kind(f, &mut goal.kind);
        list.push(goal);
    }
    list
}

fn path_constraints(r: &mut Reader<'_>, t: Table<'_>) -> Vec<PathConstraint> {
    let mut list = Vec::new();
    for (class, t) in listed(r, t, "path_constraints", CONSTRAINTS, (schema::CONSTRAINT, "path constraint")) {
        let Some(mut kind) = describe::usual_constraint(class.name) else { continue };
        let name = r.text(t, "name").unwrap_or_else(|| class.name.to_string());
        let known: &[&[Field]] = &[schema::CONSTRAINT, class.fields];
        describe::constraint_kind(&mut Reading { r, t, known }, &mut kind);
        list.push(PathConstraint { name, kind, line: t.line });
    }
    list
}

/// Bounds of states or controls: those by pattern, then those by name.
fn variables(r: &mut Reader<'_>, t: Table<'_>, field: &str) -> Vec<VariableInfo> {
    let mut list = Vec::new();
    for t in r.tables(t, field) {
        r.check(t, &format!("[[{field}]]"), &[schema::VARIABLE]);
        let (is_pattern, name) = match (r.text(t, "name"), r.text(t, "pattern")) {
            (Some(name), None) => (false, name),
            (None, Some(pattern)) => (true, pattern),
            _ => {
                let message = format!("[[{field}]] needs either a `name` or a `pattern`");
                r.log.error(t.line, "", message, "");
                continue;
            }
        };
        let mut info = VariableInfo { is_pattern, line: t.line, ..VariableInfo::new(name) };
        describe::variable(&mut Reading { r, t, known: &[schema::VARIABLE] }, &mut info);
        list.push(info);
    }
    list.sort_by_key(|v| !v.is_pattern);
    list
}

fn parameters(r: &mut Reader<'_>, t: Table<'_>) -> Vec<Parameter> {
    let mut list = Vec::new();
    for t in r.tables(t, "parameters") {
        r.check(t, "[[parameters]]", &[schema::PARAMETER]);
        for needed in ["name", "components", "property", "bounds"] {
            if !t.has(needed) {
                r.log.error(t.line, "", format!("a parameter needs `{needed}`"), "");
            }
        }
        let mut parameter = Parameter { line: t.line, ..Parameter::default() };
        describe::parameter(&mut Reading { r, t, known: &[schema::PARAMETER] }, &mut parameter);
        list.push(parameter);
    }
    list
}

fn forces(r: &mut Reader<'_>, t: Table<'_>) -> Vec<FormulaForce> {
    let mut list = Vec::new();
    for t in r.tables(t, "forces") {
        r.check(t, "[[forces]]", &[schema::FORCE]);
        let mut force = FormulaForce { line: t.line, ..FormulaForce::default() };
        describe::force(&mut Reading { r, t, known: &[schema::FORCE] }, &mut force);
        if force.name.is_empty() {
            r.log.error(t.line, "", "a force needs a `name`", "");
        }
        if let Some(s) = force.start.iter().find(|s| force.states.iter().all(|z| z.name != s.name)) {
            r.log.error(
                t.line,
                "",
                format!("`start` names `{}`, which is not a state of the force", s.name),
                "",
            );
        }
        list.push(force);
    }
    list
}

fn prescribed(r: &mut Reader<'_>, t: Table<'_>) -> Vec<PrescribedCoordinate> {
    let mut list = Vec::new();
    for t in r.tables(t, "prescribed") {
        r.check(t, "[[prescribed]]", &[schema::PRESCRIBED]);
        for needed in ["coordinate", "times", "values"] {
            if !t.has(needed) {
                r.log.error(t.line, "", format!("a prescribed coordinate needs `{needed}`"), "");
            }
        }
        let mut p = PrescribedCoordinate::default();
        describe::prescribed(&mut Reading { r, t, known: &[schema::PRESCRIBED] }, &mut p);
        if p.x.len() != p.y.len() {
            let message = format!("there are {} times and {} values", p.x.len(), p.y.len());
            r.log.error(t.line, "", message, "");
        }
        list.push(p);
    }
    list
}

#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;

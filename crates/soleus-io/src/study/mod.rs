//! Study files of Soleus (TOML): an optimal control problem and how to solve it.
//!
//! What OpenSim Moco knows too becomes the same document as a `MocoStudy` file, every element with its line in the
//! study, so both formats mean the same by construction; the rest is Soleus's own.

mod elements;
mod phases;
mod reference;
mod schema;
mod value;

pub use reference::reference;

use crate::setup::moco::{self, MocoStudySetup};
use elements::{bounds_element, described, listed};
use schema::{CONSTRAINTS, GOALS, OPERATORS};
use soleus_model::{Diagnostics, Element};
use toml::de::DeTable;
use value::{Reader, Table};

/// What a study file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// What Moco has a word for.
    pub setup: MocoStudySetup,
    /// `kinematics`: motion of all coordinates that is given.
    pub kinematics: Option<String>,
    /// `solver.tolerance`.
    pub tolerance: Option<f64>,
    /// `solver.barrier`.
    pub barrier: Option<f64>,
    /// `solver.threads`.
    pub threads: Option<usize>,
    /// `[refine]`.
    pub refine: Option<RefineSettings>,
    /// `[guess]`.
    pub guess: GuessSettings,
    /// `[output]`.
    pub output: OutputSettings,
    /// `[[phases]]`: each a study of its own under its own name, without phases. `setup` is then that of the first.
    pub phases: Vec<Study>,
    /// `[[links]]`.
    pub links: Vec<LinkSettings>,
}

/// `[[links]]`: what is different from plain continuity where one phase follows another.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSettings {
    /// Number of the phase before.
    pub after: usize,
    /// Patterns of states that may jump.
    pub free: Vec<String>,
    /// States of the next phase that begin at a multiple of this one's.
    pub factors: Vec<(String, f64)>,
    /// Line in the file.
    pub line: u32,
}

impl From<MocoStudySetup> for Study {
    fn from(setup: MocoStudySetup) -> Study {
        Study {
            setup,
            kinematics: None,
            tolerance: None,
            barrier: None,
            threads: None,
            refine: None,
            guess: GuessSettings::default(),
            output: OutputSettings::default(),
            phases: Vec::new(),
            links: Vec::new(),
        }
    }
}

/// `[refine]`: meshes that get finer.
#[derive(Clone, Debug, PartialEq)]
pub struct RefineSettings {
    /// Largest error of a state over an interval, relative to its size.
    pub tolerance: f64,
    /// Equal intervals of the first mesh; those of the solver if `None`.
    pub start: Option<usize>,
    /// Intervals of the last mesh at most.
    pub max_intervals: usize,
    /// Meshes at most.
    pub max_meshes: usize,
}

impl Default for RefineSettings {
    fn default() -> Self {
        RefineSettings { tolerance: 1e-4, start: None, max_intervals: 1000, max_meshes: 10 }
    }
}

/// `[guess]`: where to start, besides the file that the solver names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuessSettings {
    /// Coordinates over time.
    pub coordinates: Option<String>,
    /// Activations over time.
    pub activations: Option<String>,
    /// Whether a simulation gives the states.
    pub time_stepping: bool,
}

/// `[output]`: files to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputSettings {
    /// The solution.
    pub solution: Option<String>,
    /// The page.
    pub report: Option<String>,
    /// The iterate.
    pub iterate: Option<String>,
    /// Seconds between two iterates on disk.
    pub save_every_s: Option<f64>,
}

/// Reads a study file. `None` if and only if `log` holds an error.
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
    let element = study_element(r, t);
    let setup = moco::read(&element, r.log);
    own_settings(r, t, setup)
}

/// A study of several; what concerns them all is said outside of them.
fn several(r: &mut Reader<'_>, t: Table<'_>) -> Study {
    let (phases, links) = phases::read(r, t);
    let Some(first) = phases.first() else {
        r.log.error(t.line, "", "`phases` is empty", "add [[phases]], or leave it out");
        return Study::from(MocoStudySetup::default());
    };
    let mut setup = first.setup.clone();
    setup.name = r.text(t, "name").unwrap_or_default();
    Study { phases, links, ..own_settings(r, t, setup) }
}

/// What Moco has no word for, beside what it has.
fn own_settings(r: &mut Reader<'_>, t: Table<'_>, setup: MocoStudySetup) -> Study {
    let solver = r.table(t, "solver");
    let refine = r.table(t, "refine").map(|refine| {
        r.check(refine, "[refine]", &[schema::REFINE]);
        let usual = RefineSettings::default();
        RefineSettings {
            tolerance: positive(r, refine, "tolerance").unwrap_or(usual.tolerance),
            start: r.count(refine, "start"),
            max_intervals: r.count(refine, "max_intervals").unwrap_or(usual.max_intervals),
            max_meshes: r.count(refine, "max_meshes").unwrap_or(usual.max_meshes),
        }
    });
    let guess = r.table(t, "guess").map_or(GuessSettings::default(), |guess| {
        r.check(guess, "[guess]", &[schema::GUESS]);
        GuessSettings {
            coordinates: r.text(guess, "coordinates"),
            activations: r.text(guess, "activations"),
            time_stepping: r.boolean(guess, "time_stepping").unwrap_or(false),
        }
    });
    let output = r.table(t, "output").map_or(OutputSettings::default(), |output| {
        r.check(output, "[output]", &[schema::OUTPUT_FILES]);
        OutputSettings {
            solution: r.text(output, "solution"),
            report: r.text(output, "report"),
            iterate: r.text(output, "iterate"),
            save_every_s: positive(r, output, "save_every_s"),
        }
    });
    Study {
        setup,
        kinematics: r.text(t, "kinematics"),
        tolerance: solver.and_then(|s| positive(r, s, "tolerance")),
        barrier: solver.and_then(|s| positive(r, s, "barrier")),
        threads: solver.and_then(|s| r.count(s, "threads")),
        refine,
        guess,
        output,
        phases: Vec::new(),
        links: Vec::new(),
    }
}

fn positive(r: &mut Reader<'_>, t: Table<'_>, name: &str) -> Option<f64> {
    let line = t.get(name).map(|v| r.line(v))?;
    let x = r.number(t, name)?;
    if x > 0.0 {
        return Some(x);
    }
    r.log.error(line, "", format!("`{name}` must be positive; found {x}"), "");
    None
}

/// The `MocoStudy` of a study.
fn study_element(r: &mut Reader<'_>, t: Table<'_>) -> Element {
    let mut study = Element::new("MocoStudy", 1);
    study.set_attribute("name", r.text(t, "name").unwrap_or_default());
    let mut problem = Element::new("MocoProblem", 1);
    let mut phase = Element::new("MocoPhase", 1);
    phase.push(model(r, t));
    if let Some(time) = r.table(t, "time") {
        r.check(time, "[time]", &[schema::TIME]);
        let initial = r.bounds(time, "initial").unwrap_or([0.0; 2]);
        phase.push(bounds_element("MocoInitialBounds", initial, time.line));
        match r.bounds(time, "final") {
            Some(last) => phase.push(bounds_element("MocoFinalBounds", last, time.line)),
            None if !time.has("final") => {
                r.log.error(time.line, "", "[time] needs a `final` time", "give s, or [earliest, latest]");
            }
            None => {}
        }
    } else if !t.has("time") {
        r.log.error(1, "", "the study has no [time]", "add:  [time]  final = 1.0");
    }
    if let Some(defaults) = r.table(t, "defaults") {
        r.check(defaults, "[defaults]", &[schema::DEFAULTS]);
        described(r, defaults, schema::DEFAULTS, &mut phase);
    }
    for (field, tag) in [("states", "state_infos"), ("controls", "control_infos")] {
        for element in variables(r, t, field, tag) {
            phase.push(element);
        }
    }
    phase.push(parameters(r, t));
    let goal_fields = (schema::GOAL, "goal");
    phase.push(listed(r, t, "goals", GOALS, goal_fields));
    phase.push(listed(r, t, "path_constraints", CONSTRAINTS, (schema::CONSTRAINT, "path constraint")));
    problem.push(phase);
    study.push(problem);
    study.push(solver(r, t));
    study
}

fn model(r: &mut Reader<'_>, t: Table<'_>) -> Element {
    let mut processor = Element::new("ModelProcessor", t.line);
    match r.text(t, "model") {
        Some(file) => processor.push(Element::with_text("filepath", file, t.line)),
        None if !t.has("model") => {
            r.log.error(1, "", "the study has no `model`", "name an .osim file, or `builtin:reach`");
        }
        None => {}
    }
    processor.push(listed(r, t, "operators", OPERATORS, (schema::OPERATOR, "operator")));
    processor
}

/// Bounds of states or controls: those by pattern, then those by name.
fn variables(r: &mut Reader<'_>, t: Table<'_>, field: &str, tag: &str) -> [Element; 2] {
    let mut lists = [Element::new(format!("{tag}_pattern"), t.line), Element::new(tag, t.line)];
    for v in r.tables(t, field) {
        r.check(v, &format!("[[{field}]]"), &[schema::VARIABLE]);
        let (name, pattern) = (r.text(v, "name"), r.text(v, "pattern"));
        let (is_name, name) = match (name, pattern) {
            (Some(name), None) => (true, name),
            (None, Some(pattern)) => (false, pattern),
            _ => {
                let message = format!("[[{field}]] needs a `name` or a `pattern`, and not both");
                r.log.error(v.line, "", message, "");
                continue;
            }
        };
        let mut info = Element::new("MocoVariableInfo", v.line);
        info.set_attribute("name", name);
        described(r, v, schema::VARIABLE, &mut info);
        lists[usize::from(is_name)].push(info);
    }
    lists
}

fn parameters(r: &mut Reader<'_>, t: Table<'_>) -> Element {
    let mut list = Element::new("parameters", t.line);
    for p in r.tables(t, "parameters") {
        r.check(p, "[[parameters]]", &[schema::PARAMETER]);
        let mut e = Element::new("MocoParameter", p.line);
        e.set_attribute("name", r.text(p, "name").unwrap_or_default());
        described(r, p, schema::PARAMETER, &mut e);
        for needed in ["name", "components", "property", "bounds"] {
            if !p.has(needed) {
                r.log.error(p.line, "", format!("a parameter needs `{needed}`"), "");
            }
        }
        if let Some(b) = r.bounds(p, "bounds") {
            e.push(bounds_element("MocoBounds", b, p.line));
        }
        list.push(e);
    }
    list
}

fn solver(r: &mut Reader<'_>, t: Table<'_>) -> Element {
    let mut e = Element::new("MocoCasADiSolver", t.line);
    if let Some(s) = r.table(t, "solver") {
        r.check(s, "[solver]", &[schema::SOLVER]);
        described(r, s, schema::SOLVER, &mut e);
        for (weight, flag) in schema::WEIGHT_FLAGS {
            if let Some(w) = r.number(s, weight) {
                e.push(Element::with_text(*flag, (w > 0.0).to_string(), s.line));
            }
        }
        one_of(r, s, "dynamics", &["explicit", "implicit"]);
        one_of(r, s, "constraint_method", &["Posa2016", "Bordalba2023"]);
    }
    if let Some(g) = r.table(t, "guess") {
        described(r, g, schema::GUESS, &mut e);
    }
    e
}

/// Refuses a text that is none of the words.
fn one_of(r: &mut Reader<'_>, t: Table<'_>, name: &str, words: &[&str]) {
    let Some(v) = t.get(name) else { return };
    let line = r.line(v);
    if let Some(text) = r.as_text(v, name).filter(|text| !words.contains(&text.as_str())) {
        let hint = format!("there are: {}", words.join(", "));
        r.log.error(line, "", format!("`{name}` is `{text}`"), &hint);
    }
}

#[cfg(test)]
mod tests;

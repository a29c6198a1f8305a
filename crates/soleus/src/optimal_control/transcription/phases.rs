//! Studies with several phases in sequence.

use super::meshes::{self, Meshes, Posed, Solved};
use super::settings;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::optimal_control::model::{StudyModel, posed};
use crate::optimal_control::options::SolveOptions;
use crate::optimal_control::problem::bounds::{is_called, regex};
use crate::optimal_control::problem::references::Given;
use crate::optimal_control::problem::{self, refuse_impossible};
use crate::optimal_control::run::session::{self, Place, name_of};
use crate::optimal_control::run::watch::Store;
use crate::optimal_control::solution::{PhaseSolution, Solution};
use crate::optimal_control::start::{guess, iterate};
use crate::optimal_control::{Solve, report, trajectory};
use crate::source::Source;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Link, Phases};
use soleus_control::{Collocation, PointVariable, Problem, Settings};
use soleus_io::study::{LinkSettings, Study};
use std::path::{Path, PathBuf};

/// Several phases, ready to be put on meshes.
struct Posing<'a> {
    cx: &'a Context<'a>,
    path: &'a Path,
    study: &'a Study,
    a: &'a SolveOptions,
    bases: Vec<ModelProblem>,
    /// Tables in memory that goals of each phase name.
    given: Vec<Given>,
    problems: Vec<Problem>,
    links: Vec<Link>,
    out: Place,
}

/// Solves a study with several phases; the solution has one motion per phase.
pub fn run(cx: &Context, path: &Path, study: &Study, request: &Solve) -> Result<Solution, Error> {
    let a = &request.options;
    if request.kinematics.is_some() {
        let message = "--motion works for studies with one phase only";
        return Err(Error::content(path, 0, "", message, "give the motion in each phase"));
    }
    let sections = [("help", study.help.is_some()), ("starts", study.starts.is_some())];
    let asked = sections.into_iter().chain([("continuation", study.continuation.is_some())]).find(|s| s.1);
    if let Some((name, _)) = asked {
        let message = format!("[{name}] works for studies with one phase only");
        return Err(Error::content(path, 0, "", message, ""));
    }
    if a.simulate {
        cx.warn(
            path,
            "the forward simulation is skipped",
            "--simulate works for studies with one phase only",
        );
    }
    let (mut bases, mut given) = (Vec::new(), Vec::new());
    let (mut problems, mut settings_of) = (Vec::new(), Vec::new());
    for phase in &study.phases {
        let source = StudyModel::of_study(path, &phase.setup);
        let base = posed(cx, &source)?;
        let inputs = request.inputs(cx, path, phase, &base)?;
        let p = problem::build(cx, &source, &phase.setup, &base, &inputs)?;
        for w in p.warnings() {
            cx.warn(path, format!("{}: {w}", phase.setup.name), "");
        }
        settings_of.push(settings::transcription(path, phase, a, &p)?);
        bases.push(base);
        given.push(inputs.given);
        problems.push(p);
    }
    let links = (0..problems.len().saturating_sub(1))
        .map(|k| link(path, k, &problems, study.links.iter().find(|l| l.after == k)))
        .collect::<Result<Vec<_>, _>>()?;
    let out = Place::of_solution(path, study, a);
    let posing = Posing { cx, path, study, a, bases, given, problems, links, out };
    let mut meshes = Meshes {
        cx,
        path,
        a,
        coarse: meshes::coarse(study, a),
        help: None,
        neighbour: None,
        refine: meshes::refine(study, a),
        options: settings::solver(cx, posing.first(), false, a),
        store: Store::of_study(path, study, a, &posing.out.path),
    };
    let solved = meshes.solve(settings_of, &posing)?;
    posing.result(solved, meshes.store)
}

impl Posing<'_> {
    fn first(&self) -> &Study {
        self.study.phases.first().unwrap_or(self.study)
    }

    /// The motion of each phase; where they are solved, also what they cost and the pages.
    fn result(&self, solved: Solved, store: Store) -> Result<Solution, Error> {
        let Solved { mut program, phases: meshes, solution, x, seconds, diagnosis } = solved;
        let mut costs = program.objective_by_goal(&x).into_iter();
        let report = Place::new(self.a.report.as_ref(), self.path, self.study.output.report.as_ref());
        let report = report.filter(|_| diagnosis.is_none());
        let mut phases = Vec::new();
        for (k, motion) in program.trajectories(&x).into_iter().enumerate() {
            let (s, base) = (&self.study.phases[k].setup, &self.bases[k]);
            let goals: Vec<(String, f64)> = costs.by_ref().take(self.problems[k].goals.len() + 1).collect();
            let text = trajectory::write(&motion, base, s, &solution, &goals, seconds);
            if diagnosis.is_none() {
                for (name, value) in goals.iter().filter(|g| g.1 != 0.0) {
                    self.cx.note(format!("  {}, {name}: {value:.5e}", s.name));
                }
                motion.parameters.iter().for_each(|p| self.cx.note(session::parameter_line(s, p)));
            }
            let title = name_of(self.path, s);
            let source = StudyModel::of_study(self.path, s);
            let html = || {
                let tracked = session::tracked(self.cx, self.path, s, &self.given[k], base);
                let parameters = motion.parameters.iter().map(|p| session::parameter_row(s, p)).collect();
                let beside = report::Beside { tracked, emg: &[], parameters };
                let shapes = source.geometry(self.cx, &base.model);
                report::html(&title, (base, &motion), &solution, &goals, seconds, &beside, shapes)
            };
            let page = report.as_ref().map(|place| (place.of_phase(&s.name), html()));
            let derived =
                session::derived(self.cx, &source, &self.study.phases[k], (base, &motion), &self.out)?;
            phases.push(PhaseSolution {
                derived,
                name: s.name.clone(),
                model: base.clone(),
                place: self.out.of_phase(&s.name),
                text,
                page,
                trajectory: motion,
                goals,
            });
        }
        let iterate = store.end(self.cx, &solution);
        Ok(Solution {
            phases,
            meshes,
            solver: solution,
            seconds,
            distance: None,
            diagnosis,
            starts: Vec::new(),
            continued: None,
            iterate,
        })
    }
}

impl Place {
    /// The file of a phase.
    fn of_phase(&self, phase: &str) -> Place {
        Place { path: of_phase(&self.path, phase), is_derived: self.is_derived }
    }
}

impl Posed for Posing<'_> {
    fn program(&self, meshes: &[Settings]) -> Result<Collocation, Error> {
        let phases = Phases { phases: self.problems.clone(), links: self.links.clone() };
        let mut program = Collocation::of_phases(phases, meshes).map_err(|errors| {
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Error::content(self.path, 0, "", text.join("\n  "), "")
        })?;
        program.set_threads(settings::threads(self.cx, self.first(), self.a));
        Ok(program)
    }

    fn start(&self, program: &mut Collocation) -> Result<(), Error> {
        refuse_impossible(self.path, program)?;
        for (k, (phase, base)) in self.study.phases.iter().zip(&self.bases).enumerate() {
            guess::equilibrate(base, program, k);
            // The name that a request gives is that of the solutions, without the phases.
            let given = match &self.a.guess {
                Some(Source::File(file)) => Some(Source::File(of_phase(file, &phase.setup.name))),
                Some(Source::Value(_)) => {
                    let message = "a single motion in memory cannot be the initial guess of several phases";
                    return Err(Error::content(self.path, 0, "", message, "give the files of a solution"));
                }
                None => None,
            };
            let file = phase.setup.solver.guess_file.as_ref();
            let named = || file.map(|f| Source::File(beside(self.path, f)));
            if let Some(source) = given.or_else(named) {
                if iterate::is_file(&source) {
                    let message = "an iterate cannot be the initial guess of several phases";
                    return Err(Error::content(
                        source.path(),
                        0,
                        "",
                        message,
                        "give the files of a solution (.sto)",
                    ));
                }
                guess::start_from(base, program, k, &trajectory::read(self.cx, &source, base)?);
            }
            guess::apply(self.cx, self.path, &phase.guess, base, program, k)?;
        }
        Ok(())
    }

    fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn place(&self) -> String {
        "the files of the phases".to_string()
    }
}

/// `throw_solution.sto` and `swing`: `throw_solution_swing.sto`.
fn of_phase(file: &Path, phase: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = match file.extension() {
        Some(e) => format!("{stem}_{phase}.{}", e.to_string_lossy()),
        None => format!("{stem}_{phase}"),
    };
    file.with_file_name(name)
}

/// Between phase `k` and the next: time goes on, and so do states and parameters that both have, but for what the study says.
fn link(path: &Path, k: usize, problems: &[Problem], given: Option<&LinkSettings>) -> Result<Link, Error> {
    let (before, after) = (&problems[k], &problems[k + 1]);
    let line = given.map_or(0, |l| l.line);
    let mut free = Vec::new();
    for pattern in given.iter().flat_map(|l| &l.free) {
        free.push(regex(path, line, pattern)?);
    }
    let factors: &[(String, f64)] = given.map_or(&[], |l| &l.factors);
    let mut pairs = Vec::new();
    for (i, v) in before.states.iter().enumerate() {
        let Some(j) = after.states.iter().position(|w| w.name == v.name) else { continue };
        // Where both sides are fixed there is nothing to link.
        let both_fixed = v.last.is_fixed() && after.states[j].initial.is_fixed();
        if !both_fixed && !free.iter().any(|p| p.is_match(&v.name)) {
            let factor = factors.iter().find(|f| is_called(&v.name, &f.0)).map_or(1.0, |f| f.1);
            pairs.push((PointVariable::State(i), PointVariable::State(j), factor));
        }
    }
    for (i, p) in before.parameters.iter().enumerate() {
        let j = after.parameters.iter().position(|q| q.name == p.name);
        pairs.extend(j.map(|j| (PointVariable::Parameter(i), PointVariable::Parameter(j), 1.0)));
    }
    if let Some((name, _)) = factors.iter().find(|f| !before.states.iter().any(|v| is_called(&v.name, &f.0)))
    {
        let message = format!("a factor is given for `{name}`, which is not a state");
        return Err(Error::content(path, line, "", message, ""));
    }
    Ok(Link::proportional(k, &pairs))
}

//! A study of several phases, one motion after the other.

use super::bounds::{is_called, regex};
use super::meshes::{self, Meshes, Posed, Solved};
use super::watch::{Stop, Store};
use super::{Arguments, guess, inputs_of, model, name_of, page, posed, problem, settings, trajectory};
use crate::failure::Failure;
use crate::{load, setup};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Link, Phases};
use soleus_control::{Collocation, PointVariable, Problem, Settings};
use soleus_io::study::{LinkSettings, Study};
use soleus_optimization::nlp::Solution;
use std::path::{Path, PathBuf};

/// Several phases, ready to be put on meshes.
struct Posing<'a> {
    path: &'a Path,
    study: &'a Study,
    a: &'a Arguments,
    bases: Vec<ModelProblem>,
    problems: Vec<Problem>,
    links: Vec<Link>,
}

/// Solves a study of several phases and writes a solution for each.
pub fn run(path: &Path, study: &Study, a: &Arguments) -> Result<(), Failure> {
    if a.kinematics.is_some() {
        let message = "--kinematics is for studies of one phase".to_string();
        return Err(Failure::content(path, 0, "", message, "name the motion in each phase"));
    }
    let (mut bases, mut problems, mut settings_of) = (Vec::new(), Vec::new(), Vec::new());
    for phase in &study.phases {
        let source = model::Source::of_study(path, &phase.setup);
        let base = posed(&source)?;
        let inputs = inputs_of(path, phase, &base, a)?;
        let p = problem(&source, &phase.setup, &base, &inputs)?;
        for w in p.warnings() {
            eprintln!("warning: {}: {w}", phase.setup.name);
        }
        bases.push(base);
        problems.push(p);
        settings_of.push(settings::transcription(path, phase, a)?);
    }
    let links = (0..problems.len().saturating_sub(1))
        .map(|k| link(path, k, &problems, study.links.iter().find(|l| l.after == k)))
        .collect::<Result<Vec<_>, _>>()?;
    let posing = Posing { path, study, a, bases, problems, links };
    let mut meshes = Meshes {
        path,
        a,
        refine: meshes::refine(study, a),
        options: settings::solver(posing.first(), true, a),
        stop: Stop::listen(),
        store: Store::of_study(path, study, a, &posing.out()),
    };
    let Solved { mut program, solution, seconds } = meshes.solve(settings_of, &posing)?;
    posing.write(&mut program, &solution, &solution.x, seconds, true)?;
    meshes.store.clear();
    Ok(())
}

impl Posing<'_> {
    fn first(&self) -> &Study {
        self.study.phases.first().unwrap_or(self.study)
    }

    /// The file of the solution, before the name of a phase comes into it.
    fn out(&self) -> PathBuf {
        let named = self.study.output.solution.as_ref().map(|f| setup::beside(self.path, f));
        let usual = || PathBuf::from(format!("{}_solution.sto", name_of(self.path, &self.study.setup)));
        self.a.out.clone().or(named).unwrap_or_else(usual)
    }

    /// Writes a motion for each phase; where it is finished, also what it costs and the pages.
    fn write(
        &self,
        program: &mut Collocation,
        solution: &Solution,
        x: &[f64],
        seconds: f64,
        finished: bool,
    ) -> Result<(), Failure> {
        let mut costs = program.objective_by_goal(x).into_iter();
        let motions = program.trajectories(x);
        for (k, ((phase, base), motion)) in
            self.study.phases.iter().zip(&self.bases).zip(&motions).enumerate()
        {
            let own: Vec<(String, f64)> = costs.by_ref().take(self.problems[k].goals.len() + 1).collect();
            let s = &phase.setup;
            let text = trajectory::write(motion, base, s, solution, &own, seconds);
            load::write_whole(&of_phase(&self.out(), &s.name), &text)?;
            if !finished {
                continue;
            }
            for (name, value) in own.iter().filter(|g| g.1 != 0.0) {
                eprintln!("  {}, {name}: {value:.9e}", s.name);
            }
            let report = self.study.output.report.as_ref().map(|f| setup::beside(self.path, f));
            if let Some(file) = self.a.report.clone().or(report) {
                let html = page::html(self.path, s, base, motion, solution, &own, seconds);
                load::write_whole(&of_phase(&file, &s.name), &html)?;
            }
        }
        Ok(())
    }
}

impl Posed for Posing<'_> {
    fn program(&self, meshes: &[Settings]) -> Result<Collocation, Failure> {
        let phases = Phases { phases: self.problems.clone(), links: self.links.clone() };
        let mut program = Collocation::of_phases(phases, meshes).map_err(|errors| {
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Failure::content(self.path, 0, "", text.join("\n  "), "")
        })?;
        program.set_threads(settings::threads(self.first(), self.a));
        Ok(program)
    }

    fn start(&self, program: &mut Collocation) -> Result<(), Failure> {
        super::refuse_impossible(self.path, program)?;
        for (k, (phase, base)) in self.study.phases.iter().zip(&self.bases).enumerate() {
            guess::equilibrate(base, program, k);
            // On the command line the name is that of the solutions, without the phases.
            let given = self.a.guess.as_ref().map(|file| of_phase(file, &phase.setup.name));
            let named = || phase.setup.solver.guess_file.as_ref().map(|file| setup::beside(self.path, file));
            if let Some(file) = given.or_else(named) {
                guess::start_from(base, program, k, &trajectory::read(&file, base)?);
            }
            guess::apply(self.path, &phase.guess, base, program, k)?;
        }
        Ok(())
    }

    fn write_motion(
        &self,
        program: &mut Collocation,
        solution: &Solution,
        x: &[f64],
        seconds: f64,
    ) -> Result<(), Failure> {
        self.write(program, solution, x, seconds, false)
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
fn link(path: &Path, k: usize, problems: &[Problem], given: Option<&LinkSettings>) -> Result<Link, Failure> {
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
        let message = format!("a factor is given for `{name}`, which is no state");
        return Err(Failure::content(path, line, "", message, ""));
    }
    Ok(Link::proportional(k, &pairs))
}

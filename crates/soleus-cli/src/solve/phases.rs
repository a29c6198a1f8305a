//! A study of several phases, one motion after the other.

use super::bounds::{is_called, regex};
use super::progress::Progress;
use super::watch::Stop;
use super::{Arguments, blame, guess, inputs_of, model, name_of, page, posed, problem, settings, trajectory};
use crate::failure::Failure;
use crate::{load, setup};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Link, Phases};
use soleus_control::{Collocation, PointVariable, Problem, Settings};
use soleus_io::study::{LinkSettings, Study};
use soleus_optimization::nlp;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Solves a study of several phases and writes a solution for each.
pub fn run(path: &Path, study: &Study, a: &Arguments) -> Result<(), Failure> {
    let refused = [
        (a.resume.is_some(), "--resume"),
        (!a.coarse.is_empty(), "--coarse"),
        (a.refine.is_some() || study.refine.is_some(), "refinement of the mesh"),
        (a.guess.is_some(), "--guess"),
        (a.kinematics.is_some(), "--kinematics"),
    ];
    if let Some((_, what)) = refused.iter().find(|r| r.0) {
        let message = format!("{what} is for studies of one phase");
        return Err(Failure::content(path, 0, "", message, "name guesses and meshes in each phase"));
    }
    let (mut bases, mut problems, mut meshes) = (Vec::new(), Vec::new(), Vec::new());
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
        meshes.push(settings::transcription(path, phase, a)?);
    }
    let links = (0..problems.len().saturating_sub(1))
        .map(|k| link(path, k, &problems, study.links.iter().find(|l| l.after == k)))
        .collect::<Result<Vec<_>, _>>()?;
    let goals: Vec<usize> = problems.iter().map(|p| p.goals.len() + 1).collect();
    let mut program = transcribed(path, Phases { phases: problems, links }, &meshes)?;
    let first = study.phases.first().unwrap_or(study);
    program.set_threads(settings::threads(first, a));
    start(path, study, &bases, &mut program)?;

    let options = settings::solver(first, true, a);
    let stop = Stop::listen();
    let mut progress = Progress::new(a.quiet, options.tolerance, &program);
    let solution = nlp::solve(&mut program, &options, None, &mut |i| {
        progress.tell(i);
        if stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?;
    let seconds = progress.finish(&solution);

    let mut costs = program.objective_by_goal(&solution.x).into_iter();
    let motions = program.trajectories(&solution.x);
    for (k, ((phase, base), motion)) in study.phases.iter().zip(&bases).zip(&motions).enumerate() {
        let own: Vec<(String, f64)> = costs.by_ref().take(goals[k]).collect();
        for (name, value) in own.iter().filter(|g| g.1 != 0.0) {
            eprintln!("  {}, {name}: {value:.9e}", phase.setup.name);
        }
        let s = &phase.setup;
        let text = trajectory::write(motion, base, s, &solution, &own, seconds);
        load::write_whole(&of_phase(&out(path, study, a), &s.name), &text)?;
        let report = study.output.report.as_ref().map(|f| setup::beside(path, f));
        if let Some(file) = a.report.clone().or(report) {
            let html = page::html(path, s, base, motion, &solution, &own, seconds);
            load::write_whole(&of_phase(&file, &s.name), &html)?;
        }
    }
    if solution.status.is_solved() {
        return Ok(());
    }
    let saved = "\n  the last iterate is in the files of the phases";
    let tolerance = options.constraint_tolerance;
    Err(Failure::NotSolved {
        message: blame::describe(&mut program, &solution, &solution.x, tolerance, saved),
    })
}

/// The file of the solution, before the name of a phase comes into it.
fn out(path: &Path, study: &Study, a: &Arguments) -> PathBuf {
    let named = study.output.solution.as_ref().map(|f| setup::beside(path, f));
    let usual = || PathBuf::from(format!("{}_solution.sto", name_of(path, &study.setup)));
    a.out.clone().or(named).unwrap_or_else(usual)
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

fn transcribed(path: &Path, phases: Phases, meshes: &[Settings]) -> Result<Collocation, Failure> {
    Collocation::of_phases(phases, meshes).map_err(|errors| {
        let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::content(path, 0, "", text.join("\n  "), "")
    })
}

/// What is wrong before anything is solved, and where to start.
fn start(
    path: &Path,
    study: &Study,
    bases: &[ModelProblem],
    program: &mut Collocation,
) -> Result<(), Failure> {
    super::refuse_impossible(path, program)?;
    for (k, (phase, base)) in study.phases.iter().zip(bases).enumerate() {
        guess::equilibrate(base, program, k);
        if let Some(file) = &phase.setup.solver.guess_file {
            guess::start_from(base, program, k, &trajectory::read(&setup::beside(path, file), base)?);
        }
        guess::apply(path, &phase.guess, base, program, k)?;
    }
    Ok(())
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

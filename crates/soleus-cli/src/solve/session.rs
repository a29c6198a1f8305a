//! A study of one phase, from its problem to its files.

use super::meshes::{self, Meshes, Posed, Solved};
use super::model::Source;
use super::watch::{Stop, Store};
use super::{
    Arguments, Inputs, again, guess, name_of, page, parameters, problem, refuse_impossible, settings,
    trajectory,
};
use crate::failure::Failure;
use crate::{load, setup};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Collocation, Problem, Settings, Trajectory};
use soleus_io::study::Study;
use soleus_optimization::nlp::{self, Solution};
use std::path::{Path, PathBuf};

/// What a solve is made of.
pub struct Session<'a> {
    path: &'a Path,
    source: Source<'a>,
    study: &'a Study,
    is_toml: bool,
    a: &'a Arguments,
    pub base: ModelProblem,
    problem: Problem,
    /// A start that no file names.
    guess: Option<Trajectory>,
    pub options: nlp::Options,
    out: PathBuf,
}

/// Solves a study and writes its files.
pub fn run(
    model: (Source<'_>, ModelProblem),
    study: &Study,
    is_toml: bool,
    a: &Arguments,
    inputs: Inputs,
) -> Result<(), Failure> {
    let session = Session::new(model, study, is_toml, a, inputs)?;
    let path = session.path;
    let mut meshes = Meshes {
        path,
        a,
        refine: meshes::refine(study, a),
        options: session.options.clone(),
        stop: Stop::listen(),
        store: Store::of_study(path, study, a, &session.out),
    };
    let solved = meshes.solve(vec![settings::transcription(path, study, a)?], &session)?;
    session.write(solved)?;
    meshes.store.clear();
    Ok(())
}

impl<'a> Session<'a> {
    /// Poses the problem of a study; nobody listens to Ctrl-C yet.
    pub fn new(
        (source, base): (Source<'a>, ModelProblem),
        study: &'a Study,
        is_toml: bool,
        a: &'a Arguments,
        inputs: Inputs,
    ) -> Result<Session<'a>, Failure> {
        let path = source.path;
        let problem = problem(&source, &study.setup, &base, &inputs)?;
        for w in problem.warnings() {
            eprintln!("warning: {w}");
        }
        let named = |file: &Option<String>| file.as_ref().map(|f| setup::beside(path, f));
        let usual = || PathBuf::from(format!("{}_solution.sto", name_of(path, &study.setup)));
        let out = a.out.clone().or_else(|| named(&study.output.solution)).unwrap_or_else(usual);
        Ok(Session {
            path,
            source,
            study,
            is_toml,
            a,
            base,
            problem,
            guess: inputs.guess,
            options: settings::solver(study, is_toml, a),
            out,
        })
    }

    pub fn program(&self, transcription: &Settings) -> Result<Collocation, Failure> {
        let mut program = Collocation::new(self.problem.clone(), transcription).map_err(|errors| {
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Failure::content(self.path, 0, "", text.join("\n  "), "")
        })?;
        program.set_threads(settings::threads(self.study, self.a));
        Ok(program)
    }

    /// What is wrong before anything is solved, and where to start.
    pub fn check_first(&self, program: &mut Collocation) -> Result<(), Failure> {
        refuse_impossible(self.path, program)?;
        for w in program.dependent() {
            eprintln!("warning: {w}");
        }
        // A MocoStudy begins where Moco does.
        if self.is_toml {
            guess::equilibrate(&self.base, program, 0);
        }
        let named = self.study.setup.solver.guess_file.as_ref().map(|g| setup::beside(self.path, g));
        if let Some(file) = self.a.guess.clone().or(named) {
            guess::start_from(&self.base, program, 0, &trajectory::read(&file, &self.base)?);
        }
        self.guess.iter().for_each(|guess| guess::start_from(&self.base, program, 0, guess));
        guess::apply(self.path, &self.study.guess, &self.base, program, 0)
    }

    fn write(&self, solved: Solved) -> Result<(), Failure> {
        let Solved { mut program, solution, seconds } = solved;
        let goals = program.objective_by_goal(&solution.x);
        for (name, value) in goals.iter().filter(|g| g.1 != 0.0) {
            eprintln!("  {name}: {value:.9e}");
        }
        let found: Trajectory = program.trajectory(&solution.x);
        let (s, base) = (&self.study.setup, &self.base);
        load::write_whole(&self.out, &trajectory::write(&found, base, s, &solution, &goals, seconds))?;
        let report = self.study.output.report.as_ref().map(|f| setup::beside(self.path, f));
        if let Some(page) = self.a.report.clone().or(report) {
            let html = page::html(self.path, s, base, &found, &solution, &goals, seconds);
            load::write_whole(&page, &html)?;
        }
        if self.a.simulate {
            self.simulate_again(&found)?;
        }
        Ok(())
    }

    /// Tells how far a simulation under the controls found is from the solution.
    fn simulate_again(&self, found: &Trajectory) -> Result<(), Failure> {
        let changed = match found.parameters.is_empty() {
            true => None,
            false => Some(parameters::found(&self.source, &self.study.setup, &found.parameters)?),
        };
        match again::simulate(&self.base, changed.as_ref().unwrap_or(&self.base.system), found) {
            Ok(distance) => eprintln!("{distance}"),
            Err(why) => eprintln!("warning: not simulated again: {why}"),
        }
        Ok(())
    }
}

impl Posed for Session<'_> {
    fn program(&self, meshes: &[Settings]) -> Result<Collocation, Failure> {
        self.program(&meshes[0])
    }

    fn start(&self, program: &mut Collocation) -> Result<(), Failure> {
        self.check_first(program)
    }

    fn write_motion(
        &self,
        program: &mut Collocation,
        solution: &Solution,
        x: &[f64],
        seconds: f64,
    ) -> Result<(), Failure> {
        let (found, goals) = (program.trajectory(x), program.objective_by_goal(x));
        let text = trajectory::write(&found, &self.base, &self.study.setup, solution, &goals, seconds);
        load::write_whole(&self.out, &text)
    }

    fn place(&self) -> String {
        self.out.display().to_string()
    }
}

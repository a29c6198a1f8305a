//! A solve from its study to its files: meshes, iterations, stopping and going on.

use super::iterate::Iterate;
use super::model::Source;
use super::progress::Progress;
use super::watch::{Stop, Store, Watch};
use super::{
    Arguments, BESIDE, Inputs, again, blame, guess, name_of, page, parameters, problem, refuse_impossible,
    settings, trajectory,
};
use crate::failure::Failure;
use crate::{load, setup};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::transcription::refined_mesh;
use soleus_control::{Collocation, Problem, Settings, Trajectory};
use soleus_io::study::{RefineSettings, Study};
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{self, Solution, WarmStart};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Seconds between two iterates on disk, unless the study says otherwise.
const SAVE_EVERY_S: f64 = 30.0;

/// Limits of the first barrier parameter where the start is the solution on a coarser mesh.
const WARM_BARRIER: [f64; 2] = [1e-8, 1e-4];

/// What the barrier may add to the objective then, as a part of it.
const WARM_SHARE: f64 = 1e-2;

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
    stop: Stop,
    store: Store,
    out: PathBuf,
}

/// Where it ended on one mesh.
struct Solved {
    program: Collocation,
    solution: Solution,
    seconds: f64,
}

/// Solves a study and writes its files.
pub fn run(
    model: (Source<'_>, ModelProblem),
    study: &Study,
    is_toml: bool,
    a: &Arguments,
    inputs: Inputs,
) -> Result<(), Failure> {
    let mut session = Session::new(model, study, is_toml, a, inputs)?;
    session.stop = Stop::listen();
    let solved = session.solve_all()?;
    session.write(solved)
}

/// The first barrier parameter after a coarser mesh. Every bound that does not press adds it to the objective.
fn warm_barrier(previous: &Solved) -> f64 {
    let bounds = 2.0 * previous.solution.x.len() as f64;
    (WARM_SHARE * previous.solution.objective.abs() / bounds).clamp(WARM_BARRIER[0], WARM_BARRIER[1])
}

/// The iterate of a solution.
fn beside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push(".iterate");
    out.with_file_name(name)
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
        let every = a.save_every.or(study.output.save_every_s).unwrap_or(SAVE_EVERY_S);
        let iterate = a.resume.clone().filter(|r| r != Path::new(BESIDE));
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
            stop: Stop::default(),
            store: Store {
                path: iterate.or_else(|| named(&study.output.iterate)).unwrap_or_else(|| beside(&out)),
                every: Duration::try_from_secs_f64(every).unwrap_or(Duration::MAX),
                scheme: String::new(),
                mesh: Vec::new(),
            },
            out,
        })
    }

    /// Solves on one mesh after the other.
    fn solve_all(&mut self) -> Result<Solved, Failure> {
        let mut transcription = settings::transcription(self.path, self.study, self.a)?;
        let refine = self.refine();
        let mut meshes: Vec<Vec<f64>> = self.a.coarse.iter().map(|&n| Settings::uniform_mesh(n)).collect();
        meshes.push(match refine.as_ref().and_then(|r| r.start) {
            Some(n) => Settings::uniform_mesh(n),
            None => transcription.mesh.clone(),
        });
        let mut resumed = None;
        if self.a.resume.is_some() {
            let iterate = Iterate::read(&self.store.path)?;
            transcription.scheme = settings::scheme(&self.store.path, &iterate.scheme)?;
            // Coarser meshes lie behind; a refined one is in no study.
            let at = meshes.iter().position(|m| *m == iterate.mesh);
            meshes.drain(..at.unwrap_or(meshes.len()));
            if at.is_none() {
                meshes.push(iterate.mesh.clone());
            }
            resumed = Some(iterate);
        }
        let (mut last, mut mesh_count) = (None, 0);
        loop {
            // The list never runs empty: what is taken out comes back finer, or the loop ends.
            if !meshes.is_empty() {
                transcription.mesh = meshes.remove(0);
            }
            mesh_count += 1;
            let mut program = self.program(&transcription)?;
            let mut options = self.options.clone();
            let warm = match (&resumed, &mut last) {
                (Some(iterate), _) => {
                    let sizes = (program.num_variables(), program.num_constraints());
                    eprintln!("going on from iteration {}", iterate.iteration);
                    // The iterate itself is inside its bounds; nothing is pushed away from them.
                    options.warm_start_push = 1e-12;
                    Some(iterate.warm_start(&self.store.path, sizes.0, sizes.1)?)
                }
                (None, Some(previous)) => {
                    let barrier = warm_barrier(previous).min(options.initial_barrier);
                    (options.initial_barrier, options.warm_start_push) = (barrier, barrier);
                    Some(program.warm_start(&mut previous.program, &previous.solution.warm_start()))
                }
                (None, None) => {
                    self.check_first(&mut program)?;
                    None
                }
            };
            resumed = None;
            let mut solved = self.solve(program, &transcription, &options, warm)?;
            if meshes.is_empty() {
                let Some(finer) = self.finer(&mut solved, &transcription, refine.as_ref(), mesh_count)?
                else {
                    return Ok(solved);
                };
                meshes.push(finer);
            }
            last = Some(solved);
        }
    }

    fn refine(&self) -> Option<RefineSettings> {
        match self.a.refine {
            Some(tolerance) => {
                Some(RefineSettings { tolerance, ..self.study.refine.clone().unwrap_or_default() })
            }
            None => self.study.refine.clone(),
        }
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

    /// Solves on one mesh. What does not succeed is on disk when this returns.
    fn solve(
        &mut self,
        mut program: Collocation,
        transcription: &Settings,
        options: &nlp::Options,
        warm: Option<WarmStart>,
    ) -> Result<Solved, Failure> {
        self.store.scheme = transcription.scheme.name();
        self.store.mesh = transcription.mesh.clone();
        let progress = Progress::new(self.a.quiet, options.tolerance, &program);
        let mut watch = Watch::new(progress, &self.stop, &self.store, program.num_constraints());
        let solution = nlp::solve(&mut program, options, warm.as_ref(), &mut |i| watch.tell(i))
            .map_err(|e| Failure::content(self.path, 0, "", e.to_string(), ""))?;
        let seconds = watch.progress.finish(&solution);
        if solution.status.is_solved() {
            return Ok(Solved { program, solution, seconds });
        }
        let x = watch.give_up(&solution)?;
        let found = program.trajectory(&x);
        let goals = program.objective_by_goal(&x);
        let setup = &self.study.setup;
        load::write_whole(
            &self.out,
            &trajectory::write(&found, &self.base, setup, &solution, &goals, seconds),
        )?;
        let saved = format!(
            "\n  the best iterate is in {}; {} is for --resume",
            self.out.display(),
            self.store.path.display()
        );
        let tolerance = options.constraint_tolerance;
        Err(Failure::NotSolved { message: blame::describe(&mut program, &solution, &x, tolerance, &saved) })
    }

    /// The next mesh, if this one is not fine enough.
    fn finer(
        &self,
        solved: &mut Solved,
        transcription: &Settings,
        refine: Option<&RefineSettings>,
        mesh_count: usize,
    ) -> Result<Option<Vec<f64>>, Failure> {
        let Some(r) = refine else { return Ok(None) };
        let error = solved
            .program
            .mesh_error(&solved.solution.x)
            .map_err(|e| Failure::content(self.path, 0, "", e.to_string(), "leave [refine] out"))?;
        let worst = error.largest();
        let intervals = transcription.mesh.len() - 1;
        eprintln!(
            "{intervals} intervals: error {worst:.2e} (wanted {:.0e}), worst {}",
            r.tolerance, error.worst
        );
        if worst <= r.tolerance {
            return Ok(None);
        }
        let limit = if mesh_count >= r.max_meshes { intervals } else { r.max_intervals };
        let exponent = transcription.scheme.error_exponent();
        let mesh = refined_mesh(&transcription.mesh, &error.of_interval, exponent, r.tolerance, limit);
        if mesh.len() == transcription.mesh.len() {
            eprintln!(
                "warning: the mesh is as fine as allowed ({mesh_count} meshes, {intervals} intervals); the error is {worst:.2e}"
            );
            return Ok(None);
        }
        Ok(Some(mesh))
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
        self.store.clear();
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

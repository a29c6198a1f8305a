//! Solves a problem on a series of meshes: coarse meshes first, refinement by the error, restart after a stop.

use super::help::Help;
use super::settings;
use crate::context::Context;
use crate::error::Error;
use crate::optimal_control::diagnosis;
use crate::optimal_control::options::SolveOptions;
use crate::optimal_control::run::progress::IterationProgress;
use crate::optimal_control::run::watch::{Store, Watch};
use crate::optimal_control::start::{fingerprint, iterate};
use soleus_control::transcription::refined_mesh;
use soleus_control::{Collocation, Problem, Scheme, Settings, Trajectory};
use soleus_io::iterate::{Iterate, PhaseMesh};
use soleus_io::study::{RefineSettings, Study};
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{self, Solution, WarmStart};
use std::path::Path;

/// Limits of the first barrier parameter where the start is the solution on a coarser mesh.
const WARM_BARRIER: [f64; 2] = [1e-8, 1e-4];

/// What the barrier may add to the objective then, as a part of it.
const WARM_SHARE: f64 = 1e-2;

/// A problem with one or more phases that can be transcribed on any mesh.
pub trait Posed {
    /// The program on one mesh per phase.
    fn program(&self, meshes: &[Settings]) -> Result<Collocation, Error>;

    /// Checks the program and sets the initial guess.
    fn start(&self, program: &mut Collocation) -> Result<(), Error>;

    /// The problem of each phase.
    fn problems(&self) -> &[Problem];

    /// Description of where the motion will be written.
    fn place(&self) -> String;
}

/// The solution of a similar problem, with the same variables and constraints but other values: its motion, and the
/// multipliers of its equations and bounds.
#[derive(Clone, Debug)]
pub struct Neighbour {
    pub(crate) motion: Trajectory,
    /// Scheme and mesh that the multipliers belong to.
    pub(crate) phases: Vec<Settings>,
    pub(crate) warm: WarmStart,
}

impl Neighbour {
    /// Whether its numbers are those of this program.
    pub(crate) fn fits(&self, program: &Collocation) -> bool {
        let sizes = (self.warm.x.len(), self.warm.multipliers.len());
        sizes == (program.num_variables(), program.num_constraints())
    }
}

/// Result on one mesh.
pub struct Solved {
    /// The program.
    pub program: Collocation,
    /// Its schemes and meshes.
    pub phases: Vec<Settings>,
    /// Result of the solver.
    pub solution: Solution,
    /// Variables of the solution, or of the best iterate.
    pub x: Vec<f64>,
    /// Wall-clock time, s.
    pub seconds: f64,
    /// Why it was not solved, where, and what to try.
    pub diagnosis: Option<String>,
}

/// Settings of a solve.
pub struct Meshes<'a> {
    /// Files and monitor.
    pub cx: &'a Context<'a>,
    /// The study.
    pub path: &'a Path,
    /// Settings of the request, which replace those of the study.
    pub a: &'a SolveOptions,
    /// Numbers of intervals of coarser meshes to solve first.
    pub coarse: Vec<usize>,
    /// Temporary forces on the first mesh.
    pub help: Option<Help>,
    /// The solution of a similar problem, whose multipliers are the first ones.
    pub neighbour: Option<Neighbour>,
    /// Mesh refinement.
    pub refine: Option<RefineSettings>,
    /// Settings of the solver.
    pub options: nlp::Options,
    /// Storage of iterates.
    pub store: Store,
}

/// Settings of the refinement: from the study, with the tolerance of the request.
pub fn refine(study: &Study, a: &SolveOptions) -> Option<RefineSettings> {
    match a.refine {
        Some(tolerance) => Some(RefineSettings { tolerance, ..study.refine.clone().unwrap_or_default() }),
        None => study.refine.clone(),
    }
}

/// Coarser meshes to solve first: from the request, otherwise from the study.
pub fn coarse(study: &Study, a: &SolveOptions) -> Vec<usize> {
    if a.coarse.is_empty() { study.coarse.clone() } else { a.coarse.clone() }
}

/// The first barrier parameter after a coarser mesh. Every bound that does not press adds it to the objective.
fn warm_barrier(previous: &Solved) -> f64 {
    let bounds = 2.0 * previous.solution.x.len() as f64;
    (WARM_SHARE * previous.solution.objective.abs() / bounds).clamp(WARM_BARRIER[0], WARM_BARRIER[1])
}

impl<'a> Meshes<'a> {
    /// Solves on a series of meshes; the settings are those of the last mesh, before refinement.
    pub fn solve(&mut self, mut phases: Vec<Settings>, posed: &dyn Posed) -> Result<Solved, Error> {
        let uniform = |n: usize| vec![Settings::uniform_mesh(n); phases.len()];
        let mut steps: Vec<Vec<Vec<f64>>> = self.coarse.iter().map(|&n| uniform(n)).collect();
        steps.push(match self.refine.as_ref().and_then(|r| r.start) {
            Some(n) => {
                for (p, problem) in phases.iter().zip(posed.problems()) {
                    settings::refuse_size(self.path, p.scheme, n, problem)?;
                }
                uniform(n)
            }
            None => phases.iter().map(|p| p.mesh.clone()).collect(),
        });
        let mut resumed = match self.a.resume {
            true => Some(self.read_iterate(&mut phases, &mut steps)?),
            false => None,
        };
        let (mut last, mut count): (Option<Solved>, usize) = (None, 0);
        loop {
            // The list never runs empty: what is taken out comes back finer, or the loop ends.
            if !steps.is_empty() {
                phases.iter_mut().zip(steps.remove(0)).for_each(|(p, mesh)| p.mesh = mesh);
            }
            count += 1;
            let mut program = posed.program(&phases)?;
            let mut options = self.options.clone();
            let warm = match (resumed.take(), &mut last) {
                (Some(iterate), _) => {
                    let warm = iterate::warm_start(&iterate, &self.store.path, &mut program)?;
                    self.cx.note(format!("continuing from iteration {}", iterate.iteration));
                    // The iterate itself is inside its bounds; nothing is pushed away from them.
                    options.warm_start_push = 1e-12;
                    Some(warm)
                }
                // What needed help moves on a finer mesh, too: from the motion alone, with room.
                (None, Some(previous)) if self.help.is_some() => {
                    program.set_guess(&previous.program.trajectory(&previous.x));
                    options.initial_barrier = Self::barrier_after_help(&options);
                    None
                }
                (None, Some(previous)) => {
                    let barrier = warm_barrier(previous).min(options.initial_barrier);
                    (options.initial_barrier, options.warm_start_push) = (barrier, barrier);
                    Some(program.warm_start(&mut previous.program, &previous.solution.warm_start()))
                }
                (None, None) => {
                    match self.helped(&phases, posed, &options)? {
                        Some(motion) => {
                            program.set_guess(&motion);
                            options.initial_barrier = Self::barrier_after_help(&options);
                        }
                        None => posed.start(&mut program)?,
                    }
                    let warm = self.with_multipliers(&program, &phases, posed)?;
                    if warm.is_some() {
                        options.warm_start_push = options.initial_barrier;
                    }
                    warm
                }
            };
            let mut solved = self.solve_once(program, &phases, &options, warm, posed)?;
            if solved.diagnosis.is_some() {
                return Ok(solved);
            }
            if steps.is_empty() {
                let finer = self.finer(&mut solved, &phases, posed.problems(), count)?;
                let Some(finer) = finer else { return Ok(solved) };
                steps.push(finer);
            }
            last = Some(solved);
        }
    }

    /// The guess of a program with the multipliers of the solution of a similar problem, if there is one of the same structure.
    fn with_multipliers(
        &self,
        program: &Collocation,
        phases: &[Settings],
        posed: &dyn Posed,
    ) -> Result<Option<WarmStart>, Error> {
        let Some(near) = self.neighbour.as_ref().filter(|_| self.help.is_none()) else { return Ok(None) };
        let other = if near.phases == phases { None } else { Some(posed.program(&near.phases)?) };
        let before = other.as_ref().unwrap_or(program);
        Ok(near.fits(before).then(|| program.with_multipliers(before, &near.warm)))
    }

    /// The iterate on disk. Coarser meshes lie behind it; a refined one is in no study.
    fn read_iterate(
        &self,
        phases: &mut [Settings],
        steps: &mut Vec<Vec<Vec<f64>>>,
    ) -> Result<Iterate, Error> {
        let iterate = iterate::read(self.cx, &self.store.path)?;
        iterate::refuse_phases(&iterate, &self.store.path, phases.len())?;
        for (p, of) in phases.iter_mut().zip(&iterate.phases) {
            p.scheme = settings::scheme(&self.store.path, &of.scheme)?;
        }
        let meshes: Vec<Vec<f64>> = iterate.phases.iter().map(|p| p.mesh.clone()).collect();
        let at = steps.iter().position(|m| *m == meshes);
        steps.drain(..at.unwrap_or(steps.len()));
        if at.is_none() {
            steps.push(meshes);
        }
        Ok(iterate)
    }

    /// Tells of the iterations of a program.
    pub(super) fn progress(&self, options: &nlp::Options, program: &Collocation) -> IterationProgress<'a> {
        IterationProgress::new(self.cx, options.tolerance, program)
    }

    /// Solves on one mesh.
    fn solve_once(
        &mut self,
        mut program: Collocation,
        phases: &[Settings],
        options: &nlp::Options,
        warm: Option<WarmStart>,
        posed: &dyn Posed,
    ) -> Result<Solved, Error> {
        let of_phase = |p: &Settings| PhaseMesh { scheme: p.scheme.name(), mesh: p.mesh.clone() };
        self.store.phases = phases.iter().map(of_phase).collect();
        self.store.problem = fingerprint::of_program(&mut program);
        let progress = self.progress(options, &program);
        let mut watch = Watch::new(self.cx, progress, &mut self.store, program.num_constraints());
        let solution = nlp::solve(&mut program, options, warm.as_ref(), &mut |i| watch.tell(i))
            .map_err(|e| Error::content(self.path, 0, "", e.to_string(), ""))?;
        let seconds = watch.progress.finish(&solution);
        if solution.status.is_solved() {
            let x = solution.x.clone();
            let phases = phases.to_vec();
            return Ok(Solved { program, phases, solution, x, seconds, diagnosis: None });
        }
        let (x, is_saved) = watch.give_up(&solution);
        let best = format!("the best iterate is in {}", posed.place());
        let saved = match is_saved {
            true => format!("\n  {best}; continue from {} with --resume", self.store.path.display()),
            false => format!("\n  {best}"),
        };
        let tolerance = options.constraint_tolerance;
        let mut diagnosis = diagnosis::describe(&mut program, &solution, &x, tolerance, &saved, is_saved);
        if phases.iter().any(|p| {
            p.interpolate_controls && !matches!(p.scheme, Scheme::BackwardEuler | Scheme::Trapezoidal)
        }) {
            diagnosis += diagnosis::hint_about_controls(solution.status);
        }
        let phases = phases.to_vec();
        Ok(Solved { program, phases, solution, x, seconds, diagnosis: Some(diagnosis) })
    }

    /// The next mesh of each phase, if these are not fine enough.
    fn finer(
        &self,
        solved: &mut Solved,
        phases: &[Settings],
        problems: &[Problem],
        count: usize,
    ) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let Some(r) = &self.refine else { return Ok(None) };
        let errors = solved
            .program
            .mesh_errors(&solved.solution.x)
            .map_err(|e| Error::content(self.path, 0, "", e.to_string(), "remove [refine]"))?;
        let mut meshes = Vec::new();
        for (k, (p, error)) in phases.iter().zip(&errors).enumerate() {
            let (worst, intervals) = (error.largest(), p.mesh.len() - 1);
            let of = if phases.len() > 1 { format!("phase {}: ", k + 1) } else { String::new() };
            self.cx.note(format!(
                "{of}{intervals} intervals: error {worst:.2e} (tolerance {:.0e}), largest for {}",
                r.tolerance, error.worst
            ));
            let most = r.max_intervals.min(settings::most_intervals(p.scheme, &problems[k]));
            let limit = if count >= r.max_meshes { intervals } else { most };
            let exponent = p.scheme.error_exponent();
            meshes.push(if worst <= r.tolerance {
                p.mesh.clone()
            } else {
                refined_mesh(&p.mesh, &error.of_interval, exponent, r.tolerance, limit)
            });
        }
        if meshes.iter().zip(phases).any(|(m, p)| m.len() != p.mesh.len()) {
            return Ok(Some(meshes));
        }
        let worst = soleus_math::norm::largest(errors.iter().map(|e| e.largest()));
        if !(worst <= r.tolerance) {
            let intervals: usize = phases.iter().map(|p| p.mesh.len() - 1).sum();
            let message = format!(
                "the mesh limit is reached ({count} meshes, {intervals} intervals); the error is {worst:.2e}"
            );
            self.cx.warn(self.path, message, "raise max_meshes or max_intervals in [refine]");
        }
        Ok(None)
    }
}

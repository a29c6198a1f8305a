//! A solve on one mesh after the other: coarse ones first, finer ones where the error asks for them, and going on after a stop.

use super::iterate::{Iterate, PhaseMesh};
use super::progress::Progress;
use super::watch::{Stop, Store, Watch};
use super::{Arguments, blame, settings};
use crate::failure::Failure;
use soleus_control::transcription::refined_mesh;
use soleus_control::{Collocation, Settings};
use soleus_io::study::{RefineSettings, Study};
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{self, Solution, WarmStart};
use std::path::Path;

/// Limits of the first barrier parameter where the start is the solution on a coarser mesh.
const WARM_BARRIER: [f64; 2] = [1e-8, 1e-4];

/// What the barrier may add to the objective then, as a part of it.
const WARM_SHARE: f64 = 1e-2;

/// A problem, of one phase or several, that can be put on any mesh.
pub trait Posed {
    /// The program on a mesh for each phase.
    fn program(&self, meshes: &[Settings]) -> Result<Collocation, Failure>;

    /// What is wrong before anything is solved, and where to start.
    fn start(&self, program: &mut Collocation) -> Result<(), Failure>;

    /// Writes the motion, finished or not.
    fn write_motion(
        &self,
        program: &mut Collocation,
        solution: &Solution,
        x: &[f64],
        seconds: f64,
    ) -> Result<(), Failure>;

    /// Where the motion is then, in words.
    fn place(&self) -> String;
}

/// Where it ended on one mesh.
pub struct Solved {
    pub program: Collocation,
    pub solution: Solution,
    pub seconds: f64,
}

/// How a problem is solved.
pub struct Meshes<'a> {
    pub path: &'a Path,
    pub a: &'a Arguments,
    pub refine: Option<RefineSettings>,
    pub options: nlp::Options,
    pub stop: Stop,
    pub store: Store,
}

/// Settings of the refinement: of the study, with the tolerance of the command line.
pub fn refine(study: &Study, a: &Arguments) -> Option<RefineSettings> {
    match a.refine {
        Some(tolerance) => Some(RefineSettings { tolerance, ..study.refine.clone().unwrap_or_default() }),
        None => study.refine.clone(),
    }
}

/// The first barrier parameter after a coarser mesh. Every bound that does not press adds it to the objective.
fn warm_barrier(previous: &Solved) -> f64 {
    let bounds = 2.0 * previous.solution.x.len() as f64;
    (WARM_SHARE * previous.solution.objective.abs() / bounds).clamp(WARM_BARRIER[0], WARM_BARRIER[1])
}

impl Meshes<'_> {
    /// Solves on one mesh after the other; the settings are those of the last, before it is refined.
    pub fn solve(&mut self, mut phases: Vec<Settings>, posed: &dyn Posed) -> Result<Solved, Failure> {
        let uniform = |n: usize| vec![Settings::uniform_mesh(n); phases.len()];
        let mut steps: Vec<Vec<Vec<f64>>> = self.a.coarse.iter().map(|&n| uniform(n)).collect();
        steps.push(match self.refine.as_ref().and_then(|r| r.start) {
            Some(n) => uniform(n),
            None => phases.iter().map(|p| p.mesh.clone()).collect(),
        });
        let mut resumed = match self.a.resume {
            Some(_) => Some(self.read_iterate(&mut phases, &mut steps)?),
            None => None,
        };
        let (mut last, mut count) = (None, 0);
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
                    posed.start(&mut program)?;
                    None
                }
            };
            let mut solved = self.solve_once(program, &phases, &options, warm, posed)?;
            if steps.is_empty() {
                let Some(finer) = self.finer(&mut solved, &phases, count)? else { return Ok(solved) };
                steps.push(finer);
            }
            last = Some(solved);
        }
    }

    /// The iterate on disk. Coarser meshes lie behind it; a refined one is in no study.
    fn read_iterate(
        &self,
        phases: &mut [Settings],
        steps: &mut Vec<Vec<Vec<f64>>>,
    ) -> Result<Iterate, Failure> {
        let iterate = Iterate::read(&self.store.path)?;
        if iterate.phases.len() != phases.len() {
            let (found, expected) = (iterate.phases.len(), phases.len());
            let message = format!("the iterate has {found} phase(s), the study {expected}");
            let hint = "the study has changed since; start from the solution file with --guess";
            return Err(Failure::content(&self.store.path, 0, "", message, hint));
        }
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

    /// Solves on one mesh. What does not succeed is on disk when this returns.
    fn solve_once(
        &mut self,
        mut program: Collocation,
        phases: &[Settings],
        options: &nlp::Options,
        warm: Option<WarmStart>,
        posed: &dyn Posed,
    ) -> Result<Solved, Failure> {
        let of_phase = |p: &Settings| PhaseMesh { scheme: p.scheme.name(), mesh: p.mesh.clone() };
        self.store.phases = phases.iter().map(of_phase).collect();
        let progress = Progress::new(self.a.quiet, options.tolerance, &program);
        let mut watch = Watch::new(progress, &self.stop, &self.store, program.num_constraints());
        let solution = nlp::solve(&mut program, options, warm.as_ref(), &mut |i| watch.tell(i))
            .map_err(|e| Failure::content(self.path, 0, "", e.to_string(), ""))?;
        let seconds = watch.progress.finish(&solution);
        if solution.status.is_solved() {
            return Ok(Solved { program, solution, seconds });
        }
        let x = watch.give_up(&solution)?;
        posed.write_motion(&mut program, &solution, &x, seconds)?;
        let iterate = self.store.path.display();
        let saved = format!("\n  the best iterate is in {}; {iterate} is for --resume", posed.place());
        let tolerance = options.constraint_tolerance;
        Err(Failure::NotSolved { message: blame::describe(&mut program, &solution, &x, tolerance, &saved) })
    }

    /// The next mesh of each phase, if these are not fine enough.
    fn finer(
        &self,
        solved: &mut Solved,
        phases: &[Settings],
        count: usize,
    ) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        let Some(r) = &self.refine else { return Ok(None) };
        let errors = solved
            .program
            .mesh_errors(&solved.solution.x)
            .map_err(|e| Failure::content(self.path, 0, "", e.to_string(), "leave [refine] out"))?;
        let mut meshes = Vec::new();
        for (k, (p, error)) in phases.iter().zip(&errors).enumerate() {
            let (worst, intervals) = (error.largest(), p.mesh.len() - 1);
            let of = if phases.len() > 1 { format!("phase {}: ", k + 1) } else { String::new() };
            eprintln!(
                "{of}{intervals} intervals: error {worst:.2e} (wanted {:.0e}), worst {}",
                r.tolerance, error.worst
            );
            let limit = if count >= r.max_meshes { intervals } else { r.max_intervals };
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
            eprintln!(
                "warning: the mesh is as fine as allowed ({count} meshes, {intervals} intervals); the error is {worst:.2e}"
            );
        }
        Ok(None)
    }
}

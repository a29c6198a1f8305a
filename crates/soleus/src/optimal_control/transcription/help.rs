//! Temporary residual forces that help a solve from a poor initial guess: `[help]` of a study.

use super::meshes::{Meshes, Posed};
use crate::error::Error;
use crate::optimal_control::problem::bounds::is_called;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::Reserve;
use soleus_control::{Collocation, Problem, Settings, Trajectory};
use soleus_io::study::HelpSettings;
use soleus_optimization::nlp;
use std::ops::ControlFlow;
use std::path::Path;

/// First barrier parameters: of the first problem, and of those that begin where another ended.
const BARRIERS: [f64; 2] = [1e-2, 1e-3];

/// Temporary forces, and how they are reduced.
#[derive(Clone, Debug)]
pub struct Help {
    settings: HelpSettings,
    reserves: Vec<Reserve>,
}

impl Help {
    /// The temporary forces of a study.
    pub fn new(path: &Path, settings: &HelpSettings, base: &ModelProblem) -> Result<Help, Error> {
        let n = base.num_coordinates();
        let mut strengths = vec![settings.strength; n];
        for w in &settings.strengths {
            let name = format!("{}/value", w.name);
            let i = base.states[..n].iter().position(|s| is_called(s, &name)).ok_or_else(|| {
                let message = format!("[help] names the coordinate `{}`, which does not exist", w.name);
                Error::content(path, 0, "", message, "")
            })?;
            strengths[i] = w.weight;
        }
        let reserve = |(i, &strength): (usize, &f64)| Reserve { state: n + i, strength };
        let reserves = strengths.iter().enumerate().filter(|s| *s.1 > 0.0).map(reserve).collect();
        Ok(Help { settings: settings.clone(), reserves })
    }
}

impl Meshes<'_> {
    /// Where the problem itself begins: the motion that is found as the help gets dearer. Nothing without help.
    pub(super) fn helped(
        &self,
        phases: &[Settings],
        posed: &dyn Posed,
        options: &nlp::Options,
    ) -> Result<Option<Trajectory>, Error> {
        let (Some(help), [problem], [settings]) = (&self.help, posed.problems(), phases) else {
            return Ok(None);
        };
        let mut motion: Option<Trajectory> = None;
        for &penalty in &help.settings.penalties {
            let mut helped: Problem = problem.clone();
            helped.add_reserves(&help.reserves, penalty);
            let mut program = Collocation::new(helped, settings).map_err(|errors| {
                let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Error::content(self.path, 0, "", text.join("\n  "), "")
            })?;
            program.set_threads(options.threads);
            match &motion {
                Some(motion) => program.set_guess(motion),
                None => posed.start(&mut program)?,
            }
            let options = nlp::Options {
                tolerance: help.settings.tolerance,
                max_iterations: help.settings.max_iterations,
                initial_barrier: BARRIERS[usize::from(motion.is_some())],
                feasibility_steps: help.settings.feasibility_steps.filter(|_| motion.is_none()).unwrap_or(0),
                polishing_steps: 0,
                ..options.clone()
            };
            let mut progress = self.progress(&options, &program);
            let solution = nlp::solve(&mut program, &options, None, &mut |i| {
                progress.tell(i);
                if self.cx.monitor.is_cancelled() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let solution = solution.map_err(|e| Error::content(self.path, 0, "", e.to_string(), ""))?;
            let c = &solution.certificate;
            self.cx.note(format!(
                "temporary forces at penalty {penalty}: objective {:.4e}, violation {:.1e}, {} iterations",
                solution.objective, c.constraint_violation, solution.counts.iterations
            ));
            motion = Some(program.trajectory(&solution.x));
        }
        Ok(motion)
    }

    /// First barrier parameter after help, unless a smaller one is asked for.
    pub(super) fn barrier_after_help(options: &nlp::Options) -> f64 {
        options.initial_barrier.min(BARRIERS[1])
    }
}

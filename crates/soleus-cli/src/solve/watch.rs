//! While a solve runs: progress, saving of iterates, and Ctrl-C.

use super::iterate::{Iterate, PhaseMesh};
use super::progress::Progress;
use super::{Arguments, BESIDE};
use crate::failure::Failure;
use crate::setup;
use soleus_io::study::Study;
use soleus_optimization::nlp::{Iteration, Solution, Status, WarmStart};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code of a program that a second Ctrl-C ends at once: 128 and the number of the signal, as shells have it.
const INTERRUPTED: i32 = 130;

/// Whether somebody pressed Ctrl-C.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens from now on. The first Ctrl-C asks the solver to stop, the second ends the program.
    pub fn listen() -> Stop {
        let stop = Stop::default();
        let flag = stop.0.clone();
        let listening = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED);
            }
            eprintln!("\nstopping after this iteration; Ctrl-C again ends at once");
        });
        if let Err(e) = listening {
            eprintln!("warning: Ctrl-C ends the program without saving: {e}");
        }
        stop
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Where iterates go, and how often.
pub struct Store {
    pub path: PathBuf,
    pub every: Duration,
    /// Schemes and meshes of the present program.
    pub phases: Vec<PhaseMesh>,
}

/// What is done at every iteration.
pub struct Watch<'a> {
    pub progress: Progress,
    pub stop: &'a Stop,
    pub store: &'a Store,
    num_constraints: usize,
    saved: Instant,
    /// The iterate with the least violation, as long as none fulfils the constraints.
    best: Option<(f64, WarmStart)>,
    /// Why an iterate could not be saved.
    failure: Option<Failure>,
}

impl<'a> Watch<'a> {
    pub fn new(progress: Progress, stop: &'a Stop, store: &'a Store, num_constraints: usize) -> Watch<'a> {
        Watch { progress, stop, store, num_constraints, saved: Instant::now(), best: None, failure: None }
    }

    pub fn tell(&mut self, i: &Iteration) -> ControlFlow<()> {
        self.progress.tell(i);
        let violation = i.constraint_violation;
        if self.best.as_ref().is_none_or(|b| violation < b.0) {
            self.best = Some((violation, i.warm_start(self.num_constraints)));
        }
        if self.saved.elapsed() >= self.store.every {
            self.saved = Instant::now();
            let told = (i.iteration, i.objective, violation);
            if let Err(e) = self.store.save(i.warm_start(self.num_constraints), told) {
                self.failure = Some(e);
                return ControlFlow::Break(());
            }
        }
        if self.stop.is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The end of a solve that did not succeed: the last iterate, or an earlier one whose constraints are violated
    /// ten times less. It is on disk afterwards; returns its variables.
    pub fn give_up(self, s: &Solution) -> Result<Vec<f64>, Failure> {
        if let Some(e) = self.failure {
            return Err(e);
        }
        let last = s.certificate.constraint_violation;
        let mut warm = s.warm_start();
        warm.barrier = Some(s.barrier).filter(|mu| *mu > 0.0);
        let mut violation = last;
        // A solver that had to stop was on its way; one that is lost may have been better before.
        let lost = !matches!(s.status, Status::Stopped | Status::IterationLimit);
        if let Some((least, best)) = self.best.filter(|b| lost && b.0 < 0.1 * last) {
            (violation, warm) = (least, best);
        }
        let x = warm.x.clone();
        self.store.save(warm, (s.counts.iterations, s.objective, violation))?;
        Ok(x)
    }
}

/// Seconds between two iterates on disk, unless the study says otherwise.
const SAVE_EVERY_S: f64 = 30.0;

impl Store {
    /// The iterate of a solution that goes to `out`: in the file that is named, or beside it.
    pub fn of_study(path: &Path, study: &Study, a: &Arguments, out: &Path) -> Store {
        let beside = || {
            let mut name = out.file_name().unwrap_or_default().to_os_string();
            name.push(".iterate");
            out.with_file_name(name)
        };
        let given = a.resume.clone().filter(|r| r != Path::new(BESIDE));
        let named = || study.output.iterate.as_ref().map(|f| setup::beside(path, f));
        let every = a.save_every.or(study.output.save_every_s).unwrap_or(SAVE_EVERY_S);
        Store {
            path: given.or_else(named).unwrap_or_else(beside),
            every: Duration::try_from_secs_f64(every).unwrap_or(Duration::MAX),
            phases: Vec::new(),
        }
    }

    fn save(&self, warm: WarmStart, told: (usize, f64, f64)) -> Result<(), Failure> {
        Iterate::new(self.phases.clone(), warm, told).write(&self.path)
    }

    /// Takes the iterate of a solve that succeeded away.
    pub fn clear(&self) {
        // One that is not there, or cannot be removed, does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

//! Monitors a solve: progress, saving of iterates, cancellation.

use super::progress::IterationProgress;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::optimal_control::options::SolveOptions;
use crate::optimal_control::start::iterate;
use soleus_io::iterate::{Fingerprint, PhaseMesh};
use soleus_io::study::Study;
use soleus_optimization::nlp::{Iteration, Solution, Status, WarmStart};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Seconds between two iterates on disk, unless the study says otherwise.
const SAVE_EVERY_S: f64 = 30.0;

/// Where iterates are saved, and how often.
pub struct Store {
    /// The file.
    pub path: PathBuf,
    /// Time between two, s.
    every: f64,
    /// Whether any are kept.
    is_kept: bool,
    /// Whether the file was asked for by name, so that it stays after a success.
    is_named: bool,
    /// Schemes and meshes of the current program.
    pub phases: Vec<PhaseMesh>,
    /// Fingerprint of the current program.
    pub problem: Fingerprint,
    /// Whether somebody was told that an iterate could not be saved.
    has_warned: bool,
}

impl Store {
    /// Iterate file for a solution written to `out`: the named file, or one next to the solution.
    pub fn of_study(path: &Path, study: &Study, a: &SolveOptions, out: &Path) -> Store {
        let usual = || {
            let mut name = out.file_name().unwrap_or_default().to_os_string();
            name.push(".iterate");
            out.with_file_name(name)
        };
        let named = study.output.iterate.as_ref().map(|f| beside(path, f));
        Store {
            is_named: if a.iterate.is_some() { !a.resume } else { named.is_some() },
            path: a.iterate.clone().or(named).unwrap_or_else(usual),
            every: a.save_every_s.or(study.output.save_every_s).unwrap_or(SAVE_EVERY_S),
            is_kept: a.keeps_iterates(),
            phases: Vec::new(),
            problem: Fingerprint::default(),
            has_warned: false,
        }
    }

    /// Ends with a result. A file that was asked for by name holds the solution with its multipliers then, as a guess for similar
    /// problems; any other, which is returned, is not needed after a success.
    pub fn end(mut self, cx: &Context, s: &Solution) -> Option<PathBuf> {
        if self.is_named && s.status.is_solved() {
            let reached = (s.counts.iterations, s.objective, s.certificate.constraint_violation);
            self.save(cx, s.warm_start(), reached);
            return None;
        }
        self.is_kept.then_some(self.path)
    }

    /// Saves an iterate, if they are kept. One that cannot be saved is no reason to stop: what is on disk stays, and it is told once.
    /// Whether it was saved.
    fn save(&mut self, cx: &Context, warm: WarmStart, reached: (usize, f64, f64)) -> bool {
        if !self.is_kept {
            return false;
        }
        let iterate = iterate::of_warm_start(self.phases.clone(), self.problem.clone(), warm, reached);
        let Err(e) = iterate::write(&iterate, cx, &self.path) else { return true };
        if !std::mem::replace(&mut self.has_warned, true) {
            let why = match &e {
                Error::Write { source, .. } => source.to_string(),
                other => other.to_string(),
            };
            let hint = "solving continues and the previous saved iterate is kept; free some disk space";
            cx.warn(&self.path, format!("the iterate cannot be saved: {why}"), hint);
        }
        false
    }
}

/// Actions at each iteration.
pub struct Watch<'a> {
    cx: &'a Context<'a>,
    /// Progress reports.
    pub progress: IterationProgress<'a>,
    store: &'a mut Store,
    num_constraints: usize,
    /// When an iterate was saved last, s.
    saved: Option<f64>,
    /// The iterate with the least violation, as long as none fulfils the constraints.
    best: Option<(f64, WarmStart)>,
}

impl<'a> Watch<'a> {
    /// With nothing saved yet.
    pub fn new(
        cx: &'a Context<'a>,
        progress: IterationProgress<'a>,
        store: &'a mut Store,
        num_constraints: usize,
    ) -> Watch<'a> {
        Watch { cx, progress, store, num_constraints, saved: cx.monitor.seconds(), best: None }
    }

    /// Reports an iteration and saves it if it is due.
    pub fn tell(&mut self, i: &Iteration) -> ControlFlow<()> {
        self.progress.tell(i);
        let violation = i.constraint_violation;
        if self.best.as_ref().is_none_or(|b| violation < b.0) {
            self.best = Some((violation, i.warm_start(self.num_constraints)));
        }
        if let (Some(saved), Some(now)) = (self.saved, self.cx.monitor.seconds())
            && now - saved >= self.store.every
        {
            self.saved = Some(now);
            let reached = (i.iteration, i.objective, violation);
            self.store.save(self.cx, i.warm_start(self.num_constraints), reached);
        }
        if self.cx.monitor.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Ends a solve that did not succeed: chooses the last iterate, or an earlier one whose constraint violation is ten
    /// times smaller. Returns its variables, and whether it is on disk.
    pub fn give_up(self, s: &Solution) -> (Vec<f64>, bool) {
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
        let is_saved = self.store.save(self.cx, warm, (s.counts.iterations, s.objective, violation));
        (x, is_saved)
    }
}

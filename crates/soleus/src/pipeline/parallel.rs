//! Parallel execution of trials.

use super::{Run, StepOutcome, done};
use crate::context::{Context, Monitor};
use crate::error::{Error, ErrorKind};
use crate::files::Lock;
use soleus_io::pipeline::Trial;
use soleus_model::Diagnostic;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A trial and the model for it.
type Work<'a> = (&'a Trial, &'a Path);

/// What a trial left: its steps, the first failure, and an error if the caller asked to stop.
type Ended = (Vec<StepOutcome>, Option<(String, ErrorKind)>, Result<(), Error>);

impl Run<'_> {
    /// All steps of these trials, as many trials at once as there are jobs.
    pub(super) fn trials(&mut self, work: &[Work]) -> Result<(), Error> {
        let jobs = self.jobs.min(work.len());
        if jobs < 2 {
            return work.iter().try_for_each(|w| {
                let ended = self.one_trial(w, self.cx);
                self.join(ended)
            });
        }
        // The first trials get the threads that are left over.
        let threads = (self.cx.threads / jobs).max(1);
        let next = AtomicUsize::new(0);
        let all: Vec<Mutex<Option<Ended>>> = work.iter().map(|_| Mutex::new(None)).collect();
        let turn = Mutex::new(());
        let (run, next, all_ref, turn) = (&*self, &next, &all, &turn);
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(move || {
                    while let Some((i, w)) = {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        work.get(i).map(|w| (i, w))
                    } {
                        let held = Held { to: run.cx.monitor, told: Mutex::default() };
                        let cx = Context { monitor: &held, threads, ..run.cx };
                        let ended = run.one_trial(w, cx);
                        let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                        held.tell();
                        *all_ref[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
                    }
                });
            }
        });
        // In the order of the pipeline, whichever ended first.
        let ended = all.into_iter().filter_map(|e| e.into_inner().unwrap_or_else(PoisonError::into_inner));
        ended.map(|e| self.join(e)).fold(Ok(()), Result::and)
    }

    /// All steps of a trial, apart from the others, and remembered for processes that do other trials.
    fn one_trial(&self, &(trial, model): &Work, cx: Context) -> Ended {
        let mut run = Run {
            cx,
            pipeline: self.pipeline,
            file: self.file.clone(),
            home: self.home.clone(),
            results: self.results.clone(),
            memory: self.memory.clone(),
            trial: Some(&trial.name),
            steps: Vec::new(),
            failure: None,
            ..*self
        };
        let name = format!("lock_{}", trial.name);
        let lock = match self.shard {
            Some(_) => self.memory.lock(&cx, &name, Lock::Exclusive, &self.results).map(Some),
            None => Ok(None),
        };
        let result = match lock {
            Err(e) => {
                run.fail(&trial.name, e);
                Ok(())
            }
            Ok(_lock) => {
                let result = done(run.trial(trial, model)).map(|_| ());
                // What is not remembered is missing in the summary of another process alone.
                let _ = self.memory.remember_trial(&cx, &trial.name, &run.steps);
                result
            }
        };
        (run.steps, run.failure, result)
    }

    fn join(&mut self, (steps, failure, result): Ended) -> Result<(), Error> {
        self.steps.extend(steps);
        self.failure = self.failure.take().or(failure);
        result
    }

    /// Steps of all trials: those of this run, then those that other processes did.
    pub(super) fn steps_of_all(&self) -> Vec<StepOutcome> {
        let Some(shard) = self.shard else { return self.steps.clone() };
        let others = self.pipeline.trials.iter().filter(|t| !shard.has(&t.name));
        let theirs = others.flat_map(|t| self.memory.trial(&self.cx, &t.name));
        self.steps.iter().cloned().chain(theirs).collect()
    }
}

/// Keeps what a trial says until it is done, so that lines of several do not mix.
struct Held<'a> {
    to: &'a dyn Monitor,
    told: Mutex<Vec<Words>>,
}

enum Words {
    Diagnostic(Diagnostic),
    Note(String),
}

impl Held<'_> {
    fn keep(&self, words: Words) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(words);
    }

    /// Tells all of it.
    fn tell(self) {
        for words in self.told.into_inner().unwrap_or_else(PoisonError::into_inner) {
            match words {
                Words::Diagnostic(d) => self.to.diagnostic(&d),
                Words::Note(line) => self.to.note(&line),
            }
        }
    }
}

impl Monitor for Held<'_> {
    fn diagnostic(&self, d: &Diagnostic) {
        self.keep(Words::Diagnostic(d.clone()));
    }

    fn note(&self, line: &str) {
        self.keep(Words::Note(line.to_string()));
    }

    fn is_cancelled(&self) -> bool {
        self.to.is_cancelled()
    }

    fn seconds(&self) -> Option<f64> {
        self.to.seconds()
    }
}

//! Pipeline: all steps from static trial to joint reactions, for all trials of a subject.

mod from_trials;
mod memory;
mod parallel;
mod shard;
mod steps;
mod summary;

pub use soleus_io::pipeline::Pipeline as PipelineFile;

pub use from_trials::{FromTrials, RecordedTrial};
pub use shard::{ArrayScript, Shard};

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, MOST_THREADS};
use crate::error::{Error, ErrorKind};
use crate::files::{Lock, Opened, plain};
use crate::gait::read_normative;
use crate::inputs::model;
use crate::inputs::paths::{folder_of, stem_of};
use memory::StepMemory;
use serde::Serialize;
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_model::Diagnostics;
use std::path::{Path, PathBuf};

/// All steps of motion capture: scaling, then for each trial joint angles, moments, muscle forces and joint reactions.
///
/// Results are written after each step, to the results folder next to the pipeline file. A second run repeats only
/// steps whose inputs changed.
///
/// ```no_run
/// use soleus::{Context, Disk, Outcome, Pipeline};
/// let files = Disk::new();
/// let context = Context::new(&files);
/// let done = Pipeline::of_file("walking.toml").run(&context)?;
/// done.write(&context)?; // the page
/// done.verdict()?;
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Pipeline {
    /// The pipeline file (.toml).
    pub file: PathBuf,
    /// Content of the pipeline file, if it is not to be read; file names are relative to the folder of `file`.
    pub contents: Option<PipelineFile>,
    /// Repeat all steps.
    pub again: bool,
    /// Number of trials to run in parallel; 0: number of threads of the context. Results do not depend on it.
    pub jobs: usize,
    /// Run only a part of the trials: other processes, on any machine with the same folder, run the rest.
    pub shard: Option<Shard>,
}

/// Angles between sensors and model, in the folder of a trial.
const SENSOR_ERRORS: &str = "ik.mot_orientationErrors.sto";

/// Activations and excitations by optimal control, in the folder of a trial.
const INVERSE: &str = "inverse.sto";

/// Result of a step.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// Trial of the step; `None` for steps of the whole pipeline.
    pub trial: Option<String>,
    /// Name of the step, including that of its trial.
    pub step: String,
    /// Done, unchanged, or the error; [`Error::Earlier`] if it was that of another process.
    pub result: Result<&'static str, Error>,
}

/// Result of a pipeline. The files of its steps are already written.
#[derive(Clone, Debug)]
pub struct PipelineResult {
    /// All steps, in order.
    pub steps: Vec<StepOutcome>,
    /// Results folder.
    pub results: PathBuf,
    /// Page with the results.
    pub page: String,
    /// One row for each step of each trial, including failed steps (Parquet).
    pub rows: Vec<u8>,
    /// Activations of each trial by all requested methods, and their output file.
    pub activations: Vec<(PathBuf, Table)>,
    failure: Option<(String, ErrorKind)>,
}

impl Outcome for PipelineResult {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let page = Artifact::text(self.results.join("summary.html"), self.page.as_str());
        let rows = Artifact::bytes(self.results.join("summary.parquet"), &self.rows).derived();
        let tables =
            self.activations.iter().map(|(file, t)| Artifact::table(file, t, Digits::Shortest).derived());
        [page, rows].into_iter().chain(tables).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        let count = self.steps.iter().filter(|s| s.result.is_err()).count();
        match &self.failure {
            None => Ok(()),
            Some((first, kind)) => Err(Error::Steps { count, first: first.clone(), kind: *kind }),
        }
    }
}

impl StepOutcome {
    /// Name of the step without that of its trial.
    pub fn name(&self) -> &str {
        let own = self.trial.as_ref().and_then(|t| self.step.strip_prefix(t.as_str()));
        own.unwrap_or(&self.step).trim_start()
    }
}

impl Pipeline {
    /// The pipeline in a file.
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Pipeline { file: file.into(), ..Pipeline::default() }
    }

    /// Runs all steps; a failed trial does not affect the others.
    pub fn run(&self, cx: &Context) -> Result<PipelineResult, Error> {
        let pipeline = match &self.contents {
            Some(pipeline) => {
                let mut log = Diagnostics::new(self.file.display().to_string());
                pipeline.check(&mut log);
                cx.settle(&self.file, Some(pipeline.clone()), log)?
            }
            None => read_file(cx, &self.file)?,
        };
        // One name for every file, however the pipeline was called.
        let home = plain(&cx.files.absolute(folder_of(&cx.files.absolute(&self.file))));
        // Whether it can be read is said before hours of work.
        if let Some(normative) = &pipeline.normative {
            read_normative(cx, &home.join(normative))?;
        }
        let results = plain(&home.join(pipeline.out.clone().unwrap_or_else(|| "results".into())));
        let memory = StepMemory::new(&home, &results);
        let whole = if self.shard.is_some() { Lock::Shared } else { Lock::Exclusive };
        let _lock = memory.lock(cx, "lock", whole, &results)?;
        let mut run = Run {
            cx: *cx,
            pipeline: &pipeline,
            file: self.file.clone(),
            home,
            results,
            memory,
            again: self.again,
            jobs: if self.jobs == 0 { cx.threads } else { self.jobs.min(MOST_THREADS) },
            shard: self.shard,
            trial: None,
            steps: Vec::new(),
            failure: None,
        };
        let model = run.all()?;
        let name = pipeline.name.clone().unwrap_or_else(|| stem_of(&self.file, "pipeline"));
        let all = run.steps_of_all();
        let page =
            summary::page(cx.files, &name, &pipeline, [&run.home, &run.results], model.as_deref(), &all);
        let rows = summary::rows(cx.files, &pipeline, &run.results, model.as_deref(), &all);
        cx.note(format!("summary: {}", run.results.join("summary.html").display()));
        let activations = pipeline.trials.iter().filter_map(|t| {
            let folder = run.results.join(&t.name);
            Some((folder.join("activations.sto"), summary::side_by_side(cx.files, t, &folder)?))
        });
        let activations = activations.collect();
        Ok(PipelineResult {
            steps: run.steps,
            results: run.results,
            page,
            rows,
            activations,
            failure: run.failure,
        })
    }
}

/// Reads a pipeline file.
fn read_file(cx: &Context, path: &Path) -> Result<PipelineFile, Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    let pipeline = soleus_io::pipeline::read(&cx.read_text(path)?, &mut log);
    cx.settle(path, pipeline, log)
}

/// A run of a pipeline.
struct Run<'a> {
    cx: Context<'a>,
    pipeline: &'a PipelineFile,
    /// The pipeline file, as it was called.
    file: PathBuf,
    /// Its folder.
    home: PathBuf,
    results: PathBuf,
    memory: StepMemory,
    again: bool,
    /// How many trials at once.
    jobs: usize,
    /// Which trials, if not all.
    shard: Option<Shard>,
    /// The trial that is at work, if one is.
    trial: Option<&'a str>,
    steps: Vec<StepOutcome>,
    /// The first step that failed, and how.
    failure: Option<(String, ErrorKind)>,
}

/// Why the steps after one that failed are not done.
enum Ended {
    /// The step failed; why is in the run.
    Failed,
    /// The caller asked to stop.
    Cancelled(Error),
}

impl Run<'_> {
    /// All steps. Returns the model of the subject.
    fn all(&mut self) -> Result<Option<PathBuf>, Error> {
        let pipeline = self.pipeline;
        let (model, with_sensors) = self.subject()?;
        let Some(subject) = &model else { return Ok(None) };
        let mut work = Vec::new();
        for trial in pipeline.trials.iter().filter(|t| self.shard.is_none_or(|s| s.has(&t.name))) {
            match (&trial.orientations, &with_sensors) {
                (Some(_), Some(m)) => work.push((trial, m.as_path())),
                (Some(_), None) => {}
                (None, _) => work.push((trial, subject.as_path())),
            }
        }
        self.trials(&work)?;
        Ok(model)
    }

    /// The model of the subject, and the one with sensors where trials have some.
    fn subject(&mut self) -> Result<(Option<PathBuf>, Option<PathBuf>), Error> {
        let pipeline = self.pipeline;
        // Of processes that share a pipeline one makes the model; the others wait and find it.
        let _turn = match self.shard {
            Some(_) => Some(self.memory.lock(&self.cx, "lock_subject", Lock::Turn, &self.results)?),
            None => None,
        };
        let mut model = match &pipeline.model {
            Some(file) => Some(self.at(file)),
            None => done(self.scale())?,
        };
        // What is odd about the model is said once, for all trials.
        if let Some(file) = model.clone()
            && let Err(e) = model::read(&self.cx, &file.into())
        {
            self.fail("model", e);
            model = None;
        }
        let Some(subject) = &model else { return Ok((None, None)) };
        // Sensors are placed once; the model is the same for trials with markers.
        let with_sensors = match pipeline.trials.iter().any(|t| t.orientations.is_some()) {
            true => done(self.place_sensors(subject))?,
            false => None,
        };
        Ok((model, with_sensors))
    }

    /// The pipeline file, by a name that does not depend on how it was called.
    fn asked(&self) -> PathBuf {
        self.home.join(self.file.file_name().unwrap_or_default())
    }

    /// A file as the pipeline names it.
    fn at(&self, file: &Path) -> PathBuf {
        plain(&self.home.join(file))
    }

    /// Does a step unless it is remembered. `work` runs in a context that remembers what is opened and written.
    fn step<R: Outcome>(
        &mut self,
        name: &str,
        request: &impl Serialize,
        work: impl FnOnce(&Context) -> Result<R, Error>,
    ) -> Result<(), Ended> {
        let request = serde_json::to_value(request).unwrap_or_default().to_string();
        let mut work = Some(work);
        self.step_of_any_kind(name, &request, &mut |cx| {
            let Some(work) = work.take() else { return Ok(()) };
            let outcome = work(cx)?;
            outcome.write(cx)?;
            outcome.verdict()
        })
    }

    fn step_of_any_kind(
        &mut self,
        name: &str,
        request: &str,
        work: &mut dyn FnMut(&Context) -> Result<(), Error>,
    ) -> Result<(), Ended> {
        self.cx.go_on().map_err(Ended::Cancelled)?;
        let result = if !self.again && self.memory.has(&self.cx, name, request) {
            self.cx.note(format!("{name}: unchanged"));
            "unchanged"
        } else {
            self.memory.forget(&self.cx, name);
            self.cx.note(format!("{name}:"));
            let opened = Opened::new(self.cx.files);
            let cx = Context { files: &opened, ..self.cx }.without_model_warnings();
            let remembered = work(&cx).and_then(|()| self.memory.remember(&self.cx, name, request, &opened));
            match remembered {
                Err(e) if e.kind() == ErrorKind::Cancelled => return Err(Ended::Cancelled(e)),
                Err(e) => return Err(self.fail(name, e)),
                Ok(()) => self.cx.note(format!("{name}: done\n")),
            }
            "done"
        };
        self.steps.push(StepOutcome {
            trial: self.trial.map(str::to_string),
            step: name.to_string(),
            result: Ok(result),
        });
        Ok(())
    }

    fn fail(&mut self, name: &str, e: Error) -> Ended {
        let e = e.named_in(&self.file);
        self.cx.note(format!("{e}\n{name}: failed\n"));
        let trial = self.trial.map(str::to_string);
        self.failure.get_or_insert((name.to_string(), e.kind()));
        self.steps.push(StepOutcome { trial, step: name.to_string(), result: Err(e) });
        Ended::Failed
    }
}

/// What a step gave, if it did not fail; an error if the caller asked to stop.
fn done<T>(step: Result<T, Ended>) -> Result<Option<T>, Error> {
    match step {
        Ok(value) => Ok(Some(value)),
        Err(Ended::Failed) => Ok(None),
        Err(Ended::Cancelled(e)) => Err(e),
    }
}

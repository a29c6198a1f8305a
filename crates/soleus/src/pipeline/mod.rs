//! The pipeline: all steps from static trial to joint reactions, for all trials of a subject.

mod from_trials;
mod memory;
mod steps;
mod summary;

pub use soleus_io::pipeline::Pipeline as PipelineFile;

pub use from_trials::{FromTrials, RecordedTrial};

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::{Error, ErrorKind};
use crate::files::{Opened, plain};
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
/// Steps are written as they are done, into the folder of results beside the pipeline file. A second run does only what has changed.
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
    /// What it says, if it is not to be read; names of files are taken from the folder of `file`.
    pub contents: Option<PipelineFile>,
    /// Do everything again.
    pub again: bool,
}

/// Angles between sensors and model, in the folder of a trial.
const SENSOR_ERRORS: &str = "ik.mot_orientationErrors.sto";

/// What came of a step.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    /// Name of the step.
    pub step: String,
    /// Done, unchanged, or why not.
    pub result: Result<&'static str, String>,
}

/// What came of it. The files of its steps are written.
#[derive(Clone, Debug)]
pub struct PipelineResult {
    /// All steps, in their order.
    pub steps: Vec<StepOutcome>,
    /// Folder of results.
    pub results: PathBuf,
    /// The page that shows them.
    pub page: String,
    /// Activations of each trial by static optimization and muscle control side by side, and their file.
    pub activations: Vec<(PathBuf, Table)>,
    failure: Option<(String, ErrorKind)>,
}

impl Outcome for PipelineResult {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let page = Artifact::text(self.results.join("summary.html"), self.page.as_str());
        let tables =
            self.activations.iter().map(|(file, t)| Artifact::table(file, t, Digits::Shortest).derived());
        [page].into_iter().chain(tables).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        let count = self.steps.iter().filter(|s| s.result.is_err()).count();
        match &self.failure {
            None => Ok(()),
            Some((first, kind)) => Err(Error::Steps { count, first: first.clone(), kind: *kind }),
        }
    }
}

impl Pipeline {
    /// The study of a file.
    pub fn of_file(file: impl Into<PathBuf>) -> Self {
        Pipeline { file: file.into(), ..Pipeline::default() }
    }

    /// Runs all steps; a trial that fails leaves the others alone.
    pub fn run(&self, cx: &Context) -> Result<PipelineResult, Error> {
        let study = match &self.contents {
            Some(study) => {
                let mut log = Diagnostics::new(self.file.display().to_string());
                study.check(&mut log);
                cx.settle(&self.file, Some(study.clone()), log)?
            }
            None => read_file(cx, &self.file)?,
        };
        // One name for every file, however the study was called.
        let home = plain(&cx.files.absolute(folder_of(&cx.files.absolute(&self.file))));
        let results = plain(&home.join(study.out.clone().unwrap_or_else(|| "results".into())));
        let memory = StepMemory::new(&home, &results);
        let _lock = lock(cx, &memory, &results)?;
        let mut run = Run {
            cx: *cx,
            study: &study,
            file: self.file.clone(),
            home,
            results,
            memory,
            again: self.again,
            steps: Vec::new(),
            failure: None,
        };
        let model = run.all()?;
        let name = study.name.clone().unwrap_or_else(|| stem_of(&self.file, "study"));
        let page =
            summary::page(cx.files, &name, &study, [&run.home, &run.results], model.as_deref(), &run.steps);
        cx.note(format!("summary: {}", run.results.join("summary.html").display()));
        let activations = study.trials.iter().filter_map(|t| {
            let folder = run.results.join(&t.name);
            Some((folder.join("activations.sto"), summary::side_by_side(cx.files, t, &folder)?))
        });
        let activations = activations.collect();
        Ok(PipelineResult { steps: run.steps, results: run.results, page, activations, failure: run.failure })
    }
}

/// Reads a pipeline file.
fn read_file(cx: &Context, path: &Path) -> Result<PipelineFile, Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    let study = soleus_io::pipeline::read(&cx.read_text(path)?, &mut log);
    cx.settle(path, study, log)
}

/// Two runs at once would write over each other's files.
fn lock(cx: &Context, memory: &StepMemory, results: &Path) -> Result<Box<dyn Send>, Error> {
    let file = memory.lock_file();
    let failed = |e| Error::write(cx.files, &file, e);
    cx.files.make_folder(folder_of(&file)).map_err(failed)?;
    cx.files.lock(&file).map_err(|e| match e.kind() {
        std::io::ErrorKind::WouldBlock => {
            let message = "another run writes results here now";
            Error::content(results, 0, "", message, "wait for it, or give `out` another folder")
        }
        _ => failed(e),
    })
}

/// A run of a pipeline.
struct Run<'a> {
    cx: Context<'a>,
    study: &'a PipelineFile,
    /// The pipeline file, as it was called.
    file: PathBuf,
    /// Its folder.
    home: PathBuf,
    results: PathBuf,
    memory: StepMemory,
    again: bool,
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
        let study = self.study;
        let mut model = match &study.model {
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
        let Some(subject) = &model else { return Ok(None) };
        // Sensors are placed once; the model is the same for trials with markers.
        let with_sensors = match study.trials.iter().any(|t| t.orientations.is_some()) {
            true => done(self.place_sensors(subject))?,
            false => None,
        };
        for trial in &study.trials {
            let subject = match (&trial.orientations, &with_sensors) {
                (Some(_), Some(m)) => m,
                (Some(_), None) => continue,
                (None, _) => subject,
            };
            done(self.trial(trial, subject))?;
        }
        Ok(model)
    }

    /// The pipeline file, by a name that does not depend on how it was called.
    fn asked(&self) -> PathBuf {
        self.home.join(self.file.file_name().unwrap_or_default())
    }

    /// A file as the study names it.
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
        self.cx.go_on().map_err(Ended::Cancelled)?;
        let request = serde_json::to_string(request).unwrap_or_default();
        let result = if !self.again && self.memory.has(&self.cx, name, &request) {
            self.cx.note(format!("{name}: unchanged"));
            "unchanged"
        } else {
            self.memory.forget(&self.cx, name);
            self.cx.note(format!("{name}:"));
            let opened = Opened::new(self.cx.files);
            let cx = Context { files: &opened, ..self.cx }.without_model_warnings();
            let worked = work(&cx).and_then(|outcome| {
                outcome.write(&cx)?;
                outcome.verdict()
            });
            let remembered = worked.and_then(|()| self.memory.remember(&self.cx, name, &request, &opened));
            match remembered {
                Err(e) if e.kind() == ErrorKind::Cancelled => return Err(Ended::Cancelled(e)),
                Err(e) => return Err(self.fail(name, e)),
                Ok(()) => self.cx.note(format!("{name}: done\n")),
            }
            "done"
        };
        self.steps.push(StepOutcome { step: name.to_string(), result: Ok(result) });
        Ok(())
    }

    fn fail(&mut self, name: &str, e: Error) -> Ended {
        let e = e.named_in(&self.file);
        self.cx.note(format!("{e}\n{name}: failed\n"));
        self.steps.push(StepOutcome { step: name.to_string(), result: Err(e.to_string()) });
        self.failure.get_or_insert((name.to_string(), e.kind()));
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

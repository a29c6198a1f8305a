//! Record of computed steps: a step is repeated only if its settings, a file that it opened, or the program changed.

use super::StepOutcome;
use crate::context::Context;
use crate::error::Error;
use crate::files::{Lock, Opened, digest, plain};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is remembered of a step. Files are named from the folder of the pipeline where they lie below it, so that a pipeline may move.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    /// Version of the program.
    version: String,
    /// Digest of the request.
    request: String,
    /// Digest of each file that was opened; none for one that was looked for and not there.
    read: BTreeMap<PathBuf, Option<String>>,
    /// Digest of each file that was written.
    written: BTreeMap<PathBuf, String>,
}

/// Record of the steps of a pipeline, a folder of small files.
#[derive(Clone, Debug)]
pub struct StepMemory {
    /// Folder of the pipeline.
    home: PathBuf,
    folder: PathBuf,
}

impl StepMemory {
    /// In the results folder of a pipeline.
    pub fn new(home: &Path, results: &Path) -> Self {
        StepMemory { home: home.to_path_buf(), folder: results.join(".soleus") }
    }

    /// Whether a step with this request was done, its inputs are unchanged, and its outputs still exist.
    pub fn has(&self, cx: &Context, step: &str, request: &str) -> bool {
        let Ok(bytes) = cx.files.read(&self.file(step)) else { return false };
        let Ok(record) = serde_json::from_slice::<Record>(&bytes) else { return false };
        let now = |path: &Path| cx.files.read(&self.home.join(path)).ok().map(|b| digest(&b));
        record.version == env!("CARGO_PKG_VERSION")
            && record.request == self.digest_of(request)
            && !record.written.is_empty()
            && record.read.iter().all(|(path, then)| now(path) == *then)
            && record.written.iter().all(|(path, then)| now(path).as_ref() == Some(then))
    }

    /// Records that a step was done.
    pub fn remember(&self, cx: &Context, step: &str, request: &str, opened: &Opened) -> Result<(), Error> {
        let read = opened.read_files().into_iter().map(|(p, d)| (self.short(&p), d)).collect();
        let written = opened.written_files().into_iter().map(|(p, d)| (self.short(&p), d)).collect();
        let (version, request) = (env!("CARGO_PKG_VERSION").to_string(), self.digest_of(request));
        let text =
            serde_json::to_string_pretty(&Record { version, request, read, written }).unwrap_or_default();
        let file = self.file(step);
        cx.files.make_folder(&self.folder).map_err(|e| Error::write(cx.files, &self.folder, e))?;
        cx.files.write(&file, text.as_bytes()).map_err(|e| Error::write(cx.files, &file, e))
    }

    /// Deletes the record of a step before it is repeated.
    pub fn forget(&self, cx: &Context, step: &str) {
        // One that cannot be removed is found out: what the step wrote will have changed.
        let _ = cx.files.remove(&self.file(step));
    }

    /// Records the results of the steps of a trial, for the summary of another process.
    pub fn remember_trial(&self, cx: &Context, trial: &str, steps: &[StepOutcome]) -> Result<(), Error> {
        let error = |s: &StepOutcome| s.result.as_ref().err().map(Error::to_string);
        let steps: Vec<(&str, Option<String>)> = steps.iter().map(|s| (s.step.as_str(), error(s))).collect();
        let file = self.trial_file(trial);
        cx.files.make_folder(&self.folder).map_err(|e| Error::write(cx.files, &self.folder, e))?;
        let text = serde_json::to_string_pretty(&steps).unwrap_or_default();
        cx.files.write(&file, text.as_bytes()).map_err(|e| Error::write(cx.files, &file, e))
    }

    /// Results of the steps of a trial; empty if none was done yet.
    pub fn trial(&self, cx: &Context, trial: &str) -> Vec<StepOutcome> {
        let bytes = cx.files.read(&self.trial_file(trial)).unwrap_or_default();
        let steps: Vec<(String, Option<String>)> = serde_json::from_slice(&bytes).unwrap_or_default();
        let outcome = |(step, error): (String, Option<String>)| StepOutcome {
            trial: Some(trial.to_string()),
            step,
            result: error.map_or(Ok("done"), |message| Err(Error::Earlier { message })),
        };
        steps.into_iter().map(outcome).collect()
    }

    /// Locks the folder until the returned value is dropped, because two simultaneous runs would overwrite each other's
    /// files.
    pub fn lock(&self, cx: &Context, name: &str, lock: Lock, results: &Path) -> Result<Box<dyn Send>, Error> {
        let file = self.folder.join(name.replace(['/', ' '], "_"));
        let failed = |e| Error::write(cx.files, &file, e);
        cx.files.make_folder(&self.folder).map_err(failed)?;
        cx.files.lock(&file, lock).map_err(|e| match e.kind() {
            std::io::ErrorKind::WouldBlock => {
                let message = "another run is writing results to this folder";
                Error::content(
                    results,
                    0,
                    "",
                    message,
                    "wait until it has finished, or use another folder for `out`",
                )
            }
            _ => failed(e),
        })
    }

    fn trial_file(&self, trial: &str) -> PathBuf {
        self.folder.join(format!("steps of {trial}.json").replace(['/', ' '], "_"))
    }

    /// A name from the folder of the pipeline, if it is below it.
    fn short(&self, path: &Path) -> PathBuf {
        let path = plain(path);
        path.strip_prefix(&self.home).map(Path::to_path_buf).unwrap_or(path)
    }

    /// The digest of a request in JSON, whatever folder the pipeline lies in: names of files below it begin there.
    fn digest_of(&self, request: &str) -> String {
        let home = serde_json::to_string(&self.home).unwrap_or_default();
        let home = home.strip_suffix('"').unwrap_or(&home).trim_end_matches('/');
        digest(request.replace(&format!("{home}/"), "\"/").as_bytes())
    }

    fn file(&self, step: &str) -> PathBuf {
        self.folder.join(format!("{}.json", step.replace(['/', ' '], "_")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Files, Memory};

    /// The name of the folder was taken out wherever its letters stood: of a pipeline in `/` every slash, so that other files could pass
    /// for the same.
    #[test]
    fn issue_one_library_a_request_is_known_in_whatever_folder() {
        let digest = |home: &str, request: &str| {
            StepMemory::new(Path::new(home), &Path::new(home).join("results")).digest_of(request)
        };
        let below = digest("/s", r#"{"model":"/s/a/b.osim","marker":"/static"}"#);
        assert_eq!(below, digest("/", r#"{"model":"/a/b.osim","marker":"/static"}"#));
        assert_eq!(below, digest("/home/me", r#"{"model":"/home/me/a/b.osim","marker":"/static"}"#));
        assert_ne!(below, digest("/", r#"{"model":"/ab.osim","marker":"/static"}"#));
    }

    /// What decides is the content of what was opened, under whatever name, and of what was written.
    #[test]
    fn issue_16_what_was_opened_decides() {
        let files = Memory::new().with("study/a b.mot", "1");
        let cx = Context::new(&files);
        let memory = StepMemory::new(Path::new("/study"), Path::new("/study/results"));
        let work = || {
            let opened = Opened::new(&files);
            opened.read(Path::new("/study/a b.mot")).unwrap();
            assert!(!opened.is_file(Path::new("/study/c.mot")));
            opened.write(Path::new("/study/results/out.sto"), b"2").unwrap();
            memory.remember(&cx, "step", "{}", &opened).unwrap();
        };
        assert!(!memory.has(&cx, "step", "{}"));
        work();
        assert!(memory.has(&cx, "step", "{}") && !memory.has(&cx, "step", "{1}"));
        for change in ["study/a b.mot", "study/c.mot", "study/results/out.sto"] {
            files.write(Path::new(change), b"other").unwrap();
            assert!(!memory.has(&cx, "step", "{}"), "{change}");
            files.remove(Path::new("study/c.mot")).unwrap();
            work();
        }
        files.remove(Path::new("study/results/out.sto")).unwrap();
        assert!(!memory.has(&cx, "step", "{}"));
    }
}

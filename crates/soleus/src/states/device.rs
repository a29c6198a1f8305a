//! Many parallel simulations of one model on a CUDA device, which is detected at run time.

use super::Evaluator;
use super::lanes::{refused, start};
use crate::error::Error;
use crate::files::Files;
use soleus_batch::cuda::{CudaError, KernelStore};
use soleus_batch::{BatchError, DevicePrograms, Evaluation, Layout, Step};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Many parallel simulations of one model on a device. Their data stay on the device and can be shared by address.
pub struct DeviceBatch {
    evaluator: Arc<Evaluator>,
    batch: soleus_batch::DeviceBatch,
    start: Vec<f64>,
}

/// Kernels in a folder, by their digests.
struct Folder<'a> {
    files: &'a dyn Files,
    path: PathBuf,
}

impl KernelStore for Folder<'_> {
    fn read(&self, digest: &str) -> Option<Vec<u8>> {
        self.files.read(&self.path.join(digest)).ok()
    }
    fn write(&mut self, digest: &str, binary: &[u8]) {
        // A kernel that cannot be kept is compiled again another time.
        let kept = self.files.make_folder(&self.path);
        let _ = kept.and_then(|()| self.files.write(&self.path.join(digest), binary));
    }
}

impl DeviceBatch {
    /// `count` copies at their initial state. The compiler NVRTC is searched under these names; kernels are cached in a
    /// folder.
    pub fn new(
        evaluator: Arc<Evaluator>,
        count: usize,
        single: bool,
        step: Step,
        libraries: &[String],
        (files, folder): (&dyn Files, &Path),
    ) -> Result<Self, Error> {
        let (model, system) = (&*evaluator.model, &*evaluator.system);
        let evaluation =
            Evaluation::record(model, system).map_err(|e| refused(&evaluator, &BatchError::Refused(e)))?;
        let program = evaluation.program();
        let compared = evaluation.check_reference(model, system, &program);
        compared.map_err(|e| refused(&evaluator, &BatchError::Wrong(e)))?;
        let mut start = start(system, &evaluation.layout);
        start.resize(evaluation.layout.inputs(), 1.0);
        let programs = DevicePrograms {
            step: evaluation.step_program(system, step),
            evaluate: program,
            layout: evaluation.layout.clone(),
            start: start.clone(),
        };
        let mut store = Folder { files, path: folder.to_path_buf() };
        let mut last = None;
        for library in libraries {
            match soleus_batch::DeviceBatch::new(&programs, count, single, library, &mut store) {
                Ok(batch) => return Ok(DeviceBatch { batch, start, evaluator }),
                Err(e @ CudaError::NoLibrary { .. }) => last = Some(e),
                Err(e) => return Err(failed(&evaluator, &e)),
            }
        }
        let none = CudaError::NoLibrary { library: "NVRTC".into(), hint: "" };
        Err(failed(&evaluator, &last.unwrap_or(none)))
    }

    /// Rows of coordinates, speeds, states of forces, controls and time.
    pub fn layout(&self) -> &Layout {
        self.batch.layout()
    }

    /// Number of copies.
    pub fn count(&self) -> usize {
        self.batch.copies()
    }

    /// Whether numbers are 32-bit.
    pub fn is_single(&self) -> bool {
        self.batch.is_single()
    }

    /// The address of a row on the device.
    pub fn address(&self, row: usize) -> u64 {
        self.batch.address(row)
    }

    /// Advances all copies by `dt` in `steps` steps, asynchronously.
    pub fn step(&mut self, dt: f64, steps: usize) -> Result<(), Error> {
        if !(dt > 0.0 && dt.is_finite()) || steps == 0 {
            let message = format!("a step of {dt} s in {steps} parts is not valid");
            return Err(self.evaluator.wrong(message, "give a time above zero"));
        }
        for _ in 0..steps {
            self.batch.step(dt / steps as f64).map_err(|e| failed(&self.evaluator, &e))?;
        }
        Ok(())
    }

    /// Waits until all steps are done.
    pub fn wait(&self) -> Result<(), Error> {
        self.batch.wait().map_err(|e| failed(&self.evaluator, &e))
    }

    /// Resets all copies to their initial state.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.batch.restart(&self.start).map_err(|e| failed(&self.evaluator, &e))
    }
}

fn failed(evaluator: &Evaluator, e: &CudaError) -> Error {
    evaluator.wrong(e.to_string(), "the back ends `lanes` and `engine` need no device")
}

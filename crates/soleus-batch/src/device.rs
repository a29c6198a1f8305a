//! Copies of a model on a CUDA device. Their data stay on the device and can be shared with other computations by
//! address.

use crate::evaluation::Layout;
use soleus_graph::cuda::{Compile, CudaError, Device, Kernel, KernelStore, Memory};
use soleus_graph::{Program, source};

/// Programs of a model for a device: evaluation, step, and initial values.
#[derive(Clone, Debug)]
pub struct DevicePrograms {
    /// Accelerations, rates and indicator: [`Evaluation::program`](crate::Evaluation::program).
    pub evaluate: Program,
    /// A step: [`Evaluation::step_program`](crate::Evaluation::step_program).
    pub step: Program,
    /// Layout of the inputs.
    pub layout: Layout,
    /// Initial inputs of a copy.
    pub start: Vec<f64>,
}

/// Copies of a model on a device, number i of copy k at `[i * n + k]`, with 32 or 64 bits.
pub struct DeviceBatch {
    device: Device,
    layout: Layout,
    copies: usize,
    single: bool,
    /// Inputs of an evaluation, and the length of a step after them.
    x: Memory,
    y: Memory,
    evaluate: Kernel,
    step: Kernel,
    blocks: usize,
    outputs: [usize; 2],
    time: f64,
    length: f64,
}

impl DeviceBatch {
    /// `copies` copies in their initial state. Kernels compiled before are loaded from the store.
    pub fn new(
        programs: &DevicePrograms,
        copies: usize,
        single: bool,
        library: &str,
        store: &mut dyn KernelStore,
    ) -> Result<DeviceBatch, CudaError> {
        let device = Device::first()?;
        let how = Compile {
            library: library.into(),
            architecture: device.architecture()?,
            fast: single,
            threads: 0,
        };
        let mut kernel = |program: &Program, name: &str| {
            let text = source::write_for_device(program, name, single);
            let binary = how.stored(&text, store)?;
            device.load(&binary, name)
        };
        let evaluate = kernel(&programs.evaluate, "evaluate")?;
        let step = kernel(&programs.step, "step")?;
        let layout = programs.layout.clone();
        let outputs = [programs.evaluate.outputs.len(), programs.step.outputs.len()];
        let size = if single { 4 } else { 8 };
        let x = device.allocate((layout.inputs() + 1) * copies * size)?;
        let y = device.allocate(outputs[0].max(outputs[1]) * copies * size)?;
        let blocks = usize::MAX;
        let time = programs.start[layout.time];
        let batch = DeviceBatch {
            device,
            layout,
            copies,
            single,
            x,
            y,
            evaluate,
            step,
            blocks,
            outputs,
            time,
            length: 0.0,
        };
        for (i, v) in programs.start.iter().enumerate() {
            batch.write(i, &vec![*v; copies])?;
        }
        batch.write(batch.layout.inputs(), &vec![0.0; copies])?;
        Ok(batch)
    }

    /// Number of copies.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Layout of the inputs.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether numbers are 32-bit.
    pub fn is_single(&self) -> bool {
        self.single
    }

    /// Sets the maximum number of simultaneous blocks of 128 copies: fewer blocks leave more cache to each.
    pub fn set_blocks(&mut self, blocks: usize) {
        self.blocks = blocks;
    }

    fn size(&self) -> usize {
        if self.single { 4 } else { 8 }
    }

    /// Address of row `i` of the inputs on the device: coordinates, speeds, states of forces, controls, time,
    /// parameters.
    pub fn address(&self, i: usize) -> u64 {
        self.x.address() + (i * self.copies * self.size()) as u64
    }

    /// Address of the results of the last evaluation or step.
    pub fn results(&self) -> u64 {
        self.y.address()
    }

    /// Writes rows of inputs, starting at row `i`.
    pub fn write(&self, i: usize, values: &[f64]) -> Result<(), CudaError> {
        let at = self.x.offset(i * self.copies * self.size());
        match self.single {
            true => self.device.write(at, &values.iter().map(|v| *v as f32).collect::<Vec<f32>>()),
            false => self.device.write(at, values),
        }
    }

    /// Reads rows of inputs.
    pub fn read(&self, rows: std::ops::Range<usize>) -> Result<Vec<f64>, CudaError> {
        self.read_from(self.x, rows)
    }

    fn read_from(&self, memory: Memory, rows: std::ops::Range<usize>) -> Result<Vec<f64>, CudaError> {
        let at = memory.offset(rows.start * self.copies * self.size());
        let count = rows.len() * self.copies;
        if self.single {
            let mut list = vec![0f32; count];
            self.device.read(at, &mut list)?;
            Ok(list.into_iter().map(f64::from).collect())
        } else {
            let mut list = vec![0f64; count];
            self.device.read(at, &mut list)?;
            Ok(list)
        }
    }

    /// Coordinates, speeds and states of forces of all copies.
    pub fn states(&self) -> Result<Vec<f64>, CudaError> {
        self.read(0..self.layout.z.end)
    }

    /// Accelerations, rates and indicator of all copies, computed on the device.
    pub fn evaluate(&self) -> Result<Vec<f64>, CudaError> {
        self.device.launch(self.evaluate, self.x, self.y, self.copies, self.blocks)?;
        self.device.wait()?;
        self.read_from(self.y, 0..self.outputs[0])
    }

    /// Advances all copies by one step of `h` seconds, asynchronously; [`wait`](Self::wait) waits for it.
    pub fn step(&mut self, h: f64) -> Result<(), CudaError> {
        if h != self.length {
            self.write(self.layout.inputs(), &vec![h; self.copies])?;
            self.length = h;
        }
        self.device.launch(self.step, self.x, self.y, self.copies, self.blocks)?;
        self.device.copy(self.x, self.y, self.layout.z.end * self.copies * self.size())?;
        self.time += h;
        self.write(self.layout.time, &vec![self.time; self.copies])
    }

    /// Sets all copies to the same inputs, starting with the coordinates and including time.
    pub fn restart(&mut self, start: &[f64]) -> Result<(), CudaError> {
        for (i, v) in start.iter().enumerate() {
            self.write(i, &vec![*v; self.copies])?;
        }
        self.time = start[self.layout.time];
        Ok(())
    }

    /// Waits until all steps are done.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.device.wait()
    }
}

impl Drop for DeviceBatch {
    fn drop(&mut self) {
        // Nothing can be done about a device that does not take its memory back.
        let _ = self.device.free(self.x);
        let _ = self.device.free(self.y);
    }
}

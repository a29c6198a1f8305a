//! A program for many copies on this CPU: machine code for AVX-512 (eight `f64` or sixteen `f32` at once) or AVX2 (four or eight), written here,
//! without a compiler on the user's machine. Elsewhere the reference interpreter computes copy by copy.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod assembler;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod compile;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod functions;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod machine;

use crate::program::Program;

/// How many copies are computed at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// As many as this CPU can.
    #[default]
    Widest,
    /// Four of `f64` or eight of `f32`, with AVX2.
    Avx2,
    /// One, by the reference interpreter.
    One,
}

/// A program ready for many copies. Shared by all threads.
pub struct Lanes {
    program: Program,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    machine: Option<machine::Machine>,
    single: bool,
}

impl Lanes {
    /// Prepares a program, in `f32` if `single`.
    pub fn new(program: Program, single: bool) -> Lanes {
        Lanes::of_width(program, single, Width::Widest)
    }

    /// The same for lanes of a width: what a machine with less would compute.
    pub fn of_width(program: Program, single: bool, width: Width) -> Lanes {
        Lanes {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            machine: match width {
                Width::One => None,
                width => machine::Machine::new(&program, single, width == Width::Avx2),
            },
            single,
            program,
        }
    }

    /// How copies are computed, in words.
    pub fn backend(&self) -> &'static str {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if let Some(machine) = &self.machine {
            return match (machine.kind, self.single) {
                (assembler::Kind::Avx512, true) => "AVX-512, 16 lanes of f32",
                (assembler::Kind::Avx512, false) => "AVX-512, 8 lanes of f64",
                (assembler::Kind::Avx2, true) => "AVX2, 8 lanes of f32",
                (assembler::Kind::Avx2, false) => "AVX2, 4 lanes of f64",
            };
        }
        if self.single { "interpreter, f32" } else { "interpreter, f64" }
    }

    /// How many inputs a copy has.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// How many outputs a copy has.
    pub fn outputs(&self) -> usize {
        self.program.outputs.len()
    }

    /// Computes `n` copies on several threads: input i of copy k is `x[i * n + k]`, output i `y[i * n + k]`. The bits are the same on any
    /// number of threads.
    ///
    /// # Panics
    ///
    /// If `x` or `y` has another length.
    pub fn run(&self, x: &[f64], y: &mut [f64], n: usize, threads: usize) {
        assert_eq!(x.len(), self.inputs() * n, "inputs of all copies");
        assert_eq!(y.len(), self.outputs() * n, "outputs of all copies");
        let block = if self.single { 16 } else { 8 };
        let blocks = n.div_ceil(block);
        let threads = threads.clamp(1, blocks.max(1));
        let share = blocks.div_ceil(threads).max(1) * block;
        let y = SharedOutput(y.as_mut_ptr());
        std::thread::scope(|scope| {
            for first in (0..n).step_by(share).skip(1) {
                let y = &y;
                scope.spawn(move || self.run_part(x, y, n, first..(first + share).min(n)));
            }
            self.run_part(x, &y, n, 0..share.min(n));
        });
    }

    fn run_part(&self, x: &[f64], y: &SharedOutput, n: usize, copies: std::ops::Range<usize>) {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if let Some(machine) = &self.machine {
            return machine.run(x, y, n, copies);
        }
        let mut input = vec![0.0; self.inputs()];
        for k in copies {
            for (i, v) in input.iter_mut().enumerate() {
                *v = x[i * n + k];
            }
            let out =
                if self.single { self.program.evaluate_f32(&input) } else { self.program.evaluate(&input) };
            for (i, v) in out.into_iter().enumerate() {
                // SAFETY: the index is within the slice, and copy k is this thread's alone.
                unsafe { *y.0.add(i * n + k) = v };
            }
        }
    }
}

/// Results of all copies; each thread writes those of its own copies.
struct SharedOutput(*mut f64);

// SAFETY: threads write to different copies, and nobody reads before they are done.
unsafe impl Sync for SharedOutput {}

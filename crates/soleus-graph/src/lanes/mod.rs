//! Evaluates a program for many copies on this CPU: machine code for AVX-512 (eight `f64` or sixteen `f32` at once) or
//! AVX2 (four or eight) is generated here, without a compiler on the user's machine. On other CPUs the reference
//! interpreter computes copy by copy.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod assembler;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod compile;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod functions;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod machine;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod vector;

use crate::program::Program;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of copies computed at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// As many as this CPU supports.
    #[default]
    Widest,
    /// Four of `f64` or eight of `f32`, with AVX2.
    Avx2,
    /// One, by the reference interpreter.
    One,
}

/// A compiled program for many copies. Shared by all threads.
pub struct Lanes {
    program: Program,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    machine: Option<machine::Machine>,
    single: bool,
}

impl Lanes {
    /// Compiles a program, in `f32` if `single`.
    pub fn new(program: Program, single: bool) -> Lanes {
        Lanes::of_width(program, single, Width::Widest)
    }

    /// The same with a given width, to reproduce the results of machines with fewer instructions.
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

    /// Description of the backend.
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

    /// Number of inputs per copy.
    pub fn inputs(&self) -> usize {
        self.program.inputs
    }

    /// Number of outputs per copy.
    pub fn outputs(&self) -> usize {
        self.program.outputs.len()
    }

    /// Computes `n` copies on several threads: input i of copy k is `x[i * n + k]`, output i `y[i * n + k]`. Results
    /// are bitwise independent of the number of threads.
    ///
    /// # Panics
    ///
    /// If `x` or `y` has a wrong length.
    pub fn run(&self, x: &[f64], y: &mut [f64], n: usize, threads: usize) {
        assert_eq!(x.len(), self.inputs() * n, "inputs of all copies");
        assert_eq!(y.len(), self.outputs() * n, "outputs of all copies");
        self.share(n, threads, Job { x: x.as_ptr(), y: y.as_mut_ptr(), n, advance: None }, &|| true);
    }

    /// Replaces the first inputs of each copy by the outputs, repeatedly and in place, for a program whose outputs are
    /// the next values of its first inputs, followed by an indicator. A copy with an output that is not finite, or with
    /// a nonzero indicator, keeps its inputs and is marked in `failed`.
    ///
    /// # Panics
    ///
    /// If `x` or `failed` has a wrong length, or there are more outputs than inputs.
    pub fn advance(&self, x: &mut [f64], n: usize, threads: usize, steps: Steps, failed: &mut [bool]) {
        self.advance_while(x, n, threads, steps, failed, &|| true);
    }

    /// Advances copies as [`advance`](Self::advance) does while `going_on`, which every thread asks before it takes some copies.
    /// Those that are not taken stay as they are. The calling thread takes copies too.
    ///
    /// # Panics
    ///
    /// As [`advance`](Self::advance).
    pub fn advance_while(
        &self,
        x: &mut [f64],
        n: usize,
        threads: usize,
        steps: Steps,
        failed: &mut [bool],
        going_on: &(dyn Fn() -> bool + Sync),
    ) {
        assert_eq!(x.len(), self.inputs() * n, "inputs of all copies");
        assert_eq!(failed.len(), n, "a mark for each copy");
        assert!(self.outputs() <= steps.time + 1 && steps.time < self.inputs(), "states come first");
        let advance = Some((steps, failed.as_mut_ptr()));
        self.share(n, threads, Job { x: x.as_ptr(), y: x.as_mut_ptr(), n, advance }, going_on);
    }

    /// Threads take some copies at a time until none is left: one that is held up by others on the machine holds up nobody. The fewer
    /// are left, the fewer they take, so that all end at nearly the same time.
    fn share(&self, n: usize, threads: usize, job: Job, going_on: &(dyn Fn() -> bool + Sync)) {
        let threads = threads.clamp(1, n.div_ceil(FEWEST_AT_A_TIME).max(1));
        let next = AtomicUsize::new(0);
        let size = |left: usize| {
            let share = left / (4 * threads) / FEWEST_AT_A_TIME * FEWEST_AT_A_TIME;
            share.clamp(FEWEST_AT_A_TIME, MOST_AT_A_TIME).min(left)
        };
        let take = || {
            if !going_on() {
                return None;
            }
            let later = |at: usize| (at < n).then(|| at + size(n - at));
            let at = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).ok()?;
            Some(at..at + size(n - at))
        };
        let (job, take) = (&job, &take);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(move || self.run_some(job, take));
            }
            self.run_some(job, take);
        });
    }

    fn run_some(&self, job: &Job, take: &dyn Fn() -> Option<Range<usize>>) {
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        if let Some(machine) = &self.machine {
            return machine.run(job, take);
        }
        let mut input = vec![0.0; self.inputs()];
        while let Some(copies) = take() {
            for k in copies {
                for (i, v) in input.iter_mut().enumerate() {
                    // SAFETY: the index is within the inputs, and copy k is this thread's alone.
                    *v = unsafe { *job.x.add(i * job.n + k) };
                }
                let compute = |x: &[f64]| match self.single {
                    true => self.program.evaluate_f32(x),
                    false => self.program.evaluate(x),
                };
                let Some((steps, failed)) = job.advance else {
                    for (i, v) in compute(&input).into_iter().enumerate() {
                        // SAFETY: within the outputs, and of this thread's copy.
                        unsafe { *job.y.add(i * job.n + k) = v };
                    }
                    continue;
                };
                let mut done = 0;
                while done < steps.count {
                    let out = compute(&input);
                    let (doubt, states) = out.split_last().map_or((0.0, &[][..]), |(d, s)| (*d, s));
                    if doubt != 0.0 || !states.iter().all(|v| v.is_finite()) {
                        // SAFETY: a mark of this thread's copy.
                        unsafe { *failed.add(k) = true };
                        break;
                    }
                    input[..states.len()].copy_from_slice(states);
                    input[steps.time] += steps.length;
                    done += 1;
                }
                for (i, v) in input.iter().take(self.outputs() - 1).enumerate() {
                    // SAFETY: the first inputs of this thread's copy, which nobody reads before all is done.
                    unsafe { *job.y.add(i * job.n + k) = *v };
                }
                // SAFETY: as above.
                unsafe { *job.y.add(steps.time * job.n + k) += done as f64 * steps.length };
            }
        }
    }
}

/// Copies that a thread takes at once: at least one group of lanes of every width, and enough at first that taking them costs nothing.
const FEWEST_AT_A_TIME: usize = 16;
const MOST_AT_A_TIME: usize = 64;

/// Time steps of the copies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Number of steps.
    pub count: usize,
    /// Index of the time input, which increases by `length` in each step.
    pub time: usize,
    /// Length of a step.
    pub length: f64,
}

/// What is computed of all copies. Each copy is one thread's.
struct Job {
    x: *const f64,
    y: *mut f64,
    n: usize,
    /// In place, with a mark for each copy.
    advance: Option<(Steps, *mut bool)>,
}

// SAFETY: threads read and write numbers of different copies, and nobody else does before they are done.
unsafe impl Sync for Job {}

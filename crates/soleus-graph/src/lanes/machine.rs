//! Executes machine code and functions, stage by stage.

use super::assembler::{Executable, Kind};
use super::compile::{ALL_BUT_SIGN_F32, Compiled, Output, compile};
use super::functions;
use super::vector::{Lane, Vector};
use super::{Job, MOST_AT_A_TIME, Steps};
use crate::graph::Table;
use crate::program::Program;
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::ops::Range;

/// One or two places: 64 bytes, where machine code likes them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Place([u8; 64]);

/// Numbers of a group of copies; lanes without a copy repeat the last one.
#[inline(always)]
fn group_of<T: Lane, const N: usize>(from: &[f64]) -> [T; N] {
    let mut lanes = [T::ZERO; N];
    if let Ok(from) = <&[f64; N]>::try_from(from) {
        for l in 0..N {
            lanes[l] = T::from_f64(from[l]);
        }
    } else {
        for l in 0..N {
            lanes[l] = T::from_f64(from[l.min(from.len() - 1)]);
        }
    }
    lanes
}

/// The inverse of [`group_of`].
#[inline(always)]
fn copies_of<T: Lane, const N: usize>(lanes: &[T; N], to: &mut [f64]) {
    if let Ok(to) = <&mut [f64; N]>::try_from(&mut *to) {
        for l in 0..N {
            to[l] = lanes[l].to_f64();
        }
    } else {
        to.iter_mut().zip(lanes).for_each(|(to, lane)| *to = lane.to_f64());
    }
}

pub(super) struct Machine {
    compiled: Compiled,
    executable: Executable,
    tables: Vec<Table>,
    inputs: usize,
    constants: Vec<u8>,
    single: bool,
    pub kind: Kind,
}

impl Machine {
    /// Code for a program, for AVX-512 unless only AVX2 is available or `narrow`; `None` if the CPU has neither or the
    /// system does not allow generated code.
    pub fn new(program: &Program, single: bool, narrow: bool) -> Option<Machine> {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        let kind = if wide && !narrow {
            Kind::Avx512
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            Kind::Avx2
        } else {
            return None;
        };
        let compiled = compile(program, single, kind);
        // AVX2 has no instruction that repeats a number of memory on its way.
        let (size, times) = if single { (4, kind.bytes() / 4) } else { (8, kind.bytes() / 8) };
        let times = if kind == Kind::Avx2 { times } else { 1 };
        let mut constants = Vec::with_capacity(compiled.constants.len() * size * times);
        for x in &compiled.constants {
            for _ in 0..times {
                if single {
                    let bits = match x.to_bits() == ALL_BUT_SIGN_F32.to_bits() {
                        true => i32::MAX as u32,
                        false => (*x as f32).to_bits(),
                    };
                    constants.extend(bits.to_le_bytes());
                } else {
                    constants.extend(x.to_le_bytes());
                }
            }
        }
        let executable = Executable::new(&compiled.code)?;
        let tables = program.tables.clone();
        Some(Machine { compiled, executable, tables, inputs: program.inputs, constants, single, kind })
    }

    pub fn run(&self, job: &Job, take: &dyn Fn() -> Option<Range<usize>>) {
        // SAFETY: `new` found the instructions of this kind.
        unsafe {
            match (self.kind, self.single) {
                (Kind::Avx512, true) => self.run_wide::<__m512, f32, 16>(job, take),
                (Kind::Avx512, false) => self.run_wide::<__m512d, f64, 8>(job, take),
                (Kind::Avx2, true) => self.run_narrow::<__m256, f32, 8>(job, take),
                (Kind::Avx2, false) => self.run_narrow::<__m256d, f64, 4>(job, take),
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,fma")]
    fn run_wide<V: Vector<Number = T>, T: Lane, const N: usize>(
        &self,
        job: &Job,
        take: &dyn Fn() -> Option<Range<usize>>,
    ) {
        self.run_lanes::<V, T, N>(job, take);
    }

    #[target_feature(enable = "avx2,fma")]
    fn run_narrow<V: Vector<Number = T>, T: Lane, const N: usize>(
        &self,
        job: &Job,
        take: &dyn Fn() -> Option<Range<usize>>,
    ) {
        self.run_lanes::<V, T, N>(job, take);
    }

    #[inline(always)]
    fn run_lanes<V: Vector<Number = T>, T: Lane, const N: usize>(
        &self,
        job: &Job,
        take: &dyn Fn() -> Option<Range<usize>>,
    ) {
        let mut places = vec![Place([0; 64]); self.compiled.places as usize];
        let base: *mut [T; N] = places.as_mut_ptr().cast();
        for &(place, value) in &self.compiled.filled {
            // SAFETY: the place is one of those; its bytes are N numbers of type T, or half of the 64 for AVX2.
            unsafe { *base.add(place as usize) = [T::from_f64(value); N] };
        }
        // Inputs and outputs of the groups of N copies that are taken at once. They are converted number by number, as they
        // lie in memory: group by group, every page of them would be visited again.
        let groups = MOST_AT_A_TIME.div_ceil(N);
        let (inputs, outputs) = (self.inputs, self.compiled.outputs.len());
        let mut before = vec![[T::ZERO; N]; groups * inputs];
        let mut after = vec![[T::ZERO; N]; groups * outputs];
        while let Some(copies) = take() {
            for i in 0..inputs {
                // SAFETY: inputs of copies that are this thread's alone.
                let row =
                    unsafe { std::slice::from_raw_parts(job.x.add(i * job.n + copies.start), copies.len()) };
                for (group, from) in row.chunks(N).enumerate() {
                    before[group * inputs + i] = group_of(from);
                }
            }
            for (group, first) in copies.clone().step_by(N).enumerate() {
                let from = &before[group * inputs..(group + 1) * inputs];
                // SAFETY: inputs are the first places.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), base, inputs) };
                if let Some((steps, failed)) = job.advance {
                    let count = N.min(copies.end - first);
                    self.advance::<V, T, N>(base, job, steps, failed, first..first + count);
                } else {
                    self.run_stages::<V, T, N>(base);
                    for (i, to) in after[group * outputs..(group + 1) * outputs].iter_mut().enumerate() {
                        *to = self.output::<V, T, N>(base, i);
                    }
                }
            }
            if job.advance.is_none() {
                for i in 0..outputs {
                    // SAFETY: results of copies that are this thread's alone.
                    let row = unsafe {
                        std::slice::from_raw_parts_mut(job.y.add(i * job.n + copies.start), copies.len())
                    };
                    for (group, to) in row.chunks_mut(N).enumerate() {
                        copies_of(&after[group * outputs + i], to);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn run_stages<V: Vector<Number = T>, T: Lane, const N: usize>(&self, base: *mut [T; N]) {
        for (begin, calls) in &self.compiled.stages {
            // SAFETY: the stage begins there, and places and constants are all that it names.
            unsafe { self.executable.run(*begin, base.cast(), self.constants.as_ptr()) };
            for calls in calls.chunk_by(|a, b| a.op == b.op) {
                // SAFETY: places of a call are places of this machine, whose instructions the CPU has.
                unsafe { functions::compute::<V>(calls, base.cast(), &self.tables) };
            }
        }
    }

    #[inline(always)]
    fn output<V: Vector<Number = T>, T: Lane, const N: usize>(&self, base: *mut [T; N], i: usize) -> [T; N] {
        match self.compiled.outputs[i] {
            Output::Constant(c) => [T::from_f64(c); N],
            // SAFETY: a place of this machine.
            Output::Place(place) => unsafe { *base.add(place as usize) },
        }
    }

    /// Steps of the copies whose inputs are in the first places.
    #[inline(always)]
    fn advance<V: Vector<Number = T>, T: Lane, const N: usize>(
        &self,
        base: *mut [T; N],
        job: &Job,
        steps: Steps,
        failed: *mut bool,
        copies: Range<usize>,
    ) {
        let states = self.compiled.outputs.len() - 1;
        // Outputs may be in places of inputs, or in each other's: all are taken before any is written.
        let mut next = vec![[T::ZERO; N]; states];
        let (mut good, mut done) = ([true; N], [0usize; N]);
        for _ in 0..steps.count {
            self.run_stages::<V, T, N>(base);
            let doubt = self.output::<V, T, N>(base, states);
            // Not 0 as soon as one output is not finite.
            let mut sum = [0.0; N];
            for (i, next) in next.iter_mut().enumerate() {
                *next = self.output::<V, T, N>(base, i);
                for l in 0..N {
                    sum[l] += next[l].to_f64() * 0.0;
                }
            }
            for l in 0..N {
                good[l] &= sum[l] == 0.0 && doubt[l].to_f64() == 0.0;
                done[l] += usize::from(good[l]);
            }
            for (i, next) in next.iter().enumerate() {
                for l in 0..N {
                    if good[l] {
                        // SAFETY: inputs are the first places.
                        unsafe { (*base.add(i))[l] = next[l] };
                    }
                }
            }
            for l in 0..N {
                // SAFETY: as above.
                let time = unsafe { &mut (*base.add(steps.time))[l] };
                *time = T::from_f64(time.to_f64() + if good[l] { steps.length } else { 0.0 });
            }
        }
        let n = job.n;
        for (l, copy) in copies.enumerate() {
            for i in 0..states {
                // SAFETY: inputs of a copy of this thread, which nobody reads before all is done.
                unsafe { *job.y.add(i * n + copy) = (*base.add(i))[l].to_f64() };
            }
            // SAFETY: as above.
            unsafe {
                *job.y.add(steps.time * n + copy) += done[l] as f64 * steps.length;
                *failed.add(copy) |= !good[l];
            }
        }
    }
}

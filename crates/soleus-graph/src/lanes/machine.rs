//! Executes machine code and functions, stage by stage.

use super::assembler::{Executable, Kind};
use super::compile::{ALL_BUT_SIGN_F32, Call, Compiled, Output, compile};
use super::functions;
use super::{Job, Steps};
use crate::graph::{Op, Table};
use crate::program::Program;
use soleus_math::elementary;
use std::ops::Range;

/// One or two places: 64 bytes, where machine code likes them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Place([u8; 64]);

/// Numbers of a place.
trait Lane: Copy {
    const ZERO: Self;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
}
impl Lane for f64 {
    const ZERO: f64 = 0.0;
    fn from_f64(x: f64) -> f64 {
        x
    }
    fn to_f64(self) -> f64 {
        self
    }
}
impl Lane for f32 {
    const ZERO: f32 = 0.0;
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
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
                (Kind::Avx512, true) => self.run_wide::<f32, 16>(job, take),
                (Kind::Avx512, false) => self.run_wide::<f64, 8>(job, take),
                (Kind::Avx2, true) => self.run_narrow::<f32, 8>(job, take),
                (Kind::Avx2, false) => self.run_narrow::<f64, 4>(job, take),
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    fn run_wide<T: Lane, const N: usize>(&self, job: &Job, take: &dyn Fn() -> Option<Range<usize>>) {
        self.run_lanes::<T, N>(job, take);
    }

    #[target_feature(enable = "avx2,fma")]
    fn run_narrow<T: Lane, const N: usize>(&self, job: &Job, take: &dyn Fn() -> Option<Range<usize>>) {
        self.run_lanes::<T, N>(job, take);
    }

    #[inline(always)]
    fn run_lanes<T: Lane, const N: usize>(&self, job: &Job, take: &dyn Fn() -> Option<Range<usize>>) {
        let mut places = vec![Place([0; 64]); self.compiled.places as usize];
        let base: *mut [T; N] = places.as_mut_ptr().cast();
        for &(place, value) in &self.compiled.filled {
            // SAFETY: the place is one of those; its bytes are N numbers of type T, or half of the 64 for AVX2.
            unsafe { *base.add(place as usize) = [T::from_f64(value); N] };
        }
        while let Some(copies) = take() {
            for first in copies.clone().step_by(N) {
                let count = N.min(copies.end - first);
                for i in 0..self.inputs {
                    // SAFETY: inputs of copies that are this thread's alone.
                    let from = unsafe { std::slice::from_raw_parts(job.x.add(i * job.n + first), count) };
                    let mut lanes = [T::ZERO; N];
                    for l in 0..N {
                        // Lanes without a copy repeat the last one.
                        lanes[l] = T::from_f64(from[l.min(count - 1)]);
                    }
                    // SAFETY: inputs are the first places.
                    unsafe { *base.add(i) = lanes };
                }
                match job.advance {
                    None => {
                        self.run_stages::<T, N>(base);
                        for i in 0..self.compiled.outputs.len() {
                            let lanes = self.output::<T, N>(base, i);
                            for (l, v) in lanes.iter().take(count).enumerate() {
                                // SAFETY: within the results of all copies, and of a copy of this thread.
                                unsafe { *job.y.add(i * job.n + first + l) = v.to_f64() };
                            }
                        }
                    }
                    Some((steps, failed)) => {
                        self.advance::<T, N>(base, job, steps, failed, first..first + count)
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn run_stages<T: Lane, const N: usize>(&self, base: *mut [T; N]) {
        for (begin, calls) in &self.compiled.stages {
            // SAFETY: the stage begins there, and places and constants are all that it names.
            unsafe { self.executable.run(*begin, base.cast(), self.constants.as_ptr()) };
            for call in calls {
                self.call::<T, N>(call, base);
            }
        }
    }

    #[inline(always)]
    fn output<T: Lane, const N: usize>(&self, base: *mut [T; N], i: usize) -> [T; N] {
        match self.compiled.outputs[i] {
            Output::Constant(c) => [T::from_f64(c); N],
            // SAFETY: a place of this machine.
            Output::Place(place) => unsafe { *base.add(place as usize) },
        }
    }

    /// Steps of the copies whose inputs are in the first places.
    #[inline(always)]
    fn advance<T: Lane, const N: usize>(
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
            self.run_stages::<T, N>(base);
            let doubt = self.output::<T, N>(base, states);
            // Not 0 as soon as one output is not finite.
            let mut sum = [0.0; N];
            for (i, next) in next.iter_mut().enumerate() {
                *next = self.output::<T, N>(base, i);
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

    #[inline(always)]
    fn call<T: Lane, const N: usize>(&self, call: &Call, base: *mut [T; N]) {
        // SAFETY: places of a call are places of this machine.
        let read = |place: u32| unsafe { (*base.add(place as usize)).map(T::to_f64) };
        let a: [f64; N] = read(call.a);
        let y = match call.op {
            Op::Exp => functions::exp(&a),
            Op::Ln => functions::ln(&a),
            Op::Sin => functions::sin(&a, 0),
            Op::Cos => functions::sin(&a, 1),
            Op::Tanh => functions::tanh(&a),
            Op::Sinh => functions::sinh(&a),
            Op::Cosh => functions::cosh(&a),
            Op::Pow => a.map(|a| elementary::powf(a, call.power)),
            Op::Atan2 => {
                let b = read(call.b);
                std::array::from_fn(|l| elementary::atan2(a[l], b[l]))
            }
            Op::Rank => a.map(|a| self.tables[call.b as usize].rank(a)),
            Op::Cell => {
                let Table { values, width } = &self.tables[call.b as usize];
                let (width, column) = (*width as u32, call.column as usize);
                let last = f64::from(values.len() as u32 / width - 1);
                a.map(|a| values[(a.min(last) as u32 * width) as usize + column])
            }
            op => a.map(|a| op.compute(a, 0.0, 0.0)),
        };
        // SAFETY: as above.
        unsafe { *base.add(call.to as usize) = y.map(T::from_f64) };
    }
}

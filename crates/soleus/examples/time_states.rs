//! What evaluating states costs in Rust, for benches/python_overhead.py.
//!
//! usage: cargo run --profile wheel -p soleus --example time_states MODEL.osim [COPIES]
//!
//! Prints JSON: the time of one accelerations' evaluation alone, of each of 10 000 in arrays on one thread and on two, and of a step of each of 256
//! copies (or as many as asked for) that begin anew each time, µs; the smallest of several runs. On one thread it is processor time where the system tells it, so that others may
//! compute at the same time; on two it is that of the clock.

use soleus::engine::dynamics::{Options, State};
use soleus::engine::math::Random;
use soleus::states::batch::Copies;
use soleus::states::{Batch, BatchMethod, Evaluator, Rows, States};
use soleus::{Context, Disk};
use std::sync::Arc;
use std::time::Instant;

const STATES: usize = 10_000;

/// Processor time of this thread, s.
#[cfg(target_os = "linux")]
fn processor_seconds() -> f64 {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const OF_THIS_THREAD: i32 = 3;
    let mut t = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: the function of POSIX, which writes two numbers of 64 bits; `t` has room for them.
    unsafe { clock_gettime(OF_THIS_THREAD, &mut t) };
    t.seconds as f64 + 1e-9 * t.nanoseconds as f64
}

/// The clock, where processor time is not asked for.
#[cfg(not(target_os = "linux"))]
fn processor_seconds() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |d| d.as_secs_f64())
}

fn best(runs: usize, calls: usize, mut f: impl FnMut()) -> f64 {
    f();
    let one = |f: &mut dyn FnMut()| {
        let begin = processor_seconds();
        (0..calls).for_each(|_| f());
        (processor_seconds() - begin) / calls as f64
    };
    (0..runs).map(|_| one(&mut f)).fold(f64::INFINITY, f64::min)
}

/// The same by the clock, for what runs on several threads.
fn best_by_clock(runs: usize, mut f: impl FnMut()) -> f64 {
    let one = |f: &mut dyn FnMut()| {
        let begin = Instant::now();
        f();
        begin.elapsed().as_secs_f64()
    };
    (0..runs).map(|_| one(&mut f)).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a model")?;
    let files = Disk::new();
    let cx = Context::new(&files);
    let document = Arc::new(soleus::inputs::model::document(&cx, &path.as_str().into())?);
    let (model, system) = soleus::inputs::model::system(&cx, &path.as_str().into(), &Options::default())?;
    let evaluator = Arc::new(Evaluator::new(Arc::new(model), Arc::new(system)));
    let s = &evaluator.system;
    let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);

    // States as those of the Python program: about the default one, muscles in equilibrium. The numbers are others.
    let mut random = Random::new(1);
    let (mut q, mut u, mut z, e) = (Vec::new(), Vec::new(), Vec::new(), vec![0.05; STATES * ne]);
    let mut ws = s.workspace();
    for _ in 0..STATES {
        let mut x: State<f64> = s.default_state.clone();
        x.q.iter_mut().for_each(|q| *q += 0.02 * random.signed());
        x.u.iter_mut().for_each(|u| *u += 0.2 * random.signed());
        s.solve_equilibrium(&mut x, &e[..ne], &mut ws);
        q.extend(x.q);
        u.extend(x.u);
        z.extend(x.z);
    }

    let x = State { time: 0.0, q: q[..n].to_vec(), u: u[..n].to_vec(), z: z[..nz].to_vec() };
    let one = best(40, 1000, || {
        let _ = s.compute_motion(std::hint::black_box(&x), &e[..ne], &mut ws);
    });
    let states = States {
        q: Some(Rows::each(&q, STATES)),
        u: Some(Rows::each(&u, STATES)),
        z: Some(Rows::each(&z, STATES)),
        e: Some(Rows::each(&e, STATES)),
        ..States::default()
    };
    let udot = [evaluator.quantity("udot")?];
    let mut out = vec![0.0; STATES * n];
    // The plain loop that a program of one's own would have.
    let mut row = x.clone();
    let plain = best(20, 1, || {
        for i in 0..STATES {
            row.q.copy_from_slice(&q[i * n..(i + 1) * n]);
            row.u.copy_from_slice(&u[i * n..(i + 1) * n]);
            row.z.copy_from_slice(&z[i * nz..(i + 1) * nz]);
            let _ = s.compute_motion(&row, &e[i * ne..(i + 1) * ne], &mut ws);
            out[i * n..(i + 1) * n].copy_from_slice(&ws.udot);
        }
    });
    let two = best_by_clock(60, || {
        let _ = evaluator.evaluate(&states, &udot, &mut [&mut out[..]], 2);
    });
    let copies = std::env::args().nth(2).map_or(Ok(256), |n| n.parse::<usize>())?.min(STATES);
    let start = [q.clone(), u.clone(), z.clone()];
    let batch = Batch::new(evaluator.clone(), document, copies, BatchMethod::Rosenbrock, 1e-3);
    let mut time = vec![0.0; copies];
    let step = best(if copies > 1000 { 9 } else { 40 }, 1, || {
        time.fill(0.0);
        for (list, start) in [(&mut q, &start[0]), (&mut u, &start[1]), (&mut z, &start[2])] {
            list.copy_from_slice(start);
        }
        let copies = Copies {
            time: &mut time,
            q: &mut q[..copies * n],
            u: &mut u[..copies * n],
            z: &mut z[..copies * nz],
            e: &e[..copies * ne],
        };
        let _ = batch.step(copies, 1e-4, 1, 1);
    });
    let us = |seconds: f64, count: usize| 1e6 * seconds / count as f64;
    println!(
        "{{\"one_us\": {}, \"many_us\": {}, \"two_threads_us\": {}, \"batch_step_us\": {}}}",
        us(one, 1),
        us(plain, STATES),
        us(two, STATES),
        us(step, copies)
    );
    Ok(())
}

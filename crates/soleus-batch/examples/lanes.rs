//! Evaluations per second on this CPU, the engine and lanes in one run: `lanes MODEL [ORDER]`, with paths fitted to polynomials up to an order.

use soleus_batch::{Evaluation, ImplicitEvaluation, Step};
use soleus_dynamics::System;
use soleus_graph::lanes::{Lanes, Width};
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;
use std::time::Instant;

#[repr(C)]
struct Time {
    s: i64,
    ns: i64,
}
unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
}

/// Time that this thread has computed, s: what others do on the machine does not count.
fn own_time() -> f64 {
    let mut t = Time { s: 0, ns: 0 };
    // SAFETY: 3 is CLOCK_THREAD_CPUTIME_ID of Linux, and the time is written to a struct of its layout.
    unsafe { clock_gettime(3, &mut t) };
    t.s as f64 + 1e-9 * t.ns as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("usage: lanes MODEL [ORDER [degroote]]")?;
    let order: usize = arguments.get(1).map_or(Ok(0), |o| o.parse())?;
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let mut model = model.ok_or("not a model")?;
    if arguments.get(2).is_some() {
        ModelOperator::ReplaceMusclesWithDeGrooteFregly2016.change(&mut model)?;
    }
    if order > 0 {
        let system = System::compile(&model)?;
        let options = FitOptions { max_order: order, ..FitOptions::default() };
        let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
        let good = fitted.iter().filter(|f| f.converged).count();
        println!("{} paths fitted, {good} within tolerance", fitted.len());
        for f in fitted {
            model.forces[f.force].line_of_action = Some(ModelPath::FunctionBased(f.path));
        }
    }
    let system = System::compile(&model)?;
    let start = Instant::now();
    let evaluation = Evaluation::record(&model, &system)?;
    let program = evaluation.program();
    println!(
        "recorded in {:.1} ms: {} operations asked for, {} computed, {} of them costly",
        start.elapsed().as_secs_f64() * 1e3,
        evaluation.graph.asked,
        program.operations(),
        program.costly()
    );
    let n = 4096;
    let states = Evaluation::random_states(&model, &system, n, 9);
    let mut ws = system.workspace::<f64>();
    let pairs: Vec<_> = states.iter().take(256).map(|x| evaluation.layout.state(x)).collect();
    let mut engine = f64::INFINITY;
    for _ in 0..5 {
        let start = own_time();
        for (s, e) in &pairs {
            let _ = system.compute_motion(s, e, &mut ws);
        }
        engine = engine.min((own_time() - start) / pairs.len() as f64);
    }
    println!("engine: {:.2} µs", engine * 1e6);
    let step = evaluation.step_program(&system, Step::LinearlyImplicit);
    let gradient = evaluation.gradient_program();
    let implicit = ImplicitEvaluation::record(&model, &system)?;
    let (residuals, by_residuals) = (implicit.program(), implicit.gradient_program());
    for (what, program) in [
        ("evaluate", &program),
        ("step", &step),
        ("gradient", &gradient),
        ("residuals", &residuals),
        ("gradient of residuals", &by_residuals),
    ] {
        for (single, width) in
            [(false, Width::Widest), (true, Width::Widest), (false, Width::Avx2), (true, Width::Avx2)]
        {
            let start = Instant::now();
            let lanes = Lanes::of_width(program.clone(), single, width);
            let prepared = start.elapsed().as_secs_f64();
            let count = lanes.inputs();
            let value = |i: usize, k: usize| states[k].get(i).copied().unwrap_or(0.002);
            let x: Vec<f64> =
                (0..count).flat_map(|i| (0..n).map(move |k| (i, k))).map(|(i, k)| value(i, k)).collect();
            let mut y = vec![0.0; lanes.outputs() * n];
            let (mut best, mut own) = ([f64::INFINITY; 2], f64::INFINITY);
            for _ in 0..7 {
                for threads in [1, 2] {
                    let (start, mine) = (Instant::now(), own_time());
                    lanes.run(&x, &mut y, n, threads);
                    best[threads - 1] = best[threads - 1].min(start.elapsed().as_secs_f64() / n as f64);
                    if threads == 1 {
                        own = own.min((own_time() - mine) / n as f64);
                    }
                }
            }
            println!(
                "{what}, {}: {:.3} µs, {:.0}/s on one core, {:.1} times the engine; two threads {:.2} times one; {} operations, prepared in {:.0} ms",
                lanes.backend(),
                own * 1e6,
                1.0 / own,
                engine / own,
                best[0] / best[1],
                program.operations(),
                prepared * 1e3
            );
            if what == "evaluate" && width == Width::Widest {
                let agreement =
                    evaluation.check(&model, &system, if single { 1e-4 } else { 1e-12 }, &mut |states| {
                        let n = states.len();
                        let x: Vec<f64> =
                            (0..lanes.inputs()).flat_map(|i| states.iter().map(move |s| s[i])).collect();
                        let mut y = vec![f64::NAN; lanes.outputs() * n];
                        lanes.run(&x, &mut y, n, 1);
                        (0..n).map(|k| (0..lanes.outputs()).map(|i| y[i * n + k]).collect()).collect()
                    });
                println!("  {agreement:?}");
            }
        }
    }
    Ok(())
}

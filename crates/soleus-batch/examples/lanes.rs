//! Evaluations per second on this CPU, the engine and lanes in one run: `lanes MODEL [ORDER]`, with paths fitted to polynomials up to an order.

use soleus_batch::{Evaluation, Step};
use soleus_dynamics::System;
use soleus_graph::lanes::Lanes;
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;
use std::time::Instant;

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
        let start = Instant::now();
        for (s, e) in &pairs {
            let _ = system.compute_motion(s, e, &mut ws);
        }
        engine = engine.min(start.elapsed().as_secs_f64() / pairs.len() as f64);
    }
    println!("engine: {:.2} µs", engine * 1e6);
    let step = evaluation.step_program(&system, Step::LinearlyImplicit);
    let gradient = evaluation.gradient_program();
    for (what, program) in [("evaluate", &program), ("step", &step), ("gradient", &gradient)] {
        for single in [false, true] {
            let start = Instant::now();
            let lanes = Lanes::new(program.clone(), single);
            let prepared = start.elapsed().as_secs_f64();
            let width = lanes.inputs();
            let value = |i: usize, k: usize| states[k].get(i).copied().unwrap_or(0.002);
            let x: Vec<f64> =
                (0..width).flat_map(|i| (0..n).map(move |k| (i, k))).map(|(i, k)| value(i, k)).collect();
            let mut y = vec![0.0; lanes.outputs() * n];
            let mut best = [f64::INFINITY; 2];
            for _ in 0..7 {
                for threads in [1, 2] {
                    let start = Instant::now();
                    lanes.run(&x, &mut y, n, threads);
                    best[threads - 1] = best[threads - 1].min(start.elapsed().as_secs_f64() / n as f64);
                }
            }
            println!(
                "{what}, {}: {:.3} µs, {:.0}/s on one core, {:.1} times the engine; two threads {:.2} times one; {} operations, prepared in {:.0} ms",
                lanes.backend(),
                best[0] * 1e6,
                1.0 / best[0],
                engine / best[0],
                best[0] / best[1],
                program.operations(),
                prepared * 1e3
            );
            if what == "evaluate" {
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

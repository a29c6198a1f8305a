//! Errors of steps beside the engine: `steps MODEL [SECONDS [degroote]]`. The reference is the classical method of Runge and Kutta on the engine, with
//! steps of 10 µs, and with 20 µs to show its own error.

use soleus_batch::{Batch, BatchOptions, Evaluation, Step};
use soleus_dynamics::{State, System};
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;

/// Rates of all states.
fn rates(
    system: &System,
    x: &State<f64>,
    controls: &[f64],
    ws: &mut soleus_dynamics::Workspace<f64>,
) -> Vec<f64> {
    let mut qdot = x.u.clone();
    let _ = system.compute_motion(x, controls, ws);
    system.compute_coordinate_rates(x, &mut qdot);
    qdot.iter().chain(&ws.udot).chain(&ws.zdot).copied().collect()
}

fn moved(x: &State<f64>, rates: &[f64], h: f64) -> State<f64> {
    let mut y = x.clone();
    let all = y.q.iter_mut().chain(&mut y.u).chain(&mut y.z);
    all.zip(rates).for_each(|(x, r)| *x += h * r);
    y.time += h;
    y
}

fn reference(system: &System, controls: &[f64], seconds: f64, h: f64) -> Vec<f64> {
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    for _ in 0..(seconds / h).round() as usize {
        let a = rates(system, &x, controls, &mut ws);
        let b = rates(system, &moved(&x, &a, 0.5 * h), controls, &mut ws);
        let c = rates(system, &moved(&x, &b, 0.5 * h), controls, &mut ws);
        let d = rates(system, &moved(&x, &c, h), controls, &mut ws);
        let mean: Vec<f64> = (0..a.len()).map(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0).collect();
        x = moved(&x, &mean, h);
    }
    x.q.iter().chain(&x.u).chain(&x.z).copied().collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().ok_or("usage: steps MODEL [SECONDS [degroote]]")?;
    let seconds: f64 = arguments.get(1).map_or(Ok(0.1), |s| s.parse())?;
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let mut model = model.ok_or("not a model")?;
    if arguments.get(2).is_some() {
        ModelOperator::ReplaceMusclesWithDeGrooteFregly2016.change(&mut model)?;
    }
    let system = System::compile(&model)?;
    if Evaluation::record(&model, &system).is_err() {
        let options = FitOptions { max_order: 4, ..FitOptions::default() };
        for f in fit_paths(&model, &system, &options, &mut |_, _| true) {
            model.forces[f.force].line_of_action = Some(ModelPath::FunctionBased(f.path));
        }
    }
    let system = System::compile(&model)?;
    let controls = vec![0.1; system.num_controls];
    let wanted = reference(&system, &controls, seconds, 1e-5);
    let n = system.tree.num_mobilities;
    let kinds = [0..n, n..2 * n, 2 * n..wanted.len()];
    let show = |what: &str, y: &[f64]| {
        let errors: Vec<String> = kinds
            .iter()
            .map(|r| {
                r.clone().map(|i| (y[i] - wanted[i]).abs()).fold(0.0, |m: f64, e| if e <= m { m } else { e })
            })
            .map(|e| format!("{e:.1e}"))
            .collect();
        println!("| {what} | {} |", errors.join(" | "));
    };
    println!("| after {seconds} s | coordinates | speeds | states of forces |\n|---|---|---|---|");
    show("reference with 20 µs", &reference(&system, &controls, seconds, 2e-5));
    for step in [Step::SemiImplicit, Step::LinearlyImplicit] {
        for h in [0.0005, 0.001, 0.002] {
            let options = BatchOptions { step, threads: 1, ..BatchOptions::default() };
            let mut batch = Batch::new(&model, &system, 1, options)?;
            batch.controls_mut().fill(0.1);
            batch.rollout(h, (seconds / h).round() as usize, &mut |_, _| {});
            show(&format!("{step:?}, {} ms", h * 1e3), batch.states());
        }
    }
    Ok(())
}

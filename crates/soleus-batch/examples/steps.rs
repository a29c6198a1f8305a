//! Errors of steps beside the engine, and whether they are stable: `steps MODEL [SECONDS [degroote]]`. The reference is the classical method of Runge and
//! Kutta on the engine, with steps of 10 µs, and with 20 µs to show its own error. Then 64 copies with noise on pose and speeds go on for ten seconds.

use soleus_batch::{Batch, BatchOptions, Evaluation, Step};
use soleus_dynamics::{State, System};
use soleus_model::Model;
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;

/// The default state with activations that are the excitations, and fibers in equilibrium with their tendons.
fn start(system: &System, controls: &[f64]) -> State<f64> {
    let mut x = system.default_state.clone();
    for f in &system.forces {
        let activation = f.states.clone().find(|&i| system.aux_names[i].ends_with("/activation"));
        if let (Some(i), false) = (activation, f.controls.is_empty()) {
            x.z[i] = controls[f.controls.start];
        }
    }
    system.solve_equilibrium(&mut x, controls, &mut system.workspace());
    x
}

/// Puts all copies there.
fn begin(batch: &mut Batch, system: &System, control: f64) {
    let x = start(system, &vec![control; system.num_controls]);
    let n = batch.copies();
    for (i, v) in x.q.iter().chain(&x.u).chain(&x.z).enumerate() {
        batch.states_mut()[i * n..(i + 1) * n].fill(*v);
    }
    batch.controls_mut().fill(control);
}

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
    let mut x = start(system, controls);
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
        let options = FitOptions { max_order: 4, only_branching: true, ..FitOptions::default() };
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
    const STEPS: [Step; 3] = [Step::SemiImplicit, Step::ImplicitStates, Step::LinearlyImplicit];
    for step in STEPS {
        let options = BatchOptions { step, threads: 1, ..BatchOptions::default() };
        let mut batch = Batch::new(&model, &system, 1, options)?;
        for h in [0.000125, 0.00025, 0.0005, 0.001, 0.002] {
            begin(&mut batch, &system, 0.1);
            batch.rollout(h, (seconds / h).round() as usize, &mut |_, _| {});
            show(&format!("{step:?}, {} ms", h * 1e3), batch.states());
        }
    }
    println!(
        "\n| ten seconds | copies that end | first other one until | copies with a speed beyond 1000 1/s | largest speed of the others |\n|---|---|---|---|---|"
    );
    for step in STEPS {
        for (single, h) in [(false, 0.001), (false, 0.002), (true, 0.002)] {
            let options = BatchOptions { step, single, ..BatchOptions::default() };
            // In single precision a model may differ from the engine by more than is allowed.
            if let Err(refused) = stability(&model, &system, options, h) {
                println!("| {step:?}, {:.0} ms, single: {single} | {refused} | | | |", h * 1e3);
            }
        }
    }
    Ok(())
}

/// Whether copies from poses with one percent of noise go on for ten seconds with small excitations: a person who falls, and hangs from the ground by the
/// feet, which alone touch it.
fn stability(model: &Model, system: &System, options: BatchOptions, h: f64) -> Result<(), Box<dyn Error>> {
    const COPIES: usize = 64;
    // Speeds of coordinates, 1/s, that only a joint near the singularity of its angles has.
    const FAST: f64 = 1e3;
    let mut batch = Batch::new(model, system, COPIES, options)?;
    begin(&mut batch, system, 0.05);
    batch.add_noise(1, 0.01);
    let n = system.tree.num_mobilities;
    let (mut until, mut fastest) = ([10.0f64; COPIES], [0.0f64; COPIES]);
    for k in 0..(10.0 / h).round() as usize {
        batch.step(h);
        for c in (0..COPIES).filter(|&c| batch.failed()[c]) {
            until[c] = until[c].min(k as f64 * h);
        }
        for i in n..2 * n {
            let speeds = &batch.states()[i * COPIES..(i + 1) * COPIES];
            fastest.iter_mut().zip(speeds).for_each(|(f, u)| *f = f.max(u.abs()));
        }
        if until.iter().all(|t| *t < 10.0) {
            break;
        }
    }
    let whole = until.iter().filter(|t| **t == 10.0).count();
    let least = until.iter().copied().fold(10.0, f64::min);
    let slow = fastest.iter().copied().filter(|f| *f < FAST).fold(0.0, f64::max);
    let bits = if options.single { "f32" } else { "f64" };
    println!(
        "| {:?}, {:.0} ms, {bits} | {whole} of {COPIES} | {} | {} | {slow:.1} |",
        options.step,
        h * 1e3,
        if whole == COPIES { "–".to_string() } else { format!("{least:.3} s") },
        fastest.iter().filter(|f| **f >= FAST).count()
    );
    Ok(())
}

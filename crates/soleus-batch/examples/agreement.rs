//! How well recorded programs agree with the engine, as rows of a table: `agreement [--degroote] [--order N] MODEL …`.

use soleus_batch::{Evaluation, ImplicitEvaluation};
use soleus_dynamics::System;
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_graph::Program;
use soleus_graph::lanes::Lanes;
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;

fn main() {
    let (mut degroote, mut order) = (false, 4);
    let mut arguments = std::env::args().skip(1);
    println!(
        "| model | numbers | states | as they are, median / worst | with the implicit equations | residuals | gradient of residuals | gradient, median / worst |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--degroote" => degroote = true,
            "--order" => order = arguments.next().and_then(|o| o.parse().ok()).unwrap_or(4),
            file => {
                if let Err(e) = rows(file, degroote, order) {
                    println!("{file}: {e}");
                }
            }
        }
    }
}

/// Outputs of a program for inputs, by lanes.
fn run(program: &Program, single: bool, inputs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let lanes = Lanes::new(program.clone(), single);
    let n = inputs.len();
    let x: Vec<f64> = (0..lanes.inputs()).flat_map(|i| inputs.iter().map(move |s| s[i])).collect();
    let mut y = vec![f64::NAN; lanes.outputs() * n];
    lanes.run(&x, &mut y, n, 1);
    (0..n).map(|k| (0..lanes.outputs()).map(|i| y[i * n + k]).collect()).collect()
}

/// Median and worst of the norm errors.
fn errors(found: &[Vec<f64>], wanted: &[Option<Vec<f64>>]) -> [f64; 2] {
    let mut list: Vec<f64> = found
        .iter()
        .zip(wanted)
        .filter_map(|(y, w)| w.as_ref().filter(|w| w.iter().all(|w| w.is_finite())).map(|w| (y, w)))
        .map(|(y, w)| {
            let norm = |list: &mut dyn Iterator<Item = f64>| list.map(|x| x * x).sum::<f64>().sqrt();
            norm(&mut y.iter().zip(w).map(|(y, w)| y - w)) / norm(&mut w.iter().copied())
        })
        .collect();
    list.sort_by(f64::total_cmp);
    [list.get(list.len() / 2).copied().unwrap_or(f64::NAN), list.last().copied().unwrap_or(f64::NAN)]
}

fn rows(file: &str, degroote: bool, order: usize) -> Result<(), Box<dyn Error>> {
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let mut model = model.ok_or("not a model")?;
    if degroote {
        ModelOperator::ReplaceMusclesWithDeGrooteFregly2016.change(&mut model)?;
    }
    let system = System::compile(&model)?;
    if Evaluation::record(&model, &system).is_err() {
        let options = FitOptions { max_order: order, only_branching: true, ..FitOptions::default() };
        for f in fit_paths(&model, &system, &options, &mut |_, _| true) {
            model.forces[f.force].line_of_action = Some(ModelPath::FunctionBased(f.path));
        }
    }
    let system = System::compile(&model)?;
    let evaluation = Evaluation::record(&model, &system)?;
    let implicit = ImplicitEvaluation::record(&model, &system)?;
    let form = ImplicitSystem::new(&system);
    let mut ws = system.workspace::<f64>();
    let inputs = implicit.random_inputs(&model, &system, 64, 5);
    let residuals: Vec<Option<Vec<f64>>> =
        inputs.iter().map(|x| Some(implicit.residual(&form, x, &mut ws))).collect();
    let weights = |count: usize| (0..count).map(|i| f64::from((i as f64).cos() as f32)).collect::<Vec<f64>>();
    let w = weights(implicit.residuals.len());
    let gradients: Vec<_> =
        inputs.iter().take(16).map(|x| implicit.engine_gradient(&system, x, &w)).collect();
    let weighted: Vec<Vec<f64>> =
        inputs.iter().take(16).map(|x| x.iter().chain(&w).copied().collect()).collect();
    let states = Evaluation::random_states(&model, &system, 16, 5);
    let w = weights(evaluation.layout.outputs());
    let explicit: Vec<_> = states.iter().map(|x| evaluation.engine_gradient(&system, x, &w)).collect();
    let weighted_states: Vec<Vec<f64>> =
        states.iter().map(|x| x.iter().chain(&w).copied().collect()).collect();
    for single in [false, true] {
        let program = evaluation.program();
        let tolerance = if single { 1e-4 } else { 1e-12 };
        let check = evaluation.check(&model, &system, tolerance, &mut |states| run(&program, single, states));
        let shown = match check {
            Ok(a) => format!(
                "{} of {} ({} left out, {} rates singular) | {:.1e} / {:.1e} | {:.1e}",
                a.as_they_are,
                a.states,
                a.left_out,
                a.singular_rates,
                a.median_error,
                a.worst_as_they_are,
                a.norm_error
            ),
            Err(e) => e.to_string(),
        };
        let r = errors(&run(&implicit.program(), single, &inputs), &residuals);
        let g = errors(&run(&implicit.gradient_program(), single, &weighted), &gradients);
        let e = errors(&run(&evaluation.gradient_program(), single, &weighted_states), &explicit);
        println!(
            "| {} | {} | {shown} | {:.1e} | {:.1e} | {:.1e} / {:.1e} |",
            model.name,
            if single { "f32" } else { "f64" },
            r[1],
            g[1],
            e[0],
            e[1]
        );
    }
    Ok(())
}

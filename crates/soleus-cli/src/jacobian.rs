//! `soleus jacobian`: the implicit equations of a model and their Jacobians.

use crate::eval::{control_order, list, tree_order};
use crate::failure::Failure;
use crate::load;
use crate::plot::matches;
use crate::states::{self, Input};
use clap::Args;
use serde_json::{Value, json};
use soleus_dynamics::Options;
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitSystem, Parameter, SparseMatrix};
use soleus_dynamics::system::System;
use soleus_model::Model;
use soleus_viewer::plot::{Sparsity, SparsityPanel};
use std::path::PathBuf;

/// What `soleus jacobian` is told.
#[derive(Args)]
#[command(after_help = "Examples:\n  soleus jacobian arm26.osim --out jacobian.json --plot jacobian.svg\n  \
    soleus jacobian arm26.osim --out jacobian.json --parameters '/forceset/*/optimal_fiber_length,/bodyset/*/mass'\n\n\
    The equations are f(x, xdot, e, lambda) = 0: kinematics, inverse dynamics, muscles, constraints. The states file is that of\n\
    `soleus eval`; a state may also hold `xdot` and `lambda`, lists in the order of `state_order` and `constraint_order`.\n\
    Without them they are those of the motion, and the residual is zero.")]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// JSON file with the states; without it the model's default state
    #[arg(long, value_name = "IN.json")]
    states: Option<PathBuf>,
    /// JSON file to write; `-` for stdout
    #[arg(long, value_name = "OUT.json", required_unless_present_any = ["plot", "parameters"])]
    out: Option<PathBuf>,
    /// Numbers of the model to differentiate by as well, by component and property, with * for anything; `list` for their names
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    parameters: Vec<String>,
    /// Picture of where the Jacobians have entries, to write (.svg)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Evaluates the Jacobians and writes them whole.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let (model, system) = load::system(&a.model, &Options::default())?;
    let implicit = ImplicitSystem::new(&system);
    let names = Names::new(&model, &system);
    if a.parameters.iter().any(|p| p == "list") {
        for name in implicit.parameter_names(&model, &Options::default()) {
            println!("{name}");
        }
        return Ok(());
    }
    let parameters = find_parameters(a, &model, &implicit)?;
    if a.out.is_none() && a.plot.is_none() {
        let message = "--parameters needs a file for the derivatives, --out OUT.json".to_string();
        return Err(Failure::content(&a.model, 0, "", message, LIST));
    }
    if let Some(path) = &a.out {
        let text;
        let (file, states) = match &a.states {
            Some(file) => {
                text = std::fs::read_to_string(file).map_err(|e| Failure::read(file, e))?;
                (file.as_path(), states::split(&text, file)?)
            }
            None => {
                text = "{\"states\": [{}]}".to_string();
                (a.model.as_path(), states::split(&text, &a.model)?)
            }
        };
        let mut results = Vec::new();
        for (i, state) in states.iter().enumerate() {
            let input = states::read(&model, &system, state);
            let input = input.map_err(|e| states::failure(file, &text, state, i, e))?;
            results.push(evaluate(&system, &implicit, &parameters, &input, i));
        }
        let of_parameters: Vec<Value> =
            parameters.iter().map(|p| json!({"name": p.path, "value": p.value, "unit": p.unit})).collect();
        let result = json!({
            "generator": concat!("soleus ", env!("CARGO_PKG_VERSION")),
            "model": {
                "name": model.name,
                "equation_order": names.equations,
                "state_order": names.states,
                "control_order": control_order(&model, &system),
                "constraint_order": names.constraints,
                "parameter_order": of_parameters,
            },
            "states": results,
        });
        let text = serde_json::to_string(&result).unwrap_or_default();
        load::write_whole(path, &(text + "\n"))?;
    }
    if let Some(path) = &a.plot {
        load::write_whole(path, &picture(&model, &system, &implicit.jacobian()).to_svg())?;
    }
    Ok(())
}

/// Names of equations and states, in order.
struct Names {
    equations: Vec<String>,
    states: Vec<String>,
    constraints: Vec<String>,
}

impl Names {
    fn new(model: &Model, system: &System) -> Self {
        let coordinates = tree_order(model, system);
        let of = |what: &str| coordinates.iter().map(|c| format!("{c}/{what}")).collect::<Vec<_>>();
        let states = [of("value"), of("speed"), system.aux_names.clone()].concat();
        let constraints: Vec<String> =
            (0..system.constraints.num_rows()).map(|i| format!("constraint equation {i}")).collect();
        // Each state has an equation of its own.
        Names { equations: [states.clone(), constraints.clone()].concat(), states, constraints }
    }
}

/// Residual and Jacobians at one state.
fn evaluate(
    system: &System,
    implicit: &ImplicitSystem,
    parameters: &[Parameter],
    input: &Input,
    number: usize,
) -> Value {
    let mut ws = system.workspace();
    let x = &input.state;
    let (mut xdot, mut lambda) = (vec![0.0; implicit.num_states()], vec![0.0; implicit.num_multipliers()]);
    let n = x.q.len();
    if (input.xdot.is_none() || input.lambda.is_none())
        && system.compute_motion(x, &input.controls, &mut ws).is_ok()
    {
        system.compute_coordinate_rates(x, &mut xdot[..n]);
        xdot[n..2 * n].copy_from_slice(&ws.udot);
        xdot[2 * n..].copy_from_slice(&ws.zdot);
        lambda.copy_from_slice(&ws.constraints.lambda);
    } else if input.xdot.is_none() {
        eprintln!("warning: state {number}: accelerations are undetermined; rates are taken as zero");
    }
    if let Some(given) = &input.xdot {
        xdot.copy_from_slice(given);
    }
    if let Some(given) = &input.lambda {
        lambda.copy_from_slice(given);
    }
    let (mut r, mut j) = (vec![0.0; implicit.num_residuals()], implicit.jacobian());
    let mut jw = implicit.jacobian_workspace();
    implicit.compute_jacobian(x, &xdot, &input.controls, &lambda, &mut ws, &mut jw, &mut r, &mut j);
    let mut dp = vec![0.0; r.len() * parameters.len()];
    let mut room = implicit.parameter_workspace();
    implicit.compute_parameter_jacobian(x, &xdot, &input.controls, &lambda, parameters, &mut room, &mut dp);
    json!({
        "time": x.time,
        "x": list(&[&x.q[..], &x.u, &x.z].concat()),
        "xdot": list(&xdot),
        "controls": list(&input.controls),
        "lambda": list(&lambda),
        "residual": list(&r),
        "dx": triplets(&j.dx),
        "dxdot": triplets(&j.dxdot),
        "du": triplets(&j.du),
        "dlambda": triplets(&j.dlambda),
        "dp": nonzeros(&dp, r.len(), parameters.len()),
    })
}

/// Row and column of each stored entry.
fn places(m: &SparseMatrix) -> Vec<(usize, usize)> {
    (0..m.columns).flat_map(|c| m.row[m.start[c]..m.start[c + 1]].iter().map(move |&r| (r, c))).collect()
}

/// A sparse matrix as rows, columns and values of its entries.
fn triplets(m: &SparseMatrix) -> Value {
    let (rows, columns): (Vec<usize>, Vec<usize>) = places(m).into_iter().unzip();
    json!({"shape": [m.rows, m.columns], "row": rows, "column": columns, "value": list(&m.value)})
}

/// A dense matrix, stored by columns, as rows, columns and values of what differs from zero.
fn nonzeros(values: &[f64], rows: usize, columns: usize) -> Value {
    let places: Vec<usize> = (0..values.len()).filter(|&k| values[k] != 0.0).collect();
    let row: Vec<usize> = places.iter().map(|k| k % rows).collect();
    let column: Vec<usize> = places.iter().map(|k| k / rows).collect();
    let value: Vec<f64> = places.iter().map(|&k| values[k]).collect();
    json!({"shape": [rows, columns], "row": row, "column": column, "value": list(&value)})
}

/// The parameters asked for, in that order; those of one pattern in the order of the model.
fn find_parameters(
    a: &Arguments,
    model: &Model,
    implicit: &ImplicitSystem,
) -> Result<Vec<Parameter>, Failure> {
    let options = Options::default();
    let (mut names, mut all): (Vec<String>, Option<Vec<String>>) = (Vec::new(), None);
    for pattern in &a.parameters {
        if !pattern.contains('*') {
            names.push(pattern.clone());
            continue;
        }
        let all = all.get_or_insert_with(|| implicit.parameter_names(model, &options));
        let before = names.len();
        names.extend(all.iter().filter(|n| matches(pattern, n)).cloned());
        if names.len() == before {
            let message = format!("no parameter of the model is like `{pattern}`");
            return Err(Failure::content(&a.model, 0, "", message, LIST));
        }
    }
    let mut seen = std::collections::HashSet::new();
    names.retain(|n| seen.insert(n.clone()));
    let found = names.iter().map(|n| implicit.parameter(model, &options, n));
    found.map(|p| p.map_err(|e| Failure::content(&a.model, 0, "", e.to_string(), LIST))).collect()
}

const LIST: &str = "`soleus jacobian MODEL --parameters list` prints the names of all there are";

/// Where the four Jacobians have entries.
fn picture(model: &Model, system: &System, j: &ImplicitJacobian) -> Sparsity {
    let (n, nx) = (system.tree.num_mobilities, j.dx.columns);
    let panel = |title: &str, m: &SparseMatrix, column_lines: &[usize]| SparsityPanel {
        title: title.to_string(),
        columns: m.columns,
        column_lines: column_lines.to_vec(),
        entries: places(m),
    };
    let mut panels = vec![
        panel("∂f/∂x", &j.dx, &[n, 2 * n]),
        panel("∂f/∂ẋ", &j.dxdot, &[n, 2 * n]),
        panel("∂f/∂e", &j.du, &[]),
        panel("∂f/∂λ", &j.dlambda, &[]),
    ];
    panels.retain(|p| p.columns > 0);
    let groups = [("kinematics", 0), ("dynamics", n), ("muscles", 2 * n), ("constraints", nx)];
    Sparsity {
        title: format!("{}: Jacobians of the implicit equations", model.name),
        rows: j.dx.rows,
        row_groups: groups.iter().map(|(name, row)| (name.to_string(), *row)).collect(),
        panels,
    }
}

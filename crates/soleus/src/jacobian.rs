//! The implicit equations of a model, f(x, ẋ, e, λ) = 0, and their sparse, exact Jacobians.
//!
//! ```
//! use soleus::{Context, Jacobians, Memory};
//! let files = Memory::new().with("leg.osim", include_bytes!("../models/leg_swing.osim"));
//! let request = Jacobians {
//!     model: "leg.osim".into(),
//!     parameters: vec!["/bodyset/*/mass".into()],
//!     ..Default::default()
//! };
//! let found = request.run(&Context::new(&files))?;
//! let at_default = &found.states[0];
//! println!("{} equations, {} entries by states", at_default.residual.len(), at_default.jacobian.dx.value.len());
//! # assert!(at_default.residual.iter().all(|r| r.abs() < 1e-9));
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::evaluation::{Input, NamedState, control_order, inputs, list, tree_order};
use crate::inputs::model;
use crate::plotting::matches;
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use soleus_dynamics::Options;
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitSystem, Parameter, SparseMatrix};
use soleus_dynamics::system::System;
use soleus_model::Model;
use soleus_viewer::plot::{Sparsity, SparsityPanel};
use std::path::PathBuf;

/// Residual and Jacobians of the implicit equations at given states.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Jacobians {
    /// The model.
    pub model: ModelSource,
    /// States: a JSON file with a list `states`, or values; default: the model's default state. Rates and multipliers
    /// that are not given are computed from the motion, so that the residual is zero.
    pub states: Source<Vec<NamedState>>,
    /// Model parameters for which derivatives are computed as well, by component and property; `*` matches any
    /// characters.
    pub parameters: Vec<String>,
    /// Output file (JSON).
    pub output: Option<PathBuf>,
    /// Output file for a plot of the sparsity pattern (.svg).
    pub picture: Option<PathBuf>,
}

impl Jacobians {
    /// Evaluates the Jacobians at every state.
    pub fn run(&self, cx: &Context) -> Result<EvaluatedJacobians, Error> {
        let (model, system) = model::system(cx, &self.model, &Options::default())?;
        let implicit = ImplicitSystem::new(&system);
        let names = Names::new(&model, &system);
        let parameters = self.find_parameters(&model, &implicit)?;
        let list = inputs(cx, &self.states, (&self.model, &model, &system))?;
        let mut states = Vec::with_capacity(list.len());
        for (i, input) in list.iter().enumerate() {
            cx.go_on()?;
            let (found, is_determined) = evaluate(&system, &implicit, &parameters, input);
            if !is_determined {
                let message = format!("state {i}: accelerations are undetermined; rates are set to zero");
                cx.warn(self.model.path(), message, "");
            }
            states.push(found);
            cx.progress("states", i + 1, list.len());
        }
        Ok(EvaluatedJacobians {
            model_name: model.name.clone(),
            equation_order: names.equations,
            state_order: names.states,
            control_order: control_order(&model, &system),
            constraint_order: names.constraints,
            parameters,
            states,
            sparsity: picture(&model, &system, &implicit.jacobian()),
            output: self.output.clone(),
            picture: self.picture.clone(),
        })
    }

    /// Names of all model parameters with respect to which the equations can be differentiated.
    pub fn parameter_names(&self, cx: &Context) -> Result<Vec<String>, Error> {
        let (model, system) = model::system(cx, &self.model, &Options::default())?;
        Ok(ImplicitSystem::new(&system).parameter_names(&model, &Options::default()))
    }

    /// The parameters asked for, in that order; those of one pattern in the order of the model.
    fn find_parameters(&self, model: &Model, implicit: &ImplicitSystem) -> Result<Vec<Parameter>, Error> {
        let options = Options::default();
        let wrong = |message: String| Error::content(self.model.path(), 0, "", message, LIST);
        let (mut names, mut all): (Vec<String>, Option<Vec<String>>) = (Vec::new(), None);
        for pattern in &self.parameters {
            if !pattern.contains('*') {
                names.push(pattern.clone());
                continue;
            }
            let all = all.get_or_insert_with(|| implicit.parameter_names(model, &options));
            let before = names.len();
            names.extend(all.iter().filter(|n| matches(pattern, n)).cloned());
            if names.len() == before {
                return Err(wrong(format!("no parameter of the model matches `{pattern}`")));
            }
        }
        let mut seen = std::collections::HashSet::new();
        names.retain(|n| seen.insert(n.clone()));
        let found = names.iter().map(|n| implicit.parameter(model, &options, n));
        found.map(|p| p.map_err(|e| wrong(e.to_string()))).collect()
    }
}

const LIST: &str = "`soleus jacobian MODEL --parameters list` prints all names";

/// Residuals and Jacobians at some states.
#[derive(Clone, Debug)]
pub struct EvaluatedJacobians {
    /// Name of the model.
    pub model_name: String,
    /// Name of each equation: rows of all matrices.
    pub equation_order: Vec<String>,
    /// Name of each state.
    pub state_order: Vec<String>,
    /// Path of the force of each control.
    pub control_order: Vec<String>,
    /// Name of each constraint equation.
    pub constraint_order: Vec<String>,
    /// Model parameters with respect to which the equations are differentiated.
    pub parameters: Vec<Parameter>,
    /// Values at each state.
    pub states: Vec<StateJacobians>,
    /// Sparsity patterns of the Jacobians.
    pub sparsity: Sparsity,
    output: Option<PathBuf>,
    picture: Option<PathBuf>,
}

/// Residual and Jacobians at one state.
#[derive(Clone, Debug)]
pub struct StateJacobians {
    /// Time, s.
    pub time: f64,
    /// States (q, u, z).
    pub x: Vec<f64>,
    /// Their rates.
    pub xdot: Vec<f64>,
    /// Controls.
    pub controls: Vec<f64>,
    /// Multipliers of the constraints.
    pub lambda: Vec<f64>,
    /// f(x, ẋ, e, λ).
    pub residual: Vec<f64>,
    /// ∂f/∂x, ∂f/∂ẋ, ∂f/∂e and ∂f/∂λ.
    pub jacobian: ImplicitJacobian,
    /// ∂f/∂p, column by column, one column of all equations per parameter.
    pub parameter_jacobian: Vec<f64>,
}

impl EvaluatedJacobians {
    /// Content of the output file.
    pub fn to_json(&self) -> Value {
        let parameters = self.parameters.iter();
        let of_parameters: Vec<Value> =
            parameters.map(|p| json!({"name": p.path, "value": p.value, "unit": p.unit})).collect();
        json!({
            "generator": concat!("soleus ", env!("CARGO_PKG_VERSION")),
            "model": {
                "name": self.model_name,
                "equation_order": self.equation_order,
                "state_order": self.state_order,
                "control_order": self.control_order,
                "constraint_order": self.constraint_order,
                "parameter_order": of_parameters,
            },
            "states": self.states.iter().map(|s| s.to_json(self.parameters.len())).collect::<Vec<_>>(),
        })
    }
}

impl StateJacobians {
    fn to_json(&self, parameters: usize) -> Value {
        let j = &self.jacobian;
        json!({
            "time": self.time,
            "x": list(&self.x),
            "xdot": list(&self.xdot),
            "controls": list(&self.controls),
            "lambda": list(&self.lambda),
            "residual": list(&self.residual),
            "dx": triplets(&j.dx),
            "dxdot": triplets(&j.dxdot),
            "du": triplets(&j.du),
            "dlambda": triplets(&j.dlambda),
            "dp": nonzeros(&self.parameter_jacobian, self.residual.len(), parameters),
        })
    }
}

impl Outcome for EvaluatedJacobians {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let numbers = |path| Artifact::text(path, self.to_json().to_string() + "\n");
        let picture = |path| Artifact::text(path, self.sparsity.to_svg());
        self.output.iter().map(numbers).chain(self.picture.iter().map(picture)).collect()
    }
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

/// Residual and Jacobians at one state, and whether its rates are determined.
fn evaluate(
    system: &System,
    implicit: &ImplicitSystem,
    parameters: &[Parameter],
    input: &Input,
) -> (StateJacobians, bool) {
    let mut ws = system.workspace();
    let x = &input.state;
    let (mut xdot, mut lambda) = (vec![0.0; implicit.num_states()], vec![0.0; implicit.num_multipliers()]);
    let n = x.q.len();
    let mut is_determined = true;
    if (input.xdot.is_none() || input.lambda.is_none())
        && system.compute_motion(x, &input.controls, &mut ws).is_ok()
    {
        system.compute_coordinate_rates(x, &mut xdot[..n]);
        xdot[n..2 * n].copy_from_slice(&ws.udot);
        xdot[2 * n..].copy_from_slice(&ws.zdot);
        lambda.copy_from_slice(&ws.constraints.lambda);
    } else if input.xdot.is_none() {
        is_determined = false;
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
    let found = StateJacobians {
        time: x.time,
        x: [&x.q[..], &x.u, &x.z].concat(),
        xdot,
        controls: input.controls.clone(),
        lambda,
        residual: r,
        jacobian: j,
        parameter_jacobian: dp,
    };
    (found, is_determined)
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

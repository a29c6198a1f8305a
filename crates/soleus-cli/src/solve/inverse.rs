//! `soleus inverse`: the excitations behind a motion, `MocoInverse`.

use super::references;
use super::tool::{self, ModelFlags, OutputFlags, TimeFlags};
use super::{Arguments as Solve, Inputs, model};
use crate::failure::Failure;
use crate::setup;
use clap::Args;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::assembly::Assembler;
use soleus_io::setup::Setup;
use soleus_io::setup::moco::{
    GoalKind, MocoInverseSetup, MocoSolver, MocoStudySetup, PrescribedCoordinate, Weight, WeightedSet,
};
use soleus_math::Table;
use soleus_model::id::CoordinateId;
use std::path::{Path, PathBuf};

/// Degree of the splines through coordinates, as in Moco.
const DEGREE: usize = 5;

/// Arguments of `soleus inverse`.
#[derive(Args)]
#[command(after_help = "Examples:\n  soleus inverse inverse_setup.xml\n  \
    soleus inverse gait.osim --kinematics walk.sto --cutoff-hz 6 --loads grf.xml --rigid-tendons --degroote-fregly \\\n    \
    --residuals 250,50,1 --reserves 1 --out walk_solution.sto\n\n\
    Finds the muscle excitations of least effort that produce a motion exactly, activation and tendon dynamics\n\
    included. The motion is not a variable: everything that follows from it is computed once.")]
pub struct Arguments {
    /// Model (.osim), or a setup file of a MocoInverse (.xml)
    model: PathBuf,
    /// Coordinates over time (.sto, .mot)
    #[arg(long, value_name = "MOTION.sto")]
    kinematics: Option<PathBuf>,
    /// Minimize squared activations too
    #[arg(long)]
    minimize_activations: bool,
    /// Weight of reserves in the effort
    #[arg(long, value_name = "WEIGHT")]
    reserves_weight: Option<f64>,
    #[command(flatten)]
    times: TimeFlags,
    #[command(flatten)]
    changes: ModelFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// Runs `soleus inverse`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let solve = a.output.arguments(&a.model);
    let Some(motion) = &a.kinematics else {
        return match setup::read(&a.model)? {
            Setup::MocoInverse(mut s) => {
                tool::add_flags(&mut s.tool, &a.changes, &a.times);
                s.kinematics.operators.extend(tool::filter(&a.times));
                s.minimize_sum_squared_activations |= a.minimize_activations;
                s.reserves_weight = a.reserves_weight.unwrap_or(s.reserves_weight);
                run_with(&a.model, &s, &solve)
            }
            _ => {
                let hint = "give a model and --kinematics, or a setup file of a MocoInverse";
                Err(Failure::content(&a.model, 0, "", "the file holds no MocoInverse".into(), hint))
            }
        };
    };
    let defaults = MocoInverseSetup::default();
    let s = MocoInverseSetup {
        tool: tool::of_flags(&a.model, &a.changes, &a.times),
        kinematics: tool::table(motion, &a.times),
        kinematics_allow_extra_columns: true,
        minimize_sum_squared_activations: a.minimize_activations,
        reserves_weight: a.reserves_weight.unwrap_or(defaults.reserves_weight),
        ..defaults
    };
    run_with(&a.model, &s, &solve)
}

/// Runs the tool of a setup file.
pub fn run_setup(path: &Path, s: &MocoInverseSetup) -> Result<(), Failure> {
    run_with(path, s, &Solve::of_file(path))
}

fn run_with(path: &Path, s: &MocoInverseSetup, a: &Solve) -> Result<(), Failure> {
    for name in &s.output_paths {
        eprintln!("warning: output `{name}` is not written; `soleus analyze` reports outputs of a motion");
    }
    let (study, base, inputs) = pose(path, s)?;
    super::solve(model::Source::of_tool(path, &s.tool), &study, a, base, inputs)
}

/// The study that the tool makes, its model and the motion.
pub fn pose(path: &Path, s: &MocoInverseSetup) -> Result<(MocoStudySetup, ModelProblem, Inputs), Failure> {
    let base = tool::posed(path, &s.tool)?;
    let table = references::process(path, 0, &s.kinematics, &base.model)?;
    let table = references::absolute_names(table, &base.model);
    let (times, intervals) = tool::times(path, &s.tool, ends(path, &table)?)?;
    let motions = motions(path, &table, &base, s.kinematics_allow_extra_columns)?;

    let solver = MocoSolver {
        num_mesh_intervals: intervals,
        interpolate_control_mesh_interior_points: false,
        implicit: true,
        auxiliary_weight: 0.01,
        optim_convergence_tolerance: s.convergence_tolerance,
        optim_constraint_tolerance: s.constraint_tolerance,
        optim_max_iterations: s.max_iterations.unwrap_or(-1.0),
        ..MocoSolver::default()
    };
    let mut study = tool::study(&s.tool, times, solver);
    let reserves = Weight { name: ".*/reserve_.*".into(), weight: s.reserves_weight };
    let weights = WeightedSet { names: Vec::new(), patterns: vec![reserves] };
    study.goals.push(tool::goal("excitation_effort", 1.0, GoalKind::Control { weights, exponent: 2.0 }));
    // No activation comes for free at the beginning.
    study.goals.push(tool::goal("initial_activation", 1.0, GoalKind::InitialActivation));
    if s.minimize_sum_squared_activations {
        let kind = GoalKind::SumSquaredState {
            pattern: Some(".*activation$".into()),
            weights: WeightedSet::default(),
        };
        study.goals.push(tool::goal("activation_effort", 1.0, kind));
    }
    Ok((study, base, Inputs { motions, ..Inputs::default() }))
}

/// First and last time of a table.
pub fn ends(path: &Path, table: &Table) -> Result<[f64; 2], Failure> {
    match (table.times().first(), table.times().last()) {
        (Some(&a), Some(&b)) => Ok([a, b]),
        _ => Err(Failure::content(path, 0, "", "the motion has no rows".into(), "")),
    }
}

/// The motion of every coordinate: columns of the table, moved until constraints hold; what the table lacks stays at
/// its default.
fn motions(
    path: &Path,
    table: &Table,
    base: &ModelProblem,
    extra: bool,
) -> Result<Vec<PrescribedCoordinate>, Failure> {
    let refuse = |message: String, hint: &str| Failure::content(path, 0, "", message, hint);
    let n = base.num_coordinates();
    if let Some(label) = table.labels().iter().find(|l| !extra && !base.states.contains(l)) {
        let message = format!("the motion has a column `{label}`, which is no state of the model");
        return Err(refuse(message, "set `kinematics_allow_extra_columns` to leave such columns out"));
    }
    let columns: Vec<Option<&[f64]>> = base.states[..n].iter().map(|name| table.column(name)).collect();
    if columns.iter().all(Option::is_none) {
        return Err(refuse("none of the columns is a coordinate of the model".into(), ""));
    }
    let mut dependent = vec![false; n];
    for (i, &m) in base.system.tree.mobility_of_coordinate.iter().enumerate().filter(|(_, m)| **m < n) {
        dependent[m] = base.model.is_dependent(CoordinateId(i));
    }
    for i in (0..n).filter(|&i| columns[i].is_none() && !dependent[i]) {
        let name = base.states[i].trim_end_matches("/value");
        eprintln!("warning: no column for coordinate `{name}`: it stays at its default value");
    }
    let assembler = Assembler::new(&base.model, &base.system);
    let mut ws = base.system.workspace();
    let mut x = base.system.default_state.clone();
    let mut rows = vec![Vec::with_capacity(table.rows()); n];
    for (r, &time) in table.times().iter().enumerate() {
        x.time = time;
        x.u.fill(0.0);
        // Dependent coordinates should give way alone; what little the others moved is put back once.
        for _ in 0..2 {
            for (i, c) in columns.iter().enumerate() {
                match c {
                    Some(c) if !(dependent[i] && r > 0) => x.q[i] = c[r],
                    _ => {}
                }
            }
            if base.system.constraints.num_rows() > 0 {
                assembler
                    .solve_assembly(&base.system, &mut x, &mut ws)
                    .map_err(|e| refuse(format!("at {time} s: {e}"), "check the motion against the model"))?;
            }
        }
        rows.iter_mut().zip(&x.q).for_each(|(c, q)| c.push(*q));
    }
    let coordinate = |(name, y): (&String, Vec<f64>)| PrescribedCoordinate {
        path: name.trim_end_matches("/value").to_string(),
        degree: DEGREE,
        x: table.times().to_vec(),
        y,
    };
    Ok(base.states[..n].iter().zip(rows).map(coordinate).collect())
}

//! `soleus simulate`: forward simulation of a model.

pub mod drive;
pub mod job;
mod outputs;
pub mod results;
pub mod start;

use crate::failure::Failure;
use crate::{analyze, load};
use clap::Args;
use job::{Method, Plan};
use soleus_dynamics::Options;
use soleus_dynamics::system::{State, System};
use soleus_model::Model;
use soleus_simulation::system::control_labels;
use soleus_simulation::{ModelControls, StepOptions};
use std::path::{Path, PathBuf};

/// What `soleus simulate` is told.
#[derive(Args)]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Excitation of every muscle, added to what the model's controllers ask for
    #[arg(long, conflicts_with = "controls", value_name = "VALUE")]
    excitation: Option<f64>,
    /// Table of controls over time; columns are named after actuators, by path or name
    #[arg(long, value_name = "FILE.sto")]
    controls: Option<PathBuf>,
    /// State to start from: the first row of a table with labels such as `/jointset/knee/angle/value`; without it
    /// the model's default state with its muscles in equilibrium
    #[arg(long, value_name = "STATES.sto")]
    initial: Option<PathBuf>,
    /// Time to simulate, s
    #[arg(long, value_name = "SECONDS")]
    duration: f64,
    /// Integrator
    #[arg(long, value_enum, default_value_t = Method::Rkm)]
    method: Method,
    /// Error allowed per step, as OpenSim's integrators mean it
    #[arg(long, default_value_t = 1e-5)]
    accuracy: f64,
    /// Step of the methods with a fixed step, s
    #[arg(long, default_value_t = 1e-3, value_name = "SECONDS")]
    step: f64,
    /// Time between rows, s; without it a row for every step
    #[arg(long, value_name = "SECONDS")]
    interval: Option<f64>,
    /// Time the simulation may take, s of the clock; what was reached by then is written
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
    /// More tables, separated by commas: kinematics, bodies, forces, actuators, muscles, joint-reactions, probes, or
    /// outputs of components such as `/forceset/soleus|tendon_force`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    outputs: Vec<String>,
    /// Folder for the tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// Simulates, and writes what came of it.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    if !(a.duration > 0.0) || !a.duration.is_finite() {
        let message = format!("--duration {} is no time to simulate", a.duration);
        return Err(Failure::content(&a.model, 0, "", message, "give a positive number of seconds"));
    }
    let analyses = outputs::analyses(&a.outputs).map_err(|word| {
        let message = format!("--outputs: `{word}` is not known");
        Failure::content(&a.model, 0, "", message, "`soleus simulate --help` lists what is")
    })?;
    let (model, system) = load::system(&a.model, &Options { opensim_faults: a.opensim_faults })?;
    let mut controls = controls(a, &model, &system)?;
    let start = initial_state(a, &model, &system, &controls)?;
    std::fs::create_dir_all(&a.out).map_err(|e| Failure::write(&a.out, e))?;
    let plan = Plan {
        method: a.method,
        options: StepOptions::with_accuracy(a.accuracy),
        step: a.step,
        t_end: start.time + a.duration,
        interval: a.interval,
        deadline: a.deadline,
    };
    let motion = job::simulate(&system, &controls, &start, &plan);
    let stem = a.model.file_stem().map_or("model".to_string(), |s| s.to_string_lossy().into_owned());
    let write = |kind: &str, table| results::write(&a.out.join(format!("{stem}_{kind}.sto")), table);
    let states = results::states(&model, &system, &motion.rows);
    write("states", states.clone())?;
    if system.num_controls > 0 {
        let labels = control_labels(&model, &system);
        write("controls", results::controls(&model, &system, &controls, &motion.rows, labels))?;
    }
    let analysed = match states {
        Ok(states) if !analyses.is_empty() && !motion.rows.is_empty() => {
            let (asked, both) = ((a.model.as_path(), a.out.as_path(), stem.as_str()), (&model, &system));
            analyze::run_motion(asked, &analyses, both, &states, &mut controls, a.opensim_faults)
        }
        _ => Ok(()),
    };
    // Why a simulation ended early matters more than what could not be made of it.
    motion.close(&model, &system, &a.out).and(analysed)
}

/// The model's controllers, and what the command line adds.
fn controls(a: &Arguments, model: &Model, system: &System) -> Result<ModelControls, Failure> {
    let mut controls = drive::controllers(model, system, &[a.model.parent().unwrap_or(Path::new(""))])?;
    if let Some(e) = a.excitation {
        controls.add_excitation(model, system, e);
    }
    if let Some(path) = &a.controls {
        let table = drive::read_table(path)?;
        drive::add_table(&mut controls, &control_labels(model, system), &table, path, 1, &|_| true)?;
    }
    Ok(controls)
}

/// The state to start from.
fn initial_state(
    a: &Arguments,
    model: &Model,
    system: &System,
    controls: &ModelControls,
) -> Result<State<f64>, Failure> {
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    if let Some(path) = &a.initial {
        start::set_from_row(model, system, &start::read_states(path)?, 0, &mut x);
    }
    start::assemble(&a.model, model, system, &mut x, &mut ws)?;
    if a.initial.is_none() {
        start::equilibrate(model, system, controls, &mut x, &mut ws);
    }
    Ok(x)
}

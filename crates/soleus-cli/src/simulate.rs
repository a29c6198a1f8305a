//! `soleus simulate`: forward simulation of a model.

use crate::door::{enter, finish};
use clap::{Args, ValueEnum};
use soleus::simulation::{Method, SimulationOutput};
use soleus::{Error, Simulation};
use std::path::PathBuf;

/// Integrators by name.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Integrator {
    /// Runge–Kutta–Merson 4(3), with OpenSim's step control
    Rkm,
    /// Dormand–Prince 5(4)
    Dopri5,
    /// Radau IIA of order 5, for stiff models
    Radau5,
    /// Implicit midpoint, fixed step
    Midpoint,
    /// First-order Rosenbrock, fixed step
    Rosenbrock,
    /// Semi-explicit Euler, fixed step
    SemiExplicitEuler,
}

impl From<Integrator> for Method {
    fn from(name: Integrator) -> Self {
        match name {
            Integrator::Rkm => Method::Rkm,
            Integrator::Dopri5 => Method::Dopri5,
            Integrator::Radau5 => Method::Radau5,
            Integrator::Midpoint => Method::Midpoint,
            Integrator::Rosenbrock => Method::Rosenbrock,
            Integrator::SemiExplicitEuler => Method::SemiExplicitEuler,
        }
    }
}

// What `soleus simulate` is told.
#[derive(Args)]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Excitation of every muscle, added to that of the model's controllers
    #[arg(long, conflicts_with = "controls", value_name = "VALUE")]
    excitation: Option<f64>,
    /// Table of controls over time; columns named after actuators (path or name)
    #[arg(long, value_name = "FILE.sto")]
    controls: Option<PathBuf>,
    /// Initial state: the first row of a table with labels such as `/jointset/knee/angle/value`
    /// [default: the model's default state with muscles in equilibrium]
    #[arg(long, value_name = "STATES.sto")]
    initial: Option<PathBuf>,
    /// Time to simulate, s
    #[arg(long, value_name = "SECONDS")]
    duration: f64,
    /// Integrator
    #[arg(long, value_enum, default_value_t = Integrator::Rkm)]
    method: Integrator,
    /// Error tolerance per step, as defined by OpenSim's integrators
    #[arg(long, default_value_t = 1e-5)]
    accuracy: f64,
    /// Step size of fixed-step methods, s
    #[arg(long, default_value_t = 1e-3, value_name = "SECONDS")]
    step: f64,
    /// Time between rows, s [default: every step]
    #[arg(long, value_name = "SECONDS")]
    interval: Option<f64>,
    /// Wall-clock limit, s; results up to then are written
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<f64>,
    /// Additional tables, separated by commas: kinematics, bodies, forces, actuators, muscles, joint-reactions, probes, or
    /// outputs of components such as `/forceset/soleus|tendon_force`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    outputs: Vec<String>,
    /// Folder for the tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Reproduce known errors of OpenSim 4.6, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// Simulates, and writes what came of it.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let request = Simulation {
        model: a.model.clone().into(),
        excitation: a.excitation,
        controls: a.controls.clone().map(Into::into),
        initial: a.initial.clone().map(Into::into),
        duration: a.duration,
        method: a.method.into(),
        accuracy: a.accuracy,
        step: a.step,
        interval: a.interval,
        deadline: a.deadline,
        outputs: a.outputs.clone(),
        output: SimulationOutput { folder: Some(a.out.clone()), name: None },
        opensim_faults: a.opensim_faults,
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}

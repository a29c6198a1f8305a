//! `soleus rra` and `soleus cmc`: simulations that follow a motion.

use crate::door::{Span, enter, finish, loads_file};
use crate::emg::EmgInput;
use clap::{Args, ValueEnum};
use soleus::muscle_control::{Effort, MassCenter, Tracking};
use soleus::simulation::SimulationOutput;
use soleus::{ComputedMuscleControl, Error, ResidualReduction};
use std::path::PathBuf;

// What both verbs take.
#[derive(Args)]
struct Input {
    /// Model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Motion to track: coordinates (.mot, .sto); the header tells whether angles are in degrees
    #[arg(long, value_name = "MOTION.mot")]
    motion: PathBuf,
    /// Measured loads: force plates (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: Option<PathBuf>,
    /// Coordinates to track, with weights and gains: an XML file with a CMC_TaskSet [default: all that can move]
    #[arg(long, value_name = "TASKS.xml")]
    tasks: Option<PathBuf>,
    /// Trajectories of the points to track (CMC_Point) [default: their positions in the motion]
    #[arg(long, value_name = "POINTS.trc")]
    points: Option<PathBuf>,
    /// Control limits: an XML file with a ControlSet [default: those of the model]
    #[arg(long, value_name = "LIMITS.xml")]
    limits: Option<PathBuf>,
    /// Reserve actuators: XML files with a ForceSet, or an optimal force (N m or N) to add one to every coordinate without an actuator
    #[arg(long, value_name = "FORCES.xml|FORCE", num_args = 1..)]
    reserves: Vec<String>,
    /// Residual actuators between ground and the model: optimal moment (N m) and optimal force (N)
    #[arg(long, value_name = "MOMENT,FORCE", value_delimiter = ',', num_args = 1)]
    residuals: Vec<f64>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz [default: no filter]
    #[arg(long)]
    cutoff_hz: Option<f64>,
    #[command(flatten)]
    span: Span,
    /// Error tolerance per integration step
    #[arg(long, default_value_t = Tracking::default().accuracy)]
    accuracy: f64,
    /// Stop as soon as a coordinate cannot reach its required acceleration
    #[arg(long)]
    strict: bool,
    /// Folder for the tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write a page with errors, residuals, reserves and excitations, and the figure in motion
    #[arg(long, value_name = "PAGE.html")]
    report: Option<PathBuf>,
    /// Reproduce known errors of OpenSim 4.6, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

impl Input {
    fn tracking(&self) -> Result<Tracking, Error> {
        let files = self.reserves.iter().filter(|r| r.parse::<f64>().is_err());
        Ok(Tracking {
            model: self.model.clone().into(),
            motion: self.motion.clone().into(),
            loads: loads_file((&self.model, &self.motion), self.loads.as_deref(), &self.out)?,
            task_file: self.tasks.clone(),
            points: self.points.clone(),
            limits: self.limits.clone(),
            force_sets: files.map(PathBuf::from).collect(),
            reserves: self.reserves.iter().filter_map(|r| r.parse().ok()).collect(),
            residuals: self.residuals.clone(),
            cutoff_hz: self.cutoff_hz,
            from: self.span.from,
            to: self.span.to,
            accuracy: self.accuracy,
            stop_at_shortfall: self.strict,
            output: SimulationOutput { folder: Some(self.out.clone()), name: None },
            page: self.report.clone(),
            opensim_faults: self.opensim_faults,
            ..Tracking::default()
        })
    }
}

// Arguments of `soleus rra`.
#[derive(Args)]
#[command(after_help = include_str!("../help/rra.txt"))]
pub struct Reduction {
    #[command(flatten)]
    input: Input,
    /// Body whose mass centre is adjusted to remove the mean residual moments, usually the torso
    #[arg(long, value_name = "BODY")]
    mass_center: Option<String>,
    /// Adjust the masses of all bodies too, as recommended by the mean residuals
    #[arg(long, requires = "mass_center")]
    change_masses: bool,
    /// File for the adjusted model
    #[arg(long, value_name = "MODEL.osim", requires = "mass_center")]
    model_out: Option<PathBuf>,
    /// Search for task weights in this many runs, and write them to MOTION_tasks.xml
    #[arg(long, value_name = "RUNS", default_value_t = 0)]
    find_weights: usize,
}

impl Reduction {
    /// Runs `soleus rra`.
    pub fn run(&self) -> Result<(), Error> {
        let tracking = self.input.tracking()?;
        let mass_center = self.mass_center.clone().map(|body| MassCenter {
            body,
            range: None,
            change_masses: self.change_masses,
            output: self.model_out.clone(),
        });
        let request =
            ResidualReduction { tracking, window: None, mass_center, find_weights: self.find_weights };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus cmc`.
#[derive(Args)]
#[command(after_help = include_str!("../help/cmc.txt"))]
pub struct Control {
    #[command(flatten)]
    input: Input,
    /// Length of a window, s
    #[arg(long, default_value_t = ComputedMuscleControl::default().window)]
    window: f64,
    /// Quantity to minimise
    #[arg(long, value_enum, default_value_t = Least::Strength)]
    effort: Least,
    /// Penalty on changes of excitation between windows, relative to effort
    #[arg(long, default_value_t = ComputedMuscleControl::default().smoothness)]
    smoothness: f64,
    /// Track accelerations in a weighted sense rather than exactly
    #[arg(long)]
    weighted: bool,
    /// Minimum excitation of muscles
    #[arg(long, default_value_t = ComputedMuscleControl::default().least_excitation)]
    least_excitation: f64,
    /// Start this much earlier, s, with muscles at rest, instead of fitting the initial 0.03 s
    #[arg(long, value_name = "SECONDS")]
    lead: Option<f64>,
    /// Hold each stance foot at its measured position by springs and dampers
    #[arg(long)]
    foot_springs: bool,
    #[command(flatten)]
    emg: EmgInput,
    /// Penalty on squared differences between activations and EMG, relative to effort; 0: compare only
    #[arg(long, value_name = "WEIGHT", default_value_t = 0.0, requires = "emg")]
    emg_weight: f64,
}

/// Names of efforts.
#[derive(Clone, Copy, ValueEnum)]
enum Least {
    /// Squared forces divided by the force available at the current length and velocity
    Strength,
    /// Squared forces divided by maximum isometric forces
    Stress,
    /// Squared activations
    Activation,
    /// Squared activations weighted by volume
    Volume,
    /// Cubed activations
    Cubed,
}

impl Control {
    /// Runs `soleus cmc`.
    pub fn run(&self) -> Result<(), Error> {
        let request = ComputedMuscleControl {
            tracking: self.input.tracking()?,
            window: self.window,
            exact: !self.weighted,
            effort: match self.effort {
                Least::Strength => Effort::Strength,
                Least::Stress => Effort::Stress,
                Least::Activation => Effort::Activation,
                Least::Volume => Effort::Volume,
                Least::Cubed => Effort::Cubed,
            },
            smoothness: self.smoothness,
            least_excitation: self.least_excitation,
            lead: self.lead,
            foot_springs: self.foot_springs,
            emg: self.emg.emg(self.emg_weight),
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

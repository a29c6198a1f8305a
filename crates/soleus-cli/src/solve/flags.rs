//! Flags that `soleus inverse` and `soleus track` have in common.

use clap::Args;
use soleus::optimal_control::tool::Trial;
use soleus::optimal_control::{ModelChanges, SolveOptions};
use std::path::PathBuf;

/// What is done to the model, in this order.
#[derive(Args)]
#[command(next_help_heading = "Changes of the model, made in this order")]
pub struct ModelFlags {
    /// Measured loads: force plates over time (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: Option<PathBuf>,
    /// Joints that become welds; names with commas between
    #[arg(long, value_name = "JOINTS", value_delimiter = ',')]
    weld: Vec<String>,
    /// Actuators at joints with ground: optimal moment (N m), optimal force (N) and, optionally, the bound of their
    /// controls
    #[arg(long, value_name = "MOMENT,FORCE[,BOUND]", value_delimiter = ',', num_args = 1)]
    residuals: Vec<f64>,
    /// Take all muscles out
    #[arg(long)]
    remove_muscles: bool,
    /// Tendons do not stretch
    #[arg(long)]
    rigid_tendons: bool,
    /// Activation is the excitation
    #[arg(long)]
    no_activation_dynamics: bool,
    /// Replace muscles by those of De Groote and Fregly (2016)
    #[arg(long)]
    degroote_fregly: bool,
    /// The force balance of stretching tendons is an equation of the problem, not solved for the fiber velocity
    #[arg(long)]
    implicit_tendons: bool,
    /// Stretching tendons are as the model has them; by default `inverse` makes their force balance an equation of the problem
    #[arg(long, conflicts_with = "implicit_tendons")]
    explicit_tendons: bool,
    /// Fibers have no passive force (muscles of De Groote and Fregly)
    #[arg(long)]
    no_passive_force: bool,
    /// Width of the active force–length curve (muscles of De Groote and Fregly)
    #[arg(long, value_name = "FACTOR")]
    curve_width: Option<f64>,
    /// Factor of all muscles' largest isometric force
    #[arg(long, value_name = "FACTOR")]
    strength: Option<f64>,
    /// File of FunctionBasedPath definitions that replace paths of the model
    #[arg(long, value_name = "PATHS.xml")]
    function_paths: Option<PathBuf>,
    /// An actuator for every coordinate that has none: optimal force (N m or N) and, optionally, the bound of their
    /// controls
    #[arg(long, value_name = "FORCE[,BOUND]", value_delimiter = ',', num_args = 1)]
    reserves: Vec<f64>,
}

impl ModelFlags {
    /// As changes of a model.
    pub fn changes(&self) -> ModelChanges {
        ModelChanges {
            loads: self.loads.clone(),
            weld: self.weld.clone(),
            residuals: self.residuals.clone(),
            remove_muscles: self.remove_muscles,
            rigid_tendons: self.rigid_tendons,
            no_activation_dynamics: self.no_activation_dynamics,
            degroote_fregly: self.degroote_fregly,
            implicit_tendons: self.implicit_tendons,
            explicit_tendons: self.explicit_tendons,
            no_passive_force: self.no_passive_force,
            curve_width: self.curve_width,
            strength: self.strength,
            function_paths: self.function_paths.clone(),
            reserves: self.reserves.clone(),
        }
    }
}

/// When, and how fine.
#[derive(Args)]
pub struct TimeFlags {
    /// Begin, s; by default that of the data
    #[arg(long, allow_negative_numbers = true)]
    from: Option<f64>,
    /// End, s; by default that of the data
    #[arg(long, allow_negative_numbers = true)]
    to: Option<f64>,
    /// Longest mesh interval, s; 0.02 if no setup file says otherwise
    #[arg(long, value_name = "SECONDS")]
    mesh_interval: Option<f64>,
    /// Cutoff of the low-pass filter on the motion, Hz; no filter without it
    #[arg(long, value_name = "HZ")]
    cutoff_hz: Option<f64>,
    /// Filter and differentiate the angles of the root, as OpenSim does, and not its pose; results then depend on the heading
    #[arg(long)]
    root_angles: bool,
}

/// What comes out, and how it is solved.
#[derive(Args)]
#[command(next_help_heading = "Result and solver")]
pub struct OutputFlags {
    /// File to write; by default NAME_solution.sto in the folder you are in
    #[arg(long, value_name = "OUT.sto")]
    out: Option<PathBuf>,
    /// Motion to start from (.sto)
    #[arg(long, value_name = "GUESS.sto")]
    guess: Option<PathBuf>,
    /// Page to write too: costs, quality, plots and an animated figure of the solution
    #[arg(long, value_name = "PAGE.html")]
    report: Option<PathBuf>,
    /// Tolerance of the optimality conditions, instead of the tool's
    #[arg(long)]
    tolerance: Option<f64>,
    /// Maximum number of iterations
    #[arg(long)]
    max_iterations: Option<usize>,
    /// Threads; by default as many as there are cores. Results do not depend on it
    #[arg(long)]
    threads: Option<usize>,
    /// Simulate the solution from its first state under its controls, and say how far that ends from it
    #[arg(long)]
    simulate: bool,
    /// Print only warnings and errors
    #[arg(long)]
    pub quiet: bool,
}

impl OutputFlags {
    /// In place of what a setup file says; `of_setup` is that.
    pub fn options(&self, of_setup: &SolveOptions) -> SolveOptions {
        SolveOptions {
            solution: self.out.clone(),
            guess: self.guess.clone().map(Into::into).or_else(|| of_setup.guess.clone()),
            report: self.report.clone(),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations.or(of_setup.max_iterations),
            threads: self.threads,
            simulate: self.simulate,
            save_iterates: true,
            ..SolveOptions::default()
        }
    }
}

/// What the command line says beside a setup file: times in place of its own, changes of the model after its own.
pub fn add_to(trial: Trial, changes: &ModelFlags, times: &TimeFlags) -> Trial {
    Trial {
        changes: changes.changes(),
        from: times.from.or(trial.from),
        to: times.to.or(trial.to),
        mesh_interval: times.mesh_interval.or(trial.mesh_interval),
        cutoff_hz: times.cutoff_hz,
        root_angles: times.root_angles || trial.root_angles,
        ..trial
    }
}

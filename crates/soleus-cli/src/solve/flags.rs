//! Flags that `soleus inverse` and `soleus track` have in common.

use clap::Args;
use soleus::optimal_control::tool::Trial;
use soleus::optimal_control::{ModelChanges, SolveOptions};
use std::path::PathBuf;

// What is done to the model, in this order.
#[derive(Args)]
#[command(next_help_heading = "Changes to the model, applied in this order")]
pub struct ModelFlags {
    /// Measured loads: force plates (.mot, .sto, .csv, .c3d), which are assigned to feet, or an ExternalLoads file (.xml)
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: Option<PathBuf>,
    /// Joints to replace by welds, separated by commas
    #[arg(long, value_name = "JOINTS", value_delimiter = ',')]
    weld: Vec<String>,
    /// Residual actuators between ground and the model: optimal moment (N m), optimal force (N) and,
    /// optionally, the bound of their controls
    #[arg(long, value_name = "MOMENT,FORCE[,BOUND]", value_delimiter = ',', num_args = 1)]
    residuals: Vec<f64>,
    /// Remove all muscles
    #[arg(long)]
    remove_muscles: bool,
    /// Make tendons rigid
    #[arg(long)]
    rigid_tendons: bool,
    /// Ignore activation dynamics
    #[arg(long)]
    no_activation_dynamics: bool,
    /// Replace muscles by De Groote–Fregly muscles (2016)
    #[arg(long)]
    degroote_fregly: bool,
    /// Implicit tendon dynamics: the force balance of elastic tendons is a constraint of the problem
    #[arg(long)]
    implicit_tendons: bool,
    /// Keep the tendon dynamics of the model; by default `inverse` uses implicit tendon dynamics
    #[arg(long, conflicts_with = "implicit_tendons")]
    explicit_tendons: bool,
    /// Ignore passive fiber forces (De Groote–Fregly muscles)
    #[arg(long)]
    no_passive_force: bool,
    /// Width of the active force–length curve (De Groote–Fregly muscles)
    #[arg(long, value_name = "FACTOR")]
    curve_width: Option<f64>,
    /// Scale the maximum isometric force of all muscles
    #[arg(long, value_name = "FACTOR")]
    strength: Option<f64>,
    /// File of FunctionBasedPaths that replace the muscle paths
    #[arg(long, value_name = "PATHS.xml")]
    function_paths: Option<PathBuf>,
    /// Reserve actuators for all coordinates without an actuator: optimal force (N m or N) and,
    /// optionally, the bound of their controls
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

// When, and how fine.
#[derive(Args)]
pub struct TimeFlags {
    /// Start time, s [default: start of the data]
    #[arg(long, allow_negative_numbers = true)]
    from: Option<f64>,
    /// End time, s [default: end of the data]
    #[arg(long, allow_negative_numbers = true)]
    to: Option<f64>,
    /// Maximum mesh interval, s [default: 0.02, or as in the setup file]
    #[arg(long, value_name = "SECONDS")]
    mesh_interval: Option<f64>,
    /// Cutoff frequency of the low-pass filter on the motion, Hz [default: no filter]
    #[arg(long, value_name = "HZ")]
    cutoff_hz: Option<f64>,
    /// Filter and differentiate the angles of the root as OpenSim does, instead of its pose; results then depend on the heading
    #[arg(long)]
    root_angles: bool,
}

// What comes out, and how it is solved.
#[derive(Args)]
#[command(next_help_heading = "Result and solver")]
pub struct OutputFlags {
    /// File to write [default: NAME_solution.sto in the current folder]
    #[arg(long, value_name = "OUT.sto")]
    out: Option<PathBuf>,
    /// Initial guess (.sto), overriding that of the file
    #[arg(long, value_name = "GUESS.sto")]
    guess: Option<PathBuf>,
    /// HTML page to write: costs, quality, plots and an animated figure of the solution
    #[arg(long, value_name = "PAGE.html")]
    report: Option<PathBuf>,
    /// Tolerance of the optimality conditions, overriding that of the file
    #[arg(long)]
    tolerance: Option<f64>,
    /// Maximum number of iterations
    #[arg(long)]
    max_iterations: Option<usize>,
    /// Number of threads; results do not depend on it [default: number of cores]
    #[arg(long)]
    threads: Option<usize>,
    /// Check the solution by forward simulation from its initial state and report the difference
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

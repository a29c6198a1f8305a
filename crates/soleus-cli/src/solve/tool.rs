//! What `soleus inverse` and `soleus track` have in common.

use super::{Arguments, model};
use crate::failure::Failure;
use clap::Args;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::setup::moco::{
    GoalKind, MocoGoal, MocoSolver, MocoStudySetup, MocoToolSetup, ModelStep, ModelStepKind, TableOperator,
    TableSource,
};
use soleus_model::ModelOperator;
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::{Reserves, Residuals};
use std::path::{Path, PathBuf};

/// What is done to the model, in this order.
#[derive(Args, Default)]
#[command(next_help_heading = "Changes of the model, made in this order")]
pub struct ModelFlags {
    /// Measured loads (ExternalLoads file)
    #[arg(long, value_name = "LOADS.xml")]
    loads: Option<PathBuf>,
    /// Joints that become welds; names with commas between
    #[arg(long, value_name = "JOINTS", value_delimiter = ',')]
    weld: Vec<String>,
    /// Actuators at joints with ground: optimal moment (N m), optimal force (N) and, if you like, the bound of their
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
    /// An actuator for every coordinate that has none: optimal force (N m or N) and, if you like, the bound of their
    /// controls
    #[arg(long, value_name = "FORCE[,BOUND]", value_delimiter = ',', num_args = 1)]
    reserves: Vec<f64>,
}

impl ModelFlags {
    /// As steps of a `ModelProcessor`; file names are made absolute.
    pub fn steps(&self) -> Vec<ModelStep> {
        use ModelOperator as O;
        let mut list = Vec::new();
        let mut add = |kind| list.push(ModelStep { kind, line: 0 });
        let plain = ModelStepKind::Operator;
        if let Some(file) = &self.loads {
            add(ModelStepKind::ExternalLoads(absolute(file)));
        }
        if !self.weld.is_empty() {
            add(plain(O::ReplaceJointsWithWelds(self.weld.clone())));
        }
        if let [moment, ..] = self.residuals[..] {
            add(plain(O::AddResiduals(Residuals {
                rotational_optimal_force: moment,
                translational_optimal_force: self.residuals.get(1).copied().unwrap_or(moment),
                bound: self.residuals.get(2).copied(),
                ..Residuals::default()
            })));
        }
        let simple = [
            (self.remove_muscles, O::RemoveMuscles),
            (self.rigid_tendons, O::IgnoreTendonCompliance),
            (self.no_activation_dynamics, O::IgnoreActivationDynamics),
            (self.degroote_fregly, O::ReplaceMusclesWithDeGrooteFregly2016),
            (self.implicit_tendons, O::TendonComplianceDynamicsMode(TendonDynamicsMode::Implicit)),
            (self.no_passive_force, O::IgnorePassiveFiberForces),
        ];
        for (wanted, operator) in simple {
            if wanted {
                add(plain(operator));
            }
        }
        if let Some(x) = self.curve_width {
            add(plain(O::ScaleActiveFiberForceCurveWidth(x)));
        }
        if let Some(x) = self.strength {
            add(plain(O::ScaleMaxIsometricForce(x)));
        }
        if let Some(file) = &self.function_paths {
            add(ModelStepKind::FunctionBasedPaths(absolute(file)));
        }
        if let [optimal_force, ..] = self.reserves[..] {
            let bound = self.reserves.get(1).copied();
            add(plain(O::AddReserves(Reserves { optimal_force, bound, ..Reserves::default() })));
        }
        list
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
    /// Most iterations
    #[arg(long)]
    max_iterations: Option<usize>,
    /// Threads; by default as many as there are cores. Results do not depend on it
    #[arg(long)]
    threads: Option<usize>,
    /// Simulate the solution from its first state under its controls, and say how far that ends from it
    #[arg(long)]
    simulate: bool,
    /// Say nothing about progress
    #[arg(long)]
    quiet: bool,
}

impl OutputFlags {
    /// As arguments of `soleus solve`.
    pub fn arguments(&self, path: &Path) -> Arguments {
        Arguments {
            out: self.out.clone(),
            guess: self.guess.clone(),
            report: self.report.clone(),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            threads: self.threads,
            simulate: self.simulate,
            quiet: self.quiet,
            ..Arguments::of_file(path)
        }
    }
}

/// A tool for a model file and flags.
pub fn of_flags(model: &Path, flags: &ModelFlags, times: &TimeFlags) -> MocoToolSetup {
    let name = model.file_stem().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    let mut tool = MocoToolSetup { name, model_file: Some(absolute(model)), ..MocoToolSetup::default() };
    add_flags(&mut tool, flags, times);
    tool
}

/// What the command line says beside a setup file: times in place of its own, changes of the model after its own.
pub fn add_flags(tool: &mut MocoToolSetup, flags: &ModelFlags, times: &TimeFlags) {
    tool.model_steps.extend(flags.steps());
    tool.initial_time = times.from.or(tool.initial_time);
    tool.final_time = times.to.or(tool.final_time);
    tool.mesh_interval = times.mesh_interval.unwrap_or(tool.mesh_interval);
}

/// The filter that the command line asks for.
pub fn filter(times: &TimeFlags) -> Option<TableOperator> {
    times.cutoff_hz.map(TableOperator::LowPass)
}

/// A table that the command line names.
pub fn table(file: &Path, times: &TimeFlags) -> TableSource {
    TableSource { file: Some(absolute(file)), operators: filter(times).into_iter().collect() }
}

/// A setup takes names from its own folder, the command line from the current one.
fn absolute(file: &Path) -> String {
    std::path::absolute(file).unwrap_or(file.to_path_buf()).display().to_string()
}

/// Times of the problem, s, and number of mesh intervals, for data that last from `first` to `last`.
pub fn times(path: &Path, t: &MocoToolSetup, data: [f64; 2]) -> Result<([f64; 2], usize), Failure> {
    let [first, last] = data;
    let (mut from, mut to) = (t.initial_time.unwrap_or(first), t.final_time.unwrap_or(last));
    let refuse = |message: String| Failure::content(path, 0, "", message, "");
    if from < first || to > last {
        let message =
            format!("{from} s to {to} s is asked for, but the data last from {first} s to {last} s");
        return Err(refuse(message));
    }
    if !(t.mesh_interval > 0.0) {
        return Err(refuse(format!("the mesh interval must be above zero, found {}", t.mesh_interval)));
    }
    // The number of intervals is that of the whole range, as in Moco.
    let intervals = ((to - from) / t.mesh_interval).ceil().max(1.0) as usize;
    if t.clip_time_range {
        (from, to) = (from + 1e-3, to - 1e-3);
    }
    if !(from < to) {
        return Err(refuse(format!("nothing lies between {from} s and {to} s")));
    }
    Ok(([from, to], intervals))
}

/// A study with Moco's defaults; goals and solver are to be filled in.
pub fn study(t: &MocoToolSetup, [from, to]: [f64; 2], solver: MocoSolver) -> MocoStudySetup {
    MocoStudySetup {
        name: t.name.clone(),
        model: t.model.clone(),
        model_file: t.model_file.clone(),
        model_steps: t.model_steps.clone(),
        initial_time: Some([from, from]),
        final_time: Some([to, to]),
        solver,
        ..MocoStudySetup::default()
    }
}

/// A goal with a weight and nothing special.
pub fn goal(name: &str, weight: f64, kind: GoalKind) -> MocoGoal {
    MocoGoal {
        name: name.into(),
        weight,
        constraint: None,
        bounds: Vec::new(),
        divide_by_displacement: false,
        divide_by_duration: false,
        divide_by_mass: false,
        kind,
        line: 0,
    }
}

/// The model of a tool, ready to be asked.
pub fn posed(path: &Path, t: &MocoToolSetup) -> Result<ModelProblem, Failure> {
    super::posed(&model::Source::of_tool(path, t))
}

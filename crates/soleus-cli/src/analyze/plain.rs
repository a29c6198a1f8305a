//! Analyses from arguments, without a setup file.

use super::make::{Motion, make};
use super::{failed, report, setup_file, write};
use crate::failure::Failure;
use crate::simulate::drive;
use crate::{id, load, setup, tool_model};
use soleus_dynamics::{Options, System};
use soleus_io::setup::AnalysisSetup;
use soleus_math::Table;
use soleus_model::operator::ModelOperator;
use soleus_model::{Force, ForceKind, Model};
use soleus_simulation::system::{control_labels, state_column, state_labels};
use soleus_tools::analysis::{HistoryError, MotionSettings, Preparation, StateHistory, analyze};
use std::path::{Path, PathBuf};

/// What both verbs take.
#[derive(clap::Args)]
pub struct Input {
    /// Model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// The motion: coordinates (.mot, .sto; degrees if it says so) or states (.sto; with columns for speeds)
    #[arg(long, value_name = "MOTION.mot")]
    motion: PathBuf,
    /// Measured loads: an XML file with ExternalLoads
    #[arg(long, value_name = "LOADS.xml")]
    loads: Option<PathBuf>,
    /// Actuators at joints with ground: optimal moment (N m) and optimal force (N)
    #[arg(long, value_name = "MOMENT,FORCE", value_delimiter = ',', num_args = 1)]
    residuals: Vec<f64>,
    /// Actuators to add to the model: XML files with a ForceSet, or the optimal force (N m or N) of one for every coordinate that has none
    #[arg(long, value_name = "FORCES.xml|FORCE", num_args = 1..)]
    reserves: Vec<String>,
    /// Cutoff of the low-pass on the coordinates, in Hz; no filter without it
    #[arg(long)]
    cutoff_hz: Option<f64>,
    /// First time, s
    #[arg(long, default_value_t = f64::NEG_INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    from: f64,
    /// Last time, s
    #[arg(long, default_value_t = f64::INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    to: f64,
    /// Every how many rows of the motion
    #[arg(long, default_value_t = 1, value_name = "N")]
    every: usize,
    /// Folder for the tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// What only some analyses need.
#[derive(Default)]
pub struct Extra<'a> {
    /// Controls over time.
    pub controls: Option<&'a Path>,
    /// Whether fibers are put in equilibrium with their tendons.
    pub equilibrium: bool,
}

impl Input {
    /// The model file.
    pub fn model(&self) -> &Path {
        &self.model
    }

    /// Residuals and reserves that come without a file.
    fn helpers(&self) -> Vec<ModelOperator> {
        let reserves: Vec<f64> = self.reserves.iter().filter_map(|r| r.parse().ok()).collect();
        tool_model::helpers(&self.residuals, &reserves)
    }

    /// Makes the analyses that `choose` asks for, given the measured loads, and writes their tables.
    pub fn run(
        &self,
        extra: &Extra,
        choose: &dyn Fn(&Model) -> Result<Vec<AnalysisSetup>, Failure>,
    ) -> Result<(), Failure> {
        let is_file = |r: &&String| r.parse::<f64>().is_err();
        let files: Vec<PathBuf> = self.reserves.iter().filter(is_file).map(PathBuf::from).collect();
        let change = load::Change { force_sets: &files, ..load::Change::default() };
        let mut model = load::changed_model(&self.model, &change, load::Warnings::Tell)?;
        tool_model::add_helpers(&self.model, &mut model, &self.helpers())?;
        model.forces.extend(id::measured(&model, self.loads.as_deref(), Path::new(""))?);
        load::contact_meshes(&self.model, &mut model)?;
        let options = Options { opensim_faults: self.opensim_faults };
        let system = load::compile(&self.model, &model, &options)?;
        let folder = self.model.parent().unwrap_or(Path::new(""));
        let mut controls = drive::controllers(&model, &system, &[folder])?;
        if let Some(path) = extra.controls {
            let (labels, table) = (control_labels(&model, &system), drive::read_table(path)?);
            drive::add_table(&mut controls, &labels, &table, path, 1, &|_| true)?;
        }

        let wrong = |e: HistoryError| setup_file::no_motion(&self.motion, &e);
        let table = drive::read_motion(&self.motion)?;
        let settings = MotionSettings { cutoff_hz: self.cutoff_hz, opensim_faults: self.opensim_faults };
        setup_file::warn_of_data(&self.motion, (&model, &system), &table, self.cutoff_hz);
        let is_states = has_speeds(&model, &system, &table);
        let history = match is_states {
            true => StateHistory::from_states(&model, &system, table),
            false => StateHistory::from_coordinates(&model, &system, &table, None, &settings),
        };
        let history = history.map_err(wrong)?;
        setup_file::warn_of_defaults(&self.motion, &history);
        let rows = history.range(self.from, self.to).map_err(wrong)?;

        let mut setups = choose(&model)?;
        setups.iter_mut().for_each(|s| s.step_interval = self.every.max(1));
        let motion = Motion {
            model: &model,
            system: &system,
            history: &history,
            rows: rows.clone(),
            opensim_faults: self.opensim_faults,
            is_simulation: false,
            source: &self.motion,
            table: &|name| drive::read_table(Path::new(name)),
        };
        let mut analyses = make(&motion, &setups)?;
        let preparation =
            Preparation { solve_for_equilibrium: extra.equilibrium, opensim_faults: self.opensim_faults };
        let done = analyze((&model, &system), &history, rows, &mut controls, preparation, &mut analyses)
            .map_err(|e| failed(&self.motion, &e))?;
        report(&model, &self.motion, &done);
        setup::make_folder(&self.out)?;
        let name = self.motion.file_stem().map_or("motion".to_string(), |s| s.to_string_lossy().into_owned());
        write(&self.out, &name, &self.motion, analyses)
    }
}

/// Whether a table is one of states: it has speeds, and is not in degrees.
fn has_speeds(model: &Model, system: &System, table: &Table) -> bool {
    let n = system.tree.num_mobilities;
    let speeds = state_labels(model, system).into_iter().filter(|(_, at)| (n..2 * n).contains(at));
    table.in_degrees != Some(true)
        && speeds.into_iter().any(|(l, _)| state_column(table.labels(), &l).is_some())
}

/// The measured forces of a model.
pub fn measured(model: &Model) -> impl Iterator<Item = &Force> {
    model.forces.iter().filter(|f| matches!(f.kind, ForceKind::ExternalForce(_)))
}

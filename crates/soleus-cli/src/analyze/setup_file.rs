//! Setup files of OpenSim's `AnalyzeTool`.

use super::make::{Motion, make};
use super::{failed, report, write};
use crate::failure::Failure;
use crate::simulate::drive;
use crate::tables::GAP_HINT;
use crate::{load, setup, tool_model};
use soleus_dynamics::{Options, System};
use soleus_io::setup::{AnalysisSetup, AnalyzeSetup};
use soleus_math::Table;
use soleus_model::operator::ModelOperator;
use soleus_model::{Diagnostics, Model};
use soleus_simulation::ModelControls;
use soleus_tools::analysis::{HistoryError, MotionSettings, Preparation, StateHistory, analyze};
use soleus_tools::quality::{check_cutoff, check_points, check_units};
use std::path::{Path, PathBuf};

/// Runs the tool of a setup file, with these actuators added to the model.
pub fn run_setup(
    path: &Path,
    s: &AnalyzeSetup,
    helpers: &[ModelOperator],
    opensim_faults: bool,
    warnings: load::Warnings,
) -> Result<(), Failure> {
    let tool = &s.tool;
    let model_path = setup::required(path, "model_file", tool.model_file.as_deref())?;
    std::fs::metadata(&model_path).map_err(|e| Failure::read(&model_path, e))?;
    let mut model = tool_model::model(path, &model_path, tool, warnings)?;
    tool_model::add_helpers(&model_path, &mut model, helpers)?;
    let system = load::compile(&model_path, &model, &Options { opensim_faults })?;
    // Then the two largest files, one after the other: what the first took in memory serves the second.
    let tables = MotionTables::read(path, s)?;
    let folders = [tool_model::parent(path), tool_model::parent(&model_path)];
    let mut controls = drive::controllers(&model, &system, &folders)?;

    let motion_path = tables.file.clone();
    let history = tables.history(s, &model, &system, opensim_faults)?;
    let rows = history
        .range(tool.initial_time, tool.final_time)
        .map_err(|e| Failure::content(&motion_path, 0, "", e.to_string(), ""))?;
    let motion = Motion {
        model: &model,
        system: &system,
        history: &history,
        rows: rows.clone(),
        opensim_faults,
        is_simulation: false,
        source: path,
        table: &|name| drive::read_table(&setup::beside(path, name)),
    };
    let mut analyses = make(&motion, &s.analyses)?;
    if analyses.is_empty() {
        let message = "no analysis is on".to_string();
        return Err(Failure::content(path, 0, "", message, "add one to `AnalysisSet`"));
    }
    let preparation = Preparation { solve_for_equilibrium: tool.solve_for_equilibrium, opensim_faults };
    let done = analyze((&model, &system), &history, rows, &mut controls, preparation, &mut analyses)
        .map_err(|e| failed(path, &e))?;
    report(&model, path, &done);
    let folder = setup::beside(path, &tool.results_directory);
    setup::make_folder(&folder)?;
    write(&folder, &tool.name, path, analyses)
}

/// Makes the analyses of a forward simulation, of which `states` came. First the file that asks for them, the folder for
/// the tables and what their names begin with.
pub fn run_motion(
    (path, folder, name): (&Path, &Path, &str),
    setups: &[AnalysisSetup],
    (model, system): (&Model, &System),
    states: &Table,
    controls: &mut ModelControls,
    opensim_faults: bool,
) -> Result<(), Failure> {
    let history = StateHistory::from_states(model, system, states.clone())
        .map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?;
    let rows = 0..=states.rows().saturating_sub(1);
    let motion = Motion {
        model,
        system,
        history: &history,
        rows: rows.clone(),
        opensim_faults,
        is_simulation: true,
        source: path,
        table: &|name| drive::read_table(&setup::beside(path, name)),
    };
    let mut analyses = make(&motion, setups)?;
    if analyses.is_empty() {
        return Ok(());
    }
    analyze((model, system), &history, rows, controls, Preparation::default(), &mut analyses)
        .map_err(|e| failed(path, &e))?;
    write(folder, name, path, analyses)
}

/// The tables of the motion that a setup names.
struct MotionTables {
    file: PathBuf,
    table: Table,
    /// Whether the table is one of states, not of coordinates.
    is_states: bool,
    speeds: Option<Table>,
}

impl MotionTables {
    fn read(path: &Path, s: &AnalyzeSetup) -> Result<Self, Failure> {
        if let Some(file) = &s.states_file {
            let file = setup::beside(path, file);
            return Ok(MotionTables {
                table: drive::read_motion(&file)?,
                file,
                is_states: true,
                speeds: None,
            });
        }
        let given = s.coordinates_file.as_deref();
        let file = setup::required(path, "states_file` or `coordinates_file", given)?;
        let table = drive::read_motion(&file)?;
        let speeds = s.speeds_file.as_ref().map(|f| drive::read_motion(&setup::beside(path, f)));
        Ok(MotionTables { table, file, is_states: false, speeds: speeds.transpose()? })
    }

    fn history(
        self,
        s: &AnalyzeSetup,
        model: &Model,
        system: &System,
        opensim_faults: bool,
    ) -> Result<StateHistory, Failure> {
        let cutoff = s.lowpass_cutoff_frequency_for_coordinates;
        let settings = MotionSettings { cutoff_hz: (cutoff >= 0.0).then_some(cutoff), opensim_faults };
        warn_of_data(
            &self.file,
            (model, system),
            &self.table,
            settings.cutoff_hz.filter(|_| !self.is_states),
        );
        let history = match self.is_states {
            true => StateHistory::from_states(model, system, self.table),
            false => {
                StateHistory::from_coordinates(model, system, &self.table, self.speeds.as_ref(), &settings)
            }
        };
        let history = history.map_err(|e| no_motion(&self.file, &e))?;
        warn_of_defaults(&self.file, &history);
        Ok(history)
    }
}

/// A table that is no motion of the model.
pub fn no_motion(file: &Path, e: &HistoryError) -> Failure {
    let hint = match e {
        HistoryError::Nothing => {
            "columns are named after coordinates (knee_angle) or states (/jointset/…/value)"
        }
        HistoryError::Missing { .. } => GAP_HINT,
        _ => "",
    };
    Failure::content(file, 0, "", e.to_string(), hint)
}

/// Says if angles or lengths look as if they were in another unit, if measured forces act far from where they should, and if a filter
/// would do nothing.
pub fn warn_of_data(file: &Path, (model, system): (&Model, &System), motion: &Table, cutoff_hz: Option<f64>) {
    let mut log = Diagnostics::new(file.display().to_string());
    check_units(model, motion, &mut log);
    check_points(model, system, motion, &model.forces, &mut log);
    if let Some(hz) = cutoff_hz {
        check_cutoff(motion.times(), hz, &mut log);
    }
    load::report(&log);
}

/// Names the states that the data lack.
pub fn warn_of_defaults(file: &Path, history: &StateHistory) {
    let mut log = Diagnostics::new(file.display().to_string());
    if let Some(first) = history.at_default.first() {
        let n = history.at_default.len();
        log.warn(
            0,
            "",
            format!("no column for {n} of the states, `{first}` first: they keep their defaults"),
            "",
        );
    }
    load::report(&log);
}

//! Common parts of [`Inverse`](super::Inverse) and [`Track`](super::Track): OpenSim's `MocoTool`.

use super::changes::ModelChanges;
use super::model::{StudyModel, posed};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::{beside, required, stem_of};
use crate::inputs::table::{Take, read_rows, warn_of_units};
use crate::inverse_dynamics::check_span;
use crate::optimal_control::problem::references;
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::setup::moco::MocoToolSetup;
use soleus_io::study::{self, GoalKind, ModelStep, TableOperator, TableSource};
use soleus_math::Table;
use soleus_model::{Diagnostics, Document, Model};
use std::path::{Path, PathBuf};

/// Part of a mesh interval that is due to the rounding of times: a nanosecond in an interval of a millisecond.
const ROUNDED_INTERVAL: f64 = 1e-6;

/// The model of a tool, changes to it, and the time range.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trial {
    /// The model.
    pub model: ModelSource,
    /// Changes in a setup file, applied before the others; file names in them are relative to the folder of `asked_in`.
    pub steps: Vec<ModelStep>,
    /// Changes to the model.
    pub changes: ModelChanges,
    /// Start time, s; default: start of the data.
    pub from: Option<f64>,
    /// End time, s; default: end of the data.
    pub to: Option<f64>,
    /// Maximum mesh interval, s; default: 0.02.
    pub mesh_interval: Option<f64>,
    /// Removes one millisecond at both ends.
    pub clip_time_range: bool,
    /// Cutoff frequency of the low-pass filter on the data, Hz; default: no filter.
    pub cutoff_hz: Option<f64>,
    /// Whether to filter and differentiate the angles of the root, as OpenSim does, instead of its pose, for
    /// comparison. Results then depend on the direction in which the subject faces.
    pub root_angles: bool,
    /// Name of the result; default: name of the model.
    pub name: String,
    /// Setup file that the request was read from, for messages and file names.
    pub asked_in: Option<PathBuf>,
}

impl Trial {
    /// Creates the settings from a setup file.
    pub fn from_setup(path: &Path, t: &MocoToolSetup) -> Result<Self, Error> {
        let model = match (&t.model, t.model_file.as_deref()) {
            (Some(element), _) => {
                let file = path.display().to_string();
                Document { file, root: element.clone(), ..Document::default() }.into()
            }
            (None, Some(name)) if name.starts_with("builtin:") => name.into(),
            (None, name) => required(path, "model", name)?.into(),
        };
        Ok(Trial {
            model,
            steps: t.model_steps.clone(),
            changes: ModelChanges::default(),
            from: t.initial_time,
            to: t.final_time,
            mesh_interval: Some(t.mesh_interval),
            clip_time_range: t.clip_time_range,
            cutoff_hz: None,
            root_angles: true,
            name: t.name.clone(),
            asked_in: Some(path.to_path_buf()),
        })
    }

    /// File that the request was read from.
    pub fn path(&self) -> &Path {
        self.asked_in.as_deref().unwrap_or(self.model.path())
    }

    /// As a setup file.
    pub fn setup(&self, cx: &Context) -> Result<MocoToolSetup, Error> {
        let (model, model_file) = match &self.model {
            ModelSource::File(file) if file.to_string_lossy().starts_with("builtin:") => {
                (None, Some(file.display().to_string()))
            }
            ModelSource::File(file) => (None, Some(cx.files.absolute(file).display().to_string())),
            other => {
                let mut root = crate::inputs::model::document(cx, other)?.root;
                let model = if root.tag == "Model" { Some(root) } else { root.take_child("Model") };
                (model, None)
            }
        };
        let mut model_steps = self.steps.clone();
        model_steps.extend(self.changes.steps(cx));
        let defaults = MocoToolSetup::default();
        let is_named = !self.name.is_empty() || self.asked_in.is_some();
        Ok(MocoToolSetup {
            name: if is_named { self.name.clone() } else { stem_of(self.model.path(), "") },
            model,
            model_file,
            model_steps,
            initial_time: self.from,
            final_time: self.to,
            mesh_interval: self.mesh_interval.unwrap_or(defaults.mesh_interval),
            clip_time_range: self.clip_time_range,
        })
    }

    /// A table with operators and filter applied, angles in radians.
    pub fn table(
        &self,
        cx: &Context,
        source: &Source<Table>,
        operators: &[TableOperator],
        model: &Model,
    ) -> Result<Table, Error> {
        let table = read_rows(cx, source, Take::Markers).map_err(|e| e.named_in(self.path()))?;
        warn_of_units(cx, model, source, &table);
        self.operate(source, table, operators, model)
    }

    /// Applies operators and filter to a table; angles in radians.
    pub fn operate(
        &self,
        source: &Source<Table>,
        table: Table,
        operators: &[TableOperator],
        model: &Model,
    ) -> Result<Table, Error> {
        let filter = self.cutoff_hz.map(TableOperator::LowPass);
        let all: Vec<TableOperator> = operators.iter().cloned().chain(filter).collect();
        references::operate(self.path(), 0, source.path(), table, &all, model, self.root_angles)
    }
}

/// A table named in a setup file, and the operations on it.
pub fn named_table(
    path: &Path,
    property: &str,
    t: &TableSource,
) -> Result<(Source<Table>, Vec<TableOperator>), Error> {
    let hint = format!("give a file in `{property}`");
    let missing = || Error::content(path, 0, "", "a table is missing", &hint);
    let file = t.file.as_ref().ok_or_else(missing)?;
    Ok((Source::File(beside(path, file)), t.operators.clone()))
}

/// Start and end time, s, and number of mesh intervals of the problem, for data from `first` to `last`.
pub fn times(path: &Path, t: &MocoToolSetup, data: [f64; 2]) -> Result<([f64; 2], usize), Error> {
    let [first, last] = data;
    let (mut from, mut to) = (t.initial_time.unwrap_or(first), t.final_time.unwrap_or(last));
    let refuse = |message: String| Error::content(path, 0, "", message, "");
    if !(from >= first && to <= last) {
        let message = format!("{from} s to {to} s is requested, but the data span {first} s to {last} s");
        return Err(refuse(message));
    }
    if !(t.mesh_interval > 0.0) {
        return Err(refuse(format!("the mesh interval must be above zero, found {}", t.mesh_interval)));
    }
    // The number of intervals is that of the whole range, as in Moco; but times that are rounded, as those of a clock that started long
    // ago are, ask for none more.
    let intervals = ((to - from) / t.mesh_interval - ROUNDED_INTERVAL).ceil().max(1.0) as usize;
    if t.clip_time_range {
        (from, to) = (from + 1e-3, to - 1e-3);
    }
    if !(from < to) {
        return Err(refuse(format!("there are no data between {from} s and {to} s")));
    }
    Ok(([from, to], intervals))
}

/// Warns of loads that do not last as long as the motion.
pub fn warn_of_span(cx: &Context, motion: &Source<Table>, table: &Table, range: [f64; 2], model: &Model) {
    let mut log = Diagnostics::new(motion.path().display().to_string());
    check_span(table, range, &model.forces, &mut log);
    cx.report(&log);
}

/// Start and end time of a table.
pub fn ends(path: &Path, table: &Table) -> Result<[f64; 2], Error> {
    match (table.times().first(), table.times().last()) {
        (Some(&a), Some(&b)) => Ok([a, b]),
        _ => Err(Error::content(path, 0, "", "the motion has no rows", "")),
    }
}

/// A study with Moco's defaults, without goals and solver.
pub fn study(t: &MocoToolSetup, [from, to]: [f64; 2], solver: study::Solver) -> study::Problem {
    study::Problem {
        name: t.name.clone(),
        model: t.model.clone(),
        model_file: t.model_file.clone(),
        model_steps: t.model_steps.clone(),
        initial_time: Some([from, from]),
        final_time: Some([to, to]),
        solver,
        ..study::Problem::default()
    }
}

/// A goal with a weight and default settings.
pub fn goal(name: &str, weight: f64, kind: GoalKind) -> study::Goal {
    study::Goal {
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

/// The model of a tool as part of a problem.
pub fn posed_model(
    cx: &Context,
    path: &Path,
    t: &MocoToolSetup,
    motion: Option<&Source<Table>>,
) -> Result<ModelProblem, Error> {
    posed(cx, &StudyModel::of_tool(path, t, motion))
}

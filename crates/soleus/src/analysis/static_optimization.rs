//! Static optimization: muscle forces and activations for a measured motion.

use super::{AnalysisOutput, AnalysisTable, AnalysisTables, Analyze};
use crate::context::{Context, Silent};
use crate::emg::{self, Emg, EmgComparison};
use crate::error::Error;
use crate::inputs::model;
use crate::muscle_control::{TrackingReport, page, report};
use crate::source::{ModelSource, Source};
use crate::viewing::{View, geometry};
use serde::{Deserialize, Serialize};
use soleus_dynamics::{Options, State, System};
use soleus_io::setup::{AnalysisKind, AnalysisSetup};
use soleus_math::Table;
use soleus_model::{ForceKind, Model};
use soleus_viewer::scene::FEW_FACES;
use soleus_viewer::{Activations, Animation, Recorder, Report, SceneOptions};
use std::path::PathBuf;

/// Name of the analysis.
const NAME: &str = "StaticOptimization";

/// Minimum-effort activations (Σ aᵖ) that produce the measured accelerations, at each time.
///
/// ```no_run
/// use soleus::{Context, Disk, StaticOptimization};
/// let files = Disk::new();
/// let request = StaticOptimization {
///     model: "subject.osim".into(),
///     motion: "walk.mot".into(),
///     loads: Some("walk_grf.xml".into()),
///     residuals: vec![10.0, 50.0],
///     reserves: vec![1.0],
///     cutoff_hz: Some(6.0),
///     ..Default::default()
/// };
/// let found = request.run(&Context::new(&files))?;
/// let activations = found.table("StaticOptimization", "_activation");
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct StaticOptimization {
    /// The model (.osim, any version).
    pub model: ModelSource,
    /// The motion: coordinates (.mot, .sto; in degrees if the header says so) or states (.sto; with columns for
    /// speeds).
    pub motion: Source<Table>,
    /// Measured loads: an XML file with `ExternalLoads`, or a table of force plates (.mot, .sto, .csv, .c3d).
    pub loads: Option<PathBuf>,
    /// Files whose `ForceSet` is added to the model, such as reserve actuators.
    pub force_sets: Vec<PathBuf>,
    /// Residual actuators between ground and the model: optimal moment (N m) and optimal force (N); a single number is
    /// used for both.
    pub residuals: Vec<f64>,
    /// Reserve actuators for all free coordinates without an actuator: optimal force (N m or N).
    pub reserves: Vec<f64>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz; default: no filter.
    pub cutoff_hz: Option<f64>,
    /// Start time, s; default: start of the motion.
    pub from: Option<f64>,
    /// End time, s; default: end of the motion.
    pub to: Option<f64>,
    /// Use every Nth row of the motion.
    pub every: usize,
    /// Exponent p of the effort, from 1 to 100.
    pub exponent: f64,
    /// Whether the force of a muscle depends on its length and velocity.
    pub muscle_physiology: bool,
    /// Files to write.
    pub output: AnalysisOutput,
    /// Whether to reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Whether to filter and differentiate the angles of the root, as OpenSim does, instead of its pose, for
    /// comparison. Results then depend on the direction in which the subject faces.
    pub root_angles: bool,
    /// Measured EMG for comparison with activations; its weight has no effect.
    pub emg: Option<Emg>,
    /// Output page (.html) with activations, residuals and reserves compared with the usual limits, and EMG.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<PathBuf>,
}

impl Default for StaticOptimization {
    fn default() -> Self {
        StaticOptimization {
            model: ModelSource::default(),
            motion: Source::default(),
            loads: None,
            force_sets: Vec::new(),
            residuals: Vec::new(),
            reserves: Vec::new(),
            cutoff_hz: None,
            from: None,
            to: None,
            every: 1,
            exponent: 2.0,
            muscle_physiology: true,
            output: AnalysisOutput::default(),
            opensim_faults: false,
            root_angles: false,
            emg: None,
            page: None,
        }
    }
}

impl StaticOptimization {
    /// Solves all rows. If the actuators are too weak, the tables contain the closest solution and the verdict is an
    /// error.
    pub fn run(&self, cx: &Context) -> Result<AnalysisTables, Error> {
        let curves = match &self.emg {
            Some(emg) => emg.curves(cx, &model::read(&cx.without_model_warnings(), &self.model)?)?,
            None => Vec::new(),
        };
        let mut found = self.analysis().run(cx)?;
        let mut compared = Vec::new();
        if let (Some(emg), Some(activations)) = (&self.emg, found.table(NAME, "_activation")) {
            let made = emg::compare(&curves, activations.times(), |m| activations.column(m));
            let (list, table) =
                made.map_err(|e| Error::content(emg.signals.path(), 0, "", e.to_string(), ""))?;
            match table {
                Some(table) => {
                    cx.note(format!("activations compared with EMG:\n{}", emg::told(&list).trim_end()));
                    let (analysis, suffix) = (NAME.to_string(), "_emg".to_string());
                    found.tables.push(AnalysisTable { analysis, suffix, table, is_controls: false });
                    compared = list;
                }
                None => cx.warn(emg.signals.path(), "EMG and motion do not overlap in time".to_string(), ""),
            }
        }
        if let Some(file) = &self.page {
            let page = self.page(&Context { monitor: &Silent, ..*cx }, &found, compared)?;
            found.page = Some((file.clone(), page));
        }
        Ok(found)
    }

    /// The page of a result.
    fn page(&self, cx: &Context, found: &AnalysisTables, emg: Vec<EmgComparison>) -> Result<String, Error> {
        let mut page = Report::new(format!("{} · static optimization", found.name));
        let (Some(forces), Some(activations)) =
            (found.table(NAME, "_force"), found.table(NAME, "_activation"))
        else {
            return Ok(page.to_html());
        };
        let (times, p) = (forces.times(), self.exponent);
        if let (Some(first), Some(last)) = (times.first(), times.last()) {
            let n = times.len();
            let effort = match p {
                1.0 => "activations".to_string(),
                2.0 => "squared activations".to_string(),
                3.0 => "cubed activations".to_string(),
                p => format!("activations to the power of {p}"),
            };
            page = page.text(format!(
                "{n} times from {first:.3} s to {last:.3} s; the sum of {effort} is minimised."
            ));
        }
        for line in &found.unsolved {
            page = page.text(line.clone());
        }
        // The model and its states once more, for the moments of its joints.
        let analysis = self.analysis();
        let model = analysis.model(cx)?;
        let options = Options { opensim_faults: self.opensim_faults };
        let system = model::compile(self.model.path(), &model, &options)?;
        let history = super::history::read(cx, &analysis, (&model, &system))?;
        let mut states = Vec::with_capacity(times.len());
        for (k, t) in times.iter().enumerate() {
            let row = history.times().partition_point(|x| *x < t - 1e-9);
            if row < history.times().len() {
                let mut x = system.default_state.clone();
                history.state(row, &mut x);
                states.push((k, x));
            }
        }
        let helpers = report::helpers((&model, &system), &states, forces);
        let report = TrackingReport { helpers, emg, has_muscles: true, ..TrackingReport::default() };
        page = page::limits(page, &report);
        if let Some(figure) = self.figure(cx, (&model, &system), &states, activations) {
            page = page.heading("Motion").animation(&figure);
        }
        page = page::help(page, &report);
        if let Some(table) = found.table(NAME, "_emg") {
            page = emg::section(page, &report.emg, table);
        }
        let is_muscle = |label: &str| {
            model.forces.iter().any(|f| f.name == label && matches!(f.kind, ForceKind::Muscle(_)))
        };
        let plots = page::activations(activations, is_muscle);
        if !plots.is_empty() {
            page = page.heading("Activations").plots(plots);
        }
        Ok(page.to_html())
    }

    /// The figure at the times of the result, muscles colored by their activations.
    fn figure(
        &self,
        cx: &Context,
        (model, system): (&Model, &System),
        states: &[(usize, State<f64>)],
        activations: &Table,
    ) -> Option<Animation> {
        let geometry = geometry(cx, &self.model, model, None, FEW_FACES).ok()?;
        let found = Activations::new(model, system, activations);
        let mut recorder =
            Recorder::new(model, system, &SceneOptions { geometry }).with(found.is_some(), false);
        // As many frames as a page of `view` has.
        let (mut last, between) = (f64::NEG_INFINITY, 1.0 / View::default().frame_rate);
        for (_, x) in states.iter().filter(|(_, x)| {
            let is_shown = x.time >= last + between - 1e-9;
            last = if is_shown { x.time } else { last };
            is_shown
        }) {
            let mut x = x.clone();
            found.iter().for_each(|a| a.read(&mut x));
            recorder.record(&x);
        }
        Some(recorder.finish())
    }

    /// The same as an [`Analyze`] request.
    pub fn analysis(&self) -> Analyze {
        let setup = AnalysisSetup {
            name: NAME.to_string(),
            line: 0,
            on: true,
            step_interval: self.every,
            in_degrees: true,
            kind: AnalysisKind::StaticOptimization {
                use_model_force_set: true,
                exponent: self.exponent,
                use_muscle_physiology: self.muscle_physiology,
            },
        };
        Analyze {
            model: self.model.clone(),
            motion: self.motion.clone(),
            loads: self.loads.clone(),
            force_sets: self.force_sets.clone(),
            residuals: self.residuals.clone(),
            reserves: self.reserves.clone(),
            cutoff_hz: self.cutoff_hz,
            from: self.from,
            to: self.to,
            analyses: vec![setup],
            output: self.output.clone(),
            opensim_faults: self.opensim_faults,
            root_angles: self.root_angles,
            ..Analyze::default()
        }
    }
}

/// Checks the exponent of static optimization.
pub fn check_exponent(p: f64) -> Result<(), String> {
    // What the solver takes.
    soleus_optimization::separable::PowerProgram::new(0, 0, p).map(|_| ()).map_err(|e| e.to_string())
}

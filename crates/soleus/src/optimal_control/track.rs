//! A motion that tracks a measured one, `MocoTrack`.

use super::options::SolveOptions;
use super::run::session::PosedStudy;
use super::solution::Solution;
use super::tool::{self, Trial};
use super::{Inputs, problem::references};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::inputs::table::read_markers;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::solution::Columns;
use soleus_io::setup::moco::MocoTrackSetup;
use soleus_io::study::{self, Goal, GoalKind, Study, TableOperator, TableSource, Weight, WeightedSet};
use soleus_math::Table;
use soleus_model::id::CoordinateId;
use std::path::Path;

/// Controls and a dynamically consistent motion that tracks measured coordinates or markers.
///
/// ```no_run
/// use soleus::optimal_control::{ModelChanges, Track, tool::Trial};
/// use soleus::{Context, Disk};
/// let files = Disk::new();
/// let changes = ModelChanges { remove_muscles: true, reserves: vec![100.0], ..Default::default() };
/// let trial = Trial { model: "gait.osim".into(), changes, ..Default::default() };
/// let request = Track { trial, states: Some("walk.sto".into()), ..Default::default() };
/// let solution = request.run(&Context::new(&files))?;
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Track {
    /// Model and time range.
    #[serde(flatten)]
    pub trial: Trial,
    /// Coordinates over time to track (.sto, .mot).
    pub states: Option<Source<Table>>,
    /// Operations on the coordinates before filtering.
    pub state_operators: Vec<TableOperator>,
    /// Weight of the tracking error of the states; default: 1.
    pub states_weight: Option<f64>,
    /// Weights of individual states; default: 1.
    pub state_weights: Vec<Weight>,
    /// Whether to divide the weights of states by the range of their values.
    pub scale_state_weights_with_range: bool,
    /// Whether to track the derivatives of the coordinates as speeds as well.
    pub derivatives: bool,
    /// Markers to track (.trc, .sto, .c3d).
    pub markers: Option<Source<Table>>,
    /// Operations on the markers before filtering.
    pub marker_operators: Vec<TableOperator>,
    /// Weight of the tracking error of the markers; default: 1.
    pub markers_weight: Option<f64>,
    /// Weights of individual markers; default: 1.
    pub marker_weights: Vec<Weight>,
    /// Whether columns of the data that are not in the model are an error.
    pub refuse_unused_references: bool,
    /// Weight of the squared controls; default: 0.001; 0 for no control cost.
    pub effort_weight: Option<f64>,
    /// Weights of individual controls in the effort; default: 1.
    pub control_weights: Vec<Weight>,
    /// Whether to use the tracked motion as initial guess.
    pub start_from_reference: bool,
    /// Additional goals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// Solver settings and output files.
    #[serde(flatten)]
    pub options: SolveOptions,
}

impl Track {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &MocoTrackSetup) -> Result<Self, Error> {
        let named = |t: &Option<TableSource>, property: &str| match t {
            Some(t) => {
                tool::named_table(path, property, t).map(|(table, operators)| (Some(table), operators))
            }
            None => Ok((None, Vec::new())),
        };
        let (states, state_operators) = named(&s.states_reference, "states_reference")?;
        let (markers, marker_operators) = named(&s.markers_reference, "markers_reference")?;
        let guess = s.guess_file.as_ref().map(|f| Source::File(beside(path, f)));
        Ok(Track {
            trial: Trial::from_setup(path, &s.tool)?,
            states,
            state_operators,
            states_weight: Some(s.states_global_tracking_weight),
            state_weights: s.states_weights.clone(),
            scale_state_weights_with_range: s.scale_state_weights_with_range,
            derivatives: s.track_reference_position_derivatives,
            markers,
            marker_operators,
            markers_weight: Some(s.markers_global_tracking_weight),
            marker_weights: s.markers_weights.clone(),
            refuse_unused_references: !s.allow_unused_references,
            effort_weight: Some(if s.minimize_control_effort { s.control_effort_weight } else { 0.0 }),
            control_weights: s.controls_weights.clone(),
            start_from_reference: s.apply_tracked_states_to_guess,
            goals: Vec::new(),
            options: SolveOptions { guess, ..SolveOptions::default() },
        })
    }

    /// Computes the motion.
    pub fn run(&self, cx: &Context) -> Result<Solution, Error> {
        self.options.check(self.trial.path())?;
        self.pose(cx)?.solve(cx, &self.options)
    }

    /// The study of the tool, with its model and data.
    pub fn pose(&self, cx: &Context) -> Result<PosedStudy, Error> {
        let path = self.trial.path();
        if self.states.is_none() && self.markers.is_none() {
            let message = "there is nothing to track: neither states nor markers are given";
            return Err(Error::content(path, 0, "", message, "give coordinates or markers over time"));
        }
        let setup = self.trial.setup(cx)?;
        let model = tool::posed_model(cx, path, &setup, self.states.as_ref())?;
        let defaults = MocoTrackSetup::default();
        let mut inputs = Inputs::default();
        let mut data = [f64::NEG_INFINITY, f64::INFINITY];
        let mut overlap = |[first, last]: [f64; 2]| data = [data[0].max(first), data[1].min(last)];
        let mut goals = Vec::new();

        let (mut tracked, mut tracked_markers) = (None, None);
        if let Some(source) = &self.states {
            let table = self.trial.table(cx, source, &self.state_operators, &model.model)?;
            let mut table = references::absolute_names(table, &model.model);
            if self.derivatives {
                table = references::with_speeds(table, &model.model, path)?;
            }
            overlap(tool::ends(path, &table)?);
            let kind = GoalKind::StateTracking {
                reference: TableSource::default(),
                pattern: None,
                weights: WeightedSet { names: weights(&self.state_weights, &model), patterns: Vec::new() },
                scale_weights_with_range: self.scale_state_weights_with_range,
                allow_unused: !self.refuse_unused_references,
            };
            let weight = self.states_weight.unwrap_or(defaults.states_global_tracking_weight);
            goals.push(tool::goal("state_tracking", weight, kind));
            inputs.given.add("state_tracking", table.clone());
            tracked = Some(table);
        }
        if let Some(source) = &self.markers {
            let table = read_markers(cx, source).map_err(|e| e.named_in(path))?.0.flattened();
            let table = self.trial.operate(source, table, &self.marker_operators, &model.model)?;
            overlap(tool::ends(path, &table)?);
            let kind = GoalKind::MarkerTracking {
                file: None,
                weights: self.marker_weights.clone(),
                default_weight: 1.0,
                allow_unused: !self.refuse_unused_references,
            };
            let weight = self.markers_weight.unwrap_or(defaults.markers_global_tracking_weight);
            goals.push(tool::goal("marker_tracking", weight, kind));
            inputs.given.add("marker_tracking", table.clone());
            tracked_markers = Some(table);
        }
        let effort = self.effort_weight.unwrap_or(defaults.control_effort_weight);
        if effort > 0.0 {
            let weights = WeightedSet { names: self.control_weights.clone(), patterns: Vec::new() };
            goals.push(tool::goal("control_effort", effort, GoalKind::Control { weights, exponent: 2.0 }));
        }

        let (times, intervals) = tool::times(path, &setup, data)?;
        let tables = [(&self.states, &tracked), (&self.markers, &tracked_markers)];
        if let Some((source, table)) = tables.iter().find_map(|(s, t)| s.as_ref().zip(t.as_ref())) {
            tool::warn_of_span(cx, source, table, times, &model.model);
        }
        let solver = study::Solver {
            num_mesh_intervals: intervals,
            optim_convergence_tolerance: 1e-2,
            optim_constraint_tolerance: 1e-2,
            ..study::Solver::default()
        };
        let mut study = tool::study(&setup, times, solver);
        study.goals = goals;
        if self.start_from_reference {
            let Some(table) = &tracked else {
                let message = "starting from the tracked motion needs coordinates to track";
                let hint = "in a setup file: `apply_tracked_states_to_guess` needs a `states_reference`";
                return Err(Error::content(path, 0, "", message, hint));
            };
            inputs.guess = Some(guess(path, table, times, intervals, &model)?);
        }
        let mut study = Study::from(study);
        study.setup.goals.extend(self.goals.iter().cloned());
        Ok(PosedStudy { path: path.to_path_buf(), study, is_moco: true, model, inputs })
    }
}

/// Weights as the file gives them; states of coordinates that cannot move on their own count nothing, unless a weight
/// is given for them.
fn weights(given: &[Weight], base: &ModelProblem) -> Vec<Weight> {
    let mut list: Vec<Weight> = given.iter().filter(|w| base.states.contains(&w.name)).cloned().collect();
    for (i, c) in base.model.coordinates.iter().enumerate() {
        let constrained = base.model.is_constrained(CoordinateId(i));
        for name in [format!("{}/value", c.path), format!("{}/speed", c.path)] {
            if constrained && base.states.contains(&name) && !list.iter().any(|w| w.name == name) {
                list.push(Weight { name, weight: 0.0 });
            }
        }
    }
    list
}

/// The tracked states over the time of the problem. Moco stretches the whole table over it.
fn guess(
    path: &Path,
    table: &Table,
    [from, to]: [f64; 2],
    intervals: usize,
    base: &ModelProblem,
) -> Result<Trajectory, Error> {
    let rows = 2 * intervals;
    let times: Vec<f64> = (0..=rows).map(|k| from + (to - from) * k as f64 / rows as f64).collect();
    let mut states = Columns { names: Vec::new(), rows: vec![Vec::new(); times.len()] };
    for (label, column) in table.labels().iter().zip(table.columns()) {
        if !base.states.contains(label) {
            continue;
        }
        let function = references::spline(path, table, column)?;
        states.names.push(label.clone());
        for (row, &t) in states.rows.iter_mut().zip(&times) {
            row.push(function.eval1(t)[0]);
        }
    }
    Ok(Trajectory { times, states, ..Trajectory::default() })
}

//! `soleus track`: a motion that follows a measured one, `MocoTrack`.

use super::tool::{self, ModelFlags, OutputFlags, TimeFlags};
use super::{Arguments as Solve, Inputs, inverse, model, references};
use crate::failure::Failure;
use crate::{ik, setup};
use clap::Args;
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::solution::Columns;
use soleus_io::setup::Setup;
use soleus_io::setup::moco::{GoalKind, MocoSolver, MocoTrackSetup, TableSource, Weight, WeightedSet};
use soleus_math::Table;
use soleus_model::id::CoordinateId;
use std::path::{Path, PathBuf};

/// Arguments of `soleus track`.
#[derive(Args)]
#[command(after_help = "Examples:\n  soleus track track_setup.xml\n  \
    soleus track gait.osim --states walk.sto --cutoff-hz 6 --derivatives --loads grf.xml --remove-muscles \\\n    \
    --reserves 100 --states-weight 10 --out walk_tracked.sto\n\n\
    Finds controls and a motion that obeys the model and stays near measured coordinates or markers.")]
pub struct Arguments {
    /// Model (.osim), or a setup file of a MocoTrack (.xml)
    model: PathBuf,
    /// Coordinates over time to follow (.sto, .mot)
    #[arg(long, value_name = "MOTION.sto")]
    states: Option<PathBuf>,
    /// Weight of the states' error; 1 if no setup file says otherwise
    #[arg(long, value_name = "WEIGHT")]
    states_weight: Option<f64>,
    /// Follow the slopes of the coordinates as speeds too
    #[arg(long)]
    derivatives: bool,
    /// Markers to follow (.trc, .sto)
    #[arg(long, value_name = "MARKERS.trc")]
    markers: Option<PathBuf>,
    /// Weight of the markers' error; 1 if no setup file says otherwise
    #[arg(long, value_name = "WEIGHT")]
    markers_weight: Option<f64>,
    /// Weight of the squared controls, 0.001 if no setup file says otherwise; 0 leaves them out
    #[arg(long, value_name = "WEIGHT")]
    effort_weight: Option<f64>,
    /// Start from the motion that is followed
    #[arg(long)]
    start_from_reference: bool,
    #[command(flatten)]
    times: TimeFlags,
    #[command(flatten)]
    changes: ModelFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// Runs `soleus track`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let solve = a.output.arguments(&a.model);
    if a.states.is_none() && a.markers.is_none() {
        return match setup::read(&a.model)? {
            Setup::MocoTrack(mut s) => {
                tool::add_flags(&mut s.tool, &a.changes, &a.times);
                for reference in [&mut s.states_reference, &mut s.markers_reference].into_iter().flatten() {
                    reference.operators.extend(tool::filter(&a.times));
                }
                s.states_global_tracking_weight = a.states_weight.unwrap_or(s.states_global_tracking_weight);
                s.markers_global_tracking_weight =
                    a.markers_weight.unwrap_or(s.markers_global_tracking_weight);
                s.control_effort_weight = a.effort_weight.unwrap_or(s.control_effort_weight);
                s.track_reference_position_derivatives |= a.derivatives;
                s.apply_tracked_states_to_guess |= a.start_from_reference;
                run_with(&a.model, &s, &solve)
            }
            _ => {
                let hint = "give a model and --states or --markers, or a setup file of a MocoTrack";
                Err(Failure::content(&a.model, 0, "", "the file holds no MocoTrack".into(), hint))
            }
        };
    }
    let defaults = MocoTrackSetup::default();
    let effort = a.effort_weight.unwrap_or(defaults.control_effort_weight);
    let s = MocoTrackSetup {
        tool: tool::of_flags(&a.model, &a.changes, &a.times),
        states_reference: a.states.as_ref().map(|f| tool::table(f, &a.times)),
        states_global_tracking_weight: a.states_weight.unwrap_or(defaults.states_global_tracking_weight),
        track_reference_position_derivatives: a.derivatives,
        markers_reference: a.markers.as_ref().map(|f| tool::table(f, &a.times)),
        markers_global_tracking_weight: a.markers_weight.unwrap_or(defaults.markers_global_tracking_weight),
        allow_unused_references: true,
        apply_tracked_states_to_guess: a.start_from_reference,
        minimize_control_effort: effort > 0.0,
        control_effort_weight: effort,
        ..defaults
    };
    run_with(&a.model, &s, &solve)
}

/// Runs the tool of a setup file.
pub fn run_setup(path: &Path, s: &MocoTrackSetup) -> Result<(), Failure> {
    run_with(path, s, &Solve::of_file(path))
}

fn run_with(path: &Path, s: &MocoTrackSetup, a: &Solve) -> Result<(), Failure> {
    let base = tool::posed(path, &s.tool)?;
    let mut inputs = Inputs::default();
    let mut data = [f64::NEG_INFINITY, f64::INFINITY];
    let mut overlap = |[first, last]: [f64; 2]| data = [data[0].max(first), data[1].min(last)];
    let mut goals = Vec::new();

    let mut tracked = None;
    if let Some(source) = &s.states_reference {
        let table = references::process(path, 0, source, &base.model)?;
        let mut table = references::absolute_names(table, &base.model);
        if s.track_reference_position_derivatives {
            table = references::with_speeds(table, &base.model, path)?;
        }
        overlap(inverse::ends(path, &table)?);
        let kind = GoalKind::StateTracking {
            reference: TableSource::default(),
            pattern: None,
            weights: WeightedSet { names: weights(&s.states_weights, &base), patterns: Vec::new() },
            scale_weights_with_range: s.scale_state_weights_with_range,
            allow_unused: s.allow_unused_references,
        };
        goals.push(tool::goal("state_tracking", s.states_global_tracking_weight, kind));
        inputs.given.add("state_tracking", table.clone());
        tracked = Some(table);
    }
    if let Some(source) = &s.markers_reference {
        let file = setup::required(path, "markers_reference", source.file.as_deref())?;
        let table = ik::marker_table(&file)?.flattened();
        let table = references::operate(path, 0, &file, table, &source.operators, &base.model)?;
        overlap(inverse::ends(path, &table)?);
        let kind = GoalKind::MarkerTracking {
            file: None,
            weights: s.markers_weights.clone(),
            default_weight: 1.0,
            allow_unused: s.allow_unused_references,
        };
        goals.push(tool::goal("marker_tracking", s.markers_global_tracking_weight, kind));
        inputs.given.add("marker_tracking", table);
    }
    if goals.is_empty() {
        let message = "there is nothing to track: neither states nor markers are given".to_string();
        return Err(Failure::content(path, 0, "", message, ""));
    }
    if s.minimize_control_effort {
        let weights = WeightedSet { names: s.controls_weights.clone(), patterns: Vec::new() };
        let kind = GoalKind::Control { weights, exponent: 2.0 };
        goals.push(tool::goal("control_effort", s.control_effort_weight, kind));
    }

    let (times, intervals) = tool::times(path, &s.tool, data)?;
    let solver = MocoSolver {
        num_mesh_intervals: intervals,
        optim_convergence_tolerance: 1e-2,
        optim_constraint_tolerance: 1e-2,
        guess_file: s.guess_file.clone(),
        ..MocoSolver::default()
    };
    let mut study = tool::study(&s.tool, times, solver);
    study.goals = goals;
    if s.apply_tracked_states_to_guess {
        let Some(table) = &tracked else {
            let message = "`apply_tracked_states_to_guess` needs a `states_reference`".to_string();
            return Err(Failure::content(path, 0, "", message, ""));
        };
        inputs.guess = Some(guess(path, table, times, intervals, &base)?);
    }
    super::solve(model::Source::of_tool(path, &s.tool), &study, a, base, inputs)
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
) -> Result<Trajectory, Failure> {
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

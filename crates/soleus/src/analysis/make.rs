//! Creates the analyses of a request.

use super::failed;
use super::progress::CountRows;
use crate::context::Context;
use crate::error::Error;
use soleus_dynamics::System;
use soleus_io::setup::{AnalysisKind, AnalysisSetup};
use soleus_math::{Table, Vec3};
use soleus_model::{Diagnostics, Model};
use soleus_tools::analysis::{
    Actuation, Analysis, BodyKinematics, ContactConstraint, ForceReporter, InducedAccelerations,
    InducedSettings, JointPower, JointReaction, Kinematics, LookBack, MuscleAnalysis, OutputReporter,
    PointKinematics, ProbeReporter, ReactionChoice, Scheduled, StateHistory, StatesReporter,
};
use soleus_tools::static_optimization::{self, Settings, StaticOptimization};
use std::ops::RangeInclusive;
use std::path::Path;

/// The motion to be analysed, and a reader for tables.
pub struct Motion<'a> {
    /// The model.
    pub model: &'a Model,
    /// The compiled model.
    pub system: &'a System,
    /// States over time.
    pub history: &'a StateHistory,
    /// Rows to analyse.
    pub rows: RangeInclusive<usize>,
    /// Whether to reproduce known errors of OpenSim.
    pub opensim_faults: bool,
    /// Whether the motion comes from a simulation in memory, not from a file.
    pub is_simulation: bool,
    /// File that the request was read from, for messages.
    pub source: &'a Path,
    /// Reads a table by file name.
    pub table: &'a dyn Fn(&str) -> Result<Table, Error>,
}

/// Creates the analyses that are switched on. Unknown classes are reported in a warning.
pub fn make<'c>(
    cx: &'c Context<'c>,
    m: &Motion,
    setups: &[AnalysisSetup],
) -> Result<Vec<Scheduled<'c>>, Error> {
    let mut list = Vec::new();
    let mut log = Diagnostics::new(m.source.display().to_string());
    for s in setups.iter().filter(|s| s.on) {
        match analysis(m, s)? {
            Some(analysis) => {
                // Analyses that use earlier rows see all of them, and choose which to write.
                let step_interval = if analysis.looks_back() { 1 } else { s.step_interval };
                list.push(Scheduled { name: s.name.clone(), step_interval, analysis });
            }
            None => {
                let AnalysisKind::Other(class) = &s.kind else { continue };
                log.warn(s.line, "", format!("analysis `{}`: class `{class}` is not supported", s.name), "");
            }
        }
    }
    cx.report(&log);
    // The rows that are gone through, counted where the most frequent analysis is made.
    if let Some(every) = list.iter().map(|s| s.step_interval.max(1)).min() {
        let total = m.rows.end() / every - m.rows.start() / every + 1;
        let analysis = Box::new(CountRows::new(cx, total));
        list.push(Scheduled { name: String::new(), step_interval: every, analysis });
    }
    Ok(list)
}

fn analysis(m: &Motion, s: &AnalysisSetup) -> Result<Option<Box<dyn Analysis>>, Error> {
    let wrong = |e| failed(m.source, &e);
    let content = |text: String| Error::content(m.source, s.line, "", text, "");
    let (model, system) = (m.model, m.system);
    let forces = |file: &Option<String>| file.as_deref().map(|f| (m.table)(f)).transpose();
    Ok(Some(match &s.kind {
        AnalysisKind::Kinematics { coordinates } => {
            Box::new(Kinematics::new(model, system, coordinates, s.in_degrees).map_err(wrong)?)
        }
        AnalysisKind::BodyKinematics { bodies, in_body_axes } => {
            Box::new(BodyKinematics::new(model, bodies, *in_body_axes, s.in_degrees).map_err(wrong)?)
        }
        AnalysisKind::PointKinematics { body, relative_to, point_name, point } => {
            let point = (body.as_str(), Vec3::from_array(*point));
            Box::new(PointKinematics::new(model, point, point_name, relative_to.as_deref()).map_err(wrong)?)
        }
        AnalysisKind::MuscleAnalysis { muscles, coordinates, compute_moments } => {
            let arms = compute_moments.then_some(coordinates.as_slice());
            Box::new(MuscleAnalysis::new(model, muscles, arms, m.opensim_faults).map_err(wrong)?)
        }
        AnalysisKind::JointReaction { forces_file, joints, on_bodies, in_frames } => {
            let choices = choices(joints, on_bodies, in_frames).map_err(content)?;
            let forces = forces(forces_file)?;
            Box::new(JointReaction::new(model, system, &choices, forces.as_ref()).map_err(wrong)?)
        }
        AnalysisKind::ForceReporter { with_constraints } => {
            Box::new(ForceReporter::new(model, system, *with_constraints))
        }
        AnalysisKind::Actuation => Box::new(Actuation::new(model, system, m.opensim_faults)),
        AnalysisKind::StatesReporter => Box::new(StatesReporter::new(model, system)),
        AnalysisKind::ProbeReporter => {
            let look_back = match (m.opensim_faults, m.is_simulation) {
                (false, _) => LookBack::Motion,
                (true, false) => LookBack::OpenSimAnalyze,
                (true, true) => LookBack::OpenSimForward,
            };
            Box::new(ProbeReporter::new(model, s.step_interval, look_back))
        }
        AnalysisKind::OutputReporter { paths } => {
            Box::new(OutputReporter::new(model, system, paths).map_err(wrong)?)
        }
        AnalysisKind::StaticOptimization { exponent, use_muscle_physiology, use_model_force_set } => {
            let settings = Settings {
                exponent: *exponent,
                use_muscle_physiology: *use_muscle_physiology,
                use_model_force_set: *use_model_force_set,
                opensim_faults: m.opensim_faults,
                // As for angles of the root, setup files keep to OpenSim.
                unbalanced_paths: m.opensim_faults || m.history.is_by_angles(),
            };
            let made = StaticOptimization::new(model, system, m.history, m.rows.clone(), &settings);
            Box::new(made.map_err(|e| Error::content(m.source, 0, "", e.to_string(), remedy(&e)))?)
        }
        AnalysisKind::InducedAccelerations {
            coordinates,
            bodies,
            contacts,
            force_threshold,
            potentials_only,
            report_reactions,
            forces_file,
        } => {
            let mut list = Vec::new();
            for c in contacts {
                if c.class != "RollingOnSurfaceConstraint" {
                    let message =
                        format!("contact `{}`: a `{}` cannot replace a contact force", c.name, c.class);
                    let hint = "use a RollingOnSurfaceConstraint";
                    return Err(Error::content(m.source, c.line, "", message, hint));
                }
                list.push(ContactConstraint {
                    name: c.name.clone(),
                    rolling_body: c.rolling_body.clone(),
                    surface_body: c.surface_body.clone(),
                    normal: Vec3::from_array(c.normal),
                    friction: c.friction,
                    radius: c.radius,
                });
            }
            let settings = InducedSettings {
                coordinates: coordinates.clone(),
                bodies: bodies.clone(),
                contacts: list,
                force_threshold: *force_threshold,
                potentials_only: *potentials_only,
                report_reactions: *report_reactions,
                in_degrees: s.in_degrees,
                opensim_faults: m.opensim_faults,
            };
            let made = InducedAccelerations::new(model, system, &settings, forces(forces_file)?.as_ref());
            Box::new(made.map_err(wrong)?)
        }
        AnalysisKind::JointPower => {
            let made = JointPower::new(model, system, m.history, m.rows.clone());
            Box::new(made.map_err(|e| content(e.to_string()))?)
        }
        AnalysisKind::Other(_) => return Ok(None),
    }))
}

/// What to do if static optimization of a model is not possible.
fn remedy(e: &static_optimization::Error) -> &'static str {
    match e {
        static_optimization::Error::NoStrength { .. } => {
            "use `soleus cmc` for such muscles, or ignore length and velocity with --isometric; a pipeline runs \
             without muscles with --no-muscles"
        }
        _ => "",
    }
}

/// One choice for each joint; a list of one entry holds for all.
fn choices(joints: &[String], on: &[String], frames: &[String]) -> Result<Vec<ReactionChoice>, String> {
    let at = |list: &[String], i: usize, what: &str| match list {
        [one] => Ok(one.clone()),
        _ if list.len() == joints.len() => Ok(list[i].clone()),
        _ => Err(format!("`{what}` has {} entries for {} joints", list.len(), joints.len())),
    };
    let mut choices = Vec::new();
    for (i, joint) in joints.iter().enumerate() {
        let body = at(on, i, "apply_on_bodies")?.to_ascii_lowercase();
        if body != "child" && body != "parent" {
            return Err(format!("`apply_on_bodies` must be `child` or `parent`, not `{body}`"));
        }
        let in_frame = at(frames, i, "express_in_frame")?;
        choices.push(ReactionChoice { joint: joint.clone(), on_child: body == "child", in_frame });
    }
    Ok(choices)
}

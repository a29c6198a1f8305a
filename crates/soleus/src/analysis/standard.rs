//! Analyses with their usual settings, by name.

use soleus_io::setup::{AnalysisKind, AnalysisSetup, ContactSetup};
use soleus_model::{Force, ForceKind, Model};

/// Friction coefficient of contacts in induced accelerations, as OpenSim's examples have it.
const FRICTION: f64 = 0.65;

/// An analysis with its usual settings: `kinematics`, `body`, `muscle`, `joint-reaction`, `joint-power`, `forces`, `actuation`,
/// `induced`, `states` or `probes`.
pub fn standard(name: &str) -> Option<AnalysisSetup> {
    let all = || vec!["all".to_string()];
    let (name, kind) = match name {
        "kinematics" => ("Kinematics", AnalysisKind::Kinematics { coordinates: all() }),
        "body" => ("BodyKinematics", AnalysisKind::BodyKinematics { bodies: all(), in_body_axes: false }),
        "muscle" => (
            "MuscleAnalysis",
            AnalysisKind::MuscleAnalysis { muscles: all(), coordinates: all(), compute_moments: true },
        ),
        "joint-reaction" => (
            "JointReaction",
            AnalysisKind::JointReaction {
                forces_file: None,
                joints: all(),
                on_bodies: vec!["child".to_string()],
                in_frames: vec!["ground".to_string()],
            },
        ),
        "joint-power" => ("JointPower", AnalysisKind::JointPower),
        "forces" => ("ForceReporter", AnalysisKind::ForceReporter { with_constraints: true }),
        "actuation" => ("Actuation", AnalysisKind::Actuation),
        "states" => ("StatesReporter", AnalysisKind::StatesReporter),
        "probes" => ("ProbeReporter", AnalysisKind::ProbeReporter),
        "induced" => (
            "InducedAccelerations",
            AnalysisKind::InducedAccelerations {
                coordinates: all(),
                bodies: vec!["center_of_mass".to_string()],
                contacts: Vec::new(),
                force_threshold: 6.0,
                potentials_only: false,
                report_reactions: true,
                forces_file: None,
            },
        ),
        _ => return None,
    };
    let name = name.to_string();
    Some(AnalysisSetup { name, line: 0, on: true, step_interval: 1, in_degrees: true, kind })
}

/// One contact with ground for each measured force.
pub fn contacts(model: &Model) -> Vec<ContactSetup> {
    let contact = |f: &Force| {
        let ForceKind::ExternalForce(e) = &f.kind else { return None };
        let body = &model.bodies[model.frames[e.applied_to_body.0].body.0].name;
        Some(ContactSetup {
            name: format!("{body}_contact"),
            line: 0,
            class: "RollingOnSurfaceConstraint".to_string(),
            rolling_body: body.clone(),
            surface_body: "ground".to_string(),
            normal: [0.0, 1.0, 0.0],
            friction: FRICTION,
            radius: 0.01,
        })
    };
    model.forces.iter().filter_map(contact).collect()
}

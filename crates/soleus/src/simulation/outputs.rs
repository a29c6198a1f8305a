//! Outputs of a simulation in addition to states and controls.

use soleus_io::setup::{AnalysisKind, AnalysisSetup};

/// List of the known outputs, as a hint.
pub const KNOWN: &str = "choose from kinematics, bodies, forces, actuators, muscles, joint-reactions and probes, or outputs of components, \
    such as /forceset/soleus|tendon_force";

/// The analyses for a list of names and output paths; the unknown name or path as an error.
pub fn analyses(wanted: &[String]) -> Result<Vec<AnalysisSetup>, String> {
    let all = || vec!["all".to_string()];
    let (mut list, mut paths) = (Vec::new(), Vec::new());
    let mut push = |name: &str, kind| {
        let name = name.to_string();
        list.push(AnalysisSetup { name, line: 0, on: true, step_interval: 1, in_degrees: false, kind });
    };
    for word in wanted {
        match word.as_str() {
            "kinematics" => push("Kinematics", AnalysisKind::Kinematics { coordinates: all() }),
            "bodies" => {
                push("BodyKinematics", AnalysisKind::BodyKinematics { bodies: all(), in_body_axes: false })
            }
            "forces" => push("ForceReporter", AnalysisKind::ForceReporter { with_constraints: true }),
            "actuators" => push("Actuation", AnalysisKind::Actuation),
            "probes" => push("ProbeReporter", AnalysisKind::ProbeReporter),
            "muscles" => {
                let (muscles, coordinates) = (all(), all());
                push(
                    "MuscleAnalysis",
                    AnalysisKind::MuscleAnalysis { muscles, coordinates, compute_moments: false },
                );
            }
            "joint-reactions" => {
                let (joints, on_bodies, in_frames) =
                    (all(), vec!["child".to_string()], vec!["ground".to_string()]);
                push(
                    "JointReaction",
                    AnalysisKind::JointReaction { forces_file: None, joints, on_bodies, in_frames },
                );
            }
            path if path.contains('|') => paths.push(path.to_string()),
            other => return Err(other.to_string()),
        }
    }
    if !paths.is_empty() {
        push("OutputReporter", AnalysisKind::OutputReporter { paths });
    }
    Ok(list)
}

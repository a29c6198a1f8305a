//! Goals of a `MocoStudy`.

use super::output;
use crate::setup::properties::Properties;
use crate::study::{
    ContactGroup, FrameTracking, Goal, GoalKind, PeriodicPair, TableOperator, TableSource, Weight,
    WeightedSet,
};
use soleus_model::{Diagnostics, Element};

/// Reads a goal; `None` if it is switched off or not known, the latter with an error.
pub(super) fn read(e: &Element, log: &mut Diagnostics) -> Option<Goal> {
    let bounds = e
        .child("MocoConstraintInfo")
        .and_then(|i| i.child("bounds"))
        .map_or(Vec::new(), |b| b.children().cloned().collect())
        .iter()
        .filter_map(|b| super::bounds(b, log))
        .collect();
    let mut p = Properties::new(e, log);
    p.skip(&["MocoConstraintInfo", "scale_factors"]);
    let enabled = p.boolean("enabled", true);
    let constraint = p.text("mode").map(|m| m == "endpoint_constraint");
    let weight = p.number("weight", 1.0);
    let divide_by_displacement = p.boolean("divide_by_displacement", false);
    let divide_by_duration = p.boolean("divide_by_duration", false);
    let divide_by_mass = p.boolean("divide_by_mass", false);
    let kind = kind(e, &mut p);
    p.finish();
    let Some(kind) = kind else {
        log.error(e.line, e.name(), format!("goals of class `{}` are not supported", e.tag), "");
        return None;
    };
    let goal = Goal {
        name: e.name().to_string(),
        weight,
        constraint,
        bounds,
        divide_by_displacement,
        divide_by_duration,
        divide_by_mass,
        kind,
        line: e.line,
    };
    enabled.then_some(goal)
}

fn kind(e: &Element, p: &mut Properties) -> Option<GoalKind> {
    Some(match e.tag.as_str() {
        "MocoFinalTimeGoal" => GoalKind::FinalTime,
        "MocoAverageSpeedGoal" => GoalKind::AverageSpeed(p.number("desired_average_speed", 0.0)),
        "MocoControlGoal" => {
            p.skip(&["control_weights", "control_weights_pattern", "ignore_controlled_actuators"]);
            p.skip(&["ignore_input_controls", "MocoWeightSet"]);
            GoalKind::Control { weights: weights(e, "control_weights"), exponent: p.number("exponent", 2.0) }
        }
        "MocoSumSquaredStateGoal" => {
            p.skip(&["state_weights", "MocoWeightSet"]);
            GoalKind::SumSquaredState { pattern: p.text("pattern"), weights: weights(e, "state_weights") }
        }
        "MocoStateTrackingGoal" => {
            p.skip(&["state_weights", "MocoWeightSet", "TableProcessor", "reference"]);
            GoalKind::StateTracking {
                reference: table(e),
                pattern: p.text("pattern"),
                weights: weights(e, "state_weights"),
                scale_weights_with_range: p.boolean("scale_weights_with_range", false),
                allow_unused: p.boolean("allow_unused_references", false),
            }
        }
        "MocoControlTrackingGoal" => {
            p.skip(&["control_weights", "MocoWeightSet", "TableProcessor", "reference", "reference_labels"]);
            GoalKind::ControlTracking {
                reference: table(e),
                weights: weights(e, "control_weights"),
                allow_unused: p.boolean("allow_unused_references", false),
            }
        }
        "MocoMarkerFinalGoal" => GoalKind::MarkerFinal {
            point: p.text("point_name").unwrap_or_default(),
            location: p.numbers("reference_location").unwrap_or_default(),
        },
        "MocoMarkerTrackingGoal" => {
            let reference = p.find("MarkersReference").or_else(|| p.find("markers_reference"));
            p.skip(&["MarkersReference", "markers_reference"]);
            let text = |tag: &str| reference.and_then(|r| r.child_text(tag)).filter(|t| !t.is_empty());
            GoalKind::MarkerTracking {
                file: text("marker_file"),
                weights: reference.map_or(Vec::new(), |r| weights(r, "marker_weights").names),
                default_weight: text("default_weight").and_then(|t| t.parse().ok()).unwrap_or(1.0),
                allow_unused: p.boolean("allow_unused_references", false),
            }
        }
        "MocoInitialActivationGoal" => GoalKind::InitialActivation,
        "MocoInitialVelocityEquilibriumDGFGoal" => GoalKind::InitialVelocityEquilibrium,
        "MocoInitialForceEquilibriumDGFGoal" => GoalKind::InitialForceEquilibrium,
        "MocoPeriodicityGoal" => GoalKind::Periodicity {
            states: pairs(p.find("state_pairs")),
            controls: pairs(p.find("control_pairs")),
        },
        "MocoTranslationTrackingGoal" => frame_tracking(
            e,
            p,
            FrameTracking::Translation,
            "translation_reference_file",
            "translation_weights",
        ),
        "MocoOrientationTrackingGoal" => {
            frame_tracking(e, p, FrameTracking::Orientation, "rotation_reference_file", "rotation_weights")
        }
        "MocoAngularVelocityTrackingGoal" => {
            let (file, weights) = ("angular_velocity_reference_file", "angular_velocity_weights");
            frame_tracking(e, p, FrameTracking::AngularVelocity, file, weights)
        }
        "MocoAccelerationTrackingGoal" => {
            let what = FrameTracking::Acceleration {
                gravity_offset: p.boolean("gravity_offset", false),
                in_frames: p.boolean("express_accelerations_in_tracking_frames", false),
            };
            frame_tracking(e, p, what, "acceleration_reference_file", "acceleration_weights")
        }
        "MocoJointReactionGoal" => {
            p.skip(&["MocoWeightSet", "reaction_weights"]);
            GoalKind::JointReaction {
                joint: p.text("joint_path").unwrap_or_default(),
                on_child: p.text("loads_frame").is_some_and(|f| f == "child"),
                expressed_in: p.text("expressed_in_frame_path"),
                measures: p.words("reaction_measures"),
                weights: weights(e, "reaction_weights").names,
            }
        }
        "MocoGeneralizedForceTrackingGoal" => {
            p.skip(&["TableProcessor", "reference", "MocoWeightSet", "generalized_force_weights"]);
            p.skip(&["generalized_force_weights_pattern"]);
            GoalKind::GeneralizedForceTracking {
                reference: table(e),
                forces: p.words("force_paths"),
                weights: weights(e, "generalized_force_weights"),
                allow_unused: p.boolean("allow_unused_references", false),
                normalize: p.boolean("normalize_tracking_error", false),
                ignore_constrained: p.boolean("ignore_constrained_coordinates", true),
            }
        }
        "MocoContactImpulseTrackingGoal" => {
            p.skip(&["external_loads"]);
            let groups = p.find("contact_groups");
            GoalKind::ContactImpulse {
                groups: groups.iter().flat_map(|g| g.children()).map(contact_group).collect(),
                loads_file: p.text("external_loads_file"),
                axis: p.number("impulse_axis", -1.0),
            }
        }
        "MocoStepTimeAsymmetryGoal" => {
            p.skip(&["MocoStepTimeAsymmetryGoalGroup", "left_contact_group", "right_contact_group"]);
            let group = |name: &str| e.children().find(|c| c.name() == name || c.tag == name);
            let text =
                |name: &str, tag: &str| group(name).and_then(|g| g.child_text(tag)).unwrap_or_default();
            let sides = ["left_contact_group", "right_contact_group"];
            let words = |t: String| t.split_whitespace().map(str::to_string).collect();
            GoalKind::StepTimeAsymmetry {
                contacts: sides.map(|s| words(text(s, "contact_force_paths"))),
                feet: sides.map(|s| text(s, "foot_position_contact_force_path")),
                target: p.number("target_asymmetry", 0.0),
                threshold: p.number("contact_force_threshold", 25.0),
                up: p.text("contact_force_direction").unwrap_or_else(|| "positive-y".into()),
                forward: p.text("walking_direction").unwrap_or_else(|| "positive-x".into()),
                contact_smoothing: p.number("contact_detection_smoothing", 0.25),
                smoothing: p.number("asymmetry_smoothing", 10.0),
            }
        }
        "MocoStepLengthAsymmetryGoal" => GoalKind::StepLengthAsymmetry {
            feet: [
                p.text("left_foot_frame").unwrap_or_default(),
                p.text("right_foot_frame").unwrap_or_default(),
            ],
            forward: p.text("walking_direction").unwrap_or_else(|| "positive-x".into()),
            smoothing: p.number("asymmetry_smoothing", 5.0),
            target: p.number("target_asymmetry", 0.0),
            stride: p.number("stride_length", -1.0),
        },
        "MocoExpressionBasedParameterGoal" => {
            let list = p.find("parameters");
            GoalKind::ParameterExpression {
                expression: p.text("expression").unwrap_or_default(),
                parameters: list.iter().flat_map(|l| l.children()).map(|q| q.name().to_string()).collect(),
                variables: p.words("variables"),
            }
        }
        "MocoContactTrackingGoal" => {
            p.skip(&["external_loads"]);
            let groups = p.find("contact_groups");
            GoalKind::ContactTracking {
                groups: groups.iter().flat_map(|g| g.children()).map(contact_group).collect(),
                loads_file: p.text("external_loads_file"),
                projection: p.text("projection").unwrap_or_else(|| "none".into()),
                vector: p.numbers("projection_vector").unwrap_or_default(),
                normalize: p.boolean("normalize_tracking_error", false),
            }
        }
        _ => {
            let of = output::use_of(e, p)?;
            GoalKind::Output { output: output::read(p), of }
        }
    })
}

fn frame_tracking(
    e: &Element,
    p: &mut Properties,
    what: FrameTracking,
    file: &'static str,
    set: &'static str,
) -> GoalKind {
    p.skip(&["TableProcessor", "states_reference", "MocoWeightSet", set]);
    GoalKind::FrameTracking {
        what,
        states: table_named(e, "states_reference"),
        file: p.text(file),
        frames: p.words("frame_paths"),
        weights: weights(e, set).names,
    }
}

fn contact_group(e: &Element) -> ContactGroup {
    let words = |tag: &str| -> Vec<String> {
        e.child_text(tag).unwrap_or_default().split_whitespace().map(str::to_string).collect()
    };
    ContactGroup {
        forces: words("contact_force_paths"),
        external_force: e.child_text("external_force_name").unwrap_or_default(),
        alternative_frames: words("alternative_frame_paths"),
    }
}

fn pairs(list: Option<&Element>) -> Vec<PeriodicPair> {
    let of = |e: &Element, tag: &str| e.child_text(tag).unwrap_or_default();
    list.iter()
        .flat_map(|l| l.children())
        .map(|e| PeriodicPair {
            initial: of(e, "initial_variable"),
            last: of(e, "final_variable"),
            negate: of(e, "negate") == "true",
        })
        .collect()
}

/// A `MocoWeightSet` named `name`, and the one of patterns beside it.
pub(super) fn weights(e: &Element, name: &str) -> WeightedSet {
    let read = |name: &str| -> Vec<Weight> {
        let set = e.children().find(|c| c.name() == name || c.tag == name);
        let objects =
            set.and_then(|s| s.child("objects").or_else(|| s.child("MocoWeightSet")?.child("objects")));
        objects
            .iter()
            .flat_map(|o| o.children())
            .filter_map(|w| {
                let weight = w.child_text("weight").map_or(Some(1.0), |t| t.parse().ok())?;
                Some(Weight { name: w.name().to_string(), weight })
            })
            .collect()
    };
    WeightedSet { names: read(name), patterns: read(&format!("{name}_pattern")) }
}

/// The `TableProcessor` of the property `name`.
pub(super) fn table_named(e: &Element, name: &str) -> TableSource {
    let found = e.children().find(|c| c.name() == name).or_else(|| e.child(name));
    found.map_or(TableSource::default(), table_of)
}

fn table(e: &Element) -> TableSource {
    e.child("TableProcessor").or_else(|| e.child("reference")).map_or(TableSource::default(), table_of)
}

fn table_of(t: &Element) -> TableSource {
    let operators = t.child("operators").map_or(Vec::new(), |o| {
        o.children()
            .filter_map(|o| {
                Some(match o.tag.as_str() {
                    "TabOpLowPassFilter" => {
                        let hz = o.child_text("cutoff_frequency")?.parse().ok()?;
                        TableOperator::LowPass(hz)
                    }
                    "TabOpConvertDegreesToRadians" => TableOperator::Radians,
                    "TabOpUseAbsoluteStateNames" => TableOperator::AbsoluteStateNames,
                    "TabOpAppendCoupledCoordinateValues" => TableOperator::CoupledCoordinates,
                    "TabOpAppendCoordinateValueDerivativesAsSpeeds" => TableOperator::Speeds,
                    _ => return None,
                })
            })
            .collect()
    });
    TableSource { file: t.child_text("filepath").filter(|f| !f.is_empty()), operators }
}

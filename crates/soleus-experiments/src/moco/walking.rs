//! The walk of the article, given: which excitations are behind it.
//!
//! The model of Rajagopal et al. (2016), 80 muscles. Rigid tendons but for the calf's; feet are one body; trunk and pelvis are driven by
//! moments and forces, and every other coordinate has a small reserve.

use super::solving::find;
use crate::desk::enter;
use soleus::Error;
use soleus::optimal_control::model::StudyModel;
use soleus::optimal_control::{Inverse, Solution};
use soleus_io::setup::moco::{MocoInverseSetup, MocoToolSetup};
use soleus_io::study::{self, ModelStep, ModelStepKind, TableOperator, TableSource};
use soleus_model::document::Content;
use soleus_model::muscle::TendonDynamicsMode;
use soleus_model::operator::Reserves;
use soleus_model::{Element, ModelOperator};
use std::path::Path;

/// One gait cycle of the left leg, s.
const TIME: [f64; 2] = [0.83, 2.0];
const INTERVALS: f64 = 25.0;
/// Largest moment of a reserve, N m.
pub const RESERVE: f64 = 2.5;

/// Moments (N m) and forces (N) at full control where muscles do not act, and reserves of their own size; what a model does not
/// have is left out.
const ACTUATORS: [(&str, &str, f64); 21] = [
    ("torque", "lumbar_extension", 50.0),
    ("torque", "lumbar_bending", 50.0),
    ("torque", "lumbar_rotation", 20.0),
    ("reserve", "arm_flex_l", 15.0),
    ("reserve", "arm_flex_r", 15.0),
    ("reserve", "arm_add_l", 15.0),
    ("reserve", "arm_add_r", 15.0),
    ("reserve", "arm_rot_l", 5.0),
    ("reserve", "arm_rot_r", 5.0),
    ("reserve", "elbow_flex_l", 5.0),
    ("reserve", "elbow_flex_r", 5.0),
    ("reserve", "pro_sup_l", 1.0),
    ("reserve", "pro_sup_r", 1.0),
    ("reserve", "hip_rotation_l", 0.5),
    ("reserve", "hip_rotation_r", 0.5),
    ("residual", "pelvis_tilt", 60.0),
    ("residual", "pelvis_list", 30.0),
    ("residual", "pelvis_rotation", 15.0),
    ("residual", "pelvis_tx", 100.0),
    ("residual", "pelvis_ty", 200.0),
    ("residual", "pelvis_tz", 35.0),
];
/// Joints without motion, where a model has them.
const WELDED: [&str; 6] = ["subtalar_r", "subtalar_l", "mtp_r", "mtp_l", "radius_hand_r", "radius_hand_l"];

/// What is different from the article's first problem.
#[derive(Default)]
pub struct Variant<'a> {
    /// Muscles, by the beginning of their names, and what is left of their strength.
    pub weak: Option<(&'a [&'a str], f64)>,
    /// Reserves without a bound.
    pub is_helped: bool,
    /// Goals beside effort.
    pub goals: Vec<study::Goal>,
}

/// Solves it. `folder` holds model, motion and ground reactions.
pub fn solve(folder: &Path, model: &Path, variant: Variant<'_>) -> Result<Solution, Error> {
    let path = folder.join("inverse.xml");
    let setup = setup(&path, model, &variant)?;
    let mut posed = enter(None, true, |cx| Inverse::from_setup(&path, &setup)?.pose(cx))?;
    posed.study.setup.goals.extend(variant.goals);
    find(&posed)
}

/// Largest moment of the reserves whose names hold a word, N m. They do 1 N m at full control; those of the arms and of hip
/// rotation have a strength of their own and do not count.
pub fn largest_reserve(f: &Solution, word: &str) -> f64 {
    let c = &f.phases[0].trajectory.controls;
    let own = |n: &str| ACTUATORS.iter().any(|a| n.ends_with(&format!("/{}_{}", a.0, a.1)));
    let wanted = |n: &&String| n.contains("/reserve_") && n.contains(word) && !own(n);
    c.names.iter().filter(wanted).filter_map(|n| c.column(n)).flatten().fold(0.0, |m: f64, x| m.max(x.abs()))
}

fn setup(path: &Path, model: &Path, variant: &Variant<'_>) -> Result<MocoInverseSetup, Error> {
    use ModelOperator as O;
    let file = std::path::absolute(model).unwrap_or(model.to_path_buf());
    let plain = MocoToolSetup { model_file: Some(file.display().to_string()), ..MocoToolSetup::default() };
    let mut element = enter(None, true, |cx| StudyModel::of_tool(path, &plain, None).element(cx))?;
    let joints = names(&element, "JointSet");
    prepare(&mut element, variant.weak);
    let reserves =
        Reserves { bound: if variant.is_helped { None } else { Some(RESERVE) }, ..Reserves::default() };
    let welded = WELDED.iter().filter(|w| joints.iter().any(|j| j == *w)).map(ToString::to_string).collect();
    let mut model_steps: Vec<ModelStep> = [
        O::ReplaceJointsWithWelds(welded),
        O::ReplaceMusclesWithDeGrooteFregly2016,
        O::IgnorePassiveFiberForces,
        O::FiberDamping(0.01),
        O::AddReserves(reserves),
        O::TendonComplianceDynamicsMode(TendonDynamicsMode::Implicit),
    ]
    .into_iter()
    .map(|o| ModelStep { kind: ModelStepKind::Operator(o), line: 0 })
    .collect();
    model_steps.push(ModelStep { kind: ModelStepKind::ExternalLoads("grf_walk.xml".into()), line: 0 });
    Ok(MocoInverseSetup {
        tool: MocoToolSetup {
            name: "inverse".into(),
            model: Some(element),
            model_file: None,
            model_steps,
            initial_time: Some(TIME[0]),
            final_time: Some(TIME[1]),
            mesh_interval: (TIME[1] - TIME[0]) / INTERVALS,
            clip_time_range: false,
        },
        kinematics: TableSource {
            file: Some("coordinates.mot".into()),
            operators: vec![TableOperator::LowPass(6.0), TableOperator::AbsoluteStateNames],
        },
        kinematics_allow_extra_columns: true,
        convergence_tolerance: 1e-2,
        ..MocoInverseSetup::default()
    })
}

/// Names of the members of a set.
fn names(model: &Element, set: &str) -> Vec<String> {
    let members = model.child(set).and_then(|s| s.child("objects"));
    members.iter().flat_map(|m| m.children()).map(|e| e.name().to_string()).collect()
}

/// Tendons, strengths, actuators; contacts make way for measured forces.
fn prepare(model: &mut Element, weak: Option<(&[&str], f64)>) {
    let coordinates = coordinates(model);
    let Some(forces) = model.child_mut("ForceSet").and_then(|s| s.child_mut("objects")) else { return };
    forces.content.retain(|c| !matches!(c, Content::Element(e) if e.tag == "SmoothSphereHalfSpaceForce"));
    for muscle in forces.children_mut().filter(|e| e.child("max_isometric_force").is_some()) {
        let name = muscle.name().to_string();
        let stretches = name.starts_with("gas") || name.starts_with("soleus");
        set_text(muscle, "ignore_tendon_compliance", (!stretches).to_string());
        let Some((beginnings, factor)) = weak else { continue };
        if beginnings.iter().any(|b| name.starts_with(b)) {
            let strength: f64 =
                muscle.child("max_isometric_force").and_then(|e| e.text().trim().parse().ok()).unwrap_or(0.0);
            set_text(muscle, "max_isometric_force", (factor * strength).to_string());
        }
    }
    for (kind, coordinate, force) in ACTUATORS {
        if !coordinates.iter().any(|c| c == coordinate) {
            continue;
        }
        let mut e = Element::new("CoordinateActuator", 0);
        e.set_attribute("name", format!("{kind}_{coordinate}"));
        for (tag, text) in [
            ("min_control", "-1".to_string()),
            ("max_control", "1".to_string()),
            ("coordinate", coordinate.to_string()),
            ("optimal_force", force.to_string()),
        ] {
            e.push(Element::with_text(tag, text, 0));
        }
        forces.push(e);
    }
}

/// Names of all coordinates.
fn coordinates(model: &Element) -> Vec<String> {
    let joints = model.child("JointSet").and_then(|s| s.child("objects"));
    let each = joints.iter().flat_map(|j| j.children()).filter_map(|j| j.child("coordinates"));
    each.flat_map(|c| c.children()).map(|c| c.name().to_string()).collect()
}

fn set_text(element: &mut Element, tag: &str, text: String) {
    element.take_child(tag);
    element.push(Element::with_text(tag, text, 0));
}

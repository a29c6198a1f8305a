//! Members of an `AnalysisSet`.

use super::properties::Properties;
use crate::plain::{is_zero, usual};
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Element};

/// One analysis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnalysisSetup {
    /// Name of the analysis; part of the names of its files.
    pub name: String,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    /// `on`. Default true.
    pub on: bool,
    /// `step_interval`. Default 1.
    pub step_interval: usize,
    /// `in_degrees`. Default true.
    pub in_degrees: bool,
    /// Kind of analysis.
    pub kind: AnalysisKind,
}

/// The classes of analysis, with the properties of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnalysisKind {
    /// `Kinematics`.
    Kinematics {
        /// `coordinates`. Default `all`.
        #[serde(default = "usual::all")]
        coordinates: Vec<String>,
    },
    /// `BodyKinematics`.
    BodyKinematics {
        /// `bodies`. Default `all`.
        #[serde(default = "usual::all")]
        bodies: Vec<String>,
        /// `express_results_in_body_local_frame`. Default false.
        #[serde(default)]
        in_body_axes: bool,
    },
    /// `PointKinematics`.
    PointKinematics {
        /// `body_name`. Default ground.
        #[serde(default = "usual::ground")]
        body: String,
        /// `relative_to_body_name`.
        #[serde(default)]
        relative_to: Option<String>,
        /// `point_name`. Default `NONAME`.
        #[serde(default = "no_name")]
        point_name: String,
        /// `point`, in the body, m.
        #[serde(default, with = "crate::plain")]
        point: [f64; 3],
    },
    /// `MuscleAnalysis`.
    MuscleAnalysis {
        /// `muscle_list`. Default `all`.
        #[serde(default = "usual::all")]
        muscles: Vec<String>,
        /// `moment_arm_coordinate_list`. Default `all`.
        #[serde(default = "usual::all")]
        coordinates: Vec<String>,
        /// `compute_moments`. Default true.
        #[serde(default = "usual::yes")]
        compute_moments: bool,
    },
    /// `JointReaction`.
    JointReaction {
        /// `forces_file`.
        #[serde(default)]
        forces_file: Option<String>,
        /// `joint_names`. Default `ALL`.
        #[serde(default = "usual::all")]
        joints: Vec<String>,
        /// `apply_on_bodies`: `child` or `parent`. Default `child`.
        #[serde(default = "usual::child")]
        on_bodies: Vec<String>,
        /// `express_in_frame`. Default `ground`.
        #[serde(default = "usual::in_ground")]
        in_frames: Vec<String>,
    },
    /// `ForceReporter`.
    ForceReporter {
        /// `include_constraint_forces`. Default false.
        #[serde(default)]
        with_constraints: bool,
    },
    /// `Actuation`.
    Actuation,
    /// `StatesReporter`.
    StatesReporter,
    /// `ProbeReporter`.
    ProbeReporter,
    /// `StaticOptimization`.
    StaticOptimization {
        /// `use_model_force_set`. Default true.
        #[serde(default = "usual::yes")]
        use_model_force_set: bool,
        /// `activation_exponent`. Default 2.
        #[serde(default = "usual::two", with = "crate::plain")]
        exponent: f64,
        /// `use_muscle_physiology`. Default true.
        #[serde(default = "usual::yes")]
        use_muscle_physiology: bool,
    },
    /// `InducedAccelerations`.
    InducedAccelerations {
        /// `coordinate_names`. Default `all`.
        #[serde(default = "usual::all")]
        coordinates: Vec<String>,
        /// `body_names`. Default `center_of_mass`.
        #[serde(default = "usual::center_of_mass")]
        bodies: Vec<String>,
        /// Members of `ConstraintSet`: constraints that replace contact with the ground.
        #[serde(default)]
        contacts: Vec<ContactSetup>,
        /// `force_threshold`, N. Default 6.
        #[serde(default = "threshold", with = "crate::plain")]
        force_threshold: f64,
        /// `compute_potentials_only`. Default false.
        #[serde(default)]
        potentials_only: bool,
        /// `report_constraint_reactions`. Default false.
        #[serde(default)]
        report_reactions: bool,
        /// `forces_file`: actuator forces that replace those computed from the states; not in OpenSim.
        #[serde(default)]
        forces_file: Option<String>,
    },
    /// Net joint moments and powers; not in OpenSim.
    JointPower,
    /// `OutputReporter`.
    OutputReporter {
        /// `output_paths`.
        #[serde(default)]
        paths: Vec<String>,
    },
    /// An unsupported class; only its name is kept.
    Other(String),
}

/// `RollingOnSurfaceConstraint` that replaces a contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactSetup {
    /// Name.
    pub name: String,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    /// Class name in the file.
    pub class: String,
    /// `rolling_body`.
    pub rolling_body: String,
    /// `surface_body`. Default ground.
    pub surface_body: String,
    /// `surface_normal`, in the surface body. Default y.
    #[serde(with = "crate::plain")]
    pub normal: [f64; 3],
    /// `friction_coefficient`. Default 0.5.
    #[serde(with = "crate::plain")]
    pub friction: f64,
    /// `contact_radius`, m. Default 0.01.
    #[serde(with = "crate::plain")]
    pub radius: f64,
}

fn no_name() -> String {
    "NONAME".into()
}

fn threshold() -> f64 {
    6.0
}

impl Default for AnalysisSetup {
    /// An analysis of every row that is yet to be told what it is about: `Kinematics` of all coordinates.
    fn default() -> Self {
        let kind = AnalysisKind::Kinematics { coordinates: usual::all() };
        AnalysisSetup { name: String::new(), line: 0, on: true, step_interval: 1, in_degrees: true, kind }
    }
}

impl Default for ContactSetup {
    fn default() -> Self {
        ContactSetup {
            name: String::new(),
            line: 0,
            class: "RollingOnSurfaceConstraint".into(),
            rolling_body: String::new(),
            surface_body: "ground".into(),
            normal: [0.0, 1.0, 0.0],
            friction: 0.5,
            radius: 0.01,
        }
    }
}

/// Reads the members of an `AnalysisSet`.
pub fn read_analyses(elements: &[Element], log: &mut Diagnostics) -> Vec<AnalysisSetup> {
    elements.iter().map(|e| analysis(e, log)).collect()
}

fn analysis(e: &Element, log: &mut Diagnostics) -> AnalysisSetup {
    let name = e.attribute("name").map_or_else(|| e.tag.clone(), str::to_string);
    let mut p = Properties::new(e, log);
    // Analyses do not look at their own times: the range is the tool's.
    p.skip(&["start_time", "end_time"]);
    let on = p.boolean("on", true);
    let interval = p.number("step_interval", 1.0);
    let in_degrees = p.boolean("in_degrees", true);
    let contacts = p.find("ConstraintSet");
    let mut kind = kind(&e.tag, &mut p);
    match kind {
        AnalysisKind::Other(_) => {}
        _ => p.finish(),
    }
    if let AnalysisKind::InducedAccelerations { contacts: list, .. } = &mut kind {
        let members = contacts.and_then(|c| c.child("objects")).into_iter().flat_map(Element::children);
        list.extend(members.map(|e| contact(e, log)));
    }
    if !(interval >= 1.0) {
        log.error(
            e.line,
            "",
            format!("`step_interval` of `{name}` is {interval}, but must be at least 1"),
            "",
        );
    }
    AnalysisSetup { name, line: e.line, on, step_interval: interval.max(1.0) as usize, in_degrees, kind }
}

fn kind(tag: &str, p: &mut Properties) -> AnalysisKind {
    let words = |given: Vec<String>, default: &str| match given.is_empty() {
        true => vec![default.to_string()],
        false => given,
    };
    match tag {
        "Kinematics" => AnalysisKind::Kinematics { coordinates: words(p.words("coordinates"), "all") },
        "BodyKinematics" => AnalysisKind::BodyKinematics {
            bodies: words(p.words("bodies"), "all"),
            in_body_axes: p.boolean("express_results_in_body_local_frame", false),
        },
        "PointKinematics" => AnalysisKind::PointKinematics {
            body: p.text("body_name").unwrap_or_else(|| "ground".to_string()),
            relative_to: p.text("relative_to_body_name").filter(|t| t != "none"),
            point_name: p.text("point_name").unwrap_or_else(|| "NONAME".to_string()),
            point: p.numbers("point").unwrap_or([0.0; 3]),
        },
        "MuscleAnalysis" => AnalysisKind::MuscleAnalysis {
            muscles: words(p.words("muscle_list"), "all"),
            coordinates: words(p.words("moment_arm_coordinate_list"), "all"),
            compute_moments: p.boolean("compute_moments", true),
        },
        "JointReaction" => AnalysisKind::JointReaction {
            forces_file: p.text("forces_file"),
            joints: words(p.words("joint_names"), "all"),
            on_bodies: words(p.words("apply_on_bodies"), "child"),
            in_frames: words(p.words("express_in_frame"), "ground"),
        },
        "ForceReporter" => {
            AnalysisKind::ForceReporter { with_constraints: p.boolean("include_constraint_forces", false) }
        }
        "Actuation" => AnalysisKind::Actuation,
        "StatesReporter" => AnalysisKind::StatesReporter,
        "ProbeReporter" => AnalysisKind::ProbeReporter,
        "JointPower" => AnalysisKind::JointPower,
        "StaticOptimization" => {
            // Stopping rules of OpenSim's optimizer; ours goes on to rounding.
            p.skip(&["optimizer_convergence_criterion", "optimizer_max_iterations"]);
            AnalysisKind::StaticOptimization {
                use_model_force_set: p.boolean("use_model_force_set", true),
                exponent: p.number("activation_exponent", 2.0),
                use_muscle_physiology: p.boolean("use_muscle_physiology", true),
            }
        }
        "InducedAccelerations" => AnalysisKind::InducedAccelerations {
            coordinates: words(p.words("coordinate_names"), "all"),
            bodies: words(p.words("body_names"), "center_of_mass"),
            contacts: Vec::new(),
            force_threshold: p.number("force_threshold", 6.0),
            potentials_only: p.boolean("compute_potentials_only", false),
            report_reactions: p.boolean("report_constraint_reactions", false),
            forces_file: p.text("forces_file"),
        },
        "OutputReporter" => AnalysisKind::OutputReporter { paths: p.words("output_paths") },
        other => AnalysisKind::Other(other.to_string()),
    }
}

fn contact(e: &Element, log: &mut Diagnostics) -> ContactSetup {
    let mut p = Properties::new(e, log);
    // Heights and switches follow from the measured force.
    p.skip(&["isDisabled", "isEnforced", "surface_height"]);
    let body = |p: &mut Properties, plain: &'static str, socket: &'static str| {
        let name = p.text(socket).or(p.text(plain));
        name.map(|n| n.rsplit('/').next().unwrap_or(&n).to_string())
    };
    let rolling_body = body(&mut p, "rolling_body", "socket_rolling_body").unwrap_or_default();
    let surface = body(&mut p, "surface_body", "socket_surface_body").unwrap_or_else(|| "ground".to_string());
    let c = ContactSetup {
        name: e.name().to_string(),
        line: e.line,
        class: e.tag.clone(),
        rolling_body,
        surface_body: surface,
        normal: p.numbers("surface_normal").unwrap_or([0.0, 1.0, 0.0]),
        friction: p.number("friction_coefficient", 0.5),
        radius: p.number("contact_radius", 0.01),
    };
    p.finish();
    c
}

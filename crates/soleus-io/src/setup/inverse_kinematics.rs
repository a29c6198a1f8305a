//! `InverseKinematicsTool`.

use super::properties::Properties;
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Document, Element};

/// Setup of an `InverseKinematicsTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InverseKinematicsSetup {
    /// Name of the tool; prefix of the error files.
    pub name: String,
    /// `model_file`.
    pub model_file: Option<String>,
    /// `results_directory`. Default `./`.
    pub results_directory: String,
    /// `constraint_weight`. Read but not used, as in OpenSim, which always enforces constraints.
    #[serde(with = "crate::plain")]
    pub constraint_weight: f64,
    /// `accuracy` of OpenSim's optimizer. Default 1e-5.
    #[serde(with = "crate::plain")]
    pub accuracy: f64,
    /// `IKTaskSet`.
    pub tasks: Vec<IkTask>,
    /// File of the tasks, if `IKTaskSet` only names one.
    pub task_file: Option<String>,
    /// `marker_file`.
    pub marker_file: Option<String>,
    /// `coordinate_file`.
    pub coordinate_file: Option<String>,
    /// `time_range`, s. Default: all times.
    #[serde(with = "crate::plain")]
    pub time_range: [f64; 2],
    /// `report_errors`. Default true.
    pub report_errors: bool,
    /// `output_motion_file`.
    pub output_motion_file: Option<String>,
    /// `report_marker_locations`. Default false.
    pub report_marker_locations: bool,
}

/// One task of an `IKTaskSet`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IkTask {
    /// `IKMarkerTask`.
    Marker(IkMarkerTask),
    /// `IKCoordinateTask`.
    Coordinate(IkCoordinateTask),
}

/// `IKMarkerTask`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IkMarkerTask {
    /// The marker.
    pub name: String,
    /// `apply`. Default true.
    pub apply: bool,
    /// `weight`. Default 0, as in OpenSim.
    #[serde(with = "crate::plain")]
    pub weight: f64,
}

/// `IKCoordinateTask`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IkCoordinateTask {
    /// The coordinate.
    pub name: String,
    /// `apply`. Default true.
    pub apply: bool,
    /// `weight`. Default 0, as in OpenSim.
    #[serde(with = "crate::plain")]
    pub weight: f64,
    /// `value_type`.
    pub value_type: ValueType,
    /// `value`, rad or m.
    #[serde(with = "crate::plain")]
    pub value: f64,
}

/// Source of the target value of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueType {
    /// The model's default value.
    Default,
    /// `value` of the task.
    Manual,
    /// The coordinate file.
    FromFile,
}

impl Default for InverseKinematicsSetup {
    fn default() -> Self {
        InverseKinematicsSetup {
            name: String::new(),
            model_file: None,
            results_directory: "./".into(),
            constraint_weight: f64::INFINITY,
            accuracy: 1e-5,
            tasks: Vec::new(),
            task_file: None,
            marker_file: None,
            coordinate_file: None,
            time_range: [f64::NEG_INFINITY, f64::INFINITY],
            report_errors: true,
            output_motion_file: None,
            report_marker_locations: false,
        }
    }
}

impl Default for IkMarkerTask {
    fn default() -> Self {
        IkMarkerTask { name: String::new(), apply: true, weight: 0.0 }
    }
}

impl Default for IkCoordinateTask {
    fn default() -> Self {
        let value_type = ValueType::Default;
        IkCoordinateTask { name: String::new(), apply: true, weight: 0.0, value_type, value: 0.0 }
    }
}

pub(super) fn read(tool: &Element, log: &mut Diagnostics) -> InverseKinematicsSetup {
    let name = tool.name().to_string();
    let mut p = Properties::new(tool, log);
    p.skip(&["input_directory"]);
    let task_set = p.find("IKTaskSet");
    let d = InverseKinematicsSetup::default();
    let mut setup = InverseKinematicsSetup {
        name,
        model_file: p.text("model_file"),
        results_directory: p.text("results_directory").unwrap_or(d.results_directory),
        constraint_weight: p.number("constraint_weight", d.constraint_weight),
        accuracy: p.number("accuracy", d.accuracy),
        tasks: Vec::new(),
        task_file: None,
        marker_file: p.text("marker_file"),
        coordinate_file: p.text("coordinate_file"),
        time_range: p.numbers("time_range").unwrap_or(d.time_range),
        report_errors: p.boolean("report_errors", d.report_errors),
        output_motion_file: p.text("output_motion_file"),
        report_marker_locations: p.boolean("report_marker_locations", d.report_marker_locations),
    };
    p.finish();
    if let Some(set) = task_set {
        setup.tasks = tasks(set, log);
        setup.task_file = set.attribute("file").filter(|f| !f.is_empty()).map(str::to_string);
    }
    setup
}

/// The tasks in a file with an `IKTaskSet`.
pub fn read_ik_tasks(document: &Document, log: &mut Diagnostics) -> Option<Vec<IkTask>> {
    let root = &document.root;
    let set = if root.tag == "IKTaskSet" { Some(root) } else { root.child("IKTaskSet") };
    match set {
        Some(set) => {
            let list = tasks(set, log);
            (!log.has_errors()).then_some(list)
        }
        None => {
            let hint =
                "give a file with an `IKTaskSet`, or a setup file of the InverseKinematicsTool or ScaleTool";
            log.error(
                root.line,
                "",
                format!("expected an `IKTaskSet` in the file, found `{}`", root.tag),
                hint,
            );
            None
        }
    }
}

pub(super) fn tasks(set: &Element, log: &mut Diagnostics) -> Vec<IkTask> {
    let mut list = Vec::new();
    for e in set.child("objects").into_iter().flat_map(Element::children) {
        let name = e.name().to_string();
        let mut p = Properties::new(e, log);
        let (apply, weight) = (p.boolean("apply", true), p.number("weight", 0.0));
        match e.tag.as_str() {
            "IKMarkerTask" => {
                p.finish();
                list.push(IkTask::Marker(IkMarkerTask { name, apply, weight }));
            }
            "IKCoordinateTask" => {
                let word = p.text("value_type");
                let value = p.number("value", 0.0);
                p.finish();
                let value_type = match word.as_deref() {
                    None | Some("default_value") => ValueType::Default,
                    Some("manual_value") => ValueType::Manual,
                    Some("from_file") => ValueType::FromFile,
                    Some(other) => {
                        let hint = "write default_value, manual_value or from_file";
                        log.error(e.line, "", format!("`value_type`: `{other}` is unknown"), hint);
                        continue;
                    }
                };
                list.push(IkTask::Coordinate(IkCoordinateTask { name, apply, weight, value_type, value }));
            }
            other => log.warn(e.line, "", format!("`{other}` is not an IK task; ignored"), ""),
        }
    }
    list
}

//! `ScaleTool`: model and markers, scaling, marker placement.

use super::inverse_kinematics::{IkTask, tasks};
use super::properties::Properties;
use crate::osim::{LATEST_VERSION, write_document};
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Document, Element};

/// Setup of a `ScaleTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScaleSetup {
    /// Name of the tool and of the scaled model.
    pub name: String,
    /// `mass` of the subject, kg; if not positive, the mass follows from the scale factors. Default −1.
    #[serde(with = "crate::plain")]
    pub mass: f64,
    /// `height` of the subject, mm; not used. Default −1.
    #[serde(with = "crate::plain")]
    pub height: f64,
    /// `age` of the subject, years; not used. Default −1.
    #[serde(with = "crate::plain")]
    pub age: f64,
    /// `notes`.
    pub notes: Option<String>,
    /// `GenericModelMaker/model_file`.
    pub model_file: Option<String>,
    /// `GenericModelMaker/marker_set_file`.
    pub marker_set_file: Option<String>,
    /// `ModelScaler`.
    pub scaler: Option<ModelScaler>,
    /// `MarkerPlacer`.
    pub placer: Option<MarkerPlacer>,
}

/// `ModelScaler`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelScaler {
    /// `apply`. Default true.
    pub apply: bool,
    /// `scaling_order`: sources of scale factors; later ones replace earlier ones.
    pub scaling_order: Vec<ScalingStep>,
    /// `MeasurementSet`.
    pub measurements: Vec<MeasurementSetup>,
    /// `ScaleSet`: manual scale factors.
    pub manual: Vec<ManualScale>,
    /// File of the manual factors, if `ScaleSet` only names one.
    pub manual_file: Option<String>,
    /// `marker_file`.
    pub marker_file: Option<String>,
    /// `time_range`, s. Default −1 to −1: the first frame.
    #[serde(with = "crate::plain")]
    pub time_range: [f64; 2],
    /// `preserve_mass_distribution`. Default false.
    pub preserve_mass_distribution: bool,
    /// `output_model_file`.
    pub output_model_file: Option<String>,
    /// `output_scale_file`.
    pub output_scale_file: Option<String>,
}

/// An item of `scaling_order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingStep {
    /// `measurements`.
    Measurements,
    /// `manualScale`.
    Manual,
}

/// `Measurement`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeasurementSetup {
    /// Name.
    pub name: String,
    /// `apply`. Default true.
    pub apply: bool,
    /// `MarkerPairSet`: names of the markers.
    pub pairs: Vec<[String; 2]>,
    /// `BodyScaleSet`: bodies, and whether they are scaled along x, y, z.
    pub bodies: Vec<(String, [bool; 3])>,
}

/// `Scale`: manual scale factors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ManualScale {
    /// `segment`.
    pub segment: String,
    /// `apply`. Default true.
    pub apply: bool,
    /// `scales`, along x, y, z.
    #[serde(with = "crate::plain")]
    pub scales: [f64; 3],
}

/// `MarkerPlacer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MarkerPlacer {
    /// `apply`. Default true.
    pub apply: bool,
    /// `IKTaskSet`.
    pub tasks: Vec<IkTask>,
    /// File of the tasks, if `IKTaskSet` only names one.
    pub task_file: Option<String>,
    /// `marker_file`.
    pub marker_file: Option<String>,
    /// `coordinate_file`.
    pub coordinate_file: Option<String>,
    /// `time_range`, s. Default −1 to −1.
    #[serde(with = "crate::plain")]
    pub time_range: [f64; 2],
    /// `output_motion_file`.
    pub output_motion_file: Option<String>,
    /// `output_model_file`.
    pub output_model_file: Option<String>,
    /// `output_marker_file`.
    pub output_marker_file: Option<String>,
    /// `max_marker_movement`, in the unit of the marker file; negative: no limit. Default −1.
    #[serde(with = "crate::plain")]
    pub max_marker_movement: f64,
}

impl Default for ScaleSetup {
    fn default() -> Self {
        ScaleSetup {
            name: String::new(),
            mass: -1.0,
            height: -1.0,
            age: -1.0,
            notes: None,
            model_file: None,
            marker_set_file: None,
            scaler: None,
            placer: None,
        }
    }
}

impl Default for ModelScaler {
    fn default() -> Self {
        ModelScaler {
            apply: true,
            scaling_order: Vec::new(),
            measurements: Vec::new(),
            manual: Vec::new(),
            manual_file: None,
            marker_file: None,
            time_range: [-1.0, -1.0],
            preserve_mass_distribution: false,
            output_model_file: None,
            output_scale_file: None,
        }
    }
}

impl Default for MeasurementSetup {
    fn default() -> Self {
        MeasurementSetup { name: String::new(), apply: true, pairs: Vec::new(), bodies: Vec::new() }
    }
}

impl Default for ManualScale {
    fn default() -> Self {
        ManualScale { segment: String::new(), apply: true, scales: [1.0; 3] }
    }
}

impl Default for MarkerPlacer {
    fn default() -> Self {
        MarkerPlacer {
            apply: true,
            tasks: Vec::new(),
            task_file: None,
            marker_file: None,
            coordinate_file: None,
            time_range: [-1.0, -1.0],
            output_motion_file: None,
            output_model_file: None,
            output_marker_file: None,
            max_marker_movement: -1.0,
        }
    }
}

pub(super) fn read(tool: &Element, log: &mut Diagnostics) -> ScaleSetup {
    let name = tool.name().to_string();
    let mut p = Properties::new(tool, log);
    let (maker, scaler, placer) =
        (p.find("GenericModelMaker"), p.find("ModelScaler"), p.find("MarkerPlacer"));
    let d = ScaleSetup::default();
    let mut setup = ScaleSetup {
        name,
        mass: p.number("mass", d.mass),
        height: p.number("height", d.height),
        age: p.number("age", d.age),
        notes: p.text("notes"),
        ..d
    };
    p.finish();
    if let Some(e) = maker {
        let mut p = Properties::new(e, log);
        setup.model_file = p.text("model_file");
        setup.marker_set_file = p.text("marker_set_file");
        p.finish();
    }
    setup.scaler = scaler.map(|e| read_scaler(e, log));
    setup.placer = placer.map(|e| read_placer(e, log));
    setup
}

fn read_scaler(e: &Element, log: &mut Diagnostics) -> ModelScaler {
    let mut p = Properties::new(e, log);
    // Files of joints and muscles alone are of OpenSim 1; nothing writes them any more.
    p.skip(&["output_joint_file", "output_muscle_file"]);
    let (order, order_line) = (p.words("scaling_order"), e.child("scaling_order").map_or(e.line, |o| o.line));
    let (measurements, manual) = (p.find("MeasurementSet"), p.find("ScaleSet"));
    let d = ModelScaler::default();
    let mut scaler = ModelScaler {
        apply: p.boolean("apply", d.apply),
        marker_file: p.text("marker_file"),
        time_range: p.numbers("time_range").unwrap_or(d.time_range),
        preserve_mass_distribution: p.boolean("preserve_mass_distribution", d.preserve_mass_distribution),
        output_model_file: p.text("output_model_file"),
        output_scale_file: p.text("output_scale_file"),
        ..d
    };
    p.finish();
    for word in &order {
        match word.as_str() {
            "measurements" => scaler.scaling_order.push(ScalingStep::Measurements),
            "manualScale" => scaler.scaling_order.push(ScalingStep::Manual),
            other => {
                let hint = "write measurements, manualScale, or both";
                log.error(order_line, "", format!("`scaling_order`: `{other}` is unknown"), hint);
            }
        }
    }
    for m in objects(measurements).filter(|m| m.tag == "Measurement") {
        scaler.measurements.push(read_measurement(m, log));
    }
    if let Some(set) = manual {
        scaler.manual = scales(set, log);
        scaler.manual_file = set.attribute("file").filter(|f| !f.is_empty()).map(str::to_string);
    }
    scaler
}

fn read_measurement(e: &Element, log: &mut Diagnostics) -> MeasurementSetup {
    let mut p = Properties::new(e, log);
    let (pairs, bodies) = (p.find("MarkerPairSet"), p.find("BodyScaleSet"));
    let mut m = MeasurementSetup {
        name: e.name().to_string(),
        apply: p.boolean("apply", true),
        pairs: Vec::new(),
        bodies: Vec::new(),
    };
    p.finish();
    for pair in objects(pairs) {
        let names: Vec<String> =
            pair.child_text("markers").unwrap_or_default().split_whitespace().map(str::to_string).collect();
        match <[String; 2]>::try_from(names) {
            Ok(names) => m.pairs.push(names),
            Err(names) => {
                let message = format!(
                    "measurement `{}`: expected two markers in a pair, found {}",
                    m.name,
                    names.len()
                );
                log.error(pair.line, "", message, "");
            }
        }
    }
    for body in objects(bodies) {
        let text = body.child_text("axes").unwrap_or_default();
        let mut axes = [false; 3];
        for word in text.split_whitespace() {
            match word {
                "X" | "x" => axes[0] = true,
                "Y" | "y" => axes[1] = true,
                "Z" | "z" => axes[2] = true,
                other => {
                    log.error(body.line, "", format!("`axes`: `{other}` is not an axis"), "write X, Y, Z");
                }
            }
        }
        m.bodies.push((body.name().to_string(), axes));
    }
    m
}

/// The measurements in a file with a `MeasurementSet`, or a `ScaleTool` with one.
pub fn read_measurements(document: &Document, log: &mut Diagnostics) -> Option<Vec<MeasurementSetup>> {
    match find(&document.root, "MeasurementSet", 4) {
        Some(set) => {
            let list = objects(Some(set)).filter(|m| m.tag == "Measurement");
            let list = list.map(|m| read_measurement(m, log)).collect();
            (!log.has_errors()).then_some(list)
        }
        None => {
            let root = &document.root;
            log.error(root.line, "", "the file contains no `MeasurementSet`".to_string(), "");
            None
        }
    }
}

/// The first element with that tag, at most so many levels down.
fn find<'e>(e: &'e Element, tag: &str, levels: usize) -> Option<&'e Element> {
    if e.tag == tag {
        return Some(e);
    }
    levels.checked_sub(1).and_then(|left| e.children().find_map(|c| find(c, tag, left)))
}

/// The factors in a file with a `ScaleSet`.
pub fn read_scale_set(document: &Document, log: &mut Diagnostics) -> Option<Vec<ManualScale>> {
    let root = &document.root;
    let set = if root.tag == "ScaleSet" { Some(root) } else { root.child("ScaleSet") };
    match set {
        Some(set) => {
            let list = scales(set, log);
            (!log.has_errors()).then_some(list)
        }
        None => {
            log.error(root.line, "", format!("expected a `ScaleSet` in the file, found `{}`", root.tag), "");
            None
        }
    }
}

/// Scale factors as a file with a `ScaleSet`, in the format of OpenSim's ScaleTool; `name` is that of the model.
pub fn write_scale_set(name: &str, scales: &[ManualScale]) -> String {
    let mut objects = Element::new("objects", 0);
    for s in scales {
        let [x, y, z] = s.scales;
        let mut scale = Element::new("Scale", 0);
        scale.push(Element::with_text("scales", format!("{x} {y} {z}"), 0));
        scale.push(Element::with_text("segment", s.segment.as_str(), 0));
        scale.push(Element::with_text("apply", s.apply.to_string(), 0));
        objects.push(scale);
    }
    let mut set = Element::new("ScaleSet", 0);
    set.set_attribute("name", name);
    set.push(objects);
    let mut root = Element::new("OpenSimDocument", 0);
    root.set_attribute("Version", LATEST_VERSION.to_string());
    root.push(set);
    write_document(&Document { version: LATEST_VERSION, root, ..Document::default() })
}

fn scales(set: &Element, log: &mut Diagnostics) -> Vec<ManualScale> {
    let mut list = Vec::new();
    for e in objects(Some(set)).filter(|e| e.tag == "Scale") {
        let mut p = Properties::new(e, log);
        list.push(ManualScale {
            segment: p.text("segment").unwrap_or_default(),
            apply: p.boolean("apply", true),
            scales: p.numbers("scales").unwrap_or([1.0; 3]),
        });
        p.finish();
    }
    list
}

fn read_placer(e: &Element, log: &mut Diagnostics) -> MarkerPlacer {
    let mut p = Properties::new(e, log);
    p.skip(&["output_joint_file", "output_muscle_file", "optimizer_algorithm"]);
    let task_set = p.find("IKTaskSet");
    let d = MarkerPlacer::default();
    let mut placer = MarkerPlacer {
        apply: p.boolean("apply", d.apply),
        marker_file: p.text("marker_file"),
        coordinate_file: p.text("coordinate_file"),
        time_range: p.numbers("time_range").unwrap_or(d.time_range),
        output_motion_file: p.text("output_motion_file"),
        output_model_file: p.text("output_model_file"),
        output_marker_file: p.text("output_marker_file"),
        max_marker_movement: p.number("max_marker_movement", d.max_marker_movement),
        ..d
    };
    p.finish();
    if let Some(set) = task_set {
        placer.tasks = tasks(set, log);
        placer.task_file = set.attribute("file").filter(|f| !f.is_empty()).map(str::to_string);
    }
    placer
}

/// The members of a set.
fn objects(set: Option<&Element>) -> impl Iterator<Item = &Element> {
    set.and_then(|s| s.child("objects")).into_iter().flat_map(Element::children)
}

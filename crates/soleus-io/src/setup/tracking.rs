//! `CMCTool` and `RRATool`, with their task sets and control limits.

use super::analysis::{AnalysisSetup, read_analyses};
use super::properties::Properties;
use super::tool::{self, ToolSetup};
use crate::osim::{LATEST_VERSION, escape, read_document};
use crate::plain::is_zero;
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Document, Element};
use std::fmt::Write;

/// Common setup of both tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrackingSetup {
    /// Properties shared with other tools.
    pub tool: ToolSetup,
    /// Members of `AnalysisSet`.
    pub analyses: Vec<AnalysisSetup>,
    /// `desired_kinematics_file`.
    pub motion_file: Option<String>,
    /// `desired_points_file`.
    pub points_file: Option<String>,
    /// `task_set_file`.
    pub task_file: Option<String>,
    /// `constraints_file`: control limits.
    pub limits_file: Option<String>,
    /// `lowpass_cutoff_frequency`, Hz; `None` if negative.
    pub cutoff_hz: Option<f64>,
}

/// Setup of a `CMCTool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CmcSetup {
    /// Properties shared with `RRATool`.
    pub tracking: TrackingSetup,
    /// `actuators_to_exclude`: names or groups of actuators that are not controlled.
    pub excluded: Vec<String>,
    /// `cmc_time_window`, s. Default 0.01.
    #[serde(with = "crate::plain")]
    pub window: f64,
    /// `use_fast_optimization_target`. Default true.
    pub use_fast_target: bool,
}

impl Default for CmcSetup {
    fn default() -> Self {
        let tracking = TrackingSetup::default();
        CmcSetup { tracking, excluded: Vec::new(), window: 0.01, use_fast_target: true }
    }
}

/// Setup of an `RRATool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RraSetup {
    /// Properties shared with `CMCTool`.
    pub tracking: TrackingSetup,
    /// `adjust_com_to_reduce_residuals`. Default false.
    pub adjust_mass_center: bool,
    /// `adjusted_com_body`.
    pub body: Option<String>,
    /// `initial_time_for_com_adjustment` and `final_time_for_com_adjustment`, s; `None` if both are −1.
    pub adjustment_range: Option<[f64; 2]>,
    /// `output_model_file`.
    pub output_model_file: Option<String>,
}

impl Default for RraSetup {
    fn default() -> Self {
        let tracking = TrackingSetup::default();
        RraSetup {
            tracking,
            adjust_mass_center: false,
            body: None,
            adjustment_range: None,
            output_model_file: None,
        }
    }
}

pub(super) fn read_cmc(element: &Element, log: &mut Diagnostics) -> CmcSetup {
    let d = CmcSetup::default();
    let mut p = Properties::new(element, log);
    let mut tracking = read_tracking(&mut p, element.name(), false);
    let window = p.number("cmc_time_window", d.window);
    let use_fast_target = p.boolean("use_fast_optimization_target", d.use_fast_target);
    let excluded = p.words("actuators_to_exclude");
    let controls = p.text("rra_controls_file");
    let filters = p.boolean("use_curvature_filter", false);
    p.finish();
    if controls.is_some() {
        let line = element.child("rra_controls_file").map_or(0, |e| e.line);
        log.warn(line, "", "`rra_controls_file` has no effect, as in OpenSim 4", "");
    }
    if filters {
        let line = element.child("use_curvature_filter").map_or(0, |e| e.line);
        log.warn(line, "", "`use_curvature_filter` has no effect, as in OpenSim 4", "");
    }
    tracking.analyses = read_analyses(&tracking.tool.analyses, log);
    CmcSetup { tracking, excluded, window, use_fast_target }
}

pub(super) fn read_rra(element: &Element, log: &mut Diagnostics) -> RraSetup {
    let mut p = Properties::new(element, log);
    let mut tracking = read_tracking(&mut p, element.name(), true);
    // Properties of the times when it was a `CMCTool`; windows are of 1 ms, and the target is the slow one, whatever they say.
    p.skip(&["cmc_time_window", "use_fast_optimization_target", "use_curvature_filter", "rra_controls_file"]);
    let adjust_mass_center = p.boolean("adjust_com_to_reduce_residuals", false);
    let body = p.text("adjusted_com_body");
    let range =
        [p.number("initial_time_for_com_adjustment", -1.0), p.number("final_time_for_com_adjustment", -1.0)];
    let output_model_file = p.text("output_model_file");
    p.finish();
    if adjust_mass_center && body.is_none() {
        let line = element.child("adjust_com_to_reduce_residuals").map_or(0, |e| e.line);
        let message = "`adjust_com_to_reduce_residuals` is true, but `adjusted_com_body` names no body";
        log.error(line, "", message, "name the body whose mass centre may move, usually the torso");
    }
    tracking.analyses = read_analyses(&tracking.tool.analyses, log);
    let adjustment_range = (range != [-1.0, -1.0]).then_some(range);
    RraSetup { tracking, adjust_mass_center, body, adjustment_range, output_model_file }
}

fn read_tracking(p: &mut Properties, name: &str, replaces: bool) -> TrackingSetup {
    // The optimizer is our own, and as exact as numbers are.
    p.skip(&[
        "optimizer_algorithm",
        "numerical_derivative_step_size",
        "optimizer_derivative_dx",
        "optimization_convergence_tolerance",
        "optimizer_convergence_criterion",
        "optimizer_max_iterations",
        "optimizer_print_level",
        "use_verbose_printing",
    ]);
    TrackingSetup {
        tool: tool::read(p, name, replaces),
        analyses: Vec::new(),
        motion_file: p.text("desired_kinematics_file"),
        points_file: p.text("desired_points_file"),
        task_file: p.text("task_set_file"),
        limits_file: p.text("constraints_file"),
        cutoff_hz: Some(p.number("lowpass_cutoff_frequency", -1.0)).filter(|f| *f >= 0.0),
    }
}

/// A task of a `CMC_TaskSet`: a coordinate to track (`CMC_Joint`), or one direction of a point to track (`CMC_Point`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrackingTask {
    /// Name of the coordinate, or of the point.
    pub coordinate: String,
    /// The point, for a point task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<TrackedPoint>,
    /// Line in the file, from 1.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
    /// `on`, and the first of `active`.
    pub on: bool,
    /// First of `weight`. Default 1.
    #[serde(with = "crate::plain")]
    pub weight: f64,
    /// First of `kp`, 1/s². Default 1.
    #[serde(with = "crate::plain")]
    pub kp: f64,
    /// First of `kv`, 1/s. Default 1.
    #[serde(with = "crate::plain")]
    pub kv: f64,
    /// First of `ka`. Default 1.
    #[serde(with = "crate::plain")]
    pub ka: f64,
}

impl Default for TrackingTask {
    fn default() -> Self {
        TrackingTask {
            coordinate: String::new(),
            point: None,
            line: 0,
            on: true,
            weight: 1.0,
            kp: 1.0,
            kv: 1.0,
            ka: 1.0,
        }
    }
}

/// A point of a body that is tracked along one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrackedPoint {
    /// Name of the body (`wrt_body`); `center_of_mass` for that of the whole model.
    pub body: String,
    /// Location on the body (`point`), m.
    pub location: [f64; 3],
    /// Unit vector (`r0`, `r1`, `r2`) in ground, or in `frame` if given.
    pub direction: [f64; 3],
    /// Name of the reference body (`express_body`); default: ground.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

impl Default for TrackedPoint {
    fn default() -> Self {
        TrackedPoint { body: String::new(), location: [0.0; 3], direction: [1.0, 0.0, 0.0], frame: None }
    }
}

/// Reads the tasks in a file with a `CMC_TaskSet`; `file` is the name for messages. `None` if and only if the
/// diagnostics contain an error.
pub fn read_tracking_tasks(bytes: &[u8], file: &str) -> (Option<Vec<TrackingTask>>, Diagnostics) {
    let (document, mut log) = read_document(bytes, file);
    let tasks = document.and_then(|d| tasks(&d, &mut log));
    (tasks, log)
}

/// Tasks as a `CMC_TaskSet`.
pub fn write_tracking_tasks(tasks: &[TrackingTask]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_string();
    let _ = writeln!(out, "<OpenSimDocument Version=\"{LATEST_VERSION}\">\n\t<CMC_TaskSet>\n\t\t<objects>");
    for t in tasks {
        let tag = if t.point.is_some() { "CMC_Point" } else { "CMC_Joint" };
        let _ = write!(out, "\t\t\t<{tag} name=\"");
        escape(&mut out, &t.coordinate, true);
        let _ = write!(out, "\">\n\t\t\t\t<on>{0}</on>\n\t\t\t\t<active>{0} false false</active>\n", t.on);
        for (tag, x) in [("weight", t.weight), ("kp", t.kp), ("kv", t.kv), ("ka", t.ka)] {
            let _ = writeln!(out, "\t\t\t\t<{tag}>{x} 1 1</{tag}>");
        }
        match &t.point {
            None => {
                out += "\t\t\t\t<coordinate>";
                escape(&mut out, &t.coordinate, false);
                out += "</coordinate>\n";
            }
            Some(point) => {
                out += "\t\t\t\t<wrt_body>";
                escape(&mut out, &point.body, false);
                out += "</wrt_body>\n\t\t\t\t<express_body>";
                escape(&mut out, point.frame.as_deref().unwrap_or("ground"), false);
                out += "</express_body>\n";
                for (tag, [x, y, z]) in [("point", point.location), ("r0", point.direction)] {
                    let _ = writeln!(out, "\t\t\t\t<{tag}>{x} {y} {z}</{tag}>");
                }
            }
        }
        let _ = writeln!(out, "\t\t\t</{tag}>");
    }
    out + "\t\t</objects>\n\t</CMC_TaskSet>\n</OpenSimDocument>\n"
}

fn tasks(document: &Document, log: &mut Diagnostics) -> Option<Vec<TrackingTask>> {
    // The oldest files have other names for the same.
    let old = "rdCMC_TaskSet";
    let tag =
        if document.root.tag == old || document.root.child(old).is_some() { old } else { "CMC_TaskSet" };
    let set = set_of(document, tag, log)?;
    let defaults = set.child("defaults").or_else(|| document.root.child("defaults"));
    let mut list = Vec::new();
    for e in set.child("objects").into_iter().flat_map(Element::children) {
        let d = match defaults.and_then(|d| d.child(&e.tag)).filter(|_| is_joint(&e.tag)) {
            Some(d) => task(d, &TrackingTask { on: false, ..TrackingTask::default() }, log),
            // As in OpenSim, a task acts only if `active` says so.
            None => TrackingTask { on: false, ..TrackingTask::default() },
        };
        match e.tag.as_str() {
            tag if is_joint(tag) => list.push(task(e, &d, log)),
            "CMC_Point" | "rdCMC_Point" => list.extend(point_tasks(e, log)),
            other => {
                let hint = match other {
                    // OpenSim 4.6 has the class, without a line that computes, and does not read it.
                    "CMC_Orientation" | "rdCMC_Orientation" => {
                        "OpenSim has no such task either; track the joint angles (CMC_Joint) or three points of the body (CMC_Point)"
                    }
                    _ => "supported tasks are CMC_Joint and CMC_Point: give coordinates or points to track",
                };
                log.error(
                    e.line,
                    "",
                    format!("task `{}` is a `{other}`, which is not supported", e.name()),
                    hint,
                );
            }
        }
    }
    (!log.has_errors()).then_some(list)
}

fn is_joint(tag: &str) -> bool {
    matches!(tag, "CMC_Joint" | "rdCMC_Joint")
}

fn task(e: &Element, d: &TrackingTask, log: &mut Diagnostics) -> TrackingTask {
    let mut p = Properties::new(e, log);
    // What only tasks of points use, and a limit that OpenSim 4 looks at in the slow target alone.
    p.skip(&["wrt_body", "express_body", "r0", "r1", "r2", "limit"]);
    let first = |p: &mut Properties, tag: &'static str, default: f64| {
        let words = p.words(tag);
        match words.first().map(|w| w.parse::<f64>()) {
            Some(Ok(x)) if x.is_finite() => x,
            Some(_) => {
                let (line, word) = (e.child(tag).map_or(e.line, |e| e.line), words.join(" "));
                p.log().error(
                    line,
                    "",
                    format!("`{tag}` of task `{}` is not a number: {word}", e.name()),
                    "",
                );
                default
            }
            None => default,
        }
    };
    let active = p.words("active").first().map_or(d.on, |w| w == "true");
    let on = p.boolean("on", true) && active;
    let task = TrackingTask {
        point: None,
        coordinate: p.text("coordinate").unwrap_or_else(|| e.name().to_string()),
        line: e.line,
        on,
        weight: first(&mut p, "weight", d.weight),
        kp: first(&mut p, "kp", d.kp),
        kv: first(&mut p, "kv", d.kv),
        ka: first(&mut p, "ka", d.ka),
    };
    p.finish();
    task
}

/// The directions of a point that are followed, a task each. OpenSim takes the first gains for all of them; here each has its own. A
/// direction of no length is an axis of ground, or of the body that the point is seen from.
fn point_tasks(e: &Element, log: &mut Diagnostics) -> Vec<TrackingTask> {
    let mut p = Properties::new(e, log);
    p.skip(&["limit"]);
    let mut numbers = |tag: &'static str, defaults: [f64; 3]| {
        let words = p.words(tag);
        let mut list = defaults;
        for (i, x) in list.iter_mut().enumerate() {
            match words.get(i).map(|w| w.parse::<f64>()) {
                Some(Ok(number)) if number.is_finite() => *x = number,
                Some(_) => {
                    let (line, word) = (e.child(tag).map_or(e.line, |e| e.line), words.join(" "));
                    let message = format!("`{tag}` of task `{}` is not three numbers: {word}", e.name());
                    p.log().error(line, "", message, "");
                }
                None => {}
            }
        }
        list
    };
    let [weight, kp, kv, ka] = ["weight", "kp", "kv", "ka"].map(|tag| numbers(tag, [1.0; 3]));
    let location = numbers("point", [0.0; 3]);
    let directions = ["r0", "r1", "r2"].map(|tag| numbers(tag, [0.0; 3]));
    let (active, on) = (p.words("active"), p.boolean("on", true));
    let body = p.text("wrt_body").unwrap_or_default();
    let frame = p.text("express_body").unwrap_or_default();
    p.finish();
    let frame = Some(frame).filter(|f| !matches!(f.as_str(), "" | "-1" | "ground"));
    let one = |i: usize| {
        let mut axis = [0.0; 3];
        axis[i] = 1.0;
        let length = directions[i].iter().map(|x| x * x).sum::<f64>().sqrt();
        let direction = if length > 0.0 { directions[i].map(|x| x / length) } else { axis };
        TrackingTask {
            coordinate: e.name().to_string(),
            point: Some(TrackedPoint { body: body.clone(), location, direction, frame: frame.clone() }),
            line: e.line,
            on,
            weight: weight[i],
            kp: kp[i],
            kv: kv[i],
            ka: ka[i],
        }
    };
    (0..3).filter(|&i| active.get(i).is_some_and(|w| w == "true")).map(one).collect()
}

/// Limits of a control: a `ControlLinear` in a constraints file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlLimits {
    /// Name of the actuator; a suffix `.excitation` in the file is removed.
    pub name: String,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    /// `default_min`. Default 0.
    #[serde(with = "crate::plain")]
    pub min: f64,
    /// `default_max`. Default 1.
    #[serde(with = "crate::plain")]
    pub max: f64,
    /// `min_nodes`: time (s) and value, instead of `default_min`.
    pub min_nodes: Vec<[f64; 2]>,
    /// `max_nodes`: time (s) and value, instead of `default_max`.
    pub max_nodes: Vec<[f64; 2]>,
    /// `use_steps`. Default false.
    pub use_steps: bool,
    /// `extrapolate`. Default true.
    pub extrapolate: bool,
}

/// Reads the limits in a file with a `ControlSet`; `file` is the name for messages. `None` if and only if the
/// diagnostics contain an error.
pub fn read_control_limits(bytes: &[u8], file: &str) -> (Option<Vec<ControlLimits>>, Diagnostics) {
    let (document, mut log) = read_document(bytes, file);
    let limits = document.and_then(|d| limits(&d, &mut log));
    (limits, log)
}

fn limits(document: &Document, log: &mut Diagnostics) -> Option<Vec<ControlLimits>> {
    let set = set_of(document, "ControlSet", log)?;
    let defaults = set.child("defaults").or_else(|| document.root.child("defaults"));
    let none = ControlLimits {
        name: String::new(),
        line: 0,
        min: 0.0,
        max: 1.0,
        min_nodes: Vec::new(),
        max_nodes: Vec::new(),
        use_steps: false,
        extrapolate: true,
    };
    let mut list = Vec::new();
    for e in set.child("objects").into_iter().flat_map(Element::children) {
        let d = match defaults.and_then(|d| d.child(&e.tag)) {
            Some(d) => limit(d, &none, log),
            None => none.clone(),
        };
        match e.tag.as_str() {
            "ControlLinear" | "ControlConstant" => list.push(limit(e, &d, log)),
            other => {
                log.error(e.line, "", format!("controls of class `{other}` are not supported"), "");
            }
        }
    }
    (!log.has_errors()).then_some(list)
}

fn limit(e: &Element, d: &ControlLimits, log: &mut Diagnostics) -> ControlLimits {
    let mut p = Properties::new(e, log);
    p.skip(&["is_model_control", "filter_on", "x_nodes", "kp", "kv", "value"]);
    let [min, max] = [p.number("default_min", d.min), p.number("default_max", d.max)];
    let use_steps = p.boolean("use_steps", d.use_steps);
    let extrapolate = p.boolean("extrapolate", d.extrapolate);
    let [low, high] = [p.find("min_nodes"), p.find("max_nodes")];
    p.finish();
    let mut nodes = |set: Option<&Element>| -> Vec<[f64; 2]> {
        let mut list = Vec::new();
        for node in set.into_iter().flat_map(Element::children) {
            let mut p = Properties::new(node, log);
            list.push([p.number("t", 0.0), p.number("value", 0.0)]);
            p.finish();
        }
        list.sort_by(|a: &[f64; 2], b| a[0].total_cmp(&b[0]));
        list.dedup_by(|a, b| a[0] == b[0]);
        list
    };
    let (min_nodes, max_nodes) = (nodes(low), nodes(high));
    let name = e.name().strip_suffix(".excitation").unwrap_or(e.name()).to_string();
    ControlLimits { name, line: e.line, min, max, min_nodes, max_nodes, use_steps, extrapolate }
}

/// The set that a file should hold.
fn set_of<'d>(document: &'d Document, tag: &str, log: &mut Diagnostics) -> Option<&'d Element> {
    let root = &document.root;
    let set = if root.tag == tag { Some(root) } else { root.child(tag) };
    if set.is_none() {
        let found = root.children().next().map_or(root.tag.as_str(), |e| e.tag.as_str());
        log.error(root.line, "", format!("expected `{tag}` in the file, found `{found}`"), "");
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_tasks_written_and_read() {
        let task = |name: &str, weight| TrackingTask {
            coordinate: name.to_string(),
            weight,
            kp: 1600.0,
            kv: 80.0,
            ..TrackingTask::default()
        };
        let tasks = vec![task("hip<r>", 20.0), task("knee", 1.0 / 3.0)];
        let (read, log) = read_tracking_tasks(write_tracking_tasks(&tasks).as_bytes(), "tasks.xml");
        assert!(log.list.is_empty(), "{:?}", log.list);
        let read: Vec<TrackingTask> =
            read.unwrap().into_iter().map(|t| TrackingTask { line: 0, ..t }).collect();
        assert_eq!(read, tasks);
    }

    /// Tasks take what they leave out from the defaults of the file; the oldest files have other names for them.
    #[test]
    fn analytic_defaults_and_old_names_of_tasks() {
        let text = "<OpenSimDocument Version=\"20302\"><rdCMC_TaskSet><defaults><rdCMC_Joint name=\"default\"><kp>100 1 1</kp><kv>20 1 1</kv>\
                    <active>true false false</active></rdCMC_Joint></defaults><objects><rdCMC_Joint name=\"knee\"><weight>5</weight>\
                    </rdCMC_Joint><rdCMC_Joint name=\"hip\"><on>false</on></rdCMC_Joint></objects></rdCMC_TaskSet></OpenSimDocument>";
        let (tasks, log) = read_tracking_tasks(text.as_bytes(), "tasks.xml");
        let tasks = tasks.unwrap_or_else(|| panic!("{:?}", log.list));
        let of = |t: &TrackingTask| (t.coordinate.clone(), t.on, t.weight, t.kp, t.kv);
        assert_eq!(of(&tasks[0]), ("knee".into(), true, 5.0, 100.0, 20.0));
        assert!(!tasks[1].on);
    }

    /// A point is followed in each direction that is active, with the gains of that direction; what is written is read again.
    #[test]
    fn analytic_points_to_follow() {
        let text = "<CMC_TaskSet><objects><CMC_Point name=\"hand\"><active>true false true</active><wrt_body>forearm</wrt_body>\
                    <express_body>ground</express_body><point>0 -0.2 0</point><kp>100 1 400</kp><kv>20 1 40</kv><weight>1 2 3</weight>\
                    <r0>0 2 0</r0></CMC_Point></objects></CMC_TaskSet>";
        let (tasks, log) = read_tracking_tasks(text.as_bytes(), "tasks.xml");
        let tasks = tasks.unwrap_or_else(|| panic!("{:?}", log.list));
        let point = |direction| TrackedPoint {
            body: "forearm".into(),
            location: [0.0, -0.2, 0.0],
            direction,
            frame: None,
        };
        let task = |weight, kp, kv, direction| TrackingTask {
            coordinate: "hand".into(),
            point: Some(point(direction)),
            line: 1,
            weight,
            kp,
            kv,
            ..TrackingTask::default()
        };
        assert_eq!(tasks, [task(1.0, 100.0, 20.0, [0.0, 1.0, 0.0]), task(3.0, 400.0, 40.0, [0.0, 0.0, 1.0])]);
        let written = write_tracking_tasks(&tasks);
        let again = read_tracking_tasks(written.as_bytes(), "tasks.xml").0.unwrap();
        let at_line_1 = |t: &TrackingTask| TrackingTask { line: 1, ..t.clone() };
        assert_eq!(again.iter().map(at_line_1).collect::<Vec<_>>(), tasks);
        // The same seen from another body, which is written as well.
        let text = text.replace("<express_body>ground", "<express_body>torso");
        let tasks = read_tracking_tasks(text.as_bytes(), "tasks.xml").0.unwrap();
        let frames = |list: &[TrackingTask]| -> Vec<Option<String>> {
            list.iter().filter_map(|t| t.point.as_ref()).map(|p| p.frame.clone()).collect()
        };
        assert_eq!(frames(&tasks), [Some("torso".to_string()), Some("torso".to_string())]);
        let again = read_tracking_tasks(write_tracking_tasks(&tasks).as_bytes(), "tasks.xml").0.unwrap();
        assert_eq!(frames(&again), frames(&tasks));
    }

    #[test]
    fn analytic_tasks_that_cannot_be_run_are_refused() {
        for text in [
            "<CMC_TaskSet><objects><CMC_Orientation name=\"head\"/></objects></CMC_TaskSet>",
            "<CMC_TaskSet><objects><CMC_Point name=\"hand\"><r1>0 up 0</r1></CMC_Point></objects></CMC_TaskSet>",
            "<CMC_TaskSet><objects><CMC_Joint name=\"knee\"><kp>stiff</kp></CMC_Joint></objects></CMC_TaskSet>",
            "<ForceSet/>",
        ] {
            let (tasks, log) = read_tracking_tasks(text.as_bytes(), "tasks.xml");
            assert!(tasks.is_none() && log.has_errors(), "{text}");
        }
    }

    #[test]
    fn analytic_limits_of_controls() {
        let text = "<ControlSet><defaults><ControlLinear name=\"default\"><default_min>0.02</default_min></ControlLinear></defaults>\
                    <objects><ControlLinear name=\"soleus_r.excitation\"><use_steps>true</use_steps><max_nodes><ControlLinearNode><t>1</t>\
                    <value>0.5</value></ControlLinearNode><ControlLinearNode><t>0</t><value>1</value></ControlLinearNode></max_nodes>\
                    </ControlLinear></objects></ControlSet>";
        let (limits, log) = read_control_limits(text.as_bytes(), "limits.xml");
        let l = &limits.unwrap_or_else(|| panic!("{:?}", log.list))[0];
        assert_eq!((l.name.as_str(), l.min, l.max, l.use_steps), ("soleus_r", 0.02, 1.0, true));
        assert_eq!(l.max_nodes, [[0.0, 1.0], [1.0, 0.5]]);
    }
}

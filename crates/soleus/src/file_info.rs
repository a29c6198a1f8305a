//! Summary of a file of any kind that the tools read.

use crate::addition::read_parts;
use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::inputs::paths::{beside, has_ending};
use crate::inputs::setup;
use crate::inputs::table::is_c3d;
use crate::model_info::{ModelInfo, ModelSummary};
use crate::plotting::is_load;
use crate::text::on_one_line;
use serde::{Deserialize, Serialize};
use soleus_io::c3d::C3d;
use soleus_io::mesh::read_mesh;
use soleus_io::table::csv;
use soleus_math::Table;
use soleus_math::signal::gaps;
use soleus_math::table::Element as Columns;
use soleus_model::{Diagnostics, Document, Element};
use soleus_tools::gait::laboratory_turn;
use soleus_tools::plates::find_plates;
use soleus_tools::scale::landmark;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Summarizes the content of a file.
///
/// ```
/// use soleus::{Context, FileInfo, Memory};
/// let files = Memory::new().with("a.csv", "time,knee\n0,1\n0.01,2\n");
/// let about = FileInfo { file: "a.csv".into(), ..Default::default() }.run(&Context::new(&files))?;
/// assert!(about.to_text().contains("knee"));
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileInfo {
    /// The file.
    pub file: PathBuf,
    /// Output file for the summary.
    pub output: Option<PathBuf>,
    /// JSON instead of a text table.
    pub as_json: bool,
}

/// Summary of a file.
#[derive(Debug)]
pub enum About {
    /// A model.
    Model(Box<ModelSummary>),
    /// Any other file.
    Other(FileSummary),
}

/// Summary of a file that is not a model.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileSummary {
    /// Kind of file.
    pub kind: String,
    /// Content: name and value.
    pub facts: Vec<(String, String)>,
    #[serde(skip)]
    output: Option<PathBuf>,
    #[serde(skip)]
    as_json: bool,
}

impl FileSummary {
    fn new(kind: impl Into<String>) -> Self {
        FileSummary { kind: kind.into(), ..FileSummary::default() }
    }

    fn add(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push((name.to_string(), value.into()));
    }

    /// Of a list: how many, and which.
    fn list<'s>(&mut self, name: &str, items: impl Iterator<Item = &'s str>) {
        let items: Vec<&str> = items.collect();
        if !items.is_empty() {
            self.add(name, format!("{}: {}", items.len(), items.join(", ")));
        }
    }

    /// As text, a fact on each line.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.kind);
        let width = self.facts.iter().map(|(n, _)| n.len()).max().unwrap_or(0) + 2;
        for (name, value) in &self.facts {
            let _ = writeln!(text, "  {name:width$}{}", on_one_line(value));
        }
        text
    }
}

impl About {
    /// As text.
    pub fn to_text(&self) -> String {
        match self {
            About::Model(m) => m.to_text(),
            About::Other(s) => s.to_text(),
        }
    }
}

impl Outcome for About {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        match self {
            About::Model(m) => m.artifacts(),
            About::Other(s) => s.output.iter().map(|file| Artifact::text(file, s.written())).collect(),
        }
    }
}

impl FileSummary {
    fn written(&self) -> String {
        match self.as_json {
            true => serde_json::to_string_pretty(self).unwrap_or_default() + "\n",
            false => self.to_text(),
        }
    }
}

/// Kinds of files, by their endings.
const TABLES: [&str; 5] = ["sto", "mot", "trc", "csv", "parquet"];
const MESHES: [&str; 4] = ["stl", "stla", "obj", "vtp"];

impl FileInfo {
    /// Reads and summarizes the file.
    pub fn run(&self, cx: &Context) -> Result<About, Error> {
        let path = self.file.as_path();
        let is = |list: &[&str]| list.iter().any(|e| has_ending(path, e));
        let summary = if is_c3d(path) {
            c3d(cx, path)?
        } else if has_ending(path, "csv") && csv::is_over_cycle(&cx.read(path)?) {
            let (table, log) = csv::read_over_cycle(&cx.read(path)?, &path.display().to_string());
            over_cycle(&cx.settle(path, table, log)?)
        } else if is(&TABLES) {
            let (table, log) = soleus_io::table::read(&cx.read(path)?, &path.display().to_string());
            let table = cx.settle(path, table, log)?;
            let kind =
                format!("table (.{})", path.extension().unwrap_or_default().to_string_lossy().to_lowercase());
            let mut s = FileSummary::new(kind);
            describe_table(&mut s, &table);
            s
        } else if is(&MESHES) {
            mesh(cx, path)?
        } else if is(&["toml"]) {
            toml(cx, path)?
        } else if is(&["json"]) {
            json(cx, path)?
        } else if is(&["iterate"]) {
            iterate(cx, path)?
        } else {
            match xml(cx, path)? {
                Some(summary) => summary,
                None => {
                    let request =
                        ModelInfo { model: path.into(), output: self.output.clone(), as_json: self.as_json };
                    return Ok(About::Model(Box::new(request.run(cx)?)));
                }
            }
        };
        Ok(About::Other(FileSummary { output: self.output.clone(), as_json: self.as_json, ..summary }))
    }
}

/// Rows, times, columns, units, gaps, plates, axes.
fn describe_table(s: &mut FileSummary, table: &Table) {
    let t = table.times();
    if let (Some(first), Some(last)) = (t.first(), t.last()) {
        let rate = if t.len() > 1 { (t.len() - 1) as f64 / (last - first) } else { f64::NAN };
        let rate = if rate.is_finite() { format!(", {rate:.2} rows/s") } else { String::new() };
        let [first, last] = [first, last].map(|t| (1e6 * t).round() / 1e6);
        s.add("rows", format!("{}, from {first} s to {last} s{rate}", t.len()));
    } else {
        s.add("rows", "0");
    }
    let kind = match table.element() {
        Columns::Scalar => "columns",
        Columns::Vec(3) => "markers or vectors",
        Columns::Quaternion => "orientations (quaternions)",
        _ => "columns of vectors",
    };
    s.list(kind, table.labels().iter().map(String::as_str));
    if let Some(unit) = table.metadata_value("Units") {
        s.add("unit of length", unit);
    }
    // Headers of forces, moments and markers say it too, and mean nothing by it.
    let has_angles = table.element() == Columns::Scalar && !table.labels().iter().all(|l| is_load(l));
    if let Some(degrees) = table.in_degrees.filter(|_| has_angles) {
        s.add("angles", if degrees { "degrees" } else { "radians" });
    }
    for (key, value) in table.metadata.iter().filter(|(k, _)| k.starts_with("event_")) {
        s.add(key, value.clone());
    }
    describe_gaps(s, table);
    let flat;
    let scalar = if table.element() == Columns::Scalar {
        table
    } else {
        flat = table.flattened();
        &flat
    };
    let plates = find_plates(scalar.labels());
    if !plates.is_empty() {
        s.list("force plates", plates.iter().map(|p| p.name.as_str()));
    }
    if table.element() == Columns::Vec(3) {
        describe_markers(s, table);
    }
}

/// Normative curves: names, and those without a standard deviation.
fn over_cycle(table: &Table) -> FileSummary {
    let mut s = FileSummary::new("normative curves over the gait cycle (soleus gait --normative)");
    let t = table.times();
    if let (Some(first), Some(last)) = (t.first(), t.last()) {
        s.add("rows", format!("{}, from {first} % to {last} %", t.len()));
    }
    let names = || table.labels().iter().map(String::as_str).filter(|l| !l.starts_with("sd_"));
    s.list("curves", names());
    s.list("without SD", names().filter(|l| table.index_of(&format!("sd_{l}")).is_none()));
    s
}

/// Markers by the places they mean, and the axes of the laboratory.
fn describe_markers(s: &mut FileSummary, table: &Table) {
    let known = table.labels().iter().filter(|l| landmark(l).is_some()).count();
    if known > 0 {
        s.add("known landmarks", format!("{known} of {}", table.labels().len()));
    }
    let meters = table.in_meters();
    if let Some(turn) = meters.as_ref().and_then(laboratory_turn) {
        let mut text = format!("{} up, subject faces along {}", turn.up, turn.forward);
        if !turn.words.is_empty() {
            let _ = write!(text, " (rotate with --rotate {})", turn.words.replace(' ', " --rotate "));
        }
        s.add("axes", text);
    }
}

/// How many rows are missing, label by label; the longest gap of each.
fn describe_gaps(s: &mut FileSummary, table: &Table) {
    let mut list = Vec::new();
    for (i, label) in table.labels().iter().enumerate() {
        let found = gaps(table, i);
        if let Some(longest) = found.iter().map(|g| g.rows).max() {
            let plural = |n: usize| if n == 1 { "" } else { "s" };
            let (n, rows) = (found.len(), plural(longest));
            list.push(format!("{label} ({n} gap{}, longest {longest} row{rows})", plural(n)));
        }
    }
    s.add("gaps", if list.is_empty() { "none".to_string() } else { list.join(", ") });
}

fn c3d(cx: &Context, path: &Path) -> Result<FileSummary, Error> {
    let (trial, mut log) = soleus_io::c3d::read(&cx.read(path)?, &path.display().to_string());
    let plates = trial.as_ref().map_or(Vec::new(), |t: &C3d| t.force_plates(&mut log));
    let trial = cx.settle(path, trial, log)?;
    let mut s = FileSummary::new("motion capture (C3D)");
    let frames = trial.points.rows();
    let last = trial.first_frame as usize + frames.max(1) - 1;
    s.add(
        "frames",
        format!(
            "{frames} at {} Hz, frames {} to {last} of the recording",
            trial.point_rate, trial.first_frame
        ),
    );
    s.add("start", format!("{:.4} s after frame 1; tables start at 0 s", trial.start_time()));
    s.add("unit of length", trial.length_unit());
    let markers = trial.markers();
    s.list("markers", markers.labels().iter().map(String::as_str));
    let others = trial.points.labels().len() - markers.labels().len();
    if others > 0 {
        s.add("other points", format!("{others} angles, forces, moments, powers or scalars of a model"));
    }
    describe_gaps(&mut s, &markers);
    describe_markers(&mut s, &markers);
    if trial.analog_rate > 0.0 {
        let units = trial.parameters.continued_text("ANALOG", "UNITS");
        let name = |(i, l): (usize, &String)| match units.get(i).map(|u| u.trim()).filter(|u| !u.is_empty()) {
            Some(unit) => format!("{l} ({unit})"),
            None => l.clone(),
        };
        let names: Vec<String> = trial.analog.labels().iter().enumerate().map(name).collect();
        s.add(
            "analog channels",
            format!("{} at {} Hz: {}", names.len(), trial.analog_rate, names.join(", ")),
        );
        let used: Vec<usize> = plates.iter().flat_map(|p| p.channels.iter().copied()).collect();
        let is_emg = |(i, l): &(usize, &String)| !used.contains(i) && l.to_lowercase().contains("emg");
        let emg: Vec<&str> =
            trial.analog.labels().iter().enumerate().filter(is_emg).map(|(_, l)| l.as_str()).collect();
        s.list("EMG", emg.into_iter());
    }
    let kinds: Vec<String> =
        plates.iter().enumerate().map(|(i, p)| format!("{} (type {})", i + 1, p.kind)).collect();
    s.list("force plates", kinds.iter().map(String::as_str));
    for e in &trial.events {
        let what = format!("{} {}", e.context, e.label);
        s.add("event", format!("{:.4} s: {}", e.time - trial.start_time(), what.trim()));
    }
    Ok(s)
}

fn mesh(cx: &Context, path: &Path) -> Result<FileSummary, Error> {
    let mesh = read_mesh(&cx.read(path)?, &path.display().to_string())
        .map_err(|e| Error::content(path, 0, "", e.to_string(), ""))?;
    let mut s = FileSummary::new("mesh");
    s.add("vertices", mesh.vertices.len().to_string());
    s.add("faces", mesh.faces.len().to_string());
    let mut ends = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for v in &mesh.vertices {
        for (e, x) in ends.iter_mut().zip(v.to_array()) {
            *e = [e[0].min(x), e[1].max(x)];
        }
    }
    let size: Vec<String> = ends.iter().map(|[lo, hi]| format!("{:.4}", hi - lo)).collect();
    s.add("size along x, y, z", format!("{} (in the unit of the file; models use metres)", size.join(", ")));
    Ok(s)
}

/// A study of optimal control, or a pipeline of motion capture.
fn toml(cx: &Context, path: &Path) -> Result<FileSummary, Error> {
    let text = cx.read_text(path)?;
    if text.lines().any(|l| l.trim_start().starts_with("[[add]]")) {
        let mut s = FileSummary::new("model parts (soleus add, soleus predict --device)");
        let parts = read_parts(cx, path)?;
        let words: Vec<String> =
            parts.iter().map(|p| format!("{} ({})", p.base_name(), p.kind.word())).collect();
        s.list("parts", words.iter().map(String::as_str));
        return Ok(s);
    }
    let mut log = Diagnostics::new(path.display().to_string());
    if let Some(p) = soleus_io::pipeline::read(&text, &mut log) {
        let mut s = FileSummary::new("motion-capture pipeline (soleus pipeline)");
        if let Some(m) =
            p.model.as_ref().or(p.scale.as_ref().and_then(|s| s.model.as_ref().or(s.setup.as_ref())))
        {
            s.add("model", m.display().to_string());
        }
        let steps = [
            ("scale", p.scale.is_some()),
            ("ik", !p.trials.is_empty()),
            ("filter", p.filter.is_some()),
            ("reconcile", p.reconcile.is_some()),
            ("rea", p.rea.is_some()),
            ("rra", p.rra.is_some()),
            ("id", p.id.is_some() || p.trials.iter().any(|t| t.loads.is_some())),
            ("inverse", p.inverse.is_some()),
            ("so", p.so.is_some()),
            ("jr", p.jr.is_some()),
            ("cmc", p.cmc.is_some()),
        ];
        s.list("steps", steps.iter().filter(|(_, on)| *on).map(|(n, _)| *n));
        s.list("trials", p.trials.iter().map(|t| t.name.as_str()));
        return Ok(s);
    }
    let (study, study_log) = soleus_io::study::read_file(text.as_bytes(), &path.display().to_string());
    match study {
        Some(file) => {
            let p = &file.study.setup;
            let mut s = FileSummary::new("optimal-control study (soleus solve)");
            if let Some(model) = &p.model_file {
                s.add("model", model.clone());
            }
            s.list("goals", p.goals.iter().map(|g| g.name.as_str()));
            s.list("phases", file.study.phases.iter().map(|p| p.setup.name.as_str()));
            Ok(s)
        }
        // Which of the two was meant is told by its tables.
        None if text.contains("[[trials]]") || text.contains("[scale]") => Err(Error::input(path, log)),
        None => Err(Error::input(path, study_log)),
    }
}

/// Where a stopped solve goes on.
fn iterate(cx: &Context, path: &Path) -> Result<FileSummary, Error> {
    let found = soleus_io::iterate::read(&cx.read_text(path)?);
    let found = found.map_err(|e| Error::content(path, 0, "", e, ""))?;
    let mut s =
        FileSummary::new("iterate of a solve (soleus solve --resume, or --guess for similar problems)");
    s.add("iterations", found.iteration.to_string());
    s.add("objective", format!("{:.6e}", found.objective));
    s.add("largest violation", format!("{:.2e}", found.constraint_violation));
    s.add("variables", found.x.len().to_string());
    s.list("goals", found.problem.goals.iter().map(|g| g.0.as_str()));
    Ok(s)
}

fn json(cx: &Context, path: &Path) -> Result<FileSummary, Error> {
    let text = cx.read_text(path)?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|e| Error::content(path, e.line() as u32, "", format!("this is not JSON: {e}"), ""))?;
    let mut s = FileSummary::new("JSON");
    let Some(object) = value.as_object() else {
        s.add("holds", "no object");
        return Ok(s);
    };
    if let Some(states) = object.get("states").and_then(|v| v.as_array()) {
        s.kind = "model states (soleus eval)".to_string();
        s.add("states", states.len().to_string());
        let names = states.first().and_then(|v| v.get("coordinates")).and_then(|v| v.as_object());
        s.list("coordinates", names.into_iter().flat_map(|o| o.keys().map(String::as_str)));
    } else {
        s.list("keys", object.keys().map(String::as_str));
    }
    Ok(s)
}

/// An XML file of OpenSim that is not a model: a setup, loads, markers, tasks, forces; `None` for a model.
fn xml(cx: &Context, path: &Path) -> Result<Option<FileSummary>, Error> {
    let bytes = cx.read(path)?;
    // Marks of the encoding may come first.
    if bytes.iter().find(|b| !b.is_ascii_whitespace() && **b < 0x80).is_none_or(|b| *b != b'<') {
        let known = "soleus reads .osim and .xml files of OpenSim, .c3d, .trc, .sto, .mot, .csv, .parquet, .toml, .json, .obj, .stl, .vtp and .iterate";
        return Err(Error::content(path, 0, "", "unknown file type", known));
    }
    let (document, log) = setup::document(cx, path)?;
    let document = cx.settle(path, document, log)?;
    let Some(top) = object_of(&document) else { return Ok(None) };
    if top.tag == "Model" {
        return Ok(None);
    }
    let mut s = FileSummary::new(format!("{} (OpenSim XML, version {})", top.tag, document.version));
    if !top.name().is_empty() {
        s.add("name", top.name());
    }
    // What a set holds.
    let objects: Vec<&Element> = top.child("objects").into_iter().flat_map(Element::children).collect();
    // Factors of a scale set are told by their segments.
    let names: Vec<String> = objects
        .iter()
        .map(|e| match (e.child("segment"), e.name()) {
            (Some(segment), _) => segment.text().trim().to_string(),
            (None, "") => e.tag.clone(),
            (None, name) => name.to_string(),
        })
        .collect();
    s.list("contains", names.iter().map(String::as_str));
    if top.tag.ends_with("Tool") || top.tag.starts_with("Moco") || top.tag == "IMUPlacer" {
        s.add("run it with", "soleus run");
        // A setup that cannot be read says why.
        setup::read(&cx.with_monitor(&Silent), path)?;
    }
    let mut files = Vec::new();
    named_files(top, &mut files);
    // A setup may name a file for several steps.
    let mut told = std::collections::HashSet::new();
    files.retain(|named| told.insert(named.clone()));
    for (property, name) in files {
        let there = cx.files.is_file(&beside(path, &name));
        s.add(&property, if there { name } else { format!("{name} (not found)") });
    }
    Ok(Some(s))
}

/// The object that a document holds.
fn object_of(document: &Document) -> Option<&Element> {
    match document.root.tag == "OpenSimDocument" {
        true => document.root.children().next(),
        false => Some(&document.root),
    }
}

/// Files that an element names, with the property that does; outputs are left out.
fn named_files(e: &Element, files: &mut Vec<(String, String)>) {
    for child in e.children() {
        let tag = child.tag.to_lowercase();
        let is_file = (tag.ends_with("_file")
            || tag == "datafile"
            || tag.ends_with("_files")
            || tag == "data_source_name")
            && !tag.starts_with("output");
        let text = child.text();
        let names = text.split_whitespace().filter(|n| n.contains('.'));
        if is_file {
            files.extend(names.map(|n| (child.tag.clone(), n.to_string())));
        } else if child.tag != "Model" {
            named_files(child, files);
        }
    }
}

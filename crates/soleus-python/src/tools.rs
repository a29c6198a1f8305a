//! The tools: a request by name, its fields as Python's values, and what it found.

use crate::error::{diagnostic_fields, raise};
use crate::files::Layered;
use crate::request::{Given, Out};
use crate::watch;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use soleus::analysis::{AnalysisTable, AnalysisTables, standard};
use soleus::artifact::{Content, Outcome};
use soleus::consistent_motion::ReconciledMotion;
use soleus::engine::model::nearest_name;
use soleus::equilibrium::StateAtRest;
use soleus::inverse_dynamics::JointMoments;
use soleus::inverse_dynamics::Residuals;
use soleus::inverse_kinematics::{MarkerMotion, SensorMotion};
use soleus::muscle_control::{ReducedMotion, TrackedMotion};
use soleus::optimal_control::{Solution, StudySource};
use soleus::path_fitting::FittedModel;
use soleus::prediction::{PredictedGait, PredictedWalk};
use soleus::residual_elimination::MotionWithoutResiduals;
use soleus::scaling::ScaledModel;
use soleus::simulation::SimulatedMotion;
use soleus::viewing::Viewed;
use soleus::{
    Analyze, ComputedMuscleControl, Context, Equilibrium, Error, ErrorKind, FitPaths, Inverse,
    InverseDynamics, InverseKinematics, Predict, PredictWalk, Reconcile, ResidualElimination,
    ResidualReduction, Scaling, SensorKinematics, SetupFile, Simulation, Solve, StaticOptimization, Track,
    View,
};
use std::path::{Path, PathBuf};

/// What a tool found, by name, and whether it is all that was wanted.
struct Found {
    values: Vec<(String, Out)>,
    verdict: Result<(), Error>,
    /// Files that it would be or is.
    files: Vec<(String, Out)>,
}

/// A request that Python can make.
trait Request: Serialize + DeserializeOwned + Default + Send {
    /// Puts what is in memory where it belongs.
    fn place(&mut self, given: &Given);
    /// Runs it.
    fn run(&self, cx: &Context) -> Result<Box<dyn Reported>, Error>;
}

/// A result that Python can look at.
trait Reported: Outcome {
    fn values(&self) -> Vec<(&'static str, Out)>;
}

macro_rules! request {
    ($name:ty, |$self:ident, $given:ident| $place:expr) => {
        impl Request for $name {
            fn place(&mut self, $given: &Given) {
                let $self = self;
                $place
            }
            fn run(&self, cx: &Context) -> Result<Box<dyn Reported>, Error> {
                Ok(Box::new(<$name>::run(self, cx)?))
            }
        }
    };
}

request!(InverseKinematics, |r, g| {
    g.model(&mut r.model);
    g.table(&mut r.markers);
    g.tables(&mut r.coordinates);
});
request!(SensorKinematics, |r, g| {
    g.model(&mut r.model);
    g.table(&mut r.orientations);
});
request!(InverseDynamics, |r, g| {
    g.model(&mut r.model);
    g.table(&mut r.motion);
});
request!(StaticOptimization, |r, g| {
    g.model(&mut r.model);
    g.table(&mut r.motion);
});
request!(Analyze, |r, g| {
    g.model(&mut r.model);
    g.table(&mut r.motion);
    g.tables(&mut r.speeds);
    g.tables(&mut r.controls);
});
request!(Simulation, |r, g| {
    g.model(&mut r.model);
    g.tables(&mut r.controls);
    g.tables(&mut r.initial);
});
request!(Equilibrium, |r, g| {
    g.model(&mut r.model);
    g.tables(&mut r.initial);
});
request!(Scaling, |r, g| {
    g.model(&mut r.model);
    if let Some(f) = &mut r.factors {
        g.tables(&mut f.markers);
    }
    if let Some(p) = &mut r.placing {
        g.table(&mut p.markers);
        g.tables(&mut p.coordinates);
    }
});
request!(ResidualReduction, |r, g| {
    g.model(&mut r.tracking.model);
    g.table(&mut r.tracking.motion);
});
request!(ComputedMuscleControl, |r, g| {
    g.model(&mut r.tracking.model);
    g.table(&mut r.tracking.motion);
});
request!(ResidualElimination, |r, g| {
    g.model(&mut r.model);
    g.table(&mut r.motion);
});
request!(Reconcile, |r, g| {
    g.model(&mut r.model);
    g.tables(&mut r.markers);
    g.tables(&mut r.motion);
});
request!(Solve, |r, g| {
    g.tables(r.references.iter_mut().map(|x| &mut x.table));
    g.tables(&mut r.kinematics);
    g.tables(&mut r.options.guess);
});
request!(Inverse, |r, g| {
    g.model(&mut r.trial.model);
    g.table(&mut r.kinematics);
    g.tables(&mut r.options.guess);
});
request!(Track, |r, g| {
    g.model(&mut r.trial.model);
    g.tables(&mut r.states);
    g.tables(&mut r.markers);
    g.tables(&mut r.options.guess);
});
request!(View, |r, g| {
    g.model(&mut r.model);
    g.tables(&mut r.motion);
    g.tables(&mut r.activations);
});
request!(FitPaths, |r, g| {
    g.model(&mut r.model);
    g.tables(&mut r.coordinates);
});
request!(PredictWalk, |_r, _g| {});
request!(Predict, |r, g| {
    g.model(&mut r.model);
});

fn map(pairs: Vec<(&str, Out)>) -> Out {
    Out::Map(pairs.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
}

fn residuals(r: &Residuals) -> Out {
    map(vec![
        ("force_rms", r.force_rms.into()),
        ("force_peak", r.force_peak.into()),
        ("moment_rms", r.moment_rms.into()),
        ("moment_peak", r.moment_peak.into()),
    ])
}

/// Tables of analyses by name: `JointReaction_ReactionLoads`.
fn analyses(tables: &[AnalysisTable]) -> Out {
    let name = |t: &AnalysisTable| match t.suffix.strip_prefix('_') {
        Some(_) => format!("{}{}", t.analysis, t.suffix),
        None => t.suffix.clone(),
    };
    Out::Map(tables.iter().map(|t| (name(t), Out::from(&t.table))).collect())
}

impl Reported for MarkerMotion {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let (t, s) = (&self.trial, &self.trial.summary);
        let worst = s
            .worst_marker
            .as_ref()
            .map(|w| map(vec![("name", w.name.as_str().into()), ("rms", w.rms.into())]));
        vec![
            ("motion", (&t.coordinates).into()),
            ("marker_errors", (&t.marker_errors).into()),
            ("marker_distances", (&t.marker_distances).into()),
            ("marker_locations", (&t.marker_locations).into()),
            ("rms", s.rms.into()),
            ("frames", s.frames.into()),
            ("iterations", s.iterations.into()),
            ("not_converged", s.not_converged.clone().into()),
            ("worst_marker", worst.unwrap_or(Out::None)),
        ]
    }
}

impl Reported for SensorMotion {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![("motion", (&self.trial.coordinates).into()), ("errors", (&self.trial.errors).into())]
    }
}

impl Reported for JointMoments {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![
            ("moments", (&self.loads.generalized_forces).into()),
            ("joint_loads", self.loads.joint_loads.as_ref().into()),
            ("residuals", self.residuals.as_ref().map_or(Out::None, residuals)),
        ]
    }
}

impl Reported for AnalysisTables {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![
            ("tables", analyses(&self.tables)),
            ("rows", self.rows.into()),
            ("unsolved", self.unsolved.clone().into()),
            ("stopped", self.stopped.into()),
        ]
    }
}

impl Reported for SimulatedMotion {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![
            ("states", (&self.states).into()),
            ("controls", self.controls.as_ref().into()),
            ("tables", analyses(&self.tables)),
            ("end_time", self.end_time.into()),
            ("steps", self.statistics.steps.into()),
            ("evaluations", self.statistics.evaluations.into()),
            ("seconds", self.seconds.into()),
        ]
    }
}

impl Reported for StateAtRest {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let eigenvalues = self
            .eigenvalues
            .as_ref()
            .map(|list| Out::List(list.iter().map(|c| [c.re, c.im].into()).collect()));
        vec![
            ("state", (&self.table).into()),
            ("q", self.rest.state.q.clone().into()),
            ("z", self.rest.state.z.clone().into()),
            ("controls", self.controls.clone().into()),
            ("residual", self.rest.residual.into()),
            ("eigenvalues", eigenvalues.unwrap_or(Out::None)),
        ]
    }
}

impl Reported for ScaledModel {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let factors = self.factors().map(|f| {
            let bodies = self.model.bodies.iter().zip(&f.0);
            Out::Map(bodies.map(|(b, f)| (b.name.clone(), f.to_array().into())).collect())
        });
        vec![
            ("model", self.document.clone().into()),
            ("mass", self.model.total_mass().into()),
            ("factors", factors.unwrap_or(Out::None)),
            ("pose", self.placed.as_ref().map(|p| &p.pose).into()),
            ("marker_rms", self.placed.as_ref().map(|p| p.fit.rms).into()),
        ]
    }
}

impl Reported for TrackedMotion {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let coordinates = self.report.coordinates.iter().map(|c| {
            map(vec![
                ("name", c.name.as_str().into()),
                ("rms", c.rms.into()),
                ("unit", c.unit.to_string().into()),
            ])
        });
        vec![
            ("states", (&self.states).into()),
            ("controls", (&self.controls).into()),
            ("errors", (&self.errors).into()),
            ("missing", self.missing.as_ref().into()),
            ("tables", analyses(&self.tables)),
            ("report", self.report.to_string().into()),
            ("coordinates", Out::List(coordinates.collect())),
        ]
    }
}

impl Reported for ReducedMotion {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let mut values = self.motion.values();
        values.push(("mean_residuals", self.mean_residuals.into()));
        values
    }
}

impl Reported for MotionWithoutResiduals {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![
            ("motion", (&self.found.motion).into()),
            ("speeds", (&self.found.rates).into()),
            ("accelerations", (&self.found.accelerations).into()),
            ("before", residuals(&self.before)),
            ("after", residuals(&self.after)),
            ("report", self.report().into()),
        ]
    }
}

impl Reported for ReconciledMotion {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![
            ("motion", (&self.found.motion).into()),
            ("before", residuals(&self.before)),
            ("after", residuals(&self.after)),
            ("marker_rms", self.found.fit.marker_rms.into()),
            ("report", self.report().into()),
        ]
    }
}

impl Reported for Solution {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let phases = self.phases.iter().map(|p| {
            let pairs = |list: &[(String, f64)]| {
                Out::Map(list.iter().map(|(k, v)| (k.clone(), (*v).into())).collect())
            };
            map(vec![
                ("name", p.name.as_str().into()),
                ("table", p.table().ok().into()),
                ("text", p.text().into()),
                ("page", p.page().map(str::to_string).into()),
                ("goals", pairs(&p.goals)),
                ("parameters", pairs(p.parameters())),
            ])
        });
        let c = self.certificate();
        let certificate = map(vec![
            ("converged", self.is_solved().into()),
            ("status", self.solver.status.describe().to_string().into()),
            ("constraint_violation", c.constraint_violation.into()),
            ("bound_violation", c.bound_violation.into()),
            ("dual_infeasibility", c.dual_infeasibility.into()),
            ("complementarity", c.complementarity.into()),
            ("scaled_error", c.scaled_error.into()),
            ("iterations", self.solver.counts.iterations.into()),
        ]);
        vec![
            ("phases", Out::List(phases.collect())),
            ("objective", self.objective().into()),
            ("certificate", certificate),
            ("seconds", self.seconds.into()),
            ("diagnosis", self.diagnosis.clone().into()),
        ]
    }
}

impl Reported for Viewed {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![("page", self.report.to_html().into()), ("frames", self.animation.frames.len().into())]
    }
}

impl Reported for FittedModel {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![("model", self.document.clone().into()), ("paths", self.paths.len().into())]
    }
}

impl Reported for PredictedWalk {
    fn values(&self) -> Vec<(&'static str, Out)> {
        vec![
            ("speed", self.speed.into()),
            ("duration", self.walk.duration().into()),
            ("objective", self.outcome.solution.objective.into()),
            ("page", self.page().map(str::to_string).into()),
            ("picture", self.picture().map(str::to_string).into()),
            ("seconds", self.seconds.into()),
        ]
    }
}

impl Reported for PredictedGait {
    fn values(&self) -> Vec<(&'static str, Out)> {
        let pairs =
            |list: &[(String, f64)]| Out::Map(list.iter().map(|(k, v)| (k.clone(), (*v).into())).collect());
        let parameters = self.parameters.iter().map(|p| {
            map(vec![
                ("name", p.name.as_str().into()),
                ("value", p.value.into()),
                ("bounds", p.bounds.into()),
                ("unit", p.unit.as_str().into()),
            ])
        });
        let ways = self.ways.iter().map(|(way, objective)| {
            map(vec![("way", way.as_str().into()), ("objective", (*objective).into())])
        });
        let without = self
            .without
            .as_ref()
            .map(|(objective, goals)| map(vec![("objective", (*objective).into()), ("goals", pairs(goals))]));
        let study = serde_json::to_string(&self.study).unwrap_or_default();
        let mut values = vec![
            ("speed", self.speed.into()),
            ("study", study.into()),
            ("study_text", self.study_text().into()),
            ("model_text", self.model_text().map(str::to_string).into()),
            ("motion", self.cycle.as_ref().map(|c| &c.motion).into()),
            ("excitations", self.cycle.as_ref().map(|c| &c.excitations).into()),
            ("parameters_found", Out::List(parameters.collect())),
            ("without", without.unwrap_or(Out::None)),
            ("ways", Out::List(ways.collect())),
            ("html", self.page().map(str::to_string).into()),
        ];
        values.extend(self.solution.iter().flat_map(Reported::values));
        values
    }
}

impl Reported for Box<dyn Outcome> {
    fn values(&self) -> Vec<(&'static str, Out)> {
        Vec::new()
    }
}

impl Request for SetupFile {
    fn place(&mut self, _: &Given) {}
    fn run(&self, cx: &Context) -> Result<Box<dyn Reported>, Error> {
        Ok(Box::new(SetupFile::run(self, cx)?))
    }
}

/// The files of a result: tables, models, text and bytes.
fn files(outcome: &dyn Reported) -> Vec<(String, Out)> {
    let mut list = Vec::new();
    for a in outcome.artifacts() {
        let out = match &a.content {
            Content::Storage(table, _) | Content::TypedStorage(table) => Out::from(*table),
            Content::Bytes(bytes) => match a.path.extension().and_then(|e| e.to_str()) {
                Some("sto" | "mot") => {
                    let (table, log) = soleus::engine::io::table::read(bytes, &a.path.to_string_lossy());
                    match table.filter(|_| !log.has_errors()) {
                        Some(table) => table.into(),
                        None => Out::Bytes(bytes.to_vec()),
                    }
                }
                Some("osim") => {
                    match soleus::engine::io::osim::read_document(bytes, &a.path.to_string_lossy()).0 {
                        Some(document) => document.into(),
                        None => Out::Bytes(bytes.to_vec()),
                    }
                }
                _ => match String::from_utf8(bytes.to_vec()) {
                    Ok(text) => text.into(),
                    Err(e) => Out::Bytes(e.into_bytes()),
                },
            },
        };
        list.push((a.path.to_string_lossy().into_owned(), out));
    }
    list
}

/// What runs a request of one kind.
type Runner = fn(Value, &Given, bool) -> PyResult<Work>;
type Work = Box<dyn FnOnce(&Context) -> Result<Found, Error> + Send>;

fn prepare<R: Request + 'static>(value: Value, given: &Given, write: bool) -> PyResult<Work> {
    let mut request: R = serde_path_to_error::deserialize(value).map_err(|e| {
        let path = e.path().to_string();
        let at = if path == "." { String::new() } else { format!("`{path}`: ") };
        PyTypeError::new_err(format!("{at}{}", e.inner()))
    })?;
    request.place(given);
    given.check()?;
    Ok(Box::new(move |cx| {
        let found = request.run(cx)?;
        let named = if write { files(&*found) } else { Vec::new() };
        if write {
            found.write(cx)?;
        }
        let values = found.values().into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        Ok(Found { values, verdict: found.verdict(), files: named })
    }))
}

/// A tool: its name, what runs a request, and the fields of one with their defaults.
type Tool = (&'static str, Runner, fn() -> Value);

/// All tools.
const TOOLS: &[Tool] = &[
    ("inverse_kinematics", prepare::<InverseKinematics>, defaults::<InverseKinematics>),
    ("sensor_kinematics", prepare::<SensorKinematics>, defaults::<SensorKinematics>),
    ("inverse_dynamics", prepare::<InverseDynamics>, defaults::<InverseDynamics>),
    ("static_optimization", prepare::<StaticOptimization>, defaults::<StaticOptimization>),
    ("analyze", prepare::<Analyze>, defaults::<Analyze>),
    ("simulate", prepare::<Simulation>, defaults::<Simulation>),
    ("equilibrium", prepare::<Equilibrium>, defaults::<Equilibrium>),
    ("scale", prepare::<Scaling>, defaults::<Scaling>),
    ("residual_reduction", prepare::<ResidualReduction>, defaults::<ResidualReduction>),
    ("computed_muscle_control", prepare::<ComputedMuscleControl>, defaults::<ComputedMuscleControl>),
    ("residual_elimination", prepare::<ResidualElimination>, defaults::<ResidualElimination>),
    ("reconcile", prepare::<Reconcile>, defaults::<Reconcile>),
    ("solve", prepare::<Solve>, defaults::<Solve>),
    ("inverse", prepare::<Inverse>, defaults::<Inverse>),
    ("track", prepare::<Track>, defaults::<Track>),
    ("predict_walk", prepare::<PredictWalk>, defaults::<PredictWalk>),
    ("predict", prepare::<Predict>, defaults::<Predict>),
    ("view", prepare::<View>, defaults::<View>),
    ("fit_paths", prepare::<FitPaths>, defaults::<FitPaths>),
    ("setup_file", prepare::<SetupFile>, defaults::<SetupFile>),
];

fn defaults<R: Request>() -> Value {
    serde_json::to_value(R::default()).unwrap_or(Value::Null)
}

/// Refuses fields that a request does not have, with the nearest one that it has.
fn check_fields(tool: &str, given: &Value, known: &Value) -> PyResult<()> {
    let (Value::Object(given), Value::Object(known)) = (given, known) else { return Ok(()) };
    for (key, value) in given {
        match known.get(key) {
            Some(inner) => check_fields(&format!("{tool}.{key}"), value, inner)?,
            None => {
                let near = nearest_name(key, known.keys().map(String::as_str), 2);
                let near = near.map_or(".".to_string(), |n| format!("; did you mean `{n}`?"));
                let all = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                return Err(PyTypeError::new_err(format!("{tool} has no `{key}`{near} It has: {all}")));
            }
        }
    }
    Ok(())
}

/// Analyses by name become those with their usual settings.
fn name_analyses(value: &mut Value) -> PyResult<()> {
    let lists = [
        value.pointer_mut("/analyses").map(std::mem::take),
        value.pointer_mut("/tracking/analyses").map(std::mem::take),
    ];
    for (list, at) in lists.into_iter().zip(["/analyses", "/tracking/analyses"]) {
        let Some(Value::Array(items)) = list else { continue };
        let mut made = Vec::with_capacity(items.len());
        for item in items {
            made.push(match item {
                Value::String(name) => {
                    let setup = standard(&name)
                        .ok_or_else(|| PyKeyError::new_err(format!("no analysis is called `{name}`")))?;
                    serde_json::to_value(setup).unwrap_or(Value::Null)
                }
                other => other,
            });
        }
        if let Some(place) = value.pointer_mut(at) {
            *place = Value::Array(made);
        }
    }
    Ok(())
}

fn tool(name: &str) -> PyResult<(Runner, Value)> {
    let found = TOOLS.iter().find(|(n, ..)| *n == name);
    let (_, runner, defaults) = found.ok_or_else(|| PyKeyError::new_err(format!("unknown tool `{name}`")))?;
    let mut known = defaults();
    // Goals of one's own, which are left out where there are none.
    if let (Value::Object(fields), "track" | "inverse") = (&mut known, name) {
        fields.insert("goals".to_string(), Value::Array(Vec::new()));
    }
    Ok((*runner, known))
}

/// Reads a study (a file, or TOML with a name for messages): as JSON, and whether it has the defaults of Moco's files.
#[pyfunction]
#[pyo3(signature = (path, text=None))]
pub fn read_study(py: Python<'_>, path: PathBuf, text: Option<String>) -> PyResult<(String, bool)> {
    let source = match text {
        Some(text) => StudySource::Text { path, text },
        None => StudySource::File(path),
    };
    let files = Layered::default();
    let registry = crate::registry(py);
    let cx = Context { registry: registry.as_deref(), ..Context::new(&files) };
    let (study, is_moco) = py.detach(|| source.read(&cx)).map_err(|e| raise(py, "input", &e))?;
    let json = serde_json::to_string(&study).map_err(|e| PyTypeError::new_err(e.to_string()))?;
    Ok((json, is_moco))
}

/// A study, given as JSON, as the text of a file.
#[pyfunction]
pub fn write_study(study: &str) -> PyResult<String> {
    let study = serde_json::from_str(study).map_err(|e| PyTypeError::new_err(e.to_string()))?;
    Ok(soleus::engine::io::study::write(&study))
}

/// Names of the tools.
#[pyfunction]
pub fn names() -> Vec<&'static str> {
    TOOLS.iter().map(|(name, ..)| *name).collect()
}

/// The fields of a request with their defaults, as JSON.
#[pyfunction]
pub fn fields(name: &str) -> PyResult<String> {
    Ok(tool(name)?.1.to_string())
}

/// Runs a tool: a request by the name of the tool and its fields. Returns what it found, what it told, whether that is all that was
/// wanted, and whether it was stopped.
#[pyfunction]
#[pyo3(signature = (name, request, *, threads=None, show=None, write=false, memory=Vec::new()))]
pub fn run<'py>(
    py: Python<'py>,
    name: &str,
    request: &Bound<'py, PyDict>,
    threads: Option<usize>,
    show: Option<Py<PyAny>>,
    write: bool,
    memory: Vec<(String, Vec<u8>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let (runner, known) = tool(name)?;
    let mut given = Given::default();
    let mut value = given.json(request.as_any(), name)?;
    check_fields(name, &value, &known)?;
    name_analyses(&mut value)?;
    let work = runner(value, &given, write)?;
    let files = Layered::new(memory);
    let done = watch::run(py, &files, watch::threads(threads), show.as_ref(), work)?;
    let out = PyDict::new(py);
    out.set_item("diagnostics", done.messages.diagnostics.iter().map(diagnostic_fields).collect::<Vec<_>>())?;
    out.set_item("notes", done.messages.notes)?;
    let is_cancelled = |e: &Error| e.kind() == ErrorKind::Cancelled;
    let was_stopped = done.interruption.is_some();
    out.set_item("interruption", done.interruption.map(|e| e.into_value(py)))?;
    // What was written to memory on the way: iterates.
    let kept: Vec<_> = (files.memory.names().iter())
        .filter_map(|n| Some((n.to_string_lossy().into_owned(), soleus::Files::read(&files.memory, n).ok()?)))
        .map(|(n, bytes)| (n, pyo3::types::PyBytes::new(py, &bytes)))
        .collect();
    out.set_item("memory", kept)?;
    match done.value {
        // Nothing is there, and somebody stopped it: the caller raises what stopped it.
        Err(e) if was_stopped && is_cancelled(&e) => out.set_item("values", py.None())?,
        Err(e) => {
            let what = if concerns_model(&e) { "model" } else { "input" };
            return Err(raise(py, what, &e));
        }
        Ok(found) => {
            out.set_item("values", Out::Map(found.values).into_python(py)?)?;
            out.set_item("files", Out::Map(found.files).into_python(py)?)?;
            let verdict = found.verdict.err().filter(|e| !(was_stopped && is_cancelled(e)));
            out.set_item("verdict", verdict.map(|e| e.to_string()))?;
        }
    }
    Ok(out)
}

/// Whether an error is about a model file.
fn concerns_model(e: &Error) -> bool {
    let is_model = |file: &str| Path::new(file).extension().is_some_and(|x| x.eq_ignore_ascii_case("osim"));
    e.diagnostics().first().is_some_and(|d| is_model(&d.file))
}

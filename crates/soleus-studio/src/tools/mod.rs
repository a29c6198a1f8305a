//! Every tool of the library by name: its form, its run from JSON, and how to do the same without a page.

mod python;
mod same;
mod setups;
mod verbs;

pub use same::same;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use soleus::artifact::{Artifact, Outcome};
use soleus::pipeline::FromTrials;
use soleus::{
    Add, Analyze, AssignLoads, ComputedMuscleControl, Context, Convert, Equilibrium, Error, Evaluate,
    FileInfo, FitPaths, ForwardSimulation, Gait, Generate, Inverse, InverseDynamics, InverseKinematics,
    Jacobians, LegTour, ModelInfo, Pipeline, PlaceSensors, PlotTable, Predict, PredictWalk, Reconcile,
    ResidualElimination, ResidualReduction, Scaling, SensorKinematics, SetupFile, Simulation, Solve,
    StaticOptimization, Synthesize, Track, Upgrade, View,
};
use std::path::Path;

/// Runs a request that came as JSON.
type Run = fn(Value, &Context) -> Result<Ran, Error>;

/// A tool.
struct Tool {
    /// As Python has it.
    name: &'static str,
    /// The type of its request.
    request: &'static str,
    /// In words.
    title: &'static str,
    /// Under which heading it is found.
    group: &'static str,
    /// Fields of a form that are seen at once; the others are folded.
    first: &'static [&'static str],
    /// Where results go unless the user says otherwise: field and name, in which `*` stands for the name of the data.
    output: &'static [(&'static str, &'static str)],
    defaults: fn() -> Value,
    /// Nothing if this engine does without it.
    run: Option<Run>,
    /// Whether the engine of a page without the program has it.
    in_page: bool,
}

/// What a tool left.
pub struct Ran {
    /// Files that the result is.
    pub files: Vec<(String, Vec<u8>)>,
    /// Why it is not all that was wanted; nothing if it is.
    pub verdict: Option<String>,
}

fn defaults<R: Serialize + Default>() -> Value {
    serde_json::to_value(R::default()).unwrap_or(Value::Null)
}

/// Where text goes that the command shows: a page has no standard output.
const SHOWN: &str = "output.txt";

fn ran(outcome: &dyn Outcome) -> Ran {
    let name = |path: &Path| match path.to_str() {
        Some("-") => SHOWN.to_string(),
        _ => path.to_string_lossy().into_owned(),
    };
    let file = |a: &Artifact| (name(&a.path), a.to_bytes().into_owned());
    Ran {
        files: outcome.artifacts().iter().map(file).collect(),
        verdict: outcome.verdict().err().map(|e| e.to_string()),
    }
}

/// A request from JSON.
fn request<R: DeserializeOwned>(tool: &str, value: Value) -> Result<R, Error> {
    serde_json::from_value(value).map_err(|e| Error::content(Path::new(tool), 0, "", e.to_string(), ""))
}

/// Runs a tool that writes files on its way, and gives those with the others; what it keeps for itself stays where it is.
#[cfg(feature = "all-tools")]
fn ran_writing<O: Outcome>(
    cx: &Context,
    work: impl FnOnce(&Context) -> Result<O, Error>,
) -> Result<Ran, Error> {
    let files = soleus::files::Opened::new(cx.files);
    let outcome = work(&Context { files: &files, ..*cx })?;
    let mut all = ran(&outcome);
    // Names as the page has them: from where it works.
    let here = cx.files.absolute(Path::new("x")).parent().map(Path::to_path_buf).unwrap_or_default();
    let own = |p: &Path| p.components().any(|c| c.as_os_str().to_string_lossy().starts_with('.'));
    let known: Vec<_> = all.files.iter().map(|(name, _)| cx.files.absolute(Path::new(name))).collect();
    for (path, _) in &mut all.files {
        *path =
            Path::new(path).strip_prefix(&here).map_or(path.clone(), |p| p.to_string_lossy().into_owned());
    }
    for path in files.written_files().into_keys() {
        let name = path.strip_prefix(&here).unwrap_or(&path);
        if !own(name) && !known.contains(&path) && cx.files.is_file(&path) {
            all.files.push((name.to_string_lossy().into_owned(), cx.read(&path)?));
        }
    }
    Ok(all)
}

macro_rules! tool {
    ($(#[$feature:meta])? $name:literal, $request:ident, $title:literal, $group:literal, [$($first:literal),*], [$($field:literal => $file:literal),*]) => {
        Tool {
            name: $name,
            request: stringify!($request),
            title: $title,
            group: $group,
            first: &[$($first),*],
            output: &[$(($field, $file)),*],
            defaults: defaults::<$request>,
            run: {
                let run: Option<fn(Value, &Context) -> Result<Ran, Error>> = None;
                let _ = run;
                $(#[$feature])?
                let run: Option<fn(Value, &Context) -> Result<Ran, Error>> =
                    Some(|value, cx| Ok(ran(&request::<$request>($name, value)?.run(cx)?)));
                run
            },
            in_page: {
                let features: &[&str] = &[$(stringify!($feature))?];
                features.is_empty()
            },
        }
    };
}

/// All tools.
const TOOLS: &[Tool] = &[
    tool!("inverse_kinematics", InverseKinematics, "Inverse kinematics", "Motion", ["model", "markers", "task_file", "from", "to"],
        ["output.motion" => "*_ik.mot", "output.errors" => "*_ik_errors.sto"]),
    tool!("inverse_dynamics", InverseDynamics, "Inverse dynamics", "Motion", ["model", "motion", "loads", "cutoff_hz", "from", "to"],
        ["output" => "*_id.sto"]),
    tool!("static_optimization", StaticOptimization, "Static optimization", "Muscles", ["model", "motion", "loads", "cutoff_hz", "reserves", "residuals", "from", "to"],
        ["output.folder" => "so"]),
    tool!("analyze", Analyze, "Analyses", "Muscles", ["model", "motion", "analyses", "loads", "cutoff_hz", "from", "to"],
        ["output.folder" => "analyses"]),
    tool!(#[cfg(feature = "all-tools")] "computed_muscle_control", ComputedMuscleControl, "Computed muscle control", "Muscles", ["tracking.model", "tracking.motion", "tracking.loads"],
        ["tracking.output.folder" => "cmc"]),
    tool!(#[cfg(feature = "all-tools")] "residual_reduction", ResidualReduction, "Residual reduction", "Motion", ["tracking.model", "tracking.motion", "tracking.loads"],
        ["tracking.output.folder" => "rra"]),
    tool!(#[cfg(feature = "all-tools")] "residual_elimination", ResidualElimination, "Residual elimination", "Motion", ["model", "motion", "loads"],
        ["output" => "*_rea.mot"]),
    tool!(#[cfg(feature = "all-tools")] "reconcile", Reconcile, "Dynamically consistent motion", "Motion", ["model", "markers", "motion", "loads"],
        ["output" => "*_consistent.mot"]),
    tool!("scale", Scaling, "Scaling", "Model", ["model", "factors", "placing", "mass", "height"],
        ["output.model" => "scaled.osim"]),
    tool!("sensor_kinematics", SensorKinematics, "Kinematics from inertial sensors", "Motion", ["model", "orientations"],
        ["output.motion" => "*_ik.mot"]),
    tool!("place_sensors", PlaceSensors, "Place inertial sensors on a model", "Motion", ["model", "orientations", "base", "heading_axis"],
        ["output" => "with_sensors.osim"]),
    tool!("gait", Gait, "Gait analysis", "Motion", ["trials"], ["output" => "gait"]),
    tool!("assign_loads", AssignLoads, "Assign force plates to feet", "Motion", ["model", "motion", "loads"],
        ["output" => "*_loads.xml"]),
    tool!(#[cfg(feature = "all-tools")] "fit_paths", FitPaths, "Fit polynomials to muscle paths", "Model", ["model", "coordinates"],
        ["output" => "fitted.osim"]),
    tool!("simulate", Simulation, "Simulation", "Simulation", ["model", "duration", "excitation", "controls", "initial"],
        ["output.folder" => "simulation"]),
    tool!("forward_simulation", ForwardSimulation, "Simulation as OpenSim's ForwardTool", "Simulation", ["model", "states", "loads", "from", "to"],
        ["output.folder" => "forward"]),
    tool!("equilibrium", Equilibrium, "Equilibrium", "Simulation", ["model", "initial"],
        ["output" => "equilibrium.sto"]),
    tool!(#[cfg(feature = "all-tools")] "synthesize", Synthesize, "Synthetic recording", "Simulation", ["model", "motion", "cycles", "rate"],
        ["output" => "synthetic"]),
    tool!(#[cfg(feature = "all-tools")] "evaluate", Evaluate, "Evaluate a model at given states", "Simulation", ["model", "states", "equilibrate"],
        ["output" => "values.json"]),
    tool!(#[cfg(feature = "all-tools")] "jacobians", Jacobians, "Jacobians of the implicit equations", "Simulation", ["model", "states", "parameters"],
        ["output" => "jacobians.json"]),
    tool!(#[cfg(feature = "all-tools")] "predict", Predict, "Predict the gait of a model", "Optimal control", ["model", "speed", "slope_deg", "run", "device"],
        ["output" => "prediction"]),
    tool!(#[cfg(feature = "all-tools")] "solve", Solve, "Solve a study", "Optimal control", ["study"],
        ["solution" => "solution.sto"]),
    tool!(#[cfg(feature = "all-tools")] "inverse", Inverse, "Muscle excitations of a motion (optimal control)", "Optimal control", ["model", "kinematics", "changes"],
        ["solution" => "inverse.sto"]),
    tool!(#[cfg(feature = "all-tools")] "track", Track, "Tracking (optimal control)", "Optimal control", ["model", "states", "markers", "changes"],
        ["solution" => "track.sto"]),
    tool!(#[cfg(feature = "all-tools")] "generate", Generate, "Source code of a model", "Files", ["model", "language", "single"],
        ["output" => "model.c"]),
    tool!("add", Add, "Add parts to a model", "Model", ["model", "parts"], ["output" => "*_with_parts.osim"]),
    tool!("model_info", ModelInfo, "Summary of a model", "Files", ["model"], ["output" => "*_summary.txt"]),
    tool!(#[cfg(feature = "all-tools")] "file_info", FileInfo, "Summary of a file", "Files", ["file"], ["output" => "summary.txt"]),
    tool!("plot", PlotTable, "Plot columns of a table", "Files", ["table", "columns", "beside"], ["output" => "plot.svg"]),
    tool!(#[cfg(feature = "all-tools")] "view", View, "Page or picture of a model and its motion", "Files", ["model", "motion", "loads", "activations"],
        ["page" => "view.html"]),
    tool!("leg_tour", LegTour, "Tour of a leg model", "Files", [], []),
    tool!("upgrade", Upgrade, "Rewrite a file in the current format", "Files", ["file"], ["output" => "upgraded.osim"]),
    tool!("convert", Convert, "Convert a table or recording", "Files", ["input", "units", "rate"], ["output" => "converted.sto"]),
    tool!(
        #[cfg(feature = "all-tools")]
        "setup_file",
        SetupFile,
        "Run an OpenSim setup file",
        "Files",
        ["file"],
        []
    ),
    Tool {
        name: "pipeline",
        request: "Pipeline",
        title: "Pipeline: all steps for several trials",
        group: "Motion",
        first: &["file", "again", "jobs"],
        output: &[],
        defaults: defaults::<Pipeline>,
        #[cfg(feature = "all-tools")]
        run: Some(|value, cx| {
            let request: Pipeline = request("pipeline", value)?;
            ran_writing(cx, |cx| request.run(cx))
        }),
        #[cfg(not(feature = "all-tools"))]
        run: None,
        in_page: false,
    },
    Tool {
        name: "pipeline_of_trials",
        request: "FromTrials",
        title: "Pipeline: from recordings to muscle forces",
        group: "Motion",
        first: &["model", "still", "mass", "height", "trials", "muscles", "output"],
        output: &[],
        defaults: defaults::<FromTrials>,
        #[cfg(feature = "all-tools")]
        run: Some(|value, cx| {
            let recorded: FromTrials = request("pipeline_of_trials", value)?;
            ran_writing(cx, |cx| Pipeline::of_file(recorded.write(cx)?).run(cx))
        }),
        #[cfg(not(feature = "all-tools"))]
        run: None,
        in_page: false,
    },
    Tool {
        name: "predict_walk",
        request: "PredictWalk",
        title: "Predict a walk",
        group: "Optimal control",
        first: &["speed", "slope_deg", "ankle_spring"],
        output: &[],
        defaults: defaults::<PredictWalk>,
        #[cfg(feature = "prediction")]
        run: Some(|value, cx| {
            let walk = request::<PredictWalk>("predict_walk", value)?.run(cx)?;
            let mut all = ran(&walk);
            all.files.extend(walk_files(&walk)?);
            Ok(all)
        }),
        #[cfg(not(feature = "prediction"))]
        run: None,
        in_page: true,
    },
];

/// Runs a tool.
pub fn run(tool: &str, value: Value, cx: &Context) -> Result<Ran, Error> {
    match TOOLS.iter().find(|t| t.name == tool) {
        Some(Tool { run: Some(run), .. }) => run(value, cx),
        Some(t) => {
            let hint = "`soleus studio` opens the page together with the program";
            Err(Error::content(
                Path::new(t.title),
                0,
                "",
                "this tool is not available on a page without the program",
                hint,
            ))
        }
        None => Err(Error::content(Path::new(tool), 0, "", "no such tool", "")),
    }
}

/// The forms of all tools: fields with kinds, helps and defaults. A field that the command has a flag for has the help of the flag
/// (`helps.json`, which a test of the command writes).
pub fn described() -> Value {
    let forms: Value = serde_json::from_str(include_str!("forms.json")).unwrap_or(Value::Null);
    let helps: Value = serde_json::from_str(include_str!("helps.json")).unwrap_or(Value::Null);
    let list: Vec<Value> = (TOOLS.iter())
        .map(|t| {
            json!({
                "name": t.name, "title": t.title, "group": t.group, "first": t.first, "about": forms[t.request]["about"],
                "helps": helps[t.name], "output": t.output, "request": t.request, "here": t.run.is_some(), "in_page": t.in_page, "defaults": (t.defaults)(),
            })
        })
        .collect();
    json!({ "tools": list, "types": forms })
}

/// Tool, verb of the command, field and flag of every field that the command has too. The flag is empty for a word without one; one that ends in
/// `!` says the contrary of the field.
pub fn flags() -> impl Iterator<Item = [&'static str; 4]> {
    let of = |v: &'static verbs::Verb| v.flags().map(|(field, flag)| [v.tool, v.verb, *field, *flag]);
    // Where a shell puts what is shown is no flag.
    verbs::VERBS.iter().flat_map(of).filter(|[.., flag]| *flag != verbs::SHELL)
}

/// Requests of the tools by their types, with their defaults: for tests.
pub fn requests() -> Vec<(&'static str, Value)> {
    TOOLS.iter().map(|t| (t.request, (t.defaults)())).collect()
}

#[cfg(feature = "prediction")]
/// A predicted walk as files that can be opened: the model, and states over time.
fn walk_files(found: &soleus::prediction::PredictedWalk) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let system = &found.walker.base.system;
    let model = &found.walker.base.model;
    let order = soleus::evaluation::tree_order(model, system);
    let labels: Vec<String> = (order.iter().map(|c| format!("{c}/value")))
        .chain(order.iter().map(|c| format!("{c}/speed")))
        .chain(system.aux_names.iter().cloned())
        .collect();
    let rows = &found.walk.states;
    let column = |k: usize| {
        let n = order.len();
        rows.iter()
            .map(|x| {
                if k < n {
                    x.q[k]
                } else if k < 2 * n {
                    x.u[k - n]
                } else {
                    x.z[k - 2 * n]
                }
            })
            .collect()
    };
    let columns: Vec<Vec<f64>> = (0..labels.len()).map(column).collect();
    let wrong = |e: &dyn std::fmt::Display| Error::content(Path::new(WALK), 0, "", e.to_string(), "");
    let table = soleus::Table::new(
        soleus::engine::math::table::Element::Scalar,
        labels,
        found.walk.times.clone(),
        columns,
    )
    .map_err(|e| wrong(&e))?;
    let file = Artifact::table(WALK, &table, soleus::engine::io::table::sto::Digits::Shortest)
        .to_bytes()
        .into_owned();
    Ok(vec![
        (WALKER.to_string(), found.model_text().as_bytes().to_vec()),
        (WALK.to_string(), file),
        (START.to_string(), found.kept().into_bytes()),
    ])
}

/// Names of the files of a predicted walk: its model, and its states.
#[cfg(feature = "prediction")]
pub const WALKER: &str = "walker.osim";
#[cfg(feature = "prediction")]
const WALK: &str = "walk_states.sto";
#[cfg(feature = "prediction")]
/// A walk from which the next one is found in a fraction of the time.
const START: &str = "walk_start.json";

//! Page of a pipeline: quality of all trials, animation, joints and muscles over the gait cycle; everything else is
//! collapsed.

mod curves;
mod cycle;
mod groups;
mod judgement;
mod rows;

pub use curves::side_by_side;
pub use rows::rows;

use super::{PipelineFile, SENSOR_ERRORS, StepOutcome};
use crate::context::Context;
use crate::files::Files;
use crate::load_assignment::is_table;
use crate::viewing::View;
use cycle::Cycles;
use judgement::{Evidence, Standard};
use soleus_math::Table;
use soleus_model::{ForceKind, Model};
use soleus_viewer::{Report, Table as Rows};
use std::path::{Path, PathBuf};

/// Frames of the figure for each second.
const FRAME_RATE: f64 = 30.0;

/// The page. Results of failed steps are left out.
pub fn page(
    files: &dyn Files,
    name: &str,
    pipeline: &PipelineFile,
    [home, results]: [&Path; 2],
    model_file: Option<&Path>,
    outcomes: &[StepOutcome],
) -> String {
    let model = model_file.and_then(|m| read_model(files, m));
    let mut page = Report::new(name);
    if let Some(m) = &model {
        page = page.text(format!(
            "{} trial{}, body mass {:.1} kg, model {} with {} coordinates and {} muscles.",
            pipeline.trials.len(),
            if pipeline.trials.len() == 1 { "" } else { "s" },
            m.total_mass(),
            m.name,
            m.coordinates.len(),
            m.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_))).count(),
        ));
    }
    let failed: Vec<&StepOutcome> = outcomes.iter().filter(|o| o.result.is_err()).collect();
    if !failed.is_empty() {
        page = page.heading("Failed").table(steps(&failed));
    }

    let folder = |t: &soleus_io::pipeline::Trial| results.join(&t.name);
    let cards: Vec<_> = pipeline
        .trials
        .iter()
        .map(|t| {
            let evidence = Evidence::read(files, t, &folder(t), model.as_ref());
            let standard = Standard::of_trial(files, pipeline, t, [home, &folder(t)], model.as_ref());
            judgement::card(t, &evidence, &standard, model.as_ref())
        })
        .filter(|c| !c.lights.is_empty())
        .collect();
    if !cards.is_empty() {
        let sources = Report::new("").text(judgement::SOURCES);
        page = page.heading("Quality").cards(cards).folded("Limits and their sources", sources);
    }

    let mut has_figure = false;
    let shown = pipeline.trials.iter().find(|t| files.is_file(&angles(files, &folder(t))));
    if let (Some(t), Some(model_file)) = (shown, model_file)
        && let loads = loads_file(files, pipeline, t, [home, &folder(t)])
        && let Some(figure) = figure(files, model_file, loads, &folder(t), &t.name)
    {
        let heading =
            if pipeline.trials.len() == 1 { "Motion".to_string() } else { format!("Motion of {}", t.name) };
        page = page.heading(heading).animation(&figure);
        has_figure = true;
    }

    let mut cycles: Vec<Cycles> = match &model {
        Some(m) => {
            let of = |t| Cycles::of_trial(files, pipeline, t, home, &folder(t), m);
            pipeline.trials.iter().filter_map(of).collect()
        }
        None => Vec::new(),
    };
    for c in &mut cycles {
        c.has_figure = has_figure && shown.is_some_and(|s| s.name == c.name);
    }
    if !cycles.is_empty() {
        page = page
            .heading("Joints over the gait cycle")
            .text(cycle::caption(&cycles))
            .grid(cycle::joint_grid(&cycles))
            .table(cycle::parameters(&cycles));
        let muscles = groups::plots(&cycles);
        if !muscles.is_empty() {
            page = page.heading("Muscles over the gait cycle").text(groups::caption(&cycles)).plots(muscles);
        }
    }

    page = page.heading("All curves");
    for t in &pipeline.trials {
        let is_shown = shown.is_some_and(|s| s.name == t.name);
        let inside = curves::of_trial(files, t, &folder(t), model.as_ref(), is_shown);
        if !inside.is_empty() {
            page = page.folded(t.name.as_str(), inside);
        }
    }
    page.folded("Steps", Report::new("").table(steps(&outcomes.iter().collect::<Vec<_>>()))).to_html()
}

/// What became of each step.
fn steps(outcomes: &[&StepOutcome]) -> Rows {
    let mut rows = Rows::new("", ["step", "result"]);
    for o in outcomes {
        let result = match &o.result {
            Ok(word) => (*word).to_string(),
            Err(why) => why.to_string().lines().next().unwrap_or("failed").to_string(),
        };
        rows = rows.row([o.step.clone(), result]);
    }
    rows
}

fn read_model(files: &dyn Files, path: &Path) -> Option<Model> {
    let bytes = files.read(path).ok()?;
    soleus_io::osim::read_model(&bytes, &path.display().to_string()).0
}

/// A table that a step may have written.
fn table(files: &dyn Files, path: &Path) -> Option<Table> {
    let bytes = files.read(path).ok()?;
    soleus_io::table::read(&bytes, &path.display().to_string()).0
}

/// The joint angles of a trial, smooth ones where there are some.
fn angles(files: &dyn Files, folder: &Path) -> PathBuf {
    let smooth = folder.join("filtered.mot");
    if files.is_file(&smooth) { smooth } else { folder.join("ik.mot") }
}

/// Activations of a trial, by whatever found them.
fn activations(files: &dyn Files, folder: &Path, trial: &str) -> Option<PathBuf> {
    let static_optimization = folder.join(format!("{trial}_StaticOptimization_activation.sto"));
    let control = folder.join("cmc").join(format!("{trial}_states.sto"));
    [static_optimization, control].into_iter().find(|f| files.is_file(f))
}

/// The `ExternalLoads` file of a trial: measured loads, by the body that each acts on.
fn loads_file(
    files: &dyn Files,
    pipeline: &PipelineFile,
    t: &soleus_io::pipeline::Trial,
    [home, folder]: [&Path; 2],
) -> Option<PathBuf> {
    let given = home.join(t.loads.as_ref()?);
    let file = match (pipeline.reconcile.is_some(), is_table(&given)) {
        (true, _) => folder.join("reconciled_loads.xml"),
        (false, true) => folder.join("loads.xml"),
        (false, false) => given,
    };
    files.is_file(&file).then_some(file)
}

/// The figure in motion, with muscles colored by their activations and measured loads as arrows where they are known.
fn figure(
    files: &dyn Files,
    model: &Path,
    loads: Option<PathBuf>,
    folder: &Path,
    trial: &str,
) -> Option<soleus_viewer::Animation> {
    let plain = View {
        model: model.into(),
        motion: Some(angles(files, folder).into()),
        frame_rate: FRAME_RATE,
        ..View::default()
    };
    let colored = View { activations: activations(files, folder, trial).map(Into::into), ..plain.clone() };
    let loaded = View { loads: loads.clone(), ..plain.clone() };
    let cx = Context::new(files);
    let requests = [View { loads, ..colored.clone() }, loaded, colored, plain];
    requests.iter().find_map(|r| r.run(&cx).ok()).map(|v| v.animation)
}

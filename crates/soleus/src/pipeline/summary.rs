//! The page that shows a study: what was done, how good it is, and the curves.

use super::{PipelineFile, SENSOR_ERRORS, StepOutcome};
use crate::files::Files;
use soleus_io::pipeline::Trial;
use soleus_math::Table;
use soleus_math::table::Element;
use soleus_model::joint::MotionType;
use soleus_model::{ForceKind, Model};
use soleus_tools::quality::residuals;
use soleus_viewer::{Line, Plot, Report, Table as Rows};
use std::path::Path;

/// The page. What a failed step left out is left out here.
pub fn page(
    files: &dyn Files,
    name: &str,
    study: &PipelineFile,
    results: &Path,
    model: Option<&Path>,
    outcomes: &[StepOutcome],
) -> String {
    let mut steps = Rows::new("Steps", ["step", "result"]);
    for o in outcomes {
        let result = match &o.result {
            Ok(word) => (*word).to_string(),
            Err(why) => format!("failed: {}", why.lines().next().unwrap_or("")),
        };
        steps = steps.row([o.step.clone(), result]);
    }
    let mut page = Report::new(name).table(steps);
    let model = model.and_then(|m| read_model(files, m));
    if let Some(m) = &model {
        page = page.text(format!(
            "Model {}: {:.2} kg, {} coordinates, {} markers.",
            m.name,
            m.total_mass(),
            m.coordinates.len(),
            m.markers.len()
        ));
    }
    let sensors = study.trials.iter().filter(|t| t.orientations.is_some()).count();
    let fit = match sensors {
        0 => "RMS of markers, mm",
        n if n == study.trials.len() => "RMS of sensors, °",
        _ => "RMS of markers, mm, or sensors, °",
    };
    let mut quality = Rows::new(
        "Quality",
        [
            "trial",
            "frames",
            fit,
            "worst frame",
            "largest",
            "residual force, N",
            "in % of weight",
            "residual moment, N m",
        ],
    );
    for t in &study.trials {
        if let Some(row) = quality_row(files, t, &results.join(&t.name), model.as_ref()) {
            quality = quality.row(row);
        }
    }
    if !quality.rows.is_empty() {
        page = page.table(quality);
    }
    if let (Some(m), true) = (&model, study.so.is_some()) {
        let columns = ["trial", "largest activation", "largest reserve or residual, N m or N"];
        let mut sharing = Rows::new("Static optimization", columns);
        for t in &study.trials {
            if let Some([muscle, other]) = sharing_row(files, t, &results.join(&t.name), m) {
                sharing = sharing.row([t.name.clone(), muscle, other]);
            }
        }
        if !sharing.rows.is_empty() {
            page = page.table(sharing);
        }
    }
    for t in &study.trials {
        page = trial(files, page, t, &results.join(&t.name), model.as_ref());
    }
    page.to_html()
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

fn quality_row(files: &dyn Files, t: &Trial, folder: &Path, model: Option<&Model>) -> Option<Vec<String>> {
    let largest = |c: &[f64]| c.iter().fold(0.0, |m: f64, x| m.max(*x));
    let mean = |c: &[f64]| (c.iter().map(|x| x * x).sum::<f64>() / c.len().max(1) as f64).sqrt();
    let (rows, numbers) = match t.orientations {
        // One column of angles for each sensor.
        Some(_) => {
            let errors = table(files, &folder.join(SENSOR_ERRORS))?;
            let unit = if errors.in_degrees == Some(true) { 1.0 } else { 180.0 / std::f64::consts::PI };
            let frame = |k: usize| mean(&errors.columns().iter().map(|c| c[k]).collect::<Vec<_>>());
            let frames: Vec<f64> = (0..errors.rows()).map(frame).collect();
            let most = errors.columns().iter().map(|c| largest(c)).fold(0.0, f64::max);
            let numbers = [mean(&frames), largest(&frames), most].map(|x| format!("{:.1}", unit * x));
            (errors.rows(), numbers)
        }
        None => {
            let errors = table(files, &folder.join(format!("{}_ik_marker_errors.sto", t.name)))?;
            let rms = errors.column("marker_error_RMS")?;
            let max = errors.column("marker_error_max").map_or(0.0, largest);
            (errors.rows(), [mean(rms), largest(rms), max].map(|x| format!("{:.1}", 1e3 * x)))
        }
    };
    let mut row = vec![t.name.clone(), rows.to_string()];
    row.extend(numbers);
    let moments = table(files, &folder.join("id.sto")).filter(|_| t.loads.is_some());
    match moments.zip(model).and_then(|(m, model)| residuals(model, &m)) {
        Some(r) => {
            let part = 100.0 * r.force_rms / r.weight;
            row.extend([format!("{:.1}", r.force_rms), format!("{part:.1}"), format!("{:.1}", r.moment_rms)]);
        }
        None => row.extend(["–", "–", "–"].map(String::from)),
    }
    Some(row)
}

/// The muscle that works hardest, and the other actuator that does, each with its time.
fn sharing_row(files: &dyn Files, t: &Trial, folder: &Path, model: &Model) -> Option<[String; 2]> {
    let read = |what: &str| table(files, &folder.join(format!("{}_StaticOptimization_{what}.sto", t.name)));
    let (activations, forces) = (read("activation")?, read("force")?);
    let is_muscle =
        |l: &str| model.forces.iter().any(|f| f.name == l && matches!(f.kind, ForceKind::Muscle(_)));
    let hardest = |table: &Table, wanted: &dyn Fn(&str) -> bool, digits: usize| {
        let columns = table.labels().iter().zip(table.columns()).filter(|(l, _)| wanted(l));
        let cells = columns.flat_map(|(l, c)| table.times().iter().zip(c).map(move |(t, x)| (x.abs(), l, t)));
        let most = cells.max_by(|a, b| a.0.total_cmp(&b.0));
        most.map_or("–".to_string(), |(x, label, t)| format!("{x:.digits$}, {label} at {t:.3} s"))
    };
    let is_other = |l: &str| !is_muscle(l) && activations.column(l).is_some();
    Some([hardest(&activations, &is_muscle, 2), hardest(&forces, &is_other, 1)])
}

/// The curves of one trial.
fn trial(files: &dyn Files, mut page: Report, t: &Trial, folder: &Path, model: Option<&Model>) -> Report {
    page = page.heading(t.name.as_str());
    let so = |what: &str| folder.join(format!("{}_StaticOptimization_{what}.sto", t.name));
    let smooth = folder.join("filtered.mot");
    let angles = if files.is_file(&smooth) { smooth } else { folder.join("ik.mot") };
    let parts = [
        ("Distances of markers", folder.join(format!("{}_ik_marker_errors.sto", t.name)), Kind::Markers),
        ("Angles between sensors and model", folder.join(SENSOR_ERRORS), Kind::Sensors),
        ("Coordinates", angles, Kind::Coordinates),
        ("Joint moments and forces", folder.join("id.sto"), Kind::Loads),
        ("Activations of muscles, controls of reserves", so("activation"), Kind::Activations),
        ("Joint reactions", folder.join(format!("{}_JointReaction_ReactionLoads.sto", t.name)), Kind::Loads),
    ];
    for (title, file, kind) in parts {
        if let Some(table) = table(files, &file) {
            let plots = plots(&table, kind, model);
            if !plots.is_empty() {
                page = page.subheading(title).plots(plots);
            }
        }
    }
    if let Some(table) = side_by_side(files, t, folder) {
        page = page.subheading("Activations by static optimization and by computed muscle control");
        page = page.plots(pairs(&table));
    }
    page
}

/// Activations of muscles by static optimization and by computed muscle control, `MUSCLE.so` and `MUSCLE.cmc`, at the times of the
/// first that the second has, too.
pub(super) fn side_by_side(files: &dyn Files, t: &Trial, folder: &Path) -> Option<Table> {
    let so = table(files, &folder.join(format!("{}_StaticOptimization_activation.sto", t.name)))?;
    let cmc = table(files, &folder.join("cmc").join(format!("{}_states.sto", t.name)))?;
    let (first, last) = (*cmc.times().first()?, *cmc.times().last()?);
    let rows: Vec<usize> = (0..so.rows()).filter(|&k| (first..=last).contains(&so.times()[k])).collect();
    let times: Vec<f64> = rows.iter().map(|&k| so.times()[k]).collect();
    let at = |y: &[f64], t: f64| {
        let k = cmc.times().partition_point(|x| *x < t);
        let (a, b) = (k.saturating_sub(1), k.min(y.len() - 1));
        let h = cmc.times()[b] - cmc.times()[a];
        let s = if h > 0.0 { (t - cmc.times()[a]) / h } else { 0.0 };
        y[a] + s * (y[b] - y[a])
    };
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    for (label, y) in cmc.labels().iter().zip(cmc.columns()) {
        let Some(muscle) = label.strip_suffix("/activation").and_then(|l| l.rsplit('/').next()) else {
            continue;
        };
        let Some(own) = so.column(muscle) else { continue };
        labels.extend([format!("{muscle}.so"), format!("{muscle}.cmc")]);
        columns.push(rows.iter().map(|&k| own[k]).collect());
        columns.push(times.iter().map(|&t| at(y, t)).collect());
    }
    if labels.is_empty() || times.is_empty() {
        return None;
    }
    let mut table = Table::new(Element::Scalar, labels, times, columns).ok()?;
    table.name = "Activations".to_string();
    table.in_degrees = Some(false);
    Some(table)
}

/// One plot for each muscle with both of its activations.
fn pairs(table: &Table) -> Vec<Plot> {
    let plot = |muscle: &str| {
        let line = |what: &str, name: &str| {
            let y = table.column(&format!("{muscle}.{what}")).unwrap_or_default().to_vec();
            Line::new(name, table.times().to_vec(), y)
        };
        Plot {
            title: muscle.to_string(),
            x_label: "time (s)".to_string(),
            lines: vec![line("so", "static optimization"), line("cmc", "muscle control")],
            y_range: Some([0.0, 1.0]),
            ..Plot::default()
        }
    };
    table.labels().iter().filter_map(|l| l.strip_suffix(".so")).map(plot).collect()
}

/// What a table holds.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Markers,
    Sensors,
    Coordinates,
    Loads,
    Activations,
}

impl Kind {
    /// The unit of a column, and what its numbers are multiplied with to have it.
    fn unit(self, label: &str, in_degrees: bool, model: Option<&Model>) -> (&'static str, f64) {
        let rotates = || {
            let coordinate = model.and_then(|m| m.coordinate(label).map(|id| &m.coordinates[id.0]));
            coordinate.is_none_or(|c| c.motion_type == MotionType::Rotational)
        };
        let last = label.rsplit('_').next().unwrap_or("");
        match self {
            Kind::Markers => ("mm", 1e3),
            Kind::Sensors => ("degrees", if in_degrees { 1.0 } else { 1f64.to_degrees() }),
            Kind::Coordinates if rotates() => ("degrees", 1.0),
            Kind::Coordinates => ("m", 1.0),
            Kind::Loads => match last {
                "moment" | "mx" | "my" | "mz" => ("N m", 1.0),
                "px" | "py" | "pz" => ("m", 1.0),
                _ => ("N", 1.0),
            },
            Kind::Activations => ("", 1.0),
        }
    }
}

/// A coordinate that moves less, degrees or m, is held where it is: its curve shows rounding.
const STILL: f64 = 1e-4;

/// One plot for each quantity, left and right together; what is constant is left out.
fn plots(table: &Table, kind: Kind, model: Option<&Model>) -> Vec<Plot> {
    let mut list: Vec<Plot> = Vec::new();
    for (label, y) in table.labels().iter().zip(table.columns()) {
        let (low, high) = y.iter().fold((f64::MAX, f64::MIN), |(l, h), &y| (l.min(y), h.max(y)));
        let still = if kind == Kind::Coordinates { STILL } else { 0.0 };
        if !(high - low > still) || label == "total_squared_error" {
            continue;
        }
        let (unit, factor) = kind.unit(label, table.in_degrees == Some(true), model);
        let title = match label.as_str() {
            "marker_error_RMS" => "RMS of all markers".to_string(),
            "marker_error_max" => "the farthest marker".to_string(),
            other => without_side(other),
        };
        let y = y.iter().map(|y| factor * y).collect();
        let name = if kind == Kind::Markers { &title } else { label };
        let line = Line::new(name.as_str(), table.times().to_vec(), y);
        // Muscles have a scale in common; reserves have none.
        let y_range = (kind == Kind::Activations && low >= 0.0 && high <= 1.0).then_some([0.0, 1.0]);
        match list.iter_mut().find(|p| p.title == title) {
            Some(p) => p.lines.push(line),
            None => list.push(Plot {
                title,
                x_label: "time (s)".to_string(),
                y_label: unit.to_string(),
                lines: vec![line],
                y_range,
                ..Plot::default()
            }),
        }
    }
    list
}

/// A name without what tells left from right.
fn without_side(label: &str) -> String {
    let parts: Vec<&str> = label.split('_').filter(|p| !matches!(*p, "r" | "l")).collect();
    parts.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_sides_share_a_plot() {
        assert_eq!(without_side("knee_angle_r_moment"), without_side("knee_angle_l_moment"));
        assert_ne!(without_side("hip_flexion_r"), without_side("knee_angle_r"));
    }
}

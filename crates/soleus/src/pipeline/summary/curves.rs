//! All curves of a trial over time.

use super::{SENSOR_ERRORS, table};
use crate::files::Files;
use crate::pipeline::INVERSE;
use soleus_io::pipeline::Trial;
use soleus_math::Table;
use soleus_math::table::Element;
use soleus_model::Model;
use soleus_model::joint::MotionType;
use soleus_viewer::{Line, Plot, Report};
use std::path::Path;

/// The curves of one trial. With `over_time` they are linked to the animation of the page.
pub fn of_trial(
    files: &dyn Files,
    t: &Trial,
    folder: &Path,
    model: Option<&Model>,
    over_time: bool,
) -> Report {
    let mut page = Report::new("");
    let so = |what: &str| folder.join(format!("{}_StaticOptimization_{what}.sto", t.name));
    let angles = super::angles(files, folder);
    let parts = [
        ("Marker errors", folder.join(format!("{}_ik_marker_errors.sto", t.name)), Kind::Markers),
        ("Angles between sensors and model", folder.join(SENSOR_ERRORS), Kind::Sensors),
        ("Coordinates", angles, Kind::Coordinates),
        ("Joint moments and forces", folder.join("id.sto"), Kind::Loads),
        ("Activations of muscles, controls of reserves", so("activation"), Kind::Activations),
        ("Joint reactions", folder.join(format!("{}_JointReaction_ReactionLoads.sto", t.name)), Kind::Loads),
    ];
    for (title, file, kind) in parts {
        if let Some(table) = table(files, &file) {
            let mut plots = plots(&table, kind, model);
            plots.iter_mut().for_each(|p| p.over_time = over_time);
            if !plots.is_empty() {
                page = page.subheading(title).plots(plots);
            }
        }
    }
    if let Some(table) = side_by_side(files, t, folder) {
        page = page.subheading("Activations by each method");
        page = page.plots(pairs(&table));
    }
    page
}

/// Methods that find activations: the end of their columns in `activations.sto`, and their names.
const METHODS: [(&str, &str); 3] =
    [("so", "static optimization"), ("cmc", "muscle control"), ("inverse", "optimal control")];

/// Activations by each requested method, `MUSCLE.so`, `MUSCLE.cmc` and `MUSCLE.inverse`, at the times of the first
/// method that the others also have. `None` if there are fewer than two methods.
pub fn side_by_side(files: &dyn Files, t: &Trial, folder: &Path) -> Option<Table> {
    let files_of = [
        folder.join(format!("{}_StaticOptimization_activation.sto", t.name)),
        folder.join("cmc").join(format!("{}_states.sto", t.name)),
        folder.join(INVERSE),
    ];
    let found =
        METHODS.iter().zip(files_of).filter_map(|((key, _), file)| Some((*key, table(files, &file)?)));
    let found: Vec<(&str, Table)> = found.collect();
    let [(_, first), others @ ..] = found.as_slice() else { return None };
    let begin = others.iter().filter_map(|(_, t)| t.times().first()).fold(f64::MIN, |a, b| a.max(*b));
    let end = others.iter().filter_map(|(_, t)| t.times().last()).fold(f64::MAX, |a, b| a.min(*b));
    let times: Vec<f64> = first.times().iter().copied().filter(|t| (begin..=end).contains(t)).collect();
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    for muscle in first.labels().iter().filter_map(|l| muscle_of(l)) {
        let curves: Vec<_> =
            found.iter().filter_map(|(key, t)| Some((key, t.times(), activation(t, muscle)?))).collect();
        if curves.len() < 2 {
            continue;
        }
        for (key, own_times, y) in curves {
            labels.push(format!("{muscle}.{key}"));
            columns.push(times.iter().map(|&t| at(own_times, y, t)).collect());
        }
    }
    if labels.is_empty() || times.is_empty() {
        return None;
    }
    let mut table = Table::new(Element::Scalar, labels, times, columns).ok()?;
    table.name = "Activations".to_string();
    table.in_degrees = Some(false);
    Some(table)
}

/// The muscle that a column may be about: static optimization names it, states have `/forceset/NAME/activation`.
fn muscle_of(label: &str) -> Option<&str> {
    match label.strip_suffix("/activation") {
        Some(path) => path.rsplit('/').next(),
        None => (!label.contains('/')).then_some(label),
    }
}

/// The activation of a muscle, by whichever name it has in a table.
fn activation<'t>(table: &'t Table, muscle: &str) -> Option<&'t [f64]> {
    let named = |l: &&String| muscle_of(l) == Some(muscle);
    let label = table.labels().iter().filter(named).max_by_key(|l| l.ends_with("/activation"))?;
    table.column(label)
}

/// Between the rows of a curve on straight lines.
fn at(times: &[f64], y: &[f64], t: f64) -> f64 {
    let k = times.partition_point(|x| *x < t);
    let (a, b) = (k.saturating_sub(1), k.min(y.len() - 1));
    let h = times[b] - times[a];
    let s = if h > 0.0 { (t - times[a]) / h } else { 0.0 };
    y[a] + s * (y[b] - y[a])
}

/// One plot for each muscle with its activations by all methods.
fn pairs(table: &Table) -> Vec<Plot> {
    let mut muscles: Vec<&str> =
        table.labels().iter().filter_map(|l| l.rsplit_once('.').map(|(muscle, _)| muscle)).collect();
    muscles.dedup();
    let plot = |muscle: &str| {
        let line = |(key, name): &(&str, &str)| {
            let y = table.column(&format!("{muscle}.{key}"))?.to_vec();
            Some(Line::new(*name, table.times().to_vec(), y))
        };
        Plot {
            title: muscle.to_string(),
            x_label: "time (s)".to_string(),
            lines: METHODS.iter().filter_map(line).collect(),
            y_range: Some([0.0, 1.0]),
            ..Plot::default()
        }
    };
    muscles.into_iter().map(plot).collect()
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
            "marker_error_max" => "largest marker error".to_string(),
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

//! All curves of a trial over time, for who wants to see them.

use super::{SENSOR_ERRORS, table};
use crate::files::Files;
use soleus_io::pipeline::Trial;
use soleus_math::Table;
use soleus_math::table::Element;
use soleus_model::Model;
use soleus_model::joint::MotionType;
use soleus_viewer::{Line, Plot, Report};
use std::path::Path;

/// The curves of one trial. With `over_time` they go with the figure of the page.
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
        ("Distances of markers", folder.join(format!("{}_ik_marker_errors.sto", t.name)), Kind::Markers),
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
        page = page.subheading("Activations by static optimization and by computed muscle control");
        page = page.plots(pairs(&table));
    }
    page
}

/// Activations of muscles by static optimization and by computed muscle control, `MUSCLE.so` and `MUSCLE.cmc`, at the times of the
/// first that the second has, too.
pub fn side_by_side(files: &dyn Files, t: &Trial, folder: &Path) -> Option<Table> {
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

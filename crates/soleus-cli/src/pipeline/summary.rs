//! The page that shows a study: what was done, how good it is, and the curves.

use super::study::{Study, Trial};
use super::{Outcome, SENSOR_ERRORS};
use soleus_math::Table;
use soleus_model::Model;
use soleus_tools::quality::residuals;
use soleus_viewer::{Line, Plot, Report, Table as Rows};
use std::path::Path;

/// The page. What a failed step left out is left out here.
pub fn page(name: &str, study: &Study, results: &Path, model: Option<&Path>, outcomes: &[Outcome]) -> String {
    let mut steps = Rows::new("Steps", ["step", "result"]);
    for o in outcomes {
        let result = match &o.result {
            Ok(word) => (*word).to_string(),
            Err(why) => format!("failed: {}", why.lines().next().unwrap_or("")),
        };
        steps = steps.row([o.step.clone(), result]);
    }
    let mut page = Report::new(name).table(steps);
    let model = model.and_then(read_model);
    if let Some(m) = &model {
        page = page.text(format!(
            "Model {}: {:.2} kg, {} coordinates, {} markers.",
            m.name,
            m.total_mass(),
            m.coordinates.len(),
            m.markers.len()
        ));
    }
    let mut quality = Rows::new(
        "Quality",
        [
            "trial",
            "frames",
            "RMS of markers, mm, or sensors, °",
            "worst frame",
            "largest",
            "residual force, N",
            "in % of weight",
            "residual moment, N m",
        ],
    );
    for t in &study.trials {
        if let Some(row) = quality_row(t, &results.join(&t.name), model.as_ref()) {
            quality = quality.row(row);
        }
    }
    if !quality.rows.is_empty() {
        page = page.table(quality);
    }
    for t in &study.trials {
        page = trial(page, t, &results.join(&t.name));
    }
    page.to_html()
}

fn read_model(path: &Path) -> Option<Model> {
    let bytes = std::fs::read(path).ok()?;
    soleus_io::osim::read_model(&bytes, &path.display().to_string()).0
}

/// A table that a step may have written.
fn table(path: &Path) -> Option<Table> {
    let bytes = std::fs::read(path).ok()?;
    soleus_io::table::read(&bytes, &path.display().to_string()).0
}

fn quality_row(t: &Trial, folder: &Path, model: Option<&Model>) -> Option<Vec<String>> {
    let largest = |c: &[f64]| c.iter().fold(0.0, |m: f64, x| m.max(*x));
    let mean = |c: &[f64]| (c.iter().map(|x| x * x).sum::<f64>() / c.len().max(1) as f64).sqrt();
    let (rows, numbers) = match t.orientations {
        // One column of angles for each sensor.
        Some(_) => {
            let errors = table(&folder.join(SENSOR_ERRORS))?;
            let unit = if errors.in_degrees == Some(true) { 1.0 } else { 180.0 / std::f64::consts::PI };
            let frame = |k: usize| mean(&errors.columns().iter().map(|c| c[k]).collect::<Vec<_>>());
            let frames: Vec<f64> = (0..errors.rows()).map(frame).collect();
            let most = errors.columns().iter().map(|c| largest(c)).fold(0.0, f64::max);
            let numbers = [mean(&frames), largest(&frames), most].map(|x| format!("{:.1}", unit * x));
            (errors.rows(), numbers)
        }
        None => {
            let errors = table(&folder.join(format!("{}_ik_marker_errors.sto", t.name)))?;
            let rms = errors.column("marker_error_RMS")?;
            let max = errors.column("marker_error_max").map_or(0.0, largest);
            (errors.rows(), [mean(rms), largest(rms), max].map(|x| format!("{:.1}", 1e3 * x)))
        }
    };
    let mut row = vec![t.name.clone(), rows.to_string()];
    row.extend(numbers);
    let moments = table(&folder.join("id.sto")).filter(|_| t.loads.is_some());
    match moments.zip(model).and_then(|(m, model)| residuals(model, &m)) {
        Some(r) => {
            let part = 100.0 * r.force_rms / r.weight;
            row.extend([format!("{:.1}", r.force_rms), format!("{part:.1}"), format!("{:.1}", r.moment_rms)]);
        }
        None => row.extend(["–", "–", "–"].map(String::from)),
    }
    Some(row)
}

/// The curves of one trial.
fn trial(mut page: Report, t: &Trial, folder: &Path) -> Report {
    page = page.heading(t.name.as_str());
    let so = |what: &str| folder.join(format!("{}_StaticOptimization_{what}.sto", t.name));
    let smooth = folder.join("filtered.mot");
    let angles = if smooth.is_file() { smooth } else { folder.join("ik.mot") };
    let parts = [
        ("Marker errors, m", folder.join(format!("{}_ik_marker_errors.sto", t.name))),
        ("Angles between sensors and model", folder.join(SENSOR_ERRORS)),
        ("Coordinates, degrees and m", angles),
        ("Joint moments and forces, N m and N", folder.join("id.sto")),
        ("Activations", so("activation")),
        ("Joint reactions, N and N m", folder.join(format!("{}_JointReaction_ReactionLoads.sto", t.name))),
    ];
    for (title, file) in parts {
        if let Some(table) = table(&file) {
            let plots = plots(&table);
            if !plots.is_empty() {
                page = page.text(title).plots(plots);
            }
        }
    }
    page
}

/// One plot for each quantity, left and right together; what is constant is left out.
fn plots(table: &Table) -> Vec<Plot> {
    let mut list: Vec<Plot> = Vec::new();
    for (label, y) in table.labels().iter().zip(table.columns()) {
        let same = y.first().is_none_or(|first| y.iter().all(|x| x == first));
        if same || label == "total_squared_error" {
            continue;
        }
        let title = without_side(label);
        let line = Line::new(label.as_str(), table.times().to_vec(), y.clone());
        match list.iter_mut().find(|p| p.title == title) {
            Some(p) => p.lines.push(line),
            None => list.push(Plot {
                title,
                x_label: "time (s)".to_string(),
                lines: vec![line],
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

//! How well a motion was followed, and with what help.

use crate::analysis::AnalysisTable;
use serde::Serialize;
use soleus_dynamics::System;
use soleus_math::Table;
use soleus_model::joint::MotionType;
use soleus_model::{ForceKind, Model};
use soleus_simulation::Statistics;
use soleus_tools::tracking::{Reference, Shortfall, Tracker};
use std::fmt;

/// How far a coordinate was from the motion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoordinateError {
    /// The coordinate.
    pub name: String,
    /// `deg` or `mm`.
    pub unit: &'static str,
    /// Root mean square over time.
    pub rms: f64,
    /// Largest.
    pub largest: f64,
    /// Whether it was to be followed.
    pub is_followed: bool,
}

/// What an actuator that is no muscle did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Help {
    /// The actuator.
    pub name: String,
    /// Mean over time, N or N·m.
    pub mean: f64,
    /// Root mean square over time.
    pub rms: f64,
    /// Largest.
    pub largest: f64,
}

/// What to know about a motion that followed another.
#[derive(Clone, Debug, Default)]
pub struct TrackingReport {
    /// Coordinates that move, those that were followed first.
    pub coordinates: Vec<CoordinateError>,
    /// Actuators that are no muscles: residuals and reserves.
    pub helpers: Vec<Help>,
    /// Windows in all.
    pub windows: usize,
    /// Windows in which a coordinate lacked something.
    pub short_windows: usize,
    /// The worst of each coordinate, the worst first.
    pub shortfalls: Vec<Shortfall>,
    /// Time that was simulated, s.
    pub simulated: f64,
    /// Time that it took, s of the clock, where there is one.
    pub seconds: Option<f64>,
    /// Work of the simulation.
    pub statistics: Statistics,
}

impl TrackingReport {
    /// The worst shortfall.
    pub fn worst_shortfall(&self) -> Option<&Shortfall> {
        self.shortfalls.first()
    }

    /// An actuator that is no muscle, by name.
    pub fn helper(&self, name: &str) -> Option<&Help> {
        self.helpers.iter().find(|h| h.name == name)
    }

    /// The lines that are worth telling at once; they do not depend on the clock.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.push(format!(
            "{:.4} s followed in {} windows: {} steps, {} evaluations",
            self.simulated, self.windows, self.statistics.steps, self.statistics.evaluations
        ));
        for unit in ["deg", "mm"] {
            let list = || self.coordinates.iter().filter(|c| c.unit == unit && c.is_followed);
            if let Some(worst) = list().max_by(|a, b| a.rms.total_cmp(&b.rms)) {
                let (sum, n) = list().fold((0.0, 0.0), |(s, n), c| (s + c.rms * c.rms, n + 1.0));
                lines.push(format!(
                    "off the motion by {:.3} {unit} RMS over {n} coordinates, `{}` most: {:.3} {unit} RMS, {:.3} {unit} at most",
                    (sum / n).sqrt(),
                    worst.name,
                    worst.rms,
                    worst.largest
                ));
            }
        }
        lines
    }
}

impl fmt::Display for TrackingReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for line in self.lines() {
            writeln!(f, "{line}")?;
        }
        let wide = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or(0).max(10);
        let width = wide(&mut self.coordinates.iter().map(|c| c.name.len()));
        writeln!(f, "\n{:width$}  {:>10}  {:>10}  unit", "coordinate", "RMS", "largest")?;
        for c in &self.coordinates {
            let free = if c.is_followed { "" } else { ", not followed" };
            writeln!(f, "{:width$}  {:10.4}  {:10.4}  {}{free}", c.name, c.rms, c.largest, c.unit)?;
        }
        if !self.helpers.is_empty() {
            let width = wide(&mut self.helpers.iter().map(|h| h.name.len()));
            writeln!(
                f,
                "\n{:width$}  {:>10}  {:>10}  {:>10}  N or N m",
                "actuator", "mean", "RMS", "largest"
            )?;
            for h in &self.helpers {
                writeln!(f, "{:width$}  {:10.4}  {:10.4}  {:10.4}", h.name, h.mean, h.rms, h.largest)?;
            }
        }
        if !self.shortfalls.is_empty() {
            writeln!(f, "\ntoo weak in {} of {} windows:", self.short_windows, self.windows)?;
            for s in &self.shortfalls {
                writeln!(f, "  {}", super::run::told(s))?;
            }
        }
        Ok(())
    }
}

/// The report of a run.
pub fn report(
    (model, system): (&Model, &System),
    reference: &Reference,
    tracker: &Tracker,
    tables: &[AnalysisTable],
    (start, seconds): (f64, Option<f64>),
) -> TrackingReport {
    let rows = tracker.rows();
    let mut coordinates = Vec::new();
    let followed: Vec<usize> = tracker.tasks().iter().map(|t| t.coordinate).collect();
    let others = (0..model.coordinates.len()).filter(|c| !followed.contains(c));
    for coordinate in followed.iter().copied().chain(others) {
        let c = &model.coordinates[coordinate];
        let m = system.tree.mobility_of_coordinate[coordinate];
        if m == usize::MAX || c.locked || c.prescribed {
            continue;
        }
        let (unit, factor) = match c.motion_type {
            MotionType::Translational => ("mm", 1000.0),
            _ => ("deg", 1f64.to_degrees()),
        };
        let errors: Vec<f64> = rows
            .times
            .iter()
            .enumerate()
            .map(|(i, &t)| factor * (reference.at(m, t)[0] - rows.row(i)[m]))
            .collect();
        let [_, rms, largest] = summary(&rows.times, &errors);
        let is_followed = followed.contains(&coordinate);
        coordinates.push(CoordinateError { name: c.name.clone(), unit, rms, largest, is_followed });
    }
    let forces = tables.iter().find(|t| t.analysis == "Actuation" && t.suffix == "_force").map(|t| &t.table);
    let windows = tracker.windows();
    let mut shortfalls: Vec<Shortfall> = Vec::new();
    for s in windows.iter().flat_map(|w| &w.shortfalls) {
        match shortfalls.iter_mut().find(|k| k.coordinate == s.coordinate) {
            Some(k) if k.missing.abs() < s.missing.abs() => k.clone_from(s),
            Some(_) => {}
            None => shortfalls.push(s.clone()),
        }
    }
    shortfalls.sort_by(|a, b| b.missing.abs().total_cmp(&a.missing.abs()));
    TrackingReport {
        coordinates,
        helpers: forces.map_or(Vec::new(), |t| helpers(model, t)),
        windows: windows.len(),
        short_windows: windows.iter().filter(|w| !w.shortfalls.is_empty()).count(),
        shortfalls,
        simulated: tracker.time() - start,
        seconds,
        statistics: tracker.statistics(),
    }
}

/// What actuators did that are no muscles.
fn helpers(model: &Model, forces: &Table) -> Vec<Help> {
    let mut list = Vec::new();
    for f in model.forces.iter().filter(|f| f.is_actuator() && !matches!(f.kind, ForceKind::Muscle(_))) {
        let Some(column) = forces.index_of(&f.name) else { continue };
        let [mean, rms, largest] = summary(forces.times(), &forces.columns()[column]);
        list.push(Help { name: f.name.clone(), mean, rms, largest });
    }
    list
}

/// Mean, root mean square and largest size of a quantity over time, by the trapezoidal rule.
pub fn summary(times: &[f64], values: &[f64]) -> [f64; 3] {
    let (mut sum, mut squares, mut duration) = (0.0, 0.0, 0.0);
    for (t, y) in times.windows(2).zip(values.windows(2)) {
        let h = t[1] - t[0];
        duration += h;
        sum += 0.5 * h * (y[0] + y[1]);
        squares += 0.5 * h * (y[0] * y[0] + y[1] * y[1]);
    }
    let largest = values.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
    match duration > 0.0 {
        true => [sum / duration, (squares / duration).sqrt(), largest],
        false => [values.first().copied().unwrap_or(0.0), largest, largest],
    }
}

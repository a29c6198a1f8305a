//! Report of tracking errors, residuals and reserves.

use crate::analysis::AnalysisTable;
use crate::emg::{self, EmgComparison};
use serde::Serialize;
use soleus_dynamics::{State, System};
use soleus_math::{SpatialVec, Table, Vec3, vec3};
use soleus_model::force::ExternalForce;
use soleus_model::id::{BodyId, FrameId};
use soleus_model::joint::{Joint, MotionType};
use soleus_model::{Force, ForceKind, Model};
use soleus_simulation::Statistics;
use soleus_tools::analysis::ActuatorLoad;
use soleus_tools::tracking::{Reference, Shortfall, Tracker, is_length};
use soleus_viewer::Verdict;
use std::fmt;

/// Good to the first number, bad above the second, as OpenSim's checklist for evaluating a simulation has them for residual reduction (its
/// documentation, Simulation with OpenSim – Best Practices): largest residual force and its root mean square (N), the same of moments
/// (N·m), and root mean squares of the errors of places (mm) and angles (deg).
const LIMITS: [[f64; 2]; 6] =
    [[10.0, 25.0], [5.0, 15.0], [75.0, 75.0], [50.0, 50.0], [20.0, 20.0], [2.0, 5.0]];
/// Largest residual force in percent of the largest external force, and largest residual moment in percent of that force times the height
/// of the mass centre. Source: Hicks et al. (2015).
const RELATIVE_LIMITS: [f64; 2] = [5.0, 1.0];
/// The same for motions that muscles made, as OpenSim's checklist for computed muscle control has them (its documentation, Simulation with
/// OpenSim – Best Practices): largest residual force, its mean (N), and largest residual moment (N·m).
const MUSCLE_LIMITS: [[f64; 2]; 3] = [[10.0, 20.0], [5.0, 10.0], [75.0, 75.0]];
/// Largest moment of a reserve in percent of that of its joint, from the same list.
const RESERVE_LIMIT: f64 = 10.0;

/// Rows of Table 4 of Thelen & Anderson (2006): description, unit, prefixes of the coordinate names, and mean and
/// standard deviation of the RMS errors of ten walkers.
pub const WALKING_ERRORS: [(&str, &str, &[&str], f64, f64); 15] = [
    ("pelvis, antero-posterior", "mm", &["pelvis_tx"], 6.3, 1.9),
    ("pelvis, medio-lateral", "mm", &["pelvis_tz"], 0.6, 0.2),
    ("pelvis, vertical", "mm", &["pelvis_ty"], 0.9, 0.4),
    ("pelvis, tilt", "deg", &["pelvis_tilt"], 0.9, 0.2),
    ("pelvis, obliquity", "deg", &["pelvis_list"], 0.1, 0.1),
    ("pelvis, rotation", "deg", &["pelvis_rotation"], 0.3, 0.1),
    ("hip, flexion", "deg", &["hip_flexion"], 0.8, 0.2),
    ("hip, adduction", "deg", &["hip_adduction"], 0.2, 0.1),
    ("hip, rotation", "deg", &["hip_rotation"], 0.3, 0.1),
    ("knee, flexion", "deg", &["knee_angle_r", "knee_angle_l"], 1.0, 0.2),
    ("ankle, flexion", "deg", &["ankle_angle"], 0.3, 0.1),
    ("subtalar, inversion", "deg", &["subtalar_angle"], 0.1, 0.1),
    ("back, flexion", "deg", &["lumbar_extension"], 0.6, 0.2),
    ("back, bending", "deg", &["lumbar_bending"], 0.1, 0.1),
    ("back, rotation", "deg", &["lumbar_rotation"], 0.3, 0.1),
];

/// Rows of Table 5 of the same paper, as printed: forces of the foot springs (N), and suffixes of the spring names. The
/// text says below 2 N anterior and sideways and below 7 N vertical, so the last two rows are probably exchanged.
pub const WALKING_REACTIONS: [(&str, &str, f64, f64); 3] = [
    ("antero-posterior", "_spring_fx", 2.2, 0.4),
    ("medio-lateral", "_spring_fz", 6.5, 2.2),
    ("vertical", "_spring_fy", 1.0, 0.3),
];

/// A row of Tables 4 and 5 of Thelen & Anderson (2006).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedRow {
    /// 4 or 5.
    pub table: u8,
    /// Description.
    pub what: &'static str,
    /// `mm`, `deg` or `N`.
    pub unit: &'static str,
    /// RMS over both sides; NaN if the model has no such coordinate.
    pub rms: f64,
    /// Mean of the ten published walkers.
    pub mean: f64,
    /// Standard deviation of the ten published walkers.
    pub deviation: f64,
}
/// Where muscles do less than this part of what all actuators do at a coordinate, an actuator is what moves it, and no reserve.
const NO_MUSCLES: f64 = 1e-3;

/// Tracking error of a coordinate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoordinateError {
    /// The coordinate.
    pub name: String,
    /// `deg` or `mm`.
    pub unit: &'static str,
    /// RMS over time.
    pub rms: f64,
    /// Maximum.
    pub largest: f64,
    /// Whether it was tracked.
    pub is_followed: bool,
}

/// Force of an actuator that is not a muscle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Help {
    /// The actuator.
    pub name: String,
    /// Mean over time, N or N·m.
    pub mean: f64,
    /// RMS over time.
    pub rms: f64,
    /// Maximum.
    pub largest: f64,
    /// Whether it is a residual at the root of the model; otherwise it is a reserve, or drives a joint.
    pub is_residual: bool,
    /// Whether it is a force, N; otherwise a moment, N·m.
    pub is_force: bool,
    /// For a reserve at a joint with muscles: maximum and RMS of the joint moment, all actuators included.
    pub joint: Option<[f64; 2]>,
}

/// Summary of a tracked motion.
#[derive(Clone, Debug, Default)]
pub struct TrackingReport {
    /// Coordinates that move, tracked ones first.
    pub coordinates: Vec<CoordinateError>,
    /// Residual and reserve actuators.
    pub helpers: Vec<Help>,
    /// Comparison of activations with EMG, if given.
    pub emg: Vec<EmgComparison>,
    /// For all muscles together: sum of squared changes of excitation between windows, and mean over the windows of the
    /// squared excitations; `None` without muscles.
    pub excitations: Option<[f64; 2]>,
    /// Maximum external force (N) and initial height of the mass centre (m), if there are external forces.
    pub external: Option<[f64; 2]>,
    /// Whether the model is driven by muscles.
    pub has_muscles: bool,
    /// Number of windows.
    pub windows: usize,
    /// Number of windows with a missing force.
    pub short_windows: usize,
    /// Largest shortfall of each coordinate, largest first.
    pub shortfalls: Vec<Shortfall>,
    /// Simulated time, s.
    pub simulated: f64,
    /// Wall-clock time, s, if a clock is available.
    pub seconds: Option<f64>,
    /// Statistics of the simulation.
    pub statistics: Statistics,
}

/// A quantity beside its limits.
pub(crate) struct Rated {
    pub what: &'static str,
    pub unit: &'static str,
    pub value: f64,
    /// Good up to the first, bad above the second.
    pub limits: [f64; 2],
}

impl Rated {
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.value, self.limits)
    }
}

impl TrackingReport {
    /// The largest shortfall.
    pub fn worst_shortfall(&self) -> Option<&Shortfall> {
        self.shortfalls.first()
    }

    /// A residual or reserve actuator by name.
    pub fn helper(&self, name: &str) -> Option<&Help> {
        self.helpers.iter().find(|h| h.name == name)
    }

    /// Residuals and errors compared with common limits: good below the first number, bad above the second.
    pub fn judgement(&self) -> Vec<String> {
        let line = |r: &Rated| {
            let (word, [good, bad]) = (r.verdict().word(), r.limits);
            format!("{word:4}  {}: {:.2} {} (good up to {good}, bad above {bad})", r.what, r.value, r.unit)
        };
        self.rated().iter().map(line).collect()
    }

    /// The same as values.
    pub(crate) fn rated(&self) -> Vec<Rated> {
        let residuals =
            |is_force: bool| self.helpers.iter().filter(move |h| h.is_residual && h.is_force == is_force);
        let followed =
            |unit: &'static str| self.coordinates.iter().filter(move |c| c.is_followed && c.unit == unit);
        let most = |values: &mut dyn Iterator<Item = f64>| {
            values.fold(None, |m: Option<f64>, x| Some(m.map_or(x, |m| m.max(x))))
        };
        let reserve = self.helpers.iter().filter_map(|h| Some(100.0 * h.largest / h.joint?[0]));
        let reserve = most(&mut reserve.filter(|x| x.is_finite()));
        let rows = match self.has_muscles {
            true => vec![
                (
                    "largest reserve, relative to the largest moment of its joint",
                    "%",
                    reserve,
                    [RESERVE_LIMIT; 2],
                ),
                (
                    "largest residual force",
                    "N",
                    most(&mut residuals(true).map(|h| h.largest)),
                    MUSCLE_LIMITS[0],
                ),
                (
                    "mean residual force",
                    "N",
                    most(&mut residuals(true).map(|h| h.mean.abs())),
                    MUSCLE_LIMITS[1],
                ),
                (
                    "largest residual moment",
                    "N m",
                    most(&mut residuals(false).map(|h| h.largest)),
                    MUSCLE_LIMITS[2],
                ),
            ],
            false => vec![
                ("largest residual force", "N", most(&mut residuals(true).map(|h| h.largest)), LIMITS[0]),
                ("residual force, RMS", "N", most(&mut residuals(true).map(|h| h.rms)), LIMITS[1]),
                ("largest residual moment", "N m", most(&mut residuals(false).map(|h| h.largest)), LIMITS[2]),
                ("residual moment, RMS", "N m", most(&mut residuals(false).map(|h| h.rms)), LIMITS[3]),
            ],
        };
        let errors = [
            ("position error, RMS", "mm", most(&mut followed("mm").map(|c| c.rms)), LIMITS[4]),
            ("angle error, RMS", "deg", most(&mut followed("deg").map(|c| c.rms)), LIMITS[5]),
        ];
        let largest = |is_force: bool| most(&mut residuals(is_force).map(|h| h.largest));
        let of =
            |most: Option<f64>, whole: Option<f64>| Some(100.0 * most? / whole?).filter(|x| x.is_finite());
        let relative = [
            (
                "largest residual force, relative to the largest external force",
                "%",
                of(largest(true), self.external.map(|[f, _]| f)),
                [RELATIVE_LIMITS[0]; 2],
            ),
            (
                "largest residual moment, relative to that force times the height of the mass centre",
                "%",
                of(largest(false), self.external.map(|[f, h]| f * h)),
                [RELATIVE_LIMITS[1]; 2],
            ),
        ];
        let rated = |(what, unit, value, limits): (&'static str, &'static str, Option<f64>, [f64; 2])| {
            Some(Rated { what, unit, value: value?, limits })
        };
        rows.into_iter().chain(relative).chain(errors).filter_map(rated).collect()
    }

    /// Source of the limits in [`judgement`](Self::judgement).
    pub fn source_of_limits(&self) -> &'static str {
        match self.has_muscles {
            true => {
                "OpenSim's checklist for computed muscle control: its documentation, Simulation with OpenSim – Best Practices, Reserves and \
                 Residuals; fractions of the external force: Hicks et al. (2015) J Biomech Eng 137:020905"
            }
            false => {
                "OpenSim's checklist for residual reduction: its documentation, Simulation with OpenSim – Best Practices; fractions of the \
                 external force: Hicks et al. (2015) J Biomech Eng 137:020905"
            }
        }
    }

    /// Errors in the layout of Table 4 of Thelen & Anderson (2006), over both sides, and forces of foot springs in that
    /// of Table 5, if there are springs. Rows without a coordinate in the model are NaN.
    pub fn published_tables(&self) -> Vec<PublishedRow> {
        let together = |values: &mut dyn Iterator<Item = f64>| {
            let (sum, n) = values.fold((0.0, 0.0), |(s, n), x| (s + x * x, n + 1.0));
            (sum / n, n)
        };
        let mut list = Vec::new();
        for (what, unit, names, mean, deviation) in WALKING_ERRORS {
            // The angle of a patella is not that of a knee.
            let is_of = |name: &str| names.iter().any(|n| name.starts_with(n)) && !name.ends_with("beta");
            let of = self.coordinates.iter().filter(|c| is_of(&c.name));
            let (square, _) = together(&mut of.map(|c| c.rms));
            list.push(PublishedRow { table: 4, what, unit, rms: square.sqrt(), mean, deviation });
        }
        if self.helpers.iter().any(|h| h.name.ends_with(WALKING_REACTIONS[0].1)) {
            for (what, ending, mean, deviation) in WALKING_REACTIONS {
                let of = self.helpers.iter().filter(|h| h.name.ends_with(ending));
                let (square, n) = together(&mut of.map(|h| h.rms));
                let rms = (square * n).sqrt();
                list.push(PublishedRow { table: 5, what, unit: "N", rms, mean, deviation });
            }
        }
        list
    }

    /// The rows of [`published_tables`](Self::published_tables) that muscles of a walking model were controlled for: none where its
    /// coordinates have other names.
    pub(super) fn walking_rows(&self) -> Vec<PublishedRow> {
        let rows = self.published_tables();
        let found = rows.iter().filter(|r| r.table == 4 && r.rms.is_finite()).count();
        match self.has_muscles && 2 * found > WALKING_ERRORS.len() {
            true => rows.into_iter().filter(|r| r.rms.is_finite()).collect(),
            false => Vec::new(),
        }
    }

    /// The most important lines of the report; they do not depend on the clock.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.push(format!(
            "{:.3} s tracked in {} windows: {} steps, {} evaluations",
            self.simulated, self.windows, self.statistics.steps, self.statistics.evaluations
        ));
        for unit in ["deg", "mm"] {
            let list = || self.coordinates.iter().filter(|c| c.unit == unit && c.is_followed);
            if let Some(worst) = list().max_by(|a, b| a.rms.total_cmp(&b.rms)) {
                let (sum, n) = list().fold((0.0, 0.0), |(s, n), c| (s + c.rms * c.rms, n + 1.0));
                lines.push(format!(
                    "tracking error: {:.3} {unit} RMS over {n} coordinates; largest for `{}`: {:.3} {unit} RMS, {:.3} {unit} peak",
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
                "\n{:width$}  {:>10}  {:>10}  {:>10}  N or N m{}",
                "actuator",
                "mean",
                "RMS",
                "largest",
                if self.helpers.iter().any(|h| h.joint.is_some()) {
                    "; of its joint: RMS, largest"
                } else {
                    ""
                }
            )?;
            for h in &self.helpers {
                write!(f, "{:width$}  {:10.4}  {:10.4}  {:10.4}", h.name, h.mean, h.rms, h.largest)?;
                match h.joint {
                    Some([most, rms]) => {
                        writeln!(f, "  {:8.2} %  {:8.2} %", 100.0 * h.rms / rms, 100.0 * h.largest / most)?;
                    }
                    None => writeln!(f)?,
                }
            }
        }
        if self.helpers.iter().any(|h| h.is_residual || h.joint.is_some()) {
            writeln!(f, "\ncompared with recommended limits ({}):", self.source_of_limits())?;
            for line in self.judgement() {
                writeln!(f, "  {line}")?;
            }
        }
        if let Some([changes, squares]) = self.excitations {
            writeln!(
                f,
                "\nexcitations of all muscles: sum of squared changes between windows {changes:.2}, mean squares {squares:.2}"
            )?;
        }
        let rows = self.walking_rows();
        for table in [4, 5].into_iter().filter(|t| rows.iter().any(|r| r.table == *t)) {
            let what = if table == 4 { "errors, RMS over both sides" } else { "forces of foot springs, RMS" };
            writeln!(f, "\n{what}, as in Table {table} of Thelen & Anderson (2006), with their mean (SD):")?;
            for r in rows.iter().filter(|r| r.table == table) {
                writeln!(f, "  {:26}{:8.2} {:4}{:6.1} ({:.1})", r.what, r.rms, r.unit, r.mean, r.deviation)?;
            }
        }
        if !self.emg.is_empty() {
            write!(f, "\nactivations compared with EMG:\n{}", emg::told(&self.emg))?;
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

/// Creates the report of a run.
pub fn report(
    (model, system): (&Model, &System),
    reference: &Reference,
    tracker: &Tracker,
    tables: &[AnalysisTable],
    (start, seconds): (f64, Option<f64>),
) -> TrackingReport {
    let rows = tracker.rows();
    let mut coordinates = Vec::new();
    let followed: Vec<usize> = tracker.tasks().iter().filter_map(|t| t.followed.coordinate()).collect();
    let others = (0..model.coordinates.len()).filter(|c| !followed.contains(c));
    for coordinate in followed.iter().copied().chain(others) {
        let c = &model.coordinates[coordinate];
        let m = system.tree.mobility_of_coordinate[coordinate];
        if m == usize::MAX || c.locked || c.prescribed {
            continue;
        }
        let (unit, factor) = match is_length(model, coordinate) {
            true => ("mm", 1000.0),
            false => ("deg", 1f64.to_degrees()),
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
    for (i, task) in tracker.tasks().iter().enumerate().filter(|(_, t)| t.followed.coordinate().is_none()) {
        let windows = tracker.windows();
        let times: Vec<f64> = windows.iter().map(|w| w.time).collect();
        let errors: Vec<f64> = windows.iter().map(|w| 1000.0 * w.errors[i]).collect();
        let [_, rms, largest] = summary(&times, &errors);
        let name = task.followed.label(model);
        coordinates.push(CoordinateError { name, unit: "mm", rms, largest, is_followed: true });
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
        helpers: forces.map_or(Vec::new(), |t| helpers((model, system), &instants(system, tracker, t), t)),
        emg: Vec::new(),
        excitations: None,
        external: external((model, system), reference, [start, tracker.time()]),
        has_muscles: has_muscles(model),
        windows: windows.len(),
        short_windows: windows.iter().filter(|w| !w.shortfalls.is_empty()).count(),
        shortfalls,
        simulated: tracker.time() - start,
        seconds,
        statistics: tracker.statistics(),
    }
}

/// The largest sum of external forces in a span of time, N, and the height of the mass centre at its beginning, m.
fn external(
    (model, system): (&Model, &System),
    reference: &Reference,
    [from, to]: [f64; 2],
) -> Option<[f64; 2]> {
    let peak = largest_external_force(model, &model.forces, [from, to])?;
    let mut x = system.default_state.clone();
    x.time = from;
    reference.pose(from, &mut x.q, &mut x.u);
    Some([peak, mass_center_height((model, system), &x)?])
}

/// The largest sum of external forces in a span of time, N; of forces that are given in ground.
pub(crate) fn largest_external_force(model: &Model, forces: &[Force], [from, to]: [f64; 2]) -> Option<f64> {
    let is_in_ground = |e: &ExternalForce| model.frames[e.force_expressed_in_body.0].body.0 == 0;
    let list: Vec<&ExternalForce> = forces
        .iter()
        .filter(|f| f.enabled)
        .filter_map(|f| match &f.kind {
            ForceKind::ExternalForce(e) if is_in_ground(e) => Some(e),
            _ => None,
        })
        .collect();
    let times = &list.first()?.time;
    let mut peak: f64 = 0.0;
    for &t in times.iter().filter(|t| (from..=to).contains(*t)) {
        let mut sum = Vec3::zero();
        for e in &list {
            // Between samples the nearest is near enough for a peak.
            let k = e.time.partition_point(|x| *x < t).min(e.time.len() - 1);
            if let Some([x, y, z]) = &e.force {
                sum += vec3(x[k], y[k], z[k]);
            }
        }
        peak = peak.max(sum.norm());
    }
    (peak > 0.0).then_some(peak)
}

/// Height of the mass centre along gravity, m.
pub(crate) fn mass_center_height((model, system): (&Model, &System), x: &State<f64>) -> Option<f64> {
    let mut ws = system.workspace();
    system.compute_kinematics(x, &mut ws);
    let (mut moment, mut mass) = (Vec3::zero(), 0.0);
    for (b, body) in model.bodies.iter().enumerate().skip(1) {
        let X = ws.kin.X_GB[system.tree.node_of_body[b]];
        moment += (X.p + X.R * body.mass_center) * body.mass;
        mass += body.mass;
    }
    let height = -(model.gravity.dot(moment) / (model.gravity.norm() * mass));
    (height > 0.0).then_some(height)
}

/// Whether a model has muscles that act.
fn has_muscles(model: &Model) -> bool {
    model.forces.iter().any(|f| f.enabled && matches!(f.kind, ForceKind::Muscle(_)))
}

/// States at the beginnings of the windows, each with its row of the forces, which are those of the simulation.
fn instants(system: &System, tracker: &Tracker, forces: &Table) -> Vec<(usize, State<f64>)> {
    let rows = tracker.rows();
    let n = system.default_state.q.len();
    let (mut list, mut next) = (Vec::new(), 0);
    for w in tracker.windows() {
        while next < rows.len() && rows.times[next] < w.time - 1e-9 {
            next += 1;
        }
        if next >= rows.len().min(forces.rows()) {
            break;
        }
        let (row, mut x) = (rows.row(next), system.default_state.clone());
        x.time = rows.times[next];
        x.q.copy_from_slice(&row[..n]);
        x.u.copy_from_slice(&row[n..2 * n]);
        list.push((next, x));
    }
    list
}

/// What actuators did that are not muscles. States come each with its row of the forces.
pub(crate) fn helpers(
    (model, system): (&Model, &System),
    states: &[(usize, State<f64>)],
    forces: &Table,
) -> Vec<Help> {
    let joints = match has_muscles(model) {
        true => joint_moments((model, system), states, forces),
        false => vec![None; model.coordinates.len()],
    };
    let mut list = Vec::new();
    for f in model.forces.iter().filter(|f| f.is_actuator() && !matches!(f.kind, ForceKind::Muscle(_))) {
        let Some(column) = forces.index_of(&f.name) else { continue };
        let [mean, rms, largest] = summary(forces.times(), &forces.columns()[column]);
        let (is_residual, is_force) = kind(model, f);
        let joint = match &f.kind {
            ForceKind::CoordinateActuator(a) if !is_residual => joints[a.coordinate.0],
            _ => None,
        };
        list.push(Help { name: f.name.clone(), mean, rms, largest, is_residual, is_force, joint });
    }
    list
}

/// Largest moment of all actuators together at each coordinate, and its root mean square, over given states; none where muscles have no
/// part in it.
fn joint_moments(
    (model, system): (&Model, &System),
    states: &[(usize, State<f64>)],
    forces: &Table,
) -> Vec<Option<[f64; 2]>> {
    let actuators: Vec<(ActuatorLoad, bool, &[f64])> = model
        .forces
        .iter()
        .enumerate()
        .filter(|(_, f)| f.enabled && f.is_actuator())
        .filter_map(|(i, f)| {
            let is_muscle = matches!(f.kind, ForceKind::Muscle(_));
            Some((ActuatorLoad::new(system, i)?, is_muscle, forces.column(&f.name)?))
        })
        .collect();
    let n = system.tree.num_mobilities;
    let mut ws = system.workspace();
    let mut body = vec![SpatialVec::zero(); system.tree.nodes.len()];
    let mut column = vec![0.0; n];
    let mut times = Vec::new();
    let (mut all, mut muscles) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for (row, x) in states {
        system.compute_kinematics(x, &mut ws);
        system.compute_paths(x, &mut ws);
        let (mut sum, mut own) = (vec![0.0; n], vec![0.0; n]);
        for (load, is_muscle, force) in &actuators {
            load.generalized(system, &ws, x.time, force[*row], &mut body, &mut column);
            for m in 0..n {
                sum[m] += column[m];
                own[m] += if *is_muscle { column[m].abs() } else { 0.0 };
            }
        }
        times.push(x.time);
        for m in 0..n {
            all[m].push(sum[m]);
            muscles[m].push(own[m]);
        }
    }
    let of = |c: usize| {
        let m = system.tree.mobility_of_coordinate[c];
        if m >= n || times.is_empty() {
            return None;
        }
        let [_, rms, largest] = summary(&times, &all[m]);
        let [_, _, by_muscles] = summary(&times, &muscles[m]);
        (by_muscles > NO_MUSCLES * largest && largest > 0.0).then_some([largest, rms])
    };
    (0..model.coordinates.len()).map(of).collect()
}

/// Whether an actuator pushes the root of a model from nowhere, and whether it is a force.
fn kind(model: &Model, f: &Force) -> (bool, bool) {
    let is_root = |frame: FrameId| {
        let body = model.frames[frame.0].body;
        let from_ground = |j: &Joint| {
            model.frames[j.child.0].body == body && model.frames[j.parent.0].body == BodyId::GROUND
        };
        model.joints.iter().any(from_ground)
    };
    match &f.kind {
        ForceKind::CoordinateActuator(a) => {
            let c = &model.coordinates[a.coordinate.0];
            let joint = &model.joints[c.joint.0];
            let is_root = model.frames[joint.parent.0].body == BodyId::GROUND;
            (is_root, c.motion_type == MotionType::Translational)
        }
        ForceKind::PointActuator(a) => (is_root(a.body), true),
        ForceKind::TorqueActuator(a) => {
            let on_ground = |frame: FrameId| model.frames[frame.0].body == BodyId::GROUND;
            let outside = on_ground(a.body_a) || on_ground(a.body_b);
            (outside && (is_root(a.body_a) || is_root(a.body_b)), false)
        }
        _ => (false, true),
    }
}

/// Mean, RMS and maximum absolute value of a quantity over time, by the trapezoidal rule.
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

//! Checks of measured data before a computation: times out of order, wrong units, rotated axes, inverted plates; and
//! residuals of a result.
//!
//! Every finding is a diagnostic with the problem and a remedy; the caller reports it.

mod points;

pub use points::check_points;
use soleus_math::elementary;

use soleus_dynamics::System;
use soleus_math::{Table, Vec3};
use soleus_model::force::{ExternalForce, Force, ForceKind};
use soleus_model::joint::{Coordinate, MotionType};
use soleus_model::{Diagnostics, Model};
use soleus_simulation::system::state_column;

/// Below this a plate is taken for unloaded, N.
const UNLOADED_N: f64 = 20.0;

/// Checks the times of a table: they must increase (error), and steps should be uniform and match the rate in the
/// header (warnings).
pub fn check_times(table: &Table, log: &mut Diagnostics) {
    let t = table.times();
    if let Some(i) = (1..t.len()).find(|&i| !(t[i] > t[i - 1])) {
        let message = format!("time {} s in row {} does not follow {} s", t[i], i + 1, t[i - 1]);
        log.error(0, "", message, "rows must be sorted by time, without repeats");
        return;
    }
    let mut steps: Vec<f64> = t.windows(2).map(|w| w[1] - w[0]).collect();
    steps.sort_by(f64::total_cmp);
    let Some(&typical) = steps.get(steps.len() / 2) else { return };
    // Times are often written with three decimals.
    let slack = 1.1e-3 + 0.01 * typical;
    if let Some(&longest) = steps.last().filter(|s| **s - typical > slack) {
        let i = (1..t.len()).find(|&i| t[i] - t[i - 1] == longest).unwrap_or(1);
        let message =
            format!("rows are {typical:.4} s apart, but there is a gap of {longest:.4} s before {} s", t[i]);
        log.warn(
            0,
            "",
            message,
            "frames are missing, or the file was spliced; fill the gap with `soleus convert --rate`",
        );
    }
    let stated = table.metadata_value("DataRate").and_then(|r| r.trim().parse::<f64>().ok());
    if let Some(hz) = stated.filter(|hz| *hz > 0.0 && (t[t.len() - 1] - t[0]) > 0.0) {
        let mean = (t.len() - 1) as f64 / (t[t.len() - 1] - t[0]);
        // Rounding of the first and last time to a millisecond, and one percent.
        let slack = 0.01 + 1e-3 / (t[t.len() - 1] - t[0]);
        if (mean / hz - 1.0).abs() > slack
            && steps.last().is_some_and(|s| *s - typical <= slack * typical + 1.1e-3)
        {
            let message = format!("the header gives {hz} frames per second, the time column {mean:.2}");
            log.warn(0, "", message, "the time column is used");
        }
    }
}

/// Checks the cutoff frequency of a low-pass filter, Hz: above half the sampling rate there is nothing to filter, and
/// 0.49 of the rate is used instead, as in OpenSim.
pub fn check_cutoff(times: &[f64], cutoff_hz: f64, log: &mut Diagnostics) {
    let Ok(step) = soleus_math::signal::even_step(times) else { return };
    let rate = 1.0 / step;
    if cutoff_hz >= 0.5 * rate {
        let message = format!(
            "a cutoff of {cutoff_hz} Hz is above half the sampling rate of {rate:.1} Hz: {:.1} Hz is used",
            0.49 * rate
        );
        log.warn(0, "", message, "omit the filter, or use a lower cutoff, such as 6 Hz for gait");
    }
}

/// Checks the units of angles and lengths in a motion.
pub fn check_units(model: &Model, motion: &Table, log: &mut Diagnostics) {
    check_angles(model, motion, log);
    check_lengths(model, motion, log);
}

/// The columns of a motion that are coordinates of a kind.
fn coordinates_of<'a>(
    model: &'a Model,
    motion: &'a Table,
    kind: MotionType,
) -> impl Iterator<Item = (&'a Coordinate, &'a [f64])> {
    model.coordinates.iter().filter(move |c| c.motion_type == kind).filter_map(move |c| {
        let column = state_column(motion.labels(), &format!("{}/value", c.path))?;
        Some((c, motion.columns()[column].as_slice()))
    })
}

/// The largest of the numbers, whatever their signs.
fn largest(column: &[f64]) -> f64 {
    column.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Checks the unit of the angles in a motion. A table in radians according to its header is in degrees if a joint
/// exceeds three times its range, but would not in degrees. A table in degrees is in radians if all values are below
/// 3.14 but change fast.
pub fn check_angles(model: &Model, motion: &Table, log: &mut Diagnostics) {
    if motion.element().components() != 1 {
        return;
    }
    if motion.in_degrees == Some(true) {
        check_radians(model, motion, log);
        return;
    }
    let mut worst: Option<(&str, f64, f64)> = None;
    for (c, column) in coordinates_of(model, motion, MotionType::Rotational) {
        let largest = largest(column);
        let possible = c.range[0].abs().max(c.range[1].abs()).max(std::f64::consts::PI);
        let times = largest / possible;
        if times > 3.0 && largest.to_radians() < possible && worst.is_none_or(|w| times > w.1) {
            worst = Some((c.name.as_str(), times, largest));
        }
    }
    if let Some((name, _, largest)) = worst {
        let message = format!(
            "angles are assumed to be in radians, but `{name}` reaches {largest:.0}: these look like degrees"
        );
        let remedy = "write `inDegrees=yes` in the header of the table; a .csv file has no header: use `soleus convert --degrees`";
        log.warn(0, "", message, remedy);
    }
}

/// Within this time, s, an angle that is told in degrees moves by more than the next in most motions that are worth measuring, even
/// where all angles are small; quiet standing does not reach it.
const WINDOW_S: f64 = 0.1;
const MOVES: f64 = 0.3;

/// Says if angles that are read as degrees look like radians.
fn check_radians(model: &Model, motion: &Table, log: &mut Diagnostics) {
    let angles = || coordinates_of(model, motion, MotionType::Rotational);
    let largest_of_all = angles().fold(0.0, |m: f64, (_, column)| m.max(largest(column)));
    if angles().count() < 3 || !(largest_of_all < std::f64::consts::PI) {
        return;
    }
    let t = motion.times();
    let later: Vec<usize> = t.iter().map(|&now| t.partition_point(|&s| s < now + WINDOW_S)).collect();
    let mut fastest = ("", 0.0f64);
    for (c, column) in angles() {
        for (x, &later) in column.iter().zip(&later) {
            if let Some(y) = column.get(later).filter(|y| (*y - x).abs() > fastest.1) {
                fastest = (&c.name, (y - x).abs());
            }
        }
    }
    if fastest.1 > MOVES {
        let message = format!(
            "angles are assumed to be in degrees, but none exceeds {largest_of_all:.2} while `{}` changes by {:.2} in {WINDOW_S} s: these look like radians",
            fastest.0, fastest.1
        );
        log.warn(0, "", message, "write `inDegrees=no` in the header of the table");
    }
}

/// A coordinate this many times beyond its range is in another unit, if it starts there or moves as nothing does.
const TIMES_RANGE: f64 = 20.0;
const FASTEST_M_PER_S: f64 = 30.0;

/// Says if lengths look like millimeters.
fn check_lengths(model: &Model, motion: &Table, log: &mut Diagnostics) {
    if motion.element().components() != 1 {
        return;
    }
    let t = motion.times();
    let mut worst: Option<(&str, f64, f64)> = None;
    for (c, column) in coordinates_of(model, motion, MotionType::Translational) {
        let range = c.range[0].abs().max(c.range[1].abs());
        // A range without end, or none, is what a laboratory measures.
        let possible = if range > 0.0 && range < 100.0 { range } else { 10.0 };
        let (most, first) = (largest(column), column.first().map_or(0.0, |x| x.abs()));
        let fast = column
            .windows(2)
            .zip(t.windows(2))
            .any(|(x, t)| (x[1] - x[0]).abs() > FASTEST_M_PER_S * (t[1] - t[0]));
        let is_far = most > TIMES_RANGE * possible && 1e-3 * most < 3.0 * possible;
        if is_far && (first > TIMES_RANGE * possible || fast) && worst.is_none_or(|w| most / possible > w.1) {
            worst = Some((c.name.as_str(), most / possible, most));
        }
    }
    if let Some((name, _, most)) = worst {
        let message = format!(
            "lengths are assumed to be in metres, but `{name}` reaches {most:.0}: these look like millimetres"
        );
        log.warn(0, "", message, "write translations in metres");
    }
}

/// What is wrong if the data and the model have no marker in common, with some names of both.
pub fn no_common_marker<'a>(
    data: impl ExactSizeIterator<Item = &'a str>,
    model: impl ExactSizeIterator<Item = &'a str>,
) -> String {
    fn sample<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
        let more = if names.len() > 4 { ", …" } else { "" };
        format!("{}{more}", names.take(4).collect::<Vec<_>>().join(", "))
    }
    match (data.len(), model.len()) {
        (_, 0) => "the model has no markers".to_string(),
        (0, _) => "the data have no markers".to_string(),
        _ => format!(
            "the data and the model have no marker in common: the data have {}; the model has {}",
            sample(data),
            sample(model)
        ),
    }
}

/// Checks markers (in meters) against those of a model: names that do not match, units, and axes.
pub fn check_markers(model: &Model, system: &System, markers: &Table, log: &mut Diagnostics) {
    let shared: Vec<(usize, usize)> = (markers.labels().iter().enumerate())
        .filter_map(|(i, l)| model.markers.iter().position(|m| m.name == *l).map(|k| (i, k)))
        .collect();
    if shared.is_empty() {
        let message = no_common_marker(
            markers.labels().iter().map(String::as_str),
            model.markers.iter().map(|m| m.name.as_str()),
        );
        log.error(
            0,
            "",
            message,
            "rename the markers, or add a marker set to the model (soleus scale --marker-set)",
        );
        return;
    }
    if shared.len() < 3 {
        return;
    }

    // The size of the cloud of markers, on the model in its default pose and in the data.
    let mut ws = system.workspace();
    system.compute_kinematics(&system.default_state, &mut ws);
    let own: Vec<Vec3<f64>> =
        shared.iter().map(|&(_, k)| ws.kin.X_GB[system.markers[k].body] * system.markers[k].p_BS).collect();
    let step = (markers.rows() / 20).max(1);
    let clouds = (0..markers.rows()).step_by(step).filter_map(|row| {
        let seen: Vec<Vec3<f64>> =
            shared.iter().map(|&(i, _)| markers.vec3(row, i)).filter(|p| p.norm_sq().is_finite()).collect();
        (seen.len() >= 3).then(|| extent(&seen))
    });
    let clouds: Vec<Vec3<f64>> = clouds.collect();
    if clouds.is_empty() {
        log.warn(0, "", "fewer than three markers are visible in all frames checked", "");
        return;
    }
    let mean = clouds.iter().fold(Vec3::zero(), |a, b| a + *b) * (1.0 / clouds.len() as f64);
    let model_size = extent(&own);
    let ratio = mean.norm() / model_size.norm();
    // Factors of 1000, within what poses and subjects differ by.
    let looks_like = [
        (1000.0, "millimetres", "metres"),
        (100.0, "centimetres", "metres"),
        (1e-3, "metres", "millimetres"),
    ];
    if let Some((_, are, read)) =
        looks_like.iter().find(|(f, _, _)| elementary::ln(ratio / f).abs() < elementary::ln(3f64))
    {
        let message = format!(
            "the markers are {ratio:.3} times as far apart as on the model: they look like {are} read as {read}"
        );
        log.warn(0, "", message, "correct the unit in the header of the file");
        return;
    }

    // A standing model is tallest along y; data that are tallest along z were recorded with z up.
    let is_tall = model_size.y > 1.5 * model_size.x.max(model_size.z);
    if is_tall && mean.z > 1.5 * mean.y {
        let hint = "rotate the data first: soleus convert IN OUT --rotate x:-90";
        log.warn(
            0,
            "",
            "the markers extend most along z, the model along y: the data seem to have z up",
            hint,
        );
    }
}

/// How far points spread along x, y and z: standard deviations.
fn extent(points: &[Vec3<f64>]) -> Vec3<f64> {
    let n = points.len() as f64;
    let mean = points.iter().fold(Vec3::zero(), |a, p| a + *p) * (1.0 / n);
    let sum = points.iter().fold(Vec3::zero(), |a, p| a + (*p - mean).mul_elem(*p - mean));
    Vec3::from_array(sum.to_array().map(|x| (x / n).sqrt()))
}

/// Checks measured forces: plates without data, downward forces, and sums that do not fit the weight of the model.
pub fn check_ground_reactions(model: &Model, forces: &[Force], log: &mut Diagnostics) {
    let weight = model.total_mass() * model.gravity.norm();
    if weight == 0.0 {
        return;
    }
    let up = model.gravity * (-1.0 / model.gravity.norm());
    let mut peak: f64 = 0.0;
    for f in forces.iter().filter(|f| f.enabled) {
        let ForceKind::ExternalForce(ExternalForce { force: Some(columns), force_expressed_in_body, .. }) =
            &f.kind
        else {
            continue;
        };
        let is_ground = model.frames.get(force_expressed_in_body.0).is_some_and(|f| f.body.0 == 0);
        let (mut sum, mut loaded) = (0.0, 0usize);
        for row in 0..columns[0].len() {
            let v = Vec3::from_array([columns[0][row], columns[1][row], columns[2][row]]);
            if v.norm() > UNLOADED_N {
                sum += v.dot(up);
                loaded += 1;
                peak = peak.max(v.norm());
            }
        }
        if loaded == 0 {
            let message = format!("external force `{}` is zero throughout: the plate has no data", f.name);
            log.warn(0, "", message, "check its identifiers, and that the plate was stepped on");
        } else if is_ground && sum < 0.0 {
            let message = format!(
                "external force `{}` points down: its mean vertical component is {:.0} N while loaded",
                f.name,
                sum / loaded as f64
            );
            let hint = "the data may be the force on the plate rather than on the foot: change the sign, or rotate the axes";
            log.warn(0, "", message, hint);
        }
    }
    if peak > 0.0 && !(0.1..=12.0).contains(&(peak / weight)) {
        let message = format!(
            "the largest external force is {peak:.0} N, {:.2} times the weight of the model",
            peak / weight
        );
        log.warn(0, "", message, "check the unit of the forces and the mass of the model");
    }
}

/// Residual forces and moments at the root.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals {
    /// RMS of the force, N.
    pub force_rms: f64,
    /// Maximum force, N.
    pub force_peak: f64,
    /// RMS of the moment, N m.
    pub moment_rms: f64,
    /// Maximum moment, N m.
    pub moment_peak: f64,
    /// Time of the maximum force, s.
    pub worst_time: f64,
    /// Weight of the model, N.
    pub weight: f64,
}

/// Residual forces above this part of the weight (RMS) are worth a warning. Trials that were not made consistent have five percent or so.
const LARGE_FORCE: f64 = 0.1;
/// Residual moments above the weight times this are, m: as if it acted so far from where it does. Three centimeters are usual.
const LARGE_ARM_M: f64 = 0.1;

impl Residuals {
    /// Warns if the residuals are large, with possible reasons.
    pub fn check(&self, log: &mut Diagnostics) {
        if self.force_rms > LARGE_FORCE * self.weight {
            let part = 100.0 * self.force_rms / self.weight;
            let message = format!(
                "the residual force is {part:.0} % of the weight, largest at {:.3} s",
                self.worst_time
            );
            let hint = "check that loads and motion are from the same trial and synchronised, that every plate stepped on is included, the axes, and the mass of the model";
            log.warn(0, "", message, hint);
        }
        if self.moment_rms > LARGE_ARM_M * self.weight && self.weight > 0.0 {
            let away = length(self.moment_rms / self.weight);
            let message = format!(
                "the residual moment is {:.0} N m (RMS), as if the loads were applied {away} from their true points",
                self.moment_rms
            );
            let hint = "check the unit, axes and origin of the centres of pressure, and that motion and loads are synchronised";
            log.warn(0, "", message, hint);
        }
    }
}

/// A length (m) as it is said.
fn length(d: f64) -> String {
    if d < 1.0 { format!("{:.0} cm", 100.0 * d) } else { format!("{d:.1} m") }
}

/// Residuals in a table of generalized forces (`<coordinate>_force`, `<coordinate>_moment`); `None` if no body moves
/// freely in ground.
pub fn residuals(model: &Model, generalized_forces: &Table) -> Option<Residuals> {
    let is_root = |j: &&soleus_model::joint::Joint| {
        model.frames.get(j.parent.0).is_some_and(|f| f.body.0 == 0) && j.coordinates.len() >= 3
    };
    let root = model.joints.iter().find(is_root)?;
    let (mut forces, mut moments) = (Vec::new(), Vec::new());
    for id in &root.coordinates {
        let name = &model.coordinates[id.0].name;
        let column = |end: &str| generalized_forces.column(&format!("{name}_{end}"));
        forces.extend(column("force"));
        moments.extend(column("moment"));
    }
    let rows = generalized_forces.rows();
    if rows == 0 || forces.is_empty() {
        return None;
    }
    let size = |columns: &[&[f64]], row: usize| columns.iter().map(|c| c[row] * c[row]).sum::<f64>().sqrt();
    let mut r = Residuals { weight: model.total_mass() * model.gravity.norm(), ..Residuals::default() };
    for row in 0..rows {
        let (f, m) = (size(&forces, row), size(&moments, row));
        r.force_rms += f * f / rows as f64;
        r.moment_rms += m * m / rows as f64;
        if f > r.force_peak {
            r.worst_time = generalized_forces.times()[row];
        }
        r.force_peak = r.force_peak.max(f);
        r.moment_peak = r.moment_peak.max(m);
    }
    (r.force_rms, r.moment_rms) = (r.force_rms.sqrt(), r.moment_rms.sqrt());
    Some(r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chain;
    use soleus_math::table::Element;
    use soleus_model::joint::JointKind::{Free, Pin};

    fn times(t: Vec<f64>) -> Table {
        let y = vec![0.0; t.len()];
        Table::new(Element::Scalar, vec!["a".into()], t, vec![y]).unwrap()
    }

    fn findings(check: impl FnOnce(&mut Diagnostics)) -> String {
        let mut log = Diagnostics::new("data");
        check(&mut log);
        log.list.iter().map(|d| format!("{d}\n")).collect()
    }

    #[test]
    fn analytic_times_out_of_order_and_uneven() {
        let of = |t: Vec<f64>| findings(|log| check_times(&times(t), log));
        assert_eq!(of(vec![0.0, 0.01, 0.02, 0.03]), "");
        assert_eq!(of(vec![0.0, 0.017, 0.033, 0.05, 0.067]), "", "times with three decimals");
        assert!(of(vec![0.0, 0.01, 0.005]).contains("error: time 0.005 s in row 3"));
        assert!(of(vec![0.0, 0.01, 0.01]).contains("error"));
        assert!(of(vec![0.0, 0.01, 0.02, 0.09, 0.10]).contains("a gap of 0.0700 s before 0.09 s"));
        let mut t = times((0..100).map(|i| 0.01 * f64::from(i)).collect());
        t.set_metadata("DataRate", "100");
        assert_eq!(findings(|log| check_times(&t, log)), "");
        t.set_metadata("DataRate", "250");
        assert!(findings(|log| check_times(&t, log)).contains("header gives 250"));
    }

    #[test]
    fn analytic_cutoffs_that_filter_nothing() {
        let t: Vec<f64> = (0..50).map(|i| 0.01 * i as f64).collect();
        assert_eq!(findings(|log| check_cutoff(&t, 6.0, log)), "");
        assert!(findings(|log| check_cutoff(&t, 60.0, log)).contains("49.0 Hz is used"));
    }

    #[test]
    fn analytic_units_of_a_motion() {
        let mut model = chain(vec![(Free, 6), (Pin, 1)]);
        for c in model.coordinates.iter_mut().filter(|c| c.motion_type == MotionType::Translational) {
            c.range = [-1.0, 2.0];
        }
        let t: Vec<f64> = (0..100).map(|i| 0.01 * f64::from(i)).collect();
        let of = |degrees: bool, angle: f64, length: f64| {
            let labels = model.coordinates.iter().map(|c| format!("{}/value", c.path)).collect();
            let column = |c: &Coordinate| {
                let scale = if c.motion_type == MotionType::Rotational { angle } else { length };
                t.iter().map(|t| scale * (0.6 + 0.4 * (6.0 * t).sin())).collect()
            };
            let columns = model.coordinates.iter().map(column).collect();
            let mut motion = Table::new(Element::Scalar, labels, t.clone(), columns).unwrap();
            motion.in_degrees = Some(degrees);
            findings(|log| check_units(&model, &motion, log))
        };
        assert_eq!(of(false, 1.2, 0.9), "");
        assert_eq!(of(true, 60.0, 0.9), "");
        // Quiet standing, in degrees.
        assert_eq!(of(true, 1.0, 0.9), "");
        assert!(of(true, 1.5, 0.9).contains("these look like radians"), "{}", of(true, 1.5, 0.9));
        assert!(of(false, 60.0, 0.9).contains("these look like degrees"));
        assert!(of(true, 60.0, 950.0).contains("these look like millimetres"));
        // A long way in a laboratory without end, in meters.
        assert_eq!(of(true, 60.0, 30.0), "");
    }

    #[test]
    fn analytic_units_axes_and_names() {
        let mut model = chain(vec![(Free, 6), (Pin, 1)]);
        // Markers one below the other, as on somebody who stands.
        let frame = model.bodies[1].frame;
        for (k, m) in model.markers.iter_mut().enumerate() {
            (m.frame, m.location) = (frame, soleus_math::vec3(0.05, -0.4 * k as f64, 0.02));
        }
        let system = System::compile(&model).unwrap();
        let mut ws = system.workspace();
        system.compute_kinematics(&system.default_state, &mut ws);
        let places: Vec<[f64; 3]> =
            system.markers.iter().map(|m| (ws.kin.X_GB[m.body] * m.p_BS).to_array()).collect();
        let labels: Vec<String> = model.markers.iter().map(|m| m.name.clone()).collect();
        let seen = |labels: Vec<String>, f: &dyn Fn([f64; 3]) -> [f64; 3]| {
            let columns = places.iter().flat_map(|p| f(*p)).map(|x| vec![x]).collect();
            let table = Table::new(Element::Vec(3), labels, vec![0.0], columns).unwrap();
            findings(|log| check_markers(&model, &system, &table, log))
        };
        assert_eq!(seen(labels.clone(), &|p| p), "");
        assert!(seen(labels.clone(), &|p| p.map(|x| 1e3 * x)).contains("millimetres read as metres"));
        assert!(seen(labels.clone(), &|p| p.map(|x| 1e-3 * x)).contains("metres read as millimetres"));
        assert!(seen(labels.clone(), &|[x, y, z]| [x, -z, y]).contains("seem to have z up"));
        let other = labels.iter().map(|l| format!("M{l}")).collect();
        assert!(seen(other, &|p| p).contains("error: the data and the model have no marker in common"));
    }

    #[test]
    fn analytic_plates_that_pull_or_are_silent() {
        let model = chain(vec![(Free, 6), (Pin, 1)]);
        let weight = model.total_mass() * 9.80665;
        let plate = |fy: f64| {
            vec![Force {
                name: "right".into(),
                path: "/loads/right".into(),
                class: "ExternalForce".into(),
                enabled: true,
                line_of_action: None,
                kind: ForceKind::ExternalForce(ExternalForce {
                    applied_to_body: model.bodies[1].frame,
                    applied_to_body_label: "b0".into(),
                    force_expressed_in_body: model.bodies[0].frame,
                    point_expressed_in_body: model.bodies[0].frame,
                    time: vec![0.0, 1.0],
                    force: Some([vec![0.0; 2], vec![fy; 2], vec![0.0; 2]]),
                    point: None,
                    torque: None,
                }),
            }]
        };
        let of = |fy: f64| findings(|log| check_ground_reactions(&model, &plate(fy), log));
        assert_eq!(of(weight.max(30.0)), "");
        assert!(of(0.0).contains("has no data"));
        assert!(of(-weight.max(30.0)).contains("points down"));
        assert!(of(100.0 * weight.max(30.0)).contains("times the weight"));
    }

    #[test]
    fn analytic_residuals_of_the_root() {
        let model = chain(vec![(Free, 6), (Pin, 1)]);
        let names: Vec<String> =
            ["q0_3_force", "q0_4_force", "q0_0_moment", "q1_0_moment"].map(String::from).to_vec();
        let columns = vec![vec![3.0, 0.0], vec![4.0, 0.0], vec![0.0, 2.0], vec![9.0, 9.0]];
        let table = Table::new(Element::Scalar, names, vec![0.0, 1.0], columns).unwrap();
        let r = residuals(&model, &table).unwrap();
        assert!((r.force_peak - 5.0).abs() < 1e-15 && (r.force_rms - 12.5f64.sqrt()).abs() < 1e-15);
        assert!((r.moment_peak - 2.0).abs() < 1e-15 && r.worst_time == 0.0);
        let of = |force: f64, arm: f64| {
            let r = Residuals { force_rms: force * 700.0, moment_rms: arm * 700.0, weight: 700.0, ..r };
            findings(|log| r.check(log))
        };
        assert_eq!(of(0.05, 0.03), "");
        assert!(of(0.19, 0.03).contains("19 % of the weight"), "{}", of(0.19, 0.03));
        assert!(of(0.05, 0.23).contains("applied 23 cm from"), "{}", of(0.05, 0.23));
    }
}

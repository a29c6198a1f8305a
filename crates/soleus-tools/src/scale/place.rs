//! Static pose and marker placement.

use super::raised_arms::RaisedArms;
use super::unfollowed::Unfollowed;
use super::{Average, Error, build, for_poses};
use crate::inverse_kinematics::{Fit, InverseKinematics, Settings, Tasks};
use soleus_dynamics::System;
use soleus_dynamics::kinematics::Resolve;
use soleus_math::Vec3;
use soleus_math::table::{Element, Table};
use soleus_model::marker_set::{move_marker, retain_markers};
use soleus_model::{Document, Model};

/// A model with placed markers.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The document to write.
    pub document: Document,
    /// The built model.
    pub model: Model,
    /// The static pose: all states, rad and m, one row.
    pub pose: Table,
    /// Fit of the pose to the markers, before they were moved.
    pub fit: Fit,
    /// Names of the tracked markers, and their distances, m.
    pub distances: Vec<(String, f64)>,
    /// Moved markers, and their displacements, m.
    pub moved: Vec<(String, f64)>,
    /// Markers that were removed from the model because they are not in the data.
    pub removed: Vec<String>,
    /// Markers that were not moved because they are not visible in the time range.
    pub not_seen: Vec<String>,
    /// Markers that moved more than the limit during the static trial, and how far, m.
    pub restless: Vec<(String, f64)>,
}

/// Solves for the static pose (`markers` in meters, averaged over `range`, s) and, if `moving`, moves every marker that
/// is not `fixed` to its measured position. Markers that are not in the data are removed from the model, as in OpenSim.
///
/// The pose is solved for the mean over the frames within the range, and markers are moved to the mean from the last
/// frame at or before its start to the first at or after its end: OpenSim also uses these two different averages.
pub fn place_markers(
    document: &Document,
    markers: &Table,
    range: [f64; 2],
    tasks: &Tasks,
    moving: bool,
    max_movement: Option<f64>,
) -> Result<Placed, Error> {
    let times = markers.times();
    let range = match (times.first(), times.last()) {
        (Some(&first), Some(&last)) => [range[0].max(first), range[1].min(last)],
        _ => range,
    };
    let (mut document, removed, model, system) = with_markers_of(document, markers)?;

    let mut ik = InverseKinematics::new(&model, &system, markers.labels(), tasks, Settings::default())?;
    let fit = ik.solve_frame(range[0], &Average::Within.places(markers, range)?);
    let distances = ik.marker_names().iter().cloned().zip(ik.marker_errors()).collect();

    let (mut moved, mut not_seen) = (Vec::new(), Vec::new());
    if moving {
        let places = Average::Around.places(markers, range)?;
        for (m, station) in model.markers.iter().zip(&system.markers) {
            let Some(i) = markers.index_of(&m.name).filter(|_| !m.fixed) else { continue };
            let p = places[i];
            if !p.norm_sq().is_finite() {
                not_seen.push(m.name.clone());
                continue;
            }
            let X_GB = ik.pose_of_node(station.body);
            let X_BF = system.tree.frame(m.frame).X_BF;
            let new = (X_GB * X_BF).inverse() * p;
            moved.push((m.name.clone(), (new - m.location).norm()));
            move_marker(&mut document, &m.name, new);
        }
    }
    let restless = max_movement.map_or(Ok(Vec::new()), |limit| restless(markers, range, limit))?;
    let pose = states(&model, range[0], ik.coordinates())?;
    let model = build(&document)?;
    Ok(Placed { document, model, pose, fit, distances, moved, removed, not_seen, restless })
}

/// The same for a trial in which the subject may move, with a model that may not be able to follow: the pose is found
/// in one frame (the mean) or in several, and every marker that is not `fixed` is moved to its mean position on its
/// body, without displacements that the model cannot follow, and with shoulders of raised arms where they would be with
/// hanging arms. Markers in `displaced` are moved by a fraction of the distance. Also returns the number of frames.
pub fn place_markers_in_motion(
    document: &Document,
    markers: &Table,
    range: [f64; 2],
    tasks: &Tasks,
    displaced: &[(String, f64)],
    max_movement: Option<f64>,
) -> Result<(Placed, usize), Error> {
    let mut frames = super::sizes::frames(markers, range)?;
    let time = markers.times().first().map_or(range[0], |t| range[0].max(*t));
    let (mut document, removed, model, system) = with_markers_of(document, markers)?;
    let raised = RaisedArms::new(&model, markers, &frames);
    frames.iter_mut().for_each(|f| raised.lower(f));
    let mut ik = InverseKinematics::new(&model, &system, markers.labels(), tasks, Settings::default())?;

    // Places on the bodies, summed over the frames in which a marker is seen; the worst frame is the one to tell of.
    let mut sums = vec![(Vec3::zero(), 0.0); model.markers.len()];
    let mut worst: Option<(Fit, Table)> = None;
    let mut distances: Vec<(String, f64)> = Vec::new();
    for places in &frames {
        let fit = ik.solve_frame(time, places);
        let unfollowed = Unfollowed::new(&model, &system, ik.coordinates());
        for node in 0..system.tree.nodes.len() {
            // Markers of the node that are seen: number, frame in ground, place on the model, distance from it.
            let on = model.markers.iter().zip(&system.markers).enumerate().filter_map(|(i, (m, station))| {
                let p = markers.index_of(&m.name).map(|c| places[c]).filter(|p| p.norm_sq().is_finite())?;
                let X_GB = ik.pose_of_node(station.body);
                let place = X_GB * station.p_BS;
                (station.body == node).then(|| (i, X_GB * system.tree.frame(m.frame).X_BF, place, p - place))
            });
            let on: Vec<_> = on.collect();
            let weight = |i: usize| {
                let task = tasks.markers.iter().find(|t| t.name == model.markers[i].name);
                task.map_or(if tasks.markers.is_empty() { 1.0 } else { 0.0 }, |t| t.weight)
            };
            let list: Vec<_> = on.iter().map(|(i, _, place, e)| (weight(*i), *place, *e)).collect();
            for ((i, X_GF, place, e), d) in on.iter().zip(unfollowed.displacements(node, &list)) {
                let sum = &mut sums[*i];
                *sum = (sum.0 + X_GF.inverse() * (*place + *e - d), sum.1 + 1.0);
            }
        }
        if worst.as_ref().is_none_or(|(other, _)| fit.rms > other.rms) {
            distances = ik.marker_names().iter().cloned().zip(ik.marker_errors()).collect();
            worst = Some((fit, states(&model, time, ik.coordinates())?));
        }
    }
    let (mut moved, mut not_seen) = (Vec::new(), Vec::new());
    for (m, (sum, count)) in model.markers.iter().zip(&sums).filter(|(m, _)| !m.fixed) {
        if *count == 0.0 {
            not_seen.push(m.name.clone());
            continue;
        }
        let part = displaced.iter().find(|(name, _)| *name == m.name).map_or(1.0, |(_, part)| *part);
        let new = m.location + (*sum * (1.0 / count) - m.location) * part;
        moved.push((m.name.clone(), (new - m.location).norm()));
        move_marker(&mut document, &m.name, new);
    }
    let restless = max_movement.map_or(Ok(Vec::new()), |limit| restless(markers, range, limit))?;
    let model = build(&document)?;
    let Some((fit, pose)) = worst else {
        return Err(Error::NotAModel("no marker is visible in any frame".to_string()));
    };
    Ok((Placed { document, model, pose, fit, distances, moved, removed, not_seen, restless }, frames.len()))
}

/// The document without markers that the data lack, their names, and the model as document and system for poses.
fn with_markers_of(
    document: &Document,
    markers: &Table,
) -> Result<(Document, Vec<String>, Model, System), Error> {
    let mut document = document.clone();
    let known = |name: &str| markers.labels().iter().any(|l| l == name);
    let removed = retain_markers(&mut document, known);
    let model = build(&document)?;
    let system = System::compile(&for_poses(&model, |_| false))?;
    Ok((document, removed, model, system))
}

/// Markers whose place varies by more than `limit`, m, along x, y or z.
fn restless(markers: &Table, range: [f64; 2], limit: f64) -> Result<Vec<(String, f64)>, Error> {
    let rows = Average::Around.rows(markers.times(), range)?;
    let travel = |i: usize| {
        let list = rows.clone().map(|r| markers.vec3(r, i)).filter(|p| p.norm_sq().is_finite());
        let (lo, hi) =
            list.fold(([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]), |(mut lo, mut hi), p: Vec3<f64>| {
                for (k, x) in p.to_array().into_iter().enumerate() {
                    lo[k] = lo[k].min(x);
                    hi[k] = hi[k].max(x);
                }
                (lo, hi)
            });
        (0..3).map(|k| hi[k] - lo[k]).fold(0.0, f64::max)
    };
    let all = markers.labels().iter().enumerate().map(|(i, name)| (name.clone(), travel(i)));
    Ok(all.filter(|(_, d)| *d > limit).collect())
}

/// All states of the model in one row: the pose, speeds zero, the rest at their defaults.
fn states(model: &Model, time: f64, q: &[f64]) -> Result<Table, Error> {
    let system = System::compile(&for_poses(model, |f| f.line_of_action.is_some()))?;
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
        labels.extend([format!("{}/value", c.path), format!("{}/speed", c.path)]);
        columns.extend([vec![q.get(m).copied().unwrap_or(c.default_value)], vec![0.0]]);
    }
    labels.extend(system.aux_names.iter().cloned());
    columns.extend(system.default_state.z.iter().map(|z| vec![*z]));
    let mut table = Table::new(Element::Scalar, labels, vec![time], columns)
        .map_err(|e| Error::NotAModel(e.to_string()))?;
    table.name = "static pose".to_string();
    table.in_degrees = Some(false);
    Ok(table)
}

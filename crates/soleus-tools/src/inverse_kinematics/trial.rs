//! Solves a whole trial: from a table of markers to tables of coordinates and errors.

use super::chunks::{Chunks, Frame, solve_chunks};
use super::misplaced::{Misplaced, MisplacedMarkers};
use super::{Error, InverseKinematics, Settings, Tasks};
use soleus_dynamics::System;
use soleus_math::table::{Element, Table};
use soleus_model::{Model, angles};

/// The solved motion.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Coordinates in the order of the model; rotations in degrees.
    pub coordinates: Table,
    /// Sum of squares (m²), RMS and maximum distance (m) of the markers per frame.
    pub marker_errors: Table,
    /// Distance of each marker per frame, m; NaN where it is missing.
    pub marker_distances: Table,
    /// Positions of the model's markers in ground, m, `<marker>_tx`, `_ty`, `_tz`.
    pub marker_locations: Table,
    /// Weighted sum of squares Σ wᵢ |rᵢ|² per frame, m².
    pub weighted_squared_error: Vec<f64>,
    /// Quality of the result.
    pub summary: Summary,
}

/// Quality of a solved motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of frames.
    pub frames: usize,
    /// Total number of Newton steps.
    pub iterations: usize,
    /// Times (s) of frames that did not converge.
    pub not_converged: Vec<f64>,
    /// RMS distance over all frames and visible markers, m.
    pub rms: f64,
    /// The marker with the largest RMS distance.
    pub worst_marker: Option<WorstMarker>,
    /// Largest distance: marker, time (s), distance (m).
    pub worst: Option<(String, f64, f64)>,
    /// Time (s) and RMS distance (m) of the worst frame.
    pub worst_frame: Option<(f64, f64)>,
    /// Number of frames in which each tracked marker is missing, without markers that are always visible.
    pub gaps: Vec<(String, usize)>,
    /// Markers misplaced in some frames: ignored there, or swapped back.
    pub misplaced: Vec<Misplaced>,
    /// Markers in data and tasks that are not in the model.
    pub unknown: Vec<String>,
    /// Markers in the tasks that are not in the data.
    pub absent: Vec<String>,
}

/// A marker and its RMS distance.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstMarker {
    /// Name.
    pub name: String,
    /// RMS distance, m.
    pub rms: f64,
}

/// Part of the markers of the best frame that a frame has to show; those of a few markers do not tell the pose of a whole body.
const IN_VIEW_PART: f64 = 0.5;

/// First and last time at which the subject is in view, s: at least half as many markers of the model are visible as in
/// the best frame. `None` if no marker is visible.
pub fn in_view(model: &Model, markers: &Table) -> Option<[f64; 2]> {
    let columns: Vec<usize> = model.markers.iter().filter_map(|m| markers.index_of(&m.name)).collect();
    let seen = |r: usize| columns.iter().filter(|&&c| markers.vec3(r, c).norm_sq().is_finite()).count();
    let counts: Vec<usize> = (0..markers.rows()).map(seen).collect();
    let most = counts.iter().copied().max().filter(|n| *n > 0)?;
    let is_in_view = |n: &usize| *n as f64 >= IN_VIEW_PART * most as f64;
    let [first, last] = [counts.iter().position(is_in_view)?, counts.iter().rposition(is_in_view)?];
    Some([markers.times()[first], markers.times()[last]])
}

/// Solves the rows of `markers` (a table of vectors in meters) in the time `range` (s), rounded to the nearest rows as
/// in OpenSim.
pub fn solve_trial(
    model: &Model,
    system: &System,
    markers: &Table,
    tasks: &Tasks,
    settings: Settings,
    range: [f64; 2],
) -> Result<Trial, Error> {
    solve_trial_in_chunks(model, system, markers, tasks, settings, range, Chunks::default())
}

/// As [`solve_trial`], with the rows split into chunks that are solved in parallel. Results depend only on the number
/// of chunks, not on the number of threads, and agree with those of a single chunk to the accuracy of each frame.
pub fn solve_trial_in_chunks(
    model: &Model,
    system: &System,
    markers: &Table,
    tasks: &Tasks,
    settings: Settings,
    range: [f64; 2],
    chunks: Chunks<'_>,
) -> Result<Trial, Error> {
    if markers.element().components() != 3 {
        return Err(Error::NotMarkers { reason: "the columns are not x, y, z of markers".to_string() });
    }
    let rows = frames(markers.times(), range)?;
    let ik = InverseKinematics::new(model, system, markers.labels(), tasks, settings)?;
    let nm = ik.marker_names().len();
    let solved = solve_chunks(&ik, markers, rows.clone(), chunks);
    if solved.len() < rows.len() {
        return Err(Error::Stopped);
    }

    let mut columns = vec![Vec::with_capacity(rows.len()); model.coordinates.len()];
    let mut errors: Vec<Vec<f64>> = (0..3).map(|_| Vec::with_capacity(rows.len())).collect();
    let mut distances = vec![Vec::with_capacity(rows.len()); nm];
    let mut places = vec![Vec::with_capacity(rows.len()); 3 * nm];
    let mut weighted = Vec::with_capacity(rows.len());
    let mut tally = Tally::new(nm);
    for (frame, row) in solved.iter().zip(rows.clone()) {
        push_coordinates(model, system, &frame.q, &mut columns);
        let fit = &frame.fit;
        for (column, x) in errors.iter_mut().zip([fit.squared_error, fit.rms, fit.max]) {
            column.push(x);
        }
        for (column, x) in distances.iter_mut().zip(&frame.distances) {
            column.push(*x);
        }
        for (three, p) in places.chunks_exact_mut(3).zip(&frame.places) {
            for (column, x) in three.iter_mut().zip(p.to_array()) {
                column.push(x);
            }
        }
        weighted.push(fit.weighted_squared_error);
        tally.add(markers.times()[row], row, frame);
    }
    check_fit(&ik, &solved)?;

    let times = markers.times()[rows].to_vec();
    let names = ik.marker_names();
    let not_markers = |e: soleus_math::table::TableError| Error::NotMarkers { reason: e.to_string() };
    let table = |name: &str, labels, columns| {
        let mut t = Table::new(Element::Scalar, labels, times.clone(), columns).map_err(not_markers)?;
        t.name = name.to_string();
        t.in_degrees = Some(false);
        Ok::<_, Error>(t)
    };
    let labels = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let mut coordinates = table("Coordinates", labels, columns)?;
    coordinates.in_degrees = Some(true);
    let labels = ["total_squared_error", "marker_error_RMS", "marker_error_max"].map(str::to_string).to_vec();
    let marker_errors = table("Model Marker Errors from IK", labels, errors)?;
    let marker_distances = table("Marker distances", names.to_vec(), distances)?;
    let labels = names.iter().flat_map(|m| ["_tx", "_ty", "_tz"].map(|x| format!("{m}{x}"))).collect();
    let marker_locations = table("Model Marker Locations from IK", labels, places)?;

    let mut summary = tally.summary(names, &times);
    let has = |t: &str| model.markers.iter().any(|m| m.name == t);
    for t in &tasks.markers {
        if !markers.labels().contains(&t.name) {
            summary.absent.push(t.name.clone());
        } else if !has(&t.name) {
            summary.unknown.push(t.name.clone());
        }
    }
    Ok(Trial {
        coordinates,
        marker_errors,
        marker_distances,
        marker_locations,
        weighted_squared_error: weighted,
        summary,
    })
}

/// Converts the pose `q`, by mobility, to the model's coordinates in their order; rotations in degrees.
pub fn coordinates_in_degrees<'a>(
    model: &'a Model,
    system: &'a System,
    q: &'a [f64],
) -> impl Iterator<Item = f64> + 'a {
    model
        .coordinates
        .iter()
        .zip(&system.tree.mobility_of_coordinate)
        .map(|(c, &m)| q.get(m).copied().unwrap_or(c.default_value) * angles::degrees_of(c))
}

/// Appends the pose to the columns of the model's coordinates, rotations in degrees.
pub(super) fn push_coordinates(model: &Model, system: &System, q: &[f64], columns: &mut [Vec<f64>]) {
    for (column, x) in columns.iter_mut().zip(coordinates_in_degrees(model, system, q)) {
        column.push(x);
    }
}

/// Markers farther from the model than this part of their spread, RMS with weights, are not met by any pose: 15 cm on an adult. A
/// model of another size than the subject comes to half of it.
const NOT_MET: f64 = 0.25;

/// Refuses a motion whose markers are nowhere near a model that may move freely; names the worst.
fn check_fit(ik: &InverseKinematics, frames: &[Frame]) -> Result<(), Error> {
    if !ik.is_free() {
        return Ok(());
    }
    let (mut sum, mut count) = (0.0, 0.0);
    let mut each = vec![(0.0, 0usize); ik.marker_names().len()];
    for f in frames {
        for ((e, w), (squares, n)) in f.distances.iter().zip(ik.marker_weights()).zip(&mut each) {
            if e.is_finite() && w > 0.0 {
                sum += w * e * e;
                count += w;
                *squares += e * e;
                *n += 1;
            }
        }
    }
    let (rms, spread) = ((sum / f64::max(count, f64::MIN_POSITIVE)).sqrt(), ik.spread());
    if !(rms > NOT_MET * spread) || spread == 0.0 {
        return Ok(());
    }
    let named = ik.marker_names().iter().cloned();
    let mut worst: Vec<(String, f64)> =
        named.zip(each.iter().map(|(s, n)| (s / (*n).max(1) as f64).sqrt())).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1));
    worst.truncate(5);
    Err(Error::NotMet { rms, spread, worst })
}

/// Refuses a range of time with an end that is not a number.
pub(super) fn check_range([first, last]: [f64; 2]) -> Result<(), Error> {
    if first.is_nan() || last.is_nan() { Err(Error::NoRange { first, last }) } else { Ok(()) }
}

/// The rows nearest to the ends of a range of time.
pub(super) fn frames(times: &[f64], range: [f64; 2]) -> Result<std::ops::Range<usize>, Error> {
    check_range(range)?;
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Err(Error::NotMarkers { reason: "the table has no rows".to_string() });
    };
    let (start, end) = (first.max(range[0]), last.min(range[1]));
    if !(start <= end) {
        let [wanted_first, wanted_last] = range;
        return Err(Error::NoFrames { first, last, wanted_first, wanted_last });
    }
    let nearest = |t: f64| {
        let after = times.partition_point(|&x| x < t);
        match after {
            0 => 0,
            i if i == times.len() => i - 1,
            i if times[i] - t <= t - times[i - 1] => i,
            i => i - 1,
        }
    };
    Ok(nearest(start)..nearest(end) + 1)
}

/// Sums over the frames.
struct Tally {
    squares: Vec<f64>,
    seen: Vec<usize>,
    iterations: usize,
    not_converged: Vec<f64>,
    worst: Option<(usize, f64, f64)>,
    worst_frame: Option<(f64, f64)>,
    /// How often a marker was left out.
    left_out: Vec<usize>,
    misplaced: MisplacedMarkers,
}

impl Tally {
    fn new(markers: usize) -> Self {
        Tally {
            squares: vec![0.0; markers],
            seen: vec![0; markers],
            iterations: 0,
            not_converged: Vec::new(),
            worst: None,
            worst_frame: None,
            left_out: vec![0; markers],
            misplaced: MisplacedMarkers::default(),
        }
    }

    fn add(&mut self, time: f64, row: usize, frame: &Frame) {
        let fit = &frame.fit;
        frame.left_out.iter().for_each(|&i| self.left_out[i] += 1);
        self.misplaced.add(time, row, &frame.left_out, &frame.exchanged);
        self.iterations += fit.iterations;
        if !fit.converged {
            self.not_converged.push(time);
        }
        for (i, e) in frame.distances.iter().enumerate().filter(|(_, e)| !e.is_nan()) {
            self.squares[i] += e * e;
            self.seen[i] += 1;
        }
        if let Some(marker) = fit.worst
            && self.worst.is_none_or(|w| fit.max > w.2)
        {
            self.worst = Some((marker, time, fit.max));
        }
        if self.worst_frame.is_none_or(|w| fit.rms > w.1) {
            self.worst_frame = Some((time, fit.rms));
        }
    }

    fn summary(self, names: &[String], times: &[f64]) -> Summary {
        let frames = times.len();
        let count: usize = self.seen.iter().sum();
        let mut worst_marker: Option<WorstMarker> = None;
        for ((name, &s), &n) in names.iter().zip(&self.squares).zip(&self.seen) {
            let rms = (s / n.max(1) as f64).sqrt();
            if worst_marker.as_ref().is_none_or(|w| rms > w.rms) {
                worst_marker = Some(WorstMarker { name: name.clone(), rms });
            }
        }
        let missing = self.seen.iter().zip(&self.left_out).map(|(n, out)| frames - n - out);
        let gaps = names.iter().cloned().zip(missing).filter(|(_, n)| *n > 0).collect();
        Summary {
            frames,
            iterations: self.iterations,
            not_converged: self.not_converged,
            rms: (self.squares.iter().sum::<f64>() / count.max(1) as f64).sqrt(),
            worst_marker,
            worst: self.worst.map(|(m, t, e)| (names[m].clone(), t, e)),
            worst_frame: self.worst_frame,
            gaps,
            misplaced: self.misplaced.named(names),
            unknown: Vec::new(),
            absent: Vec::new(),
        }
    }
}

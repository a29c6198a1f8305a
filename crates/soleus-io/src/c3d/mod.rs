//! C3D: markers, analog channels, force plates and events of a motion capture trial.
//!
//! Source: The C3D File Format User Guide (Motion Lab Systems, 2008). A file is a header of 512 bytes, parameters in
//! named groups, and frames: the points, then the analog samples of that frame. Number formats are those of Intel, DEC
//! or SGI machines; data are scaled 16-bit integers, or floats.

mod bytes;
mod data;
mod force_plate;
mod header;
mod parameters;

pub use force_plate::{ForcePlate, PlateForces};
pub use parameters::{Parameter, Parameters, Value};

use data::Layout;
use header::Header;
use soleus_math::table::{Element, Table};
use soleus_model::Diagnostics;
use std::collections::HashSet;

/// Groups of points that are not markers: names of the parameters that list them.
const NOT_MARKERS: [&str; 5] = ["ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS"];

/// A motion capture trial.
#[derive(Clone, Debug, PartialEq)]
pub struct C3d {
    /// All parameters.
    pub parameters: Parameters,
    /// Number of the first frame; a trial counts from 1.
    pub first_frame: u32,
    /// Frames per second (Hz).
    pub point_rate: f64,
    /// Analog samples per second (Hz); 0 without analog channels.
    pub analog_rate: f64,
    /// All points, in the units of the file (`Units` in the metadata). Time 0 is the first frame.
    pub points: Table,
    /// All analog channels, scaled. Time 0 is the first sample.
    pub analog: Table,
    /// Events.
    pub events: Vec<Event>,
}

/// An event during the trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Label: `Foot Strike`.
    pub label: String,
    /// Context: `Left`; empty if not given.
    pub context: String,
    /// Time (s), from frame 1; subtract [`C3d::start_time`] for the time in the tables.
    pub time: f64,
}

/// Reads a C3D file. Returns the readable part together with the diagnostics.
pub fn read(bytes: &[u8], file: &str) -> (Option<C3d>, Diagnostics) {
    let mut log = Diagnostics::new(file);
    let trial = read_trial(bytes, &mut log);
    (trial, log)
}

fn read_trial(bytes: &[u8], log: &mut Diagnostics) -> Option<C3d> {
    let Some((parameters, processor)) = parameters::read(bytes, log) else {
        log.error(0, "", "this is not a C3D file", "the second byte of a C3D file is 0x50");
        return None;
    };
    let header = Header::read(bytes, processor)?;
    let layout = Layout::new(&header, &parameters, bytes, processor, log)?;
    let (points, analog) = layout.read(bytes);

    let point_labels = labels(&parameters, "POINT", layout.points, "point", log);
    let analog_labels = labels(&parameters, "ANALOG", layout.channels, "channel", log);
    let point_times = (0..layout.frames).map(|f| f as f64 / layout.point_rate).collect();
    let step = 1.0 / layout.analog_rate;
    let samples = if layout.channels == 0 { 0 } else { layout.frames * layout.samples_per_frame };
    let analog_times = (0..samples).map(|s| s as f64 * step).collect();

    let mut table = table_or_log(Element::Vec(3), point_labels, point_times, points, log)?;
    table.set_metadata("DataRate", format!("{:.6}", layout.point_rate));
    table.set_metadata("OrigDataStartFrame", layout.first_frame.to_string());
    let units = parameters.text("POINT", "UNITS");
    let has_lengths =
        layout.points > 0 || parameters.counts("FORCE_PLATFORM", "USED").first().is_some_and(|&n| n > 0);
    if units.is_empty() && has_lengths {
        log.warn(0, "POINT:UNITS", "the file does not state its unit of length", "mm is assumed");
    }
    table.set_metadata("Units", units.first().map_or("mm", String::as_str));
    let mut analog = table_or_log(Element::Scalar, analog_labels, analog_times, analog, log)?;
    if layout.channels > 0 {
        analog.set_metadata("DataRate", format!("{:.6}", layout.analog_rate));
    }
    let events = events(&parameters, &header);
    Some(C3d {
        first_frame: layout.first_frame,
        point_rate: layout.point_rate,
        analog_rate: if layout.channels > 0 { layout.analog_rate } else { 0.0 },
        points: table,
        analog,
        events,
        parameters,
    })
}

fn table_or_log(
    element: Element,
    labels: Vec<String>,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
    log: &mut Diagnostics,
) -> Option<Table> {
    match Table::new(element, labels, times, columns) {
        Ok(t) => Some(t),
        Err(e) => {
            log.error(0, "", e.to_string(), "");
            None
        }
    }
}

/// `n` labels of a group; a list holds 255 at most and goes on in `LABELS2`, `LABELS3`, …
fn labels(parameters: &Parameters, group: &str, n: usize, kind: &str, log: &mut Diagnostics) -> Vec<String> {
    let mut all = parameters.continued_text(group, "LABELS");
    all.truncate(n);
    if all.len() < n {
        let message = format!("there are {n} {kind}s but {} labels", all.len());
        log.warn(
            0,
            &format!("{group}:LABELS"),
            message,
            &format!("the others are named `{kind}_` plus their number"),
        );
    }
    for i in all.len()..n {
        all.push(format!("{kind}_{}", i + 1));
    }
    all
}

/// Events of the group EVENT, or of the header where there is no such group.
fn events(parameters: &Parameters, header: &Header) -> Vec<Event> {
    let times = parameters.numbers("EVENT", "TIMES");
    if times.is_empty() {
        let of_header = |(label, time): &(String, f64)| Event {
            label: label.clone(),
            context: String::new(),
            time: *time,
        };
        return header.events.iter().map(of_header).collect();
    }
    let labels = parameters.continued_text("EVENT", "LABELS");
    let contexts = parameters.continued_text("EVENT", "CONTEXTS");
    let used = parameters.numbers("EVENT", "USED").first().map_or(usize::MAX, |&n| n.max(0.0) as usize);
    // Each time is a pair: minutes and seconds.
    let pair = |(i, t): (usize, &[f64])| Event {
        label: labels.get(i).cloned().unwrap_or_default(),
        context: contexts.get(i).cloned().unwrap_or_default(),
        time: 60.0 * t[0] + t.get(1).copied().unwrap_or(0.0),
    };
    times.chunks(2).take(used).enumerate().map(pair).collect()
}

impl C3d {
    /// Time of the first frame (s), from frame 1.
    pub fn start_time(&self) -> f64 {
        f64::from(self.first_frame.saturating_sub(1)) / self.point_rate
    }

    /// The points that are markers, without the angles, forces, moments, powers and scalars that a biomechanical model
    /// stored among them.
    pub fn markers(&self) -> Table {
        let others: HashSet<String> =
            NOT_MARKERS.iter().flat_map(|p| self.parameters.continued_text("POINT", p)).collect();
        if others.is_empty() {
            return self.points.clone();
        }
        let keep: Vec<usize> =
            (0..self.points.labels().len()).filter(|&i| !others.contains(&self.points.labels()[i])).collect();
        let labels = keep.iter().map(|&i| self.points.labels()[i].clone()).collect();
        let columns =
            keep.iter().flat_map(|&i| self.points.columns()[3 * i..3 * i + 3].iter().cloned()).collect();
        match Table::new(Element::Vec(3), labels, self.points.times().to_vec(), columns) {
            Ok(mut t) => {
                t.metadata.clone_from(&self.points.metadata);
                t
            }
            Err(_) => self.points.clone(),
        }
    }

    /// Length unit of points and force plates.
    pub fn length_unit(&self) -> &str {
        self.points.metadata_value("Units").unwrap_or("mm")
    }
}

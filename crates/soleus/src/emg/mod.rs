//! Measured electromyograms (EMG) compared with computed activations.
//!
//! ```no_run
//! use soleus::emg::Emg;
//! use soleus::{ComputedMuscleControl, Context, Disk};
//! let files = Disk::new();
//! let emg = Emg {
//!     signals: "walk_emg.sto".into(),
//!     channels: [("VL".to_string(), vec!["vas_int_r".to_string()])].into(),
//!     ..Emg::default()
//! };
//! let request = ComputedMuscleControl { emg: Some(emg), ..Default::default() };
//! for m in &request.run(&Context::new(&files))?.report.emg {
//!     println!("{}: {:?}", m.muscle, m.likeness.correlation);
//! }
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::inputs::table::{Take, read_in_order};
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_control::Trajectory;
use soleus_math::Table;
use soleus_math::table::{Element, TableError};
use soleus_model::{Diagnostics, ForceKind, Model};
pub use soleus_tools::emg::Likeness;
use soleus_tools::emg::{envelope, likeness};
use soleus_viewer::{Dash, Line, Plot, Report, Style, Table as Rows};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Measured EMG and the muscles it belongs to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Emg {
    /// EMG signals, one column per channel (.sto, .mot, .csv, .parquet, analog channels of .c3d): envelopes or raw
    /// signals.
    pub signals: Source<Table>,
    /// Whether the signals are raw: they are then high-pass filtered at 20 Hz, rectified and smoothed.
    pub raw: bool,
    /// Cutoff frequency of the low-pass filter for the envelopes of raw signals, Hz.
    pub lowpass_hz: f64,
    /// Muscles of each channel; default: the muscle with the name of the column.
    pub channels: BTreeMap<String, Vec<String>>,
    /// Weight of the squared difference between activations and EMG, relative to effort; 0 for comparison only.
    pub weight: f64,
}

impl Default for Emg {
    fn default() -> Self {
        Emg {
            signals: Source::default(),
            raw: false,
            lowpass_hz: 6.0,
            channels: BTreeMap::new(),
            weight: 0.0,
        }
    }
}

/// The low-pass that made an envelope leaves values below zero beside a burst, down to this part of the largest: 0.043 for a Butterworth
/// filter of second order run both ways over an impulse, 0.134 for one of fourth order. They count as zero. Raw signals go as far below
/// zero as above.
const UNDERSHOOT: f64 = 0.15;

/// The EMG of one muscle, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EmgCurve {
    pub channel: String,
    pub muscle: String,
    pub times: Vec<f64>,
    pub values: Vec<f64>,
}

impl EmgCurve {
    /// The value at a time; none where nothing was measured.
    fn at(&self, t: f64) -> Option<f64> {
        let k = self.times.partition_point(|x| *x < t);
        match (k.checked_sub(1), self.times.get(k)) {
            (_, Some(&x)) if x == t => Some(self.values[k]),
            (Some(j), Some(&x)) => {
                let s = (t - self.times[j]) / (x - self.times[j]);
                Some(self.values[j] + s * (self.values[k] - self.values[j]))
            }
            _ => None,
        }
    }
}

/// Comparison of the activation of a muscle with its EMG.
#[derive(Clone, Debug, PartialEq)]
pub struct EmgComparison {
    /// The channel.
    pub channel: String,
    /// The muscle.
    pub muscle: String,
    /// Similarity of EMG (first) and activation (second).
    pub likeness: Likeness,
}

impl Emg {
    /// Reads the signals, makes envelopes of them, and finds their muscles.
    pub(crate) fn curves(&self, cx: &Context, model: &Model) -> Result<Vec<EmgCurve>, Error> {
        let path = self.signals.path();
        let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
        if !(self.weight >= 0.0 && self.weight.is_finite()) {
            return wrong(
                format!("{} is not a valid weight of EMG", self.weight),
                "give 0 or a positive number",
            );
        }
        let table = read_in_order(cx, &self.signals, Take::Analog)?;
        if table.element() != Element::Scalar {
            return wrong("the table has vector columns, not EMG".to_string(), "");
        }
        let muscles: Vec<&str> = model
            .forces
            .iter()
            .filter(|f| matches!(f.kind, ForceKind::Muscle(_)))
            .map(|f| f.name.as_str())
            .collect();
        let mut log = Diagnostics::new(path.display().to_string());
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for (channel, own) in &self.channels {
            if table.column(channel).is_none() {
                let hint = match nearest_hint("channel", channel, table.labels().iter().map(String::as_str)) {
                    hint if hint.is_empty() => format!("the channels are {}", table.labels().join(", ")),
                    hint => hint,
                };
                return wrong(format!("no channel is called `{channel}`"), &hint);
            }
            for muscle in own {
                if !muscles.contains(&muscle.as_str()) {
                    let hint = nearest_hint("muscle", muscle, muscles.iter().copied());
                    return wrong(
                        format!("channel `{channel}` is assigned to `{muscle}`, which is not a muscle"),
                        &hint,
                    );
                }
                pairs.push((channel, muscle));
            }
        }
        if self.channels.is_empty() {
            let named = table.labels().iter().filter(|l| muscles.contains(&l.as_str()));
            pairs.extend(named.map(|l| (l.as_str(), l.as_str())));
            let others: Vec<&str> = table
                .labels()
                .iter()
                .filter(|l| !muscles.contains(&l.as_str()))
                .map(String::as_str)
                .collect();
            let hint = "assign channels to muscles: --emg-map CHANNEL=MUSCLE,MUSCLE";
            if pairs.is_empty() {
                return wrong(format!("no column has the name of a muscle: {}", others.join(", ")), hint);
            }
            if !others.is_empty() {
                log.warn(
                    0,
                    "",
                    format!("not used, since no muscle has its name: {}", others.join(", ")),
                    hint,
                );
            }
        }
        let mut curves = Vec::with_capacity(pairs.len());
        let mut scaled: Vec<String> = Vec::new();
        for (channel, muscle) in pairs {
            let y = table.column(channel).unwrap_or_default();
            if let Some(k) = y.iter().position(|y| !y.is_finite()) {
                let message = format!("channel `{channel}` has no value at {} s", table.times()[k]);
                return wrong(message, "fill the gap, or remove the channel");
            }
            let mut values = match self.raw {
                true => match envelope(table.times(), y, self.lowpass_hz) {
                    Ok(values) => values,
                    Err(e) => return wrong(format!("channel `{channel}`: {e}"), ""),
                },
                false => y.to_vec(),
            };
            let peak = values.iter().fold(0.0, |m: f64, y| m.max(*y));
            let low = values.iter().fold(0.0, |m: f64, y| m.min(*y));
            if low < -UNDERSHOOT * peak {
                let message =
                    format!("channel `{channel}` ranges from {low:.3} to {peak:.3}: it is not an envelope");
                return wrong(message, "use --emg-raw to rectify and smooth raw signals");
            }
            if !(peak > 0.0) {
                return wrong(format!("channel `{channel}` is 0 throughout"), "leave it out");
            }
            values.iter_mut().for_each(|y| *y = y.max(0.0));
            if self.raw || peak > 1.0 + 1e-6 {
                values.iter_mut().for_each(|y| *y /= peak);
                if !scaled.iter().any(|c| c == channel) {
                    scaled.push(channel.to_string());
                }
            }
            let (channel, muscle) = (channel.to_string(), muscle.to_string());
            curves.push(EmgCurve { channel, muscle, times: table.times().to_vec(), values });
        }
        if !scaled.is_empty() {
            let message = format!("normalised by their maximum in the trial: {}", scaled.join(", "));
            log.warn(0, "", message, "better: normalise EMG by a maximal voluntary contraction");
        }
        cx.report(&log);
        Ok(curves)
    }
}

/// EMG and activations over the times that both have: the comparison of each muscle, and a table of `MUSCLE.emg` and
/// `MUSCLE.activation`. `activation` gives the column of a muscle.
pub(crate) fn compare<'a>(
    curves: &[EmgCurve],
    times: &[f64],
    activation: impl Fn(&str) -> Option<&'a [f64]>,
) -> Result<(Vec<EmgComparison>, Option<Table>), TableError> {
    let mut list = Vec::new();
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    // Simulations may have a time twice.
    let measured = |t: f64| curves.iter().all(|c| c.at(t).is_some());
    let mut rows: Vec<usize> = (0..times.len()).filter(|&k| measured(times[k])).collect();
    rows.dedup_by(|b, a| times[*b] <= times[*a]);
    let kept: Vec<f64> = rows.iter().map(|&k| times[k]).collect();
    for curve in curves {
        let Some(y) = activation(&curve.muscle) else { continue };
        let ours: Vec<f64> = rows.iter().map(|&k| y[k]).collect();
        let emg: Vec<f64> = kept.iter().map(|&t| curve.at(t).unwrap_or(f64::NAN)).collect();
        list.push(EmgComparison {
            channel: curve.channel.clone(),
            muscle: curve.muscle.clone(),
            likeness: likeness(&kept, &emg, &ours),
        });
        labels.extend([format!("{}.emg", curve.muscle), format!("{}.activation", curve.muscle)]);
        columns.extend([emg, ours]);
    }
    if list.is_empty() || kept.len() < 2 {
        return Ok((Vec::new(), None));
    }
    let mut table = Table::new(Element::Scalar, labels, kept, columns)?;
    table.name = "EMG and activations".to_string();
    table.in_degrees = Some(false);
    Ok((list, Some(table)))
}

/// The comparison as lines of text.
pub(crate) fn told(list: &[EmgComparison]) -> String {
    let mut text = String::new();
    let width = list.iter().map(|c| c.muscle.len()).max().unwrap_or(0).max(10);
    let channels = list.iter().map(|c| c.channel.len()).max().unwrap_or(0).max(7);
    let _ = writeln!(
        text,
        "{:width$}  {:channels$}  {:>11}  {:>6}  {:>10}  {:>10}",
        "muscle", "channel", "correlation", "RMS", "EMG on, s", "muscle, s"
    );
    let time = |t: Option<f64>| t.map_or("–".to_string(), |t| format!("{t:.3}"));
    for c in list {
        let l = &c.likeness;
        let correlation = l.correlation.map_or("–".to_string(), |r| format!("{r:.3}"));
        let _ = writeln!(
            text,
            "{:width$}  {:channels$}  {correlation:>11}  {:6.3}  {:>10}  {:>10}",
            c.muscle,
            c.channel,
            l.rms,
            time(l.onsets[0]),
            time(l.onsets[1])
        );
    }
    text
}

/// The same of a motion that optimal control found.
pub(crate) fn compare_found(
    curves: &[EmgCurve],
    found: &Trajectory,
) -> Result<(Vec<EmgComparison>, Option<Table>), TableError> {
    let states = &found.states;
    let columns: Vec<Vec<f64>> =
        (0..states.names.len()).map(|i| states.rows.iter().map(|r| r[i]).collect()).collect();
    compare(curves, &found.times, |muscle| {
        let label = format!("/{muscle}/activation");
        states.names.iter().position(|n| n.ends_with(&label)).map(|i| columns[i].as_slice())
    })
}

/// The comparison as part of a page.
pub(crate) fn section(page: Report, list: &[EmgComparison], table: &Table) -> Report {
    let mut rows = Rows::new(
        "Activations and EMG",
        ["muscle", "channel", "correlation", "RMS", "EMG on, s", "muscle on, s"],
    );
    let or = |x: Option<f64>| x.map_or("–".to_string(), |x| format!("{x:.3}"));
    for c in list {
        let l = &c.likeness;
        let numbers = [or(l.correlation), format!("{:.3}", l.rms), or(l.onsets[0]), or(l.onsets[1])];
        rows = rows.row([vec![c.muscle.clone(), c.channel.clone()], numbers.to_vec()].concat());
    }
    page.table(rows).plots(plots(table))
}

/// One plot for each muscle: EMG dashed, activation solid.
fn plots(table: &Table) -> Vec<Plot> {
    let muscles = table.labels().iter().filter_map(|l| l.strip_suffix(".emg"));
    muscles
        .map(|muscle| {
            let line = |what: &str, name: &str, dash: Dash| {
                let y = table.column(&format!("{muscle}.{what}")).unwrap_or_default().to_vec();
                let style = Style { dash: Some(dash), ..Style::default() };
                Line::new(name, table.times().to_vec(), y).styled(style)
            };
            Plot {
                title: muscle.to_string(),
                x_label: "time (s)".to_string(),
                lines: vec![line("activation", "activation", Dash::Solid), line("emg", "EMG", Dash::Dashed)],
                y_range: Some([0.0, 1.0]),
                ..Plot::default()
            }
        })
        .collect()
}

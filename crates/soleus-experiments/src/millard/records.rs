//! Measured forces of the cat soleus in ramp stretches (Herzog and Leonard 2002), 100 samples per second.

use crate::desk;
use soleus::Error;
use soleus_math::function::SimmSpline;
use soleus_math::signal::Butterworth;
use std::path::Path;

/// Distance of samples, s.
pub const GRID: f64 = 0.01;

/// Samples that are used: 0.5 s more than the slowest stretch takes. Stimulation goes on for longer in every trial.
const SAMPLES: usize = 571;

/// Noise of the measured length is taken out above this frequency; the fastest ramp lasts 0.33 s.
const LENGTH_CUTOFF_HZ: f64 = 10.0;

/// One trial.
pub struct Record {
    /// What was done, for tables.
    pub name: String,
    /// Speed of stretch, mm/s.
    pub speed: f64,
    /// Lengths at start and end, mm from the reference length.
    pub from_to: [f64; 2],
    /// Whether the muscle is stimulated.
    pub active: bool,
    /// Force at the samples, N, to half a second after the stretch.
    pub force: Vec<f64>,
    /// Onset of stimulation, s.
    pub onset: f64,
    length: SimmSpline,
}

impl Record {
    /// Length from the reference length (m) and its rate (m/s) at a time.
    pub fn movement(&self, t: f64) -> (f64, f64) {
        let [l, speed, _] = self.length.eval(t);
        (1e-3 * l, 1e-3 * speed)
    }

    /// Whether the length is held.
    pub fn is_isometric(&self) -> bool {
        self.from_to[0] == self.from_to[1]
    }
}

/// Trials of one figure: number of the trial, lengths in mm at its start and end.
type Trials = [(u32, [f64; 2]); 6];

/// Figures 7A, B and C: file, speed of stretch (mm/s), onset of stimulation and end of the stretch (s, digitizedKeyPoints), trials,
/// of which the last is passive. The length channel of trial 51 stands at 9 mm, but its force is that at 0 mm, so a constant
/// 0 takes its place.
const FIGURES: [(&str, f64, [f64; 2], Trials); 3] = [
    (
        "6and7A",
        3.0,
        [0.95, 5.2],
        [
            (43, [0.0; 2]),
            (44, [9.0; 2]),
            (45, [6.0, 9.0]),
            (47, [3.0, 9.0]),
            (50, [0.0, 9.0]),
            (49, [0.0, 9.0]),
        ],
    ),
    (
        "7B",
        9.0,
        [0.97, 3.37],
        [
            (51, [0.0; 2]),
            (52, [9.0; 2]),
            (53, [6.0, 9.0]),
            (55, [3.0, 9.0]),
            (57, [0.0, 9.0]),
            (58, [0.0, 9.0]),
        ],
    ),
    (
        "7C",
        27.0,
        [0.98, 2.71],
        [
            (59, [0.0; 2]),
            (60, [9.0; 2]),
            (61, [6.0, 9.0]),
            (63, [3.0, 9.0]),
            (65, [0.0, 9.0]),
            (66, [0.0, 9.0]),
        ],
    ),
];

/// All trials, or `None` if the folder is not there.
pub fn read(folder: &Path) -> Result<Option<Vec<Record>>, Error> {
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut records = Vec::new();
    for (figure, speed, [onset, end], trials) in FIGURES {
        let path = folder.join(format!("dataHerzogLeonard2002Figure{figure}.csv"));
        let text = desk::read_text(&path)?;
        let bad = |line: usize, message: String| {
            Error::content(&path, u32::try_from(line).unwrap_or(0), "", message, "")
        };
        let header: Vec<&str> = text.lines().next().unwrap_or("").split(',').collect();
        for (k, (trial, from_to)) in trials.into_iter().enumerate() {
            let active = k + 1 < trials.len();
            let column = |letter: &str| -> Result<Vec<f64>, Error> {
                let wanted = format!("{letter}{trial} ");
                let at = header.iter().position(|h| h.starts_with(&wanted));
                let at = at.ok_or_else(|| bad(1, format!("column `{letter}{trial}` is missing")))?;
                let mut values = Vec::with_capacity(SAMPLES);
                for (i, line) in text.lines().enumerate().skip(1).take(SAMPLES) {
                    let cell = line.split(',').nth(at).and_then(|c| c.trim().parse::<f64>().ok());
                    values.push(cell.ok_or_else(|| bad(i + 1, format!("column {} has no number", at + 1)))?);
                }
                if values.len() < SAMPLES {
                    return Err(bad(0, format!("{} samples, but {SAMPLES} are needed", values.len())));
                }
                Ok(values)
            };
            let mut force = column("F")?;
            force.truncate(((end + 0.5) / GRID).round() as usize + 1);
            let length = if trial == 51 { vec![0.0; SAMPLES] } else { column("L")? };
            let problem = |e: &dyn std::fmt::Display| bad(0, e.to_string());
            let filter = Butterworth::new(LENGTH_CUTOFF_HZ, GRID).map_err(|e| problem(&e))?;
            let smooth = filter.forward_backward(&length).map_err(|e| problem(&e))?;
            let times = (0..SAMPLES).map(|i| i as f64 * GRID).collect();
            let length = SimmSpline::new(times, smooth).map_err(|e| problem(&e))?;
            let name = if from_to[0] == from_to[1] {
                format!("{trial}: held at {} mm", from_to[0])
            } else {
                let passive = if active { "" } else { ", passive" };
                format!("{trial}: {} to {} mm at {speed} mm/s{passive}", from_to[0], from_to[1])
            };
            records.push(Record { name, speed, from_to, active, force, onset, length });
        }
    }
    Ok(Some(records))
}

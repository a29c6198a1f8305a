//! Winter's walking data (built in).

use crate::error::Error;
use soleus_control::gait::{Course, LegData};
use std::path::Path;

const TEXT: &str = include_str!("../../models/winter1991.csv");
const FILE: &str = "models/winter1991.csv";

/// One cadence of Winter (1991): means and standard deviations over the cycle.
#[derive(Clone, Debug)]
pub struct Winter {
    /// Speed, m/s.
    pub speed: f64,
    /// Duration of a cycle, s.
    pub cycle: f64,
    /// Hip, knee, ankle (deg), forward and upward force (N/kg), then their deviations; each from 0 to 100 %.
    columns: Vec<Vec<f64>>,
}

/// Cadences with speed (m/s) and duration of a cycle (s).
const CADENCES: [(&str, f64, f64); 3] =
    [("slow", 1.0018, 1.3825), ("normal", 1.325, 1.1396), ("fast", 1.6824, 0.9748)];

impl Winter {
    /// Reads `slow`, `normal` or `fast`.
    pub fn read(cadence: &str) -> Result<Winter, Error> {
        let bad = |line: usize, message: &str| {
            let line = u32::try_from(line + 1).unwrap_or(0);
            Error::content(Path::new(FILE), line, "", message, "")
        };
        let found = CADENCES.iter().find(|c| c.0 == cadence);
        let &(_, speed, cycle) = found.ok_or_else(|| bad(0, "unknown cadence"))?;
        let mut columns = vec![Vec::new(); 10];
        for (i, line) in TEXT.lines().enumerate() {
            let Some(rest) = line.strip_prefix(cadence).and_then(|r| r.strip_prefix(',')) else { continue };
            let numbers: Result<Vec<f64>, _> = rest.split(',').map(|w| w.trim().parse::<f64>()).collect();
            let numbers = numbers.map_err(|_| bad(i, "expected a number"))?;
            if numbers.len() != 11 {
                return Err(bad(i, "expected eleven numbers"));
            }
            columns.iter_mut().zip(&numbers[1..]).for_each(|(c, &v)| c.push(v));
        }
        Ok(Winter { speed, cycle, columns })
    }

    /// Interpolates between two cadences: `part` 0 is this one, 1 the other.
    pub fn blend(&self, other: &Winter, part: f64) -> Winter {
        let mix = |a: f64, b: f64| (1.0 - part) * a + part * b;
        let columns = self.columns.iter().zip(&other.columns);
        Winter {
            speed: mix(self.speed, other.speed),
            cycle: mix(self.cycle, other.cycle),
            columns: columns.map(|(a, b)| a.iter().zip(b).map(|(&a, &b)| mix(a, b)).collect()).collect(),
        }
    }

    /// Mean and standard deviation of hip flexion, knee flexion or ankle dorsiflexion over the cycle, degrees.
    pub fn angle(&self, i: usize) -> [&[f64]; 2] {
        [&self.columns[i], &self.columns[5 + i]]
    }

    /// As signals: angles in rad with knee flexion negative, forces in body weights. The weight is twice the mean
    /// vertical force over `nodes` equal parts of the cycle.
    pub fn leg(&self, nodes: u32) -> LegData {
        let vertical = Course(self.columns[4].clone());
        let n = f64::from(nodes);
        let weight = 2.0 * (0..nodes).map(|j| vertical.at(f64::from(j) / n)).sum::<f64>() / n;
        let pair = |i: usize, sign: f64, unit: f64| {
            let scaled = |c: usize, f: f64| Course(self.columns[c].iter().map(|v| v * f).collect());
            [scaled(i, sign * unit), scaled(5 + i, unit)]
        };
        let rad = 1f64.to_radians();
        LegData {
            angles: [pair(0, 1.0, rad), pair(1, -1.0, rad), pair(2, 1.0, rad)],
            forces: [pair(3, 1.0, 1.0 / weight), pair(4, 1.0, 1.0 / weight)],
        }
    }
}

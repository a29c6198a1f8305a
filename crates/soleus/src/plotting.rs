//! Plotting: plots columns of a table over time.
//!
//! ```no_run
//! use soleus::{Context, Disk, Outcome, PlotTable};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = PlotTable {
//!     table: "walk_ik.mot".into(),
//!     columns: vec!["knee_angle_*".into()],
//!     output: Some("knees.svg".into()),
//!     ..Default::default()
//! };
//! request.run(&context)?.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::has_ending;
use crate::inputs::table::{self, Take};
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_math::Table;
use soleus_viewer::{Dash, Line, Plot, Style, significant};
use std::path::{Path, PathBuf};

/// So many lines at most where no columns are named.
const MOST_LINES: usize = 8;

/// Words in the labels of forces and moments.
const LOADS: [&str; 3] = ["force", "moment", "torque"];

/// Plots columns of a table over time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlotTable {
    /// The table, in any format.
    pub table: Source<Table>,
    /// Second table for comparison: columns with the same names are drawn dotted, and the differences are reported.
    pub beside: Option<Source<Table>>,
    /// Columns by name; `*` matches any characters. Marker columns end in `_1`, `_2`, `_3`. Default: the first few
    /// columns.
    pub columns: Vec<String>,
    /// Data to extract from a .c3d.
    pub take: Take,
    /// Output image: PNG if its name ends in .png, otherwise SVG.
    pub output: Option<PathBuf>,
}

impl PlotTable {
    /// Creates the plot.
    pub fn run(&self, cx: &Context) -> Result<PlottedTable, Error> {
        let file = self.table.path();
        let table = table::read_rows(cx, &self.table, self.take)?;
        let is_markers = table.element().components() == 3;
        let table = table.flattened();
        let content = |message: String| Error::content(file, 0, "", message, "");
        let chosen = choose(&table, &self.columns).map_err(content)?;
        if self.columns.is_empty() && table.labels().len() > chosen.len() {
            let (n, all) = (chosen.len(), table.labels().len());
            cx.note(format!("note: the first {n} of {all} columns are drawn; choose others with --columns"));
        }
        let line = |&i: &usize| {
            Line::new(table.labels()[i].clone(), table.times().to_vec(), table.columns()[i].clone())
        };
        // Tables of forces say that angles are in degrees too, and have none.
        let are_loads = chosen.iter().all(|&i| is_load(&table.labels()[i]));
        let unit = table.metadata_value("Units").filter(|_| is_markers).unwrap_or("");
        let in_degrees = table.in_degrees == Some(true) && !are_loads;
        let mut lines: Vec<Line> = chosen.iter().map(line).collect();
        if let Some(source) = &self.beside {
            let other = table::read_rows(cx, source, self.take)?.flattened();
            lines.extend(beside(cx, &table, &chosen, &other, source.path())?);
        }
        let plot = Plot {
            title: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            x_label: "time (s)".to_string(),
            y_label: if in_degrees { "angles in degrees" } else { unit }.to_string(),
            lines,
            ..Plot::default()
        };
        Ok(PlottedTable { plot, output: self.output.clone() })
    }
}

/// Lines of another table for the chosen columns, in their units and colors; tells how far they are apart.
fn beside(
    cx: &Context,
    table: &Table,
    chosen: &[usize],
    other: &Table,
    path: &Path,
) -> Result<Vec<Line>, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut lines = Vec::new();
    for (color, &i) in chosen.iter().enumerate() {
        let label = &table.labels()[i];
        let same = |l: &String| short(l) == short(label);
        let found = other.index_of(label).or_else(|| other.labels().iter().position(same));
        let Some(k) = found else {
            cx.note(format!("{label}: {} has no such column", path.display()));
            continue;
        };
        // Angles of one table may be in degrees, those of the other in radians; states are values, lengths and activations too.
        let is_angle = table.in_degrees != other.in_degrees && looks_like_angle(table, i, other, k);
        let unit = match (table.in_degrees, is_angle) {
            (Some(true), true) => 1f64.to_degrees(),
            (Some(false), true) => 1f64.to_radians(),
            _ => 1.0,
        };
        let y: Vec<f64> = other.columns()[k].iter().map(|v| unit * v).collect();
        if let Some(Apart { rms, largest, at, span }) = apart(table, i, other.times(), &y) {
            let [rms, largest] = [rms, largest].map(|x| significant(x, 3));
            let span = significant(span, 3);
            cx.note(format!("{label}: RMS difference {rms}, largest {largest} at {at:.3} s (range {span})"));
        }
        let style = Style { color: Some(color), dash: Some(Dash::Dotted), ..Style::default() };
        lines.push(Line::new(format!("{label}, {name}"), other.times().to_vec(), y).styled(style));
    }
    if lines.is_empty() {
        let hint = "columns are compared by name; select some with --columns";
        return Err(Error::content(path, 0, "", "the files have no column in common", hint));
    }
    Ok(lines)
}

/// The name of a coordinate, moment, muscle or marker without path, kind and unit: `knee_angle_r` of `/jointset/knee_r/knee_angle_r/value`.
fn short(label: &str) -> &str {
    let label = label.strip_suffix("/value").or(label.strip_suffix("/activation")).unwrap_or(label);
    let label = label.rsplit('/').next().unwrap_or(label);
    label.strip_suffix("_moment").or(label.strip_suffix("_force")).unwrap_or(label)
}

/// Whether two columns differ by the factor between degrees and radians, and not by that of nothing.
fn looks_like_angle(table: &Table, i: usize, other: &Table, k: usize) -> bool {
    let size = |x: &[f64]| x.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let ratio = size(&table.columns()[i]) / size(&other.columns()[k]);
    // Half-way between 1 and 57.3 on a scale of logarithms.
    let half = 1f64.to_degrees().sqrt();
    !(1.0 / half..half).contains(&ratio)
}

/// How far two curves are apart while both last.
struct Apart {
    rms: f64,
    largest: f64,
    at: f64,
    /// Difference of the largest and the smallest value of the first.
    span: f64,
}

fn apart(table: &Table, i: usize, times: &[f64], y: &[f64]) -> Option<Apart> {
    let (mut sum, mut n, mut worst) = (0.0, 0.0, (0.0, 0.0));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (&t, &v) in table.times().iter().zip(&table.columns()[i]) {
        let next = times.partition_point(|x| *x < t);
        if next == times.len() || (next == 0 && times[0] > t) {
            continue;
        }
        let before = next.saturating_sub(1);
        let step = times[next] - times[before];
        let s = if step > 0.0 { (t - times[before]) / step } else { 1.0 };
        let off = (v - (y[before] * (1.0 - s) + y[next] * s)).abs();
        if off.is_finite() {
            (sum, n) = (sum + off * off, n + 1.0);
            (low, high) = (f64::min(low, v), f64::max(high, v));
            worst = if off >= worst.0 { (off, t) } else { worst };
        }
    }
    (n > 0.0).then(|| Apart { rms: f64::sqrt(sum / n), largest: worst.0, at: worst.1, span: high - low })
}

/// A plot.
#[derive(Clone, Debug)]
pub struct PlottedTable {
    /// Lines and axes.
    pub plot: Plot,
    output: Option<PathBuf>,
}

impl Outcome for PlottedTable {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let picture = |path: &PathBuf| match has_ending(path, "png") {
            true => Artifact::bytes(path, self.plot.to_png()),
            false => Artifact::text(path, self.plot.to_svg()),
        };
        self.output.iter().map(picture).collect()
    }
}

/// Whether a column is a force or a moment, by its label.
pub fn is_load(label: &str) -> bool {
    LOADS.iter().any(|word| label.contains(word))
}

/// Places of the named columns, each once, in the order asked for.
fn choose(table: &Table, patterns: &[String]) -> Result<Vec<usize>, String> {
    let labels = table.labels();
    if patterns.is_empty() {
        return Ok((0..labels.len().min(MOST_LINES)).collect());
    }
    let mut chosen = Vec::new();
    for p in patterns {
        let fitting: Vec<usize> = (0..labels.len()).filter(|&i| matches(p.trim(), &labels[i])).collect();
        if fitting.is_empty() {
            let known = labels.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if labels.len() > 12 { ", …" } else { "" };
            return Err(match nearest(p.trim(), labels) {
                Some(near) => format!("no column matches `{p}`; the nearest is `{near}`"),
                None => format!("no column matches `{p}`; there are {known}{more}"),
            });
        }
        for i in fitting {
            if !chosen.contains(&i) {
                chosen.push(i);
            }
        }
    }
    Ok(chosen)
}

/// The label that is most like a word, as a whole or by one of its parts: coordinates in `/jointset/knee_r/knee_angle_r/value`.
fn nearest<'t>(word: &str, labels: &'t [String]) -> Option<&'t str> {
    if let Some(label) = soleus_model::nearest_name(word, labels.iter().map(String::as_str), 3) {
        return Some(label);
    }
    let part = soleus_model::nearest_name(word, labels.iter().flat_map(|l| l.split('/')), 3)?;
    labels.iter().find(|l| l.split('/').any(|p| p == part)).map(String::as_str)
}

/// Whether a pattern with `*` matches a whole label.
pub fn matches(pattern: &str, label: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == label };
    let Some(mut left) = label.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or("");
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_patterns() {
        assert!(matches("knee", "knee") && !matches("knee", "knee_r"));
        assert!(matches("*_vy", "ground_force_1_vy") && matches("knee*", "knee_r") && matches("*", ""));
        assert_eq!(short("/jointset/knee_r/knee_angle_r/value"), short("knee_angle_r_moment"));
        assert!(matches("a*b*c", "aXbYc") && !matches("a*b*c", "aXc") && !matches("ab*ba", "aba"));
    }
}

//! Plotting: columns of a table over time as a picture.
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
use soleus_viewer::{Line, Plot};
use std::path::PathBuf;

/// So many lines at most where no columns are named.
const MOST_LINES: usize = 8;

/// Words in the labels of forces and moments.
const LOADS: [&str; 3] = ["force", "moment", "torque"];

/// Columns of a table over time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlotTable {
    /// The table, of any format.
    pub table: Source<Table>,
    /// Columns by name; `*` stands for any letters. Markers have `_1`, `_2`, `_3` behind their name. The first few without any.
    pub columns: Vec<String>,
    /// What to take out of a .c3d.
    pub take: Take,
    /// Picture to write: PNG if its name ends in .png, otherwise SVG.
    pub output: Option<PathBuf>,
}

impl PlotTable {
    /// Makes the chart.
    pub fn run(&self, cx: &Context) -> Result<PlottedTable, Error> {
        let file = self.table.path();
        let table = table::read_rows(cx, &self.table, self.take)?;
        let is_markers = table.element().components() == 3;
        let table = table.flattened();
        let content = |message: String| Error::content(file, 0, "", message, "");
        let chosen = choose(&table, &self.columns).map_err(content)?;
        if self.columns.is_empty() && table.labels().len() > chosen.len() {
            let (n, all) = (chosen.len(), table.labels().len());
            cx.note(format!("note: the first {n} of {all} columns were drawn; --columns names others"));
        }
        let line = |&i: &usize| {
            Line::new(table.labels()[i].clone(), table.times().to_vec(), table.columns()[i].clone())
        };
        // Tables of forces say that angles are in degrees too, and have none.
        let are_loads = chosen.iter().all(|&i| is_load(&table.labels()[i]));
        let unit = table.metadata_value("Units").filter(|_| is_markers).unwrap_or("");
        let in_degrees = table.in_degrees == Some(true) && !are_loads;
        let plot = Plot {
            title: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            x_label: "time (s)".to_string(),
            y_label: if in_degrees { "angles in degrees" } else { unit }.to_string(),
            lines: chosen.iter().map(line).collect(),
            ..Plot::default()
        };
        Ok(PlottedTable { plot, output: self.output.clone() })
    }
}

/// A chart.
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
            return Err(format!("no column matches `{p}`; there are {known}{more}"));
        }
        for i in fitting {
            if !chosen.contains(&i) {
                chosen.push(i);
            }
        }
    }
    Ok(chosen)
}

/// Whether a pattern with `*` fits a whole label.
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
        assert!(matches("a*b*c", "aXbYc") && !matches("a*b*c", "aXc") && !matches("ab*ba", "aba"));
    }
}

//! `soleus plot`: columns of a table over time.

use crate::failure::Failure;
use crate::load;
use crate::tables::{self, Take};
use soleus_math::Table;
use soleus_viewer::{Line, Plot};
use std::io::Write as _;
use std::path::PathBuf;

/// So many lines at most where no columns are named.
const MOST_LINES: usize = 8;

/// What to draw.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  soleus plot walk_ik.mot --columns knee_angle_r,knee_angle_l --out knees.svg\n  \
    soleus plot forces.mot --columns '*_vy' --out vertical.png"
)]
pub struct Options {
    /// File to read: .sto, .mot, .trc, .csv, .parquet or .c3d
    file: PathBuf,
    /// Columns by name, separated by commas; `*` stands for any letters. Markers have `_1`, `_2`, `_3` behind their name
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    columns: Vec<String>,
    /// Picture to write: PNG if its name ends in .png, otherwise SVG; `-` for stdout
    #[arg(long, value_name = "OUT.svg|OUT.png")]
    out: PathBuf,
    /// What to take out of a .c3d
    #[arg(long, value_enum, default_value_t = Take::Markers)]
    take: Take,
}

/// Words in the labels of forces and moments.
const LOADS: [&str; 3] = ["force", "moment", "torque"];

/// Reads the table and writes the chart.
pub fn run(o: &Options) -> Result<(), Failure> {
    let table = tables::read_rows(&o.file, o.take)?;
    let is_markers = table.element().components() == 3;
    let table = table.flattened();
    let content = |message: String| Failure::content(&o.file, 0, "", message, "");
    let chosen = choose(&table, &o.columns).map_err(content)?;
    if o.columns.is_empty() && table.labels().len() > chosen.len() {
        // A closed stderr is no reason to stop.
        let _ = writeln!(
            std::io::stderr(),
            "note: the first {} of {} columns were drawn; --columns names others",
            chosen.len(),
            table.labels().len()
        );
    }
    let line =
        |&i: &usize| Line::new(table.labels()[i].clone(), table.times().to_vec(), table.columns()[i].clone());
    // Tables of forces say that angles are in degrees too, and have none.
    let are_loads = chosen.iter().all(|&i| is_load(&table.labels()[i]));
    let unit = table.metadata_value("Units").filter(|_| is_markers).unwrap_or("");
    let plot = Plot {
        title: o.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        x_label: "time (s)".to_string(),
        y_label: if table.in_degrees == Some(true) && !are_loads { "angles in degrees" } else { unit }
            .to_string(),
        lines: chosen.iter().map(line).collect(),
        ..Plot::default()
    };
    if load::is_png(&o.out) {
        return load::write_bytes(&o.out, &plot.to_png());
    }
    load::write_whole(&o.out, &plot.to_svg())
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

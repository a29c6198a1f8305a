//! DAS3, the shoulder and arm of van den Bogert, Blana and Heinrich (2011), section 3: 11 coordinates, 138 muscles, 298
//! states, stiff. Release 2 (2015) of the model, with the numbers that its authors' own tests print.

mod model;
mod release;
mod released;
mod rest;
mod runs;
mod shoulder;

use super::report::Report;
use crate::desk;
use clap::Args;
use soleus::Error;
use soleus_dynamics::system::{State, System};
use std::path::{Path, PathBuf};

/// What `soleus experiment das3` is told.
#[derive(Args)]
pub struct Arguments {
    /// Folder that holds das3/derived with the model and its stored states
    #[arg(long, default_value = "../shared/data", value_name = "DIR")]
    data: PathBuf,
    /// Skip the 4 s protocol of the paper, which takes most of the time
    #[arg(long)]
    short: bool,
}

/// The model, ready, and its stored passive equilibrium.
struct Das3 {
    system: System,
    others: model::Others,
    names: Vec<String>,
    equilibrium: State<f64>,
    /// Angles of the authors' own run of the release test every 5 ms, rad.
    stored: Vec<Vec<f64>>,
}

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let das3 = read(&a.data.join("das3/derived"))?;
    let mut report = Report::default();
    println!(
        "DAS3 release 2: {} states, {} muscles. Ours | published or target",
        states(&das3),
        muscles(&das3)
    );
    rest::check(&das3, &mut report);
    shoulder::check(&das3, &mut report);
    release::check(&das3, &mut report);
    release::explicit(&das3, &mut report);
    if !a.short {
        release::paper(&das3, &mut report);
    }
    report.close();
    Ok(())
}

fn states(d: &Das3) -> usize {
    2 * d.system.tree.num_mobilities + d.system.num_aux
}

fn muscles(d: &Das3) -> usize {
    d.system.num_aux / 2
}

/// Reads model and equilibrium.
fn read(folder: &Path) -> Result<Das3, Error> {
    let path = folder.join("das3_model.json");
    let text = desk::read_text(&path)?;
    let bad = |message: String| Error::content(&path, 0, "", message, "");
    let file: model::File = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
    let (model, others) = model::build(&file).map_err(|e| bad(e.to_string()))?;
    let system = System::compile(&model).map_err(|e| bad(e.to_string()))?;
    let names = model.forces.iter().map(|f| f.name.clone()).collect();

    let path = folder.join("das3_equilibrium.csv");
    let text = desk::read_text(&path)?;
    let mut values = Vec::new();
    for (i, line) in text.lines().enumerate().skip(1) {
        let value = line.split(',').nth(1).and_then(|w| w.trim().parse::<f64>().ok());
        let line = u32::try_from(i + 1).unwrap_or(0);
        let no_number = || Error::content(&path, line, "", "the second column has no number", "");
        values.push(value.ok_or_else(no_number)?);
    }
    let (n, nz) = (system.tree.num_mobilities, system.num_aux);
    if values.len() != 2 * n + nz {
        let message = format!("{} values, but the model has {} states", values.len(), 2 * n + nz);
        return Err(Error::content(&path, 0, "", message, ""));
    }
    let equilibrium = state(n, &values);

    let path = folder.join("das3_ode15s_reference.csv");
    let text = desk::read_text(&path)?;
    let mut stored = Vec::new();
    for (i, line) in text.lines().enumerate().skip(1) {
        let row: Vec<f64> = line.split(',').skip(1).take(n).filter_map(|w| w.trim().parse().ok()).collect();
        if row.len() < n {
            let line = u32::try_from(i + 1).unwrap_or(0);
            return Err(Error::content(&path, line, "", format!("fewer than {} numbers", n + 1), ""));
        }
        stored.push(row);
    }
    Ok(Das3 { system, others, names, equilibrium, stored })
}

/// The file's order (q, q̇, all s, all a) in ours, where each muscle has its a and s side by side.
fn state(n: usize, values: &[f64]) -> State<f64> {
    let (s, a) = values[2 * n..].split_at((values.len() - 2 * n) / 2);
    State {
        time: 0.0,
        q: values[..n].to_vec(),
        u: values[n..2 * n].to_vec(),
        z: a.iter().zip(s).flat_map(|(a, s)| [*a, *s]).collect(),
    }
}

#[cfg(test)]
mod tests;

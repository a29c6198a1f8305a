//! Millard, Uchida, Seth and Delp (2013), "Flexing computational muscle": speed and accuracy of three models of a muscle
//! with its tendon.

mod computational;
mod specimen;

use super::report::Report;
use super::sheet::Folder;
use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// What `soleus experiment millard` is told.
#[derive(Args)]
pub struct Arguments {
    /// Folder that holds muscle/ with measured forces, and walking/
    #[arg(long, default_value = "../shared/data", value_name = "DIR")]
    data: PathBuf,
    /// Folder for tables (.csv, .md) and pictures (.svg)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let folder = Folder::create(a.out.as_ref())?;
    let mut report = Report::default();
    println!("Three models of a muscle with its tendon. Ours | published or wanted");
    let tolerances = computational::elastic(&mut report, &folder)?;
    computational::rigid(&tolerances, &mut report, &folder)?;
    report.close();
    Ok(())
}

/// A simulation that did not come to its end.
fn not_solved(e: impl std::fmt::Display) -> Failure {
    Failure::NotSolved { message: e.to_string() }
}

//! `soleus analyze`, and the `AnalyzeTool` of `soleus run`.

mod make;
pub mod plain;
mod setup_file;
mod verb;

pub use setup_file::{run_motion, run_setup};
pub use verb::{Arguments, contacts, run};

use crate::failure::Failure;
use crate::load;
use soleus_io::setup::write_control_set;
use soleus_io::table::sto::{self, Digits};
use soleus_model::{Diagnostics, Model};
use soleus_tools::analysis::{AnalysisError, Report, Scheduled};
use std::path::Path;

/// So many files are named each; of more, how many there are.
const FEW_FILES: usize = 4;

/// Writes the tables of all analyses to `<folder>/<name>_<analysis>_<what>.sto`, and those of controls to
/// `<folder>/<name>_<analysis>_controls.xml` too; warns about what went less than well.
pub fn write(folder: &Path, name: &str, source: &Path, analyses: Vec<Scheduled>) -> Result<(), Failure> {
    let mut log = Diagnostics::new(source.display().to_string());
    let mut unsolved = Vec::new();
    let mut files = Vec::new();
    for a in analyses {
        a.analysis.notes().iter().for_each(|n| eprintln!("{n}"));
        unsolved.extend(a.analysis.unsolved().map(|u| format!("{}: {u}", a.name)));
        for warning in a.analysis.warnings() {
            log.warn(0, "", format!("{}: {warning}", a.name), "");
        }
        let controls = a.analysis.controls();
        for output in a.analysis.finish().map_err(|e| failed(source, &e))? {
            let file = match output.suffix.strip_prefix('_') {
                Some(what) => format!("{name}_{}_{what}.sto", a.name),
                None => format!("{name}_{}.sto", output.suffix),
            };
            let text = match output.table.in_degrees {
                Some(_) => sto::write(&output.table, Digits::Shortest),
                None => sto::write_typed(&output.table),
            };
            let file = folder.join(file);
            load::write_whole(&file, &text)?;
            files.push(file);
            if controls == Some(&output.suffix) {
                let file = folder.join(format!("{name}_{}_controls.xml", a.name));
                load::write_whole(&file, &write_control_set(&output.table))?;
                files.push(file);
            }
        }
    }
    match files.len() {
        n if n > FEW_FILES => {
            eprintln!("wrote {n} files, {}", folder.join(format!("{name}_*")).display())
        }
        _ => files.iter().for_each(|t| eprintln!("wrote {}", t.display())),
    }
    load::report(&log);
    match unsolved.is_empty() {
        true => Ok(()),
        false => Err(Failure::NotSolved { message: unsolved.join("\n") }),
    }
}

/// Tells what went less than well on the way.
pub fn report(model: &Model, source: &Path, report: &Report) {
    let mut log = Diagnostics::new(source.display().to_string());
    if let Some((time, force, why)) = report.not_in_equilibrium.first() {
        let (path, n) = (&model.forces[*force].path, report.not_in_equilibrium.len());
        log.warn(0, "", format!("{n} times no equilibrium of a muscle, first {path} at {time} s: {why}"), "");
    }
    if let Some(time) = report.without_accelerations.first() {
        let n = report.without_accelerations.len();
        let message =
            format!("accelerations are undetermined at {n} instants, first at {time} s: they are NaN");
        log.warn(0, "", message, "");
    }
    load::report(&log);
    eprintln!("{} rows", report.rows);
}

/// The failure of an analysis.
pub fn failed(path: &Path, e: &AnalysisError) -> Failure {
    if e.is_not_converged() {
        let hint = "give residual actuators larger optimal forces, or take a smaller exponent";
        return Failure::NotSolved { message: format!("{e}\nhint: {hint}") };
    }
    let hint = match e {
        AnalysisError::Missing { .. } => {
            "it has a column named after every actuator of the model, as `soleus so` writes it"
        }
        _ => "",
    };
    Failure::content(path, 0, "", e.to_string(), hint)
}

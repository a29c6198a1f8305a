//! Millard, Uchida, Seth and Delp (2013), "Flexing computational muscle": speed and accuracy of three models of a muscle
//! with its tendon.

mod computational;
mod curves;
mod maximal;
mod records;
mod specimen;
mod submaximal;
mod walking;

use super::places::Places;
use super::report::Report;
use super::sheet::Folder;
use clap::Args;
use soleus::Error;

/// What `soleus experiment millard` is told.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    places: Places,
}

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let folder = Folder::create(a.places.out.as_ref())?;
    let mut report = Report::default();
    println!("Three models of a muscle with its tendon. Ours | published or target");
    let tolerances = computational::elastic(&mut report, &folder)?;
    computational::rigid(&tolerances, &mut report, &folder)?;
    let measured = a.places.data.join("muscle/vexat_experiments");
    if let Some(records) = records::read(&measured)? {
        let f0 = isometric_force(&records);
        maximal::run(&records, f0, &mut report, &folder)?;
        submaximal::measured(&records, f0, &mut report, &folder)?;
    } else {
        eprintln!("note: no {}: benchmarks with measured forces are skipped", measured.display());
    }
    submaximal::twin(&mut report, &folder)?;
    let digitized = a.places.data.join("muscle/digitised_curves");
    if digitized.is_dir() {
        curves::run(&digitized, &mut report, &folder)?;
    } else {
        eprintln!("note: no {}: curves are not compared", digitized.display());
    }
    let pipeline = a.places.data.join("../reference/pipelines/Gait2354_Simbody");
    if pipeline.is_dir() {
        walking::run(&pipeline, &report, &folder)?;
    } else {
        eprintln!("note: no {}: walking is skipped", pipeline.display());
    }
    report.close();
    Ok(())
}

/// Mean force of the trials held at 0 mm from 2.5 s on, N.
fn isometric_force(records: &[records::Record]) -> f64 {
    let held = records.iter().filter(|r| r.is_isometric() && r.from_to[0] == 0.0);
    let late: Vec<f64> = held.flat_map(|r| r.force[250..].iter().copied()).collect();
    late.iter().sum::<f64>() / late.len().max(1) as f64
}

/// A simulation that did not come to its end.
fn not_solved(e: impl std::fmt::Display) -> Error {
    Error::NotSolved { message: e.to_string() }
}

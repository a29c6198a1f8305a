//! Seth, Sherman, Reinbolt and Delp (2011), "OpenSim: a musculoskeletal modeling and simulation framework": what muscles
//! contribute to support, braking and propulsion in running, in walking and in a crouch; and a joint on an ellipsoid.

mod crouch;
mod ellipsoid;
mod momentum;
mod other_runner;
mod running;
mod trial;

use super::places::Places;
use super::report::Report;
use super::sheet::Folder;
use clap::Args;
use soleus::Error;

/// What `soleus experiment seth` is told.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    places: Places,
    /// Additional knee flexion of the crouch compared with walking, degrees
    #[arg(long, default_value_t = 35.0, value_name = "DEG")]
    crouch_deg: f64,
}

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let folder = Folder::create(a.places.out.as_ref())?;
    let mut report = Report::default();
    println!("Muscles that support and propel. Ours | published or target");
    let running = a.places.data.join("running");
    let subject = running.join("hamner_subject02");
    running::run(&subject, &mut report, &folder)?;
    other_runner::run(
        &running.join("hamner2013_subject01"),
        &subject.join("Actuators_CMC.xml"),
        &mut report,
    )?;
    crouch::run(&a.places.data.join("walking/gait2354_subject01"), a.crouch_deg, &mut report, &folder)?;
    ellipsoid::run(&mut report)?;
    report.close();
    Ok(())
}

//! Another runner, at 4 m/s (Hamner and Delp 2013): from markers and force plates to contributions of muscles.
//!
//! Of this subject there are raw data and a generic model, so everything in between is ours: scaling by joint centres, the
//! static pose, inverse kinematics, static optimization. Nothing makes motion and plates agree, and residuals at the pelvis take
//! what they differ by.

use super::crouch::contributions;
use super::running::{Plate, Step, reaction_rms, shares, steps};
use super::trial::{Trial, table};
use crate::desk;
use crate::report::Report;
use soleus::Error;
use soleus::inputs::setup;
use soleus_dynamics::Options;
use soleus_io::osim;
use soleus_math::Table;
use soleus_model::{Document, Model, ScaleOptions};
use soleus_tools::analysis::{MotionSettings, StateHistory};
use soleus_tools::external_forces;
use soleus_tools::inverse_kinematics::{MarkerTask, Settings, Tasks, solve_trial};
use soleus_tools::scale::{Factors, Measurement, measure, place_markers, scale_model};
use std::path::Path;

/// Times between which whole stances are analysed, s: two strides and a half.
const RANGE: [f64; 2] = [0.45, 2.9];
/// Low-pass on the coordinates, Hz, as is usual for running.
const CUTOFF_HZ: f64 = 15.0;
const ALWAYS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// A measurement: pairs of markers, each for the right side and the left; and the bodies it scales.
const MEASUREMENTS: [(&[[&str; 2]], &[&str]); 7] = [
    (&[["RHJC", "LHJC"], ["RASI", "LASI"]], &["pelvis"]),
    (&[["RSJC", "RHJC"], ["LSJC", "LHJC"]], &["torso"]),
    (&[["RHJC", "RKJC"], ["LHJC", "LKJC"]], &["femur_r", "femur_l"]),
    (&[["RKJC", "RAJC"], ["LKJC", "LAJC"]], &["tibia_r", "tibia_l"]),
    (
        &[["RCAL", "RTOE"], ["LCAL", "LTOE"]],
        &["talus_r", "calcn_r", "toes_r", "talus_l", "calcn_l", "toes_l"],
    ),
    (&[["RSJC", "REJC"], ["LSJC", "LEJC"]], &["humerus_r", "humerus_l"]),
    (
        &[["REJC", "RFAulna"], ["LEJC", "LFAulna"]],
        &["ulna_r", "radius_r", "hand_r", "ulna_l", "radius_l", "hand_l"],
    ),
];

/// Beginnings of the names of markers that lie on thigh, shank and upper arm where there was room, and tell nothing about the
/// pose of a generic model.
const ANYWHERE: [&str; 3] = ["TH", "TB", "UA"];

/// Contributions of one subject without published numbers of its own.
pub fn run(data: &Path, actuators: &Path, report: &mut Report) -> Result<(), Error> {
    report.heading(
        "Running at 4.0 m/s, another subject, from markers on (Hamner and Delp 2013); the same claims",
    );
    let path = data.join("Run_400_02_newCOP3.mot");
    let grf = plates(&path)?;
    let both =
        [Plate::new(&grf, "R_ground_force", 'r', &path)?, Plate::new(&grf, "L_ground_force", 'l', &path)?];
    let mass = mass(grf.times(), both.each_ref().map(|p| p.up));
    let (trial, rms) = trial(data, actuators, &grf, mass)?;
    let c = contributions(&trial, RANGE[0], RANGE[1], 1)?;
    report.note("markers, RMS (mm)", &format!("{:.1}", 1e3 * rms), "");
    let (off, most) = reaction_rms(grf.times(), both.each_ref().map(|p| p.up), &c);
    report.note(
        "contact reactions minus measured force, RMS (N)",
        &format!("{off:.0}, {:.1} %", 100.0 * off / most),
        &format!("the measured force, {most:.0} at most"),
    );
    let list: Vec<Step> = both.iter().flat_map(|p| steps(grf.times(), p, mass, &c)).collect();
    shares(&list, &mut |what, ours, published, _| report.note(what, ours, published));
    Ok(())
}

/// The forces under both feet. The file has the same labels twice: right, then left.
fn plates(path: &Path) -> Result<Table, Error> {
    let mut grf = table(path)?;
    for i in 0..grf.labels().len() {
        let label = grf.labels()[i].clone();
        let side = if grf.labels()[i + 1..].contains(&label) { 'R' } else { 'L' };
        grf.rename(i, format!("{side}_{label}"));
    }
    Ok(grf)
}

/// Mass (kg) of a runner: over whole strides the plates carry the weight.
fn mass(times: &[f64], [right, left]: [&[f64]; 2]) -> f64 {
    let lands: Vec<usize> = (1..times.len())
        .filter(|&k| right[k] > super::running::CONTACT && right[k - 1] <= super::running::CONTACT)
        .collect();
    let (Some(&a), Some(&b)) = (lands.first(), lands.last()) else { return f64::NAN };
    let sum: f64 = right[a..b].iter().zip(&left[a..b]).map(|(r, l)| r + l).sum();
    sum / (b - a) as f64 / 9.80665
}

/// The scaled model with actuators and loads, its motion, and how well that meets the markers (RMS, m).
fn trial(data: &Path, actuators: &Path, grf: &Table, mass: f64) -> Result<(Trial, f64), Error> {
    let file = data.join("FullBodyModel_SimpleArms_Hamner2010_HPLMarkers_subject01_v191.osim");
    let wrong = |message: String| Error::content(&file, 0, "", message, "");
    let (document, mut log) = desk::enter(None, false, |cx| setup::upgraded(cx, &file))?;
    let generic = soleus_model::build(&document, &mut log).ok_or_else(|| desk::errors(&file, &log))?;

    // Size, then markers where they were seen in the static trial.
    let standing = desk::markers(&data.join("Static_FJC.trc"))?;
    let mut factors = Factors::unity(&generic);
    let name = |text: &str| text.to_string();
    let measurements = MEASUREMENTS.map(|(pairs, bodies)| Measurement {
        name: name(bodies[0]),
        pairs: pairs.iter().map(|pair| pair.map(name)).collect(),
        bodies: bodies.iter().map(|b| (name(b), [true; 3])).collect(),
    });
    measure(&generic, &standing, ALWAYS, &measurements, &mut factors).map_err(|e| wrong(e.to_string()))?;
    let options = ScaleOptions { mass: Some(mass), ..ScaleOptions::default() };
    let scaled =
        scale_model(&document, &generic, &factors, &options, &mut log).map_err(|e| wrong(e.to_string()))?;
    let tells = |label: &&String| !ANYWHERE.iter().any(|a| label.get(1..).is_some_and(|l| l.starts_with(a)));
    let markers = standing.labels().iter().filter(tells).map(|l| MarkerTask { name: l.clone(), weight: 1.0 });
    let tasks = Tasks { markers: markers.collect(), ..Tasks::default() };
    let placed = place_markers(&scaled.document, &standing, ALWAYS, &tasks, true, None);
    let mut document: Document = placed.map_err(|e| wrong(e.to_string()))?.document;

    // The motion.
    let (forces, told) = desk::enter(None, false, |cx| setup::upgraded(cx, actuators))?;
    let members = osim::set_members(&forces, "ForceSet").ok_or_else(|| desk::errors(actuators, &told))?;
    osim::add_to_set(&mut document, "ForceSet", members);
    let mut model = soleus_model::build(&document, &mut log).ok_or_else(|| desk::errors(&file, &log))?;
    let running = desk::markers(&data.join("Run_400_02.trc"))?;
    let bare = Model { forces: Vec::new(), ..model.clone() };
    let system = desk::compile(&file, &bare, &Options::default())?;
    let solved = solve_trial(&bare, &system, &running, &Tasks::default(), Settings::default(), RANGE)
        .map_err(|e| wrong(e.to_string()))?;

    // Loads, by the labels that the file of loads has.
    let path = data.join("external_forces.xml");
    let (loads, mut told) = desk::enter(None, false, |cx| setup::upgraded(cx, &path))?;
    let loads = soleus_model::build_external_loads(&loads, &model, &mut told)
        .ok_or_else(|| desk::errors(&path, &told))?;
    model.forces.extend(external_forces(&loads, &|_| Some(grf)).map_err(|e| wrong(e.to_string()))?);
    let system = desk::compile(&file, &model, &Options::default())?;
    let settings = MotionSettings { cutoff_hz: Some(CUTOFF_HZ), opensim_faults: false, root_angles: false };
    let history = StateHistory::from_coordinates(&model, &system, &solved.coordinates, None, &settings)
        .map_err(|e| wrong(e.to_string()))?;
    Ok((Trial { model, system, history, source: file }, solved.summary.rms))
}

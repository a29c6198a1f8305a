//! A mass that hangs from three muscles: a prediction, its simulation, and the activations that tracking gives back.

use super::super::report::Report;
use super::super::sheet::{Folder, Series};
use super::compare::{Course, peak, root_mean_square};
use super::describe;
use super::solving::{find, pose, read};
use soleus::Error;
use soleus::optimal_control::Solution;
use soleus::optimal_control::start::guess;
use soleus_control::Trajectory;
use soleus_control::solution::Columns;
use soleus_math::Table;
use soleus_math::table::Element;
use std::path::Path;

const PREDICTION: &str = include_str!("suspended_mass.toml");
const TRACKING: &str = include_str!("suspended_mass_track.toml");

/// Between the initial and the final place of the mass, m.
const DISTANCE: f64 = 0.284_429_253_066_558;
/// Longest mesh interval of the tracking problem, s.
const MESH_INTERVAL: f64 = 0.003;
/// Accuracy of the simulation: far below what is compared.
const ACCURACY: f64 = 1e-8;
/// Objective of the prediction in OpenSim 4.6, same mesh and scheme.
const OPENSIM: f64 = 0.357_239_302;

/// Solves both problems.
pub fn run(report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading("Mass on three muscles: prediction, simulation and tracking");
    let predicted = predict()?;
    let solved = predicted.solver.status.is_solved();
    report.row(
        "prediction: objective",
        &describe(&predicted),
        "0.357239 (OpenSim 4.6)",
        solved && predicted.solver.objective <= 1.0005 * OPENSIM,
    );
    let motion = &predicted.phases[0].trajectory;
    let stepped = guess::simulate(&predicted.phases[0].model, motion, ACCURACY)
        .map_err(|message| Error::NotSolved { message })?;
    let rms = root_mean_square(states(&stepped), states(motion), |n| n.ends_with("/value"));
    report.row(
        "simulated with the predicted excitations: RMS of the position (m, % of the distance)",
        &format!("{rms:.1e} {:.5}", 100.0 * rms / DISTANCE),
        "0.0051 1.8",
        rms <= 0.0051,
    );
    let tracked = track(motion)?;
    let is_activation = |n: &str| n.ends_with("/activation");
    let highest = peak(&motion.states, is_activation);
    let rms =
        root_mean_square(states(&tracked.phases[0].trajectory), states(motion), is_activation) / highest;
    report.note("tracking: objective", &describe(&tracked), "");
    report.row(
        "tracking: RMS of activations (% of their peak)",
        &format!("{:.2}", 100.0 * rms),
        "0.47",
        tracked.solver.status.is_solved() && 100.0 * rms <= 0.47,
    );
    draw(folder, motion, &stepped, &tracked.phases[0].trajectory)
}

fn states(t: &Trajectory) -> Course<'_> {
    Course { times: &t.times, columns: &t.states }
}

fn predict() -> Result<Solution, Error> {
    let name = "suspended_mass.toml";
    find(&pose(Path::new(name), &read(name, PREDICTION)?)?)
}

/// Follows coordinates and speeds of a motion, over its own time.
fn track(motion: &Trajectory) -> Result<Solution, Error> {
    let name = Path::new("suspended_mass_track.toml");
    let mut study = read("suspended_mass_track.toml", TRACKING)?;
    let last = motion.times.last().copied().unwrap_or(0.0);
    study.setup.final_time = Some([last, last]);
    study.setup.solver.num_mesh_intervals = (last / MESH_INTERVAL).ceil() as usize;
    let names = motion.states.names.clone();
    let columns = names.iter().filter_map(|n| motion.states.column(n)).collect();
    let table = Table::new(Element::Scalar, names, motion.times.clone(), columns)
        .map_err(|e| Error::NotSolved { message: e.to_string() })?;
    let mut posed = pose(name, &study)?;
    posed.inputs.guess = Some(kinematics(motion));
    posed.inputs.given.add("state_tracking", table);
    find(&posed)
}

/// Coordinates and speeds of a motion alone.
fn kinematics(motion: &Trajectory) -> Trajectory {
    let all = &motion.states;
    let places: Vec<usize> =
        (0..all.names.len()).filter(|&i| !all.names[i].ends_with("/activation")).collect();
    let states = Columns {
        names: places.iter().map(|&i| all.names[i].clone()).collect(),
        rows: all.rows.iter().map(|r| places.iter().map(|&i| r[i]).collect()).collect(),
    };
    Trajectory { times: motion.times.clone(), states, ..Trajectory::default() }
}

/// The way of the mass, and the activations.
fn draw(
    folder: &Folder,
    motion: &Trajectory,
    stepped: &Trajectory,
    tracked: &Trajectory,
) -> Result<(), Error> {
    let all = [("prediction", motion), ("simulation", stepped), ("tracking", tracked)];
    let column = |t: &Trajectory, name: &str| t.states.column(name).unwrap_or_default();
    let ways: Vec<_> = all
        .iter()
        .map(|(name, t)| (*name, column(t, "/jointset/tx/tx/value"), column(t, "/jointset/ty/ty/value")))
        .collect();
    let lines: Vec<Series> = ways.iter().map(|(name, x, y)| Series { name, x, y }).collect();
    folder.picture("suspended_mass", ["Path of the mass", "x (m)", "y (m)"], &lines)?;
    for muscle in ["left", "middle", "right"] {
        let path = format!("/forceset/{muscle}/activation");
        let courses: Vec<_> = all.iter().map(|(name, t)| (*name, &t.times, column(t, &path))).collect();
        let lines: Vec<Series> = courses.iter().map(|(name, x, y)| Series { name, x, y }).collect();
        let title = format!("Activation of the {muscle} muscle");
        folder.picture(&format!("suspended_mass_{muscle}"), [&title, "time (s)", "activation"], &lines)?;
    }
    Ok(())
}

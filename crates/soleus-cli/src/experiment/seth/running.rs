//! Running at 3.96 m/s (section 4.4, Fig. 10; Hamner, Seth and Delp 2010).

use super::momentum::AngularMomentum;
use super::trial::{Axis, CALF, Contributions, GROUPS, QUADRICEPS, Trial, column, table};
use crate::experiment::report::{Report, list};
use crate::experiment::sheet::{Folder, Series};
use crate::failure::Failure;
use std::path::Path;

/// Torques that move the arms.
const ARMS: &[&str] = &["arm_", "elbow", "pro_sup", "wrist", "shoulder"];
/// A foot is on the ground while it presses with more than this, N.
const CONTACT: f64 = 20.0;

/// Motion and muscle forces of OpenSim's CMC; contacts in place of the measured reactions.
pub fn run(data: &Path, report: &mut Report, folder: &Folder) -> Result<(), Failure> {
    report.heading("Running at 3.96 m/s, one subject (Fig. 10)");
    let reference = data.join("reference");
    let motion = reference.join("subject02_Kinematics_q.sto");
    let files = [
        &reference.join("subject02_RRA_Adjusted.osim"),
        &data.join("Actuators_CMC.xml"),
        &data.join("External_Loads.xml"),
    ];
    let trial = Trial::new(files.map(|f| f.as_path()), &table(&motion)?, &motion)?;
    let rows = trial.rows(f64::NEG_INFINITY, f64::INFINITY)?;
    let forces = table(&reference.join("subject02_Actuation_force.sto"))?;
    let c = trial.contributions(rows.clone(), 1, &forces)?;

    let worst = c.worst_sum(Axis::Forward).max(c.worst_sum(Axis::Up));
    let wanted = "add up to the acceleration";
    report.row(
        "contributions less their sum, largest (m/s2)",
        &format!("{worst:.1e}"),
        wanted,
        worst < 1e-10,
    );
    let path = data.join("subject02_running_grf.mot");
    let grf = table(&path)?;
    let plates = [column(&grf, "ground_force_vy", &path)?, column(&grf, "1_ground_force_vy", &path)?];
    reaction(grf.times(), plates, &c, report);
    let stances = stances(grf.times(), plates);
    let forward = c.total(Axis::Forward);
    let ends: Vec<f64> = stances
        .iter()
        .filter(|(a, b)| c.times()[0] <= *a && *b <= c.times()[c.times().len() - 1])
        .map(|&(a, b)| 100.0 * (braking_ends(c.times(), &forward, a, b) - a) / (b - a))
        .collect();
    report.note("braking ends (% of stance, each foot)", &list(&ends, 0), "60");

    // Peaks against those of the mass centre; up, its weight included, as a force plate reads it.
    let (brake, push) = (peak(&forward, -1.0), peak(&forward, 1.0));
    let lift = peak(&c.total(Axis::Up), 1.0) + 9.81;
    let of = |axis, words, sign| peak(&c.sum(axis, words), sign);
    report.note("peaks of the mass centre: back, forward, up (m/s2)", &list(&[brake, push, lift], 1), "");
    let quad = [of(Axis::Forward, QUADRICEPS, -1.0) / brake, of(Axis::Up, QUADRICEPS, 1.0) / lift];
    let pass = (quad[0] - 2.0).abs() < 0.25;
    report.row("quadriceps: back (of the peak)", &list(&quad[..1], 2), "twice", pass);
    report.note("quadriceps: up (of the peak)", &list(&quad[1..], 2), "nearly half");
    let calf = [of(Axis::Forward, CALF, 1.0) / push, of(Axis::Up, CALF, 1.0) / lift];
    let pass = calf[0] > 2.0 && calf[1] > 0.5;
    report.row(
        "soleus and gastrocnemius: forward, up (of the peaks)",
        &list(&calf, 2),
        "over twice, over half",
        pass,
    );
    let arms = |axis, most: f64| {
        let sum = c.sum(axis, ARMS);
        100.0 * peak(&sum, 1.0).max(peak(&sum, -1.0)) / most
    };
    let arms = [arms(Axis::Forward, brake.max(push)), arms(Axis::Up, lift)];
    report.row(
        "arms: fore and aft, up (% of the peaks)",
        &list(&arms, 1),
        "below 1",
        arms.iter().all(|a| *a < 1.0),
    );

    momentum(&trial, rows, report, folder)?;
    for (axis, name, what) in [(Axis::Forward, "running_forward", "forward"), (Axis::Up, "running_up", "up")]
    {
        picture(&c, axis, name, &format!("Running: acceleration of the mass centre, {what}"), folder)?;
    }
    Ok(())
}

/// Reactions of the contacts against the measured force.
fn reaction(times: &[f64], [a, b]: [&[f64]; 2], c: &Contributions, report: &mut Report) {
    // The measured force on straight lines between samples.
    let measured = |t: f64| {
        let k = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1);
        let s = ((t - times[k - 1]) / (times[k] - times[k - 1])).clamp(0.0, 1.0);
        (1.0 - s) * (a[k - 1] + b[k - 1]) + s * (a[k] + b[k])
    };
    let difference = c.times().iter().zip(c.vertical_reaction()).map(|(&t, f)| f - measured(t));
    let rms = (difference.map(|d| d * d).sum::<f64>() / c.times().len() as f64).sqrt();
    let most = a.iter().zip(b).map(|(a, b)| a + b).fold(0.0, f64::max);
    let ours = format!("{rms:.0}, {:.1} %", 100.0 * rms / most);
    let wanted = format!("the measured force, {most:.0} at most");
    report.row(
        "reactions of the contacts less the measured force, RMS (N)",
        &ours,
        &wanted,
        rms < 0.05 * most,
    );
}

/// Begin and end of every stance, s.
fn stances(times: &[f64], plates: [&[f64]; 2]) -> Vec<(f64, f64)> {
    let mut spans = Vec::new();
    for force in plates {
        let mut start = None;
        for (&t, &f) in times.iter().zip(force) {
            match (start, f > CONTACT) {
                (None, true) => start = Some(t),
                (Some(a), false) => {
                    spans.push((a, t));
                    start = None;
                }
                _ => {}
            }
        }
    }
    spans
}

/// When the mass centre is no longer slowed down, after it was slowed down most.
fn braking_ends(times: &[f64], forward: &[f64], from: f64, to: f64) -> f64 {
    let inside: Vec<usize> = (0..times.len()).filter(|&k| (from..=to).contains(&times[k])).collect();
    let Some(&hardest) = inside.iter().min_by(|a, b| forward[**a].total_cmp(&forward[**b])) else {
        return to;
    };
    inside.iter().find(|&&k| k > hardest && forward[k] > 0.0).map_or(to, |&k| times[k])
}

/// Angular momenta about the vertical of arms and legs.
fn momentum(
    trial: &Trial,
    rows: std::ops::RangeInclusive<usize>,
    report: &mut Report,
    folder: &Folder,
) -> Result<(), Failure> {
    let groups: [(&str, &[&str]); 2] = [
        ("arms", &["humerus", "ulna", "radius", "hand"]),
        ("legs", &["femur", "tibia", "talus", "calcn", "toes", "patella"]),
    ];
    let outputs = trial.analyse(rows, 1, vec![Box::new(AngularMomentum::new(&groups))])?;
    let Some(t) = outputs.first().and_then(|o| o.first()).map(|o| &o.table) else { return Ok(()) };
    let (arms, legs) = (&t.columns()[0], &t.columns()[1]);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let together = dot(arms, legs) / (dot(arms, arms) * dot(legs, legs)).sqrt();
    let size = (dot(arms, arms) / dot(legs, legs)).sqrt();
    report.row(
        "angular momentum about the vertical, arms with legs: correlation, ratio",
        &list(&[together, size], 2),
        "equal and opposite",
        together < -0.9,
    );
    let line = |name, y| Series { name, x: t.times(), y };
    let words = ["Running: angular momentum about the vertical", "time (s)", "kg m2/s"];
    folder.picture("running_momentum", words, &[line("arms", arms), line("legs", legs)])
}

/// Largest value in a direction.
pub fn peak(values: &[f64], sign: f64) -> f64 {
    values.iter().map(|v| sign * v).fold(f64::NEG_INFINITY, f64::max)
}

/// Groups and total over time.
pub fn picture(
    c: &Contributions,
    axis: Axis,
    name: &str,
    title: &str,
    folder: &Folder,
) -> Result<(), Failure> {
    let mut courses: Vec<(&str, Vec<f64>)> =
        GROUPS.iter().map(|(n, words)| (*n, c.sum(axis, words))).collect();
    courses.push(("all", c.total(axis)));
    let lines: Vec<Series> = courses.iter().map(|(name, y)| Series { name, x: c.times(), y }).collect();
    folder.picture(name, [title, "time (s)", "m/s2"], &lines)
}

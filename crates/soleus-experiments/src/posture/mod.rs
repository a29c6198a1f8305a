//! Seth, Sherman, Reinbolt and Delp (2011), section 5: does a crouch help a body without muscles to stand on a platform that moves?
//!
//! The paper gives the postures, the two ways of holding the joints and the stability index; positions and properties of the pads,
//! the course of the platform and what counts as a fall are not in it, and are ours.

mod falling;
mod standing;
mod subject;
#[cfg(test)]
mod tests;

use super::places::Places;
use super::report::{Report, list};
use super::sheet::{Folder, Series, Sheet};
use crate::desk;
use clap::Args;
use falling::{Subject, stability_index};
use soleus::Error;
use standing::{Standing, stand};
use subject::{Joints, Push, on_platform};

/// What `soleus experiment posture` is told.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    places: Places,
    /// Duration of the platform motion, s; not given in the paper
    #[arg(long, default_value_t = 1.0, value_name = "S")]
    ramp: f64,
    /// Position of the mass centre in quiet standing: cm ahead of the back of the heel
    #[arg(long, default_value_t = 10.0, value_name = "CM")]
    ahead: f64,
}

/// Knee flexion of the postures, deg (Fig. 11).
const FLEXION: [f64; 4] = [1.0, 15.0, 30.0, 45.0];
/// By how much the platform moves, m; forward is positive.
const SHIFTS: [f64; 12] = [-0.20, -0.15, -0.10, -0.05, -0.03, -0.02, 0.02, 0.03, 0.05, 0.10, 0.15, 0.20];
/// The largest push that is tried with locked joints, m.
const MOST: f64 = 0.5;

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let folder = Folder::create(a.places.out.as_ref())?;
    let path = a.places.data.join("walking/gait2392_subject01/gait2392_thelen2003muscle.osim");
    let missing = |what: &str| {
        Error::content(&path, 0, "", what.to_string(), "give the folder with the data: --data DIR")
    };
    let model = on_platform(desk::model(&path)?).ok_or_else(|| missing("the model has no feet"))?;
    let system = desk::compile(&path, &model, &Default::default())?;
    let mut report = Report::default();
    println!(
        "A body without muscles on a platform that moves by 2 to 20 cm in {} s (Figs. 11 and 12). Ours | published",
        a.ramp
    );

    let mut postures = Vec::new();
    for flexion in FLEXION {
        let standing = stand(&model, &system, flexion.to_radians(), 0.01 * a.ahead);
        postures.push(standing.ok_or_else(|| missing("one of the postures has no equilibrium"))?);
    }
    report.heading("Quiet standing, knees bent by 1 15 30 45 deg");
    let height: Vec<f64> = postures.iter().map(|s| 100.0 * s.height).collect();
    report.note("height of the mass centre (cm)", &list(&height, 1), "");
    let residual = postures.iter().map(|s| s.residual).fold(0.0, f64::max);
    report.row("largest residual of the pelvis (N, N m)", &format!("{residual:.1e}"), "0", residual < 1e-3);

    let subjects: Vec<Subject> =
        postures.iter().map(|standing| Subject { path: &path, model: &model, standing }).collect();
    free(&subjects, a.ramp, &mut report, &folder)?;
    locked(&subjects, &postures, a.ramp, &mut report, &folder)?;
    report.close();
    Ok(())
}

/// Joints free, constant torques (Fig. 12a).
fn free(subjects: &[Subject], duration: f64, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading("Joints free, the torques of quiet standing: stability index 1 − exp(−T²)");
    let mut sheet = Sheet::new(&["platform (cm)", "1 deg", "15 deg", "30 deg", "45 deg"]);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for shift in SHIFTS {
        let index = |s: &Subject| {
            Ok::<_, Error>(stability_index(s.time_to_fall(Joints::Free, Push { shift, duration })?))
        };
        let row = subjects.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        report.note(&format!("platform by {:.0} cm", 100.0 * shift), &list(&row, 3), "");
        let mut cells = vec![format!("{:.0}", 100.0 * shift)];
        cells.extend(row.iter().map(|x| format!("{x:.4}")));
        sheet.row(cells);
        rows.push(row);
    }
    let stable = rows.iter().flatten().filter(|&&x| x >= 1.0).count();
    report.row(
        "pushes without a fall",
        &format!("{stable} of {}", 4 * rows.len()),
        "unstable for all postures",
        stable == 0,
    );
    let mean = |rows: &[Vec<f64>], k: usize| rows.iter().map(|r| r[k]).sum::<f64>() / rows.len() as f64;
    let by_posture: Vec<f64> = (0..subjects.len()).map(|k| mean(&rows, k)).collect();
    report.row(
        "mean index by posture",
        &list(&by_posture, 3),
        "less stable with less crouch",
        by_posture.windows(2).all(|w| w[0] < w[1]),
    );
    let half = SHIFTS.len() / 2;
    let side =
        |rows: &[Vec<f64>]| (0..subjects.len()).map(|k| mean(rows, k)).sum::<f64>() / subjects.len() as f64;
    let sides = [side(&rows[..half]), side(&rows[half..])];
    report.row(
        "mean index of posterior and anterior pushes",
        &list(&sides, 3),
        "less stable with anterior ones",
        sides[1] < sides[0],
    );
    folder.table("posture_free", "Joints free: stability index", &sheet)?;
    let names = ["1 deg", "15 deg", "30 deg", "45 deg"];
    let x: Vec<f64> = SHIFTS.iter().map(|s| 100.0 * s).collect();
    let columns: Vec<Vec<f64>> = (0..subjects.len()).map(|k| rows.iter().map(|r| r[k]).collect()).collect();
    let lines: Vec<Series> = names.iter().zip(&columns).map(|(name, y)| Series { name, x: &x, y }).collect();
    folder.picture("posture_free", ["Joints free", "platform forward (cm)", "stability index"], &lines)
}

/// Joints locked: the range of pushes without a fall (Fig. 12b).
fn locked(
    subjects: &[Subject],
    postures: &[Standing],
    duration: f64,
    report: &mut Report,
    folder: &Folder,
) -> Result<(), Error> {
    report.heading("Legs and back locked: the range of pushes without a fall, cm");
    let mut sheet = Sheet::new(&["knee (deg)", "backward (cm)", "forward (cm)"]);
    let mut ranges = Vec::new();
    for (flexion, s) in FLEXION.iter().zip(subjects) {
        let range =
            [s.largest_push(-1.0, MOST, duration)?, s.largest_push(1.0, MOST, duration)?].map(|x| 100.0 * x);
        report.note(&format!("knees bent by {flexion} deg"), &list(&range, 2), "");
        sheet.row(vec![format!("{flexion}"), format!("{:.2}", range[0]), format!("{:.2}", range[1])]);
        ranges.push(range);
    }
    let widths: Vec<f64> = ranges.iter().map(|r| r[1] - r[0]).collect();
    report.row(
        "width of the range (cm)",
        &list(&widths, 2),
        "stable regions for each posture",
        widths.iter().all(|&w| w > 0.1),
    );
    let widens = |side: usize| ranges.windows(2).all(|w| w[0][side].abs() < w[1][side].abs());
    report.row(
        "width of the range (cm)",
        &list(&widths, 2),
        "wider with more knee flexion",
        widths.windows(2).all(|w| w[0] < w[1]),
    );
    let both = format!("{}, {}", if widens(0) { "yes" } else { "no" }, if widens(1) { "yes" } else { "no" });
    report.note("wider backward, forward", &both, "");
    let heights: Vec<f64> = postures.iter().map(|s| 100.0 * s.height).collect();
    report.note("height of the mass centre (cm)", &list(&heights, 1), "");
    folder.table("posture_locked", "Joints locked: largest pushes without a fall", &sheet)
}

//! State estimation from real inertial sensors: the records of Dorschky et al. (2019) through the cost (21) of van den Bogert,
//! Blana and Heinrich (2011).

mod problem;
mod record;
mod start;

use super::places::Places;
use super::report::Report;
use super::sheet::{Folder, Series, Sheet};
use crate::desk;
use clap::Args;
use problem::{EFFORT, Gait, SensorSet};
use record::Recording;
use soleus::Error;
use soleus::prediction::{Walk, strip};

/// What `soleus experiment imu` is told.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    places: Places,
    /// W of eq. 21: weight of effort relative to the measurements
    #[arg(long, default_value_t = EFFORT, value_name = "W")]
    effort: f64,
    /// Only the estimate with all sensors and the given W
    #[arg(long)]
    short: bool,
}

/// What is compared: kind and name in the record, title, unit, factor from our number to the record's.
const COMPARED: [(&str, &str, &str, &str); 5] = [
    ("angle", "hip_flexion_r", "hip", "deg"),
    ("angle", "knee_angle_r", "knee", "deg"),
    ("angle", "ankle_angle_r", "ankle", "deg"),
    ("GRF", "GRF_x_r", "forward force", "BW"),
    ("GRF", "GRF_y_r", "vertical force", "BW"),
];

/// Other W, for all sensors.
const OTHER_EFFORTS: [f64; 3] = [1.0, 10.0, 30.0];

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let folder = Folder::create(a.places.out.as_ref())?;
    let mut report = Report::default();
    println!("Gaits of one person from inertial sensors alone. Ours | published or target");
    let mut sheet = Sheet::new(&["gait", "sensors", "signal", "correlation", "rms", "rms without offset"]);
    for (name, file) in [("walking", "P01_normwalking.mat"), ("running", "P01_normrunning.mat")] {
        let recording = Recording::read(&a.places.data.join("gait2d/biomac").join(file))?;
        report.heading(&format!(
            "{name}: {:.2} m/s, cycle of {:.3} s, {} kg, {} m",
            recording.speed, recording.duration, recording.mass, recording.height
        ));
        let mut gait = Gait::new(recording, a.effort)?;
        let mut guess = None;
        let sets = [SensorSet::All, SensorSet::NoFeet, SensorSet::RightLeg, SensorSet::Gyroscopes];
        for set in sets.into_iter().take(if a.short { 1 } else { sets.len() }) {
            compare((name, set.name()), &gait, set, &mut guess, (&mut report, &mut sheet, &folder), a)?;
        }
        for effort in OTHER_EFFORTS.into_iter().take(if a.short { 0 } else { OTHER_EFFORTS.len() }) {
            gait.effort = effort;
            let title = format!("seven sensors, W = {effort}");
            let all = SensorSet::All;
            compare((name, &title), &gait, all, &mut guess, (&mut report, &mut sheet, &folder), a)?;
        }
    }
    folder.table("imu", "Estimates from inertial sensors and measured curves", &sheet)?;
    report.close();
    Ok(())
}

fn compare(
    (name, label): (&str, &str),
    gait: &Gait,
    set: SensorSet,
    guess: &mut Option<soleus_control::Trajectory>,
    (report, sheet, folder): (&mut Report, &mut Sheet, &Folder),
    a: &Arguments,
) -> Result<(), Error> {
    let start = std::time::Instant::now();
    let o = gait.estimate(set, guess.as_ref())?;
    let seconds = start.elapsed().as_secs_f64();
    let solved = o.solution.status.is_solved();
    let is_main = set == SensorSet::All && gait.effort == a.effort;
    if guess.is_none() && solved {
        *guess = Some(o.trajectory.clone());
    }
    report.note(
        label,
        &format!(
            "cost {:.3} = {:.3} + {:.3}, violation {:.1e}, {} iterations, {seconds:.1} s{}",
            o.solution.objective,
            o.goal("tracking"),
            o.goal("effort"),
            o.solution.certificate.constraint_violation,
            o.iterations,
            if solved { "" } else { ", not solved" }
        ),
        "",
    );
    let ours = gait.courses(&o.trajectory);
    let mut worst = [f64::INFINITY; 2];
    let mut words = Vec::new();
    for (k, (kind, signal, title, unit)) in COMPARED.into_iter().enumerate() {
        let Some(measured) = gait.recording.find(kind, signal) else { continue };
        let factor = if kind == "angle" { 1f64.to_degrees() } else { 1.0 };
        let measured: Vec<f64> = measured.mean.iter().map(|v| v * factor).collect();
        let c = Comparison::new(&ours[k], &measured);
        let part = usize::from(kind != "angle");
        worst[part] = worst[part].min(c.correlation);
        let digits = if part == 0 { 1 } else { 3 };
        words.push(format!("{title} {:.3} ({:.digits$} {unit})", c.correlation, c.rms_without_offset));
        sheet.row(vec![
            name.into(),
            label.into(),
            format!("{title}, {unit}"),
            format!("{:.3}", c.correlation),
            format!("{:.digits$}", c.rms),
            format!("{:.digits$}", c.rms_without_offset),
        ]);
        if is_main {
            let x: Vec<f64> = (0..measured.len()).map(|i| 100.0 * i as f64 / measured.len() as f64).collect();
            let file = format!("{name}_{}", signal.to_lowercase());
            folder.picture(
                &file,
                [&format!("{name}: {title}"), "cycle, %", unit],
                &[
                    Series { name: "estimated", x: &x, y: &ours[k] },
                    Series { name: "measured", x: &x, y: &measured },
                ],
            )?;
        }
    }
    let ours_words = words.join(", ");
    if is_main {
        report.row(
            "correlation (rms without offset)",
            &ours_words,
            "angles ≥ 0.93, forces ≥ 0.90 (Dorschky et al. 2019, means of ten people, model scaled to each)",
            solved && worst[0] >= 0.93 && worst[1] >= 0.90,
        );
        if let Some(out) = &a.places.out {
            let walk = Walk::new(&gait.walker, &gait.cycle(), &o.trajectory);
            let title = format!("{name} estimated from inertial sensors");
            desk::write_whole(&out.join(format!("{name}.svg")), &strip(&gait.walker, &walk, 9, &title))?;
        }
    } else {
        report.note("correlation (rms without offset)", &ours_words, "");
    }
    Ok(())
}

/// How alike two courses are.
struct Comparison {
    correlation: f64,
    rms: f64,
    rms_without_offset: f64,
}

impl Comparison {
    fn new(a: &[f64], b: &[f64]) -> Comparison {
        let n = a.len().min(b.len()).max(1) as f64;
        let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
        let (ma, mb) = (mean(a), mean(b));
        let sum =
            |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(&x, &y)| f(x - ma, y - mb)).sum::<f64>();
        let squares = sum(&|x, y| (x - y) * (x - y)) / n;
        Comparison {
            correlation: sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt(),
            rms: (squares + (ma - mb) * (ma - mb)).sqrt(),
            rms_without_offset: squares.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_comparison() {
        let c = Comparison::new(&[1.0, 2.0, 4.0], &[3.0, 5.0, 9.0]);
        assert!((c.correlation - 1.0).abs() < 1e-12);
        // Differences 2, 3, 5: mean square 38/3, variance 14/9.
        assert!((c.rms - (38f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((c.rms_without_offset - (14f64 / 9.0).sqrt()).abs() < 1e-12);
    }
}

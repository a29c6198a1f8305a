//! State estimation from noisy and incomplete sensors on a ski landing: van den Bogert, Blana and Heinrich (2011), section 4.4.
//!
//! The video of the paper is not public, so the experiment has a twin: a landing of a model, whose states are known, is read
//! with noise and estimated from the readings.

mod estimate;
mod knee;
mod landing;
mod motion;
mod perturb;
mod pictures;
mod readings;
mod skier;

use super::report::{Report, list};
use super::sheet::{Folder, Sheet};
use clap::Args;
use estimate::{EFFORT, Score, estimate, sampled};
use landing::DURATION;
use motion::Motion;
use readings::Sensors;
use skier::{Gear, Skier, USUAL};
use soleus::Error;
use soleus_control::continuation::Outcome;
use std::path::PathBuf;
use std::time::Instant;

/// What `soleus experiment ski` is told.
#[derive(Args)]
pub struct Arguments {
    /// Folder for tables (.csv, .md) and pictures (.svg)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of noise seeds for the estimate with all channels
    #[arg(long, default_value_t = 3, value_name = "N")]
    seeds: u64,
    /// W of eq. 21: weight of effort relative to the measurements
    #[arg(long, default_value_t = EFFORT, value_name = "W")]
    effort: f64,
    /// Only the estimate with all channels: no missing channels, no perturbed landings
    #[arg(long)]
    short: bool,
}

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let mut report = Report::default();
    let folder = Folder::create(a.out.as_ref())?;
    println!("Landing of a planar skier, 13 coordinates, 16 muscles. Ours | published or target");
    let skier = Skier::new(USUAL)?;
    let truth = the_truth(&skier, &report)?;
    let best = all_channels(a, &skier, &truth, (&mut report, &folder))?;
    if !a.short {
        off_balance(&skier, &best, (&report, &folder))?;
        missing_channels(&skier, &truth, &best, a.effort, (&report, &folder))?;
    }
    report.close();
    Ok(())
}

/// The landing that is estimated.
fn the_truth(skier: &Skier, report: &Report) -> Result<Motion, Error> {
    report.heading("The truth: simulated with reflexes, 1440 steps of the midpoint rule");
    let start = Instant::now();
    let whole = landing::truth(skier)?;
    let seconds = start.elapsed().as_secs_f64();
    let truth = whole.at(skier, &readings::times(DURATION));
    let snow = skier.snow(&truth.states);
    let total = |k: usize| (snow[0][k][1] + snow[1][k][1]) / skier.weight;
    let peak = (0..truth.times.len()).map(total).fold(0.0, f64::max);
    let touch = (0..truth.times.len()).find(|&k| total(k) > 0.05).map_or(DURATION, |k| truth.times[k]);
    let deepest = skier
        .planar
        .legs
        .map(|leg| truth.states.iter().map(|x| -x.q[leg[1]].to_degrees()).fold(0.0, f64::max));
    report.note(
        "landing",
        &format!(
            "skis touch at {touch:.2} s, peak force {peak:.2} BW, knees flex to {} deg, {seconds:.1} s",
            list(&deepest, 0)
        ),
        "",
    );
    Ok(truth)
}

/// Excitations of a solution.
fn excitations(o: &Outcome) -> Motion {
    let (times, controls) = motion::excitations(&o.trajectory);
    Motion { times, states: Vec::new(), controls }
}

/// Everything that the video shows.
fn whole(skier: &Skier) -> Sensors {
    let p = &skier.planar;
    let coordinates = [p.forward, p.height].into_iter().chain(skier.joints()).collect();
    Sensors { coordinates, inertial: false, every: 1, noise: 1.0 }
}

/// All nine coordinates of the paper, with several seeds.
fn all_channels(
    a: &Arguments,
    skier: &Skier,
    truth: &Motion,
    (report, folder): (&mut Report, &Folder),
) -> Result<Outcome, Error> {
    report.heading(&format!(
        "Estimate: position and angle of the trunk and six joint angles at 180 Hz, noise 1 cm and 2 deg; W = {}",
        a.effort
    ));
    let mut scores = Vec::new();
    let (mut first, mut solved) = (None, true);
    for seed in 1..=a.seeds.max(1) {
        let start = Instant::now();
        let records = whole(skier).read(skier, truth, seed)?;
        let o = estimate(skier, &records, a.effort)?;
        let estimated = sampled(skier, &o.trajectory);
        let score = Score::new(skier, truth, &estimated);
        let is_solved = o.solution.status.is_solved();
        report.note(
            &format!("seed {seed}"),
            &format!(
                "joints {} deg, trunk {:.2} deg, forces of each ski {} BW, cost {:.3} = {:.3} + {:.3}, violation {:.0e}, {} iterations, {:.0} s{}",
                list(&score.angles[1..], 2),
                score.angles[0],
                list(&score.forces.concat(), 3),
                o.solution.objective,
                o.goal("tracking"),
                o.goal("effort"),
                o.solution.certificate.constraint_violation,
                o.iterations,
                start.elapsed().as_secs_f64(),
                if is_solved { "" } else { ", not solved" }
            ),
            "",
        );
        if first.is_none() {
            pictures::all(skier, truth, &estimated, &records, (folder, a.out.as_deref()))?;
            first = Some(o);
        }
        scores.push(score);
        solved &= is_solved;
    }
    let worst = |f: &dyn Fn(&Score) -> f64| scores.iter().map(f).fold(0.0, f64::max);
    let joints = worst(&Score::worst_joint);
    report.row(
        "joint angles, worst joint and seed",
        &format!("{joints:.2} deg"),
        "1 deg",
        solved && joints <= 1.0,
    );
    let forces = worst(&Score::worst_force);
    report.row(
        "force on one ski, worst component and seed",
        &format!("{:.1} % of body weight", 100.0 * forces),
        "5 %",
        solved && forces <= 0.05,
    );
    let total = worst(&|s| s.total[1]);
    report.row(
        "force on both skis",
        &format!("{:.1} % of body weight", 100.0 * total),
        "5 %",
        solved && total <= 0.05,
    );
    report.note("excitations", &format!("{:.3}", worst(&|s| s.excitations)), "not observed");
    report.note("muscle forces", &format!("{:.3} maximal ones", worst(&|s| s.muscles)), "not observed");
    first.ok_or_else(|| Error::NotSolved { message: "there is no estimate".into() })
}

/// Fewer and other channels.
fn missing_channels(
    skier: &Skier,
    truth: &Motion,
    best: &Outcome,
    effort: f64,
    (report, folder): (&Report, &Folder),
) -> Result<(), Error> {
    report.heading("Fewer and other measurements: worst joint deg, trunk deg, forces of one ski and of both % BW, excitations");
    let p = &skier.planar;
    let all = whole(skier);
    let without = |gone: &[usize]| Sensors {
        coordinates: all.coordinates.iter().copied().filter(|i| !gone.contains(i)).collect(),
        ..all.clone()
    };
    let [r, l] = p.legs;
    let none = Sensors { coordinates: Vec::new(), inertial: true, ..all.clone() };
    let cases = [
        ("no noise", Sensors { noise: 0.0, ..all.clone() }),
        ("half the noise", Sensors { noise: 0.5, ..all.clone() }),
        ("twice the noise", Sensors { noise: 2.0, ..all.clone() }),
        ("at 60 Hz", Sensors { every: 3, ..all.clone() }),
        ("without ankles", without(&[r[2], l[2]])),
        ("without ankles and knees", without(&[r[1], r[2], l[1], l[2]])),
        ("without the left leg", without(&l)),
        ("without the trunk position", without(&[p.forward, p.height])),
        ("and five inertial sensors", Sensors { inertial: true, ..all.clone() }),
        ("five inertial sensors alone", none),
    ];
    let mut sheet = Sheet::new(&[
        "readings",
        "worst joint, deg",
        "trunk, deg",
        "one ski, % BW",
        "both skis, % BW",
        "excitations",
        "muscle forces, F0",
        "solved",
    ]);
    let mut row = |name: &str, skier: &Skier, truth: &Motion, o: &Outcome| {
        let s = Score::new(skier, truth, &sampled(skier, &o.trajectory));
        let solved = if o.solution.status.is_solved() { "yes" } else { "no" };
        let cells = [
            format!("{:.2}", s.worst_joint()),
            format!("{:.2}", s.angles[0]),
            format!("{:.1}", 100.0 * s.worst_force()),
            format!("{:.1}", 100.0 * s.total[1]),
            format!("{:.3}", s.excitations),
            format!("{:.3}", s.muscles),
        ];
        report.note(name, &cells[..5].join("  "), if solved == "yes" { "" } else { "not solved" });
        sheet.row([vec![name.to_string()], cells.to_vec(), vec![solved.to_string()]].concat());
    };
    row("all nine coordinates", skier, truth, best);
    for (name, sensors) in &cases {
        let records = sensors.read(skier, truth, 1)?;
        row(name, skier, truth, &estimate(skier, &records, effort)?);
    }
    let other = Skier::new(Gear { firmness: FIRMNESS, ..USUAL })?;
    let landed = landing::truth(&other)?.at(&other, &readings::times(DURATION));
    let records = all.read(&other, &landed, 1)?;
    row("all nine, on snow four times as firm", &other, &landed, &estimate(&other, &records, effort)?);
    folder.table("readings", "Estimates from fewer and other measurements", &sheet)
}

/// Perturbed landings with skis of different stiffness.
fn off_balance(
    skier: &Skier,
    estimated: &Outcome,
    (report, folder): (&Report, &Folder),
) -> Result<(), Error> {
    report.heading("Off balance: rotated backwards at the start, simulated with the estimated excitations; peaks of ACL and PCL, N");
    let start = perturb::start(skier, &estimated.trajectory);
    let controls = excitations(estimated);
    let mut sheet =
        Sheet::new(&["turned, deg", "stiffness of the skis", "ACL, N", "PCL, N", "reached the end"]);
    let mut peaks = Vec::new();
    let begun = Instant::now();
    let mut count = 0;
    for degrees in TURNS {
        for bending in BENDINGS {
            let other = Skier::new(Gear { bending, ..USUAL })?;
            let (motion, reached) = perturb::simulate(
                &other,
                &perturb::turned(&other, &start, f64::to_radians(degrees)),
                &controls,
            );
            if degrees == 0.0 && bending == 1.0 {
                let again =
                    Motion { times: motion.times.iter().map(|t| t + start.time).collect(), ..motion.clone() };
                let again = again.at(&other, &readings::times(DURATION));
                let apart = Score::new(skier, &sampled(skier, &estimated.trajectory), &again);
                report.note(
                    "simulated unchanged, from the estimate",
                    &format!(
                        "worst joint {:.2} deg, force of one ski {:.1} % BW",
                        apart.worst_joint(),
                        100.0 * apart.worst_force()
                    ),
                    "",
                );
            }
            let peak = perturb::peaks(&other, &motion)?;
            count += 1;
            report.note(
                &format!("{degrees} deg, {:.0} % of the stiffness", 100.0 * bending),
                &format!(
                    "{:.0} {:.0}{}",
                    peak.anterior,
                    peak.posterior,
                    if reached { "" } else { ", stopped early" }
                ),
                "",
            );
            sheet.row(vec![
                format!("{degrees}"),
                format!("{:.0} %", 100.0 * bending),
                format!("{:.0}", peak.anterior),
                format!("{:.0}", peak.posterior),
                if reached { "yes" } else { "no" }.to_string(),
            ]);
            peaks.push((degrees, bending, peak));
        }
    }
    let seconds = begun.elapsed().as_secs_f64() / f64::from(count);
    report.note("one simulation with its ligaments", &format!("{seconds:.2} s"), "a matter of seconds");
    folder.table("ligaments", "Peaks of the ligament forces", &sheet)?;
    let largest = |degrees: f64, bending: f64| {
        let found = peaks.iter().find(|p| p.0 == degrees && p.1 == bending);
        found.map_or(0.0, |p| p.2.anterior.max(p.2.posterior))
    };
    let most = TURNS[TURNS.len() - 1];
    let (calm, thrown) = (largest(0.0, 1.0), largest(most, 1.0));
    report.note(
        &format!("largest ligament force, {most} deg compared with 0 deg"),
        &format!("{thrown:.0} N against {calm:.0} N, {:+.0} %", 100.0 * (thrown / calm - 1.0)),
        "much larger",
    );
    let soft = largest(most, 0.5);
    report.note(
        &format!("the same with half the stiffness, {most} deg"),
        &format!("{:+.0} %", 100.0 * (soft / thrown - 1.0)),
        "-10 %",
    );
    Ok(())
}

/// Angles of the perturbation, deg.
const TURNS: [f64; 4] = [0.0, 5.0, 10.0, 15.0];
/// Stiffness of the skis over that of the file.
const BENDINGS: [f64; 4] = [1.0, 0.75, 0.5, 0.25];
/// How much firmer the firm snow is.
const FIRMNESS: f64 = 4.0;

#[cfg(test)]
mod tests;

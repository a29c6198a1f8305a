//! Running at 3.96 m/s (section 4.4, Fig. 10; Hamner, Seth and Delp 2010).

use super::momentum::AngularMomentum;
use super::trial::{Axis, CALF, Contributions, GROUPS, QUADRICEPS, Trial, column, table};
use crate::report::{Report, list};
use crate::sheet::{Folder, Series};
use soleus::Error;
use soleus_math::Table;
use std::path::Path;

/// Torques that move the arms.
const ARMS: &[&str] = &["arm_", "elbow", "pro_sup", "wrist", "shoulder"];
/// A foot is on the ground while it presses with more than this, N.
pub const CONTACT: f64 = 20.0;

/// How much farther ahead the pressure is centred than measured, cm: what calibration and 60 samples per second leave open.
const AHEAD_CM: [f64; 3] = [-2.0, 0.0, 2.0];

/// Motion and muscle forces of OpenSim's CMC; contacts in place of the measured reactions.
pub fn run(data: &Path, report: &mut Report, folder: &Folder) -> Result<(), Error> {
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
    report.row("contributions minus total, largest (m/s2)", &format!("{worst:.1e}"), wanted, worst < 1e-10);
    let path = data.join("subject02_running_grf.mot");
    let grf = table(&path)?;
    let plates =
        [Plate::new(&grf, "ground_force", 'r', &path)?, Plate::new(&grf, "1_ground_force", 'l', &path)?];
    reaction(grf.times(), plates.each_ref().map(|p| p.up), &c, report);
    let mass = trial.model.bodies.iter().map(|b| b.mass).sum();
    let steps: Vec<Step> = plates.iter().flat_map(|p| steps(grf.times(), p, mass, &c)).collect();
    shares(&steps, &mut |what, ours, published, pass| match pass {
        Some(pass) => report.row(what, ours, published, pass),
        None => report.note(what, ours, published),
    });

    // How much hangs on where the pressure is centred.
    let mut moved = [Vec::new(), Vec::new(), Vec::new()];
    for ahead in AHEAD_CM {
        let c = trial.pressed_ahead(0.01 * ahead)?.contributions(rows.clone(), 1, &forces)?;
        let steps: Vec<Step> = plates.iter().flat_map(|p| self::steps(grf.times(), p, mass, &c)).collect();
        let of = |f: fn(&Step) -> f64| mean_and_deviation(&steps.iter().map(f).collect::<Vec<f64>>()).0;
        moved[0].push(of(|s| s.quadriceps[0]));
        moved[1].push(of(|s| s.quadriceps[1]));
        moved[2].push(of(|s| s.calf[1]));
    }
    let where_to = format!("centre of pressure moved forward by {} cm, means", list(&AHEAD_CM, 0));
    for (values, (what, published)) in moved.iter().zip([
        ("quadriceps: back", "twice"),
        ("quadriceps: up", "nearly half"),
        ("soleus and gastrocnemius: up", "over half"),
    ]) {
        report.note(&format!("{what}, {where_to}"), &list(values, 2), published);
    }

    momentum(&trial, rows, report, folder)?;
    for (axis, name, what) in [(Axis::Forward, "running_forward", "forward"), (Axis::Up, "running_up", "up")]
    {
        picture(&c, axis, name, &format!("Running: acceleration of the mass centre, {what}"), folder)?;
    }
    Ok(())
}

/// Reactions of the contacts against the measured force.
fn reaction(times: &[f64], plates: [&[f64]; 2], c: &Contributions, report: &mut Report) {
    let (rms, most) = reaction_rms(times, plates, c);
    report.row(
        "contact reactions minus measured force, RMS (N)",
        &format!("{rms:.0}, {:.1} %", 100.0 * rms / most),
        &format!("the measured force, {most:.0} at most"),
        rms < 0.05 * most,
    );
}

/// RMS of the vertical reactions of the contacts less the measured force, and the largest measured force, N.
pub fn reaction_rms(times: &[f64], [a, b]: [&[f64]; 2], c: &Contributions) -> (f64, f64) {
    // The measured force on straight lines between samples.
    let measured = |t: f64| {
        let k = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1);
        let s = ((t - times[k - 1]) / (times[k] - times[k - 1])).clamp(0.0, 1.0);
        (1.0 - s) * (a[k - 1] + b[k - 1]) + s * (a[k] + b[k])
    };
    let difference = c.times().iter().zip(c.vertical_reaction()).map(|(&t, f)| f - measured(t));
    let rms = (difference.map(|d| d * d).sum::<f64>() / c.times().len() as f64).sqrt();
    (rms, a.iter().zip(b).map(|(a, b)| a + b).fold(0.0, f64::max))
}

/// The force under one foot, N.
pub struct Plate<'t> {
    forward: &'t [f64],
    /// Upward.
    pub up: &'t [f64],
    /// The end of the names of its muscles.
    side: char,
}

impl<'t> Plate<'t> {
    /// The columns of a foot.
    pub fn new(grf: &'t Table, name: &str, side: char, path: &Path) -> Result<Self, Error> {
        let of = |axis| column(grf, &format!("{name}_v{axis}"), path);
        Ok(Plate { forward: of('x')?, up: of('y')?, side })
    }
}

/// One stance: contributions over the peaks of the mass centre's acceleration, which the plate measured.
pub struct Step {
    /// When braking ends, % of stance.
    braking: f64,
    /// Quadriceps of the leg: back, up.
    quadriceps: [f64; 2],
    /// Soleus and gastrocnemius of the leg: forward, up.
    calf: [f64; 2],
    /// The same of both when the mass centre's acceleration has its peak, not they.
    at_peak: [[f64; 2]; 2],
    /// Both arms: fore or aft, up or down.
    arms: [f64; 2],
}

/// Every stance on a plate that the motion holds from begin to end.
pub fn steps(times: &[f64], plate: &Plate, mass: f64, c: &Contributions) -> Vec<Step> {
    let (first, last) = (c.times()[0], c.times()[c.times().len() - 1]);
    let mut list = Vec::new();
    let mut start = None;
    for k in 0..times.len() {
        match (start, plate.up[k] > CONTACT) {
            (None, true) => start = Some(k),
            (Some(a), false) => {
                start = None;
                if first <= times[a] && times[k] <= last {
                    list.push(step(
                        &times[a..=k],
                        &plate.forward[a..=k],
                        &plate.up[a..=k],
                        plate.side,
                        mass,
                        c,
                    ));
                }
            }
            _ => {}
        }
    }
    list
}

fn step(times: &[f64], forward: &[f64], up: &[f64], side: char, mass: f64, c: &Contributions) -> Step {
    let (from, to) = (times[0], times[times.len() - 1]);
    // Braking ends when the foot no longer pushes back, after it did so hardest; forward counts from there.
    let hardest = (0..forward.len()).min_by(|a, b| forward[*a].total_cmp(&forward[*b])).unwrap_or(0);
    let end = (hardest..forward.len()).find(|&k| forward[k] > 0.0).unwrap_or(forward.len() - 1);
    let [back, ahead, lift] =
        [peak(forward, -1.0), peak(&forward[hardest..], 1.0), peak(up, 1.0)].map(|f| f / mass);
    let inside = |values: Vec<f64>| -> Vec<f64> {
        let pairs = c.times().iter().zip(values);
        pairs.filter(|(t, _)| (from..=to).contains(*t)).map(|(_, v)| v).collect()
    };
    let of = |axis, words, sign| peak(&inside(c.sum_of_leg(axis, words, side)), sign);
    // What a group contributes at the instant of a sample of the plate.
    let at = |axis, words, k: usize| {
        let row = c.times().partition_point(|t| *t < times[k]).min(c.times().len() - 1);
        c.sum_of_leg(axis, words, side)[row]
    };
    let highest =
        |values: &[f64]| (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0);
    let (farthest, top) = (hardest + highest(&forward[hardest..]), highest(up));
    let most = |axis| {
        let sum = inside(c.sum(axis, ARMS));
        peak(&sum, 1.0).max(peak(&sum, -1.0))
    };
    Step {
        braking: 100.0 * (times[end] - from) / (to - from),
        quadriceps: [of(Axis::Forward, QUADRICEPS, -1.0) / back, of(Axis::Up, QUADRICEPS, 1.0) / lift],
        calf: [of(Axis::Forward, CALF, 1.0) / ahead, of(Axis::Up, CALF, 1.0) / lift],
        at_peak: [
            [-at(Axis::Forward, QUADRICEPS, hardest) / back, at(Axis::Up, QUADRICEPS, top) / lift],
            [at(Axis::Forward, CALF, farthest) / ahead, at(Axis::Up, CALF, top) / lift],
        ],
        arms: [most(Axis::Forward) / back.max(ahead), most(Axis::Up) / lift],
    }
}

/// Takes what a number is, ours, what was published, and whether it will do, where that is judged.
type Tell<'a> = dyn FnMut(&str, &str, &str, Option<bool>) + 'a;

/// Tells what the stances come to, each and their mean, beside the paper's words. A number that the paper gives passes if it
/// lies within one standard deviation of the mean.
pub fn shares(steps: &[Step], tell: &mut Tell) {
    let each = |of: fn(&Step) -> f64| steps.iter().map(of).collect::<Vec<f64>>();
    let told = |values: &[f64], digits: usize| {
        let (mean, deviation) = mean_and_deviation(values);
        format!("{} ({mean:.digits$} ± {deviation:.digits$})", list(values, digits))
    };
    let mean = |values: &[f64]| mean_and_deviation(values).0;
    let is = |values: &[f64], published: f64| {
        let (mean, deviation) = mean_and_deviation(values);
        (mean - published).abs() <= deviation
    };
    let below = |values: &[f64], most: f64| values.iter().all(|v| *v < most);

    let v = each(|s| s.braking);
    tell("braking ends, each stance (mean ± SD) (% of stance)", &told(&v, 0), "60", Some(is(&v, 60.0)));
    let v = each(|s| s.quadriceps[0]);
    tell("quadriceps: back (of the peak)", &told(&v, 2), "twice", Some(is(&v, 2.0)));
    let v = each(|s| s.quadriceps[1]);
    tell("quadriceps: up (of the peak)", &told(&v, 2), "nearly half", Some(is(&v, 0.5)));
    let v = each(|s| s.calf[0]);
    tell("soleus and gastrocnemius: forward (of the peak)", &told(&v, 2), "over twice", Some(mean(&v) > 2.0));
    let v = each(|s| s.calf[1]);
    tell("soleus and gastrocnemius: up (of the peak)", &told(&v, 2), "over half", Some(mean(&v) > 0.5));
    for (what, of, published) in [
        ("quadriceps: back, at the instant of the peak", (|s| s.at_peak[0][0]) as fn(&Step) -> f64, "twice"),
        ("quadriceps: up, at the instant of the peak", |s| s.at_peak[0][1], "nearly half"),
        ("soleus and gastrocnemius: forward, at the instant of the peak", |s| s.at_peak[1][0], "over twice"),
        ("soleus and gastrocnemius: up, at the instant of the peak", |s| s.at_peak[1][1], "over half"),
    ] {
        tell(what, &told(&each(of), 2), published, None);
    }
    let v = each(|s| 100.0 * s.arms[0]);
    tell("arms: fore and aft (% of the peak)", &told(&v, 2), "below 1", Some(below(&v, 1.0)));
    let v = each(|s| 100.0 * s.arms[1]);
    tell("arms: up and down (% of the peak)", &told(&v, 2), "below 1", Some(below(&v, 1.0)));
}

/// Mean, and standard deviation of the values as a sample.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

/// Angular momenta about the vertical of arms and legs.
fn momentum(
    trial: &Trial,
    rows: std::ops::RangeInclusive<usize>,
    report: &mut Report,
    folder: &Folder,
) -> Result<(), Error> {
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
pub fn picture(c: &Contributions, axis: Axis, name: &str, title: &str, folder: &Folder) -> Result<(), Error> {
    let mut courses: Vec<(&str, Vec<f64>)> =
        GROUPS.iter().map(|(n, words)| (*n, c.sum(axis, words))).collect();
    courses.push(("all", c.total(axis)));
    let lines: Vec<Series> = courses.iter().map(|(name, y)| Series { name, x: c.times(), y }).collect();
    folder.picture(name, [title, "time (s)", "m/s2"], &lines)
}

//! Thelen and Anderson (2006), "Using computed muscle control to generate forward dynamic simulations of human walking from experimental
//! data": residual elimination and computed muscle control over half a gait cycle of every walker at hand.
//!
//! The authors' ten subjects are not public; the walkers here are others, with other models. Tables have the layout of theirs.

mod walker;

use super::places::Places;
use super::report::{Report, list};
use super::sheet::{Folder, Sheet};
use clap::Args;
use soleus::Error;
use soleus::muscle_control::{WALKING_ERRORS, WALKING_REACTIONS};
use walker::{Walk, Walker};

/// What `soleus experiment thelen` is told.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    places: Places,
    /// Lengths of a window of computed muscle control, s; the paper's is 0.01
    #[arg(long, num_args = 1.., default_values_t = [0.005, 0.01], value_name = "S")]
    window: Vec<f64>,
}

/// Rows of Table 3: what it is, and mean and standard deviation of the change, mm and deg.
const ELIMINATION: [(&str, f64, f64); 6] = [
    ("pelvis, anterior-posterior", 3.3, 1.3),
    ("pelvis, medial-lateral", 1.8, 1.3),
    ("pelvis, superior-inferior", 4.1, 1.7),
    ("back, flexion", 0.9, 0.6),
    ("back, bending", 2.9, 1.1),
    ("back, rotation", 4.9, 2.5),
];

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let folder = Folder::create(a.places.out.as_ref())?;
    let mut report = Report::default();
    println!(
        "Half a gait cycle, residuals eliminated, muscles controlled in windows of {} s (published: 0.01 s). Ours | published",
        a.window.iter().map(f64::to_string).collect::<Vec<_>>().join(" and ")
    );
    let mut walks = Vec::new();
    for walker in Walker::all(&a.places.data) {
        let walk = walker.run(&a.window)?;
        report.heading(&format!("{}: {:.2} s of walking", walk.name, walk.duration));
        report.note("REA, mm and deg", &list(&walk.changes, 2), "change of pelvis and back");
        let residual = walk.residual_over_weight;
        report.row("largest residual relative to weight", &format!("{residual:.1e}"), "0", residual < 1e-6);
        for (window, control) in a.window.iter().zip(&walk.controls) {
            let of = |what: &str| format!("{what}, windows of {window} s");
            report.note(
                &of("CMC, mm and deg"),
                &list(&control.errors, 2),
                "error of pelvis, hip, knee, ankle, back",
            );
            report.note(&of("foot springs, N"), &list(&control.reactions, 2), "RMS along x, z, y");
            report.note(&of("muscles too weak"), &format!("in {} windows", control.weak_windows), "");
        }
        if let (Some(rea), Some(cmc)) = (walk.seconds[0], walk.seconds[1]) {
            let sum = rea + cmc;
            report.row(
                "time of both, s",
                &format!("{rea:.2} + {cmc:.2}"),
                "about 1800 (10 wanted)",
                sum < 10.0,
            );
        }
        walks.push(walk);
    }
    for walker in Walker::all(&a.places.data).iter().filter(|w| w.emg().is_some()) {
        closer(walker, &mut report)?;
    }
    tables(&walks, &a.window, &mut report, &folder)
}

/// Windows that are compared, s.
const WINDOWS: [f64; 4] = [0.005, 0.01, 0.02, 0.04];

/// Activations beside EMG (Fig. 3), and the appendix: the length of a window, and muscles that begin earlier.
fn closer(walker: &Walker, report: &mut Report) -> Result<(), Error> {
    let found = walker.look_closer(&WINDOWS)?;
    report.heading(&format!("Fig. 3 and the appendix, {}", walker.name));
    let mut best: Vec<(&str, f64)> = Vec::new();
    for (channel, r) in &found.emg {
        let r = r.unwrap_or(f64::NAN);
        match best.iter_mut().find(|b| b.0 == channel) {
            Some(b) => b.1 = b.1.max(r),
            None => best.push((channel, r)),
        }
    }
    for (channel, r) in &best {
        report.note(&format!("correlation with EMG, {channel}"), &format!("{r:.2}"), "");
    }
    let similar = best.iter().filter(|b| b.1 > 0.5).count();
    let shown = format!("{similar} of {}", best.len());
    report.row("channels with a correlation above 0.5", &shown, "similar to EMG", 2 * similar > best.len());
    let [changes, errors] = [0, 1].map(|k| found.by_window.iter().map(|w| w[k]).collect::<Vec<f64>>());
    report.note("windows, s", &list(&WINDOWS, 3), "0.01");
    let (first, last) = (0, WINDOWS.len() - 1);
    let falls = changes[first] > changes[last];
    report.row("changes of excitation, 1/s", &list(&changes, 2), "more with shorter windows", falls);
    let rises = errors[last] > errors[first];
    report.row("error of joints, deg", &list(&errors, 3), "more with longer windows", rises);
    report.note(
        "activation error 0.05 s after the start, started 0.1 s earlier and not",
        &list(&found.lead, 3),
        "0.1 s earlier",
    );
    Ok(())
}

/// Means over the walkers beside the published ones.
fn tables(walks: &[Walk], windows: &[f64], report: &mut Report, folder: &Folder) -> Result<(), Error> {
    let mut sheet = Sheet::new(&["table", "window, s", "row", "ours, mean", "SD", "published, mean", "SD"]);
    let mut line = |report: &mut Report,
                    [table, window]: [&str; 2],
                    what: &str,
                    values: Vec<f64>,
                    [mean, sd]: [f64; 2]| {
        let [own, own_sd] = mean_and_deviation(&values);
        let shown = format!("{own:.2} ({own_sd:.2})");
        report.row(what, &shown, &format!("{mean} ({sd})"), own <= mean);
        let cells = [table, window, what].map(str::to_string).into_iter();
        sheet.row(cells.chain([own, own_sd, mean, sd].map(|x| format!("{x:.3}"))).collect());
    };
    report.heading("Table 3: changes by residual elimination, mm and deg, mean (SD) over measured walkers");
    for (i, (what, mean, sd)) in ELIMINATION.iter().enumerate() {
        let values = walks.iter().filter(|w| !w.is_simulated).map(|w| w.changes[i]).collect();
        line(report, ["3", ""], what, values, [*mean, *sd]);
    }
    for (k, window) in windows.iter().map(f64::to_string).enumerate() {
        report.heading(&format!(
            "Table 4: errors of computed muscle control, windows of {window} s, mm and deg"
        ));
        for (i, (what, _, _, mean, sd)) in WALKING_ERRORS.iter().enumerate() {
            let values = walks.iter().map(|w| w.controls[k].errors[i]).filter(|x| x.is_finite()).collect();
            line(report, ["4", &window], what, values, [*mean, *sd]);
        }
        report.heading(&format!("Table 5: forces of the foot springs, windows of {window} s, N"));
        for (i, (what, _, mean, sd)) in WALKING_REACTIONS.iter().enumerate() {
            let values = walks.iter().map(|w| w.controls[k].reactions[i]).collect();
            line(report, ["5", &window], what, values, [*mean, *sd]);
        }
    }
    folder.table("tables", "Half a gait cycle: our walkers and the published ones", &sheet)?;
    report.close();
    Ok(())
}

fn mean_and_deviation(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    [mean, (squares / (n - 1.0).max(1.0)).sqrt()]
}

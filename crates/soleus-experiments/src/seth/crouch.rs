//! Single-limb stance in walking and in a crouch (section 4.3, Fig. 9; Steele et al. 2010).
//!
//! The children with cerebral palsy of the paper are not among our data. A crouch is made of the walking subject: hips,
//! knees and ankles are bent further by constant angles, so that trunk and foot keep their orientation, and the pelvis goes
//! where that takes it while the standing foot stays where it was. Measured reactions remain, and muscle forces come from
//! static optimization in both cases.

use super::running::{peak, picture};
use super::trial::{Axis, CALF, Contributions, GROUPS, PROXIMAL, Trial, VASTI, column, table};
use crate::report::{Report, list};
use crate::sheet::{Folder, Sheet};
use soleus::Error;
use soleus_math::Table;
use soleus_tools::static_optimization::{Settings, StaticOptimization};
use std::path::Path;

/// Every how many rows of the motion, which has one for each millisecond.
const EVERY: usize = 5;
/// The other foot is off the ground while it presses with less than this, N.
const CONTACT: f64 = 20.0;

/// Walking and crouching.
pub fn run(data: &Path, more_deg: f64, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    let reference = data.join("reference");
    let motion = reference.join("subject01_walk1_RRA_Kinematics_q.sto");
    let walk = table(&motion)?;
    let files = [
        &reference.join("subject01_simbody_adjusted.osim"),
        &data.join("gait2354_CMC_Actuators.xml"),
        &data.join("subject01_walk1_grf.xml"),
    ];
    let walking = Trial::new(files.map(|f| f.as_path()), &walk, &motion)?;
    let crouching = walking.moving(&crouched(&walking, &walk, more_deg, &motion)?)?;
    let [from, to] = single_stance(data, walk.times())?;
    report.heading(&format!(
        "Single-limb stance, {from:.3} to {to:.3} s, one subject: walking, and knees bent by {more_deg} deg more (Fig. 9)"
    ));
    let normal = contributions(&walking, from, to, EVERY)?;
    let crouch = contributions(&crouching, from, to, EVERY)?;

    let worst = [Axis::Forward, Axis::Up].map(|a| normal.worst_sum(a).max(crouch.worst_sum(a)));
    let worst = worst[0].max(worst[1]);
    report.row(
        "contributions minus total, largest (m/s2)",
        &format!("{worst:.1e}"),
        "add up to the acceleration",
        worst < 1e-10,
    );
    same_muscles(&normal, &crouch, report, folder)?;

    // Support goes from the vasti to the calf in walking.
    let middle = |c: &Contributions, words| center(c.times(), &c.sum(Axis::Up, words));
    let (early, late) = (middle(&normal, VASTI), middle(&normal, CALF));
    report.row(
        "walking: middle of support by vasti, by calf (% of single-limb stance)",
        &list(&[early, late], 0),
        "vasti early, calf late",
        early < late,
    );
    let shift = |c: &Contributions| middle(c, CALF) - middle(c, VASTI);
    report.row(
        "delay of calf after vasti, walking and crouch (% of single-limb stance)",
        &list(&[shift(&normal), shift(&crouch)], 0),
        "throughout in crouch",
        shift(&crouch) < shift(&normal),
    );
    let support = |c: &Contributions, words: &[&str]| c.sum(Axis::Up, words);
    let both: Vec<&str> = VASTI.iter().chain(CALF).copied().collect();
    let variation = [spread(&support(&normal, VASTI)), spread(&support(&crouch, VASTI))];
    report.row(
        "support by vasti, standard deviation over mean, walking and crouch",
        &list(&variation, 2),
        "relatively constant in crouch",
        variation[1] < variation[0],
    );
    let variation = [spread(&support(&normal, &both)), spread(&support(&crouch, &both))];
    report.row(
        "support by vasti and calf, standard deviation over mean, walking and crouch",
        &list(&variation, 2),
        "relatively constant in crouch",
        variation[1] < variation[0],
    );

    // Forward: muscles about the hip against the calf.
    let pushes = |c: &Contributions| [c.pushed(Axis::Forward, PROXIMAL), c.pushed(Axis::Forward, CALF)];
    let (n, k) = (pushes(&normal), pushes(&crouch));
    report.note(
        "walking: forward, sum of mean contributions of hip and calf muscles (m/s2)",
        &list(&n, 2),
        "",
    );
    report.note(
        "crouch: forward, sum of mean contributions of hip and calf muscles (m/s2)",
        &list(&k, 2),
        "",
    );
    let part = |p: [f64; 2]| p[0] / (p[0] + p[1]);
    report.row(
        "share of the hip muscles in propulsion, walking and crouch",
        &list(&[part(n), part(k)], 2),
        "more in crouch",
        part(k) > part(n),
    );
    for (c, who) in [(&normal, "walking"), (&crouch, "crouch")] {
        picture(
            c,
            Axis::Up,
            &format!("{who}_up"),
            &format!("{who}: acceleration of the mass centre, up"),
            folder,
        )?;
        let title = format!("{who}: acceleration of the mass centre, forward");
        picture(c, Axis::Forward, &format!("{who}_forward"), &title, folder)?;
    }
    Ok(())
}

/// The groups that support the body most, in both.
fn same_muscles(
    normal: &Contributions,
    crouch: &Contributions,
    report: &mut Report,
    folder: &Folder,
) -> Result<(), Error> {
    let mean = |c: &Contributions, axis, words: &[&str]| {
        let v = c.sum(axis, words);
        v.iter().sum::<f64>() / v.len() as f64
    };
    let mut sheet = Sheet::new(&["group", "walking up", "crouch up", "walking forward", "crouch forward"]);
    for (name, words) in GROUPS {
        let four = [
            mean(normal, Axis::Up, words),
            mean(crouch, Axis::Up, words),
            mean(normal, Axis::Forward, words),
            mean(crouch, Axis::Forward, words),
        ];
        let mut cells = vec![name.to_string()];
        cells.extend(four.map(|x| format!("{x:.2}")));
        sheet.row(cells);
    }
    folder.table(
        "single_limb_stance",
        "Mean accelerations of the mass centre in single-limb stance, m/s2",
        &sheet,
    )?;
    let most = |c: &Contributions| {
        let mut all: Vec<(f64, &str)> = GROUPS.iter().map(|(n, w)| (mean(c, Axis::Up, w), *n)).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all
    };
    let words = |all: &[(f64, &str)]| {
        all.iter().take(4).map(|(x, n)| format!("{n} {x:.1}")).collect::<Vec<_>>().join(", ")
    };
    let (n, k) = (most(normal), most(crouch));
    report.note("walking: support, mean (m/s2)", &words(&n), "vasti, gluteus, soleus, gastrocnemius");
    report.note("crouch: support, mean (m/s2)", &words(&k), "the same groups");
    let sets = [&n, &k].map(|l| {
        let mut names: Vec<&str> = l.iter().take(3).map(|(_, n)| *n).collect();
        names.sort_unstable();
        names
    });
    report.row(
        "the three groups that support most",
        &sets[1].join(", "),
        "as in walking",
        sets[0] == sets[1],
    );
    let strongest = [peak(&normal.sum(Axis::Up, VASTI), 1.0), peak(&crouch.sum(Axis::Up, VASTI), 1.0)];
    report.note("vasti: peak support, walking and crouch (m/s2)", &list(&strongest, 1), "");
    Ok(())
}

/// Muscle forces by static optimization, then their contributions, of every `every`th row.
pub fn contributions(trial: &Trial, from: f64, to: f64, every: usize) -> Result<Contributions, Error> {
    let rows = trial.rows(from, to)?;
    let made = StaticOptimization::new(
        &trial.model,
        &trial.system,
        &trial.history,
        rows.clone(),
        &Settings::default(),
    );
    let made = made.map_err(|e| Error::content(&trial.source, 0, "", e.to_string(), ""))?;
    let outputs = trial.analyse(rows.clone(), every, vec![Box::new(made)])?;
    let forces = outputs.into_iter().flatten().find(|o| o.suffix == "_force").map(|o| o.table);
    trial.contributions(rows, every, &forces.unwrap_or_default())
}

/// The motion with hips, knees and ankles bent further. With the knee bent by δ more, hip and ankle take δ/2 each, which
/// leaves trunk and foot as they were turned; the pelvis moves so that the right foot stays.
fn crouched(trial: &Trial, walk: &Table, more_deg: f64, path: &Path) -> Result<Table, Error> {
    let mut columns = walk.columns().to_vec();
    let index = |label: &str| {
        let missing = || Error::content(path, 0, "", format!("no column `{label}`"), "");
        walk.index_of(label).ok_or_else(missing)
    };
    let made = |columns: &[Vec<f64>]| {
        walk.with_rows(walk.times().to_vec(), columns.to_vec())
            .map_err(|e| Error::content(path, 0, "", e.to_string(), ""))
    };
    for side in ["r", "l"] {
        for (joint, part) in [("hip_flexion", 0.5), ("knee_angle", -1.0), ("ankle_angle", 0.5)] {
            let column = &mut columns[index(&format!("{joint}_{side}"))?];
            column.iter_mut().for_each(|x| *x += part * more_deg);
        }
    }
    let (before, after) = (foot(trial), foot(&trial.moving(&made(&columns)?)?));
    for (axis, label) in ["pelvis_tx", "pelvis_ty", "pelvis_tz"].into_iter().enumerate() {
        let column = columns[index(label)?].iter_mut();
        column.zip(before.iter().zip(&after)).for_each(|(x, (b, a))| *x += b[axis] - a[axis]);
    }
    made(&columns)
}

/// Where the right heel bone is at every row, m.
fn foot(trial: &Trial) -> Vec<[f64; 3]> {
    let (mut ws, mut x) = (trial.system.workspace(), trial.system.default_state.clone());
    let body = trial.model.bodies.iter().position(|b| b.name == "calcn_r").unwrap_or(0);
    let node = trial.system.tree.node_of_body[body];
    let at = |row| {
        trial.history.state(row, &mut x);
        trial.system.compute_kinematics(&x, &mut ws);
        ws.kin.X_GB[node].p.to_array()
    };
    (0..trial.history.times().len()).map(at).collect()
}

/// Begin and end of the time in which the right foot alone is on the ground.
fn single_stance(data: &Path, times: &[f64]) -> Result<[f64; 2], Error> {
    let path = data.join("subject01_walk1_grf.mot");
    let grf = table(&path)?;
    let (right, left) = (column(&grf, "ground_force_vy", &path)?, column(&grf, "1_ground_force_vy", &path)?);
    let alone = |k: &usize| {
        let t = grf.times()[*k];
        times[0] <= t && t <= times[times.len() - 1] && right[*k] > CONTACT && left[*k] < CONTACT
    };
    let mut rows = (0..grf.rows()).filter(alone);
    let first = rows.next();
    match (first, rows.next_back().or(first)) {
        (Some(a), Some(b)) => Ok([grf.times()[a], grf.times()[b]]),
        _ => Err(Error::content(&path, 0, "", "the right foot is never alone on the ground".to_string(), "")),
    }
}

/// The middle of positive values in time, % of the whole.
fn center(times: &[f64], values: &[f64]) -> f64 {
    let (first, last) = (times[0], times[times.len() - 1]);
    let weight = values.iter().map(|v| v.max(0.0));
    let sum: f64 = weight.clone().sum();
    let moment: f64 = weight.zip(times).map(|(w, t)| w * (t - first) / (last - first)).sum();
    100.0 * moment / sum
}

/// Standard deviation over mean.
fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt() / mean
}

//! The same walk with and without a price on the load of the knees.

use super::super::report::{Report, list};
use super::super::sheet::{Folder, Series};
use super::compare::mean;
use super::describe;
use super::walking::{self, Variant};
use soleus::Error;
use soleus::optimal_control::tool::goal;
use soleus::optimal_control::{Solution, joint_loads};
use soleus_io::study::{self, GoalKind};
use std::path::Path;

/// Price of the load, against 1 for squared excitations.
const WEIGHT: f64 = 0.005;
const KNEES: [&str; 2] = ["walker_knee_r", "walker_knee_l"];
/// Muscles of the left leg, and whether they should work less when the knee is spared.
const MUSCLES: [(&str, &str, bool); 4] = [
    ("vaslat_l", "vastus lateralis", true),
    ("bfsh_l", "biceps femoris, short head", true),
    ("gasmed_l", "medial gastrocnemius", true),
    ("soleus_l", "soleus", false),
];

/// Solves both problems.
pub fn run(folder_of_data: &Path, model: &Path, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Prescribed walk: its excitations, with and without a penalty on the knee load; 25 intervals",
    );
    let plain = walking::solve(folder_of_data, model, Variant::default())?;
    let spared = walking::solve(folder_of_data, model, Variant { goals: prices(), ..Variant::default() })?;
    let coordinates = plain.phases[0].model.num_coordinates() - plain.phases[0].model.multipliers.len();
    let muscles = plain.phases[0].model.states.iter().filter(|s| s.ends_with("/activation")).count();
    report.note("degrees of freedom, muscles", &format!("{coordinates} {muscles}"), "29 80");
    let solved = |f: &Solution| f.solver.status.is_solved();
    report.row("effort alone: objective", &describe(&plain), "3.5 min", solved(&plain));
    report.row("effort and knee load: objective", &describe(&spared), "15 min", solved(&spared));
    let reserve = walking::largest_reserve(&plain, "");
    let pass = reserve <= 1.001 * walking::RESERVE;
    report.row("largest reserve (N m)", &format!("{reserve:.2}"), "at most 2.5", pass);
    let loads = [Load::of(&plain)?, Load::of(&spared)?];
    let near = |ours: f64, published: f64| (ours / published - 1.0).abs() <= 0.15;
    let [without, with] = [loads[0].means, loads[1].means];
    report.row(
        "mean knee load, right and left, effort alone (body weights)",
        &list(&without, 2),
        "1.7, within 15 %",
        without.iter().any(|&m| near(m, 1.7)),
    );
    report.row("the same with the penalty", &list(&with, 2), "1.1, or lower", with.iter().all(|&m| m <= 1.1));
    report.row(
        "peak knee load, both knees, effort alone (body weights)",
        &format!("{:.2}", loads[0].peak),
        "5.0, within 15 %",
        near(loads[0].peak, 5.0),
    );
    report.row(
        "the same with the penalty",
        &format!("{:.2}", loads[1].peak),
        "5.0, or lower",
        loads[1].peak <= 5.0,
    );
    let lines = [
        Series { name: "effort", x: &plain.phases[0].trajectory.times, y: &loads[0].left },
        Series { name: "effort and load", x: &spared.phases[0].trajectory.times, y: &loads[1].left },
    ];
    folder.picture("knee_load", ["Load of the left knee", "time (s)", "body weights"], &lines)?;
    for (path, name, less) in MUSCLES {
        let column =
            |f: &Solution| f.phases[0].trajectory.states.column(&format!("/forceset/{path}/activation"));
        let (Some(a), Some(b)) = (column(&plain), column(&spared)) else { continue };
        let means =
            [mean(&plain.phases[0].trajectory.times, &a), mean(&spared.phases[0].trajectory.times, &b)];
        report.row(
            &format!("{name}: mean activation, without and with the penalty"),
            &format!("{:.3} {:.3}", means[0], means[1]),
            if less { "decreases" } else { "increases" },
            less == (means[1] < means[0]),
        );
        let lines = [
            Series { name: "effort", x: &plain.phases[0].trajectory.times, y: &a },
            Series { name: "effort and load", x: &spared.phases[0].trajectory.times, y: &b },
        ];
        folder.picture(&format!("knee_{path}"), [name, "time (s)", "activation"], &lines)?;
    }
    Ok(())
}

/// Squared forward and upward force of each knee.
fn prices() -> Vec<study::Goal> {
    let price = |knee: &&str| {
        let kind = GoalKind::JointReaction {
            joint: format!("/jointset/{knee}"),
            on_child: false,
            expressed_in: None,
            measures: vec!["force-x".into(), "force-y".into()],
            weights: Vec::new(),
        };
        goal(&format!("load_of_{knee}"), WEIGHT, kind)
    };
    KNEES.iter().map(price).collect()
}

/// Force of the knees in body weights.
struct Load {
    left: Vec<f64>,
    /// Over time, right and left.
    means: [f64; 2],
    peak: f64,
}

impl Load {
    fn of(f: &Solution) -> Result<Load, Error> {
        let weight = f.phases[0].model.model.total_mass() * f.phases[0].model.model.gravity.norm();
        let mut courses = Vec::new();
        for knee in KNEES {
            let list =
                joint_loads::along(&f.phases[0], knee).map_err(|message| Error::NotSolved { message })?;
            let force = |l: &[f64; 6]| (l[3] * l[3] + l[4] * l[4] + l[5] * l[5]).sqrt() / weight;
            courses.push(list.iter().map(force).collect::<Vec<f64>>());
        }
        let peak = courses.iter().flatten().fold(0.0, |m: f64, &x| m.max(x));
        let means = [0, 1].map(|k| mean(&f.phases[0].trajectory.times, &courses[k]));
        Ok(Load { means, left: courses.pop().unwrap_or_default(), peak })
    }
}

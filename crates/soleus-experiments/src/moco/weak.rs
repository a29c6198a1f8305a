//! Weak muscles: walks that follow a measured one with muscles that have lost their strength, and what a given walk asks of
//! muscles that cannot give it.

use super::super::report::{Report, list};
use super::super::sheet::{Folder, Series};
use super::solving::{element, find, pose, read};
use super::walking::{self, Variant};
use super::{describe, spatial};
use soleus::Error;
use soleus::optimal_control::{Solution, tool};
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_io::study::{self, GoalKind, PeriodicPair};
use soleus_model::Element;
use std::path::Path;

const WALK: &str = include_str!("walk2d.toml");
/// Part of their strength that weak dorsiflexors and weak abductors keep.
const DORSIFLEXORS: f64 = 0.05;
const ABDUCTORS: f64 = 0.1;
/// How their names begin in the model of Rajagopal et al. (2016).
const DORSIFLEXOR_NAMES: &[&str] = &["tibant", "edl", "ehl"];
const ABDUCTOR_NAMES: &[&str] = &["glmed", "glmin", "tfl"];
/// First barrier parameter of a problem that starts from its neighbour's solution: larger ones leave the neighbourhood.
const NEAR: f64 = 1e-2;

/// All parts.
pub fn run(
    examples: &Path,
    walk: &Path,
    model: &Path,
    report: &mut Report,
    folder: &Folder,
) -> Result<(), Error> {
    planar(examples, report, folder)?;
    in_space(walk, report, folder)?;
    given(walk, model, report)
}

/// Half a cycle in the plane, normal and with weak dorsiflexors.
fn planar(examples: &Path, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Planar walk that tracks a measured one, 18 muscles: dorsiflexors with 5 % of their strength",
    );
    let normal = track(examples, 1.0, None)?;
    let weak = track(examples, DORSIFLEXORS, Some(&normal.phases[0].trajectory))?;
    let solved = |f: &Solution| f.solver.status.is_solved();
    report.row("normal: objective", &describe(&normal), "(3-D: 130 min)", solved(&normal));
    report.row("weak dorsiflexors: objective", &describe(&weak), "(3-D: 101 min)", solved(&weak));
    let ankle = |f: &Solution, side: char| degrees(f, &format!("ankle_angle_{side}"));
    // The left leg swings; the right one has just touched the ground.
    let lowest = |q: &[f64]| q.iter().copied().fold(f64::INFINITY, f64::min);
    let swing = [&normal, &weak].map(|f| lowest(&ankle(f, 'l')));
    let stance = [&normal, &weak].map(|f| ankle(f, 'r').first().copied().unwrap_or(f64::NAN));
    let drops = |[a, b]: [f64; 2]| b < a - 5.0;
    report.row(
        "lowest ankle angle in swing, normal and weak (deg)",
        &list(&swing, 1),
        "the foot drops",
        drops(swing),
    );
    report.row("ankle angle when the foot lands (deg)", &list(&stance, 1), "the foot drops", drops(stance));
    for (name, side) in [("swing", 'l'), ("stance", 'r')] {
        let courses = [ankle(&normal, side), ankle(&weak, side)];
        let lines = [
            Series { name: "normal", x: &normal.phases[0].trajectory.times, y: &courses[0] },
            Series { name: "weak dorsiflexors", x: &weak.phases[0].trajectory.times, y: &courses[1] },
        ];
        let title = format!("Ankle of the leg in {name}");
        folder.picture(&format!("weak_{name}"), [&title, "time (s)", "dorsiflexion (deg)"], &lines)?;
    }
    Ok(())
}

/// A coordinate over time, deg.
fn degrees(f: &Solution, coordinate: &str) -> Vec<f64> {
    let end = format!("/{coordinate}/value");
    let name = f.phases[0].trajectory.states.names.iter().find(|n| n.ends_with(&end));
    let values = name.and_then(|n| f.phases[0].trajectory.states.column(n)).unwrap_or_default();
    values.iter().map(|q| q.to_degrees()).collect()
}

/// The tracking problem with dorsiflexors of a part of their strength, from nothing or from another solution.
fn track(examples: &Path, strength: f64, from: Option<&Trajectory>) -> Result<Solution, Error> {
    let path = examples.join("walk2d.toml");
    let mut study = read("walk2d.toml", WALK)?;
    let base = pose(&path, &study)?.model;
    let mut element = element(&path, &study)?;
    weaken(&mut element, "tib_ant", strength);
    let is_torque = |name: &&String| name.contains("lumbar");
    study.setup.goals.push(cycle(&base, other_side, base.controls.iter().filter(is_torque)));
    study.setup.model = Some(element);
    if from.is_some() {
        study.barrier = Some(NEAR);
        study.guess.coordinates = None;
    }
    let mut posed = pose(&path, &study)?;
    posed.inputs.guess = from.cloned();
    find(&posed)
}

/// States, but for the way that was gone, and some controls end as those called `last` began.
pub fn cycle<'a>(
    base: &ModelProblem,
    last: impl Fn(String) -> String,
    controls: impl Iterator<Item = &'a String>,
) -> study::Goal {
    let pair =
        |name: &String| PeriodicPair { initial: name.clone(), last: last(name.clone()), negate: false };
    let states = base.states.iter().filter(|n| !n.ends_with("pelvis_tx/value")).map(pair).collect();
    let kind = GoalKind::Periodicity { states, controls: controls.map(pair).collect() };
    tool::goal("cycle", 1.0, kind)
}

/// What is left at first is right in the end.
fn other_side(name: String) -> String {
    name.replace("_l/", "_?/").replace("_r/", "_l/").replace("_?/", "_r/")
}

/// Leaves a part of the strength of all muscles whose names begin so, wherever they are in the model.
pub fn weaken(element: &mut Element, beginning: &str, strength: f64) {
    if element.name().starts_with(beginning)
        && let Some(force) = element.child_mut("max_isometric_force")
    {
        let value: f64 = force.text().parse().unwrap_or(0.0);
        force.set_text((strength * value).to_string());
    }
    element.children_mut().for_each(|e| weaken(e, beginning, strength));
}

/// A cycle in space, normal and with each group of weak muscles.
fn in_space(walk: &Path, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report
        .heading("3-D walk that tracks a measured one, 80 muscles, 40 intervals: weak muscles of both legs");
    let normal = spatial::solve(walk, (&[], 1.0), None)?;
    let solved = |f: &Solution| f.solver.status.is_solved();
    report.row("normal: objective", &describe(&normal), "130 min", solved(&normal));
    for (what, muscles, strength, published, coordinate) in [
        (
            "dorsiflexors with 5 % of their strength",
            DORSIFLEXOR_NAMES,
            DORSIFLEXORS,
            "101 min",
            "ankle_angle",
        ),
        ("abductors with 10 % of their strength", ABDUCTOR_NAMES, ABDUCTORS, "148 min", "hip_adduction"),
    ] {
        let weak = spatial::solve(walk, (muscles, strength), Some(&normal.phases[0].trajectory))?;
        report.row(&format!("{what}: objective"), &describe(&weak), published, solved(&weak));
        for side in ["r", "l"] {
            let name = format!("{coordinate}_{side}");
            let courses = [&normal, &weak].map(|f| degrees(f, &name));
            let apart = courses[0].iter().zip(&courses[1]).map(|(a, b)| b - a);
            let most = apart.fold(0.0, |m: f64, d| if d.abs() > m.abs() { d } else { m });
            report.note(
                &format!("{name}: largest deviation from the normal walk"),
                &format!("{most:.1} deg"),
                "",
            );
            let lines = [("normal", &normal, &courses[0]), ("weak", &weak, &courses[1])]
                .map(|(name, f, y)| Series { name, x: &f.phases[0].trajectory.times, y });
            let file = format!("weak_{name}");
            folder.picture(&file, [&format!("{name}: {what}"), "time (s)", "angle (deg)"], &lines)?;
        }
    }
    Ok(())
}

/// The walk that is given, with reserves that may do what muscles cannot.
fn given(walk: &Path, model: &Path, report: &mut Report) -> Result<(), Error> {
    report.heading("Prescribed walk, 80 muscles: reserve moments with weak muscles");
    let groups: [(&str, &[&str], f64, &str); 2] = [
        (
            "dorsiflexors with 5 % of their strength: moment at the ankle",
            DORSIFLEXOR_NAMES,
            DORSIFLEXORS,
            "ankle_angle",
        ),
        (
            "abductors with 10 % of their strength: moment of hip adduction",
            ABDUCTOR_NAMES,
            ABDUCTORS,
            "hip_adduction",
        ),
    ];
    let normal = walking::solve(walk, model, Variant { is_helped: true, ..Variant::default() })?;
    report.note("normal: objective", &describe(&normal), "");
    for (what, muscles, strength, coordinate) in groups {
        let variant = Variant { weak: Some((muscles, strength)), is_helped: true, ..Variant::default() };
        let weak = walking::solve(walk, model, variant)?;
        let moments = [&normal, &weak].map(|f| walking::largest_reserve(f, coordinate));
        report.note("weak: objective", &describe(&weak), "");
        let solved = weak.solver.status.is_solved();
        let ours = list(&moments, 1);
        report.row(&format!("{what} (N m)"), &ours, "cannot track", solved && moments[1] > 2.0 * moments[0]);
    }
    Ok(())
}

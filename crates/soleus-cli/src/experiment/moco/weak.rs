//! Weak muscles: a walk that follows a measured one with dorsiflexors that have lost their strength, and what a given walk asks of
//! muscles that cannot give it.

use super::super::report::{Report, list};
use super::super::sheet::{Folder, Series};
use super::describe;
use super::walking::{self, Variant};
use crate::failure::Failure;
use crate::solve::Inputs;
use crate::solve::found::{self, Found};
use soleus_control::Trajectory;
use soleus_io::setup::moco::{GoalKind, PeriodicPair};
use soleus_model::Element;
use std::path::Path;

const WALK: &str = include_str!("walk2d.toml");
/// Part of their strength that weak dorsiflexors and weak abductors keep.
const DORSIFLEXORS: f64 = 0.05;
const ABDUCTORS: f64 = 0.1;
/// First barrier parameter of a problem that starts from its neighbour's solution: larger ones leave the neighbourhood.
const NEAR: f64 = 1e-2;

/// Both parts.
pub fn run(
    examples: &Path,
    walk: &Path,
    model: &Path,
    report: &mut Report,
    folder: &Folder,
) -> Result<(), Failure> {
    planar(examples, report, folder)?;
    spatial(walk, model, report)
}

/// Half a cycle in the plane, normal and with weak dorsiflexors.
fn planar(examples: &Path, report: &mut Report, folder: &Folder) -> Result<(), Failure> {
    report.heading(
        "Walk in the plane that follows a measured one, 18 muscles: dorsiflexors with 5 % of their strength",
    );
    let normal = track(examples, 1.0, None)?;
    let weak = track(examples, DORSIFLEXORS, Some(&normal.trajectory))?;
    let solved = |f: &Found| f.solution.status.is_solved();
    report.row("normal: objective", &describe(&normal), "(in space: 130 min)", solved(&normal));
    report.row("weak dorsiflexors: objective", &describe(&weak), "(in space: 101 min)", solved(&weak));
    let degrees = |f: &Found, side: char| -> Vec<f64> {
        let name = format!("/jointset/ankle_{side}/ankle_angle_{side}/value");
        f.trajectory.states.column(&name).unwrap_or_default().iter().map(|q| q.to_degrees()).collect()
    };
    // The left leg swings; the right one has just touched the ground.
    let lowest = |q: &[f64]| q.iter().copied().fold(f64::INFINITY, f64::min);
    let swing = [&normal, &weak].map(|f| lowest(&degrees(f, 'l')));
    let stance = [&normal, &weak].map(|f| degrees(f, 'r').first().copied().unwrap_or(f64::NAN));
    let drops = |[a, b]: [f64; 2]| b < a - 5.0;
    report.row(
        "lowest ankle angle in swing, normal and weak (deg)",
        &list(&swing, 1),
        "the foot drops",
        drops(swing),
    );
    report.row("ankle angle when the foot lands (deg)", &list(&stance, 1), "the foot drops", drops(stance));
    for (name, side) in [("swing", 'l'), ("stance", 'r')] {
        let courses = [degrees(&normal, side), degrees(&weak, side)];
        let lines = [
            Series { name: "normal", x: &normal.trajectory.times, y: &courses[0] },
            Series { name: "weak dorsiflexors", x: &weak.trajectory.times, y: &courses[1] },
        ];
        let title = format!("Ankle of the leg in {name}");
        folder.picture(&format!("weak_{name}"), [&title, "time (s)", "dorsiflexion (deg)"], &lines)?;
    }
    Ok(())
}

/// The tracking problem with dorsiflexors of a part of their strength, from nothing or from another solution.
fn track(examples: &Path, strength: f64, from: Option<&Trajectory>) -> Result<Found, Failure> {
    let path = examples.join("walk2d.toml");
    let mut study = found::read("walk2d.toml", WALK)?;
    let (source, base) = found::pose(&path, &study)?;
    let mut element = source.element()?;
    weaken(&mut element, "tib_ant", strength);
    let states = base.states.iter().filter(|n| !n.ends_with("pelvis_tx/value")).map(|n| pair(n));
    let controls = base.controls.iter().filter(|n| n.contains("lumbar")).map(|n| pair(n));
    let kind = GoalKind::Periodicity { states: states.collect(), controls: controls.collect() };
    study.setup.goals.push(crate::solve::goal("symmetry", 1.0, kind));
    study.setup.model = Some(element);
    if from.is_some() {
        study.barrier = Some(NEAR);
        study.guess.coordinates = None;
    }
    let inputs = Inputs { guess: from.cloned(), ..Inputs::default() };
    found::find(found::pose(&path, &study)?, &study, true, inputs)
}

/// What is left at first is right in the end.
fn pair(name: &str) -> PeriodicPair {
    let other = name.replace("_l/", "_?/").replace("_r/", "_l/").replace("_?/", "_r/");
    PeriodicPair { initial: name.to_string(), last: other, negate: false }
}

/// Leaves a part of the strength of all muscles whose names begin so, wherever they are in the model.
fn weaken(element: &mut Element, beginning: &str, strength: f64) {
    if element.name().starts_with(beginning)
        && let Some(force) = element.child_mut("max_isometric_force")
    {
        let value: f64 = force.text().parse().unwrap_or(0.0);
        force.set_text((strength * value).to_string());
    }
    element.children_mut().for_each(|e| weaken(e, beginning, strength));
}

/// The walk that is given, with reserves that may do what muscles cannot.
fn spatial(walk: &Path, model: &Path, report: &mut Report) -> Result<(), Failure> {
    report.heading("Walk that is given, 80 muscles: moments that weak muscles leave to reserves");
    let groups: [(&str, &[&str], f64, &str); 2] = [
        (
            "dorsiflexors with 5 % of their strength: moment at the ankle",
            &["tibant", "edl", "ehl"],
            DORSIFLEXORS,
            "ankle_angle",
        ),
        (
            "abductors with 10 % of their strength: moment of hip adduction",
            &["glmed", "glmin", "tfl"],
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
        let solved = weak.solution.status.is_solved();
        let ours = list(&moments, 1);
        report.row(&format!("{what} (N m)"), &ours, "cannot follow", solved && moments[1] > 2.0 * moments[0]);
    }
    Ok(())
}

//! The able problem of the paper, and what its text leaves open.

use super::problem::{FLOORS, Leg, WalkingProblem};
use super::{SWING, describe, holds, is_near, write_page};
use crate::experiment::report::Report;
use crate::experiment::sheet::{Folder, Series, Sheet};
use crate::failure::Failure;
use crate::walk::{Teller, Winter, at_speed};
use soleus_control::continuation::{Fading, Outcome};
use soleus_optimization::nlp::Iteration;
use std::ops::ControlFlow;

/// Nodes of the paper.
pub const NODES: u32 = 100;

/// Winter's data at the paper's 1.1 m/s: slow, normal, and what lies between them at that speed.
pub fn data() -> Result<[(&'static str, Winter); 3], Failure> {
    let (slow, normal) = (Winter::read("slow")?, Winter::read("normal")?);
    let blend = slow.blend(&normal, (1.1 - slow.speed) / (normal.speed - slow.speed));
    Ok([("slow", slow), ("normal", normal), ("blend", blend)])
}

/// The problem with slow data and floors, solved from straight lines.
pub fn solved(leg: Leg) -> Result<(WalkingProblem, Outcome, Teller), Failure> {
    let [(_, slow), ..] = data()?;
    let p = WalkingProblem::paper(leg, &slow, Some(FLOORS), NODES)?;
    let mut teller = Teller::new();
    let o = p.solve_from(&p.start(SWING), &mut |price, i| teller.tell(price, i))?;
    teller.finish();
    Ok((p, o, teller))
}

const ABOUT: &str = "1.1 m/s, 1.28 s, midpoint rule, squares of excitations with weight 100";

/// How long the problem takes: from straight lines, and from the solutions of its neighbours.
pub fn time(folder: &Folder, report: &mut Report) -> Result<(), Failure> {
    report.heading(&format!("Time of the paper's problem: {NODES} nodes, {ABOUT}; slow data, floors"));
    let (p, able, teller) = solved(Leg::Able)?;
    let quick = |o: &Outcome, seconds: f64, limit: f64| holds(o) && seconds <= limit;
    let pass = quick(&able, teller.seconds(), 30.0);
    report.row("from straight lines", &describe(&able, &teller), "30 s; the paper: well under an hour", pass);
    write_page(folder, "paper able", &p, &able)?;
    // From half as many nodes, and from a neighbour in speed.
    let half =
        p.solve(&able.trajectory, &Fading::none(), NODES / 2, 1e-6, &mut |_, _| ControlFlow::Continue(()))?;
    let mut faster = p.clone();
    faster.cycle.speed = 1.12;
    let quicker = at_speed(&able.trajectory, p.cycle.forward, 1.12, 1.28);
    // A large barrier would only drive it away.
    let near = Fading { barriers: [1e-5; 2], ..Fading::none() };
    for (what, next, start) in [
        ("from the solution on 50 nodes", &p, &half.trajectory),
        ("from the solution at 1.1 m/s, to 1.12 m/s", &faster, &quicker),
    ] {
        let mut teller = Teller::new();
        let o = next.solve(start, &near, NODES, 1e-6, &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        report.row(what, &describe(&o, &teller), "5 s", quick(&o, teller.seconds(), 5.0));
    }
    Ok(())
}

/// Variants with these data, all if none are named, beside the published cost; which is nearest.
pub fn variants(wanted: &[String], folder: &Folder, report: &mut Report) -> Result<(), Failure> {
    const PUBLISHED: [f64; 3] = [2.04, 0.49, 1.55];
    report.heading(&format!("Problem of the paper: {NODES} nodes, {ABOUT}"));
    let columns = ["data", "deviations", "ground", "cost", "tracking", "effort", "violation", "iterations"];
    let mut sheet = Sheet::new(&columns);
    let mut best: Option<(f64, String, Outcome, WalkingProblem)> = None;
    let floors = [("with floors", Some(FLOORS)), ("without floors", None)];
    let mut list = Vec::new();
    for (name, data) in data()? {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        for (floor, floors) in floors {
            let p = WalkingProblem::paper(Leg::Able, &data, floors, NODES)?;
            list.push((name, floor, "20 kN/m", p));
        }
    }
    // The authors' earlier ground, with the normal data or what there is.
    let at = list.iter().position(|v| v.0 == "normal").unwrap_or(0);
    if let Some((name, floor, _, p)) = list.get(at) {
        let stiff = (*name, *floor, "100 kN/m", p.on_ground(1e5)?);
        list.insert(at + 1, stiff);
    }
    for (name, floor, ground, p) in list {
        let mut teller = Teller::new();
        let o = p.solve_patiently(&p.start(SWING), &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        let what = format!("{name} data, {floor}, ground of {ground}");
        report.note(&what, &describe(&o, &teller), "2.04 = 0.49 + 1.55");
        sheet.row(vec![
            name.to_string(),
            floor.to_string(),
            ground.to_string(),
            format!("{:.4}", o.solution.objective),
            format!("{:.4}", super::tracking(&o)),
            format!("{:.4}", o.goal("effort")),
            format!("{:.1e}", o.solution.certificate.constraint_violation),
            o.iterations.to_string(),
        ]);
        let far = (o.solution.objective / PUBLISHED[0] - 1.0).abs();
        if holds(&o) && best.as_ref().is_none_or(|b| far < b.0) {
            best = Some((far, what, o, p));
        }
    }
    folder.table("variants", "The paper's able walk: 2.04 = 0.49 + 1.55", &sheet)?;
    let Some((_, what, o, p)) = best else {
        report.row("nearest variant", "none solved", "2.04 = 0.49 + 1.55", false);
        return Ok(());
    };
    report.row(
        &format!("nearest variant ({what})"),
        &super::costs(&o),
        "2.04 = 0.49 + 1.55, within 5 % and 10 %",
        is_near(&o, PUBLISHED),
    );
    write_page(folder, "paper able nearest", &p, &o)
}

/// The cost on finer and finer meshes, each from the coarser one.
pub fn meshes(folder: &Folder, report: &mut Report) -> Result<(), Failure> {
    report.heading(&format!("Meshes: {ABOUT}; slow data, floors; each from the coarser one"));
    let [(_, slow), ..] = data()?;
    let (mut nodes_of, mut costs) = (Vec::new(), Vec::new());
    let mut known: Option<Outcome> = None;
    for nodes in [25, 50, 100, 200] {
        let p = WalkingProblem::paper(Leg::Able, &slow, Some(FLOORS), nodes)?;
        let mut teller = Teller::new();
        let mut tell = |price: f64, i: &Iteration<'_>| teller.tell(price, i);
        let o = match &known {
            None => p.solve_from(&p.start(SWING), &mut tell)?,
            Some(o) => p.solve(&o.trajectory, &Fading::none(), nodes, 1e-6, &mut tell)?,
        };
        teller.finish();
        report.note(&format!("{nodes} nodes"), &describe(&o, &teller), "");
        nodes_of.push(f64::from(nodes));
        costs.push(o.solution.objective);
        known = Some(o);
    }
    let series = [Series { name: "cost", x: &nodes_of, y: &costs }];
    folder.picture("meshes", ["Cost against the mesh", "nodes", "cost"], &series)
}

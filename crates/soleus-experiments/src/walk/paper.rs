//! The able problem of the paper, and what its text leaves open.

use super::problem::{FLOORS, Leg, WalkingProblem};
use super::{SWING, describe, holds, is_near, write_page};
use crate::progress_printer::ProgressPrinter;
use crate::report::Report;
use crate::sheet::{Folder, Series, Sheet};
use soleus::Error;
use soleus::prediction::Winter;
use soleus_control::continuation::{Fading, Outcome};
use std::fmt;
use std::ops::ControlFlow;

/// Nodes of the paper.
pub const NODES: u32 = 100;

/// Winter's data at the paper's 1.1 m/s: slow, normal, and what lies between them at that speed.
pub fn data() -> Result<[(&'static str, Winter); 3], Error> {
    let (slow, normal) = (Winter::read("slow")?, Winter::read("normal")?);
    let blend = slow.blend(&normal, (1.1 - slow.speed) / (normal.speed - slow.speed));
    Ok([("slow", slow), ("normal", normal), ("blend", blend)])
}

/// The problem with slow data and floors, solved from straight lines.
pub fn solved(leg: Leg) -> Result<(WalkingProblem, Outcome, ProgressPrinter), Error> {
    let [(_, slow), ..] = data()?;
    let p = WalkingProblem::paper(leg, &slow, Some(FLOORS), NODES)?;
    let mut printer = ProgressPrinter::new();
    let o = p.solve_from(&p.start(SWING), &mut |price, i| printer.tell(price, i))?;
    printer.finish();
    Ok((p, o, printer))
}

const ABOUT: &str = "1.1 m/s, 1.28 s, midpoint rule, squares of excitations with weight 100";

/// How long the problem takes: from straight lines, and from the solutions of its neighbours.
pub fn time(folder: &Folder, report: &mut Report) -> Result<(), Error> {
    report.heading(&format!("Time of the paper's problem: {NODES} nodes, {ABOUT}; slow data, floors"));
    let (p, able, printer) = solved(Leg::Able)?;
    let quick = |o: &Outcome, seconds: f64, limit: f64| holds(o) && seconds <= limit;
    let pass = quick(&able, printer.seconds(), 30.0);
    report.row(
        "from straight lines",
        &describe(&able, &printer),
        "30 s; the paper: well under an hour",
        pass,
    );
    write_page(folder, "paper able", &p, &able)?;
    // With multipliers, step by step through a range of speeds.
    let (mut known, mut before) = (able.clone(), p.clone());
    for speed in [1.12, 1.14, 1.16] {
        let mut next = before.clone();
        next.cycle.speed = speed;
        let mut printer = ProgressPrinter::new();
        let o = next.solve_next(&before, &known, &mut |price, i| printer.tell(price, i))?;
        printer.finish();
        let what = format!("from the solution at {} m/s, to {speed} m/s", before.cycle.speed);
        report.row(&what, &describe(&o, &printer), "5 s", quick(&o, printer.seconds(), 5.0));
        (known, before) = (o, next);
    }
    // From half as many nodes.
    let half =
        p.solve(&able.trajectory, &Fading::none(), NODES / 2, 1e-6, &mut |_, _| ControlFlow::Continue(()))?;
    let mut printer = ProgressPrinter::new();
    let near = WalkingProblem::near();
    let o = p.solve(&half.trajectory, &near, NODES, 1e-6, &mut |price, i| printer.tell(price, i))?;
    printer.finish();
    let what = "from the solution on 50 nodes";
    report.row(what, &describe(&o, &printer), "5 s", quick(&o, printer.seconds(), 5.0));
    Ok(())
}

/// Stiffness of the ground in the release of 2011 and in earlier work of the authors, N/m, and steps from one to the other.
const GROUNDS: [f64; 2] = [2e4, 1e5];
const STEPS: i32 = 8;

/// What the paper leaves open, decided in one way, and the walk of that.
struct Variant {
    /// Data, deviations, ground.
    words: [String; 3],
    problem: WalkingProblem,
    walk: Outcome,
}

impl Variant {
    fn new(data: &str, floors: bool, problem: WalkingProblem, walk: Outcome) -> Variant {
        let ground = 1e-3 * problem.ground.unwrap_or(GROUNDS[0]);
        let floors = if floors { "with floors" } else { "without floors" };
        Variant { words: [data.into(), floors.into(), format!("{ground} kN/m")], problem, walk }
    }

    /// The same on the stiffer ground, by small steps: one large step leads astray.
    fn stiffened(&self, printer: &mut ProgressPrinter) -> Result<(WalkingProblem, Outcome), Error> {
        let mut known = (self.problem.clone(), self.walk.clone());
        let mut iterations = 0;
        for k in 1..=STEPS {
            let ratio = GROUNDS[1] / GROUNDS[0];
            let stiffness = if k == STEPS {
                GROUNDS[1]
            } else {
                GROUNDS[0] * ratio.powf(f64::from(k) / f64::from(STEPS))
            };
            let p = known.0.on_ground(stiffness)?;
            let o = p.solve_near(Some((&known.0, &known.1)), &mut |price, i| printer.tell(price, i))?;
            iterations += o.iterations;
            if holds(&o) || k == STEPS {
                known = (p, o);
            }
        }
        known.1.iterations = iterations;
        Ok(known)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [data, floors, ground] = &self.words;
        write!(f, "{data} data, {floors}, ground of {ground}")
    }
}

/// Variants with these data, all if none are named, beside the published cost; which is nearest, and the prosthesis in that one. The first is
/// found from straight lines, every other one from its neighbour.
pub fn variants(wanted: &[String], folder: &Folder, report: &mut Report) -> Result<(), Error> {
    const PUBLISHED: [f64; 3] = [2.04, 0.49, 1.55];
    const WORDS: &str = "2.04 = 0.49 + 1.55";
    report.heading(&format!("Problem of the paper: {NODES} nodes, {ABOUT}"));
    let columns = ["data", "deviations", "ground", "cost", "tracking", "effort", "violation", "iterations"];
    let mut sheet = Sheet::new(&columns);
    let mut printer = ProgressPrinter::new();
    let mut all: Vec<Variant> = Vec::new();
    let mut known: Option<(WalkingProblem, Outcome)> = None;
    for (name, data) in data()? {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        for floors in [true, false] {
            let p = WalkingProblem::paper(Leg::Able, &data, floors.then_some(FLOORS), NODES)?;
            let p = p.on_ground(GROUNDS[0])?;
            let near = known.as_ref().map(|(p, o)| (p, o));
            let o = p.solve_near(near, &mut |price, i| printer.tell(price, i))?;
            if holds(&o) {
                known = Some((p.clone(), o.clone()));
            }
            let soft = Variant::new(name, floors, p, o);
            let (p, o) = soft.stiffened(&mut printer)?;
            printer.finish();
            for variant in [soft, Variant::new(name, floors, p, o)] {
                let o = &variant.walk;
                report.note(&variant.to_string(), &super::state(o), WORDS);
                let numbers = [
                    format!("{:.4}", o.solution.objective),
                    format!("{:.4}", super::tracking(o)),
                    format!("{:.4}", o.goal("effort")),
                    format!("{:.1e}", o.solution.certificate.constraint_violation),
                    o.iterations.to_string(),
                ];
                sheet.row(variant.words.iter().cloned().chain(numbers).collect());
                all.push(variant);
            }
        }
    }
    report.note("all of them", &printer.time(), "");
    folder.table("variants", &format!("The paper's able walk: {WORDS}"), &sheet)?;

    let far = |v: &Variant| (v.walk.solution.objective / PUBLISHED[0] - 1.0).abs();
    let walks = all.iter().filter(|v| holds(&v.walk));
    let Some(nearest) = walks.min_by(|a, b| far(a).total_cmp(&far(b))) else {
        report.row("nearest variant", "none solved", WORDS, false);
        return Ok(());
    };
    let (p, o) = (&nearest.problem, &nearest.walk);
    let what = format!("nearest variant ({nearest})");
    let within = "within 5 % and 10 %";
    report.row(&what, &super::costs(o), &format!("{WORDS}, {within}"), is_near(o, PUBLISHED));
    write_page(folder, "paper able nearest", p, o)?;
    let mut printer = ProgressPrinter::new();
    let p = p.with_leg(Leg::Spring(5000.0))?;
    let fading = Fading::new(p.walker.reserves());
    let o = p.solve(&o.trajectory, &fading, NODES, 1e-6, &mut |price, i| printer.tell(price, i))?;
    printer.finish();
    report.row(
        "the same with the prosthesis, 5000 N m/rad",
        &describe(&o, &printer),
        &format!("2.78 = 1.52 + 1.26, {within}"),
        is_near(&o, [2.78, 1.52, 1.26]),
    );
    write_page(folder, "paper prosthesis nearest", &p, &o)
}

/// The cost on finer and finer meshes, each from the coarser one.
pub fn meshes(folder: &Folder, report: &mut Report) -> Result<(), Error> {
    report.heading(&format!("Meshes: {ABOUT}; slow data, floors; each from the coarser one"));
    let [(_, slow), ..] = data()?;
    let (mut nodes_of, mut costs) = (Vec::new(), Vec::new());
    let mut known: Option<(WalkingProblem, Outcome)> = None;
    for nodes in [25, 50, 100, 200] {
        let p = WalkingProblem::paper(Leg::Able, &slow, Some(FLOORS), nodes)?;
        let mut printer = ProgressPrinter::new();
        let neighbour = known.as_ref().map(|(p, o)| (p, o));
        let o = p.solve_near(neighbour, &mut |price, i| printer.tell(price, i))?;
        printer.finish();
        report.note(&format!("{nodes} nodes"), &describe(&o, &printer), "");
        nodes_of.push(f64::from(nodes));
        costs.push(o.solution.objective);
        known = Some((p, o));
    }
    let series = [Series { name: "cost", x: &nodes_of, y: &costs }];
    folder.picture("meshes", ["Cost against the mesh", "nodes", "cost"], &series)
}

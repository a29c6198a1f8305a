//! The able problem of the paper, and what its text leaves open.

use super::problem::{FLOORS, Leg, WalkingProblem};
use super::{SWING, describe, holds, is_near, write_page};
use crate::experiment::report::Report;
use crate::experiment::sheet::{Folder, Series, Sheet};
use crate::failure::Failure;
use crate::walk::{Teller, Winter};
use soleus_control::continuation::{Fading, Outcome};
use std::fmt;
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
    let mut teller = Teller::new();
    let near = WalkingProblem::near();
    let o = p.solve(&half.trajectory, &near, NODES, 1e-6, &mut |price, i| teller.tell(price, i))?;
    teller.finish();
    let what = "from the solution on 50 nodes";
    report.row(what, &describe(&o, &teller), "5 s", quick(&o, teller.seconds(), 5.0));
    // With multipliers, step by step through a range of speeds.
    let (mut known, mut before) = (able, p);
    for speed in [1.12, 1.14, 1.16] {
        let mut next = before.clone();
        next.cycle.speed = speed;
        let mut teller = Teller::new();
        let o = next.solve_next(&before, &known, &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        let what = format!("from the solution at {} m/s, to {speed} m/s", before.cycle.speed);
        report.row(&what, &describe(&o, &teller), "5 s", quick(&o, teller.seconds(), 5.0));
        (known, before) = (o, next);
    }
    Ok(())
}

/// What the paper leaves open.
#[derive(Clone, Copy)]
struct Variant {
    /// Which of Winter's data.
    data: &'static str,
    /// Whether small standard deviations are raised to the floors.
    floors: bool,
    /// Stiffness of the ground, N/m.
    ground: f64,
}

impl Variant {
    /// The four with the same data, each near the one before. The authors' ground was 100 kN/m earlier, 20 kN/m in their release of
    /// 2011.
    fn with(data: &'static str) -> [Variant; 4] {
        [(true, 2e4), (false, 2e4), (false, 1e5), (true, 1e5)].map(|(floors, ground)| Variant {
            data,
            floors,
            ground,
        })
    }

    fn problem(self, data: &Winter) -> Result<WalkingProblem, Failure> {
        let floors = self.floors.then_some(FLOORS);
        WalkingProblem::paper(Leg::Able, data, floors, NODES)?.on_ground(self.ground)
    }

    /// For the columns of the table.
    fn words(self) -> [String; 3] {
        let floors = if self.floors { "with floors" } else { "without floors" };
        [self.data.into(), floors.into(), format!("{} kN/m", 1e-3 * self.ground)]
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [data, floors, ground] = self.words();
        write!(f, "{data} data, {floors}, ground of {ground}")
    }
}

/// One variant with the best walk known for it.
struct Known {
    variant: Variant,
    problem: WalkingProblem,
    best: Option<Outcome>,
    /// Of all that was solved for it.
    iterations: usize,
}

impl Known {
    /// Solves it from a neighbour's walk, or from straight lines; keeps what is better than what was known.
    fn solve(
        &mut self,
        neighbour: Option<(&WalkingProblem, &Outcome)>,
        teller: &mut Teller,
    ) -> Result<(), Failure> {
        let o = self.problem.solve_near(neighbour, &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        self.iterations += o.iterations;
        let better = |b: &Outcome| !holds(b) || o.solution.objective < b.solution.objective;
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(o);
        }
        Ok(())
    }

    /// The walk, if it is one.
    fn walk(&self) -> Option<&Outcome> {
        self.best.as_ref().filter(|o| holds(o))
    }
}

/// Variants with these data, all if none are named, beside the published cost; which is nearest. Each is solved from its neighbours on
/// both sides: the problem has many minima, the more so on stiff ground.
pub fn variants(wanted: &[String], folder: &Folder, report: &mut Report) -> Result<(), Failure> {
    const PUBLISHED: [f64; 3] = [2.04, 0.49, 1.55];
    const WORDS: &str = "2.04 = 0.49 + 1.55";
    report.heading(&format!("Problem of the paper: {NODES} nodes, {ABOUT}; lowest costs found"));
    let mut family = Vec::new();
    let wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    for (k, (name, winter)) in data()?.into_iter().filter(|d| wanted(d.0)).enumerate() {
        let mut four = Variant::with(name);
        if k % 2 == 1 {
            four.reverse();
        }
        for variant in four {
            let problem = variant.problem(&winter)?;
            family.push(Known { variant, problem, best: None, iterations: 0 });
        }
    }
    let count = family.len();
    let mut teller = Teller::new();
    for (from, to) in
        (0..count).map(|i| (i.checked_sub(1), i)).chain((1..count).rev().map(|i| (Some(i), i - 1)))
    {
        let known = from.and_then(|i| Some((family[i].problem.clone(), family[i].walk()?.clone())));
        // On the way back, nothing new comes from a neighbour without a walk.
        if known.is_some() || family[to].best.is_none() {
            family[to].solve(known.as_ref().map(|(p, o)| (p, o)), &mut teller)?;
        }
    }

    let columns = ["data", "deviations", "ground", "cost", "tracking", "effort", "violation", "iterations"];
    let mut sheet = Sheet::new(&columns);
    for k in &family {
        let Some(o) = &k.best else { continue };
        let iterations = k.iterations;
        report.note(&k.variant.to_string(), &super::state(&Outcome { iterations, ..o.clone() }), WORDS);
        let numbers = [
            format!("{:.4}", o.solution.objective),
            format!("{:.4}", super::tracking(o)),
            format!("{:.4}", o.goal("effort")),
            format!("{:.1e}", o.solution.certificate.constraint_violation),
            iterations.to_string(),
        ];
        sheet.row(k.variant.words().into_iter().chain(numbers).collect());
    }
    folder.table("variants", &format!("The paper's able walk: {WORDS}"), &sheet)?;
    report.note("all of them", &teller.time(), "");
    let far = |o: &Outcome| (o.solution.objective / PUBLISHED[0] - 1.0).abs();
    let walks = family.iter().filter_map(|k| Some((k, k.walk()?)));
    let Some((nearest, o)) = walks.min_by(|a, b| far(a.1).total_cmp(&far(b.1))) else {
        report.row("nearest variant", "none solved", WORDS, false);
        return Ok(());
    };
    report.row(
        &format!("nearest variant ({})", nearest.variant),
        &super::costs(o),
        &format!("{WORDS}, within 5 % and 10 %"),
        is_near(o, PUBLISHED),
    );
    write_page(folder, "paper able nearest", &nearest.problem, o)
}

/// The cost on finer and finer meshes, each from the coarser one.
pub fn meshes(folder: &Folder, report: &mut Report) -> Result<(), Failure> {
    report.heading(&format!("Meshes: {ABOUT}; slow data, floors; each from the coarser one"));
    let [(_, slow), ..] = data()?;
    let (mut nodes_of, mut costs) = (Vec::new(), Vec::new());
    let mut known: Option<(WalkingProblem, Outcome)> = None;
    for nodes in [25, 50, 100, 200] {
        let p = WalkingProblem::paper(Leg::Able, &slow, Some(FLOORS), nodes)?;
        let mut teller = Teller::new();
        let neighbour = known.as_ref().map(|(p, o)| (p, o));
        let o = p.solve_near(neighbour, &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        report.note(&format!("{nodes} nodes"), &describe(&o, &teller), "");
        nodes_of.push(f64::from(nodes));
        costs.push(o.solution.objective);
        known = Some((p, o));
    }
    let series = [Series { name: "cost", x: &nodes_of, y: &costs }];
    folder.picture("meshes", ["Cost against the mesh", "nodes", "cost"], &series)
}

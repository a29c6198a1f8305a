//! Walking by optimal control: van den Bogert, Blana and Heinrich (2011), sections 4.3 and 4.4.

mod problem;
mod random;

use super::report::Report;
use crate::failure::Failure;
use crate::load;
use crate::walk::{Teller, Walk, Winter, page};
use clap::Args;
use problem::{FLOORS, Leg, WalkingProblem};
use soleus_control::Trajectory;
use soleus_control::continuation::{Fading, Outcome};
use std::path::PathBuf;

/// What `soleus experiment walk` is told.
#[derive(Args)]
pub struct Arguments {
    /// Folder for the pages of the walks
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Random starts to solve the stored problem from
    #[arg(long, default_value_t = 0, value_name = "N")]
    random: u32,
    /// The stored problems alone
    #[arg(long)]
    short: bool,
}

/// Swing of the hips in the straight-line start, rad.
const SWING: f64 = 0.35;
/// Stiffnesses of the sweep, N·m/rad.
const SWEEP: [f64; 6] = [300.0, 450.0, 700.0, 1200.0, 2500.0, 5000.0];

/// Runs everything and prints a line for each number.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let mut report = Report::default();
    println!("Walking of a planar model, 9 coordinates, 16 muscles. Ours | published");
    let able = stored(a, &mut report)?;
    if a.random > 0 {
        random::check(a.random, &mut report)?;
    }
    if !a.short {
        paper(a, &able, &mut report)?;
    }
    report.close();
    Ok(())
}

/// Cost and its parts, how well it is solved and how long it took.
fn describe(o: &Outcome, seconds: f64) -> String {
    format!(
        "{:.6} = {:.5} + {:.5}, violation {:.1e}, {} iterations, {seconds:.1} s",
        o.solution.objective,
        o.goal("tracking") + o.goal("duration"),
        o.goal("effort"),
        o.solution.certificate.constraint_violation,
        o.iterations
    )
}

/// Whether the equations hold and the solver says so.
fn holds(o: &Outcome) -> bool {
    o.solution.status.is_solved() && o.solution.certificate.constraint_violation <= 1e-6
}

fn write_page(a: &Arguments, name: &str, p: &WalkingProblem, o: &Outcome) -> Result<(), Failure> {
    let Some(folder) = &a.out else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|e| Failure::write(folder, e))?;
    let walk = Walk::new(&p.walker, &p.cycle, &o.trajectory);
    let text = [format!("{name}: {}", describe(o, 0.0).split(", violation").next().unwrap_or_default())];
    let html = page(name, &p.walker, &walk, o, &Winter::read("normal")?, &text);
    load::write_whole(&folder.join(format!("{}.html", name.replace(' ', "_"))), &html)
}

/// The two problems that the authors stored, the able one from straight lines.
fn stored(a: &Arguments, report: &mut Report) -> Result<Trajectory, Failure> {
    report.heading("Stored problems: 60 nodes, backward Euler, 1.325 m/s; cost = tracking + effort");
    let mut teller = Teller::new();
    let p = WalkingProblem::stored(Leg::Able)?;
    let able = p.solve_from(&p.start(SWING), &mut |price, i| teller.tell(price, i))?;
    teller.finish();
    let enough = |o: &Outcome, stored: f64| holds(o) && o.solution.objective <= 1.001 * stored;
    report.row(
        "able",
        &describe(&able, teller.seconds()),
        "0.359714 = 0.20335 + 0.15639",
        enough(&able, 0.359_714),
    );
    write_page(a, "stored able", &p, &able)?;

    let mut teller = Teller::new();
    let p = WalkingProblem::stored(Leg::Spring(450.0))?;
    let fading = Fading::new(p.walker.reserves());
    let below = p.solve(&able.trajectory, &fading, p.nodes, 1e-6, &mut |price, i| teller.tell(price, i))?;
    teller.finish();
    report.row(
        "below-knee prosthesis, 450 N m/rad",
        &describe(&below, teller.seconds()),
        "0.701155 = 0.52964 + 0.17154",
        enough(&below, 0.701_155),
    );
    write_page(a, "stored below-knee", &p, &below)?;
    Ok(able.trajectory)
}

/// The problems of the paper, in the variants that its text leaves open.
fn paper(a: &Arguments, able: &Trajectory, report: &mut Report) -> Result<(), Failure> {
    report
        .heading("Problem of the paper: 1.1 m/s, 1.28 s, 100 nodes, midpoint rule, squares with weight 100");
    let (slow, normal) = (Winter::read("slow")?, Winter::read("normal")?);
    let blend = slow.blend(&normal, (1.1 - slow.speed) / (normal.speed - slow.speed));
    let mut best: Option<(f64, String, Outcome, WalkingProblem)> = None;
    let mut start = stretched(able, 1.28, 1.1, &WalkingProblem::stored(Leg::Able)?);
    for (name, data) in [("slow", &slow), ("normal", &normal), ("blend", &blend)] {
        for (floor, floors) in [("with floors", Some(FLOORS)), ("without floors", None)] {
            let mut teller = Teller::new();
            let p = WalkingProblem::paper(Leg::Able, data, floors, 100)?;
            let o = p.solve(&start, &Fading::none(), 100, 1e-6, &mut |price, i| teller.tell(price, i))?;
            teller.finish();
            let what = format!("{name} data, {floor}");
            report.note(&what, &describe(&o, teller.seconds()), "2.04 = 0.49 + 1.55");
            if o.solution.status.is_solved() {
                start.clone_from(&o.trajectory);
            }
            let far = (o.solution.objective / 2.04 - 1.0).abs();
            if holds(&o) && best.as_ref().is_none_or(|b| far < b.0) {
                best = Some((far, what, o, p));
            }
        }
    }
    let Some((far, what, o, p)) = best else {
        report.row("able, nearest variant", "none solved", "2.04 = 0.49 + 1.55", false);
        return Ok(());
    };
    let split =
        (o.goal("tracking") / 0.49 - 1.0).abs() <= 0.1 && (o.goal("effort") / 1.55 - 1.0).abs() <= 0.1;
    report.row(
        &format!("able, nearest variant ({what})"),
        &format!("{:.3} = {:.3} + {:.3}", o.solution.objective, o.goal("tracking"), o.goal("effort")),
        "2.04 = 0.49 + 1.55, within 5 % and 10 %",
        far <= 0.05 && split,
    );
    write_page(a, "paper able", &p, &o)?;
    meshes(&p, &o, report)?;
    prostheses(a, &p, &o, report)
}

/// The same motion over another duration at another speed.
fn stretched(t: &Trajectory, duration: f64, speed: f64, p: &WalkingProblem) -> Trajectory {
    let mut t = t.clone();
    let factor = t.times.last().map_or(1.0, |last| duration / last);
    t.times.iter_mut().for_each(|x| *x *= factor);
    for (row, &time) in t.states.rows.iter_mut().zip(&t.times) {
        let drift = row[p.cycle.forward] - p.cycle.speed * time / factor;
        row[p.cycle.forward] = speed * time + drift;
    }
    t.rates.rows.clear();
    t.rates.names.clear();
    t
}

/// The cost on finer and finer meshes, each from the coarser one.
fn meshes(p: &WalkingProblem, o: &Outcome, report: &mut Report) -> Result<(), Failure> {
    report.heading("Meshes");
    let mut guess = o.trajectory.clone();
    for nodes in [25, 50, 100, 200] {
        let mut teller = Teller::new();
        let o = p.solve(&guess, &Fading::none(), nodes, 1e-6, &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        report.note(&format!("{nodes} nodes"), &describe(&o, teller.seconds()), "");
        guess = o.trajectory;
    }
    Ok(())
}

/// The paper's prosthesis, and softer ones, each from its neighbour.
fn prostheses(a: &Arguments, p: &WalkingProblem, able: &Outcome, report: &mut Report) -> Result<(), Failure> {
    report.heading("Prosthesis below the right knee: stiffness of the ankle, each from its neighbour");
    let mut guess = able.trajectory.clone();
    for &stiffness in SWEEP.iter().rev() {
        let mut teller = Teller::new();
        let spring = p.with_leg(Leg::Spring(stiffness))?;
        let fading = if stiffness == SWEEP[SWEEP.len() - 1] {
            Fading::new(spring.walker.reserves())
        } else {
            Fading::none()
        };
        let o = spring.solve(&guess, &fading, spring.nodes, 1e-6, &mut |price, i| teller.tell(price, i))?;
        teller.finish();
        let ours = describe(&o, teller.seconds());
        if stiffness == 5000.0 {
            let near = (o.solution.objective / 2.78 - 1.0).abs() <= 0.05;
            let split = (o.goal("tracking") / 1.52 - 1.0).abs() <= 0.1
                && (o.goal("effort") / 1.26 - 1.0).abs() <= 0.1;
            let pass = holds(&o) && near && split;
            report.row("5000 N m/rad", &ours, "2.78 = 1.52 + 1.26, within 5 % and 10 %", pass);
            write_page(a, "paper prosthesis", &spring, &o)?;
        } else {
            report.note(&format!("{stiffness} N m/rad"), &ours, "");
        }
        if o.solution.status.is_solved() {
            guess = o.trajectory;
        }
    }
    Ok(())
}

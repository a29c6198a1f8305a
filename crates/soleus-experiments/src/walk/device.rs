//! The paper's prosthesis below the knee: its stiffness given, swept, and optimised together with the walk.

use super::paper;
use super::problem::{Leg, WalkingProblem};
use super::{describe, holds, is_near, write_page};
use crate::progress_printer::ProgressPrinter;
use crate::report::Report;
use crate::sheet::{Folder, Series};
use soleus::Error;
use soleus_control::continuation::{Fading, Outcome};
use soleus_optimization::nlp::Iteration;

/// Stiffnesses of the sweep, N·m/rad, from the paper's down.
const SWEEP: [f64; 7] = [5000.0, 2500.0, 1500.0, 1000.0, 700.0, 500.0, 350.0];

/// The paper's stiffness, the sweep, each from its neighbour, and the best one.
pub fn check(folder: &Folder, report: &mut Report) -> Result<(), Error> {
    report.heading(
        "Prosthesis below the right knee, stiffness of the ankle; slow data, floors; each from its neighbour",
    );
    let (able_problem, able, _) = paper::solved(Leg::Able)?;
    let (mut stiffnesses, mut costs) = (Vec::new(), Vec::new());
    let mut known: Option<(WalkingProblem, Outcome)> = None;
    let mut best: Option<(f64, Outcome)> = None;
    for stiffness in SWEEP {
        let mut printer = ProgressPrinter::new();
        let p = able_problem.with_leg(Leg::Spring(stiffness))?;
        let mut tell = |price: f64, i: &Iteration<'_>| printer.tell(price, i);
        let o = match &known {
            None => p.solve(&able.trajectory, &Fading::new(p.walker.reserves()), p.nodes, 1e-6, &mut tell)?,
            Some((q, o)) => p.solve_near(Some((q, o)), &mut tell)?,
        };
        printer.finish();
        let ours = describe(&o, &printer);
        if stiffness == 5000.0 {
            let pass = is_near(&o, [2.78, 1.52, 1.26]);
            report.row("5000 N m/rad", &ours, "2.78 = 1.52 + 1.26, within 5 % and 10 %", pass);
            write_page(folder, "paper prosthesis", &p, &o)?;
        } else {
            report.note(&format!("{stiffness} N m/rad"), &ours, "");
        }
        if !o.solution.status.is_solved() {
            continue;
        }
        stiffnesses.push(stiffness);
        costs.push(o.solution.objective);
        if best.as_ref().is_none_or(|b| o.solution.objective < b.1.solution.objective) {
            best = Some((stiffness, o.clone()));
        }
        known = Some((p, o));
    }
    let series = [Series { name: "cost", x: &stiffnesses, y: &costs }];
    folder.picture("stiffness", ["Cost of walking with the prosthesis", "N m/rad", "cost"], &series)?;
    let Some((swept, least)) = best else { return Ok(()) };

    // Device and movement together, from the best of the sweep.
    let mut printer = ProgressPrinter::new();
    let p: WalkingProblem = able_problem.with_leg(Leg::FreeSpring([SWEEP[SWEEP.len() - 1], SWEEP[0]]))?;
    let mut guess = least.trajectory.clone();
    guess.parameters = vec![p.stiffness(swept)];
    let o = p.solve(&guess, &Fading::none(), p.nodes, 1e-6, &mut |price, i| printer.tell(price, i))?;
    printer.finish();
    let found = p.stiffness_of(&o).unwrap_or(f64::NAN);
    report.row(
        "stiffness optimised with the walk",
        &format!("{found:.0} N m/rad, {}", describe(&o, &printer)),
        &format!("not above the minimum of the sweep, {:.6} at {swept} N m/rad", least.solution.objective),
        holds(&o) && o.solution.objective <= least.solution.objective + 1e-6,
    );
    write_page(folder, "paper prosthesis optimised", &p, &o)
}

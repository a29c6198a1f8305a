//! The two problems whose solutions the authors stored in 2011.

use super::problem::{Leg, WalkingProblem};
use super::{SWING, describe, holds, write_page};
use crate::progress_printer::ProgressPrinter;
use crate::report::Report;
use crate::sheet::Folder;
use soleus::Error;
use soleus_control::continuation::{Fading, Outcome};

/// Costs of the stored solutions.
pub const ABLE: f64 = 0.359_714;
pub const BELOW_KNEE: f64 = 0.701_155;

/// Solves the able problem from straight lines, the one with a prosthesis from its solution.
pub fn check(folder: &Folder, report: &mut Report) -> Result<(), Error> {
    report.heading("Stored problems: 60 nodes, backward Euler, 1.325 m/s; cost = tracking + effort");
    let mut printer = ProgressPrinter::new();
    let p = WalkingProblem::stored(Leg::Able)?;
    let able = p.solve_from(&p.start(SWING), &mut |price, i| printer.tell(price, i))?;
    printer.finish();
    let enough = |o: &Outcome, stored: f64| holds(o) && o.solution.objective <= 1.001 * stored;
    report.row("able", &describe(&able, &printer), "0.359714 = 0.20335 + 0.15639", enough(&able, ABLE));
    write_page(folder, "stored able", &p, &able)?;

    let mut printer = ProgressPrinter::new();
    let p = WalkingProblem::stored(Leg::Spring(450.0))?;
    let fading = Fading::new(p.walker.reserves());
    let below = p.solve(&able.trajectory, &fading, p.nodes, 1e-6, &mut |price, i| printer.tell(price, i))?;
    printer.finish();
    report.row(
        "below-knee prosthesis, 450 N m/rad",
        &describe(&below, &printer),
        "0.701155 = 0.52964 + 0.17154",
        enough(&below, BELOW_KNEE),
    );
    write_page(folder, "stored below-knee", &p, &below)
}

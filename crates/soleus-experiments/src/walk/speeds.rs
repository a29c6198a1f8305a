//! Walks of least effort over a range of speeds, and a run: nothing is tracked.

use crate::progress_printer::ProgressPrinter;
use crate::report::Report;
use crate::sheet::{Folder, Series, Sheet};
use soleus::Error;
use soleus::prediction::{self, Walk, at_speed, predict, predicted_cycle};
use soleus_control::continuation::{Fading, Outcome};
use soleus_control::gait::Planar;

/// Speeds of the walks, m/s, and where the first walk is found from straight lines.
const SPEEDS: [f64; 7] = [0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];
const FIRST: usize = 3;
/// Speeds on the way to a run, m/s.
const RUNS: [f64; 4] = [2.0, 2.4, 2.7, 3.0];
/// Points of half a cycle.
const MESH: usize = 40;

/// The best motion known at each speed.
struct Family<'a> {
    walker: &'a Planar,
    speeds: &'a [f64],
    best: Vec<Option<Outcome>>,
    iterations: usize,
}

impl<'a> Family<'a> {
    fn new(walker: &'a Planar, speeds: &'a [f64]) -> Self {
        Family { walker, speeds, best: vec![None; speeds.len()], iterations: 0 }
    }

    /// Keeps an outcome if it is solved and better than what is known.
    fn keep(&mut self, at: usize, o: Outcome) {
        self.iterations += o.iterations;
        let better = |b: &Outcome| o.solution.objective < b.solution.objective;
        if super::holds(&o) && self.best[at].as_ref().is_none_or(better) {
            self.best[at] = Some(o);
        }
    }

    /// From straight lines.
    fn find(
        &mut self,
        at: usize,
        [half, swing]: [f64; 2],
        printer: &mut ProgressPrinter,
    ) -> Result<(), Error> {
        let speed = self.speeds[at];
        let cycle = predicted_cycle(self.walker, speed);
        let start = self.walker.straight_line(speed, half, swing, true);
        let fading = Fading::new(self.walker.reserves());
        let o =
            predict(self.walker, &cycle, &start, &fading, &[20, MESH], &mut |p, i, _| printer.tell(p, i))?;
        printer.finish();
        self.keep(at, o);
        Ok(())
    }

    /// From the neighbour at `from`.
    fn follow(&mut self, from: usize, to: usize, printer: &mut ProgressPrinter) -> Result<(), Error> {
        let Some(known) = &self.best[from] else { return Ok(()) };
        let t = &known.trajectory;
        let half = t.times.last().zip(t.times.first()).map_or(0.5, |(b, a)| b - a);
        // Steps become longer and quicker in equal parts.
        let half = half * (self.speeds[from] / self.speeds[to]).sqrt();
        let cycle = predicted_cycle(self.walker, self.speeds[to]);
        let start = at_speed(t, cycle.forward, self.speeds[to], half);
        // A little help over the step.
        let fading = Fading {
            prices: vec![100.0],
            tolerance: 1e-2,
            max_iterations: 60,
            barriers: [1e-3; 2],
            ..Fading::new(self.walker.reserves())
        };
        let o = predict(self.walker, &cycle, &start, &fading, &[MESH], &mut |p, i, _| printer.tell(p, i))?;
        printer.finish();
        self.keep(to, o);
        Ok(())
    }
}

/// Both families as tables.
pub fn check(folder: &Folder, report: &mut Report) -> Result<(), Error> {
    report.heading(
        "Minimum effort without data: every speed from its neighbours, the better of both directions",
    );
    let walker = prediction::walker(prediction::model()?)?;
    let mut printer = ProgressPrinter::new();
    let mut walks = Family::new(&walker, &SPEEDS);
    walks.find(FIRST, [0.55, 0.35], &mut printer)?;
    for at in (1..=FIRST).rev() {
        walks.follow(at, at - 1, &mut printer)?;
    }
    let last = SPEEDS.len() - 1;
    (0..last).try_for_each(|at| walks.follow(at, at + 1, &mut printer))?;
    (1..=last).rev().try_for_each(|at| walks.follow(at, at - 1, &mut printer))?;
    let solved = tell(report, folder, "speeds", &walks)?;
    report.row(
        "0.8 to 2 m/s by continuation",
        &format!("{solved} of {} speeds, {} iterations, {}", SPEEDS.len(), walks.iterations, printer.time()),
        "every speed",
        solved == SPEEDS.len(),
    );

    report.heading("The same problem at higher speeds: from straight lines at 2 m/s with shorter steps, then by continuation");
    let mut printer = ProgressPrinter::new();
    let mut runs = Family::new(&walker, &RUNS);
    runs.find(0, [0.4, 0.5], &mut printer)?;
    (0..RUNS.len() - 1).try_for_each(|at| runs.follow(at, at + 1, &mut printer))?;
    tell(report, folder, "runs", &runs)?;
    let air = runs.best[RUNS.len() - 1].as_ref().map_or(0.0, |o| {
        Walk::new(&walker, &predicted_cycle(&walker, RUNS[RUNS.len() - 1]), &o.trajectory).aerial()
    });
    report.row(
        "a run at 3 m/s",
        &format!("both feet in the air for {:.0} % of the cycle, {}", 100.0 * air, printer.time()),
        "solved, with an aerial phase",
        air > 0.0,
    );
    Ok(())
}

/// One line for each speed; how many are solved.
fn tell(report: &Report, folder: &Folder, name: &str, f: &Family<'_>) -> Result<usize, Error> {
    let mut sheet = Sheet::new(&[
        "m/s",
        "cycle, s",
        "stride, m",
        "stance, %",
        "in the air, %",
        "effort",
        "effort per metre",
    ]);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (&speed, o) in f.speeds.iter().zip(&f.best) {
        let Some(o) = o else {
            report.note(&format!("{speed} m/s"), "not solved", "");
            continue;
        };
        let walk = Walk::new(f.walker, &predicted_cycle(f.walker, speed), &o.trajectory);
        let effort = o.goal("effort");
        report.note(
            &format!("{speed} m/s"),
            &format!(
                "cycle {:.3} s, stride {:.3} m, stance {:.1} %, in the air {:.1} %, effort {effort:.4}, per metre {:.4}, violation {:.1e}",
                walk.duration(),
                speed * walk.duration(),
                100.0 * walk.stance(),
                100.0 * walk.aerial(),
                effort / speed,
                o.solution.certificate.constraint_violation
            ),
            "",
        );
        let numbers = [
            speed,
            walk.duration(),
            speed * walk.duration(),
            100.0 * walk.stance(),
            100.0 * walk.aerial(),
            effort,
            effort / speed,
        ];
        sheet.row(numbers.iter().map(|v| format!("{v:.4}")).collect());
        x.push(speed);
        y.push(effort / speed);
    }
    folder.table(name, "Motions of minimum effort", &sheet)?;
    let series = [Series { name: "effort per metre", x: &x, y: &y }];
    folder.picture(name, ["Minimum effort against speed", "speed, m/s", "effort per metre"], &series)?;
    Ok(x.len())
}

//! The stored problems from random starts.

use super::problem::{Leg, WalkingProblem};
use super::stored;
use crate::progress_printer::ProgressPrinter;
use crate::random::Random;
use crate::report::Report;
use soleus::Error;
use soleus_control::Trajectory;
use soleus_control::continuation::Outcome;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Straight lines with a random swing (5° to 40°), and at every point every angle off by up to 15°, the height by up to
/// 5 cm, every activation between 0 and 0.5.
fn start(p: &WalkingProblem, seed: u64) -> Trajectory {
    let mut random = Random::new(seed);
    let swing = (22.5 + 17.5 * random.signed()).to_radians();
    let mut t = p.start(swing);
    let n = p.walker.base.num_coordinates();
    let names = t.states.names.clone();
    for row in &mut t.states.rows {
        for i in 0..row.len() {
            let noise = random.signed();
            if i == p.walker.height {
                row[i] += 0.05 * noise;
            } else if i < n && i != p.walker.forward {
                row[i] += 15f64.to_radians() * noise;
            } else if names[i].ends_with("/activation") {
                row[i] = 0.25 + 0.25 * noise;
            }
        }
    }
    t
}

/// How the starts ended: two are under way at a time, each on one thread.
fn solve(p: &WalkingProblem, seeds: &[u64]) -> Result<Vec<Outcome>, Error> {
    let one = WalkingProblem { threads: 1, ..p.clone() };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut ended = Vec::new();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = seeds.get(k) else { return ended };
            let o = one.solve_patiently(&start(&one, seed), &mut |_, _| ControlFlow::Continue(()));
            if let Ok(o) = &o {
                eprintln!("seed {seed}: {}", super::state(o));
            }
            ended.push((k, o));
        }
    };
    let mut all = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut all = work();
        all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        all
    });
    all.sort_by_key(|(k, _)| *k);
    all.into_iter().map(|(_, o)| o).collect()
}

/// Solves each stored problem from `count` seeds: how many converge, and to which costs.
pub fn check(count: u32, first: u64, report: &mut Report) -> Result<(), Error> {
    let problems = [
        ("able", Leg::Able, stored::ABLE),
        ("below-knee prosthesis", Leg::Spring(450.0), stored::BELOW_KNEE),
    ];
    let seeds: Vec<u64> = (first..first + u64::from(count)).collect();
    for (name, leg, known) in problems {
        report.heading(&format!("Stored problem, {name}, from {count} random starts"));
        let printer = ProgressPrinter::new();
        let ended = solve(&WalkingProblem::stored(leg)?, &seeds)?;
        for (seed, o) in seeds.iter().zip(&ended) {
            report.note(&format!("seed {seed}"), &super::state(o), "");
        }
        let iterations: usize = ended.iter().map(|o| o.iterations).sum();
        let costs: Vec<f64> =
            ended.iter().filter(|o| super::holds(o)).map(|o| o.solution.objective).collect();
        tell(&costs, known, report);
        let best = costs.iter().filter(|&&c| c <= 1.001 * known).count();
        report.row(
            &format!("{count} random starts"),
            &format!(
                "{} converge, {best} of them to the stored cost or below; {iterations} iterations, {}",
                costs.len(),
                printer.time()
            ),
            "90 % converge",
            10 * costs.len() >= 9 * count as usize,
        );
    }
    Ok(())
}

/// How many ended at which cost: one line for each cost to three digits.
fn tell(costs: &[f64], known: f64, report: &Report) {
    let mut costs: Vec<i64> = costs.iter().map(|c| (1e3 * c).round() as i64).collect();
    costs.sort_unstable();
    for same in costs.chunk_by(|a, b| a == b) {
        let cost = 1e-3 * same[0] as f64;
        let times = format!("{} {}", same.len(), "|".repeat(same.len()));
        report.note(
            &format!("cost {cost:.3}"),
            &times,
            &format!("{:+.1} % of the stored", 100.0 * (cost / known - 1.0)),
        );
    }
}

//! The problem at other speeds, on slopes, and from random starts.

use super::gait::Gait;
use super::problem::{Subject, Walk};
use super::published::{POINTS, Published};
use super::solve::{Found, Request, Stage};
use crate::report::Report;
use crate::sheet::{Folder, Series, Sheet};
use soleus::Error;
use std::path::Path;

/// Cost of the published solution, and how far from it a solution may be.
const PUBLISHED: f64 = 339.9878;
const NEAR: f64 = 0.005;

/// Solves from random perturbations of a start and prints a line for each.
pub fn starts(
    data: &Path,
    walk: &Walk,
    p: &Published,
    r: &Request,
    first: u64,
    count: u64,
    report: &mut Report,
) -> Result<(), Error> {
    let intervals = r.stages.last().map_or(0, |s| s.intervals);
    report.heading(&format!("{count} random perturbations of {:?}, {intervals} intervals", r.start));
    let mut costs = Vec::new();
    for seed in first..first + count {
        let guess = walk.start(data, p, r.start, Some(seed))?;
        let found = walk.solve(&guess, None, &r.stages, r.threads, false)?;
        let gait = Gait::new(walk, p, &found.motion);
        report.note(
            &format!("seed {seed}"),
            &format!(
                "{}, cost {:.3}, violation {:.1e}, {} iterations, {:.0} s, half a cycle {:.4} s, cost of transport {:.3}",
                found.solution.status.describe(),
                found.solution.objective,
                found.solution.certificate.constraint_violation,
                found.iterations,
                found.seconds,
                found.half_cycle(),
                gait.cost_of_transport
            ),
            "",
        );
        if found.is_solved() {
            costs.push(found.solution.objective);
        }
    }
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let near = costs.iter().filter(|&&c| c <= (1.0 + NEAR) * least).count();
    report.note(
        "solved",
        &format!("{} of {count}, {near} within 0.5 % of the least cost, {least:.3}", costs.len()),
        "",
    );
    let good = costs.iter().filter(|&&c| c <= (1.0 + NEAR) * PUBLISHED).count() as u64;
    if intervals >= super::INTERVALS {
        report.row(
            "within 0.5 % of the published cost",
            &format!("{good} of {count}"),
            "18 of 20",
            20 * good >= 18 * count,
        );
    }
    Ok(())
}

/// What changes along a series.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// m/s
    Speed,
    /// Percent
    Slope,
}

/// Solutions that follow from one another.
pub struct Family<'a> {
    pub subject: &'a Subject,
    pub p: &'a Published,
    pub threads: usize,
    pub folder: &'a Folder,
}

/// A solution with its speed, m/s, and slope, percent.
type At = ([f64; 2], Found);

/// First barrier parameter and iterations from a neighbour, and how many times the way there may be halved.
const BARRIER: f64 = 1e-3;
const ITERATIONS: usize = 250;
const HALVES: usize = 3;

impl Family<'_> {
    /// From one solution to a neighbour's problem.
    fn go(&self, from: &mut At, to: [f64; 2]) -> Result<(Walk, Found), Error> {
        let walk = Walk::new(self.subject, self.p, to[0], to[1])?;
        let intervals = (from.1.motion.times.len().saturating_sub(1) / POINTS).max(1);
        let stage = Stage {
            intervals,
            price: None,
            barrier: BARRIER,
            tolerance: 1e-4,
            iterations: ITERATIONS,
            feasibility: 0,
        };
        let guess = from.1.motion.clone();
        let found = walk.solve(&guess, Some(&mut from.1), &[stage], self.threads, false)?;
        Ok((walk, found))
    }

    /// Solves at all values, outwards from the first solution in both directions; where a value is not solved, at values half-way
    /// before it. The first solution again, to go on from.
    pub fn follow(&self, along: Along, values: &[f64], first: At, report: &mut Report) -> Result<At, Error> {
        let (place, name, unit) = match along {
            Along::Speed => (0, "speed", "m/s"),
            Along::Slope => (1, "slope", "%"),
        };
        report.heading(&format!("{name} by continuation"));
        let beginning = first.0;
        let mut rows: Vec<(f64, Row)> = Vec::new();
        let first_walk = Walk::new(self.subject, self.p, beginning[0], beginning[1])?;
        let mut start = first;
        if start.1.is_solved() {
            rows.push((beginning[place], self.row(report, beginning[place], unit, &first_walk, &start.1)));
        }
        let mut up: Vec<f64> = values.iter().copied().filter(|&v| v > beginning[place]).collect();
        let mut down: Vec<f64> = values.iter().copied().filter(|&v| v < beginning[place]).collect();
        up.sort_by(f64::total_cmp);
        down.sort_by(|a, b| b.total_cmp(a));
        for targets in [down, up] {
            let mut here: Option<At> = None;
            for target in targets {
                let mut todo = vec![target];
                let mut halves = 0;
                while let Some(&next) = todo.last() {
                    let from = here.as_mut().unwrap_or(&mut start);
                    let now = from.0[place];
                    let mut to = beginning;
                    to[place] = next;
                    let (walk, found) = self.go(from, to)?;
                    if found.is_solved() {
                        todo.pop();
                        if todo.is_empty() {
                            rows.push((next, self.row(report, next, unit, &walk, &found)));
                        }
                        here = Some((to, found));
                    } else {
                        let how = found.solution.status.describe();
                        report.note(
                            &format!("{next} {unit} from {now} {unit}"),
                            &format!("not solved: {how}"),
                            "",
                        );
                        halves += 1;
                        if halves > HALVES {
                            break;
                        }
                        todo.push(0.5 * (now + next));
                    }
                }
                if !todo.is_empty() {
                    break;
                }
            }
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let solved = values.iter().filter(|v| rows.iter().any(|r| r.0 == **v)).count();
        report.row("solved", &format!("{solved} of {}", values.len()), "all", solved == values.len());
        self.write(name, unit, &rows)?;
        Ok(start)
    }

    /// A line of the report.
    fn row(&self, report: &mut Report, value: f64, unit: &str, walk: &Walk, found: &Found) -> Row {
        let gait = Gait::new(walk, self.p, &found.motion);
        let terms: Vec<f64> = found.goals.iter().take(5).map(|g| g.1).collect();
        let row = Row { cost: found.solution.objective, terms, iterations: found.iterations, gait };
        report.note(&format!("{value} {unit}"), &row.words(&found.goals, found.seconds), "");
        row
    }

    fn write(&self, name: &str, unit: &str, rows: &[(f64, Row)]) -> Result<(), Error> {
        let label = format!("{name}, {unit}");
        let mut columns = vec![label.as_str(), "cost"];
        columns.extend(TERMS);
        columns.extend([
            "cost of transport, J/kg/m",
            "strides/s",
            "double support, %",
            "in the air, %",
            "peak force, BW",
        ]);
        let mut sheet = Sheet::new(&columns);
        for (value, r) in rows {
            let g = &r.gait;
            let measures = [
                g.cost_of_transport,
                g.stride_frequency,
                100.0 * g.double_support,
                100.0 * g.aerial,
                g.peak_force,
            ];
            let numbers = [*value, r.cost].into_iter().chain(r.terms.iter().copied()).chain(measures);
            sheet.row(numbers.map(|v| format!("{v:.4}")).collect());
        }
        self.folder.table(name, &format!("Predicted gait and {name}"), &sheet)?;
        let x: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let y: Vec<f64> = rows.iter().map(|r| r.1.gait.cost_of_transport).collect();
        let series = [Series { name: "cost of transport", x: &x, y: &y }];
        self.folder.picture(name, ["Cost of transport", &label, "J/kg/m"], &series)
    }
}

/// Names of the terms of the cost.
const TERMS: [&str; 5] = ["metabolic", "activations", "arm excitations", "accelerations", "limit torques"];

/// What a solution is like.
struct Row {
    cost: f64,
    terms: Vec<f64>,
    iterations: usize,
    gait: Gait,
}

impl Row {
    fn words(&self, goals: &[(String, f64)], seconds: f64) -> String {
        let terms: Vec<String> = goals.iter().take(5).map(|g| format!("{} {:.2}", g.0, g.1)).collect();
        let g = &self.gait;
        format!(
            "cost {:.3} ({}), cost of transport {:.3} J/kg/m, {:.3} strides/s, both feet {:.0} %, none {:.0} %, peak {:.2} BW, {} iterations, {seconds:.0} s",
            self.cost,
            terms.join(", "),
            g.cost_of_transport,
            g.stride_frequency,
            100.0 * g.double_support,
            100.0 * g.aerial,
            g.peak_force,
            self.iterations
        )
    }
}

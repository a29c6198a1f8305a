//! Solves the same problem from several initial guesses and compares the optima.

use crate::optimal_control::start::guess;
use crate::optimal_control::transcription::meshes::Solved;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Collocation, Problem, Trajectory};
use soleus_io::study::StartSettings;
use soleus_math::Random;
use soleus_math::elementary;
use std::f64::consts::TAU;
use std::fmt::Write;

/// Objectives that differ by less, as a part of their size, may be the same optimum.
const SAME_OBJECTIVE: f64 = 1e-3;

/// Coordinates whose mean distance, as a part of their range, is less are the same motion.
const SAME_MOTION: f64 = 0.02;

/// Phases at which motions are compared.
const PHASES: usize = 21;

/// Widest range of a coordinate that disturbances are measured by: rad, and m.
const WIDEST: [f64; 2] = [1.0, 0.3];

/// Result of one start.
#[derive(Clone, Debug)]
pub struct Start {
    /// Whether it was solved.
    pub is_solved: bool,
    /// Objective.
    pub objective: f64,
    /// Iterations of the last program.
    pub iterations: usize,
    /// Number of the optimum it reached, from 1 in order of the objectives; 0 if it was not solved.
    pub optimum: usize,
    motion: Trajectory,
}

impl Start {
    /// From the result of a solver.
    pub fn new(solved: &mut Solved) -> Start {
        Start {
            is_solved: solved.diagnosis.is_none(),
            objective: solved.solution.objective,
            iterations: solved.solution.counts.iterations,
            optimum: 0,
            motion: solved.program.trajectory(&solved.x),
        }
    }
}

/// Numbers the optima, best first.
pub fn group(starts: &mut [Start]) {
    let mut order: Vec<usize> = (0..starts.len()).filter(|&i| starts[i].is_solved).collect();
    order.sort_by(|&a, &b| starts[a].objective.total_cmp(&starts[b].objective));
    let mut first: Vec<usize> = Vec::new();
    for i in order {
        let known = first.iter().position(|&k| is_same(&starts[k], &starts[i]));
        starts[i].optimum = 1 + known.unwrap_or(first.len());
        if known.is_none() {
            first.push(i);
        }
    }
}

fn is_same(a: &Start, b: &Start) -> bool {
    let size = a.objective.abs().max(b.objective.abs());
    (a.objective - b.objective).abs() <= SAME_OBJECTIVE * size
        && distance(&a.motion, &b.motion) <= SAME_MOTION
}

/// Mean distance of two motions over their phases, as a part of how far each coordinate moves; of the duration too.
fn distance(a: &Trajectory, b: &Trajectory) -> f64 {
    let (Some(first), Some(second)) = (Course::new(a), Course::new(b)) else { return f64::INFINITY };
    let durations = (first.duration - second.duration).abs() / first.duration.max(second.duration);
    let mut largest = durations;
    for i in 0..a.states.names.len().min(b.states.names.len()) {
        if !a.states.names[i].ends_with("/value") {
            continue;
        }
        let sample = |c: &Course| -> Vec<f64> {
            (0..PHASES).map(|k| c.at(i, k as f64 / (PHASES - 1) as f64)).collect()
        };
        let (x, y) = (sample(&first), sample(&second));
        let ends = x.iter().chain(&y).fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(*v), hi.max(*v)));
        // What hardly moves in either motion does not tell them apart.
        let range = (ends.1 - ends.0).max(0.05);
        let mean = x.iter().zip(&y).map(|(x, y)| (x - y).abs()).sum::<f64>() / PHASES as f64;
        largest = largest.max(mean / range);
    }
    largest
}

/// States over the phase of a motion, with lines between points.
struct Course<'a> {
    motion: &'a Trajectory,
    duration: f64,
}

impl<'a> Course<'a> {
    fn new(motion: &'a Trajectory) -> Option<Course<'a>> {
        let duration = motion.times.last()? - motion.times.first()?;
        (duration > 0.0).then_some(Course { motion, duration })
    }

    fn at(&self, state: usize, phase: f64) -> f64 {
        let (times, rows) = (&self.motion.times, &self.motion.states.rows);
        let t = times[0] + phase * self.duration;
        let k = times.partition_point(|x| *x <= t).clamp(1, times.len() - 1);
        let s = ((t - times[k - 1]) / (times[k] - times[k - 1]).max(1e-300)).clamp(0.0, 1.0);
        (1.0 - s) * rows[k - 1][state] + s * rows[k][state]
    }
}

/// Describes the starts: how many were solved, the optima, and how often each was reached.
pub fn describe(starts: &[Start]) -> String {
    let solved = starts.iter().filter(|s| s.is_solved).count();
    let optima = starts.iter().map(|s| s.optimum).max().unwrap_or(0);
    let mut text = format!("{} starts: {solved} solved", starts.len());
    for k in 1..=optima {
        let of: Vec<&Start> = starts.iter().filter(|s| s.optimum == k).collect();
        let lead = match k {
            1 if optima == 1 => ", one local optimum: ".to_string(),
            1 => format!(", {optima} local optima: "),
            _ => ", ".to_string(),
        };
        let times = if of.len() == 1 { "once".to_string() } else { format!("{} times", of.len()) };
        let objective = of.iter().map(|s| s.objective).fold(f64::INFINITY, f64::min);
        let _ = write!(text, "{lead}{objective:.4e} ({times})");
    }
    text + "; the best is kept; a better optimum may exist"
}

/// Perturbs the initial guess of a program smoothly: coordinates with their speeds, activations and controls, and the
/// duration if it is free.
pub fn disturb(
    base: &ModelProblem,
    program: &mut Collocation,
    problem: &Problem,
    s: &StartSettings,
    number: usize,
) {
    let mut random = Random::new((s.seed as u64) << 32 | number as u64);
    let mut t = guess::present(program, 0);
    let n = base.num_coordinates();
    let (Some(&first), Some(&last)) = (t.times.first(), t.times.last()) else { return };
    let stretch = if problem.final_time.is_fixed() { 1.0 } else { 1.0 + 3.0 * s.noise * random.signed() };
    let duration = (last - first) * stretch;
    let width = |i: usize| {
        let b = problem.states[i].bounds;
        let widest = WIDEST[usize::from(base.system.tree.angular[i].is_none() && translates(base, i))];
        (b.upper - b.lower).min(widest)
    };
    let mut wave = |scale: f64| [s.noise * scale * random.signed(), 0.5 + random.unit(), random.unit()];
    let of_coordinates: Vec<[f64; 3]> = (0..n).map(|i| wave(width(i))).collect();
    let of_states: Vec<[f64; 3]> = (2 * n..base.states.len()).map(|_| wave(1.0)).collect();
    let of_controls: Vec<[f64; 3]> = (0..base.controls.len()).map(|_| wave(1.0)).collect();
    let value = |[size, turns, phase]: [f64; 3], at: f64| size * elementary::sin(TAU * (turns * at + phase));
    for (k, time) in t.times.iter_mut().enumerate() {
        let at = (*time - first) / (last - first).max(1e-300);
        *time = first + at * duration;
        let (Some(row), Some(controls)) = (t.states.rows.get_mut(k), t.controls.rows.get_mut(k)) else {
            continue;
        };
        for (i, &w) in of_coordinates.iter().enumerate() {
            row[i] += value(w, at);
            row[n + i] /= stretch;
            row[n + i] += w[0] * TAU * w[1] / duration * elementary::cos(TAU * (w[1] * at + w[2]));
        }
        for (i, &w) in of_states.iter().enumerate() {
            if base.states[2 * n + i].ends_with("/activation") {
                row[2 * n + i] = (row[2 * n + i] + value(w, at)).abs();
            }
        }
        for (e, &w) in controls.iter_mut().zip(&of_controls) {
            *e += value(w, at);
        }
    }
    t.rates.rows.clear();
    t.rates.names.clear();
    program.set_guess_of(0, &t);
    guess::equilibrate(base, program, 0);
}

/// Whether a coordinate is one of translation.
fn translates(base: &ModelProblem, i: usize) -> bool {
    use soleus_model::joint::MotionType;
    let id = base.system.tree.coordinate_of_mobility[i];
    id.is_some_and(|c| base.model.coordinates[c.0].motion_type == MotionType::Translational)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_control::solution::Columns;

    fn start(objective: f64, swing: f64, duration: f64) -> Start {
        let names = vec!["/hip/value".to_string()];
        let rows = (0..11).map(|k| vec![swing * (TAU * f64::from(k) / 10.0).sin()]).collect();
        let times = (0..11).map(|k| duration * f64::from(k) / 10.0).collect();
        let states = Columns { names, rows };
        let motion = Trajectory { times, states, ..Trajectory::default() };
        Start { is_solved: true, objective, iterations: 7, optimum: 0, motion }
    }

    /// Walks of 9.2 were found beside walks of 2.0: they are told apart, and so are different motions of the same cost.
    #[test]
    fn issue_20_distinct_optima_are_told_apart() {
        let mut list = vec![
            start(9.2, 0.3, 1.0),
            start(2.0, 0.4, 1.0),
            start(2.0001, 0.4, 1.0),
            start(2.0, 0.2, 1.0),
            Start { is_solved: false, ..start(0.1, 0.4, 1.0) },
            start(2.0, 0.4, 1.2),
        ];
        group(&mut list);
        assert_eq!(list.iter().map(|s| s.optimum).collect::<Vec<_>>(), [4, 1, 1, 2, 0, 3]);
        let text = describe(&list);
        assert!(
            text.starts_with("6 starts: 5 solved, 4 local optima: 2.0000e0 (2 times), 2.0000e0 (once)"),
            "{text}"
        );
    }
}

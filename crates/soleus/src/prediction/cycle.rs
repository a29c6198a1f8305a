//! Walking with minimum effort at a given speed, without tracking.

use crate::error::Error;
use soleus_control::continuation::{Fading, Outcome, Seen, solve_fading_seen};
use soleus_control::gait::{Duration, Effort, GaitCycle, Planar, Symmetry};
use soleus_control::{Bounds, Scheme, Settings, Trajectory};
use soleus_optimization::nlp::Options;

/// Allowed durations of half a cycle, s.
const HALF: [f64; 2] = [0.3, 0.9];

/// Most iterations on each mesh; walks that are found take a few hundred.
const MOST_ITERATIONS: usize = 600;

/// The problem: half a gait cycle, effort with the cube of excitation, an upright trunk.
pub fn predicted_cycle(walker: &Planar, speed: f64) -> GaitCycle {
    GaitCycle {
        forward: walker.forward,
        speed,
        duration: Duration { bounds: Bounds::new(HALF[0], HALF[1]), measured: None },
        symmetry: Symmetry::HalfCycle,
        signals: vec![walker.upright(0.1)],
        tracking_weight: 0.1,
        effort: Effort { weight: 20.0, exponent: 3.0 },
    }
}

/// Called with the weight of the reserves, every iteration and a reader of its motion; returns whether to continue.
pub type Watch<'a> = Seen<'a>;

/// Solves on a series of meshes, given as numbers of intervals per half cycle; reserves are reduced on the first mesh.
pub fn predict(
    walker: &Planar,
    cycle: &GaitCycle,
    guess: &Trajectory,
    fading: &Fading,
    meshes: &[usize],
    watch: &mut Watch,
) -> Result<Outcome, Error> {
    let fail = |message: String| Error::NotSolved { message };
    let mut problem = walker.problem();
    cycle.pose(&walker.base, &mut problem).map_err(|e| fail(e.to_string()))?;
    let (mut guess, mut fading) = (guess.clone(), fading.clone());
    let mut iterations = 0;
    let mut last = None;
    for &intervals in meshes {
        let settings =
            Settings { interpolate_controls: false, ..Settings::uniform(Scheme::BackwardEuler, intervals) };
        // The two ends of the motion are independent. A page has one thread; the result is the same.
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(2));
        let options = Options {
            threads,
            constraint_tolerance: 1e-6,
            max_iterations: MOST_ITERATIONS,
            ..Options::with_tolerance(1e-4)
        };
        let outcome = solve_fading_seen(&problem, &settings, &fading, &guess, &options, watch)
            .map_err(|e| fail(e.to_string()))?;
        iterations += outcome.iterations;
        guess = outcome.trajectory.clone();
        fading = Fading::none();
        let solved = outcome.solution.status.is_solved();
        last = Some(Outcome { iterations, ..outcome });
        if !solved {
            break;
        }
    }
    last.ok_or_else(|| fail("no mesh".into()))
}

/// The same motion at another speed, over another duration (s).
pub fn at_speed(t: &Trajectory, forward: usize, speed: f64, duration: f64) -> Trajectory {
    let mut t = t.clone();
    let (Some(&first), Some(&last)) = (t.times.first(), t.times.last()) else { return t };
    let factor = duration / (last - first);
    let travelled =
        |rows: &[Vec<f64>]| rows.last().zip(rows.first()).map_or(0.0, |(b, a)| b[forward] - a[forward]);
    let old = travelled(&t.states.rows) / (last - first);
    for (row, time) in t.states.rows.iter_mut().zip(&mut t.times) {
        let elapsed = *time - first;
        *time = first + factor * elapsed;
        row[forward] += speed * factor * elapsed - old * elapsed;
    }
    // Slopes are found anew.
    t.rates.rows.clear();
    t.rates.names.clear();
    t
}

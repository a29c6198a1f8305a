//! Warm start from the solution on another mesh, including multipliers.
//!
//! The multiplier of an equation or of a bound at a point is a part of an integral over time: divided by the time that
//! the point represents, it is a function of time that does not depend on the mesh. Multipliers of defects are such
//! functions themselves, the costates. Points at different positions within their intervals have separate functions.

use super::layout::PointUnknowns;
use super::{Collocation, Scheme};
use crate::solution::Trajectory;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::WarmStart;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Which function of time a number belongs to: phase, what it is, its number, place within the interval.
type Series = (usize, String, usize, usize);

/// One number of a program: where it is, and how much time it stands for.
struct Place {
    series: Series,
    tau: f64,
    share: f64,
}

impl Collocation {
    /// Uses the solution of the same problem on another mesh as initial guess: the motion, and the multipliers of
    /// equations and bounds. Variables that the other mesh does not have, such as constraint corrections, have no
    /// multipliers.
    pub fn warm_start(&mut self, previous: &mut Collocation, solution: &WarmStart) -> WarmStart {
        for (phase, mut guess) in previous.trajectories(&solution.x).into_iter().enumerate() {
            let p = &previous.phases[phase];
            let lines = matches!(p.settings.scheme, Scheme::Midpoint | Scheme::BackwardEuler);
            let same = self.phases.get(phase).is_some_and(|q| q.settings == p.settings);
            if lines && !same {
                smooth(&mut guess, &p.layout.mesh);
            }
            self.set_guess_of(phase, &guess);
        }
        self.with_multipliers(previous, solution)
    }

    /// The current initial guess with the multipliers of a solution of the same problem, or of one with other values.
    pub fn with_multipliers(&self, previous: &Collocation, solution: &WarmStart) -> WarmStart {
        let mut x = vec![0.0; self.num_variables()];
        self.compute_start(&mut x);
        let (from, to) = (previous.places_of_variables(), self.places_of_variables());
        WarmStart {
            x,
            multipliers: carried(&previous.places_of_rows(), &solution.multipliers, &self.places_of_rows()),
            lower_multipliers: carried(&from, &solution.lower_multipliers, &to),
            upper_multipliers: carried(&from, &solution.upper_multipliers, &to),
            barrier: None,
        }
    }

    /// Places of the constraints.
    fn places_of_rows(&self) -> Vec<Option<Place>> {
        let shares: Vec<Vec<f64>> = self.phases.iter().map(|p| shares(&p.layout.points)).collect();
        let each = self.assembly.constraints().map(|row| {
            let phase = row.phase as usize;
            let points = &self.phases[phase].layout.points;
            let (name, in_interval) = family(&row.name);
            let tau = row.tau.unwrap_or(0.0);
            let point = points.partition_point(|p| p.tau < tau);
            // What belongs to an interval or to no time is not a share of anything.
            let (node, share) = match points.get(point) {
                Some(p) if p.tau == tau && row.tau.is_some() && !in_interval => {
                    (point % self.points_per_interval(phase), shares[phase][point])
                }
                _ => (0, 1.0),
            };
            Some(Place { series: (phase, name.to_string(), 0, node), tau, share })
        });
        each.collect()
    }

    /// Places of the variables; none for those that belong to no point of time and are not times or parameters.
    fn places_of_variables(&self) -> Vec<Option<Place>> {
        let mut places: Vec<Option<Place>> = Vec::new();
        places.resize_with(self.num_variables(), || None);
        for (k, phase) in self.phases.iter().enumerate() {
            let layout = &phase.layout;
            let mut put = |unknown: usize, what: &str, number: usize, at: (usize, f64, f64)| {
                if let Some(variable) = self.assembly.variable_of(unknown) {
                    let series = (k, what.to_string(), number, at.0);
                    places[variable] = Some(Place { series, tau: at.1, share: at.2 });
                }
            };
            for (i, &unknown) in layout.times.iter().chain(&layout.parameters).enumerate() {
                put(unknown, "parameter", i, (0, 0.0, 1.0));
            }
            for (n, (point, share)) in layout.points.iter().zip(shares(&layout.points)).enumerate() {
                let at = (n % self.points_per_interval(k), point.tau, share);
                let lists = [
                    ("rate", &point.rates),
                    ("state", &point.states),
                    ("control", &point.controls),
                    ("multiplier", &point.multipliers),
                ];
                for (what, list) in lists {
                    list.iter().enumerate().for_each(|(i, &unknown)| put(unknown, what, i, at));
                }
            }
        }
        places
    }

    fn points_per_interval(&self, phase: usize) -> usize {
        let layout = &self.phases[phase].layout;
        ((layout.points.len() - 1) / (layout.mesh.len() - 1).max(1)).max(1)
    }
}

/// Rounds the corners that states have where a scheme puts lines between mesh points: cubics through the mesh points, with the
/// slopes that parabolas through three of them have, and the points inside intervals on them.
fn smooth(t: &mut Trajectory, mesh: &[usize]) {
    let last = mesh.len() - 1;
    if last < 2 {
        return;
    }
    for i in 0..t.states.names.len() {
        let x = |k: usize, t: &Trajectory| (t.times[mesh[k]], t.states.rows[mesh[k]][i]);
        let slope_of = |k: usize, t: &Trajectory| {
            let middle = k.clamp(1, last - 1);
            let [(ta, a), (tb, b), (tc, c)] = [x(middle - 1, t), x(middle, t), x(middle + 1, t)];
            let (left, right) = ((b - a) / (tb - ta), (c - b) / (tc - tb));
            let curvature = (right - left) / (tc - ta);
            // The parabola's slope at the beginning, in the middle or at the end of the three.
            match k.cmp(&middle) {
                Ordering::Less => left - curvature * (tb - ta),
                Ordering::Equal => left + curvature * (tb - ta),
                Ordering::Greater => right + curvature * (tc - tb),
            }
        };
        let slopes: Vec<f64> = (0..=last).map(|k| slope_of(k, t)).collect();
        for k in 0..last {
            let ((t0, a), (t1, b)) = (x(k, t), x(k + 1, t));
            let h = t1 - t0;
            let (ra, rb) = (h * slopes[k], h * slopes[k + 1]);
            for point in mesh[k] + 1..mesh[k + 1] {
                let s = (t.times[point] - t0) / h;
                // Hermite's cubic in powers of s.
                let (c2, c3) = (3.0 * (b - a) - 2.0 * ra - rb, 2.0 * (a - b) + ra + rb);
                t.states.rows[point][i] = a + s * (ra + s * (c2 + s * c3));
                t.rates.rows[point][i] = (ra + s * (2.0 * c2 + s * 3.0 * c3)) / h;
            }
        }
        for (k, &point) in mesh.iter().enumerate() {
            t.rates.rows[point][i] = slopes[k];
        }
    }
}

/// The part of a row's name that is the same in all intervals, and whether the row belongs to an interval.
fn family(name: &str) -> (&str, bool) {
    let cut = [" in interval ", " inside interval ", " to the end of interval "];
    match cut.iter().find_map(|c| name.find(c)) {
        Some(at) => (&name[..at], true),
        None => (name, false),
    }
}

/// How much of the duration each point stands for: half the way to its neighbours.
fn shares(points: &[PointUnknowns]) -> Vec<f64> {
    let last = points.len().saturating_sub(1);
    (0..points.len())
        .map(|i| 0.5 * (points[(i + 1).min(last)].tau - points[i.saturating_sub(1)].tau))
        .collect()
}

/// Values at the places of one program as functions of time, at the places of another; zero where there are none.
fn carried(from: &[Option<Place>], values: &[f64], to: &[Option<Place>]) -> Vec<f64> {
    let mut functions: HashMap<&Series, Vec<(f64, f64)>> = HashMap::new();
    for (place, &v) in from.iter().zip(values) {
        if let Some(p) = place.as_ref().filter(|_| v.is_finite()) {
            functions.entry(&p.series).or_default().push((p.tau, v / p.share));
        }
    }
    functions.values_mut().for_each(|f| f.sort_by(|a, b| a.0.total_cmp(&b.0)));
    let at = |p: &Place| functions.get(&p.series).map(|f| p.share * between(f, p.tau));
    to.iter().map(|p| p.as_ref().and_then(at).unwrap_or(0.0)).collect()
}

/// The line between the neighbours of τ; the nearest value beyond the ends.
fn between(f: &[(f64, f64)], tau: f64) -> f64 {
    let next = f.partition_point(|p| p.0 < tau).min(f.len() - 1);
    let ((a, x), (b, y)) = (f[next.saturating_sub(1)], f[next]);
    match b > a {
        true => x + (y - x) * ((tau - a) / (b - a)).clamp(0.0, 1.0),
        false => y,
    }
}

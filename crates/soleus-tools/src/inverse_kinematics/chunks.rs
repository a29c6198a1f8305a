//! Parallel solution of the frames of a motion.

use super::{Fit, InverseKinematics};
use soleus_math::{Table, Vec3};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Between the starts of chunks every so many-th frame is solved: often enough to follow a motion, and a small part of the
/// work.
const STRIDE: usize = 10;

/// Poses closer than this (rad or m) are the same minimum: a thousand times what a solved frame is uncertain by.
const SAME_POSE: f64 = 1e-4;

/// Distribution of the frames over threads.
#[derive(Clone, Copy)]
pub struct Chunks<'a> {
    /// Number of chunks of frames. Results change in their last digits only.
    pub chunks: usize,
    /// Number of threads. Results do not depend on it.
    pub threads: usize,
    /// Called from any thread after each frame, with the total number of frames.
    pub watch: &'a (dyn Fn(usize, &SolvedFrame) + Sync),
    /// Called before each frame; returns whether to continue.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

/// A solved frame, for monitoring.
#[derive(Clone, Copy, Debug)]
pub struct SolvedFrame<'a> {
    /// Time, s.
    pub time: f64,
    /// Coordinates by mobility, rad or m.
    pub q: &'a [f64],
    /// Names of the markers.
    pub markers: &'a [String],
    /// Distances, m; NaN for markers that are missing or ignored.
    pub distances: &'a [f64],
}

impl Default for Chunks<'_> {
    fn default() -> Self {
        Chunks { chunks: 1, threads: 1, watch: &|_, _| {}, go_on: &|| true }
    }
}

/// One solved frame.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Coordinates by mobility, rad or m.
    pub q: Vec<f64>,
    /// How well it was met.
    pub fit: Fit,
    /// Places of the model's markers, ground, m.
    pub places: Vec<Vec3<f64>>,
    /// Distances of the markers, m; not a number for those not seen or left out.
    pub distances: Vec<f64>,
    /// Markers left out.
    pub left_out: Vec<usize>,
    /// Markers taken for each other.
    pub exchanged: Vec<[usize; 2]>,
}

/// Solves the rows, each chunk from the pose that a coarse pass from chunk to chunk finds. Where a chunk's own last frame
/// leads to another minimum at the start of the next, the next is solved again from there: so the chunks join into what a
/// single pass follows.
pub(super) fn solve_chunks(
    ik: &InverseKinematics,
    markers: &Table,
    rows: Range<usize>,
    chunks: Chunks<'_>,
) -> Vec<Frame> {
    let n = chunks.chunks.clamp(1, rows.len().div_ceil(2 * STRIDE).max(1));
    let bound = |k: usize| rows.start + rows.len() * k / n;
    let watch = |frame: &SolvedFrame| (chunks.watch)(rows.len(), frame);
    let unwatched = |_: &SolvedFrame| {};
    if n == 1 {
        // A solver of thousands of coordinates fills a gigabyte: no copy more than is needed.
        return solve_rows(&mut ik.clone(), markers, rows.clone(), chunks.go_on, &watch);
    }

    // The coarse pass: a solver at the start of every chunk.
    let mut starts = vec![ik.clone()];
    let mut scout = ik.clone();
    let mut places = vec![Vec3::zero(); markers.labels().len()];
    for k in 1..n {
        for row in (bound(k - 1)..bound(k)).step_by(STRIDE).take_while(|_| (chunks.go_on)()) {
            look(markers, row, &mut places);
            scout.solve_frame(markers.times()[row], &places);
        }
        starts.push(scout.clone());
    }

    // Threads take chunks in turn; each result has its own place, so that who computes it does not matter.
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Vec<Frame>>> = (0..n).map(|_| Mutex::new(Vec::new())).collect();
    let work = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= n {
                return;
            }
            let solved =
                solve_rows(&mut starts[k].clone(), markers, bound(k)..bound(k + 1), chunks.go_on, &watch);
            *results[k].lock().unwrap_or_else(PoisonError::into_inner) = solved;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..chunks.threads.clamp(1, n) {
            scope.spawn(work);
        }
        work();
    });

    let mut all: Vec<Frame> = Vec::with_capacity(rows.len());
    for (k, result) in results.into_iter().enumerate() {
        let mut part = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (Some(last), Some(first)) = (all.last(), part.first()) {
            let mut from = starts[k].clone();
            from.set_coordinates(&last.q);
            let joined = solve_rows(&mut from, markers, bound(k)..bound(k) + 1, chunks.go_on, &unwatched);
            let near = |f: &Frame| f.q.iter().zip(&first.q).all(|(a, b)| (a - b).abs() < SAME_POSE);
            if !joined.iter().all(near) {
                from.set_coordinates(&last.q);
                part = solve_rows(&mut from, markers, bound(k)..bound(k + 1), chunks.go_on, &unwatched);
            }
        }
        all.append(&mut part);
    }
    all
}

/// Where the markers are in a row.
fn look(markers: &Table, row: usize, places: &mut [Vec3<f64>]) {
    for (i, p) in places.iter_mut().enumerate() {
        *p = markers.vec3(row, i);
    }
}

/// One frame after the other. Where the fit is suddenly far better than it was, the frames just before, with their bad fits, are
/// solved once more, backwards from there.
fn solve_rows(
    ik: &mut InverseKinematics,
    markers: &Table,
    rows: Range<usize>,
    go_on: &(dyn Fn() -> bool + Sync),
    watch: &(dyn Fn(&SolvedFrame) + Sync),
) -> Vec<Frame> {
    let mut places = vec![Vec3::zero(); markers.labels().len()];
    let mut list = Vec::with_capacity(rows.len());
    let first = rows.start;
    for row in rows.take_while(|_| go_on()) {
        list.push(solve_row(ik, markers, row, &mut places));
        if ik.has_improved() {
            let mut back = ik.clone();
            for row in (first..row).rev() {
                let forward: &mut Frame = &mut list[row - first];
                if !back.is_far_worse(&forward.fit) {
                    break;
                }
                let found = solve_row(&mut back, markers, row, &mut places);
                if back.is_far_worse(&found.fit) {
                    break;
                }
                *forward = found;
            }
        }
        if let Some(Frame { q, distances, .. }) = list.last() {
            let time = markers.times()[row];
            watch(&SolvedFrame { time, q, markers: ik.marker_names(), distances });
        }
    }
    list
}

fn solve_row(ik: &mut InverseKinematics, markers: &Table, row: usize, places: &mut [Vec3<f64>]) -> Frame {
    look(markers, row, places);
    let fit = ik.solve_frame(markers.times()[row], places);
    let seen = |(i, e)| if ik.is_seen(i) { e } else { f64::NAN };
    Frame {
        q: ik.coordinates().to_vec(),
        fit,
        places: ik.marker_places().collect(),
        distances: ik.marker_errors().enumerate().map(seen).collect(),
        left_out: ik.left_out().to_vec(),
        exchanged: ik.exchanged().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, Tasks, solve_trial_in_chunks};
    use super::*;
    use crate::testing::{chain, numbers};
    use soleus_dynamics::System;
    use soleus_math::table::Element;
    use soleus_model::joint::JointKind::{Ball, Free, Pin};

    /// A motion of a chain, markers with noise.
    fn motion() -> (soleus_model::Model, System, Table) {
        let model = chain(vec![(Free, 6), (Pin, 1), (Ball, 3)]);
        let system = System::compile(&model).unwrap();
        let mut ws = system.workspace();
        let mut x = system.default_state.clone();
        let mut columns = vec![Vec::new(); 3 * model.markers.len()];
        let times: Vec<f64> = (0..120).map(|i| 0.01 * f64::from(i)).collect();
        for (row, t) in times.iter().enumerate() {
            for (k, q) in x.q.iter_mut().enumerate() {
                *q = 0.5 * (3.0 * t + k as f64).sin();
            }
            system.compute_kinematics(&x, &mut ws);
            let noise = numbers(row as u64, columns.len());
            for (i, m) in system.markers.iter().enumerate() {
                for (c, p) in (ws.kin.X_GB[m.body] * m.p_BS).to_array().into_iter().enumerate() {
                    columns[3 * i + c].push(p + 1e-3 * noise[3 * i + c]);
                }
            }
        }
        let labels = model.markers.iter().map(|m| m.name.clone()).collect();
        let table = Table::new(Element::Vec(3), labels, times, columns).unwrap();
        (model, system, table)
    }

    #[test]
    fn identity_threads_change_no_bit_and_chunks_no_digit() {
        let (model, system, table) = motion();
        let solve = |chunks, threads| {
            let everything = [f64::NEG_INFINITY, f64::INFINITY];
            let share = Chunks { chunks, threads, ..Chunks::default() };
            solve_trial_in_chunks(
                &model,
                &system,
                &table,
                &Tasks::default(),
                Settings::default(),
                everything,
                share,
            )
            .unwrap()
        };
        let (one, four) = (solve(1, 1), solve(4, 1));
        // Every frame is told of once, whoever solves it.
        let (told, everything) = (AtomicUsize::new(0), [f64::NEG_INFINITY, f64::INFINITY]);
        let watch = |total: usize, _: &SolvedFrame| {
            assert_eq!(total, 120);
            told.fetch_add(1, Ordering::Relaxed);
        };
        let share = Chunks { chunks: 4, threads: 3, watch: &watch, ..Chunks::default() };
        let (tasks, settings) = (Tasks::default(), Settings::default());
        solve_trial_in_chunks(&model, &system, &table, &tasks, settings, everything, share).unwrap();
        assert_eq!(told.into_inner(), 120);
        for threads in [2, 3, 8] {
            let again = solve(4, threads);
            assert_eq!(again.coordinates, four.coordinates, "{threads} threads");
            assert_eq!(again.summary, four.summary, "{threads} threads");
        }
        for (a, b) in
            one.coordinates.columns().iter().flatten().zip(four.coordinates.columns().iter().flatten())
        {
            // Degrees; Newton's last step leaves the square of 1e-7 rad.
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}

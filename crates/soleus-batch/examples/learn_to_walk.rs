//! The planar walker learns to keep walking when it is pushed: `learn_to_walk [ROUNDS]`, with the model and the walk in `models`.
//!
//! The walk of the file is open loop at first: excitations are the activations of the walk a little ahead in time, and the walker
//! falls within two steps. Learned are the gains of a feedback of all deviations of coordinates and speeds from the walk to all
//! muscles, one set for the leg in its half of the cycle and one for the other, by evolution strategies (Salimans et al. 2017): 128
//! copies with gains that differ by antithetic noise walk at once, each is pushed once, and the gains move towards those that
//! walked longest.

use soleus_batch::{Batch, BatchOptions};
use soleus_dynamics::System;
use soleus_math::Random;
use std::error::Error;
use std::time::Instant;

/// Directions of a round; each is tried with both signs.
const DIRECTIONS: usize = 64;
const COPIES: usize = 2 * DIRECTIONS;
/// Length of a step and steps between two decisions, s.
const H: f64 = 0.002;
const HELD: usize = 5;
/// Length of an episode while learning, and of the tests, s.
const EPISODE: f64 = 6.0;
const TEST: f64 = 10.0;
/// Excitations lead activations by this time, s.
const LEAD: f64 = 0.02;
/// Largest push: change of the forward speed of the whole body, m/s.
const PUSH: f64 = 0.25;
/// Standard deviation of the noise on gains, and the first step along the estimated gradient, which falls to zero over the rounds; both in units
/// of excitation per normalized deviation.
const NOISE: f64 = 0.02;
const STEP: f64 = 0.02;
/// Deviations are divided by these: rad or m, and rad/s or m/s.
const SCALES: [f64; 2] = [0.1, 1.0];

/// The walk: for each row of the file, time, coordinates, speeds and activations in the order of the model.
struct Walk {
    time: Vec<f64>,
    rows: Vec<Vec<f64>>,
    /// Index of the forward coordinate, and how far it goes in a cycle, m.
    forward: usize,
    stride: f64,
}

impl Walk {
    fn read(system: &System, model: &soleus_model::Model, file: &str) -> Result<Walk, Box<dyn Error>> {
        let (table, _) = soleus_io::table::read(&std::fs::read(file)?, file);
        let table = table.ok_or("not a table")?;
        let n = system.tree.num_mobilities;
        let mut names = vec![String::new(); 2 * n];
        for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            names[m] = format!("{}/value", c.path);
            names[n + m] = format!("{}/speed", c.path);
        }
        names.extend(system.aux_names.iter().filter(|z| z.ends_with("/activation")).cloned());
        let column = |name: &String| {
            let at = table.labels().iter().position(|l| l == name).ok_or(format!("no column {name}"))?;
            Ok::<&[f64], String>(&table.columns()[at])
        };
        let columns: Vec<&[f64]> = names.iter().map(column).collect::<Result<_, _>>()?;
        let rows: Vec<Vec<f64>> = (0..table.rows()).map(|k| columns.iter().map(|c| c[k]).collect()).collect();
        let forward = names.iter().position(|n| n.ends_with("trunk_x/value")).ok_or("no trunk_x")?;
        let stride = rows[rows.len() - 1][forward] - rows[0][forward];
        Ok(Walk { time: table.times().to_vec(), rows, forward, stride })
    }

    fn period(&self) -> f64 {
        self.time[self.time.len() - 1] - self.time[0]
    }

    /// The walk at a time, any number of cycles on.
    fn at(&self, t: f64, out: &mut [f64]) {
        let cycles = (t / self.period()).floor();
        let within = self.time[0] + t - cycles * self.period();
        let k = self.time.partition_point(|x| *x <= within).clamp(1, self.time.len() - 1);
        let share = (within - self.time[k - 1]) / (self.time[k] - self.time[k - 1]);
        for (i, x) in out.iter_mut().enumerate() {
            *x = self.rows[k - 1][i] + share * (self.rows[k][i] - self.rows[k - 1][i]);
        }
        out[self.forward] += cycles * self.stride;
    }
}

/// What an episode needs of the model.
struct Walker {
    walk: Walk,
    start: Vec<f64>,
    /// Number of coordinates.
    n: usize,
    /// For each coordinate the one of the other side; for each muscle likewise.
    mirror: Vec<usize>,
    other_muscle: Vec<usize>,
    right: Vec<bool>,
    height: usize,
    tilt: usize,
}

impl Walker {
    /// Number of gains: two sets for the muscles of one leg.
    fn gains(&self) -> usize {
        self.right.len() * 2 * self.n
    }

    /// Walks all copies, each with its gains, its push and its time; returns for each how long it walked, s, and how well, from 0 to 1.
    fn walk(
        &self,
        batch: &mut Batch,
        seconds: f64,
        gains: &dyn Fn(usize) -> Vec<f64>,
        pushes: &[(f64, f64)],
    ) -> Vec<[f64; 2]> {
        let copies = batch.copies();
        let (n, muscles) = (self.n, self.right.len());
        for (i, v) in self.start.iter().enumerate() {
            batch.states_mut()[i * copies..(i + 1) * copies].fill(*v);
        }
        let gains: Vec<Vec<f64>> = (0..copies).map(gains).collect();
        let mut reference = vec![0.0; 2 * n + muscles];
        let mut ahead = reference.clone();
        let mut result = vec![[0.0; 2]; copies];
        let mut walking = vec![true; copies];
        let mut off = vec![0.0; 2 * n];
        let decisions = (seconds / (H * HELD as f64)).round() as usize;
        for d in 0..decisions {
            let t = d as f64 * H * HELD as f64;
            self.walk.at(t, &mut reference);
            self.walk.at(t + LEAD, &mut ahead);
            // The right leg of the file leads in the first half of the cycle.
            let first_half = (t / self.walk.period()).fract() < 0.5;
            for k in 0..copies {
                if !walking[k] {
                    continue;
                }
                let (at, by) = pushes[k];
                if (t - at).abs() < 0.5 * H * HELD as f64 {
                    batch.states_mut()[(n + self.walk.forward) * copies + k] += by;
                }
                let x = batch.states();
                for i in 0..2 * n {
                    off[i] = (x[i * copies + k] - reference[i]) / SCALES[i / n];
                }
                let size = off.iter().map(|o| o * o).sum::<f64>() / (2 * n) as f64;
                let fallen = x[self.height * copies + k] < 0.7 || x[self.tilt * copies + k].abs() > 0.8;
                if fallen || !size.is_finite() {
                    walking[k] = false;
                    continue;
                }
                result[k][0] = t + H * HELD as f64;
                result[k][1] += (-size).exp() / decisions as f64;
                for m in 0..muscles {
                    // The muscle as one of the right leg, with deviations mirrored for the left one.
                    let (as_right, mirrored) =
                        if self.right[m] { (m, false) } else { (self.other_muscle[m], true) };
                    let set = usize::from(first_half != mirrored);
                    let list = &gains[k][(self.rank(as_right) * 2 + set) * 2 * n..][..2 * n];
                    let feedback: f64 = (0..2 * n)
                        .map(|i| {
                            let from = if mirrored { (i / n) * n + self.mirror[i % n] } else { i };
                            list[i] * off[from]
                        })
                        .sum();
                    let e = (ahead[2 * n + m] + feedback).clamp(0.0, 1.0);
                    batch.controls_mut()[m * copies + k] = e;
                }
            }
            for _ in 0..HELD {
                batch.step(H);
                for k in 0..copies {
                    walking[k] &= !batch.failed()[k];
                }
            }
        }
        result
    }

    /// The number of a muscle among those of the right leg.
    fn rank(&self, muscle: usize) -> usize {
        self.right[..muscle].iter().filter(|r| **r).count()
    }
}

/// Seconds walked on average, and share of the copies that walk to the end, with pushes of a test that no round has seen.
fn test(walker: &Walker, batch: &mut Batch, gains: &[f64], push: f64) -> (f64, f64) {
    let mut random = Random::new(99);
    let pushes: Vec<(f64, f64)> =
        (0..batch.copies()).map(|_| (0.5 + 2.0 * random.unit(), push * random.signed())).collect();
    let found = walker.walk(batch, TEST, &|_| gains.to_vec(), &pushes);
    let mean = found.iter().map(|f| f[0]).sum::<f64>() / found.len() as f64;
    let whole = found.iter().filter(|f| f[0] > TEST - 1e-9).count() as f64 / found.len() as f64;
    (mean, whole)
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(60), |r| r.parse())?;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let file = format!("{folder}/gait2d.osim");
    let model = soleus_io::osim::read_model(&std::fs::read(&file)?, &file).0.ok_or("not a model")?;
    let system = System::compile(&model)?;
    let walk = Walk::read(&system, &model, &format!("{folder}/gait2d_walk.sto"))?;
    let n = system.tree.num_mobilities;

    // The first pose of the walk, fibers in equilibrium.
    let mut x = system.default_state.clone();
    let first = &walk.rows[0];
    x.q.copy_from_slice(&first[..n]);
    x.u.copy_from_slice(&first[n..2 * n]);
    let activations: Vec<usize> =
        (0..system.num_aux).filter(|&i| system.aux_names[i].ends_with("/activation")).collect();
    activations.iter().zip(&first[2 * n..]).for_each(|(&i, a)| x.z[i] = *a);
    system.solve_equilibrium(&mut x, &first[2 * n..], &mut system.workspace());

    let mut coordinate = vec![String::new(); n];
    for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
        coordinate[m] = c.name.clone();
    }
    let other = |name: &str| match name.strip_suffix("_r") {
        Some(stem) => format!("{stem}_l"),
        None => name.strip_suffix("_l").map_or(name.to_string(), |stem| format!("{stem}_r")),
    };
    let find = |list: &[String], name: &str| list.iter().position(|n| n == name).ok_or(name.to_string());
    let muscles: Vec<String> = activations
        .iter()
        .map(|&i| system.aux_names[i].split('/').nth(2).unwrap_or_default().to_string())
        .collect();
    let walker = Walker {
        start: x.q.iter().chain(&x.u).chain(&x.z).copied().collect(),
        n,
        mirror: coordinate.iter().map(|c| find(&coordinate, &other(c))).collect::<Result<_, _>>()?,
        other_muscle: muscles.iter().map(|m| find(&muscles, &other(m))).collect::<Result<_, _>>()?,
        right: muscles.iter().map(|m| m.ends_with("_r")).collect(),
        height: find(&coordinate, "trunk_y")?,
        tilt: find(&coordinate, "trunk_angle")?,
        walk,
    };

    let mut batch = Batch::new(&model, &system, COPIES, BatchOptions::default())?;
    println!("{}; {} gains, {COPIES} copies, {rounds} rounds", batch.backend(), walker.gains());
    println!(
        "| round | seconds | walked, s, mean of {EPISODE} | test: walked, s, mean of {TEST} | test: still walking |\n|---|---|---|---|---|"
    );
    let begin = Instant::now();
    let mut gains = vec![0.0; walker.gains()];
    // Means of the gradient and of its square (Adam; Kingma and Ba 2015).
    let (mut slope, mut square) = (vec![0.0; gains.len()], vec![0.0; gains.len()]);
    for round in 0..=rounds {
        let mut random = Random::new(1 + round as u64);
        let noise: Vec<Vec<f64>> =
            (0..DIRECTIONS).map(|_| (0..gains.len()).map(|_| random.normal()).collect()).collect();
        // Both signs of a direction are pushed alike.
        let pushes: Vec<(f64, f64)> = (0..DIRECTIONS)
            .map(|_| (0.2 + 1.5 * random.unit(), PUSH * random.signed()))
            .flat_map(|p| [p, p])
            .collect();
        let candidate = |k: usize| {
            let sign = if k.is_multiple_of(2) { NOISE } else { -NOISE };
            gains.iter().zip(&noise[k / 2]).map(|(g, e)| g + sign * e).collect::<Vec<f64>>()
        };
        let found = walker.walk(&mut batch, EPISODE, &candidate, &pushes);
        if round % 10 == 0 {
            let walked = found.iter().map(|f| f[0]).sum::<f64>() / COPIES as f64;
            let learned = begin.elapsed().as_secs_f64();
            let (mean, whole) = test(&walker, &mut batch, &gains, PUSH);
            println!("| {round} | {learned:.0} | {walked:.2} | {mean:.2} | {:.0} % |", whole * 1e2);
        }
        let worth: Vec<f64> = found.iter().map(|f| f[0] / EPISODE + f[1]).collect();
        // Ranks instead of values: one lucky copy does not decide.
        let mut by_worth: Vec<usize> = (0..COPIES).collect();
        by_worth.sort_by(|&a, &b| worth[a].total_cmp(&worth[b]));
        let mut rank = vec![0.0; COPIES];
        by_worth.iter().enumerate().for_each(|(r, &k)| rank[k] = r as f64 / (COPIES - 1) as f64 - 0.5);
        let age = (round + 1) as i32;
        let step = STEP * (1.0 - round as f64 / (rounds + 1) as f64);
        for (i, g) in gains.iter_mut().enumerate() {
            let estimate: f64 =
                (0..DIRECTIONS).map(|d| (rank[2 * d] - rank[2 * d + 1]) * noise[d][i]).sum::<f64>()
                    / DIRECTIONS as f64;
            slope[i] = 0.9 * slope[i] + 0.1 * estimate;
            square[i] = 0.99 * square[i] + 0.01 * estimate * estimate;
            let (mean, size) = (slope[i] / (1.0 - 0.9f64.powi(age)), square[i] / (1.0 - 0.99f64.powi(age)));
            *g += step * mean / (size.sqrt() + 1e-8);
        }
    }
    for push in [0.0, 0.15, 0.25, 0.4] {
        let [before, after] =
            [vec![0.0; gains.len()], gains.clone()].map(|g| test(&walker, &mut batch, &g, push));
        println!(
            "pushes up to {push} m/s: walks {:.1} s before, {:.1} s after learning; {:.0} % and {:.0} % still walk after {TEST} s",
            before.0,
            after.0,
            before.1 * 1e2,
            after.1 * 1e2
        );
    }
    Ok(())
}

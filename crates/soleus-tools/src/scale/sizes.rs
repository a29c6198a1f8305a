//! Body sizes from all markers at once, without manually chosen marker pairs.
//!
//! Pose and sizes for which the markers of the model are closest to the measured ones:
//!
//!   min over s, q₁…q_n   Σᵢ Σₘ wₘ |pₘ(s, qᵢ) − p̂ₘᵢ|² / σ²  +  Σ_g (s̄_g − s̄)² / σ_s²  +  Σ_g Σₖ (s_gk − s̄_g)² / σ_k²
//!
//! with the logarithms s_gk of the factors of each segment g, left and right together, along its axes k, their means
//! s̄_g and s̄, poses qᵢ of the frames, and weights w that decrease with the distance of a marker, because the
//! positions of cluster markers are arbitrary. The poses are found by inverse kinematics; the step in ln s is a
//! Gauss–Newton step with the poses eliminated, which takes into account that a longer thigh raises the pelvis. Since
//!
//!   ∂p/∂s_bk = k kᵀ [(point at which the way to the marker leaves body b) − (joint at which it enters b)]
//!
//! the distance between joint centres is determined by all markers on both sides of it. Motions that the model cannot
//! follow are eliminated with the pose.

use super::raised_arms::RaisedArms;
use super::unfollowed::Unfollowed;
use super::{Average, Error, Factors, build, for_poses};
use crate::inverse_kinematics::{InverseKinematics, MarkerTask, Settings, Tasks};
use soleus_dynamics::System;
use soleus_dynamics::kinematics::Resolve;
use soleus_math::dense::{factorize_cholesky, solve_cholesky};
use soleus_math::elementary;
use soleus_math::{Table, Vec3, vec3};
use soleus_model::id::CoordinateId;
use soleus_model::{Diagnostics, Document, Element, Model, ScaleOptions};

/// How far markers are from where the generic model has them, m: what anatomists differ by when they look for a landmark.
pub(super) const MARKER_SD_M: f64 = 0.015;
/// A marker so far away counts half, m.
const FAR_MARKER_M: f64 = 0.03;
/// Weight of a marker that is not on a landmark, such as one of a cluster on a thigh, which is worn anywhere.
const CLUSTER_WEIGHT: f64 = 0.05;
/// How far segments differ from the size of the whole, as a part of it. Of six pairs of this and the next that were tried, from 0.015 to 0.1, this
/// one gave the smallest marker RMS of inverse kinematics on Rajagopal's walk and about the same on the three other trials in `docs/guide/scale.md`;
/// it is not a measured variance.
const SIZE_SD: f64 = 0.03;
/// How far a segment's width and depth differ from its length, likewise.
const SHAPE_SD: f64 = 0.03;
/// Steps end below this.
const CLOSE: f64 = 1e-5;
/// Steps after which the sizes are taken as they are.
const MOST_STEPS: usize = 100;
/// Markers that move farther, m, show several poses.
const STILL_M: f64 = 0.05;
/// Poses that are looked at of a trial that is not still.
const POSES: usize = 8;

/// Sizes of bodies.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Factors of all bodies.
    pub factors: Factors,
    /// Groups of bodies that share a factor, and whether markers determine it; other bodies are scaled like the whole
    /// body.
    pub segments: Vec<Segment>,
    /// Marker weights by name, between 0 and 1: markers close to their position on the scaled model have the largest
    /// weights.
    pub weights: Vec<(String, f64)>,
    /// Markers displaced by a raised arm (acromion and elbow), by name, with the fraction of their distance that is
    /// attributed to their placement.
    pub displaced: Vec<(String, f64)>,
    /// Those of them on the arm, which is displaced as a whole.
    pub displaced_arms: Vec<(String, f64)>,
    /// RMS distance between measured markers at landmarks and those of the scaled model, m; of all markers if no name is
    /// that of a landmark.
    pub rms: f64,
    /// Whether the last step was below the tolerance.
    pub converged: bool,
}

/// A group of bodies that share a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Names of the bodies.
    pub bodies: Vec<String>,
    /// Factors along x, y, z of the bodies.
    pub factors: [f64; 3],
    /// Number of visible markers on them.
    pub markers: usize,
}

/// Finds the scale factors of all bodies from the markers (m) of a trial in which the subject stands or moves. `usual`
/// is the factor of the whole body if known from the subject's height.
pub fn fit_sizes(
    document: &Document,
    markers: &Table,
    range: [f64; 2],
    usual: Option<f64>,
) -> Result<Sizes, Error> {
    let document = without_forces(document);
    let model = build(&document)?;
    let mut frames = frames(markers, range)?;
    let raised = RaisedArms::new(&model, markers, &frames);
    frames.iter_mut().for_each(|f| raised.lower(f));
    let seen: Vec<usize> = (0..model.markers.len())
        .filter(|&m| {
            let column = markers.index_of(&model.markers[m].name);
            column.is_some_and(|c| frames.iter().any(|f| f[c].norm_sq().is_finite()))
        })
        .collect();
    let groups = segments(&model, &seen)?;
    let count = groups.iter().filter(|g| **g != usize::MAX).max().map_or(0, |g| g + 1);
    let first = elementary::ln(usual.map_or_else(|| first_size(&model, markers, &frames, &seen), Ok)?);
    let mut log_s = vec![first; 3 * count];
    let mut poses: Vec<Vec<f64>> = Vec::new();
    let displaced = raised.displaced();
    let displaced_arms = raised.on_arms();
    let believed = |name: &str| displaced.iter().find(|(n, _)| n == name).map_or(1.0, |(_, part)| *part);
    let own: Vec<f64> = model.markers.iter().map(|m| own_weight(&m.name) * believed(&m.name)).collect();
    let mut weights = own.clone();
    let (mut converged, mut rms) = (false, f64::NAN);
    for step in 0..MOST_STEPS {
        let scaled = scaled_model(&document, &model, &factors_of(&groups, &log_s))?;
        let system = System::compile(&for_poses(&scaled, |_| false))?;
        let tasks = Tasks {
            markers: (seen.iter())
                .map(|&m| MarkerTask { name: scaled.markers[m].name.clone(), weight: weights[m] })
                .collect(),
            ..Tasks::default()
        };
        let mut ik = InverseKinematics::new(&scaled, &system, markers.labels(), &tasks, Settings::default())?;
        let mut normal = Normal::new(3 * count);
        let mut distances = vec![Vec::new(); model.markers.len()];
        for (i, places) in frames.iter().enumerate() {
            if let Some(q) = poses.get(i) {
                ik.set_coordinates(q);
            }
            ik.solve_frame(markers.times()[0], places);
            let q = ik.coordinates().to_vec();
            let frame = Frame { model: &scaled, system: &system, groups: &groups, q: &q };
            frame.add_to(&mut normal, &seen, &weights, places, markers, &mut distances);
            if i < poses.len() { poses[i] = q } else { poses.push(q) }
        }
        let has_landmark = |m: &usize| is_on_landmark(&model.markers[*m].name);
        let any = seen.iter().any(has_landmark);
        let counted = seen.iter().filter(|m| !any || has_landmark(m));
        let squares: Vec<f64> = counted.flat_map(|&m| &distances[m]).map(|d| d * d).collect();
        rms = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
        // The whole has the size of its parts, unless it is known.
        let mean = usual.map_or(log_s.iter().sum::<f64>() / log_s.len().max(1) as f64, elementary::ln);
        let change = normal.solve(&log_s, mean);
        for (s, d) in log_s.iter_mut().zip(&change) {
            *s += d.clamp(-0.2, 0.2);
        }
        // Weights follow the distances once the sizes are about right.
        let mut new = weights.clone();
        for ((w, d), own) in new.iter_mut().zip(&distances).zip(&own).filter(|((_, d), _)| !d.is_empty()) {
            let d = d.iter().sum::<f64>() / d.len() as f64;
            *w = own / (1.0 + (d / FAR_MARKER_M).powi(2));
        }
        let settled = new.iter().zip(&weights).all(|(a, b)| (a - b).abs() < 1e-3);
        weights = new;
        if step > 2 && settled && change.iter().all(|d| d.abs() < CLOSE) {
            converged = true;
            break;
        }
    }
    let list = (0..count).map(|g| {
        let inside = |b: &usize| groups[*b] == g;
        let on = |m: &&usize| inside(&body_of(&model, **m));
        Segment {
            bodies: (1..model.bodies.len()).filter(inside).map(|b| model.bodies[b].name.clone()).collect(),
            factors: std::array::from_fn(|k| elementary::exp(log_s[3 * g + k])),
            markers: seen.iter().filter(on).count(),
        }
    });
    Ok(Sizes {
        factors: factors_of(&groups, &log_s),
        segments: list.collect(),
        weights: seen.iter().map(|&m| (model.markers[m].name.clone(), weights[m])).collect(),
        displaced,
        displaced_arms,
        rms,
        converged,
    })
}

/// Height of a person with the bone lengths of the model, m: thigh and shank are 0.245 and 0.246 of it (Drillis and
/// Contini 1966, in Winter 2009). `None` for a model without a leg.
pub fn height_of(model: &Model) -> Option<f64> {
    let system = System::compile(&for_poses(model, |_| false)).ok()?;
    let feet = crate::plates::find_feet(model, &system);
    let mut ws = system.workspace();
    system.compute_kinematics(&system.default_state, &mut ws);
    let nodes = &system.tree.nodes;
    let node = system.tree.node_of_body[feet.first()?.bodies.iter().copied().min()?];
    // From the ankle up: the longest two bones between joints are shank and thigh.
    let (mut bones, mut i) = (Vec::new(), node);
    while nodes[i].parent != 0 {
        let p = nodes[i].parent;
        bones.push((ws.kin.X_GB[i].p - ws.kin.X_GB[p].p).norm());
        i = p;
    }
    bones.sort_by(|a, b| b.total_cmp(a));
    let legs: f64 = bones.iter().take(2).sum();
    (bones.len() >= 2 && legs > 0.0).then_some(legs / 0.491)
}

/// What the name of a marker says about how well its place is known.
fn own_weight(name: &str) -> f64 {
    if is_on_landmark(name) { 1.0 } else { CLUSTER_WEIGHT }
}

/// Whether the name of a marker is that of an anatomical landmark; markers of clusters are worn anywhere on a segment.
pub fn is_on_landmark(name: &str) -> bool {
    super::landmark(name).is_some_and(|l| !l.name.contains("cluster"))
}

/// What poses do not need.
fn without_forces(document: &Document) -> Document {
    const UNUSED: [&str; 6] =
        ["ForceSet", "ControllerSet", "ProbeSet", "ContactGeometrySet", "components", "ComponentSet"];
    let mut document = document.clone();
    let strip = |e: &mut Element| {
        for tag in UNUSED {
            e.take_child(tag);
        }
    };
    match document.root.tag == "Model" {
        true => strip(&mut document.root),
        false => document.root.child_mut("Model").into_iter().for_each(strip),
    }
    document
}

fn scaled_model(document: &Document, model: &Model, factors: &Factors) -> Result<Model, Error> {
    let mut log = Diagnostics::new(document.file.clone());
    build(&soleus_model::scale_document(document, model, &factors.0, &ScaleOptions::default(), &mut log))
}

fn factors_of(groups: &[usize], log_s: &[f64]) -> Factors {
    let one = |g: &usize| match *g {
        usize::MAX => vec3(1.0, 1.0, 1.0),
        g => vec3(
            elementary::exp(log_s[3 * g]),
            elementary::exp(log_s[3 * g + 1]),
            elementary::exp(log_s[3 * g + 2]),
        ),
    };
    Factors(groups.iter().map(one).collect())
}

fn body_of(model: &Model, marker: usize) -> usize {
    model.frames[model.markers[marker].frame.0].body.0
}

/// Part of the markers of the best frame that a frame has to show: a subject that walks into view, or out of it, shows a few.
const SHOWN_PART: f64 = 0.9;

/// Places of the markers in the frames that are looked at: one, the mean, if the subject stands still.
pub(super) fn frames(markers: &Table, range: [f64; 2]) -> Result<Vec<Vec<Vec3<f64>>>, Error> {
    let times = markers.times();
    let range = match (times.first(), times.last()) {
        (Some(&first), Some(&last)) => [range[0].max(first), range[1].min(last)],
        _ => range,
    };
    let mean = Average::Within.places(markers, range)?;
    let rows = Average::Within.rows(times, range)?;
    let mut largest: Vec<f64> = (0..mean.len())
        .map(|i| {
            let away = rows.clone().map(|r| (markers.vec3(r, i) - mean[i]).norm()).filter(|d| d.is_finite());
            away.fold(0.0, f64::max)
        })
        .collect();
    largest.sort_by(f64::total_cmp);
    // A hand or a lost marker may move; half of them may not.
    if largest.get(largest.len() / 2).is_none_or(|d| *d < STILL_M) {
        return Ok(vec![mean]);
    }
    let shown =
        |r: usize| (0..mean.len()).filter(|&i| markers.vec3(r, i).norm_sq().is_finite()).count() as f64;
    let most = rows.clone().map(shown).fold(0.0, f64::max);
    let rows: Vec<usize> = rows.filter(|&r| shown(r) >= SHOWN_PART * most).collect();
    let last = rows.len() - 1;
    let picked = (0..POSES.min(rows.len())).map(|k| rows[k * last / (POSES - 1).max(1)]);
    Ok(picked.map(|r| (0..mean.len()).map(|i| markers.vec3(r, i)).collect()).collect())
}

/// The size of the whole: the median over pairs of markers on one body or on neighbours of distance seen by distance on the model.
fn first_size(
    model: &Model,
    markers: &Table,
    frames: &[Vec<Vec3<f64>>],
    seen: &[usize],
) -> Result<f64, Error> {
    let (system, ws) = super::default_pose(&for_poses(model, |_| false))?;
    let place = |m: usize| ws.kin.X_GB[system.markers[m].body] * system.markers[m].p_BS;
    let nodes = &system.tree.nodes;
    let mut ratios = Vec::new();
    for (k, &a) in seen.iter().enumerate() {
        for &b in &seen[k + 1..] {
            let (i, j) = (system.markers[a].body, system.markers[b].body);
            if !(i == j || nodes[i].parent == j || nodes[j].parent == i) {
                continue;
            }
            let on_model = (place(a) - place(b)).norm();
            let [ca, cb] = [a, b].map(|m| markers.index_of(&model.markers[m].name));
            let (Some(ca), Some(cb)) = (ca, cb) else { continue };
            let ratio = frames.iter().map(|f| (f[ca] - f[cb]).norm() / on_model);
            // Short distances are mostly error.
            ratios.extend(ratio.filter(|r| r.is_finite() && on_model > 0.1));
        }
    }
    ratios.sort_by(f64::total_cmp);
    Ok(ratios.get(ratios.len() / 2).copied().unwrap_or(1.0))
}

/// The segment of each body (none for ground): a body without markers goes with the nearest one that has some, and left goes with right.
fn segments(model: &Model, seen: &[usize]) -> Result<Vec<usize>, Error> {
    let (system, ws) = super::default_pose(&for_poses(model, |_| false))?;
    let n = model.bodies.len();
    let mut has = vec![false; n];
    seen.iter().for_each(|&m| has[body_of(model, m)] = true);
    // Lengths of bones between bodies: from a joint of the one to the next joint.
    let mut near: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    let node = |b: usize| system.tree.node_of_body[b];
    for b in 1..n {
        let i = node(b);
        let Some(p) = system.tree.nodes[i].body.and(system.tree.nodes[system.tree.nodes[i].parent].body)
        else {
            continue;
        };
        let d = (ws.kin.X_GB[i].p - ws.kin.X_GB[system.tree.nodes[i].parent].p).norm();
        if p.0 > 0 {
            near[b].push((p.0, d));
            near[p.0].push((b, d));
        }
    }
    let mut owner: Vec<usize> = (0..n).collect();
    for b in (1..n).filter(|&b| !has[b]) {
        // Shortest way to a body with markers.
        let mut distance = vec![f64::INFINITY; n];
        distance[b] = 0.0;
        for _ in 0..n {
            for a in 1..n {
                for &(c, d) in &near[a] {
                    distance[c] = distance[c].min(distance[a] + d);
                }
            }
        }
        let nearest = (1..n).filter(|&c| has[c]).min_by(|&x, &y| distance[x].total_cmp(&distance[y]));
        owner[b] = nearest.filter(|&c| distance[c].is_finite()).unwrap_or(0);
    }
    let mirror = |b: usize| {
        let name = other_side(&model.bodies[b].name)?;
        (1..n).find(|&c| model.bodies[c].name == name)
    };
    let mut group = vec![usize::MAX; n];
    let mut count = 0;
    for b in (1..n).filter(|&b| owner[b] == b) {
        let twin = mirror(b).map(|c| owner[c]).filter(|&c| group[c] != usize::MAX);
        group[b] = twin.map_or(count, |c| group[c]);
        count += usize::from(twin.is_none());
    }
    for b in (1..n).filter(|&b| owner[b] != b && owner[b] != 0) {
        group[b] = group[owner[b]];
    }
    Ok(group)
}

/// The name of the body on the other side.
fn other_side(name: &str) -> Option<String> {
    for (a, b) in [("_r", "_l"), ("_R", "_L"), ("_right", "_left"), ("Right", "Left")] {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(stem) = name.strip_suffix(from) {
                return Some(format!("{stem}{to}"));
            }
        }
    }
    for (a, b) in [("r_", "l_"), ("R_", "L_"), ("right_", "left_"), ("Right", "Left")] {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(stem) = name.strip_prefix(from) {
                return Some(format!("{to}{stem}"));
            }
        }
    }
    None
}

/// Normal equations of the sizes, poses eliminated.
struct Normal {
    n: usize,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
}

impl Normal {
    fn new(n: usize) -> Self {
        Normal { n, matrix: vec![0.0; n * n], rhs: vec![0.0; n] }
    }

    /// The step, with sizes near the mean preferred.
    fn solve(mut self, log_s: &[f64], mean: f64) -> Vec<f64> {
        let n = self.n;
        let (size, shape) = (1.0 / (SIZE_SD * SIZE_SD), 1.0 / (SHAPE_SD * SHAPE_SD));
        for g in (0..n).step_by(3) {
            let own = (log_s[g] + log_s[g + 1] + log_s[g + 2]) / 3.0;
            for a in g..g + 3 {
                for b in g..g + 3 {
                    let same = f64::from(u8::from(a == b));
                    self.matrix[a * n + b] += size / 9.0 + shape * (same - 1.0 / 3.0);
                }
                self.rhs[a] += size * (mean - own) / 3.0 + shape * (own - log_s[a]);
            }
        }
        factorize_cholesky(&mut self.matrix, n, 1e-12);
        solve_cholesky(&self.matrix, n, &mut self.rhs);
        self.rhs
    }
}

/// A pose of the scaled model.
struct Frame<'a> {
    model: &'a Model,
    system: &'a System,
    groups: &'a [usize],
    q: &'a [f64],
}

impl Frame<'_> {
    /// Adds what the markers of this pose say about the sizes.
    fn add_to(
        &self,
        normal: &mut Normal,
        seen: &[usize],
        weights: &[f64],
        places: &[Vec3<f64>],
        table: &Table,
        distances: &mut [Vec<f64>],
    ) {
        let (model, system, n) = (self.model, self.system, normal.n);
        let mut ws = system.workspace();
        let mut state = system.default_state.clone();
        state.q.copy_from_slice(self.q);
        let mut at = |q: &[f64]| {
            state.q.copy_from_slice(q);
            system.compute_kinematics(&state, &mut ws);
            let place = |&m: &usize| ws.kin.X_GB[system.markers[m].body] * system.markers[m].p_BS;
            (seen.iter().map(place).collect::<Vec<_>>(), ws.kin.X_GB.clone())
        };
        let (here, poses) = at(self.q);
        let columns: Vec<usize> =
            seen.iter().map(|&m| table.index_of(&model.markers[m].name).unwrap_or(usize::MAX)).collect();
        let target = |k: usize| places.get(columns[k]).copied().filter(|p| p.norm_sq().is_finite());
        // Motions that the model cannot follow are part of the pose of its bodies.
        let unfollowed = Unfollowed::new(model, system, self.q);
        let nodes_seen: Vec<usize> = {
            let mut list: Vec<usize> = seen.iter().map(|&m| system.markers[m].body).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        for &node in &nodes_seen {
            let on: Vec<usize> = (0..seen.len())
                .filter(|&k| system.markers[seen[k]].body == node && target(k).is_some())
                .collect();
            let errors: Vec<Vec3<f64>> =
                on.iter().map(|&k| target(k).map_or(Vec3::zero(), |p| p - here[k])).collect();
            let list: Vec<_> =
                on.iter().zip(&errors).map(|(&k, e)| (weights[seen[k]], here[k], *e)).collect();
            let displaced = unfollowed.displacements(node, &list);
            for ((&k, e), d) in on.iter().zip(&errors).zip(displaced) {
                distances[seen[k]].push((*e - d).norm());
            }
        }

        // By the coordinates that can move, by differences; the step is the square root of rounding, as first order will do.
        let free = (0..model.coordinates.len()).filter(|&c| !model.is_constrained(CoordinateId(c)));
        let free = free.map(|c| system.tree.mobility_of_coordinate[c]).filter(|&m| m != usize::MAX);
        let mut by_q: Vec<Vec<Vec3<f64>>> = Vec::new();
        let mut q = self.q.to_vec();
        const H: f64 = 1e-6;
        for mobility in free {
            q[mobility] += H;
            let moved = at(&q).0;
            q[mobility] = self.q[mobility];
            let column: Vec<Vec3<f64>> =
                moved.iter().zip(&here).map(|(a, b)| (*a - *b) * (1.0 / H)).collect();
            // A coordinate that moves no marker tells nothing.
            if column.iter().any(|d| d.norm() > 1e-6) {
                by_q.push(column);
            }
        }

        // Anatomy holds what markers do not: a rad or a meter.
        let mut prior = vec![1.0; by_q.len()];
        for &node in &nodes_seen {
            for n in 0..unfollowed.count(node) {
                let on = |k: usize| system.markers[seen[k]].body == node;
                let moved = |k: usize| if on(k) { unfollowed.moves(node, n, here[k]) } else { Vec3::zero() };
                by_q.push((0..seen.len()).map(moved).collect());
                prior.push(unfollowed.prior(node, n));
            }
        }

        // By the sizes: along the way from each marker to the root.
        let nodes = &system.tree.nodes;
        let mut by_s = vec![vec![Vec3::zero(); seen.len()]; n];
        for (k, &m) in seen.iter().enumerate() {
            let (mut i, mut out) = (system.markers[m].body, here[k]);
            while i != 0 {
                let Some(joint) = nodes[i].joint_id else { break };
                let j = &model.joints[joint.0];
                let (inner, outer) =
                    if nodes[i].reversed { (j.parent, j.child) } else { (j.child, j.parent) };
                let enters = poses[i] * system.tree.frame(inner).X_BF.p;
                if let Some(b) = nodes[i].body.map(|b| self.groups[b.0]).filter(|g| *g != usize::MAX) {
                    for axis in 0..3 {
                        let e = poses[i].R.axis(axis);
                        let column = &mut by_s[3 * b + axis][k];
                        *column += e * e.dot(out - enters);
                    }
                }
                let parent = nodes[i].parent;
                out = poses[parent] * system.tree.frame(outer).X_BF.p;
                i = parent;
            }
        }

        // Normal equations of both, then without the pose.
        let nq = by_q.len();
        let weight = |k: usize| weights[seen[k]] / (MARKER_SD_M * MARKER_SD_M);
        let product = |a: &[Vec3<f64>], b: &[Vec3<f64>]| -> f64 {
            (0..seen.len()).filter(|&k| target(k).is_some()).map(|k| weight(k) * a[k].dot(b[k])).sum()
        };
        let error: Vec<Vec3<f64>> =
            (0..seen.len()).map(|k| target(k).map_or(Vec3::zero(), |p| p - here[k])).collect();
        let mut qq = vec![0.0; nq * nq];
        for a in 0..nq {
            for b in 0..nq {
                qq[a * nq + b] = product(&by_q[a], &by_q[b]);
            }
            qq[a * nq + a] += prior[a];
        }
        factorize_cholesky(&mut qq, nq, 1e-12);
        let qr: Vec<f64> = by_q.iter().map(|c| product(c, &error)).collect();
        let mut solved = Vec::new();
        for c in &by_s {
            let mut x: Vec<f64> = by_q.iter().map(|d| product(d, c)).collect();
            solve_cholesky(&qq, nq, &mut x);
            solved.push(x);
        }
        for a in 0..n {
            let qa: Vec<f64> = by_q.iter().map(|d| product(d, &by_s[a])).collect();
            for b in 0..n {
                let through: f64 = qa.iter().zip(&solved[b]).map(|(x, y)| x * y).sum();
                normal.matrix[a * n + b] += product(&by_s[a], &by_s[b]) - through;
            }
            let through: f64 = solved[a].iter().zip(&qr).map(|(x, y)| x * y).sum();
            normal.rhs[a] += product(&by_s[a], &error) - through;
        }
    }
}

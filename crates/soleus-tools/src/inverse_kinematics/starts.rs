//! Initial guesses from the positions of the markers, and removal of full rotations from angles.
//!
//! From an initial guess that faces away from the markers, Newton's method may converge to a minimum with twisted
//! limbs. The first frame is therefore also solved from the best fit of the model as one rigid body, for any direction
//! the markers face.

use super::markers::Marker;
use super::{Fit, InverseKinematics};
use soleus_dynamics::System;
use soleus_dynamics::constraint::CompiledConstraint;
use soleus_dynamics::multibody::{TreeKinematics, compute_kinematics};
use soleus_math::{Rotation, Vec3};
use soleus_model::Model;
use soleus_model::joint::MotionType;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Costs that differ by less, relatively, are the same: what is left to rounding where steps end below 1e-7.
const SAME_COST: f64 = 1e-9;

/// A part by which the cost of another minimum has to be lower for a motion to leave its own.
const CLEARLY: f64 = 0.05;

/// Costs (m²) that differ by less are the same: markers met to 1e-8 m.
const NO_COST: f64 = 1e-16;

/// Poses closer than this (rad or m) are the same minimum: a thousand times what a solved frame is uncertain by.
const SAME_POSE: f64 = 1e-4;

/// What the distance of an angle from its default, or from the pose before, counts beside that from its range.
const BY_DEFAULT: f64 = 1e-3;

/// Of two poses that fit equally well the one is preferred whose joints are nearer to their ranges, or by half a radian to their
/// defaults or to the pose before.
const UNREST: f64 = 0.5 * BY_DEFAULT;

/// Steps of a rigid fit at most: it is a start, not a result.
const RIGID_ITERATIONS: usize = 40;

/// How far a rotation of the root is moved for another start of the rigid fit, rad: far from multiples of a quarter turn, where
/// the cost may be flat.
const ANOTHER: f64 = 2.0;

/// What is needed to start afresh.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    /// Mobilities that carry the whole model: no body nearer to ground has a marker.
    root: Vec<bool>,
    has_root: bool,
    /// Whether it moves the model freely: six mobilities of one joint, or of joints after each other, that nothing holds.
    pub is_free: bool,
    /// Nodes that they move, and that have markers.
    is_first: Vec<bool>,
    /// Mobilities that are angles.
    pub rotational: Vec<bool>,
    /// Mobilities that a whole turn leaves as they were.
    periodic: Vec<bool>,
    /// Joints with three such: their mobilities.
    triples: Vec<[usize; 3]>,
    /// Range of each coordinate, clamped or not; infinite where there is none.
    ranges: Vec<[f64; 2]>,
    default: Vec<f64>,
    up: Vec3<f64>,
    /// How far the followed markers spread on the model in its default pose, m: root of the sum of their variances along x, y, z.
    pub size: f64,
    /// Coordinates that the joints have in the starts.
    pub base: Vec<f64>,
    best: Vec<f64>,
    rigid: Vec<f64>,
    spare: Vec<f64>,
    seen_at: Vec<Vec3<f64>>,
    pub weights: Vec<f64>,
}

/// What angles should be near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Near {
    /// Their ranges, and within them the default pose.
    Range,
    /// The pose of the frame before.
    Before,
}

impl Starts {
    pub fn new(model: &Model, system: &System, markers: &[Marker]) -> Self {
        let tree = &system.tree;
        let n = tree.num_mobilities;
        let default = system.default_state.q.clone();

        // A node is of the root if no marker is between it and ground.
        let mut has_marker = vec![false; tree.nodes.len()];
        for m in markers.iter().filter(|m| m.weight > 0.0) {
            has_marker[m.body] = true;
        }
        let mut below = vec![false; tree.nodes.len()];
        let mut root = vec![false; n];
        for (i, node) in tree.nodes.iter().enumerate().skip(1) {
            let p = node.parent;
            below[i] = p != 0 && (below[p] || has_marker[p]);
            root[node.u0..node.u0 + node.nu].fill(!below[i]);
        }

        let (mut rotational, mut ranges) = (vec![false; n], vec![[f64::NEG_INFINITY, f64::INFINITY]; n]);
        for (c, &m) in model.coordinates.iter().zip(&tree.mobility_of_coordinate) {
            if m == usize::MAX {
                continue;
            }
            rotational[m] = c.motion_type == MotionType::Rotational;
            if c.range[0] < c.range[1] {
                ranges[m] = c.range;
            }
        }
        let periodic = periodic(system, &rotational);
        let mut triples = Vec::new();
        for node in &tree.nodes {
            let mut turning = (node.u0..node.u0 + node.nu).filter(|&m| periodic[m]);
            if let (Some(a), Some(b), Some(c), None) =
                (turning.next(), turning.next(), turning.next(), turning.next())
            {
                triples.push([a, b, c]);
            }
        }

        let mut k = TreeKinematics::new(tree);
        compute_kinematics(tree, &default, &vec![0.0; n], &mut k);
        let places = || markers.iter().filter(|m| m.weight > 0.0).map(|m| k.X_GB[m.body] * m.p_BS);
        let count = places().count().max(1) as f64;
        let mean = places().fold(Vec3::zero(), |a, p| a + p) * (1.0 / count);
        let size = (places().map(|p| (p - mean).norm_sq()).sum::<f64>() / count).sqrt();
        let g = model.gravity.norm();
        let held = |m: usize| {
            let fixes = |c: &CompiledConstraint| matches!(c, CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } if *mobility == m);
            system.constraints.list.iter().any(fixes)
        };
        // Mobilities between ground and the first body with a marker.
        let mut before = vec![0; tree.nodes.len()];
        for (i, node) in tree.nodes.iter().enumerate().skip(1) {
            before[i] = before[node.parent] + (node.u0..node.u0 + node.nu).filter(|&m| !held(m)).count();
        }
        let mut first = (1..tree.nodes.len()).filter(|&i| has_marker[i] && !below[i]);
        let is_free = !has_marker[0] && first.clone().next().is_some() && first.all(|i| before[i] >= 6);
        Starts {
            is_free,
            has_root: root.iter().any(|r| *r),
            is_first: below.iter().map(|b| !b).collect(),
            root,
            rotational,
            periodic,
            triples,
            ranges,
            up: if g > 0.0 { model.gravity * (-1.0 / g) } else { Vec3::unit(1) },
            size,
            base: default.clone(),
            best: default.clone(),
            rigid: default.clone(),
            spare: default.clone(),
            default,
            seen_at: vec![Vec3::zero(); markers.len()],
            weights: vec![0.0; markers.len()],
        }
    }

    /// Mobilities of a root that moves the model freely.
    pub fn free_root(&self) -> Vec<usize> {
        (0..self.root.len()).filter(|&m| self.is_free && self.root[m]).collect()
    }

    /// By how much x leaves the range of mobility m.
    fn beyond(&self, m: usize, x: f64) -> f64 {
        let [lo, hi] = self.ranges[m];
        (lo - x).max(x - hi).max(0.0)
    }

    /// How far the joints leave their ranges together, rad; the root may be anywhere.
    fn excess(&self, q: &[f64]) -> f64 {
        let angles = (0..q.len()).filter(|&m| self.rotational[m] && !self.root[m]);
        angles.map(|m| self.beyond(m, q[m]).min(PI)).sum()
    }
}

/// Angles that a whole turn leaves as they were, as the kinematics of the model say. Those that other coordinates follow, or that
/// follow others, do not count.
fn periodic(system: &System, rotational: &[bool]) -> Vec<bool> {
    let tree = &system.tree;
    let n = tree.num_mobilities;
    let mut periodic = rotational.to_vec();
    for c in &system.constraints.list {
        match c {
            CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } => {
                periodic[*mobility] = false;
            }
            CompiledConstraint::Coupler { independent, dependent, .. } => {
                periodic[*dependent] = false;
                independent.iter().for_each(|&i| periodic[i] = false);
            }
            _ => {}
        }
    }
    let zeros = vec![0.0; n];
    let (mut here, mut turned) = (TreeKinematics::new(tree), TreeKinematics::new(tree));
    for pose in 0..2 {
        // The default pose, and one where no angle is special.
        let mut q = system.default_state.q.clone();
        for (i, q) in q.iter_mut().enumerate() {
            *q += f64::from(pose) * 0.1 * (1 + i % 5) as f64;
        }
        compute_kinematics(tree, &q, &zeros, &mut here);
        for m in (0..n).filter(|&m| rotational[m]) {
            let x = q[m];
            q[m] += TAU;
            compute_kinematics(tree, &q, &zeros, &mut turned);
            q[m] = x;
            // Rounding of 2π times the lengths of limbs.
            let same = here.X_GB.iter().zip(&turned.X_GB).all(|(a, b)| {
                (0..3).all(|i| (a.R.axis(i) - b.R.axis(i)).norm() < 1e-12) && (a.p - b.p).norm() < 1e-12
            });
            periodic[m] &= same;
        }
    }
    periodic
}

impl InverseKinematics<'_> {
    /// How bad a pose is: its cost, more if joints leave their ranges.
    fn score(&self, fit: &Fit) -> f64 {
        fit.cost * (1.0 + self.starts.excess(&self.q)).powi(2)
    }

    /// Looks for a better pose than the current one, whose fit is `first`, from other starts; their joints are those of
    /// `starts.base`. Unless `thorough`, it is content if two starts agree. The current pose stays where none is better.
    pub(super) fn try_other_starts(&mut self, first: Fit, near: Near, thorough: bool) -> Fit {
        let mut best = first;
        self.settle(near);
        let mut score = self.score(&best);
        self.starts.best.copy_from_slice(&self.q);
        if !self.starts.has_root {
            return best;
        }
        let mut iterations = first.iterations;
        // A motion goes on in its minimum as long as no other is clearly lower.
        let better_by = if near == Near::Before { CLEARLY } else { SAME_COST };
        // Solves from the current pose, keeps what is better, and tells whether it is the same as the best so far.
        let mut consider = |ik: &mut Self| {
            ik.at_bound.fill(false);
            let fit = ik.solve_from_here();
            ik.settle(near);
            iterations += fit.iterations;
            let new = ik.score(&fit);
            let same =
                new <= score * (1.0 + SAME_COST) + NO_COST && score <= new * (1.0 + SAME_COST) + NO_COST;
            let far = ik.q.iter().zip(&ik.starts.best).any(|(a, b)| (a - b).abs() > SAME_POSE);
            if new < score * (1.0 - better_by) - NO_COST
                || (same && ik.unrest(&ik.q, near) < ik.unrest(&ik.starts.best, near) - UNREST)
            {
                (best, score) = (fit, new);
                ik.starts.best.copy_from_slice(&ik.q);
            }
            same && !far
        };

        // All markers, and those on the first bodies alone, whose joints cannot mislead.
        self.fit_rigidly();
        self.starts.rigid.copy_from_slice(&self.q);
        let mut agree = consider(self);
        if self.restrict_to_first_bodies() {
            self.fit_rigidly();
            self.restore_weights();
            self.starts.spare.copy_from_slice(&self.q);
            agree &= consider(self);
            // The joints before the root: what they find does not depend on which way the root faces.
            self.q.copy_from_slice(&self.starts.spare);
            self.descend_joints();
            agree &= consider(self);
        }
        if thorough || !agree {
            // The rigid fit once more, from starts away from where its angles may be stuck, then turned about the vertical.
            self.fit_rigidly_anew();
            for _ in 0..4 {
                self.starts.rigid.copy_from_slice(&self.q);
                consider(self);
                self.q.copy_from_slice(&self.starts.rigid);
                self.turn_by_quarter();
            }
        }
        // An angle that ended on a bound may have a lower minimum near the other one, as a forearm with few markers has: which of the two
        // the starts above find is chance. The rest follows first, as it would lead back at once.
        for m in (0..self.q.len()).filter(|_| near == Near::Range) {
            let ([lo, hi], x) = (self.bounds[m], self.starts.best[m]);
            if self.starts.root[m] || !(hi - lo).is_finite() || lo >= hi || (lo < x && x < hi) {
                continue;
            }
            self.q.copy_from_slice(&self.starts.best);
            self.q[m] = if x <= lo { hi } else { lo };
            self.descend_partly(|i, _| i != m);
            consider(self);
        }

        self.q.copy_from_slice(&self.starts.best);
        let cost = self.compute_cost();
        for i in 0..self.q.len() {
            self.at_bound[i] = self.q[i] <= self.bounds[i][0] || self.q[i] >= self.bounds[i][1];
        }
        self.report(cost, iterations, best.last_step, best.converged)
    }

    /// Moves the root alone until the markers are met best, from the pose `starts.base`.
    fn fit_rigidly(&mut self) {
        self.q.copy_from_slice(&self.starts.base);
        self.descend_root();
    }

    /// The same from `starts.rigid`, and from starts where one angle of the root is another; leaves the best.
    fn fit_rigidly_anew(&mut self) {
        self.q.copy_from_slice(&self.starts.rigid);
        let mut best = self.descend_root().cost;
        self.starts.spare.copy_from_slice(&self.q);
        for m in 0..self.q.len() {
            if !(self.starts.root[m] && self.starts.rotational[m]) {
                continue;
            }
            self.q.copy_from_slice(&self.starts.rigid);
            self.q[m] = (self.q[m] + ANOTHER).clamp(self.bounds[m][0], self.bounds[m][1]);
            let cost = self.descend_root().cost;
            if cost < best * (1.0 - SAME_COST) {
                best = cost;
                self.starts.spare.copy_from_slice(&self.q);
            }
        }
        self.q.copy_from_slice(&self.starts.spare);
    }

    /// Goes down with the root alone.
    fn descend_root(&mut self) -> Fit {
        self.descend_partly(|_, of_root| of_root)
    }

    /// Goes down with all but the root.
    fn descend_joints(&mut self) -> Fit {
        self.descend_partly(|_, of_root| !of_root)
    }

    /// Goes down with those mobilities that move; whether one is of the root is told.
    fn descend_partly(&mut self, moves: impl Fn(usize, bool) -> bool) -> Fit {
        for (i, (frozen, root)) in self.scratch.frozen.iter_mut().zip(&self.starts.root).enumerate() {
            *frozen = !moves(i, *root);
        }
        let limit = self.settings.max_iterations;
        self.settings.max_iterations = limit.min(RIGID_ITERATIONS);
        let fit = self.descend();
        self.settings.max_iterations = limit;
        self.scratch.frozen.fill(false);
        fit
    }

    /// Moves the root alone as if the whole model turned by a quarter about the vertical through its markers, as far as it can.
    fn turn_by_quarter(&mut self) {
        self.compute_cost();
        let (mut sum, mut count) = (Vec3::zero(), 0.0);
        for (i, m) in self.markers.iter().enumerate() {
            if self.scratch.seen_at[i].norm_sq().is_finite() {
                sum += self.ws.kin.X_GB[m.body] * m.p_BS;
                count += 1.0;
            }
        }
        let middle = sum * (1.0 / f64::max(count, 1.0));
        let turn = Rotation::about(self.starts.up, FRAC_PI_2);
        // The model's own markers, turned, are what it follows.
        self.starts.seen_at.copy_from_slice(&self.scratch.seen_at);
        for (at, m) in self.scratch.seen_at.iter_mut().zip(&self.markers) {
            if at.norm_sq().is_finite() {
                *at = middle + turn * (self.ws.kin.X_GB[m.body] * m.p_BS - middle);
            }
        }
        self.descend_root();
        self.scratch.seen_at.copy_from_slice(&self.starts.seen_at);
    }

    /// Gives weight to the markers on the first bodies alone; false, and nothing done, if they are all, or too few.
    fn restrict_to_first_bodies(&mut self) -> bool {
        let starts = &mut self.starts;
        let counts = |m: &Marker, p: &Vec3<f64>| m.weight > 0.0 && p.norm_sq().is_finite();
        let seen = self.markers.iter().zip(&self.scratch.seen_at).filter(|(m, p)| counts(m, p));
        let (mut first, mut rest) = (0, 0);
        for (m, _) in seen {
            *(if starts.is_first[m.body] { &mut first } else { &mut rest }) += 1;
        }
        if first < 3 || rest == 0 {
            return false;
        }
        for (m, w) in self.markers.iter_mut().zip(&mut starts.weights) {
            *w = m.weight;
            if !starts.is_first[m.body] {
                m.weight = 0.0;
            }
        }
        true
    }

    pub(super) fn restore_weights(&mut self) {
        for (m, w) in self.markers.iter_mut().zip(&self.starts.weights) {
            m.weight = *w;
        }
    }

    /// Takes whole turns from angles, and of the two ways in which three angles of a joint may give one orientation the
    /// better: so that they come near to what they should be near. The pose in space stays, as its cost shows.
    pub(super) fn settle(&mut self, near: Near) {
        let mut cost = None;
        for m in 0..self.q.len() {
            if !self.starts.periodic[m] {
                continue;
            }
            let x = self.turned(m, self.q[m], near);
            if x != self.q[m] {
                self.try_angles(&[m], &[x], &mut cost);
            }
        }
        for i in 0..self.starts.triples.len() {
            let triple = self.starts.triples[i];
            let now: f64 = triple.iter().map(|&m| self.distance(m, self.q[m], near)).sum();
            for middle in 0..3 {
                // R₁(a) R₂(b) R₃(c) = R₁(a + π) R₂(π − b) R₃(c + π) for axes at right angles.
                let other = |k: usize| {
                    let x = self.q[triple[k]];
                    self.turned(triple[k], if k == middle { PI - x } else { x + PI }, near)
                };
                let other = [other(0), other(1), other(2)];
                let then: f64 = triple.iter().zip(other).map(|(&m, x)| self.distance(m, x, near)).sum();
                if then < now - UNREST && self.try_angles(&triple, &other, &mut cost) {
                    break;
                }
            }
        }
        if cost.is_some() {
            self.compute_cost();
        }
    }

    /// Sets angles unless that changes the cost, which is computed if it is not known; whether it did.
    fn try_angles(&mut self, mobilities: &[usize], x: &[f64], cost: &mut Option<f64>) -> bool {
        let before = *cost.get_or_insert_with(|| self.compute_cost());
        let mut old = [0.0; 3];
        for (k, (&m, x)) in mobilities.iter().zip(x).enumerate() {
            old[k] = self.q[m];
            self.q[m] = *x;
        }
        let inside = mobilities.iter().all(|&m| (self.bounds[m][0]..=self.bounds[m][1]).contains(&self.q[m]));
        let after = self.compute_cost();
        // A thousand times rounding; a limb in another place changes far more.
        if inside && (after - before).abs() <= 1e-12 * before + NO_COST {
            return true;
        }
        for (&m, x) in mobilities.iter().zip(old) {
            self.q[m] = x;
        }
        false
    }

    /// The angle x of mobility m with the number of whole turns that brings it where it should be.
    fn turned(&self, m: usize, x: f64, near: Near) -> f64 {
        if near == Near::Before {
            return x - TAU * ((x - self.watch.before[m]) / TAU).round();
        }
        let default = self.starts.default[m];
        if self.starts.beyond(m, x) == 0.0 && (x - default).abs() < TAU {
            return x;
        }
        let nearest = x - TAU * ((x - default) / TAU).round();
        let list = [nearest, nearest - TAU, nearest + TAU, x];
        let better = |a: &f64, b: &f64| self.distance(m, *a, near).total_cmp(&self.distance(m, *b, near));
        list.into_iter().min_by(better).unwrap_or(x)
    }

    /// How far the angles of the joints are from where they should be together, rad.
    fn unrest(&self, q: &[f64], near: Near) -> f64 {
        let angles = (0..q.len()).filter(|&m| self.starts.rotational[m] && !self.starts.root[m]);
        angles.map(|m| self.distance(m, q[m], near)).sum()
    }

    /// How far an angle x of mobility m is from where it should be, rad.
    fn distance(&self, m: usize, x: f64, near: Near) -> f64 {
        match near {
            Near::Before => BY_DEFAULT * (x - self.watch.before[m]).abs(),
            // The default decides where the range does not.
            Near::Range => self.starts.beyond(m, x) + BY_DEFAULT * (x - self.starts.default[m]).abs(),
        }
    }
}

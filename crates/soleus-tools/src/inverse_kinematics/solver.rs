//! Solves one frame at a time.

use super::eliminate::Elimination;
use super::markers::{Marker, MarkerFit};
use super::orientations::{OrientationFit, Sensor, is_seen};
use super::starts::Starts;
use super::watch::Watch;
use super::{CoordinateTask, Error, Fit, Settings, Target, Tasks};
use soleus_dynamics::Resolve;
use soleus_dynamics::constraint::CompiledConstraint;
use soleus_dynamics::joint::angles_rate;
use soleus_dynamics::multibody::compute_kinematics;
use soleus_dynamics::{System, SystemRef, Workspace};
use soleus_math::dense::solve_positive_definite;
use soleus_math::{Function, Rotation, Transform, Vec3, vec3};
use soleus_model::Model;
use soleus_model::id::FrameId;

/// Constraints are met this closely (rad or m), four digits above rounding.
const CONSTRAINT_TOLERANCE: f64 = 1e-12;

/// A dependent coordinate of a coupler, or one marked free to satisfy constraints, is preferred this much as the one that
/// gives way.
const GIVES_WAY: f64 = 1e3;

/// Part of the largest curvature that every unknown has at least. Coordinates that no marker tells anything about then stay
/// where they are, and well-determined ones do not feel it.
const RIDGE: f64 = 1e-11;

/// How far inside, in parts of its range, a coordinate is put that was found on its bound.
const INSIDE: f64 = 0.25;

/// Costs that differ by less, relatively, belong to one minimum: of two such the nearer is kept.
const SAME_COST: f64 = 1e-9;

/// Inverse kinematics frame by frame; each frame starts from the pose of the previous one.
///
/// ```no_run
/// # use soleus_tools::inverse_kinematics::*;
/// # fn stream(model: &soleus_model::Model, system: &soleus_dynamics::System, names: &[String],
/// #     camera: impl Iterator<Item = (f64, Vec<soleus_math::Vec3<f64>>)>) -> Result<(), Error> {
/// let mut ik = InverseKinematics::new(model, system, names, &Tasks::default(), Settings::default())?;
/// for (time, places) in camera {
///     let fit = ik.solve_frame(time, &places);
///     let pose: &[f64] = ik.coordinates(); // by mobility of the system's tree
/// #   let _ = (fit, pose);
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct InverseKinematics<'s> {
    pub(super) system: SystemRef<'s>,
    pub(super) settings: Settings,
    pub(super) markers: Vec<Marker>,
    names: Vec<String>,
    /// Where each marker stands in the data.
    columns: Vec<usize>,
    sensors: Vec<Sensor>,
    sensor_names: Vec<String>,
    /// Where each sensor stands in the data.
    sensor_columns: Vec<usize>,
    goals: Vec<Goal>,
    /// Bounds of clamped coordinates by mobility; infinite for the rest.
    pub(super) bounds: Vec<[f64; 2]>,
    /// Whether constraints tie coordinates only to each other, so that they can be met without a pose.
    simple: bool,
    pub(super) q: Vec<f64>,
    /// Which coordinates were on their bounds after the last frame.
    pub(super) at_bound: Vec<bool>,
    best: Vec<f64>,
    time: f64,
    pub(super) ws: Workspace<f64>,
    pub(super) fit: MarkerFit,
    turn: OrientationFit,
    elimination: Elimination,
    pub(super) scratch: Scratch,
    pub(super) starts: Starts,
    pub(super) watch: Watch,
}

/// A coordinate to hold near a value.
#[derive(Clone, Debug)]
struct Goal {
    mobility: usize,
    weight: f64,
    target: Function,
}

#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// Where the followed markers were seen.
    pub seen_at: Vec<Vec3<f64>>,
    turned_to: Vec<Rotation<f64>>,
    zeros: Vec<f64>,
    /// Hessian and gradient in the independent unknowns.
    A: Vec<f64>,
    g: Vec<f64>,
    /// Packed Cholesky factor of the free part, its unknowns and right-hand side.
    L: Vec<f64>,
    free: Vec<usize>,
    rhs: Vec<f64>,
    delta: Vec<f64>,
    start: Vec<f64>,
    work: Vec<f64>,
    held: Vec<bool>,
    /// Mobilities that do not move, whatever the markers say.
    pub frozen: Vec<bool>,
}

impl<'s> InverseKinematics<'s> {
    /// Prepares to track the markers that occur in the tasks, the model and the data (`labels`, in the order of the
    /// frames); starts from the model's default pose.
    pub fn new(
        model: &Model,
        system: impl Into<SystemRef<'s>>,
        labels: &[String],
        tasks: &Tasks,
        settings: Settings,
    ) -> Result<Self, Error> {
        let system = system.into();
        let followed = followed(model, &system, labels, tasks)?;
        InverseKinematics::follow(model, system, followed, Default::default(), tasks, settings)
    }

    /// Prepares to track orientations of the frames of the model that are named in `labels`, in the order of the data.
    /// Orientations do not determine positions, so coordinates that translate the whole model should be locked.
    pub fn with_sensors(
        model: &Model,
        system: impl Into<SystemRef<'s>>,
        labels: &[String],
        tasks: &Tasks,
        settings: Settings,
    ) -> Result<Self, Error> {
        let system = system.into();
        let sensors = sensors(model, &system, labels, tasks)?;
        InverseKinematics::follow(model, system, Default::default(), sensors, tasks, settings)
    }

    fn follow(
        model: &Model,
        shared: SystemRef<'s>,
        (markers, names, columns): Followed,
        (sensors, sensor_names, sensor_columns): FollowedSensors,
        tasks: &Tasks,
        settings: Settings,
    ) -> Result<Self, Error> {
        let system = &*shared;
        let tree = &system.tree;
        let n = tree.num_mobilities;

        // Locked coordinates are constraints already; a task adds nothing to them.
        let mut goals = Vec::new();
        for CoordinateTask { name, weight, target } in &tasks.coordinates {
            check_weight(name, *weight)?;
            let id = model.coordinate(name).ok_or_else(|| Error::NoSuchCoordinate { name: name.clone() })?;
            let c = &model.coordinates[id.0];
            if *weight == 0.0 || c.locked {
                continue;
            }
            let target = match target {
                Target::Default => Function::Constant(c.default_value),
                Target::Value(x) => Function::Constant(*x),
                Target::Of(f) => f.as_ref().clone(),
            };
            goals.push(Goal { mobility: tree.mobility_of_coordinate[id.0], weight: *weight, target });
        }

        let mut bounds = vec![[f64::NEG_INFINITY, f64::INFINITY]; n];
        for (c, &m) in model.coordinates.iter().zip(&tree.mobility_of_coordinate) {
            // Angles of a ball are not speeds, so that a bound on one is not a bound on an unknown; they stay free.
            if c.clamped
                && !c.locked
                && m != usize::MAX
                && tree.angular[m].is_none()
                && c.range[0] <= c.range[1]
            {
                bounds[m] = c.range;
            }
        }

        let mut elimination = Elimination::new(system.constraints.num_position(), n);
        for (c, &m) in model.coordinates.iter().zip(&tree.mobility_of_coordinate) {
            if c.is_free_to_satisfy_constraints && m != usize::MAX {
                elimination.preference[m] = GIVES_WAY;
            }
        }
        let mut simple = true;
        let mut taken = vec![false; n];
        for c in &system.constraints.list {
            let dependent = match c {
                CompiledConstraint::Locked { mobility, .. }
                | CompiledConstraint::Prescribed { mobility, .. } => *mobility,
                CompiledConstraint::Coupler { dependent, .. } => *dependent,
                _ => {
                    simple = false;
                    continue;
                }
            };
            elimination.preference[dependent] = GIVES_WAY;
            // Two equations for one coordinate have to be solved for another.
            simple &= !taken[dependent];
            taken[dependent] = true;
        }

        let count = markers.len();
        let mut solver = InverseKinematics {
            system: shared.clone(),
            settings,
            names,
            columns,
            goals,
            bounds,
            simple,
            q: system.default_state.q.clone(),
            at_bound: vec![false; n],
            best: vec![0.0; n],
            time: 0.0,
            ws: system.workspace(),
            fit: MarkerFit::new(tree, count),
            turn: OrientationFit::new(tree, sensors.len()),
            elimination,
            scratch: Scratch {
                seen_at: vec![Vec3::zero(); count],
                turned_to: vec![Rotation::from_quaternion([f64::NAN; 4]); sensors.len()],
                zeros: vec![0.0; n],
                A: vec![0.0; n * n],
                g: vec![0.0; n],
                L: vec![0.0; n * n],
                free: Vec::with_capacity(n),
                rhs: vec![0.0; n],
                delta: vec![0.0; n],
                start: vec![0.0; n],
                work: vec![0.0; n],
                held: vec![false; n],
                frozen: vec![false; n],
            },
            starts: Starts::new(model, system, &markers),
            watch: Watch::new(n, count),
            markers,
            sensors,
            sensor_names,
            sensor_columns,
        };
        // Where the model is in the laboratory, and which way it faces, no range can tell.
        for m in solver.starts.free_root() {
            solver.bounds[m] = [f64::NEG_INFINITY, f64::INFINITY];
        }
        for (q, [lo, hi]) in solver.q.iter_mut().zip(&solver.bounds) {
            *q = q.clamp(*lo, *hi);
        }
        Ok(solver)
    }

    /// Names of the tracked markers, in the order of the data.
    pub fn marker_names(&self) -> &[String] {
        &self.names
    }
    /// Weights of the tracked markers.
    pub fn marker_weights(&self) -> impl Iterator<Item = f64> {
        self.markers.iter().map(|m| m.weight)
    }
    /// RMS distance of the tracked markers from their mean in the default pose of the model, m.
    pub fn spread(&self) -> f64 {
        self.starts.size
    }
    /// Whether the model is free in space: there are six mobilities between ground and the first body with a marker.
    pub fn is_free(&self) -> bool {
        self.starts.is_free
    }
    /// Names of the tracked sensors, in the order of the model.
    pub fn sensor_names(&self) -> &[String] {
        &self.sensor_names
    }
    /// Angle between each tracked frame and its sensor at the last pose, rad; 0 if the sensor was missing.
    pub fn sensor_errors(&self) -> impl Iterator<Item = f64> {
        self.turn.angle.iter().copied()
    }
    /// The pose: coordinates by mobility of the system's tree, rad or m.
    pub fn coordinates(&self) -> &[f64] {
        &self.q
    }
    /// Sets the pose from which the next frame starts.
    pub fn set_coordinates(&mut self, q: &[f64]) {
        let n = self.q.len().min(q.len());
        self.q[..n].copy_from_slice(&q[..n]);
    }
    /// Whether tracked marker i was visible in the last frame, and used.
    pub fn is_seen(&self, i: usize) -> bool {
        self.scratch.seen_at.get(i).is_some_and(|p| p.norm_sq().is_finite())
    }
    /// Markers ignored in the last frame, because no pose near the previous one fits them together with the other
    /// markers; indices into [`marker_names`](Self::marker_names). The positions predicted by the other markers were
    /// used instead.
    pub fn left_out(&self) -> &[usize] {
        &self.watch.left_out
    }
    /// Pairs of markers with exchanged labels in the last frame: each was at the position of the other. The labels were
    /// swapped back.
    pub fn exchanged(&self) -> &[[usize; 2]] {
        &self.watch.exchanged
    }
    /// Distance of each tracked marker from its last measured position, m; 0 if it was missing.
    pub fn marker_errors(&self) -> impl Iterator<Item = f64> {
        self.fit.squared.iter().map(|s| s.sqrt())
    }
    /// Position of each tracked marker at the last pose, in ground, m.
    pub fn marker_places(&self) -> impl Iterator<Item = Vec3<f64>> {
        self.markers.iter().map(|m| self.ws.kin.X_GB[m.body] * m.p_BS)
    }

    /// Pose in ground of a node of the system's tree, at the last pose.
    pub fn pose_of_node(&self, node: usize) -> Transform<f64> {
        self.ws.kin.X_GB[node]
    }

    /// Finds the pose for sensors with `orientations` (in ground, in the order of the labels; values that are not
    /// finite are missing). Does not allocate memory.
    pub fn solve_orientations(&mut self, time: f64, orientations: &[Rotation<f64>]) -> Fit {
        for (at, &c) in self.scratch.turned_to.iter_mut().zip(&self.sensor_columns) {
            *at = orientations.get(c).copied().unwrap_or(Rotation::from_quaternion([f64::NAN; 4]));
        }
        self.solve_frame(time, &[])
    }

    /// Finds the pose for markers at `places` (ground, m; in the order of the labels; values that are not finite, or
    /// exactly at the origin, are missing). Does not allocate memory. If a frame does not converge, the best pose found
    /// is kept.
    ///
    /// The first frame is solved from several initial guesses. Every later frame starts from the previous pose; if the
    /// fit is worse than before, or an angle jumps, other initial guesses are tried, and misplaced markers are ignored
    /// ([`left_out`](Self::left_out), [`exchanged`](Self::exchanged)).
    pub fn solve_frame(&mut self, time: f64, places: &[Vec3<f64>]) -> Fit {
        self.look_at(time, places);
        self.watch.before.copy_from_slice(&self.q);
        let fit = self.solve_from_here();
        self.check_frame(fit)
    }

    /// Goes down from the current pose, and from a second one where a bound was in the way.
    pub(super) fn solve_from_here(&mut self) -> Fit {
        let first = self.descend();

        // A coordinate that has just come to its bound may be stuck there while a lower minimum lies inside, as a
        // straight elbow is when the upper arm is turned the wrong way. Then another start, away from the bounds, is tried.
        let mut fresh = false;
        for i in 0..self.q.len() {
            let [lo, hi] = self.bounds[i];
            let at_bound = self.q[i] <= lo || self.q[i] >= hi;
            fresh |= at_bound && !self.at_bound[i];
            self.at_bound[i] = at_bound;
        }
        if !fresh {
            return first;
        }
        self.best.copy_from_slice(&self.q);
        for i in 0..self.q.len() {
            let [lo, hi] = self.bounds[i];
            if self.at_bound[i] {
                let inside = INSIDE * (hi - lo);
                self.q[i] = if self.q[i] <= lo { lo + inside } else { hi - inside };
            }
        }
        let second = self.descend();
        if second.cost < first.cost * (1.0 - SAME_COST) {
            for i in 0..self.q.len() {
                self.at_bound[i] = self.q[i] <= self.bounds[i][0] || self.q[i] >= self.bounds[i][1];
            }
            return Fit { iterations: first.iterations + second.iterations, ..second };
        }
        self.q.copy_from_slice(&self.best);
        let cost = self.compute_cost();
        let Fit { iterations, last_step, converged, .. } = first;
        self.report(cost, iterations + second.iterations, last_step, converged)
    }

    /// Goes down from the current pose to the nearest minimum.
    pub(super) fn descend(&mut self) -> Fit {
        self.meet_constraints();
        let mut cost = self.compute_cost();
        let (mut iterations, mut last_step, mut converged) = (0, f64::INFINITY, false);
        // Damping, in parts of the curvature of each unknown; zero is Newton's own step.
        let mut damping = 0.0;
        while iterations < self.settings.max_iterations && cost.is_finite() {
            iterations += 1;
            self.fit.compute_derivatives(
                &self.system.tree,
                &self.markers,
                &self.scratch.seen_at,
                &self.ws.kin,
            );
            self.turn.compute_derivatives(
                &self.system.tree,
                &self.sensors,
                &self.scratch.turned_to,
                &self.ws.kin,
            );
            self.elimination.compute(&self.ws.constraints.G, &self.ws.constraints.qerr);
            self.scratch.start.copy_from_slice(&self.q);
            // Shorter and shorter steps until one leads down.
            let mut curved = true;
            let found = loop {
                let step = self.compute_step(damping, curved);
                let Some(step) = step else {
                    // Not convex here: without the curvature it always is, up to rounding.
                    if !curved {
                        damping = raise(damping);
                    }
                    curved = false;
                    if damping > 1e12 {
                        break None;
                    }
                    continue;
                };
                last_step = step;
                self.q.copy_from_slice(&self.scratch.start);
                self.advance();
                self.meet_constraints();
                let new = self.compute_cost();
                // A step this short changes the cost by less than its rounding.
                if new <= cost || step < self.settings.step_tolerance {
                    break Some(new);
                }
                curved = false;
                damping = raise(damping);
                if damping > 1e12 {
                    break None;
                }
            };
            let Some(new) = found else {
                self.q.copy_from_slice(&self.scratch.start);
                cost = self.compute_cost();
                break;
            };
            cost = new;
            damping = if damping < 1e-6 { 0.0 } else { damping * 0.1 };
            if last_step < self.settings.step_tolerance && damping < 1e-3 {
                converged = true;
                break;
            }
        }
        self.report(cost, iterations, last_step, converged)
    }

    /// Fit of the pose `q` (by mobility) to markers at `places`, without solving for a better pose.
    pub fn compute_fit(&mut self, time: f64, places: &[Vec3<f64>], q: &[f64]) -> Fit {
        self.look_at(time, places);
        self.set_coordinates(q);
        let cost = self.compute_cost();
        self.report(cost, 0, 0.0, true)
    }

    /// Takes in where the followed markers are.
    fn look_at(&mut self, time: f64, places: &[Vec3<f64>]) {
        let nowhere = vec3(f64::NAN, f64::NAN, f64::NAN);
        for (at, &c) in self.scratch.seen_at.iter_mut().zip(&self.columns) {
            let p = places.get(c).copied().unwrap_or(nowhere);
            *at = if p.to_array() == [0.0; 3] { nowhere } else { p };
        }
        self.time = time;
    }

    pub(super) fn report(&self, cost: f64, iterations: usize, last_step: f64, converged: bool) -> Fit {
        let mut f = Fit { iterations, last_step, converged, ..Fit::default() };
        let mut largest = 0.0;
        for (i, (&s, m)) in self.fit.squared.iter().zip(&self.markers).enumerate() {
            f.squared_error += s;
            f.weighted_squared_error += m.weight * s;
            f.seen += usize::from(self.scratch.seen_at[i].norm_sq().is_finite());
            if s > largest {
                largest = s;
                f.worst = Some(i);
            }
        }
        let (mut squares, mut count) = (0.0, 0.0);
        for (i, &angle) in self.turn.angle.iter().enumerate() {
            squares += angle * angle;
            count += if is_seen(&self.scratch.turned_to[i]) { 1.0 } else { 0.0 };
            if angle > f.angle_max {
                f.angle_max = angle;
                f.worst_sensor = Some(i);
            }
        }
        f.angle_rms = if count > 0.0 { (squares / count).sqrt() } else { 0.0 };
        f.cost = cost / self.goal_factor();
        f.rms = (f.squared_error / self.markers.len().max(1) as f64).sqrt();
        f.max = largest.sqrt();
        f
    }

    /// The weight of coordinates beside the sum over markers: the latter is divided by Σ w in the problem.
    fn goal_factor(&self) -> f64 {
        if self.fit.seen > 0.0 { self.fit.seen } else { 1.0 }
    }

    /// Likewise the weight of the sum over sensors.
    fn turn_factor(&self) -> f64 {
        if self.turn.seen > 0.0 { self.goal_factor() / self.turn.seen } else { 0.0 }
    }

    /// The cost times Σ w at the pose, whose kinematics are computed.
    pub(super) fn compute_cost(&mut self) -> f64 {
        let s = &self.scratch;
        compute_kinematics(&self.system.tree, &self.q, &s.zeros, &mut self.ws.kin);
        let markers = self.fit.compute_cost(&self.markers, &s.seen_at, &self.ws.kin);
        self.system.constraints.compute(&self.system.tree, &self.ws.kin, self.time, &mut self.ws.constraints);
        let goals: f64 = self
            .goals
            .iter()
            .map(|g| {
                let d = self.q[g.mobility] - g.target.value(&[self.time]);
                g.weight * d * d
            })
            .sum();
        let turns = self.turn.compute_cost(&self.sensors, &self.scratch.turned_to, &self.ws.kin);
        markers + self.turn_factor() * turns + 0.5 * self.goal_factor() * goals
    }

    /// Brings the pose onto the constraints, moving what gives way.
    fn meet_constraints(&mut self) {
        let set = &self.system.constraints;
        if set.list.is_empty() {
            return;
        }
        if self.simple {
            // Twice, for couplers that follow coupled coordinates listed after them.
            for _ in 0..2 {
                for c in &set.list {
                    match c {
                        CompiledConstraint::Locked { mobility, value } => self.q[*mobility] = *value,
                        CompiledConstraint::Prescribed { mobility, function } => {
                            self.q[*mobility] = function.value(&[self.time]);
                        }
                        CompiledConstraint::Coupler { independent, dependent, function, scale } => {
                            for (x, &i) in self.scratch.work.iter_mut().zip(independent) {
                                *x = self.q[i];
                            }
                            self.q[*dependent] =
                                scale * function.value(&self.scratch.work[..independent.len()]);
                        }
                        _ => {}
                    }
                }
            }
            return;
        }
        // Newton's method on the dependent unknowns alone.
        for _ in 0..20 {
            compute_kinematics(&self.system.tree, &self.q, &self.scratch.zeros, &mut self.ws.kin);
            let system = &*self.system;
            system.constraints.compute(&system.tree, &self.ws.kin, self.time, &mut self.ws.constraints);
            let error = self.ws.constraints.qerr.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
            if !(error > CONSTRAINT_TOLERANCE) {
                return;
            }
            self.elimination.compute(&self.ws.constraints.G, &self.ws.constraints.qerr);
            self.elimination.particular(&mut self.scratch.delta);
            self.advance();
        }
    }

    /// q ← q + δ, kept within bounds.
    fn advance(&mut self) {
        let delta = &mut self.scratch.delta;
        for node in self.system.tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity()) {
            let at = |x: &[f64]| vec3(x[node.u0], x[node.u0 + 1], x[node.u0 + 2]);
            let rate = angles_rate(at(&self.q), at(delta));
            delta[node.u0..node.u0 + 3].copy_from_slice(&rate.to_array());
        }
        for ((q, d), [lo, hi]) in self.q.iter_mut().zip(delta.iter()).zip(&self.bounds) {
            *q = (*q + d).clamp(*lo, *hi);
        }
    }

    /// The step δ of (A + damping · diag A) δ = −g within the bounds, with or without the curvature of the marker paths.
    /// Its largest component; `None` where the matrix is not positive definite.
    fn compute_step(&mut self, damping: f64, curved: bool) -> Option<f64> {
        let n = self.q.len();
        let turn = self.turn_factor();
        let s = &mut self.scratch;

        // The whole matrix, from the parts below the diagonal.
        for i in 0..n {
            for j in 0..=i {
                let mut a = self.fit.hessian[i * n + j];
                if curved {
                    a += self.fit.curvature[i * n + j];
                }
                if turn > 0.0 {
                    a += turn * self.turn.hessian[i * n + j];
                    if curved {
                        a += turn * self.turn.curvature[i * n + j];
                    }
                }
                s.A[i * n + j] = a;
                s.A[j * n + i] = a;
            }
        }
        s.g.copy_from_slice(&self.fit.gradient);
        if turn > 0.0 {
            for (g, t) in s.g.iter_mut().zip(&self.turn.gradient) {
                *g += turn * t;
            }
        }
        let factor = if self.fit.seen > 0.0 { self.fit.seen } else { 1.0 };
        for goal in &self.goals {
            let m = goal.mobility;
            let weight = factor * goal.weight;
            let pull = weight * (s.start[m] - goal.target.value(&[self.time]));
            match self.system.tree.angular[m] {
                None => {
                    s.A[m * n + m] += weight;
                    s.g[m] += pull;
                }
                Some(u0) => {
                    // An angle of a ball moves with all three components of the angular velocity.
                    let q = vec3(s.start[u0], s.start[u0 + 1], s.start[u0 + 2]);
                    let row: [f64; 3] =
                        std::array::from_fn(|i| angles_rate(q, Vec3::unit(i)).to_array()[m - u0]);
                    for i in 0..3 {
                        s.g[u0 + i] += pull * row[i];
                        for j in 0..3 {
                            s.A[(u0 + i) * n + u0 + j] += weight * row[i] * row[j];
                        }
                    }
                }
            }
        }
        self.elimination.reduce(&mut s.A, &mut s.g, &mut s.work);

        let mut largest: f64 = 0.0;
        for i in 0..n {
            if self.elimination.is_independent[i] {
                largest = largest.max(s.A[i * n + i]);
            }
        }
        let ridge = if largest > 0.0 { RIDGE * largest } else { 1.0 };

        // A coordinate at its bound that is pushed outwards stays there.
        s.delta.fill(0.0);
        for i in 0..n {
            let [lo, hi] = self.bounds[i];
            let out = (s.start[i] <= lo && s.g[i] > 0.0) || (s.start[i] >= hi && s.g[i] < 0.0);
            // What moves nothing that is measured stays where it is, and costs nothing.
            let idle = s.g[i] == 0.0 && s.A[i * n..(i + 1) * n].iter().all(|a| *a == 0.0);
            s.held[i] = out || idle || s.frozen[i] || !self.elimination.is_independent[i];
        }

        // Each pass solves for the free ones; those that would leave their bounds are put on them for the next.
        loop {
            s.free.clear();
            s.free.extend((0..n).filter(|&i| !s.held[i]));
            let m = s.free.len();
            for (a, &i) in s.free.iter().enumerate() {
                let mut r = -s.g[i];
                for j in 0..n {
                    if s.held[j] && self.elimination.is_independent[j] && s.delta[j] != 0.0 {
                        r -= s.A[i * n + j] * s.delta[j];
                    }
                }
                s.rhs[a] = r;
                for (b, &j) in s.free.iter().enumerate().take(a + 1) {
                    s.L[a * m + b] = s.A[i * n + j];
                }
                // Damping works on the part of the diagonal that is surely positive.
                let mut d = self.fit.hessian[i * n + i].max(0.0);
                if turn > 0.0 {
                    d += turn * self.turn.hessian[i * n + i];
                }
                s.L[a * m + a] += damping * d + ridge * (1.0 + damping);
            }
            if !solve_positive_definite(&mut s.L, &mut s.rhs, m) {
                return None;
            }
            let mut again = false;
            for a in 0..m {
                let i = s.free[a];
                let [lo, hi] = self.bounds[i];
                let x = s.start[i] + s.rhs[a];
                s.delta[i] = s.rhs[a];
                if x < lo || x > hi {
                    s.delta[i] = if x < lo { lo - s.start[i] } else { hi - s.start[i] };
                    s.held[i] = true;
                    again = true;
                }
            }
            if !again {
                break;
            }
        }
        self.elimination.complete(&mut s.delta);
        Some(s.delta.iter().fold(0.0, |m: f64, d| m.max(d.abs())))
    }
}

/// More damping than before.
fn raise(damping: f64) -> f64 {
    if damping == 0.0 { 1e-4 } else { damping * 10.0 }
}

fn check_weight(name: &str, weight: f64) -> Result<(), Error> {
    if weight >= 0.0 && weight.is_finite() {
        return Ok(());
    }
    Err(Error::Weight { name: name.to_string(), weight })
}

/// Markers, their names and their places in the data.
type Followed = (Vec<Marker>, Vec<String>, Vec<usize>);

/// Sensors, their names and their places in the data.
type FollowedSensors = (Vec<Sensor>, Vec<String>, Vec<usize>);

/// The frames of the model that the data name, in the order of the model, as OpenSim lists them.
fn sensors(
    model: &Model,
    system: &System,
    labels: &[String],
    tasks: &Tasks,
) -> Result<FollowedSensors, Error> {
    let (mut list, mut names, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for t in &tasks.sensors {
        check_weight(&t.name, t.weight)?;
    }
    for (i, label) in labels.iter().enumerate() {
        if labels[..i].contains(label) {
            return Err(Error::Twice { name: label.clone(), place: "the data" });
        }
    }
    for (i, f) in model.frames.iter().enumerate() {
        let Some(column) = labels.iter().position(|l| *l == f.name) else { continue };
        if names.contains(&f.name) {
            return Err(Error::Twice { name: f.name.clone(), place: "the model" });
        }
        let frame = system.tree.frame(FrameId(i));
        let weight = tasks.sensors.iter().find(|t| t.name == f.name).map_or(1.0, |t| t.weight);
        list.push(Sensor { body: frame.body, R_BS: frame.X_BF.R, weight });
        names.push(f.name.clone());
        columns.push(column);
    }
    if list.is_empty() {
        return Err(Error::NoSensors);
    }
    Ok((list, names, columns))
}

/// The markers that tasks, model and data share, in the order of the data.
fn followed(model: &Model, system: &System, labels: &[String], tasks: &Tasks) -> Result<Followed, Error> {
    let twice = |name: &str, place| Error::Twice { name: name.to_string(), place };
    for (i, t) in tasks.markers.iter().enumerate() {
        check_weight(&t.name, t.weight)?;
        if tasks.markers[..i].iter().any(|x| x.name == t.name) {
            return Err(twice(&t.name, "the tasks"));
        }
    }
    let (mut markers, mut names, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for (column, label) in labels.iter().enumerate() {
        let weight = match tasks.markers.iter().find(|t| t.name == *label) {
            Some(t) => t.weight,
            None if tasks.markers.is_empty() => 1.0,
            None => continue,
        };
        let Some(i) = model.markers.iter().position(|m| m.name == *label) else { continue };
        if names.contains(label) {
            return Err(twice(label, "the data"));
        }
        let station = system.markers[i];
        markers.push(Marker { body: station.body, p_BS: station.p_BS, weight });
        names.push(label.clone());
        columns.push(column);
    }
    if markers.is_empty() {
        return Err(Error::NoMarkers);
    }
    Ok((markers, names, columns))
}

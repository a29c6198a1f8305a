//! Terms of one frame: marker distances, residuals at the root, constraint errors, and their derivatives.

use super::angular;
use super::basis::Basis;
use super::parameters::{Kind, Parameters};
use super::pose::{ORTHONORMAL, PoseRoom, PoseRoot};
use super::{Error, Fit, Measured, Settings};
use crate::free_motion::{FreeBody, MOBILITIES, NUMBERS, nearest_pose};
use soleus_dynamics::implicit::{
    ImplicitJacobian, ImplicitSystem, JacobianWorkspace, Parameter, ParameterWorkspace,
};
use soleus_dynamics::kinematics::Resolve;
use soleus_dynamics::multibody::compute_generalized_forces;
use soleus_dynamics::{Options, State, System, Workspace};
use soleus_math::function::GcvSpline;
use soleus_math::{Dual, Rotation, SpatialVec, Vec3};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use std::ops::Range;

/// The data, and how much they count.
pub(super) struct Frames<'a> {
    /// Number of functions: one for each mobility, and further numbers of a root's pose.
    pub n: usize,
    /// Number of mobilities.
    mobilities: usize,
    times: &'a [f64],
    /// The given coordinates by frame and mobility.
    given: &'a [Vec<f64>],
    measured: &'a Measured,
    /// 1 / σ² of markers, m⁻², divided by the number of frames.
    marker_weight: f64,
    /// The same of coordinates by mobility; 0 where markers are followed.
    coordinate_weight: Vec<f64>,
    /// Of the distance from the given coordinates, so that what no marker sees stays; by mobility.
    ridge: Vec<f64>,
    /// Of ∫ q‴² dt, by mobility.
    pub rough: Vec<f64>,
    /// Mobilities of the root.
    pub root: Range<usize>,
    /// Weight of the model, N: the unit of residuals.
    pub weight: f64,
    /// Whether each mobility turns something.
    turns: Vec<bool>,
    /// First mobilities of joints whose speeds are an angular velocity, except a root by its pose.
    angular: Vec<usize>,
    /// A root that moves freely.
    pose: Option<GivenPose>,
}

/// A root by its pose, and how near it is to be to what was given.
struct GivenPose {
    root: PoseRoot,
    /// By frame.
    given: Vec<(Rotation<f64>, Vec3<f64>)>,
    /// Of the squares of turn and distance, rad⁻² and m⁻².
    weights: [f64; 2],
}

impl GivenPose {
    /// Turn and distance from where the root was given.
    fn off(&self, room: &PoseRoom, frame: usize) -> [Vec3<f64>; 2] {
        let ((R, p), (given, place)) = (room.pose(), self.given[frame]);
        [(R * given.inverse()).to_rotation_vector(), p - place]
    }
}

/// How far a coordinate may well be from where it was given, so that one that no marker sees stays: rad and m. Markers say a hundred
/// times more about the coordinates that they see.
const GIVEN_SD: [f64; 2] = [0.2, 0.05];

/// The same where the motion that is given is what was measured.
const HELD_TWICE: f64 = 1e-3;

impl<'a> Frames<'a> {
    pub fn new(
        model: &Model,
        system: &System,
        times: &'a [f64],
        given: &'a [Vec<f64>],
        measured: &'a Measured,
        s: &Settings,
        node: usize,
    ) -> Self {
        let of_node = &system.tree.nodes[node];
        let root = of_node.u0..of_node.u0 + of_node.nu;
        let n = system.tree.num_mobilities;
        let mut ws = system.workspace::<f64>();
        system.compute_kinematics(&system.default_state, &mut ws);
        let turns: Vec<bool> = (0..n).map(|j| ws.kin.H[j].w.norm() > 1e-9).collect();
        // Errors of markers last: every frame counts as a part of one look at the whole trial.
        let count = times.len() as f64;
        let marker_weight = s.marker_sd.powi(-2) / count;
        let of =
            |turning: f64, moving: f64| turns.iter().map(|t| if *t { turning } else { moving }).collect();
        let [angle, distance] = s.coordinate_sd;
        let coordinate_weight: Vec<f64> = match measured {
            Measured::Markers(_) => vec![0.0; n],
            Measured::Motion => of(angle.powi(-2) / count, distance.powi(-2) / count),
        };
        let mut ridge: Vec<f64> = match measured {
            Measured::Markers(_) => of(GIVEN_SD[0].powi(-2) / count, GIVEN_SD[1].powi(-2) / count),
            Measured::Motion => coordinate_weight.iter().map(|w| HELD_TWICE * w).collect(),
        };
        let mut coordinate_weight = coordinate_weight;
        let pose = PoseRoot::new(system, node).map(|root| {
            // The same weights, of what does not depend on the laboratory's axes.
            let mut weights = [0.0; 2];
            let mut body = FreeBody::new(system, node);
            for i in 0..MOBILITIES {
                let (own, other) = (&mut coordinate_weight[root.u0 + i], &mut ridge[root.u0 + i]);
                weights[usize::from(!turns[root.u0 + i])] = *own + *other;
                (*own, *other) = (0.0, 0.0);
            }
            let pose = |q: &Vec<f64>| body.pose_at(system, &root.own(q));
            GivenPose { given: given.iter().map(pose).collect(), root, weights }
        });
        for (name, weight) in &s.held {
            let c = model.coordinates.iter().position(|c| c.name == *name);
            if let Some(w) = c.and_then(|c| ridge.get_mut(system.tree.mobility_of_coordinate[c])) {
                *w += weight * marker_weight;
            }
        }
        let angular = system.tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity());
        let angular = angular.map(|n| n.u0).filter(|u| pose.as_ref().is_none_or(|p| p.root.u0 != *u));
        let functions = n + pose.as_ref().map_or(0, |_| PoseRoot::MORE);
        let mut frames = Frames {
            n: functions,
            mobilities: n,
            times,
            given,
            measured,
            marker_weight,
            coordinate_weight,
            ridge,
            rough: vec![0.0; functions],
            root,
            weight: model.total_mass() * model.gravity.norm().max(1.0),
            turns,
            angular: angular.collect(),
            pose,
        };
        // How much the data say about each coordinate, on average; the roughness is weighed against that.
        let mut seen = frames.coordinate_weight.clone();
        let mut jacobian = vec![Vec3::zero(); n];
        let mut x = system.default_state.clone();
        for (i, q) in given.iter().enumerate() {
            x.q.clone_from(q);
            system.compute_kinematics(&x, &mut ws);
            for (w, body, p, _) in frames.markers(system, i, &ws) {
                point_jacobian(system, &ws, body, p, &mut jacobian);
                frames.by_angles(&x.q, &mut jacobian);
                for (s, d) in seen.iter_mut().zip(&jacobian) {
                    *s += w * d.norm_sq() / times.len() as f64;
                }
            }
        }
        if let Some(hz) = s.cutoff_hz {
            let frame = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
            let omega = std::f64::consts::TAU * hz;
            // The root moves as the loads demand, however fast they change.
            for j in (0..n).filter(|j| !frames.root.contains(j)) {
                frames.rough[j] = (seen[j] + frames.ridge[j]) / (omega.powi(6) * frame);
            }
        }
        frames
    }

    /// Turns what speeds do, speed by speed, into what rates of angles do.
    fn by_angles(&self, q: &[f64], d: &mut [Vec3<f64>]) {
        for &u in &self.angular {
            let columns = angular::columns([q[u], q[u + 1], q[u + 2]]);
            let by = [d[u], d[u + 1], d[u + 2]];
            for (k, c) in columns.iter().enumerate() {
                d[u + k] = by[0] * c[0] + by[1] * c[1] + by[2] * c[2];
            }
        }
    }

    /// Replaces the numbers of the root's axes at the frames by those of the nearest rotations: a step is along them, to first order.
    pub fn retract(&self, basis: &Basis, c: &mut [f64]) {
        let Some(pose) = &self.pose else { return };
        let mut columns = vec![Vec::new(); NUMBERS];
        for row in &basis.rows {
            let value = |number: usize| {
                let at = |k: usize| c[(row.first + k) * self.n + pose.root.function(number)];
                row.at.iter().enumerate().map(|(k, a)| a[0] * at(k)).sum::<f64>()
            };
            let y: [f64; NUMBERS] = std::array::from_fn(value);
            let axes = nearest_pose(&y).map(|(R, _)| [0, 1, 2].map(|i| R.axis(i).to_array()));
            for (number, column) in columns.iter_mut().enumerate().take(9) {
                column.push(axes.map_or(y[number], |axes| axes[number / 3][number % 3]));
            }
        }
        for (number, column) in columns.iter().enumerate().take(9) {
            for (k, x) in basis.interpolate(column).into_iter().enumerate() {
                c[k * self.n + pose.root.function(number)] = x;
            }
        }
    }

    /// Whether a mobility is one of a root by its pose.
    fn is_posed(&self, mobility: usize) -> bool {
        self.pose.is_some() && self.root.contains(&mobility)
    }

    /// Turns what speeds of the root do to a point of a body into what the numbers of its pose do.
    fn by_pose(&self, system: &System, room: &Room, body: usize, p: Vec3<f64>, d: &mut [Vec3<f64>]) {
        let (Some(pose), Some(own)) = (&self.pose, &room.pose) else { return };
        let mut b = body;
        while b != 0 && b != pose.root.node {
            b = system.tree.nodes[b].parent;
        }
        (0..NUMBERS).for_each(|k| d[pose.root.function(k)] = Vec3::zero());
        if b == 0 {
            return;
        }
        let arm = p - room.ws.kin.X_GB[b].p;
        let axes = [0, 1, 2].map(Vec3::unit);
        for (a, axis) in axes.into_iter().enumerate() {
            // The turn that moves the point along this axis by the arm.
            let w = arm.cross(axis).to_array();
            let v = axis.to_array();
            let row = own.by_rates(&[w[0], w[1], w[2], v[0], v[1], v[2]]);
            for (k, x) in row.into_iter().enumerate() {
                let d = &mut d[pose.root.function(k)];
                match a {
                    0 => d.x = x,
                    1 => d.y = x,
                    _ => d.z = x,
                }
            }
        }
    }

    /// Rows of equations per frame: residuals, the model's constraints on positions, and those of a pose.
    pub fn rows_per_frame(&self, system: &System) -> usize {
        self.root.len() + system.constraints.num_position() + self.pose.as_ref().map_or(0, |_| ORTHONORMAL)
    }

    /// Sizes of the errors of a frame's equations, with whether they are residuals: components that depend on axes count together.
    pub fn sizes<'e>(&self, errors: &'e [f64]) -> impl Iterator<Item = (bool, f64)> + 'e {
        let residuals = self.num_residuals();
        let together = if self.pose.is_some() { 3 } else { 1 };
        let (residuals, others) = errors.split_at(residuals);
        let norm = |e: &[f64]| e.iter().map(|x| x * x).sum::<f64>().sqrt();
        residuals
            .chunks(together)
            .map(move |e| (true, norm(e)))
            .chain(others.iter().map(|e| (false, e.abs())))
    }

    /// Values of the functions at the coordinates of each frame.
    pub fn functions(&self, system: &System) -> Vec<Vec<f64>> {
        let Some(pose) = &self.pose else { return self.given.to_vec() };
        let mut body = FreeBody::new(system, pose.root.node);
        self.given.iter().map(|q| pose.root.functions(system, &mut body, q)).collect()
    }

    /// Number of equations that are residuals.
    pub fn num_residuals(&self) -> usize {
        self.root.len()
    }

    /// Markers seen in a frame: weight, body, place in ground, distance from where it was seen.
    fn markers<'s>(
        &'s self,
        system: &'s System,
        frame: usize,
        ws: &'s Workspace<f64>,
    ) -> impl Iterator<Item = (f64, usize, Vec3<f64>, Vec3<f64>)> + 's {
        self.targets(system, frame, ws).map(|(_, w, body, p, off)| (w, body, p, off))
    }

    /// The same with the position of the target first.
    fn targets<'s>(
        &'s self,
        system: &'s System,
        frame: usize,
        ws: &'s Workspace<f64>,
    ) -> impl Iterator<Item = (usize, f64, usize, Vec3<f64>, Vec3<f64>)> + 's {
        let targets = match self.measured {
            Measured::Markers(targets) => targets.as_slice(),
            Measured::Motion => &[],
        };
        targets.iter().enumerate().filter_map(move |(k, t)| {
            let seen = t.places[frame];
            if !(seen.norm_sq().is_finite() && t.weight > 0.0) {
                return None;
            }
            let station = &system.markers[t.marker];
            let p = ws.kin.X_GB[station.body] * station.p_BS;
            Some((k, t.weight * self.marker_weight, station.body, p, p - seen))
        })
    }

    /// The second term of (1).
    pub fn roughness(&self, basis: &Basis, c: &[f64]) -> f64 {
        let n = self.n;
        let mut sum = 0.0;
        for k in 0..basis.len() {
            for back in 0..=k.min(5) {
                let s = basis.roughness[6 * k + back] * if back == 0 { 0.5 } else { 1.0 };
                for j in 0..n {
                    sum += s * self.rough[j] * c[k * n + j] * c[(k - back) * n + j];
                }
            }
        }
        sum
    }
}

/// ∂p/∂q of a point of a body; speeds are rates of coordinates.
fn point_jacobian(system: &System, ws: &Workspace<f64>, body: usize, p: Vec3<f64>, out: &mut [Vec3<f64>]) {
    out.fill(Vec3::zero());
    let mut b = body;
    while b != 0 {
        let node = &system.tree.nodes[b];
        let arm = p - ws.kin.X_GB[b].p;
        for j in node.u0..node.u0 + node.nu {
            out[j] = ws.kin.H[j].v + ws.kin.H[j].w.cross(arm);
        }
        b = node.parent;
    }
}

/// A frame to first order.
pub(super) struct Terms {
    /// Gauss–Newton matrix of what depends on q alone, n × n, and its gradient.
    pub A: Vec<f64>,
    pub g: Vec<f64>,
    /// By marker that may move in its body: position of its first parameter, weight, ∂/∂q of the three distances along the axes of its
    /// frame (3 × n), and these distances.
    pub offsets: Vec<(usize, f64, Vec<f64>, [f64; 3])>,
    /// Equations: their errors, ∂/∂q, ∂/∂q̇, ∂/∂q̈ (row by row), and ∂/∂p in units of standard deviations.
    pub c: Vec<f64>,
    pub J: [Vec<f64>; 3],
    pub Jp: Vec<f64>,
}

/// The equations of a model with some parameters.
pub(super) struct Evaluator<'a> {
    system: &'a System,
    implicit: ImplicitSystem<'a>,
    frames: &'a Frames<'a>,
    parameters: &'a Parameters,
    /// Derivatives by masses and mass centres: parameter, its number, and factor.
    inertial: Vec<(Parameter, usize, f64)>,
    /// Forces of loads whose points may shift: by load.
    forces: Vec<Option<[GcvSpline; 3]>>,
    /// The same loads as they were measured.
    measured: Vec<Option<Load>>,
    /// Axes of the targets' marker frames in their bodies.
    axes: Vec<[Vec3<f64>; 3]>,
}

/// A load that may have another gain or tilt.
struct Load {
    force: [GcvSpline; 3],
    torque: Option<[GcvSpline; 3]>,
    /// Where it acts now.
    point: [GcvSpline; 3],
    /// The body that it acts on.
    node: usize,
}

fn at([x, y, z]: &[GcvSpline; 3], t: f64) -> Vec3<f64> {
    Vec3 { x: x.value(t), y: y.value(t), z: z.value(t) }
}

/// Memory of one thread.
struct Room {
    pose: Option<PoseRoom>,
    x: State<f64>,
    xdot: Vec<f64>,
    /// Second rates of the coordinates.
    qddot: Vec<f64>,
    controls: Vec<f64>,
    lambda: Vec<f64>,
    r: Vec<f64>,
    ws: Workspace<f64>,
}

impl Room {
    /// Angles of a joint whose speeds are an angular velocity, their rates, and the rates of these.
    fn angles(&self, u: usize) -> [[f64; 3]; 3] {
        [&self.x.q[u..], &self.xdot[u..], &self.qddot[u..]].map(|x| [x[0], x[1], x[2]])
    }
}

impl<'a> Evaluator<'a> {
    pub fn new(
        system: &'a System,
        frames: &'a Frames<'a>,
        parameters: &'a Parameters,
    ) -> Result<Self, Error> {
        let implicit = ImplicitSystem::new(system);
        let (mut inertial, mut forces, mut measured) = (Vec::new(), Vec::new(), Vec::new());
        let mut axes = Vec::new();
        if !parameters.list.is_empty() {
            let model = parameters.loaded();
            let find = |path: String| {
                implicit
                    .parameter(&model, &Options::default(), &path)
                    .map_err(|e| Error::Parameter { reason: e.to_string() })
            };
            for (at, (kind, sd)) in parameters.list.iter().enumerate() {
                match *kind {
                    Kind::Mass { body } => {
                        let path = &model.bodies[body].path;
                        inertial.push((find(format!("{path}/mass"))?, at, sd * parameters.given_mass(body)));
                        let i = parameters.given_inertia(body);
                        for (k, x) in [i.xx, i.yy, i.zz, i.xy, i.xz, i.yz].into_iter().enumerate() {
                            if x != 0.0 {
                                inertial.push((find(format!("{path}/inertia/{k}"))?, at, sd * x));
                            }
                        }
                    }
                    Kind::MassCenter { body, axis } => {
                        let path = &model.bodies[body].path;
                        inertial.push((find(format!("{path}/mass_center/{axis}"))?, at, *sd));
                    }
                    _ => {}
                }
            }
            let (_, loads) = parameters.applied();
            for (load, given) in loads.iter().zip(parameters.measured_loads()) {
                let ForceKind::ExternalForce(e) = &load.kind else { continue };
                let ForceKind::ExternalForce(given) = &given.kind else { continue };
                let spline = |y: &Vec<f64>| GcvSpline::interpolate(3, e.time.clone(), y).ok();
                forces
                    .push(e.force.as_ref().and_then(|[x, y, z]| Some([spline(x)?, spline(y)?, spline(z)?])));
                let all = |v: &Option<[Vec<f64>; 3]>| {
                    v.as_ref().and_then(|[x, y, z]| Some([spline(x)?, spline(y)?, spline(z)?]))
                };
                let body = model.frames[e.applied_to_body.0].body.0;
                measured.push(all(&given.force).zip(all(&e.point)).map(|(force, point)| Load {
                    force,
                    torque: all(&given.torque),
                    point,
                    node: system.tree.node_of_body[body],
                }));
            }
            for &m in &parameters.markers {
                let R = system.tree.frame(model.markers[m].frame).X_BF.R;
                axes.push([0, 1, 2].map(|a| R * Vec3::unit(a)));
            }
        }
        Ok(Evaluator { system, implicit, frames, parameters, inertial, forces, measured, axes })
    }

    fn room(&self) -> Room {
        Room {
            pose: self.frames.pose.as_ref().map(|p| PoseRoom::new(self.system, &p.root)),
            x: self.system.default_state.clone(),
            xdot: vec![0.0; self.implicit.num_states()],
            qddot: vec![0.0; self.frames.mobilities],
            controls: vec![0.0; self.system.num_controls],
            lambda: vec![0.0; self.implicit.num_multipliers()],
            r: vec![0.0; self.implicit.num_residuals()],
            ws: self.system.workspace(),
        }
    }

    /// Writes time, coordinates, speeds and accelerations of a frame.
    fn place(&self, basis: &Basis, c: &[f64], frame: usize, room: &mut Room) {
        let (n, functions) = (self.frames.mobilities, self.frames.n);
        room.x.time = self.frames.times[frame];
        let row = &basis.rows[frame];
        room.x.q.fill(0.0);
        room.x.u.fill(0.0);
        room.xdot.fill(0.0);
        for (k, a) in row.at.iter().enumerate() {
            for j in 0..n {
                let c = c[(row.first + k) * functions + j];
                room.x.q[j] += a[0] * c;
                room.x.u[j] += a[1] * c;
                room.xdot[n + j] += a[2] * c;
            }
        }
        room.xdot[..n].copy_from_slice(&room.x.u);
        room.qddot.copy_from_slice(&room.xdot[n..2 * n]);
        for &u in &self.frames.angular {
            let [q, v, a] = room.angles(u);
            let [omega, rate] = angular::speeds(q, v, a);
            room.x.u[u..u + 3].copy_from_slice(&omega);
            room.xdot[n + u..n + u + 3].copy_from_slice(&rate);
        }
        if let (Some(pose), Some(own)) = (&self.frames.pose, &mut room.pose) {
            let mut y = [[0.0; NUMBERS]; 3];
            for (k, a) in row.at.iter().enumerate() {
                for number in 0..NUMBERS {
                    let c = c[(row.first + k) * functions + pose.root.function(number)];
                    (0..3).for_each(|order| y[order][number] += a[order] * c);
                }
            }
            let near = pose.root.own(&self.frames.given[frame]);
            let (rates, udot) = room.xdot.split_at_mut(n);
            own.place(self.system, &pose.root, y, &near, &mut room.x, [rates, udot]);
        }
    }

    /// Coordinates of all frames.
    pub fn coordinates(&self, basis: &Basis, c: &[f64]) -> Vec<Vec<f64>> {
        let mut room = self.room();
        let mut of = |frame: usize| {
            self.place(basis, c, frame, &mut room);
            room.x.q.clone()
        };
        (0..basis.len()).map(&mut of).collect()
    }

    /// Errors of the equations, in units of weight where they are residuals, after the residual was computed.
    fn errors(&self, room: &Room) -> Vec<f64> {
        let constraints = room.ws.constraints.qerr.iter().copied();
        let pose = room.pose.iter().flat_map(PoseRoom::orthonormality);
        self.residuals(room)
            .into_iter()
            .map(|r| r / self.frames.weight)
            .chain(constraints)
            .chain(pose)
            .collect()
    }

    /// Residuals, N and N m: by mobility, or as a wrench.
    fn residuals(&self, room: &Room) -> Vec<f64> {
        let n = self.frames.mobilities;
        let r = &room.r[n + self.frames.root.start..n + self.frames.root.end];
        room.pose.as_ref().map_or_else(|| r.to_vec(), |pose| pose.wrench(r).to_vec())
    }

    fn compute(&self, basis: &Basis, c: &[f64], frame: usize, room: &mut Room) {
        self.place(basis, c, frame, room);
        let Room { x, xdot, controls, lambda, r, ws, .. } = room;
        self.implicit.compute_residual(x, xdot, controls, lambda, ws, r);
    }

    /// Every frame to first order.
    pub fn linearise(&self, basis: &Basis, c: &[f64], threads: usize) -> Vec<Terms> {
        let count = basis.len();
        let part = count.div_ceil(threads.max(1));
        let work = |range: Range<usize>| {
            let mut room = self.room();
            let mut jw = self.implicit.jacobian_workspace();
            let mut jac = self.implicit.jacobian();
            let mut pw = self.implicit.parameter_workspace();
            range.map(|i| self.linearise_frame(basis, c, i, &mut room, &mut jw, &mut jac, &mut pw)).collect()
        };
        let ranges: Vec<Range<usize>> =
            (0..count).step_by(part.max(1)).map(|i| i..(i + part).min(count)).collect();
        match &ranges[..] {
            [one] => work(one.clone()),
            many => std::thread::scope(|scope| {
                let work = &work;
                let handles: Vec<_> =
                    many.iter().map(|r| scope.spawn(move || -> Vec<Terms> { work(r.clone()) })).collect();
                handles
                    .into_iter()
                    .flat_map(|h| h.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
                    .collect()
            }),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn linearise_frame(
        &self,
        basis: &Basis,
        c: &[f64],
        frame: usize,
        room: &mut Room,
        jw: &mut JacobianWorkspace,
        jac: &mut ImplicitJacobian,
        pw: &mut ParameterWorkspace,
    ) -> Terms {
        let f = self.frames;
        let n = f.mobilities;
        self.place(basis, c, frame, room);
        let Room { x, xdot, controls, lambda, r, ws, .. } = room;
        self.implicit.compute_jacobian(x, xdot, controls, lambda, ws, jw, r, jac);
        let errors = self.errors(room);
        // Those that the model has.
        let rows = f.root.len() + self.system.constraints.num_position();

        // Residuals by q, u and u̇; the model's constraints by q.
        let mut J = [vec![0.0; rows * n], vec![0.0; rows * n], vec![0.0; rows * n]];
        let root = n + f.root.start..n + f.root.end;
        for (part, (matrix, offset)) in [(&jac.dx, 0), (&jac.dx, n), (&jac.dxdot, n)].into_iter().enumerate()
        {
            for j in 0..n {
                for at in matrix.start[offset + j]..matrix.start[offset + j + 1] {
                    if root.contains(&matrix.row[at]) {
                        J[part][(matrix.row[at] - root.start) * n + j] = matrix.value[at] / f.weight;
                    }
                }
            }
        }
        // q̇ is a variable of the kinematic rows alone, and those hold.
        let first = f.root.len();
        J[0][first * n..].copy_from_slice(&room.ws.constraints.G[..(rows - first) * n]);

        for &u in &f.angular {
            let [q, v, a] = room.angles(u);
            let columns = angular::columns(q);
            for row in 0..rows {
                let at = row * n + u;
                let by = [0, 1, 2].map(|p: usize| [J[p][at], J[p][at + 1], J[p][at + 2]]);
                let by = match row < first {
                    true => angular::chain(q, v, a, by),
                    // Constraints have derivatives along speeds alone.
                    false => {
                        [columns.map(|c| by[0][0] * c[0] + by[0][1] * c[1] + by[0][2] * c[2]), by[1], by[2]]
                    }
                };
                for (J, by) in J.iter_mut().zip(by) {
                    J[at..at + 3].copy_from_slice(&by);
                }
            }
        }

        let mut Jp = self.parameter_columns(room, pw, rows);
        if let (Some(pose), Some(own)) = (&f.pose, &mut room.pose) {
            let count = self.parameters.list.len();
            own.to_wrench(&mut Jp[..first * count], count);
            Jp.resize(errors.len() * count, 0.0);
            let w = std::array::from_fn(|i| errors[i]);
            J = own.by_functions(self.system, &pose.root, &room.x, &room.xdot[n..2 * n], &w, J, first);
            for row in own.orthonormality_slopes() {
                let mut slopes = vec![0.0; f.n];
                (0..NUMBERS).for_each(|k| slopes[pose.root.function(k)] = row[k]);
                J[0].extend(slopes);
            }
            (1..3).for_each(|o| J[o].resize(errors.len() * f.n, 0.0));
        }
        // From here on by function.
        let n = f.n;
        let (mut A, mut g) = (vec![0.0; n * n], vec![0.0; n]);
        let mut d = vec![Vec3::zero(); n];
        let mut offsets = Vec::new();
        let moving: Vec<Option<usize>> = (0..self.parameters.markers.len())
            .map(|k| self.parameters.list.iter().position(|(p, _)| *p == Kind::Marker { target: k, axis: 0 }))
            .collect();
        for (k, w, body, p, off) in f.targets(self.system, frame, &room.ws) {
            point_jacobian(self.system, &room.ws, body, p, &mut d);
            f.by_angles(&room.x.q, &mut d);
            f.by_pose(self.system, room, body, p, &mut d);
            let moved: Vec<usize> = (0..n).filter(|&j| d[j].norm_sq() > 0.0).collect();
            for &i in &moved {
                let wd = d[i] * w;
                g[i] += wd.dot(off);
                for &j in moved.iter().take_while(|j| **j <= i) {
                    A[i * n + j] += wd.dot(d[j]);
                }
            }
            if let Some(at) = moving[k] {
                let R = room.ws.kin.X_GB[body].R;
                let axes = self.axes[k].map(|a| R * a);
                let rows = axes.iter().flat_map(|a| d.iter().map(|d| d.dot(*a))).collect();
                offsets.push((at, w, rows, axes.map(|a| a.dot(off))));
            }
        }
        if let (Some(pose), Some(own)) = (&f.pose, &room.pose) {
            // Rows of what is to be small, with their weights and values: turn, distance, and coordinates of the root that are held.
            let off = pose.off(own, frame).map(Vec3::to_array);
            let unit =
                |k: usize| -> [f64; MOBILITIES] { std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 }) };
            let near = (0..MOBILITIES).map(|k| (unit(k), pose.weights[k / 3], off[k / 3][k % 3]));
            let held = (0..MOBILITIES).map(|k| {
                let j = pose.root.u0 + k;
                (*own.coordinate(k), f.ridge[j], room.x.q[j] - f.given[frame][j])
            });
            for (twist, w, value) in near.chain(held).filter(|(_, w, _)| *w > 0.0) {
                let row = own.by_rates(&twist);
                for (a, x) in row.iter().enumerate() {
                    let i = pose.root.function(a);
                    g[i] += w * x * value;
                    for (b, y) in row.iter().enumerate() {
                        let j = pose.root.function(b);
                        if j <= i {
                            A[i * n + j] += w * x * y;
                        }
                    }
                }
            }
        }
        for j in 0..n {
            if j < f.mobilities && !f.is_posed(j) {
                let w = f.coordinate_weight[j] + f.ridge[j];
                A[j * n + j] += w;
                g[j] += w * (room.x.q[j] - f.given[frame][j]);
            }
            for i in 0..j {
                A[i * n + j] = A[j * n + i];
            }
        }
        Terms { A, g, offsets, c: errors, J, Jp }
    }

    /// ∂c/∂p, row by row.
    fn parameter_columns(&self, room: &mut Room, pw: &mut ParameterWorkspace, rows: usize) -> Vec<f64> {
        let f = self.frames;
        let (n, count) = (f.mobilities, self.parameters.list.len());
        let mut Jp = vec![0.0; rows * count];
        if !self.inertial.is_empty() {
            let size = self.implicit.num_residuals();
            let list: Vec<Parameter> = self.inertial.iter().map(|(p, ..)| p.clone()).collect();
            let mut columns = vec![0.0; size * list.len()];
            let Room { x, xdot, controls, lambda, .. } = room;
            self.implicit.compute_parameter_jacobian(x, xdot, controls, lambda, &list, pw, &mut columns);
            for ((_, at, factor), column) in self.inertial.iter().zip(columns.chunks_exact(size)) {
                for (row, m) in f.root.clone().enumerate() {
                    Jp[row * count + at] += factor * column[n + m] / f.weight;
                }
            }
        }
        let t = room.x.time;
        for (at_number, (kind, sd)) in self.parameters.list.iter().enumerate() {
            match *kind {
                Kind::LoadOffset { load, axis } => {
                    let Some(Some([x, y, z])) = self.forces.get(load) else { continue };
                    let force = Vec3 { x: x.value(t), y: y.value(t), z: z.value(t) };
                    // A shifted force is the force and a moment, which every turn of the root carries.
                    let moment = Vec3::unit(axis).cross(force) * *sd;
                    for (row, m) in f.root.clone().enumerate() {
                        Jp[row * count + at_number] = -room.ws.kin.H[m].w.dot(moment) / f.weight;
                    }
                }
                Kind::LoadTwist { load } => {
                    let Some(Some(l)) = self.measured.get(load) else { continue };
                    let moment = at(&l.force, t) * *sd;
                    for (row, m) in f.root.clone().enumerate() {
                        Jp[row * count + at_number] = -room.ws.kin.H[m].w.dot(moment) / f.weight;
                    }
                }
                Kind::LoadGain { load } | Kind::LoadTilt { load, .. } => {
                    let Some(Some(l)) = self.measured.get(load) else { continue };
                    let change = |v: Vec3<f64>| match *kind {
                        Kind::LoadTilt { axis, .. } => Vec3::unit(axis).cross(v) * *sd,
                        _ => v * *sd,
                    };
                    let force = change(at(&l.force, t));
                    let torque = l.torque.as_ref().map_or(Vec3::zero(), |l| change(at(l, t)));
                    // More of the force at its point, as a wrench about the origin of the body.
                    let arm = at(&l.point, t) - room.ws.kin.X_GB[l.node].p;
                    let mut wrenches = vec![SpatialVec::zero(); self.system.tree.nodes.len()];
                    wrenches[l.node] = SpatialVec { w: arm.cross(force) + torque, v: force };
                    let mut loads = vec![0.0; n];
                    compute_generalized_forces(&self.system.tree, &room.ws.kin, &mut wrenches, &mut loads);
                    for (row, m) in f.root.clone().enumerate() {
                        Jp[row * count + at_number] = -loads[m] / f.weight;
                    }
                }
                Kind::LoadDelay => {
                    let mut x: State<Dual<f64, 1>> = room.x.lift();
                    x.time = Dual::variable(t, 0);
                    let lift = |v: &[f64]| v.iter().map(|v| Dual::new(*v, [0.0])).collect::<Vec<_>>();
                    let mut ws = self.system.workspace::<Dual<f64, 1>>();
                    let mut r = vec![Dual::new(0.0, [0.0]); room.r.len()];
                    let (xdot, e, l) = (lift(&room.xdot), lift(&room.controls), lift(&room.lambda));
                    self.implicit.compute_residual_along(&x, &xdot, &e, &l, &mut ws, &mut r);
                    for (row, m) in f.root.clone().enumerate() {
                        Jp[row * count + at_number] = -sd * r[n + m].d[0] / f.weight;
                    }
                }
                _ => {}
            }
        }
        Jp
    }

    /// The parts of (1) that single frames have, and the errors of the equations, frame by frame.
    pub fn cost(&self, basis: &Basis, c: &[f64]) -> (f64, Vec<f64>) {
        let f = self.frames;
        let mut room = self.room();
        let (mut cost, mut errors) = (0.0, Vec::new());
        for frame in 0..basis.len() {
            self.compute(basis, c, frame, &mut room);
            for (w, _, _, off) in f.markers(self.system, frame, &room.ws) {
                cost += 0.5 * w * off.norm_sq();
            }
            for j in 0..f.mobilities {
                let w = f.coordinate_weight[j] + f.ridge[j];
                cost += 0.5 * w * (room.x.q[j] - f.given[frame][j]).powi(2);
            }
            if let (Some(pose), Some(own)) = (&f.pose, &room.pose) {
                let squares = pose.off(own, frame).map(|v| v.norm_sq());
                cost += 0.5 * (pose.weights[0] * squares[0] + pose.weights[1] * squares[1]);
            }
            errors.extend(self.errors(&room));
        }
        (cost, errors)
    }

    /// How well the motion fits.
    pub fn fit(&self, basis: &Basis, c: &[f64]) -> Fit {
        let f = self.frames;
        let mut room = self.room();
        let mut fit = Fit::default();
        let (mut squares, mut seen) = (0.0, 0usize);
        let mut changes = [(0.0, 0usize); 2];
        let count = basis.len() as f64;
        for frame in 0..basis.len() {
            self.compute(basis, c, frame, &mut room);
            for (_, _, _, off) in f.markers(self.system, frame, &room.ws) {
                squares += off.norm_sq();
                seen += 1;
            }
            for j in (0..f.mobilities).filter(|j| !f.is_posed(*j)) {
                let (sum, number) = &mut changes[usize::from(!f.turns[j])];
                *sum += (room.x.q[j] - f.given[frame][j]).powi(2);
                *number += 1;
            }
            if let (Some(pose), Some(own)) = (&f.pose, &room.pose) {
                for ((sum, number), off) in changes.iter_mut().zip(pose.off(own, frame)) {
                    *sum += off.norm_sq();
                    *number += 3;
                }
            }
            let mut sums = [0.0; 2];
            for (i, r) in self.residuals(&room).into_iter().enumerate() {
                let is_moment = if f.pose.is_some() { i < 3 } else { f.turns[f.root.start + i] };
                sums[usize::from(is_moment)] += r * r;
            }
            for k in 0..2 {
                fit.residual_rms[k] += sums[k] / count;
                fit.residual_peak[k] = fit.residual_peak[k].max(sums[k].sqrt());
            }
        }
        fit.residual_rms = fit.residual_rms.map(f64::sqrt);
        fit.marker_rms = (squares / seen.max(1) as f64).sqrt();
        fit.coordinate_rms = changes.map(|(sum, number)| (sum / number.max(1) as f64).sqrt());
        fit
    }
}

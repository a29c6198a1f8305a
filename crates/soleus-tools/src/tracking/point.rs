//! Tracking of points along a direction, OpenSim's `CMC_Point`.
//!
//! With p the position of a body point in ground, or of the mass centre, and r a direction, the task tracks s = r · p:
//!
//!   a = kₐ s̈* + k_v (ṡ* − ṡ) + k_p (s* − s),   s̈ = J u̇ + r · a₀                                     (1)
//!
//! where J are the generalized forces of a unit force r at the point, and a₀ its acceleration at u̇ = 0.
//!
//! Relative to a moving body B (`express_body`), p and r are in its frame, and the motion of B is subtracted:
//!
//!   ṡ = r · (v − v_B),   s̈ = r · (a − a_B − 2 ω_B × (v − v_B))                                       (2)
//!
//! with v_B and a_B those of the point of B that coincides with p; J is that of r at the point on its body and of −r at
//! the same point on B.

use super::reference::{Course, Reference};
use crate::analysis::{HistoryError, Splines};
use soleus_dynamics::multibody::{compute_accelerations, compute_generalized_forces};
use soleus_dynamics::{Loads, State, System, Workspace};
use soleus_math::{SpatialVec, Vec3};
use soleus_model::Model;

/// A point that is tracked along one direction.
#[derive(Clone, Debug)]
pub struct FollowedPoint {
    /// Name of the task.
    pub name: String,
    /// Name of the body; `center_of_mass` for that of the whole model.
    pub body: String,
    /// Location on the body, m.
    pub location: Vec3<f64>,
    /// Unit vector, in ground or in the reference body.
    pub direction: Vec3<f64>,
    /// Name of the reference body; `None` for ground.
    pub frame: Option<String>,
    /// That body in the tree; 0 is ground.
    frame_node: usize,
    /// Nodes of the tree, a place on each, and its share.
    stations: Vec<(usize, Vec3<f64>, f64)>,
    course: Course,
}

/// Name of the mass centre of the whole model.
pub const CENTER_OF_MASS: &str = "center_of_mass";

impl FollowedPoint {
    /// A point of a body. `None` if there is no such body, or no mass.
    pub fn new(
        (model, system): (&Model, &System),
        name: &str,
        body: &str,
        [location, direction]: [Vec3<f64>; 2],
    ) -> Option<Self> {
        let node = |b: usize| system.tree.node_of_body[b];
        let stations: Vec<_> = match body {
            CENTER_OF_MASS => {
                let moving = || model.bodies.iter().enumerate().skip(1);
                let mass: f64 = moving().map(|(_, b)| b.mass).sum();
                if !(mass > 0.0) {
                    return None;
                }
                moving().map(|(i, b)| (node(i), b.mass_center, b.mass / mass)).collect()
            }
            _ => vec![(node(model.bodies.iter().position(|b| b.name == body)?), location, 1.0)],
        };
        Some(FollowedPoint {
            name: name.to_string(),
            body: body.to_string(),
            location,
            direction,
            frame: None,
            frame_node: 0,
            stations,
            course: Course::Constant(0.0),
        })
    }

    /// The same relative to a body. `None` if there is no such body.
    pub fn seen_from(mut self, (model, system): (&Model, &System), body: &str) -> Option<Self> {
        let at = model.bodies.iter().position(|b| b.name == body)?;
        self.frame_node = system.tree.node_of_body[at];
        self.frame = (self.frame_node != 0).then(|| body.to_string());
        Some(self)
    }

    /// The same with its own trajectory: positions over time (s), in ground or in the reference body (m).
    pub fn along(mut self, times: &[f64], places: [&[f64]; 3]) -> Result<Self, HistoryError> {
        let [x, y, z] = places;
        let along: Vec<f64> = (0..times.len())
            .map(|i| self.direction.x * x[i] + self.direction.y * y[i] + self.direction.z * z[i])
            .collect();
        self.course = match along.iter().all(|s| *s == along[0]) {
            true => Course::Constant(along.first().copied().unwrap_or(0.0)),
            false => Course::Spline(
                Splines::at(times)
                    .through(&along)
                    .map_err(|source| HistoryError::Column { name: self.name.clone(), source })?,
            ),
        };
        Ok(self)
    }

    /// The same with the trajectory of the point in a motion.
    pub fn along_motion(
        self,
        system: &System,
        reference: &Reference,
        times: &[f64],
    ) -> Result<Self, HistoryError> {
        let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
        let mut places = [const { Vec::new() }; 3];
        for &t in times {
            x.time = t;
            reference.pose(t, &mut x.q, &mut x.u);
            let p = self.place(system, &x, &mut ws);
            places.iter_mut().zip(p.to_array()).for_each(|(list, p)| list.push(p));
        }
        let [x, y, z] = &places;
        self.along(times, [x, y, z])
    }

    /// Where the point is in a state.
    fn place(&self, system: &System, x: &State<f64>, ws: &mut Workspace<f64>) -> Vec3<f64> {
        system.compute_kinematics(x, ws);
        let all = self.stations.iter().map(|&(b, p, share)| (ws.kin.X_GB[b] * p) * share);
        let X_GF = ws.kin.X_GB[self.frame_node];
        X_GF.R.inverse_mul(all.fold(Vec3::zero(), |sum, p| sum + p) - X_GF.p)
    }

    /// Name with direction: `hand_x`.
    pub fn label(&self) -> String {
        let axes = [("x", [1.0, 0.0, 0.0]), ("y", [0.0, 1.0, 0.0]), ("z", [0.0, 0.0, 1.0])];
        let [x, y, z] = self.direction.to_array();
        match axes.iter().find(|(_, axis)| *axis == [x, y, z]) {
            Some((axis, _)) => format!("{}_{axis}", self.name),
            None => format!("{}({x:.3},{y:.3},{z:.3})", self.name),
        }
    }

    /// s*, ṡ* and s̈* at a time.
    pub(super) fn wanted(&self, t: f64) -> [f64; 3] {
        self.course.with_slopes(t)
    }

    /// s and ṡ, after the kinematics of a state.
    pub(super) fn found(&self, ws: &Workspace<f64>) -> [f64; 2] {
        let mut sum = [0.0; 2];
        let (X_GF, V_GF) = (ws.kin.X_GB[self.frame_node], ws.kin.V_GB[self.frame_node]);
        let direction = X_GF.R * self.direction;
        for &(b, p_BS, share) in &self.stations {
            let (X, V) = (ws.kin.X_GB[b], ws.kin.V_GB[b]);
            let r = X.R * p_BS;
            let from_frame = X.p + r - X_GF.p;
            sum[0] += share * direction.dot(from_frame);
            sum[1] += share * direction.dot(V.v + V.w.cross(r) - V_GF.v - V_GF.w.cross(from_frame)); // (2)
        }
        sum
    }

    /// s̈, where `body` has the accelerations of the bodies.
    fn acceleration(&self, ws: &Workspace<f64>, body: &[SpatialVec<f64>]) -> f64 {
        let f = self.frame_node;
        let (X_GF, V_GF, A_GF) = (ws.kin.X_GB[f], ws.kin.V_GB[f], body[f]);
        let direction = X_GF.R * self.direction;
        let at = |V: SpatialVec<f64>, A: SpatialVec<f64>, r: Vec3<f64>| {
            (V.v + V.w.cross(r), A.v + A.w.cross(r) + V.w.cross(V.w.cross(r)))
        };
        let one = |&(b, p_BS, share): &(usize, Vec3<f64>, f64)| {
            let r = ws.kin.X_GB[b].R * p_BS;
            let (v, a) = at(ws.kin.V_GB[b], body[b], r);
            let (v_F, a_F) = at(V_GF, A_GF, ws.kin.X_GB[b].p + r - X_GF.p);
            share * direction.dot(a - a_F - V_GF.w.cross(v - v_F) * 2.0) // (2)
        };
        self.stations.iter().map(one).sum()
    }

    /// s̈ at the accelerations u̇ of `ws`, and the row J of (1); `body` is scratch, one entry per body.
    pub(super) fn compute(
        &self,
        system: &System,
        ws: &Workspace<f64>,
        body: &mut [SpatialVec<f64>],
        J: &mut [f64],
    ) -> f64 {
        body[0] = SpatialVec::zero();
        compute_accelerations(&system.tree, &ws.kin, &ws.udot, body);
        let acceleration = self.acceleration(ws, body);
        body.fill(SpatialVec::zero());
        J.fill(0.0);
        let kin = ws.kin.view(0.0);
        let direction = ws.kin.X_GB[self.frame_node].R * self.direction;
        for &(b, p_BS, share) in &self.stations {
            let p_GS = ws.kin.X_GB[b] * p_BS;
            let mut loads = Loads { body: &mut *body, mobility: &mut *J };
            loads.add_force_at(&kin, b, p_GS, direction * share);
            if self.frame_node != 0 {
                loads.add_force_at(&kin, self.frame_node, p_GS, direction * -share);
            }
        }
        compute_generalized_forces(&system.tree, &ws.kin, body, J);
        acceleration
    }
}

//! Springs and dampers between feet and ground, as in Thelen & Anderson (2006).
//!
//! Measured ground reactions act as measured, regardless of the position of the foot. To keep a foot near its measured
//! position, the foot point at the centre of pressure in the measured motion is connected to that centre, and its
//! orientation to the measured one,
//!
//!   F = α (K ∘ (p* − p) + B ∘ (v* − v)),   M = α (K_r ∘ θ + B_r ∘ (ω* − ω))                      (7), (8)
//!
//! with α the fraction of the vertical load on the foot, and θ the rotation from the current to the measured
//! orientation. There are no springs on a foot in the air. Axes are those of ground.

use super::Reference;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::system::{Actor, State};
use soleus_dynamics::{System, Workspace};
use soleus_math::{Vec3, vec3};
use soleus_model::Model;
use soleus_model::force::{ControlRange, Force, ForceKind, PointActuator, TorqueActuator};
use soleus_model::id::FrameId;

/// Stiffness and damping along and about the axes of ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringSettings {
    /// Stiffness, N/m.
    pub stiffness: [f64; 3],
    /// Rotational stiffness, N·m/rad.
    pub turning_stiffness: [f64; 3],
    /// Damping, N·s/m.
    pub damping: [f64; 3],
    /// Rotational damping, N·m·s/rad.
    pub turning_damping: [f64; 3],
}

impl Default for SpringSettings {
    /// Table 2 of Thelen & Anderson (2006), where y is up.
    fn default() -> Self {
        SpringSettings {
            stiffness: [1000.0, 10_000.0, 1000.0],
            turning_stiffness: [500.0; 3],
            damping: [20.0, 200.0, 20.0],
            turning_damping: [20.0; 3],
        }
    }
}

/// Names of the six actuators of a foot end so.
const ENDINGS: [&str; 6] = ["fx", "fy", "fz", "mx", "my", "mz"];
/// Loads that sum up to less than this part of the weight carry nobody.
const NO_LOAD: f64 = 0.01;

/// Adds actuators to a model for the springs of each measured force: forces at the origin of the body and moments, in
/// ground, of 1 N and 1 N·m. Returns their names, six for each measured force.
pub fn add_foot_springs(model: &mut Model) -> Vec<[String; 6]> {
    let mut names = Vec::new();
    let feet: Vec<(String, FrameId)> = model
        .forces
        .iter()
        .filter_map(|f| match &f.kind {
            ForceKind::ExternalForce(e) if f.enabled => Some((f.name.clone(), e.applied_to_body)),
            _ => None,
        })
        .collect();
    let ground = model.bodies[0].frame;
    for (name, body) in feet {
        let own = ENDINGS.map(|e| format!("{name}_spring_{e}"));
        for (k, n) in own.iter().enumerate() {
            let axis = Vec3::unit(k % 3);
            let kind = match k < 3 {
                true => ForceKind::PointActuator(PointActuator {
                    control: ControlRange::default(),
                    body,
                    point: Vec3::zero(),
                    point_is_global: false,
                    direction: axis,
                    force_is_global: true,
                    optimal_force: 1.0,
                }),
                false => ForceKind::TorqueActuator(TorqueActuator {
                    control: ControlRange::default(),
                    body_a: body,
                    body_b: ground,
                    torque_is_global: true,
                    axis,
                    optimal_force: 1.0,
                }),
            };
            let class = if k < 3 { "PointActuator" } else { "TorqueActuator" };
            model.forces.push(Force {
                path: format!("/forceset/{n}"),
                name: n.clone(),
                class: class.to_string(),
                enabled: true,
                line_of_action: None,
                kind,
            });
        }
        names.push(own);
    }
    names
}

/// The springs of all feet, as controls of their actuators.
#[derive(Clone, Debug)]
pub struct FootSprings {
    system: System,
    reference: Reference,
    settings: SpringSettings,
    feet: Vec<Foot>,
    /// The part of the load on each foot, and the point where its load acts.
    shares: Vec<(f64, Vec3<f64>)>,
    /// Direction up, and the weight, N.
    up: Vec3<f64>,
    weight: f64,
    wanted: State<f64>,
    there: Workspace<f64>,
    here: Workspace<f64>,
}

#[derive(Clone, Debug)]
struct Foot {
    /// The measured force.
    force: usize,
    /// The body, and the origin of the frame that the actuators act on, in it.
    body: usize,
    origin: Vec3<f64>,
    controls: [usize; 6],
}

impl FootSprings {
    /// For a model with these actuators; see [`add_foot_springs`].
    pub fn new(
        (model, system): (&Model, &System),
        reference: &Reference,
        names: &[[String; 6]],
        settings: SpringSettings,
    ) -> Self {
        let mut feet = Vec::new();
        for own in names {
            let measured = own[0].strip_suffix("_spring_fx").unwrap_or_default();
            let force = model.forces.iter().position(|f| f.name == measured);
            let controls = own.each_ref().map(|n| {
                let k = model.forces.iter().position(|f| f.name == *n);
                k.map_or(usize::MAX, |k| system.forces[k].controls.start)
            });
            if let Some(force) = force
                && let ForceKind::ExternalForce(e) = &model.forces[force].kind
                && !controls.contains(&usize::MAX)
            {
                let frame = &model.frames[e.applied_to_body.0];
                let body = system.tree.node_of_body[frame.body.0];
                feet.push(Foot { force, body, origin: frame.X_BF.p, controls });
            }
        }
        let g = model.gravity;
        let mass: f64 = model.bodies.iter().map(|b| b.mass).sum();
        FootSprings {
            up: if g.norm() > 0.0 { g * (-1.0 / g.norm()) } else { vec3(0.0, 1.0, 0.0) },
            weight: mass * g.norm(),
            wanted: system.default_state.clone(),
            there: system.workspace(),
            here: system.workspace(),
            system: system.clone(),
            reference: reference.clone(),
            settings,
            shares: Vec::with_capacity(feet.len()),
            feet,
        }
    }

    /// Indices of the controls of the springs.
    pub fn controls(&self) -> impl Iterator<Item = usize> + '_ {
        self.feet.iter().flat_map(|f| f.controls)
    }

    /// Adds the forces at a time and state to the controls.
    pub fn add(&mut self, t: f64, x: &State<f64>, controls: &mut [f64]) {
        if !self.place(t, x) {
            return;
        }
        let (there, here) = (self.there.kin.view(t), self.here.kin.view(t));
        for (foot, &(share, p)) in self.feet.iter().zip(&self.shares).filter(|(_, s)| s.0 > 0.0) {
            let (X, Y) = (there.X_GB[foot.body], here.X_GB[foot.body]);
            let (V, W) = (there.V_GB[foot.body], here.V_GB[foot.body]);
            let station = X.inverse_mul(p);
            let q = Y * station;
            let v = V.v + V.w.cross(p - X.p);
            let w = W.v + W.w.cross(q - Y.p);
            // sin θ times the axis of the turn from the orientation here to that there: half the skew part of R* Rᵀ.
            let half = |k: usize| (Y.R * Vec3::unit(k)).cross(X.R * Vec3::unit(k));
            let turn = (half(0) + half(1) + half(2)) * 0.5;
            let s = &self.settings;
            let force = each(s.stiffness, p - q) + each(s.damping, v - w);
            let moment = each(s.turning_stiffness, turn) + each(s.turning_damping, V.w - W.w);
            let moment = moment + (q - Y * foot.origin).cross(force);
            let all = [(force * share).to_array(), (moment * share).to_array()].concat();
            for (c, value) in foot.controls.iter().zip(all) {
                controls[*c] += value;
            }
        }
    }

    /// Adds the derivatives of their generalized forces by coordinates and speeds, −Jᵀ K J and −Jᵀ B J, at a state. Forces are small where
    /// feet are near their places: that J changes is neglected.
    pub fn add_derivatives(&mut self, x: &State<f64>, by_q: &mut [f64], by_u: &mut [f64]) {
        let t = x.time;
        if !self.place(t, x) {
            return;
        }
        let (there, here) = (self.there.kin.view(t), self.here.kin.view(t));
        let (tree, H, s) = (&self.system.tree, &self.here.kin.H, &self.settings);
        let n = tree.num_mobilities;
        for (foot, &(share, p)) in self.feet.iter().zip(&self.shares).filter(|(_, s)| s.0 > 0.0) {
            let q = here.X_GB[foot.body] * there.X_GB[foot.body].inverse_mul(p);
            // Velocity of the point and turning velocity by each speed of the bodies that carry the foot.
            let mut columns = Vec::new();
            let mut b = foot.body;
            while b != 0 {
                let (node, arm) = (&tree.nodes[b], q - here.X_GB[b].p);
                columns.extend((node.u0..node.u0 + node.nu).map(|m| (m, H[m].v + H[m].w.cross(arm), H[m].w)));
                b = node.parent;
            }
            for &(i, v, w) in &columns {
                for &(j, dv, dw) in &columns {
                    let of = |k, turning| share * (v.dot(each(k, dv)) + w.dot(each(turning, dw)));
                    by_q[i * n + j] -= of(s.stiffness, s.turning_stiffness);
                    by_u[i * n + j] -= of(s.damping, s.turning_damping);
                }
            }
        }
    }

    /// Puts the feet where they are and where they were measured, with the part of the load and its point on each; `false` if there is
    /// hardly any load.
    fn place(&mut self, t: f64, x: &State<f64>) -> bool {
        self.reference.pose(t, &mut self.wanted.q, &mut self.wanted.u);
        self.wanted.time = t;
        self.system.compute_kinematics(&self.wanted, &mut self.there);
        let there = self.there.kin.view(t);
        self.shares.clear();
        for foot in &self.feet {
            let timed = match &self.system.forces[foot.force].actor {
                Actor::Force(f) => match f.kernel() {
                    Kernel::Timed(f) => Some(f),
                    _ => None,
                },
                Actor::Muscle(_) => None,
            };
            let load = timed.and_then(|f| f.force(&there)).map_or(0.0, |f| f.dot(self.up).max(0.0));
            self.shares.push((load, timed.map_or(Vec3::zero(), |f| f.point(&there))));
        }
        let total: f64 = self.shares.iter().map(|s| s.0).sum();
        if !(total > NO_LOAD * self.weight) {
            return false;
        }
        self.shares.iter_mut().for_each(|s| s.0 /= total);
        self.system.compute_kinematics(x, &mut self.here);
        true
    }
}

fn each(k: [f64; 3], x: Vec3<f64>) -> Vec3<f64> {
    let x = x.to_array();
    vec3(k[0] * x[0], k[1] * x[1], k[2] * x[2])
}

//! Quantities of a state, by name.

use super::Evaluator;
use crate::error::{Error, nearest_hint};
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::multibody::compute_inverse_dynamics;
use soleus_dynamics::muscle::MuscleInfo;
use soleus_dynamics::{State, System, Workspace};
use soleus_math::{SpatialVec, Vec3};
use soleus_tools::analysis::mass_center_motion;
use std::fmt;

/// Stages of evaluation of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Poses and velocities of bodies.
    Kinematics,
    /// Lengths and speeds of paths, and coupling of coordinates by constraints.
    Paths,
    /// Accelerations and rates of all states.
    Motion,
    /// Accelerations of the bodies.
    BodyAccelerations,
}

impl Stage {
    /// Computes everything up to this stage. False if accelerations are undetermined: they are NaN then.
    pub(super) fn compute(
        self,
        s: &System,
        x: &State<f64>,
        controls: &[f64],
        ws: &mut Workspace<f64>,
    ) -> bool {
        match self {
            Stage::Kinematics => s.compute_kinematics(x, ws),
            Stage::Paths => {
                s.compute_kinematics(x, ws);
                s.compute_paths(x, ws);
                s.constraints.compute(&s.tree, &ws.kin, x.time, &mut ws.constraints);
            }
            Stage::Motion | Stage::BodyAccelerations => {
                let found = s.compute_motion(x, controls, ws).is_ok();
                if !found {
                    ws.udot.fill(f64::NAN);
                }
                if self == Stage::BodyAccelerations {
                    s.compute_body_accelerations(ws);
                }
                return found;
            }
        }
        true
    }
}

/// Quantities of a state.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A part of the state itself, after equilibration.
    State(Part),
    /// Rates of the coordinates.
    CoordinateRates,
    /// Accelerations.
    Accelerations,
    /// Rates of the states of forces.
    Rates,
    /// Multipliers of the constraints.
    Multipliers,
    /// Position errors of the constraints.
    ConstraintErrors,
    /// The mass matrix.
    MassMatrix,
    /// Generalized forces for given accelerations under gravity, without muscles and other forces.
    InverseDynamics,
    /// Position (0), velocity (1), acceleration (2) of the mass centre.
    MassCenter(usize),
    /// Kinetic energy, J.
    KineticEnergy,
    /// Potential energy, J.
    PotentialEnergy,
    /// A quantity of every body.
    Body(BodyQuantity),
    /// Positions of the markers in ground, m.
    Markers,
    /// A quantity of every muscle: an index into `MUSCLE`.
    Muscle(usize),
    /// Lengths of paths, m.
    PathLengths,
    /// Lengthening speeds of paths, m/s.
    PathSpeeds,
    /// Moment arms of all muscles about all coordinates, or about the one at an index, m.
    MomentArms(Option<usize>),
    /// Values reported by a force that is not a muscle.
    Force(usize),
}

/// A part of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Coordinates.
    Q,
    /// Speeds.
    U,
    /// States of forces.
    Z,
}

/// Quantities of a body, in ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyQuantity {
    /// Position of its origin, m.
    Position,
    /// Rotation matrix, row by row.
    Rotation,
    /// Velocity of its origin, m/s.
    Velocity,
    /// Angular velocity, rad/s.
    AngularVelocity,
    /// Acceleration of its origin, m/s².
    Acceleration,
    /// Angular acceleration, rad/s².
    AngularAcceleration,
}

type Field = fn(&MuscleInfo<f64>) -> f64;

macro_rules! fields {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), |i: &MuscleInfo<f64>| i.$name)),*] };
}

/// Quantities of a muscle.
pub const MUSCLE: &[(&str, Field)] = fields![
    length,
    lengthening_speed,
    excitation,
    activation,
    fiber_length,
    normalized_fiber_length,
    pennation_angle,
    cos_pennation_angle,
    tendon_length,
    tendon_strain,
    fiber_velocity,
    normalized_fiber_velocity,
    fiber_velocity_along_tendon,
    pennation_angular_velocity,
    tendon_velocity,
    active_force_length_multiplier,
    passive_force_multiplier,
    force_velocity_multiplier,
    fiber_force,
    fiber_force_along_tendon,
    active_fiber_force,
    passive_fiber_force,
    passive_fiber_elastic_force,
    passive_fiber_damping_force,
    active_fiber_force_along_tendon,
    passive_fiber_force_along_tendon,
    tendon_force,
    actuation,
    fiber_stiffness,
    fiber_stiffness_along_tendon,
    tendon_stiffness,
    muscle_stiffness,
    fiber_active_power,
    fiber_passive_power,
    tendon_power,
    muscle_power,
    fiber_potential_energy,
    muscle_potential_energy,
];

/// Quantities without a choice of their own.
const PLAIN: &[(&str, Quantity)] = &[
    ("q", Quantity::State(Part::Q)),
    ("u", Quantity::State(Part::U)),
    ("z", Quantity::State(Part::Z)),
    ("qdot", Quantity::CoordinateRates),
    ("udot", Quantity::Accelerations),
    ("zdot", Quantity::Rates),
    ("multipliers", Quantity::Multipliers),
    ("constraint_errors", Quantity::ConstraintErrors),
    ("mass_matrix", Quantity::MassMatrix),
    ("inverse_dynamics", Quantity::InverseDynamics),
    ("mass_center", Quantity::MassCenter(0)),
    ("mass_center_velocity", Quantity::MassCenter(1)),
    ("mass_center_acceleration", Quantity::MassCenter(2)),
    ("kinetic_energy", Quantity::KineticEnergy),
    ("potential_energy", Quantity::PotentialEnergy),
    ("body.position", Quantity::Body(BodyQuantity::Position)),
    ("body.rotation", Quantity::Body(BodyQuantity::Rotation)),
    ("body.velocity", Quantity::Body(BodyQuantity::Velocity)),
    ("body.angular_velocity", Quantity::Body(BodyQuantity::AngularVelocity)),
    ("body.acceleration", Quantity::Body(BodyQuantity::Acceleration)),
    ("body.angular_acceleration", Quantity::Body(BodyQuantity::AngularAcceleration)),
    ("markers", Quantity::Markers),
    ("path.length", Quantity::PathLengths),
    ("path.speed", Quantity::PathSpeeds),
    ("moment_arm", Quantity::MomentArms(None)),
];

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Muscle(i) => write!(f, "muscle.{}", MUSCLE[*i].0),
            Quantity::MomentArms(Some(i)) => write!(f, "moment_arm:{i}"),
            Quantity::Force(i) => write!(f, "force:{i}"),
            other => f.write_str(PLAIN.iter().find(|(_, q)| q == other).map_or("?", |(name, _)| name)),
        }
    }
}

impl Evaluator {
    /// A quantity by name: those of [`Evaluator::quantity_names`], and `moment_arm:COORDINATE` and `force:FORCE`.
    pub fn quantity(&self, name: &str) -> Result<Quantity, Error> {
        if let Some((_, q)) = PLAIN.iter().find(|(n, _)| *n == name) {
            return Ok(q.clone());
        }
        if let Some(i) = name.strip_prefix("muscle.").and_then(|n| MUSCLE.iter().position(|(m, _)| *m == n)) {
            return Ok(Quantity::Muscle(i));
        }
        if let Some(coordinate) = name.strip_prefix("moment_arm:") {
            return Ok(Quantity::MomentArms(Some(self.coordinate(coordinate)?)));
        }
        if let Some(force) = name.strip_prefix("force:") {
            let forces = || self.model.forces.iter().enumerate().filter(|(i, _)| !self.muscles().contains(i));
            let found = forces().find(|(_, f)| f.path == force || f.name == force);
            return found.map(|(i, _)| Quantity::Force(i)).ok_or_else(|| {
                let hint = nearest_hint("force", force, forces().map(|(_, f)| f.path.as_str()));
                self.wrong(format!("the model has no force `{force}` that is not a muscle"), &hint)
            });
        }
        let names = Evaluator::quantity_names();
        let hint = nearest_hint("quantity", name, names.iter().map(String::as_str));
        Err(self.wrong(format!("unknown quantity `{name}`"), &hint))
    }

    /// Names of all quantities without parameters.
    pub fn quantity_names() -> Vec<String> {
        let muscle = MUSCLE.iter().map(|(name, _)| format!("muscle.{name}"));
        PLAIN.iter().map(|(name, _)| name.to_string()).chain(muscle).collect()
    }
}

impl Quantity {
    /// Stage of evaluation that it needs.
    pub fn stage(&self) -> Stage {
        use BodyQuantity::{Acceleration, AngularAcceleration};
        match self {
            Quantity::State(_)
            | Quantity::CoordinateRates
            | Quantity::Markers
            | Quantity::MassCenter(0 | 1)
            | Quantity::KineticEnergy
            | Quantity::InverseDynamics => Stage::Kinematics,
            Quantity::Body(b) if !matches!(b, Acceleration | AngularAcceleration) => Stage::Kinematics,
            Quantity::Muscle(_)
            | Quantity::PathLengths
            | Quantity::PathSpeeds
            | Quantity::MomentArms(_)
            | Quantity::Force(_)
            | Quantity::PotentialEnergy
            | Quantity::ConstraintErrors => Stage::Paths,
            Quantity::Body(_) | Quantity::MassCenter(_) => Stage::BodyAccelerations,
            _ => Stage::Motion,
        }
    }

    pub(super) fn needs_udot(&self) -> bool {
        *self == Quantity::InverseDynamics
    }

    /// Shape of the values of one state; empty for a number.
    pub fn shape(&self, e: &Evaluator) -> Vec<usize> {
        let (s, l) = (&*e.system, e.layout());
        let n = s.tree.num_mobilities;
        match self {
            Quantity::State(Part::Z) | Quantity::Rates => vec![s.num_aux],
            Quantity::State(_)
            | Quantity::CoordinateRates
            | Quantity::Accelerations
            | Quantity::InverseDynamics => vec![n],
            Quantity::Multipliers => vec![s.constraints.num_rows()],
            Quantity::ConstraintErrors => vec![s.constraints.num_position()],
            Quantity::MassMatrix => vec![n, n],
            Quantity::MassCenter(_) => vec![3],
            Quantity::KineticEnergy | Quantity::PotentialEnergy => Vec::new(),
            Quantity::Body(BodyQuantity::Rotation) => vec![l.bodies.len(), 3, 3],
            Quantity::Body(_) => vec![l.bodies.len(), 3],
            Quantity::Markers => vec![l.markers.len(), 3],
            Quantity::Muscle(_) | Quantity::MomentArms(Some(_)) => vec![l.muscles.len()],
            Quantity::MomentArms(None) => vec![l.muscles.len(), n],
            Quantity::PathLengths | Quantity::PathSpeeds => vec![l.paths.len()],
            Quantity::Force(i) => vec![e.force_labels(*i).len()],
        }
    }

    /// Number of values per state.
    pub fn size(&self, e: &Evaluator) -> usize {
        self.shape(e).iter().product()
    }

    /// Labels of the values along the first axis: paths of coordinates, muscles, bodies; empty if they have no names.
    pub fn labels(&self, e: &Evaluator) -> Vec<String> {
        let l = e.layout();
        match self {
            Quantity::State(Part::Z) | Quantity::Rates => l.states.clone(),
            Quantity::State(_)
            | Quantity::CoordinateRates
            | Quantity::Accelerations
            | Quantity::InverseDynamics
            | Quantity::MassMatrix => l.coordinates.clone(),
            Quantity::Body(_) => l.bodies.clone(),
            Quantity::Markers => l.markers.clone(),
            Quantity::Muscle(_) | Quantity::MomentArms(_) => l.muscles.clone(),
            Quantity::PathLengths | Quantity::PathSpeeds => l.paths.clone(),
            Quantity::Force(i) => e.force_labels(*i),
            Quantity::MassCenter(_) => ["x", "y", "z"].map(String::from).to_vec(),
            _ => Vec::new(),
        }
    }

    /// Writes the values at a state that was computed far enough.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn write(
        &self,
        e: &Evaluator,
        x: &State<f64>,
        controls: &[f64],
        udot: &[f64],
        ws: &Workspace<f64>,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let s = &*e.system;
        let n = s.tree.num_mobilities;
        match self {
            Quantity::State(Part::Q) => out.copy_from_slice(&x.q),
            Quantity::State(Part::U) => out.copy_from_slice(&x.u),
            Quantity::State(Part::Z) => out.copy_from_slice(&x.z),
            Quantity::CoordinateRates => s.compute_coordinate_rates(x, out),
            Quantity::Accelerations => out.copy_from_slice(&ws.udot),
            Quantity::Rates => out.copy_from_slice(&ws.zdot),
            Quantity::Multipliers => out.copy_from_slice(&ws.constraints.lambda),
            Quantity::ConstraintErrors => out.copy_from_slice(&ws.constraints.qerr),
            Quantity::MassMatrix => {
                for i in 0..n {
                    for j in 0..n {
                        out[i * n + j] = ws.mass.at(i, j);
                    }
                }
            }
            Quantity::InverseDynamics => {
                s.compute_gravity(&ws.kin, &mut scratch.gravity);
                let Scratch { gravity, A, F, .. } = scratch;
                A[0] = SpatialVec::zero();
                compute_inverse_dynamics(&s.tree, &ws.kin, udot, gravity, A, F, out);
            }
            Quantity::MassCenter(k) => out.copy_from_slice(&mass_center_motion(ws)[*k].to_array()),
            Quantity::KineticEnergy => {
                let bodies = ws.kin.V_GB.iter().zip(&ws.kin.inertia);
                out[0] = bodies.map(|(v, i)| 0.5 * v.dot(i.momentum(*v))).sum();
            }
            Quantity::PotentialEnergy => {
                let mass: f64 = ws.kin.inertia.iter().map(|i| i.mass).sum();
                let height = s.gravity.dot(mass_center_motion(ws)[0]);
                out[0] = s.energy_of_forces(x, controls, ws) - mass * height;
            }
            Quantity::Body(what) => {
                let size = if *what == BodyQuantity::Rotation { 9 } else { 3 };
                for (b, out) in out.chunks_exact_mut(size).enumerate() {
                    let k = s.tree.node_of_body[b + 1];
                    let (X, V, A) = (ws.kin.X_GB[k], ws.kin.V_GB[k], ws.A_GB[k]);
                    let mut put = |v: Vec3<f64>| out.copy_from_slice(&v.to_array());
                    match what {
                        BodyQuantity::Position => put(X.p),
                        BodyQuantity::Velocity => put(V.v),
                        BodyQuantity::AngularVelocity => put(V.w),
                        BodyQuantity::Acceleration => put(A.v),
                        BodyQuantity::AngularAcceleration => put(A.w),
                        BodyQuantity::Rotation => {
                            (0..9).for_each(|j| out[j] = X.R.0.at(j / 3, j % 3));
                        }
                    }
                }
            }
            Quantity::Markers => {
                for (m, out) in s.markers.iter().zip(out.chunks_exact_mut(3)) {
                    out.copy_from_slice(&(ws.kin.X_GB[m.body] * m.p_BS).to_array());
                }
            }
            Quantity::Muscle(field) => {
                scratch.compute_muscles(e, x, controls, ws);
                let of = MUSCLE[*field].1;
                scratch.muscles.iter().zip(out).for_each(|(info, out)| *out = of(info));
            }
            Quantity::PathLengths => {
                e.paths().iter().zip(out).for_each(|(&i, out)| *out = ws.paths[i].length());
            }
            Quantity::PathSpeeds => {
                e.paths().iter().zip(out).for_each(|(&i, out)| *out = ws.paths[i].speed());
            }
            Quantity::MomentArms(about) => {
                let mut arms = MomentArms::new(s, ws);
                let width = if about.is_some() { 1 } else { n };
                for (&i, out) in e.muscles().iter().zip(out.chunks_exact_mut(width)) {
                    arms.compute_path(s, ws, i);
                    match about {
                        Some(m) => out[0] = arms.arm(*m),
                        None => out.iter_mut().enumerate().for_each(|(m, out)| *out = arms.arm(m)),
                    }
                }
            }
            Quantity::Force(i) => {
                scratch.values.clear();
                s.record_force(*i, x, controls, ws, &mut scratch.values);
                out.copy_from_slice(&scratch.values);
            }
        }
    }
}

impl Evaluator {
    /// Labels of the values that a force reports.
    fn force_labels(&self, i: usize) -> Vec<String> {
        match &self.system.forces[i].actor {
            soleus_dynamics::system::Actor::Force(c) => c.labels().iter().map(ToString::to_string).collect(),
            soleus_dynamics::system::Actor::Muscle(_) => Vec::new(),
        }
    }
}

/// Memory of quantities.
pub(super) struct Scratch {
    gravity: Vec<SpatialVec<f64>>,
    A: Vec<SpatialVec<f64>>,
    F: Vec<SpatialVec<f64>>,
    values: Vec<f64>,
    /// What was found about the muscles of this state; empty before.
    muscles: Vec<MuscleInfo<f64>>,
}

impl Scratch {
    pub fn new(s: &System) -> Self {
        let room = vec![SpatialVec::zero(); s.tree.nodes.len()];
        Scratch { gravity: room.clone(), A: room.clone(), F: room, values: Vec::new(), muscles: Vec::new() }
    }

    /// Resets the cache for the next state.
    pub fn forget(&mut self) {
        self.muscles.clear();
    }

    fn compute_muscles(&mut self, e: &Evaluator, x: &State<f64>, controls: &[f64], ws: &Workspace<f64>) {
        if self.muscles.is_empty() {
            self.muscles.extend(e.muscles().iter().filter_map(|&i| e.system.muscle_info(i, x, controls, ws)));
        }
    }
}

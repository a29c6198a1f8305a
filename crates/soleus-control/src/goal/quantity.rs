//! Quantities of a model at one time, as functions of the variables of a problem.

use super::initial::Equilibrium;
use crate::problem::PointVariable;
use soleus_dynamics::constraint::Station;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::implicit::Reaction;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_dynamics::multibody::{compute_accelerations, compute_inverse_dynamics};
use soleus_dynamics::muscle::MuscleInfo;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{BodyFrame, Loads, State, System, Workspace};
use soleus_math::{Real, SpatialVec, Vec3};

/// Quantity of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameMotion {
    /// Origin in ground, m.
    Position,
    /// Velocity of the origin in ground, m/s.
    LinearVelocity,
    /// Acceleration of the origin in ground, m/s².
    LinearAcceleration,
    /// Angular velocity in ground, rad/s.
    AngularVelocity,
    /// Angular velocity in the frame itself, rad/s: what a gyroscope measures.
    OwnAngularVelocity,
    /// Angular acceleration in ground, rad/s².
    AngularAcceleration,
    /// Angular and linear velocity.
    Velocity,
    /// Angular and linear acceleration.
    Acceleration,
    /// Acceleration of the origin minus gravity, in the frame itself: what an inertial sensor measures.
    ProperAcceleration,
    /// Acceleration of the origin, in the frame itself.
    OwnAcceleration,
    /// Acceleration of the origin minus gravity, in ground.
    AccelerationWithoutGravity,
    /// Axes of the frame in ground, one after another: nine numbers.
    Rotation,
}

/// Quantities of a muscle, by OpenSim's names of its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum MuscleQuantity {
    Excitation,
    Activation,
    FiberLength,
    NormalizedFiberLength,
    FiberVelocity,
    NormalizedFiberVelocity,
    PennationAngle,
    TendonLength,
    TendonStrain,
    TendonForce,
    FiberForce,
    FiberForceAlongTendon,
    ActiveFiberForce,
    ActiveFiberForceAlongTendon,
    PassiveFiberForce,
    PassiveFiberForceAlongTendon,
    ActiveForceLengthMultiplier,
    PassiveForceMultiplier,
    ForceVelocityMultiplier,
    FiberActivePower,
    FiberPassivePower,
    TendonPower,
    MusclePower,
}

impl MuscleQuantity {
    /// By the name of OpenSim's output.
    pub fn from_name(name: &str) -> Option<MuscleQuantity> {
        use MuscleQuantity as Q;
        Some(match name {
            "excitation" => Q::Excitation,
            "activation" => Q::Activation,
            "fiber_length" => Q::FiberLength,
            "normalized_fiber_length" => Q::NormalizedFiberLength,
            "fiber_velocity" => Q::FiberVelocity,
            "normalized_fiber_velocity" => Q::NormalizedFiberVelocity,
            "pennation_angle" => Q::PennationAngle,
            "tendon_length" => Q::TendonLength,
            "tendon_strain" => Q::TendonStrain,
            "tendon_force" => Q::TendonForce,
            "fiber_force" => Q::FiberForce,
            "fiber_force_along_tendon" => Q::FiberForceAlongTendon,
            "active_fiber_force" => Q::ActiveFiberForce,
            "active_fiber_force_along_tendon" => Q::ActiveFiberForceAlongTendon,
            "passive_fiber_force" => Q::PassiveFiberForce,
            "passive_fiber_force_along_tendon" => Q::PassiveFiberForceAlongTendon,
            "active_force_length_multiplier" => Q::ActiveForceLengthMultiplier,
            "passive_force_multiplier" => Q::PassiveForceMultiplier,
            "force_velocity_multiplier" => Q::ForceVelocityMultiplier,
            "fiber_active_power" => Q::FiberActivePower,
            "fiber_passive_power" => Q::FiberPassivePower,
            "tendon_power" => Q::TendonPower,
            "muscle_power" => Q::MusclePower,
            _ => return None,
        })
    }

    fn of<T: Real>(self, m: &MuscleInfo<T>) -> T {
        use MuscleQuantity as Q;
        match self {
            Q::Excitation => m.excitation,
            Q::Activation => m.activation,
            Q::FiberLength => m.fiber_length,
            Q::NormalizedFiberLength => m.normalized_fiber_length,
            Q::FiberVelocity => m.fiber_velocity,
            Q::NormalizedFiberVelocity => m.normalized_fiber_velocity,
            Q::PennationAngle => m.pennation_angle,
            Q::TendonLength => m.tendon_length,
            Q::TendonStrain => m.tendon_strain,
            Q::TendonForce => m.tendon_force,
            Q::FiberForce => m.fiber_force,
            Q::FiberForceAlongTendon => m.fiber_force_along_tendon,
            Q::ActiveFiberForce => m.active_fiber_force,
            Q::ActiveFiberForceAlongTendon => m.active_fiber_force_along_tendon,
            Q::PassiveFiberForce => m.passive_fiber_force,
            Q::PassiveFiberForceAlongTendon => m.passive_fiber_force_along_tendon,
            Q::ActiveForceLengthMultiplier => m.active_force_length_multiplier,
            Q::PassiveForceMultiplier => m.passive_force_multiplier,
            Q::ForceVelocityMultiplier => m.force_velocity_multiplier,
            Q::FiberActivePower => m.fiber_active_power,
            Q::FiberPassivePower => m.fiber_passive_power,
            Q::TendonPower => m.tendon_power,
            Q::MusclePower => m.muscle_power,
        }
    }
}

/// One or more numbers of a model at one time.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// A variable of the problem itself.
    Variable(PointVariable),
    /// Motion of a frame.
    Frame(BodyFrame, FrameMotion),
    /// Position (0), velocity (1) or acceleration (2) of a point, in ground.
    Point(Station, usize),
    /// Position (0), velocity (1) or acceleration (2) of the center of mass, in ground.
    MassCenter(usize),
    /// ½ Σ Vᵀ I V, J.
    KineticEnergy,
    /// Length of a force's path, m.
    PathLength(usize),
    /// Lengthening speed of a force's path, m/s.
    PathSpeed(usize),
    /// Tension of a path force, or the force or moment of an actuator, N or N·m.
    Actuation(usize),
    /// Speed conjugate to the force of an actuator.
    ActuatorSpeed(usize),
    /// Power of an actuator, W.
    ActuatorPower(usize),
    /// A quantity of a muscle.
    Muscle(usize, MuscleQuantity),
    /// How far a muscle with a compliant tendon is from equilibrium.
    Equilibrium(usize, Equilibrium),
    /// Metabolic power of these muscles, W.
    Metabolics(Box<MetabolicProbe>, Vec<usize>),
    /// Sum of contact forces on a body (node), N, in ground.
    Contact(Vec<(usize, usize)>),
    /// Moment and force of a joint: six numbers.
    Reaction(Reaction),
    /// Generalized forces M u̇ + c − gravity − (some forces) at some mobilities.
    GeneralizedForces {
        /// Mobilities.
        mobilities: Vec<usize>,
        /// Forces that are subtracted.
        forces: Vec<usize>,
    },
}

/// Values of all variables, and room to compute with them.
pub(super) struct Memory<T: Real> {
    pub x: State<T>,
    pub ws: Workspace<T>,
    pub controls: Vec<T>,
    pub lambda: Vec<T>,
    zdot: Vec<T>,
    F: Vec<SpatialVec<T>>,
    tau: Vec<T>,
}

impl<T: Real> Memory<T> {
    pub fn new(s: &System) -> Memory<T> {
        let nb = s.tree.nodes.len();
        Memory {
            x: s.default_state.lift(),
            ws: s.workspace(),
            controls: vec![T::zero(); s.num_controls],
            lambda: vec![T::zero(); s.constraints.num_rows()],
            zdot: vec![T::zero(); s.num_aux],
            F: vec![SpatialVec::zero(); nb],
            tau: vec![T::zero(); s.tree.num_mobilities],
        }
    }

    /// Takes in the value of a variable.
    pub fn set(&mut self, variable: PointVariable, value: T) {
        let n = self.x.q.len();
        match variable {
            PointVariable::Time => self.x.time = value,
            PointVariable::State(i) if i < n => self.x.q[i] = value,
            PointVariable::State(i) if i < 2 * n => self.x.u[i - n] = value,
            PointVariable::State(i) => self.x.z[i - 2 * n] = value,
            PointVariable::Rate(i) if i < n => {}
            PointVariable::Rate(i) if i < 2 * n => self.ws.udot[i - n] = value,
            PointVariable::Rate(i) => self.zdot[i - 2 * n] = value,
            PointVariable::Control(i) => self.controls[i] = value,
            PointVariable::Multiplier(i) => self.lambda[i] = value,
            PointVariable::Parameter(_) | PointVariable::Phase => {}
        }
    }

    /// Paths, poses, velocities and, if asked for, accelerations.
    pub fn prepare(&mut self, s: &System, paths: &[usize], accelerations: bool) {
        s.compute_kinematics(&self.x, &mut self.ws);
        for &i in paths {
            s.compute_path(i, &self.x, &mut self.ws);
        }
        if accelerations {
            self.ws.A_GB[0] = SpatialVec::zero();
            compute_accelerations(&s.tree, &self.ws.kin, &self.ws.udot, &mut self.ws.A_GB);
        }
    }

    fn point(&self, at: Station) -> [Vec3<T>; 3] {
        let (X, V, A) = (self.ws.kin.X_GB[at.body], self.ws.kin.V_GB[at.body], self.ws.A_GB[at.body]);
        let r = X.R * Vec3::cst(at.p_BS);
        [X.p + r, V.v + V.w.cross(r), A.v + A.w.cross(r) + V.w.cross(V.w.cross(r))]
    }

    /// Tension of a force along its path.
    fn tension(&self, s: &System, i: usize) -> T {
        let (f, st) = (&s.forces[i], &self.ws.paths[i]);
        if !f.enabled {
            return T::zero();
        }
        let (z, zdot) = (&self.x.z[f.states.clone()], &self.zdot[f.states.clone()]);
        let e = self.controls[f.controls.clone()].first().copied().unwrap_or(T::zero());
        match &f.actor {
            Actor::Muscle(m) => {
                let mut r = [T::zero(); 3];
                m.residual(st.length(), st.speed(), e, z, zdot, &mut r[..z.len()])
            }
            Actor::Force(c) => {
                c.path_force().map_or(T::zero(), |law| law.tension(st.length(), st.speed(), e, z))
            }
        }
    }

    /// Loads of some forces on top of gravity, in the workspace.
    fn load(&mut self, s: &System, forces: impl Iterator<Item = usize>) {
        s.compute_gravity(&self.ws.kin, &mut self.ws.body_load);
        self.ws.mobility_load.fill(T::zero());
        for i in forces {
            let f = &s.forces[i];
            if !f.enabled {
                continue;
            }
            let Some(p) = &f.path else {
                s.add_force(i, &self.x, &self.controls, &mut self.ws);
                continue;
            };
            let tension = self.tension(s, i);
            let kin = self.ws.kin.view(self.x.time);
            let mut loads = Loads { body: &mut self.ws.body_load, mobility: &mut self.ws.mobility_load };
            p.apply_tension(&kin, &self.ws.paths[i], tension, &mut loads);
        }
    }

    fn inverse_dynamics(&mut self, s: &System) {
        let mut A = std::mem::take(&mut self.ws.A_GB);
        let (udot, load) = (&self.ws.udot, &self.ws.body_load);
        compute_inverse_dynamics(&s.tree, &self.ws.kin, udot, load, &mut A, &mut self.F, &mut self.tau);
        self.ws.A_GB = A;
    }
}

/// States, controls and mobilities of coordinates that the path of a force depends on.
fn path_variables(s: &System, i: usize) -> Vec<PointVariable> {
    let n = s.tree.num_mobilities;
    let mut q = Vec::new();
    if let Some(p) = &s.forces[i].path {
        q = p.coordinates();
        q.extend(p.bodies().iter().flat_map(|&b| s.tree.supports(b)));
    }
    q.into_iter().flat_map(|m| [PointVariable::State(m), PointVariable::State(n + m)]).collect()
}

/// Variables of a force's own.
fn own_variables(s: &System, i: usize, rates: bool) -> Vec<PointVariable> {
    let (f, n) = (&s.forces[i], s.tree.num_mobilities);
    let mut list: Vec<_> = f.states.clone().map(|k| PointVariable::State(2 * n + k)).collect();
    list.extend(f.controls.clone().map(PointVariable::Control));
    if rates {
        list.extend(f.states.clone().map(|k| PointVariable::Rate(2 * n + k)));
    }
    list
}

/// q, u and u̇ of mobilities, as many of them as `levels` says.
fn motion_variables(s: &System, mobilities: &[usize], levels: usize) -> Vec<PointVariable> {
    let n = s.tree.num_mobilities;
    let each = |&m: &usize| {
        let all = [PointVariable::State(m), PointVariable::State(n + m), PointVariable::Rate(n + m)];
        all.into_iter().take(levels)
    };
    mobilities.iter().flat_map(each).collect()
}

impl Quantity {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Quantity::Frame(_, FrameMotion::Velocity | FrameMotion::Acceleration) | Quantity::Reaction(_) => {
                6
            }
            Quantity::Frame(_, FrameMotion::Rotation) => 9,
            Quantity::Frame(..) | Quantity::Point(..) | Quantity::MassCenter(_) | Quantity::Contact(_) => 3,
            Quantity::GeneralizedForces { mobilities, .. } => mobilities.len(),
            _ => 1,
        }
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forces whose paths are needed.
    pub(super) fn paths(&self, s: &System) -> Vec<usize> {
        match self {
            Quantity::PathLength(i)
            | Quantity::PathSpeed(i)
            | Quantity::Actuation(i)
            | Quantity::ActuatorSpeed(i)
            | Quantity::ActuatorPower(i)
            | Quantity::Muscle(i, _)
            | Quantity::Equilibrium(i, _) => vec![*i],
            Quantity::Metabolics(_, list) => list.clone(),
            Quantity::Reaction(_) => (0..s.forces.len()).collect(),
            Quantity::GeneralizedForces { forces, .. } => forces.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether accelerations of bodies are needed.
    pub(super) fn needs_accelerations(&self) -> bool {
        match self {
            Quantity::Frame(_, m) => m.level() == 2,
            Quantity::Point(_, level) | Quantity::MassCenter(level) => *level == 2,
            _ => false,
        }
    }

    /// Variables of the problem that it depends on, time not among them; some may come twice.
    pub(super) fn variables(&self, s: &System) -> Vec<PointVariable> {
        let all: Vec<usize> = (0..s.tree.num_mobilities).collect();
        match self {
            Quantity::Variable(PointVariable::Time) => Vec::new(),
            Quantity::Variable(v) => vec![*v],
            Quantity::Frame(f, m) => motion_variables(s, &s.tree.supports(f.body), m.level() + 1),
            Quantity::Point(p, level) => motion_variables(s, &s.tree.supports(p.body), level + 1),
            Quantity::MassCenter(level) => motion_variables(s, &all, level + 1),
            Quantity::KineticEnergy => motion_variables(s, &all, 2),
            Quantity::PathLength(i) | Quantity::PathSpeed(i) => path_variables(s, *i),
            Quantity::Muscle(i, _) => {
                let mut list = path_variables(s, *i);
                list.extend(own_variables(s, *i, false));
                list
            }
            Quantity::Equilibrium(i, of) => {
                let mut list = path_variables(s, *i);
                list.extend(own_variables(s, *i, *of == Equilibrium::Velocity));
                list
            }
            Quantity::Metabolics(_, forces) => {
                let each = |&i: &usize| [path_variables(s, i), own_variables(s, i, false)].concat();
                forces.iter().flat_map(each).collect()
            }
            Quantity::Actuation(i) | Quantity::ActuatorSpeed(i) | Quantity::ActuatorPower(i) => {
                let mut list = path_variables(s, *i);
                list.extend(own_variables(s, *i, true));
                if let (Actor::Force(c), None) = (&s.forces[*i].actor, &s.forces[*i].path) {
                    let (bodies, mut mobilities) = c.touches();
                    mobilities.extend(bodies.iter().flat_map(|&b| s.tree.supports(b)));
                    list.extend(motion_variables(s, &mobilities, 2));
                }
                list
            }
            Quantity::Contact(list) => {
                let bodies = |&(i, _): &(usize, usize)| match &s.forces[i].actor {
                    Actor::Force(c) => c.touches().0,
                    Actor::Muscle(_) => Vec::new(),
                };
                let mut mobilities: Vec<usize> =
                    list.iter().flat_map(bodies).flat_map(|b| s.tree.supports(b)).collect();
                mobilities.sort_unstable();
                mobilities.dedup();
                motion_variables(s, &mobilities, 2)
            }
            Quantity::Reaction(_) => {
                let mut list = motion_variables(s, &all, 3);
                list.extend((0..s.forces.len()).flat_map(|i| own_variables(s, i, true)));
                list.extend((0..s.constraints.num_rows()).map(PointVariable::Multiplier));
                list
            }
            Quantity::GeneralizedForces { forces, .. } => {
                let mut list = motion_variables(s, &all, 3);
                list.extend(forces.iter().flat_map(|&i| own_variables(s, i, true)));
                list
            }
        }
    }

    /// Appends its numbers, after [`Memory::prepare`]; `own` are the values of a variable by itself.
    pub(super) fn compute<T: Real>(&self, s: &System, m: &mut Memory<T>, own: T, out: &mut Vec<T>) {
        match self {
            Quantity::Variable(_) => out.push(own),
            Quantity::Frame(f, motion) => motion.compute(s, f, m, out),
            Quantity::Point(p, level) => out.extend(m.point(*p)[*level].to_array()),
            Quantity::MassCenter(level) => {
                let (mut sum, mut mass) = (Vec3::zero(), T::zero());
                for (b, i) in m.ws.kin.inertia.iter().enumerate() {
                    let (X, V, A, h) = (m.ws.kin.X_GB[b], m.ws.kin.V_GB[b], m.ws.A_GB[b], i.moment);
                    mass += i.mass;
                    sum += match level {
                        0 => X.p * i.mass + h,
                        1 => V.v * i.mass + V.w.cross(h),
                        _ => A.v * i.mass + A.w.cross(h) + V.w.cross(V.w.cross(h)),
                    };
                }
                out.extend((sum / mass).to_array());
            }
            Quantity::KineticEnergy => {
                let bodies = m.ws.kin.inertia.iter().zip(&m.ws.kin.V_GB);
                out.push(bodies.map(|(i, &V)| V.dot(i.momentum(V)) * 0.5).sum());
            }
            Quantity::PathLength(i) => out.push(m.ws.paths[*i].length()),
            Quantity::PathSpeed(i) => out.push(m.ws.paths[*i].speed()),
            Quantity::Actuation(i) => out.push(actuator(s, m, *i)[0]),
            Quantity::ActuatorSpeed(i) => out.push(actuator(s, m, *i)[1]),
            Quantity::ActuatorPower(i) => out.push(actuator(s, m, *i)[2]),
            Quantity::Muscle(i, q) => {
                let info = s.muscle_info(*i, &m.x, &m.controls, &m.ws);
                out.push(info.map_or(T::zero(), |info| q.of(&info)));
            }
            Quantity::Equilibrium(i, of) => {
                let (f, path) = (&s.forces[*i], &m.ws.paths[*i]);
                let inputs = [path.length(), path.speed(), m.controls[f.controls.start]];
                let (z, zdot) = (&m.x.z[f.states.clone()], &m.zdot[f.states.clone()]);
                out.push(of.compute(s, *i, inputs, z, zdot));
            }
            Quantity::Metabolics(probe, _) => {
                let first = out.len();
                probe.rates(s, &m.x, &m.controls, &m.ws, out);
                out.truncate(first + 1);
            }
            Quantity::Contact(list) => {
                let mut sum = Vec3::zero();
                for &(force, body) in list {
                    m.ws.body_load.fill(SpatialVec::zero());
                    s.add_force(force, &m.x, &m.controls, &mut m.ws);
                    sum += m.ws.body_load[body].v;
                }
                out.extend(sum.to_array());
            }
            Quantity::Reaction(r) => {
                m.load(s, 0..s.forces.len());
                let mut loads = Loads { body: &mut m.ws.body_load, mobility: &mut m.ws.mobility_load };
                s.constraints.add_reactions(&s.tree, &m.ws.kin, &m.lambda, &mut loads);
                m.inverse_dynamics(s);
                out.extend(r.express(&m.ws.kin, m.F[r.node]));
            }
            Quantity::GeneralizedForces { mobilities, forces } => {
                m.load(s, forces.iter().copied());
                m.inverse_dynamics(s);
                out.extend(mobilities.iter().map(|&i| m.tau[i] - m.ws.mobility_load[i]));
            }
        }
    }
}

impl FrameMotion {
    /// Highest time derivative of the pose.
    fn level(self) -> usize {
        use FrameMotion as F;
        match self {
            F::Position | F::Rotation => 0,
            F::LinearVelocity | F::AngularVelocity | F::OwnAngularVelocity | F::Velocity => 1,
            _ => 2,
        }
    }

    fn compute<T: Real>(self, s: &System, f: &BodyFrame, m: &Memory<T>, out: &mut Vec<T>) {
        use FrameMotion as F;
        let (V, A) = (m.ws.kin.V_GB[f.body], m.ws.A_GB[f.body]);
        let [p, v, a] = m.point(Station { body: f.body, p_BS: f.X_BF.p });
        let R = || m.ws.kin.view(m.x.time).pose(f).R;
        let g = Vec3::cst(s.gravity);
        match self {
            F::Position => out.extend(p.to_array()),
            F::LinearVelocity => out.extend(v.to_array()),
            F::LinearAcceleration => out.extend(a.to_array()),
            F::AngularVelocity => out.extend(V.w.to_array()),
            F::OwnAngularVelocity => out.extend(R().inverse_mul(V.w).to_array()),
            F::AngularAcceleration => out.extend(A.w.to_array()),
            F::Velocity => out.extend(V.w.to_array().into_iter().chain(v.to_array())),
            F::Acceleration => out.extend(A.w.to_array().into_iter().chain(a.to_array())),
            F::ProperAcceleration => out.extend(R().inverse_mul(a - g).to_array()),
            F::OwnAcceleration => out.extend(R().inverse_mul(a).to_array()),
            F::AccelerationWithoutGravity => out.extend((a - g).to_array()),
            F::Rotation => {
                let R = R();
                out.extend((0..3).flat_map(|i| R.axis(i).to_array()));
            }
        }
    }
}

/// Force, speed and power of an actuator.
fn actuator<T: Real>(s: &System, m: &Memory<T>, i: usize) -> [T; 3] {
    let f = &s.forces[i];
    if f.path.is_some() {
        // A path that shortens under tension does work.
        let (force, speed) = (m.tension(s, i), m.ws.paths[i].speed());
        return [force, speed, -(force * speed)];
    }
    let Actor::Force(c) = &f.actor else { return [T::zero(); 3] };
    let kin = m.ws.kin.view(m.x.time);
    let e = m.controls[f.controls.clone()].first().copied().unwrap_or(T::zero());
    let (force, speed) = match c.kernel() {
        Kernel::CoordinateActuator(a) => (a.actuation(e), m.x.u[a.mobility]),
        Kernel::ActivationCoordinateActuator(a) => {
            let z = m.x.z[f.states.clone()].first().copied().unwrap_or(T::zero());
            (a.actuation(z), m.x.u[a.mobility])
        }
        Kernel::PointActuator(a) => (e * a.optimal_force, a.speed(&kin, false)),
        Kernel::TorqueActuator(a) => (e * a.optimal_force, a.speed(&kin, false)),
        Kernel::PointToPointActuator(a) => (e * a.optimal_force, a.speed(&kin)),
        Kernel::Formula(law) => match law.mobility() {
            Some(i) => {
                let value = law.value(&kin, &m.controls[f.controls.clone()], &m.x.z[f.states.clone()]);
                (value.map_or(T::zero(), |v| v[0]), m.x.u[i])
            }
            None => (T::zero(), T::zero()),
        },
        _ => (T::zero(), T::zero()),
    };
    let force = if f.enabled { force } else { T::zero() };
    [force, speed, force * speed]
}

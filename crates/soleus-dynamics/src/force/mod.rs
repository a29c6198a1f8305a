//! Compiled forces that are not muscles.

pub mod body;
pub mod bushing;
pub mod coordinate;
pub mod coordinate_limit;
pub mod drag;
pub mod formula;
pub mod passive_joint;
pub mod path;
pub mod point_to_point;
pub mod prescribed;

pub(crate) mod compile;
mod error;

pub use error::ForceError;
pub use path::PathForce;

use crate::contact::{
    Bogert2011Contact, ContactMemory, ElasticFoundation, EllipsoidContact, ExponentialContact, HuntCrossley,
    SmoothSphereHalfSpace,
};
use crate::{Kinematics, Loads, Resolve};
use soleus_math::{Over, Real, SpatialVec, Vec3};
use soleus_model::id::{CoordinateId, FrameId};

/// Additional queries of forces to a model, besides [`Resolve`].
pub trait ForceResolve: Resolve {
    /// Name of a frame in column labels.
    fn frame_name(&self, id: FrameId) -> &str;
    /// Whether a coordinate is an angle (`Rotational`; a coupled one is not).
    fn is_rotational(&self, id: CoordinateId) -> bool;
    /// The coordinate with a unique name or path.
    fn coordinate_named(&self, _name: &str) -> Option<CoordinateId> {
        None
    }
    /// Names of all coordinates.
    fn coordinate_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// The marker, station or frame with a unique name or path: its frame, and its location in it, m.
    fn point_named(&self, _name: &str) -> Option<(FrameId, Vec3<f64>)> {
        None
    }
}

/// A compiled force.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledForce<P: Real = f64> {
    /// Name in the model.
    pub name: String,
    /// Whether it acts (`appliesForce`).
    pub enabled: bool,
    labels: Vec<String>,
    kernel: Kernel<P>,
    /// Whether to count energies as OpenSim does: bushings twice, generalized and path springs not at all.
    opensim_energy: bool,
}

/// Law of a compiled force.
#[derive(Clone, Debug, PartialEq)]
pub enum Kernel<P: Real = f64> {
    /// Control times optimal force on a coordinate.
    CoordinateActuator(coordinate::CoordinateActuator<P>),
    /// The same with a first-order lag.
    ActivationCoordinateActuator(coordinate::ActivationCoordinateActuator<P>),
    /// Spring on a coordinate.
    SpringGeneralizedForce(coordinate::SpringGeneralizedForce<P>),
    /// Formula of a coordinate.
    ExpressionCoordinate(coordinate::ExpressionCoordinateForce),
    /// Limits of a coordinate.
    CoordinateLimit(coordinate_limit::CoordinateLimit<P>),
    /// Force at a point.
    PointActuator(body::PointActuator<P>),
    /// Torque between two bodies.
    TorqueActuator(body::TorqueActuator<P>),
    /// Wrench on a body.
    BodyActuator(body::BodyActuator<P>),
    /// Force between two points.
    PointToPointActuator(body::PointToPointActuator<P>),
    /// Spring or formula between two points.
    PointToPoint(point_to_point::PointToPointForce<P>),
    /// Bushing of any kind.
    Bushing(bushing::Bushing<P>),
    /// Function of time.
    Timed(prescribed::TimedForce<P>),
    /// Hertz contact.
    HuntCrossley(HuntCrossley<P>),
    /// Contact of meshes.
    ElasticFoundation(ElasticFoundation<P>),
    /// Smooth contact.
    SmoothSphereHalfSpace(SmoothSphereHalfSpace<P>),
    /// Exponential contact. `apply`, `record` and `potential_energy` treat it as sliding; a simulation with sticking
    /// keeps a [`ContactMemory`] and uses the kernel.
    Exponential(ExponentialContact<P>),
    /// A point on an ellipsoid.
    Ellipsoid(EllipsoidContact<P>),
    /// A point on level ground.
    Bogert2011(Bogert2011Contact<P>),
    /// Drag of air.
    Drag(drag::QuadraticDrag<P>),
    /// Passive moment of a joint.
    PassiveJoint(passive_joint::PassiveJoint<P>),
    /// Formulas with additional states.
    Formula(Box<formula::FormulaForce>),
    /// Tension along a path, applied by the system.
    Path(PathForce<P>),
}

impl<P: Real> CompiledForce<P> {
    /// Its law.
    pub fn kernel(&self) -> &Kernel<P> {
        &self.kernel
    }

    /// The tension law of a path-based force. For these, `apply`, `record` and `potential_energy` do nothing: the
    /// system uses this law, with the path's length and speed.
    pub fn path_force(&self) -> Option<&PathForce<P>> {
        match &self.kernel {
            Kernel::Path(p) => Some(p),
            _ => None,
        }
    }

    /// Adds the force to `loads` and computes the rates of its states. A disabled force adds nothing; its activation
    /// still follows its control. (In a system, disabled forces keep their states.)
    #[inline]
    pub fn apply<T: Over<P>>(
        &self,
        kin: &Kinematics<T>,
        controls: &[T],
        states: &[T],
        states_dot: &mut [T],
        loads: &mut Loads<T>,
    ) {
        if let Kernel::ActivationCoordinateActuator(a) = &self.kernel {
            states_dot[0] = a.activation_rate(controls[0], states[0]);
        }
        if !self.enabled {
            if !matches!(self.kernel, Kernel::ActivationCoordinateActuator(_) | Kernel::Path(_)) {
                states_dot.fill(T::zero());
            }
            return;
        }
        match &self.kernel {
            Kernel::CoordinateActuator(a) => a.apply(controls[0], loads),
            Kernel::ActivationCoordinateActuator(a) => loads.mobility[a.mobility] += a.actuation(states[0]),
            Kernel::SpringGeneralizedForce(s) => loads.mobility[s.mobility] += s.magnitude(kin),
            Kernel::ExpressionCoordinate(e) => loads.mobility[e.mobility] += e.magnitude(kin),
            Kernel::CoordinateLimit(c) => {
                let (tau, power) = c.magnitude(kin);
                loads.mobility[c.mobility] += tau;
                if c.dissipation_state {
                    states_dot[0] = power;
                }
            }
            Kernel::PointActuator(a) => a.apply(kin, controls[0], loads),
            Kernel::TorqueActuator(a) => a.apply(kin, controls[0], loads),
            Kernel::BodyActuator(a) => a.apply(kin, controls, loads),
            Kernel::PointToPointActuator(a) => a.apply(kin, controls[0], loads),
            Kernel::PointToPoint(s) => s.apply(kin, loads),
            Kernel::Bushing(b) => {
                let power = b.apply(kin, loads);
                if matches!(b.springs, bushing::Springs::Linear { .. }) {
                    states_dot[0] = power;
                }
            }
            Kernel::Timed(f) => f.apply(kin, loads),
            Kernel::HuntCrossley(c) => {
                c.visit(kin, |touch| touch.apply(kin, loads));
            }
            Kernel::ElasticFoundation(c) => {
                c.visit(kin, |touch| touch.apply(kin, loads));
            }
            Kernel::SmoothSphereHalfSpace(c) => c.touch(kin).0.apply(kin, loads),
            Kernel::Exponential(c) => c.force(kin, &ContactMemory::default()).touch.apply(kin, loads),
            Kernel::Ellipsoid(c) => c.apply(kin, loads),
            Kernel::Bogert2011(c) => c.touch(kin).apply(kin, loads),
            Kernel::Drag(d) => d.apply(kin, loads),
            Kernel::PassiveJoint(f) => loads.mobility[f.mobility] += f.magnitude(kin),
            Kernel::Formula(f) => f.apply(kin, controls, states, states_dot, loads),
            Kernel::Path(_) => {}
        }
    }
}

impl CompiledForce {
    /// Bodies and mobilities on which it depends or acts.
    pub fn touches(&self) -> (Vec<usize>, Vec<usize>) {
        let bodies = |list: &[usize]| (list.to_vec(), Vec::new());
        let mobility = |m: usize| (Vec::new(), vec![m]);
        match &self.kernel {
            Kernel::CoordinateActuator(a) => mobility(a.mobility),
            Kernel::ActivationCoordinateActuator(a) => mobility(a.mobility),
            Kernel::SpringGeneralizedForce(f) => mobility(f.mobility),
            Kernel::ExpressionCoordinate(f) => mobility(f.mobility),
            Kernel::CoordinateLimit(f) => mobility(f.mobility),
            Kernel::PointActuator(a) => bodies(&[a.body]),
            Kernel::TorqueActuator(a) => bodies(&[a.body_a, a.body_b]),
            Kernel::BodyActuator(a) => bodies(&[a.body]),
            Kernel::PointToPointActuator(a) => bodies(&[a.body_a, a.body_b]),
            Kernel::PointToPoint(f) => bodies(&[f.body1, f.body2]),
            Kernel::Bushing(b) => bodies(&[b.frames.frame1.body, b.frames.frame2.body]),
            Kernel::Timed(f) => {
                let mut list = vec![f.applied_to.body];
                list.extend(f.force_frame.map(|f| f.body));
                list.extend(f.point_frame.map(|f| f.body));
                bodies(&list)
            }
            Kernel::HuntCrossley(c) => (c.bodies().collect(), Vec::new()),
            Kernel::ElasticFoundation(c) => (c.bodies().collect(), Vec::new()),
            Kernel::SmoothSphereHalfSpace(c) => bodies(&[c.sphere_body, c.half_space.body]),
            Kernel::Exponential(c) => bodies(&[c.body]),
            Kernel::Ellipsoid(c) => bodies(&[c.point_body, c.ellipsoid.body]),
            Kernel::Bogert2011(c) => bodies(&[c.body]),
            Kernel::Drag(d) => bodies(&[d.body]),
            Kernel::PassiveJoint(f) => mobility(f.mobility),
            Kernel::Formula(f) => f.touches(),
            Kernel::Path(_) => (Vec::new(), Vec::new()),
        }
    }

    /// Whether its load in the frames of its bodies depends only on its control, not on pose or speeds.
    pub fn is_control_only(&self) -> bool {
        matches!(self.kernel, Kernel::CoordinateActuator(_) | Kernel::ActivationCoordinateActuator(_))
    }

    /// Whether it depends on time explicitly.
    pub fn depends_on_time(&self) -> bool {
        match &self.kernel {
            Kernel::Timed(f) => !f.is_constant(),
            Kernel::Formula(f) => f.seen.contains(&formula::Seen::Time),
            _ => false,
        }
    }

    /// Number of controls.
    pub fn num_controls(&self) -> usize {
        match &self.kernel {
            Kernel::CoordinateActuator(_)
            | Kernel::ActivationCoordinateActuator(_)
            | Kernel::PointActuator(_)
            | Kernel::TorqueActuator(_)
            | Kernel::PointToPointActuator(_) => 1,
            Kernel::BodyActuator(_) => 6,
            Kernel::Formula(f) => usize::from(f.has_control),
            Kernel::Path(p) => p.num_controls(),
            _ => 0,
        }
    }

    /// Names of its states, under the force's path.
    pub fn state_names(&self) -> Vec<&str> {
        let known: &[&str] = match &self.kernel {
            Kernel::Formula(f) => return f.states.iter().map(|s| s.0.as_str()).collect(),
            Kernel::Path(PathForce::Formula(f)) => return f.states.iter().map(|s| s.0.as_str()).collect(),
            Kernel::ActivationCoordinateActuator(_) => &["activation"],
            Kernel::Bushing(b) if matches!(b.springs, bushing::Springs::Linear { .. }) => {
                &["dissipated_energy"]
            }
            Kernel::CoordinateLimit(c) if c.dissipation_state => &["dissipatedEnergy"],
            Kernel::Path(PathForce::ClutchedSpring { .. }) => &["stretch"],
            _ => &[],
        };
        known.to_vec()
    }

    /// Writes the default values of its states; `out` has one entry for each state.
    pub fn default_states(&self, out: &mut [f64]) {
        out.fill(0.0);
        match &self.kernel {
            Kernel::ActivationCoordinateActuator(a) => out[0] = a.default_activation,
            Kernel::Path(PathForce::ClutchedSpring { initial_stretch, .. }) => out[0] = *initial_stretch,
            Kernel::Formula(f) => out.iter_mut().zip(&f.states).for_each(|(o, s)| *o = s.1),
            Kernel::Path(PathForce::Formula(f)) => {
                out.iter_mut().zip(&f.states).for_each(|(o, s)| *o = s.1);
            }
            _ => {}
        }
    }

    /// Stored energy, J, if the class defines it.
    pub fn potential_energy<T: Real>(&self, kin: &Kinematics<T>) -> T {
        if !self.enabled {
            return T::zero();
        }
        match &self.kernel {
            Kernel::SpringGeneralizedForce(_) if self.opensim_energy => T::zero(),
            Kernel::SpringGeneralizedForce(s) => s.potential_energy(kin),
            Kernel::CoordinateLimit(c) => c.potential_energy(kin),
            Kernel::PointToPoint(s) => s.potential_energy(kin),
            Kernel::Bushing(b) => b.potential_energy(kin),
            Kernel::HuntCrossley(c) => c.visit(kin, |_| {}),
            Kernel::ElasticFoundation(c) => c.visit(kin, |_| {}),
            Kernel::SmoothSphereHalfSpace(c) => c.touch(kin).1,
            Kernel::Exponential(c) => c.force(kin, &ContactMemory::default()).energy,
            Kernel::Ellipsoid(c) => c.potential_energy(kin),
            Kernel::Bogert2011(c) => c.potential_energy(kin),
            Kernel::PassiveJoint(f) => f.potential_energy(kin),
            _ => T::zero(),
        }
    }

    /// Contribution to the energy of the whole model, J: its own energy, except for bushings in OpenSim, which are
    /// counted twice.
    pub fn energy_in_total<T: Real>(&self, kin: &Kinematics<T>) -> T {
        match &self.kernel {
            Kernel::Bushing(_) if self.opensim_energy => self.potential_energy(kin) * 2.0,
            _ => self.potential_energy(kin),
        }
    }

    /// Energy stored by a path-based force at the path's length, J.
    pub fn path_energy<T: Real>(&self, length: T) -> T {
        match &self.kernel {
            Kernel::Path(_) if !self.enabled => T::zero(),
            Kernel::Path(PathForce::Spring { .. }) if self.opensim_energy => T::zero(),
            Kernel::Path(p) => p.potential_energy(length),
            _ => T::zero(),
        }
    }

    /// Column labels, as OpenSim's ForceReporter writes them.
    pub fn labels(&self) -> Vec<String> {
        self.labels.clone()
    }

    /// Appends the values for [`labels`](CompiledForce::labels). For reports, not for inner loops: contacts allocate
    /// memory here.
    pub fn record<T: Real>(&self, kin: &Kinematics<T>, controls: &[T], states: &[T], out: &mut Vec<T>) {
        match &self.kernel {
            Kernel::CoordinateActuator(a) => out.push(a.actuation(controls[0])),
            Kernel::ActivationCoordinateActuator(a) => out.push(a.actuation(states[0])),
            Kernel::PointActuator(a) => out.push(controls[0] * a.optimal_force),
            Kernel::TorqueActuator(a) => out.push(controls[0] * a.optimal_force),
            Kernel::PointToPointActuator(a) => out.push(controls[0] * a.optimal_force),
            Kernel::SpringGeneralizedForce(s) => out.push(s.magnitude(kin)),
            Kernel::ExpressionCoordinate(e) => out.push(e.magnitude(kin)),
            Kernel::CoordinateLimit(c) => out.extend([c.magnitude(kin).0, c.potential_energy(kin)]),
            Kernel::PointToPoint(s) => s.record(kin, out),
            Kernel::Bushing(b) => b.record(kin, out),
            Kernel::Timed(f) => f.record(kin, out),
            Kernel::HuntCrossley(c) => self.record_wrenches(kin, c.bodies(), out),
            Kernel::ElasticFoundation(c) => self.record_wrenches(kin, c.bodies(), out),
            Kernel::SmoothSphereHalfSpace(c) => self.record_wrenches(kin, c.bodies().into_iter(), out),
            Kernel::Exponential(c) => self.record_wrenches(kin, [c.body(), 0].into_iter(), out),
            Kernel::Ellipsoid(c) => out.extend(c.force(kin).1.to_array()),
            Kernel::Bogert2011(c) => self.record_wrenches(kin, [c.body, 0].into_iter(), out),
            Kernel::Drag(d) => out.extend(d.force(kin).to_array()),
            Kernel::PassiveJoint(f) => out.push(f.magnitude(kin)),
            Kernel::Formula(f) => {
                if let (Some(v), Some((_, formula))) = (f.value(kin, controls, states), &f.target) {
                    out.extend(&v[..formula.width()]);
                }
            }
            Kernel::BodyActuator(_) | Kernel::Path(_) => {}
        }
    }

    /// Force and torque about the body origin that a contact exerts on each of `bodies`.
    fn record_wrenches<T: Real>(
        &self,
        kin: &Kinematics<T>,
        bodies: impl Iterator<Item = usize>,
        out: &mut Vec<T>,
    ) {
        let mut body = vec![SpatialVec::zero(); kin.X_GB.len()];
        let mut loads = Loads { body: &mut body, mobility: &mut [] };
        let add = |touch: &crate::contact::Touch<T>, loads: &mut Loads<T>| touch.apply(kin, loads);
        match &self.kernel {
            Kernel::HuntCrossley(c) => {
                c.visit(kin, |touch| add(touch, &mut loads));
            }
            Kernel::ElasticFoundation(c) => {
                c.visit(kin, |touch| add(touch, &mut loads));
            }
            Kernel::SmoothSphereHalfSpace(c) => add(&c.touch(kin).0, &mut loads),
            Kernel::Exponential(c) => add(&c.force(kin, &ContactMemory::default()).touch, &mut loads),
            Kernel::Bogert2011(c) => add(&c.touch(kin), &mut loads),
            _ => {}
        }
        for b in bodies {
            out.extend(body[b].v.to_array());
            out.extend(body[b].w.to_array());
        }
    }
}

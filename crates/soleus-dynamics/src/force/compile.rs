//! Compiles the forces of a model.

mod actuators;
mod contacts;
mod formulas;
mod paths;
mod springs;

use super::body::{BodyActuator, Direction, Place, PointActuator, PointToPointActuator, TorqueActuator};
use super::bushing::{Bushing, Springs, TwoFrames};
use super::coordinate::{
    ActivationCoordinateActuator, CoordinateActuator, ExpressionCoordinateForce, SpringGeneralizedForce,
};
use super::coordinate_limit::CoordinateLimit;
use super::drag::QuadraticDrag;
use super::passive_joint::PassiveJoint;
use super::path::{Blankevoort1991, PathForce};
use super::point_to_point::{PointLaw, PointToPointForce};
use super::prescribed::TimedForce;
use super::{CompiledForce, ForceError, ForceResolve, Kernel};
use crate::constants::{Constants, Numbers};
use crate::contact::geometry::{Surface, SurfaceShape};
use crate::contact::hunt_crossley1975::Material;
use crate::contact::mesh::MeshSurface;
use crate::contact::{
    Bogert2011Contact, ElasticFoundation, EllipsoidContact, ExponentialContact, Friction, HuntCrossley,
    SmoothSphereHalfSpace,
};
use crate::{BodyFrame, Options};
use soleus_math::function::{Expression, PiecewiseLinear, SplineKnots};
use soleus_math::{Function, Real, Transform, Vec3, vec3};
use soleus_model::force as model;
use soleus_model::id::{FrameId, GeometryId};
use soleus_model::{ContactGeometry, ContactShape, Force, ForceKind};

/// `value` if it is a number of at least 0.
fn at_least_0(property: &'static str, value: f64) -> Result<f64, ForceError> {
    if value >= 0.0 { Ok(value) } else { Err(ForceError::Property { property, value, wanted: "at least 0" }) }
}

/// `value` if it is a number above 0.
fn above_0(property: &'static str, value: f64) -> Result<f64, ForceError> {
    if value > 0.0 { Ok(value) } else { Err(ForceError::Property { property, value, wanted: "above 0" }) }
}

impl<P: Real> Numbers<'_, P> {
    /// A property that must be at least 0.
    fn at_least_0(&mut self, property: &'static str, value: f64) -> Result<P, ForceError> {
        at_least_0(property, value).map(|value| self.number(property, value))
    }

    /// A property that must be above 0.
    fn above_0(&mut self, property: &'static str, value: f64) -> Result<P, ForceError> {
        above_0(property, value).map(|value| self.number(property, value))
    }

    /// A property that is a direction, as a unit vector.
    fn unit(&mut self, property: &'static str, v: Vec3<f64>) -> Result<Vec3<P>, ForceError> {
        let v = self.vector(property, v);
        let size = v.norm();
        if size.value() > 0.0 { Ok(v / size) } else { Err(ForceError::NoDirection { property }) }
    }
}

/// `name.frame.what.X`, `.Y`, `.Z`.
fn xyz(labels: &mut Vec<String>, name: &str, frame: &str, what: &str) {
    labels.extend(["X", "Y", "Z"].map(|axis| format!("{name}.{frame}.{what}.{axis}")));
}

/// Columns of two frames, `what` being the second quantity beside the force.
fn two_frames(name: &str, frames: [&str; 2], what: &str) -> Vec<String> {
    let mut labels = Vec::with_capacity(12);
    for frame in frames {
        xyz(&mut labels, name, frame, "force");
        xyz(&mut labels, name, frame, what);
    }
    labels
}

impl CompiledForce {
    /// Compiles a force.
    pub fn compile(
        force: &Force,
        resolve: &dyn ForceResolve,
        geometries: &[ContactGeometry],
        options: &Options,
    ) -> Result<CompiledForce, ForceError> {
        let mut numbers = Numbers { constant: &mut |_, value| value, pose: &|_, X_BF| X_BF };
        CompiledForce::compile_over(force, resolve, geometries, options, &mut numbers)
    }
}

impl<P: Real> CompiledForce<P> {
    /// The same with each number converted to a constant of type `P` by its name, also poses of frames.
    pub fn compile_over(
        force: &Force,
        resolve: &dyn ForceResolve,
        geometries: &[ContactGeometry],
        options: &Options,
        n: &mut Numbers<P>,
    ) -> Result<CompiledForce<P>, ForceError> {
        let name = force.name.as_str();
        let mut make = Making { name, resolve, geometries, options, n };
        let (kernel, labels) = match &force.kind {
            ForceKind::Muscle(_) => return Err(ForceError::IsMuscle),
            ForceKind::CoordinateActuator(m) => make.coordinate_actuator(m)?,
            ForceKind::ActivationCoordinateActuator(m) => make.activation_coordinate_actuator(m)?,
            ForceKind::SpringGeneralizedForce(m) => make.spring_generalized_force(m)?,
            ForceKind::CoordinateLimitForce(m) => make.coordinate_limit_force(m)?,
            ForceKind::PointActuator(m) => make.point_actuator(m)?,
            ForceKind::TorqueActuator(m) => make.torque_actuator(m)?,
            ForceKind::BodyActuator(m) => make.body_actuator(m)?,
            ForceKind::PointToPointActuator(m) => make.point_to_point_actuator(m)?,
            ForceKind::PointToPointSpring(m) => make.point_to_point_spring(m)?,
            ForceKind::BushingForce(m) => make.bushing_force(m)?,
            ForceKind::FunctionBasedBushingForce(m) => make.function_based_bushing_force(m)?,
            ForceKind::PrescribedForce(m) => prescribed(make.n, name, resolve, m)?,
            ForceKind::ExternalForce(m) => external(make.n, name, resolve, m)?,
            ForceKind::HuntCrossleyForce(m) => make.hunt_crossley_force(m)?,
            ForceKind::ElasticFoundationForce(m) => make.elastic_foundation_force(m)?,
            ForceKind::SmoothSphereHalfSpaceForce(m) => make.smooth_sphere_half_space_force(m)?,
            ForceKind::ExpressionBasedCoordinateForce(m) => make.expression_based_coordinate_force(m)?,
            ForceKind::FormulaForce(m) => make.formula_force(m)?,
            ForceKind::ExpressionBasedPointToPointForce(m) => {
                make.expression_based_point_to_point_force(m)?
            }
            ForceKind::ExpressionBasedBushingForce(m) => make.expression_based_bushing_force(m)?,
            ForceKind::ExpressionBasedPathForce(m) => make.expression_based_path_force(m)?,
            ForceKind::ExponentialContactForce(m) => make.exponential_contact_force(m)?,
            ForceKind::EllipsoidContact(m) => make.ellipsoid_contact(m)?,
            ForceKind::Bogert2011Contact(m) => make.bogert2011_contact(m)?,
            ForceKind::QuadraticDrag(m) => make.quadratic_drag(m)?,
            ForceKind::PassiveJointMoment(m) => make.passive_joint_moment(m)?,
            ForceKind::PathActuator(m) => make.path_actuator(m)?,
            ForceKind::PathSpring(m) => make.path_spring(m)?,
            ForceKind::Ligament(m) => make.ligament(m)?,
            ForceKind::Blankevoort1991Ligament(m) => make.blankevoort1991_ligament(m)?,
            ForceKind::ClutchedPathSpring(m) => make.clutched_path_spring(m)?,
            ForceKind::McKibbenActuator(m) => make.mc_kibben_actuator(m)?,
        };
        Ok(CompiledForce {
            name: name.to_string(),
            enabled: force.enabled,
            labels,
            kernel,
            opensim_energy: options.opensim_faults,
        })
    }
}

/// What a force is made of: its kernel, and labels of what it records.
type Compiled<P> = (Kernel<P>, Vec<String>);

/// What a force is made with.
struct Making<'a, 'n, P: Real> {
    name: &'a str,
    resolve: &'a dyn ForceResolve,
    geometries: &'a [ContactGeometry],
    options: &'a Options,
    n: &'a mut Numbers<'n, P>,
}

impl<P: Real> Making<'_, '_, P> {
    /// The label of a force that records one number.
    fn one_column(&self) -> Vec<String> {
        vec![self.name.to_string()]
    }
}

fn path<P: Real>(name: &str, force: PathForce<P>) -> Compiled<P> {
    let labels = force.labels(name);
    (Kernel::Path(force), labels)
}

/// The formula `text` of `variables`.
fn expression(what: &'static str, text: &str, variables: &[&str]) -> Result<Expression, ForceError> {
    Expression::new(text, variables).map_err(|e| ForceError::Function { what, message: e.to_string() })
}

/// `function`, if one variable is enough for it.
fn of_one_variable(what: &'static str, function: &Function) -> Result<(), ForceError> {
    match function.arity() {
        0 | 1 => Ok(()),
        n => Err(ForceError::Function {
            what,
            message: format!("a function of {n} variables, where 1 is given"),
        }),
    }
}

/// Opposite forces between points of two frames; in compatible mode the points are taken in
/// the frames' base bodies, but reported in the frames.
fn point_to_point<P: Real>(
    n: &mut Numbers<P>,
    resolve: &dyn ForceResolve,
    frames: [FrameId; 2],
    points: [Vec3<P>; 2],
    compatible: bool,
    law: PointLaw<P>,
) -> Kernel<P> {
    let [a, b] = frames.map(|f| n.frame(resolve, f));
    let reported = [a.X_BF * points[0], b.X_BF * points[1]];
    let [p_B1, p_B2] = if compatible { points } else { reported };
    Kernel::PointToPoint(PointToPointForce { body1: a.body, body2: b.body, p_B1, p_B2, reported, law })
}

fn bushing<P: Real>(
    n: &mut Numbers<P>,
    name: &str,
    resolve: &dyn ForceResolve,
    frames: [FrameId; 2],
    springs: Springs<P>,
    [rotational, translational]: [Vec3<f64>; 2],
) -> Compiled<P> {
    let labels = two_frames(name, frames.map(|f| resolve.frame_name(f)), "torque");
    let [frame1, frame2] = frames.map(|f| n.frame(resolve, f));
    let rotational_damping = n.vector("rotational_damping", rotational);
    let translational_damping = n.vector("translational_damping", translational);
    let frames = TwoFrames { frame1, frame2 };
    (Kernel::Bushing(Bushing { frames, springs, rotational_damping, translational_damping }), labels)
}

fn prescribed<P: Real>(
    n: &mut Numbers<P>,
    name: &str,
    resolve: &dyn ForceResolve,
    m: &model::PrescribedForce,
) -> Result<Compiled<P>, ForceError> {
    let functions =
        [("forceFunctions", &m.force), ("pointFunctions", &m.point), ("torqueFunctions", &m.torque)];
    for (what, set) in functions {
        set.iter().flatten().try_for_each(|f| of_one_variable(what, f))?;
    }
    let frame = n.frame(resolve, m.frame);
    let body = if m.force_is_global { "ground" } else { resolve.frame_name(m.frame) };
    let mut labels = Vec::new();
    let mut columns = |present: bool, suffixes: [&str; 3]| {
        if present {
            labels.extend(suffixes.map(|s| format!("{body}_{name}_{s}")));
        }
    };
    columns(m.force.is_some(), ["fx", "fy", "fz"]);
    // OpenSim labels a point without a force but gives it no values; we do neither.
    columns(m.force.is_some() && m.point.is_some(), ["px", "py", "pz"]);
    columns(m.torque.is_some(), ["torque_x", "torque_y", "torque_z"]);
    let boxed = |f: &Option<[Function; 3]>| f.clone().map(Box::new);
    let timed = TimedForce {
        applied_to: frame,
        force_frame: (!m.force_is_global).then_some(frame),
        point_frame: (!m.point_is_global).then_some(frame),
        force: boxed(&m.force),
        point: boxed(&m.point),
        torque: boxed(&m.torque),
    };
    Ok((Kernel::Timed(timed), labels))
}

fn external<P: Real>(
    n: &mut Numbers<P>,
    name: &str,
    resolve: &dyn ForceResolve,
    m: &model::ExternalForce,
) -> Result<Compiled<P>, ForceError> {
    match (&m.force, &m.point, &m.torque) {
        (None, _, None) => return Err(ForceError::Nothing),
        (None, Some(_), _) => return Err(ForceError::PointWithoutForce),
        _ => {}
    }
    let body = &m.applied_to_body_label;
    let mut labels = Vec::new();
    let mut functions = Columns::at(&m.time);
    let mut columns = |data: &Option<[Vec<f64>; 3]>, letter: &str, what: &'static str| {
        let Some(data) = data else { return Ok(None) };
        labels.extend(["x", "y", "z"].map(|axis| format!("{body}_{name}_{letter}{axis}")));
        let [x, y, z] = data;
        let mut f = |column: &Vec<f64>| functions.function(column, what);
        Ok::<_, ForceError>(Some(Box::new([f(x)?, f(y)?, f(z)?])))
    };
    let force = columns(&m.force, "F", "force_identifier")?;
    let point = columns(&m.point, "p", "point_identifier")?;
    let torque = columns(&m.torque, "T", "torque_identifier")?;
    let timed = TimedForce {
        applied_to: n.frame(resolve, m.applied_to_body),
        force_frame: not_ground(n, resolve, m.force_expressed_in_body),
        point_frame: not_ground(n, resolve, m.point_expressed_in_body),
        force,
        point,
        torque,
    };
    Ok((Kernel::Timed(timed), labels))
}

/// The frame, if it moves or is offset; ground itself needs no transform.
fn not_ground<P: Real>(n: &Numbers<P>, resolve: &dyn ForceResolve, id: FrameId) -> Option<BodyFrame<P>> {
    let frame = n.frame(resolve, id);
    let is_ground = frame == BodyFrame { body: 0, X_BF: Transform::identity() };
    (!is_ground).then_some(frame)
}

/// The contact surfaces of a force. `meshes`: read them, else they never touch.
fn surfaces<P: Real>(
    parameters: &[model::ContactParameters],
    resolve: &dyn ForceResolve,
    geometries: &[ContactGeometry],
    meshes: bool,
    constant: &mut Constants<P>,
) -> Result<Vec<(Surface, Material<P>)>, ForceError> {
    let mut list = Vec::new();
    for (i, p) in parameters.iter().enumerate() {
        let mut constant = |name: &str, value| constant(&format!("contact_parameters/{i}/{name}"), value);
        let material = Material {
            stiffness: constant("stiffness", at_least_0("stiffness", p.stiffness)?),
            dissipation: constant("dissipation", p.dissipation),
            static_friction: constant("static_friction", p.static_friction),
            dynamic_friction: constant("dynamic_friction", p.dynamic_friction),
            viscous_friction: constant("viscous_friction", p.viscous_friction),
        };
        for &id in &p.geometry {
            let g = geometry(geometries, id)?;
            let shape = match &g.shape {
                ContactShape::HalfSpace => SurfaceShape::HalfSpace,
                ContactShape::Sphere { radius } => SurfaceShape::Sphere(above_0("radius", *radius)?),
                ContactShape::Ellipsoid { radii } => {
                    radii.to_array().iter().try_for_each(|&r| above_0("radii", r).map(|_| ()))?;
                    SurfaceShape::Ellipsoid(*radii)
                }
                ContactShape::Mesh { filename, mesh } if meshes => {
                    let Some(mesh) = mesh else {
                        return Err(ForceError::MeshNotRead {
                            geometry: g.name.clone(),
                            file: filename.clone(),
                        });
                    };
                    let mesh = MeshSurface::new(mesh)
                        .map_err(|error| ForceError::Mesh { geometry: g.name.clone(), error })?;
                    SurfaceShape::Mesh(Box::new(mesh))
                }
                _ => SurfaceShape::Untouchable,
            };
            list.push((Surface { frame: shape_frame(resolve, g), shape }, material));
        }
    }
    Ok(list)
}

fn geometry(geometries: &[ContactGeometry], id: GeometryId) -> Result<&ContactGeometry, ForceError> {
    geometries.get(id.0).ok_or(ForceError::Geometry { index: id.0, count: geometries.len() })
}

/// The frame of a shape on its body.
fn shape_frame(resolve: &dyn ForceResolve, g: &ContactGeometry) -> BodyFrame {
    let frame = resolve.frame(g.frame);
    BodyFrame { body: frame.body, X_BF: frame.X_BF * g.pose_in_frame() }
}

fn contact_labels(
    name: &str,
    parameters: &[model::ContactParameters],
    resolve: &dyn ForceResolve,
    geometries: &[ContactGeometry],
) -> Vec<String> {
    let mut labels = Vec::new();
    for g in parameters.iter().flat_map(|p| &p.geometry).filter_map(|id| geometries.get(id.0)) {
        let frame = resolve.frame_name(g.frame);
        xyz(&mut labels, name, frame, "force");
        xyz(&mut labels, name, frame, "torque");
    }
    labels
}

pub(crate) fn smooth<P: Real>(
    m: &model::SmoothSphereHalfSpaceForce,
    resolve: &dyn ForceResolve,
    geometries: &[ContactGeometry],
    constant: &mut Constants<P>,
) -> Result<SmoothSphereHalfSpace<P>, ForceError> {
    let (s, h) = (geometry(geometries, m.sphere)?, geometry(geometries, m.half_space)?);
    let ContactShape::Sphere { radius } = s.shape else {
        return Err(ForceError::Shape { geometry: s.name.clone(), wanted: "ContactSphere" });
    };
    if h.shape != ContactShape::HalfSpace {
        return Err(ForceError::Shape { geometry: h.name.clone(), wanted: "ContactHalfSpace" });
    }
    let radius = constant("radius", above_0("radius", radius)?);
    let k = constant("stiffness", at_least_0("stiffness", m.stiffness)?).powf(2.0 / 3.0) * 0.5;
    let sphere = shape_frame(resolve, s);
    let epsilon = at_least_0("constant_contact_force", m.constant_contact_force)?;
    Ok(SmoothSphereHalfSpace {
        sphere_body: sphere.body,
        p_BS: sphere.X_BF.p,
        radius,
        half_space: shape_frame(resolve, h),
        hertz: k * (4.0 / 3.0) * (radius * k).sqrt(),
        dissipation: constant("dissipation", m.dissipation),
        friction: Friction::new(
            constant("static_friction", m.static_friction),
            constant("dynamic_friction", m.dynamic_friction),
            constant("viscous_friction", m.viscous_friction),
            constant("transition_velocity", above_0("transition_velocity", m.transition_velocity)?),
        ),
        epsilon: constant("constant_contact_force", epsilon),
        bd: constant("hertz_smoothing", m.hertz_smoothing),
        bv: constant("hunt_crossley_smoothing", m.hunt_crossley_smoothing),
    })
}

/// A Hunt–Crossley contact, with each property made a constant of type `P` by its name.
pub(crate) fn hunt_crossley<P: Real>(
    m: &model::HuntCrossleyForce,
    resolve: &dyn ForceResolve,
    geometries: &[ContactGeometry],
    options: &Options,
    constant: &mut Constants<P>,
) -> Result<HuntCrossley<P>, ForceError> {
    let surfaces = surfaces(&m.contact_parameters, resolve, geometries, false, constant)?;
    let transition = above_0("transition_velocity", m.transition_velocity)?;
    Ok(HuntCrossley::new(surfaces, constant("transition_velocity", transition), options.opensim_faults))
}

/// An elastic foundation, with each property made a constant of type `P` by its name.
pub(crate) fn elastic_foundation<P: Real>(
    m: &model::ElasticFoundationForce,
    resolve: &dyn ForceResolve,
    geometries: &[ContactGeometry],
    constant: &mut Constants<P>,
) -> Result<ElasticFoundation<P>, ForceError> {
    let surfaces = surfaces(&m.contact_parameters, resolve, geometries, true, constant)?;
    let transition = above_0("transition_velocity", m.transition_velocity)?;
    Ok(ElasticFoundation::new(surfaces, constant("transition_velocity", transition)))
}

fn exponential<P: Real>(
    n: &mut Numbers<P>,
    m: &model::ExponentialContactForce,
    resolve: &dyn ForceResolve,
    options: &Options,
) -> Result<ExponentialContact<P>, ForceError> {
    let frame = n.frame(resolve, m.frame);
    above_0("exponential_shape_parameters", m.shape.y)?;
    above_0("exponential_shape_parameters", m.shape.z)?;
    let p_FS = n.vector("station/location", m.location);
    let mu_static = n.at_least_0("initial_mu_static", m.mu_static)?;
    let mu_kinetic = n.at_least_0("initial_mu_kinetic", m.mu_kinetic)?;
    Ok(ExponentialContact {
        body: frame.body,
        p_BS: if options.opensim_faults { p_FS } else { frame.X_BF * p_FS },
        X_GP: plane(n, m.contact_plane),
        shape: n.vector("exponential_shape_parameters", m.shape).to_array(),
        normal_viscosity: n.at_least_0("normal_viscosity", m.normal_viscosity)?,
        max_normal_force: n.above_0("max_normal_force", m.max_normal_force)?,
        elasticity: n.above_0("friction_elasticity", m.friction_elasticity)?,
        viscosity: n.at_least_0("friction_viscosity", m.friction_viscosity)?,
        settle_velocity: above_0("settle_velocity", m.settle_velocity)?,
        mu_static,
        // Kinetic friction never exceeds static friction.
        mu_kinetic: mu_kinetic.min(mu_static),
    })
}

/// Pose of a contact plane, given as three body-fixed angles and a place.
fn plane<P: Real>(n: &mut Numbers<P>, X_GP: Transform<f64>) -> Transform<P> {
    let mut of = |k: usize, value: f64| n.number(&format!("contact_plane_transform/{k}"), value);
    let (angles, p) = (X_GP.R.to_body_fixed_xyz(), X_GP.p);
    let angles = vec3(of(0, angles.x), of(1, angles.y), of(2, angles.z));
    let place = vec3(of(3, p.x), of(4, p.y), of(5, p.z));
    // The rotation is known; going through its angles would round it.
    if P::ORDER == 0 { Transform::cst(X_GP) } else { Transform::from_offset(place, angles) }
}

/// Data columns as functions of time, as OpenSim makes them: constant for one row, straight
/// lines for two or three, a natural cubic spline from four on.
struct Columns<'a> {
    time: &'a [f64],
    knots: SplineKnots,
}

impl<'a> Columns<'a> {
    fn at(time: &'a [f64]) -> Self {
        Columns { time, knots: SplineKnots::new(3, time.to_vec()) }
    }

    fn function(&mut self, column: &[f64], what: &'static str) -> Result<Function, ForceError> {
        let time = self.time;
        if column.len() != time.len() {
            return Err(ForceError::Rows { what, found: column.len(), wanted: time.len() });
        }
        let function = match column {
            [only] => Ok(Function::Constant(*only)),
            // What a plate does not measure is zero throughout; a spline through equal values is that value.
            [first, rest @ ..] if rest.iter().all(|x| x == first) && time.is_sorted_by(|a, b| a < b) => {
                Ok(Function::Constant(*first))
            }
            [_, _] | [_, _, _] => PiecewiseLinear::new(time.to_vec(), column.to_vec()).map(Function::from),
            _ => self.knots.interpolate(column).map(Function::from),
        };
        function.map_err(|e| ForceError::Function { what, message: e.to_string() })
    }
}

//! Forces that are not muscles, as plain data.
//!
//! Every struct lists the XML properties of the OpenSim 4.6 class of the same name, with their
//! defaults, in the units of the file (SI; angles in radians except where a property says
//! degrees). The path of path-based classes is [`Force::line_of_action`].

use crate::id::{CoordinateId, FrameId, GeometryId};
use crate::muscle::Muscle;
use crate::path::{Path, PathObstacle};
use soleus_math::formula::Expr;
use soleus_math::{Function, Transform, Vec3};

/// One force of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// `name`.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// Class name in the file.
    pub class: String,
    /// `appliesForce`. Default true.
    pub enabled: bool,
    /// The path of muscles, ligaments and other path forces; `None` for other forces.
    pub line_of_action: Option<Path>,
    /// Kind of force, with its properties.
    pub kind: ForceKind,
}

impl Force {
    /// An actuator of a coordinate, below the path of its owner.
    pub fn of_coordinate(owner: &str, name: String, actuator: CoordinateActuator) -> Self {
        Force {
            path: format!("{owner}/{name}"),
            name,
            class: "CoordinateActuator".to_string(),
            enabled: true,
            line_of_action: None,
            kind: ForceKind::CoordinateActuator(actuator),
        }
    }

    /// Obstacles of its path, in order; only a path over obstacles has any.
    pub fn obstacles(&self) -> impl Iterator<Item = &PathObstacle> {
        let path = match &self.line_of_action {
            Some(Path::Scholz2015(path)) => Some(path),
            _ => None,
        };
        path.into_iter().flat_map(|p| p.obstacles())
    }

    /// Whether OpenSim's class is an `Actuator`, which has a control.
    pub fn is_actuator(&self) -> bool {
        self.control_range().is_some() || matches!(self.kind, ForceKind::BodyActuator(_))
    }

    /// `min_control` and `max_control`; `None` for forces without a single control.
    pub fn control_range(&self) -> Option<ControlRange> {
        Some(match &self.kind {
            ForceKind::Muscle(m) => ControlRange { min: m.min_control, max: m.max_control },
            ForceKind::CoordinateActuator(a) => a.control,
            ForceKind::ActivationCoordinateActuator(a) => a.control,
            ForceKind::PointActuator(a) => a.control,
            ForceKind::TorqueActuator(a) => a.control,
            ForceKind::PointToPointActuator(a) => a.control,
            ForceKind::PathActuator(a) => a.control,
            ForceKind::ClutchedPathSpring(a) => a.control,
            ForceKind::McKibbenActuator(a) => a.control,
            ForceKind::FormulaForce(f) => f.control?,
            _ => return None,
        })
    }

    /// `optimal_force` of actuators that have one, N or N m; muscles have another measure of strength.
    pub fn optimal_force(&self) -> Option<f64> {
        Some(match &self.kind {
            ForceKind::CoordinateActuator(a) => a.optimal_force,
            ForceKind::ActivationCoordinateActuator(a) => a.optimal_force,
            ForceKind::PointActuator(a) => a.optimal_force,
            ForceKind::TorqueActuator(a) => a.optimal_force,
            ForceKind::PointToPointActuator(a) => a.optimal_force,
            ForceKind::PathActuator(a) => a.optimal_force,
            _ => return None,
        })
    }
}

/// The classes of force, with the properties of each.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceKind {
    /// Any class of muscle, on a path.
    Muscle(Muscle),
    /// `CoordinateActuator`.
    CoordinateActuator(CoordinateActuator),
    /// `ActivationCoordinateActuator`.
    ActivationCoordinateActuator(ActivationCoordinateActuator),
    /// `PointActuator`.
    PointActuator(PointActuator),
    /// `TorqueActuator`.
    TorqueActuator(TorqueActuator),
    /// `BodyActuator`.
    BodyActuator(BodyActuator),
    /// `PointToPointActuator`.
    PointToPointActuator(PointToPointActuator),
    /// `SpringGeneralizedForce`.
    SpringGeneralizedForce(SpringGeneralizedForce),
    /// `CoordinateLimitForce`.
    CoordinateLimitForce(CoordinateLimitForce),
    /// `ExpressionBasedCoordinateForce`.
    ExpressionBasedCoordinateForce(ExpressionBasedCoordinateForce),
    /// `FormulaForce`; not an OpenSim class.
    FormulaForce(Box<FormulaForce>),
    /// `PointToPointSpring`.
    PointToPointSpring(PointToPointSpring),
    /// `ExpressionBasedPointToPointForce`.
    ExpressionBasedPointToPointForce(ExpressionBasedPointToPointForce),
    /// `BushingForce`.
    BushingForce(BushingForce),
    /// `FunctionBasedBushingForce`.
    FunctionBasedBushingForce(FunctionBasedBushingForce),
    /// `ExpressionBasedBushingForce`.
    ExpressionBasedBushingForce(ExpressionBasedBushingForce),
    /// `PrescribedForce`.
    PrescribedForce(PrescribedForce),
    /// `ExternalForce`.
    ExternalForce(ExternalForce),
    /// `HuntCrossleyForce`.
    HuntCrossleyForce(HuntCrossleyForce),
    /// `ElasticFoundationForce`.
    ElasticFoundationForce(ElasticFoundationForce),
    /// `SmoothSphereHalfSpaceForce`.
    SmoothSphereHalfSpaceForce(SmoothSphereHalfSpaceForce),
    /// `ExponentialContactForce`.
    ExponentialContactForce(ExponentialContactForce),
    /// `PathActuator`, on a path.
    PathActuator(PathActuator),
    /// `PathSpring`, on a path.
    PathSpring(PathSpring),
    /// `Ligament`, on a path.
    Ligament(Ligament),
    /// `Blankevoort1991Ligament`, on a path.
    Blankevoort1991Ligament(Blankevoort1991Ligament),
    /// `ExpressionBasedPathForce`, on a path.
    ExpressionBasedPathForce(ExpressionBasedPathForce),
    /// `ClutchedPathSpring`, on a path.
    ClutchedPathSpring(ClutchedPathSpring),
    /// `McKibbenActuator`, on a path.
    McKibbenActuator(McKibbenActuator),
    /// A point pushed out of an ellipsoid; not an OpenSim class.
    EllipsoidContact(EllipsoidContact),
    /// `Bogert2011ContactForce`: a point on level ground; not an OpenSim class.
    Bogert2011Contact(Bogert2011Contact),
    /// `QuadraticDragForce`: drag of still air; not an OpenSim class.
    QuadraticDrag(QuadraticDrag),
    /// Passive moment of a joint with a range; not an OpenSim class.
    PassiveJointMoment(PassiveJointMoment),
}

/// `min_control` and `max_control` of an actuator. Forces do not clamp their control to this range; solvers and
/// controllers may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlRange {
    /// `min_control`. Default −∞.
    pub min: f64,
    /// `max_control`. Default +∞.
    pub max: f64,
}

impl Default for ControlRange {
    fn default() -> Self {
        ControlRange { min: f64::NEG_INFINITY, max: f64::INFINITY }
    }
}

/// A generalized force on one coordinate: `optimal_force` times control.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `coordinate`.
    pub coordinate: CoordinateId,
    /// `optimal_force`, N or N·m. Default 1.
    pub optimal_force: f64,
}

/// A coordinate actuator with first-order activation dynamics.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivationCoordinateActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `coordinate`.
    pub coordinate: CoordinateId,
    /// `optimal_force`, N or N·m. Default 1.
    pub optimal_force: f64,
    /// `activation_time_constant`, s. Default 0.01.
    pub activation_time_constant: f64,
    /// `default_activation`. Default 0.5.
    pub default_activation: f64,
}

/// A force at a point of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct PointActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `body`.
    pub body: FrameId,
    /// `point`, m. Default 0.
    pub point: Vec3<f64>,
    /// `point_is_global`: the point is given in ground. Default false.
    pub point_is_global: bool,
    /// `direction`, nonzero, of any length. Default (1, 0, 0).
    pub direction: Vec3<f64>,
    /// `force_is_global`: the direction is given in ground. Default false.
    pub force_is_global: bool,
    /// `optimal_force`, N. Default 1.
    pub optimal_force: f64,
}

/// A torque on one body and the opposite torque on another.
#[derive(Clone, Debug, PartialEq)]
pub struct TorqueActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `bodyA`, on which the torque acts.
    pub body_a: FrameId,
    /// `bodyB`, on which the opposite torque acts.
    pub body_b: FrameId,
    /// `torque_is_global`: the axis is given in ground, otherwise in body A. Default true.
    pub torque_is_global: bool,
    /// `axis`, nonzero, of any length. Default (0, 0, 1).
    pub axis: Vec3<f64>,
    /// `optimal_force`, N·m. Default 1.
    pub optimal_force: f64,
}

/// A wrench on a body: the six controls are torque, then force.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyActuator {
    /// Socket `body`.
    pub body: FrameId,
    /// `point` of application, m. Default 0.
    pub point: Vec3<f64>,
    /// `point_is_global`. Default false.
    pub point_is_global: bool,
    /// `spatial_force_is_global`: the wrench is given in ground. Default true.
    pub spatial_force_is_global: bool,
}

/// A pair of opposite forces along the line between two points; a positive control pushes them apart.
#[derive(Clone, Debug, PartialEq)]
pub struct PointToPointActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `bodyA`.
    pub body_a: FrameId,
    /// `bodyB`.
    pub body_b: FrameId,
    /// `points_are_global`. Default false.
    pub points_are_global: bool,
    /// `pointA`, m. Default 0.
    pub point_a: Vec3<f64>,
    /// `pointB`, m. Default 0.
    pub point_b: Vec3<f64>,
    /// `optimal_force`, N. Default 1.
    pub optimal_force: f64,
}

/// A linear spring and damper on a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringGeneralizedForce {
    /// `coordinate`.
    pub coordinate: CoordinateId,
    /// `stiffness`, N/m or N·m/rad. Default 0.
    pub stiffness: f64,
    /// `rest_length`, m or rad. Default 0.
    pub rest_length: f64,
    /// `viscosity`, N·s/m or N·m·s/rad. Default 0.
    pub viscosity: f64,
}

/// A spring and damper that act outside the range of a coordinate. For a rotational coordinate all angles are in
/// **degrees**.
#[derive(Clone, Debug, PartialEq)]
pub struct CoordinateLimitForce {
    /// `coordinate`.
    pub coordinate: CoordinateId,
    /// `upper_stiffness`, N/m or N·m/degree. Default 1.
    pub upper_stiffness: f64,
    /// `upper_limit`, m or degrees. Default 0.
    pub upper_limit: f64,
    /// `lower_stiffness`, N/m or N·m/degree. Default 1.
    pub lower_stiffness: f64,
    /// `lower_limit`, m or degrees. Default 0.
    pub lower_limit: f64,
    /// `damping`, N·s/m or N·m·s/degree. Default 0.001.
    pub damping: f64,
    /// `transition`: distance over which the stiffness increases, m or degrees. Default 0.1.
    pub transition: f64,
    /// `compute_dissipation_energy`: adds a state for the dissipated energy. Default false.
    pub compute_dissipation_energy: bool,
}

/// A force defined by formulas, optionally with additional states; not an OpenSim class, so OpenSim ignores it with a
/// warning.
///
/// Formulas can use coordinates, speeds, positions and velocities of points, time, and the control, states and
/// constants of the force. A force along a path can use `length` and `lengthening_speed` of the path, and its control,
/// states and constants.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaForce {
    /// Where it acts.
    pub target: FormulaTarget,
    /// `formula`: the generalized force on a coordinate, N or N·m, the force on a point, a vector in ground, N, or the tension of a path, N.
    pub formula: Option<Expr>,
    /// `constants`: constants by name.
    pub constants: Vec<(String, f64)>,
    /// `states`: additional states.
    pub states: Vec<FormulaState>,
    /// `min_control` and `max_control`, if a formula uses `control`.
    pub control: Option<ControlRange>,
}

/// Where a [`FormulaForce`] acts.
#[derive(Clone, Debug, PartialEq)]
pub enum FormulaTarget {
    /// `coordinate`.
    Coordinate(CoordinateId),
    /// `frame` and `point` in it, m.
    Point(FrameId, Vec3<f64>),
    /// Its path, as a tension.
    Path,
    /// Nowhere: it only has states.
    Nothing,
}

/// A state of a [`FormulaForce`].
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaState {
    /// Name.
    pub name: String,
    /// `default_value`.
    pub default: f64,
    /// `rate`: ż, in its unit per second.
    pub rate: Expr,
}

/// A generalized force given by an expression of the coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionBasedCoordinateForce {
    /// `coordinate`.
    pub coordinate: CoordinateId,
    /// `expression` of `q` and `qdot`. Default "0.0".
    pub expression: String,
}

/// A linear spring between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointToPointSpring {
    /// Socket `body1`.
    pub body1: FrameId,
    /// Socket `body2`.
    pub body2: FrameId,
    /// `point1` in body 1, m. Default 0.
    pub point1: Vec3<f64>,
    /// `point2` in body 2, m. Default 0.
    pub point2: Vec3<f64>,
    /// `stiffness`, N/m. Default 1.
    pub stiffness: f64,
    /// `rest_length`, m. Default 0.
    pub rest_length: f64,
}

/// A pair of opposite forces between two points, given by an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionBasedPointToPointForce {
    /// `body1`.
    pub body1: FrameId,
    /// `body1` as written in the file; used in column labels.
    pub body1_label: String,
    /// `body2`.
    pub body2: FrameId,
    /// `body2` as written in the file; used in column labels.
    pub body2_label: String,
    /// `point1` in body 1, m. Default 0.
    pub point1: Vec3<f64>,
    /// `point2` in body 2, m. Default 0.
    pub point2: Vec3<f64>,
    /// `expression` of the distance `d` and its rate `ddot`; positive pulls together. Default "0.0".
    pub expression: String,
}

/// A linear spring and damper between two frames, in all six directions.
#[derive(Clone, Debug, PartialEq)]
pub struct BushingForce {
    /// Socket `frame1`.
    pub frame1: FrameId,
    /// Socket `frame2`.
    pub frame2: FrameId,
    /// `rotational_stiffness`, N·m/rad. Default 0.
    pub rotational_stiffness: Vec3<f64>,
    /// `translational_stiffness`, N/m. Default 0.
    pub translational_stiffness: Vec3<f64>,
    /// `rotational_damping`, N·m·s/rad. Default 0.
    pub rotational_damping: Vec3<f64>,
    /// `translational_damping`, N·s/m. Default 0.
    pub translational_damping: Vec3<f64>,
}

/// A bushing whose six springs are functions of one deflection each.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionBasedBushingForce {
    /// Socket `frame1`.
    pub frame1: FrameId,
    /// Socket `frame2`.
    pub frame2: FrameId,
    /// `m_x_theta_x_function`, `m_y_…`, `m_z_…`, N·m of rad. Default 0.
    pub moment: [Function; 3],
    /// `f_x_delta_x_function`, `f_y_…`, `f_z_…`, N of m. Default 0.
    pub force: [Function; 3],
    /// `rotational_damping`, N·m·s/rad. Default 0.
    pub rotational_damping: Vec3<f64>,
    /// `translational_damping`, N·s/m. Default 0.
    pub translational_damping: Vec3<f64>,
}

/// A bushing whose six springs are expressions of all six deflections.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionBasedBushingForce {
    /// Socket `frame1`.
    pub frame1: FrameId,
    /// Socket `frame2`.
    pub frame2: FrameId,
    /// `Mx_expression`, `My_…`, `Mz_…`, N·m, of `theta_x`, …, `delta_z`. Default "0.0".
    pub moment: [String; 3],
    /// `Fx_expression`, `Fy_…`, `Fz_…`, N. Default "0.0".
    pub force: [String; 3],
    /// `rotational_damping`, N·m·s/rad. Default 0.
    pub rotational_damping: Vec3<f64>,
    /// `translational_damping`, N·s/m. Default 0.
    pub translational_damping: Vec3<f64>,
}

/// A force, torque and point that are functions of time.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedForce {
    /// Socket `frame`.
    pub frame: FrameId,
    /// `pointIsGlobal`: the point is given in ground. Default false.
    pub point_is_global: bool,
    /// `forceIsGlobal`: force and torque are given in ground. Default true.
    pub force_is_global: bool,
    /// `forceFunctions`, N; `None` if the set is empty.
    pub force: Option<[Function; 3]>,
    /// `pointFunctions`, m; `None` if the set is empty: the frame's origin.
    pub point: Option<[Function; 3]>,
    /// `torqueFunctions`, N·m; `None` if the set is empty.
    pub torque: Option<[Function; 3]>,
}

/// A measured force, torque and point.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalForce {
    /// `applied_to_body`.
    pub applied_to_body: FrameId,
    /// `applied_to_body` as written in the file; used in column labels.
    pub applied_to_body_label: String,
    /// `force_expressed_in_body`: frame of force and torque. Default ground.
    pub force_expressed_in_body: FrameId,
    /// `point_expressed_in_body`: frame of the point. Default ground.
    pub point_expressed_in_body: FrameId,
    /// Time column of the data, s; at least one row, increasing.
    pub time: Vec<f64>,
    /// Columns named by `force_identifier`, N.
    pub force: Option<[Vec<f64>; 3]>,
    /// Columns named by `point_identifier`, m.
    pub point: Option<[Vec<f64>; 3]>,
    /// Columns named by `torque_identifier`, N·m.
    pub torque: Option<[Vec<f64>; 3]>,
}

/// `ContactParameters`: the material of some geometries of a contact force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactParameters {
    /// `geometry`.
    pub geometry: Vec<GeometryId>,
    /// `stiffness`: plane-strain modulus, N/m² (Hunt–Crossley), or foundation stiffness, N/m³
    /// (elastic foundation). Default 0.
    pub stiffness: f64,
    /// `dissipation`, s/m. Default 0.
    pub dissipation: f64,
    /// `static_friction`. Default 0.
    pub static_friction: f64,
    /// `dynamic_friction`. Default 0.
    pub dynamic_friction: f64,
    /// `viscous_friction`, s/m. Default 0.
    pub viscous_friction: f64,
}

/// Contact of spheres, half spaces and ellipsoids (Hunt and Crossley 1975).
#[derive(Clone, Debug, PartialEq)]
pub struct HuntCrossleyForce {
    /// `contact_parameters`.
    pub contact_parameters: Vec<ContactParameters>,
    /// `transition_velocity` of friction, m/s. Default 0.01.
    pub transition_velocity: f64,
}

/// Contact of meshes, each face on a bed of springs.
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticFoundationForce {
    /// `contact_parameters`.
    pub contact_parameters: Vec<ContactParameters>,
    /// `transition_velocity` of friction, m/s. Default 0.01.
    pub transition_velocity: f64,
}

/// Contact of one sphere with one half space, smooth everywhere except at the friction transition.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothSphereHalfSpaceForce {
    /// Socket `sphere`.
    pub sphere: GeometryId,
    /// Socket `half_space`.
    pub half_space: GeometryId,
    /// `stiffness`, N/m². Default 1.
    pub stiffness: f64,
    /// `dissipation`, s/m. Default 0.
    pub dissipation: f64,
    /// `static_friction`. Default 0.
    pub static_friction: f64,
    /// `dynamic_friction`. Default 0.
    pub dynamic_friction: f64,
    /// `viscous_friction`, s/m. Default 0.
    pub viscous_friction: f64,
    /// `transition_velocity`, m/s. Default 0.01.
    pub transition_velocity: f64,
    /// `constant_contact_force`. Default 1e-5.
    pub constant_contact_force: f64,
    /// `hertz_smoothing`, 1/m. Default 300.
    pub hertz_smoothing: f64,
    /// `hunt_crossley_smoothing`, s/m. Default 50.
    pub hunt_crossley_smoothing: f64,
}

/// Contact of a point with a plane: an exponential spring with stick-slip friction.
#[derive(Clone, Debug, PartialEq)]
pub struct ExponentialContactForce {
    /// `contact_plane_transform`: pose of the plane in ground, z its normal. In files, body-fixed
    /// X-Y-Z angles (rad), then the origin (m). Default identity.
    pub contact_plane: Transform<f64>,
    /// `station`, socket `parent_frame`.
    pub frame: FrameId,
    /// `station`, `location`, m.
    pub location: Vec3<f64>,
    /// `exponential_shape_parameters`: d₀ (m), d₁ (N), d₂ (1/m). Default 0.0065905, 0.5336, 1150.
    pub shape: Vec3<f64>,
    /// `normal_viscosity`, s/m. Default 0.5.
    pub normal_viscosity: f64,
    /// `max_normal_force`, N. Default 100 000.
    pub max_normal_force: f64,
    /// `friction_elasticity`, N/m. Default 20 000.
    pub friction_elasticity: f64,
    /// `friction_viscosity`, N·s/m. Default 282.8427 (critical for a mass of 1 kg).
    pub friction_viscosity: f64,
    /// `settle_velocity`, m/s. Default 0.01.
    pub settle_velocity: f64,
    /// `initial_mu_static`. Default 0.7.
    pub mu_static: f64,
    /// `initial_mu_kinetic`. Default 0.5.
    pub mu_kinetic: f64,
}

/// A tension along a path: `optimal_force` times control.
#[derive(Clone, Debug, PartialEq)]
pub struct PathActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `optimal_force`, N. Default 1.
    pub optimal_force: f64,
}

/// A spring and damper along a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSpring {
    /// `resting_length`, m.
    pub resting_length: f64,
    /// `stiffness`, N/m.
    pub stiffness: f64,
    /// `dissipation`, s/m.
    pub dissipation: f64,
}

/// A ligament with a force–length curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Ligament {
    /// `resting_length`, m; above zero. Default 0.
    pub resting_length: f64,
    /// `pcsa_force`, N, the scale of the curve. Default 0.
    pub pcsa_force: f64,
    /// `force_length_curve` of length over resting length.
    pub force_length_curve: Function,
}

/// A ligament with a quadratic toe, Blankevoort and Huiskes (1991).
#[derive(Clone, Debug, PartialEq)]
pub struct Blankevoort1991Ligament {
    /// `linear_stiffness`, N per unit strain. Default 1.
    pub linear_stiffness: f64,
    /// `transition_strain`. Default 0.06.
    pub transition_strain: f64,
    /// `damping_coefficient`, N·s per unit strain. Default 0.003.
    pub damping_coefficient: f64,
    /// `slack_length`, m. Default 0.
    pub slack_length: f64,
}

/// A tension along a path, given by an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionBasedPathForce {
    /// `resting_length`, m. Default 0.
    pub resting_length: f64,
    /// `expression` of the stretch `s` and the lengthening speed `ldot`, N. Default "0.0".
    pub expression: String,
    /// `clamp_stretch`: s = 0 for a path shorter than `resting_length`. Default true.
    pub clamp_stretch: bool,
}

/// A path spring with a clutch.
#[derive(Clone, Debug, PartialEq)]
pub struct ClutchedPathSpring {
    /// `min_control`, `max_control`. Default 0 and 1.
    pub control: ControlRange,
    /// `stiffness`, N/m.
    pub stiffness: f64,
    /// `dissipation`, s/m.
    pub dissipation: f64,
    /// `relaxation_time_constant` of the released spring, s. Default 0.001.
    pub relaxation_time_constant: f64,
    /// `initial_stretch`, m. Default 0.
    pub initial_stretch: f64,
}

/// A pneumatic muscle; its control is the pressure.
#[derive(Clone, Debug, PartialEq)]
pub struct McKibbenActuator {
    /// `min_control`, `max_control`.
    pub control: ControlRange,
    /// `number_of_turns` of the thread. Default 1.5.
    pub number_of_turns: f64,
    /// `thread_length`, m. Default 200.
    pub thread_length: f64,
    /// `cord_length` in series with the muscle, m. Default 0.
    pub cord_length: f64,
}

/// A point of one body that is pushed outwards by an ellipsoid fixed to another, smoothly and without friction: the
/// scapula on the rib cage (van den Bogert, Blana and Heinrich 2011).
#[derive(Clone, Debug, PartialEq)]
pub struct EllipsoidContact {
    /// Frame of the point.
    pub point_frame: FrameId,
    /// The point in its frame, m.
    pub point: Vec3<f64>,
    /// Frame of the ellipsoid, whose axes are parallel to those of the frame.
    pub ellipsoid_frame: FrameId,
    /// Centre of the ellipsoid in its frame, m.
    pub center: Vec3<f64>,
    /// Half axes, m.
    pub radii: Vec3<f64>,
    /// Stiffness, N/m. DAS3: 20 000.
    pub stiffness: f64,
    /// Width of the smooth transition in units of the surface function. DAS3: 0.01.
    pub smoothing: f64,
}

/// A point of a body on the plane y = 0 of ground, with smooth normal force and friction (Ackermann and van den Bogert
/// 2010; van den Bogert, Blana and Heinrich 2011).
#[derive(Clone, Debug, PartialEq)]
pub struct Bogert2011Contact {
    /// Socket `frame` of the point.
    pub frame: FrameId,
    /// `location` of the point in it, m. Default 0.
    pub location: Vec3<f64>,
    /// `stiffness`, N/m. Default 20 000.
    pub stiffness: f64,
    /// `damping`, s/m. Default 1.
    pub damping: f64,
    /// `linear_stiffness` at any height, N/m. Default 1.
    pub linear_stiffness: f64,
    /// `transition_height` over which the force increases, m. Default 0.001.
    pub transition_height: f64,
    /// `friction`, the maximum ratio of friction to normal force. Default 1.
    pub friction: f64,
    /// `transition_velocity` of friction, m/s. Default 0.1.
    pub transition_velocity: f64,
}

/// Aerodynamic drag at a point of a body: −½ ρ C_d A √(|v|² + v₀²) v.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticDrag {
    /// Socket `frame` of the point.
    pub frame: FrameId,
    /// `location` of the point in it, m. Default 0.
    pub location: Vec3<f64>,
    /// `drag_area` C_d A, m². Default 0.5.
    pub drag_area: f64,
    /// `air_density` ρ, kg/m³. Default 1.2.
    pub air_density: f64,
    /// `transition_velocity` v₀ for smoothing, m/s. Default 0.01.
    pub transition_velocity: f64,
}

/// A spring and damper about the middle of a coordinate's range, with quadratic stops at its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct PassiveJointMoment {
    /// The coordinate.
    pub coordinate: CoordinateId,
    /// Ends of the range, rad or m.
    pub range: [f64; 2],
    /// Stiffness about the middle, N·m/rad or N/m. DAS3: 1.
    pub stiffness: f64,
    /// Damping, N·m·s/rad or N·s/m. DAS3: 1.
    pub damping: f64,
    /// Stiffness of the stops, N·m/rad² or N/m². DAS3: 5000.
    pub stop_stiffness: f64,
}

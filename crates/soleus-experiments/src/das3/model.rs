//! The DAS3 model from the parameter file of its authors.

use serde::Deserialize;
use soleus_math::function::{FunctionError, SparsePolynomial};
use soleus_math::{Function, Rotation, SymMat33, Transform, Vec3, vec3};
use soleus_model::body::{Body, Frame};
use soleus_model::force::{
    EllipsoidContact, ExpressionBasedPointToPointForce, PassiveJointMoment, PrescribedForce,
};
use soleus_model::id::{BodyId, CoordinateId, FrameId, JointId};
use soleus_model::joint::{Coordinate, Joint, JointKind, MotionType, SpatialTransform, TransformAxis};
use soleus_model::muscle::{Chadwick2009, Muscle, MuscleKind};
use soleus_model::path::{FunctionBasedPath, Path};
use soleus_model::{Force, ForceKind, Model};

/// The parameter file, `das3_model.json`; lengths in m, angles in rad.
#[derive(Deserialize)]
pub struct File {
    gravity: [f64; 3],
    joints: Vec<FileJoint>,
    segments: Vec<Segment>,
    dofs: Vec<Dof>,
    muscles: Vec<FileMuscle>,
    conoid_eps: f64,
    conoid_stiffness: f64,
    conoid_length: f64,
    conoid_origin: [f64; 3],
    conoid_insertion: [f64; 3],
    scap_thorax_eps: f64,
    scap_thorax_k: f64,
    #[serde(rename = "TSprojection")]
    ts: [f64; 3],
    #[serde(rename = "AIprojection")]
    ai: [f64; 3],
    thorax_radii: [f64; 3],
    thorax_center: [f64; 3],
}

#[derive(Deserialize)]
struct FileJoint {
    name: String,
    location: [f64; 3],
    parent_segment: String,
    segment: String,
    r1_axis: Option<[f64; 3]>,
    r1_coordinates: Option<String>,
    r2_axis: Option<[f64; 3]>,
    r2_coordinates: Option<String>,
    r3_axis: Option<[f64; 3]>,
    r3_coordinates: Option<String>,
}

#[derive(Deserialize)]
struct Segment {
    name: String,
    mass: f64,
    mass_center: [f64; 3],
    inertia: [[f64; 3]; 3],
}

#[derive(Deserialize)]
struct Dof {
    name: String,
    range: [f64; 2],
}

#[derive(Deserialize)]
struct FileMuscle {
    name: String,
    fmax: f64,
    lceopt: f64,
    lslack: f64,
    pennopt: f64,
    vmax: f64,
    tact: f64,
    tdeact: f64,
    #[serde(rename = "PEEslack")]
    pee_slack: f64,
    dof_names: Vec<String>,
    lparams: Vec<Vec<usize>>,
    lcoefs: Vec<f64>,
    xparams: Option<Vec<Vec<usize>>>,
    xcoefs: Option<Vec<f64>>,
    yparams: Option<Vec<Vec<usize>>>,
    ycoefs: Option<Vec<f64>>,
    zparams: Option<Vec<Vec<usize>>>,
    zcoefs: Option<Vec<f64>>,
}

/// What is wrong with a parameter file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A name that nothing else has.
    #[error("{what} `{name}` is missing")]
    NoSuch {
        /// What is looked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// A muscle with other than one exponent list per coefficient.
    #[error("muscle `{name}` has {terms} coefficients but {exponents} lists of exponents")]
    Terms {
        /// The muscle.
        name: String,
        /// Coefficients.
        terms: usize,
        /// Lists of exponents.
        exponents: usize,
    },
    /// A muscle whose polynomial makes no sense.
    #[error("length of muscle `{name}`: {source}")]
    Polynomial {
        /// The muscle.
        name: String,
        /// Why.
        source: FunctionError,
    },
}

/// Forces behind the muscles, in the model's order.
pub struct Others {
    /// The conoid ligament.
    pub conoid: usize,
    /// Contact of the shoulder blade: trigonum spinae and angulus inferior.
    pub contact: [usize; 2],
    /// Of each muscle that crosses the glenohumeral joint, the direction in which it pulls the humerus.
    pub directions: Vec<Option<Direction>>,
    /// The shoulder blade.
    pub scapula: BodyId,
    /// The hand.
    pub hand: BodyId,
    /// Mass of the arm from the shoulder to the hand, kg.
    pub arm_mass: f64,
}

/// A direction in the frame of the shoulder blade, not of unit length, as polynomials of coordinates.
pub struct Direction {
    /// The coordinates.
    pub coordinates: Vec<CoordinateId>,
    /// Along x, y and z.
    pub xyz: [SparsePolynomial; 3],
}

/// Builds the model: muscles first, in the order of the file, then ligament, contacts, joint moments and what carries the
/// hand's weight. That weight is left out, as the published equilibrium asks for.
pub fn build(file: &File) -> Result<(Model, Others), Problem> {
    let mut m = Model { name: "DAS3".into(), gravity: v(file.gravity), ..Model::default() };
    for s in &file.segments {
        let (body, i) = (BodyId(m.bodies.len()), &s.inertia);
        let path = if s.name == "ground" { "/ground".to_string() } else { format!("/bodyset/{}", s.name) };
        m.bodies.push(Body {
            name: s.name.clone(),
            path: path.clone(),
            mass: s.mass,
            mass_center: v(s.mass_center),
            inertia: SymMat33 {
                xx: i[0][0],
                yy: i[1][1],
                zz: i[2][2],
                xy: i[0][1],
                xz: i[0][2],
                yz: i[1][2],
            },
            frame: FrameId(body.0),
        });
        m.frames.push(Frame {
            name: s.name.clone(),
            path,
            body,
            X_BF: Transform::identity(),
            offset_from: None,
        });
    }
    for j in &file.joints {
        joint(&mut m, file, j)?;
    }
    if m.bodies.first().is_none_or(|b| b.name != "ground") {
        return Err(Problem::NoSuch { what: "first segment", name: "ground".into() });
    }
    for muscle in &file.muscles {
        let force = force_of_muscle(&m, muscle)?;
        m.forces.push(force);
    }
    let others = passive_forces(&mut m, file)?;
    Ok((m, others))
}

fn v(a: [f64; 3]) -> Vec3<f64> {
    vec3(a[0], a[1], a[2])
}

/// The body's own frame.
fn frame(m: &Model, name: &str) -> Result<FrameId, Problem> {
    let found = m.bodies.iter().find(|b| b.name == name).map(|b| b.frame);
    found.ok_or_else(|| Problem::NoSuch { what: "segment", name: name.into() })
}

fn coordinate(m: &Model, name: &str) -> Result<CoordinateId, Problem> {
    m.coordinate(name).ok_or_else(|| Problem::NoSuch { what: "coordinate", name: name.into() })
}

/// A turn about one axis through a place on the parent, or a weld.
fn joint(m: &mut Model, file: &File, j: &FileJoint) -> Result<(), Problem> {
    let (parent, child) = (frame(m, &j.parent_segment)?, frame(m, &j.segment)?);
    let parent_body = m.frames[parent.0].body;
    let id = JointId(m.joints.len());
    let path = format!("/jointset/{}", j.name);
    let offset = FrameId(m.frames.len());
    m.frames.push(Frame {
        name: format!("{}_offset", j.parent_segment),
        path: format!("{path}/{}_offset", j.parent_segment),
        body: parent_body,
        X_BF: Transform::new(Rotation::identity(), v(j.location)),
        offset_from: Some(parent),
    });
    let turns =
        [(j.r1_axis, &j.r1_coordinates), (j.r2_axis, &j.r2_coordinates), (j.r3_axis, &j.r3_coordinates)];
    let turn = turns.iter().find_map(|(axis, name)| Some(((*axis)?, name.as_ref()?)));
    let mut coordinates = Vec::new();
    let kind = match turn {
        None => JointKind::Weld,
        Some((axis, name)) => {
            let dof = file.dofs.iter().find(|d| d.name == *name);
            let dof = dof.ok_or_else(|| Problem::NoSuch { what: "dof", name: name.clone() })?;
            coordinates.push(CoordinateId(m.coordinates.len()));
            m.coordinates.push(Coordinate {
                name: name.clone(),
                path: format!("{path}/{name}"),
                joint: id,
                motion_type: MotionType::Rotational,
                default_value: 0.5 * (dof.range[0] + dof.range[1]),
                default_speed: 0.0,
                range: dof.range,
                clamped: false,
                locked: false,
                prescribed: false,
                prescribed_function: None,
                is_free_to_satisfy_constraints: false,
            });
            JointKind::Custom(about(v(axis)))
        }
    };
    m.joints.push(Joint { name: j.name.clone(), path, kind, parent: offset, child, coordinates });
    Ok(())
}

/// Rotation by the only coordinate about an axis; the two other rotation axes are there because a joint has three.
fn about(axis: Vec3<f64>) -> SpatialTransform {
    let axis = axis / axis.norm();
    let still = |axis| TransformAxis { axis, arguments: Vec::new(), function: Function::Constant(0.0) };
    let turn = Function::Linear { slope: 1.0, intercept: 0.0 };
    let (x, y, z) = (Vec3::unit(0), Vec3::unit(1), Vec3::unit(2));
    // Any two axes that are not parallel to this one.
    let other = if axis.x.abs() < 0.9 { x } else { y };
    let second = axis.cross(other) / axis.cross(other).norm();
    SpatialTransform {
        axes: [
            TransformAxis { axis, arguments: vec![0], function: turn },
            still(second),
            still(axis.cross(second)),
            still(x),
            still(y),
            still(z),
        ],
    }
}

fn force(name: &str, class: &str, line_of_action: Option<Path>, kind: ForceKind) -> Force {
    let path = format!("/forceset/{name}");
    Force { name: name.into(), path, class: class.into(), enabled: true, line_of_action, kind }
}

fn force_of_muscle(m: &Model, f: &FileMuscle) -> Result<Force, Problem> {
    let length = polynomial(f, &f.lparams, &f.lcoefs)?;
    let coordinates = f.dof_names.iter().map(|n| coordinate(m, n)).collect::<Result<_, _>>()?;
    let kind = MuscleKind::Chadwick2009(Chadwick2009 {
        activation_time_constant: f.tact,
        deactivation_time_constant: f.tdeact,
        parallel_slack_length: f.pee_slack,
        ..Chadwick2009::default()
    });
    let mut muscle = Muscle::new(kind);
    muscle.max_isometric_force = f.fmax;
    muscle.optimal_fiber_length = f.lceopt;
    muscle.tendon_slack_length = f.lslack;
    muscle.pennation_angle_at_optimal = f.pennopt;
    muscle.max_contraction_velocity = f.vmax;
    let path = FunctionBasedPath {
        coordinates,
        length: length.into(),
        moment_arms: Vec::new(),
        speed: None,
        without_torque: Vec::new(),
    };
    let path = Some(Path::FunctionBased(path));
    Ok(force(&f.name, "Chadwick2009Muscle", path, ForceKind::Muscle(muscle)))
}

/// The direction of a muscle's pull on the humerus, if the file gives it.
fn direction(m: &Model, f: &FileMuscle) -> Result<Option<Direction>, Problem> {
    let parts = [(&f.xparams, &f.xcoefs), (&f.yparams, &f.ycoefs), (&f.zparams, &f.zcoefs)];
    let mut polynomials = Vec::with_capacity(3);
    for (exponents, coefficients) in parts {
        let (Some(exponents), Some(coefficients)) = (exponents, coefficients) else { return Ok(None) };
        polynomials.push(polynomial(f, exponents, coefficients)?);
    }
    let coordinates = f.dof_names.iter().map(|n| coordinate(m, n)).collect::<Result<_, _>>()?;
    Ok(polynomials.try_into().ok().map(|xyz| Direction { coordinates, xyz }))
}

/// A polynomial of a muscle's coordinates.
fn polynomial(
    f: &FileMuscle,
    exponents: &[Vec<usize>],
    coefficients: &[f64],
) -> Result<SparsePolynomial, Problem> {
    if exponents.len() != coefficients.len() {
        let (terms, exponents) = (coefficients.len(), exponents.len());
        return Err(Problem::Terms { name: f.name.clone(), terms, exponents });
    }
    let terms: Vec<(f64, Vec<usize>)> = coefficients.iter().copied().zip(exponents.iter().cloned()).collect();
    SparsePolynomial::new(f.dof_names.len(), &terms)
        .map_err(|source| Problem::Polynomial { name: f.name.clone(), source })
}

/// Joint stiffness and damping (N·m/rad, N·m·s/rad) and the stops beyond the range (N·m/rad²), which are constants
/// of the DAS3 code and not in its parameter file.
const JOINT: (f64, f64, f64) = (1.0, 1.0, 5000.0);

fn passive_forces(m: &mut Model, file: &File) -> Result<Others, Problem> {
    // Conoid: k ½ (e + √(e² + ε²)) of the stretch e.
    let conoid = m.forces.len();
    let (e, k) = (format!("(d-{:?})", file.conoid_length), 0.5 * file.conoid_stiffness);
    let expression = format!("{k:?}*({e}+sqrt({e}^2+{:?}))", file.conoid_eps * file.conoid_eps);
    let (clavicle, scapula, thorax) = (frame(m, "clavicler")?, frame(m, "scapular")?, frame(m, "thorax")?);
    let ligament = ExpressionBasedPointToPointForce {
        body1: clavicle,
        body1_label: "clavicler".into(),
        body2: scapula,
        body2_label: "scapular".into(),
        point1: v(file.conoid_origin),
        point2: v(file.conoid_insertion),
        expression,
    };
    let class = "ExpressionBasedPointToPointForce";
    m.forces.push(force("conoid", class, None, ForceKind::ExpressionBasedPointToPointForce(ligament)));

    let contact = [m.forces.len(), m.forces.len() + 1];
    for (name, point) in [("contact_TS", file.ts), ("contact_AI", file.ai)] {
        let kind = ForceKind::EllipsoidContact(EllipsoidContact {
            point_frame: scapula,
            point: v(point),
            ellipsoid_frame: thorax,
            center: v(file.thorax_center),
            radii: v(file.thorax_radii),
            stiffness: file.scap_thorax_k,
            smoothing: file.scap_thorax_eps,
        });
        m.forces.push(force(name, "EllipsoidContact", None, kind));
    }

    for (i, d) in file.dofs.iter().enumerate() {
        let (stiffness, damping, stop_stiffness) = JOINT;
        let coordinate = coordinate(m, &d.name)?;
        if coordinate.0 != i {
            return Err(Problem::NoSuch { what: "joint in the order of the dofs for", name: d.name.clone() });
        }
        let kind = PassiveJointMoment { coordinate, range: d.range, stiffness, damping, stop_stiffness };
        let name = format!("passive_{}", d.name);
        m.forces.push(force(&name, "PassiveJointMoment", None, ForceKind::PassiveJointMoment(kind)));
    }

    // What carries the hand.
    let hand = frame(m, "handr")?;
    let body = &m.bodies[m.frames[hand.0].body.0];
    let constant = |a: Vec3<f64>| a.to_array().map(Function::Constant);
    let weight = PrescribedForce {
        frame: hand,
        point_is_global: false,
        force_is_global: true,
        force: Some(constant(m.gravity * -body.mass)),
        point: Some(constant(body.mass_center)),
        torque: None,
    };
    m.forces.push(force("hand_support", "PrescribedForce", None, ForceKind::PrescribedForce(weight)));
    let directions = file.muscles.iter().map(|f| direction(m, f)).collect::<Result<_, _>>()?;
    let arm = ["humerusr", "ulnar", "radiusr", "handr"];
    let arm_mass = m.bodies.iter().filter(|b| arm.contains(&b.name.as_str())).map(|b| b.mass).sum();
    Ok(Others {
        conoid,
        contact,
        directions,
        scapula: m.frames[scapula.0].body,
        hand: m.frames[hand.0].body,
        arm_mass,
    })
}

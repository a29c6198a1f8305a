//! Placement of inertial sensors on a model, from their orientations in a known pose.
//!
//! The subject stands in the model's default pose; the orientation of a sensor on its body is then
//!
//!   R_BS = R_GBᵀ R_GS
//!
//! where R_GS is the measured orientation, rotated from the sensors' world frame to ground, and about the vertical so
//! that the subject faces in the same direction as the model. Steps and results are those of OpenSim's `IMUPlacer`.

use soleus_dynamics::assembly::{Assembler, NotAssembled};
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{System, Workspace};
use soleus_math::elementary;
use soleus_math::table::{Element as Cell, Table};
use soleus_math::{Rotation, Vec3};
use soleus_model::{Document, Element, Model};

/// Why sensors cannot be placed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model cannot be compiled.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The constraints of the model cannot be satisfied.
    #[error("the constraints cannot be satisfied in the default pose: {0}")]
    NotAssembled(#[from] NotAssembled),
    /// The data are not orientations.
    #[error("the data are not orientations: {reason}")]
    NotOrientations {
        /// Reason.
        reason: &'static str,
    },
    /// No column is named after a body.
    #[error("no column has the name of a body followed by `_imu`")]
    NoSensors,
    /// The sensor that defines the heading is not in the data.
    #[error("the data have no column `{label}` for the heading")]
    NoBase {
        /// Its name.
        label: String,
    },
    /// No joint connects a body with ground.
    #[error("no joint has ground as its parent, so the heading is undefined")]
    NoRoot,
}

/// A signed axis of a sensor that points in the facing direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Heading {
    /// Column of the sensor.
    pub label: String,
    /// Axis 0, 1, 2.
    pub axis: usize,
    /// Whether the facing direction is opposite to the axis.
    pub negative: bool,
}

/// A model with sensors.
#[derive(Clone, Debug)]
pub struct PlacedImus {
    /// The document to write.
    pub document: Document,
    /// Rotation of the data about the vertical, rad.
    pub heading: f64,
    /// Sensors that were placed.
    pub placed: Vec<String>,
    /// Columns that do not belong to a body.
    pub unknown: Vec<String>,
}

/// Rotation by three angles (rad) about the space-fixed axes x, y, z in sequence: `sensor_to_opensim_rotations`.
pub fn space_fixed_xyz(angles: Vec3<f64>) -> Rotation<f64> {
    Rotation::about_z(angles.z) * Rotation::about_y(angles.y) * Rotation::about_x(angles.x)
}

/// Places a sensor on each body `b` for which the first row of `orientations` (quaternions) has a column `b_imu`: adds
/// a frame at the body's mass center with an `IMU`, or changes the orientation of an existing frame of that name.
pub fn place_imus(
    document: &Document,
    model: &Model,
    orientations: &Table,
    sensor_to_ground: Rotation<f64>,
    heading: Option<&Heading>,
) -> Result<PlacedImus, Error> {
    if orientations.element() != Cell::Quaternion {
        return Err(Error::NotOrientations { reason: "the columns are not quaternions" });
    }
    if orientations.rows() == 0 {
        return Err(Error::NotOrientations { reason: "the table has no rows" });
    }
    let bare = Model { forces: Vec::new(), ..model.clone() };
    let system = System::compile(&bare)?;
    let mut ws: Workspace<f64> = system.workspace();
    let mut x = system.default_state.clone();
    Assembler::new(&bare, &system).solve_assembly(&system, &mut x, &mut ws)?;
    system.compute_kinematics(&x, &mut ws);
    let pose = |frame: soleus_model::id::FrameId| {
        let f = soleus_dynamics::Resolve::frame(&system.tree, frame);
        ws.kin.X_GB[f.body].R * f.X_BF.R
    };
    let measured = |i: usize| {
        let q = std::array::from_fn(|k| orientations.columns()[4 * i + k][0]);
        sensor_to_ground * Rotation::from_quaternion(q)
    };

    // About the vertical, from where the sensor says the subject faces to where the model does.
    let mut turn = 0.0;
    if let Some(h) = heading {
        let i = orientations.index_of(&h.label).ok_or_else(|| Error::NoBase { label: h.label.clone() })?;
        let faces = measured(i).axis(h.axis) * if h.negative { -1.0 } else { 1.0 };
        let is_root = |j: &&soleus_model::joint::Joint| model.frames[j.parent.0].body.0 == 0;
        let root = model.joints.iter().find(is_root).ok_or(Error::NoRoot)?;
        let body = model.frames[root.child.0].body;
        let forward = pose(model.bodies[body.0].frame).axis(0);
        turn = elementary::acos(faces.dot(forward).clamp(-1.0, 1.0));
        if forward.cross(faces).y > 0.0 {
            turn = -turn;
        }
    }
    let turned = Rotation::about_y(turn);

    let mut done =
        PlacedImus { document: document.clone(), heading: turn, placed: Vec::new(), unknown: Vec::new() };
    for (i, label) in orientations.labels().iter().enumerate() {
        let body = label.rfind("_imu").map(|end| &label[..end]);
        let frame = body.and_then(|b| model.frames.iter().position(|f| f.name == b));
        let Some(frame) = frame else {
            done.unknown.push(label.clone());
            continue;
        };
        let R_BS = pose(soleus_model::id::FrameId(frame)).inverse() * (turned * measured(i));
        let angles = R_BS.to_body_fixed_xyz();
        let path = &model.frames[frame].path;
        let exists = model.frames.iter().any(|f| f.name == *label);
        let center = model.bodies.iter().find(|b| b.path == *path).map_or(Vec3::zero(), |b| b.mass_center);
        let root = &mut done.document.root;
        let e = if root.tag == "Model" { Some(root) } else { root.child_mut("Model") };
        if let Some(e) = e {
            if exists {
                turn_frame(e, label, angles);
            } else {
                add_sensor(e, &model.frames[frame].name, path, label, center, angles);
            }
        }
        done.placed.push(label.clone());
    }
    if done.placed.is_empty() {
        return Err(Error::NoSensors);
    }
    Ok(done)
}

fn words(v: Vec3<f64>) -> String {
    format!("{} {} {}", v.x, v.y, v.z)
}

/// Gives the offset frame of that name another orientation; true if it was found.
fn turn_frame(e: &mut Element, name: &str, angles: Vec3<f64>) -> bool {
    if e.tag == "PhysicalOffsetFrame" && e.name() == name {
        set(e, "orientation", words(angles));
        return true;
    }
    e.children_mut().any(|c| turn_frame(c, name, angles))
}

/// Adds a frame to a body (or other frame), and a sensor in it to the model.
fn add_sensor(model: &mut Element, owner: &str, path: &str, name: &str, place: Vec3<f64>, angles: Vec3<f64>) {
    let mut frame = Element::new("PhysicalOffsetFrame", 0);
    frame.set_attribute("name", name);
    set(&mut frame, "socket_parent", "..".to_string());
    set(&mut frame, "translation", words(place));
    set(&mut frame, "orientation", words(angles));
    if let Some(list) = find_frame(model, owner).and_then(|e| child(e, "components", None)) {
        list.push(frame);
    }
    let mut imu = Element::new("IMU", 0);
    imu.set_attribute("name", name);
    set(&mut imu, "socket_frame", format!("{path}/{name}"));
    let set = child(model, "ComponentSet", Some("componentset"));
    if let Some(list) = set.and_then(|s| child(s, "objects", None)) {
        list.push(imu);
    }
}

/// The body or offset frame of that name.
fn find_frame<'e>(e: &'e mut Element, name: &str) -> Option<&'e mut Element> {
    if matches!(e.tag.as_str(), "Body" | "PhysicalOffsetFrame" | "Ground") && e.name() == name {
        return Some(e);
    }
    e.children_mut().find_map(|c| find_frame(c, name))
}

/// The child with that tag; made, before the properties as OpenSim writes it, if there is none.
fn child<'e>(e: &'e mut Element, tag: &str, name: Option<&str>) -> Option<&'e mut Element> {
    if e.child(tag).is_none() {
        let mut new = Element::new(tag, e.line);
        if let Some(name) = name {
            new.set_attribute("name", name);
        }
        e.content.insert(0, soleus_model::Content::Element(new));
    }
    e.child_mut(tag)
}

fn set(e: &mut Element, tag: &str, text: String) {
    match e.child_mut(tag) {
        Some(p) => p.set_text(text),
        None => e.push(Element::with_text(tag, text, 0)),
    }
}

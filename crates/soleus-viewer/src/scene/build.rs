//! The scene of a model.

use super::bone::{Part, Segment, bone, part};
use super::hull::convex_hull;
use super::{Bone, Layer, Marker, Scene, Shape, Solid};
use soleus_math::{Transform, Vec3, vec3};
use soleus_model::contact::{ContactShape, TriangleMesh};
use soleus_model::force::ForceKind;
use soleus_model::id::{BodyId, FrameId};
use soleus_model::model::Model;
use soleus_model::path::{PathPointKind, WrapShape};

/// Colors of bodies without geometry of their own, of wrap objects and of contact geometry.
const BONE: [u8; 3] = [0xe3, 0xd5, 0xb8];
const WRAP: [u8; 3] = [0x56, 0xb4, 0xe9];
const CONTACT: [u8; 3] = [0x00, 0x9e, 0x73];
/// Cylinders that paths lie on have no end; so many radii of them are drawn either way.
const DRAWN_OF_CYLINDER: f64 = 2.0;
/// Bodies whose points lie in a plane or on a line are drawn this thick on either side, m.
const THIN: f64 = 0.015;
/// A mass centre nearer to the only joint of a body than this makes no line, m.
const SHORTEST_BONE: f64 = 0.01;
/// The force of a body's weight is drawn this long, m.
const WEIGHT_LENGTH: f64 = 0.8;

/// What to draw of a model.
#[derive(Clone, Debug, Default)]
pub struct SceneOptions {
    /// Shapes of bodies, as found by [`attached_geometry`](super::attached_geometry). Bodies without a shape are drawn
    /// as bones if their names are recognized, otherwise as the convex hull of the joints, paths and contacts on them.
    pub geometry: Vec<Shape>,
}

impl Scene {
    /// The scene of a model. Bodies are those of the model, in order; ground is the first.
    pub fn new(model: &Model, options: &SceneOptions) -> Scene {
        let mut shapes = options.geometry.clone();
        for body in (1..model.bodies.len()).map(BodyId) {
            if shapes.iter().all(|s| s.body != body.0) {
                shapes.extend(bone_of(model, body).or_else(|| hull_of(model, body)));
            }
        }
        shapes.extend(wrap_shapes(model));
        shapes.extend(contact_shapes(model));
        // Bones need no lines from joint to joint.
        let is_solid =
            |body: usize| shapes.iter().any(|s| s.body == body && s.layer == Layer::Body && s.opacity >= 1.0);
        let bones = bones(model).into_iter().filter(|b| !is_solid(b.body)).collect();
        let weight = model.total_mass() * model.gravity.norm();
        Scene {
            bodies: model.bodies.iter().map(|b| b.name.clone()).collect(),
            shapes,
            bones,
            markers: model
                .markers
                .iter()
                .map(|m| {
                    let (body, station) = on_body(model, m.frame, m.location);
                    Marker { name: m.name.clone(), body: body.0, station }
                })
                .collect(),
            paths: paths(model).map(|i| model.forces[i].name.clone()).collect(),
            arrows: Vec::new(),
            floor: None,
            meters_per_newton: if weight > 0.0 { WEIGHT_LENGTH / weight } else { 1e-3 },
        }
    }
}

/// Forces that act along a path, in the order of the model.
pub(super) fn paths(model: &Model) -> impl Iterator<Item = usize> {
    (0..model.forces.len()).filter(|&i| model.forces[i].line_of_action.is_some())
}

/// A point of a frame, in the body that carries the frame.
fn on_body(model: &Model, frame: FrameId, p_FS: Vec3<f64>) -> (BodyId, Vec3<f64>) {
    let f = &model.frames[frame.0];
    (f.body, f.X_BF * p_FS)
}

/// Joint centres on a body: the one that carries it first.
fn joints_on(model: &Model, body: BodyId) -> Vec<Vec3<f64>> {
    let place = |f: FrameId| Some(&model.frames[f.0]).filter(|f| f.body == body).map(|f| f.X_BF.p);
    let carried = model.joints.iter().filter_map(|j| place(j.child));
    carried.chain(model.joints.iter().filter_map(|j| place(j.parent))).collect()
}

/// Points of a body that touch.
fn contacts_on(model: &Model, body: BodyId) -> Vec<Vec3<f64>> {
    let shapes = model.contact_geometries.iter().filter(|g| !matches!(g.shape, ContactShape::HalfSpace));
    let points = model.forces.iter().filter_map(|f| match &f.kind {
        ForceKind::Bogert2011Contact(c) => Some((c.frame, c.location)),
        ForceKind::ExponentialContactForce(c) => Some((c.frame, c.location)),
        _ => None,
    });
    let all = shapes.map(|g| (g.frame, g.location)).chain(points);
    all.map(|(frame, p)| on_body(model, frame, p)).filter(|o| o.0 == body).map(|o| o.1).collect()
}

/// Lines from the joint that carries a body to the other joints on it; at the end of a chain to what touches there,
/// or to the mass centre.
pub(super) fn bones(model: &Model) -> Vec<Bone> {
    let mut bones = Vec::new();
    for (i, b) in model.bodies.iter().enumerate().skip(1) {
        let joints = joints_on(model, BodyId(i));
        let Some((&from, others)) = joints.split_first() else { continue };
        let mut ends = others.to_vec();
        if others.is_empty() {
            ends = contacts_on(model, BodyId(i));
        }
        if ends.is_empty() && (b.mass_center - from).norm() > SHORTEST_BONE {
            ends.push(b.mass_center);
        }
        bones.extend(ends.into_iter().filter(|&to| to != from).map(|to| Bone { body: i, from, to }));
    }
    bones
}

/// A bone where the body is a segment of a person.
fn bone_of(model: &Model, body: BodyId) -> Option<Shape> {
    let g = model.gravity.norm();
    let at = |f: FrameId| &model.frames[f.0];
    let carrier = model.joints.iter().find(|j| at(j.child).body == body)?;
    let others = model.joints.iter().filter(|j| at(j.parent).body == body);
    let is = |wanted: Part| model.bodies.iter().skip(1).any(|b| part(&b.name) == Some(wanted));
    let segment = Segment {
        name: &model.bodies[body.0].name,
        joint: at(carrier.child).X_BF.p,
        others: others
            .map(|j| (at(j.parent).X_BF.p, model.bodies[at(j.child).body.0].name.as_str()))
            .collect(),
        contacts: contacts_on(model, body),
        center: model.bodies[body.0].mass_center,
        up: if g > 0.0 { model.gravity * (-1.0 / g) } else { vec3(0.0, 1.0, 0.0) },
        has_head: is(Part::Head),
        has_pelvis: is(Part::Pelvis),
        has_muscles: model.forces.iter().any(|f| matches!(f.kind, ForceKind::Muscle(_))),
    };
    let solid = bone(&segment)?;
    let component = String::new();
    Some(Shape { body: body.0, layer: Layer::Body, color: BONE, opacity: 1.0, solid, component })
}

/// The hull of what is attached to a body.
fn hull_of(model: &Model, body: BodyId) -> Option<Shape> {
    let mut cloud = joints_on(model, body);
    // Where a chain ends or branches, markers tell best how far the body reaches: a hand, a trunk.
    if cloud.len() != 2 {
        let markers = model.markers.iter().map(|m| on_body(model, m.frame, m.location));
        cloud.extend(markers.filter(|o| o.0 == body).map(|o| o.1));
    }
    cloud.push(model.bodies[body.0].mass_center);
    for f in &model.forces {
        let Some(path) = &f.line_of_action else { continue };
        for point in path.points() {
            if let PathPointKind::Fixed(p) | PathPointKind::Conditional { location: p, .. } = point.kind {
                cloud.extend(Some(on_body(model, point.frame, p)).filter(|o| o.0 == body).map(|o| o.1));
            }
        }
    }
    cloud.extend(contacts_on(model, body));
    let hull = convex_hull(&cloud).or_else(|| {
        let around = [vec3(THIN, 0.0, 0.0), vec3(0.0, THIN, 0.0), vec3(0.0, 0.0, THIN)];
        let thick: Vec<_> = cloud.iter().flat_map(|&p| around.map(|d| [p + d, p - d])).flatten().collect();
        // One point alone is not a body to draw.
        cloud.iter().any(|p| (*p - cloud[0]).norm() > SHORTEST_BONE).then(|| convex_hull(&thick)).flatten()
    });
    let TriangleMesh { vertices, faces } = hull?;
    Some(Shape {
        body: body.0,
        layer: Layer::Body,
        color: BONE,
        opacity: 0.75,
        solid: Solid::Mesh { vertices, faces },
        component: String::new(),
    })
}

/// Surfaces that paths bend around.
fn wrap_shapes(model: &Model) -> Vec<Shape> {
    let shape = |w: &soleus_model::path::WrapObject| {
        let frame = &model.frames[w.frame.0];
        let X = frame.X_BF * w.pose;
        let solid = match w.shape {
            WrapShape::Sphere { radius } => Solid::Ellipsoid { pose: X, radii: vec3(radius, radius, radius) },
            WrapShape::Ellipsoid { dimensions } => Solid::Ellipsoid { pose: X, radii: dimensions },
            WrapShape::Cylinder { radius, length } => Solid::cylinder(&X, 2, radius, 0.5 * length),
            WrapShape::Torus { inner_radius, outer_radius } => Solid::torus(&X, outer_radius, inner_radius),
        };
        let component = w.path.clone();
        Shape { body: frame.body.0, layer: Layer::Wrap, color: WRAP, opacity: 0.35, solid, component }
    };
    model.wraps.iter().filter(|w| w.active).map(shape).collect()
}

/// Surfaces that touch, and those that paths lie on; half spaces are left to the floor.
fn contact_shapes(model: &Model) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for (i, g) in model.contact_geometries.iter().enumerate() {
        let carries_path = model.forces.iter().any(|f| f.obstacles().any(|o| o.geometry.0 == i));
        let frame = &model.frames[g.frame.0];
        let X: Transform<f64> = frame.X_BF * g.pose_in_frame();
        let solid = match &g.shape {
            ContactShape::Sphere { radius } => {
                Solid::Ellipsoid { pose: X, radii: vec3(*radius, *radius, *radius) }
            }
            ContactShape::Ellipsoid { radii } => Solid::Ellipsoid { pose: X, radii: *radii },
            ContactShape::Cylinder { radius } if carries_path => {
                Solid::cylinder(&X, 2, *radius, DRAWN_OF_CYLINDER * radius)
            }
            ContactShape::Torus { torus_radius, tube_radius } if carries_path => {
                Solid::torus(&X, *torus_radius, *tube_radius)
            }
            ContactShape::Mesh { mesh: Some(m), .. } => {
                let vertices = m.vertices.iter().map(|&v| X * v).collect();
                super::solid::simplified(vertices, m.faces.clone(), super::FEW_FACES)
            }
            _ => continue,
        };
        let (layer, color, opacity) =
            if carries_path { (Layer::Wrap, WRAP, 0.35) } else { (Layer::Contact, CONTACT, 0.6) };
        let component = g.path.clone();
        shapes.push(Shape { body: frame.body.0, layer, color, opacity, solid, component });
    }
    shapes
}

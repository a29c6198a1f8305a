//! Scaling of a model document, body by body.
//!
//! Each body has three factors s, one along each axis of its frame. Points fixed to a body are scaled, p ← s ∘ p
//! (component by component), and so are the sizes of components on it. Rules, order and results are those of
//! `Model::scale` and the `extendScale` methods of OpenSim 4.6.
//!
//! Lengths of muscles and ligaments depend on the length of their paths before and after scaling; [`scale_document`]
//! does not change them, and [`scale_lengths`] sets them once the path lengths are known.

mod inertia;

pub use inertia::scale_inertia;

use crate::build::context::{Context, Kind, kind_of};
use crate::build::functions::is_function_class;
use crate::build::properties::parse_numbers;
use crate::diagnostic::Diagnostics;
use crate::document::{Content, Document, Element};
use crate::id::BodyId;
use crate::joint::MotionType;
use crate::model::Model;
use soleus_math::{Rotation, SymMat33, Vec3, vec3};
use std::collections::HashMap;

/// Settings of scaling.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScaleOptions {
    /// Whether bodies keep their fraction of the total mass.
    pub preserve_mass_distribution: bool,
    /// Mass of the scaled model, kg; default: computed from the factors.
    pub mass: Option<f64>,
    /// Whether to reproduce errors of OpenSim 4.6, which does not scale contact geometry, the points of constraints and
    /// of point forces, and the lengths of `RigidTendonMuscle`s.
    pub opensim_faults: bool,
}

/// The document of `model` with every body scaled by its factors (x, y, z; in the order of the model's bodies, ground
/// first). The document must be of the current version, and `model` built from it. `log` reports what cannot be scaled.
pub fn scale_document(
    doc: &Document,
    model: &Model,
    factors: &[Vec3<f64>],
    options: &ScaleOptions,
    log: &mut Diagnostics,
) -> Document {
    edit_model(doc, log, |cx, element, log| {
        let mut pass = Pass::new(cx, model, factors, options, log);
        pass.mass_factor = pass.mass_factor();
        let scaled = pass.element(element, "", "");
        pass.tell_of_functions();
        scaled
    })
}

/// The document with scaled lengths of path forces: optimal fiber and tendon slack length of muscles, resting or slack
/// length of ligaments and springs. `ratios` are the path lengths after over before scaling, by absolute path of the
/// force.
pub fn scale_lengths(
    doc: &Document,
    ratios: &HashMap<String, f64>,
    options: &ScaleOptions,
    log: &mut Diagnostics,
) -> Document {
    edit_model(doc, log, |cx, element, _| lengths(cx, element, ratios, options))
}

/// The document with its `Model` element made anew.
fn edit_model(
    doc: &Document,
    log: &mut Diagnostics,
    edit: impl FnOnce(&Context, &Element, &mut Diagnostics) -> Element,
) -> Document {
    let is_root = doc.root.tag == "Model";
    let Some(element) = (if is_root { Some(&doc.root) } else { doc.root.child("Model") }) else {
        return doc.clone();
    };
    let defaults = doc.root.child("defaults").filter(|_| !is_root);
    // What is wrong with the names was said when the model was built.
    let cx = Context::new(element, defaults, Diagnostics::new(doc.file.clone()));
    let new = edit(&cx, element, log);
    let mut out = doc.clone();
    match out.root.child_mut("Model").filter(|_| !is_root) {
        Some(slot) => *slot = new,
        None => out.root = new,
    }
    out
}

/// What is known while the tree of elements is made anew.
struct Pass<'p, 'd> {
    cx: &'p Context<'d>,
    model: &'p Model,
    factors: &'p [Vec3<f64>],
    options: &'p ScaleOptions,
    log: &'p mut Diagnostics,
    /// Path of each component, by the address of its element.
    path_of: HashMap<*const Element, &'p str>,
    body_of_frame: HashMap<&'p str, BodyId>,
    /// What all masses are multiplied by at last, to reach the wanted total.
    mass_factor: f64,
    /// Forces whose paths are functions of coordinates, and their lines.
    functions: Vec<(u32, String)>,
}

impl<'p, 'd> Pass<'p, 'd> {
    fn new(
        cx: &'p Context<'d>,
        model: &'p Model,
        factors: &'p [Vec3<f64>],
        options: &'p ScaleOptions,
        log: &'p mut Diagnostics,
    ) -> Self {
        Pass {
            cx,
            model,
            factors,
            options,
            log,
            // A ground that the file does not have stands at the `Model` element.
            path_of: (cx.components.iter().filter(|c| c.element.tag != "Model"))
                .map(|c| (std::ptr::from_ref(c.element), c.path.as_str()))
                .collect(),
            body_of_frame: model.frames.iter().map(|f| (f.path.as_str(), f.body)).collect(),
            mass_factor: 1.0,
            functions: Vec::new(),
        }
    }

    /// One warning for all paths that are functions: a model that has one has many.
    fn tell_of_functions(&mut self) {
        let Some((line, owner)) = self.functions.first() else { return };
        let others = match self.functions.len() {
            1 => String::new(),
            n => format!(", as are those of {} other forces", n - 1),
        };
        let message = format!("the path is function-based{others}; functions cannot be scaled");
        let hint = "muscle lengths and moment arms remain those of the unscaled model; scale a model with path points, then fit functions to the result";
        self.log.warn(*line, owner, message, hint);
    }

    fn mass_factor(&self) -> f64 {
        let scaled: f64 = (self.model.bodies.iter().enumerate())
            .map(|(i, b)| b.mass * self.volume_factor(self.factors_of(BodyId(i))))
            .sum();
        match self.options.mass {
            Some(mass) if mass > 0.0 && scaled > 0.0 => mass / scaled,
            _ => 1.0,
        }
    }

    /// How much the mass of a body changes with its size.
    fn volume_factor(&self, s: Vec3<f64>) -> f64 {
        if self.options.preserve_mass_distribution { 1.0 } else { (s.x * s.y * s.z).abs() }
    }

    fn factors_of(&self, body: BodyId) -> Vec3<f64> {
        self.factors.get(body.0).copied().unwrap_or(vec3(1.0, 1.0, 1.0))
    }

    /// Factors of the body that carries the frame which a socket of the component at `owner` names.
    fn socket(&self, e: &Element, tag: &str, owner: &str) -> Option<Vec3<f64>> {
        let text = e.child_text(tag)?;
        let found = self.cx.resolve(owner, &text, Kind::is_frame).ok()?;
        self.frame(&self.cx.components[found.id].path)
    }

    /// Factors of the body that carries the frame at a path.
    fn frame(&self, path: &str) -> Option<Vec3<f64>> {
        self.body_of_frame.get(path).map(|&b| self.factors_of(b))
    }

    /// The element and everything below it, scaled; `owner` is the path of the component it belongs to, `frame` that of
    /// the nearest frame above.
    fn element(&mut self, e: &Element, owner: &str, frame: &str) -> Element {
        let path = self.path_of.get(&std::ptr::from_ref(e)).copied();
        let owner = path.unwrap_or(owner);
        let class = if matches!(e.tag.as_str(), "ground") { "Ground" } else { e.tag.as_str() };
        let kind = if path.is_some() { kind_of(class) } else { Kind::Other };
        let frame = if kind.is_frame() { owner } else { frame };

        let mut out = remade(e, |child| match child.tag.as_str() {
            "defaults" => child.clone(),
            _ => self.element(child, owner, frame),
        });

        match kind {
            Kind::Ground | Kind::Body | Kind::OffsetFrame | Kind::StationFrame => {
                self.frame_element(&mut out, kind, owner);
            }
            Kind::Station | Kind::Marker => {
                let s = self.socket(e, "socket_parent_frame", owner);
                self.vector(&mut out, "location", s, Vec3::zero());
            }
            Kind::Wrap => {
                if let Some(s) = self.frame(frame) {
                    self.wrap(&mut out, s);
                }
            }
            Kind::Joint => self.joint(&mut out, owner),
            Kind::Constraint => self.constraint(&mut out, owner),
            Kind::Contact if !self.options.opensim_faults => {
                let s = self.socket(e, "socket_frame", owner);
                self.contact(&mut out, s);
            }
            Kind::Force if !self.options.opensim_faults => self.points_of_force(&mut out, owner),
            _ => {}
        }
        match e.tag.as_str() {
            "PathPoint" | "ConditionalPathPoint" => {
                let s = self.socket(e, "socket_parent_frame", &point_path(owner, e));
                self.vector(&mut out, "location", s, Vec3::zero());
            }
            "MovingPathPoint" => {
                if let Some(s) = self.socket(e, "socket_parent_frame", &point_path(owner, e)) {
                    for (tag, s) in ["x_location", "y_location", "z_location"].into_iter().zip(s.to_array()) {
                        multiply_function(&mut out, tag, s);
                    }
                }
            }
            "FunctionBasedPath" if self.factors.iter().any(|s| *s != vec3(1.0, 1.0, 1.0)) => {
                self.functions.push((e.line, owner.to_string()));
            }
            _ => {}
        }
        out
    }

    /// Bodies and other frames: place, mass, and the shapes drawn with them.
    fn frame_element(&mut self, e: &mut Element, kind: Kind, path: &str) {
        let Some(s) = self.frame(path) else { return };
        if let Some(shapes) = e.child_mut("attached_geometry") {
            for shape in shapes.children_mut() {
                self.vector(shape, "scale_factors", Some(s), vec3(1.0, 1.0, 1.0));
            }
        }
        match kind {
            Kind::OffsetFrame => self.vector(e, "translation", Some(s), Vec3::zero()),
            Kind::Body => {
                self.vector(e, "mass_center", Some(s), Vec3::zero());
                let body = self.body_of_frame.get(path).and_then(|b| self.model.bodies.get(b.0));
                let Some(body) = body else { return };
                let mass = body.mass * self.volume_factor(s);
                let SymMat33 { xx, yy, zz, xy, xz, yz } =
                    scale_inertia(body.mass, mass, body.inertia, s).scale(self.mass_factor);
                set(e, "mass", &[mass * self.mass_factor]);
                set(e, "inertia", &[xx, yy, zz, xy, xz, yz]);
            }
            _ => {}
        }
    }

    /// A wrap object: its place, and its size along its own axes. A direction a of the frame is stretched by |s ∘ a|.
    fn wrap(&self, e: &mut Element, s: Vec3<f64>) {
        self.vector(e, "translation", Some(s), Vec3::zero());
        let angles = self.numbers(e, "xyz_body_rotation").filter(|r| r.len() == 3);
        let R = angles.map_or(Rotation::identity(), |r| Rotation::body_fixed_xyz(vec3(r[0], r[1], r[2])));
        let stretch: [f64; 3] = std::array::from_fn(|i| (R.axis(i).mul_elem(s)).norm());
        let across = 0.5 * (stretch[0] + stretch[1]);
        match e.tag.as_str() {
            "WrapCylinder" => {
                self.scalar(e, "radius", across, 1.0);
                self.scalar(e, "length", stretch[2], 1.0);
            }
            "WrapSphere" => self.scalar(e, "radius", (s.x + s.y + s.z) / 3.0, 0.05),
            "WrapEllipsoid" => {
                self.vector(e, "dimensions", Some(Vec3::from_array(stretch)), vec3(0.05, 0.05, 0.05));
            }
            "WrapTorus" => {
                self.scalar(e, "inner_radius", across, 0.01);
                self.scalar(e, "outer_radius", across, 0.05);
            }
            _ => {}
        }
    }

    /// A joint: distances that its own geometry holds, by the factors of the parent's body.
    fn joint(&self, e: &mut Element, path: &str) {
        let Some(s) = self.socket(e, "socket_parent_frame", path) else { return };
        match e.tag.as_str() {
            "CustomJoint" => {
                let Some(transform) = e.child_mut("SpatialTransform") else { return };
                for name in ["translation1", "translation2", "translation3"] {
                    if let Some(axis) = transform.children_mut().find(|a| a.name() == name) {
                        self.translation(axis, s);
                    }
                }
            }
            "EllipsoidJoint" => self.vector(e, "radii_x_y_z", Some(s), vec3(1.0, 1.0, 1.0)),
            // OpenSim takes the child's factor along y, and does not scale beams; ours grow with the parent along z.
            "ConstantCurvatureJoint" => {
                let child = self.socket(e, "socket_child_frame", path);
                let length = self.numbers(e, "length").and_then(|l| l.first().copied());
                if let Some(c) = child {
                    set(e, "length", &[length.unwrap_or(1.0) * c.y]);
                }
            }
            "CantileverFreeBeamJoint" => {
                let length = self.numbers(e, "beam_length").and_then(|l| l.first().copied());
                set(e, "beam_length", &[length.unwrap_or(1.0) * s.z]);
            }
            "ScapulothoracicJoint" => {
                self.vector(e, "thoracic_ellipsoid_radii_x_y_z", Some(s), vec3(1.0, 1.0, 1.0));
                let child = self.socket(e, "socket_child_frame", path);
                let origin = self.numbers(e, "scapula_winging_axis_origin").filter(|o| o.len() == 2);
                if let (Some(c), Some(o)) = (child, origin) {
                    set(e, "scapula_winging_axis_origin", &[o[0] * c.x, o[1] * c.y]);
                }
            }
            _ => {}
        }
    }

    /// A translation along an axis a of a custom joint: its function times |a| · s. One that is a coordinate itself (the
    /// identity) stays.
    fn translation(&self, axis: &mut Element, s: Vec3<f64>) {
        let a = self.numbers(axis, "axis").filter(|a| a.len() == 3);
        let Some(a) = a else { return };
        let factor = a[0].abs() * s.x + a[1].abs() * s.y + a[2].abs() * s.z;
        if let Some(f) = function_mut(axis, "function")
            && !is_identity(f)
        {
            multiply_function(axis, "function", factor);
        }
    }

    fn constraint(&mut self, e: &mut Element, path: &str) {
        match e.tag.as_str() {
            "CoordinateCouplerConstraint" => self.coupler(e, path),
            _ if self.options.opensim_faults => {}
            "PointConstraint" | "ConstantDistanceConstraint" => {
                let pairs = [("socket_body_1", "location_body_1"), ("socket_body_2", "location_body_2")];
                let mut mean = 0.0;
                for (socket, location) in pairs {
                    let s = self.socket(e, socket, path);
                    mean += s.map_or(1.0, |s| (s.x + s.y + s.z) / 3.0) / 2.0;
                    self.vector(e, location, s, Vec3::zero());
                }
                if e.child("constant_distance").is_some() {
                    self.scalar(e, "constant_distance", mean, 1.0);
                }
            }
            "PointOnLineConstraint" => {
                let pairs =
                    [("socket_line_body", "point_on_line"), ("socket_follower_body", "point_on_follower")];
                for (socket, location) in pairs {
                    let s = self.socket(e, socket, path);
                    self.vector(e, location, s, Vec3::zero());
                }
            }
            _ => {}
        }
    }

    /// A coupler whose dependent coordinate is a translation: scaled along that translation's axis. OpenSim refuses
    /// factors that differ between axes.
    fn coupler(&mut self, e: &mut Element, path: &str) {
        let Some(name) = e.child_text("dependent_coordinate_name") else { return };
        let Some(id) = self.model.coordinate(&name) else { return };
        let c = &self.model.coordinates[id.0];
        if c.motion_type != MotionType::Translational {
            return;
        }
        let joint = &self.model.joints[c.joint.0];
        let Some(parent) = self.model.frames.get(joint.parent.0) else { return };
        let s = self.factors_of(parent.body);
        let factor = if s.x == s.y && s.y == s.z {
            s.x
        } else {
            match axis_of(joint, id.0) {
                Some(a) => a.x.abs() * s.x + a.y.abs() * s.y + a.z.abs() * s.z,
                None => {
                    let message = format!(
                        "`{name}` is a translation of a body with different factors along its axes, and its direction is not known"
                    );
                    self.log.warn(e.line, path, message, "the scale_factor of the constraint is unchanged");
                    return;
                }
            }
        };
        self.scalar(e, "scale_factor", factor, 1.0);
    }

    fn contact(&self, e: &mut Element, s: Option<Vec3<f64>>) {
        let Some(s) = s else { return };
        self.vector(e, "location", Some(s), Vec3::zero());
        let mean = (s.x + s.y + s.z) / 3.0;
        for tag in ["radius", "torus_radius", "tube_radius"] {
            if e.child(tag).is_some() {
                self.scalar(e, tag, mean, 0.0);
            }
        }
        if e.child("radii").is_some() {
            self.vector(e, "radii", Some(s), Vec3::zero());
        }
    }

    /// Points that forces are given by, beside those of paths.
    fn points_of_force(&self, e: &mut Element, path: &str) {
        let pairs: &[(&str, &str)] = match e.tag.as_str() {
            "PointToPointSpring" => &[("socket_body1", "point1"), ("socket_body2", "point2")],
            _ => return,
        };
        let mut mean = 0.0;
        for (socket, point) in pairs {
            let s = self.socket(e, socket, path);
            mean += s.map_or(1.0, |s| (s.x + s.y + s.z) / 3.0) / pairs.len() as f64;
            self.vector(e, point, s, Vec3::zero());
        }
        self.scalar(e, "rest_length", mean, 0.0);
    }

    /// The numbers of a property: the element's own, else those of its class in the document's defaults.
    fn numbers(&self, e: &Element, tag: &str) -> Option<Vec<f64>> {
        numbers(self.cx, e, tag)
    }

    /// Multiplies a vector component by component.
    fn vector(&self, e: &mut Element, tag: &str, s: Option<Vec3<f64>>, default: Vec3<f64>) {
        let Some(s) = s else { return };
        let v = self.numbers(e, tag).filter(|v| v.len() == 3).unwrap_or_else(|| default.to_array().to_vec());
        let new = [v[0] * s.x, v[1] * s.y, v[2] * s.z];
        if e.child(tag).is_some() || new != default.to_array() {
            set(e, tag, &new);
        }
    }

    /// Multiplies a number.
    fn scalar(&self, e: &mut Element, tag: &str, factor: f64, default: f64) {
        let x = self.numbers(e, tag).and_then(|v| v.first().copied()).unwrap_or(default);
        set(e, tag, &[x * factor]);
    }
}

/// A copy of an element with every child element made anew.
fn remade(e: &Element, mut make: impl FnMut(&Element) -> Element) -> Element {
    let content = e.content.iter().map(|c| match c {
        Content::Element(child) => Content::Element(make(child)),
        other => other.clone(),
    });
    Element { tag: e.tag.clone(), attributes: e.attributes.clone(), content: content.collect(), line: e.line }
}

/// The path of a point on the path of a force.
fn point_path(force: &str, point: &Element) -> String {
    format!("{force}/path/pathpointset/{}", point.name())
}

/// The axis along which a custom joint moves when one of its coordinates does, if that coordinate moves along one only.
fn axis_of(joint: &crate::joint::Joint, coordinate: usize) -> Option<Vec3<f64>> {
    let crate::joint::JointKind::Custom(transform) = &joint.kind else { return None };
    let place = joint.coordinates.iter().position(|c| c.0 == coordinate)?;
    let mut along = transform.axes.iter().filter(|a| a.arguments.contains(&place));
    match (along.next(), along.next()) {
        (Some(a), None) => Some(a.axis),
        _ => None,
    }
}

fn numbers(cx: &Context, e: &Element, tag: &str) -> Option<Vec<f64>> {
    let given = e.child(tag).or_else(|| cx.default_of(&e.tag).and_then(|d| d.child(tag)))?;
    parse_numbers(&given.text()).ok()
}

/// Sets a property, in as few digits as read back to the same numbers.
fn set(e: &mut Element, tag: &str, values: &[f64]) {
    let words: Vec<String> = values.iter().map(f64::to_string).collect();
    let text = words.join(" ");
    match e.child_mut(tag) {
        Some(p) => p.set_text(text),
        None => {
            let line = e.line;
            e.push(Element::with_text(tag, text, line));
        }
    }
}

/// The function that a property holds: inside an element of that tag, or itself with that name.
fn function_mut<'e>(e: &'e mut Element, tag: &str) -> Option<&'e mut Element> {
    if e.child(tag).is_some() {
        return e.child_mut(tag).and_then(|p| p.children_mut().next());
    }
    if e.children().any(|c| c.name() == tag) {
        return e.children_mut().find(|c| c.name() == tag);
    }
    e.children_mut().find(|c| tag == "function" && is_function_class(&c.tag))
}

/// Whether a function is x ↦ x.
fn is_identity(f: &Element) -> bool {
    let given = f.child_text("coefficients").and_then(|t| parse_numbers(&t).ok());
    f.tag == "LinearFunction" && given.is_none_or(|c| c == [1.0, 0.0])
}

/// Multiplies the function that a property holds: through the factor of a `MultiplierFunction`, or a new one around it.
fn multiply_function(e: &mut Element, tag: &str, factor: f64) {
    let Some(f) = function_mut(e, tag) else { return };
    if factor == 1.0 {
        return;
    }
    if f.tag == "MultiplierFunction" {
        let old = f.child_text("scale").and_then(|t| parse_numbers(&t).ok()).and_then(|v| v.first().copied());
        set(f, "scale", &[old.unwrap_or(1.0) * factor]);
        return;
    }
    let line = f.line;
    let mut new = Element::new("MultiplierFunction", line);
    if !f.name().is_empty() {
        new.set_attribute("name", f.name());
    }
    let mut inner = Element::new("function", line);
    inner.push(std::mem::take(f));
    new.push(inner);
    set(&mut new, "scale", &[factor]);
    *f = new;
}

/// The lengths of a force that follow the length of its path, with the defaults of their classes.
const LENGTHS: [(&str, f64); 4] = [
    ("optimal_fiber_length", 0.1),
    ("tendon_slack_length", 0.2),
    ("resting_length", 0.0),
    ("slack_length", 0.0),
];

fn lengths(cx: &Context, e: &Element, ratios: &HashMap<String, f64>, options: &ScaleOptions) -> Element {
    let ratio_of: HashMap<*const Element, f64> = (cx.components.iter())
        .filter(|c| !(options.opensim_faults && c.class == "RigidTendonMuscle"))
        .filter_map(|c| ratios.get(&c.path).map(|r| (std::ptr::from_ref(c.element), *r)))
        .collect();
    with_lengths(cx, e, &ratio_of)
}

fn with_lengths(cx: &Context, e: &Element, ratios: &HashMap<*const Element, f64>) -> Element {
    let mut out = remade(e, |child| with_lengths(cx, child, ratios));
    if let Some(ratio) = ratios.get(&std::ptr::from_ref(e)) {
        let is_muscle = e.tag.ends_with("Muscle") || e.tag.ends_with("Muscle_Deprecated");
        for (tag, default) in LENGTHS {
            let given = numbers(cx, &out, tag).and_then(|v| v.first().copied());
            let fiber_or_tendon = tag == "optimal_fiber_length" || tag == "tendon_slack_length";
            match given {
                Some(x) => set(&mut out, tag, &[x * ratio]),
                None if is_muscle && fiber_or_tendon => set(&mut out, tag, &[default * ratio]),
                None => {}
            }
        }
    }
    out
}

//! Builds a model from a document: checks properties and resolves sockets.
//!
//! ```text
//! Document (version 40600) ──components listed──▶ paths ──▶ frames ──▶ joints ──▶ the rest ──▶ Model
//! ```
//!
//! Everything in the file is used, reported in a diagnostic, or only affects display.

mod constraints;
pub(crate) mod context;
mod controllers;
mod external_loads;
mod forces;
mod frames;
pub(crate) mod functions;
mod joints;
mod massless;
mod muscles;
mod paths;
mod probes;
pub(crate) mod properties;

pub use external_loads::build_external_loads;
pub use functions::build_function;

use crate::diagnostic::Diagnostics;
use crate::document::{Document, Element};
use crate::id::{CoordinateId, ForceId, FrameId, GeometryId, WrapId};
use crate::model::{Model, ObjectGroup, STANDARD_GRAVITY, Unsupported};
use context::{Component, Context, Kind, Place, Record};
use properties::{PropertyReader, split_words};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Builds a model from a document of the current version.
///
/// Errors and ignored content are added to `diags`, with line, component path and a hint; building continues after an
/// error so that one run reports them all. `None` if and only if `diags` contains an error, including earlier ones.
pub fn build(doc: &Document, diags: &mut Diagnostics) -> Option<Model> {
    build_recorded(doc, diags, None).0
}

/// As [`build`], and what was asked of each element, if a record is given.
pub(crate) fn build_recorded(
    doc: &Document,
    diags: &mut Diagnostics,
    record: Option<Record>,
) -> (Option<Model>, Recorded) {
    let Some(element) = model_element(doc) else {
        let message = format!("expected a `Model` in the file, found `{}`", doc.root.tag);
        diags.error(doc.root.line, "", message, "give a model file (.osim)");
        return (None, Recorded::default());
    };
    let defaults = doc.root.child("defaults").filter(|_| doc.root.tag != "Model");
    let mut cx = Context::new(element, defaults, std::mem::take(diags));
    cx.record = record.map(RefCell::new);
    let mut builder = Builder::new(&cx, empty_model(doc, element));
    builder.header(element);
    builder.bodies_and_frames();
    builder.joints();
    builder.constraints();
    builder.markers();
    builder.imus();
    builder.wraps();
    builder.contact_geometries();
    builder.forces();
    builder.controllers();
    builder.probes();
    builder.misplaced();
    builder.check_complete();
    builder.massless_ends();
    builder.groups(element);
    let mut model = builder.model;
    model.lines = cx.components.iter().map(|c| (c.path.clone(), c.element.line)).collect();
    let mut recorded = Recorded::default();
    if let Some(record) = cx.record.take() {
        let one = |c: &Component| (c.path.clone(), c.class.to_string(), std::ptr::from_ref(c.element));
        recorded =
            Recorded { components: cx.components.iter().map(one).collect(), asked: record.into_inner() };
    }
    *diags = cx.into_diagnostics();
    ((!diags.has_errors()).then_some(model), recorded)
}

/// Components in OpenSim's order (path, class, element), and what was asked of each element.
#[derive(Default)]
pub(crate) struct Recorded {
    pub components: Vec<(String, String, *const Element)>,
    pub asked: Record,
}

/// The `Model` element: the root, or the root's child.
fn model_element(doc: &Document) -> Option<&Element> {
    if doc.root.tag == "Model" { Some(&doc.root) } else { doc.root.child("Model") }
}

fn empty_model(doc: &Document, element: &Element) -> Model {
    Model {
        wraps: Vec::new(),
        contact_geometries: Vec::new(),
        forces: Vec::new(),
        name: element.name().to_string(),
        file_version: doc.version,
        gravity: STANDARD_GRAVITY,
        ..Model::default()
    }
}

/// A model under construction.
struct Builder<'d> {
    cx: &'d Context<'d>,
    model: Model,
    /// Frame of each component that is one.
    frame_of: HashMap<usize, FrameId>,
    /// Frames whose place is being worked out.
    frames_entered: usize,
    /// Coordinate of each component that is one.
    coordinate_of: HashMap<usize, CoordinateId>,
    /// The first coordinate at each path, and of each name.
    coordinate_at_path: HashMap<String, CoordinateId>,
    coordinate_of_name: HashMap<String, CoordinateId>,
    /// Wrap object of each component that is one.
    wrap_of: HashMap<usize, WrapId>,
    /// Contact geometry of each component that is one.
    geometry_of: HashMap<usize, GeometryId>,
    /// Force of each component that is one.
    force_of: HashMap<usize, ForceId>,
}

impl<'d> Builder<'d> {
    fn new(cx: &'d Context<'d>, model: Model) -> Self {
        Builder {
            cx,
            model,
            frame_of: HashMap::new(),
            frames_entered: 0,
            coordinate_of: HashMap::new(),
            coordinate_at_path: HashMap::new(),
            coordinate_of_name: HashMap::new(),
            wrap_of: HashMap::new(),
            geometry_of: HashMap::new(),
            force_of: HashMap::new(),
        }
    }

    /// Properties of the model itself.
    fn header(&mut self, element: &'d Element) {
        let p = PropertyReader::with_class(self.cx, element, "Model", "");
        self.model.credits = p.string("credits", "");
        self.model.publications = p.string("publications", "");
        self.model.length_units = p.string("length_units", "meters");
        self.model.force_units = p.string("force_units", "N");
        self.model.gravity = p.vec3("gravity", STANDARD_GRAVITY);
        p.skip(&[
            "assembly_accuracy",
            "ground",
            "Ground",
            "defaults",
            "BodySet",
            "JointSet",
            "ControllerSet",
        ]);
        p.skip(&["ConstraintSet", "ForceSet", "MarkerSet", "ContactGeometrySet", "ProbeSet", "ComponentSet"]);
        p.finish();
    }

    /// The component that a socket or a naming property means.
    fn socket(
        &self,
        p: &PropertyReader,
        tags: &[&'static str],
        what: &str,
        accept: impl Fn(Kind) -> bool,
    ) -> Option<usize> {
        match p.reference(tags) {
            Some((text, line)) => self.cx.component(p.path, &text, line, what, accept),
            None => {
                let tag = tags.first().copied().unwrap_or("socket");
                p.error(p.element.line, format!("`{tag}` is missing: it must name a {what}"), "");
                None
            }
        }
    }

    /// The frame that a socket means.
    fn frame_socket(&self, p: &PropertyReader, tags: &[&'static str]) -> Option<FrameId> {
        let id = self.socket(p, tags, "frame", Kind::is_frame)?;
        self.frame_of.get(&id).copied()
    }

    /// The coordinate that a property means.
    fn coordinate_reference(&self, p: &PropertyReader, tags: &[&'static str]) -> Option<CoordinateId> {
        match p.reference(tags) {
            Some((text, line)) => self.coordinate_named(p.path, &text, line),
            None => {
                let tag = tags.first().copied().unwrap_or("coordinate");
                p.error(p.element.line, format!("`{tag}` is missing: it must name a coordinate"), "");
                None
            }
        }
    }

    /// The coordinate at a path or of a name; reports when there is none.
    fn coordinate_named(&self, owner: &str, text: &str, line: u32) -> Option<CoordinateId> {
        // Coordinates that a joint got by default have no element and so no component.
        let absolute = context::join(owner, text);
        if let Some(k) = self.coordinate_at_path.get(&absolute) {
            return Some(*k);
        }
        if !self.cx.is_known(owner, text, |k| k == Kind::Coordinate) {
            let name = text.rsplit('/').next().unwrap_or(text);
            if let Some(k) = self.coordinate_of_name.get(name) {
                return Some(*k);
            }
        }
        let id = self.cx.component(owner, text, line, "coordinate", |k| k == Kind::Coordinate)?;
        self.coordinate_of.get(&id).copied()
    }

    /// Keeps a component of a class that is not supported on record: an error where the physics
    /// would change without it, else a warning.
    fn unsupported(&mut self, c: &Component) {
        let off = |tag: &str| c.element.child(tag).is_some_and(|e| e.text().eq_ignore_ascii_case("false"));
        let disabled = off("appliesForce") || off("isEnforced") || off("enabled");
        let lost = match c.kind {
            Kind::Joint => Some("a joint"),
            Kind::Constraint => Some("a constraint"),
            Kind::Force => Some("a force"),
            Kind::Body => Some("a body"),
            _ => c.place.physics(),
        };
        let class = c.class;
        let mut d = self.cx.diags.borrow_mut();
        let effect = match lost {
            Some(what) if !disabled => {
                let message = format!("`{class}` is not supported; without {what} the physics would change");
                let hint = "remove or disable the component, or replace it by a supported class";
                d.error(c.element.line, &c.path, message, hint);
                format!("the model is incomplete without this {}", &what[2..])
            }
            Some(_) => {
                d.warn(
                    c.element.line,
                    &c.path,
                    format!("`{class}` is not supported; it is disabled anyway"),
                    "",
                );
                "none while disabled".to_string()
            }
            None => {
                d.warn(c.element.line, &c.path, format!("`{class}` is not supported; ignored"), "");
                "not part of the equations of motion".to_string()
            }
        };
        let (path, line) = (c.path.clone(), c.element.line);
        self.model.unsupported.push(Unsupported { path, class: class.to_string(), line, effect });
    }

    /// Keeps a component that the caller has warned about on record.
    fn note_unsupported(&mut self, c: &Component, effect: &str) {
        let (path, class, line) = (c.path.clone(), c.class.to_string(), c.element.line);
        self.model.unsupported.push(Unsupported { path, class, line, effect: effect.to_string() });
    }

    /// Components whose class is unknown, and members of a set that do not belong there.
    fn misplaced(&mut self) {
        let cx = self.cx;
        for c in &cx.components {
            let belongs = match c.place {
                Place::Bodies => c.kind == Kind::Body,
                Place::Joints => c.kind == Kind::Joint,
                Place::Constraints => c.kind == Kind::Constraint,
                Place::Forces => c.kind == Kind::Force,
                Place::Elsewhere => !matches!(c.kind, Kind::Other | Kind::Path),
            };
            if !belongs && c.kind != Kind::Set {
                self.unsupported(c);
            }
        }
    }

    /// Makes sure that nothing with a part in the physics was left out without an error.
    fn check_complete(&self) {
        let m = &self.model;
        let made: HashSet<&str> = (m.bodies.iter().map(|x| x.path.as_str()))
            .chain(m.joints.iter().map(|x| x.path.as_str()))
            .chain(m.constraints.iter().map(|x| x.path.as_str()))
            .chain(m.forces.iter().map(|x| x.path.as_str()))
            .chain(m.unsupported.iter().map(|x| x.path.as_str()))
            .collect();
        let mut d = self.cx.diags.borrow_mut();
        if d.has_errors() {
            return;
        }
        let matters = |k| matches!(k, Kind::Body | Kind::Joint | Kind::Constraint | Kind::Force);
        for c in self.cx.components.iter().filter(|c| matters(c.kind) && !made.contains(c.path.as_str())) {
            let message = format!("the {} could not be built from what the file gives", c.class);
            d.error(c.element.line, &c.path, message, "see the warnings about its parts");
        }
    }

    /// Keeps the groups of the model's sets.
    fn groups(&mut self, element: &Element) {
        for set in element.children().filter(|e| e.tag.ends_with("Set")) {
            let groups = set.child("groups").into_iter().flat_map(Element::children);
            for group in groups.filter(|g| g.tag == "ObjectGroup") {
                let members = group.child("members").map_or(Vec::new(), |m| split_words(&m.text()));
                let (set, name) = (set.tag.clone(), group.name().to_string());
                self.model.groups.push(ObjectGroup { set, name, members });
            }
        }
    }
}

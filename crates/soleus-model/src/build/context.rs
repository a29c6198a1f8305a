//! What every part of `build` looks at: the components by path, the defaults, the diagnostics.

use crate::components::PropertyValue;
use crate::diagnostic::Diagnostics;
use crate::document::Element;
use crate::edit_distance;
use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// What a component is to the rest of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// `Ground`.
    Ground,
    /// `Body`.
    Body,
    /// `PhysicalOffsetFrame`.
    OffsetFrame,
    /// `StationDefinedFrame`.
    StationFrame,
    /// `Station`.
    Station,
    /// `Marker`.
    Marker,
    /// Any joint.
    Joint,
    /// `Coordinate`.
    Coordinate,
    /// Any constraint.
    Constraint,
    /// Any force, actuator or muscle.
    Force,
    /// Any wrap object.
    Wrap,
    /// Any contact geometry.
    Contact,
    /// Any controller.
    Controller,
    /// Any probe.
    Probe,
    /// A path of a force.
    Path,
    /// `IMU`.
    Imu,
    /// A shape that is only drawn.
    Display,
    /// A set of components.
    Set,
    /// Anything else.
    Other,
}

impl Kind {
    /// Whether sockets for a `PhysicalFrame` take it.
    pub fn is_frame(self) -> bool {
        matches!(self, Kind::Ground | Kind::Body | Kind::OffsetFrame | Kind::StationFrame)
    }
    /// Whether sockets for a `Station` take it.
    pub fn is_station(self) -> bool {
        matches!(self, Kind::Station | Kind::Marker)
    }
}

/// Where in the model a component stands; it decides what an unknown class means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `BodySet`.
    Bodies,
    /// `JointSet`.
    Joints,
    /// `ConstraintSet`.
    Constraints,
    /// `ForceSet`.
    Forces,
    /// Elsewhere.
    Elsewhere,
}

impl Place {
    /// What would be lost with an unknown member of this place.
    pub fn physics(self) -> Option<&'static str> {
        match self {
            Place::Bodies => Some("a body"),
            Place::Joints => Some("a joint"),
            Place::Constraints => Some("a constraint"),
            Place::Forces => Some("a force"),
            Place::Elsewhere => None,
        }
    }
}

/// One component of the document.
#[derive(Debug)]
pub(crate) struct Component<'d> {
    /// Name, unique among its siblings.
    pub name: String,
    /// Absolute path.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub place: Place,
    /// Class name.
    pub class: &'d str,
    /// Its element.
    pub element: &'d Element,
}

/// The tables that `build` works with.
pub(crate) struct Context<'d> {
    /// Problems found so far.
    pub diags: RefCell<Diagnostics>,
    /// Every component in OpenSim's order of traversal.
    pub components: Vec<Component<'d>>,
    by_path: HashMap<String, usize>,
    by_name: HashMap<String, Vec<usize>>,
    defaults: HashMap<&'d str, &'d Element>,
    ignored: RefCell<Vec<Ignored>>,
    /// Places in `ignored` by class and tag.
    ignored_at: RefCell<HashMap<(String, String), usize>>,
    /// Hints asked for so far.
    hints: Cell<usize>,
    /// What was asked of each element, if somebody wants to know.
    pub record: Option<RefCell<Record>>,
}

/// The properties that were asked of each element, with the values that count.
pub(crate) type Record = HashMap<*const Element, Vec<(&'static str, PropertyValue)>>;

/// Wrong references of one file that get a hint.
const MOST_HINTS: usize = 50;

/// A property that nothing read, in all objects of a class together.
#[derive(Debug)]
struct Ignored {
    class: String,
    tag: String,
    line: u32,
    path: String,
    is_retired: bool,
    count: usize,
}

/// The sets of a model, in the order in which OpenSim visits them.
const MODEL_SETS: [(&str, Place); 9] = [
    ("BodySet", Place::Bodies),
    ("JointSet", Place::Joints),
    ("ControllerSet", Place::Elsewhere),
    ("ConstraintSet", Place::Constraints),
    ("ForceSet", Place::Forces),
    ("MarkerSet", Place::Elsewhere),
    ("ContactGeometrySet", Place::Elsewhere),
    ("ProbeSet", Place::Elsewhere),
    ("ComponentSet", Place::Elsewhere),
];

impl<'d> Context<'d> {
    /// For documents that are not models.
    pub fn without_components(diags: Diagnostics) -> Self {
        Context {
            diags: RefCell::new(diags),
            components: Vec::new(),
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            defaults: HashMap::new(),
            ignored: RefCell::default(),
            ignored_at: RefCell::default(),
            hints: Cell::new(0),
            record: None,
        }
    }

    /// Lists the components of the `Model` element and the objects in `defaults`.
    pub fn new(model: &'d Element, defaults: Option<&'d Element>, diags: Diagnostics) -> Self {
        let mut cx = Context::without_components(diags);
        for list in [model.child("defaults"), defaults].into_iter().flatten() {
            for object in list.children() {
                cx.defaults.insert(&object.tag, object);
            }
        }

        // OpenSim visits a component before its parts, and the parts in the order in which the
        // class declares them, whatever their order in the file.
        let mut taken = Names::default();
        if let Some(list) = model.child("components") {
            for e in list.children() {
                cx.add(e, &e.tag, "", &mut taken, Place::Elsewhere);
            }
        }
        match model.child("ground").or_else(|| model.child("Ground")) {
            Some(e) => cx.add(e, "Ground", "", &mut taken, Place::Elsewhere),
            None => {
                cx.register(String::from("ground"), "", Kind::Ground, Place::Elsewhere, "Ground", model);
                cx.diags.borrow_mut().note(model.line, "", "the model has no `ground`; one was made");
            }
        }
        for (tag, place) in MODEL_SETS {
            if let Some(set) = model.child(tag) {
                cx.add_set(set, "", place);
            }
        }
        cx
    }

    /// The object of that class in the document's `<defaults>`.
    pub fn default_of(&self, class: &str) -> Option<&'d Element> {
        self.defaults.get(class).copied()
    }

    /// Takes down a property that nothing read.
    pub fn ignored_property(&self, class: &str, property: &Element, path: &str, is_retired: bool) {
        let mut list = self.ignored.borrow_mut();
        let key = (class.to_string(), property.tag.clone());
        match self.ignored_at.borrow_mut().entry(key) {
            Entry::Occupied(at) => list[*at.get()].count += 1,
            Entry::Vacant(at) => {
                at.insert(list.len());
                list.push(Ignored {
                    class: class.to_string(),
                    tag: property.tag.clone(),
                    line: property.line,
                    path: path.to_string(),
                    is_retired,
                    count: 1,
                });
            }
        }
    }

    /// The problems found, with one line for each property that nothing read.
    pub fn into_diagnostics(self) -> Diagnostics {
        let mut diags = self.diags.into_inner();
        for i in self.ignored.into_inner() {
            let more = match i.count {
                1 => String::new(),
                n => format!(" (here and in {} more)", n - 1),
            };
            let (tag, class) = (i.tag, i.class);
            if i.is_retired {
                let message =
                    format!("property `{tag}` of {class} is from an older version and has no effect{more}");
                diags.note(i.line, &i.path, message);
            } else {
                diags.warn(i.line, &i.path, format!("unknown property `{tag}` of {class} ignored{more}"), "");
            }
        }
        diags
    }

    fn add_set(&mut self, set: &'d Element, owner: &str, place: Place) {
        let name = match set.name() {
            "" => set.tag.to_ascii_lowercase(),
            given => given.to_string(),
        };
        let path = format!("{owner}/{name}");
        self.register(name, owner, Kind::Set, place, &set.tag, set);
        let mut taken = Names::default();
        for e in set.child("objects").into_iter().flat_map(Element::children) {
            self.add(e, &e.tag, &path, &mut taken, place);
        }
    }

    /// Adds a component and its parts.
    fn add(&mut self, e: &'d Element, class: &'d str, owner: &str, taken: &mut Names, place: Place) {
        let given = if class == "Ground" { "ground" } else { e.name() };
        let (name, is_changed) = unique_name(given, class, taken);
        let path = format!("{owner}/{name}");
        if is_changed {
            let message = format!("the name `{given}` is already used in this set; renamed to `{name}`");
            self.diags.borrow_mut().warn(
                e.line,
                &path,
                message,
                "give each component of a set a unique name",
            );
        }

        let kind = kind_of(class);
        self.register(name, owner, kind, place, class, e);
        let mut parts = Names::default();
        if let Some(list) = e.child("components") {
            for part in list.children() {
                self.add(part, &part.tag, &path, &mut parts, Place::Elsewhere);
            }
        }
        // Bushings and welds own offset frames too.
        if matches!(kind, Kind::Joint | Kind::Force | Kind::Constraint) {
            for tag in ["coordinates", "frames"] {
                for part in e.child(tag).into_iter().flat_map(Element::children) {
                    self.add(part, &part.tag, &path, &mut parts, Place::Elsewhere);
                }
            }
        }
        if let Some(set) = e.child("WrapObjectSet").filter(|_| kind.is_frame()) {
            self.add_set(set, &path, Place::Elsewhere);
        }
        if kind == Kind::Set {
            for part in e.child("objects").into_iter().flat_map(Element::children) {
                self.add(part, &part.tag, &path, &mut parts, Place::Elsewhere);
            }
        }
    }

    fn register(
        &mut self,
        name: String,
        owner: &str,
        kind: Kind,
        place: Place,
        class: &'d str,
        element: &'d Element,
    ) {
        let path = format!("{owner}/{name}");
        let id = self.components.len();
        self.by_path.entry(path.clone()).or_insert(id);
        self.by_name.entry(name.clone()).or_default().push(id);
        self.components.push(Component { name, path, kind, place, class, element });
    }

    /// The component that `text` means to the component at `owner`: by its path, absolute or
    /// relative to the owner, else by the last word of the path as a name.
    pub fn resolve(&self, owner: &str, text: &str, accept: impl Fn(Kind) -> bool) -> Result<Found, NotFound> {
        self.look_up(owner, text, &accept).map_err(|why| match why {
            NotFound::Missing(_) => {
                NotFound::Missing(self.nearest(text.rsplit('/').next().unwrap_or(text), &accept))
            }
            ambiguous => ambiguous,
        })
    }

    /// Whether `text` means one component.
    pub fn is_known(&self, owner: &str, text: &str, accept: impl Fn(Kind) -> bool) -> bool {
        self.look_up(owner, text, &accept).is_ok()
    }

    /// As `resolve`, without looking for what is most alike.
    fn look_up(&self, owner: &str, text: &str, accept: &impl Fn(Kind) -> bool) -> Result<Found, NotFound> {
        let path = join(owner, text);
        let there = self.by_path.get(&path).filter(|&&id| accept(self.components[id].kind));
        if let Some(&id) = there {
            return Ok(Found { id, by_name: false });
        }
        let name = text.rsplit('/').next().unwrap_or(text);
        let ids = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let mut fitting = ids.iter().copied().filter(|&id| accept(self.components[id].kind));
        match (fitting.next(), fitting.next()) {
            (Some(id), None) => Ok(Found { id, by_name: true }),
            (Some(a), Some(b)) => {
                Err(NotFound::Ambiguous(self.components[a].path.clone(), self.components[b].path.clone()))
            }
            _ => Err(NotFound::Missing(None)),
        }
    }

    /// The path of the component whose name is most like `name`; none after [`MOST_HINTS`] of them, since each looks at
    /// every component.
    fn nearest(&self, name: &str, accept: &impl Fn(Kind) -> bool) -> Option<String> {
        if self.hints.replace(self.hints.get() + 1) >= MOST_HINTS {
            return None;
        }
        // One letter more or less, or another, changes the length by four bytes at most.
        let most = 2.max(name.len() / 2);
        let candidates = self
            .components
            .iter()
            .filter(|c| accept(c.kind) && c.name.len().abs_diff(name.len()) <= 4 * most);
        let (distance, best) =
            candidates.map(|c| (edit_distance(name, &c.name), c)).min_by_key(|(d, _)| *d)?;
        (distance <= most).then(|| best.path.clone())
    }

    /// As `resolve`; reports what went wrong as an error of the owner.
    pub fn component(
        &self,
        owner: &str,
        text: &str,
        line: u32,
        what: &str,
        accept: impl Fn(Kind) -> bool,
    ) -> Option<usize> {
        match self.resolve(owner, text, accept) {
            Ok(found) => {
                // A bare name is how older files refer to components; a path that leads elsewhere is worth a word.
                if found.by_name && text.contains('/') {
                    let path = &self.components[found.id].path;
                    let message = format!("no {what} at `{text}`; using {path}, the only one with that name");
                    self.diags.borrow_mut().note(line, owner, message);
                }
                Some(found.id)
            }
            Err(why) => {
                let (message, hint) = match why {
                    NotFound::Ambiguous(a, b) => {
                        (format!("`{text}` is ambiguous: {a} or {b}"), "give the full path".to_string())
                    }
                    NotFound::Missing(Some(near)) => {
                        (format!("no {what} is called `{text}`"), format!("did you mean {near}?"))
                    }
                    NotFound::Missing(None) => (format!("no {what} is called `{text}`"), String::new()),
                };
                self.diags.borrow_mut().error(line, owner, message, &hint);
                None
            }
        }
    }
}

/// A component that a reference means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Its place in the list of components.
    pub id: usize,
    /// Whether it is not where the reference said, but has that name.
    pub by_name: bool,
}

/// Why a reference means nothing.
#[derive(Clone, Debug)]
pub(crate) enum NotFound {
    /// Nothing fits; the path of what is most alike.
    Missing(Option<String>),
    /// Two or more fit.
    Ambiguous(String, String),
}

/// The name of a component as OpenSim makes it: that of the class if it has none, and unique among
/// its siblings (a, a_0, a_1, …). Also says whether it was changed; adds it to `taken`.
pub(super) fn unique_name(given: &str, class: &str, taken: &mut Names) -> (String, bool) {
    let base = if given.is_empty() { class.to_ascii_lowercase() } else { given.to_string() };
    if taken.all.insert(base.clone()) {
        return (base, false);
    }
    // Names are never given back, so the search goes on where it ended for this name before.
    let count = taken.next.entry(base.clone()).or_default();
    loop {
        let name = format!("{base}_{count}");
        *count += 1;
        if taken.all.insert(name.clone()) {
            return (name, true);
        }
    }
}

/// The names that siblings have.
#[derive(Default)]
pub(super) struct Names {
    all: HashSet<String>,
    /// For a name that was asked for more than once, the first number that may be free.
    next: HashMap<String, usize>,
}

/// The absolute path that `text` means to the component at `owner`.
pub(crate) fn join(owner: &str, text: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    if !text.starts_with('/') {
        parts.extend(owner.split('/').filter(|p| !p.is_empty()));
    }
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    let mut path = String::new();
    for part in parts {
        path.push('/');
        path.push_str(part);
    }
    path
}

/// What a class is to the rest of the model.
pub(crate) fn kind_of(class: &str) -> Kind {
    match class {
        "Ground" => Kind::Ground,
        "Body" => Kind::Body,
        "PhysicalOffsetFrame" => Kind::OffsetFrame,
        "StationDefinedFrame" => Kind::StationFrame,
        "Station" => Kind::Station,
        "Marker" => Kind::Marker,
        "Coordinate" => Kind::Coordinate,
        "IMU" => Kind::Imu,
        _ if class.ends_with("Joint") => Kind::Joint,
        _ if class.ends_with("Constraint") => Kind::Constraint,
        _ if class.starts_with("Wrap") && !class.ends_with("Set") => Kind::Wrap,
        _ if CONTACT_GEOMETRIES.contains(&class) => Kind::Contact,
        _ if class.ends_with("Controller") || CONTROLLERS.contains(&class) => Kind::Controller,
        _ if class.ends_with("Probe") || PROBES.contains(&class) => Kind::Probe,
        "GeometryPath" | "FunctionBasedPath" | "Scholz2015GeometryPath" => Kind::Path,
        _ if GEOMETRIES.contains(&class) => Kind::Display,
        _ if is_force(class) => Kind::Force,
        _ if class.ends_with("Set") => Kind::Set,
        _ => Kind::Other,
    }
}

const CONTACT_GEOMETRIES: [&str; 6] = [
    "ContactSphere",
    "ContactHalfSpace",
    "ContactMesh",
    "ContactEllipsoid",
    "ContactCylinder",
    "ContactTorus",
];
const GEOMETRIES: [&str; 10] = [
    "Mesh",
    "Brick",
    "Sphere",
    "Ellipsoid",
    "Cylinder",
    "Cone",
    "Torus",
    "Arrow",
    "LineGeometry",
    "FrameGeometry",
];
const CONTROLLERS: [&str; 2] = ["CMC", "ControlDistributor"];
const PROBES: [&str; 1] = ["Bhargava2004SmoothedMuscleMetabolics"];

/// Whether OpenSim has, or names like OpenSim's say, that a class is a force.
fn is_force(class: &str) -> bool {
    const ENDINGS: [&str; 6] = ["Force", "Actuator", "Muscle", "Muscle_Deprecated", "Spring", "Ligament"];
    class == "DiscreteForces" || ENDINGS.iter().any(|e| class.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_paths_join() {
        assert_eq!(join("/jointset/hip_r", "../../bodyset/pelvis"), "/bodyset/pelvis");
        assert_eq!(join("/jointset/hip_r", "pelvis_offset"), "/jointset/hip_r/pelvis_offset");
        assert_eq!(join("/bodyset/a/b", ".."), "/bodyset/a");
        assert_eq!(join("/bodyset/a", "/ground"), "/ground");
        assert_eq!(join("/a", "../../../.."), "");
    }
}

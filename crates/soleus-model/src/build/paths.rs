//! Wrap objects, contact geometries, and the paths of forces.

use super::Builder;
use super::context::{Kind, Names, unique_name};
use super::functions::function;
use super::properties::PropertyReader;
use crate::contact::{ContactGeometry, ContactShape};
use crate::document::Element;
use crate::id::{CoordinateId, GeometryId, WrapId};
use crate::path::{
    FunctionBasedPath, GeometryPath, MovingComponent, Path, PathObstacle, PathPoint, PathPointKind, PathWrap,
    Quadrant, Scholz2015Element, Scholz2015Path, WrapMethod, WrapObject, WrapShape,
};
use soleus_math::{Function, Transform, Vec3, vec3};

/// Classes of paths.
const PATH_CLASSES: [&str; 3] = ["GeometryPath", "FunctionBasedPath", "Scholz2015GeometryPath"];

impl Builder<'_> {
    /// Makes the wrap objects, body by body.
    pub(super) fn wraps(&mut self) {
        let cx = self.cx;
        for (id, c) in cx.components.iter().enumerate().filter(|(_, c)| c.kind == Kind::Wrap) {
            // The path is /frame/set/name: the frame is two steps up.
            let owner = super::context::join(&c.path, "../..");
            let frame = cx.resolve("", &owner, Kind::is_frame).ok().and_then(|f| self.frame_of.get(&f.id));
            let Some(&frame) = frame else {
                self.unsupported(c);
                continue;
            };
            let p = PropertyReader::new(cx, c.element, &c.path);
            let active = p.boolean("active", true);
            let rotation = p.vec3("xyz_body_rotation", Vec3::zero());
            let translation = p.vec3("translation", Vec3::zero());
            let word = p.string("quadrant", "Unassigned");
            let quadrant = Quadrant::from_word(&word).unwrap_or_else(|| {
                let hint = "write all, x, -x, +x, y, …";
                p.error(p.line_of("quadrant"), format!("`{word}` is not a quadrant"), hint);
                Quadrant::All
            });
            let shape = match c.class {
                "WrapCylinder" => WrapShape::Cylinder {
                    radius: p.nonnegative("radius", 1.0),
                    length: p.nonnegative("length", 1.0),
                },
                "WrapSphere" => WrapShape::Sphere { radius: p.nonnegative("radius", 0.05) },
                "WrapEllipsoid" => {
                    let dimensions = p.vec3("dimensions", vec3(0.05, 0.05, 0.05));
                    if dimensions.to_array().iter().any(|d| *d <= 0.0) {
                        p.error(p.line_of("dimensions"), "`dimensions` must be above zero", "");
                    }
                    WrapShape::Ellipsoid { dimensions }
                }
                "WrapTorus" => {
                    let inner_radius = p.positive("inner_radius", 0.01);
                    let outer_radius = p.positive("outer_radius", 0.05);
                    if outer_radius <= inner_radius {
                        p.error(p.line_of("outer_radius"), "`outer_radius` must exceed `inner_radius`", "");
                    }
                    WrapShape::Torus { inner_radius, outer_radius }
                }
                _ => {
                    self.unsupported(c);
                    continue;
                }
            };
            p.finish();
            self.wrap_of.insert(id, WrapId(self.model.wraps.len()));
            self.model.wraps.push(WrapObject {
                name: c.name.clone(),
                path: c.path.clone(),
                frame,
                pose: Transform::from_offset(translation, rotation),
                active,
                quadrant,
                shape,
            });
        }
    }

    /// Makes the contact geometries in file order.
    pub(super) fn contact_geometries(&mut self) {
        let cx = self.cx;
        for (id, c) in cx.components.iter().enumerate().filter(|(_, c)| c.kind == Kind::Contact) {
            let p = PropertyReader::new(cx, c.element, &c.path);
            let frame = self.frame_socket(&p, &["socket_frame"]);
            let location = p.vec3("location", Vec3::zero());
            let orientation = p.vec3("orientation", Vec3::zero());
            let shape = match c.class {
                "ContactHalfSpace" => ContactShape::HalfSpace,
                "ContactSphere" => ContactShape::Sphere { radius: p.positive("radius", 0.0) },
                "ContactEllipsoid" => {
                    let radii = p.vec3("radii", Vec3::zero());
                    if radii.to_array().iter().any(|r| *r <= 0.0) {
                        p.error(p.line_of("radii"), "`radii` must be above zero", "");
                    }
                    ContactShape::Ellipsoid { radii }
                }
                "ContactCylinder" => ContactShape::Cylinder { radius: p.positive("radius", 0.0) },
                "ContactTorus" => ContactShape::Torus {
                    torus_radius: p.positive("torus_radius", 0.0),
                    tube_radius: p.positive("tube_radius", 0.0),
                },
                _ => ContactShape::Mesh { filename: p.string("filename", ""), mesh: None },
            };
            p.finish();
            let Some(frame) = frame else { continue };
            self.geometry_of.insert(id, GeometryId(self.model.contact_geometries.len()));
            let (name, path) = (c.name.clone(), c.path.clone());
            self.model.contact_geometries.push(ContactGeometry {
                name,
                path,
                frame,
                location,
                orientation,
                shape,
            });
        }
    }

    /// The contact geometry at a path or of a name; reports when there is none.
    pub(super) fn geometry_named(&self, owner: &str, text: &str, line: u32) -> Option<GeometryId> {
        let id = self.cx.component(owner, text, line, "contact geometry", |k| k == Kind::Contact)?;
        self.geometry_of.get(&id).copied()
    }

    /// Whether a force has a path.
    pub(super) fn has_path(&self, p: &PropertyReader) -> bool {
        p.object("path").is_some() || PATH_CLASSES.into_iter().any(|class| p.find(class).is_some())
    }

    /// The path of a force; reports when it has none.
    pub(super) fn line_of_action(&self, p: &PropertyReader) -> Option<Path> {
        let found = p.object("path").or_else(|| PATH_CLASSES.into_iter().find_map(|class| p.find(class)));
        let Some(e) = found else {
            p.error(p.element.line, "the force has no path", "");
            return None;
        };
        let path = format!("{}/path", p.path);
        match e.tag.as_str() {
            "GeometryPath" => self.geometry_path(e, &path).map(Path::Geometry),
            "FunctionBasedPath" => self.function_based_path(e, &path).map(Path::FunctionBased),
            "Scholz2015GeometryPath" => self.scholz2015_path(e, &path).map(Path::Scholz2015),
            other => {
                let hint = "use a `GeometryPath` with wrap objects, or a `FunctionBasedPath` fitted to it";
                p.error(e.line, format!("paths of class `{other}` are not supported"), hint);
                None
            }
        }
    }

    /// A path of points and wrap objects.
    fn geometry_path(&self, e: &Element, path: &str) -> Option<GeometryPath> {
        let p = PropertyReader::new(self.cx, e, path);
        let mut taken = Names::default();
        let points: Option<Vec<PathPoint>> = members(p.find("PathPointSet"))
            .map(|point| {
                let (name, _) = unique_name(point.name(), &point.tag, &mut taken);
                let owner = format!("{path}/pathpointset/{name}");
                self.path_point(point, &owner, name)
            })
            .collect();
        let wraps: Option<Vec<PathWrap>> =
            members(p.find("PathWrapSet")).map(|wrap| self.path_wrap(wrap, path)).collect();
        p.skip(&["default_color"]);
        p.finish();
        let (points, wraps) = (points?, wraps?);
        if points.len() < 2 {
            let message = format!("a path needs at least two points, found {}", points.len());
            self.cx.diags.borrow_mut().error(e.line, path, message, "");
            return None;
        }
        Some(GeometryPath { points, wraps })
    }

    fn path_point(&self, e: &Element, path: &str, name: String) -> Option<PathPoint> {
        let p = PropertyReader::new(self.cx, e, path);
        let frame = self.frame_socket(&p, &["socket_parent_frame"]);
        let kind = match e.tag.as_str() {
            "PathPoint" => Some(PathPointKind::Fixed(p.vec3("location", Vec3::zero()))),
            "ConditionalPathPoint" => {
                let location = p.vec3("location", Vec3::zero());
                let range = match (p.find("range"), &p.list("range")[..]) {
                    (None, _) => [0.0; 2],
                    (_, &[lo, hi]) if !lo.is_nan() && !hi.is_nan() => [lo, hi],
                    _ => {
                        p.error(p.line_of("range"), "`range` needs two numbers", "");
                        [0.0; 2]
                    }
                };
                self.coordinate_reference(&p, &["socket_coordinate"])
                    .map(|coordinate| PathPointKind::Conditional { location, coordinate, range })
            }
            "MovingPathPoint" => self.moving_point(&p),
            other => {
                p.error(e.line, format!("path points of class `{other}` are not supported"), "");
                return None;
            }
        };
        p.finish();
        Some(PathPoint { name, frame: frame?, kind: kind? })
    }

    fn moving_point(&self, p: &PropertyReader) -> Option<PathPointKind> {
        const SOCKETS: [&str; 3] = ["socket_x_coordinate", "socket_y_coordinate", "socket_z_coordinate"];
        const LOCATIONS: [&str; 3] = ["x_location", "y_location", "z_location"];
        let mut components = Vec::with_capacity(3);
        let mut coordinates: Vec<CoordinateId> = Vec::new();
        let mut is_complete = true;
        for (socket, tag) in SOCKETS.into_iter().zip(LOCATIONS) {
            let made = match p.object(tag) {
                Some(e) => function(self.cx, e, p.path),
                None => Some(Function::Constant(0.0)),
            };
            // A component without a coordinate, or with an empty socket, does not move.
            let coordinate = match p.reference(&[socket]) {
                Some((text, line)) => {
                    let found = self.coordinate_named(p.path, &text, line);
                    is_complete &= found.is_some();
                    found
                }
                None => None,
            };
            coordinates.extend(coordinate);
            match made {
                Some(function) => components.push(MovingComponent { function, coordinate }),
                None => is_complete = false,
            }
        }
        if coordinates.iter().any(|c| *c != coordinates[0]) {
            p.error(
                p.element.line,
                "the three parts of a MovingPathPoint must follow the same coordinate",
                "",
            );
            is_complete = false;
        }
        let [x, y, z] = <[MovingComponent; 3]>::try_from(components).ok().filter(|_| is_complete)?;
        let range = coordinates.first().map_or([0.0; 2], |c| self.model.coordinates[c.0].range);
        Some(PathPointKind::Moving { x, y, z, range })
    }

    fn path_wrap(&self, e: &Element, path: &str) -> Option<PathWrap> {
        let p = PropertyReader::new(self.cx, e, path);
        let word = p.string("method", "hybrid");
        let method = WrapMethod::from_word(&word).unwrap_or_else(|| {
            p.error(
                p.line_of("method"),
                format!("`{word}` is not a wrap method"),
                "write hybrid, midpoint or axial",
            );
            WrapMethod::Hybrid
        });
        let range = p.array("range", [-1.0, -1.0]).map(|x| x as i32);
        let named = p.reference(&["wrap_object"]);
        p.skip(&["PathWrapPoint"]);
        p.finish();
        let Some((name, line)) = named else {
            self.cx.diags.borrow_mut().error(
                e.line,
                path,
                "`wrap_object` is missing: it must name a wrap object",
                "",
            );
            return None;
        };
        // By name alone; of several with one name the first counts, as in OpenSim.
        let mut same =
            self.cx.components.iter().enumerate().filter(|(_, c)| c.kind == Kind::Wrap && c.name == name);
        let id = match (same.next(), same.next()) {
            (Some((id, _)), None) => id,
            (Some((id, first)), Some((_, second))) => {
                let message =
                    format!("`{name}` is ambiguous: {} or {}; using the first", first.path, second.path);
                self.cx.diags.borrow_mut().warn(line, path, message, "give each wrap object a unique name");
                id
            }
            _ => self.cx.component(path, &name, line, "wrap object", |k| k == Kind::Wrap)?,
        };
        let wrap = self.wrap_of.get(&id).copied();
        if wrap.is_none() {
            let class = self.cx.components[id].class;
            let message = format!("the path wraps around `{name}`, a {class}, which is not supported");
            self.cx.diags.borrow_mut().error(line, path, message, "");
        }
        Some(PathWrap { wrap: wrap?, method, range })
    }

    /// A path over obstacles.
    fn scholz2015_path(&self, e: &Element, path: &str) -> Option<Scholz2015Path> {
        let p = PropertyReader::new(self.cx, e, path);
        let mut taken = Names::default();
        let elements: Option<Vec<Scholz2015Element>> = p
            .objects("path_elements")
            .map(|part| {
                let (name, _) = unique_name(part.name(), &part.tag, &mut taken);
                let owner = format!("{path}/{name}");
                match part.tag.as_str() {
                    "Scholz2015GeometryPathPoint" => self.scholz2015_point(part, &owner, name),
                    "Scholz2015GeometryPathObstacle" => self.scholz2015_obstacle(part, &owner, name),
                    other => {
                        let hint = "write Scholz2015GeometryPathPoint or Scholz2015GeometryPathObstacle";
                        let message = format!("path elements of class `{other}` are not supported");
                        self.cx.diags.borrow_mut().error(part.line, &owner, message, hint);
                        None
                    }
                }
            })
            .collect();
        if p.boolean("use_warm_start", false) {
            p.warn(
                p.line_of("use_warm_start"),
                "`use_warm_start` has no effect: the path is computed from its contact hints in every pose",
                "",
            );
        }
        p.finish();
        let found = Scholz2015Path { elements: elements? };
        let is_point = |e: Option<&Scholz2015Element>| matches!(e, Some(Scholz2015Element::Point(_)));
        let count = found.points().count();
        let message = if count < 2 {
            format!("a path needs at least two points, found {count}")
        } else if !is_point(found.elements.first()) {
            "the first element of the path must be a point".to_string()
        } else if !is_point(found.elements.last()) {
            "the last element of the path must be a point".to_string()
        } else {
            return Some(found);
        };
        self.cx.diags.borrow_mut().error(e.line, path, message, "");
        None
    }

    fn scholz2015_point(&self, e: &Element, path: &str, name: String) -> Option<Scholz2015Element> {
        let p = PropertyReader::new(self.cx, e, path);
        let point = p.find("PathPoint");
        p.finish();
        let Some(point) = point else {
            let message = "the path element has no `PathPoint`";
            self.cx.diags.borrow_mut().error(e.line, path, message, "");
            return None;
        };
        let own = if point.name().is_empty() { "pathpoint" } else { point.name() };
        self.path_point(point, &format!("{path}/{own}"), name).map(Scholz2015Element::Point)
    }

    fn scholz2015_obstacle(&self, e: &Element, path: &str, name: String) -> Option<Scholz2015Element> {
        let p = PropertyReader::new(self.cx, e, path);
        // Three times NaN, as OpenSim has it by default, is not a hint.
        let contact_hint = match p.list("contact_hint")[..] {
            [] => None,
            [x, y, z] if x.is_nan() && y.is_nan() && z.is_nan() => None,
            [x, y, z] if (x + y + z).is_finite() => Some(vec3(x, y, z)),
            _ => {
                p.error(p.line_of("contact_hint"), "`contact_hint` needs three numbers", "");
                None
            }
        };
        let named = p.reference(&["socket_contact_geometry"]);
        p.finish();
        let error = |line: u32, message: String, hint: &str| {
            self.cx.diags.borrow_mut().error(line, path, message, hint);
        };
        let Some((text, line)) = named else {
            error(e.line, "`socket_contact_geometry` is missing: it must name a contact geometry".into(), "");
            return None;
        };
        let geometry = self.geometry_named(path, &text, line)?;
        let shape = &self.model.contact_geometries[geometry.0].shape;
        let hint = "use a sphere, cylinder, ellipsoid or torus";
        match *shape {
            ContactShape::HalfSpace | ContactShape::Mesh { .. } => {
                error(line, format!("paths over a {} are not supported", shape.class()), hint);
                None
            }
            ContactShape::Torus { torus_radius, tube_radius } if torus_radius <= tube_radius => {
                let hint = "make `torus_radius` larger than `tube_radius`";
                error(line, format!("`{text}` is a torus without a hole; paths cannot wrap over it"), hint);
                None
            }
            _ => Some(Scholz2015Element::Obstacle(PathObstacle { name, geometry, contact_hint })),
        }
    }

    /// A path given by its length as a function of coordinates.
    fn function_based_path(&self, e: &Element, path: &str) -> Option<FunctionBasedPath> {
        let p = PropertyReader::new(self.cx, e, path);
        let line = p.line_of("coordinate_paths");
        let names = p.words("coordinate_paths");
        let coordinates: Option<Vec<_>> =
            names.iter().map(|n| self.coordinate_named(path, n, line)).collect();
        let idle_line = p.line_of("coordinates_without_torque");
        let without_torque: Option<Vec<_>> = p
            .words("coordinates_without_torque")
            .iter()
            .map(|n| self.coordinate_named(path, n, idle_line))
            .collect();
        let length = p.object("length_function").and_then(|f| function(self.cx, f, path));
        let arms: Option<Vec<_>> =
            p.objects("moment_arm_functions").map(|f| function(self.cx, f, path)).collect();
        let speed = p.object("lengthening_speed_function").map(|f| function(self.cx, f, path));
        if length.is_none() {
            p.error(e.line, "the path has no `length_function`", "");
        }
        let n = names.len();
        let moment_arms = arms?;
        if !moment_arms.is_empty() && moment_arms.len() != n {
            p.error(
                p.line_of("moment_arm_functions"),
                format!("the path depends on {n} coordinates but has {} moment arms", moment_arms.len()),
                "",
            );
            return None;
        }
        let (coordinates, length) = (coordinates?, length?);
        let speed = match speed {
            Some(made) => Some(made?),
            None => None,
        };
        let too_wide = moment_arms.iter().chain([&length]).any(|f| f.arity() > n);
        if n == 0 || too_wide || speed.as_ref().is_some_and(|f| f.arity() > 2 * n) {
            p.error(
                e.line,
                format!("a function of the path takes more arguments than its {n} coordinates"),
                "",
            );
            return None;
        }
        p.finish();
        Some(FunctionBasedPath { coordinates, length, moment_arms, speed, without_torque: without_torque? })
    }
}

/// The members of a set.
pub(super) fn members(set: Option<&Element>) -> impl Iterator<Item = &Element> {
    set.and_then(|s| s.child("objects")).into_iter().flat_map(Element::children)
}

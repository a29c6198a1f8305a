//! Finds parameters by name.

use super::inertial::{OF_BODIES, body_change, nodes_of_body};
use super::{Contacts, D, Kind, Motion, Parameter, Place, seed, unit};
use crate::Options;
use crate::constants::{Constants, Numbers};
use crate::constraint::ConstraintSet;
use crate::force::CompiledForce;
use crate::force::compile::{elastic_foundation, hunt_crossley};
use crate::implicit::ImplicitSystem;
use crate::kinematics::{BodyFrame, Resolve};
use crate::muscle::{CompiledMuscle, CurveCache};
use crate::path::geometry_path::Change;
use crate::system::{Actor, Named, SystemError, compile_constraints};
use soleus_math::{Dual, Real, Rotation, Transform, Vec3};
use soleus_model::Model;
use soleus_model::contact::ContactShape;
use soleus_model::force::{ContactParameters, Force, ForceKind};
use soleus_model::id::{CoordinateId, FrameId};
use soleus_model::joint::MotionType;
use soleus_model::path::{Path, PathPointKind, WrapShape};

/// Why the equations cannot be differentiated with respect to a number of the model.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ParameterError {
    /// There is no such property.
    #[error("the model has no `{path}`; parameter names look like /bodyset/torso/mass")]
    NotFound {
        /// Requested path.
        path: String,
    },
    /// The property exists, but its derivative is not supported.
    #[error("no derivative with respect to `{path}`; a {class} supports {supported}")]
    NotSupported {
        /// Requested path.
        path: String,
        /// Class of the component.
        class: String,
        /// Supported properties of this class.
        supported: String,
    },
    /// A property of a marker, which is in no equation.
    #[error("no derivative with respect to `{path}`: markers do not enter the equations of motion")]
    InNoEquation {
        /// Requested path.
        path: String,
    },
    /// The model cannot be compiled with another value.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl ImplicitSystem<'_> {
    /// The parameter with this name. `model` and `options` are those from which the system was compiled.
    pub fn parameter(
        &self,
        model: &Model,
        options: &Options,
        path: &str,
    ) -> Result<Parameter, ParameterError> {
        let search = Search { implicit: self, model, options, path };
        type Found<'a> = Option<(usize, &'a str)>;
        type Of<'a> = fn(&Search<'a>, usize, &str) -> Result<Parameter, ParameterError>;
        let candidates: [(Found, Of); 8] = [
            (owner(path, model.bodies.iter().map(|b| &b.path)), Search::of_body),
            (owner(path, model.forces.iter().map(|f| &f.path)), Search::of_force),
            (owner(path, model.contact_geometries.iter().map(|g| &g.path)), Search::of_geometry),
            (owner(path, model.wraps.iter().map(|w| &w.path)), Search::of_wrap),
            (owner(path, model.joints.iter().map(|j| &j.path)), Search::of_joint),
            (owner(path, model.constraints.iter().map(|c| &c.path)), Search::of_constraint),
            (owner(path, model.frames.iter().map(|f| &f.path)), Search::of_frame),
            (owner(path, model.markers.iter().map(|m| &m.path)), Search::of_marker),
        ];
        // Of components inside each other the innermost is meant, whose path is the longest; a body comes before its frame.
        let innermost = candidates.into_iter().filter_map(|(found, of)| Some((found?, of)));
        match innermost.min_by_key(|((_, property), _)| property.len()) {
            Some(((index, property), of)) => of(&search, index, property),
            None => Err(ParameterError::NotFound { path: path.to_string() }),
        }
    }

    /// Names of all parameters, in the order of the model.
    pub fn parameter_names(&self, model: &Model, options: &Options) -> Vec<String> {
        let search = Search { implicit: self, model, options, path: "" };
        let mut list = Vec::new();
        let mut add = |path: &str, names: Vec<String>| {
            list.extend(names.iter().map(|n| format!("{path}/{n}")));
        };
        for b in model.bodies.iter().skip(1) {
            add(
                &b.path,
                ["mass", "mass_center/0", "mass_center/1", "mass_center/2"].map(String::from).to_vec(),
            );
            add(&b.path, (0..6).map(|k| format!("inertia/{k}")).collect());
        }
        for f in &model.forces {
            add(&f.path, search.names_of_force(f));
        }
        for (i, g) in model.contact_geometries.iter().enumerate() {
            let mut names = names_of_geometry(&g.shape);
            if search.carries_path(i) {
                names.truncate(3);
            }
            add(&g.path, names);
        }
        for w in &model.wraps {
            let names = search.names_of_wrap(&w.shape);
            add(&w.path, names);
        }
        for (i, j) in model.joints.iter().enumerate() {
            add(&j.path, search.names_of_joint(i));
        }
        for (i, c) in model.constraints.iter().enumerate() {
            add(&c.path, search.names_of_constraint(i));
        }
        for f in model.frames.iter().filter(|f| f.offset_from.is_some()) {
            let names = (0..6).map(|k| format!("{}/{}", ["translation", "orientation"][k / 3], k % 3));
            add(&f.path, names.collect());
        }
        list
    }
}

/// A number without value whose derivative by the parameter is one.
const ONE: D = Dual { v: 0.0, d: [1.0] };

/// The component that a name begins with, and what follows.
fn owner<'a, 'p>(path: &'p str, components: impl Iterator<Item = &'a String>) -> Option<(usize, &'p str)> {
    let found = components.enumerate().filter_map(|(i, c)| {
        let property = path.strip_prefix(c.as_str())?.strip_prefix('/')?;
        Some((i, property))
    });
    found.min_by_key(|(_, property)| property.len())
}

/// One of the body-fixed X-Y-Z angles of a rotation, and the axis it turns about, in the frame that the angles begin from.
pub(super) fn angle_and_axis(R: Rotation<f64>, k: usize) -> (f64, Vec3<f64>) {
    let angles = R.to_body_fixed_xyz();
    let Rx = Rotation::about_x(angles.x);
    let axis = match k {
        0 => Vec3::unit(0),
        1 => Rx.axis(1),
        _ => (Rx * Rotation::about_y(angles.y)).axis(2),
    };
    (angles[k], axis)
}

/// Names of the properties of a contact geometry that there are derivatives by.
fn names_of_geometry(shape: &ContactShape) -> Vec<String> {
    let mut names: Vec<String> = (0..3).map(|k| format!("location/{k}")).collect();
    match shape {
        ContactShape::Sphere { .. } => names.push("radius".to_string()),
        ContactShape::Ellipsoid { .. } => names.extend((0..3).map(|k| format!("radii/{k}"))),
        _ => {}
    }
    names
}

fn class_of_wrap(shape: &WrapShape) -> &'static str {
    match shape {
        WrapShape::Cylinder { .. } => "WrapCylinder",
        WrapShape::Sphere { .. } => "WrapSphere",
        WrapShape::Ellipsoid { .. } => "WrapEllipsoid",
        WrapShape::Torus { .. } => "WrapTorus",
    }
}

/// Where a contact geometry stands in the list of a force.
fn position_of(geometry: usize, parameters: &[ContactParameters]) -> Option<usize> {
    parameters.iter().flat_map(|p| &p.geometry).position(|id| id.0 == geometry)
}

/// A name ending in a component of a vector: what is before it, and which.
pub(super) fn component(property: &str) -> Option<(&str, usize)> {
    let (name, k) = property.rsplit_once('/')?;
    k.parse().ok().filter(|&k: &usize| k < 3).map(|k| (name, k))
}

/// A parameter that is looked for.
pub(super) struct Search<'a> {
    pub implicit: &'a ImplicitSystem<'a>,
    pub model: &'a Model,
    pub options: &'a Options,
    pub path: &'a str,
}

impl Search<'_> {
    pub(super) fn found(
        &self,
        value: f64,
        unit: &'static str,
        kinds: Vec<Kind>,
    ) -> Result<Parameter, ParameterError> {
        Ok(Parameter { path: self.path.to_string(), value, unit, kinds })
    }

    pub(super) fn not_supported<T>(&self, class: &str, supported: &str) -> Result<T, ParameterError> {
        let supported = if supported.is_empty() { "nothing" } else { supported };
        Err(ParameterError::NotSupported {
            path: self.path.to_string(),
            class: class.to_string(),
            supported: supported.to_string(),
        })
    }

    pub(super) fn frame(&self, id: FrameId) -> BodyFrame {
        self.implicit.system.tree.frame(id)
    }

    fn of_body(&self, body: usize, property: &str) -> Result<Parameter, ParameterError> {
        let Some((value, change)) = body_change(self.model, body, property) else {
            return self.not_supported("Body", OF_BODIES);
        };
        let nodes = nodes_of_body(&self.implicit.system.tree, body, change);
        self.found(value, unit::of_body(property), vec![Kind::Inertial(nodes)])
    }

    fn of_force(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let force = &self.model.forces[index];
        let unit = unit::of_force(&force.kind, property, self.is_angular(force));
        let found = match self.seeded(index, property)? {
            Some(found) => Some(found),
            None => self.point_of_path(index, property),
        };
        match found {
            Some((value, kind)) => self.found(value, unit, vec![kind]),
            None => self.not_supported(&force.class, &self.names_of_force(force).join(", ")),
        }
    }

    /// Whether a force acts on an angle.
    fn is_angular(&self, force: &Force) -> bool {
        let angle = |c: CoordinateId| self.model.coordinates[c.0].motion_type == MotionType::Rotational;
        match &force.kind {
            ForceKind::CoordinateActuator(a) => angle(a.coordinate),
            ForceKind::ActivationCoordinateActuator(a) => angle(a.coordinate),
            ForceKind::SpringGeneralizedForce(f) => angle(f.coordinate),
            ForceKind::CoordinateLimitForce(f) => angle(f.coordinate),
            ForceKind::PassiveJointMoment(f) => angle(f.coordinate),
            ForceKind::TorqueActuator(_) => true,
            _ => false,
        }
    }

    /// A force compiled with each number as `numbers` say.
    pub(super) fn compiled(
        &self,
        index: usize,
        numbers: &mut Numbers<D>,
    ) -> Result<Actor<D>, ParameterError> {
        let force = &self.model.forces[index];
        let path = || force.path.clone();
        if let ForceKind::Muscle(m) = &force.kind {
            let muscle = CompiledMuscle::compile_over(m, &mut CurveCache::default(), numbers.constant)
                .map_err(|source| SystemError::Muscle { path: path(), source })?;
            return Ok(Actor::Muscle(Box::new(muscle)));
        }
        let named = Named { model: self.model, tree: &self.implicit.system.tree };
        let geometries = &self.model.contact_geometries;
        let force = CompiledForce::compile_over(force, &named, geometries, self.options, numbers)
            .map_err(|source| SystemError::Force { path: path(), source })?;
        Ok(Actor::Force(Box::new(force)))
    }

    /// The same with frames where they are.
    fn compiled_in_place(
        &self,
        index: usize,
        constant: &mut Constants<D>,
    ) -> Result<Actor<D>, ParameterError> {
        self.compiled(index, &mut Numbers { constant, pose: &|_, X_BF| Transform::cst(X_BF) })
    }

    /// A property of a force.
    fn seeded(&self, index: usize, property: &str) -> Result<Option<(f64, Kind)>, ParameterError> {
        let mut value = None;
        let actor = self.compiled_in_place(index, &mut |name, v| {
            if name == property {
                value = Some(v);
                Dual::variable(v, 0)
            } else {
                Dual::cst(v)
            }
        })?;
        Ok(value.map(|value| (value, Kind::Law { force: index, actor })))
    }

    /// A point of a path.
    fn point_of_path(&self, index: usize, property: &str) -> Option<(f64, Kind)> {
        let (name, k) = component(property)?;
        let point = name.strip_prefix("path/").and_then(|n| n.strip_suffix("/location"))?;
        let points = self.model.forces[index].line_of_action.as_ref()?.points();
        let i = points.iter().position(|p| p.name == point)?;
        let (PathPointKind::Fixed(place) | PathPointKind::Conditional { location: place, .. }) =
            &points[i].kind
        else {
            return None;
        };
        let direction = self.frame(points[i].frame).X_BF.R * Vec3::unit(k);
        let change = Change::Point { point: i, turn: Vec3::zero(), shift: seed(direction) };
        Some((place[k], Kind::Path { force: index, change }))
    }

    /// The place or size of a contact geometry, in all forces that know it.
    fn of_geometry(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let g = &self.model.contact_geometries[index];
        match (component(property), property, &g.shape) {
            (Some(("location", k)), ..) => {
                let direction = self.frame(g.frame).X_BF.R * Vec3::unit(k);
                let places = self.places_of_geometry(index, Motion::shift(direction))?;
                self.found(g.location[k], "m", places)
            }
            (_, "radius", ContactShape::Sphere { radius }) => {
                let r = Dual::variable(*radius, 0);
                self.found(*radius, "m", self.sized(index, Vec3 { x: r, y: r, z: r })?)
            }
            (Some(("radii", k)), _, ContactShape::Ellipsoid { radii }) => {
                let mut r = Vec3::cst(*radii);
                r[k] = Dual::variable(radii[k], 0);
                self.found(radii[k], "m", self.sized(index, r)?)
            }
            _ => self.not_supported(g.shape.class(), &names_of_geometry(&g.shape).join(", ")),
        }
    }

    /// Whether a path may lie on a contact geometry.
    fn carries_path(&self, index: usize) -> bool {
        self.model.forces.iter().any(|f| f.obstacles().any(|o| o.geometry.0 == index))
    }

    /// A contact sphere or ellipsoid with its semi-axes seeded, in all forces that know it.
    fn sized(&self, index: usize, semi_axes: Vec3<D>) -> Result<Vec<Kind>, ParameterError> {
        let named = Named { model: self.model, tree: &self.implicit.system.tree };
        let geometries = &self.model.contact_geometries;
        if self.carries_path(index) {
            return self.not_supported("contact geometry on which a path lies", "location/0 to 2");
        }
        let mut kinds = Vec::new();
        for (force, f) in self.model.forces.iter().enumerate() {
            match &f.kind {
                ForceKind::SmoothSphereHalfSpaceForce(m) if m.sphere.0 == index => {
                    kinds.extend(self.seeded(force, "radius")?.map(|(_, kind)| kind));
                }
                ForceKind::HuntCrossleyForce(m) => {
                    let Some(surface) = position_of(index, &m.contact_parameters) else { continue };
                    let constant: &mut Constants<D> = &mut |_, value| D::cst(value);
                    let all = hunt_crossley(m, &named, geometries, self.options, constant)
                        .map_err(|source| SystemError::Force { path: f.path.clone(), source })?;
                    let contacts = Box::new(all.with_size(surface, semi_axes));
                    kinds.push(Kind::Sized { force, contacts });
                }
                ForceKind::ElasticFoundationForce(m)
                    if position_of(index, &m.contact_parameters).is_some() =>
                {
                    return self.not_supported("sphere of an ElasticFoundationForce", "location/0 to 2");
                }
                _ => {}
            }
        }
        Ok(kinds)
    }

    /// A contact geometry that moves in its body, in all forces that know it.
    pub(super) fn places_of_geometry(
        &self,
        index: usize,
        motion: Motion,
    ) -> Result<Vec<Kind>, ParameterError> {
        let g = &self.model.contact_geometries[index];
        let body = self.frame(g.frame).body;
        let named = Named { model: self.model, tree: &self.implicit.system.tree };
        let mut places = Vec::new();
        let p = (self.frame(g.frame).X_BF * g.pose_in_frame()).p;
        for (i, f) in self.model.forces.iter().enumerate() {
            for (obstacle, _) in f.obstacles().enumerate().filter(|(_, o)| o.geometry.0 == index) {
                let (turn, shift) = (seed(motion.turn), seed(motion.of_point(p)));
                places.push(Kind::Path { force: i, change: Change::Obstacle { obstacle, turn, shift } });
            }
            let contacts = match &f.kind {
                ForceKind::SmoothSphereHalfSpaceForce(m)
                    if m.sphere.0 == index || m.half_space.0 == index =>
                {
                    None
                }
                ForceKind::HuntCrossleyForce(m) => {
                    let Some(surface) = position_of(index, &m.contact_parameters) else { continue };
                    let geometries = &self.model.contact_geometries;
                    let all = hunt_crossley(m, &named, geometries, self.options, &mut |_, value| value)
                        .map_err(|source| SystemError::Force { path: f.path.clone(), source })?;
                    Some(Box::new(Contacts::HuntCrossley(all.of_surface(surface))))
                }
                ForceKind::ElasticFoundationForce(m) => {
                    let Some(surface) = position_of(index, &m.contact_parameters) else { continue };
                    let geometries = &self.model.contact_geometries;
                    let all = elastic_foundation(m, &named, geometries, &mut |_, value| value)
                        .map_err(|source| SystemError::Force { path: f.path.clone(), source })?;
                    Some(Box::new(Contacts::ElasticFoundation(all.of_surface(surface))))
                }
                _ => continue,
            };
            places.push(Kind::Place(Place { force: i, contacts, body, motion }));
        }
        Ok(places)
    }

    /// A number of a constraint.
    fn of_constraint(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let mut value = None;
        let constraints = self.constraints(&mut |name, v| {
            if name == self.path {
                value = Some(v);
                Dual::variable(v, 0)
            } else {
                Dual::cst(v)
            }
        });
        let constraint = &self.model.constraints[index];
        match value {
            Some(value) => {
                self.found(value, unit::of_constraint(property), vec![Kind::Constraints(constraints)])
            }
            None => self.not_supported(constraint.kind.class(), &self.names_of_constraint(index).join(", ")),
        }
    }

    /// Names of the properties of a constraint that there are derivatives by.
    fn names_of_constraint(&self, index: usize) -> Vec<String> {
        let mut names = Vec::new();
        let path = &self.model.constraints[index].path;
        self.constraints(&mut |name, v| {
            names
                .extend(name.strip_prefix(path.as_str()).and_then(|n| n.strip_prefix('/')).map(String::from));
            D::cst(v)
        });
        names
    }

    /// All constraints with each number as the closure says.
    fn constraints(&self, constant: &mut Constants<D>) -> ConstraintSet<D> {
        let mut numbers = Numbers { constant, pose: &|_, X_BF| Transform::cst(X_BF) };
        compile_constraints(self.model, &self.implicit.system.tree, &mut numbers)
    }

    /// A marker, which no equation knows.
    fn of_marker(&self, _: usize, _: &str) -> Result<Parameter, ParameterError> {
        Err(ParameterError::InNoEquation { path: self.path.to_string() })
    }

    /// A surface that paths wrap.
    fn of_wrap(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let w = &self.model.wraps[index];
        let X_BF = self.frame(w.frame).X_BF;
        let (value, unit, change) = match (component(property), property, &w.shape) {
            (Some(("translation", k)), ..) => {
                let shift = seed(X_BF.R * Vec3::unit(k));
                (w.pose.p[k], "m", Change::Pose { object: index, turn: Vec3::zero(), shift })
            }
            (Some(("xyz_body_rotation", k)), ..) => {
                let (angle, axis) = angle_and_axis(w.pose.R, k);
                let turn = seed(X_BF.R * axis);
                (angle, "rad", Change::Pose { object: index, turn, shift: Vec3::zero() })
            }
            (_, "radius", WrapShape::Cylinder { radius, .. } | WrapShape::Sphere { radius }) => {
                (*radius, "m", Change::Size(index, D::new(1.0, [1.0 / radius])))
            }
            (Some(("dimensions", k)), _, WrapShape::Ellipsoid { dimensions }) => {
                (dimensions[k], "m", Change::Dimension { object: index, which: k, by: ONE })
            }
            (_, "inner_radius", WrapShape::Torus { inner_radius, .. }) => {
                (*inner_radius, "m", Change::Dimension { object: index, which: 0, by: ONE })
            }
            (_, "outer_radius", WrapShape::Torus { outer_radius, .. }) => {
                (*outer_radius, "m", Change::Dimension { object: index, which: 1, by: ONE })
            }
            _ => {
                let names = self.names_of_wrap(&w.shape).join(", ");
                return self.not_supported(class_of_wrap(&w.shape), &names);
            }
        };
        let kinds = self.paths_around(index).map(|force| Kind::Path { force, change }).collect();
        self.found(value, unit, kinds)
    }

    /// Forces whose paths may wrap around a surface.
    pub(super) fn paths_around(&self, object: usize) -> impl Iterator<Item = usize> + '_ {
        self.model.forces.iter().enumerate().filter_map(move |(i, f)| match &f.line_of_action {
            Some(Path::Geometry(path)) => path.wraps.iter().any(|w| w.wrap.0 == object).then_some(i),
            _ => None,
        })
    }

    /// Names of the properties of a wrap object that there are derivatives by.
    fn names_of_wrap(&self, shape: &WrapShape) -> Vec<String> {
        let place = ["translation", "xyz_body_rotation"];
        let mut names: Vec<String> =
            place.iter().flat_map(|n| (0..3).map(move |k| format!("{n}/{k}"))).collect();
        match shape {
            WrapShape::Cylinder { .. } | WrapShape::Sphere { .. } => names.push("radius".to_string()),
            WrapShape::Ellipsoid { .. } => names.extend((0..3).map(|k| format!("dimensions/{k}"))),
            WrapShape::Torus { .. } => names.extend(["inner_radius", "outer_radius"].map(String::from)),
        }
        names
    }

    /// Names of the properties of a force that there are derivatives by.
    fn names_of_force(&self, force: &Force) -> Vec<String> {
        let mut names = Vec::new();
        let index = self.model.forces.iter().position(|f| f.path == force.path).unwrap_or(0);
        let _ = self.compiled_in_place(index, &mut |name, v| {
            names.push(name.to_string());
            D::cst(v)
        });
        if let Some(path) = &force.line_of_action {
            let places = path.points().into_iter().flat_map(|p| (0..3).map(move |k| (p, k)));
            let places = places.map(|(p, k)| format!("path/{}/location/{k}", p.name));
            names.extend(places.filter(|name| self.point_of_path(index, name).is_some()));
        }
        let mut seen = std::collections::HashSet::new();
        names.retain(|n| seen.insert(n.clone()));
        names
    }
}

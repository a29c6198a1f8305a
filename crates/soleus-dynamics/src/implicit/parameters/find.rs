//! From the name of a parameter to what it changes.

use super::affine::{NAMES, affine_property};
use super::inertial::{OF_BODIES, body_change, nodes_of_body};
use super::{Contact, D, Kind, Parameter, Place, unit};
use crate::Options;
use crate::constants::Constants;
use crate::force::compile::{hunt_crossley, smooth};
use crate::implicit::ImplicitSystem;
use crate::kinematics::{BodyFrame, Resolve};
use crate::muscle::{CompiledMuscle, CurveCache};
use crate::system::{Named, System, SystemError};
use soleus_math::{Dual, Real, Transform, Vec3};
use soleus_model::Model;
use soleus_model::contact::ContactShape;
use soleus_model::force::{Force, ForceKind};
use soleus_model::id::{CoordinateId, FrameId};
use soleus_model::joint::MotionType;
use soleus_model::path::{Path, PathPointKind};

/// Why the equations cannot be differentiated by a number of the model.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ParameterError {
    /// The name is not that of a property of a component.
    #[error("there is no `{path}` in the model; a parameter is named like /bodyset/torso/mass")]
    NotFound {
        /// What was asked for.
        path: String,
    },
    /// The property is there, but its derivative is not.
    #[error("no derivative by `{path}`; for a {class} there is one by {supported}")]
    NotSupported {
        /// What was asked for.
        path: String,
        /// Class of the component.
        class: String,
        /// Properties of this class that can be had.
        supported: String,
    },
    /// The model does not compile with another value.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl ImplicitSystem<'_> {
    /// The parameter of that name. `model` and `options` are those that the system was compiled from.
    pub fn parameter(
        &self,
        model: &Model,
        options: &Options,
        path: &str,
    ) -> Result<Parameter, ParameterError> {
        let search = Search { implicit: self, model, options, path };
        let body = |(b, property)| search.of_body(b, property);
        let force = |(f, property)| search.of_force(f, property);
        let geometry = |(g, property)| search.of_geometry(g, property);
        // Of components inside each other the innermost is meant, whose path is the longest.
        let bodies = owner(path, model.bodies.iter().map(|b| &b.path));
        let forces = owner(path, model.forces.iter().map(|f| &f.path));
        let geometries = owner(path, model.contact_geometries.iter().map(|g| &g.path));
        None.or(forces.map(force))
            .or(geometries.map(geometry))
            .or(bodies.map(body))
            .unwrap_or_else(|| Err(ParameterError::NotFound { path: path.to_string() }))
    }

    /// Names of all parameters there are, in the order of the model.
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
        for g in &model.contact_geometries {
            add(&g.path, (0..3).map(|k| format!("location/{k}")).collect());
        }
        list
    }
}

/// The component that a name begins with, and what follows.
fn owner<'a, 'p>(path: &'p str, components: impl Iterator<Item = &'a String>) -> Option<(usize, &'p str)> {
    let found = components.enumerate().filter_map(|(i, c)| {
        let property = path.strip_prefix(c.as_str())?.strip_prefix('/')?;
        Some((i, property))
    });
    found.min_by_key(|(_, property)| property.len())
}

/// A name ending in a component of a vector: what is before it, and which.
fn component(property: &str) -> Option<(&str, usize)> {
    let (name, k) = property.rsplit_once('/')?;
    k.parse().ok().filter(|&k: &usize| k < 3).map(|k| (name, k))
}

/// A parameter that is looked for.
struct Search<'a> {
    implicit: &'a ImplicitSystem<'a>,
    model: &'a Model,
    options: &'a Options,
    path: &'a str,
}

impl Search<'_> {
    fn found(&self, value: f64, unit: &'static str, kind: Kind) -> Result<Parameter, ParameterError> {
        Ok(Parameter { path: self.path.to_string(), value, unit, kind })
    }

    fn not_supported<T>(&self, class: &str, supported: &str) -> Result<T, ParameterError> {
        let supported = if supported.is_empty() { "nothing" } else { supported };
        Err(ParameterError::NotSupported {
            path: self.path.to_string(),
            class: class.to_string(),
            supported: supported.to_string(),
        })
    }

    fn frame(&self, id: FrameId) -> BodyFrame {
        self.implicit.system.tree.frame(id)
    }

    fn of_body(&self, body: usize, property: &str) -> Result<Parameter, ParameterError> {
        let Some((value, change)) = body_change(self.model, body, property) else {
            return self.not_supported("Body", OF_BODIES);
        };
        let nodes = nodes_of_body(&self.implicit.system.tree, body, change);
        self.found(value, unit::of_body(property), Kind::Inertial(nodes))
    }

    fn of_force(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let force = &self.model.forces[index];
        let unit = unit::of_force(&force.kind, property, self.is_angular(force));
        let found = match self.seeded(index, property)? {
            Some(found) => Some(found),
            None => self.slack(index, property).or_else(|| self.place_of_force(index, property)),
        };
        let found = match found {
            Some(found) => Some(found),
            None => self.affine(index, property)?,
        };
        match found {
            Some((value, kind)) => self.found(value, unit, kind),
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
            ForceKind::TorqueActuator(_) => true,
            _ => false,
        }
    }

    /// A muscle or a contact that is compiled with each property as the closure says.
    fn compiled(&self, index: usize, constant: &mut Constants<D>) -> Result<Option<Kind>, ParameterError> {
        let force = &self.model.forces[index];
        let (path, geometries) = (&force.path, &self.model.contact_geometries);
        let named = Named { model: self.model, tree: &self.implicit.system.tree };
        let failed = |source| SystemError::Force { path: path.clone(), source };
        Ok(match &force.kind {
            ForceKind::Muscle(m) => CompiledMuscle::compile_over(m, &mut CurveCache::default(), constant)
                .map_err(|source| SystemError::Muscle { path: path.clone(), source })?
                .map(|muscle| Kind::Muscle { force: index, muscle: Box::new(muscle) }),
            ForceKind::SmoothSphereHalfSpaceForce(m) => {
                let contact = Contact::Smooth(smooth(m, &named, geometries, constant).map_err(failed)?);
                Some(Kind::Contact { force: index, contact: Box::new(contact) })
            }
            ForceKind::HuntCrossleyForce(m) => {
                let contact = hunt_crossley(m, &named, geometries, self.options, constant).map_err(failed)?;
                Some(Kind::Contact { force: index, contact: Box::new(Contact::HuntCrossley(contact)) })
            }
            _ => None,
        })
    }

    /// A property of a muscle or a contact.
    fn seeded(&self, index: usize, property: &str) -> Result<Option<(f64, Kind)>, ParameterError> {
        let mut value = None;
        let kind = self.compiled(index, &mut |name, v| {
            if name == property {
                value = Some(v);
                Dual::variable(v, 0)
            } else {
                Dual::cst(v)
            }
        })?;
        Ok(value.zip(kind))
    }

    /// A length that the length of a path is compared with.
    fn slack(&self, index: usize, property: &str) -> Option<(f64, Kind)> {
        let (length, divides) = match (&self.model.forces[index].kind, property) {
            (ForceKind::PathSpring(f), "resting_length") => (f.resting_length, false),
            (ForceKind::Ligament(f), "resting_length") => (f.resting_length, true),
            (ForceKind::Blankevoort1991Ligament(f), "slack_length") => (f.slack_length, true),
            _ => return None,
        };
        Some((length, Kind::Slack { force: index, length, divides }))
    }

    /// A property that two values are enough for.
    fn affine(&self, index: usize, property: &str) -> Result<Option<(f64, Kind)>, ParameterError> {
        let mut changed = self.model.clone();
        let Some(slot) = affine_property(&mut changed.forces[index].kind, property) else { return Ok(None) };
        let value = *slot;
        // As far away as the value is large, so that nothing is lost to cancellation.
        let step = if value == 0.0 { 1.0 } else { value };
        *slot = value + step;
        let mut other = System::compile_with(&changed, self.options)?;
        let other = Box::new(other.forces.swap_remove(index).actor);
        Ok(Some((value, Kind::Affine { force: index, other, step })))
    }

    /// A point of a path, or a place where a force holds on to a body.
    fn place_of_force(&self, index: usize, property: &str) -> Option<(f64, Kind)> {
        let force = &self.model.forces[index];
        let (name, k) = component(property)?;
        if let Some(point) = name.strip_prefix("path/").and_then(|n| n.strip_suffix("/location")) {
            let Some(Path::Geometry(path)) = &force.line_of_action else { return None };
            let i = path.points.iter().position(|p| p.name == point)?;
            let (PathPointKind::Fixed(place) | PathPointKind::Conditional { location: place, .. }) =
                &path.points[i].kind
            else {
                return None;
            };
            let direction = self.frame(path.points[i].frame).X_BF.R * Vec3::unit(k);
            return Some((place[k], Kind::Point { force: index, point: i, direction }));
        }
        let (frames, place, which) = match (&force.kind, name) {
            (ForceKind::PointToPointSpring(f), "point1") => ([f.body1, f.body2], f.point1, 0),
            (ForceKind::PointToPointSpring(f), "point2") => ([f.body1, f.body2], f.point2, 1),
            _ => return None,
        };
        let bodies = frames.map(|f| self.frame(f));
        // Two points of one body cannot be told apart by moving it, and their forces cancel.
        if bodies[0].body == bodies[1].body {
            return None;
        }
        let BodyFrame { body, X_BF } = bodies[which];
        // OpenSim's springs read their points in the body, whatever the frame.
        let X_BF = if self.options.opensim_faults { Transform::identity() } else { X_BF };
        let direction = X_BF.R * Vec3::unit(k);
        let place_of = Place { force: index, contacts: None, body, direction };
        Some((place[k], Kind::Places(vec![place_of])))
    }

    /// The place of a contact geometry, in all forces that know it.
    fn of_geometry(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let g = &self.model.contact_geometries[index];
        let Some(("location", k)) = component(property) else {
            return self.not_supported(g.shape.class(), "location/0 to 2");
        };
        let BodyFrame { body, X_BF } = self.frame(g.frame);
        let direction = X_BF.R * Vec3::unit(k);
        let named = Named { model: self.model, tree: &self.implicit.system.tree };
        let mut places = Vec::new();
        for (i, f) in self.model.forces.iter().enumerate() {
            let contacts = match &f.kind {
                ForceKind::SmoothSphereHalfSpaceForce(m)
                    if m.sphere.0 == index || m.half_space.0 == index =>
                {
                    None
                }
                ForceKind::HuntCrossleyForce(m) => {
                    let mut order = m.contact_parameters.iter().flat_map(|p| &p.geometry);
                    let Some(surface) = order.position(|id| id.0 == index) else { continue };
                    let geometries = &self.model.contact_geometries;
                    let all = hunt_crossley(m, &named, geometries, self.options, &mut |_, value| value)
                        .map_err(|source| SystemError::Force { path: f.path.clone(), source })?;
                    Some(Box::new(all.of_surface(surface)))
                }
                ForceKind::ElasticFoundationForce(m)
                    if m.contact_parameters.iter().flat_map(|p| &p.geometry).any(|id| id.0 == index) =>
                {
                    return self.not_supported("geometry of an ElasticFoundationForce", "");
                }
                _ => continue,
            };
            places.push(Place { force: i, contacts, body, direction });
        }
        // A mesh that nothing touches has no place in the equations, as has any other shape.
        if matches!(g.shape, ContactShape::Mesh { .. }) && !places.is_empty() {
            return self.not_supported("ContactMesh", "");
        }
        self.found(g.location[k], "m", Kind::Places(places))
    }

    /// Names of the properties of a force that there are derivatives by.
    fn names_of_force(&self, force: &Force) -> Vec<String> {
        let mut names = Vec::new();
        let index = self.model.forces.iter().position(|f| f.path == force.path).unwrap_or(0);
        let _ = self.compiled(index, &mut |name, v| {
            names.push(name.to_string());
            D::cst(v)
        });
        let mut kind = force.kind.clone();
        names.extend(NAMES.iter().filter(|n| affine_property(&mut kind, n).is_some()).map(|n| n.to_string()));
        for name in ["resting_length", "slack_length"] {
            if self.slack(index, name).is_some() {
                names.push(name.to_string());
            }
        }
        let mut places: Vec<String> = ["point1", "point2"].map(String::from).to_vec();
        if let Some(Path::Geometry(path)) = &force.line_of_action {
            places.extend(path.points.iter().map(|p| format!("path/{}/location", p.name)));
        }
        for name in places.iter().flat_map(|p| (0..3).map(move |k| format!("{p}/{k}"))) {
            if self.place_of_force(index, &name).is_some() {
                names.push(name);
            }
        }
        let mut seen = std::collections::HashSet::new();
        names.retain(|n| seen.insert(n.clone()));
        names
    }
}

//! Parts as elements of a model file.

use super::Work;
use crate::error::{Error, nearest_hint};
use soleus_control::gait::other_side;
use soleus_dynamics::System;
use soleus_math::{Vec3, vec3};
use soleus_model::document::Content;
use soleus_model::joint::{Coordinate, MotionType};
use soleus_model::{Element, ForceKind};
use std::fmt::Display;

/// Change of a coordinate from which it is seen which paths cross it, rad or m.
const STEP: f64 = 1e-3;

/// Change of a length over this step that counts as crossing, m: a moment arm of 0.1 mm.
const CROSSING: f64 = 1e-7;

/// An element with text children.
pub(super) fn element(tag: &str, name: &str, children: &[(&str, &dyn Display)]) -> Element {
    let mut e = Element::new(tag, 0);
    e.set_attribute("name", name);
    children.iter().for_each(|(tag, value)| e.push(Element::with_text(*tag, value.to_string(), 0)));
    e
}

/// A vector as text.
pub(super) fn numbers(v: impl IntoIterator<Item = f64>) -> String {
    v.into_iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ")
}

/// The objects of a set of the model; the set is made if it is not there.
pub(super) fn objects<'a>(model: &'a mut Element, set: &str) -> Option<&'a mut Element> {
    if model.child(set).is_none() {
        let mut new = Element::new(set, 0);
        new.set_attribute("name", set.to_ascii_lowercase());
        model.push(new);
    }
    let set = model.child_mut(set)?;
    if set.child("objects").is_none() {
        set.push(Element::new("objects", 0));
    }
    set.child_mut("objects")
}

impl Work<'_> {
    /// Puts an element into a set.
    pub(super) fn put(&self, model: &mut Element, set: &str, new: Element) -> Result<(), Error> {
        let list = objects(model, set).ok_or_else(|| self.refuse(format!("the model has no `{set}`"), ""))?;
        if list.children().any(|e| e.name() == new.name()) {
            let message = format!("the model already has a `{}`", new.name());
            return Err(self.refuse(message, "choose another name for the part"));
        }
        list.push(new);
        Ok(())
    }

    fn coordinate(&self, name: &str) -> Result<&Coordinate, Error> {
        let all = &self.model.coordinates;
        all.iter().find(|c| c.name == name || c.path == name).ok_or_else(|| {
            let hint = nearest_hint("coordinate", name, all.iter().map(|c| c.name.as_str()));
            self.refuse(format!("the model has no coordinate `{name}`"), &hint)
        })
    }

    /// The name of the part at a coordinate or body of one side.
    fn name_at(&self, place: &str) -> String {
        match &self.part.name {
            None => format!("{}_{place}", self.part.kind.word()),
            Some(name) if place.is_empty() || other_side(place).is_none() => name.clone(),
            Some(name) => {
                let is_right = place.split(['_', '/']).any(|w| ["r", "R", "right"].contains(&w));
                format!("{name}_{}", if is_right { "r" } else { "l" })
            }
        }
    }

    pub(super) fn spring(
        &self,
        model: &mut Element,
        place: &str,
        told: &mut Vec<String>,
    ) -> Result<String, Error> {
        let c = self.coordinate(place)?;
        let unit = if c.motion_type == MotionType::Translational { "N/m" } else { "N m/rad" };
        let (stiffness, rest) = (self.part.stiffness.unwrap_or(0.0), self.part.rest());
        let name = self.name_at(place);
        let fields: [(&str, &dyn Display); 4] = [
            ("coordinate", &c.name),
            ("stiffness", &stiffness),
            ("rest_length", &rest),
            ("viscosity", &self.part.damping.unwrap_or(0.0)),
        ];
        self.put(model, "ForceSet", element("SpringGeneralizedForce", &name, &fields))?;
        told.push(format!("{name}: spring of {stiffness} {unit} on {}, at rest at {rest:.4}", c.name));
        Ok(format!("/forceset/{name}"))
    }

    pub(super) fn torque(
        &self,
        model: &mut Element,
        place: &str,
        told: &mut Vec<String>,
    ) -> Result<String, Error> {
        let c = self.coordinate(place)?;
        let (name, max) = (self.name_at(place), self.part.max.unwrap_or(0.0));
        let fields: [(&str, &dyn Display); 4] =
            [("coordinate", &c.name), ("optimal_force", &max), ("min_control", &-1), ("max_control", &1)];
        self.put(model, "ForceSet", element("CoordinateActuator", &name, &fields))?;
        told.push(format!("{name}: torque of at most {max} N m on {}", c.name));
        Ok(format!("/forceset/{name}"))
    }

    /// Takes the muscles out that cross the coordinate, and puts a spring in.
    pub(super) fn prosthesis(
        &self,
        model: &mut Element,
        place: &str,
        told: &mut Vec<String>,
    ) -> Result<String, Error> {
        let crossing = self.crossing(place)?;
        if let Some(list) = objects(model, "ForceSet") {
            list.content
                .retain(|c| !matches!(c, Content::Element(e) if crossing.iter().any(|n| n == e.name())));
        }
        forget_members(model, &crossing);
        told.push(format!("muscles removed: {}", crossing.join(", ")));
        self.spring(model, place, told)
    }

    /// Names of the muscles whose length changes with a coordinate.
    fn crossing(&self, place: &str) -> Result<Vec<String>, Error> {
        let c = self.coordinate(place)?;
        let system = System::compile(self.model).map_err(|e| self.refuse(e.to_string(), ""))?;
        let i = self.model.coordinates.iter().position(|d| d.path == c.path).unwrap_or(0);
        let m = system.tree.mobility_of_coordinate[i];
        let mut ws = system.workspace::<f64>();
        let mut lengths = |by: f64| {
            let mut x = system.default_state.clone();
            x.q[m] += by;
            system.compute_kinematics(&x, &mut ws);
            system.compute_paths(&x, &mut ws);
            ws.paths.iter().map(soleus_dynamics::path::PathState::length).collect::<Vec<f64>>()
        };
        let (before, after) = (lengths(-STEP), lengths(STEP));
        let muscles = self.model.forces.iter().enumerate();
        let muscles = muscles.filter(|(_, f)| matches!(f.kind, ForceKind::Muscle(_)));
        Ok(muscles
            .filter(|(k, _)| (after[*k] - before[*k]).abs() > CROSSING)
            .map(|(_, f)| f.name.clone())
            .collect())
    }

    /// A `PathSpring`: it pulls when it is longer than at rest.
    pub(super) fn ligament(
        &self,
        model: &mut Element,
        is_named: bool,
        told: &mut Vec<String>,
    ) -> Result<String, Error> {
        let (Some(from), Some(to)) = (&self.part.from, &self.part.to) else {
            return Err(self.refuse("a ligament needs `from` and `to`", ""));
        };
        let mut set = Element::new("PathPointSet", 0);
        set.set_attribute("name", "pathpointset");
        let mut points = Element::new("objects", 0);
        let mut side = String::new();
        for (k, at) in [from, to].into_iter().enumerate() {
            let other = other_side(&at.body).filter(|_| !is_named);
            let mirrored = other.is_some();
            let body = other.unwrap_or_else(|| at.body.clone());
            if !self.model.bodies.iter().any(|b| b.name == body) {
                let hint = nearest_hint("body", &body, self.model.bodies.iter().map(|b| b.name.as_str()));
                return Err(self.refuse(format!("the model has no body `{body}`"), &hint));
            }
            let [x, y, z] = at.location;
            // What has no side keeps its body; its place is mirrored all the same.
            let z = if mirrored || !is_named { -z } else { z };
            let frame = if body == "ground" { "/ground".to_string() } else { format!("/bodyset/{body}") };
            let fields: [(&str, &dyn Display); 2] =
                [("socket_parent_frame", &frame), ("location", &numbers([x, y, z]))];
            points.push(element("PathPoint", &format!("P{}", k + 1), &fields));
            if other_side(&body).is_some() {
                side.clone_from(&body);
            }
        }
        set.push(points);
        let mut path = Element::new("GeometryPath", 0);
        path.set_attribute("name", "path");
        path.push(set);
        let (stiffness, rest) = (self.part.stiffness.unwrap_or(0.0), self.part.rest_length.unwrap_or(0.0));
        let name = self.name_at(&side);
        let fields: [(&str, &dyn Display); 3] = [
            ("resting_length", &rest),
            ("stiffness", &stiffness),
            ("dissipation", &self.part.damping.unwrap_or(0.0)),
        ];
        let mut new = element("PathSpring", &name, &fields);
        new.push(path);
        self.put(model, "ForceSet", new)?;
        told.push(format!("{name}: ligament of {stiffness} N/m, resting length {rest} m"));
        Ok(format!("/forceset/{name}"))
    }

    /// A point mass fixed to a body: mass, mass centre and inertia of both together.
    pub(super) fn mass(
        &self,
        model: &mut Element,
        place: &str,
        told: &mut Vec<String>,
    ) -> Result<String, Error> {
        let bodies = &self.model.bodies;
        let body = bodies.iter().find(|b| b.name == place).ok_or_else(|| {
            let hint = nearest_hint("body", place, bodies.iter().map(|b| b.name.as_str()));
            self.refuse(format!("the model has no body `{place}`"), &hint)
        })?;
        let added = self.part.mass.unwrap_or(0.0);
        let own = body.mass_center;
        let is_other = self.part.body.as_deref() != Some(place);
        let at = self.part.location.map_or(own, |[x, y, z]| vec3(x, y, if is_other { -z } else { z }));
        let total = body.mass + added;
        let center = if total > 0.0 { own * (body.mass / total) + at * (added / total) } else { own };
        // Steiner: m (|d|² 1 − d dᵀ) for each, about the common centre.
        let inertia = body.inertia;
        let shift = |m: f64, d: Vec3<f64>| {
            let s = m * d.dot(d);
            [
                s - m * d.x * d.x,
                s - m * d.y * d.y,
                s - m * d.z * d.z,
                -m * d.x * d.y,
                -m * d.x * d.z,
                -m * d.y * d.z,
            ]
        };
        let (a, b) = (shift(body.mass, own - center), shift(added, at - center));
        let own = [inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz];
        let six: Vec<f64> = (0..6).map(|k| own[k] + a[k] + b[k]).collect();
        let list = objects(model, "BodySet").ok_or_else(|| self.refuse("the model has no bodies", ""))?;
        let found = list.children_mut().find(|e| e.name() == place);
        let e = found.ok_or_else(|| self.refuse(format!("the file has no body `{place}`"), ""))?;
        let fields = [
            ("mass", format!("{total:?}")),
            ("mass_center", numbers(center.to_array())),
            ("inertia", numbers(six)),
        ];
        for (tag, text) in fields {
            match e.child_mut(tag) {
                Some(child) => child.set_text(text),
                None => e.push(Element::with_text(tag, text, 0)),
            }
        }
        told.push(format!("{place}: {added} kg added, {total:.4} kg now"));
        Ok(format!("/bodyset/{place}"))
    }
}

/// Takes names out of the groups of the forces.
fn forget_members(model: &mut Element, names: &[String]) {
    let Some(groups) = model.child_mut("ForceSet").and_then(|s| s.child_mut("groups")) else { return };
    for members in groups.children_mut().filter_map(|g| g.child_mut("members")) {
        let text = members.text();
        let kept: Vec<&str> = text.split_whitespace().filter(|w| !names.iter().any(|n| n == w)).collect();
        members.set_text(kept.join(" "));
    }
}

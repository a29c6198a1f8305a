//! Joints and their coordinates.

use super::Builder;
use super::context::{Component, Kind};
use super::functions::function;
use super::properties::PropertyReader;
use crate::document::Element;
use crate::id::{CoordinateId, JointId};
use crate::joint::{Coordinate, Joint, JointKind, MotionType, SpatialTransform, TransformAxis};
use MotionType::{Coupled, Rotational as Rot, Translational as Tra};
use soleus_math::{Function, Vec3};

/// The six properties of a `SpatialTransform`.
const AXES: [&str; 6] =
    ["rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3"];

/// Two axes of a custom joint count as one line when the sine of the angle between them is below this (OpenSim).
const COLLINEAR_BELOW: f64 = 1e-5;

/// Slack of the test that a clamped default lies in its range: √ε, as OpenSim has it.
const CLAMP_SLACK: f64 = 1.490_116_119_384_765_6e-8;

impl Builder<'_> {
    /// Makes the joints and coordinates in file order.
    pub(super) fn joints(&mut self) {
        let cx = self.cx;
        for (id, c) in cx.components.iter().enumerate().filter(|(_, c)| c.kind == Kind::Joint) {
            self.joint(id, c);
        }
    }

    fn joint(&mut self, id: usize, c: &Component) {
        let p = PropertyReader::new(self.cx, c.element, &c.path);
        let parent = self.frame_socket(&p, &["socket_parent_frame"]);
        let child = self.frame_socket(&p, &["socket_child_frame"]);
        p.skip(&["coordinates", "frames"]);
        let listed: Vec<usize> = (id + 1..self.cx.components.len())
            .take_while(|&k| is_below(&self.cx.components[k].path, &c.path))
            .filter(|&k| {
                let part = &self.cx.components[k];
                part.kind == Kind::Coordinate && part.path.len() == c.path.len() + 1 + part.name.len()
            })
            .collect();

        let joint = JointId(self.model.joints.len());
        let fixed = |kind, motion: &'static [MotionType]| Some((kind, motion));
        let plain = match c.class {
            "WeldJoint" => fixed(JointKind::Weld, &[]),
            "PinJoint" => fixed(JointKind::Pin, &[Rot]),
            "SliderJoint" => fixed(JointKind::Slider, &[Tra]),
            "PlanarJoint" => fixed(JointKind::Planar, &[Rot, Tra, Tra]),
            "UniversalJoint" => fixed(JointKind::Universal, &[Rot, Rot]),
            "GimbalJoint" => fixed(JointKind::Gimbal, &[Rot; 3]),
            "BallJoint" => fixed(JointKind::Ball, &[Rot; 3]),
            "FreeJoint" => fixed(JointKind::Free, &[Rot, Rot, Rot, Tra, Tra, Tra]),
            "EllipsoidJoint" => {
                let radii = self.radii(&p, "radii_x_y_z");
                fixed(JointKind::Ellipsoid { radii }, &[Rot; 3])
            }
            "ConstantCurvatureJoint" => {
                let neutral_angles = p.vec3("neutral_angle_x_z_y", Vec3::zero());
                let length = p.positive("length", 1.0);
                fixed(JointKind::ConstantCurvature { neutral_angles, length }, &[Rot; 3])
            }
            "CantileverFreeBeamJoint" => {
                let length = p.positive("beam_length", 1.0);
                fixed(JointKind::CantileverFreeBeam { length }, &[Rot; 3])
            }
            "ScapulothoracicJoint" => {
                let radii = self.radii(&p, "thoracic_ellipsoid_radii_x_y_z");
                let winging_origin = p.array("scapula_winging_axis_origin", [0.0; 2]);
                let winging_direction = p.finite("scapula_winging_axis_direction", 0.0);
                fixed(JointKind::Scapulothoracic { radii, winging_origin, winging_direction }, &[Rot; 4])
            }
            _ => None,
        };
        let (kind, coordinates) = match plain {
            Some((kind, motion)) => (kind, self.plain_coordinates(&p, joint, c, &listed, motion)),
            None if c.class == "CustomJoint" => match self.custom_joint(&p, joint, c, &listed) {
                Some(done) => done,
                None => return,
            },
            None => {
                self.unsupported(c);
                return;
            }
        };
        p.finish();
        let (Some(parent), Some(child)) = (parent, child) else { return };
        let (a, b) = (self.model.frames[parent.0].body, self.model.frames[child.0].body);
        if a == b {
            let body = &self.model.bodies[a.0].path;
            let message = format!("the joint connects {body} with itself");
            self.cx.diags.borrow_mut().error(
                c.element.line,
                &c.path,
                message,
                "check its parent and child frame",
            );
        }
        let (name, path) = (c.name.clone(), c.path.clone());
        self.model.joints.push(Joint { name, path, kind, parent, child, coordinates });
    }

    /// Semi-axes of an ellipsoid, all above zero.
    fn radii(&self, p: &PropertyReader, tag: &'static str) -> Vec3<f64> {
        let one = soleus_math::vec3(1.0, 1.0, 1.0);
        let radii = match p.find(tag) {
            Some(_) => p.vec3(tag, one),
            None => {
                p.error(p.element.line, format!("the joint has no `{tag}`"), "");
                one
            }
        };
        if radii.to_array().iter().any(|r| *r <= 0.0) {
            p.error(p.line_of(tag), format!("`{tag}` must be above zero"), "");
        }
        radii
    }

    /// Coordinates of a joint whose class fixes their number.
    fn plain_coordinates(
        &mut self,
        p: &PropertyReader,
        joint: JointId,
        c: &Component,
        listed: &[usize],
        motion: &[MotionType],
    ) -> Vec<CoordinateId> {
        // A joint without a list gets coordinates named as OpenSim names them.
        if p.element.child("coordinates").is_none() && !motion.is_empty() {
            let line = p.element.line;
            let names: Vec<String> = (0..motion.len()).map(|i| format!("_coord_{i}")).collect();
            let message = format!("the joint lists no coordinates; added {}", names.join(", "));
            self.cx.diags.borrow_mut().warn(line, &c.path, message, "");
            let made = names.iter().zip(motion);
            return made
                .map(|(name, mt)| self.push_coordinate(default_coordinate(name, c, joint, *mt)))
                .collect();
        }
        if listed.len() != motion.len() {
            let (class, want, have) = (c.class, motion.len(), listed.len());
            p.error(
                p.line_of("coordinates"),
                format!("a {class} has {want} coordinate(s), found {have}"),
                "",
            );
            return Vec::new();
        }
        listed.iter().zip(motion).map(|(&id, mt)| self.coordinate(id, joint, *mt)).collect()
    }

    fn push_coordinate(&mut self, coordinate: Coordinate) -> CoordinateId {
        let id = CoordinateId(self.model.coordinates.len());
        self.coordinate_at_path.entry(coordinate.path.clone()).or_insert(id);
        self.coordinate_of_name.entry(coordinate.name.clone()).or_insert(id);
        self.model.coordinates.push(coordinate);
        id
    }

    /// Makes one coordinate of the file.
    fn coordinate(&mut self, id: usize, joint: JointId, motion_type: MotionType) -> CoordinateId {
        let c = &self.cx.components[id];
        let p = PropertyReader::new(self.cx, c.element, &c.path);
        let default_value = p.finite("default_value", 0.0);
        let default_speed = p.finite("default_speed_value", 0.0);
        let range = self.range(&p);
        let clamped = p.boolean("clamped", false);
        let locked = p.boolean("locked", false);
        let prescribed_function = p.object("prescribed_function").and_then(|e| function(self.cx, e, &c.path));
        let mut prescribed = p.boolean("prescribed", false);
        let is_free_to_satisfy_constraints = p.boolean("is_free_to_satisfy_constraints", false);
        p.skip(&["motion_type"]);

        if clamped && range[0] > range[1] {
            p.error(
                p.line_of("range"),
                format!(
                    "the range {} … {} is empty: its lower end is above its upper end",
                    range[0], range[1]
                ),
                "",
            );
        } else if clamped && !(range[0] - CLAMP_SLACK..range[1] + CLAMP_SLACK).contains(&default_value) {
            let [lo, hi] = range;
            let message =
                format!("the coordinate is clamped to {lo} … {hi}, but its default is {default_value}");
            p.error(
                p.line_of("default_value"),
                message,
                "move the default into the range, or unclamp the coordinate",
            );
        }
        if prescribed && prescribed_function.is_none() {
            let message = "the coordinate is prescribed but has no function; it is left free";
            p.warn(p.line_of("prescribed"), message, "");
            prescribed = false;
        }
        p.finish();
        let made = Coordinate {
            name: c.name.clone(),
            path: c.path.clone(),
            joint,
            motion_type,
            default_value,
            default_speed,
            range,
            clamped,
            locked,
            prescribed,
            prescribed_function,
            is_free_to_satisfy_constraints,
        };
        let made = self.push_coordinate(made);
        self.coordinate_of.insert(id, made);
        made
    }

    /// `range`: two numbers, infinite ones allowed.
    fn range(&self, p: &PropertyReader) -> [f64; 2] {
        const DEFAULT: [f64; 2] = [-10.0, 10.0];
        if p.find("range").is_none() {
            return DEFAULT;
        }
        match p.list("range")[..] {
            [lo, hi] if !lo.is_nan() && !hi.is_nan() => [lo, hi],
            _ => {
                p.error(p.line_of("range"), "`range` needs two numbers", "");
                DEFAULT
            }
        }
    }

    /// The six axes of a `CustomJoint` and its coordinates, which come in the order in which the
    /// axes name them first.
    fn custom_joint(
        &mut self,
        p: &PropertyReader,
        joint: JointId,
        c: &Component,
        listed: &[usize],
    ) -> Option<(JointKind, Vec<CoordinateId>)> {
        let transform = p.find("SpatialTransform");
        let mut names: Vec<String> = Vec::new();
        let mut axes: Vec<TransformAxis> = Vec::new();
        for (k, tag) in AXES.into_iter().enumerate() {
            axes.push(self.transform_axis(transform, k, tag, &c.path, &mut names)?);
        }
        if let Some(e) = transform {
            let q = PropertyReader::new(self.cx, e, &c.path);
            for tag in AXES {
                q.object(tag);
            }
            q.finish();
        }
        for group in [&axes[..3], &axes[3..]] {
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                if group[i].axis.cross(group[j].axis).norm() < COLLINEAR_BELOW {
                    let line = transform.map_or(p.element.line, |e| e.line);
                    let message = "two rotation axes or two translation axes of the joint are parallel";
                    p.error(
                        line,
                        message,
                        "give three linearly independent axes; an unused axis needs a direction too",
                    );
                    return None;
                }
            }
        }
        if names.is_empty() || names.len() > 6 {
            let n = names.len();
            let message = format!("a CustomJoint has 1 to 6 coordinates; the axes name {n}");
            p.error(p.element.line, message, "use a WeldJoint if nothing moves");
            return None;
        }

        // Coordinates that the axes name but the joint does not list are made; listed ones that
        // no axis names would move nothing.
        let mut coordinates = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let mt = motion_type(&axes, k);
            match listed.iter().find(|&&id| self.cx.components[id].name == *name) {
                Some(&id) => coordinates.push(self.coordinate(id, joint, mt)),
                None => {
                    let message =
                        format!("the axes name `{name}`, which the joint does not list; it was added");
                    p.warn(p.element.line, message, "");
                    coordinates.push(self.push_coordinate(default_coordinate(name, c, joint, mt)));
                }
            }
        }
        for &id in listed {
            let unused = &self.cx.components[id];
            if !names.contains(&unused.name) {
                let message = format!("no axis of the joint depends on its coordinate `{}`", unused.name);
                p.error(unused.element.line, message, "remove it, or name it in the SpatialTransform");
            }
        }
        let axes = <[TransformAxis; 6]>::try_from(axes).ok()?;
        Some((JointKind::Custom(SpatialTransform { axes }), coordinates))
    }

    /// One axis; coordinates it names for the first time are added to `names`.
    fn transform_axis(
        &self,
        transform: Option<&Element>,
        k: usize,
        tag: &'static str,
        path: &str,
        names: &mut Vec<String>,
    ) -> Option<TransformAxis> {
        let still = TransformAxis {
            axis: Vec3::unit(k % 3),
            arguments: Vec::new(),
            function: Function::Constant(0.0),
        };
        let Some(transform) = transform else { return Some(still) };
        let Some(e) = PropertyReader::new(self.cx, transform, path).object(tag) else { return Some(still) };

        let p = PropertyReader::new(self.cx, e, path);
        let axis = p.vec3("axis", Vec3::unit(0));
        let length = axis.norm();
        if length == 0.0 {
            p.error(p.line_of("axis"), format!("the axis of `{tag}` is zero"), "");
            return None;
        }
        let mut arguments = Vec::new();
        for name in p.words("coordinates") {
            let place = names.iter().position(|n| *n == name).unwrap_or(names.len());
            if place == names.len() {
                names.push(name);
            }
            arguments.push(place);
        }
        let function = match p.function("function") {
            Some(f) => function(self.cx, f, path)?,
            None => match arguments.len() {
                0 => Function::Constant(0.0),
                // `<function/>` means the identity; so does a missing one here, but not in OpenSim 4.6.
                1 if e.child("function").is_some() => Function::Linear { slope: 1.0, intercept: 0.0 },
                1 => {
                    let message =
                        format!("`{tag}` depends on a coordinate but has no function; the identity is used");
                    p.warn(
                        e.line,
                        message,
                        "in OpenSim 4.6 the coordinate has no effect here; give the axis a LinearFunction",
                    );
                    Function::Linear { slope: 1.0, intercept: 0.0 }
                }
                n => {
                    p.error(e.line, format!("`{tag}` depends on {n} coordinates but has no function"), "");
                    return None;
                }
            },
        };
        p.finish();
        if function.arity() > arguments.len() {
            let (want, have) = (function.arity(), arguments.len());
            let message =
                format!("the function of `{tag}` takes {want} argument(s), but the axis names {have}");
            self.cx.diags.borrow_mut().error(e.line, path, message, "");
            return None;
        }
        Some(TransformAxis { axis: axis * (1.0 / length), arguments, function })
    }
}

/// What moving along coordinate `k` does, as OpenSim decides it: the last axis that follows the
/// coordinate one to one, up to sign, says rotation or translation; without any it is coupled.
fn motion_type(axes: &[TransformAxis], k: usize) -> MotionType {
    let mut found = Coupled;
    for (j, axis) in axes.iter().enumerate().filter(|(_, a)| a.arguments.contains(&k)) {
        if matches!(axis.function, Function::Linear { slope, .. } if slope.abs() == 1.0) {
            found = if j < 3 { Rot } else { Tra };
        }
    }
    found
}

/// A coordinate with OpenSim's values of its properties.
fn default_coordinate(name: &str, joint: &Component, id: JointId, motion_type: MotionType) -> Coordinate {
    Coordinate {
        name: name.to_string(),
        path: format!("{}/{name}", joint.path),
        joint: id,
        motion_type,
        default_value: 0.0,
        default_speed: 0.0,
        range: [-10.0, 10.0],
        clamped: false,
        locked: false,
        prescribed: false,
        prescribed_function: None,
        is_free_to_satisfy_constraints: false,
    }
}

/// Whether `path` lies below the component at `owner`.
pub(super) fn is_below(path: &str, owner: &str) -> bool {
    path.strip_prefix(owner).is_some_and(|rest| rest.starts_with('/'))
}

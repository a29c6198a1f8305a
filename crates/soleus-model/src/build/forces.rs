//! Forces, actuators and muscles.

use super::Builder;
use super::context::{Component, Kind};
use super::functions::function;
use super::muscles::is_muscle;
use super::paths::members;
use super::properties::PropertyReader;
use crate::document::Element;
use crate::force::*;
use crate::id::{CoordinateId, ForceId, FrameId};
use crate::path::Path;
use soleus_math::formula::{Expr, ExprKind};
use soleus_math::function::SimmSpline;
use soleus_math::{Function, Transform, Vec3, vec3};

impl Builder<'_> {
    /// Makes the forces in OpenSim's order of traversal.
    pub(super) fn forces(&mut self) {
        let cx = self.cx;
        for (id, c) in cx.components.iter().enumerate().filter(|(_, c)| c.kind == Kind::Force) {
            let p = PropertyReader::new(cx, c.element, &c.path);
            let enabled = p.boolean("appliesForce", true);
            let Some(made) = self.force_kind(&p, c) else {
                self.unsupported(c);
                continue;
            };
            p.finish();
            let Some((kind, line_of_action)) = made else { continue };
            self.force_of.insert(id, ForceId(self.model.forces.len()));
            let (name, path, class) = (c.name.clone(), c.path.clone(), c.class.to_string());
            self.model.forces.push(Force { name, path, class, enabled, line_of_action, kind });
        }
    }

    /// What a force is, and its path if it has one. The outer `None`: the class is not supported;
    /// the inner: an error was reported.
    #[allow(clippy::option_option)]
    fn force_kind(&self, p: &PropertyReader, c: &Component) -> Option<Option<(ForceKind, Option<Path>)>> {
        let plain = |kind: Option<ForceKind>| kind.map(|k| (k, None));
        let on_path = |kind: Option<ForceKind>| {
            let path = self.line_of_action(p);
            Some((kind?, Some(path?)))
        };
        Some(match c.class {
            class if is_muscle(class) => on_path(self.muscle(p).map(ForceKind::Muscle)),
            "CoordinateActuator" => plain(self.coordinate_actuator(p)),
            "ActivationCoordinateActuator" => plain(self.activation_coordinate_actuator(p)),
            "PointActuator" => plain(self.point_actuator(p)),
            "TorqueActuator" => plain(self.torque_actuator(p)),
            "BodyActuator" => plain(self.body_actuator(p)),
            "PointToPointActuator" => plain(self.point_to_point_actuator(p)),
            "SpringGeneralizedForce" => plain(self.spring_generalized(p)),
            "CoordinateLimitForce" => plain(self.coordinate_limit(p)),
            "ExpressionBasedCoordinateForce" => plain(self.expression_coordinate(p)),
            "FormulaForce" if self.has_path(p) => on_path(self.formula_force(p)),
            "FormulaForce" => plain(self.formula_force(p)),
            "PointToPointSpring" => plain(self.point_to_point_spring(p)),
            "ExpressionBasedPointToPointForce" => plain(self.expression_point_to_point(p)),
            "BushingForce" => plain(self.bushing(p)),
            "FunctionBasedBushingForce" => plain(self.function_bushing(p)),
            "ExpressionBasedBushingForce" => plain(self.expression_bushing(p)),
            "PrescribedForce" => plain(self.prescribed_force(p)),
            "HuntCrossleyForce" | "ElasticFoundationForce" => plain(self.compliant_contact(p, c)),
            "SmoothSphereHalfSpaceForce" => plain(self.smooth_sphere(p)),
            "ExponentialContactForce" => plain(self.exponential_contact(p)),
            "Bogert2011ContactForce" => plain(self.bogert2011_contact(p)),
            "QuadraticDragForce" => plain(self.quadratic_drag(p)),
            "PathActuator" => on_path(Some(ForceKind::PathActuator(PathActuator {
                control: self.control_range(p, ControlRange::default()),
                optimal_force: p.finite("optimal_force", 1.0),
            }))),
            "PathSpring" => on_path(Some(ForceKind::PathSpring(PathSpring {
                resting_length: self.required(p, "resting_length"),
                stiffness: self.required(p, "stiffness"),
                dissipation: self.required(p, "dissipation"),
            }))),
            "Ligament" => on_path(self.ligament(p)),
            "Blankevoort1991Ligament" => {
                on_path(Some(ForceKind::Blankevoort1991Ligament(Blankevoort1991Ligament {
                    linear_stiffness: p.finite("linear_stiffness", 1.0),
                    transition_strain: p.finite("transition_strain", 0.06),
                    damping_coefficient: p.finite("damping_coefficient", 0.003),
                    slack_length: p.finite("slack_length", 0.0),
                })))
            }
            "ExpressionBasedPathForce" => {
                on_path(Some(ForceKind::ExpressionBasedPathForce(ExpressionBasedPathForce {
                    resting_length: p.finite("resting_length", 0.0),
                    expression: p.string("expression", "0.0"),
                    clamp_stretch: p.boolean("clamp_stretch", true),
                })))
            }
            "ClutchedPathSpring" => {
                p.skip(&["optimal_force"]);
                on_path(Some(ForceKind::ClutchedPathSpring(ClutchedPathSpring {
                    control: self.control_range(p, ControlRange { min: 0.0, max: 1.0 }),
                    stiffness: self.required(p, "stiffness"),
                    dissipation: self.required(p, "dissipation"),
                    relaxation_time_constant: p.positive("relaxation_time_constant", 0.001),
                    initial_stretch: p.finite("initial_stretch", 0.0),
                })))
            }
            "McKibbenActuator" => {
                p.skip(&["optimal_force"]);
                on_path(Some(ForceKind::McKibbenActuator(McKibbenActuator {
                    control: self.control_range(p, ControlRange::default()),
                    number_of_turns: p.finite("number_of_turns", 1.5),
                    thread_length: p.finite("thread_length", 200.0),
                    cord_length: p.finite("cord_length", 0.0),
                })))
            }
            _ => return None,
        })
    }

    /// A finite number that has no default.
    fn required(&self, p: &PropertyReader, tag: &'static str) -> f64 {
        if p.find(tag).is_none() {
            p.error(p.element.line, format!("`{tag}` is missing"), "");
        }
        p.finite(tag, 0.0)
    }

    fn control_range(&self, p: &PropertyReader, default: ControlRange) -> ControlRange {
        ControlRange { min: p.number("min_control", default.min), max: p.number("max_control", default.max) }
    }

    /// A vector that must not be zero.
    fn direction(&self, p: &PropertyReader, tag: &'static str, default: Vec3<f64>) -> Vec3<f64> {
        let v = p.vec3(tag, default);
        if v.norm() == 0.0 {
            p.error(p.line_of(tag), format!("`{tag}` is zero"), "");
        }
        v
    }

    fn force_coordinate(&self, p: &PropertyReader) -> Option<CoordinateId> {
        self.coordinate_reference(p, &["socket_coordinate", "coordinate"])
    }

    fn coordinate_actuator(&self, p: &PropertyReader) -> Option<ForceKind> {
        let control = self.control_range(p, ControlRange::default());
        let coordinate = self.force_coordinate(p);
        let optimal_force = p.finite("optimal_force", 1.0);
        let coordinate = coordinate?;
        Some(ForceKind::CoordinateActuator(CoordinateActuator { control, coordinate, optimal_force }))
    }

    fn activation_coordinate_actuator(&self, p: &PropertyReader) -> Option<ForceKind> {
        let control = self.control_range(p, ControlRange::default());
        let coordinate = self.force_coordinate(p);
        let optimal_force = p.finite("optimal_force", 1.0);
        let activation_time_constant = p.positive("activation_time_constant", 0.01);
        let default_activation = p.finite("default_activation", 0.5);
        Some(ForceKind::ActivationCoordinateActuator(ActivationCoordinateActuator {
            control,
            coordinate: coordinate?,
            optimal_force,
            activation_time_constant,
            default_activation,
        }))
    }

    fn point_actuator(&self, p: &PropertyReader) -> Option<ForceKind> {
        let control = self.control_range(p, ControlRange::default());
        let body = self.frame_socket(p, &["socket_body", "body"]);
        let point = p.vec3("point", Vec3::zero());
        let point_is_global = p.boolean("point_is_global", false);
        let direction = self.direction(p, "direction", vec3(1.0, 0.0, 0.0));
        let force_is_global = p.boolean("force_is_global", false);
        let optimal_force = p.finite("optimal_force", 1.0);
        Some(ForceKind::PointActuator(PointActuator {
            control,
            body: body?,
            point,
            point_is_global,
            direction,
            force_is_global,
            optimal_force,
        }))
    }

    fn torque_actuator(&self, p: &PropertyReader) -> Option<ForceKind> {
        let control = self.control_range(p, ControlRange::default());
        let body_a = self.frame_socket(p, &["socket_bodyA", "bodyA"]);
        let body_b = self.frame_socket(p, &["socket_bodyB", "bodyB"]);
        let torque_is_global = p.boolean("torque_is_global", true);
        let axis = self.direction(p, "axis", vec3(0.0, 0.0, 1.0));
        let optimal_force = p.finite("optimal_force", 1.0);
        Some(ForceKind::TorqueActuator(TorqueActuator {
            control,
            body_a: body_a?,
            body_b: body_b?,
            torque_is_global,
            axis,
            optimal_force,
        }))
    }

    fn body_actuator(&self, p: &PropertyReader) -> Option<ForceKind> {
        let body = self.frame_socket(p, &["socket_body", "body"]);
        let point = p.vec3("point", Vec3::zero());
        let point_is_global = p.boolean("point_is_global", false);
        let spatial_force_is_global = p.boolean("spatial_force_is_global", true);
        let body = body?;
        Some(ForceKind::BodyActuator(BodyActuator { body, point, point_is_global, spatial_force_is_global }))
    }

    fn point_to_point_actuator(&self, p: &PropertyReader) -> Option<ForceKind> {
        let control = self.control_range(p, ControlRange::default());
        let body_a = self.frame_socket(p, &["socket_bodyA", "bodyA"]);
        let body_b = self.frame_socket(p, &["socket_bodyB", "bodyB"]);
        let points_are_global = p.boolean("points_are_global", false);
        let point_a = p.vec3("pointA", Vec3::zero());
        let point_b = p.vec3("pointB", Vec3::zero());
        let optimal_force = p.finite("optimal_force", 1.0);
        Some(ForceKind::PointToPointActuator(PointToPointActuator {
            control,
            body_a: body_a?,
            body_b: body_b?,
            points_are_global,
            point_a,
            point_b,
            optimal_force,
        }))
    }

    fn spring_generalized(&self, p: &PropertyReader) -> Option<ForceKind> {
        let coordinate = self.force_coordinate(p);
        let stiffness = p.finite("stiffness", 0.0);
        let rest_length = p.finite("rest_length", 0.0);
        let viscosity = p.finite("viscosity", 0.0);
        let coordinate = coordinate?;
        Some(ForceKind::SpringGeneralizedForce(SpringGeneralizedForce {
            coordinate,
            stiffness,
            rest_length,
            viscosity,
        }))
    }

    fn coordinate_limit(&self, p: &PropertyReader) -> Option<ForceKind> {
        let coordinate = self.force_coordinate(p);
        let made = |coordinate| CoordinateLimitForce {
            coordinate,
            upper_stiffness: p.finite("upper_stiffness", 1.0),
            upper_limit: p.finite("upper_limit", 0.0),
            lower_stiffness: p.finite("lower_stiffness", 1.0),
            lower_limit: p.finite("lower_limit", 0.0),
            damping: p.finite("damping", 0.001),
            transition: p.positive("transition", 0.1),
            compute_dissipation_energy: p.boolean("compute_dissipation_energy", false),
        };
        coordinate.map(|c| ForceKind::CoordinateLimitForce(made(c)))
    }

    fn expression_coordinate(&self, p: &PropertyReader) -> Option<ForceKind> {
        let coordinate = self.force_coordinate(p);
        let expression = p.string("expression", "0.0");
        let coordinate = coordinate?;
        Some(ForceKind::ExpressionBasedCoordinateForce(ExpressionBasedCoordinateForce {
            coordinate,
            expression,
        }))
    }

    /// The formula of an element; what is wrong is told with its line.
    pub(super) fn formula(&self, p: &PropertyReader, e: &Element) -> Option<Expr> {
        let text = e.text();
        match Expr::parse(&text) {
            Ok(formula) => Some(formula),
            Err(error) => {
                let line = e.line + error.place.line.saturating_sub(1);
                p.error(line, format!("`{}`: {error}", e.tag), &error.hint());
                None
            }
        }
    }

    /// `constants`: numbers by name.
    pub(super) fn constants(&self, p: &PropertyReader) -> Vec<(String, f64)> {
        let mut constants = Vec::new();
        for e in p.find("constants").into_iter().flat_map(Element::children) {
            match e.text().trim().parse::<f64>() {
                Ok(x) if x.is_finite() => constants.push((e.tag.to_string(), x)),
                _ => p.error(e.line, format!("constant `{}` is `{}`, not a number", e.tag, e.text()), ""),
            }
        }
        constants
    }

    fn formula_force(&self, p: &PropertyReader) -> Option<ForceKind> {
        let named =
            |tags: &[&'static str]| p.reference(tags).is_some_and(|(text, _)| !text.trim().is_empty());
        let (coordinate, frame) = (["socket_coordinate", "coordinate"], ["socket_frame", "frame"]);
        let point = p.vec3("point", Vec3::zero());
        let target = match (named(&coordinate), named(&frame)) {
            (a, b) if (a || b) && self.has_path(p) => {
                let message = "a formula acts along a path, or on a coordinate or frame, not on both";
                p.error(p.line_of("formula"), message, "use two forces");
                None
            }
            (false, false) if self.has_path(p) => Some(FormulaTarget::Path),
            (true, true) => {
                let message = "a formula acts on a coordinate or on a point of a frame, not on both";
                p.error(p.line_of("formula"), message, "use two forces");
                None
            }
            (true, false) => self.force_coordinate(p).map(FormulaTarget::Coordinate),
            (false, true) => self.frame_socket(p, &frame).map(|f| FormulaTarget::Point(f, point)),
            (false, false) => Some(FormulaTarget::Nothing),
        };
        let formula = p.find("formula").filter(|e| !e.text().trim().is_empty()).map(|e| self.formula(p, e));
        let constants = self.constants(p);
        let mut states = Vec::new();
        for e in p.find("states").into_iter().flat_map(Element::children) {
            let Some(rate) = e.child("rate") else {
                p.error(e.line, format!("state `{}` has no `rate`", e.tag), "add <rate>a formula</rate>");
                continue;
            };
            let text = e.child_text("default_value").unwrap_or_default();
            let default = if text.trim().is_empty() { Some(0.0) } else { text.trim().parse::<f64>().ok() };
            match (default.filter(|x| x.is_finite()), self.formula(p, rate)) {
                (Some(default), Some(rate)) => {
                    states.push(FormulaState { name: e.tag.to_string(), default, rate });
                }
                (None, _) => p.error(
                    e.line,
                    format!("the initial value of state `{}` is `{text}`, not a number", e.tag),
                    "",
                ),
                _ => {}
            }
        }
        let range = self.control_range(p, ControlRange::default());
        let uses = |e: &Expr| {
            let mut found = false;
            e.visit(&mut |part| found |= *part.kind() == ExprKind::Input("control".into(), None));
            found
        };
        let target = target?;
        let formula = match formula {
            Some(None) => return None,
            Some(found) => found,
            None if target == FormulaTarget::Nothing => None,
            None => {
                p.error(p.line_of("formula"), "`formula` is missing", "");
                return None;
            }
        };
        let controlled = formula.iter().chain(states.iter().map(|s| &s.rate)).any(uses);
        let control = controlled.then_some(range);
        Some(ForceKind::FormulaForce(Box::new(FormulaForce { target, formula, constants, states, control })))
    }

    fn point_to_point_spring(&self, p: &PropertyReader) -> Option<ForceKind> {
        let body1 = self.frame_socket(p, &["socket_body1", "body1"]);
        let body2 = self.frame_socket(p, &["socket_body2", "body2"]);
        let point1 = p.vec3("point1", Vec3::zero());
        let point2 = p.vec3("point2", Vec3::zero());
        let stiffness = p.finite("stiffness", 1.0);
        let rest_length = p.finite("rest_length", 0.0);
        Some(ForceKind::PointToPointSpring(PointToPointSpring {
            body1: body1?,
            body2: body2?,
            point1,
            point2,
            stiffness,
            rest_length,
        }))
    }

    /// A frame that a property names, and the name as the file spells it.
    fn labelled_frame(&self, p: &PropertyReader, tags: &[&'static str]) -> Option<(FrameId, String)> {
        let label = p.reference(tags).map_or(String::new(), |(text, _)| text);
        Some((self.frame_socket(p, tags)?, label))
    }

    fn expression_point_to_point(&self, p: &PropertyReader) -> Option<ForceKind> {
        let first = self.labelled_frame(p, &["socket_body1", "body1"]);
        let second = self.labelled_frame(p, &["socket_body2", "body2"]);
        let point1 = p.vec3("point1", Vec3::zero());
        let point2 = p.vec3("point2", Vec3::zero());
        let expression = p.string("expression", "0.0");
        let ((body1, body1_label), (body2, body2_label)) = (first?, second?);
        Some(ForceKind::ExpressionBasedPointToPointForce(ExpressionBasedPointToPointForce {
            body1,
            body1_label,
            body2,
            body2_label,
            point1,
            point2,
            expression,
        }))
    }

    /// The two frames of a bushing and its two dampings.
    fn two_frames(&self, p: &PropertyReader) -> Option<(FrameId, FrameId, Vec3<f64>, Vec3<f64>)> {
        let frame1 = self.frame_socket(p, &["socket_frame1"]);
        let frame2 = self.frame_socket(p, &["socket_frame2"]);
        let rotational_damping = p.vec3("rotational_damping", Vec3::zero());
        let translational_damping = p.vec3("translational_damping", Vec3::zero());
        p.skip(&["frames", "moment_visual_scale", "force_visual_scale", "visual_aspect_ratio"]);
        Some((frame1?, frame2?, rotational_damping, translational_damping))
    }

    fn bushing(&self, p: &PropertyReader) -> Option<ForceKind> {
        let rotational_stiffness = p.vec3("rotational_stiffness", Vec3::zero());
        let translational_stiffness = p.vec3("translational_stiffness", Vec3::zero());
        let (frame1, frame2, rotational_damping, translational_damping) = self.two_frames(p)?;
        Some(ForceKind::BushingForce(BushingForce {
            frame1,
            frame2,
            rotational_stiffness,
            translational_stiffness,
            rotational_damping,
            translational_damping,
        }))
    }

    fn function_bushing(&self, p: &PropertyReader) -> Option<ForceKind> {
        let read = |tag| match p.object(tag) {
            Some(e) => function(self.cx, e, p.path),
            None => Some(Function::Constant(0.0)),
        };
        let moment = ["m_x_theta_x_function", "m_y_theta_y_function", "m_z_theta_z_function"].map(read);
        let force = ["f_x_delta_x_function", "f_y_delta_y_function", "f_z_delta_z_function"].map(read);
        let (frame1, frame2, rotational_damping, translational_damping) = self.two_frames(p)?;
        let ([mx, my, mz], [fx, fy, fz]) = (moment, force);
        Some(ForceKind::FunctionBasedBushingForce(FunctionBasedBushingForce {
            frame1,
            frame2,
            moment: [mx?, my?, mz?],
            force: [fx?, fy?, fz?],
            rotational_damping,
            translational_damping,
        }))
    }

    fn expression_bushing(&self, p: &PropertyReader) -> Option<ForceKind> {
        let moment = ["Mx_expression", "My_expression", "Mz_expression"].map(|tag| p.string(tag, "0.0"));
        let force = ["Fx_expression", "Fy_expression", "Fz_expression"].map(|tag| p.string(tag, "0.0"));
        let (frame1, frame2, rotational_damping, translational_damping) = self.two_frames(p)?;
        Some(ForceKind::ExpressionBasedBushingForce(ExpressionBasedBushingForce {
            frame1,
            frame2,
            moment,
            force,
            rotational_damping,
            translational_damping,
        }))
    }

    fn prescribed_force(&self, p: &PropertyReader) -> Option<ForceKind> {
        let frame = self.frame_socket(p, &["socket_frame"]);
        let point_is_global = p.boolean("pointIsGlobal", false);
        let force_is_global = p.boolean("forceIsGlobal", true);
        let force = self.three_functions(p, "forceFunctions");
        let point = self.three_functions(p, "pointFunctions");
        let torque = self.three_functions(p, "torqueFunctions");
        Some(ForceKind::PrescribedForce(PrescribedForce {
            frame: frame?,
            point_is_global,
            force_is_global,
            force,
            point,
            torque,
        }))
    }

    /// A set of three functions, or of none.
    fn three_functions(&self, p: &PropertyReader, tag: &'static str) -> Option<[Function; 3]> {
        let found = p.object(tag);
        // `<forceFunctions>` may be the set itself or hold one.
        let set = match found {
            Some(e) if e.tag == "objects" => p.find(tag),
            other => other,
        };
        let list: Vec<_> = members(set).map(|e| function(self.cx, e, p.path)).collect();
        match list.len() {
            0 => None,
            3 => {
                let all: Option<Vec<Function>> = list.into_iter().collect();
                <[Function; 3]>::try_from(all?).ok()
            }
            n => {
                p.error(p.line_of(tag), format!("`{tag}` needs three functions, found {n}"), "");
                None
            }
        }
    }

    fn compliant_contact(&self, p: &PropertyReader, c: &Component) -> Option<ForceKind> {
        let transition_velocity = p.positive("transition_velocity", 0.01);
        let mut contact_parameters = Vec::new();
        // The set may be without a name; its tag then tells.
        let tags =
            ["HuntCrossleyForce::ContactParametersSet", "ElasticFoundationForce::ContactParametersSet"];
        let set = p.object("contact_parameters").or_else(|| p.find_any(&tags));
        for e in members(set) {
            let q = PropertyReader::new(self.cx, e, p.path);
            let line = q.line_of("geometry");
            let geometry = q
                .words("geometry")
                .iter()
                .filter_map(|name| self.geometry_named(p.path, name, line))
                .collect();
            contact_parameters.push(ContactParameters {
                geometry,
                stiffness: q.nonnegative("stiffness", 0.0),
                dissipation: q.nonnegative("dissipation", 0.0),
                static_friction: q.nonnegative("static_friction", 0.0),
                dynamic_friction: q.nonnegative("dynamic_friction", 0.0),
                viscous_friction: q.nonnegative("viscous_friction", 0.0),
            });
            q.finish();
        }
        if contact_parameters.is_empty() {
            p.warn(p.element.line, "the force names no contact geometry and has no effect", "");
        }
        Some(match c.class {
            "HuntCrossleyForce" => {
                ForceKind::HuntCrossleyForce(HuntCrossleyForce { contact_parameters, transition_velocity })
            }
            _ => ForceKind::ElasticFoundationForce(ElasticFoundationForce {
                contact_parameters,
                transition_velocity,
            }),
        })
    }

    fn smooth_sphere(&self, p: &PropertyReader) -> Option<ForceKind> {
        let named = |tag: &'static str| match p.reference(&[tag]) {
            Some((text, line)) => self.geometry_named(p.path, &text, line),
            None => {
                p.error(p.element.line, format!("`{tag}` is missing: it must name a contact geometry"), "");
                None
            }
        };
        let sphere = named("socket_sphere");
        let half_space = named("socket_half_space");
        p.skip(&["force_visualization_radius", "force_visualization_scale_factor"]);
        let made = |sphere, half_space| SmoothSphereHalfSpaceForce {
            sphere,
            half_space,
            stiffness: p.nonnegative("stiffness", 1.0),
            dissipation: p.nonnegative("dissipation", 0.0),
            static_friction: p.nonnegative("static_friction", 0.0),
            dynamic_friction: p.nonnegative("dynamic_friction", 0.0),
            viscous_friction: p.nonnegative("viscous_friction", 0.0),
            transition_velocity: p.positive("transition_velocity", 0.01),
            constant_contact_force: p.nonnegative("constant_contact_force", 1e-5),
            hertz_smoothing: p.nonnegative("hertz_smoothing", 300.0),
            hunt_crossley_smoothing: p.nonnegative("hunt_crossley_smoothing", 50.0),
        };
        Some(ForceKind::SmoothSphereHalfSpaceForce(made(sphere?, half_space?)))
    }

    fn exponential_contact(&self, p: &PropertyReader) -> Option<ForceKind> {
        let [a, b, c, x, y, z] = p.array("contact_plane_transform", [0.0; 6]);
        let shape = p.vec3("exponential_shape_parameters", vec3(0.0065905, 0.5336, 1150.0));
        let station = match p.object("station") {
            Some(e) => {
                // The station is a part of the force; its socket is relative to itself.
                let path = format!("{}/station", p.path);
                let q = PropertyReader::new(self.cx, e, &path);
                let location = q.vec3("location", Vec3::zero());
                let frame = self.frame_socket(&q, &["socket_parent_frame"]);
                q.finish();
                frame.map(|f| (f, location))
            }
            None => {
                p.error(p.element.line, "the force has no `station`", "");
                None
            }
        };
        let made = |frame, location| ExponentialContactForce {
            contact_plane: Transform::from_offset(vec3(x, y, z), vec3(a, b, c)),
            frame,
            location,
            shape,
            normal_viscosity: p.finite("normal_viscosity", 0.5),
            max_normal_force: p.finite("max_normal_force", 100_000.0),
            friction_elasticity: p.finite("friction_elasticity", 20_000.0),
            // Critical for a mass of 1 kg: 2 √k.
            friction_viscosity: p.finite("friction_viscosity", 282.842_712_474_619),
            settle_velocity: p.finite("settle_velocity", 0.01),
            mu_static: p.finite("initial_mu_static", 0.7),
            mu_kinetic: p.finite("initial_mu_kinetic", 0.5),
        };
        station.map(|(frame, location)| ForceKind::ExponentialContactForce(made(frame, location)))
    }

    fn bogert2011_contact(&self, p: &PropertyReader) -> Option<ForceKind> {
        let frame = self.frame_socket(p, &["socket_frame"]);
        let location = p.vec3("location", Vec3::zero());
        let made = |frame| Bogert2011Contact {
            frame,
            location,
            stiffness: p.nonnegative("stiffness", 20_000.0),
            damping: p.nonnegative("damping", 1.0),
            linear_stiffness: p.nonnegative("linear_stiffness", 1.0),
            transition_height: p.positive("transition_height", 0.001),
            friction: p.nonnegative("friction", 1.0),
            transition_velocity: p.positive("transition_velocity", 0.1),
        };
        frame.map(|f| ForceKind::Bogert2011Contact(made(f)))
    }

    fn quadratic_drag(&self, p: &PropertyReader) -> Option<ForceKind> {
        let frame = self.frame_socket(p, &["socket_frame"]);
        let location = p.vec3("location", Vec3::zero());
        let made = |frame| QuadraticDrag {
            frame,
            location,
            drag_area: p.nonnegative("drag_area", 0.5),
            air_density: p.nonnegative("air_density", 1.2),
            transition_velocity: p.nonnegative("transition_velocity", 0.01),
        };
        frame.map(|f| ForceKind::QuadraticDrag(made(f)))
    }

    fn ligament(&self, p: &PropertyReader) -> Option<ForceKind> {
        let resting_length = p.positive("resting_length", 0.0);
        let pcsa_force = p.finite("pcsa_force", 0.0);
        let force_length_curve = match p.object("force_length_curve") {
            Some(e) => function(self.cx, e, p.path),
            None => default_ligament_curve(),
        };
        Some(ForceKind::Ligament(Ligament {
            resting_length,
            pcsa_force,
            force_length_curve: force_length_curve?,
        }))
    }
}

/// OpenSim's curve of a ligament without one: that of passive fibers, of length over resting length.
fn default_ligament_curve() -> Option<Function> {
    let (x, y) = crate::muscle::default_curves::PASSIVE_FORCE_LENGTH.iter().copied().unzip();
    SimmSpline::new(x, y).ok().map(Function::from)
}

//! Constraints between bodies and between coordinates.

use super::Builder;
use super::context::{Component, Kind};
use super::functions::function;
use super::properties::PropertyReader;
use crate::constraint::{Constraint, ConstraintKind};
use soleus_math::{Vec3, vec3};

impl Builder<'_> {
    /// Makes the constraints in file order.
    pub(super) fn constraints(&mut self) {
        let cx = self.cx;
        for c in cx.components.iter().filter(|c| c.kind == Kind::Constraint) {
            let p = PropertyReader::new(cx, c.element, &c.path);
            let enforced = p.boolean("isEnforced", true);
            let kind = match c.class {
                "CoordinateCouplerConstraint" => self.coupler(&p, c),
                "PointConstraint" => self.point(&p),
                "WeldConstraint" => self.weld(&p),
                "ConstantDistanceConstraint" => self.constant_distance(&p),
                "PointOnLineConstraint" => self.point_on_line(&p),
                "RollingOnSurfaceConstraint" => self.rolling(&p),
                _ => {
                    self.unsupported(c);
                    continue;
                }
            };
            p.finish();
            if let Some(kind) = kind {
                let (name, path) = (c.name.clone(), c.path.clone());
                self.model.constraints.push(Constraint { name, path, enforced, kind });
            }
        }
    }

    fn coupler(&self, p: &PropertyReader, c: &Component) -> Option<ConstraintKind> {
        let dependent = self.coordinate_reference(p, &["dependent_coordinate_name"]);
        let scale = p.finite("scale_factor", 1.0);
        let names = p.words("independent_coordinate_names");
        let line = p.line_of("independent_coordinate_names");
        if names.is_empty() {
            p.error(line, "the constraint names no independent coordinate", "");
        }
        let independent: Option<Vec<_>> =
            names.iter().map(|name| self.coordinate_named(&c.path, name, line)).collect();
        let f = match p.object("coupled_coordinates_function") {
            Some(e) => function(self.cx, e, &c.path),
            None => {
                p.error(c.element.line, "the constraint has no `coupled_coordinates_function`", "");
                None
            }
        };
        let (function, independent, dependent) = (f?, independent?, dependent?);
        if independent.is_empty() || function.arity() > independent.len() {
            let (want, have) = (function.arity(), independent.len());
            p.error(
                line,
                format!("the function takes {want} coordinate(s), but the constraint names {have}"),
                "",
            );
            return None;
        }
        Some(ConstraintKind::CoordinateCoupler { independent, dependent, function, scale })
    }

    fn point(&self, p: &PropertyReader) -> Option<ConstraintKind> {
        let body_1 = self.frame_socket(p, &["socket_body_1"]);
        let body_2 = self.frame_socket(p, &["socket_body_2"]);
        let location_1 = p.vec3("location_body_1", Vec3::zero());
        let location_2 = p.vec3("location_body_2", Vec3::zero());
        Some(ConstraintKind::Point { body_1: body_1?, body_2: body_2?, location_1, location_2 })
    }

    fn weld(&self, p: &PropertyReader) -> Option<ConstraintKind> {
        let frame_1 = self.frame_socket(p, &["socket_frame1"]);
        let frame_2 = self.frame_socket(p, &["socket_frame2"]);
        p.skip(&["frames"]);
        Some(ConstraintKind::Weld { frame_1: frame_1?, frame_2: frame_2? })
    }

    fn constant_distance(&self, p: &PropertyReader) -> Option<ConstraintKind> {
        let body_1 = self.frame_socket(p, &["socket_body_1"]);
        let body_2 = self.frame_socket(p, &["socket_body_2"]);
        let location_1 = p.vec3("location_body_1", Vec3::zero());
        let location_2 = p.vec3("location_body_2", Vec3::zero());
        let distance = match p.optional_number("constant_distance") {
            Some(d) if d > 0.0 && d.is_finite() => d,
            _ => {
                let message = "`constant_distance` must be given and above zero";
                p.error(
                    p.line_of("constant_distance"),
                    message,
                    "use a PointConstraint to make points coincide",
                );
                return None;
            }
        };
        Some(ConstraintKind::ConstantDistance {
            body_1: body_1?,
            body_2: body_2?,
            location_1,
            location_2,
            distance,
        })
    }

    fn point_on_line(&self, p: &PropertyReader) -> Option<ConstraintKind> {
        let line_body = self.frame_socket(p, &["socket_line_body"]);
        let follower_body = self.frame_socket(p, &["socket_follower_body"]);
        let direction = p.vec3("line_direction_vec", Vec3::zero());
        let point_on_line = p.vec3("point_on_line", Vec3::zero());
        let point_on_follower = p.vec3("point_on_follower", Vec3::zero());
        if direction.norm() == 0.0 {
            p.error(p.line_of("line_direction_vec"), "the line has no direction", "");
        }
        Some(ConstraintKind::PointOnLine {
            line_body: line_body?,
            follower_body: follower_body?,
            direction,
            point_on_line,
            point_on_follower,
        })
    }

    fn rolling(&self, p: &PropertyReader) -> Option<ConstraintKind> {
        let rolling_body = self.frame_socket(p, &["socket_rolling_body"]);
        let surface_body = self.frame_socket(p, &["socket_surface_body"]);
        let normal = p.vec3("surface_normal", vec3(0.0, 1.0, 0.0));
        let height = p.finite("surface_height", 0.0);
        let friction = p.nonnegative("friction_coefficient", 0.5);
        let radius = p.finite("contact_radius", 0.01);
        if normal.norm() == 0.0 {
            p.error(p.line_of("surface_normal"), "the surface has no normal", "");
        }
        Some(ConstraintKind::RollingOnSurface {
            rolling_body: rolling_body?,
            surface_body: surface_body?,
            normal,
            height,
            friction,
            radius,
        })
    }
}

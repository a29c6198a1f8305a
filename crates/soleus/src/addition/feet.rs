//! Contact spheres under heels and toes.

use super::Work;
use super::elements::{element, numbers};
use crate::error::Error;
use soleus_control::gait::other_side;
use soleus_math::Vec3;
use soleus_model::Element;
use soleus_model::id::{BodyId, FrameId};
use std::f64::consts::FRAC_PI_2;
use std::fmt::Display;

/// Distance from the origin of the foot to the joint of the toes, m, in the model whose spheres are the pattern: OpenSim Moco's planar
/// model of walking (2D_gait.osim), calcaneus to toes.
const LENGTH: f64 = 0.1788;

/// Its spheres: name, place in the foot (m; z outwards) and radius (m).
const SPHERES: [(&str, [f64; 3], f64); 2] = [
    ("heel", [0.031_307_5, 0.010_435_8, 0.0], 0.035),
    ("front", [0.177_409, -0.015_653_8, 0.005_217_9], 0.015),
];

/// Its contact: stiffness (N/m²), dissipation (s/m), friction, viscous friction, transition velocity (m/s).
const CONTACT: [f64; 5] = [3_067_776.0, 2.0, 0.8, 0.5, 0.2];

impl Work<'_> {
    /// Spheres under both feet, scaled by the length of the foot, and a floor at height 0.
    pub(super) fn feet(&self, model: &mut Element, told: &mut Vec<String>) -> Result<(), Error> {
        let feet = self.find_feet();
        if feet.len() < 2 {
            let message =
                "no feet were found (distal bodies on both sides that carry toes or extend forward)";
            return Err(self.refuse(message, "add contact spheres to the model by hand"));
        }
        let floor: [(&str, &dyn Display); 3] = [
            ("socket_frame", &"/ground"),
            ("location", &"0 0 0"),
            ("orientation", &numbers([0.0, 0.0, -FRAC_PI_2])),
        ];
        self.put(model, "ContactGeometrySet", element("ContactHalfSpace", "floor", &floor))?;
        let [stiffness, dissipation, friction, viscous, transition] = CONTACT;
        let stiffness = self.part.stiffness.unwrap_or(stiffness);
        let dissipation = self.part.damping.unwrap_or(dissipation);
        let friction = self.part.friction.unwrap_or(friction);
        for (body, toes) in feet {
            let scale = toes.x / LENGTH;
            let name = &self.model.bodies[body.0].name;
            let is_right = name.split(['_', '/']).any(|w| ["r", "R", "right"].contains(&w));
            let (side, sign) = if is_right { ("r", 1.0) } else { ("l", -1.0) };
            for (part, [x, y, z], radius) in SPHERES {
                let sphere = format!("{part}_{side}");
                let place = numbers([scale * x, scale * y, sign * scale * z]);
                let fields: [(&str, &dyn Display); 3] = [
                    ("socket_frame", &format!("/bodyset/{name}")),
                    ("location", &place),
                    ("radius", &(scale * radius)),
                ];
                self.put(model, "ContactGeometrySet", element("ContactSphere", &sphere, &fields))?;
                let fields: [(&str, &dyn Display); 8] = [
                    ("socket_sphere", &format!("/contactgeometryset/{sphere}")),
                    ("socket_half_space", &"/contactgeometryset/floor"),
                    ("stiffness", &stiffness),
                    ("dissipation", &dissipation),
                    ("static_friction", &friction),
                    ("dynamic_friction", &friction),
                    ("viscous_friction", &viscous),
                    ("transition_velocity", &transition),
                ];
                let force = element("SmoothSphereHalfSpaceForce", &format!("contact_{sphere}"), &fields);
                self.put(model, "ForceSet", force)?;
            }
            told.push(format!(
                "{name}: spheres at heel and toes, {scale:.2} times those of a foot of {LENGTH} m"
            ));
        }
        Ok(())
    }

    /// Bodies of a side with the place of the joint of their toes: the last bodies of the legs, or those that carry them where the last are
    /// toes.
    fn find_feet(&self) -> Vec<(BodyId, Vec3<f64>)> {
        let m = self.model;
        let body_of = |frame: FrameId| m.frames[frame.0].body;
        let mut list = Vec::new();
        for joint in &m.joints {
            let (parent, child) = (body_of(joint.parent), body_of(joint.child));
            let is_last = !m.joints.iter().any(|j| body_of(j.parent) == child);
            let has_side = other_side(&m.bodies[child.0].path).is_some()
                && other_side(&m.bodies[parent.0].path).is_some();
            let at = m.frames[joint.parent.0].X_BF.p;
            // Toes lie in front of the origin of the foot, at about its height.
            if is_last && has_side && at.x > 0.05 && at.x > 2.0 * at.y.abs() {
                list.push((parent, at));
            }
        }
        list
    }
}

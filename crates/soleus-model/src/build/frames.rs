//! Bodies, the frames fixed to them, and points in those frames.

use super::Builder;
use super::context::Kind;
use super::properties::PropertyReader;
use crate::body::{Body, Frame, Marker};
use crate::id::{BodyId, FrameId};
use crate::model::Imu;
use soleus_math::{Mat33, Rotation, SymMat33, Transform, Vec3, vec3};

/// How far the pose of a frame has been worked out.
#[derive(Clone, Copy, PartialEq)]
enum Progress {
    Waiting,
    Entered,
    Done,
}

/// Below this mass (kg) OpenSim takes a body for massless: ε^(7/8), Simbody's `SignificantReal`.
const MASSLESS_BELOW_KG: f64 = 2.0e-14;

/// How far the way from a frame to what was placed before may be; each step takes a piece of the stack.
const MOST_FRAMES_DEEP: usize = 250;

impl Builder<'_> {
    /// Makes the bodies and the frames; markers come after.
    pub(super) fn bodies_and_frames(&mut self) {
        let cx = self.cx;
        // Ground is the first body, whatever stands before it.
        for kind in [Kind::Ground, Kind::Body] {
            for (id, c) in cx.components.iter().enumerate().filter(|(_, c)| c.kind == kind) {
                let frame = FrameId(self.model.frames.len());
                let body = BodyId(self.model.bodies.len());
                self.frame_of.insert(id, frame);
                self.model.frames.push(Frame {
                    name: c.name.clone(),
                    path: c.path.clone(),
                    body,
                    X_BF: Transform::identity(),
                    offset_from: None,
                });
                let (mass, mass_center, inertia) = match kind {
                    Kind::Body => self.mass_properties(id),
                    _ => {
                        if c.class == "Ground" && c.element.tag != "Model" {
                            let p = PropertyReader::with_class(cx, c.element, "Ground", &c.path);
                            p.skip(&["WrapObjectSet"]);
                            p.finish();
                        }
                        (0.0, Vec3::zero(), SymMat33::zero())
                    }
                };
                self.model.bodies.push(Body {
                    name: c.name.clone(),
                    path: c.path.clone(),
                    mass,
                    mass_center,
                    inertia,
                    frame,
                });
            }
        }

        // Offset frames get their numbers first, then their poses, parents before children.
        let fixed: Vec<usize> = (0..cx.components.len())
            .filter(|&id| matches!(cx.components[id].kind, Kind::OffsetFrame | Kind::StationFrame))
            .collect();
        for &id in &fixed {
            let c = &cx.components[id];
            self.frame_of.insert(id, FrameId(self.model.frames.len()));
            self.model.frames.push(Frame {
                name: c.name.clone(),
                path: c.path.clone(),
                body: BodyId::GROUND,
                X_BF: Transform::identity(),
                offset_from: None,
            });
        }
        let mut progress = vec![Progress::Done; cx.components.len()];
        for &id in &fixed {
            progress[id] = Progress::Waiting;
        }
        for &id in &fixed {
            self.place_frame(id, &mut progress);
        }
    }

    /// `mass`, `mass_center` and `inertia` of a body.
    fn mass_properties(&self, id: usize) -> (f64, Vec3<f64>, SymMat33<f64>) {
        let c = &self.cx.components[id];
        let p = PropertyReader::new(self.cx, c.element, &c.path);
        if p.find("mass").is_none() {
            p.error(c.element.line, "the body has no `mass`", "give it a mass in kg; 0 is allowed");
        }
        let mass = p.nonnegative("mass", 0.0);
        let mass_center = p.vec3("mass_center", Vec3::zero());
        let [xx, yy, zz, xy, xz, yz] = p.array("inertia", [0.0; 6]);
        let line = p.line_of("inertia");
        p.skip(&["WrapObjectSet"]);
        p.finish();

        let size = [xx, yy, zz, xy, xz, yz].iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut d = self.cx.diags.borrow_mut();
        if mass <= MASSLESS_BELOW_KG && size > MASSLESS_BELOW_KG {
            d.warn(line, &c.path, "the body has inertia but no mass; its inertia is set to zero", "");
            return (mass, mass_center, SymMat33::zero());
        }
        // Simbody's test, with its slack of √ε of the trace (at least 1 kg·m²).
        let slack = (xx + yy + zz).max(1.0) * f64::EPSILON.sqrt();
        let is_physical = xx.min(yy).min(zz) >= -slack
            && xx + yy + slack >= zz
            && xx + zz + slack >= yy
            && yy + zz + slack >= xx
            && xx + slack >= (2.0 * yz).abs()
            && yy + slack >= (2.0 * xz).abs()
            && zz + slack >= (2.0 * xy).abs();
        if !is_physical {
            let message = format!("the inertia {xx} {yy} {zz} {xy} {xz} {yz} is not physically possible");
            d.warn(
                line,
                &c.path,
                message,
                "the largest principal moment must not exceed the sum of the other two",
            );
        }
        (mass, mass_center, SymMat33 { xx, yy, zz, xy, xz, yz })
    }

    /// Works out body and pose of a frame, and of the frames it stands on.
    fn place_frame(&mut self, id: usize, progress: &mut [Progress]) {
        if progress[id] != Progress::Waiting {
            if progress[id] == Progress::Entered {
                let c = &self.cx.components[id];
                let hint = "attach one of the frames in the loop to a body";
                self.cx.diags.borrow_mut().error(
                    c.element.line,
                    &c.path,
                    "the frame is attached to itself",
                    hint,
                );
            }
            return;
        }
        progress[id] = Progress::Entered;
        self.frames_entered += 1;
        let placed = match self.cx.components[id].kind {
            _ if self.frames_entered > MOST_FRAMES_DEEP => {
                let c = &self.cx.components[id];
                let message =
                    format!("more than {MOST_FRAMES_DEEP} frames are attached to each other in a chain");
                let hint = "attach frames to bodies, or list each after the one it is attached to";
                self.cx.diags.borrow_mut().error(c.element.line, &c.path, message, hint);
                None
            }
            Kind::StationFrame => {
                self.station_frame_pose(id, progress).map(|(body, X_BF)| (body, X_BF, None))
            }
            _ => self.offset_frame_pose(id, progress),
        };
        self.frames_entered -= 1;
        match (placed, self.frame_of.get(&id)) {
            (Some((body, X_BF, offset_from)), Some(frame)) => {
                let frame = &mut self.model.frames[frame.0];
                frame.body = body;
                frame.X_BF = X_BF;
                frame.offset_from = offset_from;
            }
            // What stands on a frame without a place is not reported a second time.
            _ => {
                self.frame_of.remove(&id);
            }
        }
        progress[id] = Progress::Done;
    }

    fn offset_frame_pose(
        &mut self,
        id: usize,
        progress: &mut [Progress],
    ) -> Option<(BodyId, Transform<f64>, Option<FrameId>)> {
        let c = &self.cx.components[id];
        let p = PropertyReader::new(self.cx, c.element, &c.path);
        let translation = p.vec3("translation", Vec3::zero());
        let orientation = p.vec3("orientation", Vec3::zero());
        let parent = self.socket(&p, &["socket_parent", "socket_parent_frame"], "frame", Kind::is_frame);
        p.skip(&["WrapObjectSet"]);
        p.finish();
        let parent = parent?;
        self.place_frame(parent, progress);
        let on = *self.frame_of.get(&parent)?;
        let base = &self.model.frames[on.0];
        Some((base.body, base.X_BF * Transform::from_offset(translation, orientation), Some(on)))
    }

    /// A frame from four stations of one body: with ab and ac the unit vectors from point a to b and c,
    /// its axes are ab, ab × ac and ab × (ab × ac), sent to the axes that `ab_axis` and
    /// `ab_x_ac_axis` name. Source: OpenSim 4.5, `StationDefinedFrame`.
    fn station_frame_pose(
        &mut self,
        id: usize,
        progress: &mut [Progress],
    ) -> Option<(BodyId, Transform<f64>)> {
        let c = &self.cx.components[id];
        let p = PropertyReader::new(self.cx, c.element, &c.path);
        const SOCKETS: [&str; 4] =
            ["socket_point_a", "socket_point_b", "socket_point_c", "socket_origin_point"];
        let stations = SOCKETS.map(|s| self.socket(&p, &[s], "station", Kind::is_station));
        let axes = self.frame_axes(&p);
        p.skip(&["WrapObjectSet"]);
        p.finish();

        let mut points = [Vec3::zero(); 4];
        let mut bodies = [BodyId::GROUND; 4];
        for (k, station) in stations.into_iter().enumerate() {
            let (frame, location) = self.station(station?, progress)?;
            let frame = &self.model.frames[frame.0];
            bodies[k] = frame.body;
            points[k] = frame.X_BF * location;
        }
        let fail = |message: &str| {
            self.cx.diags.borrow_mut().error(c.element.line, &c.path, message, "");
            None
        };
        if bodies.iter().any(|b| *b != bodies[0]) {
            return fail("the stations of the frame lie on different bodies");
        }
        let [a, b, c_, origin] = points;
        if a == b || a == c_ || b == c_ {
            return fail("two of the points that define the frame coincide");
        }
        let ab = (b - a).normalized();
        let ac = (c_ - a).normalized();
        let normal = ab.cross(ac);
        // Points on one line to rounding leave the normal undefined.
        if normal.norm() < f64::EPSILON {
            return fail("the points that define the frame are collinear");
        }
        let normal = normal.normalized();
        let third = ab.cross(normal).normalized();
        let mut columns = [Vec3::zero(); 3];
        for ((axis, sign), v) in axes.into_iter().zip([ab, normal, third]) {
            columns[axis] = v * sign;
        }
        let R = Rotation(Mat33::from_cols(columns[0], columns[1], columns[2]));
        Some((bodies[0], Transform::new(R, origin)))
    }

    /// Which axis of the frame, with which sign, gets ab, ab × ac and ab × (ab × ac). Words that say
    /// nothing fall back as OpenSim's do, with a warning.
    fn frame_axes(&self, p: &PropertyReader) -> [(usize, f64); 3] {
        let read = |tag: &'static str, default: &str, fallback: usize| {
            let word = p.string(tag, default);
            parse_direction(&word).unwrap_or_else(|| {
                p.warn(p.line_of(tag), format!("`{tag}`: `{word}` is not an axis such as `+x`"), "");
                (fallback, 1.0)
            })
        };
        let (i, si) = read("ab_axis", "+x", 0);
        let (mut j, mut sj) = read("ab_x_ac_axis", "+y", (i + 1) % 3);
        if i == j {
            p.warn(p.line_of("ab_x_ac_axis"), "`ab_axis` and `ab_x_ac_axis` are the same axis", "");
            (j, sj) = ((i + 1) % 3, 1.0);
        }
        // The sign of e_i × e_j along the remaining axis.
        let cyclic = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
        [(i, si), (j, sj), (3 - i - j, cyclic * si * sj)]
    }

    /// Frame and place of a `Station` or `Marker`; the frame is placed if it was not yet.
    fn station(&mut self, id: usize, progress: &mut [Progress]) -> Option<(FrameId, Vec3<f64>)> {
        let c = &self.cx.components[id];
        let p = PropertyReader::new(self.cx, c.element, &c.path);
        let location = p.vec3("location", Vec3::zero());
        let frame = self.socket(&p, &["socket_parent_frame"], "frame", Kind::is_frame)?;
        self.place_frame(frame, progress);
        Some((*self.frame_of.get(&frame)?, location))
    }

    /// Makes the markers: `Marker`s first and then `Station`s, each in order of traversal.
    pub(super) fn markers(&mut self) {
        let cx = self.cx;
        for kind in [Kind::Marker, Kind::Station] {
            for c in cx.components.iter().filter(|c| c.kind == kind) {
                let p = PropertyReader::new(cx, c.element, &c.path);
                let location = p.vec3("location", vec3(0.0, 0.0, 0.0));
                let fixed = kind == Kind::Marker && p.boolean("fixed", false);
                let frame = self.frame_socket(&p, &["socket_parent_frame"]);
                p.finish();
                let Some(frame) = frame else { continue };
                let (name, path) = (c.name.clone(), c.path.clone());
                let made = Marker { name, path, frame, location, fixed };
                match kind {
                    Kind::Marker => self.model.markers.push(made),
                    _ => self.model.stations.push(made),
                }
            }
        }
    }
}

impl Builder<'_> {
    /// Makes the inertial sensors in order of traversal.
    pub(super) fn imus(&mut self) {
        let cx = self.cx;
        for c in cx.components.iter().filter(|c| c.kind == Kind::Imu) {
            let p = PropertyReader::new(cx, c.element, &c.path);
            let frame = self.frame_socket(&p, &["socket_frame"]);
            p.finish();
            let Some(frame) = frame else { continue };
            self.model.imus.push(Imu { name: c.name.clone(), path: c.path.clone(), frame });
        }
    }
}

/// `+x`, `-y`, `z`: the axis and its sign. Letters after the first are not looked at.
fn parse_direction(word: &str) -> Option<(usize, f64)> {
    let (sign, rest) = match word.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, word.strip_prefix('+').unwrap_or(word)),
    };
    let axis = match rest.chars().next()? {
        'x' | 'X' => 0,
        'y' | 'Y' => 1,
        'z' | 'Z' => 2,
        _ => return None,
    };
    Some((axis, sign))
}

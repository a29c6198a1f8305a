//! One frame of an animation as a picture.

use crate::scene::{Frame, Scene, Shape, Solid};
use crate::text::{escape, short};
use soleus_math::{Transform, Vec3, vec3};
use std::fmt::Write as _;

/// Where the reader looks from, without perspective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Turn about the vertical, degrees. 0 looks against z: at the right side of a model that faces x.
    pub yaw_deg: f64,
    /// Turn upwards, degrees; 90 looks down.
    pub pitch_deg: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Camera { yaw_deg: 20.0, pitch_deg: 8.0 }
    }
}

/// Longest side of the drawing and the margin around it, in pixels.
const SIZE: f64 = 640.0;
const MARGIN: f64 = 24.0;
/// Muscles lie on bodies: so much towards the reader, m, they are not cut by them.
const MUSCLES_IN_FRONT: f64 = 0.03;
/// Colors of lines from joint to joint, of paths without activation, of markers, forces and the floor.
const BONE: &str = "#777777";
const PATH: &str = "#b5302a";
const MARKER: &str = "#cc79a7";
const FORCE: &str = "#009e73";
const FLOOR: &str = "#d9d9d9";

/// A frame as an SVG file of its own.
pub fn to_svg(scene: &Scene, frame: &Frame, camera: &Camera, title: &str) -> String {
    let title =
        format!("<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", escape(title));
    draw(scene, frame, camera, " xmlns=\"http://www.w3.org/2000/svg\"", &title)
}

/// A frame as a part of a page.
pub(crate) fn inline_svg(scene: &Scene, frame: &Frame, camera: &Camera) -> String {
    draw(scene, frame, camera, "", "")
}

/// Right, up and towards the reader, in ground.
struct View {
    right: Vec3<f64>,
    up: Vec3<f64>,
    back: Vec3<f64>,
}

impl View {
    fn new(c: &Camera) -> View {
        let ((sy, cy), (sp, cp)) = (c.yaw_deg.to_radians().sin_cos(), c.pitch_deg.to_radians().sin_cos());
        View { right: vec3(cy, 0.0, -sy), up: vec3(-sy * sp, cp, -cy * sp), back: vec3(sy * cp, sp, cy * cp) }
    }

    fn see(&self, p: Vec3<f64>) -> Vec3<f64> {
        vec3(self.right.dot(p), self.up.dot(p), self.back.dot(p))
    }
}

/// A piece of the drawing: how near it is, its text once the scale is known, and where it reaches to.
struct Piece {
    depth: f64,
    points: Vec<Vec3<f64>>,
    ink: Ink,
}

enum Ink {
    Fill(String),
    Stroke {
        color: String,
        width: f64,
    },
    /// Semi-axes, m, the angle of the first, rad, and the fill.
    Ellipse {
        radii: [f64; 2],
        angle: f64,
        fill: String,
    },
    Dot {
        color: &'static str,
    },
    Arrow,
}

/// Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
fn draw(scene: &Scene, frame: &Frame, camera: &Camera, name_space: &str, head: &str) -> String {
    let view = View::new(camera);
    let mut pieces = Vec::new();
    for s in &scene.shapes {
        if let Some(X) = frame.poses.get(s.body) {
            shape(s, X, &view, &mut pieces);
        }
    }
    for b in &scene.bones {
        if let Some(X) = frame.poses.get(b.body) {
            let points = vec![view.see(*X * b.from), view.see(*X * b.to)];
            pieces.push(Piece::new(points, 0.0, Ink::Stroke { color: BONE.to_string(), width: 2.0 }));
        }
    }
    for (path, &activity) in frame.paths.iter().zip(&frame.activity) {
        for pair in path.windows(2) {
            let points = pair.iter().map(|&p| view.see(p)).collect();
            pieces.push(Piece::new(points, MUSCLES_IN_FRONT, muscle(activity)));
        }
    }
    for m in &scene.markers {
        if let Some(X) = frame.poses.get(m.body) {
            pieces.push(Piece::new(vec![view.see(*X * m.station)], 0.05, Ink::Dot { color: MARKER }));
        }
    }
    for (p, force) in frame.arrows.iter().filter(|a| a.1.norm() > 0.0) {
        let points = vec![view.see(*p), view.see(*p + *force * scene.meters_per_newton)];
        pieces.push(Piece::new(points, 1e6, Ink::Arrow));
    }
    pieces.retain(|p| p.depth.is_finite() && p.points.iter().all(|q| q.norm().is_finite()));
    pieces.sort_by(|a, b| a.depth.total_cmp(&b.depth));

    // The picture holds everything.
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for p in &pieces {
        let r = if let Ink::Ellipse { radii, .. } = &p.ink { radii[0] } else { 0.0 };
        for q in &p.points {
            (low, high) =
                ([low[0].min(q.x - r), low[1].min(q.y - r)], [high[0].max(q.x + r), high[1].max(q.y + r)]);
        }
    }
    if low[0] > high[0] {
        (low, high) = ([-0.5; 2], [0.5; 2]);
    }
    let size = (high[0] - low[0]).max(high[1] - low[1]).max(1e-3);
    let scale = SIZE / size;
    let (w, h) = (2.0 * MARGIN + scale * (high[0] - low[0]), 2.0 * MARGIN + scale * (high[1] - low[1]));
    let at = |q: Vec3<f64>| (MARGIN + scale * (q.x - low[0]), MARGIN + scale * (high[1] - q.y));

    let mut s = String::new();
    let (w, h) = (short(w, 0), short(h, 0));
    let _ = write!(
        s,
        "<svg{name_space} class=\"figure\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         stroke-linecap=\"round\" stroke-linejoin=\"round\">\n{head}"
    );
    floor(&mut s, scene, frame, &view, &at);
    pieces.iter().for_each(|p| p.write(&mut s, &at, scale));
    s.push_str("</svg>\n");
    s
}

impl Piece {
    /// `nearer`: drawn as if so much towards the reader, m.
    fn new(points: Vec<Vec3<f64>>, nearer: f64, ink: Ink) -> Piece {
        let depth = nearer + points.iter().map(|q| q.z).sum::<f64>() / points.len().max(1) as f64;
        Piece { depth, points, ink }
    }

    fn write(&self, s: &mut String, at: &dyn Fn(Vec3<f64>) -> (f64, f64), scale: f64) {
        let d = path_data(&self.points, at);
        let (x, y) = self.points.first().map_or((0.0, 0.0), |&q| at(q));
        let _ = match &self.ink {
            Ink::Fill(fill) => writeln!(s, "<path d=\"{d}z\" {fill}/>"),
            Ink::Stroke { color, width } => {
                writeln!(
                    s,
                    "<path d=\"{d}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{}\"/>",
                    short(*width, 1)
                )
            }
            Ink::Ellipse { radii, angle, fill } => writeln!(
                s,
                "<ellipse rx=\"{}\" ry=\"{}\" transform=\"translate({} {}) rotate({})\" {fill}/>",
                short(radii[0] * scale, 1),
                short(radii[1] * scale, 1),
                short(x, 1),
                short(y, 1),
                short(-angle.to_degrees(), 1)
            ),
            Ink::Dot { color } => {
                writeln!(
                    s,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{color}\"/>",
                    short(x, 1),
                    short(y, 1)
                )
            }
            Ink::Arrow => {
                let (tx, ty) = self.points.last().map_or((x, y), |&q| at(q));
                let angle = (ty - y).atan2(tx - x);
                let side = |turn: f64| {
                    let (s, c) = (angle + turn).sin_cos();
                    format!("{} {}", short(tx - 10.0 * c, 1), short(ty - 10.0 * s, 1))
                };
                let tip = format!("{} {}", short(tx, 1), short(ty, 1));
                writeln!(
                    s,
                    "<path d=\"{d}M{}L{tip}L{}\" fill=\"none\" stroke=\"{FORCE}\" stroke-width=\"3\"/>",
                    side(0.45),
                    side(-0.45)
                )
            }
        };
    }
}

fn path_data(points: &[Vec3<f64>], at: &dyn Fn(Vec3<f64>) -> (f64, f64)) -> String {
    let mut d = String::new();
    for (i, &q) in points.iter().enumerate() {
        let (x, y) = at(q);
        let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, short(x, 1), short(y, 1));
    }
    d
}

/// A muscle from blue at rest to red.
fn muscle(activity: f64) -> Ink {
    if !activity.is_finite() {
        return Ink::Stroke { color: PATH.to_string(), width: 2.5 };
    }
    let a = activity.clamp(0.0, 1.0);
    let mix = |from: f64, to: f64| (from + (to - from) * a) as u8;
    let color = format!("#{:02x}{:02x}{:02x}", mix(50.0, 225.0), mix(90.0, 30.0), mix(190.0, 35.0));
    Ink::Stroke { color, width: 2.0 + 2.5 * a }
}

/// A shape: an ellipse, or the faces that look at the reader.
fn shape(s: &Shape, X_GB: &Transform<f64>, view: &View, pieces: &mut Vec<Piece>) {
    let fill = |light: f64| {
        let [r, g, b] = s.color.map(|c| (f64::from(c) * light).clamp(0.0, 255.0) as u8);
        let edge = if s.opacity > 0.5 {
            format!(" stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"0.4\"")
        } else {
            String::new()
        };
        format!("fill=\"#{r:02x}{g:02x}{b:02x}\" fill-opacity=\"{}\"{edge}", short(s.opacity, 2))
    };
    match &s.solid {
        Solid::Ellipsoid { pose, radii } => {
            let X = *X_GB * *pose;
            // The outline is an ellipse; S is the sum of the squares of the projected half axes.
            let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
            for (i, r) in radii.to_array().into_iter().enumerate() {
                let a = view.see(X.R.axis(i) * r);
                (xx, xy, yy) = (xx + a.x * a.x, xy + a.x * a.y, yy + a.y * a.y);
            }
            let (mean, half) = (0.5 * (xx + yy), (0.5 * (xx - yy)).hypot(xy));
            let ellipse = Ink::Ellipse {
                radii: [(mean + half).sqrt(), (mean - half).max(0.0).sqrt()],
                angle: 0.5 * xy.atan2(0.5 * (xx - yy)),
                fill: fill(0.95),
            };
            pieces.push(Piece::new(vec![view.see(X.p)], 0.0, ellipse));
        }
        Solid::Mesh { vertices, faces } => {
            let seen: Vec<Vec3<f64>> = vertices.iter().map(|&v| view.see(*X_GB * v)).collect();
            for f in faces {
                let Some([a, b, c]) = corners(&seen, f) else { continue };
                let n = (b - a).cross(c - a);
                if n.z > 0.0 {
                    // Light from above the reader's left shoulder.
                    let light = 0.72 + 0.38 * n.normalized().dot(vec3(-0.3, 0.5, 0.8));
                    pieces.push(Piece::new(vec![a, b, c], 0.0, Ink::Fill(fill(light))));
                }
            }
        }
    }
}

fn corners(points: &[Vec3<f64>], face: &[u32; 3]) -> Option<[Vec3<f64>; 3]> {
    let at = |i: u32| points.get(i as usize).copied();
    Some([at(face[0])?, at(face[1])?, at(face[2])?])
}

/// A grid on the floor under the figure.
fn floor(s: &mut String, scene: &Scene, frame: &Frame, view: &View, at: &dyn Fn(Vec3<f64>) -> (f64, f64)) {
    let Some(y) = scene.floor else { return };
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for X in frame.poses.iter().skip(1).filter(|X| X.p.norm().is_finite()) {
        (low, high) = ([low[0].min(X.p.x), low[1].min(X.p.z)], [high[0].max(X.p.x), high[1].max(X.p.z)]);
    }
    if low[0] > high[0] || (high[0] - low[0]).max(high[1] - low[1]) > 20.0 {
        return;
    }
    let step = 0.25;
    let first = low.map(|v| (v / step).floor() as i64 - 1);
    let last = high.map(|v| (v / step).ceil() as i64 + 1);
    let line = |a: [i64; 2], b: [i64; 2]| {
        let point = |[x, z]: [i64; 2]| view.see(vec3(x as f64 * step, y, z as f64 * step));
        path_data(&[point(a), point(b)], at)
    };
    let mut d = String::new();
    for x in first[0]..=last[0] {
        d.push_str(&line([x, first[1]], [x, last[1]]));
    }
    for z in first[1]..=last[1] {
        d.push_str(&line([first[0], z], [last[0], z]));
    }
    let _ = writeln!(s, "<path d=\"{d}\" fill=\"none\" stroke=\"{FLOOR}\" stroke-width=\"1\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Layer;

    /// A sphere is a circle from every side; a long ellipsoid seen from its end too, from its side it is not.
    #[test]
    fn analytic_outlines_of_ellipsoids() {
        let outline = |radii, camera: Camera| {
            let solid = Solid::Ellipsoid { pose: Transform::identity(), radii };
            let s = Shape { body: 0, layer: Layer::Body, color: [200; 3], opacity: 1.0, solid };
            let mut pieces = Vec::new();
            shape(&s, &Transform::identity(), &View::new(&camera), &mut pieces);
            match pieces[0].ink {
                Ink::Ellipse { radii, angle, .. } => (radii, angle),
                _ => unreachable!(),
            }
        };
        let side = Camera { yaw_deg: 0.0, pitch_deg: 0.0 };
        let oblique = Camera { yaw_deg: 33.0, pitch_deg: -21.0 };
        let (r, _) = outline(vec3(0.1, 0.1, 0.1), oblique);
        assert!((r[0] - 0.1).abs() < 1e-12 && (r[1] - 0.1).abs() < 1e-8, "{r:?}");
        let (r, angle) = outline(vec3(0.1, 0.3, 0.2), side);
        assert!((r[0] - 0.3).abs() < 1e-12 && (r[1] - 0.1).abs() < 1e-12);
        assert!((angle.abs() - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
        let (r, _) = outline(vec3(0.3, 0.1, 0.1), Camera { yaw_deg: 90.0, pitch_deg: 0.0 });
        assert!((r[0] - 0.1).abs() < 1e-9 && (r[1] - 0.1).abs() < 1e-9, "{r:?}");
    }

    /// Right, up and back are a right-handed frame; straight ahead they are x, y and z.
    #[test]
    fn analytic_camera() {
        let v = View::new(&Camera { yaw_deg: 0.0, pitch_deg: 0.0 });
        assert_eq!([v.right, v.up, v.back], [Vec3::unit(0), Vec3::unit(1), Vec3::unit(2)]);
        let v = View::new(&Camera { yaw_deg: 70.0, pitch_deg: 40.0 });
        assert!((v.right.cross(v.up) - v.back).norm() < 1e-15);
        assert!((v.back.cross(v.right) - v.up).norm() < 1e-15);
    }
}

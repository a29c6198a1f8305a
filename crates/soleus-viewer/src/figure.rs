//! Images of single frames of an animation.

use crate::drawing::{Color, Drawing, Mark, Path, Stroke, hex};
use crate::scene::{Frame, Scene, Shape, Solid};
use crate::text::escape;
use soleus_math::{Transform, Vec3, vec3};
use std::f64::consts::TAU;

/// View direction, without perspective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Rotation about the vertical, degrees. 0 looks along −z: at the right side of a model that faces x.
    pub yaw_deg: f64,
    /// Elevation, degrees; 90 looks down.
    pub pitch_deg: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Camera { yaw_deg: 20.0, pitch_deg: 8.0 }
    }
}

/// `YAW,PITCH`, as it is read.
impl std::fmt::Display for Camera {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.yaw_deg, self.pitch_deg)
    }
}

impl std::str::FromStr for Camera {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let angle = |t: &str| t.trim().parse::<f64>().ok().filter(|a| a.is_finite());
        match text.split_once(',').map(|(yaw, pitch)| (angle(yaw), angle(pitch))) {
            Some((Some(yaw_deg), Some(pitch_deg))) => Ok(Camera { yaw_deg, pitch_deg }),
            _ => Err("give two angles in degrees, such as 20,8".to_string()),
        }
    }
}

/// Longest side of the drawing and the margin around it, in pixels.
const SIZE: f64 = 640.0;
const MARGIN: f64 = 24.0;
/// Muscles lie on bodies: so much towards the reader, m, they are not cut by them.
const MUSCLES_IN_FRONT: f64 = 0.03;
/// Faces nearer to each other than this, m, may be drawn in any order.
const SAME_DEPTH: f64 = 0.01;
/// Faces have so many shades.
const SHADES: f64 = 10.0;
/// Points on the rim of an ellipse.
const RIM: u32 = 48;
/// The floor is drawn in tiles of this size, m, unless it is wider than that.
const TILE: f64 = 0.25;
const WIDEST_FLOOR: f64 = 20.0;
/// A figure that is farther from the origin, m, stands on no floor: tiles are counted, and beyond 2⁶³ there is no count.
const FARTHEST_FLOOR: f64 = 1e9;
/// Colors of lines from joint to joint, of paths without activation, of markers, forces and the floor.
const BONE: Color = hex("#777777");
const PATH: Color = hex("#b5302a");
const MARKER: Color = hex("#cc79a7");
const FORCE: Color = hex("#009e73");
const FLOOR: Color = hex("#d9d9d9");

/// A frame as a standalone SVG file.
pub fn to_svg(scene: &Scene, frame: &Frame, camera: &Camera, title: &str) -> String {
    draw(scene, frame, camera, title).to_svg()
}

/// Frames side by side as an SVG file, on a common floor.
pub fn to_strip_svg(scene: &Scene, frames: &[&Frame], camera: &Camera, title: &str) -> String {
    let drawings: Vec<Drawing> = frames.iter().map(|f| draw(scene, f, camera, "")).collect();
    let height = drawings.iter().fold(0.0, |m: f64, d| m.max(d.size[1]));
    let mut parts = String::new();
    let mut x = 0.0;
    for mut d in drawings {
        let [w, h] = d.size;
        d.attributes.push(("x", format!("{x:.1}")));
        d.attributes.push(("y", format!("{:.1}", height - h)));
        parts.push_str(&d.inline_svg());
        x += w;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {x:.1} {height:.1}\" width=\"{x:.1}\" height=\"{height:.1}\" \
         role=\"img\" aria-label=\"{}\">\n{parts}</svg>\n",
        escape(title)
    )
}

/// A frame as a PNG file, with twice as many pixels in width and height as the SVG.
pub fn to_png(scene: &Scene, frame: &Frame, camera: &Camera, title: &str) -> Vec<u8> {
    draw(scene, frame, camera, title).to_png()
}

/// A frame as a part of a page.
pub(crate) fn inline_svg(scene: &Scene, frame: &Frame, camera: &Camera) -> String {
    draw(scene, frame, camera, "").inline_svg()
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

/// A piece of the drawing, in the reader's axes, m: how near it is, where it is, and how it is drawn.
struct Piece {
    depth: f64,
    points: Vec<Vec3<f64>>,
    ink: Ink,
}

enum Ink {
    Fill { color: Color, opacity: f64 },
    Stroke { color: Color, width: f64 },
    Dot { color: Color },
    Arrow,
}

fn draw(scene: &Scene, frame: &Frame, camera: &Camera, title: &str) -> Drawing {
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
            pieces.push(Piece::new(points, 0.0, Ink::Stroke { color: BONE, width: 2.0 }));
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
    for q in pieces.iter().flat_map(|p| &p.points) {
        (low, high) = ([low[0].min(q.x), low[1].min(q.y)], [high[0].max(q.x), high[1].max(q.y)]);
    }
    if low[0] > high[0] {
        (low, high) = ([-0.5; 2], [0.5; 2]);
    }
    let size = (high[0] - low[0]).max(high[1] - low[1]).max(1e-3);
    let scale = SIZE / size;
    let at = |q: Vec3<f64>| [MARGIN + scale * (q.x - low[0]), MARGIN + scale * (high[1] - q.y)];
    let mut marks: Vec<Mark> = floor(scene, frame, &view, &at).into_iter().collect();
    marks.extend(merged(&pieces, &at));
    Drawing {
        size: [0, 1].map(|i| (2.0 * MARGIN + scale * (high[i] - low[i])).round()),
        class: "figure".to_string(),
        label: title.to_string(),
        attributes: Vec::new(),
        marks,
    }
}

/// Marks of pieces, far ones first. Opaque faces of one color that are about as far away become one mark: bones have many small faces.
fn merged(pieces: &[Piece], at: &dyn Fn(Vec3<f64>) -> [f64; 2]) -> Vec<Mark> {
    let mut order: Vec<(i64, Option<Color>, usize)> = Vec::new();
    for (i, p) in pieces.iter().enumerate() {
        let color = match p.ink {
            Ink::Fill { color, opacity } if opacity >= 1.0 => Some(color),
            _ => None,
        };
        order.push(((p.depth.clamp(-1e6, 1e6) / SAME_DEPTH).floor() as i64, color, i));
    }
    order.sort();
    let mut marks: Vec<Mark> = Vec::new();
    let mut last = None;
    for (depth, color, i) in order {
        let mark = pieces[i].mark(at);
        match (marks.last_mut(), mark) {
            (Some(Mark::Path(path)), Mark::Path(more)) if color.is_some() && last == Some((depth, color)) => {
                path.pieces.extend(more.pieces);
            }
            (_, mark) => marks.push(mark),
        }
        last = Some((depth, color));
    }
    marks
}

impl Piece {
    /// `nearer`: drawn as if so much towards the reader, m.
    fn new(points: Vec<Vec3<f64>>, nearer: f64, ink: Ink) -> Piece {
        let depth = nearer + points.iter().map(|q| q.z).sum::<f64>() / points.len().max(1) as f64;
        Piece { depth, points, ink }
    }

    fn mark(&self, at: &dyn Fn(Vec3<f64>) -> [f64; 2]) -> Mark {
        let points: Vec<[f64; 2]> = self.points.iter().map(|&q| at(q)).collect();
        let (closed, stroke, fill, mut pieces) = match self.ink {
            // A thin edge of the same color closes the gap to the next face.
            Ink::Fill { color, opacity } => {
                let edge = (opacity > 0.5).then(|| Stroke::solid(color, 0.4));
                (true, edge, Some((color, opacity)), vec![points])
            }
            Ink::Stroke { color, width } => (false, Some(Stroke::solid(color, width)), None, vec![points]),
            Ink::Dot { color } => (false, Some(Stroke::solid(color, 6.0)), None, vec![points]),
            Ink::Arrow => (false, Some(Stroke::solid(FORCE, 3.0)), None, vec![points]),
        };
        if let (Ink::Arrow, &[[x, y], tip]) = (&self.ink, &pieces[0][..]) {
            let angle = (tip[1] - y).atan2(tip[0] - x);
            let side = |turn: f64| {
                let (s, c) = (angle + turn).sin_cos();
                [tip[0] - 10.0 * c, tip[1] - 10.0 * s]
            };
            pieces.push(vec![side(0.45), tip, side(-0.45)]);
        }
        Mark::Path(Path { pieces, closed, stroke, fill, ..Path::default() })
    }
}

/// A muscle from blue at rest to red.
fn muscle(activity: f64) -> Ink {
    if !activity.is_finite() {
        return Ink::Stroke { color: PATH, width: 2.5 };
    }
    let a = activity.clamp(0.0, 1.0);
    let mix = |from: f64, to: f64| (from + (to - from) * a) as u8;
    let color = [mix(50.0, 225.0), mix(90.0, 30.0), mix(190.0, 35.0)];
    Ink::Stroke { color, width: 2.0 + 2.5 * a }
}

/// A shape: an ellipse, or the faces that look at the reader.
fn shape(s: &Shape, X_GB: &Transform<f64>, view: &View, pieces: &mut Vec<Piece>) {
    let fill = |light: f64| {
        let color = s.color.map(|c| (f64::from(c) * light).clamp(0.0, 255.0) as u8);
        Ink::Fill { color, opacity: s.opacity }
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
            let radii = [(mean + half).sqrt(), (mean - half).max(0.0).sqrt()];
            let (s, c) = (0.5 * xy.atan2(0.5 * (xx - yy))).sin_cos();
            let middle = view.see(X.p);
            let rim = |k: u32| {
                let (y, x) = (TAU * f64::from(k) / f64::from(RIM)).sin_cos();
                let (x, y) = (radii[0] * x, radii[1] * y);
                middle + vec3(c * x - s * y, s * x + c * y, 0.0)
            };
            pieces.push(Piece::new((0..RIM).map(rim).collect(), 0.0, fill(0.95)));
        }
        Solid::Mesh { vertices, faces } => {
            let seen: Vec<Vec3<f64>> = vertices.iter().map(|&v| view.see(*X_GB * v)).collect();
            for f in faces {
                let Some([a, b, c]) = corners(&seen, f) else { continue };
                let n = (b - a).cross(c - a);
                if n.z > 0.0 {
                    // Light from above the reader's left shoulder.
                    let shade = n.normalized().dot(vec3(-0.3, 0.5, 0.8)) * SHADES;
                    let light = 0.72 + 0.38 * shade.round() / SHADES;
                    pieces.push(Piece::new(vec![a, b, c], 0.0, fill(light)));
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
fn floor(scene: &Scene, frame: &Frame, view: &View, at: &dyn Fn(Vec3<f64>) -> [f64; 2]) -> Option<Mark> {
    let y = scene.floor?;
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for X in frame.poses.iter().skip(1).filter(|X| X.p.norm().is_finite()) {
        (low, high) = ([low[0].min(X.p.x), low[1].min(X.p.z)], [high[0].max(X.p.x), high[1].max(X.p.z)]);
    }
    let is_far = low.iter().chain(&high).any(|v| v.abs() > FARTHEST_FLOOR);
    if is_far || low[0] > high[0] || (high[0] - low[0]).max(high[1] - low[1]) > WIDEST_FLOOR {
        return None;
    }
    let first = low.map(|v| (v / TILE).floor() as i64 - 1);
    let last = high.map(|v| (v / TILE).ceil() as i64 + 1);
    let point = |x: i64, z: i64| at(view.see(vec3(x as f64 * TILE, y, z as f64 * TILE)));
    let across = (first[0]..=last[0]).map(|x| vec![point(x, first[1]), point(x, last[1])]);
    let along = (first[1]..=last[1]).map(|z| vec![point(first[0], z), point(last[0], z)]);
    let stroke = Some(Stroke::solid(FLOOR, 1.0));
    Some(Mark::Path(Path { class: "grid", pieces: across.chain(along).collect(), stroke, ..Path::default() }))
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
            let s = Shape {
                body: 0,
                layer: Layer::Body,
                color: [200; 3],
                opacity: 1.0,
                solid,
                component: String::new(),
            };
            let mut pieces = Vec::new();
            shape(&s, &Transform::identity(), &View::new(&camera), &mut pieces);
            // Nearest and farthest point of the rim, and the direction of the farthest.
            let by = |p: &&Vec3<f64>, q: &&Vec3<f64>| p.norm().total_cmp(&q.norm());
            let (near, far) = (pieces[0].points.iter().min_by(by), pieces[0].points.iter().max_by(by));
            let (near, far) = (near.unwrap(), far.unwrap());
            ([far.norm(), near.norm()], far.y.atan2(far.x))
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

    /// Found by scripts/fuzz: tiles under a pelvis 8e18 m away overflowed their count.
    #[test]
    fn issue_16_a_figure_far_away_has_no_floor() {
        let scene = Scene { floor: Some(0.0), ..Scene::default() };
        let view = View::new(&Camera { yaw_deg: 0.0, pitch_deg: 0.0 });
        let has_floor = |x: f64| {
            let pose = Transform { p: vec3(x, 1.0, 0.0), ..Transform::identity() };
            let frame = Frame { poses: vec![Transform::identity(), pose], ..Frame::default() };
            floor(&scene, &frame, &view, &|p| [p.x, p.y]).is_some()
        };
        assert!(has_floor(0.0) && has_floor(-1e6));
        assert!(!has_floor(8.446_744_073_709_552e18) && !has_floor(-1e300) && !has_floor(f64::NAN));
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

//! An animation as compact JSON: 16-bit numbers in base64, a few bytes per body and frame.

use super::{Animation, Layer, Solid};
use crate::text::{json_string, short};
use soleus_math::{Rotation, Vec3};
use std::fmt::Write as _;

/// Steps between the least and the greatest coordinate.
const STEPS: f64 = 65535.0;
/// Components of a quaternion are taken times this.
const UNIT: f64 = 32767.0;
/// The activity of what has none.
const NO_ACTIVITY: u16 = 65535;
/// Activities are taken times this.
const ACTIVITY: f64 = 1000.0;

/// The cuboid that holds everything that moves, and its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cuboid {
    /// Least coordinates, m.
    pub low: [f64; 3],
    /// Length of a step along each axis, m.
    pub step: [f64; 3],
}

impl Cuboid {
    fn around(points: impl Iterator<Item = Vec3<f64>>) -> Cuboid {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for p in points {
            for (i, x) in p.to_array().into_iter().enumerate().filter(|(_, x)| x.is_finite()) {
                low[i] = low[i].min(x);
                high[i] = high[i].max(x);
            }
        }
        for i in 0..3 {
            if low[i] > high[i] {
                (low[i], high[i]) = (0.0, 0.0);
            }
        }
        // Twelve decimals are written, so that is what counts.
        let written = |v: f64| short(v, 12).parse().unwrap_or(0.0);
        let low = low.map(written);
        let step = std::array::from_fn(|i| written((high[i] - low[i]) / STEPS + 1e-12));
        Cuboid { low, step }
    }

    fn steps(&self, p: Vec3<f64>) -> [u16; 3] {
        let p = p.to_array();
        // A cast holds what is beyond the ends at the ends, and takes NaN for zero.
        std::array::from_fn(|i| ((p[i] - self.low[i]) / self.step[i]).round() as u16)
    }
}

/// Numbers of sixteen bits, low byte first.
#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn push(&mut self, w: u16) {
        self.0.extend(w.to_le_bytes());
    }
    fn point(&mut self, cuboid: &Cuboid, p: Vec3<f64>) {
        cuboid.steps(p).into_iter().for_each(|w| self.push(w));
    }
    fn quaternion(&mut self, R: &Rotation<f64>) {
        for c in quaternion(R) {
            self.push(((c * UNIT).round() as i16) as u16);
        }
    }
    fn json(&self) -> String {
        format!("\"{}\"", base64(&self.0))
    }
}

impl Animation {
    /// Everything that moves.
    fn moving_points(&self) -> impl Iterator<Item = Vec3<f64>> {
        let scale = self.scene.meters_per_newton;
        self.frames.iter().flat_map(move |f| {
            let arrows = f.arrows.iter().flat_map(move |(p, force)| [*p, *p + *force * scale]);
            f.poses.iter().map(|X| X.p).chain(f.paths.iter().flatten().copied()).chain(arrows)
        })
    }

    /// The animation as JSON. Writing to a `String` cannot fail, so the results of `write!` are dropped.
    ///
    /// | key | what |
    /// |---|---|
    /// | `t` | times, s |
    /// | `low`, `step` | a coordinate is low + step · number |
    /// | `bodies`, `pose` | names; frame by frame and body by body x, y, z, and a quaternion w, x, y, z over 32767 |
    /// | `paths`, `path` | names; frame by frame and path by path the number of points, activity · 1000 (65535: none), the points |
    /// | `arrows`, `arrow` | names; frame by frame and arrow by arrow its two ends |
    /// | `shapes` | `b` body, `l` layer, `c` color, `o` opacity, and `e` an ellipsoid (center, quaternion, radii) or `v` vertices (with `low`, `step`) and `f` faces |
    /// | `bones`, `markers` | body and coordinates |
    pub(crate) fn to_json(&self) -> String {
        let scene = &self.scene;
        let cuboid = Cuboid::around(self.moving_points());
        let (mut poses, mut paths, mut arrows) = (Words::default(), Words::default(), Words::default());
        for f in &self.frames {
            for X in &f.poses {
                poses.point(&cuboid, X.p);
                poses.quaternion(&X.R);
            }
            for (points, &activity) in f.paths.iter().zip(&f.activity) {
                paths.push(points.len().min(usize::from(u16::MAX)) as u16);
                let known = activity.is_finite();
                paths.push(if known {
                    (activity.clamp(0.0, 1.0) * ACTIVITY).round() as u16
                } else {
                    NO_ACTIVITY
                });
                points.iter().take(usize::from(u16::MAX)).for_each(|&p| paths.point(&cuboid, p));
            }
            for &(p, force) in &f.arrows {
                arrows.point(&cuboid, p);
                arrows.point(&cuboid, p + force * scene.meters_per_newton);
            }
        }
        let list = |items: Vec<String>| format!("[{}]", items.join(","));
        let names = |names: &[String]| list(names.iter().map(|n| json_string(n)).collect());
        let numbers = |numbers: &[f64], decimals| list(numbers.iter().map(|&v| short(v, decimals)).collect());
        let times: Vec<f64> = self.frames.iter().map(|f| f.time).collect();
        let bones = scene.bones.iter().map(|b| {
            let (p, q) = (b.from.to_array(), b.to.to_array());
            numbers(&[b.body as f64, p[0], p[1], p[2], q[0], q[1], q[2]], 5)
        });
        let markers = scene.markers.iter().map(|m| {
            let p = m.station;
            let place = [m.body as f64, p.x, p.y, p.z].map(|v| short(v, 5)).join(",");
            format!("[{place},{}]", json_string(&m.name))
        });
        let mut s = String::new();
        let _ = write!(
            s,
            "{{\"t\":{},\"low\":{},\"step\":{},\n\"bodies\":{},\n\"pose\":{},\n\"paths\":{},\n\"path\":{},\n\
             \"arrows\":{},\"arrow\":{},\n\"bones\":{},\n\"markers\":{},\n\"floor\":{},\"shapes\":[\n{}]}}",
            numbers(&times, 5),
            numbers(&cuboid.low, 12),
            numbers(&cuboid.step, 12),
            names(&scene.bodies),
            poses.json(),
            names(&scene.paths),
            paths.json(),
            names(&scene.arrows),
            arrows.json(),
            list(bones.collect()),
            list(markers.collect()),
            scene.floor.map_or("null".to_string(), |y| short(y, 5)),
            scene.shapes.iter().map(shape).collect::<Vec<_>>().join(",\n")
        );
        s
    }
}

/// One shape as JSON.
fn shape(s: &super::Shape) -> String {
    let layer = match s.layer {
        Layer::Body => "body",
        Layer::Wrap => "wrap",
        Layer::Contact => "contact",
    };
    let [r, g, b] = s.color;
    let numbers = |v: &[f64], decimals| v.iter().map(|&v| short(v, decimals)).collect::<Vec<_>>().join(",");
    let solid = match &s.solid {
        Solid::Ellipsoid { pose, radii } => {
            let [w, x, y, z] = quaternion(&pose.R);
            let p = pose.p;
            format!("\"e\":[{}]", numbers(&[p.x, p.y, p.z, w, x, y, z, radii.x, radii.y, radii.z], 5))
        }
        Solid::Mesh { vertices, faces } => {
            let cuboid = Cuboid::around(vertices.iter().copied());
            let (mut v, mut f) = (Words::default(), Words::default());
            // Vertices beyond the reach of sixteen bits do not occur: meshes are simplified before.
            vertices.iter().take(usize::from(u16::MAX)).for_each(|&p| v.point(&cuboid, p));
            for face in faces.iter().filter(|f| f.iter().all(|&i| i < u32::from(u16::MAX))) {
                face.iter().for_each(|&i| f.push(i as u16));
            }
            let (low, step) = (numbers(&cuboid.low, 12), numbers(&cuboid.step, 12));
            format!("\"low\":[{low}],\"step\":[{step}],\"v\":{},\"f\":{}", v.json(), f.json())
        }
    };
    format!(
        "{{\"b\":{},\"l\":\"{layer}\",\"c\":[{r},{g},{b}],\"o\":{},{solid}}}",
        s.body,
        short(s.opacity, 2)
    )
}

/// Unit quaternion (w, x, y, z) of a rotation, w ≥ 0 where the largest component is not w.
///
/// Source: Shepperd (1978): the component that is largest is found first and never divided by a small one.
fn quaternion(R: &Rotation<f64>) -> [f64; 4] {
    let m = |i, j| R.0.at(i, j);
    let trace = m(0, 0) + m(1, 1) + m(2, 2);
    let four = [trace, 2.0 * m(0, 0) - trace, 2.0 * m(1, 1) - trace, 2.0 * m(2, 2) - trace];
    let largest = (0..4).fold(0, |best, i| if four[i] > four[best] { i } else { best });
    let mut q = match largest {
        0 => [1.0 + trace, m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)],
        1 => [m(2, 1) - m(1, 2), 1.0 + four[1], m(0, 1) + m(1, 0), m(0, 2) + m(2, 0)],
        2 => [m(0, 2) - m(2, 0), m(0, 1) + m(1, 0), 1.0 + four[2], m(1, 2) + m(2, 1)],
        _ => [m(1, 0) - m(0, 1), m(0, 2) + m(2, 0), m(1, 2) + m(2, 1), 1.0 + four[3]],
    };
    let norm = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.iter_mut().for_each(|c| *c /= norm);
    q
}

/// Base64 with padding (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize];
            out.push(if k > three.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::vec3;

    /// Test vectors of RFC 4648.
    #[test]
    fn analytic_base64() {
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.as_bytes()), code);
        }
    }

    /// A quaternion turns vectors as its rotation does, half turns included.
    #[test]
    fn identity_quaternion_turns_as_the_rotation() {
        let pi = std::f64::consts::PI;
        for angles in
            [[0.3, -0.4, 2.8], [pi, 0.0, 0.0], [0.0, pi, 0.0], [0.0, 0.0, pi], [0.0; 3], [3.0, 1.0, -3.0]]
        {
            let R = Rotation::body_fixed_xyz(Vec3::from_array(angles));
            let [w, x, y, z] = quaternion(&R);
            let v = vec3(0.3, -0.7, 0.5);
            let u = vec3(x, y, z);
            let turned = v + u.cross(v) * (2.0 * w) + u.cross(u.cross(v)) * 2.0;
            assert!((turned - R * v).norm() < 1e-14, "{angles:?}");
        }
    }
}

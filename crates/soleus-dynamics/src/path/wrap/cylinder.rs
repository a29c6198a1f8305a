//! Wrapping around a cylinder.

use super::{Attempt, Side, SurfaceCurve, sqrt_flat};
use soleus_math::{Real, Vec3, vec3};

/// Two lines count as parallel when sin² of their angle is below this (OpenSim 4.6).
const PARALLEL_SIN_SQ: f64 = 2e-13;
/// A tangent point is looked for within this distance along the axis, m (OpenSim 4.6).
const SLIDE_WINDOW_M: f64 = 10.0 * (1.0 + 2e-5);
/// A plane whose unit normal has |z| below this is taken as parallel to the axis (OpenSim 4.6).
const PLANE_ALONG_AXIS: f64 = 0.5e-6;
/// Step of the samples on the helix, m; only the first one is used (OpenSim 4.6).
const SAMPLE_STEP_M: f64 = 0.002;
/// Tangent of the angle by which the path may bend where it meets the surface: tan 0.1° (OpenSim 4.6).
const TANGENCY_TAN: f64 = 0.001_745_331_024_188_800_4;
/// How often tangency is improved at most (OpenSim 4.6).
const MAX_POLISH: usize = 100;

/// A cylinder about z.
///
/// The path leaves the cylinder along a generator line through the tangent point of the projection on the x-y plane;
/// the height on that line is where it meets the plane through both ends and an "apex" on the surface. The curve
/// between is a helix. The heights are close, but not equal, to those of the geodesic (up to 0.3 mm in length for R =
/// 0.1 m).
///
/// Source: the construction of OpenSim 4.6, `WrapCylinder`, written down in terms of
///
///   k = R²/d²,   r = k p ± √(k(1−k)) (z × p)      (1)  tangent points seen from p at distance d
///   c = m_z z,   m = p1 + d1/(d1+d2) (p2−p1)      (2)  axis point opposite the crossing
///   A = c ± R unit(z × n),  n = (p1−c) × (p2−c)   (3)  apex
///   N·(r − p) = 0,  N = (p1−A) × (p2−A)           (4)  height of r
///   L = √(R²θ² + (r2_z − r1_z)²)                  (5)  length of the helix
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    radius: f64,
    radius_sq: f64,
    half_length: f64,
    side: Option<Side>,
}

/// Which of the two tangent points (1) is meant at each end, and how the curve goes between them.
struct Choice {
    /// Sign of the root in (1) at p1.
    s1: f64,
    /// Sign of the root in (1) at p2.
    s2: f64,
    /// The apex is the one far from the segment.
    far: bool,
    /// More than half a turn.
    long: bool,
    /// The segment runs through the cylinder.
    mandatory: bool,
}

impl Cylinder {
    /// A cylinder of given radius and total length, m.
    pub fn new(radius: f64, length: f64, side: Option<Side>) -> Cylinder {
        Cylinder { radius, radius_sq: radius * radius, half_length: 0.5 * length, side }
    }

    /// Wraps the segment from `p1` to `p2` around the cylinder.
    pub fn wrap<T: Real>(&self, p1: Vec3<T>, p2: Vec3<T>, alone: bool) -> Attempt<T> {
        let R = self.radius;
        let (d1_sq, d2_sq) = (p1.x * p1.x + p1.y * p1.y, p2.x * p2.x + p2.y * p2.y);
        if d1_sq.value() < self.radius_sq || d2_sq.value() < self.radius_sq {
            return Attempt::Inside;
        }
        // Whether the segment is of interest at all takes its values alone.
        let (v1, v2) = (p1.value(), p2.value());
        let (hit, s12) = self.crossing(v1, v2);
        if self.side.is_none() && !hit {
            return Attempt::Clear;
        }

        // (1) tangent points of the projection; the sign is chosen below.
        let (k1, k2) = (T::cst(self.radius_sq) / d1_sq, T::cst(self.radius_sq) / d2_sq);
        let (h1, h2) = (sqrt_flat(k1 * (T::one() - k1)), sqrt_flat(k2 * (T::one() - k2)));
        let t1 = [k1.value(), h1.value()];
        let t2 = [k2.value(), h2.value()];
        let choice = match &self.side {
            None => shortest(v1, v2, t1, t2),
            Some(side) => match held_to_side(side, v1, v2, t1, t2, hit, s12) {
                Some(choice) => choice,
                None => return Attempt::Clear,
            },
        };
        let (g1, g2) = (h1 * choice.s1, h2 * choice.s2);
        let mut r1 = vec3(k1 * p1.x - g1 * p1.y, k1 * p1.y + g1 * p1.x, p1.z);
        let mut r2 = vec3(k2 * p2.x - g2 * p2.y, k2 * p2.y + g2 * p2.x, p2.z);

        // (2), (3) apex.
        let (d1, d2) = (d1_sq.sqrt(), d2_sq.sqrt());
        let t = d1 / (d1 + d2);
        let e = p2 - p1;
        let (m_x, m_y) = (p1.x + t * e.x, p1.y + t * e.y);
        let (z1, z2) = (-(t * e.z), (T::one() - t) * e.z); // heights of p1, p2 over c
        let n = vec3(p1.y * z2 - z1 * p2.y, z1 * p2.x - p1.x * z2, p1.x * p2.y - p1.y * p2.x);
        let flat = n.x * n.x + n.y * n.y;
        let (mut a_x, mut a_y) = (T::zero(), T::zero());
        // In the plane across the axis the direction of the apex is lost in rounding; any will do.
        if flat.value() > f64::EPSILON * f64::EPSILON * (flat.value() + n.z.value() * n.z.value()) {
            let toward = m_y.value() * n.x.value() - m_x.value() * n.y.value() > 0.0;
            let s = if toward != choice.far { R } else { -R };
            let scale = T::cst(s) / flat.sqrt();
            (a_x, a_y) = (-(n.y * scale), n.x * scale);
        }

        // (4) slide the tangent points along their generator lines; away from the other end is refused.
        let (q1, q2) = (vec3(p1.x - a_x, p1.y - a_y, z1), vec3(p2.x - a_x, p2.y - a_y, z2));
        let N = q1.cross(q2);
        let N_z = N.z.value();
        if N_z * N_z > PLANE_ALONG_AXIS * PLANE_ALONG_AXIS * N.norm_sq().value() {
            let (slope_x, slope_y) = (N.x / N.z, N.y / N.z);
            let h = p1.z - slope_x * (r1.x - p1.x) - slope_y * (r1.y - p1.y);
            if (h.value() - v2.z).abs() < (v1.z - v2.z).abs() && (h.value() - v1.z).abs() <= SLIDE_WINDOW_M {
                r1.z = h;
            }
            let h = p2.z - slope_x * (r2.x - p2.x) - slope_y * (r2.y - p2.y);
            if (h.value() - v1.z).abs() < (v1.z - v2.z).abs() && (h.value() - v2.z).abs() <= SLIDE_WINDOW_M {
                r2.z = h;
            }
        }
        if r1.z.value().abs() > self.half_length && r2.z.value().abs() > self.half_length {
            return Attempt::Clear;
        }

        // (5) helix.
        let cross = r1.x * r2.y - r1.y * r2.x;
        let mut theta = cross.atan2(r1.x * r2.x + r1.y * r2.y);
        if choice.long {
            theta = T::cst(2.0 * std::f64::consts::PI) - theta;
        }
        let arc = theta * R;
        let mut length = sqrt_flat(arc * arc + (r2.z - r1.z).sq());
        if !alone {
            let turn = if choice.long { -theta } else { theta };
            length = polish(p1, p2, &mut r1, &mut r2, arc, turn);
        }
        let curve = SurfaceCurve { r1, r2, length };
        if choice.mandatory { Attempt::Mandatory(curve) } else { Attempt::Optional(curve) }
    }

    /// Whether the segment runs through the (endless) cylinder, and the parameter in \[0, 1\] of its
    /// point nearest to the axis; NaN when it is parallel to the axis.
    fn crossing(&self, p1: Vec3<f64>, p2: Vec3<f64>) -> (bool, f64) {
        let e = p2 - p1;
        let e_sq = e.x * e.x + e.y * e.y;
        if e_sq <= PARALLEL_SIN_SQ * (e_sq + e.z * e.z) {
            return (false, f64::NAN);
        }
        let s = -(p1.x * e.x + p1.y * e.y) / e_sq;
        let moment = p1.x * e.y - p1.y * e.x;
        (moment * moment < self.radius_sq * e_sq && s > 0.0 && s < 1.0, s)
    }
}

/// Tangent point (1) in the x-y plane with sign `s`, where `t` = [k, h].
#[inline(always)]
fn tangent(p: Vec3<f64>, t: [f64; 2], s: f64) -> [f64; 2] {
    [t[0] * p.x - s * t[1] * p.y, t[0] * p.y + s * t[1] * p.x]
}

#[inline(always)]
fn dot2(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// Without a side: the pair of tangent points with the smallest angle between them.
fn shortest(p1: Vec3<f64>, p2: Vec3<f64>, t1: [f64; 2], t2: [f64; 2]) -> Choice {
    let (a1, b1) = (tangent(p1, t1, 1.0), tangent(p1, t1, -1.0));
    let (a2, b2) = (tangent(p2, t2, 1.0), tangent(p2, t2, -1.0));
    let (aa, ab, ba, bb) = (dot2(a1, a2), dot2(a1, b2), dot2(b1, a2), dot2(b1, b2));
    let (s1, s2) = if aa > ab && aa > ba && aa > bb {
        (1.0, 1.0)
    } else if ab > ba && ab > bb {
        (1.0, -1.0)
    } else if ba > bb {
        (-1.0, 1.0)
    } else {
        (-1.0, -1.0)
    };
    Choice { s1, s2, far: false, long: false, mandatory: true }
}

/// With a side: the pair (+, −) or (−, +) that lies on it; nothing if the path may stay straight.
fn held_to_side(
    side: &Side,
    p1: Vec3<f64>,
    p2: Vec3<f64>,
    t1: [f64; 2],
    t2: [f64; 2],
    hit: bool,
    s12: f64,
) -> Option<Choice> {
    let w = side.axis;
    let (on1, on2) = (side.holds(p1[w]), side.holds(p2[w]));
    let mut mandatory = false;
    if on1 || on2 {
        // A straight segment that misses the cylinder on the right side of it needs no bending.
        let nearest = p1[w] + s12 * (p2[w] - p1[w]);
        if hit {
            mandatory = true;
        } else if on1 == on2 || side.holds(nearest) {
            return None;
        }
    }
    let (a1, b1) = (tangent(p1, t1, 1.0), tangent(p1, t1, -1.0));
    let (a2, b2) = (tangent(p2, t2, 1.0), tangent(p2, t2, -1.0));
    // The pair with the wider angle is the one on the far side of the cylinder.
    let ab_wider = dot2(a1, b2) < dot2(b1, a2);
    let on = |r: [f64; 2], z: f64| side.holds(if w == 2 { z } else { r[w] });
    let (ab, far) = match (on(a1, p1.z), on(b1, p1.z)) {
        (true, false) => (true, ab_wider),
        (false, true) => (false, !ab_wider),
        (true, true) if on(a2, p2.z) => (false, !ab_wider),
        (true, true) => (true, ab_wider),
        (false, false) if on(a2, p2.z) => (false, !ab_wider),
        (false, false) if on(b2, p2.z) => (true, ab_wider),
        (false, false) => (ab_wider, true),
    };
    let (s1, r1, r2) = if ab { (1.0, a1, b2) } else { (-1.0, b1, a2) };
    // The tangent lines point toward the curve on a short way round and away from it on a long one.
    let ends = [r1[0] - p1.x + r2[0] - p2.x, r1[1] - p1.y + r2[1] - p2.y];
    let long = dot2([r1[0] + r2[0], r1[1] + r2[1]], ends) < 0.0;
    Some(Choice { s1, s2: -s1, far, long, mandatory })
}

/// Moves both tangent points along their generator lines until the straight parts meet the helix
/// without a kink, or a hundred times; the length of the helix then.
///
/// A move goes 1.5 times the way to where the line from the end p to the first sample w of the helix
/// passes the generator line. With f the fraction of that line before r, seen along the axis,
///
///   r_z ← r_z + 1.5 (p_z + f (w_z − p_z) − r_z) = 1.5 f w_z + 1.5 (1 − f) p_z − r_z/2      (6)
///
/// The sample near the second point is taken after the first point has moved.
/// Source: OpenSim 4.6, `WrapCylinder`; the method need not settle, and often takes fifty rounds.
fn polish<T: Real>(p1: Vec3<T>, p2: Vec3<T>, r1: &mut Vec3<T>, r2: &mut Vec3<T>, arc: T, turn: T) -> T {
    let arc_sq = arc * arc;
    let mut left = MAX_POLISH;
    // Only heights change, so what is seen along the axis stays until the number of samples changes.
    while left > 0 {
        let rise_sq = (r2.z - r1.z).value().powi(2);
        let count = (sqrt_flat(arc_sq.value() + rise_sq) / SAMPLE_STEP_M) as usize;
        if count < 2 {
            break;
        }
        let step = 1.0 / count as f64;
        let g1 = Generator::new(p1, *r1, turned(*r1, turn * step));
        let g2 = Generator::new(p2, *r2, turned(*r1, turn * (1.0 - step)));
        // Squared lengths of the helix that surely have this number of samples, clear of rounding.
        let at_least = (count as f64 * SAMPLE_STEP_M).powi(2) * (1.0 + 1e-14) - arc_sq.value();
        let below = ((count as f64 + 1.0) * SAMPLE_STEP_M).powi(2) * (1.0 - 1e-14) - arc_sq.value();
        let settled = slide(&g1, &g2, step, [at_least, below], [&mut r1.z, &mut r2.z], &mut left);
        if settled {
            break;
        }
    }
    sqrt_flat(arc_sq + (r2.z - r1.z).sq())
}

/// Moves (6) with samples `step` of the helix away from the ends, at least once and while the square of
/// the rise stays within bounds; whether no kink is left.
///
/// With w put in, (6) is linear in both heights; its coefficients are taken out of the loop, which
/// leaves little between one height and the next.
#[inline]
fn slide<T: Real>(
    g1: &Generator<T>,
    g2: &Generator<T>,
    step: f64,
    rise_sq: [f64; 2],
    [r1_z, r2_z]: [&mut T; 2],
    left: &mut usize,
) -> bool {
    let stay = 1.0 - step;
    let (own1, other1) = (g1.pull * stay - 0.5, g1.pull * step);
    let (own2, before2) = (g2.pull * stay - 0.5, g2.pull * stay);
    let (mut z1, mut z2) = (*r1_z, *r2_z);
    let mut rise = z2.value() - z1.value();
    let mut settled = false;
    let mut rounds = *left;
    while rounds > 0 {
        rounds -= 1;
        let moves1 = g1.has_kink(z1.value() - g1.p_z, rise * step);
        // The share of the helix before r1 moves, of which r2 takes its part.
        let rest2 = own2 * z2 + g2.rest - before2 * z1;
        if moves1 {
            z1 = other1 * z2 + (own1 * z1 + g1.rest);
        }
        let moves2 = g2.has_kink(z2.value() - g2.p_z, z1.value() - z2.value() + rise * stay);
        if moves2 {
            z2 = g2.pull * z1 + rest2;
        } else if !moves1 {
            settled = true;
            break;
        }
        rise = z2.value() - z1.value();
        let next = rise * rise;
        if !(next > rise_sq[0] && next < rise_sq[1]) {
            break;
        }
    }
    *left = rounds;
    (*r1_z, *r2_z) = (z1, z2);
    settled
}

/// `r` turned about z, in the x-y plane.
fn turned<T: Real>(r: Vec3<T>, angle: T) -> [T; 2] {
    let (s, c) = angle.sin_cos();
    [c * r.x - s * r.y, s * r.x + c * r.y]
}

/// The generator line of a tangent point r between an end p and a sample w of the helix, seen along z.
struct Generator<T> {
    /// Distance from p to r.
    before: f64,
    /// Distance from r to w.
    after: f64,
    /// `before` times `after`.
    flat_cos: f64,
    /// Above this height of w over p the line counts as parallel to the axis.
    steep: f64,
    /// Height of p.
    p_z: f64,
    /// 1.5 f of (6).
    pull: T,
    /// 1.5 (1 − f) p_z of (6).
    rest: T,
}

impl<T: Real> Generator<T> {
    fn new(p: Vec3<T>, r: Vec3<T>, w: [T; 2]) -> Generator<T> {
        let (e_x, e_y) = (w[0] - p.x, w[1] - p.y);
        let (b_x, b_y) = (r.x - p.x, r.y - p.y);
        let whole_sq = e_x * e_x + e_y * e_y;
        let after_sq = (w[0] - r.x).sq() + (w[1] - r.y).sq();
        let (before, after) = ((b_x * b_x + b_y * b_y).value().sqrt(), after_sq.value().sqrt());
        let pull = (b_x * e_x + b_y * e_y) * 1.5 / whole_sq;
        Generator {
            before,
            after,
            flat_cos: before * after,
            steep: (whole_sq.value() * (1.0 / PARALLEL_SIN_SQ - 1.0)).sqrt(),
            p_z: p.z.value(),
            pull,
            rest: p.z * (T::cst(1.5) - pull),
        }
    }

    /// Whether there is a kink at r to mend, given the heights of r over p and of w over r.
    #[inline(always)]
    fn has_kink(&self, up_before: f64, up_after: f64) -> bool {
        // Angle between the two slopes, by its tangent.
        let sin = (self.before * up_after - self.after * up_before).abs();
        let cos = self.flat_cos + up_before * up_after;
        if cos > 0.0 && sin <= TANGENCY_TAN * cos {
            return false;
        }
        // A level line, or one along the axis, passes r nowhere in particular.
        let e_z = (up_before + up_after).abs();
        e_z > 0.0 && e_z < self.steep
    }
}

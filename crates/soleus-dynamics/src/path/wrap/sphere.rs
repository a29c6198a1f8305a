//! Wrapping around a sphere.

use super::{Attempt, Side, SurfaceCurve, sqrt_flat};
use soleus_math::{Real, Vec3, vec3};

/// A sphere about the origin.
///
/// The path lies in the plane of both ends and the centre, with unit normal n:
///
///   k = R²/|p|²,  r = k p ± √(k(1−k)) (n × p)      (1)  tangent points
///   L = R φ,  φ = angle between r1 and r2          (2)
///
/// Source: great circle; the choice of side is that of OpenSim 4.6, `WrapSphere`, where the long way around, which a
/// quadrant may require, has L = −R (2π − φ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    radius: f64,
    radius_sq: f64,
    side: Option<Side>,
}

impl Sphere {
    /// A sphere with given radius, m.
    pub fn new(radius: f64, side: Option<Side>) -> Sphere {
        Sphere { radius, radius_sq: radius * radius, side }
    }

    /// Wraps the segment from `p1` to `p2` around the sphere.
    pub fn wrap<T: Real>(&self, p1: Vec3<T>, p2: Vec3<T>) -> Attempt<T> {
        let (d1_sq, d2_sq) = (p1.norm_sq(), p2.norm_sq());
        if d1_sq.value() < self.radius_sq || d2_sq.value() < self.radius_sq {
            return Attempt::Inside;
        }
        // The line p2 + l (p1 − p2) has to enter and leave the sphere between the two ends.
        let (v1, v2) = (p1.value(), p2.value());
        let e = v1 - v2;
        let (a, b, c) = (e.norm_sq(), 2.0 * v2.dot(e), v2.norm_sq() - self.radius_sq);
        let disc = b * b - 4.0 * a * c;
        if disc.is_nan() || disc < 0.0 {
            return Attempt::Clear;
        }
        let root = disc.sqrt();
        let inside = |l: f64| 0.0 < l && l < 1.0;
        if !inside((-b + root) / (2.0 * a)) || !inside((-b - root) / (2.0 * a)) {
            return Attempt::Clear;
        }

        // Plane of the path. Through the very centre any plane is as good as another.
        let n = (p1 - p2).cross(p2);
        let n_sq = n.norm_sq();
        let n = if n_sq.value() > 1e-24 * a * v2.norm_sq() {
            n * n_sq.sqrt().recip()
        } else {
            Vec3::cst(any_normal(v2))
        };

        // (1)
        let (k1, k2) = (T::cst(self.radius_sq) / d1_sq, T::cst(self.radius_sq) / d2_sq);
        let (h1, h2) = (sqrt_flat(k1 * (T::one() - k1)), sqrt_flat(k2 * (T::one() - k2)));
        let (c1, c2) = (n.cross(p1) * h1, n.cross(p2) * h2);
        let (b1, b2) = (p1 * k1, p2 * k2);
        let candidates = Candidates { b1: b1.value(), b2: b2.value(), c1: c1.value(), c2: c2.value() };

        let (mut s1, mut s2) = candidates.shortest();
        let (mut far, mut mandatory) = (false, false);
        if let Some(side) = &self.side {
            let w = side.axis;
            let (on1, on2) = (side.holds(v1[w]), side.holds(v2[w]));
            if on1 || on2 {
                let u = e * (1.0 / a.sqrt());
                let along = v1.dot(u);
                let nearest = v1 - u * along;
                // OpenSim 4.6 compares this distance, in metres, with 1, as if it were a fraction.
                if nearest.norm_sq() < self.radius_sq && along > 0.0 && along < 1.0 {
                    mandatory = true;
                } else if on1 == on2 || side.holds(nearest[w]) {
                    return Attempt::Clear;
                }
            }
            if !on1 || !on2 {
                (s1, s2, far) = candidates.held_to_side(side, v1, v2);
            }
        }
        let r1 = b1 + c1 * T::cst(s1);
        let r2 = b2 + c2 * T::cst(s2);

        // (2)
        let mut angle = n.dot(r1.cross(r2)).atan2(r1.dot(r2)).abs();
        if far {
            angle -= T::cst(2.0 * std::f64::consts::PI);
        }
        let curve = SurfaceCurve { r1, r2, length: angle * self.radius };
        if mandatory { Attempt::Mandatory(curve) } else { Attempt::Optional(curve) }
    }
}

/// The four tangent points b ± c.
struct Candidates {
    b1: Vec3<f64>,
    b2: Vec3<f64>,
    c1: Vec3<f64>,
    c2: Vec3<f64>,
}

impl Candidates {
    /// Signs of the pair with the smallest angle between them.
    fn shortest(&self) -> (f64, f64) {
        let (a1, z1) = (self.b1 + self.c1, self.b1 - self.c1);
        let (a2, z2) = (self.b2 + self.c2, self.b2 - self.c2);
        let (aa, az, za, zz) = (a1.dot(a2), a1.dot(z2), z1.dot(a2), z1.dot(z2));
        if aa > az && aa > za && aa > zz {
            (1.0, 1.0)
        } else if az > za && az > zz {
            (1.0, -1.0)
        } else if za > zz {
            (-1.0, 1.0)
        } else {
            (-1.0, -1.0)
        }
    }

    /// Signs of the pair on the wanted side, and whether the curve takes the long way.
    fn held_to_side(&self, side: &Side, p1: Vec3<f64>, p2: Vec3<f64>) -> (f64, f64, bool) {
        // First the pair away from both ends …
        let away = -(p1 + p2);
        let mut s1 = if self.c1.dot(away) > 0.0 { 1.0 } else { -1.0 };
        let mut s2 = if self.c2.dot(away) > 0.0 { 1.0 } else { -1.0 };
        let ends = |s1: f64, s2: f64| {
            let (r1, r2) = (self.b1 + self.c1 * s1, self.b2 + self.c2 * s2);
            (r1 + r2, (r1 - p1) + (r2 - p2))
        };
        // … then the other one if its tangents run against the side.
        let (_, tangents) = ends(s1, s2);
        if tangents[side.axis] * side.sign < 0.0 {
            (s1, s2) = (-s1, -s2);
        }
        let (sum, tangents) = ends(s1, s2);
        (s1, s2, sum.dot(tangents) < 0.0)
    }
}

/// A unit vector across `v`.
fn any_normal(v: Vec3<f64>) -> Vec3<f64> {
    let e = if v.x.abs() < v.y.abs() { vec3(1.0, 0.0, 0.0) } else { vec3(0.0, 1.0, 0.0) };
    v.cross(e).normalized()
}

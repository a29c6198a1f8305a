//! The point of an ellipsoid closest to a given point.

use soleus_math::{Over, Real, Vec3};

/// A coordinate below this, in units of about the mean radius, is on a plane of symmetry (OpenSim 4.6).
const ON_PLANE: f64 = 2e-13;
/// The residual of the polynomial at which the root counts as found (OpenSim 4.6).
const RESIDUAL: f64 = 1e-9;
/// Most Newton steps (OpenSim 4.6).
const MAX_STEPS: usize = 64;

/// Closest points on the ellipsoid Σ (xᵢ/aᵢ)² = 1 and on its plane sections.
///
///   xᵢ = aᵢ² qᵢ/(t + aᵢ²),   t the largest root of  Σ aᵢ² qᵢ²/(t + aᵢ²)² = 1     (1)
///
/// (1) is multiplied out to a polynomial f and solved by Newton's method, from t = 0 inside and from
/// t = max a |q| outside, until |f| < 1e-9.
///
/// Source: Eberly, "Distance from a point to an ellipsoid", in Graphics Gems IV (1994); tolerances of
/// OpenSim 4.6.
///
/// Derivatives: where the method has found the root, they follow from (1) by implicit
/// differentiation. Close to the plane of symmetry across the shortest axis the root is nearly double,
/// Newton's method creeps and is stopped well before the root; there the steps themselves are
/// differentiated, so that derivatives belong to the value returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Closest<P: Real = f64> {
    pub a: Vec3<P>,
    pub a_sq: Vec3<P>,
    /// Smallest aᵢ².
    pub least_a_sq: f64,
    max_a: P,
}

impl<P: Real> Closest<P> {
    pub fn new(a: Vec3<P>) -> Closest<P> {
        let a_sq = a.mul_elem(a);
        let least_a_sq = a_sq.x.value().min(a_sq.y.value()).min(a_sq.z.value());
        Closest { a, a_sq, least_a_sq, max_a: a.x.max(a.y).max(a.z) }
    }

    /// The closest point on the ellipsoid to `q`.
    pub fn on_ellipsoid<T: Over<P>>(&self, q: Vec3<T>) -> Vec3<T> {
        // On planes of symmetry the problem is that of the section; of several, the narrowest.
        let mut plane = None;
        let mut width = f64::INFINITY;
        for i in 0..3 {
            if q[i].value().abs() <= ON_PLANE {
                let (j, k) = others(i);
                let here = self.a[j].value() + self.a[k].value();
                if width > here {
                    (plane, width) = (Some(i), here);
                }
            }
        }
        if let Some(axis) = plane {
            return self.on_section(q, axis);
        }
        let m = Vec3 { x: q.x * self.a.x, y: q.y * self.a.y, z: q.z * self.a.z };
        let t = self.solve(m.mul_elem(m), q);
        Vec3 {
            x: q.x * self.a_sq.x / (t + self.a_sq.x),
            y: q.y * self.a_sq.y / (t + self.a_sq.y),
            z: q.z * self.a_sq.z / (t + self.a_sq.z),
        }
    }

    /// Root of the sixth-degree form of (1); `m` holds aᵢ² qᵢ².
    fn solve<T: Over<P>>(&self, m: Vec3<T>, q: Vec3<T>) -> T {
        let (v, a, a_sq) = (q.value(), self.a.value(), self.a_sq.value());
        let inside = (v.x / a.x).powi(2) + (v.y / a.y).powi(2) + (v.z / a.z).powi(2) < 1.0;
        let start = if inside { 0.0 } else { self.max_a.value() * v.norm() };
        let (t, step) = newton(start, |t| sextic(a_sq, m.value(), t));
        if T::ORDER == 0 {
            return T::cst(t);
        }
        if step.abs() < 1e-6 * (t + self.least_a_sq).abs() {
            let mut t = T::cst(t);
            for _ in 0..T::ORDER {
                let (f, slope) = sextic(self.a_sq, m, t);
                t = t.refine(f, slope);
            }
            return t;
        }
        let start = if inside { T::zero() } else { q.norm() * self.max_a };
        newton(start, |t| sextic(self.a_sq, m, t)).0
    }

    /// The closest point to `q` on the section perpendicular to `axis`; that coordinate of `q` is kept, for points in
    /// the plane.
    pub fn on_section<T: Over<P>>(&self, q: Vec3<T>, axis: usize) -> Vec3<T> {
        let (j, k) = others(axis);
        let mut x = q;
        (x[j], x[k]) = on_ellipse(self.a[j], self.a[k], q[j], q[k]);
        x
    }
}

/// The polynomial of (1) of [`Closest`] and its slope at t; `m` holds aᵢ² qᵢ².
#[inline(always)]
pub(super) fn sextic<A: Real, T: Over<A>>(a_sq: Vec3<A>, m: Vec3<T>, t: T) -> (T, T) {
    let (P, Q, R) = (t + a_sq.x, t + a_sq.y, t + a_sq.z);
    let (PQ, PR, QR) = (P * Q, P * R, Q * R);
    let f = (PQ * R).sq() - m.x * QR.sq() - m.y * PR.sq() - m.z * PQ.sq();
    let slope = P * QR * (QR + PR + PQ) - m.x * QR * (Q + R) - m.y * PR * (P + R) - m.z * PQ * (P + Q);
    (f, slope * 2.0)
}

/// The two other axes in cyclic order.
fn others(i: usize) -> (usize, usize) {
    ((i + 1) % 3, (i + 2) % 3)
}

/// Newton's method from `t` until the residual is small; the root and the next step it would take.
#[inline(always)]
fn newton<T: Real>(mut t: T, f: impl Fn(T) -> (T, T)) -> (T, f64) {
    for _ in 0..MAX_STEPS {
        let (value, slope) = f(t);
        let step = value / slope;
        if value.value().abs() < RESIDUAL {
            return (t, step.value());
        }
        t -= step;
    }
    (t, 0.0)
}

/// The closest point to (u, v) on the ellipse of semi-axes a, b.
fn on_ellipse<P: Real, T: Over<P>>(a: P, b: P, u: T, v: T) -> (T, T) {
    let (u0, v0) = (u.value(), v.value());
    match (u0.abs() <= ON_PLANE, v0.abs() <= ON_PLANE) {
        (true, true) if a.value() < b.value() => return (T::lift(if u0 < 0.0 { -a } else { a }), v),
        (true, true) => return (u, T::lift(if v0 < 0.0 { -b } else { b })),
        (true, false) => return on_axis(a, b, u, v),
        (false, true) => {
            let (y, x) = on_axis(b, a, v, u);
            return (x, y);
        }
        (false, false) => {}
    }
    let (a_sq, b_sq) = (a * a, b * b);
    let inside = (u0 / a.value()).powi(2) + (v0 / b.value()).powi(2) < 1.0;
    let start = if inside { 0.0 } else { a.max(b).value() * (u0 * u0 + v0 * v0).sqrt() };
    let (a_sq0, b_sq0) = (a_sq.value(), b_sq.value());
    let (root, step) = newton(start, |t| quartic(a_sq0, b_sq0, a_sq0 * u0 * u0, b_sq0 * v0 * v0, t));
    let mut t = T::cst(root);
    if T::ORDER > 0 {
        let (mu, mv) = (u * u * a_sq, v * v * b_sq);
        if step.abs() < 1e-6 * (root + a_sq0.min(b_sq0)).abs() {
            for _ in 0..T::ORDER {
                let (f, slope) = quartic(a_sq, b_sq, mu, mv, t);
                t = t.refine(f, slope);
            }
        } else {
            let start = if inside { T::zero() } else { (u * u + v * v).sqrt() * a.max(b) };
            t = newton(start, |t| quartic(a_sq, b_sq, mu, mv, t)).0;
        }
    }
    (u * a_sq / (t + a_sq), v * b_sq / (t + b_sq))
}

/// The polynomial of (1) for an ellipse, and its slope; mu = a²u², mv = b²v².
#[inline(always)]
fn quartic<A: Real, T: Over<A>>(a_sq: A, b_sq: A, mu: T, mv: T, t: T) -> (T, T) {
    let (P, Q) = (t + a_sq, t + b_sq);
    let f = (P * Q).sq() - mu * Q.sq() - mv * P.sq();
    (f, (P * Q * (P + Q) - mu * Q - mv * P) * 2.0)
}

/// The closest point on the ellipse of semi-axes a, b to (u, v) with u = 0: the end of the axis, or,
/// from within the evolute of a wide ellipse, one of two points beside it (the one with x > 0).
fn on_axis<P: Real, T: Over<P>>(a: P, b: P, u: T, v: T) -> (T, T) {
    if a.value() >= b.value() || v.value().abs() >= (b - a * a / b).value() {
        return (u, T::lift(if v.value() >= 0.0 { b } else { -b }));
    }
    let y = v * (b * b / (b * b - a * a));
    let x = super::super::sqrt_flat((T::one() - (y / b).sq()).abs()) * a;
    (x, y)
}

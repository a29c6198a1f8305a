//! Wrapping through the hole of a torus.

use super::{Attempt, Cylinder, Side, SurfaceCurve};
use soleus_math::{Dual, Over, Real, Vec3, vec3};

/// The tube is replaced by a cylinder this long, m (OpenSim 4.6): without end for all we know.
const TUBE_LENGTH_M: f64 = 10000.0;
/// Relative tolerance on the residual and on the place at which the search stops (OpenSim 4.6).
const TOLERANCE: f64 = 1e-4;
/// First step bound of the search (OpenSim 4.6).
const FIRST_BOUND: f64 = 0.2;
/// Step of the difference that stands for the slope, m (OpenSim 4.6).
const DIFFERENCE_M: f64 = 1e-5;
/// Number of residuals after which the search gives up (OpenSim 4.6).
const MAX_RESIDUALS: usize = 500;

/// A torus about z: a tube of radius r around a circle of radius R in the x-y plane.
///
/// The tube is replaced by a straight cylinder of radius r along the tangent of the circle, at the
/// circle point C nearest to the segment, and the path goes around that cylinder on the side of the
/// torus' centre. See [`Cylinder`].
///
/// Source: OpenSim 4.6, `WrapTorus`. Its condition for the nearest point,
///
///   2 (p·n + u) − 2R (2 c₄ u + 2 c₃)/√(c₄ u² + 2 c₃ u + c₅) = 0     (1)
///
/// with n the direction of the segment, c₃ = p·n and c₄ = n·n in the x-y plane and c₅ = |p|² there, is that for a
/// circle of radius 2R; it is kept in order to obtain the same lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torus<P: Real = f64> {
    tube: Cylinder,
    /// Of the tube, m.
    inner: P,
    /// Of the circle, m.
    radius: P,
    side: Option<Side>,
}

impl Torus {
    /// A torus of tube radius `inner` and circle radius `outer`, m.
    pub fn new(inner: f64, outer: f64, side: Option<Side>) -> Torus {
        let toward_centre = Side { axis: 0, sign: 1.0 };
        let tube = Cylinder::new(inner, TUBE_LENGTH_M, Some(toward_centre));
        Torus { tube, inner, radius: outer, side }
    }

    /// The same with its tube (0) or its circle (1) seeded for derivatives.
    pub(super) fn seeded(&self, which: usize) -> Torus<Dual<f64, 1>> {
        let of = |k: usize, x: f64| if k == which { Dual::variable(x, 0) } else { Dual::cst(x) };
        Torus { tube: self.tube, inner: of(0, self.inner), radius: of(1, self.radius), side: self.side }
    }
}

impl<P: Real> Torus<P> {
    /// Wraps the segment from `p1` to `p2` around the tube.
    pub fn wrap<T: Over<P>>(&self, p1: Vec3<T>, p2: Vec3<T>, alone: bool) -> Attempt<T> {
        let Some(C) = self.nearest_on_circle(p1, p2) else {
            return Attempt::Clear;
        };
        // Frame of the tube: x toward the centre, y along −z of the torus, z along the circle.
        let x = C * T::lift(-self.radius.recip());
        let to_tube = |p: Vec3<T>| {
            let q = p - C;
            vec3(x.x * q.x + x.y * q.y, -q.z, x.x * q.y - x.y * q.x)
        };
        let from_tube = |q: Vec3<T>| C + vec3(x.x * q.x - x.y * q.z, x.y * q.x + x.x * q.z, -q.y);
        // A tube that grows is one of its own size seen from nearer; it has no ends.
        let (q1, q2) = (to_tube(p1), to_tube(p2));
        let attempt = if P::ORDER == 0 {
            self.tube.wrap(q1, q2, alone)
        } else {
            let times = T::lift(self.inner) / self.inner.value();
            self.tube.wrap(q1 / times, q2 / times, alone).map(|c| c.times(times))
        };
        match attempt {
            Attempt::Optional(c) | Attempt::Mandatory(c) => {
                Attempt::Optional(SurfaceCurve { r1: from_tube(c.r1), r2: from_tube(c.r2), length: c.length })
            }
            _ => Attempt::Missed,
        }
    }

    /// The point of the circle that the segment is nearest to; nothing if it is on the wrong side.
    fn nearest_on_circle<T: Over<P>>(&self, p1: Vec3<T>, p2: Vec3<T>) -> Option<Vec3<T>> {
        let R = self.radius.value();
        let e = p2 - p1;
        let mag = e.norm();
        if mag.value() == 0.0 {
            return None;
        }
        let n = e / mag;
        // The search starts at either end; the two may stop at different minima.
        let a1 = p1 + n * self.search(p1, n);
        let a2 = p2 - n * self.search(p2, -n);
        let distance_sq = |a: Vec3<T>| {
            let v = a.value();
            v.norm_sq() + R * R - 2.0 * R * (v.x * v.x + v.y * v.y).sqrt()
        };
        let nearer = distance_sq(a1).sqrt() < distance_sq(a2).sqrt();
        let first = match &self.side {
            None => nearer,
            Some(side) => {
                let on = |a: Vec3<T>| side.holds(a[side.axis].value());
                match (on(a1), on(a2)) {
                    (true, true) => nearer,
                    (true, false) => true,
                    (false, true) => false,
                    (false, false) => return None,
                }
            }
        };
        let a = if first { a1 } else { a2 };
        let scale = T::lift(self.radius) / (a.x * a.x + a.y * a.y).sqrt();
        Some(vec3(a.x * scale, a.y * scale, T::zero()))
    }

    /// Solves (1) for u from u = 0 by the Levenberg–Marquardt method with a trust region.
    ///
    /// The scheme is that of MINPACK (Moré, 1978) for one unknown, with the tolerances of OpenSim 4.6,
    /// which stop it at 1e-4: the derivatives are therefore those of the steps it takes, carried
    /// along in `T`, and not those of the root. The slope of (1) is a difference over 1e-5 m for the
    /// same reason: the exact one moves lengths by up to 1e-4 m.
    fn search<T: Over<P>>(&self, p: Vec3<T>, n: Vec3<T>) -> T {
        let R = self.radius;
        let (c2, c3) = (p.dot(n) * 2.0, p.x * n.x + p.y * n.y);
        let (c4, c5) = (n.x * n.x + n.y * n.y, p.x * p.x + p.y * p.y);
        let residual = |u: T| {
            let (half, root) = (c4 * u + c3, (c4 * u * u + c3 * u * 2.0 + c5).sqrt());
            c2 + u * 2.0 - half * (R * 4.0) / root
        };
        let mut u = T::zero();
        let mut f = residual(u);
        let mut diag = T::zero();
        let mut u_norm = 0.0;
        let mut delta = T::cst(FIRST_BOUND);
        let mut par = T::zero();
        let (mut first, mut calls) = (true, 1);
        loop {
            let J = (residual(u + DIFFERENCE_M) - f) / DIFFERENCE_M;
            // The gradient test of the method with tolerance zero.
            if f.value() == 0.0 || J.value() == 0.0 || !f.value().is_finite() {
                return u;
            }
            diag = diag.max(J.abs());
            loop {
                let step;
                (step, par) = bounded_step(f, J, diag, delta, par);
                let tried = u - step;
                let pnorm = (diag * step).abs();
                if first {
                    delta = delta.min(pnorm);
                }
                let f_new = residual(tried);
                calls += 1;
                let (norm, norm_new) = (f.abs(), f_new.abs());
                let far_worse = 0.1 * norm_new.value() >= norm.value();
                let actual = if far_worse { T::cst(-1.0) } else { T::one() - (norm_new / norm).sq() };
                let t1_sq = ((J * step).abs() / norm).sq();
                let t2_sq = par * (pnorm / norm).sq();
                let predicted = t1_sq + t2_sq * 2.0;
                let slope = -(t1_sq + t2_sq);
                let ratio = if predicted.value() == 0.0 { 0.0 } else { actual.value() / predicted.value() };
                if ratio <= 0.25 {
                    let mut shrink = if actual.value() >= 0.0 {
                        T::cst(0.5)
                    } else {
                        slope * 0.5 / (slope + actual * 0.5)
                    };
                    if far_worse || shrink.value() < 0.1 {
                        shrink = T::cst(0.1);
                    }
                    delta = shrink * delta.min(pnorm / 0.1);
                    par /= shrink;
                } else if par.value() == 0.0 || ratio >= 0.75 {
                    delta = pnorm * 2.0;
                    par *= T::cst(0.5);
                }
                let accepted = ratio >= 1e-4;
                if accepted {
                    (u, f) = (tried, f_new);
                    u_norm = (diag.value() * u.value()).abs();
                    first = false;
                }
                let small =
                    |tol: f64| actual.value().abs() <= tol && predicted.value() <= tol && 0.5 * ratio <= 1.0;
                if small(TOLERANCE) || delta.value() <= TOLERANCE * u_norm || calls >= MAX_RESIDUALS {
                    return u;
                }
                if accepted {
                    break;
                }
            }
        }
    }
}

/// The step x = J f/(J² + λ D²) with |D x| within a tenth of the bound `delta`, and its λ.
///
/// The safeguarded Newton iteration on λ of Moré (1978) for one unknown.
fn bounded_step<T: Real>(f: T, J: T, D: T, delta: T, par: T) -> (T, T) {
    let full = f / J;
    let mut size = (D * full).abs();
    let mut excess = size - delta;
    if excess.value() <= 0.1 * delta.value() {
        return (full, T::zero());
    }
    let scale = (D / J).sq();
    let mut low = excess / delta / scale;
    let gradient = (J * f / D).abs();
    let mut high = gradient / delta;
    let mut par = par.max(low).min(high);
    if par.value() == 0.0 {
        par = gradient / size;
    }
    let mut x = full;
    for k in 1..=10 {
        if par.value() == 0.0 {
            par = high * 0.001;
        }
        let s_sq = J * J + par * D * D;
        x = J * f / s_sq;
        size = (D * x).abs();
        let before = excess.value();
        excess = size - delta;
        let done = excess.value().abs() <= 0.1 * delta.value()
            || (low.value() == 0.0 && excess.value() <= before && before < 0.0);
        if done || k == 10 {
            break;
        }
        let correction = excess / delta * s_sq / (D * D);
        if excess.value() > 0.0 {
            low = low.max(par);
        } else if excess.value() < 0.0 {
            high = high.min(par);
        }
        par = low.max(par + correction);
    }
    (x, par)
}

//! Wrapping around an ellipsoid.

mod closest;
mod fan;
mod tangent;

use super::{Attempt, Side, SurfaceCurve, unit_or_zero};
use closest::Closest;
use soleus_math::{Dual, Over, Real, Vec3};
use soleus_model::path::WrapMethod;
use std::sync::Arc;
use tangent::tangent_point;

/// Below this share along the main axis the fan alone decides (OpenSim 4.6; above cos 45°).
const BLEND_MIN: f64 = 0.7073;
/// Above this share along the main axis the axial section alone decides (OpenSim 4.6).
const BLEND_MAX: f64 = 0.9;
/// The axial section fades out over this part of the chord at either end (OpenSim 4.6).
const BLEND_AT_ENDS: f64 = 0.3;
/// How far inside the surface, as x²/a² + … − 1, an end may be and still count as on it.
const ON_SURFACE: f64 = 1e-4;
/// Length of the pieces that the curve on the surface is summed from, m (OpenSim 4.6).
const PIECE_M: f64 = 0.001;
/// Most pieces of one curve (OpenSim 4.6).
const MAX_PIECES: usize = 499;

/// An ellipsoid about the origin with its axes along x, y, z.
///
/// The path lies in a plane through both ends and a surface point c, and c is chosen near the part of the straight line
/// that is inside. The tangent points are found in that plane, and the length of the curve between them is the sum of
/// chords of about 1 mm.
///
/// Source: OpenSim 4.6, `WrapEllipsoid`. All lengths are scaled internally by 3/(a + b + c), so that its absolute
/// tolerances have the same meaning for every ellipsoid.
#[derive(Clone, Debug, PartialEq)]
pub struct Ellipsoid<P: Real = f64> {
    /// Semi-axes, m.
    dimensions: Vec3<P>,
    /// Scale to working units.
    scale: P,
    /// Semi-axes in working units.
    a: Vec3<P>,
    inv_a: Vec3<P>,
    closest: Closest<P>,
    fan: Arc<fan::FanRule>,
    side: Option<Side>,
    method: WrapMethod,
}

/// The surface point that the plane of the path goes through, and how it was found.
struct Anchor<T> {
    c: Vec3<T>,
    /// Where the search for each tangent point starts.
    start: [Vec3<T>; 2],
    /// Weight of the fan in c; 0 when it had no part.
    fan: T,
}

impl Ellipsoid {
    /// An ellipsoid with given semi-axes, m.
    pub fn new(dimensions: Vec3<f64>, side: Option<Side>, method: WrapMethod) -> Ellipsoid {
        Ellipsoid::sized(dimensions, Arc::new(fan::FanRule::new()), side, method)
    }

    /// The same with one of the semi-axes seeded for derivatives.
    pub(super) fn seeded(&self, axis: usize) -> Ellipsoid<Dual<f64, 1>> {
        let mut dimensions = Vec3::cst(self.dimensions);
        dimensions[axis] = Dual::variable(self.dimensions[axis], 0);
        Ellipsoid::sized(dimensions, self.fan.clone(), self.side, self.method)
    }
}

impl<P: Real> Ellipsoid<P> {
    fn sized(
        dimensions: Vec3<P>,
        fan: Arc<fan::FanRule>,
        side: Option<Side>,
        method: WrapMethod,
    ) -> Ellipsoid<P> {
        let scale = P::cst(3.0) / (dimensions.x + dimensions.y + dimensions.z);
        let a = dimensions * scale;
        let inv_a = Vec3 { x: a.x.recip(), y: a.y.recip(), z: a.z.recip() };
        Ellipsoid { dimensions, scale, a, inv_a, closest: Closest::new(a), fan, side, method }
    }

    /// Wraps the segment from `p1` to `p2` around the ellipsoid.
    pub fn wrap<T: Over<P>>(&self, p1: Vec3<T>, p2: Vec3<T>) -> Attempt<T> {
        let (p1, p2) = (p1 * T::lift(self.scale), p2 * T::lift(self.scale));
        let inv_a = Vec3::<T>::lift(self.inv_a);
        let (f1, f2) = (p1.mul_elem(inv_a), p2.mul_elem(inv_a));
        let (e1, e2) = (f1.norm_sq() - 1.0, f2.norm_sq() - 1.0);
        if e1.value() < -ON_SURFACE || e2.value() < -ON_SURFACE {
            return Attempt::Inside;
        }
        // Ends in the same direction from the centre have no plane.
        let (v1, v2) = (p1.value(), p2.value());
        if (unit_or_zero(v1).dot(unit_or_zero(v2)) - 1.0).abs() < 1e-4 {
            return Attempt::Clear;
        }
        // The line p2 + l (p1 − p2) has to enter and leave the ellipsoid between the two ends.
        let f = f1 - f2;
        let (aa, bb, cc) = (f.norm_sq(), f.dot(f2) * 2.0, f2.norm_sq() - 1.0);
        let disc = bb * bb - aa * cc * 4.0;
        if disc.value().is_nan() || disc.value() < 0.0 {
            return Attempt::Clear;
        }
        let root = super::sqrt_flat(disc);
        let (l1, l2) = ((root - bb) / (aa * 2.0), (-bb - root) / (aa * 2.0));
        let inside = |l: T| 0.0 < l.value() && l.value() < 1.0;
        if !inside(l1) || !inside(l2) {
            return Attempt::Clear;
        }
        let line = p1 - p2;
        let chord = [p2 + line * l1, p2 + line * l2];

        let mut anchor = self.anchor(line, chord);
        if let Some(side) = &self.side {
            self.turn_to_side(side, &mut anchor);
        }
        // Plane n·x + n4 = 0 through both ends and the anchor.
        let n = unit_or_zero(line.cross(p1 - anchor.c));
        let n4 = -n.dot(anchor.c);

        let touch = |e: T, p: Vec3<T>, start: Vec3<T>| {
            if e.value().abs() < ON_SURFACE { p } else { tangent_point(self.inv_a, n, n4, p, start) }
        };
        let r1 = touch(e1, p1, anchor.start[0]);
        let r2 = touch(e2, p2, anchor.start[1]);
        let length = self.curve_length(p1, p2, r1, r2, n, n4);
        let unscale = T::lift(self.scale.recip());
        Attempt::Mandatory(SurfaceCurve { r1: r1 * unscale, r2: r2 * unscale, length: length * unscale })
    }

    /// Picks the surface point that the plane of the path goes through; `chord` holds the ends of the
    /// part of the line inside.
    fn anchor<T: Over<P>>(&self, line: Vec3<T>, chord: [Vec3<T>; 2]) -> Anchor<T> {
        let d = chord[1] - chord[0];
        let middle = chord[0] + d * T::cst(0.5);
        if self.method == WrapMethod::Midpoint {
            let c = self.closest.on_ellipsoid(middle);
            return Anchor { c, start: [c, c], fan: T::zero() };
        }
        // The axis most along the line, and the point s where the line crosses the plane across it.
        let mu = unit_or_zero(line);
        let mut axis = 0;
        for i in 1..3 {
            if mu[i].value().abs() > mu[axis].value().abs() {
                axis = i;
            }
        }
        let mut mu = mu[axis].abs();
        let t = -(chord[0][axis] / d[axis]);
        let across = || self.closest.on_section(chord[0] + d * t, axis);

        if self.method == WrapMethod::Axial {
            let c = across();
            let start = if t.value() > 0.0 && t.value() < 1.0 { [c, c] } else { chord };
            return Anchor { c, start, fan: T::zero() };
        }
        // A crossing near the ends of the chord, or outside it, counts for less.
        if mu.value() > BLEND_MIN {
            let s = if t.value() < 0.0 || t.value() > 1.0 {
                Some(T::zero())
            } else if t.value() < BLEND_AT_ENDS {
                Some(t / BLEND_AT_ENDS)
            } else if t.value() > 1.0 - BLEND_AT_ENDS {
                Some((T::one() - t) / BLEND_AT_ENDS)
            } else {
                None
            };
            if let Some(s) = s {
                mu = s * (mu - BLEND_MIN) + BLEND_MIN;
            }
        }
        let (c, fan) = if mu.value() >= BLEND_MAX {
            (across(), T::zero())
        } else {
            let toward = unit_or_zero(fan::fan_sum(&self.closest, &self.fan, chord[0], d));
            let fanned = self.closest.on_ellipsoid(middle + toward);
            if mu.value() <= BLEND_MIN {
                (fanned, T::one())
            } else {
                let w = (mu - BLEND_MIN) / (BLEND_MAX - BLEND_MIN);
                let rest = T::one() - w;
                (self.closest.on_ellipsoid(across() * w + fanned * rest), rest)
            }
        };
        Anchor { c, start: [c, c], fan }
    }

    /// Mirrors an anchor that is on the wrong side; what the fan chose goes to the border instead.
    fn turn_to_side<T: Over<P>>(&self, side: &Side, anchor: &mut Anchor<T>) {
        let w = side.axis;
        if side.holds(anchor.c[w].value()) {
            return;
        }
        anchor.c[w] = -anchor.c[w];
        anchor.start = [anchor.c, anchor.c];
        if anchor.fan.value() > 0.0 {
            anchor.c[w] *= T::one() - anchor.fan;
            anchor.c = self.closest.on_ellipsoid(anchor.c);
        }
    }

    /// Length of the curve from `r1` to `r2` in the plane n·x + n4 = 0, in working units.
    fn curve_length<T: Over<P>>(
        &self,
        p1: Vec3<T>,
        p2: Vec3<T>,
        r1: Vec3<T>,
        r2: Vec3<T>,
        n: Vec3<T>,
        n4: T,
    ) -> T {
        let chord = (r1 - r2).norm_sq();
        let pieces = (chord.value().sqrt() / self.scale.value() / PIECE_M) as usize;
        if pieces < 2 {
            return super::sqrt_flat(chord);
        }
        let pieces = pieces.min(MAX_PIECES);
        // The rays start where the plane cuts the axis most across it …
        let mut axis = 0;
        for i in 1..3 {
            if n[i].value().abs() > n[axis].value().abs() {
                axis = i;
            }
        }
        let mut pole = Vec3::zero();
        pole[axis] = -n4 / n[axis];
        let section =
            Section::new(pole, r1, r2, Vec3::lift(self.inv_a), self.side.is_some().then_some([p1, p2]));
        let length = section.length(pieces);
        if !length.value().is_nan() {
            return length;
        }
        // … which may be outside the surface so that rays miss it; the centre of the section never is.
        let an = n.mul_elem(Vec3::lift(self.a)).mul_elem(Vec3::lift(self.a));
        let pole = an * (-n4 / n.dot(an));
        Section::new(pole, r1, r2, Vec3::lift(self.inv_a), self.side.is_some().then_some([p1, p2]))
            .length(pieces)
    }
}

/// The cut of the plane of the path through the ellipsoid, in polar coordinates about a pole.
///
///   x(φ) = pole + ρ(φ) (u cos φ + v sin φ),   |x/a| = 1
struct Section<T> {
    /// Distance of the two ends of the curve from the pole.
    rho: [T; 2],
    /// Angle from the first to the second end.
    phi: T,
    /// Coefficients of |x/a|² = 1: u·u, 2 u·v, v·v, u·pole, v·pole and pole·pole − 1 over a².
    uu: T,
    uv: T,
    vv: T,
    ug: T,
    vg: T,
    g: T,
    /// Where the path comes from and goes to, as seen from the two ends of the curve in the u-v plane;
    /// given when the curve may have to take the long way round.
    outward: Option<[[f64; 2]; 2]>,
}

impl<T: Real> Section<T> {
    fn new(
        pole: Vec3<T>,
        r1: Vec3<T>,
        r2: Vec3<T>,
        inv_a: Vec3<T>,
        ends: Option<[Vec3<T>; 2]>,
    ) -> Section<T> {
        let (d1, d2) = (r1 - pole, r2 - pole);
        let rho = [d1.norm(), d2.norm()];
        let (u, to2) = (d1 / rho[0], d2 / rho[1]);
        let cross = u.cross(to2);
        let sin = cross.norm();
        let v = (cross / sin).cross(u);
        let phi = sin.atan2(u.dot(to2));
        let (fu, fv, fg) = (u.mul_elem(inv_a), v.mul_elem(inv_a), pole.mul_elem(inv_a));
        let outward = ends.map(|[p1, p2]| {
            let flat = |x: Vec3<T>| [x.dot(u).value(), x.dot(v).value()];
            [flat(p1 - r1), flat(p2 - r2)]
        });
        Section {
            rho,
            phi,
            uu: fu.norm_sq(),
            uv: fu.dot(fv) * 2.0,
            vv: fv.norm_sq(),
            ug: fu.dot(fg),
            vg: fv.dot(fg),
            g: fg.norm_sq() - 1.0,
            outward,
        }
    }

    /// ρ in the direction of angle φ given by its cosine and sine; NaN if the ray misses.
    #[inline(always)]
    fn rho(&self, c: T, s: T) -> T {
        let a = self.uu * (c * c) + self.uv * (c * s) + self.vv * (s * s);
        let b = self.ug * c + self.vg * s;
        ((b * b - a * self.g).sqrt() - b) / a
    }

    /// Sum of chords over equal steps of the angle.
    fn length(&self, pieces: usize) -> T {
        let step = self.phi / pieces as f64;
        if self.goes_back(step, pieces) {
            let long = (self.phi - 2.0 * std::f64::consts::PI) / pieces as f64;
            return self.chords(long, pieces);
        }
        self.chords(step, pieces)
    }

    /// Whether the curve leaves its ends toward the side that the path comes from.
    fn goes_back(&self, step: T, pieces: usize) -> bool {
        let Some([out1, out2]) = self.outward else {
            return false;
        };
        let at = |angle: T| {
            let (s, c) = angle.sin_cos();
            let rho = self.rho(c, s);
            [(rho * c).value(), (rho * s).value()]
        };
        let (first, last) = (at(step), at(step * (pieces - 1) as f64));
        let (s, c) = self.phi.sin_cos();
        let end = [(self.rho[1] * c).value(), (self.rho[1] * s).value()];
        out1[0] * (first[0] - self.rho[0].value()) + out1[1] * first[1] > 0.0
            || out2[0] * (last[0] - end[0]) + out2[1] * (last[1] - end[1]) > 0.0
    }

    fn chords(&self, step: T, pieces: usize) -> T {
        let (sin_step, cos_step) = step.sin_cos();
        let (mut c, mut s) = (T::one(), T::zero());
        let mut at = [self.rho[0], T::zero()];
        let mut sum = T::zero();
        for i in 1..=pieces {
            // Turning by the addition theorem costs 1e-16 a step, 5e-14 at the very most.
            (c, s) = (c * cos_step - s * sin_step, s * cos_step + c * sin_step);
            let rho = if i == pieces { self.rho[1] } else { self.rho(c, s) };
            let next = [rho * c, rho * s];
            sum += ((next[0] - at[0]).sq() + (next[1] - at[1]).sq()).sqrt();
            at = next;
        }
        sum
    }
}

//! Wrapping of one straight segment of a path around one surface.
//!
//! Every kernel works in the frame of its wrap object and depends only on the two ends of the segment. The
//! constructions are those of OpenSim 4.6 (and SIMM before it; Delp and Loan, 1995), which are not geodesics in
//! general, in order to obtain the same lengths.

pub mod cylinder;
pub mod ellipsoid;
pub mod sphere;
pub mod torus;

pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use sphere::Sphere;
pub use torus::Torus;

use crate::system::Along;
use soleus_math::{Dual, Real, Vec3};
use soleus_model::path::{Quadrant, WrapMethod, WrapShape};

/// The curve of a path on a surface, in the frame of the wrap object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceCurve<T> {
    /// First contact point with the surface, on the side of the first end.
    pub r1: Vec3<T>,
    /// Last contact point with the surface, on the side of the second end.
    pub r2: Vec3<T>,
    /// Length of the curve on the surface, m.
    pub length: T,
}

impl<T: Real> SurfaceCurve<T> {
    /// The curve on a surface that is that many times as large, between ends that many times as far away.
    pub(crate) fn times(self, s: T) -> Self {
        SurfaceCurve { r1: self.r1 * s, r2: self.r2 * s, length: self.length * s }
    }
}

/// Result for one segment and one surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attempt<T> {
    /// The segment does not touch the surface.
    Clear,
    /// An end is inside the surface, so there is no path around it.
    Inside,
    /// The surface was a candidate but no curve was found (a torus whose tube is not touched).
    Missed,
    /// The path may wrap around the surface here; another segment may do so with a shorter path.
    Optional(SurfaceCurve<T>),
    /// The segment intersects the surface: the path must wrap around it here.
    Mandatory(SurfaceCurve<T>),
}

impl<T: Real> Attempt<T> {
    /// The curve, if there is one.
    pub fn curve(&self) -> Option<&SurfaceCurve<T>> {
        match self {
            Attempt::Optional(c) | Attempt::Mandatory(c) => Some(c),
            _ => None,
        }
    }
    /// The same outcome with another kind of curve.
    fn map<S>(self, f: impl FnOnce(SurfaceCurve<T>) -> SurfaceCurve<S>) -> Attempt<S> {
        match self {
            Attempt::Clear => Attempt::Clear,
            Attempt::Inside => Attempt::Inside,
            Attempt::Missed => Attempt::Missed,
            Attempt::Optional(c) => Attempt::Optional(f(c)),
            Attempt::Mandatory(c) => Attempt::Mandatory(f(c)),
        }
    }
}

/// The half of a surface on which a path must lie: sign · x\[axis\] ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// +1 or −1.
    pub sign: f64,
}

impl Side {
    /// The side of a quadrant; `None` for the whole surface.
    pub fn new(quadrant: Quadrant) -> Option<Side> {
        match quadrant {
            Quadrant::All => None,
            Quadrant::Half { axis, positive } => {
                Some(Side { axis: usize::from(axis.min(2)), sign: if positive { 1.0 } else { -1.0 } })
            }
        }
    }
    /// Whether a coordinate is on this side; zero counts as positive.
    #[inline(always)]
    pub(crate) fn holds(&self, x: f64) -> bool {
        (x >= 0.0) == (self.sign > 0.0)
    }
}

/// A compiled wrap surface.
#[derive(Clone, Debug, PartialEq)]
pub enum Surface {
    /// See [`Cylinder`].
    Cylinder(Cylinder),
    /// See [`Sphere`].
    Sphere(Sphere),
    /// See [`Ellipsoid`].
    Ellipsoid(Ellipsoid),
    /// See [`Torus`].
    Torus(Torus),
}

impl Surface {
    /// Compiles a shape; `None` if its dimensions are invalid.
    pub fn new(shape: &WrapShape, quadrant: Quadrant, method: WrapMethod) -> Option<Surface> {
        let side = Side::new(quadrant);
        let ok = |x: f64| x.is_finite() && x >= 0.0;
        match *shape {
            WrapShape::Cylinder { radius, length } if ok(radius) && ok(length) => {
                Some(Surface::Cylinder(Cylinder::new(radius, length, side)))
            }
            WrapShape::Sphere { radius } if ok(radius) => Some(Surface::Sphere(Sphere::new(radius, side))),
            WrapShape::Ellipsoid { dimensions: d } if d.to_array().iter().all(|&x| ok(x) && x > 0.0) => {
                Some(Surface::Ellipsoid(Ellipsoid::new(d, side, method)))
            }
            WrapShape::Torus { inner_radius, outer_radius }
                if ok(inner_radius)
                    && ok(outer_radius)
                    && 0.0 < inner_radius
                    && inner_radius < outer_radius =>
            {
                Some(Surface::Torus(Torus::new(inner_radius, outer_radius, side)))
            }
            _ => None,
        }
    }

    /// Wraps the segment from `p1` to `p2`, given in the frame of the object, around the surface.
    ///
    /// `alone` means that the path has no other wrap object; OpenSim refines the tangency on cylinders only if there
    /// are several.
    #[inline]
    pub fn wrap<T: Real>(&self, p1: Vec3<T>, p2: Vec3<T>, alone: bool) -> Attempt<T> {
        match self {
            Surface::Cylinder(s) => s.wrap(p1, p2, alone),
            Surface::Sphere(s) => s.wrap(p1, p2),
            Surface::Ellipsoid(s) => s.wrap(p1, p2),
            Surface::Torus(s) => s.wrap(p1, p2, alone),
        }
    }

    /// What the curve changes by with one of the sizes of an ellipsoid (its semi-axes, 0 to 2) or of a torus (tube 0, circle 1),
    /// per metre; nothing without a curve.
    pub(crate) fn slope_by_size(
        &self,
        which: usize,
        p1: Vec3<f64>,
        p2: Vec3<f64>,
        alone: bool,
    ) -> Option<SurfaceCurve<f64>> {
        let (p1, p2) = (Vec3::<Dual<f64, 1>>::cst(p1), Vec3::cst(p2));
        let attempt = match self {
            Surface::Ellipsoid(s) => s.seeded(which).wrap(p1, p2),
            Surface::Torus(s) => s.seeded(which).wrap(p1, p2, alone),
            Surface::Cylinder(_) | Surface::Sphere(_) => Attempt::Clear,
        };
        let slope = |v: Vec3<Dual<f64, 1>>| Vec3 { x: v.x.d[0], y: v.y.d[0], z: v.z.d[0] };
        let curve = attempt.curve()?;
        Some(SurfaceCurve { r1: slope(curve.r1), r2: slope(curve.r2), length: curve.length.d[0] })
    }

    /// The same curve as [`wrap`](Self::wrap), with efficient derivatives.
    ///
    /// A curve depends on six numbers. For first derivatives along more directions, the 7 × 6 Jacobian is computed once
    /// and applied to the derivatives of the ends.
    pub fn wrap_with_derivatives<T: Real>(&self, p1: Vec3<T>, p2: Vec3<T>, alone: bool) -> Attempt<T> {
        let wide = size_of::<T>() > size_of::<Dual<f64, 6>>();
        if T::ORDER != 1 || !wide {
            return self.wrap(p1, p2, alone);
        }
        // Of these directions six are in use: another size would compile every surface again.
        type D = Along;
        let x = [p1.x, p1.y, p1.z, p2.x, p2.y, p2.z];
        let v = |i: usize| D::variable(x[i].value(), i);
        let attempt =
            self.wrap(Vec3 { x: v(0), y: v(1), z: v(2) }, Vec3 { x: v(3), y: v(4), z: v(5) }, alone);
        // x − value(x) has the value 0 and the derivatives of x.
        let dx = x.map(|x| x - x.value());
        let lift = |y: D| {
            let mut sum = T::cst(y.v);
            for (dx, slope) in dx.iter().zip(y.d) {
                sum += *dx * slope;
            }
            sum
        };
        let lift3 = |y: Vec3<D>| Vec3 { x: lift(y.x), y: lift(y.y), z: lift(y.z) };
        attempt.map(|c| SurfaceCurve { r1: lift3(c.r1), r2: lift3(c.r2), length: lift(c.length) })
    }
}

/// Square root that is flat at zero, where rounding may also leave a small negative number.
///
/// The places that use it have a true infinite slope there (a point on the surface itself, a curve
/// of no length); a derivative of zero keeps neighbouring terms from turning into NaN.
#[inline(always)]
pub(crate) fn sqrt_flat<T: Real>(x: T) -> T {
    x.where_at_most(T::zero(), T::zero, || x.sqrt())
}

/// The direction of a vector, or zero when it is shorter than the rounding unit.
#[inline(always)]
pub(crate) fn unit_or_zero<T: Real>(v: Vec3<T>) -> Vec3<T> {
    let n2 = v.norm_sq();
    if n2.value() >= f64::EPSILON * f64::EPSILON { v * n2.sqrt().recip() } else { Vec3::zero() }
}

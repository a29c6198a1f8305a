//! Compiled shapes, and their overlap.

use super::convex;
use super::mesh::MeshSurface;
use crate::{BodyFrame, Kinematics};
use soleus_math::{Real, SymMat33, Vec3};

/// A shape on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Frame of the shape.
    pub frame: BodyFrame,
    /// The shape, in that frame.
    pub shape: SurfaceShape,
}

/// Shapes for contacts.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceShape {
    /// x > 0.
    HalfSpace,
    /// Radius, m.
    Sphere(f64),
    /// Semi-axes, m.
    Ellipsoid(Vec3<f64>),
    /// Triangles.
    Mesh(Box<MeshSurface>),
    /// Cylinders and tori, which have no contact forces.
    Untouchable,
}

impl Surface {
    /// Centre of the bounding sphere, in ground, without derivatives.
    pub fn centre<T: Real>(&self, kin: &Kinematics<T>) -> Vec3<f64> {
        let p_BC = match &self.shape {
            SurfaceShape::Mesh(m) => self.frame.X_BF * m.centre,
            _ => self.frame.X_BF.p,
        };
        kin.point(self.frame.body, p_BC).value()
    }
    /// Radius of the bounding sphere, m.
    pub fn bounding_radius(&self) -> f64 {
        match &self.shape {
            SurfaceShape::Sphere(r) => *r,
            SurfaceShape::Ellipsoid(r) => r.x.max(r.y).max(r.z),
            SurfaceShape::Mesh(m) => m.radius,
            SurfaceShape::HalfSpace | SurfaceShape::Untouchable => f64::INFINITY,
        }
    }
}

/// Overlap of two surfaces near one point.
#[derive(Clone, Copy, Debug)]
pub struct PointContact<T: Real> {
    /// Middle of the overlap, in ground.
    pub point: Vec3<T>,
    /// From the first surface towards the second, in ground.
    pub normal: Vec3<T>,
    /// Depth of the overlap, m.
    pub depth: T,
    /// Effective radius of curvature, m.
    pub radius: T,
}

/// Overlap of two smooth convex surfaces.
pub mod point_contact {
    use super::*;

    /// Whether this pair is supported, half space first.
    pub fn applies(a: &Surface, b: &Surface) -> bool {
        use SurfaceShape::*;
        matches!((&a.shape, &b.shape), (HalfSpace | Sphere(_) | Ellipsoid(_), Sphere(_) | Ellipsoid(_)))
    }

    /// The overlap of `a` and `b`, if there is one. Semi-axes of spheres and ellipsoids are arguments, because they may
    /// have derivatives.
    #[inline]
    pub fn find<T: Real>(
        (a, r1): (&Surface, Vec3<T>),
        (b, r2): (&Surface, Vec3<T>),
        kin: &Kinematics<T>,
        compatible: bool,
    ) -> Option<PointContact<T>> {
        match (&a.shape, &b.shape) {
            (SurfaceShape::HalfSpace, SurfaceShape::Sphere(_)) => half_space_sphere(a, b, r2.x, kin),
            (SurfaceShape::Sphere(_), SurfaceShape::Sphere(_)) => sphere_sphere(a, r1.x, b, r2.x, kin),
            (SurfaceShape::HalfSpace, SurfaceShape::Ellipsoid(_)) => {
                half_space_ellipsoid(a, b, r2, kin, compatible)
            }
            (
                SurfaceShape::Sphere(_) | SurfaceShape::Ellipsoid(_),
                SurfaceShape::Sphere(_) | SurfaceShape::Ellipsoid(_),
            ) => convex::overlap(&ellipsoid(a, r1, kin), &ellipsoid(b, r2, kin)),
            _ => None,
        }
    }

    /// A sphere or an ellipsoid, in ground.
    #[inline]
    fn ellipsoid<T: Real>(e: &Surface, r: Vec3<T>, kin: &Kinematics<T>) -> convex::Ellipsoid<T> {
        let zero = T::zero();
        let [xx, yy, zz] = r.mul_elem(r).to_array();
        let X_GE = kin.pose(&e.frame);
        let Q = X_GE.R.reexpress(SymMat33 { xx, yy, zz, xy: zero, xz: zero, yz: zero });
        convex::Ellipsoid { centre: X_GE.p, Q, reach: e.bounding_radius() }
    }

    /// Whether surfaces at this depth do not touch. What records finds every contact, and those that push by their depth.
    #[inline(always)]
    fn apart<T: Real>(depth: T) -> bool {
        !T::RECORDS && depth.value() <= 0.0
    }

    /// Normal (out of the half space) and origin of a half space, in ground.
    #[inline]
    fn plane<T: Real>(h: &Surface, kin: &Kinematics<T>) -> (Vec3<T>, Vec3<T>) {
        let n = kin.X_GB[h.frame.body].R * Vec3::cst(-h.frame.X_BF.R.axis(0));
        (n, kin.point(h.frame.body, h.frame.X_BF.p))
    }

    /// d = r − (c − o)·n; the contact lies at c − (r − d/2) n.
    #[inline]
    fn half_space_sphere<T: Real>(
        h: &Surface,
        s: &Surface,
        r: T,
        kin: &Kinematics<T>,
    ) -> Option<PointContact<T>> {
        let (n, o) = plane(h, kin);
        let c = kin.point(s.frame.body, s.frame.X_BF.p);
        let depth = -(c - o).dot(n) + r;
        if apart(depth) {
            return None;
        }
        Some(PointContact { point: c + n * (depth * 0.5 - r), normal: n, depth, radius: r })
    }

    /// d = r₁ + r₂ − |c₂ − c₁|, R = r₁ r₂/(r₁ + r₂). Concentric spheres have no direction.
    #[inline]
    fn sphere_sphere<T: Real>(
        a: &Surface,
        r1: T,
        b: &Surface,
        r2: T,
        kin: &Kinematics<T>,
    ) -> Option<PointContact<T>> {
        let c1 = kin.point(a.frame.body, a.frame.X_BF.p);
        let delta = kin.point(b.frame.body, b.frame.X_BF.p) - c1;
        let reach = r1 + r2;
        let dist_sq = delta.norm_sq();
        if !T::RECORDS && (dist_sq.value() >= reach.value() * reach.value() || dist_sq.value() == 0.0) {
            return None;
        }
        let dist = dist_sq.sqrt();
        let depth = -dist + reach;
        let n = delta / dist;
        Some(PointContact { point: c1 + n * (depth * -0.5 + r1), normal: n, depth, radius: r1 * r2 / reach })
    }

    /// The deepest point of the ellipsoid with semi-axes r_i, in its own frame (n the outward
    /// normal of the half space there):
    ///
    ///   h² = Σ r_i² n_i²,   p = −(r_i² n_i)/h                                  (1)
    ///
    /// With V = r₁ r₂ r₃ the Gaussian curvature at p is h⁴/V², and the effective radius
    ///
    ///   R = √(R₁ R₂) = V/h²                                                    (2)
    ///
    /// Simbody takes the radii of the section through the *centre* instead, R = √(V/h): equal
    /// for a sphere, and what `compatible` asks for.
    #[inline]
    fn half_space_ellipsoid<T: Real>(
        h: &Surface,
        e: &Surface,
        r: Vec3<T>,
        kin: &Kinematics<T>,
        compatible: bool,
    ) -> Option<PointContact<T>> {
        let (n, o) = plane(h, kin);
        let X_GE = kin.pose(&e.frame);
        let n_E = X_GE.R.inverse_mul(n);
        let r_sq = r.mul_elem(r);
        // (1)
        let rn = n_E.mul_elem(r_sq);
        let h_sq = rn.dot(n_E);
        let support = h_sq.sqrt();
        let p = X_GE * (-(rn / support));
        let depth = -(p - o).dot(n);
        if apart(depth) {
            return None;
        }
        let volume = r.x * r.y * r.z;
        let radius = if compatible { (volume / support).sqrt() } else { volume / h_sq };
        Some(PointContact { point: p + n * (depth * 0.5), normal: n, depth, radius })
    }
}

//! Overlap of two ellipsoids, or of an ellipsoid and a sphere.

use super::geometry::PointContact;
use soleus_math::{Real, SymMat33, Vec3};

/// An ellipsoid in ground: centre c and Q = R diag(r²) Rᵀ, so that its extent along a unit
/// vector n is h = √(nᵀQn), reached at c + Qn/h.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsoid<T: Real> {
    /// Centre.
    pub centre: Vec3<T>,
    /// Q, m².
    pub Q: SymMat33<T>,
    /// Largest semi-axis, m.
    pub reach: f64,
}

/// Extent h along n, the point Qn/h and, as a function, the map M = ∂(Qn/h)/∂n, which on the
/// tangent plane is the inverse of the surface's curvature.
struct Support<T: Real> {
    h: T,
    s: Vec3<T>,
    Q: SymMat33<T>,
}

impl<T: Real> Support<T> {
    #[inline]
    fn new(Q: SymMat33<T>, n: Vec3<T>) -> Self {
        let Qn = Q * n;
        let h = Qn.dot(n).sqrt();
        Support { h, s: Qn / h, Q }
    }
    /// aᵀ M b = (aᵀQb − (a·s)(b·s))/h.
    #[inline]
    fn M(&self, a: Vec3<T>, b: Vec3<T>) -> T {
        (a.dot(self.Q * b) - a.dot(self.s) * b.dot(self.s)) / self.h
    }
    /// M on the basis (a, b): (M_aa, M_ab, M_bb).
    #[inline]
    fn tangent(&self, a: Vec3<T>, b: Vec3<T>) -> [T; 3] {
        [self.M(a, a), self.M(a, b), self.M(b, b)]
    }
}

#[inline]
fn det<T: Real>([a, b, c]: [T; 3]) -> T {
    a * c - b * b
}

/// A unit vector square to n, and their product.
fn tangents(n: Vec3<f64>) -> [Vec3<f64>; 2] {
    let e = if n.x.abs() > 0.5 { Vec3::unit(1) } else { Vec3::unit(0) };
    let e1 = n.cross(e).normalized();
    [e1, n.cross(e1)]
}

// Newton's method is quadratic and the start is good; what is not there after this many
// iterations will not come.
const MAX_ITERATIONS: usize = 50;

/// The overlap, with its normal pointing from `a` to `b`; `None` if a plane separates them.
///
/// The depth along n is d(n) = n·w, w = c_a − c_b + s_a(n) + s_b(n). Its least value over unit
/// vectors is the depth of the overlap, and there w ∥ n:
///
///   r = Pw = 0,   ∂r/∂n = P (M_a + M_b) P − d P,   P = 1 − nnᵀ                       (1)
///
/// The contact lies midway between the two deepest points. With K = M_a⁻¹ + M_b⁻¹ the relative
/// curvature, the effective radius is
///
///   R = det(K)^(−1/2) = √(det M_a det M_b/det(M_a + M_b))                            (2)
///
/// The root is found in `f64`; derivatives follow from (1) by the implicit function theorem.
pub fn overlap<T: Real>(a: &Ellipsoid<T>, b: &Ellipsoid<T>) -> Option<PointContact<T>> {
    let apart = b.centre - a.centre;
    let distance_sq = apart.value().norm_sq();
    let reach = a.reach + b.reach;
    // Concentric bodies have no direction to part in.
    if distance_sq >= reach * reach || distance_sq == 0.0 {
        return None;
    }
    let n0 = deepest(&value(a), &value(b))?;
    let [e1, e2] = tangents(n0);

    // n = n0 + x e1 + y e2, normalized; (x, y) = 0 carries the derivatives.
    let (mut x, mut y) = (T::zero(), T::zero());
    let direction = |x: T, y: T| (Vec3::cst(n0) + Vec3::cst(e1) * x + Vec3::cst(e2) * y).normalized();
    for _ in 0..T::ORDER {
        let n = direction(x, y);
        let (t1, t2) = (Vec3::cst(e1), Vec3::cst(e2));
        let (A, B) = (Support::new(a.Q, n), Support::new(b.Q, n));
        let w = A.s + B.s - apart;
        let d = w.dot(n);
        let square = w - n * d;
        let [j11, j12, j22] = hessian(&A, &B, t1, t2, d);
        let (r1, r2) = (square.dot(t1), square.dot(t2));
        let det = j11 * j22 - j12 * j12;
        x = x.refine((r1 * j22 - r2 * j12) / det, T::one());
        y = y.refine((r2 * j11 - r1 * j12) / det, T::one());
    }

    let n = direction(x, y);
    let (A, B) = (Support::new(a.Q, n), Support::new(b.Q, n));
    let (p_a, p_b) = (a.centre + A.s, b.centre - B.s);
    // (2) on a basis that stays square to n.
    let t1 = (Vec3::cst(e1) - n * n.dot(Vec3::cst(e1))).normalized();
    let t2 = n.cross(t1);
    let (M_a, M_b) = (A.tangent(t1, t2), B.tangent(t1, t2));
    let sum = [M_a[0] + M_b[0], M_a[1] + M_b[1], M_a[2] + M_b[2]];
    Some(PointContact {
        point: (p_a + p_b) * T::cst(0.5),
        normal: n,
        depth: (p_a - p_b).dot(n),
        radius: (det(M_a) * det(M_b) / det(sum)).sqrt(),
    })
}

fn value<T: Real>(e: &Ellipsoid<T>) -> Ellipsoid<f64> {
    let q = e.Q;
    let Q = SymMat33 {
        xx: q.xx.value(),
        yy: q.yy.value(),
        zz: q.zz.value(),
        xy: q.xy.value(),
        xz: q.xz.value(),
        yz: q.yz.value(),
    };
    Ellipsoid { centre: e.centre.value(), Q, reach: e.reach }
}

/// Second derivatives of d on the sphere, (1).
#[inline]
fn hessian<T: Real>(A: &Support<T>, B: &Support<T>, t1: Vec3<T>, t2: Vec3<T>, d: T) -> [T; 3] {
    let (M_a, M_b) = (A.tangent(t1, t2), B.tangent(t1, t2));
    [M_a[0] + M_b[0] - d, M_a[1] + M_b[1], M_a[2] + M_b[2] - d]
}

/// The unit vector of least depth; `None` as soon as one with no depth is met.
fn deepest(a: &Ellipsoid<f64>, b: &Ellipsoid<f64>) -> Option<Vec3<f64>> {
    let apart = b.centre - a.centre;
    let depth = |n: Vec3<f64>| (Support::new(a.Q, n).s + Support::new(b.Q, n).s - apart).dot(n);
    let mut n = apart.normalized();
    let mut d = depth(n);
    for _ in 0..MAX_ITERATIONS {
        if d <= 0.0 {
            return None;
        }
        let [e1, e2] = tangents(n);
        let (A, B) = (Support::new(a.Q, n), Support::new(b.Q, n));
        let w = A.s + B.s - apart;
        let (r1, r2) = (w.dot(e1), w.dot(e2));
        let [mut j11, j12, mut j22] = hessian(&A, &B, e1, e2, d);
        // Away from the minimum the Hessian may be indefinite: lift it until it is not.
        let mean = 0.5 * (j11 + j22);
        let lowest = mean - (0.25 * (j11 - j22) * (j11 - j22) + j12 * j12).sqrt();
        let floor = 1e-3 * (A.h + B.h);
        if lowest < floor {
            j11 += floor - lowest;
            j22 += floor - lowest;
        }
        let det = j11 * j22 - j12 * j12;
        let (dx, dy) = ((r1 * j22 - r2 * j12) / det, (r2 * j11 - r1 * j12) / det);
        // Halve the step until the depth falls; at the minimum rounding stops it.
        let mut step = 1.0;
        let (next, next_depth) = loop {
            let next = (n - e1 * (step * dx) - e2 * (step * dy)).normalized();
            let next_depth = depth(next);
            if next_depth <= d || step < 1e-3 {
                break (next, next_depth);
            }
            step *= 0.5;
        };
        let moved = (next - n).norm();
        if next_depth <= d || moved < 1e-7 {
            (n, d) = (next, next_depth);
        }
        if moved < 4.0 * f64::EPSILON || next_depth > d {
            break;
        }
    }
    (d > 0.0).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::vec3;

    fn ball(r: f64, centre: Vec3<f64>) -> Ellipsoid<f64> {
        Ellipsoid { centre, Q: SymMat33 { xx: r * r, yy: r * r, zz: r * r, ..Default::default() }, reach: r }
    }

    /// Two spheres: d = r₁ + r₂ − distance, R = r₁ r₂/(r₁ + r₂).
    #[test]
    fn analytic_two_spheres() {
        let (a, b) = (ball(0.3, vec3(0.1, 0.0, 0.0)), ball(0.2, vec3(0.1, 0.24, 0.32)));
        let c = overlap(&a, &b).unwrap();
        assert!((c.depth - 0.1).abs() < 1e-15 && (c.radius - 0.12).abs() < 1e-15, "{c:?}");
        assert!((c.normal - vec3(0.0, 0.6, 0.8)).norm() < 1e-15);
        assert!((c.point - vec3(0.1, 0.25 * 0.6, 0.25 * 0.8)).norm() < 1e-15);
        assert!(overlap(&a, &ball(0.2, vec3(0.1, 0.3, 0.4))).is_none());
        // Concentric: nowhere to go, and nothing breaks.
        assert!(overlap(&a, &a).is_none());
    }

    /// Flat side on flat side: semi-axes (a, b, c) meeting a ball of radius r along c, where the
    /// radii of curvature are a²/c and b²/c.
    #[test]
    fn analytic_pole_of_an_ellipsoid() {
        let (a, b, c, r) = (0.3, 0.2, 0.1, 0.15);
        let flat = Ellipsoid {
            centre: Vec3::zero(),
            Q: SymMat33 { xx: a * a, yy: b * b, zz: c * c, ..Default::default() },
            reach: a,
        };
        let contact = overlap(&flat, &ball(r, vec3(0.0, 0.0, 0.24))).unwrap();
        let curvature = |x: f64| c / (x * x) + 1.0 / r;
        let expected = 1.0 / f64::sqrt(curvature(a) * curvature(b));
        assert!((contact.depth - 0.01).abs() < 1e-15, "{contact:?}");
        assert!((contact.radius - expected).abs() < 1e-15);
    }
}

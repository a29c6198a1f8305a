//! The surfaces of obstacles, as level sets f(x) = 0 with f < 0 inside.

use soleus_math::{Real, Vec3, vec3};
use soleus_model::contact::ContactShape;

/// A surface in the frame of its contact geometry; cylinder and torus have z as their axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Obstacle {
    Sphere { radius: f64 },
    Cylinder { radius: f64 },
    Ellipsoid { radii: Vec3<f64> },
    Torus { circle: f64, tube: f64 },
}

impl Obstacle {
    /// The surface of a shape; nothing for a shape that paths cannot lie on, or whose sizes make no smooth surface.
    pub fn new(shape: &ContactShape) -> Option<Obstacle> {
        let above_zero = |sizes: &[f64]| sizes.iter().all(|x| *x > 0.0 && x.is_finite());
        let (surface, fits) = match *shape {
            ContactShape::Sphere { radius } => (Obstacle::Sphere { radius }, above_zero(&[radius])),
            ContactShape::Cylinder { radius } => (Obstacle::Cylinder { radius }, above_zero(&[radius])),
            ContactShape::Ellipsoid { radii } => {
                (Obstacle::Ellipsoid { radii }, above_zero(&radii.to_array()))
            }
            ContactShape::Torus { torus_radius: circle, tube_radius: tube } => {
                (Obstacle::Torus { circle, tube }, above_zero(&[circle, tube]) && circle > tube)
            }
            ContactShape::HalfSpace | ContactShape::Mesh { .. } => return None,
        };
        fits.then_some(surface)
    }

    /// f, without unit, −1 where the surface is farthest away inside.
    pub fn value<S: Real>(&self, x: Vec3<S>) -> S {
        match *self {
            Obstacle::Sphere { radius } => x.norm_sq() / (radius * radius) - 1.0,
            Obstacle::Cylinder { radius } => (x.x.sq() + x.y.sq()) / (radius * radius) - 1.0,
            Obstacle::Ellipsoid { radii } => {
                x.mul_elem(Vec3::cst(vec3(1.0 / radii.x, 1.0 / radii.y, 1.0 / radii.z))).norm_sq() - 1.0
            }
            Obstacle::Torus { circle, tube } => {
                let off = (x.x.sq() + x.y.sq()).sqrt() - circle;
                (off.sq() + x.z.sq()) / (tube * tube) - 1.0
            }
        }
    }

    /// ∂f/∂x, which points outwards.
    #[inline]
    pub fn gradient<S: Real>(&self, x: Vec3<S>) -> Vec3<S> {
        match *self {
            Obstacle::Sphere { radius } => x * S::cst(2.0 / (radius * radius)),
            Obstacle::Cylinder { radius } => vec3(x.x, x.y, S::zero()) * S::cst(2.0 / (radius * radius)),
            Obstacle::Ellipsoid { radii } => x.mul_elem(Vec3::cst(inverse_squares(radii))),
            Obstacle::Torus { circle, tube } => {
                let k = S::one() - (x.x.sq() + x.y.sq()).sqrt().recip() * circle;
                vec3(x.x * k, x.y * k, x.z) * S::cst(2.0 / (tube * tube))
            }
        }
    }

    /// (∂²f/∂x²) v.
    #[inline]
    pub fn hessian_times<S: Real>(&self, x: Vec3<S>, v: Vec3<S>) -> Vec3<S> {
        match *self {
            Obstacle::Sphere { radius } => v * S::cst(2.0 / (radius * radius)),
            Obstacle::Cylinder { radius } => vec3(v.x, v.y, S::zero()) * S::cst(2.0 / (radius * radius)),
            Obstacle::Ellipsoid { radii } => v.mul_elem(Vec3::cst(inverse_squares(radii))),
            Obstacle::Torus { circle, tube } => {
                let inv_rho = (x.x.sq() + x.y.sq()).sqrt().recip();
                let k = S::one() - inv_rho * circle;
                let along = (x.x * v.x + x.y * v.y) * inv_rho * inv_rho * inv_rho * circle;
                vec3(v.x * k + x.x * along, v.y * k + x.y * along, v.z) * S::cst(2.0 / (tube * tube))
            }
        }
    }

    /// Unit normal outwards.
    #[inline]
    pub fn normal<S: Real>(&self, x: Vec3<S>) -> Vec3<S> {
        self.gradient(x).normalized()
    }

    /// A point of the surface near x, smoothly, and x itself if it is on the surface: the nearest one, on an ellipsoid the one
    /// on the ray from the centre. Not a number where x has no such point (a centre, an axis).
    pub fn project<S: Real>(&self, x: Vec3<S>) -> Vec3<S> {
        match *self {
            Obstacle::Sphere { radius } => x * (x.norm().recip() * radius),
            Obstacle::Cylinder { radius } => {
                let k = (x.x.sq() + x.y.sq()).sqrt().recip() * radius;
                vec3(x.x * k, x.y * k, x.z)
            }
            Obstacle::Ellipsoid { .. } => x * (self.value(x) + 1.0).sqrt().recip(),
            Obstacle::Torus { circle, tube } => {
                let k = (x.x.sq() + x.y.sq()).sqrt().recip() * circle;
                let centre = vec3(x.x * k, x.y * k, S::zero());
                centre + (x - centre).normalized() * S::cst(tube)
            }
        }
    }

    /// How much there is to follow at x, 1/m: a bound of the curvatures and of how fast they change.
    pub fn largest_curvature(&self, x: Vec3<f64>) -> f64 {
        match *self {
            Obstacle::Sphere { radius } | Obstacle::Cylinder { radius } => 1.0 / radius,
            Obstacle::Ellipsoid { radii } => {
                // Both principal curvatures are positive, so that their sum bounds each; twice that, since they change, too.
                let g = self.gradient(x);
                let n = g.normalized();
                let across = vec3(1.0 - n.x * n.x, 1.0 - n.y * n.y, 1.0 - n.z * n.z);
                2.0 * inverse_squares(radii).dot(across) / g.norm()
            }
            Obstacle::Torus { circle, tube } => (1.0 / tube).max(1.0 / (circle - tube)),
        }
    }

    /// A point of the segment from a to b inside, the whole of it considered; nothing where it stays outside.
    pub fn deepest(&self, a: Vec3<f64>, b: Vec3<f64>) -> Option<Vec3<f64>> {
        if !matches!(self, Obstacle::Torus { .. }) {
            return self.touchdown(a, b, &mut Vec3::zero());
        }
        // A line meets a torus in up to four points: looked for from several places.
        (0..=LINE_STARTS).find_map(|k| {
            let mut near = a + (b - a) * (k as f64 / LINE_STARTS as f64);
            self.touchdown(a, b, &mut near)
        })
    }

    /// Where the segment from a to b is deepest inside, if it goes inside at all; otherwise nothing.
    ///
    /// `near` is where a torus, whose f has several minima along a line, starts to look; it is left where the line comes
    /// nearest, as in Simbody's `calcNearestPointOnLineImplicitly`.
    pub fn touchdown(&self, a: Vec3<f64>, b: Vec3<f64>, near: &mut Vec3<f64>) -> Option<Vec3<f64>> {
        let d = b - a;
        if d.norm_sq() < f64::EPSILON {
            *near = a;
            return (self.value(a) < -CLEAR).then_some(a);
        }
        // Along a line f is a quadratic: one Newton step from anywhere. A torus takes damped ones.
        let is_quadratic = !matches!(self, Obstacle::Torus { .. });
        let mut s = match is_quadratic {
            true => {
                let curvature = d.dot(self.hessian_times(a, d));
                if curvature > 0.0 { -d.dot(self.gradient(a)) / curvature } else { 0.0 }
            }
            false => d.dot(*near - a) / d.norm_sq(),
        }
        .clamp(0.0, 1.0);
        for _ in 0..MAX_LINE_STEPS {
            let x = a + d * s;
            *near = x;
            if self.value(x) < -CLEAR {
                return Some(x);
            }
            if is_quadratic {
                return None;
            }
            let step = d.dot(self.gradient(x)) / (d.dot(self.hessian_times(x, d)).abs() + 0.5);
            let next = (s - step.clamp(-0.2, 0.2)).clamp(0.0, 1.0);
            if (next - s).abs() < 1e-9 {
                return None;
            }
            s = next;
        }
        None
    }
}

/// A line whose f stays above minus this does not go inside: it touches within rounding.
const CLEAR: f64 = 1e-13;
/// Places of a line from which a way into a torus is looked for.
const LINE_STARTS: usize = 16;
/// Most steps along a line (Simbody: 50).
const MAX_LINE_STEPS: usize = 50;

fn inverse_squares(radii: Vec3<f64>) -> Vec3<f64> {
    vec3(2.0 / (radii.x * radii.x), 2.0 / (radii.y * radii.y), 2.0 / (radii.z * radii.z))
}

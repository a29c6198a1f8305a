//! Geodesics from a point in a direction, and the dependence of their ends on their start.

use super::surface::Obstacle;
use soleus_math::{Real, Vec3, vec3};

/// Place, tangent t and outward normal n of a curve on a surface; b = t × n completes the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frenet<S> {
    pub p: Vec3<S>,
    pub t: Vec3<S>,
    pub n: Vec3<S>,
}

impl<S: Real> Frenet<S> {
    pub fn b(&self) -> Vec3<S> {
        self.t.cross(self.n)
    }
}

/// Curvatures of a surface at a point of a curve, 1/m: t′ = κ n along the curve, κ_b across it, and the torsion τ = b·n′.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Curvatures {
    pub along: f64,
    pub across: f64,
    pub torsion: f64,
}

impl Curvatures {
    pub fn new(surface: &Obstacle, at: &Frenet<f64>) -> Self {
        let (b, size) = (at.b(), surface.gradient(at.p).norm());
        let (Ht, Hb) = (surface.hessian_times(at.p, at.t), surface.hessian_times(at.p, b));
        Curvatures { along: -at.t.dot(Ht) / size, across: -b.dot(Hb) / size, torsion: b.dot(Ht) / size }
    }
}

/// Jacobi fields at the end of a geodesic: where it goes across when its start moves across (a) or turns (r), and their slopes
/// by arc length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jacobi<S> {
    pub a: S,
    pub a_dot: S,
    pub r: S,
    pub r_dot: S,
}

impl<S: Real> Jacobi<S> {
    fn start() -> Self {
        Jacobi { a: S::one(), a_dot: S::zero(), r: S::zero(), r_dot: S::one() }
    }
}

/// A geodesic: its ends and the Jacobi fields at the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geodesic<S> {
    pub start: Frenet<S>,
    pub end: Frenet<S>,
    pub jacobi: Jacobi<S>,
}

/// The geodesic of a length from the surface point near `p` in the direction nearest to `d`.
///
/// In closed form on sphere and cylinder; otherwise by integrating over arc length s
///
///   x″ = −(x′ᵀ H x′)/|g|² g,    a″ = −K a,    r″ = −K r                             (1)
///
/// where g and H are gradient and Hessian of f and K is the Gaussian curvature. Without `JACOBI` the fields a, r are left at
/// their start.
///
/// Source: Scholz et al. (2015).
pub(super) fn shoot<S: Real, const JACOBI: bool>(
    surface: &Obstacle,
    p: Vec3<S>,
    d: Vec3<S>,
    length: S,
) -> Geodesic<S> {
    let start = frenet(surface, surface.project(p), d);
    let mut jacobi = Jacobi::start();
    let end = match *surface {
        Obstacle::Sphere { radius } => {
            let (sin, cos) = (length / radius).sin_cos();
            jacobi = Jacobi { a: cos, a_dot: -sin / radius, r: sin * radius, r_dot: cos };
            let n = start.n * cos + start.t * sin;
            Frenet { p: n * S::cst(radius), t: start.t * cos - start.n * sin, n }
        }
        Obstacle::Cylinder { radius } => {
            jacobi.r = length;
            let round = vec3(-start.n.y, start.n.x, S::zero());
            let (turn, rise) = (start.t.dot(round), start.t.z);
            let (sin, cos) = (length * turn / radius).sin_cos();
            let n = start.n * cos + round * sin;
            let axis = vec3(S::zero(), S::zero(), S::one());
            let p = n * S::cst(radius) + axis * (start.p.z + length * rise);
            Frenet { p, t: vec3(-n.y, n.x, S::zero()) * turn + axis * rise, n }
        }
        Obstacle::Ellipsoid { .. } | Obstacle::Torus { .. } => {
            let mut y = Point { x: start.p, v: start.t, j: Jacobi::start() };
            let mut left = length;
            for count in 0.. {
                if count == MAX_STEPS {
                    y.x = y.x * S::cst(f64::NAN);
                    break;
                }
                let h = step_size(surface, y.x.value(), y.v.value());
                if left.value() <= h {
                    y = step::<S, JACOBI>(surface, &y, left);
                    break;
                }
                y = step::<S, JACOBI>(surface, &y, S::cst(h));
                left -= S::cst(h);
            }
            jacobi = y.j;
            frenet(surface, surface.project(y.x), y.v)
        }
    };
    Geodesic { start, end, jacobi }
}

/// The frame at a surface point with its tangent along the direction.
fn frenet<S: Real>(surface: &Obstacle, p: Vec3<S>, d: Vec3<S>) -> Frenet<S> {
    let n = surface.normal(p);
    Frenet { p, t: (d - n * n.dot(d)).normalized(), n }
}

/// A step turns the normal by about this angle, rad. The error of order 9 is then about 1e-13 of a radius per step; see
/// `order_geodesic_integration`.
const TURN_OF_A_STEP: f64 = 0.1;

/// Most steps of a geodesic: 16 turns. One that needs more, or is not a number, is none.
const MAX_STEPS: usize = 1000;

/// A step that suits the curvature from x on along v, m.
fn step_size(surface: &Obstacle, x: Vec3<f64>, v: Vec3<f64>) -> f64 {
    let mut h = TURN_OF_A_STEP / surface.largest_curvature(x);
    // Where the surface bends more ahead, the step has to suit it there.
    for _ in 0..30 {
        let ahead = TURN_OF_A_STEP / surface.largest_curvature(surface.project(x + v * h));
        if h <= 1.25 * ahead {
            break;
        }
        h *= 0.7;
    }
    h
}

/// A state of (1), or its slope.
#[derive(Clone, Copy)]
struct Point<S> {
    x: Vec3<S>,
    v: Vec3<S>,
    j: Jacobi<S>,
}

/// √21.
const Q: f64 = 4.58257569495584;
/// How much of the slopes before goes into the point of the next.
const TABLE: [&[(usize, f64)]; 10] = [
    &[(0, 0.5)],
    &[(0, 0.25), (1, 0.25)],
    &[(0, 1.0 / 7.0), (1, (-7.0 - 3.0 * Q) / 98.0), (2, (21.0 + 5.0 * Q) / 49.0)],
    &[(0, (11.0 + Q) / 84.0), (2, (18.0 + 4.0 * Q) / 63.0), (3, (21.0 - Q) / 252.0)],
    &[
        (0, (5.0 + Q) / 48.0),
        (2, (9.0 + Q) / 36.0),
        (3, (-231.0 + 14.0 * Q) / 360.0),
        (4, (63.0 - 7.0 * Q) / 80.0),
    ],
    &[
        (0, (10.0 - Q) / 42.0),
        (2, (-432.0 + 92.0 * Q) / 315.0),
        (3, (633.0 - 145.0 * Q) / 90.0),
        (4, (-504.0 + 115.0 * Q) / 70.0),
        (5, (63.0 - 13.0 * Q) / 35.0),
    ],
    &[(0, 1.0 / 14.0), (4, (14.0 - 3.0 * Q) / 126.0), (5, (13.0 - 3.0 * Q) / 63.0), (6, 1.0 / 9.0)],
    &[
        (0, 1.0 / 32.0),
        (4, (91.0 - 21.0 * Q) / 576.0),
        (5, 11.0 / 72.0),
        (6, (-385.0 - 75.0 * Q) / 1152.0),
        (7, (63.0 + 13.0 * Q) / 128.0),
    ],
    &[
        (0, 1.0 / 14.0),
        (4, 1.0 / 9.0),
        (5, (-733.0 - 147.0 * Q) / 2205.0),
        (6, (515.0 + 111.0 * Q) / 504.0),
        (7, (-51.0 - 11.0 * Q) / 56.0),
        (8, (132.0 + 28.0 * Q) / 245.0),
    ],
    &[
        (4, (-42.0 + 7.0 * Q) / 18.0),
        (5, (-18.0 + 28.0 * Q) / 45.0),
        (6, (-273.0 - 53.0 * Q) / 72.0),
        (7, (301.0 + 53.0 * Q) / 72.0),
        (8, (28.0 - 28.0 * Q) / 45.0),
        (9, (49.0 - 7.0 * Q) / 18.0),
    ],
];
/// How much of each slope goes into the step.
const WEIGHTS: [(usize, f64); 5] =
    [(0, 0.05), (7, 49.0 / 180.0), (8, 16.0 / 45.0), (9, 49.0 / 180.0), (10, 0.05)];

/// One step of length h by the method of order 8 with 11 stages of Cooper and Verner (1972).
fn step<S: Real, const JACOBI: bool>(surface: &Obstacle, y: &Point<S>, h: S) -> Point<S> {
    let mut k = [slope::<S, JACOBI>(surface, y); 11];
    for (i, row) in TABLE.iter().enumerate() {
        k[i + 1] = slope::<S, JACOBI>(surface, &ahead::<S, JACOBI>(y, h, row, &k));
    }
    ahead::<S, JACOBI>(y, h, &WEIGHTS, &k)
}

/// y + h Σ c k.
fn ahead<S: Real, const JACOBI: bool>(
    y: &Point<S>,
    h: S,
    row: &[(usize, f64)],
    k: &[Point<S>; 11],
) -> Point<S> {
    let mut out = *y;
    for &(i, c) in row {
        let (k, c) = (&k[i], h * c);
        out.x += k.x * c;
        out.v += k.v * c;
        if JACOBI {
            out.j.a += k.j.a * c;
            out.j.a_dot += k.j.a_dot * c;
            out.j.r += k.j.r * c;
            out.j.r_dot += k.j.r_dot * c;
        }
    }
    out
}

/// Slopes of (1).
fn slope<S: Real, const JACOBI: bool>(surface: &Obstacle, y: &Point<S>) -> Point<S> {
    let g = surface.gradient(y.x);
    let inverse = g.norm_sq().recip();
    let Hv = surface.hessian_times(y.x, y.v);
    let vHv = y.v.dot(Hv);
    let mut j = y.j;
    if JACOBI {
        // K = (κ_t κ_b − τ²), with b across v in the tangent plane; v stays a unit vector.
        let w = y.v.cross(g);
        let Hw = surface.hessian_times(y.x, w);
        let K = (vHv * w.dot(Hw) - w.dot(Hv).sq()) * inverse * inverse;
        j = Jacobi { a: y.j.a_dot, a_dot: -(K * y.j.a), r: y.j.r_dot, r_dot: -(K * y.j.r) };
    }
    Point { x: y.v, v: g * -(vHv * inverse), j }
}

/// The end of a geodesic in steps of one size.
#[cfg(test)]
pub(super) fn integrate<S: Real>(
    surface: &Obstacle,
    p: Vec3<S>,
    d: Vec3<S>,
    length: S,
    steps: usize,
) -> Vec3<S> {
    let start = frenet(surface, p, d);
    let mut y = Point { x: start.p, v: start.t, j: Jacobi::start() };
    for _ in 0..steps {
        y = step::<S, false>(surface, &y, length / steps as f64);
    }
    y.x
}

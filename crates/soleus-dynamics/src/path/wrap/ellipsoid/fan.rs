//! The mean direction from a chord of an ellipsoid to its surface.

use super::closest::Closest;
use super::unit_or_zero;
use soleus_math::{Mat33, Real, Vec3};

/// The chord is divided into this many parts; their ends, but for three, are used (OpenSim 4.6).
const PARTS: usize = 300;
/// Points whose roots are sought side by side, which the compiler turns into vector instructions.
const LANES: usize = 8;
/// Newton steps taken side by side from guesses that continue the roots so far as a parabola.
const COMMON_STEPS: usize = 3;
/// Newton steps from a good guess before the search starts anew.
const MAX_STEPS: usize = 6;
/// Residual at which a root found from a guess counts; well below the 1e-9 of a search from afar.
const RESIDUAL: f64 = 1e-12;
/// Below this product of slope and distance from the pole, a search from afar stops visibly short of the
/// root (see [`Closest`]) and only that search gives the value wanted.
const CREEPING: f64 = 1e-3;

/// Sum over points q of the chord `r` + s `d`, s in (0, 1), of the unit vectors to their closest points.
///
/// The vector from q to its closest point is along the normal there, qᵢ/(t + aᵢ²) in the terms of
/// [`Closest`]. The roots t of neighbouring points are close, so each starts the search for the next.
/// The sum agrees with one over separate searches within the tolerance of those, some 1e-11.
///
/// First derivatives are summed as two 3 × 3 matrices, ∂sum/∂r and ∂sum/∂d, from
///
///   m = qᵢ wᵢ,  wᵢ = 1/(t + aᵢ²),  v = m/|m|
///   dt = Σ aᵢ² qᵢ wᵢ² dqᵢ / Σ aᵢ² qᵢ² wᵢ³
///   dv = (1 − v vᵀ) (wᵢ dqᵢ − qᵢ wᵢ² dt)/|m|
///
/// Source: the fan of OpenSim 4.6, `WrapEllipsoid`.
pub(super) fn fan_sum<T: Real>(closest: &Closest, r: Vec3<T>, d: Vec3<T>) -> Vec3<T> {
    let (r0, d0) = (r.value(), d.value());
    let mut sum = Vec3::<f64>::zero();
    let (mut by_r, mut by_d) = (Mat33::<f64>::default(), Mat33::<f64>::default());
    // Derivatives that do not come from the matrices; its value is zero.
    let mut extra = Vec3::<T>::zero();
    // Roots of the last lanes, to guess the next ones from.
    let mut known: Option<[f64; LANES]> = None;
    let mut lanes = [0.0; LANES];
    for i in 1..PARTS - 1 {
        let lane = (i - 1) % LANES;
        if lane == 0 {
            lanes = guesses(known);
            improve(closest, r0, d0, i, &mut lanes);
        }
        let s = i as f64 / PARTS as f64;
        let q = r0 + d0 * s;
        let root = root_near(closest, q, lanes[lane]);
        lanes[lane] = root.map_or(f64::NAN, |(t, _)| t);
        if lane == LANES - 1 {
            known = lanes.iter().all(|t| !t.is_nan()).then_some(lanes);
        }
        let Some((t, true)) = root else {
            let q = r + d * T::cst(s);
            let v = unit_or_zero(closest.on_ellipsoid(q) - q);
            sum += v.value();
            extra += only_derivatives(v);
            continue;
        };
        let v = normal(closest.a_sq, q, t);
        sum += v;
        if T::ORDER == 1 {
            let J = normal_slope(closest.a_sq, q, t, v);
            for k in 0..3 {
                by_r.col[k] += J.col[k];
                by_d.col[k] += J.col[k] * s;
            }
        } else if T::ORDER > 1 {
            let q = r + d * T::cst(s);
            let a = Vec3::cst(closest.a);
            let m = q.mul_elem(a).mul_elem(q.mul_elem(a));
            let mut t = T::cst(t);
            for _ in 0..T::ORDER {
                let (f, slope) = closest.sextic(m, t);
                t = t.refine(f, slope);
            }
            extra += only_derivatives(normal(closest.a_sq, q, t));
        }
    }
    let mut out = Vec3::cst(sum);
    if T::ORDER > 0 {
        out += extra;
    }
    if T::ORDER == 1 {
        out += Mat33::cst(by_r) * only_derivatives(r) + Mat33::cst(by_d) * only_derivatives(d);
    }
    out
}

/// Guesses for the next lanes from the last ones: the parabola through the first, fifth and last.
fn guesses(known: Option<[f64; LANES]>) -> [f64; LANES] {
    let Some(t) = known else {
        return [0.0; LANES];
    };
    // Divided differences at 0, 4 and 7.
    let slope = (t[7] - t[4]) / 3.0;
    let bend = (slope - (t[4] - t[0]) / 4.0) / 7.0;
    std::array::from_fn(|k| {
        let x = (k + 1) as f64;
        t[7] + x * (slope + (x + 3.0) * bend)
    })
}

/// Takes the common Newton steps for the points `first`, `first` + 1, … of the chord.
#[inline(always)]
fn improve(closest: &Closest, r: Vec3<f64>, d: Vec3<f64>, first: usize, t: &mut [f64; LANES]) {
    let mut m = [Vec3::zero(); LANES];
    for (k, m) in m.iter_mut().enumerate() {
        let q = (r + d * ((first + k) as f64 / PARTS as f64)).mul_elem(closest.a);
        *m = q.mul_elem(q);
    }
    for _ in 0..COMMON_STEPS {
        for (t, m) in t.iter_mut().zip(&m) {
            let (f, slope) = closest.sextic(*m, *t);
            *t -= f / slope;
        }
    }
}

/// The root for `q` by Newton's method from `guess`, if it leads there, and whether a search from afar
/// finds the same.
#[inline(always)]
fn root_near(closest: &Closest, q: Vec3<f64>, guess: f64) -> Option<(f64, bool)> {
    let m = q.mul_elem(closest.a).mul_elem(q.mul_elem(closest.a));
    let mut t = guess;
    for _ in 0..MAX_STEPS {
        let (f, slope) = closest.sextic(m, t);
        if f.abs() < RESIDUAL {
            let room = t + closest.least_a_sq;
            // The root of a point inside is negative, and the largest one is the only one above −min a².
            return (t < 0.0 && room > 0.0).then_some((t, slope * room > CREEPING));
        }
        t -= f / slope;
    }
    None
}

/// The unit normal at the closest point of a point inside, qᵢ/(t + aᵢ²) up to its length.
#[inline(always)]
fn normal<T: Real>(a_sq: Vec3<f64>, q: Vec3<T>, t: T) -> Vec3<T> {
    let (P, Q, R) = (t + a_sq.x, t + a_sq.y, t + a_sq.z);
    let m = Vec3 { x: q.x * (Q * R), y: q.y * (P * R), z: q.z * (P * Q) };
    m * m.norm_sq().sqrt().recip()
}

/// ∂normal/∂q, given the normal `v`.
#[inline(always)]
fn normal_slope(a_sq: Vec3<f64>, q: Vec3<f64>, t: f64, v: Vec3<f64>) -> Mat33<f64> {
    let w = Vec3 { x: 1.0 / (t + a_sq.x), y: 1.0 / (t + a_sq.y), z: 1.0 / (t + a_sq.z) };
    let m = q.mul_elem(w);
    let g = a_sq.mul_elem(m).mul_elem(w); // a² q w²
    let n = m.mul_elem(w); // q w²
    let by_t = 1.0 / g.dot(m); // ∂t/∂q = by_t g
    let size = 1.0 / m.norm();
    Mat33 {
        col: [0, 1, 2].map(|k| {
            let mut dm = n * (-by_t * g[k]);
            dm[k] += w[k];
            (dm - v * v.dot(dm)) * size
        }),
    }
}

/// The same derivatives with the value zero.
fn only_derivatives<T: Real>(x: Vec3<T>) -> Vec3<T> {
    Vec3 { x: x.x - x.x.value(), y: x.y - x.y.value(), z: x.z - x.z.value() }
}

//! The mean direction from a chord of an ellipsoid to its surface.

use super::closest::{Closest, sextic};
use super::unit_or_zero;
use soleus_math::{Mat33, Over, Real, Vec3};

/// The chord is divided into this many parts; their ends, but for three, are used (OpenSim 4.6).
const PARTS: usize = 300;
/// Points whose roots are sought side by side, which the compiler turns into vector instructions.
const LANES: usize = 8;
/// A number of each of these points. Vectors are kept by component, so that lanes lie side by side.
type Lanes = [f64; LANES];
/// Newton steps taken side by side from guesses that continue the roots so far as a parabola.
const COMMON_STEPS: usize = 3;
/// Newton steps from a good guess before the search starts anew.
const MAX_STEPS: usize = 6;
/// Residual at which a root found from a guess counts; well below the 1e-9 of a search from afar.
const RESIDUAL: f64 = 1e-12;
/// Below this product of slope and distance from the pole, a search from afar stops visibly short of the
/// root (see [`Closest`]) and only that search gives the value wanted.
const CREEPING: f64 = 1e-3;

/// Points of the short rules.
const FEW: usize = 16;
const SOME: usize = 24;
const MANY: usize = 48;
/// Chords below this length, in units of about the mean radius, get by with few points as a rule.
const SHORT_CHORD: f64 = 1.3;
/// Steps taken side by side for the points of a short rule, which start from afar; one Newton step on the polynomial is
/// usually left.
const NODE_STEPS: usize = 3;
/// Newton steps on the polynomial after these at most.
const POLISH_STEPS: usize = 4;
/// Size, relative to the mean, of the last two coefficients of the expansion at which a short rule counts. They fall
/// geometrically where the directions change smoothly, and the error of the rule is some ten times their square: less than
/// the 1e-10 or so that a search from afar leaves, which stops at a residual of 1e-9.
const SMOOTH: f64 = 2e-6;

/// The short rules, shorter first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FanRule {
    few: Rule<FEW>,
    some: Rule<SOME>,
    many: Rule<MANY>,
}

impl FanRule {
    pub fn new() -> FanRule {
        FanRule { few: Rule::new(), some: Rule::new(), many: Rule::new() }
    }
}

/// A short rule for sums over the points of the fan: Gaussian quadrature for the sum over i = 1 … 298 at s = i/300, exact
/// for polynomials up to degree 2N − 1.
///
/// Nodes and weights belong to the polynomials orthogonal over equally spaced points (Gram 1883; also called discrete
/// Chebyshev), x = i − 149.5, with M = 298 points:
///
///   √βₙ₊₁ pₙ₊₁ = x pₙ − √βₙ pₙ₋₁,   βₙ = n² (M² − n²)/(4 (4n² − 1)),   p₀ = 1/√M
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule<const N: usize> {
    s: [f64; N],
    weight: [f64; N],
    /// Weights that give the last two coefficients of the expansion of what is summed, relative to the mean.
    last: [[f64; N]; 2],
}

impl<const N: usize> Rule<N> {
    fn new() -> Rule<N> {
        let count = (PARTS - 2) as f64;
        let half = 0.5 * (count - 1.0);
        let beta: [f64; N] = std::array::from_fn(|k| {
            let n_sq = ((k + 1) * (k + 1)) as f64;
            (n_sq * (count * count - n_sq) / (4.0 * (4.0 * n_sq - 1.0))).sqrt()
        });
        // p₀ … p_{N−1} at x, and p_N.
        let polynomials = |x: f64| {
            let mut p = [0.0; N];
            let (mut before, mut now) = (0.0, count.sqrt().recip());
            for n in 0..N {
                p[n] = now;
                let back = if n == 0 { 0.0 } else { beta[n - 1] * before };
                (before, now) = (now, (x * now - back) / beta[n]);
            }
            (p, now)
        };
        let mut rule = Rule { s: [0.0; N], weight: [0.0; N], last: [[0.0; N]; 2] };
        // The roots of the last polynomial lie between the points, no two of them between the same.
        let (mut found, mut lo) = (0, -half);
        let mut at_lo = polynomials(lo).1;
        while lo < half && found < N {
            let hi = lo + 0.5;
            let at_hi = polynomials(hi).1;
            if at_lo * at_hi < 0.0 {
                let (mut a, mut b) = (lo, hi);
                for _ in 0..60 {
                    let middle = 0.5 * (a + b);
                    if at_lo * polynomials(middle).1 <= 0.0 { b = middle } else { a = middle }
                }
                let x = 0.5 * (a + b);
                let (p, _) = polynomials(x);
                let w = p.iter().map(|p| p * p).sum::<f64>().recip();
                rule.s[found] = (x + half + 1.0) / PARTS as f64;
                rule.weight[found] = w;
                (rule.last[0][found], rule.last[1][found]) =
                    (p[N - 2] * w / count.sqrt(), p[N - 1] * w / count.sqrt());
                found += 1;
            }
            (lo, at_lo) = (hi, at_hi);
        }
        rule
    }
}

/// The points of the chord that stand for all, for derivatives: s, weight and root of each. The root is not a number where only a
/// search from afar gives the value wanted.
struct Points {
    count: usize,
    list: [[f64; 3]; PARTS],
}

impl Points {
    fn new() -> Points {
        Points { count: 0, list: [[0.0; 3]; PARTS] }
    }

    fn push(&mut self, s: f64, weight: f64, t: f64) {
        self.list[self.count] = [s, weight, t];
        self.count += 1;
    }
}

/// Sum over points q of the chord `r` + s `d`, s in (0, 1), of the unit vectors to their closest points.
///
/// The vector from q to its closest point is along the normal there, qᵢ/(t + aᵢ²) in the terms of
/// [`Closest`]. Where the directions change smoothly along the chord, 16, 24 or 48 points give the sum over all 298; otherwise the
/// roots t of neighbouring points are close, so each starts the search for the next.
/// The sum agrees with one over separate searches within the tolerance of those, some 1e-10. It is found in plain numbers, by lines
/// that all scalars share; derivatives are added for the points that were used.
///
/// First derivatives are summed as two 3 × 3 matrices, ∂sum/∂r and ∂sum/∂d, from
///
///   m = qᵢ wᵢ,  wᵢ = 1/(t + aᵢ²),  v = m/|m|
///   dt = Σ aᵢ² qᵢ wᵢ² dqᵢ / Σ aᵢ² qᵢ² wᵢ³
///   dv = (1 − v vᵀ) (wᵢ dqᵢ − qᵢ wᵢ² dt)/|m|
///
/// Source: the fan of OpenSim 4.6, `WrapEllipsoid`.
pub(super) fn fan_sum<P: Real, T: Over<P>>(
    sized: &Closest<P>,
    rule: &FanRule,
    r: Vec3<T>,
    d: Vec3<T>,
) -> Vec3<T> {
    // Roots are those of plain numbers.
    let closest = &Closest::new(sized.a.value());
    if T::ORDER == 0 {
        return Vec3::cst(plain_sum(closest, rule, r.value(), d.value(), None));
    }
    let mut points = Points::new();
    let mut fan = Fan::new(sized, r, d);
    fan.sum = plain_sum(closest, rule, r.value(), d.value(), Some(&mut points));
    for &[s, weight, t] in &points.list[..points.count] {
        fan.add_derivatives(s, weight, t);
    }
    fan.total()
}

/// The sum by the shortest rule that will do, else over all points; notes the points that it was made of.
#[inline(never)]
fn plain_sum(
    closest: &Closest,
    rule: &FanRule,
    r: Vec3<f64>,
    d: Vec3<f64>,
    mut points: Option<&mut Points>,
) -> Vec3<f64> {
    let few = if d.norm_sq() < SHORT_CHORD * SHORT_CHORD {
        short_sum(closest, &rule.few, r, d, points.as_deref_mut())
    } else {
        None
    };
    let some = few.or_else(|| short_sum(closest, &rule.some, r, d, points.as_deref_mut()));
    if let Some(sum) = some.or_else(|| short_sum(closest, &rule.many, r, d, points.as_deref_mut())) {
        return sum;
    }
    if let Some(points) = points.as_deref_mut() {
        points.count = 0;
    }
    let mut sum = Vec3::zero();
    // Roots of the last lanes, to guess the next ones from.
    let mut known: Option<[f64; LANES]> = None;
    let mut lanes = [0.0; LANES];
    for i in 1..PARTS - 1 {
        let lane = (i - 1) % LANES;
        if lane == 0 {
            lanes = guesses(known);
            let s = std::array::from_fn(|k| (i + k) as f64 / PARTS as f64);
            improve(closest, r, d, &s, COMMON_STEPS, &mut lanes);
        }
        let s = i as f64 / PARTS as f64;
        let q = r + d * s;
        let root = root_near(closest, q, lanes[lane]);
        lanes[lane] = root.map_or(f64::NAN, |(t, _)| t);
        if lane == LANES - 1 {
            known = lanes.iter().all(|t| !t.is_nan()).then_some(lanes);
        }
        let (t, v) = match root {
            Some((t, true)) => (t, normal(closest.a_sq, q, t)),
            _ => (f64::NAN, unit_or_zero(closest.on_ellipsoid(q) - q)),
        };
        sum += v;
        if let Some(points) = points.as_deref_mut() {
            points.push(s, 1.0, t);
        }
    }
    sum
}

/// The sum by a short rule, if the directions change smoothly enough for it.
fn short_sum<const N: usize>(
    closest: &Closest,
    rule: &Rule<N>,
    r: Vec3<f64>,
    d: Vec3<f64>,
    mut points: Option<&mut Points>,
) -> Option<Vec3<f64>> {
    if let Some(points) = points.as_deref_mut() {
        points.count = 0;
    }
    // Sums of x, y and z over the points of each lane: of the directions, and for their last two coefficients.
    let mut sums = [[[0.0; LANES]; 3]; 3];
    for first in (0..N).step_by(LANES) {
        let s: Lanes = std::array::from_fn(|k| rule.s[first + k]);
        let (t, v) = directions(closest, r, d, &s)?;
        for (c, v) in v.iter().enumerate() {
            for k in 0..LANES {
                sums[0][c][k] += v[k] * rule.weight[first + k];
                sums[1][c][k] += v[k] * rule.last[0][first + k];
                sums[2][c][k] += v[k] * rule.last[1][first + k];
            }
        }
        if let Some(points) = points.as_deref_mut() {
            for k in 0..LANES {
                points.push(s[k], rule.weight[first + k], t[k]);
            }
        }
    }
    let total = |sum: &[[f64; LANES]; 3]| {
        let [x, y, z] = sum.map(|lanes| lanes.iter().sum());
        Vec3::<f64> { x, y, z }
    };
    let [sum, before, last] = [total(&sums[0]), total(&sums[1]), total(&sums[2])];
    (before.norm_sq() < SMOOTH * SMOOTH && last.norm_sq() < SMOOTH * SMOOTH).then_some(sum)
}

/// Roots and directions, by component, of the points at `s` of the chord, side by side; nothing unless all of them are found
/// and are the ones that a search from afar finds.
#[inline(always)]
fn directions(closest: &Closest, r: Vec3<f64>, d: Vec3<f64>, s: &Lanes) -> Option<(Lanes, [Lanes; 3])> {
    let m = squares(closest, r, d, s);
    let mut t = [0.0; LANES];
    approach(closest, &m, &mut t);
    let (mut f, mut slope) = ([0.0; LANES], [0.0; LANES]);
    let mut found = false;
    for _ in 0..POLISH_STEPS {
        let mut worst = 0.0_f64;
        for k in 0..LANES {
            (f[k], slope[k]) = sextic(closest.a_sq, lane(&m, k), t[k]);
        }
        // Keeps NaN, which is not a root.
        for f in f {
            worst = if f.abs() <= worst { worst } else { f.abs() };
        }
        found = worst < RESIDUAL;
        if found {
            break;
        }
        for k in 0..LANES {
            t[k] -= f[k] / slope[k];
        }
    }
    let right = (0..LANES).all(|k| is_largest(closest, t[k]) && is_sharp(closest, t[k], slope[k]));
    if !(found && right) {
        return None;
    }
    let mut v = [[0.0; LANES]; 3];
    for k in 0..LANES {
        let n = normal(closest.a_sq, r + d * s[k], t[k]);
        (v[0][k], v[1][k], v[2][k]) = (n.x, n.y, n.z);
    }
    Some((t, v))
}

/// Whether a root is the one wanted: that of a point inside is negative, and the largest one is the only one above −min a².
#[inline(always)]
fn is_largest(closest: &Closest, t: f64) -> bool {
    t < 0.0 && t + closest.least_a_sq > 0.0
}

/// Whether a search from afar finds the same root.
#[inline(always)]
fn is_sharp(closest: &Closest, t: f64, slope: f64) -> bool {
    slope * (t + closest.least_a_sq) > CREEPING
}

/// A sum of directions and its derivatives.
struct Fan<'a, P: Real, T: Real> {
    closest: &'a Closest<P>,
    r: Vec3<T>,
    d: Vec3<T>,
    sum: Vec3<f64>,
    by_r: Mat33<f64>,
    by_d: Mat33<f64>,
    /// Derivatives that do not come from the matrices; its value is zero.
    extra: Vec3<T>,
}

impl<'a, P: Real, T: Over<P>> Fan<'a, P, T> {
    fn new(closest: &'a Closest<P>, r: Vec3<T>, d: Vec3<T>) -> Self {
        let (zero, extra) = (Mat33::default(), Vec3::zero());
        Fan { closest, r, d, sum: Vec3::zero(), by_r: zero, by_d: zero, extra }
    }

    /// Adds the derivatives of the direction at `s`, whose root is `t`, or is not known.
    fn add_derivatives(&mut self, s: f64, weight: f64, t: f64) {
        if t.is_nan() {
            let q = self.r + self.d * T::cst(s);
            self.extra += only_derivatives(unit_or_zero(self.closest.on_ellipsoid(q) - q));
        } else if T::ORDER == 1 && P::ORDER == 0 {
            let q = self.r.value() + self.d.value() * s;
            let J = normal_slope(self.closest.a_sq.value(), q, t);
            for k in 0..3 {
                self.by_r.col[k] += J.col[k] * weight;
                self.by_d.col[k] += J.col[k] * (weight * s);
            }
        } else {
            let q = self.r + self.d * T::cst(s);
            let (a, a_sq) = (Vec3::lift(self.closest.a), self.closest.a_sq);
            let m = q.mul_elem(a).mul_elem(q.mul_elem(a));
            let mut t = T::cst(t);
            for _ in 0..T::ORDER {
                let (f, slope) = sextic(a_sq, m, t);
                t = t.refine(f, slope);
            }
            self.extra += only_derivatives(normal(a_sq, q, t)) * T::cst(weight);
        }
    }

    fn total(&self) -> Vec3<T> {
        let mut out = Vec3::cst(self.sum);
        if T::ORDER > 0 {
            out += self.extra;
        }
        if T::ORDER == 1 && P::ORDER == 0 {
            out += Mat33::cst(self.by_r) * only_derivatives(self.r)
                + Mat33::cst(self.by_d) * only_derivatives(self.d);
        }
        out
    }
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

/// Comes close to the roots for points whose aᵢ² qᵢ² are `m`, side by side, from t = 0.
///
/// With N(t) = Σ aᵢ² qᵢ²/(t + aᵢ²)², the equation N = 1 is solved by Newton's method as 1/√N = 1, which is nearly straight:
///
///   t ← t − N (1 − √N)/Σ aᵢ² qᵢ²/(t + aᵢ²)³
///
/// Both sums are brought to common denominators, D² and D³ with D = Π (t + aᵢ²), which leaves A (D − √A)/B of their numerators A
/// and B.
///
/// Source: Hebden (1973) and Moré (1978), for trust regions.
#[inline(always)]
fn approach(closest: &Closest, m: &[Lanes; 3], t: &mut Lanes) {
    for _ in 0..NODE_STEPS {
        for k in 0..LANES {
            let (P, Q, R) = (t[k] + closest.a_sq.x, t[k] + closest.a_sq.y, t[k] + closest.a_sq.z);
            let (PQ, QR, PR) = (P * Q, Q * R, P * R);
            let (x, y, z) = (m[0][k] * (QR * QR), m[1][k] * (PR * PR), m[2][k] * (PQ * PQ));
            let A = x + y + z;
            t[k] -= A * (PQ * R - A.sqrt()) / (x * QR + y * PR + z * PQ);
        }
    }
}

/// aᵢ² qᵢ² of the points at `s` of the chord, by component.
#[inline(always)]
fn squares(closest: &Closest, r: Vec3<f64>, d: Vec3<f64>, s: &Lanes) -> [Lanes; 3] {
    let mut m = [[0.0; LANES]; 3];
    for (i, m) in m.iter_mut().enumerate() {
        for k in 0..LANES {
            let q = (r[i] + d[i] * s[k]) * closest.a[i];
            m[k] = q * q;
        }
    }
    m
}

/// One lane of what is given by component.
#[inline(always)]
fn lane(v: &[Lanes; 3], k: usize) -> Vec3<f64> {
    Vec3 { x: v[0][k], y: v[1][k], z: v[2][k] }
}

/// Takes `steps` Newton steps for the points at `s` of the chord, side by side.
#[inline(always)]
fn improve(
    closest: &Closest,
    r: Vec3<f64>,
    d: Vec3<f64>,
    s: &[f64; LANES],
    steps: usize,
    t: &mut [f64; LANES],
) {
    let m = squares(closest, r, d, s);
    for _ in 0..steps {
        for k in 0..LANES {
            let (f, slope) = sextic(closest.a_sq, lane(&m, k), t[k]);
            t[k] -= f / slope;
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
        let (f, slope) = sextic(closest.a_sq, m, t);
        if f.abs() < RESIDUAL {
            return is_largest(closest, t).then_some((t, is_sharp(closest, t, slope)));
        }
        t -= f / slope;
    }
    None
}

/// The unit normal at the closest point of a point inside, qᵢ/(t + aᵢ²) up to its length.
#[inline(always)]
fn normal<A: Real, T: Over<A>>(a_sq: Vec3<A>, q: Vec3<T>, t: T) -> Vec3<T> {
    let (P, Q, R) = (t + a_sq.x, t + a_sq.y, t + a_sq.z);
    let m = Vec3 { x: q.x * (Q * R), y: q.y * (P * R), z: q.z * (P * Q) };
    m * m.norm_sq().sqrt().recip()
}

/// ∂normal/∂q.
#[inline(never)]
fn normal_slope(a_sq: Vec3<f64>, q: Vec3<f64>, t: f64) -> Mat33<f64> {
    let v = normal(a_sq, q, t);
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

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Random;

    /// The short rule sums powers of s over i/300, i = 1 … 298, exactly up to the degree it is made for.
    #[test]
    fn analytic_short_rule_sums_polynomials() {
        fn check<const N: usize>(rule: &Rule<N>, degrees: &[i32]) {
            for &degree in degrees {
                let short: f64 = (0..N).map(|k| rule.weight[k] * (2.0 * rule.s[k] - 1.0).powi(degree)).sum();
                let all: f64 =
                    (1..PARTS - 1).map(|i| (2.0 * i as f64 / PARTS as f64 - 1.0).powi(degree)).sum();
                assert!((short - all).abs() < 1e-11, "{N} points, degree {degree}: {short} {all}");
            }
        }
        let rule = FanRule::new();
        check(&rule.few, &[0, 1, 7, 20, 31]);
        check(&rule.some, &[0, 1, 7, 20, 47]);
        check(&rule.many, &[0, 1, 7, 48, 95]);
    }

    /// The short sum, where it is taken, equals the sum over all points.
    #[test]
    fn identity_short_sum_is_the_long_one() {
        let closest = Closest::new(Vec3 { x: 1.2, y: 0.8, z: 1.0 });
        let (rule, mut seed, mut taken) = (FanRule::new(), Random::new(1), [0; 3]);
        let mut random = || seed.signed();
        for _ in 0..200 {
            let mut point = || {
                let v = Vec3 { x: random(), y: random(), z: random() }.normalized();
                v.mul_elem(closest.a)
            };
            let (r, end) = (point(), point());
            let d = end - r;
            let sums = [
                short_sum(&closest, &rule.few, r, d, None),
                short_sum(&closest, &rule.some, r, d, None),
                short_sum(&closest, &rule.many, r, d, None),
            ];
            if sums == [None; 3] {
                continue;
            }
            let mut long = Vec3::zero();
            for i in 1..PARTS - 1 {
                let q = r + d * (i as f64 / PARTS as f64);
                // The root by bisection.
                let (mut lo, mut hi) = (-closest.least_a_sq, 0.0);
                for _ in 0..80 {
                    let t = 0.5 * (lo + hi);
                    let sum: f64 =
                        (0..3).map(|k| closest.a_sq[k] * (q[k] / (t + closest.a_sq[k])).powi(2)).sum();
                    if sum > 1.0 { lo = t } else { hi = t }
                }
                long += normal(closest.a_sq, q, lo);
            }
            for (short, taken) in sums.iter().zip(&mut taken) {
                if let Some(short) = short {
                    *taken += 1;
                    // See `SMOOTH`: a search stops at 1e-9 of a square, half of that of a length, for each of 298 directions.
                    assert!((*short - long).norm() < 0.5e-9 * 298.0, "{short:?} {long:?}");
                }
            }
        }
        // Chords of a muscle stay near the surface; these go anywhere.
        assert!(
            taken[0] > 30 && taken[1] > 60 && taken[2] > 80,
            "the short rules were taken {taken:?} times of 200"
        );
    }
}

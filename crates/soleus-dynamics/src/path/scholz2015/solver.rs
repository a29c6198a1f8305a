//! Solves for the contact points of a path with the obstacles between two points.

use super::geodesic::{Curvatures, Frenet, Geodesic, Jacobi, shoot};
use super::surface::Obstacle;
use soleus_math::norm::largest_size;
use soleus_math::{Transform, Vec3};

/// A path is smooth when its straight parts meet the tangents within this, without unit. Rounding leaves about 1e-15 times
/// the length of a straight part over its shortest neighbour.
const SMOOTH: f64 = 1e-13;
/// A path that gets no smoother is taken below this (Simbody stops at 1e-5).
const SMOOTH_ENOUGH: f64 = 1e-9;
/// Most steps as Simbody takes them (50 in OpenSim 4.6), and some more for the last digits.
const MAX_STEPS: usize = 60;
/// Most steps of a careful attempt, which bounds steps in both directions and keeps errors falling.
const MAX_SMALL_STEPS: usize = 150;
/// Most times that a careful step is halved until the errors become smaller.
const MAX_HALVINGS: usize = 8;
/// A step turns no frame by more than this, rad (Simbody: 10°).
const MAX_TURN: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// An obstacle and the curve of the path on it, in the frame of the obstacle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub surface: Obstacle,
    /// Place and orientation in ground.
    pub X_GS: Transform<f64>,
    /// Where the search starts; without it the path starts clear of the obstacle.
    pub hint: Option<Vec3<f64>>,
    pub touches: bool,
    /// Whether it waits for its first geodesic, of no length, at the hint.
    is_new: bool,
    pub start: Frenet<f64>,
    pub end: Frenet<f64>,
    /// Arc length, m.
    pub length: f64,
    jacobi: Jacobi<f64>,
    /// Where the line comes nearest to a surface that it does not touch.
    near: Vec3<f64>,
}

impl Contact {
    pub fn new(surface: Obstacle, hint: Option<Vec3<f64>>) -> Self {
        let zero = Frenet { p: Vec3::zero(), t: Vec3::zero(), n: Vec3::zero() };
        Contact {
            surface,
            X_GS: Transform::identity(),
            hint: hint.map(|h| surface.project(h)),
            touches: false,
            is_new: false,
            start: zero,
            end: zero,
            length: 0.0,
            jacobi: Jacobi { a: 1.0, a_dot: 0.0, r: 0.0, r_dot: 1.0 },
            near: Vec3::zero(),
        }
    }

    /// Back to the hint, or clear of the surface without it.
    fn reset(&mut self, with_hints: bool) {
        self.near = Vec3::zero();
        let hint = self.hint.filter(|_| with_hints);
        (self.touches, self.is_new) = (hint.is_some(), hint.is_some());
        if let Some(p) = hint {
            (self.start.p, self.end.p) = (p, p);
        }
    }

    fn shoot(&mut self, p: Vec3<f64>, d: Vec3<f64>, length: f64) {
        let Geodesic { start, end, jacobi } = shoot::<f64, true>(&self.surface, p, d, length);
        (self.start, self.end, self.jacobi, self.length) = (start, end, jacobi, length);
        (self.touches, self.is_new) = (true, false);
    }

    /// Touches down or lifts off, given the points of the path before and after it.
    fn update(&mut self, before_G: Vec3<f64>, after_G: Vec3<f64>) {
        let (before, after) = (self.X_GS.inverse_mul(before_G), self.X_GS.inverse_mul(after_G));
        if self.is_new {
            self.shoot(self.start.p, after - before, 0.0);
        } else if self.touches {
            // Only a curve that has no length left can go, and only if nothing presses on it.
            let above = |x: Vec3<f64>| (x - self.start.p).dot(self.start.n) > 0.0;
            if self.length <= 0.0 && above(before) && above(after) {
                (self.touches, self.near) = (false, self.start.p);
            }
        } else if let Some(x) = self.surface.touchdown(before, after, &mut self.near) {
            self.shoot(x, after - before, 0.0);
        }
    }

    /// Applies a natural variation: along the tangent, across it, turning, longer.
    fn correct(&mut self, c: [f64; 4]) {
        let [mut along, across, turn, longer] = c;
        let length = self.length + longer;
        // What a curve cannot become shorter is taken from both of its ends.
        if length < 0.0 {
            along += 0.5 * length;
        }
        let k = Curvatures::new(&self.surface, &self.start);
        let Frenet { p, t, n } = self.start;
        let b = self.start.b();
        let d = t + n * (k.along * along - k.torsion * across) + b * turn;
        self.shoot(p + t * along + b * across, d, length.max(0.0));
    }
}

/// One end of a curve in ground, and how the four natural variations move (v) and turn (w) it.
#[derive(Clone, Copy, Debug)]
struct End {
    p: Vec3<f64>,
    n: Vec3<f64>,
    b: Vec3<f64>,
    v: [Vec3<f64>; 4],
    w: [Vec3<f64>; 4],
}

impl End {
    /// `j` are the fields a, ȧ, r, ṙ, and `grows` tells whether a longer curve moves this end.
    fn new(c: &Contact, at: &Frenet<f64>, j: [f64; 4], grows: bool) -> Self {
        let k = Curvatures::new(&c.surface, at);
        let R = c.X_GS.R;
        let (t, n, b) = (R * at.t, R * at.n, R * at.b());
        let [a, a_dot, r, r_dot] = j;
        let along = t * k.torsion + b * k.along;
        let across = |j: f64, dot: f64| -(t * (j * k.across) + n * dot + b * (j * k.torsion));
        let zero = Vec3::zero();
        End {
            p: c.X_GS * at.p,
            n,
            b,
            v: [t, b * a, b * r, if grows { t } else { zero }],
            w: [along, across(a, a_dot), across(r, r_dot), if grows { along } else { zero }],
        }
    }
}

/// Scratch for the obstacles between two points.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// Both ends of every curve, one curve after the other.
    ends: Vec<[End; 2]>,
    /// Matrix by columns and right side of the step.
    matrix: Vec<f64>,
    right: Vec<f64>,
    errors: Vec<f64>,
    step: Vec<f64>,
    /// Curves before a step.
    before: Vec<Contact>,
    /// The inverse of the Jacobian, by columns.
    inverse: Vec<f64>,
}

impl Scratch {
    pub fn new(obstacles: usize) -> Self {
        Scratch {
            ends: Vec::with_capacity(obstacles),
            matrix: vec![0.0; 20 * obstacles * obstacles],
            right: vec![0.0; 5 * obstacles],
            errors: vec![0.0; 4 * obstacles],
            step: vec![0.0; 4 * obstacles],
            before: Vec::with_capacity(obstacles),
            inverse: vec![0.0; 16 * obstacles * obstacles],
        }
    }
}

/// Finds the curves of the path from one point to another over these obstacles, from their hints.
///
/// The path is smooth when the straight parts e meet the curves along their tangents,
///
///   e·n = 0,   e·b = 0    at both ends of every curve                              (1)
///
/// and Newton's method over the natural variations of all curves makes it so. While it is not, a change of length costs as much
/// as the worst error of (1), by least squares. In each step curves of no length may lift off and lines that go through an
/// obstacle touch down.
///
/// Source: Scholz et al. (2015); steps, their bounds, touching down and lifting off as in Simbody's `CableSpan`, so that where
/// several paths are smooth it is the same one that is found.
///
/// Returns the largest error of (1), of which a path that was not found has more than [`SMOOTH_ENOUGH`].
pub(super) fn solve(
    from: Vec3<f64>,
    to: Vec3<f64>,
    contacts: &mut [Contact],
    s: &mut Scratch,
) -> Result<(), f64> {
    // Simbody bounds steps forward only. Where that leads nowhere, a more careful way is tried, and then, since a path may have
    // no rest on the side of its hints, the way of a string that is lowered onto the obstacles.
    let mut error = f64::INFINITY;
    for (with_hints, steps, is_careful) in [
        (true, MAX_STEPS, false),
        (true, MAX_SMALL_STEPS, true),
        (false, MAX_STEPS, false),
        (false, MAX_SMALL_STEPS, true),
    ] {
        contacts.iter_mut().for_each(|c| c.reset(with_hints));
        error = attempt(from, to, contacts, s, steps, is_careful);
        if error <= SMOOTH_ENOUGH && goes_on(from, to, s) {
            return Ok(());
        }
    }
    Err(error)
}

fn attempt(
    from: Vec3<f64>,
    to: Vec3<f64>,
    contacts: &mut [Contact],
    s: &mut Scratch,
    steps: usize,
    is_careful: bool,
) -> f64 {
    let mut last = f64::INFINITY;
    for _ in 0..steps {
        for i in 0..contacts.len() {
            let [before, after] = neighbours(from, to, contacts, i);
            contacts[i].update(before, after);
        }
        let mut error = compute_errors(from, to, contacts, s);
        let is_smooth = error <= SMOOTH || (error <= SMOOTH_ENOUGH && error > 0.5 * last);
        if is_smooth && !touch_down(from, to, contacts) {
            return error;
        }
        if is_smooth {
            error = compute_errors(from, to, contacts, s);
        }
        if !error.is_finite() {
            return f64::INFINITY;
        }
        last = error;
        let norm = sum_of_squares(s);
        compute_step(from, to, s, error);
        let mut size = step_size(s, is_careful);
        let count = s.ends.len();
        for (to, from) in s.step.iter_mut().zip(&s.right[..4 * count]) {
            *to = *from;
        }
        s.before.clear();
        s.before.extend_from_slice(contacts);
        for _ in 0..MAX_HALVINGS {
            for (c, q) in contacts.iter_mut().filter(|c| c.touches).zip(s.step.chunks_exact(4)) {
                c.correct([q[0], q[1], q[2], q[3]].map(|q| -q * size));
            }
            if !is_careful || error <= SMOOTH_ENOUGH {
                break;
            }
            compute_errors(from, to, contacts, s);
            if sum_of_squares(s) < norm {
                break;
            }
            contacts.copy_from_slice(&s.before);
            size *= 0.5;
        }
    }
    last
}

/// Sum of the squares of the errors.
fn sum_of_squares(s: &Scratch) -> f64 {
    s.errors[..4 * s.ends.len()].iter().map(|e| e * e).sum()
}

/// The points of the path before and after an obstacle.
fn neighbours(from: Vec3<f64>, to: Vec3<f64>, contacts: &[Contact], i: usize) -> [Vec3<f64>; 2] {
    let before = contacts[..i].iter().rev().find(|c| c.touches).map_or(from, |c| c.X_GS * c.end.p);
    let after = contacts[i + 1..].iter().find(|c| c.touches).map_or(to, |c| c.X_GS * c.start.p);
    [before, after]
}

/// Puts a curve on the first obstacle that a path otherwise smooth goes through; whether there is one.
///
/// A curve lifts off where both neighbours are above its tangent plane. On a torus, which is not convex, that does not keep a line
/// out of it.
fn touch_down(from: Vec3<f64>, to: Vec3<f64>, contacts: &mut [Contact]) -> bool {
    (0..contacts.len()).any(|i| {
        if contacts[i].touches {
            return false;
        }
        let [before, after] = neighbours(from, to, contacts, i);
        let c = &mut contacts[i];
        let (before, after) = (c.X_GS.inverse_mul(before), c.X_GS.inverse_mul(after));
        let inside = c.surface.deepest(before, after);
        if let Some(x) = inside {
            c.shoot(x, after - before, 0.0);
        }
        inside.is_some()
    })
}

/// Ends of all curves, and the errors (1); returns the largest.
fn compute_errors(from: Vec3<f64>, to: Vec3<f64>, contacts: &[Contact], s: &mut Scratch) -> f64 {
    s.ends.clear();
    for c in contacts.iter().filter(|c| c.touches) {
        let Jacobi { a, a_dot, r, r_dot } = c.jacobi;
        let start = End::new(c, &c.start, [1.0, 0.0, 0.0, 1.0], false);
        s.ends.push([start, End::new(c, &c.end, [a, a_dot, r, r_dot], true)]);
    }
    for k in 0..s.ends.len() {
        let [P, Q] = &s.ends[k];
        let into = (P.p - before(&s.ends, k, from)).normalized();
        let out = (after(&s.ends, k, to) - Q.p).normalized();
        let errors = [into.dot(P.n), into.dot(P.b), out.dot(Q.n), out.dot(Q.b)];
        s.errors[4 * k..4 * k + 4].copy_from_slice(&errors);
    }
    largest_size(&s.errors[..4 * s.ends.len()])
}

/// Whether the path goes on where straight parts meet curves; (1) also holds where it turns back.
fn goes_on(from: Vec3<f64>, to: Vec3<f64>, s: &Scratch) -> bool {
    s.ends.iter().enumerate().all(|(k, [P, Q])| {
        let (into, out) = (P.p - before(&s.ends, k, from), after(&s.ends, k, to) - Q.p);
        into.dot(P.v[0]) > 0.0 && out.dot(Q.v[0]) > 0.0
    })
}

fn before(ends: &[[End; 2]], k: usize, from: Vec3<f64>) -> Vec3<f64> {
    if k == 0 { from } else { ends[k - 1][1].p }
}

fn after(ends: &[[End; 2]], k: usize, to: Vec3<f64>) -> Vec3<f64> {
    ends.get(k + 1).map_or(to, |next| next[0].p)
}

/// The Jacobian of the errors by the variations, into the matrix of `rows` rows per curve by columns.
///
///   ∂(e·a) = v·(a − e (e·a))/l + w·(a × e),  for the line of length l into a frame; out of it v counts negative
fn fill_jacobian(from: Vec3<f64>, to: Vec3<f64>, s: &mut Scratch, rows: usize) {
    let count = s.ends.len();
    let height = rows * count;
    s.matrix[..height * 4 * count].fill(0.0);
    let ends = &s.ends;
    let mut put = |row: usize, curve: usize, i: usize, x: f64| s.matrix[(4 * curve + i) * height + row] += x;
    for (k, [P, Q]) in ends.iter().enumerate() {
        let (into, out) = (P.p - before(ends, k, from), after(ends, k, to) - Q.p);
        for (end, line, sign, first_row) in [(P, into, 1.0, 4 * k), (Q, out, -1.0, 4 * k + 2)] {
            let l = line.norm();
            let e = line / l;
            for (row, a) in [(first_row, end.n), (first_row + 1, end.b)] {
                let by_v = (a - e * e.dot(a)) * (sign / l);
                let by_w = a.cross(e);
                for i in 0..4 {
                    put(row, k, i, end.v[i].dot(by_v) + end.w[i].dot(by_w));
                    if sign > 0.0 && k > 0 {
                        put(row, k - 1, i, -ends[k - 1][1].v[i].dot(by_v));
                    }
                    if sign < 0.0 && k + 1 < count {
                        put(row, k + 1, i, -ends[k + 1][0].v[i].dot(by_v));
                    }
                }
            }
        }
    }
}

/// The step, with the sign of the errors, into the first numbers of the right side.
fn compute_step(from: Vec3<f64>, to: Vec3<f64>, s: &mut Scratch, weight: f64) {
    let count = s.ends.len();
    let (height, width) = (5 * count, 4 * count);
    fill_jacobian(from, to, s, 5);
    for k in 0..count {
        s.matrix[(4 * k + 3) * height + 4 * count + k] = weight;
    }
    s.right[..height].fill(0.0);
    s.right[..4 * count].copy_from_slice(&s.errors[..4 * count]);
    least_squares(&mut s.matrix[..height * width], &mut s.right[..height], height, width);
}

/// The share of a step that turns no frame by more than [`MAX_TURN`].
fn step_size(s: &Scratch, is_careful: bool) -> f64 {
    let mut turn = 0.0f64;
    for (ends, q) in s.ends.iter().zip(s.right.chunks_exact(4)) {
        for end in ends {
            for (w, q) in end.w.iter().zip(q) {
                let largest = w.x.abs().max(w.y.abs()).max(w.z.abs());
                turn = turn.max(largest * if is_careful { q.abs() } else { -q });
            }
        }
    }
    if turn > MAX_TURN { MAX_TURN / turn } else { 1.0 }
}

/// The inverse of the Jacobian of the errors by the variations of the path found, by columns.
pub(super) fn inverse_jacobian<'a>(
    from: Vec3<f64>,
    to: Vec3<f64>,
    contacts: &[Contact],
    s: &'a mut Scratch,
) -> &'a [f64] {
    compute_errors(from, to, contacts, s);
    let width = 4 * s.ends.len();
    for column in 0..width {
        fill_jacobian(from, to, s, 4);
        s.right[..width].fill(0.0);
        s.right[column] = 1.0;
        least_squares(&mut s.matrix[..width * width], &mut s.right[..width], width, width);
        s.inverse[column * width..(column + 1) * width].copy_from_slice(&s.right[..width]);
    }
    &s.inverse[..width * width]
}

/// Solves A x = b by least squares with Householder reflections; A by columns, x into the first numbers of b. A column that the
/// others span gets nothing.
fn least_squares(a: &mut [f64], b: &mut [f64], height: usize, width: usize) {
    let largest = a.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    for j in 0..width {
        let (left, right) = a.split_at_mut((j + 1) * height);
        let v = &mut left[j * height + j..];
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm <= f64::EPSILON * largest {
            v[0] = 0.0;
            continue;
        }
        let diagonal = if v[0] > 0.0 { -norm } else { norm };
        v[0] -= diagonal;
        let half = v.iter().map(|x| x * x).sum::<f64>() / 2.0;
        let reflect = |x: &mut [f64]| {
            let share = v.iter().zip(x.iter()).map(|(v, x)| v * x).sum::<f64>() / half;
            for (x, v) in x.iter_mut().zip(v.iter()) {
                *x -= share * v;
            }
        };
        for column in right.chunks_exact_mut(height) {
            reflect(&mut column[j..]);
        }
        reflect(&mut b[j..]);
        v[0] = diagonal;
    }
    for j in (0..width).rev() {
        let d = a[j * height + j];
        b[j] = if d == 0.0 { 0.0 } else { b[j] / d };
        for i in 0..j {
            b[i] -= a[j * height + i] * b[j];
        }
    }
}

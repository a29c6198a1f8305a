//! A muscle over a window of time, while its path lengthens as given.
//!
//! States z of a muscle follow ż = h(L(t), L̇(t), e, z) under a constant excitation e. Activation and fibers are stiff at times, so
//! the three-stage Radau IIA method (order 5, L-stable) takes the steps,
//!
//!   Yᵢ = z + h Σⱼ aᵢⱼ f(t + cⱼ h, Yⱼ),   z(t + h) = Y₃                               (1)
//!
//! with Newton's method on the stages and the exact Jacobian at the start of the step. Steps of 2.5 ms
//! leave errors of 3e-5 of the maximal force where excitation jumps from nothing to full, and far less otherwise; corners in the curves of a
//! muscle keep the method from its order. Source: Hairer & Wanner (1996), section IV.8.

use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::Dual;

/// Most states that a muscle class has.
const MOST_STATES: usize = 3;
/// Unknowns of the stages.
const MOST: usize = 3 * MOST_STATES;
/// Longest step, s.
pub(super) const LONGEST_STEP: f64 = 0.0025;
/// Steps that do not converge are halved so often at most.
const MOST_HALVINGS: usize = 14;
/// Newton's method ends when states change by less than this, m or without unit.
const CONVERGED: f64 = 1e-11;

const S6: f64 = 2.449_489_742_783_178;
const C: [f64; 3] = [(4.0 - S6) / 10.0, (4.0 + S6) / 10.0, 1.0];
const A: [[f64; 3]; 3] = [
    [(88.0 - 7.0 * S6) / 360.0, (296.0 - 169.0 * S6) / 1800.0, (-2.0 + 3.0 * S6) / 225.0],
    [(296.0 + 169.0 * S6) / 1800.0, (88.0 + 7.0 * S6) / 360.0, (-2.0 - 3.0 * S6) / 225.0],
    [(16.0 - S6) / 36.0, (16.0 + S6) / 36.0, 1.0 / 9.0],
];

/// Length of a path over time: cubics through lengths and slopes at a few times. The speed that enters the muscle may be another than the
/// slope: a model that is off its motion is taken to stay off by as much, at the speed that it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Course {
    pub times: Vec<f64>,
    pub lengths: Vec<f64>,
    pub slopes: Vec<f64>,
    pub speeds: Vec<f64>,
}

impl Course {
    /// A path that stays as it is, but for the speed that enters the muscle.
    pub fn held(from: f64, to: f64, length: f64, speed: f64) -> Self {
        Course {
            times: vec![from, to],
            lengths: vec![length; 2],
            slopes: vec![0.0; 2],
            speeds: vec![speed; 2],
        }
    }

    /// Length and speed at a time.
    pub fn at(&self, t: f64, is_held: bool) -> (f64, f64) {
        if is_held {
            return (self.lengths[0], self.speeds[0]);
        }
        let last = self.times.len() - 2;
        let k = self.times[1..].partition_point(|&x| x < t).min(last);
        let (h, y0, y1) = (self.times[k + 1] - self.times[k], self.lengths[k], self.lengths[k + 1]);
        let (v0, v1) = (self.slopes[k], self.slopes[k + 1]);
        let s = (t - self.times[k]) / h;
        let r = 1.0 - s;
        // Hermite's cubic and its slope.
        let length =
            r * r * ((1.0 + 2.0 * s) * y0 + s * h * v0) + s * s * ((1.0 + 2.0 * r) * y1 - r * h * v1);
        let slope = 6.0 * r * s * (y1 - y0) / h + r * (r - 2.0 * s) * v0 + s * (s - 2.0 * r) * v1;
        (length, slope + r * (self.speeds[k] - v0) + s * (self.speeds[k + 1] - v1))
    }
}

/// The states of a muscle could not be carried on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NotContracted {
    /// s.
    pub time: f64,
}

/// One muscle on its way from one time to another.
pub(super) struct Contraction<'a> {
    pub muscle: &'a CompiledMuscle,
    pub course: &'a Course,
    /// Whether the path keeps its first length, while its speed goes on to be what it was.
    pub is_held: bool,
    pub from: f64,
    pub to: f64,
    /// Longest step, s.
    pub longest_step: f64,
}

impl Contraction<'_> {
    /// Carries the states to the end at a constant excitation, and gives the tension (N) there.
    pub fn run(&self, excitation: f64, z: &mut [f64]) -> Result<f64, NotContracted> {
        let n = z.len().min(MOST_STATES);
        let count = ((self.to - self.from) / self.longest_step - 1e-9).ceil().max(1.0);
        let full = (self.to - self.from) / count;
        let (mut t, mut h, mut halvings) = (self.from, full, 0);
        while n > 0 && t < self.to - 1e-9 * full {
            let step = h.min(self.to - t);
            match self.step(t, step, excitation, &mut z[..n]) {
                true => {
                    t += step;
                    if halvings > 0 {
                        (h, halvings) = (2.0 * h, halvings - 1);
                    }
                }
                false if halvings < MOST_HALVINGS => (h, halvings) = (0.5 * h, halvings + 1),
                false => return Err(NotContracted { time: t }),
            }
        }
        Ok(self.tension(excitation, z))
    }

    /// Tension at the end, N.
    pub fn tension(&self, excitation: f64, z: &[f64]) -> f64 {
        let (length, speed) = self.course.at(self.to, self.is_held);
        let mut rates = [0.0; MOST_STATES];
        self.muscle.dynamics(length, speed, excitation, z, &mut rates[..z.len()])
    }

    /// One step (1); `false` if Newton's method does not converge.
    fn step(&self, t: f64, h: f64, e: f64, z: &mut [f64]) -> bool {
        let n = z.len();
        let at = C.map(|c| self.course.at(t + c * h, self.is_held));
        let mut rate = [0.0; MOST_STATES];
        let (jacobian, start) = self.jacobian(t, e, z);
        let mut matrix = Matrix::new(3 * n);
        for i in 0..3 {
            for j in 0..3 {
                for r in 0..n {
                    for c in 0..n {
                        let one = if i == j && r == c { 1.0 } else { 0.0 };
                        matrix.values[(i * n + r) * MOST + j * n + c] = one - h * A[i][j] * jacobian[r][c];
                    }
                }
            }
        }
        if !matrix.factorize() {
            return false;
        }
        // Changes of the states at the stages, from the slope at the start.
        let mut change = [[0.0; MOST_STATES]; 3];
        for (change, c) in change.iter_mut().zip(C) {
            for k in 0..n {
                change[k] = c * h * start[k];
            }
        }
        let mut before = f64::INFINITY;
        for _ in 0..12 {
            let mut f = [[0.0; MOST_STATES]; 3];
            for i in 0..3 {
                let mut y = [0.0; MOST_STATES];
                for k in 0..n {
                    y[k] = z[k] + change[i][k];
                }
                self.muscle.dynamics(at[i].0, at[i].1, e, &y[..n], &mut rate[..n]);
                f[i] = rate;
            }
            let mut residual = [0.0; MOST];
            for i in 0..3 {
                for k in 0..n {
                    let sum: f64 = (0..3).map(|j| A[i][j] * f[j][k]).sum();
                    residual[i * n + k] = h * sum - change[i][k];
                }
            }
            matrix.solve(&mut residual);
            let mut size: f64 = 0.0;
            for i in 0..3 {
                for k in 0..n {
                    change[i][k] += residual[i * n + k];
                    size = size.max(residual[i * n + k].abs());
                }
            }
            if !size.is_finite() || size > 2.0 * before {
                return false;
            }
            if size < CONVERGED {
                for k in 0..n {
                    z[k] += change[2][k];
                }
                return true;
            }
            before = size;
        }
        false
    }

    /// ∂f/∂z and f at a time.
    fn jacobian(&self, t: f64, e: f64, z: &[f64]) -> ([[f64; MOST_STATES]; MOST_STATES], [f64; MOST_STATES]) {
        type D = Dual<f64, MOST_STATES>;
        let constant = |v: f64| D::new(v, [0.0; MOST_STATES]);
        let n = z.len();
        let (length, speed) = self.course.at(t, self.is_held);
        let (mut y, mut rates) = ([constant(0.0); MOST_STATES], [constant(0.0); MOST_STATES]);
        for k in 0..n {
            y[k] = D::variable(z[k], k);
        }
        self.muscle.dynamics(constant(length), constant(speed), constant(e), &y[..n], &mut rates[..n]);
        (rates.map(|r| r.d), rates.map(|r| r.v))
    }
}

/// A small matrix and its factors, row by row.
struct Matrix {
    order: usize,
    values: [f64; MOST * MOST],
    pivots: [usize; MOST],
}

impl Matrix {
    fn new(order: usize) -> Self {
        Matrix { order, values: [0.0; MOST * MOST], pivots: [0; MOST] }
    }

    /// LU with row pivots; `false` if it is singular.
    fn factorize(&mut self) -> bool {
        for k in 0..self.order {
            let size = |m: &Matrix, r: usize| m.values[r * MOST + k].abs();
            let mut p = k;
            for r in k + 1..self.order {
                if size(self, r) > size(self, p) {
                    p = r;
                }
            }
            if !(size(self, p) > 0.0) || !size(self, p).is_finite() {
                return false;
            }
            self.pivots[k] = p;
            if p != k {
                for c in 0..self.order {
                    self.values.swap(k * MOST + c, p * MOST + c);
                }
            }
            let inverse = 1.0 / self.values[k * MOST + k];
            for r in k + 1..self.order {
                let factor = self.values[r * MOST + k] * inverse;
                self.values[r * MOST + k] = factor;
                for c in k + 1..self.order {
                    self.values[r * MOST + c] -= factor * self.values[k * MOST + c];
                }
            }
        }
        true
    }

    fn solve(&self, x: &mut [f64; MOST]) {
        for k in 0..self.order {
            x.swap(k, self.pivots[k]);
            for r in k + 1..self.order {
                x[r] -= self.values[r * MOST + k] * x[k];
            }
        }
        for k in (0..self.order).rev() {
            for c in k + 1..self.order {
                x[k] -= self.values[k * MOST + c] * x[c];
            }
            x[k] /= self.values[k * MOST + k];
        }
    }
}

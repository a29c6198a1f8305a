//! Integration of a muscle over a time window with given path length.
//!
//! States z of a muscle follow ż = h(L(t), L̇(t), e, z) under a constant excitation e. Activation and fiber dynamics
//! can be stiff, so the three-stage Radau IIA method (order 5, L-stable) is used,
//!
//!   Yᵢ = z + h Σⱼ aᵢⱼ f(t + cⱼ h, Yⱼ),   z(t + h) = Y₃                               (1)
//!
//! with Newton's method on the stages and the exact Jacobian at the start of the step. With B = A⁻¹ = T Λ T⁻¹ and W = T⁻¹ (Y − z), a step
//! of Newton's method takes one real and one complex system of the size of z,
//!
//!   (Λ/h − J) ΔW = T⁻¹ F − Λ W/h,   Λ = diag(γ, α − iβ)                               (2)
//!
//! Stages are initialized by the polynomial of the previous step. Steps of 2.5 ms have errors of 3e-5 of the maximum
//! force where excitation jumps from zero to one, and much less otherwise; kinks in the muscle curves reduce the order
//! of the method. Source: Hairer & Wanner (1996), section IV.8.

use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::Dual;
use soleus_math::elementary;
use soleus_simulation::linear::{Complex, Field};

/// Most states that a muscle class has.
const MOST_STATES: usize = 3;
/// Longest step, s.
pub(super) const LONGEST_STEP: f64 = 0.0025;
/// The same where the force at the end need not be exact: at the limits of excitations, s.
pub(super) const LONGEST_STEP_AT_LIMITS: f64 = 0.005;
/// Steps that do not converge are halved so often at most.
const MOST_HALVINGS: usize = 14;
/// Newton's method ends when states are known to this, by the rate at which its steps shrink; m or without unit.
const CONVERGED: f64 = 1e-10;
/// Steps of Newton's method at most; three are usual.
const MOST_ITERATIONS: usize = 12;

const S6: f64 = 2.449_489_742_783_178;
const C: [f64; 3] = [(4.0 - S6) / 10.0, (4.0 + S6) / 10.0, 1.0];
/// Eigenvalues of B, and its eigenvectors as columns of T. Source: Hairer & Wanner (1996), section IV.8.
const GAMMA: f64 = 3.637_834_252_744_496;
const ALPHA_BETA: Complex = Complex::new(2.681_082_873_627_752, -3.050_430_199_247_411);
const T: [[f64; 3]; 3] = [
    [0.094_438_762_488_975_24, -0.141_255_295_020_954_2, 0.030_029_194_105_147_42],
    [0.250_213_122_965_333_3, 0.204_129_352_293_799_94, -0.382_942_112_757_261_9],
    [1.0, 1.0, 0.0],
];
const T_INVERSE: [[f64; 3]; 3] = [
    [4.178_718_591_551_904, 0.327_682_820_761_062_37, 0.523_376_445_499_449_5],
    [-4.178_718_591_551_904, -0.327_682_820_761_062_37, 0.476_623_554_500_550_44],
    [0.502_872_634_945_786_8, -2.571_926_949_855_605, 0.596_039_204_828_224_9],
];

/// A state, at most.
type Vector<S = f64> = [S; MOST_STATES];

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
        let (length, slope, beside) = self.all(t);
        (length, slope + beside)
    }

    /// Length and its slope at a time.
    pub fn slope(&self, t: f64) -> (f64, f64) {
        let (length, slope, _) = self.all(t);
        (length, slope)
    }

    /// Length, its slope, and what speed is beside that.
    fn all(&self, t: f64) -> (f64, f64, f64) {
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
        (length, slope, r * (self.speeds[k] - v0) + s * (self.speeds[k + 1] - v1))
    }
}

/// The states of a muscle could not be carried on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NotContracted {
    /// Time, s.
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

/// How a muscle answers to small changes: its tension (N) and the rate of the state that its path drives, which is that of its fibers, by
/// length and speed of the path and by that state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sensitivity {
    pub tension_by_length: f64,
    pub tension_by_speed: f64,
    pub tension_by_state: f64,
    pub rate_by_length: f64,
    pub rate_by_speed: f64,
    pub rate_by_state: f64,
}

impl Sensitivity {
    pub fn of(muscle: &CompiledMuscle, (length, speed): (f64, f64), e: f64, z: &[f64]) -> Self {
        type D = Dual<f64, MOST_STATES>;
        let constant = |v: f64| D::new(v, [0.0; MOST_STATES]);
        let n = z.len().min(MOST_STATES);
        let (mut y, mut rates) = ([constant(0.0); MOST_STATES], [constant(0.0); MOST_STATES]);
        y.iter_mut().zip(z).for_each(|(y, z)| *y = constant(*z));
        let by_path = {
            let (l, v) = (D::variable(length, 0), D::variable(speed, 1));
            muscle.dynamics(l, v, constant(e), &y[..n], &mut rates[..n]).d
        };
        let driven = rates.map(|r| r.d);
        let size = |k: usize| driven[k][0].abs() + driven[k][1].abs();
        let Some(k) = (0..n).max_by(|&a, &b| size(a).total_cmp(&size(b))) else {
            return Sensitivity {
                tension_by_length: by_path[0],
                tension_by_speed: by_path[1],
                ..Default::default()
            };
        };
        y.iter_mut().enumerate().take(n).for_each(|(k, y)| *y = D::variable(z[k], k));
        let by_state =
            muscle.dynamics(constant(length), constant(speed), constant(e), &y[..n], &mut rates[..n]).d;
        Sensitivity {
            tension_by_length: by_path[0],
            tension_by_speed: by_path[1],
            tension_by_state: by_state[k],
            rate_by_length: driven[k][0],
            rate_by_speed: driven[k][1],
            rate_by_state: rates[k].d[k],
        }
    }
}

/// What a step leaves to the next, and to the same step along a path that is a little different.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// Its length, s; 0 where there was none.
    h: f64,
    /// W of (2).
    w: [Vector; 3],
    /// The inverses of its matrices.
    real: [Vector; MOST_STATES],
    complex: [Vector<Complex>; MOST_STATES],
}

impl Contraction<'_> {
    /// Carries the states to the end at a constant excitation, and gives the tension (N) there.
    pub fn run(&self, excitation: f64, z: &mut [f64]) -> Result<f64, NotContracted> {
        let (mut last, mut rate) = (Step::default(), 1.0);
        self.carry((self.from, self.to), excitation, z, (&mut last, &mut rate))?;
        Ok(self.tension(excitation, z))
    }

    /// Carries the states from one time to another: by the step that is remembered if it has that length, else by new ones.
    pub fn carry(
        &self,
        (from, to): (f64, f64),
        excitation: f64,
        z: &mut [f64],
        (last, rate): (&mut Step, &mut f64),
    ) -> Result<(), NotContracted> {
        let n = z.len().min(MOST_STATES);
        let count = ((to - from) / self.longest_step - 1e-9).ceil().max(1.0);
        let full = (to - from) / count;
        let (mut t, mut h, mut halvings) = (from, full, 0);
        while n > 0 && t < to - 1e-9 * full {
            let step = h.min(to - t);
            match self.step((t, step), excitation, &mut z[..n], (last, rate)) {
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
        Ok(())
    }

    /// Takes a step once more, along a path that has changed a little, from its stages and with its matrices; `false` where that does not
    /// converge, and where the step is only the last part of the way, which was taken in several.
    pub fn again(&self, (from, to): (f64, f64), excitation: f64, z: &mut [f64], step: &mut Step) -> bool {
        let n = z.len().min(MOST_STATES);
        let is_whole = (step.h - (to - from)).abs() <= 1e-9 * (to - from);
        let at = C.map(|c| self.course.at(from + c * step.h, self.is_held));
        n == 0 || (is_whole && self.newton_of(&at, excitation, &mut z[..n], (step, &mut 1.0)))
    }

    /// Tension at the end, N.
    pub fn tension(&self, excitation: f64, z: &[f64]) -> f64 {
        let (length, speed) = self.course.at(self.to, self.is_held);
        let mut rates = [0.0; MOST_STATES];
        self.muscle.dynamics(length, speed, excitation, z, &mut rates[..z.len()])
    }

    /// One step (1), after the last; `false` if Newton's method does not converge.
    fn step(&self, (t, h): (f64, f64), e: f64, z: &mut [f64], (last, rate): (&mut Step, &mut f64)) -> bool {
        let n = z.len();
        let at = C.map(|c| self.course.at(t + c * h, self.is_held));
        let (jacobian, start) = self.jacobian(t, e, z);
        let mut next = Step { h, ..Step::default() };
        // Sizes that are known to the compiler halve the time of a step.
        let is_regular = match n {
            1 => next.invert::<1>(&jacobian),
            2 => next.invert::<2>(&jacobian),
            _ => next.invert::<MOST_STATES>(&jacobian),
        };
        if !is_regular {
            return false;
        }
        // The stages lie on the polynomial of the last step; without one, on the slope at the start.
        let change = match last.h > 0.0 {
            true => last.extrapolate(h),
            false => C.map(|c| start.map(|f| c * h * f)),
        };
        for (w, row) in next.w.iter_mut().zip(T_INVERSE) {
            for k in 0..n {
                w[k] = row[0] * change[0][k] + row[1] * change[1][k] + row[2] * change[2][k];
            }
        }
        let converged = self.newton_of(&at, e, z, (&mut next, rate));
        if converged {
            *last = next;
        }
        converged
    }

    fn newton_of(&self, at: &[(f64, f64); 3], e: f64, z: &mut [f64], step: (&mut Step, &mut f64)) -> bool {
        match z.len() {
            1 => self.newton::<1>(at, e, z, step),
            2 => self.newton::<2>(at, e, z, step),
            _ => self.newton::<MOST_STATES>(at, e, z, step),
        }
    }

    /// Newton's method (2) from the stages of a step, with its matrices; adds the change at the last stage to z.
    fn newton<const N: usize>(
        &self,
        at: &[(f64, f64); 3],
        e: f64,
        z: &mut [f64],
        (step, rate): (&mut Step, &mut f64),
    ) -> bool {
        let n = N.min(z.len());
        let mut before = f64::INFINITY;
        *rate = elementary::powf(rate.max(1e-16), 0.8);
        for k in 0..MOST_ITERATIONS {
            let change = step.changes::<N>();
            let mut f = [[0.0; MOST_STATES]; 3];
            for i in 0..3 {
                let mut y = [0.0; MOST_STATES];
                for k in 0..n {
                    y[k] = z[k] + change[i][k];
                }
                self.muscle.dynamics(at[i].0, at[i].1, e, &y[..n], &mut f[i][..n]);
            }
            let (mut r1, mut r23) = ([0.0; MOST_STATES], [Complex::default(); MOST_STATES]);
            for k in 0..n {
                let r = [0, 1, 2].map(|i| {
                    let row = T_INVERSE[i];
                    row[0] * f[0][k] + row[1] * f[1][k] + row[2] * f[2][k]
                });
                let [w1, w2, w3] = [0, 1, 2].map(|i| step.w[i][k] / step.h);
                r1[k] = r[0] - GAMMA * w1;
                r23[k] = Complex::new(r[1], r[2]) - ALPHA_BETA * Complex::new(w2, w3);
            }
            let (d1, d23) =
                (multiply::<f64, N>(&step.real, &r1), multiply::<Complex, N>(&step.complex, &r23));
            let mut size: f64 = 0.0;
            for k in 0..n {
                let d = [d1[k], d23[k].re, d23[k].im];
                for i in 0..3 {
                    step.w[i][k] += d[i];
                    size = size.max((T[i][0] * d[0] + T[i][1] * d[1] + T[i][2] * d[2]).abs());
                }
            }
            if !size.is_finite() || size > 2.0 * before {
                return false;
            }
            if k > 0 {
                let ratio = size / before;
                *rate = if ratio < 1.0 { ratio / (1.0 - ratio) } else { f64::INFINITY };
            }
            if *rate * size < CONVERGED || size == 0.0 {
                let change = step.changes::<N>();
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
    fn jacobian(&self, t: f64, e: f64, z: &[f64]) -> ([Vector; MOST_STATES], Vector) {
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

impl Step {
    /// Sets the inverses of Λ/h − J; `false` if there is none.
    fn invert<const N: usize>(&mut self, jacobian: &[Vector; MOST_STATES]) -> bool {
        let (mut real, mut complex) = ([[0.0; N]; N], [[Complex::default(); N]; N]);
        for r in 0..N {
            for c in 0..N {
                real[r][c] = -jacobian[r][c];
                complex[r][c] = Complex::new(-jacobian[r][c], 0.0);
            }
            real[r][r] += GAMMA / self.h;
            complex[r][r] = complex[r][r] + Complex::new(ALPHA_BETA.re / self.h, ALPHA_BETA.im / self.h);
        }
        let (Some(real), Some(complex)) = (inverse(real), inverse(complex)) else { return false };
        for r in 0..N {
            self.real[r][..N].copy_from_slice(&real[r]);
            self.complex[r][..N].copy_from_slice(&complex[r]);
        }
        true
    }

    /// Y − z at the stages.
    fn changes<const N: usize>(&self) -> [Vector; 3] {
        T.map(|row| {
            let mut change = [0.0; MOST_STATES];
            for (k, c) in change[..N].iter_mut().enumerate() {
                *c = row[0] * self.w[0][k] + row[1] * self.w[1][k] + row[2] * self.w[2][k];
            }
            change
        })
    }

    /// Changes at the stages of a step after it, on its own polynomial.
    fn extrapolate(&self, h: f64) -> [Vector; 3] {
        let change = self.changes::<MOST_STATES>();
        // Lagrange's polynomials that vanish at the start and at the other stages.
        let weights = |s: f64| {
            [0, 1, 2].map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                s * (s - C[j]) * (s - C[k]) / (C[i] * (C[i] - C[j]) * (C[i] - C[k]))
            })
        };
        C.map(|c| {
            let w = weights(1.0 + c * h / self.h);
            let mut ahead = [0.0; MOST_STATES];
            for (k, a) in ahead.iter_mut().enumerate() {
                *a = w[0] * change[0][k] + w[1] * change[1][k] + (w[2] - 1.0) * change[2][k];
            }
            ahead
        })
    }
}

/// The inverse of a small matrix, by elimination with row pivots; none if it is singular.
fn inverse<S: Field, const N: usize>(mut a: [[S; N]; N]) -> Option<[[S; N]; N]> {
    let mut b = [[S::default(); N]; N];
    for (k, row) in b.iter_mut().enumerate() {
        row[k] = S::one();
    }
    for k in 0..N {
        let p = (k..N).fold(k, |p, r| if a[r][k].size() > a[p][k].size() { r } else { p });
        if !(a[p][k].size() > 0.0) || !a[p][k].size().is_finite() {
            return None;
        }
        a.swap(k, p);
        b.swap(k, p);
        let pivot = S::one() / a[k][k];
        for c in 0..N {
            a[k][c] = a[k][c] * pivot;
            b[k][c] = b[k][c] * pivot;
        }
        for r in (0..N).filter(|&r| r != k) {
            let factor = a[r][k];
            for c in 0..N {
                a[r][c] = a[r][c] - factor * a[k][c];
                b[r][c] = b[r][c] - factor * b[k][c];
            }
        }
    }
    Some(b)
}

fn multiply<S: Field, const N: usize>(a: &[Vector<S>; MOST_STATES], x: &Vector<S>) -> Vector<S> {
    let mut y = [S::default(); MOST_STATES];
    for r in 0..N {
        for k in 0..N {
            y[r] = y[r] + a[r][k] * x[k];
        }
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B T = T Λ with B the inverse of the published A, and T T⁻¹ = 1.
    #[test]
    fn analytic_transformation_of_the_stages() {
        let A = [
            [(88.0 - 7.0 * S6) / 360.0, (296.0 - 169.0 * S6) / 1800.0, (-2.0 + 3.0 * S6) / 225.0],
            [(296.0 + 169.0 * S6) / 1800.0, (88.0 + 7.0 * S6) / 360.0, (-2.0 - 3.0 * S6) / 225.0],
            [(16.0 - S6) / 36.0, (16.0 + S6) / 36.0, 1.0 / 9.0],
        ];
        let (alpha, beta) = (ALPHA_BETA.re, -ALPHA_BETA.im);
        let L = [[GAMMA, 0.0, 0.0], [0.0, alpha, beta], [0.0, -beta, alpha]];
        let product = |a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]| {
            [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>()))
        };
        // A T Λ = T.
        let (left, one) = (product(&A, &product(&T, &L)), product(&T, &T_INVERSE));
        for i in 0..3 {
            for j in 0..3 {
                assert!((left[i][j] - T[i][j]).abs() < 1e-14, "{i} {j}: {} and {}", left[i][j], T[i][j]);
                assert!((one[i][j] - f64::from(i == j)).abs() < 1e-14, "{one:?}");
            }
        }
    }
}

//! Integration of a muscle over a time window with given path length.
//!
//! States z of a muscle follow ż = h(L(t), L̇(t), e, z) under a constant excitation e. Activation and fiber dynamics
//! can be stiff, so the three-stage Radau IIA method (order 5, L-stable) is used,
//!
//!   Yᵢ = z + h Σⱼ aᵢⱼ f(t + cⱼ h, Yⱼ),   z(t + h) = Y₃                               (1)
//!
//! with Newton's method on the stages and the exact Jacobian in the middle of its first guess. With B = A⁻¹ = T Λ T⁻¹ and W = T⁻¹ (Y − z), a step
//! of Newton's method takes one real and one complex system of the size of z,
//!
//!   (Λ/h − J) ΔW = T⁻¹ F − Λ W/h,   Λ = diag(γ, α − iβ)                               (2)
//!
//! Stages are initialized by the polynomial of the previous step. Steps of 2.5 ms have errors of 3e-5 of the maximum
//! force where excitation jumps from zero to one, and much less otherwise; kinks in the muscle curves reduce the order
//! of the method. Source: Hairer & Wanner (1996), section IV.8.

use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::Dual;
use soleus_simulation::linear::{Complex, Field};

/// Most states that a muscle class has.
const MOST_STATES: usize = 3;
/// States, or time in place of one, and the excitation.
const ALL: usize = MOST_STATES + 1;
/// Longest step on average, s.
pub(super) const LONGEST_STEP: f64 = 0.0025;
/// The same where the force at the end need not be exact: at the limits of excitations, s.
pub(super) const LONGEST_STEP_AT_LIMITS: f64 = 0.005;
/// Where the excitation changes, activation bends most: the first step is this part of the others.
const FIRST_STEP: f64 = 0.6;
/// Steps that do not converge are halved so often at most.
const MOST_HALVINGS: usize = 14;
/// Newton's method ends when states are known to this, by the rate at which its steps shrink; m or without unit.
pub(super) const CONVERGED: f64 = 1e-10;
/// The same at the limits of excitations.
pub(super) const CONVERGED_AT_LIMITS: f64 = 1e-7;
/// The same in a search for an excitation, and where the bodies go on.
pub(super) const CONVERGED_WITHIN: f64 = 1e-9;
/// Where an error shrinks less than to this part, the matrices are taken once more, from where the stages are by then.
const SLOW: f64 = 0.2;
/// Steps of Newton's method at most; three are usual.
const MOST_ITERATIONS: usize = 12;
/// Excitations are found to this, in so many passes at most; three are usual.
const EXCITATION_TOLERANCE: f64 = 1e-6;
const MOST_PASSES: usize = 8;

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

    /// Length and speed at the stages of a step.
    fn stages(&self, t: f64, h: f64, is_held: bool) -> [(f64, f64); 3] {
        let last = self.times.len() - 2;
        let k = self.times[1..].partition_point(|&x| x < t + 0.5 * h).min(last);
        let (from, to, little) = (self.times[k], self.times[k + 1], 1e-9 * h);
        if is_held || t < from - little || t + h > to + little {
            return C.map(|c| self.at(t + c * h, is_held));
        }
        let (per, s0) = (1.0 / (to - from), (t - from) / (to - from));
        C.map(|c| {
            let (length, slope, beside) = self.on(k, s0 + c * h * per, per);
            (length, slope + beside)
        })
    }

    /// Length and speed at places, where speeds are the slopes.
    pub fn at_places(&self, places: &[Place; 3]) -> [(f64, f64); 3] {
        places.map(|p| {
            let k = p.cubic;
            let h = self.times[k + 1] - self.times[k];
            let (rise, v0, v1) = (self.lengths[k + 1] - self.lengths[k], self.slopes[k], self.slopes[k + 1]);
            let length = p.length[0] * rise + h * (p.length[1] * v0 + p.length[2] * v1);
            (self.lengths[k] + length, p.speed[0] * rise / h + p.speed[1] * v0 + p.speed[2] * v1)
        })
    }

    /// How fast length and speed change at a time, for a first guess: speed as it does over the whole course.
    fn rates(&self, t: f64) -> (f64, f64) {
        let last = self.times.len() - 1;
        let span = self.times[last] - self.times[0];
        (self.slope(t).1, (self.speeds[last] - self.speeds[0]) / span)
    }

    /// Length, its slope, and what speed is beside that.
    fn all(&self, t: f64) -> (f64, f64, f64) {
        let last = self.times.len() - 2;
        let k = self.times[1..].partition_point(|&x| x < t).min(last);
        let h = self.times[k + 1] - self.times[k];
        self.on(k, (t - self.times[k]) / h, 1.0 / h)
    }

    /// The same on one of the cubics: its place, how far from 0 to 1, and one over its duration.
    #[inline]
    fn on(&self, k: usize, s: f64, per: f64) -> (f64, f64, f64) {
        let (y0, y1, v0, v1) = (self.lengths[k], self.lengths[k + 1], self.slopes[k], self.slopes[k + 1]);
        let r = 1.0 - s;
        let mean = (y1 - y0) * per;
        // Hermite's cubic and its slope.
        let bend = r * (v0 - mean) - s * (v1 - mean);
        let length = y0 + s * (y1 - y0) + r * s * bend / per;
        let slope = mean + (r - s) * bend - r * s * (v0 + v1 - 2.0 * mean);
        (length, slope, r * (self.speeds[k] - v0) + s * (self.speeds[k + 1] - v1))
    }
}

/// Places of the stages of a step on courses whose times lie in the same proportions: the cubic, and what its ends count for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    cubic: usize,
    /// Of the rise in length, and of the two slopes times the duration, for the length beyond its first.
    length: [f64; 3],
    /// Of the mean slope and of the two slopes, for the speed.
    speed: [f64; 3],
}

impl Place {
    /// The stages of a step from one time to another on a course with given times.
    pub fn of(times: &[f64], (from, to): (f64, f64)) -> [Place; 3] {
        C.map(|c| {
            let t = from + c * (to - from);
            let cubic = times[1..].partition_point(|&x| x < t).min(times.len() - 2);
            let s = (t - times[cubic]) / (times[cubic + 1] - times[cubic]);
            let r = 1.0 - s;
            Place {
                cubic,
                length: [s + r * s * (s - r), r * s * r, -r * s * s],
                speed: [6.0 * r * s, r * (r - 2.0 * s), s * (s - 2.0 * r)],
            }
        })
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
    /// Newton's method ends when states are known to this; m or without unit.
    pub converged: f64,
    /// Whether steps are to know their derivatives by the excitation.
    pub by_excitation: bool,
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
    /// That state.
    pub driven: usize,
}

impl Sensitivity {
    pub fn of(muscle: &CompiledMuscle, (length, speed): (f64, f64), e: f64, z: &[f64]) -> Self {
        const SIZE: usize = MOST_STATES + 1;
        type D = Dual<f64, SIZE>;
        let n = z.len().min(MOST_STATES);
        let constant = |v: f64| D::new(v, [0.0; SIZE]);
        // By length, by speed, and by the first two of the states.
        let (mut y, mut rates) = ([D::default(); MOST_STATES], [D::default(); MOST_STATES]);
        for (k, (y, z)) in y.iter_mut().zip(z).enumerate() {
            *y = if 2 + k < SIZE { D::variable(*z, 2 + k) } else { constant(*z) };
        }
        let (l, v) = (D::variable(length, 0), D::variable(speed, 1));
        let tension = muscle.dynamics(l, v, constant(e), &y[..n], &mut rates[..n]).d;
        let driven = rates.map(|r| r.d);
        let size = |k: usize| driven[k][0].abs() + driven[k][1].abs();
        let mut s =
            Sensitivity { tension_by_length: tension[0], tension_by_speed: tension[1], ..Default::default() };
        let Some(k) = (0..n).max_by(|&a, &b| size(a).total_cmp(&size(b))) else { return s };
        (s.rate_by_length, s.rate_by_speed, s.driven) = (driven[k][0], driven[k][1], k);
        if 2 + k < SIZE {
            (s.tension_by_state, s.rate_by_state) = (tension[2 + k], driven[k][2 + k]);
        } else {
            y.iter_mut().enumerate().take(n).for_each(|(k, y)| *y = D::variable(z[k], k));
            let by_state =
                muscle.dynamics(constant(length), constant(speed), constant(e), &y[..n], &mut rates[..n]).d;
            (s.tension_by_state, s.rate_by_state) = (by_state[k], rates[k].d[k]);
        }
        s
    }
}

/// What a step leaves to the next, and to the same step along a path or at an excitation that is a little different.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// Its beginning and length, s; a length of 0 where there was none.
    t: f64,
    h: f64,
    /// Length and speed of the path at its stages.
    at: [(f64, f64); 3],
    /// W of (2).
    w: [Vector; 3],
    /// J in the middle, and ∂f/∂e there.
    jacobian: [Vector; MOST_STATES],
    by_excitation: Vector,
    /// The inverses of its matrices.
    real: [Vector; MOST_STATES],
    complex: [Vector<Complex>; MOST_STATES],
    /// ∂W/∂e.
    dw: [Vector; 3],
    /// What is left of an error after a step of Newton's method, of the error before.
    rate: f64,
}

/// Derivatives at the beginning of a step: by states, by excitation, and by time with the path.
struct Derivatives {
    rates: Vector,
    by_state: [Vector; MOST_STATES],
    by_excitation: Vector,
    by_time: Vector,
}

impl Contraction<'_> {
    /// Carries the states to the end at a constant excitation, and gives the tension (N) there.
    pub fn run(&self, excitation: f64, z: &mut [f64]) -> Result<f64, NotContracted> {
        self.carry((self.from, self.to), excitation, z, &mut Step::default(), &mut |_| {})?;
        Ok(self.tension(excitation, z))
    }

    /// Carries the states from one time to another: by the step that is remembered if it has that length, else by new ones, each of which
    /// is shown when it is done.
    pub fn carry(
        &self,
        (from, to): (f64, f64),
        excitation: f64,
        z: &mut [f64],
        last: &mut Step,
        done: &mut dyn FnMut(&Step),
    ) -> Result<(), NotContracted> {
        let n = z.len().min(MOST_STATES);
        let count = ((to - from) / self.longest_step - 1e-9).ceil().max(1.0);
        // A step without one before it begins where the excitation has changed.
        let first = if last.h > 0.0 || count == 1.0 { 1.0 } else { FIRST_STEP };
        let full = (to - from) / (count - 1.0 + first);
        let (mut t, mut h, mut halvings) = (from, first * full, 0);
        while n > 0 && t < to - 1e-9 * full {
            let step = h.min(to - t);
            match self.step((t, step), excitation, &mut z[..n], last) {
                true => {
                    done(last);
                    t += step;
                    (h, halvings) = if halvings > 0 { (2.0 * h, halvings - 1) } else { (full, 0) };
                }
                false if halvings < MOST_HALVINGS => (h, halvings) = (0.5 * h, halvings + 1),
                false => return Err(NotContracted { time: t }),
            }
        }
        Ok(())
    }

    /// Takes a step once more, along a path that has changed a little and is given at its stages, from its own stages and with its
    /// matrices; `false` where that does not converge.
    pub fn again(&self, at: [(f64, f64); 3], excitation: f64, z: &mut [f64], step: &mut Step) -> bool {
        let n = z.len().min(MOST_STATES);
        step.at = at;
        n == 0 || self.newton_of(excitation, &mut z[..n], step)
    }

    /// The excitation that leads to a tension at the end, from a guess between two limits: Newton's method on the tension at the end, with
    /// its derivative carried along by the matrices of the steps, and by the line through the last two tensions from the second time on.
    /// `None` where that does not converge.
    pub fn excitation_for(
        &self,
        target: f64,
        guess: f64,
        [mut low, mut high]: [f64; 2],
        (z0, steps): (&[f64], &mut Vec<Step>),
    ) -> Option<f64> {
        let n = z0.len().min(MOST_STATES);
        if n == 0 || n != z0.len() {
            return None;
        }
        let limits = [low, high];
        let mut z = [0.0; MOST_STATES];
        let z = &mut z[..n];
        let mut e = guess;
        let (mut before, mut slope_before) = ((e, 0.0), 0.0);
        for pass in 0..MOST_PASSES {
            z.copy_from_slice(z0);
            let (tension, slope);
            if pass == 0 {
                steps.clear();
                let span = (self.from, self.to);
                self.carry(span, e, z, &mut Step::default(), &mut |step| steps.push(*step)).ok()?;
                let mut by_excitation = [0.0; MOST_STATES];
                for step in steps.iter_mut() {
                    match n {
                        1 => step.follow_excitation::<1>(&mut by_excitation),
                        2 => step.follow_excitation::<2>(&mut by_excitation),
                        _ => step.follow_excitation::<MOST_STATES>(&mut by_excitation),
                    }
                }
                (tension, slope) = self.tension_and_slope(e, z, &by_excitation[..n]);
            } else {
                for step in steps.iter_mut() {
                    if !self.newton_of(e, z, step) {
                        return None;
                    }
                }
                tension = self.tension(e, z);
                let (e0, t0): (f64, f64) = before;
                slope = (tension - t0) / (e - e0);
            }
            let missed = target - tension;
            if missed > 0.0 {
                low = e
            } else {
                high = e
            }
            let change = missed / slope;
            if !(slope > 0.0 && change.is_finite()) {
                return None;
            }
            // The next change is as much smaller as the slope is wrong, of which the last change of it tells.
            let left = match pass {
                0 => change.abs(),
                _ => change.abs() * ((slope - slope_before) / slope).abs().min(1.0),
            };
            let next = e + change;
            if left < EXCITATION_TOLERANCE || high - low < 2.0 * EXCITATION_TOLERANCE {
                return Some(next.clamp(limits[0], limits[1]));
            }
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            for step in steps.iter_mut() {
                for (w, d) in step.w.iter_mut().zip(&step.dw) {
                    w.iter_mut().zip(d).for_each(|(w, d)| *w += (next - e) * d);
                }
            }
            (before, slope_before) = ((e, tension), slope);
            e = next;
        }
        None
    }

    /// Tension at the end, N.
    pub fn tension(&self, excitation: f64, z: &[f64]) -> f64 {
        let (length, speed) = self.course.at(self.to, self.is_held);
        let mut rates = [0.0; MOST_STATES];
        self.muscle.dynamics(length, speed, excitation, z, &mut rates[..z.len()])
    }

    /// Tension at the end, N, and its derivative by the excitation, where that of the states is known.
    fn tension_and_slope(&self, e: f64, z: &[f64], by_excitation: &[f64]) -> (f64, f64) {
        type D = Dual<f64, 1>;
        let (length, speed) = self.course.at(self.to, self.is_held);
        let (mut y, mut rates) = ([D::default(); MOST_STATES], [D::default(); MOST_STATES]);
        for ((y, z), d) in y.iter_mut().zip(z).zip(by_excitation) {
            *y = D::new(*z, [*d]);
        }
        let (n, constant) = (z.len(), |v: f64| D::new(v, [0.0]));
        let tension = self.muscle.dynamics(
            constant(length),
            constant(speed),
            D::variable(e, 0),
            &y[..n],
            &mut rates[..n],
        );
        (tension.v, tension.d[0])
    }

    /// One step (1), after the last; `false` if Newton's method does not converge.
    fn step(&self, (t, h): (f64, f64), e: f64, z: &mut [f64], last: &mut Step) -> bool {
        match z.len() {
            1 => self.step_of::<1>((t, h), e, z, last),
            2 => self.step_of::<2>((t, h), e, z, last),
            _ => self.step_of::<MOST_STATES>((t, h), e, z, last),
        }
    }

    /// Sizes that are known to the compiler halve the time of a step.
    fn step_of<const N: usize>(&self, (t, h): (f64, f64), e: f64, z: &mut [f64], last: &mut Step) -> bool {
        let Some(start) = z.first_chunk::<N>().copied() else { return false };
        let mut next = Step {
            t,
            h,
            at: self.course.stages(t, h, self.is_held),
            rate: if last.h > 0.0 { last.rate } else { 1.0 },
            ..Step::default()
        };
        if last.h > 0.0 {
            // The stages lie on the polynomial of the last step.
            let change = last.extrapolate::<N>(h);
            for (w, row) in next.w.iter_mut().zip(T_INVERSE) {
                for (k, w) in w[..N].iter_mut().enumerate() {
                    *w = row[0] * change[0][k] + row[1] * change[1][k] + row[2] * change[2][k];
                }
            }
        } else {
            // Without one, they are those of the equations as they are at the start.
            let d = self.derivatives::<N, ALL>(t, e, &start);
            (next.jacobian, next.by_excitation) = (d.by_state, d.by_excitation);
            if !next.invert::<N>() {
                return false;
            }
            let of = |k: usize| C.map(|c| d.rates[k] + c * h * d.by_time[k]);
            next.w = next.solve::<N>(of);
        }
        let converged = next.take_middle::<N>(self, e, &start) && self.newton::<N>(e, z, &mut next);
        if converged {
            *last = next;
        }
        converged
    }

    fn newton_of(&self, e: f64, z: &mut [f64], step: &mut Step) -> bool {
        match z.len() {
            1 => self.newton::<1>(e, z, step),
            2 => self.newton::<2>(e, z, step),
            _ => self.newton::<MOST_STATES>(e, z, step),
        }
    }

    /// Newton's method (2) from the stages of a step, with its matrices; adds the change at the last stage to z.
    fn newton<const N: usize>(&self, e: f64, z: &mut [f64], step: &mut Step) -> bool {
        let Some(z) = z.first_chunk_mut::<N>() else { return false };
        let mut before = f64::INFINITY;
        // Less confidence with every step, as in Hairer's RADAU5, by three quarters of its digits instead of four fifths.
        let mut rate = step.rate.max(1e-16);
        rate = (rate * rate.sqrt()).sqrt();
        let mut is_renewed = false;
        let per = 1.0 / step.h;
        let mut change = step.changes::<N>();
        for k in 0..MOST_ITERATIONS {
            let mut f = [[0.0; N]; 3];
            for i in 0..3 {
                let mut y = *z;
                for k in 0..N {
                    y[k] += change[i][k];
                }
                self.muscle.dynamics(step.at[i].0, step.at[i].1, e, &y, &mut f[i]);
            }
            let (mut r1, mut r23) = ([0.0; N], [Complex::default(); N]);
            for k in 0..N {
                let r = T_INVERSE.map(|row| row[0] * f[0][k] + row[1] * f[1][k] + row[2] * f[2][k]);
                let [w1, w2, w3] = [0, 1, 2].map(|i| step.w[i][k] * per);
                r1[k] = r[0] - GAMMA * w1;
                r23[k] = Complex::new(r[1], r[2]) - ALPHA_BETA * Complex::new(w2, w3);
            }
            let (d1, d23) =
                (multiply::<f64, N>(&step.real, &r1), multiply::<Complex, N>(&step.complex, &r23));
            // A sum, unlike a maximum, keeps what is not a number.
            let mut size: f64 = 0.0;
            for k in 0..N {
                let d = [d1[k], d23[k].re, d23[k].im];
                for i in 0..3 {
                    step.w[i][k] += d[i];
                    let more = T[i][0] * d[0] + T[i][1] * d[1] + T[i][2] * d[2];
                    change[i][k] += more;
                    size += more * more;
                }
            }
            let size = size.sqrt();
            if !size.is_finite() || size > 2.0 * before {
                return false;
            }
            if k > 0 {
                let ratio = size / before;
                if !(ratio < SLOW) && !is_renewed && rate * size >= self.converged {
                    is_renewed = true;
                    step.take_middle::<N>(self, e, z);
                }
                rate = if ratio < 1.0 { ratio / (1.0 - ratio) } else { f64::INFINITY };
            }
            if rate * size < self.converged || size == 0.0 {
                for k in 0..N {
                    z[k] += change[2][k];
                }
                step.rate = rate;
                return true;
            }
            before = size;
        }
        false
    }

    /// Derivatives by the states, and if there are as many as [`ALL`], also by time and by excitation.
    fn derivatives<const N: usize, const SIZE: usize>(&self, t: f64, e: f64, z: &[f64]) -> Derivatives {
        let (length, speed) = self.course.at(t, self.is_held);
        let constant = |v: f64| Dual::new(v, [0.0; SIZE]);
        let (mut y, mut rates) = ([constant(0.0); N], [constant(0.0); N]);
        for (k, (y, z)) in y.iter_mut().zip(z).enumerate() {
            *y = Dual::variable(*z, k);
        }
        let (mut L, mut v, mut e) = (constant(length), constant(speed), constant(e));
        if SIZE == ALL {
            e.d[SIZE - 1] = 1.0;
            // Time takes the place of a state that is not there.
            if N < MOST_STATES && !self.is_held {
                (L.d[SIZE - 2], v.d[SIZE - 2]) = self.course.rates(t);
            }
        }
        self.muscle.dynamics(L, v, e, &y, &mut rates);
        let mut d = Derivatives {
            rates: [0.0; MOST_STATES],
            by_state: [[0.0; MOST_STATES]; MOST_STATES],
            by_excitation: [0.0; MOST_STATES],
            by_time: [0.0; MOST_STATES],
        };
        for (k, rate) in rates.iter().enumerate() {
            d.rates[k] = rate.v;
            d.by_state[k][..N].copy_from_slice(&rate.d[..N]);
            if SIZE == ALL {
                d.by_excitation[k] = rate.d[SIZE - 1];
                d.by_time[k] = if N < MOST_STATES { rate.d[SIZE - 2] } else { 0.0 };
            }
        }
        d
    }
}

impl Step {
    /// Sets the inverses of Λ/h − J; `false` if there is none.
    fn invert<const N: usize>(&mut self) -> bool {
        let jacobian = &self.jacobian;
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

    /// Takes the matrices in the middle of the step, at its second stage; they stay as they are where those are singular. `false` if
    /// there are none at all.
    fn take_middle<const N: usize>(&mut self, along: &Contraction, e: f64, z: &[f64; N]) -> bool {
        let change = self.changes::<N>();
        let mut y = *z;
        for k in 0..N {
            y[k] += change[1][k];
        }
        let before = (self.jacobian, self.by_excitation);
        let t = self.t + C[1] * self.h;
        let d = match along.by_excitation {
            true => along.derivatives::<N, ALL>(t, e, &y),
            false => along.derivatives::<N, N>(t, e, &y),
        };
        (self.jacobian, self.by_excitation) = (d.by_state, d.by_excitation);
        let is_done = self.invert::<N>();
        if !is_done {
            (self.jacobian, self.by_excitation) = before;
        }
        is_done || self.real[0][0] != 0.0
    }

    /// W of the linear equations with given rates at the stages.
    fn solve<const N: usize>(&self, rates: impl Fn(usize) -> [f64; 3]) -> [Vector; 3] {
        let (mut r1, mut r23) = ([0.0; N], [Complex::default(); N]);
        for k in 0..N {
            let f = rates(k);
            let r = T_INVERSE.map(|row| row[0] * f[0] + row[1] * f[1] + row[2] * f[2]);
            (r1[k], r23[k]) = (r[0], Complex::new(r[1], r[2]));
        }
        let (d1, d23) = (multiply::<f64, N>(&self.real, &r1), multiply::<Complex, N>(&self.complex, &r23));
        let mut w = [[0.0; MOST_STATES]; 3];
        for k in 0..N {
            (w[0][k], w[1][k], w[2][k]) = (d1[k], d23[k].re, d23[k].im);
        }
        w
    }

    /// ∂W/∂e, and from the derivatives of the states at the beginning those at the end.
    fn follow_excitation<const N: usize>(&mut self, by_excitation: &mut Vector) {
        let of = |k: usize| {
            let sum: f64 = (0..N).map(|j| self.jacobian[k][j] * by_excitation[j]).sum();
            [sum + self.by_excitation[k]; 3]
        };
        self.dw = self.solve::<N>(of);
        let [a, b, c] = T[2];
        for (k, s) in by_excitation[..N].iter_mut().enumerate() {
            *s += a * self.dw[0][k] + b * self.dw[1][k] + c * self.dw[2][k];
        }
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
    fn extrapolate<const N: usize>(&self, h: f64) -> [Vector; 3] {
        let change = self.changes::<N>();
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
            for (k, a) in ahead[..N].iter_mut().enumerate() {
                *a = w[0] * change[0][k] + w[1] * change[1][k] + (w[2] - 1.0) * change[2][k];
            }
            ahead
        })
    }
}

/// The inverse of a small matrix, of two rows by its determinant, otherwise by elimination with row pivots; none if it is singular.
fn inverse<S: Field, const N: usize>(mut a: [[S; N]; N]) -> Option<[[S; N]; N]> {
    if N == 2 {
        let last = N - 1;
        let ([p, q], [r, s]) = ([a[0][0], a[0][last]], [a[last][0], a[last][last]]);
        let determinant = p * s - q * r;
        let size = determinant.size();
        if !(size > 0.0) || !size.is_finite() {
            return None;
        }
        let per = S::one() / determinant;
        (a[0][0], a[0][last]) = (s * per, -q * per);
        (a[last][0], a[last][last]) = (-r * per, p * per);
        return Some(a);
    }
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

fn multiply<S: Field, const N: usize>(a: &[Vector<S>; MOST_STATES], x: &[S; N]) -> [S; N] {
    let mut y = [S::default(); N];
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

//! Compares each frame with earlier frames: frames with a sudden increase of the error or a jump of an angle are solved
//! again.

use super::starts::Near;
use super::{Fit, InverseKinematics};
use soleus_math::Vec3;

/// What markers may be off beyond what is usual for them, in parts of the spread of all: 3 cm on an adult.
const SLACK: f64 = 0.05;

/// A spread that is taken for markers that are closer together, m: what is left to noise of some millimeters on a single one.
const SMALL_M: f64 = 0.1;

/// A marker this many times as far as usual from where it usually is, and by the slack beyond, is off.
const TIMES_USUAL: f64 = 3.0;

/// An angle that changes by more within a frame jumps, rad: fast arms do 0.3 at 100 frames per second.
const JUMP: f64 = 0.7;

/// Markers farther off on average than this part of their spread are not met at all.
pub(super) const NOT_MET: f64 = 0.1;

/// How fast the usual distance follows a larger and a smaller one, per frame.
const FOLLOWS: [f64; 2] = [0.1, 0.3];

/// Rounds of weighing markers by how far they are off.
const ROUNDS: usize = 8;

/// Fewer markers than this do not outvote one of them.
const FEW: usize = 6;

const NOWHERE: Vec3<f64> = Vec3 { x: f64::NAN, y: f64::NAN, z: f64::NAN };

/// What is usual, and what was found in the last frame.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// Frames solved.
    frames: usize,
    /// The pose that the frame started from.
    pub before: Vec<f64>,
    /// Most markers seen in a frame so far.
    most_seen: usize,
    /// From where each marker is seen to where it is on the model, usually, on its body, m: a marker that was not put where the
    /// model has it stays so. NaN until it is seen.
    usual: Vec<Vec3<f64>>,
    /// How far from there it usually is, m.
    stray: Vec<f64>,
    /// Usual mean square of the distances, with weights, m².
    usual_square: f64,
    /// Markers left out of the frame.
    pub left_out: Vec<usize>,
    /// Markers taken for each other.
    pub exchanged: Vec<[usize; 2]>,
    /// Whether the fit is far better than it was.
    pub improved: bool,
    kept: Vec<f64>,
    seen_at: Vec<Vec3<f64>>,
    /// Where markers that are off would be seen.
    expected: Vec<Vec3<f64>>,
    ratios: Vec<f64>,
}

impl Watch {
    pub fn new(mobilities: usize, markers: usize) -> Self {
        Watch {
            frames: 0,
            before: vec![0.0; mobilities],
            most_seen: 0,
            usual: vec![NOWHERE; markers],
            stray: vec![0.0; markers],
            usual_square: 0.0,
            left_out: Vec::with_capacity(markers),
            exchanged: Vec::with_capacity(markers),
            improved: false,
            kept: vec![0.0; mobilities],
            seen_at: vec![Vec3::zero(); markers],
            expected: vec![Vec3::zero(); markers],
            ratios: Vec::with_capacity(markers),
        }
    }
}

/// 4, 16, 64, …: often at first, and never a part of the work that matters.
fn is_power_of_four(n: usize) -> bool {
    n.is_power_of_two() && n.trailing_zeros().is_multiple_of(2)
}

impl InverseKinematics<'_> {
    /// Looks at a solved frame; solves it again where it is not like those before.
    pub(super) fn check_frame(&mut self, first: Fit) -> Fit {
        self.watch.left_out.clear();
        self.watch.exchanged.clear();
        self.watch.improved = false;
        if !(self.fit.seen > 0.0) {
            return first;
        }
        self.watch.frames += 1;
        let mut fit = first;
        if fit.seen > self.watch.most_seen + self.watch.most_seen / 2 {
            // The first frame, or the first in which much is seen.
            let near = if self.watch.most_seen == 0 { Near::Range } else { Near::Before };
            self.starts.base.copy_from_slice(&self.watch.before);
            fit = self.try_other_starts(fit, near, true);
            self.watch.usual.fill(NOWHERE);
        } else {
            let square = self.mean_square();
            let usual = self.watch.usual_square;
            // What is met better than usual is not worse, though markers are elsewhere: then those before were wrong.
            let worse = square > usual && self.is_worse();
            let improved = square < 0.25 * usual && usual > self.slack().powi(2);
            let far = square > (NOT_MET * self.starts.size).powi(2) && is_power_of_four(self.watch.frames);
            if worse || improved || far || self.jumps() || !fit.converged {
                fit = self.solve_again(fit, worse, improved || far);
            }
            self.watch.improved = improved;
            for i in 0..self.markers.len() {
                if improved || (!worse && self.is_off(i)) {
                    self.watch.usual[i] = NOWHERE;
                }
            }
        }
        self.watch.most_seen = self.watch.most_seen.max(fit.seen);
        self.learn();
        fit
    }

    /// Whether the fit of the last frame is far better than it was.
    pub(super) fn has_improved(&self) -> bool {
        self.watch.improved
    }

    /// Whether a fit is far worse than usual.
    pub(super) fn is_far_worse(&self, fit: &Fit) -> bool {
        2.0 * fit.cost > 4.0 * self.watch.usual_square + self.slack().powi(2)
    }

    fn slack(&self) -> f64 {
        SLACK * self.starts.size.max(SMALL_M)
    }

    /// Mean of the squared distances with weights, m².
    pub(super) fn mean_square(&self) -> f64 {
        let sum: f64 = self.markers.iter().zip(&self.fit.squared).map(|(m, s)| m.weight * s).sum();
        sum / self.fit.seen
    }

    /// From where marker i is seen to where it is on the model, on its body, m.
    fn residual(&self, i: usize) -> Vec3<f64> {
        let m = &self.markers[i];
        let X_GB = self.ws.kin.X_GB[m.body];
        X_GB.R.inverse_mul(X_GB * m.p_BS - self.scratch.seen_at[i])
    }

    /// How far marker i is from where it usually is, m; NaN if it is not seen.
    fn deviation(&self, i: usize) -> f64 {
        let usual = self.watch.usual[i];
        let r = self.residual(i);
        if usual.x.is_nan() { r.norm() } else { (r - usual).norm() }
    }

    /// What is usual for that, m.
    fn usual(&self, i: usize) -> f64 {
        if self.watch.usual[i].x.is_nan() { self.watch.usual_square.sqrt() } else { self.watch.stray[i] }
    }

    /// Whether marker i is farther off than it should be.
    fn is_off(&self, i: usize) -> bool {
        self.markers[i].weight > 0.0 && self.deviation(i) > TIMES_USUAL * self.usual(i) + self.slack()
    }

    /// Whether a marker, or all together, are farther off than they should be.
    fn is_worse(&self) -> bool {
        let all = 4.0 * self.watch.usual_square + self.slack().powi(2);
        self.mean_square() > all || (0..self.markers.len()).any(|i| self.is_off(i))
    }

    /// Whether an angle jumps.
    fn jumps(&self) -> bool {
        let step = self.q.iter().zip(&self.watch.before).map(|(a, b)| (a - b).abs());
        step.zip(&self.starts.rotational).any(|(d, turns)| *turns && d > JUMP)
    }

    /// Takes the frame for usual.
    fn learn(&mut self) {
        let square = self.mean_square();
        let follow = |old: &mut f64, new: f64| {
            let part = if new > *old { FOLLOWS[0] } else { FOLLOWS[1] };
            *old = if old.is_nan() { new } else { *old + part * (new - *old) };
        };
        if self.watch.frames == 1 || self.watch.improved {
            self.watch.usual_square = square;
        } else {
            follow(&mut self.watch.usual_square, square);
        }
        for i in 0..self.markers.len() {
            // A marker that was exchanged or is seen for the first time tells nothing of how it strays.
            if self.is_seen(i) {
                let (r, usual) = (self.residual(i), self.watch.usual[i]);
                if usual.x.is_nan() {
                    (self.watch.usual[i], self.watch.stray[i]) = (r, 0.0);
                } else {
                    follow(&mut self.watch.stray[i], (r - usual).norm());
                    self.watch.usual[i] += (r - usual) * FOLLOWS[0];
                }
            }
        }
    }

    /// Solves a frame that was found wanting, without markers that are off if there are such, and from other starts.
    fn solve_again(&mut self, first: Fit, worse: bool, from_default: bool) -> Fit {
        self.watch.kept.copy_from_slice(&self.q);
        self.watch.seen_at.copy_from_slice(&self.scratch.seen_at);
        if worse {
            if let Some(fit) = self.solve_without_outliers() {
                return fit;
            }
            self.watch.left_out.clear();
            self.watch.exchanged.clear();
            self.scratch.seen_at.copy_from_slice(&self.watch.seen_at);
            self.q.copy_from_slice(&self.watch.kept);
            self.compute_cost();
        }
        self.starts.base.copy_from_slice(&self.watch.before);
        let fit = self.try_other_starts(first, Near::Before, worse);
        if !from_default {
            return fit;
        }
        self.starts.base.copy_from_slice(&self.system.default_state.q);
        self.try_other_starts(fit, Near::Before, true)
    }

    /// Finds the pose that most markers agree on, near the one before, and with it those that are off: of these, two that lie
    /// where the other belongs are exchanged, and the rest is taken to be where it would be seen in that pose. `None` if the markers
    /// are not met as well as usual then.
    ///
    /// All of them are taken to be on the model where they usually are seen. A marker at the distance d then counts with the weight 1/(1 + (d/s)²)² (Geman and McClure 1985), s being what is usual and the
    /// slack, as long as it is wider than half of the markers are off.
    fn solve_without_outliers(&mut self) -> Option<Fit> {
        let counts = |ik: &Self, i: usize| ik.markers[i].weight > 0.0 && ik.is_seen(i);
        let n = self.markers.len();
        let seen = (0..n).filter(|&i| counts(self, i)).count();
        if seen < FEW {
            return None;
        }
        for (w, m) in self.starts.weights.iter_mut().zip(&self.markers) {
            *w = m.weight;
        }
        self.shift_markers(-1.0);
        self.q.copy_from_slice(&self.watch.before);
        self.compute_cost();
        let mut iterations = 0;
        for _ in 0..ROUNDS {
            let mut ratios = std::mem::take(&mut self.watch.ratios);
            ratios.clear();
            let ratio = |ik: &Self, i: usize| ik.fit.squared[i].sqrt() / (ik.usual(i) + ik.slack());
            ratios.extend((0..n).filter(|&i| counts(self, i)).map(|i| ratio(self, i)));
            ratios.sort_unstable_by(f64::total_cmp);
            let half = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0).max(1.0);
            self.watch.ratios = ratios;
            for i in 0..n {
                let x = ratio(self, i) / half;
                // Never to nothing, so that what counts stays the same.
                let factor = (1.0 + x * x).powi(-2).max(1e-9);
                self.markers[i].weight = self.starts.weights[i] * factor;
            }
            iterations += self.descend().iterations;
        }
        self.restore_weights();
        self.shift_markers(1.0);
        self.compute_cost();

        self.watch.left_out.clear();
        for i in 0..n {
            if self.is_off(i) {
                self.watch.left_out.push(i);
            }
        }
        let off = self.watch.left_out.len();
        if off == 0 || off > (seen / 4).max(2) {
            return None;
        }
        // Where the markers that are off would be seen.
        for &i in &self.watch.left_out {
            let m = &self.markers[i];
            let usual = self.watch.usual[i];
            let p_BS = if usual.x.is_nan() { m.p_BS } else { m.p_BS - usual };
            self.watch.expected[i] = self.ws.kin.X_GB[m.body] * p_BS;
        }
        // First with those exchanged that lie where another belongs; if that does not do, without them.
        self.exchange();
        for again in [true, false] {
            for &i in &self.watch.left_out {
                self.scratch.seen_at[i] = self.watch.expected[i];
            }
            self.compute_cost();
            let fit = self.solve_from_here();
            iterations += fit.iterations;
            if fit.converged && !self.is_worse() {
                self.settle(Near::Before);
                // They do not count in what is told of the fit.
                for &i in &self.watch.left_out {
                    self.scratch.seen_at[i] = NOWHERE;
                }
                let cost = self.compute_cost();
                return Some(self.report(cost, iterations, fit.last_step, fit.converged));
            }
            if !again || self.watch.exchanged.is_empty() {
                break;
            }
            while let Some([i, j]) = self.watch.exchanged.pop() {
                self.watch.left_out.extend([i, j]);
            }
        }
        None
    }

    /// Moves the markers of the model to where they usually are seen on their bodies (−1), or back (1).
    fn shift_markers(&mut self, sign: f64) {
        for (m, usual) in self.markers.iter_mut().zip(&self.watch.usual) {
            if !usual.x.is_nan() {
                m.p_BS += *usual * sign;
            }
        }
    }

    /// Exchanges those of the markers that are off that lie nearer to where the other belongs than to where they do: the sum of their
    /// squares falls to less than half.
    fn exchange(&mut self) {
        let square = |ik: &Self, i: usize, j: usize| (ik.watch.expected[i] - ik.scratch.seen_at[j]).norm_sq();
        let ratio = |ik: &Self, i: usize, j: usize| {
            (square(ik, i, j) + square(ik, j, i)) / (square(ik, i, i) + square(ik, j, j))
        };
        loop {
            // The pair that gains most goes first.
            let list = &self.watch.left_out;
            let mut best = (0.5, 0, 0);
            for a in 0..list.len() {
                for b in a + 1..list.len() {
                    let r = ratio(self, list[a], list[b]);
                    if r < best.0 {
                        best = (r, a, b);
                    }
                }
            }
            let (_, a, b) = best;
            if b == 0 {
                return;
            }
            let j = self.watch.left_out.remove(b);
            let i = self.watch.left_out.remove(a);
            self.scratch.seen_at.swap(i, j);
            self.watch.exchanged.push([i, j]);
        }
    }
}

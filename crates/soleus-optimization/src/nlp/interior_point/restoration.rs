//! Restoration: when no step is acceptable, find a point that violates the rows less (section 3.3).

use super::filter::{Filter, at_most};
use super::iterate::{Point, largest_dual_step};
use super::layer::Layer;
use super::method::{End, Method, State};
use super::scaled::Scaled;
use super::system::max_abs;

/// The largest violation must fall to this part of what it was (`required_infeasibility_reduction`).
const REDUCTION: f64 = 0.9;
/// Multipliers of bounds above this are set to one after restoration (`bound_mult_reset_threshold`).
const MULTIPLIER_RESET: f64 = 1000.0;
const GAMMA_THETA: f64 = 1e-5;
const GAMMA_PHI: f64 = 1e-8;

/// What restoration must know of the program it serves.
pub(super) struct Parent<'a> {
    layer: &'a Layer,
    filter: &'a Filter,
    theta: f64,
    phi: f64,
    mu: f64,
    /// Largest violation that will do.
    goal: f64,
    /// Count of restoration iterations when it began.
    pub first_iteration: usize,
}

impl Parent<'_> {
    /// Whether the program can go on from here: the violation has fallen and its filter accepts.
    pub fn takes(&self, scaled: &mut Scaled<'_>, w: &[f64]) -> bool {
        let w = &w[..self.layer.n];
        let mut rows = vec![0.0; self.layer.m];
        self.layer.constraints(scaled, w, &mut rows);
        let theta: f64 = rows.iter().map(|v| v.abs()).sum();
        if !(max_abs(&rows) <= self.goal) {
            return false;
        }
        let phi = self.layer.objective(scaled, w) + self.layer.barrier(w, self.mu);
        phi.is_finite()
            && self.filter.accepts(theta, phi)
            && (at_most(theta, (1.0 - GAMMA_THETA) * self.theta, self.theta)
                || at_most(phi - self.phi, -GAMMA_PHI * self.theta, self.phi))
    }
}

impl Method<'_, '_> {
    /// Replaces the point by one that violates the rows less. `Restored`, or why that failed.
    pub fn restore(&mut self, layer: &mut Layer, st: &mut State) -> End {
        let theta = st.values.theta();
        let largest = max_abs(&st.values.g);
        // Nothing to restore: the trouble is elsewhere.
        if largest <= 1e-2 * self.options.tolerance {
            return End::NoProgress;
        }
        let phi = st.values.f + layer.barrier(&st.point.w, st.mu);
        st.filter.add((1.0 - GAMMA_THETA) * theta, phi - GAMMA_PHI * theta);

        let mu = st.mu.max(largest);
        let mut inner = Layer::restoration(layer, &st.point.w);
        let rho = inner.penalty.as_ref().map_or(0.0, |p| p.rho);
        let (n, m) = (layer.n, layer.m);
        let mut start = Point { w: st.point.w.clone(), y: vec![0.0; m], zl: vec![], zu: vec![] };
        start.w.resize(inner.n, 0.0);
        start.zl.extend(st.point.zl.iter().map(|z| z.min(rho)));
        start.zu.extend(st.point.zu.iter().map(|z| z.min(rho)));
        start.zu.resize(inner.n, 0.0);
        for r in 0..m {
            let (p, negative) = penalty_pair(st.values.g[r], rho, mu);
            start.w[n + r] = p;
            start.w[n + m + r] = negative;
        }
        start.zl.extend(start.w[n..].iter().map(|v| mu / v));

        let memory = self.system.take_memory();
        let (end, found) = {
            let parent = Parent {
                layer,
                filter: &st.filter,
                theta,
                phi,
                mu: st.mu,
                goal: (REDUCTION * largest)
                    .max(self.options.tolerance.min(self.options.constraint_tolerance)),
                first_iteration: self.counts.restoration_iterations,
            };
            let (end, found, _) = self.minimize(&mut inner, start, mu, Some(&parent));
            (end, found)
        };
        self.system.set_memory(memory);
        layer.lower.copy_from_slice(&inner.lower[..n]);
        layer.upper.copy_from_slice(&inner.upper[..n]);

        // The new point, also if restoration failed: it is the least violated we know.
        let old = std::mem::replace(&mut st.point.w, found.w[..n].to_vec());
        if !matches!(end, End::Restored) {
            let mut rows = vec![0.0; m];
            layer.constraints(&mut self.scaled, &st.point.w, &mut rows);
            let violation = max_abs(&rows);
            // Converged, and feasible after all: go on if that is news.
            if end == End::Infeasible && violation <= self.options.tolerance && violation < 0.5 * largest {
                self.reset_multipliers(layer, st, &old);
                return End::Restored;
            }
            st.values.g = rows;
            return end;
        }
        self.reset_multipliers(layer, st, &old);
        End::Restored
    }

    /// Multipliers at a restored point: those of bounds by a Newton step on complementarity, those of rows zero.
    fn reset_multipliers(&mut self, layer: &Layer, st: &mut State, old: &[f64]) {
        for i in 0..layer.n {
            let change = st.point.w[i] - old[i];
            st.dzl[i] = 0.0;
            st.dzu[i] = 0.0;
            if layer.lower[i] > f64::NEG_INFINITY {
                let s = old[i] - layer.lower[i];
                st.dzl[i] = st.mu / s - st.point.zl[i] - st.point.zl[i] / s * change;
            }
            if layer.upper[i] < f64::INFINITY {
                let s = layer.upper[i] - old[i];
                st.dzu[i] = st.mu / s - st.point.zu[i] + st.point.zu[i] / s * change;
            }
        }
        let alpha = largest_dual_step(&st.point.zl, &st.dzl, st.tau).min(largest_dual_step(
            &st.point.zu,
            &st.dzu,
            st.tau,
        ));
        for (z, d) in st.point.zl.iter_mut().zip(&st.dzl).chain(st.point.zu.iter_mut().zip(&st.dzu)) {
            *z += alpha * d;
        }
        if !(max_abs(&st.point.zl).max(max_abs(&st.point.zu)) <= MULTIPLIER_RESET) {
            for i in 0..layer.n {
                st.point.zl[i] = if layer.lower[i].is_finite() { 1.0 } else { 0.0 };
                st.point.zu[i] = if layer.upper[i].is_finite() { 1.0 } else { 0.0 };
            }
        }
        st.point.y.fill(0.0);
        st.dy.fill(0.0);
        st.search.forget();
    }
}

/// p, n > 0 with c − p + n = 0 that minimise ρ (p + n) − μ (ln p + ln n) (eq. 33).
fn penalty_pair(c: f64, rho: f64, mu: f64) -> (f64, f64) {
    let a = (mu - rho * c) / (2.0 * rho);
    let b = mu * c / (2.0 * rho);
    let root = (a * a + b).max(0.0).sqrt();
    // The two forms are equal; each loses digits where the other does not.
    let n = if a >= 0.0 || b <= 0.0 { a + root } else { b / (root - a) };
    let n = n.max(f64::MIN_POSITIVE);
    let p = (c + n).max(f64::MIN_POSITIVE);
    (p, n)
}

/// Sets p and n of a restoration problem to what is best for its x. False if that changes nothing.
pub(super) fn best_penalties(layer: &Layer, st: &mut State) -> bool {
    let Some(penalty) = &layer.penalty else { return false };
    let (first, rho) = (penalty.first, penalty.rho);
    let m = layer.m;
    let mut change = 0.0f64;
    for r in 0..m {
        let c = st.values.g[r] + st.point.w[first + r] - st.point.w[first + m + r];
        let (p, n) = penalty_pair(c, rho, st.mu);
        change = change.max((p - st.point.w[first + r]).abs() / (1.0 + p));
        change = change.max((n - st.point.w[first + m + r]).abs() / (1.0 + n));
        for (at, v) in [(first + r, p), (first + m + r, n)] {
            st.point.w[at] = v;
            st.point.zl[at] = st.mu / v;
        }
    }
    change > 1e-10
}

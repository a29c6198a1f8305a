//! From a poor initial guess to where the constraints hold, before the objective counts.

use super::iterate::{Point, Values, largest_primal_step};
use super::layer::Layer;
use super::method::Method;
use super::system::{Matrix, max_abs};
use crate::nlp::Iteration;
use std::ops::ControlFlow;

/// Part of the way to a bound that a step may go.
const TAU: f64 = 0.9;
/// A step is taken if the violation falls by this part of what its linearisation promises.
const DECREASE: f64 = 1e-4;
/// Shortest step that is tried.
const SHORTEST: f64 = 1e-3;
/// Steps in a row that achieve next to nothing before the rest is left to the method itself, and what next to nothing is.
const PATIENCE: usize = 5;
const HEADWAY: f64 = 0.01;
/// Violation at which the constraints hold well enough, in scaled units.
const ENOUGH: f64 = 1e-3;
/// Regularisation of rows that depend on each other.
const DELTA_C: f64 = 1e-8;

impl Method<'_, '_> {
    /// Damped Gauss–Newton steps on the rows g(w) = 0 inside the bounds,
    ///
    ///   minimize ½ dᵀ(I + Σ)d + ∇φᵀd   subject to   g + J d = 0,
    ///
    /// where φ = −μ Σ ln of the distances to bounds, and Σ is its Hessian: the shortest step to where the linearised rows hold that keeps away
    /// from bounds. Multipliers of bounds become those of the barrier, μ over the distance.
    pub fn approach(&mut self, layer: &mut Layer, point: &mut Point, values: &mut Values, mu: f64) {
        let mut sigma = vec![0.0; layer.n];
        let mut gradient = vec![0.0; layer.n];
        let hessian = vec![0.0; self.scaled.hessian.len()];
        let (mut dw, mut dy) = (vec![0.0; layer.n], vec![0.0; layer.m]);
        let mut trial = point.w.clone();
        let mut trial_values = values.clone();
        let mut slow = 0;
        for _ in 0..self.options.feasibility_steps {
            let theta = values.theta();
            if max_abs(&values.g) <= ENOUGH || slow == PATIENCE {
                break;
            }
            for i in 0..layer.n {
                let (below, above) = (point.w[i] - layer.lower[i], layer.upper[i] - point.w[i]);
                sigma[i] = mu / (below * below) + mu / (above * above);
            }
            gradient.fill(0.0);
            layer.add_barrier_gradient(&point.w, mu, &mut gradient);
            gradient.iter_mut().for_each(|v| *v = -*v);
            let ry: Vec<f64> = values.g.iter().map(|g| -g).collect();
            let matrix = Matrix { hessian: &hessian, jacobian: &values.jacobian, sigma: &sigma };
            let mut inertia = self.system.factor(layer, &matrix, 1.0, 0.0);
            if inertia.zero > 0 || inertia.negative != layer.m {
                inertia = self.system.factor(layer, &matrix, 1.0, DELTA_C);
            }
            let ratio = self.system.solve(&self.scaled, layer, &matrix, (&gradient, &ry), (&mut dw, &mut dy));
            if inertia.negative != layer.m || !(ratio <= 1e-5) {
                break;
            }
            let longest = largest_primal_step(layer, &point.w, &dw, TAU);
            let mut alpha = longest;
            let mut trials = 0;
            let taken = loop {
                trials += 1;
                for ((t, w), d) in trial.iter_mut().zip(&point.w).zip(&dw) {
                    *t = w + alpha * d;
                }
                if trial_values.compute(&mut self.scaled, layer, &trial)
                    && trial_values.theta() <= (1.0 - DECREASE * alpha) * theta
                    && trial_values.differentiate(&mut self.scaled, layer, &trial)
                {
                    break true;
                }
                alpha *= 0.5;
                if alpha < SHORTEST * longest {
                    break false;
                }
            };
            if !taken {
                break;
            }
            std::mem::swap(&mut point.w, &mut trial);
            std::mem::swap(values, &mut trial_values);
            slow = if values.theta() > (1.0 - HEADWAY) * theta { slow + 1 } else { 0 };
            self.counts.iterations += 1;
            self.counts.restoration_iterations += 1;
            let iteration = Iteration {
                iteration: self.counts.iterations,
                in_restoration: true,
                objective: values.f / self.scaled.objective_scale,
                constraint_violation: self.scaled.violation().0,
                // Stationarity is not sought here.
                dual_infeasibility: 0.0,
                barrier: mu,
                step: max_abs(&dw),
                regularization: 1.0,
                alpha_primal: alpha,
                alpha_dual: 0.0,
                trials,
                x: self.scaled.full_x(),
                duals: None,
            };
            if let ControlFlow::Break(()) = (self.progress)(&iteration) {
                break;
            }
        }
        for i in 0..layer.n {
            let (below, above) = (point.w[i] - layer.lower[i], layer.upper[i] - point.w[i]);
            point.zl[i] = if below.is_finite() { mu / below } else { 0.0 };
            point.zu[i] = if above.is_finite() { mu / above } else { 0.0 };
        }
    }
}

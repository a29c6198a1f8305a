//! A primal–dual point and what is known there.

use super::layer::Layer;
use super::scaled::Scaled;
use super::system::max_abs;

/// Variables, multipliers of rows, multipliers of lower and upper bounds (zero where there is no bound).
#[derive(Clone, Debug)]
pub(in crate::nlp) struct Point {
    pub w: Vec<f64>,
    pub y: Vec<f64>,
    pub zl: Vec<f64>,
    pub zu: Vec<f64>,
}

/// Functions and first derivatives at a point.
#[derive(Clone, Debug, Default)]
pub(in crate::nlp) struct Values {
    pub f: f64,
    pub g: Vec<f64>,
    pub gradient: Vec<f64>,
    pub jacobian: Vec<f64>,
}

/// Errors of the optimality conditions of a barrier problem.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::nlp) struct Errors {
    /// Largest entries: of the gradient of the Lagrangian, of the rows, of complementarity.
    pub dual: f64,
    pub primal: f64,
    pub complementarity: f64,
    /// Scales s_d and s_c (eq. 6).
    pub dual_scale: f64,
    pub complementarity_scale: f64,
}

impl Errors {
    /// E_μ (eq. 5).
    pub fn total(&self) -> f64 {
        (self.dual / self.dual_scale).max(self.primal).max(self.complementarity / self.complementarity_scale)
    }
}

impl Errors {
    /// Without scales: what soft restoration looks at.
    pub fn plain(&self) -> f64 {
        self.dual.max(self.primal).max(self.complementarity)
    }
}

impl Values {
    pub fn new(scaled: &Scaled<'_>, layer: &Layer) -> Self {
        Values {
            f: f64::NAN,
            g: vec![0.0; layer.m],
            gradient: vec![0.0; layer.n],
            jacobian: vec![0.0; scaled.jacobian.len()],
        }
    }

    /// f and g. Whether both are finite.
    pub fn compute(&mut self, scaled: &mut Scaled<'_>, layer: &Layer, w: &[f64]) -> bool {
        layer.constraints(scaled, w, &mut self.g);
        if !self.g.iter().all(|v| v.is_finite()) {
            return false;
        }
        self.f = layer.objective(scaled, w);
        self.f.is_finite()
    }

    /// Their derivatives. Whether all are finite.
    pub fn differentiate(&mut self, scaled: &mut Scaled<'_>, layer: &Layer, w: &[f64]) -> bool {
        layer.gradient(scaled, w, &mut self.gradient);
        scaled.jacobian(&w[..layer.nx], &mut self.jacobian);
        self.gradient.iter().chain(&self.jacobian).all(|v| v.is_finite())
    }

    /// Σ |g|.
    pub fn theta(&self) -> f64 {
        self.g.iter().map(|v| v.abs()).sum()
    }
}

/// Gradient of the Lagrangian ∇F + Jᵀy − z_L + z_U.
pub(in crate::nlp) fn lagrangian_gradient(
    scaled: &Scaled<'_>,
    layer: &Layer,
    point: &Point,
    values: &Values,
    out: &mut [f64],
) {
    for i in 0..layer.n {
        out[i] = values.gradient[i] - point.zl[i] + point.zu[i];
    }
    layer.add_transposed(scaled, &values.jacobian, &point.y, out);
}

/// Largest scale that leaves multipliers out of the error (s_max).
const S_MAX: f64 = 100.0;

/// Errors with respect to μ.
pub(in crate::nlp) fn errors(
    scaled: &Scaled<'_>,
    layer: &Layer,
    point: &Point,
    values: &Values,
    mu: f64,
    work: &mut [f64],
) -> Errors {
    lagrangian_gradient(scaled, layer, point, values, work);
    let mut complementarity = 0.0f64;
    let (mut sum_z, mut bounds) = (0.0, 0usize);
    for i in 0..layer.n {
        if layer.lower[i] > f64::NEG_INFINITY {
            complementarity = complementarity.max(((point.w[i] - layer.lower[i]) * point.zl[i] - mu).abs());
            sum_z += point.zl[i];
            bounds += 1;
        }
        if layer.upper[i] < f64::INFINITY {
            complementarity = complementarity.max(((layer.upper[i] - point.w[i]) * point.zu[i] - mu).abs());
            sum_z += point.zu[i];
            bounds += 1;
        }
    }
    let sum_y: f64 = point.y.iter().map(|v| v.abs()).sum();
    let mean = |sum: f64, count: usize| if count > 0 { sum / count as f64 } else { 0.0 };
    Errors {
        dual: max_abs(work),
        primal: max_abs(&values.g),
        complementarity,
        dual_scale: mean(sum_y + sum_z, layer.m + bounds).max(S_MAX) / S_MAX,
        complementarity_scale: mean(sum_z, bounds).max(S_MAX) / S_MAX,
    }
}

/// Sum of the products of multipliers and distances to bounds.
pub(in crate::nlp) fn gap(layer: &Layer, point: &Point) -> f64 {
    let product = |distance: f64, z: f64| if distance.is_finite() { distance * z } else { 0.0 };
    let at = |i: usize| {
        product(point.w[i] - layer.lower[i], point.zl[i]) + product(layer.upper[i] - point.w[i], point.zu[i])
    };
    (0..layer.n).map(at).sum()
}

/// Largest α ≤ 1 with distance + α change ≥ (1 − τ) distance for both bounds (eq. 15a).
pub(in crate::nlp) fn largest_primal_step(layer: &Layer, w: &[f64], dw: &[f64], tau: f64) -> f64 {
    let mut alpha = 1.0f64;
    for i in 0..layer.n {
        if dw[i] < 0.0 && layer.lower[i] > f64::NEG_INFINITY {
            alpha = alpha.min(tau * (w[i] - layer.lower[i]) / -dw[i]);
        } else if dw[i] > 0.0 && layer.upper[i] < f64::INFINITY {
            alpha = alpha.min(tau * (layer.upper[i] - w[i]) / dw[i]);
        }
    }
    alpha
}

/// The same for multipliers (eq. 15b).
pub(in crate::nlp) fn largest_dual_step(z: &[f64], dz: &[f64], tau: f64) -> f64 {
    z.iter().zip(dz).filter(|&(_, &d)| d < 0.0).fold(1.0, |alpha: f64, (&z, &d)| alpha.min(tau * z / -d))
}

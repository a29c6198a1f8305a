//! The barrier problem, of the program itself or of its restoration.

use super::scaled::Scaled;
use soleus_math::elementary;

/// Equality-constrained form in w = (x, a), where every auxiliary variable a belongs to one row:
///
///   minimize F(w)   subject to   g(w) = c(x) + Σ ±a = 0,   w_L ≤ w ≤ w_U
///
/// For the program itself the a are slacks of inequalities (sign −) and F = f. For restoration each row has also
/// p ≥ 0 (sign −) and n ≥ 0 (sign +), and F = ρ Σ (p + n) + ζ/2 Σ (D_R (x − x_R))²
/// (Wächter & Biegler 2006, eq. 30).
pub(in crate::nlp) struct Layer {
    /// Number of x, of w, of rows.
    pub nx: usize,
    pub n: usize,
    pub m: usize,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Row and sign of each auxiliary variable.
    pub aux_row: Vec<usize>,
    pub aux_sign: Vec<f64>,
    pub penalty: Option<Penalty>,
}

/// Objective of restoration.
pub(in crate::nlp) struct Penalty {
    /// First of the p and n among w.
    pub first: usize,
    pub rho: f64,
    pub zeta: f64,
    pub reference: Vec<f64>,
    /// D_R².
    pub weight: Vec<f64>,
}

/// ρ of restoration (`resto_penalty_parameter`).
const RHO: f64 = 1000.0;

impl Layer {
    /// The program itself.
    pub fn original(scaled: &Scaled<'_>, relaxation: f64, constraint_tolerance: f64) -> Self {
        let (nx, m) = (scaled.free.len(), scaled.rows.len());
        let mut lower = scaled.lower.clone();
        let mut upper = scaled.upper.clone();
        let aux_row: Vec<usize> = (0..m).filter(|&r| !scaled.is_equality(r)).collect();
        for &r in &aux_row {
            let relax = |b: f64| (relaxation * b.abs().max(1.0)).min(constraint_tolerance);
            let (l, u) = (scaled.row_lower[r], scaled.row_upper[r]);
            lower.push(if l.is_finite() { l - relax(l) } else { l });
            upper.push(if u.is_finite() { u + relax(u) } else { u });
        }
        let aux_sign = vec![-1.0; aux_row.len()];
        Layer { nx, n: nx + aux_row.len(), m, lower, upper, aux_row, aux_sign, penalty: None }
    }

    /// Restoration around a point of the program.
    pub fn restoration(original: &Layer, reference: &[f64]) -> Self {
        let (nx, m) = (original.nx, original.m);
        let mut lower = original.lower.clone();
        let mut upper = original.upper.clone();
        let mut aux_row = original.aux_row.clone();
        let mut aux_sign = original.aux_sign.clone();
        for sign in [-1.0, 1.0] {
            lower.extend(std::iter::repeat_n(0.0, m));
            upper.extend(std::iter::repeat_n(f64::INFINITY, m));
            aux_row.extend(0..m);
            aux_sign.extend(std::iter::repeat_n(sign, m));
        }
        let penalty = Penalty {
            first: original.n,
            rho: RHO,
            zeta: 0.0,
            reference: reference[..nx].to_vec(),
            weight: reference[..nx].iter().map(|x| (1.0 / x.abs().max(1.0)).powi(2)).collect(),
        };
        Layer { nx, n: original.n + 2 * m, m, lower, upper, aux_row, aux_sign, penalty: Some(penalty) }
    }

    /// Tells restoration of a new barrier parameter: ζ = √μ.
    pub fn set_barrier(&mut self, mu: f64) {
        if let Some(p) = &mut self.penalty {
            p.zeta = mu.sqrt();
        }
    }

    pub fn objective(&self, scaled: &mut Scaled<'_>, w: &[f64]) -> f64 {
        let Some(p) = &self.penalty else { return scaled.objective(&w[..self.nx]) };
        let distance: f64 =
            (0..self.nx).map(|i| p.weight[i] * (w[i] - p.reference[i]) * (w[i] - p.reference[i])).sum();
        p.rho * w[p.first..].iter().sum::<f64>() + 0.5 * p.zeta * distance
    }

    pub fn gradient(&self, scaled: &mut Scaled<'_>, w: &[f64], g: &mut [f64]) {
        let Some(p) = &self.penalty else {
            scaled.gradient(&w[..self.nx], &mut g[..self.nx]);
            g[self.nx..].fill(0.0);
            return;
        };
        for i in 0..self.nx {
            g[i] = p.zeta * p.weight[i] * (w[i] - p.reference[i]);
        }
        g[self.nx..p.first].fill(0.0);
        g[p.first..].fill(p.rho);
    }

    pub fn constraints(&self, scaled: &mut Scaled<'_>, w: &[f64], g: &mut [f64]) {
        scaled.constraints(&w[..self.nx], g);
        for (k, &r) in self.aux_row.iter().enumerate() {
            g[r] += self.aux_sign[k] * w[self.nx + k];
        }
    }

    /// Values of the Hessian in x. In restoration the caller adds [`diagonal`](Self::diagonal).
    pub fn hessian(&self, scaled: &mut Scaled<'_>, w: &[f64], y: &[f64], values: &mut [f64]) {
        let sigma = if self.penalty.is_some() { 0.0 } else { 1.0 };
        scaled.hessian(&w[..self.nx], sigma, y, values);
    }

    /// What F adds to the diagonal of the Hessian at variable i.
    pub fn diagonal(&self, i: usize) -> f64 {
        match &self.penalty {
            Some(p) if i < self.nx => p.zeta * p.weight[i],
            _ => 0.0,
        }
    }

    /// Out ← out + Jᵀ y.
    pub fn add_transposed(&self, scaled: &Scaled<'_>, jacobian: &[f64], y: &[f64], out: &mut [f64]) {
        for r in 0..self.m {
            let (columns, start) = scaled.jacobian.row(r);
            for (&c, &v) in columns.iter().zip(&jacobian[start..]) {
                out[c] += v * y[r];
            }
        }
        for (k, &r) in self.aux_row.iter().enumerate() {
            out[self.nx + k] += self.aux_sign[k] * y[r];
        }
    }

    /// Out ← out + J d.
    pub fn add_product(&self, scaled: &Scaled<'_>, jacobian: &[f64], d: &[f64], out: &mut [f64]) {
        for r in 0..self.m {
            let (columns, start) = scaled.jacobian.row(r);
            out[r] += columns.iter().zip(&jacobian[start..]).map(|(&c, &v)| v * d[c]).sum::<f64>();
        }
        for (k, &r) in self.aux_row.iter().enumerate() {
            out[r] += self.aux_sign[k] * d[self.nx + k];
        }
    }

    /// −Σ ln of the distances to bounds, times μ, with the linear term that keeps variables with one bound from
    /// running away (κ_d, section 3.7 of Wächter & Biegler).
    pub fn barrier(&self, w: &[f64], mu: f64) -> f64 {
        let mut logs = 0.0;
        let mut linear = 0.0;
        for i in 0..self.n {
            let (l, u) = (self.lower[i], self.upper[i]);
            if l > f64::NEG_INFINITY {
                logs += elementary::ln(w[i] - l);
                if u == f64::INFINITY {
                    linear += w[i] - l;
                }
            }
            if u < f64::INFINITY {
                logs += elementary::ln(u - w[i]);
                if l == f64::NEG_INFINITY {
                    linear += u - w[i];
                }
            }
        }
        mu * (KAPPA_D * linear - logs)
    }

    /// Adds the gradient of [`barrier`](Self::barrier).
    pub fn add_barrier_gradient(&self, w: &[f64], mu: f64, g: &mut [f64]) {
        for i in 0..self.n {
            let (l, u) = (self.lower[i], self.upper[i]);
            if l > f64::NEG_INFINITY {
                g[i] -= mu / (w[i] - l);
                if u == f64::INFINITY {
                    g[i] += KAPPA_D * mu;
                }
            }
            if u < f64::INFINITY {
                g[i] += mu / (u - w[i]);
                if l == f64::NEG_INFINITY {
                    g[i] -= KAPPA_D * mu;
                }
            }
        }
    }

    /// Moves w into the interior, at least `push` · max(1, |bound|) or `fraction` of the room from each bound.
    pub fn push_inside(&self, w: &mut [f64], push: f64, fraction: f64) {
        for i in 0..self.n {
            let (l, u) = (self.lower[i], self.upper[i]);
            let room = fraction * (u - l);
            let low = l + (push * l.abs().max(1.0)).min(room);
            let high = u - (push * u.abs().max(1.0)).min(room);
            if l > f64::NEG_INFINITY && w[i] < low {
                w[i] = low;
            }
            if u < f64::INFINITY && w[i] > high {
                w[i] = high;
            }
        }
    }
}

/// κ_d (`kappa_d`).
const KAPPA_D: f64 = 1e-5;

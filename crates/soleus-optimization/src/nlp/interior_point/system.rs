//! Search directions: assembling the KKT matrix, correcting its inertia, solving and refining.

use super::layer::Layer;
use super::scaled::Scaled;
use crate::linear::equilibrate;
use crate::nlp::{KktPattern, KktSolver};
use soleus_math::elementary;

/// The KKT matrix of the current iterate and how to solve with it.
pub(in crate::nlp) struct System {
    pattern: KktPattern,
    solver: Box<dyn KktSolver>,
    values: Vec<f64>,
    /// Scales of rows and columns, empty where there are none.
    scale: Vec<f64>,
    d: Vec<f64>,
    e: Vec<f64>,
    /// Diagonal of each auxiliary variable.
    aux: Vec<f64>,
    rhs: Vec<f64>,
    residual_w: Vec<f64>,
    residual_y: Vec<f64>,
    correction_w: Vec<f64>,
    correction_y: Vec<f64>,
    /// Last regularisation of the Hessian that was needed.
    last_delta: f64,
    /// Regularisation that the next matrix gets whatever its inertia.
    least_delta: f64,
    /// Directions in a row that were too long, and whether regularisation was found not to shorten them.
    too_long: usize,
    pub in_vain: bool,
    /// Largest entry of the last Hessian, and of the one with which regularisation began to grow: multipliers grow with it, and the Hessian with these.
    hessian_size: f64,
    first_hessian_size: f64,
    /// Regularisation of the present factorisation.
    pub delta_w: f64,
    delta_c: f64,
    pub factorizations: usize,
    pub solves: usize,
}

/// What the matrix is made of.
pub(in crate::nlp) struct Matrix<'a> {
    pub hessian: &'a [f64],
    pub jacobian: &'a [f64],
    /// Σ = z_L/(w − w_L) + z_U/(w_U − w) for all of w.
    pub sigma: &'a [f64],
}

/// What a line search taught of its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::nlp) enum Lesson {
    /// The first step tried was taken.
    Right,
    /// Next to nothing of it could be used.
    TooLong,
}

/// No regularisation up to the largest gives the matrix the right inertia.
#[derive(Debug)]
pub(in crate::nlp) struct Singular;

// Constants of section 3.1 of Wächter & Biegler (2006), Algorithm IC, as Ipopt has them.
const DELTA_W_FIRST: f64 = 1e-4;
const DELTA_W_MIN: f64 = 1e-20;
const DELTA_W_MAX: f64 = 1e20;
const DELTA_W_DECREASE: f64 = 1.0 / 3.0;
const DELTA_W_INCREASE: f64 = 8.0;
const DELTA_W_INCREASE_FIRST: f64 = 100.0;

// Ours, see `learn`: directions in a row before it acts; how many times the Hessian is too much; regularisation below this is none.
const PATIENCE: usize = 4;
const OUTWEIGHS: f64 = 1e6;
const DELTA_W_NONE: f64 = 1e-7;

/// Largest entry of a Hessian whose matrix is factorised as it stands. Above, entries of the Jacobian near one are smaller by more than the
/// threshold of pivots (1e-8).
const LARGE_HESSIAN: f64 = 1e8;

const DELTA_C: f64 = 1e-8;
const DELTA_C_EXPONENT: f64 = 0.25;

// Refinement (`min_refinement_steps`, `max_refinement_steps`, `residual_ratio_max`, `residual_ratio_singular`).
const REFINE_MIN: usize = 1;
const REFINE_MAX: usize = 10;
const RATIO_GOOD: f64 = 1e-10;
const RATIO_SINGULAR: f64 = 1e-5;

impl System {
    pub fn new(pattern: KktPattern, solver: Box<dyn KktSolver>) -> Self {
        let len = pattern.lower.len();
        System {
            pattern,
            solver,
            values: vec![0.0; len],
            scale: Vec::new(),
            d: Vec::new(),
            e: Vec::new(),
            aux: Vec::new(),
            rhs: Vec::new(),
            residual_w: Vec::new(),
            residual_y: Vec::new(),
            correction_w: Vec::new(),
            correction_y: Vec::new(),
            last_delta: 0.0,
            least_delta: 0.0,
            too_long: 0,
            in_vain: false,
            hessian_size: 0.0,
            first_hessian_size: 0.0,
            delta_w: 0.0,
            delta_c: 0.0,
            factorizations: 0,
            solves: 0,
        }
    }

    /// Forgets the regularisation of earlier matrices; returns it, for [`set_memory`](Self::set_memory).
    pub fn take_memory(&mut self) -> (f64, f64) {
        (std::mem::take(&mut self.last_delta), std::mem::take(&mut self.least_delta))
    }

    pub fn set_memory(&mut self, (last_delta, least_delta): (f64, f64)) {
        self.last_delta = last_delta;
        self.least_delta = least_delta;
    }

    /// A new beginning: nothing is known of any direction.
    pub fn forget(&mut self) {
        self.take_memory();
        (self.too_long, self.in_vain) = (0, false);
    }

    /// Takes note of how far the last direction led. Where next to nothing of several in a row could be used, they were too long for
    /// the quadratic model: the right inertia alone does not make it trustworthy. More regularisation then shortens the next, as a
    /// smaller trust region would; full steps take it away again. Without this, a swing-up of a chain of six links may crawl through
    /// thousands of steps of 10⁻⁴ that lead to a poor solution.
    ///
    /// What the constraints determine does not become shorter so. Where regularisation far outweighs the Hessian and steps are still too long, it
    /// goes, until a full step was taken.
    pub fn learn(&mut self, lesson: Lesson) {
        match lesson {
            Lesson::TooLong => {
                self.too_long += 1;
                if self.too_long < PATIENCE || self.in_vain {
                    return;
                }
                if self.too_long == PATIENCE {
                    self.first_hessian_size = self.hessian_size;
                }
                self.least_delta = (DELTA_W_INCREASE * self.delta_w).max(self.last_delta).max(DELTA_W_FIRST);
                if self.least_delta > OUTWEIGHS * self.first_hessian_size.max(1.0) {
                    (self.least_delta, self.in_vain) = (0.0, true);
                }
            }
            Lesson::Right => {
                self.too_long = 0;
                self.in_vain = false;
                self.least_delta *= DELTA_W_DECREASE;
                if self.least_delta < DELTA_W_NONE {
                    self.least_delta = 0.0;
                }
            }
        }
    }

    /// Factorises with the least regularisation that gives as many positive eigenvalues as variables and as many
    /// negative ones as rows (Algorithm IC), and solves for one right-hand side.
    pub fn solve_regularized(
        &mut self,
        scaled: &Scaled<'_>,
        layer: &Layer,
        matrix: &Matrix<'_>,
        mu: f64,
        (rw, ry): (&[f64], &[f64]),
        (dw, dy): (&mut [f64], &mut [f64]),
    ) -> Result<(), Singular> {
        let (mut delta_w, mut delta_c) = (self.least_delta, 0.0);
        let delta_c_try = DELTA_C * elementary::powf(mu, DELTA_C_EXPONENT);
        loop {
            let inertia = self.factor(layer, matrix, delta_w, delta_c);
            let singular = inertia.zero > 0;
            if !singular && inertia.negative == layer.m {
                let ratio = self.solve(scaled, layer, matrix, (rw, ry), (dw, dy));
                if ratio <= RATIO_SINGULAR {
                    if delta_w > 0.0 {
                        self.last_delta = delta_w;
                    }
                    return Ok(());
                }
            }
            // Too few digits, or too few negative eigenvalues: rows depend on each other.
            if delta_c == 0.0 && (singular || inertia.negative <= layer.m) {
                delta_c = delta_c_try;
                if inertia.negative <= layer.m
                    && inertia.positive + inertia.zero >= layer.nx
                    && delta_w == 0.0
                {
                    // First see whether that is all.
                    continue;
                }
            }
            delta_w = match (delta_w, self.last_delta) {
                (0.0, 0.0) => DELTA_W_FIRST,
                (0.0, last) => (last * DELTA_W_DECREASE).max(DELTA_W_MIN),
                (now, 0.0) => now * DELTA_W_INCREASE_FIRST,
                (now, last) if now > 1e5 * last => now * DELTA_W_INCREASE_FIRST,
                (now, _) => now * DELTA_W_INCREASE,
            };
            if !(delta_w <= DELTA_W_MAX) {
                self.last_delta = 0.0;
                return Err(Singular);
            }
        }
    }

    /// Factorises with given regularisation.
    pub fn factor(
        &mut self,
        layer: &Layer,
        matrix: &Matrix<'_>,
        delta_w: f64,
        delta_c: f64,
    ) -> crate::linear::Inertia {
        self.delta_w = delta_w;
        self.delta_c = delta_c;
        self.d.clear();
        self.d.extend((0..layer.nx).map(|i| matrix.sigma[i] + layer.diagonal(i) + delta_w));
        self.aux.clear();
        self.aux.extend((layer.nx..layer.n).map(|i| matrix.sigma[i] + layer.diagonal(i) + delta_w));
        // Auxiliary variables touch one row each: eliminated by hand they leave 1/diagonal there.
        self.e.clear();
        self.e.resize(layer.m, delta_c);
        for (&r, &a) in layer.aux_row.iter().zip(&self.aux) {
            self.e[r] += 1.0 / a;
        }
        self.pattern.assemble(matrix.hessian, matrix.jacobian, &self.d, &self.e, &mut self.values);
        self.factorizations += 1;
        // Multipliers that have grown make the Hessian outweigh the Jacobian, which then has no pivots.
        self.scale.clear();
        self.hessian_size = max_abs(matrix.hessian);
        if self.hessian_size > LARGE_HESSIAN {
            equilibrate(&self.pattern.lower, &mut self.values, &mut self.scale);
        }
        self.solver.factor(&self.values)
    }

    /// Solves with the last factorisation, refines, and returns the residual relative to right-hand side and solution.
    pub fn solve(
        &mut self,
        scaled: &Scaled<'_>,
        layer: &Layer,
        matrix: &Matrix<'_>,
        (rw, ry): (&[f64], &[f64]),
        (dw, dy): (&mut [f64], &mut [f64]),
    ) -> f64 {
        self.solve_once(scaled, layer, matrix, (rw, ry), (dw, dy));
        let norm = max_abs(rw).max(max_abs(ry));
        let mut last = f64::INFINITY;
        for step in 0..=REFINE_MAX {
            self.compute_residual(scaled, layer, matrix, (rw, ry), (dw, dy));
            let residual = max_abs(&self.residual_w).max(max_abs(&self.residual_y));
            let size = max_abs(dw).max(max_abs(dy));
            let base = norm + size.min(1e6 * norm);
            let ratio = if base > 0.0 { residual / base } else { residual };
            if !ratio.is_finite() {
                return f64::INFINITY;
            }
            if ratio > last {
                // The last correction made it worse: take it back.
                for (d, c) in
                    dw.iter_mut().zip(&self.correction_w).chain(dy.iter_mut().zip(&self.correction_y))
                {
                    *d -= c;
                }
                return last;
            }
            if (ratio <= RATIO_GOOD && step >= REFINE_MIN)
                || ratio <= f64::EPSILON
                || ratio > 0.5 * last
                || step == REFINE_MAX
            {
                return ratio;
            }
            last = ratio;
            let (mut cw, mut cy) =
                (std::mem::take(&mut self.correction_w), std::mem::take(&mut self.correction_y));
            let (fw, fy) = (std::mem::take(&mut self.residual_w), std::mem::take(&mut self.residual_y));
            cw.resize(dw.len(), 0.0);
            cy.resize(dy.len(), 0.0);
            self.solve_once(scaled, layer, matrix, (&fw, &fy), (&mut cw, &mut cy));
            for (d, c) in dw.iter_mut().zip(&cw).chain(dy.iter_mut().zip(&cy)) {
                *d += c;
            }
            self.correction_w = cw;
            self.correction_y = cy;
            self.residual_w = fw;
            self.residual_y = fy;
        }
        last
    }

    fn solve_once(
        &mut self,
        scaled: &Scaled<'_>,
        layer: &Layer,
        matrix: &Matrix<'_>,
        (rw, ry): (&[f64], &[f64]),
        (dw, dy): (&mut [f64], &mut [f64]),
    ) {
        let nx = layer.nx;
        self.rhs.clear();
        self.rhs.extend_from_slice(&rw[..nx]);
        self.rhs.extend_from_slice(ry);
        for (k, &r) in layer.aux_row.iter().enumerate() {
            self.rhs[nx + r] -= layer.aux_sign[k] * rw[nx + k] / self.aux[k];
        }
        self.solves += 1;
        let scale = |rhs: &mut [f64], by: &[f64]| rhs.iter_mut().zip(by).for_each(|(b, s)| *b *= s);
        scale(&mut self.rhs, &self.scale);
        self.solver.solve(&mut self.rhs);
        scale(&mut self.rhs, &self.scale);
        dw[..nx].copy_from_slice(&self.rhs[..nx]);
        dy.copy_from_slice(&self.rhs[nx..]);

        // Auxiliary variables: from their own equation where it is stiff, from their row where it is not.
        for (k, &r) in layer.aux_row.iter().enumerate() {
            dw[nx + k] = (rw[nx + k] - layer.aux_sign[k] * dy[r]) / self.aux[k];
        }
        if layer.penalty.is_none() {
            for (k, &r) in layer.aux_row.iter().enumerate() {
                if self.aux[k] < 1.0 {
                    let (columns, start) = scaled.jacobian.row(r);
                    let product: f64 =
                        columns.iter().zip(&matrix.jacobian[start..]).map(|(&c, &v)| v * dw[c]).sum();
                    dw[nx + k] = layer.aux_sign[k] * (ry[r] + self.delta_c * dy[r] - product);
                }
            }
        }
    }

    fn compute_residual(
        &mut self,
        scaled: &Scaled<'_>,
        layer: &Layer,
        matrix: &Matrix<'_>,
        (rw, ry): (&[f64], &[f64]),
        (dw, dy): (&[f64], &[f64]),
    ) {
        let nx = layer.nx;
        let (out_w, out_y) = (&mut self.residual_w, &mut self.residual_y);
        out_w.clear();
        out_w.resize(layer.n, 0.0);
        out_y.clear();
        out_y.resize(layer.m, 0.0);
        for r in 0..scaled.hessian.rows().min(nx) {
            let (columns, start) = scaled.hessian.row(r);
            for (&c, &v) in columns.iter().zip(&matrix.hessian[start..]) {
                out_w[r] += v * dw[c];
                if c != r {
                    out_w[c] += v * dw[r];
                }
            }
        }
        layer.add_transposed(scaled, matrix.jacobian, dy, out_w);
        layer.add_product(scaled, matrix.jacobian, dw, out_y);
        for i in 0..nx {
            out_w[i] = rw[i] - out_w[i] - self.d[i] * dw[i];
        }
        for k in 0..layer.n - nx {
            out_w[nx + k] = rw[nx + k] - out_w[nx + k] - self.aux[k] * dw[nx + k];
        }
        for r in 0..layer.m {
            out_y[r] = ry[r] - out_y[r] + self.delta_c * dy[r];
        }
    }
}

/// Largest |x|; NaN if there is one.
pub(in crate::nlp) fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, v| if v.abs() > m || v.is_nan() { v.abs() } else { m })
}

//! Discretization error of a solution in each interval, and mesh refinement.

use super::collocation::{Collocation, Phase};
use super::legendre::{gauss_points, lagrange_integral};
use crate::function::Scratch;
use soleus_math::elementary;
use soleus_math::norm::{largest, largest_size};
use soleus_optimization::linear::DenseLdlt;

/// Parts that an interval is cut into at most from one mesh to the next (Betts 2010, section 4.7.4).
const MOST_PARTS: usize = 5;

/// Newton steps for the rates. Multibody equations are linear in them and need one.
const MOST_STEPS: usize = 20;

/// Discretization error of a solution.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshError {
    /// Maximum error of all states in each interval, relative to their size.
    pub of_interval: Vec<f64>,
    /// State and time with the largest error.
    pub worst: String,
}

impl MeshError {
    /// Maximum over all intervals.
    pub fn largest(&self) -> f64 {
        largest(self.of_interval.iter().copied())
    }
}

/// The rates that belong to a state between the points of the mesh could not be found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the mesh error could not be computed: at {time:.4} s the dynamics cannot be evaluated at the interpolated states"
)]
pub struct NoRates {
    /// Time, s.
    pub time: f64,
}

/// The equations f = 0 solved for ẋ and λ by Newton's method.
struct Rates {
    scratch: Scratch,
    residual: Vec<f64>,
    jacobian: Vec<f64>,
    matrix: Vec<f64>,
    solver: DenseLdlt,
    step: Vec<f64>,
}

impl Collocation {
    /// The error of the solution `x` of the program over every interval (Betts 2010, eqs. 4.130 and 4.132):
    ///
    ///   η = ∫ |x̃′ − ẋ(x̃, ẽ)| dt,   relative to 1 + max |x|
    ///
    /// where x̃ and ẽ are the polynomials of the scheme, and ẋ(x̃, ẽ) solves f = 0.
    ///
    /// With several phases, of the first.
    pub fn mesh_error(&mut self, x: &[f64]) -> Result<MeshError, NoRates> {
        let full = self.assembly.unknowns(x);
        self.phases[0].mesh_error(full)
    }

    /// The same for all phases.
    pub fn mesh_errors(&mut self, x: &[f64]) -> Result<Vec<MeshError>, NoRates> {
        let full = self.assembly.unknowns(x);
        self.phases.iter().map(|p| p.mesh_error(full)).collect()
    }
}

impl Phase {
    fn mesh_error(&self, full: &[f64]) -> Result<MeshError, NoRates> {
        let stencil = self.settings.scheme.stencil();
        let [t0, tf] = self.layout.times.map(|t| full[t]);
        let (nx, inner) = (self.problem.states.len(), stencil.nodes.len() - 1);
        let sizes: Vec<f64> = (0..nx)
            .map(|i| self.layout.points.iter().fold(1.0, |m: f64, p| m.max(1.0 + full[p.states[i]].abs())))
            .collect();
        // More samples than points, so that they are not all points where the equations hold.
        let samples = gauss_points((stencil.nodes.len() + 1).min(9));
        let weights: Vec<f64> = (0..samples.len()).map(|k| lagrange_integral(&samples, k)).collect();
        let mut rates = self.rates();
        let mut z = vec![0.0; self.problem.dynamics.function.num_inputs()];
        let mut error = MeshError { of_interval: Vec::new(), worst: String::new() };
        let mut most = -1.0;
        for interval in 0..self.settings.mesh.len() - 1 {
            let (a, b) = (self.settings.mesh[interval], self.settings.mesh[interval + 1]);
            let h = (b - a) * (tf - t0);
            let mut eta = vec![0.0; nx];
            for (&s, w) in samples.iter().zip(&weights) {
                let time = t0 + (a + s * (b - a)) * (tf - t0);
                let slope = self.interpolate(full, interval * inner, (interval, s, h), time, &mut z);
                if !rates.solve(self, &mut z) {
                    return Err(NoRates { time });
                }
                for i in 0..nx {
                    eta[i] += w * (slope[i] - h * z[1 + nx + i]).abs();
                }
            }
            let mut relative = 0.0f64;
            for i in (0..nx).filter(|&i| !self.problem.prescribed.iter().any(|m| m.state == i)) {
                let e = eta[i] / sizes[i];
                relative = largest([relative, e]);
                if e > most {
                    most = e;
                    let time = t0 + 0.5 * (a + b) * (tf - t0);
                    error.worst = format!("{} near {time:.4} s", self.problem.states[i].name);
                }
            }
            error.of_interval.push(relative);
        }
        Ok(error)
    }

    /// Writes the inputs of the dynamics at s inside an interval; returns slopes of the states by s.
    fn interpolate(
        &self,
        full: &[f64],
        first: usize,
        (interval, s, h): (usize, f64, f64),
        time: f64,
        z: &mut [f64],
    ) -> Vec<f64> {
        let p = &self.problem;
        let scheme = self.settings.scheme;
        let stencil = scheme.stencil();
        let (nx, last) = (p.states.len(), stencil.nodes.len() - 1);
        let at = |k: usize| match self.layout.projected.get(interval) {
            Some(projected) if k == last => projected,
            _ => &self.layout.points[first + k],
        };
        let [value, slope] = scheme.state_weights(&stencil.nodes, s);
        let on_line = self.settings.interpolate_controls;
        let control = scheme.control_weights(&stencil.nodes, s, on_line);
        z[0] = time;
        let mut slopes = vec![0.0; nx];
        for i in 0..nx {
            let of = |k: usize| full[at(k).states[i]];
            let rate = |k: usize| full[at(k).rates[i]];
            z[1 + i] = value.apply(h, of, rate);
            slopes[i] = slope.apply(h, of, rate);
        }
        for m in &p.prescribed {
            let [x, rate] = (m.motion)(time);
            (z[1 + m.state], slopes[m.state]) = (x, h * rate);
        }
        for i in 0..nx {
            z[1 + nx + i] = slopes[i] / h;
        }
        let mut next = 1 + 2 * nx;
        for i in 0..p.controls.len() {
            z[next] = control.apply(h, |k| full[at(k).controls[i]], |_| 0.0);
            next += 1;
        }
        for i in 0..p.multipliers.len() {
            z[next] = (1.0 - s) * full[at(0).multipliers[i]] + s * full[at(last).multipliers[i]];
            next += 1;
        }
        for (z, &i) in z[next..].iter_mut().zip(&self.layout.parameters) {
            *z = full[i];
        }
        slopes
    }

    fn rates(&self) -> Rates {
        let f = &self.problem.dynamics.function;
        let n = f.num_outputs();
        Rates {
            scratch: f.scratch(),
            residual: vec![0.0; n],
            jacobian: vec![0.0; f.jacobian_places().len()],
            matrix: vec![0.0; 4 * n * n],
            solver: DenseLdlt::default(),
            step: vec![0.0; 2 * n],
        }
    }
}

impl Rates {
    /// Changes ẋ and λ in z until f(z) = 0; whether that succeeded.
    fn solve(&mut self, c: &Phase, z: &mut [f64]) -> bool {
        let f = &c.problem.dynamics.function;
        let (nx, ne, n) = (c.problem.states.len(), c.problem.controls.len(), f.num_outputs());
        // Column of an input among the unknowns ẋ, λ.
        let unknown = |input: usize| -> Option<usize> {
            let (rates, multipliers) = (1 + nx, 1 + 2 * nx + ne);
            if (rates..rates + nx).contains(&input) {
                Some(input - rates)
            } else if (multipliers..multipliers + n - nx).contains(&input) {
                Some(nx + input - multipliers)
            } else {
                None
            }
        };
        let mut last = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            f.compute_values(z, &mut self.residual, &mut self.scratch);
            let size = largest_size(&self.residual);
            if !size.is_finite() {
                return false;
            }
            // As good as rounding allows.
            if size == 0.0 || (size < 1e-6 && size > 0.5 * last) {
                return true;
            }
            last = size;
            f.compute_jacobian(z, &mut self.jacobian, &mut self.scratch);
            // 0 J; Jᵀ 0: symmetric, and where constraints are redundant the unknowns without a pivot stay.
            self.matrix.fill(0.0);
            for (&(row, input), &v) in f.jacobian_places().iter().zip(&self.jacobian) {
                if let Some(column) = unknown(input) {
                    self.matrix[row * 2 * n + n + column] = v;
                }
            }
            self.solver.factor(2 * n, &self.matrix);
            self.step.fill(0.0);
            self.step[..n].iter_mut().zip(&self.residual).for_each(|(s, r)| *s = -r);
            self.solver.solve(&mut self.step);
            for input in 0..z.len() {
                if let Some(column) = unknown(input) {
                    z[input] += self.step[n + column];
                }
            }
        }
        last < 1e-6
    }
}

/// A mesh on which errors proportional to h^`exponent` are expected to be below `tolerance`.
///
/// An interval with error ε is divided into ⌈(2 ε/tolerance)^(1/exponent)⌉ equal parts, at most five, starting with the
/// largest errors until the mesh has `max_intervals`.
pub fn refined_mesh(
    mesh: &[f64],
    errors: &[f64],
    exponent: usize,
    tolerance: f64,
    max_intervals: usize,
) -> Vec<f64> {
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]));
    let mut parts = vec![1; errors.len()];
    let mut room = max_intervals.saturating_sub(errors.len());
    for i in order.into_iter().filter(|&i| errors[i] > tolerance) {
        let wanted = elementary::powf(2.0 * errors[i] / tolerance, 1.0 / exponent as f64).ceil();
        parts[i] = (wanted as usize).clamp(2, MOST_PARTS).min(1 + room);
        room -= parts[i] - 1;
    }
    let mut fine = vec![mesh.first().copied().unwrap_or(0.0)];
    for (ends, &n) in mesh.windows(2).zip(&parts) {
        fine.extend((1..n).map(|k| ends[0] + (ends[1] - ends[0]) * k as f64 / n as f64));
        fine.push(ends[1]);
    }
    fine
}

//! Swing-up of a planar chain of links, by trapezoidal collocation with accelerations as variables.
//!
//! Links of length l = 1 m and mass m = 1 kg at their ends hang from a fixed pivot; angles θᵢ are absolute, from
//! straight down; a torque uᵢ acts at joint i between links i − 1 and i. With μᵢ the mass beyond joint i,
//!
//!   Σⱼ μ_max(i,j) l² [cos(θᵢ − θⱼ) θ̈ⱼ + sin(θᵢ − θⱼ) θ̇ⱼ²] + μᵢ g l sin θᵢ = uᵢ − uᵢ₊₁
//!
//! Variables of a node: θ, ω, α (accelerations), u. Rows of a node: the equation of motion. Rows of an interval:
//!   θ₊ − θ = h/2 (ω + ω₊),   ω₊ − ω = h/2 (α + α₊).
//! Objective: h Σ u², trapezoidal weights.

use super::{Model, Piece, Pieces};
use soleus_math::Real;
use soleus_optimization::{NonlinearProgram, SparsityPattern, Stages};

pub struct Chain {
    pub links: usize,
    pub nodes: usize,
    pub duration: f64,
}

const GRAVITY: f64 = 9.81;

impl Chain {
    fn step(&self) -> f64 {
        self.duration / (self.nodes - 1) as f64
    }
}

impl Model for Chain {
    fn eval<T: Real>(&self, piece: usize, x: &[T], c: &mut [T]) -> T {
        let (n, nodes) = (self.links, self.nodes);
        let h = self.step();
        match piece {
            // Inertia and gravity at a node: θ, ω, α.
            k if k < nodes => {
                let (theta, omega, alpha) = (&x[..n], &x[n..2 * n], &x[2 * n..]);
                let mass = |i: usize| (n - i) as f64;
                for i in 0..n {
                    let mut sum = theta[i].sin() * (mass(i) * GRAVITY);
                    for j in 0..n {
                        let (s, k) = (theta[i] - theta[j]).sin_cos();
                        sum += (k * alpha[j] + s * omega[j] * omega[j]) * mass(i.max(j));
                    }
                    c[i] = sum;
                }
                T::zero()
            }
            // A torque at a node: on its own link and, backwards, on the one before; its cost.
            k if k < nodes * (n + 1) => {
                let (node, joint) = ((k - nodes) / n, (k - nodes) % n);
                c[0] = -x[0];
                if joint > 0 {
                    c[1] = x[0];
                }
                let weight = if node == 0 || node + 1 == nodes { 0.5 * h } else { h };
                x[0] * x[0] * weight
            }
            // A link over an interval: θ, ω, α at both ends.
            _ => {
                c[0] = x[3] - x[0] - (x[1] + x[4]) * (0.5 * h);
                c[1] = x[4] - x[1] - (x[2] + x[5]) * (0.5 * h);
                T::zero()
            }
        }
    }
}

/// From hanging to upright, both at rest; torques bounded.
pub fn swing_up(links: usize, nodes: usize, duration: f64, torque: f64) -> Pieces<Chain> {
    let n = links;
    let per = 4 * n;
    let inf = f64::INFINITY;
    let total = nodes * per;
    let (mut lower, mut upper) = (vec![-inf; total], vec![inf; total]);
    let mut start = vec![0.0; total];
    for k in 0..nodes {
        let base = k * per;
        for i in 0..n {
            lower[base + 3 * n + i] = -torque;
            upper[base + 3 * n + i] = torque;
            start[base + i] = std::f64::consts::PI * k as f64 / (nodes - 1) as f64;
            start[base + n + i] = std::f64::consts::PI / duration;
            if k == 0 || k == nodes - 1 {
                let angle = if k == 0 { 0.0 } else { std::f64::consts::PI };
                for (at, v) in [(base + i, angle), (base + n + i, 0.0)] {
                    (lower[at], upper[at], start[at]) = (v, v, v);
                }
            }
        }
    }
    // Second derivatives: θ with θ, ω and α; each ω with itself.
    let mut curved: Vec<(usize, usize)> = (0..n).flat_map(|a| (0..=a).map(move |b| (a, b))).collect();
    curved.extend((n..3 * n).flat_map(|a| (0..n).map(move |b| (a, b))));
    curved.extend((n..2 * n).map(|a| (a, a)));
    let mut pieces = Vec::new();
    for k in 0..nodes {
        let mut piece = Piece::new((k * per..k * per + 3 * n).collect(), (k * n..(k + 1) * n).collect());
        piece.curved = Some(curved.clone());
        pieces.push(piece);
    }
    for k in 0..nodes {
        for i in 0..n {
            let rows = if i > 0 { vec![k * n + i, k * n + i - 1] } else { vec![k * n] };
            pieces.push(Piece::new(vec![k * per + 3 * n + i], rows));
        }
    }
    let first_row = nodes * n;
    for k in 0..nodes - 1 {
        for i in 0..n {
            let at = |node: usize| (0..3).map(move |part| node * per + part * n + i);
            let row = first_row + (k * n + i) * 2;
            pieces.push(Piece::linear(at(k).chain(at(k + 1)).collect(), vec![row, row + 1]));
        }
    }
    let of_variable = (0..total).map(|i| (i / per) as u32).collect();
    let of_constraint: Vec<u32> = (0..nodes * n)
        .map(|r| r / n)
        .chain((0..2 * n * (nodes - 1)).map(|r| r / (2 * n)))
        .map(|k| k as u32)
        .collect();
    let rows = vec![0.0; of_constraint.len()];
    let chain = Chain { links, nodes, duration };
    let mut problem = Pieces::new(chain, pieces, [lower, upper], [rows.clone(), rows], start);
    problem.stages = Some(Stages { of_variable, of_constraint });
    problem
}

/// The same problem with derivatives by hand, for timing.
pub struct FastChain {
    inner: Pieces<Chain>,
    /// First place of row i of a node in the Jacobian: θ, ω, α by columns, then torques.
    rows: Vec<usize>,
    /// Place of (a, b) of a node's θ, ω, α in the Hessian; `usize::MAX` where it is zero.
    places: Vec<Vec<usize>>,
    torques: Vec<usize>,
}

impl FastChain {
    pub fn new(inner: Pieces<Chain>) -> Self {
        let (n, nodes) = (inner.model.links, inner.model.nodes);
        let per = 4 * n;
        let hessian = inner.hessian_pattern();
        let place = |a: usize, b: usize| hessian.position(a.max(b), a.min(b)).unwrap_or(usize::MAX);
        FastChain {
            rows: (0..nodes * n).map(|r| inner.jacobian_pattern().row(r).1).collect(),
            places: (0..nodes)
                .map(|k| {
                    let base = k * per;
                    (0..9 * n * n).map(|ab| place(base + ab / (3 * n), base + ab % (3 * n))).collect()
                })
                .collect(),
            torques: (0..nodes * n)
                .map(|r| place((r / n) * per + 3 * n + r % n, (r / n) * per + 3 * n + r % n))
                .collect(),
            inner,
        }
    }

    pub fn start_mut(&mut self) -> &mut [f64] {
        &mut self.inner.start
    }

    fn weight(&self, node: usize) -> f64 {
        let h = self.inner.model.step();
        if node == 0 || node + 1 == self.inner.model.nodes { 0.5 * h } else { h }
    }
}

impl NonlinearProgram for FastChain {
    fn num_variables(&self) -> usize {
        self.inner.num_variables()
    }
    fn num_constraints(&self) -> usize {
        self.inner.num_constraints()
    }
    fn compute_variable_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        self.inner.compute_variable_bounds(lower, upper);
    }
    fn compute_constraint_bounds(&self, lower: &mut [f64], upper: &mut [f64]) {
        self.inner.compute_constraint_bounds(lower, upper);
    }
    fn compute_start(&self, x: &mut [f64]) {
        self.inner.compute_start(x);
    }
    fn jacobian_pattern(&self) -> &SparsityPattern {
        self.inner.jacobian_pattern()
    }
    fn hessian_pattern(&self) -> &SparsityPattern {
        self.inner.hessian_pattern()
    }
    fn stages(&self) -> Option<&Stages> {
        self.inner.stages()
    }
    fn compute_objective(&mut self, x: &[f64]) -> f64 {
        let (n, nodes) = (self.inner.model.links, self.inner.model.nodes);
        let node = |k: usize| {
            self.weight(k) * x[k * 4 * n + 3 * n..(k + 1) * 4 * n].iter().map(|u| u * u).sum::<f64>()
        };
        (0..nodes).map(node).sum()
    }
    fn compute_gradient(&mut self, x: &[f64], gradient: &mut [f64]) {
        let (n, nodes) = (self.inner.model.links, self.inner.model.nodes);
        gradient.fill(0.0);
        for k in 0..nodes {
            for i in k * 4 * n + 3 * n..(k + 1) * 4 * n {
                gradient[i] = 2.0 * self.weight(k) * x[i];
            }
        }
    }
    fn compute_constraints(&mut self, x: &[f64], c: &mut [f64]) {
        let Chain { links: n, nodes, .. } = self.inner.model;
        let h = self.inner.model.step();
        for k in 0..nodes {
            let (theta, rest) = x[k * 4 * n..(k + 1) * 4 * n].split_at(n);
            let (omega, rest) = rest.split_at(n);
            let (alpha, u) = rest.split_at(n);
            for i in 0..n {
                let mut sum = (n - i) as f64 * GRAVITY * theta[i].sin() - u[i];
                if i + 1 < n {
                    sum += u[i + 1];
                }
                for j in 0..n {
                    let (s, c) = (theta[i] - theta[j]).sin_cos();
                    sum += (n - i.max(j)) as f64 * (c * alpha[j] + s * omega[j] * omega[j]);
                }
                c[k * n + i] = sum;
            }
        }
        for k in 0..nodes - 1 {
            let (a, b) = (&x[k * 4 * n..], &x[(k + 1) * 4 * n..]);
            for i in 0..n {
                let row = nodes * n + (k * n + i) * 2;
                c[row] = b[i] - a[i] - 0.5 * h * (a[n + i] + b[n + i]);
                c[row + 1] = b[n + i] - a[n + i] - 0.5 * h * (a[2 * n + i] + b[2 * n + i]);
            }
        }
    }
    fn compute_jacobian(&mut self, x: &[f64], values: &mut [f64]) {
        let Chain { links: n, nodes, .. } = self.inner.model;
        let h = self.inner.model.step();
        for k in 0..nodes {
            let (theta, omega, alpha) = (&x[k * 4 * n..], &x[k * 4 * n + n..], &x[k * 4 * n + 2 * n..]);
            for i in 0..n {
                let row = &mut values[self.rows[k * n + i]..];
                let mut own = (n - i) as f64 * GRAVITY * theta[i].cos();
                for j in 0..n {
                    let (s, c) = (theta[i] - theta[j]).sin_cos();
                    let m = (n - i.max(j)) as f64;
                    let d = m * (c * omega[j] * omega[j] - s * alpha[j]);
                    row[j] = -d;
                    own += if j == i { 0.0 } else { d };
                    row[n + j] = 2.0 * m * s * omega[j];
                    row[2 * n + j] = m * c;
                }
                row[i] = own;
                row[3 * n] = -1.0;
                if i + 1 < n {
                    row[3 * n + 1] = 1.0;
                }
            }
        }
        let mut at = self.inner.jacobian_pattern().row(nodes * n).1;
        for _ in 0..n * (nodes - 1) {
            // Columns rise: θ, ω, α here, then at the next node; the pattern of a piece has all six.
            values[at..at + 12].copy_from_slice(&[
                -1.0,
                -0.5 * h,
                0.0,
                1.0,
                -0.5 * h,
                0.0,
                0.0,
                -1.0,
                -0.5 * h,
                0.0,
                1.0,
                -0.5 * h,
            ]);
            at += 12;
        }
    }
    fn compute_hessian(&mut self, x: &[f64], sigma: f64, y: &[f64], values: &mut [f64]) {
        let Chain { links: n, nodes, .. } = self.inner.model;
        values.fill(0.0);
        for k in 0..nodes {
            let (theta, omega, alpha) = (&x[k * 4 * n..], &x[k * 4 * n + n..], &x[k * 4 * n + 2 * n..]);
            let place = &self.places[k];
            let mut add = |a: usize, b: usize, v: f64| values[place[a * 3 * n + b]] += v;
            for i in 0..n {
                let y = y[k * n + i];
                add(i, i, -y * (n - i) as f64 * GRAVITY * theta[i].sin());
                for j in 0..n {
                    if i == j {
                        continue;
                    }
                    let (s, c) = (theta[i] - theta[j]).sin_cos();
                    let m = y * (n - i.max(j)) as f64;
                    let t = m * (c * alpha[j] + s * omega[j] * omega[j]);
                    add(i, i, -t);
                    add(j, j, -t);
                    add(i, j, t);
                    add(i, n + j, 2.0 * m * c * omega[j]);
                    add(j, n + j, -2.0 * m * c * omega[j]);
                    add(i, 2 * n + j, -m * s);
                    add(j, 2 * n + j, m * s);
                    add(n + j, n + j, 2.0 * m * s);
                }
            }
        }
        for (r, &at) in self.torques.iter().enumerate() {
            values[at] = 2.0 * sigma * self.weight(r / n);
        }
    }
}

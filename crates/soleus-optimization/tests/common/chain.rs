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
use soleus_optimization::Stages;

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
        let n = self.links;
        let h = self.step();
        if piece >= self.nodes {
            // An interval: two nodes' θ, ω, α.
            let (a, b) = x.split_at(3 * n);
            for i in 0..n {
                c[i] = b[i] - a[i] - (a[n + i] + b[n + i]) * (0.5 * h);
                c[n + i] = b[n + i] - a[n + i] - (a[2 * n + i] + b[2 * n + i]) * (0.5 * h);
            }
            return T::zero();
        }
        let (theta, omega, alpha, u) = (&x[..n], &x[n..2 * n], &x[2 * n..3 * n], &x[3 * n..]);
        for i in 0..n {
            let mass = |i: usize| (n - i) as f64;
            let mut sum = theta[i].sin() * (mass(i) * GRAVITY) - u[i];
            if i + 1 < n {
                sum += u[i + 1];
            }
            for j in 0..n {
                let (s, k) = (theta[i] - theta[j]).sin_cos();
                sum += (k * alpha[j] + s * omega[j] * omega[j]) * mass(i.max(j));
            }
            c[i] = sum;
        }
        let weight = if piece == 0 || piece + 1 == self.nodes { 0.5 * h } else { h };
        let mut f = T::zero();
        for &u in u {
            f += u * u * weight;
        }
        f
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
    let mut stage = vec![0; total];
    let mut pieces = Vec::new();
    for k in 0..nodes {
        let base = k * per;
        stage[base..base + per].fill(k as u32);
        pieces.push(Piece {
            variables: (base..base + per).collect(),
            rows: (0..n).map(|i| k * n + i).collect(),
        });
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
    let first_row = nodes * n;
    let mut row_stage: Vec<u32> = (0..nodes).flat_map(|k| std::iter::repeat_n(k as u32, n)).collect();
    for k in 0..nodes - 1 {
        let variables = (k * per..k * per + 3 * n).chain((k + 1) * per..(k + 1) * per + 3 * n).collect();
        pieces.push(Piece { variables, rows: (0..2 * n).map(|i| first_row + k * 2 * n + i).collect() });
        row_stage.extend(std::iter::repeat_n(k as u32, 2 * n));
    }
    let rows = row_stage.len();
    let chain = Chain { links, nodes, duration };
    let mut problem = Pieces::new(chain, pieces, [lower, upper], [vec![0.0; rows], vec![0.0; rows]], start);
    problem.stages = Some(Stages { of_variable: stage, of_constraint: row_stage });
    problem
}

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
    let of_constraint: Vec<u32> =
        (0..nodes * n).map(|r| r / n).chain((0..2 * n * (nodes - 1)).map(|r| r / (2 * n))).map(|k| k as u32).collect();
    let rows = vec![0.0; of_constraint.len()];
    let chain = Chain { links, nodes, duration };
    let mut problem = Pieces::new(chain, pieces, [lower, upper], [rows.clone(), rows], start);
    problem.stages = Some(Stages { of_variable, of_constraint });
    problem
}

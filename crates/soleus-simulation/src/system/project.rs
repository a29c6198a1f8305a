//! Projection of a state onto its constraints after a step.

use crate::ode::{Projected, RhsError};
use soleus_dynamics::joint::{angles_rate, speeds_from_rates};
use soleus_dynamics::system::{State, System, Workspace};
use soleus_math::dense::solve_min_norm;
use soleus_math::vec3;

/// Scratch memory of the projection.
#[derive(Clone, Debug)]
pub(super) struct Projector {
    /// First of the three mobilities of each joint whose speeds are an angular velocity.
    angular: Vec<usize>,
    gram: Vec<f64>,
    rhs: Vec<f64>,
    scratch: Vec<f64>,
    order: Vec<usize>,
    step: Vec<f64>,
    unit2: Vec<f64>,
    saved: Vec<f64>,
}

/// Newton steps on the positions; from within √tolerance two or three do.
const MAX_ITERATIONS: usize = 20;

impl Projector {
    pub(super) fn new(system: &System) -> Self {
        let (m, n) = (system.constraints.num_rows(), system.tree.num_mobilities);
        let angular = system
            .tree
            .nodes
            .iter()
            .filter(|k| k.joint.speeds_are_angular_velocity())
            .map(|k| k.u0)
            .collect();
        Projector {
            angular,
            gram: vec![0.0; m * m],
            rhs: vec![0.0; m],
            scratch: vec![0.0; 2 * m * m + 4 * m],
            order: vec![0; m],
            step: vec![0.0; n],
            unit2: vec![1.0; n],
            saved: vec![0.0; n],
        }
    }

    /// q̇ = N(q) u.
    pub(super) fn rates(&self, q: &[f64], u: &[f64], qdot: &mut [f64]) {
        qdot.copy_from_slice(u);
        for &i in &self.angular {
            let rate = angles_rate(vec3(q[i], q[i + 1], q[i + 2]), vec3(u[i], u[i + 1], u[i + 2]));
            qdot[i..i + 3].copy_from_slice(&rate.to_array());
        }
    }

    /// Joints whose speeds are an angular velocity.
    pub(super) fn angular(&self) -> &[usize] {
        &self.angular
    }

    /// Moves q, then u, the shortest way onto the constraints where they are off by more than `tolerance`
    /// (root mean square over the equations):
    ///
    ///   q ← q − N Gᵀ (G Gᵀ)⁺ perr(q), repeated until a tenth of the tolerance is met             (1)
    ///   u ← u − D² Gᵀ (G D² Gᵀ)⁺ (G u − b),  D = diag max(|u|, 1)                                (2)
    ///
    /// and takes the same directions out of the error estimates. As Simbody does, a state off by more than the root
    /// of the tolerance is refused: the step was too long.
    ///
    /// The kinematics and constraints in `ws` are those of the result.
    pub(super) fn project(
        &mut self,
        system: &System,
        x: &mut State<f64>,
        ws: &mut Workspace<f64>,
        error: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        let n = x.q.len();
        let np = system.constraints.num_position();
        let m = system.constraints.num_rows();
        let limit = (2.0 * tolerance).max(tolerance.sqrt());
        let mut changed = false;
        measure(system, x, ws);

        // Positions.
        let entry = rms(&ws.constraints.qerr);
        let mut off = entry;
        let refuse = |e: &[f64], off: f64| {
            let worst = (0..e.len()).fold(0, |w, i| if e[i].abs() > e[w].abs() { i } else { w });
            Err(RhsError::NotProjected { equation: worst, error: off, wanted: tolerance })
        };
        if !(off <= limit) {
            return refuse(&ws.constraints.qerr, off);
        }
        if off > tolerance {
            self.unit2.fill(1.0);
            self.saved.copy_from_slice(&x.q);
            let mut iterations = 0;
            let aim = (0.1 * tolerance).max(1e-14);
            while off > aim && iterations < MAX_ITERATIONS {
                iterations += 1;
                self.rhs[..np].copy_from_slice(&ws.constraints.qerr);
                self.shortest(&ws.constraints.G, np, n);
                advance(&self.angular, &mut x.q, &self.step);
                measure(system, x, ws);
                let now = rms(&ws.constraints.qerr);
                // At the floor of rounding it may grow again; what was reached is good enough or not.
                if iterations >= 2 && !(now < off) {
                    off = now;
                    break;
                }
                off = now;
            }
            if !(off <= tolerance) {
                let refused = refuse(&ws.constraints.qerr, off);
                x.q.copy_from_slice(&self.saved);
                return refused;
            }
            changed = true;

            // The error estimate of q, as a displacement of the speeds' kind.
            self.saved.copy_from_slice(&error[..n]);
            for &i in &self.angular {
                let e = speeds_from_rates(at(&x.q, i), at(&error[..n], i));
                self.saved[i..i + 3].copy_from_slice(&e.to_array());
            }
            self.times(&ws.constraints.G, np, n);
            self.shortest(&ws.constraints.G, np, n);
            for (s, d) in self.saved.iter_mut().zip(&self.step) {
                *s -= d;
            }
            error[..n].copy_from_slice(&self.saved);
            for &i in &self.angular {
                let e = angles_rate(at(&x.q, i), at(&self.saved, i));
                error[i..i + 3].copy_from_slice(&e.to_array());
            }
        }

        // Speeds.
        let off = rms(&ws.constraints.uerr);
        if !(off <= limit) {
            return refuse(&ws.constraints.uerr, off);
        }
        if off > tolerance {
            for (d, u) in self.unit2.iter_mut().zip(&x.u) {
                *d = (u * u).max(1.0);
            }
            self.rhs[..m].copy_from_slice(&ws.constraints.uerr);
            self.shortest(&ws.constraints.G, m, n); // (2)
            for (u, d) in x.u.iter_mut().zip(&self.step) {
                *u -= d;
            }
            self.saved.copy_from_slice(&error[n..2 * n]);
            self.times(&ws.constraints.G, m, n);
            self.shortest(&ws.constraints.G, m, n);
            for (e, d) in error[n..2 * n].iter_mut().zip(&self.step) {
                *e -= d;
            }
            changed = true;
        }
        Ok(Projected { changed })
    }

    /// rhs = G saved.
    fn times(&mut self, G: &[f64], m: usize, n: usize) {
        for r in 0..m {
            self.rhs[r] = dot(&G[r * n..(r + 1) * n], &self.saved);
        }
    }

    /// step = D² Gᵀ (G D² Gᵀ)⁺ rhs over the first `m` equations.
    fn shortest(&mut self, G: &[f64], m: usize, n: usize) {
        for r in 0..m {
            for (s, (g, d)) in self.step.iter_mut().zip(G[r * n..(r + 1) * n].iter().zip(&self.unit2)) {
                *s = g * d;
            }
            for s in 0..=r {
                let d = dot(&self.step, &G[s * n..(s + 1) * n]);
                self.gram[r * m + s] = d;
                self.gram[s * m + r] = d;
            }
        }
        let room = 2 * m * m + 4 * m;
        let (gram, rhs) = (&self.gram[..m * m], &mut self.rhs[..m]);
        solve_min_norm(gram, rhs, &mut self.scratch[..room], &mut self.order[..m]);
        self.step.fill(0.0);
        for r in 0..m {
            let l = self.rhs[r];
            for (s, g) in self.step.iter_mut().zip(&G[r * n..(r + 1) * n]) {
                *s += g * l;
            }
        }
        for (s, d) in self.step.iter_mut().zip(&self.unit2) {
            *s *= d;
        }
    }
}

fn measure(system: &System, x: &State<f64>, ws: &mut Workspace<f64>) {
    system.compute_kinematics(x, ws);
    system.constraints.compute(&system.tree, &ws.kin, x.time, &mut ws.constraints);
}

/// q ← q − N(q) step.
fn advance(angular: &[usize], q: &mut [f64], step: &[f64]) {
    let mut next = 0;
    let mut i = 0;
    while i < q.len() {
        if angular.get(next) == Some(&i) {
            let d = angles_rate(at(q, i), at(step, i)).to_array();
            for k in 0..3 {
                q[i + k] -= d[k];
            }
            next += 1;
            i += 3;
        } else {
            q[i] -= step[i];
            i += 1;
        }
    }
}

fn at(x: &[f64], i: usize) -> soleus_math::Vec3<f64> {
    vec3(x[i], x[i + 1], x[i + 2])
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn rms(x: &[f64]) -> f64 {
    if x.is_empty() { 0.0 } else { (dot(x, x) / x.len() as f64).sqrt() }
}

//! Kinematic constraints of a model as functions with derivatives.

use crate::function::{Jetted, PointFunction, SmoothFunction};
use crate::problem::KinematicConstraints;
use soleus_dynamics::System;
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::multibody::{TreeKinematics, compute_kinematics};
use soleus_math::Real;
use std::sync::Arc;

/// What is asked of the constraint equations. Inputs: t, all states, slacks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    /// φ(q).
    Position,
    /// φ̇(q, u) and speed constraints.
    Velocity,
    /// Gᵀ γ.
    Correction,
    /// (P_qᵀ μ_p, Gᵀ μ_v), with P the rows of position constraints (Bordalba et al. 2023).
    Projection,
}

struct ConstraintFunction {
    system: Arc<System>,
    level: Level,
    /// Whether row r speaks of mobility j: entry r n + j.
    speaks: Arc<Vec<bool>>,
    /// Whether a row speaks of both of two mobilities, i n + j: of the position rows, and of all. Found once, as is what depends on time:
    /// both are asked for every pair of inputs.
    shares: Arc<[Vec<bool>; 2]>,
    depends_on_time: bool,
    /// Coordinates, all states, position rows, all rows.
    sizes: (usize, usize, usize, usize),
}

/// The constraints of a model; none if it has none.
pub(super) fn kinematic_constraints(system: &Arc<System>) -> Option<KinematicConstraints> {
    let (n, m) = (system.tree.num_mobilities, system.constraints.num_rows());
    if m == 0 {
        return None;
    }
    let pattern = ImplicitSystem::new(system).jacobian().dlambda;
    let speaks: Vec<bool> = (0..m * n).map(|i| pattern.position(n + i % n, i / n).is_some()).collect();
    let speaks = Arc::new(speaks);
    let np = system.constraints.num_position();
    let shares = Arc::new([np, m].map(|rows| shared(&speaks, n, rows)));
    let depends_on_time = system.depends_on_time();
    let sizes = (n, 2 * n + system.num_aux, np, m);
    let of = |level: Level| -> Arc<dyn PointFunction> {
        let (system, speaks, shares) = (system.clone(), speaks.clone(), shares.clone());
        let function = ConstraintFunction { system, level, speaks, shares, depends_on_time, sizes };
        Arc::new(Jetted::new(function))
    };
    Some(KinematicConstraints {
        num_coordinates: n,
        position: of(Level::Position),
        velocity: of(Level::Velocity),
        correction: of(Level::Correction),
        projection: of(Level::Projection),
    })
}

/// Pairs of mobilities that one of the first rows speaks of.
fn shared(speaks: &[bool], n: usize, rows: usize) -> Vec<bool> {
    let mut pairs = vec![false; n * n];
    for row in speaks.chunks_exact(n.max(1)).take(rows) {
        let list: Vec<usize> = (0..n).filter(|&j| row[j]).collect();
        for &i in &list {
            list.iter().for_each(|&j| pairs[i * n + j] = true);
        }
    }
    pairs
}

impl ConstraintFunction {
    fn sizes(&self) -> (usize, usize, usize, usize) {
        self.sizes
    }

    fn speaks(&self, row: usize, mobility: usize) -> bool {
        self.speaks[row * self.system.tree.num_mobilities + mobility]
    }

    /// The rows whose forces make up an output of Gᵀ, from the first row on, `rows` of them.
    fn force_depends(&self, mobility: usize, rows: usize, slack: Option<usize>, q: Option<usize>) -> bool {
        match (slack, q) {
            (Some(r), _) => r < rows && self.speaks(r, mobility),
            (_, Some(q)) => {
                let (n, _, _, m) = self.sizes;
                self.shares[usize::from(rows == m)][mobility * n + q]
            }
            _ => false,
        }
    }
}

impl SmoothFunction for ConstraintFunction {
    type Scratch<T: Real> = (TreeKinematics<T>, soleus_dynamics::constraint::ConstraintWorkspace<T>);

    fn num_inputs(&self) -> usize {
        let (_, nx, np, m) = self.sizes();
        1 + nx
            + match self.level {
                Level::Position | Level::Velocity => 0,
                Level::Correction => m,
                Level::Projection => np + m,
            }
    }

    fn num_outputs(&self) -> usize {
        let (n, _, np, m) = self.sizes();
        match self.level {
            Level::Position => np,
            Level::Velocity => m,
            Level::Correction => n,
            Level::Projection => 2 * n,
        }
    }

    fn scratch<T: Real>(&self) -> Self::Scratch<T> {
        (TreeKinematics::new(&self.system.tree), self.system.constraints.workspace(&self.system.tree))
    }

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (kin, ws): &mut Self::Scratch<T>) {
        let (n, nx, np, m) = self.sizes();
        let s = &self.system;
        compute_kinematics(&s.tree, &z[1..1 + n], &z[1 + n..1 + 2 * n], kin);
        s.constraints.compute(&s.tree, kin, z[0], ws);
        let slacks = &z[1 + nx..];
        let force = |rows: usize, slacks: &[T], out: &mut [T]| {
            out.fill(T::zero());
            for (r, &slack) in slacks.iter().enumerate().take(rows) {
                for (v, &g) in out.iter_mut().zip(&ws.G[r * n..(r + 1) * n]) {
                    *v += g * slack;
                }
            }
        };
        match self.level {
            Level::Position => values.copy_from_slice(&ws.qerr),
            Level::Velocity => values.copy_from_slice(&ws.uerr),
            Level::Correction => force(m, slacks, values),
            Level::Projection => {
                let (q, u) = values.split_at_mut(n);
                force(np, &slacks[..np], q);
                force(m, &slacks[np..], u);
            }
        }
    }

    fn depends(&self, output: usize, input: usize) -> bool {
        let (n, nx, np, m) = self.sizes();
        if input == 0 {
            return self.depends_on_time;
        }
        let (q, u) = (input <= n, (n + 1..=2 * n).contains(&input));
        let state = (input - 1) % n.max(1);
        let slack = (input > nx).then(|| input - 1 - nx);
        match self.level {
            Level::Position => q && self.speaks(output, state),
            Level::Velocity => (q || u) && self.speaks(output, state),
            Level::Correction => self.force_depends(output, m, slack, q.then_some(state)),
            Level::Projection => {
                let (rows, first) = if output < n { (np, 0) } else { (m, np) };
                let slack = slack.and_then(|s| s.checked_sub(first)).filter(|&s| s < rows);
                self.force_depends(output % n, rows, slack, q.then_some(state))
            }
        }
    }
}

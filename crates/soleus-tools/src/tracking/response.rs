//! Accelerations as a linear function of the forces of actuators.

use super::actuators::Actuators;
use super::{FollowedPoint, Reference, TrackingError};
use soleus_dynamics::system::{MotionError, State};
use soleus_dynamics::{System, Workspace};
use soleus_math::SpatialVec;
use soleus_math::dense::{factorize_cholesky, solve_cholesky};
use std::sync::Arc;

/// Accelerations of the tasks, u̇ = u̇₀ + A f: u̇₀ without the actuators, columns of A by one newton of each. Constraints hold in both.
#[derive(Clone, Debug)]
pub(super) struct Response {
    /// The model without its driven actuators.
    pub system: System,
    pub ws: Workspace<f64>,
    rows: Vec<Row>,
    /// u̇₀ of the tasks.
    pub free: Vec<f64>,
    /// A by columns.
    pub columns: Vec<f64>,
    /// Accelerations of the tasks by a generalized force of one on each: the inverse of what they weigh together. Row by row.
    pub compliance: Vec<f64>,
    /// P J of each task, with P what makes accelerations of generalized forces: one row for each task.
    reach: Vec<f64>,
    /// Rows of the constraints, L⁻ᵀ Gᵀ, made orthogonal to each other in the norm of D⁻¹, and the same times D⁻¹.
    basis: Vec<f64>,
    scaled: Vec<f64>,
    /// Generalized forces of one newton of each actuator.
    pub arms: Vec<f64>,
    body: Vec<SpatialVec<f64>>,
    column: Vec<f64>,
}

/// How the acceleration of a task follows from u̇.
#[derive(Clone, Debug)]
pub(super) enum Row {
    Mobility(usize),
    /// A point, and its row J.
    Point(Arc<FollowedPoint>, Vec<f64>),
}

impl Row {
    /// What changes of u̇ change.
    fn of(&self, udot: &[f64]) -> f64 {
        match self {
            Row::Mobility(m) => udot[*m],
            Row::Point(_, J) => J.iter().zip(udot).map(|(j, u)| j * u).sum(),
        }
    }
}

/// A task whose own acceleration is less than this part of what its neighbours leave it is determined by them.
const DETERMINED: f64 = 1e-9;
/// A constraint of which less than this part is left, squared, beside those before it says nothing new.
const REPEATED: f64 = 1e-18;

impl Response {
    pub fn new(system: &System, actuators: &Actuators, rows: Vec<Row>) -> Self {
        let mut without = system.clone();
        for a in &actuators.list {
            without.forces[a.load.force].enabled = false;
        }
        let (k, n) = (rows.len(), actuators.list.len());
        Response {
            ws: without.workspace(),
            free: vec![0.0; k],
            columns: vec![0.0; k * n],
            compliance: vec![0.0; k * k],
            reach: vec![0.0; k * system.tree.num_mobilities],
            basis: Vec::new(),
            scaled: Vec::new(),
            arms: vec![0.0; n * system.tree.num_mobilities],
            body: vec![SpatialVec::zero(); system.tree.nodes.len()],
            column: vec![0.0; system.tree.num_mobilities],
            system: without,
            rows,
        }
    }

    /// At a state and the controls of what is not driven.
    pub fn compute(
        &mut self,
        x: &State<f64>,
        actuators: &Actuators,
        controls: &[f64],
    ) -> Result<(), MotionError> {
        self.system.compute_motion(x, controls, &mut self.ws)?;
        for (a, row) in self.free.iter_mut().zip(&mut self.rows) {
            *a = match row {
                Row::Mobility(m) => self.ws.udot[*m],
                Row::Point(point, J) => point.compute(&self.system, &self.ws, &mut self.body, J),
            };
        }
        // Changes of accelerations obey the constraints without what velocities and time ask of them.
        self.prepare();
        let (k, n) = (self.rows.len(), self.column.len());
        for i in 0..k {
            match &self.rows[i] {
                Row::Mobility(m) => {
                    self.column.fill(0.0);
                    self.column[*m] = 1.0;
                }
                Row::Point(_, J) => self.column.copy_from_slice(J),
            }
            let mut column = std::mem::take(&mut self.column);
            self.respond(&mut column);
            self.reach[i * n..(i + 1) * n].copy_from_slice(&column);
            for j in 0..k {
                self.compliance[i * k + j] = self.rows[j].of(&column);
            }
            self.column = column;
        }
        for (i, a) in actuators.list.iter().enumerate() {
            let arms = &mut self.arms[i * n..(i + 1) * n];
            a.load.generalized(&self.system, &self.ws, x.time, 1.0, &mut self.body, arms);
            for (out, reach) in self.columns[i * k..].iter_mut().zip(self.reach.chunks_exact(n)) {
                *out = reach.iter().zip(&*arms).map(|(r, f)| r * f).sum();
            }
        }
        Ok(())
    }

    /// The constraints as rows that are orthogonal, without those that repeat others, so that each solution costs a few products.
    fn prepare(&mut self) {
        let n = self.column.len();
        self.basis.clear();
        self.scaled.clear();
        if n == 0 {
            return;
        }
        for g in self.ws.constraints.G.chunks_exact(n) {
            let start = self.basis.len();
            self.basis.extend_from_slice(g);
            let (before, row) = self.basis.split_at_mut(start);
            self.ws.mass.solve_lt(row);
            let own = self.ws.mass.dot_d(row, row);
            // Twice is enough (Parlett 1998, section 6.9).
            for _ in 0..2 {
                for (y, s) in before.chunks_exact(n).zip(self.scaled.chunks_exact(n)) {
                    let part: f64 = s.iter().zip(&*row).map(|(s, x)| s * x).sum();
                    row.iter_mut().zip(y).for_each(|(x, y)| *x -= part * y);
                }
            }
            let left = self.ws.mass.dot_d(row, row);
            if !(left > REPEATED * own) {
                self.basis.truncate(start);
                continue;
            }
            row.iter_mut().for_each(|x| *x /= left.sqrt());
            self.scaled.extend_from_slice(row);
            let end = self.scaled.len();
            self.ws.mass.solve_d(&mut self.scaled[end - n..]);
        }
    }

    /// Turns a generalized force into the acceleration that it adds.
    pub fn respond(&self, x: &mut [f64]) {
        self.ws.mass.solve_lt(x);
        let n = x.len().max(1);
        for (y, s) in self.basis.chunks_exact(n).zip(self.scaled.chunks_exact(n)) {
            let part: f64 = s.iter().zip(&*x).map(|(s, x)| s * x).sum();
            x.iter_mut().zip(y).for_each(|(x, y)| *x -= part * y);
        }
        self.ws.mass.solve_d(x);
        self.ws.mass.solve_l(x);
    }

    /// Turns accelerations of the tasks, one set after the other, into the generalized forces on the tasks that give them. Only the
    /// first set after [`compute`](Self::compute) factorises.
    pub fn weigh(&mut self, sets: &mut [&mut [f64]]) {
        let k = self.rows.len();
        let mut factor = self.compliance.clone();
        let largest = (0..k).fold(0.0, |m: f64, i| m.max(factor[i * k + i]));
        factorize_cholesky(&mut factor, k, 1e-14 * largest);
        for set in sets {
            for a in set.chunks_exact_mut(k) {
                solve_cholesky(&factor, k, a);
            }
        }
    }

    /// Tasks that can be met one by one, at the beginning of the motion: not those of coordinates that constraints hold, nor those that
    /// follow from tasks before them.
    pub fn independent_tasks(
        &mut self,
        system: &System,
        reference: &Reference,
    ) -> Result<Vec<usize>, TrackingError> {
        let mut x = system.default_state.clone();
        x.time = reference.span[0];
        reference.pose(x.time, &mut x.q, &mut x.u);
        let controls = vec![0.0; system.num_controls];
        let none = Actuators::none();
        self.compute(&x, &none, &controls)
            .map_err(|source| TrackingError::Motion { time: x.time, source })?;
        // Cholesky without pivoting; a task whose pivot vanishes is left out.
        let k = self.rows.len();
        let mut l = vec![0.0; k * k];
        let mut kept: Vec<usize> = Vec::new();
        for i in 0..k {
            let mut row = vec![0.0; kept.len()];
            for (c, &j) in kept.iter().enumerate() {
                let sum: f64 = (0..c).map(|d| row[d] * l[j * k + d]).sum();
                row[c] = (self.compliance[i * k + j] - sum) / l[j * k + c];
            }
            let own = self.compliance[i * k + i];
            let left = own - row.iter().map(|x| x * x).sum::<f64>();
            // Accelerations of held coordinates by a unit force are rounding.
            if own > 1e-12 && left > DETERMINED * own {
                l[i * k..i * k + row.len()].copy_from_slice(&row);
                l[i * k + row.len()] = left.sqrt();
                kept.push(i);
            }
        }
        Ok(kept)
    }
}

//! Linear systems of the method:
//!
//!   | W + D   Jᵀ | | dx |   | r_x |
//!   | J       −E | | dy | = | r_c |
//!
//! with W the Hessian of the Lagrangian, and D and E diagonal and not negative.

use super::along_time::AlongTime;
use super::{KktOrdering, SparsityPattern, Stages};
use crate::linear::{Inertia, SparseLdlt, SymbolicFactorization};

/// Factorizes and solves symmetric indefinite systems with a fixed pattern.
///
/// This is the only interface between the interior-point method and linear algebra, so that solvers can be compared.
pub trait KktSolver {
    /// Factorizes the matrix with these values of its lower triangle, in the order of its pattern.
    fn factor(&mut self, values: &[f64]) -> Inertia;

    /// Solves with the last factorization, in place.
    fn solve(&mut self, b: &mut [f64]);
}

impl KktSolver for SparseLdlt {
    fn factor(&mut self, values: &[f64]) -> Inertia {
        SparseLdlt::factor(self, values)
    }

    fn solve(&mut self, b: &mut [f64]) {
        SparseLdlt::solve(self, b)
    }
}

/// Pattern of the KKT matrix and positions of its parts.
#[derive(Clone, Debug)]
pub struct KktPattern {
    /// Lower triangle: variables first, then constraints; includes the whole diagonal.
    pub lower: SparsityPattern,
    num_variables: usize,
    diagonal: Vec<usize>,
    hessian: Vec<usize>,
    jacobian: Vec<usize>,
}

impl KktPattern {
    /// From the lower triangle of the Hessian and the Jacobian.
    pub fn new(hessian: &SparsityPattern, jacobian: &SparsityPattern) -> Self {
        let (n, m) = (jacobian.columns(), jacobian.rows());
        let size = n + m;
        let mut places: Vec<(usize, usize)> = (0..size).map(|i| (i, i)).collect();
        places.extend(hessian.places());
        places.extend(jacobian.places().map(|(r, c)| (n + r, c)));
        let lower = SparsityPattern::from_places(size, size, places);
        let at = |r: usize, c: usize| lower.position(r, c).unwrap_or(0);
        KktPattern {
            diagonal: (0..size).map(|i| at(i, i)).collect(),
            hessian: hessian.places().map(|(r, c)| at(r, c)).collect(),
            jacobian: jacobian.places().map(|(r, c)| at(n + r, c)).collect(),
            num_variables: n,
            lower,
        }
    }

    /// Values of the lower triangle from those of W, J, D and E.
    pub fn assemble(&self, hessian: &[f64], jacobian: &[f64], d: &[f64], e: &[f64], values: &mut [f64]) {
        values.fill(0.0);
        for (&at, &v) in self.jacobian.iter().zip(jacobian) {
            values[at] = v;
        }
        for (&at, &v) in self.hessian.iter().zip(hessian) {
            values[at] = v;
        }
        let (dx, de) = self.diagonal.split_at(self.num_variables);
        for (&at, &v) in dx.iter().zip(d) {
            values[at] += v;
        }
        for (&at, &v) in de.iter().zip(e) {
            values[at] -= v;
        }
    }

    /// The solver for this pattern: ordered along time if the stages of variables and rows are given, otherwise by
    /// minimum fill-in.
    pub fn solver(&self, stages: Option<&Stages>, ordering: KktOrdering, threads: usize) -> SparseLdlt {
        self.solver_with_slacks(stages, ordering, threads, &|_| false)
    }

    /// The same if some rows have slacks, and therefore a pivot on the diagonal.
    pub fn solver_with_slacks(
        &self,
        stages: Option<&Stages>,
        ordering: KktOrdering,
        threads: usize,
        has_slack: &dyn Fn(usize) -> bool,
    ) -> SparseLdlt {
        let symbolic = match (stages, ordering) {
            (Some(stages), KktOrdering::Automatic) => {
                let AlongTime { groups, pairs } =
                    AlongTime::new(&self.lower, self.num_variables, stages, has_slack);
                SymbolicFactorization::new(&self.lower, Some(&groups), &pairs)
            }
            _ => SymbolicFactorization::new(&self.lower, None, &self.pairs(has_slack)),
        };
        let mut solver = SparseLdlt::new(symbolic);
        solver.threads = threads;
        solver
    }

    /// For each equation a variable of its own to go with: a multiplier alone has no pivot, unless its row has a slack.
    fn pairs(&self, has_slack: &dyn Fn(usize) -> bool) -> Vec<(u32, u32)> {
        let n = self.num_variables;
        let mut degree = vec![0u32; n];
        for (r, c) in self.lower.places() {
            for i in [r, c] {
                if i < n {
                    degree[i] += 1;
                }
            }
        }
        let mut taken = vec![false; n];
        let mut pairs = Vec::new();
        for row in (n..self.lower.rows()).filter(|&row| !has_slack(row - n)) {
            let columns = self.lower.row(row).0.iter().filter(|&&c| c < n && !taken[c]);
            if let Some(&c) = columns.min_by_key(|&&c| degree[c]) {
                taken[c] = true;
                pairs.push((row as u32, c as u32));
            }
        }
        pairs
    }
}

//! Primal–dual active sets, with interior points behind them.

use super::program::{AsNonlinear, QuadraticProgram};
use crate::linear::DenseLdlt;
use crate::nlp::{NlpError, Options, Solution, Status, solve};
use std::ops::ControlFlow;

/// Which bound of a variable or row holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Active {
    #[default]
    Free,
    Lower,
    Upper,
}

/// Sets of active bounds to try before interior points take over. Between neighbours of a series two or three do.
const MAX_SETS: usize = 30;

/// Solves quadratic programs of one size, each from where the last one ended.
///
/// For a set of active bounds the solution and its multipliers are one linear system. Bounds with a multiplier of the
/// wrong sign leave the set, violated ones enter it, until it repeats itself (Hintermüller, Ito & Kunisch 2002): that
/// is the solution, to rounding. Between the programs of a series the set hardly changes, so one or
/// two factorisations do. Where sets do not settle, or H is singular on the active set, the interior-point solver
/// of [`nlp`](crate::nlp) finds it, and also says when there is none.
///
/// The answer does not depend on the start but for rounding, if H is positive definite.
#[derive(Clone, Debug, Default)]
pub struct QpSolver {
    active: Vec<Active>,
    matrix: Vec<f64>,
    rhs: Vec<f64>,
    unknowns: Vec<f64>,
    gradient: Vec<f64>,
    ldlt: DenseLdlt,
}

/// Where a [`QpSolver`] ended.
#[derive(Clone, Debug, PartialEq)]
pub struct QpSolution {
    /// [`Status::Solved`], or why not.
    pub status: Status,
    /// Variables.
    pub x: Vec<f64>,
    /// Multipliers y of rows: H x + g + Aᵀy − z = 0; negative where a lower bound holds.
    pub multipliers: Vec<f64>,
    /// Multipliers z of the bounds of variables; positive where a lower bound holds, negative where an upper one.
    pub bound_multipliers: Vec<f64>,
    /// Largest violation of a row, and which it is.
    pub violation: (f64, Option<usize>),
    /// Factorisations it took.
    pub factorizations: usize,
}

impl QpSolver {
    /// Forgets the last program: the next one starts with no bound active.
    pub fn forget(&mut self) {
        self.active.clear();
    }

    /// Solves a program, from the active set of the last if that had the same size.
    pub fn solve(&mut self, qp: &QuadraticProgram<'_>) -> Result<QpSolution, NlpError> {
        let (n, m) = (qp.g.len(), qp.row_lower.len());
        let lengths = [
            ("H", qp.h.len(), n * n),
            ("A", qp.a.len(), m * n),
            ("upper bounds of rows", qp.row_upper.len(), m),
            ("lower bounds", qp.lower.len(), n),
            ("upper bounds", qp.upper.len(), n),
        ];
        for (what, found, expected) in lengths {
            if found != expected {
                return Err(NlpError::Length { what, found, expected });
            }
        }
        for index in 0..n {
            let (lower, upper) = (qp.lower[index], qp.upper[index]);
            if !(lower <= upper) {
                return Err(NlpError::VariableBounds { index, lower, upper });
            }
        }
        for index in 0..m {
            let (lower, upper) = (qp.row_lower[index], qp.row_upper[index]);
            if !(lower <= upper) {
                return Err(NlpError::ConstraintBounds { index, lower, upper });
            }
        }
        if self.active.len() != n + m {
            self.active.clear();
            self.active.resize(n + m, Active::Free);
        }
        let (settled, mut factorizations) = self.find_active_set(qp);
        if settled {
            return Ok(self.solution(qp, factorizations));
        }

        // Interior points; their active set, polished, is the solution to rounding.
        let start = vec![0.0; n];
        let mut program = AsNonlinear::new(*qp, &start);
        let mut go_on = |_: &crate::nlp::Iteration<'_>| ControlFlow::Continue(());
        let interior = solve(&mut program, &Options::default(), None, &mut go_on)?;
        factorizations += interior.counts.factorizations;
        if interior.status.is_solved() {
            self.guess_active_set(qp, &interior);
            let (settled, more) = self.find_active_set(qp);
            factorizations += more;
            if settled {
                return Ok(self.solution(qp, factorizations));
            }
        }
        self.forget();
        let z =
            interior.lower_multipliers.iter().zip(&interior.upper_multipliers).map(|(l, u)| l - u).collect();
        Ok(QpSolution {
            status: interior.status,
            violation: (interior.certificate.constraint_violation, interior.certificate.worst_constraint),
            x: interior.x,
            multipliers: interior.multipliers,
            bound_multipliers: z,
            factorizations,
        })
    }

    /// Bounds that hold at an interior solution: those whose multiplier exceeds the distance.
    fn guess_active_set(&mut self, qp: &QuadraticProgram<'_>, s: &Solution) {
        let n = qp.g.len();
        let pick = |lower: bool, upper: bool| match (lower, upper) {
            (true, _) => Active::Lower,
            (_, true) => Active::Upper,
            _ => Active::Free,
        };
        for i in 0..n {
            let (l, u) = (s.lower_multipliers[i], s.upper_multipliers[i]);
            self.active[i] = pick(l > s.x[i] - qp.lower[i], u > qp.upper[i] - s.x[i]);
        }
        for (r, &y) in s.multipliers.iter().enumerate() {
            let c = s.constraints[r];
            self.active[n + r] = pick(-y > c - qp.row_lower[r], y > qp.row_upper[r] - c);
        }
    }

    /// Changes the active set until it fulfils the optimality conditions. Whether it did, and factorisations.
    fn find_active_set(&mut self, qp: &QuadraticProgram<'_>) -> (bool, usize) {
        let (n, m) = (qp.g.len(), qp.row_lower.len());
        for i in 0..n + m {
            // Equalities always hold; a bound at infinity never.
            let (l, u) = bounds(qp, i);
            if l == u {
                self.active[i] = Active::Lower;
            } else if (self.active[i] == Active::Lower && l == f64::NEG_INFINITY)
                || (self.active[i] == Active::Upper && u == f64::INFINITY)
            {
                self.active[i] = Active::Free;
            }
        }
        self.gradient.resize(n, 0.0);
        for count in 1..=MAX_SETS {
            if !self.solve_equalities(qp) {
                return (false, count);
            }
            let x = &self.unknowns[..n];
            qp.gradient(x, &mut self.gradient);
            for r in 0..m {
                let y = self.unknowns[n + r];
                for (g, a) in self.gradient.iter_mut().zip(&qp.a[r * n..(r + 1) * n]) {
                    *g += a * y;
                }
            }
            let mut changed = false;
            for i in 0..n + m {
                let (lower, upper) = bounds(qp, i);
                if lower == upper {
                    continue;
                }
                // Pull of the bound: positive where it holds the variable or row up.
                let (value, pull) =
                    if i < n { (x[i], self.gradient[i]) } else { (qp.row(i - n, x), -self.unknowns[i]) };
                // Rounding in a value that should lie on its bound must not make it active.
                let slack = 1e-12 * (1.0 + value.abs());
                let next = match self.active[i] {
                    Active::Lower if pull >= 0.0 => Active::Lower,
                    Active::Upper if pull <= 0.0 => Active::Upper,
                    Active::Free if value < lower - slack => Active::Lower,
                    Active::Free if value > upper + slack => Active::Upper,
                    _ => Active::Free,
                };
                changed |= next != self.active[i];
                self.active[i] = next;
            }
            if !changed {
                return (true, count);
            }
        }
        (false, MAX_SETS)
    }

    /// x and y with active bounds as equalities. False where that does not determine a minimum.
    fn solve_equalities(&mut self, qp: &QuadraticProgram<'_>) -> bool {
        let (n, m) = (qp.g.len(), qp.row_lower.len());
        let size = n + m;
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        self.rhs.resize(size, 0.0);
        let fixed = |active: &[Active], i: usize| match active[i] {
            Active::Free => None,
            Active::Lower => Some(qp.lower[i]),
            Active::Upper => Some(qp.upper[i]),
        };
        for j in 0..n {
            self.rhs[j] = -qp.g[j];
        }
        for j in 0..n {
            if let Some(v) = fixed(&self.active, j) {
                self.matrix[j * size + j] = 1.0;
                // Later columns see it through the symmetric entry.
                for i in 0..n {
                    if i != j && fixed(&self.active, i).is_none() {
                        self.rhs[i] -= qp.h[i.min(j) * n + i.max(j)] * v;
                    }
                }
            } else {
                for i in j..n {
                    if fixed(&self.active, i).is_none() {
                        self.matrix[j * size + i] = qp.h[j * n + i];
                    }
                }
            }
        }
        for r in 0..m {
            let at = n + r;
            match self.active[at] {
                Active::Free => {
                    self.matrix[at * size + at] = -1.0;
                    self.rhs[at] = 0.0;
                    continue;
                }
                Active::Lower => self.rhs[at] = qp.row_lower[r],
                Active::Upper => self.rhs[at] = qp.row_upper[r],
            }
            for j in 0..n {
                let a = qp.a[r * n + j];
                match fixed(&self.active, j) {
                    Some(v) => self.rhs[at] -= a * v,
                    None => self.matrix[j * size + at] = a,
                }
            }
        }
        for j in 0..n {
            if let Some(v) = fixed(&self.active, j) {
                self.rhs[j] = v;
            }
        }
        let inertia = self.ldlt.factor(size, &self.matrix);
        if inertia.zero > 0 || inertia.negative != m {
            return false;
        }
        // Solve and refine once.
        self.unknowns.clear();
        self.unknowns.extend_from_slice(&self.rhs);
        self.ldlt.solve(&mut self.unknowns);
        for j in 0..size {
            let column = &self.matrix[j * size..(j + 1) * size];
            self.rhs[j] -= column[j] * self.unknowns[j];
            for i in j + 1..size {
                self.rhs[i] -= column[i] * self.unknowns[j];
                self.rhs[j] -= column[i] * self.unknowns[i];
            }
        }
        self.ldlt.solve(&mut self.rhs);
        for (u, r) in self.unknowns.iter_mut().zip(&self.rhs) {
            *u += r;
        }
        self.unknowns.iter().all(|v| v.is_finite())
    }

    fn solution(&self, qp: &QuadraticProgram<'_>, factorizations: usize) -> QpSolution {
        let (n, m) = (qp.g.len(), qp.row_lower.len());
        let x: Vec<f64> = (0..n).map(|i| self.unknowns[i].clamp(qp.lower[i], qp.upper[i])).collect();
        let mut violation = (0.0, None);
        for r in 0..m {
            let c = qp.row(r, &x);
            let v = (qp.row_lower[r] - c).max(c - qp.row_upper[r]);
            if v > violation.0 {
                violation = (v, Some(r));
            }
        }
        let z = |i: usize| if self.active[i] == Active::Free { 0.0 } else { self.gradient[i] };
        QpSolution {
            status: Status::Solved,
            multipliers: self.unknowns[n..].to_vec(),
            bound_multipliers: (0..n).map(z).collect(),
            x,
            violation,
            factorizations,
        }
    }
}

/// Bounds of a variable or row.
fn bounds(qp: &QuadraticProgram<'_>, i: usize) -> (f64, f64) {
    let n = qp.g.len();
    if i < n { (qp.lower[i], qp.upper[i]) } else { (qp.row_lower[i - n], qp.row_upper[i - n]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Random;

    /// Numbers between −1 and 1 from a seed.
    fn random(seed: u64) -> impl FnMut() -> f64 {
        let mut random = Random::new(seed);
        move || random.signed()
    }

    struct Data {
        h: Vec<f64>,
        g: Vec<f64>,
        a: Vec<f64>,
        rows: [Vec<f64>; 2],
        bounds: [Vec<f64>; 2],
    }

    impl Data {
        fn program(&self) -> QuadraticProgram<'_> {
            let ([row_lower, row_upper], [lower, upper]) = (&self.rows, &self.bounds);
            QuadraticProgram { h: &self.h, g: &self.g, a: &self.a, row_lower, row_upper, lower, upper }
        }
    }

    /// H = B Bᵀ + I/10, a feasible point inside the bounds, equalities and inequalities through it.
    fn program(n: usize, m: usize, seed: u64) -> Data {
        let mut next = random(seed);
        let b: Vec<f64> = (0..n * n).map(|_| next()).collect();
        let mut h = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                h[j * n + i] = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum();
            }
            h[i * n + i] += 0.1;
        }
        let x: Vec<f64> = (0..n).map(|_| 0.9 * next()).collect();
        let a: Vec<f64> = (0..m * n).map(|_| next()).collect();
        let c: Vec<f64> =
            (0..m).map(|r| a[r * n..(r + 1) * n].iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        let upper = c.iter().enumerate().map(|(r, c)| if r % 2 == 0 { *c } else { c + 0.1 }).collect();
        let lower =
            c.iter().enumerate().map(|(r, c)| if r % 2 == 0 { *c } else { f64::NEG_INFINITY }).collect();
        let g = (0..n).map(|_| 5.0 * next()).collect();
        Data { h, g, a, rows: [lower, upper], bounds: [vec![-1.0; n], vec![1.0; n]] }
    }

    /// Largest error of the optimality conditions.
    fn optimality(qp: &QuadraticProgram<'_>, s: &QpSolution) -> f64 {
        let n = qp.g.len();
        let mut gradient = vec![0.0; n];
        qp.gradient(&s.x, &mut gradient);
        let mut worst = s.violation.0;
        for i in 0..n {
            let mut total = gradient[i] - s.bound_multipliers[i];
            for (r, y) in s.multipliers.iter().enumerate() {
                total += qp.a[r * n + i] * y;
            }
            let z = s.bound_multipliers[i];
            let distance = if z >= 0.0 { s.x[i] - qp.lower[i] } else { qp.upper[i] - s.x[i] };
            worst = worst.max(total.abs()).max(if z == 0.0 { 0.0 } else { (z * distance).abs() });
        }
        for (r, &y) in s.multipliers.iter().enumerate() {
            let c = qp.row(r, &s.x);
            let distance = if y < 0.0 { c - qp.row_lower[r] } else { qp.row_upper[r] - c };
            worst = worst.max(if y == 0.0 { 0.0 } else { (y * distance).abs() });
        }
        worst
    }

    #[test]
    fn identity_optimality_of_random_programs() {
        let mut solver = QpSolver::default();
        for seed in 0..60 {
            let (n, m) = (2 + seed as usize % 37, (seed as usize % 37) / 4);
            let data = program(n, m, seed);
            let s = solver.solve(&data.program()).unwrap();
            assert_eq!(s.status, Status::Solved, "seed {seed}");
            // Multipliers are of order 100, conditions of order 1e3: 1e-9 is rounding.
            let error = optimality(&data.program(), &s);
            assert!(error < 1e-9, "seed {seed}, n {n}, m {m}: {error:e}");
        }
    }

    #[test]
    fn identity_series_needs_one_or_two_factorisations() {
        let mut data = program(60, 12, 7);
        let mut solver = QpSolver::default();
        solver.solve(&data.program()).unwrap();
        let mut total = 0;
        for step in 0..20 {
            for (i, g) in data.g.iter_mut().enumerate() {
                *g += 0.3 * ((step + i) as f64).sin();
            }
            let warm = solver.solve(&data.program()).unwrap();
            let cold = QpSolver::default().solve(&data.program()).unwrap();
            assert!(warm.x.iter().zip(&cold.x).all(|(a, b)| (a - b).abs() < 1e-9));
            total += warm.factorizations;
        }
        println!("{total} factorisations for 20 programs");
        assert!(total <= 50, "{total}");
    }

    #[test]
    fn analytic_flat_directions_are_left_to_interior_points() {
        // H = 0: a linear program, x₀ + 2 x₁ least on x₀ + x₁ ≥ 1 in the unit square.
        let inf = f64::INFINITY;
        let (lower, upper) = ([0.0; 2], [1.0; 2]);
        let qp = QuadraticProgram {
            h: &[0.0; 4],
            g: &[1.0, 2.0],
            a: &[1.0, 1.0],
            row_lower: &[1.0],
            row_upper: &[inf],
            lower: &lower,
            upper: &upper,
        };
        let s = QpSolver::default().solve(&qp).unwrap();
        assert_eq!(s.status, Status::Solved);
        assert!((s.x[0] - 1.0).abs() < 1e-7 && s.x[1].abs() < 1e-7, "{:?}", s.x);
    }

    #[test]
    fn analytic_infeasible_program_names_the_row() {
        let (lower, upper) = ([0.0; 2], [1.0; 2]);
        let qp = QuadraticProgram {
            h: &[1.0, 0.0, 0.0, 1.0],
            g: &[0.0; 2],
            a: &[1.0, 0.0, 1.0, 1.0],
            row_lower: &[0.0, 3.0],
            row_upper: &[1.0, 3.0],
            lower: &lower,
            upper: &upper,
        };
        let s = QpSolver::default().solve(&qp).unwrap();
        assert_eq!((s.status, s.violation.1), (Status::Infeasible, Some(1)));
        assert!((s.violation.0 - 1.0).abs() < 1e-3);
    }
}

//! Gauss–Newton approximation of the second derivatives of the dynamics.

use super::{Dynamics, Problem};
use crate::function::{PointFunction, Scratch};
use std::sync::Arc;

/// A function whose second derivatives are left out.
struct Straight(Arc<dyn PointFunction>);

impl PointFunction for Straight {
    fn num_inputs(&self) -> usize {
        self.0.num_inputs()
    }
    fn num_outputs(&self) -> usize {
        self.0.num_outputs()
    }
    fn jacobian_places(&self) -> &[(usize, usize)] {
        self.0.jacobian_places()
    }
    fn hessian_places(&self) -> &[(usize, usize)] {
        &[]
    }
    fn scratch(&self) -> Scratch {
        self.0.scratch()
    }
    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        self.0.compute_values(z, values, scratch);
    }
    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        self.0.compute_jacobian(z, values, scratch);
    }
    fn compute_hessian(&self, _: &[f64], _: &[f64], _: &mut [f64], _: &mut Scratch) {}
}

impl Problem {
    /// Leaves the curvature of the dynamics out of the second derivatives (Gauss–Newton): of the Hessian of the
    /// Lagrangian, ∇²J + Σ λ ∇²f, only ∇²J is kept.
    ///
    /// Solutions do not change. If the goals are squares of nearly linear functions, ∇²J has no negative curvature, so
    /// no regularization is needed and steps stay long: a few steps lead from a poor initial guess to the vicinity of
    /// the solution. There convergence becomes slow, and the problem with full derivatives should be used.
    pub fn straighten_dynamics(&mut self) {
        let function = Arc::new(Straight(self.dynamics.function.clone()));
        self.dynamics = Dynamics { function, ..self.dynamics.clone() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{control_effort, sum_of_squares};
    use crate::problem::{Bounds, CustomDynamics, Point, PointVariable};
    use crate::transcription::{Collocation, Scheme, Settings};
    use soleus_math::Real;
    use soleus_optimization::nlp::{self, Options};
    use std::ops::ControlFlow;

    /// θ̈ = −10 sin θ + e.
    struct Pendulum;

    impl CustomDynamics for Pendulum {
        fn sizes(&self) -> (usize, usize, usize) {
            (2, 1, 0)
        }
        fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
            r[0] = p.rates[0] - p.states[1];
            r[1] = p.rates[1] + p.states[0].sin() * 10.0 - p.controls[0];
        }
    }

    /// A pendulum let go at 2 rad that should hang: with and without curvature the same solution.
    #[test]
    fn identity_same_solution_without_curvature() {
        let solve = |straight: bool| {
            let mut p = Problem::new(Dynamics::of(Pendulum), 2, 1);
            p.states[0].initial = Bounds::fixed(2.0);
            p.states[1].initial = Bounds::fixed(0.0);
            p.goals.push(sum_of_squares("angle", 1.0, &[(PointVariable::State(0), 1.0)]));
            p.goals.push(control_effort("effort", 1e-3, &[(0, 1.0)], 2.0));
            if straight {
                p.straighten_dynamics();
            }
            let mut program = Collocation::new(p, &Settings::uniform(Scheme::BackwardEuler, 20)).unwrap();
            let options = Options::with_tolerance(1e-9);
            let s = nlp::solve(&mut program, &options, None, &mut |_| ControlFlow::Continue(())).unwrap();
            assert!(s.status.is_solved(), "{:?}", s.status);
            program.trajectory(&s.x).states.rows
        };
        let [exact, straight] = [false, true].map(solve);
        for (a, b) in exact.iter().flatten().zip(straight.iter().flatten()) {
            // Tolerance 1e-9 of a problem whose least curvature is about 1e-3.
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

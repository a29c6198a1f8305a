//! The number of threads changes no bit.

use crate::common::{near_start, shipped};
use soleus_control::goal::{control_effort, final_time};
use soleus_control::{Bounds, Collocation, Scheme, Settings, Variable};
use soleus_optimization::NonlinearProgram;

/// Objective, gradient, constraints, Jacobian and Hessian.
fn everything(c: &mut Collocation, x: &[f64]) -> Vec<u64> {
    let (n, m) = (c.num_variables(), c.num_constraints());
    let mut gradient = vec![0.0; n];
    c.compute_gradient(x, &mut gradient);
    let mut rows = vec![0.0; m];
    c.compute_constraints(x, &mut rows);
    let mut jacobian = vec![0.0; c.jacobian_pattern().len()];
    c.compute_jacobian(x, &mut jacobian);
    let mut hessian = vec![0.0; c.hessian_pattern().len()];
    let y: Vec<f64> = (0..m).map(|i| (0.7 * i as f64).sin()).collect();
    c.compute_hessian(x, 0.3, &y, &mut hessian);
    let objective = c.compute_objective(x);
    let all = [vec![objective], gradient, rows, jacobian, hessian].concat();
    assert!(all.iter().all(|v| v.is_finite()));
    all.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn identity_threads_give_the_same_bits() {
    for scheme in [Scheme::HermiteSimpson, Scheme::LegendreGaussRadau(3)] {
        let model = shipped("leg_swing");
        let mut p = model.problem(Bounds::new(-20.0, 20.0), &[]);
        p.final_time = Bounds::new(0.2, 1.0);
        // Lengths and activations where muscles are defined.
        for v in p.states.iter_mut().filter(|v| v.name.starts_with("/forceset")) {
            *v = Variable::new(v.name.clone(), Bounds::new(0.05, 0.5));
        }
        let controls: Vec<(usize, f64)> = (0..p.controls.len()).map(|i| (i, 1.0)).collect();
        p.goals = vec![control_effort("effort", 1.0, &controls, 2.0), final_time("time", 0.1)];
        let mut c = Collocation::new(p, &Settings::uniform(scheme, 7)).unwrap_or_else(|e| panic!("{e:?}"));
        let x = near_start(&c, 3, 0.02);
        let one = everything(&mut c, &x);
        // More threads than points too.
        for threads in [2, 3, 64] {
            c.set_threads(threads);
            assert!(everything(&mut c, &x) == one, "{scheme:?}, {threads} threads");
        }
        c.set_threads(1);
        assert!(everything(&mut c, &x) == one, "{scheme:?}, back on one thread");
    }
}

//! What several tests share.

use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Collocation, Problem, Settings, Trajectory};
use soleus_dynamics::System;
use soleus_math::Random;
use soleus_math::norm::largest_size;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{Options, Solution, solve};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A seeded sequence of numbers in [−1, 1).
pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut random = Random::new(seed);
    move || random.signed()
}

/// Gradient, Jacobian and Hessian of a program against central differences along a seeded direction, at `x`.
///
/// Differences by h = ε^⅓ and by h/2 are extrapolated (Richardson): truncation falls as h⁴, and rounding stays near 1e-10 of the size of the
/// numbers. What is compared are sums of many terms, so `tolerance` is relative to their largest.
pub fn check_derivatives(nlp: &mut dyn NonlinearProgram, x: &[f64], tolerance: f64) {
    let (n, m) = (nlp.num_variables(), nlp.num_constraints());
    let mut next = random(7);
    let h = f64::EPSILON.cbrt();
    let d: Vec<f64> = (0..n).map(|_| next()).collect();
    let y: Vec<f64> = (0..m).map(|_| next()).collect();
    let sigma = 0.7;
    let moved = |s: f64| -> Vec<f64> { x.iter().zip(&d).map(|(x, d)| x + s * d).collect() };
    let slopes = |f: &mut dyn FnMut(&[f64]) -> Vec<f64>| -> Vec<f64> {
        let [a, b, c, e] = [-h, h, -0.5 * h, 0.5 * h].map(|s| f(&moved(s)));
        (0..a.len()).map(|i| (4.0 * (e[i] - c[i]) / h - (b[i] - a[i]) / (2.0 * h)) / 3.0).collect()
    };

    let mut gradient = vec![0.0; n];
    nlp.compute_gradient(x, &mut gradient);
    let slope: f64 = gradient.iter().zip(&d).map(|(g, d)| g * d).sum();
    let fd = slopes(&mut |x| vec![nlp.compute_objective(x)])[0];
    assert!((slope - fd).abs() <= tolerance * fd.abs().max(1.0), "gradient {slope}, differences {fd}");

    let jp = nlp.jacobian_pattern().clone();
    let mut values = vec![0.0; jp.len()];
    nlp.compute_jacobian(x, &mut values);
    let mut jd = vec![0.0; m];
    jp.places().zip(&values).for_each(|((r, c), v)| jd[r] += v * d[c]);
    let fd = slopes(&mut |x| {
        let mut c = vec![0.0; m];
        nlp.compute_constraints(x, &mut c);
        c
    });
    let size = largest_size(&jd).max(1.0);
    assert!(size.is_finite(), "an infinite entry excuses every other");
    for r in 0..m {
        assert!((jd[r] - fd[r]).abs() <= tolerance * size, "row {r}: {} vs {}", jd[r], fd[r]);
    }

    // ∇(σ f + yᵀ c) at the ends, against the Hessian times the direction.
    let fd = slopes(&mut |x| {
        let mut g = vec![0.0; n];
        nlp.compute_gradient(x, &mut g);
        g.iter_mut().for_each(|g| *g *= sigma);
        nlp.compute_jacobian(x, &mut values);
        jp.places().zip(&values).for_each(|((r, c), v)| g[c] += v * y[r]);
        g
    });
    let hp = nlp.hessian_pattern().clone();
    let mut hessian = vec![0.0; hp.len()];
    nlp.compute_hessian(x, sigma, &y, &mut hessian);
    let mut hd = vec![0.0; n];
    for ((r, c), v) in hp.places().zip(&hessian) {
        assert!(r >= c, "upper triangle");
        hd[r] += v * d[c];
        if r != c {
            hd[c] += v * d[r];
        }
    }
    let size = largest_size(&hd).max(1.0);
    assert!(size.is_finite(), "an infinite entry excuses every other");
    for i in 0..n {
        assert!((hd[i] - fd[i]).abs() <= tolerance * size, "variable {i}: {} vs {}", hd[i], fd[i]);
    }
}

/// The start of a program, moved a little, inside its bounds.
pub fn near_start(nlp: &dyn NonlinearProgram, seed: u64, by: f64) -> Vec<f64> {
    let mut x = vec![0.0; nlp.num_variables()];
    nlp.compute_start(&mut x);
    let mut next = random(seed);
    x.iter_mut().for_each(|x| *x += by * next());
    x
}

/// Solves a problem on a mesh; it has to succeed.
pub fn solved(problem: Problem, settings: &Settings, tolerance: f64) -> (Collocation, Solution, Trajectory) {
    let c = Collocation::new(problem, settings).unwrap_or_else(|e| panic!("{e:?}"));
    let (mut c, s) = solved_program(c, tolerance);
    // Whoever watches reads the same motion out of the same variables.
    let (times, rows) = c.states_reader().read(&s.x);
    let t = c.trajectory(&s.x);
    assert_eq!((&times, &rows), (&t.times, &t.states.rows));
    (c, s, t)
}

/// Solves a program; it has to succeed.
pub fn solved_program(mut c: Collocation, tolerance: f64) -> (Collocation, Solution) {
    let options = Options::with_tolerance(tolerance);
    let s =
        solve(&mut c, &options, None, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|e| panic!("{e}"));
    assert!(s.status.is_solved(), "{s}");
    (c, s)
}

/// A model from a file of the project, or from text.
pub fn model_of(text: &[u8], name: &str) -> ModelProblem {
    let model = soleus_io::osim::read_model(text, name).0.unwrap_or_else(|| panic!("{name} has errors"));
    let system = System::compile(&model).unwrap_or_else(|e| panic!("{name}: {e}"));
    ModelProblem::new(Arc::new(model), Arc::new(system))
}

/// One of the models that ship with the project.
pub fn shipped(name: &str) -> ModelProblem {
    let path = format!("{}/../../models/{name}.osim", env!("CARGO_MANIFEST_DIR"));
    model_of(&std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}")), name)
}

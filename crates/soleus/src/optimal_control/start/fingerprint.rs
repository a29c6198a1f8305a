//! Fingerprint of a nonlinear program, to check whether an iterate belongs to a problem.

use crate::files::digest;
use soleus_control::Collocation;
use soleus_io::iterate::Fingerprint;
use soleus_math::elementary;
use soleus_optimization::NonlinearProgram;

/// The fingerprint of a program.
pub fn of_program(program: &mut Collocation) -> Fingerprint {
    let (n, m) = (program.num_variables(), program.num_constraints());
    let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
    program.compute_variable_bounds(&mut lower, &mut upper);
    let x: Vec<f64> = (0..n).map(|i| inside(lower[i], upper[i], wave(i))).collect();
    let mut c = vec![0.0; m];
    program.compute_constraints(&x, &mut c);
    // Small values count beside large ones; what is not defined here is left out.
    let finite_ones = c.iter().enumerate().filter(|(_, c)| c.is_finite());
    let constraints = finite_ones.map(|(i, c)| elementary::asinh(*c) * wave(i)).sum();
    let (mut least, mut most) = (vec![0.0; m], vec![0.0; m]);
    program.compute_constraint_bounds(&mut least, &mut most);
    let all = lower.iter().chain(&upper).chain(&least).chain(&most);
    let text: String = all.map(|b| format!("{b:.9e}\n")).collect();
    let goals = program.objective_by_goal(&x);
    Fingerprint {
        goals: goals.into_iter().map(|(name, v)| (name, finite(v))).collect(),
        constraints,
        bounds: digest(text.as_bytes()),
    }
}

/// A seeded number between −1 and 1.
fn wave(i: usize) -> f64 {
    elementary::sin(1.7 * i as f64 + 0.3)
}

/// A point between bounds.
fn inside(lower: f64, upper: f64, wave: f64) -> f64 {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) => 0.5 * (lower + upper) + 0.3 * (upper - lower) * wave,
        (true, false) => lower + 0.5 + 0.3 * wave,
        (false, true) => upper - 0.5 + 0.3 * wave,
        (false, false) => wave,
    }
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

//! What a nonlinear program is, in a few numbers: whether an iterate belongs to a problem.

use crate::files::digest;
use serde::{Deserialize, Serialize};
use soleus_control::Collocation;
use soleus_optimization::NonlinearProgram;

/// Two numbers of the same problem differ by rounding only, which other machines do in other ways.
const SAME: f64 = 1e-9;

/// Values of a problem at a point that depends on its bounds alone. Another goal, weight, table, model or bound gives other numbers;
/// tolerances and limits of the solver, comments and names of files do not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Cost of each goal; none where it is not defined.
    goals: Vec<(String, Option<f64>)>,
    /// Sum of the equations and other constraints, each with a factor of its own.
    constraints: f64,
    /// Digest of the bounds of variables and constraints.
    bounds: String,
}

impl Fingerprint {
    /// Of a program.
    pub fn new(program: &mut Collocation) -> Fingerprint {
        let (n, m) = (program.num_variables(), program.num_constraints());
        let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
        program.compute_variable_bounds(&mut lower, &mut upper);
        let x: Vec<f64> = (0..n).map(|i| inside(lower[i], upper[i], wave(i))).collect();
        let mut c = vec![0.0; m];
        program.compute_constraints(&x, &mut c);
        // Small values count beside large ones; what is not defined here is left out.
        let finite_ones = c.iter().enumerate().filter(|(_, c)| c.is_finite());
        let constraints = finite_ones.map(|(i, c)| c.asinh() * wave(i)).sum();
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

    /// In what another problem differs from this one, in words; none if they are the same.
    pub fn difference(&self, other: &Fingerprint) -> Option<String> {
        let names = |f: &Fingerprint| f.goals.iter().map(|g| g.0.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (names(self), names(other));
        if ours != theirs {
            let of_one = |a: &[String], b: &[String]| a.iter().find(|n| !b.contains(n)).cloned();
            let name = of_one(&theirs, &ours).or_else(|| of_one(&ours, &theirs)).unwrap_or_default();
            return Some(format!("its goals are others, `{name}` among them"));
        }
        // The point lies between the bounds, so that goals can be compared only where bounds are the same.
        if self.bounds != other.bounds {
            return Some("bounds are others".to_string());
        }
        let goal = self.goals.iter().zip(&other.goals).find(|(a, b)| !is_same(a.1, b.1));
        if let Some((goal, _)) = goal {
            return Some(format!("goal `{}` is another", goal.0));
        }
        (!is_same(Some(self.constraints), Some(other.constraints)))
            .then(|| "its equations are others: the model, its loads or values that bounds fix".to_string())
    }
}

/// A seeded number between −1 and 1.
fn wave(i: usize) -> f64 {
    (1.7 * i as f64 + 0.3).sin()
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

fn is_same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME * (1e-6 + a.abs() + b.abs()),
        (None, None) => true,
        _ => false,
    }
}

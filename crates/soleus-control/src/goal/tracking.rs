//! Tracking of given motions.

use crate::function::SmoothFunction;
use crate::problem::{Goal, PointVariable, Term};
use soleus_math::{Function, Real};

/// A variable and the function of time that it tracks.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The variable.
    pub variable: PointVariable,
    /// The function of time, s.
    pub function: Function,
    /// Weight of the squared difference.
    pub weight: f64,
}

/// w (z − r(t))².
struct SquaredError {
    function: Function,
    weight: f64,
}

impl SmoothFunction for SquaredError {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = (z[1] - self.function.value(&z[..1])).sq() * self.weight;
    }
}

/// ∫ Σ wᵢ (zᵢ − rᵢ(t))² dt.
pub fn tracking(name: &str, weight: f64, references: Vec<Reference>) -> Goal {
    let term = |r: Reference| {
        let inputs = vec![PointVariable::Time, r.variable];
        Term::new(inputs, SquaredError { function: r.function, weight: r.weight })
    };
    Goal::integral(name, weight, references.into_iter().map(term).collect())
}

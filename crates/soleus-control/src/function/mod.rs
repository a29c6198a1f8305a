//! Functions with exact first and second derivatives for the transcription.

/// The sparsity pattern of a [`PointFunction`] that is stored in fields.
macro_rules! places {
    () => {
        fn jacobian_places(&self) -> &[(usize, usize)] {
            &self.jacobian_places
        }

        fn hessian_places(&self) -> &[(usize, usize)] {
            &self.hessian_places
        }
    };
}

/// Sizes and sparsity pattern of a function with a [`SmoothFunction`] in the field `function`.
macro_rules! sizes_and_places {
    () => {
        fn num_inputs(&self) -> usize {
            self.function.num_inputs()
        }

        fn num_outputs(&self) -> usize {
            self.function.num_outputs()
        }

        places!();
    };
}

pub(crate) use places;

mod differentiated;
mod jetted;

pub use differentiated::{Differentiated, SmoothFunction};
pub use jetted::Jetted;

use std::any::Any;

/// Scratch memory of one function; created by [`PointFunction::scratch`] and used by the same function only.
pub type Scratch = Box<dyn Any + Send>;

/// A vector function f(z) of a few variables, with its Jacobian and the Hessian of yᵀ f in a fixed sparsity pattern.
///
/// Most are created from a generic function by [`Differentiated`]. Functions with a better way to compute derivatives
/// implement this trait directly.
pub trait PointFunction: Send + Sync {
    /// Number of variables z.
    fn num_inputs(&self) -> usize;

    /// Number of values f.
    fn num_outputs(&self) -> usize;

    /// Positions (output, input) of ∂f/∂z that may be nonzero, each once.
    fn jacobian_places(&self) -> &[(usize, usize)];

    /// Positions (i, j), i ≥ j, of ∂²(yᵀ f)/∂z² that may be nonzero, each once.
    fn hessian_places(&self) -> &[(usize, usize)];

    /// Memory for the other functions.
    fn scratch(&self) -> Scratch;

    /// f(z).
    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch);

    /// ∂f/∂z in the order of [`jacobian_places`](Self::jacobian_places).
    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch);

    /// ∂²(yᵀ f)/∂z² in the order of [`hessian_places`](Self::hessian_places).
    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch);
}

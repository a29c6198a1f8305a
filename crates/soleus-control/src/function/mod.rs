//! Functions with exact first and second derivatives, as the transcription asks for them.

/// The places of a [`PointFunction`] that keeps them in fields.
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

/// Sizes and places of one that keeps a [`SmoothFunction`] in `function`.
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

/// Scratch memory of one function; made by [`PointFunction::scratch`], understood by its maker alone.
pub type Scratch = Box<dyn Any + Send>;

/// A vector function f(z) of a few variables, with its Jacobian and the Hessian of yᵀ f over fixed places.
///
/// Most are made from one generic function by [`Differentiated`]. A function whose derivatives are known in
/// a better way implements this itself.
pub trait PointFunction: Send + Sync {
    /// Number of variables z.
    fn num_inputs(&self) -> usize;

    /// Number of values f.
    fn num_outputs(&self) -> usize;

    /// Places (output, input) of ∂f/∂z that may differ from zero, each once.
    fn jacobian_places(&self) -> &[(usize, usize)];

    /// Places (i, j), i ≥ j, of ∂²(yᵀ f)/∂z² that may differ from zero, each once.
    fn hessian_places(&self) -> &[(usize, usize)];

    /// Memory that the other functions need.
    fn scratch(&self) -> Scratch;

    /// f(z).
    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch);

    /// ∂f/∂z in the order of [`jacobian_places`](Self::jacobian_places).
    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch);

    /// ∂²(yᵀ f)/∂z² in the order of [`hessian_places`](Self::hessian_places).
    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch);
}

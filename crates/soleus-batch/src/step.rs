//! Steps in time as graphs.

/// How a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Semi-implicit: states of forces explicitly.
    SemiImplicit,
    /// States of forces linearly implicitly, with their exact Jacobians.
    LinearlyImplicit,
}

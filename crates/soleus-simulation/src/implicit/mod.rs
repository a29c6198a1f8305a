//! Methods for f(t, x, ẋ) = 0 of index 0 or 1.

mod consistent;
mod equilibrium;
mod fixed_step;
mod matrices;
mod midpoint;
mod radau_coefficients;
mod radau_iia5;
mod rosenbrock_euler;

pub use consistent::solve_consistent_rates;
pub use equilibrium::{EquilibriumOptions, FoundEquilibrium, solve_equilibrium};
pub use midpoint::ImplicitMidpoint;
pub use radau_iia5::RadauIIA5;
pub use rosenbrock_euler::RosenbrockEuler;

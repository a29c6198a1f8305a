//! Methods for ẋ = f(t, x).

mod control;
mod runge_kutta;
mod semi_explicit_euler;
mod tableau;

pub use control::Controller;
pub use runge_kutta::ExplicitRungeKutta;
pub use semi_explicit_euler::SemiExplicitEuler;
pub(crate) use semi_explicit_euler::fixed_end;
pub use tableau::{DORMAND_PRINCE_1980, Dense, MERSON_1957, Tableau};

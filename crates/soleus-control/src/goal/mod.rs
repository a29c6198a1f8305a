//! Goals. Each is built from generic functions; derivatives are automatic.

mod basic;
mod composed;
mod constraints;
mod contact;
mod displacement;
mod distance;
mod formula;
mod frames;
mod gait;
mod initial;
mod kinematic;
mod model_function;
mod muscle_energy;
pub mod named;
mod output;
mod planar_sensor;
mod prescribed;
mod quantity;
pub(crate) mod reaction;
mod sensor;
mod tracking;

pub use basic::{
    control_effort, duration_at_least, final_time, parameter_expression, periodicity, squares, sum_of_squares,
};
pub use constraints::{TimeBounds, frame_distance, output_bounds, output_constraint, variable_bounds};
pub use contact::{ContactGroup, Projection, contact_tracking};
pub use displacement::{average_speed, divided};
pub use formula::{formula_constraint, formula_goal, formula_term};
pub use frames::{frame_tracking, orientation_tracking};
pub use gait::{
    Foot, StepTimeSettings, contact_impulse_tracking, step_length_asymmetry, step_time_asymmetry,
};
pub use initial::{Equilibrium, initial_activation, initial_force_equilibrium, initial_velocity_equilibrium};
pub use kinematic::{marker_final, marker_tracking};
pub use model_function::{Operation, Scalar, Shape};
pub use muscle_energy::squared_metabolic_rate;
pub use named::{NamedTable, Names};
pub use output::{When, generalized_force_tracking, joint_reaction, output, output_periodicity, output_sum};
pub use prescribed::joint_reaction_of_motion;
pub use quantity::{FrameMotion, MuscleQuantity, Quantity};
pub use sensor::{Channel, Sensor, sensor_tracking};
pub use soleus_dynamics::implicit::Reaction;
pub use tracking::{Reference, tracking};

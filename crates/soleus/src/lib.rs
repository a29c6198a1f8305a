//! Musculoskeletal modelling, simulation and optimal control.
//!
//! Every tool has one shape: a **request** (plain data), a **run** in a [`Context`] (files, whom to tell, threads), a **result** in
//! memory, and the **artifacts** (files) that the result would be.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB.

pub mod analysis;
pub mod artifact;
pub mod context;
pub mod error;
pub mod files;
pub mod inputs;
pub mod inverse_dynamics;
pub mod inverse_kinematics;
pub mod leg_tour;
pub mod optimal_control;
pub mod pipeline;
pub mod prediction;
pub mod scaling;
pub mod setup_file;
pub mod simulation;
pub mod source;

pub use analysis::{Analyze, StaticOptimization};
pub use artifact::{Artifact, Content, Outcome};
pub use context::{Collected, Context, Monitor, Progress, Silent};
pub use error::{Error, ErrorKind};
pub use files::{Disk, Files, Memory};
pub use inverse_dynamics::InverseDynamics;
pub use inverse_kinematics::{InverseKinematics, PlaceSensors, SensorKinematics};
pub use leg_tour::LegTour;
pub use optimal_control::{Inverse, Solve, Track};
pub use pipeline::Pipeline;
pub use prediction::PredictWalk;
pub use scaling::Scaling;
pub use setup_file::SetupFile;
pub use simulation::{ForwardSimulation, Simulation};
pub use source::{ModelSource, Source};

/// The crates that this one is made of.
pub mod engine {
    pub use soleus_control as control;
    pub use soleus_dynamics as dynamics;
    pub use soleus_io as io;
    pub use soleus_math as math;
    pub use soleus_model as model;
    pub use soleus_optimization as optimization;
    pub use soleus_simulation as simulation;
    pub use soleus_tools as tools;
    pub use soleus_viewer as viewer;
}

//! Musculoskeletal modelling, simulation and optimal control.
//!
//! Every tool has one shape: a **request** (plain data), a **run** in a [`Context`] (files, whom to tell, threads), a **result** in
//! memory, and the **artifacts** (files) that the result would be.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB.

pub mod analysis;
pub mod artifact;
pub mod context;
pub mod conversion;
pub mod equilibrium;
pub mod error;
pub mod evaluation;
pub mod files;
pub mod inputs;
pub mod inverse_kinematics;
pub mod jacobian;
pub mod model_info;
pub mod path_fitting;
pub mod plotting;
pub mod simulation;
pub mod source;
pub mod text;
pub mod upgrade;
pub mod viewing;

pub use analysis::{Analyze, StaticOptimization};
pub use artifact::{Artifact, Content, Outcome};
pub use context::{Collected, Context, Monitor, Progress, Silent};
pub use conversion::Convert;
pub use equilibrium::Equilibrium;
pub use error::{Error, ErrorKind};
pub use evaluation::Evaluate;
pub use files::{Disk, Files, Memory};
pub use inverse_kinematics::{InverseKinematics, PlaceSensors, SensorKinematics};
pub use jacobian::Jacobians;
pub use model_info::ModelInfo;
pub use path_fitting::FitPaths;
pub use plotting::PlotTable;
pub use simulation::{ForwardSimulation, Simulation};
pub use source::{ModelSource, Source};
pub use upgrade::Upgrade;
pub use viewing::View;

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

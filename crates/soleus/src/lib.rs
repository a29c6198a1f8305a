#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Musculoskeletal modelling, simulation and optimal control.
//!
//! Every tool has the same structure: a **request** (plain data), a **run** in a [`Context`] (files, monitor, threads),
//! a **result** in memory, and **artifacts**, the output files of the result.
//!
//! # A first request
//!
//! Files are on disk ([`Disk`]) or in memory ([`Memory`]). The model here is a leg with three segments and eight
//! muscles.
//!
//! ```
//! use soleus::{Context, Memory, ModelInfo};
//! let files = Memory::new().with("leg.osim", include_bytes!("../models/leg_swing.osim"));
//! let context = Context::new(&files);
//! let about = ModelInfo { model: "leg.osim".into(), ..Default::default() }.run(&context)?;
//! println!("{:.1} kg, {} muscles", about.mass, about.muscles.len());
//! # assert_eq!(about.muscles.len(), 8);
//! # Ok::<(), soleus::Error>(())
//! ```
//!
//! # Read and change a model
//!
//! A model is plain data: lists of bodies, joints, forces and markers. A model in memory can be used in any request
//! instead of a file.
//!
//! ```
//! use soleus::engine::model::ForceKind;
//! use soleus::evaluation::NamedState;
//! use soleus::{Context, Evaluate, Memory};
//! # let files = Memory::new().with("leg.osim", include_bytes!("../models/leg_swing.osim"));
//! # let context = Context::new(&files);
//! let mut model = soleus::inputs::model::read(&context, &"leg.osim".into())?;
//! for force in &mut model.forces {
//!     if let ForceKind::Muscle(muscle) = &mut force.kind {
//!         muscle.max_isometric_force *= 0.8; // weaker by a fifth
//!     }
//! }
//! let bent = NamedState::default().with("knee_angle", -0.8, 0.0); // rad, rad/s
//! let request = Evaluate { model: model.into(), states: vec![bent].into(), equilibrate: true, ..Default::default() };
//! let evaluation = request.run(&context)?;
//! println!("{:?}: {:?} rad/s²", evaluation.tree_order, evaluation.states[0].accelerations);
//! # assert!(evaluation.not_finite.is_empty());
//! # Ok::<(), soleus::Error>(())
//! ```
//!
//! # Evaluate with derivatives
//!
//! The requests are built on the [`engine`]. A `System` is a compiled model; a `Workspace` holds all memory for its
//! evaluation. With dual numbers the same code computes exact derivatives.
//!
//! ```
//! use soleus::engine::dynamics::{State, System};
//! use soleus::engine::math::{Dual, Real};
//! # let files = soleus::Memory::new().with("leg.osim", include_bytes!("../models/leg_swing.osim"));
//! # let context = soleus::Context::new(&files);
//! # let model = soleus::inputs::model::read(&context, &"leg.osim".into())?;
//! let system = System::compile(&model)?;
//! let mut x: State<Dual<f64, 1>> = system.default_state.lift();
//! x.q[1] = Dual::variable(-0.8, 0); // by the angle of the knee
//! let controls = vec![Dual::cst(0.3); system.num_controls];
//! let mut ws = system.workspace();
//! system.compute_motion(&x, &controls, &mut ws)?;
//! println!("{:.1} rad/s², by the angle {:.1} 1/s²", ws.udot[1].v, ws.udot[1].d[0]);
//! # assert!(ws.udot[1].d[0] != 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Simulate
//!
//! ```
//! use soleus::{Context, Memory, Outcome, Simulation};
//! # let files = Memory::new().with("leg.osim", include_bytes!("../models/leg_swing.osim"));
//! # let context = Context::new(&files);
//! let request =
//!     Simulation { model: "leg.osim".into(), excitation: Some(0.1), duration: 0.05, ..Default::default() };
//! let motion = request.run(&context)?;
//! motion.verdict()?; // an error if it could not go on to the end
//! let knee = motion.states.column("/jointset/knee/knee_angle/value").unwrap();
//! println!("{} rows, the knee ends at {:.3} rad", motion.states.rows(), knee[knee.len() - 1]);
//! # assert_eq!(motion.end_time, 0.05);
//! # Ok::<(), soleus::Error>(())
//! ```
//!
//! # From markers to joint angles
//!
//! ```no_run
//! use soleus::{Context, Disk, InverseKinematics, Outcome};
//! let files = Disk::new();
//! let context = Context::new(&files).with_threads(4);
//! let request =
//!     InverseKinematics { model: "subject.osim".into(), markers: "walk.trc".into(), chunks: 8, ..Default::default() };
//! let motion = request.run(&context)?;
//! println!("markers are met to {:.1} mm", 1e3 * motion.trial.summary.rms);
//! # Ok::<(), soleus::Error>(())
//! ```
//!
//! # Files, messages, errors
//!
//! - Results are in memory. [`Outcome::write`] writes the files named in the request; files without a name are not
//!   written.
//! - Warnings about the input, lines about the result and progress are sent to the [`Monitor`] of the context, which
//!   can also cancel the tool. [`Collected`] stores all messages.
//! - A run returns an [`Error`] only if there is no result. An incomplete result is returned as a result, and its
//!   [`verdict`](Outcome::verdict) is the error.
//! - Requests can be serialized with serde, so other programs can write them in JSON or TOML.
//!
//! Complete programs are in `examples/rust`: `markers_to_moments`, `custom_force`, `custom_goal`,
//! `sweep_over_subjects`.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, V_GB.

pub mod addition;
pub mod analysis;
pub mod artifact;
pub mod consistent_motion;
pub mod context;
pub mod conversion;
pub mod emg;
pub mod equilibrium;
pub mod error;
pub mod evaluation;
pub mod extension;
pub mod file_info;
pub mod files;
pub mod gait;
pub mod generation;
pub mod inputs;
pub mod inverse_dynamics;
pub mod inverse_kinematics;
pub mod jacobian;
pub mod leg_tour;
pub mod load_assignment;
pub mod model_info;
pub mod muscle_control;
pub mod optimal_control;
pub mod path_fitting;
pub mod pipeline;
pub mod plotting;
pub mod prediction;
pub mod residual_elimination;
pub mod scaling;
pub mod setup_file;
pub mod simulation;
pub mod source;
pub mod states;
pub mod synthesis;
pub mod text;
pub mod upgrade;
pub mod viewing;

pub use addition::Add;
pub use analysis::{Analyze, StaticOptimization};
pub use artifact::{Artifact, Content, Outcome};
pub use consistent_motion::Reconcile;
pub use context::{Collected, Context, Monitor, Progress, Reached, Silent};
pub use conversion::Convert;
pub use equilibrium::Equilibrium;
pub use error::{Error, ErrorKind};
pub use evaluation::Evaluate;
pub use file_info::FileInfo;
pub use files::{Disk, Files, Lock, Memory};
pub use gait::Gait;
pub use generation::{Generate, SourceLanguage};
pub use inverse_dynamics::InverseDynamics;
pub use inverse_kinematics::{InverseKinematics, PlaceSensors, SensorKinematics};
pub use jacobian::Jacobians;
pub use leg_tour::LegTour;
pub use load_assignment::AssignLoads;
pub use model_info::ModelInfo;
pub use muscle_control::{ComputedMuscleControl, ResidualReduction};
pub use optimal_control::{Inverse, Solve, Track};
pub use path_fitting::FitPaths;
pub use pipeline::Pipeline;
pub use plotting::PlotTable;
pub use prediction::{Predict, PredictWalk};
pub use residual_elimination::ResidualElimination;
pub use scaling::Scaling;
pub use setup_file::SetupFile;
pub use simulation::{ForwardSimulation, Simulation};
pub use source::{ModelSource, Source};
pub use states::Evaluator;
pub use synthesis::Synthesize;
pub use upgrade::Upgrade;
pub use viewing::View;

pub use soleus_dynamics::{State, System, Workspace};
pub use soleus_math::Table;
pub use soleus_model::{Diagnostic, Diagnostics, Document, Model, Severity};

/// The crates on which this one is built.
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

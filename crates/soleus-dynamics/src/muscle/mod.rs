//! Muscles: from length, speed and excitation to tension and rates of the muscle's own states.
//!
//! A muscle knows the length and lengthening speed of its path, never the path. The classes differ in
//! their curves, their states and in what they do at the edges; [`CompiledMuscle`] is any of them.

pub mod activation;
pub mod degroote_fregly2016;
pub mod equilibrium;
pub mod error;
pub mod info;
pub mod millard2012;
pub mod millard2012_curves;
pub mod pennation;
pub mod thelen2003;

pub use equilibrium::Equilibrium;
pub use error::MuscleError;
pub use info::MuscleInfo;

use degroote_fregly2016::DeGrooteFregly2016Muscle;
use millard2012::Millard2012EquilibriumMuscle;
use soleus_math::Real;
use soleus_model::muscle::{Muscle, MuscleKind};
use thelen2003::Thelen2003Muscle;

/// A muscle ready for computing: parameters checked, constants folded, curves built.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledMuscle {
    /// See [`Thelen2003Muscle`].
    Thelen2003(Thelen2003Muscle),
    /// See [`Millard2012EquilibriumMuscle`].
    Millard2012Equilibrium(Millard2012EquilibriumMuscle),
    /// See [`DeGrooteFregly2016Muscle`].
    DeGrooteFregly2016(DeGrooteFregly2016Muscle),
}

impl CompiledMuscle {
    /// Checks the parameters and prepares the muscle.
    pub fn compile(m: &Muscle) -> Result<CompiledMuscle, MuscleError> {
        Ok(match &m.kind {
            MuscleKind::Thelen2003(p) => CompiledMuscle::Thelen2003(Thelen2003Muscle::compile(m, p)?),
            MuscleKind::Millard2012Equilibrium(p) => {
                CompiledMuscle::Millard2012Equilibrium(Millard2012EquilibriumMuscle::compile(m, p)?)
            }
            MuscleKind::DeGrooteFregly2016(p) => {
                CompiledMuscle::DeGrooteFregly2016(DeGrooteFregly2016Muscle::compile(m, p)?)
            }
            _ => todo!(),
        })
    }

    /// Names of the states, in the order in which all methods take them; as OpenSim names them.
    pub fn state_names(&self) -> &'static [&'static str] {
        match self {
            CompiledMuscle::Thelen2003(_) => &["activation", "fiber_length"],
            CompiledMuscle::Millard2012Equilibrium(m) => m.state_names(),
            CompiledMuscle::DeGrooteFregly2016(m) => m.state_names(),
        }
    }

    /// States to begin with, from the model's `default_` properties.
    pub fn default_states(&self) -> &[f64] {
        match self {
            CompiledMuscle::Thelen2003(m) => m.default_states(),
            CompiledMuscle::Millard2012Equilibrium(m) => m.default_states(),
            CompiledMuscle::DeGrooteFregly2016(m) => m.default_states(),
        }
    }

    /// The tension [N] that the muscle applies along its path of length `L` [m], lengthening at `Ldot` [m/s];
    /// writes the rates of its states.
    ///
    /// `states` and `states_dot` have the length of [`state_names`](Self::state_names). The excitation is not
    /// clamped.
    #[inline]
    pub fn dynamics<T: Real>(&self, L: T, Ldot: T, excitation: T, states: &[T], states_dot: &mut [T]) -> T {
        match self {
            CompiledMuscle::Thelen2003(m) => m.dynamics(L, excitation, states, states_dot),
            CompiledMuscle::Millard2012Equilibrium(m) => m.dynamics(L, Ldot, excitation, states, states_dot),
            CompiledMuscle::DeGrooteFregly2016(m) => m.dynamics(L, Ldot, excitation, states, states_dot),
        }
    }

    /// Everything about the muscle, for reports and analyses; same arguments as [`dynamics`](Self::dynamics).
    pub fn info<T: Real>(&self, L: T, Ldot: T, excitation: T, states: &[T]) -> MuscleInfo<T> {
        match self {
            CompiledMuscle::Thelen2003(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::Millard2012Equilibrium(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::DeGrooteFregly2016(m) => m.info(L, Ldot, excitation, states),
        }
    }

    /// Sets the states so that fiber and tendon are in equilibrium at the given activation (the excitation,
    /// for a muscle without activation dynamics). The solution is the one OpenSim's `equilibrateMuscles` finds,
    /// wherever it finds one.
    pub fn solve_equilibrium(
        &self,
        L: f64,
        Ldot: f64,
        activation: f64,
        states: &mut [f64],
    ) -> Result<Equilibrium, MuscleError> {
        match self {
            CompiledMuscle::Thelen2003(m) => m.solve_equilibrium(L, Ldot, activation, states),
            CompiledMuscle::Millard2012Equilibrium(m) => m.solve_equilibrium(L, Ldot, activation, states),
            CompiledMuscle::DeGrooteFregly2016(m) => m.solve_equilibrium(L, Ldot, activation, states),
        }
    }
}

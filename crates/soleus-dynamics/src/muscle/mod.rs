//! Muscles: tension and rates of muscle states from length, speed and excitation.
//!
//! A muscle depends on the length and lengthening speed of its path, not on the path itself. The classes differ in
//! their curves, their states and their behaviour at limits; [`CompiledMuscle`] is any of them.

pub mod activation;
pub mod bogert2011;
pub mod chadwick2009;
pub mod curve_cache;
pub mod degroote2016;
pub mod degroote_fregly2016;
pub mod delp1990;
pub mod equilibrium;
pub mod error;
mod hill;
pub mod info;
pub mod millard2012;
pub mod millard2012_curves;
pub mod pennation;
pub mod rigid_tendon;
pub mod schutte1993;
mod simm;
pub mod thelen2003;
pub mod thelen2003_original;

pub use curve_cache::CurveCache;
pub use equilibrium::Equilibrium;
pub use error::MuscleError;
pub use info::MuscleInfo;

use crate::Options;
use crate::constants::Constants;
use bogert2011::Bogert2011Muscle;
use chadwick2009::Chadwick2009Muscle;
use degroote_fregly2016::DeGrooteFregly2016Muscle;
use degroote2016::DeGroote2016Muscle;
use delp1990::Delp1990Muscle;
use millard2012::Millard2012EquilibriumMuscle;
use rigid_tendon::RigidTendonMuscle;
use schutte1993::Schutte1993Muscle;
use simm::SimmMuscle;
use soleus_math::{Over, Real};
use soleus_model::muscle::{Muscle, MuscleKind};
use thelen2003::Thelen2003Muscle;
use thelen2003_original::Thelen2003OriginalMuscle;

/// A compiled muscle: parameters checked, constants folded, curves constructed.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // The system boxes the whole muscle.
pub enum CompiledMuscle<P = f64> {
    /// See [`Thelen2003Muscle`].
    Thelen2003(Thelen2003Muscle<P>),
    /// See [`Millard2012EquilibriumMuscle`].
    Millard2012Equilibrium(Box<Millard2012EquilibriumMuscle<P>>),
    /// See [`DeGrooteFregly2016Muscle`].
    DeGrooteFregly2016(DeGrooteFregly2016Muscle<P>),
    /// See [`Schutte1993Muscle`].
    Schutte1993(Schutte1993Muscle<P>),
    /// See [`Delp1990Muscle`].
    Delp1990(Delp1990Muscle<P>),
    /// See [`Thelen2003OriginalMuscle`].
    Thelen2003Original(Thelen2003OriginalMuscle<P>),
    /// See [`RigidTendonMuscle`].
    RigidTendon(RigidTendonMuscle<P>),
    /// See [`Bogert2011Muscle`].
    Bogert2011(Bogert2011Muscle<P>),
    /// See [`Chadwick2009Muscle`].
    Chadwick2009(Chadwick2009Muscle<P>),
    /// See [`DeGroote2016Muscle`].
    DeGroote2016(DeGroote2016Muscle<P>),
}

impl CompiledMuscle {
    /// Checks the parameters and compiles the muscle.
    pub fn compile(m: &Muscle, options: &Options) -> Result<CompiledMuscle, MuscleError> {
        CompiledMuscle::compile_sharing(m, options, &mut CurveCache::default())
    }

    /// As [`compile`](Self::compile), for one of many muscles: curves already in `cache` are shared.
    pub fn compile_sharing(
        m: &Muscle,
        options: &Options,
        cache: &mut CurveCache,
    ) -> Result<CompiledMuscle, MuscleError> {
        Ok(match &m.kind {
            MuscleKind::Thelen2003(p) => CompiledMuscle::Thelen2003(
                Thelen2003Muscle::compile(m, p)?.with_opensim_energy(options.opensim_faults),
            ),
            MuscleKind::Millard2012Equilibrium(p) => CompiledMuscle::Millard2012Equilibrium(Box::new(
                Millard2012EquilibriumMuscle::compile(m, p, cache)?,
            )),
            MuscleKind::DeGrooteFregly2016(p) => {
                CompiledMuscle::DeGrooteFregly2016(DeGrooteFregly2016Muscle::compile(m, p)?)
            }
            MuscleKind::Schutte1993(p) => CompiledMuscle::Schutte1993(Schutte1993Muscle::compile(m, p)?),
            MuscleKind::Delp1990(p) => CompiledMuscle::Delp1990(Delp1990Muscle::compile(m, p)?),
            MuscleKind::Thelen2003Deprecated(p) => {
                CompiledMuscle::Thelen2003Original(Thelen2003OriginalMuscle::compile(m, p)?)
            }
            MuscleKind::RigidTendon(p) => CompiledMuscle::RigidTendon(RigidTendonMuscle::compile(m, p)?),
            MuscleKind::Bogert2011(p) => CompiledMuscle::Bogert2011(Bogert2011Muscle::compile(m, p)?),
            MuscleKind::Chadwick2009(p) => CompiledMuscle::Chadwick2009(Chadwick2009Muscle::compile(m, p)?),
            MuscleKind::DeGroote2016(p) => CompiledMuscle::DeGroote2016(DeGroote2016Muscle::compile(m, p)?),
        })
    }

    /// Names of the states, in the order used by all methods; as in OpenSim.
    pub fn state_names(&self) -> &'static [&'static str] {
        match self {
            CompiledMuscle::Thelen2003(_)
            | CompiledMuscle::Thelen2003Original(_)
            | CompiledMuscle::Schutte1993(_) => &["activation", "fiber_length"],
            CompiledMuscle::Delp1990(_) => &["activation", "fiber_length", "fiber_velocity"],
            CompiledMuscle::RigidTendon(_) => &[],
            CompiledMuscle::Bogert2011(_) => &["activation", "fiber_length_along_tendon"],
            CompiledMuscle::Chadwick2009(_) => &["activation", "normalized_fiber_length_along_tendon"],
            CompiledMuscle::DeGroote2016(_) => &["activation", "normalized_tendon_force"],
            CompiledMuscle::Millard2012Equilibrium(m) => m.state_names(),
            CompiledMuscle::DeGrooteFregly2016(m) => m.state_names(),
        }
    }

    /// Default states, from the model's `default_` properties.
    pub fn default_states(&self) -> &[f64] {
        match self {
            CompiledMuscle::Thelen2003(m) => m.default_states(),
            CompiledMuscle::Millard2012Equilibrium(m) => m.default_states(),
            CompiledMuscle::DeGrooteFregly2016(m) => m.default_states(),
            // OpenSim's older classes begin with zeros and rely on equilibration.
            CompiledMuscle::Schutte1993(_) | CompiledMuscle::Thelen2003Original(_) => &[0.0; 2],
            CompiledMuscle::Delp1990(_) => &[0.0; 3],
            CompiledMuscle::RigidTendon(_) => &[],
            CompiledMuscle::Bogert2011(m) => m.default_states(),
            CompiledMuscle::Chadwick2009(m) => m.default_states(),
            CompiledMuscle::DeGroote2016(m) => m.default_states(),
        }
    }

    /// The tension (N) that the muscle applies along its path of length `L` (m), lengthening at `Ldot`, m/s;
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
            CompiledMuscle::Schutte1993(m) => m.dynamics(L, Ldot, excitation, states, states_dot),
            CompiledMuscle::Delp1990(m) => m.dynamics(L, excitation, states, states_dot),
            CompiledMuscle::Thelen2003Original(m) => m.dynamics(L, Ldot, excitation, states, states_dot),
            CompiledMuscle::RigidTendon(m) => m.dynamics(L, Ldot, excitation),
            CompiledMuscle::Bogert2011(m) => m.dynamics(L, excitation, states, states_dot),
            CompiledMuscle::Chadwick2009(m) => m.dynamics(L, excitation, states, states_dot),
            CompiledMuscle::DeGroote2016(m) => m.dynamics(L, Ldot, excitation, states, states_dot),
        }
    }

    /// The same with rates that stay finite where a muscle is slack, for steps that may end there: in the explicit form of
    /// De Groote and Fregly's muscle the product of activation and active force–length is at least `least`, and the
    /// force–velocity curve is linear beyond 180 v_max. Other muscles are as they are.
    pub fn bounded_dynamics<T: Real>(
        &self,
        L: T,
        Ldot: T,
        excitation: T,
        states: &[T],
        states_dot: &mut [T],
        least: f64,
    ) -> T {
        match self {
            CompiledMuscle::DeGrooteFregly2016(m) => {
                m.bounded_dynamics(L, Ldot, excitation, states, states_dot, least)
            }
            _ => self.dynamics(L, Ldot, excitation, states, states_dot),
        }
    }

    /// All quantities of the muscle, for reports and analyses; same arguments as [`dynamics`](Self::dynamics).
    pub fn info<T: Real>(&self, L: T, Ldot: T, excitation: T, states: &[T]) -> MuscleInfo<T> {
        match self {
            CompiledMuscle::Thelen2003(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::Millard2012Equilibrium(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::DeGrooteFregly2016(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::Schutte1993(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::Delp1990(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::Thelen2003Original(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::RigidTendon(m) => m.info(L, Ldot, excitation),
            CompiledMuscle::Bogert2011(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::Chadwick2009(m) => m.info(L, Ldot, excitation, states),
            CompiledMuscle::DeGroote2016(m) => m.info(L, Ldot, excitation, states),
        }
    }

    /// Active force along the tendon (N) at full activation with a rigid tendon: the strength of a muscle in static
    /// optimization. `None` for classes whose force depends on their states.
    pub fn active_force_on_rigid_tendon(&self, L: f64, Ldot: f64, opensim_faults: bool) -> Option<f64> {
        match self {
            CompiledMuscle::Thelen2003(m) => Some(m.active_force_on_rigid_tendon(L, Ldot)),
            CompiledMuscle::Millard2012Equilibrium(m) => {
                Some(m.active_force_on_rigid_tendon(L, Ldot, opensim_faults))
            }
            CompiledMuscle::DeGrooteFregly2016(m) => {
                Some(m.active_force_on_rigid_tendon(L, Ldot, opensim_faults))
            }
            CompiledMuscle::RigidTendon(m) => {
                let info = m.info(L, Ldot, 1.0);
                Some(info.active_fiber_force * info.cos_pennation_angle)
            }
            CompiledMuscle::Bogert2011(m) => Some(m.active_force_on_rigid_tendon(L, Ldot)),
            CompiledMuscle::Chadwick2009(m) => Some(m.active_force_on_rigid_tendon(L, Ldot)),
            _ => None,
        }
    }

    /// Sets the states to the equilibrium of fiber and tendon at the given activation (the excitation, for a muscle
    /// without activation dynamics). The solution is that of OpenSim's `equilibrateMuscles`, if it finds one.
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
            CompiledMuscle::Schutte1993(m) => m.solve_equilibrium(L, activation, states),
            CompiledMuscle::Delp1990(m) => m.solve_equilibrium(L, activation, states),
            CompiledMuscle::Thelen2003Original(m) => m.solve_equilibrium(L, activation, states),
            CompiledMuscle::RigidTendon(m) => Ok(m.solve_equilibrium(L, Ldot, activation)),
            CompiledMuscle::Bogert2011(m) => m.solve_equilibrium(L, activation, states),
            CompiledMuscle::Chadwick2009(m) => m.solve_equilibrium(L, activation, states),
            CompiledMuscle::DeGroote2016(m) => m.solve_equilibrium(L, Ldot, activation, states),
        }
    }
}

impl<P: Real> CompiledMuscle<P> {
    /// Compiles the muscle with each parameter converted to a constant of type `P` by its name.
    pub fn compile_over(
        m: &Muscle,
        cache: &mut CurveCache<P>,
        constant: &mut Constants<P>,
    ) -> Result<CompiledMuscle<P>, MuscleError> {
        Ok(match &m.kind {
            MuscleKind::Thelen2003(p) => {
                CompiledMuscle::Thelen2003(Thelen2003Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::Millard2012Equilibrium(p) => CompiledMuscle::Millard2012Equilibrium(Box::new(
                Millard2012EquilibriumMuscle::compile_over(m, p, cache, constant)?,
            )),
            MuscleKind::DeGrooteFregly2016(p) => {
                CompiledMuscle::DeGrooteFregly2016(DeGrooteFregly2016Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::Bogert2011(p) => {
                CompiledMuscle::Bogert2011(Bogert2011Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::Chadwick2009(p) => {
                CompiledMuscle::Chadwick2009(Chadwick2009Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::DeGroote2016(p) => {
                CompiledMuscle::DeGroote2016(DeGroote2016Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::Schutte1993(p) => {
                CompiledMuscle::Schutte1993(Schutte1993Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::Delp1990(p) => {
                CompiledMuscle::Delp1990(Delp1990Muscle::compile_over(m, p, constant)?)
            }
            MuscleKind::Thelen2003Deprecated(p) => {
                CompiledMuscle::Thelen2003Original(Thelen2003OriginalMuscle::compile_over(m, p, constant)?)
            }
            MuscleKind::RigidTendon(p) => {
                CompiledMuscle::RigidTendon(RigidTendonMuscle::compile_over(m, p, constant)?)
            }
        })
    }

    /// The tension (N), with the dynamics in implicit form: `r` gets one residual per state, zero if `rates` are the
    /// rates of `states`. These are force balances where possible, so that there is no singularity at zero activation.
    #[inline]
    pub fn residual<T: Over<P>>(
        &self,
        L: T,
        Ldot: T,
        excitation: T,
        states: &[T],
        rates: &[T],
        r: &mut [T],
    ) -> T {
        match self {
            CompiledMuscle::Thelen2003(m) => m.residual(L, excitation, states, rates, r),
            CompiledMuscle::Millard2012Equilibrium(m) => m.residual(L, Ldot, excitation, states, rates, r),
            CompiledMuscle::DeGrooteFregly2016(m) => m.implicit(L, Ldot, excitation, states, rates, r),
            CompiledMuscle::Bogert2011(m) => m.implicit(L, excitation, states, rates, r),
            CompiledMuscle::Chadwick2009(m) => m.implicit(L, excitation, states, rates, r),
            CompiledMuscle::DeGroote2016(m) => m.implicit(L, Ldot, excitation, states, rates, r),
            CompiledMuscle::Schutte1993(m) => {
                as_residual(rates, r, |r| m.dynamics(L, Ldot, excitation, states, r))
            }
            CompiledMuscle::Delp1990(m) => as_residual(rates, r, |r| m.dynamics(L, excitation, states, r)),
            CompiledMuscle::Thelen2003Original(m) => {
                as_residual(rates, r, |r| m.dynamics(L, Ldot, excitation, states, r))
            }
            CompiledMuscle::RigidTendon(m) => m.dynamics(L, Ldot, excitation),
        }
    }
}

/// Rates in explicit form as residuals: r = given rate − rate that follows. Returns the tension.
#[inline(always)]
fn as_residual<T: Real>(rates: &[T], r: &mut [T], explicit: impl FnOnce(&mut [T]) -> T) -> T {
    let tension = explicit(r);
    for (r, &rate) in r.iter_mut().zip(rates) {
        *r = rate - *r;
    }
    tension
}

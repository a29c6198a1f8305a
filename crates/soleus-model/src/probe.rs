//! Probes as plain data: quantities that are computed along a motion but do not change it.
//!
//! Every field is the XML property of the same name, with OpenSim's default.

use crate::id::ForceId;
use soleus_math::Function;

/// A probe, or a component that computes metabolic power.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name in the file.
    pub name: String,
    /// Absolute component path.
    pub path: String,
    /// Class name in the file.
    pub class: String,
    /// `enabled`. Default true.
    pub enabled: bool,
    /// `probe_operation`. Default `value`.
    pub operation: ProbeOperation,
    /// `initial_conditions_for_integration`.
    pub initial_conditions: Vec<f64>,
    /// `gain` of the result. Default 1.
    pub gain: f64,
    /// Quantity that it computes.
    pub kind: ProbeKind,
}

/// Operation of a probe on its quantity: `probe_operation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProbeOperation {
    /// `value`.
    #[default]
    Value,
    /// `differentiate`: its rate.
    Differentiate,
    /// `integrate`: its integral over time.
    Integrate,
    /// `minimum` so far.
    Minimum,
    /// `minabs`: the smallest absolute value so far.
    MinAbs,
    /// `maximum` so far.
    Maximum,
    /// `maxabs`: the largest absolute value so far.
    MaxAbs,
}

impl ProbeOperation {
    /// Reads the names in model files.
    pub fn from_word(word: &str) -> Option<ProbeOperation> {
        Some(match word {
            "value" => ProbeOperation::Value,
            "differentiate" => ProbeOperation::Differentiate,
            "integrate" => ProbeOperation::Integrate,
            "minimum" => ProbeOperation::Minimum,
            "minabs" => ProbeOperation::MinAbs,
            "maximum" => ProbeOperation::Maximum,
            "maxabs" => ProbeOperation::MaxAbs,
            _ => return None,
        })
    }
}

/// Quantity that a probe computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeKind {
    /// `Umberger2010MuscleMetabolicsProbe`: Umberger (2010) with the changes of Uchida et al. (2016).
    Umberger2010(Umberger2010),
    /// `Bhargava2004MuscleMetabolicsProbe`: Bhargava et al. (2004).
    Bhargava2004(Bhargava2004),
    /// `Bhargava2004SmoothedMuscleMetabolics`: the same, smoothed, for optimal control.
    Bhargava2004Smoothed(Bhargava2004Smoothed),
    /// `ActuatorPowerProbe`: Σ powerᵉ.
    ActuatorPower {
        /// `actuator_names`.
        actuators: Vec<ForceId>,
        /// `sum_powers_together`. Default false.
        sum: bool,
        /// `exponent`. Default 1.
        exponent: f64,
    },
    /// `ActuatorForceProbe`: Σ forceᵉ.
    ActuatorForce {
        /// `actuator_names`.
        actuators: Vec<ForceId>,
        /// `sum_forces_together`. Default false.
        sum: bool,
        /// `exponent`. Default 1.
        exponent: f64,
    },
    /// `SystemEnergyProbe`.
    SystemEnergy {
        /// `compute_kinetic_energy`. Default true.
        kinetic: bool,
        /// `compute_potential_energy`. Default true.
        potential: bool,
    },
    /// An unsupported class; only its name is kept.
    Other,
}

/// Properties of one muscle for metabolic power.
#[derive(Clone, Debug, PartialEq)]
pub struct MetabolicMuscle {
    /// The muscle.
    pub muscle: ForceId,
    /// `specific_tension`, N/m². Default 250 000.
    pub specific_tension: f64,
    /// `density`, kg/m³. Default 1059.7.
    pub density: f64,
    /// `ratio_slow_twitch_fibers`, 0 to 1. Default 0.5.
    pub ratio_slow_twitch_fibers: f64,
    /// `provided_muscle_mass`, kg, if `use_provided_muscle_mass`; otherwise the mass is F₀/`specific_tension` ·
    /// `density` · l₀.
    pub provided_muscle_mass: Option<f64>,
    /// `activation_constant_slow_twitch`, W/kg (Bhargava only). Default 40.
    pub activation_constant_slow_twitch: f64,
    /// `activation_constant_fast_twitch`, W/kg (Bhargava only). Default 133.
    pub activation_constant_fast_twitch: f64,
    /// `maintenance_constant_slow_twitch`, W/kg (Bhargava only). Default 74.
    pub maintenance_constant_slow_twitch: f64,
    /// `maintenance_constant_fast_twitch`, W/kg (Bhargava only). Default 111.
    pub maintenance_constant_fast_twitch: f64,
}

/// Properties of `Umberger2010MuscleMetabolicsProbe`.
#[derive(Clone, Debug, PartialEq)]
pub struct Umberger2010 {
    /// `activation_maintenance_rate_on`. Default true.
    pub activation_maintenance_rate_on: bool,
    /// `shortening_rate_on`. Default true.
    pub shortening_rate_on: bool,
    /// `basal_rate_on`. Default true.
    pub basal_rate_on: bool,
    /// `mechanical_work_rate_on`. Default true.
    pub mechanical_work_rate_on: bool,
    /// `enforce_minimum_heat_rate_per_muscle`. Default true.
    pub enforce_minimum_heat_rate_per_muscle: bool,
    /// `aerobic_factor`. Default 1.5.
    pub aerobic_factor: f64,
    /// `basal_coefficient`, W/kgᵉ. Default 1.2.
    pub basal_coefficient: f64,
    /// `basal_exponent` e of the mass. Default 1.
    pub basal_exponent: f64,
    /// `muscle_effort_scaling_factor`. Default 1.
    pub muscle_effort_scaling_factor: f64,
    /// `use_Bhargava_recruitment_model`. Default true.
    pub use_bhargava_recruitment_model: bool,
    /// `include_negative_mechanical_work`. Default true.
    pub include_negative_mechanical_work: bool,
    /// `forbid_negative_total_power`. Default true.
    pub forbid_negative_total_power: bool,
    /// `report_total_metabolics_only`. Default true.
    pub report_total_metabolics_only: bool,
    /// The muscles.
    pub muscles: Vec<MetabolicMuscle>,
}

/// Properties of `Bhargava2004MuscleMetabolicsProbe`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bhargava2004 {
    /// `activation_rate_on`. Default true.
    pub activation_rate_on: bool,
    /// `maintenance_rate_on`. Default true.
    pub maintenance_rate_on: bool,
    /// `shortening_rate_on`. Default true.
    pub shortening_rate_on: bool,
    /// `basal_rate_on`. Default true.
    pub basal_rate_on: bool,
    /// `mechanical_work_rate_on`. Default true.
    pub mechanical_work_rate_on: bool,
    /// `enforce_minimum_heat_rate_per_muscle`. Default true.
    pub enforce_minimum_heat_rate_per_muscle: bool,
    /// `normalized_fiber_length_dependence_on_maintenance_rate`: factor of the maintenance rate as a function of
    /// normalized fiber length; `None` for the default through (0, 0.5), (0.5, 0.5), (1, 1), (1.5, 0), (2, 0).
    pub fiber_length_dependence: Option<Function>,
    /// `use_force_dependent_shortening_prop_constant`. Default false.
    pub use_force_dependent_shortening_prop_constant: bool,
    /// `basal_coefficient`, W/kgᵉ. Default 1.2.
    pub basal_coefficient: f64,
    /// `basal_exponent` e of the mass. Default 1.
    pub basal_exponent: f64,
    /// `muscle_effort_scaling_factor`. Default 1.
    pub muscle_effort_scaling_factor: f64,
    /// `include_negative_mechanical_work`. Default true.
    pub include_negative_mechanical_work: bool,
    /// `forbid_negative_total_power`. Default true.
    pub forbid_negative_total_power: bool,
    /// `report_total_metabolics_only`. Default true.
    pub report_total_metabolics_only: bool,
    /// The muscles.
    pub muscles: Vec<MetabolicMuscle>,
}

/// Smoothing function: `smoothing_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetabolicSmoothing {
    /// `tanh`.
    #[default]
    Tanh,
    /// `huber`.
    Huber,
}

/// Properties of `Bhargava2004SmoothedMuscleMetabolics`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bhargava2004Smoothed {
    /// `enforce_minimum_heat_rate_per_muscle`. Default true.
    pub enforce_minimum_heat_rate_per_muscle: bool,
    /// `use_force_dependent_shortening_prop_constant`. Default false.
    pub use_force_dependent_shortening_prop_constant: bool,
    /// `basal_coefficient`, W/kgᵉ. Default 1.2.
    pub basal_coefficient: f64,
    /// `basal_exponent` e of the mass. Default 1.
    pub basal_exponent: f64,
    /// `muscle_effort_scaling_factor`. Default 1.
    pub muscle_effort_scaling_factor: f64,
    /// `include_negative_mechanical_work`. Default true.
    pub include_negative_mechanical_work: bool,
    /// `forbid_negative_total_power`. Default true.
    pub forbid_negative_total_power: bool,
    /// `use_smoothing`. Default false.
    pub use_smoothing: bool,
    /// `smoothing_type`. Default `tanh`.
    pub smoothing_type: MetabolicSmoothing,
    /// `velocity_smoothing`. Default 10.
    pub velocity_smoothing: f64,
    /// `power_smoothing`. Default 10.
    pub power_smoothing: f64,
    /// `heat_rate_smoothing`. Default 10.
    pub heat_rate_smoothing: f64,
    /// The muscles.
    pub muscles: Vec<MetabolicMuscle>,
}

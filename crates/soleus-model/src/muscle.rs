//! Muscles as plain data: parameters with their OpenSim names and defaults.
//!
//! Every field is the XML property of the same name, unless noted otherwise. SI units, radians. The equations are
//! documented in `soleus-dynamics`.

use soleus_math::Function;

/// A muscle: common parameters, and its kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Muscle {
    /// `max_isometric_force` F₀, N. Default 1000.
    pub max_isometric_force: f64,
    /// `optimal_fiber_length` l₀, m. Default 0.1.
    pub optimal_fiber_length: f64,
    /// `tendon_slack_length`, m. Default 0.2.
    pub tendon_slack_length: f64,
    /// `pennation_angle_at_optimal` α₀, rad. Default 0.
    pub pennation_angle_at_optimal: f64,
    /// `max_contraction_velocity`, optimal fiber lengths per second. Default 10.
    pub max_contraction_velocity: f64,
    /// `ignore_tendon_compliance`: the tendon is rigid. Default false.
    pub ignore_tendon_compliance: bool,
    /// `ignore_activation_dynamics`: activation equals excitation. Default false.
    pub ignore_activation_dynamics: bool,
    /// `min_control`: lower bound of excitation for optimizers. Default 0; 0.01 for Thelen2003Muscle and
    /// Millard2012EquilibriumMuscle.
    pub min_control: f64,
    /// `max_control`: upper bound of excitation for optimizers. Default 1.
    pub max_control: f64,
    /// The class, with its specific parameters.
    pub kind: MuscleKind,
}

impl Muscle {
    /// A muscle of the given kind with OpenSim's defaults for the common parameters.
    pub fn new(kind: MuscleKind) -> Muscle {
        let min_control = match &kind {
            MuscleKind::Thelen2003(_) | MuscleKind::Millard2012Equilibrium(_) => 0.01,
            _ => 0.0,
        };
        Muscle {
            max_isometric_force: 1000.0,
            optimal_fiber_length: 0.1,
            tendon_slack_length: 0.2,
            pennation_angle_at_optimal: 0.0,
            max_contraction_velocity: 10.0,
            ignore_tendon_compliance: false,
            ignore_activation_dynamics: false,
            min_control,
            max_control: 1.0,
            kind,
        }
    }
}

/// The classes of muscles.
#[derive(Clone, Debug, PartialEq)]
pub enum MuscleKind {
    /// `Thelen2003Muscle`.
    Thelen2003(Thelen2003),
    /// `Millard2012EquilibriumMuscle`.
    Millard2012Equilibrium(Box<Millard2012Equilibrium>),
    /// `DeGrooteFregly2016Muscle`.
    DeGrooteFregly2016(DeGrooteFregly2016),
    /// `Schutte1993Muscle_Deprecated`.
    Schutte1993(Box<Schutte1993>),
    /// `Delp1990Muscle_Deprecated`.
    Delp1990(Box<Delp1990>),
    /// `Thelen2003Muscle_Deprecated`.
    Thelen2003Deprecated(Thelen2003Deprecated),
    /// `RigidTendonMuscle`.
    RigidTendon(Box<RigidTendon>),
    /// The muscle of van den Bogert, Blana and Heinrich (2011); not an OpenSim class.
    Bogert2011(Bogert2011),
    /// The muscle of the DAS3 shoulder and arm model (Chadwick et al. 2009); not an OpenSim class.
    Chadwick2009(Chadwick2009),
    /// The muscle of De Groote et al. (2016) as used by its authors for gait prediction; not an OpenSim class.
    DeGroote2016(DeGroote2016),
}

impl MuscleKind {
    /// The OpenSim class name.
    pub fn class_name(&self) -> &'static str {
        match self {
            MuscleKind::Thelen2003(_) => "Thelen2003Muscle",
            MuscleKind::Millard2012Equilibrium(_) => "Millard2012EquilibriumMuscle",
            MuscleKind::DeGrooteFregly2016(_) => "DeGrooteFregly2016Muscle",
            MuscleKind::Schutte1993(_) => "Schutte1993Muscle_Deprecated",
            MuscleKind::Delp1990(_) => "Delp1990Muscle_Deprecated",
            MuscleKind::Thelen2003Deprecated(_) => "Thelen2003Muscle_Deprecated",
            MuscleKind::RigidTendon(_) => "RigidTendonMuscle",
            MuscleKind::Bogert2011(_) => "Bogert2011Muscle",
            MuscleKind::Chadwick2009(_) => "Chadwick2009Muscle",
            MuscleKind::DeGroote2016(_) => "DeGroote2016Muscle",
        }
    }
}

/// Default `maximum_pennation_angle`: acos 0.1, about 84.3°.
pub const MAXIMUM_PENNATION_ANGLE: f64 = 1.470_628_905_633_336_8;

/// Properties of `Thelen2003Muscle`.
#[derive(Clone, Debug, PartialEq)]
pub struct Thelen2003 {
    /// `FmaxTendonStrain`: tendon strain at F₀. Default 0.04.
    pub fmax_tendon_strain: f64,
    /// `FmaxMuscleStrain`: passive fiber strain at F₀. Default 0.6.
    pub fmax_muscle_strain: f64,
    /// `KshapeActive`: width of the active force–length curve. Default 0.45.
    pub kshape_active: f64,
    /// `KshapePassive`: exponent of the passive force–length curve. Default 5.
    pub kshape_passive: f64,
    /// `Af`: shape of the force–velocity curve. Default 0.25.
    pub af: f64,
    /// `Flen`: maximum force during lengthening, in units of F₀. Default 1.4.
    pub flen: f64,
    /// `fv_linear_extrap_threshold`: fraction of `Flen` at which the curve continues linearly. Default 0.95.
    pub fv_linear_extrap_threshold: f64,
    /// `maximum_pennation_angle`, rad. Default acos 0.1.
    pub maximum_pennation_angle: f64,
    /// `activation_time_constant`, s. Default 0.015.
    pub activation_time_constant: f64,
    /// `deactivation_time_constant`, s. Default 0.050.
    pub deactivation_time_constant: f64,
    /// `minimum_activation`. Default 0.01.
    pub minimum_activation: f64,
    /// `default_activation`. Default 0.05.
    pub default_activation: f64,
    /// `default_fiber_length`, m. Default 0.1 (OpenSim's default l₀, not this muscle's).
    pub default_fiber_length: f64,
}

impl Default for Thelen2003 {
    fn default() -> Self {
        Thelen2003 {
            fmax_tendon_strain: 0.04,
            fmax_muscle_strain: 0.6,
            kshape_active: 0.45,
            kshape_passive: 5.0,
            af: 0.25,
            flen: 1.4,
            fv_linear_extrap_threshold: 0.95,
            maximum_pennation_angle: MAXIMUM_PENNATION_ANGLE,
            activation_time_constant: 0.015,
            deactivation_time_constant: 0.050,
            minimum_activation: 0.01,
            default_activation: 0.05,
            default_fiber_length: 0.1,
        }
    }
}

/// Properties of `Millard2012EquilibriumMuscle`.
#[derive(Clone, Debug, PartialEq)]
pub struct Millard2012Equilibrium {
    /// `fiber_damping` β, in units of F₀ at `max_contraction_velocity`. Default 0.1; values below 0.001 mean no
    /// damping.
    pub fiber_damping: f64,
    /// `default_activation`. Default 0.05.
    pub default_activation: f64,
    /// `default_fiber_length`, m. Default 0.1.
    pub default_fiber_length: f64,
    /// `activation_time_constant`, s. Default 0.010.
    pub activation_time_constant: f64,
    /// `deactivation_time_constant`, s. Default 0.040.
    pub deactivation_time_constant: f64,
    /// `minimum_activation`. Default 0.01.
    pub minimum_activation: f64,
    /// `maximum_pennation_angle`, rad. Default acos 0.1.
    pub maximum_pennation_angle: f64,
    /// `ActiveForceLengthCurve`.
    pub active_force_length_curve: ActiveForceLengthCurve,
    /// `ForceVelocityCurve`.
    pub force_velocity_curve: ForceVelocityCurve,
    /// `FiberForceLengthCurve`.
    pub fiber_force_length_curve: FiberForceLengthCurve,
    /// `TendonForceLengthCurve`.
    pub tendon_force_length_curve: TendonForceLengthCurve,
}

impl Default for Millard2012Equilibrium {
    fn default() -> Self {
        Millard2012Equilibrium {
            fiber_damping: 0.1,
            default_activation: 0.05,
            default_fiber_length: 0.1,
            activation_time_constant: 0.010,
            deactivation_time_constant: 0.040,
            minimum_activation: 0.01,
            maximum_pennation_angle: MAXIMUM_PENNATION_ANGLE,
            active_force_length_curve: ActiveForceLengthCurve::default(),
            force_velocity_curve: ForceVelocityCurve::default(),
            fiber_force_length_curve: FiberForceLengthCurve::default(),
            tendon_force_length_curve: TendonForceLengthCurve::default(),
        }
    }
}

/// Properties of `ActiveForceLengthCurve`; lengths in units of l₀.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveForceLengthCurve {
    /// `min_norm_active_fiber_length`. Default 0.4441.
    pub min_norm_active_fiber_length: f64,
    /// `transition_norm_fiber_length`: from the steep to the shallow ascending limb. Default 0.73.
    pub transition_norm_fiber_length: f64,
    /// `max_norm_active_fiber_length`. Default 1.8123.
    pub max_norm_active_fiber_length: f64,
    /// `shallow_ascending_slope`. Default 0.8616.
    pub shallow_ascending_slope: f64,
    /// `minimum_value` of the multiplier. Default 0.1 (a damped or rigid-tendon muscle uses 0).
    pub minimum_value: f64,
}

impl Default for ActiveForceLengthCurve {
    fn default() -> Self {
        ActiveForceLengthCurve {
            // OpenSim writes the default as this difference, which rounds differently from 0.4441.
            min_norm_active_fiber_length: 0.47 - 0.0259,
            transition_norm_fiber_length: 0.73,
            max_norm_active_fiber_length: 1.8123,
            shallow_ascending_slope: 0.8616,
            minimum_value: 0.1,
        }
    }
}

/// Properties of `ForceVelocityCurve`; velocity in units of `max_contraction_velocity`.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceVelocityCurve {
    /// `concentric_slope_at_vmax`. Default 0.
    pub concentric_slope_at_vmax: f64,
    /// `concentric_slope_near_vmax`. Default 0.25.
    pub concentric_slope_near_vmax: f64,
    /// `isometric_slope`. Default 5.
    pub isometric_slope: f64,
    /// `eccentric_slope_at_vmax`. Default 0.
    pub eccentric_slope_at_vmax: f64,
    /// `eccentric_slope_near_vmax`. Default 0.15.
    pub eccentric_slope_near_vmax: f64,
    /// `max_eccentric_velocity_force_multiplier`. Default 1.4.
    pub max_eccentric_velocity_force_multiplier: f64,
    /// `concentric_curviness`. Default 0.6.
    pub concentric_curviness: f64,
    /// `eccentric_curviness`. Default 0.9.
    pub eccentric_curviness: f64,
}

impl Default for ForceVelocityCurve {
    fn default() -> Self {
        ForceVelocityCurve {
            concentric_slope_at_vmax: 0.0,
            concentric_slope_near_vmax: 0.25,
            isometric_slope: 5.0,
            eccentric_slope_at_vmax: 0.0,
            eccentric_slope_near_vmax: 0.15,
            max_eccentric_velocity_force_multiplier: 1.4,
            concentric_curviness: 0.6,
            eccentric_curviness: 0.9,
        }
    }
}

/// Properties of `FiberForceLengthCurve`. The last three must be given together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct FiberForceLengthCurve {
    /// `strain_at_zero_force`. Default 0.
    pub strain_at_zero_force: f64,
    /// `strain_at_one_norm_force`. Default 0.7.
    pub strain_at_one_norm_force: f64,
    /// `stiffness_at_low_force`, F₀/l₀. Default none, meaning 0.2.
    pub stiffness_at_low_force: Option<f64>,
    /// `stiffness_at_one_norm_force`, F₀/l₀. Default none, meaning 2/(strain at one − strain at zero force).
    pub stiffness_at_one_norm_force: Option<f64>,
    /// `curviness`. Default none, meaning 0.75.
    pub curviness: Option<f64>,
}

impl Default for FiberForceLengthCurve {
    fn default() -> Self {
        FiberForceLengthCurve {
            strain_at_zero_force: 0.0,
            strain_at_one_norm_force: 0.7,
            stiffness_at_low_force: None,
            stiffness_at_one_norm_force: None,
            curviness: None,
        }
    }
}

/// Properties of `TendonForceLengthCurve`. The last three must be given together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonForceLengthCurve {
    /// `strain_at_one_norm_force`. Default 0.049.
    pub strain_at_one_norm_force: f64,
    /// `stiffness_at_one_norm_force`, F₀ per slack length. Default none, meaning 1.375/strain.
    pub stiffness_at_one_norm_force: Option<f64>,
    /// `norm_force_at_toe_end`. Default none, meaning 2/3.
    pub norm_force_at_toe_end: Option<f64>,
    /// `curviness`. Default none, meaning 0.5.
    pub curviness: Option<f64>,
}

impl Default for TendonForceLengthCurve {
    fn default() -> Self {
        TendonForceLengthCurve {
            strain_at_one_norm_force: 0.049,
            stiffness_at_one_norm_force: None,
            norm_force_at_toe_end: None,
            curviness: None,
        }
    }
}

/// Formulation of the tendon dynamics of a DeGrooteFregly2016Muscle: `tendon_compliance_dynamics_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TendonDynamicsMode {
    /// `explicit`: the force–velocity curve is inverted for the fiber velocity.
    #[default]
    Explicit,
    /// `implicit`: the rate of the tendon force is an unknown and the force balance a residual.
    Implicit,
}

/// Properties of `DeGrooteFregly2016Muscle`.
#[derive(Clone, Debug, PartialEq)]
pub struct DeGrooteFregly2016 {
    /// `activation_time_constant`, s. Default 0.015.
    pub activation_time_constant: f64,
    /// `deactivation_time_constant`, s. Default 0.060.
    pub deactivation_time_constant: f64,
    /// `default_activation`. Default 0.5.
    pub default_activation: f64,
    /// `default_normalized_tendon_force`, F₀. Default 0.5.
    pub default_normalized_tendon_force: f64,
    /// `active_force_width_scale`. Default 1.
    pub active_force_width_scale: f64,
    /// `fiber_damping`. Default 0.
    pub fiber_damping: f64,
    /// `passive_fiber_strain_at_one_norm_force`. Default 0.6.
    pub passive_fiber_strain_at_one_norm_force: f64,
    /// `tendon_strain_at_one_norm_force`. Default 0.049.
    pub tendon_strain_at_one_norm_force: f64,
    /// `ignore_passive_fiber_force`. Default false.
    pub ignore_passive_fiber_force: bool,
    /// `tendon_compliance_dynamics_mode`. Default `explicit`.
    pub tendon_compliance_dynamics_mode: TendonDynamicsMode,
    /// `activation_dynamics_smoothing`. Default 0.1.
    pub activation_dynamics_smoothing: f64,
}

impl Default for DeGrooteFregly2016 {
    fn default() -> Self {
        DeGrooteFregly2016 {
            activation_time_constant: 0.015,
            deactivation_time_constant: 0.060,
            default_activation: 0.5,
            default_normalized_tendon_force: 0.5,
            active_force_width_scale: 1.0,
            fiber_damping: 0.0,
            passive_fiber_strain_at_one_norm_force: 0.6,
            tendon_strain_at_one_norm_force: 0.049,
            ignore_passive_fiber_force: false,
            tendon_compliance_dynamics_mode: TendonDynamicsMode::Explicit,
            activation_dynamics_smoothing: 0.1,
        }
    }
}

/// Properties of `Schutte1993Muscle_Deprecated`. A curve that is `None` was not in the file; [`default_curves`] are
/// then used.
#[derive(Clone, Debug, PartialEq)]
pub struct Schutte1993 {
    /// `time_scale`, s. Default 0.1.
    pub time_scale: f64,
    /// `activation1`. Default 7.667.
    pub activation1: f64,
    /// `activation2`. Default 1.459854.
    pub activation2: f64,
    /// `damping`. Default 0.1.
    pub damping: f64,
    /// `tendon_force_length_curve`, of tendon strain.
    pub tendon_force_length_curve: Option<Function>,
    /// `active_force_length_curve`, of normalized fiber length.
    pub active_force_length_curve: Option<Function>,
    /// `passive_force_length_curve`, of normalized fiber length. `None` means exp(8(l − 1))/e⁴ here, not the default
    /// curve.
    pub passive_force_length_curve: Option<Function>,
}

impl Default for Schutte1993 {
    fn default() -> Self {
        Schutte1993 {
            time_scale: 0.1,
            activation1: 7.667,
            activation2: 1.459854,
            damping: 0.1,
            tendon_force_length_curve: None,
            active_force_length_curve: None,
            passive_force_length_curve: None,
        }
    }
}

/// Properties of `Delp1990Muscle_Deprecated`. A curve that is `None` was not in the file; [`default_curves`] are then
/// used.
#[derive(Clone, Debug, PartialEq)]
pub struct Delp1990 {
    /// `time_scale`, s. Default 0.1.
    pub time_scale: f64,
    /// `activation1`. Default 7.667.
    pub activation1: f64,
    /// `activation2`. Default 1.459854.
    pub activation2: f64,
    /// `mass`, normalized, between tendon and fibers. Default 0.00287.
    pub mass: f64,
    /// `tendon_force_length_curve`, of tendon strain.
    pub tendon_force_length_curve: Option<Function>,
    /// `active_force_length_curve`, of normalized fiber length.
    pub active_force_length_curve: Option<Function>,
    /// `passive_force_length_curve`, of normalized fiber length.
    pub passive_force_length_curve: Option<Function>,
    /// `force_velocity_curve`, of normalized fiber velocity.
    pub force_velocity_curve: Option<Function>,
}

impl Default for Delp1990 {
    fn default() -> Self {
        Delp1990 {
            time_scale: 0.1,
            activation1: 7.667,
            activation2: 1.459854,
            mass: 0.00287,
            tendon_force_length_curve: None,
            active_force_length_curve: None,
            passive_force_length_curve: None,
            force_velocity_curve: None,
        }
    }
}

/// Properties of `Thelen2003Muscle_Deprecated`.
#[derive(Clone, Debug, PartialEq)]
pub struct Thelen2003Deprecated {
    /// `activation_time_constant`, s. Default 0.01.
    pub activation_time_constant: f64,
    /// `deactivation_time_constant`, s. Default 0.04.
    pub deactivation_time_constant: f64,
    /// `Vmax`: l₀/s at full activation. Default 10.
    pub vmax: f64,
    /// `Vmax0`: l₀/s at zero activation. Default 5.
    pub vmax0: f64,
    /// `FmaxTendonStrain`. Default 0.033.
    pub fmax_tendon_strain: f64,
    /// `FmaxMuscleStrain`. Default 0.6.
    pub fmax_muscle_strain: f64,
    /// `KshapeActive`. Default 0.5.
    pub kshape_active: f64,
    /// `KshapePassive`. Default 4.
    pub kshape_passive: f64,
    /// `damping`. Default 0.05.
    pub damping: f64,
    /// `Af`. Default 0.3.
    pub af: f64,
    /// `Flen`. Default 1.8.
    pub flen: f64,
}

impl Default for Thelen2003Deprecated {
    fn default() -> Self {
        Thelen2003Deprecated {
            activation_time_constant: 0.01,
            deactivation_time_constant: 0.04,
            vmax: 10.0,
            vmax0: 5.0,
            fmax_tendon_strain: 0.033,
            fmax_muscle_strain: 0.6,
            kshape_active: 0.5,
            kshape_passive: 4.0,
            damping: 0.05,
            af: 0.3,
            flen: 1.8,
        }
    }
}

/// Properties of `RigidTendonMuscle`. A curve that is `None` was not in the file; [`default_curves`] are then used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidTendon {
    /// `active_force_length_curve`, of normalized fiber length.
    pub active_force_length_curve: Option<Function>,
    /// `passive_force_length_curve`, of normalized fiber length.
    pub passive_force_length_curve: Option<Function>,
    /// `force_velocity_curve`, of normalized fiber velocity.
    pub force_velocity_curve: Option<Function>,
}

/// Parameters of the muscle of van den Bogert, Blana and Heinrich (2011). The paper does not specify the curves; these
/// are for a Gaussian force–length curve, Hill's hyperbola and quadratic elastic elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Bogert2011 {
    /// Activation rate c₁ + c₂ at full excitation is 1/`activation_time_constant`, s. Default 0.01.
    pub activation_time_constant: f64,
    /// Deactivation rate c₂ is 1/`deactivation_time_constant`, s. Default 0.04.
    pub deactivation_time_constant: f64,
    /// Width w of the force–length curve exp(−((l − 1)/w)²). Default 0.63.
    pub force_length_width: f64,
    /// Hill's A, the curvature of the shortening hyperbola. Default 0.25.
    pub hill_a: f64,
    /// Maximum lengthening force, in units of F₀. Default 1.5.
    pub max_eccentric_force: f64,
    /// Tendon strain at F₀. Default 0.04.
    pub tendon_strain_at_max_force: f64,
    /// Slack length of the parallel element, in units of l₀. Default 1.
    pub parallel_slack_length: f64,
    /// Stiffness of the parallel element, F₀ per l₀². Default 1/w², reaching F₀ at l₀(1 + w).
    pub parallel_stiffness: f64,
    /// Damping of the fiber, F₀ per (l₀/s). Default 0.001.
    pub damping: f64,
    /// Initial activation. Default 0.05.
    pub default_activation: f64,
}

impl Default for Bogert2011 {
    fn default() -> Self {
        Bogert2011 {
            activation_time_constant: 0.01,
            deactivation_time_constant: 0.04,
            force_length_width: 0.63,
            hill_a: 0.25,
            max_eccentric_force: 1.5,
            tendon_strain_at_max_force: 0.04,
            parallel_slack_length: 1.0,
            parallel_stiffness: 1.0 / (0.63 * 0.63),
            damping: 0.001,
            default_activation: 0.05,
        }
    }
}

/// Parameters of the muscle of the DAS3 shoulder and arm model: Chadwick, Blana, van den Bogert and Kirsch (2009), with
/// the values of release 2 (2015).
#[derive(Clone, Debug, PartialEq)]
pub struct Chadwick2009 {
    /// Rate of activation at full excitation is 1/`activation_time_constant`, s. Default 0.01.
    pub activation_time_constant: f64,
    /// Rate at no excitation is 1/`deactivation_time_constant`, s. Default 0.04.
    pub deactivation_time_constant: f64,
    /// Width w of the force–length curve exp(−((l − 1)/w)²). Default 0.56.
    pub force_length_width: f64,
    /// Hill's A, the curvature of the shortening hyperbola. Default 0.25.
    pub hill_a: f64,
    /// Maximum lengthening force, in units of F₀. Default 1.5.
    pub max_eccentric_force: f64,
    /// Tendon strain at F₀. Default 0.04.
    pub tendon_strain_at_max_force: f64,
    /// Slack length of the parallel element, in units of l₀. Default 1.
    pub parallel_slack_length: f64,
    /// Stiffness of the parallel element, F₀ per l₀². Default 1/w².
    pub parallel_stiffness: f64,
    /// Stiffness of tendon and parallel element at all lengths, N/m. Default 10.
    pub linear_stiffness: f64,
    /// Damping of the fiber, F₀ per (l₀/s). Default 0.001.
    pub damping: f64,
    /// Initial activation. Default 0.
    pub default_activation: f64,
}

impl Default for Chadwick2009 {
    fn default() -> Self {
        Chadwick2009 {
            activation_time_constant: 0.01,
            deactivation_time_constant: 0.04,
            force_length_width: 0.56,
            hill_a: 0.25,
            max_eccentric_force: 1.5,
            tendon_strain_at_max_force: 0.04,
            parallel_slack_length: 1.0,
            parallel_stiffness: 1.0 / (0.56 * 0.56),
            linear_stiffness: 10.0,
            damping: 0.001,
            default_activation: 0.0,
        }
    }
}

/// Parameters of the muscle of De Groote et al. (2016) with the constants of the paper, as in Falisse et al. (2019).
/// Its control is the rate of activation, 1/s; limits due to excitation are two inequalities of the problem (Raasch et
/// al. 1997).
#[derive(Clone, Debug, PartialEq)]
pub struct DeGroote2016 {
    /// Damping of the fiber, in units of F₀ at the maximum shortening velocity; part of the active force. Default 0.01.
    pub fiber_damping: f64,
    /// k of the tendon curve. Default 35.
    pub tendon_stiffness: f64,
    /// Initial activation. Default 0.05.
    pub default_activation: f64,
    /// Initial tendon force over F₀. Default 0.1.
    pub default_normalized_tendon_force: f64,
}

impl Default for DeGroote2016 {
    fn default() -> Self {
        DeGroote2016 {
            fiber_damping: 0.01,
            tendon_stiffness: 35.0,
            default_activation: 0.05,
            default_normalized_tendon_force: 0.1,
        }
    }
}

/// Knots (x, y) of the natural cubic splines (`SimmSpline`) that OpenSim's older muscles use if a file gives none.
pub mod default_curves {
    /// Tendon force against tendon strain.
    pub const TENDON_FORCE_LENGTH: [(f64, f64); 17] = [
        (-10.0, 0.0),
        (-0.002, 0.0),
        (-0.001, 0.0),
        (0.0, 0.0),
        (0.00131, 0.0108),
        (0.00281, 0.0257),
        (0.00431, 0.0435),
        (0.00581, 0.0652),
        (0.00731, 0.0915),
        (0.00881, 0.123),
        (0.0103, 0.161),
        (0.0118, 0.208),
        (0.0123, 0.227),
        (9.2, 345.0),
        (9.201, 345.0),
        (9.202, 345.0),
        (20.0, 345.0),
    ];

    /// Active force against normalized fiber length.
    pub const ACTIVE_FORCE_LENGTH: [(f64, f64); 21] = [
        (-5.307692, 0.012188),
        (-4.307692, 0.021899),
        (-1.923077, 0.036466),
        (-0.884615, 0.052493),
        (-0.269231, 0.075312),
        (0.230769, 0.114158),
        (0.461538, 0.157859),
        (0.52725, 0.226667),
        (0.62875, 0.636667),
        (0.71875, 0.856667),
        (0.86125, 0.95),
        (1.045, 0.993333),
        (1.2175, 0.77),
        (1.43875, 0.246667),
        (1.5, 0.193821),
        (1.615385, 0.133252),
        (2.0, 0.072683),
        (2.961538, 0.044417),
        (3.692308, 0.036341),
        (5.461538, 0.021899),
        (9.901902, 0.007332),
    ];

    /// Passive force against normalized fiber length.
    pub const PASSIVE_FORCE_LENGTH: [(f64, f64); 13] = [
        (-5.0, 0.0),
        (0.998, 0.0),
        (0.999, 0.0),
        (1.0, 0.0),
        (1.1, 0.035),
        (1.2, 0.12),
        (1.3, 0.26),
        (1.4, 0.55),
        (1.5, 1.17),
        (1.6, 2.0),
        (1.601, 2.0),
        (1.602, 2.0),
        (5.0, 2.0),
    ];

    /// Force against normalized fiber velocity.
    pub const FORCE_VELOCITY: [(f64, f64); 42] = [
        (-1.001, 0.0),
        (-1.0, 0.0),
        (-0.95, 0.010417),
        (-0.9, 0.021739),
        (-0.85, 0.034091),
        (-0.8, 0.047619),
        (-0.75, 0.0625),
        (-0.7, 0.078947),
        (-0.65, 0.097222),
        (-0.6, 0.117647),
        (-0.55, 0.140625),
        (-0.5, 0.166667),
        (-0.45, 0.196429),
        (-0.4, 0.230769),
        (-0.35, 0.270833),
        (-0.3, 0.318182),
        (-0.25, 0.375),
        (-0.2, 0.444444),
        (-0.15, 0.53125),
        (-0.1, 0.642857),
        (-0.05, 0.791667),
        (0.0, 1.0),
        (0.05, 1.482014),
        (0.1, 1.601571),
        (0.15, 1.655791),
        (0.2, 1.686739),
        (0.25, 1.706751),
        (0.3, 1.720753),
        (0.35, 1.731099),
        (0.4, 1.739055),
        (0.45, 1.745365),
        (0.5, 1.75049),
        (0.55, 1.754736),
        (0.6, 1.758312),
        (0.65, 1.761364),
        (0.7, 1.763999),
        (0.75, 1.766298),
        (0.8, 1.768321),
        (0.85, 1.770115),
        (0.9, 1.771717),
        (0.95, 1.773155),
        (1.0, 1.774455),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constant is what OpenSim computes.
    #[test]
    fn analytic_maximum_pennation_angle() {
        assert_eq!(MAXIMUM_PENNATION_ANGLE, 0.1f64.acos());
    }
}

//! Muscles.

use super::Builder;
use super::functions::function;
use super::properties::PropertyReader;
use crate::muscle::{
    ActiveForceLengthCurve, Chadwick2009, DeGroote2016, DeGrooteFregly2016, Delp1990, FiberForceLengthCurve,
    ForceVelocityCurve, Millard2012Equilibrium, Muscle, MuscleKind, RigidTendon, Schutte1993,
    TendonDynamicsMode, TendonForceLengthCurve, Thelen2003, Thelen2003Deprecated,
};
use soleus_math::Function;

/// Whether a class is a muscle that can be built.
pub(super) fn is_muscle(class: &str) -> bool {
    matches!(
        class,
        "Thelen2003Muscle"
            | "Millard2012EquilibriumMuscle"
            | "DeGrooteFregly2016Muscle"
            | "Schutte1993Muscle_Deprecated"
            | "Delp1990Muscle_Deprecated"
            | "Thelen2003Muscle_Deprecated"
            | "RigidTendonMuscle"
            | "Chadwick2009Muscle"
            | "DeGroote2016Muscle"
    )
}

impl Builder<'_> {
    /// Makes a muscle; the caller has checked the class.
    pub(super) fn muscle(&self, p: &PropertyReader) -> Option<Muscle> {
        let kind = match p.element.tag.as_str() {
            "Thelen2003Muscle" => MuscleKind::Thelen2003(self.thelen2003(p)),
            "Millard2012EquilibriumMuscle" => {
                MuscleKind::Millard2012Equilibrium(Box::new(self.millard2012(p)))
            }
            "DeGrooteFregly2016Muscle" => MuscleKind::DeGrooteFregly2016(self.de_groote_fregly2016(p)),
            "Schutte1993Muscle_Deprecated" => MuscleKind::Schutte1993(Box::new(self.schutte1993(p))),
            "Delp1990Muscle_Deprecated" => MuscleKind::Delp1990(Box::new(self.delp1990(p))),
            "Thelen2003Muscle_Deprecated" => MuscleKind::Thelen2003Deprecated(self.thelen2003_deprecated(p)),
            "RigidTendonMuscle" => MuscleKind::RigidTendon(Box::new(self.rigid_tendon(p))),
            "Chadwick2009Muscle" => MuscleKind::Chadwick2009(self.chadwick2009(p)),
            "DeGroote2016Muscle" => MuscleKind::DeGroote2016(self.de_groote2016(p)),
            _ => return None,
        };
        let mut m = Muscle::new(kind);
        m.max_isometric_force = p.nonnegative("max_isometric_force", m.max_isometric_force);
        m.optimal_fiber_length = p.positive("optimal_fiber_length", m.optimal_fiber_length);
        m.tendon_slack_length = p.nonnegative("tendon_slack_length", m.tendon_slack_length);
        m.pennation_angle_at_optimal = p.finite("pennation_angle_at_optimal", m.pennation_angle_at_optimal);
        m.max_contraction_velocity = p.positive("max_contraction_velocity", m.max_contraction_velocity);
        m.ignore_tendon_compliance = p.boolean("ignore_tendon_compliance", m.ignore_tendon_compliance);
        m.ignore_activation_dynamics = p.boolean("ignore_activation_dynamics", m.ignore_activation_dynamics);
        m.min_control = p.number("min_control", m.min_control);
        m.max_control = p.number("max_control", m.max_control);
        // Muscles inherit `optimal_force` from PathActuator, where nothing reads it.
        p.skip(&["optimal_force"]);
        Some(m)
    }

    fn thelen2003(&self, p: &PropertyReader) -> Thelen2003 {
        let d = Thelen2003::default();
        Thelen2003 {
            fmax_tendon_strain: p.positive("FmaxTendonStrain", d.fmax_tendon_strain),
            fmax_muscle_strain: p.positive("FmaxMuscleStrain", d.fmax_muscle_strain),
            kshape_active: p.positive("KshapeActive", d.kshape_active),
            kshape_passive: p.positive("KshapePassive", d.kshape_passive),
            af: p.positive("Af", d.af),
            flen: p.positive("Flen", d.flen),
            fv_linear_extrap_threshold: p
                .positive("fv_linear_extrap_threshold", d.fv_linear_extrap_threshold),
            maximum_pennation_angle: p.finite("maximum_pennation_angle", d.maximum_pennation_angle),
            activation_time_constant: p.positive("activation_time_constant", d.activation_time_constant),
            deactivation_time_constant: p
                .positive("deactivation_time_constant", d.deactivation_time_constant),
            minimum_activation: p.nonnegative("minimum_activation", d.minimum_activation),
            default_activation: p.finite("default_activation", d.default_activation),
            default_fiber_length: p.finite("default_fiber_length", d.default_fiber_length),
        }
    }

    fn millard2012(&self, p: &PropertyReader) -> Millard2012Equilibrium {
        let d = Millard2012Equilibrium::default();
        Millard2012Equilibrium {
            fiber_damping: p.nonnegative("fiber_damping", d.fiber_damping),
            default_activation: p.finite("default_activation", d.default_activation),
            default_fiber_length: p.finite("default_fiber_length", d.default_fiber_length),
            activation_time_constant: p.positive("activation_time_constant", d.activation_time_constant),
            deactivation_time_constant: p
                .positive("deactivation_time_constant", d.deactivation_time_constant),
            minimum_activation: p.nonnegative("minimum_activation", d.minimum_activation),
            maximum_pennation_angle: p.finite("maximum_pennation_angle", d.maximum_pennation_angle),
            active_force_length_curve: self.active_force_length(p),
            force_velocity_curve: self.force_velocity(p),
            fiber_force_length_curve: self.fiber_force_length(p),
            tendon_force_length_curve: self.tendon_force_length(p),
        }
    }

    fn active_force_length(&self, p: &PropertyReader) -> ActiveForceLengthCurve {
        let d = ActiveForceLengthCurve::default();
        let Some(c) = p.part("ActiveForceLengthCurve") else { return d };
        let made = ActiveForceLengthCurve {
            min_norm_active_fiber_length: c
                .finite("min_norm_active_fiber_length", d.min_norm_active_fiber_length),
            transition_norm_fiber_length: c
                .finite("transition_norm_fiber_length", d.transition_norm_fiber_length),
            max_norm_active_fiber_length: c
                .finite("max_norm_active_fiber_length", d.max_norm_active_fiber_length),
            shallow_ascending_slope: c.finite("shallow_ascending_slope", d.shallow_ascending_slope),
            minimum_value: c.finite("minimum_value", d.minimum_value),
        };
        c.finish();
        made
    }

    fn force_velocity(&self, p: &PropertyReader) -> ForceVelocityCurve {
        let d = ForceVelocityCurve::default();
        let Some(c) = p.part("ForceVelocityCurve") else { return d };
        let made = ForceVelocityCurve {
            concentric_slope_at_vmax: c.finite("concentric_slope_at_vmax", d.concentric_slope_at_vmax),
            concentric_slope_near_vmax: c.finite("concentric_slope_near_vmax", d.concentric_slope_near_vmax),
            isometric_slope: c.finite("isometric_slope", d.isometric_slope),
            eccentric_slope_at_vmax: c.finite("eccentric_slope_at_vmax", d.eccentric_slope_at_vmax),
            eccentric_slope_near_vmax: c.finite("eccentric_slope_near_vmax", d.eccentric_slope_near_vmax),
            max_eccentric_velocity_force_multiplier: c
                .finite("max_eccentric_velocity_force_multiplier", d.max_eccentric_velocity_force_multiplier),
            concentric_curviness: c.finite("concentric_curviness", d.concentric_curviness),
            eccentric_curviness: c.finite("eccentric_curviness", d.eccentric_curviness),
        };
        c.finish();
        made
    }

    fn fiber_force_length(&self, p: &PropertyReader) -> FiberForceLengthCurve {
        let d = FiberForceLengthCurve::default();
        let Some(c) = p.part("FiberForceLengthCurve") else { return d };
        let made = FiberForceLengthCurve {
            strain_at_zero_force: c.finite("strain_at_zero_force", d.strain_at_zero_force),
            strain_at_one_norm_force: c.finite("strain_at_one_norm_force", d.strain_at_one_norm_force),
            stiffness_at_low_force: c.optional_number("stiffness_at_low_force"),
            stiffness_at_one_norm_force: c.optional_number("stiffness_at_one_norm_force"),
            curviness: c.optional_number("curviness"),
        };
        c.finish();
        made
    }

    fn tendon_force_length(&self, p: &PropertyReader) -> TendonForceLengthCurve {
        let d = TendonForceLengthCurve::default();
        let Some(c) = p.part("TendonForceLengthCurve") else { return d };
        let made = TendonForceLengthCurve {
            strain_at_one_norm_force: c.finite("strain_at_one_norm_force", d.strain_at_one_norm_force),
            stiffness_at_one_norm_force: c.optional_number("stiffness_at_one_norm_force"),
            norm_force_at_toe_end: c.optional_number("norm_force_at_toe_end"),
            curviness: c.optional_number("curviness"),
        };
        c.finish();
        made
    }

    fn de_groote_fregly2016(&self, p: &PropertyReader) -> DeGrooteFregly2016 {
        let d = DeGrooteFregly2016::default();
        let mode = p.string("tendon_compliance_dynamics_mode", "explicit");
        let tendon_compliance_dynamics_mode = match mode.as_str() {
            "explicit" => TendonDynamicsMode::Explicit,
            "implicit" => TendonDynamicsMode::Implicit,
            other => {
                let line = p.line_of("tendon_compliance_dynamics_mode");
                p.error(
                    line,
                    format!("`{other}` is not a tendon dynamics mode"),
                    "write explicit or implicit",
                );
                TendonDynamicsMode::Explicit
            }
        };
        let one_norm = "passive_fiber_strain_at_one_norm_force";
        DeGrooteFregly2016 {
            activation_time_constant: p.positive("activation_time_constant", d.activation_time_constant),
            deactivation_time_constant: p
                .positive("deactivation_time_constant", d.deactivation_time_constant),
            default_activation: p.finite("default_activation", d.default_activation),
            default_normalized_tendon_force: p
                .finite("default_normalized_tendon_force", d.default_normalized_tendon_force),
            active_force_width_scale: p.positive("active_force_width_scale", d.active_force_width_scale),
            fiber_damping: p.nonnegative("fiber_damping", d.fiber_damping),
            passive_fiber_strain_at_one_norm_force: p
                .positive(one_norm, d.passive_fiber_strain_at_one_norm_force),
            tendon_strain_at_one_norm_force: p
                .positive("tendon_strain_at_one_norm_force", d.tendon_strain_at_one_norm_force),
            ignore_passive_fiber_force: p.boolean("ignore_passive_fiber_force", d.ignore_passive_fiber_force),
            tendon_compliance_dynamics_mode,
            activation_dynamics_smoothing: p
                .finite("activation_dynamics_smoothing", d.activation_dynamics_smoothing),
        }
    }

    /// A curve given as a function, if the file gives it.
    fn function_curve(&self, p: &PropertyReader, tag: &'static str) -> Option<Function> {
        p.object(tag).and_then(|e| function(self.cx, e, p.path))
    }

    fn schutte1993(&self, p: &PropertyReader) -> Schutte1993 {
        let d = Schutte1993::default();
        Schutte1993 {
            time_scale: p.positive("time_scale", d.time_scale),
            activation1: p.finite("activation1", d.activation1),
            activation2: p.finite("activation2", d.activation2),
            damping: p.finite("damping", d.damping),
            tendon_force_length_curve: self.function_curve(p, "tendon_force_length_curve"),
            active_force_length_curve: self.function_curve(p, "active_force_length_curve"),
            passive_force_length_curve: self.function_curve(p, "passive_force_length_curve"),
        }
    }

    fn delp1990(&self, p: &PropertyReader) -> Delp1990 {
        let d = Delp1990::default();
        Delp1990 {
            time_scale: p.positive("time_scale", d.time_scale),
            activation1: p.finite("activation1", d.activation1),
            activation2: p.finite("activation2", d.activation2),
            mass: p.finite("mass", d.mass),
            tendon_force_length_curve: self.function_curve(p, "tendon_force_length_curve"),
            active_force_length_curve: self.function_curve(p, "active_force_length_curve"),
            passive_force_length_curve: self.function_curve(p, "passive_force_length_curve"),
            force_velocity_curve: self.function_curve(p, "force_velocity_curve"),
        }
    }

    fn thelen2003_deprecated(&self, p: &PropertyReader) -> Thelen2003Deprecated {
        let d = Thelen2003Deprecated::default();
        Thelen2003Deprecated {
            activation_time_constant: p.positive("activation_time_constant", d.activation_time_constant),
            deactivation_time_constant: p
                .positive("deactivation_time_constant", d.deactivation_time_constant),
            vmax: p.positive("Vmax", d.vmax),
            vmax0: p.positive("Vmax0", d.vmax0),
            fmax_tendon_strain: p.positive("FmaxTendonStrain", d.fmax_tendon_strain),
            fmax_muscle_strain: p.positive("FmaxMuscleStrain", d.fmax_muscle_strain),
            kshape_active: p.positive("KshapeActive", d.kshape_active),
            kshape_passive: p.positive("KshapePassive", d.kshape_passive),
            damping: p.finite("damping", d.damping),
            af: p.positive("Af", d.af),
            flen: p.positive("Flen", d.flen),
        }
    }

    fn chadwick2009(&self, p: &PropertyReader) -> Chadwick2009 {
        let d = Chadwick2009::default();
        Chadwick2009 {
            activation_time_constant: p.positive("activation_time_constant", d.activation_time_constant),
            deactivation_time_constant: p
                .positive("deactivation_time_constant", d.deactivation_time_constant),
            force_length_width: p.positive("force_length_width", d.force_length_width),
            hill_a: p.positive("hill_a", d.hill_a),
            max_eccentric_force: p.positive("max_eccentric_force", d.max_eccentric_force),
            tendon_strain_at_max_force: p
                .positive("tendon_strain_at_max_force", d.tendon_strain_at_max_force),
            parallel_slack_length: p.finite("parallel_slack_length", d.parallel_slack_length),
            parallel_stiffness: p.nonnegative("parallel_stiffness", d.parallel_stiffness),
            linear_stiffness: p.positive("linear_stiffness", d.linear_stiffness),
            damping: p.positive("damping", d.damping),
            default_activation: p.finite("default_activation", d.default_activation),
        }
    }

    fn de_groote2016(&self, p: &PropertyReader) -> DeGroote2016 {
        let d = DeGroote2016::default();
        DeGroote2016 {
            fiber_damping: p.positive("fiber_damping", d.fiber_damping),
            tendon_stiffness: p.positive("tendon_stiffness", d.tendon_stiffness),
            default_activation: p.finite("default_activation", d.default_activation),
            default_normalized_tendon_force: p
                .finite("default_normalized_tendon_force", d.default_normalized_tendon_force),
        }
    }

    fn rigid_tendon(&self, p: &PropertyReader) -> RigidTendon {
        RigidTendon {
            active_force_length_curve: self.function_curve(p, "active_force_length_curve"),
            passive_force_length_curve: self.function_curve(p, "passive_force_length_curve"),
            force_velocity_curve: self.function_curve(p, "force_velocity_curve"),
        }
    }
}

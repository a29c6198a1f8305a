//! Probes and metabolics.

use super::Builder;
use super::context::{Component, Kind};
use super::functions::function;
use super::paths::members;
use super::properties::PropertyReader;
use crate::document::Element;
use crate::force::ForceKind;
use crate::id::ForceId;
use crate::probe::{
    Bhargava2004, Bhargava2004Smoothed, MetabolicMuscle, MetabolicSmoothing, Probe, ProbeKind,
    ProbeOperation, Umberger2010,
};

impl Builder<'_> {
    /// Makes the probes in order of traversal.
    pub(super) fn probes(&mut self) {
        let cx = self.cx;
        for c in cx.components.iter().filter(|c| c.kind == Kind::Probe) {
            let p = PropertyReader::new(cx, c.element, &c.path);
            let enabled = p.boolean("enabled", true);
            let word = p.string("probe_operation", "value");
            let operation = ProbeOperation::from_word(&word).unwrap_or_else(|| {
                p.error(
                    p.line_of("probe_operation"),
                    format!("`{word}` is not a probe operation"),
                    "write value or integrate",
                );
                ProbeOperation::Value
            });
            let initial_conditions = p.list("initial_conditions_for_integration");
            let gain = p.finite("gain", 1.0);
            let kind = match c.class {
                "Umberger2010MuscleMetabolicsProbe" => ProbeKind::Umberger2010(self.umberger2010(&p)),
                "Bhargava2004MuscleMetabolicsProbe" => ProbeKind::Bhargava2004(self.bhargava2004(&p, c)),
                "Bhargava2004SmoothedMuscleMetabolics" => {
                    ProbeKind::Bhargava2004Smoothed(self.bhargava2004_smoothed(&p))
                }
                "ActuatorPowerProbe" => ProbeKind::ActuatorPower {
                    actuators: self.actuator_names(&p),
                    sum: p.boolean("sum_powers_together", false),
                    exponent: p.finite("exponent", 1.0),
                },
                "ActuatorForceProbe" => ProbeKind::ActuatorForce {
                    actuators: self.actuator_names(&p),
                    sum: p.boolean("sum_forces_together", false),
                    exponent: p.finite("exponent", 1.0),
                },
                "SystemEnergyProbe" => ProbeKind::SystemEnergy {
                    kinetic: p.boolean("compute_kinetic_energy", true),
                    potential: p.boolean("compute_potential_energy", true),
                },
                class => {
                    p.warn(c.element.line, format!("`{class}` is not supported; it reports nothing"), "");
                    self.note_unsupported(c, "it reports nothing; the motion does not change");
                    ProbeKind::Other
                }
            };
            if kind != ProbeKind::Other {
                p.finish();
            }
            let (name, path, class) = (c.name.clone(), c.path.clone(), c.class.to_string());
            self.model.probes.push(Probe {
                name,
                path,
                class,
                enabled,
                operation,
                initial_conditions,
                gain,
                kind,
            });
        }
    }

    fn actuator_names(&self, p: &PropertyReader) -> Vec<ForceId> {
        let line = p.line_of("actuator_names");
        p.words("actuator_names").iter().filter_map(|n| self.force_named(p.path, n, line)).collect()
    }

    fn umberger2010(&self, p: &PropertyReader) -> Umberger2010 {
        let set = p.find("Umberger2010MuscleMetabolicsProbe_MetabolicMuscleParameterSet");
        Umberger2010 {
            activation_maintenance_rate_on: p.boolean("activation_maintenance_rate_on", true),
            shortening_rate_on: p.boolean("shortening_rate_on", true),
            basal_rate_on: p.boolean("basal_rate_on", true),
            mechanical_work_rate_on: p.boolean("mechanical_work_rate_on", true),
            enforce_minimum_heat_rate_per_muscle: p.boolean("enforce_minimum_heat_rate_per_muscle", true),
            aerobic_factor: p.finite("aerobic_factor", 1.5),
            basal_coefficient: p.finite("basal_coefficient", 1.2),
            basal_exponent: p.finite("basal_exponent", 1.0),
            muscle_effort_scaling_factor: p.finite("muscle_effort_scaling_factor", 1.0),
            use_bhargava_recruitment_model: p.boolean("use_Bhargava_recruitment_model", true),
            include_negative_mechanical_work: p.boolean("include_negative_mechanical_work", true),
            forbid_negative_total_power: p.boolean("forbid_negative_total_power", true),
            report_total_metabolics_only: p.boolean("report_total_metabolics_only", true),
            muscles: members(set).filter_map(|e| self.metabolic_muscle(e, p.path)).collect(),
        }
    }

    fn bhargava2004(&self, p: &PropertyReader, c: &Component) -> Bhargava2004 {
        let set = p.find("Bhargava2004MuscleMetabolicsProbe_MetabolicMuscleParameterSet");
        let dependence = p.object("normalized_fiber_length_dependence_on_maintenance_rate");
        Bhargava2004 {
            activation_rate_on: p.boolean("activation_rate_on", true),
            maintenance_rate_on: p.boolean("maintenance_rate_on", true),
            shortening_rate_on: p.boolean("shortening_rate_on", true),
            basal_rate_on: p.boolean("basal_rate_on", true),
            mechanical_work_rate_on: p.boolean("mechanical_work_rate_on", true),
            enforce_minimum_heat_rate_per_muscle: p.boolean("enforce_minimum_heat_rate_per_muscle", true),
            fiber_length_dependence: dependence.and_then(|e| function(self.cx, e, &c.path)),
            use_force_dependent_shortening_prop_constant: p
                .boolean("use_force_dependent_shortening_prop_constant", false),
            basal_coefficient: p.finite("basal_coefficient", 1.2),
            basal_exponent: p.finite("basal_exponent", 1.0),
            muscle_effort_scaling_factor: p.finite("muscle_effort_scaling_factor", 1.0),
            include_negative_mechanical_work: p.boolean("include_negative_mechanical_work", true),
            forbid_negative_total_power: p.boolean("forbid_negative_total_power", true),
            report_total_metabolics_only: p.boolean("report_total_metabolics_only", true),
            muscles: members(set).filter_map(|e| self.metabolic_muscle(e, p.path)).collect(),
        }
    }

    fn bhargava2004_smoothed(&self, p: &PropertyReader) -> Bhargava2004Smoothed {
        let word = p.string("smoothing_type", "tanh");
        let smoothing_type = match word.as_str() {
            "tanh" => MetabolicSmoothing::Tanh,
            "huber" => MetabolicSmoothing::Huber,
            other => {
                p.error(
                    p.line_of("smoothing_type"),
                    format!("`{other}` is not a smoothing method"),
                    "write tanh or huber",
                );
                MetabolicSmoothing::Tanh
            }
        };
        Bhargava2004Smoothed {
            enforce_minimum_heat_rate_per_muscle: p.boolean("enforce_minimum_heat_rate_per_muscle", true),
            use_force_dependent_shortening_prop_constant: p
                .boolean("use_force_dependent_shortening_prop_constant", false),
            basal_coefficient: p.finite("basal_coefficient", 1.2),
            basal_exponent: p.finite("basal_exponent", 1.0),
            muscle_effort_scaling_factor: p.finite("muscle_effort_scaling_factor", 1.0),
            include_negative_mechanical_work: p.boolean("include_negative_mechanical_work", true),
            forbid_negative_total_power: p.boolean("forbid_negative_total_power", true),
            use_smoothing: p.boolean("use_smoothing", false),
            smoothing_type,
            velocity_smoothing: p.finite("velocity_smoothing", 10.0),
            power_smoothing: p.finite("power_smoothing", 10.0),
            heat_rate_smoothing: p.finite("heat_rate_smoothing", 10.0),
            muscles: p
                .objects("muscle_parameters")
                .filter_map(|e| self.metabolic_muscle(e, p.path))
                .collect(),
        }
    }

    /// Parameters of one muscle. The probes find the muscle by the name of the parameters, the
    /// smoothed class by a socket.
    fn metabolic_muscle(&self, e: &Element, path: &str) -> Option<MetabolicMuscle> {
        // A socket is relative to the parameters, which are a part of the owner.
        let owner = format!("{path}/{}", e.name());
        let p = PropertyReader::new(self.cx, e, &owner);
        let (text, line) = p.reference(&["socket_muscle"]).unwrap_or((e.name().to_string(), e.line));
        let muscle = self.force_named(&owner, &text, line);
        let use_provided = p.boolean("use_provided_muscle_mass", false);
        let mass = p.list("provided_muscle_mass").first().copied();
        if use_provided && !mass.is_some_and(|m| m > 0.0 && m.is_finite()) {
            let message = "`use_provided_muscle_mass` needs a `provided_muscle_mass` above zero";
            p.error(p.line_of("provided_muscle_mass"), message, "");
        }
        let made = |muscle| MetabolicMuscle {
            muscle,
            specific_tension: p.positive("specific_tension", 250_000.0),
            density: p.positive("density", 1059.7),
            ratio_slow_twitch_fibers: p.finite("ratio_slow_twitch_fibers", 0.5),
            provided_muscle_mass: mass.filter(|_| use_provided),
            activation_constant_slow_twitch: p.finite("activation_constant_slow_twitch", 40.0),
            activation_constant_fast_twitch: p.finite("activation_constant_fast_twitch", 133.0),
            maintenance_constant_slow_twitch: p.finite("maintenance_constant_slow_twitch", 74.0),
            maintenance_constant_fast_twitch: p.finite("maintenance_constant_fast_twitch", 111.0),
        };
        let made = made(muscle?);
        p.finish();
        if !matches!(self.model.forces[made.muscle.0].kind, ForceKind::Muscle(_)) {
            let message = format!("`{text}` is not a muscle");
            self.cx.diags.borrow_mut().error(line, path, message, "");
            return None;
        }
        Some(made)
    }
}

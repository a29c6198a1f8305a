//! Changes to all muscles.

use super::{ModelOperator, OperatorError};
use crate::controller::ControllerKind;
use crate::force::{ControlRange, ForceKind, PathActuator};
use crate::id::ForceId;
use crate::model::Model;
use crate::muscle::{DeGrooteFregly2016, Muscle, MuscleKind};
use crate::probe::ProbeKind;

/// Takes all muscles out; what controllers and probes said of them goes too.
pub(super) fn remove(model: &mut Model) {
    let (mut new, mut next) = (Vec::new(), 0);
    for f in &model.forces {
        let stays = !matches!(f.kind, ForceKind::Muscle(_));
        new.push(stays.then_some(ForceId(next)));
        next += usize::from(stays);
    }
    model.forces.retain(|f| !matches!(f.kind, ForceKind::Muscle(_)));
    let renumber = |list: &mut Vec<ForceId>| {
        *list = list.iter().filter_map(|id| new.get(id.0).copied().flatten()).collect();
    };
    for c in &mut model.controllers {
        if let ControllerKind::Prescribed { functions, .. } = &mut c.kind {
            let mut kept = c.actuators.iter().map(|id| new.get(id.0).is_some_and(Option::is_some));
            functions.retain(|_| kept.next().unwrap_or(true));
        }
        renumber(&mut c.actuators);
    }
    for p in &mut model.probes {
        match &mut p.kind {
            ProbeKind::Umberger2010(k) => k.muscles.clear(),
            ProbeKind::Bhargava2004(k) => k.muscles.clear(),
            ProbeKind::Bhargava2004Smoothed(k) => k.muscles.clear(),
            ProbeKind::ActuatorPower { actuators, .. } | ProbeKind::ActuatorForce { actuators, .. } => {
                renumber(actuators);
            }
            ProbeKind::SystemEnergy { .. } | ProbeKind::Other => {}
        }
    }
}

/// Changes every muscle in place.
pub(super) fn change(model: &mut Model, operator: &ModelOperator) -> Result<(), OperatorError> {
    for f in &mut model.forces {
        let ForceKind::Muscle(m) = &mut f.kind else { continue };
        match operator {
            ModelOperator::IgnoreActivationDynamics => m.ignore_activation_dynamics = true,
            ModelOperator::IgnoreTendonCompliance => m.ignore_tendon_compliance = true,
            ModelOperator::ScaleMaxIsometricForce(factor) => m.max_isometric_force *= factor,
            ModelOperator::ReplaceMusclesWithPathActuators => {
                let control = ControlRange { min: m.min_control, max: m.max_control };
                let optimal_force = m.max_isometric_force;
                f.class = "PathActuator".into();
                f.kind = ForceKind::PathActuator(PathActuator { control, optimal_force });
            }
            ModelOperator::ReplaceMusclesWithDeGrooteFregly2016 => {
                m.kind = MuscleKind::DeGrooteFregly2016(degroote_fregly(m).ok_or_else(|| {
                    let class = m.kind.class_name().to_string();
                    OperatorError::UnsupportedMuscle { name: f.name.clone(), class }
                })?);
                f.class = m.kind.class_name().into();
            }
            other => {
                let compliant = !m.ignore_tendon_compliance;
                let MuscleKind::DeGrooteFregly2016(d) = &mut m.kind else { continue };
                match other {
                    ModelOperator::TendonComplianceDynamicsMode(mode) if compliant => {
                        d.tendon_compliance_dynamics_mode = *mode;
                    }
                    ModelOperator::IgnorePassiveFiberForces => d.ignore_passive_fiber_force = true,
                    ModelOperator::PassiveFiberStrainAtOneNormForce(x) => {
                        d.passive_fiber_strain_at_one_norm_force = *x;
                    }
                    ModelOperator::ScaleActiveFiberForceCurveWidth(x) => d.active_force_width_scale = *x,
                    ModelOperator::FiberDamping(x) => d.fiber_damping = *x,
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// The De Groote–Fregly muscle nearest to a muscle of another class, as OpenSim's `replaceMuscles` takes it.
fn degroote_fregly(m: &Muscle) -> Option<DeGrooteFregly2016> {
    let base = DeGrooteFregly2016::default();
    Some(match &m.kind {
        MuscleKind::Millard2012Equilibrium(o) => DeGrooteFregly2016 {
            default_activation: o.default_activation,
            activation_time_constant: o.activation_time_constant,
            deactivation_time_constant: o.deactivation_time_constant,
            fiber_damping: o.fiber_damping,
            passive_fiber_strain_at_one_norm_force: o.fiber_force_length_curve.strain_at_one_norm_force,
            tendon_strain_at_one_norm_force: o.tendon_force_length_curve.strain_at_one_norm_force,
            ..base
        },
        MuscleKind::Thelen2003(o) => DeGrooteFregly2016 {
            default_activation: o.default_activation,
            activation_time_constant: o.activation_time_constant,
            deactivation_time_constant: o.deactivation_time_constant,
            // Thelen's muscle has no damping.
            fiber_damping: 0.0,
            passive_fiber_strain_at_one_norm_force: o.fmax_muscle_strain,
            tendon_strain_at_one_norm_force: o.fmax_tendon_strain,
            ..base
        },
        _ => return None,
    })
}

//! Compiled metabolic probes of a model.

use super::bhargava2004::{Bhargava2004, BhargavaMuscle, Switch};
use super::umberger2010::{Umberger2010, UmbergerMuscle};
use super::{MuscleAtWork, basal_rate, muscle_mass};
use crate::system::{Actor, State, System, Workspace};
use soleus_math::function::PiecewiseLinear;
use soleus_math::{Function, Real};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_model::id::ForceId;
use soleus_model::probe::{MetabolicMuscle, MetabolicSmoothing, Probe, ProbeKind};

/// A metabolic probe: its muscles and model.
#[derive(Clone, Debug)]
pub struct MetabolicProbe {
    /// Names of the values: total and, unless only the total is requested, basal and each muscle.
    pub labels: Vec<String>,
    basal: f64,
    gain: f64,
    total_only: bool,
    law: Law,
}

#[derive(Clone, Debug)]
enum Law {
    Umberger2010(Umberger2010, Vec<(ForceId, UmbergerMuscle)>),
    Bhargava2004(Box<Bhargava2004>, Vec<(ForceId, BhargavaMuscle)>),
}

impl MetabolicProbe {
    /// The compiled probe; `None` if it is of another kind.
    pub fn compile(model: &Model, probe: &Probe) -> Option<MetabolicProbe> {
        let (basal_on, coefficient, exponent, total_only, law) = match &probe.kind {
            ProbeKind::Umberger2010(p) => {
                let law = Umberger2010 {
                    activation_maintenance_rate_on: p.activation_maintenance_rate_on,
                    shortening_rate_on: p.shortening_rate_on,
                    mechanical_work_rate_on: p.mechanical_work_rate_on,
                    enforce_minimum_heat_rate_per_muscle: p.enforce_minimum_heat_rate_per_muscle,
                    aerobic_factor: p.aerobic_factor,
                    muscle_effort_scaling_factor: p.muscle_effort_scaling_factor,
                    use_bhargava_recruitment_model: p.use_bhargava_recruitment_model,
                    include_negative_mechanical_work: p.include_negative_mechanical_work,
                    forbid_negative_total_power: p.forbid_negative_total_power,
                };
                let law = Law::Umberger2010(law, muscles(model, &p.muscles, umberger_muscle));
                (p.basal_rate_on, p.basal_coefficient, p.basal_exponent, p.report_total_metabolics_only, law)
            }
            ProbeKind::Bhargava2004(p) => {
                let law = Bhargava2004 {
                    activation_rate_on: p.activation_rate_on,
                    maintenance_rate_on: p.maintenance_rate_on,
                    shortening_rate_on: p.shortening_rate_on,
                    mechanical_work_rate_on: p.mechanical_work_rate_on,
                    enforce_minimum_heat_rate_per_muscle: p.enforce_minimum_heat_rate_per_muscle,
                    fiber_length_dependence: p.fiber_length_dependence.clone(),
                    use_force_dependent_shortening_prop_constant: p
                        .use_force_dependent_shortening_prop_constant,
                    muscle_effort_scaling_factor: p.muscle_effort_scaling_factor,
                    include_negative_mechanical_work: p.include_negative_mechanical_work,
                    forbid_negative_total_power: p.forbid_negative_total_power,
                    ..Bhargava2004::default()
                };
                let law = Law::Bhargava2004(Box::new(law), muscles(model, &p.muscles, bhargava_muscle));
                (p.basal_rate_on, p.basal_coefficient, p.basal_exponent, p.report_total_metabolics_only, law)
            }
            ProbeKind::Bhargava2004Smoothed(p) => {
                // The smoothed class draws the last line of the dependence to 10, not to 2.
                let (x, y) = (vec![0.0, 0.5, 1.0, 1.5, 10.0], vec![0.5, 0.5, 1.0, 0.0, 0.0]);
                let law = Bhargava2004 {
                    enforce_minimum_heat_rate_per_muscle: p.enforce_minimum_heat_rate_per_muscle,
                    fiber_length_dependence: PiecewiseLinear::new(x, y).ok().map(Function::from),
                    use_force_dependent_shortening_prop_constant: p
                        .use_force_dependent_shortening_prop_constant,
                    muscle_effort_scaling_factor: p.muscle_effort_scaling_factor,
                    include_negative_mechanical_work: p.include_negative_mechanical_work,
                    forbid_negative_total_power: p.forbid_negative_total_power,
                    switch: match (p.use_smoothing, p.smoothing_type) {
                        (false, _) => Switch::Sharp,
                        (true, MetabolicSmoothing::Tanh) => Switch::Tanh,
                        (true, MetabolicSmoothing::Huber) => Switch::Huber,
                    },
                    velocity_smoothing: p.velocity_smoothing,
                    power_smoothing: p.power_smoothing,
                    heat_rate_smoothing: p.heat_rate_smoothing,
                    ..Bhargava2004::default()
                };
                let law = Law::Bhargava2004(Box::new(law), muscles(model, &p.muscles, bhargava_muscle));
                (true, p.basal_coefficient, p.basal_exponent, false, law)
            }
            _ => return None,
        };
        let basal = if basal_on { basal_rate(model.total_mass(), coefficient, exponent) } else { 0.0 };
        let mut labels = vec![format!("{}_TOTAL", probe.name)];
        if !total_only {
            labels.push(format!("{}_BASAL", probe.name));
            let ids: Vec<ForceId> = match &law {
                Law::Umberger2010(_, m) => m.iter().map(|m| m.0).collect(),
                Law::Bhargava2004(_, m) => m.iter().map(|m| m.0).collect(),
            };
            labels.extend(ids.iter().map(|id| format!("{}_{}", probe.name, model.forces[id.0].name)));
        }
        Some(MetabolicProbe { labels, basal, gain: probe.gain, total_only, law })
    }

    /// Appends the rates, W, in the order of the labels, after `compute_paths`.
    pub fn rates<T: Real>(
        &self,
        system: &System,
        x: &State<T>,
        controls: &[T],
        ws: &Workspace<T>,
        out: &mut Vec<T>,
    ) {
        let work = |id: &ForceId| {
            let f = &system.forces[id.0];
            let p = &ws.paths[id.0];
            match &f.actor {
                Actor::Muscle(m) => {
                    let e = controls[f.controls.start];
                    Some(MuscleAtWork::from(&m.info(p.length(), p.speed(), e, &x.z[f.states.clone()])))
                }
                Actor::Force(_) => None,
            }
        };
        let first = out.len();
        out.push(T::cst(self.basal));
        if !self.total_only {
            out.push(T::cst(self.basal));
        }
        let mut add = |rate: T| {
            out[first] += rate;
            if !self.total_only {
                out.push(rate);
            }
        };
        match &self.law {
            Law::Umberger2010(law, muscles) => {
                for (id, p) in muscles {
                    add(work(id).map_or(T::zero(), |w| law.rates(p, &w).total));
                }
            }
            Law::Bhargava2004(law, muscles) => {
                for (id, p) in muscles {
                    add(work(id).map_or(T::zero(), |w| law.rates(p, &w).total));
                }
            }
        }
        for rate in &mut out[first..] {
            *rate *= T::cst(self.gain);
        }
    }
}

/// The muscles of a probe that are muscles, each with its parameters.
fn muscles<P>(
    model: &Model,
    list: &[MetabolicMuscle],
    make: impl Fn(&soleus_model::muscle::Muscle, &MetabolicMuscle, f64) -> P,
) -> Vec<(ForceId, P)> {
    list.iter()
        .filter_map(|p| match &model.forces[p.muscle.0].kind {
            ForceKind::Muscle(m) => {
                let mass = p.provided_muscle_mass.unwrap_or_else(|| {
                    muscle_mass(m.max_isometric_force, m.optimal_fiber_length, p.specific_tension, p.density)
                });
                Some((p.muscle, make(m, p, mass)))
            }
            _ => None,
        })
        .collect()
}

fn umberger_muscle(m: &soleus_model::muscle::Muscle, p: &MetabolicMuscle, mass: f64) -> UmbergerMuscle {
    UmbergerMuscle {
        mass,
        optimal_fiber_length: m.optimal_fiber_length,
        max_contraction_velocity: m.max_contraction_velocity,
        ratio_slow_twitch_fibers: p.ratio_slow_twitch_fibers,
    }
}

fn bhargava_muscle(m: &soleus_model::muscle::Muscle, p: &MetabolicMuscle, mass: f64) -> BhargavaMuscle {
    BhargavaMuscle {
        mass,
        max_isometric_force: m.max_isometric_force,
        ratio_slow_twitch_fibers: p.ratio_slow_twitch_fibers,
        activation_constant_slow_twitch: p.activation_constant_slow_twitch,
        activation_constant_fast_twitch: p.activation_constant_fast_twitch,
        maintenance_constant_slow_twitch: p.maintenance_constant_slow_twitch,
        maintenance_constant_fast_twitch: p.maintenance_constant_fast_twitch,
    }
}

//! `ProbeReporter`: metabolic power and other probes of the model.

use super::actuation::at_work;
use super::{Analysis, AnalysisError, Moment, Output, Recorder};
use soleus_dynamics::System;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_dynamics::system::Actor;
use soleus_model::Model;
use soleus_model::probe::{Probe, ProbeKind, ProbeOperation};

const TEXT: &str =
    "\nProbes of the model: metabolic and mechanical power in W, forces in N, energies in J.\n\n";

/// Values of all enabled probes.
#[derive(Clone, Debug)]
pub struct ProbeReporter {
    probes: Vec<Quantity>,
    row: Vec<f64>,
    table: Recorder,
    /// Probes that were left out, with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

/// What a probe computes, ready for computing.
#[derive(Clone, Debug)]
enum Quantity {
    Metabolic(Box<MetabolicProbe>),
    /// Force or power of actuators: forces, which of the two, exponent, sum, gain.
    Actuators {
        list: Vec<usize>,
        part: usize,
        exponent: f64,
        sum: bool,
        gain: f64,
    },
    Energy {
        kinetic: bool,
        potential: bool,
        gain: f64,
    },
}

impl ProbeReporter {
    /// For a model. Probes that integrate over time, or look back in any other way, need a simulation and are left out.
    pub fn new(model: &Model) -> Self {
        let (mut probes, mut labels, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for p in model.probes.iter().filter(|p| p.enabled) {
            if p.operation != ProbeOperation::Value {
                left_out.push((p.name.clone(), "it looks back in time, which an analysis of states cannot"));
                continue;
            }
            match quantity(model, p) {
                Some((quantity, names)) => {
                    probes.push(quantity);
                    labels.extend(names);
                }
                None => left_out.push((p.name.clone(), "its class is not supported")),
            }
        }
        let row = Vec::with_capacity(labels.len());
        ProbeReporter { probes, row, table: Recorder::new("ModelProbes", TEXT, labels), left_out }
    }
}

fn quantity(model: &Model, p: &Probe) -> Option<(Quantity, Vec<String>)> {
    let actuators = |list: &[soleus_model::id::ForceId], part: usize, exponent: f64, sum: bool| {
        let names = match sum {
            true => vec![format!("{}_Summed", p.name)],
            false => list.iter().map(|f| format!("{}_{}", p.name, model.forces[f.0].name)).collect(),
        };
        let list = list.iter().map(|f| f.0).collect();
        (Quantity::Actuators { list, part, exponent, sum, gain: p.gain }, names)
    };
    match &p.kind {
        ProbeKind::ActuatorForce { actuators: list, sum, exponent } => {
            Some(actuators(list, 0, *exponent, *sum))
        }
        ProbeKind::ActuatorPower { actuators: list, sum, exponent } => {
            Some(actuators(list, 2, *exponent, *sum))
        }
        ProbeKind::SystemEnergy { kinetic, potential } => {
            let quantity = Quantity::Energy { kinetic: *kinetic, potential: *potential, gain: p.gain };
            Some((quantity, vec![p.name.clone()]))
        }
        _ => {
            let probe = MetabolicProbe::compile(model, p)?;
            let labels = probe.labels.clone();
            Some((Quantity::Metabolic(Box::new(probe)), labels))
        }
    }
}

/// Kinetic and potential energy of the model, J.
pub(super) fn energy(system: &System, now: &Moment) -> [f64; 2] {
    let kin = now.ws.kin.view(now.x.time);
    let (mut kinetic, mut potential) = (0.0, 0.0);
    for (b, i) in now.ws.kin.inertia.iter().enumerate() {
        let V = now.ws.kin.V_GB[b];
        kinetic += 0.5 * V.dot(i.momentum(V));
        potential -= system.gravity.dot(now.ws.kin.X_GB[b].p * i.mass + i.moment);
    }
    for (k, f) in system.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
        potential += match &f.actor {
            Actor::Muscle(m) => {
                let (path, e) = (&now.ws.paths[k], now.controls[f.controls.start]);
                m.info(path.length(), path.speed(), e, &now.x.z[f.states.clone()]).muscle_potential_energy
            }
            Actor::Force(c) if c.path_force().is_some() => c.path_energy(now.ws.paths[k].length()),
            Actor::Force(c) => c.energy_in_total(&kin),
        };
    }
    [kinetic, potential]
}

impl Analysis for ProbeReporter {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        self.row.clear();
        for probe in &self.probes {
            match probe {
                Quantity::Metabolic(p) => p.rates(now.system, now.x, now.controls, now.ws, &mut self.row),
                Quantity::Actuators { list, part, exponent, sum, gain } => {
                    let first = self.row.len();
                    let values = list.iter().map(|&i| gain * at_work(now, i, false)[*part].powf(*exponent));
                    self.row.extend(values);
                    if *sum {
                        let total = self.row[first..].iter().sum();
                        self.row.truncate(first);
                        self.row.push(total);
                    }
                }
                Quantity::Energy { kinetic, potential, gain } => {
                    let [k, p] = energy(now.system, now);
                    let part = |on: bool, e: f64| if on { e } else { 0.0 };
                    self.row.push(gain * (part(*kinetic, k) + part(*potential, p)));
                }
            }
        }
        self.table.push(now.x.time, self.row.iter().copied());
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        self.left_out.iter().map(|(name, why)| format!("probe `{name}` is left out: {why}")).collect()
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(vec![Output { suffix: "_probes".to_string(), table: self.table.table()? }])
    }
}

//! `ProbeReporter`: metabolic power and other probes of the model.

use super::actuation::at_work;
use super::probe_operation::{LookBack, operated};
use super::{Analysis, AnalysisError, Moment, Output, Recorder};
use soleus_dynamics::System;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_math::elementary;
use soleus_model::Model;
use soleus_model::probe::{Probe, ProbeKind, ProbeOperation};

const TEXT: &str =
    "\nProbes of the model: metabolic and mechanical power in W, forces in N, energies in J.\n\n";

/// Values of all enabled probes after their operations: integrals, rates, minima and maxima so far.
#[derive(Clone, Debug)]
pub struct ProbeReporter {
    probes: Vec<(Probe, Quantity)>,
    labels: Vec<String>,
    look_back: LookBack,
    every: usize,
    /// Times and numbers of rows, and values row by row.
    times: Vec<f64>,
    numbers: Vec<usize>,
    rows: Vec<f64>,
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
    /// For a model. If a probe uses earlier rows, every row of the motion must be recorded; every `every`-th row is
    /// reported.
    pub fn new(model: &Model, every: usize, look_back: LookBack) -> Self {
        let (mut probes, mut labels, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for p in model.probes.iter().filter(|p| p.enabled) {
            match quantity(model, p) {
                Some((quantity, names)) => {
                    probes.push((p.clone(), quantity));
                    labels.extend(names);
                }
                None => left_out.push((p.name.clone(), "its class is not supported")),
            }
        }
        let (times, numbers, rows) = (Vec::new(), Vec::new(), Vec::new());
        ProbeReporter { probes, labels, look_back, every: every.max(1), times, numbers, rows, left_out }
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
    let (mut kinetic, mut potential) = (0.0, system.energy_of_forces(now.x, now.controls, now.ws));
    for (b, i) in now.ws.kin.inertia.iter().enumerate() {
        let V = now.ws.kin.V_GB[b];
        kinetic += 0.5 * V.dot(i.momentum(V));
        potential -= system.gravity.dot(now.ws.kin.X_GB[b].p * i.mass + i.moment);
    }
    [kinetic, potential]
}

impl Analysis for ProbeReporter {
    fn looks_back(&self) -> bool {
        let forgets = self.look_back == LookBack::OpenSimAnalyze;
        !forgets && self.probes.iter().any(|(p, _)| p.operation != ProbeOperation::Value)
    }

    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        for (_, probe) in &self.probes {
            match probe {
                Quantity::Metabolic(p) => p.rates(now.system, now.x, now.controls, now.ws, &mut self.rows),
                Quantity::Actuators { list, part, exponent, sum, gain } => {
                    let first = self.rows.len();
                    let values = list
                        .iter()
                        .map(|&i| gain * elementary::powf(at_work(now, i, false)[*part], *exponent));
                    self.rows.extend(values);
                    if *sum {
                        let total = self.rows[first..].iter().sum();
                        self.rows.truncate(first);
                        self.rows.push(total);
                    }
                }
                Quantity::Energy { kinetic, potential, gain } => {
                    let [k, p] = energy(now.system, now);
                    let part = |on: bool, e: f64| if on { e } else { 0.0 };
                    self.rows.push(gain * (part(*kinetic, k) + part(*potential, p)));
                }
            }
        }
        self.times.push(now.x.time);
        self.numbers.push(now.row);
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        self.left_out.iter().map(|(name, why)| format!("probe `{name}` is skipped: {why}")).collect()
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        // Column by column, what each probe's operation makes of its values.
        let width = self.labels.len();
        let mut columns = Vec::with_capacity(width);
        for (p, quantity) in &self.probes {
            let parts = match quantity {
                Quantity::Metabolic(m) => m.labels.len(),
                Quantity::Actuators { list, sum, .. } => {
                    if *sum {
                        1
                    } else {
                        list.len()
                    }
                }
                Quantity::Energy { .. } => 1,
            };
            for part in 0..parts {
                let values: Vec<f64> = self.rows.iter().skip(columns.len()).step_by(width).copied().collect();
                let initial = p.initial_conditions.get(part).map_or(0.0, |x| x * p.gain);
                columns.push(operated(p.operation, (&self.times, values), initial, p.gain, self.look_back));
            }
        }
        let mut table = Recorder::new("ModelProbes", TEXT, self.labels);
        let last = self.times.len().saturating_sub(1);
        for (k, (&time, row)) in self.times.iter().zip(&self.numbers).enumerate() {
            if k == 0 || k == last || row % self.every == 0 {
                table.push(time, columns.iter().map(|c| c[k]));
            }
        }
        Ok(vec![Output { suffix: "_probes".to_string(), table: table.table()? }])
    }
}

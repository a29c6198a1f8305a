//! Masses that fit a motion and its loads: what residual reduction changes before it follows.

use crate::analysis::{HistoryError, StateHistory};
use crate::static_optimization::{Error, LoadSharing, Settings};
use soleus_dynamics::System;
use soleus_math::{Vec3, vec3};
use soleus_model::Model;
use std::ops::RangeInclusive;

/// Names of the residual actuators whose means are looked at: those of OpenSim's examples.
pub const RESIDUALS: [&str; 6] = ["FX", "FY", "FZ", "MX", "MY", "MZ"];
/// The mass centre is moved by so much at most along each axis, m: OpenSim's.
const FARTHEST: f64 = 0.1;

/// Means over time of the forces FX, FY, FZ (N) and moments MX, MY, MZ (N·m) that the actuators of these names would have to exert for
/// the model to move as given; 0 for what is not there.
pub fn average_residuals(
    model: &Model,
    system: &System,
    history: &StateHistory,
    rows: RangeInclusive<usize>,
) -> Result<[f64; 6], Error> {
    let udot = history.accelerations(system, rows.clone()).map_err(|e: HistoryError| Error::History(e))?;
    let mut sharing = LoadSharing::new(model, system, &Settings::default())?.without_limits();
    let forces = RESIDUALS.map(|name| model.forces.iter().position(|f| f.name == name && f.is_actuator()));
    let mut x = system.default_state.clone();
    let mut accelerations = vec![0.0; udot.len()];
    let (mut sum, mut before) = ([0.0; 6], None::<(f64, [f64; 6])>);
    let mut duration = 0.0;
    for (k, row) in rows.enumerate() {
        history.state(row, &mut x);
        for (a, column) in accelerations.iter_mut().zip(&udot) {
            *a = column[k];
        }
        sharing.solve(&x, &accelerations)?;
        let now = forces.map(|f| f.and_then(|f| sharing.force(f)).unwrap_or(0.0));
        match before {
            None => sum = now,
            Some((t, last)) => {
                let dt = x.time - t;
                if duration == 0.0 {
                    sum = [0.0; 6];
                }
                duration += dt;
                for i in 0..6 {
                    sum[i] += 0.5 * dt * (last[i] + now[i]);
                }
            }
        }
        before = Some((x.time, now));
    }
    if duration > 0.0 {
        sum.iter_mut().for_each(|s| *s /= duration);
    }
    Ok(sum)
}

/// What residuals say about the masses of a model, as OpenSim's `RRATool` reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct MassAdjustment {
    /// The body whose mass centre moves.
    pub body: usize,
    /// Means of FX, FY, FZ, MX, MY, MZ before, N and N·m.
    pub before: [f64; 6],
    /// The mass centre before and after, m, in the body.
    pub mass_center: [Vec3<f64>; 2],
    /// How much lighter or heavier the whole model should be, kg.
    pub mass_change: f64,
    /// Mass before, and the one that is recommended, kg, of each body but ground.
    pub masses: Vec<(String, f64, f64)>,
}

impl MassAdjustment {
    /// From mean residuals: M_Z and M_X move the mass centre of a body forwards and sideways by moment over weight, at most 0.1 m; F_Y is
    /// weight that the model has too much or too little of, shared among bodies by their mass. Axes are those of a gait model with Y up.
    pub fn new(model: &Model, body: usize, means: [f64; 6]) -> Self {
        let g = model.gravity.to_array()[1];
        let weight = g.abs() * model.bodies[body].mass;
        let limited = |x: f64| x.clamp(-FARTHEST, FARTHEST);
        let (dx, dz) = (limited(means[5] / weight), limited(-means[3] / weight));
        let before = model.bodies[body].mass_center;
        let [x, y, z] = before.to_array();
        let total: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
        let mass_change = means[1] / g;
        let changed = |mass: f64| mass + mass_change * mass / total;
        MassAdjustment {
            body,
            before: means,
            mass_center: [before, vec3(x - dx, y, z - dz)],
            mass_change,
            masses: model.bodies.iter().skip(1).map(|b| (b.name.clone(), b.mass, changed(b.mass))).collect(),
        }
    }
}

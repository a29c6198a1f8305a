//! Parameters that are estimated in addition to the motion.

use super::{Measured, Settings};
use soleus_dynamics::System;
use soleus_dynamics::system::SystemError;
use soleus_math::Vec3;
use soleus_model::Model;
use soleus_model::force::{Force, ForceKind};

/// One number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Offset of a target's marker along an axis of its body: position among the targets.
    Marker { target: usize, axis: usize },
    /// Change of a body's mass as a part of it.
    Mass { body: usize },
    /// Shift of a body's mass centre along an axis.
    MassCenter { body: usize, axis: usize },
    /// Shift of the point of a load along an axis: position among the loads.
    LoadOffset { load: usize, axis: usize },
    /// Torque of a load along its force, m: what a shift of its point is to the torques across it.
    LoadTwist { load: usize },
    /// Gain of a load's forces and torques, as a part of them.
    LoadGain { load: usize },
    /// Turn of a load's axes about an axis of ground, rad.
    LoadTilt { load: usize, axis: usize },
    /// Delay of all loads.
    LoadDelay,
}

/// An estimated parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Description.
    pub name: String,
    /// Change: m, s, rad, or a fraction of the mass or the force.
    pub value: f64,
    /// Prior standard deviation, in the same unit.
    pub sd: f64,
}

/// All of them with their values, and what they change.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    pub list: Vec<(Kind, f64)>,
    /// In units of the standard deviation.
    pub values: Vec<f64>,
    model: Model,
    loads: Vec<Force>,
    /// Markers of the targets.
    pub markers: Vec<usize>,
}

impl Parameters {
    pub fn new(model: &Model, loads: &[Force], measured: &Measured, s: &Settings) -> Self {
        let mut list = Vec::new();
        let markers: Vec<usize> = match measured {
            Measured::Markers(targets) => targets.iter().map(|t| t.marker).collect(),
            Measured::Motion => Vec::new(),
        };
        if s.marker_offset_sd > 0.0 {
            for target in 0..markers.len() {
                list.extend((0..3).map(|axis| (Kind::Marker { target, axis }, s.marker_offset_sd)));
            }
        }
        let bodies: Vec<usize> = (1..model.bodies.len()).filter(|b| model.bodies[*b].mass > 0.0).collect();
        if s.mass_sd > 0.0 && bodies.len() > 1 {
            list.extend(bodies.iter().map(|&body| (Kind::Mass { body }, s.mass_sd)));
        }
        if s.mass_center_sd > 0.0 {
            for &body in &bodies {
                list.extend((0..3).map(|axis| (Kind::MassCenter { body, axis }, s.mass_center_sd)));
            }
        }
        for (load, force) in loads.iter().enumerate() {
            // A load without a point acts at the origin of its frame; one in a moving frame has no plate.
            let ForceKind::ExternalForce(e) = &force.kind else { continue };
            let is_plate = e.point.is_some()
                && e.force.is_some()
                && model.frames[e.force_expressed_in_body.0].body.0 == 0
                && model.frames[e.point_expressed_in_body.0].body.0 == 0;
            if s.load_offset_sd > 0.0 && is_plate && force.enabled {
                list.extend((0..3).map(|axis| (Kind::LoadOffset { load, axis }, s.load_offset_sd)));
                list.push((Kind::LoadTwist { load }, s.load_offset_sd));
            }
            if s.load_gain_sd > 0.0 && is_plate && force.enabled {
                list.push((Kind::LoadGain { load }, s.load_gain_sd));
                list.extend((0..3).map(|axis| (Kind::LoadTilt { load, axis }, s.load_gain_sd)));
            }
        }
        if s.load_delay_sd > 0.0 && !loads.is_empty() {
            list.push((Kind::LoadDelay, s.load_delay_sd));
        }
        Parameters {
            values: vec![0.0; list.len()],
            list,
            model: model.clone(),
            loads: loads.to_vec(),
            markers,
        }
    }

    /// Whether masses change.
    pub fn has_mass(&self) -> bool {
        self.list.iter().any(|(k, _)| matches!(k, Kind::Mass { .. }))
    }

    /// Mass of a body as it was, kg.
    pub fn given_mass(&self, body: usize) -> f64 {
        self.model.bodies[body].mass
    }

    /// Mass of all bodies as it was, kg.
    pub fn total_mass(&self) -> f64 {
        self.model.bodies.iter().map(|b| b.mass).sum()
    }

    /// Central inertia of a body as it was, kg m².
    pub fn given_inertia(&self, body: usize) -> soleus_math::SymMat33<f64> {
        self.model.bodies[body].inertia
    }

    pub fn move_by(&mut self, step: &[f64], part: f64) {
        for ((x, d), (kind, sd)) in self.values.iter_mut().zip(step).zip(&self.list) {
            *x += part * d;
            if matches!(kind, Kind::Mass { .. }) {
                // No body loses more than nine tenths of its mass.
                *x = x.max(-0.9 / sd);
            }
        }
    }

    /// ½ Σ (p / σ_p)².
    pub fn prior(&self) -> f64 {
        0.5 * self.values.iter().map(|x| x * x).sum::<f64>()
    }

    /// The model and the loads with these numbers.
    pub fn applied(&self) -> (Model, Vec<Force>) {
        let (mut model, mut loads) = (self.model.clone(), self.loads.clone());
        for ((kind, sd), x) in self.list.iter().zip(&self.values) {
            let x = sd * x;
            match *kind {
                Kind::Marker { target, axis } => {
                    // Offsets are along the axes of the marker's frame.
                    model.markers[self.markers[target]].location += Vec3::unit(axis) * x;
                }
                Kind::Mass { body } => {
                    let b = &mut model.bodies[body];
                    b.mass *= 1.0 + x;
                    b.inertia = b.inertia.scale(1.0 + x);
                }
                Kind::MassCenter { body, axis } => model.bodies[body].mass_center += Vec3::unit(axis) * x,
                Kind::LoadOffset { load, axis } => {
                    if let ForceKind::ExternalForce(e) = &mut loads[load].kind
                        && let Some(point) = &mut e.point
                    {
                        point[axis].iter_mut().for_each(|p| *p += x);
                    }
                }
                Kind::LoadTwist { load } => self.add_twist(&mut loads, load, x),
                Kind::LoadGain { load } => self.add_forces(&mut loads, load, |f| f * x),
                Kind::LoadTilt { load, axis } => {
                    self.add_forces(&mut loads, load, |f| Vec3::unit(axis).cross(f) * x);
                }
                Kind::LoadDelay => {
                    for load in &mut loads {
                        if let ForceKind::ExternalForce(e) = &mut load.kind {
                            e.time.iter_mut().for_each(|t| *t += x);
                        }
                    }
                }
            }
        }
        (model, loads)
    }

    /// Adds to the forces and torques of a load what its measured ones make of a number.
    fn add_forces(&self, loads: &mut [Force], load: usize, of: impl Fn(Vec3<f64>) -> Vec3<f64>) {
        let (ForceKind::ExternalForce(given), ForceKind::ExternalForce(e)) =
            (&self.loads[load].kind, &mut loads[load].kind)
        else {
            return;
        };
        for (given, changed) in [(&given.force, &mut e.force), (&given.torque, &mut e.torque)] {
            let (Some([x, y, z]), Some(changed)) = (given, changed) else { continue };
            for k in 0..x.len().min(y.len()).min(z.len()) {
                let more = of(Vec3 { x: x[k], y: y[k], z: z[k] }).to_array();
                changed.iter_mut().zip(more).for_each(|(c, m)| c[k] += m);
            }
        }
    }

    /// Adds torques along the measured forces of a load: so many N m for each N.
    fn add_twist(&self, loads: &mut [Force], load: usize, of_each: f64) {
        let (ForceKind::ExternalForce(given), ForceKind::ExternalForce(e)) =
            (&self.loads[load].kind, &mut loads[load].kind)
        else {
            return;
        };
        let Some(force) = &given.force else { return };
        let torque = e.torque.get_or_insert_with(|| [0, 1, 2].map(|axis| vec![0.0; force[axis].len()]));
        for (torque, force) in torque.iter_mut().zip(force) {
            torque.iter_mut().zip(force).for_each(|(t, f)| *t += of_each * f);
        }
    }

    /// The loads as they were measured.
    pub fn measured_loads(&self) -> &[Force] {
        &self.loads
    }

    /// The model with its loads.
    pub fn loaded(&self) -> Model {
        let (mut model, loads) = self.applied();
        model.forces.extend(loads);
        model
    }

    /// Ready for computing.
    pub fn system(&self) -> Result<System, SystemError> {
        System::compile(&self.loaded())
    }

    pub fn quantities(&self, model: &Model) -> Vec<Quantity> {
        let axis_name = |a: usize| ["x", "y", "z"][a];
        let of = |((kind, sd), x): (&(Kind, f64), &f64)| {
            let name = match *kind {
                Kind::Marker { target, axis } => {
                    format!("marker {} {}", model.markers[self.markers[target]].name, axis_name(axis))
                }
                Kind::Mass { body } => format!("mass of {}", model.bodies[body].name),
                Kind::MassCenter { body, axis } => {
                    format!("mass centre of {} {}", model.bodies[body].name, axis_name(axis))
                }
                Kind::LoadOffset { load, axis } => {
                    format!("point of {} {}", self.loads[load].name, axis_name(axis))
                }
                Kind::LoadTwist { load } => format!("free moment of {} per N", self.loads[load].name),
                Kind::LoadGain { load } => format!("gain of {}", self.loads[load].name),
                Kind::LoadTilt { load, axis } => {
                    format!("tilt of {} {}", self.loads[load].name, axis_name(axis))
                }
                Kind::LoadDelay => "delay of the loads".to_string(),
            };
            Quantity { name, value: sd * x, sd: *sd }
        };
        self.list.iter().zip(&self.values).map(of).collect()
    }
}

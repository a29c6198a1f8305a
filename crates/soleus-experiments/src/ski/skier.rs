//! The planar person on skis.

use crate::desk;
use soleus::Error;
use soleus::prediction;
use soleus_control::gait::Planar;
use soleus_control::{Bounds, Problem, Variable};
use soleus_dynamics::implicit::ReactionSum;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{BodyFrame, State};
use soleus_math::{Transform, Vec3, vec3};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use std::path::Path;

const TEXT: &str = include_str!("../../../../models/skier.osim");
const FILE: &str = "models/skier.osim";

/// Points of contact on each ski, under the boot and towards both ends.
const POINTS: [&str; 4] = ["heel", "toe", "tip", "tail"];

/// What may differ from the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gear {
    /// Stiffness and damping of the skis over those of the file.
    pub bending: f64,
    /// Stiffness of the snow over that of the file; the height over which it sets in is lower by as much.
    pub firmness: f64,
}

/// As in the file.
pub const USUAL: Gear = Gear { bending: 1.0, firmness: 1.0 };

/// The model of the file with other gear.
pub fn model(gear: Gear) -> Result<Model, Error> {
    let (model, diagnostics) = soleus_io::osim::read_model(TEXT.as_bytes(), FILE);
    desk::enter(None, false, |cx| cx.report(&diagnostics));
    let mut model = model.ok_or_else(|| desk::errors(Path::new(FILE), &diagnostics))?;
    for f in &mut model.forces {
        match &mut f.kind {
            ForceKind::SpringGeneralizedForce(s) if f.name.starts_with("bending_") => {
                s.stiffness *= gear.bending;
                s.viscosity *= gear.bending;
            }
            ForceKind::Bogert2011Contact(c) => {
                c.stiffness *= gear.firmness;
                c.transition_height /= gear.firmness;
            }
            _ => {}
        }
    }
    Ok(model)
}

/// A skier ready to be asked.
#[derive(Clone)]
pub struct Skier {
    /// The person; `feet` are all contacts of each ski.
    pub planar: Planar,
    /// Angles of the front and the rear part of each ski, right then left.
    pub skis: [[usize; 2]; 2],
    /// N, with skis and boots.
    pub weight: f64,
}

impl Skier {
    /// With some gear.
    pub fn new(gear: Gear) -> Result<Skier, Error> {
        let model = model(gear)?;
        let missing = |name: &str| Error::content(Path::new(FILE), 0, name, "missing".to_string(), "");
        let mut planar = prediction::walker(model)?;
        let weight = planar.base.model.total_mass() * planar.base.model.gravity.norm();
        let mut skis = [[0; 2]; 2];
        for (s, side) in ["r", "l"].into_iter().enumerate() {
            for (k, part) in ["front", "rear"].into_iter().enumerate() {
                let name = format!("/ski_{part}_angle_{side}/value");
                let found = planar.base.states.iter().position(|n| n.ends_with(&name));
                skis[s][k] = found.ok_or_else(|| missing(&name))?;
            }
            let contact = |name: &str| {
                let name = format!("{name}_{side}");
                let i = planar.base.model.forces.iter().position(|f| f.name == name);
                let body = i.and_then(|i| match &planar.base.system.forces[i].actor {
                    Actor::Force(law) => law.touches().0.into_iter().find(|&b| b != 0),
                    Actor::Muscle(_) => None,
                });
                i.zip(body).ok_or_else(|| missing(&name))
            };
            planar.feet[s] = POINTS.iter().map(|p| contact(p)).collect::<Result<_, _>>()?;
        }
        Ok(Skier { planar, skis, weight })
    }

    /// Number of coordinates.
    pub fn n(&self) -> usize {
        self.planar.base.num_coordinates()
    }

    /// The dynamics with wide bounds: nothing of the landing but that excitations and activations are 0 to 1.
    pub fn problem(&self) -> Problem {
        let (p, n) = (&self.planar, self.n());
        let mut problem = p.problem();
        for (i, v) in problem.states.iter_mut().enumerate() {
            let translates = [p.forward, p.height].contains(&(i % n));
            let (lower, upper) = match i {
                _ if i == p.forward => (-5.0, 50.0),
                _ if i == p.height => (0.2, 3.0),
                _ if i == p.trunk => (-1.8, 1.2),
                _ if i < n && self.is_ski(i) => (-0.7, 0.7),
                _ if i < n => continue,
                _ if i < 2 * n && translates => (-40.0, 40.0),
                _ if i < 2 * n && self.is_ski(i - n) => (-60.0, 60.0),
                _ if i < 2 * n => (-30.0, 30.0),
                _ if v.name.ends_with("/activation") => (0.0, 1.0),
                _ => continue,
            };
            *v = Variable::new(v.name.clone(), Bounds::new(lower, upper));
        }
        for v in &mut problem.controls {
            *v = Variable::new(v.name.clone(), Bounds::new(0.0, 1.0));
        }
        problem
    }

    /// Whether a coordinate is the angle of a part of a ski.
    pub fn is_ski(&self, coordinate: usize) -> bool {
        self.skis.iter().flatten().any(|&i| i == coordinate)
    }

    /// A state of the model from a row of states.
    pub fn state(&self, row: &[f64], time: f64) -> State<f64> {
        let n = self.n();
        let mut x = State { time, ..self.planar.base.system.default_state.clone() };
        x.q.copy_from_slice(&row[..n]);
        x.u.copy_from_slice(&row[n..2 * n]);
        x.z.copy_from_slice(&row[2 * n..]);
        x
    }

    /// A row of states with activations equal to excitations and fibers in equilibrium.
    pub fn row(&self, q: &[f64], u: &[f64], excitations: &[f64]) -> Vec<f64> {
        let base = &self.planar.base;
        let mut x = base.system.default_state.clone();
        x.q.copy_from_slice(q);
        x.u.copy_from_slice(u);
        for f in &base.system.forces {
            if let (Actor::Muscle(_), Some(&e)) = (&f.actor, excitations.get(f.controls.start)) {
                let k = f.states.clone().find(|&k| base.states[2 * q.len() + k].ends_with("/activation"));
                k.into_iter().for_each(|k| x.z[k] = e);
            }
        }
        // A fiber without equilibrium keeps its default length; these are starts only.
        base.system.solve_equilibrium(&mut x, excitations, &mut base.system.workspace());
        x.q.iter().chain(&x.u).chain(&x.z).copied().collect()
    }

    /// Forces of the snow on each ski (right, left) along the slope and normal to it, N, at each state.
    pub fn snow(&self, states: &[State<f64>]) -> [Vec<[f64; 2]>; 2] {
        let system = &self.planar.base.system;
        [0, 1].map(|s| {
            let Some(sum) = ReactionSum::new(system, &self.planar.feet[s]) else {
                return vec![[0.0; 2]; states.len()];
            };
            let mut scratch = sum.scratch(system);
            let force = |x: &State<f64>| {
                sum.compute_value(system, &x.q, &x.u, &mut scratch);
                [scratch.value.x, scratch.value.y]
            };
            states.iter().map(force).collect()
        })
    }

    /// Muscles among the forces, with their maximal isometric force, N.
    pub fn muscles(&self) -> Vec<(usize, f64)> {
        let forces = self.planar.base.model.forces.iter().enumerate();
        let muscle = |(i, f): (usize, &soleus_model::Force)| match &f.kind {
            ForceKind::Muscle(m) => Some((i, m.max_isometric_force)),
            _ => None,
        };
        forces.filter_map(muscle).collect()
    }

    /// Where inertial sensors sit: on the trunk, the thighs and the shanks, right before left.
    pub fn sensors(&self) -> Vec<BodyFrame> {
        let places: [(&str, Vec3<f64>); 5] = [
            ("trunk", vec3(-0.1, 0.3, 0.0)),
            ("thigh_r", vec3(0.05, -0.2, 0.0)),
            ("shank_r", vec3(0.04, -0.2, 0.0)),
            ("thigh_l", vec3(0.05, -0.2, 0.0)),
            ("shank_l", vec3(0.04, -0.2, 0.0)),
        ];
        let base = &self.planar.base;
        let frame = |(name, p): (&str, Vec3<f64>)| {
            let i = base.model.bodies.iter().position(|b| b.name == name)?;
            let body = base.system.tree.node_of_body[i];
            Some(BodyFrame { body, X_BF: Transform::from_offset(p, Vec3::zero()) })
        };
        places.into_iter().filter_map(frame).collect()
    }
}

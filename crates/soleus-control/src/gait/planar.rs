//! A planar walking model with a trunk and two legs.

use super::{Course, Signal, Source};
use crate::musculoskeletal::{ModelProblem, ParameterRange};
use crate::problem::{Bounds, Problem, Reserve, Variable};
use crate::solution::Trajectory;
use soleus_dynamics::system::Actor;
use soleus_model::Model;
use soleus_model::force::{ForceKind, SpringGeneralizedForce};
use std::f64::consts::PI;

/// A planar walker: meaning of its states, common bounds, and a straight-line initial guess.
///
/// Coordinates are `trunk_x`, `trunk_y`, `trunk_angle` and `hip_angle_r`, `knee_angle_r`, `ankle_angle_r`, and the same
/// with `_l`; knee flexion is negative. Ground contacts are named `heel_r`, `toe_r`, ….
#[derive(Clone)]
pub struct Planar {
    /// The model as a problem.
    pub base: ModelProblem,
    /// State of the forward position.
    pub forward: usize,
    /// State of the height.
    pub height: usize,
    /// State of the trunk angle, counter-clockwise.
    pub trunk: usize,
    /// States of hip, knee and ankle, right then left.
    pub legs: [[usize; 3]; 2],
    /// Contact forces of each foot, with the body they act on.
    pub feet: [Vec<(usize, usize)>; 2],
}

/// A component that a planar walker needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model has no {what} `{name}`; a planar walker needs one")]
pub struct NoWalker {
    /// Kind of component.
    pub what: &'static str,
    /// Its name.
    pub name: String,
}

/// Muscles that a right leg with a prosthesis below the knee lacks.
const AT_RIGHT_ANKLE: [&str; 3] = ["gastroc_r", "soleus_r", "tibialis_ant_r"];

/// Adds a prosthesis below the right knee: removes muscles and stops at the ankle and adds a spring of this stiffness
/// (N·m/rad) with a damping of 0.1 N·m·s/rad.
pub fn fit_prosthesis(model: &mut Model, stiffness: f64) -> Result<(), NoWalker> {
    let missing = |what: &'static str, name: &str| NoWalker { what, name: name.into() };
    let coordinate =
        model.coordinate("ankle_angle_r").ok_or_else(|| missing("coordinate", "ankle_angle_r"))?;
    let mut force = |name: &str| {
        let i = model.forces.iter().position(|f| f.name == name);
        i.ok_or_else(|| missing("force", name))
    };
    let places = AT_RIGHT_ANKLE.map(&mut force);
    let stops = force("stops_ankle_r")?;
    for i in places {
        model.forces[i?].enabled = false;
    }
    let spring = SpringGeneralizedForce { coordinate, stiffness, rest_length: 0.0, viscosity: 0.1 };
    model.forces[stops].kind = ForceKind::SpringGeneralizedForce(spring);
    Ok(())
}

/// Signals of one leg over a cycle, mean and standard deviation: angles in rad, ground force in body weights.
#[derive(Clone, Debug, PartialEq)]
pub struct LegData {
    /// Hip flexion, knee extension, ankle dorsiflexion, rad.
    pub angles: [[Course; 2]; 3],
    /// Forward and upward force, body weights.
    pub forces: [[Course; 2]; 2],
}

const SIDES: [&str; 2] = ["r", "l"];

impl Planar {
    /// Finds the walker in a model.
    pub fn new(base: ModelProblem) -> Result<Planar, NoWalker> {
        let state = |name: String| {
            let found = base.states.iter().position(|s| s.ends_with(&format!("/{name}/value")));
            found.ok_or(NoWalker { what: "coordinate", name })
        };
        let leg = |side: &str| -> Result<[usize; 3], NoWalker> {
            Ok([
                state(format!("hip_angle_{side}"))?,
                state(format!("knee_angle_{side}"))?,
                state(format!("ankle_angle_{side}"))?,
            ])
        };
        let contact = |name: String| {
            let i = base.model.forces.iter().position(|f| f.name == name);
            let body = i.and_then(|i| match &base.system.forces[i].actor {
                Actor::Force(law) => law.touches().0.into_iter().find(|&b| b != 0),
                Actor::Muscle(_) => None,
            });
            i.zip(body).ok_or(NoWalker { what: "contact", name })
        };
        let foot = |side: &str| -> Result<Vec<(usize, usize)>, NoWalker> {
            Ok(vec![contact(format!("heel_{side}"))?, contact(format!("toe_{side}"))?])
        };
        Ok(Planar {
            forward: state("trunk_x".into())?,
            height: state("trunk_y".into())?,
            trunk: state("trunk_angle".into())?,
            legs: [leg("r")?, leg("l")?],
            feet: [foot("r")?, foot("l")?],
            base,
        })
    }

    /// The dynamics with the bounds of the stored solutions of van den Bogert (2011): height 0.7 to 1.3 m, trunk ±45°,
    /// joints ±180°, 5 m/s and 20 rad/s, activation and excitation 0 to 2, fibers −1 to 5 optimal lengths.
    pub fn problem(&self) -> Problem {
        self.problem_with(&[])
    }

    /// The same with model parameters; the caller adds their names and bounds to the problem.
    pub fn problem_with(&self, parameters: &[ParameterRange]) -> Problem {
        let mut p = self.base.problem(Bounds::FREE, parameters);
        let n = self.base.num_coordinates();
        for (i, v) in p.states.iter_mut().enumerate() {
            let translates = [self.forward, self.height].contains(&(i % n));
            let (lower, upper) = match i {
                _ if i == self.forward => (-1.0, 4.0),
                _ if i == self.height => (0.7, 1.3),
                _ if i == self.trunk => (-PI / 4.0, PI / 4.0),
                _ if i < n => (-PI, PI),
                _ if i < 2 * n && translates => (-5.0, 5.0),
                _ if i < 2 * n => (-20.0, 20.0),
                _ if v.name.ends_with("/activation") => (0.0, 2.0),
                _ => (-1.0, 5.0),
            };
            *v = Variable::new(v.name.clone(), Bounds::new(lower, upper));
        }
        for v in &mut p.controls {
            *v = Variable::new(v.name.clone(), Bounds::new(0.0, 2.0));
        }
        // Muscles that are switched off have nothing to find.
        for f in self.base.model.forces.iter().filter(|f| !f.enabled) {
            for v in p.states.iter_mut().chain(&mut p.controls) {
                if v.name == f.path || v.name.starts_with(&format!("{}/", f.path)) {
                    *v = Variable::new(v.name.clone(), Bounds::fixed(0.0));
                }
            }
        }
        p
    }

    /// Reserves for a poor initial guess. Vertical reserves have the highest cost, because the legs should carry the
    /// weight.
    pub fn reserves(&self) -> Vec<Reserve> {
        let n = self.base.num_coordinates();
        let strong = [self.forward, self.trunk];
        let strength = |i: usize| if strong.contains(&i) { 750.0 } else { 100.0 };
        (0..n).map(|i| Reserve { state: n + i, strength: strength(i) }).collect()
    }

    /// Signals of both legs, the left half a cycle later. `floors` are the minimum standard deviations of angles (rad)
    /// and forces (body weights); default: the smallest nonzero one of each signal.
    pub fn signals(&self, data: &LegData, floors: Option<[f64; 2]>) -> Vec<Signal> {
        let floor = |kind: usize, deviation: &Course| {
            let least = deviation.0.iter().copied().filter(|&d| d > 0.0).fold(f64::INFINITY, f64::min);
            floors.map_or(least, |f| f[kind])
        };
        let weight = self.base.model.total_mass() * self.base.model.gravity.norm();
        let mut list = Vec::new();
        for (s, side) in SIDES.into_iter().enumerate() {
            let shift = 0.5 * s as f64;
            let names = ["hip", "knee", "ankle"];
            for ((name, &state), [mean, deviation]) in names.iter().zip(&self.legs[s]).zip(&data.angles) {
                list.push(Signal {
                    name: format!("{name}_{side}"),
                    source: Source::State(state),
                    mean: mean.clone(),
                    deviation: deviation.clone(),
                    floor: floor(0, deviation),
                    shift,
                });
            }
            for ((axis, name), [mean, deviation]) in
                ["force_x", "force_y"].iter().enumerate().zip(&data.forces)
            {
                list.push(Signal {
                    name: format!("{name}_{side}"),
                    source: Source::Contact { contacts: self.feet[s].clone(), axis, per: weight },
                    mean: mean.clone(),
                    deviation: deviation.clone(),
                    floor: floor(1, deviation),
                    shift,
                });
            }
        }
        list
    }

    /// Signal for an upright trunk with standard deviation `deviation` (rad).
    pub fn upright(&self, deviation: f64) -> Signal {
        Signal {
            name: "trunk".into(),
            source: Source::State(self.trunk),
            mean: Course(vec![0.0]),
            deviation: Course(vec![deviation]),
            floor: deviation,
            shift: 0.0,
        }
    }

    /// Simplest initial guess for a walk: all coordinates change linearly, the hips from `swing` to −`swing` (rad) and
    /// back over a cycle, with muscles slightly active and in equilibrium. `half`: only the first half.
    pub fn straight_line(&self, speed: f64, duration: f64, swing: f64, half: bool) -> Trajectory {
        const ACTIVATION: f64 = 0.1;
        const HEIGHT: f64 = 0.93;
        const KNEE: f64 = -0.1;
        let n = self.base.num_coordinates();
        let points = 40;
        let mut t = Trajectory::default();
        t.states.names.clone_from(&self.base.states);
        t.controls.names.clone_from(&self.base.controls);
        let mut ws = self.base.system.workspace();
        let controls = vec![ACTIVATION; self.base.controls.len()];
        for k in 0..=points {
            let s = f64::from(k) / f64::from(points);
            let phase = if half { 0.5 * s } else { s };
            let rate = if half { 0.5 / duration } else { 1.0 / duration };
            let (hip, slope) =
                if phase <= 0.5 { (1.0 - 4.0 * phase, -4.0) } else { (4.0 * phase - 3.0, 4.0) };
            let mut x = self.base.system.default_state.clone();
            x.q.fill(0.0);
            x.u.fill(0.0);
            x.q[self.forward] = speed * duration * s;
            x.u[self.forward] = speed;
            x.q[self.height] = HEIGHT;
            for (leg, sign) in self.legs.iter().zip([1.0, -1.0]) {
                x.q[leg[0]] = sign * swing * hip;
                x.u[leg[0]] = sign * swing * slope * rate;
                x.q[leg[1]] = KNEE;
            }
            for (z, name) in x.z.iter_mut().zip(&self.base.states[2 * n..]) {
                if name.ends_with("/activation") {
                    *z = ACTIVATION;
                }
            }
            // A fiber without equilibrium keeps its default length; this is a start only.
            self.base.system.solve_equilibrium(&mut x, &controls, &mut ws);
            t.times.push(duration * s);
            t.states.rows.push(x.q.iter().chain(&x.u).chain(&x.z).copied().collect());
            t.controls.rows.push(controls.clone());
        }
        t
    }
}

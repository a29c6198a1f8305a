//! Any model with two feet as a walker: the roles of its coordinates are found from its kinematics.

use super::{Mirror, NoMirror};
use crate::goal::named::contact_body;
use crate::musculoskeletal::ModelProblem;
use crate::solution::Trajectory;
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::implicit::ReactionSum;
use soleus_dynamics::{State, Workspace};
use soleus_math::vec3;
use soleus_model::joint::MotionType;

/// Step of a coordinate from which it is seen what it moves, rad or m.
const STEP: f64 = 1e-3;

/// Activation and excitation of muscles at the start.
const ACTIVATION: f64 = 0.1;

/// Bend of the knees at the start, rad: straight legs are a pose in which nothing can be seen to help.
const KNEE: f64 = 0.1;

/// Points of a start.
const POINTS: usize = 40;

/// A model with two feet, and the roles of its coordinates.
#[derive(Clone)]
pub struct Walker {
    /// The model as a problem.
    pub base: ModelProblem,
    /// Mirror symmetry; its `forward` is the coordinate that moves the model forward.
    pub mirror: Mirror,
    /// Vertical coordinate of the whole model.
    pub height: usize,
    /// Coordinates that rotate the whole model.
    pub turns: Vec<usize>,
    /// Right and left hip, with the sign of flexion.
    pub hips: [(usize, f64); 2],
    /// Right and left knee, with the sign of flexion; `None` for legs without knees.
    pub knees: Option<[(usize, f64); 2]>,
    /// Coordinates whose signed sum is the tilt of the trunk.
    pub trunk: Vec<(usize, f64)>,
    /// Contacts of the right and left foot, with the body they act on.
    pub feet: [Vec<(usize, usize)>; 2],
}

/// Why a model is not a walker.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoLegs {
    /// It is not symmetric.
    #[error(transparent)]
    NoMirror(#[from] NoMirror),
    /// There is no ground contact on one or both feet.
    #[error("the model does not have ground contact on both feet")]
    NoContact,
    /// No coordinate moves it vertically.
    #[error("no coordinate moves the whole model up (along y)")]
    NoHeight,
    /// No joint swings the feet.
    #[error("no joint of the leg moves the foot forward")]
    NoHip,
    /// It cannot stand.
    #[error("the contacts do not support the weight at any height")]
    NoStance,
}

/// Whether a name is of the right side.
fn is_right(name: &str) -> bool {
    name.split(['/', '_']).any(|w| ["r", "R", "right", "Right"].contains(&w)) || name.contains("Right")
}

impl Walker {
    /// Finds the walker in a model.
    pub fn new(base: ModelProblem) -> Result<Walker, NoLegs> {
        let mirror = Mirror::new(&base)?;
        let mut feet = [Vec::new(), Vec::new()];
        for (i, f) in base.model.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            let Some(body) = contact_body(&base, i) else { continue };
            if super::other_side(&f.path).is_some() {
                feet[usize::from(!is_right(&f.path))].push((i, body));
            }
        }
        if feet.iter().any(Vec::is_empty) {
            return Err(NoLegs::NoContact);
        }
        let system = base.system.clone();
        let n = base.num_coordinates();
        let mut ws = system.workspace();
        let mut x = system.default_state.clone();
        x.u.fill(0.0);
        let angular =
            |i: usize| coordinate(&base, i).is_some_and(|c| c.motion_type != MotionType::Translational);
        for i in (0..n).filter(|&i| angular(i)) {
            x.q[i] = 0.0;
        }
        let origins = |x: &State<f64>, ws: &mut Workspace<f64>| {
            system.compute_kinematics(x, ws);
            ws.kin.X_GB.clone()
        };
        let before = origins(&x, &mut ws);
        let moved = |i: usize, ws: &mut Workspace<f64>| {
            let mut x = x.clone();
            x.q[i] += STEP;
            origins(&x, ws)
        };
        let steps: Vec<_> = (0..n).map(|i| moved(i, &mut ws)).collect();
        let shift = |i: usize, node: usize| (steps[i][node].p - before[node].p) * (1.0 / STEP);
        let bodies = 1..before.len();
        let up = |i: &usize| bodies.clone().all(|b| (shift(*i, b) - vec3(0.0, 1.0, 0.0)).norm() < 1e-6);
        let height = (0..n).find(up).ok_or(NoLegs::NoHeight)?;

        // Of the coordinates that have a side and bring the right foot forward, the nearest to the trunk is the hip, the next the knee.
        let foot = feet[0][0].1;
        let support = &system.tree.support;
        let level =
            |i: usize| std::iter::successors(Some(i), |&i| Some(support[i]).filter(|&s| s < n)).count();
        let joint = |i: usize| coordinate(&base, i).map(|c| c.joint);
        let swings = |i: &usize| {
            let d = shift(*i, foot);
            mirror.states[*i].0 != *i && angular(*i) && d.x.abs() > 0.7 * d.norm() && d.norm() > 0.02
        };
        let mut legs: Vec<usize> = (0..n).filter(|i| swings(i) && is_right(&base.states[*i])).collect();
        legs.sort_by_key(|&i| level(i));
        let hip = *legs.first().ok_or(NoLegs::NoHip)?;
        let knee = legs.iter().copied().find(|&i| joint(i) != joint(hip));
        let both = |right: usize, sign: f64| {
            let (left, same) = mirror.states[right];
            [(right, sign), (left, sign * same)]
        };
        let bends = |i: usize| {
            let [a, b] = coordinate(&base, i).map_or([-1.0, 1.0], |c| c.range);
            if b.abs() > a.abs() { 1.0 } else { -1.0 }
        };
        // The whole turns where all bodies do, seen from the origin of the first.
        let turn = |i: usize, node: usize| {
            let (a, b) = (before[node].R.axis(0), steps[i][node].R.axis(0));
            (a.x * b.y - a.y * b.x) / STEP
        };
        let heaviest = base
            .model
            .bodies
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, b)| super::other_side(&b.path).is_none());
        let heaviest =
            heaviest.max_by(|a, b| a.1.mass.total_cmp(&b.1.mass)).map(|(i, _)| system.tree.node_of_body[i]);
        let trunk = heaviest.map_or(Vec::new(), |node| {
            let tilts = (0..n).filter(|&i| angular(i)).map(|i| (i, turn(i, node)));
            tilts.filter(|(_, t)| t.abs() > 0.5).map(|(i, t)| (i, t.signum())).collect()
        });
        let turns = (0..n).filter(|&i| angular(i) && joint(i) == joint(mirror.forward)).collect();
        Ok(Walker {
            height,
            turns,
            hips: both(hip, shift(hip, foot).x.signum()),
            knees: knee.map(|k| both(k, bends(k))),
            trunk,
            feet,
            mirror,
            base,
        })
    }

    /// Initial guess for a walk: all coordinates change linearly, the hips from `swing` to −`swing` (rad) and, over a
    /// whole cycle, back; the contacts carry the weight when the hips are half-way; muscles are slightly active and in
    /// equilibrium.
    pub fn straight_line(
        &self,
        speed: f64,
        duration: f64,
        swing: f64,
        half: bool,
    ) -> Result<Trajectory, NoLegs> {
        let (base, system) = (&self.base, &self.base.system);
        let n = base.num_coordinates();
        let height = self.standing(0.5 * swing)?;
        let mut t = Trajectory::default();
        t.states.names.clone_from(&base.states);
        t.controls.names.clone_from(&base.controls);
        let mut ws = system.workspace();
        let assembler = Assembler::new(&base.model, system);
        let controls = self.resting_controls();
        for k in 0..=POINTS {
            let s = k as f64 / POINTS as f64;
            let phase = if half { 0.5 * s } else { s };
            let rate = if half { 0.5 / duration } else { 1.0 / duration };
            let (hip, slope) =
                if phase <= 0.5 { (1.0 - 4.0 * phase, -4.0) } else { (4.0 * phase - 3.0, 4.0) };
            let mut x = self.posed([swing * hip, -swing * hip]);
            x.q[self.mirror.forward] = speed * duration * s;
            x.u[self.mirror.forward] = speed;
            x.q[self.height] = height;
            for (&(i, sign), side) in self.hips.iter().zip([1.0, -1.0]) {
                x.u[i] = side * sign * swing * slope * rate;
            }
            if !system.constraints.list.is_empty() {
                // Coupled coordinates follow as far as they can; this is a start only.
                let _ = assembler.solve_assembly(system, &mut x, &mut ws);
            }
            for (z, name) in x.z.iter_mut().zip(&base.states[2 * n..]) {
                if name.ends_with("/activation") {
                    *z = ACTIVATION;
                }
            }
            // A fiber without equilibrium keeps its default length.
            system.solve_equilibrium(&mut x, &controls, &mut ws);
            t.times.push(duration * s);
            t.states.rows.push(x.q.iter().chain(&x.u).chain(&x.z).copied().collect());
            t.controls.rows.push(controls.clone());
        }
        Ok(t)
    }

    /// Excitations of muscles little above rest; other actuators do nothing.
    fn resting_controls(&self) -> Vec<f64> {
        let mut list = vec![0.0; self.base.controls.len()];
        for f in &self.base.system.forces {
            if matches!(f.actor, soleus_dynamics::system::Actor::Muscle(_)) {
                list[f.controls.clone()].fill(ACTIVATION);
            }
        }
        list
    }

    /// The default pose with the trunk upright, both hips at given angles (rad, forward positive) and the knees bent a little.
    fn posed(&self, hips: [f64; 2]) -> State<f64> {
        let mut x = self.base.system.default_state.clone();
        x.u.fill(0.0);
        for &i in &self.turns {
            x.q[i] = 0.0;
        }
        for (&(i, sign), angle) in self.hips.iter().zip(hips) {
            x.q[i] = sign * angle;
        }
        for &(i, sign) in self.knees.iter().flatten() {
            x.q[i] = sign * KNEE;
        }
        x
    }

    /// Height at which the contacts carry the weight with the hips at `angle` to both sides.
    pub fn standing(&self, angle: f64) -> Result<f64, NoLegs> {
        let system = &self.base.system;
        let weight = self.base.model.total_mass() * self.base.model.gravity.norm();
        let all: Vec<(usize, usize)> = self.feet.iter().flatten().copied().collect();
        let sum = ReactionSum::new(system, &all).ok_or(NoLegs::NoContact)?;
        let mut scratch = sum.scratch(system);
        let mut x = self.posed([angle, -angle]);
        let mut carried = |height: f64| {
            x.q[self.height] = height;
            sum.compute_value(system, &x.q, &x.u, &mut scratch);
            scratch.value.y
        };
        // From high above down to the first height that carries the weight; then halves.
        let (mut high, mut low) = (4.0, 4.0);
        while carried(low) < weight {
            high = low;
            low -= 0.02;
            if low < -4.0 {
                return Err(NoLegs::NoStance);
            }
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if carried(middle) < weight { high = middle } else { low = middle }
        }
        Ok(low)
    }
}

fn coordinate(base: &ModelProblem, i: usize) -> Option<&soleus_model::joint::Coordinate> {
    base.system.tree.coordinate_of_mobility[i].map(|c| &base.model.coordinates[c.0])
}

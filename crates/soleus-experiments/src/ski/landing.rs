//! The landing that is the truth: simulated forward, with reflexes that hold a posture.

use super::motion::Motion;
use super::skier::Skier;
use soleus::Error;
use soleus_dynamics::{State, Workspace};
use soleus_simulation::implicit::ImplicitMidpoint;
use soleus_simulation::system::{Feedback, ImplicitSystemOde};
use soleus_simulation::{End, integrate};
use std::ops::ControlFlow;

/// s.
pub const DURATION: f64 = 1.0;
/// Steps of the midpoint rule in a simulation.
pub const STEPS: usize = 1440;
/// Forward speed at the start, m/s.
const SPEED: f64 = 20.0;
/// Velocity away from the snow at the start, m/s.
const SINKING: f64 = -0.6;
/// How high the skis are at the start, m.
const HEIGHT: f64 = 0.35;
/// Trunk; hip, knee and ankle, right then left, rad: in the air.
const IN_THE_AIR: [f64; 7] = [-0.80, 1.30, -0.90, 0.40, 1.16, -0.70, 0.34];
/// The same of a skier of whom nothing is known but that he flies.
const ANY: [f64; 7] = [-0.70, 1.20, -0.80, 0.35, 1.20, -0.80, 0.35];
/// The same on the snow, which the reflexes of the truth hold.
const ON_THE_SNOW: [f64; 7] = [-0.70, 1.45, -1.10, 0.40, 1.35, -0.95, 0.35];

impl Skier {
    /// States of trunk and joints in the order of the postures above.
    pub fn joints(&self) -> [usize; 7] {
        let [r, l] = self.planar.legs;
        [self.planar.trunk, r[0], r[1], r[2], l[0], l[1], l[2]]
    }

    /// Coordinates of a posture.
    fn posture(&self, joints: &[f64; 7]) -> Vec<f64> {
        let mut q = vec![0.0; self.n()];
        self.joints().iter().zip(joints).for_each(|(&i, &v)| q[i] = v);
        q
    }

    /// Height of the hips at which the lower boot of a posture touches the snow with its sole, m.
    fn standing(&self, q: &[f64]) -> f64 {
        let model = &self.planar.base.model;
        let length = |name: &str| {
            let joint = model.joints.iter().find(|j| j.name == name);
            joint.map_or(0.0, |j| -model.frames[j.parent.0].X_BF.p.y)
        };
        let (thigh, shank, sole) = (length("knee_r"), length("ankle_r"), length("ski_front_r"));
        let depth = |leg: [usize; 3]| {
            let hip = q[self.planar.trunk] + q[leg[0]];
            let knee = hip + q[leg[1]];
            thigh * hip.cos() + shank * knee.cos() + sole * (knee + q[leg[2]]).cos()
        };
        self.planar.legs.map(depth).into_iter().fold(0.0, f64::max)
    }
}

/// Excitations that answer the stretch of muscles beyond their lengths in a posture:
///
///   s = tone + k (L − L*)/l₀ + d L̇/l₀,      e = ½ + ½ tanh(2 s − 1)
///
/// smooth, between 0 and 1, without delay. The numbers are ours.
pub struct Reflexes {
    /// Force, L* and l₀ of each muscle, in the order of the controls.
    muscles: Vec<(usize, f64, f64)>,
    ws: Workspace<f64>,
}

/// Excitation without stretch, before the tanh.
const TONE: f64 = 0.25;
/// k.
const STRETCH: f64 = 2.0;
/// d, s.
const SPEEDING: f64 = 0.2;

impl Reflexes {
    /// That hold the joints of `q`.
    pub fn new(skier: &Skier, q: &[f64]) -> Reflexes {
        let (model, system) = (&skier.planar.base.model, &skier.planar.base.system);
        let mut ws = system.workspace();
        let mut x = system.default_state.clone();
        x.q.copy_from_slice(q);
        system.compute_kinematics(&x, &mut ws);
        system.compute_paths(&x, &mut ws);
        let muscle = |&(i, _): &(usize, f64)| {
            let l0 = match &model.forces[i].kind {
                soleus_model::force::ForceKind::Muscle(m) => m.optimal_fiber_length,
                _ => 1.0,
            };
            (i, ws.paths[i].length(), l0)
        };
        Reflexes { muscles: skier.muscles().iter().map(muscle).collect(), ws }
    }

    /// Excitations in a state.
    pub fn compute(&mut self, skier: &Skier, x: &State<f64>, e: &mut [f64]) {
        let system = &skier.planar.base.system;
        system.compute_kinematics(x, &mut self.ws);
        system.compute_paths(x, &mut self.ws);
        for (e, &(i, rest, l0)) in e.iter_mut().zip(&self.muscles) {
            let path = &self.ws.paths[i];
            let s = TONE + STRETCH * (path.length() - rest) / l0 + SPEEDING * path.speed() / l0;
            *e = 0.5 + 0.5 * (2.0 * s - 1.0).tanh();
        }
    }
}

/// q and u of a skier that flies in a posture: so high above the snow (m), with these velocities along the slope and away from
/// the snow (m/s).
fn flight(skier: &Skier, joints: &[f64; 7], height: f64, [forward, up]: [f64; 2]) -> [Vec<f64>; 2] {
    let mut q = skier.posture(joints);
    q[skier.planar.height] = skier.standing(&q) + height;
    let mut u = vec![0.0; q.len()];
    u[skier.planar.forward] = forward;
    u[skier.planar.height] = up;
    [q, u]
}

/// The truth.
pub fn truth(skier: &Skier) -> Result<Motion, Error> {
    let [q, u] = flight(skier, &IN_THE_AIR, HEIGHT, [SPEED, SINKING]);
    let (motion, reached) = reflex_landing(skier, [&q, &u], &skier.posture(&ON_THE_SNOW), STEPS);
    if !reached {
        return Err(Error::NotSolved { message: "the landing could not be simulated".into() });
    }
    Ok(motion)
}

/// A landing from q and u with reflexes that hold a posture.
pub fn reflex_landing(skier: &Skier, [q, u]: [&[f64]; 2], posture: &[f64], steps: usize) -> (Motion, bool) {
    let mut reflexes = Reflexes::new(skier, posture);
    let mut x = skier.planar.base.system.default_state.clone();
    x.q.copy_from_slice(q);
    x.u.copy_from_slice(u);
    let mut e = vec![0.0; skier.planar.base.controls.len()];
    reflexes.compute(skier, &x, &mut e);
    let x = skier.state(&skier.row(q, u, &e), 0.0);
    simulate(skier, &x, steps, |_, x, e| reflexes.compute(skier, x, e))
}

/// Simulates from a state with the midpoint rule. The second value says whether the end was reached.
pub fn simulate(
    skier: &Skier,
    start: &State<f64>,
    steps: usize,
    mut excite: impl FnMut(f64, &State<f64>, &mut [f64]),
) -> (Motion, bool) {
    let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
    let reached = {
        let controls = Feedback(|t: f64, x: &State<f64>, e: &mut [f64]| excite(t, x, e));
        let mut ode = ImplicitSystemOde::new(&skier.planar.base.system, controls);
        let mut rule = ImplicitMidpoint::new(ode.error_norm(), DURATION / steps as f64);
        let y0 = ode.vector(start);
        let outcome = integrate(&mut rule, &mut ode, (0.0, &y0), DURATION, &mut [], &mut |view| {
            rows.push((view.t1, view.x.to_vec()));
            ControlFlow::Continue(())
        });
        outcome.end == End::Reached
    };
    let nx = skier.planar.base.states.len();
    let mut motion = Motion { times: Vec::new(), states: Vec::new(), controls: Vec::new() };
    for (t, y) in rows {
        let x = skier.state(&y[..nx], t);
        let mut e = vec![0.0; skier.planar.base.controls.len()];
        excite(t, &x, &mut e);
        motion.times.push(t);
        motion.states.push(x);
        motion.controls.push(e);
    }
    (motion, reached)
}

/// q and u where nothing was read: about what jumps are like.
pub fn any_flight(skier: &Skier) -> [Vec<f64>; 2] {
    flight(skier, &ANY, 0.3, [18.0, 0.0])
}

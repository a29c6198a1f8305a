//! Quiet standing: a posture with bent knees that is in equilibrium on the platform, and the torques that it needs.

use super::subject::{ROOT, joints};
use soleus_dynamics::System;
use soleus_math::solve_least_squares;
use soleus_model::Model;
use soleus_tools::analysis::mass_center_motion;
use soleus_tools::inverse_dynamics::Solver;

/// Largest residual of the equations of a posture, m, rad and of the weight.
const TOLERANCE: f64 = 1e-10;

/// A posture in equilibrium.
pub struct Standing {
    /// Values of all coordinates in the model's order, rad and m.
    pub posture: Vec<f64>,
    /// Controls of the actuators, N m.
    pub torques: Vec<f64>,
    /// Height of the mass centre, m.
    pub height: f64,
    /// How far the largest residual force or moment of the pelvis is from zero, N or N m.
    pub residual: f64,
}

/// Coordinates of a leg that the posture decides, besides the knee.
const LEG: [&str; 5] = ["hip_flexion", "hip_adduction", "hip_rotation", "ankle_angle", "subtalar_angle"];

/// Stands with both knees bent by `flexion` (rad) and the trunk upright.
///
/// Hips, ankles and subtalar joints are turned until both feet lie flat, point ahead as far apart as with straight legs, and carry the mass
/// centre `ahead` (m) of the heel; height and tilt of the whole, until the pads carry the weight without a moment. `None` where Newton's method does not get there.
pub fn stand(model: &Model, system: &System, flexion: f64, ahead: f64) -> Option<Standing> {
    let mut solver = Solver::new(system);
    let place = |name: &str| Some(system.tree.mobility_of_coordinate[model.coordinate(name)?.0]);
    for side in ["_r", "_l"] {
        solver.state.q[place(&format!("knee_angle{side}"))?] = -flexion;
    }
    let foot = system.tree.node_of_body[model.bodies.iter().position(|b| b.name == "calcn_r")?];
    let straight = {
        let mut s = Solver::new(system);
        system.compute_kinematics(&s.state, &mut s.ws);
        s.ws.kin.X_GB[foot].p
    };
    let legs: Vec<[usize; 2]> = LEG
        .iter()
        .map(|name| Some([place(&format!("{name}_r"))?, place(&format!("{name}_l"))?]))
        .collect::<Option<_>>()?;
    solver.state.q[place("hip_flexion_r")?] = 0.5 * flexion;
    solver.state.q[place("ankle_angle_r")?] = 0.5 * flexion;
    let flat = |q: &[f64], solver: &mut Solver| {
        q.iter().zip(&legs).for_each(|(q, both)| both.iter().for_each(|&i| solver.state.q[i] = *q));
        solver.compute(system);
        let X = &solver.ws.kin.X_GB[foot];
        let (toes, up) = (X.R.0.col[0], X.R.0.col[1]);
        let [center, ..] = mass_center_motion(&solver.ws);
        vec![toes.z, up.x, up.z, X.p.z - straight.z, center.x - X.p.x - ahead]
    };
    let start = legs.iter().map(|both| solver.state.q[both[0]]).collect();
    newton(start, |q| flat(q, &mut solver))?;

    // The whole: to the height at which the pads carry the weight, tilted so that they do it without a moment.
    let [height, tilt] = [place("pelvis_ty")?, place("pelvis_tilt")?];
    let weight = weight(model);
    let lowest = solver.ws.kin.X_GB[foot].p.y;
    solver.state.q[height] += SOLE - lowest;
    let start = vec![solver.state.q[height], solver.state.q[tilt]];
    newton(start, |q| {
        [solver.state.q[height], solver.state.q[tilt]] = [q[0], q[1]];
        solver.compute(system);
        vec![solver.tau[height] / weight, solver.tau[tilt] / weight]
    })?;
    let root = ROOT.iter().map(|name| place(name)).collect::<Option<Vec<_>>>()?;
    let q = |c: usize| solver.state.q[system.tree.mobility_of_coordinate[c]];
    Some(Standing {
        posture: (0..model.coordinates.len()).map(q).collect(),
        torques: joints(model).iter().map(|&c| solver.tau[system.tree.mobility_of_coordinate[c.0]]).collect(),
        height: mass_center_motion(&solver.ws)[0].y,
        residual: root.iter().map(|&i| solver.tau[i].abs()).fold(0.0, f64::max),
    })
}

/// Height of the origin of the calcaneus over the platform to begin with, m: the pads pressed in by a tenth of a millimetre.
const SOLE: f64 = 0.0199;

/// N, without the platform.
fn weight(model: &Model) -> f64 {
    let mass: f64 = model.bodies.iter().filter(|b| b.name != "platform").map(|b| b.mass).sum();
    mass * model.gravity.norm()
}

/// Of the differences, rad and m.
const STEP: f64 = 1e-7;

/// A zero of `f` by Newton's method with differences, steps halved while they make it worse.
fn newton(mut x: Vec<f64>, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Option<Vec<f64>> {
    let norm = |r: &[f64]| r.iter().map(|r| r * r).sum::<f64>().sqrt();
    let mut r = f(&x);
    for _ in 0..60 {
        if norm(&r) < TOLERANCE {
            f(&x);
            return Some(x);
        }
        let mut column = |j: usize| {
            let mut at = |h: f64| {
                let mut y = x.clone();
                y[j] += h;
                f(&y)
            };
            let (ahead, behind) = (at(STEP), at(-STEP));
            ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * STEP)).collect::<Vec<f64>>()
        };
        let mut columns: Vec<_> = (0..x.len()).map(&mut column).collect();
        let step = solve_least_squares(&mut columns, &mut r.clone());
        let mut part = 1.0;
        loop {
            let y: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - part * s).collect();
            let next = f(&y);
            if norm(&next) < norm(&r) {
                (x, r) = (y, next);
                break;
            }
            part *= 0.5;
            if part < 1e-6 {
                return (norm(&r) < 1e3 * TOLERANCE).then_some(x);
            }
        }
    }
    None
}

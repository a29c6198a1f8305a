//! The landing off balance: simulated forward with the estimated excitations.

use super::knee::Ligaments;
use super::landing;
use super::motion::Motion;
use super::readings::RATE;
use super::skier::Skier;
use crate::sample::at;
use soleus::Error;
use soleus_control::Trajectory;
use soleus_dynamics::State;
use soleus_math::Vec3;

/// A state turned counter-clockwise by an angle (rad) about its mass centre, its velocities as they were.
pub fn turned(skier: &Skier, x: &State<f64>, angle: f64) -> State<f64> {
    let system = &skier.planar.base.system;
    let mut ws = system.workspace::<f64>();
    let mut place = |x: &State<f64>| {
        system.compute_kinematics(x, &mut ws);
        let (mut sum, mut mass) = (Vec3::zero(), 0.0);
        for (X, i) in ws.kin.X_GB.iter().zip(&ws.kin.inertia) {
            sum += X.p * i.mass + i.moment;
            mass += i.mass;
        }
        sum / mass
    };
    let p = &skier.planar;
    let mut turned = x.clone();
    let before = place(x);
    turned.q[p.trunk] += angle;
    let after = place(&turned);
    turned.q[p.forward] += before.x - after.x;
    turned.q[p.height] += before.y - after.y;
    turned
}

/// Where a simulation of an estimate begins: at the middle of its first interval, the earliest time at which the midpoint rule
/// wants its equations satisfied, with fibers in equilibrium.
pub fn start(skier: &Skier, estimate: &Trajectory) -> State<f64> {
    let first = Motion::sampled(skier, estimate, &[0.5 / RATE as f64]);
    let (mut x, system) = (first.states[0].clone(), &skier.planar.base.system);
    // A fiber without equilibrium keeps its estimated length.
    system.solve_equilibrium(&mut x, &first.controls[0], &mut system.workspace());
    x
}

/// Simulates from a state on with the excitations of a motion. The second value says whether the end was reached.
pub fn simulate(skier: &Skier, start: &State<f64>, of: &Motion) -> (Motion, bool) {
    landing::simulate(skier, start, landing::STEPS, |t, _, e| {
        e.copy_from_slice(&at(&of.times, &of.controls, start.time + t))
    })
}

/// The largest force in the ligaments of both knees, N.
pub fn peaks(skier: &Skier, motion: &Motion) -> Result<Ligaments, Error> {
    let all = skier.ligaments(motion)?;
    let largest = |f: fn(&Ligaments) -> f64| all.iter().flatten().map(f).fold(0.0, f64::max);
    Ok(Ligaments { anterior: largest(|l| l.anterior), posterior: largest(|l| l.posterior) })
}

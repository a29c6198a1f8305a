//! The steps of docs/guide/library.md: read, compile, evaluate, differentiate.
//!
//! usage: cargo run -p soleus-dynamics --example library

use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Resolve, State, System};
use soleus_math::{Dual, Real};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Read. Every problem is listed with its line; the model is there unless one of them is an error.
    let file = "models/leg_swing.osim";
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    for d in &diagnostics.list {
        eprintln!("{d}");
    }
    let model = model.ok_or("the file has errors")?;

    // Compile: a flat, immutable system. A workspace holds all memory for computations.
    let system = System::compile(&model)?;
    let mut ws = system.workspace::<f64>();

    // A state is a value: time, coordinates q, speeds u, and the states z of muscles.
    let mut x = system.default_state.clone();
    let knee = system.tree.mobility(model.coordinate("knee_angle").ok_or("no knee")?);
    (x.q[knee], x.u[knee]) = (-0.8, 2.0);
    let controls = vec![0.3; system.num_controls];
    for (f, why) in system.solve_equilibrium(&mut x, &controls, &mut ws) {
        eprintln!("{}: {why}", model.forces[f].path);
    }

    // Evaluate: poses, paths, forces, accelerations. Nothing is allocated here.
    system.compute_motion(&x, &controls, &mut ws)?;
    println!("knee acceleration      {:10.3} rad/s²", ws.udot[knee]);

    // Muscles: what they do now, and their moment arms about the knee.
    let mut arms = MomentArms::new(&system, &ws);
    for (i, (force, s)) in model.forces.iter().zip(&system.forces).enumerate() {
        let Actor::Muscle(muscle) = &s.actor else { continue };
        let path = &ws.paths[i];
        let info =
            muscle.info(path.length(), path.speed(), controls[s.controls.start], &x.z[s.states.clone()]);
        arms.compute_path(&system, &ws, i);
        println!("{:<22} {:10.1} N {:10.1} mm", force.name, info.tendon_force, arms.arm(knee) * 1e3);
    }

    // Differentiate: the same code on dual numbers. Two directions at once, the knee's angle and speed.
    let mut dual: State<Dual<f64, 2>> = x.lift();
    dual.q[knee] = Dual::variable(x.q[knee], 0);
    dual.u[knee] = Dual::variable(x.u[knee], 1);
    let dual_controls: Vec<_> = controls.iter().map(|&c| Dual::cst(c)).collect();
    let mut dual_ws = system.workspace();
    system.compute_motion(&dual, &dual_controls, &mut dual_ws)?;
    let [by_angle, by_speed] = dual_ws.udot[knee].d;
    println!("∂(acceleration)/∂angle {by_angle:10.3} 1/s²");
    println!("∂(acceleration)/∂speed {by_speed:10.3} 1/s");
    Ok(())
}

//! Reads a model and computes its accelerations.
//!
//! usage: cargo run -p soleus-dynamics --example first_steps

use soleus_dynamics::System;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = "models/leg_swing.osim";
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let model = model.ok_or_else(|| format!("{file}: {} problems", diagnostics.list.len()))?;
    let system = System::compile(&model)?; // immutable, shared by all threads
    let mut ws = system.workspace::<f64>(); // all memory for computations
    let (mut x, controls) = (system.default_state.clone(), vec![0.5; system.num_controls]);
    system.solve_equilibrium(&mut x, &controls, &mut ws); // fibers in equilibrium with their tendons
    system.compute_motion(&x, &controls, &mut ws)?;
    println!("accelerations: {:.3?} rad/s²", ws.udot);
    Ok(())
}

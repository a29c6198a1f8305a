//! What all Jacobians of the implicit equations, and the Hessian of their weighted sum, cost in units of one residual.
//!
//! usage: cargo run --release -p soleus-dynamics --example time_jacobian -- MODEL.osim... [SECONDS]

use soleus_dynamics::System;
use soleus_dynamics::implicit::ImplicitSystem;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let seconds = files.last().and_then(|last| last.parse().ok());
    if seconds.is_some() {
        files.pop();
    }
    if files.is_empty() {
        return Err("usage: time_jacobian MODEL.osim... [SECONDS]".into());
    }
    files.iter().try_for_each(|file| time(file, seconds.unwrap_or(1.0)))
}

/// Prints the times of one model.
fn time(file: &str, seconds: f64) -> Result<(), Box<dyn std::error::Error>> {
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let model = model.ok_or_else(|| format!("{:?}", diagnostics.list.first()))?;
    let system = System::compile(&model)?;
    let implicit = ImplicitSystem::new(&system);
    let (mut ws, mut jw) = (system.workspace(), implicit.jacobian_workspace());
    let controls = vec![0.05; system.num_controls];
    let mut x = system.default_state.clone();
    system.solve_equilibrium(&mut x, &controls, &mut ws);
    let xdot = vec![0.01; implicit.num_states()];
    let lambda = vec![0.0; implicit.num_multipliers()];
    let mut r = vec![0.0; implicit.num_residuals()];
    let mut jac = implicit.jacobian();

    let budget = Duration::from_secs_f64(seconds / 2.0);
    let best = |f: &mut dyn FnMut()| {
        // Batches stay below a millisecond, so that some are not interrupted on a busy machine.
        let (mut best, begin) = (f64::INFINITY, Instant::now());
        f();
        let count = (5e-4 / begin.elapsed().as_secs_f64()).clamp(1.0, 16.0) as u32;
        while begin.elapsed() < budget {
            let batch = Instant::now();
            for _ in 0..count {
                f();
            }
            best = best.min(batch.elapsed().as_secs_f64() / f64::from(count));
        }
        best * 1e6
    };
    let residual = best(&mut || implicit.compute_residual(&x, &xdot, &controls, &lambda, &mut ws, &mut r));
    let jacobian = best(&mut || {
        implicit.compute_jacobian(&x, &xdot, &controls, &lambda, &mut ws, &mut jw, &mut r, &mut jac);
    });
    let (mut hw, mut h) = (implicit.hessian_workspace(), implicit.hessian());
    let y: Vec<f64> = (0..r.len()).map(|i| (0.7 * i as f64).sin()).collect();
    let hessian = best(&mut || {
        implicit.compute_hessian(&x, &xdot, &controls, &lambda, &y, &mut hw, &mut h);
    });
    println!(
        "{}: Hessian {hessian:.2} us, {:.1} times; nonzeros {}",
        model.name,
        hessian / residual,
        h.lower.num_entries()
    );
    println!(
        "{}: {} states, residual {residual:.2} us, residual and Jacobians {jacobian:.2} us, {:.1} times; nonzeros {} {} {} {}",
        model.name,
        implicit.num_states(),
        jacobian / residual,
        jac.dx.num_entries(),
        jac.dxdot.num_entries(),
        jac.du.num_entries(),
        jac.dlambda.num_entries()
    );
    Ok(())
}

//! How long one evaluation of a model takes, stage by stage.
//!
//! usage: cargo run --release --example time_motion -- MODEL.osim [SECONDS]
//!
//! Prints JSON: microseconds per evaluation, the smallest mean over batches. Every evaluation starts from
//! other coordinates (the default pose moved a little along a fixed direction), so that nothing can be
//! kept from the one before.

use soleus_dynamics::System;
use soleus_dynamics::system::State;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: time_motion MODEL.osim [SECONDS]")?;
    let seconds: f64 = args.next().map_or(Ok(1.0), |s| s.parse())?;

    let started = Instant::now();
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(&file)?, &file);
    let model = model.ok_or_else(|| format!("{:?}", diagnostics.list.first()))?;
    let system = System::compile(&model)?;
    let load = started.elapsed();

    let mut ws = system.workspace::<f64>();
    let controls = vec![0.05; system.num_controls];
    let mut start = system.default_state.clone();
    system.solve_equilibrium(&mut start, &controls, &mut ws);

    // A few poses near the default, to go round.
    let poses: Vec<State<f64>> = (0..16)
        .map(|i| {
            let mut x = start.clone();
            for (j, q) in x.q.iter_mut().enumerate() {
                *q += 1e-3 * f64::from(i) * if j % 2 == 0 { 1.0 } else { -1.0 };
            }
            x
        })
        .collect();

    let budget = Duration::from_secs_f64(seconds / 5.0);
    let time = |f: &mut dyn FnMut(&State<f64>)| {
        let mut best = f64::INFINITY;
        let begin = Instant::now();
        while begin.elapsed() < budget {
            let batch = Instant::now();
            for x in &poses {
                f(x);
            }
            best = best.min(batch.elapsed().as_secs_f64() / poses.len() as f64);
        }
        best * 1e6
    };
    let kinematics = time(&mut |x| system.compute_kinematics(x, &mut ws));
    let paths = time(&mut |x| {
        system.compute_kinematics(x, &mut ws);
        system.compute_paths(x, &mut ws);
    });
    let forces = time(&mut |x| {
        system.compute_kinematics(x, &mut ws);
        system.compute_paths(x, &mut ws);
        system.compute_forces(x, &controls, &mut ws);
    });
    let motion = time(&mut |x| {
        // A singular mass matrix would show in the tests; here only the time counts.
        let _ = system.compute_motion(x, &controls, &mut ws);
    });
    println!(
        "{{\"model\": {:?}, \"mobilities\": {}, \"forces\": {}, \"load_ms\": {:.2}, \"kinematics_us\": {kinematics:.3}, \
         \"with_paths_us\": {paths:.3}, \"with_forces_us\": {forces:.3}, \"motion_us\": {motion:.3}}}",
        model.name,
        system.tree.num_mobilities,
        system.forces.len(),
        load.as_secs_f64() * 1e3,
    );
    Ok(())
}

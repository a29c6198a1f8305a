//! Many subjects in parallel: one request each, one thread per core.
//!
//! usage: cargo run -p soleus --example sweep_over_subjects
//!
//! The strength of the knee extensors is varied; where does the leg come to rest if all muscles have the same excitation? Requests are values and
//! contexts can be shared by all threads, so nothing else is needed.

use soleus::engine::model::ForceKind;
use soleus::{Context, Equilibrium, Error, Memory};
use std::sync::Mutex;

fn main() -> Result<(), Error> {
    let files = Memory::new().with("leg.osim", include_bytes!("../../models/leg_swing.osim"));
    let context = Context::new(&files);
    let generic = soleus::inputs::model::read(&context, &"leg.osim".into())?;

    // Strength of the knee extensors, relative to the generic model.
    let subjects: Vec<f64> = (0..7).map(|i| 0.6 + 0.1 * f64::from(i)).collect();
    let requests: Vec<Equilibrium> = subjects
        .iter()
        .map(|strength| {
            let mut model = generic.clone();
            for force in
                model.forces.iter_mut().filter(|f| ["vasti", "rectus_femoris"].contains(&f.name.as_str()))
            {
                if let ForceKind::Muscle(muscle) = &mut force.kind {
                    muscle.max_isometric_force *= strength;
                }
            }
            Equilibrium { model: model.into(), excitation: Some(0.1), ..Default::default() }
        })
        .collect();

    // Each thread takes the next open request.
    let (next, results) = (Mutex::new(requests.iter().enumerate()), Mutex::new(vec![None; requests.len()]));
    let take = || next.lock().ok()?.next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((i, request)) = take() {
                    let knee = request.run(&context).map(|found| found.rest.state.q[1].to_degrees());
                    if let Ok(mut results) = results.lock() {
                        results[i] = Some(knee.map_err(|e| e.to_string()));
                    }
                }
            });
        }
    });
    println!("strength  knee at rest");
    for (strength, knee) in subjects.iter().zip(results.into_inner().unwrap_or_default()) {
        match knee {
            Some(Ok(degrees)) => println!("{strength:8.1}  {degrees:9.2}°"),
            Some(Err(e)) => println!("{strength:8.1}  {e}"),
            None => println!("{strength:8.1}  not run"),
        }
    }
    Ok(())
}

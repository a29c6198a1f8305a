//! Times the parts of one iteration of a walking problem: `cargo run --release -p soleus-control --example walk_bench`.
//!
//! Prints least times of ten repeats, on one thread.

use soleus_control::gait::{Course, Duration, Effort, GaitCycle, LegData, Planar, Symmetry};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Bounds, Collocation, Scheme, Settings};
use soleus_dynamics::System;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{KktOrdering, KktPattern};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// Seconds that this thread has computed, where the system tells (Linux: /proc/thread-self/schedstat); else by the clock.
fn now(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = text.split_whitespace().next().and_then(|w| w.parse::<f64>().ok());
    on_cpu.map_or(start.elapsed().as_secs_f64(), |ns| 1e-9 * ns)
}

/// Least time of ten, ms.
fn time(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    let once = |f: &mut dyn FnMut()| {
        let before = now(start);
        f();
        1e3 * (now(start) - before)
    };
    (0..10).map(|_| once(&mut f)).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim");
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let model = model.ok_or("no model")?;
    let system = System::compile(&model)?;
    let walker = Planar::new(ModelProblem::new(Arc::new(model), Arc::new(system)))?;
    // Any data will do.
    let flat = || [Course(vec![0.0]), Course(vec![0.1])];
    let data = LegData { angles: [flat(), flat(), flat()], forces: [flat(), flat()] };
    for (name, scheme, nodes, duration) in [
        ("midpoint, 100 nodes, 1.28 s", Scheme::Midpoint, 100, Bounds::fixed(1.28)),
        ("backward Euler, 60 nodes", Scheme::BackwardEuler, 60, Bounds::new(0.2, 2.0)),
    ] {
        let cycle = GaitCycle {
            forward: walker.forward,
            speed: 1.1,
            duration: Duration { bounds: duration, measured: None },
            symmetry: Symmetry::None,
            signals: walker.signals(&data, Some([0.035, 0.02])),
            tracking_weight: 1.0,
            effort: Effort { weight: 100.0, exponent: 2.0 },
        };
        let mut problem = walker.problem();
        cycle.pose(&walker.base, &mut problem)?;
        let settings = Settings { interpolate_controls: false, ..Settings::uniform(scheme, nodes) };
        let mut c = Collocation::new(problem, &settings).map_err(|e| format!("{e:?}"))?;
        c.set_guess(&walker.straight_line(1.1, 1.28, 0.35, false));
        let (n, m) = (c.num_variables(), c.num_constraints());
        let mut x = vec![0.0; n];
        c.compute_start(&mut x);
        let y: Vec<f64> = (0..m).map(|i| 0.1 * ((i % 7) as f64 - 3.0)).collect();
        let (mut g, mut r) = (vec![0.0; n], vec![0.0; m]);
        let mut j = vec![0.0; c.jacobian_pattern().len()];
        let mut h = vec![0.0; c.hessian_pattern().len()];
        println!("{name}: {n} variables, {m} constraints, {} + {} places", j.len(), h.len());
        println!("  objective   {:8.2} ms", time(|| _ = c.compute_objective(&x)));
        println!("  gradient    {:8.2} ms", time(|| c.compute_gradient(&x, &mut g)));
        println!("  constraints {:8.2} ms", time(|| c.compute_constraints(&x, &mut r)));
        println!("  Jacobian    {:8.2} ms", time(|| c.compute_jacobian(&x, &mut j)));
        println!("  Hessian     {:8.2} ms", time(|| c.compute_hessian(&x, 1.0, &y, &mut h)));
        let pattern = KktPattern::new(c.hessian_pattern(), c.jacobian_pattern());
        let mut values = vec![0.0; pattern.lower.len()];
        for ordering in [KktOrdering::Automatic, KktOrdering::General] {
            let mut solver = pattern.solver(c.stages(), ordering, 1);
            pattern.assemble(&h, &j, &vec![1.0; n], &vec![1e-9; m], &mut values);
            let symbolic = solver.symbolic();
            println!(
                "  {ordering:?}: {:.0} k places of L, {:.0} million operations",
                1e-3 * symbolic.num_factor as f64,
                1e-6 * symbolic.num_operations
            );
            println!("  factors     {:8.2} ms", time(|| _ = solver.factor(&values)));
            let mut b = vec![1.0; n + m];
            println!(
                "  solution    {:8.2} ms, {} waited",
                time(|| solver.solve(&mut b)),
                solver.num_waited()
            );
        }
    }
    Ok(())
}

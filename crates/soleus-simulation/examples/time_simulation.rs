//! How long a forward simulation takes.
//!
//! usage: cargo run --release --example time_simulation -- MODEL.osim EXCITATION|- DURATION ACCURACY METHOD [SECONDS]
//!
//! METHOD is rkm, dopri5 or radau5. The simulation is run again and again for SECONDS (default 1); prints JSON with the
//! smallest time and the number of runs. Starts from the default state with muscles in equilibrium.

use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::{Options, System};
use soleus_simulation::linear::SparseLu;
use soleus_simulation::{
    Controls, End, ExplicitRungeKutta, ImplicitSystemOde, Integrator, ModelControls, RadauIIA5, Statistics,
    StepOptions, SystemOde, integrate,
};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, excitation, duration, accuracy, method, rest @ ..] = args.as_slice() else {
        return Err(
            "usage: time_simulation MODEL.osim EXCITATION|- DURATION ACCURACY METHOD [SECONDS]".into()
        );
    };
    let (duration, accuracy): (f64, f64) = (duration.parse()?, accuracy.parse()?);
    let budget: f64 = rest.first().map_or(Ok(1.0), |s| s.parse())?;
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let model = model.ok_or_else(|| format!("{:?}", diagnostics.list.first()))?;
    let system = System::compile_with(&model, &Options { opensim_faults: true })?;

    let mut controls = ModelControls::new(&model, &system);
    if let Ok(e) = excitation.parse() {
        controls.add_excitation(&model, &system, e);
    }
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace());
    if system.constraints.num_rows() > 0 {
        Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut ws)?;
    }
    let mut values = vec![0.0; system.num_controls];
    controls.compute(0.0, &x, &mut values);
    system.solve_equilibrium(&mut x, &values, &mut ws);
    let options = StepOptions::with_accuracy(accuracy);
    let (best, runs, s) = if method == "radau5" {
        let mut ode = ImplicitSystemOde::new(&system, controls);
        let (y0, norm) = (ode.vector(&x), ode.error_norm());
        let n = norm.dim();
        let mut radau = RadauIIA5::with_solvers(norm, options, SparseLu::new(n), SparseLu::new(n));
        time(&mut radau, &mut ode, &y0, duration, budget)?
    } else {
        let mut ode = SystemOde::new(&system, controls);
        let norm = ode.error_norm();
        let mut integrator = match method.as_str() {
            "rkm" => ExplicitRungeKutta::merson(norm, options),
            "dopri5" => ExplicitRungeKutta::dormand_prince(norm, options),
            other => return Err(format!("no method {other}").into()),
        };
        time(&mut integrator, &mut ode, &SystemOde::<ModelControls>::vector(&x), duration, budget)?
    };
    println!(
        "{{\"seconds\": {best}, \"runs\": {runs}, \"real_time_factor\": {}, \"steps\": {}, \"rejected\": {}, \"evaluations\": {}, \
         \"jacobians\": {}, \"factorizations\": {}, \"us_per_evaluation\": {}}}",
        duration / best,
        s.steps,
        s.rejected,
        s.evaluations,
        s.jacobians,
        s.factorizations,
        1e6 * best / s.evaluations.max(1) as f64
    );
    Ok(())
}

/// The smallest time of as many runs as fit into `budget` seconds, how many they were, and the work of one.
fn time<P>(
    integrator: &mut dyn Integrator<P>,
    ode: &mut P,
    x0: &[f64],
    duration: f64,
    budget: f64,
) -> Result<(f64, usize, Statistics), String> {
    let (mut best, mut runs, begin) = (f64::INFINITY, 0, Instant::now());
    loop {
        let start = Instant::now();
        let o = integrate(integrator, ode, (0.0, x0), duration, &mut [], &mut |_| ControlFlow::Continue(()));
        best = best.min(start.elapsed().as_secs_f64());
        runs += 1;
        if o.end != End::Reached {
            return Err(format!("{:?}", o.end));
        }
        if begin.elapsed().as_secs_f64() >= budget {
            return Ok((best, runs, o.statistics));
        }
    }
}

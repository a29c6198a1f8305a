//! Drives a model in real time with input at 1 kHz.
//!
//! usage: cargo run --release --example realtime -- MODEL.osim [SECONDS]
//!
//! Every millisecond the excitation of all muscles is set anew (here a slow sine, in earnest a sensor or a joystick)
//! and the model is advanced by one step of the first-order Rosenbrock method, whose work does not depend on what
//! happens. Prints the pose ten times a second, and at the end how often a deadline was missed.

use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::{Options, System};
use soleus_simulation::linear::SparseLu;
use soleus_simulation::realtime::RealTimeLoop;
use soleus_simulation::system::Constant;
use soleus_simulation::{ImplicitSystemOde, RosenbrockEuler};
use std::time::{Duration, Instant};

/// s.
const PERIOD: f64 = 1e-3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: realtime MODEL.osim [SECONDS]")?;
    let seconds: f64 = args.next().map_or(Ok(2.0), |s| s.parse())?;
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(&file)?, &file);
    let model = model.ok_or_else(|| format!("{:?}", diagnostics.list.first()))?;
    let system = System::compile_with(&model, &Options::default())?;

    let (mut start, mut ws) = (system.default_state.clone(), system.workspace());
    if system.constraints.num_rows() > 0 {
        Assembler::new(&model, &system).solve_assembly(&system, &mut start, &mut ws)?;
    }
    let rest = vec![0.05; system.num_controls];
    system.solve_equilibrium(&mut start, &rest, &mut ws);
    let mut ode = ImplicitSystemOde::new(&system, Constant(rest));
    let (y0, norm) = (ode.vector(&start), ode.error_norm());
    let n = norm.dim();
    let mut method = RosenbrockEuler::with_solver(norm, PERIOD, SparseLu::new(n));

    let begin = Instant::now();
    let mut clock = || begin.elapsed().as_secs_f64();
    let mut run = RealTimeLoop::start(&mut method, &mut ode, (0.0, &y0), PERIOD, clock())?;
    let mut input = |t: f64, _: &[f64], ode: &mut ImplicitSystemOde<Constant>| {
        ode.controls.0.fill(0.1 + 0.08 * (2.0 * std::f64::consts::PI * t).sin());
    };
    for i in 0..(seconds / PERIOD).round() as usize {
        run.tick(&mut input, &mut clock)?;
        if i % 100 == 99 {
            let (t, x) = run.state();
            let pose: Vec<String> = x[..x.len().min(4)].iter().map(|q| format!("{q:8.4}")).collect();
            println!("t = {t:.3} s   q = {}", pose.join(" "));
        }
        // Wait for the next period.
        let ahead = run.next_begin() - clock();
        if ahead > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(ahead));
        }
    }
    let p = run.pace();
    println!(
        "{} steps of {PERIOD} s, {} deadlines missed; longest step {:.0} µs, latest {:.0} µs",
        p.steps,
        p.missed,
        1e6 * p.longest,
        1e6 * p.latest.max(0.0)
    );
    Ok(())
}

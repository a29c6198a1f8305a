//! Times the solver on the swing-up of a chain, and the factorisation of its KKT matrix.
//!
//!     cargo run --release -p soleus-optimization --example swing_up_bench -- LINKS NODES SECONDS TORQUE [SEED]
//!
//! `benches/nlp_against_ipopt.py` solves the same problem with CasADi and Ipopt.

#[path = "../tests/common/mod.rs"]
mod common;

use common::chain::{FastChain, swing_up};
use common::kkt_matrix;
use soleus_math::Random;
use soleus_optimization::linear::{SparseLdlt, SymbolicFactorization};
use soleus_optimization::nlp::{KktOrdering, NonlinearProgram, Options, solve};
use std::ops::ControlFlow;
use std::time::Instant;

/// Seconds this thread has spent on a processor: what it costs on a machine that has other things to do too.
/// Zero where Linux's /proc is missing.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

fn main() {
    let arguments: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [links, nodes, seconds, torque, ..] = arguments[..] else {
        eprintln!("usage: swing_up_bench LINKS NODES SECONDS TORQUE [SEED]");
        std::process::exit(2);
    };
    let mut problem = FastChain::new(swing_up(links as usize, nodes as usize, seconds, torque));
    if let Some(&seed) = arguments.get(4) {
        let mut random = Random::new(seed as u64);
        for v in problem.start_mut() {
            *v = 6.0 * random.unit() - 3.0;
        }
    }
    time_factorization(&mut problem);
    if std::env::var_os("FACTOR_ONLY").is_some() {
        return;
    }
    let verbose = std::env::var_os("VERBOSE").is_some();
    for (name, ordering, threads) in [
        ("along time, 2 threads", KktOrdering::Automatic, 2),
        ("along time, 1 thread", KktOrdering::Automatic, 1),
        ("least fill, 1 thread", KktOrdering::General, 1),
    ] {
        let options = Options { ordering, threads, ..Default::default() };
        let (begin, begin_cpu) = (Instant::now(), cpu_seconds());
        let result = solve(&mut problem, &options, None, &mut |i| {
            if verbose {
                println!(
                    "{:4}{} f {:12.5e} c {:9.2e} d {:9.2e} mu {:8.1e} |d| {:8.1e} reg {:8.1e} a {:8.1e} {:8.1e} {}",
                    i.iteration,
                    if i.in_restoration { 'r' } else { ' ' },
                    i.objective,
                    i.constraint_violation,
                    i.dual_infeasibility,
                    i.barrier,
                    i.step,
                    i.regularization,
                    i.alpha_primal,
                    i.alpha_dual,
                    i.trials
                );
            }
            ControlFlow::Continue(())
        });
        let (wall, cpu) = (begin.elapsed().as_secs_f64(), cpu_seconds() - begin_cpu);
        match result {
            Ok(s) => println!(
                "solve, {name}: {:?} f {:.9} in {} iterations, {} factorisations, {} solves, {wall:.3} s ({cpu:.3} s of processor time of the calling thread)",
                s.status, s.objective, s.counts.iterations, s.counts.factorizations, s.counts.solves
            ),
            Err(e) => println!("{e}"),
        }
    }
}

/// Times everything is done; the system counts processor time in ticks, so many are needed.
const REPEATS: usize = 40;

fn time_factorization(problem: &mut impl NonlinearProgram) {
    let size = problem.num_variables() + problem.num_constraints();
    let begin = Instant::now();
    let (pattern, values) = kkt_matrix(problem);
    let derivatives = begin.elapsed().as_secs_f64();
    println!(
        "KKT: dimension {}, {} values; derivatives {:.1} ms",
        size,
        pattern.lower.len(),
        1e3 * derivatives
    );
    for (name, ordering, threads) in [
        ("along time, 1 thread", KktOrdering::Automatic, 1),
        ("along time, 2 threads", KktOrdering::Automatic, 2),
        ("least fill, 1 thread", KktOrdering::General, 1),
    ] {
        let begin = Instant::now();
        let mut solver: SparseLdlt = pattern.solver(problem.stages(), ordering, threads);
        let analysis = begin.elapsed().as_secs_f64();
        let symbolic: &SymbolicFactorization = solver.symbolic();
        println!(
            "{name}: analysis {:.0} ms, {} places in L, {:.0} million operations",
            1e3 * analysis,
            symbolic.num_factor,
            1e-6 * symbolic.num_operations
        );
        let mut best = [f64::INFINITY; 2];
        let mut cpu = 0.0;
        let mut inertia = Default::default();
        for _ in 0..REPEATS {
            let (begin, begin_cpu) = (Instant::now(), cpu_seconds());
            inertia = solver.factor(&values);
            best[0] = best[0].min(begin.elapsed().as_secs_f64());
            cpu += cpu_seconds() - begin_cpu;
            let mut b = vec![1.0; size];
            let begin = Instant::now();
            solver.solve(&mut b);
            best[1] = best[1].min(begin.elapsed().as_secs_f64());
        }
        println!(
            "{name}: factor {:.2} ms at best ({:.2} ms of processor time of the calling thread in the mean), solve {:.2} ms, {} waited, {inertia:?}",
            1e3 * best[0],
            1e3 * cpu / REPEATS as f64,
            1e3 * best[1],
            solver.num_waited()
        );
    }
}

//! Times the solver on the swing-up of a chain, and the factorisation of its KKT matrix.
//!
//!     cargo run --release -p soleus-optimization --example swing_up_bench -- LINKS NODES SECONDS TORQUE [SEED]
//!
//! `benches/nlp_against_ipopt.py` solves the same problem with CasADi and Ipopt.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Random;
use common::chain::swing_up;
use soleus_optimization::linear::{SparseLdlt, SymbolicFactorization};
use soleus_optimization::nlp::{KktOrdering, KktPattern, NonlinearProgram, Options, solve};
use std::ops::ControlFlow;
use std::time::Instant;

fn main() {
    let arguments: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [links, nodes, seconds, torque, ..] = arguments[..] else {
        eprintln!("usage: swing_up_bench LINKS NODES SECONDS TORQUE [SEED]");
        std::process::exit(2);
    };
    let mut problem = swing_up(links as usize, nodes as usize, seconds, torque);
    if let Some(&seed) = arguments.get(4) {
        let mut random = Random(seed as u64);
        for v in &mut problem.start {
            *v = 6.0 * random.next() - 3.0;
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
        let begin = Instant::now();
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
        let wall = begin.elapsed().as_secs_f64();
        match result {
            Ok(s) => println!(
                "solve, {name}: {:?} f {:.9} in {} iterations, {} factorisations, {} solves, {wall:.3} s",
                s.status, s.objective, s.counts.iterations, s.counts.factorizations, s.counts.solves
            ),
            Err(e) => println!("{e}"),
        }
    }
}

/// One KKT matrix, at the start with multipliers of one and the diagonal of a barrier.
fn time_factorization(problem: &mut impl NonlinearProgram) {
    let (n, m) = (problem.num_variables(), problem.num_constraints());
    let mut x = vec![0.0; n];
    problem.compute_start(&mut x);
    let pattern = KktPattern::new(problem.hessian_pattern(), problem.jacobian_pattern());
    let mut hessian = vec![0.0; problem.hessian_pattern().len()];
    let mut jacobian = vec![0.0; problem.jacobian_pattern().len()];
    let begin = Instant::now();
    problem.compute_hessian(&x, 1.0, &vec![0.1; m], &mut hessian);
    problem.compute_jacobian(&x, &mut jacobian);
    let derivatives = begin.elapsed().as_secs_f64();
    // Fixed variables stay in here, held by a large diagonal; the size is then that of the whole problem.
    let (mut lower, mut upper) = (vec![0.0; n], vec![0.0; n]);
    problem.compute_variable_bounds(&mut lower, &mut upper);
    let d: Vec<f64> = (0..n).map(|i| if lower[i] == upper[i] { 1e8 } else { 1e2 }).collect();
    let mut values = vec![0.0; pattern.lower.len()];
    pattern.assemble(&hessian, &jacobian, &d, &vec![0.0; m], &mut values);
    println!(
        "KKT: dimension {}, {} values; derivatives {:.1} ms",
        n + m,
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
        let mut inertia = Default::default();
        for _ in 0..40 {
            let begin = Instant::now();
            inertia = solver.factor(&values);
            best[0] = best[0].min(begin.elapsed().as_secs_f64());
            let mut b = vec![1.0; n + m];
            let begin = Instant::now();
            solver.solve(&mut b);
            best[1] = best[1].min(begin.elapsed().as_secs_f64());
        }
        println!(
            "{name}: factor {:.2} ms, solve {:.2} ms, {} waited, {inertia:?}",
            1e3 * best[0],
            1e3 * best[1],
            solver.num_waited()
        );
    }
}

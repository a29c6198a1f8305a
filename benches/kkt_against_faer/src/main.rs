//! Factorises the KKT matrix of a swing-up with Soleus and with faer's sparse LBLᵀ and LDLᵀ, one thread each.
//!
//!     cargo run --release --manifest-path benches/kkt_against_faer/Cargo.toml -- LINKS NODES [REGULARIZATION]

#[path = "../../../crates/soleus-optimization/tests/common/mod.rs"]
mod common;

use common::chain::{FastChain, swing_up};
use common::kkt_matrix;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{IntranodeLbltRef, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use soleus_optimization::nlp::{KktOrdering, NonlinearProgram};
use std::time::Instant;

const REPEATS: usize = 30;

/// Seconds this thread has spent on a processor; zero where Linux's /proc is missing.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0) * 1e-9
}

fn time(name: &str, mut run: impl FnMut()) {
    run();
    let mut best = f64::INFINITY;
    let cpu = cpu_seconds();
    for _ in 0..REPEATS {
        let begin = Instant::now();
        run();
        best = best.min(begin.elapsed().as_secs_f64());
    }
    let cpu = (cpu_seconds() - cpu) / REPEATS as f64;
    println!("{name}: {:.2} ms at best, {:.2} ms of processor time in the mean", 1e3 * best, 1e3 * cpu);
}

/// Largest entry of A x − b over that of b, by the lower triangle.
fn residual(lower: &soleus_optimization::SparsityPattern, values: &[f64], x: &[f64], b: &[f64]) -> f64 {
    let mut r = b.to_vec();
    for ((i, j), v) in lower.places().zip(values) {
        r[i] -= v * x[j];
        if i != j {
            r[j] -= v * x[i];
        }
    }
    r.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) })
}

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let [links, nodes, ..] = numbers[..] else {
        eprintln!("usage: kkt_against_faer LINKS NODES [REGULARIZATION]");
        std::process::exit(2);
    };
    let (links, nodes) = (links as usize, nodes as usize);
    let mut problem = FastChain::new(swing_up(links, nodes, 3.0, 100.0));
    let (pattern, mut values) = kkt_matrix(&mut problem);
    let n = pattern.lower.rows();
    // faer pivots within supernodes only, so rows of zeros on the diagonal need a number there.
    if let Some(&regularization) = numbers.get(2) {
        for row in problem.num_variables()..n {
            values[pattern.lower.position(row, row).unwrap()] -= regularization;
        }
    }
    println!("dimension {n}, {} values", values.len());
    let stages = problem.stages().unwrap().clone();

    let b: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    for (name, ordering) in [("along time", KktOrdering::Automatic), ("least fill", KktOrdering::General)] {
        let mut solver = pattern.solver(Some(&stages), ordering, 1);
        time(&format!("Soleus, {name}, factor"), || {
            solver.factor(&values);
        });
        let mut x = b.clone();
        time(&format!("Soleus, {name}, solve"), || {
            x.copy_from_slice(&b);
            solver.solve(&mut x);
        });
        println!("  residual {:.1e}, {} waited", residual(&pattern.lower, &values, &x, &b), solver.num_waited());
    }

    // Rows of our lower triangle are columns of the upper one.
    let mut start = vec![0usize];
    let mut row = Vec::new();
    for r in 0..n {
        row.extend_from_slice(pattern.lower.row(r).0);
        start.push(row.len());
    }
    let symbolic_matrix = SymbolicSparseColMatRef::new_checked(n, n, &start, None, &row);
    let matrix = SparseColMatRef::new(symbolic_matrix, &values);
    let group: Vec<u32> = stages.of_variable.iter().chain(&stages.of_constraint).copied().collect();
    let mut forward: Vec<usize> = (0..n).collect();
    forward.sort_by_key(|&i| (group[i], i));
    let mut backward = vec![0; n];
    for (k, &i) in forward.iter().enumerate() {
        backward[i] = k;
    }
    let along_time = SymmetricOrdering::Custom(PermRef::new_checked(&forward, &backward, n));
    for (name, ordering) in [("AMD", SymmetricOrdering::Amd), ("along time", along_time)] {
        let symbolic =
            factorize_symbolic_cholesky(symbolic_matrix, Side::Upper, ordering, Default::default()).unwrap();
        println!("faer, {name}: {} places in L", symbolic.len_val());
        let mut l = vec![0.0; symbolic.len_val()];
        let (mut subdiagonal, mut p, mut q) = (vec![0.0; n], vec![0usize; n], vec![0usize; n]);
        let mut memory = MemBuffer::new(
            symbolic.factorize_numeric_intranode_lblt_scratch::<f64>(Par::Seq, Default::default()),
        );
        time(&format!("faer, {name}, LBLT"), || {
            symbolic.factorize_numeric_intranode_lblt(
                &mut l,
                &mut subdiagonal,
                &mut p,
                &mut q,
                matrix,
                Side::Upper,
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            );
        });
        let lblt = IntranodeLbltRef::new(&symbolic, &l, &subdiagonal, PermRef::new_checked(&p, &q, n));
        let mut memory = MemBuffer::new(lblt.solve_in_place_scratch::<f64>(1, Par::Seq));
        let mut x = b.clone();
        let column = MatMut::from_column_major_slice_mut(&mut x, n, 1);
        lblt.solve_in_place_with_conj(Conj::No, column, Par::Seq, MemStack::new(&mut memory));
        println!("  residual {:.1e}", residual(&pattern.lower, &values, &x, &b));
        let mut memory =
            MemBuffer::new(symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Default::default()));
        let mut failed = false;
        time(&format!("faer, {name}, LDLT without pivoting"), || {
            failed |= symbolic.factorize_numeric_ldlt(
                &mut l,
                matrix,
                Side::Upper,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .is_err();
        });
        if failed {
            println!("  it met a pivot of zero and gave up, so its time means nothing");
        }
    }
}

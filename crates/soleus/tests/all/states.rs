//! Many states at once: the same numbers as one by one, on any number of threads; derivatives; batches.

use soleus::engine::math::random::Random;
use soleus::states::batch::Copies;
use soleus::states::{At, Batch, BatchMethod, Derivatives, Evaluator, Quantity, Rows, States};
use soleus::{Context, Memory};
use std::sync::Arc;

const GAIT: &[u8] = include_bytes!("../../../../models/gait2d.osim");

fn evaluator() -> Arc<Evaluator> {
    let files = Memory::new().with("gait.osim", GAIT);
    Arc::new(Evaluator::read(&Context::new(&files), &"gait.osim".into()).unwrap())
}

/// Coordinates, speeds, states of muscles and controls of some states about the default one.
fn states(e: &Evaluator, count: usize) -> [Vec<f64>; 4] {
    let s = &*e.system;
    let mut random = Random::new(7);
    let mut all: [Vec<f64>; 4] = Default::default();
    let mut ws = s.workspace();
    for _ in 0..count {
        let mut x = s.default_state.clone();
        x.q.iter_mut().for_each(|q| *q += 0.1 * random.normal());
        x.u.iter_mut().for_each(|u| *u += random.normal());
        let controls: Vec<f64> = (0..s.num_controls).map(|_| random.unit()).collect();
        s.solve_equilibrium(&mut x, &controls, &mut ws);
        all[0].extend(&x.q);
        all[1].extend(&x.u);
        all[2].extend(&x.z);
        all[3].extend(&controls);
    }
    all
}

fn of<'a>([q, u, z, e]: &'a [Vec<f64>; 4], count: usize) -> States<'a> {
    let rows = |x: &'a Vec<f64>| Some(Rows::each(x, count));
    States { q: rows(q), u: rows(u), z: rows(z), e: rows(e), ..States::default() }
}

#[test]
fn identity_many_states_on_any_number_of_threads() {
    let e = evaluator();
    let x = states(&e, 70);
    let names = Evaluator::quantity_names();
    let quantities: Vec<Quantity> =
        names.iter().filter(|n| *n != "inverse_dynamics").map(|n| e.quantity(n).unwrap()).collect();
    let run = |threads: usize| {
        let mut out: Vec<Vec<f64>> = quantities.iter().map(|q| vec![f64::NAN; 70 * q.size(&e)]).collect();
        let mut slices: Vec<&mut [f64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        let troubles = e.evaluate(&of(&x, 70), &quantities, &mut slices, threads).unwrap();
        assert_eq!(troubles, Default::default());
        out
    };
    let one = run(1);
    assert!(one.iter().flatten().all(|v| v.is_finite()), "a quantity was not written");
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
    // One by one, through the kernel itself.
    let s = &*e.system;
    let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
    let mut ws = s.workspace();
    let mut state = s.default_state.clone();
    let udot = names.iter().filter(|n| *n != "inverse_dynamics").position(|n| n == "udot").unwrap();
    for i in 0..70 {
        state.q.copy_from_slice(&x[0][i * n..(i + 1) * n]);
        state.u.copy_from_slice(&x[1][i * n..(i + 1) * n]);
        state.z.copy_from_slice(&x[2][i * nz..(i + 1) * nz]);
        s.compute_motion(&state, &x[3][i * ne..(i + 1) * ne], &mut ws).unwrap();
        assert_eq!(ws.udot, one[udot][i * n..(i + 1) * n]);
    }
}

#[test]
fn identity_linearized_motion_solves_the_implicit_equations() {
    // f(x, ẋ, e) = 0 with ẋ = g(x, e):  ∂f/∂x + ∂f/∂ẋ A = 0,  ∂f/∂e + ∂f/∂ẋ B = 0.
    let e = evaluator();
    let x = states(&e, 20);
    let derivatives = Derivatives::new(e.clone());
    let (j, _) = derivatives.jacobians(&of(&x, 20), None, None, 2).unwrap();
    let ([_, a, b], _) = derivatives.linearize(&of(&x, 20), 2).unwrap();
    let [dx, dxdot, de, _] = derivatives.pattern();
    let (nx, ne) = (dx.columns, de.columns);
    let dense = |m: &soleus::engine::dynamics::implicit::SparseMatrix, values: &[f64]| {
        let mut full = vec![0.0; m.rows * m.columns];
        for c in 0..m.columns {
            for k in m.start[c]..m.start[c + 1] {
                full[m.row[k] * m.columns + c] = values[k];
            }
        }
        full
    };
    for i in 0..20 {
        let part = |list: &[f64], size: usize| list[i * size..(i + 1) * size].to_vec();
        let fx = dense(dx, &part(&j.dx, dx.num_entries()));
        let fd = dense(dxdot, &part(&j.dxdot, dxdot.num_entries()));
        let fe = dense(de, &part(&j.de, de.num_entries()));
        for (f, g, width) in [(&fx, part(&a, nx * nx), nx), (&fe, part(&b, nx * ne), ne)] {
            for r in 0..nx {
                for c in 0..width {
                    let terms = (0..nx).map(|k| fd[r * nx + k] * g[k * width + c]);
                    let size: f64 = terms.clone().map(f64::abs).sum::<f64>() + f[r * width + c].abs();
                    let sum = f[r * width + c] + terms.sum::<f64>();
                    // Rounding of the sum, and of what the two ways find; fibers are stiff, so that seven digits of ten are kept.
                    assert!(sum.abs() <= 1e-7 * size.max(1e-6), "state {i}, {r}, {c}: {sum} of {size}");
                }
            }
        }
    }
}

#[test]
fn identity_copies_of_a_batch_do_not_meet() {
    let e = evaluator();
    let document = Arc::new(soleus::engine::io::osim::read_document(GAIT, "gait.osim").0.unwrap());
    let s = &*e.system;
    let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
    let x = states(&e, 9);
    let run = |range: std::ops::Range<usize>, threads: usize| {
        let count = range.len();
        let batch = Batch::new(e.clone(), document.clone(), count, BatchMethod::Rosenbrock, 1e-3);
        let part = |list: &[f64], w: usize| list[range.start * w..range.end * w].to_vec();
        let (mut time, mut q, mut u, mut z) =
            (vec![0.0; count], part(&x[0], n), part(&x[1], n), part(&x[2], nz));
        let controls = part(&x[3], ne);
        for _ in 0..4 {
            let copies = Copies { time: &mut time, q: &mut q, u: &mut u, z: &mut z, e: &controls };
            assert!(batch.step(copies, 2e-3, 2, threads).unwrap().is_empty());
        }
        assert!(time.iter().all(|t| (t - 8e-3).abs() < 1e-12));
        (q, u, z)
    };
    let all = run(0..9, 1);
    assert_eq!(all, run(0..9, 2));
    assert_eq!(all, run(0..9, 4));
    for i in [0, 4, 8] {
        let alone = run(i..i + 1, 1);
        assert_eq!(alone.0, all.0[i * n..(i + 1) * n]);
        assert_eq!(alone.2, all.2[i * nz..(i + 1) * nz]);
    }
}

/// Gradients of steps beside central differences of the steps themselves, for several weighted sums at once.
#[test]
fn deriv_steps_of_a_batch() {
    let e = evaluator();
    let document = Arc::new(soleus::engine::io::osim::read_document(GAIT, "gait.osim").0.unwrap());
    let s = &*e.system;
    let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
    let (nx, count, sums) = (2 * n + nz, 2, 3);
    let mut random = Random::new(3);
    // Away from equilibrium, where fibers rest: there the curvature of their force bends, and differences are of first order.
    let mut x = states(&e, count);
    x[2].iter_mut().for_each(|z| *z *= 1.0 + 0.01 * random.normal());
    let weights: Vec<f64> = (0..count * sums * nx).map(|_| random.normal()).collect();
    for (method, dt, steps) in [
        (BatchMethod::Rosenbrock, 2e-3, 1),
        (BatchMethod::Rosenbrock, 4e-3, 3),
        (BatchMethod::SemiExplicitEuler, 2e-5, 1),
        (BatchMethod::SemiExplicitEuler, 6e-5, 3),
    ] {
        let batch = Batch::new(e.clone(), document.clone(), count, method, 1e-3);
        let at = At { time: &vec![0.0; count], q: &x[0], u: &x[1], z: &x[2], e: &x[3] };
        let found = batch.gradients(at, dt, steps, &weights, sums, 1).unwrap();
        assert!(found.failures.is_empty());
        assert_eq!(found, batch.gradients(at, dt, steps, &weights, sums, 2).unwrap());
        // The sums after the step, from states changed by h along a direction.
        let along: Vec<f64> = (0..count * (nx + ne)).map(|_| random.normal()).collect();
        let after = |h: f64| {
            let mut y = x.clone();
            let widths = [n, n, nz, ne];
            for copy in 0..count {
                let mut d = along[copy * (nx + ne)..(copy + 1) * (nx + ne)].iter();
                for (part, w) in y.iter_mut().zip(widths) {
                    part[copy * w..(copy + 1) * w].iter_mut().for_each(|v| *v += h * d.next().unwrap());
                }
            }
            let [q, u, z, controls] = &mut y;
            let copies = Copies { time: &mut vec![0.0; count], q, u, z, e: controls };
            assert!(batch.step(copies, dt, steps, 1).unwrap().is_empty());
            (0..count * sums)
                .map(|k| {
                    let (copy, w) = (k / sums, &weights[k * nx..(k + 1) * nx]);
                    let row = [
                        &q[copy * n..(copy + 1) * n],
                        &u[copy * n..(copy + 1) * n],
                        &z[copy * nz..(copy + 1) * nz],
                    ]
                    .concat();
                    row.iter().zip(w).map(|(x, w)| x * w).sum::<f64>()
                })
                .collect::<Vec<f64>>()
        };
        // Differences of fourth order. Curves of muscles and contacts are made of pieces, and shorter steps cross fewer of their ends.
        let h = 1e-7;
        let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(after);
        for k in 0..count * sums {
            let expected = (8.0 * (a[k] - b[k]) - (c[k] - d[k])) / (12.0 * h);
            let direction = &along[k / sums * (nx + ne)..(k / sums + 1) * (nx + ne)];
            let by = found.x[k * nx..(k + 1) * nx].iter().chain(&found.e[k * ne..(k + 1) * ne]);
            let terms: Vec<f64> = by.zip(direction).map(|(g, d)| g * d).collect();
            let (sum, size) = (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>());
            let error = (sum - expected).abs();
            assert!(error < 1e-6 * size, "{method:?}, {steps} steps, {k}: {sum} and {expected} of {size}");
        }
    }
}

#[test]
fn analytic_a_step_without_gradients_says_so() {
    let e = evaluator();
    let document = Arc::new(soleus::engine::io::osim::read_document(GAIT, "gait.osim").0.unwrap());
    let batch = Batch::new(e, document, 0, BatchMethod::Rkm, 1e-3);
    let at = At { time: &[], q: &[], u: &[], z: &[], e: &[] };
    let message = batch.gradients(at, 1e-3, 1, &[], 1, 1).unwrap_err().to_string();
    assert!(message.contains("rosenbrock"), "{message}");
}

#[test]
fn analytic_wrong_questions_name_the_nearest() {
    let e = evaluator();
    assert!(e.quantity("muscle.tendon_forse").unwrap_err().to_string().contains("muscle.tendon_force"));
    assert!(e.quantity("moment_arm:knee_angel_r").unwrap_err().to_string().contains("knee_angle_r"));
    let q = [0.0; 4];
    let states = States { q: Some(Rows::all(&q)), ..States::default() };
    assert!(e.count(&states).unwrap_err().to_string().contains("9 for each state"));
}

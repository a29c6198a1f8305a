//! Steps of batches against the engine.

use soleus_batch::{Batch, BatchOptions, BatchParameter, Step};
use soleus_dynamics::System;

fn model() -> (soleus_model::Model, System) {
    let model = super::agreement::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim"));
    let system = System::compile(&model).unwrap();
    (model, system)
}

/// A semi-implicit step is that of the engine, by hand.
#[test]
fn identity_semi_implicit_step() {
    let (model, system) = model();
    let options = BatchOptions { step: Step::SemiImplicit, ..BatchOptions::default() };
    let mut batch = Batch::new(&model, &system, 5, options).unwrap();
    batch.add_noise(3, 0.02);
    batch.controls_mut().fill(0.3);
    let (n, h, copy) = (system.tree.num_mobilities, 1e-3, 3);
    let mut state = system.default_state.clone();
    for i in 0..n {
        state.q[i] = batch.states()[i * 5 + copy];
        state.u[i] = batch.states()[(n + i) * 5 + copy];
    }
    let mut ws = system.workspace();
    system.compute_motion(&state, &vec![0.3; system.num_controls], &mut ws).unwrap();
    batch.step(h);
    for i in 0..n {
        let u = state.u[i] + h * ws.udot[i];
        let q = state.q[i] + h * u;
        assert!((batch.states()[i * 5 + copy] - q).abs() < 1e-12 * (1.0 + q.abs()));
        assert!((batch.states()[(n + i) * 5 + copy] - u).abs() < 1e-11 * (1.0 + u.abs()));
    }
    for i in 0..system.num_aux {
        let z = state.z[i] + h * ws.zdot[i];
        assert!((batch.states()[(2 * n + i) * 5 + copy] - z).abs() < 1e-11 * (1.0 + z.abs()));
    }
}

/// Halving the step halves the error of both kinds of step.
#[test]
fn order_of_steps_is_one() {
    let (model, system) = model();
    for step in [Step::SemiImplicit, Step::LinearlyImplicit] {
        let end = |steps: usize| {
            let options = BatchOptions { step, threads: 1, ..BatchOptions::default() };
            let mut batch = Batch::new(&model, &system, 1, options).unwrap();
            batch.controls_mut().fill(0.2);
            batch.rollout(0.01 / steps as f64, steps, &mut |_, _| {});
            batch.states().to_vec()
        };
        let best = end(4096);
        let error =
            |steps: usize| end(steps).iter().zip(&best).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let ratio = error(128) / error(256);
        // 2 as h → 0; the reference itself is off by 1/16 of the finer error.
        assert!((1.7..2.6).contains(&ratio), "{step:?}: {ratio}");
    }
}

/// The gradient of a step against differences along a direction.
#[test]
fn deriv_step_gradients() {
    let (model, system) = model();
    let make = || {
        let mut batch = Batch::new(&model, &system, 3, BatchOptions::default()).unwrap();
        batch.add_noise(5, 0.05);
        batch.controls_mut().fill(0.4);
        batch
    };
    let batch = make();
    let (n, copy, h) = (3, 1, 0.002);
    let weights: Vec<f64> = (0..batch.states().len()).map(|i| (1.0 + i as f64).sin()).collect();
    let gradient = batch.step_gradients(h, &weights);
    let direction = |i: usize| (0.3 + i as f64).cos() * 1e-3;
    let count = batch.states().len() / n;
    let along: f64 = (0..count).map(|i| gradient[i * n + copy] * direction(i)).sum();
    let value = |sign: f64, e: f64| {
        let mut batch = make();
        for i in 0..count {
            batch.states_mut()[i * n + copy] += sign * e * direction(i);
        }
        batch.step(h);
        (0..count).map(|i| batch.states()[i * n + copy] * weights[i * n + copy]).sum::<f64>()
    };
    let e = 1e-3;
    let fd = (value(1.0, e) - value(-1.0, e)) / (2.0 * e);
    // Truncation e² and roundoff 1e-16/1e-6 of sums near 10.
    assert!((along - fd).abs() < 1e-6 * along.abs().max(1e-3), "{along} {fd}");
}

/// The same seed gives the same bits, on any number of threads and whatever else is in the batch; a copy can be reset alone.
#[test]
fn identity_bits_threads_and_resets() {
    let (model, system) = model();
    let run = |copies: usize, threads: usize| {
        let options = BatchOptions { threads, ..BatchOptions::default() };
        let mut batch = Batch::new(&model, &system, copies, options).unwrap();
        batch.add_noise(11, 0.01);
        batch.rollout(0.002, 20, &mut |_, _| {});
        batch
    };
    let (mut a, b, c) = (run(40, 1), run(40, 2), run(9, 1));
    assert_eq!(a.states(), b.states());
    for i in 0..a.states().len() / 40 {
        assert_eq!(a.states()[i * 40 + 4].to_bits(), c.states()[i * 9 + 4].to_bits());
    }
    a.reset(4);
    for (i, q) in system.default_state.q.iter().enumerate() {
        assert_eq!(a.states()[i * 40 + 4], *q);
        assert_eq!(a.states()[i * 40 + 5], b.states()[i * 40 + 5]);
    }
}

/// Copies with other masses, strengths, tendons and ground move as the engine does with a model that has them.
#[test]
fn identity_parameters_of_copies() {
    let (model, system) = model();
    let muscle =
        model.forces.iter().find(|f| matches!(f.kind, soleus_model::force::ForceKind::Muscle(_))).unwrap();
    let (muscle, body) = (muscle.name.clone(), model.bodies[1].name.clone());
    let list = || {
        vec![
            BatchParameter::mass(&body),
            BatchParameter::strength(&muscle),
            BatchParameter::tendon_length(&muscle),
        ]
    };
    let mut batch = Batch::with_parameters(&model, &system, &list(), 3, BatchOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    batch.add_noise(3, 0.02);
    batch.controls_mut().fill(0.3);
    let factors = [1.1, 0.7, 0.98];
    for (j, f) in factors.iter().enumerate() {
        batch.parameters_mut()[j * 3 + 1] = *f;
    }
    let y = batch.evaluate();
    let mut changed = model.clone();
    for b in changed.bodies.iter_mut().filter(|b| b.name == body) {
        b.mass *= 1.1;
        b.inertia = b.inertia.scale(1.1);
    }
    for f in changed.forces.iter_mut().filter(|f| f.name == muscle) {
        if let soleus_model::force::ForceKind::Muscle(m) = &mut f.kind {
            m.max_isometric_force *= 0.7;
            m.tendon_slack_length *= 0.98;
        }
    }
    for (copy, model) in [(0, &model), (1, &changed)] {
        let system = System::compile(model).unwrap();
        let x: Vec<f64> = batch.states().iter().skip(copy).step_by(3).copied().collect();
        let n = system.tree.num_mobilities;
        let mut state = system.default_state.clone();
        state.q.copy_from_slice(&x[..n]);
        state.u.copy_from_slice(&x[n..2 * n]);
        state.z.copy_from_slice(&x[2 * n..]);
        let mut ws = system.workspace();
        system.compute_motion(&state, &vec![0.3; system.num_controls], &mut ws).unwrap();
        let wanted: Vec<f64> = ws.udot.iter().chain(&ws.zdot).copied().collect();
        let size = wanted.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
        for (i, w) in wanted.iter().enumerate() {
            let found = y[i * 3 + copy];
            assert!((found - w).abs() <= 1e-11 * size, "copy {copy}, output {i}: {found} {w}");
        }
    }
    // Another copy's factors are none of this one's business, and a reset keeps its own.
    batch.reset(1);
    assert_eq!(batch.parameters_mut()[1], 1.1);
}

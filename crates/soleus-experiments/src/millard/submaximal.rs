//! The benchmark at submaximal activation, on substitutes: activation recovered from an isometric force, used to predict the
//! force in movement. First with forces of our own, where the truth is known, then with measured ones.

use super::maximal::{cat_soleus, fit_passive, path};
use super::not_solved;
use super::records::{GRID, Record};
use super::specimen::{Drive, Method, Specimen, Tendon, Test, mean_difference};
use crate::report::{Report, list};
use crate::sheet::Series;
use crate::sheet::{Folder, Sheet};
use soleus::Error;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::function::{PiecewiseLinear, SimmSpline};
use soleus_math::signal::Butterworth;
use soleus_simulation::MuscleInput;
use std::f64::consts::TAU;

/// Cutoff of the forces of isometric trials in the paper, Hz.
const CUTOFF_HZ: f64 = 120.0;

/// Cutoff for the measured records, Hz: they have 100 samples per second, and their noise would be differentiated.
const RECORD_CUTOFF_HZ: f64 = 20.0;

/// A root of a function that falls, between two ends; the nearer end if there is none.
fn falling_root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The activation that a model needs at length L (m) to have the given forces (N) at samples `dt` apart.
///
/// With an elastic tendon the force gives the length of the tendon, so of the fiber, whose rate then is that of a muscle
/// with the right activation. Between the least activation and 1.
fn recover(s: &Specimen, tendon: Tendon, L: f64, force: &[f64], dt: f64) -> Result<Vec<f64>, Error> {
    let muscle = s.compile(tendon).map_err(not_solved)?;
    let least = tendon.least_activation();
    if tendon == Tendon::Rigid {
        let tension = |a: f64| muscle.dynamics(L, 0.0, a, &[a], &mut [0.0]);
        return Ok(force.iter().map(|f| falling_root(least, 1.0, |a| f - tension(a))).collect());
    }
    let tension = |l: f64| muscle.dynamics(L, 0.0, 0.0, &[least, l], &mut [0.0; 2]);
    let fiber: Vec<f64> =
        force.iter().map(|f| falling_root(0.3 * s.l0, 2.0 * s.l0, |l| tension(l) - f.max(0.0))).collect();
    let times = (0..fiber.len()).map(|i| i as f64 * dt).collect();
    let spline = SimmSpline::new(times, fiber).map_err(not_solved)?;
    let activation = |i: usize| {
        let [l, rate, _] = spline.eval(i as f64 * dt);
        falling_root(least, 1.0, |a| {
            let mut dot = [0.0; 2];
            muscle.dynamics(L, 0.0, a, &[a, l], &mut dot);
            dot[1] - rate
        })
    };
    Ok((0..force.len()).map(activation).collect())
}

/// Forces (N) of a model in a movement at activations that are given at the samples.
fn predict(
    s: &Specimen,
    tendon: Tendon,
    activation: &[f64],
    dt: f64,
    movement: impl Fn(f64) -> (f64, f64),
) -> Result<Vec<f64>, Error> {
    let muscle: CompiledMuscle = s.compile(tendon).map_err(not_solved)?;
    let samples = activation.len();
    let times = (0..samples).map(|i| i as f64 * dt).collect();
    let activation = PiecewiseLinear::new(times, activation.to_vec()).map_err(not_solved)?;
    let input = |t: f64| {
        let (length, speed) = movement(t);
        MuscleInput { length, speed, excitation: activation.value(t) }
    };
    let test = Test { muscle: &muscle, input, drive: Drive::Activation, l0: s.l0, grid: dt, samples };
    Ok(test.run(Method::Explicit(1e-5)).map_err(not_solved)?.force)
}

/// Numbers from 0 to 1, the same every time.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (s >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Activation under a train of pulses (1/s), evenly spaced or at random: twitches that rise in 30 ms, add up, and saturate.
fn train(rate: f64, random: bool, samples: usize, dt: f64) -> Vec<f64> {
    const RISE: f64 = 0.03;
    let mut next = noise(11 + rate as u64);
    let mut pulses = vec![0.05];
    while let Some(&last) = pulses.last().filter(|t| **t < samples as f64 * dt) {
        pulses.push(last + if random { (0.4 + 1.2 * next()) / rate } else { 1.0 / rate });
    }
    let twitch = |t: f64| if t > 0.0 { t / RISE * (1.0 - t / RISE).exp() } else { 0.0 };
    let sum = |t: f64| pulses.iter().map(|p| twitch(t - p)).sum::<f64>();
    (0..samples).map(|i| 1.0 - (-0.45 * sum(i as f64 * dt)).exp()).collect()
}

/// Length from its mean in units of the largest, and its rate: three sines, ours, as the paper's waveform is not published
/// as numbers.
fn waveform(t: f64) -> (f64, f64) {
    let parts = [(0.5, 1.3), (0.3, 2.9), (0.2, 4.7)];
    let each = |(a, f): (f64, f64)| {
        let (sin, cos) = (TAU * f * t).sin_cos();
        (a * sin, a * TAU * f * cos)
    };
    parts.into_iter().map(each).fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1))
}

/// A damped muscle plays the experiment; all three models try to follow.
pub fn twin(report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Submaximal activation, synthetic data: the damped model instead of the animal, with our movement and pulses",
    );
    let (dt, samples) = (0.001, 1501);
    let s = Specimen { vmax: 10.0, beta: 0.1, ..cat_soleus(25.1) };
    let held = s.rest_length() - 0.004;
    let filter = Butterworth::new(CUTOFF_HZ, dt).map_err(not_solved)?;
    let mut sheet = Sheet::new(&[
        "stimulation",
        "model",
        "activation, mean error",
        "force, isometric (% f0)",
        "force, 1 mm (% f0)",
        "force, 8 mm (% f0)",
    ]);
    let mut worst = [[0.0f64; 4]; 3];
    for (rate, random) in
        [(10.0, false), (20.0, false), (30.0, false), (10.0, true), (20.0, true), (30.0, true)]
    {
        let truth = train(rate, random, samples, dt);
        let moved = |amplitude: f64| {
            move |t: f64| {
                let (l, v) = waveform(t);
                (held + amplitude * l, amplitude * v)
            }
        };
        // The isometric trial has noise of 0.1 % F₀, which the filter is for.
        let mut next = noise(5);
        let isometric: Vec<f64> = predict(&s, Tendon::Damped, &truth, dt, moved(0.0))?
            .into_iter()
            .map(|f| f + 2e-3 * s.f0 * (next() - 0.5))
            .collect();
        let isometric = filter.forward_backward(&isometric).map_err(not_solved)?;
        let measured = [0.0, 0.001, 0.008].map(|a| predict(&s, Tendon::Damped, &truth, dt, moved(a)));
        for (k, tendon) in [Tendon::Damped, Tendon::Equilibrium, Tendon::Rigid].into_iter().enumerate() {
            let activation = recover(&s, tendon, held, &isometric, dt)?;
            let mut errors = [mean_difference(&activation, &truth), 0.0, 0.0, 0.0];
            for (i, (amplitude, measured)) in [0.0, 0.001, 0.008].into_iter().zip(&measured).enumerate() {
                let Ok(measured) = measured else { continue };
                let force = predict(&s, tendon, &activation, dt, moved(amplitude))?;
                errors[i + 1] = 100.0 * mean_difference(&force, measured) / s.f0;
            }
            for (w, e) in worst[k].iter_mut().zip(errors) {
                *w = w.max(e);
            }
            let mut row = vec![
                format!("{rate} Hz{}", if random { ", random" } else { "" }),
                tendon.name().to_string(),
                format!("{:.4}", errors[0]),
            ];
            row.extend(errors[1..].iter().map(|e| format!("{e:.2}")));
            sheet.row(row);
        }
    }
    for (w, (name, published)) in worst.iter().zip([
        ("damped", "3.2, 16.2 against the animal"),
        ("equilibrium", "3.3, 16.4 against the animal"),
        ("rigid", "5.5, 18.5 against the animal"),
    ]) {
        report.note(
            &format!(
                "{name}: largest of six mean errors of activation; of force isometric, 1 mm, 8 mm (% f0)"
            ),
            &format!("{:.4}; {}", w[0], list(&w[1..], 2)),
            published,
        );
    }
    report.row(
        "the damped model with its own activation recovered: largest mean error of force (% f0)",
        &list(&[worst[0][1..].iter().fold(0.0, |a: f64, b| a.max(*b))], 2),
        "below 1",
        worst[0][1..].iter().all(|e| *e < 1.0),
    );
    report.row(
        "damped, equilibrium, rigid at 8 mm (% f0)",
        &list(&[worst[0][3], worst[1][3], worst[2][3]], 2),
        "rising, as published",
        worst[0][3] < worst[1][3] && worst[1][3] < worst[2][3],
    );
    folder.table("submaximal_twin", "Submaximal activation: synthetic data", &sheet)
}

/// Activation from the trial held at 0 mm, force predicted in the others of the same figure.
pub fn measured(records: &[Record], f0: f64, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Submaximal benchmark's procedure on Herzog and Leonard (2002): activation from the trial held at 0 mm (substitute data; full stimulation)",
    );
    let mut s = Specimen { vmax: 10.0, beta: 0.1, ..cat_soleus(f0) };
    if let Some(passive) = records.iter().find(|r| r.speed == 9.0 && !r.active) {
        s = fit_passive(&s, passive);
    }
    let filter = Butterworth::new(RECORD_CUTOFF_HZ, GRID).map_err(not_solved)?;
    let isometric =
        |speed: f64| records.iter().find(|r| r.active && r.speed == speed && r.from_to == [0.0; 2]);
    let mut smooth = Vec::new();
    for speed in [3.0, 9.0, 27.0] {
        let Some(r) = isometric(speed) else { return Ok(()) };
        smooth.push((speed, filter.forward_backward(&r.force).map_err(not_solved)?));
    }

    // The F₀ with which activation just reaches 1, as in the paper.
    let largest = |f0: f64| -> Result<f64, Error> {
        let s = Specimen { f0, ..s };
        let mut top: f64 = 0.0;
        for (_, force) in &smooth {
            let a = recover(&s, Tendon::Damped, s.rest_length(), force, GRID)?;
            top = a.into_iter().fold(top, f64::max);
        }
        Ok(top)
    };
    let (mut low, mut high) = (0.5 * f0, 3.0 * f0);
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if largest(middle)? > 1.0 - 1e-6 {
            low = middle;
        } else {
            high = middle;
        }
    }
    s.f0 = high;
    report.note(
        "f0 with which activation just reaches 1 (N)",
        &format!("{:.2}", s.f0),
        "25.1 for the cats of the paper",
    );

    let mut sheet = Sheet::new(&["trial", "damped (% f0)", "equilibrium (% f0)", "rigid (% f0)"]);
    let mut all = Vec::new();
    let mut lines = Vec::new();
    for (speed, force) in &smooth {
        let mut activation = Vec::new();
        for tendon in [Tendon::Damped, Tendon::Equilibrium, Tendon::Rigid] {
            activation.push((tendon, recover(&s, tendon, s.rest_length(), force, GRID)?));
        }
        for r in records.iter().filter(|r| r.active && r.speed == *speed) {
            let mut errors = Vec::new();
            for (tendon, a) in &activation {
                let f = predict(&s, *tendon, a, GRID, |t| path(&s, r, t))?;
                errors.push(100.0 * mean_difference(&f, &r.force) / s.f0);
                if r.speed == 9.0 && r.from_to == [0.0, 9.0] {
                    lines.push((tendon.name(), f));
                }
            }
            report.note(
                &format!("{}, mean error of damped, equilibrium, rigid (% f0)", r.name),
                &list(&errors, 1),
                "",
            );
            let mut row = vec![r.name.clone()];
            row.extend(errors.iter().map(|e| format!("{e:.2}")));
            sheet.row(row);
            all.push(errors);
        }
    }
    let worst = |k: usize| all.iter().map(|e| e[k]).fold(0.0, f64::max);
    // Errors of other animals in other movements have no bar.
    report.note(
        "largest mean error of damped and equilibrium model (% f0)",
        &list(&[worst(0), worst(1)], 1),
        "16.2 and 16.4 with other data",
    );
    report.note(
        "largest mean error of the rigid model (% f0)",
        &list(&[worst(2)], 1),
        "18.5 with other data",
    );
    folder.table(
        "submaximal_measured",
        "Submaximal procedure on measured forces (substitute data)",
        &sheet,
    )?;
    let Some(r) = records.iter().find(|r| r.active && r.speed == 9.0 && r.from_to == [0.0, 9.0]) else {
        return Ok(());
    };
    let times: Vec<f64> = (0..r.force.len()).map(|i| i as f64 * GRID).collect();
    let mut series = vec![Series { name: "measured", x: &times, y: &r.force }];
    series.extend(lines.iter().map(|(name, y)| Series { name, x: &times, y }));
    folder.picture("submaximal_measured", [&r.name, "time (s)", "force (N)"], &series)
}

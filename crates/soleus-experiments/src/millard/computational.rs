//! The two computational benchmarks: an elastic tendon at eleven activations, and tendons from stiff to long.

use super::not_solved;
use super::specimen::{Drive, Method, Run, Specimen, Tendon, Test, mean_difference, range};
use crate::report::{Report, list};
use crate::sheet::Series;
use crate::sheet::{Folder, Sheet};
use soleus::Error;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_simulation::MuscleInput;
use std::f64::consts::TAU;

/// The force is read every 5 ms over the 1 s of a simulation.
const GRID: f64 = 0.005;
const SAMPLES: usize = 201;

/// Mean error allowed to a simulation, in units of F₀.
const ALLOWED: f64 = 1e-3;

/// Tolerance of what counts as exact.
const EXACT: f64 = 1e-12;

/// Tolerances found by the first benchmark, for the second.
pub struct Tolerances {
    damped: [Method; 2],
}

/// A muscle that is moved as l_s + l₀ cos α₀ + A sin 2πt.
fn sine<'a>(
    s: &Specimen,
    muscle: &'a CompiledMuscle,
    amplitude: f64,
    activation: f64,
) -> Test<'a, impl Fn(f64) -> MuscleInput> {
    let middle = s.rest_length();
    let input = move |t: f64| {
        let (sin, cos) = (TAU * t).sin_cos();
        MuscleInput { length: middle + amplitude * sin, speed: amplitude * TAU * cos, excitation: activation }
    };
    Test { muscle, input, drive: Drive::Activation, l0: s.l0, grid: GRID, samples: SAMPLES }
}

/// The loosest tolerance (a power of ten) at which every one of the tests has a mean error below 0.1 % F₀.
fn tolerance<F: Fn(f64) -> MuscleInput>(
    tests: &[Test<F>],
    exact: &[Run],
    of: fn(f64) -> Method,
) -> Result<(Method, f64), Error> {
    let mut found = (of(EXACT), 0.0);
    for k in 1..10 {
        let method = of(10f64.powi(-k));
        let mut worst: f64 = 0.0;
        for (test, exact) in tests.iter().zip(exact) {
            let run = test.run(method).map_err(not_solved)?;
            worst = worst.max(mean_difference(&run.force, &exact.force));
        }
        if worst < ALLOWED {
            found = (method, worst);
            break;
        }
    }
    Ok(found)
}

fn percent(x: f64) -> f64 {
    100.0 * x
}

/// Mean and standard deviation.
fn mean_and_deviation(v: &[f64]) -> (f64, f64) {
    let n = v.len() as f64;
    let mean = v.iter().sum::<f64>() / n;
    (mean, (v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Benchmark 1: l₀ = 2 cm, α₀ = 30°, l_s = 20 cm, amplitude l₀, activations 0 to 1.
pub fn elastic(report: &mut Report, folder: &Folder) -> Result<Tolerances, Error> {
    report.heading(
        "Elastic tendon: 1 s of sine, amplitude l0, at eleven activations (section 3, Figs. 5 and 6)",
    );
    let s = Specimen { alpha0: 30f64.to_radians(), ..Specimen::default() };
    let activations: Vec<f64> = (0..11).map(|k| 0.1 * f64::from(k)).collect();
    let models = [Tendon::Damped, Tendon::Equilibrium];
    let muscles = [s.compile(models[0]).map_err(not_solved)?, s.compile(models[1]).map_err(not_solved)?];
    let mut exact = [Vec::new(), Vec::new()];
    let mut work = [Vec::new(), Vec::new()];
    let mut methods = Vec::new();
    for m in 0..2 {
        let tests: Vec<_> = activations
            .iter()
            .map(|a| sine(&s, &muscles[m], s.l0, a.max(models[m].least_activation())))
            .collect();
        for test in &tests {
            exact[m].push(test.run(Method::Explicit(EXACT)).map_err(not_solved)?);
        }
        let explicit = tolerance(&tests, &exact[m], Method::Explicit)?;
        let implicit = tolerance(&tests, &exact[m], Method::Implicit)?;
        report.row(
            &format!("{}: mean error at {}, {} (% f0)", models[m].name(), say(explicit.0), say(implicit.0)),
            &list(&[percent(explicit.1), percent(implicit.1)], 4),
            "below 0.1",
            explicit.1.max(implicit.1) < ALLOWED,
        );
        for test in &tests {
            let mut cells = [(0, 0.0); 2];
            for (cell, method) in cells.iter_mut().zip([explicit.0, implicit.0]) {
                let steps = test.run(method).map_err(not_solved)?.statistics.steps;
                *cell = (steps, test.seconds(method).map_err(not_solved)?);
            }
            work[m].push(cells);
        }
        methods.push([explicit.0, implicit.0]);
    }

    // One row per activation.
    let mut sheet = Sheet::new(&[
        "activation",
        "mean difference (% f0)",
        "largest difference (% f0)",
        "fiber length (l0)",
        "fiber velocity (vmax)",
        "steps damped, explicit",
        "steps equilibrium, explicit",
        "time ratio, explicit",
        "steps damped, implicit",
        "steps equilibrium, implicit",
        "time ratio, implicit",
    ]);
    let (mut differences, mut ratios, mut step_ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut lengths, mut speeds) = (Vec::new(), Vec::new());
    for (k, &a) in activations.iter().enumerate() {
        let (d, e) = (&exact[0][k], &exact[1][k]);
        let mean = mean_difference(&d.force, &e.force);
        let largest = d.force.iter().zip(&e.force).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let test = sine(&s, &muscles[0], s.l0, a);
        let other = sine(&s, &muscles[1], s.l0, a.max(models[1].least_activation()));
        let (l, v) = (range(&d.fiber), range(&test.velocity(d)));
        speeds.extend([v, range(&other.velocity(e))]);
        let (damped, equilibrium) = (work[0][k], work[1][k]);
        let ratio = [0, 1].map(|i| equilibrium[i].1 / damped[i].1);
        differences.push(percent(mean));
        ratios.push(ratio);
        step_ratios.push([0, 1].map(|i| equilibrium[i].0 as f64 / damped[i].0 as f64));
        lengths.push((l.0 / s.l0, l.1 / s.l0));
        sheet.row(vec![
            format!("{a:.1}"),
            format!("{:.3}", percent(mean)),
            format!("{:.3}", percent(largest)),
            format!("{:.3} to {:.3}", l.0 / s.l0, l.1 / s.l0),
            format!("{:.3} to {:.3}", v.0, v.1),
            damped[0].0.to_string(),
            equilibrium[0].0.to_string(),
            format!("{:.2}", ratio[0]),
            damped[1].0.to_string(),
            equilibrium[1].0.to_string(),
            format!("{:.2}", ratio[1]),
        ]);
    }
    let low = differences[0].max(differences[1]);
    let high = differences.iter().fold(0.0, |a: f64, b| a.max(*b));
    report.row(
        "mean difference of the models at a = 0, 0.1 (% f0)",
        &list(&differences[..2], 3),
        "below 0.3",
        low < 0.3,
    );
    report.row(
        "mean difference at all activations, largest (% f0)",
        &format!("{high:.3}"),
        "below 2.5",
        high < 2.5,
    );
    let (l0, l1) = lengths[10];
    report.row(
        "fiber length at a = 1 (l0)",
        &format!("{l0:.3} to {l1:.3}"),
        "about 0.5 to 1.5",
        (l0 - 0.5).abs() < 0.1 && (l1 - 1.5).abs() < 0.1,
    );
    let (v0, v1) = speeds.iter().fold((0.0, 0.0), |a: (f64, f64), v| (a.0.min(v.0), a.1.max(v.1)));
    report.row(
        "fiber velocity, both models, all activations (vmax)",
        &format!("{v0:.3} to {v1:.3}"),
        "about -0.55 to 0.75",
        (v0 + 0.55).abs() < 0.1 && (v1 - 0.75).abs() < 0.1,
    );
    readings(&s, report)?;
    for (i, (name, published)) in [("explicit", "1 to 29"), ("implicit", "1 to 3")].into_iter().enumerate() {
        let steps: Vec<f64> = step_ratios.iter().map(|r| r[i]).collect();
        let times: Vec<f64> = ratios.iter().map(|r| r[i]).collect();
        report.note(&format!("steps of equilibrium over damped, {name}, a = 0 to 1"), &list(&steps, 2), "");
        report.note(
            &format!("times of equilibrium over damped, {name}, a = 0 to 1"),
            &list(&times, 2),
            &format!("{published}, largest at low activation"),
        );
        for (m, published) in [(0, ["92 +- 10", "73 +- 12"]), (1, ["315 +- 539", "89 +- 27"])] {
            let ms: Vec<f64> = work[m].iter().map(|w| 1e3 * w[i].1).collect();
            let (mean, deviation) = mean_and_deviation(&ms);
            report.note(
                &format!("{}, {name}, time for 1 s (ms)", models[m].name()),
                &format!("{mean:.3} +- {deviation:.3}"),
                published[i],
            );
        }
    }

    folder.table("elastic_tendon", "Elastic tendon: damped and equilibrium model", &sheet)?;
    let times: Vec<f64> = (0..SAMPLES).map(|i| i as f64 * GRID).collect();
    for (m, runs) in exact.iter().enumerate() {
        let names: Vec<String> =
            activations.iter().map(|a| format!("a = {:.2}", a.max(models[m].least_activation()))).collect();
        let lines: Vec<Series> =
            names.iter().zip(runs).map(|(name, run)| Series { name, x: &times, y: &run.force }).collect();
        let title = format!("Tendon force of the {} model", models[m].name());
        let name = format!("elastic_tendon_force_{}", models[m].name());
        folder.picture(&name, [&title, "time (s)", "force (f0)"], &lines)?;
    }
    let column = |m: usize, i: usize| -> Vec<f64> { work[m].iter().map(|w| w[i].1.log10()).collect() };
    for (i, name) in ["explicit", "implicit"].into_iter().enumerate() {
        folder.picture(
            &format!("elastic_tendon_time_{name}"),
            [&format!("Time for 1 s, {name}"), "activation", "log10 of seconds"],
            &[
                Series { name: "damped", x: &activations, y: &column(0, i) },
                Series { name: "equilibrium", x: &activations, y: &column(1, i) },
            ],
        )?;
    }
    Ok(Tolerances { damped: methods[0] })
}

/// Benchmark 1 with other values of what the paper does not say for it: the maximal shortening speed, and whether its damping was
/// the default one.
fn readings(s: &Specimen, report: &mut Report) -> Result<(), Error> {
    const ACTIVATIONS: [f64; 4] = [0.0, 0.1, 0.5, 1.0];
    let passive = |passive_strain: f64| Specimen { passive_strain, ..*s };
    for (what, s) in [
        ("vmax 8 l0/s", Specimen { vmax: 8.0, ..*s }),
        ("damping 0.025", Specimen { beta: 0.025, ..*s }),
        ("vmax 8 l0/s, damping 0.02", Specimen { vmax: 8.0, beta: 0.02, ..*s }),
        ("passive strain 0.6", passive(0.6)),
        ("passive strain 1", passive(1.0)),
    ] {
        let (mut differences, mut speed) = (Vec::new(), (0.0, 0.0));
        for a in ACTIVATIONS {
            let mut forces = Vec::new();
            for model in [Tendon::Damped, Tendon::Equilibrium] {
                let muscle = s.compile(model).map_err(not_solved)?;
                let test = sine(&s, &muscle, s.l0, a.max(model.least_activation()));
                let run = test.run(Method::Explicit(1e-8)).map_err(not_solved)?;
                let v = range(&test.velocity(&run));
                speed = (f64::min(speed.0, v.0), f64::max(speed.1, v.1));
                forces.push(run.force);
            }
            differences.push(percent(mean_difference(&forces[0], &forces[1])));
        }
        report.note(
            &format!("with {what}: mean difference at a = 0, 0.1, 0.5, 1 (% f0); fiber velocity (vmax)"),
            &format!("{}; {:.3} to {:.3}", list(&differences, 3), speed.0, speed.1),
            "below 0.3 at low, 2.5 at high activation; -0.55 to 0.75",
        );
    }
    Ok(())
}

fn say(m: Method) -> String {
    match m {
        Method::Explicit(a) => format!("Merson {a:.0e}"),
        Method::Implicit(a) => format!("Radau IIA {a:.0e}"),
    }
}

/// Benchmark 2: l₀ = 2 cm, no pennation, full activation, amplitude l₀/2, l_s = 10·2⁻ᵏ l₀ for k = 9 … 0.
pub fn rigid(tolerances: &Tolerances, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Rigid tendon: 1 s of sine, amplitude l0/2, a = 1, ten tendon lengths (section 3, Figs. 7 and 8)",
    );
    let mut sheet = Sheet::new(&[
        "tendon (l0)",
        "mean difference (f0)",
        "deviation (f0)",
        "steps explicit",
        "steps implicit",
        "time ratio explicit",
        "time ratio implicit",
    ]);
    let (mut tendons, mut means, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for k in (0..10).rev() {
        let tendon = 10.0 * 0.5f64.powi(k);
        let s = Specimen { ls: tendon * 0.02, ..Specimen::default() };
        let (elastic, rigid) =
            (s.compile(Tendon::Damped).map_err(not_solved)?, s.compile(Tendon::Rigid).map_err(not_solved)?);
        let (elastic, rigid) = (sine(&s, &elastic, 0.5 * s.l0, 1.0), sine(&s, &rigid, 0.5 * s.l0, 1.0));
        let exact = elastic.run(Method::Explicit(EXACT)).map_err(not_solved)?;
        let stiff = rigid.run(tolerances.damped[0]).map_err(not_solved)?;
        let each: Vec<f64> = exact.force.iter().zip(&stiff.force).map(|(a, b)| (a - b).abs()).collect();
        let (mean, deviation) = mean_and_deviation(&each);
        let quick = rigid.seconds(tolerances.damped[0]).map_err(not_solved)?;
        let mut work = [(0, 0.0); 2];
        for (w, method) in work.iter_mut().zip(tolerances.damped) {
            let steps = elastic.run(method).map_err(not_solved)?.statistics.steps;
            *w = (steps, elastic.seconds(method).map_err(not_solved)? / quick);
        }
        sheet.row(vec![
            format!("{tendon:.4}"),
            format!("{mean:.4}"),
            format!("{deviation:.4}"),
            work[0].0.to_string(),
            work[1].0.to_string(),
            format!("{:.1}", work[0].1),
            format!("{:.1}", work[1].1),
        ]);
        tendons.push(tendon);
        means.push(mean);
        ratios.push(work.map(|w| w.1));
    }
    let short = tendons.iter().zip(&means).filter(|(t, _)| **t < 1.0).map(|(_, m)| *m).fold(0.0, f64::max);
    report.note("tendon slack length (l0)", &list(&tendons, 4), "0.0195 to 10");
    report.note("mean difference from the damped model (f0)", &list(&means, 4), "rising fast beyond 1 l0");
    report.row(
        "largest mean difference for tendons shorter than l0 (f0)",
        &format!("{short:.4}"),
        "within 0.05",
        short < 0.05,
    );
    for (i, (name, published)) in [("explicit", "2 to 54"), ("implicit", "6 to 31")].into_iter().enumerate() {
        let r: Vec<f64> = ratios.iter().map(|r| r[i]).collect();
        report.note(&format!("times of damped over rigid, {name}"), &list(&r, 1), published);
    }
    folder.table("rigid_tendon", "Rigid against elastic tendon", &sheet)?;
    let logs: Vec<f64> = tendons.iter().map(|t| t.log2()).collect();
    folder.picture(
        "rigid_tendon_difference",
        ["Rigid against elastic tendon", "log2 of tendon slack length (l0)", "mean difference (f0)"],
        &[Series { name: "mean |difference|", x: &logs, y: &means }],
    )?;
    let column = |i: usize| -> Vec<f64> { ratios.iter().map(|r| r[i]).collect() };
    folder.picture(
        "rigid_tendon_time",
        ["Time with elastic over rigid tendon", "log2 of tendon slack length (l0)", "ratio"],
        &[
            Series { name: "explicit", x: &logs, y: &column(0) },
            Series { name: "implicit", x: &logs, y: &column(1) },
        ],
    )
}

//! The benchmark at maximal activation, on substitute data: parameters fitted on one trial, forces predicted in others.

use super::not_solved;
use super::records::{GRID, Record};
use super::specimen::{Drive, Method, Specimen, Tendon, Test, mean_difference};
use crate::report::{Report, list};
use crate::sheet::Series;
use crate::sheet::{Folder, Sheet};
use soleus::Error;
use soleus_optimization::{NelderMeadMinimum, NelderMeadOptions, nelder_mead};
use soleus_simulation::{MuscleInput, Stop};

/// The soleus of a cat as in the paper's last benchmark (Scott et al. 1996); what is fitted begins with typical values.
pub fn cat_soleus(f0: f64) -> Specimen {
    Specimen {
        f0,
        l0: 0.030,
        alpha0: 7.5f64.to_radians(),
        ls: 0.065,
        vmax: 5.0,
        beta: 0.05,
        tau_act: 0.03,
        ..Specimen::default()
    }
}

/// Length of the muscle (m) and its rate in a trial. At 0 mm the fiber is optimal with a slack tendon, as Herzog and
/// Leonard set it up.
pub fn path(s: &Specimen, record: &Record, t: f64) -> (f64, f64) {
    let (d, speed) = record.movement(t);
    (s.rest_length() + d, speed)
}

/// Forces of a model in a trial, N.
fn forces(s: &Specimen, tendon: Tendon, record: &Record) -> Result<Vec<f64>, Stop> {
    let muscle = s.compile(tendon).map_err(|_| Stop::Setup("no muscle has these parameters"))?;
    let input = |t: f64| {
        let (length, speed) = path(s, record, t);
        MuscleInput { length, speed, excitation: if record.active && t >= record.onset { 1.0 } else { 0.0 } }
    };
    let test = Test {
        muscle: &muscle,
        input,
        drive: Drive::Excitation,
        l0: s.l0,
        grid: GRID,
        samples: record.force.len(),
    };
    Ok(test.run(Method::Explicit(1e-5))?.force)
}

/// A specimen from the logarithms of F₀, vmax, τ_A and, where the model has damping, β.
fn specimen(start: &Specimen, x: &[f64]) -> Specimen {
    let beta = x.get(3).map_or(start.beta, |b| b.exp());
    Specimen { f0: x[0].exp(), vmax: x[1].exp(), tau_act: x[2].exp(), beta, ..*start }
}

/// Nelder and Mead's method, started again where it first came to rest.
fn minimize(cost: impl Fn(&[f64]) -> f64, x: &[f64]) -> NelderMeadMinimum {
    let options =
        NelderMeadOptions { step: 0.3, tolerance: 1e-4, value_tolerance: 1e-7, max_evaluations: 600 };
    let first = nelder_mead(&cost, x, &options);
    let mut second = nelder_mead(&cost, &first.x, &options);
    second.evaluations += first.evaluations;
    second
}

/// The cost (16) of the paper, the mean |difference| of forces, over the measured F₀; NaN outside of where parameters mean
/// something.
fn cost(s: &Specimen, tendon: Tendon, record: &Record, f0: f64) -> f64 {
    if !(0.001..1.0).contains(&s.beta) || !(0.5..50.0).contains(&s.vmax) || s.tau_act > 0.5 {
        return f64::NAN;
    }
    forces(s, tendon, record).map_or(f64::NAN, |f| mean_difference(&f, &record.force) / f0)
}

/// Fits a model to a trial.
fn fit(start: &Specimen, tendon: Tendon, record: &Record) -> (Specimen, NelderMeadMinimum) {
    let mut x = vec![start.f0.ln(), start.vmax.ln(), start.tau_act.ln()];
    if tendon != Tendon::Equilibrium {
        x.push(start.beta.ln());
    }
    let m = minimize(|x| cost(&specimen(start, x), tendon, record, start.f0), &x);
    (specimen(start, &m.x), m)
}

/// The passive strain at F₀ that fits a passive stretch, by the same cost.
pub fn fit_passive(start: &Specimen, record: &Record) -> Specimen {
    let stretched = |x: &[f64]| Specimen { passive_strain: x[0].exp(), ..*start };
    let m = minimize(|x| cost(&stretched(x), Tendon::Damped, record, start.f0), &[start.passive_strain.ln()]);
    stretched(&m.x)
}

/// Fits on the longest stretch at the middle speed, predicts all other trials.
pub fn run(records: &[Record], f0: f64, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Maximal activation: cat soleus of Herzog and Leonard (2002) instead of the rat soleus of the paper \
         (substitute data)",
    );
    report.note("isometric force at 0 mm, mean of three trials (N)", &format!("{f0:.2}"), "");
    let Some(fitted) = records.iter().find(|r| r.speed == 9.0 && r.active && r.from_to == [0.0, 9.0]) else {
        return Ok(());
    };
    let mut start = cat_soleus(f0);
    if let Some(passive) = records.iter().find(|r| r.speed == 9.0 && !r.active) {
        start = fit_passive(&start, passive);
        report.note(
            "passive strain at f0, fitted to the passive stretch at 9 mm/s",
            &format!("{:.3}", start.passive_strain),
            "0.7 by default",
        );
    }
    let mut sheet = Sheet::new(&["trial", "damped (% f0)", "equilibrium (% f0)", "rigid (% f0)"]);
    let mut parameters = Sheet::new(&[
        "model",
        "f0 (N)",
        "vmax (l0/s)",
        "tau_A (ms)",
        "beta",
        "fit error (% f0)",
        "published for the rat",
    ]);
    let mut errors = vec![Vec::new(); records.len()];
    let mut lines = Vec::new();
    for (tendon, published) in [
        (Tendon::Damped, "1.27 N, 5.50 l0/s, 22.8 ms, 0.016: 8.9; others 3.3 to 6.7"),
        (Tendon::Equilibrium, "1.28 N, 5.32 l0/s, 24.0 ms: 8.9; others 3.0 to 6.7"),
        (Tendon::Rigid, "1.20 N, 9.86 l0/s, 37.8 ms, 0.024: 4.5 to 20.9"),
    ] {
        let (s, m) = fit(&start, tendon, fitted);
        for (record, errors) in records.iter().zip(&mut errors) {
            let f = forces(&s, tendon, record).map_err(not_solved)?;
            errors.push(100.0 * mean_difference(&f, &record.force) / f0);
            if std::ptr::eq(record, fitted) {
                lines.push((tendon.name(), f));
            }
        }
        let beta =
            if tendon == Tendon::Equilibrium { String::new() } else { format!(", beta {:.3}", s.beta) };
        report.note(
            &format!("{}, fitted to {}", tendon.name(), fitted.name),
            &format!(
                "f0 {:.2} N, vmax {:.2} l0/s, tau_A {:.1} ms{beta}; mean error {:.2} % f0 ({} evaluations{})",
                s.f0,
                s.vmax,
                1e3 * s.tau_act,
                100.0 * m.value,
                m.evaluations,
                if m.converged { "" } else { ", not converged" }
            ),
            published,
        );
        parameters.row(vec![
            tendon.name().into(),
            format!("{:.3}", s.f0),
            format!("{:.2}", s.vmax),
            format!("{:.1}", 1e3 * s.tau_act),
            if beta.is_empty() { "-".into() } else { format!("{:.3}", s.beta) },
            format!("{:.2}", 100.0 * m.value),
            published.into(),
        ]);
    }
    for (record, errors) in records.iter().zip(&errors) {
        let fit = if std::ptr::eq(record, fitted) { " (fitted)" } else { "" };
        report.note(
            &format!("{}{fit}, mean error of damped, equilibrium, rigid (% f0)", record.name),
            &list(errors, 1),
            "",
        );
        let mut row = vec![format!("{}{fit}", record.name)];
        row.extend(errors.iter().map(|e| format!("{e:.2}")));
        sheet.row(row);
    }
    let worst = |k: usize| errors.iter().map(|e| e[k]).fold(0.0, f64::max);
    // Errors of other animals in other movements have no bar.
    report.note(
        "largest error of damped and equilibrium model (% f0)",
        &list(&[worst(0), worst(1)], 1),
        "8.9 and 8.9 on the rat",
    );
    report.note("largest error of the rigid model (% f0)", &list(&[worst(2)], 1), "20.9 on the rat");
    // What the paper concludes: the elastic models are alike, the rigid one is worse.
    let active: Vec<&Vec<f64>> =
        records.iter().zip(&errors).filter(|(r, _)| r.active).map(|(_, e)| e).collect();
    let mean = |k: usize| active.iter().map(|e| e[k]).sum::<f64>() / active.len().max(1) as f64;
    let means = [mean(0), mean(1), mean(2)];
    report.row(
        "mean over the active trials, damped and equilibrium (% f0)",
        &list(&means[..2], 2),
        "alike to 1",
        (means[0] - means[1]).abs() < 1.0,
    );
    report.row(
        "mean over the active trials, rigid (% f0)",
        &list(&means[2..], 2),
        "above the elastic models",
        means[2] > means[0].max(means[1]),
    );
    folder.table(
        "maximal_parameters",
        "Maximal activation: fitted parameters (substitute data)",
        &parameters,
    )?;
    folder.table("maximal_errors", "Maximal activation: mean errors (substitute data)", &sheet)?;
    let times: Vec<f64> = (0..fitted.force.len()).map(|i| i as f64 * GRID).collect();
    let mut series = vec![Series { name: "measured", x: &times, y: &fitted.force }];
    series.extend(lines.iter().map(|(name, y)| Series { name, x: &times, y }));
    folder.picture("maximal_fit", [&fitted.name, "time (s)", "force (N)"], &series)
}

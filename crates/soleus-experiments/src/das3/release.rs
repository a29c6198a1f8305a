//! The simulations: the test of release 2, and the protocol of the paper.

use super::super::report::{Report, largest_difference, list};
use super::Das3;
use super::runs::{
    Equations, Run, Stretches, explicit as explicit_run, reference, rosenbrock, seconds_per_step,
};
use soleus_math::norm::largest;

/// u(t) = t/0.5 in all muscles for 0.5 s: the test of release 2.
const RAMP: Stretches = &[(0.5, |t| t / 0.5)];
/// All muscles: to 1 within 0.2 s, there until 2 s, then off until 4 s. The paper says neither how large the maximum nor
/// how quick the end was.
const PAPER: Stretches = &[(0.2, |t| t / 0.2), (2.0, |_| 1.0), (4.0, |_| 0.0)];
/// The same as one stretch: steps are not made to end where the excitation bends or jumps, and a step that a jump falls into
/// goes on from the rates of the one before. Fixed steps as the paper has them do that.
const PAPER_WHOLE: Stretches = &[(4.0, |t| if t < 2.0 { f64::min(t / 0.2, 1.0) } else { 0.0 })];
/// What the paper gives for its protocol at 3 ms, on a model that is not public.
const PAPER_RMS_DEG: f64 = 0.11;
/// The same with an end as slow as the beginning.
const PAPER_FADING: Stretches =
    &[(0.2, |t| t / 0.2), (2.0, |_| 1.0), (2.2, |t| (2.2 - t) / 0.2), (4.0, |_| 0.0)];
/// The same with smaller maxima.
const PAPER_SMALLER: [(&str, Stretches); 3] = [
    ("0.5", &[(0.2, |t| 0.5 * t / 0.2), (2.0, |_| 0.5), (4.0, |_| 0.0)]),
    ("0.25", &[(0.2, |t| 0.25 * t / 0.2), (2.0, |_| 0.25), (4.0, |_| 0.0)]),
    ("0.1", &[(0.2, |t| 0.1 * t / 0.2), (2.0, |_| 0.1), (4.0, |_| 0.0)]),
];

const GRID: f64 = 0.005;
const PUBLISHED_RMS_DEG: [f64; 11] =
    [0.064, 0.042, 0.013, 0.006, 0.016, 0.011, 0.110, 0.057, 0.038, 0.029, 0.140];
const PUBLISHED_END_DEG: [f64; 11] =
    [-30.987, -1.459, 11.264, 35.563, -27.264, -18.519, 32.095, 2.595, 9.641, 45.065, 41.039];

fn slope(steps: &[f64], errors: &[f64]) -> f64 {
    // Least squares on logarithms.
    let n = steps.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = steps.iter().zip(errors).map(|(h, e)| (h.ln(), e.ln())).unzip();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let up: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    up / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// The error of one step length against a reference, deg; infinite when it broke off.
fn error(d: &Das3, what: Stretches, h: f64, reference: &Run, part: f64) -> (Vec<f64>, f64) {
    error_of(d, what, h, reference, part, Equations::Complete)
}

fn error_of(
    d: &Das3,
    what: Stretches,
    h: f64,
    reference: &Run,
    part: f64,
    equations: Equations,
) -> (Vec<f64>, f64) {
    match rosenbrock(d, what, GRID, h, part, equations) {
        Ok(run) => run.rms_deg(reference),
        Err(_) => (Vec::new(), f64::INFINITY),
    }
}

/// The test of release 2.
pub fn check(d: &Das3, report: &mut Report) {
    report.heading("Test of release 2: u = t/0.5 in all muscles, 0.5 s, first-order Rosenbrock");
    let exact = match reference(d, RAMP, GRID, 1e-9, Equations::Complete) {
        Ok(run) => run,
        Err(e) => {
            report.row("reference", &e.to_string(), "", false);
            return;
        }
    };
    let s = exact.statistics;
    report.note(
        "reference, Radau IIA 5 at 1e-9",
        &format!("{} steps, {:.2} s", s.steps, exact.wall),
        "ode15s",
    );
    // The authors' run, with the terms left out that their equations leave out.
    match reference(d, RAMP, GRID, 1e-9, Equations::Released) {
        Ok(released) => against_stored(d, &released, &exact, report),
        Err(e) => report.row("reference with the equations of release 2", &e.to_string(), "", false),
    }
    for (part, name) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
        let (each, all) = error(d, RAMP, 0.003, &exact, part);
        let name = format!("RMS at 3 ms against our reference, u at the {name} of steps (deg)");
        if part == 0.5 {
            report.row(&format!("{name}, overall"), &format!("{all:.4}"), "at most 0.063", all <= 0.063);
        } else {
            report.note(&format!("{name}, overall"), &format!("{all:.4}"), "");
        }
        report.note("each", &list(&each, 3), &list(&PUBLISHED_RMS_DEG, 3));
    }
    let steps = [0.25e-3, 0.5e-3, 1e-3, 2e-3];
    let errors = steps.map(|h| error(d, RAMP, h, &exact, 1.0).1);
    let slope = slope(&steps, &errors);
    report.note("RMS at 0.25 0.5 1 2 ms (deg)", &list(&errors, 5), "proportional to the step");
    report.row("slope of error against step", &format!("{slope:.3}"), "1 +- 0.1", (slope - 1.0).abs() <= 0.1);
    match seconds_per_step(d, RAMP, 0.003, 100) {
        Ok(each) => {
            let (us, times) = (1e6 * each, 0.003 / each);
            report.row(
                "one step (us)",
                &format!("{us:.0}"),
                "at most 150; release 2: 2278, paper: 2700",
                us <= 150.0,
            );
            report.row(
                "times real time at 3 ms",
                &format!("{times:.1}"),
                "at least 20; release 2: 1.314",
                times >= 20.0,
            );
        }
        Err(e) => report.row("one step", &e.to_string(), "", false),
    }
}

/// The authors' run of the test, beside ours with their equations and with complete ones.
fn against_stored(d: &Das3, released: &Run, complete: &Run, report: &mut Report) {
    let end: Vec<f64> = released.end.iter().take(11).map(|q| q.to_degrees()).collect();
    let off = largest_difference(&end, &PUBLISHED_END_DEG);
    let what = "angles at 0.5 s, equations of release 2 (deg)";
    report.row(what, &list(&end, 3), &list(&PUBLISHED_END_DEG, 3), off <= 0.05);
    let times = [0.1, 0.2, 0.3, 0.4, 0.5];
    for (run, name) in [(released, "equations of release 2"), (complete, "complete equations")] {
        let apart = times.map(|to: f64| {
            let rows = run.angles.iter().zip(&d.stored).take((to / GRID).round() as usize + 1);
            largest(rows.map(|(a, b)| largest_difference(a, b))).to_degrees()
        });
        let what = format!("largest distance from the stored run to 0.1 0.2 0.3 0.4 0.5 s, {name} (deg)");
        if std::ptr::eq(run, released) {
            // Tolerance of the stored run: 1e-3 of angles up to 1.4 rad is 0.08 degrees.
            report.row(&what, &list(&apart, 3), "below 0.08", apart[4] < 0.08);
        } else {
            report.note(&what, &list(&apart, 3), "");
        }
    }
    if let Ok(run) = rosenbrock(d, RAMP, GRID, 0.003, 0.0, Equations::Released) {
        let (each, all) = run.rms_deg_of(&d.stored);
        let what =
            "RMS at 3 ms against the stored run, equations of release 2, u at the start of steps (deg)";
        // To the last digit printed.
        report.row(&format!("{what}, overall"), &format!("{all:.4}"), "0.063", all < 0.0635);
        report.note("each", &list(&each, 3), &list(&PUBLISHED_RMS_DEG, 3));
    }
}

/// Errors at 3 ms with excitations in the middle of steps, and at 1 and 0.5 ms at their end.
#[cfg(test)]
pub fn errors_for_test(d: &Das3) -> [f64; 3] {
    let exact = reference(d, RAMP, GRID, 1e-7, Equations::Complete).unwrap();
    [(0.003, 0.5), (0.001, 1.0), (0.0005, 1.0)].map(|(h, part)| error(d, RAMP, h, &exact, part).1)
}

/// Largest distance of our run of the release test from the authors', deg.
#[cfg(test)]
pub fn distance_for_test(d: &Das3, equations: Equations) -> f64 {
    let run = reference(d, RAMP, GRID, 1e-7, equations).unwrap();
    let rows = run.angles.iter().zip(&d.stored);
    largest(rows.map(|(a, b)| largest_difference(a, b))).to_degrees()
}

/// Steps that an explicit method takes, and that it goes the same way.
pub fn explicit(d: &Das3, report: &mut Report) {
    report.heading("Explicit Runge-Kutta (Merson) over 10 ms of the same ramp");
    const END: f64 = 0.01;
    let short: Stretches = &[(END, RAMP[0].1)];
    match (explicit_run(d, RAMP[0].1, END, 1e-3), reference(d, short, GRID, 1e-9, Equations::Complete)) {
        (Ok((step, end)), Ok(exact)) => {
            let us = 1e6 * step;
            report.row("mean step (us)", &format!("{us:.2}"), "about 2 (ODE23)", (0.5..=10.0).contains(&us));
            let off = largest_difference(&end[..11], &exact.end[..11]).to_degrees();
            report.row("angles against Radau (deg)", &format!("{off:.1e}"), "below 1e-4", off < 1e-4);
        }
        (Err(e), _) | (_, Err(e)) => report.row("mean step", &e.to_string(), "", false),
    }
}

/// The 4 s protocol.
pub fn paper(d: &Das3, report: &mut Report) {
    report.heading("Protocol of the paper (u to 1 in 0.2 s, off at 2 s, 4 s), on the model of release 2");
    let exact = match reference(d, PAPER, GRID, 1e-8, Equations::Complete) {
        Ok(run) => run,
        Err(e) => {
            report.row("reference", &e.to_string(), "", false);
            return;
        }
    };
    report.note(
        "reference, Radau IIA 5 at 1e-8",
        &format!("{} steps, {:.1} s", exact.statistics.steps, exact.wall),
        "",
    );
    let ms = [0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let errors = ms.map(|h| error(d, PAPER, 1e-3 * h, &exact, 1.0).1);
    report.note("RMS at 0.25 0.5 1 2 3 4 5 6 ms (deg)", &list(&errors, 4), "0.11 at 3 ms, unstable at 6 ms");
    report.row(
        "RMS at 3 ms (deg)",
        &format!("{:.3}", errors[4]),
        "0.11 with the model of 2011, which is not public: within a factor of two",
        errors[4] <= 2.0 * PAPER_RMS_DEG,
    );
    let parts = [0.0, 0.5].map(|part| error(d, PAPER, 3e-3, &exact, part).1);
    report.note(
        "the same with u at the start, in the middle of steps",
        &list(&parts, 3),
        "not given in the paper",
    );
    let parts = [1.0, 0.0, 0.5].map(|part| error(d, PAPER_WHOLE, 3e-3, &exact, part).1);
    report.note(
        "the same with all steps equal, through the switch, u at the end, at the start, in the middle of steps",
        &list(&parts, 3),
        "as in the paper, whose steps are fixed",
    );
    if let Ok(exact) = reference(d, PAPER, GRID, 1e-8, Equations::Released) {
        let parts = [1.0, 0.0, 0.5].map(|p| error_of(d, PAPER, 3e-3, &exact, p, Equations::Released).1);
        let what =
            "the same with the equations of release 2, u at the end, at the start, in the middle of steps";
        report.note(what, &list(&parts, 3), "");
    }
    if let Ok(exact) = reference(d, PAPER_FADING, GRID, 1e-8, Equations::Complete) {
        let of = error(d, PAPER_FADING, 3e-3, &exact, 1.0).1;
        report.note(
            "the same with excitations off within 0.2 s",
            &format!("{of:.3}"),
            "not given in the paper",
        );
    }
    // Where the error comes from: up to the end of the ramp, while excitations are on, and after.
    if let Ok(run) = rosenbrock(d, PAPER, GRID, 3e-3, 1.0, Equations::Complete) {
        let spans = [(0.0, 0.2), (0.2, 2.0), (2.0, 4.0)].map(|span| run.rms_deg_within(&exact, GRID, span));
        report.note("the same from 0 to 0.2, to 2, to 4 s", &list(&spans, 3), "");
    }
    for (maximum, what) in PAPER_SMALLER {
        if let Ok(exact) = reference(d, what, GRID, 1e-8, Equations::Complete) {
            let of = error(d, what, 3e-3, &exact, 1.0).1;
            let what = format!("the same with excitations to {maximum}");
            report.note(&what, &format!("{of:.3}"), "not given in the paper");
        }
    }
    let slope = slope(&ms[..4], &errors[..4]);
    report.row("slope from 0.25 to 2 ms", &format!("{slope:.3}"), "1 +- 0.1", (slope - 1.0).abs() <= 0.1);
    // A run counts as unstable when it breaks off or is off by as much as the motion itself.
    let limit = [6.0, 7.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, 50.0]
        .into_iter()
        .map(|h| (h, error(d, PAPER, 1e-3 * h, &exact, 1.0).1))
        .find(|(_, e)| !(*e < 5.0));
    let ours = limit.map_or("stable to 50 ms".to_string(), |(h, _)| format!("{h} ms"));
    report.note("unstable from", &ours, "6 ms");
}

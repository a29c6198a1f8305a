//! The default curves of the muscle beside digitized measurements (Fig. 3 of the paper).

use super::not_solved;
use crate::desk;
use crate::report::Report;
use crate::sheet::Series;
use crate::sheet::{Folder, Sheet};
use soleus::Error;
use soleus_dynamics::muscle::CurveCache;
use soleus_dynamics::muscle::millard2012_curves as curves;
use soleus_math::BezierCurve;
use soleus_model::muscle::Millard2012Equilibrium;
use std::path::Path;

/// Which curve a file belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Active,
    Passive,
    Velocity,
}

/// File, curve, what was measured, and how its numbers become normalized ones: x ↦ a + b x, y ↦ c y.
///
/// Sarcomere lengths of Gollapudi and Lin are divided by 2.66 µm, the middle of their plateau; the velocities of Scott et al. by
/// 4.65 l₀/s, where their force ends.
const DATA: [(&str, Kind, &str, [f64; 3]); 9] = [
    ("GollapudiLin2009_Fig7b", Kind::Active, "human fibers, Gollapudi and Lin 2009", [0.0, 1.0 / 2.66, 1.0]),
    ("TMWinters2011_TA_falN", Kind::Active, "rabbit TA, Winters et al. 2011", [1.0, 0.01, 0.01]),
    ("TMWinters2011_EDL_falN", Kind::Active, "rabbit EDL, Winters et al. 2011", [1.0, 0.01, 0.01]),
    ("TMWinters2011_EDLII_falN", Kind::Active, "rabbit EII, Winters et al. 2011", [1.0, 0.01, 0.01]),
    ("GollapudiLin2009_Fig6", Kind::Passive, "human fibers, Gollapudi and Lin 2009", [0.0, 1.0 / 2.66, 1.0]),
    ("TMWinters2011_TA_fpeN", Kind::Passive, "rabbit TA, Winters et al. 2011", [1.0, 0.01, 0.01]),
    ("TMWinters2011_EDL_fpeN", Kind::Passive, "rabbit EDL, Winters et al. 2011", [1.0, 0.01, 0.01]),
    ("TMWinters2011_EDLII_fpeN", Kind::Passive, "rabbit EII, Winters et al. 2011", [1.0, 0.01, 0.01]),
    ("fig_ScottBrownLoeb1996_fig4", Kind::Velocity, "cat soleus, Scott et al. 1996", [0.0, 1.0 / 4.65, 1.0]),
];

/// Two columns of numbers after a header.
fn points(path: &Path) -> Result<Vec<(f64, f64)>, Error> {
    let text = desk::read_text(path)?;
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty()) {
        let mut cells = line.split(',').map(|c| c.trim().trim_matches('"').parse::<f64>());
        match (cells.next(), cells.next()) {
            (Some(Ok(x)), Some(Ok(y))) => found.push((x, y)),
            _ => {
                let line = u32::try_from(i + 1).unwrap_or(0);
                return Err(Error::content(path, line, "", "expected two numbers", ""));
            }
        }
    }
    Ok(found)
}

/// Root mean square of the differences, and of the data about their own mean within a tenth of the abscissa: what no curve
/// could do better.
fn differences(data: &[(f64, f64)], curve: &BezierCurve) -> (f64, f64) {
    let mean = |f: &dyn Fn(f64, f64) -> f64| {
        (data.iter().map(|(x, y)| f(*x, *y)).sum::<f64>() / data.len().max(1) as f64).sqrt()
    };
    let local = |x: f64| {
        let near: Vec<f64> = data.iter().filter(|d| (d.0 - x).abs() < 0.05).map(|d| d.1).collect();
        near.iter().sum::<f64>() / near.len().max(1) as f64
    };
    (mean(&|x, y| (curve.value(x) - y).powi(2)), mean(&|x, y| (local(x) - y).powi(2)))
}

/// Compares every file.
pub fn run(folder_of_data: &Path, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading(
        "Default curves and measurements (Fig. 3): RMS difference, scatter of the data themselves (f0)",
    );
    let p = Millard2012Equilibrium::default();
    let mut cache = CurveCache::default();
    let active = curves::active_force_length(&p.active_force_length_curve, &mut cache).map_err(not_solved)?;
    let passive = curves::fiber_force_length(&p.fiber_force_length_curve, &mut cache).map_err(not_solved)?;
    let velocity = curves::force_velocity(&p.force_velocity_curve, &mut cache).map_err(not_solved)?;
    let mut sheet = Sheet::new(&["curve", "data", "points", "RMS difference (f0)", "scatter (f0)"]);
    for (kind, name, curve, (low, high)) in [
        (Kind::Active, "active_force_length", &active, (0.2, 1.8)),
        (Kind::Passive, "passive_force_length", &passive, (0.4, 1.7)),
        (Kind::Velocity, "force_velocity", &velocity, (-1.0, 1.0)),
    ] {
        let mut drawn = Vec::new();
        for (file, _, what, [a, b, c]) in DATA.into_iter().filter(|d| d.1 == kind) {
            let path = folder_of_data.join(format!("{file}.csv"));
            let mut data: Vec<(f64, f64)> =
                points(&path)?.into_iter().map(|(x, y)| (a + b * x, c * y)).collect();
            data.sort_by(|p, q| p.0.total_cmp(&q.0));
            let (off, scatter) = differences(&data, curve);
            let label = name.replace('_', " ");
            report.note(
                &format!("{label}, {what}, {} points", data.len()),
                &format!("{off:.3}, {scatter:.3}"),
                "",
            );
            sheet.row(vec![
                label,
                what.into(),
                data.len().to_string(),
                format!("{off:.4}"),
                format!("{scatter:.4}"),
            ]);
            drawn.push((what, data));
        }
        let x: Vec<f64> = (0..=200).map(|i| low + (high - low) * f64::from(i) / 200.0).collect();
        let y: Vec<f64> = x.iter().map(|x| curve.value(*x)).collect();
        let split: Vec<(&str, Vec<f64>, Vec<f64>)> = drawn
            .into_iter()
            .map(|(n, d)| (n, d.iter().map(|p| p.0).collect(), d.iter().map(|p| p.1).collect()))
            .collect();
        let mut lines = vec![Series { name: "default curve", x: &x, y: &y }];
        lines.extend(split.iter().map(|(name, x, y)| Series { name, x, y }));
        let axis = if kind == Kind::Velocity { "fiber velocity (vmax)" } else { "fiber length (l0)" };
        folder.picture(&format!("curve_{name}"), [&name.replace('_', " "), axis, "force (f0)"], &lines)?;
    }
    folder.table("curves", "Default curves and digitized measurements", &sheet)
}

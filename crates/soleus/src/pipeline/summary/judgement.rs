//! Quality of a trial: values compared with common limits, each with its source.

use super::{SENSOR_ERRORS, angles, loads_file, table};
use crate::context::Context;
use crate::files::Files;
use crate::inputs;
use crate::muscle_control::report::{largest_external_force, mass_center_height};
use soleus_dynamics::Options;
use soleus_io::pipeline::{Pipeline as PipelineFile, Trial};
use soleus_math::Table;
use soleus_model::id::FrameId;
use soleus_model::path::Path as MusclePath;
use soleus_model::{ForceKind, Model};
use soleus_tools::quality::{Residuals, residuals};
use soleus_viewer::{Card, Light, Motion, Verdict};
use std::path::Path;

/// Sources of the limits.
pub const SOURCES: &str = "Green: within the limit; yellow: up to twice the limit; red: above that. OpenSim's guide (Simulation with OpenSim – Best Practices): marker errors, reserves relative to joint \
    moments, and residuals after residual reduction ([rra], [rea] or [reconcile]). Hicks et al. (2015) J Biomech Eng 137:020905: residuals of plain inverse \
    dynamics relative to the largest external force; applied to the RMS here. The limit of 5° between sensors and model is \
    our own.";

/// Marker errors, mm: root mean square and largest (OpenSim's checklist: about 2 cm, 4 cm).
const MARKER_RMS_MM: f64 = 20.0;
const MARKER_LARGEST_MM: f64 = 40.0;
/// Angles between sensors and model, deg.
const SENSOR_DEG: f64 = 5.0;
/// After residual reduction: root mean square of the residual force, N, and largest residual moment, N m (OpenSim's checklist: 5 to 15 N, 75 N m).
const RESIDUAL_FORCE_N: f64 = 15.0;
const RESIDUAL_MOMENT_NM: f64 = 75.0;
/// Without it: residual force over the largest external force, and residual moment over that force times the height of the mass centre
/// (Hicks et al. 2015).
const RESIDUAL_FORCE: f64 = 0.05;
const RESIDUAL_MOMENT: f64 = 0.01;
/// Largest reserve moment over the largest joint moment (OpenSim's checklist: 10 %).
const RESERVE: f64 = 0.10;
/// An activation from here on says that a muscle can do no more.
const SATURATED: f64 = 0.99;

/// Results of the steps of a trial.
pub struct Evidence {
    markers: Option<Table>,
    sensors: Option<Table>,
    moments: Option<Table>,
    residuals: Option<Residuals>,
    activations: Option<Table>,
    forces: Option<Table>,
}

impl Evidence {
    /// Reads the available results.
    pub fn read(files: &dyn Files, t: &Trial, folder: &Path, model: Option<&Model>) -> Evidence {
        let read = |name: String| table(files, &folder.join(name));
        let moments = read("id.sto".into()).filter(|_| t.loads.is_some());
        Evidence {
            markers: read(format!("{}_ik_marker_errors.sto", t.name)),
            sensors: read(SENSOR_ERRORS.into()),
            residuals: moments.as_ref().zip(model).and_then(|(m, model)| residuals(model, m)),
            moments,
            activations: read(format!("{}_StaticOptimization_activation.sto", t.name)),
            forces: read(format!("{}_StaticOptimization_force.sto", t.name)),
        }
    }
}

/// What the residuals of a trial are compared with.
pub enum Standard {
    /// Limits of OpenSim's checklist: residuals were reduced.
    Reduced,
    /// Largest external force (N) and height of the mass centre (m).
    External { force: f64, height: f64 },
    /// The external forces are not known.
    Unknown,
}

impl Standard {
    /// For the moments of a trial.
    pub fn of_trial(
        files: &dyn Files,
        pipeline: &PipelineFile,
        t: &Trial,
        [home, folder]: [&Path; 2],
        model: Option<&Model>,
    ) -> Standard {
        if pipeline.rra.is_some() || pipeline.rea.is_some() || pipeline.reconcile.is_some() {
            return Standard::Reduced;
        }
        let external = || {
            let (model, motion) = (model?, table(files, &angles(files, folder))?);
            let moments = table(files, &folder.join("id.sto"))?;
            let span = [*moments.times().first()?, *moments.times().last()?];
            let file = loads_file(files, pipeline, t, [home, folder])?;
            let forces = inputs::loads::read(&Context::new(files), model, Some(&file), None, None).ok()?;
            let force = largest_external_force(model, &forces, span)?;
            let system = inputs::model::compile(folder, model, &Options::default()).ok()?;
            let mut x = system.default_state.clone();
            Motion::new(model, &system, &motion).ok()?.read(0, &mut x);
            Some(Standard::External { force, height: mass_center_height((model, &system), &x)? })
        };
        external().unwrap_or(Standard::Unknown)
    }
}

/// Names of the quality measures of a trial, in SI units except for lengths in mm and angles in deg, and the step of
/// each.
pub const NUMBERS: [(&str, &str); 7] = [
    ("marker_rms_mm", "ik"),
    ("marker_largest_mm", "ik"),
    ("sensor_rms_deg", "ik"),
    ("residual_force_rms_N", "id"),
    ("residual_moment_largest_Nm", "id"),
    ("reserve_largest_part", "so"),
    ("activation_largest", "so"),
];

/// Quality measures of a trial, in the order of [`NUMBERS`].
pub fn numbers(evidence: &Evidence, model: Option<&Model>) -> [Option<f64>; 7] {
    let marker = |name: &str| evidence.markers.as_ref().and_then(|m| m.column(name));
    let reserve = || {
        let (forces, moments) = (evidence.forces.as_ref()?, evidence.moments.as_ref()?);
        Some(largest_reserve(forces, moments, model?)?.0)
    };
    let activation = || {
        let is_muscle = |l: &str| model.is_some_and(|m| has_muscle(m, l));
        let table = evidence.activations.as_ref()?;
        let muscles = table.labels().iter().zip(table.columns()).filter(|(l, _)| is_muscle(l));
        muscles.filter_map(|(_, c)| Some(largest(c)?.0)).max_by(f64::total_cmp)
    };
    [
        marker("marker_error_RMS").map(|c| 1e3 * rms(c)),
        marker("marker_error_max").and_then(|c| Some(1e3 * largest(c)?.0)),
        evidence.sensors.as_ref().and_then(mean_angle),
        evidence.residuals.as_ref().map(|r| r.force_rms),
        evidence.residuals.as_ref().map(|r| r.moment_peak),
        reserve(),
        activation(),
    ]
}

/// The card of a trial on the page.
pub fn card(t: &Trial, evidence: &Evidence, standard: &Standard, model: Option<&Model>) -> Card {
    let mut lights = Vec::new();
    lights.extend(evidence.markers.as_ref().and_then(markers).into_iter().flatten());
    lights.extend(evidence.sensors.as_ref().and_then(sensors));
    lights.extend(evidence.residuals.as_ref().into_iter().flat_map(|r| balance(r, standard)));
    if let Some(model) = model {
        lights.extend(sharing(evidence, model).into_iter().flatten());
    }
    Card { title: t.name.clone(), lights }
}

fn rms(c: &[f64]) -> f64 {
    (c.iter().map(|x| x * x).sum::<f64>() / c.len().max(1) as f64).sqrt()
}

/// The largest number, and its place.
fn largest(c: &[f64]) -> Option<(f64, usize)> {
    let at = (0..c.len()).max_by(|&a, &b| c[a].abs().total_cmp(&c[b].abs()))?;
    Some((c[at].abs(), at))
}

/// Judges a number; what is twice the limit is bad.
fn light(what: &str, value: String, number: f64, limit: f64, reason: String) -> Light {
    Light { what: what.into(), value, verdict: Some(Verdict::of(number, [limit, 2.0 * limit])), reason }
}

fn markers(errors: &Table) -> Option<[Light; 2]> {
    let (all, most) = (errors.column("marker_error_RMS")?, errors.column("marker_error_max")?);
    let (rms, (worst, at)) = (1e3 * rms(all), largest(most)?);
    let worst = 1e3 * worst;
    let time = errors.times()[at];
    Some([
        light(
            "Markers, RMS",
            format!("{rms:.1} mm"),
            rms,
            MARKER_RMS_MM,
            format!("{MARKER_RMS_MM} mm or less"),
        ),
        light(
            "Markers, largest",
            format!("{worst:.1} mm"),
            worst,
            MARKER_LARGEST_MM,
            format!("{MARKER_LARGEST_MM} mm or less; at {time:.2} s"),
        ),
    ])
}

/// The root mean square angle between sensors and model, deg.
fn mean_angle(errors: &Table) -> Option<f64> {
    let unit = if errors.in_degrees == Some(true) { 1.0 } else { 1f64.to_degrees() };
    let each: Vec<f64> = errors.columns().iter().map(|c| rms(c)).collect();
    (!each.is_empty()).then(|| unit * rms(&each))
}

fn sensors(errors: &Table) -> Option<Light> {
    let columns = errors.columns();
    let mean = mean_angle(errors)?;
    let worst = (0..columns.len()).max_by(|&a, &b| rms(&columns[a]).total_cmp(&rms(&columns[b])))?;
    let reason = format!("{SENSOR_DEG}° or less; largest: {}", errors.labels()[worst]);
    Some(light("Sensors, RMS", format!("{mean:.1}°"), mean, SENSOR_DEG, reason))
}

fn balance(r: &Residuals, standard: &Standard) -> [Light; 2] {
    let of_weight = format!("{:.0} N, {:.1} % of weight", r.force_rms, 100.0 * r.force_rms / r.weight);
    let most = format!("largest {:.0} N at {:.2} s", r.force_peak, r.worst_time);
    let [rms, peak] = [r.moment_rms, r.moment_peak].map(|m| format!("{m:.0} N m"));
    match *standard {
        Standard::Reduced => [
            light(
                "Residual force, RMS",
                of_weight,
                r.force_rms,
                RESIDUAL_FORCE_N,
                format!("{RESIDUAL_FORCE_N} N or less after residual reduction (OpenSim); {most}"),
            ),
            light(
                "Residual moment, largest",
                peak,
                r.moment_peak,
                RESIDUAL_MOMENT_NM,
                format!("{RESIDUAL_MOMENT_NM} N m or less after residual reduction (OpenSim); RMS {rms}"),
            ),
        ],
        Standard::External { force, height } => {
            let [f, m] = [RESIDUAL_FORCE * force, RESIDUAL_MOMENT * force * height];
            let reason = format!(
                "{f:.0} N or less: {:.0} % of the largest external force, {force:.0} N (Hicks et al. 2015); {most}",
                100.0 * RESIDUAL_FORCE
            );
            let of_moment = format!(
                "{m:.1} N m or less: {:.0} % of that force times {height:.2} m, the height of the mass centre (Hicks et al. 2015); largest {peak}",
                100.0 * RESIDUAL_MOMENT
            );
            [
                light("Residual force, RMS", of_weight, r.force_rms, f, reason),
                light("Residual moment, RMS", rms, r.moment_rms, m, of_moment),
            ]
        }
        Standard::Unknown => [
            ("Residual force, RMS", of_weight, most),
            ("Residual moment, RMS", rms, format!("largest {peak}")),
        ]
        .map(|(what, value, reason)| Light { what: what.into(), value, verdict: None, reason }),
    }
}

fn has_muscle(model: &Model, name: &str) -> bool {
    model.forces.iter().any(|f| f.name == name && matches!(f.kind, ForceKind::Muscle(_)))
}

/// Reserves beside the moments of their joints, and muscles that can do no more.
fn sharing(evidence: &Evidence, model: &Model) -> Option<Vec<Light>> {
    let activations = evidence.activations.as_ref()?;
    let mut lights = Vec::new();
    if let (Some(forces), Some(moments)) = (&evidence.forces, &evidence.moments) {
        lights.extend(reserves(forces, moments, model));
    }
    let columns =
        || activations.labels().iter().zip(activations.columns()).filter(|(l, _)| has_muscle(model, l));
    let saturated: Vec<&str> =
        columns().filter(|(_, c)| c.iter().any(|a| *a >= SATURATED)).map(|(l, _)| l.as_str()).collect();
    let most =
        columns().filter_map(|(l, c)| Some((largest(c)?, l))).max_by(|a, b| a.0.0.total_cmp(&b.0.0))?;
    let ((value, at), name) = most;
    let reason = match saturated.len() {
        0 => format!("{name} at {:.2} s", activations.times()[at]),
        1..=4 => format!("at their limit: {}", saturated.join(", ")),
        n => format!("at their limit: {n} muscles, including {}", saturated[..3].join(", ")),
    };
    let verdict = match saturated.len() {
        0 => Verdict::Good,
        _ => Verdict::Fair,
    };
    lights.push(Light {
        what: "Activation, largest".into(),
        value: format!("{value:.2}"),
        verdict: Some(verdict),
        reason,
    });
    Some(lights)
}

/// Whether a muscle crosses the joint of a coordinate: it has points on both sides, or its length is a function of the coordinate.
fn has_muscles(model: &Model, coordinate: usize) -> bool {
    let body = |frame: FrameId| model.frames[frame.0].body.0;
    let parent: Vec<Option<usize>> = {
        let mut list = vec![None; model.bodies.len()];
        for j in &model.joints {
            list[body(j.child)].get_or_insert(body(j.parent));
        }
        list
    };
    let Some(joint) = model.joints.iter().find(|j| j.coordinates.iter().any(|c| c.0 == coordinate)) else {
        return false;
    };
    let is_beyond = |mut b: usize| {
        // Bodies of a loop could lead around for ever.
        for _ in 0..model.bodies.len() {
            if b == body(joint.child) {
                return true;
            }
            match parent[b] {
                Some(p) => b = p,
                None => return false,
            }
        }
        false
    };
    let muscles = model.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_)));
    muscles.filter_map(|f| f.line_of_action.as_ref()).any(|path| match path {
        MusclePath::FunctionBased(p) => p.coordinates.iter().any(|c| c.0 == coordinate),
        path => {
            let sides: Vec<bool> = path.points().iter().map(|p| is_beyond(body(p.frame))).collect();
            sides.contains(&true) && sides.contains(&false)
        }
    })
}

/// The reserve that is largest beside the moment of its coordinate.
fn reserves(forces: &Table, moments: &Table, model: &Model) -> Option<Light> {
    let (part, reserve, peak, name) = largest_reserve(forces, moments, model)?;
    Some(light(
        "Largest reserve",
        format!("{:.1} % of the moment", 100.0 * part),
        part,
        RESERVE,
        format!("{:.0} % or less; {name}: {reserve:.1} of {peak:.1} N m", 100.0 * RESERVE),
    ))
}

/// The largest part of a moment that a reserve had, that reserve and moment, and the coordinate.
fn largest_reserve<'m>(
    forces: &Table,
    moments: &Table,
    model: &'m Model,
) -> Option<(f64, f64, f64, &'m str)> {
    let root: Vec<usize> = model
        .joints
        .iter()
        .filter(|j| model.frames[j.parent.0].body.0 == 0)
        .flat_map(|j| j.coordinates.iter().map(|c| c.0))
        .collect();
    let mut worst: Option<(f64, f64, f64, &str)> = None;
    // Where no muscle acts, as on the arms of many models, an actuator carries everything by intention.
    let judged = |i: &usize| !root.contains(i) && has_muscles(model, *i);
    for (i, c) in model.coordinates.iter().enumerate().filter(|(i, _)| judged(i)) {
        let Some(moment) =
            moments.column(&format!("{}_moment", c.name)).or(moments.column(&format!("{}_force", c.name)))
        else {
            continue;
        };
        let is_reserve = |label: &str| {
            let own = |f: &soleus_model::Force| {
                f.name == label && matches!(&f.kind, ForceKind::CoordinateActuator(a) if a.coordinate.0 == i)
            };
            label == format!("{}_reserve", c.name)
                || (label.starts_with("reserve_") && label.ends_with(&format!("_{}", c.name)))
                || model.forces.iter().any(own)
        };
        let (Some((peak, _)), Some(column)) =
            (largest(moment), forces.labels().iter().position(|l| is_reserve(l)))
        else {
            continue;
        };
        let Some((reserve, _)) = largest(&forces.columns()[column]) else { continue };
        // Beside a moment that is next to nothing any reserve is large.
        let part = reserve / peak.max(1.0);
        if worst.is_none_or(|w| part > w.0) {
            worst = Some((part, reserve, peak, c.name.as_str()));
        }
    }
    worst
}

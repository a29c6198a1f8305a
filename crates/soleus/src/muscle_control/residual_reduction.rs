//! Residual reduction.

use super::run::{self, Job};
use super::{TrackedMotion, Tracking, inputs, page, weights};
use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::inputs::model;
use crate::inputs::paths::beside;
use serde::{Deserialize, Serialize};
use soleus_dynamics::System;
use soleus_io::osim::write_document;
use soleus_io::setup::{RraSetup, TrackingTask, write_tracking_tasks};
use soleus_math::SymMat33;
use soleus_model::force::ForceKind;
use soleus_model::{Document, Element, Model};
use soleus_tools::analysis::StateHistory;
use soleus_tools::tracking::{
    Effort, InitialStates, MassAdjustment, RESIDUALS, Settings, Target, average_heading, average_residuals,
    residual_of,
};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Length of a window, s: OpenSim's.
const WINDOW: f64 = 0.001;

/// Default optimal moment (N m) and force (N) of residual actuators: so weak that the motion changes instead, as in
/// OpenSim's examples.
pub const WEAK_RESIDUALS: [f64; 2] = [4.0, 8.0];
/// Default optimal force of the other actuators, N m or N: strong enough that their cost is negligible.
pub const STRONG_ACTUATORS: f64 = 1000.0;

/// Finds a motion near the measured one with smaller residuals, and adjusts a mass centre.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResidualReduction {
    /// Model, motion and settings of tracking.
    pub tracking: Tracking,
    /// Length of a control window, s; default: 0.001.
    pub window: Option<f64>,
    /// Body whose mass centre is adjusted to make the mean moments zero, usually the torso; default: none.
    pub mass_center: Option<MassCenter>,
    /// Number of runs to optimize the weights of the tasks, starting from those given; 0 to use the given weights.
    pub find_weights: usize,
}

/// Adjustment of a mass centre.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MassCenter {
    /// The body.
    pub body: String,
    /// Time range over which residuals are averaged, s; default: the whole tracked range.
    pub range: Option<[f64; 2]>,
    /// Whether to apply the recommended changes of mass to all bodies as well; OpenSim only prints them.
    pub change_masses: bool,
    /// Output file for the adjusted model.
    pub output: Option<PathBuf>,
}

impl ResidualReduction {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &RraSetup) -> Result<Self, Error> {
        let output = s.output_model_file.as_deref().unwrap_or("adjusted_model.osim");
        let mass_center = s.body.clone().filter(|_| s.adjust_mass_center).map(|body| MassCenter {
            body,
            range: s.adjustment_range,
            change_masses: false,
            output: Some(beside(path, output)),
        });
        Ok(ResidualReduction {
            tracking: Tracking::from_setup(path, &s.tracking)?,
            window: None,
            mass_center,
            find_weights: 0,
        })
    }

    /// The settings of tracking with the actuators of residual reduction, unless the request says what becomes of the model's forces.
    fn decided(&self) -> Tracking {
        let mut tracking = self.tracking.clone();
        if tracking.replace_forces.is_some() {
            return tracking;
        }
        tracking.replace_forces = Some(true);
        if tracking.force_sets.is_empty() {
            if tracking.residuals.is_empty() {
                tracking.residuals = WEAK_RESIDUALS.to_vec();
            }
            if tracking.reserves.is_empty() {
                tracking.reserves = vec![STRONG_ACTUATORS];
            }
        }
        tracking
    }

    /// Adjusts the mass centre, if requested, and tracks the motion.
    pub fn run(&self, cx: &Context) -> Result<ReducedMotion, Error> {
        let tracking = self.decided();
        let request = &tracking;
        let window = self.window.unwrap_or(WINDOW);
        let mut model = run::read_model(cx, request)?;
        let mut system = run::compile(request, &model)?;
        let (history, data) = inputs::motion(cx, request, (&model, &system))?;
        let range = inputs::range(cx, request, data, window)?;
        let mut adjusted = None;
        run::check_loads_of(cx, request, &model, range, data, window)?;
        if let Some(change) = &self.mass_center {
            let found = self.adjust(cx, (request, change), (&mut model, &mut system), &history, range)?;
            adjusted = Some(found);
        }
        let (tasks, task_lines) = inputs::tasks(cx, request, (&model, &system), &history)?;
        let mut job = Job {
            request,
            both: (&model, &system),
            history: &history,
            range,
            data,
            settings: Settings {
                window,
                target: Target::Weighted,
                effort: Effort::Stress,
                ..Settings::default()
            },
            least_excitation: inputs::LEAST_OF_OPENSIM,
            initial: InitialStates::FirstWindow,
            tasks,
            task_lines,
            springs: &[],
            emg: &[],
        };
        let found_tasks = match self.find_weights {
            0 => None,
            runs => Some(weights::find(cx, &mut job, runs)?),
        };
        let mut motion = job.run(cx)?;
        if let Some(file) = &request.page {
            motion.page = Some((
                file.clone(),
                page::page(&motion, page::figure(cx, request, &motion.states).as_ref(), None),
            ));
        }
        // Residual actuators of OpenSim's names, or those of the coordinates of the root.
        let axis_of = |name: &str| match &model.forces.iter().find(|f| f.name == name)?.kind {
            ForceKind::CoordinateActuator(a) => {
                residual_of(&system, system.tree.mobility_of_coordinate[a.coordinate.0])
            }
            _ => None,
        };
        let mut means = [0.0; 6];
        for (i, (mean, name)) in means.iter_mut().zip(RESIDUALS).enumerate() {
            let is_it = |name: &str| axis_of(name) == Some(i);
            let of_root = || motion.report.helpers.iter().find(|h| h.is_residual && is_it(&h.name));
            *mean = motion.report.helper(name).or_else(of_root).map_or(0.0, |h| h.mean);
        }
        let [fx, fy, fz, mx, my, mz] = means;
        cx.note(format!(
            "mean residuals: force {fx:.3}, {fy:.3}, {fz:.3} N, moment {mx:.3}, {my:.3}, {mz:.3} N m"
        ));
        Ok(ReducedMotion { motion, adjusted, mean_residuals: means, found_tasks })
    }

    /// Moves the mass centre of a body, and tells which masses would fit better.
    fn adjust(
        &self,
        cx: &Context,
        (request, change): (&Tracking, &MassCenter),
        (model, system): (&mut Model, &mut System),
        history: &StateHistory,
        range: [f64; 2],
    ) -> Result<Adjusted, Error> {
        let path = request.path();
        let Some(body) = model.bodies.iter().position(|b| b.name == change.body).filter(|&b| b > 0) else {
            let names = model.bodies.iter().skip(1).map(|b| b.name.as_str());
            let hint = nearest_hint("body", &change.body, names);
            let message = format!("no body is called `{}`", change.body);
            return Err(Error::content(path, 0, "", message, &hint));
        };
        if !(model.bodies[body].mass > 0.0) {
            let message = format!("body `{}` has no mass; its mass centre cannot be moved", change.body);
            return Err(Error::content(path, 0, "", message, "give a body with mass, usually the torso"));
        }
        let [from, to] = change.range.unwrap_or(range);
        let wrong = |message: String| Error::content(request.motion.path(), 0, "", message, "");
        let rows = history.range(from, to).map_err(|e| wrong(e.to_string()))?;
        let means = |model: &Model, system: &System| {
            average_residuals(model, system, history, rows.clone()).map_err(|e| wrong(e.to_string()))
        };
        let before = means(model, system)?;
        if before == [0.0; 6] {
            let message = format!(
                "the mass centre of `{}` is not changed: no body moves freely in ground, and no actuator is called {}",
                change.body,
                RESIDUALS.join(", ")
            );
            cx.warn(
                request.path(),
                message,
                "add residual actuators with these names (--reserves FORCES.xml)",
            );
        }
        // Setup files keep to OpenSim, as for the angles of the root.
        let along_ground = request.opensim_faults || request.asked_in.is_some();
        let heading = if along_ground { 0.0 } else { average_heading(system, history, rows.clone(), body) };
        let adjustment = MassAdjustment::new(model, body, before, heading);
        model.bodies[body].mass_center = adjustment.mass_center[1];
        if change.change_masses {
            for (b, (_, _, mass)) in model.bodies.iter_mut().skip(1).zip(&adjustment.masses) {
                let factor = if b.mass > 0.0 { mass / b.mass } else { 1.0 };
                b.mass = *mass;
                b.inertia = scaled(b.inertia, factor);
            }
        }
        *system = run::compile(request, model)?;
        let after = means(model, system)?;
        for line in lines(&change.body, &adjustment, after) {
            cx.note(line);
        }
        let document = match &change.output {
            Some(file) => {
                let mut document = model::document(cx, &request.model)?;
                write_masses(&mut document, model, change, &adjustment);
                Some((file.clone(), document))
            }
            None => None,
        };
        Ok(Adjusted { adjustment, after, document })
    }
}

fn lines(body: &str, a: &MassAdjustment, after: [f64; 6]) -> Vec<String> {
    let shown = |r: [f64; 6]| {
        format!("{:.3}, {:.3}, {:.3} N, {:.3}, {:.3}, {:.3} N m", r[0], r[1], r[2], r[3], r[4], r[5])
    };
    let [old, new] = a.mass_center.map(|c| c.to_array());
    vec![
        format!("mean residuals of the measured motion: {}", shown(a.before)),
        format!(
            "mass centre of `{body}` moved from ({:.4}, {:.4}, {:.4}) to ({:.4}, {:.4}, {:.4}) m; mean residuals then: {}",
            old[0],
            old[1],
            old[2],
            new[0],
            new[1],
            new[2],
            shown(after)
        ),
        format!(
            "recommended change of total mass: {:.4} kg, distributed in proportion to mass",
            a.mass_change
        ),
    ]
}

/// Writes the changed mass centre, and masses if they were changed, into the elements of the model.
fn write_masses(document: &mut Document, model: &Model, change: &MassCenter, a: &MassAdjustment) {
    let root = &mut document.root;
    let top = match root.tag == "Model" {
        true => Some(root),
        false => root.child_mut("Model"),
    };
    let objects = top.and_then(|m| m.child_mut("BodySet")).and_then(|s| s.child_mut("objects"));
    for body in objects.into_iter().flat_map(Element::children_mut) {
        let name = body.name().to_string();
        if name == change.body {
            let [x, y, z] = a.mass_center[1].to_array();
            set(body, "mass_center", format!("{x} {y} {z}"));
        }
        if !change.change_masses {
            continue;
        }
        if let Some(b) = model.bodies.iter().find(|b| b.name == name) {
            set(body, "mass", format!("{}", b.mass));
            let mut text = String::new();
            let i = b.inertia;
            for x in [i.xx, i.yy, i.zz, i.xy, i.xz, i.yz] {
                let _ = write!(text, "{}{x}", if text.is_empty() { "" } else { " " });
            }
            set(body, "inertia", text);
        }
    }
}

fn scaled(i: SymMat33<f64>, factor: f64) -> SymMat33<f64> {
    let [xx, yy, zz, xy, xz, yz] = [i.xx, i.yy, i.zz, i.xy, i.xz, i.yz].map(|x| factor * x);
    SymMat33 { xx, yy, zz, xy, xz, yz }
}

fn set(body: &mut Element, tag: &str, text: String) {
    match body.child_mut(tag) {
        Some(e) => e.set_text(text),
        None => body.push(Element::with_text(tag, text, 0)),
    }
}

/// An adjusted model.
#[derive(Debug)]
pub struct Adjusted {
    /// Changes made and recommended.
    pub adjustment: MassAdjustment,
    /// Mean residuals of the measured motion with the adjusted model: FX, FY, FZ (N), MX, MY, MZ (N m).
    pub after: [f64; 6],
    document: Option<(PathBuf, Document)>,
}

/// A motion with smaller residuals.
#[derive(Debug)]
pub struct ReducedMotion {
    /// The motion.
    pub motion: TrackedMotion,
    /// The adjusted model.
    pub adjusted: Option<Adjusted>,
    /// Means over time of the actuators FX, FY, FZ (N), MX, MY, MZ (N m); 0 for missing actuators.
    pub mean_residuals: [f64; 6],
    /// Tasks with optimized weights, if requested.
    pub found_tasks: Option<Vec<TrackingTask>>,
}

impl Outcome for ReducedMotion {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let mut list = self.motion.artifacts();
        if let Some(file) = self.motion.file("avgResiduals.txt") {
            let mut text = "Average Residuals:\n\n".to_string();
            for (name, mean) in ["FX", "FY", "FZ", "MX", "MY", "MZ"].iter().zip(self.mean_residuals) {
                let _ = writeln!(text, "{name} average = {mean}");
            }
            list.push(Artifact::text(file, text).derived());
        }
        if let Some((file, tasks)) = self.motion.file("tasks.xml").zip(self.found_tasks.as_ref()) {
            list.push(Artifact::text(file, write_tracking_tasks(tasks)).derived());
        }
        if let Some((file, document)) = self.adjusted.as_ref().and_then(|a| a.document.as_ref()) {
            list.push(Artifact::text(file, write_document(document)).derived());
        }
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        self.motion.verdict()
    }
}

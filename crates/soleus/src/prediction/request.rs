//! Prediction of the gait of any model, as a study.

use super::whole::WholeCycle;
use crate::addition::{Add, Free, Part, PartKind, read_parts};
use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::inputs::model::{build, compile};
use crate::inputs::paths::{file_part, stem_of};
use crate::optimal_control::{PhaseSolution, Solution, Solve, SolveOptions, StudySource};
use crate::source::ModelSource;
use serde::{Deserialize, Serialize};
use soleus_control::Trajectory;
use soleus_control::gait::{NoLegs, Walker};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::Options;
use soleus_io::osim::write_document;
use soleus_io::study::{
    self, ContinuationSettings, Goal, GoalKind, GuessSettings, HelpSettings, ModelStep, ModelStepKind,
    Parameter, StartSettings, Study, VariableInfo, Weight,
};
use soleus_math::elementary;
use soleus_model::muscle::MuscleKind;
use soleus_model::{Document, ForceKind, Model, ModelOperator};
use soleus_viewer::scene::FEW_FACES;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Speeds that can be asked for, m/s.
const SPEEDS: [f64; 2] = [0.1, 6.0];

/// A speed at which walks are found from a straight-line guess most surely, m/s; other speeds are reached from there, too.
const EASY_SPEED: f64 = 1.3;

/// Longest step of the speed on the way from there, m/s.
const SPEED_STEP: f64 = 0.2;

/// Duration of half a cycle, s, and swing of the hips at the start, degrees: walking, and running.
const WALK: ([f64; 2], f64) = ([0.3, 0.9], 20.0);
const RUN: ([f64; 2], f64) = ([0.2, 0.5], 30.0);

/// Speed that tells running from walking where nothing else is said, m/s.
const RUN_SPEED: f64 = 3.0;

/// Mesh intervals of half a cycle: first few, then more.
const INTERVALS: usize = 40;

/// Help of a poor start, N or N·m per kg: along and about what the legs do not hold, and on all else. They are 750 and 100 for 75 kg.
const HELP: [f64; 2] = [10.0, 4.0 / 3.0];

/// Torque of a joint that nothing else moves, N·m: that of the back in OpenSim Moco's planar model of walking.
const BACK_TORQUE: f64 = 150.0;

/// Effort terms by name: description and default weight.
pub const EFFORTS: [(&str, f64, &str); 6] = [
    ("excitations", 20.0, "mean of excitations cubed"),
    ("excitations2", 10.0, "mean of excitations squared"),
    ("activations", 20.0, "mean of activations cubed"),
    ("metabolic", 0.05, "metabolic rate per mass, W/kg, of the model's probe"),
    ("accelerations", 1e-4, "mean of squared accelerations of the coordinates"),
    ("trunk", 0.1, "squared tilt of the trunk in tenths of a radian"),
];

/// Predicts a gait with minimum effort at a given speed, without measurements.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Predict {
    /// The model.
    pub model: ModelSource,
    /// Speed, m/s; default: 1.3, or 3 for running.
    pub speed: Option<f64>,
    /// Slope of the ground, degrees; positive uphill.
    pub slope_deg: f64,
    /// Whether to predict running: shorter steps, from an initial guess with a wider swing.
    pub run: bool,
    /// Whether to solve a whole gait cycle instead of a symmetric half.
    pub whole: bool,
    /// File with parts to add and their free properties (.toml, as for `soleus add`).
    pub device: Option<PathBuf>,
    /// Parts to add, in addition to those in the file.
    pub parts: Vec<Part>,
    /// Model parameters to optimize: `COMPONENT.PROPERTY=LOWER,UPPER`.
    pub free: Vec<String>,
    /// Effort terms, `NAME` or `NAME=WEIGHT`; default: excitations and trunk.
    pub effort: Vec<String>,
    /// Whether to add contact spheres to a model without contact.
    pub add_feet: bool,
    /// Number of initial guesses.
    pub starts: Option<usize>,
    /// Number of mesh intervals; default: 40 for half a cycle.
    pub intervals: Option<usize>,
    /// Name of the study and of all files; default: name of the model.
    pub name: Option<String>,
    /// Output folder.
    pub output: PathBuf,
    /// Whether to write the study without solving it.
    pub study_only: bool,
}

impl Default for Predict {
    fn default() -> Self {
        Predict {
            model: ModelSource::default(),
            speed: None,
            slope_deg: 0.0,
            run: false,
            whole: false,
            device: None,
            parts: Vec::new(),
            free: Vec::new(),
            effort: Vec::new(),
            add_feet: false,
            starts: None,
            intervals: None,
            name: None,
            output: "prediction".into(),
            study_only: false,
        }
    }
}

/// An optimized parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundParameter {
    /// Name.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Bounds.
    pub bounds: [f64; 2],
    /// Unit; empty if unknown.
    pub unit: String,
}

/// A predicted gait.
pub struct PredictedGait {
    /// The speed, m/s.
    pub speed: f64,
    /// The study, which can be solved again with `soleus solve`.
    pub study: Study,
    /// The solution; `None` if only the study was requested.
    pub solution: Option<Solution>,
    /// The whole cycle.
    pub cycle: Option<WholeCycle>,
    /// Optimized model parameters.
    pub parameters: Vec<FoundParameter>,
    /// Objective and goals without the device, if there is one.
    pub without: Option<(f64, Vec<(String, f64)>)>,
    /// Attempts: description, and objective if solved.
    pub ways: Vec<(String, Option<f64>)>,
    /// Wall-clock time, s; 0 without a clock.
    pub seconds: f64,
    text: String,
    model: Option<(PathBuf, String)>,
    folder: PathBuf,
    page: Option<String>,
}

/// The study of a gait and its model.
struct GaitStudy {
    study: Study,
    walker: Walker,
    document: Document,
    /// Whether the model is another than that of a file.
    is_changed: bool,
    free: Vec<Free>,
}

impl GaitStudy {
    /// The study with its model in memory: the file that it names is written with the result.
    fn in_memory(&self) -> Study {
        let root = &self.document.root;
        let element = if root.tag == "Model" { Some(root.clone()) } else { root.child("Model").cloned() };
        let mut study = self.study.clone();
        (study.setup.model, study.setup.model_file) = (element, None);
        study
    }
}

impl Predict {
    /// Computes the gait.
    pub fn run(&self, cx: &Context) -> Result<PredictedGait, Error> {
        let begun = cx.monitor.seconds();
        let speed = self.valid_speed()?;
        let mut parts = self.parts.clone();
        if let Some(file) = &self.device {
            parts.extend(read_parts(cx, file)?);
        }
        let mut gait = self.gait_study(cx, speed, &parts)?;
        let name = gait.study.setup.name.clone();
        let file = self.output.join(format!("{}.toml", file_part(&name)));
        let model = gait.is_changed.then(|| {
            let model = format!("{}.osim", file_part(&name));
            gait.study.setup.model_file = Some(model.clone());
            (self.output.join(model), write_document(&gait.document))
        });
        let text = study::write(&gait.study);
        let mut found = PredictedGait {
            speed,
            study: gait.study.clone(),
            solution: None,
            cycle: None,
            parameters: Vec::new(),
            without: None,
            ways: Vec::new(),
            seconds: 0.0,
            text,
            model,
            folder: self.output.clone(),
            page: None,
        };
        if self.study_only {
            return Ok(found);
        }
        let study = gait.in_memory();
        let has_device = !parts.is_empty() || !gait.free.is_empty();
        let guess = match has_device && !self.whole {
            true => self.without_device(cx, &file, speed, &mut found)?,
            false => None,
        };
        let near = match guess {
            Some(motion) => self.near(cx, &file, &study, motion, &mut found.ways)?,
            None => None,
        };
        let solution = match near {
            Some(solution) => solution,
            None => self.best(cx, &file, &study, speed, &mut found.ways)?,
        };
        let solved = solution.phases.first().filter(|_| solution.is_solved());
        let walker = solved.map(|phase| self.describe(&gait, phase, &mut found));
        found.solution = Some(solution);
        if let Some(walker) = walker {
            found.seconds = begun.zip(cx.monitor.seconds()).map_or(0.0, |(a, b)| b - a);
            let quiet = cx.with_monitor(&crate::context::Silent);
            let shapes = crate::viewing::geometry(&quiet, &self.model, &walker.base.model, None, FEW_FACES);
            found.page = Some(super::gait_page::page(&found, &walker, shapes.unwrap_or_default()));
        }
        Ok(found)
    }

    fn valid_speed(&self) -> Result<f64, Error> {
        let speed = self.speed.unwrap_or(if self.run { RUN_SPEED } else { EASY_SPEED });
        if (SPEEDS[0]..=SPEEDS[1]).contains(&speed) {
            return Ok(speed);
        }
        let message = format!("{speed} m/s is not a valid gait speed");
        Err(Error::content(self.model.path(), 0, "", message, "choose a speed from 0.1 to 6 m/s"))
    }

    /// The gait without the device: what the device gains, and where to start.
    fn without_device(
        &self,
        cx: &Context,
        file: &Path,
        speed: f64,
        found: &mut PredictedGait,
    ) -> Result<Option<Trajectory>, Error> {
        cx.note("without the device");
        let mut bare = self.gait_study(cx, speed, &[])?.in_memory();
        bare.setup.parameters = Vec::new();
        let solution = self.best(cx, file, &bare, speed, &mut Vec::new())?;
        let mut guess = None;
        if solution.is_solved() {
            let goals = solution.phases.first().map_or(Vec::new(), |p| p.goals.clone());
            found.without = Some((solution.objective(), goals));
            guess = solution.phases.first().map(|p| p.trajectory.clone());
        }
        cx.note("with the device");
        Ok(guess)
    }

    /// Solves from a motion nearby; none if that fails.
    fn near(
        &self,
        cx: &Context,
        file: &Path,
        study: &Study,
        motion: Trajectory,
        ways: &mut Vec<(String, Option<f64>)>,
    ) -> Result<Option<Solution>, Error> {
        let mut near = study.clone();
        (near.help, near.guess, near.barrier) = (None, GuessSettings::default(), Some(1e-4));
        near.coarse.clear();
        let request = Solve {
            study: StudySource::of_study(file, near),
            initial_motion: Some(motion),
            options: self.options(file),
            ..Solve::default()
        };
        let solution = Some(request.run(cx)?).filter(Solution::is_solved);
        ways.push(("from the gait without the device".into(), solution.as_ref().map(Solution::objective)));
        Ok(solution)
    }

    /// Adds the parameters and the cycle of a solution; returns its walker.
    fn describe(&self, gait: &GaitStudy, phase: &PhaseSolution, found: &mut PredictedGait) -> Walker {
        for (name, value) in phase.parameters() {
            let p = gait.study.setup.parameters.iter().find(|p| p.name == *name);
            let unit = gait.free.iter().find(|f| f.name == *name).map_or(String::new(), |f| f.unit.clone());
            let bounds = p.map_or([f64::NEG_INFINITY, f64::INFINITY], |p| p.bounds);
            found.parameters.push(FoundParameter { name: name.clone(), value: *value, bounds, unit });
        }
        let walker = Walker { base: phase.model.clone(), ..gait.walker.clone() };
        found.cycle = Some(WholeCycle::new(&walker, &phase.trajectory, found.speed, !self.whole));
        walker
    }

    fn options(&self, file: &Path) -> SolveOptions {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        SolveOptions {
            solution: Some(file.with_file_name(format!("{name}_solution.sto"))),
            ..SolveOptions::default()
        }
    }

    /// Solves from a straight-line guess, and where that fails or another speed than the easiest is asked for, by continuation from there; keeps
    /// the better one.
    fn best(
        &self,
        cx: &Context,
        file: &Path,
        study: &Study,
        speed: f64,
        ways: &mut Vec<(String, Option<f64>)>,
    ) -> Result<Solution, Error> {
        let solve = |study: Study| {
            let study = StudySource::of_study(file, study);
            Solve { study, options: self.options(file), ..Solve::default() }.run(cx)
        };
        let direct = solve(study.clone())?;
        let objective = |s: &Solution| s.is_solved().then(|| s.objective());
        ways.push(("from a straight-line guess".into(), objective(&direct)));
        let steps = ((speed - EASY_SPEED).abs() / SPEED_STEP).ceil();
        let is_far = steps >= 1.0 || self.slope_deg != 0.0;
        if cx.monitor.is_cancelled() || self.run || !is_far {
            return Ok(direct);
        }
        let (of, values): (&str, Vec<f64>) = match steps >= 1.0 {
            true => {
                let at = |k: usize| EASY_SPEED + (speed - EASY_SPEED) * k as f64 / steps;
                ("speed", (0..=steps as usize).map(at).collect())
            }
            false => ("slope", vec![0.0, 0.5 * self.slope_deg, self.slope_deg]),
        };
        cx.note(format!("by continuation over the {of}, from {}", values[0]));
        let settings = ContinuationSettings { of: of.into(), values, ..ContinuationSettings::default() };
        let continued = solve(Study { continuation: Some(settings), ..study.clone() })?;
        ways.push((format!("by continuation over the {of}"), objective(&continued)));
        let is_better = match (objective(&direct), objective(&continued)) {
            (Some(a), Some(b)) => b < a,
            (None, Some(_)) => true,
            _ => false,
        };
        Ok(if is_better { Solution { continued: None, ..continued } } else { direct })
    }

    /// The model with its parts, and the study.
    fn gait_study(&self, cx: &Context, speed: f64, parts: &[Part]) -> Result<GaitStudy, Error> {
        let path = self.model.path().to_path_buf();
        let mut all: Vec<Part> = parts.to_vec();
        if self.add_feet {
            all.insert(0, Part { kind: PartKind::Feet, ..Part::default() });
        }
        let original = super::builtin(&self.model)?;
        let source = original.map_or_else(|| self.model.clone(), ModelSource::from);
        let mut added = Add { model: source.clone(), parts: all.clone(), ..Add::default() }.run(cx)?;
        let built = build(cx, &path, &added.document)?;
        let backs = unmoved(&built);
        if !backs.is_empty() {
            let torque = |c: &String| Part {
                kind: PartKind::Torque,
                coordinate: Some(c.clone()),
                max: Some(BACK_TORQUE),
                ..Part::default()
            };
            let torques: Vec<Part> = backs.iter().map(torque).collect();
            let model = ModelSource::from(added.document.clone());
            let more = Add { model, parts: torques, ..Add::default() }.run(cx)?;
            added.document = more.document;
        }
        let is_changed = !all.is_empty() || !backs.is_empty() || !matches!(self.model, ModelSource::File(_));
        let is_changed = is_changed || path.to_string_lossy().starts_with("builtin:");
        let mut study = Study::default();
        let name = self.name.clone().unwrap_or_else(|| stem_of(&path, "gait").replace("builtin:", ""));
        study.setup.name = name;
        study.setup.model_file = Some(seen_from(cx, &self.output, &path));
        let mut model = build(cx, &path, &added.document)?;
        for o in operators(&model) {
            o.change(&mut model).map_err(|e| Error::content(&path, 0, "", e.to_string(), ""))?;
            study.setup.model_steps.push(ModelStep { kind: ModelStepKind::Operator(o), line: 0 });
        }
        if self.slope_deg != 0.0 {
            let kind = ModelStepKind::Operator(ModelOperator::Slope(self.slope_deg));
            study.setup.model_steps.push(ModelStep { kind, line: 0 });
        }
        crate::inputs::model::read_meshes(cx, &path, &mut model)?;
        let system = compile(&path, &model, &Options::default())?;
        let base = ModelProblem::new(Arc::new(model), Arc::new(system));
        let walker = Walker::new(base).map_err(|e| {
            let hint = match &e {
                NoLegs::NoContact if !self.add_feet => "--add-feet adds contact spheres under heels and toes",
                _ => "a gait needs two legs named `_r` and `_l`, x forward and y up",
            };
            Error::content(&path, 0, "", e.to_string(), hint)
        })?;
        if !walker.mirror.one_sided.is_empty() && !self.whole {
            let message = format!("no counterpart on the other side: {}", walker.mirror.one_sided.join(", "));
            return Err(Error::content(&path, 0, "", message, "use a whole cycle: --whole"));
        }
        let mut free = added.free;
        for text in &self.free {
            free.push(self.freed(&walker.base.model, text)?);
        }
        study.setup.parameters = free.iter().map(parameter).collect();
        self.pose(&mut study, &walker, speed)?;
        Ok(GaitStudy { study, walker, document: added.document, is_changed, free })
    }

    /// Times, bounds, goals, help, guess and meshes.
    fn pose(&self, study: &mut Study, walker: &Walker, speed: f64) -> Result<(), Error> {
        let base = &walker.base;
        let state =
            |i: usize| base.states[i].trim_end_matches("/value").rsplit('/').next().unwrap_or_default();
        let (half, swing) = if self.run { RUN } else { WALK };
        let cycles = if self.whole { 2.0 } else { 1.0 };
        let s = &mut study.setup;
        s.symmetry = Some(if self.whole { "cycle" } else { "left-right" }.into());
        s.initial_time = Some([0.0; 2]);
        s.final_time = Some(half.map(|t| t * cycles));
        s.default_speed_bounds = [-20.0, 20.0];
        let forward = VariableInfo {
            bounds: Some([-1.0, 2.0 + speed * half[1] * cycles]),
            initial: Some([0.0; 2]),
            ..VariableInfo::new(format!("{}/value", state(walker.mirror.forward)))
        };
        s.states.push(forward);
        let goal = |name: &str, weight: f64, kind: GoalKind| Goal { weight, ..Goal::new(name, kind) };
        s.goals.push(goal("speed", 1.0, GoalKind::AverageSpeed(speed)));
        for (name, weight) in self.efforts()? {
            let controls = base.controls.len().max(1) as f64;
            let control = |exponent: f64| GoalKind::Control { weights: Default::default(), exponent };
            let formula = |text: String| GoalKind::Formula { formula: text, when: "integral".into() };
            let (weight, kind) = match name {
                "excitations" => (weight / controls, control(3.0)),
                "excitations2" => (weight / controls, control(2.0)),
                "activations" => (weight, formula("mean(activation[*]^3)".into())),
                "metabolic" => (weight, formula("metabolic_rate / mass".into())),
                "accelerations" => (weight, formula("mean(udot[*]^2)".into())),
                _ => {
                    let tilts: Vec<String> = walker
                        .trunk
                        .iter()
                        .map(|&(i, sign)| format!("{}{}", if sign < 0.0 { "- " } else { "+ " }, state(i)))
                        .collect();
                    if tilts.is_empty() {
                        continue;
                    }
                    (weight, formula(format!("(({}) / 0.1)^2", tilts.join(" ").trim_start_matches("+ "))))
                }
            };
            let label = if name.starts_with("excitations") { "effort" } else { name };
            s.goals.push(Goal { divide_by_duration: true, ..goal(label, weight, kind) });
        }
        let solver = &mut s.solver;
        solver.transcription_scheme = "backward-euler".into();
        solver.num_mesh_intervals = self.intervals.unwrap_or(INTERVALS * cycles as usize).max(2);
        solver.interpolate_control_mesh_interior_points = false;
        solver.optim_constraint_tolerance = 1e-6;
        solver.optim_max_iterations = 600.0;
        study.coarse = vec![(study.setup.solver.num_mesh_intervals / 2).max(1)];
        // With 1e-4, thousands of bounds add up to 5 % of the objective, as much as optima differ by; 1e-6 takes a few iterations more.
        study.tolerance = Some(1e-6);
        let mass = base.model.total_mass();
        let rounded = |x: f64| {
            let unit = elementary::powf(10f64, elementary::log10(x).floor() - 1.0);
            (x / unit).round() * unit
        };
        let strong = walker.turns.iter().chain([&walker.mirror.forward]);
        study.help = Some(HelpSettings {
            strength: rounded(HELP[1] * mass),
            strengths: strong
                .map(|&i| Weight { name: state(i).into(), weight: rounded(HELP[0] * mass) })
                .collect(),
            ..HelpSettings::default()
        });
        study.guess.swing_deg = Some(swing);
        study.starts =
            self.starts.filter(|n| *n > 1).map(|count| StartSettings { count, ..StartSettings::default() });
        Ok(())
    }

    /// Terms of effort with their weights.
    fn efforts(&self) -> Result<Vec<(&'static str, f64)>, Error> {
        let usual = ["excitations", "trunk"];
        let mut list: Vec<(&'static str, f64)> = Vec::new();
        for text in &self.effort {
            let (name, weight) = text.split_once('=').map_or((text.as_str(), None), |(n, w)| (n, Some(w)));
            let refuse =
                |message: String, hint: &str| Error::content(self.model.path(), 0, "", message, hint);
            let known = EFFORTS.iter().find(|e| e.0 == name).ok_or_else(|| {
                let near = nearest_hint("name", name, EFFORTS.iter().map(|e| e.0));
                let all: Vec<&str> = EFFORTS.iter().map(|e| e.0).collect();
                let hint = if near.is_empty() { format!("there are: {}", all.join(", ")) } else { near };
                refuse(format!("unknown effort `{name}`"), &hint)
            })?;
            let weight = match weight.map(|w| w.parse::<f64>()) {
                None => known.1,
                Some(Ok(w)) if w >= 0.0 => w,
                _ => return Err(refuse(format!("`{text}` is not NAME=WEIGHT"), "")),
            };
            list.push((known.0, weight));
        }
        // An upright trunk is asked for unless it is named itself.
        let has_effort = list.iter().any(|e| e.0 != "trunk");
        for (name, weight, _) in EFFORTS.iter().filter(|e| usual.contains(&e.0)) {
            let is_missing = !list.iter().any(|e| e.0 == *name);
            if is_missing && (*name == "trunk" || !has_effort) {
                list.push((name, *weight));
            }
        }
        Ok(list.into_iter().filter(|e| e.1 > 0.0).collect())
    }

    /// `COMPONENT.PROPERTY=LOWER,UPPER`.
    fn freed(&self, model: &Model, text: &str) -> Result<Free, Error> {
        let refuse = |message: String, hint: &str| Error::content(self.model.path(), 0, "", message, hint);
        let parts = text.split_once('=').and_then(|(name, bounds)| {
            let (component, property) = name.rsplit_once('.')?;
            let (a, b) = bounds.split_once(',')?;
            Some((component, property, [a.trim().parse::<f64>().ok()?, b.trim().parse::<f64>().ok()?]))
        });
        let Some((component, property, bounds)) = parts.filter(|p| p.2[0] < p.2[1]) else {
            let hint = "write COMPONENT.PROPERTY=LOWER,UPPER: --free ankle_spring_r.stiffness=0,300";
            return Err(refuse(format!("`{text}` does not name a property to optimise"), hint));
        };
        let names = || {
            model.forces.iter().map(|f| f.name.as_str()).chain(model.bodies.iter().map(|b| b.name.as_str()))
        };
        if !names().any(|n| n == component) {
            let hint = nearest_hint("component", component, names());
            return Err(refuse(format!("the model has no `{component}`"), &hint));
        }
        let other =
            soleus_control::gait::other_side(component).filter(|o| !self.whole && names().any(|n| n == o));
        let components = std::iter::once(component.to_string()).chain(other).collect();
        let name = format!("{component}_{property}");
        Ok(Free { name, components, property: property.into(), bounds, unit: String::new() })
    }
}

/// The name of a file in a study that is in a folder.
fn seen_from(cx: &Context, folder: &Path, file: &Path) -> String {
    let plain = |p: &Path| p.components().all(|c| matches!(c, Component::Normal(_)));
    match plain(folder) && plain(file) {
        true => "../".repeat(folder.components().count()) + &file.display().to_string(),
        false => cx.files.absolute(file).display().to_string(),
    }
}

fn parameter(f: &Free) -> Parameter {
    Parameter {
        name: f.name.clone(),
        bounds: f.bounds,
        component_paths: f.components.clone(),
        property_name: f.property.clone(),
        ..Parameter::default()
    }
}

/// Muscles that are made for optimal control, with rigid tendons, in place of those of Thelen and Millard.
fn operators(model: &Model) -> Vec<ModelOperator> {
    let rough = model.forces.iter().any(|f| match &f.kind {
        ForceKind::Muscle(m) => {
            matches!(m.kind, MuscleKind::Thelen2003(_) | MuscleKind::Millard2012Equilibrium(_))
        }
        _ => false,
    });
    match rough {
        true => {
            vec![ModelOperator::ReplaceMusclesWithDeGrooteFregly2016, ModelOperator::IgnoreTendonCompliance]
        }
        false => Vec::new(),
    }
}

/// Coordinates, but for those of the joint with ground, that no muscle crosses and no actuator or spring moves.
fn unmoved(model: &Model) -> Vec<String> {
    let Ok(system) = soleus_dynamics::System::compile(model) else { return Vec::new() };
    let mut ws = system.workspace::<f64>();
    let mut lengths = |m: usize, by: f64| {
        let mut x = system.default_state.clone();
        x.q[m] += by;
        system.compute_kinematics(&x, &mut ws);
        system.compute_paths(&x, &mut ws);
        ws.paths.iter().map(soleus_dynamics::path::PathState::length).collect::<Vec<f64>>()
    };
    let mut list = Vec::new();
    for (i, c) in model.coordinates.iter().enumerate() {
        let m = system.tree.mobility_of_coordinate[i];
        let joint = &model.joints[c.joint.0];
        let is_root = model.frames[joint.parent.0].body == soleus_model::id::BodyId::GROUND;
        if m >= system.tree.num_mobilities
            || is_root
            || c.locked
            || model.is_constrained(soleus_model::id::CoordinateId(i))
        {
            continue;
        }
        let pushed = system.forces.iter().any(|f| match &f.actor {
            soleus_dynamics::system::Actor::Force(law) => {
                !f.controls.is_empty() && law.touches().1.contains(&m)
            }
            soleus_dynamics::system::Actor::Muscle(_) => false,
        });
        let (a, b) = (lengths(m, -1e-3), lengths(m, 1e-3));
        if !pushed && !a.iter().zip(&b).any(|(a, b)| (a - b).abs() > 1e-7) {
            list.push(c.name.clone());
        }
    }
    list
}

impl PredictedGait {
    /// Gait parameters as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let (Some(cycle), Some(solution)) = (&self.cycle, &self.solution) else { return Vec::new() };
        let mut lines = vec![format!("speed           {:8.3} m/s", self.speed)];
        lines.push(format!("cycle           {:8.3} s", cycle.duration()));
        lines.push(format!("stride          {:8.3} m", self.speed * cycle.duration()));
        lines.push(format!("stance          {:8.1} %", 100.0 * cycle.stance()));
        lines.push(format!("aerial          {:8.1} %", 100.0 * cycle.aerial()));
        let goals = solution.phases.first().map_or(&[][..], |p| &p.goals);
        for (name, value) in goals.iter().filter(|g| g.1 != 0.0) {
            lines.push(format!("{name:<16}{value:8.4}"));
        }
        for p in &self.parameters {
            let [a, b] = p.bounds;
            let at = if p.value - a < 1e-3 * (b - a) || b - p.value < 1e-3 * (b - a) {
                ", at its bound"
            } else {
                ""
            };
            lines.push(format!("{}  {:.4} {} (between {a} and {b}{at})", p.name, p.value, p.unit));
        }
        if let Some((objective, before)) = &self.without {
            let change = |a: f64, b: f64| {
                let percent = 100.0 * (b / a - 1.0);
                format!("{:.1} % {}", percent.abs(), if percent > 0.0 { "more" } else { "less" })
            };
            let now = solution.objective();
            let text = change(*objective, now);
            lines.push(format!("objective without the device {objective:.5}, with it {now:.5}: {text}"));
            for (name, a) in before.iter().filter(|g| g.1 != 0.0) {
                if let Some((_, b)) = goals.iter().find(|g| g.0 == *name) {
                    lines.push(format!("  {name} {a:.5}, with it {b:.5}: {}", change(*a, *b)));
                }
            }
        }
        for (way, objective) in &self.ways {
            let text = objective.map_or("not solved".to_string(), |o| format!("objective {o:.5}"));
            lines.push(format!("{way}: {text}"));
        }
        let of = if solution.starts.len() > 1 {
            crate::optimal_control::run::starts::describe(&solution.starts)
        } else {
            match self.without {
                Some(_) => {
                    "both gaits are local optima, from one start: compare again with --starts 4".to_string()
                }
                None => "a local optimum, from one start".to_string(),
            }
        };
        lines.push(of);
        lines.push(format!("equations hold to {:.1e}", solution.certificate().constraint_violation));
        lines
    }

    /// The study as text.
    pub fn study_text(&self) -> &str {
        &self.text
    }

    /// The model of the study as the text of a file, if it differs from the given one.
    pub fn model_text(&self) -> Option<&str> {
        self.model.as_ref().map(|m| m.1.as_str())
    }

    /// The page, if there is a solution.
    pub fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }
}

impl Outcome for PredictedGait {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let name = file_part(&self.study.setup.name);
        let file = |ending: &str| self.folder.join(format!("{name}{ending}"));
        let mut list = vec![Artifact::bytes(file(".toml"), self.text.as_bytes()).derived()];
        list.extend(self.model.iter().map(|(path, text)| Artifact::bytes(path, text.as_bytes()).derived()));
        list.extend(self.solution.iter().flat_map(|s| s.artifacts()).map(Artifact::derived));
        if let Some(cycle) = &self.cycle {
            let digits = soleus_io::table::sto::Digits::Shortest;
            list.push(Artifact::table(file("_motion.sto"), &cycle.motion, digits).derived());
            list.push(Artifact::table(file("_excitations.sto"), &cycle.excitations, digits).derived());
        }
        list.extend(self.page.iter().map(|html| Artifact::bytes(file(".html"), html.as_bytes()).derived()));
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        self.solution.as_ref().map_or(Ok(()), Outcome::verdict)
    }
}

//! A series of problems, each started from the previous solution: `[continuation]` of a study.

use super::model::StudyModel;
use super::problem::parameters;
use super::run::session::{Place, name_of};
use super::solution::{Continued, ContinuedValue, Solution};
use super::{Solve, StudySource};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::file_part;
use soleus_io::study::{
    self, ContinuationSettings, GoalKind, GuessSettings, ModelStep, ModelStepKind, Study,
};
use soleus_model::ModelOperator;
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Values put in half-way, at most, before a value that is not solved.
const MOST_HALVES: usize = 6;

/// First barrier parameter from the solution at another value, as from any motion.
const BARRIER: f64 = 1e-4;

/// The study at one value.
pub fn at(
    cx: &Context,
    path: &Path,
    study: &Study,
    c: &ContinuationSettings,
    value: f64,
) -> Result<Study, Error> {
    let refuse = |message: String, hint: &str| Error::content(path, c.line, "", message, hint);
    let mut study = Study { continuation: None, ..study.clone() };
    match c.of.as_str() {
        "speed" => {
            let speeds = study.setup.goals.iter_mut().filter_map(|g| match &mut g.kind {
                GoalKind::AverageSpeed(speed) => Some(speed),
                _ => None,
            });
            let count = speeds.map(|speed| *speed = value).count();
            if count == 0 {
                let message = "[continuation] is over the speed, but no goal is an `average_speed`".into();
                return Err(refuse(message, "add a goal of type `average_speed`"));
            }
        }
        "slope" => {
            let is_slope = |s: &ModelStep| matches!(s.kind, ModelStepKind::Operator(ModelOperator::Slope(_)));
            study.setup.model_steps.retain(|s| !is_slope(s));
            let kind = ModelStepKind::Operator(ModelOperator::Slope(value));
            study.setup.model_steps.push(ModelStep { kind, line: c.line });
        }
        "weight" => {
            let name = c.goal.clone().unwrap_or_default();
            let names: Vec<String> = study.setup.goals.iter().map(|g| g.name.clone()).collect();
            let goal = study.setup.goals.iter_mut().find(|g| g.name == name).ok_or_else(|| {
                let near = soleus_model::nearest_name(&name, names.iter().map(String::as_str), 2);
                let hint = near.map_or(String::new(), |n| format!("the nearest name is `{n}`"));
                refuse(format!("[continuation] names the goal `{name}`, which does not exist"), &hint)
            })?;
            goal.weight = value;
        }
        _ => set_property(cx, path, &mut study, c, value)?,
    }
    Ok(study)
}

/// Sets a property of components of the model, or a constant of forces of the study.
fn set_property(
    cx: &Context,
    path: &Path,
    study: &mut Study,
    c: &ContinuationSettings,
    value: f64,
) -> Result<(), Error> {
    let property = c.property.clone().unwrap_or_default();
    let mut of_model = Vec::new();
    for component in &c.components {
        let name = component.rsplit('/').next().unwrap_or(component);
        let constants =
            study.setup.forces.iter_mut().filter(|f| f.name == name).flat_map(|f| &mut f.constants);
        match constants.into_iter().find(|w| w.name == property) {
            Some(w) => w.weight = value,
            None => of_model.push(component.clone()),
        }
    }
    if of_model.is_empty() {
        return Ok(());
    }
    let parameter = study::Parameter {
        component_paths: of_model,
        property_name: property,
        property_element: c.element,
        line: c.line,
        ..study::Parameter::default()
    };
    let element = StudyModel { forces: &[], ..StudyModel::of_study(path, &study.setup) }.element(cx)?;
    let changed = parameters::changed(path, &element, &parameter, value)?;
    (study.setup.model, study.setup.model_file) = (Some(changed), None);
    Ok(())
}

impl Solve {
    /// Solves the study at one value after the other. Where a value is not solved, one half-way is put in before it.
    pub(super) fn continued(
        &self,
        cx: &Context,
        path: &Path,
        (study, is_moco): (&Study, bool),
        c: &ContinuationSettings,
    ) -> Result<Solution, Error> {
        let out = Place::of_solution(path, study, &self.options);
        let mut todo: VecDeque<f64> = c.values.iter().copied().collect();
        let mut motion = self.initial_motion.clone();
        let mut found = Continued::new(&c.of, table_place(path, study, &out));
        let mut last: Option<(f64, Solution)> = None;
        let mut halves = 0;
        while let Some(value) = todo.pop_front() {
            cx.note(format!("{} {value}", c.of));
            let mut study = at(cx, path, study, c, value)?;
            if last.is_some() {
                // From a solution nearby nothing has to help.
                (study.help, study.starts, study.guess) = (None, None, GuessSettings::default());
                study.coarse.clear();
                study.barrier = study.barrier.or(Some(BARRIER));
            }
            let mut request = Solve { initial_motion: motion.clone(), ..self.clone() };
            if last.is_some() {
                request.options.guess = None;
                request.options.starts = None;
                request.options.coarse.clear();
            }
            request.study = StudySource::of_study(path, study.clone());
            let solution = request.posed(cx, path, study, is_moco)?.solve(cx, &request.options)?;
            if solution.is_solved() {
                motion = solution.phases.first().map(|p| p.trajectory.clone());
                found.push(value, &solution, &out);
                last = Some((value, solution));
                continue;
            }
            if cx.monitor.is_cancelled() {
                return Ok(Solution { continued: Some(found), ..solution });
            }
            match &last {
                Some((before, _)) if halves < MOST_HALVES => {
                    halves += 1;
                    let middle = 0.5 * (before + value);
                    cx.note(format!(
                        "{} {value} could not be solved from {before}: trying {middle} first",
                        c.of
                    ));
                    todo.push_front(value);
                    todo.push_front(middle);
                }
                _ => {
                    let diagnosis = solution.diagnosis.as_ref().map(|d| format!("{} {value}: {d}", c.of));
                    return Ok(Solution { diagnosis, continued: Some(found), ..solution });
                }
            }
        }
        let (_, solution) =
            last.ok_or_else(|| Error::content(path, c.line, "", "[continuation] has no values", ""))?;
        Ok(Solution { continued: Some(found), ..solution })
    }
}

/// The table of all values lies beside the solution.
fn table_place(path: &Path, study: &Study, out: &Place) -> PathBuf {
    out.path.with_file_name(format!("{}_continuation.csv", file_part(&name_of(path, &study.setup))))
}

impl Continued {
    fn new(of: &str, table: PathBuf) -> Continued {
        Continued { of: of.to_string(), values: Vec::new(), table, files: Vec::new() }
    }

    fn push(&mut self, value: f64, solution: &Solution, out: &Place) {
        let Some(phase) = solution.phases.first() else { return };
        let stem = out.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = out.path.with_file_name(format!("{stem}_{}_{value}.sto", self.of));
        self.files.push((file, phase.text.clone()));
        self.values.push(ContinuedValue {
            value,
            objective: solution.objective(),
            iterations: solution.solver.counts.iterations,
            goals: phase.goals.clone(),
        });
    }

    /// Value, objective, iterations and the cost of each goal, as CSV.
    pub fn csv(&self) -> String {
        let names: Vec<&str> =
            self.values.first().map_or(Vec::new(), |v| v.goals.iter().map(|g| g.0.as_str()).collect());
        let mut text = format!("{},objective,iterations", self.of);
        names.iter().for_each(|n| text.extend([",", n]));
        text.push('\n');
        for ContinuedValue { value, objective, iterations, goals } in &self.values {
            let _ = write!(text, "{value},{objective},{iterations}");
            goals.iter().for_each(|g| {
                let _ = write!(text, ",{}", g.1);
            });
            text.push('\n');
        }
        text
    }
}

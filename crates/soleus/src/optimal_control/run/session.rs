//! A study of one phase, from its problem to its solution.

use super::starts::{self, Start};
use super::watch::Store;
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::inputs::paths::{beside, file_part, stem_of};
use crate::optimal_control::model::StudyModel;
use crate::optimal_control::options::SolveOptions;
use crate::optimal_control::problem::references::Given;
use crate::optimal_control::problem::{self, Inputs, formulas, parameters, refuse_impossible};
use crate::optimal_control::solution::{PhaseSolution, Solution};
use crate::optimal_control::start::{gait, guess, iterate};
use crate::optimal_control::transcription::help::Help;
use crate::optimal_control::transcription::meshes::{self, Meshes, Neighbour, Posed, Solved};
use crate::optimal_control::transcription::settings;
use crate::optimal_control::{report, simulation_check, trajectory};
use crate::source::Source;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::{Collocation, Problem, Settings, Trajectory};
use soleus_io::study::{self, GoalKind, StartSettings, Study};
use soleus_math::Table;
use soleus_optimization::NonlinearProgram;
use soleus_viewer::significant;
use std::path::{Path, PathBuf};

/// A study of one phase with its model and data, ready to be solved.
#[derive(Clone)]
pub struct PosedStudy {
    /// File of the study, for messages; names in it are relative to its folder.
    pub path: PathBuf,
    /// The study. It may be changed here, except for the model.
    pub study: Study,
    /// Whether it has the defaults of Moco's files instead of those of TOML studies.
    pub is_moco: bool,
    /// The model with all changes.
    pub model: ModelProblem,
    /// Motions, tables and initial guess.
    pub inputs: Inputs,
}

/// A file of a result: its name, and whether the tool or the study made it up.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub path: PathBuf,
    pub is_derived: bool,
}

impl Place {
    /// The file named in the request, otherwise the one named in the study.
    pub fn new(given: Option<&PathBuf>, study: &Path, named: Option<&String>) -> Option<Place> {
        let derived = || named.map(|f| Place { path: beside(study, f), is_derived: true });
        given.map(|path| Place { path: path.clone(), is_derived: false }).or_else(derived)
    }

    /// The output file of a solution; it always has a name.
    pub fn of_solution(path: &Path, study: &Study, a: &SolveOptions) -> Place {
        let usual = || {
            let name = format!("{}_solution.sto", file_part(&name_of(path, &study.setup)));
            Place { path: name.into(), is_derived: true }
        };
        Place::new(a.solution.as_ref(), path, study.output.solution.as_ref()).unwrap_or_else(usual)
    }
}

/// The name of a study: its own, or that of its file.
pub(crate) fn name_of(path: &Path, s: &study::Problem) -> String {
    if s.name.is_empty() { stem_of(path, "study") } else { s.name.clone() }
}

/// A number that was found: its name, value, unit and bounds.
pub(crate) fn parameter_row(s: &study::Problem, (name, value): &(String, f64)) -> [String; 4] {
    let asked = s.parameters.iter().find(|p| p.name == *name);
    let unit = asked.map_or("", |p| match p.property_name.as_str() {
        "mass" => "kg",
        "max_isometric_force" => "N",
        "optimal_fiber_length" | "tendon_slack_length" | "resting_length" => "m",
        "pennation_angle_at_optimal" => "rad",
        _ => "",
    });
    let bounds = asked.map_or(String::new(), |p| {
        let [lower, upper] = p.bounds;
        // A thousandth of the range from a bound is at it.
        let near = 1e-3 * (upper - lower).abs();
        let is_at = (value - lower).abs() <= near || (upper - value).abs() <= near;
        let at =
            if is_at { "; at its bound: widen the bound to see whether the optimum lies beyond" } else { "" };
        format!("{} to {}{at}", significant(lower, 4), significant(upper, 4))
    });
    [name.clone(), significant(*value, 4), unit.to_string(), bounds]
}

/// The same as a line of text.
pub(crate) fn parameter_line(s: &study::Problem, found: &(String, f64)) -> String {
    let [name, value, unit, bounds] = parameter_row(s, found);
    let unit = if unit.is_empty() { unit } else { format!(" {unit}") };
    let bounds = if bounds.is_empty() { bounds } else { format!(" (bounds {bounds})") };
    format!("  parameter {name}: {value}{unit}{bounds}")
}

/// Tables of coordinates that the goals of a study track, for its page.
pub(crate) fn tracked(
    cx: &Context,
    path: &Path,
    s: &study::Problem,
    given: &Given,
    base: &ModelProblem,
) -> Vec<Table> {
    // They were read when the problem was stated, and what is odd about them was told.
    let quiet = cx.with_monitor(&Silent);
    let table = |g: &study::Goal| match &g.kind {
        GoalKind::StateTracking { reference, .. } => {
            given.table(&quiet, path, g.line, &g.name, reference, &base.model).ok()
        }
        _ => None,
    };
    s.goals.iter().filter_map(table).collect()
}

impl PosedStudy {
    /// Solves the study.
    pub fn solve(&self, cx: &Context, options: &SolveOptions) -> Result<Solution, Error> {
        options.check(&self.path)?;
        let mut session = Session::new(cx, self, options)?;
        let settings = settings::transcription(&self.path, &self.study, options, &session.problems[0])?;
        let mut meshes = Meshes {
            cx,
            path: &self.path,
            a: options,
            coarse: meshes::coarse(&self.study, options),
            help: self.study.help.as_ref().map(|h| Help::new(&self.path, h, &self.model)).transpose()?,
            neighbour: None,
            refine: meshes::refine(&self.study, options),
            options: settings::solver(cx, &self.study, self.is_moco, options),
            store: Store::of_study(&self.path, &self.study, options, &session.out.path),
        };
        let asked = self.study.starts.clone();
        let count = options.starts.or(asked.as_ref().map(|s| s.count)).unwrap_or(1).max(1);
        if count > 1 && options.resume {
            let message = "several initial guesses cannot be combined with --resume";
            return Err(Error::content(&self.path, 0, "", message, "omit --resume, or use one start"));
        }
        session.near = session.neighbour(&settings)?;
        meshes.neighbour.clone_from(&session.near);
        if session.near.is_some() && !self.is_moco && options.barrier.or(self.study.barrier).is_none() {
            meshes.options.initial_barrier = settings::BARRIER_OF_A_GUESS;
        }
        let mut solved = meshes.solve(vec![settings.clone()], &session)?;
        // Other guesses are far from it.
        meshes.neighbour = None;
        let mut starts = vec![Start::new(&mut solved)];
        session.disturbance = asked.unwrap_or_default();
        for number in 1..count {
            if cx.monitor.is_cancelled() {
                break;
            }
            cx.note(format!("start {} of {count}", number + 1));
            session.number = number;
            let mut other = meshes.solve(vec![settings.clone()], &session)?;
            starts.push(Start::new(&mut other));
            let rank = |s: &Solved| (s.diagnosis.is_some(), s.solution.objective);
            let (is_worse, objective) = rank(&other);
            let (now_worse, now) = rank(&solved);
            if (is_worse, objective).partial_cmp(&(now_worse, now)) == Some(std::cmp::Ordering::Less) {
                solved = other;
            }
        }
        if count > 1 {
            starts::group(&mut starts);
            cx.note(starts::describe(&starts));
        }
        let starts = if count > 1 { starts } else { Vec::new() };
        session.result(solved, meshes.store, starts)
    }
}

/// What a solve is made of.
struct Session<'a> {
    cx: &'a Context<'a>,
    posed: &'a PosedStudy,
    a: &'a SolveOptions,
    source: StudyModel<'a>,
    problems: Vec<Problem>,
    out: Place,
    /// The solution of a similar problem, to start from.
    near: Option<Neighbour>,
    /// Which start it is; the guess of all but the first is disturbed.
    number: usize,
    disturbance: StartSettings,
}

impl<'a> Session<'a> {
    /// States the problem of a study.
    fn new(cx: &'a Context<'a>, posed: &'a PosedStudy, a: &'a SolveOptions) -> Result<Session<'a>, Error> {
        let path = posed.path.as_path();
        let source = StudyModel::of_study(path, &posed.study.setup);
        let problem = problem::build(cx, &source, &posed.study.setup, &posed.model, &posed.inputs)?;
        for w in problem.warnings() {
            cx.warn(path, w.to_string(), "");
        }
        problem::warn_of_sizes(cx, path, &posed.study.setup, &problem);
        let out = Place::of_solution(path, &posed.study, a);
        let disturbance = StartSettings::default();
        Ok(Session { cx, posed, a, source, problems: vec![problem], out, near: None, number: 0, disturbance })
    }

    /// The guess, unless it was given as a value in memory: the file of the request, or that of the study.
    fn guess(&self) -> Option<Source<Table>> {
        let named = self.posed.study.setup.solver.guess_file.as_ref();
        self.a.guess.clone().or_else(|| named.map(|g| Source::File(beside(&self.posed.path, g))))
    }

    /// The solution of a similar problem, from memory or from an iterate that is the guess; `settings` are those of the study.
    fn neighbour(&self, settings: &Settings) -> Result<Option<Neighbour>, Error> {
        if let Some(near) = &self.posed.inputs.neighbour {
            return Ok(Some(near.clone()));
        }
        let Some(guess) = self.guess().filter(iterate::is_file) else { return Ok(None) };
        let file = guess.path();
        let found = iterate::read(self.cx, file)?;
        iterate::refuse_phases(&found, file, 1)?;
        let phases = vec![Settings {
            scheme: settings::scheme(file, &found.phases[0].scheme)?,
            mesh: found.phases[0].mesh.clone(),
            ..settings.clone()
        }];
        let mut program = self.program(&phases)?;
        let mut near =
            Neighbour { motion: Trajectory::default(), phases, warm: iterate::without_barrier(found) };
        if !near.fits(&program) {
            let message = format!(
                "the iterate has {} variables and {} constraints, the study {} and {} on the same mesh",
                near.warm.x.len(),
                near.warm.multipliers.len(),
                program.num_variables(),
                program.num_constraints()
            );
            let hint = "an iterate is a guess for the same problem with other weights, bounds, data or numbers of the model; for others give the \
                        solution (.sto)";
            return Err(Error::content(file, 0, "", message, hint));
        }
        near.motion = program.trajectory(&near.warm.x);
        Ok(Some(near))
    }

    /// The motion that was found, with what it costs.
    fn result(&self, solved: Solved, store: Store, starts: Vec<Start>) -> Result<Solution, Error> {
        let Solved { mut program, phases: meshes, solution, x, seconds, diagnosis } = solved;
        let (posed, base) = (self.posed, &self.posed.model);
        let (path, s) = (posed.path.as_path(), &posed.study.setup);
        let goals = program.objective_by_goal(&x);
        let found = program.trajectory(&x);
        let text = trajectory::write(&found, base, s, &solution, &goals, seconds);
        let (mut page, mut distance) = (None, None);
        if diagnosis.is_none() {
            for (name, value) in goals.iter().filter(|g| g.1 != 0.0) {
                self.cx.note(format!("  {name}: {value:.5e}"));
            }
            found.parameters.iter().for_each(|p| self.cx.note(parameter_line(s, p)));
            let place = Place::new(self.a.report.as_ref(), path, posed.study.output.report.as_ref());
            let title = name_of(path, s);
            let tracked = tracked(self.cx, path, s, &posed.inputs.given, base);
            let parameters = found.parameters.iter().map(|p| parameter_row(s, p)).collect();
            let beside = report::Beside { tracked, emg: &posed.inputs.emg, parameters };
            page = place.map(|p| {
                let shapes = self.source.geometry(self.cx, &base.model);
                (p, report::html(&title, (base, &found), &solution, &goals, seconds, &beside, shapes))
            });
            if self.a.simulate {
                distance = self.simulate(&found)?;
            }
        }
        let derived = derived(self.cx, &self.source, &posed.study, (base, &found), &self.out)?;
        let phase = PhaseSolution {
            name: name_of(path, s),
            model: base.clone(),
            trajectory: found,
            goals,
            place: self.out.clone(),
            text,
            page,
            derived,
        };
        let iterate = store.end(self.cx, &solution);
        Ok(Solution {
            phases: vec![phase],
            meshes,
            solver: solution,
            seconds,
            distance,
            diagnosis,
            starts,
            continued: None,
            iterate,
        })
    }

    /// Tells how far a simulation under the controls found is from the solution.
    fn simulate(&self, found: &Trajectory) -> Result<Option<simulation_check::Distance>, Error> {
        let base = &self.posed.model;
        let changed = changed(self.cx, &self.source, &self.posed.study.setup, found)?;
        let system = changed.as_ref().map_or(&base.system, |c| &c.system);
        match simulation_check::simulate(base, system, found) {
            Ok(distance) => {
                self.cx.note(distance.to_string());
                Ok(Some(distance))
            }
            Err(why) => {
                self.cx.warn(&self.posed.path, format!("forward simulation skipped: {why}"), "");
                Ok(None)
            }
        }
    }
}

/// The model with the parameters that were found, where there are some.
fn changed(
    cx: &Context,
    source: &StudyModel,
    s: &study::Problem,
    found: &Trajectory,
) -> Result<Option<ModelProblem>, Error> {
    match found.parameters.is_empty() {
        true => Ok(None),
        false => parameters::found(cx, source, s, &found.parameters).map(Some),
    }
}

/// Values of the formulas of a study or a phase along its solution, where it has some; their file is beside that of the solution.
pub(crate) fn derived(
    cx: &Context,
    source: &StudyModel,
    study: &Study,
    (base, found): (&ModelProblem, &Trajectory),
    out: &Place,
) -> Result<Option<(Place, Table)>, Error> {
    let (path, s) = (source.path, &study.setup);
    if s.derived.is_empty() {
        return Ok(None);
    }
    let changed = changed(cx, source, s, found)?;
    let base = changed.as_ref().unwrap_or(base);
    let setting = formulas::Setting::new(cx, path, s, base)?;
    let mut table = formulas::values(path, &s.derived, base, &setting, found)?;
    table.name = name_of(path, s);
    let usual = || {
        let name = format!("{}_derived.sto", file_part(&name_of(path, s)));
        Place { path: out.path.with_file_name(name), is_derived: true }
    };
    Ok(Some((Place::new(None, path, study.output.derived.as_ref()).unwrap_or_else(usual), table)))
}

impl Posed for Session<'_> {
    fn program(&self, meshes: &[Settings]) -> Result<Collocation, Error> {
        let mut program = Collocation::new(self.problems[0].clone(), &meshes[0]).map_err(|errors| {
            let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Error::content(&self.posed.path, 0, "", text.join("\n  "), "")
        })?;
        program.set_threads(settings::threads(self.cx, &self.posed.study, self.a));
        Ok(program)
    }

    fn start(&self, program: &mut Collocation) -> Result<(), Error> {
        let (cx, posed, base) = (self.cx, self.posed, &self.posed.model);
        refuse_impossible(&posed.path, program)?;
        for w in program.dependent() {
            cx.warn(&posed.path, w, "");
        }
        // A MocoStudy begins where Moco does.
        if !posed.is_moco {
            guess::equilibrate(base, program, 0);
        }
        if let Some(source) = self.guess().filter(|g| !iterate::is_file(g)) {
            guess::start_from(base, program, 0, &trajectory::read(cx, &source, base)?);
        }
        self.near.iter().for_each(|near| program.set_guess_of(0, &near.motion));
        posed.inputs.guess.iter().for_each(|guess| guess::start_from(base, program, 0, guess));
        if let Some(swing) = posed.study.guess.swing_deg {
            let motion = gait::straight_line(&posed.path, &posed.study, base, swing)?;
            program.set_guess_of(0, &motion);
        }
        guess::apply(cx, &posed.path, &posed.study.guess, base, program, 0)?;
        if self.number == 0 && posed.study.setup.symmetry.as_deref() == Some("left-right") {
            gait::warn_of_two_equal_sides(cx, &posed.path, base, program);
        }
        if self.number > 0 {
            starts::disturb(base, program, &self.problems[0], &self.disturbance, self.number);
        }
        Ok(())
    }

    fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn place(&self) -> String {
        self.out.path.display().to_string()
    }
}

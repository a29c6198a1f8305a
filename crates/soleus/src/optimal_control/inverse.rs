//! Muscle excitations for a prescribed motion, `MocoInverse`.

use super::options::SolveOptions;
use super::run::session::PosedStudy;
use super::solution::Solution;
use super::tool::{self, Trial};
use super::{Inputs, problem::references};
use crate::context::{Context, Silent};
use crate::emg::{self, Emg};
use crate::error::Error;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::system::Actor;
use soleus_io::setup::moco::{MocoInverseSetup, MocoToolSetup};
use soleus_io::study::{
    self, Goal, GoalKind, ModelStep, ModelStepKind, PrescribedCoordinate, Study, TableOperator, Weight,
    WeightedSet,
};
use soleus_math::Table;
use soleus_model::ModelOperator;
use soleus_model::id::CoordinateId;
use soleus_model::muscle::TendonDynamicsMode;
use std::path::Path;

/// Degree of the splines through coordinates, as in Moco.
const DEGREE: usize = 5;

/// The minimum-effort muscle excitations that produce a motion exactly, including activation and tendon dynamics.
///
/// The motion is prescribed: all quantities that depend only on it are computed once.
///
/// The force balance of compliant tendons is an equation of the problem, and the squared rates of their forces are part
/// of the cost, with a weight of 0.01, as in the examples of `MocoInverse`. Without that cost, tendon forces may
/// oscillate between mesh points, which lowers the computed effort but takes ten times the iterations. Setup files
/// specify the tendon dynamics themselves. Unless
/// [`ModelChanges::explicit_tendons`](super::ModelChanges::explicit_tendons) is set, muscles of Thelen and Millard with
/// compliant tendons are replaced by those of De Groote and Fregly (2016), with a warning.
///
/// ```no_run
/// use soleus::optimal_control::{Inverse, ModelChanges, tool::Trial};
/// use soleus::{Context, Disk};
/// let files = Disk::new();
/// let changes = ModelChanges { loads: Some("grf.xml".into()), reserves: vec![1.0], ..Default::default() };
/// let trial = Trial { model: "gait.osim".into(), changes, ..Default::default() };
/// let request = Inverse { trial, kinematics: "walk.sto".into(), ..Default::default() };
/// let solution = request.run(&Context::new(&files))?;
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Inverse {
    /// Model and time range.
    #[serde(flatten)]
    pub trial: Trial,
    /// Coordinates over time (.sto, .mot).
    pub kinematics: Source<Table>,
    /// Operations on the kinematics before filtering.
    pub operators: Vec<TableOperator>,
    /// Whether columns of the kinematics that are not states of the model are an error.
    pub refuse_extra_columns: bool,
    /// Whether to minimize squared activations as well.
    pub minimize_activations: bool,
    /// Weight of reserves in the effort; default: 1.
    pub reserves_weight: Option<f64>,
    /// Moco's tolerance of the optimality conditions; default: 0.001.
    pub convergence_tolerance: Option<f64>,
    /// Tolerance of the constraints; default: 0.001.
    pub constraint_tolerance: Option<f64>,
    /// Outputs requested in a setup file, which are not written.
    pub outputs: Vec<String>,
    /// Measured EMG for comparison with activations; its weight has no effect.
    pub emg: Option<Emg>,
    /// Additional goals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    /// Solver settings and output files.
    #[serde(flatten)]
    pub options: SolveOptions,
}

impl Inverse {
    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &MocoInverseSetup) -> Result<Self, Error> {
        let (kinematics, operators) = tool::named_table(path, "kinematics", &s.kinematics)?;
        let max_iterations = s.max_iterations.filter(|n| *n > 0.0).map(|n| n as usize);
        Ok(Inverse {
            trial: Trial::from_setup(path, &s.tool)?,
            kinematics,
            operators,
            refuse_extra_columns: !s.kinematics_allow_extra_columns,
            minimize_activations: s.minimize_sum_squared_activations,
            reserves_weight: Some(s.reserves_weight),
            convergence_tolerance: Some(s.convergence_tolerance),
            constraint_tolerance: Some(s.constraint_tolerance),
            outputs: s.output_paths.clone(),
            emg: None,
            goals: Vec::new(),
            options: SolveOptions { max_iterations, ..SolveOptions::default() },
        })
    }

    /// Computes the excitations.
    pub fn run(&self, cx: &Context) -> Result<Solution, Error> {
        self.options.check(self.trial.path())?;
        let mut posed = self.pose(cx)?;
        if let Some(emg) = &self.emg {
            posed.inputs.emg = emg.curves(cx, &posed.model.model)?;
        }
        let solution = posed.solve(cx, &self.options)?;
        if let (Some(emg), Some(phase)) = (&self.emg, solution.phases.first()) {
            let (list, _) = emg::compare_found(&posed.inputs.emg, &phase.trajectory)
                .map_err(|e| Error::content(emg.signals.path(), 0, "", e.to_string(), ""))?;
            match list.is_empty() {
                true => cx.warn(emg.signals.path(), "EMG and activations do not overlap in time", ""),
                false => cx.note(format!("activations compared with EMG:\n{}", emg::told(&list).trim_end())),
            }
        }
        Ok(solution)
    }

    /// The model, with what is asked to be done to it. Muscles with fibers as states have curves and activations with corners, among which
    /// solvers rarely find their way: verbs replace them, as users of `MocoInverse` do, unless tendons are to stay as they are.
    fn posed_model(&self, cx: &Context) -> Result<(MocoToolSetup, ModelProblem), Error> {
        let path = self.trial.path();
        let is_own = self.trial.asked_in.is_none() && !self.trial.changes.explicit_tendons;
        let posed = |cx: &Context, trial: &Trial| {
            let mut setup = trial.setup(cx)?;
            if is_own {
                let operator = ModelOperator::TendonComplianceDynamicsMode(TendonDynamicsMode::Implicit);
                setup.model_steps.push(ModelStep { kind: ModelStepKind::Operator(operator), line: 0 });
            }
            let model = tool::posed_model(cx, path, &setup, Some(&self.kinematics))?;
            Ok((setup, model))
        };
        let found = posed(cx, &self.trial)?;
        let has_fiber =
            |a: &Actor| matches!(a, Actor::Muscle(m) if m.state_names().contains(&"fiber_length"));
        let system = &found.1.system;
        let count = system.forces.iter().filter(|f| f.enabled && has_fiber(&f.actor)).count();
        if count == 0 {
            return Ok(found);
        }
        let mut smooth = self.trial.clone();
        smooth.changes.degroote_fregly = true;
        // What is odd about the model was told.
        let smooth = if is_own { posed(&cx.with_monitor(&Silent), &smooth).ok() } else { None };
        let many = format!("{count} muscles with elastic tendons");
        match smooth {
            Some(smooth) => {
                let message = format!(
                    "{many} are replaced by De Groote–Fregly muscles (2016), which are smooth: the original ones rarely converge"
                );
                let hint = "use --degroote-fregly to silence this warning, or --explicit-tendons to keep the original muscles";
                cx.warn(path, message, hint);
                Ok(smooth)
            }
            None => {
                let message = format!("{many} are not smooth enough for most problems");
                let hint = "replace them by De Groote–Fregly muscles (--degroote-fregly)";
                cx.warn(path, message, hint);
                Ok(found)
            }
        }
    }

    /// The study of the tool, with its model and the motion.
    pub fn pose(&self, cx: &Context) -> Result<PosedStudy, Error> {
        let path = self.trial.path();
        for name in &self.outputs {
            let hint = "`soleus analyze` reports outputs of a motion";
            cx.warn(path, format!("output `{name}` is not written"), hint);
        }
        if !self.kinematics.is_given() {
            let hint = "give the coordinates over time (--motion)";
            return Err(Error::content(path, 0, "", "the tool needs a motion", hint));
        }
        let (setup, model) = self.posed_model(cx)?;
        let table = self.trial.table(cx, &self.kinematics, &self.operators, &model.model)?;
        let table = references::absolute_names(table, &model.model);
        let (times, intervals) = tool::times(path, &setup, tool::ends(path, &table)?)?;
        tool::warn_of_span(cx, &self.kinematics, &table, times, &model.model);
        let motions = motions(cx, path, &table, &model, !self.refuse_extra_columns)?;

        let defaults = MocoInverseSetup::default();
        let solver = study::Solver {
            num_mesh_intervals: intervals,
            interpolate_control_mesh_interior_points: false,
            implicit: true,
            auxiliary_weight: 0.01,
            optim_convergence_tolerance: self.convergence_tolerance.unwrap_or(defaults.convergence_tolerance),
            optim_constraint_tolerance: self.constraint_tolerance.unwrap_or(defaults.constraint_tolerance),
            optim_max_iterations: -1.0,
            ..study::Solver::default()
        };
        let mut study = tool::study(&setup, times, solver);
        let weight = self.reserves_weight.unwrap_or(defaults.reserves_weight);
        let reserves = Weight { name: ".*/reserve_.*".into(), weight };
        let weights = WeightedSet { names: Vec::new(), patterns: vec![reserves] };
        study.goals.push(tool::goal("excitation_effort", 1.0, GoalKind::Control { weights, exponent: 2.0 }));
        // No activation comes for free at the beginning.
        study.goals.push(tool::goal("initial_activation", 1.0, GoalKind::InitialActivation));
        if self.minimize_activations {
            let kind = GoalKind::SumSquaredState {
                pattern: Some(".*activation$".into()),
                weights: WeightedSet::default(),
            };
            study.goals.push(tool::goal("activation_effort", 1.0, kind));
        }
        let mut study = Study::from(study);
        study.setup.goals.extend(self.goals.iter().cloned());
        Ok(PosedStudy {
            path: path.to_path_buf(),
            study,
            is_moco: true,
            model,
            inputs: Inputs { motions, root_angles: self.trial.root_angles, ..Inputs::default() },
        })
    }
}

/// The motion of every coordinate: columns of the table, moved until constraints hold; what the table lacks stays at
/// its default.
fn motions(
    cx: &Context,
    path: &Path,
    table: &Table,
    base: &ModelProblem,
    extra: bool,
) -> Result<Vec<PrescribedCoordinate>, Error> {
    let refuse = |message: String, hint: &str| Error::content(path, 0, "", message, hint);
    let n = base.num_coordinates();
    if let Some(label) = table.labels().iter().find(|l| !extra && !base.states.contains(l)) {
        let message = format!("the motion has a column `{label}`, which is not a state of the model");
        return Err(refuse(message, "set `kinematics_allow_extra_columns` to ignore such columns"));
    }
    let columns: Vec<Option<&[f64]>> = base.states[..n].iter().map(|name| table.column(name)).collect();
    if columns.iter().all(Option::is_none) {
        return Err(refuse("none of the columns is a coordinate of the model".into(), ""));
    }
    let mut dependent = vec![false; n];
    for (i, &m) in base.system.tree.mobility_of_coordinate.iter().enumerate().filter(|(_, m)| **m < n) {
        dependent[m] = base.model.is_dependent(CoordinateId(i));
    }
    for i in (0..n).filter(|&i| columns[i].is_none() && !dependent[i]) {
        let name = base.states[i].trim_end_matches("/value");
        cx.warn(path, format!("no column for coordinate `{name}`: its default value is used"), "");
    }
    let assembler = Assembler::new(&base.model, &base.system);
    let mut ws = base.system.workspace();
    let mut x = base.system.default_state.clone();
    let mut rows = vec![Vec::with_capacity(table.rows()); n];
    for (r, &time) in table.times().iter().enumerate() {
        cx.go_on()?; // an assembly of hundreds of equations takes seconds
        x.time = time;
        x.u.fill(0.0);
        // Dependent coordinates should give way alone; what little the others moved is put back once.
        for _ in 0..2 {
            for (i, c) in columns.iter().enumerate() {
                match c {
                    Some(c) if !(dependent[i] && r > 0) => x.q[i] = c[r],
                    _ => {}
                }
            }
            if base.system.constraints.num_rows() > 0 {
                assembler.solve_assembly(&base.system, &mut x, &mut ws).map_err(|e| {
                    refuse(format!("at {time} s: {e}"), "check that the motion fits the model")
                })?;
            }
        }
        rows.iter_mut().zip(&x.q).for_each(|(c, q)| c.push(*q));
    }
    let coordinate = |(name, y): (&String, Vec<f64>)| PrescribedCoordinate {
        path: name.trim_end_matches("/value").to_string(),
        degree: DEGREE,
        x: table.times().to_vec(),
        y,
    };
    Ok(base.states[..n].iter().zip(rows).map(coordinate).collect())
}

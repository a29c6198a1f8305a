//! Static equilibrium of a model, and its stability.
//!
//! Solves f(x, 0, e) = 0: speeds, accelerations and rates of muscle states are zero and constraints are satisfied.
//!
//! ```no_run
//! use soleus::{Context, Disk, Equilibrium};
//! let files = Disk::new();
//! let request = Equilibrium { model: "arm26.osim".into(), excitation: Some(0.1), ..Default::default() };
//! let rest = request.run(&Context::new(&files))?;
//! println!("balanced to {:.1e} N or N m", rest.rest.residual);
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::inputs::numbers::{finite, positive};
use crate::simulation::{controllers, start, tables};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_dynamics::system::{State, System};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_math::elementary;
use soleus_model::joint::MotionType;
use soleus_model::{ForceKind, Model};
use soleus_simulation::linear::{Complex, solve_eigenvalues};
use soleus_simulation::system::{Constant, Rest, RestError, RestOptions, solve_rest_while, state_name};
use soleus_simulation::{Controls, ImplicitOde, SystemOde, Trajectory};
use std::path::PathBuf;

/// Finds a state of static equilibrium.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Equilibrium {
    /// The model.
    pub model: ModelSource,
    /// Excitation of all muscles, equal to their activation in equilibrium; default: values of the model's controllers
    /// at the start.
    pub excitation: Option<f64>,
    /// Initial guess: the first row of a table; default: the model's default pose.
    pub initial: Option<Source<Table>>,
    /// Whether to compute the eigenvalues of the linearized motion.
    pub eigenvalues: bool,
    /// Maximum unbalanced force or moment, N or N m.
    pub tolerance: f64,
    /// Output table with one row (.sto).
    pub output: Option<PathBuf>,
}

impl Default for Equilibrium {
    fn default() -> Self {
        Equilibrium {
            model: ModelSource::default(),
            excitation: None,
            initial: None,
            eigenvalues: false,
            tolerance: RestOptions::default().tolerance,
            output: None,
        }
    }
}

impl Equilibrium {
    /// Finds the equilibrium.
    pub fn run(&self, cx: &Context) -> Result<StateAtRest, Error> {
        let path = self.model.path();
        positive(path, "the tolerance, N or N m", self.tolerance)?;
        self.excitation.map(|e| finite(path, "the excitation of every muscle", e)).transpose()?;
        let (model, system) = model::system(cx, &self.model, &Options::default())?;
        let both = (&model, &system);
        let mut x = system.default_state.clone();
        if let Some(source) = &self.initial {
            let table = start::read_states(cx, source)?;
            start::set_from_row(cx, both, (source.path(), &table), 0, &mut x);
        }
        let mut controls = controllers::controllers(cx, path, both, &[self.model.folder()])?;
        if let Some(e) = self.excitation {
            controls.add_excitation(&model, &system, e);
        }
        let mut values = vec![0.0; system.num_controls];
        controls.compute(x.time, &x, &mut values);
        hold_above_minimum(cx, both, &mut values);
        let mut ws = system.workspace();
        x.u.fill(0.0);
        start::assemble(path, both, &mut x, &mut ws)?;
        if self.initial.is_none() {
            // A fiber in equilibrium at the activation that will be is a better start than the default length.
            for f in &system.forces {
                if let (1, Some(z)) = (f.controls.len(), f.states.clone().next())
                    && system.aux_names[z].ends_with("/activation")
                {
                    x.z[z] = values[f.controls.start];
                }
            }
            system.solve_equilibrium(&mut x, &values, &mut ws);
        }

        let options = RestOptions { tolerance: self.tolerance, ..RestOptions::default() };
        let go_on = || !cx.monitor.is_cancelled();
        let rest = solve_rest_while(&system, &values, &x, &options, &go_on).map_err(|e| match e {
            RestError::Stopped { .. } => Error::Cancelled { saved: String::new() },
            e => failure(&model, &system, &e),
        })?;
        cx.note(format!(
            "equilibrium to {:.1e} (N, N m, m): {} Newton iterations after {:.2} s of damped motion in {} steps",
            rest.residual, rest.iterations, rest.time, rest.steps
        ));
        if rest.jump > options.max_jump {
            let message = format!(
                "it is {:.3} rad or m away from the end of the damped motion; the model may settle in a different equilibrium",
                rest.jump
            );
            cx.warn(path, message, "");
        }
        let eigenvalues = match self.eigenvalues {
            false => Some(Vec::new()),
            true => eigenvalues(cx, &system, &values, &rest.state),
        };
        let x = SystemOde::<Constant>::vector(&rest.state);
        let mut rows = Trajectory::new(x.len());
        rows.push(rest.state.time, &x);
        let wrong = |e: soleus_math::table::TableError| Error::content(path, 0, "", e.to_string(), "");
        let table = tables::states(&model, &system, &rows).map_err(wrong)?;
        let model_name = model.name.clone();
        Ok(StateAtRest {
            rest,
            controls: values,
            table,
            eigenvalues,
            model_name,
            output: self.output.clone(),
        })
    }
}

/// A state of static equilibrium.
#[derive(Clone, Debug)]
pub struct StateAtRest {
    /// The state, and details of the solution.
    pub rest: Rest,
    /// Controls in equilibrium.
    pub controls: Vec<f64>,
    /// The state as a table with one row, rad and m.
    pub table: Table,
    /// Eigenvalues of the linearized motion, 1/s, fastest growing first; empty if not requested, `None` if they did not
    /// converge.
    pub eigenvalues: Option<Vec<Complex>>,
    model_name: String,
    output: Option<PathBuf>,
}

impl Outcome for StateAtRest {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        self.output.iter().map(|path| Artifact::table(path, &self.table, Digits::Shortest)).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        match self.eigenvalues {
            Some(_) => Ok(()),
            None => {
                let message =
                    format!("the eigenvalues of `{}` at this state could not be computed", self.model_name);
                Err(Error::NotSolved { message })
            }
        }
    }
}

/// Raises excitations to the least that a muscle takes: below it the activation would fall for ever, without effect.
fn hold_above_minimum(cx: &Context, (model, system): (&Model, &System), controls: &mut [f64]) {
    let mut raised = Vec::new();
    for (f, s) in model.forces.iter().zip(&system.forces) {
        if let (ForceKind::Muscle(m), Some(c)) = (&f.kind, s.controls.clone().next())
            && controls[c] < m.min_control
        {
            controls[c] = m.min_control;
            raised.push(m.min_control);
        }
    }
    if let (Some(first), n) = (raised.first(), raised.len()) {
        cx.note(format!("note: {n} muscles are at their minimum excitation ({first} …)"));
    }
}

/// Speed that is none for a model at rest, m/s or rad/s.
const CREEPING: f64 = 1e-5;

/// What stands in the way, with the forces that are not balanced.
fn failure(model: &Model, system: &System, e: &RestError) -> Error {
    let mut message = e.to_string();
    let forces: Vec<(usize, f64)> = match e {
        RestError::Unbalanced { forces } => forces.clone(),
        RestError::NotFound { forces, equation, .. } => {
            message += &format!(", largest in the equation of {}", state_name(model, system, *equation));
            forces.iter().copied().enumerate().collect()
        }
        RestError::Stopped { .. } => Vec::new(),
        RestError::Motion(stop) => {
            let blame = stop.component().map(|c| state_name(model, system, c));
            message += &blame.map_or(String::new(), |b| format!("\n  largest contribution: {b}"));
            Vec::new()
        }
    };
    let mut forces: Vec<(usize, f64)> = forces.into_iter().filter(|f| f.1.abs() > 1e-6).collect();
    forces.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let named = |mobility: usize| {
        let at = system.tree.mobility_of_coordinate.iter().position(|&m| m == mobility);
        match at.and_then(|i| model.coordinates.get(i)) {
            Some(c) if c.motion_type == MotionType::Translational => (c.path.clone(), "N", "m/s"),
            Some(c) => (c.path.clone(), "N m", "rad/s"),
            None => (format!("mobility {mobility}"), "N or N m", "m/s or rad/s"),
        }
    };
    for (mobility, force) in forces.iter().take(10) {
        let (name, unit, _) = named(*mobility);
        message += &format!("\n  unbalanced on {name}: {} {unit}", crate::gait::digits(*force));
    }
    if let RestError::NotFound { creeping: (mobility, speed), .. } = e
        && speed.abs() > CREEPING
    {
        let (name, _, unit) = named(*mobility);
        message += &format!(
            "\n  it still moves: {name} at {speed:.1e} {unit}; velocity-dependent friction, as in most contact models, cannot hold a model at rest"
        );
    }
    if let RestError::Unbalanced { .. } = e {
        message +=
            "\nhint: a floating model needs ground contact, a spring or a locked coordinate to be at rest";
    }
    if let RestError::NotFound { residual, .. } = e
        && *residual < 1e-4
    {
        message += &format!("\nhint: if {residual:.1e} is acceptable, set --tolerance");
    }
    Error::NotSolved { message }
}

/// The eigenvalues of ẋ = A x about a state, the fastest growing first; tells whether it is stable.
fn eigenvalues(cx: &Context, system: &System, controls: &[f64], at: &State<f64>) -> Option<Vec<Complex>> {
    let mut ode = SystemOde::new(system, Constant(controls.to_vec())).with_jacobian();
    let x = SystemOde::<Constant>::vector(at);
    let n = x.len();
    let (mut a, mut unit) = (vec![0.0; n * n], vec![0.0; n * n]);
    ImplicitOde::jacobians(&mut ode, at.time, &x, &vec![0.0; n], &mut a, &mut unit).ok()?;
    a.iter_mut().for_each(|a| *a = -*a);
    let mut values = solve_eigenvalues(n, &a)?;
    values.sort_by(|a: &Complex, b: &Complex| b.re.total_cmp(&a.re).then(b.im.total_cmp(&a.im)));
    let held = system.constraints.num_rows() + system.constraints.num_position();
    // Rounding and the iteration leave parts of this size in a matrix of this size.
    let largest = values.iter().map(|v| elementary::hypot(v.re, v.im)).fold(0.0, f64::max);
    let growing = values.iter().filter(|v| v.re > 1e-7 * largest.max(1.0)).count();
    let verdict = match growing {
        0 => "no growing mode: stable or neutral".to_string(),
        n => format!("{n} growing modes: unstable"),
    };
    let about = if held > 0 { format!("; {held} near zero belong to constraints") } else { String::new() };
    cx.note(format!("{n} eigenvalues, {verdict}{about}"));
    Some(values)
}

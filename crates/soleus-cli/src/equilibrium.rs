//! `soleus equilibrium`: where a model is at rest.

use crate::failure::Failure;
use crate::load;
use crate::simulate::{drive, results, start};
use clap::Args;
use soleus_dynamics::Options;
use soleus_dynamics::system::{State, System};
use soleus_model::joint::MotionType;
use soleus_model::{ForceKind, Model};
use soleus_simulation::linear::{Complex, solve_eigenvalues};
use soleus_simulation::system::{Constant, RestError, RestOptions, solve_rest, state_name};
use soleus_simulation::{Controls, ImplicitOde, SystemOde, Trajectory};
use std::path::{Path, PathBuf};

/// What `soleus equilibrium` is told.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus equilibrium arm26.osim --excitation 0.1 --out rest.sto\n  \
    soleus simulate arm26.osim --excitation 0.1 --initial rest.sto --duration 1 --out results\n\n\
    Finds f(x, 0, e) = 0: speeds, accelerations and rates of muscle states all zero, constraints met. A line on stderr\n\
    says what was found; the state goes to the file, in the form that `simulate --initial` takes.")]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Excitation of every muscle, which its activation has at rest; without it the model's controllers at the start
    #[arg(long, visible_alias = "activation", value_name = "VALUE")]
    excitation: Option<f64>,
    /// State to begin the search at: the first row of a table; without it the model's default pose
    #[arg(long, value_name = "STATES.sto")]
    initial: Option<PathBuf>,
    /// Table of one row to write; `-` for stdout
    #[arg(long, value_name = "FILE.sto")]
    out: Option<PathBuf>,
    /// Print the eigenvalues of the motion about it, in 1/s: real and imaginary part
    #[arg(long)]
    eigenvalues: bool,
    /// Largest force or moment left unbalanced, N or N m
    #[arg(long, default_value_t = RestOptions::default().tolerance)]
    tolerance: f64,
}

/// Finds the state, reports and writes it.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let (model, system) = load::system(&a.model, &Options::default())?;
    let mut x = system.default_state.clone();
    if let Some(path) = &a.initial {
        start::set_from_row(&model, &system, &start::read_states(path)?, 0, &mut x);
    }
    let mut controls = drive::controllers(&model, &system, &[a.model.parent().unwrap_or(Path::new(""))])?;
    if let Some(e) = a.excitation {
        controls.add_excitation(&model, &system, e);
    }
    let mut values = vec![0.0; system.num_controls];
    controls.compute(x.time, &x, &mut values);
    hold_above_minimum(&model, &system, &mut values);
    let mut ws = system.workspace();
    x.u.fill(0.0);
    start::assemble(&a.model, &model, &system, &mut x, &mut ws)?;
    if a.initial.is_none() {
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

    let options = RestOptions { tolerance: a.tolerance, ..RestOptions::default() };
    let rest = solve_rest(&system, &values, &x, &options).map_err(|e| failure(&model, &system, &e))?;
    eprintln!(
        "at rest to {:.1e} (N, N m, m): {} Newton iterations after {:.2} s of damped motion in {} steps",
        rest.residual, rest.iterations, rest.time, rest.steps
    );
    if rest.jump > options.max_jump {
        eprintln!(
            "warning: it lies {:.3} rad or m from where the motion was after that time; it may be another one than the \
             model settles in",
            rest.jump
        );
    }
    if a.eigenvalues {
        eigenvalues(&model, &system, &values, &rest.state)?;
    }
    if let Some(path) = &a.out {
        let x = SystemOde::<Constant>::vector(&rest.state);
        let mut rows = Trajectory::new(x.len());
        rows.push(rest.state.time, &x);
        results::write(path, results::states(&model, &system, &rows))?;
    }
    Ok(())
}

/// Raises excitations to the least that a muscle takes: below it the activation would fall for ever, without effect.
fn hold_above_minimum(model: &Model, system: &System, controls: &mut [f64]) {
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
        eprintln!("note: {n} muscles have their least excitation, {first} or so");
    }
}

/// Speed that is none for a model at rest, m/s or rad/s.
const CREEPING: f64 = 1e-5;

/// What stands in the way, with the forces that are not balanced.
fn failure(model: &Model, system: &System, e: &RestError) -> Failure {
    let mut message = e.to_string();
    let forces: Vec<(usize, f64)> = match e {
        RestError::Unbalanced { forces } => forces.clone(),
        RestError::NotFound { forces, equation, .. } => {
            message += &format!(", most in the equation of {}", state_name(model, system, *equation));
            forces.iter().copied().enumerate().collect()
        }
        RestError::Motion(stop) => {
            let blame = stop.component().map(|c| state_name(model, system, c));
            message += &blame.map_or(String::new(), |b| format!("\n  most to blame: {b}"));
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
        message += &format!("\n  unbalanced on {name}: {force:.6} {unit}");
    }
    if let RestError::NotFound { creeping: (mobility, speed), .. } = e
        && speed.abs() > CREEPING
    {
        let (name, _, unit) = named(*mobility);
        message += &format!(
            "\n  it still moves: {name} at {speed:.1e} {unit}; friction that depends on speed, as of most contacts, lets a \
             model creep and holds nothing at rest"
        );
    }
    if let RestError::Unbalanced { .. } = e {
        message +=
            "\nhint: a floating model needs ground contact, a spring or a locked coordinate to be at rest";
    }
    if let RestError::NotFound { residual, .. } = e
        && *residual < 1e-4
    {
        message += &format!("\nhint: if {residual:.1e} is good enough, say so: --tolerance");
    }
    Failure::NotSolved { message }
}

/// Prints the eigenvalues of ẋ = A x about a state, the fastest growing first, and says whether it is stable.
fn eigenvalues(model: &Model, system: &System, controls: &[f64], at: &State<f64>) -> Result<(), Failure> {
    let mut ode = SystemOde::new(system, Constant(controls.to_vec())).with_jacobian();
    let x = SystemOde::<Constant>::vector(at);
    let n = x.len();
    let (mut a, mut unit) = (vec![0.0; n * n], vec![0.0; n * n]);
    let solved = ImplicitOde::jacobians(&mut ode, at.time, &x, &vec![0.0; n], &mut a, &mut unit);
    a.iter_mut().for_each(|a| *a = -*a);
    let values = solved.ok().and_then(|()| solve_eigenvalues(n, &a));
    let Some(mut values) = values else {
        let message = format!("the eigenvalues of `{}` about this state were not found", model.name);
        return Err(Failure::NotSolved { message });
    };
    values.sort_by(|a: &Complex, b: &Complex| b.re.total_cmp(&a.re).then(b.im.total_cmp(&a.im)));
    for v in &values {
        println!("{:e}\t{:e}", v.re, v.im);
    }
    let held = system.constraints.num_rows() + system.constraints.num_position();
    // Rounding and the iteration leave parts of this size in a matrix of this size.
    let largest = values.iter().map(|v| v.re.hypot(v.im)).fold(0.0, f64::max);
    let growing = values.iter().filter(|v| v.re > 1e-7 * largest.max(1.0)).count();
    let verdict = match growing {
        0 => "none grows: stable, or neutral".to_string(),
        n => format!("{n} grow: not stable"),
    };
    let about = if held > 0 { format!("; {held} near zero belong to constraints") } else { String::new() };
    eprintln!("{n} eigenvalues, {verdict}{about}");
    Ok(())
}

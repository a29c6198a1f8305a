//! Initial guesses from tables of inverse kinematics and static optimization, and from a simulation.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::inputs::table::{Take, read_rows};
use crate::optimal_control::problem::bounds::is_called;
use crate::optimal_control::problem::prescribed;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::solution::Columns;
use soleus_control::{Collocation, Trajectory};
use soleus_dynamics::State;
use soleus_dynamics::system::Actor;
use soleus_io::study::GuessSettings;
use soleus_math::function::{Function, GcvSpline, PiecewiseLinear};
use soleus_optimization::NonlinearProgram;
use soleus_simulation::system::methods::merson;
use soleus_simulation::{End, ModelControls, StepOptions, SystemOde, integrate};
use std::ops::ControlFlow;
use std::path::Path;

/// Points of a guess from tables: finer than most meshes.
const POINTS: usize = 201;

/// Accuracy of the simulation that makes a guess.
const ACCURACY: f64 = 1e-4;

/// Activation of muscles of which a guess says nothing. In the middle of their bounds, where Moco begins, they would pull
/// with half of their strength, and the guessed motion would be torn apart.
const REST: f64 = 0.05;

/// Uses a motion as initial guess. Muscles without data are nearly at rest, with fibers in equilibrium.
pub fn start_from(base: &ModelProblem, program: &mut Collocation, phase: usize, guess: &Trajectory) {
    program.set_guess_of(phase, guess);
    if !guess.states.names.iter().any(|n| n.ends_with("/value")) {
        return;
    }
    let (mut states, mut controls) = (Columns::default(), Columns::default());
    for (f, s) in base.model.forces.iter().zip(&base.system.forces) {
        let own = |name: &String| name.strip_prefix(f.path.as_str()).is_some_and(|n| n.starts_with('/'));
        let told = guess.controls.names.contains(&f.path) || guess.states.names.iter().any(own);
        if !matches!(s.actor, Actor::Muscle(_)) || told {
            continue;
        }
        controls.names.push(f.path.clone());
        let activation = format!("{}/activation", f.path);
        if base.states.contains(&activation) {
            states.names.push(activation);
        }
    }
    if controls.names.is_empty() {
        return;
    }
    let times = present(program, phase).times;
    states.rows = vec![vec![REST; states.names.len()]; times.len()];
    controls.rows = vec![vec![REST; controls.names.len()]; times.len()];
    let resting = controls.names.clone();
    let rest = Trajectory { times, states, controls, ..Trajectory::default() };
    program.set_guess_of(phase, &rest);
    equilibrate_some(base, program, phase, |state| {
        resting.iter().any(|path| state.strip_prefix(path.as_str()).is_some_and(|n| n.starts_with('/')))
    });
}

/// Equilibrates the muscles in the initial guess: fibers and tendons are in equilibrium at the guessed coordinates and
/// activations. Fiber lengths in the middle of their bounds would produce unrealistically large forces.
pub fn equilibrate(base: &ModelProblem, program: &mut Collocation, phase: usize) {
    equilibrate_some(base, program, phase, |_| true);
}

/// The same for the auxiliary states that are wanted.
fn equilibrate_some(
    base: &ModelProblem,
    program: &mut Collocation,
    phase: usize,
    wanted: impl Fn(&str) -> bool,
) {
    let mut guess = present(program, phase);
    let system = &base.system;
    let n = base.num_coordinates();
    let mut ws = system.workspace::<f64>();
    for ((row, controls), &time) in guess.states.rows.iter_mut().zip(&guess.controls.rows).zip(&guess.times) {
        let mut x = state(base, time, row);
        system.solve_equilibrium(&mut x, controls, &mut ws);
        row[2 * n..].copy_from_slice(&x.z);
    }
    keep(&mut guess.states, |name| base.states[2 * n..].iter().any(|s| s == name) && wanted(name));
    let states = Trajectory { times: guess.times, states: guess.states, ..Trajectory::default() };
    program.set_guess_of(phase, &states);
}

/// Applies the initial guesses of a study to a program.
pub fn apply(
    cx: &Context,
    path: &Path,
    g: &GuessSettings,
    base: &ModelProblem,
    program: &mut Collocation,
    phase: usize,
) -> Result<(), Error> {
    if g.coordinates.is_some() || g.activations.is_some() {
        let guess = from_tables(cx, path, g, base, &present(program, phase))?;
        program.set_guess_of(phase, &guess);
    }
    if g.time_stepping {
        match simulated(base, present(program, phase)) {
            Ok(guess) => program.set_guess_of(phase, &guess),
            Err(why) => {
                cx.warn(
                    path,
                    format!("no initial guess from a simulation: {why}"),
                    "solving starts without it",
                );
            }
        }
    }
    Ok(())
}

/// The guess that a program has now for a phase.
pub(crate) fn present(program: &mut Collocation, phase: usize) -> Trajectory {
    let mut x = vec![0.0; program.num_variables()];
    program.compute_start(&mut x);
    program.trajectories(&x).into_iter().nth(phase).unwrap_or_default()
}

/// Coordinates and speeds from splines through one table, activations and excitations from another, and fibers in
/// equilibrium with them.
fn from_tables(
    cx: &Context,
    path: &Path,
    g: &GuessSettings,
    base: &ModelProblem,
    now: &Trajectory,
) -> Result<Trajectory, Error> {
    let (t0, tf) = (now.times.first().copied().unwrap_or(0.0), now.times.last().copied().unwrap_or(1.0));
    let n = base.num_coordinates();
    let mut motions: Vec<Option<Function>> = vec![None; n];
    if let Some(file) = &g.coordinates {
        let file = beside(path, file);
        for m in prescribed::read(cx, &file.as_path().into(), base)? {
            let i = base.states.iter().position(|s| *s == format!("{}/value", m.path));
            let spline = GcvSpline::interpolate(m.degree, m.x, &m.y)
                .map_err(|e| Error::content(&file, 0, &m.path, e.to_string(), ""))?;
            if let Some(i) = i {
                motions[i] = Some(Function::from(spline));
            }
        }
        if motions.iter().all(Option::is_none) {
            let message = "no column is a coordinate of the model".to_string();
            return Err(Error::content(&file, 0, "", message, ""));
        }
    }
    let mut activations: Vec<Option<Function>> = vec![None; base.controls.len()];
    if let Some(file) = &g.activations {
        let file = beside(path, file);
        let table = read_rows(cx, &file.as_path().into(), Take::Markers)?;
        for (label, column) in table.labels().iter().zip(table.columns()) {
            let name = label.strip_suffix("/activation").unwrap_or(label);
            let Some(i) = base.controls.iter().position(|c| is_called(c, name)) else { continue };
            activations[i] =
                PiecewiseLinear::new(table.times().to_vec(), column.clone()).ok().map(Function::from);
        }
        if activations.iter().all(Option::is_none) {
            let message = "no column is an actuator of the model".to_string();
            return Err(Error::content(&file, 0, "", message, ""));
        }
    }

    let system = &base.system;
    let mut ws = system.workspace::<f64>();
    let (mut states, mut controls) = (columns(&base.states), columns(&base.controls));
    let mut times = Vec::new();
    for k in 0..POINTS {
        let t = t0 + (tf - t0) * k as f64 / (POINTS - 1) as f64;
        let mut x = State { time: t, ..system.default_state.clone() };
        for (i, m) in motions.iter().enumerate() {
            if let Some([q, u, _]) = m.as_ref().map(|m| m.eval1(t)) {
                (x.q[i], x.u[i]) = (q, u);
            }
        }
        let mut e = vec![0.0; base.controls.len()];
        for (f, s) in system.forces.iter().enumerate() {
            for c in s.controls.clone() {
                e[c] = activations[c].as_ref().map_or(0.05, |a| a.eval1(t)[0]);
                let activation = format!("{}/activation", base.model.forces[f].path);
                if let Some(i) = system.aux_names.iter().position(|a| *a == activation) {
                    x.z[i] = e[c];
                }
            }
        }
        // A muscle without equilibrium keeps its default length: this is a guess.
        system.solve_equilibrium(&mut x, &e, &mut ws);
        times.push(t);
        states.rows.push(x.q.iter().chain(&x.u).chain(&x.z).copied().collect());
        controls.rows.push(e);
    }
    // What no table says stays as it was.
    if g.coordinates.is_none() {
        keep(&mut states, |name| !name.ends_with("/value") && !name.ends_with("/speed"));
    }
    if g.activations.is_none() {
        controls = Columns::default();
        keep(&mut states, |name| name.ends_with("/value") || name.ends_with("/speed"));
    }
    Ok(Trajectory { times, states, controls, ..Trajectory::default() })
}

fn columns(names: &[String]) -> Columns {
    Columns { names: names.to_vec(), rows: Vec::new() }
}

fn keep(columns: &mut Columns, wanted: impl Fn(&str) -> bool) {
    let kept: Vec<bool> = columns.names.iter().map(|n| wanted(n)).collect();
    for row in &mut columns.rows {
        let mut k = 0;
        row.retain(|_| {
            k += 1;
            kept[k - 1]
        });
    }
    let mut k = 0;
    columns.names.retain(|_| {
        k += 1;
        kept[k - 1]
    });
}

/// Simulates from the guessed start under the guessed controls; fibers begin in equilibrium.
fn simulated(base: &ModelProblem, mut guess: Trajectory) -> Result<Trajectory, String> {
    let system = &base.system;
    let n = base.num_coordinates();
    if let (Some(row), Some(controls)) = (guess.states.rows.first_mut(), guess.controls.rows.first()) {
        let mut x = state(base, guess.times[0], row);
        system.solve_equilibrium(&mut x, controls, &mut system.workspace::<f64>());
        row[2 * n..].copy_from_slice(&x.z);
    }
    simulate(base, &guess, ACCURACY)
}

fn state(base: &ModelProblem, time: f64, row: &[f64]) -> State<f64> {
    let n = base.num_coordinates();
    let mut x = State { time, ..base.system.default_state.clone() };
    x.q.copy_from_slice(&row[..n]);
    x.u.copy_from_slice(&row[n..2 * n]);
    x.z.copy_from_slice(&row[2 * n..]);
    x
}

/// States of a simulation at the times of a motion, from its initial state and with its controls, interpolated
/// linearly. The motion has all states and controls of the model.
pub fn simulate(base: &ModelProblem, motion: &Trajectory, accuracy: f64) -> Result<Trajectory, String> {
    let times = &motion.times;
    let (Some(first), Some(&t0), Some(&tf)) = (motion.states.rows.first(), times.first(), times.last())
    else {
        return Err("the initial state is missing".into());
    };
    let mut course = ModelControls::none(&base.system);
    for i in 0..base.controls.len() {
        let values = motion.controls.rows.iter().map(|r| r[i]).collect();
        let line = PiecewiseLinear::new(times.clone(), values).map_err(|e| e.to_string())?;
        course.add_function(i, Function::from(line));
    }
    let mut ode = SystemOde::new(&base.system, course);
    let mut integrator = merson(ode.error_norm(), StepOptions::with_accuracy(accuracy));
    let mut states = columns(&base.states);
    let mut row = first.clone();
    let outcome = integrate(&mut *integrator, &mut ode, (t0, first), tf, &mut [], &mut |view| {
        while let Some(&t) = times.get(states.rows.len()).filter(|&&t| t <= view.t1) {
            view.interpolate(t, &mut row);
            states.rows.push(row.clone());
        }
        ControlFlow::Continue(())
    });
    match outcome.end {
        End::Reached => Ok(Trajectory { times: times.clone(), states, ..Trajectory::default() }),
        End::Stopped(stop) => Err(format!("it stopped at {:.4} s: {stop}", outcome.time)),
        _ => Err("it was interrupted".into()),
    }
}

//! Walking with 54 muscles of each model: how long a simulation takes.

use super::not_solved;
use super::specimen::Tendon;
use crate::desk;
use crate::report::Report;
use crate::sheet::{Folder, Sheet};
use soleus::Error;
use soleus::inputs::loads;
use soleus::inputs::table::{Take, read_rows};
use soleus_dynamics::system::{State, System};
use soleus_math::function::PiecewiseLinear;
use soleus_math::{Function, Table};
use soleus_model::muscle::{Millard2012Equilibrium, MuscleKind};
use soleus_model::{ForceKind, Model};
use soleus_simulation::{
    ExplicitRungeKutta, Integrator, ModelControls, Statistics, StepOptions, Stop, SystemOde,
};
use std::path::Path;
use std::time::Instant;

/// Length of the simulation, s, as OpenSim's forward example with this model.
const DURATION: f64 = 0.25;

/// Error of a step, OpenSim's default.
const ACCURACY: f64 = 1e-5;

/// The model with its muscles replaced, default curves in all three cases.
fn with_muscles(model: &Model, tendon: Tendon) -> Model {
    let mut model = model.clone();
    for f in &mut model.forces {
        let ForceKind::Muscle(m) = &mut f.kind else { continue };
        let (tau_act, tau_deact) = match &m.kind {
            MuscleKind::Thelen2003(p) => (p.activation_time_constant, p.deactivation_time_constant),
            _ => continue,
        };
        m.ignore_tendon_compliance = tendon == Tendon::Rigid;
        let damping = if tendon == Tendon::Equilibrium { 0.0 } else { 0.1 };
        m.kind = MuscleKind::Millard2012Equilibrium(Box::new(Millard2012Equilibrium {
            fiber_damping: damping,
            minimum_activation: tendon.least_activation(),
            activation_time_constant: tau_act,
            deactivation_time_constant: tau_deact,
            ..Millard2012Equilibrium::default()
        }));
        f.class = "Millard2012EquilibriumMuscle".into();
    }
    model
}

/// A column of a table over time.
fn column(table: &Table, label: &str) -> Option<Function> {
    let i = table.labels().iter().position(|l| l == label)?;
    PiecewiseLinear::new(table.times().to_vec(), table.columns()[i].clone()).ok().map(Function::from)
}

/// Coordinates, speeds and activations at the first time of a table, fibers in equilibrium.
fn start(model: &Model, system: &System, states: &Table) -> State<f64> {
    let mut x = system.default_state.clone();
    x.time = states.times().first().copied().unwrap_or(0.0);
    let first = |label: &str| {
        let i = states.labels().iter().position(|l| l == label)?;
        states.columns()[i].first().copied()
    };
    for (id, c) in model.coordinates.iter().enumerate() {
        let m = system.tree.mobility_of_coordinate[id];
        x.q[m] = first(&format!("{}/value", c.path)).unwrap_or(x.q[m]);
        x.u[m] = first(&format!("{}/speed", c.path)).unwrap_or(0.0);
    }
    for (z, name) in x.z.iter_mut().zip(&system.aux_names) {
        if name.ends_with("/activation") {
            *z = first(name).unwrap_or(*z);
        }
    }
    let controls = vec![0.02; system.num_controls];
    system.solve_equilibrium(&mut x, &controls, &mut system.workspace());
    x
}

/// Takes a simulation to its end; wall time in s and work.
fn timed<P>(
    integrator: &mut dyn Integrator<P>,
    problem: &mut P,
    x: &State<f64>,
) -> Result<(f64, Statistics), Stop> {
    let begin = Instant::now();
    integrator.start(problem, x.time, &SystemOde::<ModelControls>::vector(x))?;
    while integrator.span().1 < x.time + DURATION {
        integrator.step(problem, x.time + DURATION)?;
    }
    Ok((begin.elapsed().as_secs_f64(), integrator.statistics()))
}

/// Simulates a quarter of a second of the walk of gait2354 with each model by Merson's method. `pipeline` holds the model, the
/// ground forces and OpenSim's results of computed muscle control.
pub fn run(pipeline: &Path, report: &Report, folder: &Folder) -> Result<(), Error> {
    report.heading("Walking with 54 muscles: gait2354 under measured ground forces, excitations of computed muscle control (section 4)");
    let model = desk::model(&pipeline.join("reference/subject01_simbody_adjusted.osim"))?;
    let plates = pipeline.join("input/subject01_walk1_grf.xml");
    let folder_of_data = pipeline.join("input");
    let measured =
        desk::enter(None, false, |cx| loads::read(cx, &model, Some(&plates), Some(&folder_of_data), None))?;
    let table = |name: &str| {
        let file = pipeline.join("reference/ResultsCMC").join(format!("subject01_walk1_{name}.sto"));
        desk::enter(None, false, |cx| read_rows(cx, &file.into(), Take::Forces))
    };
    let (states, excitations) = (table("states")?, table("controls")?);
    let mut sheet = Sheet::new(&["model", "steps", "evaluations", "seconds"]);
    let mut times = Vec::new();
    for tendon in [Tendon::Equilibrium, Tendon::Damped, Tendon::Rigid] {
        let mut model = with_muscles(&model, tendon);
        model.forces.extend(measured.iter().cloned());
        let system = System::compile(&model).map_err(not_solved)?;
        let mut controls = ModelControls::none(&system);
        for (f, force) in system.forces.iter().zip(&model.forces) {
            if let (Some(function), Some(c)) = (column(&excitations, &force.path), f.controls.clone().next())
            {
                controls.add_function(c, function);
            }
        }
        let x = start(&model, &system, &states);
        let mut ode = SystemOde::new(&system, controls);
        let mut m = ExplicitRungeKutta::merson(ode.error_norm(), StepOptions::with_accuracy(ACCURACY));
        let (seconds, work) = timed(&mut m, &mut ode, &x).map_err(not_solved)?;
        sheet.row(vec![
            tendon.name().into(),
            work.steps.to_string(),
            work.evaluations.to_string(),
            format!("{seconds:.4}"),
        ]);
        report.note(
            &format!("{}: steps, evaluations, seconds for {DURATION} s", tendon.name()),
            &format!("{} {} {seconds:.3}", work.steps, work.evaluations),
            "",
        );
        times.push(seconds);
    }
    for (i, (name, published)) in [("damped", 1.7), ("rigid", 2.5)].into_iter().enumerate() {
        let ratio = times[0] / times[i + 1];
        report.note(
            &format!("time of equilibrium over {name}, Merson"),
            &format!("{ratio:.2}"),
            &format!("{published}"),
        );
    }
    folder.table("walking", "Walking with 54 muscles: time of a simulation", &sheet)
}

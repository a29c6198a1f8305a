//! A short tour of a built-in leg model: muscles, moments, accelerations and exact derivatives, as text.
//!
//! ```no_run
//! use soleus::{Context, LegTour, Memory};
//! let files = Memory::new();
//! let tour = LegTour.run(&Context::new(&files))?;
//! println!("{}", tour.text);
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model::compile;
use serde::{Deserialize, Serialize};
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::multibody::compute_inverse_dynamics;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Options, State, System, Workspace};
use soleus_math::SpatialVec;
use soleus_model::Model;
use soleus_simulation::system::Constant;
use soleus_simulation::{ImplicitOde, SystemOde};
use std::fmt::Write as _;
use std::path::Path;

/// A planar leg with eight muscles; the sources of its figures stand in the file.
const LEG: &str = include_str!("../models/leg_swing.osim");
const LEG_FILE: &str = "models/leg_swing.osim";

/// Evaluations that are timed.
const COUNT: u32 = 20_000;

/// A tour of the leg model.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct LegTour;

/// The tour.
#[derive(Clone, Debug)]
pub struct LegReport {
    /// Text of the tour.
    pub text: String,
}

impl Outcome for LegReport {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        vec![Artifact::bytes("-", self.text.as_bytes())]
    }
}

impl LegTour {
    /// Computes everything.
    pub fn run(&self, cx: &Context) -> Result<LegReport, Error> {
        let (model, log) = soleus_io::osim::read_model(LEG.as_bytes(), LEG_FILE);
        let file = Path::new(LEG_FILE);
        let model = cx.settle(file, model, log)?;
        let system = compile(file, &model, &Options::default())?;
        Ok(LegReport { text: tour(cx, &model, &system) })
    }
}

/// The whole text. Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
fn tour(cx: &Context, model: &Model, system: &System) -> String {
    let mut s = String::new();
    let mut ws = system.workspace::<f64>();
    let (n, muscles) = (system.tree.num_mobilities, system.forces.len());
    let _ = writeln!(s, "{}: a leg on a fixed pelvis, {n} joints, {muscles} muscles", model.name);
    let _ = writeln!(s, "{LEG_FILE} gives the source of every number\n");

    // A step: hip and knee flexed, all muscles half active and in equilibrium.
    let mut x = system.default_state.clone();
    for (q, degrees) in x.q.iter_mut().zip([20.0f64, -30.0, 5.0]) {
        *q = degrees.to_radians();
    }
    for (name, z) in system.aux_names.iter().zip(&mut x.z) {
        if name.ends_with("/activation") {
            *z = 0.5;
        }
    }
    let controls = vec![0.5; system.num_controls];
    let failures = system.solve_equilibrium(&mut x, &controls, &mut ws);
    let _ = writeln!(s, "1. Muscles at half activation, fibers in equilibrium with their tendons");
    muscle_table(&mut s, model, system, &x, &controls, &mut ws);
    for (f, why) in failures {
        let _ = writeln!(s, "   {} has no equilibrium: {why}", model.forces[f].name);
    }

    let _ = writeln!(
        s,
        "\n2. Joint moments that hold the leg against gravity, without muscles (inverse dynamics)"
    );
    by_coordinate(&mut s, model, system, &holding_moments(system, &ws), "N·m");
    let _ = writeln!(s, "\n3. Accelerations under these muscle forces (forward dynamics)");
    match system.compute_motion(&x, &controls, &mut ws) {
        Ok(()) => by_coordinate(&mut s, model, system, &ws.udot, "rad/s²"),
        Err(e) => {
            let _ = writeln!(s, "   {e}");
        }
    }

    let _ = writeln!(
        s,
        "\n4. Exact derivatives: d(acceleration)/d(first coordinate), the same code on dual numbers"
    );
    derivatives(&mut s, model, system, &x, &controls);

    if let Some(start) = cx.monitor.seconds() {
        for _ in 0..COUNT {
            let _ = system.compute_motion(&x, &controls, &mut ws);
        }
        let each = (cx.monitor.seconds().unwrap_or(start) - start) / f64::from(COUNT);
        let _ = writeln!(
            s,
            "\nOne evaluation, from coordinates to accelerations, took {:.2} µs on this machine.",
            each * 1e6
        );
    }
    let _ = writeln!(s, "Next: soleus info MODEL.osim, soleus eval --help");
    s
}

/// One line for each mobility.
fn by_coordinate(s: &mut String, model: &Model, system: &System, values: &[f64], unit: &str) {
    for (c, x) in system.tree.coordinate_of_mobility.iter().zip(values) {
        let name = c.map_or("", |c| &model.coordinates[c.0].name);
        let _ = writeln!(s, "   {name:<18} {x:>9.2} {unit}");
    }
}

/// In mm, to a tenth, without the sign of a zero.
fn millimeters(x: f64) -> f64 {
    let mm = (x * 1e4).round() / 10.0;
    if mm == 0.0 { 0.0 } else { mm }
}

fn muscle_table(
    s: &mut String,
    model: &Model,
    system: &System,
    x: &State<f64>,
    controls: &[f64],
    ws: &mut Workspace<f64>,
) {
    system.compute_kinematics(x, ws);
    system.compute_paths(x, ws);
    let _ = write!(s, "   {:<18} {:>9} {:>9} {:>9}", "", "length", "fiber", "force");
    for c in &model.coordinates {
        let _ = write!(s, " {:>14}", format!("r {}", c.name));
    }
    let _ = writeln!(s);
    let mut arms = MomentArms::new(system, ws);
    for (i, (f, sf)) in model.forces.iter().zip(&system.forces).enumerate() {
        let Actor::Muscle(m) = &sf.actor else { continue };
        let p = &ws.paths[i];
        let info = m.info(p.length(), p.speed(), controls[sf.controls.start], &x.z[sf.states.clone()]);
        let _ = write!(
            s,
            "   {:<18} {:>6.1} mm {:>6.1} mm {:>7.0} N",
            f.name,
            info.length * 1e3,
            info.fiber_length * 1e3,
            info.tendon_force
        );
        arms.compute_path(system, ws, i);
        for &m in &system.tree.mobility_of_coordinate {
            let _ = write!(s, " {:>11.1} mm", millimeters(arms.arm(m)));
        }
        let _ = writeln!(s);
    }
}

/// Generalized forces of inverse dynamics at rest, under gravity alone.
fn holding_moments(system: &System, ws: &Workspace<f64>) -> Vec<f64> {
    let (n, nb) = (system.tree.num_mobilities, system.tree.nodes.len());
    let mut gravity = vec![SpatialVec::zero(); nb];
    system.compute_gravity(&ws.kin, &mut gravity);
    let (mut A, mut F, mut tau) = (vec![SpatialVec::zero(); nb], vec![SpatialVec::zero(); nb], vec![0.0; n]);
    compute_inverse_dynamics(&system.tree, &ws.kin, &vec![0.0; n], &gravity, &mut A, &mut F, &mut tau);
    tau
}

/// One column of the Jacobian of the accelerations, by dual numbers and by central differences.
fn derivatives(s: &mut String, model: &Model, system: &System, x: &State<f64>, controls: &[f64]) {
    let (at, n) = (SystemOde::<Constant>::vector(x), x.q.len());
    let (dim, rates) = (at.len(), vec![0.0; at.len()]);
    // Of ẋ − f(t, x) by x, row by row; f is the velocities, the accelerations, the rates of muscles.
    let (mut df_dx, mut df_dxdot) = (vec![0.0; dim * dim], vec![0.0; dim * dim]);
    let mut ode = SystemOde::new(system, Constant(controls.to_vec())).with_jacobian();
    let exact = ode.jacobians(x.time, &at, &rates, &mut df_dx, &mut df_dxdot);

    let h = 1e-6;
    let shifted = |h: f64| {
        let mut y = x.clone();
        y.q[0] += h;
        let mut ws = system.workspace();
        system.compute_motion(&y, controls, &mut ws).map(|()| ws.udot)
    };
    let (Ok(()), Ok(hi), Ok(lo)) = (exact, shifted(h), shifted(-h)) else { return };
    for (i, c) in system.tree.coordinate_of_mobility.iter().enumerate() {
        let name = c.map_or("", |c| &model.coordinates[c.0].name);
        let fd = (hi[i] - lo[i]) / (2.0 * h);
        let _ = writeln!(s, "   {name:<18} exact {:>14.7}   differences {fd:>14.7}", -df_dx[(n + i) * dim]);
    }
}

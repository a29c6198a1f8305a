//! Evaluation: all quantities of a model at given states.
//!
//! Poses and velocities of bodies, accelerations, mass matrix, inverse dynamics, constraints, muscles, moment arms, forces, energies.
//!
//! ```
//! use soleus::evaluation::NamedState;
//! use soleus::{Context, Evaluate, Memory};
//! let files = Memory::new().with("leg.osim", include_bytes!("../../models/leg_swing.osim"));
//! let states = vec![NamedState::default().with("hip_flexion", 0.4, 0.0)];
//! let request = Evaluate { model: "leg.osim".into(), states: states.into(), equilibrate: true, ..Default::default() };
//! let evaluation = request.run(&Context::new(&files))?;
//! println!("{:?} rad/s²", evaluation.states[0].accelerations);
//! let soleus = &evaluation.states[0].values["muscles"]["/forceset/soleus"];
//! # assert!(soleus.is_array());
//! # Ok::<(), soleus::Error>(())
//! ```

mod states;

pub use states::{Input, NamedState, inputs};

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use soleus_dynamics::Options;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::multibody::{compute_generalized_forces, compute_inverse_dynamics};
use soleus_dynamics::muscle::MuscleInfo;
use soleus_dynamics::system::{Actor, MotionError, State, System, Workspace};
use soleus_math::{SpatialVec, Vec3};
use soleus_model::{Diagnostics, Model};
use soleus_tools::analysis::mass_center_motion;
use std::path::PathBuf;

/// The columns of `muscles`, in order.
const MUSCLE_FIELDS: [&str; 23] = [
    "length",
    "lengtheningSpeed",
    "fiberLength",
    "tendonLength",
    "normalizedFiberLength",
    "pennationAngle",
    "activation",
    "excitation",
    "fiberVelocity",
    "tendonVelocity",
    "pennationAngularVelocity",
    "activeForceLengthMultiplier",
    "passiveForceMultiplier",
    "forceVelocityMultiplier",
    "fiberForce",
    "tendonForce",
    "activeFiberForce",
    "passiveFiberForce",
    "activeFiberForceAlongTendon",
    "passiveFiberForceAlongTendon",
    "fiberStiffness",
    "tendonStiffness",
    "actuation",
];

/// Moment arms below this are left out: a path that does not cross the coordinate, m.
const SMALLEST_MOMENT_ARM: f64 = 1e-9;

/// Evaluates all quantities of a model at given states.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evaluate {
    /// The model.
    pub model: ModelSource,
    /// States: a JSON file with a list `states`, or values; default: the model's default state.
    pub states: Source<Vec<NamedState>>,
    /// Equilibrate muscle fibers with their tendons first.
    pub equilibrate: bool,
    /// Reproduce known errors of OpenSim 4.6, for comparison.
    pub opensim_faults: bool,
    /// Output file (JSON).
    pub output: Option<PathBuf>,
}

impl Evaluate {
    /// Evaluates every state.
    pub fn run(&self, cx: &Context) -> Result<Evaluation, Error> {
        let options = Options { opensim_faults: self.opensim_faults };
        let (m, system) = model::system(cx, &self.model, &options)?;
        let list = inputs(cx, &self.states, (&self.model, &m, &system))?;
        let file = if self.states.is_given() { self.states.path() } else { self.model.path() };
        let mut evaluation = Evaluation {
            model_name: m.name.clone(),
            tree_order: tree_order(&m, &system),
            control_order: control_order(&m, &system),
            states: Vec::with_capacity(list.len()),
            not_in_equilibrium: 0,
            not_finite: Vec::new(),
            output: self.output.clone(),
        };

        let mut ws = system.workspace();
        let total = list.len();
        for (i, mut input) in list.into_iter().enumerate() {
            cx.go_on()?;
            if self.equilibrate {
                for (f, why) in system.solve_equilibrium(&mut input.state, &input.controls, &mut ws) {
                    cx.warn(file, format!("state {i}: {}: {why}", m.forces[f].path), "");
                    evaluation.not_in_equilibrium += 1;
                }
            }
            let (values, problem) = evaluate(&m, &system, &input, &mut ws);
            let name = |mobility: usize| evaluation.tree_order.get(mobility).cloned().unwrap_or_default();
            if let Some(MotionError::Massless { mobility }) = problem {
                let message = format!(
                    "state {i}: {} moves no body with mass; the accelerations are NaN",
                    name(mobility)
                );
                cx.warn(file, message, "");
            } else if let Some(MotionError::Singular { mobility }) = problem {
                let name = name(mobility);
                let message = format!(
                    "state {i}: {name} has no inertia, but forces act on it; the accelerations are NaN"
                );
                cx.warn(file, message, "give mass or inertia to the bodies moved by the coordinate");
                evaluation.not_finite.push(NotFinite { state: i, name });
            } else if let Some(mobility) = ws.udot.iter().position(|x| !x.is_finite()) {
                // Rates of muscle states are left out: with implicit tendon dynamics there are none.
                let (name, x) = (name(mobility), ws.udot[mobility]);
                let message = format!("state {i}: the acceleration of {name} is not finite ({x})");
                match system.force_not_finite(&input.state, &input.controls, &mut ws) {
                    // The force to blame has a line in the model.
                    Some(f) => {
                        let (path, force) = (self.model.path(), &m.forces[f].path);
                        let mut log = Diagnostics::new(path.display().to_string());
                        let hint = "check its values and units: lengths in m, masses in kg";
                        log.warn(m.line_of(force), force, message, hint);
                        cx.report(&log);
                    }
                    None => {
                        let hint =
                            "check the state and the model for values that are not finite or far too large";
                        cx.warn(file, message, hint);
                    }
                }
                evaluation.not_finite.push(NotFinite { state: i, name });
            } else if let Some(&mobility) = ws.mass.singular.first() {
                let name = name(mobility);
                let message = format!(
                    "state {i}: {name} has no inertia and no forces; its acceleration is set to zero"
                );
                cx.warn(file, message, "");
            }
            evaluation.states.push(StateValues {
                state: input.state,
                controls: input.controls,
                accelerations: ws.udot.clone(),
                aux_derivatives: ws.zdot.clone(),
                values,
            });
            cx.progress("states", i + 1, total);
        }
        Ok(evaluation)
    }
}

/// All quantities at several states.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Name of the model.
    pub model_name: String,
    /// Path of the coordinate at each mobility: the order of q, u and accelerations.
    pub tree_order: Vec<String>,
    /// Path of the force of each control.
    pub control_order: Vec<String>,
    /// Values of each state.
    pub states: Vec<StateValues>,
    /// Number of muscle states without equilibrium, which kept the given value.
    pub not_in_equilibrium: usize,
    /// States with accelerations that are not finite.
    pub not_finite: Vec<NotFinite>,
    output: Option<PathBuf>,
}

/// All quantities at one state.
#[derive(Clone, Debug)]
pub struct StateValues {
    /// The state, after equilibration if requested.
    pub state: State<f64>,
    /// Controls in the model's order.
    pub controls: Vec<f64>,
    /// Accelerations, rad/s² or m/s², mobility by mobility.
    pub accelerations: Vec<f64>,
    /// Rates of the states of forces, 1/s.
    pub aux_derivatives: Vec<f64>,
    /// All quantities by name, as in the output file.
    pub values: Value,
}

/// A state with accelerations that are not finite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFinite {
    /// Index of the state, from zero.
    pub state: usize,
    /// Path of the first coordinate whose acceleration is not finite.
    pub name: String,
}

impl Evaluation {
    /// Content of the output file.
    pub fn to_json(&self) -> Value {
        json!({
            "generator": concat!("soleus ", env!("CARGO_PKG_VERSION")),
            "model": {
                "name": self.model_name,
                "tree_order": self.tree_order,
                "control_order": self.control_order,
            },
            "muscle_fields": MUSCLE_FIELDS,
            "states": self.states.iter().map(|s| &s.values).collect::<Vec<_>>(),
        })
    }
}

impl Outcome for Evaluation {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let text = |path| Artifact::text(path, self.to_json().to_string() + "\n");
        self.output.iter().map(text).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        if let [first, rest @ ..] = &self.not_finite[..] {
            let NotFinite { state, name } = first;
            let more =
                if rest.is_empty() { String::new() } else { format!(", and {} more states", rest.len()) };
            let message = format!("accelerations are not finite: state {state}, {name} first{more}");
            return Err(Error::NotSolved { message });
        }
        match self.not_in_equilibrium {
            0 => Ok(()),
            count => Err(Error::NotConverged { count }),
        }
    }
}

/// A number for JSON: NaN and infinities as text.
fn num(x: f64) -> Value {
    if x.is_nan() {
        json!("NaN")
    } else if x.is_infinite() {
        json!(if x > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        json!(x)
    }
}

/// Converts numbers to JSON.
pub fn list(x: &[f64]) -> Value {
    Value::Array(x.iter().map(|&x| num(x)).collect())
}

fn vector(v: Vec3<f64>) -> Value {
    list(&v.to_array())
}

/// Coordinate path at each mobility.
pub fn tree_order(model: &Model, system: &System) -> Vec<String> {
    system
        .tree
        .coordinate_of_mobility
        .iter()
        .map(|c| c.map_or("?".to_string(), |c| model.coordinates[c.0].path.clone()))
        .collect()
}

/// Force path of each control.
pub fn control_order(model: &Model, system: &System) -> Vec<String> {
    let mut names = Vec::new();
    for (f, s) in model.forces.iter().zip(&system.forces) {
        names.extend(s.controls.clone().map(|_| f.path.clone()));
    }
    names
}

/// Everything at one state, and why accelerations could not be found, if so.
fn evaluate(
    model: &Model,
    system: &System,
    input: &Input,
    ws: &mut Workspace<f64>,
) -> (Value, Option<MotionError>) {
    let (x, controls) = (&input.state, &input.controls);
    let tree = &system.tree;
    let n = tree.num_mobilities;
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| {
        out.insert(key.to_string(), value);
    };

    let problem = system.compute_motion(x, controls, ws).err();
    if problem.is_some() {
        ws.udot.fill(f64::NAN);
    }
    system.compute_body_accelerations(ws);

    put("time", num(x.time));
    let coordinates = tree_order(model, system);
    put("q", list(&x.q));
    put("u", list(&x.u));
    put("qdot", list(&system.coordinate_rates(x)));
    put("udot", list(&ws.udot));
    // The mobilities of a body that no joint carries have no coordinate, and so no name.
    let named_only = coordinates.iter().enumerate().filter(|(_, c)| *c != "?");
    let pairs = named_only.map(|(i, c)| (c.clone(), list(&[x.q[i], x.u[i]]))).collect();
    put("coordinates", Value::Object(pairs));
    let named = |z: &[f64]| {
        Value::Object(system.aux_names.iter().zip(z).map(|(n, &z)| (n.clone(), num(z))).collect())
    };
    put("aux_states", named(&x.z));
    put("aux_derivatives", named(&ws.zdot));
    put("controls", list(controls));
    put("bodies", bodies(model, system, ws));

    // Mass matrix, gravity, inverse dynamics.
    let rows = (0..n).map(|i| list(&(0..n).map(|j| ws.mass.at(i, j)).collect::<Vec<_>>())).collect();
    put("mass_matrix", Value::Array(rows));
    let nb = tree.nodes.len();
    let mut gravity = vec![SpatialVec::zero(); nb];
    system.compute_gravity(&ws.kin, &mut gravity);
    let (mut F, mut tau) = (gravity.clone(), vec![0.0; n]);
    compute_generalized_forces(tree, &ws.kin, &mut F, &mut tau);
    put("gravity_generalized_force", list(&tau));
    let mut A = vec![SpatialVec::zero(); nb];
    let mut id = Map::new();
    let zeros = vec![0.0; n];
    compute_inverse_dynamics(tree, &ws.kin, &zeros, &gravity, &mut A, &mut F, &mut tau);
    id.insert("bias_gravity_only_udot0".into(), list(&tau));
    let udot = input.udot.as_ref().unwrap_or(&zeros);
    id.insert("udot".into(), list(udot));
    compute_inverse_dynamics(tree, &ws.kin, udot, &gravity, &mut A, &mut F, &mut tau);
    id.insert("gravity_only".into(), list(&tau));
    compute_inverse_dynamics(tree, &ws.kin, udot, &ws.body_load, &mut A, &mut F, &mut tau);
    for (t, m) in tau.iter_mut().zip(&ws.mobility_load) {
        *t -= m;
    }
    id.insert("all_forces".into(), list(&tau));
    put("inverse_dynamics", Value::Object(id));

    // Constraints.
    if system.constraints.num_rows() > 0 {
        let c = &ws.constraints;
        put("qerr", list(&c.qerr));
        put("uerr", list(&c.uerr));
        put("multipliers", list(&c.lambda));
        let mut udoterr = c.bias.clone();
        for (r, e) in udoterr.iter_mut().enumerate() {
            *e += c.G[r * n..(r + 1) * n].iter().zip(&ws.udot).map(|(g, u)| g * u).sum::<f64>();
        }
        put("udoterr", list(&udoterr));
    }

    put("muscles", muscles(model, system, input, ws));
    put("moment_arms", moment_arms(model, system, ws));
    put("paths", paths(model, system, ws));
    put("forces", forces(model, system, input, ws));

    let probes = probes(model, system, input, ws);
    if !probes.is_empty() {
        put("probes", Value::Object(probes));
    }

    let markers = model.markers.iter().zip(&system.markers);
    put(
        "markers",
        Value::Object(markers.map(|(m, s)| (m.name.clone(), vector(ws.kin.X_GB[s.body] * s.p_BS))).collect()),
    );
    let com = mass_center_motion(ws);
    put(
        "com",
        json!({"position": vector(com[0]), "velocity": vector(com[1]), "acceleration": vector(com[2])}),
    );
    let mass: f64 = ws.kin.inertia.iter().map(|i| i.mass).sum();
    put("total_mass", num(mass));
    let kinetic: f64 =
        ws.kin.V_GB.iter().zip(&ws.kin.inertia).map(|(v, i)| 0.5 * v.dot(i.momentum(*v))).sum();
    put("kinetic_energy", num(kinetic));
    let energy = system.energy_of_forces(x, controls, ws);
    put("potential_energy", num(energy - mass * system.gravity.dot(com[0])));
    (Value::Object(out), problem)
}

fn bodies(model: &Model, system: &System, ws: &Workspace<f64>) -> Value {
    let mut out = Map::new();
    for (i, b) in model.bodies.iter().enumerate().skip(1) {
        let k = system.tree.node_of_body[i];
        let (X, V, A) = (ws.kin.X_GB[k], ws.kin.V_GB[k], ws.A_GB[k]);
        let R: Vec<f64> = (0..9).map(|j| X.R.0.at(j / 3, j % 3)).collect();
        out.insert(
            b.path.clone(),
            json!({
                "p": vector(X.p), "R": list(&R), "w": vector(V.w), "v": vector(V.v),
                "alpha": vector(A.w), "a": vector(A.v),
            }),
        );
    }
    Value::Object(out)
}

fn muscle_row(i: &MuscleInfo<f64>) -> [f64; 23] {
    [
        i.length,
        i.lengthening_speed,
        i.fiber_length,
        i.tendon_length,
        i.normalized_fiber_length,
        i.pennation_angle,
        i.activation,
        i.excitation,
        i.fiber_velocity,
        i.tendon_velocity,
        i.pennation_angular_velocity,
        i.active_force_length_multiplier,
        i.passive_force_multiplier,
        i.force_velocity_multiplier,
        i.fiber_force,
        i.tendon_force,
        i.active_fiber_force,
        i.passive_fiber_force,
        i.active_fiber_force_along_tendon,
        i.passive_fiber_force_along_tendon,
        i.fiber_stiffness,
        i.tendon_stiffness,
        i.actuation,
    ]
}

/// All muscles.
fn muscles(model: &Model, system: &System, input: &Input, ws: &Workspace<f64>) -> Value {
    let mut out = Map::new();
    for (i, f) in model.forces.iter().enumerate() {
        if let Some(info) = system.muscle_info(i, &input.state, &input.controls, ws) {
            out.insert(f.path.clone(), list(&muscle_row(&info)));
        }
    }
    Value::Object(out)
}

fn moment_arms(model: &Model, system: &System, ws: &Workspace<f64>) -> Value {
    let mut arms = MomentArms::new(system, ws);
    let mut out = Map::new();
    for (i, (f, s)) in model.forces.iter().zip(&system.forces).enumerate() {
        if !matches!(s.actor, Actor::Muscle(_)) {
            continue;
        }
        arms.compute_path(system, ws, i);
        let mut row = Map::new();
        for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            let r = arms.arm(m);
            if !(r.abs() <= SMALLEST_MOMENT_ARM) {
                row.insert(c.name.clone(), num(r));
            }
        }
        out.insert(f.path.clone(), Value::Object(row));
    }
    Value::Object(out)
}

/// Current points of every path in ground, each with the name of the body it lies on.
fn paths(model: &Model, system: &System, ws: &Workspace<f64>) -> Value {
    let mut out = Map::new();
    for (i, (f, s)) in model.forces.iter().zip(&system.forces).enumerate() {
        if s.path.is_none() {
            continue;
        }
        let points = ws.paths[i]
            .points()
            .iter()
            .map(|p| {
                let body = system.tree.nodes[p.body].body.map_or("", |b| &model.bodies[b.0].name);
                json!([body, num(p.p_G.x), num(p.p_G.y), num(p.p_G.z)])
            })
            .collect::<Vec<_>>();
        out.insert(
            format!("{}/path", f.path),
            json!({"length": num(ws.paths[i].length()), "points": points}),
        );
    }
    Value::Object(out)
}

/// Recorded values of every force that is not a muscle.
fn forces(model: &Model, system: &System, input: &Input, ws: &Workspace<f64>) -> Value {
    let mut out = Map::new();
    for (i, (f, s)) in model.forces.iter().zip(&system.forces).enumerate() {
        let Actor::Force(c) = &s.actor else { continue };
        let mut values = Vec::new();
        system.record_force(i, &input.state, &input.controls, ws, &mut values);
        out.insert(
            f.path.clone(),
            json!({"type": f.class, "applied": s.enabled, "labels": c.labels(), "values": list(&values)}),
        );
    }
    Value::Object(out)
}

/// Metabolic probes: rates in W.
fn probes(model: &Model, system: &System, input: &Input, ws: &Workspace<f64>) -> Map<String, Value> {
    let mut out = Map::new();
    for p in model.probes.iter().filter(|p| p.enabled) {
        let Some(probe) = MetabolicProbe::compile(model, p) else { continue };
        let mut values = Vec::new();
        probe.rates(system, &input.state, &input.controls, ws, &mut values);
        let record = json!({"type": p.class, "labels": probe.labels, "values": list(&values)});
        out.insert(p.name.clone(), record);
    }
    out
}

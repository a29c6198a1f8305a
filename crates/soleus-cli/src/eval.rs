//! `soleus eval`: every quantity of a model at given states.

use crate::failure::Failure;
use crate::load;
use crate::states::{self, Input};
use serde_json::{Map, Value, json};
use soleus_dynamics::Options;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::multibody::{compute_generalized_forces, compute_inverse_dynamics};
use soleus_dynamics::muscle::MuscleInfo;
use soleus_dynamics::system::{Actor, MotionError, System, Workspace};
use soleus_math::{SpatialVec, Vec3};
use soleus_model::Model;
use soleus_tools::analysis::mass_center_motion;
use std::path::Path;

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

/// Reads the states, evaluates each, writes the result whole.
pub fn run(
    model: &Path,
    states: &Path,
    out: &Path,
    equilibrate: bool,
    opensim_faults: bool,
) -> Result<(), Failure> {
    let (m, system) = load::system(model, &Options { opensim_faults })?;
    let text = std::fs::read_to_string(states).map_err(|e| Failure::read(states, e))?;
    let list = states::split(&text, states)?;

    let mut ws = system.workspace();
    let mut results = Vec::new();
    let mut unsolved = 0;
    let mut not_finite = None;
    for (i, state) in list.iter().enumerate() {
        let mut input =
            states::read(&m, &system, state).map_err(|e| states::failure(states, &text, state, i, e))?;
        if equilibrate {
            for (f, why) in system.solve_equilibrium(&mut input.state, &input.controls, &mut ws) {
                eprintln!("warning: state {i}: {}: {why}", m.forces[f].path);
                unsolved += 1;
            }
        }
        let (values, problem) = evaluate(&m, &system, &input, &mut ws);
        results.push(values);
        let name = |mobility: usize| tree_order(&m, &system).into_iter().nth(mobility).unwrap_or_default();
        if let Some(why) = &problem {
            let name = name(why.mobility());
            let why = match why {
                MotionError::Singular { .. } => "nothing resists the forces on",
                MotionError::Massless { .. } => "no body with mass moves with",
            };
            eprintln!("warning: state {i}: {why} {name}; the accelerations are NaN");
        } else if let Some(mobility) = ws.udot.iter().position(|x| !x.is_finite()) {
            let force = system.force_not_finite(&input.state, &input.controls, &mut ws);
            let component = force.map_or_else(|| name(mobility), |f| m.forces[f].path.clone());
            let message = format!("state {i}: accelerations are not finite numbers, through {component}");
            not_finite.get_or_insert((component, message));
        } else if let Some(z) = ws.zdot.iter().position(|x| !x.is_finite()) {
            eprintln!("warning: state {i}: the rate of {} is not a finite number", system.aux_names[z]);
        } else if let Some(&mobility) = ws.mass.singular.first() {
            let name = name(mobility);
            eprintln!(
                "warning: state {i}: nothing resists {name}, and nothing drives it; its acceleration is taken as zero"
            );
        }
    }
    let result = json!({
        "generator": concat!("soleus ", env!("CARGO_PKG_VERSION")),
        "model": {
            "name": m.name,
            "tree_order": tree_order(&m, &system),
            "control_order": control_order(&m, &system),
        },
        "muscle_fields": MUSCLE_FIELDS,
        "states": results,
    });
    let text = serde_json::to_string(&result).unwrap_or_default();
    load::write_whole(out, &(text + "\n"))?;
    if let Some((component, message)) = not_finite {
        let hint = "look at its numbers and units: lengths are in m, masses in kg";
        return Err(Failure::content(model, m.line_of(&component), &component, message, hint));
    }
    match unsolved {
        0 => Ok(()),
        count => Err(Failure::NotConverged { count }),
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

/// Numbers for JSON.
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

/// Recorded values of every force that is no muscle.
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

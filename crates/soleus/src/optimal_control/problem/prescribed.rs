//! Prescribed motions of a study.

use super::Inputs;
use super::references::{absolute_names, radians};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::{Take, read_rows, warn_of_units};
use crate::source::Source;
use soleus_control::Problem;
use soleus_control::musculoskeletal::{ModelProblem, PrescribedDynamics};
use soleus_control::problem::PrescribedState;
use soleus_dynamics::System;
use soleus_dynamics::joint::{angles_rate, speeds_from_rates};
use soleus_io::study::PrescribedCoordinate;
use soleus_math::function::{FunctionError, GcvSpline, SplineKnots};
use soleus_math::{Dual, Table, Vec3, vec3};
use soleus_tools::free_motion::{FreeBody, FreeMotion, MOBILITIES, free_nodes};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Degree of the splines through coordinates, as in Moco.
const DEGREE: usize = 5;

/// Reads prescribed motions from a table of coordinates, by name or path.
pub fn read(
    cx: &Context,
    source: &Source<Table>,
    base: &ModelProblem,
) -> Result<Vec<PrescribedCoordinate>, Error> {
    let table = read_rows(cx, source, Take::Markers)?;
    warn_of_units(cx, &base.model, source, &table);
    let table = absolute_names(radians(table, &base.model), &base.model);
    let motion = |state: &String| {
        let path = state.strip_suffix("/value")?.to_string();
        let y = table.column(state)?.to_vec();
        Some(PrescribedCoordinate { path, degree: DEGREE, x: table.times().to_vec(), y })
    };
    Ok(base.states[..base.num_coordinates()].iter().filter_map(motion).collect())
}

/// Prescribes coordinates and speeds by the splines of a study.
pub fn apply(path: &Path, inputs: &Inputs, base: &ModelProblem, p: &mut Problem) -> Result<(), Error> {
    let motions = &inputs.motions;
    let n = base.num_coordinates();
    let mut splines: Vec<Option<GcvSpline>> = vec![None; n];
    for c in motions {
        let refuse = |message: String| Error::content(path, 0, &c.path, message, "");
        let name = format!("{}/value", c.path);
        let i = base.states[..n].iter().position(|s| *s == name);
        let i = i.ok_or_else(|| {
            refuse("a motion is prescribed for a coordinate that does not exist".to_string())
        })?;
        let spline =
            GcvSpline::interpolate(c.degree, c.x.clone(), &c.y).map_err(|e| refuse(e.to_string()))?;
        splines[i] = Some(spline);
    }
    for node in base.system.tree.nodes.iter().skip(1) {
        let own: Option<Vec<GcvSpline>> = splines[node.u0..node.u0 + node.nu].iter().cloned().collect();
        let Some(own) = own.filter(|o| !o.is_empty()) else { continue };
        let joint = JointMotion { angular: node.joint.speeds_are_angular_velocity(), splines: own };
        prescribe(p, n, node.u0, node.nu, move |t| joint.at(t));
    }
    for node in free_nodes(&base.system).into_iter().filter(|_| !inputs.root_angles) {
        let u0 = base.system.tree.nodes[node].u0;
        if splines[u0..u0 + MOBILITIES].iter().all(Option::is_some) {
            let motion = free_motion(base, node, motions)
                .map_err(|e| Error::content(path, 0, &base.states[u0], e.to_string(), ""))?;
            let near: Vec<GcvSpline> = splines[u0..u0 + MOBILITIES].iter().flatten().cloned().collect();
            p.prescribed.retain(|s| !(0..MOBILITIES).any(|i| [u0 + i, n + u0 + i].contains(&s.state)));
            let (system, angular) =
                (base.system.clone(), base.system.tree.nodes[node].joint.speeds_are_angular_velocity());
            // Twelve states ask for the same times.
            let known = Mutex::new((FreeBody::new(&system, node), HashMap::new()));
            prescribe(p, n, u0, MOBILITIES, move |t| {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let (body, known) = &mut *known;
                let compute = || free_at(&system, body, &motion, &near, angular, t);
                known.entry(t.to_bits()).or_insert_with(compute).clone()
            });
        }
    }
    if !motions.is_empty() && motions.len() != n {
        let given = motions.len();
        let message = format!("the study prescribes {given} of {n} coordinates; all or none is supported");
        return Err(Error::content(path, 0, "", message, ""));
    }
    // What follows from the motion is computed once, not in every iteration.
    if !motions.is_empty() && p.parameters.is_empty() {
        let make = match inputs.root_angles {
            true => PrescribedDynamics::new,
            false => PrescribedDynamics::with_balanced_paths,
        };
        p.dynamics.function = Arc::new(make(base.system.clone()));
    }
    Ok(())
}

/// Coordinate and its rate, speed and its rate, of one mobility.
type Now = [f64; 4];

/// Prescribes coordinates and speeds of `count` mobilities from `u0` on.
fn prescribe(
    p: &mut Problem,
    n: usize,
    u0: usize,
    count: usize,
    at: impl Fn(f64) -> Vec<Now> + Send + Sync + 'static,
) {
    let at = Arc::new(at);
    for i in 0..count {
        let (value, speed) = (at.clone(), at.clone());
        let of_value = move |t: f64| {
            let [q, qdot, ..] = value(t)[i];
            [q, qdot]
        };
        let of_speed = move |t: f64| {
            let [.., u, udot] = speed(t)[i];
            [u, udot]
        };
        p.prescribed.push(PrescribedState { state: u0 + i, motion: Arc::new(of_value) });
        p.prescribed.push(PrescribedState { state: n + u0 + i, motion: Arc::new(of_speed) });
    }
}

/// Splines through the coordinates of a joint.
struct JointMotion {
    /// Whether its first three speeds are an angular velocity.
    angular: bool,
    splines: Vec<GcvSpline>,
}

impl JointMotion {
    fn at(&self, t: f64) -> Vec<Now> {
        let q: Vec<[f64; 3]> = self.splines.iter().map(|s| s.eval(t)).collect();
        let mut now: Vec<Now> = q.iter().map(|q| [q[0], q[1], q[1], q[2]]).collect();
        if self.angular {
            // Along the motion q + q̇ ε the angular velocity is u + u̇ ε.
            let along = |k: usize| {
                let x: [Dual<f64, 1>; 3] = std::array::from_fn(|i| Dual::new(q[i][k], [q[i][k + 1]]));
                Vec3::from_array(x)
            };
            let w = speeds_from_rates(along(0), along(1)).to_array();
            for (now, w) in now.iter_mut().zip(w) {
                (now[2], now[3]) = (w.v, w.d[0]);
            }
        }
        now
    }
}

/// The motion of a body that moves freely, by its pose.
fn free_motion(
    base: &ModelProblem,
    node: usize,
    motions: &[PrescribedCoordinate],
) -> Result<FreeMotion, FunctionError> {
    let mut body = FreeBody::new(&base.system, node);
    let u0 = body.first_mobility();
    let six: Vec<&PrescribedCoordinate> = (0..MOBILITIES)
        .filter_map(|i| motions.iter().find(|m| base.states[u0 + i].strip_suffix("/value") == Some(&m.path)))
        .collect();
    let (x, degree) = (&six[0].x, six[0].degree);
    let mut knots = SplineKnots::new(degree, x.clone());
    let at = |row: usize| -> [f64; MOBILITIES] { std::array::from_fn(|i| six[i].y[row]) };
    FreeMotion::new(&base.system, &mut body, (0..x.len()).map(at), |y| knots.interpolate(y))
}

/// Its coordinates and speeds at a time.
fn free_at(
    system: &System,
    body: &mut FreeBody,
    motion: &FreeMotion,
    near: &[GcvSpline],
    angular: bool,
    t: f64,
) -> Vec<Now> {
    let near: [f64; MOBILITIES] = std::array::from_fn(|i| near[i].eval(t)[0]);
    let q = motion.coordinates(system, body, t, &near);
    let rates = motion.rates(t);
    let u = body.speeds(system, &q, rates.V);
    let udot = body.accelerations(system, &q, &u, rates.A);
    let mut now: Vec<Now> = (0..MOBILITIES).map(|i| [q[i], u[i], u[i], udot[i]]).collect();
    if angular {
        let rate = angles_rate(vec3(q[0], q[1], q[2]), vec3(u[0], u[1], u[2])).to_array();
        now.iter_mut().zip(rate).for_each(|(now, rate)| now[1] = rate);
    }
    now
}

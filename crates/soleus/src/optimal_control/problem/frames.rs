//! Goals about frames, joints and steps.

use super::bounds::regex;
use super::outputs::{frame, reaction};
use super::references::{Given, absolute_names, naming_hint, process, spline};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::inputs::table::{Take, read_rows};
use crate::source::Source;
use soleus_control::Goal;
use soleus_control::goal::{self, FrameMotion};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::BodyFrame;
use soleus_io::study::{self, FrameTracking, GoalKind};
use soleus_math::table::Element;
use soleus_math::{Table, Vec3, vec3};
use soleus_model::id::{CoordinateId, JointId};
use soleus_model::joint::MotionType;
use std::path::Path;

/// Builds one of the goals about frames, joints and steps.
pub fn build(
    cx: &Context,
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    given: &Given,
    is_prescribed: bool,
) -> Result<Goal, Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let (name, weight, system) = (g.name.as_str(), g.weight, &base.system);
    match &g.kind {
        GoalKind::FrameTracking { what, .. } => tracking(cx, path, g, base, given, *what),
        GoalKind::JointReaction { joint, on_child, expressed_in, measures, weights } => {
            let j = base.model.joints.iter().position(|j| j.path == *joint || j.name == *joint);
            let j = j.ok_or_else(|| refuse(format!("no joint is called `{joint}`")))?;
            let axes = expressed_in.as_ref().map(|f| frame(base, f)).transpose().map_err(refuse)?;
            let r = reaction(base, JointId(j), *on_child, axes).map_err(refuse)?;
            let words = ["moment-x", "moment-y", "moment-z", "force-x", "force-y", "force-z"];
            if let Some(m) = measures.iter().find(|m| !words.contains(&m.as_str())) {
                return Err(refuse(format!("unknown reaction measure `{m}`")));
            }
            let of = |word: &str| match measures.is_empty() || measures.iter().any(|m| m == word) {
                true => weights.iter().find(|w| w.name == word).map_or(1.0, |w| w.weight),
                false => 0.0,
            };
            let make = if is_prescribed { goal::joint_reaction_of_motion } else { goal::joint_reaction };
            Ok(make(name, weight, system, r, words.map(of), heaviness(base)))
        }
        GoalKind::StepLengthAsymmetry { feet, forward, smoothing, target, stride } => {
            let [left, right] = feet;
            let feet = [frame(base, left).map_err(refuse)?, frame(base, right).map_err(refuse)?];
            if !(*stride > 0.0) {
                return Err(refuse(format!("`stride_length` must be above zero, found {stride}")));
            }
            let forward = direction(forward).map_err(refuse)?;
            Ok(goal::step_length_asymmetry(name, weight, system, feet, forward, *stride, *target, *smoothing))
        }
        GoalKind::GeneralizedForceTracking { .. } => generalized_forces(cx, path, g, base, given),
        _ => Err(refuse("not a goal on frames".to_string())),
    }
}

/// Weight of the model, N; its mass without gravity. Moco divides some goals by it.
pub fn heaviness(base: &ModelProblem) -> f64 {
    let gravity = base.model.gravity.norm();
    base.model.total_mass() * if gravity > 0.0 { gravity } else { 1.0 }
}

/// Direction of `positive-x` and similar names.
pub fn direction(word: &str) -> Result<Vec3<f64>, String> {
    let (sign, axis) = word.split_once('-').unwrap_or(("", word));
    let s = match sign {
        "positive" => 1.0,
        "negative" => -1.0,
        _ => return Err(format!("unknown direction `{word}`")),
    };
    match axis {
        "x" => Ok(vec3(s, 0.0, 0.0)),
        "y" => Ok(vec3(0.0, s, 0.0)),
        "z" => Ok(vec3(0.0, 0.0, s)),
        _ => Err(format!("unknown direction `{word}`")),
    }
}

fn tracking(
    cx: &Context,
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    given: &Given,
    what: FrameTracking,
) -> Result<Goal, Error> {
    let GoalKind::FrameTracking { states, file, frames, weights, .. } = &g.kind else {
        return Err(Error::content(path, g.line, &g.name, "not a frame-tracking goal", ""));
    };
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let element = match what {
        FrameTracking::Orientation => Element::Quaternion,
        _ => Element::Vec(3),
    };
    let named = || file.as_ref().map(|f| Source::File(beside(path, f)));
    let source = given.source(&g.name).cloned().or_else(named);
    let table = match source {
        Some(source) => {
            let table = read_rows(cx, &source, Take::Markers)?;
            let table = match table.element() {
                Element::Scalar if element == Element::Vec(3) => {
                    table.packed().map_err(|e| refuse(e.to_string()))?
                }
                _ => table,
            };
            if table.element() != element {
                return Err(refuse(format!("{} holds no {element:?}", source.path().display())));
            }
            table
        }
        None if states.file.is_some() => {
            if matches!(what, FrameTracking::Acceleration { .. }) {
                return Err(refuse("accelerations need a separate table".to_string()));
            }
            from_states(
                path,
                g,
                base,
                what,
                &absolute_names(process(cx, path, g.line, states, &base.model)?, &base.model),
                frames,
            )?
        }
        None => {
            let hint = naming_hint(path, &g.name, "TABLE.sto");
            let message = "there is nothing to track: neither states nor a table is given".to_string();
            return Err(Error::content(path, g.line, &g.name, message, &hint));
        }
    };
    let names = if frames.is_empty() { table.labels() } else { frames };
    let width = if element == Element::Quaternion { 4 } else { 3 };
    let mut list = Vec::new();
    for name in names {
        let i = table.index_of(name).ok_or_else(|| refuse(format!("the table has no frame `{name}`")))?;
        let mut functions = Vec::new();
        for k in 0..width {
            functions.push(spline(path, &table, &table.columns()[width * i + k])?);
        }
        let weight = weights.iter().find(|w| w.name == *name).map_or(1.0, |w| w.weight);
        list.push((frame(base, name).map_err(refuse)?, functions, weight));
    }
    let motion = match what {
        FrameTracking::Orientation => {
            let four = |(f, v, w): (BodyFrame, Vec<_>, f64)| Some((f, v.try_into().ok()?, w));
            let list = list.into_iter().filter_map(four).collect();
            return Ok(goal::orientation_tracking(&g.name, g.weight, &base.system, list));
        }
        FrameTracking::Translation => FrameMotion::Position,
        FrameTracking::AngularVelocity => FrameMotion::AngularVelocity,
        FrameTracking::Acceleration { gravity_offset: false, in_frames: false } => {
            FrameMotion::LinearAcceleration
        }
        FrameTracking::Acceleration { gravity_offset: true, in_frames: false } => {
            FrameMotion::AccelerationWithoutGravity
        }
        FrameTracking::Acceleration { gravity_offset: false, in_frames: true } => {
            FrameMotion::OwnAcceleration
        }
        FrameTracking::Acceleration { gravity_offset: true, in_frames: true } => {
            FrameMotion::ProperAcceleration
        }
    };
    let three = |(f, v, w): (BodyFrame, Vec<_>, f64)| Some((f, v.try_into().ok()?, w));
    let list = list.into_iter().filter_map(three).collect();
    Ok(goal::frame_tracking(&g.name, g.weight, &base.system, motion, list))
}

/// The motion of frames from a table of coordinates; without speeds in it, slopes of splines are taken.
fn from_states(
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    what: FrameTracking,
    states: &Table,
    frames: &[String],
) -> Result<Table, Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    if frames.is_empty() {
        return Err(refuse("`frame_paths` names no frame".to_string()));
    }
    let list: Vec<BodyFrame> =
        frames.iter().map(|f| frame(base, f)).collect::<Result<_, _>>().map_err(refuse)?;
    let n = base.num_coordinates();
    let mut splines = Vec::new();
    for name in &base.states[..n] {
        let column = states.column(name);
        splines.push(column.map(|c| spline(path, states, c)).transpose()?);
    }
    let (mut x, mut ws) = (base.system.default_state.clone(), base.system.workspace());
    let (element, width) = match what {
        FrameTracking::Orientation => (Element::Quaternion, 4),
        _ => (Element::Vec(3), 3),
    };
    let mut columns = vec![Vec::with_capacity(states.rows()); width * list.len()];
    for (row, &t) in states.times().iter().enumerate() {
        for i in 0..n {
            let at = |k: usize| states.column(&base.states[k]).map(|c| c[row]);
            x.q[i] = at(i).unwrap_or(x.q[i]);
            let slope = splines[i].as_ref().map_or(0.0, |f| f.eval1(t)[1]);
            x.u[i] = at(n + i).unwrap_or(slope);
        }
        base.system.compute_kinematics(&x, &mut ws);
        for (k, f) in list.iter().enumerate() {
            let X = ws.kin.view(t).pose(f);
            let own = &mut columns[width * k..width * (k + 1)];
            let values: Vec<f64> = match what {
                FrameTracking::Orientation => {
                    let mut q = X.R.to_quaternion().to_vec();
                    // q and −q turn alike; a spline wants the nearer one.
                    let last: f64 = own.iter().zip(&q).filter_map(|(c, q)| Some(c.last()? * q)).sum();
                    if last < 0.0 {
                        q.iter_mut().for_each(|q| *q = -*q);
                    }
                    q
                }
                FrameTracking::AngularVelocity => ws.kin.V_GB[f.body].w.to_array().to_vec(),
                _ => X.p.to_array().to_vec(),
            };
            own.iter_mut().zip(values).for_each(|(c, v)| c.push(v));
        }
    }
    Table::new(element, frames.to_vec(), states.times().to_vec(), columns).map_err(|e| refuse(e.to_string()))
}

fn generalized_forces(
    cx: &Context,
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    given: &Given,
) -> Result<Goal, Error> {
    let GoalKind::GeneralizedForceTracking {
        reference,
        forces,
        weights,
        allow_unused,
        normalize,
        ignore_constrained,
    } = &g.kind
    else {
        return Err(Error::content(path, g.line, &g.name, "no generalized forces", ""));
    };
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let table = given.table(cx, path, g.line, &g.name, reference, &base.model)?;
    let mut known: Vec<(String, usize)> = Vec::new();
    for (i, c) in base.model.coordinates.iter().enumerate() {
        let m = base.system.tree.mobility_of_coordinate[i];
        if m >= base.num_coordinates() || (*ignore_constrained && base.model.is_constrained(CoordinateId(i)))
        {
            continue;
        }
        let kind = if c.motion_type == MotionType::Rotational { "moment" } else { "force" };
        known.push((format!("{}_{kind}", c.name), m));
    }
    let names: Vec<String> = known.iter().map(|k| k.0.clone()).collect();
    let weights = super::goals::weighted(path, g, &names, weights)?;
    let mut list = Vec::new();
    for (label, column) in table.labels().iter().zip(table.columns()) {
        let Some(i) = names.iter().position(|n| n == label) else {
            if *allow_unused {
                continue;
            }
            return Err(refuse(format!(
                "the reference has a column `{label}`, which is not a generalized force to track"
            )));
        };
        let mut weight = weights[i].1;
        if *normalize {
            let peak = column.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            if !(peak > 1e-14) {
                return Err(refuse(format!("`{label}` is zero throughout and cannot be normalized")));
            }
            weight /= peak * peak;
        }
        if weight > 0.0 {
            list.push((known[i].1, spline(path, &table, column)?, weight));
        }
    }
    let mut applied = Vec::new();
    for pattern in forces {
        let pattern = regex(path, g.line, pattern)?;
        applied
            .extend((0..base.model.forces.len()).filter(|&i| pattern.is_match(&base.model.forces[i].path)));
    }
    applied.sort_unstable();
    applied.dedup();
    Ok(goal::generalized_force_tracking(&g.name, g.weight, &base.system, list, applied))
}

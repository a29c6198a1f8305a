//! Outputs of components as quantities of a problem.

use super::pair;
use crate::error::Error;
use soleus_control::Goal;
use soleus_control::goal::{
    self, FrameMotion, MuscleQuantity, Operation, Quantity, Reaction, Scalar, Shape, When,
};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Bounds, Mode, PointVariable};
use soleus_dynamics::constraint::Station;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_dynamics::{BodyFrame, Resolve};
use soleus_io::setup::moco::{MocoGoal, OutputSource, OutputUse};
use soleus_model::id::{FrameId, JointId};
use soleus_model::probe::{MetabolicMuscle, Probe, ProbeKind};
use std::path::Path;

/// The frame with that path, or the body or frame with that name.
pub fn frame(base: &ModelProblem, name: &str) -> Result<BodyFrame, String> {
    let frames = &base.model.frames;
    let i = frames.iter().position(|f| f.path == name).or_else(|| frames.iter().position(|f| f.name == name));
    let i = i.ok_or_else(|| format!("there is no frame `{name}`"))?;
    Ok(base.system.tree.frame(FrameId(i)))
}

/// Splits `/forceset/soleus_r|tendon_force`.
fn parts(path: &str) -> (String, &str) {
    let (component, output) = path.split_once('|').unwrap_or(("", path));
    (format!("/{}", component.trim_matches('/')), output)
}

/// What an output is; `Err` with words if there is none.
pub fn quantity(base: &ModelProblem, path: &str) -> Result<Quantity, String> {
    let (model, system) = (&base.model, &base.system);
    let n = base.num_coordinates();
    let (component, output) = parts(path);
    let level = |names: [&str; 3]| names.iter().position(|n| *n == output);
    let unknown = || format!("there is no output `{path}` that could be used");
    if component == "/" {
        if output == "kinetic_energy" {
            return Ok(Quantity::KineticEnergy);
        }
        return level(["com_position", "com_velocity", "com_acceleration"])
            .map(Quantity::MassCenter)
            .ok_or_else(unknown);
    }
    if let Some(c) = model.coordinates.iter().position(|c| c.path == component) {
        let m = system.tree.mobility_of_coordinate[c];
        let variable = match output {
            "value" => PointVariable::State(m),
            "speed" => PointVariable::State(n + m),
            "acceleration" => PointVariable::Rate(n + m),
            _ => return Err(unknown()),
        };
        return if m < n { Ok(Quantity::Variable(variable)) } else { Err(unknown()) };
    }
    if let Some(i) = model.markers.iter().position(|m| m.path == component) {
        let found = level(["location", "velocity", "acceleration"]);
        return found.map(|k| Quantity::Point(system.markers[i], k)).ok_or_else(unknown);
    }
    if let Some(j) = model.joints.iter().position(|j| j.path == component) {
        let on_child = match output {
            "reaction_on_child" => true,
            "reaction_on_parent" => false,
            _ => return Err(unknown()),
        };
        let ground = BodyFrame { body: 0, X_BF: soleus_math::Transform::identity() };
        return reaction(base, JointId(j), on_child, Some(ground)).map(Quantity::Reaction);
    }
    if let Some(p) = model.probes.iter().find(|p| p.path == component) {
        return match output {
            "total_metabolic_rate" | "probe_outputs" => metabolics(base, p).ok_or_else(unknown),
            _ => Err(unknown()),
        };
    }
    if let Ok(f) = frame(base, &component) {
        let motion = match output {
            "position" => FrameMotion::Position,
            "linear_velocity" => FrameMotion::LinearVelocity,
            "linear_acceleration" => FrameMotion::LinearAcceleration,
            "angular_velocity" => FrameMotion::AngularVelocity,
            "angular_acceleration" => FrameMotion::AngularAcceleration,
            "velocity" => FrameMotion::Velocity,
            "acceleration" => FrameMotion::Acceleration,
            _ => return Err(unknown()),
        };
        return Ok(Quantity::Frame(f, motion));
    }
    let owner = component.strip_suffix("/path").unwrap_or(&component);
    let i = model.forces.iter().position(|f| f.path == owner).ok_or_else(unknown)?;
    let has_path = system.forces[i].path.is_some();
    match output {
        "length" if has_path => Ok(Quantity::PathLength(i)),
        "lengthening_speed" if has_path => Ok(Quantity::PathSpeed(i)),
        "actuation" | "tension" => Ok(Quantity::Actuation(i)),
        "speed" => Ok(Quantity::ActuatorSpeed(i)),
        "power" => Ok(Quantity::ActuatorPower(i)),
        _ => MuscleQuantity::from_name(output).map(|q| Quantity::Muscle(i, q)).ok_or_else(unknown),
    }
}

/// The load of a joint, in the axes of a frame; without one, in those of the joint's own frame on that side.
pub fn reaction(
    base: &ModelProblem,
    joint: JointId,
    on_child: bool,
    axes: Option<BodyFrame>,
) -> Result<Reaction, String> {
    let (model, tree) = (&base.model, &base.system.tree);
    let mut nodes =
        (0..tree.nodes.len()).filter(|&i| tree.nodes[i].joint_id == Some(joint) && !tree.nodes[i].is_copy);
    let j = &model.joints[joint.0];
    let first =
        nodes.next().ok_or_else(|| format!("joint `{}` closes a loop and carries nothing", j.name))?;
    let last = nodes.next_back().unwrap_or(first);
    let own = tree.frame(if on_child { j.child } else { j.parent });
    let on_outer = on_child != tree.nodes[first].reversed;
    Ok(Reaction {
        node: if on_outer { last } else { first },
        sign: if on_outer { 1.0 } else { -1.0 },
        at: Station { body: own.body, p_BS: own.X_BF.p },
        axes: axes.unwrap_or(own),
    })
}

/// Muscles of a metabolic probe.
fn muscles(probe: &mut Probe) -> Option<&mut Vec<MetabolicMuscle>> {
    match &mut probe.kind {
        ProbeKind::Umberger2010(p) => Some(&mut p.muscles),
        ProbeKind::Bhargava2004(p) => Some(&mut p.muscles),
        ProbeKind::Bhargava2004Smoothed(p) => Some(&mut p.muscles),
        _ => None,
    }
}

fn metabolics(base: &ModelProblem, probe: &Probe) -> Option<Quantity> {
    let mut probe = probe.clone();
    let forces = muscles(&mut probe)?.iter().map(|m| m.muscle.0).collect();
    Some(Quantity::Metabolics(Box::new(MetabolicProbe::compile(&base.model, &probe)?), forces))
}

/// Metabolic power as a sum over muscles, so that each depends on little; the first brings the basal rate along.
fn metabolics_by_muscle(base: &ModelProblem, probe: &Probe) -> Option<Vec<Quantity>> {
    let mut probe = probe.clone();
    let all = std::mem::take(muscles(&mut probe)?);
    let mut list = Vec::new();
    for m in all {
        *muscles(&mut probe)? = vec![m];
        list.push(metabolics(base, &probe)?);
        match &mut probe.kind {
            ProbeKind::Umberger2010(p) => p.basal_rate_on = false,
            ProbeKind::Bhargava2004(p) => p.basal_rate_on = false,
            ProbeKind::Bhargava2004Smoothed(p) => p.basal_coefficient = 0.0,
            _ => {}
        }
    }
    Some(list)
}

/// The quantities of an output, and how they become one number.
pub fn scalar(
    base: &ModelProblem,
    o: &OutputSource,
    shape: Shape,
) -> Result<(Vec<Quantity>, Scalar), String> {
    let mut list = vec![quantity(base, &o.path)?];
    let operation = match (o.operation.as_deref(), &o.second_path) {
        (None, None) => None,
        (Some(word), Some(second)) => {
            list.push(quantity(base, second)?);
            Some(match word {
                "addition" => Operation::Addition,
                "subtraction" => Operation::Subtraction,
                "multiplication" => Operation::Multiplication,
                "division" => Operation::Division,
                other => return Err(format!("there is no operation `{other}` on outputs")),
            })
        }
        (Some(_), None) => return Err("an operation needs a second output".into()),
        (None, Some(_)) => return Err("a second output needs an operation".into()),
    };
    let len = list[0].len();
    if list.iter().any(|q| q.len() != len) {
        return Err(format!("`{}` and the second output are not of the same kind", o.path));
    }
    if o.index.is_some_and(|i| i >= len || len == 1) {
        return Err(format!("`{}` has no such component", o.path));
    }
    if !(o.exponent >= 1.0) {
        return Err(format!("the exponent must be at least 1, found {}", o.exponent));
    }
    Ok((list, Scalar { index: o.index, operation, exponent: o.exponent, shape }))
}

/// A goal about an output.
pub fn build(
    path: &Path,
    g: &MocoGoal,
    base: &ModelProblem,
    o: &OutputSource,
    of: &OutputUse,
) -> Result<Goal, Error> {
    let refuse = |message: String| Error::content(path, g.line, &g.name, message, "");
    let mode = match g.constraint {
        Some(true) => {
            Mode::Constraint { bounds: vec![g.bounds.first().map_or(Bounds::fixed(0.0), |b| pair(*b))] }
        }
        _ => Mode::Cost { weight: g.weight },
    };
    let shape = match of {
        OutputUse::Tracking(Some(f)) => Shape::Minus(f.clone()),
        OutputUse::Tracking(None) => return Err(refuse("there is no function to follow".to_string())),
        OutputUse::Extremum { maximum, smoothing } => {
            if !(0.2..=1.0).contains(smoothing) {
                return Err(refuse(format!("smoothing must lie between 0.2 and 1, found {smoothing}")));
            }
            Shape::Extremum { beta: if *maximum { 1.0 } else { -1.0 }, smoothing: *smoothing }
        }
        _ => Shape::Plain,
    };
    let (list, scalar) = scalar(base, o, shape).map_err(refuse)?;
    let when = match of {
        OutputUse::Periodicity => {
            return Ok(goal::output_periodicity(&g.name, mode, &base.system, list, scalar));
        }
        OutputUse::Initial => When::Initially,
        OutputUse::Final => When::Finally,
        _ => When::Always,
    };
    let alone = matches!(of, OutputUse::Integral) && scalar.exponent == 1.0 && scalar.operation.is_none();
    if let ([Quantity::Metabolics(..)], true) = (&list[..], alone) {
        let component = parts(&o.path).0;
        let probe = base.model.probes.iter().find(|p| p.path == component);
        if let Some(terms) = probe.and_then(|p| metabolics_by_muscle(base, p)) {
            return Ok(goal::output_sum(&g.name, mode, &base.system, terms));
        }
    }
    Ok(goal::output(&g.name, mode, &base.system, list, scalar, when))
}

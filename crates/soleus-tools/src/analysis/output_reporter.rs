//! `OutputReporter`: outputs of components by their paths.

use super::body_kinematics::{mass_center_motion, point_motion};
use super::joint_reaction::{JointReaction, ReactionChoice};
use super::probe_reporter::energy;
use super::{Analysis, AnalysisError, Moment, Output, Recorder};
use soleus_dynamics::System;
use soleus_dynamics::muscle::MuscleInfo;
use soleus_dynamics::system::Actor;
use soleus_math::table::Element;
use soleus_math::{SpatialVec, Transform, Vec3};
use soleus_model::Model;

/// What an output is.
#[derive(Clone, Copy)]
enum Quantity {
    Muscle(usize, fn(&MuscleInfo<f64>) -> f64),
    /// Value, speed, acceleration of the coordinate at a mobility.
    Coordinate(usize, usize),
    /// Position, velocity, acceleration of the model's mass centre.
    MassCenter(usize),
    /// Position, velocity, acceleration of the origin of a frame.
    Frame(usize, Transform<f64>, usize),
    /// Angular and linear velocity (1) or acceleration (2) of a frame.
    FrameMotion(usize, Transform<f64>, usize),
    /// Kinetic (0) or potential (1) energy.
    Energy(usize),
    /// A reaction, by its place among those that are computed.
    Reaction(usize),
    /// A path: its length (0) or lengthening speed (1).
    Path(usize, usize),
    /// Tension or actuation of a force.
    Actuation(usize),
}

/// An output of a muscle: its name and where it is found.
type MuscleOutput = (&'static str, fn(&MuscleInfo<f64>) -> f64);

/// Outputs of muscles by OpenSim's names.
const MUSCLE: [MuscleOutput; 33] = [
    ("excitation", |m| m.excitation),
    ("activation", |m| m.activation),
    ("fiber_length", |m| m.fiber_length),
    ("pennation_angle", |m| m.pennation_angle),
    ("cos_pennation_angle", |m| m.cos_pennation_angle),
    ("tendon_length", |m| m.tendon_length),
    ("normalized_fiber_length", |m| m.normalized_fiber_length),
    ("fiber_length_along_tendon", |m| m.fiber_length * m.cos_pennation_angle),
    ("tendon_strain", |m| m.tendon_strain),
    ("passive_force_multiplier", |m| m.passive_force_multiplier),
    ("active_force_length_multiplier", |m| m.active_force_length_multiplier),
    ("fiber_velocity", |m| m.fiber_velocity),
    ("normalized_fiber_velocity", |m| m.normalized_fiber_velocity),
    ("fiber_velocity_along_tendon", |m| m.fiber_velocity_along_tendon),
    ("tendon_velocity", |m| m.tendon_velocity),
    ("force_velocity_multiplier", |m| m.force_velocity_multiplier),
    ("pennation_angular_velocity", |m| m.pennation_angular_velocity),
    ("fiber_force", |m| m.fiber_force),
    ("fiber_force_along_tendon", |m| m.fiber_force_along_tendon),
    ("active_fiber_force", |m| m.active_fiber_force),
    ("passive_fiber_force", |m| m.passive_fiber_force),
    ("active_fiber_force_along_tendon", |m| m.active_fiber_force_along_tendon),
    ("passive_fiber_force_along_tendon", |m| m.passive_fiber_force_along_tendon),
    ("passive_fiber_elastic_force", |m| m.passive_fiber_elastic_force),
    ("passive_fiber_damping_force", |m| m.passive_fiber_damping_force),
    ("tendon_force", |m| m.tendon_force),
    ("fiber_stiffness", |m| m.fiber_stiffness),
    ("tendon_stiffness", |m| m.tendon_stiffness),
    ("muscle_stiffness", |m| m.muscle_stiffness),
    ("fiber_active_power", |m| m.fiber_active_power),
    ("fiber_passive_power", |m| m.fiber_passive_power),
    ("tendon_power", |m| m.tendon_power),
    ("muscle_power", |m| m.muscle_power),
];

/// Outputs by their paths, `forceset/soleus_r|fiber_length`: numbers, vectors and pairs of vectors in three tables.
pub struct OutputReporter {
    scalars: Vec<Quantity>,
    vectors: Vec<Quantity>,
    spatial: Vec<Quantity>,
    tables: [Recorder; 3],
    reactions: Option<JointReaction>,
    /// Unknown outputs.
    pub left_out: Vec<String>,
}

impl OutputReporter {
    /// The outputs with the given paths, relative to the model.
    pub fn new(model: &Model, system: &System, paths: &[String]) -> Result<Self, AnalysisError> {
        let (mut scalars, mut vectors, mut spatial) = (Vec::new(), Vec::new(), Vec::new());
        let mut labels: [Vec<String>; 3] = Default::default();
        let mut left_out = Vec::new();
        let mut choices = Vec::new();
        for path in paths {
            let (component, output) = path.split_once('|').unwrap_or(("", path));
            let component = format!("/{}", component.trim_start_matches('/'));
            let label = format!("{component}|{output}");
            match quantity(model, system, &component, output, &mut choices) {
                Some(q) => {
                    let (list, kind) = match q {
                        Quantity::MassCenter(_) | Quantity::Frame(..) => (&mut vectors, 1),
                        Quantity::FrameMotion(..) | Quantity::Reaction(_) => (&mut spatial, 2),
                        _ => (&mut scalars, 0),
                    };
                    list.push(q);
                    labels[kind].push(label);
                }
                None => left_out.push(path.clone()),
            }
        }
        let [a, b, c] = labels;
        let reactions = match choices.is_empty() {
            true => None,
            false => Some(JointReaction::new(model, system, &choices, None)?),
        };
        let tables = [
            Recorder::of(Element::Scalar, "", "", a),
            Recorder::of(Element::Vec(3), "", "", b),
            Recorder::of(Element::SpatialVec, "", "", c),
        ];
        Ok(OutputReporter { scalars, vectors, spatial, tables, reactions, left_out })
    }
}

/// What a path means.
fn quantity(
    model: &Model,
    system: &System,
    component: &str,
    output: &str,
    choices: &mut Vec<ReactionChoice>,
) -> Option<Quantity> {
    let level = |names: [&str; 3]| names.iter().position(|n| *n == output);
    if component == "/" {
        return match output {
            "kinetic_energy" => Some(Quantity::Energy(0)),
            "potential_energy" => Some(Quantity::Energy(1)),
            _ => level(["com_position", "com_velocity", "com_acceleration"]).map(Quantity::MassCenter),
        };
    }
    if let Some(c) = model.coordinates.iter().position(|c| c.path == component) {
        let mobility = system.tree.mobility_of_coordinate[c];
        return level(["value", "speed", "acceleration"]).map(|k| Quantity::Coordinate(mobility, k));
    }
    if let Some(j) = model.joints.iter().find(|j| j.path == component) {
        let on_child = match output {
            "reaction_on_child" => true,
            "reaction_on_parent" => false,
            _ => return None,
        };
        choices.push(ReactionChoice { joint: j.name.clone(), on_child, in_frame: "ground".to_string() });
        return Some(Quantity::Reaction(choices.len() - 1));
    }
    if let Some(f) = model.frames.iter().find(|f| f.path == component) {
        return match output {
            "velocity" => Some(Quantity::FrameMotion(f.body.0, f.X_BF, 1)),
            "acceleration" => Some(Quantity::FrameMotion(f.body.0, f.X_BF, 2)),
            _ => level(["position", "linear_velocity", "linear_acceleration"])
                .map(|k| Quantity::Frame(f.body.0, f.X_BF, k)),
        };
    }
    let owner = component.strip_suffix("/path").unwrap_or(component);
    let i = model.forces.iter().position(|f| f.path == owner)?;
    match (&system.forces[i].actor, output) {
        (_, "length") => Some(Quantity::Path(i, 0)),
        (_, "lengthening_speed") => Some(Quantity::Path(i, 1)),
        (_, "actuation" | "tension") => Some(Quantity::Actuation(i)),
        (Actor::Muscle(_), _) => {
            MUSCLE.iter().find(|(name, _)| *name == output).map(|(_, q)| Quantity::Muscle(i, *q))
        }
        _ => None,
    }
}

fn scalar(now: &Moment, q: &Quantity) -> f64 {
    match *q {
        Quantity::Muscle(i, quantity) => {
            let info = now.system.muscle_info(i, now.x, now.controls, now.ws);
            info.map_or(f64::NAN, |info| quantity(&info))
        }
        Quantity::Coordinate(m, k) => {
            [&now.x.q, &now.x.u, &now.ws.udot][k].get(m).copied().unwrap_or(f64::NAN)
        }
        Quantity::Energy(k) => energy(now.system, now)[k],
        Quantity::Path(i, 0) => now.ws.paths[i].length(),
        Quantity::Path(i, _) => now.ws.paths[i].speed(),
        Quantity::Actuation(i) => super::actuation::at_work(now, i, false)[0],
        _ => f64::NAN,
    }
}

fn vector(now: &Moment, q: &Quantity) -> Vec3<f64> {
    match *q {
        Quantity::MassCenter(k) => mass_center_motion(now.ws)[k],
        Quantity::Frame(body, X_BF, k) => point_motion(now.ws, now.system.tree.node_of_body[body], X_BF.p)[k],
        _ => Vec3::zero(),
    }
}

impl Analysis for OutputReporter {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let t = now.x.time;
        let reactions = match &mut self.reactions {
            Some(r) => r.reactions(now)?,
            None => Vec::new(),
        };
        let spatial = |q: &Quantity| match *q {
            Quantity::Reaction(i) => reactions.get(i).copied().unwrap_or_else(SpatialVec::zero),
            Quantity::FrameMotion(body, X_BF, k) => {
                let node = now.system.tree.node_of_body[body];
                let turn = if k == 1 { now.ws.kin.V_GB[node].w } else { now.ws.A_GB[node].w };
                SpatialVec::new(turn, point_motion(now.ws, node, X_BF.p)[k])
            }
            _ => SpatialVec::zero(),
        };
        self.tables[0].push(t, self.scalars.iter().map(|q| scalar(now, q)));
        self.tables[1].push(t, self.vectors.iter().flat_map(|q| vector(now, q).to_array()));
        let pairs = self.spatial.iter().map(spatial);
        self.tables[2].push(t, pairs.flat_map(|s| s.w.to_array().into_iter().chain(s.v.to_array())));
        Ok(())
    }

    fn warnings(&self) -> Vec<String> {
        self.left_out
            .iter()
            .map(|path| format!("output `{path}` does not exist or cannot be reported"))
            .collect()
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let names = ["Outputs", "OutputsVec3", "OutputsSpatialVec"];
        let mut list = Vec::new();
        for (name, recorder) in names.into_iter().zip(self.tables) {
            if recorder.width() > 0 {
                let mut table = recorder.table()?;
                table.in_degrees = None;
                list.push(Output { suffix: name.to_string(), table });
            }
        }
        Ok(list)
    }
}

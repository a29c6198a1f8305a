//! `soleus analyze`.

use super::plain::{Extra, Input, measured};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use soleus_io::setup::{AnalysisKind, AnalysisSetup, ContactSetup};
use soleus_model::{ForceKind, Model};
use std::path::PathBuf;

/// Friction coefficient of contacts in induced accelerations, as OpenSim's examples have it.
const FRICTION: f64 = 0.65;

/// Arguments of `soleus analyze`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    soleus analyze --model subject01.osim --motion walk.mot --analyses kinematics,body,muscle --out results\n  \
    soleus analyze --model subject01.osim --motion walk.mot --loads walk_grf.xml --reserves reserves.xml \\\n    \
    --analyses joint-reaction --forces walk_StaticOptimization_force.sto --out results\n\n\
    Tables are named DIR/MOTION_ANALYSIS_WHAT.sto, as OpenSim's AnalyzeTool names them. A setup file of that tool runs as it is\n\
    with `soleus run`.")]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// What to tell, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    analyses: Vec<Choice>,
    /// A point of a body to follow, its place in the body's frame in m; may be repeated
    #[arg(long, value_name = "NAME=BODY,X,Y,Z", value_parser = parse_point)]
    point: Vec<BodyPoint>,
    /// Controls over time; columns are named after actuators, by path or name
    #[arg(long, value_name = "CONTROLS.sto")]
    controls: Option<PathBuf>,
    /// Put the fibers of muscles in equilibrium with their tendons first
    #[arg(long)]
    equilibrate: bool,
    /// Joint reactions and induced accelerations: forces of the actuators, such as those of `soleus so`, in place of what
    /// their states say
    #[arg(long, value_name = "FORCES.sto")]
    forces: Option<PathBuf>,
    /// Joint reactions: on the child's body or on the parent's
    #[arg(long, default_value = "child", value_parser = ["child", "parent"])]
    on: String,
    /// Joint reactions: in the axes of this frame; child and parent are the bodies of the joint
    #[arg(long, default_value = "ground", value_name = "FRAME")]
    in_frame: String,
    /// Angles in rad instead of degrees
    #[arg(long)]
    radians: bool,
}

/// Analyses by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// Coordinates, speeds and accelerations
    Kinematics,
    /// Mass centres and orientations of bodies, their velocities and accelerations
    Body,
    /// Place, velocity and acceleration of points (--point)
    Point,
    /// Lengths, velocities, forces, powers, moment arms and moments of muscles
    Muscle,
    /// Forces and moments that joints carry
    JointReaction,
    /// Net moments of joints, and the power they deliver
    JointPower,
    /// What every force exerts
    Forces,
    /// Force, speed and power of actuators
    Actuation,
    /// What each force contributes to the accelerations; measured loads become contact constraints
    Induced,
    /// The states
    States,
    /// Metabolic power and other probes of the model
    Probes,
}

/// Runs `soleus analyze`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let extra = Extra { controls: a.controls.as_deref(), equilibrium: a.equilibrate };
    if a.analyses.contains(&Choice::Point) && a.point.is_empty() {
        let message = "no points are named".to_string();
        let hint = "name them with --point, such as --point heel=calcn_r,0,0,0";
        return Err(Failure::content(a.input.model(), 0, "", message, hint));
    }
    a.input.run(&extra, &|model| Ok(a.analyses.iter().flat_map(|c| setups(a, *c, model)).collect()))
}

/// A point of a body: `NAME=BODY,X,Y,Z`.
#[derive(Clone, Debug, PartialEq)]
struct BodyPoint {
    name: String,
    body: String,
    place: [f64; 3],
}

impl BodyPoint {
    fn kind(&self) -> AnalysisKind {
        AnalysisKind::PointKinematics {
            body: self.body.clone(),
            relative_to: None,
            point_name: self.name.clone(),
            point: self.place,
        }
    }
}

fn parse_point(text: &str) -> Result<BodyPoint, String> {
    let wanted = "write a name, a body and a place in it, m, such as heel=calcn_r,0,0,0";
    let (name, rest) = text.split_once('=').ok_or(wanted)?;
    let cells: Vec<&str> = rest.split(',').map(str::trim).collect();
    let [body, x, y, z] = cells[..] else { return Err(wanted.to_string()) };
    let number = |cell: &str| cell.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or(wanted);
    let place = [number(x)?, number(y)?, number(z)?];
    Ok(BodyPoint { name: name.trim().to_string(), body: body.to_string(), place })
}

fn setups(a: &Arguments, choice: Choice, model: &Model) -> Vec<AnalysisSetup> {
    let all = || vec!["all".to_string()];
    let (name, kind) = match choice {
        Choice::Kinematics => ("Kinematics", AnalysisKind::Kinematics { coordinates: all() }),
        Choice::Body => {
            ("BodyKinematics", AnalysisKind::BodyKinematics { bodies: all(), in_body_axes: false })
        }
        Choice::Point => {
            return a.point.iter().map(|p| named(a, "PointKinematics", p.kind())).collect();
        }
        Choice::Muscle => (
            "MuscleAnalysis",
            AnalysisKind::MuscleAnalysis { muscles: all(), coordinates: all(), compute_moments: true },
        ),
        Choice::JointReaction => (
            "JointReaction",
            AnalysisKind::JointReaction {
                forces_file: a.forces.as_ref().map(|f| f.display().to_string()),
                joints: all(),
                on_bodies: vec![a.on.clone()],
                in_frames: vec![a.in_frame.clone()],
            },
        ),
        Choice::JointPower => ("JointPower", AnalysisKind::JointPower),
        Choice::Forces => ("ForceReporter", AnalysisKind::ForceReporter { with_constraints: true }),
        Choice::Actuation => ("Actuation", AnalysisKind::Actuation),
        Choice::States => ("StatesReporter", AnalysisKind::StatesReporter),
        Choice::Probes => ("ProbeReporter", AnalysisKind::ProbeReporter),
        Choice::Induced => (
            "InducedAccelerations",
            AnalysisKind::InducedAccelerations {
                coordinates: all(),
                bodies: vec!["center_of_mass".to_string()],
                contacts: contacts(model),
                force_threshold: 6.0,
                potentials_only: false,
                report_reactions: true,
                forces_file: a.forces.as_ref().map(|f| f.display().to_string()),
            },
        ),
    };
    vec![named(a, name, kind)]
}

fn named(a: &Arguments, name: &str, kind: AnalysisKind) -> AnalysisSetup {
    AnalysisSetup {
        name: name.to_string(),
        line: 0,
        on: true,
        step_interval: 1,
        in_degrees: !a.radians,
        kind,
    }
}

/// A contact on ground for each measured force.
pub fn contacts(model: &Model) -> Vec<ContactSetup> {
    let contact = |f: &soleus_model::Force| {
        let ForceKind::ExternalForce(e) = &f.kind else { return None };
        let body = &model.bodies[model.frames[e.applied_to_body.0].body.0].name;
        Some(ContactSetup {
            name: format!("{body}_contact"),
            line: 0,
            class: "RollingOnSurfaceConstraint".to_string(),
            rolling_body: body.clone(),
            surface_body: "ground".to_string(),
            normal: [0.0, 1.0, 0.0],
            friction: FRICTION,
            radius: 0.01,
        })
    };
    measured(model).filter_map(contact).collect()
}

//! `soleus analyze`.

pub mod input;

use crate::door::{enter, finish};
use clap::{Args, ValueEnum};
use input::Input;
use soleus::analysis::{AnalysisKind, AnalysisSetup, standard};
use soleus::{Analyze, Error};
use std::path::PathBuf;

// Arguments of `soleus analyze`.
#[derive(Args)]
#[command(after_help = include_str!("../help/analyze.txt"))]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Analyses to run, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', required = true)]
    analyses: Vec<Choice>,
    /// A point of a body to report, with its location in the body frame, m; may be repeated
    #[arg(long, value_name = "NAME=BODY,X,Y,Z", value_parser = parse_point)]
    point: Vec<BodyPoint>,
    /// Controls over time; columns named after actuators (path or name)
    #[arg(long, value_name = "CONTROLS.sto")]
    controls: Option<PathBuf>,
    /// Put the fibers of muscles in equilibrium with their tendons first
    #[arg(long)]
    equilibrate: bool,
    /// Joint reactions and induced accelerations: actuator forces over time, such as those of
    /// `soleus so`, instead of those computed from the states
    #[arg(long, value_name = "FORCES.sto")]
    forces: Option<PathBuf>,
    /// Joint reactions: on the child or on the parent body
    #[arg(long, default_value = "child", value_parser = ["child", "parent"])]
    on: String,
    /// Joint reactions: frame in which they are expressed; child and parent are the bodies of the joint
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
    /// Position, velocity and acceleration of points (--point)
    Point,
    /// Lengths, velocities, forces, powers, moment arms and moments of muscles
    Muscle,
    /// Joint reaction forces and moments
    JointReaction,
    /// Net joint moments and powers
    JointPower,
    /// Values of all forces
    Forces,
    /// Force, speed and power of actuators
    Actuation,
    /// Contribution of each force to the accelerations; measured loads become contact constraints
    Induced,
    /// The states
    States,
    /// Metabolic power and other probes of the model
    Probes,
}

/// Runs `soleus analyze`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    if a.analyses.contains(&Choice::Point) && a.point.is_empty() {
        let message = "no points are given".to_string();
        let hint = "give them with --point, such as --point heel=calcn_r,0,0,0";
        return Err(Error::content(&a.input.model, 0, "", message, hint));
    }
    let i = &a.input;
    let request = Analyze {
        model: i.model.clone().into(),
        motion: i.motion.clone().into(),
        cutoff_hz: i.cutoff_hz,
        force_sets: i.force_sets(),
        loads: i.loads()?,
        residuals: i.residuals.clone(),
        reserves: i.reserves(),
        controls: a.controls.clone().map(Into::into),
        equilibrate: a.equilibrate,
        from: i.span.from,
        to: i.span.to,
        analyses: a.analyses.iter().flat_map(|c| setups(a, *c)).collect(),
        output: i.output(),
        opensim_faults: i.opensim_faults,
        root_angles: i.root_angles,
        ..Analyze::default()
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}

/// A point of a body: `NAME=BODY,X,Y,Z`.
#[derive(Clone, Debug, PartialEq)]
struct BodyPoint {
    name: String,
    body: String,
    place: [f64; 3],
}

impl BodyPoint {
    fn setup(&self) -> AnalysisSetup {
        let kind = AnalysisKind::PointKinematics {
            body: self.body.clone(),
            relative_to: None,
            point_name: self.name.clone(),
            point: self.place,
        };
        let name = "PointKinematics".to_string();
        AnalysisSetup { name, line: 0, on: true, step_interval: 1, in_degrees: true, kind }
    }
}

fn parse_point(text: &str) -> Result<BodyPoint, String> {
    let wanted = "write a name, a body and a location in it, m, such as heel=calcn_r,0,0,0";
    let (name, rest) = text.split_once('=').ok_or(wanted)?;
    let cells: Vec<&str> = rest.split(',').map(str::trim).collect();
    let [body, x, y, z] = cells[..] else { return Err(wanted.to_string()) };
    let number = |cell: &str| cell.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or(wanted);
    let place = [number(x)?, number(y)?, number(z)?];
    Ok(BodyPoint { name: name.trim().to_string(), body: body.to_string(), place })
}

/// The analyses of a choice, as the arguments want them.
fn setups(a: &Arguments, choice: Choice) -> Vec<AnalysisSetup> {
    let forces = || a.forces.as_ref().map(|f| f.display().to_string());
    let mut list: Vec<AnalysisSetup> = match choice {
        Choice::Point => a.point.iter().map(BodyPoint::setup).collect(),
        _ => choice.to_possible_value().and_then(|v| standard(v.get_name())).into_iter().collect(),
    };
    for s in &mut list {
        s.step_interval = a.input.every;
        s.in_degrees = !a.radians;
        match &mut s.kind {
            AnalysisKind::JointReaction { forces_file, on_bodies, in_frames, .. } => {
                *forces_file = forces();
                *on_bodies = vec![a.on.clone()];
                *in_frames = vec![a.in_frame.clone()];
            }
            AnalysisKind::InducedAccelerations { forces_file, .. } => *forces_file = forces(),
            _ => {}
        }
    }
    list
}

//! `soleus ik`.

use crate::door::{Span, enter, finish};
use clap::Args;
use soleus::inverse_kinematics::KinematicsOutput;
use soleus::{Context, Error, InverseKinematics, SensorKinematics};
use std::path::{Path, PathBuf};

// Arguments of `soleus ik`.
#[derive(Args)]
#[command(after_help = include_str!("../help/ik.txt"))]
pub struct Arguments {
    /// Model file (.osim, any version) with markers
    #[arg(long)]
    model: PathBuf,
    /// Marker file (.trc, .sto or .c3d)
    #[arg(long, required_unless_present_any = ["orientations", "stream"])]
    markers: Option<PathBuf>,
    /// Orientations of inertial sensors instead of markers (.sto with quaternions, one column per frame of the model; `-` with --stream: stdin)
    #[arg(long, value_name = "IMUS.sto", conflicts_with_all = ["markers", "tasks"])]
    orientations: Option<PathBuf>,
    /// Rotation from the sensors' world to ground: angles about the fixed axes x, y, z, in degrees
    #[arg(long, value_name = "X,Y,Z", value_parser = parse_three, allow_hyphen_values = true, requires = "orientations")]
    sensor_to_ground_deg: Option<[f64; 3]>,
    /// Marker weights: an XML file with an IKTaskSet, or a setup file of the InverseKinematicsTool [default: 1 for all]
    #[arg(long, value_name = "TASKS.xml")]
    tasks: Option<PathBuf>,
    #[command(flatten)]
    span: Span,
    /// Split the frames into chunks that are solved in parallel; angles change in their last digits only
    #[arg(long, default_value_t = 1)]
    chunks: usize,
    /// Threads for the chunks; results do not depend on it [default: one per core]
    #[arg(long)]
    threads: Option<usize>,
    /// Motion file to write (.mot, .csv or .parquet; degrees)
    #[arg(long, value_name = "OUT.mot", required_unless_present = "stream")]
    out: Option<PathBuf>,
    /// File for the marker errors (m), or sensor errors (rad), frame by frame (.sto)
    #[arg(long, value_name = "ERRORS.sto")]
    errors: Option<PathBuf>,
    /// Stream: read frames from stdin, or from the file of markers or orientations, and write each pose to stdout at once
    #[arg(long, conflicts_with_all = ["from", "to", "chunks", "threads", "out", "errors"])]
    stream: bool,
}

/// Three numbers with commas between.
fn parse_three(text: &str) -> Result<[f64; 3], String> {
    let list: Result<Vec<f64>, _> = text.split(',').map(|n| n.trim().parse::<f64>()).collect();
    let list = list.map_err(|e| e.to_string())?;
    <[f64; 3]>::try_from(list).map_err(|l| format!("expected three angles, found {}", l.len()))
}

/// Runs `soleus ik`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    enter(a.threads, false, |cx| match &a.orientations {
        Some(file) => follow_sensors(cx, a, file),
        None => follow_markers(cx, a),
    })
}

impl Arguments {
    fn output(&self) -> KinematicsOutput {
        KinematicsOutput {
            motion: self.out.clone(),
            errors: self.errors.clone(),
            ..KinematicsOutput::default()
        }
    }
}

fn follow_markers(cx: &Context, a: &Arguments) -> Result<(), Error> {
    let request = InverseKinematics {
        model: a.model.clone().into(),
        markers: a.markers.clone().unwrap_or_default().into(),
        task_file: a.tasks.clone(),
        from: a.span.from,
        to: a.span.to,
        chunks: a.chunks,
        output: a.output(),
        ..InverseKinematics::default()
    };
    if a.stream {
        let lines = a.markers.as_deref().is_none_or(|m| m == Path::new("-"));
        let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
        return request.stream(cx, lines.then_some(&mut stdin), &mut stdout);
    }
    finish(cx, request.run(cx))
}

fn follow_sensors(cx: &Context, a: &Arguments, file: &Path) -> Result<(), Error> {
    let request = SensorKinematics {
        model: a.model.clone().into(),
        orientations: file.into(),
        sensor_to_ground: a.sensor_to_ground_deg.unwrap_or_default().map(f64::to_radians),
        from: a.span.from,
        to: a.span.to,
        output: a.output(),
        ..SensorKinematics::default()
    };
    if a.stream {
        let lines = file == Path::new("-");
        let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
        return request.stream(cx, lines.then_some(&mut stdin), &mut stdout);
    }
    finish(cx, request.run(cx))
}

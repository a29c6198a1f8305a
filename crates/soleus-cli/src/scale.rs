//! `soleus scale`.

use crate::door::{enter, finish};
use clap::Args;
use soleus::Error;
use soleus::scaling::{FactorSettings, ManualScale, PlacingSettings, Scaling, ScalingOutput};
use std::path::PathBuf;

// Arguments of `soleus scale`.
#[derive(Args)]
#[command(after_help = include_str!("../help/scale.txt"))]
pub struct Arguments {
    /// Generic model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Markers of a static trial (.trc, .sto or .c3d)
    #[arg(long = "static", alias = "markers", value_name = "STATIC.trc")]
    markers: Option<PathBuf>,
    /// Height of the subject, m: sets the size of segments that the markers do not determine
    #[arg(long, requires = "markers")]
    height: Option<f64>,
    /// Map a marker name of the static trial to one of the model; may be repeated
    #[arg(long, value_name = "LAB=MODEL", value_parser = parse_pair, value_delimiter = ',')]
    map: Vec<[String; 2]>,
    /// Marker set to add to the model first (XML)
    #[arg(long, value_name = "MARKERS.xml")]
    marker_set: Option<PathBuf>,
    /// Marker pairs that determine the factors (ScaleTool setup, or XML file with a MeasurementSet)
    #[arg(long, value_name = "MEASUREMENTS.xml", requires = "markers")]
    measurements: Option<PathBuf>,
    /// Scale factors of a body: one, or three for x, y, z
    #[arg(long, value_name = "BODY=X,Y,Z", value_parser = parse_factor)]
    factor: Vec<(String, [f64; 3])>,
    /// Mass of the subject, kg [default: follows from the factors]
    #[arg(long)]
    mass: Option<f64>,
    /// Keep the mass distribution of the generic model
    #[arg(long)]
    preserve_mass_distribution: bool,
    /// Start of the static trial to use, s
    #[arg(long, allow_negative_numbers = true)]
    from: Option<f64>,
    /// End of the static trial to use, s
    #[arg(long, allow_negative_numbers = true)]
    to: Option<f64>,
    /// Weights for the static pose (XML file with an IKTaskSet) [default: 1 for all markers]
    #[arg(long, value_name = "TASKS.xml", requires = "markers")]
    tasks: Option<PathBuf>,
    /// Do not move markers to their measured positions
    #[arg(long)]
    keep_markers: bool,
    /// Model file to write (.osim)
    #[arg(long, value_name = "OUT.osim")]
    out: PathBuf,
    /// File for the static pose (.mot, all states, rad and m)
    #[arg(long, value_name = "POSE.mot", requires = "markers")]
    pose: Option<PathBuf>,
    /// File for the factors (XML, a ScaleSet)
    #[arg(long, value_name = "FACTORS.xml")]
    factors_out: Option<PathBuf>,
    /// Leave unscaled what OpenSim 4.6 does not scale, to compare with it
    #[arg(long)]
    opensim_faults: bool,
}

/// `BODY=X,Y,Z` or `BODY=S`.
fn parse_factor(text: &str) -> Result<(String, [f64; 3]), String> {
    let (body, numbers) = text.split_once('=').ok_or("write BODY=X,Y,Z")?;
    let list: Result<Vec<f64>, _> = numbers.split(',').map(|n| n.trim().parse::<f64>()).collect();
    match list.map_err(|e| e.to_string())?.as_slice() {
        [s] => Ok((body.to_string(), [*s; 3])),
        [x, y, z] => Ok((body.to_string(), [*x, *y, *z])),
        other => Err(format!("expected one factor or three, found {}", other.len())),
    }
}

/// `LAB=MODEL`.
pub fn parse_pair(text: &str) -> Result<[String; 2], String> {
    let (lab, model) = text.split_once('=').ok_or("write LAB=MODEL, such as R.Knee=RLFC")?;
    Ok([lab.trim().to_string(), model.trim().to_string()])
}

/// Runs `soleus scale`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    enter(None, false, |cx| finish(cx, a.request().run(cx)))
}

impl Arguments {
    fn request(&self) -> Scaling {
        let manual = self.factor.iter().map(|(segment, scales)| ManualScale {
            segment: segment.clone(),
            apply: true,
            scales: *scales,
        });
        let usual = match &self.markers {
            Some(markers) => {
                Scaling::of_static_trial(self.model.clone(), markers.clone()).between(self.from, self.to)
            }
            None => Scaling::default(),
        };
        let factors = FactorSettings {
            measurement_file: self.measurements.clone(),
            manual: manual.collect(),
            preserve_mass_distribution: self.preserve_mass_distribution,
            ..usual.factors.unwrap_or_default()
        };
        let placing = usual.placing.filter(|_| !self.keep_markers);
        Scaling {
            model: self.model.clone().into(),
            name: self.out.file_stem().map_or(String::new(), |n| n.to_string_lossy().into_owned()),
            marker_set: self.marker_set.clone(),
            mass: self.mass,
            height: self.height,
            map: self.map.clone(),
            factors: Some(factors),
            placing: placing.map(|p| PlacingSettings { task_file: self.tasks.clone(), ..p }),
            opensim_faults: self.opensim_faults,
            output: ScalingOutput {
                factors: self.factors_out.clone(),
                model: Some(self.out.clone()),
                pose: self.pose.clone(),
                ..ScalingOutput::default()
            },
            ..Scaling::default()
        }
    }
}

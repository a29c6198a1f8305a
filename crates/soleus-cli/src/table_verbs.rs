//! `soleus convert`, `plot` and `view`: verbs about tables and motions.

use crate::door::{enter, finish};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use soleus::conversion::Rotate;
use soleus::inputs::table::Take;
use soleus::viewing::Camera;
use soleus::{AssignLoads, Convert, Error, PlotTable, Synthesize, View};
use std::path::PathBuf;

/// What to take out of a C3D file.
fn takes() -> impl TypedValueParser<Value = Take> {
    PossibleValuesParser::new(["markers", "forces", "analog"]).try_map(|word| word.parse::<Take>())
}

// What to convert, and how.
#[derive(Args)]
#[command(after_help = include_str!("../help/convert.txt"))]
pub struct ConvertTable {
    /// File to read: .sto, .mot, .trc, .csv, .c3d or .parquet
    input: PathBuf,
    /// File to write: .sto, .mot, .trc, .csv or .parquet
    output: PathBuf,
    /// What to read from a .c3d file [default: markers for .trc, forces for the others]
    #[arg(long, value_parser = takes())]
    take: Option<Take>,
    /// Rotate all vectors about an axis of the lab, degrees; may be repeated. `auto`: to y up and walking direction x
    #[arg(long, value_name = "AXIS:DEG|auto")]
    rotate: Vec<Rotate>,
    /// Fill gaps of up to this many rows
    #[arg(long, value_name = "ROWS")]
    fill_gaps: Option<usize>,
    /// Unit of length of the input, if the file does not state it (.csv)
    #[arg(long, value_name = "UNIT")]
    from_units: Option<String>,
    /// The input angles are in degrees, if the file does not state it (.csv)
    #[arg(long)]
    degrees: bool,
    /// Unit of length of the output: m, cm, mm, in, …
    #[arg(long, value_name = "UNIT")]
    units: Option<String>,
    /// Resample to this many rows per second by quintic splines
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Low-pass filter: third-order Butterworth, zero phase
    #[arg(long = "cutoff-hz", alias = "lowpass-hz", value_name = "HZ")]
    lowpass_hz: Option<f64>,
    /// Set ground reactions of a .c3d file to 0 where the normal force is below this
    #[arg(long, value_name = "N", default_value_t = 0.0)]
    force_threshold_n: f64,
    /// Write .sto and .mot with 8 decimals, as OpenSim does [default: full precision]
    #[arg(long)]
    fixed: bool,
}

impl ConvertTable {
    /// Runs `soleus convert`.
    pub fn run(self) -> Result<(), Error> {
        let request = Convert {
            input: self.input.into(),
            output: Some(self.output),
            take: self.take,
            turn_laboratory: self.rotate.iter().any(|r| matches!(r, Rotate::Auto)),
            rotate: self.rotate.into_iter().filter_map(Rotate::turn).collect(),
            fill_gaps: self.fill_gaps,
            from_units: self.from_units,
            degrees: self.degrees,
            units: self.units,
            rate: self.rate,
            lowpass_hz: self.lowpass_hz,
            force_threshold_n: self.force_threshold_n,
            fixed_digits: self.fixed,
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus loads`.
#[derive(Args)]
#[command(after_help = include_str!("../help/loads.txt"))]
pub struct Plates {
    /// Model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Coordinates over time (.mot, .sto)
    #[arg(long)]
    motion: PathBuf,
    /// Force plates (.mot, .sto, .csv, .parquet, .c3d)
    #[arg(long, value_name = "GRF.mot")]
    loads: PathBuf,
    /// ExternalLoads file to write
    #[arg(long, value_name = "LOADS.xml")]
    out: PathBuf,
}

impl Plates {
    /// Runs `soleus loads`.
    pub fn run(self) -> Result<(), Error> {
        let request = AssignLoads {
            model: self.model.into(),
            motion: self.motion.into(),
            loads: self.loads.into(),
            output: Some(self.out),
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus synthesize`.
#[derive(Args)]
#[command(after_help = include_str!("../help/synthesize.txt"))]
pub struct Laboratory {
    /// Model of the subject (.osim) with markers
    #[arg(long)]
    model: PathBuf,
    /// States over time (.sto, .mot); ground forces need speeds
    #[arg(long)]
    motion: PathBuf,
    /// Repeat the motion this many times
    #[arg(long, default_value_t = 1)]
    cycles: usize,
    /// Sampling rate of markers and sensors, Hz; force plates are sampled ten times as often
    #[arg(long, value_name = "HZ", default_value_t = 100.0)]
    rate: f64,
    /// Standard deviation of marker noise, mm
    #[arg(long, default_value_t = 0.0)]
    noise_mm: f64,
    /// Standard deviation of sensor noise, degrees
    #[arg(long, default_value_t = 0.0)]
    noise_deg: f64,
    /// Random seed of noise and sensor placement
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Name of the trial
    #[arg(long, default_value = "walk")]
    name: String,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Laboratory {
    /// Runs `soleus synthesize`.
    pub fn run(self) -> Result<(), Error> {
        let Laboratory { model, motion, cycles, rate, noise_mm, noise_deg, seed, name, out } = self;
        let (model, motion, output) = (model.into(), motion.into(), Some(out));
        let request = Synthesize { model, motion, cycles, rate, noise_mm, noise_deg, seed, name, output };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// What to draw.
#[derive(Args)]
#[command(after_help = include_str!("../help/plot.txt"))]
pub struct Plot {
    /// File to read: .sto, .mot, .trc, .csv, .parquet or .c3d
    file: PathBuf,
    /// Second file: columns with the same names are drawn dotted, and the differences are printed
    beside: Option<PathBuf>,
    /// Columns by name, separated by commas; `*` is a wildcard. Marker columns end in `_1`, `_2`, `_3`
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    columns: Vec<String>,
    /// Picture to write: PNG if its name ends in .png, otherwise SVG; `-` for stdout
    #[arg(long, value_name = "OUT.svg|OUT.png")]
    out: PathBuf,
    /// What to read from a .c3d file: markers, forces (N, m, N m) or analog channels
    #[arg(long, value_parser = takes(), default_value = "markers")]
    take: Take,
}

impl Plot {
    /// Runs `soleus plot`.
    pub fn run(self) -> Result<(), Error> {
        let request = PlotTable {
            table: self.file.into(),
            beside: self.beside.map(Into::into),
            columns: self.columns,
            take: self.take,
            output: Some(self.out),
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus view`.
#[derive(Args)]
#[command(after_help = include_str!("../help/view.txt"))]
pub struct ViewModel {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Motion: coordinates or states over time (.mot, .sto, .csv) [default: the model's default pose]
    motion: Option<PathBuf>,
    /// HTML page to write; `-` for stdout [default: name of the motion or model with .html, unless --picture is given]
    #[arg(long, value_name = "PAGE.html")]
    out: Option<PathBuf>,
    /// Picture of one frame to write: PNG if its name ends in .png, otherwise SVG; `-` for stdout
    #[arg(long, visible_alias = "svg", value_name = "FRAME.svg|FRAME.png")]
    picture: Option<PathBuf>,
    /// Time of the picture, s [default: first frame]
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Measured loads to draw as arrows: force plates or an ExternalLoads file
    #[arg(long, value_name = "GRF.mot|LOADS.xml")]
    loads: Option<PathBuf>,
    /// Muscle activations over time, shown as colours [default: from the motion, if present]
    #[arg(long, value_name = "FILE.sto")]
    activations: Option<PathBuf>,
    /// Draw wrap objects in the picture (the page has a switch)
    #[arg(long)]
    wraps: bool,
    /// Folder with the mesh files of the model [default: next to the model, and where OpenSim is installed]
    #[arg(long, value_name = "DIR")]
    geometry: Option<PathBuf>,
    /// Maximum number of frames per second of motion
    #[arg(long, value_name = "HZ", default_value_t = View::default().frame_rate)]
    frame_rate: f64,
    /// View direction of the picture: azimuth and elevation, degrees; `0,0` is the right side
    #[arg(long = "camera", alias = "from", value_name = "YAW,PITCH", allow_hyphen_values = true, default_value_t = Camera::default())]
    from: Camera,
}

impl ViewModel {
    /// Runs `soleus view`.
    pub fn run(self) -> Result<(), Error> {
        let page = match (self.out, &self.picture) {
            (Some(out), _) => Some(out),
            (None, Some(_)) => None,
            (None, None) => {
                let name = self.motion.as_ref().unwrap_or(&self.model).with_extension("html");
                Some(PathBuf::from(name.file_name().unwrap_or_default()))
            }
        };
        let request = View {
            model: self.model.into(),
            motion: self.motion.map(Into::into),
            page,
            picture: self.picture,
            time: self.time,
            loads: self.loads,
            activations: self.activations.map(Into::into),
            wraps: self.wraps,
            geometry: self.geometry,
            frame_rate: self.frame_rate,
            yaw_deg: self.from.yaw_deg,
            pitch_deg: self.from.pitch_deg,
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

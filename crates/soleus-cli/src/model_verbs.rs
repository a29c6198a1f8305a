//! `soleus info`, `eval`, `upgrade`, `equilibrium`, `jacobian` and `fit-paths`: verbs about a model.

use crate::door::{enter, finish, print};
use clap::Args;
use soleus::path_fitting::FitOptions;
use soleus::text::printable;
use soleus::{
    Equilibrium, Error, Evaluate, FileInfo, FitPaths, Generate, Jacobians, SourceLanguage, Upgrade,
};
use std::fmt::Write as _;
use std::path::PathBuf;

// Arguments of `soleus info`.
#[derive(Args)]
#[command(after_help = include_str!("../help/info.txt"))]
pub struct Info {
    /// Any file that a command reads: model, setup, motion, markers, C3D, study, pipeline, mesh
    file: PathBuf,
    /// Write JSON to stdout instead of a table
    #[arg(long)]
    json: bool,
}

impl Info {
    /// Runs `soleus info`.
    pub fn run(self) -> Result<(), Error> {
        let request = FileInfo { file: self.file, output: Some("-".into()), as_json: self.json };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus eval`.
#[derive(Args)]
#[command(after_help = include_str!("../help/eval.txt"))]
pub struct Eval {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// JSON file with the states
    #[arg(long, value_name = "IN.json")]
    states: PathBuf,
    /// JSON file to write; `-` for stdout
    #[arg(long, value_name = "OUT.json")]
    out: PathBuf,
    /// Put the fibers of all muscles in equilibrium with their tendons first
    #[arg(long)]
    equilibrate: bool,
    /// Reproduce known errors of OpenSim 4.6, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

impl Eval {
    /// Runs `soleus eval`.
    pub fn run(self) -> Result<(), Error> {
        let request = Evaluate {
            model: self.model.into(),
            states: self.states.into(),
            equilibrate: self.equilibrate,
            opensim_faults: self.opensim_faults,
            output: Some(self.out),
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus upgrade`.
#[derive(Args)]
#[command(after_help = include_str!("../help/upgrade.txt"))]
pub struct UpgradeFile {
    /// Model or setup file
    old: PathBuf,
    /// File to write; `-` for stdout
    #[arg(long, value_name = "NEW.osim")]
    out: PathBuf,
}

impl UpgradeFile {
    /// Runs `soleus upgrade`.
    pub fn run(self) -> Result<(), Error> {
        let request = Upgrade { file: self.old, output: Some(self.out) };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// What `soleus equilibrium` is told.
#[derive(Args)]
#[command(after_help = include_str!("../help/equilibrium.txt"))]
pub struct Rest {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Excitation of every muscle [default: from the model's controllers at the initial time]
    #[arg(long, visible_alias = "activation", value_name = "VALUE")]
    excitation: Option<f64>,
    /// Initial state of the search: the first row of a table [default: the model's default pose]
    #[arg(long, value_name = "STATES.sto")]
    initial: Option<PathBuf>,
    /// Table to write (one row); `-` for stdout
    #[arg(long, value_name = "FILE.sto")]
    out: Option<PathBuf>,
    /// Print the eigenvalues of the linearised model, 1/s: real and imaginary parts
    #[arg(long)]
    eigenvalues: bool,
    /// Tolerance: largest unbalanced force or moment, N or N m
    #[arg(long, default_value_t = Equilibrium::default().tolerance)]
    tolerance: f64,
}

impl Rest {
    /// Runs `soleus equilibrium`.
    pub fn run(self) -> Result<(), Error> {
        let request = Equilibrium {
            model: self.model.into(),
            excitation: self.excitation,
            initial: self.initial.map(Into::into),
            eigenvalues: self.eigenvalues,
            tolerance: self.tolerance,
            output: self.out,
        };
        enter(None, false, |cx| {
            let found = request.run(cx)?;
            let mut text = String::new();
            for v in found.eigenvalues.iter().flatten() {
                let _ = writeln!(text, "{:e}\t{:e}", v.re, v.im);
            }
            print(cx, &text)?;
            finish(cx, Ok(found))
        })
    }
}

// What `soleus jacobian` is told.
#[derive(Args)]
#[command(after_help = include_str!("../help/jacobian.txt"))]
pub struct Jacobian {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// JSON file with the states [default: the model's default state]
    #[arg(long, value_name = "IN.json")]
    states: Option<PathBuf>,
    /// JSON file to write; `-` for stdout
    #[arg(long, value_name = "OUT.json", required_unless_present_any = ["plot", "parameters"])]
    out: Option<PathBuf>,
    /// Model parameters to differentiate with respect to as well, by component and property, with * as a wildcard; `list` prints their names
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    parameters: Vec<String>,
    /// Picture of the sparsity patterns to write (.svg)
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

impl Jacobian {
    /// Runs `soleus jacobian`.
    pub fn run(self) -> Result<(), Error> {
        let names_alone = self.parameters.iter().any(|p| p == "list");
        let has_file = self.out.is_some() || self.plot.is_some();
        let request = Jacobians {
            model: self.model.into(),
            states: self.states.unwrap_or_default().into(),
            parameters: self.parameters,
            output: self.out,
            picture: self.plot,
        };
        enter(None, false, |cx| {
            if names_alone {
                let names: String = request.parameter_names(cx)?.iter().map(|n| format!("{n}\n")).collect();
                return print(cx, &printable(&names));
            }
            let outcome = request.run(cx)?;
            if !has_file {
                let message = "--parameters needs a file for the derivatives, --out OUT.json";
                let hint = "`soleus jacobian MODEL --parameters list` prints all names";
                return Err(Error::content(request.model.path(), 0, "", message, hint));
            }
            finish(cx, Ok(outcome))
        })
    }
}

// What to fit, and how well.
#[derive(Args)]
#[command(after_help = include_str!("../help/fit-paths.txt"))]
pub struct Fit {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Model file to write; `-` for stdout
    #[arg(long, value_name = "NEW.osim")]
    out: PathBuf,
    /// Motion to fit around (.mot, .sto): the paths are then accurate near its poses only, not over the full ranges
    #[arg(long = "motion", alias = "coordinates", value_name = "MOTION")]
    coordinates: Option<PathBuf>,
    /// Margin around the poses of the motion, degrees; 1 cm for translations
    #[arg(long, value_name = "DEG", default_value_t = 10.0, requires = "coordinates")]
    margin_deg: f64,
    /// Highest order of the polynomials
    #[arg(long, default_value_t = FitOptions::default().max_order)]
    max_order: usize,
    /// Most terms of a polynomial
    #[arg(long, value_name = "N", default_value_t = FitOptions::default().max_terms)]
    max_terms: usize,
    /// Replace only paths with wrap objects or conditional points; the others are kept as they are
    #[arg(long)]
    only_wrapping: bool,
    /// Target RMS error of lengths, m
    #[arg(long, value_name = "M", default_value_t = FitOptions::default().length_tolerance)]
    length_tolerance: f64,
    /// Target RMS error of moment arms, m
    #[arg(long, value_name = "M", default_value_t = FitOptions::default().moment_arm_tolerance)]
    moment_arm_tolerance: f64,
}

impl Fit {
    /// Runs `soleus fit-paths`.
    pub fn run(self) -> Result<(), Error> {
        let request = FitPaths {
            model: self.model.into(),
            coordinates: self.coordinates.map(Into::into),
            margin: self.margin_deg.to_radians(),
            max_order: self.max_order,
            max_terms: self.max_terms,
            only_wrapping: self.only_wrapping,
            length_tolerance: self.length_tolerance,
            moment_arm_tolerance: self.moment_arm_tolerance,
            output: Some(self.out),
        };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

// Arguments of `soleus generate`.
#[derive(Args)]
#[command(after_help = include_str!("../help/generate.txt"))]
pub struct Source {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// File to write; `-` for stdout
    #[arg(long, value_name = "OUT")]
    out: PathBuf,
    /// Language
    #[arg(long, value_parser = ["c", "cuda"], default_value = "c")]
    language: String,
    /// Single precision (32 bits)
    #[arg(long)]
    single: bool,
    /// First replace paths with wrap objects or conditional points by polynomials of up to this order
    #[arg(long, value_name = "ORDER", num_args = 0..=1, default_missing_value = "6")]
    fit_paths: Option<usize>,
}

impl Source {
    /// Runs `soleus generate`.
    pub fn run(self) -> Result<(), Error> {
        let language = if self.language == "c" { SourceLanguage::C } else { SourceLanguage::Cuda };
        let Source { single, fit_paths, .. } = self;
        let request =
            Generate { model: self.model.into(), language, single, fit_paths, output: Some(self.out) };
        enter(None, false, |cx| finish(cx, request.run(cx)))
    }
}

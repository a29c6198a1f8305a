//! `soleus id`, and the inverse dynamics of `soleus run`.

use crate::failure::{Failure, nearest_hint};
use crate::tables::{self, GAP_HINT, Take};
use crate::{load, setup};
use clap::Args;
use soleus_dynamics::Options;
use soleus_io::setup::InverseDynamicsSetup;
use soleus_io::table::sto::{self, Digits};
use soleus_math::Table;
use soleus_model::external_loads::ExternalLoads;
use soleus_model::force::Force;
use soleus_model::{Diagnostics, Model};
use soleus_tools::external_forces;
use soleus_tools::inverse_dynamics::{Error, Loads, Settings, inverse_dynamics};
use soleus_tools::quality::{check_cutoff, check_ground_reactions, check_points, check_units, residuals};
use std::path::{Path, PathBuf};

/// Arguments of `soleus id`.
#[derive(Args)]
#[command(
    after_help = "Example:\n  soleus id --model subject01.osim --motion walk.mot --loads walk_grf.xml --cutoff-hz 6 --out walk_id.sto"
)]
pub struct Arguments {
    /// Model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Coordinates over time (.mot, .sto)
    #[arg(long)]
    motion: PathBuf,
    /// Measured loads: an XML file with ExternalLoads
    #[arg(long, value_name = "LOADS.xml")]
    loads: Option<PathBuf>,
    /// Cutoff of the low-pass on the coordinates, in Hz; no filter without it
    #[arg(long)]
    cutoff_hz: Option<f64>,
    /// Forces of the model that do not act: names, groups, or all, actuators, muscles
    #[arg(long, value_name = "NAMES", num_args = 0.., default_values_t = ["muscles".to_string(), "actuators".to_string()])]
    exclude: Vec<String>,
    /// First time, s
    #[arg(long, default_value_t = f64::NEG_INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    from: f64,
    /// Last time, s
    #[arg(long, default_value_t = f64::INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    to: f64,
    /// File to write (.sto; N m and N)
    #[arg(long, value_name = "OUT.sto")]
    out: PathBuf,
    /// Reproduce the faults of OpenSim 4.6 that Soleus mends, to compare numbers with it
    #[arg(long)]
    opensim_faults: bool,
}

/// Runs `soleus id`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let settings = Settings {
        cutoff_hz: a.cutoff_hz,
        range: [a.from, a.to],
        excluded: a.exclude.clone(),
        joints: Vec::new(),
        opensim_faults: a.opensim_faults,
    };
    let model = load::model(&a.model)?;
    let forces = measured(&model, a.loads.as_deref(), Path::new(""))?;
    let found = solve(model, forces, &a.motion, &settings)?;
    load::write_whole(&a.out, &sto::write(&found.generalized_forces, Digits::Shortest))
}

/// Runs the tool of a setup file.
pub fn run_setup(
    path: &Path,
    s: &InverseDynamicsSetup,
    opensim_faults: bool,
    warnings: load::Warnings,
) -> Result<(), Failure> {
    let model_path = setup::required(path, "model_file", s.model_file.as_deref())?;
    let motion = setup::required(path, "coordinates_file", s.coordinates_file.as_deref())?;
    let cutoff = s.lowpass_cutoff_frequency_for_coordinates;
    let settings = Settings {
        cutoff_hz: (cutoff >= 0.0).then_some(cutoff),
        range: s.time_range,
        excluded: s.forces_to_exclude.clone(),
        joints: s.joints_to_report_body_forces.clone(),
        opensim_faults,
    };
    let model = load::model_with(&model_path, warnings)?;
    let loads = s.external_loads_file.as_ref().map(|f| setup::beside(path, f));
    let forces = measured(&model, loads.as_deref(), path.parent().unwrap_or(Path::new("")))?;
    let found = solve(model, forces, &motion, &settings)?;

    let folder = setup::beside(path, &s.results_directory);
    setup::make_folder(&folder)?;
    let with_ending =
        |name: &str| folder.join(if name.contains('.') { name.to_string() } else { format!("{name}.sto") });
    let text = sto::write(&found.generalized_forces, Digits::Fixed8);
    load::write_and_tell(&with_ending(&s.output_gen_force_file), &text)?;
    if let Some(table) = &found.joint_loads {
        load::write_and_tell(&with_ending(&s.output_body_forces_file), &sto::write(table, Digits::Fixed8))?;
    }
    Ok(())
}

fn solve(mut model: Model, forces: Vec<Force>, motion: &Path, settings: &Settings) -> Result<Loads, Failure> {
    let table = tables::read_in_order(motion, Take::Markers)?;
    let mut log = Diagnostics::new(motion.display().to_string());
    check_units(&model, &table, &mut log);
    if let Some(hz) = settings.cutoff_hz {
        check_cutoff(table.times(), hz, &mut log);
    }
    let has_loads = !forces.is_empty();
    // Residuals are judged by masses and joints alone; muscles are most of a model.
    let own = std::mem::take(&mut model.forces);
    let bare = model.clone();
    model.forces = own;
    if has_loads {
        let system = load::compile(motion, &bare, &Options::default())?;
        check_points(&bare, &system, &table, &forces, &mut log);
    }
    let found = inverse_dynamics(model, forces, &table, settings).map_err(|e| {
        let hint = match &e {
            Error::NoCoordinates => "columns are named after coordinates, such as knee_angle",
            Error::Missing { .. } => GAP_HINT,
            _ => "",
        };
        Failure::content(motion, 0, "", e.to_string(), hint)
    })?;
    for name in &found.at_default {
        let strangers = table.labels().iter().map(String::as_str).filter(|l| bare.coordinate(l).is_none());
        let hint = nearest_hint("other column", name, strangers);
        log.warn(0, "", format!("no column for coordinate `{name}`: it stays at its default value"), &hint);
    }
    for name in &found.unknown_forces {
        log.warn(0, "", format!("there is no force or group `{name}` to leave out"), "");
    }
    for name in &found.unknown_joints {
        log.warn(0, "", format!("there is no joint `{name}` to report loads of"), "");
    }
    eprintln!("{} frames", found.generalized_forces.rows());
    if let Some(r) = residuals(&bare, &found.generalized_forces).filter(|_| has_loads) {
        let part = 100.0 * r.force_rms / r.weight;
        eprintln!(
            "residual force: RMS {:.1} N ({part:.1} % of the weight), largest {:.1} N",
            r.force_rms, r.force_peak
        );
        eprintln!("residual moment: RMS {:.1} N m, largest {:.1} N m", r.moment_rms, r.moment_peak);
        r.check(&mut log);
    }
    load::report(&log);
    Ok(found)
}

/// The forces of an `ExternalLoads` file. Its data are looked for in `folder` first, then beside it, as in OpenSim.
pub fn measured(model: &Model, loads: Option<&Path>, folder: &Path) -> Result<Vec<Force>, Failure> {
    let Some(path) = loads else { return Ok(Vec::new()) };
    let (document, mut log) = setup::document(path)?;
    let loads = document.and_then(|mut d| {
        soleus_io::osim::upgrade(&mut d, &mut log);
        soleus_model::build_external_loads(&d, model, &mut log)
    });
    load::report(&log);
    let Some(loads) = loads else { return Err(load::errors(path, &log)) };
    let forces = forces_of(&loads, path, folder)?;
    let mut log = Diagnostics::new(path.display().to_string());
    check_ground_reactions(model, &forces, &mut log);
    load::report(&log);
    Ok(forces)
}

/// The forces of loads that are in the file `path`, their data read.
pub fn forces_of(loads: &ExternalLoads, path: &Path, folder: &Path) -> Result<Vec<Force>, Failure> {
    let mut read: Vec<(String, Table)> = Vec::new();
    let names = loads.forces.iter().filter_map(|f| f.data_source_name.as_ref());
    for name in loads.datafile.iter().chain(names) {
        if read.iter().any(|(n, _)| n == name)
            || (loads.datafile.is_some() && loads.datafile.as_ref() != Some(name))
        {
            continue;
        }
        let first = folder.join(name);
        let file = if first.exists() { first } else { setup::beside(path, name) };
        read.push((name.clone(), tables::read_in_order(&file, Take::Forces)?));
    }
    let table_of = |name: &str| read.iter().find(|(n, _)| n == name).map(|(_, t)| t);
    external_forces(loads, &table_of).map_err(|e| {
        Failure::content(path, 0, "", e.to_string(), "check the identifiers against the labels of the data")
    })
}

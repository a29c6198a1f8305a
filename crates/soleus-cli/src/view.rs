//! `soleus view`: a model and its motion as a page that opens in a browser, or as a picture.

use crate::failure::Failure;
use crate::tables::{self, Take};
use crate::{id, load};
use clap::Args;
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::{Options, State, System};
use soleus_model::{Diagnostics, Model};
use soleus_viewer::scene::Shape;
use soleus_viewer::{
    Activations, Animation, Camera, Layer, Motion, Recorder, Report, SceneOptions, Table, activation_plots,
    attached_geometry, coordinate_plots, figure, force_plots,
};
use std::path::{Path, PathBuf};

/// Arguments of `soleus view`.
#[derive(Args)]
#[command(after_help = "Examples:\n  soleus view gait2354.osim walk_ik.mot --out walk.html\n  \
    soleus view arm26.osim --picture arm26.svg\n  soleus view gait2354.osim walk_ik.mot --picture push_off.png --time 1.2\n\n\
    The page holds everything it shows and opens from disk, without a network.")]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Motion: coordinates or states over time (.mot, .sto, .csv); the model's default pose without it
    motion: Option<PathBuf>,
    /// Page to write; `-` for stdout. Without --out and --picture, the name of the motion or model with the ending .html
    #[arg(long, value_name = "PAGE.html")]
    out: Option<PathBuf>,
    /// Picture of one frame to write: PNG if its name ends in .png, otherwise SVG; `-` for stdout
    #[arg(long, visible_alias = "svg", value_name = "FRAME.svg|FRAME.png")]
    picture: Option<PathBuf>,
    /// Time of the picture, s; the first frame without it
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Measured loads to draw as arrows: an XML file with ExternalLoads
    #[arg(long, value_name = "LOADS.xml")]
    loads: Option<PathBuf>,
    /// Activations of muscles over time, which color them; the motion may have them too
    #[arg(long, value_name = "FILE.sto")]
    activations: Option<PathBuf>,
    /// Draw wrap objects in the picture; the page has a switch for them
    #[arg(long)]
    wraps: bool,
    /// Folder with the mesh files that the model names; without it they are looked for beside the model
    #[arg(long, value_name = "DIR")]
    geometry: Option<PathBuf>,
    /// Most frames for each second of the motion
    #[arg(long, value_name = "HZ", default_value_t = 50.0)]
    frame_rate: f64,
    /// Where the picture is seen from: turn about the vertical and upwards, in degrees. `0,0` is the right side
    #[arg(long, value_name = "YAW,PITCH", allow_hyphen_values = true, default_value_t = From(Camera::default()))]
    from: From,
}

/// A camera as two angles in degrees.
#[derive(Clone, Copy)]
struct From(Camera);

impl std::fmt::Display for From {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},{}", self.0.yaw_deg, self.0.pitch_deg)
    }
}

impl std::str::FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let angle = |t: &str| t.trim().parse::<f64>().ok().filter(|a| a.is_finite());
        match text.split_once(',').map(|(yaw, pitch)| (angle(yaw), angle(pitch))) {
            Some((Some(yaw_deg), Some(pitch_deg))) => Ok(From(Camera { yaw_deg, pitch_deg })),
            _ => Err("give two angles in degrees, such as 20,8".to_string()),
        }
    }
}

/// Reads model and motion, and writes the page or the picture.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let (mut model, mut system) = load::system(&a.model, &Options::default())?;
    if let Some(loads) = &a.loads {
        model.forces.extend(id::measured(&model, Some(loads), Path::new(""))?);
        system = load::compile(&a.model, &model, &Options::default())?;
    }
    let (model, system) = (&model, &system);
    let table = a.motion.as_ref().map(|m| tables::read_rows(m, Take::Markers)).transpose()?;
    let motion = match (&table, &a.motion) {
        (Some(t), Some(path)) => {
            let found = Motion::new(model, system, t);
            Some(found.map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?)
        }
        _ => None,
    };
    let mut states = match (&motion, &a.motion) {
        (Some(m), Some(path)) => states(model, system, m, path, a.frame_rate)?,
        _ => vec![assembled(model, system)],
    };
    let (mut activations, speeds) =
        motion.as_ref().map_or((false, false), |m| (m.has_activations, m.has_speeds));
    if let Some(path) = &a.activations {
        let table = tables::read_rows(path, Take::Markers)?;
        let Some(found) = Activations::new(model, system, &table) else {
            let message = "none of the columns is a muscle of the model".to_string();
            return Err(Failure::content(path, 0, "", message, "name columns after muscles"));
        };
        states.iter_mut().for_each(|x| found.read(x));
        activations = true;
    }
    let options = SceneOptions { geometry: geometry(a, model)? };
    let mut recorder = Recorder::new(model, system, &options).with(activations, speeds);
    states.iter().for_each(|x| recorder.record(x));
    let animation = recorder.finish();

    let page = match (&a.out, &a.picture) {
        (Some(out), _) => Some(out.clone()),
        (None, Some(_)) => None,
        (None, None) => {
            let name = a.motion.as_ref().unwrap_or(&a.model).with_extension("html");
            Some(PathBuf::from(name.file_name().unwrap_or_default()))
        }
    };
    if let Some(path) = page {
        let report = report(a, (model, system), &states, &animation, activations);
        load::write_whole(&path, &report.to_html())?;
        if path != Path::new("-") {
            let n = animation.frames.len();
            eprintln!("{n} frame{} in {}", if n == 1 { "" } else { "s" }, path.display());
        }
    }
    match &a.picture {
        Some(path) => picture(a, model, animation, path),
        None => Ok(()),
    }
}

/// Shapes that the model file attaches to bodies. Meshes are looked for where `--geometry` says, in the folder of the
/// model, and in a folder `Geometry` there.
fn geometry(a: &Arguments, model: &Model) -> Result<Vec<Shape>, Failure> {
    let bytes = std::fs::read(&a.model).map_err(|e| Failure::read(&a.model, e))?;
    // What is wrong with the file was told when the model was built.
    let (document, mut told) = soleus_io::osim::read_document(&bytes, &a.model.display().to_string());
    let Some(mut document) = document else { return Ok(Vec::new()) };
    soleus_io::osim::upgrade(&mut document, &mut told);
    let beside = a.model.parent().unwrap_or(Path::new(""));
    let folders: Vec<&Path> = a.geometry.as_deref().into_iter().chain([beside]).collect();
    let open = |name: &str| folders.iter().find_map(|f| std::fs::read(f.join(name)).ok());
    let mut log = Diagnostics::new(a.model.display().to_string());
    let shapes = attached_geometry(&document, model, &open, &mut log);
    load::report(&log);
    Ok(shapes)
}

/// States along a motion, on the manifold of the constraints.
fn states(
    model: &Model,
    system: &System,
    motion: &Motion,
    path: &Path,
    rate: f64,
) -> Result<Vec<State<f64>>, Failure> {
    if !(rate > 0.0) {
        let message = format!("--frame-rate {rate} is no rate");
        return Err(Failure::content(
            path,
            0,
            "",
            message,
            "give a positive number of frames for each second",
        ));
    }
    let mut log = Diagnostics::new(path.display().to_string());
    for name in &motion.at_default {
        log.warn(0, "", format!("no column for coordinate `{name}`: it stays at its default value"), "");
    }
    if motion.gaps > 0 {
        log.warn(0, "", format!("{} rows with gaps are left out", motion.gaps), "");
    }
    let mut assembler = Assembler::new(model, system);
    // A micrometre is more than any picture shows.
    assembler.tolerance = 1e-6;
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    let (mut states, mut torn) = (Vec::new(), None);
    for i in motion.thinned(rate) {
        motion.read(i, &mut x);
        let given = x.clone();
        if system.constraints.num_rows() > 0
            && let Err(e) = assembler.solve_assembly(system, &mut x, &mut ws)
        {
            torn.get_or_insert((x.time, e));
            x = given;
        }
        states.push(x.clone());
    }
    if let Some((t, e)) = torn {
        log.warn(
            0,
            "",
            format!("at {t} s the constraints of the model are not met: {e}"),
            "the pose is drawn as the file has it",
        );
    }
    load::report(&log);
    Ok(states)
}

/// The default pose, with the constraints met as far as they can be.
fn assembled(model: &Model, system: &System) -> State<f64> {
    let mut x = system.default_state.clone();
    match Assembler::new(model, system).solve_assembly(system, &mut x, &mut system.workspace()) {
        Ok(_) => x,
        // What cannot be assembled is drawn as it is.
        Err(_) => system.default_state.clone(),
    }
}

fn picture(a: &Arguments, model: &Model, animation: Animation, path: &Path) -> Result<(), Failure> {
    let animation = if a.wraps { animation } else { animation.without(Layer::Wrap) };
    let time = a.time.unwrap_or(f64::NEG_INFINITY);
    let frame = if time.is_finite() { animation.frame_at(time) } else { animation.frames.first() };
    let Some(frame) = frame else { return Ok(()) };
    let (scene, camera) = (&animation.scene, &a.from.0);
    if load::is_png(path) {
        return load::write_bytes(path, &figure::to_png(scene, frame, camera, &model.name));
    }
    load::write_whole(path, &figure::to_svg(scene, frame, camera, &model.name))
}

fn report(
    a: &Arguments,
    (model, system): (&Model, &System),
    states: &[State<f64>],
    animation: &Animation,
    activations: bool,
) -> Report {
    let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let title = match &a.motion {
        Some(m) => format!("{} · {}", name(m), model.name),
        None => model.name.clone(),
    };
    let muscles =
        system.forces.iter().filter(|f| matches!(f.actor, soleus_dynamics::system::Actor::Muscle(_))).count();
    let mut facts = Table::new("", ["", ""]).row(["model", &name(&a.model)]);
    facts.head.clear();
    if let (Some(m), Some(first), Some(last)) = (&a.motion, states.first(), states.last()) {
        facts = facts.row(["motion", &name(m)]);
        facts = facts
            .row(["time", &format!("{:.3} s to {:.3} s, {} frames", first.time, last.time, states.len())]);
    }
    for (what, count) in [
        ("bodies", model.bodies.len() - 1),
        ("coordinates", model.coordinates.len()),
        ("muscles", muscles),
        ("markers", model.markers.len()),
    ] {
        facts = facts.row([what, &count.to_string()]);
    }
    facts = facts.row(["mass", &format!("{:.2} kg", model.total_mass())]);
    let mut report = Report::new(title).animation(animation);
    if states.len() > 1 {
        report = report.heading("Coordinates").plots(coordinate_plots(model, system, states));
        let forces = force_plots(animation);
        if !forces.is_empty() {
            report = report.heading("Forces on bodies").plots(forces);
        }
        if activations {
            report = report.heading("Activations").plots(activation_plots(model, system, states));
        }
    }
    report.heading("About").table(facts).text(model.credits.trim()).text(model.publications.trim())
}

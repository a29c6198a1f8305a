//! `soleus view`: a model and its motion as a page that opens in a browser, or as a picture.

use crate::failure::Failure;
use crate::load;
use crate::tables::{self, Take};
use clap::Args;
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::{Options, State, System};
use soleus_model::{Diagnostics, Model};
use soleus_viewer::{
    Animation, Camera, Motion, Recorder, Report, SceneOptions, Table, activation_plots, coordinate_plots,
    figure,
};
use std::path::{Path, PathBuf};

/// Arguments of `soleus view`.
#[derive(Args)]
#[command(after_help = "Examples:\n  soleus view gait2354.osim walk_ik.mot --out walk.html\n  \
    soleus view arm26.osim --svg arm26.svg\n  soleus view gait2354.osim walk_ik.mot --svg push_off.svg --time 1.2\n\n\
    The page holds everything it shows and opens from disk, without a network.")]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Motion: coordinates or states over time (.mot, .sto, .csv); the model's default pose without it
    motion: Option<PathBuf>,
    /// Page to write; `-` for stdout. Without --out and --svg, the name of the motion or model with the ending .html
    #[arg(long, value_name = "PAGE.html")]
    out: Option<PathBuf>,
    /// Picture of one frame to write; `-` for stdout
    #[arg(long, value_name = "FRAME.svg")]
    svg: Option<PathBuf>,
    /// Time of the picture, s; the first frame without it
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Most frames for each second of the motion
    #[arg(long, value_name = "HZ", default_value_t = 50.0)]
    frame_rate: f64,
    /// Where the picture is seen from: turn about the vertical and upwards, in degrees. `0,0` is the right side
    #[arg(long, value_name = "YAW,PITCH", value_delimiter = ',', num_args = 2, allow_negative_numbers = true,
          default_values_t = [Camera::default().yaw_deg, Camera::default().pitch_deg])]
    from: Vec<f64>,
}

/// Reads model and motion, and writes the page or the picture.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let (model, system) = load::system(&a.model, &Options::default())?;
    let table = a.motion.as_ref().map(|m| tables::read(m, Take::Markers, 0.0)).transpose()?;
    let motion = match (&table, &a.motion) {
        (Some(t), Some(path)) => {
            let found = Motion::new(&model, &system, t);
            Some(found.map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?)
        }
        _ => None,
    };
    let states = match (&motion, &a.motion) {
        (Some(m), Some(path)) => states(&model, &system, m, path, a.frame_rate)?,
        _ => vec![assembled(&model, &system)],
    };
    let (activations, speeds) = motion.as_ref().map_or((false, false), |m| (m.has_activations, m.has_speeds));
    let mut recorder = Recorder::new(&model, &system, &SceneOptions::default()).with(activations, speeds);
    states.iter().for_each(|x| recorder.record(x));
    let animation = recorder.finish();

    if let Some(path) = &a.svg {
        picture(a, &model, &animation, path)?;
    }
    let page = match (&a.out, &a.svg) {
        (Some(out), _) => Some(out.clone()),
        (None, Some(_)) => None,
        (None, None) => {
            let name = a.motion.as_ref().unwrap_or(&a.model).with_extension("html");
            Some(PathBuf::from(name.file_name().unwrap_or_default()))
        }
    };
    if let Some(path) = page {
        let report = report(a, &model, &system, &states, &animation, activations);
        load::write_whole(&path, &report.to_html())?;
        if path != Path::new("-") {
            eprintln!("{} frames in {}", animation.frames.len(), path.display());
        }
    }
    Ok(())
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
        if system.constraints.num_rows() > 0 {
            if let Err(e) = assembler.solve_assembly(system, &mut x, &mut ws) {
                torn.get_or_insert((x.time, e));
                x = given;
            }
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

fn picture(a: &Arguments, model: &Model, animation: &Animation, path: &Path) -> Result<(), Failure> {
    let camera = Camera { yaw_deg: a.from[0], pitch_deg: a.from[1] };
    let time = a.time.unwrap_or(f64::NEG_INFINITY);
    let frame = if time.is_finite() { animation.frame_at(time) } else { animation.frames.first() };
    let Some(frame) = frame else { return Ok(()) };
    load::write_whole(path, &figure::to_svg(&animation.scene, frame, &camera, &model.name))
}

fn report(
    a: &Arguments,
    model: &Model,
    system: &System,
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
        if activations {
            report = report.heading("Activations").plots(activation_plots(model, system, states));
        }
    }
    report.heading("About").table(facts).text(model.credits.trim()).text(model.publications.trim())
}

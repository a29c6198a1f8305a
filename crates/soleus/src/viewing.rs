//! Viewing: a model and its motion as a page for the browser, or as an image.
//!
//! ```no_run
//! use soleus::{Context, Disk, Outcome, View};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = View {
//!     model: "gait2354.osim".into(),
//!     motion: Some("walk_ik.mot".into()),
//!     page: Some("walk.html".into()),
//!     ..Default::default()
//! };
//! request.run(&context)?.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::numbers::finite;
use crate::inputs::paths::has_ending;
use crate::inputs::table::{self, Take};
use crate::inputs::{loads, model, setup};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::{Options, State, System};
use soleus_math::Table as Columns;
use soleus_model::{Diagnostics, Document, Model};
pub use soleus_viewer::Camera;
use soleus_viewer::scene::{FEW_FACES, Frame, Shape};
use soleus_viewer::{
    Activations, Animation, Layer, Motion, Recorder, Report, SceneOptions, Table, activation_plots,
    attached_geometry, coordinate_plots, figure, force_plots,
};
use std::path::{Path, PathBuf};

/// Shows a model and its motion.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The model.
    pub model: ModelSource,
    /// Coordinates or states over time; default: the model's default pose.
    pub motion: Option<Source<Columns>>,
    /// Output page (.html).
    pub page: Option<PathBuf>,
    /// Output image of one frame: PNG if its name ends in .png, otherwise SVG.
    pub picture: Option<PathBuf>,
    /// Time of the image, s; default: the first frame.
    pub time: Option<f64>,
    /// Measured loads, drawn as arrows: an XML file with `ExternalLoads`.
    pub loads: Option<PathBuf>,
    /// Muscle activations over time, shown as colors; they may also be in the motion.
    pub activations: Option<Source<Columns>>,
    /// Draw wrap objects in the image; the page has a switch for them.
    pub wraps: bool,
    /// Folder with the mesh files of the model; meshes are also searched next to the model and in OpenSim's
    /// installation.
    pub geometry: Option<PathBuf>,
    /// Maximum frame rate of the animation, Hz.
    pub frame_rate: f64,
    /// View direction of the image: rotation about the vertical, degrees. 0 is the right side.
    pub yaw_deg: f64,
    /// View direction of the image: elevation, degrees.
    pub pitch_deg: f64,
}

impl Default for View {
    fn default() -> Self {
        let camera = Camera::default();
        View {
            model: ModelSource::default(),
            motion: None,
            page: None,
            picture: None,
            time: None,
            loads: None,
            activations: None,
            wraps: false,
            geometry: None,
            frame_rate: 50.0,
            yaw_deg: camera.yaw_deg,
            pitch_deg: camera.pitch_deg,
        }
    }
}

impl View {
    /// Reads model and motion, and renders all frames.
    pub fn run(&self, cx: &Context) -> Result<Viewed, Error> {
        let path = self.motion.as_ref().map_or(self.model.path(), |m| m.path());
        if !(self.frame_rate > 0.0 && self.frame_rate.is_finite()) {
            let message = format!("{} is not a valid frame rate", self.frame_rate);
            return Err(Error::content(path, 0, "", message, "give a finite number above zero"));
        }
        finite(path, "the rotation about the vertical, degrees", self.yaw_deg)?;
        finite(path, "the elevation, degrees", self.pitch_deg)?;
        self.time.map(|t| finite(path, "the time of the picture, s", t)).transpose()?;
        let (mut model, mut system) = model::system(cx, &self.model, &Options::default())?;
        if let Some(file) = &self.loads {
            model.forces.extend(loads::read(cx, &model, Some(file), None, self.motion.as_ref())?);
            system = model::compile(self.model.path(), &model, &Options::default())?;
        }
        let (model, system) = (&model, &system);
        let table = self.motion.as_ref().map(|m| table::read_rows(cx, m, Take::Markers)).transpose()?;
        if let (Some(source), Some(t)) = (&self.motion, &table) {
            table::warn_of_units(cx, model, source, t);
        }
        let motion = match &table {
            Some(t) => {
                let found = Motion::new(model, system, t);
                Some(found.map_err(|e| Error::content(path, 0, "", e.to_string(), ""))?)
            }
            None => None,
        };
        let mut states = match &motion {
            Some(m) => states(cx, (model, system), m, path, self.frame_rate)?,
            None => vec![assembled(model, system)],
        };
        let (mut activations, speeds) =
            motion.as_ref().map_or((false, false), |m| (m.has_activations, m.has_speeds));
        if let Some(source) = &self.activations {
            let table = table::read_rows(cx, source, Take::Markers)?;
            let Some(found) = Activations::new(model, system, &table) else {
                let message = "none of the columns is a muscle of the model";
                return Err(Error::content(
                    source.path(),
                    0,
                    "",
                    message,
                    "columns must be named after muscles",
                ));
            };
            states.iter_mut().for_each(|x| found.read(x));
            activations = true;
        }
        self.check_time(cx, path, &states);
        let geometry = geometry(cx, &self.model, model, self.geometry.as_deref(), FEW_FACES)?;
        let options = SceneOptions { geometry };
        let mut recorder = Recorder::new(model, system, &options).with(activations, speeds);
        states.iter().for_each(|x| recorder.record(x));
        let animation = recorder.finish();
        if let Some(page) = self.page.as_ref().filter(|p| *p != Path::new("-")) {
            let n = animation.frames.len();
            cx.note(format!("{n} frame{} in {}", if n == 1 { "" } else { "s" }, page.display()));
        }
        let report = self.report((model, system), &states, &animation, activations);
        Ok(Viewed { model_name: model.name.clone(), states, animation, report, request: self.clone() })
    }

    /// A picture of a time that the motion does not have shows another.
    fn check_time(&self, cx: &Context, path: &Path, states: &[State<f64>]) {
        if let (Some(t), Some(first), Some(last), true) =
            (self.time, states.first(), states.last(), self.motion.is_some())
            && !(first.time..=last.time).contains(&t)
        {
            let shown = if t < first.time { first.time } else { last.time };
            let range = format!("the motion spans {} s to {} s", first.time, last.time);
            cx.warn(
                path,
                format!("{range}: the picture shows {shown} s, not {t} s"),
                "give a time of the motion",
            );
        }
    }
}

/// Geometry that a model file attaches to bodies. Meshes are searched in `folder`, in the folder of the model, in its
/// subfolder `Geometry`, and in OpenSim's installation; each is reduced to a maximum number of faces.
pub fn geometry(
    cx: &Context,
    source: &ModelSource,
    model: &Model,
    folder: Option<&Path>,
    most_faces: usize,
) -> Result<Vec<Shape>, Error> {
    let read: Document;
    let document: &Document = match source {
        // What is wrong with the file was told when the model was built.
        ModelSource::File(path) => {
            read = setup::upgraded(cx, path)?.0;
            &read
        }
        ModelSource::Document(document) => document,
        ModelSource::Model(_) => return Ok(Vec::new()),
    };
    let beside: Vec<&Path> = folder.into_iter().chain([source.folder()]).collect();
    let installed = std::cell::OnceCell::new();
    let open = |name: &str| {
        let near = beside.iter().find_map(|f| cx.files.read(&f.join(name)).ok());
        // Names with a folder were tried there already.
        near.or_else(|| {
            let file = Path::new(name).file_name()?;
            let folders: &Vec<PathBuf> = installed.get_or_init(|| cx.files.geometry_folders());
            folders.iter().find_map(|f| cx.files.read(&f.join(file)).ok())
        })
    };
    let mut log = Diagnostics::new(source.path().display().to_string());
    let shapes = attached_geometry(document, model, &open, most_faces, &mut log);
    cx.report(&log);
    Ok(shapes)
}

/// A rendered model and motion.
#[derive(Debug)]
pub struct Viewed {
    /// All frames.
    pub animation: Animation,
    /// State of each frame.
    pub states: Vec<State<f64>>,
    /// The page.
    pub report: Report,
    model_name: String,
    request: View,
}

impl Viewed {
    /// The frame of the picture.
    fn frame(&self) -> Option<&Frame> {
        match self.request.time {
            Some(time) => self.animation.frame_at(time),
            None => self.animation.frames.first(),
        }
    }

    /// The picture of one frame, as PNG or SVG.
    fn picture(&self, path: &Path) -> Option<Vec<u8>> {
        let camera = Camera { yaw_deg: self.request.yaw_deg, pitch_deg: self.request.pitch_deg };
        let shown;
        let (scene, frame) = match self.request.wraps {
            true => (&self.animation.scene, self.frame()?.clone()),
            false => {
                let one =
                    Animation { scene: self.animation.scene.clone(), frames: vec![self.frame()?.clone()] };
                shown = one.without(Layer::Wrap);
                (&shown.scene, shown.frames.first()?.clone())
            }
        };
        Some(match has_ending(path, "png") {
            true => figure::to_png(scene, &frame, &camera, &self.model_name),
            false => figure::to_svg(scene, &frame, &camera, &self.model_name).into_bytes(),
        })
    }
}

impl Outcome for Viewed {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let page = self.request.page.iter().map(|path| Artifact::text(path, self.report.to_html()));
        let picture = |path: &PathBuf| Some(Artifact::bytes(path, self.picture(path)?));
        page.chain(self.request.picture.iter().filter_map(picture)).collect()
    }
}

/// States along a motion, on the manifold of the constraints.
fn states(
    cx: &Context,
    (model, system): (&Model, &System),
    motion: &Motion,
    path: &Path,
    rate: f64,
) -> Result<Vec<State<f64>>, Error> {
    let mut log = Diagnostics::new(path.display().to_string());
    for name in &motion.at_default {
        log.warn(0, "", format!("no column for coordinate `{name}`: its default value is used"), "");
    }
    if motion.gaps > 0 {
        log.warn(0, "", format!("{} rows with gaps are skipped", motion.gaps), "");
    }
    let mut assembler = Assembler::new(model, system);
    // A micrometre is more than any picture shows.
    assembler.tolerance = 1e-6;
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    let (mut states, mut torn) = (Vec::new(), None);
    for i in motion.thinned(rate) {
        cx.go_on()?;
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
            format!("at {t} s the constraints of the model are violated: {e}"),
            "the pose is drawn as given in the file",
        );
    }
    cx.report(&log);
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

impl View {
    fn report(
        &self,
        (model, system): (&Model, &System),
        states: &[State<f64>],
        animation: &Animation,
        activations: bool,
    ) -> Report {
        let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let title = match &self.motion {
            Some(m) => format!("{} · {}", name(m.path()), model.name),
            None => model.name.clone(),
        };
        let muscles = system
            .forces
            .iter()
            .filter(|f| matches!(f.actor, soleus_dynamics::system::Actor::Muscle(_)))
            .count();
        let mut facts = Table::new("", ["", ""]).row(["model", &name(self.model.path())]);
        facts.head.clear();
        if let (Some(m), Some(first), Some(last)) = (&self.motion, states.first(), states.last()) {
            facts = facts.row(["motion", &name(m.path())]);
            facts = facts.row([
                "time",
                &format!("{:.3} s to {:.3} s, {} frames", first.time, last.time, states.len()),
            ]);
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
}

//! `soleus scale`, and the scale tool of `soleus run`.

use crate::failure::Failure;
use crate::{ik, load, setup};
use clap::Args;
use soleus_io::osim::write_document;
use soleus_io::setup::{
    IkTask, ManualScale, MarkerPlacer, MeasurementSetup, ModelScaler, ScaleSetup, ScalingStep, read_scale_set,
};
use soleus_io::table::sto::{self, Digits};
use soleus_math::{Table, Vec3};
use soleus_model::marker_set::{marker_set_document, markers_of, update_markers};
use soleus_model::{Diagnostics, Document, Element, Model, ScaleOptions};
use soleus_tools::scale::{Factors, Measured, Measurement, Placed, measure, place_markers, scale_model};
use std::path::{Path, PathBuf};

/// Arguments of `soleus scale`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    soleus scale --model gait2354.osim --marker-set markers.xml --markers static.trc --measurements scale_setup.xml \\\n    \
    --tasks scale_setup.xml --mass 72.6 --out subject01.osim\n  \
    soleus scale --model arm26.osim --factor r_humerus=1.05,1.1,1.05 --factor r_ulna_radius_hand=1.02 --out tall.osim\n\n\
    Measurements are marker pairs and the bodies they scale: a setup file of the ScaleTool, or an XML file with a\n\
    MeasurementSet. Factors given by hand win over measured ones. With markers, those of the model that are not fixed\n\
    are moved to where they were seen in the static pose, unless --keep-markers.")]
pub struct Arguments {
    /// Generic model file (.osim, any version)
    #[arg(long)]
    model: PathBuf,
    /// Marker file of a static trial (.trc, .sto or .c3d)
    #[arg(long, value_name = "STATIC.trc")]
    markers: Option<PathBuf>,
    /// Markers to put on the model first (XML file with a MarkerSet)
    #[arg(long, value_name = "MARKERS.xml")]
    marker_set: Option<PathBuf>,
    /// Marker pairs that tell the size of bodies (ScaleTool setup, or XML file with a MeasurementSet)
    #[arg(long, value_name = "MEASUREMENTS.xml", requires = "markers")]
    measurements: Option<PathBuf>,
    /// Factors of a body: one, or three for x, y, z
    #[arg(long, value_name = "BODY=X,Y,Z", value_parser = parse_factor)]
    factor: Vec<(String, [f64; 3])>,
    /// Mass of the subject, kg; without it the masses follow from the factors
    #[arg(long)]
    mass: Option<f64>,
    /// Keep each body's share of the mass
    #[arg(long)]
    preserve_mass_distribution: bool,
    /// First time of the static trial to use, s
    #[arg(long, default_value_t = f64::NEG_INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    from: f64,
    /// Last time of the static trial to use, s
    #[arg(long, default_value_t = f64::INFINITY, hide_default_value = true, allow_negative_numbers = true)]
    to: f64,
    /// Weights for the static pose (XML file with an IKTaskSet); all markers weigh 1 without it
    #[arg(long, value_name = "TASKS.xml", requires = "markers")]
    tasks: Option<PathBuf>,
    /// Leave markers where scaling puts them
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
    /// Leave unscaled what OpenSim 4.6 forgets, to compare with it
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
        other => Err(format!("one factor or three, not {}", other.len())),
    }
}

/// What `soleus scale` and a study give in place of a setup file.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Generic model.
    pub model: PathBuf,
    /// Static trial.
    pub markers: Option<PathBuf>,
    /// Markers to put on the model.
    pub marker_set: Option<PathBuf>,
    /// Marker pairs.
    pub measurements: Vec<MeasurementSetup>,
    /// Factors by hand.
    pub factors: Vec<(String, [f64; 3])>,
    /// Mass of the subject, kg.
    pub mass: Option<f64>,
    /// Keep each body's share.
    pub preserve_mass_distribution: bool,
    /// Times of the static trial, s.
    pub range: [f64; 2],
    /// Weights for the static pose.
    pub tasks: Vec<IkTask>,
    /// Leave markers in place.
    pub keep_markers: bool,
}

impl Parts {
    /// Those of a study.
    pub fn of(s: &crate::pipeline::study::Scale, folder: &Path) -> Result<Parts, Failure> {
        let at = |f: &Option<PathBuf>| f.as_ref().map(|f| folder.join(f));
        Ok(Parts {
            model: at(&s.model).unwrap_or_default(),
            markers: at(&s.markers),
            marker_set: at(&s.marker_set),
            measurements: at(&s.measurements).map_or(Ok(Vec::new()), |f| setup::measurements(&f))?,
            factors: Vec::new(),
            mass: s.mass,
            preserve_mass_distribution: s.preserve_mass_distribution,
            range: [s.from.unwrap_or(f64::NEG_INFINITY), s.to.unwrap_or(f64::INFINITY)],
            tasks: at(&s.tasks).map_or(Ok(Vec::new()), |f| setup::tasks(&f))?,
            keep_markers: s.keep_markers,
        })
    }

    /// As a setup, without names for its results.
    pub fn setup(&self) -> ScaleSetup {
        let text = |p: &PathBuf| p.display().to_string();
        let manual = self.factors.iter().map(|(segment, scales)| ManualScale {
            segment: segment.clone(),
            apply: true,
            scales: *scales,
        });
        let scaler = ModelScaler {
            apply: true,
            scaling_order: vec![ScalingStep::Measurements, ScalingStep::Manual],
            measurements: self.measurements.clone(),
            manual: manual.collect(),
            manual_file: None,
            marker_file: self.markers.as_ref().map(text),
            time_range: self.range,
            preserve_mass_distribution: self.preserve_mass_distribution,
            output_model_file: None,
            output_scale_file: None,
        };
        let placer = MarkerPlacer {
            apply: true,
            tasks: self.tasks.clone(),
            task_file: None,
            marker_file: self.markers.as_ref().map(text),
            coordinate_file: None,
            time_range: self.range,
            output_motion_file: None,
            output_model_file: None,
            output_marker_file: None,
            max_marker_movement: -1.0,
        };
        ScaleSetup {
            name: String::new(),
            mass: self.mass.unwrap_or(-1.0),
            height: -1.0,
            age: -1.0,
            notes: None,
            model_file: Some(text(&self.model)),
            marker_set_file: self.marker_set.as_ref().map(text),
            scaler: Some(scaler),
            placer: (self.markers.is_some() && !self.keep_markers).then_some(placer),
        }
    }
}

/// Runs `soleus scale`.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let parts = Parts {
        model: a.model.clone(),
        markers: a.markers.clone(),
        marker_set: a.marker_set.clone(),
        measurements: a.measurements.as_deref().map_or(Ok(Vec::new()), setup::measurements)?,
        factors: a.factor.clone(),
        mass: a.mass,
        preserve_mass_distribution: a.preserve_mass_distribution,
        range: [a.from, a.to],
        tasks: a.tasks.as_deref().map_or(Ok(Vec::new()), setup::tasks)?,
        keep_markers: a.keep_markers,
    };
    let text = |p: &PathBuf| p.display().to_string();
    let mut job = parts.setup();
    job.name = a.out.file_stem().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    if let Some(scaler) = &mut job.scaler {
        scaler.output_scale_file = a.factors_out.as_ref().map(text);
    }
    match (&mut job.placer, &mut job.scaler) {
        (Some(placer), _) => {
            placer.output_model_file = Some(text(&a.out));
            placer.output_motion_file = a.pose.as_ref().map(text);
        }
        (None, Some(scaler)) => scaler.output_model_file = Some(text(&a.out)),
        (None, None) => {}
    }
    run_setup(Path::new(""), &job, a.opensim_faults)
}

/// Runs the tool of a setup file. Nothing is written until everything is computed.
pub fn run_setup(path: &Path, s: &ScaleSetup, opensim_faults: bool) -> Result<(), Failure> {
    let files = compute(path, s, opensim_faults)?;
    for (file, _) in &files {
        if let Some(folder) = file.parent() {
            setup::make_folder(folder)?;
        }
    }
    for (file, text) in &files {
        load::write_and_tell(file, text)?;
    }
    Ok(())
}

/// The files that a setup asks for, by name.
fn compute(path: &Path, s: &ScaleSetup, opensim_faults: bool) -> Result<Vec<(PathBuf, String)>, Failure> {
    let model_path = setup::required(path, "model_file", s.model_file.as_deref())?;
    let (mut document, mut log) = setup::upgraded(&model_path)?;
    if let Some(file) = &s.marker_set_file {
        update_markers(&mut document, marker_set(&setup::beside(path, file))?);
    }
    let model_element = if document.root.tag == "Model" {
        Some(&mut document.root)
    } else {
        document.root.child_mut("Model")
    };
    if let Some(e) = model_element.filter(|_| !s.name.is_empty()) {
        e.set_attribute("name", s.name.as_str());
    }
    let model = soleus_model::build(&document, &mut log);
    load::report(&log);
    let Some(mut model) = model else { return Err(load::errors(&model_path, &log)) };

    let mut files = Vec::new();
    match s.scaler.as_ref().filter(|m| m.apply) {
        None => {
            eprintln!("the model is not scaled: the setup has no ModelScaler, or one that does not apply")
        }
        Some(scaler) => {
            let factors = factors(path, scaler, (&model, &model_path))?;
            let options = ScaleOptions {
                preserve_mass_distribution: scaler.preserve_mass_distribution,
                mass: (s.mass > 0.0).then_some(s.mass),
                opensim_faults,
            };
            let mut log = Diagnostics::new(model_path.display().to_string());
            let scaled = scale_model(&document, &model, &factors, &options, &mut log);
            load::report(&log);
            let scaled = scaled.map_err(|e| Failure::content(&model_path, 0, "", e.to_string(), ""))?;
            eprintln!("mass {:.3} kg before, {:.3} kg after", model.total_mass(), scaled.model.total_mass());
            if let Some(file) = &scaler.output_scale_file {
                files.push((setup::beside(path, file), write_document(&scale_set(&model, &factors))));
            }
            (document, model) = (scaled.document, scaled.model);
            if let Some(file) = &scaler.output_model_file {
                files.push((setup::beside(path, file), write_document(&document)));
            }
        }
    }
    match s.placer.as_ref().filter(|p| p.apply) {
        None => eprintln!("markers keep their places"),
        Some(placer) => {
            let placed = place(path, placer, &document, &model)?;
            for (file, text) in [
                (&placer.output_model_file, write_document(&placed.document)),
                (&placer.output_marker_file, write_document(&marker_set_document(&placed.document))),
                (&placer.output_motion_file, sto::write(&placed.pose, Digits::Shortest)),
            ] {
                if let Some(file) = file {
                    files.push((setup::beside(path, file), text));
                }
            }
        }
    }
    if files.is_empty() {
        let hint = "give an output_model_file";
        return Err(Failure::content(path, 0, "", "the setup asks for no output".to_string(), hint));
    }
    Ok(files)
}

/// The markers of a file, in today's form.
fn marker_set(path: &Path) -> Result<Vec<Element>, Failure> {
    let (document, log) = setup::upgraded(path)?;
    load::report(&log);
    let wrong =
        || Failure::content(path, document.root.line, "", "the file holds no `MarkerSet`".to_string(), "");
    markers_of(&document).ok_or_else(wrong)
}

/// The factors of all bodies, in the order the setup wants them set.
fn factors(
    path: &Path,
    scaler: &ModelScaler,
    (model, model_path): (&Model, &Path),
) -> Result<Factors, Failure> {
    let mut factors = Factors::unity(model);
    for step in &scaler.scaling_order {
        match step {
            ScalingStep::Measurements => {
                let list: Vec<Measurement> = (scaler.measurements.iter().filter(|m| m.apply))
                    .map(|m| Measurement {
                        name: m.name.clone(),
                        pairs: m.pairs.clone(),
                        bodies: m.bodies.clone(),
                    })
                    .collect();
                if list.is_empty() {
                    continue;
                }
                let file = setup::required(path, "marker_file", scaler.marker_file.as_deref())?;
                let markers = ik::marker_table(&file)?;
                let found = measure(model, &markers, scaler.time_range, &list, &mut factors)
                    .map_err(|e| Failure::content(&file, 0, "", e.to_string(), "check `time_range`"))?;
                report_measurements(&file, (model, model_path), &markers, &found);
            }
            ScalingStep::Manual => {
                let mut manual = scaler.manual.clone();
                if let Some(file) = &scaler.manual_file {
                    let file = setup::beside(path, file);
                    let (document, mut log) = setup::document(&file)?;
                    let list = document.and_then(|d| read_scale_set(&d, &mut log));
                    load::report(&log);
                    manual.extend(list.ok_or_else(|| load::errors(&file, &log))?);
                }
                for m in manual.iter().filter(|m| m.apply) {
                    if !factors.set(model, &m.segment, m.scales.map(Some)) {
                        let names = model.bodies.iter().map(|b| b.name.as_str());
                        let hint = crate::failure::nearest_hint("body of the model", &m.segment, names);
                        let mut log = Diagnostics::new(path.display().to_string());
                        log.warn(0, "", format!("there is no body `{}` to scale", m.segment), &hint);
                        load::report(&log);
                    }
                }
            }
        }
    }
    for (body, f) in model.bodies.iter().zip(&factors.0).skip(1) {
        let Vec3 { x, y, z } = f;
        let text = if x == y && y == z { format!("{x:.6}") } else { format!("{x:.6} {y:.6} {z:.6}") };
        eprintln!("scale {}: {text}", body.name);
    }
    Ok(factors)
}

/// Says what was measured, and what was not and why.
fn report_measurements(
    file: &Path,
    (model, model_path): (&Model, &Path),
    markers: &Table,
    found: &[Measured],
) {
    let mut log = Diagnostics::new(file.display().to_string());
    let mut of_model = Diagnostics::new(model_path.display().to_string());
    for m in found {
        if let Some(factor) = m.factor {
            eprintln!("measurement {}: {factor:.6} from {} pair(s)", m.name, m.distances.len());
            // Subjects are between half and twice the size of the generic model.
            if !(0.5..=2.0).contains(&factor) {
                let hint =
                    "check the unit of the marker file, and that its markers are named as on the model";
                log.warn(0, "", format!("measurement `{}` gives the factor {factor:.3}", m.name), hint);
            }
        } else {
            log.warn(0, "", format!("measurement `{}` is left out: a marker is missing", m.name), "");
        }
        for name in &m.not_in_model {
            let near = model.markers.iter().map(|m| m.name.as_str());
            let hint = crate::failure::nearest_hint("model marker", name, near);
            of_model.warn(
                0,
                "",
                format!("measurement `{}`: the model has no marker `{name}`", m.name),
                &hint,
            );
        }
        for name in &m.not_in_data {
            let near = markers.labels().iter().map(String::as_str).filter(|l| l != name);
            let hint = crate::failure::nearest_hint("marker of the data", name, near);
            log.warn(0, "", format!("measurement `{}`: the data have no marker `{name}`", m.name), &hint);
        }
        for name in &m.unknown_bodies {
            let near = model.bodies.iter().map(|b| b.name.as_str());
            let hint = crate::failure::nearest_hint("body of the model", name, near);
            of_model.warn(0, "", format!("measurement `{}`: the model has no body `{name}`", m.name), &hint);
        }
    }
    load::report(&log);
    load::report(&of_model);
}

fn place(path: &Path, placer: &MarkerPlacer, document: &Document, model: &Model) -> Result<Placed, Failure> {
    let file = setup::required(path, "marker_file", placer.marker_file.as_deref())?;
    let (markers, per_unit) = ik::markers_and_unit(&file)?;
    let mut list = placer.tasks.clone();
    if let Some(tasks) = &placer.task_file {
        list.extend(setup::tasks(&setup::beside(path, tasks))?);
    }
    let coordinates = match &placer.coordinate_file {
        Some(f) => Some(crate::tables::read_rows(&setup::beside(path, f), crate::tables::Take::Markers)?),
        None => None,
    };
    let tasks = soleus::inverse_kinematics::tasks_of(model, path, &list, coordinates.as_ref())?;
    let limit = (placer.max_marker_movement > 0.0).then_some(placer.max_marker_movement * per_unit);
    let placed = place_markers(document, &markers, placer.time_range, &tasks, true, limit)
        .map_err(|e| Failure::content(&file, 0, "", e.to_string(), ""))?;
    report_placement(&file, &placed);
    if !placed.fit.converged {
        let message = format!("the static pose did not converge: last step {:.1e}", placed.fit.last_step);
        return Err(Failure::NotSolved { message });
    }
    Ok(placed)
}

/// Says how well the static pose met the markers.
fn report_placement(file: &Path, p: &Placed) {
    let worst = p.fit.worst.and_then(|i| p.distances.get(i));
    let worst = worst.map_or(String::new(), |(name, d)| format!("; worst {name}, {:.1} mm", 1e3 * d));
    eprintln!("static pose: marker RMS {:.1} mm{worst}; {} markers moved", 1e3 * p.fit.rms, p.moved.len());
    let mut log = Diagnostics::new(file.display().to_string());
    // Twice what OpenSim's guide to scaling allows.
    const LARGE_M: f64 = 0.04;
    if let Some((name, d)) =
        p.distances.iter().filter(|_| p.fit.rms > LARGE_M).max_by(|a, b| a.1.total_cmp(&b.1))
    {
        let message = format!(
            "markers are {:.0} mm off on average in the static pose, `{name}` by {:.0} mm",
            1e3 * p.fit.rms,
            1e3 * d
        );
        log.warn(0, "", message, "check the markers on the model, and the unit and axes of the data");
    }
    if !p.removed.is_empty() {
        let message =
            format!("markers of the model that the data lack were removed: {}", p.removed.join(", "));
        log.warn(0, "", message, "");
    }
    for name in &p.not_seen {
        log.warn(0, "", format!("marker `{name}` is not seen in the static pose, and was not moved"), "");
    }
    for (name, d) in &p.restless {
        log.warn(0, "", format!("marker `{name}` moves by {:.1} mm during the static trial", 1e3 * d), "");
    }
    load::report(&log);
}

/// The factors as OpenSim writes them.
fn scale_set(model: &Model, factors: &Factors) -> Document {
    let mut objects = Element::new("objects", 0);
    for (body, Vec3 { x, y, z }) in model.bodies.iter().zip(&factors.0) {
        let mut scale = Element::new("Scale", 0);
        scale.push(Element::with_text("scales", format!("{x} {y} {z}"), 0));
        scale.push(Element::with_text("segment", body.name.as_str(), 0));
        scale.push(Element::with_text("apply", "true", 0));
        objects.push(scale);
    }
    let mut set = Element::new("ScaleSet", 0);
    set.set_attribute("name", model.name.as_str());
    set.push(objects);
    let mut root = Element::new("OpenSimDocument", 0);
    root.set_attribute("Version", soleus_io::osim::LATEST_VERSION.to_string());
    root.push(set);
    Document { version: soleus_io::osim::LATEST_VERSION, root, ..Document::default() }
}

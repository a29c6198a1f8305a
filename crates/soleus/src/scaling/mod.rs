//! Scaling: fits a generic model to a subject and places its markers.

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Silent};
use crate::error::{Error, nearest_hint};
use crate::inputs::paths::{beside, required};
use crate::inputs::table::{Take, read_markers, read_rows};
use crate::inputs::{model, setup};
use crate::inverse_kinematics::{bound, range, tasks_of};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_io::osim::write_document;
pub use soleus_io::setup::{
    IkMarkerTask as MarkerTask, IkTask, ManualScale, MeasurementSetup, ScaleSetup, ScalingStep,
};
use soleus_io::setup::{read_scale_set, write_scale_set};
use soleus_io::table::sto::{self, Digits};
use soleus_math::{Table, Vec3, vec3};
use soleus_model::body::Body;
use soleus_model::marker_set::{
    marker_set_document, markers_of, rename_marker, retain_markers, update_markers,
};
use soleus_model::{Diagnostics, Document, Element, Model, ScaleOptions};
use soleus_tools::quality::no_common_marker;
use soleus_tools::scale::{
    Factors, Measured, Measurement, Placed, Sizes, fit_sizes, height_of, is_on_landmark, match_markers,
    measure, place_markers, place_markers_in_motion, scale_model,
};
use std::path::{Path, PathBuf};

/// A mass above this is in grams, unless the model is of a large animal: then it is less than this many times the model's.
const LARGEST_MASS_KG: f64 = 500.0;
const LARGEST_RATIO: f64 = 5.0;

/// Scales a generic model to a subject and places its markers.
///
/// ```no_run
/// use soleus::{Context, Disk, Scaling};
/// let files = Disk::new();
/// let request = Scaling::of_static_trial("generic.osim", "static.trc").measured_by("scale_setup.xml");
/// let subject = request.run(&Context::new(&files))?;
/// println!("{:.1} kg", subject.model.total_mass());
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Scaling {
    /// Generic model.
    pub model: ModelSource,
    /// Name of the scaled model; if empty, that of the generic model.
    pub name: String,
    /// Marker set to add to the model first: an XML file with a MarkerSet. Markers with the same name are replaced.
    pub marker_set: Option<PathBuf>,
    /// Mass of the subject, kg; default: computed from the scale factors.
    pub mass: Option<f64>,
    /// Height of the subject, m: determines the size of segments without suitable markers.
    pub height: Option<f64>,
    /// Whether markers of the model are renamed to the names in the static trial if these denote the same place
    /// (`RASI`, `R.ASIS`, `r.ASIS_study`), so that the scaled model fits the other trials of the laboratory. Setup files do not.
    pub match_names: bool,
    /// Pairs of marker names in the static trial and on the model, for names that are not recognized.
    pub map: Vec<[String; 2]>,
    /// How bodies are scaled; default: no scaling.
    pub factors: Option<FactorSettings>,
    /// How markers are placed; default: markers are only scaled.
    pub placing: Option<PlacingSettings>,
    /// Whether to reproduce errors of OpenSim 4.6, which does not scale some properties, for comparison.
    pub opensim_faults: bool,
    /// Files to write.
    pub output: ScalingOutput,
    /// File that the request was read from, for messages.
    pub asked_in: Option<PathBuf>,
}

impl Default for Scaling {
    fn default() -> Self {
        Scaling {
            model: ModelSource::default(),
            name: String::new(),
            marker_set: None,
            mass: None,
            height: None,
            match_names: true,
            map: Vec::new(),
            factors: None,
            placing: None,
            opensim_faults: false,
            output: ScalingOutput::default(),
            asked_in: None,
        }
    }
}

/// Source of the scale factors.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct FactorSettings {
    /// Whether to fit the sizes of all bodies to all markers first; factors set by `order` take precedence. Default: if there are markers, but
    /// neither marker pairs nor manual factors.
    pub from_markers: Option<bool>,
    /// Sources of scale factors; later ones replace earlier ones.
    pub order: Vec<ScalingStep>,
    /// Marker pairs and the bodies they scale.
    pub measurements: Vec<MeasurementSetup>,
    /// File with more measurements: a setup of the ScaleTool, or an XML file with a MeasurementSet.
    pub measurement_file: Option<PathBuf>,
    /// Manual scale factors.
    pub manual: Vec<ManualScale>,
    /// File with more manual scale factors: a ScaleSet.
    pub manual_file: Option<PathBuf>,
    /// Markers of a static trial (.trc, .sto or .c3d).
    pub markers: Option<Source<Table>>,
    /// Start time in the static trial, s.
    pub from: Option<f64>,
    /// End time in the static trial, s.
    pub to: Option<f64>,
    /// Whether to keep each body's fraction of the total mass.
    pub preserve_mass_distribution: bool,
}

impl Default for FactorSettings {
    fn default() -> Self {
        FactorSettings {
            from_markers: None,
            order: vec![ScalingStep::Measurements, ScalingStep::Manual],
            measurements: Vec::new(),
            measurement_file: None,
            manual: Vec::new(),
            manual_file: None,
            markers: None,
            from: None,
            to: None,
            preserve_mass_distribution: false,
        }
    }
}

impl FactorSettings {
    /// Whether the sizes of all bodies are fitted to all markers.
    fn fits_all_markers(&self) -> bool {
        let is_measured = !self.measurements.is_empty() || self.measurement_file.is_some();
        let is_manual = !self.manual.is_empty() || self.manual_file.is_some();
        self.from_markers.unwrap_or(self.markers.is_some() && !is_measured && !is_manual)
    }
}

/// How the static pose for marker placement is found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlacingSettings {
    /// Markers of a static trial (.trc, .sto or .c3d).
    pub markers: Source<Table>,
    /// Weights; default: 1 for all markers.
    pub tasks: Vec<IkTask>,
    /// File with more tasks: an IKTaskSet, or a setup file.
    pub task_file: Option<PathBuf>,
    /// Values of the coordinates in tasks.
    pub coordinates: Option<Source<Table>>,
    /// Start time in the static trial, s.
    pub from: Option<f64>,
    /// End time in the static trial, s.
    pub to: Option<f64>,
    /// Maximum movement of a marker during the static trial, in the unit of its file; markers that move more are
    /// reported.
    pub max_marker_movement: Option<f64>,
}

/// Output files of scaling; files without a name are not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScalingOutput {
    /// Output file for the scaled model before marker placement.
    pub scaled_model: Option<PathBuf>,
    /// Output file for the scale factors (XML, a ScaleSet).
    pub factors: Option<PathBuf>,
    /// Output file for the model with placed markers, or the scaled model if markers are not placed.
    pub model: Option<PathBuf>,
    /// Output file for the markers (XML, a MarkerSet).
    pub markers: Option<PathBuf>,
    /// Output file for the static pose (.mot, all states, rad and m).
    pub pose: Option<PathBuf>,
}

impl Scaling {
    /// Scaling by a static trial: body sizes are fitted to its markers, unless there are marker pairs or manual factors, and the markers are
    /// placed.
    pub fn of_static_trial(model: impl Into<ModelSource>, markers: impl Into<Source<Table>>) -> Self {
        let markers = markers.into();
        Scaling {
            model: model.into(),
            factors: Some(FactorSettings { markers: Some(markers.clone()), ..FactorSettings::default() }),
            placing: Some(PlacingSettings { markers, ..PlacingSettings::default() }),
            ..Scaling::default()
        }
    }

    /// With a part of the static trial, s.
    pub fn between(mut self, from: Option<f64>, to: Option<f64>) -> Self {
        if let Some(factors) = &mut self.factors {
            (factors.from, factors.to) = (from, to);
        }
        if let Some(placing) = &mut self.placing {
            (placing.from, placing.to) = (from, to);
        }
        self
    }

    /// With the marker pairs of a file: a setup of the ScaleTool, or an XML file with a MeasurementSet.
    pub fn measured_by(mut self, file: impl Into<PathBuf>) -> Self {
        self.factors.get_or_insert_default().measurement_file = Some(file.into());
        self
    }

    /// Creates the request from a setup file.
    pub fn from_setup(path: &Path, s: &ScaleSetup) -> Result<Self, Error> {
        let at = |file: &Option<String>| file.as_ref().map(|f| beside(path, f));
        let (scaler, placer) = (s.scaler.as_ref().filter(|m| m.apply), s.placer.as_ref().filter(|p| p.apply));
        let factors = scaler.map(|m| FactorSettings {
            from_markers: Some(false),
            order: m.scaling_order.clone(),
            measurements: m.measurements.clone(),
            measurement_file: None,
            manual: m.manual.clone(),
            manual_file: at(&m.manual_file),
            markers: at(&m.marker_file).map(Source::File),
            from: bound(m.time_range[0]),
            to: bound(m.time_range[1]),
            preserve_mass_distribution: m.preserve_mass_distribution,
        });
        let placing = match placer {
            None => None,
            Some(p) => Some(PlacingSettings {
                markers: required(path, "marker_file", p.marker_file.as_deref())?.into(),
                tasks: p.tasks.clone(),
                task_file: at(&p.task_file),
                coordinates: at(&p.coordinate_file).map(Source::File),
                from: bound(p.time_range[0]),
                to: bound(p.time_range[1]),
                max_marker_movement: (p.max_marker_movement > 0.0).then_some(p.max_marker_movement),
            }),
        };
        Ok(Scaling {
            model: required(path, "model_file", s.model_file.as_deref())?.into(),
            name: s.name.clone(),
            marker_set: at(&s.marker_set_file),
            mass: (s.mass > 0.0).then_some(s.mass),
            height: None,
            match_names: false,
            map: Vec::new(),
            factors,
            placing,
            opensim_faults: false,
            output: ScalingOutput {
                scaled_model: scaler.and_then(|m| at(&m.output_model_file)),
                factors: scaler.and_then(|m| at(&m.output_scale_file)),
                model: placer.and_then(|p| at(&p.output_model_file)),
                markers: placer.and_then(|p| at(&p.output_marker_file)),
                pose: placer.and_then(|p| at(&p.output_motion_file)),
            },
            asked_in: Some(path.to_path_buf()),
        })
    }

    /// Scales the model and places its markers.
    pub fn run(&self, cx: &Context) -> Result<ScaledModel, Error> {
        let path = self.asked_in.as_deref().unwrap_or(self.model.path());
        self.check(path)?;
        let mut document = model::document(cx, &self.model)?;
        if let Some(file) = &self.marker_set {
            update_markers(&mut document, marker_set(cx, file)?);
        }
        if self.match_names || !self.map.is_empty() {
            self.match_markers(cx, &mut document)?;
        }
        let element = match document.root.tag == "Model" {
            true => Some(&mut document.root),
            false => document.root.child_mut("Model"),
        };
        if let Some(e) = element.filter(|_| !self.name.is_empty()) {
            e.set_attribute("name", self.name.as_str());
        }
        let model = model::build(cx, self.model.path(), &document)?;
        let generic = model.total_mass();
        if let Some(mass) = self.mass.filter(|m| *m > LARGEST_MASS_KG && *m > LARGEST_RATIO * generic) {
            let message = format!("{mass} kg is {:.0} times the mass of the model", mass / generic);
            let hint = format!("give the mass in kg: {mass} g is {} kg", mass / 1000.0);
            return Err(Error::content(path, 0, "", message, &hint));
        }
        let mut result = ScaledModel {
            document,
            model,
            factors: None,
            scaled_document: None,
            placed: None,
            sizes: None,
            output: self.output.clone(),
        };
        match &self.factors {
            None => cx.note("the model is not scaled: the setup has no ModelScaler, or `apply` is false"),
            Some(settings) => self.scale(cx, path, settings, &mut result)?,
        }
        match &self.placing {
            None => cx.note("markers are not moved"),
            Some(settings) => {
                let mut settings = settings.clone();
                if settings.tasks.is_empty() && settings.task_file.is_none() {
                    settings.tasks = result.marker_weights();
                }
                let placed = place(cx, path, &settings, &result)?;
                (result.document, result.model) = (placed.document.clone(), placed.model.clone());
                result.placed = Some(placed);
            }
        }
        Ok(result)
    }

    /// Gives markers of the model the names that the static trial has for them.
    fn match_markers(&self, cx: &Context, document: &mut Document) -> Result<(), Error> {
        let placing = self.placing.as_ref().map(|p| &p.markers);
        let Some(source) = placing.or(self.factors.as_ref().and_then(|f| f.markers.as_ref())) else {
            return Ok(());
        };
        let (table, _) = read_markers(&cx.with_monitor(&Silent), source)?;
        let own: Vec<String> =
            markers_of(document).unwrap_or_default().iter().map(|e| e.name().to_string()).collect();
        if own.is_empty() {
            let message = "the model has no markers for scaling";
            let hint = "add a marker set (--marker-set), or use a model with markers";
            return Err(Error::content(self.model.path(), 0, "", message, hint));
        }
        for [lab, marker] in &self.map {
            let complain = |name: &str, list: &[String], what: &str| {
                if !list.iter().any(|n| n == name) {
                    let hint = nearest_hint(what, name, list.iter().map(String::as_str));
                    cx.warn(source.path(), format!("`{lab}={marker}`: no {what} is called `{name}`"), &hint);
                }
            };
            complain(lab, table.labels(), "marker of the data");
            complain(marker, &own, "marker of the model");
        }
        let found = match_markers(&own, table.labels(), &self.map);
        if found.same == 0 && found.renamed.is_empty() {
            let message =
                no_common_marker(table.labels().iter().map(String::as_str), own.iter().map(String::as_str));
            return Err(Error::content(source.path(), 0, "", message, "map them with --map LAB=MODEL"));
        }
        // All at once, as a new name may be the old one of another marker.
        for (k, [old, _]) in found.renamed.iter().enumerate() {
            rename_marker(document, old, &format!("\u{1}{k}"));
        }
        let taken = |name: &str| found.renamed.iter().any(|[_, new]| new == name);
        retain_markers(document, |name| !taken(name));
        for (k, [_, new]) in found.renamed.iter().enumerate() {
            rename_marker(document, &format!("\u{1}{k}"), new);
        }
        if !found.renamed.is_empty() {
            let list: Vec<String> = found.renamed.iter().map(|[m, d]| format!("{d} = {m}")).collect();
            cx.note(format!("markers renamed as in the data: {}", list.join(", ")));
        }
        let mut log = Diagnostics::new(source.path().display().to_string());
        for name in &found.unknown {
            let near = soleus_model::nearest_name(name, found.missing.iter().map(String::as_str), 3);
            let near = near.map_or(String::new(), |n| format!("; the nearest is `{n}`"));
            cx.note(format!("marker `{name}` is not in the model{near}"));
        }
        if !found.unknown.is_empty() {
            let message = format!("{} markers of the data are not used", found.unknown.len());
            log.warn(0, "", message, "map those that the model has with --map LAB=MODEL");
            cx.report(&log);
        }
        Ok(())
    }

    /// Sizes of all bodies from all markers.
    fn sizes(&self, cx: &Context, settings: &FactorSettings, result: &ScaledModel) -> Result<Sizes, Error> {
        let Some(source) = &settings.markers else {
            let hint = "give the markers of a static trial";
            return Err(Error::content(self.model.path(), 0, "", "there are no markers for scaling", hint));
        };
        let (markers, _) = read_markers(&cx.with_monitor(&Silent), source)?;
        let file = source.path();
        let range = range(file, settings.from, settings.to)?;
        let usual = self.height.and_then(|h| Some(h / height_of(&result.model)?));
        let wrong = |e: soleus_tools::scale::Error| Error::content(file, 0, "", e.to_string(), "");
        let sizes = fit_sizes(&result.document, &markers, range, usual).map_err(wrong)?;
        let mut log = Diagnostics::new(file.display().to_string());
        for s in sizes.segments.iter().filter(|s| s.factors.iter().any(|f| !(0.5..=2.0).contains(f))) {
            let message = format!("the factors of `{}` would be {:.3?}", s.bodies.join("`, `"), s.factors);
            let hint = "check the unit of the marker file, and that its markers are named as on the model";
            log.warn(0, "", message, hint);
        }
        if !sizes.converged {
            log.warn(
                0,
                "",
                "scale factors and pose did not converge",
                "check the names of the markers (--map)",
            );
        }
        cx.report(&log);
        cx.note(format!("scale factors from {} markers: RMS {:.1} mm", sizes.weights.len(), 1e3 * sizes.rms));
        Ok(sizes)
    }

    fn check(&self, path: &Path) -> Result<(), Error> {
        if let Some(h) = self.height.filter(|h| !(0.3..3.0).contains(h)) {
            let message = format!("{h} m is not a valid height");
            return Err(Error::content(path, 0, "", message, "give the height in metres, such as 1.80"));
        }
        let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
        if let Some(mass) = self.mass.filter(|m| !(*m > 0.0 && m.is_finite())) {
            return wrong(format!("{mass} kg is not a valid mass"), "give a positive number of kg");
        }
        for m in self.factors.iter().flat_map(|f| &f.manual) {
            if !m.scales.iter().all(|x| *x > 0.0 && x.is_finite()) {
                let message = format!("the factors of `{}` are {:?}", m.segment, m.scales);
                return wrong(message, "factors must be positive; 1 keeps the size");
            }
        }
        if self.asked_in.is_some() && self.output == ScalingOutput::default() {
            return wrong("the setup has no output".to_string(), "give an output_model_file");
        }
        Ok(())
    }

    fn scale(
        &self,
        cx: &Context,
        path: &Path,
        settings: &FactorSettings,
        result: &mut ScaledModel,
    ) -> Result<(), Error> {
        let model_path = self.model.path();
        if settings.fits_all_markers() {
            result.sizes = Some(self.sizes(cx, settings, result)?);
        }
        let start =
            result.sizes.as_ref().map_or_else(|| Factors::unity(&result.model), |s| s.factors.clone());
        let factors = factors(cx, path, settings, (&result.model, model_path), start)?;
        if factors.0.iter().skip(1).all(|f| *f == vec3(1.0, 1.0, 1.0)) {
            let hint = "give markers of a static trial, marker pairs (--measurements) or factors (--factor)";
            cx.warn(path, "scaling had no effect: all factors are 1", hint);
        }
        let options = ScaleOptions {
            preserve_mass_distribution: settings.preserve_mass_distribution,
            mass: self.mass,
            opensim_faults: self.opensim_faults,
        };
        let mut log = Diagnostics::new(model_path.display().to_string());
        let scaled = scale_model(&result.document, &result.model, &factors, &options, &mut log);
        cx.report(&log);
        let scaled = scaled.map_err(|e| Error::content(model_path, 0, "", e.to_string(), ""))?;
        let (before, after) = (result.model.total_mass(), scaled.model.total_mass());
        cx.note(format!("mass {before:.3} kg before, {after:.3} kg after"));
        result.factors =
            Some((write_scale_set(&result.model.name, &listed(&result.model, &factors)), factors));
        (result.document, result.model) = (scaled.document, scaled.model);
        result.scaled_document = Some(result.document.clone());
        Ok(())
    }
}

/// A scaled model.
#[derive(Debug)]
pub struct ScaledModel {
    /// Document of the model, to be written.
    pub document: Document,
    /// The model.
    pub model: Model,
    /// Segment sizes from all markers, if requested.
    pub sizes: Option<Sizes>,
    /// Static pose and its marker errors, if markers were placed.
    pub placed: Option<Placed>,
    factors: Option<(String, Factors)>,
    scaled_document: Option<Document>,
    output: ScalingOutput,
}

impl ScaledModel {
    /// Weights of markers for the static pose: those that sit where the model has them count most.
    fn marker_weights(&self) -> Vec<IkTask> {
        let weights = self.sizes.iter().flat_map(|s| &s.weights);
        let task = |(name, weight): &(String, f64)| {
            IkTask::Marker(MarkerTask { name: name.clone(), apply: true, weight: *weight })
        };
        weights.map(task).collect()
    }

    /// Scale factors of all bodies in the order of the generic model, if it was scaled.
    pub fn factors(&self) -> Option<&Factors> {
        self.factors.as_ref().map(|(_, f)| f)
    }
}

impl Outcome for ScaledModel {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let o = &self.output;
        let mut list = Vec::new();
        let mut add = |file: &Option<PathBuf>, text: &dyn Fn() -> String| {
            list.extend(file.as_ref().map(|f| Artifact::text(f, text()).derived()));
        };
        if let Some((set, _)) = &self.factors {
            add(&o.factors, &|| set.clone());
        }
        if let Some(scaled) = &self.scaled_document {
            add(&o.scaled_model, &|| write_document(scaled));
        }
        add(&o.model, &|| write_document(&self.document));
        if let Some(placed) = &self.placed {
            add(&o.markers, &|| write_document(&marker_set_document(&placed.document)));
            add(&o.pose, &|| sto::write(&placed.pose, Digits::Shortest));
        }
        list
    }

    fn verdict(&self) -> Result<(), Error> {
        match &self.placed {
            Some(p) if !p.fit.converged => {
                let message = format!("the static pose did not converge: last step {:.1e}", p.fit.last_step);
                Err(Error::NotSolved { message })
            }
            _ => Ok(()),
        }
    }
}

/// The markers of a file, in today's form.
fn marker_set(cx: &Context, path: &Path) -> Result<Vec<Element>, Error> {
    let (document, log) = setup::upgraded(cx, path)?;
    let document = cx.settle(path, Some(document), log)?;
    let wrong = || Error::content(path, document.root.line, "", "the file contains no `MarkerSet`", "");
    markers_of(&document).ok_or_else(wrong)
}

/// The factors of all bodies, in the order the setup wants them set.
fn factors(
    cx: &Context,
    path: &Path,
    settings: &FactorSettings,
    (model, model_path): (&Model, &Path),
    mut factors: Factors,
) -> Result<Factors, Error> {
    for step in &settings.order {
        match step {
            ScalingStep::Measurements => {
                let mut all = settings.measurements.clone();
                if let Some(file) = &settings.measurement_file {
                    all.extend(setup::measurements(cx, file)?);
                }
                let list: Vec<Measurement> = (all.iter().filter(|m| m.apply))
                    .map(|m| Measurement {
                        name: m.name.clone(),
                        pairs: m.pairs.clone(),
                        bodies: m.bodies.clone(),
                    })
                    .collect();
                if list.is_empty() {
                    continue;
                }
                let Some(source) = &settings.markers else {
                    return Err(Error::content(path, 0, "", "the tool needs a `marker_file`", ""));
                };
                let (markers, _) = read_markers(cx, source)?;
                let file = source.path();
                let range = range(file, settings.from, settings.to)?;
                let found = measure(model, &markers, range, &list, &mut factors)
                    .map_err(|e| Error::content(file, 0, "", e.to_string(), "check `time_range`"))?;
                report_measurements(cx, file, (model, model_path), &markers, &found);
            }
            ScalingStep::Manual => {
                let mut manual = settings.manual.clone();
                if let Some(file) = &settings.manual_file {
                    let (document, mut log) = setup::document(cx, file)?;
                    let list = document.and_then(|d| read_scale_set(&d, &mut log));
                    manual.extend(cx.settle(file, list, log)?);
                }
                for m in manual.iter().filter(|m| m.apply) {
                    if !factors.set(model, &m.segment, m.scales.map(Some)) {
                        let names = model.bodies.iter().map(|b| b.name.as_str());
                        let hint = nearest_hint("body of the model", &m.segment, names);
                        cx.warn(path, format!("no body is called `{}`", m.segment), &hint);
                    }
                }
            }
        }
    }
    for (body, f) in model.bodies.iter().zip(&factors.0).skip(1) {
        let Vec3 { x, y, z } = f;
        let text = if x == y && y == z { format!("{x:.3}") } else { format!("{x:.3} {y:.3} {z:.3}") };
        cx.note(format!("scale {}: {text}", body.name));
    }
    Ok(factors)
}

/// Says what was measured, and what was not and why.
fn report_measurements(
    cx: &Context,
    file: &Path,
    (model, model_path): (&Model, &Path),
    markers: &Table,
    found: &[Measured],
) {
    let mut log = Diagnostics::new(file.display().to_string());
    let mut of_model = Diagnostics::new(model_path.display().to_string());
    for m in found {
        if let Some(factor) = m.factor {
            cx.note(format!("measurement {}: {factor:.3} from {} pair(s)", m.name, m.distances.len()));
            // Subjects are between half and twice the size of the generic model.
            if !(0.5..=2.0).contains(&factor) {
                let hint =
                    "check the unit of the marker file, and that its markers are named as on the model";
                log.warn(0, "", format!("measurement `{}` gives the factor {factor:.3}", m.name), hint);
            }
        } else {
            log.warn(0, "", format!("measurement `{}` is skipped: a marker is missing", m.name), "");
        }
        for name in &m.not_in_model {
            let near = model.markers.iter().map(|m| m.name.as_str());
            let hint = nearest_hint("model marker", name, near);
            of_model.warn(
                0,
                "",
                format!("measurement `{}`: the model has no marker `{name}`", m.name),
                &hint,
            );
        }
        for name in &m.not_in_data {
            let near = markers.labels().iter().map(String::as_str).filter(|l| l != name);
            let hint = nearest_hint("marker of the data", name, near);
            log.warn(0, "", format!("measurement `{}`: the data have no marker `{name}`", m.name), &hint);
        }
        for name in &m.unknown_bodies {
            let near = model.bodies.iter().map(|b| b.name.as_str());
            let hint = nearest_hint("body of the model", name, near);
            of_model.warn(0, "", format!("measurement `{}`: the model has no body `{name}`", m.name), &hint);
        }
    }
    cx.report(&log);
    cx.report(&of_model);
}

fn place(
    cx: &Context,
    path: &Path,
    settings: &PlacingSettings,
    scaled: &ScaledModel,
) -> Result<Placed, Error> {
    let (document, model) = (&scaled.document, &scaled.model);
    let file = settings.markers.path();
    let (markers, per_unit) = read_markers(cx, &settings.markers)?;
    let mut list = settings.tasks.clone();
    if let Some(tasks) = &settings.task_file {
        list.extend(setup::tasks(cx, tasks)?);
    }
    let coordinates = match &settings.coordinates {
        Some(source) => Some(read_rows(cx, source, Take::Markers)?),
        None => None,
    };
    let tasks = tasks_of(model, path, &list, coordinates.as_ref())?;
    let limit = settings.max_marker_movement.map(|m| m * per_unit);
    let range = range(file, settings.from, settings.to)?;
    let wrong = |e: soleus_tools::scale::Error| Error::content(file, 0, "", e.to_string(), "");
    // Marker pairs are measured in a trial in which the subject stands, as in OpenSim; markers alone work in any trial.
    let placed = if let Some(sizes) = &scaled.sizes {
        let (placed, frames) =
            place_markers_in_motion(document, &markers, range, &tasks, &sizes.displaced_arms, limit)
                .map_err(wrong)?;
        if !sizes.displaced.is_empty() {
            let names: Vec<&str> = sizes.displaced.iter().map(|(n, _)| n.as_str()).collect();
            cx.note(format!(
                "the arms are raised: {} are moved to where they would be with the arms hanging, and get a low weight",
                names.join(", ")
            ));
        }
        if frames > 1 {
            cx.note(format!(
                "the subject moves: markers are placed at their mean position over {frames} poses"
            ));
        }
        placed
    } else {
        place_markers(document, &markers, range, &tasks, true, limit).map_err(wrong)?
    };
    report_placement(cx, file, &placed, scaled.sizes.is_some());
    Ok(placed)
}

/// Says how well the static pose met the markers.
fn report_placement(cx: &Context, file: &Path, p: &Placed, of_landmarks: bool) {
    // With sizes from all markers, clusters have little weight, and are moved to where they were worn.
    let mut judged: Vec<&(String, f64)> = p
        .distances
        .iter()
        .filter(|(name, d)| d.is_finite() && (!of_landmarks || is_on_landmark(name)))
        .collect();
    let of_landmarks = of_landmarks && !judged.is_empty();
    if judged.is_empty() {
        judged = p.distances.iter().filter(|(_, d)| d.is_finite()).collect();
    }
    let rms = match of_landmarks {
        true => (judged.iter().map(|(_, d)| d * d).sum::<f64>() / judged.len() as f64).sqrt(),
        false => p.fit.rms,
    };
    let worst = judged.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let of = if of_landmarks && judged.len() < p.distances.len() {
        format!(" at {} landmarks", judged.len())
    } else {
        String::new()
    };
    let name = worst.map_or(String::new(), |(name, d)| format!("; worst {name}, {:.1} mm", 1e3 * d));
    cx.note(format!(
        "static pose: marker RMS {:.1} mm{of}{name}; {} markers moved",
        1e3 * rms,
        p.moved.len()
    ));
    let mut log = Diagnostics::new(file.display().to_string());
    // Twice what OpenSim's guide to scaling allows.
    const LARGE_M: f64 = 0.04;
    if let Some((name, d)) = worst.filter(|_| rms > LARGE_M) {
        let message = format!(
            "markers are {:.0} mm off on average in the static pose, `{name}` by {:.0} mm",
            1e3 * rms,
            1e3 * d
        );
        log.warn(0, "", message, "check the markers of the model, and the unit and axes of the data");
    }
    if !p.removed.is_empty() {
        let message = format!("markers without data were removed from the model: {}", p.removed.join(", "));
        log.warn(0, "", message, "");
    }
    for name in &p.not_seen {
        log.warn(0, "", format!("marker `{name}` is not visible in the static pose and was not moved"), "");
    }
    for (name, d) in &p.restless {
        log.warn(0, "", format!("marker `{name}` moves by {:.1} mm during the static trial", 1e3 * d), "");
    }
    cx.report(&log);
}

/// The factors of all bodies, as a file lists them.
fn listed(model: &Model, factors: &Factors) -> Vec<ManualScale> {
    let scale = |(body, f): (&Body, &Vec3<f64>)| ManualScale {
        segment: body.name.clone(),
        apply: true,
        scales: f.to_array(),
    };
    model.bodies.iter().zip(&factors.0).map(scale).collect()
}

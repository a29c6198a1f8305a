//! Creates a pipeline from a generic model, a static trial and motion trials.

use super::PipelineFile;
use crate::artifact::Artifact;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::stem_of;
use serde::{Deserialize, Serialize};
use soleus_io::pipeline::{self, Filter, Optimization, Scale, Trial};
use std::path::{Path, PathBuf};

/// Recorded data of a subject, from which a pipeline file is created.
///
/// ```no_run
/// use soleus::pipeline::{FromTrials, RecordedTrial};
/// use soleus::{Context, Disk, Outcome, Pipeline};
/// let files = Disk::new();
/// let cx = Context::new(&files);
/// let recorded = FromTrials {
///     model: "generic.osim".into(),
///     still: Some("static.trc".into()),
///     mass: Some(72.0),
///     trials: vec![RecordedTrial { markers: "walk.trc".into(), loads: Some("walk_grf.mot".into()) }],
///     output: "results".into(),
///     ..Default::default()
/// };
/// let file = recorded.write(&cx)?;
/// let done = Pipeline::of_file(file).run(&cx)?;
/// done.write(&cx)?;
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct FromTrials {
    /// Generic model, or a scaled model if there is no static trial.
    pub model: PathBuf,
    /// Markers of a static trial.
    pub still: Option<PathBuf>,
    /// Marker set to add to the model first (XML, a MarkerSet).
    pub marker_set: Option<PathBuf>,
    /// Mass of the subject, kg.
    pub mass: Option<f64>,
    /// Height of the subject, m.
    pub height: Option<f64>,
    /// Pairs of marker names in the laboratory and on the model, for names that are not recognized.
    pub map: Vec<[String; 2]>,
    /// The trials.
    pub trials: Vec<RecordedTrial>,
    /// Cutoff frequency of the low-pass filter on the joint angles, Hz.
    pub cutoff_hz: f64,
    /// Whether to compute muscle forces.
    pub muscles: bool,
    /// Normative curves for the summary page (.csv): columns `percent`, and NAME and `sd_NAME` for each curve; default:
    /// angles of Winter's adults (1991).
    pub normative: Option<PathBuf>,
    /// Output folder for the pipeline file and the results.
    pub output: PathBuf,
}

/// A recorded trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedTrial {
    /// Markers (.trc, .c3d, .sto).
    pub markers: PathBuf,
    /// Force plates (.mot, .sto, .csv, .c3d), or an ExternalLoads file.
    pub loads: Option<PathBuf>,
}

impl Default for FromTrials {
    fn default() -> Self {
        FromTrials {
            model: PathBuf::new(),
            still: None,
            marker_set: None,
            mass: None,
            height: None,
            map: Vec::new(),
            trials: Vec::new(),
            cutoff_hz: 6.0,
            muscles: true,
            normative: None,
            output: "results".into(),
        }
    }
}

/// Optimal forces of reserve actuators (N m or N) and of residual actuators (N m, N): strong enough for any trial, and dear, as their
/// activation counts as that of muscles does.
const RESERVES: f64 = 1.0;
const RESIDUALS: [f64; 2] = [10.0, 50.0];

impl FromTrials {
    /// The pipeline, with absolute file names.
    pub fn pipeline(&self, cx: &Context) -> PipelineFile {
        let at = |f: &Path| cx.files.absolute(f);
        let mut names: Vec<String> = Vec::new();
        for t in &self.trials {
            let stem = stem_of(&t.markers, "trial");
            let count = names.iter().filter(|n| **n == stem).count();
            names.push(if count > 0 { format!("{stem}_{}", names.len() + 1) } else { stem });
        }
        let trial = |(t, name): (&RecordedTrial, String)| Trial {
            name,
            markers: Some(at(&t.markers)),
            loads: t.loads.as_deref().map(at),
            ..Trial::default()
        };
        let title = match &names[..] {
            [one] => one.clone(),
            several => format!("{} trials", several.len()),
        };
        PipelineFile {
            name: Some(title),
            out: Some(".".into()),
            model: self.still.is_none().then(|| at(&self.model)),
            scale: self.still.as_deref().map(|still| Scale {
                model: Some(at(&self.model)),
                markers: Some(at(still)),
                marker_set: self.marker_set.as_deref().map(at),
                mass: self.mass,
                height: self.height,
                map: self.map.iter().map(|[lab, own]| (lab.clone(), own.clone())).collect(),
                ..Scale::default()
            }),
            filter: Some(Filter { lowpass_hz: self.cutoff_hz }),
            so: self.muscles.then(|| Optimization {
                reserves: Some(RESERVES),
                residuals: Some(RESIDUALS),
                ..Optimization::default()
            }),
            normative: self.normative.as_deref().map(at),
            trials: self.trials.iter().zip(names).map(trial).collect(),
            ..PipelineFile::default()
        }
    }

    /// Writes the pipeline file, which can be edited and run again, and returns its name.
    pub fn write(&self, cx: &Context) -> Result<PathBuf, Error> {
        if self.trials.is_empty() {
            let message = match self.model.as_os_str().is_empty() {
                true => "neither a pipeline file nor trials are given",
                false => "no trials are given: --markers is missing",
            };
            let hint = "soleus pipeline STUDY.toml, or without a file: soleus pipeline --model GENERIC.osim --static STATIC.trc --mass 72 \
                --markers WALK.trc --loads WALK_GRF.mot";
            return Err(Error::content(Path::new(""), 0, "", message, hint));
        }
        let file = self.output.join("pipeline.toml");
        Artifact::text(&file, pipeline::write(&self.pipeline(cx))).derived().write(cx)?;
        cx.note(format!("wrote {}", file.display()));
        Ok(file)
    }
}

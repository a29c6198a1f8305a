//! Prediction of walking with minimum effort, by a built-in planar model.
//!
//! Nothing is measured or tracked. From a straight-line initial guess, [`PredictWalk`] finds the periodic walk with
//! minimum effort at the given speed and with an upright trunk.
//!
//! ```no_run
//! use soleus::{Context, Memory, PredictWalk};
//! let files = Memory::new();
//! let walk = PredictWalk { speed: 1.2, ..Default::default() }.run(&Context::new(&files))?;
//! println!("one cycle takes {:.2} s", walk.walk.duration());
//! # Ok::<(), soleus::Error>(())
//! ```

mod conditions;
mod cycle;
mod gait_page;
mod page;
mod request;
mod whole;
pub(crate) mod winter;

pub use cycle::{Watch, at_speed, predict, predicted_cycle};
pub use page::{Walk, page, strip};
pub use request::{EFFORTS, FoundParameter, Predict, PredictedGait};
pub use whole::WholeCycle;
pub use winter::Winter;

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Progress};
use crate::error::Error;
use crate::inputs::model::{build, compile};
use crate::optimal_control::run::progress::tell_motion;
use crate::source::ModelSource;
use conditions::{Conditions, EASY_SPEED, Kept};
use serde::{Deserialize, Serialize};
use soleus_control::continuation;
use soleus_control::gait::Planar;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::transcription::StatesReader;
use soleus_dynamics::Options;
use soleus_io::osim::write_document;
use soleus_model::{Document, Model};
use soleus_optimization::nlp::{Iteration, Status};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const GAIT: &str = include_str!("../../models/gait2d.osim");
const GAIT_FILE: &str = "models/gait2d.osim";

/// Speeds at which the model walks, m/s.
const SPEEDS: [f64; 2] = [0.5, 2.0];
/// Points of half a cycle: first few, then more.
const MESHES: [usize; 2] = [20, 40];
/// Where the solver starts: duration of half a cycle, s, and swing of the hips, rad.
const START: (f64, f64) = (0.55, 0.35);
/// Slopes, deg, and stiffness of the springs at the ankles, N·m/rad.
const SLOPES: [f64; 2] = [-10.0, 10.0];
const SPRINGS: [f64; 2] = [0.0, 1000.0];
/// Figures of the picture.
const FIGURES: usize = 9;

/// The model of the built-in walker: trunk and two legs in a plane, 9 coordinates, 16 muscles.
pub fn model() -> Result<Model, Error> {
    let (model, log) = soleus_io::osim::read_model(GAIT.as_bytes(), GAIT_FILE);
    model.ok_or_else(|| Error::input(Path::new(GAIT_FILE), log))
}

/// The built-in walker where a request names it, `builtin:gait2d`.
pub(crate) fn builtin(source: &ModelSource) -> Result<Option<Document>, Error> {
    const NAME: &str = "builtin:gait2d";
    if source.path() != Path::new(NAME) {
        if source.path().to_string_lossy().starts_with("builtin:") {
            let message = "there is no such built-in model";
            return Err(Error::content(
                source.path(),
                0,
                "",
                message,
                &format!("the model for walking is {NAME}"),
            ));
        }
        return Ok(None);
    }
    let (document, log) = soleus_io::osim::read_document(GAIT.as_bytes(), GAIT_FILE);
    document.map(Some).ok_or_else(|| Error::input(Path::new(GAIT_FILE), log))
}

/// The model file.
pub fn model_text() -> &'static str {
    GAIT
}

/// Uses a model as a walker.
pub fn walker(model: Model) -> Result<Planar, Error> {
    let file = Path::new(GAIT_FILE);
    let system = compile(file, &model, &Options::default())?;
    let base = ModelProblem::new(Arc::new(model), Arc::new(system));
    Planar::new(base).map_err(|e| Error::content(file, 0, "", e.to_string(), ""))
}

/// Predicts walking with minimum effort at a given speed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct PredictWalk {
    /// Walking speed, 0.5 to 2 m/s.
    pub speed: f64,
    /// Slope of the ground, −10 to 10 deg; positive uphill.
    pub slope_deg: f64,
    /// Stiffness of a spring at each ankle that rests at 0°, up to 1000 N·m/rad; 0: no spring.
    pub ankle_spring: f64,
    /// A walk to start from, as an earlier prediction kept it (.json); default: straight lines.
    pub start: Option<PathBuf>,
    /// Output page (.html).
    pub page: Option<PathBuf>,
    /// Output image with nine poses of the cycle (.svg).
    pub picture: Option<PathBuf>,
}

impl Default for PredictWalk {
    fn default() -> Self {
        PredictWalk {
            speed: EASY_SPEED,
            slope_deg: 0.0,
            ankle_spring: 0.0,
            start: None,
            page: None,
            picture: None,
        }
    }
}

/// A predicted walk.
pub struct PredictedWalk {
    /// Speed, m/s.
    pub speed: f64,
    /// The model.
    pub walker: Planar,
    /// One cycle.
    pub walk: Walk,
    /// Result of the solver: half a cycle, its cost and its quality.
    pub outcome: continuation::Outcome,
    /// Wall-clock time, s; 0 without a clock.
    pub seconds: f64,
    conditions: Conditions,
    model_text: String,
    page: Option<(PathBuf, String)>,
    picture: Option<(PathBuf, String)>,
}

impl PredictWalk {
    /// Computes the walk.
    pub fn run(&self, cx: &Context) -> Result<PredictedWalk, Error> {
        let file = Path::new(GAIT_FILE);
        if !(SPEEDS[0]..=SPEEDS[1]).contains(&self.speed) {
            let message = format!("{} m/s is outside the speeds of this model", self.speed);
            return Err(Error::content(file, 0, "", message, "choose a speed from 0.5 to 2 m/s"));
        }
        if !(SLOPES[0]..=SLOPES[1]).contains(&self.slope_deg) {
            let message = format!("a slope of {}° is too steep for this model", self.slope_deg);
            return Err(Error::content(file, 0, "", message, "choose a slope from −10° to 10°"));
        }
        if !(SPRINGS[0]..=SPRINGS[1]).contains(&self.ankle_spring) {
            let message =
                format!("{} N·m/rad is not a valid stiffness of the ankle springs", self.ankle_spring);
            return Err(Error::content(file, 0, "", message, "choose a stiffness from 0 to 1000 N·m/rad"));
        }
        let asked =
            Conditions { speed: self.speed, slope_deg: self.slope_deg, ankle_spring: self.ankle_spring };
        let document = asked.document(cx)?;
        let walker = walker(build(cx, file, &document)?)?;
        let cycle = predicted_cycle(&walker, self.speed);
        let kept = self.start.as_ref().map(|file| Kept::read(cx, file, &walker)).transpose()?;
        let conditions = asked.describe();
        let word = if kept.is_some() { "an earlier walk" } else { "a straight-line guess" };
        cx.note(format!(
            "planar walker, 9 coordinates, 16 muscles: minimum-effort walk at {conditions} from {word}"
        ));
        let begun = cx.monitor.seconds();
        let mut count = 0;
        let mut watch = |price: f64, i: &Iteration<'_>, motion: &mut StatesReader| {
            count += 1;
            tell(cx, count, price, i);
            tell_motion(cx, motion, i);
            if cx.monitor.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let outcome = match kept {
            Some(kept) => {
                let near = asked.reached_from(cx, kept.conditions, kept.trajectory, &mut watch)?;
                if near.solution.status.is_solved() || near.solution.status == Status::Stopped {
                    near
                } else {
                    cx.note("the earlier walk is too different to start from: using a straight-line guess");
                    asked.best(cx, &walker, &cycle, &mut watch)?
                }
            }
            None => asked.best(cx, &walker, &cycle, &mut watch)?,
        };
        let seconds = begun.zip(cx.monitor.seconds()).map_or(0.0, |(a, b)| b - a);
        if outcome.solution.status == Status::Stopped {
            return Err(Error::Cancelled { saved: String::new() });
        }
        if !outcome.solution.status.is_solved() {
            let worst = outcome.worst.map_or(String::new(), |w| format!("; worst is {w}"));
            return Err(Error::NotSolved { message: format!("no walk found: {}{worst}", outcome.solution) });
        }
        let walk = Walk::new(&walker, &cycle, &outcome.trajectory);
        let text = [
            format!(
                "This walk was predicted without any measured motion: it is periodic ({conditions}), and minimises the effort of the muscles and the tilt of the trunk. Soleus found it in {seconds:.1} s, {} iterations, from {word}.",
                outcome.iterations
            ),
            "Model: trunk and two legs in a plane, 9 coordinates, 16 muscles (van den Bogert and Ackermann, published \
             figures). Bands: D. A. Winter, 1991, normal cadence, 1.325 m/s."
                .to_string(),
        ];
        let title = "A predicted walk";
        let page = match &self.page {
            Some(file) => {
                let html = page(title, &walker, &walk, &outcome, &Winter::read("normal")?, &text);
                Some((file.clone(), html))
            }
            None => None,
        };
        let picture = self.picture.clone().map(|file| (file, strip(&walker, &walk, FIGURES, title)));
        let model_text = match asked.changes_the_model() {
            true => write_document(&document),
            false => GAIT.to_string(),
        };
        Ok(PredictedWalk {
            speed: self.speed,
            walker,
            walk,
            outcome,
            seconds,
            conditions: asked,
            model_text,
            page,
            picture,
        })
    }
}

/// Tells of one iteration; the price is that of the temporary forces which help at first.
fn tell(cx: &Context, count: usize, price: f64, i: &Iteration<'_>) {
    let help = match price {
        0.0 => "without temporary forces".to_string(),
        p => format!("with temporary forces, penalty {p}"),
    };
    let detail = format!("{help}, objective {:.4e}, violation {:.1e}", i.objective, i.constraint_violation);
    let (what, done) = ("iterations", count as f64);
    cx.monitor.progress(&Progress { what, done, total: None, left_s: None, detail: &detail });
}

impl PredictedWalk {
    /// Gait parameters as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let (walk, outcome) = (&self.walk, &self.outcome);
        let mut lines = vec![
            format!("speed           {:8.3} m/s", self.speed),
            format!("cycle           {:8.3} s      (Winter's adults at 1.325 m/s: 1.140)", walk.duration()),
            format!("stride          {:8.3} m", self.speed * walk.duration()),
            format!("stance          {:8.1} %", 100.0 * walk.stance()),
            format!("effort          {:8.4}", outcome.goal("effort")),
            format!("equations hold to {:.1e}", outcome.solution.certificate.constraint_violation),
            format!("found in        {:8.1} s, {} iterations", self.seconds, outcome.iterations),
        ];
        lines.extend(self.page.iter().map(|(file, _)| format!("open {}", file.display())));
        lines
    }

    /// The walk as a file to start another prediction from (`PredictWalk::start`).
    pub fn kept(&self) -> String {
        Kept::new(self.conditions, &self.outcome.trajectory).to_text()
    }

    /// The model file: the built-in model, on its slope and with its springs.
    pub fn model_text(&self) -> &str {
        &self.model_text
    }

    /// The page, if requested.
    pub fn page(&self) -> Option<&str> {
        self.page.as_ref().map(|p| p.1.as_str())
    }

    /// The image, if requested.
    pub fn picture(&self) -> Option<&str> {
        self.picture.as_ref().map(|p| p.1.as_str())
    }
}

impl Outcome for PredictedWalk {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let files = [&self.page, &self.picture];
        files.into_iter().flatten().map(|(file, text)| Artifact::bytes(file, text.as_bytes())).collect()
    }
}

//! Residual elimination: a motion of the pelvis and the back without residual forces.

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Progress};
use crate::error::{Error, nearest_hint};
use crate::inputs::table::{GAP_HINT, Take, read_in_order};
use crate::inputs::{loads, model};
use crate::inverse_dynamics::require_span;
use crate::inverse_kinematics::range;
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_model::force::Force;
use soleus_model::{Diagnostics, Model};
use soleus_tools::inverse_dynamics::{self, inverse_dynamics};
use soleus_tools::quality::{Residuals, check_cutoff, check_units, residuals};
use soleus_tools::residual_elimination::{
    Change, Cycle, Eliminated, Error as Failed, Settings, eliminate_residuals,
};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Time between rows, s: splines through them, as inverse dynamics takes them, are then nearly free of residuals.
pub const STEP: f64 = 0.001;

/// Part of a gait cycle in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GaitCycle {
    /// Unknown, or not gait: the back motion need not be periodic.
    #[default]
    None,
    /// Half a cycle: bending and rotation of the back end with the opposite sign.
    Half,
    /// A whole cycle: the back angles at the end equal those at the start.
    Whole,
}

/// Finds a motion without residual forces by changing the translations of the pelvis and the angles of the low back
/// (Thelen & Anderson 2006).
///
/// ```no_run
/// use soleus::{Context, Disk, ResidualElimination};
/// let files = Disk::new();
/// let request = ResidualElimination {
///     model: "subject.osim".into(),
///     motion: "walk.mot".into(),
///     loads: Some("walk_grf.xml".into()),
///     cutoff_hz: Some(6.0),
///     ..Default::default()
/// };
/// let found = request.run(&Context::new(&files))?;
/// println!("{}", found.report());
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct ResidualElimination {
    /// The model.
    pub model: ModelSource,
    /// Coordinates over time (.mot, .sto).
    pub motion: Source<Table>,
    /// Measured loads: an XML file with `ExternalLoads`, or a table of force plates (.mot, .sto, .csv, .c3d).
    pub loads: Option<PathBuf>,
    /// Cutoff frequency of the low-pass filter on the coordinates, Hz; default: no filter.
    pub cutoff_hz: Option<f64>,
    /// Model forces to exclude: names, groups, or `all`, `actuators`, `muscles`.
    pub exclude: Vec<String>,
    /// Translations of the root to solve for; if empty, found from the model.
    pub translations: Vec<String>,
    /// Back angles to solve for; if empty, found from the model.
    pub back: Vec<String>,
    /// Weights w_x, w_b and w_s of the cost: translations (mm⁻²), back angles (deg⁻²), periodicity (deg⁻²).
    pub weights: [f64; 3],
    /// Part of a gait cycle in the time range.
    pub cycle: GaitCycle,
    /// Whether a constant difference of back flexion is penalised.
    pub keep_mean_flexion: bool,
    /// Start time, s; default: start of the data.
    pub from: Option<f64>,
    /// End time, s; default: end of the data.
    pub to: Option<f64>,
    /// Time between rows of the result, s; default: 0.001. Splines through wider rows have residuals.
    pub step: Option<f64>,
    /// Output file for the motion.
    pub output: Option<PathBuf>,
    /// Output file for the rates of the coordinates.
    pub speeds_output: Option<PathBuf>,
    /// Output file for the accelerations.
    pub accelerations_output: Option<PathBuf>,
}

impl Default for ResidualElimination {
    fn default() -> Self {
        let s = Settings::default();
        ResidualElimination {
            model: ModelSource::default(),
            motion: Source::default(),
            loads: None,
            cutoff_hz: None,
            exclude: s.excluded,
            translations: Vec::new(),
            back: Vec::new(),
            weights: [s.translation_weight, s.back_weight, s.symmetry_weight],
            cycle: GaitCycle::None,
            keep_mean_flexion: false,
            from: None,
            to: None,
            step: None,
            output: None,
            speeds_output: None,
            accelerations_output: None,
        }
    }
}

impl ResidualElimination {
    /// Computes the motion.
    pub fn run(&self, cx: &Context) -> Result<MotionWithoutResiduals, Error> {
        let model = model::read(cx, &self.model)?;
        let path = self.motion.path();
        let Some(loads_file) = self.loads.as_deref() else {
            let hint = "give measured loads: a table of force plates or an ExternalLoads file (--loads)";
            return Err(Error::content(path, 0, "", "residuals cannot be eliminated without loads", hint));
        };
        let forces = loads::read(cx, &model, Some(loads_file), None, Some(&self.motion))?;
        let table = read_in_order(cx, &self.motion, Take::Markers)?;
        let mut log = Diagnostics::new(path.display().to_string());
        check_units(&model, &table, &mut log);
        if let Some(hz) = self.cutoff_hz {
            check_cutoff(table.times(), hz, &mut log);
        }
        let range = range(path, self.from, self.to)?;
        require_span(cx, loads_file, &table, range, &forces)?;
        let settings = Settings {
            cutoff_hz: self.cutoff_hz,
            range,
            excluded: self.exclude.clone(),
            translations: self.translations.clone(),
            back: self.back.clone(),
            translation_weight: self.weights[0],
            back_weight: self.weights[1],
            symmetry_weight: self.weights[2],
            cycle: match self.cycle {
                GaitCycle::None => Cycle::None,
                GaitCycle::Half => Cycle::Half,
                GaitCycle::Whole => Cycle::Whole,
            },
            detrend_flexion: !self.keep_mean_flexion,
            output_step: Some(self.step.unwrap_or(STEP)),
            ..Settings::default()
        };
        let [before, _] = self.residuals(&model, &forces, &table, self.cutoff_hz, range)?;
        before.check(&mut log);
        let mut told = |step: usize, cost: f64| {
            let detail = format!("cost {cost:.4e}");
            let (done, total, left_s) = (step as f64, None, None);
            cx.monitor.progress(&Progress { what: "iterations", done, total, left_s, detail: &detail });
            !cx.monitor.is_cancelled()
        };
        let found = eliminate_residuals(model.clone(), forces.clone(), &table, &settings, &mut told)
            .map_err(|e| self.failed(&model, &e))?;
        cx.go_on()?;
        for name in &found.at_default {
            log.warn(0, "", format!("no column for coordinate `{name}`: its default value is used"), "");
        }
        for name in &found.unknown_forces {
            log.warn(0, "", format!("no force or group is called `{name}`"), "");
        }
        let unfiltered = [f64::NEG_INFINITY, f64::INFINITY];
        let [after, all_rows] = self.residuals(&model, &forces, &found.motion, None, unfiltered)?;
        cx.report(&log);
        let weight = model.total_mass() * model.gravity.norm();
        let result = MotionWithoutResiduals { found, before, after, all_rows, weight, request: self.clone() };
        result.report().lines().for_each(|line| cx.note(line));
        Ok(result)
    }

    /// The residuals of a motion, by inverse dynamics: without some rows at each end, and of all rows.
    fn residuals(
        &self,
        model: &Model,
        forces: &[Force],
        table: &Table,
        cutoff_hz: Option<f64>,
        range: [f64; 2],
    ) -> Result<[Residuals; 2], Error> {
        let settings = inverse_dynamics::Settings {
            cutoff_hz,
            range,
            excluded: self.exclude.clone(),
            ..inverse_dynamics::Settings::default()
        };
        let moments = inverse_dynamics(model.clone(), forces.to_vec(), table, &settings)
            .map_err(|e| self.failed(model, &Failed::Motion(e)))?;
        // Natural splines have no third derivative at their ends, whatever the motion has: rows there are judged apart.
        let t = moments.generalized_forces.times();
        let inner = match t.len() {
            n if n > 4 * END_ROWS => moments.generalized_forces.trimmed(t[END_ROWS], t[n - 1 - END_ROWS]),
            _ => moments.generalized_forces.clone(),
        };
        Ok([&inner, &moments.generalized_forces].map(|t| residuals(model, t).unwrap_or_default()))
    }

    fn failed(&self, model: &Model, e: &Failed) -> Error {
        let path = self.motion.path();
        let hint = match e {
            Failed::Motion(inverse_dynamics::Error::NoCoordinates) => {
                "columns must be named after coordinates, such as knee_angle".to_string()
            }
            Failed::Motion(inverse_dynamics::Error::Missing { .. }) => GAP_HINT.to_string(),
            Failed::NoSuchCoordinate { name } => {
                nearest_hint("coordinate", name, model.coordinates.iter().map(|c| c.name.as_str()))
            }
            Failed::Count { .. } | Failed::Singular { .. } => {
                "give as many coordinates as the root has equations, with --translations and --back"
                    .to_string()
            }
            Failed::TooShort { .. } => {
                "give a longer motion, or a range within it (--from, --to)".to_string()
            }
            _ => String::new(),
        };
        Error::content(path, 0, "", e.to_string(), &hint)
    }
}

/// A motion without residuals, and its difference from the measured one.
#[derive(Debug)]
pub struct MotionWithoutResiduals {
    /// The motion, its rates and accelerations, and the change of each coordinate that was solved for.
    pub found: Eliminated,
    /// Residuals of the measured motion, by inverse dynamics.
    pub before: Residuals,
    /// Residuals of the new motion, by inverse dynamics of its rows: quintic splines through the integrated motion,
    /// without eight rows at each end, where natural splines are wrong.
    pub after: Residuals,
    /// The same with all rows.
    pub all_rows: Residuals,
    /// Weight of the model, N.
    pub weight: f64,
    request: ResidualElimination,
}

/// Rows at each end that the residuals by inverse dynamics leave out.
const END_ROWS: usize = 8;

/// Table 3 of Thelen & Anderson (2006): mean and standard deviation of the RMS changes of ten subjects, mm and deg.
fn published(c: &Change) -> [f64; 2] {
    use soleus_tools::residual_elimination::Role::*;
    match c.role {
        AnteriorPosterior => [3.3, 1.3],
        MedialLateral => [1.8, 1.3],
        SuperiorInferior => [4.1, 1.7],
        Flexion => [0.9, 0.6],
        Bending => [2.9, 1.1],
        Rotation => [4.9, 2.5],
    }
}

impl MotionWithoutResiduals {
    /// The changes in the layout of Table 3 of Thelen & Anderson (2006), and the residuals.
    pub fn report(&self) -> String {
        let mut text = String::new();
        let f = &self.found;
        let _ = writeln!(
            text,
            "{:<44}{:>10}{:>10}{:>10}   published mean (SD)",
            "RMS change", "RMS", "mean", "largest"
        );
        for c in &f.changes {
            let (unit, word, group) = match c.role.is_translation() {
                true => (1e3, "mm", "pelvis"),
                false => (1f64.to_degrees(), "deg", "back"),
            };
            let label = format!("{group} {} ({})", c.role.label(), c.name);
            let [mean, sd] = published(c);
            let _ = writeln!(
                text,
                "{label:<44}{:>6.2} {word:<3}{:>10.2}{:>10.2}   {mean:.1} ({sd:.1})",
                unit * c.rms,
                unit * c.mean,
                unit * c.largest,
            );
        }
        let (b, a) = (&self.before, &self.after);
        let _ = writeln!(
            text,
            "residual force: RMS {:.1} N before, {:.2e} N after ({:.1e} of the weight); largest {:.2e} N",
            b.force_rms,
            a.force_rms,
            a.force_rms / self.weight,
            a.force_peak
        );
        let _ = writeln!(
            text,
            "residual moment: RMS {:.1} N m before, {:.2e} N m after; largest {:.2e} N m",
            b.moment_rms, a.moment_rms, a.moment_peak
        );
        let e = &self.all_rows;
        let _ = writeln!(
            text,
            "in the first and last {END_ROWS} rows, where the splines of inverse dynamics are inaccurate: largest {:.2e} N, {:.2e} N m",
            e.force_peak, e.moment_peak
        );
        let _ = writeln!(
            text,
            "as computed by `soleus id` from the written rows, without a filter: a filter brings residuals back{}",
            if self.request.step.is_some_and(|s| s > STEP) {
                "; they are smaller with --interval 0.001"
            } else {
                ""
            }
        );
        let _ = writeln!(
            text,
            "with the accelerations of the solution: {:.1e} N and {:.1e} N m at most",
            f.residual[0], f.residual[1]
        );
        let _ = write!(
            text,
            "{} iterations, {} integration steps, cost {:.4} (from {:.4}) mm², deg²",
            f.iterations, f.integration_steps, f.cost[1], f.cost[0]
        );
        text
    }
}

impl Outcome for MotionWithoutResiduals {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let r = &self.request;
        let files = [
            (&r.output, &self.found.motion),
            (&r.speeds_output, &self.found.rates),
            (&r.accelerations_output, &self.found.accelerations),
        ];
        let named = files.into_iter().filter_map(|(file, table)| file.as_ref().map(|f| (f, table)));
        named.map(|(file, table)| Artifact::table(file, table, Digits::Shortest)).collect()
    }

    fn verdict(&self) -> Result<(), Error> {
        if self.found.converged {
            return Ok(());
        }
        let message = format!(
            "the initial values did not converge: {} iterations, cost {:.4}; the motion has no residuals but may not be the closest one",
            self.found.iterations, self.found.cost[1]
        );
        Err(Error::NotSolved { message })
    }
}

//! Joint curves over the gait cycle: angle, moment and power of hip, knee and ankle, trials overlaid.

use super::{activations, angles, table};
use crate::context::Context;
use crate::files::Files;
use crate::gait::{CycleCurve, FLEXION, Gait, GaitAnalysis, GaitTrial, edges, side_of};
use soleus_io::pipeline::{Pipeline as PipelineFile, Trial};
use soleus_model::{ForceKind, Model};
use soleus_tools::gait::POINTS;
use soleus_tools::plates::Side;
use soleus_viewer::{Band, Dash, Line, Plot, Style, Table as Rows};
use std::path::Path;

/// A trial with complete gait cycles.
pub struct Cycles {
    /// Its name.
    pub name: String,
    /// Events, parameters and curves.
    pub gait: GaitAnalysis,
    /// Names of the muscles of the model, without their side.
    pub muscles: Vec<String>,
    /// Whether the page shows the figure of this trial.
    pub has_figure: bool,
}

impl Cycles {
    /// For a trial with markers on heels and toes; `None` if there is no complete cycle.
    pub fn of_trial(
        files: &dyn Files,
        pipeline: &PipelineFile,
        t: &Trial,
        home: &Path,
        folder: &Path,
        model: &Model,
    ) -> Option<Cycles> {
        let motion = table(files, &angles(files, folder))?;
        let moments = table(files, &folder.join("id.sto"));
        let mut curves = vec![motion.into()];
        curves.extend(moments.map(Into::into));
        if let Some(file) = activations(files, folder, &t.name) {
            curves.push(table(files, &file)?.into());
        }
        let is_table = |p: &Path| p.extension().is_some_and(|e| e != "xml");
        let trial = GaitTrial {
            markers: home.join(t.markers.as_ref()?).into(),
            loads: t.loads.as_ref().map(|l| home.join(l)).filter(|l| is_table(l)).map(Into::into),
            curves,
            ..GaitTrial::default()
        };
        let cx = Context::new(files);
        let normative = pipeline.normative.as_ref().map(|file| home.join(file));
        let run = |trial: GaitTrial| {
            let normative = normative.clone();
            Gait { trials: vec![trial], normative, mass: Some(model.total_mass()), output: None }
                .run(&cx)
                .ok()
        };
        let without_plates = GaitTrial { loads: None, ..trial.clone() };
        let gait = run(trial).or_else(|| run(without_plates))?;
        let muscles = model.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_)));
        let muscles = muscles.map(|f| side_of(&f.name).1).collect();
        (!gait.curves.is_empty()).then(|| Cycles { name: t.name.clone(), gait, muscles, has_figure: false })
    }

    /// The cycle of the figure that a click on a curve of this side shows: the first, s.
    pub fn shown(&self, side: Side) -> Option<[f64; 2]> {
        let all = self.gait.trials.iter().flat_map(|t| &t.cycles);
        all.filter(|_| self.has_figure).find(|c| c.side == side).map(|c| c.time)
    }

    /// The curve of a side.
    pub fn curve(&self, name: &str, side: Side) -> Option<&CycleCurve> {
        self.gait.curves.iter().find(|c| c.name == name && c.side == side)
    }
}

/// Caption of the lines in the grid.
pub fn caption(cycles: &[Cycles]) -> String {
    let count = |side: Side| {
        cycles.iter().flat_map(|c| &c.gait.trials).flat_map(|t| &t.cycles).filter(|c| c.side == side).count()
    };
    let source = &cycles[0].gait.normative.source;
    let colors = if cycles.len() > 1 { "; one colour for each trial" } else { "" };
    let click =
        if cycles[0].shown(Side::Right).is_some() { " Click a curve to move the figure." } else { "" };
    format!(
        "Means of right (solid, {}) and left cycles (dashed, {}), from foot strike to foot strike{colors}. Grey: {source}, mean ± SD. \
         Moments and powers are per kilogram of body mass, with the signs of the model. \
         Curves stop where a foot missed the force plates.{click}",
        count(Side::Right),
        count(Side::Left)
    )
}

/// Plots of hip, knee and ankle in rows; angle, moment and power in columns.
pub fn joint_grid(cycles: &[Cycles]) -> Vec<Plot> {
    let mut plots: Vec<(usize, Plot)> = Vec::new();
    for (word, names) in FLEXION {
        let has = |name: &&&str| cycles.iter().any(|c| c.gait.curves.iter().any(|k| k.name == **name));
        let Some(name) = names.iter().find(has) else { continue };
        let kinds = [("angle", "", "deg"), ("moment", "_moment", "N m/kg"), ("power", "_power", "W/kg")];
        for (k, (what, ending, unit)) in kinds.into_iter().enumerate() {
            let curve = format!("{name}{ending}");
            let mut plot = overlaid(cycles, &curve, format!("{word} {what}"), unit);
            plot.bands.extend(normative(cycles, &curve));
            plots.push((k, plot));
        }
    }
    // A trial without plates has angles alone.
    let has_lines: [bool; 3] =
        std::array::from_fn(|k| plots.iter().any(|(kind, p)| *kind == k && !p.lines.is_empty()));
    plots.into_iter().filter(|(k, _)| has_lines[*k]).map(|(_, p)| p).collect()
}

/// One curve for all trials and both sides.
pub fn overlaid(cycles: &[Cycles], curve: &str, title: String, unit: &str) -> Plot {
    let mut lines = Vec::new();
    for (k, c) in cycles.iter().enumerate() {
        for (side, dash) in [(Side::Right, Dash::Solid), (Side::Left, Dash::Dashed)] {
            let Some(own) = c.curve(curve, side) else { continue };
            let style = Style { color: Some(k), dash: Some(dash), ..Style::default() };
            // Of several trials the legend lists one line each; the caption tells right from left.
            let (name, unlisted) = match cycles.len() {
                1 => (side.name().to_string(), false),
                _ if side == Side::Right => (c.name.clone(), false),
                _ => (format!("{} left", c.name), c.curve(curve, Side::Right).is_some()),
            };
            lines.push(line(name, own).styled(Style { unlisted, ..style }));
        }
    }
    Plot {
        title,
        x_label: "gait cycle (%)".into(),
        y_label: unit.into(),
        lines,
        x_range: Some([0.0, 100.0]),
        cycle: cycles.first().and_then(|c| c.shown(Side::Right)),
        ..Plot::default()
    }
}

/// The mean over the cycle.
pub fn line(name: String, curve: &CycleCurve) -> Line {
    Line::new(name, percent(), curve.points.iter().map(|p| p.mean).collect())
}

/// 0, 1, … 100.
fn percent() -> Vec<f64> {
    (0..POINTS).map(|k| k as f64).collect()
}

/// The normative band of a curve.
fn normative(cycles: &[Cycles], name: &str) -> Option<Band> {
    let list = &cycles[0].gait.normative;
    let own = cycles.iter().flat_map(|c| &c.gait.curves).filter(|c| c.name == name);
    let (mean, sd) = list.beside(name, own)?;
    let [low, high] = edges(&mean, &sd);
    // The caption names the source.
    Some(Band::new("normative", percent(), low, high))
}

/// Speed, cadence, lengths and times; one column for each trial and side.
pub fn parameters(cycles: &[Cycles]) -> Rows {
    let head = cycles.iter().flat_map(|c| match cycles.len() {
        1 => ["right".to_string(), "left".to_string()],
        _ => [format!("{} right", c.name), format!("{} left", c.name)],
    });
    let mut rows = Rows::new("Gait", std::iter::once(String::new()).chain(head));
    let names = cycles[0].gait.right.rows().map(|(name, unit, _)| format!("{name}, {unit}"));
    for (k, name) in names.into_iter().enumerate() {
        let value = |mean: f64| if mean.is_finite() { crate::gait::digits(mean) } else { "–".to_string() };
        let cells =
            cycles.iter().flat_map(|c| [&c.gait.right, &c.gait.left].map(|p| value(p.rows()[k].2.mean)));
        rows = rows.row(std::iter::once(name).chain(cells));
    }
    rows
}

//! Gait: foot strikes and toe-offs, cycles, steps, and curves over the cycle.

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::numbers::positive;
use crate::inputs::paths::stem_of;
use crate::inputs::table::{Take, read_in_order, read_markers, read_motion};
use crate::load_assignment::{BesideTwins, turned_to_feet};
use crate::prediction::winter::Winter;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_io::table::csv;
use soleus_math::signal::envelope;
use soleus_math::table::Element;
use soleus_math::{Rotation, Table, Vec3};
pub use soleus_tools::gait::{Cycle, FootEvents, Parameters, Stat, Walk};
use soleus_tools::gait::{
    GaitMarkers, POINTS, cycles, events_from_markers, mean_curve, merge_contacts, over_cycle, parameters,
};
pub use soleus_tools::plates::Side;
use soleus_tools::plates::{self, Foot};
use soleus_viewer::{Band, Line, Plot, Style};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

mod kinetics;

/// Gait events, parameters and curves of one subject.
///
/// ```no_run
/// use soleus::gait::{Gait, GaitTrial};
/// use soleus::{Context, Disk};
/// let files = Disk::new();
/// let trial = GaitTrial { markers: "walk.trc".into(), curves: vec!["walk_ik.mot".into()], ..Default::default() };
/// let gait = Gait { trials: vec![trial], ..Default::default() }.run(&Context::new(&files))?;
/// println!("{}", gait.report());
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Gait {
    /// The trials.
    pub trials: Vec<GaitTrial>,
    /// Normative curves (.csv): columns `percent`, and NAME and `sd_NAME` for each curve; a line `# source: …` names their source. Default: the joint
    /// angles of Winter's adults (1991) at the speed of the subject.
    pub normative: Option<PathBuf>,
    /// Mass of the subject, kg: joint moments are divided by it, and joint powers per kilogram are computed from moments and angles.
    pub mass: Option<f64>,
    /// Output folder for tables and plots.
    pub output: Option<PathBuf>,
}

/// One trial.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GaitTrial {
    /// Markers (.trc, .c3d, .sto): heels, toes and the pelvis.
    pub markers: Source<Table>,
    /// Force plate data (.mot, .sto, .csv, .c3d), used for events where a foot is on a plate.
    pub loads: Option<Source<Table>>,
    /// Tables whose columns are plotted over the gait cycle: joint angles, moments, activations, EMG.
    pub curves: Vec<Source<Table>>,
    /// Raw electromyograms (.sto, .csv, .c3d), whose envelopes are plotted over the gait cycle.
    pub emg: Vec<Source<Table>>,
}

impl Gait {
    /// Computes events, cycles and curves.
    pub fn run(&self, cx: &Context) -> Result<GaitAnalysis, Error> {
        if self.trials.is_empty() {
            let hint = "give the markers of a trial";
            return Err(Error::content(Path::new(""), 0, "", "no trial is given", hint));
        }
        let mut trials = Vec::new();
        let mut raw: Vec<RawCurve> = Vec::new();
        for trial in &self.trials {
            let found = of_trial(cx, trial)?;
            let mut tables = Vec::with_capacity(trial.curves.len());
            for source in &trial.curves {
                let table = read_motion(cx, source, Take::Analog)?;
                tables.push(if table.element() == Element::Scalar { table } else { table.flattened() });
            }
            if let Some(mass) = self.mass {
                let mass = positive(trial.markers.path(), "the mass of the subject, kg", mass)?;
                kinetics::per_kilogram(&mut tables, mass);
            }
            tables.iter().for_each(|table| add_curves(table, &found.cycles, &mut raw));
            for source in &trial.emg {
                let table = read_motion(cx, source, Take::Analog)?.flattened();
                let wrong = |e: soleus_math::signal::SignalError| {
                    Error::content(source.path(), 0, "", e.to_string(), "")
                };
                let mut found_envelope = envelope(&table, EMG_CUTOFF_HZ).map_err(wrong)?;
                for i in 0..found_envelope.labels().len() {
                    let name = format!("{}_EMG", found_envelope.labels()[i]);
                    found_envelope.rename(i, name);
                }
                add_curves(&found_envelope, &found.cycles, &mut raw);
            }
            trials.push(found);
        }
        let all = || trials.iter().flat_map(|t: &TrialGait| &t.cycles);
        if all().next().is_none() {
            let path = self.trials[0].markers.path();
            let hint = "a cycle lasts from one foot strike to the next of the same foot; use a longer trial";
            cx.warn(path, "the trial has no complete gait cycle", hint);
        }
        let sides = [Side::Right, Side::Left].map(|s| parameters(all(), s));
        let speed = Stat::of(trials.iter().map(|t| t.walk.speed)).mean;
        let curve = |r: RawCurve| CycleCurve {
            points: mean_curve(&r.cycles),
            cycles: r.cycles.len(),
            name: r.name,
            side: r.side,
        };
        let curves: Vec<CycleCurve> = raw.into_iter().filter(|r| !r.cycles.is_empty()).map(curve).collect();
        let normative = match &self.normative {
            Some(file) => read_normative(cx, file)?,
            None => winter(speed)?,
        };
        let is_beside = |c: &CycleCurve| {
            kinetics::is_kinetic(&c.name) && normative.beside(&c.name, std::iter::once(c)).is_some()
        };
        if let (Some(file), None) = (&self.normative, self.mass)
            && let Some(curve) = curves.iter().find(|c| is_beside(c))
        {
            let message = format!("`{}` is not divided by body mass", curve.name);
            cx.warn(
                file,
                &message,
                "if the normative table is per kilogram, give the mass of the subject (--mass)",
            );
        }
        let result = GaitAnalysis {
            trials,
            right: sides[0].clone(),
            left: sides[1].clone(),
            curves,
            normative,
            is_per_kilogram: self.mass.is_some(),
            output: self.output.clone(),
        };
        result.report().lines().for_each(|l| cx.note(l));
        Ok(result)
    }
}

/// Slower than any walk that has steps: what moves less stands, m/s.
const SLOWEST_M_PER_S: f64 = 0.2;
/// Cutoff of envelopes of electromyograms, Hz.
const EMG_CUTOFF_HZ: f64 = 6.0;

/// Gait of one trial.
#[derive(Clone, Debug)]
pub struct TrialGait {
    /// Name of the file.
    pub name: String,
    /// Sides with foot markers.
    pub sides: Vec<Side>,
    /// Events of each side.
    pub events: Vec<FootEvents>,
    /// Cycles of both feet in order of time.
    pub cycles: Vec<Cycle>,
    /// Motion of subject and ground.
    pub walk: Walk,
}

/// A curve over the cycle: mean and standard deviation over the cycles of all trials.
#[derive(Clone, Debug)]
pub struct CycleCurve {
    /// Name of the column without its side.
    pub name: String,
    /// Side of the cycles.
    pub side: Side,
    /// Values at 0, 1, … 100 %.
    pub points: Vec<Stat>,
    /// Number of cycles.
    pub cycles: usize,
}

/// Normative curves: mean and standard deviation at 0, 1, … 100 %.
#[derive(Clone, Debug)]
pub struct Normative {
    /// Source.
    pub source: String,
    /// Name, mean, standard deviation.
    pub curves: Vec<(String, Vec<f64>, Vec<f64>)>,
}

impl Normative {
    /// Mean and standard deviation beside a subject's mean curves of this name, with the sign that these have: models and laboratories differ in
    /// the signs of angles and moments. Powers are taken as they are.
    pub fn beside<'a>(
        &self,
        name: &str,
        own: impl Iterator<Item = &'a CycleCurve>,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let of = |name: &str| self.curves.iter().find(|n| n.0 == name);
        let (_, mean, sd) = of(name).or_else(|| synonyms(name).find_map(|other| of(&other)))?;
        let products = own.flat_map(|c| c.points.iter().zip(mean)).map(|(p, m)| p.mean * m);
        let is_turned = products.filter(|x| x.is_finite()).sum::<f64>() < 0.0 && !name.ends_with("_power");
        let sign = if is_turned { -1.0 } else { 1.0 };
        Some((mean.iter().map(|m| sign * m).collect(), sd.clone()))
    }
}

/// Flexion of the joints of the leg: the joint, and the names that models give it, without their side.
pub(crate) const FLEXION: [(&str, &[&str]); 3] = [
    ("Hip", &["hip_flexion", "hip_flex", "hip_angle", "hip_extension", "hip"]),
    ("Knee", &["knee_angle", "knee_flexion", "knee_flex", "knee_extension", "knee"]),
    (
        "Ankle",
        &[
            "ankle_angle",
            "ankle_flexion",
            "ankle_flex",
            "ankle_dorsiflexion",
            "ankle_plantarflexion",
            "ankle",
        ],
    ),
];

/// The other names of a curve of one of these joints.
fn synonyms(name: &str) -> impl Iterator<Item = String> {
    let ending = ["_moment", "_power"].into_iter().find(|e| name.ends_with(e)).unwrap_or("");
    let joint = name[..name.len() - ending.len()].to_string();
    let names = FLEXION.iter().find(|(_, names)| names.contains(&joint.as_str())).map_or(&[][..], |f| f.1);
    names.iter().filter(move |n| **n != joint).map(move |n| format!("{n}{ending}"))
}

/// Mean minus and plus a standard deviation.
pub(crate) fn edges(mean: &[f64], sd: &[f64]) -> [Vec<f64>; 2] {
    [-1.0, 1.0].map(|k| mean.iter().zip(sd).map(|(m, s)| m + k * s).collect())
}

/// Gait of a subject.
#[derive(Clone, Debug)]
pub struct GaitAnalysis {
    /// The trials.
    pub trials: Vec<TrialGait>,
    /// Parameters of the cycles of the right foot.
    pub right: Parameters,
    /// Parameters of the cycles of the left foot.
    pub left: Parameters,
    /// Curves, in the order of the columns.
    pub curves: Vec<CycleCurve>,
    /// Curves of healthy adults.
    pub normative: Normative,
    is_per_kilogram: bool,
    output: Option<PathBuf>,
}

/// Events and cycles of one trial.
fn of_trial(cx: &Context, trial: &GaitTrial) -> Result<TrialGait, Error> {
    let path = trial.markers.path();
    let wrong = |message: String, hint: &str| Error::content(path, 0, "", message, hint);
    let (mut markers, _) = read_markers(cx, &trial.markers)?;
    let hint = "markers such as RHEE, RTOE, RASI, or their equivalents in other marker sets, are needed";
    let which = GaitMarkers::find(markers.labels()).map_err(|e| wrong(e, hint))?;
    let too_short = || wrong("the trial has too few frames".to_string(), "at least ten are needed");
    let mut walk = Walk::new(&markers, &which).ok_or_else(too_short)?;
    // Feet are compared with plates with y up.
    if let Some(R) = to_y_up(walk.up) {
        markers = turned(&markers, R);
        walk = Walk::new(&markers, &which).ok_or_else(too_short)?;
    }
    if walk.speed < SLOWEST_M_PER_S {
        let message =
            format!("the subject moves at {:.2} m/s relative to the ground: this is not gait", walk.speed);
        return Err(wrong(message, "use a walking or running trial; a static trial has no gait events"));
    }
    let sides: Vec<Side> = walk.feet.iter().map(|f| f.0).collect();
    let mut events = events_from_markers(&walk);
    if let Some(source) = &trial.loads {
        let table = read_in_order(&cx.with_monitor(&BesideTwins(cx.monitor)), source, Take::Forces)?;
        let feet: Vec<Foot> = sides.iter().map(|&side| Foot { side, body: 0, bodies: Vec::new() }).collect();
        let paths = walk.paths();
        let (table, plates, _) = turned_to_feet(source.path(), table, &paths)?;
        let contacts = plates::assign(&table, &plates, &feet, &paths);
        let recorded = [table.times()[0], table.times()[table.rows() - 1]];
        merge_contacts(&mut events, &sides, &contacts, &sides, recorded);
    }
    let cycles = cycles(&walk, &events);
    Ok(TrialGait { name: stem_of(path, "trial"), sides, events, cycles, walk })
}

/// The quarter turn that brings the vertical to y; none if it is there.
pub(crate) fn to_y_up(up: Vec3<f64>) -> Option<Rotation<f64>> {
    let quarter = std::f64::consts::FRAC_PI_2;
    match up.to_array() {
        [_, y, _] if y > 0.5 => None,
        [_, y, _] if y < -0.5 => Some(Rotation::about_x(2.0 * quarter)),
        [_, _, z] if z > 0.5 => Some(Rotation::about_x(-quarter)),
        [_, _, z] if z < -0.5 => Some(Rotation::about_x(quarter)),
        [x, _, _] if x > 0.0 => Some(Rotation::about_z(quarter)),
        _ => Some(Rotation::about_z(-quarter)),
    }
}

/// Markers in other axes.
pub(crate) fn turned(markers: &Table, R: Rotation<f64>) -> Table {
    let mut table = markers.clone();
    for i in 0..markers.labels().len() {
        for row in 0..markers.rows() {
            let p = (R * markers.vec3(row, i)).to_array();
            for (k, x) in p.into_iter().enumerate() {
                if let Some(column) = table.column_at_mut(3 * i + k) {
                    column[row] = x;
                }
            }
        }
    }
    table
}

/// The side of a column, by `_r` or `_l` in its label or at the start of it, and the label without it.
pub(crate) fn side_of(label: &str) -> (Option<Side>, String) {
    let name = label.strip_suffix("/value").or(label.strip_suffix("/activation")).unwrap_or(label);
    let name = name.rsplit('/').next().unwrap_or(name);
    let parts: Vec<&str> = name.split('_').collect();
    for (k, part) in parts.iter().enumerate() {
        let side = match *part {
            "r" | "R" | "right" => Side::Right,
            "l" | "L" | "left" => Side::Left,
            _ => continue,
        };
        let rest: Vec<&str> = parts.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, p)| *p).collect();
        return (Some(side), rest.join("_"));
    }
    (None, name.to_string())
}

/// A column over the cycles of one side.
struct RawCurve {
    name: String,
    side: Side,
    cycles: Vec<Vec<f64>>,
}

/// Adds the curves of a table over the cycles of a trial: columns of a side over the cycles of that side, others over those of both.
fn add_curves(table: &Table, cycles: &[Cycle], raw: &mut Vec<RawCurve>) {
    for (column, label) in table.labels().iter().enumerate() {
        let (own, name) = side_of(label);
        for side in [Side::Right, Side::Left] {
            if own.is_some_and(|s| s != side) {
                continue;
            }
            let place = raw.iter().position(|r| r.name == name && r.side == side).unwrap_or_else(|| {
                raw.push(RawCurve { name: name.clone(), side, cycles: Vec::new() });
                raw.len() - 1
            });
            let of_side = cycles.iter().filter(|c| c.side == side);
            raw[place].cycles.extend(of_side.filter_map(|c| over_cycle(table, column, c.time)));
        }
    }
}

/// Winter's adults at a speed, between his cadences.
fn winter(speed: f64) -> Result<Normative, Error> {
    let [slow, normal, fast] = [Winter::read("slow")?, Winter::read("normal")?, Winter::read("fast")?];
    let (a, b) = if speed < normal.speed { (&slow, &normal) } else { (&normal, &fast) };
    let part = ((speed - a.speed) / (b.speed - a.speed)).clamp(0.0, 1.0);
    let at = a.blend(b, if part.is_finite() { part } else { 0.0 });
    let resampled = |c: &[f64]| {
        let x = |k: usize| {
            let s = k as f64 / (POINTS - 1) as f64 * (c.len() - 1) as f64;
            let i = (s as usize).min(c.len() - 2);
            c[i] + (s - i as f64) * (c[i + 1] - c[i])
        };
        (0..POINTS).map(x).collect::<Vec<f64>>()
    };
    let curve = |(i, (_, names)): (usize, &(&str, &[&str]))| {
        let [mean, sd] = at.angle(i);
        (names[0].to_string(), resampled(mean), resampled(sd))
    };
    let source = format!("Winter's adults (1991) at {:.2} m/s", at.speed);
    Ok(Normative { source, curves: FLEXION.iter().enumerate().map(curve).collect() })
}

/// Normative curves of a file.
pub(crate) fn read_normative(cx: &Context, file: &Path) -> Result<Normative, Error> {
    let bytes = cx.read(file)?;
    let (table, log) = csv::read_over_cycle(&bytes, &file.display().to_string());
    let table = cx.settle(file, table, log)?;
    if table.rows() < 2 {
        return Err(Error::content(file, 0, "", "the table has fewer than two rows", ""));
    }
    let last = table.times()[table.rows() - 1];
    let whole = |c: usize| over_cycle(&table, c, [table.times()[0], last]);
    let sd_of = |name: &str| table.index_of(&format!("sd_{name}"));
    let curve = |(c, name): (usize, &String)| {
        let sd = sd_of(name).and_then(whole).unwrap_or_else(|| vec![0.0; POINTS]);
        Some((name.clone(), whole(c)?, sd))
    };
    let labels = table.labels().iter().enumerate().filter(|(_, l)| !l.starts_with("sd_"));
    let source = csv::source(&bytes).unwrap_or_else(|| file.display().to_string());
    Ok(Normative { source, curves: labels.filter_map(curve).collect() })
}

impl GaitAnalysis {
    /// Summary of the cycles as a text table.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for t in &self.trials {
            let counts: Vec<String> = t
                .sides
                .iter()
                .zip(&t.events)
                .map(|(s, e)| {
                    let plates = if e.from_plates > 0 {
                        format!(", {} from plates", e.from_plates)
                    } else {
                        String::new()
                    };
                    let [strikes, offs] =
                        [(&e.strikes, "strike"), (&e.offs, "toe-off")].map(|(list, what)| {
                            format!("{} {what}{}", list.len(), if list.len() == 1 { "" } else { "s" })
                        });
                    format!("{} {strikes}, {offs}{plates}", s.name())
                })
                .collect();
            let belt = t.walk.ground_velocity.norm();
            let where_ =
                if belt > 0.3 { format!("treadmill, {belt:.2} m/s") } else { "overground".to_string() };
            let _ = writeln!(text, "{}: {:.2} m/s ({where_}); {}", t.name, t.walk.speed, counts.join("; "));
        }
        let cycles = |s: Side| self.trials.iter().flat_map(|t| &t.cycles).filter(|c| c.side == s).count();
        let _ = writeln!(
            text,
            "{:24}{:>18}{:>18}{:>12}",
            "",
            counted("right", cycles(Side::Right)),
            counted("left", cycles(Side::Left)),
            "R−L, %"
        );
        let value = |s: Stat| match (s.mean.is_finite(), s.sd.is_finite()) {
            (false, _) => "-".to_string(),
            (true, false) => digits(s.mean),
            (true, true) => format!("{} ± {}", digits(s.mean), digits(s.sd)),
        };
        for ((name, unit, r), (_, _, l)) in self.right.rows().into_iter().zip(self.left.rows()) {
            let symmetry = 200.0 * (r.mean - l.mean) / (r.mean + l.mean);
            // A width that is nothing but its scatter has no symmetry, and a small number has no sign.
            let is_scatter = (r.mean + l.mean).abs() < 2.0 * r.sd.max(l.sd);
            let symmetry = match symmetry.is_finite() && !is_scatter {
                true => format!("{:.1}", if symmetry.abs() < 0.05 { 0.0 } else { symmetry }),
                false => "-".to_string(),
            };
            let _ = writeln!(
                text,
                "{:24}{:>18}{:>18}{symmetry:>12}",
                format!("{name}, {unit}"),
                value(r),
                value(l)
            );
        }
        text
    }

    /// All events: trial, side, event, time.
    pub fn events_csv(&self) -> String {
        let mut text = "trial,side,event,time\n".to_string();
        for t in &self.trials {
            let mut list = Vec::new();
            for (side, e) in t.sides.iter().zip(&t.events) {
                list.extend(e.strikes.iter().map(|x| (*x, side.name(), "strike")));
                list.extend(e.offs.iter().map(|x| (*x, side.name(), "off")));
            }
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (time, side, event) in list {
                let _ = writeln!(text, "{},{side},{event},{time:.4}", quoted(&t.name));
            }
        }
        text
    }

    fn parameters_csv(&self) -> String {
        let mut text = "parameter,unit,right,right_sd,right_cycles,left,left_sd,left_cycles\n".to_string();
        for ((name, unit, r), (_, _, l)) in self.right.rows().into_iter().zip(self.left.rows()) {
            let _ = writeln!(
                text,
                "{name},{unit},{},{},{},{},{},{}",
                r.mean, r.sd, r.count, l.mean, l.sd, l.count
            );
        }
        text
    }

    fn curves_csv(&self) -> String {
        let mut text = "curve,side,cycles,percent,mean,sd\n".to_string();
        for c in &self.curves {
            for (k, p) in c.points.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{},{},{},{k},{},{}",
                    quoted(&c.name),
                    c.side.name(),
                    c.cycles,
                    p.mean,
                    p.sd
                );
            }
        }
        text
    }

    /// The curve of both sides, mean ± SD, with the normative band.
    pub fn plot(&self, name: &str) -> Plot {
        let x: Vec<f64> = (0..POINTS).map(|k| k as f64).collect();
        let (mut lines, mut bands) = (Vec::new(), Vec::new());
        let own: Vec<&CycleCurve> = self.curves.iter().filter(|c| c.name == name).collect();
        if let Some((mean, sd)) = self.normative.beside(name, own.iter().copied()) {
            let [low, high] = edges(&mean, &sd);
            bands.push(Band::new(self.normative.source.clone(), x.clone(), low, high));
        }
        for c in own {
            let color = usize::from(c.side == Side::Left);
            let edge = |k: f64| {
                c.points.iter().map(|p| p.mean + k * if p.sd.is_finite() { p.sd } else { 0.0 }).collect()
            };
            if c.cycles > 1 {
                let band = Band::new(format!("{} ± SD", c.side.name()), x.clone(), edge(-1.0), edge(1.0));
                bands.push(Band { color: Some(color), ..band });
            }
            let style = Style { color: Some(color), ..Style::default() };
            let title = format!("{} ({} cycles)", c.side.name(), c.cycles);
            lines.push(Line::new(title, x.clone(), edge(0.0)).styled(style));
        }
        let unit = match name.rsplit('_').next() {
            Some("moment") => "N m/kg",
            Some("force") => "N/kg",
            Some("power") => "W/kg",
            _ => "",
        };
        Plot {
            title: name.to_string(),
            x_label: "gait cycle (%)".to_string(),
            y_label: if self.is_per_kilogram { unit.to_string() } else { String::new() },
            lines,
            bands,
            x_range: Some([0.0, 100.0]),
            ..Plot::default()
        }
    }
}

/// A side with the number of its cycles.
fn counted(side: &str, n: usize) -> String {
    format!("{side} ({n} cycle{})", if n == 1 { "" } else { "s" })
}

/// Three digits.
pub(crate) fn digits(x: f64) -> String {
    match x.abs() {
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        a if a >= 1.0 => format!("{x:.2}"),
        // Zero has no sign.
        a if a < 0.0005 => "0.000".to_string(),
        _ => format!("{x:.3}"),
    }
}

/// A cell of a .csv.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

impl Outcome for GaitAnalysis {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let Some(folder) = &self.output else { return Vec::new() };
        let mut list = vec![
            Artifact::text(folder.join("events.csv"), self.events_csv()).derived(),
            Artifact::text(folder.join("parameters.csv"), self.parameters_csv()).derived(),
        ];
        if !self.curves.is_empty() {
            list.push(Artifact::text(folder.join("curves.csv"), self.curves_csv()).derived());
        }
        let mut names: Vec<&str> = self.curves.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let file = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-', "_");
            list.push(Artifact::text(folder.join(format!("{file}.svg")), self.plot(name).to_svg()).derived());
        }
        list
    }
}

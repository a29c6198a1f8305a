//! Loads without a setup file: force plates in a table or a C3D file are assigned to the feet that stand on them.

use crate::artifact::{Artifact, Outcome};
use crate::consistent_motion::files::{load_data, load_setup};
use crate::context::{Context, Monitor, Silent};
use crate::error::Error;
use crate::inputs::model;
use crate::inputs::paths::{has_ending, stem_of};
use crate::inputs::table::{Take, read_in_order, read_motion, warn_of_units};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_io::table::FIRST_COUNTS;
use soleus_io::table::sto::Digits;
use soleus_math::Table;
use soleus_math::table::Element;
use soleus_model::force::Force;
use soleus_model::{Diagnostic, Diagnostics, Model};
use soleus_tools::plates::{self, Contact, Fitted, Foot, FootPaths, Plate, Unmeasured};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Assigns force plates to feet, from the positions of the feet over time.
///
/// All tools that take loads accept such a table instead of an `ExternalLoads` file. This request shows the assignment
/// and writes the file.
///
/// ```no_run
/// use soleus::{AssignLoads, Context, Disk, Outcome};
/// let files = Disk::new();
/// let cx = Context::new(&files);
/// let request = AssignLoads {
///     model: "subject.osim".into(),
///     motion: "walk_ik.mot".into(),
///     loads: "walk_grf.mot".into(),
///     output: Some("walk_loads.xml".into()),
/// };
/// let found = request.run(&cx)?;
/// println!("{}", found.report());
/// found.write(&cx)?;
/// # Ok::<(), soleus::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AssignLoads {
    /// The model.
    pub model: ModelSource,
    /// Coordinates over time (.mot, .sto).
    pub motion: Source<Table>,
    /// Force plate data over time: forces, centres of pressure and free moments (.mot, .sto, .csv, .parquet, .c3d).
    pub loads: Source<Table>,
    /// Output `ExternalLoads` file; the data are written next to it.
    pub output: Option<PathBuf>,
}

/// Masses by plates and by the model that differ by more, as a part, are worth a warning: over whole cycles plates weigh within a percent or two.
const MASS_OFF: f64 = 0.04;

/// Keys in the header of the data: the longest time during which plates measure all that acts on the feet, s.
pub(crate) const COMPLETE_FROM: &str = "complete_from";
pub(crate) const COMPLETE_TO: &str = "complete_to";

/// Whether a file contains loads as a table, not as `ExternalLoads`.
pub fn is_table(path: &Path) -> bool {
    ["mot", "sto", "csv", "parquet", "c3d", "trc"].iter().any(|e| has_ending(path, e))
}

impl AssignLoads {
    /// Assigns each load of each plate to a foot.
    pub fn run(&self, cx: &Context) -> Result<AssignedLoads, Error> {
        let model = model::read(&cx.without_model_warnings(), &self.model)?;
        warn_of_units(cx, &model, &self.motion, &read_motion(cx, &self.motion, Take::Markers)?);
        self.run_with(cx, &model)
    }

    /// The same for a model that is read already.
    pub(crate) fn run_with(&self, cx: &Context, model: &Model) -> Result<AssignedLoads, Error> {
        let path = self.loads.path();
        // Poses need no forces.
        let bare = Model { forces: Vec::new(), controllers: Vec::new(), probes: Vec::new(), ..model.clone() };
        let system = model::compile(self.model.path(), &bare, &Options::default())?;
        // The tool that asks reads the motion itself, and tells what is odd about it.
        let motion = read_motion(&cx.with_monitor(&Silent), &self.motion, Take::Markers)?;
        let table = read_in_order(&cx.with_monitor(&BesideTwins(cx.monitor)), &self.loads, Take::Forces)?;
        let feet = plates::find_feet(&bare, &system);
        if feet.is_empty() {
            let message = "the model has no feet";
            return Err(Error::content(path, 0, "", message, "give an ExternalLoads file"));
        }
        let paths = FootPaths::new(&bare, &system, &motion, &feet);
        let (table, plates, fitted) = turned_to_feet(path, table, &paths)?;
        let contacts = plates::assign(&table, &plates, &feet, &paths);
        let forces = plates::loads(model, &table, &plates, &feet, &contacts);
        let recorded = [table.times()[0], table.times()[table.rows() - 1]];
        let unmeasured = plates::unmeasured(&paths, &contacts, recorded);
        let both = [motion.times()[0].max(recorded[0]), motion.times()[motion.rows() - 1].min(recorded[1])];
        let complete = plates::complete(&unmeasured, &contacts, both);
        let mass = complete.and_then(|c| plates::weighed(&table, &plates, &contacts, c, model.gravity));
        let names = feet.iter().map(|f| model.bodies[f.body].name.clone()).collect();
        let mut data = load_data(&forces);
        if let (Some(data), Some([from, to])) = (&mut data, complete) {
            data.set_metadata(COMPLETE_FROM, from.to_string());
            data.set_metadata(COMPLETE_TO, to.to_string());
        }
        let found = AssignedLoads {
            setup: self.output.as_ref().map(|file| load_setup(model, &forces, &data_file(file))),
            plates: plates.iter().map(|p| p.name.clone()).collect(),
            feet,
            bodies: names,
            contacts,
            unmeasured,
            complete,
            mass,
            model_mass: model.total_mass(),
            forces,
            fitted,
            data,
            request: self.clone(),
        };
        let at_rest: Vec<f64> = plates.iter().map(|p| plates::force_at_rest(&table, p).norm()).collect();
        found.tell(cx, path, &plates, &at_rest);
        Ok(found)
    }
}

/// The plates of a table, in the axes and units that put them under the feet.
pub(crate) fn turned_to_feet(
    path: &Path,
    mut table: Table,
    paths: &FootPaths,
) -> Result<(Table, Vec<Plate>, Option<Fitted>), Error> {
    let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
    if table.element() != Element::Scalar {
        table = table.flattened();
    }
    let plates = plates::find_plates(table.labels());
    if plates.is_empty() {
        let sample = table.labels().iter().take(6).cloned().collect::<Vec<_>>().join(", ");
        let message = format!("the table has no columns that look like the force of a plate: {sample}, …");
        let hint = "use names such as ground_force_vx, ground_force_px, ground_torque_x, or give an ExternalLoads file";
        return wrong(message, hint);
    }
    if plates.iter().all(|p| p.point.is_none()) {
        let message = "the plates have forces, but no centre of pressure".to_string();
        let hint = "columns such as ground_force_px or COP1_X are needed; for a .c3d file they are computed";
        return wrong(message, hint);
    }
    let fitted = plates::fit_to_feet(&table, &plates, paths);
    if let Some(f) = &fitted {
        turn(&mut table, &plates, f);
    }
    Ok((table, plates, fitted))
}

/// Tells all but that labels occur twice: in a file of plates the second is another plate.
pub(crate) struct BesideTwins<'a>(pub &'a dyn Monitor);

impl Monitor for BesideTwins<'_> {
    fn diagnostic(&self, d: &Diagnostic) {
        if d.hint != FIRST_COUNTS {
            self.0.diagnostic(d);
        }
    }

    fn note(&self, line: &str) {
        self.0.note(line);
    }
}

/// Turns the plates of a table and brings their points to meters.
fn turn(table: &mut Table, plates: &[Plate], fitted: &Fitted) {
    if fitted.turns.is_empty() && fitted.meters == 1.0 {
        return;
    }
    let groups = plates.iter().flat_map(|p| {
        let lengths = fitted.meters;
        [(Some(p.force), 1.0), (p.point, lengths), (p.torque, lengths)]
    });
    let groups: Vec<([usize; 3], f64)> = groups.filter_map(|(c, unit)| Some((c?, unit))).collect();
    for (columns, unit) in groups {
        for row in 0..table.rows() {
            let v = soleus_math::Vec3::from_array(columns.map(|c| table.columns()[c][row]));
            for (c, x) in columns.into_iter().zip((fitted.rotation * (v * unit)).to_array()) {
                if let Some(column) = table.column_at_mut(c) {
                    column[row] = x;
                }
            }
        }
    }
}

/// The data of an `ExternalLoads` file, beside it.
pub(crate) fn data_file(setup: &Path) -> PathBuf {
    setup.with_file_name(format!("{}_data.mot", stem_of(setup, "loads")))
}

/// Loads on the feet of a model.
#[derive(Clone, Debug)]
pub struct AssignedLoads {
    /// Names of the plates, from the table labels.
    pub plates: Vec<String>,
    /// Feet of the model.
    pub feet: Vec<Foot>,
    /// Bodies of the feet on which the loads act.
    pub bodies: Vec<String>,
    /// Loads in order of time, and their feet.
    pub contacts: Vec<Contact>,
    /// Times when a foot is on the ground outside the plates.
    pub unmeasured: Vec<Unmeasured>,
    /// Time range in which the plates measure all loads on the feet, s; if there are several, the one with the longest
    /// time on plates.
    pub complete: Option<[f64; 2]>,
    /// Mass of the subject from the plates, averaged over whole gait cycles, kg.
    pub mass: Option<f64>,
    model_mass: f64,
    /// The forces.
    pub forces: Vec<Force>,
    /// Rotation of the table that fits it to the motion; `None` if there is no load during the motion.
    pub fitted: Option<Fitted>,
    data: Option<Table>,
    setup: Option<String>,
    request: AssignLoads,
}

impl AssignedLoads {
    /// All loads as a text table.
    pub fn report(&self) -> String {
        let width = self.plates.iter().map(String::len).max().unwrap_or(0).max(5);
        let mut text =
            format!("{:width$}  {:>8}  {:>8}  {:>7}  foot\n", "plate", "from, s", "to, s", "peak, N");
        for c in &self.contacts {
            let foot = match c.foot {
                Some(k) => {
                    let both = if c.is_shared { ", both feet were on the plate" } else { "" };
                    format!("{} ({:.0} mm from it{both})", self.bodies[k], 1e3 * c.distance)
                }
                None if c.distance.is_finite() => format!("none near ({:.2} m)", c.distance),
                None => "outside the time of the motion".to_string(),
            };
            let plate = &self.plates[c.plate];
            let _ = writeln!(text, "{plate:width$}  {:8.3}  {:8.3}  {:7.0}  {foot}", c.from, c.to, c.peak);
        }
        text
    }

    fn tell(&self, cx: &Context, path: &Path, plates: &[Plate], at_rest: &[f64]) {
        let mut log = Diagnostics::new(path.display().to_string());
        if let Some(f) = self.fitted.as_ref().filter(|f| !f.turns.is_empty() || f.meters != 1.0) {
            let mut what = Vec::new();
            if !f.turns.is_empty() {
                what.push(format!(
                    "the axes of the plates were rotated by {} to match those of the motion",
                    f.turns
                ));
            }
            if f.meters != 1.0 {
                what.push("centres of pressure are assumed to be in millimetres".to_string());
            }
            cx.note(what.join("; "));
        }
        self.report().lines().for_each(|line| cx.note(line));
        for u in &self.unmeasured {
            let [from, to] = u.time;
            cx.note(format!(
                "`{}` is on the ground without a plate from {from:.3} s to {to:.3} s",
                self.bodies[u.foot]
            ));
        }
        if let Some([from, to]) = self.complete.filter(|_| !self.unmeasured.is_empty()) {
            cx.note(format!("loads are complete from {from:.3} s to {to:.3} s"));
        }
        if let Some(mass) = self.mass {
            let part = mass / self.model_mass - 1.0;
            if part.abs() > MASS_OFF {
                let own = self.model_mass;
                let message =
                    format!("body mass from the plates: {mass:.1} kg; mass of the model: {own:.1} kg");
                let hint =
                    "scale the model to the mass of the subject (--mass), or check the unit of the forces";
                log.warn(0, "", message, hint);
            } else {
                cx.note(format!("body mass from the plates: {mass:.1} kg"));
            }
        }
        for (p, force) in plates.iter().zip(at_rest).filter(|(_, force)| **force > plates::ZERO_N) {
            let message = format!("plate `{}` reads {force:.0} N when unloaded", p.name);
            log.warn(
                0,
                "",
                message,
                "zero the plate before the trial; the offset is removed only while nobody is on the plate",
            );
        }
        for p in plates.iter().filter(|p| p.point.is_none()) {
            log.warn(0, "", format!("plate `{}` has no centre of pressure and is ignored", p.name), "");
        }
        for (i, name) in self.plates.iter().enumerate().filter(|(i, _)| plates[*i].point.is_some()) {
            let mut own = self.contacts.iter().filter(|c| c.plate == i);
            if own.clone().next().is_none() {
                cx.note(format!("nobody stepped on plate `{name}`"));
            } else if own.clone().all(|c| c.foot.is_none()) {
                let far = own.clone().any(|c| c.distance.is_finite());
                let message = match far {
                    true => format!(
                        "no foot of the model is near plate `{name}` while it is loaded: it is ignored"
                    ),
                    false => format!("plate `{name}` is not loaded during the motion: it is ignored"),
                };
                log.warn(
                    0,
                    "",
                    message,
                    "check that motion and loads are from the same trial, and their axes and units",
                );
            } else if own.any(|c| c.is_shared) {
                let message = format!("both feet stood on plate `{name}` at the same time");
                let hint = "its load is assigned to one foot until the other is nearer to the centre of pressure; moments around this time are not reliable";
                log.warn(0, "", message, hint);
            }
        }
        cx.report(&log);
    }
}

impl Outcome for AssignedLoads {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        match (&self.request.output, &self.setup, &self.data) {
            (Some(file), Some(setup), Some(data)) => vec![
                Artifact::text(file, setup.clone()).derived(),
                Artifact::table(data_file(file), data, Digits::Shortest).derived(),
            ],
            _ => Vec::new(),
        }
    }
}

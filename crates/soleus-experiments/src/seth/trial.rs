//! A motion of a model, and what each of its muscles contributes to the acceleration of the mass centre.

use crate::desk;
use soleus::Error;
use soleus::analysis::{contacts, failed};
use soleus::inputs::model::{Change, read_changed};
use soleus::inputs::{loads, table::read_numbers};
use soleus_dynamics::{Options, System};
use soleus_math::{Table, Vec3};
use soleus_model::Model;
use soleus_model::force::{ExternalForce, ForceKind};
use soleus_simulation::ModelControls;
use soleus_tools::analysis::{
    Analysis, ContactConstraint, InducedAccelerations, InducedSettings, MotionSettings, Output, Preparation,
    Scheduled, StateHistory, analyze,
};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A model with measured loads, and how it moved.
pub struct Trial {
    /// The model, actuators and measured loads included.
    pub model: Model,
    /// The model, ready for computing.
    pub system: System,
    /// The motion.
    pub history: StateHistory,
    /// The file of the motion, for messages.
    pub source: PathBuf,
}

impl Trial {
    /// Reads model, actuators and loads; the motion is given as coordinates.
    pub fn new(
        [model_path, actuators, plates]: [&Path; 3],
        coordinates: &Table,
        source: &Path,
    ) -> Result<Trial, Error> {
        let files = [actuators.to_path_buf()];
        let change = Change { force_sets: &files, ..Change::default() };
        let model = desk::enter(None, false, |cx| {
            let mut model = read_changed(cx, &model_path.into(), &change)?;
            model.forces.extend(loads::read(cx, &model, Some(plates), None, None)?);
            Ok::<_, Error>(model)
        })?;
        let system = desk::compile(model_path, &model, &Options::default())?;
        let history = history(&model, &system, coordinates, source)?;
        Ok(Trial { model, system, history, source: source.to_path_buf() })
    }

    /// The same model in another motion.
    pub fn moving(&self, coordinates: &Table) -> Result<Trial, Error> {
        let history = history(&self.model, &self.system, coordinates, &self.source)?;
        let (model, system) = (self.model.clone(), self.system.clone());
        Ok(Trial { model, system, history, source: self.source.clone() })
    }

    /// The same with measured forces that act farther ahead, m.
    pub fn pressed_ahead(&self, ahead: f64) -> Result<Trial, Error> {
        let mut model = self.model.clone();
        for f in &mut model.forces {
            if let ForceKind::ExternalForce(ExternalForce { point: Some([x, ..]), .. }) = &mut f.kind {
                x.iter_mut().for_each(|x| *x += ahead);
            }
        }
        let system = desk::compile(&self.source, &model, &Options::default())?;
        Ok(Trial { model, system, history: self.history.clone(), source: self.source.clone() })
    }

    /// The rows between two times.
    pub fn rows(&self, from: f64, to: f64) -> Result<RangeInclusive<usize>, Error> {
        self.history.range(from, to).map_err(|e| Error::content(&self.source, 0, "", e.to_string(), ""))
    }

    /// Makes analyses of every `every`th row of a range; the tables of each.
    pub fn analyse(
        &self,
        rows: RangeInclusive<usize>,
        every: usize,
        analyses: Vec<Box<dyn Analysis>>,
    ) -> Result<Vec<Vec<Output>>, Error> {
        let mut list: Vec<Scheduled> = analyses
            .into_iter()
            .map(|analysis| Scheduled { name: String::new(), step_interval: every, analysis })
            .collect();
        let mut controls = ModelControls::new(&self.model, &self.system);
        let both = (&self.model, &self.system);
        let wrong = |e| failed(&self.source, &e);
        analyze(both, &self.history, rows, &mut controls, Preparation::default(), &mut list)
            .map_err(wrong)?;
        list.into_iter().map(|s| s.analysis.finish().map_err(wrong)).collect()
    }

    /// What forces of actuators, given over time, contribute to the acceleration of the mass centre.
    pub fn contributions(
        &self,
        rows: RangeInclusive<usize>,
        every: usize,
        forces: &Table,
    ) -> Result<Contributions, Error> {
        let contact = |c: soleus_io::setup::ContactSetup| ContactConstraint {
            name: c.name,
            rolling_body: c.rolling_body,
            surface_body: c.surface_body,
            normal: Vec3::from_array(c.normal),
            friction: c.friction,
            radius: c.radius,
        };
        let settings = InducedSettings {
            coordinates: Vec::new(),
            bodies: vec!["center_of_mass".to_string()],
            contacts: contacts(&self.model).into_iter().map(contact).collect(),
            force_threshold: 6.0,
            potentials_only: false,
            report_reactions: true,
            in_degrees: false,
            opensim_faults: false,
        };
        let made = InducedAccelerations::new(&self.model, &self.system, &settings, Some(forces));
        let induced = Box::new(made.map_err(|e| failed(&self.source, &e))?);
        let outputs = self.analyse(rows, every, vec![induced])?.into_iter().flatten();
        let mut found = Contributions { com: Table::default(), reactions: Table::default() };
        for o in outputs {
            match o.suffix.as_str() {
                "_center_of_mass" => found.com = o.table,
                "_induced_constraint_reactions" => found.reactions = o.table,
                _ => {}
            }
        }
        Ok(found)
    }
}

fn history(model: &Model, system: &System, table: &Table, source: &Path) -> Result<StateHistory, Error> {
    StateHistory::from_coordinates(model, system, table, None, &MotionSettings::default())
        .map_err(|e| Error::content(source, 0, "", e.to_string(), ""))
}

/// Reads a table of numbers.
pub fn table(path: &Path) -> Result<Table, Error> {
    desk::enter(None, false, |cx| read_numbers(cx, &path.into()))
}

/// A column of a table that must be there.
pub fn column<'t>(table: &'t Table, label: &str, path: &Path) -> Result<&'t [f64], Error> {
    let missing = || Error::content(path, 0, "", format!("no column `{label}`"), "");
    table.index_of(label).map(|i| table.columns()[i].as_slice()).ok_or_else(missing)
}

/// Accelerations of the mass centre (m/s²) by contributor, and reactions of the contacts (N).
pub struct Contributions {
    com: Table,
    reactions: Table,
}

/// Axes: forward, up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Along x.
    Forward,
    /// Along y.
    Up,
}

impl Axis {
    fn ending(self) -> &'static str {
        match self {
            Axis::Forward => "_X",
            Axis::Up => "_Y",
        }
    }
}

impl Contributions {
    /// Times, s.
    pub fn times(&self) -> &[f64] {
        self.com.times()
    }

    /// The sum of all contributors whose names begin with one of the words.
    pub fn sum(&self, axis: Axis, beginnings: &[&str]) -> Vec<f64> {
        self.sum_where(axis, |name| beginnings.iter().any(|b| name.starts_with(b)))
    }

    /// The same for those of one leg, whose names end in `_r` or `_l`.
    pub fn sum_of_leg(&self, axis: Axis, beginnings: &[&str], side: char) -> Vec<f64> {
        let is_mine = |name: &str| name.strip_suffix(side).is_some_and(|n| n.ends_with('_'));
        self.sum_where(axis, |name| is_mine(name) && beginnings.iter().any(|b| name.starts_with(b)))
    }

    fn sum_where(&self, axis: Axis, wanted: impl Fn(&str) -> bool) -> Vec<f64> {
        let mut sum = vec![0.0; self.com.rows()];
        for (label, column) in self.com.labels().iter().zip(self.com.columns()) {
            if label.strip_suffix(axis.ending()).is_some_and(&wanted) {
                sum.iter_mut().zip(column).for_each(|(s, x)| *s += x);
            }
        }
        sum
    }

    /// Means of what contributors add in the positive direction, contributor by contributor, summed over those whose names
    /// begin with one of the words.
    pub fn pushed(&self, axis: Axis, beginnings: &[&str]) -> f64 {
        let mine = |label: &String| {
            let name = label.strip_suffix(axis.ending());
            name.is_some_and(|n| beginnings.iter().any(|b| n.starts_with(b)))
        };
        let columns = self.com.labels().iter().zip(self.com.columns()).filter(|(l, _)| mine(l));
        let mean = |c: &Vec<f64>| c.iter().map(|x| x.max(0.0)).sum::<f64>() / c.len() as f64;
        columns.map(|(_, c)| mean(c)).sum()
    }

    /// The acceleration of all together.
    pub fn total(&self, axis: Axis) -> Vec<f64> {
        self.sum(axis, &["total"])
    }

    /// Largest difference of the sum of contributions from the acceleration of all together, m/s².
    pub fn worst_sum(&self, axis: Axis) -> f64 {
        let total = self.total(axis);
        let all = self.sum(axis, &[""]);
        // The sum over all labels counts the total itself too.
        all.iter().zip(&total).map(|(a, t)| (a - 2.0 * t).abs()).fold(0.0, f64::max)
    }

    /// Vertical reaction of all contacts, N.
    pub fn vertical_reaction(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.reactions.rows()];
        for (label, column) in self.reactions.labels().iter().zip(self.reactions.columns()) {
            if label.starts_with("total_") && label.ends_with("_contact_ground_Fy") {
                sum.iter_mut().zip(column).for_each(|(s, x)| *s += x);
            }
        }
        sum
    }
}

/// Quadriceps.
pub const QUADRICEPS: &[&str] = &["rect_fem", "vas_"];
/// Vasti.
pub const VASTI: &[&str] = &["vas_"];
/// Soleus and gastrocnemius.
pub const CALF: &[&str] = &["soleus", "med_gas", "lat_gas"];
/// Muscles about the hip.
pub const PROXIMAL: &[&str] = &[
    "glut_", "semimem", "semiten", "bifemlh", "iliacus", "psoas", "add_", "grac", "tfl", "sar", "pect",
    "quad_fem", "gem", "peri",
];
/// Groups for pictures and lists.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("vasti", VASTI),
    ("rectus femoris", &["rect_fem"]),
    ("soleus", &["soleus"]),
    ("gastrocnemius", &["med_gas", "lat_gas"]),
    ("gluteus maximus", &["glut_max"]),
    ("gluteus medius and minimus", &["glut_med", "glut_min"]),
    ("hamstrings", &["semimem", "semiten", "bifemlh", "bifemsh"]),
    ("iliopsoas", &["iliacus", "psoas"]),
    ("dorsiflexors", &["tib_ant", "ext_dig", "ext_hal", "per_tert"]),
];

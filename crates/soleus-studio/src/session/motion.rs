//! A motion of a model: frames as they are asked for, so that long ones need not be held.

use super::model::{OpenModel, frames_value};
use super::{Fields, Refusal, Session, wrong};
use crate::message::{Answer, Block};
use serde_json::{Value, json};
use soleus::engine::dynamics::Options;
use soleus::engine::viewer::scene::Scene;
use soleus::engine::viewer::{Activations, Motion, Recorder};
use soleus::inputs::table::{self, Take};
use soleus::inputs::{loads, model as models};
use soleus::states::{Quantity, Rows, States};
use soleus::{Context, Error, Model, Source, System, Table};
use std::path::Path;
use std::sync::Arc;

/// Times that differ by less are the same, s.
const SAME_TIME: f64 = 1e-6;

/// Frames that one answer may have.
const MOST_FRAMES: usize = 1024;

/// A motion that is open.
pub struct OpenMotion {
    /// Number of the model.
    model: usize,
    table: Table,
    activations: Option<Table>,
    /// The model with measured loads, where there are some.
    loaded: Option<(Model, System)>,
}

impl Session {
    /// Opens a motion of a model: a table of coordinates or states; activations and measured loads may come from other files.
    pub(super) fn open_motion(&mut self, cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        // What a tool has reached comes as numbers, everything else as a file.
        let (source, table): (Source<Table>, Table) = match f.0.get("reached") {
            Some(reached) => ("reached".into(), reached_table(reached)?),
            None => {
                let source = f.text("file")?.into();
                let table = table::read_rows(cx, &source, Take::Markers)?;
                (source, table)
            }
        };
        let motion = Motion::new(&m.model, &m.system, &table);
        let motion = motion.map_err(|e| Error::content(source.path(), 0, "", e.to_string(), ""))?;
        let times = motion.times();
        let (at_default, gaps) = (motion.at_default.clone(), motion.gaps);
        let (mut has_activations, has_speeds) = (motion.has_activations, motion.has_speeds);
        // Where activations are known, if not all along.
        let (mut activations, mut known) = (None, None);
        if let Some(file) = f.optional_text("activations") {
            let table = table::read_rows(cx, &file.into(), Take::Markers)?;
            if Activations::new(&m.model, &m.system, &table).is_none() {
                let message = "none of the columns is a muscle of the model";
                return Err(
                    Error::content(Path::new(file), 0, "", message, "name columns after muscles").into()
                );
            }
            has_activations = true;
            known = ends(table.times());
            activations = Some(table);
        }
        let mut loaded = None;
        if let Some(file) = f.optional_text("loads") {
            let mut model = (*m.model).clone();
            model.forces.extend(loads::read(cx, &model, Some(Path::new(file)), None, Some(&source))?);
            let system = models::compile(&m.path, &model, &Options::default())?;
            loaded = Some((model, system));
        }
        let open = OpenMotion { model: f.index("model")?, table, activations, loaded };
        let (model, system) = open.system(m);
        let arrows = Recorder::of_scene(model, system, Scene::default()).scene().arrows.clone();
        let mut block = Block::default();
        let id = f.index("replace").ok().filter(|&i| i < self.motions.len()).unwrap_or(self.motions.len());
        let value = json!({
            "id": id, "times": block.f64s(times), "at_default": at_default, "gaps": gaps, "arrows": arrows,
            "has_activations": has_activations, "activations_known": known, "has_speeds": has_speeds,
        });
        match self.motions.get_mut(id) {
            Some(old) => *old = open,
            None => self.motions.push(open),
        }
        Ok(Answer { value, block })
    }

    /// Frames of a motion, by number among its times.
    pub(super) fn frames(&self, f: &Fields) -> Result<Answer, Refusal> {
        let Some(open) = self.motions.get(f.index("motion")?) else {
            return wrong("this motion is not open");
        };
        let Some(m) = self.models.get(open.model) else { return wrong("this model is not open") };
        let (model, system) = open.system(m);
        let Ok(motion) = Motion::new(&m.model, &m.system, &open.table) else {
            return wrong("the model has changed: open the motion again");
        };
        let activations = open.activations.as_ref().and_then(|t| Activations::new(&m.model, &m.system, t));
        let has_activity = motion.has_activations || activations.is_some();
        // Beyond the times of a table of activations, those of the motion count, if it has some.
        let known = activations.as_ref().and(open.activations.as_ref()).and_then(|t| ends(t.times()));
        let is_known = |t: f64| known.is_none_or(|[a, b]| t >= a - SAME_TIME && t <= b + SAME_TIME);
        let mut recorder =
            Recorder::of_scene(model, system, Scene::default()).with(has_activity, motion.has_speeds);
        let count = motion.times().len();
        let rows: Vec<usize> = (f.list("rows"))
            .filter_map(Value::as_u64)
            .filter_map(|r| usize::try_from(r).ok().filter(|&r| r < count))
            .take(MOST_FRAMES)
            .collect();
        let n = system.tree.num_mobilities;
        let (mut q, mut x) = (Vec::with_capacity(rows.len() * n), system.default_state.clone());
        for &row in &rows {
            motion.read(row, &mut x);
            m.assemble(&mut x);
            if let Some(a) = activations.as_ref().filter(|_| is_known(x.time)) {
                a.read(&mut x);
            }
            recorder.record(&x);
            q.extend_from_slice(&x.q);
        }
        let mut block = Block::default();
        let mut frames = recorder.take_frames();
        for frame in frames.iter_mut().filter(|f| !motion.has_activations && !is_known(f.time)) {
            frame.activity.fill(f64::NAN);
        }
        let mut value = frames_value(&frames, &mut block);
        value["rows"] = block.u32s(rows.iter().map(|&r| r as u32));
        let mut centers = vec![0.0; 3 * rows.len()];
        let states = States { q: Some(Rows::each(&q, rows.len())), ..States::default() };
        m.evaluator.evaluate(&states, &[Quantity::MassCenter(0)], &mut [&mut centers[..]], 1)?;
        value["mass_center"] = block.f32s(centers);
        // In the order of the model's coordinates, as sliders have them.
        let order: Vec<(usize, f64)> = (m.model.coordinates.iter().zip(&system.tree.mobility_of_coordinate))
            .map(|(c, &mobility)| (mobility, c.default_value))
            .collect();
        let of =
            |row: &[f64], (mobility, default): (usize, f64)| row.get(mobility).copied().unwrap_or(default);
        value["q"] =
            block.f32s(q.chunks_exact(n.max(1)).flat_map(|row| order.iter().map(move |&o| of(row, o))));
        Ok(Answer { value, block })
    }
}

/// The first and the last time.
fn ends(times: &[f64]) -> Option<[f64; 2]> {
    times.first().zip(times.last()).map(|(&a, &b)| [a, b])
}

/// A motion in numbers: names, times, and a row of values for each.
fn reached_table(reached: &Value) -> Result<Table, Refusal> {
    let list = |v: Option<&Value>| -> Vec<f64> {
        v.and_then(Value::as_array).into_iter().flatten().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let names = reached.get("names").and_then(Value::as_array).into_iter().flatten();
    let labels: Vec<String> = names.filter_map(Value::as_str).map(str::to_string).collect();
    let times = list(reached.get("times"));
    let rows = reached.get("rows").and_then(Value::as_array).into_iter().flatten();
    let rows: Vec<Vec<f64>> = rows.map(|r| list(Some(r))).collect();
    if rows.len() != times.len() || rows.iter().any(|r| r.len() != labels.len()) {
        return wrong("the motion has rows of different lengths");
    }
    let columns = (0..labels.len()).map(|c| rows.iter().map(|r| r[c]).collect()).collect();
    match Table::new(soleus::engine::math::table::Element::Scalar, labels, times, columns) {
        Ok(table) => Ok(table),
        Err(e) => wrong(e.to_string()),
    }
}

impl OpenMotion {
    fn system<'s>(&'s self, m: &'s OpenModel) -> (&'s Model, &'s System) {
        match &self.loaded {
            Some((model, system)) => (model, system),
            None => (Arc::as_ref(&m.model), Arc::as_ref(&m.system)),
        }
    }
}

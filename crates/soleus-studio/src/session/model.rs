//! A model that is open: its scene, poses, values and curves.

use super::{Fields, Refusal, Session, wrong};
use crate::message::{Answer, Block};
use serde_json::{Value, json};
use soleus::engine::dynamics::Options;
use soleus::engine::dynamics::assembly::Assembler;
use soleus::engine::model::angles::degrees_of;
use soleus::engine::model::components::Components;
use soleus::engine::model::constraint::ConstraintKind;
use soleus::engine::model::force::ForceKind;
use soleus::engine::model::joint::MotionType;
use soleus::engine::viewer::scene::{Frame, Layer, Scene, Solid};
use soleus::engine::viewer::{Recorder, SceneOptions};
use soleus::inputs::{model as models, setup};
use soleus::states::{Evaluator, Quantity, Rows, States};
use soleus::viewing;
use soleus::{Context, Diagnostics, Document, Error, Model, ModelSource, State, System};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Faces that a mesh may have in a page: fine enough to fill the window with a pelvis.
const MOST_FACES: usize = 6000;
/// Points of a curve over a coordinate.
const POINTS: usize = 61;

/// A model that is open.
pub struct OpenModel {
    pub path: PathBuf,
    pub document: Arc<Document>,
    /// As it was when it was opened.
    pub original: Arc<Document>,
    /// As it was before and after parts were added or removed, for whoever undoes it.
    pub versions: Vec<Arc<Document>>,
    pub components: Components,
    pub model: Arc<Model>,
    pub system: Arc<System>,
    pub evaluator: Evaluator,
}

impl OpenModel {
    /// Builds and compiles a document.
    pub fn build(cx: &Context, path: &Path, document: Arc<Document>) -> Result<Self, Error> {
        let mut log = Diagnostics::new(path.display().to_string());
        let (model, components) = Components::build(&document, &mut log);
        let mut model = cx.settle(path, model, log)?;
        model.file_version = document.version;
        models::read_meshes(cx, path, &mut model)?;
        let system = Arc::new(models::compile(path, &model, &Options::default())?);
        let model = Arc::new(model);
        let evaluator = Evaluator::new(model.clone(), system.clone());
        let original = document.clone();
        let versions = Vec::new();
        Ok(OpenModel {
            path: path.to_path_buf(),
            document,
            original,
            versions,
            components,
            model,
            system,
            evaluator,
        })
    }

    /// The state at the values of coordinates that are given, by name; the others have their defaults. Constraints are met as far as they
    /// can be.
    pub fn state<'n>(&self, values: impl Iterator<Item = (&'n String, f64)>) -> Result<State<f64>, Refusal> {
        let mut x = self.given(values)?;
        self.assemble(&mut x);
        Ok(x)
    }

    /// The state at the values of coordinates that are given, whatever the constraints say.
    fn given<'n>(&self, values: impl Iterator<Item = (&'n String, f64)>) -> Result<State<f64>, Refusal> {
        let mut x = self.system.default_state.clone();
        for (name, value) in values {
            if !value.is_finite() {
                return wrong(format!("`{name}` has no value"));
            }
            x.q[self.evaluator.coordinate(name)?] = value;
        }
        Ok(x)
    }

    /// Meets the constraints as far as they can be met.
    pub fn assemble(&self, x: &mut State<f64>) {
        self.assemble_holding(x, &[]);
    }

    /// Meets the constraints with some mobilities held. Where that cannot be, the state stays as it was, and the largest error is returned,
    /// m or rad.
    fn assemble_holding(&self, x: &mut State<f64>, held: &[usize]) -> Option<f64> {
        if self.system.constraints.num_rows() == 0 {
            return None;
        }
        let given = x.clone();
        let mut assembler = Assembler::new(&self.model, &self.system);
        assembler.tolerance = ASSEMBLED;
        held.iter().for_each(|&m| assembler.hold(m));
        let done = assembler.solve_assembly(&self.system, x, &mut self.system.workspace());
        let unmet = done.err().filter(|e| held.is_empty() || e.error > ROUNDED);
        unmet.map(|e| {
            *x = given;
            e.error
        })
    }

    /// Meets the constraints with the locked coordinates held, and the one that was moved last too, if that can be.
    fn assemble_locked(&self, x: &mut State<f64>, locked: &[usize], moved: Option<usize>) -> Met {
        let all: Vec<usize> = locked.iter().copied().chain(moved).collect();
        let Some(error) = self.assemble_holding(x, &all) else { return Met::All };
        match self.assemble_holding(x, locked) {
            // What was moved gives way before what is locked does.
            None if moved.is_some() => Met::Moved,
            None => Met::All,
            Some(again) => Met::Not(error.min(again)),
        }
    }

    /// Values of all coordinates, in the order of the model; those that a joint does not move are at their defaults.
    fn coordinates(&self, x: &State<f64>) -> Vec<f64> {
        let of = |(c, &m): (&soleus::engine::model::joint::Coordinate, &usize)| {
            x.q.get(m).copied().unwrap_or(c.default_value)
        };
        self.model.coordinates.iter().zip(&self.system.tree.mobility_of_coordinate).map(of).collect()
    }
}

/// How the constraints of a model are met.
enum Met {
    /// By coordinates that are neither locked nor were moved.
    All,
    /// The coordinate that was moved goes no further.
    Moved,
    /// They are not, by this, m or rad: the pose is as it was asked for.
    Not(f64),
}

/// Errors of constraints that are let be, m or rad: less than any picture shows, and than any curve.
const ASSEMBLED: f64 = 1e-9;

/// What is left, m or rad, where coordinates are held at values that came from a motion in single precision: less than any picture shows.
const ROUNDED: f64 = 1e-6;

impl Session {
    /// Opens a model file; the answer names everything in it.
    pub(super) fn open_model(&mut self, cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
        let path = Path::new(f.text("file")?);
        let (mut document, log) = setup::upgraded(cx, path)?;
        cx.report(&log);
        document.file = path.display().to_string();
        let model = OpenModel::build(cx, path, Arc::new(document))?;
        let mut value = described(&model);
        value["id"] = self.models.len().into();
        self.models.push(model);
        Ok(value.into())
    }

    /// The scene of a model: what is fixed to its bodies.
    pub(super) fn scene(&self, cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let source = ModelSource::Document(m.document.clone());
        let geometry = viewing::geometry(cx, &source, &m.model, None, MOST_FACES)?;
        let given = geometry.len();
        let scene = Scene::new(&m.model, &SceneOptions { geometry });
        let mut block = Block::default();
        let value = scene_value(&scene, given, &mut block);
        Ok(Answer { value, block })
    }

    /// The model at values of coordinates.
    pub(super) fn pose(&self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let mut x = m.given(f.numbers("q"))?;
        // Coordinates that are locked stay where they are, and the one that was moved is where it was moved to.
        let mobility = |name: &str| m.evaluator.coordinate(name);
        let locked = f.texts("locked").into_iter().map(mobility).collect::<Result<Vec<usize>, Error>>()?;
        let moved = f.optional_text("moved").map(mobility).transpose()?.filter(|k| !locked.contains(k));
        let met = m.assemble_locked(&mut x, &locked, moved);
        let mut recorder = Recorder::of_scene(&m.model, &m.system, Scene::default()).with(false, false);
        recorder.record(&x);
        let mut block = Block::default();
        let mut value = frames_value(&recorder.take_frames(), &mut block);
        let mut com = [0.0; 3];
        let states = States { q: Some(Rows::all(&x.q)), ..States::default() };
        m.evaluator.evaluate(&states, &[Quantity::MassCenter(0)], &mut [&mut com[..]], 1)?;
        value["mass_center"] = block.f32s(com);
        value["q"] = m.coordinates(&x).into();
        value["met"] = match met {
            Met::All => "all",
            Met::Moved => "moved",
            Met::Not(_) => "not",
        }
        .into();
        if let Met::Not(error) = met {
            value["error"] = error.into();
        }
        Ok(Answer { value, block })
    }

    /// Live values of a component: what can be asked of it at a pose.
    pub(super) fn values(&self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let x = m.state(f.numbers("q"))?;
        let path = f.text("path")?;
        let e = &m.evaluator;
        // Muscles are as active as a motion that is shown says, or else as the model says.
        let activation = f.number("activation");
        let controls = vec![activation.unwrap_or(0.0); m.system.num_controls];
        let z = activation.map(|a| activated(&m.system, a));
        let states = States {
            q: Some(Rows::all(&x.q)),
            z: z.as_ref().map(|z| Rows::all(z)),
            e: Some(Rows::all(&controls)),
            equilibrate: true,
            ..States::default()
        };
        let ask = |q: Quantity| -> Result<Vec<f64>, Refusal> {
            let mut out = vec![0.0; q.size(e)];
            e.evaluate(&states, &[q], &mut [&mut out[..]], 1)?;
            Ok(out)
        };
        let mut list: Vec<Value> = Vec::new();
        let mut add = |name: &str, value: f64, unit: &str| {
            if value.is_finite() {
                list.push(json!([name, value, unit]));
            }
        };
        if let Some(i) = e.layout().muscles.iter().position(|p| p == path) {
            for (name, unit) in MUSCLE_VALUES {
                add(&name.replace('_', " "), ask(e.quantity(&format!("muscle.{name}"))?)?[i], unit);
            }
            let (arms, n) = (ask(Quantity::MomentArms(None))?, e.layout().coordinates.len());
            for (k, coordinate) in e.layout().coordinates.iter().enumerate() {
                let arm = arms[i * n + k];
                // What a muscle does not move is not worth a line.
                if arm.abs() > SMALLEST_ARM {
                    add(&format!("moment arm, {}", last(coordinate)), arm, "m");
                }
            }
        } else if let Some(i) = e.layout().bodies.iter().position(|p| p == path) {
            let at = ask(e.quantity("body.position")?)?;
            for (k, axis) in ["x", "y", "z"].iter().enumerate() {
                add(&format!("position {axis}"), at[3 * i + k], "m");
            }
        } else if let Some(i) = m.model.markers.iter().position(|k| k.path == path) {
            let at = ask(Quantity::Markers)?;
            for (k, axis) in ["x", "y", "z"].iter().enumerate() {
                add(&format!("position {axis}"), at[3 * i + k], "m");
            }
        } else if let Some(c) = m.model.coordinates.iter().position(|c| c.path == path) {
            let value = m.coordinates(&x)[c];
            let c = &m.model.coordinates[c];
            add("value", degrees_of(c) * value, unit(c.motion_type));
        } else if let Some(joint) = m.model.joints.iter().find(|j| j.path == path) {
            // A joint is where its coordinates are.
            let values = m.coordinates(&x);
            for c in &joint.coordinates {
                let (coordinate, value) = (&m.model.coordinates[c.0], values[c.0]);
                add(&coordinate.name, degrees_of(coordinate) * value, unit(coordinate.motion_type));
            }
        } else if let Some(i) = e.layout().paths.iter().position(|p| p == path) {
            add("length", ask(Quantity::PathLengths)?[i], "m");
        }
        Ok(json!({ "values": list }).into())
    }

    /// A quantity of muscles over the range of a coordinate, the others held at their values.
    pub(super) fn curve(&self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let e = &m.evaluator;
        let name = f.text("coordinate")?;
        let (Some(id), mobility) = (m.model.coordinate(name), e.coordinate(name)?) else {
            return wrong(format!("the model has no coordinate `{name}`"));
        };
        let c = &m.model.coordinates[id.0];
        let what = f.text("quantity")?;
        let quantity = match what {
            "moment_arm" => Quantity::MomentArms(Some(mobility)),
            other => e.quantity(&format!("muscle.{other}"))?,
        };
        let muscles: Vec<usize> = (f.texts("muscles").iter())
            .filter_map(|p| e.layout().muscles.iter().position(|q| q == p))
            .collect();
        let count = f.index("points").unwrap_or(POINTS).clamp(2, 1000);
        let [low, high] = [f.number("from").unwrap_or(c.range[0]), f.number("to").unwrap_or(c.range[1])];
        let start = m.state(f.numbers("q"))?;
        let locked = f.texts("locked").into_iter().map(|n| e.coordinate(n));
        let mut held = locked.collect::<Result<Vec<usize>, Error>>()?;
        held.push(mobility);
        let (mut xs, mut q) = (Vec::with_capacity(count), Vec::new());
        let mut unmet = Vec::new();
        for k in 0..count {
            let value = low + (high - low) * k as f64 / (count - 1) as f64;
            let mut x = start.clone();
            x.q[mobility] = value;
            // A value that the constraints do not allow has a gap in the curve.
            if m.assemble_holding(&mut x, &held).is_some() {
                unmet.push(k);
            }
            xs.push(value);
            q.extend(x.q);
        }
        let mut out = vec![0.0; count * quantity.size(e)];
        let activation = f.number("activation");
        let controls = vec![activation.unwrap_or(0.0); m.system.num_controls];
        let z = activation.map(|a| activated(&m.system, a));
        let states = States {
            q: Some(Rows::each(&q, count)),
            z: z.as_ref().map(|z| Rows::all(z)),
            e: Some(Rows::all(&controls)),
            equilibrate: what != "moment_arm" && what != "length",
            ..States::default()
        };
        e.evaluate(&states, std::slice::from_ref(&quantity), &mut [&mut out[..]], 1)?;
        let width = e.layout().muscles.len();
        for k in unmet {
            out[k * width..(k + 1) * width].fill(f64::NAN);
        }
        let mut block = Block::default();
        let curves: Vec<Value> =
            muscles.iter().map(|&i| block.f64s((0..count).map(|k| out[k * width + i]))).collect();
        let (rotational, unit) = (c.motion_type == MotionType::Rotational, unit(c.motion_type));
        let names: Vec<&str> = muscles.iter().map(|&i| last(&e.layout().muscles[i])).collect();
        let value = json!({ "x": block.f64s(xs), "y": curves, "muscles": names, "rotational": rotational, "unit": unit });
        Ok(Answer { value, block })
    }
}

/// The unit in which a page shows a coordinate. One that turns and shifts at once has none that the model names.
fn unit(kind: MotionType) -> &'static str {
    match kind {
        MotionType::Rotational => "°",
        MotionType::Translational => "m",
        MotionType::Coupled => "",
    }
}

/// States of forces with all activations at one value.
fn activated(system: &System, activation: f64) -> Vec<f64> {
    let names = system.aux_names.iter().zip(&system.default_state.z);
    names.map(|(n, &z)| if n.ends_with("/activation") { activation } else { z }).collect()
}

/// Moment arms below this are not told, m.
const SMALLEST_ARM: f64 = 1e-6;

/// What is told of a muscle, and its unit.
const MUSCLE_VALUES: &[(&str, &str)] = &[
    ("length", "m"),
    ("fiber_length", "m"),
    ("normalized_fiber_length", ""),
    ("tendon_length", "m"),
    ("tendon_strain", ""),
    ("activation", ""),
    ("tendon_force", "N"),
    ("passive_fiber_force", "N"),
];

/// The name at the end of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What is in a model.
pub fn described(m: &OpenModel) -> Value {
    let model = &*m.model;
    let dependent = |i: usize| {
        model.constraints.iter().any(|c| {
            matches!(&c.kind, ConstraintKind::CoordinateCoupler { dependent, .. } if c.enforced && dependent.0 == i)
        })
    };
    let coordinates: Vec<Value> = (model.coordinates.iter().enumerate())
        .map(|(i, c)| {
            json!({
                "name": c.name, "path": c.path, "joint": model.joints[c.joint.0].name, "range": c.range, "default": c.default_value,
                "rotational": c.motion_type == MotionType::Rotational, "unit": unit(c.motion_type), "locked": c.locked, "clamped": c.clamped,
                "moves": m.system.tree.mobility_of_coordinate[i] != usize::MAX && !c.prescribed,
                "dependent": dependent(i),
            })
        })
        .collect();
    let drawn = |f: &&soleus::engine::model::Force| f.line_of_action.is_some();
    let muscles: Vec<Value> = (model.forces.iter().filter(drawn))
        .map(|f| {
            let strength = match &f.kind {
                ForceKind::Muscle(muscle) => Some(muscle.max_isometric_force),
                _ => None,
            };
            json!({ "name": f.name, "path": f.path, "strength": strength })
        })
        .collect();
    let components: Vec<Value> = m.components.list.iter().map(|c| json!([c.path, c.class])).collect();
    let markers: Vec<Value> =
        model.markers.iter().map(|k| json!({ "name": k.name, "path": k.path })).collect();
    json!({
        "name": model.name, "file": m.path.to_string_lossy(), "mass": model.total_mass(), "credits": model.credits,
        "publications": model.publications, "bodies": model.bodies.iter().map(|b| json!({ "name": b.name, "path": b.path })).collect::<Vec<_>>(),
        "coordinates": coordinates, "paths": muscles, "markers": markers, "components": components,
        "version": model.file_version,
    })
}

/// The scene; its first `given` shapes are those of the file, and other bodies are bones, or hulls of what is attached to them.
fn scene_value(scene: &Scene, given: usize, block: &mut Block) -> Value {
    let shapes: Vec<Value> = (scene.shapes.iter().enumerate())
        .map(|(i, s)| {
            let layer = match s.layer {
                Layer::Body => "body",
                Layer::Wrap => "wrap",
                Layer::Contact => "contact",
            };
            let mut value = json!({ "body": s.body, "layer": layer, "color": s.color, "opacity": s.opacity });
            if !s.component.is_empty() {
                value["component"] = s.component.clone().into();
            }
            value["hull"] = (i >= given && s.layer == Layer::Body && s.opacity < 1.0).into();
            match &s.solid {
                Solid::Ellipsoid { pose, radii } => {
                    value["ellipsoid"] = json!({ "center": pose.p.to_array(), "quaternion": quaternion(&pose.R), "radii": radii.to_array() });
                }
                Solid::Mesh { vertices, faces } => {
                    value["vertices"] = block.f32s(vertices.iter().flat_map(|v| v.to_array()));
                    value["faces"] = block.u32s(faces.iter().flatten().copied());
                }
            }
            value
        })
        .collect();
    let bones: Vec<Value> = (scene.bones.iter())
        .map(|b| json!({ "body": b.body, "from": b.from.to_array(), "to": b.to.to_array() }))
        .collect();
    let markers: Vec<Value> = (scene.markers.iter())
        .map(|k| json!({ "name": k.name, "body": k.body, "station": k.station.to_array() }))
        .collect();
    json!({
        "bodies": scene.bodies, "shapes": shapes, "bones": bones, "markers": markers, "paths": scene.paths,
        "meters_per_newton": scene.meters_per_newton,
    })
}

/// w, x, y, z.
fn quaternion(R: &soleus::engine::math::Rotation<f64>) -> [f64; 4] {
    R.to_quaternion()
}

/// Frames as lists: for each frame and body x, y, z and a quaternion w, x, y, z; where the points of each path begin, and where the last
/// ends, counted over all frames; the points; activations (NaN: unknown); arrows as point and force.
pub fn frames_value(frames: &[Frame], block: &mut Block) -> Value {
    let poses = frames.iter().flat_map(|f| &f.poses).flat_map(|X| {
        let (p, r) = (X.p.to_array(), quaternion(&X.R));
        [p[0], p[1], p[2], r[0], r[1], r[2], r[3]]
    });
    let poses = block.f32s(poses);
    let mut begin = vec![0_u32];
    for path in frames.iter().flat_map(|f| &f.paths) {
        begin.push(begin[begin.len() - 1] + path.len() as u32);
    }
    let begin = block.u32s(begin);
    let points = block.f32s(frames.iter().flat_map(|f| f.paths.iter().flatten()).flat_map(|p| p.to_array()));
    let activity = block.f32s(frames.iter().flat_map(|f| f.activity.iter().copied()));
    let arrows = frames.iter().flat_map(|f| &f.arrows).flat_map(|(p, v)| {
        let (p, v) = (p.to_array(), v.to_array());
        [p[0], p[1], p[2], v[0], v[1], v[2]]
    });
    let arrows = block.f32s(arrows);
    json!({ "count": frames.len(), "poses": poses, "begin": begin, "points": points, "activity": activity, "arrows": arrows })
}

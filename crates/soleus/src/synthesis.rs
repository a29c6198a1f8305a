//! Synthetic measurements: laboratory data of a motion for which the true values are known.
//!
//! The data are markers of a static trial and of the motion, two force plates that measure the contact forces of the
//! model, and inertial sensors. Results of tools can be compared with the true values.
//!
//! ```no_run
//! use soleus::{Context, Disk, Outcome, Synthesize};
//! let files = Disk::new();
//! let cx = Context::new(&files);
//! let request = Synthesize {
//!     model: "models/gait2d.osim".into(),
//!     motion: "models/gait2d_walk.sto".into(),
//!     noise_mm: 1.0,
//!     output: Some("lab".into()),
//!     ..Default::default()
//! };
//! request.run(&cx)?.write(&cx)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::inputs::table::{read_numbers_of_motion, warn_of_units};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::{Options, State, System};
use soleus_io::table::sto::Digits;
use soleus_io::table::trc;
use soleus_math::signal::resampled_at;
use soleus_math::table::Element;
use soleus_math::{Random, Rotation, Table, Vec3, vec3};
use soleus_model::Model;
use soleus_simulation::system::state_column;
use soleus_tools::plates::find_feet;
use soleus_viewer::{Motion, Recorder, SceneOptions};
use std::path::{Path, PathBuf};

/// Vertical forces below this count as none, N: what laboratories cut off.
const SMALLEST_FORCE_N: f64 = 10.0;
/// How long somebody stands, s.
const STANDING_S: f64 = 1.0;
/// Plates are read so many times as often as cameras.
const PLATE_RATE: f64 = 10.0;
/// More numbers than this in a file are a wrong rate or a wrong number of cycles.
const MOST_NUMBERS: f64 = 1e8;

/// Creates laboratory data from a model and its motion.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Synthesize {
    /// The model of the subject, with markers.
    pub model: ModelSource,
    /// States or coordinates over time (.sto, .mot). Ground forces need speeds too.
    pub motion: Source<Table>,
    /// Number of repetitions of the motion, each starting at the end position of the previous one.
    pub cycles: usize,
    /// Sampling rate of cameras and sensors, Hz; force plates are sampled at ten times this rate.
    pub rate: f64,
    /// Standard deviation of the noise of marker coordinates, mm.
    pub noise_mm: f64,
    /// Standard deviation of the noise of sensor orientations about each axis, degrees.
    pub noise_deg: f64,
    /// Seed of the noise and of the sensor placement on the segments.
    pub seed: u64,
    /// Name of the trial; its files are NAME.trc, NAME_grf.mot, NAME_imu.sto and NAME_truth.sto.
    pub name: String,
    /// Output folder.
    pub output: Option<PathBuf>,
}

impl Default for Synthesize {
    fn default() -> Self {
        Synthesize {
            model: ModelSource::default(),
            motion: Source::default(),
            cycles: 1,
            rate: 100.0,
            noise_mm: 0.0,
            noise_deg: 0.0,
            seed: 1,
            name: "walk".to_string(),
            output: None,
        }
    }
}

impl Synthesize {
    /// Creates the data.
    pub fn run(&self, cx: &Context) -> Result<Synthesized, Error> {
        self.check()?;
        let (model, system) = model::system(cx, &self.model, &Options::default())?;
        let path = self.motion.path();
        let wrong = |message: String, hint: &str| Error::content(path, 0, "", message, hint);
        let given = read_numbers_of_motion(cx, &self.motion)?;
        warn_of_units(cx, &model, &self.motion, &given);
        let numbers = (given.rows() * (1 + given.columns().len())) as f64 * self.cycles as f64;
        if !(numbers < MOST_NUMBERS) {
            let message = format!("{} cycles of {} rows do not fit in memory", self.cycles, given.rows());
            return Err(wrong(message, "choose fewer cycles"));
        }
        let given = self.repeated(&model, &given);
        if given.rows() < 2 {
            return Err(wrong("a motion needs at least two rows".to_string(), ""));
        }
        let (first, last) = (given.times()[0], given.times()[given.rows() - 1]);
        let times = |rate: f64| -> Vec<f64> {
            let n = ((last - first) * rate + 1e-9).floor() as usize;
            (0..=n).map(|k| first + k as f64 / rate).collect()
        };
        let width = 2 * system.tree.num_mobilities + system.num_aux + 3 * model.markers.len();
        let width = (width + 4 * model.bodies.len() + given.columns().len()) as f64;
        let seconds = (last - first).max(STANDING_S);
        if !(seconds * self.rate * PLATE_RATE * width < MOST_NUMBERS) {
            let message = format!("{seconds} s at {} frames per second do not fit in memory", self.rate);
            return Err(wrong(message, "choose a lower rate, or fewer cycles"));
        }
        let signal = |e: soleus_math::signal::SignalError| wrong(e.to_string(), "");
        let truth = resampled_at(&given, &times(self.rate), 5).map_err(signal)?;
        let states = states(cx, (&model, &system), &truth, path)?;
        let standing = standing(&model, &system);
        let still: Vec<State<f64>> = (0..=(STANDING_S * self.rate) as usize)
            .map(|k| State { time: k as f64 / self.rate, ..standing.clone() })
            .collect();

        let mut random = Random::new(self.seed);
        let mut markers = None;
        if model.markers.is_empty() {
            let hint = "add a MarkerSet to the model";
            cx.warn(self.model.path(), "the model has no markers: no marker files are written", hint);
        } else {
            let mut of = |states: &[State<f64>]| self.markers((&model, &system), states, &mut random);
            markers = Some([of(&still), of(&states)]);
        }
        let sits: Vec<Rotation<f64>> = (1..model.bodies.len()).map(|_| any_rotation(&mut random)).collect();
        let mut of = |states: &[State<f64>]| self.sensors((&model, &system), states, &sits, &mut random);
        let sensors = [of(&still), of(&states)];
        let plates = plates(cx, (&model, &system), &given, path, &times(PLATE_RATE * self.rate))?;
        let made = Synthesized { truth, markers, sensors, plates, request: self.clone() };
        cx.note(made.report(&model));
        Ok(made)
    }

    fn check(&self) -> Result<(), Error> {
        let path = self.motion.path();
        let wrong = |message: String, hint: &str| Err(Error::content(path, 0, "", message, hint));
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return wrong(
                format!("{} is not a valid rate in Hz", self.rate),
                "give a finite number above zero",
            );
        }
        for (what, x) in [("markers, mm", self.noise_mm), ("sensors, degrees", self.noise_deg)] {
            if !(x >= 0.0 && x.is_finite()) {
                let hint = "give a finite number, zero or more";
                return wrong(format!("{x} is not a valid standard deviation of noise ({what})"), hint);
            }
        }
        if self.cycles == 0 {
            return wrong("the number of cycles is 0".to_string(), "give 1 or more");
        }
        let is_plain = !self.name.is_empty() && !self.name.contains(['/', '\\']);
        if is_plain { Ok(()) } else { wrong(format!("`{}` is not a valid file name", self.name), "") }
    }

    /// The motion as many times as asked for; coordinates go on from where they had got to.
    fn repeated(&self, model: &Model, table: &Table) -> Table {
        let n = table.rows();
        if self.cycles < 2 || n < 2 {
            return table.clone();
        }
        let value =
            |c: &soleus_model::joint::Coordinate| state_column(table.labels(), &format!("{}/value", c.path));
        let moving: Vec<usize> = model.coordinates.iter().filter_map(value).collect();
        let again = |x: &[f64], moves: bool| -> Vec<f64> {
            let step = if moves { x[n - 1] - x[0] } else { 0.0 };
            let later = (1..self.cycles).flat_map(|k| x[1..].iter().map(move |v| v + k as f64 * step));
            x.iter().copied().chain(later).collect()
        };
        let columns = table.columns().iter().enumerate().map(|(i, x)| again(x, moving.contains(&i)));
        table.with_rows(again(table.times(), true), columns.collect()).unwrap_or_else(|_| table.clone())
    }

    /// Markers at states, m, with noise.
    fn markers(
        &self,
        (model, system): (&Model, &System),
        states: &[State<f64>],
        random: &mut Random,
    ) -> Table {
        let mut ws = system.workspace();
        let mut columns = vec![Vec::new(); 3 * model.markers.len()];
        for x in states {
            system.compute_kinematics(x, &mut ws);
            for (i, m) in model.markers.iter().enumerate() {
                let f = soleus_dynamics::Resolve::frame(&system.tree, m.frame);
                let p = ws.kin.X_GB[f.body] * (f.X_BF * m.location);
                for (k, x) in p.to_array().into_iter().enumerate() {
                    let noise =
                        if self.noise_mm > 0.0 { 1e-3 * self.noise_mm * random.normal() } else { 0.0 };
                    columns[3 * i + k].push(x + noise);
                }
            }
        }
        let labels = model.markers.iter().map(|m| m.name.clone()).collect();
        table(Element::Vec(3), labels, states, columns, &[("Units", "m")])
    }

    /// Orientations of a sensor on each body in a world with z up and x forward, with noise.
    fn sensors(
        &self,
        (model, system): (&Model, &System),
        states: &[State<f64>],
        sits: &[Rotation<f64>],
        random: &mut Random,
    ) -> Table {
        let mut ws = system.workspace();
        let to_world = Rotation::about_x(std::f64::consts::FRAC_PI_2);
        let mut columns = vec![Vec::new(); 4 * sits.len()];
        for x in states {
            system.compute_kinematics(x, &mut ws);
            for (i, R_BS) in sits.iter().enumerate() {
                let mut R = to_world * ws.kin.X_GB[system.tree.node_of_body[i + 1]].R * *R_BS;
                if self.noise_deg > 0.0 {
                    let v =
                        vec3(random.normal(), random.normal(), random.normal()) * self.noise_deg.to_radians();
                    R = R * Rotation::about(v.normalized(), v.norm());
                }
                for (k, q) in R.to_quaternion().into_iter().enumerate() {
                    columns[4 * i + k].push(q);
                }
            }
        }
        let labels = model.bodies.iter().skip(1).map(|b| format!("{}_imu", b.name)).collect();
        let rate = self.rate.to_string();
        table(Element::Quaternion, labels, states, columns, &[("DataRate", &rate)])
    }
}

fn table(
    element: Element,
    labels: Vec<String>,
    states: &[State<f64>],
    columns: Vec<Vec<f64>>,
    metadata: &[(&str, &str)],
) -> Table {
    let times = states.iter().map(|x| x.time).collect();
    let mut table = Table::new(element, labels, times, columns).unwrap_or_default();
    metadata.iter().for_each(|(key, value)| table.set_metadata(key, *value));
    table
}

/// Any rotation, all alike: a quaternion of four normal numbers.
fn any_rotation(random: &mut Random) -> Rotation<f64> {
    let q = std::array::from_fn(|_| random.normal());
    let length = q.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
    Rotation::from_quaternion(q.map(|x| x / length))
}

/// States along a motion, on the manifold of the constraints.
fn states(
    cx: &Context,
    (model, system): (&Model, &System),
    table: &Table,
    path: &Path,
) -> Result<Vec<State<f64>>, Error> {
    let wrong = |e: String| Error::content(path, 0, "", e, "");
    let motion = Motion::new(model, system, table).map_err(|e| wrong(e.to_string()))?;
    for name in &motion.at_default {
        cx.warn(path, format!("no column for coordinate `{name}`: its default value is used"), "");
    }
    let assembler = Assembler::new(model, system);
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    let mut states = Vec::new();
    for i in 0..motion.times().len() {
        cx.go_on()?;
        motion.read(i, &mut x);
        if system.constraints.num_rows() > 0 {
            let done = assembler.solve_assembly(system, &mut x, &mut ws);
            done.map_err(|e| {
                wrong(format!("the constraints of the model cannot be satisfied at {} s: {e}", x.time))
            })?;
        }
        states.push(x.clone());
    }
    Ok(states)
}

/// The default pose, with the constraints met as far as they can be.
fn standing(model: &Model, system: &System) -> State<f64> {
    let mut x = system.default_state.clone();
    match Assembler::new(model, system).solve_assembly(system, &mut x, &mut system.workspace()) {
        Ok(_) => x,
        Err(_) => system.default_state.clone(),
    }
}

/// What the contacts do to each foot, as a plate would measure it: force, centre of pressure on the plane y = 0 and vertical moment,
///
///   p = (M_z / F_y, 0, −M_x / F_y),   T = M_y − (p × F)_y,   with M about the origin of ground.
///
/// Forces and moments are those of the rows of the motion, and run straight between them.
fn plates(
    cx: &Context,
    (model, system): (&Model, &System),
    given: &Table,
    path: &Path,
    times: &[f64],
) -> Result<Option<Table>, Error> {
    let wrong = |e: String| Error::content(path, 0, "", e, "");
    let motion = Motion::new(model, system, given).map_err(|e| wrong(e.to_string()))?;
    let mut recorder = Recorder::new(model, system, &SceneOptions::default());
    let feet = find_feet(model, system);
    if recorder.scene().arrows.is_empty() || feet.is_empty() {
        cx.note("the model has no foot contacts: no force-plate files are written");
        return Ok(None);
    }
    if !motion.has_speeds {
        let hint = "use the states of a simulation or prediction (.sto)";
        cx.warn(
            path,
            "the motion has no speeds, so contact forces are unknown: no force-plate files are written",
            hint,
        );
        return Ok(None);
    }
    let states = states(&cx.with_monitor(&crate::context::Silent), (model, system), given, path)?;
    let mut columns = vec![Vec::new(); 6 * feet.len()];
    let mut ws = system.workspace();
    for x in &states {
        system.compute_kinematics(x, &mut ws);
        let loads = recorder.contact_loads(x);
        for (i, foot) in feet.iter().enumerate() {
            let (mut force, mut moment) = (Vec3::zero(), Vec3::zero());
            for &b in &foot.bodies {
                let p = ws.kin.X_GB[system.tree.node_of_body[b]].p;
                force += loads[b].v;
                moment += loads[b].w + p.cross(loads[b].v);
            }
            for (k, v) in force.to_array().into_iter().chain(moment.to_array()).enumerate() {
                columns[6 * i + k].push(v);
            }
        }
    }
    let labels = (0..columns.len()).map(|i| i.to_string()).collect();
    let rows = table(Element::Scalar, labels, &states, columns, &[]);
    let wrenches = resampled_at(&rows, times, 1).map_err(|e| wrong(e.to_string()))?;

    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    for i in 0..feet.len() {
        let axes = ["x", "y", "z"];
        labels.extend(axes.map(|a| format!("ground_force_{}_v{a}", i + 1)));
        labels.extend(axes.map(|a| format!("ground_force_{}_p{a}", i + 1)));
        labels.extend(axes.map(|a| format!("ground_torque_{}_{a}", i + 1)));
        let mut own = vec![Vec::new(); 9];
        for r in 0..times.len() {
            let at = |k: usize| wrenches.columns()[6 * i + k][r];
            let (f, m) = (vec3(at(0), at(1), at(2)), vec3(at(3), at(4), at(5)));
            let row = if f.y > SMALLEST_FORCE_N {
                let p = vec3(m.z / f.y, 0.0, -m.x / f.y);
                [f, p, vec3(0.0, m.y - p.cross(f).y, 0.0)]
            } else {
                [Vec3::zero(); 3]
            };
            for (column, v) in own.iter_mut().zip(row.into_iter().flat_map(Vec3::to_array)) {
                column.push(v);
            }
        }
        columns.extend(own);
    }
    let mut table = Table::new(Element::Scalar, labels, times.to_vec(), columns).unwrap_or_default();
    table.in_degrees = Some(false);
    Ok(Some(table))
}

/// Synthetic laboratory data.
#[derive(Clone, Debug)]
pub struct Synthesized {
    /// The true motion at the times of the camera frames.
    pub truth: Table,
    /// Markers of the static trial (default pose) and of the motion, m.
    pub markers: Option<[Table; 2]>,
    /// Sensor orientations in the static trial and in the motion: quaternions in a world frame with z up and x forward.
    pub sensors: [Table; 2],
    /// One force plate per foot, right first; in N, m and N m.
    pub plates: Option<Table>,
    request: Synthesize,
}

impl Synthesized {
    fn report(&self, model: &Model) -> String {
        let t = self.truth.times();
        let [markers, plates] = [
            self.markers.as_ref().map_or(0, |m| m[1].labels().len()),
            self.plates.as_ref().map_or(0, |p| p.labels().len() / 9),
        ];
        format!(
            "{:.3} s at {} Hz: {markers} markers, {plates} force plates, {} sensors; subject: {:.1} kg",
            t[t.len() - 1] - t[0],
            self.request.rate,
            self.sensors[1].labels().len(),
            model.total_mass()
        )
    }
}

impl Outcome for Synthesized {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let Some(folder) = &self.request.output else { return Vec::new() };
        let name = &self.request.name;
        let mut list = Vec::new();
        for (file, table) in
            ["static.trc".to_string(), format!("{name}.trc")].iter().zip(self.markers.iter().flatten())
        {
            if let Ok(text) = trc::write(table, file) {
                list.push(Artifact::text(folder.join(file), text).derived());
            }
        }
        if let Some(plates) = &self.plates {
            let file = folder.join(format!("{name}_grf.mot"));
            list.push(Artifact::table(file, plates, Digits::Shortest).derived());
        }
        for (file, table) in
            ["static_imu.sto".to_string(), format!("{name}_imu.sto")].iter().zip(&self.sensors)
        {
            let content = crate::artifact::Content::TypedStorage(table);
            list.push(Artifact { path: folder.join(file), content, is_derived: true });
        }
        let truth = folder.join(format!("{name}_truth.sto"));
        list.push(Artifact::table(truth, &self.truth, Digits::Shortest).derived());
        list
    }
}

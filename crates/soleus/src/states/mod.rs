//! Many states of a model at once: arrays in, arrays out, on any number of threads.
//!
//! An [`Evaluator`] contains a compiled model and the memory for its evaluation, so that evaluating a state has no
//! overhead, and many states are distributed over the threads. Rows of arrays are states; columns are in the order of
//! [`Evaluator::layout`].
//!
//! ```
//! use soleus::states::{Evaluator, Rows, States};
//! use soleus::{Context, Memory};
//! let files = Memory::new().with("leg.osim", include_bytes!("../../models/leg_swing.osim"));
//! let evaluator = Evaluator::read(&Context::new(&files), &"leg.osim".into())?;
//! let quantities = [evaluator.quantity("udot")?, evaluator.quantity("muscle.tendon_force")?];
//! let q = [0.0, -0.2, 0.0, 0.3, -0.8, 0.1]; // two states of three coordinates
//! let states = States { q: Some(Rows::each(&q, 2)), equilibrate: true, ..States::default() };
//! let (mut udot, mut force) = (vec![0.0; 2 * 3], vec![0.0; 2 * 8]);
//! evaluator.evaluate(&states, &quantities, &mut [&mut udot[..], &mut force[..]], 2)?;
//! # assert!(udot.iter().all(|x| x.is_finite()) && force.iter().all(|f| *f > 0.0));
//! # Ok::<(), soleus::Error>(())
//! ```

pub mod batch;
mod derivatives;
#[cfg(unix)]
mod device;
mod gradient;
pub mod lanes;
mod quantity;

pub use batch::{Batch, BatchMethod};
pub use derivatives::{Derivatives, JacobianValues};
#[cfg(unix)]
pub use device::DeviceBatch;
pub use gradient::{At, StepGradients};
pub use lanes::LanesBatch;
pub use quantity::{BodyQuantity, MUSCLE, Part, Quantity, Stage};

use crate::context::Context;
use crate::error::{Error, nearest_hint};
use crate::evaluation::{control_order, tree_order};
use crate::inputs::model;
use crate::source::ModelSource;
use quantity::Scratch;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Options, State, System, Workspace};
use soleus_model::Model;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Values for many states: one row per state, or one row for all.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [f64],
    count: Option<usize>,
}

impl<'a> Rows<'a> {
    /// One row for all states.
    pub fn all(values: &'a [f64]) -> Self {
        Rows { values, count: None }
    }

    /// One row for each of `count` states.
    pub fn each(values: &'a [f64], count: usize) -> Self {
        Rows { values, count: Some(count) }
    }

    /// Number of rows; `None` if one row is used for all states.
    pub fn count(&self) -> Option<usize> {
        self.count
    }

    fn row(&self, i: usize, width: usize) -> &'a [f64] {
        match self.count {
            Some(_) => &self.values[i * width..(i + 1) * width],
            None => self.values,
        }
    }
}

/// Many states. Values that are not given are those of the model's default state; the default for controls is zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct States<'a> {
    /// Times, s.
    pub time: Option<Rows<'a>>,
    /// Coordinates, rad or m.
    pub q: Option<Rows<'a>>,
    /// Speeds, rad/s or m/s.
    pub u: Option<Rows<'a>>,
    /// States of forces: activations, fiber lengths, …
    pub z: Option<Rows<'a>>,
    /// Controls, including muscle excitations.
    pub e: Option<Rows<'a>>,
    /// Accelerations, for quantities of inverse dynamics.
    pub udot: Option<Rows<'a>>,
    /// Whether to equilibrate muscle fibers with their tendons first.
    pub equilibrate: bool,
}

impl States<'_> {
    fn parts(&self) -> [(&'static str, &Option<Rows<'_>>); 6] {
        [
            ("time", &self.time),
            ("q", &self.q),
            ("u", &self.u),
            ("z", &self.z),
            ("e", &self.e),
            ("udot", &self.udot),
        ]
    }
}

/// Numbers of states with problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Troubles {
    /// States with undetermined accelerations, which are NaN.
    pub undetermined: usize,
    /// Muscles without equilibrium, which kept their state; total over all states.
    pub not_in_equilibrium: usize,
}

impl Troubles {
    fn add(&mut self, other: Troubles) {
        self.undetermined += other.undetermined;
        self.not_in_equilibrium += other.not_in_equilibrium;
    }
}

/// Names of the columns of arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Paths of the coordinates in `q` and `u`: `/jointset/knee/knee_angle`.
    pub coordinates: Vec<String>,
    /// Paths of the states of forces in `z`: `/forceset/soleus/activation`.
    pub states: Vec<String>,
    /// Paths of the actuators of the controls in `e`.
    pub controls: Vec<String>,
    /// Paths of the bodies.
    pub bodies: Vec<String>,
    /// Paths of the muscles.
    pub muscles: Vec<String>,
    /// Paths of all forces that act along a path: muscles, springs, ligaments.
    pub paths: Vec<String>,
    /// Names of the markers.
    pub markers: Vec<String>,
}

/// A compiled model that evaluates quantities at many states. Shared by all threads.
pub struct Evaluator {
    /// The model.
    pub model: Arc<Model>,
    /// The compiled model.
    pub system: Arc<System>,
    layout: Layout,
    /// Forces that are muscles, and forces with a path, as positions in the model.
    muscles: Vec<usize>,
    paths: Vec<usize>,
    rooms: Pool<Room>,
    source: PathBuf,
}

/// The memory of one thread.
struct Room {
    ws: Workspace<f64>,
    state: State<f64>,
    controls: Vec<f64>,
    udot: Vec<f64>,
    scratch: Scratch,
}

/// Fewest states that are worth a thread.
const FEWEST_STATES: usize = 16;

impl Evaluator {
    /// Reads and compiles a model.
    pub fn read(cx: &Context, source: &ModelSource) -> Result<Self, Error> {
        let (model, system) = model::system(cx, source, &Options::default())?;
        Ok(Evaluator {
            source: source.path().to_path_buf(),
            ..Evaluator::new(Arc::new(model), Arc::new(system))
        })
    }

    /// From a model and its system.
    pub fn new(model: Arc<Model>, system: Arc<System>) -> Self {
        let forces = || model.forces.iter().zip(&system.forces).enumerate();
        let of = |wanted: &dyn Fn(&soleus_dynamics::system::SystemForce) -> bool| {
            forces().filter(|(_, (_, s))| wanted(s)).map(|(i, _)| i).collect::<Vec<usize>>()
        };
        let muscles = of(&|s| matches!(s.actor, Actor::Muscle(_)));
        let paths = of(&|s| s.path.is_some());
        let named = |list: &[usize]| list.iter().map(|&i| model.forces[i].path.clone()).collect();
        let layout = Layout {
            coordinates: tree_order(&model, &system),
            states: system.aux_names.clone(),
            controls: control_order(&model, &system),
            bodies: model.bodies.iter().skip(1).map(|b| b.path.clone()).collect(),
            muscles: named(&muscles),
            paths: named(&paths),
            markers: model.markers.iter().map(|m| m.name.clone()).collect(),
        };
        let source = PathBuf::from("(model in memory)");
        Evaluator { layout, muscles, paths, rooms: Pool::default(), source, model, system }
    }

    /// Names of the columns of arrays.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The file of the model, for messages.
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// Forces that are muscles, as positions among the forces of the model.
    pub(crate) fn muscles(&self) -> &[usize] {
        &self.muscles
    }

    /// Forces that act along a path.
    pub(crate) fn paths(&self) -> &[usize] {
        &self.paths
    }

    /// Index of a coordinate in `q` and `u`, by name or path.
    pub fn coordinate(&self, name: &str) -> Result<usize, Error> {
        let known = || self.layout.coordinates.iter().map(String::as_str);
        self.model
            .coordinate(name)
            .and_then(|id| self.system.tree.mobility_of_coordinate.get(id.0).copied())
            .filter(|m| *m < self.system.tree.num_mobilities)
            .ok_or_else(|| {
                self.wrong(
                    format!("the model has no coordinate `{name}`"),
                    &nearest_hint("coordinate", name, known()),
                )
            })
    }

    fn wrong(&self, message: String, hint: &str) -> Error {
        Error::content(&self.source, 0, "", message, hint)
    }

    /// How many numbers a row of a part has.
    fn width(&self, part: &str) -> usize {
        let s = &*self.system;
        match part {
            "time" => 1,
            "z" => s.num_aux,
            "e" => s.num_controls,
            _ => s.tree.num_mobilities,
        }
    }

    /// Number of states: the number of rows of values given per state; 1 if there are none.
    pub fn count(&self, states: &States) -> Result<usize, Error> {
        let mut count = None;
        for (name, rows) in states.parts() {
            let Some(rows) = rows else { continue };
            let (width, found) = (self.width(name), rows.values.len());
            let needed = rows.count.unwrap_or(1) * width;
            if found != needed {
                let message =
                    format!("`{name}` has {found} numbers, but {needed} are needed: {width} for each state");
                return Err(self.wrong(message, "see the layout of the system for the columns"));
            }
            if let Some(n) = rows.count {
                match count {
                    Some((other, m)) if m != n => {
                        let message = format!("`{name}` has {n} rows, but `{other}` has {m}");
                        return Err(
                            self.wrong(message, "give as many rows of each, or one row for all states")
                        );
                    }
                    _ => count = Some((name, n)),
                }
            }
        }
        Ok(count.map_or(1, |c| c.1))
    }

    /// Evaluates quantities at all states, each into its own slice, state by state. Results do not depend on the number
    /// of threads.
    pub fn evaluate(
        &self,
        states: &States,
        quantities: &[Quantity],
        out: &mut [&mut [f64]],
        threads: usize,
    ) -> Result<Troubles, Error> {
        self.evaluate_while(states, quantities, out, threads, &|| true)
    }

    /// Evaluates as [`evaluate`](Self::evaluate) does while `going_on`, which every thread, the calling one among them, asks
    /// before it takes some states. Results of states that are not taken have no meaning.
    pub fn evaluate_while(
        &self,
        states: &States,
        quantities: &[Quantity],
        out: &mut [&mut [f64]],
        threads: usize,
        going_on: &GoingOn,
    ) -> Result<Troubles, Error> {
        let count = self.count(states)?;
        if quantities.iter().any(|q| q.needs_udot()) && states.udot.is_none() {
            return Err(self.wrong("`inverse_dynamics` needs accelerations".to_string(), "give `udot`"));
        }
        let sizes: Vec<usize> = quantities.iter().map(|q| q.size(self)).collect();
        for ((q, size), out) in quantities.iter().zip(&sizes).zip(out.iter()) {
            if out.len() != count * size {
                let message =
                    format!("`{q}` for {count} states has {} numbers, not {}", count * size, out.len());
                return Err(self.wrong(message, ""));
            }
        }
        let job = Job { evaluator: self, states, quantities, sizes: &sizes };
        Ok(shared(count, threads, &sizes, out, going_on, &|range, mine| {
            self.with_room(|room| job.run(room, range, mine))
        }))
    }

    /// Runs work in memory that was used before, if there is some.
    fn with_room<T>(&self, work: impl FnOnce(&mut Room) -> T) -> T {
        let mut room = self.rooms.take(|| Room::new(self));
        let result = work(&mut room);
        self.rooms.give(room);
        result
    }
}

/// Memory that was used before, for whoever computes next. Boxed, so that what is taken and given moves by its address alone.
#[allow(clippy::vec_box)]
struct Pool<T>(Mutex<Vec<Box<T>>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// What was given last, or new.
    fn take(&self, make: impl FnOnce() -> T) -> Box<T> {
        // A list is whole at every moment, whatever the thread that held it did.
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        taken.unwrap_or_else(|| Box::new(make()))
    }

    fn give(&self, room: Box<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(room);
    }
}

/// Whether to take more states, or to stop.
type GoingOn<'a> = dyn Fn() -> bool + Sync + 'a;

/// What a thread does with its stretch of states and of results.
type Work<'a> = dyn Fn(Range<usize>, &mut [&mut [f64]]) -> Troubles + Sync + 'a;

/// States that a thread takes at once: enough that taking them costs nothing, few enough that all threads end at nearly the same time.
const STATES_AT_A_TIME: usize = 64;

/// Shares `count` states among threads, each with its stretches of every result, of which a state has `sizes` numbers. Threads take a stretch at a
/// time until none is left, and the one that asks is one of them: a thread that others on the machine hold up holds up nobody.
fn shared(
    count: usize,
    threads: usize,
    sizes: &[usize],
    out: &mut [&mut [f64]],
    going_on: &GoingOn,
    work: &Work,
) -> Troubles {
    let threads = threads.clamp(1, count.div_ceil(FEWEST_STATES).max(1));
    if threads == 1 && count <= STATES_AT_A_TIME {
        return work(0..count, out);
    }
    let share = count.div_ceil(threads).min(STATES_AT_A_TIME);
    let mut rest: Vec<&mut [f64]> = out.iter_mut().map(|o| &mut **o).collect();
    let stretches = (0..count).step_by(share).map(move |first| {
        let range = first..(first + share).min(count);
        let mine: Vec<&mut [f64]> = rest
            .iter_mut()
            .zip(sizes)
            .map(|(slice, size)| {
                let (a, b) = std::mem::take(slice).split_at_mut(range.len() * size);
                *slice = b;
                a
            })
            .collect();
        (range, mine)
    });
    let stretches = Mutex::new(stretches);
    let run = || {
        let mut troubles = Troubles::default();
        loop {
            // A list is whole at every moment, whatever the thread that held it did.
            let next =
                going_on().then(|| stretches.lock().unwrap_or_else(PoisonError::into_inner).next()).flatten();
            let Some((range, mut mine)) = next else { return troubles };
            troubles.add(work(range, &mut mine));
        }
    };
    let mut troubles = Troubles::default();
    std::thread::scope(|scope| {
        let handles: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        troubles.add(run());
        for handle in handles {
            match handle.join() {
                Ok(t) => troubles.add(t),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    troubles
}

impl Room {
    fn new(evaluator: &Evaluator) -> Self {
        let system = &*evaluator.system;
        Room {
            ws: system.workspace(),
            state: system.default_state.clone(),
            controls: vec![0.0; system.num_controls],
            udot: vec![0.0; system.tree.num_mobilities],
            scratch: Scratch::new(system),
        }
    }

    /// Writes state `i` into the room.
    fn load(&mut self, system: &System, states: &States, i: usize) {
        let default = &system.default_state;
        self.state.time = states.time.map_or(default.time, |t| t.row(i, 1)[0]);
        let parts = [
            (&states.q, &default.q, &mut self.state.q),
            (&states.u, &default.u, &mut self.state.u),
            (&states.z, &default.z, &mut self.state.z),
        ];
        for (rows, default, to) in parts {
            let width = to.len();
            to.copy_from_slice(rows.as_ref().map_or(default, |r| r.row(i, width)));
        }
        match &states.e {
            Some(rows) => self.controls.copy_from_slice(rows.row(i, system.num_controls)),
            None => self.controls.fill(0.0),
        }
        if let Some(rows) = &states.udot {
            self.udot.copy_from_slice(rows.row(i, system.tree.num_mobilities));
        }
    }
}

/// What is asked of all states.
struct Job<'a> {
    evaluator: &'a Evaluator,
    states: &'a States<'a>,
    quantities: &'a [Quantity],
    sizes: &'a [usize],
}

impl Job<'_> {
    /// Computes a stretch of states; `out` is theirs.
    fn run(&self, room: &mut Room, range: Range<usize>, out: &mut [&mut [f64]]) -> Troubles {
        let system = &*self.evaluator.system;
        let stage = self.quantities.iter().map(Quantity::stage).max().unwrap_or(Stage::Kinematics);
        let mut troubles = Troubles::default();
        for (k, i) in range.enumerate() {
            room.load(system, self.states, i);
            if self.states.equilibrate {
                let failed = system.solve_equilibrium(&mut room.state, &room.controls, &mut room.ws);
                troubles.not_in_equilibrium += failed.len();
            }
            if !stage.compute(system, &room.state, &room.controls, &mut room.ws) {
                troubles.undetermined += 1;
            }
            room.scratch.forget();
            for ((q, size), out) in self.quantities.iter().zip(self.sizes).zip(out.iter_mut()) {
                let out = &mut out[k * size..(k + 1) * size];
                q.write(
                    self.evaluator,
                    &room.state,
                    &room.controls,
                    &room.udot,
                    &room.ws,
                    &mut room.scratch,
                    out,
                );
            }
        }
        troubles
    }
}

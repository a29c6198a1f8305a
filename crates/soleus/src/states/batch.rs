//! Many parallel simulations of one model, each with its own state and controls and, optionally, its own parameter
//! values.

use super::{Evaluator, Pool};
use crate::error::{Error, nearest_hint};
use serde::{Deserialize, Serialize};
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Options, State, System, SystemRef};
use soleus_model::components::{Components, PropertyValue, set_property};
use soleus_model::force::ForceKind;
use soleus_model::muscle::Muscle;
use soleus_model::{Diagnostics, Document};
use soleus_simulation::linear::SparseLu;
use soleus_simulation::system::Constant;
use soleus_simulation::{
    ExplicitRungeKutta, ImplicitSystemOde, Integrator, RosenbrockEuler, SemiExplicitEuler, StepOptions, Stop,
    SystemOde,
};
use std::sync::{Arc, OnceLock};

/// Integrators of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchMethod {
    /// First-order Rosenbrock: linearly implicit, stable with compliant tendons and stiff contacts at steps of
    /// milliseconds.
    #[default]
    Rosenbrock,
    /// Semi-explicit Euler: the fastest, for models that are not stiff.
    SemiExplicitEuler,
    /// Runge–Kutta–Merson 4(3) with variable step by accuracy, as in OpenSim.
    Rkm,
}

/// States and controls of all copies, row by row.
pub struct Copies<'a> {
    /// Time of each copy, s.
    pub time: &'a mut [f64],
    /// Coordinates.
    pub q: &'a mut [f64],
    /// Speeds.
    pub u: &'a mut [f64],
    /// States of forces.
    pub z: &'a mut [f64],
    /// Controls, constant over the step.
    pub e: &'a [f64],
}

/// A number of the model that differs from copy to copy.
struct Varied {
    path: String,
    number: Number,
    /// The values that the copies were compiled with.
    compiled: Vec<f64>,
}

/// Where a muscle has a number.
type MuscleNumber = fn(&mut Muscle) -> &mut f64;

/// How a copy gets a number.
#[derive(Clone)]
pub(super) enum Number {
    /// A muscle alone is compiled again.
    Muscle(usize, MuscleNumber),
    /// The whole model is built and compiled again: place of the component and name of the property.
    Property(Vec<usize>, String),
}

/// Numbers of muscles that are compiled without the rest of the model.
const MUSCLE_NUMBERS: [(&str, MuscleNumber); 5] = [
    ("max_isometric_force", |m| &mut m.max_isometric_force),
    ("optimal_fiber_length", |m| &mut m.optimal_fiber_length),
    ("tendon_slack_length", |m| &mut m.tendon_slack_length),
    ("pennation_angle_at_optimal", |m| &mut m.pennation_angle_at_optimal),
    ("max_contraction_velocity", |m| &mut m.max_contraction_velocity),
];

impl Number {
    /// A number of a model by its path, `/forceset/soleus/max_isometric_force`, and the value that the model has.
    pub(super) fn find(
        evaluator: &Evaluator,
        document: &Document,
        path: &str,
    ) -> Result<(Number, f64), Error> {
        let wrong = |message: String, hint: &str| evaluator.wrong(message, hint);
        let components = Components::of(document);
        let (owner, property) = path.rsplit_once('/').unwrap_or(("", path));
        let Some(place) = components.find_part(document, owner).filter(|_| !owner.is_empty()) else {
            let hint = nearest_hint("component", owner, components.list.iter().map(|c| c.path.as_str()));
            return Err(wrong(format!("the model has no component `{owner}`"), &hint));
        };
        let value = match components.value(document, &place, property) {
            Some(PropertyValue::Number(Some(x))) => x,
            Some(_) => return Err(wrong(format!("`{path}` is not one number"), "")),
            None => {
                let names = components.property_names(document, &place);
                let hint = nearest_hint("property", property, names.iter().map(String::as_str));
                return Err(wrong(format!("`{owner}` has no property `{property}`"), &hint));
            }
        };
        let muscle = evaluator
            .model
            .forces
            .iter()
            .position(|f| f.path == owner && matches!(f.kind, ForceKind::Muscle(_)));
        let quick = MUSCLE_NUMBERS.iter().find(|(name, _)| *name == property);
        let number = match (muscle, quick) {
            (Some(i), Some((_, of))) => Number::Muscle(i, *of),
            _ => Number::Property(place, property.to_string()),
        };
        Ok((number, value))
    }
}

/// Many parallel simulations of one model.
pub struct Batch {
    evaluator: Arc<Evaluator>,
    document: Arc<Document>,
    method: BatchMethod,
    accuracy: f64,
    count: usize,
    varied: Vec<Varied>,
    /// Systems of copies that differ from the model.
    own: Vec<Option<Arc<System>>>,
    rooms: Pool<Stepper>,
    /// Order of elimination that every copy begins with, so that nothing depends on which was stepped before.
    order: OnceLock<SparseLu<f64>>,
}

/// A copy that could not continue, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Index of the copy.
    pub copy: usize,
    /// Reason.
    pub why: String,
}

impl Batch {
    /// `count` copies. `document` is the document of the model.
    pub fn new(
        evaluator: Arc<Evaluator>,
        document: Arc<Document>,
        count: usize,
        method: BatchMethod,
        accuracy: f64,
    ) -> Self {
        let own = vec![None; count];
        Batch {
            evaluator,
            document,
            method,
            accuracy,
            count,
            varied: Vec::new(),
            own,
            rooms: Pool::default(),
            order: OnceLock::new(),
        }
    }

    /// Number of copies.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The model.
    pub fn evaluator(&self) -> &Arc<Evaluator> {
        &self.evaluator
    }

    /// Declares a model parameter that differs between copies: `/forceset/soleus/max_isometric_force`. Returns its
    /// index among these parameters and its value in the model.
    pub fn vary(&mut self, path: &str) -> Result<(usize, f64), Error> {
        let (number, value) = Number::find(&self.evaluator, &self.document, path)?;
        if let Some(i) = self.varied.iter().position(|v| v.path == path) {
            return Ok((i, value));
        }
        self.varied.push(Varied { path: path.to_string(), number, compiled: vec![value; self.count] });
        Ok((self.varied.len() - 1, value))
    }

    /// Compiles the copies whose parameters changed; `values` are those declared by [`vary`](Self::vary), in order.
    /// Returns their number.
    pub fn update(&mut self, values: &[&[f64]], threads: usize) -> Result<usize, Error> {
        let is_changed = |i: &usize| {
            self.varied.iter().zip(values).any(|(v, new)| v.compiled[*i].to_bits() != new[*i].to_bits())
        };
        let changed: Vec<usize> = (0..self.count).filter(is_changed).collect();
        if changed.is_empty() {
            return Ok(0);
        }
        let share = changed.len().div_ceil(threads.clamp(1, changed.len()));
        let this = &*self;
        let made: Result<Vec<(usize, Arc<System>)>, Error> = std::thread::scope(|scope| {
            let work = |list: &[usize]| {
                list.iter()
                    .map(|&i| Ok((i, Arc::new(this.system_of(i, values)?))))
                    .collect::<Result<Vec<_>, Error>>()
            };
            let handles: Vec<_> = changed.chunks(share).map(|list| scope.spawn(move || work(list))).collect();
            let mut all = Vec::with_capacity(changed.len());
            for handle in handles {
                all.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(all)
        });
        for (i, system) in made? {
            self.own[i] = Some(system);
            self.varied.iter_mut().zip(values).for_each(|(v, new)| v.compiled[i] = new[i]);
        }
        Ok(changed.len())
    }

    /// The system of a copy with these numbers.
    fn system_of(&self, copy: usize, values: &[&[f64]]) -> Result<System, Error> {
        let wrong = |what: &Varied, x: f64, why: String| {
            self.evaluator.wrong(format!("copy {copy}: {} must not be {x}: {why}", what.path), "")
        };
        let mut document: Option<Document> = None;
        for (v, new) in self.varied.iter().zip(values) {
            if let Number::Property(place, name) = &v.number {
                let document = document.get_or_insert_with(|| (*self.document).clone());
                set_property(document, place, name, &format!("{:?}", new[copy]));
            }
        }
        let mut system = match &document {
            None => (*self.evaluator.system).clone(),
            Some(document) => {
                let mut log = Diagnostics::new(self.evaluator.source().display().to_string());
                let model = soleus_model::build(document, &mut log);
                let model = model.ok_or_else(|| Error::input(self.evaluator.source(), log))?;
                crate::inputs::model::compile(self.evaluator.source(), &model, &Options::default())?
            }
        };
        // Muscles after the rest, which a model that is built anew would have changed back.
        let mut muscles: Vec<(usize, Muscle)> = Vec::new();
        for (v, new) in self.varied.iter().zip(values) {
            let Number::Muscle(force, number) = v.number else { continue };
            if !muscles.iter().any(|(f, _)| *f == force) {
                let ForceKind::Muscle(m) = &self.evaluator.model.forces[force].kind else { continue };
                muscles.push((force, m.clone()));
            }
            let found = muscles.iter_mut().find(|(f, _)| *f == force);
            found.into_iter().for_each(|(_, m)| *number(m) = new[copy]);
        }
        for (force, muscle) in &muscles {
            let compiled = CompiledMuscle::compile(muscle, &Options::default()).map_err(|e| {
                let v = self
                    .varied
                    .iter()
                    .zip(values)
                    .find(|(v, _)| matches!(v.number, Number::Muscle(f, _) if f == *force));
                v.map_or_else(
                    || self.evaluator.wrong(e.to_string(), ""),
                    |(v, new)| wrong(v, new[copy], e.to_string()),
                )
            })?;
            system.forces[*force].actor = Actor::Muscle(Box::new(compiled));
        }
        Ok(system)
    }

    /// The integrator.
    pub fn method(&self) -> BatchMethod {
        self.method
    }

    /// The system that a copy has now.
    pub(super) fn system_of_copy(&self, copy: usize) -> &Arc<System> {
        self.own[copy].as_ref().unwrap_or(&self.evaluator.system)
    }

    /// Finds the order of elimination that every copy begins with.
    pub(super) fn prepare(&self) {
        self.order.get_or_init(|| Stepper::order(self));
    }

    pub(super) fn order(&self) -> Option<&SparseLu<f64>> {
        self.order.get()
    }

    /// Advances all copies by `dt` in `steps` steps. A copy that cannot continue keeps its last valid state.
    pub fn step(&self, copies: Copies, dt: f64, steps: usize, threads: usize) -> Result<Vec<Failure>, Error> {
        self.step_while(copies, dt, steps, threads, &|| true)
    }

    /// Advances copies as [`step`](Self::step) does while `going_on`, which every thread asks before each copy. Those that are not reached
    /// stay as they are; their times tell which. The last share of the copies is advanced on the calling thread.
    pub fn step_while(
        &self,
        copies: Copies,
        dt: f64,
        steps: usize,
        threads: usize,
        going_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Failure>, Error> {
        if !(dt > 0.0 && dt.is_finite()) || steps == 0 {
            return Err(self
                .evaluator
                .wrong(format!("a step of {dt} s in {steps} parts is not valid"), "give a time above zero"));
        }
        let s = &*self.evaluator.system;
        let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
        let Copies { mut time, mut q, mut u, mut z, e } = copies;
        let lengths = [time.len(), q.len(), u.len(), z.len(), e.len()];
        if lengths != [1, n, n, nz, ne].map(|w| w * self.count) {
            return Err(self
                .evaluator
                .wrong("the array sizes do not match the number of copies".to_string(), ""));
        }
        self.prepare();
        let share = self.count.div_ceil(threads.clamp(1, self.count.max(1))).max(1);
        let (mut failures, mut last) = (Vec::new(), Vec::new());
        std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for first in (0..self.count).step_by(share) {
                let count = share.min(self.count - first);
                let mine = Copies {
                    time: split(&mut time, count),
                    q: split(&mut q, count * n),
                    u: split(&mut u, count * n),
                    z: split(&mut z, count * nz),
                    e: &e[first * ne..(first + count) * ne],
                };
                let work = move || self.step_some(first, count, mine, dt, steps, going_on);
                // The calling thread works too: one thread needs no other.
                if first + count == self.count {
                    last = work();
                } else {
                    handles.push(scope.spawn(work));
                }
            }
            for handle in handles {
                failures.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
        failures.extend(last);
        Ok(failures)
    }

    fn step_some(
        &self,
        first: usize,
        count: usize,
        c: Copies,
        dt: f64,
        steps: usize,
        going_on: &dyn Fn() -> bool,
    ) -> Vec<Failure> {
        let s = &*self.evaluator.system;
        let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
        let mut room = self.rooms.take(|| Stepper::new(self));
        let mut failures = Vec::new();
        for k in 0..count {
            if !going_on() {
                break;
            }
            let own = self.system_of_copy(first + k);
            let row = |list: &mut [f64], width: usize, from: &[f64]| {
                list[k * width..(k + 1) * width].copy_from_slice(from)
            };
            let parts = [&c.q[k * n..(k + 1) * n], &c.u[k * n..(k + 1) * n], &c.z[k * nz..(k + 1) * nz]];
            room.forget_order(self.order.get());
            let done = room.step(own, c.time[k], parts, &c.e[k * ne..(k + 1) * ne], dt, steps);
            let (t, x) = room.reached();
            if let Err(stop) = done {
                failures.push(Failure { copy: first + k, why: stop.to_string() });
            }
            // A start that failed has reached nothing.
            if let Some(x) = x {
                c.time[k] = t;
                row(c.q, n, &x[..n]);
                row(c.u, n, &x[n..2 * n]);
                row(c.z, nz, &x[2 * n..2 * n + nz]);
            }
        }
        self.rooms.give(room);
        failures
    }

    /// Initial state of a copy: the default state of the model with muscles in equilibrium at controls `e`.
    pub fn start(&self, e: &[f64]) -> State<f64> {
        let s = &*self.evaluator.system;
        let mut x = s.default_state.clone();
        s.solve_equilibrium(&mut x, e, &mut s.workspace());
        x
    }
}

/// Takes the first numbers of a list out of it.
pub(super) fn split<'a>(list: &mut &'a mut [f64], count: usize) -> &'a mut [f64] {
    let (a, b) = std::mem::take(list).split_at_mut(count);
    *list = b;
    a
}

/// A step that ends where it is told to, however long.
const ANY_STEP: f64 = 1e9;

/// Step with which the order of elimination is found, s.
const PROBING_STEP: f64 = 1e-3;

/// One thread's way of stepping.
pub(super) struct Stepper {
    pub(super) method: Method,
    x: Vec<f64>,
    /// Whether anything was reached.
    is_started: bool,
    constants: Arc<System>,
}

pub(super) enum Method {
    Rosenbrock(Box<(ImplicitSystemOde<'static, Constant>, RosenbrockEuler<SparseLu<f64>>)>),
    Euler(Box<(SystemOde<'static, Constant>, SemiExplicitEuler)>),
    Merson(Box<(SystemOde<'static, Constant>, ExplicitRungeKutta)>),
}

impl Stepper {
    pub(super) fn new(batch: &Batch) -> Self {
        let system = batch.evaluator.system.clone();
        let shared = || SystemRef::Shared(system.clone());
        let controls = Constant(vec![0.0; system.num_controls]);
        let method = match batch.method {
            BatchMethod::Rosenbrock => {
                let ode = ImplicitSystemOde::new(shared(), controls);
                let norm = ode.error_norm();
                let n = norm.dim();
                Method::Rosenbrock(Box::new((
                    ode,
                    RosenbrockEuler::with_solver(norm, ANY_STEP, SparseLu::new(n)),
                )))
            }
            BatchMethod::SemiExplicitEuler => {
                let ode = SystemOde::new(shared(), controls);
                let dim = ode.error_norm().dim();
                Method::Euler(Box::new((ode, SemiExplicitEuler::new(dim, ANY_STEP))))
            }
            BatchMethod::Rkm => {
                let ode = SystemOde::new(shared(), controls);
                let norm = ode.error_norm();
                let options = StepOptions::with_accuracy(batch.accuracy);
                Method::Merson(Box::new((ode, ExplicitRungeKutta::merson(norm, options))))
            }
        };
        Stepper { method, x: Vec::new(), is_started: false, constants: system }
    }

    /// The order of elimination that the default state asks for; that of no equations if it has none.
    fn order(batch: &Batch) -> SparseLu<f64> {
        let mut room = Stepper::new(batch);
        let s = batch.evaluator.system.clone();
        let e = vec![0.0; s.num_controls];
        let x = batch.start(&e);
        // A step that fails may leave an order all the same, and every copy begins with that.
        let _ = room.step(&s, x.time, [&x.q, &x.u, &x.z], &e, PROBING_STEP, 1);
        match room.method {
            Method::Rosenbrock(mut both) => std::mem::replace(both.1.solver_mut(), SparseLu::new(0)),
            _ => SparseLu::new(0),
        }
    }

    /// Goes back to the order of elimination that every copy begins with.
    pub(super) fn forget_order(&mut self, order: Option<&SparseLu<f64>>) {
        if let (Method::Rosenbrock(both), Some(order)) = (&mut self.method, order) {
            let now = both.1.solver_mut();
            if now.analyses != order.analyses {
                now.clone_from(order);
            }
        }
    }

    /// Takes one copy further.
    fn step(
        &mut self,
        system: &Arc<System>,
        t: f64,
        parts: [&[f64]; 3],
        e: &[f64],
        dt: f64,
        steps: usize,
    ) -> Result<(), Stop> {
        self.walk(system, t, parts, e, dt, steps, &mut |_, _, _| {})
    }

    /// The same; `each` sees time, state and rates at the start and after every step.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn walk(
        &mut self,
        system: &Arc<System>,
        t: f64,
        parts: [&[f64]; 3],
        e: &[f64],
        dt: f64,
        steps: usize,
        each: &mut EachStep<'_>,
    ) -> Result<(), Stop> {
        self.x.clear();
        parts.iter().for_each(|p| self.x.extend_from_slice(p));
        self.is_started = false;
        let is_other = !Arc::ptr_eq(&self.constants, system);
        if is_other {
            self.constants = system.clone();
        }
        let other = || is_other.then(|| SystemRef::Shared(system.clone()));
        match &mut self.method {
            Method::Rosenbrock(both) => {
                let (ode, m) = &mut **both;
                other().into_iter().for_each(|s| ode.replace_system(s));
                ode.controls.0.copy_from_slice(e);
                // Multipliers are found at the start.
                self.x.resize(Integrator::<ImplicitSystemOde<'static, Constant>>::state(m).len(), 0.0);
                m.start(ode, t, &self.x)?;
                self.is_started = true;
                drive(m, ode, t, dt, steps, each)
            }
            Method::Euler(both) => {
                let (ode, m) = &mut **both;
                other().into_iter().for_each(|s| ode.replace_system(s));
                ode.controls.0.copy_from_slice(e);
                m.start(ode, t, &self.x)?;
                self.is_started = true;
                drive(m, ode, t, dt, steps, each)
            }
            Method::Merson(both) => {
                let (ode, m) = &mut **both;
                other().into_iter().for_each(|s| ode.replace_system(s));
                ode.controls.0.copy_from_slice(e);
                m.start(ode, t, &self.x)?;
                self.is_started = true;
                drive(m, ode, t, dt, steps, each)
            }
        }
    }

    /// Time and state that were reached; no state if there was no start.
    fn reached(&self) -> (f64, Option<&[f64]>) {
        fn of<P: ?Sized, I: Integrator<P>>(m: &I) -> (f64, &[f64]) {
            (m.span().1, m.state())
        }
        let (t, x) = match &self.method {
            Method::Rosenbrock(both) => of::<ImplicitSystemOde<'static, Constant>, _>(&both.1),
            Method::Euler(both) => of::<SystemOde<'static, Constant>, _>(&both.1),
            Method::Merson(both) => of::<SystemOde<'static, Constant>, _>(&both.1),
        };
        (t, Some(x).filter(|_| self.is_started))
    }
}

/// What sees time, state and rates at the start and after every step.
type EachStep<'a> = dyn FnMut(f64, &[f64], &[f64]) + 'a;

/// Steps that end at t + dt; times are multiples, so that nothing adds up.
fn drive<P, I: Integrator<P>>(
    m: &mut I,
    ode: &mut P,
    t: f64,
    dt: f64,
    steps: usize,
    each: &mut EachStep<'_>,
) -> Result<(), Stop> {
    each(t, m.state(), m.rates());
    for k in 1..=steps {
        let end = t + dt * k as f64 / steps as f64;
        while m.span().1 < end {
            m.step(ode, end)?;
            each(m.span().1, m.state(), m.rates());
        }
    }
    Ok(())
}

//! Exact gradients of a step of a batch, by reverse differentiation of the same steps.
//!
//! A step of [`Rosenbrock`](BatchMethod::Rosenbrock) solves, with J = ∂f/∂x + ∂f/∂ẋ / h,
//!
//!   J Δ = ∂f/∂ẋ ẋ − f(t, x, ẋ) − (f(t + h, x, ẋ) − f(t, x, ẋ)),   x⁺ = x + Δ,   ẋ⁺ = Δ/h        (1)
//!
//! For weights w of x⁺ and v of ẋ⁺ let Jᵀ y = w + v/h. With φ = yᵀ f and p = (−Δ, ẋ − Δ/h, 0) as a change of (x, ẋ, e), the gradient of
//! w·x⁺ + v·ẋ⁺ by (x, ẋ, e) is
//!
//!   (w, 0, 0) − (∂φ/∂x, 0, ∂φ/∂e) + ∇²φ p                                                       (2)
//!
//! at time t; where forces depend on time, ∇φ(t + h) − ∇φ(t) is subtracted as well. The first ẋ is the motion's own,
//! which [`Derivatives::linearize`](super::Derivatives::linearize) differentiates.

use super::batch::{Method, Stepper, split};
use super::derivatives::DualRoom;
use super::{Batch, BatchMethod};
use crate::error::Error;
use soleus_dynamics::implicit::{
    HessianWorkspace, ImplicitHessian, ImplicitJacobian, ImplicitSystem, JacobianWorkspace, SparseMatrix,
};
use soleus_dynamics::joint::angles_rate;
use soleus_dynamics::system::LANES;
use soleus_dynamics::{State, System, SystemRef, Workspace};
use soleus_math::{Dual, vec3};
use soleus_simulation::Stop;
use soleus_simulation::linear::{LinearSolver, Pattern, SparseLu};
use std::sync::Arc;

/// States and controls of all copies, read only, row by row.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Time of each copy, s.
    pub time: &'a [f64],
    /// Coordinates.
    pub q: &'a [f64],
    /// Speeds.
    pub u: &'a [f64],
    /// States of forces.
    pub z: &'a [f64],
    /// Controls, constant over the step.
    pub e: &'a [f64],
}

/// Gradients of weighted sums of the states after a step: one row for each copy and each of its sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepGradients {
    /// With respect to the states x = (q, u, z) before the step.
    pub x: Vec<f64>,
    /// With respect to the controls.
    pub e: Vec<f64>,
    /// Copies that could not step, and the reasons; their rows are NaN.
    pub failures: Vec<super::batch::Failure>,
}

/// One thread's memory.
struct Backward {
    stepper: Box<Stepper>,
    implicit: ImplicitSystem<'static>,
    jacobian: ImplicitJacobian,
    jw: JacobianWorkspace,
    hessian: ImplicitHessian,
    hw: HessianWorkspace,
    ws: Workspace<f64>,
    state: State<f64>,
    dual: DualRoom,
    /// Jᵀ, its values, and where entries of ∂f/∂x and ∂f/∂ẋ go in it.
    pattern: Pattern,
    values: Vec<f64>,
    places: [Vec<usize>; 2],
    lu: SparseLu<f64>,
    /// x and ẋ at the start of every step and at the end, and times.
    steps: Vec<(f64, Vec<f64>, Vec<f64>)>,
}

impl Batch {
    /// Gradients of weighted sums of the states after a [`step`](Batch::step) from here. `weights` has `sums` rows for
    /// each copy, with weights of x⁺ = (q, u, z); with rows of the identity matrix the gradients are the Jacobians of
    /// the step.
    pub fn gradients(
        &self,
        at: At,
        dt: f64,
        steps: usize,
        weights: &[f64],
        sums: usize,
        threads: usize,
    ) -> Result<StepGradients, Error> {
        self.gradients_while(at, dt, steps, weights, sums, threads, &|| true)
    }

    /// [`gradients`](Self::gradients) while `going_on`, which every thread asks before each copy. Gradients of those that are not
    /// reached have no meaning. The last share of the copies is computed on the calling thread.
    #[allow(clippy::too_many_arguments)]
    pub fn gradients_while(
        &self,
        at: At,
        dt: f64,
        steps: usize,
        weights: &[f64],
        sums: usize,
        threads: usize,
        going_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<StepGradients, Error> {
        let s = &*self.evaluator().system;
        let (n, nz, ne) = (s.tree.num_mobilities, s.num_aux, s.num_controls);
        let (nx, count) = (2 * n + nz, self.count());
        let wrong = |message: String, hint: &str| self.evaluator().wrong(message, hint);
        if !(dt > 0.0 && dt.is_finite()) || steps == 0 {
            return Err(wrong(
                format!("a step of {dt} s in {steps} parts is not valid"),
                "give a time above zero",
            ));
        }
        let lengths = [at.time.len(), at.q.len(), at.u.len(), at.z.len(), at.e.len(), weights.len()];
        if lengths != [1, n, n, nz, ne, sums * nx].map(|w| w * count) {
            return Err(wrong("the array sizes do not match the number of copies".to_string(), ""));
        }
        if self.method() == BatchMethod::Rkm {
            let hint = "use rosenbrock or semi-explicit-euler";
            return Err(wrong("rkm has variable steps, for which there is no gradient".to_string(), hint));
        }
        if s.constraints.num_rows() > 0 {
            let message = "gradients are not supported for models with constraints";
            return Err(wrong(message.to_string(), "replace the constraints by joints or welds"));
        }
        self.prepare();
        let mut found = StepGradients {
            x: vec![0.0; count * sums * nx],
            e: vec![0.0; count * sums * ne],
            failures: Vec::new(),
        };
        let share = count.div_ceil(threads.clamp(1, count.max(1))).max(1);
        let (mut by_x, mut by_e) = (&mut found.x[..], &mut found.e[..]);
        let (failures, mut last) = (&mut found.failures, Vec::new());
        std::thread::scope(|scope| {
            let mut handles = Vec::new();
            for first in (0..count).step_by(share) {
                let range = first..(first + share).min(count);
                let is_last = range.end == count;
                let mine = split(&mut by_x, range.len() * sums * nx);
                let mine_e = split(&mut by_e, range.len() * sums * ne);
                let work = move || {
                    let mut room = Backward::new(self);
                    let mut failures = Vec::new();
                    for (k, i) in range.enumerate() {
                        if !going_on() {
                            break;
                        }
                        let g = &mut mine[k * sums * nx..(k + 1) * sums * nx];
                        let g_e = &mut mine_e[k * sums * ne..(k + 1) * sums * ne];
                        g.copy_from_slice(&weights[i * sums * nx..(i + 1) * sums * nx]);
                        let one = At {
                            time: &at.time[i..i + 1],
                            q: &at.q[i * n..(i + 1) * n],
                            u: &at.u[i * n..(i + 1) * n],
                            z: &at.z[i * nz..(i + 1) * nz],
                            e: &at.e[i * ne..(i + 1) * ne],
                        };
                        room.stepper.forget_order(self.order());
                        if let Err(stop) = room.run(self.system_of_copy(i), one, dt, steps, sums, g, g_e) {
                            g.fill(f64::NAN);
                            g_e.fill(f64::NAN);
                            failures.push(super::batch::Failure { copy: i, why: stop.to_string() });
                        }
                    }
                    failures
                };
                // The calling thread works too: one thread needs no other.
                if is_last {
                    last = work();
                } else {
                    handles.push(scope.spawn(work));
                }
            }
            for handle in handles {
                failures.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
        found.failures.extend(last);
        Ok(found)
    }
}

/// Row and column of each stored entry.
fn entries(m: &SparseMatrix) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..m.columns).flat_map(move |c| m.row[m.start[c]..m.start[c + 1]].iter().map(move |&r| (r, c)))
}

impl Backward {
    fn new(batch: &Batch) -> Self {
        let system = batch.evaluator().system.clone();
        let implicit = ImplicitSystem::new(SystemRef::Shared(system.clone()));
        let jacobian = implicit.jacobian();
        let nx = implicit.num_states();
        let mut rows = vec![Vec::new(); nx];
        for m in [&jacobian.dx, &jacobian.dxdot] {
            entries(m).for_each(|(r, c)| rows[c].push(r));
        }
        let pattern = Pattern::from_rows(&rows);
        let places = [&jacobian.dx, &jacobian.dxdot]
            .map(|m| entries(m).filter_map(|(r, c)| pattern.position(c, r)).collect::<Vec<_>>());
        Backward {
            stepper: Box::new(Stepper::new(batch)),
            jw: implicit.jacobian_workspace(),
            hessian: implicit.hessian(),
            hw: implicit.hessian_workspace(),
            ws: system.workspace(),
            state: system.default_state.clone(),
            dual: DualRoom::new(&system),
            values: vec![0.0; pattern.len()],
            pattern,
            places,
            lu: SparseLu::new(nx),
            steps: Vec::new(),
            jacobian,
            implicit,
        }
    }

    /// Turns weights in `g` into gradients by x, and writes those by e.
    #[allow(clippy::too_many_arguments)]
    fn run(
        &mut self,
        system: &Arc<System>,
        at: At,
        dt: f64,
        steps: usize,
        sums: usize,
        g: &mut [f64],
        g_e: &mut [f64],
    ) -> Result<(), Stop> {
        self.implicit.system = SystemRef::Shared(system.clone());
        // Every copy finds its own order of elimination, so that nothing depends on which was done before.
        self.lu = SparseLu::new(self.implicit.num_states());
        let steps_of = &mut self.steps;
        steps_of.clear();
        self.stepper.walk(system, at.time[0], [at.q, at.u, at.z], at.e, dt, steps, &mut |t, x, xdot| {
            steps_of.push((t, x.to_vec(), xdot.to_vec()));
        })?;
        g_e.fill(0.0);
        match self.stepper.method {
            Method::Rosenbrock(_) => self.through_rosenbrock(system, at.e, sums, g, g_e),
            Method::Euler(_) => self.through_euler(system, at.e, sums, g, g_e),
            Method::Merson(_) => Ok(()),
        }
    }

    fn load(&mut self, t: f64, x: &[f64]) {
        let n = self.state.q.len();
        self.state.time = t;
        self.state.q.copy_from_slice(&x[..n]);
        self.state.u.copy_from_slice(&x[n..2 * n]);
        self.state.z.copy_from_slice(&x[2 * n..]);
    }

    /// A and B of the motion at a state.
    fn linear(&mut self, system: &System, t: f64, x: &[f64], e: &[f64]) -> Result<[Vec<f64>; 2], Stop> {
        let (nx, ne) = (x.len(), e.len());
        self.load(t, x);
        let (mut f, mut a, mut b) = (vec![0.0; nx], vec![0.0; nx * nx], vec![0.0; nx * ne]);
        if self.dual.linearize(system, &self.state, e, &mut f, &mut a, &mut b) {
            Ok([a, b])
        } else {
            Err(Stop::Setup("accelerations are undetermined"))
        }
    }

    fn through_rosenbrock(
        &mut self,
        system: &Arc<System>,
        e: &[f64],
        sums: usize,
        g: &mut [f64],
        g_e: &mut [f64],
    ) -> Result<(), Stop> {
        let (nx, ne) = (g.len() / sums.max(1), e.len());
        let depends_on_time = system.depends_on_time();
        // Weights of ẋ⁺ of each sum.
        let mut v = vec![0.0; sums * nx];
        let (mut r, mut y, mut p, mut by) = (vec![0.0; nx], vec![0.0; nx], Vec::new(), Vec::new());
        let steps = std::mem::take(&mut self.steps);
        for pair in steps.windows(2).rev() {
            let [(t0, x0, xdot0), (t1, x1, _)] = pair else { continue };
            let h = t1 - t0;
            self.load(*t0, x0);
            self.implicit.compute_jacobian(
                &self.state,
                xdot0,
                e,
                &[],
                &mut self.ws,
                &mut self.jw,
                &mut r,
                &mut self.jacobian,
            );
            self.values.fill(0.0);
            let parts = [(&self.jacobian.dx, 1.0), (&self.jacobian.dxdot, 1.0 / h)];
            for ((m, factor), places) in parts.into_iter().zip(&self.places) {
                m.value.iter().zip(places).for_each(|(x, &at)| self.values[at] += factor * x);
            }
            self.lu
                .factorize(&self.pattern, &self.values)
                .map_err(|_| Stop::Setup("the matrix of the step is singular"))?;
            p.clear();
            p.extend(x1.iter().zip(x0).map(|(a, b)| b - a));
            p.extend(x1.iter().zip(x0).zip(xdot0).map(|((a, b), d)| d - (a - b) / h));
            for k in 0..sums {
                let (w, v) = (&mut g[k * nx..(k + 1) * nx], &mut v[k * nx..(k + 1) * nx]);
                y.iter_mut().zip(&*w).zip(&*v).for_each(|((y, w), v)| *y = w + v / h);
                self.lu.solve(&mut y);
                self.state.time = *t0;
                let (hw, found) = (&mut self.hw, &mut self.hessian);
                self.implicit.compute_hessian(&self.state, xdot0, e, &[], &y, hw, found);
                // (2): ∇²φ p first.
                by.clear();
                by.resize(2 * nx + ne, 0.0);
                for ((row, column), x) in entries(&found.lower).zip(&found.lower.value) {
                    by[row] += p.get(column).map_or(0.0, |p| x * p);
                    if row != column {
                        by[column] += p.get(row).map_or(0.0, |p| x * p);
                    }
                }
                for (i, d) in found.gradient.iter().enumerate().filter(|(i, _)| !(nx..2 * nx).contains(i)) {
                    by[i] -= d;
                }
                if depends_on_time {
                    by.iter_mut().zip(&found.gradient).for_each(|(b, d)| *b += d);
                    self.state.time = *t1;
                    self.implicit.compute_hessian(&self.state, xdot0, e, &[], &y, hw, found);
                    by.iter_mut().zip(&found.gradient).for_each(|(b, d)| *b -= d);
                }
                w.iter_mut().zip(&by).for_each(|(w, b)| *w += b);
                v.copy_from_slice(&by[nx..2 * nx]);
                g_e[k * ne..(k + 1) * ne].iter_mut().zip(&by[2 * nx..]).for_each(|(g, b)| *g += b);
            }
        }
        // The first ẋ is that of the motion.
        if let Some((t, x, _)) = steps.first() {
            let [a, b] = self.linear(system, *t, x, e)?;
            for k in 0..sums {
                for (row, &v) in v[k * nx..(k + 1) * nx].iter().enumerate() {
                    add(&mut g[k * nx..(k + 1) * nx], v, &a[row * nx..(row + 1) * nx]);
                    add(&mut g_e[k * ne..(k + 1) * ne], v, &b[row * ne..(row + 1) * ne]);
                }
            }
        }
        self.steps = steps;
        Ok(())
    }

    /// u⁺ = u + h u̇, z⁺ = z + h ż, q⁺ = q + h q̇(q, u⁺).
    fn through_euler(
        &mut self,
        system: &Arc<System>,
        e: &[f64],
        sums: usize,
        g: &mut [f64],
        g_e: &mut [f64],
    ) -> Result<(), Stop> {
        let (n, nx, ne) = (system.tree.num_mobilities, g.len() / sums.max(1), e.len());
        let steps = std::mem::take(&mut self.steps);
        let mut after = vec![0.0; nx];
        for pair in steps.windows(2).rev() {
            let [(t0, x0, _), (t1, x1, _)] = pair else { continue };
            let h = t1 - t0;
            let [a, b] = self.linear(system, *t0, x0, e)?;
            for k in 0..sums {
                let w = &mut g[k * nx..(k + 1) * nx];
                after.copy_from_slice(w);
                // q⁺ by q and by u⁺.
                for i in 0..n {
                    after[n + i] += h * w[i];
                }
                for node in system.tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity()) {
                    let at = node.u0;
                    let variable = |x: f64, i: usize| Dual::<f64, LANES>::variable(x, i);
                    let q = vec3(variable(x0[at], 0), variable(x0[at + 1], 1), variable(x0[at + 2], 2));
                    let u = [0, 1, 2].map(|i| variable(x1[n + at + i], 3 + i));
                    let rate = angles_rate(q, vec3(u[0], u[1], u[2])).to_array();
                    for j in 0..3 {
                        after[n + at + j] -= h * w[at + j];
                        for (i, rate) in rate.iter().enumerate() {
                            after[at + j] += h * w[at + i] * rate.d[j];
                            after[n + at + j] += h * w[at + i] * rate.d[3 + j];
                        }
                    }
                }
                w.copy_from_slice(&after);
                for row in n..nx {
                    add(w, h * after[row], &a[row * nx..(row + 1) * nx]);
                    add(&mut g_e[k * ne..(k + 1) * ne], h * after[row], &b[row * ne..(row + 1) * ne]);
                }
            }
        }
        self.steps = steps;
        Ok(())
    }
}

/// y ← y + a x.
fn add(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

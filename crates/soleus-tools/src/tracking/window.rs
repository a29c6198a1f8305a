//! Integration of the model over a window, with muscles separate from bodies.
//!
//! Muscles are stiff and numerous, but each is a small independent equation once the length of its path is known.
//! Bodies are expensive to evaluate and smooth. Accelerations are therefore polynomials over the window, known at its
//! start and solved for at the following four nodes of the Lobatto IIIA method (order 8),
//!
//!   u(cᵢ) = u₀ + H Σⱼ aᵢⱼ u̇(cⱼ),   q(cᵢ) = q₀ + H Σⱼ aᵢⱼ q̇(cⱼ)                            (1)
//!
//! and each muscle is integrated from node to node with its own steps, with the path length of this motion
//! ([`contraction`](super::contraction)). The model is evaluated at the nodes, and r = u̇(q, u, z) − u̇ = 0 is solved
//! by Newton's method. Its matrix includes the dependence of tensions on paths,
//!
//!   ΔT = T_L ΔL + T_v ΔL̇ + T_z Δz,   Δż = h_z Δz + h_L ΔL + h_v ΔL̇                        (2)
//!   Δu̇ − P Σ Rᵀ ΔT(R Δq, R Δu) = r                                                        (3)
//!
//! with R the moment arms and P the inverse mass matrix under the constraints, both at the predicted pose, and exact
//! derivatives of each muscle in the middle of the window. Paths that are found differ from those along which the
//! muscles were integrated; by (2) their states follow, in r and at the end. (3) is solved by GMRES (Saad & Schultz
//! 1986), which only needs products with the matrix. Springs and other forces between bodies, and springs of feet, add
//!
//!   Δτ = τ_q Δq + τ_u Δu                                                                  (4)
//!
//! to Σ Rᵀ ΔT, with exact derivatives at the predicted pose ([`Passive`]). Where this does not converge, the window is halved, and finally
//! integrated by an explicit method.
//!
//! Source: Hairer & Wanner (1996), sections IV.5 and IV.8, for the methods.

use super::actuators::Actuators;
use super::contraction::{CONVERGED_WITHIN, Contraction, Course, LONGEST_STEP, Place, Sensitivity, Step};
use super::controls::WindowControls;
use super::passive::Passive;
use super::response::Response;
use soleus_dynamics::System;
use soleus_dynamics::system::{Actor, State};
use soleus_math::elementary;
use soleus_simulation::{MechanicalOde, SystemOde};

/// Nodes, the beginning among them.
const NODES: usize = 5;
/// Nodes that are found.
pub(super) const FOUND: usize = NODES - 1;
/// Iterations of Newton's method at most; two are usual.
const MOST_ITERATIONS: usize = 9;
/// Products with the matrix (3) at most, and what they leave of the right-hand side.
const MOST_PRODUCTS: usize = 24;
const LEFT: f64 = 1e-3;
/// What one node less would change of the speeds may be so many times the accuracy; the error itself is a tenth of that and less.
const COARSER: f64 = 300.0;
/// Iteration leaves this part of it.
const PART: f64 = 0.1;
/// Steps that miss more than so many times what they may are given up at once.
const HOPELESS: f64 = 4.0;
/// What a step misses grows with this power of its length; the next one is to miss this part of what it may, and is not longer or shorter
/// than the last by more than this.
const ORDER: f64 = 5.0;
const AIM: f64 = 0.5;
const MOST_CHANGE: f64 = 4.0;

/// Coefficients of (1), and what the nodes tell of the error.
#[derive(Clone, Debug)]
struct Lobatto {
    c: [f64; NODES],
    a: [[f64; NODES]; NODES],
    /// Weights of what leaving out the node in the middle would change at the end.
    error: [f64; NODES],
}

impl Lobatto {
    fn new() -> Self {
        let r = (3.0_f64 / 7.0).sqrt();
        let c = [0.0, 0.5 * (1.0 - r), 0.5, 0.5 * (1.0 + r), 1.0];
        // Products of x − c over some nodes, by powers.
        let product = |leave_out: usize| {
            let mut p = [0.0; NODES + 1];
            p[0] = 1.0;
            for (_, c) in c.iter().enumerate().filter(|(k, _)| *k != leave_out) {
                for d in (0..NODES).rev() {
                    p[d + 1] += p[d];
                    p[d] *= -c;
                }
            }
            p
        };
        let integral = |p: &[f64; NODES + 1], x: f64| {
            p.iter().enumerate().map(|(d, p)| p * x.powi(d as i32 + 1) / (d + 1) as f64).sum::<f64>()
        };
        let scale =
            |j: usize| c.iter().enumerate().filter(|(k, _)| *k != j).map(|(_, x)| c[j] - x).product::<f64>();
        let mut a = [[0.0; NODES]; NODES];
        for j in 0..NODES {
            let p = product(j);
            for (i, row) in a.iter_mut().enumerate() {
                row[j] = integral(&p, c[i]) / scale(j);
            }
        }
        let without = integral(&product(NODES / 2), 1.0);
        let mut error = [0.0; NODES];
        for (j, e) in error.iter_mut().enumerate() {
            *e = without / scale(j);
        }
        Lobatto { c, a, error }
    }
}

/// A muscle over a window.
#[derive(Clone, Debug)]
struct Strand {
    /// Its place among the actuators, and in the model.
    actuator: usize,
    force: usize,
    course: Course,
    /// Its last steps to the nodes, and whether each was the only one.
    steps: [Step; FOUND],
    is_whole: [bool; FOUND],
    /// Moment arms that are not zero, by mobility.
    arms: Vec<(usize, f64)>,
    /// Derivatives in the middle, and states at the nodes by what their rates change there: (1 − H h_z A)⁻¹ H A.
    by: Sensitivity,
    states_by_rates: [[f64; FOUND]; FOUND],
    /// Length and speed that were found, beyond those along which the states were integrated, and what this changes of the state.
    beyond: [[f64; 2]; FOUND],
    due: [f64; FOUND],
}

impl Strand {
    /// Changes of the driven state at the nodes by changes of length and speed there.
    fn states(&self, length: &[f64; FOUND], speed: &[f64; FOUND]) -> [f64; FOUND] {
        let mut rate = [0.0; FOUND];
        for i in 0..FOUND {
            rate[i] = self.by.rate_by_length * length[i] + self.by.rate_by_speed * speed[i];
        }
        self.states_by_rates.map(|row| (0..FOUND).map(|j| row[j] * rate[j]).sum())
    }

    /// Changes of length and speed by those of coordinates and speeds of the bodies.
    fn moved(&self, dq: &[[f64; FOUND]], du: &[[f64; FOUND]]) -> [[f64; FOUND]; 2] {
        let (mut dl, mut dv) = ([0.0; FOUND], [0.0; FOUND]);
        for &(m, arm) in &self.arms {
            for i in 0..FOUND {
                dl[i] -= arm * dq[m][i];
                dv[i] -= arm * du[m][i];
            }
        }
        [dl, dv]
    }

    /// Adds the generalized forces of tensions.
    fn pull(&self, tensions: &[f64; FOUND], load: &mut [[f64; FOUND]]) {
        for &(m, arm) in &self.arms {
            for i in 0..FOUND {
                load[m][i] += arm * tensions[i];
            }
        }
    }
}

/// Why a window could not be simulated so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotApart;

/// Memory to simulate windows.
pub(super) struct Apart {
    lobatto: Lobatto,
    /// Where the stages of the muscles lie on the way to each node.
    places: [[Place; 3]; FOUND],
    strands: Vec<Strand>,
    /// States that are not of these muscles.
    other: Vec<usize>,
    x: Vec<State<f64>>,
    qdot: Vec<Vec<f64>>,
    udot: Vec<Vec<f64>>,
    zdot: Vec<Vec<f64>>,
    /// Differences between what is found at the nodes and what was assumed, node after node.
    residual: Vec<f64>,
    change: Vec<f64>,
    krylov: Krylov,
    room: Room,
    /// Forces by coordinates and speeds beside those of muscles (4).
    passive: Passive,
    /// Evaluations of the model so far.
    pub evaluations: usize,
    /// Length of the next step to try, s: in a window, and at the beginning of one, where excitations have changed.
    pub next_step: f64,
    pub first_step: f64,
}

/// Changes of speeds and coordinates, and generalized forces, at the nodes by mobility; forces at one node.
#[derive(Clone, Debug, Default)]
struct Room {
    du: Vec<[f64; FOUND]>,
    dq: Vec<[f64; FOUND]>,
    load: Vec<[f64; FOUND]>,
    at_node: Vec<f64>,
    vector: Vec<f64>,
}

impl Room {
    /// H A v and H A H A v; nothing changes at the beginning.
    fn integrate(&mut self, v: &[f64], H: f64, a: &[[f64; NODES]; NODES]) {
        let n = self.du.len();
        // By columns, so that the nodes of a mobility are computed together.
        let w = [0, 1, 2, 3].map(|j| [0, 1, 2, 3].map(|i| H * a[i + 1][j + 1]));
        let of = |v: [f64; FOUND]| {
            [0, 1, 2, 3].map(|i| w[0][i] * v[0] + w[1][i] * v[1] + w[2][i] * v[2] + w[3][i] * v[3])
        };
        for (m, (du, dq)) in self.du.iter_mut().zip(&mut self.dq).enumerate() {
            *du = of([0, 1, 2, 3].map(|j| v[j * n + m]));
            *dq = of(*du);
        }
    }

    /// Adds the accelerations of the loads, times a factor, to a vector over the nodes.
    fn respond(&mut self, response: &Response, factor: f64, out: &mut [f64]) {
        let n = self.load.len();
        for (i, out) in out.chunks_exact_mut(n.max(1)).enumerate() {
            self.at_node.iter_mut().zip(&self.load).for_each(|(x, l)| *x = l[i]);
            response.respond(&mut self.at_node);
            out.iter_mut().zip(&self.at_node).for_each(|(o, x)| *o += factor * x);
        }
    }
}

impl Apart {
    /// None where a muscle is not driven, or a driven one has no path: then excitations are not constant over a window.
    pub fn new(system: &System, actuators: &Actuators) -> Option<Self> {
        let mut strands = Vec::new();
        let mut is_muscle = vec![false; system.num_aux];
        for (i, f) in system.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            let Actor::Muscle(_) = &f.actor else { continue };
            let actuator = actuators.list.iter().position(|a| a.load.force == i && a.use_steps)?;
            f.path.as_ref()?;
            f.states.clone().for_each(|k| is_muscle[k] = true);
            let course = Course {
                times: vec![0.0; NODES],
                lengths: vec![0.0; NODES],
                slopes: vec![0.0; NODES],
                speeds: vec![0.0; NODES],
            };
            strands.push(Strand {
                actuator,
                force: i,
                course,
                steps: [Step::default(); FOUND],
                is_whole: [false; FOUND],
                arms: Vec::new(),
                by: Sensitivity::default(),
                states_by_rates: [[0.0; FOUND]; FOUND],
                beyond: [[0.0; 2]; FOUND],
                due: [0.0; FOUND],
            });
        }
        if strands.is_empty() {
            return None;
        }
        let n = system.tree.num_mobilities;
        let rows = |k: usize| vec![vec![0.0; k]; NODES];
        let lobatto = Lobatto::new();
        let c = lobatto.c;
        Some(Apart {
            places: [0, 1, 2, 3].map(|i| Place::of(&c, (c[i], c[i + 1]))),
            lobatto,
            strands,
            other: (0..system.num_aux).filter(|k| !is_muscle[*k]).collect(),
            x: vec![system.default_state.clone(); NODES],
            qdot: rows(n),
            udot: rows(n),
            zdot: rows(system.num_aux),
            residual: vec![0.0; FOUND * n],
            change: vec![0.0; FOUND * n],
            krylov: Krylov::new(FOUND * n),
            room: Room {
                du: vec![[0.0; FOUND]; n],
                dq: vec![[0.0; FOUND]; n],
                load: vec![[0.0; FOUND]; n],
                at_node: vec![0.0; n],
                vector: vec![0.0; 2 * n + system.num_aux],
            },
            passive: Passive::new(system, actuators),
            evaluations: 0,
            next_step: f64::INFINITY,
            first_step: f64::INFINITY,
        })
    }

    /// States at the nodes after the beginning.
    pub fn states(&self) -> &[State<f64>] {
        &self.x[1..]
    }

    /// Takes the moment arms and the derivatives of passive forces at the pose and the accelerations that are predicted for the end.
    pub fn load(
        &mut self,
        response: &Response,
        (pose, udot): (&State<f64>, &[f64]),
        controls: &mut WindowControls,
    ) {
        self.passive.compute(response, (pose, udot), controls);
        let n = self.udot[0].len();
        for s in &mut self.strands {
            let arms = &response.arms[s.actuator * n..(s.actuator + 1) * n];
            let least = 1e-9 * arms.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
            s.arms.clear();
            s.arms.extend(arms.iter().copied().enumerate().filter(|(_, a)| a.abs() > least));
        }
    }

    /// Evaluates the model at a node.
    fn evaluate(&mut self, ode: &mut SystemOde<WindowControls>, i: usize) -> Result<(), NotApart> {
        let n = self.udot[0].len();
        let x = &self.x[i];
        let v = &mut self.room.vector;
        v[..n].copy_from_slice(&x.q);
        v[n..2 * n].copy_from_slice(&x.u);
        v[2 * n..].copy_from_slice(&x.z);
        self.evaluations += 1;
        let ws = ode.compute(x.time, v).map_err(|_| NotApart)?;
        self.residual_at(i, &ws.udot);
        if i == 0 {
            self.udot[0].copy_from_slice(&ws.udot);
        }
        self.zdot[i].copy_from_slice(&ws.zdot);
        for s in &mut self.strands {
            let (path, course) = (&ws.paths[s.force], &mut s.course);
            let (length, speed) = (path.length(), path.speed());
            if i > 0 {
                s.beyond[i - 1] = [length - course.lengths[i], speed - course.speeds[i]];
            }
            (course.lengths[i], course.slopes[i], course.speeds[i]) = (length, speed, speed);
        }
        let is_finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        if is_finite(&ws.udot) && is_finite(&self.zdot[i]) { Ok(()) } else { Err(NotApart) }
    }

    fn residual_at(&mut self, i: usize, found: &[f64]) {
        let n = found.len();
        if i > 0 {
            let r = &mut self.residual[(i - 1) * n..i * n];
            for (r, (f, a)) in r.iter_mut().zip(found.iter().zip(&self.udot[i])) {
                *r = f - a;
            }
        }
    }

    /// Simulates from a state to a time. `ahead` are accelerations to expect at the end of the window, at a time, and `courses` what paths
    /// of actuators do in it. Errors of a step are about `accuracy`, as Simbody measures those of speeds. A step that goes on where the
    /// last ended, in the same window, knows its first node.
    pub fn advance(
        &mut self,
        (system, ode): (&System, &mut SystemOde<WindowControls>),
        (actuators, response): (&Actuators, &Response),
        (x0, to): (&State<f64>, f64),
        (ahead, end, courses): (&[f64], f64, &[Course]),
        (accuracy, goes_on): (f64, bool),
    ) -> Result<(), NotApart> {
        let (from, n) = (x0.time, x0.q.len());
        let H = to - from;
        let may_miss = COARSER * accuracy;
        let Lobatto { c, a, error } = self.lobatto.clone();
        let is_known = goes_on && self.x[FOUND] == *x0;
        for (x, c) in self.x.iter_mut().zip(c) {
            x.clone_from(x0);
            x.time = if c == 1.0 { to } else { from + c * H };
        }
        if is_known {
            self.udot.swap(0, FOUND);
            self.zdot.swap(0, FOUND);
            for Course { lengths, slopes, speeds, .. } in self.strands.iter_mut().map(|s| &mut s.course) {
                [lengths, slopes, speeds].into_iter().for_each(|v| v[0] = v[FOUND]);
            }
        } else {
            self.evaluate(ode, 0)?;
        }

        // A first guess: accelerations run straight to what is expected, paths as predicted.
        for i in 1..NODES {
            let s = (c[i] * H / (end - from).max(H)).min(1.0);
            for m in 0..n {
                self.udot[i][m] = self.udot[0][m] + s * (ahead[m] - self.udot[0][m]);
            }
        }
        for s in &mut self.strands {
            let predicted = &courses[s.actuator];
            let (length0, slope0) = predicted.slope(from);
            let (l, v) = (s.course.lengths[0], s.course.slopes[0]);
            for i in 0..NODES {
                s.course.times[i] = self.x[i].time;
                let (length, slope) = predicted.slope(self.x[i].time);
                if i > 0 {
                    s.course.lengths[i] = l + length - length0 + c[i] * H * (v - slope0);
                    s.course.slopes[i] = slope + v - slope0;
                    s.course.speeds[i] = s.course.slopes[i];
                }
            }
        }
        for i in 1..NODES {
            let (first, rest) = self.zdot.split_at_mut(1);
            rest[i - 1].copy_from_slice(&first[0]);
        }
        self.stages(ode, x0, H, &a);

        let mut before = f64::INFINITY;
        for k in 0..MOST_ITERATIONS {
            self.contract(system, actuators, x0, (is_known, k > 0))?;
            if k == 0 {
                self.differentiate(system, actuators, H, &a);
            }
            for i in 1..NODES {
                self.evaluate(ode, i)?;
            }
            self.solve(response, H, &a);
            // The change moves accelerations, and speeds and paths with them.
            let size = self.size(&self.change, H);
            for i in 0..FOUND {
                for m in 0..n {
                    self.udot[i + 1][m] += self.change[i * n + m];
                }
            }
            self.stages(ode, x0, H, &a);
            self.move_paths();
            // What one node less would change at the end.
            for m in 0..n {
                self.change[m] = (0..NODES).map(|j| error[j] * self.udot[j][m]).sum();
            }
            let missed = self.size(&self.change[..n], H);
            let factor = elementary::powf(AIM * may_miss / missed.max(1e-9 * may_miss), 1.0 / ORDER);
            self.next_step = H * factor.clamp(1.0 / MOST_CHANGE, MOST_CHANGE);
            if !(size <= 2.0 * before && missed <= HOPELESS * may_miss) {
                self.next_step = self.next_step.min(0.5 * H);
                return Err(NotApart);
            }
            let ratio = if k == 0 { 1.0 } else { size / before };
            let left = if ratio < 1.0 { ratio / (1.0 - ratio) * size } else { size };
            if left < PART * may_miss {
                if missed > may_miss {
                    return Err(NotApart);
                }
                self.settle(system);
                return Ok(());
            }
            before = size;
        }
        self.next_step = 0.5 * H;
        Err(NotApart)
    }

    /// Root mean square of H v at the node where it is largest, relative to speeds above one.
    fn size(&self, v: &[f64], H: f64) -> f64 {
        let u = &self.x[0].u;
        let of = |v: &[f64]| {
            let sum: f64 = v.iter().zip(u).map(|(v, u)| (H * v / u.abs().max(1.0)).powi(2)).sum();
            (sum / u.len().max(1) as f64).sqrt()
        };
        // A maximum would lose what is not a number.
        v.chunks_exact(u.len().max(1)).map(of).fold(0.0, |m, x| if x > m || x.is_nan() { x } else { m })
    }

    /// Speeds, coordinates and states apart from muscles at the nodes (1).
    fn stages(
        &mut self,
        ode: &mut SystemOde<WindowControls>,
        x0: &State<f64>,
        H: f64,
        a: &[[f64; NODES]; NODES],
    ) {
        let n = x0.q.len();
        for i in 1..NODES {
            for m in 0..n {
                self.x[i].u[m] = x0.u[m] + H * (0..NODES).map(|j| a[i][j] * self.udot[j][m]).sum::<f64>();
            }
            for &k in &self.other {
                self.x[i].z[k] = x0.z[k] + H * (0..NODES).map(|j| a[i][j] * self.zdot[j][k]).sum::<f64>();
            }
        }
        for i in 0..NODES {
            let v = &mut self.room.vector;
            v[..n].copy_from_slice(&self.x[i].q);
            v[n..2 * n].copy_from_slice(&self.x[i].u);
            ode.coordinate_rates(v, &mut self.qdot[i]);
        }
        for i in 1..NODES {
            for m in 0..n {
                self.x[i].q[m] = x0.q[m] + H * (0..NODES).map(|j| a[i][j] * self.qdot[j][m]).sum::<f64>();
            }
        }
    }

    /// Paths after a change of speeds, which is in the room.
    fn move_paths(&mut self) {
        for s in &mut self.strands {
            let [mut dl, mut dv] = s.moved(&self.room.dq, &self.room.du);
            for i in 0..FOUND {
                s.course.lengths[i + 1] += dl[i];
                s.course.slopes[i + 1] += dv[i];
                s.course.speeds[i + 1] += dv[i];
                dl[i] += s.beyond[i][0];
                dv[i] += s.beyond[i][1];
            }
            s.due = s.states(&dl, &dv);
        }
    }

    /// Adds to the states of muscles what paths have changed since they were integrated.
    fn settle(&mut self, system: &System) {
        for s in &self.strands {
            let states = &system.forces[s.force].states;
            if s.by.driven < states.len() {
                for (x, due) in self.x[1..].iter_mut().zip(s.due) {
                    x.z[states.start + s.by.driven] += due;
                }
            }
        }
    }

    /// Muscles from node to node along their paths: after the step before if that is known, and once more if they were.
    fn contract(
        &mut self,
        system: &System,
        actuators: &Actuators,
        x0: &State<f64>,
        (goes_on, again): (bool, bool),
    ) -> Result<(), NotApart> {
        for s in &mut self.strands {
            let f = &system.forces[s.force];
            let Actor::Muscle(muscle) = &f.actor else { continue };
            let e = actuators.control(s.actuator);
            let times = &s.course.times;
            let c = Contraction {
                muscle,
                course: &s.course,
                is_held: false,
                from: times[0],
                to: times[FOUND],
                longest_step: 2.0 * LONGEST_STEP,
                converged: CONVERGED_WITHIN,
                by_excitation: false,
            };
            let mut z = [0.0; 3];
            let count = f.states.len();
            let z = z.get_mut(..count).ok_or(NotApart)?;
            z.copy_from_slice(&x0.z[f.states.clone()]);
            for i in 0..FOUND {
                let span = (times[i], times[i + 1]);
                let start = [z.first().copied(), z.get(1).copied(), z.get(2).copied()];
                let restore =
                    |z: &mut [f64]| z.iter_mut().zip(start).for_each(|(z, old)| *z = old.unwrap_or(*z));
                let mut is_done = again
                    && s.is_whole[i]
                    && c.again(s.course.at_places(&self.places[i]), e, z, &mut s.steps[i]);
                if !is_done {
                    restore(z);
                    // On the polynomial of the step before, which for the first node is that to the last one.
                    let mut step = match (i, goes_on) {
                        (0, false) => Step::default(),
                        _ => s.steps[(i + FOUND - 1) % FOUND],
                    };
                    let mut count = 0;
                    c.carry(span, e, z, &mut step, &mut |_| count += 1).map_err(|_| NotApart)?;
                    s.steps[i] = step;
                    is_done = count == 1;
                }
                s.is_whole[i] = is_done;
                self.x[i + 1].z[f.states.clone()].copy_from_slice(z);
            }
        }
        Ok(())
    }

    /// Derivatives (2) of each muscle in the middle, and the states at the nodes that follow.
    fn differentiate(&mut self, system: &System, actuators: &Actuators, H: f64, a: &[[f64; NODES]; NODES]) {
        let middle = &self.x[NODES / 2];
        for s in &mut self.strands {
            let f = &system.forces[s.force];
            let Actor::Muscle(muscle) = &f.actor else { continue };
            let at = NODES / 2;
            let (length, speed) = (s.course.lengths[at], s.course.speeds[at]);
            let d = Sensitivity::of(
                muscle,
                (length, speed),
                actuators.control(s.actuator),
                &middle.z[f.states.clone()],
            );
            let mut m = [[0.0; 2 * FOUND]; FOUND];
            for i in 0..FOUND {
                for j in 0..FOUND {
                    let ha = H * a[i + 1][j + 1];
                    m[i][j] = f64::from(i == j) - d.rate_by_state * ha;
                    m[i][FOUND + j] = ha;
                }
            }
            let is_solved = eliminate(&mut m);
            for (row, m) in s.states_by_rates.iter_mut().zip(&m) {
                row.copy_from_slice(&m[FOUND..]);
                if !is_solved {
                    row.fill(0.0);
                }
            }
            s.by = d;
        }
    }

    /// The change of accelerations (3) for the residual at hand, and the speeds and coordinates that go with it.
    fn solve(&mut self, response: &Response, H: f64, a: &[[f64; NODES]; NODES]) {
        let Apart { strands, residual, change, krylov, room, passive, .. } = self;
        // The states are not yet those of the paths that were found.
        room.load.fill([0.0; FOUND]);
        for s in strands.iter() {
            let tensions = s.states(&s.beyond.map(|b| b[0]), &s.beyond.map(|b| b[1]));
            s.pull(&tensions.map(|z| s.by.tension_by_state * z), &mut room.load);
        }
        room.respond(response, 1.0, residual);

        let mut product = |v: &[f64], out: &mut [f64]| {
            room.integrate(v, H, a);
            room.load.fill([0.0; FOUND]);
            for s in strands.iter() {
                let [dl, dv] = s.moved(&room.dq, &room.du);
                let mut tensions = s.states(&dl, &dv);
                for i in 0..FOUND {
                    tensions[i] = s.by.tension_by_state * tensions[i]
                        + s.by.tension_by_length * dl[i]
                        + s.by.tension_by_speed * dv[i];
                }
                s.pull(&tensions, &mut room.load);
            }
            passive.add(&room.dq, &room.du, &mut room.load);
            out.copy_from_slice(v);
            room.respond(response, -1.0, out);
        };
        krylov.solve(residual, change, &mut product);
        room.integrate(change, H, a);
    }
}

/// Gauss–Jordan on a matrix with as many right-hand sides beside it; `false` if it is singular.
fn eliminate(m: &mut [[f64; 2 * FOUND]; FOUND]) -> bool {
    for k in 0..FOUND {
        let p = (k..FOUND).fold(k, |p, r| if m[r][k].abs() > m[p][k].abs() { r } else { p });
        if !(m[p][k].abs() > 0.0) || !m[p][k].is_finite() {
            return false;
        }
        m.swap(k, p);
        let inverse = 1.0 / m[k][k];
        m[k].iter_mut().for_each(|x| *x *= inverse);
        let row = m[k];
        for r in (0..FOUND).filter(|&r| r != k) {
            let factor = m[r][k];
            m[r].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    true
}

/// Room for GMRES: Saad & Schultz (1986), with Givens rotations and modified Gram–Schmidt.
#[derive(Clone, Debug)]
struct Krylov {
    basis: Vec<Vec<f64>>,
    h: Vec<[f64; MOST_PRODUCTS + 1]>,
    rotations: Vec<[f64; 2]>,
    g: [f64; MOST_PRODUCTS + 1],
}

impl Krylov {
    fn new(size: usize) -> Self {
        Krylov {
            basis: vec![vec![0.0; size]; MOST_PRODUCTS + 1],
            h: vec![[0.0; MOST_PRODUCTS + 1]; MOST_PRODUCTS],
            rotations: vec![[0.0; 2]; MOST_PRODUCTS],
            g: [0.0; MOST_PRODUCTS + 1],
        }
    }

    /// x with |b − A x| at most the part [`LEFT`] of |b|, or as small as the products allow.
    fn solve(&mut self, b: &[f64], x: &mut [f64], product: &mut dyn FnMut(&[f64], &mut [f64])) {
        x.fill(0.0);
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let size = norm(b);
        if !(size > 0.0) {
            return;
        }
        self.basis[0].iter_mut().zip(b).for_each(|(v, b)| *v = b / size);
        self.g = [0.0; MOST_PRODUCTS + 1];
        self.g[0] = size;
        let mut count = 0;
        for k in 0..MOST_PRODUCTS {
            let (done, rest) = self.basis.split_at_mut(k + 1);
            let w = &mut rest[0];
            product(&done[k], w);
            let h = &mut self.h[k];
            for (j, v) in done.iter().enumerate() {
                h[j] = v.iter().zip(&*w).map(|(v, w)| v * w).sum();
                w.iter_mut().zip(v).for_each(|(w, v)| *w -= h[j] * v);
            }
            let left = norm(w);
            if left > 0.0 {
                w.iter_mut().for_each(|w| *w /= left);
            }
            for (j, [c, s]) in self.rotations[..k].iter().enumerate() {
                (h[j], h[j + 1]) = (c * h[j] + s * h[j + 1], c * h[j + 1] - s * h[j]);
            }
            let r = elementary::hypot(h[k], left);
            if !(r > 0.0) {
                break;
            }
            let [c, s] = [h[k] / r, left / r];
            self.rotations[k] = [c, s];
            h[k] = r;
            (self.g[k], self.g[k + 1]) = (c * self.g[k], -s * self.g[k]);
            count = k + 1;
            if self.g[k + 1].abs() <= LEFT * size || left == 0.0 {
                break;
            }
        }
        // Back substitution; column k of the triangle is h[k].
        for k in (0..count).rev() {
            let sum: f64 = (k + 1..count).map(|j| self.h[j][k] * self.g[j]).sum();
            self.g[k] = (self.g[k] - sum) / self.h[k][k];
        }
        for (g, v) in self.g[..count].iter().zip(&self.basis) {
            x.iter_mut().zip(v).for_each(|(x, v)| *x += g * v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights at the end are those of Lobatto's quadrature, and every stage integrates polynomials of degree four exactly.
    #[test]
    fn analytic_nodes_and_weights_of_lobatto() {
        let l = Lobatto::new();
        let weights = [1.0 / 20.0, 49.0 / 180.0, 16.0 / 45.0, 49.0 / 180.0, 1.0 / 20.0];
        for (a, w) in l.a[NODES - 1].iter().zip(weights) {
            assert!((a - w).abs() < 1e-14, "{a} and {w}");
        }
        for d in 0..NODES {
            for i in 0..NODES {
                let sum: f64 = (0..NODES).map(|j| l.a[i][j] * l.c[j].powi(d as i32)).sum();
                assert!(
                    (sum - l.c[i].powi(d as i32 + 1) / (d + 1) as f64).abs() < 1e-14,
                    "degree {d}, node {i}"
                );
            }
            // Degrees below four show no error.
            let shown: f64 = (0..NODES).map(|j| l.error[j] * l.c[j].powi(d as i32)).sum();
            assert!((shown.abs() < 1e-14) == (d < 4), "degree {d}: {shown}");
        }
    }

    #[test]
    fn identity_gmres_solves_a_small_system() {
        let m = [[4.0, 1.0, 0.0, 0.5], [-1.0, 300.0, 2.0, 0.0], [0.3, 0.0, 2.0, 1.0], [0.0, 5.0, -1.0, 3.0]];
        let mut product = |v: &[f64], out: &mut [f64]| {
            for (o, row) in out.iter_mut().zip(&m) {
                *o = row.iter().zip(v).map(|(a, x)| a * x).sum();
            }
        };
        let want = [1.0, -2.0, 0.5, 3.0];
        let (mut b, mut x) = ([0.0; 4], [0.0; 4]);
        product(&want, &mut b);
        Krylov::new(4).solve(&b, &mut x, &mut product);
        for (x, w) in x.iter().zip(want) {
            assert!((x - w).abs() < 1e-10, "{x} and {w}");
        }
    }
}

//! A step that is implicit in all stiff forces: muscles with tendons, limits and springs of joints, contacts.
//!
//! With the loads f(q, u, z) of a state, a step of length h solves
//!
//!   (M + h D + h² K) (u⁺ − u) = h (f − h K q̇ + f_z δz)                  (1)
//!   (1 − h ∂ż/∂z) (z⁺ − z) = h (ż + ∂ż/∂l h l̇⁺ + ∂ż/∂l̇ (l̇⁺ − l̇))         (2)
//!   q⁺ = q + h q̇(q, u⁺)                                               (3)
//!
//! which is Rosenbrock's method of order 1 with exact derivatives of the individual forces: D = −∂f/∂u and K = −∂f/∂q.
//! A muscle depends on the joints only through the length l of its path, so (2) is solved for each muscle separately,
//! for any l̇⁺, and its contribution to (1) is a multiple of ∂l/∂q ∂l/∂qᵀ. A limit or a spring of a coordinate adds to
//! the diagonal. A contact with the ground adds the stiffness and the damping of its point along the normal, and the
//! damping of its slip, to the inertia of its body.
//! All these terms have the sparsity pattern of the mass matrix, with entries between joints of the same branch: (1) is
//! solved along the tree, without fill-in.
//!
//! On the diagonal of (2), absolute values of ∂ż/∂z are used: a muscle that runs away moves at most by its rate over that slope.
//! Rates of De Groote and Fregly's muscle are bounded near the singularities of its explicit form, and so are its tendon force and
//! the change of it in a step.
//!
//! Not included in D and K are velocity-dependent and gravity terms of the bodies, changes of moment arms with the
//! pose, forces between two moving bodies, changes of friction with the depth, and negative slopes of muscles, joints
//! and contacts. For a muscle that spans two branches of the tree, the absolute values of products outside the pattern
//! are added to the diagonal. The matrix of (1) is therefore positive definite wherever the mass matrix is. The method
//! is of order 1 regardless of the neglected terms.
//!
//! Constraints are enforced on the speeds at the end of a step: G u⁺ is chosen to reduce the position error by a fifth.

#![allow(non_snake_case)] // Symbols of the literature, as in soleus-dynamics.

use crate::evaluation::{Evaluation, join_forces};
use soleus_dynamics::contact::Touch;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::multibody::{Tree, compute_accelerations, compute_generalized_forces};
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{Kinematics, Loads, State, System, Workspace};
use soleus_graph::{Graph, Op, Recorded, Recording, resume};
use soleus_math::{Part, Real, SpatialVec, Vec3, vec3};
use std::ops::Range;

/// Share of a position error that a step takes away.
const CORRECTED: f64 = 0.2;

/// Least product of activation and active force–length in a step: the explicit form of De Groote and Fregly's muscle
/// divides by it. Forces differ by at most this share of F₀; with less, slack muscles have larger rates, which grow with the force.
const LEAST_GAIN: f64 = 1e-3;

/// Least normalized tendon force of De Groote and Fregly's muscle, whose tendon curve is 0.2 exp(…) − 0.2. There is no
/// length beyond it, so a step goes at most half of the way.
const LEAST_TENDON_FORCE: f64 = -0.2;

/// How far a step may go from the least tendon force, as a share of how far it is: down, and up. Four times as far is a strain of the
/// tendon of 0.04, nearly that of F₀. Where the path is as short as the tendon, rates of 1e9/s have no slope that holds them back.
const TENDON_STEP: [f64; 2] = [-0.5, 3.0];

/// A pivot below this, kg or kg·m², is none.
const PIVOT: f64 = 1e-13;

/// Least share of the inertia of a mobility that is left when the other mobilities of its joint are free to move. Three
/// angles of a joint have cos² of the middle one: at a share of 1e-3, 2° from gimbal lock, where their speeds would grow
/// without bound.
const FREE_INERTIA: f64 = 1e-3;

/// What is added to the diagonal of the equations of multipliers, as a share of it, so that equations that say the same thing twice have a solution.
const REDUNDANT: f64 = 1e-9;

/// What stiff forces depend on, and what they do: numbers while they are recorded, nodes afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stiffness<T> {
    /// M, row by row.
    mass: Vec<T>,
    /// f: generalized forces less those of velocities.
    load: Vec<T>,
    /// ż, with bounds where a muscle is slack ([`LEAST_GAIN`]).
    rates: Vec<T>,
    paths: Vec<PathLaw<T>>,
    /// Forces on single mobilities: which, and the force.
    mobilities: Vec<(usize, T)>,
    touches: Vec<TouchLaw<T>>,
    /// Place and velocity (ω, v) of the origin of each body.
    origin: Vec<[T; 3]>,
    twist: Vec<[T; 6]>,
    /// Columns of the motion subspaces, and from the parent's origin to the body's.
    subspace: Vec<[T; 6]>,
    offset: Vec<[T; 3]>,
    /// Constraints: G, errors of positions and of speeds, accelerations at u̇ = 0.
    rows: Vec<T>,
    position_error: Vec<T>,
    speed_error: Vec<T>,
    bias: Vec<T>,
}

/// A force along a path.
#[derive(Clone, Copy, Debug)]
struct PathLaw<T> {
    force: usize,
    length: T,
    speed: T,
    tension: T,
}

/// A force of the ground at a point of a body.
#[derive(Clone, Copy, Debug)]
struct TouchLaw<T> {
    body: usize,
    /// From the body's origin.
    lever: [T; 3],
    force: [T; 3],
    normal: [T; 3],
}

impl<T: Copy> Stiffness<T> {
    /// The same of other things, one for each.
    pub(crate) fn map<S>(&self, f: &mut impl FnMut(T) -> S) -> Stiffness<S> {
        fn list<T: Copy, S>(x: &[T], f: &mut impl FnMut(T) -> S) -> Vec<S> {
            x.iter().map(|x| f(*x)).collect()
        }
        fn lists<T: Copy, S, const N: usize>(x: &[[T; N]], f: &mut impl FnMut(T) -> S) -> Vec<[S; N]> {
            x.iter().map(|x| x.map(&mut *f)).collect()
        }
        Stiffness {
            mass: list(&self.mass, f),
            load: list(&self.load, f),
            rates: list(&self.rates, f),
            paths: self
                .paths
                .iter()
                .map(|p| PathLaw {
                    force: p.force,
                    length: f(p.length),
                    speed: f(p.speed),
                    tension: f(p.tension),
                })
                .collect(),
            mobilities: self.mobilities.iter().map(|&(m, x)| (m, f(x))).collect(),
            touches: self
                .touches
                .iter()
                .map(|t| TouchLaw {
                    body: t.body,
                    lever: t.lever.map(&mut *f),
                    force: t.force.map(&mut *f),
                    normal: t.normal.map(&mut *f),
                })
                .collect(),
            origin: lists(&self.origin, f),
            twist: lists(&self.twist, f),
            subspace: lists(&self.subspace, f),
            offset: lists(&self.offset, f),
            rows: list(&self.rows, f),
            position_error: list(&self.position_error, f),
            speed_error: list(&self.speed_error, f),
            bias: list(&self.bias, f),
        }
    }
}

fn six<T: Real>(x: SpatialVec<T>) -> [T; 6] {
    let ([a, b, c], [d, e, f]) = (x.w.to_array(), x.v.to_array());
    [a, b, c, d, e, f]
}

fn spatial<T: Real>([a, b, c, d, e, f]: [T; 6]) -> SpatialVec<T> {
    SpatialVec::new(vec3(a, b, c), vec3(d, e, f))
}

fn three<T: Real>([a, b, c]: [T; 3]) -> Vec3<T> {
    vec3(a, b, c)
}

impl Stiffness<Recorded> {
    /// Of the motion that was computed in the workspace.
    pub(crate) fn of(
        system: &System,
        x: &State<Recorded>,
        controls: &[Recorded],
        ws: &Workspace<Recorded>,
    ) -> Stiffness<Recorded> {
        let (n, tree) = (system.tree.num_mobilities, &system.tree);
        let zero = Recorded::zero();
        // As the engine computes it, so that nothing is recorded twice.
        let mut A = vec![SpatialVec::zero(); tree.nodes.len()];
        compute_accelerations(tree, &ws.kin, &vec![zero; n], &mut A);
        let mut rest: Vec<_> = (0..A.len())
            .map(|i| {
                Recorded::enter(Part::Motion, i);
                ws.body_load[i] - ws.kin.inertia[i].momentum(A[i]) - ws.kin.gyro[i]
            })
            .collect();
        let mut load = ws.mobility_load.clone();
        compute_generalized_forces(tree, &ws.kin, &mut rest, &mut load);

        let kin = ws.kin.view(x.time);
        let (mut paths, mut mobilities, mut touches) = (Vec::new(), Vec::new(), Vec::new());
        let mut rates = ws.zdot.clone();
        for (i, f) in system.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            Recorded::enter(Part::Force, i);
            match (&f.actor, &f.path) {
                (actor, Some(_)) => {
                    let (length, speed) = (ws.paths[i].length(), ws.paths[i].speed());
                    if let Actor::Muscle(m) = actor {
                        let (e, z) = (controls[f.controls.start], &x.z[f.states.clone()]);
                        m.bounded_dynamics(length, speed, e, z, &mut rates[f.states.clone()], LEAST_GAIN);
                    }
                    paths.push(PathLaw { force: i, length, speed, tension: ws.tension[i] });
                }
                (Actor::Force(c), None) => {
                    let (bodies, touched) = c.touches();
                    visit_touches(c.kernel(), &kin, &mut |touch| {
                        let (body, force) = match (touch.body1, touch.body2) {
                            (0, body) => (body, touch.force),
                            (body, 0) => (body, -touch.force),
                            _ => return,
                        };
                        let lever = (touch.point - kin.X_GB[body].p).to_array();
                        let (force, normal) = (force.to_array(), touch.normal.to_array());
                        touches.push(TouchLaw { body, lever, force, normal });
                    });
                    if bodies.is_empty() {
                        let mut own = vec![zero; n];
                        let mut states_dot = vec![zero; f.states.len()];
                        let mut loads = Loads { body: &mut [], mobility: &mut own };
                        let (e, z) = (&controls[f.controls.clone()], &x.z[f.states.clone()]);
                        c.apply(&kin, e, z, &mut states_dot, &mut loads);
                        mobilities.extend(touched.iter().map(|&m| (m, own[m])));
                    }
                }
                (Actor::Muscle(_), None) => {}
            }
        }
        let places = 0..tree.nodes.len();
        Stiffness {
            mass: (0..n * n).map(|k| ws.mass.at(k / n, k % n)).collect(),
            load,
            rates,
            paths,
            mobilities,
            touches,
            origin: places.clone().map(|b| ws.kin.X_GB[b].p.to_array()).collect(),
            twist: places.clone().map(|b| six(ws.kin.V_GB[b])).collect(),
            subspace: ws.kin.H.iter().map(|h| six(*h)).collect(),
            offset: places.map(|b| ws.kin.p_PB[b].to_array()).collect(),
            rows: ws.constraints.G.clone(),
            position_error: ws.constraints.qerr.clone(),
            speed_error: ws.constraints.uerr.clone(),
            bias: ws.constraints.bias.clone(),
        }
    }
}

/// The forces of a contact at its points.
fn visit_touches(kernel: &Kernel, kin: &Kinematics<Recorded>, each: &mut impl FnMut(&Touch<Recorded>)) {
    match kernel {
        Kernel::HuntCrossley(c) => drop(c.visit(kin, |touch| each(touch))),
        Kernel::SmoothSphereHalfSpace(c) => each(&c.touch(kin).0),
        Kernel::Bogert2011(c) => each(&c.touch(kin)),
        _ => {}
    }
}

/// Derivatives that the step needs, as nodes.
struct Slopes {
    /// Of tensions and rates of states, by length, by speed, and by the first, second, … state of each force.
    by_length: Vec<u32>,
    by_speed: Vec<u32>,
    by_state: Vec<Vec<u32>>,
    /// ∂l/∂q of each path, by mobility.
    arms: Vec<Vec<u32>>,
    /// Of forces on mobilities, by their coordinate and their speed.
    mobilities: Vec<[u32; 2]>,
    /// Of forces of contacts, by places and by velocities.
    touches: Vec<[[[u32; 3]; 3]; 2]>,
}

impl Evaluation {
    /// Adds a step to the graph: nodes of q⁺, u⁺, z⁺, and of the doubt. The node `h` is its length, s.
    pub(crate) fn add_implicit_step(&self, graph: &mut Graph, system: &System, h: u32) -> (Vec<u32>, u32) {
        let slopes = self.slopes(graph, system);
        let mut start = self.layout.start(system);
        start.extend(self.layout.p.clone().map(|_| 1.0));
        start.push(1e-3);
        let recording = Recording {
            graph: std::mem::take(graph),
            parts: self.parts.clone(),
            start,
            ..Recording::default()
        };
        let (n, u) = (self.layout.u.len(), self.layout.u.clone());
        let (recording, nodes) = resume(recording, |at| self.solve_implicit_step(system, &slopes, at(h), at));
        let Recording { graph: mut grown, doubts, parts, .. } = recording;
        join_forces(&mut grown, &parts);
        let (du, later) = nodes.split_at(n);
        // q̇ is linear in u.
        let change = grown.forward(&self.qdot, &self.inputs[u.clone()], du);
        let mut outputs = Vec::new();
        for i in 0..n {
            let rate = grown.two(Op::Add, self.qdot[i], change[i]);
            let way = grown.two(Op::Mul, h, rate);
            outputs.push(grown.two(Op::Add, self.inputs[self.layout.q.start + i], way));
        }
        outputs.extend((0..n).map(|i| grown.two(Op::Add, self.inputs[u.start + i], du[i])));
        outputs.extend(later);
        let zero = grown.constant(0.0);
        let doubt = doubts.iter().fold(zero, |sum, &d| grown.two(Op::Max, sum, d));
        *graph = grown;
        (outputs, doubt)
    }

    fn slopes(&self, graph: &mut Graph, system: &System) -> Slopes {
        let s = &self.stiffness;
        let one = graph.constant(1.0);
        let zero = graph.constant(0.0);
        // Constants do not change, and derivatives by them would be by all their uses.
        let along = |graph: &mut Graph, outputs: &[u32], by: &[u32]| {
            let by: Vec<u32> = by.iter().copied().filter(|i| graph.value_of(*i).is_none()).collect();
            graph.forward(outputs, &by, &vec![one; by.len()])
        };
        let laws: Vec<u32> = s.paths.iter().map(|p| p.tension).chain(s.rates.iter().copied()).collect();
        let lengths: Vec<u32> = s.paths.iter().map(|p| p.length).collect();
        let speeds: Vec<u32> = s.paths.iter().map(|p| p.speed).collect();
        let by_length = along(graph, &laws, &lengths);
        let by_speed = along(graph, &laws, &speeds);
        let z = &self.inputs[self.layout.z.clone()];
        let widest = system.forces.iter().map(|f| f.states.len()).max().unwrap_or(0);
        let by_state = (0..widest)
            .map(|c| {
                let states = system.forces.iter().map(|f| f.states.clone()).filter(|b| c < b.len());
                let by: Vec<u32> = states.map(|b| z[b.start + c]).collect();
                along(graph, &laws, &by)
            })
            .collect();
        let (q, u) = (&self.inputs[self.layout.q.clone()], &self.inputs[self.layout.u.clone()]);
        let mut arms = vec![vec![zero; u.len()]; s.paths.len()];
        let mut mobilities = vec![[zero; 2]; s.mobilities.len()];
        for j in 0..u.len() {
            for (arms, arm) in arms.iter_mut().zip(along(graph, &speeds, &[u[j]])) {
                arms[j] = arm;
            }
            let own: Vec<usize> = (0..s.mobilities.len()).filter(|&k| s.mobilities[k].0 == j).collect();
            let forces: Vec<u32> = own.iter().map(|&k| s.mobilities[k].1).collect();
            for (side, by) in [q[j], u[j]].into_iter().enumerate() {
                for (&k, slope) in own.iter().zip(along(graph, &forces, &[by])) {
                    mobilities[k][side] = slope;
                }
            }
        }
        let forces: Vec<u32> = s.touches.iter().flat_map(|t| t.force).collect();
        let mut touches = vec![[[[zero; 3]; 3]; 2]; s.touches.len()];
        for axis in 0..3 {
            let places: Vec<u32> = s.touches.iter().map(|t| s.origin[t.body][axis]).collect();
            let velocities: Vec<u32> = s.touches.iter().map(|t| s.twist[t.body][3 + axis]).collect();
            for (side, by) in [places, velocities].into_iter().enumerate() {
                let found = along(graph, &forces, &by);
                for (k, slope) in found.into_iter().enumerate() {
                    // A direction in which nothing can move has no slope.
                    let moves = graph.value_of(by[k / 3]).is_none();
                    touches[k / 3][side][k % 3][axis] = if moves { slope } else { zero };
                }
            }
        }
        Slopes { by_length, by_speed, by_state, arms, mobilities, touches }
    }

    /// u⁺ − u, then z⁺.
    fn solve_implicit_step(
        &self,
        system: &System,
        slopes: &Slopes,
        h: Recorded,
        at: &dyn Fn(u32) -> Recorded,
    ) -> Vec<Recorded> {
        let (tree, n) = (&system.tree, system.tree.num_mobilities);
        let s = self.stiffness.map(&mut |node| at(node));
        let rates = s.rates.clone();
        let qdot: Vec<Recorded> = self.qdot.iter().map(|&i| at(i)).collect();
        let z: Vec<Recorded> = self.layout.z.clone().map(|i| at(self.inputs[i])).collect();
        let mut equations = TreeEquations::new(tree, s.mass.clone(), s.load.clone());
        let zero = Recorded::zero();

        // (2), as z + a + b (l̇⁺ − l̇), and the tension that goes with it.
        let mut later = z.clone();
        let mut following: Vec<(Range<usize>, usize, Vec<[Recorded; 2]>)> = Vec::new();
        let path_of = |force: usize| s.paths.iter().position(|p| p.force == force);
        for (i, f) in system.forces.iter().enumerate() {
            Recorded::enter(Part::Force, i);
            let (m, states) = (f.states.len(), f.states.clone());
            let path = path_of(i);
            let law = |k: usize| s.paths.len() + k;
            let mut block = vec![zero; m * m];
            let mut right = vec![[zero; 2]; m];
            for (r, k) in states.clone().enumerate() {
                for c in 0..m {
                    let slope = h * at(slopes.by_state[c][law(k)]);
                    // A state that runs away by itself is held back as one that decays as fast: a slack muscle of De Groote and Fregly
                    // runs away near the singularities of its explicit form.
                    block[r * m + c] = if r == c {
                        let one = Recorded::cst(1.0);
                        Real::max(one - slope, one + slope)
                    } else {
                        -slope
                    };
                }
                right[r][0] = h * rates[k];
                if let Some(p) = path {
                    let by_length = h * at(slopes.by_length[law(k)]);
                    right[r][0] += h * by_length * s.paths[p].speed;
                    right[r][1] = h * (by_length + at(slopes.by_speed[law(k)]));
                }
            }
            solve_block(&mut block, &mut right);
            let tendon = tendon_state(system, i);
            for (r, k) in states.clone().enumerate() {
                if tendon == Some(k) {
                    right[r][0] = within_tendon_step(z[k], right[r][0]);
                }
                later[k] = z[k] + right[r][0];
            }
            let Some(p) = path else { continue };
            let by_length = h * at(slopes.by_length[p]);
            let mut more = by_length * s.paths[p].speed;
            let mut slope = by_length + at(slopes.by_speed[p]);
            for (r, [a, b]) in right.iter().enumerate() {
                let by_state = at(slopes.by_state[r][p]);
                more += by_state * *a;
                slope += by_state * *b;
            }
            let slope = h * Real::max(slope, zero);
            let arms: Vec<(usize, Recorded)> =
                (0..n).map(|j| (j, at(slopes.arms[p][j]))).filter(|(_, arm)| *arm != zero).collect();
            for &(j, arm) in &arms {
                equations.right[j] -= arm * more;
                let stiff = slope * arm;
                for &(k, other) in &arms {
                    let x = stiff * other;
                    if equations.is_entry(j, k) {
                        equations.add(j, k, x);
                    } else if j < k {
                        let x = Real::abs(x);
                        equations.add(j, j, x);
                        equations.add(k, k, x);
                    }
                }
            }
            following.push((states, p, right));
        }

        // Forces on single mobilities.
        for (&(j, _), [by_place, by_speed]) in s.mobilities.iter().zip(&slopes.mobilities) {
            let stiffness = h * Real::max(-at(*by_place), zero);
            let damping = Real::max(-at(*by_speed), zero);
            equations.right[j] -= stiffness * qdot[j];
            equations.add(j, j, h * (damping + stiffness));
        }
        add_touches(tree, &s, slopes, h, at, &mut equations);

        equations.right.iter_mut().for_each(|x| *x *= h);
        let du = equations.solve_constrained(&s, h);
        for (states, p, response) in following {
            Recorded::enter(Part::Force, s.paths[p].force);
            let mut change = zero;
            for (j, du) in du.iter().enumerate() {
                change += at(slopes.arms[p][j]) * *du;
            }
            let tendon = tendon_state(system, s.paths[p].force);
            for (k, [a, b]) in states.zip(response) {
                let own = a + b * change;
                later[k] = z[k] + if tendon == Some(k) { within_tendon_step(z[k], own) } else { own };
            }
        }
        du.into_iter().chain(later).collect()
    }
}

/// A change of the normalized tendon force z within the bounds of a step.
fn within_tendon_step(z: Recorded, change: Recorded) -> Recorded {
    let far = z - LEAST_TENDON_FORCE;
    let [down, up] = TENDON_STEP;
    Real::max(Real::min(change, far * up), far * down)
}

/// The state of a force that [`TENDON_STEP`] bounds.
fn tendon_state(system: &System, force: usize) -> Option<usize> {
    let f = &system.forces[force];
    let Actor::Muscle(m) = &f.actor else { return None };
    let CompiledMuscle::DeGrooteFregly2016(m) = &**m else { return None };
    let k = m.state_names().iter().position(|name| *name == "normalized_tendon_force")?;
    Some(f.states.start + k)
}

/// Solves a few equations for two right-hand sides, from the last on: activations come first and depend on nothing else.
fn solve_block(m: &mut [Recorded], x: &mut [[Recorded; 2]]) {
    let (n, zero) = (x.len(), Recorded::zero());
    for k in (0..n).rev() {
        for i in 0..k {
            if m[i * n + k] == zero {
                continue;
            }
            let factor = m[i * n + k] / m[k * n + k];
            for j in 0..k {
                m[i * n + j] -= factor * m[k * n + j];
            }
            for side in 0..2 {
                x[i][side] -= factor * x[k][side];
            }
        }
    }
    for k in 0..n {
        for side in 0..2 {
            let mut sum = x[k][side];
            for j in 0..k {
                sum -= m[k * n + j] * x[j][side];
            }
            x[k][side] = if sum == zero { zero } else { sum / m[k * n + k] };
        }
    }
}

/// Adds what contacts with the ground do to the equations. With the unit normal n, the force f, the place p and the
/// velocity v of a point of its body,
///
///   k = max(−nᵀ ∂f/∂p n, 0),   d = max(−nᵀ ∂f/∂v n, 0),   c = max(−½ tr (1 − n nᵀ) ∂f/∂v, 0)
///   S = h (d + h k) n nᵀ + h c (1 − n nᵀ)
///
/// a body that is touched at r from its origin has the inertia of S and [r]ₓ S [r]ₓᵀ, … besides its own, and composite
/// bodies carry it to the joints. S is symmetric and has no negative direction, so the equations keep all pivots of the
/// mass matrix. The exact derivatives have such directions: a foot that leaves the ground faster than 2/(3c) of Hunt and
/// Crossley's dissipation c is pulled, and friction that grows with the depth can exceed what the normal force gives
/// (Painlevé's paradox).
fn add_touches(
    tree: &Tree,
    s: &Stiffness<Recorded>,
    slopes: &Slopes,
    h: Recorded,
    at: &dyn Fn(u32) -> Recorded,
    equations: &mut TreeEquations,
) {
    type Columns = [SpatialVec<Recorded>; 6];
    let zero = Recorded::zero();
    let unit = |k: usize| {
        let mut x = [zero; 6];
        x[k] = Recorded::cst(1.0);
        spatial(x)
    };
    let times = |columns: &Columns, x: SpatialVec<Recorded>| {
        let x = six(x);
        (0..6).fold(SpatialVec::zero(), |sum, k| sum + columns[k] * x[k])
    };
    let mut composite: Vec<Option<Columns>> = vec![None; tree.nodes.len()];
    let mut wrench: Vec<Option<SpatialVec<Recorded>>> = vec![None; tree.nodes.len()];
    for (touch, [by_place, by_velocity]) in s.touches.iter().zip(&slopes.touches) {
        Recorded::enter(Part::Body, touch.body);
        let (r, n) = (three(touch.lever), three(touch.normal));
        let matrix = |rows: &[[u32; 3]; 3]| rows.map(|row| three(row.map(at)));
        let (place, velocity) = (matrix(by_place), matrix(by_velocity));
        let along_normal = |m: &[Vec3<Recorded>; 3]| n.dot(three([0, 1, 2].map(|i| m[i].dot(n))));
        let stiffness = h * Real::max(-along_normal(&place), zero);
        let damping = along_normal(&velocity);
        let trace = velocity[0].x + velocity[1].y + velocity[2].z;
        let slip = h * Real::max((damping - trace) * 0.5, zero);
        let press = h * (Real::max(-damping, zero) + stiffness);
        let about_origin = |f: Vec3<Recorded>| SpatialVec::new(r.cross(f), f);
        let at_point = |V: SpatialVec<Recorded>| V.v + V.w.cross(r);
        let sum = composite[touch.body].get_or_insert([SpatialVec::zero(); 6]);
        for (k, column) in sum.iter_mut().enumerate() {
            let v = at_point(unit(k));
            *column += about_origin(n * (n.dot(v) * (press - slip)) + v * slip);
        }
        let moved = n * (n.dot(at_point(spatial(s.twist[touch.body]))) * -stiffness);
        *wrench[touch.body].get_or_insert(SpatialVec::zero()) += about_origin(moved);
    }
    let H: Vec<SpatialVec<Recorded>> = s.subspace.iter().map(|h| spatial(*h)).collect();
    let p_PB: Vec<Vec3<Recorded>> = s.offset.iter().map(|p| three(*p)).collect();
    for i in (1..tree.nodes.len()).rev() {
        let node = &tree.nodes[i];
        let own = node.u0..node.u0 + node.nu;
        if let Some(w) = wrench[i] {
            Recorded::enter(Part::Motion, i);
            own.clone().for_each(|j| equations.right[j] += H[j].dot(w));
            *wrench[node.parent].get_or_insert(SpatialVec::zero()) += w.wrench_shifted(p_PB[i]);
        }
        let Some(columns) = composite[i] else { continue };
        Recorded::enter(Part::Motion, i);
        for j in own.clone() {
            // What a speed of this joint asks of all that carry it.
            let mut f = times(&columns, H[j]);
            for l in own.start..=j {
                equations.add_mirrored(l, j, H[l].dot(f));
            }
            let mut b = i;
            while tree.nodes[b].parent != 0 {
                f = f.wrench_shifted(p_PB[b]);
                b = tree.nodes[b].parent;
                for l in tree.nodes[b].u0..tree.nodes[b].u0 + tree.nodes[b].nu {
                    equations.add_mirrored(l, j, H[l].dot(f));
                }
            }
        }
        if node.parent != 0 {
            let up = std::array::from_fn::<_, 6, _>(|k| {
                times(&columns, unit(k).velocity_shifted(p_PB[i])).wrench_shifted(p_PB[i])
            });
            let sum = composite[node.parent].get_or_insert([SpatialVec::zero(); 6]);
            sum.iter_mut().zip(up).for_each(|(sum, up)| *sum += up);
        }
    }
}

/// Equations with the pattern of the mass matrix.
struct TreeEquations {
    n: usize,
    /// Mobilities that carry each one, the nearest first.
    support: Vec<Vec<usize>>,
    /// First mobility of the joint of each one.
    first: Vec<usize>,
    m: Vec<Recorded>,
    right: Vec<Recorded>,
}

impl TreeEquations {
    fn new(tree: &Tree, m: Vec<Recorded>, right: Vec<Recorded>) -> TreeEquations {
        let next = |i: usize| Some(tree.support[i]).filter(|&j| j != usize::MAX);
        let support = |i: usize| std::iter::successors(next(i), |&j| next(j)).collect();
        let n = right.len();
        let mut first = vec![0; n];
        for node in &tree.nodes {
            first[node.u0..node.u0 + node.nu].fill(node.u0);
        }
        TreeEquations { n, support: (0..n).map(support).collect(), first, m, right }
    }

    fn is_entry(&self, i: usize, j: usize) -> bool {
        i == j || self.support[i].contains(&j) || self.support[j].contains(&i)
    }

    fn add(&mut self, i: usize, j: usize, x: Recorded) {
        self.m[i * self.n + j] += x;
    }

    /// Adds the same number on both sides of the diagonal, or once on it.
    fn add_mirrored(&mut self, i: usize, j: usize, x: Recorded) {
        self.add(i, j, x);
        if i != j {
            self.add(j, i, x);
        }
    }

    /// Eliminates every mobility from the equations of those that carry it. Afterwards there are factors below the diagonal, 1/pivot on it, and what is
    /// left of the equations above it. Entries that are the same number on both sides of the diagonal stay so, and are computed once.
    fn factorize(&mut self) {
        let n = self.n;
        // Of the mobilities of a joint when what it carries is eliminated.
        let mut inertia = vec![Recorded::zero(); n];
        for k in (0..n).rev() {
            Recorded::enter(Part::Motion, k);
            let is_last = k + 1 == n || self.first[k + 1] != self.first[k];
            if is_last {
                (self.first[k]..=k).for_each(|j| inertia[j] = self.m[j * n + j]);
            }
            let mut pivot = self.m[k * n + k];
            if !is_last {
                pivot = Real::max(pivot, inertia[k] * FREE_INERTIA);
            }
            // Where it vanishes, or changes its sign, the result is in doubt.
            let _ = Recorded::cst(PIVOT).usually_below(pivot);
            let inverse = pivot.recip();
            let support = self.support[k].clone();
            let factors: Vec<Recorded> = support.iter().map(|&i| self.m[i * n + k] * inverse).collect();
            let is_mirrored = |m: &[Recorded], i: usize, j: usize| m[i * n + j] == m[j * n + i];
            for (a, &i) in support.iter().enumerate() {
                for (b, &j) in support.iter().enumerate().skip(a) {
                    let once = is_mirrored(&self.m, i, j)
                        && is_mirrored(&self.m, i, k)
                        && is_mirrored(&self.m, j, k);
                    let x = self.m[i * n + j] - factors[a] * self.m[k * n + j];
                    let y = if once { x } else { self.m[j * n + i] - factors[b] * self.m[k * n + i] };
                    self.m[i * n + j] = x;
                    self.m[j * n + i] = y;
                }
            }
            for (&i, factor) in support.iter().zip(factors) {
                self.m[i * n + k] = factor;
            }
            self.m[k * n + k] = inverse;
        }
    }

    fn solve(&self, x: &mut [Recorded]) {
        let n = self.n;
        for k in (0..n).rev() {
            if x[k] == Recorded::zero() {
                continue;
            }
            Recorded::enter(Part::Motion, k);
            for &i in &self.support[k] {
                x[i] -= self.m[i * n + k] * x[k];
            }
        }
        for k in 0..n {
            Recorded::enter(Part::Motion, k);
            let sum = self.support[k].iter().fold(x[k], |sum, &j| sum - self.m[k * n + j] * x[j]);
            x[k] = sum * self.m[k * n + k];
        }
    }

    /// Solves for the change of speeds, with speeds that constraints ask for at the end of the step.
    fn solve_constrained(mut self, s: &Stiffness<Recorded>, h: Recorded) -> Vec<Recorded> {
        self.factorize();
        let (n, count) = (self.n, s.bias.len());
        let mut du = self.right.clone();
        self.solve(&mut du);
        if count == 0 {
            return du;
        }
        let row = |r: usize| &s.rows[r * n..(r + 1) * n];
        let times = |r: usize, x: &[Recorded]| row(r).iter().zip(x).map(|(g, x)| *g * *x).sum::<Recorded>();
        let responses: Vec<Vec<Recorded>> = (0..count)
            .map(|r| {
                let mut x = row(r).to_vec();
                self.solve(&mut x);
                x
            })
            .collect();
        // (G A⁻¹ Gᵀ) μ = G δu − what is wanted of it.
        let mut m: Vec<Recorded> = Vec::with_capacity(count * count);
        let mut mu: Vec<Recorded> = Vec::with_capacity(count);
        for r in 0..count {
            Recorded::enter(Part::Constraint, r);
            m.extend(responses.iter().map(|x| times(r, x)));
            let error = s.position_error.get(r).map_or(Recorded::zero(), |e| *e * CORRECTED / h);
            mu.push(times(r, &du) + h * s.bias[r] + s.speed_error[r] + error);
            let k = r * count + r;
            m[k] = m[k] * (1.0 + REDUNDANT);
        }
        for k in 0..count {
            Recorded::enter(Part::Constraint, k);
            let inverse = m[k * count + k].recip();
            for i in (k + 1..count).filter(|&i| m[i * count + k] != Recorded::zero()).collect::<Vec<_>>() {
                let factor = m[i * count + k] * inverse;
                for j in k + 1..count {
                    m[i * count + j] = m[i * count + j] - factor * m[k * count + j];
                }
                mu[i] = mu[i] - factor * mu[k];
            }
        }
        for k in (0..count).rev() {
            let sum = (k + 1..count).fold(mu[k], |sum, j| sum - m[k * count + j] * mu[j]);
            mu[k] = sum / m[k * count + k];
        }
        for (response, mu) in responses.iter().zip(mu) {
            for (du, x) in du.iter_mut().zip(response) {
                *du -= *x * mu;
            }
        }
        du
    }
}

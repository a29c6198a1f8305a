//! Implicit equations for a prescribed motion (Dembia et al. 2020, eq. 2).
//!
//! With q, u, u̇ known at a time, lengths and speeds of paths, the generalized force of a unit tension along each
//! (its arms r), that of a unit control of every other actuator, the constraint Jacobian G, and
//!
//!   τ₀ = M u̇ + c − (all forces without controls or states)
//!
//! are known. The remaining equations depend only on muscles and actuators:
//!
//!   τ₀ − Σ rᵢ Tᵢ(e, z, ż) − Σ cⱼ eⱼ + Gᵀ λ = 0                n rows      force balance
//!   force balance of each muscle, ż − rate of others          nz rows     in the order of z
//!
//! The first rows are linear in tensions, controls and multipliers. A muscle depends only on its own few variables, so
//! its second derivatives are computed by one jet over them.

mod joint_load;

pub use joint_load::{JointLoad, JointLoadPoint, Reaction};

use super::pattern::Pattern;
use super::{ImplicitSystem, path_law};
use crate::force::Kernel;
use crate::kinematics::Loads;
use crate::multibody::{TreeKinematics, compute_generalized_forces, compute_inverse_dynamics};
use crate::muscle::CompiledMuscle;
use crate::system::{Actor, Along, State, System, Workspace};
use soleus_math::{Jet, Real, SpatialVec};

/// Most variables of one muscle: excitation, states and their rates.
const MOST: usize = 7;

/// Structure of the equations of a system with prescribed motion.
///
/// Variables are v = (z, ż, e, λ), rows those of the force balance, then those of z.
#[derive(Clone, Debug)]
pub struct GivenMotion {
    n: usize,
    nz: usize,
    controls: usize,
    multipliers: usize,
    /// Forces along paths that depend on controls or states.
    laws: Vec<Law>,
    /// Forces that are linear in a control or an activation.
    columns: Vec<Column>,
    /// States that nothing feels: their rates follow from the motion.
    passive: Vec<usize>,
    /// (mobility, multiplier) places of Gᵀ.
    reactions: Vec<(usize, usize)>,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

/// One force along a path.
#[derive(Clone, Debug)]
struct Law {
    force: usize,
    /// Mobilities that feel it.
    mobilities: Vec<usize>,
    /// Its variables among v: control (if any), states, rates.
    variables: Vec<usize>,
    /// Whether the first variable is a control.
    controlled: bool,
    states: std::ops::Range<usize>,
    /// Variables of its own that the tension depends on.
    tension: Vec<usize>,
    /// The same for each residual.
    residuals: Vec<Vec<usize>>,
    /// Pairs of its own variables, first not below second, that meet in a nonlinear term.
    pairs: Vec<(usize, usize)>,
}

/// A generalized force proportional to one variable.
#[derive(Clone, Debug)]
struct Column {
    force: usize,
    /// Which control of the force; that of an activation actuator drives its state.
    control: usize,
    variable: usize,
    mobilities: Vec<usize>,
    /// For an activation actuator: state, control among v, and time constant, s.
    lag: Option<(usize, usize, f64)>,
}

/// Coefficients of the equations at one time of a prescribed motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionPoint {
    /// τ₀, N m or N.
    required: Vec<f64>,
    /// Length, m, and lengthening speed, m/s, of each law's path.
    paths: Vec<[f64; 2]>,
    /// Arms of all laws, one after another.
    arms: Vec<f64>,
    /// Generalized forces of all columns, one after another.
    columns: Vec<f64>,
    /// Rates of states that nothing feels.
    rates: Vec<f64>,
    /// G at the places of the reactions.
    reactions: Vec<f64>,
}

/// Whose loads are looked at.
enum Share {
    /// Motion, gravity and all forces without controls or states.
    Motion,
    /// A unit tension of a law.
    Law(usize),
    /// A unit of a column's variable.
    Column(usize),
}

/// Sees, for each share, wrenches by node: what the joints carry for the motion, and for a unit of the others the sum of loads on
/// the node and all bodies beyond, about the node's origin.
type Seen<'a> = &'a mut dyn FnMut(&TreeKinematics<f64>, Share, &[SpatialVec<f64>]);

impl ImplicitSystem<'_> {
    /// The equations for a prescribed motion.
    pub fn given_motion(&self) -> GivenMotion {
        GivenMotion::find(&self.system, &self.pattern)
    }
}

impl GivenMotion {
    fn find(s: &System, pattern: &Pattern) -> GivenMotion {
        let (n, nz) = (s.tree.num_mobilities, s.num_aux);
        let (rates, controls) = (nz, 2 * nz);
        let mut g = GivenMotion {
            n,
            nz,
            controls: s.num_controls,
            multipliers: s.constraints.num_rows(),
            laws: Vec::new(),
            columns: Vec::new(),
            passive: Vec::new(),
            reactions: Vec::new(),
            jacobian_places: Vec::new(),
            hessian_places: Vec::new(),
        };
        for (i, f) in s.forces.iter().enumerate() {
            let active = !f.controls.is_empty() || !f.states.is_empty();
            match &f.actor {
                _ if !f.enabled => g.passive.extend(f.states.clone()),
                _ if f.path.is_some() => {
                    if active {
                        let mobilities = pattern.path[i].clone();
                        let mut variables: Vec<usize> =
                            f.controls.clone().take(1).map(|c| controls + c).collect();
                        let controlled = !variables.is_empty();
                        variables.extend(f.states.clone());
                        variables.extend(f.states.clone().map(|k| rates + k));
                        let (tension, residuals) = dependence(&f.actor, controlled, f.states.len());
                        let states = f.states.clone();
                        let pairs = pairs(&f.actor, &tension, &residuals, controlled, f.states.len());
                        g.laws.push(Law {
                            force: i,
                            mobilities,
                            variables,
                            controlled,
                            states,
                            tension,
                            residuals,
                            pairs,
                        });
                    }
                }
                Actor::Muscle(_) => g.passive.extend(f.states.clone()),
                Actor::Force(c) => {
                    let felt = |control: usize| -> Vec<usize> {
                        let du = &pattern.du;
                        let column = f.controls.start + control;
                        let rows = &du.row[du.start[column]..du.start[column + 1]];
                        rows.iter().filter(|&&r| (n..2 * n).contains(&r)).map(|&r| r - n).collect()
                    };
                    if let Kernel::ActivationCoordinateActuator(a) = c.kernel() {
                        let (state, control) = (f.states.start, controls + f.controls.start);
                        g.columns.push(Column {
                            force: i,
                            control: 0,
                            variable: state,
                            mobilities: vec![a.mobility],
                            lag: Some((state, control, a.time_constant)),
                        });
                    } else {
                        for k in 0..f.controls.len() {
                            g.columns.push(Column {
                                force: i,
                                control: k,
                                variable: controls + f.controls.start + k,
                                mobilities: felt(k),
                                lag: None,
                            });
                        }
                        g.passive.extend(f.states.clone());
                    }
                }
            }
        }
        let dl = &pattern.dlambda;
        for c in 0..dl.columns {
            let rows = dl.row[dl.start[c]..dl.start[c + 1]].iter();
            g.reactions.extend(rows.filter(|&&r| (n..2 * n).contains(&r)).map(|&r| (r - n, c)));
        }
        g.find_places();
        g
    }

    /// The same without the moments of paths over several wrap objects about joints that move the whole path
    /// ([`System::unbalanced_about`]).
    pub fn with_balanced_paths(mut self, s: &System) -> GivenMotion {
        for l in &mut self.laws {
            let unbalanced = s.unbalanced_about(l.force);
            l.mobilities.retain(|m| !unbalanced.contains(m));
        }
        self.find_places();
        self
    }

    fn find_places(&mut self) {
        let (n, rates, lambda) = (self.n, self.nz, 2 * self.nz + self.controls);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for l in &self.laws {
            for &m in &l.mobilities {
                first.extend(l.tension.iter().map(|&k| (m, l.variables[k])));
            }
            for (r, list) in l.residuals.iter().enumerate() {
                first.extend(list.iter().map(|&k| (n + l.states.start + r, l.variables[k])));
            }
            for &(i, j) in &l.pairs {
                let (a, b) = (l.variables[i], l.variables[j]);
                second.push((a.max(b), a.min(b)));
            }
        }
        for c in &self.columns {
            first.extend(c.mobilities.iter().map(|&m| (m, c.variable)));
            if let Some((state, control, _)) = c.lag {
                first.extend([(n + state, state), (n + state, rates + state), (n + state, control)]);
            }
        }
        first.extend(self.passive.iter().map(|&k| (n + k, rates + k)));
        first.extend(self.reactions.iter().map(|&(m, r)| (m, lambda + r)));
        self.jacobian_places = first;
        self.hessian_places = second;
    }

    /// Number of variables v = (z, ż, e, λ).
    pub fn num_variables(&self) -> usize {
        2 * self.nz + self.controls + self.multipliers
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.n + self.nz
    }

    /// Positions (row, variable) of the Jacobian.
    pub fn jacobian_places(&self) -> &[(usize, usize)] {
        &self.jacobian_places
    }

    /// Positions (i, j), i ≥ j, of the Hessian of yᵀ f.
    pub fn hessian_places(&self) -> &[(usize, usize)] {
        &self.hessian_places
    }

    /// The coefficients at a state (time, q, u; z is ignored) with accelerations `udot`.
    pub fn point(&self, s: &System, x: &State<f64>, udot: &[f64], ws: &mut Workspace<f64>) -> MotionPoint {
        self.point_with(s, x, udot, ws, &mut |_, _, _| {})
    }

    /// The same for somebody who wants to see loads on bodies.
    fn point_with(
        &self,
        s: &System,
        x: &State<f64>,
        udot: &[f64],
        ws: &mut Workspace<f64>,
        seen: Seen<'_>,
    ) -> MotionPoint {
        let n = self.n;
        s.compute_kinematics(x, ws);
        s.compute_paths(x, ws);
        s.constraints.compute(&s.tree, &ws.kin, x.time, &mut ws.constraints);
        let mut p = MotionPoint { rates: vec![0.0; self.nz], ..MotionPoint::default() };

        // Forces without controls, and all others at no control.
        s.compute_gravity(&ws.kin, &mut ws.body_load);
        ws.mobility_load.fill(0.0);
        let kin = ws.kin.view(x.time);
        let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
        let zeros = vec![0.0; self.controls.max(self.nz)];
        for (i, f) in s.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            let Actor::Force(c) = &f.actor else { continue };
            match &f.path {
                Some(path) if f.controls.is_empty() && f.states.is_empty() => {
                    let st = &ws.paths[i];
                    let tension = path_law(&f.actor, [st.length(), st.speed(), 0.0], &[], &[], &mut []);
                    path.apply_tension(&kin, st, tension, &mut loads);
                }
                Some(_) => {}
                None => {
                    let (e, z) = (&zeros[..f.controls.len()], &zeros[..f.states.len()]);
                    c.apply(&kin, e, z, &mut p.rates[f.states.clone()], &mut loads);
                }
            }
        }
        let mut tau = vec![0.0; n];
        let nb = s.tree.nodes.len();
        let (mut A, mut F) = (vec![SpatialVec::zero(); nb], vec![SpatialVec::zero(); nb]);
        compute_inverse_dynamics(&s.tree, &ws.kin, udot, &ws.body_load, &mut A, &mut F, &mut tau);
        seen(&ws.kin, Share::Motion, &F);
        tau.iter_mut().zip(&ws.mobility_load).for_each(|(t, m)| *t -= m);
        p.required = tau;

        // What a unit of tension, control or activation does.
        let (mut body, mut force) = (F, vec![0.0; n]);
        for (i, l) in self.laws.iter().enumerate() {
            let (f, st) = (&s.forces[l.force], &ws.paths[l.force]);
            p.paths.push([st.length(), st.speed()]);
            body.fill(SpatialVec::zero());
            force.fill(0.0);
            if let Some(path) = &f.path {
                let mut loads = Loads { body: &mut body, mobility: &mut force };
                path.apply_tension(&kin, st, 1.0, &mut loads);
            }
            compute_generalized_forces(&s.tree, &ws.kin, &mut body, &mut force);
            seen(&ws.kin, Share::Law(i), &body);
            p.arms.extend(l.mobilities.iter().map(|&m| force[m]));
        }
        let mut unit = zeros;
        for (i, c) in self.columns.iter().enumerate() {
            let f = &s.forces[c.force];
            let Actor::Force(actor) = &f.actor else { continue };
            body.fill(SpatialVec::zero());
            force.fill(0.0);
            unit[c.control] = 1.0;
            let (e, z) = (&unit[..f.controls.len()], &unit[..f.states.len()]);
            let mut rate = [0.0];
            let mut loads = Loads { body: &mut body, mobility: &mut force };
            actor.apply(&kin, e, z, &mut rate[..f.states.len()], &mut loads);
            unit[c.control] = 0.0;
            compute_generalized_forces(&s.tree, &ws.kin, &mut body, &mut force);
            seen(&ws.kin, Share::Column(i), &body);
            p.columns.extend(c.mobilities.iter().map(|&m| force[m]));
        }
        p.reactions = self.reactions.iter().map(|&(m, r)| ws.constraints.G[r * n + m]).collect();
        p
    }

    /// The residual at variables v.
    pub fn compute_residual(&self, s: &System, p: &MotionPoint, v: &[f64], r: &mut [f64]) {
        let (balance, own) = r.split_at_mut(self.n);
        balance.copy_from_slice(&p.required);
        let mut at = 0;
        for (l, &path) in self.laws.iter().zip(&p.paths) {
            let tension = l.evaluate(s, path, v, |x, _| x, &mut own[l.states.clone()]);
            for &m in &l.mobilities {
                balance[m] -= p.arms[at] * tension;
                at += 1;
            }
        }
        at = 0;
        for c in &self.columns {
            for &m in &c.mobilities {
                balance[m] -= p.columns[at] * v[c.variable];
                at += 1;
            }
            if let Some((state, control, constant)) = c.lag {
                own[state] = v[self.nz + state] - (v[control] - v[state]) / constant;
            }
        }
        for &k in &self.passive {
            own[k] = v[self.nz + k] - p.rates[k];
        }
        let lambda = &v[2 * self.nz + self.controls..];
        for (&(m, row), g) in self.reactions.iter().zip(&p.reactions) {
            balance[m] += g * lambda[row];
        }
    }

    /// The Jacobian, in the order of its positions.
    pub fn compute_jacobian(&self, s: &System, p: &MotionPoint, v: &[f64], values: &mut [f64]) {
        let (mut out, mut at) = (values.iter_mut(), 0);
        let mut put = |x: f64| {
            if let Some(v) = out.next() {
                *v = x;
            }
        };
        for (l, &path) in self.laws.iter().zip(&p.paths) {
            let (slopes, residuals) = l.slopes(s, path, v);
            for _ in &l.mobilities {
                l.tension.iter().for_each(|&k| put(-p.arms[at] * slopes[k]));
                at += 1;
            }
            for (list, d) in l.residuals.iter().zip(&residuals) {
                list.iter().for_each(|&k| put(d[k]));
            }
        }
        at = 0;
        for c in &self.columns {
            for _ in &c.mobilities {
                put(-p.columns[at]);
                at += 1;
            }
            if let Some((_, _, constant)) = c.lag {
                [1.0 / constant, 1.0, -1.0 / constant].into_iter().for_each(&mut put);
            }
        }
        self.passive.iter().for_each(|_| put(1.0));
        p.reactions.iter().for_each(|&g| put(g));
    }

    /// The Hessian of yᵀ f, in the order of its positions.
    pub fn compute_hessian(&self, s: &System, p: &MotionPoint, v: &[f64], y: &[f64], values: &mut [f64]) {
        let (mut out, mut at) = (values.iter_mut(), 0);
        for (l, &path) in self.laws.iter().zip(&p.paths) {
            let mut weight = 0.0;
            for &m in &l.mobilities {
                weight -= p.arms[at] * y[m];
                at += 1;
            }
            if l.pairs.is_empty() {
                continue;
            }
            let own = &y[self.n..][l.states.clone()];
            let put = |second: &dyn Fn(usize, usize) -> f64| {
                for &(i, j) in &l.pairs {
                    if let Some(v) = out.next() {
                        *v = second(i, j);
                    }
                }
            };
            l.second(s, Weighted { path, v, weight, y: own }, put);
        }
    }
}

/// Where the law of a path is differentiated twice, and how tension and residuals are weighted.
struct Weighted<'a> {
    /// Length and speed of the path.
    path: [f64; 2],
    /// The law's own variables.
    v: &'a [f64],
    /// Of the tension.
    weight: f64,
    /// Of the residuals.
    y: &'a [f64],
}

impl Law {
    /// Tension and residuals with the variables lifted by `lift(value, number)`.
    fn evaluate<T: Real>(
        &self,
        s: &System,
        [length, speed]: [f64; 2],
        v: &[f64],
        lift: impl Fn(f64, usize) -> T,
        r: &mut [T],
    ) -> T {
        let mut own = [T::zero(); MOST + 1];
        // Without a control the first place stays zero.
        let shift = usize::from(!self.controlled);
        for (k, &i) in self.variables.iter().enumerate() {
            own[k + shift] = lift(v[i], k);
        }
        let n = self.states.len();
        let (z, rates) = own[1..1 + 2 * n].split_at(n);
        path_law(&s.forces[self.force].actor, [T::cst(length), T::cst(speed), own[0]], z, rates, r)
    }

    /// Slopes of tension and residuals by the law's own variables.
    fn slopes(&self, s: &System, path: [f64; 2], v: &[f64]) -> ([f64; MOST], [[f64; MOST]; 3]) {
        let mut r = [Along::zero(); 3];
        let tension = self.evaluate(s, path, v, Along::variable, &mut r[..self.states.len()]);
        let own = |x: Along| std::array::from_fn(|i| x.d[i]);
        (own(tension), r.map(own))
    }

    /// Whether the tension is linear in activation, or a state itself.
    fn is_tension_linear(&self, s: &System) -> bool {
        let actor = &s.forces[self.force].actor;
        matches!(actor, Actor::Muscle(m) if matches!(**m, CompiledMuscle::DeGrooteFregly2016(_)))
    }

    /// Passes on the second derivatives of weight · tension + y · residuals, from the smallest jet that holds the variables.
    fn second(&self, s: &System, at: Weighted, put: impl FnOnce(&dyn Fn(usize, usize) -> f64)) {
        match self.variables.len() {
            0..=3 => self.curvature::<3, 6>(s, at, put),
            4..=5 => self.curvature::<5, 15>(s, at, put),
            _ => self.curvature::<MOST, 28>(s, at, put),
        }
    }

    /// The same from a jet of N variables.
    fn curvature<const N: usize, const H: usize>(
        &self,
        s: &System,
        Weighted { path, v, weight, y }: Weighted,
        put: impl FnOnce(&dyn Fn(usize, usize) -> f64),
    ) {
        let mut r = [Jet::<N, H>::zero(); 3];
        let n = self.states.len();
        let tension = self.evaluate(s, path, v, Jet::variable, &mut r[..n]);
        let mut sum = tension.h.map(|h| weight * h);
        for (r, y) in r[..n].iter().zip(y) {
            sum.iter_mut().zip(&r.h).for_each(|(s, h)| *s += y * h);
        }
        put(&|i, j| {
            let (i, j) = (i.max(j), i.min(j));
            sum[i * (i + 1) / 2 + j]
        });
    }
}

/// Which of a law's own variables (control, states, rates) its tension and each of its residuals depend on.
fn dependence(actor: &Actor, controlled: bool, states: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
    let all = usize::from(controlled) + 2 * states;
    let everything = || (0..all).collect::<Vec<usize>>();
    let Actor::Muscle(m) = actor else { return (everything(), vec![everything(); states]) };
    let first = usize::from(controlled);
    let Some(a) = m.state_names().iter().position(|&s| s == "activation") else {
        return (everything(), vec![everything(); states]);
    };
    // Excitation and the rate of activation act through the activation alone.
    let (activation, rate) = (first + a, first + states + a);
    let others: Vec<usize> = (first..all).filter(|&k| k != rate).collect();
    let residuals =
        (0..states).map(|k| if k == a { vec![0, activation, rate] } else { others.clone() }).collect();
    let tension = match &**m {
        // The tendon's force is a state of its own; without one, it follows from the activation.
        CompiledMuscle::DeGrooteFregly2016(_) if states == 2 => vec![first + 1 - a],
        CompiledMuscle::DeGrooteFregly2016(_) => vec![activation],
        _ => others,
    };
    (tension, residuals)
}

/// Pairs of variables that meet in a nonlinear term.
fn pairs(
    actor: &Actor,
    tension: &[usize],
    residuals: &[Vec<usize>],
    controlled: bool,
    states: usize,
) -> Vec<(usize, usize)> {
    let mut list = Vec::new();
    let mut meet = |set: &[usize]| {
        for &i in set {
            list.extend(set.iter().filter(|&&j| j <= i).map(|&j| (i, j)));
        }
    };
    let rate_of = |k: usize| usize::from(controlled) + states + k;
    let degroote = matches!(actor, Actor::Muscle(m) if matches!(**m, CompiledMuscle::DeGrooteFregly2016(_)));
    // The tension is linear in activation, or the state itself.
    if !degroote {
        meet(tension);
    }
    for (k, set) in residuals.iter().enumerate() {
        let activation = matches!(actor, Actor::Muscle(m) if m.state_names()[k] == "activation");
        // The rate of activation stands alone.
        let set: Vec<usize> = set.iter().copied().filter(|&i| !(activation && i == rate_of(k))).collect();
        meet(&set);
    }
    list.sort_unstable();
    list.dedup();
    list
}

//! Joint loads for a prescribed motion.
//!
//! With q, u, u̇ known at a time, moment and force R of a joint are linear in tensions, controls and multipliers:
//!
//!   R = R₀ − Σ bᵢ Tᵢ(z, ż) − Σ bⱼ vⱼ − Σ bₖ λₖ                six numbers, N m and N
//!
//! R₀ is the joint load without muscles and actuators; b is the load of a unit tension, control or multiplier on all
//! bodies distal to the joint, shifted to the point of R. Only forces on these bodies contribute.

use super::{GivenMotion, MotionPoint, Share, Weighted};
use crate::constraint::Station;
use crate::implicit::ImplicitSystem;
use crate::kinematics::{BodyFrame, Loads};
use crate::multibody::{TreeKinematics, compute_generalized_forces};
use crate::system::{Actor, State, System, Workspace};
use soleus_math::{Real, SpatialVec, Transform, Vec3};

/// The load that a joint exerts on one of its bodies, with its point and axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// Node of the tree whose joint it is.
    pub node: usize,
    /// 1 for the load on that node, −1 for that on its parent.
    pub sign: f64,
    /// Reference point.
    pub at: Station,
    /// Axes.
    pub axes: BodyFrame,
}

impl Reaction {
    /// Moment and force from the wrench that the joint exerts on the node, about the node's origin and in ground.
    pub fn express<T: Real>(&self, kin: &TreeKinematics<T>, wrench: SpatialVec<T>) -> [T; 6] {
        let wrench = wrench * T::cst(self.sign);
        let arm = kin.X_GB[self.at.body] * Vec3::cst(self.at.p_BS) - kin.X_GB[self.node].p;
        let R = (kin.X_GB[self.axes.body] * Transform::cst(self.axes.X_BF)).R;
        let [a, b, c] = R.inverse_mul(wrench.w - arm.cross(wrench.v)).to_array();
        let [d, e, f] = R.inverse_mul(wrench.v).to_array();
        [a, b, c, d, e, f]
    }
}

/// Moment and force of a joint as a function of v = (z, ż, e, λ), for a prescribed motion.
#[derive(Clone, Debug)]
pub struct JointLoad {
    equations: GivenMotion,
    reaction: Reaction,
    /// Laws that pull at bodies beyond the joint.
    laws: Vec<usize>,
    /// Columns that act on such bodies.
    columns: Vec<usize>,
    /// The variables among v that R depends on, rising.
    variables: Vec<usize>,
    /// Pairs of them, first not below second, that meet in a tension.
    pairs: Vec<(usize, usize)>,
}

/// Coefficients of R at one time of a prescribed motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointLoadPoint {
    motion: MotionPoint,
    /// R₀.
    required: [f64; 6],
    /// −b of the laws, the columns and the multipliers that count.
    laws: Vec<[f64; 6]>,
    columns: Vec<[f64; 6]>,
    multipliers: Vec<[f64; 6]>,
}

impl JointLoad {
    /// Finds the dependencies of the load of a joint.
    pub fn new(s: &System, reaction: Reaction) -> JointLoad {
        let equations = ImplicitSystem::new(s).given_motion();
        let mut beyond = vec![false; s.tree.nodes.len()];
        for i in reaction.node.max(1)..beyond.len() {
            beyond[i] = i == reaction.node || beyond[s.tree.nodes[i].parent];
        }
        let touches = |bodies: &[usize]| bodies.iter().any(|&b| beyond[b]);
        let pulls = |force: usize| s.forces[force].path.as_ref().is_some_and(|p| touches(&p.bodies()));
        let acts =
            |force: usize| matches!(&s.forces[force].actor, Actor::Force(c) if touches(&c.touches().0));
        let (l, c) = (&equations.laws, &equations.columns);
        let laws: Vec<usize> = (0..l.len()).filter(|&i| pulls(l[i].force)).collect();
        let columns: Vec<usize> = (0..c.len()).filter(|&i| acts(c[i].force)).collect();
        let lambda = 2 * equations.nz + equations.controls;
        let mut variables: Vec<usize> =
            laws.iter().flat_map(|&i| l[i].tension.iter().map(move |&k| l[i].variables[k])).collect();
        variables.extend(columns.iter().map(|&i| c[i].variable));
        variables.extend(lambda..lambda + equations.multipliers);
        variables.sort_unstable();
        variables.dedup();
        let place = |v: usize| variables.partition_point(|&x| x < v);
        let mut pairs = Vec::new();
        for law in laws.iter().map(|&i| &l[i]).filter(|law| !law.is_tension_linear(s)) {
            for &i in &law.tension {
                for &j in law.tension.iter().filter(|&&j| law.variables[j] <= law.variables[i]) {
                    pairs.push((place(law.variables[i]), place(law.variables[j])));
                }
            }
        }
        JointLoad { equations, reaction, laws, columns, variables, pairs }
    }

    /// The variables among v = (z, ż, e, λ) on which it depends, increasing.
    pub fn variables(&self) -> &[usize] {
        &self.variables
    }

    /// Number of variables v.
    pub fn num_variables(&self) -> usize {
        self.equations.num_variables()
    }

    /// Pairs of indices into [`variables`](Self::variables) whose mixed derivative may be nonzero, first not below
    /// second.
    pub fn pairs(&self) -> &[(usize, usize)] {
        &self.pairs
    }

    /// The coefficients at a state (time, q, u; z is ignored) with accelerations `udot`.
    pub fn point(&self, s: &System, x: &State<f64>, udot: &[f64], ws: &mut Workspace<f64>) -> JointLoadPoint {
        let (node, r) = (self.reaction.node, &self.reaction);
        let mut p = JointLoadPoint::default();
        p.motion = self.equations.point_with(s, x, udot, ws, &mut |kin, share, carried| match share {
            Share::Motion => p.required = r.express(kin, carried[node]),
            Share::Law(i) if self.laws.contains(&i) => p.laws.push(r.express(kin, -carried[node])),
            Share::Column(i) if self.columns.contains(&i) => p.columns.push(r.express(kin, -carried[node])),
            _ => {}
        });
        let mut lambda = vec![0.0; self.equations.multipliers];
        for i in 0..lambda.len() {
            let mut body = vec![SpatialVec::zero(); s.tree.nodes.len()];
            let mut force = vec![0.0; s.tree.num_mobilities];
            lambda[i] = 1.0;
            let mut loads = Loads { body: &mut body, mobility: &mut force };
            s.constraints.add_reactions(&s.tree, &ws.kin, &lambda, &mut loads);
            lambda[i] = 0.0;
            compute_generalized_forces(&s.tree, &ws.kin, &mut body, &mut force);
            p.multipliers.push(r.express(&ws.kin, -body[node]));
        }
        p
    }

    /// R at variables v.
    pub fn value(&self, s: &System, p: &JointLoadPoint, v: &[f64]) -> [f64; 6] {
        let mut sum = p.required;
        let mut add = |share: &[f64; 6], x: f64| sum.iter_mut().zip(share).for_each(|(r, b)| *r += b * x);
        for (&i, share) in self.laws.iter().zip(&p.laws) {
            let law = &self.equations.laws[i];
            let mut residuals = [0.0; 3];
            let own = &mut residuals[..law.states.len()];
            add(share, law.evaluate(s, p.motion.paths[i], v, |x, _| x, own));
        }
        for (&i, share) in self.columns.iter().zip(&p.columns) {
            add(share, v[self.equations.columns[i].variable]);
        }
        let lambda = &v[2 * self.equations.nz + self.equations.controls..];
        p.multipliers.iter().zip(lambda).for_each(|(share, &x)| add(share, x));
        sum
    }

    /// ∂R with respect to each of the variables.
    pub fn compute_slopes(&self, s: &System, p: &JointLoadPoint, v: &[f64], slopes: &mut [[f64; 6]]) {
        slopes.fill([0.0; 6]);
        let mut add = |variable: usize, share: &[f64; 6], slope: f64| {
            let own = &mut slopes[self.variables.partition_point(|&x| x < variable)];
            own.iter_mut().zip(share).for_each(|(d, b)| *d += b * slope);
        };
        for (&i, share) in self.laws.iter().zip(&p.laws) {
            let law = &self.equations.laws[i];
            let (tension, _) = law.slopes(s, p.motion.paths[i], v);
            law.tension.iter().for_each(|&k| add(law.variables[k], share, tension[k]));
        }
        for (&i, share) in self.columns.iter().zip(&p.columns) {
            add(self.equations.columns[i].variable, share, 1.0);
        }
        let lambda = 2 * self.equations.nz + self.equations.controls;
        p.multipliers.iter().enumerate().for_each(|(k, share)| add(lambda + k, share, 1.0));
    }

    /// ∂²(yᵀ R) in the order of the [`pairs`](Self::pairs).
    pub fn compute_curvature(
        &self,
        s: &System,
        p: &JointLoadPoint,
        v: &[f64],
        y: [f64; 6],
        values: &mut [f64],
    ) {
        let mut out = values.iter_mut();
        for (&i, share) in self.laws.iter().zip(&p.laws) {
            let law = &self.equations.laws[i];
            if law.is_tension_linear(s) {
                continue;
            }
            let weight = share.iter().zip(&y).map(|(b, y)| b * y).sum();
            let none = [0.0; 3];
            let at = Weighted { path: p.motion.paths[i], v, weight, y: &none[..law.states.len()] };
            law.second(s, at, |second| {
                for &i in &law.tension {
                    for &j in law.tension.iter().filter(|&&j| law.variables[j] <= law.variables[i]) {
                        if let Some(v) = out.next() {
                            *v = second(i, j);
                        }
                    }
                }
            });
        }
    }
}

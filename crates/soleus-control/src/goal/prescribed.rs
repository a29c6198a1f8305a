//! Goals for a model with prescribed motion: quantities that depend only on the motion are computed once.

use crate::function::{PointFunction, Scratch, places};
use crate::musculoskeletal::MotionPoints;
use crate::problem::{Goal, PointVariable, Term};
use soleus_dynamics::System;
use soleus_dynamics::implicit::{JointLoad, JointLoadPoint, Reaction};
use std::sync::Arc;

/// [`joint_reaction`](super::joint_reaction) for a problem whose coordinates and speeds are all prescribed.
///
/// The joint load is then linear in tensions, controls and multipliers. It depends only on the few muscles that cross
/// the joint, and its derivatives are products of numbers that are computed once for every time.
pub fn joint_reaction_of_motion(
    name: &str,
    weight: f64,
    system: &Arc<System>,
    reaction: Reaction,
    weights: [f64; 6],
    per: f64,
) -> Goal {
    let load = JointLoad::new(system, reaction);
    let (n, nz, ne) = (system.tree.num_mobilities, system.num_aux, system.num_controls);
    let mut inputs = vec![PointVariable::Time];
    inputs.extend((0..2 * n).map(PointVariable::State));
    inputs.extend((n..2 * n).map(PointVariable::Rate));
    let motion = inputs.len();
    inputs.extend(load.variables().iter().map(|&k| match k {
        k if k < nz => PointVariable::State(2 * n + k),
        k if k < 2 * nz => PointVariable::Rate(2 * n + k - nz),
        k if k < 2 * nz + ne => PointVariable::Control(k - 2 * nz),
        k => PointVariable::Multiplier(k - 2 * nz - ne),
    }));
    let own = motion..inputs.len();
    let function = SquaredLoad {
        system: system.clone(),
        load,
        weights,
        motion,
        jacobian_places: own.clone().map(|i| (0, i)).collect(),
        hessian_places: own.clone().flat_map(|i| (own.start..=i).map(move |j| (i, j))).collect(),
    };
    Goal::integral(name, weight / per, vec![Term { inputs, function: Arc::new(function) }])
}

/// Σ wₖ Rₖ² of t, q, u, u̇ and the variables of the load; the motion before them is known.
struct SquaredLoad {
    system: Arc<System>,
    load: JointLoad,
    weights: [f64; 6],
    /// Number of inputs that are time and motion.
    motion: usize,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

struct Memory {
    points: MotionPoints<JointLoadPoint>,
    v: Vec<f64>,
    slopes: Vec<[f64; 6]>,
    curvature: Vec<f64>,
}

impl SquaredLoad {
    /// R and 2 w R, with all variables and the point of the motion they belong to.
    fn prepare<'m>(
        &self,
        z: &[f64],
        points: &'m mut MotionPoints<JointLoadPoint>,
        v: &mut [f64],
    ) -> (&'m JointLoadPoint, [f64; 6]) {
        for (&k, &x) in self.load.variables().iter().zip(&z[self.motion..]) {
            v[k] = x;
        }
        let point = points
            .at(z[0], z[1..self.motion].iter(), |x, udot, ws| self.load.point(&self.system, x, udot, ws));
        (point, self.load.value(&self.system, point, v))
    }

    fn gradient(&self, r: [f64; 6]) -> [f64; 6] {
        std::array::from_fn(|k| 2.0 * self.weights[k] * r[k])
    }
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl PointFunction for SquaredLoad {
    fn num_inputs(&self) -> usize {
        self.motion + self.load.variables().len()
    }

    fn num_outputs(&self) -> usize {
        1
    }

    places!();

    fn scratch(&self) -> Scratch {
        Box::new(Memory {
            points: MotionPoints::new(&self.system),
            v: vec![0.0; self.load.num_variables()],
            slopes: vec![[0.0; 6]; self.load.variables().len()],
            curvature: vec![0.0; self.load.pairs().len()],
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (_, r) = self.prepare(z, &mut m.points, &mut m.v);
        values[0] = 0.5 * dot(&r, &self.gradient(r));
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (point, r) = self.prepare(z, &mut m.points, &mut m.v);
        let g = self.gradient(r);
        self.load.compute_slopes(&self.system, point, &m.v, &mut m.slopes);
        values.iter_mut().zip(&m.slopes).for_each(|(v, d)| *v = dot(&g, d));
    }

    /// ∂²φ = 2 Σ w ∂R ∂Rᵀ + Σ (2 w R) ∂²R.
    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (point, r) = self.prepare(z, &mut m.points, &mut m.v);
        let g = self.gradient(r);
        self.load.compute_slopes(&self.system, point, &m.v, &mut m.slopes);
        self.load.compute_curvature(&self.system, point, &m.v, g, &mut m.curvature);
        let mut out = values.iter_mut();
        for (i, a) in m.slopes.iter().enumerate() {
            let a = self.gradient(*a);
            out.by_ref().zip(&m.slopes[..=i]).for_each(|(v, b)| *v = y[0] * dot(&a, b));
        }
        for (&(i, j), c) in self.load.pairs().iter().zip(&m.curvature) {
            values[i * (i + 1) / 2 + j] += y[0] * c;
        }
    }
}

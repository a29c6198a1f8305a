//! Functions of the sum of contact forces, with structured derivatives.

use crate::function::{PointFunction, Scratch, places};
use crate::problem::{PointVariable, Term};
use soleus_dynamics::System;
use soleus_dynamics::implicit::{ReactionScratch, ReactionSum};
use soleus_math::{Jet, Real, Vec3, vec3};
use std::sync::Arc;

/// What becomes of a force at a time, or at a phase of the motion.
pub(crate) trait OfForce: Send + Sync + 'static {
    /// ψ(F, t); branches look at [`Real::value`] only.
    fn evaluate<T: Real>(&self, force: Vec3<T>, time: T) -> T;
}

/// ψ(F(q, u), t) as a term of an integrand; `time` is [`PointVariable::Time`] or [`PointVariable::Phase`].
///
/// `None` if a contact is no force that reads poses and velocities of bodies alone.
pub(crate) fn reaction_term(
    system: &Arc<System>,
    contacts: &[(usize, usize)],
    time: PointVariable,
    psi: impl OfForce,
) -> Option<Term> {
    let sum = ReactionSum::new(system, contacts)?;
    let n = system.tree.num_mobilities;
    let mut inputs = vec![time];
    inputs.extend(sum.mobilities().iter().map(|&m| PointVariable::State(m)));
    inputs.extend(sum.mobilities().iter().map(|&m| PointVariable::State(n + m)));
    let count = inputs.len();
    let function = OfReaction {
        system: system.clone(),
        sum,
        psi,
        jacobian_places: (0..count).map(|i| (0, i)).collect(),
        hessian_places: (0..count).flat_map(|i| (0..=i).map(move |j| (i, j))).collect(),
    };
    Some(Term { inputs, function: Arc::new(function) })
}

struct OfReaction<P> {
    system: Arc<System>,
    sum: ReactionSum,
    psi: P,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

struct Memory {
    reaction: ReactionScratch,
    q: Vec<f64>,
    u: Vec<f64>,
}

/// F and t.
type J4 = Jet<4, 10>;

impl<P: OfForce> OfReaction<P> {
    fn place(&self, z: &[f64], m: &mut Memory) {
        let (q, u) = z[1..].split_at(self.sum.mobilities().len());
        for ((&i, &q), &u) in self.sum.mobilities().iter().zip(q).zip(u) {
            (m.q[i], m.u[i]) = (q, u);
        }
    }

    fn jet(&self, force: Vec3<f64>, time: f64) -> J4 {
        let [x, y, z] = force.to_array();
        self.psi
            .evaluate(vec3(J4::variable(x, 0), J4::variable(y, 1), J4::variable(z, 2)), J4::variable(time, 3))
    }
}

impl<P: OfForce> PointFunction for OfReaction<P> {
    fn num_inputs(&self) -> usize {
        1 + 2 * self.sum.mobilities().len()
    }

    fn num_outputs(&self) -> usize {
        1
    }

    places!();

    fn scratch(&self) -> Scratch {
        let x = self.system.default_state.clone();
        Box::new(Memory { reaction: self.sum.scratch(&self.system), q: x.q, u: x.u })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.place(z, m);
        self.sum.compute_value(&self.system, &m.q, &m.u, &mut m.reaction);
        values[0] = self.psi.evaluate(m.reaction.value, z[0]);
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.place(z, m);
        self.sum.compute_first(&self.system, &m.q, &m.u, &mut m.reaction);
        let psi = self.jet(m.reaction.value, z[0]);
        values[0] = psi.g[3];
        for (v, d) in values[1..].iter_mut().zip(&m.reaction.first) {
            *v = psi.g[0] * d.x + psi.g[1] * d.y + psi.g[2] * d.z;
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.place(z, m);
        self.sum.compute_first(&self.system, &m.q, &m.u, &mut m.reaction);
        let psi = self.jet(m.reaction.value, z[0]);
        self.sum.compute_second(&self.system, vec3(psi.g[0], psi.g[1], psi.g[2]), &mut m.reaction);
        let r = &m.reaction;
        let n = r.first.len();
        // ∇²(ψ∘F) = (∂F)ᵀ ∇²ψ ∂F + Σ ∂ψ/∂F_c ∇²F_c.
        let times =
            |d: Vec3<f64>, c: usize| psi.second(c, 0) * d.x + psi.second(c, 1) * d.y + psi.second(c, 2) * d.z;
        for (v, &(i, j)) in values.iter_mut().zip(&self.hessian_places) {
            let h = match (i, j) {
                (0, _) => psi.second(3, 3),
                (i, 0) => times(r.first[i - 1], 3),
                (i, j) => {
                    let (a, d) = (r.first[i - 1], r.first[j - 1]);
                    a.x * times(d, 0) + a.y * times(d, 1) + a.z * times(d, 2) + r.second[(i - 1) * n + j - 1]
                }
            };
            *v = y[0] * h;
        }
    }
}

/// F(q, u) itself: three numbers.
struct ContactForce {
    system: Arc<System>,
    sum: ReactionSum,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

/// The sum of contact forces, each as it acts on a body, with the variables that it depends on.
///
/// `None` if a contact is no force that reads poses and velocities of bodies alone.
pub(crate) fn contact_force(
    system: &Arc<System>,
    contacts: &[(usize, usize)],
) -> Option<(Vec<PointVariable>, Arc<dyn PointFunction>)> {
    let sum = ReactionSum::new(system, contacts)?;
    let n = system.tree.num_mobilities;
    let values = sum.mobilities().iter().map(|&m| PointVariable::State(m));
    let inputs: Vec<_> =
        values.chain(sum.mobilities().iter().map(|&m| PointVariable::State(n + m))).collect();
    let count = inputs.len();
    let function = ContactForce {
        system: system.clone(),
        sum,
        jacobian_places: (0..3).flat_map(|o| (0..count).map(move |i| (o, i))).collect(),
        hessian_places: (0..count).flat_map(|i| (0..=i).map(move |j| (i, j))).collect(),
    };
    Some((inputs, Arc::new(function)))
}

impl ContactForce {
    fn place(&self, z: &[f64], m: &mut Memory) {
        let (q, u) = z.split_at(self.sum.mobilities().len());
        for ((&i, &q), &u) in self.sum.mobilities().iter().zip(q).zip(u) {
            (m.q[i], m.u[i]) = (q, u);
        }
    }
}

impl PointFunction for ContactForce {
    fn num_inputs(&self) -> usize {
        2 * self.sum.mobilities().len()
    }

    fn num_outputs(&self) -> usize {
        3
    }

    places!();

    fn scratch(&self) -> Scratch {
        let x = self.system.default_state.clone();
        Box::new(Memory { reaction: self.sum.scratch(&self.system), q: x.q, u: x.u })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.place(z, m);
        self.sum.compute_value(&self.system, &m.q, &m.u, &mut m.reaction);
        values.copy_from_slice(&m.reaction.value.to_array());
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.place(z, m);
        self.sum.compute_first(&self.system, &m.q, &m.u, &mut m.reaction);
        let count = m.reaction.first.len();
        for (i, d) in m.reaction.first.iter().enumerate() {
            d.to_array().into_iter().enumerate().for_each(|(o, d)| values[o * count + i] = d);
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        self.place(z, m);
        self.sum.compute_first(&self.system, &m.q, &m.u, &mut m.reaction);
        self.sum.compute_second(&self.system, vec3(y[0], y[1], y[2]), &mut m.reaction);
        let n = m.reaction.first.len();
        for (v, &(i, j)) in values.iter_mut().zip(&self.hessian_places) {
            *v = m.reaction.second[i * n + j];
        }
    }
}

//! Squared metabolic rate of a muscle, as in the predicted gaits of Falisse et al. (2019).

use crate::function::{PointFunction, Scratch, places};
use crate::problem::{PointVariable, Term};
use soleus_dynamics::System;
use soleus_dynamics::metabolics::MuscleAtWork;
use soleus_dynamics::metabolics::bhargava2004_smooth::SmoothBhargava2004;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_dynamics::muscle::degroote2016::DeGroote2016;
use soleus_dynamics::path::CompiledPath;
use soleus_dynamics::system::Actor;
use soleus_math::{Dual, Function, Jet, Real};
use std::sync::Arc;

/// Ė(a, F̃, dF̃/dt, L(q), L̇(q, u))² of a muscle whose length is a function of coordinates. Inputs: q, u, a, F̃, dF̃/dt.
///
/// The law is a jet over its five inputs; length and speed bring it to coordinates by their own derivatives, those of L̇ = ∂L·u being
/// derivatives of ∂L and ∂²L along u.
struct SquaredRate {
    length: Function,
    coordinates: usize,
    contraction: DeGroote2016,
    energy: SmoothBhargava2004,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
}

/// Room for derivatives of the length along the speeds.
struct Memory {
    x: Vec<Dual<f64, 1>>,
    gradient: Vec<Dual<f64, 1>>,
    hessian: Vec<Dual<f64, 1>>,
    slopes: Vec<f64>,
}

impl Memory {
    fn new(k: usize) -> Memory {
        let zero = vec![Dual::zero(); k];
        Memory { x: zero.clone(), gradient: zero, hessian: vec![Dual::zero(); k * k], slopes: vec![0.0; k] }
    }
}

/// Variables of the law: activation, tendon force, its rate, length, speed.
const LAW: usize = 5;
const PAIRS: usize = 15;
const LENGTH: usize = 3;
const SPEED: usize = 4;

impl SquaredRate {
    fn new(
        length: Function,
        coordinates: usize,
        contraction: DeGroote2016,
        energy: SmoothBhargava2004,
    ) -> SquaredRate {
        let n = 2 * coordinates + 3;
        let jacobian_places = (0..n).map(|i| (0, i)).collect();
        let hessian_places = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        SquaredRate { length, coordinates, contraction, energy, jacobian_places, hessian_places }
    }

    fn law<T: Real>(&self, [a, f, rate, length, speed]: [T; LAW]) -> T {
        let b = self.contraction.balance(a, f, rate, length, speed);
        let work = MuscleAtWork {
            excitation: a,
            activation: a,
            active_fiber_force: b.active_force,
            passive_fiber_force: b.passive_force,
            fiber_velocity: b.fiber_velocity,
            normalized_fiber_length: b.normalized_fiber_length,
            active_force_length_multiplier: b.active_force_length,
        };
        self.energy.rates(&work).total.sq()
    }

    /// Length and speed, with gradient and Hessian of the length along the speeds.
    fn path(&self, z: &[f64], m: &mut Memory) -> [f64; 2] {
        let k = self.coordinates;
        for i in 0..k {
            m.x[i] = Dual::new(z[i], [z[k + i]]);
        }
        let l = self.length.eval_n(&m.x, &mut m.gradient, &mut m.hessian);
        [l.v, l.d[0]]
    }
}

impl PointFunction for SquaredRate {
    fn num_inputs(&self) -> usize {
        2 * self.coordinates + 3
    }

    fn num_outputs(&self) -> usize {
        1
    }

    places!();

    fn scratch(&self) -> Scratch {
        Box::new(Memory::new(self.coordinates))
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let k = self.coordinates;
        let l = self.length.gradient(&z[..k], &mut m.slopes);
        let v = m.slopes.iter().zip(&z[k..]).map(|(g, u)| g * u).sum();
        let [a, f, rate] = [0, 1, 2].map(|i| z[2 * k + i]);
        values[0] = self.law([a, f, rate, l, v]);
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let k = self.coordinates;
        let [l, v] = self.path(z, m);
        let inputs = [z[2 * k], z[2 * k + 1], z[2 * k + 2], l, v];
        let phi = self.law::<Dual<f64, LAW>>(std::array::from_fn(|i| Dual::variable(inputs[i], i)));
        for i in 0..k {
            values[i] = phi.d[LENGTH] * m.gradient[i].v + phi.d[SPEED] * m.gradient[i].d[0];
            values[k + i] = phi.d[SPEED] * m.gradient[i].v;
        }
        values[2 * k..].copy_from_slice(&phi.d[..3]);
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let k = self.coordinates;
        let [l, v] = self.path(z, m);
        let inputs = [z[2 * k], z[2 * k + 1], z[2 * k + 2], l, v];
        let phi = self.law::<Jet<LAW, PAIRS>>(std::array::from_fn(|i| Jet::variable(inputs[i], i)));
        // Slopes of length and speed by each input, and what is left of their second derivatives.
        let slopes = |i: usize| match i {
            i if i < k => [m.gradient[i].v, m.gradient[i].d[0]],
            i => [0.0, m.gradient[i - k].v],
        };
        let mut at = 0;
        for i in 0..2 * k + 3 {
            for j in 0..=i {
                let value = if j >= 2 * k {
                    phi.second(i - 2 * k, j - 2 * k)
                } else if i >= 2 * k {
                    let [dl, dv] = slopes(j);
                    phi.second(LENGTH, i - 2 * k) * dl + phi.second(SPEED, i - 2 * k) * dv
                } else {
                    let ([li, vi], [lj, vj]) = (slopes(i), slopes(j));
                    let mut sum = phi.second(LENGTH, LENGTH) * li * lj
                        + phi.second(LENGTH, SPEED) * (li * vj + vi * lj)
                        + phi.second(SPEED, SPEED) * vi * vj;
                    if i < k {
                        let h = m.hessian[i * k + j];
                        sum += phi.g[LENGTH] * h.v + phi.g[SPEED] * h.d[0];
                    } else if j < k {
                        sum += phi.g[SPEED] * m.hessian[(i - k) * k + j].v;
                    }
                    sum
                };
                values[at] = y[0] * value;
                at += 1;
            }
        }
    }
}

/// Ė² of a force of the system: a `DeGroote2016Muscle` on a function-based path. `None` for other forces.
pub fn squared_metabolic_rate(
    system: &System,
    force: usize,
    length: &Function,
    energy: SmoothBhargava2004,
) -> Option<Term> {
    let f = &system.forces[force];
    let (Actor::Muscle(muscle), Some(CompiledPath::Function(path))) = (&f.actor, &f.path) else {
        return None;
    };
    let CompiledMuscle::DeGroote2016(muscle) = &**muscle else { return None };
    let (n, list) = (system.tree.num_mobilities, path.mobilities());
    let z = 2 * n + f.states.start;
    let mut inputs: Vec<PointVariable> = list.iter().map(|&m| PointVariable::State(m)).collect();
    inputs.extend(list.iter().map(|&m| PointVariable::State(n + m)));
    inputs.extend([PointVariable::State(z), PointVariable::State(z + 1), PointVariable::Rate(z + 1)]);
    let function = SquaredRate::new(length.clone(), list.len(), muscle.contraction, energy);
    Some(Term { inputs, function: Arc::new(function) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::function::MultivariatePolynomial;

    fn muscle() -> SquaredRate {
        // A length of three coordinates with all terms up to the third order.
        let coefficients: Vec<f64> = (0..20).map(|i| 0.01 * (f64::from(i) * 1.7).sin()).collect();
        let length = MultivariatePolynomial::new(3, 3, coefficients).expect("20 coefficients");
        let contraction = DeGroote2016 {
            max_isometric_force: 1500.0,
            optimal_fiber_length: 0.06,
            tendon_slack_length: 0.25,
            pennation_angle: 0.3,
            max_contraction_velocity: 10.0,
            damping: 0.01,
            tendon_stiffness: 35.0,
        };
        let energy =
            SmoothBhargava2004 { mass: 0.4, slow_twitch: 0.6, max_isometric_force: 1500.0, smoothing: 10.0 };
        SquaredRate::new(length.into(), 3, contraction, energy)
    }

    /// First derivatives against central differences of values, second ones against those of first ones.
    #[test]
    fn deriv_squared_metabolic_rate() {
        let f = muscle();
        let mut s = f.scratch();
        // The length is near 0.31 m there: fibers near their optimal length.
        let mut z = vec![0.3, -0.2, 0.4, 1.1, -0.7, 0.9, 0.4, 0.3, 1.2];
        let [l, _] = f.path(&z, &mut Memory::new(3));
        let f = SquaredRate {
            contraction: DeGroote2016 { tendon_slack_length: l - 0.055, ..f.contraction },
            ..f
        };
        let n = z.len();
        let (mut jacobian, mut hessian) = (vec![0.0; n], vec![0.0; n * (n + 1) / 2]);
        f.compute_jacobian(&z, &mut jacobian, &mut s);
        f.compute_hessian(&z, &[1.0], &mut hessian, &mut s);
        for i in 0..n {
            // Central difference: truncation ~h², roundoff ~ε/h, near 1e-9 of the larger values.
            let h = 1e-5 * z[i].abs().max(0.1);
            let mut ends = [[0.0; 1]; 2];
            let mut slopes = [vec![0.0; n], vec![0.0; n]];
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                let before = z[i];
                z[i] += sign * h;
                f.compute_values(&z, &mut ends[side], &mut s);
                f.compute_jacobian(&z, &mut slopes[side], &mut s);
                z[i] = before;
            }
            let fd = (ends[0][0] - ends[1][0]) / (2.0 * h);
            let size = jacobian.iter().fold(1.0f64, |a, b| a.max(b.abs()));
            assert!((fd - jacobian[i]).abs() < 1e-6 * size, "{i}: {} {fd}", jacobian[i]);
            for j in 0..=i {
                let fd = (slopes[0][j] - slopes[1][j]) / (2.0 * h);
                let value = hessian[i * (i + 1) / 2 + j];
                let size = hessian.iter().fold(1.0f64, |a, b| a.max(b.abs()));
                assert!((fd - value).abs() < 1e-6 * size, "{i}, {j}: {value} {fd}");
            }
        }
    }
}

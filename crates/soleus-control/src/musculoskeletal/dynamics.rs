//! The dynamics of a model, with the exact derivatives of its implicit form.

use crate::function::{PointFunction, Scratch};
use soleus_dynamics::implicit::{
    HessianWorkspace, ImplicitHessian, ImplicitJacobian, ImplicitStructure, ImplicitSystem, JacobianWorkspace,
};
use soleus_dynamics::{State, System, Workspace};
use std::sync::Arc;

/// A parameter that the equations are linear in: the same model at two of its values.
#[derive(Clone)]
pub struct ParameterRange {
    /// Value in the base system.
    pub base: f64,
    /// Another value, and the system with it.
    pub other: f64,
    /// The model with the other value.
    pub system: Arc<System>,
}

/// f(t, x, ẋ, e, λ, p) of a model.
///
/// Parameters enter linearly: with the system f₀ at p = a and fᵢ at pᵢ = bᵢ,
///
///   f = f₀ + Σ sᵢ (fᵢ − f₀),   sᵢ = (pᵢ − aᵢ)/(bᵢ − aᵢ)
///
/// which is exact for masses, stiffnesses, optimal forces and all else that scales a force.
pub struct SystemDynamics {
    systems: Vec<Arc<System>>,
    ranges: Vec<[f64; 2]>,
    structure: ImplicitStructure,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
    num_states: usize,
    num_controls: usize,
    num_multipliers: usize,
    /// Number of Jacobian and Hessian places by t, x, ẋ, e, λ alone.
    plain: [usize; 2],
}

struct Memory {
    ws: Workspace<f64>,
    x: State<f64>,
    jacobian: ImplicitJacobian,
    jw: JacobianWorkspace,
    hessian: ImplicitHessian,
    hw: HessianWorkspace,
    r: Vec<f64>,
    base: Vec<f64>,
}

impl SystemDynamics {
    /// The dynamics of `system`, with parameters it is linear in.
    pub fn new(system: Arc<System>, parameters: &[ParameterRange]) -> SystemDynamics {
        let implicit = ImplicitSystem::new(&system);
        let (nx, ne, nl) = (implicit.num_states(), system.num_controls, implicit.num_multipliers());
        let j = implicit.jacobian();
        let mut jacobian_places = Vec::new();
        let mut offset = 1;
        for m in [&j.dx, &j.dxdot, &j.du, &j.dlambda] {
            for c in 0..m.columns {
                jacobian_places.extend(m.row[m.start[c]..m.start[c + 1]].iter().map(|&r| (r, offset + c)));
            }
            offset += m.columns;
        }
        let h = implicit.hessian().lower;
        let mut hessian_places = Vec::new();
        for c in 0..h.columns {
            hessian_places.extend(h.row[h.start[c]..h.start[c + 1]].iter().map(|&r| (1 + r, 1 + c)));
        }
        let plain = [jacobian_places.len(), hessian_places.len()];
        // A parameter may change every equation, and every slope.
        for i in 0..parameters.len() {
            jacobian_places.extend((0..nx + nl).map(|r| (r, offset + i)));
            hessian_places.extend((1..offset).map(|c| (offset + i, c)));
        }
        let structure = implicit.structure();
        let mut systems = vec![system];
        systems.extend(parameters.iter().map(|p| p.system.clone()));
        SystemDynamics {
            systems,
            ranges: parameters.iter().map(|p| [p.base, p.other]).collect(),
            structure,
            jacobian_places,
            hessian_places,
            num_states: nx,
            num_controls: ne,
            num_multipliers: nl,
            plain,
        }
    }

    /// Number of variables t, x, ẋ, e, λ.
    fn offset(&self) -> usize {
        1 + 2 * self.num_states + self.num_controls + self.num_multipliers
    }

    /// Share of each system in f.
    fn share(&self, z: &[f64], system: usize) -> f64 {
        let s = |i: usize| {
            let [a, b] = self.ranges[i];
            (z[self.offset() + i] - a) / (b - a)
        };
        match system {
            0 => 1.0 - (0..self.ranges.len()).map(s).sum::<f64>(),
            i => s(i - 1),
        }
    }

    /// States, rates, controls and multipliers in z.
    fn split<'a>(&self, z: &'a [f64], x: &mut State<f64>) -> (&'a [f64], &'a [f64], &'a [f64]) {
        let n = x.q.len();
        x.time = z[0];
        x.q.copy_from_slice(&z[1..1 + n]);
        x.u.copy_from_slice(&z[1 + n..1 + 2 * n]);
        x.z.copy_from_slice(&z[1 + 2 * n..1 + self.num_states]);
        let (xdot, rest) = z[1 + self.num_states..].split_at(self.num_states);
        let (e, rest) = rest.split_at(self.num_controls);
        (xdot, e, &rest[..self.num_multipliers])
    }
}

impl PointFunction for SystemDynamics {
    fn num_inputs(&self) -> usize {
        self.offset() + self.ranges.len()
    }

    fn num_outputs(&self) -> usize {
        self.num_states + self.num_multipliers
    }

    fn jacobian_places(&self) -> &[(usize, usize)] {
        &self.jacobian_places
    }

    fn hessian_places(&self) -> &[(usize, usize)] {
        &self.hessian_places
    }

    fn scratch(&self) -> Scratch {
        let system = &self.systems[0];
        let implicit = self.structure.system(system);
        Box::new(Memory {
            ws: system.workspace(),
            x: system.default_state.clone(),
            jacobian: implicit.jacobian(),
            jw: implicit.jacobian_workspace(),
            hessian: implicit.hessian(),
            hw: implicit.hessian_workspace(),
            r: vec![0.0; self.num_outputs()],
            base: vec![0.0; self.num_outputs().max(self.offset())],
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (xdot, e, lambda) = self.split(z, &mut m.x);
        values.fill(0.0);
        for (i, system) in self.systems.iter().enumerate() {
            let implicit = self.structure.system(system);
            implicit.compute_residual(&m.x, xdot, e, lambda, &mut m.ws, &mut m.r);
            let share = self.share(z, i);
            values.iter_mut().zip(&m.r).for_each(|(v, r)| *v += share * r);
        }
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (xdot, e, lambda) = self.split(z, &mut m.x);
        values.fill(0.0);
        let (plain, by_parameters) = values.split_at_mut(self.plain[0]);
        for (i, system) in self.systems.iter().enumerate() {
            let implicit = self.structure.system(system);
            let (ws, jw, jac) = (&mut m.ws, &mut m.jw, &mut m.jacobian);
            implicit.compute_jacobian(&m.x, xdot, e, lambda, ws, jw, &mut m.r, jac);
            let share = self.share(z, i);
            let all = jac.dx.value.iter().chain(&jac.dxdot.value).chain(&jac.du.value);
            for (v, d) in plain.iter_mut().zip(all.chain(&jac.dlambda.value)) {
                *v += share * d;
            }
            if i == 0 {
                m.base[..m.r.len()].copy_from_slice(&m.r);
            } else {
                let [a, b] = self.ranges[i - 1];
                let rows = m.r.len();
                let column = &mut by_parameters[(i - 1) * rows..i * rows];
                for ((v, r), base) in column.iter_mut().zip(&m.r).zip(&m.base) {
                    *v = (r - base) / (b - a);
                }
            }
        }
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (xdot, e, lambda) = self.split(z, &mut m.x);
        values.fill(0.0);
        let (plain, by_parameters) = values.split_at_mut(self.plain[1]);
        for (i, system) in self.systems.iter().enumerate() {
            let implicit = self.structure.system(system);
            implicit.compute_hessian(&m.x, xdot, e, lambda, y, &mut m.hw, &mut m.hessian);
            let share = self.share(z, i);
            for (v, d) in plain.iter_mut().zip(&m.hessian.lower.value) {
                *v += share * d;
            }
            let columns = m.hessian.gradient.len();
            if i == 0 {
                m.base[..columns].copy_from_slice(&m.hessian.gradient);
            } else {
                let [a, b] = self.ranges[i - 1];
                let row = &mut by_parameters[(i - 1) * columns..i * columns];
                for ((v, g), base) in row.iter_mut().zip(&m.hessian.gradient).zip(&m.base) {
                    *v = (g - base) / (b - a);
                }
            }
        }
    }
}

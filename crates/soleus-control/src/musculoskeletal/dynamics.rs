//! Dynamics of a model with exact derivatives of the implicit form.

use super::samples::each_share;
use crate::function::{PointFunction, Scratch, places};
use soleus_dynamics::implicit::{
    HessianWorkspace, ImplicitHessian, ImplicitJacobian, ImplicitStructure, ImplicitSystem, JacobianWorkspace,
};
use soleus_dynamics::{State, System, Workspace};
use std::sync::Arc;

/// A parameter, given by the model at several of its values.
///
/// Two values suffice if the equations are linear in the parameter; more values define an interpolating polynomial.
#[derive(Clone)]
pub struct ParameterRange {
    /// Value in the base system.
    pub base: f64,
    /// Other values, and the corresponding systems.
    pub others: Vec<(f64, Arc<System>)>,
}

impl ParameterRange {
    /// All values, that of the base first.
    fn values(&self) -> Vec<f64> {
        std::iter::once(self.base).chain(self.others.iter().map(|o| o.0)).collect()
    }
}

/// f(t, x, ẋ, e, λ, p) of a model.
///
/// With the system f₀ at p = a and f_ik at pᵢ = b_ik, and Lagrange's polynomials L of the nodes of each parameter,
///
///   f = f₀ + Σᵢ (L_i0(pᵢ) f₀ + Σₖ L_ik(pᵢ) f_ik − f₀)
///
/// which is exact, with two nodes, for masses, stiffnesses, optimal forces and other factors of a force. The caller
/// must ensure that there are enough nodes and that parameters do not interact.
pub struct SystemDynamics {
    /// The base, then the nodes of each parameter.
    systems: Vec<Arc<System>>,
    /// Values of each parameter, that of the base first.
    values: Vec<Vec<f64>>,
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
}

impl SystemDynamics {
    /// The dynamics of `system`, with parameters.
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
            hessian_places.push((offset + i, offset + i));
        }
        let structure = implicit.structure();
        let mut systems = vec![system];
        systems.extend(parameters.iter().flat_map(|p| &p.others).map(|o| o.1.clone()));
        SystemDynamics {
            systems,
            values: parameters.iter().map(ParameterRange::values).collect(),
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

    /// Calls with every system, its share in f, and for each parameter that it stands for (number, slope and second
    /// derivative of the share).
    fn each_system(&self, z: &[f64], mut f: impl FnMut(&System, f64, &[(usize, f64, f64)])) {
        let p = &z[self.offset()..];
        each_share(&self.values, p, |k, share, slopes| f(&self.systems[k], share, slopes));
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
        self.offset() + self.values.len()
    }

    fn num_outputs(&self) -> usize {
        self.num_states + self.num_multipliers
    }

    places!();

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
        })
    }

    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (xdot, e, lambda) = self.split(z, &mut m.x);
        values.fill(0.0);
        self.each_system(z, |system, share, _| {
            let implicit = self.structure.system(system);
            implicit.compute_residual(&m.x, xdot, e, lambda, &mut m.ws, &mut m.r);
            values.iter_mut().zip(&m.r).for_each(|(v, r)| *v += share * r);
        });
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (xdot, e, lambda) = self.split(z, &mut m.x);
        values.fill(0.0);
        let (plain, by_parameters) = values.split_at_mut(self.plain[0]);
        self.each_system(z, |system, share, slopes| {
            let implicit = self.structure.system(system);
            let (ws, jw, jac) = (&mut m.ws, &mut m.jw, &mut m.jacobian);
            implicit.compute_jacobian(&m.x, xdot, e, lambda, ws, jw, &mut m.r, jac);
            let all = jac.dx.value.iter().chain(&jac.dxdot.value).chain(&jac.du.value);
            for (v, d) in plain.iter_mut().zip(all.chain(&jac.dlambda.value)) {
                *v += share * d;
            }
            let rows = m.r.len();
            for &(i, slope, _) in slopes {
                let column = &mut by_parameters[i * rows..(i + 1) * rows];
                column.iter_mut().zip(&m.r).for_each(|(v, r)| *v += slope * r);
            }
        });
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (xdot, e, lambda) = self.split(z, &mut m.x);
        values.fill(0.0);
        let (plain, by_parameters) = values.split_at_mut(self.plain[1]);
        self.each_system(z, |system, share, slopes| {
            let implicit = self.structure.system(system);
            implicit.compute_hessian(&m.x, xdot, e, lambda, y, &mut m.hw, &mut m.hessian);
            for (v, d) in plain.iter_mut().zip(&m.hessian.lower.value) {
                *v += share * d;
            }
            if slopes.is_empty() {
                return;
            }
            implicit.compute_residual(&m.x, xdot, e, lambda, &mut m.ws, &mut m.r);
            let weighted: f64 = m.r.iter().zip(y).map(|(r, y)| r * y).sum();
            // One row of mixed derivatives for each parameter, then its own.
            let columns = m.hessian.gradient.len();
            for &(i, slope, second) in slopes {
                let row = &mut by_parameters[i * (columns + 1)..(i + 1) * (columns + 1)];
                row.iter_mut().zip(&m.hessian.gradient).for_each(|(v, g)| *v += slope * g);
                row[columns] += second * weighted;
            }
        });
    }
}

//! Forces by coordinates and speeds, other than those of muscles, to first order.

use super::actuators::Actuators;
use super::controls::WindowControls;
use super::response::Response;
use super::window::FOUND;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitStructure, ImplicitSystem, JacobianWorkspace};
use soleus_dynamics::system::{Actor, State, SystemForce};
use soleus_dynamics::{System, Workspace};

/// Derivatives τ_q and τ_u of generalized forces at one pose. Without a force that depends on pose or speed and without springs of feet
/// they are zero, and cost nothing: accelerations that the bodies' own inertia changes are too small to matter over a window.
#[derive(Clone, Debug)]
pub(super) struct Passive {
    engine: Option<Box<Engine>>,
    by_q: Vec<f64>,
    by_u: Vec<f64>,
    /// Entries of both that are not zero: row, column, and values.
    entries: Vec<(usize, usize, f64, f64)>,
}

/// Exact derivatives of the model without its driven actuators.
#[derive(Clone, Debug)]
struct Engine {
    structure: ImplicitStructure,
    ws: Workspace<f64>,
    jw: JacobianWorkspace,
    jacobian: ImplicitJacobian,
    xdot: Vec<f64>,
    lambda: Vec<f64>,
    r: Vec<f64>,
}

/// Whether a force changes with pose or speed, beyond moving along with its body.
fn depends_on_motion(f: &SystemForce) -> bool {
    let Actor::Force(force) = &f.actor else { return false };
    !matches!(
        force.kernel(),
        Kernel::CoordinateActuator(_)
            | Kernel::ActivationCoordinateActuator(_)
            | Kernel::PointActuator(_)
            | Kernel::TorqueActuator(_)
            | Kernel::BodyActuator(_)
            | Kernel::PointToPointActuator(_)
            | Kernel::Timed(_)
    )
}

impl Passive {
    pub fn new(system: &System, actuators: &Actuators) -> Self {
        let is_driven = |i: usize| actuators.list.iter().any(|a| a.load.force == i);
        let forces = system.forces.iter().enumerate();
        let has_any = forces.filter(|(i, _)| !is_driven(*i)).any(|(_, f)| f.enabled && depends_on_motion(f));
        let n = system.tree.num_mobilities;
        let engine = has_any.then(|| {
            let mut without = system.clone();
            actuators.list.iter().for_each(|a| without.forces[a.load.force].enabled = false);
            let implicit = ImplicitSystem::new(&without);
            Box::new(Engine {
                structure: implicit.structure(),
                ws: without.workspace(),
                jw: implicit.jacobian_workspace(),
                jacobian: implicit.jacobian(),
                xdot: vec![0.0; implicit.num_states()],
                lambda: vec![0.0; implicit.num_multipliers()],
                r: vec![0.0; implicit.num_residuals()],
            })
        });
        Passive { engine, by_q: vec![0.0; n * n], by_u: vec![0.0; n * n], entries: Vec::new() }
    }

    /// At a pose with accelerations.
    pub fn compute(
        &mut self,
        response: &Response,
        (x, udot): (&State<f64>, &[f64]),
        controls: &mut WindowControls,
    ) {
        self.entries.clear();
        if self.engine.is_none() && controls.springs.is_none() {
            return;
        }
        let n = udot.len();
        self.by_q.fill(0.0);
        self.by_u.fill(0.0);
        if let Some(e) = &mut self.engine {
            let implicit = e.structure.system(&response.system);
            e.xdot[n..2 * n].copy_from_slice(udot);
            let base = controls.base(x.time, x);
            implicit.compute_jacobian(
                x,
                &e.xdot,
                base,
                &e.lambda,
                &mut e.ws,
                &mut e.jw,
                &mut e.r,
                &mut e.jacobian,
            );
            // Rows are M u̇ minus forces.
            let m = &e.jacobian.dx;
            for (by, first) in [(&mut self.by_q, 0), (&mut self.by_u, n)] {
                for column in 0..n {
                    for k in m.start[first + column]..m.start[first + column + 1] {
                        if (n..2 * n).contains(&m.row[k]) {
                            by[(m.row[k] - n) * n + column] -= m.value[k];
                        }
                    }
                }
            }
        }
        if let Some(springs) = &mut controls.springs {
            springs.add_derivatives(x, &mut self.by_q, &mut self.by_u);
        }
        for (k, (&q, &u)) in self.by_q.iter().zip(&self.by_u).enumerate() {
            if (q != 0.0 || u != 0.0) && q.is_finite() && u.is_finite() {
                self.entries.push((k / n, k % n, q, u));
            }
        }
    }

    /// Adds changes of generalized forces by those of coordinates and speeds.
    pub fn add(&self, dq: &[[f64; FOUND]], du: &[[f64; FOUND]], load: &mut [[f64; FOUND]]) {
        for &(row, column, q, u) in &self.entries {
            for i in 0..FOUND {
                load[row][i] += q * dq[column][i] + u * du[column][i];
            }
        }
    }
}

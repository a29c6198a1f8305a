//! Dynamics of a model with prescribed motion.

use crate::function::{PointFunction, Scratch, places};
use soleus_dynamics::implicit::{GivenMotion, ImplicitSystem, MotionPoint};
use soleus_dynamics::{State, System, Workspace};
use std::collections::HashMap;
use std::sync::Arc;

/// f(t, x, ẋ, e, λ) of a model with prescribed coordinates, speeds and accelerations.
///
/// It has the same inputs and outputs as [`SystemDynamics`](super::SystemDynamics), but only derivatives with respect
/// to auxiliary states, their rates, controls and multipliers. All quantities that depend only on the motion are
/// computed once for every time and stored in the scratch memory, so the solver only evaluates muscles and a linear
/// force balance.
pub struct PrescribedDynamics {
    system: Arc<System>,
    equations: GivenMotion,
    jacobian_places: Vec<(usize, usize)>,
    hessian_places: Vec<(usize, usize)>,
    num_states: usize,
    num_multipliers: usize,
}

struct Memory {
    points: MotionPoints<MotionPoint>,
    v: Vec<f64>,
    y: Vec<f64>,
    r: Vec<f64>,
}

/// What follows from a motion at its points of time, each computed once.
pub(crate) struct MotionPoints<P> {
    x: State<f64>,
    ws: Workspace<f64>,
    /// q, u, u̇ and what follows from them, by the bits of time.
    known: HashMap<u64, (Vec<f64>, P)>,
}

impl<P: Default> MotionPoints<P> {
    pub fn new(system: &System) -> MotionPoints<P> {
        MotionPoints { x: system.default_state.clone(), ws: system.workspace(), known: HashMap::new() }
    }

    /// What follows from q, u, u̇ at a time; `make` computes it if it is not known.
    pub fn at<'z>(
        &mut self,
        time: f64,
        motion: impl Iterator<Item = &'z f64> + Clone,
        make: impl FnOnce(&State<f64>, &[f64], &mut Workspace<f64>) -> P,
    ) -> &P {
        let n = self.x.q.len();
        let (known, point) = self.known.entry(time.to_bits()).or_default();
        if known.len() != 3 * n || !known.iter().eq(motion.clone()) {
            *known = motion.copied().collect();
            self.x.time = time;
            self.x.q.copy_from_slice(&known[..n]);
            self.x.u.copy_from_slice(&known[n..2 * n]);
            *point = make(&self.x, &known[2 * n..], &mut self.ws);
        }
        point
    }
}

impl PrescribedDynamics {
    /// The dynamics of `system` for prescribed motions.
    pub fn new(system: Arc<System>) -> PrescribedDynamics {
        let equations = ImplicitSystem::new(&system).given_motion();
        PrescribedDynamics::with_equations(system, equations)
    }

    /// The same, but muscles over several wrap objects do not act on joints that move the whole muscle, as they do in
    /// OpenSim, so that their forces do not depend on the direction in which the subject faces.
    pub fn with_balanced_paths(system: Arc<System>) -> PrescribedDynamics {
        let equations = ImplicitSystem::new(&system).given_motion().with_balanced_paths(&system);
        PrescribedDynamics::with_equations(system, equations)
    }

    fn with_equations(system: Arc<System>, equations: GivenMotion) -> PrescribedDynamics {
        let (n, nz) = (system.tree.num_mobilities, system.num_aux);
        let nx = 2 * n + nz;
        // v = (z, ż, e, λ) among the inputs t, x, ẋ, e, λ; rows of the force balance are those of the speeds.
        let input = |k: usize| match k {
            k if k < nz => 1 + 2 * n + k,
            k if k < 2 * nz => 1 + nx + 2 * n + (k - nz),
            k => 1 + 2 * nx + (k - 2 * nz),
        };
        let jacobian_places = equations.jacobian_places().iter().map(|&(r, k)| (n + r, input(k))).collect();
        let hessian_places = equations.hessian_places().iter().map(|&(i, j)| (input(i), input(j))).collect();
        let num_multipliers = system.constraints.num_rows();
        PrescribedDynamics {
            equations,
            jacobian_places,
            hessian_places,
            num_states: nx,
            num_multipliers,
            system,
        }
    }

    /// Splits the inputs and finds the point of the motion.
    fn prepare<'m>(&self, z: &[f64], m: &'m mut Memory) -> (&'m MotionPoint, &'m [f64]) {
        let (n, nx) = (self.system.tree.num_mobilities, self.num_states);
        let (x, xdot) = (&z[1..1 + nx], &z[1 + nx..1 + 2 * nx]);
        m.v.clear();
        m.v.extend(x[2 * n..].iter().chain(&xdot[2 * n..]).chain(&z[1 + 2 * nx..]));
        let motion = x[..2 * n].iter().chain(&xdot[n..2 * n]);
        let point = m.points.at(z[0], motion, |x, udot, ws| self.equations.point(&self.system, x, udot, ws));
        (point, &m.v)
    }
}

impl PointFunction for PrescribedDynamics {
    fn num_inputs(&self) -> usize {
        1 + 2 * self.num_states + self.system.num_controls + self.num_multipliers
    }

    fn num_outputs(&self) -> usize {
        self.num_states + self.num_multipliers
    }

    places!();

    fn scratch(&self) -> Scratch {
        Box::new(Memory {
            points: MotionPoints::new(&self.system),
            v: Vec::with_capacity(self.equations.num_variables()),
            y: vec![0.0; self.equations.num_rows()],
            r: vec![0.0; self.equations.num_rows()],
        })
    }

    /// Rows of the coordinates and of the constraints hold by themselves: they are zero.
    fn compute_values(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let mut r = std::mem::take(&mut m.r);
        let (point, v) = self.prepare(z, m);
        self.equations.compute_residual(&self.system, point, v, &mut r);
        values.fill(0.0);
        let n = self.system.tree.num_mobilities;
        values[n..n + r.len()].copy_from_slice(&r);
        m.r = r;
    }

    fn compute_jacobian(&self, z: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let (point, v) = self.prepare(z, m);
        self.equations.compute_jacobian(&self.system, point, v, values);
    }

    fn compute_hessian(&self, z: &[f64], y: &[f64], values: &mut [f64], scratch: &mut Scratch) {
        let Some(m) = scratch.downcast_mut::<Memory>() else { return values.fill(f64::NAN) };
        let mut own = std::mem::take(&mut m.y);
        let n = self.system.tree.num_mobilities;
        own.copy_from_slice(&y[n..n + self.equations.num_rows()]);
        let (point, v) = self.prepare(z, m);
        self.equations.compute_hessian(&self.system, point, v, &own, values);
        m.y = own;
    }
}

//! Adjustment of masses to a motion and its loads, before residual reduction.

use crate::analysis::{HistoryError, StateHistory};
use crate::static_optimization::{Error, LoadSharing, Settings};
use soleus_dynamics::multibody::compute_generalized_forces;
use soleus_dynamics::{Loads, State, System, Workspace};
use soleus_math::dense::solve_min_norm;
use soleus_math::elementary;
use soleus_math::{Rotation, SpatialVec, Vec3, vec3};
use soleus_model::Model;
use std::ops::RangeInclusive;

/// Names of the residual actuators in OpenSim's examples.
pub const RESIDUALS: [&str; 6] = ["FX", "FY", "FZ", "MX", "MY", "MZ"];
/// The mass centre is moved by so much at most along each axis, m: OpenSim's.
const FARTHEST: f64 = 0.1;

/// Means over time of the forces FX, FY, FZ (N) and moments MX, MY, MZ (N·m) that the actuators of these names need for
/// the given motion. If the model has no such actuators, they are the residual force and the moment about the mass
/// centre of the body that moves freely in ground; 0 for missing components.
pub fn average_residuals(
    model: &Model,
    system: &System,
    history: &StateHistory,
    rows: RangeInclusive<usize>,
) -> Result<[f64; 6], Error> {
    let udot = history.accelerations(system, rows.clone()).map_err(|e: HistoryError| Error::History(e))?;
    let mut sharing = LoadSharing::new(model, system, &Settings::default())?.without_limits();
    let forces = RESIDUALS.map(|name| model.forces.iter().position(|f| f.name == name && f.is_actuator()));
    let mut root = if forces.iter().any(Option::is_some) { None } else { Root::find(model, system) };
    let mut x = system.default_state.clone();
    let mut accelerations = vec![0.0; udot.len()];
    let (mut sum, mut before) = ([0.0; 6], None::<(f64, [f64; 6])>);
    let mut duration = 0.0;
    for (k, row) in rows.enumerate() {
        history.state(row, &mut x);
        for (a, column) in accelerations.iter_mut().zip(&udot) {
            *a = column[k];
        }
        sharing.solve(&x, &accelerations)?;
        let now = match &mut root {
            Some(root) => root.wrench(system, &x, &sharing),
            None => forces.map(|f| f.and_then(|f| sharing.force(f)).unwrap_or(0.0)),
        };
        match before {
            None => sum = now,
            Some((t, last)) => {
                let dt = x.time - t;
                if duration == 0.0 {
                    sum = [0.0; 6];
                }
                duration += dt;
                for i in 0..6 {
                    sum[i] += 0.5 * dt * (last[i] + now[i]);
                }
            }
        }
        before = Some((x.time, now));
    }
    if duration > 0.0 {
        sum.iter_mut().for_each(|s| *s /= duration);
    }
    Ok(sum)
}

/// Which of FX, FY, FZ, MX, MY, MZ an actuator of a coordinate is, by the axis along or about which the coordinate
/// moves a body connected to ground, in the default pose; `None` for coordinates of other joints.
pub fn residual_of(system: &System, mobility: usize) -> Option<usize> {
    let tree = &system.tree;
    let is_moved = |n: &usize| {
        let node = &tree.nodes[*n];
        node.parent == 0 && (node.u0..node.u0 + node.nu).contains(&mobility)
    };
    let node = (1..tree.nodes.len()).find(is_moved)?;
    let mut x = system.default_state.clone();
    x.u.fill(0.0);
    x.u[mobility] = 1.0;
    let mut ws = system.workspace();
    system.compute_kinematics(&x, &mut ws);
    let V = ws.kin.V_GB[node];
    // What turns a body may move its origin as well.
    let (first, along) = if V.w.norm() > 0.0 { (3, V.w) } else { (0, V.v) };
    let along = along.to_array();
    let axis = (0..3).max_by(|&i, &k| along[i].abs().total_cmp(&along[k].abs()))?;
    Some(first + axis)
}

/// Mean heading of a body (rotation about Y in ground), rad: the angle of the rotation closest to its orientations.
///
///   tr(R_y(ψ)ᵀ R) = (R₀₀ + R₂₂) cos ψ + (R₀₂ − R₂₀) sin ψ + R₁₁ is largest for ψ = atan2(R₀₂ − R₂₀, R₀₀ + R₂₂).
pub fn average_heading(
    system: &System,
    history: &StateHistory,
    rows: RangeInclusive<usize>,
    body: usize,
) -> f64 {
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    let (mut along, mut across) = (0.0, 0.0);
    for row in rows {
        history.state(row, &mut x);
        system.compute_kinematics(&x, &mut ws);
        let R = ws.kin.X_GB[system.tree.node_of_body[body]].R;
        along += R.axis(0).x + R.axis(2).z;
        across += R.axis(2).x - R.axis(0).z;
    }
    elementary::atan2(across, along)
}

/// The one body that moves in ground with six mobilities.
struct Root {
    node: usize,
    mass_center: Vec3<f64>,
    ws: Workspace<f64>,
    body: Vec<SpatialVec<f64>>,
    column: Vec<f64>,
}

impl Root {
    fn find(model: &Model, system: &System) -> Option<Root> {
        let tree = &system.tree;
        let is_free = |&b: &usize| tree.nodes[b].parent == 0 && tree.nodes[b].nu == 6;
        let mut free = (1..tree.nodes.len()).filter(is_free);
        let (Some(node), None) = (free.next(), free.next()) else { return None };
        let body = tree.node_of_body.iter().position(|&n| n == node)?;
        Some(Root {
            node,
            mass_center: model.bodies[body].mass_center,
            ws: system.workspace(),
            body: vec![SpatialVec::zero(); tree.nodes.len()],
            column: vec![0.0; tree.num_mobilities],
        })
    }

    /// Force and moment about the mass centre, in ground, that the load of the last instant takes: τ = A w, columns of A by unit
    /// forces and moments.
    fn wrench(&mut self, system: &System, x: &State<f64>, sharing: &LoadSharing) -> [f64; 6] {
        let u0 = system.tree.nodes[self.node].u0;
        let mut tau = [0.0; 6];
        for (m, load, _, _) in sharing.helped().filter(|h| (u0..u0 + 6).contains(&h.0)) {
            tau[m - u0] = load;
        }
        system.compute_kinematics(x, &mut self.ws);
        let kin = self.ws.kin.view(x.time);
        let place = self.ws.kin.X_GB[self.node] * self.mass_center;
        let mut a = [[0.0; 6]; 6];
        for (c, column) in a.iter_mut().enumerate() {
            self.body.fill(SpatialVec::zero());
            self.column.fill(0.0);
            let mut axis = [0.0; 3];
            axis[c % 3] = 1.0;
            let mut loads = Loads { body: &mut self.body, mobility: &mut self.column };
            match c < 3 {
                true => loads.add_force_at(&kin, self.node, place, Vec3::from_array(axis)),
                false => loads.add_moment(self.node, Vec3::from_array(axis)),
            }
            compute_generalized_forces(&system.tree, &self.ws.kin, &mut self.body, &mut self.column);
            column.copy_from_slice(&self.column[u0..u0 + 6]);
        }
        // Least squares, so that angles a quarter turn apart are no failure.
        let gram: Vec<f64> = (0..36).map(|i| (0..6).map(|r| a[i / 6][r] * a[i % 6][r]).sum()).collect();
        let mut w = a.map(|column| column.iter().zip(&tau).map(|(a, t)| a * t).sum());
        solve_min_norm(&gram, &mut w, &mut [0.0; 96], &mut [0; 6]);
        w
    }
}

/// Mass changes recommended from residuals, as in OpenSim's `RRATool`.
#[derive(Clone, Debug, PartialEq)]
pub struct MassAdjustment {
    /// The body whose mass centre is moved.
    pub body: usize,
    /// Means of FX, FY, FZ, MX, MY, MZ before the change, N and N·m.
    pub before: [f64; 6],
    /// The mass centre before and after, m, in the body.
    pub mass_center: [Vec3<f64>; 2],
    /// Recommended change of the total mass, kg.
    pub mass_change: f64,
    /// Original and recommended mass of each body except ground, kg.
    pub masses: Vec<(String, f64, f64)>,
}

impl MassAdjustment {
    /// From mean residuals: M_Z and M_X move the mass centre of a body forward and sideways by moment over weight, at
    /// most 0.1 m; F_Y is excess or missing weight, distributed over the bodies in proportion to their mass. Axes are
    /// those of a gait model with Y up. `heading` (rad) is the rotation of the body about Y in ground
    /// ([`average_heading`]): residuals are along axes of ground, the mass centre along those of the body. OpenSim
    /// assumes 0.
    pub fn new(model: &Model, body: usize, means: [f64; 6], heading: f64) -> Self {
        let g = model.gravity.to_array()[1];
        let weight = g.abs() * model.bodies[body].mass;
        let limited = |x: f64| x.clamp(-FARTHEST, FARTHEST);
        let by = Rotation::about_y(-heading) * vec3(means[5] / weight, 0.0, -means[3] / weight);
        let (dx, dz) = (limited(by.x), limited(by.z));
        let before = model.bodies[body].mass_center;
        let [x, y, z] = before.to_array();
        let total: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
        let mass_change = means[1] / g;
        let changed = |mass: f64| mass + mass_change * mass / total;
        MassAdjustment {
            body,
            before: means,
            mass_center: [before, vec3(x - dx, y, z - dz)],
            mass_change,
            masses: model.bodies.iter().skip(1).map(|b| (b.name.clone(), b.mass, changed(b.mass))).collect(),
        }
    }
}

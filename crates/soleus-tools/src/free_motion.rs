//! Filtering and differentiation of the pose of bodies that move freely in ground.
//!
//! The angles of such a body depend on the axes of the laboratory; they jump by full rotations and are singular where
//! the second of the three is near 90°. Splines and filters of the angles therefore give different joint moments for a
//! subject who walks in another direction. The nine numbers of R = R_GB and the three of p rotate with the laboratory,
//! and splines and filters are linear, so the results rotate with it as well:
//!
//!   ω× = skew(Ṙ Rᵀ),   α× = skew(R̈ Rᵀ),   as (Ṙ Rᵀ)˙ = R̈ Rᵀ + Ṙ Ṙᵀ and the last is symmetric    (1)
//!   H u = (ω, ṗ),      H u̇ = (α, p̈) − c                                                            (2)
//!
//! with H and c the motion subspace and the Coriolis acceleration of the joint. A filtered R is replaced by the nearest
//! rotation matrix, which also rotates with the laboratory.

use soleus_dynamics::System;
use soleus_dynamics::joint::speeds_from_rates;
use soleus_dynamics::multibody::{TreeKinematics, compute_kinematics};
use soleus_math::dense::solve_min_norm;
use soleus_math::function::{FunctionError, GcvSpline};
use soleus_math::table::{Table, TableError};
use soleus_math::{Mat33, Rotation, SpatialVec, Vec3, vec3};
use soleus_model::{Model, angles};

/// Number of mobilities of a free body.
pub const MOBILITIES: usize = 6;

/// Numbers of a pose: the columns of R, then p.
pub(crate) const NUMBERS: usize = 12;

/// Newton's steps to the coordinates of a pose end below this, rad and m: the next one would be its square.
const CLOSE: f64 = 1e-9;

/// Steps after which a pose counts as out of reach. From a neighbouring pose three or four do.
const MOST_STEPS: usize = 30;

/// Nodes of the tree that are connected with ground by a joint of six mobilities.
pub fn free_nodes(system: &System) -> Vec<usize> {
    let nodes = system.tree.nodes.iter().enumerate();
    nodes
        .filter(|(i, n)| *i > 0 && n.parent == 0 && n.nu == MOBILITIES && !n.is_copy)
        .map(|(i, _)| i)
        .collect()
}

/// Velocity V and acceleration A of a body's origin frame, in ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Velocity, rad/s and m/s.
    pub V: SpatialVec<f64>,
    /// Acceleration, rad/s² and m/s².
    pub A: SpatialVec<f64>,
}

/// A free body, with memory for its computations.
#[derive(Clone, Debug)]
pub struct FreeBody {
    node: usize,
    u0: usize,
    angular: bool,
    q: Vec<f64>,
    u: Vec<f64>,
    kin: TreeKinematics<f64>,
}

impl FreeBody {
    /// One of [`free_nodes`].
    pub fn new(system: &System, node: usize) -> Self {
        let n = &system.tree.nodes[node];
        FreeBody {
            node,
            u0: n.u0,
            angular: n.joint.speeds_are_angular_velocity(),
            q: system.default_state.q.clone(),
            u: vec![0.0; system.tree.num_mobilities],
            kin: TreeKinematics::new(&system.tree),
        }
    }

    /// Its first mobility.
    pub fn first_mobility(&self) -> usize {
        self.u0
    }

    fn put(&mut self, system: &System, q: &[f64; MOBILITIES], u: &[f64; MOBILITIES]) {
        let own = self.u0..self.u0 + MOBILITIES;
        self.q[own.clone()].copy_from_slice(q);
        self.u[own].copy_from_slice(u);
        compute_kinematics(&system.tree, &self.q, &self.u, &mut self.kin);
    }

    /// The numbers of the pose at coordinates q.
    pub(crate) fn pose(&mut self, system: &System, q: &[f64; MOBILITIES]) -> [f64; NUMBERS] {
        self.put(system, q, &[0.0; MOBILITIES]);
        let X = &self.kin.X_GB[self.node];
        let vectors = [X.R.axis(0), X.R.axis(1), X.R.axis(2), X.p].map(Vec3::to_array);
        std::array::from_fn(|i| vectors[i / 3][i % 3])
    }

    /// The pose at coordinates q.
    pub(crate) fn pose_at(&mut self, system: &System, q: &[f64; MOBILITIES]) -> (Rotation<f64>, Vec3<f64>) {
        self.put(system, q, &[0.0; MOBILITIES]);
        let X = &self.kin.X_GB[self.node];
        (X.R, X.p)
    }

    /// Velocity at coordinates q and speeds u.
    pub fn velocity(
        &mut self,
        system: &System,
        q: &[f64; MOBILITIES],
        u: &[f64; MOBILITIES],
    ) -> SpatialVec<f64> {
        self.put(system, q, u);
        self.kin.V_GB[self.node]
    }

    /// Speeds u at coordinates q (2).
    pub fn speeds(
        &mut self,
        system: &System,
        q: &[f64; MOBILITIES],
        V: SpatialVec<f64>,
    ) -> [f64; MOBILITIES] {
        self.put(system, q, &[0.0; MOBILITIES]);
        solve(&self.columns(), V)
    }

    /// Accelerations u̇ at coordinates q and speeds u (2).
    pub fn accelerations(
        &mut self,
        system: &System,
        q: &[f64; MOBILITIES],
        u: &[f64; MOBILITIES],
        A: SpatialVec<f64>,
    ) -> [f64; MOBILITIES] {
        self.put(system, q, u);
        solve(&self.columns(), A - self.kin.coriolis[self.node])
    }

    /// Coordinates of a pose by Newton's method, from coordinates nearby; these if there are none.
    pub(crate) fn coordinates(
        &mut self,
        system: &System,
        (R, p): (Rotation<f64>, Vec3<f64>),
        near: &[f64; MOBILITIES],
    ) -> [f64; MOBILITIES] {
        let mut q = *near;
        for _ in 0..MOST_STEPS {
            self.put(system, &q, &[0.0; MOBILITIES]);
            let X = self.kin.X_GB[self.node];
            let off = SpatialVec::new((R * X.R.inverse()).to_rotation_vector(), p - X.p);
            let step = solve(&self.rate_columns(&q), off);
            for (q, step) in q.iter_mut().zip(step) {
                *q += step;
            }
            let length = step.iter().map(|s| s * s).sum::<f64>().sqrt();
            if !length.is_finite() {
                return *near;
            }
            if length < CLOSE {
                return q;
            }
        }
        *near
    }

    /// Velocity per unit speed, at the coordinates of the last call.
    pub(crate) fn columns(&self) -> [SpatialVec<f64>; MOBILITIES] {
        std::array::from_fn(|i| self.kin.H[self.u0 + i])
    }

    /// Columns by rates of the coordinates, where speeds are not these.
    pub(crate) fn rate_columns(&self, q: &[f64; MOBILITIES]) -> [SpatialVec<f64>; MOBILITIES] {
        let H = self.columns();
        if !self.angular {
            return H;
        }
        let angles = vec3(q[0], q[1], q[2]);
        std::array::from_fn(|i| match i {
            0..3 => {
                let w = speeds_from_rates(angles, Vec3::unit(i));
                H[0] * w.x + H[1] * w.y + H[2] * w.z
            }
            _ => H[i],
        })
    }
}

/// Motion of a free body: splines through the elements of its pose.
#[derive(Clone, Debug)]
pub struct FreeMotion {
    numbers: Vec<GcvSpline>,
}

impl FreeMotion {
    /// Through the poses at the given coordinates, row by row; `spline` interpolates numbers at the same rows.
    pub fn new(
        system: &System,
        body: &mut FreeBody,
        rows: impl Iterator<Item = [f64; MOBILITIES]>,
        mut spline: impl FnMut(&[f64]) -> Result<GcvSpline, FunctionError>,
    ) -> Result<Self, FunctionError> {
        let mut columns = vec![Vec::new(); NUMBERS];
        for q in rows {
            for (column, x) in columns.iter_mut().zip(body.pose(system, &q)) {
                column.push(x);
            }
        }
        let numbers = columns.iter().map(|c| spline(c)).collect::<Result<_, _>>()?;
        Ok(FreeMotion { numbers })
    }

    /// Velocity and acceleration at a time (1).
    pub fn rates(&self, t: f64) -> Rates {
        let at: Vec<[f64; 3]> = self.numbers.iter().map(|s| s.eval(t)).collect();
        let vector = |i: usize, order: usize| vec3(at[i][order], at[i + 1][order], at[i + 2][order]);
        // Twice the vector of skew(D Rᵀ) is the sum of r × d over the columns of both.
        let turning = |order: usize| {
            let sum = |s: Vec3<f64>, i: usize| s + vector(3 * i, 0).cross(vector(3 * i, order));
            (0..3).fold(Vec3::zero(), sum) * 0.5
        };
        Rates { V: SpatialVec::new(turning(1), vector(9, 1)), A: SpatialVec::new(turning(2), vector(9, 2)) }
    }

    /// Coordinates at a time, continued from nearby coordinates.
    pub fn coordinates(
        &self,
        system: &System,
        body: &mut FreeBody,
        t: f64,
        near: &[f64; MOBILITIES],
    ) -> [f64; MOBILITIES] {
        let numbers: [f64; NUMBERS] = std::array::from_fn(|i| self.numbers[i].eval(t)[0]);
        nearest_pose(&numbers).map_or(*near, |X| body.coordinates(system, X, near))
    }
}

/// A table of coordinates after the linear `filter`: free bodies are filtered by their poses, all other coordinates
/// column by column.
///
/// `column` gives the column of a coordinate in the table. Rows of the result may differ from those of the table.
pub fn filtered<E: From<TableError>>(
    model: &Model,
    system: &System,
    table: &Table,
    column: impl Fn(usize) -> Option<usize>,
    filter: impl FnOnce(&Table) -> Result<Table, E>,
) -> Result<Table, E> {
    let mut bodies = Vec::new();
    for node in free_nodes(system) {
        let body = FreeBody::new(system, node);
        if let Some(places) = places(model, system, &body, table, &column) {
            bodies.push((body, places));
        }
    }
    if bodies.is_empty() || table.rows() == 0 {
        return filter(table);
    }
    // The numbers of the poses as further columns.
    let (mut labels, mut columns) = (table.labels().to_vec(), table.columns().to_vec());
    let given = columns.len();
    for (body, places) in &mut bodies {
        let mut poses = vec![Vec::new(); NUMBERS];
        for row in 0..table.rows() {
            let numbers = body.pose(system, &coordinates_of(table.columns(), places, row));
            poses.iter_mut().zip(numbers).for_each(|(c, x)| c.push(x));
        }
        labels.extend((0..NUMBERS).map(|i| format!("pose of node {}, number {i}", body.node)));
        columns.extend(poses);
    }
    let mut wide = Table::new(table.element(), labels, table.times().to_vec(), columns)?;
    wide.in_degrees = table.in_degrees;
    let (times, mut columns) = filter(&wide)?.into_rows();

    // Coordinates of the filtered poses, next to those of the nearest row.
    let poses = columns.split_off(given);
    for ((body, places), poses) in bodies.iter_mut().zip(poses.chunks_exact(NUMBERS)) {
        for (row, &t) in times.iter().enumerate() {
            let numbers: [f64; NUMBERS] = std::array::from_fn(|i| poses[i][row]);
            let near = coordinates_of(table.columns(), places, nearest_row(table.times(), t));
            let Some(X) = nearest_pose(&numbers) else { continue };
            let q = body.coordinates(system, X, &near);
            for (place, q) in places.iter().zip(q) {
                columns[place.0][row] = q / place.1;
            }
        }
    }
    Ok(table.with_rows(times, columns)?)
}

/// Column and unit of each coordinate of a body; `None` where one has no column.
fn places(
    model: &Model,
    system: &System,
    body: &FreeBody,
    table: &Table,
    column: impl Fn(usize) -> Option<usize>,
) -> Option<[(usize, f64); MOBILITIES]> {
    let mut places = [(0, 1.0); MOBILITIES];
    for (i, place) in places.iter_mut().enumerate() {
        let c = system.tree.coordinate_of_mobility[body.u0 + i]?.0;
        *place = (column(c)?, angles::unit_of(table, &model.coordinates[c]));
    }
    Some(places)
}

fn coordinates_of(
    columns: &[Vec<f64>],
    places: &[(usize, f64); MOBILITIES],
    row: usize,
) -> [f64; MOBILITIES] {
    places.map(|(column, unit)| columns[column][row] * unit)
}

/// The row whose time is nearest; there is at least one.
fn nearest_row(times: &[f64], t: f64) -> usize {
    let after = times.partition_point(|x| *x < t).min(times.len() - 1);
    match after {
        0 => 0,
        i if t - times[i - 1] < times[i] - t => i - 1,
        i => i,
    }
}

/// The rotation nearest to the nine numbers, by Newton's iteration R ← (R + R⁻ᵀ)/2 for the polar factor (Higham 1986), and the place;
/// `None` where numbers are missing or are those of no right-handed frame.
pub(crate) fn nearest_pose(numbers: &[f64; NUMBERS]) -> Option<(Rotation<f64>, Vec3<f64>)> {
    let vector = |i: usize| vec3(numbers[i], numbers[i + 1], numbers[i + 2]);
    let mut R = [vector(0), vector(3), vector(6)];
    // Converges quadratically; from a frame worth the name in four or five steps.
    for _ in 0..20 {
        let cofactors = [R[1].cross(R[2]), R[2].cross(R[0]), R[0].cross(R[1])];
        let det = R[0].dot(cofactors[0]);
        if !(det > 1e-6) {
            return None;
        }
        let next: [Vec3<f64>; 3] = std::array::from_fn(|i| (R[i] + cofactors[i] * (1.0 / det)) * 0.5);
        let change = (0..3).map(|i| (next[i] - R[i]).norm_sq()).sum::<f64>();
        R = next;
        if change < 1e-28 {
            break;
        }
    }
    let p = vector(9);
    p.norm().is_finite().then_some((Rotation(Mat33::from_cols(R[0], R[1], R[2])), p))
}

/// The x of smallest norm with H x = V, by normal equations; a second pass restores the digits that they lose.
pub(crate) fn solve(H: &[SpatialVec<f64>; MOBILITIES], V: SpatialVec<f64>) -> [f64; MOBILITIES] {
    const N: usize = MOBILITIES;
    let a: [f64; N * N] = std::array::from_fn(|k| H[k / N].dot(H[k % N]));
    let (mut x, mut rest) = ([0.0; N], V);
    for _ in 0..2 {
        let mut step: [f64; N] = std::array::from_fn(|i| H[i].dot(rest));
        solve_min_norm(&a, &mut step, &mut [0.0; 2 * N * N + 4 * N], &mut [0; N]);
        for i in 0..N {
            x[i] += step[i];
            rest -= H[i] * step[i];
        }
    }
    x
}

//! A root that moves freely, as the twelve numbers of its pose instead of six coordinates.
//!
//! The columns r of R = R_GB and the place p are splines, as in inverse dynamics. They rotate with the laboratory, and so does
//! all that follows from them; the angles of the root, their splines and rates do not. At every frame, as equations of the search,
//!
//!   ½ (RᵀR − 1) = 0                                                          (1)
//!   ω = ½ Σ r × ṙ,      α = ½ Σ r × r̈,      θ = ½ Σ r × δr                    (2)
//!
//! with θ the turn of a change δr. Derivatives of equations by coordinates, speeds and accelerations (q, u, u̇) become
//! those by the twist ξ = (θ, δp), the velocity V and the acceleration A = H u̇ + c,
//!
//!   δq = Q ξ,   H δu = δV − V_q δq,   H δu̇ = δA − (H_q u̇ + c_q) δq − c_u δu    (3)
//!
//! and then, by (2), those by the numbers and their rates. Residuals are the wrench w at the root's origin: Hᵀ w = r.

use crate::free_motion::{FreeBody, MOBILITIES, NUMBERS, free_nodes, nearest_pose, solve};
use soleus_dynamics::multibody::{TreeKinematics, compute_kinematics};
use soleus_dynamics::{State, System};
use soleus_math::{Dual, Rotation, SpatialVec, Vec3, vec3};

/// Equations (1).
pub(super) const ORTHONORMAL: usize = 6;

type Square = [[f64; MOBILITIES]; MOBILITIES];

/// One direction for each coordinate, in the size that is compiled already.
type Along = Dual<f64, 8>;

/// The root, and the functions that take the places of its coordinates.
#[derive(Clone, Debug)]
pub(super) struct PoseRoot {
    pub node: usize,
    /// First mobility.
    pub u0: usize,
    /// Mobilities of the model: further numbers come after them.
    mobilities: usize,
}

impl PoseRoot {
    /// `None` if the root has fewer mobilities than a free body.
    pub fn new(system: &System, node: usize) -> Option<Self> {
        let is_free = free_nodes(system).contains(&node);
        let (u0, mobilities) = (system.tree.nodes[node].u0, system.tree.num_mobilities);
        is_free.then_some(PoseRoot { node, u0, mobilities })
    }

    /// Functions in addition to the coordinates.
    pub const MORE: usize = NUMBERS - MOBILITIES;

    /// The function of a number.
    pub fn function(&self, number: usize) -> usize {
        if number < MOBILITIES { self.u0 + number } else { self.mobilities + number - MOBILITIES }
    }

    /// The coordinates of the root among all.
    pub fn own(&self, q: &[f64]) -> [f64; MOBILITIES] {
        std::array::from_fn(|i| q[self.u0 + i])
    }

    /// Values of all functions at coordinates q.
    pub fn functions(&self, system: &System, body: &mut FreeBody, q: &[f64]) -> Vec<f64> {
        let numbers = body.pose(system, &self.own(q));
        let mut all = q.to_vec();
        all.resize(self.mobilities + Self::MORE, 0.0);
        (0..NUMBERS).for_each(|k| all[self.function(k)] = numbers[k]);
        all
    }
}

/// Inverse of the matrix with these columns: row by row, what each of them contributes to a twist's components.
fn inverse(columns: &[SpatialVec<f64>; MOBILITIES]) -> Square {
    let of = |k: usize| {
        let unit = |i: usize| if i == k % 3 { 1.0 } else { 0.0 };
        let v = vec3(unit(0), unit(1), unit(2));
        let zero = Vec3::zero();
        solve(columns, if k < 3 { SpatialVec::new(v, zero) } else { SpatialVec::new(zero, v) })
    };
    let by_component: Square = std::array::from_fn(of);
    std::array::from_fn(|i| std::array::from_fn(|k| by_component[k][i]))
}

fn product(a: &Square, b: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..MOBILITIES).map(|k| a[i][k] * b[k][j]).sum()))
}

fn minus(a: &Square) -> Square {
    a.map(|row| row.map(|x| -x))
}

fn sum(a: &Square, b: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]))
}

fn row_times(row: &[f64], m: &Square) -> [f64; MOBILITIES] {
    std::array::from_fn(|j| (0..MOBILITIES).map(|k| row[k] * m[k][j]).sum())
}

/// Derivatives of the components of a dual spatial vector: by component and direction.
fn slopes(v: SpatialVec<Along>) -> Square {
    let parts = [v.w.x, v.w.y, v.w.z, v.v.x, v.v.y, v.v.z];
    parts.map(|x| std::array::from_fn(|k| x.d[k]))
}

fn part(x: &[f64; MOBILITIES], first: usize) -> Vec3<f64> {
    vec3(x[first], x[first + 1], x[first + 2])
}

/// Memory for the root of one frame.
pub(super) struct PoseRoom {
    body: FreeBody,
    along: TreeKinematics<Along>,
    /// The numbers, their rates, and the rates of these.
    y: [[f64; NUMBERS]; 3],
    /// Rates of coordinates per twist, and speeds per velocity.
    Q: Square,
    Hi: Square,
}

/// How speeds and accelerations of the root change (3).
struct Chain {
    u_by_pose: Square,
    udot_by_pose: Square,
    udot_by_velocity: Square,
    /// H_qᵀ w: by mobility and coordinate.
    turned: Square,
}

impl PoseRoom {
    pub fn new(system: &System, root: &PoseRoot) -> Self {
        PoseRoom {
            body: FreeBody::new(system, root.node),
            along: TreeKinematics::new(&system.tree),
            y: [[0.0; NUMBERS]; 3],
            Q: [[0.0; MOBILITIES]; MOBILITIES],
            Hi: [[0.0; MOBILITIES]; MOBILITIES],
        }
    }

    fn column(&self, i: usize, order: usize) -> Vec3<f64> {
        let y = &self.y[order];
        vec3(y[3 * i], y[3 * i + 1], y[3 * i + 2])
    }

    fn turning(&self, order: usize) -> Vec3<f64> {
        let add = |s: Vec3<f64>, i: usize| s + self.column(i, 0).cross(self.column(i, order));
        (0..3).fold(Vec3::zero(), add) * 0.5
    }

    /// Pose of the root at the numbers of the last call of [`PoseRoom::place`], or what is left of it.
    pub fn pose(&self) -> (Rotation<f64>, Vec3<f64>) {
        nearest_pose(&self.y[0]).unwrap_or((Rotation::identity(), self.column(3, 0)))
    }

    /// Replaces the values of functions by coordinates, their rates, speeds and accelerations, near given coordinates.
    pub fn place(
        &mut self,
        system: &System,
        root: &PoseRoot,
        y: [[f64; NUMBERS]; 3],
        near: &[f64; MOBILITIES],
        x: &mut State<f64>,
        [rates, udot]: [&mut [f64]; 2],
    ) {
        self.y = y;
        let q = nearest_pose(&y[0]).map_or(*near, |X| self.body.coordinates(system, X, near));
        let V = SpatialVec::new(self.turning(1), self.column(3, 1));
        let A = SpatialVec::new(self.turning(2), self.column(3, 2));
        let u = self.body.speeds(system, &q, V);
        self.Hi = inverse(&self.body.columns());
        let by_rates = self.body.rate_columns(&q);
        self.Q = inverse(&by_rates);
        let qdot = solve(&by_rates, V);
        let a = self.body.accelerations(system, &q, &u, A);
        let own = root.u0..root.u0 + MOBILITIES;
        x.q[own.clone()].copy_from_slice(&q);
        x.u[own.clone()].copy_from_slice(&u);
        rates[own.clone()].copy_from_slice(&qdot);
        udot[own].copy_from_slice(&a);
    }

    /// The wrench of generalized forces of the root.
    pub fn wrench(&self, r: &[f64]) -> [f64; MOBILITIES] {
        row_times(r, &self.Hi)
    }

    /// Turns rows by mobility of the root into rows by component of the wrench, `width` numbers each.
    pub fn to_wrench(&self, rows: &mut [f64], width: usize) {
        for j in 0..width {
            let column: [f64; MOBILITIES] = std::array::from_fn(|i| rows[i * width + j]);
            let turned = self.wrench(&column);
            (0..MOBILITIES).for_each(|i| rows[i * width + j] = turned[i]);
        }
    }

    /// Errors of (1).
    pub fn orthonormality(&self) -> [f64; ORTHONORMAL] {
        PAIRS.map(|(i, j)| {
            let one = if i == j { 1.0 } else { 0.0 };
            0.5 * (self.column(i, 0).dot(self.column(j, 0)) - one)
        })
    }

    /// Derivatives of (1) by the numbers.
    pub fn orthonormality_slopes(&self) -> [[f64; NUMBERS]; ORTHONORMAL] {
        PAIRS.map(|(i, j)| {
            let mut row = [0.0; NUMBERS];
            for (of, other) in [(i, j), (j, i)] {
                let r = self.column(other, 0).to_array();
                (0..3).for_each(|a| row[3 * of + a] += 0.5 * r[a]);
            }
            row
        })
    }

    fn chain(
        &mut self,
        system: &System,
        root: &PoseRoot,
        x: &State<f64>,
        udot: &[f64],
        w: &[f64; 6],
    ) -> Chain {
        let own = root.u0..root.u0 + MOBILITIES;
        let lift = |v: &[f64]| v.iter().map(|x| Along::new(*x, [0.0; 8])).collect::<Vec<_>>();
        let (mut q, mut u) = (lift(&x.q), lift(&x.u));
        let vary = |v: &mut [Along]| v[own.clone()].iter_mut().enumerate().for_each(|(k, x)| x.d[k] = 1.0);
        let still = q.clone();
        vary(&mut q);
        compute_kinematics(&system.tree, &q, &u, &mut self.along);
        let V_q = slopes(self.along.V_GB[root.node]);
        let mut A_q = slopes(self.along.coriolis[root.node]);
        let mut turned = [[0.0; MOBILITIES]; MOBILITIES];
        for (i, turned) in turned.iter_mut().enumerate() {
            let H_q = slopes(self.along.H[root.u0 + i]);
            for k in 0..MOBILITIES {
                turned[k] = (0..MOBILITIES).map(|t| H_q[t][k] * w[t]).sum();
                for t in 0..MOBILITIES {
                    A_q[t][k] += H_q[t][k] * udot[root.u0 + i];
                }
            }
        }
        vary(&mut u);
        compute_kinematics(&system.tree, &still, &u, &mut self.along);
        let A_u = slopes(self.along.coriolis[root.node]);
        let to_speeds = minus(&self.Hi);
        let u_by_pose = product(&to_speeds, &product(&V_q, &self.Q));
        let udot_by_pose = product(&to_speeds, &sum(&product(&A_q, &self.Q), &product(&A_u, &u_by_pose)));
        let udot_by_velocity = product(&to_speeds, &product(&A_u, &self.Hi));
        Chain { u_by_pose, udot_by_pose, udot_by_velocity, turned }
    }

    /// Turns derivatives J of equations by coordinates, speeds and accelerations into those by the functions, their rates, and the rates of
    /// these; equations from `first` on are constraints, which have derivatives by speeds in the place of those by coordinates.
    #[allow(clippy::too_many_arguments)]
    pub fn by_functions(
        &mut self,
        system: &System,
        root: &PoseRoot,
        x: &State<f64>,
        udot: &[f64],
        w: &[f64; MOBILITIES],
        J: [Vec<f64>; 3],
        first: usize,
    ) -> [Vec<f64>; 3] {
        let (n, wide) = (root.mobilities, root.mobilities + PoseRoot::MORE);
        let chain = self.chain(system, root, x, udot, w);
        let rows = J[0].len() / n;
        let mut out = [(); 3].map(|()| vec![0.0; rows * wide]);
        // Rows of residuals by twist, velocity and acceleration of the root.
        let mut by = [(); 3].map(|()| vec![0.0; rows * MOBILITIES]);
        for row in 0..rows {
            let at = row * n + root.u0;
            let [q, u, a] = [0, 1, 2].map(|o: usize| &J[o][at..at + MOBILITIES]);
            let parts = if row < first {
                let q: Vec<f64> = q.iter().zip(&chain.turned[row]).map(|(q, t)| q - t).collect();
                let of =
                    |parts: [[f64; MOBILITIES]; 3]| std::array::from_fn(|k| parts.iter().map(|p| p[k]).sum());
                let none = [0.0; MOBILITIES];
                [
                    of([
                        row_times(&q, &self.Q),
                        row_times(u, &chain.u_by_pose),
                        row_times(a, &chain.udot_by_pose),
                    ]),
                    of([none, row_times(u, &self.Hi), row_times(a, &chain.udot_by_velocity)]),
                    row_times(a, &self.Hi),
                ]
            } else {
                [row_times(q, &self.Hi), [0.0; MOBILITIES], [0.0; MOBILITIES]]
            };
            for (by, part) in by.iter_mut().zip(parts) {
                by[row * MOBILITIES..(row + 1) * MOBILITIES].copy_from_slice(&part);
            }
            for (out, J) in out.iter_mut().zip(&J) {
                out[row * wide..row * wide + n].copy_from_slice(&J[row * n..(row + 1) * n]);
            }
        }
        for (out, by) in out.iter_mut().zip(&mut by) {
            self.to_wrench(&mut out[..first * wide], wide);
            self.to_wrench(&mut by[..first * MOBILITIES], MOBILITIES);
        }
        for row in 0..rows {
            let [pose, velocity, acceleration] = [0, 1, 2].map(|o: usize| -> [f64; MOBILITIES] {
                std::array::from_fn(|k| by[o][row * MOBILITIES + k])
            });
            let numbers = [
                self.by_numbers([&pose, &velocity, &acceleration]),
                self.by_rates(&velocity),
                self.by_rates(&acceleration),
            ];
            for (out, numbers) in out.iter_mut().zip(numbers) {
                (0..NUMBERS).for_each(|k| out[row * wide + root.function(k)] = numbers[k]);
            }
        }
        out
    }

    /// Derivatives by the numbers from those by twist, velocity and acceleration.
    fn by_numbers(&self, [pose, velocity, acceleration]: [&[f64; MOBILITIES]; 3]) -> [f64; NUMBERS] {
        let mut out = self.by_rates(pose);
        for i in 0..3 {
            let more =
                self.column(i, 1).cross(part(velocity, 0)) + self.column(i, 2).cross(part(acceleration, 0));
            let more = (more * 0.5).to_array();
            (0..3).for_each(|a| out[3 * i + a] += more[a]);
        }
        out
    }

    /// Derivatives by the highest rate of the numbers: also those by the numbers of what depends on the pose alone.
    pub fn by_rates(&self, twist: &[f64; MOBILITIES]) -> [f64; NUMBERS] {
        let mut out = [0.0; NUMBERS];
        for i in 0..3 {
            let d = (part(twist, 0).cross(self.column(i, 0)) * 0.5).to_array();
            (0..3).for_each(|a| out[3 * i + a] = d[a]);
        }
        out[9..].copy_from_slice(&twist[3..]);
        out
    }

    /// Rates of a coordinate of the root by twist.
    pub fn coordinate(&self, i: usize) -> &[f64; MOBILITIES] {
        &self.Q[i]
    }
}

/// Columns whose products are the equations (1).
const PAIRS: [(usize, usize); ORTHONORMAL] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

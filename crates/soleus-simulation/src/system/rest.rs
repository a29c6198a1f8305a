//! Static equilibrium of a model.

use super::damped::{ExplicitMotion, ImplicitMotion, Motion};
use crate::stop::Stop;
use soleus_dynamics::implicit::{ImplicitJacobian, ImplicitSystem, JacobianWorkspace, SparseMatrix};
use soleus_dynamics::joint::speeds_from_rates;
use soleus_dynamics::system::{State, System, Workspace};
use soleus_math::{solve_least_squares, vec3};

/// Options of the search for a static equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct RestOptions {
    /// Maximum residual: N and N·m for coordinates, m and rad for constraints, their own units for muscles.
    pub tolerance: f64,
    /// Maximum distance of a coordinate from equilibrium, rad or m, for which Newton's result is accepted.
    pub max_jump: f64,
    /// Duration of the motion before the first Newton attempt, s; each later one is 1.5 times as long.
    pub first_stretch: f64,
    /// Maximum duration of the motion, s.
    pub max_time: f64,
    /// Rate of the additional damping of the motion, 1/s.
    pub damping: f64,
}

impl Default for RestOptions {
    fn default() -> Self {
        // A limb swings at 3 to 8 rad/s; damping near that lets it settle soonest.
        RestOptions { tolerance: 1e-8, max_jump: 0.05, first_stretch: 0.2, max_time: 60.0, damping: 5.0 }
    }
}

/// A state of static equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    /// The state; speeds are zero.
    pub state: State<f64>,
    /// Multipliers λ of the constraints.
    pub multipliers: Vec<f64>,
    /// Maximum residual.
    pub residual: f64,
    /// Newton iterations.
    pub iterations: usize,
    /// Number of steps of the motion.
    pub steps: usize,
    /// Duration of the motion, s.
    pub time: f64,
    /// Maximum distance from the end of the motion, rad or m.
    pub jump: f64,
}

/// Why no equilibrium was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RestError {
    /// Forces that cannot be balanced, because neither pose nor muscles affect them.
    #[error("no equilibrium exists: nothing in the model balances the forces")]
    Unbalanced {
        /// Mobility and generalized force on it, N or N·m.
        forces: Vec<(usize, f64)>,
    },
    /// No equilibrium was found.
    #[error(
        "no state at rest was found in {time:.1} s of motion and {iterations} Newton iterations; residual {residual:.3e}"
    )]
    NotFound {
        /// Duration of the motion, s.
        time: f64,
        /// Newton iterations.
        iterations: usize,
        /// Maximum residual at the end of the motion.
        residual: f64,
        /// Equation with the maximum residual, in the order of x = [q, u, z], followed by constraints.
        equation: usize,
        /// The state.
        state: Box<State<f64>>,
        /// Unbalanced generalized force, by mobility.
        forces: Vec<f64>,
        /// The mobility with the highest speed, and its speed.
        creeping: (usize, f64),
    },
    /// The run was cancelled.
    #[error("stopped after {time:.1} s of motion")]
    Stopped {
        /// Duration of the motion, s.
        time: f64,
    },
    /// The motion could not continue.
    #[error("the model could not be simulated: {0}")]
    Motion(#[from] Stop),
}

/// Finds a state with u = 0 and f(x, 0, e, λ) = 0, including position constraints, possibly from a poor initial guess.
/// Initial speeds are ignored; time is constant.
///
/// The model is simulated with additional damping of every coordinate,
///
///   M u̇ + c + Gᵀ λ = f − 2 ω diag(M) u,   ω = `damping`                                     (1)
///
/// which has the same equilibria. Before the motion and at intervals, Newton's method with Levenberg–Marquardt damping
///
///   [f_u; f_z; perr](q, z, λ) = 0                                                           (2)
///
/// is tried, and its result accepted if it is close to the current state. The result is therefore an equilibrium to
/// which the motion converges, not an arbitrary root.
pub fn solve_rest(
    system: &System,
    controls: &[f64],
    start: &State<f64>,
    options: &RestOptions,
) -> Result<Rest, RestError> {
    solve_rest_while(system, controls, start, options, &|| true)
}

/// The same, as long as `go_on` returns true.
pub fn solve_rest_while(
    system: &System,
    controls: &[f64],
    start: &State<f64>,
    options: &RestOptions,
    go_on: &dyn Fn() -> bool,
) -> Result<Rest, RestError> {
    let mut at = start.clone();
    at.u.fill(0.0);
    let mut motion = ImplicitMotion::new(system, controls, &at, options.damping);
    match settle(system, controls, at.clone(), options, (&mut motion, go_on)) {
        // Constraints that repeat each other make the matrices of implicit steps singular; explicit ones have none.
        Err(RestError::Motion(Stop::Singular { .. })) => {
            let mut motion = ExplicitMotion::new(system, controls, &at, options.damping);
            settle(system, controls, at, options, (&mut motion, go_on))
        }
        done => done,
    }
}

/// Lets `motion` go on from `at`, jumping now and then.
fn settle(
    system: &System,
    controls: &[f64],
    mut at: State<f64>,
    options: &RestOptions,
    (motion, go_on): (&mut dyn Motion, &dyn Fn() -> bool),
) -> Result<Rest, RestError> {
    let mut newton = Newton::new(system, controls);
    let weight = system.gravity.norm() * system.tree.nodes.iter().map(|b| b.mass).sum::<f64>();
    let (mut end, mut stretch, mut creeping) = (0.0, options.first_stretch, (0, 0.0));
    loop {
        let mut v = newton.unknowns(&at, motion.multipliers());
        let last = end >= options.max_time;
        // A root out of reach would not be taken: no need to go all the way.
        let reach = if last { f64::INFINITY } else { 4.0 * options.max_jump };
        let tries = if last { LAST_TRY } else { TRY };
        let residual = newton.solve(&at, &mut v, options.tolerance, reach, (tries, go_on));
        let mut found = at.clone();
        let lambda = newton.set(&mut found, &v);
        let jump = soleus_math::norm::largest_difference(&found.q, &at.q);
        let nearly = last && residual <= ROUNDED * weight;
        if nearly || (residual <= options.tolerance && (jump <= options.max_jump || last)) {
            return Ok(Rest {
                state: found,
                multipliers: lambda,
                residual,
                iterations: newton.iterations,
                steps: motion.steps(),
                time: end,
                jump,
            });
        }
        if last {
            let moved = newton.unknowns(&at, motion.multipliers());
            if residual < newton.evaluate(&at, &moved) {
                at = found;
            } else {
                v = moved;
            }
            // Where it has come to after so long, and still nothing changes a force: nothing ever will.
            let beyond = newton.forces_beyond_reach(&at, &v, options.tolerance);
            if !beyond.is_empty() {
                return Err(RestError::Unbalanced { forces: beyond });
            }
            let (residual, equation, forces) = newton.unbalanced(&at, &v);
            let (time, iterations, state) = (end, newton.iterations, Box::new(at));
            return Err(RestError::NotFound {
                time,
                iterations,
                residual,
                equation,
                state,
                forces,
                creeping,
            });
        }
        end += stretch;
        stretch *= 1.5;
        motion.advance(end, go_on)?;
        if !go_on() {
            return Err(RestError::Stopped { time: end });
        }
        motion.read(&mut at);
        creeping = at.u.iter().copied().enumerate().fold(
            (0, 0.0),
            |a: (usize, f64), b| {
                if b.1.abs() > a.1.abs() { b } else { a }
            },
        );
        at.u.fill(0.0);
    }
}

/// Newton iterations of one try; near rest five will do, from afar it is not worth more.
const TRY: usize = 15;
/// The same when there is no other hope.
const LAST_TRY: usize = 300;
/// What is left unbalanced, in units of the weight, where a model's own numbers are rounded: a floor turned upright by an angle of
/// nine digits is none to rest on, strictly.
const ROUNDED: f64 = 1e-8;

/// A variable counts as this many times as strong as the strongest at least: one that hardly changes any force, such as the place
/// of a ball on a plane, is not to be moved far for a small one.
const WEAK: f64 = 1e-6;

/// Newton's method on (2).
struct Newton<'a> {
    implicit: ImplicitSystem<'a>,
    controls: Vec<f64>,
    ws: Workspace<f64>,
    jw: JacobianWorkspace,
    jacobian: ImplicitJacobian,
    x: State<f64>,
    rest: Vec<f64>,
    r: Vec<f64>,
    /// Residual and Jacobian of (2), column by column.
    g: Vec<f64>,
    J: Vec<Vec<f64>>,
    iterations: usize,
}

impl<'a> Newton<'a> {
    fn new(system: &'a System, controls: &[f64]) -> Self {
        let implicit = ImplicitSystem::new(system);
        let (rows, columns) = (num_rows(system), num_columns(system));
        Newton {
            ws: system.workspace(),
            jw: implicit.jacobian_workspace(),
            jacobian: implicit.jacobian(),
            x: system.default_state.clone(),
            rest: vec![0.0; implicit.num_states()],
            r: vec![0.0; implicit.num_residuals()],
            g: vec![0.0; rows],
            J: vec![vec![0.0; rows]; columns],
            controls: controls.to_vec(),
            iterations: 0,
            implicit,
        }
    }

    /// (q, z, λ); without multipliers those of the motion from here.
    fn unknowns(&mut self, x: &State<f64>, lambda: Option<&[f64]>) -> Vec<f64> {
        let system = &*self.implicit.system;
        let mut v = [&x.q[..], &x.z].concat();
        match lambda {
            Some(l) => v.extend_from_slice(l),
            None => {
                let known = system.compute_motion(x, &self.controls, &mut self.ws).is_ok();
                let usable = |l: &f64| if known && l.is_finite() { *l } else { 0.0 };
                v.extend(self.ws.constraints.lambda.iter().map(usable));
            }
        }
        v
    }

    /// Puts the unknowns into a state; returns the multipliers.
    fn set(&self, x: &mut State<f64>, v: &[f64]) -> Vec<f64> {
        let (n, nz) = (x.q.len(), x.z.len());
        x.q.copy_from_slice(&v[..n]);
        x.z.copy_from_slice(&v[n..n + nz]);
        v[n + nz..].to_vec()
    }

    /// Residual and Jacobian of (2); the largest residual, NaN counting as such.
    fn evaluate(&mut self, at: &State<f64>, v: &[f64]) -> f64 {
        let system = &*self.implicit.system;
        let (n, nz, np) = (at.q.len(), at.z.len(), system.constraints.num_position());
        self.x.time = at.time;
        self.x.u.fill(0.0);
        self.x.q.copy_from_slice(&v[..n]);
        self.x.z.copy_from_slice(&v[n..n + nz]);
        let (x, rest, lambda) = (&self.x, &self.rest, &v[n + nz..]);
        let (ws, jw) = (&mut self.ws, &mut self.jw);
        let (r, j) = (&mut self.r, &mut self.jacobian);
        self.implicit.compute_jacobian(x, rest, &self.controls, lambda, ws, jw, r, j);

        // Rows of the coordinates and of the muscles.
        self.g[..n + nz].copy_from_slice(&self.r[n..2 * n + nz]);
        self.J.iter_mut().for_each(|column| column.fill(0.0));
        let place = |c: usize| if c < n { Some(c) } else { c.checked_sub(n).filter(|c| *c >= n) };
        for (row, c, value) in entries(&self.jacobian.dx) {
            if let (Some(row), Some(c)) = (row.checked_sub(n).filter(|r| *r < n + nz), place(c)) {
                self.J[c][row] = value;
            }
        }
        for (row, c, value) in entries(&self.jacobian.dlambda) {
            if let Some(row) = row.checked_sub(n).filter(|r| *r < n + nz) {
                self.J[n + nz + c][row] = value;
            }
        }

        // Positions of constraints: ∂perr/∂q = G N⁻¹.
        let G = &self.ws.constraints.G;
        for k in 0..np {
            let row = n + nz + k;
            self.g[row] = self.ws.constraints.qerr[k];
            for (column, g) in self.J.iter_mut().zip(&G[k * n..(k + 1) * n]) {
                column[row] = *g;
            }
        }
        for node in system.tree.nodes.iter().filter(|k| k.joint.speeds_are_angular_velocity()) {
            let i = node.u0;
            let q = vec3(self.x.q[i], self.x.q[i + 1], self.x.q[i + 2]);
            for c in 0..3 {
                let mut unit = [0.0; 3];
                unit[c] = 1.0;
                let w = speeds_from_rates(q, vec3(unit[0], unit[1], unit[2])).to_array();
                for k in 0..np {
                    let slope = (0..3).map(|a| G[k * n + i + a] * w[a]).sum();
                    self.J[i + c][n + nz + k] = slope;
                }
            }
        }
        largest(&self.g)
    }

    /// Forces on coordinates that no unknown changes.
    fn forces_beyond_reach(&mut self, x: &State<f64>, v: &[f64], tolerance: f64) -> Vec<(usize, f64)> {
        self.evaluate(x, v);
        let n = x.q.len();
        let scale = (0..n).map(|i| self.g[i].abs()).fold(1.0, f64::max);
        let fixed = |i: &usize| self.J.iter().all(|column| column[*i].abs() <= 1e-12 * scale);
        let out = (0..n).filter(fixed).filter(|i| !(self.g[*i].abs() <= tolerance.max(1e-12 * scale)));
        // The residual is what would have to be added.
        out.map(|i| (i, -self.g[i])).collect()
    }

    /// Largest residual at a state and where it is, and the generalized forces that are not balanced.
    fn unbalanced(&mut self, x: &State<f64>, v: &[f64]) -> (f64, usize, Vec<f64>) {
        let residual = self.evaluate(x, v);
        let n = x.q.len();
        let worst = self.g.iter().position(|g| !(g.abs() < residual)).unwrap_or(0);
        (residual, n + worst, self.g[..n].iter().map(|g| -g).collect())
    }

    /// Moves `v` towards a root of (2), as long as `go_on` says so; returns the largest residual reached.
    fn solve(
        &mut self,
        at: &State<f64>,
        v: &mut [f64],
        tolerance: f64,
        reach: f64,
        (tries, go_on): (usize, &dyn Fn() -> bool),
    ) -> f64 {
        let columns = num_columns(&self.implicit.system);
        let mut worst = self.evaluate(at, v);
        if !worst.is_finite() {
            return f64::INFINITY;
        }
        // Levenberg–Marquardt: min ‖J Δ + g‖² + μ ‖D Δ‖², D the largest norm of each column so far.
        let (mut mu, mut D, mut next) = (1e-6, vec![0.0f64; columns], v.to_vec());
        let mut size = sum_of_squares(&self.g);
        for _ in 0..tries {
            if worst <= tolerance || !go_on() {
                break;
            }
            self.iterations += 1;
            for (c, d) in D.iter_mut().enumerate() {
                *d = d.max(sum_of_squares(&self.J[c]).sqrt());
            }
            let least = (WEAK * D.iter().copied().fold(0.0, f64::max)).max(1e-12);
            D.iter_mut().for_each(|d| *d = d.max(least));
            let mut a = self.J.clone();
            let mut b: Vec<f64> = self.g.iter().map(|g| -g).collect();
            b.resize(b.len() + columns, 0.0);
            for (c, (column, d)) in a.iter_mut().zip(&D).enumerate() {
                let rows = column.len();
                column.resize(rows + columns, 0.0);
                column[rows + c] = f64::sqrt(mu) * d;
            }
            let step = solve_least_squares(&mut a, &mut b);
            for ((n, v), s) in next.iter_mut().zip(v.iter()).zip(&step) {
                *n = v + s;
            }
            let tried = self.evaluate(at, &next);
            let new = sum_of_squares(&self.g);
            if tried.is_finite() && new < size {
                v.copy_from_slice(&next);
                if v.iter().zip(&at.q).any(|(v, q)| !((v - q).abs() <= reach)) {
                    return f64::INFINITY;
                }
                let fell = new / size;
                (worst, size) = (tried, new);
                mu = (mu * if fell < 0.25 { 0.01 } else { 0.3 }).max(1e-30);
                // No progress worth the name.
                if fell > 1.0 - 1e-6 && mu < 1e-3 {
                    break;
                }
            } else {
                mu = (mu * 10.0).max(1e-12);
                if mu > 1e6 {
                    break;
                }
                self.evaluate(at, v);
            }
        }
        worst
    }
}

fn num_rows(system: &System) -> usize {
    system.tree.num_mobilities + system.num_aux + system.constraints.num_position()
}

fn num_columns(system: &System) -> usize {
    system.tree.num_mobilities + system.num_aux + system.constraints.num_rows()
}

/// Row, column and value of each stored entry.
fn entries(m: &SparseMatrix) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
    (0..m.columns).flat_map(move |c| (m.start[c]..m.start[c + 1]).map(move |i| (m.row[i], c, m.value[i])))
}

fn largest(r: &[f64]) -> f64 {
    r.iter().fold(0.0, |m, r| if r.abs() <= m { m } else { r.abs() })
}

fn sum_of_squares(r: &[f64]) -> f64 {
    r.iter().map(|r| r * r).sum()
}

//! Residual elimination: finds translations of the root and angles of the low back for which all six residuals are
//! zero.
//!
//! The equations of the root (three forces, three moments) contain no muscle. With measured loads and all other coordinates as
//! measured they are linear in six accelerations, those of the root's translations q_x and of the back's angles q_b:
//!
//!   τ_root(q, u, u̇) = τ_root(q, u, u̇_measured) + M_root,xb u̇_xb = 0                                  (1)
//!
//! They are integrated from initial values and speeds of these six coordinates. The twelve initial values minimize
//!
//!   J = w_x Σ |q_x − q̂_x|² + w_b Σ |q_b − q̂_b|² + w_s Σ |q_b(t) − S q_b(t − p)|²    [mm, deg]        (2)
//!
//! over samples 0.01 s apart, where p is half a gait cycle (S changes the sign of bending and rotation) or a whole one
//! (S = 1), and the mean deviation of the flexion angle is not penalised.
//!
//! Source: Thelen & Anderson (2006), Using computed muscle control to generate forward dynamic simulations of human
//! walking from experimental data, J Biomech 39:1107–1115, section 2.2. They used about 500 simulations for the search;
//! here derivatives with respect to the initial values are computed by dual numbers during the integration, and a few
//! Gauss–Newton steps suffice.

mod integrate;
mod unknowns;

pub use unknowns::{Role, Unknown};

use crate::inverse_dynamics::{self, Solver, exclude};
use crate::motion_splines::MotionSplines;
use integrate::{Equations, Mesh, N, Path};
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{State, System};
use soleus_math::Real;
use soleus_math::dense::solve_positive_definite;
use soleus_math::table::{Element, Table, TableError};
use soleus_model::Model;
use soleus_model::angles::degrees_of;
use soleus_model::force::Force;
use soleus_model::joint::MotionType;
use unknowns::Unknowns;
pub(crate) use unknowns::root;

/// Degree of the splines through the measured coordinates: Thelen & Anderson's seventh order.
pub const DEGREE: usize = 7;

/// Periodicity of the back motion within the trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycle {
    /// Not known.
    #[default]
    None,
    /// Half a gait cycle: bending and rotation end with the opposite sign.
    Half,
    /// A whole cycle: the back ends as it started.
    Whole,
}

/// What to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Cutoff frequency (Hz) of the low-pass filter on the coordinates; `None` for no filter.
    pub cutoff_hz: Option<f64>,
    /// Start and end time, s.
    pub range: [f64; 2],
    /// Model forces to exclude, as in inverse dynamics.
    pub excluded: Vec<String>,
    /// Translations of the root to solve for; empty: those of the joint between ground and most of the mass.
    pub translations: Vec<String>,
    /// Angles to solve for; empty: those of the joint at the root that carries most mass.
    pub back: Vec<String>,
    /// Weight w_x of translations, mm⁻².
    pub translation_weight: f64,
    /// Weight w_b of angles, deg⁻².
    pub back_weight: f64,
    /// Weight w_s of periodicity, deg⁻².
    pub symmetry_weight: f64,
    /// Periodicity of the back motion.
    pub cycle: Cycle,
    /// Period p, s; default: the whole range.
    pub period: Option<f64>,
    /// Whether a constant difference of flexion is ignored.
    pub detrend_flexion: bool,
    /// Time between the samples in the cost, s.
    pub sample_time: f64,
    /// Maximum error of the acceleration (in units of gravity) in an integration step.
    pub tolerance: f64,
    /// Time between rows of the result, s; default: rows of the data.
    pub output_step: Option<f64>,
    /// Maximum number of Gauss–Newton steps.
    pub max_iterations: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            cutoff_hz: None,
            range: [f64::NEG_INFINITY, f64::INFINITY],
            excluded: vec!["all".to_string()],
            translations: Vec::new(),
            back: Vec::new(),
            translation_weight: 1.0,
            back_weight: 1.0,
            symmetry_weight: 1.0,
            cycle: Cycle::None,
            period: None,
            detrend_flexion: true,
            sample_time: 0.01,
            tolerance: 1e-7,
            output_step: None,
            max_iterations: 50,
        }
    }
}

/// Change of a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The coordinate.
    pub name: String,
    /// Role of the coordinate.
    pub role: Role,
    /// RMS difference from the measured value, m or rad; for flexion without the mean difference if requested.
    pub rms: f64,
    /// The mean difference, m or rad.
    pub mean: f64,
    /// The maximum difference, m or rad.
    pub largest: f64,
}

/// A motion without residuals.
#[derive(Clone, Debug)]
pub struct Eliminated {
    /// All coordinates at the rows of the data; rotations in degrees if the data are in degrees.
    pub motion: Table,
    /// Rates of all coordinates, in the unit of the motion per second.
    pub rates: Table,
    /// Derivatives of the speeds of all mobilities with a coordinate, rad/s² and m/s².
    pub accelerations: Table,
    /// Change of each coordinate that was solved for.
    pub changes: Vec<Change>,
    /// Maximum residual force (N) and moment (N m) at the rows, with the accelerations of the solution.
    pub residual: [f64; 2],
    /// Number of Gauss–Newton steps.
    pub iterations: usize,
    /// Number of integration steps over the trial.
    pub integration_steps: usize,
    /// J for the measured initial values, and for the solution.
    pub cost: [f64; 2],
    /// Whether the last step changed J by a fraction of less than 1e-10.
    pub converged: bool,
    /// Coordinates without data.
    pub at_default: Vec<String>,
    /// Names in `excluded` that are not in the model.
    pub unknown_forces: Vec<String>,
}

/// Why residuals cannot be eliminated.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Error of inverse dynamics.
    #[error(transparent)]
    Motion(#[from] inverse_dynamics::Error),
    /// No body moves freely in ground.
    #[error("the model cannot translate relative to ground: there are no residuals to eliminate")]
    NoRoot,
    /// A coordinate that is not in the model.
    #[error("the model has no coordinate `{name}`")]
    NoSuchCoordinate {
        /// The name.
        name: String,
    },
    /// Equations and unknowns do not match.
    #[error("the root has {equations} equations, but {} coordinates are solved for: {}", unknowns.len(), unknowns.join(", "))]
    Count {
        /// Mobilities of the root.
        equations: usize,
        /// Coordinates found or named.
        unknowns: Vec<String>,
    },
    /// Only some components of an angular velocity were requested.
    #[error("the joint of `{name}` uses an angular velocity: solve for all three of its angles, or none")]
    PartOfBall {
        /// A coordinate of the joint.
        name: String,
    },
    /// A coordinate to solve for has no data.
    #[error("the motion has no column for `{name}`, which is solved for")]
    NoData {
        /// The coordinate.
        name: String,
    },
    /// The equations do not determine the accelerations.
    #[error("at {time:.3} s the equations of the root do not determine the accelerations of {}", unknowns.join(", "))]
    Singular {
        /// Time, s.
        time: f64,
        /// The coordinates.
        unknowns: Vec<String>,
    },
    /// The time range is empty.
    #[error("the motion spans {first} s to {last} s: fewer than two samples lie between {from} s and {to} s")]
    TooShort {
        /// First time of the data.
        first: f64,
        /// Last time of the data.
        last: f64,
        /// Start of the requested range.
        from: f64,
        /// End of the requested range.
        to: f64,
    },
    /// An invalid value.
    #[error("{what} is {value}, but must be {expected}")]
    Value {
        /// Name of the value.
        what: &'static str,
        /// The value.
        value: f64,
        /// Expected value.
        expected: &'static str,
    },
}

impl From<SystemError> for Error {
    fn from(e: SystemError) -> Self {
        Error::Motion(inverse_dynamics::Error::System(Box::new(e)))
    }
}

impl From<TableError> for Error {
    fn from(e: TableError) -> Self {
        Error::Motion(inverse_dynamics::Error::Table(e))
    }
}

/// The motion closest to `coordinates` without residuals under measured `loads`.
///
/// `going_on` is called with each Gauss–Newton step and J, and may stop the search, which then returns the current
/// result.
pub fn eliminate_residuals(
    mut model: Model,
    loads: Vec<Force>,
    coordinates: &Table,
    settings: &Settings,
    going_on: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Eliminated, Error> {
    check(settings)?;
    let excluded = inverse_dynamics::Settings {
        excluded: settings.excluded.clone(),
        ..inverse_dynamics::Settings::default()
    };
    let unknown_forces = exclude(&mut model, &excluded);
    model.forces.extend(loads);
    let system = System::compile(&model)?;
    let motion = MotionSplines::new(&model, &system, coordinates, settings.cutoff_hz, DEGREE)?;
    let unknowns = Unknowns::find(&model, &system, &settings.translations, &settings.back)?;
    if let Some(u) = unknowns.list.iter().find(|u| !motion.holds(u.mobility)) {
        return Err(Error::NoData { name: u.name.clone() });
    }
    let (rows, samples) = times(coordinates.times(), settings)?;
    let equations = Equations { system: &system, motion: &motion, unknowns: &unknowns };

    // Meshes follow from the tolerance along the measured start and stay. Motion and J are computed on the fine one. Derivatives of the
    // motion, which cost ten times as much, come from a coarse one: they need few digits, as J is almost quadratic.
    let start = equations.measured(rows[0]);
    let mesh = Mesh::adapt(&equations, &rows, &samples, &start, settings.tolerance)?;
    let coarse_tolerance = settings.tolerance.max(COARSE_TOLERANCE);
    let coarse =
        Mesh::adapt(&equations, &[rows[0], rows[rows.len() - 1]], &samples, &start, coarse_tolerance)?;
    let fit = Fit::new(&equations, &samples, settings);
    let mut initial = start;
    let mut path: Path<f64> = mesh.integrate(&equations, &initial)?;
    let mut slopes = coarse.slopes(&equations, &initial)?;
    let (mut cost, mut gradient, mut hessian) = fit.normal_equations(&path, &slopes);
    let first_cost = cost;
    let (mut iterations, mut converged, mut fresh) = (0, false, true);
    while iterations < settings.max_iterations && !converged && going_on(iterations, cost) {
        iterations += 1;
        let n = 2 * unknowns.list.len();
        let (mut step, mut a) = (gradient.clone(), hessian);
        step.iter_mut().for_each(|g| *g = -*g);
        if !solve_positive_definite(&mut a, &mut step, n) {
            break;
        }
        // A full step nearly always, else a part of it.
        let mut part = 1.0;
        let accepted = loop {
            let next = initial.moved(&step, part);
            if let Ok(tried) = mesh.integrate(&equations, &next) {
                let c = fit.cost(&tried);
                if c <= cost {
                    break Some((next, tried, c));
                }
            }
            part *= 0.25;
            if part < 1e-6 {
                break None;
            }
        };
        let Some((next, tried, c)) = accepted else {
            // With derivatives of this place no step gains: this is the least. Else they are computed anew.
            converged = fresh;
            slopes = coarse.slopes(&equations, &initial)?;
            (_, gradient, hessian) = fit.normal_equations(&path, &slopes);
            fresh = true;
            continue;
        };
        let gained = (cost - c) / cost.max(f64::MIN_POSITIVE);
        (initial, path, cost) = (next, tried, c);
        // Old derivatives may gain nothing well before the least: back flexion, whose mean costs nothing, would end 0.02 degrees off.
        let is_still = gained <= 1e-9;
        converged = is_still && fresh;
        fresh = !converged && (is_still || gained > NEARLY_THERE);
        if fresh {
            slopes = coarse.slopes(&equations, &initial)?;
        }
        (_, gradient, hessian) = fit.normal_equations(&path, &slopes);
    }
    let changes = fit.changes(&path);
    let result = Tables::fill(&model, &equations, &path, &rows, coordinates)?;
    Ok(Eliminated {
        motion: result.motion,
        rates: result.rates,
        accelerations: result.accelerations,
        changes,
        residual: result.residual,
        iterations,
        integration_steps: mesh.num_steps(),
        cost: [first_cost, cost],
        converged,
        at_default: motion.at_default.clone(),
        unknown_forces,
    })
}

fn check(s: &Settings) -> Result<(), Error> {
    let weights = [
        ("the weight of translations", s.translation_weight),
        ("the weight of the back's angles", s.back_weight),
        ("the weight of symmetry", s.symmetry_weight),
    ];
    let expected = "0 or above";
    if let Some(&(what, value)) = weights.iter().find(|(_, w)| !(*w >= 0.0 && w.is_finite())) {
        return Err(Error::Value { what, value, expected });
    }
    if s.translation_weight == 0.0 || s.back_weight == 0.0 {
        // A coordinate that nothing holds has no best initial value.
        let (what, value) = *weights.iter().find(|(_, w)| *w == 0.0).unwrap_or(&weights[0]);
        return Err(Error::Value { what, value, expected: "above 0" });
    }
    let positive = [
        ("the time between samples", s.sample_time),
        ("the tolerance", s.tolerance),
        ("the period", s.period.unwrap_or(1.0)),
        ("the time between rows", s.output_step.unwrap_or(1.0)),
    ];
    match positive.iter().find(|(_, x)| !(*x > 0.0 && x.is_finite())) {
        Some(&(what, value)) => Err(Error::Value { what, value, expected: "above 0" }),
        None => Ok(()),
    }
}

/// Tolerance of the integration that carries derivatives.
const COARSE_TOLERANCE: f64 = 1e-4;

/// A step that lessens J by less than this part keeps the derivatives for the next one.
const NEARLY_THERE: f64 = 0.1;

/// Values with their derivatives by the initial numbers.
type Slopes = soleus_math::Dual<f64, N>;

/// Two times that differ by less are one, s.
const SAME_TIME_S: f64 = 1e-9;

/// Rows of the data in the range, and times of the samples that are compared.
fn times(data: &[f64], s: &Settings) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let [from, to] = s.range;
    let inside = |t: &&f64| **t >= from - SAME_TIME_S && **t <= to + SAME_TIME_S;
    let mut rows: Vec<f64> = data.iter().filter(inside).copied().collect();
    let (first, last) = (data.first().copied().unwrap_or(0.0), data.last().copied().unwrap_or(0.0));
    let (Some(&begin), Some(&end)) = (rows.first(), rows.last()) else {
        return Err(Error::TooShort { first, last, from, to });
    };
    let count = ((end - begin + SAME_TIME_S) / s.sample_time).floor() as usize;
    if count < 2 {
        return Err(Error::TooShort { first, last, from, to });
    }
    if let Some(step) = s.output_step {
        let count = ((end - begin + SAME_TIME_S) / step).floor() as usize;
        rows = (0..=count).map(|i| begin + step * i as f64).collect();
    }
    // From the first row on; those that the paper sums over begin with the next.
    let samples = (0..=count).map(|i| begin + s.sample_time * i as f64).collect();
    Ok((rows, samples))
}

/// J, its gradient and its Gauss–Newton matrix.
struct Fit<'a> {
    unknowns: &'a Unknowns,
    samples: &'a [f64],
    /// Measured values by sample and unknown.
    measured: Vec<Vec<f64>>,
    settings: &'a Settings,
}

/// Units of J: mm and degrees.
const PER_M: f64 = 1e3;

impl<'a> Fit<'a> {
    fn new(e: &Equations<'a>, samples: &'a [f64], settings: &'a Settings) -> Self {
        let of = |t: &f64| e.unknowns.list.iter().map(|u| e.motion.at(u.mobility, *t)[0]).collect();
        Fit { unknowns: e.unknowns, samples, measured: samples.iter().map(of).collect(), settings }
    }

    fn is_detrended(&self, u: &Unknown) -> bool {
        u.role == Role::Flexion && self.settings.detrend_flexion
    }

    /// Samples between two that should be alike.
    fn period(&self) -> Option<usize> {
        let s = self.settings;
        let all = self.samples.len() - 1;
        let p = match s.period {
            Some(p) => (p / s.sample_time).round() as usize,
            None => all,
        };
        (s.cycle != Cycle::None && p > 0 && p <= all).then_some(p)
    }

    /// J, mm² and deg².
    fn cost(&self, path: &Path<f64>) -> f64 {
        let mut cost = 0.0;
        self.terms(|i, k| path.samples[i][k], &mut |w, r| cost += w * r * r);
        cost
    }

    /// J (mm², deg²), ∂J/2 and the matrix of Gauss–Newton, row by row, by initial values and speeds, with the derivatives of `slopes`.
    fn normal_equations(&self, path: &Path<f64>, slopes: &[Vec<Slopes>]) -> (f64, Vec<f64>, Vec<f64>) {
        let n = 2 * self.unknowns.list.len();
        let (mut cost, mut g, mut h) = (0.0, vec![0.0; n], vec![0.0; n * n]);
        let at = |i: usize, k: usize| Slopes { v: path.samples[i][k], ..slopes[i][k] };
        self.terms(at, &mut |w: f64, r: Slopes| {
            cost += w * r.v * r.v;
            for i in 0..n {
                g[i] += w * r.v * r.d[i];
                for j in 0..n {
                    h[i * n + j] += w * r.d[i] * r.d[j];
                }
            }
        });
        (cost, g, h)
    }

    /// Calls `add` with weight and size of every difference that J sums over, for values of unknown k in sample i.
    fn terms<T: Real>(&self, at: impl Fn(usize, usize) -> T, add: &mut dyn FnMut(f64, T)) {
        let s = self.settings;
        let count = self.samples.len();
        for (k, u) in self.unknowns.list.iter().enumerate() {
            let (unit, w) = match u.role.is_translation() {
                true => (PER_M, s.translation_weight),
                false => (1f64.to_degrees(), s.back_weight),
            };
            let mut off: Vec<T> = (0..count).map(|i| (at(i, k) - self.measured[i][k]) * unit).collect();
            if self.is_detrended(u) {
                let mean = off.iter().copied().sum::<T>() / count as f64;
                off.iter_mut().for_each(|o| *o -= mean);
            }
            off.iter().for_each(|o| add(w, *o));
            if let Some(p) = self.period().filter(|_| !u.role.is_translation()) {
                let mirrored = s.cycle == Cycle::Half && u.role != Role::Flexion;
                let sign = if mirrored { -1.0 } else { 1.0 };
                (p..count).for_each(|i| add(s.symmetry_weight, (at(i, k) - at(i - p, k) * sign) * unit));
            }
        }
    }

    fn changes(&self, path: &Path<f64>) -> Vec<Change> {
        let count = self.samples.len() as f64;
        let of = |(k, u): (usize, &Unknown)| {
            let off: Vec<f64> = path.samples.iter().zip(&self.measured).map(|(y, m)| y[k] - m[k]).collect();
            let mean = off.iter().sum::<f64>() / count;
            let less = if self.is_detrended(u) { mean } else { 0.0 };
            let rms = (off.iter().map(|o| (o - less).powi(2)).sum::<f64>() / count).sqrt();
            let largest = off.iter().fold(0.0f64, |m, o| m.max((o - less).abs()));
            Change { name: u.name.clone(), role: u.role, rms, mean, largest }
        };
        self.unknowns.list.iter().enumerate().map(of).collect()
    }
}

/// The motion as tables.
struct Tables {
    motion: Table,
    rates: Table,
    accelerations: Table,
    residual: [f64; 2],
}

impl Tables {
    fn fill(
        model: &Model,
        e: &Equations,
        path: &Path<f64>,
        rows: &[f64],
        given: &Table,
    ) -> Result<Self, Error> {
        let (system, tree) = (e.system, &e.system.tree);
        let mobilities: Vec<usize> =
            (0..tree.num_mobilities).filter(|&m| tree.coordinate_of_mobility[m].is_some()).collect();
        let coordinate = |m: &usize| tree.coordinate_of_mobility[*m].map(|c| &model.coordinates[c.0]);
        let mut columns = vec![vec![Vec::with_capacity(rows.len()); mobilities.len()]; 3];
        let mut solver = Solver::new(system);
        let mut residual = [0.0f64; 2];
        for (i, &t) in rows.iter().enumerate() {
            e.motion.compute(t, &mut solver.state, &mut solver.udot);
            let (y, v, a) = &path.rows[i];
            for (k, u) in e.unknowns.list.iter().enumerate() {
                (solver.state.q[u.mobility], solver.state.u[u.mobility]) = (y[k], v[k]);
                solver.udot[u.mobility] = a[k];
            }
            solver.compute(system);
            for &m in &e.unknowns.rows {
                let turns = coordinate(&m).is_some_and(|c| c.motion_type == MotionType::Rotational);
                let worst = &mut residual[usize::from(turns)];
                *worst = worst.max(solver.tau[m].abs());
            }
            let rates = system.coordinate_rates(&solver.state);
            for (j, m) in mobilities.iter().enumerate() {
                let own = coordinate(m).filter(|_| given.in_degrees == Some(true));
                let unit = own.map_or(1.0, degrees_of);
                columns[0][j].push(unit * solver.state.q[*m]);
                columns[1][j].push(unit * rates[*m]);
                columns[2][j].push(solver.udot[*m]);
            }
        }
        let labels: Vec<String> =
            mobilities.iter().filter_map(|m| coordinate(m).map(|c| c.name.clone())).collect();
        let make = |name: &str, columns: Vec<Vec<f64>>, in_degrees: Option<bool>| {
            let mut t = Table::new(Element::Scalar, labels.clone(), rows.to_vec(), columns)?;
            t.name = name.to_string();
            t.in_degrees = in_degrees;
            Ok::<_, TableError>(t)
        };
        let accelerations = columns.pop().unwrap_or_default();
        let rates = columns.pop().unwrap_or_default();
        let values = columns.pop().unwrap_or_default();
        let degrees = Some(given.in_degrees == Some(true));
        Ok(Tables {
            motion: make("Coordinates", values, degrees)?,
            rates: make("Speeds", rates, degrees)?,
            accelerations: make("Accelerations", accelerations, Some(false))?,
            residual,
        })
    }
}

/// A state without auxiliary states to begin with.
pub(crate) fn resting<T: Real>(system: &System) -> State<T> {
    system.default_state.lift()
}

#[cfg(test)]
mod tests;

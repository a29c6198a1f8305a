//! Inverse dynamics: generalized forces of a measured motion.
//!
//!   τ = M(q) q̈ + c(q, q̇) − Jᵀ (F_gravity + F_measured + F_model)
//!
//! with coordinates q(t) as quintic splines through the (filtered) data. Constraints are ignored: their forces are part
//! of τ. Filter, splines and the order of columns are those of OpenSim's `InverseDynamicsTool`.

mod joint_loads;

pub use joint_loads::equivalent_joint_load;

use crate::analysis::rows_within;
use crate::external_loads::LoadsError;
use crate::free_motion::{self, FreeBody, FreeMotion, free_nodes};
use soleus_dynamics::joint::speeds_from_rates;
use soleus_dynamics::multibody::compute_inverse_dynamics;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{Options, State, System, Workspace};
use soleus_math::function::{FunctionError, SplineKnots};
use soleus_math::signal::{SignalError, lowpass_butterworth, padded};
use soleus_math::table::{Element, Table, TableError};
use soleus_math::{Dual, SpatialVec, Vec3, vec3};
use soleus_model::force::{Force, ForceKind};
use soleus_model::joint::MotionType;
use soleus_model::{Model, angles};

/// Degree of the splines through coordinates.
const DEGREE: usize = 5;

/// What to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Cutoff frequency (Hz) of the low-pass filter on the coordinates; `None` for no filter.
    pub cutoff_hz: Option<f64>,
    /// First and last time, s.
    pub range: [f64; 2],
    /// Model forces to exclude: names, groups, or `all`, `actuators`, `muscles`, ignoring case.
    pub excluded: Vec<String>,
    /// Joints whose equivalent loads are computed: names, or `all`.
    pub joints: Vec<String>,
    /// Reproduces errors of OpenSim: columns named by path (`/jointset/hip/flexion/value`) are not found, only members
    /// of the model's force set can be excluded, and angles of ball joints are treated as integrals of the speeds.
    pub opensim_faults: bool,
    /// Filters and differentiates the angles of bodies that move freely in ground, as OpenSim does, instead of their
    /// poses. Moments then depend on the direction in which the subject faces.
    pub root_angles: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            cutoff_hz: None,
            range: [f64::NEG_INFINITY, f64::INFINITY],
            excluded: Vec::new(),
            joints: Vec::new(),
            opensim_faults: false,
            root_angles: false,
        }
    }
}

/// Generalized forces of a motion.
#[derive(Clone, Debug)]
pub struct Loads {
    /// `<coordinate>_moment` (N·m) and `<coordinate>_force` (N) in the order of the tree.
    pub generalized_forces: Table,
    /// `<joint>_<child frame>_FX` … `_MZ` (N, N·m) in ground; `None` if no joint was requested.
    pub joint_loads: Option<Table>,
    /// Coordinates without data, which keep their default values.
    pub at_default: Vec<String>,
    /// Names in `excluded` that are not in the model.
    pub unknown_forces: Vec<String>,
    /// Names in `joints` that are not in the model.
    pub unknown_joints: Vec<String>,
}

/// Why inverse dynamics is impossible.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data contain no coordinate of the model.
    #[error("none of the columns is a coordinate of the model")]
    NoCoordinates,
    /// A column cannot be interpolated by a spline.
    #[error("coordinate `{name}`: {source}")]
    Column {
        /// The coordinate.
        name: String,
        /// Cause.
        source: FunctionError,
    },
    /// A value is missing.
    #[error("coordinate `{name}` has no value at {time} s")]
    Missing {
        /// The coordinate.
        name: String,
        /// Time, s.
        time: f64,
    },
    /// The data cannot be filtered.
    #[error(transparent)]
    Signal(#[from] SignalError),
    /// There are no data in the requested time range.
    #[error("the motion spans {first} s to {last} s, outside the requested {from} s to {to} s")]
    NoFrames {
        /// First time of the data.
        first: f64,
        /// Last time of the data.
        last: f64,
        /// Start of the requested range.
        from: f64,
        /// End of the requested range.
        to: f64,
    },
    /// The model cannot be compiled.
    #[error(transparent)]
    System(Box<SystemError>),
    /// Invalid measured loads.
    #[error(transparent)]
    Loads(#[from] LoadsError),
    /// The results do not form a valid table.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Generalized forces of the motion `coordinates` (a table by coordinate name; rotations in degrees if its header says
/// so), with measured `loads` in addition to the model's own forces. Actuators have zero control, and auxiliary states
/// have their default values.
///
/// The model is passed by value because its forces change; clone it if it is needed again.
pub fn inverse_dynamics(
    mut model: Model,
    loads: Vec<Force>,
    coordinates: &Table,
    settings: &Settings,
) -> Result<Loads, Error> {
    let unknown_forces = exclude(&mut model, settings);
    model.forces.extend(loads);
    let model = &model;
    let options = Options { opensim_faults: settings.opensim_faults };
    let system = System::compile_with(model, &options).map_err(|e| Error::System(Box::new(e)))?;

    let (table, columns) = chosen_columns(model, coordinates, settings.opensim_faults)?;
    let table = match settings.cutoff_hz {
        Some(fc) => {
            let half = table.rows() / 2;
            let filter = |t: &Table| lowpass_butterworth(&padded(t, half)?, fc);
            let by_pose = |c: usize| columns.iter().position(|&k| k == c).filter(|_| !settings.root_angles);
            free_motion::filtered(model, &system, &table, by_pose, filter)?
        }
        None => table,
    };
    // Without OpenSim's faults, no frame that the filter added beyond the data.
    let span = match (coordinates.times().first(), coordinates.times().last(), settings.opensim_faults) {
        (Some(&first), Some(&last), false) => [first, last],
        _ => [f64::NEG_INFINITY, f64::INFINITY],
    };
    let times = frames(table.times(), span, settings.range)?;
    let motion = Motion::new(model, &system, (&table, &columns), coordinates, times, settings)?;

    let tree = &system.tree;
    let order: Vec<usize> =
        (0..tree.num_mobilities).filter(|&m| tree.coordinate_of_mobility[m].is_some()).collect();
    let (joints, unknown_joints) = joint_loads::named(model, &settings.joints);
    let mut forces = vec![Vec::with_capacity(times.len()); order.len()];
    let mut reported = vec![Vec::with_capacity(times.len()); 6 * joints.len()];
    let mut solver = Solver::new(&system);
    for (row, &t) in times.iter().enumerate() {
        solver.state.time = t;
        motion.compute(row, &mut solver.state, &mut solver.udot);
        solver.compute(&system);
        for (column, &m) in forces.iter_mut().zip(&order) {
            column.push(solver.tau[m]);
        }
        for (six, &j) in reported.chunks_exact_mut(6).zip(&joints) {
            let load = equivalent_joint_load(&system, &solver.ws.kin, j, &solver.tau);
            let (f, m) = (load.v.to_array(), load.w.to_array());
            for (column, x) in six.iter_mut().zip(f.into_iter().chain(m)) {
                column.push(x);
            }
        }
    }

    let label = |&m: &usize| {
        let c = tree.coordinate_of_mobility[m].map(|c| &model.coordinates[c.0])?;
        let kind = if c.motion_type == MotionType::Rotational { "moment" } else { "force" };
        Some(format!("{}_{kind}", c.name))
    };
    let make = |name: &str, labels, columns| {
        let mut t = Table::new(Element::Scalar, labels, times.to_vec(), columns)?;
        t.name = name.to_string();
        t.in_degrees = Some(false);
        Ok::<_, TableError>(t)
    };
    let labels = order.iter().filter_map(label).collect();
    let generalized_forces = make("Inverse Dynamics Generalized Forces", labels, forces)?;
    let joint_loads = if joints.is_empty() {
        None
    } else {
        let labels = joint_loads::labels(model, &joints);
        Some(make("Inverse Dynamics Body Forces at Specified Joints", labels, reported)?)
    };
    Ok(Loads {
        generalized_forces,
        joint_loads,
        at_default: motion.at_default,
        unknown_forces,
        unknown_joints,
    })
}

/// Inverse dynamics at one time; memory is allocated once.
#[derive(Clone, Debug)]
pub struct Solver {
    /// Time, coordinates and speeds to solve for; auxiliary states of the model's forces.
    pub state: State<f64>,
    /// Accelerations to solve for.
    pub udot: Vec<f64>,
    /// The generalized forces, after [`compute`](Self::compute).
    pub tau: Vec<f64>,
    /// Kinematics and loads.
    pub ws: Workspace<f64>,
    controls: Vec<f64>,
    A: Vec<SpatialVec<f64>>,
    F: Vec<SpatialVec<f64>>,
    has_paths: bool,
}

impl Solver {
    /// For a system, at its default state.
    pub fn new(system: &System) -> Self {
        let (n, nb) = (system.tree.num_mobilities, system.tree.nodes.len());
        Solver {
            state: system.default_state.clone(),
            udot: vec![0.0; n],
            tau: vec![0.0; n],
            ws: system.workspace(),
            controls: vec![0.0; system.num_controls],
            A: vec![SpatialVec::zero(); nb],
            F: vec![SpatialVec::zero(); nb],
            has_paths: system.forces.iter().any(|f| f.enabled && f.path.is_some()),
        }
    }

    /// As [`new`](Self::new), but lengths and speeds of paths are computed even if no force acts along them.
    pub fn with_paths(system: &System) -> Self {
        Solver { has_paths: true, ..Solver::new(system) }
    }

    /// Computes τ for the state and accelerations. Does not allocate memory.
    pub fn compute(&mut self, system: &System) {
        system.compute_kinematics(&self.state, &mut self.ws);
        if self.has_paths {
            system.compute_paths(&self.state, &mut self.ws);
        }
        system.compute_forces(&self.state, &self.controls, &mut self.ws);
        compute_inverse_dynamics(
            &system.tree,
            &self.ws.kin,
            &self.udot,
            &self.ws.body_load,
            &mut self.A,
            &mut self.F,
            &mut self.tau,
        );
        for (t, f) in self.tau.iter_mut().zip(&self.ws.mobility_load) {
            *t -= f;
        }
    }
}

/// Coordinates and their first two derivatives at the times of the result.
///
/// One spline lives at a time: together they would take more memory than all else.
struct Motion {
    /// q, q̇, q̈ by mobility, one row per time; `None` stays at the default.
    samples: Vec<Option<Vec<[f64; 3]>>>,
    defaults: Vec<f64>,
    /// First mobilities of joints whose speeds are an angular velocity, but have rates of angles in `samples`.
    angular: Vec<usize>,
    at_default: Vec<String>,
}

impl Motion {
    fn new(
        model: &Model,
        system: &System,
        (table, columns): (&Table, &[usize]),
        given: &Table,
        times: &[f64],
        settings: &Settings,
    ) -> Result<Self, Error> {
        let tree = &system.tree;
        let mut samples = vec![None; tree.num_mobilities];
        let mut y = Vec::with_capacity(table.rows());
        let mut knots = SplineKnots::new(DEGREE, table.times().to_vec());
        for (i, &c) in columns.iter().enumerate() {
            let coordinate = &model.coordinates[c];
            let m = tree.mobility_of_coordinate[c];
            y.clone_from(&table.columns()[i]);
            let unit = angles::unit_of(given, coordinate);
            y.iter_mut().for_each(|y| *y *= unit);
            if let Some(k) = y.iter().position(|y| !y.is_finite()) {
                return Err(Error::Missing { name: coordinate.name.clone(), time: table.times()[k] });
            }
            let spline = knots
                .interpolate(&y)
                .map_err(|source| Error::Column { name: coordinate.name.clone(), source })?;
            if let Some(slot) = samples.get_mut(m) {
                *slot = Some(times.iter().map(|&t| spline.eval(t)).collect());
            }
        }
        let mut angular: Vec<usize> = Vec::new();
        if !settings.opensim_faults {
            let nodes = tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity());
            angular.extend(nodes.map(|n| n.u0));
        }
        if !settings.root_angles {
            for node in free_nodes(system) {
                let body = FreeBody::new(system, node);
                let u0 = body.first_mobility();
                let column = |c: usize| columns.iter().position(|&k| k == c);
                if let Some(six) =
                    free_samples(model, (system, body), (table, &column), given, &mut knots, times)?
                {
                    samples[u0..u0 + 6].iter_mut().zip(six).for_each(|(slot, s)| *slot = Some(s));
                    angular.retain(|&a| a != u0);
                }
            }
        }
        let at_default = (0..model.coordinates.len()).filter(|c| !columns.contains(c));
        Ok(Motion {
            samples,
            defaults: system.default_state.q.clone(),
            angular,
            at_default: at_default.map(|c| model.coordinates[c].name.clone()).collect(),
        })
    }

    /// Writes coordinates, speeds and accelerations of one row.
    fn compute(&self, row: usize, x: &mut State<f64>, udot: &mut [f64]) {
        for (m, samples) in self.samples.iter().enumerate() {
            [x.q[m], x.u[m], udot[m]] = match samples {
                Some(s) => s[row],
                None => [self.defaults[m], 0.0, 0.0],
            };
        }
        for &u0 in &self.angular {
            // Along the motion q + q̇ ε the angular velocity is u + u̇ ε.
            let along = |v: &[f64], d: &[f64]| -> Vec3<Dual<f64, 1>> {
                vec3(
                    Dual::new(v[u0], [d[u0]]),
                    Dual::new(v[u0 + 1], [d[u0 + 1]]),
                    Dual::new(v[u0 + 2], [d[u0 + 2]]),
                )
            };
            let w = speeds_from_rates(along(&x.q, &x.u), along(&x.u, udot)).to_array();
            for i in 0..3 {
                (x.u[u0 + i], udot[u0 + i]) = (w[i].v, w[i].d[0]);
            }
        }
    }
}

/// q, u, u̇ of the six mobilities of a body that moves freely, by its pose; `None` unless all six have columns.
#[allow(clippy::type_complexity)]
fn free_samples(
    model: &Model,
    (system, mut body): (&System, FreeBody),
    (table, column): (&Table, &dyn Fn(usize) -> Option<usize>),
    given: &Table,
    knots: &mut SplineKnots,
    times: &[f64],
) -> Result<Option<[Vec<[f64; 3]>; 6]>, Error> {
    let u0 = body.first_mobility();
    let mut six: [Vec<f64>; 6] = Default::default();
    for (i, q) in six.iter_mut().enumerate() {
        let Some(c) = system.tree.coordinate_of_mobility[u0 + i].map(|c| c.0) else { return Ok(None) };
        let Some(k) = column(c) else { return Ok(None) };
        let unit = angles::unit_of(given, &model.coordinates[c]);
        *q = table.columns()[k].iter().map(|q| q * unit).collect();
    }
    let at = |row: usize| -> [f64; 6] { std::array::from_fn(|i| six[i][row]) };
    let motion = FreeMotion::new(system, &mut body, (0..table.rows()).map(at), |y| knots.interpolate(y))
        .map_err(|source| Error::Column { name: format!("of mobility {u0}"), source })?;
    let mut samples: [Vec<[f64; 3]>; 6] = Default::default();
    for &t in times {
        let row = table.times().partition_point(|x| *x < t).min(table.rows() - 1);
        // Most times are the table's own; between them the coordinates are those of the pose, next to a row's.
        let q = match table.times()[row] == t {
            true => at(row),
            false => motion.coordinates(system, &mut body, t, &at(row)),
        };
        let rates = motion.rates(t);
        let u = body.speeds(system, &q, rates.V);
        let udot = body.accelerations(system, &q, &u, rates.A);
        for (i, s) in samples.iter_mut().enumerate() {
            s.push([q[i], u[i], udot[i]]);
        }
    }
    Ok(Some(samples))
}

/// The columns that are coordinates, and which coordinate each is.
pub(crate) fn chosen_columns(
    model: &Model,
    table: &Table,
    opensim_faults: bool,
) -> Result<(Table, Vec<usize>), Error> {
    let mut columns = Vec::new();
    let mut labels = Vec::new();
    for (c, coordinate) in model.coordinates.iter().enumerate() {
        let by_path = format!("{}/value", coordinate.path);
        let is_it = |l: &String| *l == coordinate.name || (!opensim_faults && *l == by_path);
        if let Some(label) = table.labels().iter().find(|l| is_it(l)) {
            columns.push(c);
            labels.push(label.as_str());
        }
    }
    // OpenSim goes on with all coordinates at their defaults; we only do when asked to.
    if columns.is_empty() && !opensim_faults {
        return Err(Error::NoCoordinates);
    }
    Ok((table.selected(&labels)?, columns))
}

/// Times from the last row not after the begin of the range to the last row not after its end, as OpenSim takes them, and
/// inside the span of the data.
fn frames(times: &[f64], span: [f64; 2], [from, to]: [f64; 2]) -> Result<&[f64], Error> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return Err(Error::Signal(SignalError::TooFew { what: "a motion", needed: 1, found: 0 }));
    };
    let (first, last) = (first.max(span[0]), last.min(span[1]));
    if !(first.max(from) <= last.min(to)) {
        return Err(Error::NoFrames { first, last, from, to });
    }
    Ok(&times[rows_within(times, span, [from, to])])
}

/// Takes out the forces that do not act; returns the names that were not found.
pub(crate) fn exclude(model: &mut Model, settings: &Settings) -> Vec<String> {
    // OpenSim looks at members of the force set only, and at their groups.
    let listed = |f: &Force| !settings.opensim_faults || f.path.starts_with("/forceset/");
    let mut unknown = Vec::new();
    for word in &settings.excluded {
        let key = word.to_ascii_lowercase();
        let group =
            model.groups.iter().find(|g| g.set == "ForceSet" && g.name == *word).map(|g| g.members.clone());
        let before = model.forces.len();
        match (key.as_str(), group) {
            ("all", _) => model.forces.retain(|f| !listed(f)),
            ("actuators", _) => model.forces.retain(|f| !(listed(f) && f.is_actuator())),
            ("muscles", _) => model.forces.retain(|f| !(listed(f) && matches!(f.kind, ForceKind::Muscle(_)))),
            (_, Some(members)) => model.forces.retain(|f| !members.contains(&f.name)),
            (_, None) => {
                model.forces.retain(|f| !(listed(f) && f.name == *word));
                if model.forces.len() == before {
                    unknown.push(word.clone());
                }
            }
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chain;
    use soleus_model::joint::JointKind::{Ball, Free, Pin, Slider};

    /// Smooth coordinates of a model, 100 rows a second.
    fn swing(model: &Model) -> Table {
        let times: Vec<f64> = (0..121).map(|i| 0.01 * f64::from(i)).collect();
        let column = |c: usize| -> Vec<f64> {
            let (a, w) = (0.3 - 0.02 * c as f64, 1.5 + 0.3 * c as f64);
            times.iter().map(|t| a * (w * t + c as f64).sin()).collect()
        };
        let labels = model.coordinates.iter().map(|c| c.name.clone()).collect();
        let columns = (0..model.coordinates.len()).map(column).collect();
        Table::new(Element::Scalar, labels, times.clone(), columns).unwrap()
    }

    /// The power of the generalized forces is the rate of kinetic and potential energy, ball joints included.
    #[test]
    fn conserves_energy_along_a_motion() {
        let model = chain(vec![(Free, 6), (Ball, 3), (Pin, 1), (Slider, 1)]);
        let system = System::compile(&model).unwrap();
        let table = swing(&model);
        let columns: Vec<usize> = (0..model.coordinates.len()).collect();
        let (h, mid) = (1e-5, [0.3, 0.55, 0.91]);
        let times: Vec<f64> = mid.iter().flat_map(|t| [t - h, *t, t + h]).collect();
        let settings = Settings::default();
        let motion = Motion::new(&model, &system, (&table, &columns), &table, &times, &settings).unwrap();
        let mut s = Solver::new(&system);
        let mut energy = |row: usize| {
            motion.compute(row, &mut s.state, &mut s.udot);
            s.compute(&system);
            let power: f64 = s.tau.iter().zip(&s.state.u).map(|(t, u)| t * u).sum();
            let mut e = 0.0;
            for b in 1..system.tree.nodes.len() {
                let (V, I) = (s.ws.kin.V_GB[b], &s.ws.kin.inertia[b]);
                e += 0.5 * V.dot(I.momentum(V));
                e -= system.gravity.dot(I.moment + s.ws.kin.X_GB[b].p * I.mass);
            }
            (e, power)
        };
        for (i, t) in mid.iter().enumerate() {
            let rate = (energy(3 * i + 2).0 - energy(3 * i).0) / (2.0 * h);
            let power = energy(3 * i + 1).1;
            // Truncation h² ~ 1e-9 times third derivatives of order 10, rounding 1e-15 · 50 / h ~ 5e-9.
            assert!((rate - power).abs() < 1e-6 * power.abs().max(1.0), "{t}: {rate} and {power}");
        }
    }

    /// Columns may be named by path, and degrees are degrees.
    #[test]
    fn identity_names_and_units_of_columns() {
        let model = chain(vec![(Pin, 1), (Slider, 1)]);
        let table = swing(&model);
        let settings = Settings::default();
        let plain = inverse_dynamics(model.clone(), Vec::new(), &table, &settings).unwrap();
        assert_eq!(plain.generalized_forces.labels(), ["q0_0_moment", "q1_0_force"]);
        let mut by_path = table.clone();
        by_path.rename(0, "/jointset/j0/q0_0/value");
        by_path.column_at_mut(0).unwrap().iter_mut().for_each(|x| *x = x.to_degrees());
        by_path.in_degrees = Some(true);
        let other = inverse_dynamics(model.clone(), Vec::new(), &by_path, &settings).unwrap();
        for (a, b) in plain.generalized_forces.columns().iter().zip(other.generalized_forces.columns()) {
            // To degrees and back costs a rounding; second derivatives over 0.01 s multiply it by 1e4.
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9));
        }
        let faulty = Settings { opensim_faults: true, ..settings };
        let fault = inverse_dynamics(model.clone(), Vec::new(), &by_path, &faulty).unwrap();
        assert_eq!(fault.at_default, ["q0_0"]);
    }

    #[test]
    fn analytic_what_does_not_fit_is_refused() {
        let model = chain(vec![(Pin, 1)]);
        let mut table = swing(&model);
        let late = Settings { range: [5.0, 6.0], ..Settings::default() };
        assert!(matches!(
            inverse_dynamics(model.clone(), Vec::new(), &table, &late),
            Err(Error::NoFrames { .. })
        ));
        let zero = Settings { cutoff_hz: Some(0.0), ..Settings::default() };
        assert!(matches!(inverse_dynamics(model.clone(), Vec::new(), &table, &zero), Err(Error::Signal(_))));
        table.column_at_mut(0).unwrap()[4] = f64::NAN;
        let broken = inverse_dynamics(model.clone(), Vec::new(), &table, &Settings::default());
        assert!(matches!(broken, Err(Error::Missing { .. })), "{broken:?}");
        table.rename(0, "other");
        let none = inverse_dynamics(model.clone(), Vec::new(), &table, &Settings::default());
        assert!(matches!(none, Err(Error::NoCoordinates)));
    }
}

//! States of a model over time, from a table of states or coordinates.

use crate::free_motion::{self, FreeBody, FreeMotion, MOBILITIES, free_nodes};
use soleus_dynamics::assembly::{Assembler, NotAssembled};
use soleus_dynamics::joint::speeds_from_rates;
use soleus_dynamics::{State, System};
use soleus_math::function::{FunctionError, GcvSpline, SplineKnots};
use soleus_math::signal::{SignalError, lowpass_butterworth, padded};
use soleus_math::table::{Table, TableError};
use soleus_math::{SpatialVec, vec3};
use soleus_model::{Model, angles};
use soleus_simulation::system::{state_column, state_labels};
use std::ops::RangeInclusive;

/// Degree of the splines through coordinates and speeds.
const DEGREE: usize = 5;

/// Coordinates, speeds and auxiliary states of a model over time.
#[derive(Clone, Debug, PartialEq)]
pub struct StateHistory {
    times: Vec<f64>,
    /// q, u, z over time; empty where a state stays at its default.
    columns: Vec<Vec<f64>>,
    defaults: Vec<f64>,
    /// Number of mobilities.
    n: usize,
    /// First and last time of the data, where a filter has added rows before and after them.
    span: [f64; 2],
    /// Whether bodies that move freely accelerate as their velocity says, and not as their angles do.
    by_pose: bool,
    /// Labels of states without data, which keep their default values.
    pub at_default: Vec<String>,
}

/// Why a table is not a motion of the model.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The data contain no state of the model.
    #[error("none of the columns is a coordinate or a state of the model")]
    Nothing,
    /// States are in degrees.
    #[error("the table is in degrees, but states are in radians")]
    Degrees,
    /// A column cannot be interpolated by a spline.
    #[error("coordinate `{name}`: {source}")]
    Column {
        /// The coordinate.
        name: String,
        /// Cause.
        source: FunctionError,
    },
    /// Speeds and coordinates have different numbers of rows.
    #[error("the speeds have {speeds} rows, the coordinates {coordinates}")]
    Speeds {
        /// Number of rows of the speeds.
        speeds: usize,
        /// Number of rows of the coordinates.
        coordinates: usize,
    },
    /// A value is missing.
    #[error("column `{label}` has no value at {time} s")]
    Missing {
        /// The column.
        label: String,
        /// Time, s.
        time: f64,
    },
    /// A pose cannot satisfy the constraints.
    #[error("at {time} s: {source}")]
    Assembly {
        /// Time, s.
        time: f64,
        /// Cause.
        source: NotAssembled,
    },
    /// The data cannot be filtered.
    #[error(transparent)]
    Signal(#[from] SignalError),
    /// Invalid table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// There are no data in the requested time range.
    #[error("the motion spans {first} s to {last} s, outside the requested {from} s to {to} s")]
    NoRows {
        /// First time of the data.
        first: f64,
        /// Last time of the data.
        last: f64,
        /// Start of the requested range.
        from: f64,
        /// End of the requested range.
        to: f64,
    },
}

/// How coordinates are converted to states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionSettings {
    /// Cutoff frequency (Hz) of the low-pass filter on the coordinates; `None` for no filter.
    pub cutoff_hz: Option<f64>,
    /// As in OpenSim: coordinates without data are zero, angles of ball joints are treated as integrals of the speeds,
    /// and speeds are not projected onto the constraints.
    pub opensim_faults: bool,
    /// Filters and differentiates the angles of bodies that move freely in ground, as OpenSim does, instead of their
    /// poses.
    pub root_angles: bool,
}

impl StateHistory {
    /// From a table of states, with labels of any OpenSim version; rad and m. Missing states take their default values.
    /// The columns of the table are moved into the history, because copying such long tables would take time.
    pub fn from_states(model: &Model, system: &System, table: Table) -> Result<Self, HistoryError> {
        if table.in_degrees == Some(true) {
            return Err(HistoryError::Degrees);
        }
        let mut labels = state_labels(model, system);
        let found: Vec<_> = labels.iter().map(|(label, _)| state_column(table.labels(), label)).collect();
        if found.iter().all(Option::is_none) {
            return Err(HistoryError::Nothing);
        }
        let (times, mut columns) = table.into_rows();
        let mut h = StateHistory::at_rest(system, times);
        for (i, (label, at)) in labels.drain(..).enumerate() {
            match found[i] {
                // A column that a later state asks for too.
                Some(c) if found[i + 1..].contains(&found[i]) => h.set(at, columns[c].clone(), &label)?,
                Some(c) => h.set(at, std::mem::take(&mut columns[c]), &label)?,
                None => h.at_default.push(label),
            }
        }
        Ok(h)
    }

    /// Computes accelerations of all bodies from their speeds, coordinate by coordinate, as in OpenSim.
    pub fn by_angles(self) -> Self {
        StateHistory { by_pose: false, ..self }
    }

    /// Whether bodies that move freely in ground are differentiated by their angles, as in OpenSim.
    pub fn is_by_angles(&self) -> bool {
        !self.by_pose
    }

    /// From a table of coordinates by name or path, in degrees if its header says so: filtered if requested, with
    /// speeds from quintic splines unless given, and every pose projected onto the constraints. Auxiliary states keep
    /// their default values.
    pub fn from_coordinates(
        model: &Model,
        system: &System,
        coordinates: &Table,
        speeds: Option<&Table>,
        settings: &MotionSettings,
    ) -> Result<Self, HistoryError> {
        let filtered;
        let table = match settings.cutoff_hz {
            Some(fc) => {
                let half = coordinates.rows() / 2;
                let filter = |t: &Table| lowpass_butterworth(&padded(t, half)?, fc);
                let by_pose = |c: usize| {
                    let label = format!("{}/value", model.coordinates[c].path);
                    state_column(coordinates.labels(), &label).filter(|_| !settings.root_angles)
                };
                filtered = free_motion::filtered(model, system, coordinates, by_pose, filter)?;
                &filtered
            }
            None => coordinates,
        };
        if let Some(s) = speeds.filter(|s| s.rows() != table.rows()) {
            return Err(HistoryError::Speeds { speeds: s.rows(), coordinates: table.rows() });
        }
        let tree = &system.tree;
        let mut h = StateHistory::at_rest(system, table.times().to_vec());
        if let (Some(&first), Some(&last), Some(_), false) = (
            coordinates.times().first(),
            coordinates.times().last(),
            settings.cutoff_hz,
            settings.opensim_faults,
        ) {
            h.span = [first, last];
        }
        let (mut found, mut splines) = (0, Splines::at(table.times()));
        for (c, coordinate) in model.coordinates.iter().enumerate() {
            let m = tree.mobility_of_coordinate[c];
            if m == usize::MAX {
                continue;
            }
            let label = format!("{}/value", coordinate.path);
            let Some(column) = state_column(table.labels(), &label) else {
                if settings.opensim_faults {
                    h.set(m, vec![0.0; table.rows()], &label)?;
                }
                h.at_default.push(label);
                continue;
            };
            found += 1;
            let factor = angles::unit_of(coordinates, coordinate);
            let y: Vec<f64> = table.columns()[column].iter().map(|y| y * factor).collect();
            if let Some(k) = y.iter().position(|y| !y.is_finite()) {
                let label = table.labels()[column].clone();
                return Err(HistoryError::Missing { label, time: table.times()[k] });
            }
            let given = speeds.and_then(|s| {
                let c = state_column(s.labels(), &format!("{}/speed", coordinate.path))?;
                let factor = angles::unit_of(s, coordinate);
                Some(s.columns()[c].iter().map(|u| u * factor).collect::<Vec<_>>())
            });
            let u = match given {
                Some(u) => u,
                None => {
                    let spline = splines
                        .through(&y)
                        .map_err(|source| HistoryError::Column { name: coordinate.name.clone(), source })?;
                    table.times().iter().map(|&t| spline.eval(t)[1]).collect()
                }
            };
            h.set(m, y, &label)?;
            h.set(h.n + m, u, &label)?;
        }
        if found == 0 {
            return Err(HistoryError::Nothing);
        }
        if speeds.is_none() && !settings.opensim_faults {
            h.rates_to_speeds(system);
        }
        if speeds.is_none() && !settings.root_angles {
            h.free_speeds(system)?;
        }
        h.by_pose = !settings.root_angles;
        h.assemble(model, system, settings.opensim_faults)?;
        Ok(h)
    }

    /// Defaults at every time.
    fn at_rest(system: &System, times: Vec<f64>) -> Self {
        let x = &system.default_state;
        let defaults: Vec<f64> = x.q.iter().chain(&x.u).chain(&x.z).copied().collect();
        StateHistory {
            times,
            columns: vec![Vec::new(); defaults.len()],
            defaults,
            n: x.q.len(),
            span: [f64::NEG_INFINITY, f64::INFINITY],
            by_pose: true,
            at_default: Vec::new(),
        }
    }

    /// Sets one state at all times.
    fn set(&mut self, at: usize, values: Vec<f64>, label: &str) -> Result<(), HistoryError> {
        if let Some(k) = values.iter().position(|v| !v.is_finite()) {
            return Err(HistoryError::Missing { label: label.to_string(), time: self.times[k] });
        }
        self.columns[at] = values;
        Ok(())
    }

    /// Gives the coordinates and speeds that stay at their defaults columns of their own.
    fn spell_out(&mut self) {
        let rows = self.times.len();
        for (column, default) in self.columns.iter_mut().zip(&self.defaults).take(2 * self.n) {
            if column.is_empty() {
                *column = vec![*default; rows];
            }
        }
    }

    /// Turns rates of angles into the angular velocities that ball joints have for speeds.
    fn rates_to_speeds(&mut self, system: &System) {
        let nodes = system.tree.nodes.iter().filter(|node| node.joint.speeds_are_angular_velocity());
        for u0 in nodes.map(|node| node.u0) {
            self.spell_out();
            for row in 0..self.times.len() {
                let at =
                    |k: usize| vec3(self.columns[k][row], self.columns[k + 1][row], self.columns[k + 2][row]);
                let w = speeds_from_rates(at(u0), at(self.n + u0)).to_array();
                for (k, w) in w.into_iter().enumerate() {
                    self.columns[self.n + u0 + k][row] = w;
                }
            }
        }
    }

    /// Speeds of bodies that move freely, by their pose.
    fn free_speeds(&mut self, system: &System) -> Result<(), HistoryError> {
        for node in free_nodes(system) {
            let mut body = FreeBody::new(system, node);
            let u0 = body.first_mobility();
            if self.columns[u0..u0 + MOBILITIES].iter().all(Vec::is_empty) {
                continue;
            }
            self.spell_out();
            let mut splines = Splines::at(&self.times);
            let rows = splines.rows.clone();
            let poses = rows.iter().map(|&row| self.six(u0, row));
            let motion = FreeMotion::new(system, &mut body, poses, |y| splines.knots.interpolate(y))
                .map_err(|source| HistoryError::Column { name: format!("of mobility {u0}"), source })?;
            for row in 0..self.times.len() {
                let u = body.speeds(system, &self.six(u0, row), motion.rates(self.times[row]).V);
                for (i, u) in u.into_iter().enumerate() {
                    self.columns[self.n + u0 + i][row] = u;
                }
            }
        }
        Ok(())
    }

    /// Six states of a row, from `at` on; defaults where there are no columns.
    fn six(&self, at: usize, row: usize) -> [f64; MOBILITIES] {
        std::array::from_fn(|i| self.columns[at + i].get(row).copied().unwrap_or(self.defaults[at + i]))
    }

    /// Puts every pose, and its speeds, on the constraints.
    fn assemble(&mut self, model: &Model, system: &System, opensim_faults: bool) -> Result<(), HistoryError> {
        if system.constraints.num_rows() == 0 {
            return Ok(());
        }
        self.spell_out();
        let assembler = Assembler::new(model, system);
        let mut ws = system.workspace();
        let mut x = system.default_state.clone();
        for row in 0..self.times.len() {
            self.state(row, &mut x);
            super::assemble(&assembler, (model, system), &mut x, &mut ws, opensim_faults)
                .map_err(|source| HistoryError::Assembly { time: x.time, source })?;
            for (column, value) in self.columns.iter_mut().zip(x.q.iter().chain(&x.u)) {
                column[row] = *value;
            }
        }
        Ok(())
    }

    /// Times of the rows, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Copies the state of a row.
    pub fn state(&self, row: usize, x: &mut State<f64>) {
        x.time = self.times[row];
        let states = x.q.iter_mut().chain(&mut x.u).chain(&mut x.z);
        for ((state, column), default) in states.zip(&self.columns).zip(&self.defaults) {
            *state = if column.is_empty() { *default } else { column[row] };
        }
    }

    /// Rows from the last at or before `from` to the last at or before `to`, as in OpenSim, without rows that a filter
    /// added outside the data.
    pub fn range(&self, from: f64, to: f64) -> Result<RangeInclusive<usize>, HistoryError> {
        let (first, last) = match (self.times.first(), self.times.last()) {
            (Some(&first), Some(&last)) => (first.max(self.span[0]), last.min(self.span[1])),
            _ => (f64::NAN, f64::NAN),
        };
        if !(from <= to && from <= last && to >= first) {
            return Err(HistoryError::NoRows { first, last, from, to });
        }
        Ok(rows_within(&self.times, self.span, [from, to]))
    }

    /// A state over time, in the order of x = [q, u, z]; `None` if it stays at its default.
    pub(crate) fn column(&self, state: usize) -> Option<&[f64]> {
        Some(self.columns[state].as_slice()).filter(|c| !c.is_empty())
    }

    /// Values of states that have no column.
    pub(crate) fn defaults(&self) -> &[f64] {
        &self.defaults
    }

    /// Number of mobilities.
    pub(crate) fn num_mobilities(&self) -> usize {
        self.n
    }

    /// First and last time of the data, s.
    pub fn data_span(&self) -> Option<[f64; 2]> {
        let [first, last] = [*self.times.first()?, *self.times.last()?];
        Some([first.max(self.span[0]), last.min(self.span[1])])
    }

    /// Accelerations u̇ of the given rows, by mobility: derivatives of quintic splines through the speeds, and through
    /// the velocities in ground of bodies that move freely.
    pub fn accelerations(
        &self,
        system: &System,
        rows: RangeInclusive<usize>,
    ) -> Result<Vec<Vec<f64>>, HistoryError> {
        let mut list = Vec::with_capacity(self.n);
        let mut splines = Splines::at(&self.times);
        for m in 0..self.n {
            let u = &self.columns[self.n + m];
            // An empty column is a constant.
            if u.iter().all(|&x| x == 0.0) {
                list.push(vec![0.0; rows.clone().count()]);
                continue;
            }
            let spline = splines
                .through(u)
                .map_err(|source| HistoryError::Column { name: format!("speed {m}"), source })?;
            list.push(rows.clone().map(|r| spline.eval(self.times[r])[1]).collect());
        }
        for node in free_nodes(system).into_iter().filter(|_| self.by_pose) {
            let mut body = FreeBody::new(system, node);
            let u0 = body.first_mobility();
            let velocity =
                |row: usize| body.velocity(system, &self.six(u0, row), &self.six(self.n + u0, row));
            let V: Vec<SpatialVec<f64>> = (0..self.times.len()).map(velocity).collect();
            let mut slopes = vec![Vec::new(); MOBILITIES];
            for (i, slopes) in slopes.iter_mut().enumerate() {
                let y: Vec<f64> = V.iter().map(|V| if i < 3 { V.w[i] } else { V.v[i - 3] }).collect();
                let spline = splines
                    .through(&y)
                    .map_err(|source| HistoryError::Column { name: format!("speed {}", u0 + i), source })?;
                *slopes = rows.clone().map(|r| spline.eval(self.times[r])[1]).collect::<Vec<f64>>();
            }
            for (k, row) in rows.clone().enumerate() {
                let at = |i: usize| vec3(slopes[i][k], slopes[i + 1][k], slopes[i + 2][k]);
                let (q, u) = (self.six(u0, row), self.six(self.n + u0, row));
                let udot = body.accelerations(system, &q, &u, SpatialVec::new(at(0), at(3)));
                for (i, a) in udot.into_iter().enumerate() {
                    list[u0 + i][k] = a;
                }
            }
        }
        Ok(list)
    }
}

/// Rows from the last not after the begin of a range to the last not after its end, as OpenSim takes them, and inside the span
/// of the data. There is at least one time.
pub(crate) fn rows_within(times: &[f64], span: [f64; 2], range: [f64; 2]) -> RangeInclusive<usize> {
    let row = |t: f64| times.partition_point(|&x| x <= t).max(1) - 1;
    // Filtered rows have even steps, which meet the ends of the data to rounding.
    let little = match times {
        [first, .., last] => NO_STEP * (last - first) / times.len() as f64,
        _ => 0.0,
    };
    let first = times.partition_point(|&x| x < span[0] - little).min(times.len() - 1);
    let last = row(range[1].min(span[1] + little));
    row(range[0]).max(first).min(last)..=last
}

/// A step between rows that is this part of the mean step is none: writers that add up steps may end with one.
const NO_STEP: f64 = 1e-6;

/// Splines through samples at the same times; of two at nearly the same time the first counts.
pub(crate) struct Splines {
    rows: Vec<usize>,
    knots: SplineKnots,
    values: Vec<f64>,
}

impl Splines {
    pub fn at(times: &[f64]) -> Self {
        let least = match times {
            [first, .., last] => NO_STEP * (last - first) / times.len() as f64,
            _ => 0.0,
        };
        let mut before = f64::NEG_INFINITY;
        let mut rows = Vec::with_capacity(times.len());
        for (i, &t) in times.iter().enumerate() {
            if t - before > least {
                rows.push(i);
                before = t;
            }
        }
        let knots = SplineKnots::new(DEGREE, rows.iter().map(|&i| times[i]).collect());
        Splines { rows, knots, values: Vec::new() }
    }

    pub fn through(&mut self, y: &[f64]) -> Result<GcvSpline, FunctionError> {
        self.values.clear();
        self.values.extend(self.rows.iter().map(|&i| y[i]));
        self.knots.interpolate(&self.values)
    }
}

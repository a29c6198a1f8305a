//! Dynamically consistent motion: adjusts motion, measured loads and masses so that they agree over a whole trial.
//!
//! The unknowns are the coordinates q(t), natural quintic splines over the frames (of a root that moves freely, the numbers of
//! its pose, so that the result does not depend on the laboratory's axes), and parameters p: marker offsets,
//! masses and mass centres, offsets of the points of loads and torques along them, gains and tilts of the loads, and a
//! delay of the loads.
//! With r the generalized forces of the root (the residuals of inverse dynamics) at every frame,
//!
//!   min  ½ Σ w mean |marker(q, p) − measured|² / σ²  +  ½ Σ w_j ∫ q_j‴² dt / (ω_c⁶ h)  +  ½ Σ (p / σ_p)²      (1)
//!   s.t. r(q, q̇, q̈, p) = 0  at every frame, or  + ½ mean (r / σ_r)²  in (1)                                   (2)
//!        the constraints of the model, and an unchanged total mass.
//!
//! Means are over frames. Marker errors (skin motion, joint models) last much longer than a frame, so a sum over frames
//! would count one error many times and change masses because of it. The second term is that of a smoothing spline:
//! where only markers act, with information w_j about q_j, its frequency response is 1 / (1 + (ω / ω_c)⁶). The root has
//! no such term, because (2) determines its acceleration, also in an impact. Central inertias change in proportion to
//! masses, so they remain physically possible. The problem is solved by Gauss–Newton on (1) and (2) with exact
//! derivatives; the matrix is banded in time with a border for p and is factorised sparsely. σ_r → 0 is the same matrix
//! with a zero block, so the sequence from penalised residuals to none can use warm starts.

mod angular;
mod basis;
mod frame;
mod matrix;
mod parameters;
mod pose;

pub use parameters::Quantity;

use crate::inverse_dynamics::{self, exclude};
use crate::residual_elimination::root;
use basis::Basis;
use frame::{Evaluator, Frames};
use matrix::{Kkt, MOST_ENTRIES};
use parameters::Parameters;
use soleus_dynamics::System;
use soleus_dynamics::system::SystemError;
use soleus_math::Vec3;
use soleus_math::table::{Element, Table, TableError};
use soleus_model::Model;
use soleus_model::angles;
use soleus_model::force::Force;

/// A marker to track.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Index in [`Model::markers`].
    pub marker: usize,
    /// Its weight.
    pub weight: f64,
    /// Measured position in every frame, m; NaN where it is missing.
    pub places: Vec<Vec3<f64>>,
}

/// The data to track.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// Markers.
    Markers(Vec<Target>),
    /// All coordinates of the initial motion.
    Motion,
}

/// Settings. A standard deviation of 0 keeps the quantity fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Model forces to exclude, as in inverse dynamics.
    pub excluded: Vec<String>,
    /// Standard deviation of the markers, m.
    pub marker_sd: f64,
    /// Standard deviation of measured coordinates, rad and m, where there are no markers.
    pub coordinate_sd: [f64; 2],
    /// Coordinates to keep near the initial motion, like coordinate tasks of inverse kinematics: name, and weight
    /// (m²/rad² or 1) relative to a marker of weight 1.
    pub held: Vec<(String, f64)>,
    /// Frequency above which markers alone do not affect the motion, Hz; `None` for no limit.
    pub cutoff_hz: Option<f64>,
    /// Standard deviation of the residuals, N and N m; `None`: residuals are zero.
    pub residual_sd: Option<f64>,
    /// Standard deviation of the offset of each marker on its body, m.
    pub marker_offset_sd: f64,
    /// Standard deviation of the masses, as a fraction of each.
    pub mass_sd: f64,
    /// Standard deviation of the mass centres, m.
    pub mass_center_sd: f64,
    /// Standard deviation of the points where loads act, m, and of a torque along each force, N m for each N: together the
    /// errors of the moments of a plate that grow with its load.
    pub load_offset_sd: f64,
    /// Standard deviation of the gain of each load, and of the tilt of its axes, rad: calibration and alignment of
    /// force plates.
    pub load_gain_sd: f64,
    /// Standard deviation of the delay of all loads, s.
    pub load_delay_sd: f64,
    /// Standard deviations of residuals for the trade-off curve, largest first, N and N m.
    pub curve: Vec<f64>,
    /// Maximum number of Gauss–Newton steps for each of them.
    pub max_iterations: usize,
    /// Number of threads. Results do not depend on it.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            excluded: vec!["all".to_string()],
            marker_sd: 0.01,
            coordinate_sd: [1f64.to_radians(), 0.005],
            held: Vec::new(),
            cutoff_hz: Some(10.0),
            residual_sd: None,
            marker_offset_sd: 0.0,
            mass_sd: 0.1,
            mass_center_sd: 0.02,
            load_offset_sd: 0.005,
            load_gain_sd: 0.01,
            load_delay_sd: 0.0,
            curve: Vec::new(),
            max_iterations: 40,
            threads: 1,
        }
    }
}

/// Quality of the fit of a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// Standard deviation of the residuals in the cost, N and N m; 0: no residuals.
    pub residual_sd: f64,
    /// RMS distance of visible markers, m; 0 without markers.
    pub marker_rms: f64,
    /// RMS difference from the given coordinates: angles, rad, and translations, m.
    pub coordinate_rms: [f64; 2],
    /// RMS of the residual force, N, and moment, N m.
    pub residual_rms: [f64; 2],
    /// Maximum residual force, N, and moment, N m.
    pub residual_peak: [f64; 2],
    /// Number of Gauss–Newton steps.
    pub iterations: usize,
    /// Whether the last step was below the tolerance.
    pub converged: bool,
}

/// A dynamically consistent motion.
#[derive(Clone, Debug)]
pub struct Consistent {
    /// All coordinates; rotations in degrees if the initial motion is in degrees.
    pub motion: Table,
    /// The model with new masses, mass centres and markers; excluded forces are removed.
    pub model: Model,
    /// The loads with new points and times.
    pub loads: Vec<Force>,
    /// The estimated parameters.
    pub quantities: Vec<Quantity>,
    /// Fit of the initial motion, unfiltered.
    pub before: Fit,
    /// Fit of the resulting motion.
    pub fit: Fit,
    /// Fits for the trade-off curve.
    pub curve: Vec<Fit>,
    /// Names in `excluded` that are not in the model.
    pub unknown_forces: Vec<String>,
}

/// Why there is no such motion.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Error of inverse dynamics.
    #[error(transparent)]
    Motion(#[from] inverse_dynamics::Error),
    /// No body moves freely in ground.
    #[error("the model cannot move relative to ground: it has no residuals")]
    NoRoot,
    /// Too few frames.
    #[error("the motion has {found} frames; at least {needed} are needed")]
    TooShort {
        /// Number of frames.
        found: usize,
        /// Required number of frames.
        needed: usize,
    },
    /// More than fits into memory.
    #[error(
        "{frames} frames of a model with {speeds} speeds make equations with {entries} entries; at most {most} are solved"
    )]
    TooLarge {
        /// Number of frames.
        frames: usize,
        /// Speeds of the model.
        speeds: usize,
        /// Entries of the equations.
        entries: usize,
        /// Most entries.
        most: usize,
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
    /// The model does not depend on a parameter as it should.
    #[error("no derivative with respect to a mass: {reason}")]
    Parameter {
        /// Cause.
        reason: String,
    },
    /// The equations of a step cannot be solved.
    #[error(
        "the equations of the fit could not be solved in iteration {iteration}: the data do not determine the motion"
    )]
    Singular {
        /// Number of the iteration.
        iteration: usize,
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

/// Frames that a spline needs, and a few more.
const FEWEST_FRAMES: usize = 10;

/// Finds the motion near `start` (coordinates at the frames) that tracks the `measured` data and satisfies the
/// equations of motion under `loads`.
///
/// `going_on` is called with the iteration, the maximum residual (N or N m) and the marker RMS (m), and may stop the
/// search.
pub fn reconcile(
    mut model: Model,
    loads: Vec<Force>,
    start: &Table,
    measured: &Measured,
    settings: &Settings,
    going_on: &mut dyn FnMut(usize, f64, f64) -> bool,
) -> Result<Consistent, Error> {
    check(settings)?;
    let excluded = inverse_dynamics::Settings {
        excluded: settings.excluded.clone(),
        ..inverse_dynamics::Settings::default()
    };
    let unknown_forces = exclude(&mut model, &excluded);
    let times = start.times();
    if times.len() < FEWEST_FRAMES {
        return Err(Error::TooShort { found: times.len(), needed: FEWEST_FRAMES });
    }
    let parameters = Parameters::new(&model, &loads, measured, settings);
    let system = parameters.system()?;
    let tree = &system.tree;
    let (root, _) = root(tree).filter(|(node, _)| tree.nodes[*node].nu > 0).ok_or(Error::NoRoot)?;

    let basis = Basis::new(times);
    let q = coordinates(&model, &system, start)?;
    let frames = Frames::new(&model, &system, times, &q, measured, settings, root);
    let (speeds, equations) = (tree.num_mobilities, frames.rows_per_frame(&system));
    let entries = Kkt::entries(times.len(), frames.n, equations, parameters.list.len());
    if entries > MOST_ENTRIES {
        return Err(Error::TooLarge { frames: times.len(), speeds, entries, most: MOST_ENTRIES });
    }

    let coefficients = spline_coefficients(&basis, &frames.functions(&system), frames.n);
    let mut search = Search {
        basis: &basis,
        frames: &frames,
        settings,
        kkt: Kkt::new(&basis, frames.n, equations, parameters.list.len(), parameters.has_mass()),
        x: Iterate { coefficients, parameters },
    };
    let before = search.fit_of(0.0, 0, true)?;
    let mut curve = Vec::new();
    for &sd in &settings.curve {
        curve.push(search.solve(Some(sd), going_on)?);
    }
    let fit = search.solve(settings.residual_sd, going_on)?;
    let q = search.coordinates()?;
    let (model, loads) = search.x.parameters.applied();
    let motion = table(&model, &system, &q, times, start)?;
    let quantities = search.x.parameters.quantities(&model);
    Ok(Consistent { motion, model, loads, quantities, before, fit, curve, unknown_forces })
}

fn check(s: &Settings) -> Result<(), Error> {
    let deviations = [
        ("the standard deviation of marker offsets", s.marker_offset_sd),
        ("the standard deviation of masses", s.mass_sd),
        ("the standard deviation of mass centres", s.mass_center_sd),
        ("the standard deviation of the loads' points", s.load_offset_sd),
        ("the standard deviation of the loads' gain", s.load_gain_sd),
        ("the standard deviation of the loads' delay", s.load_delay_sd),
    ];
    if let Some(&(what, value)) = deviations.iter().find(|(_, x)| !(*x >= 0.0 && x.is_finite())) {
        return Err(Error::Value { what, value, expected: "0 or above" });
    }
    let mut positive = vec![
        ("the standard deviation of markers", s.marker_sd),
        ("the standard deviation of angles", s.coordinate_sd[0]),
        ("the standard deviation of translations", s.coordinate_sd[1]),
        ("the cutoff", s.cutoff_hz.unwrap_or(1.0)),
        ("the standard deviation of residuals", s.residual_sd.unwrap_or(1.0)),
    ];
    positive.extend(s.curve.iter().map(|x| ("the standard deviation of residuals", *x)));
    match positive.iter().find(|(_, x)| !(*x > 0.0 && x.is_finite())) {
        Some(&(what, value)) => Err(Error::Value { what, value, expected: "above 0" }),
        None => Ok(()),
    }
}

/// Coordinates by frame and mobility, rad and m.
fn coordinates(model: &Model, system: &System, start: &Table) -> Result<Vec<Vec<f64>>, Error> {
    let (table, columns) = inverse_dynamics::chosen_columns(model, start, false)?;
    let mut q = vec![system.default_state.q.clone(); table.rows()];
    for (i, &c) in columns.iter().enumerate() {
        let coordinate = &model.coordinates[c];
        let (m, unit) = (system.tree.mobility_of_coordinate[c], angles::unit_of(start, coordinate));
        for (row, (q, x)) in q.iter_mut().zip(&table.columns()[i]).enumerate() {
            if !x.is_finite() {
                let (name, time) = (coordinate.name.clone(), table.times()[row]);
                return Err(inverse_dynamics::Error::Missing { name, time }.into());
            }
            if let Some(slot) = q.get_mut(m) {
                *slot = unit * x;
            }
        }
    }
    Ok(q)
}

/// Coefficients by function and mobility.
fn spline_coefficients(basis: &Basis, q: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut c = vec![0.0; basis.len() * n];
    for j in 0..n {
        let column: Vec<f64> = q.iter().map(|q| q[j]).collect();
        for (k, x) in basis.interpolate(&column).into_iter().enumerate() {
            c[k * n + j] = x;
        }
    }
    c
}

fn table(
    model: &Model,
    system: &System,
    q: &[Vec<f64>],
    times: &[f64],
    given: &Table,
) -> Result<Table, Error> {
    let tree = &system.tree;
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    let in_degrees = given.in_degrees == Some(true);
    for (c, coordinate) in model.coordinates.iter().enumerate() {
        let m = tree.mobility_of_coordinate[c];
        if m >= tree.num_mobilities {
            continue;
        }
        let unit = if in_degrees { angles::degrees_of(coordinate) } else { 1.0 };
        labels.push(coordinate.name.clone());
        columns.push(q.iter().map(|q| unit * q[m]).collect());
    }
    let mut t = Table::new(Element::Scalar, labels, times.to_vec(), columns)?;
    t.name = "Coordinates".to_string();
    t.in_degrees = Some(in_degrees);
    Ok(t)
}

/// What is solved for.
#[derive(Clone, Debug)]
struct Iterate {
    /// By function and mobility.
    coefficients: Vec<f64>,
    parameters: Parameters,
}

impl Iterate {
    fn moved(&self, step: &[f64], part: f64) -> Self {
        let (c, p) = step.split_at(self.coefficients.len());
        let mut next = self.clone();
        next.coefficients.iter_mut().zip(c).for_each(|(x, d)| *x += part * d);
        next.parameters.move_by(p, part);
        next
    }
}

/// Residuals that count as none, N and N m.
const RESIDUAL_TOLERANCE: f64 = 1e-4;

/// A step that changes (1) by less than this part of it is the last.
const OBJECTIVE_TOLERANCE: f64 = 1e-4;

/// A part of a step is taken where it mends this part of what it would mend if the equations were linear: far from them, where the objective
/// has to rise.
const PROMISED: f64 = 0.1;

/// Corrections of one step.
const MOST_CORRECTIONS: usize = 5;

/// How good an iterate is.
struct State {
    /// (1), with priced residuals.
    objective: f64,
    /// Σ of the equations' errors, in units of weight, and at least the tolerance.
    violation: f64,
    /// The largest of them.
    worst: f64,
    errors: Vec<f64>,
}

impl State {
    /// Whether a part of a step does what it promises for the equations, of which it would leave that part at first order.
    fn keeps_promise_of(&self, part: f64, before: &State) -> bool {
        self.violation < (1.0 - PROMISED * part) * before.violation
    }

    /// Whether equations are met better by far, or as well as before with a lower objective.
    fn is_better_than(&self, other: &State) -> bool {
        let objective_falls = self.objective <= other.objective * (1.0 + 1e-9);
        self.violation < 0.5 * other.violation
            || (objective_falls && self.violation <= 1.5 * other.violation + 1e-9)
    }
}

struct Search<'a> {
    basis: &'a Basis,
    frames: &'a Frames<'a>,
    settings: &'a Settings,
    kkt: Kkt,
    x: Iterate,
}

impl Search<'_> {
    /// Gauss–Newton with residuals priced by `sd`, or none.
    fn solve(
        &mut self,
        sd: Option<f64>,
        going_on: &mut dyn FnMut(usize, f64, f64) -> bool,
    ) -> Result<Fit, Error> {
        let (mut iterations, mut converged) = (0, false);
        let mut now = self.state(&self.x, sd)?;
        while iterations < self.settings.max_iterations && !converged {
            let fit = self.fit_of(sd.unwrap_or(0.0), iterations, false)?;
            let worst = fit.residual_peak[0].max(fit.residual_peak[1]);
            if !going_on(iterations, worst, fit.marker_rms) {
                break;
            }
            iterations += 1;
            let system = self.x.parameters.system()?;
            let evaluator = Evaluator::new(&system, self.frames, &self.x.parameters)?;
            let terms = evaluator.linearise(self.basis, &self.x.coefficients, self.settings.threads);
            self.kkt.fill(self.basis, self.frames, &self.x, &terms, sd);
            let Some(step) = self.kkt.solve() else {
                return Err(Error::Singular { iteration: iterations });
            };
            let mut part = 1.0;
            let mut taken: Option<(Iterate, State)> = None;
            for _ in 0..8 {
                let (next, state) = self.corrected(self.moved(&self.x, &step, part), sd)?;
                let gains = state.is_better_than(&now) || state.keeps_promise_of(part, &now);
                if gains || taken.as_ref().is_none_or(|(_, t)| state.violation < t.violation) {
                    taken = Some((next, state));
                }
                if gains {
                    break;
                }
                part *= 0.5;
            }
            let is_met = |s: &State| s.worst * self.frames.weight <= RESIDUAL_TOLERANCE;
            match taken {
                // Nothing is better than what obeys already.
                Some((_, state)) if !state.is_better_than(&now) && is_met(&now) => converged = true,
                Some((next, state)) => {
                    let settled =
                        (state.objective - now.objective).abs() <= OBJECTIVE_TOLERANCE * now.objective;
                    converged = settled && is_met(&state);
                    (self.x, now) = (next, state);
                }
                None => break,
            }
        }
        self.fit_of(sd.unwrap_or(0.0), iterations, converged)
    }

    /// A part of a step, with the poses at the frames brought back to rotations.
    fn moved(&self, x: &Iterate, step: &[f64], part: f64) -> Iterate {
        let mut next = x.moved(step, part);
        self.frames.retract(self.basis, &mut next.coefficients);
        next
    }

    /// Brings a step on to the curved equations: the matrix of the step serves again, with what is left of them on the right.
    fn corrected(&mut self, x: Iterate, sd: Option<f64>) -> Result<(Iterate, State), Error> {
        let mut state = self.state(&x, sd)?;
        let mut x = x;
        if sd.is_some() {
            return Ok((x, state));
        }
        for _ in 0..MOST_CORRECTIONS {
            if state.worst * self.frames.weight <= 0.1 * RESIDUAL_TOLERANCE {
                break;
            }
            let step = self.kkt.correct(&state.errors);
            let next = self.moved(&x, &step, 1.0);
            let after = self.state(&next, sd)?;
            if !(after.violation < 0.5 * state.violation) {
                break;
            }
            (x, state) = (next, after);
        }
        Ok((x, state))
    }

    fn state(&self, x: &Iterate, sd: Option<f64>) -> Result<State, Error> {
        let system = x.parameters.system()?;
        let evaluator = Evaluator::new(&system, self.frames, &x.parameters)?;
        let (objective, errors) = evaluator.cost(self.basis, &x.coefficients);
        let mut objective =
            objective + self.frames.roughness(self.basis, &x.coefficients) + x.parameters.prior();
        let rows = self.frames.rows_per_frame(&system);
        let mut violation = 0.0;
        let mut worst = 0.0f64;
        for (is_residual, e) in errors.chunks(rows.max(1)).flat_map(|e| self.frames.sizes(e)) {
            match sd {
                Some(sd) if is_residual => {
                    objective += 0.5 * (e * self.frames.weight / sd).powi(2) / self.basis.len() as f64;
                }
                _ => {
                    violation += e;
                    worst = worst.max(e);
                }
            }
        }
        // Below the tolerance less is no better.
        let violation = violation.max(RESIDUAL_TOLERANCE / self.frames.weight);
        Ok(State { objective, violation, worst, errors })
    }

    /// Coordinates by frame and mobility.
    fn coordinates(&self) -> Result<Vec<Vec<f64>>, Error> {
        let system = self.x.parameters.system()?;
        let evaluator = Evaluator::new(&system, self.frames, &self.x.parameters)?;
        Ok(evaluator.coordinates(self.basis, &self.x.coefficients))
    }

    fn fit_of(&self, residual_sd: f64, iterations: usize, converged: bool) -> Result<Fit, Error> {
        let system = self.x.parameters.system()?;
        let evaluator = Evaluator::new(&system, self.frames, &self.x.parameters)?;
        Ok(Fit { residual_sd, iterations, converged, ..evaluator.fit(self.basis, &self.x.coefficients) })
    }
}

#[cfg(test)]
mod tests;

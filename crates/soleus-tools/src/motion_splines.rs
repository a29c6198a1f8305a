//! A measured motion as functions of time: natural splines through the (filtered) coordinates.
//!
//! Bodies that move freely are filtered and interpolated by their poses, which rotate with the laboratory. Splines go
//! through their coordinates at times so close that the heading of the laboratory does not matter.

use crate::free_motion::{self, FreeBody, FreeMotion, MOBILITIES, free_nodes};
use crate::inverse_dynamics::{Error, chosen_columns};
use soleus_dynamics::joint::speeds_from_rates;
use soleus_dynamics::{State, System};
use soleus_math::function::{GcvSpline, SplineKnots};
use soleus_math::signal::{lowpass_butterworth, padded};
use soleus_math::{Dual, Real, Table, Vec3, vec3};
use soleus_model::{Model, angles};

/// Coordinates of a model as splines of time.
#[derive(Clone, Debug)]
pub struct MotionSplines {
    /// By mobility; `None` stays at its default.
    splines: Vec<Option<GcvSpline>>,
    defaults: Vec<f64>,
    /// First mobilities of joints whose speeds are an angular velocity.
    angular: Vec<usize>,
    /// Coordinates without data, which keep their default values.
    pub at_default: Vec<String>,
}

impl MotionSplines {
    /// Splines of `degree` through `coordinates` (a table by coordinate name or path; rotations in degrees if its
    /// header says so), low-pass filtered at `cutoff_hz` if given, as in inverse dynamics.
    pub fn new(
        model: &Model,
        system: &System,
        coordinates: &Table,
        cutoff_hz: Option<f64>,
        degree: usize,
    ) -> Result<Self, Error> {
        let (mut motion, times) =
            MotionSplines::through_angles(model, system, coordinates, cutoff_hz, degree)?;
        interpolate_poses(system, &times, degree, &mut motion.splines)?;
        Ok(motion)
    }

    /// The same, with the angles of bodies that move freely interpolated as all others; and the times of what they go through.
    pub(crate) fn through_angles(
        model: &Model,
        system: &System,
        coordinates: &Table,
        cutoff_hz: Option<f64>,
        degree: usize,
    ) -> Result<(Self, Vec<f64>), Error> {
        let tree = &system.tree;
        let (table, columns) = chosen_columns(model, coordinates, false)?;
        let table = match cutoff_hz {
            Some(fc) => {
                let half = table.rows() / 2;
                let filter = |t: &Table| lowpass_butterworth(&padded(t, half)?, fc);
                let by_pose = |c: usize| columns.iter().position(|&k| k == c);
                free_motion::filtered(model, system, &table, by_pose, filter)?
            }
            None => table,
        };
        let mut splines = vec![None; tree.num_mobilities];
        let mut knots = SplineKnots::new(degree, table.times().to_vec());
        for (i, &c) in columns.iter().enumerate() {
            let coordinate = &model.coordinates[c];
            let unit = angles::unit_of(coordinates, coordinate);
            let y: Vec<f64> = table.columns()[i].iter().map(|y| y * unit).collect();
            if let Some(k) = y.iter().position(|y| !y.is_finite()) {
                return Err(Error::Missing { name: coordinate.name.clone(), time: table.times()[k] });
            }
            let spline = knots
                .interpolate(&y)
                .map_err(|source| Error::Column { name: coordinate.name.clone(), source })?;
            if let Some(slot) = splines.get_mut(tree.mobility_of_coordinate[c]) {
                *slot = Some(spline);
            }
        }
        let at_default = (0..model.coordinates.len()).filter(|c| !columns.contains(c));
        let nodes = tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity());
        let motion = MotionSplines {
            splines,
            defaults: system.default_state.q.clone(),
            angular: nodes.map(|n| n.u0).collect(),
            at_default: at_default.map(|c| model.coordinates[c].name.clone()).collect(),
        };
        Ok((motion, table.times().to_vec()))
    }

    /// Whether there are data for a mobility.
    pub fn holds(&self, mobility: usize) -> bool {
        self.splines.get(mobility).is_some_and(Option::is_some)
    }

    /// Coordinate, its rate and second derivative of a mobility at `t`.
    pub fn at(&self, mobility: usize, t: f64) -> [f64; 3] {
        match &self.splines[mobility] {
            Some(s) => s.eval(t),
            None => [self.defaults[mobility], 0.0, 0.0],
        }
    }

    /// Writes time, coordinates, speeds and accelerations at `t`, without derivatives.
    pub fn compute<T: Real>(&self, t: f64, x: &mut State<T>, udot: &mut [T]) {
        x.time = T::cst(t);
        for m in 0..self.splines.len() {
            let [q, v, a] = self.at(m, t);
            (x.q[m], x.u[m], udot[m]) = (T::cst(q), T::cst(v), T::cst(a));
        }
        for &u0 in &self.angular {
            // Along the motion q + q̇ ε the angular velocity is u + u̇ ε.
            let along = |v: &[T], d: &[T]| -> Vec3<Dual<f64, 1>> {
                let entry = |i: usize| Dual::new(v[u0 + i].value(), [d[u0 + i].value()]);
                vec3(entry(0), entry(1), entry(2))
            };
            let w = speeds_from_rates(along(&x.q, &x.u), along(&x.u, udot)).to_array();
            for i in 0..3 {
                (x.u[u0 + i], udot[u0 + i]) = (T::cst(w[i].v), T::cst(w[i].d[0]));
            }
        }
    }
}

/// Rows that replace one where a body moves freely: splines of degree 5 through angles and through poses then differ by 8⁻⁶ of what they
/// differ by at the rows of the data, a thousandth of a degree or so in a walk.
const FINER: usize = 8;

/// Splines through the coordinates of bodies that move freely at finer times, between which they are moved by their poses.
fn interpolate_poses(
    system: &System,
    times: &[f64],
    degree: usize,
    splines: &mut [Option<GcvSpline>],
) -> Result<(), Error> {
    let finer: Vec<f64> = times
        .windows(2)
        .flat_map(|w| (0..FINER).map(|k| w[0] + (w[1] - w[0]) * k as f64 / FINER as f64))
        .chain(times.last().copied())
        .collect();
    for node in free_nodes(system) {
        let mut body = FreeBody::new(system, node);
        let u0 = body.first_mobility();
        let own = &splines[u0..u0 + MOBILITIES];
        if own.iter().any(Option::is_none) {
            continue;
        }
        let at = |t: f64| -> [f64; MOBILITIES] {
            std::array::from_fn(|i| own[i].as_ref().map_or(0.0, |s| s.eval(t)[0]))
        };
        let wrong = |source| Error::Column { name: "root".to_string(), source };
        let mut knots = SplineKnots::new(degree, times.to_vec());
        let rows = times.iter().map(|&t| at(t));
        let motion = FreeMotion::new(system, &mut body, rows, |y| knots.interpolate(y)).map_err(wrong)?;
        let poses: Vec<_> = finer.iter().map(|&t| motion.coordinates(system, &mut body, t, &at(t))).collect();
        let mut knots = SplineKnots::new(degree, finer.clone());
        for i in 0..MOBILITIES {
            let y: Vec<f64> = poses.iter().map(|q| q[i]).collect();
            splines[u0 + i] = Some(knots.interpolate(&y).map_err(wrong)?);
        }
    }
    Ok(())
}

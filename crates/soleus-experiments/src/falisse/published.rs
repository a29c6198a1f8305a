//! The authors' solution: unknowns at the collocation points, parameters, and what they computed from them.

use crate::desk;
use soleus::Error;
use soleus_dynamics::metabolics::bhargava2004_smooth::SmoothBhargava2004;
use soleus_dynamics::muscle::degroote2016::DeGroote2016;
use soleus_io::mat::{self, Value};
use soleus_model::Diagnostics;
use std::path::Path;

/// Coordinates, muscles, arm actuators, intervals, collocation points in each.
pub const COORDINATES: usize = 31;
pub const MUSCLES: usize = 92;
pub const ARMS: usize = 8;
pub const INTERVALS: usize = 50;
pub const POINTS: usize = 3;

/// Numbers by columns: one column for each point of time.
pub struct Columns {
    rows: usize,
    values: Vec<f64>,
}

impl Columns {
    /// The numbers of one point.
    pub fn at(&self, point: usize) -> &[f64] {
        &self.values[point * self.rows..(point + 1) * self.rows]
    }
}

/// A state at mesh points and at collocation points.
pub struct Trajectory {
    pub mesh: Columns,
    pub inside: Columns,
}

impl Trajectory {
    /// The four values that an interval's polynomial goes through.
    pub fn interval(&self, k: usize, i: usize) -> [f64; POINTS + 1] {
        let inside = |j: usize| self.inside.at(POINTS * k + j)[i];
        [self.mesh.at(k)[i], inside(0), inside(1), inside(2)]
    }
}

/// Torques without muscles: K₁ e^{K₂(q−θ₂)} + K₃ e^{K₄(q−θ₁)}, a spring and a damper.
#[derive(Clone, Copy)]
pub struct Passive {
    pub limit: Option<([f64; 4], [f64; 2])>,
    pub stiffness: f64,
    pub damping: f64,
}

impl Passive {
    /// The limit torque alone, N m.
    pub fn limit(&self, q: f64) -> f64 {
        self.limit.map_or(0.0, |(k, theta)| {
            k[0] * (k[1] * (q - theta[1])).exp() + k[2] * (k[3] * (q - theta[0])).exp()
        })
    }
}

/// The solution.
pub struct Published {
    pub duration: f64,
    pub coordinates: Vec<String>,
    pub muscles: Vec<String>,
    pub activation: Trajectory,
    pub force: Trajectory,
    pub q: Trajectory,
    pub u: Trajectory,
    pub arm: Trajectory,
    /// ȧ of an interval, excitations of the arms.
    pub activation_rate: Columns,
    pub arm_excitation: Columns,
    /// At collocation points.
    pub force_rate: Columns,
    pub acceleration: Columns,
    pub acceleration_scale: Vec<f64>,
    pub contraction: Vec<DeGroote2016>,
    pub energy: Vec<SmoothBhargava2004>,
    pub passive: Vec<Passive>,
    /// Terms of the cost: metabolic, activations, arms, accelerations, limit torques, penalties (three).
    pub terms: Vec<f64>,
    /// What the authors computed over a whole stride, by columns of 100 points: coordinates (rad), path lengths (m),
    /// speeds and moment arms (m).
    pub stride_q: Vec<f64>,
    pub stride_length: Vec<f64>,
    pub stride_speed: Vec<f64>,
    pub stride_arm: Vec<f64>,
    pub mass: f64,
}

/// Points of the authors' stride.
pub const STRIDE: usize = 100;

impl Published {
    /// Reads the `.mat` file of a result of PredSim.
    pub fn read(path: &Path) -> Result<Published, Error> {
        let bytes = desk::read(path)?;
        let refuse = |what: &str| {
            let mut log = Diagnostics::new(path.display().to_string());
            log.error(0, "", format!("the published solution has no {what}"), "");
            desk::errors(path, &log)
        };
        let file = mat::read(&bytes).map_err(|e| refuse(&format!("readable content: {e}")))?;
        let find = |place: &str| -> Result<&Value, Error> {
            let mut words = place.split('.');
            let first = words.next().unwrap_or_default();
            let root = file.variables.iter().find(|v| v.0 == first).map(|v| &v.1);
            words.fold(root, |v, w| v.and_then(|v| v.field(w))).ok_or_else(|| refuse(place))
        };
        let numbers = |place: &str| find(place)?.numbers().map(<[f64]>::to_vec).ok_or_else(|| refuse(place));
        let texts = |place: &str| -> Result<Vec<String>, Error> {
            let cells = find(place)?.cells().ok_or_else(|| refuse(place))?;
            Ok(cells.iter().filter_map(|c| c.text().map(String::from)).collect())
        };

        // Unknowns in the order in which they were declared, each by columns, in units of their scales.
        let unknowns = numbers("w_opt")?;
        let (n, points) = (INTERVALS, POINTS * INTERVALS);
        let states = 2 * MUSCLES + 2 * COORDINATES + ARMS;
        let expected =
            1 + states * (n + 1 + points) + (MUSCLES + ARMS) * n + (MUSCLES + COORDINATES) * points;
        if unknowns.len() != expected {
            return Err(refuse(&format!("{expected} unknowns but {}", unknowns.len())));
        }
        let mut next = 1;
        let mut take = |rows: usize, count: usize, scale: &[f64]| {
            let values = &unknowns[next..next + rows * count];
            next += rows * count;
            let scaled = values.iter().enumerate().map(|(i, v)| v * scale[i % scale.len()]);
            Columns { rows, values: scaled.collect() }
        };
        let scale = |what: &str| numbers(&format!("setup.scaling.{what}"));
        let mut state = |rows: usize, scale: &[f64]| Trajectory {
            mesh: take(rows, n + 1, scale),
            inside: take(rows, points, scale),
        };
        let activation = state(MUSCLES, &[1.0]);
        let force = state(MUSCLES, &scale("FTtilde")?);
        let q = state(COORDINATES, &scale("Qs")?);
        let u = state(COORDINATES, &scale("Qdots")?);
        let arm = state(ARMS, &[1.0]);
        let activation_rate = take(MUSCLES, n, &scale("vA")?);
        let arm_excitation = take(ARMS, n, &[1.0]);
        let force_rate = take(MUSCLES, points, &scale("dFTtilde")?);
        let acceleration_scale = scale("Qdotdots")?;
        let acceleration = take(COORDINATES, points, &acceleration_scale);

        // Parameters of muscles and passive torques: lists of structures.
        let list = |place: &str, count: usize, field: &str| -> Result<Vec<Vec<f64>>, Error> {
            let Value::Struct { fields, .. } = find(place)? else { return Err(refuse(place)) };
            let found: Vec<Vec<f64>> = fields
                .iter()
                .filter(|f| f.0 == field)
                .map(|f| f.1.numbers().unwrap_or_default().to_vec())
                .collect();
            if found.len() == count { Ok(found) } else { Err(refuse(&format!("{place}.{field}"))) }
        };
        let of_muscle = |field: &str| -> Result<Vec<f64>, Error> {
            let all = list("model_info.muscle_info.parameters", MUSCLES, field)?;
            Ok(all.iter().map(|v| v.first().copied().unwrap_or(f64::NAN)).collect())
        };
        let [strength, fiber, slack, pennation, fastest, stiffness, tension, slow] = [
            "FMo",
            "lMo",
            "lTs",
            "alphao",
            "vMmax",
            "tendon_stiff",
            "specific_tension",
            "slow_twitch_fiber_ratio",
        ]
        .map(of_muscle);
        let (strength, fiber, slack, pennation) = (strength?, fiber?, slack?, pennation?);
        let (fastest, stiffness, tension, slow) = (fastest?, stiffness?, tension?, slow?);
        let contraction = (0..MUSCLES)
            .map(|m| DeGroote2016 {
                max_isometric_force: strength[m],
                optimal_fiber_length: fiber[m],
                tendon_slack_length: slack[m],
                pennation_angle: pennation[m],
                max_contraction_velocity: fastest[m] / fiber[m],
                damping: 0.01,
                tendon_stiffness: stiffness[m],
            })
            .collect();
        let energy = (0..MUSCLES)
            .map(|m| SmoothBhargava2004 {
                mass: SmoothBhargava2004::mass(strength[m], fiber[m], 1e6 * tension[m]),
                slow_twitch: slow[m],
                max_isometric_force: strength[m],
                smoothing: 10.0,
            })
            .collect();
        let of_joint = |field: &str| list("model_info.passive_moment_info.parameters", COORDINATES, field);
        let (k, theta) = (of_joint("K_pass")?, of_joint("theta_pass")?);
        let (spring, damping) = (of_joint("stiffness_coeff")?, of_joint("damping_coeff")?);
        let first = |v: &[f64]| v.first().copied().unwrap_or(0.0);
        let passive = (0..COORDINATES)
            .map(|i| Passive {
                limit: match (&k[i][..], &theta[i][..]) {
                    (&[a, b, c, d], &[e, f]) => Some(([a, b, c, d], [e, f])),
                    _ => None,
                },
                stiffness: first(&spring[i]),
                damping: first(&damping[i]),
            })
            .collect();
        Ok(Published {
            duration: unknowns[0],
            coordinates: texts("R.colheaders.coordinates")?,
            muscles: texts("R.colheaders.muscles")?,
            activation,
            force,
            q,
            u,
            arm,
            activation_rate,
            arm_excitation,
            force_rate,
            acceleration,
            acceleration_scale,
            contraction,
            energy,
            passive,
            terms: numbers("R.objective.absoluteValues")?,
            stride_q: numbers("R.kinematics.Qs_rad")?,
            stride_length: numbers("R.muscles.lMT")?,
            stride_speed: numbers("R.muscles.vMT")?,
            stride_arm: numbers("R.muscles.dM")?,
            mass: first(&numbers("model_info.mass")?),
        })
    }

    /// The row of the authors' stride that has the pose of a mesh point, without travel and turn.
    pub fn stride_row(&self, mesh: usize) -> Option<usize> {
        let q = self.q.mesh.at(mesh);
        let distance = |row: usize| {
            let of = |i: usize| (self.stride_q[i * STRIDE + row] - q[i]).abs();
            (6..COORDINATES).map(of).fold(0.0, f64::max)
        };
        (0..STRIDE).find(|&row| distance(row) < 1e-6)
    }
}

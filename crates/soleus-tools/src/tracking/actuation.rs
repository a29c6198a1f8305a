//! Checks before tracking: whether actuators can accelerate every task, and whether errors decay.

use super::{Followed, Tracker, TrackingError};

/// A task whose desired acceleration cannot be produced by the actuators, regardless of their strength.
#[derive(Clone, Debug)]
pub struct NotActuated {
    /// What it tracks.
    pub followed: Followed,
    /// Other tasks that determine its generalized force; empty if no actuator acts on it.
    pub follows: Vec<Followed>,
}

/// A coordinate that all actuators together cannot push with so much, N·m or N, is not moved.
const NO_FORCE: f64 = 1e-6;
/// What is left of a row of forces without those before it, as a part of the row, is rounding below this.
const DEPENDENT: f64 = 1e-9;
/// A row that takes part in another by less than this has no part in it.
const NO_PART: f64 = 1e-6;

impl Tracker<'_> {
    /// Tasks that cannot be met independently by the actuators, as many as the rank deficiency of the matrix from
    /// actuator forces to generalized forces of the tasks. Poses at the start, the middle and the end of the motion are
    /// checked, because a muscle may have a zero moment arm in one of them.
    pub fn not_actuated(&mut self) -> Result<Vec<NotActuated>, TrackingError> {
        let [from, to] = self.reference.span;
        let mut list: Option<Vec<NotActuated>> = None;
        for t in [from, 0.5 * (from + to), to] {
            self.dq.fill(0.0);
            self.du.fill(0.0);
            self.predict(t);
            let here = self.not_actuated_here(t)?;
            list = Some(match list {
                None => here,
                Some(list) => {
                    list.into_iter().filter(|a| here.iter().any(|b| a.followed.is(&b.followed))).collect()
                }
            });
            if list.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        Ok(list.unwrap_or_default())
    }

    /// In the pose that is predicted.
    fn not_actuated_here(&mut self, time: f64) -> Result<Vec<NotActuated>, TrackingError> {
        let controls = vec![0.0; self.system.num_controls];
        self.response
            .compute(&self.pose, &self.actuators, &controls)
            .map_err(|source| TrackingError::Motion { time, source })?;
        let (k, n) = (self.tasks.len(), self.actuators.list.len());
        let mut columns = self.response.columns.clone();
        self.response.weigh(&mut [&mut columns]);
        // Generalized forces of each task by each actuator at the most that it can do.
        let limits = self.actuators.limits(time)?;
        let most = |i: usize| {
            self.actuators.list[i].optimal_force.abs() * limits[i][0].abs().max(limits[i][1].abs())
        };
        let mut rows: Vec<Vec<f64>> =
            (0..k).map(|r| (0..n).map(|i| columns[i * k + r] * most(i)).collect()).collect();
        let norm = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let own: Vec<f64> = rows.iter().map(|row| norm(row)).collect();
        // Rows one after the other, that with the largest part of its own first, are freed of those before.
        let mut left: Vec<usize> = (0..k).filter(|&r| own[r] > NO_FORCE).collect();
        let mut list: Vec<NotActuated> = (0..k)
            .filter(|&r| own[r] <= NO_FORCE)
            .map(|r| NotActuated { followed: self.tasks[r].followed.clone(), follows: Vec::new() })
            .collect();
        let mut parts = vec![vec![0.0; k]; k];
        while let Some(place) = (0..left.len()).max_by(|&a, &b| {
            (norm(&rows[left[a]]) / own[left[a]]).total_cmp(&(norm(&rows[left[b]]) / own[left[b]]))
        }) {
            let pivot = left[place];
            let size = norm(&rows[pivot]);
            if size <= DEPENDENT * own[pivot] {
                break;
            }
            left.remove(place);
            let unit: Vec<f64> = rows[pivot].iter().map(|x| x / size).collect();
            for &r in &left {
                let part: f64 = rows[r].iter().zip(&unit).map(|(x, u)| x * u).sum();
                rows[r].iter_mut().zip(&unit).for_each(|(x, u)| *x -= part * u);
                parts[r][pivot] = part;
            }
        }
        for r in left {
            let follows = (0..k).filter(|&p| parts[r][p].abs() > NO_PART * own[r]);
            let follows = follows.map(|p| self.tasks[p].followed.clone()).collect();
            list.push(NotActuated { followed: self.tasks[r].followed.clone(), follows });
        }
        Ok(list)
    }
}

/// Whether errors of a coordinate decay, if accelerations change linearly within each window towards a = −k_v u − k_p
/// q, evaluated at the start of the window and reached at its end.
///
/// With a' the acceleration at the start, a window maps
///
///   q → q + T u + T² (a'/3 + a/6),   u → u + T (a' + a)/2,   a' → a                           (1)
///
/// which is stable if all roots of its characteristic polynomial are inside the unit circle, by the conditions of Jury
/// (1964). With k_p = 0 this holds for k_v T < 2.
pub fn errors_die_out(kp: f64, kv: f64, window: f64) -> bool {
    let (p, v) = (kp * window * window, kv * window);
    // (1) in units of windows, row by row.
    let m = [[1.0 - p / 6.0, 1.0 - v / 6.0, 1.0 / 3.0], [-p / 2.0, 1.0 - v / 2.0, 0.5], [-p, -v, 0.0]];
    // λ³ + a λ² + b λ + c.
    let minor = |i: usize, j: usize| m[i][i] * m[j][j] - m[i][j] * m[j][i];
    let a = -(m[0][0] + m[1][1] + m[2][2]);
    let b = minor(0, 1) + minor(0, 2) + minor(1, 2);
    let c = -(m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]));
    1.0 + a + b + c > 0.0 && 1.0 - a + b - c > 0.0 && c.abs() < 1.0 && (1.0 - c * c) > (b - a * c).abs()
}

//! Joint moments and powers relative to body mass, as normative tables give them.

use soleus_math::Table;
use soleus_math::table::Element;

/// Labels of generalized forces end so in the tables of inverse dynamics, and so do those of powers.
const ENDINGS: [&str; 3] = ["_moment", "_force", "_power"];

/// Whether a curve is divided by body mass.
pub(super) fn is_kinetic(name: &str) -> bool {
    ENDINGS.iter().any(|e| name.ends_with(e))
}

/// Adds the powers of all rotations that have an angle in one table and a moment in another, and divides moments, forces and powers by the mass, kg:
/// N m/kg, N/kg, W/kg.
pub(super) fn per_kilogram(tables: &mut Vec<Table>, mass: f64) {
    let is_new =
        |t: &Table, all: &[Table]| t.labels().iter().all(|l| all.iter().all(|t| t.index_of(l).is_none()));
    let mut found = Vec::new();
    for moments in tables.iter() {
        found
            .extend(tables.iter().filter_map(|motion| powers(motion, moments)).filter(|t| is_new(t, tables)));
    }
    tables.extend(found);
    for table in tables {
        for i in 0..table.labels().len() {
            if !is_kinetic(&table.labels()[i]) {
                continue;
            }
            if let Some(column) = table.column_at_mut(i) {
                column.iter_mut().for_each(|x| *x /= mass);
            }
        }
    }
}

/// Power of every rotation at the times of the moments, W: moment times rate of the angle. `None` if the tables have no rotation in common.
fn powers(motion: &Table, moments: &Table) -> Option<Table> {
    let unit = if motion.in_degrees == Some(true) { 1f64.to_radians() } else { 1.0 };
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    for (label, moment) in moments.labels().iter().zip(moments.columns()) {
        let Some(name) = label.strip_suffix("_moment") else { continue };
        let Some(angle) = motion.column(name) else { continue };
        let rate = |t: f64| slope(motion.times(), angle, t) * unit;
        labels.push(format!("{name}_power"));
        columns.push(moments.times().iter().zip(moment).map(|(&t, m)| m * rate(t)).collect());
    }
    if labels.is_empty() {
        return None;
    }
    Table::new(Element::Scalar, labels, moments.times().to_vec(), columns).ok()
}

/// dy/dt at t: of the parabola through the nearest row and its neighbours.
fn slope(times: &[f64], y: &[f64], t: f64) -> f64 {
    let n = times.len();
    if n < 3 {
        return f64::NAN;
    }
    let after = times.partition_point(|x| *x < t).clamp(1, n - 1);
    let nearest = if t - times[after - 1] < times[after] - t { after - 1 } else { after };
    let k = nearest.clamp(1, n - 2);
    let [a, b, c] = [k - 1, k, k + 1].map(|i| times[i]);
    let (first, second) = ((y[k] - y[k - 1]) / (b - a), (y[k + 1] - y[k]) / (c - b));
    let bend = (second - first) / (c - a);
    first + bend * (2.0 * t - a - b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_slope_of_a_parabola() {
        let t: Vec<f64> = (0..8).map(|k| 0.1 * f64::from(k) + 0.01 * f64::from(k * k)).collect();
        let y: Vec<f64> = t.iter().map(|t| 2.0 - t + 3.0 * t * t).collect();
        for at in [0.0, 0.234, t[7]] {
            assert!((slope(&t, &y, at) - (6.0 * at - 1.0)).abs() < 1e-12);
        }
    }

    /// A moment of 70 N m about a knee that bends by 90 deg/s, of 70 kg.
    #[test]
    fn analytic_power_per_kilogram() {
        let times: Vec<f64> = (0..11).map(|k| 0.1 * f64::from(k)).collect();
        let of = |name: &str, column: Vec<f64>| {
            Table::new(Element::Scalar, vec![name.into()], times.clone(), vec![column]).unwrap()
        };
        let mut motion = of("knee_angle_r", times.iter().map(|t| 90.0 * t).collect());
        motion.in_degrees = Some(true);
        let mut tables = vec![motion, of("knee_angle_r_moment", vec![70.0; 11])];
        per_kilogram(&mut tables, 70.0);
        assert_eq!(tables.len(), 3);
        assert!((tables[0].columns()[0][10] - 90.0).abs() < 1e-12, "an angle is divided by the mass");
        assert!((tables[1].columns()[0][3] - 1.0).abs() < 1e-12);
        let power = tables[2].column("knee_angle_r_power").unwrap();
        assert!(power.iter().all(|p| (p - std::f64::consts::FRAC_PI_2).abs() < 1e-12), "{power:?}");

        // Powers that are given already stay, and are divided.
        let mut tables = vec![
            of("knee_angle_r", times.clone()),
            of("knee_angle_r_moment", vec![70.0; 11]),
            of("knee_angle_r_power", vec![140.0; 11]),
        ];
        per_kilogram(&mut tables, 70.0);
        assert_eq!((tables.len(), tables[2].columns()[0][5]), (3, 2.0));
    }
}

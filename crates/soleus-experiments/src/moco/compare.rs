//! Two motions side by side.

use soleus_control::solution::Columns;
use soleus_math::function::{Function, PiecewiseLinear};

/// Named quantities over time.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    pub times: &'a [f64],
    pub columns: &'a Columns,
}

impl Course<'_> {
    /// One quantity with lines between its values; none if there is no such quantity.
    fn line(&self, name: &str) -> Option<Function> {
        PiecewiseLinear::new(self.times.to_vec(), self.columns.column(name)?).ok().map(Function::from)
    }
}

/// Root of the mean over time and over the quantities of `a` that are wanted of (a − b)², by the trapezoidal rule at the times of
/// `a`: what Moco calls `compareContinuousVariablesRMS`.
pub fn root_mean_square(a: Course<'_>, b: Course<'_>, wanted: impl Fn(&str) -> bool) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for name in a.columns.names.iter().filter(|n| wanted(n)) {
        let (Some(own), Some(other)) = (a.columns.column(name), b.line(name)) else { return f64::NAN };
        let square: Vec<f64> =
            own.iter().zip(a.times).map(|(x, &t)| (x - other.eval1(t)[0]).powi(2)).collect();
        sum += mean(a.times, &square);
        count += 1;
    }
    (sum / f64::from(count.max(1))).sqrt()
}

/// Mean over time, by the trapezoidal rule.
pub fn mean(times: &[f64], values: &[f64]) -> f64 {
    let pieces = times.windows(2).zip(values.windows(2));
    let area: f64 = pieces.map(|(t, v)| 0.5 * (t[1] - t[0]) * (v[0] + v[1])).sum();
    match (times.first(), times.last()) {
        (Some(a), Some(b)) if b > a => area / (b - a),
        _ => f64::NAN,
    }
}

/// Largest of all values that are wanted.
pub fn peak(columns: &Columns, wanted: impl Fn(&str) -> bool) -> f64 {
    let each = columns.names.iter().filter(|n| wanted(n)).filter_map(|n| columns.column(n)).flatten();
    each.fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line from 0 to 1 and one from 0 to 2 are √(∫ t² dt) = √⅓ apart; ten pieces of the trapezoidal rule add 1/600 to the square.
    #[test]
    fn analytic_distance_of_two_lines() {
        let times: Vec<f64> = (0..=10).map(|k| f64::from(k) / 10.0).collect();
        let course = |slope: f64| Columns {
            names: vec!["x".into(), "y".into()],
            rows: times.iter().map(|t| vec![slope * t, 7.0]).collect(),
        };
        let (a, b) = (course(1.0), course(2.0));
        let [a, b] = [&a, &b].map(|columns| Course { times: &times, columns });
        let d = root_mean_square(a, b, |n| n == "x");
        assert!((d * d - 1.0 / 3.0 - 1.0 / 600.0).abs() < 1e-12, "{d}");
        let both = root_mean_square(a, b, |_| true);
        assert!((both * both - 0.5 * d * d).abs() < 1e-12, "{both}");
        assert!((peak(b.columns, |n| n == "x") - 2.0).abs() < 1e-15);
    }
}

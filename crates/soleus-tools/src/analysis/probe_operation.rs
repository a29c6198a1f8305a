//! Operations of probes over time: integrals, rates, minima and maxima so far.

use soleus_math::function::GcvSpline;
use soleus_model::probe::ProbeOperation;

/// How probes use earlier rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookBack {
    /// Over the motion, from its first row.
    #[default]
    Motion,
    /// As in OpenSim's `AnalyzeTool`, which evaluates every row without earlier rows: integrals stay at their initial
    /// conditions, rates are zero, and extremes are those of the value and zero.
    OpenSimAnalyze,
    /// As in OpenSim's `ForwardTool`: over the motion, but rates by dₖ = 2 (fₖ − fₖ₋₁)/h − dₖ₋₁, in which errors
    /// persist.
    OpenSimForward,
}

/// Values of one component of a probe after its operation. `values` include the gain, whose sign exchanges minimum and
/// maximum; `initial` is the initial value of an integral, including the gain.
pub fn operated(
    operation: ProbeOperation,
    (times, values): (&[f64], Vec<f64>),
    initial: f64,
    gain: f64,
    look_back: LookBack,
) -> Vec<f64> {
    let amnesia = look_back == LookBack::OpenSimAnalyze;
    let turned = gain < 0.0;
    match operation {
        ProbeOperation::Value => values,
        ProbeOperation::Integrate if amnesia => vec![initial; values.len()],
        ProbeOperation::Integrate => integral(times, &values, initial),
        ProbeOperation::Differentiate if amnesia => vec![0.0; values.len()],
        ProbeOperation::Differentiate if look_back == LookBack::OpenSimForward => {
            trapezoid_rate(times, &values)
        }
        ProbeOperation::Differentiate => rate(times, &values),
        ProbeOperation::Minimum => so_far(values, amnesia, |new, old| (new < old) != turned && new != old),
        ProbeOperation::Maximum => so_far(values, amnesia, |new, old| (new > old) != turned && new != old),
        ProbeOperation::MinAbs => so_far(values, amnesia, |new, old| new.abs() < old.abs()),
        ProbeOperation::MaxAbs => so_far(values, amnesia, |new, old| new.abs() > old.abs()),
    }
}

/// The value that beats all before it; each by itself against zero if nothing is remembered.
fn so_far(mut values: Vec<f64>, amnesia: bool, beats: impl Fn(f64, f64) -> bool) -> Vec<f64> {
    let mut best = if amnesia { 0.0 } else { values.first().copied().unwrap_or(0.0) };
    for v in &mut values {
        if amnesia {
            best = 0.0;
        }
        if beats(*v, best) {
            best = *v;
        }
        *v = best;
    }
    values
}

/// The integral of the natural cubic spline through the values. On an interval of length h it is
///
///   h (f₀ + f₁)/2 − h³ (f₀″ + f₁″)/24
///
/// With too few rows for a spline, or missing values, straight lines take its place: f″ = 0.
fn integral(times: &[f64], values: &[f64], initial: f64) -> Vec<f64> {
    let spline = GcvSpline::interpolate(3, times.to_vec(), values).ok();
    let bend: Vec<f64> = times.iter().map(|&t| spline.as_ref().map_or(0.0, |s| s.eval(t)[2])).collect();
    let mut sum = initial;
    let mut list = Vec::with_capacity(values.len());
    for k in 0..values.len() {
        if k > 0 {
            let h = times[k] - times[k - 1];
            sum += h * (0.5 * (values[k - 1] + values[k]) - h * h * (bend[k - 1] + bend[k]) / 24.0);
        }
        list.push(sum);
    }
    list
}

/// The slope of the natural cubic spline through the values; zero with too few rows.
fn rate(times: &[f64], values: &[f64]) -> Vec<f64> {
    match GcvSpline::interpolate(3, times.to_vec(), values) {
        Ok(spline) => times.iter().map(|&t| spline.eval(t)[1]).collect(),
        Err(_) => vec![0.0; values.len()],
    }
}

/// OpenSim's rate: the first from a difference, those after it so that the trapezoid rule gives the values back.
fn trapezoid_rate(times: &[f64], values: &[f64]) -> Vec<f64> {
    let mut list = vec![0.0; values.len()];
    for k in 1..values.len() {
        let slope = (values[k] - values[k - 1]) / (times[k] - times[k - 1]);
        list[k] = if k == 1 { slope } else { 2.0 * slope - list[k - 1] };
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(n: usize) -> Vec<f64> {
        // Uneven, as an integrator leaves them.
        (0..n).map(|i| 0.01 * i as f64 + 0.003 * (i % 3) as f64).collect()
    }

    #[test]
    fn analytic_integral_and_rate_of_a_sine() {
        let t = times(200);
        let f: Vec<f64> = t.iter().map(|t| (3.0 * t).sin()).collect();
        let at = |op| operated(op, (&t, f.clone()), 2.0, 1.0, LookBack::Motion);
        let (sum, rate) = (at(ProbeOperation::Integrate), at(ProbeOperation::Differentiate));
        for k in 5..195 {
            // Cubic splines: errors of h⁴ f⁗/384 and h³ f⁗/24, here below 2e-8 and 3e-5.
            assert!((sum[k] - 2.0 - (1.0 - (3.0 * t[k]).cos()) / 3.0).abs() < 1e-6);
            assert!((rate[k] - 3.0 * (3.0 * t[k]).cos()).abs() < 1e-4);
        }
    }

    #[test]
    fn analytic_extremes_so_far() {
        let t = times(5);
        let f = vec![1.0, -2.0, 3.0, -4.0, 0.5];
        let at = |op, gain, look| operated(op, (&t, f.clone()), 0.0, gain, look);
        use ProbeOperation::{MaxAbs, Maximum, MinAbs, Minimum};
        assert_eq!(at(Minimum, 1.0, LookBack::Motion), [1.0, -2.0, -2.0, -4.0, -4.0]);
        assert_eq!(at(Maximum, 1.0, LookBack::Motion), [1.0, 1.0, 3.0, 3.0, 3.0]);
        assert_eq!(at(MinAbs, 1.0, LookBack::Motion), [1.0, 1.0, 1.0, 1.0, 0.5]);
        assert_eq!(at(MaxAbs, 1.0, LookBack::Motion), [1.0, -2.0, 3.0, -4.0, -4.0]);
        // A negative gain: the largest of what was measured is the smallest of what is reported.
        assert_eq!(at(Maximum, -1.0, LookBack::Motion), [1.0, -2.0, -2.0, -4.0, -4.0]);
        assert_eq!(at(Minimum, 1.0, LookBack::OpenSimAnalyze), [0.0, -2.0, 0.0, -4.0, 0.0]);
        assert_eq!(at(MinAbs, 1.0, LookBack::OpenSimAnalyze), [0.0; 5]);
    }

    #[test]
    fn analytic_few_rows_take_straight_lines() {
        let at = |t: &[f64], f: &[f64]| {
            operated(ProbeOperation::Integrate, (t, f.to_vec()), 1.0, 1.0, LookBack::Motion)
        };
        assert_eq!(at(&[0.0, 2.0], &[1.0, 3.0]), [1.0, 5.0]);
        assert_eq!(at(&[0.0], &[1.0]), [1.0]);
        assert!(at(&[], &[]).is_empty());
    }
}

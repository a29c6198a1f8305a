//! Numbers over time: between rows, on lines, their size.

use soleus::Error;
use soleus_math::Function;
use soleus_math::function::PiecewiseLinear;

/// Rows over time at a time, on lines between them and constant beyond.
pub fn at(times: &[f64], rows: &[Vec<f64>], time: f64) -> Vec<f64> {
    let n = times.len().min(rows.len());
    let k = times[..n].partition_point(|&t| t <= time);
    match k {
        0 => rows.first().cloned().unwrap_or_default(),
        k if k >= n => rows[n - 1].clone(),
        k => {
            let s = (time - times[k - 1]) / (times[k] - times[k - 1]);
            rows[k - 1].iter().zip(&rows[k]).map(|(a, b)| (1.0 - s) * a + s * b).collect()
        }
    }
}

/// Straight lines between values that stand in the middle of equal parts of a duration, one in each.
pub fn lines(values: Vec<f64>, duration: f64) -> Result<Function, Error> {
    let n = values.len() as f64;
    let knots = (0..values.len()).map(|j| duration * (j as f64 + 0.5) / n).collect();
    PiecewiseLinear::new(knots, values)
        .map(Function::from)
        .map_err(|e| Error::NotSolved { message: e.to_string() })
}

/// Root of the mean square.
pub fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for v in values {
        sum += v * v;
        count += 1;
    }
    (sum / count.max(1) as f64).sqrt()
}

//! Interpolation of states within a step.

/// Between two states with their rates: with s from 0 to 1 along the step, s̄ = 1 − s, Δ = x₁ − x₀ and h times the
/// rates f₀ and f₁ at the ends,
///
///   x = x₀ + s (Δ + s̄ (f₀ − Δ + s (2Δ − f₀ − f₁ + s̄ r)))                    (1)
///
/// the cubic of Hermite where r = 0.
pub(crate) fn blend(x0: f64, delta: f64, f0: f64, f1: f64, r: f64, s: f64) -> f64 {
    let s1 = 1.0 - s;
    x0 + s * (delta + s1 * (f0 - delta + s * (2.0 * delta - f0 - f1 + s1 * r)))
}

/// The cubic (1) through the ends of a step with the rates there.
pub(crate) fn cubic(t: [f64; 2], ends: &[Vec<f64>; 2], rates: [&[f64]; 2], at: f64, x: &mut [f64]) {
    let h = t[1] - t[0];
    if !(h > 0.0) {
        x.copy_from_slice(&ends[1]);
        return;
    }
    let s = (at - t[0]) / h;
    for (i, x) in x.iter_mut().enumerate() {
        let (a, b) = (ends[0][i], ends[1][i]);
        *x = blend(a, b - a, h * rates[0][i], h * rates[1][i], 0.0, s);
    }
}

//! Extension of a signal beyond its ends.

/// The signal with `n` additional samples at each end, mirrored through the end points:
///
///   x₋ₖ = 2 x₀ − xₖ,   x_{N−1+k} = 2 x_{N−1} − x_{N−1−k},   k = 1 … n
///
/// Value and slope are continuous. If n ≥ N, the extension is itself extended, N − 1 samples at a time, as in OpenSim's
/// `Storage::pad`. A signal of one sample is not changed.
pub fn pad(signal: &[f64], n: usize) -> Vec<f64> {
    let mut padded = signal.to_vec();
    let mut left = n;
    // Each round can mirror at most what there is, less the end point itself.
    while left > 0 && padded.len() > 1 {
        let step = left.min(padded.len() - 1);
        padded = pad_once(&padded, step);
        left -= step;
    }
    padded
}

/// One round; needs n < the length of the signal.
fn pad_once(signal: &[f64], n: usize) -> Vec<f64> {
    let last = signal.len() - 1;
    let before = (1..=n).rev().map(|k| 2.0 * signal[0] - signal[k]);
    let after = (1..=n).map(|k| 2.0 * signal[last] - signal[last - k]);
    before.chain(signal.iter().copied()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_pad_continues_a_line() {
        // Mirroring a line through its ends gives the line; halves are exact in binary.
        let line: Vec<f64> = (0..5).map(|i| 3.0 - 0.5 * i as f64).collect();
        for n in [1, 4, 5, 23] {
            let longer: Vec<f64> = (0..5 + 2 * n).map(|i| 3.0 - 0.5 * (i as f64 - n as f64)).collect();
            assert_eq!(pad(&line, n), longer, "n = {n}");
        }
    }

    #[test]
    fn analytic_pad_of_nothing() {
        assert!(pad(&[], 3).is_empty());
        assert_eq!(pad(&[1.0], 3), [1.0]);
        assert_eq!(pad(&[1.0, 2.0], 0), [1.0, 2.0]);
    }
}

//! Electromyograms (EMG): envelopes of measured signals, and comparison with activations.

use soleus_math::signal::{Butterworth, SignalError, even_step};

/// Frequency (Hz) below which a raw signal consists of motion artifacts of electrodes and cables: De Luca et al.
/// (2010).
pub const HIGHPASS_HZ: f64 = 20.0;

/// A curve is on above this part of its range, from the least to the largest.
const ON: f64 = 0.25;
/// It must stay on for so long, s, to be an onset; Hodges & Bui (1996) average over 10 to 50 ms.
const STAYS_ON: f64 = 0.025;

/// Envelope of a raw signal: high-pass filtered at 20 Hz, rectified, low-pass filtered at `lowpass_hz`. Both filters
/// are zero-phase. Samples must be evenly spaced.
pub fn envelope(times: &[f64], raw: &[f64], lowpass_hz: f64) -> Result<Vec<f64>, SignalError> {
    let dt = even_step(times)?;
    // Samples too slow for a high-pass have none of its frequencies left.
    let slow = match HIGHPASS_HZ < 0.4 / dt {
        true => smooth(raw, HIGHPASS_HZ, dt)?,
        false => vec![raw.iter().sum::<f64>() / raw.len().max(1) as f64; raw.len()],
    };
    let rectified: Vec<f64> = raw.iter().zip(slow).map(|(x, slow)| (x - slow).abs()).collect();
    Ok(smooth(&rectified, lowpass_hz, dt)?.iter().map(|x| x.max(0.0)).collect())
}

/// A low-pass of a rough signal, half a second of which is mirrored at either end. The filter takes its first three values as they are,
/// and their slope for that of the signal: noise would throw it off, so that it begins and ends with the mean.
fn smooth(signal: &[f64], cutoff_hz: f64, dt: f64) -> Result<Vec<f64>, SignalError> {
    let n = signal.len();
    let margin = ((0.5 / dt) as usize).min(n.saturating_sub(1));
    let mean = signal.iter().sum::<f64>() / n.max(1) as f64;
    let mut long = vec![mean; 4];
    long.extend((1..=margin).rev().map(|k| signal[k]));
    long.extend(signal);
    long.extend((1..=margin).map(|k| signal[n - 1 - k]));
    long.extend([mean; 4]);
    let smooth = Butterworth::new(cutoff_hz, dt)?.forward_backward(&long)?;
    Ok(smooth[4 + margin..4 + margin + n].to_vec())
}

/// Similarity of two curves over the same times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likeness {
    /// Pearson's correlation, from −1 to 1; `None` if one of the curves is constant.
    pub correlation: Option<f64>,
    /// RMS difference.
    pub rms: f64,
    /// Onset of each curve, s: the first time at which it rises above a quarter of its range and stays above for 25 ms;
    /// `None` if there is no onset.
    pub onsets: [Option<f64>; 2],
}

/// Compares two curves; means over time use the trapezoidal rule.
pub fn likeness(times: &[f64], a: &[f64], b: &[f64]) -> Likeness {
    let mut weights = vec![0.0; times.len()];
    for (k, t) in times.windows(2).enumerate() {
        let half = 0.5 * (t[1] - t[0]);
        weights[k] += half;
        weights[k + 1] += half;
    }
    let total: f64 = weights.iter().sum();
    if !(total > 0.0) {
        return Likeness { correlation: None, rms: f64::NAN, onsets: [None; 2] };
    }
    let mean =
        |f: &dyn Fn(usize) -> f64| weights.iter().enumerate().map(|(k, w)| w * f(k)).sum::<f64>() / total;
    let (ma, mb) = (mean(&|k| a[k]), mean(&|k| b[k]));
    let (va, vb) = (mean(&|k| (a[k] - ma).powi(2)), mean(&|k| (b[k] - mb).powi(2)));
    let product = mean(&|k| (a[k] - ma) * (b[k] - mb));
    // Curves that change by rounding alone are constant.
    let moves = |v: f64, m: f64| v.sqrt() > 1e-9 * m.abs().max(1e-3);
    Likeness {
        correlation: (moves(va, ma) && moves(vb, mb)).then(|| product / (va * vb).sqrt()),
        rms: mean(&|k| (a[k] - b[k]).powi(2)).sqrt(),
        onsets: [onset(times, a), onset(times, b)],
    }
}

/// Onset of a curve; see [`Likeness::onsets`].
pub fn onset(times: &[f64], y: &[f64]) -> Option<f64> {
    let (low, high) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &y| (l.min(y), h.max(y)));
    let on = low + ON * (high - low);
    if !(high > low) {
        return None;
    }
    for k in 1..y.len() {
        if !(y[k - 1] < on && y[k] >= on) {
            continue;
        }
        let after = (k..y.len()).find(|&i| y[i] < on).map_or(f64::INFINITY, |i| times[i]);
        let t = times[k - 1] + (times[k] - times[k - 1]) * (on - y[k - 1]) / (y[k] - y[k - 1]);
        if after - t >= STAYS_ON {
            return Some(t);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Random;
    use std::f64::consts::TAU;

    /// Noise whose strength rises and falls has an envelope of that shape: the mean of |x| of a normal distribution is √(2/π) σ.
    #[test]
    fn analytic_envelope_of_modulated_noise() {
        let times: Vec<f64> = (0..8000).map(|i| f64::from(i) / 2000.0).collect();
        let strength = |t: f64| 1.0 + 0.8 * (0.5 * TAU * t).sin();
        let mut random = Random::new(7);
        // Twelve even numbers make a normal one; a movement of 2 Hz and an offset come on top.
        let normal = |r: &mut Random| r.vector(12, 1.0).iter().sum::<f64>() / 2.0;
        let raw: Vec<f64> = times
            .iter()
            .map(|&t| strength(t) * normal(&mut random) + 3.0 + 2.0 * (2.0 * TAU * t).sin())
            .collect();
        let found = envelope(&times, &raw, 3.0).unwrap();
        let expected: Vec<f64> =
            times.iter().map(|&t| (2.0 / std::f64::consts::PI).sqrt() * strength(t)).collect();
        let alike = likeness(&times, &found, &expected);
        // Over 1/6 s there are some 300 numbers, so that a mean is off by 4 %; the high-pass takes 2 % of the power.
        assert!(alike.correlation.unwrap() > 0.98 && alike.rms < 0.08, "{alike:?}");
    }

    /// A wave and the same wave later: correlation cos φ, difference |2 sin φ/2| / √2, onsets apart by the delay.
    #[test]
    fn analytic_likeness_of_shifted_waves() {
        let times: Vec<f64> = (0..=4000).map(|i| f64::from(i) / 2000.0).collect();
        let delay = 0.05;
        let wave = |t: f64| 0.5 - 0.5 * (TAU * t).cos();
        let (a, b): (Vec<f64>, Vec<f64>) = times.iter().map(|&t| (wave(t), wave(t - delay))).unzip();
        let alike = likeness(&times, &a, &b);
        let phase = TAU * delay;
        assert!((alike.correlation.unwrap() - phase.cos()).abs() < 1e-6, "{alike:?}");
        assert!((alike.rms - 0.5 * 2.0 * (phase / 2.0).sin() / 2f64.sqrt()).abs() < 1e-6, "{alike:?}");
        // A quarter of the range is where cos = 1/2.
        let [first, second] = alike.onsets.map(Option::unwrap);
        assert!((first - 1.0 / 6.0).abs() < 1e-4 && (second - first - delay).abs() < 1e-4, "{alike:?}");
        let flat = vec![0.3; times.len()];
        assert_eq!(likeness(&times, &a, &flat).correlation, None);
        assert_eq!(onset(&times, &flat), None);
    }
}

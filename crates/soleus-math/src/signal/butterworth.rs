//! Zero-phase third-order Butterworth low-pass filter.

use super::error::{SignalError, positive};
use crate::elementary;

/// Third-order Butterworth low-pass filter for samples `dt` (s) apart, by the bilinear transform:
///
///   w = tan(π f_c dt),   D = (w + 1)(w² + w + 1)                               (1)
///   b = w³ [1, 3, 3, 1] / D                                                    (2)
///   a = [1, (3w³ + 2w² − 2w − 3)/D, (3w³ − 2w² − 2w + 3)/D, (w − 1)(w² − w + 1)/D]   (3)
///   yᵢ = Σ bₖ xᵢ₋ₖ − Σ aₖ yᵢ₋ₖ,   the first three samples are copied            (4)
///
/// Source: the equations of OpenSim's `Signal::LowpassIIR`. A cutoff at or above half the sample
/// rate is lowered to 0.49 of the rate, as there.
#[derive(Clone, Debug, PartialEq)]
pub struct Butterworth {
    b: [f64; 4],
    a: [f64; 4],
    cutoff_hz: f64,
}

impl Butterworth {
    /// Filter with cutoff f_c (Hz) for samples `dt` (s) apart.
    pub fn new(cutoff_hz: f64, dt: f64) -> Result<Self, SignalError> {
        let mut fc = positive("cutoff frequency [Hz]", cutoff_hz)?;
        let fs = 1.0 / positive("time step [s]", dt)?;
        if fc >= 0.5 * fs {
            fc = 0.49 * fs;
        }
        let w = elementary::tan(2.0 * std::f64::consts::PI * fc * dt / 2.0); // (1)
        let (w2, w3) = (w * w, w * w * w);
        let d = (w + 1.0) * (w * w + w + 1.0);
        Ok(Butterworth {
            b: [w3 / d, 3.0 * w3 / d, 3.0 * w3 / d, w3 / d], // (2)
            a: [
                1.0,
                (3.0 * w3 + 2.0 * w2 - 2.0 * w - 3.0) / d,
                (3.0 * w3 - 2.0 * w2 - 2.0 * w + 3.0) / d,
                (w - 1.0) * (w2 - w + 1.0) / d,
            ], // (3)
            cutoff_hz: fc,
        })
    }

    /// The cutoff frequency used (Hz): as requested, or 0.49 of the sample rate.
    pub fn cutoff_hz(&self) -> f64 {
        self.cutoff_hz
    }

    /// Filters forwards, then backwards, for zero phase. The gain at the cutoff frequency is then ½ (−6 dB): it is not
    /// corrected for the second pass. At least 4 samples.
    pub fn forward_backward(&self, signal: &[f64]) -> Result<Vec<f64>, SignalError> {
        if signal.len() < 4 {
            return Err(SignalError::TooFew { what: "a Butterworth filter", needed: 4, found: signal.len() });
        }
        let mut y = self.forward(signal.iter().copied());
        y.reverse();
        let mut y = self.forward(y.into_iter());
        y.reverse();
        Ok(y)
    }

    /// Equation (4).
    fn forward(&self, signal: impl ExactSizeIterator<Item = f64>) -> Vec<f64> {
        let (b, a) = (&self.b, &self.a);
        let mut y = Vec::with_capacity(signal.len());
        let mut x = [0.0; 4]; // The newest sample first.
        for (i, new) in signal.enumerate() {
            x = [new, x[0], x[1], x[2]];
            y.push(if i < 3 {
                new
            } else {
                b[0] * x[0] + b[1] * x[1] + b[2] * x[2] + b[3] * x[3]
                    - a[1] * y[i - 1]
                    - a[2] * y[i - 2]
                    - a[3] * y[i - 3]
            });
        }
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_gain_is_half_at_the_cutoff() {
        // One pass has the gain 1/√2 at the cutoff, two passes ½; far from the ends, a sine stays one.
        let (fc, dt, n) = (6.0, 0.005, 4000);
        let sine = |i: usize| (2.0 * std::f64::consts::PI * fc * dt * i as f64).sin();
        let x: Vec<f64> = (0..n).map(sine).collect();
        let y = Butterworth::new(fc, dt).unwrap().forward_backward(&x).unwrap();
        // Start-up errors fall as exp(−2π f_c t): after 5 s nothing is left of them.
        for (i, y) in y.iter().enumerate().take(3000).skip(1000) {
            assert!((y - 0.5 * sine(i)).abs() < 1e-12, "sample {i}: {y} and {}", sine(i));
        }
    }

    #[test]
    fn analytic_a_constant_passes() {
        // b sums to the sum of a, up to rounding.
        let y = Butterworth::new(6.0, 0.01).unwrap().forward_backward(&[2.5; 40]).unwrap();
        assert!(y.iter().all(|v| (v - 2.5).abs() < 1e-12));
    }

    #[test]
    fn analytic_cutoff_above_nyquist_is_lowered() {
        assert_eq!(Butterworth::new(80.0, 0.01).unwrap().cutoff_hz(), 49.0);
        assert!(Butterworth::new(0.0, 0.01).is_err() && Butterworth::new(6.0, f64::NAN).is_err());
        assert!(Butterworth::new(6.0, 0.01).unwrap().forward_backward(&[1.0; 3]).is_err());
    }
}

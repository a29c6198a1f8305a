//! Windowed-sinc low-pass filter.

use super::error::{SignalError, positive};
use super::pad::pad;
use crate::elementary;
use std::f64::consts::PI;

/// FIR low-pass filter of order M for samples `dt` (s) apart:
///
///   hₖ = 2 f_c dt · sinc(2π f_c dt k) · (0.54 + 0.46 cos(π k/M)),   k = −M … M     (1)
///   yᵢ = Σ hₖ xᵢ₋ₖ / Σ hₖ                                                           (2)
///
/// with sinc x = sin x / x; the signal is extended by [`pad`] so that output begins at its first
/// sample. Source: the equations of OpenSim's `Signal::LowpassFIR` (Hamming window); CMC and RRA
/// use M = 50.
#[derive(Clone, Debug, PartialEq)]
pub struct FirLowpass {
    /// h from k = −M to M; symmetric.
    h: Vec<f64>,
    sum: f64,
}

impl FirLowpass {
    /// Filter of `order` M ≥ 1 with cutoff f_c (Hz).
    pub fn new(order: usize, cutoff_hz: f64, dt: f64) -> Result<Self, SignalError> {
        let fc = positive("cutoff frequency [Hz]", cutoff_hz)?;
        let dt = positive("time step [s]", dt)?;
        if order == 0 {
            return Err(SignalError::OutOfRange {
                what: "order of the filter",
                found: 0.0,
                expected: "at least 1",
            });
        }
        let w = 2.0 * PI * fc;
        let m = order as f64;
        let h: Vec<f64> = (0..=2 * order)
            .map(|j| {
                let k = j as f64 - m;
                let window = 0.54 + 0.46 * elementary::cos(k * PI / m);
                sinc(k * w * dt) * dt * w / PI * window // (1)
            })
            .collect();
        let sum = h.iter().sum();
        Ok(FirLowpass { h, sum })
    }

    /// The filtered signal (2); needs at least 2M samples.
    pub fn apply(&self, signal: &[f64]) -> Result<Vec<f64>, SignalError> {
        let order = self.h.len() / 2;
        if signal.len() < 2 * order {
            return Err(SignalError::TooFew { what: "this filter", needed: 2 * order, found: signal.len() });
        }
        let long = pad(signal, order);
        // Sample i of the signal is sample M + i of `long`; h runs against time.
        let at = |i: usize| -> f64 {
            let window = &long[i..i + self.h.len()];
            self.h.iter().zip(window.iter().rev()).map(|(h, x)| h * x).sum::<f64>() / self.sum
        };
        Ok((0..signal.len()).map(at).collect())
    }
}

/// sin x / x. Below 1e-8 the next term, x²/6, is lost in rounding.
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-8 { 1.0 } else { elementary::sin(x) / x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_lines_pass() {
        // The window is symmetric and normalized, and the extension of a line is the line.
        let x: Vec<f64> = (0..120).map(|i| 1.0 + 0.25 * i as f64).collect();
        let y = FirLowpass::new(50, 6.0, 0.01).unwrap().apply(&x).unwrap();
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() < 1e-12, "{x} became {y}");
        }
    }

    #[test]
    fn analytic_fast_sines_stop() {
        // The stop band of a Hamming window lies below −53 dB; 25 Hz is far inside it for M = 50.
        let x: Vec<f64> = (0..400).map(|i| (2.0 * PI * 25.0 * 0.01 * f64::from(i)).sin()).collect();
        let y = FirLowpass::new(50, 6.0, 0.01).unwrap().apply(&x).unwrap();
        assert!(y[60..340].iter().all(|v| v.abs() < 2.3e-3));
    }

    #[test]
    fn analytic_short_signals_are_refused() {
        let f = FirLowpass::new(50, 6.0, 0.01).unwrap();
        assert!(f.apply(&[0.0; 99]).is_err() && f.apply(&[0.0; 100]).is_ok());
        assert!(FirLowpass::new(0, 6.0, 0.01).is_err());
    }
}

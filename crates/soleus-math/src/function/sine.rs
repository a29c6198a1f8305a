//! A sine wave.

use super::{FunctionError, knots};
use crate::Real;

/// y = A sin(ω x + φ) + y₀, ω in radians per unit of x.
#[derive(Clone, Debug, PartialEq)]
pub struct Sine {
    amplitude: f64,
    omega: f64,
    phase: f64,
    offset: f64,
}

impl Sine {
    /// From amplitude, angular frequency, phase (radians) and offset.
    pub fn new(amplitude: f64, omega: f64, phase: f64, offset: f64) -> Result<Self, FunctionError> {
        knots::finite("Sine", "parameters", &[amplitude, omega, phase, offset])?;
        Ok(Sine { amplitude, omega, phase, offset })
    }

    /// Amplitude, angular frequency, phase (radians) and offset, in the order of [`new`](Self::new).
    pub fn parameters(&self) -> [f64; 4] {
        [self.amplitude, self.omega, self.phase, self.offset]
    }

    /// Value at `x`.
    #[inline]
    pub fn value<T: Real>(&self, x: T) -> T {
        (x * self.omega + self.phase).sin() * self.amplitude + self.offset
    }

    /// Value, first and second derivative at `x`.
    #[inline]
    pub fn eval<T: Real>(&self, x: T) -> [T; 3] {
        let (s, c) = (x * self.omega + self.phase).sin_cos();
        let y = s * self.amplitude;
        [y + self.offset, c * (self.amplitude * self.omega), y * (-self.omega * self.omega)]
    }
}

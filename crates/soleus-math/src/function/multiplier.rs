//! A scaled function.

use super::{Function, FunctionError, knots};

/// y = s f(x). Used for the joint functions of scaled models.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiplier {
    scale: f64,
    inner: Box<Function>,
}

impl Multiplier {
    /// `scale` times `inner`. A multiple of a multiple is combined.
    pub fn new(inner: Function, scale: f64) -> Result<Self, FunctionError> {
        knots::finite("MultiplierFunction", "scale", &[scale])?;
        Ok(match inner {
            Function::Multiplier(m) => Multiplier { scale: m.scale * scale, inner: m.inner },
            inner => Multiplier { scale, inner: Box::new(inner) },
        })
    }

    /// The factor s.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The function f.
    pub fn inner(&self) -> &Function {
        &self.inner
    }
}

//! Numbers, infinite ones among them.

use super::Plain;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A number, or the text `Infinity`, `-Infinity` or `NaN`; `inf` and `-inf` are read too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => s.serialize_f64(x),
            x if x.is_nan() => s.serialize_str("NaN"),
            x if x > 0.0 => s.serialize_str("Infinity"),
            _ => s.serialize_str("-Infinity"),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Number, D::Error> {
        struct AnyNumber;
        impl Visitor<'_> for AnyNumber {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number, \"Infinity\" or \"-Infinity\"")
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Number, E> {
                Ok(Number(x))
            }
            fn visit_i64<E: Error>(self, x: i64) -> Result<Number, E> {
                Ok(Number(x as f64))
            }
            fn visit_u64<E: Error>(self, x: u64) -> Result<Number, E> {
                Ok(Number(x as f64))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
                // Rust reads `inf`, `infinity` and `nan` in any case. Other numbers are not texts.
                match text.parse() {
                    Ok(x) if !f64::is_finite(x) => Ok(Number(x)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        d.deserialize_any(AnyNumber)
    }
}

impl Plain for f64 {
    type Form = Number;
    fn form(&self) -> Number {
        Number(*self)
    }
    fn value(form: Number) -> Result<f64, String> {
        Ok(form.0)
    }
}

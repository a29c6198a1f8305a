//! Serialization of values that serde does not support, or not well: infinite numbers, elements, functions, operators.
//! For `#[serde(with = "crate::plain")]`.
//!
//! JSON has no infinite numbers, so they are written as the texts `Infinity`, `-Infinity` and `NaN` (docs/formats.md),
//! in TOML too. Elements are written as XML.

mod element;
mod function;
mod number;
mod operator;
pub(crate) mod toml_text;

pub(crate) use function::FunctionForm;
pub(crate) use operator::ModelOperatorForm;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value with a form that can be written and read.
pub(crate) trait Plain: Sized {
    /// The form.
    type Form: Serialize + DeserializeOwned;
    fn form(&self) -> Self::Form;
    /// The value, or what is wrong with the form.
    fn value(form: Self::Form) -> Result<Self, String>;
}

/// For `#[serde(with)]`.
pub(crate) fn serialize<T: Plain, S: Serializer>(value: &T, s: S) -> Result<S::Ok, S::Error> {
    value.form().serialize(s)
}

/// For `#[serde(with)]`.
pub(crate) fn deserialize<'de, T: Plain, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
    T::value(T::Form::deserialize(d)?).map_err(D::Error::custom)
}

/// For `#[serde(skip_serializing_if)]`: what was not read from a file has line 0.
pub(crate) fn is_zero(line: &u32) -> bool {
    *line == 0
}

/// Values that fields of enums have when they are left out, for `#[serde(default)]`.
pub(crate) mod usual {
    pub(crate) fn yes() -> bool {
        true
    }
    pub(crate) fn one() -> f64 {
        1.0
    }
    pub(crate) fn two() -> f64 {
        2.0
    }
    pub(crate) fn none_word() -> String {
        "none".into()
    }
    pub(crate) fn up() -> String {
        "positive-y".into()
    }
    pub(crate) fn forward() -> String {
        "positive-x".into()
    }
    pub(crate) fn all() -> Vec<String> {
        vec!["all".into()]
    }
    pub(crate) fn child() -> Vec<String> {
        vec!["child".into()]
    }
    pub(crate) fn ground() -> String {
        "ground".into()
    }
    pub(crate) fn in_ground() -> Vec<String> {
        vec!["ground".into()]
    }
    pub(crate) fn center_of_mass() -> Vec<String> {
        vec!["center_of_mass".into()]
    }
}

impl<T: Plain> Plain for Option<T> {
    type Form = Option<T::Form>;
    fn form(&self) -> Self::Form {
        self.as_ref().map(T::form)
    }
    fn value(form: Self::Form) -> Result<Self, String> {
        form.map(T::value).transpose()
    }
}

impl<T: Plain> Plain for Vec<T> {
    type Form = Vec<T::Form>;
    fn form(&self) -> Self::Form {
        self.iter().map(T::form).collect()
    }
    fn value(form: Self::Form) -> Result<Self, String> {
        form.into_iter().map(T::value).collect()
    }
}

impl<T: Plain, const N: usize> Plain for [T; N] {
    type Form = Vec<T::Form>;
    fn form(&self) -> Self::Form {
        self.iter().map(T::form).collect()
    }
    fn value(form: Self::Form) -> Result<Self, String> {
        let found = form.len();
        let list = Vec::<T>::value(form)?;
        list.try_into().map_err(|_| format!("expected a list of {N}, found {found}"))
    }
}

/// A name with a value.
impl<T: Plain> Plain for (String, T) {
    type Form = (String, T::Form);
    fn form(&self) -> Self::Form {
        (self.0.clone(), self.1.form())
    }
    fn value(form: Self::Form) -> Result<Self, String> {
        Ok((form.0, T::value(form.1)?))
    }
}

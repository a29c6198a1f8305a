//! Why a signal could not be processed.

use crate::function::FunctionError;
use crate::table::TableError;
use thiserror::Error;

/// Why a signal could not be processed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SignalError {
    /// Fewer samples than the operation needs.
    #[error("{what} needs at least {needed} rows, found {found}")]
    TooFew {
        /// The operation.
        what: &'static str,
        /// Minimum number.
        needed: usize,
        /// Rows given.
        found: usize,
    },
    /// Times that do not increase or are not numbers.
    #[error("times must increase, but row {row} (counted from 0) does not")]
    Times {
        /// First row whose time does not increase, from zero.
        row: usize,
    },
    /// Times so uneven that resampling would need too many rows.
    #[error(
        "times are too uneven to filter: resampling at {step} s would give {rows} rows instead of {found}; cut the table at its longest gap, before {longest_before} s"
    )]
    Uneven {
        /// The median step, s.
        step: f64,
        /// Required number of rows.
        rows: f64,
        /// Number of rows of the table.
        found: usize,
        /// The time after the longest step, s.
        longest_before: f64,
    },
    /// A parameter outside its range.
    #[error("{what} is {found}, but must be {expected}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        found: f64,
        /// The valid range, as text.
        expected: &'static str,
    },
    /// A column that cannot be interpolated by a spline, usually because values are missing.
    #[error("column `{label}`: {source}")]
    Column {
        /// The label.
        label: String,
        /// Cause.
        source: FunctionError,
    },
    /// An invalid table.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// A frequency or time that must be positive and finite.
pub(super) fn positive(what: &'static str, x: f64) -> Result<f64, SignalError> {
    if x > 0.0 && x.is_finite() {
        Ok(x)
    } else {
        Err(SignalError::OutOfRange { what, found: x, expected: "positive and finite" })
    }
}

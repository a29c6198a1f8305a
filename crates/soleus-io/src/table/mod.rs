//! Motion, force and marker files: `.sto`, `.mot`, `.trc`, `.csv` and `.parquet` to and from [`Table`].
//!
//! Readers are lenient: they return the readable part and diagnostics with line numbers. A table with errors has lost
//! data.

pub mod csv;
mod delimited;
pub(crate) mod number;
pub mod parquet;
pub mod sto;
mod text;
pub mod trc;

use soleus_math::Table;
use soleus_model::Diagnostics;

/// Hint of the warning about times that do not increase. Tools that need rows in order treat it as an error.
pub const OUT_OF_ORDER: &str = "rows must be sorted by time, without repeats";

/// Hint for duplicate labels.
pub const FIRST_COUNTS: &str = "only the first can be found by name";

/// Formats of table files, by file extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Storage; unit of angles as in the header.
    Sto,
    /// Motion; angles in degrees if there is no version line.
    Mot,
    /// Marker trajectories.
    Trc,
    /// Comma-separated values.
    Csv,
    /// Columns of doubles.
    Parquet,
}

impl Format {
    /// Format of a file name, ignoring case.
    pub fn of(file: &str) -> Option<Format> {
        let (_, ending) = file.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "sto" => Some(Format::Sto),
            "mot" => Some(Format::Mot),
            "trc" => Some(Format::Trc),
            "csv" => Some(Format::Csv),
            "parquet" => Some(Format::Parquet),
            _ => None,
        }
    }
}

/// Reads a table in the format given by the extension of `file`; unknown extensions are read as `.sto`.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let mut log = Diagnostics::new(file);
        log.error(0, "", "the file is empty", "it may be incomplete; export it again");
        return (None, log);
    }
    match Format::of(file) {
        Some(Format::Trc) => trc::read(bytes, file),
        Some(Format::Csv) => csv::read(bytes, file),
        Some(Format::Parquet) => parquet::read(bytes, file),
        _ => sto::read(bytes, file),
    }
}

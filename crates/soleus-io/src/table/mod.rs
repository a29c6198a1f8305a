//! Motion, force and marker files: `.sto`, `.mot`, `.trc`, `.csv` and `.parquet` to and from [`Table`].
//!
//! Readers are lenient: they return what they could read, and a list of what was wrong and where. A table that comes
//! with errors has lost data.

pub mod csv;
mod delimited;
pub(crate) mod number;
pub mod parquet;
pub mod sto;
mod text;
pub mod trc;

use soleus_math::Table;
use soleus_model::Diagnostics;

/// The hint of the warning that a time does not follow the one before it. Who needs rows in order makes it an error.
pub const OUT_OF_ORDER: &str = "rows must be sorted by time, without repeats";

/// The hint where a label occurs twice.
pub const FIRST_COUNTS: &str = "only the first can be found by name";

/// Kinds of table files, by the ending of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Storage, angles as the header says.
    Sto,
    /// Motion; without a version line its angles are in degrees.
    Mot,
    /// Marker trajectories.
    Trc,
    /// Values separated by commas.
    Csv,
    /// Columns of doubles.
    Parquet,
}

impl Format {
    /// The format of a file name, in upper or lower case.
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

/// Reads a table in the format that the ending of `file` names; unknown endings are read as `.sto`.
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

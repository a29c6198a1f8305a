//! Motion, force and marker files: `.sto`, `.mot`, `.trc` and `.csv` to and from [`Table`].
//!
//! Readers are lenient: they return what they could read, and a list of what was wrong and where. A table that comes
//! with errors has lost data.

pub mod csv;
mod delimited;
mod number;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod sto;
mod text;
pub mod trc;

use soleus_math::Table;
use soleus_model::Diagnostics;

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
    /// Columns of doubles; only with the feature `parquet`.
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

/// What a program built without the feature `parquet` says of such files, and what to do.
pub const NO_PARQUET: &str = "this program was built without Parquet";
/// See [`NO_PARQUET`].
pub const NO_PARQUET_HINT: &str = "build it with `--features parquet`, or use .csv";

/// Reads a table in the format that the ending of `file` names; unknown endings are read as `.sto`.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    match Format::of(file) {
        Some(Format::Trc) => trc::read(bytes, file),
        Some(Format::Csv) => csv::read(bytes, file),
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => parquet::read(bytes, file),
        #[cfg(not(feature = "parquet"))]
        Some(Format::Parquet) => {
            let mut log = Diagnostics::new(file);
            log.error(0, "", NO_PARQUET, NO_PARQUET_HINT);
            (None, log)
        }
        _ => sto::read(bytes, file),
    }
}

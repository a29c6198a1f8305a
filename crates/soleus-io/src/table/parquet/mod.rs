//! Tables as Parquet files: a column `time` and one of doubles for each scalar column; name, unit and angles in the file's
//! metadata.
//!
//! Written is the plainest form that every reader takes: required doubles, plain encoding, no compression. Read is what pandas,
//! Arrow and R write for a flat table of numbers: doubles, floats and whole numbers, with or without gaps; plain, by dictionary
//! or split by bytes; pages of both versions; without compression or with Snappy's.
//!
//! Source: the format as specified by Apache Parquet (`parquet.thrift`, Encodings.md, Data Pages), the compact protocol of
//! Apache Thrift, and the format description of Snappy. The code is ours: all of it is less than a reader of every Parquet
//! file would add to the program.
//!
//! ```text
//! PAR1 | column chunk … | metadata (Thrift) | its length, 4 bytes | PAR1
//!        column chunk = pages = (header (Thrift), values) …
//! ```

mod levels;
mod pages;
mod read;
mod snappy;
mod thrift;
mod write;

pub use read::read;
pub use write::write;

/// The first and the last four bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ParquetError {
    /// Something else, or cut off.
    #[error("the file does not begin and end as a Parquet file does")]
    NotParquet,
    /// What is there makes no sense.
    #[error("{0}")]
    Damaged(&'static str),
    /// Legal, but not read here.
    #[error("{what} are not read")]
    Unsupported {
        /// What.
        what: String,
        /// What to do.
        hint: &'static str,
    },
}

/// Physical types.
mod physical {
    pub const INT32: i64 = 1;
    pub const INT64: i64 = 2;
    pub const FLOAT: i64 = 4;
    pub const DOUBLE: i64 = 5;
}

/// Encodings of values.
mod encoding {
    pub const PLAIN: i64 = 0;
    pub const PLAIN_DICTIONARY: i64 = 2;
    pub const RLE: i64 = 3;
    pub const RLE_DICTIONARY: i64 = 8;
    pub const BYTE_STREAM_SPLIT: i64 = 9;
}

/// Kinds of pages.
mod page {
    pub const DATA: i64 = 0;
    pub const DICTIONARY: i64 = 2;
    pub const DATA_V2: i64 = 3;
}

#[cfg(test)]
mod tests;

//! Tables as Parquet files: a column `time` and one of doubles for each scalar column; name, unit and angles in the file's
//! metadata.
//!
//! Files are written in the simplest form, which every reader supports: required doubles, plain encoding, no
//! compression. The reader supports what pandas, Arrow and R write for a flat table of numbers: doubles, floats and
//! integers, with or without gaps; plain, dictionary or byte-stream-split encoding; pages of both versions;
//! uncompressed or compressed by Snappy, gzip or (feature `zstd`) Zstandard.
//!
//! Source: the format as specified by Apache Parquet (`parquet.thrift`, Encodings.md, Data Pages), the compact protocol
//! of Apache Thrift, the format description of Snappy, and RFC 1952 (gzip). This is an independent implementation. The
//! crate `parquet` reads Zstandard only through a library in C; without it, it takes 57 s to compile and adds 1.0 MB to
//! the program. `ruzstd` takes 3.5 s and 0.15 MB.
//!
//! Sizes stated in a file are not trusted: a table may take at most `MOST_TIMES` times the size of the file, a page the
//! size of its values, and all pages together the size of the file.
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
mod unpack;
mod write;

pub use read::read;
pub use write::{Column, write, write_columns};

/// How many times as large as its file a table may be. Columns of one number throughout pack to nearly nothing, but the times
/// beside them do not; this is a hundred such columns.
const MOST_TIMES: usize = 128;
/// Bytes that a table may always have, however small its file.
const ALWAYS: usize = 128 << 20;

/// The first and the last four bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ParquetError {
    /// Something else, or cut off.
    #[error("the file does not start and end like a Parquet file")]
    NotParquet,
    /// What is there makes no sense.
    #[error("{0}")]
    Damaged(&'static str),
    /// Far more numbers than bytes.
    #[error(
        "it declares {rows} rows of {columns} columns, {} MB in memory from a file of {} kB",
        rows.saturating_mul(*columns).saturating_mul(8) >> 20, bytes.div_ceil(1000)
    )]
    TooLarge {
        /// Rows.
        rows: usize,
        /// Columns of numbers.
        columns: usize,
        /// Length of the file.
        bytes: usize,
    },
    /// Legal, but not read here.
    #[error("{what} are not supported")]
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
    pub const BYTE_ARRAY: i64 = 6;
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

//! MATLAB's level 5 files (`save` without `-v7.3`): numbers, text, cells, structures and tables.
//!
//! Source: MathWorks, *MAT-File Format*. That document does not describe how objects are stored, and a `table` is an
//! object. Their parts are in one list of cells, in an unnamed variable referenced in the header. Seven consecutive
//! cells form a table: columns, number of dimensions, of rows, names of rows, number of columns, names of columns,
//! properties.

mod element;
mod table;

pub use table::MatTable;

use element::{Element, Elements, Kind};

/// Value of a variable. Arrays are stored with the first index fastest.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Numbers or logical values.
    Numbers {
        /// Dimensions.
        dims: Vec<usize>,
        /// Real parts.
        values: Vec<f64>,
    },
    /// Characters, all rows one after another.
    Text(String),
    /// Cells.
    Cells {
        /// Dimensions.
        dims: Vec<usize>,
        /// Contents.
        cells: Vec<Value>,
    },
    /// Structures: fields of the first, then of the second, ….
    Struct {
        /// Dimensions.
        dims: Vec<usize>,
        /// Names and contents.
        fields: Vec<(String, Value)>,
    },
    /// An object of this class, which is not read.
    Object(String),
    /// An unsupported type: sparse matrices, functions.
    Other,
}

impl Value {
    /// The numbers, if it is numeric.
    pub fn numbers(&self) -> Option<&[f64]> {
        match self {
            Value::Numbers { values, .. } => Some(values),
            _ => None,
        }
    }

    /// The text, if it is text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The cells, if it is a list of cells.
    pub fn cells(&self) -> Option<&[Value]> {
        match self {
            Value::Cells { cells, .. } => Some(cells),
            _ => None,
        }
    }

    /// A field of the first structure.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Struct { fields, .. } => fields.iter().find(|f| f.0 == name).map(|f| &f.1),
            _ => None,
        }
    }
}

/// Content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatFile {
    /// Variables by name.
    pub variables: Vec<(String, Value)>,
    /// Objects of the class `table`, in the order in which they were saved.
    pub tables: Vec<MatTable>,
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatError {
    /// The first bytes are not those of a level 5 file.
    #[error("this is not a MAT file of level 5")]
    NoMat,
    /// The file is of version 7.3.
    #[error("this MAT file is of version 7.3; save it with `-v7`")]
    Hdf5,
    /// Numbers are big-endian.
    #[error("this MAT file is big-endian, which is not supported")]
    BigEndian,
    /// The file is truncated.
    #[error("the file is truncated or damaged at byte {at}")]
    Damaged {
        /// Position in the file or in its unpacked data.
        at: usize,
    },
    /// Compressed data cannot be unpacked.
    #[error("the compressed data at byte {at} are damaged or larger than {} MB", LARGEST >> 20)]
    Packed {
        /// Position.
        at: usize,
    },
    /// Cells are nested too deeply.
    #[error("the file nests cells and structures deeper than {DEEPEST}")]
    TooDeep,
}

/// Bytes that one packed variable may become.
const LARGEST: usize = 256 << 20;
/// How deep cells may lie in cells.
const DEEPEST: usize = 32;
/// Length of the header.
const HEADER: usize = 128;

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<MatFile, MatError> {
    let head = bytes.get(..HEADER).ok_or(MatError::NoMat)?;
    match (&head[126..128], head.get(124..126)) {
        (b"IM", Some([0, 1])) => {}
        (b"IM", Some([0, 2])) => return Err(MatError::Hdf5),
        (b"MI", _) => return Err(MatError::BigEndian),
        _ => return Err(MatError::NoMat),
    }
    // Where the parts of objects are; blanks or zero if there are none.
    let objects = head[116..124].iter().rev().fold(0u64, |sum, &b| sum << 8 | u64::from(b));
    let mut file = MatFile::default();
    for e in Elements::new(&bytes[HEADER..], HEADER) {
        let e = e?;
        let unpacked;
        let inner = match e.kind {
            Kind::Packed => {
                let limited = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(e.bytes, LARGEST);
                unpacked = limited.map_err(|_| MatError::Packed { at: e.at })?;
                Elements::new(&unpacked, 0).next().ok_or(MatError::Damaged { at: e.at })??
            }
            _ => e.clone(),
        };
        if inner.kind != Kind::Matrix {
            continue;
        }
        let (name, value) = matrix(&inner, 0)?;
        if e.start as u64 == objects {
            file.tables = table::tables(&object_parts(&value)?);
        } else {
            file.variables.push((name, value));
        }
    }
    Ok(file)
}

/// The list of cells with the parts of objects: the bytes of the variable are a file of their own after eight bytes.
fn object_parts(value: &Value) -> Result<Vec<Value>, MatError> {
    let Value::Numbers { values, .. } = value else { return Ok(Vec::new()) };
    let bytes: Vec<u8> = values.iter().map(|&v| v as u8).collect();
    let Some(Ok(e)) = bytes.get(8..).and_then(|b| Elements::new(b, 8).next()) else { return Ok(Vec::new()) };
    let (_, value) = matrix(&e, 0)?;
    // A structure with the field MCOS, an object that wraps the cells.
    let Value::Struct { fields, .. } = value else { return Ok(Vec::new()) };
    match fields.into_iter().find(|f| f.0 == "MCOS") {
        Some((_, Value::Cells { cells, .. })) => Ok(cells),
        _ => Ok(Vec::new()),
    }
}

/// One array with its name.
fn matrix(e: &Element<'_>, depth: usize) -> Result<(String, Value), MatError> {
    if depth > DEEPEST {
        return Err(MatError::TooDeep);
    }
    if e.bytes.is_empty() {
        return Ok((String::new(), Value::Numbers { dims: vec![0, 0], values: Vec::new() }));
    }
    let damaged = || MatError::Damaged { at: e.at };
    let mut parts = Elements::new(e.bytes, e.at);
    let mut next = || parts.next().ok_or_else(damaged)?;
    let class = *next()?.bytes.first().ok_or_else(damaged)?;
    if class == OBJECT {
        let name = next()?.text();
        let (_, class) = (next()?, next()?.text());
        let (_, inner) = matrix(&next()?, depth + 1)?;
        // The wrapper of all objects' parts is worth keeping, an object itself is numbers that point there.
        let value = if class == "FileWrapper__" { inner } else { Value::Object(class) };
        return Ok((name, value));
    }
    let dims: Vec<usize> = next()?.numbers().iter().map(|&d| d.max(0.0) as usize).collect();
    let name = next()?.text();
    let count = dims.iter().try_fold(1usize, |p, &d| p.checked_mul(d)).ok_or_else(damaged)?;
    let value = match class {
        CELL => {
            let mut cells = Vec::new();
            for _ in 0..count {
                cells.push(matrix(&next()?, depth + 1)?.1);
            }
            Value::Cells { dims, cells }
        }
        STRUCT | CLASS => {
            if class == CLASS {
                next()?;
            }
            let length = next()?.numbers().first().map_or(0, |&l| l as usize);
            let names = next()?;
            if length == 0 && !names.bytes.is_empty() {
                return Err(damaged());
            }
            let name = |b: &[u8]| {
                let end = b.iter().position(|&c| c == 0).unwrap_or(b.len());
                String::from_utf8_lossy(&b[..end]).into_owned()
            };
            let names: Vec<String> = names.bytes.chunks(length.max(1)).map(name).collect();
            let mut fields = Vec::new();
            // Structures without fields need no bytes, however many there are said to be.
            let count = if names.is_empty() { 0 } else { count };
            for _ in 0..count {
                for n in &names {
                    fields.push((n.clone(), matrix(&next()?, depth + 1)?.1));
                }
            }
            Value::Struct { dims, fields }
        }
        CHARACTERS => Value::Text(next()?.text()),
        6..=15 => Value::Numbers { dims, values: next()?.numbers() },
        _ => Value::Other,
    };
    Ok((name, value))
}

// Classes of arrays that hold no numbers.
const CELL: u8 = 1;
const STRUCT: u8 = 2;
const CLASS: u8 = 3;
const CHARACTERS: u8 = 4;
const OBJECT: u8 = 17;

#[cfg(test)]
mod tests;

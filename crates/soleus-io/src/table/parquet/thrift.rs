//! The compact protocol of Thrift: fields as pairs of number and value, whole numbers as zigzag varints.

use super::ParquetError;

/// Deepest nesting accepted; Parquet's metadata are six deep.
const MAX_DEPTH: usize = 16;

/// Values that are always accepted, beside one for every two bytes: a value takes 40 bytes of memory, and metadata that mean something have
/// more than two bytes for each.
const SOME_VALUES: usize = 1_000_000;

/// Kinds of values in the protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A whole number of any size.
    Int(i64),
    /// Bytes or text.
    Bytes(Vec<u8>),
    /// Values of one kind.
    List(Vec<Value>),
    /// Fields by their numbers.
    Struct(Vec<(i16, Value)>),
    /// A double, which the metadata that matter here do not have.
    Other,
}

impl Value {
    /// The field of a number.
    pub fn field(&self, id: i16) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(i, _)| *i == id).map(|(_, v)| v),
            _ => None,
        }
    }
    /// A whole number in a field.
    pub fn int(&self, id: i16) -> Option<i64> {
        match self.field(id) {
            Some(Value::Int(i)) => Some(*i),
            _ => None,
        }
    }
    /// Text in a field; what is not UTF-8 is replaced.
    pub fn text(&self, id: i16) -> Option<String> {
        match self.field(id) {
            Some(Value::Bytes(b)) => Some(String::from_utf8_lossy(b).into_owned()),
            _ => None,
        }
    }
    /// The values of a list in a field; none if there is no such field.
    pub fn list(&self, id: i16) -> &[Value] {
        match self.field(id) {
            Some(Value::List(list)) => list,
            _ => &[],
        }
    }
}

/// Reads one struct from the beginning of `bytes`; how many bytes it takes.
pub fn read_struct(bytes: &[u8]) -> Result<(Value, usize), ParquetError> {
    let mut r = Reader { bytes, at: 0, values: 0 };
    let value = r.fields(0)?;
    Ok((value, r.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many were read.
    values: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, ParquetError> {
        let b = self.bytes.get(self.at).ok_or(ParquetError::Damaged("the metadata are truncated"))?;
        self.at += 1;
        Ok(*b)
    }

    fn varint(&mut self) -> Result<u64, ParquetError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            number |= u64::from(b & 0x7f) << shift;
            if b & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ParquetError::Damaged("the metadata contain an invalid number"))
    }

    fn zigzag(&mut self) -> Result<i64, ParquetError> {
        let n = self.varint()?;
        Ok((n >> 1) as i64 ^ -((n & 1) as i64))
    }

    fn fields(&mut self, depth: usize) -> Result<Value, ParquetError> {
        if depth > MAX_DEPTH {
            return Err(ParquetError::Damaged("the metadata are nested too deeply"));
        }
        let mut fields = Vec::new();
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Value::Struct(fields));
            }
            // The number of a field is given by its distance from the one before, or in full.
            id = match head >> 4 {
                0 => self.zigzag()? as i16,
                step => id.wrapping_add(i16::from(step)),
            };
            let value = match head & 15 {
                TRUE => Value::Bool(true),
                FALSE => Value::Bool(false),
                kind => self.value(kind, depth + 1)?,
            };
            self.count()?;
            fields.push((id, value));
        }
    }

    fn count(&mut self) -> Result<(), ParquetError> {
        self.values += 1;
        const MANY: ParquetError =
            ParquetError::Damaged("the metadata contain more values than their length allows");
        if self.values > SOME_VALUES + self.bytes.len() / 2 { Err(MANY) } else { Ok(()) }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result<Value, ParquetError> {
        Ok(match kind {
            // Inside lists a truth value has a byte of its own.
            TRUE | FALSE => Value::Bool(self.byte()? == TRUE),
            BYTE => Value::Int(i64::from(self.byte()? as i8)),
            I16 | I32 | I64 => Value::Int(self.zigzag()?),
            DOUBLE => {
                for _ in 0..8 {
                    self.byte()?;
                }
                Value::Other
            }
            BINARY => {
                let n = self.varint()?;
                let rest = self.bytes.len() - self.at;
                let n = usize::try_from(n).ok().filter(|n| *n <= rest);
                let n = n.ok_or(ParquetError::Damaged("the metadata contain a text longer than the file"))?;
                self.at += n;
                Value::Bytes(self.bytes[self.at - n..self.at].to_vec())
            }
            LIST | SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // Every value takes a byte at least, so a count that lies ends here.
                if depth > MAX_DEPTH || count > (self.bytes.len() - self.at) as u64 {
                    return Err(ParquetError::Damaged("the metadata contain a list longer than the file"));
                }
                let mut list = Vec::new();
                for _ in 0..count {
                    self.count()?;
                    list.push(self.value(head & 15, depth + 1)?);
                }
                Value::List(list)
            }
            STRUCT => self.fields(depth)?,
            _ => return Err(ParquetError::Damaged("the metadata contain a value of unknown type")),
        })
    }
}

/// Writes structs, field by field in rising order of their numbers.
#[derive(Default)]
pub struct Writer {
    /// What was written.
    pub bytes: Vec<u8>,
    /// Number of the last field of each struct that is open.
    last: Vec<i16>,
}

impl Writer {
    /// A struct as a value of a list, or the outermost.
    pub fn open(&mut self) {
        self.last.push(0);
    }
    /// Its end.
    pub fn close(&mut self) {
        self.last.pop();
        self.bytes.push(0);
    }
    /// A struct in a field.
    pub fn open_field(&mut self, id: i16) {
        self.head(id, STRUCT);
        self.open();
    }
    /// A whole number of 32 bits in a field.
    pub fn i32(&mut self, id: i16, value: i32) {
        self.head(id, I32);
        self.zigzag(i64::from(value));
    }
    /// A whole number of 64 bits in a field.
    pub fn i64(&mut self, id: i16, value: i64) {
        self.head(id, I64);
        self.zigzag(value);
    }
    /// Text in a field.
    pub fn text(&mut self, id: i16, text: &str) {
        self.head(id, BINARY);
        self.plain_text(text);
    }
    /// A list of so many structs in a field; they follow.
    pub fn structs(&mut self, id: i16, count: usize) {
        self.list(id, STRUCT, count);
    }
    /// A list of one whole number of 32 bits in a field.
    pub fn one_i32(&mut self, id: i16, value: i32) {
        self.list(id, I32, 1);
        self.zigzag(i64::from(value));
    }
    /// A list of one text in a field.
    pub fn one_text(&mut self, id: i16, text: &str) {
        self.list(id, BINARY, 1);
        self.plain_text(text);
    }

    fn head(&mut self, id: i16, kind: u8) {
        // Numbers rise by less than 15 in everything that is written.
        if let Some(last) = self.last.last_mut() {
            self.bytes.push(((id - *last) as u8) << 4 | kind);
            *last = id;
        }
    }
    fn list(&mut self, id: i16, kind: u8, count: usize) {
        self.head(id, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(15 << 4 | kind);
            self.varint(count as u64);
        }
    }
    fn plain_text(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
    fn zigzag(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

//! Elements, the building blocks of the file.

use super::MatError;

/// Type of an element's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
    I64,
    U64,
    Utf8,
    Utf16,
    Matrix,
    Packed,
    Other,
}

impl Kind {
    fn from_code(code: u32) -> Kind {
        match code {
            1 => Kind::I8,
            2 => Kind::U8,
            3 => Kind::I16,
            4 => Kind::U16,
            5 => Kind::I32,
            6 => Kind::U32,
            7 => Kind::F32,
            9 => Kind::F64,
            12 => Kind::I64,
            13 => Kind::U64,
            14 => Kind::Matrix,
            15 => Kind::Packed,
            16 => Kind::Utf8,
            17 => Kind::Utf16,
            _ => Kind::Other,
        }
    }
}

/// One element.
#[derive(Clone, Debug)]
pub struct Element<'a> {
    pub kind: Kind,
    pub bytes: &'a [u8],
    /// Start of the element.
    pub start: usize,
    /// Start of its data.
    pub at: usize,
}

impl Element<'_> {
    /// The data as numbers; empty if they are not numeric.
    pub fn numbers(&self) -> Vec<f64> {
        fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
            let exact = |c: &[u8]| c.try_into().map(&number).unwrap_or(f64::NAN);
            bytes.chunks_exact(N).map(exact).collect()
        }
        match self.kind {
            Kind::I8 => each(self.bytes, |b| f64::from(i8::from_le_bytes(b))),
            Kind::U8 | Kind::Utf8 => each(self.bytes, |b| f64::from(u8::from_le_bytes(b))),
            Kind::I16 => each(self.bytes, |b| f64::from(i16::from_le_bytes(b))),
            Kind::U16 | Kind::Utf16 => each(self.bytes, |b| f64::from(u16::from_le_bytes(b))),
            Kind::I32 => each(self.bytes, |b| f64::from(i32::from_le_bytes(b))),
            Kind::U32 => each(self.bytes, |b| f64::from(u32::from_le_bytes(b))),
            Kind::F32 => each(self.bytes, |b| f64::from(f32::from_le_bytes(b))),
            Kind::F64 => each(self.bytes, f64::from_le_bytes),
            Kind::I64 => each(self.bytes, |b| i64::from_le_bytes(b) as f64),
            Kind::U64 => each(self.bytes, |b| u64::from_le_bytes(b) as f64),
            Kind::Matrix | Kind::Packed | Kind::Other => Vec::new(),
        }
    }

    /// The data as text.
    pub fn text(&self) -> String {
        match self.kind {
            Kind::Utf16 | Kind::U16 => {
                let units: Vec<u16> = self.numbers().iter().map(|&u| u as u16).collect();
                String::from_utf16_lossy(&units)
            }
            _ => String::from_utf8_lossy(self.bytes).into_owned(),
        }
    }
}

/// Elements one after another.
pub struct Elements<'a> {
    bytes: &'a [u8],
    next: usize,
    /// Added to places in errors.
    shift: usize,
}

impl<'a> Elements<'a> {
    pub fn new(bytes: &'a [u8], shift: usize) -> Elements<'a> {
        Elements { bytes, next: 0, shift }
    }

    fn word(&self, at: usize) -> Option<u32> {
        self.bytes.get(at..at.checked_add(4)?)?.try_into().map(u32::from_le_bytes).ok()
    }

    fn read(&mut self) -> Option<Element<'a>> {
        let start = self.next;
        let tag = self.word(start)?;
        let (kind, at, length) = match tag >> 16 {
            // Up to four bytes are kept within the tag.
            0 => (Kind::from_code(tag), start + 8, self.word(start + 4)? as usize),
            short => (Kind::from_code(tag & 0xffff), start + 4, (short as usize).min(4)),
        };
        let end = at.checked_add(length)?;
        let bytes = self.bytes.get(at..end)?;
        // All but packed data fill up to eight bytes; at the very end the filling may be missing.
        self.next = match kind {
            Kind::Packed => end,
            _ if tag >> 16 != 0 => start + 8,
            _ => end.next_multiple_of(8),
        };
        Some(Element { kind, bytes, start: start + self.shift, at: at + self.shift })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, MatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.bytes.len() {
            return None;
        }
        let at = self.next;
        Some(self.read().ok_or_else(|| {
            self.next = self.bytes.len();
            MatError::Damaged { at: at + self.shift }
        }))
    }
}

//! Snappy's block format, unpacked.

use super::ParquetError;

/// A copy of 64 bytes takes two bytes at least, so nothing unpacks to more than this many times its size.
const MOST: usize = 32;

/// The bytes that were packed.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>, ParquetError> {
    let mut rest = Rest(packed);
    // The length, as a varint of up to 32 bits.
    let mut length = 0usize;
    for shift in (0..35).step_by(7) {
        let b = rest.number(1)?;
        length |= (b & 0x7f) << shift;
        if b & 0x80 == 0 {
            break;
        }
    }
    if length > MOST * packed.len() {
        return Err(ParquetError::Damaged("a Snappy-compressed page has an impossible length"));
    }
    let mut out: Vec<u8> = Vec::with_capacity(length);
    while out.len() < length {
        let tag = rest.number(1)?;
        let (n, back) = match tag & 3 {
            0 => {
                // Bytes as they are; long runs have their length behind the tag.
                let short = tag >> 2;
                let n = 1 + if short < 60 { short } else { rest.number(short - 59)? };
                out.extend_from_slice(rest.take(n)?);
                continue;
            }
            1 => (4 + (tag >> 2 & 7), (tag >> 5) << 8 | rest.number(1)?),
            2 => (1 + (tag >> 2), rest.number(2)?),
            _ => (1 + (tag >> 2), rest.number(4)?),
        };
        // A copy may reach into what it makes itself.
        let from = out.len().checked_sub(back).filter(|_| back > 0);
        let from =
            from.ok_or(ParquetError::Damaged("a Snappy-compressed page refers to data that do not exist"))?;
        for k in from..from + n {
            out.push(out[k]);
        }
    }
    if out.len() != length {
        return Err(ParquetError::Damaged("a Snappy-compressed page does not have the declared length"));
    }
    Ok(out)
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], ParquetError> {
        let (taken, rest) = self
            .0
            .split_at_checked(n)
            .ok_or(ParquetError::Damaged("a Snappy-compressed page is truncated"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// A number of up to four bytes, the lowest first.
    fn number(&mut self, n: usize) -> Result<usize, ParquetError> {
        Ok(self.take(n)?.iter().rev().fold(0, |x, b| x << 8 | usize::from(*b)))
    }
}

//! Runs of equal numbers and packed groups of eight: how definition levels and places in a dictionary are stored.

use super::ParquetError;

/// `count` numbers of `width` bits from the beginning of `bytes`.
pub fn read(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>, ParquetError> {
    const CUT: ParquetError = ParquetError::Damaged("a page is truncated");
    if width > 32 {
        return Err(ParquetError::Damaged("a page has levels of more than 32 bits"));
    }
    let mut numbers = Vec::new();
    let mut rest = bytes;
    while numbers.len() < count {
        let header = varint(&mut rest).ok_or(CUT)?;
        let left = count - numbers.len();
        if header & 1 == 0 {
            // A run: how often, then the number in whole bytes.
            let (number, after) = rest.split_at_checked(width.div_ceil(8) as usize).ok_or(CUT)?;
            let number = number.iter().rev().fold(0, |x, b| x << 8 | u32::from(*b));
            rest = after;
            let times = usize::try_from(header >> 1).unwrap_or(usize::MAX).min(left);
            numbers.resize(numbers.len() + times, number);
            if times == 0 {
                return Err(ParquetError::Damaged("a page has a run of length zero"));
            }
        } else {
            // Groups of eight numbers, packed from the lowest bit on; the last may be longer than needed.
            let groups = usize::try_from(header >> 1).unwrap_or(usize::MAX);
            let length = groups.saturating_mul(width as usize).min(rest.len());
            let (packed, after) = rest.split_at(length);
            rest = after;
            let held = if width == 0 { left } else { 8 * packed.len() / width as usize };
            let taken = held.min(left).min(groups.saturating_mul(8));
            if taken == 0 {
                return Err(CUT);
            }
            numbers.extend((0..taken).map(|k| bits(packed, k * width as usize, width)));
        }
    }
    Ok(numbers)
}

/// `width` bits from bit `at` on.
fn bits(bytes: &[u8], at: usize, width: u32) -> u32 {
    let first = at / 8;
    let word = bytes.iter().skip(first).take(5).rev().fold(0u64, |x, b| x << 8 | u64::from(*b));
    ((word >> (at % 8)) & ((1u64 << width) - 1)) as u32
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (b, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(b & 0x7f) << shift;
        if b & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

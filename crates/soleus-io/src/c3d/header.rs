//! The first 512 bytes.

use super::bytes::Processor;

/// Length of a block.
pub(super) const BLOCK: usize = 512;

/// What the header says; parameters say most of it again, and better.
pub(super) struct Header {
    pub points: usize,
    /// Analog numbers in one frame: channels × samples.
    pub analog_per_frame: usize,
    pub first_frame: u16,
    pub last_frame: u16,
    /// Scale of integers; negative for floats.
    pub scale: f64,
    /// Block of the first frame, from 1.
    pub data_block: usize,
    pub samples_per_frame: usize,
    pub rate: f64,
    /// Label and time (s).
    pub events: Vec<(String, f64)>,
}

impl Header {
    /// None if there are fewer than 512 bytes.
    pub(super) fn read(bytes: &[u8], p: Processor) -> Option<Header> {
        let bytes = bytes.get(..BLOCK)?;
        // The guide numbers words of two bytes from 1.
        let word = |n: usize| p.u16(bytes, 2 * (n - 1));
        let float = |n: usize| p.f32(bytes, 2 * (n - 1));
        let count = usize::from(word(151)?).min(18);
        let mut events = Vec::with_capacity(count);
        for i in 0..count {
            let label = bytes.get(396 + 4 * i..400 + 4 * i)?;
            events.push((String::from_utf8_lossy(label).trim().to_string(), p.f32(bytes, 304 + 4 * i)?));
        }
        Some(Header {
            points: usize::from(word(2)?),
            analog_per_frame: usize::from(word(3)?),
            first_frame: word(4)?,
            last_frame: word(5)?,
            scale: float(7)?,
            data_block: usize::from(word(9)?),
            samples_per_frame: usize::from(word(10)?),
            rate: float(11)?,
            events,
        })
    }
}

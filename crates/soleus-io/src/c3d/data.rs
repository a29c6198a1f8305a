//! Frames: points, followed by analog samples.

use super::bytes::Processor;
use super::header::{BLOCK, Header};
use super::parameters::Parameters;
use soleus_model::Diagnostics;

/// Points or channels that a file may have: the header counts them in 16 bits.
const MOST_USED: usize = u16::MAX as usize;

/// How the frames lie in the file, and how to scale them.
pub(super) struct Layout {
    pub points: usize,
    pub channels: usize,
    pub frames: usize,
    pub samples_per_frame: usize,
    pub first_frame: u32,
    pub point_rate: f64,
    pub analog_rate: f64,
    start: usize,
    is_float: bool,
    /// Length of one integer of a point, in the file's unit.
    point_scale: f64,
    /// One number per channel.
    offset: Vec<f64>,
    scale: Vec<f64>,
    general_scale: f64,
    unsigned: bool,
    processor: Processor,
}

impl Layout {
    /// Parameters count more than the header; the length of the file more than both. `None` with an error if nothing
    /// can be read.
    pub(super) fn new(
        h: &Header,
        p: &Parameters,
        bytes: &[u8],
        processor: Processor,
        log: &mut Diagnostics,
    ) -> Option<Layout> {
        let first = |group: &str, name: &str| p.numbers(group, name).first().copied();
        let count = |group: &str, name: &str| p.counts(group, name).first().copied();
        let points = count("POINT", "USED").unwrap_or(h.points);
        let samples_per_frame = h.samples_per_frame.max(1);
        let channels = match count("ANALOG", "USED") {
            Some(n) => n,
            None => h.analog_per_frame / samples_per_frame,
        };
        for (name, what, n) in
            [("POINT:USED", "points", points), ("ANALOG:USED", "analog channels", channels)]
        {
            if n > MOST_USED {
                let message = format!("the file declares {n} {what}; the format allows at most {MOST_USED}");
                log.error(0, name, message, "the file is damaged; export it again");
                return None;
            }
        }
        if channels.saturating_mul(samples_per_frame) != h.analog_per_frame && h.analog_per_frame != 0 {
            let message = format!(
                "{channels} channels × {samples_per_frame} samples do not match the {} values per frame in the header",
                h.analog_per_frame
            );
            log.warn(0, "ANALOG:USED", message, "");
        }
        let point_rate =
            [first("POINT", "RATE"), Some(h.rate)].into_iter().flatten().find(|&r| r > 0.0 && r.is_finite());
        let Some(point_rate) = point_rate else {
            log.error(0, "POINT:RATE", "the file has no frame rate", "");
            return None;
        };
        let scale = first("POINT", "SCALE").filter(|&s| s != 0.0).unwrap_or(h.scale);
        let is_float = h.scale < 0.0 || scale < 0.0;

        // Where the frames begin, and how many fit.
        let block = match h.data_block {
            0 => count("POINT", "DATA_START").unwrap_or(0),
            b => b,
        };
        let start = block.saturating_sub(1).saturating_mul(BLOCK);
        let number = if is_float { 4 } else { 2 };
        let frame_bytes =
            channels.saturating_mul(samples_per_frame).saturating_add(4 * points).saturating_mul(number);
        let (first_frame, promised) = frames(h, p);
        let available = bytes.len().saturating_sub(start).checked_div(frame_bytes).unwrap_or(0);
        if frame_bytes > 0 && promised > available {
            let message = format!("the header declares {promised} frames, but the file contains {available}");
            log.error(0, "", message, "the file may be truncated; export it again");
        }
        let frames = promised.min(available);

        // Scales of the channels; what is not given does nothing.
        let mut offset = p.continued_numbers("ANALOG", "OFFSET");
        let unsigned = p.text("ANALOG", "FORMAT").first().is_some_and(|f| f.eq_ignore_ascii_case("UNSIGNED"));
        if unsigned {
            // Offsets above 32767 come out negative as signed integers.
            offset.iter_mut().filter(|o| **o < 0.0).for_each(|o| *o += 65536.0);
        }
        offset.resize(channels, 0.0);
        let mut scales = p.continued_numbers("ANALOG", "SCALE");
        scales.resize(channels, 1.0);
        Some(Layout {
            points,
            channels,
            frames,
            samples_per_frame,
            first_frame,
            point_rate,
            analog_rate: point_rate * samples_per_frame as f64,
            start,
            is_float,
            point_scale: scale.abs(),
            offset,
            scale: scales,
            general_scale: first("ANALOG", "GEN_SCALE").unwrap_or(1.0),
            unsigned,
            processor,
        })
    }

    /// Columns of the points (x, y, z each) and of the channels. A point with a negative residual
    /// was not seen: NaN.
    pub(super) fn read(&self, bytes: &[u8]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let mut points: Vec<Vec<f64>> =
            (0..3 * self.points).map(|_| Vec::with_capacity(self.frames)).collect();
        let samples = self.frames * self.samples_per_frame;
        let mut analog: Vec<Vec<f64>> = (0..self.channels).map(|_| Vec::with_capacity(samples)).collect();
        let p = self.processor;
        let mut at = self.start;
        for _ in 0..self.frames {
            for xyz in points.chunks_exact_mut(3) {
                let point =
                    if self.is_float { self.float_point(bytes, at) } else { self.integer_point(bytes, at) };
                at += if self.is_float { 16 } else { 8 };
                for (column, x) in xyz.iter_mut().zip(point) {
                    column.push(x);
                }
            }
            for _ in 0..self.samples_per_frame {
                for (c, column) in analog.iter_mut().enumerate() {
                    let raw = if self.is_float {
                        p.f32(bytes, at)
                    } else if self.unsigned {
                        p.u16(bytes, at).map(f64::from)
                    } else {
                        p.i16(bytes, at).map(f64::from)
                    };
                    at += if self.is_float { 4 } else { 2 };
                    let raw = raw.unwrap_or(f64::NAN);
                    column.push((raw - self.offset[c]) * self.scale[c] * self.general_scale);
                }
            }
        }
        (points, analog)
    }

    fn float_point(&self, bytes: &[u8], at: usize) -> [f64; 3] {
        let f = |i: usize| self.processor.f32(bytes, at + 4 * i).unwrap_or(f64::NAN);
        if f(3) < 0.0 { [f64::NAN; 3] } else { [f(0), f(1), f(2)] }
    }

    fn integer_point(&self, bytes: &[u8], at: usize) -> [f64; 3] {
        let i = |i: usize| self.processor.i16(bytes, at + 2 * i).unwrap_or(-1);
        let x = |k: usize| f64::from(i(k)) * self.point_scale;
        if i(3) < 0 { [f64::NAN; 3] } else { [x(0), x(1), x(2)] }
    }
}

/// Number of the first frame and number of frames. 16 bits hold 65535 frames; longer trials say it
/// in TRIAL or as a float.
fn frames(h: &Header, p: &Parameters) -> (u32, usize) {
    let field = |name: &str| match *p.counts("TRIAL", name).as_slice() {
        [low, high, ..] => {
            let n = high.checked_mul(1 << 16).and_then(|high| low.checked_add(high))?;
            u32::try_from(n).ok().filter(|&n| n > 0)
        }
        _ => None,
    };
    if let (Some(first), Some(last)) = (field("ACTUAL_START_FIELD"), field("ACTUAL_END_FIELD"))
        && last >= first
    {
        return (first, ((last - first) as usize).saturating_add(1));
    }
    let first = u32::from(h.first_frame);
    let of_header = usize::from(h.last_frame.saturating_sub(h.first_frame)) + 1;
    let longer = |name: &str| p.counts("POINT", name).first().copied().unwrap_or(0);
    let longest = longer("LONG_FRAMES").max(longer("FRAMES"));
    // Only a header that has reached its limit is overruled.
    (first, if h.last_frame == u16::MAX { of_header.max(longest) } else { of_header })
}

//! Number formats of three kinds of machines.

/// The machine that wrote the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    /// IEEE, low byte first.
    Intel,
    /// Low byte first, VAX F floats.
    Dec,
    /// IEEE, high byte first (SGI, MIPS).
    Sgi,
}

impl Processor {
    /// From the fourth byte of the parameter section.
    pub(super) fn from_code(code: u8) -> Option<Processor> {
        match code {
            84 => Some(Processor::Intel),
            85 => Some(Processor::Dec),
            86 => Some(Processor::Sgi),
            _ => None,
        }
    }

    /// The 16 bits at byte `at`, if they are there.
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let two: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(match self {
            Processor::Sgi => u16::from_be_bytes(two),
            _ => u16::from_le_bytes(two),
        })
    }

    /// The signed 16 bits at byte `at`.
    pub(super) fn i16(self, bytes: &[u8], at: usize) -> Option<i16> {
        self.u16(bytes, at).map(|x| x as i16)
    }

    /// The float at byte `at`.
    pub(super) fn f32(self, bytes: &[u8], at: usize) -> Option<f64> {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(f64::from(match self {
            Processor::Intel => f32::from_le_bytes(four),
            Processor::Sgi => f32::from_be_bytes(four),
            // VAX F: the halves are swapped and the exponent is 2 larger than IEEE's.
            Processor::Dec => {
                let [a, b, c, d] = four;
                f32::from_le_bytes([c, d, a, b]) / 4.0
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_one_and_a_half_of_each_machine() {
        assert_eq!(Processor::Intel.f32(&[0x00, 0x00, 0xc0, 0x3f], 0), Some(1.5));
        assert_eq!(Processor::Sgi.f32(&[0x3f, 0xc0, 0x00, 0x00], 0), Some(1.5));
        // VAX F 1.5: exponent 129 (0.75 × 2¹), fraction 0x40.
        assert_eq!(Processor::Dec.f32(&[0xc0, 0x40, 0x00, 0x00], 0), Some(1.5));
        assert_eq!(Processor::Sgi.u16(&[1, 2], 0), Some(258));
        assert_eq!(Processor::Intel.i16(&[0xff, 0xff], 0), Some(-1));
        assert_eq!(Processor::Intel.f32(&[0, 0, 0], 0), None);
        assert_eq!(Processor::Intel.u16(&[0], usize::MAX), None);
    }
}

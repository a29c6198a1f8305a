//! The instructions of AVX-512 and AVX2 that programs need.

/// A register: 0 to 31 of 64 bytes, or 0 to 15 of 32.
pub(super) type Register = u8;

/// Instructions of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// 32 registers of 64 bytes, masks, constants repeated by each instruction.
    Avx512,
    /// 16 registers of 32 bytes. Masks are numbers, and constants lie repeated in memory.
    Avx2,
}

impl Kind {
    /// Bytes of a register, and of a place.
    pub fn bytes(self) -> usize {
        match self {
            Kind::Avx512 => 64,
            Kind::Avx2 => 32,
        }
    }

    /// Registers for values.
    pub fn registers(self) -> usize {
        match self {
            Kind::Avx512 => 30,
            Kind::Avx2 => 13,
        }
    }

    /// Two registers for what has no value of its own.
    pub fn scratch(self) -> [Register; 2] {
        match self {
            Kind::Avx512 => [30, 31],
            Kind::Avx2 => [14, 15],
        }
    }
}

/// The register of AVX2 that holds the mask.
const MASK: Register = 13;

/// Where the second source of an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Register(Register),
    /// A place in the scratch memory, by its number: as many bytes as a register.
    Place(u32),
    /// A constant, by its number, repeated over all lanes.
    Constant(u32),
}

/// An operation: opcode and map of opcodes (1: 0F, 2: 0F38).
#[derive(Clone, Copy)]
pub(super) struct Code(u8, u8);

pub(super) const ADD: Code = Code(0x58, 1);
pub(super) const MUL: Code = Code(0x59, 1);
pub(super) const SUB: Code = Code(0x5c, 1);
pub(super) const MIN: Code = Code(0x5d, 1);
pub(super) const DIV: Code = Code(0x5e, 1);
pub(super) const MAX: Code = Code(0x5f, 1);
pub(super) const SQRT: Code = Code(0x51, 1);
pub(super) const LOAD: Code = Code(0x10, 1);
const STORE: Code = Code(0x11, 1);
pub(super) const AND: Code = Code(0x54, 1);
pub(super) const XOR: Code = Code(0x57, 1);
const COMPARE: Code = Code(0xc2, 1);
/// b where the mask is set, else a.
pub(super) const BLEND: Code = Code(0x65, 2);
/// d ← a·b + d, d ← a·b − d, d ← d − a·b.
pub(super) const ADD_PRODUCT: Code = Code(0xb8, 2);
pub(super) const SUB_FROM_PRODUCT: Code = Code(0xba, 2);
pub(super) const SUB_PRODUCT: Code = Code(0xbc, 2);

/// Comparisons of [`Assembler::compare`].
pub(super) const LESS: u8 = 1;
pub(super) const LESS_EQUAL: u8 = 2;
pub(super) const NOT_EQUAL: u8 = 4;

/// What a mask does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mask {
    No,
    /// Lanes are blended by mask 1.
    Blend,
    /// Lanes without mask 1 become zero.
    Zero,
}

/// Machine code that grows. Scratch memory is at `rdi`, constants at `rsi`.
pub(super) struct Assembler {
    pub code: Vec<u8>,
    /// Whether numbers are `f32`.
    pub single: bool,
    /// For which instructions.
    pub kind: Kind,
}

impl Assembler {
    fn emit(
        &mut self,
        op: Code,
        reg: u8,
        first: Option<Register>,
        second: Source,
        mask: Mask,
        immediate: Option<u8>,
    ) {
        match self.kind {
            Kind::Avx512 => self.emit_wide(op, reg, first, second, mask, immediate),
            Kind::Avx2 => self.emit_narrow(op, reg, first, second, u8::from(!self.single), immediate),
        }
    }

    /// An instruction with a VEX prefix of two or three bytes. `w` tells the kind of number where a prefix does not.
    fn emit_narrow(
        &mut self,
        op: Code,
        reg: u8,
        first: Option<Register>,
        second: Source,
        w: u8,
        immediate: Option<u8>,
    ) {
        let Code(opcode, map) = op;
        let prefix = if map == 1 && self.single { 0 } else { 1 };
        // Operations of map 1 have no such bit.
        let w = if map == 1 { 0 } else { w };
        let (b, modrm, displacement) = match second {
            Source::Register(r) => (r >> 3 & 1, 0xc0 | (reg & 7) << 3 | r & 7, None),
            Source::Place(place) => (0, 0x80 | (reg & 7) << 3 | 7, Some(place * 32)),
            Source::Constant(c) => (0, 0x80 | (reg & 7) << 3 | 6, Some(c * 32)),
        };
        let vvvv = first.unwrap_or(0);
        let r = ((reg >> 3 & 1) ^ 1) << 7;
        if map == 1 && b == 0 {
            // The short prefix has neither a map nor a high bit of the second source.
            self.code.extend([0xc5, r | (!vvvv & 0xf) << 3 | 4 | prefix]);
        } else {
            self.code.extend([0xc4, r | 1 << 6 | (b ^ 1) << 5 | map]);
            self.code.push(w << 7 | (!vvvv & 0xf) << 3 | 4 | prefix);
        }
        self.code.push(opcode);
        self.code.push(modrm);
        if let Some(d) = displacement {
            self.code.extend(d.to_le_bytes());
        }
        self.code.extend(immediate);
    }

    fn emit_wide(
        &mut self,
        op: Code,
        reg: u8,
        first: Option<Register>,
        second: Source,
        mask: Mask,
        immediate: Option<u8>,
    ) {
        let Code(opcode, map) = op;
        let w = u8::from(!self.single);
        // Operations of map 1 tell the kind of number by a prefix too.
        let prefix = if map == 1 && self.single { 0 } else { 1 };
        let (x, b, modrm, displacement, broadcast) = match second {
            Source::Register(r) => (r >> 4 & 1, r >> 3 & 1, 0xc0 | (reg & 7) << 3 | r & 7, None, 0),
            Source::Place(place) => (0, 0, 0x80 | (reg & 7) << 3 | 7, Some(place * 64), 0),
            Source::Constant(c) => {
                let size = if self.single { 4 } else { 8 };
                (0, 0, 0x80 | (reg & 7) << 3 | 6, Some(c * size), 1)
            }
        };
        let vvvv = first.unwrap_or(0);
        let one = |bit: u8| (bit & 1) ^ 1;
        self.code.push(0x62);
        self.code.push(one(reg >> 3) << 7 | one(x) << 6 | one(b) << 5 | one(reg >> 4) << 4 | map);
        self.code.push(w << 7 | (!vvvv & 0xf) << 3 | 4 | prefix);
        let (zero, number) = match mask {
            Mask::No => (0, 0),
            Mask::Blend => (0, 1),
            Mask::Zero => (1, 1),
        };
        self.code.push(zero << 7 | 2 << 5 | broadcast << 4 | one(vvvv >> 4) << 3 | number);
        self.code.push(opcode);
        self.code.push(modrm);
        if let Some(d) = displacement {
            self.code.extend(d.to_le_bytes());
        }
        self.code.extend(immediate);
    }

    /// d ← a op b.
    pub fn two(&mut self, op: Code, d: Register, a: Register, b: Source, mask: Mask) {
        if self.kind == Kind::Avx2 && mask != Mask::No {
            if op.0 == BLEND.0 && op.1 == BLEND.1 {
                // Numbers choose by their sign bits, which a comparison sets or clears with all the others.
                let code = Code(if self.single { 0x4a } else { 0x4b }, 3);
                return self.emit_narrow(code, d, Some(a), b, 0, Some(MASK << 4));
            }
            // Lanes without the mask become zero.
            self.emit(op, d, Some(a), b, Mask::No, None);
            return self.emit(AND, d, Some(d), Source::Register(MASK), Mask::No, None);
        }
        self.emit(op, d, Some(a), b, mask, None);
    }

    /// d ← op a. A constant is not a source of [`LOAD`]: see [`broadcast`](Self::broadcast).
    pub fn one(&mut self, op: Code, d: Register, a: Source) {
        self.emit(op, d, None, a, Mask::No, None);
    }

    /// d ← a constant in all lanes; with a mask, zero in lanes without.
    pub fn broadcast(&mut self, d: Register, constant: u32, mask: Mask) {
        if self.kind == Kind::Avx2 {
            return match mask {
                Mask::No => self.emit(LOAD, d, None, Source::Constant(constant), Mask::No, None),
                _ => self.emit(AND, d, Some(MASK), Source::Constant(constant), Mask::No, None),
            };
        }
        let code = Code(if self.single { 0x18 } else { 0x19 }, 2);
        self.emit(code, d, None, Source::Constant(constant), mask, None);
        // A load that repeats has no bit that says so.
        let at = self.code.len() - 10;
        self.code[at + 3] &= !(1 << 4);
    }

    /// place ← a.
    pub fn store(&mut self, place: u32, a: Register) {
        self.emit(STORE, a, None, Source::Place(place), Mask::No, None);
    }

    /// The mask ← a compared with b.
    pub fn compare(&mut self, how: u8, a: Register, b: Source) {
        let to = if self.kind == Kind::Avx2 { MASK } else { 1 };
        self.emit(COMPARE, to, Some(a), b, Mask::No, Some(how));
    }

    /// Back to the caller.
    pub fn finish(&mut self) {
        // vzeroupper; ret
        self.code.extend([0xc5, 0xf8, 0x77, 0xc3]);
    }
}

/// Machine code that can run.
pub(super) struct Executable {
    at: *mut u8,
    length: usize,
}

// SAFETY: the memory is written before it is made executable, and never after.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

unsafe extern "C" {
    fn mmap(at: *mut u8, length: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn mprotect(at: *mut u8, length: usize, protection: i32) -> i32;
    fn munmap(at: *mut u8, length: usize) -> i32;
}

impl Executable {
    /// Code as memory that can run; none where the system does not allow it.
    pub fn new(code: &[u8]) -> Option<Executable> {
        let length = code.len().max(1).next_multiple_of(4096);
        // SAFETY: a new private mapping (flags 0x22: MAP_PRIVATE, MAP_ANONYMOUS of Linux) of this length, readable and writable.
        let at = unsafe { mmap(std::ptr::null_mut(), length, 3, 0x22, -1, 0) };
        if at as isize == -1 {
            return None;
        }
        let made = Executable { at, length };
        // SAFETY: the mapping is ours and long enough; protection 5 makes it readable and executable.
        let protected = unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), at, code.len());
            mprotect(at, length, 5)
        };
        (protected == 0).then_some(made)
    }

    /// Runs the function that begins at an offset.
    ///
    /// # Safety
    ///
    /// A function begins there that [`Assembler`] wrote, and the memory holds every place and constant that it names, places aligned as
    /// numbers are. The machine has the instructions that the code was written for.
    pub unsafe fn run(&self, offset: usize, places: *mut u8, constants: *const u8) {
        // SAFETY: as the caller promises.
        unsafe {
            let function: unsafe extern "C" fn(*mut u8, *const u8) = std::mem::transmute(self.at.add(offset));
            function(places, constants);
        }
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing of it is used any more.
        unsafe { munmap(self.at, self.length) };
    }
}

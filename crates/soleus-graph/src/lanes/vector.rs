//! Registers as numbers: what the functions of lanes need of AVX-512 and AVX2.

use std::arch::x86_64::*;

/// Numbers of a lane.
pub(super) trait Lane: Copy {
    const ZERO: Self;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
}
impl Lane for f64 {
    const ZERO: f64 = 0.0;
    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}
impl Lane for f32 {
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// A register of lanes. All methods compile to one or two instructions, and exist only where the caller has the
/// instructions of the kind: every use is within a function that declares them.
pub(super) trait Vector: Copy {
    /// The number in each lane.
    type Number: Lane;
    /// One bit per lane, or lanes of ones.
    type Mask: Copy;
    /// Number of lanes.
    const LANES: usize;
    /// Whether lanes are `f32`.
    const SINGLE: bool;

    /// A number in all lanes.
    fn of(x: f64) -> Self;
    /// A number in all lanes, given by its bits in either format.
    fn bits(double: u64, single: u32) -> Self;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    /// self·b + c, rounded once.
    fn times_plus(self, b: Self, c: Self) -> Self;
    /// c − self·b, rounded once.
    fn times_from(self, b: Self, c: Self) -> Self;
    /// The smaller of both; `b` if either is not a number.
    fn min(self, b: Self) -> Self;
    /// The larger of both; `b` if either is not a number.
    fn max(self, b: Self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    /// Sum of the bits as integers.
    fn add_bits(self, b: Self) -> Self;
    fn sub_bits(self, b: Self) -> Self;
    /// The lowest bits where the exponent is.
    fn at_exponent(self) -> Self;
    /// The exponent, and the sign, in the lowest bits.
    fn exponent(self) -> Self;
    /// Bits one lower.
    fn half_bits(self) -> Self;
    /// Bit 0 where the sign is.
    fn bit_0(self) -> Self;
    /// Bit 1 where the sign is.
    fn bit_1(self) -> Self;
    /// Lanes whose sign bit is set.
    fn signs(self) -> Self::Mask;
    /// Lanes with self < b.
    fn below(self, b: Self) -> Self::Mask;
    /// Lanes of `yes` in the mask, of `no` elsewhere.
    fn choose(mask: Self::Mask, yes: Self, no: Self) -> Self;
    fn all(mask: Self::Mask) -> bool;

    #[inline(always)]
    fn sign(self) -> Self {
        self.and(Self::of(-0.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.and(Self::bits(i64::MAX as u64, i32::MAX as u32))
    }
}

/// A kind of register with its instructions.
macro_rules! vector {
    ($name:ident, $number:ty, $mask:ty, $lanes:literal, $single:literal, [$set:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $fnma:ident $min:ident $max:ident $and:ident $or:ident $xor:ident], [$to_int:ident $from_int:ident $iadd:ident $isub:ident $shl:ident $shr:ident], [$exponent:literal $sign:literal], $signs:expr, $below:expr, $choose:expr, $all:expr) => {
        // SAFETY of all methods: see `Vector`. The instructions touch registers only.
        impl Vector for $name {
            type Number = $number;
            type Mask = $mask;
            const LANES: usize = $lanes;
            const SINGLE: bool = $single;
            #[inline(always)]
            fn of(x: f64) -> Self {
                unsafe { $set(x as $number) }
            }
            #[inline(always)]
            fn bits(double: u64, single: u32) -> Self {
                let of_double = f64::from_bits(double);
                let number = if $single { f32::from_bits(single) as $number } else { of_double as $number };
                unsafe { $set(number) }
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                unsafe { $add(self, b) }
            }
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                unsafe { $sub(self, b) }
            }
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                unsafe { $mul(self, b) }
            }
            #[inline(always)]
            fn div(self, b: Self) -> Self {
                unsafe { $div(self, b) }
            }
            #[inline(always)]
            fn times_plus(self, b: Self, c: Self) -> Self {
                unsafe { $fma(self, b, c) }
            }
            #[inline(always)]
            fn times_from(self, b: Self, c: Self) -> Self {
                unsafe { $fnma(self, b, c) }
            }
            #[inline(always)]
            fn min(self, b: Self) -> Self {
                unsafe { $min(self, b) }
            }
            #[inline(always)]
            fn max(self, b: Self) -> Self {
                unsafe { $max(self, b) }
            }
            #[inline(always)]
            fn and(self, b: Self) -> Self {
                unsafe { $and(self, b) }
            }
            #[inline(always)]
            fn or(self, b: Self) -> Self {
                unsafe { $or(self, b) }
            }
            #[inline(always)]
            fn xor(self, b: Self) -> Self {
                unsafe { $xor(self, b) }
            }
            #[inline(always)]
            fn add_bits(self, b: Self) -> Self {
                unsafe { $from_int($iadd($to_int(self), $to_int(b))) }
            }
            #[inline(always)]
            fn sub_bits(self, b: Self) -> Self {
                unsafe { $from_int($isub($to_int(self), $to_int(b))) }
            }
            #[inline(always)]
            fn at_exponent(self) -> Self {
                unsafe { $from_int($shl::<$exponent>($to_int(self))) }
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                unsafe { $from_int($shr::<$exponent>($to_int(self))) }
            }
            #[inline(always)]
            fn half_bits(self) -> Self {
                unsafe { $from_int($shr::<1>($to_int(self))) }
            }
            #[inline(always)]
            fn bit_0(self) -> Self {
                unsafe { $from_int($shl::<$sign>($to_int(self))) }
            }
            #[inline(always)]
            fn bit_1(self) -> Self {
                unsafe { $from_int($shl::<{ $sign - 1 }>($to_int(self))) }
            }
            #[allow(unused_unsafe)]
            #[inline(always)]
            fn signs(self) -> $mask {
                unsafe { $signs(self) }
            }
            #[inline(always)]
            fn below(self, b: Self) -> $mask {
                unsafe { $below(self, b) }
            }
            #[inline(always)]
            fn choose(mask: $mask, yes: Self, no: Self) -> Self {
                unsafe { $choose(mask, yes, no) }
            }
            #[allow(unused_unsafe)]
            #[inline(always)]
            fn all(mask: $mask) -> bool {
                unsafe { $all(mask) }
            }
        }
    };
}

vector!(
    __m512d, f64, __mmask8, 8, false,
    [_mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_fnmadd_pd _mm512_min_pd _mm512_max_pd _mm512_and_pd _mm512_or_pd _mm512_xor_pd],
    [_mm512_castpd_si512 _mm512_castsi512_pd _mm512_add_epi64 _mm512_sub_epi64 _mm512_slli_epi64 _mm512_srli_epi64],
    [52 63],
    |a| _mm512_movepi64_mask(_mm512_castpd_si512(a)),
    |a, b| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b),
    |mask, yes, no| _mm512_mask_blend_pd(mask, no, yes),
    |mask| mask == 0xff
);
vector!(
    __m512, f32, __mmask16, 16, true,
    [_mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps _mm512_fnmadd_ps _mm512_min_ps _mm512_max_ps _mm512_and_ps _mm512_or_ps _mm512_xor_ps],
    [_mm512_castps_si512 _mm512_castsi512_ps _mm512_add_epi32 _mm512_sub_epi32 _mm512_slli_epi32 _mm512_srli_epi32],
    [23 31],
    |a| _mm512_movepi32_mask(_mm512_castps_si512(a)),
    |a, b| _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b),
    |mask, yes, no| _mm512_mask_blend_ps(mask, no, yes),
    |mask| mask == 0xffff
);
vector!(
    __m256d, f64, __m256d, 4, false,
    [_mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_fnmadd_pd _mm256_min_pd _mm256_max_pd _mm256_and_pd _mm256_or_pd _mm256_xor_pd],
    [_mm256_castpd_si256 _mm256_castsi256_pd _mm256_add_epi64 _mm256_sub_epi64 _mm256_slli_epi64 _mm256_srli_epi64],
    [52 63],
    |a| a,
    |a, b| _mm256_cmp_pd::<_CMP_LT_OQ>(a, b),
    |mask, yes, no| _mm256_blendv_pd(no, yes, mask),
    |mask| _mm256_movemask_pd(mask) == 0xf
);
vector!(
    __m256, f32, __m256, 8, true,
    [_mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps _mm256_fnmadd_ps _mm256_min_ps _mm256_max_ps _mm256_and_ps _mm256_or_ps _mm256_xor_ps],
    [_mm256_castps_si256 _mm256_castsi256_ps _mm256_add_epi32 _mm256_sub_epi32 _mm256_slli_epi32 _mm256_srli_epi32],
    [23 31],
    |a| a,
    |a, b| _mm256_cmp_ps::<_CMP_LT_OQ>(a, b),
    |mask, yes, no| _mm256_blendv_ps(no, yes, mask),
    |mask| _mm256_movemask_ps(mask) == 0xff
);

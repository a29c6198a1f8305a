//! Vectorized functions, in arithmetic that compilers vectorize.
//!
//! They agree with the standard library to a few units in the last place; lanes outside the range of the formulas are
//! computed by the standard library.

use soleus_math::elementary;

/// 1.5 · 2⁵²: added to a number below 2⁵¹, it leaves the nearest integer in the low bits.
const TO_INTEGER: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
fn each<const N: usize>(x: &[f64; N], f: impl Fn(f64) -> f64) -> [f64; N] {
    let mut y = [0.0; N];
    for i in 0..N {
        y[i] = f(x[i]);
    }
    y
}

/// Where a lane is out of range, what the standard library says.
#[inline(always)]
fn mend<const N: usize>(
    x: &[f64; N],
    y: &mut [f64; N],
    inside: impl Fn(f64) -> bool,
    exact: impl Fn(f64) -> f64,
) {
    let mut all = true;
    for i in 0..N {
        all &= inside(x[i]);
    }
    if !all {
        for i in 0..N {
            if !inside(x[i]) {
                y[i] = exact(x[i]);
            }
        }
    }
}

#[inline(always)]
fn horner(x: f64, c: &[f64]) -> f64 {
    c.iter().rev().fold(0.0, |s, c| s.mul_add(x, *c))
}

/// 1/k!
const PER_FACTORIAL: [f64; 14] = [
    1.0,
    1.0,
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// eˣ for |x| < 700: 2ᵏ eʳ with |r| ≤ ½ ln 2, where 13 terms leave 4e-18.
#[inline(always)]
fn exp_lane(x: f64) -> f64 {
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let shifted = x.mul_add(std::f64::consts::LOG2_E, TO_INTEGER);
    let k = shifted - TO_INTEGER;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x));
    let p = horner(r, &PER_FACTORIAL);
    f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52))
}

#[inline(always)]
pub(super) fn exp<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = each(x, exp_lane);
    mend(x, &mut y, |x| x.abs() < 700.0, elementary::exp);
    y
}

/// ln of a positive normal number: e ln 2 + 2 artanh s with s = (m − 1)/(m + 1), |s| < 0.172, where 11 terms leave 1e-18.
#[inline(always)]
pub(super) fn ln<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = each(x, |x| {
        let bits = x.to_bits();
        // 1023 + exponent as a number: the bits of 2⁵² + n hold the integer n.
        let exponent = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - 4_503_599_627_371_519.0;
        let m = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000);
        let large = m > std::f64::consts::SQRT_2;
        let m = if large { 0.5 * m } else { m };
        let e = if large { exponent + 1.0 } else { exponent };
        let s = (m - 1.0) / (m + 1.0);
        let w = s * s;
        const C: [f64; 11] = [
            2.0 / 3.0,
            2.0 / 5.0,
            2.0 / 7.0,
            2.0 / 9.0,
            2.0 / 11.0,
            2.0 / 13.0,
            2.0 / 15.0,
            2.0 / 17.0,
            2.0 / 19.0,
            2.0 / 21.0,
            2.0 / 23.0,
        ];
        let tail = horner(w, &C) * w * s;
        e.mul_add(0.693_147_180_369_123_8, (2.0 * s) + e.mul_add(1.908_214_929_270_587_7e-10, tail))
    });
    mend(x, &mut y, |x| x > 1e-300 && x < 1e300, elementary::ln);
    y
}

/// sin x for `shift` 0, cos x for 1.
#[inline(always)]
pub(super) fn sin<const N: usize>(x: &[f64; N], shift: u64) -> [f64; N] {
    let mut y = each(x, |x| {
        let shifted = x.mul_add(std::f64::consts::FRAC_2_PI, TO_INTEGER);
        let n = shifted - TO_INTEGER;
        let r = n.mul_add(-std::f64::consts::FRAC_PI_2, x);
        let r = n.mul_add(-6.123_233_995_736_766e-17, r);
        let w = r * r;
        const S: [f64; 8] = [
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
            -1.0 / 1_307_674_368_000.0,
            1.0 / 355_687_428_096_000.0,
        ];
        const C: [f64; 9] = [
            -0.5,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40_320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
            -1.0 / 87_178_291_200.0,
            1.0 / 20_922_789_888_000.0,
            -1.0 / 6_402_373_705_728_000.0,
        ];
        let s = horner(w, &S).mul_add(w * r, r);
        let c = horner(w, &C).mul_add(w, 1.0);
        let quadrant = shifted.to_bits().wrapping_add(shift);
        let v = if quadrant & 1 == 0 { s } else { c };
        f64::from_bits(v.to_bits() ^ (quadrant & 2) << 62)
    });
    let exact = |x: f64| if shift == 0 { elementary::sin(x) } else { elementary::cos(x) };
    mend(x, &mut y, |x| x.abs() < 1e4, exact);
    y
}

/// x + x³/3! + … for |x| < 1, where 10 terms leave 4e-20.
#[inline(always)]
fn short_sinh(x: f64) -> f64 {
    const C: [f64; 9] = [
        1.0 / 6.0,
        1.0 / 120.0,
        1.0 / 5040.0,
        1.0 / 362_880.0,
        1.0 / 39_916_800.0,
        1.0 / 6_227_020_800.0,
        1.0 / 1_307_674_368_000.0,
        1.0 / 355_687_428_096_000.0,
        1.0 / 121_645_100_408_832_000.0,
    ];
    let w = x * x;
    horner(w, &C).mul_add(w * x, x)
}

#[inline(always)]
pub(super) fn sinh<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = each(x, |x| {
        let e = exp_lane(x);
        let long = 0.5 * (e - 1.0 / e);
        if x.abs() < 1.0 { short_sinh(x) } else { long }
    });
    mend(x, &mut y, |x| x.abs() < 700.0, elementary::sinh);
    y
}

#[inline(always)]
pub(super) fn cosh<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = each(x, |x| {
        let e = exp_lane(x);
        0.5 * (e + 1.0 / e)
    });
    mend(x, &mut y, |x| x.abs() < 700.0, elementary::cosh);
    y
}

#[inline(always)]
pub(super) fn tanh<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut y = each(x, |x| {
        let s = short_sinh(x);
        let short = s / s.mul_add(s, 1.0).sqrt();
        // From the positive side, so that 1 − |tanh x| keeps its digits: smooth contact lives on them.
        let e = exp_lane(2.0 * x.abs());
        let long = (1.0 - 2.0 / (e + 1.0)).copysign(x);
        if x.abs() < 0.5 { short } else { long }
    });
    mend(x, &mut y, |x| x.abs() < 300.0, elementary::tanh);
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::Random;

    /// Beside the standard library, over wide ranges and at its edges.
    #[test]
    fn identity_functions_of_lanes() {
        type Pair = (&'static str, fn(&[f64; 8]) -> [f64; 8], fn(f64) -> f64, f64);
        let pairs: [Pair; 7] = [
            ("exp", exp, f64::exp, 720.0),
            ("ln", |x| ln(&x.map(f64::abs)), |x| x.abs().ln(), 50.0),
            ("sin", |x| sin(x, 0), f64::sin, 20.0),
            ("cos", |x| sin(x, 1), f64::cos, 20.0),
            ("sinh", sinh, f64::sinh, 30.0),
            ("cosh", cosh, f64::cosh, 30.0),
            ("tanh", tanh, f64::tanh, 20.0),
        ];
        let mut random = Random::new(1);
        for (name, ours, theirs, range) in pairs {
            for k in 0..2000 {
                let scale = if k % 2 == 0 { range } else { range * 1e-3 };
                let x: [f64; 8] = std::array::from_fn(|_| scale * random.signed());
                for (x, y) in x.iter().zip(ours(&x)) {
                    let want = theirs(*x);
                    // Four units in the last place; sine and cosine near their zeros, of 1.
                    let size = if matches!(name, "sin" | "cos") { 1.0 } else { want.abs() };
                    let off = (y - want).abs();
                    assert!(y == want || off <= 4.0 * f64::EPSILON * size, "{name}({x}) {y} {want}");
                }
            }
            let edge = ours(&[f64::NAN, f64::INFINITY, 0.0, -0.0, 1e5, f64::MIN_POSITIVE, 1e-310, -800.0]);
            let list = [f64::NAN, f64::INFINITY, 0.0, -0.0, 1e5, f64::MIN_POSITIVE, 1e-310, -800.0];
            for (x, y) in list.iter().zip(edge) {
                let want = theirs(*x);
                assert!(y == want || (y.is_nan() && want.is_nan()) || (y - want).abs() < 1e-15 * want.abs());
            }
        }
    }
}

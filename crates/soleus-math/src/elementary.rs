//! Elementary functions with the same bits on every platform.
//!
//! The C library of a system computes sine, exponential and power to the last bit or nearly so, and each system
//! decides that bit differently: glibc with fused multiply-add where the processor has it, macOS, Windows and
//! WebAssembly by other formulas. Ten steps of an optimization later the difference is seen in the printed digits. These
//! functions are those of FreeBSD's msun (Sun Microsystems, 1993) in the pure Rust crate `libm`: additions,
//! multiplications and divisions in a fixed order, which IEEE 754 rounds the same way everywhere. Errors are below 1
//! unit in the last place.
//!
//! All scalars of the kernels ([`Real`](crate::Real)) use them. Plain numbers have methods of the same names in the
//! standard library, which call the C library: `clippy.toml` forbids these in the library.

/// sin x, with x in rad.
#[inline]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// cos x, with x in rad.
#[inline]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// (sin x, cos x), with x in rad; the same bits as [`sin`] and [`cos`].
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// tan x, with x in rad.
#[inline]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

/// Arc sine, rad; NaN outside [−1, 1].
#[inline]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// Arc cosine, rad; NaN outside [−1, 1].
#[inline]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Arc tangent, rad.
#[inline]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Angle of the point (x, y), rad, in [−π, π].
#[inline]
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// eˣ.
#[inline]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// 2ˣ; exact for integers.
#[inline]
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// eˣ − 1, exact also for small x.
#[inline]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
#[inline]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// ln(1 + x), exact also for small x.
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Logarithm to base 2.
#[inline]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm to base 10.
#[inline]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// Hyperbolic sine.
#[inline]
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

/// Hyperbolic cosine.
#[inline]
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

/// Hyperbolic tangent.
#[inline]
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Inverse hyperbolic sine.
#[inline]
pub fn asinh(x: f64) -> f64 {
    libm::asinh(x)
}

/// xᵖ.
#[inline]
pub fn powf(x: f64, p: f64) -> f64 {
    libm::pow(x, p)
}

/// Cube root.
#[inline]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// √(x² + y²) without overflow.
#[inline]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // The functions of the system are what is compared with.
mod tests {
    use super::*;
    use crate::Random;

    type Pair = (&'static str, fn(f64) -> f64, fn(f64) -> f64, f64, f64);

    /// Name, ours, the system's, and the range of arguments.
    const ONE: [Pair; 20] = [
        ("sin", sin, f64::sin, -50.0, 50.0),
        ("cos", cos, f64::cos, -50.0, 50.0),
        ("sin of small", sin, f64::sin, -0.8, 0.8),
        ("cos of small", cos, f64::cos, -0.8, 0.8),
        ("tan", tan, f64::tan, -10.0, 10.0),
        ("asin", asin, f64::asin, -1.0, 1.0),
        ("acos", acos, f64::acos, -1.0, 1.0),
        ("atan", atan, f64::atan, -30.0, 30.0),
        ("exp", exp, f64::exp, -100.0, 100.0),
        ("exp of small", exp, f64::exp, -0.5, 0.5),
        ("exp_m1", exp_m1, f64::exp_m1, -5.0, 5.0),
        ("ln", ln, f64::ln, 1e-6, 20.0),
        ("ln_1p", ln_1p, f64::ln_1p, -0.9, 20.0),
        ("log2", log2, f64::log2, 1e-6, 20.0),
        ("log10", log10, f64::log10, 1e-6, 20.0),
        ("sinh", sinh, f64::sinh, -20.0, 20.0),
        ("cosh", cosh, f64::cosh, -20.0, 20.0),
        ("tanh", tanh, f64::tanh, -20.0, 20.0),
        ("cbrt", cbrt, f64::cbrt, -20.0, 20.0),
        ("sin of large", sin, f64::sin, -1e9, 1e9),
    ];

    type Pair2 = (&'static str, fn(f64, f64) -> f64, fn(f64, f64) -> f64, f64);

    const TWO: [Pair2; 3] = [
        ("atan2", atan2, f64::atan2, -3.0),
        ("hypot", hypot, f64::hypot, -3.0),
        ("powf", powf, f64::powf, 1e-3),
    ];

    /// Units in the last place between two numbers.
    fn ulps(a: f64, b: f64) -> u64 {
        let order = |x: f64| {
            let bits = x.to_bits() as i64;
            if bits < 0 { i64::MIN - bits } else { bits }
        };
        order(a).abs_diff(order(b))
    }

    /// Two functions with errors below 1 unit in the last place differ by at most 2.
    #[test]
    fn identity_elementary_functions_are_those_of_the_system() {
        let mut random = Random::new(7);
        for (name, ours, theirs, low, high) in ONE {
            for _ in 0..20_000 {
                let x = low + (high - low) * random.unit();
                assert!(ulps(ours(x), theirs(x)) <= 2, "{name}({x:e}): {:e} {:e}", ours(x), theirs(x));
            }
            for x in [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-310] {
                let (a, b) = (ours(x), theirs(x));
                assert!(a == b || a.is_nan() && b.is_nan() || ulps(a, b) <= 2, "{name}({x}): {a} {b}");
            }
        }
        for (name, ours, theirs, low) in TWO {
            for _ in 0..20_000 {
                let (x, y) = (low + (3.0 - low) * random.unit(), -3.0 + 6.0 * random.unit());
                assert!(ulps(ours(x, y), theirs(x, y)) <= 2, "{name}({x:e}, {y:e})");
            }
        }
        for _ in 0..20_000 {
            let x = 100.0 * random.signed();
            assert_eq!(sin_cos(x), (sin(x), cos(x)), "{x:e}");
        }
    }

    /// The bits of all functions at many arguments. A change of the crate `libm` that moves a bit changes results of
    /// every tool in their last digits: it belongs in the changelog under Migration.
    #[test]
    fn regress_bits_of_elementary_functions() {
        let mut random = Random::new(11);
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        // Fowler, Noll and Vo (1991), on words.
        let mut add = |x: f64| hash = (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3);
        for (_, ours, _, low, high) in ONE {
            (0..2000).for_each(|_| add(ours(low + (high - low) * random.unit())));
        }
        for (_, ours, _, low) in TWO {
            (0..2000).for_each(|_| add(ours(low + (3.0 - low) * random.unit(), -3.0 + 6.0 * random.unit())));
        }
        assert_eq!(hash, 0xf460_2aa9_feca_3d8f, "{hash:#018x}");
    }
}

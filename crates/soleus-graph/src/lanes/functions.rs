//! Functions of all lanes, with the instructions of AVX-512 or AVX2.
//!
//! Ranges are reduced to short intervals, on which polynomials through Chebyshev nodes leave less than a third of a unit
//! in the last place, of `f64` or of `f32`. Operations and their order are the same for both kinds of registers, and so are
//! the bits. Where a formula has a limited range, lanes beyond it are computed one by one.

use super::compile::Call;
use super::vector::{Lane, Vector};
use crate::graph::{Op, Table};
use soleus_math::elementary;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, SQRT_2};

/// A number of either format: its nearest value, and the rest.
const fn parts(double: [f64; 2], single: [f64; 2], is_single: bool) -> [f64; 2] {
    if is_single { single } else { double }
}

#[inline(always)]
fn horner<V: Vector>(x: V, double: &[f64], single: &[f64]) -> V {
    let list = if V::SINGLE { single } else { double };
    let mut sum = V::of(list[list.len() - 1]);
    for c in list[..list.len() - 1].iter().rev() {
        sum = sum.times_plus(x, V::of(*c));
    }
    sum
}

/// 1.5 · 2⁵² or 1.5 · 2²³: added to a number that is small beside it, it leaves the nearest integer in the low bits.
#[inline(always)]
fn to_integer<V: Vector>() -> V {
    V::of(if V::SINGLE { 12_582_912.0 } else { 6_755_399_441_055_744.0 })
}

/// k as an integer in the low bits, and eʳ − 1, where x = k ln 2 + r with |r| ≤ ½ ln 2.
#[inline(always)]
fn exp_parts<V: Vector>(x: V) -> (V, V) {
    const EXP: [f64; 10] = [
        0.500_000_000_000_000_1,
        0.166_666_666_666_666_69,
        0.041_666_666_666_623_824,
        0.008_333_333_333_330_039,
        0.001_388_888_891_736_708_1,
        0.000_198_412_698_631_715_57,
        2.480_152_105_786_820_4e-5,
        2.755_726_827_690_569_6e-6,
        2.762_020_159_103_154_7e-7,
        2.510_047_250_569_499_6e-8,
    ];
    const EXP_SINGLE: [f64; 6] = [
        0.500_000_001_353_873,
        0.166_666_666_817_042_15,
        0.041_666_464_197_405_69,
        0.008_333_310_844_647_862,
        0.001_393_373_071_579_208_3,
        0.000_198_910_804_639_988_43,
    ];
    let [high, low] = parts(
        [LN_2, 2.319_046_813_846_299_6e-17],
        [0.693_147_182_464_599_6, -1.904_654_299_957_768e-9],
        V::SINGLE,
    );
    let shifted = x.times_plus(V::of(LOG2_E), to_integer());
    let k = shifted.sub(to_integer());
    let r = k.times_from(V::of(low), k.times_from(V::of(high), x));
    let p = horner(r, &EXP, &EXP_SINGLE).times_plus(r.mul(r), r);
    (shifted, p)
}

/// 2ᵏ for an integer in the low bits.
#[inline(always)]
fn power_of_two<V: Vector>(k: V) -> V {
    V::of(1.0).add_bits(k.at_exponent())
}

/// eˣ. Beyond the limits it is 0 or infinite, and 2ᵏ is two factors, so that numbers near the limits are exact too.
#[inline(always)]
fn exp<V: Vector>(x: V) -> V {
    let [low, high] = parts([-750.0, 710.0], [-105.0, 89.0], V::SINGLE);
    // What is not a number stays what it is.
    let (k, p) = exp_parts(V::of(low).max(V::of(high).min(x)));
    let half = k.half_bits();
    let first = power_of_two(half);
    p.times_plus(first, first).mul(power_of_two(k.sub_bits(half)))
}

/// (e^|x| − 1)/8 without cancellation: an eighth, because sinh is finite where e^|x| is not.
#[inline(always)]
fn eighth_of_exp_m1<V: Vector>(size: V) -> V {
    let (k, p) = exp_parts(size);
    let power = V::of(0.125).add_bits(k.at_exponent());
    p.times_plus(power, power.sub(V::of(0.125)))
}

/// sinh x = ½ (g + g/(g + 1)) with g = e^|x| − 1.
#[inline(always)]
fn sinh<V: Vector>(x: V) -> V {
    let g = eighth_of_exp_m1(V::of(if V::SINGLE { 90.0 } else { 711.0 }).min(x.abs()));
    let part = g.div(g.add(V::of(0.125)));
    g.times_plus(V::of(4.0), part.mul(V::of(0.5))).or(x.sign())
}

/// cosh x = ½ e^|x| + ½ e^−|x|.
#[inline(always)]
fn cosh<V: Vector>(x: V) -> V {
    let (k, p) = exp_parts(V::of(if V::SINGLE { 90.0 } else { 711.0 }).min(x.abs()));
    let power = V::of(0.125).add_bits(k.at_exponent());
    let eighth = p.times_plus(power, power);
    eighth.times_plus(V::of(4.0), V::of(0.0625).div(eighth))
}

/// tanh x = g/(g + 2) with g = e^2|x| − 1. Where g > 1 it is 1 − 2/(g + 2), so that 1 − |tanh x| keeps its digits: smooth
/// contact lives on them.
#[inline(always)]
fn tanh<V: Vector>(x: V) -> V {
    let twice = x.abs().add(x.abs());
    // All digits are those of 1 long before.
    let (k, p) = exp_parts(V::of(if V::SINGLE { 40.0 } else { 80.0 }).min(twice));
    let power = power_of_two(k);
    let g = p.times_plus(power, power.sub(V::of(1.0)));
    let large = V::of(1.0).below(g);
    let ratio = V::choose(large, V::of(2.0), g).div(g.add(V::of(2.0)));
    V::choose(large, V::of(1.0).sub(ratio), ratio).or(x.sign())
}

/// ln of a positive normal number 2ᵉ m, ½√2 < m < √2: e ln 2 + 2 artanh s with s = (m − 1)/(m + 1), |s| < 0.172.
#[inline(always)]
fn ln<V: Vector>(x: V) -> (V, V::Mask) {
    const LN: [f64; 7] = [
        0.666_666_666_666_667,
        0.399_999_999_998_982_7,
        0.285_714_286_265_333_35,
        0.222_222_110_438_224_87,
        0.181_828_957_468_014_28,
        0.153_315_017_212_074_2,
        0.146_191_647_771_864_2,
    ];
    const LN_SINGLE: [f64; 4] =
        [0.666_666_665_535_854_6, 0.400_001_222_845_840_97, 0.285_507_364_053_582, 0.233_327_618_077_414_03];
    let [high, low] = parts(
        [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10],
        [0.693_145_751_953_125, 1.428_606_820_309_417_2e-6],
        V::SINGLE,
    );
    let [least, most] = parts([1e-300, 1e300], [1e-37, 1e37], V::SINGLE);
    // The bits of 2⁵² + n (2²³ + n) hold the integer n: here the exponent, 1023 or 127 too large.
    let shift = V::bits(0x4330_0000_0000_0000, 0x4b00_0000);
    let exponent = x.exponent().or(shift).sub(V::of(if V::SINGLE {
        8_388_608.0 + 127.0
    } else {
        4_503_599_627_370_496.0 + 1023.0
    }));
    let m = x.and(V::bits(0x000f_ffff_ffff_ffff, 0x007f_ffff)).or(V::of(1.0));
    let large = V::of(SQRT_2).below(m);
    let m = V::choose(large, m.mul(V::of(0.5)), m);
    let e = V::choose(large, exponent.add(V::of(1.0)), exponent);
    let s = m.sub(V::of(1.0)).div(m.add(V::of(1.0)));
    let w = s.mul(s);
    let tail = horner(w, &LN, &LN_SINGLE).mul(w).mul(s);
    let rest = e.times_plus(V::of(low), tail);
    let y = e.times_plus(V::of(high), s.add(s).add(rest));
    // Both limits at once: the distance to the middle of them, by the exponents.
    let inside = V::choose(V::of(least).below(x), x, V::of(most)).below(V::of(most));
    (y, inside)
}

/// sin x, or cos x if `cosine`.
#[inline(always)]
fn sin<V: Vector>(x: V, cosine: bool) -> (V, V::Mask) {
    const SIN: [f64; 6] = [
        -0.166_666_666_666_666_66,
        0.008_333_333_333_330_925,
        -0.000_198_412_698_367_224_18,
        2.755_731_608_381_636e-6,
        -2.505_112_794_401_418_8e-8,
        1.591_784_852_480_826_2e-10,
    ];
    const COS: [f64; 6] = [
        0.041_666_666_666_666_664,
        -0.001_388_888_888_888_738_2,
        2.480_158_729_874_307e-5,
        -2.755_731_726_000_883_7e-7,
        2.087_614_382_799_313_3e-9,
        -1.138_245_677_806_130_6e-11,
    ];
    const SIN_SINGLE: [f64; 3] = [-0.166_666_646_5, 0.008_332_745_936, -0.000_195_873_870_7];
    const COS_SINGLE: [f64; 3] = [0.041_666_664_65, -0.001_388_830_07, 2.454_743_721e-5];
    let [high, low] = parts(
        [FRAC_PI_2, 6.123_233_995_736_766e-17],
        [1.570_796_370_506_286_6, -4.371_139_000_186_242_6e-8],
        V::SINGLE,
    );
    let shifted = x.times_plus(V::of(FRAC_2_PI), to_integer());
    let n = shifted.sub(to_integer());
    let r = n.times_from(V::of(low), n.times_from(V::of(high), x));
    let w = r.mul(r);
    let s = horner(w, &SIN, &SIN_SINGLE).times_plus(w.mul(r), r);
    let c = horner(w, &COS, &COS_SINGLE).times_plus(w, V::of(-0.5)).times_plus(w, V::of(1.0));
    let quadrant = if cosine { shifted.add_bits(V::bits(1, 1)) } else { shifted };
    let y = V::choose(quadrant.bit_0().signs(), c, s).xor(quadrant.bit_1().sign());
    (y, x.abs().below(V::of(if V::SINGLE { 1e3 } else { 1e4 })))
}

/// Angle of the point (x, y): arctan of the smaller part over the larger one, less ⅛ turn where that is above tan(π/8).
#[inline(always)]
fn atan2<V: Vector>(y: V, x: V) -> (V, V::Mask) {
    const ATAN: [f64; 11] = [
        -0.333_333_333_333_333_3,
        0.199_999_999_999_954_38,
        -0.142_857_142_846_491_8,
        0.111_111_110_138_613_9,
        -0.090_909_045_215_001_48,
        0.076_921_818_766_966_24,
        -0.066_644_929_550_813_26,
        0.058_579_884_306_572_266,
        -0.050_846_107_775_821_89,
        0.039_207_445_320_545_6,
        -0.019_147_263_763_236_98,
    ];
    const ATAN_SINGLE: [f64; 5] = [
        -0.333_333_317_464_389_05,
        0.199_995_371_015_195_32,
        -0.142_638_385_347_551_33,
        0.107_424_674_814_585_7,
        -0.064_477_431_387_491_15,
    ];
    let eighth_turn = parts(
        [FRAC_PI_4, 3.061_616_997_868_383e-17],
        [0.785_398_185_253_143_3, -2.185_569_500_093_121_3e-8],
        V::SINGLE,
    );
    let (width, height) = (x.abs(), y.abs());
    let steep = width.below(height);
    let (short, long) = (V::choose(steep, width, height), V::choose(steep, height, width));
    let far = long.mul(V::of(SQRT_2 - 1.0)).below(short);
    let t = V::choose(far, short.sub(long), short).div(V::choose(far, short.add(long), long));
    let w = t.mul(t);
    let angle = horner(w, &ATAN, &ATAN_SINGLE).times_plus(w.mul(t), t);
    // Multiples of ⅛ turn, with their rests: 1 where far; 2 less that where steep; 4 less that on the left.
    let zero = V::of(0.0);
    let (one, minus) = (V::of(1.0), V::of(-0.0));
    let left = x.below(zero);
    let turns = V::choose(far, one, zero);
    let turns = V::choose(steep, V::of(2.0).sub(turns), turns);
    let turns = V::choose(left, V::of(4.0).sub(turns), turns);
    let angle = angle.xor(V::choose(steep, minus, zero)).xor(V::choose(left, minus, zero));
    let angle = turns.times_plus(V::of(eighth_turn[0]), turns.times_plus(V::of(eighth_turn[1]), angle));
    let [least, most] = parts([1e-300, 1e300], [1e-37, 1e37], V::SINGLE);
    // Neither 0 nor infinite; what is not a number fails both.
    let inside = V::choose(V::of(least).below(long), long.add(short), V::of(most)).below(V::of(most));
    (angle.or(y.sign()), inside)
}

/// Number of breakpoints below x, for tables of which comparing with all is faster than halving.
#[inline(always)]
fn rank<V: Vector>(x: V, breaks: &[f64]) -> V {
    let one = V::of(1.0);
    let mut count = V::of(0.0);
    for b in breaks {
        count = V::choose(V::of(*b).below(x), count.add(one), count);
    }
    count
}

/// Longest table of [`rank`].
const COMPARED: usize = 24;

/// A function of one number in all lanes of the places of some calls. (Closures would not always be inlined, and only
/// what is inlined has the instructions.)
macro_rules! each {
    ($calls:expr, $base:expr, |$a:ident| $y:expr) => {
        for call in $calls {
            let $a = *$base.add(call.a as usize);
            *$base.add(call.to as usize) = $y;
        }
    };
}

/// The same with lanes beyond a range one by one.
macro_rules! each_within {
    ($calls:expr, $base:expr, |$a:ident, $b:ident| $y:expr, $exact:expr) => {
        for call in $calls {
            let ($a, $b) = (*$base.add(call.a as usize), *$base.add(call.second() as usize));
            let (y, inside) = $y;
            *$base.add(call.to as usize) = y;
            if !V::all(inside) {
                let one = V::choose(inside, V::of(1.0), V::of(0.0));
                mend::<V>((&raw const one).cast(), call, $base.cast(), $exact);
            }
        }
    };
}

/// Lanes that are not `inside`.
#[cold]
#[inline(never)]
unsafe fn mend<V: Vector>(
    inside: *const V::Number,
    call: &Call,
    base: *mut V::Number,
    exact: fn(f64, f64) -> f64,
) {
    for l in 0..V::LANES {
        // SAFETY: lanes of places, as the caller of the function promises.
        unsafe {
            let at = |place: u32| (*base.add(place as usize * V::LANES + l)).to_f64();
            if (*inside.add(l)).to_f64() == 0.0 {
                *base.add(call.to as usize * V::LANES + l) =
                    V::Number::from_f64(exact(at(call.a), at(call.second())));
            }
        }
    }
}

/// Functions without a formula here, lane by lane.
#[inline(always)]
unsafe fn lane_by_lane<V: Vector>(calls: &[Call], base: *mut V::Number, f: impl Fn(&Call, f64) -> f64) {
    for call in calls {
        for l in 0..V::LANES {
            // SAFETY: lanes of places, as the caller promises.
            unsafe {
                let a = (*base.add(call.a as usize * V::LANES + l)).to_f64();
                *base.add(call.to as usize * V::LANES + l) = V::Number::from_f64(f(call, a));
            }
        }
    }
}

/// Entries of rows of one table, whose numbers are in the same place.
#[inline(always)]
unsafe fn cells<V: Vector>(calls: &[Call], base: *mut V::Number, tables: &[Table]) {
    for calls in calls.chunk_by(|a, b| a.a == b.a && a.b == b.b) {
        let Table { values, width } = &tables[calls[0].b as usize];
        let last = values.len() / width - 1;
        let mut row = [0; 16];
        for (l, row) in row.iter_mut().take(V::LANES).enumerate() {
            // SAFETY: lanes of places, as the caller promises. A row is a small number.
            let number = unsafe { (*base.add(calls[0].a as usize * V::LANES + l)).to_f64() };
            *row = (number as u32 as usize).min(last) * width;
        }
        for call in calls {
            for (l, row) in row.iter().take(V::LANES).enumerate() {
                let value = values[row + call.column as usize];
                // SAFETY: as above.
                unsafe { *base.add(call.to as usize * V::LANES + l) = V::Number::from_f64(value) };
            }
        }
    }
}

/// Computes calls of one operation.
///
/// # Safety
///
/// Places of the calls are places of `base`, and the CPU has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn compute<V: Vector>(calls: &[Call], base: *mut V, tables: &[Table]) {
    let Some(first) = calls.first() else { return };
    let numbers: *mut V::Number = base.cast();
    // SAFETY: as the caller promises.
    unsafe {
        match first.op {
            Op::Exp => each!(calls, base, |a| exp(a)),
            Op::Sinh => each!(calls, base, |a| sinh(a)),
            Op::Cosh => each!(calls, base, |a| cosh(a)),
            Op::Tanh => each!(calls, base, |a| tanh(a)),
            Op::Ln => each_within!(calls, base, |a, _b| ln(a), |a, _| elementary::ln(a)),
            Op::Sin => each_within!(calls, base, |a, _b| sin(a, false), |a, _| elementary::sin(a)),
            Op::Cos => each_within!(calls, base, |a, _b| sin(a, true), |a, _| elementary::cos(a)),
            Op::Atan2 => each_within!(calls, base, |a, b| atan2(a, b), elementary::atan2),
            Op::Rank => {
                for call in calls {
                    let table = &tables[call.b as usize];
                    if table.values.len() <= COMPARED {
                        each!([call], base, |a| rank(a, &table.values));
                    } else {
                        lane_by_lane::<V>(std::slice::from_ref(call), numbers, |_, a| table.rank(a));
                    }
                }
            }
            Op::Cell => cells::<V>(calls, numbers, tables),
            Op::Pow => lane_by_lane::<V>(calls, numbers, |call, a| elementary::powf(a, call.power)),
            op => lane_by_lane::<V>(calls, numbers, |_, a| op.compute(a, 0.0, 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lanes::{Lanes, Width};
    use crate::{Graph, Op, Program};
    use soleus_math::{Random, elementary};

    /// One operation of the inputs.
    fn program(op: Op) -> Program {
        let mut graph = Graph::default();
        let (a, b) = (graph.input(), graph.input());
        let output = if op == Op::Atan2 { graph.two(op, a, b) } else { graph.one(op, a) };
        Program::new(&graph, &[output])
    }

    /// Units in the last place that a result may be off.
    const UNITS: f64 = 2.0;

    /// Beside the reference, over wide ranges and at their edges, in both precisions; all widths give the same bits.
    #[test]
    fn identity_functions_of_lanes() {
        let mut random = Random::new(1);
        let edges = [f64::NAN, f64::INFINITY, 0.0, 1e5, 1e-310, 709.5, 710.3, 88.6, 89.1, 1e-36, 1e36, 1e200];
        for (op, range) in [
            (Op::Exp, 720.0),
            (Op::Ln, 50.0),
            (Op::Sin, 20.0),
            (Op::Cos, 20.0),
            (Op::Sinh, 30.0),
            (Op::Cosh, 30.0),
            (Op::Tanh, 20.0),
            (Op::Atan2, 5.0),
        ] {
            let mut a: Vec<f64> = edges.iter().flat_map(|e| [*e, -e]).collect();
            let mut b: Vec<f64> = a.iter().rev().copied().collect();
            for k in 0..4000 {
                let scale = [range, 0.1 * range, 1e-3 * range][k % 3];
                a.push(scale * random.signed());
                b.push(range * random.signed());
            }
            if op == Op::Ln {
                a.iter_mut().for_each(|a| *a = a.abs());
            }
            for single in [false, true] {
                let round = |x: f64| if single { f64::from(x as f32) } else { x };
                let n = a.len();
                let x: Vec<f64> = a.iter().chain(&b).map(|x| round(*x)).collect();
                let by = |width| {
                    let mut y = vec![0.0; n];
                    let lanes = Lanes::of_width(program(op), single, width);
                    lanes.run(&x, &mut y, n, 1);
                    (y, lanes.backend())
                };
                let (y, backend) = by(Width::Widest);
                let (narrow, _) = by(Width::Avx2);
                for k in 0..n {
                    let (a, b) = (x[k], x[n + k]);
                    let exact = match op {
                        Op::Atan2 => elementary::atan2(a, b),
                        op => op.compute(a, b, 0.0),
                    };
                    let want = round(exact);
                    // Sine and cosine near their zeros: units of 1.
                    let size = if matches!(op, Op::Sin | Op::Cos) { 1.0 } else { want.abs() };
                    let (unit, least) = if single {
                        (f64::from(f32::EPSILON), f64::from(f32::MIN_POSITIVE))
                    } else {
                        (f64::EPSILON, f64::MIN_POSITIVE)
                    };
                    // Subnormal numbers have fewer digits, and an eighth of them (sinh) three bits less.
                    let near = (y[k] - exact).abs() <= UNITS * unit * size.max(4.0 * least);
                    let same = y[k].to_bits() == want.to_bits() || (y[k].is_nan() && want.is_nan());
                    assert!(near || same, "{op:?}({a}, {b}) by {backend}: {} {want}", y[k]);
                    assert!(
                        y[k].to_bits() == narrow[k].to_bits() || y[k].is_nan(),
                        "{op:?}({a}): {} {}",
                        y[k],
                        narrow[k]
                    );
                }
            }
        }
    }
}

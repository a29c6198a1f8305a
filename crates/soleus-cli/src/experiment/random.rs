//! Numbers from a seed, the same everywhere.

/// Steele, Lea and Flood (2014): SplitMix64.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Uniform in −1 to 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = (z ^ (z >> 31)) >> 11;
        2.0 * bits as f64 / (1u64 << 53) as f64 - 1.0
    }

    /// Normal with mean 0 and variance 1 (Box and Muller 1958, polar form of Marsaglia).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (self.next(), self.next());
            let s = a * a + b * b;
            if s > 0.0 && s < 1.0 {
                return a * (-2.0 * s.ln() / s).sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_normal_numbers() {
        let mut random = Random::new(7);
        let n = 20_000;
        let list: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = list.iter().sum::<f64>() / f64::from(n);
        let variance = list.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        // Standard errors are 1/√n = 0.007 and √(2/n) = 0.01; four of them.
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
    }
}

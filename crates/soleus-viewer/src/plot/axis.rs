//! Ranges and ticks of an axis.

/// Beyond this, differences of values overflow.
const LARGEST: f64 = 1e300;

/// Whether a value can be drawn.
pub fn is_drawn(v: f64) -> bool {
    v.abs() < LARGEST
}

/// Range of an axis and distance between its ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Value at the left or lower end.
    pub low: f64,
    /// Value at the right or upper end.
    pub high: f64,
    /// Distance between ticks.
    pub step: f64,
}

impl Axis {
    /// Range of the finite values with about `ticks` ticks; `round`: extended to whole steps.
    pub fn over(values: impl Iterator<Item = f64>, ticks: f64, round: bool) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|&v| is_drawn(v)) {
            low = low.min(v);
            high = high.max(v);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A constant gets a band around it.
        if high - low <= (1e-12 * high.abs().max(low.abs())).max(1.0 / LARGEST) {
            let half = if high.abs() < 1.0 / LARGEST { 1.0 } else { 0.5 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        // Ticks at 1, 2 or 5 times a power of ten.
        let raw = (high - low) / ticks;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= raw).unwrap_or(raw);
        if round {
            low = (low / step).floor() * step;
            high = (high / step).ceil() * step;
        }
        Axis { low, high, step }
    }

    /// Relative position of a value between the ends, 0 to 1.
    pub fn share(&self, v: f64) -> f64 {
        ((v - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The ticks, low to high.
    pub fn ticks(&self) -> Vec<f64> {
        let (first, last) = ((self.low / self.step - 1e-9).ceil(), (self.high / self.step + 1e-9).floor());
        // At most a dozen, whatever rounding does to huge ranges.
        (0..12).map(|i| first + f64::from(i)).take_while(|&k| k <= last).map(|k| k * self.step).collect()
    }

    /// Label of a tick, with as many decimals as the step needs.
    pub fn number(&self, v: f64) -> String {
        if self.step >= 1e6 || self.step < 1e-5 {
            return format!("{v:.2e}");
        }
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        let text = format!("{v:.decimals$}");
        // No negative zero, and a minus sign that is as wide as a digit.
        match text.strip_prefix('-') {
            Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_string(),
            Some(rest) => format!("−{rest}"),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_ticks_are_round() {
        let a = Axis::over([0.03, 0.97].into_iter(), 6.0, true);
        assert_eq!((a.low, a.high, a.step), (0.0, 1.0, 0.2));
        let numbers: Vec<String> = a.ticks().iter().map(|&t| a.number(t)).collect();
        assert_eq!(numbers, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!([a.number(-0.2), a.number(-0.0)], ["−0.2", "0.0"]);
    }
}

//! The filter: pairs of violation θ and barrier objective φ that new points must beat.

/// Forbidden region of the (θ, φ) plane: everything not better in one of the two than some entry.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    entries: Vec<(f64, f64)>,
}

impl Filter {
    /// An empty filter with room for more entries than it usually gets.
    pub fn new() -> Self {
        Filter { entries: Vec::with_capacity(256) }
    }

    /// Whether a point is better than each entry in violation or in objective.
    pub fn accepts(&self, theta: f64, phi: f64) -> bool {
        self.entries.iter().all(|&(t, p)| at_most(theta, t, t) || at_most(phi, p, p))
    }

    /// Forbids everything that is not better than this. Entries that it dominates go.
    pub fn add(&mut self, theta: f64, phi: f64) {
        self.entries.retain(|&(t, p)| t < theta || p < phi);
        self.entries.push((theta, phi));
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

/// a ≤ b up to rounding of a quantity of size `base` (`Compare_le` of Ipopt: ten units in the last place).
pub(super) fn at_most(a: f64, b: f64, base: f64) -> bool {
    a - b <= 10.0 * f64::EPSILON * base.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_filter_keeps_its_corners() {
        let mut f = Filter::new();
        f.add(1.0, 5.0);
        f.add(2.0, 3.0);
        assert!(f.accepts(0.5, 9.0) && f.accepts(1.5, 4.0) && f.accepts(9.0, 2.0));
        assert!(!f.accepts(1.5, 6.0) && !f.accepts(3.0, 4.0));
        f.add(0.1, 0.1);
        assert_eq!(f.entries.len(), 1);
    }
}

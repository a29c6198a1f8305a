//! Variables and their bounds.

/// An interval; ±∞ for no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower bound.
    pub lower: f64,
    /// Upper bound.
    pub upper: f64,
}

impl Bounds {
    /// No bounds.
    pub const FREE: Bounds = Bounds { lower: f64::NEG_INFINITY, upper: f64::INFINITY };

    /// From `lower` to `upper`.
    pub fn new(lower: f64, upper: f64) -> Bounds {
        Bounds { lower, upper }
    }

    /// Exactly `value`.
    pub fn fixed(value: f64) -> Bounds {
        Bounds { lower: value, upper: value }
    }

    /// Whether only one value is allowed.
    pub fn is_fixed(&self) -> bool {
        self.lower == self.upper
    }

    /// Whether any value is allowed.
    pub fn is_possible(&self) -> bool {
        self.lower <= self.upper
    }

    /// The middle; the finite bound if the other is infinite; 0 without bounds.
    pub fn middle(&self) -> f64 {
        match (self.lower.is_finite(), self.upper.is_finite()) {
            (true, true) => 0.5 * (self.lower + self.upper),
            (true, false) => self.lower,
            (false, true) => self.upper,
            (false, false) => 0.0,
        }
    }

    /// The nearest allowed value.
    pub fn clamp(&self, x: f64) -> f64 {
        if x < self.lower {
            self.lower
        } else if x > self.upper {
            self.upper
        } else {
            x
        }
    }
}

/// One variable over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name; for a state of a model its path, `/jointset/knee_r/knee_angle_r/value`.
    pub name: String,
    /// Bounds between the ends.
    pub bounds: Bounds,
    /// Bounds at the initial time.
    pub initial: Bounds,
    /// Bounds at the final time.
    pub last: Bounds,
}

impl Variable {
    /// The same bounds at all times.
    pub fn new(name: impl Into<String>, bounds: Bounds) -> Variable {
        Variable { name: name.into(), bounds, initial: bounds, last: bounds }
    }

    /// Initial guess at the fraction τ of the duration: linear between the values fixed by the bounds at the ends;
    /// constant if only one is fixed; otherwise the middle of the bounds.
    pub fn guess(&self, tau: f64) -> f64 {
        let fixed = |b: Bounds| b.is_fixed().then_some(b.lower);
        self.bounds.clamp(match (fixed(self.initial), fixed(self.last)) {
            (Some(a), Some(b)) => (1.0 - tau) * a + tau * b,
            (Some(x), None) | (None, Some(x)) => x,
            (None, None) => self.bounds.middle(),
        })
    }

    /// The same with different bounds at the initial time.
    pub fn starting(self, initial: Bounds) -> Variable {
        Variable { initial, ..self }
    }

    /// The same with different bounds at the final time.
    pub fn ending(self, last: Bounds) -> Variable {
        Variable { last, ..self }
    }
}

/// A variable at one time on which functions may depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointVariable {
    /// t.
    Time,
    /// (t − t₀)/(t_f − t₀), from 0 to 1, independent of the duration.
    Phase,
    /// State i.
    State(usize),
    /// Rate of state i.
    Rate(usize),
    /// Control i.
    Control(usize),
    /// Multiplier i.
    Multiplier(usize),
    /// Parameter i.
    Parameter(usize),
}

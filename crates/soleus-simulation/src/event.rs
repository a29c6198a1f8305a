//! Zero crossings of functions of the state.

/// Direction of zero crossings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Both.
    Any,
}

/// A function of time and state.
pub type Witness<'a> = dyn FnMut(f64, &[f64]) -> f64 + 'a;

/// An event: zero of a function g(t, x).
pub struct Event<'a> {
    /// g.
    pub function: Box<Witness<'a>>,
    /// Direction of the crossings.
    pub direction: Direction,
    /// Whether the integration ends at the first crossing.
    pub terminal: bool,
}

impl<'a> Event<'a> {
    /// A crossing in either direction that is only reported.
    pub fn new(function: impl FnMut(f64, &[f64]) -> f64 + 'a) -> Self {
        Event { function: Box::new(function), direction: Direction::Any, terminal: false }
    }

    /// A crossing that ends the integration.
    pub fn terminal(function: impl FnMut(f64, &[f64]) -> f64 + 'a) -> Self {
        Event { terminal: true, ..Event::new(function) }
    }

    /// The same for one direction only.
    pub fn in_direction(self, direction: Direction) -> Self {
        Event { direction, ..self }
    }

    /// Whether going from `g0` to `g1` is a crossing. A start on zero is none: it was one before.
    pub(crate) fn crosses(&self, g0: f64, g1: f64) -> bool {
        match self.direction {
            Direction::Rising => g0 < 0.0 && g1 >= 0.0,
            Direction::Falling => g0 > 0.0 && g1 <= 0.0,
            Direction::Any => (g0 < 0.0 && g1 >= 0.0) || (g0 > 0.0 && g1 <= 0.0),
        }
    }
}

/// The zero of `g` in [a, b], where g(a) = ga and g(b) = gb differ in sign: the end of the last bracket on
/// the side of b, so that the crossing has happened there.
///
/// Illinois' variant of the secant rule (Dowell & Jarratt 1971), which keeps the bracket; stops when it is as
/// narrow as rounding allows.
pub(crate) fn localize(
    mut a: f64,
    mut ga: f64,
    mut b: f64,
    mut gb: f64,
    mut g: impl FnMut(f64) -> f64,
) -> f64 {
    let mut side = 0;
    for _ in 0..100 {
        let narrow = 4.0 * f64::EPSILON * a.abs().max(b.abs()).max(1e-3);
        if b - a <= narrow || gb == 0.0 {
            break;
        }
        let secant = (a * gb - b * ga) / (gb - ga);
        // The secant may leave the bracket by rounding, or stay at its ends; then halve.
        let m = if secant > a && secant < b { secant } else { 0.5 * (a + b) };
        let gm = g(m);
        if (gm > 0.0) == (gb > 0.0) || gm == 0.0 {
            (b, gb) = (m, gm);
            if side == 1 {
                ga *= 0.5;
            }
            side = 1;
        } else {
            (a, ga) = (m, gm);
            if side == -1 {
                gb *= 0.5;
            }
            side = -1;
        }
    }
    b
}

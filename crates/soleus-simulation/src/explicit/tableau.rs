//! Coefficients of explicit Runge–Kutta pairs.

/// Interpolation within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dense {
    /// The cubic through both ends and their rates (Hermite).
    Cubic,
    /// The quartic of Shampine (1986) with one more combination of the stages, d.
    Quartic([f64; 7]),
}

/// An explicit Runge–Kutta pair:
///
///   kᵢ = f(t + cᵢ h, x + h Σⱼ aᵢⱼ kⱼ),   x₁ = x + h Σ bᵢ kᵢ,   error ≈ h Σ eᵢ kᵢ
#[derive(Clone, Debug, PartialEq)]
pub struct Tableau {
    /// Times of the stages after the first.
    pub c: &'static [f64],
    /// Coefficients of the stages after the first, row by row.
    pub a: &'static [&'static [f64]],
    /// Weights of the result.
    pub b: &'static [f64],
    /// Weights of the error estimate; one longer than `b` where the rates at the end take part.
    pub e: &'static [f64],
    /// Order of the error estimate in h.
    pub error_order: i32,
    /// How to interpolate.
    pub dense: Dense,
}

/// Merson's pair of order 4(3), five stages; the error estimate is a fifth of the difference between the result
/// and the last stage.
///
/// Source: Merson (1957); Hairer, Nørsett & Wanner (1993), table 4.1.
pub const MERSON_1957: Tableau = Tableau {
    c: &[1.0 / 3.0, 1.0 / 3.0, 0.5, 1.0],
    a: &[&[1.0 / 3.0], &[1.0 / 6.0, 1.0 / 6.0], &[0.125, 0.0, 0.375], &[0.5, 0.0, -1.5, 2.0]],
    b: &[1.0 / 6.0, 0.0, 0.0, 2.0 / 3.0, 1.0 / 6.0],
    e: &[-1.0 / 15.0, 0.0, 0.3, -4.0 / 15.0, 1.0 / 30.0],
    error_order: 4,
    dense: Dense::Cubic,
};

/// The pair of order 5(4) of Dormand & Prince (1980), six stages and the rates at the end, with Shampine's
/// interpolant of order 4.
///
/// Source: Hairer, Nørsett & Wanner (1993), table 5.2 and section II.6.
pub const DORMAND_PRINCE_1980: Tableau = Tableau {
    c: &[0.2, 0.3, 0.8, 8.0 / 9.0, 1.0],
    a: &[
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    ],
    b: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    e: &[71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0],
    error_order: 5,
    dense: Dense::Quartic([
        -12715105075.0 / 11282082432.0,
        0.0,
        87487479700.0 / 32700410799.0,
        -10690763975.0 / 1880347072.0,
        701980252875.0 / 199316789632.0,
        -1453857185.0 / 822651844.0,
        69997945.0 / 29380423.0,
    ]),
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a sum to c, weights to 1, error weights to 0, and quadrature is exact up to the order.
    #[test]
    fn analytic_order_conditions_of_quadrature() {
        for (t, order) in [(MERSON_1957, 4), (DORMAND_PRINCE_1980, 5)] {
            for (row, c) in t.a.iter().zip(t.c) {
                assert!((row.iter().sum::<f64>() - c).abs() < 1e-13);
            }
            let c = |i: usize| if i == 0 { 0.0 } else { t.c[i - 1] };
            for p in 0..order {
                let q: f64 = t.b.iter().enumerate().map(|(i, b)| b * c(i).powi(p)).sum();
                assert!((q - 1.0 / f64::from(p + 1)).abs() < 1e-14, "{p}: {q}");
            }
            assert!(t.e.iter().sum::<f64>().abs() < 1e-15);
        }
    }
}

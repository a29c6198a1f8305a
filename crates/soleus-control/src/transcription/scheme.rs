//! Collocation schemes.

use super::legendre::{gauss_points, lagrange, lagrange_integral, lagrange_slope, radau_points};

/// Discretization of the differential equations between mesh points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Order 2; mesh points only.
    Trapezoidal,
    /// Order 4, with midpoints as variables (Betts 2010, separated form).
    #[default]
    HermiteSimpson,
    /// The same with states at midpoints eliminated (Betts 2010, compressed form): fewer variables and denser matrices.
    /// States at midpoints have no bounds, and both times must be fixed.
    HermiteSimpsonCompressed,
    /// Implicit midpoint rule, order 2.
    Midpoint,
    /// Order 1, strongly damped.
    BackwardEuler,
    /// Legendre–Gauss with the given number of points per interval, 1 to 9; order twice that.
    LegendreGauss(usize),
    /// Legendre–Gauss–Radau, including the end of each interval; order twice the number of points minus one.
    LegendreGaussRadau(usize),
}

/// One equation between the points of an interval of duration h: Σ state_k x_k + h Σ rate_k ẋ_k = 0.
#[derive(Clone, Debug)]
pub(super) struct Defect {
    pub state: Vec<f64>,
    pub rate: Vec<f64>,
}

/// A scheme on one interval of duration 1.
#[derive(Clone, Debug)]
pub(super) struct Stencil {
    /// Points from 0 to 1, both mesh points included.
    pub nodes: Vec<f64>,
    /// Equations, one of each per state.
    pub defects: Vec<Defect>,
    /// Weights of the quadrature at the points.
    pub quadrature: Vec<f64>,
}

impl Scheme {
    /// Maximum number of points per interval; beyond it, finer meshes of lower order are better.
    pub const MAX_POINTS: usize = 9;

    /// From Moco's name: `hermite-simpson`, `legendre-gauss-radau-3`, …
    pub fn from_name(name: &str) -> Option<Scheme> {
        let points = |digits: &str| digits.parse().ok().filter(|n| (1..=Scheme::MAX_POINTS).contains(n));
        match name {
            "trapezoidal" => Some(Scheme::Trapezoidal),
            "hermite-simpson" => Some(Scheme::HermiteSimpson),
            "hermite-simpson-compressed" => Some(Scheme::HermiteSimpsonCompressed),
            "midpoint" => Some(Scheme::Midpoint),
            "backward-euler" => Some(Scheme::BackwardEuler),
            _ => match name.strip_prefix("legendre-gauss-radau-") {
                Some(digits) => points(digits).map(Scheme::LegendreGaussRadau),
                None => points(name.strip_prefix("legendre-gauss-")?).map(Scheme::LegendreGauss),
            },
        }
    }

    /// Moco's name.
    pub fn name(&self) -> String {
        match self {
            Scheme::Trapezoidal => "trapezoidal".into(),
            Scheme::HermiteSimpson => "hermite-simpson".into(),
            Scheme::HermiteSimpsonCompressed => "hermite-simpson-compressed".into(),
            Scheme::Midpoint => "midpoint".into(),
            Scheme::BackwardEuler => "backward-euler".into(),
            Scheme::LegendreGauss(n) => format!("legendre-gauss-{n}"),
            Scheme::LegendreGaussRadau(n) => format!("legendre-gauss-radau-{n}"),
        }
    }

    /// Order p: the error is proportional to h^p.
    pub fn order(&self) -> usize {
        match *self {
            Scheme::BackwardEuler => 1,
            Scheme::Trapezoidal | Scheme::Midpoint => 2,
            Scheme::HermiteSimpson | Scheme::HermiteSimpsonCompressed => 4,
            Scheme::LegendreGauss(n) => 2 * n,
            Scheme::LegendreGaussRadau(n) => 2 * n - 1,
        }
    }

    pub(super) fn stencil(&self) -> Stencil {
        match *self {
            Scheme::Trapezoidal => Stencil {
                nodes: vec![0.0, 1.0],
                defects: vec![Defect { state: vec![-1.0, 1.0], rate: vec![-0.5, -0.5] }],
                quadrature: vec![0.5, 0.5],
            },
            Scheme::HermiteSimpson => Stencil {
                nodes: vec![0.0, 0.5, 1.0],
                // x̄ = ½(x₀ + x₁) + h/8 (ẋ₀ − ẋ₁);  x₁ = x₀ + h/6 (ẋ₀ + 4 ẋ̄ + ẋ₁)
                defects: vec![
                    Defect { state: vec![-0.5, 1.0, -0.5], rate: vec![-0.125, 0.0, 0.125] },
                    Defect { state: vec![-1.0, 0.0, 1.0], rate: vec![-1.0 / 6.0, -2.0 / 3.0, -1.0 / 6.0] },
                ],
                quadrature: vec![1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
            },
            Scheme::HermiteSimpsonCompressed => {
                let mut separated = Scheme::HermiteSimpson.stencil();
                separated.defects.remove(0);
                separated
            }
            Scheme::Midpoint => Stencil {
                nodes: vec![0.0, 0.5, 1.0],
                defects: vec![
                    Defect { state: vec![-0.5, 1.0, -0.5], rate: vec![0.0; 3] },
                    Defect { state: vec![-1.0, 0.0, 1.0], rate: vec![0.0, -1.0, 0.0] },
                ],
                quadrature: vec![0.0, 1.0, 0.0],
            },
            Scheme::BackwardEuler => Stencil {
                nodes: vec![0.0, 1.0],
                defects: vec![Defect { state: vec![-1.0, 1.0], rate: vec![0.0, -1.0] }],
                quadrature: vec![0.0, 1.0],
            },
            Scheme::LegendreGauss(n) => Stencil::collocated(&gauss_points(n.clamp(1, Self::MAX_POINTS))),
            Scheme::LegendreGaussRadau(n) => Stencil::collocated(&radau_points(n.clamp(1, Self::MAX_POINTS))),
        }
    }
}

impl Stencil {
    /// A polynomial through the start and the points, its slope right at the points.
    fn collocated(points: &[f64]) -> Stencil {
        let mut basis = vec![0.0];
        basis.extend(points);
        let ends_at_point = points.last() == Some(&1.0);
        let mut nodes = basis.clone();
        if !ends_at_point {
            nodes.push(1.0);
        }
        let padded = |mut row: Vec<f64>| {
            row.resize(nodes.len(), 0.0);
            row
        };
        // Σ x_k ℓ_k′(c) − h ẋ(c) = 0 at each point c.
        let mut defects: Vec<Defect> = (1..basis.len())
            .map(|i| {
                let slopes = (0..basis.len()).map(|k| lagrange_slope(&basis, k, basis[i]));
                let mut rate = vec![0.0; nodes.len()];
                rate[i] = -1.0;
                Defect { state: padded(slopes.collect()), rate }
            })
            .collect();
        // The end state is the polynomial's, where it is not a point itself.
        if !ends_at_point {
            let mut state = padded((0..basis.len()).map(|k| -lagrange(&basis, k, 1.0)).collect());
            state[nodes.len() - 1] = 1.0;
            defects.push(Defect { state, rate: vec![0.0; nodes.len()] });
        }
        let mut quadrature = vec![0.0];
        quadrature.extend((0..points.len()).map(|k| lagrange_integral(points, k)));
        quadrature.resize(nodes.len(), 0.0);
        Stencil { nodes, defects, quadrature }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scheme is exact for polynomials up to the degree of its interpolation.
    #[test]
    fn analytic_defects_vanish_for_low_polynomials() {
        let mut schemes = vec![(Scheme::Trapezoidal, 2), (Scheme::HermiteSimpson, 3), (Scheme::Midpoint, 1)];
        schemes.extend([(Scheme::BackwardEuler, 1), (Scheme::HermiteSimpsonCompressed, 3)]);
        for n in 1..=9 {
            schemes.extend([(Scheme::LegendreGauss(n), n), (Scheme::LegendreGaussRadau(n), n)]);
        }
        for (scheme, degree) in schemes {
            let s = scheme.stencil();
            let sum: f64 = s.quadrature.iter().sum();
            assert!((sum - 1.0).abs() < 1e-14, "{scheme:?}: weights sum to {sum}");
            for d in 0..=degree as i32 {
                for defect in &s.defects {
                    let r: f64 = (0..s.nodes.len())
                        .map(|k| {
                            let c = s.nodes[k];
                            let slope = if d == 0 { 0.0 } else { f64::from(d) * c.powi(d - 1) };
                            defect.state[k] * c.powi(d) + defect.rate[k] * slope
                        })
                        .sum();
                    // Differentiation matrices of 10 nodes have entries of about 1e2.
                    assert!(r.abs() < 1e-12, "{scheme:?}, degree {d}: {r}");
                }
            }
            assert_eq!(Scheme::from_name(&scheme.name()), Some(scheme));
        }
    }
}

//! Coefficients of Radau IIA with three stages, from their definition.

use crate::linear::{Complex, Field};

/// c, B = A⁻¹ and its real block-diagonal form B = T Λ T⁻¹, Λ = diag(γ, [α −β; β α]).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RadauCoefficients {
    /// Times of the stages.
    pub c: [f64; 3],
    pub B: [[f64; 3]; 3],
    pub gamma: f64,
    pub alpha: f64,
    pub beta: f64,
    pub T: [[f64; 3]; 3],
    pub T_inverse: [[f64; 3]; 3],
    /// Weights of the error estimate.
    pub e: [f64; 3],
}

impl RadauCoefficients {
    /// The stages are collocation at c = (4 ∓ √6)/10, 1: A maps cᵏ to cᵏ⁺¹/(k+1) for k = 0, 1, 2. The
    /// eigenvalues of B are the roots of λ³ − 9λ² + 36λ − 60, the denominator of the stability function.
    /// Weights of the error: (−13 ∓ 7√6, −1)/3. Source: Hairer & Wanner (1996), section IV.8.
    pub fn new() -> Self {
        let r6 = 6.0_f64.sqrt();
        let c = [(4.0 - r6) / 10.0, (4.0 + r6) / 10.0, 1.0];
        let powers = |k: i32, s: f64| c.map(|c| c.powi(k) / s);
        let columns = |m: [[f64; 3]; 3]| [0, 1, 2].map(|r| [m[0][r], m[1][r], m[2][r]]);
        let C = columns([powers(0, 1.0), powers(1, 1.0), powers(2, 1.0)]);
        let D = columns([powers(1, 1.0), powers(2, 2.0), powers(3, 3.0)]);
        let B = multiply(&C, &inverse(&D));

        // The real root by Newton's method from 3.6; the others follow from the sum 9 and the product 60.
        let mut gamma: f64 = 3.6;
        for _ in 0..8 {
            let f = ((gamma - 9.0) * gamma + 36.0) * gamma - 60.0;
            gamma -= f / ((3.0 * gamma - 18.0) * gamma + 36.0);
        }
        let alpha = 0.5 * (9.0 - gamma);
        let beta = (60.0 / gamma - alpha * alpha).sqrt();

        // Eigenvectors, scaled to end in 1; a complex one p + iq gives the columns p and −q.
        let v = eigenvector(&B, Complex::new(gamma, 0.0)).map(|v| v.re);
        let z = eigenvector(&B, Complex::new(alpha, beta));
        let T = [0, 1, 2].map(|i| [v[i], z[i].re, -z[i].im]);
        RadauCoefficients {
            c,
            B,
            gamma,
            alpha,
            beta,
            T,
            T_inverse: inverse(&T),
            e: [(-13.0 - 7.0 * r6) / 3.0, (-13.0 + 7.0 * r6) / 3.0, -1.0 / 3.0],
        }
    }

    /// Weights of the stages in the collocation polynomial z(s), which is 0 at s = 0 and zᵢ at cᵢ.
    pub fn lagrange(&self, s: f64) -> [f64; 3] {
        let c = self.c;
        [0, 1, 2].map(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            s * (s - c[j]) * (s - c[k]) / (c[i] * (c[i] - c[j]) * (c[i] - c[k]))
        })
    }
}

/// Cross product of the first two rows of B − λ, which is across both, scaled to end in 1.
fn eigenvector(B: &[[f64; 3]; 3], lambda: Complex) -> [Complex; 3] {
    let row = |r: usize| {
        let mut row = B[r].map(|b| Complex::new(b, 0.0));
        row[r] = row[r] - lambda;
        row
    };
    let (a, b) = (row(0), row(1));
    let v = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let scale = Complex::one() / v[2];
    v.map(|x| x * scale)
}

fn multiply(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// By cofactors.
fn inverse(m: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let cofactor = |i: usize, j: usize| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let det: f64 = (0..3).map(|j| m[0][j] * cofactor(0, j)).sum();
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| cofactor(j, i) / det))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B T = T Λ, and A = B⁻¹ is the published one.
    #[test]
    fn analytic_coefficients() {
        let r = RadauCoefficients::new();
        let L = [[r.gamma, 0.0, 0.0], [0.0, r.alpha, -r.beta], [0.0, r.beta, r.alpha]];
        let (left, right) = (multiply(&r.B, &r.T), multiply(&r.T, &L));
        for i in 0..3 {
            for j in 0..3 {
                assert!((left[i][j] - right[i][j]).abs() < 1e-12, "{i} {j}: {left:?} {right:?}");
            }
        }
        // Hairer & Wanner (1996), table IV.5.6.
        let A = inverse(&r.B);
        let r6 = 6.0_f64.sqrt();
        assert!((A[0][0] - (88.0 - 7.0 * r6) / 360.0).abs() < 1e-14);
        assert!((A[1][2] - (-2.0 - 3.0 * r6) / 225.0).abs() < 1e-14);
        assert!((A[2][2] - 1.0 / 9.0).abs() < 1e-14);
        // Σ eᵢ cᵢ = −1: the estimate vanishes for straight motion.
        let s: f64 = r.e.iter().zip(r.c).map(|(e, c)| e * c).sum();
        assert!((s + 1.0).abs() < 1e-14);
    }
}

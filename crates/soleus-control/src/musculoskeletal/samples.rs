//! Interpolation of functions between values of parameters.

/// Lagrange polynomials of some nodes at a value: values, first and second derivatives.
///
///   Lₖ(p) = Π_{j ≠ k} (p − xⱼ)/(xₖ − xⱼ)
pub fn lagrange(nodes: &[f64], p: f64) -> Vec<[f64; 3]> {
    let each = |(k, &xk): (usize, &f64)| {
        let (mut v, mut d, mut dd) = (1.0, 0.0, 0.0);
        for (_, &xj) in nodes.iter().enumerate().filter(|(j, _)| *j != k) {
            let (factor, slope) = ((p - xj) / (xk - xj), 1.0 / (xk - xj));
            (v, d, dd) = (v * factor, d * factor + v * slope, dd * factor + 2.0 * d * slope);
        }
        [v, d, dd]
    };
    nodes.iter().enumerate().map(each).collect()
}

/// Calls with every sample of
///
///   f = f₀ + Σᵢ (L_i0(pᵢ) f₀ + Σₖ L_ik(pᵢ) f_ik − f₀)
///
/// the base first, then the others of each parameter: its number, its share in f, and for each parameter that it stands for (number,
/// slope and second derivative of the share). `values` has the values of each parameter, that of the base first.
pub(super) fn each_share(
    values: &[Vec<f64>],
    p: &[f64],
    mut f: impl FnMut(usize, f64, &[(usize, f64, f64)]),
) {
    let bases: Vec<Vec<[f64; 3]>> = values.iter().zip(p).map(|(v, &p)| lagrange(v, p)).collect();
    let share = 1.0 - bases.iter().map(|b| 1.0 - b[0][0]).sum::<f64>();
    let slopes: Vec<_> = bases.iter().enumerate().map(|(i, b)| (i, b[0][1], b[0][2])).collect();
    f(0, share, &slopes);
    let others = bases.iter().enumerate().flat_map(|(i, b)| b[1..].iter().map(move |l| (i, l)));
    for (k, (i, l)) in others.enumerate() {
        f(k + 1, l[0], &[(i, l[1], l[2])]);
    }
}

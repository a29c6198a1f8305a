//! Simplex method of Nelder and Mead: minimizes a function of a few variables without derivatives.

/// Initial step and stopping criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct NelderMeadOptions {
    /// Edge of the initial simplex along each variable.
    pub step: f64,
    /// Maximum distance of the vertices from the best one, in any variable.
    pub tolerance: f64,
    /// Maximum difference of the values over the simplex. Both criteria must be satisfied.
    pub value_tolerance: f64,
    /// Maximum number of evaluations.
    pub max_evaluations: usize,
}

impl Default for NelderMeadOptions {
    fn default() -> Self {
        NelderMeadOptions { step: 0.1, tolerance: 1e-6, value_tolerance: 1e-9, max_evaluations: 2000 }
    }
}

/// Result.
#[derive(Clone, Debug, PartialEq)]
pub struct NelderMeadMinimum {
    /// The best point.
    pub x: Vec<f64>,
    /// Value at this point.
    pub value: f64,
    /// Number of evaluations.
    pub evaluations: usize,
    /// Whether the tolerances were reached.
    pub converged: bool,
}

/// Minimizes `f` from `start`. NaN is treated as infinite, so `f` may refuse points.
///
/// With c the centroid of all vertices except the worst, w: c + (c − w) is tried, then twice as far if that is the best
/// so far; otherwise c ± (c − w)/2 on the better side; otherwise all vertices are moved halfway to the best. Only the
/// order of values matters.
///
/// Source: Nelder and Mead (1965), with the coefficients 1, 2, ½, ½ and the acceptance rules of Lagarias et al. (1998).
pub fn nelder_mead(
    mut f: impl FnMut(&[f64]) -> f64,
    start: &[f64],
    options: &NelderMeadOptions,
) -> NelderMeadMinimum {
    let n = start.len();
    let mut evaluations = 0;
    let mut value_at = |x: &[f64], evaluations: &mut usize| {
        *evaluations += 1;
        let v = f(x);
        if v.is_nan() { f64::INFINITY } else { v }
    };

    // Vertices with their values, kept in order; equal values stay in the order in which they came.
    let mut simplex: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n + 1);
    for k in 0..=n {
        let mut x = start.to_vec();
        if k > 0 {
            x[k - 1] += options.step;
        }
        let v = value_at(&x, &mut evaluations);
        simplex.push((x, v));
    }
    let mut converged = false;
    loop {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let spread = simplex[n].1 - simplex[0].1;
        let size = simplex[1..]
            .iter()
            .flat_map(|(x, _)| x.iter().zip(&simplex[0].0).map(|(a, b)| (a - b).abs()))
            .fold(0.0, f64::max);
        if n == 0 || (size <= options.tolerance && spread <= options.value_tolerance) {
            converged = true;
        }
        if converged || evaluations >= options.max_evaluations {
            break;
        }

        let centroid: Vec<f64> =
            (0..n).map(|i| simplex[..n].iter().map(|(x, _)| x[i]).sum::<f64>() / n as f64).collect();
        let along = |s: f64| -> Vec<f64> {
            centroid.iter().zip(&simplex[n].0).map(|(c, w)| c + s * (c - w)).collect()
        };
        let reflected = along(1.0);
        let vr = value_at(&reflected, &mut evaluations);
        let new = if vr < simplex[0].1 {
            let expanded = along(2.0);
            let ve = value_at(&expanded, &mut evaluations);
            Some(if ve < vr { (expanded, ve) } else { (reflected, vr) })
        } else if vr < simplex[n - 1].1 {
            Some((reflected, vr))
        } else {
            // On the side of the better of reflected and worst vertex.
            let outside = vr < simplex[n].1;
            let contracted = along(if outside { 0.5 } else { -0.5 });
            let vc = value_at(&contracted, &mut evaluations);
            let good = if outside { vc <= vr } else { vc < simplex[n].1 };
            good.then_some((contracted, vc))
        };
        if let Some(vertex) = new {
            simplex[n] = vertex;
        } else {
            let (best, rest) = simplex.split_at_mut(1);
            for (x, v) in rest {
                for (x, b) in x.iter_mut().zip(&best[0].0) {
                    *x = 0.5 * (*x + b);
                }
                *v = value_at(x, &mut evaluations);
            }
        }
    }
    let (x, value) = simplex.swap_remove(0);
    NelderMeadMinimum { x, value, evaluations, converged }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The valley of Rosenbrock (1960), whose minimum is (1, 1).
    #[test]
    fn analytic_rosenbrock_valley() {
        let f = |x: &[f64]| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
        let options = NelderMeadOptions { tolerance: 1e-9, value_tolerance: 1e-16, ..Default::default() };
        let m = nelder_mead(f, &[-1.2, 1.0], &options);
        assert!(m.converged && m.value < 1e-16, "{m:?}");
        // Values are flat to √ε near a minimum.
        assert!((m.x[0] - 1.0).abs() < 1e-7 && (m.x[1] - 1.0).abs() < 1e-7, "{m:?}");
        assert!(m.evaluations < 400, "{}", m.evaluations);
    }

    /// A corner, a wall that is not a number, and an empty problem.
    #[test]
    fn analytic_corners_and_walls() {
        let f = |x: &[f64]| if x[0] < 0.5 { f64::NAN } else { x[0] + (x[1] - 2.0).abs() };
        let m = nelder_mead(f, &[3.0, 0.0], &NelderMeadOptions::default());
        assert!(m.converged && (m.x[0] - 0.5).abs() < 1e-5 && (m.x[1] - 2.0).abs() < 1e-5, "{m:?}");
        let m = nelder_mead(|_| 7.0, &[], &NelderMeadOptions::default());
        assert!(m.converged && m.value == 7.0);
        let few = NelderMeadOptions { max_evaluations: 5, ..Default::default() };
        assert!(!nelder_mead(|x: &[f64]| x[0] * x[0], &[100.0], &few).converged);
    }
}

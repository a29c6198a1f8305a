//! Gait events: foot strikes and toe-offs.

use super::Walk;
use super::signs::{FootMotion, OFF, OFF_AFTER_S, STRIKE, STRIKE_AFTER_S};
use crate::plates::{Contact, Side};

/// Foot strikes and toe-offs of one foot, s, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FootEvents {
    /// Times of foot strikes.
    pub strikes: Vec<f64>,
    /// Times of toe-offs.
    pub offs: Vec<f64>,
    /// Number of events from force plates.
    pub from_plates: usize,
}

/// A foot is not on the ground, or off it, for shorter, s.
const SHORTEST_SWING_S: f64 = 0.1;
const SHORTEST_STANCE_S: f64 = 0.08;
/// The toe that lands slower than this part of the walking speed has landed: who runs on the forefoot sets the heel down later or never.
const TOE_LANDS: f64 = 0.2;

/// The heel comes down as it slows to the walking speed, and the toe leaves as it speeds up to this, m/s; strike and toe-off of a plate
/// follow so much later, s. These are coarse times, to within a few hundredths of a second; the signs beside them make them fine.
/// The idea of a threshold on the speed of the foot is that of Ghoussayni et al. (2004).
const LEAVING_M_S: f64 = 0.6;
const STRIKE_DELAY_S: f64 = 0.013;
const OFF_DELAY_S: f64 = 0.027;

/// Strikes of a foot are farther apart, s.
const SAME_STEP_S: f64 = 0.3;

/// Speeds of heel and toe at which a foot lands and leaves, at a walking or running speed.
fn thresholds(speed: f64) -> [f64; 2] {
    // Below a stroll all speeds are small.
    [speed, LEAVING_M_S.min(speed)]
}

/// Events of all feet of a walk, from markers only.
pub fn events_from_markers(walk: &Walk) -> Vec<FootEvents> {
    let mut events = vec![FootEvents::default(); walk.feet.len()];
    for c in event_candidates(walk) {
        let own = &mut events[c.foot];
        let list = if c.is_strike { &mut own.strikes } else { &mut own.offs };
        list.push(c.time());
    }
    events.iter_mut().for_each(|e| e.strikes.sort_by(f64::total_cmp));
    events.iter_mut().for_each(|e| e.offs.sort_by(f64::total_cmp));
    add_at_ends(walk, &mut events);
    events
}

/// An event so close to the start or end of a recording, s, may not show in the markers: the heel is already slow in the first frame, or the toe
/// still rests in the last.
const AT_END_S: f64 = 0.05;
/// A foot that has just landed still moves somewhere, m/s: the toe comes down after the heel. A foot that stands is slower.
const MOVES_M_S: f64 = 0.15;

/// Adds strikes in the first hundredths of a second and toe-offs in the last, which the markers do not show. They are placed by the other steps of the
/// trial: a foot strikes one time of contact before it leaves, and one double support before the other foot leaves.
fn add_at_ends(walk: &Walk, events: &mut [FootEvents]) {
    let n = walk.times.len();
    let (first, last) = (walk.times[0], walk.times[n - 1]);
    let [contact, overlap] = [median(contacts(events)), median(overlaps(events))];
    let mean = |estimates: [Option<f64>; 2]| {
        let known: Vec<f64> = estimates.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let [landing, leaving] = thresholds(walk.speed);
    for foot in 0..events.len() {
        let [heel, toe] = walk.speeds(foot);
        let others = |k: usize| (k != foot).then_some(k);
        let other = (0..events.len()).find_map(others).map(|k| &events[k]);
        let (strikes, offs) = (&events[foot].strikes, &events[foot].offs);

        let off = offs.first().filter(|off| strikes.iter().all(|s| s > off));
        let moves = heel[0] < landing && heel[0].max(toe[0]) > MOVES_M_S;
        if let Some(&off) = off.filter(|_| moves && walk.is_known(foot, first)) {
            let left = other.and_then(|o| o.offs.iter().find(|t| **t < off));
            let strike = mean([contact.map(|c| off - c), left.zip(overlap).map(|(t, d)| t - d)]);
            if let Some(t) = strike.filter(|t| (first..first + AT_END_S).contains(t)) {
                events[foot].strikes.insert(0, t);
            }
        }

        let (strikes, offs) = (&events[foot].strikes, &events[foot].offs);
        let other = (0..events.len()).find_map(others).map(|k| &events[k]);
        let strike = strikes.last().filter(|strike| offs.iter().all(|o| o < strike));
        let rises = heel[n - 1] > leaving.min(landing);
        if let Some(&strike) = strike.filter(|_| rises && walk.is_known(foot, last)) {
            let came = other.and_then(|o| o.strikes.iter().rfind(|t| **t > strike));
            let off = mean([contact.map(|c| strike + c), came.zip(overlap).map(|(t, d)| t + d)]);
            if let Some(t) = off.filter(|t| (last - AT_END_S..=last).contains(t)) {
                events[foot].offs.push(t);
            }
        }
    }
}

/// Times of contact of all feet, s.
fn contacts(events: &[FootEvents]) -> Vec<f64> {
    let of = |e: &FootEvents| -> Vec<f64> {
        let off = |&s: &f64| {
            let next = e.strikes.iter().find(|t| **t > s).copied().unwrap_or(f64::INFINITY);
            e.offs.iter().find(|o| **o > s && **o < next).map(|o| o - s)
        };
        e.strikes.iter().filter_map(off).collect()
    };
    events.iter().flat_map(of).collect()
}

/// How long each toe-off follows the nearest strike of the other foot, s: double support, or negative, when running, the flight.
fn overlaps(events: &[FootEvents]) -> Vec<f64> {
    let [a, b] = events else { return Vec::new() };
    let pairs = [(a, b), (b, a)];
    let of = |(one, other): (&FootEvents, &FootEvents)| -> Vec<f64> {
        let nearest = |&off: &f64| {
            let all = other.strikes.iter().map(|s| off - s);
            all.min_by(|x, y| x.abs().total_cmp(&y.abs())).filter(|d| d.abs() < SAME_STEP_S)
        };
        one.offs.iter().filter_map(nearest).collect()
    };
    pairs.into_iter().flat_map(of).collect()
}

/// The middle of a list; `None` if it is empty.
fn median(mut list: Vec<f64>) -> Option<f64> {
    list.sort_by(f64::total_cmp);
    let n = list.len();
    (n > 0).then(|| 0.5 * (list[(n - 1) / 2] + list[n / 2]))
}

/// An event, and the times of the heel and toe features around it.
#[derive(Clone, Debug)]
pub struct EventCandidates {
    /// The foot.
    pub foot: usize,
    /// Whether it is a foot strike; otherwise a toe-off.
    pub is_strike: bool,
    /// Estimate from one threshold and one delay, s.
    pub coarse: f64,
    /// Times of the features, s, in the order of their weights; `None` if one of them is missing.
    pub signs: Option<Vec<f64>>,
}

impl EventCandidates {
    /// Time of the event, s: weighted mean of its features, plus a delay.
    pub fn time(&self) -> f64 {
        let (signs, delay) = if self.is_strike { (STRIKE, STRIKE_AFTER_S) } else { (OFF, OFF_AFTER_S) };
        match &self.signs {
            Some(times) => delay + signs.iter().zip(times).map(|(s, t)| s.weight * t).sum::<f64>(),
            None => self.coarse,
        }
    }
}

/// Events of all feet with their features. Events of a foot without visible markers are left out.
pub fn event_candidates(walk: &Walk) -> Vec<EventCandidates> {
    let [landing, leaving] = thresholds(walk.speed);
    let t = &walk.times;
    let mut list = Vec::new();
    for foot in 0..walk.feet.len() {
        let [heel, toe] = walk.speeds(foot);
        let lands = |r: usize| (heel[r] - landing).min(toe[r] - TOE_LANDS * walk.speed);
        let stands = |r: usize| (toe[r] - leaving).min(heel[r] - landing.min(leaving));
        let motion = FootMotion::new(walk, foot);
        let mut add = |all: Vec<(f64, bool)>, is_strike: bool, delay: f64| {
            for (at, _) in all.into_iter().filter(|(_, on)| *on == is_strike) {
                let coarse = at + delay;
                if !walk.is_known(foot, coarse) {
                    continue;
                }
                let signs = if is_strike { STRIKE } else { OFF };
                let times = motion.as_ref().and_then(|m| m.times_of(signs, coarse));
                list.push(EventCandidates { foot, is_strike, coarse, signs: times });
            }
        };
        add(crossings(t, &lands), true, STRIKE_DELAY_S);
        add(crossings(t, &stands), false, OFF_DELAY_S);
        // A recording may begin while the heel slows down: the strike is seen, but not how the foot came to it.
        let is_first = !list
            .iter()
            .any(|c: &EventCandidates| c.foot == foot && c.is_strike && c.coarse < t[0] + SAME_STEP_S);
        if lands(0) < 0.0 && is_first && walk.is_known(foot, t[0]) {
            let signs = motion.as_ref().and_then(|m| m.times_of(STRIKE, t[0]));
            let coarse = t[0] + STRIKE_DELAY_S;
            list.extend(signs.map(|signs| EventCandidates {
                foot,
                is_strike: true,
                coarse,
                signs: Some(signs),
            }));
        }
    }
    list
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
/// A plate that is loaded so long after the foot has landed had only part of the foot on it, s: more than twice the error of strikes from
/// markers; and no longer than this, or it is another step.
const PARTLY_S: f64 = 0.05;
const PARTLY_MOST_S: f64 = 0.3;

/// Replaces events from markers by events from force plates where a foot stood on a plate alone. `sides` are those of
/// the events, `feet` those of the contacts; a load that starts or ends with the recording is not an event.
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
        own.from_plates = put(&mut own.strikes, &begins, true) + put(&mut own.offs, &ends, false);
    }
}

/// Puts exact times in the place of near ones, and beside the others; how many. A plate that is loaded long after the foot has landed had only
/// part of the foot on it: its time is not that of the strike.
fn put(list: &mut Vec<f64>, exact: &[f64], are_strikes: bool) -> usize {
    let mut count = 0;
    for &t in exact {
        let is_partly_on = |x: &f64| are_strikes && (PARTLY_S..PARTLY_MOST_S).contains(&(t - x));
        if list.iter().any(is_partly_on) && !list.iter().any(|x| (x - t).abs() < PARTLY_S) {
            continue;
        }
        list.retain(|x| (x - t).abs() > SAME_S);
        list.push(t);
        count += 1;
    }
    list.sort_by(f64::total_cmp);
    count
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
        assert_eq!(put(&mut list, &[1.58, 3.8], true), 2);
        assert_eq!(list, [0.50, 1.58, 2.70, 3.8]);
        // The heel lands beside the plate at 2.70 s, and the rest of the foot comes down on the plate 80 ms later.
        assert_eq!(put(&mut list, &[2.78], true), 0);
        assert_eq!(list, [0.50, 1.58, 2.70, 3.8]);
        // A toe-off of the plate counts.
        assert_eq!(put(&mut list, &[2.64], false), 1);
        assert_eq!(list, [0.50, 1.58, 2.64, 3.8]);
    }
}

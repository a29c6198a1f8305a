//! Misplaced markers over the frames of a motion.

use super::InverseKinematics;

/// Collects misplaced markers frame by frame.
#[derive(Clone, Debug, Default)]
pub struct MisplacedMarkers {
    /// Marker, the one it was exchanged with, rows, and time of the first.
    list: Vec<(usize, Option<usize>, Vec<usize>, f64)>,
}

impl MisplacedMarkers {
    /// Adds the last solved frame, at `time` (s), row `row` of the data, counting from 0.
    pub fn add_frame(&mut self, ik: &InverseKinematics, time: f64, row: usize) {
        self.add(time, row, ik.left_out(), ik.exchanged());
    }

    pub(super) fn add(&mut self, time: f64, row: usize, left_out: &[usize], exchanged: &[[usize; 2]]) {
        let out = left_out.iter().map(|&i| (i, None));
        for (i, j) in out.chain(exchanged.iter().map(|&[i, j]| (i, Some(j)))) {
            match self.list.iter_mut().find(|m| m.0 == i && m.1 == j) {
                Some(m) => m.2.push(row + 1),
                None => self.list.push((i, j, vec![row + 1], time)),
            }
        }
    }

    /// The misplaced markers in order of their first frame; `names` are those of the tracked markers.
    pub fn named(self, names: &[String]) -> Vec<Misplaced> {
        let named = |(i, j, frames, time): (usize, Option<usize>, Vec<usize>, f64)| Misplaced {
            name: names[i].clone(),
            exchanged_with: j.map(|j| names[j].clone()),
            frames,
            time,
        };
        self.list.into_iter().map(named).collect()
    }
}

/// A marker that was misplaced in some frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Misplaced {
    /// Its name.
    pub name: String,
    /// Marker with which it had exchanged its label; the labels were swapped back. `None`: the marker was placed where
    /// the other markers predict it.
    pub exchanged_with: Option<String>,
    /// The frames: rows of the data, counting from 1.
    pub frames: Vec<usize>,
    /// Time of the first of them, s.
    pub time: f64,
}

impl Misplaced {
    /// Description of what was done.
    pub fn remedy(&self) -> &'static str {
        match self.exchanged_with {
            Some(_) => "they are treated as swapped in these frames; swap the labels in the data",
            None => "it is ignored in these frames; check its label, or delete it there",
        }
    }
}

impl std::fmt::Display for Misplaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.exchanged_with {
            Some(other) => write!(f, "markers `{}` and `{other}` have swapped labels", self.name)?,
            None => write!(f, "marker `{}` is out of place", self.name)?,
        }
        let from = if self.frames.len() > 1 { "from " } else { "" };
        write!(f, " in {} ({from}t = {} s)", list_of_frames(&self.frames), self.time)
    }
}

/// `frame 3`, `frames 3 to 7 and 9`: at most three stretches.
fn list_of_frames(frames: &[usize]) -> String {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for &n in frames {
        match stretches.last_mut() {
            Some((_, last)) if n <= *last + 1 => *last = (*last).max(n),
            _ => stretches.push((n, n)),
        }
    }
    let named = |&(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a} to {b}") };
    let mut words: Vec<String> = stretches.iter().take(3).map(named).collect();
    if stretches.len() > 3 {
        let rest: usize = stretches[3..].iter().map(|(a, b)| b - a + 1).sum();
        words.push(format!("{rest} more"));
    }
    let last = words.pop().unwrap_or_default();
    let all = if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) };
    format!("{} {all}", if frames.len() == 1 { "frame" } else { "frames" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_frames_are_listed_in_stretches() {
        let mut found = MisplacedMarkers::default();
        for row in [2, 3, 4, 8] {
            found.add(0.1 * row as f64, row, &[1], &[]);
        }
        found.add(0.5, 5, &[], &[[0, 2]]);
        for row in [10, 12, 14, 15] {
            found.add(1.0, row, &[2], &[]);
        }
        let names = ["a", "b", "c"].map(String::from);
        let said: Vec<String> = found.named(&names).iter().map(ToString::to_string).collect();
        assert_eq!(said[0], "marker `b` is out of place in frames 3 to 5 and 9 (from t = 0.2 s)");
        assert_eq!(said[1], "markers `a` and `c` have swapped labels in frame 6 (t = 0.5 s)");
        assert_eq!(said[2], "marker `c` is out of place in frames 11, 13 and 15 to 16 (from t = 1 s)");
    }
}

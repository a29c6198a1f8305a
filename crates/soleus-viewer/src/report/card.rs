//! Cards: quality of a result at a glance, with the reason.

use crate::text::escape;
use std::fmt::Write as _;

/// Rating of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Within recommended limits.
    Good,
    /// Needs attention.
    Fair,
    /// Outside accepted limits.
    Bad,
}

impl Verdict {
    /// Good up to the first number, bad above the second.
    pub fn of(value: f64, [good, bad]: [f64; 2]) -> Verdict {
        match value {
            v if v <= good => Verdict::Good,
            v if v <= bad => Verdict::Fair,
            _ => Verdict::Bad,
        }
    }

    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Fair => "fair",
            Verdict::Bad => "bad",
        }
    }

    /// A sign that differs in shape, for eyes that do not tell colors apart.
    fn sign(self) -> char {
        match self {
            Verdict::Good => '✓',
            Verdict::Fair => '!',
            Verdict::Bad => '✕',
        }
    }
}

/// One line of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Rated quantity.
    pub what: String,
    /// Value with unit.
    pub value: String,
    /// Rating; `None` if not rated.
    pub verdict: Option<Verdict>,
    /// Reason, or where to look.
    pub reason: String,
}

/// Summary of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// Title.
    pub title: String,
    /// Lines.
    pub lights: Vec<Light>,
}

impl Card {
    /// The worst rating of its lines.
    pub fn verdict(&self) -> Option<Verdict> {
        self.lights.iter().filter_map(|l| l.verdict).max()
    }

    /// Writing to a `String` cannot fail.
    pub(super) fn write(&self, s: &mut String) {
        let class = self.verdict().map_or("", Verdict::word);
        let _ = writeln!(s, "<article class=\"card {class}\">\n<h3>{}</h3>\n<ul>", escape(&self.title));
        for l in &self.lights {
            let (class, word, sign) =
                l.verdict.map_or(("none", "not judged", '·'), |v| (v.word(), v.word(), v.sign()));
            let _ = writeln!(
                s,
                "<li><span class=\"lamp {class}\" role=\"img\" aria-label=\"{word}\">{sign}</span><span class=\"what\">{}</span> \
                 <span class=\"value\">{}</span><span class=\"reason\">{}</span></li>",
                escape(&l.what),
                escape(&together(&l.value)),
                escape(&together(&l.reason))
            );
        }
        s.push_str("</ul>\n</article>\n");
    }
}

/// Units in the text of cards.
const UNITS: [&str; 7] = ["%", "N", "m", "mm", "deg", "s", "kg"];

/// Text in which a unit stays on the line of its number.
fn together(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let is_number = |word: &str| word.trim_start_matches(['(', '−', '-']).parse::<f64>().is_ok();
    let mut last = "";
    for (i, word) in text.split(' ').enumerate() {
        let is_unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ')']));
        // The second part of N m too.
        let belongs = is_unit && (is_number(last) || last == "N");
        if i > 0 {
            out.push(if belongs { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
        last = word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_verdicts() {
        let limits = [2.0, 4.0];
        assert_eq!(
            [2.0, 3.0, 4.1].map(|x| Verdict::of(x, limits)),
            [Verdict::Good, Verdict::Fair, Verdict::Bad]
        );
        assert_eq!(Verdict::of(f64::NAN, limits), Verdict::Bad);
    }

    #[test]
    fn analytic_a_unit_stays_with_its_number() {
        assert_eq!(
            together("10 % or less; hip: 0.1 of 14.6 N m"),
            "10\u{a0}% or less; hip: 0.1 of 14.6\u{a0}N\u{a0}m"
        );
    }

    #[test]
    fn analytic_a_card_is_as_good_as_its_worst_light() {
        let light =
            |verdict| Light { what: "a <b>".into(), value: "1".into(), verdict, reason: String::new() };
        let card = Card {
            title: "walk".into(),
            lights: vec![light(None), light(Some(Verdict::Bad)), light(Some(Verdict::Good))],
        };
        assert_eq!(card.verdict(), Some(Verdict::Bad));
        let mut s = String::new();
        card.write(&mut s);
        assert!(s.contains("a &lt;b&gt;") && s.contains("card bad"), "{s}");
    }
}

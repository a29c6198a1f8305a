//! Values as tables of a study file.

use super::describe;
use super::fields::Fields;
use super::reading::{OPERATORS, usual_operators};
use crate::plain::Plain;
use crate::plain::toml_text::{self, list, number, quoted};
use crate::study::{
    ContactGroup, FramePair, NamedFormula, NamedSource, PeriodicPair, TableOperator, TableSource, Weight,
};
use soleus_math::Function;
use soleus_model::Element;

/// Fields with their values as TOML.
#[derive(Default)]
pub(super) struct Writing(pub Vec<(&'static str, String)>);

/// The fields of a table that differ from those of a table where everything is left out.
pub(super) fn differing(
    fields: impl Fn(&mut Writing, bool),
    is_needed: impl Fn(&str) -> bool,
) -> Vec<(&'static str, String)> {
    let (mut given, mut usual) = (Writing::default(), Writing::default());
    fields(&mut given, false);
    fields(&mut usual, true);
    given.0.retain(|field| is_needed(field.0) || !usual.0.contains(field));
    given.0
}

impl Writing {
    fn push(&mut self, name: &'static str, value: String) {
        self.0.push((name, value));
    }
}

/// Text of several lines, as it is where TOML allows it.
fn block(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    match !text.contains("'''") && !text.ends_with('\'') && text.chars().all(is_plain) {
        true => format!("'''\n{text}'''"),
        false => quoted(text),
    }
}

/// Bounds: one number where both are the same.
pub(super) fn bounds(b: &[f64; 2]) -> String {
    match b[0] == b[1] {
        true => number(b[0]),
        false => list(b, |x| number(*x)),
    }
}

fn inline(fields: &[(&'static str, String)]) -> String {
    let all: Vec<String> = fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!("{{ {} }}", all.join(", "))
}

fn table_source_text(s: &TableSource) -> String {
    let file = quoted(s.file.as_deref().unwrap_or_default());
    // The short forms, where one of them says the same.
    let hz = s.operators.iter().find_map(|o| match o {
        TableOperator::LowPass(hz) => Some(*hz),
        _ => None,
    });
    let speeds = s.operators.contains(&TableOperator::Speeds);
    let mut fields = vec![("file", file.clone())];
    if s.operators == usual_operators(hz, speeds) {
        if hz.is_none() && !speeds {
            return file;
        }
        fields.extend(hz.map(|hz| ("lowpass_hz", number(hz))));
        fields.extend(speeds.then(|| ("speeds", "true".to_string())));
    } else {
        let word = |o: &TableOperator| match o {
            TableOperator::LowPass(hz) => format!("{{ lowpass_hz = {} }}", number(*hz)),
            other => quoted(OPERATORS.iter().find(|w| w.1 == *other).map_or("", |w| w.0)),
        };
        fields.push(("operators", list(&s.operators, word)));
    }
    inline(&fields)
}

fn function_text(f: &Function) -> String {
    match f {
        Function::Constant(x) => number(*x),
        // A form of numbers and words is always JSON.
        other => toml_text::inline(&serde_json::to_value(other.form()).unwrap_or_default()),
    }
}

impl Fields for Writing {
    fn text(&mut self, name: &'static str, value: &mut String) {
        self.push(name, quoted(value));
    }

    fn optional_text(&mut self, name: &'static str, value: &mut Option<String>) {
        self.push(name, quoted(value.as_deref().unwrap_or_default()));
    }

    fn word(&mut self, name: &'static str, value: &mut String, _: &[&'static str]) {
        self.push(name, quoted(value));
    }

    fn number(&mut self, name: &'static str, value: &mut f64) {
        self.push(name, number(*value));
    }

    fn optional_number(&mut self, name: &'static str, value: &mut Option<f64>) {
        if let Some(x) = value {
            self.push(name, number(*x));
        }
    }

    fn positive(&mut self, name: &'static str, value: &mut Option<f64>) {
        self.optional_number(name, value);
    }

    fn count(&mut self, name: &'static str, value: &mut Option<usize>) {
        if let Some(n) = value {
            self.push(name, n.to_string());
        }
    }

    fn index(&mut self, name: &'static str, value: &mut Option<usize>) {
        self.count(name, value);
    }

    fn boolean(&mut self, name: &'static str, value: &mut bool) {
        self.push(name, value.to_string());
    }

    fn numbers(&mut self, name: &'static str, value: &mut Vec<f64>) {
        self.push(name, list(value, |x| number(*x)));
    }

    fn vector(&mut self, name: &'static str, value: &mut [f64; 3]) {
        self.push(name, list(value, |x| number(*x)));
    }

    fn texts(&mut self, name: &'static str, value: &mut Vec<String>) {
        self.push(name, list(value, |t| quoted(t)));
    }

    fn bounds(&mut self, name: &'static str, value: &mut Option<[f64; 2]>) {
        if let Some(b) = value {
            self.push(name, bounds(b));
        }
    }

    fn angle_bounds(&mut self, name: &'static str, _: &'static str, value: &mut Option<[f64; 2]>) {
        self.bounds(name, value);
    }

    fn bounds_list(&mut self, name: &'static str, value: &mut Vec<[f64; 2]>) {
        match &value[..] {
            [] => {}
            [one] => self.push(name, bounds(one)),
            several => self.push(name, list(several, |b| list(b, |x| number(*x)))),
        }
    }

    fn weights(&mut self, name: &'static str, value: &mut Vec<Weight>) {
        let twice = |i: usize| value[..i].iter().any(|w| w.name == value[i].name);
        let text = match (0..value.len()).any(twice) {
            true => list(value, |w| format!("[{}, {}]", quoted(&w.name), number(w.weight))),
            false => {
                let all: Vec<String> =
                    value.iter().map(|w| format!("{} = {}", quoted(&w.name), number(w.weight))).collect();
                format!("{{ {} }}", all.join(", "))
            }
        };
        self.push(name, text);
    }

    fn table_source(&mut self, name: &'static str, value: &mut TableSource) {
        self.push(name, table_source_text(value));
    }

    fn pairs(&mut self, name: &'static str, negated: &'static str, value: &mut Vec<PeriodicPair>) {
        let ends = |p: &PeriodicPair| match p.initial == p.last {
            true => quoted(&p.initial),
            false => format!("[{}, {}]", quoted(&p.initial), quoted(&p.last)),
        };
        let first_negated = value.iter().position(|p| p.negate).unwrap_or(value.len());
        if value[first_negated..].iter().all(|p| p.negate) {
            self.push(name, list(&value[..first_negated], ends));
            self.push(negated, list(&value[first_negated..], ends));
        } else {
            // The order is kept.
            let table = |p: &PeriodicPair| {
                let (a, b) = (quoted(&p.initial), quoted(&p.last));
                format!("{{ initial = {a}, final = {b}, negated = {} }}", p.negate)
            };
            self.push(name, list(value, table));
        }
    }

    fn contact_groups(&mut self, name: &'static str, value: &mut Vec<ContactGroup>) {
        let text = list(value, |g| {
            let mut w = Writing::default();
            describe::contact_group(&mut w, &mut g.clone());
            inline(&w.0)
        });
        self.push(name, text);
    }

    fn frame_pairs(&mut self, name: &'static str, value: &mut Vec<FramePair>) {
        let text = list(value, |p| {
            let frames = list(&p.frames, |f| quoted(f));
            inline(&[("frames", frames), ("bounds", list(&p.distance, |x| number(*x)))])
        });
        self.push(name, text);
    }

    fn formula(&mut self, name: &'static str, value: &mut String) {
        self.push(name, quoted(value));
    }

    fn formulas(&mut self, name: &'static str, value: &mut Vec<NamedFormula>) {
        let all: Vec<String> =
            value.iter().map(|f| format!("{} = {}", quoted(&f.name), quoted(&f.formula))).collect();
        self.push(name, format!("{{ {} }}", all.join(", ")));
    }

    fn table_sources(&mut self, name: &'static str, value: &mut Vec<NamedSource>) {
        let all: Vec<String> =
            value.iter().map(|t| format!("{} = {}", quoted(&t.name), table_source_text(&t.source))).collect();
        self.push(name, format!("{{ {} }}", all.join(", ")));
    }

    fn function(&mut self, name: &'static str, value: &mut Option<Function>) {
        if let Some(f) = value {
            self.push(name, function_text(f));
        }
    }

    fn functions(&mut self, name: &'static str, value: &mut Vec<(String, Function)>) {
        let all: Vec<String> =
            value.iter().map(|(name, f)| format!("{} = {}", quoted(name), function_text(f))).collect();
        self.push(name, format!("{{ {} }}", all.join(", ")));
    }

    fn elements(&mut self, name: &'static str, value: &mut Vec<Element>) {
        self.push(name, list(value, |e| quoted(&e.form())));
    }

    fn element(&mut self, name: &'static str, value: &mut Option<Element>) {
        if let Some(e) = value {
            self.push(name, block(&e.form()));
        }
    }
}

//! Small operations on elements that several steps need.

use soleus_model::{Content, Element};

use super::Upgrade;

/// Calls `f` for every element, parents before children.
pub fn visit(e: &mut Element, f: &mut impl FnMut(&mut Element)) {
    f(e);
    for child in e.children_mut() {
        visit(child, f);
    }
}

/// Calls `f` for every element, parents before children, without changing anything.
pub fn look<'e>(e: &'e Element, f: &mut impl FnMut(&'e Element)) {
    f(e);
    for child in e.children() {
        look(child, f);
    }
}

/// Where the first child with that tag stands among the contents.
pub fn position(e: &Element, tag: &str) -> Option<usize> {
    e.content.iter().position(|c| matches!(c, Content::Element(e) if e.tag == tag))
}

/// Takes out the first child with that tag, and the comment just before it, which explained it.
pub fn remove(e: &mut Element, tag: &str) -> Option<Element> {
    let i = position(e, tag)?;
    let taken = e.content.remove(i);
    if i > 0 && matches!(e.content[i - 1], Content::Comment(_)) {
        e.content.remove(i - 1);
    }
    match taken {
        Content::Element(taken) => Some(taken),
        _ => None,
    }
}

/// The child elements, taken out; comments and text go with the parent.
pub fn into_children(e: Element) -> impl Iterator<Item = Element> {
    e.content.into_iter().filter_map(|c| match c {
        Content::Element(e) => Some(e),
        _ => None,
    })
}

/// The first child with that tag; made at the end if there is none.
pub fn child_or_new<'e>(e: &'e mut Element, tag: &str) -> Option<&'e mut Element> {
    if e.child(tag).is_none() {
        let line = e.line;
        e.push(Element::new(tag, line));
    }
    e.child_mut(tag)
}

/// The numbers of a text; what is not a number ends the list, as it does for OpenSim.
pub fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map_while(|w| w.parse().ok()).collect()
}

/// The first `N` numbers of a child; `None` when the child is missing or too short.
pub fn child_numbers<const N: usize>(e: &Element, tag: &str) -> Option<[f64; N]> {
    let all = numbers(&e.child_text(tag)?);
    all.get(..N)?.try_into().ok()
}

/// Numbers as text: the shortest form that reads back to the same value.
pub fn format_numbers(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|v| format!("{v}")).collect();
    words.join(" ")
}

/// What OpenSim takes for true: `true` in any case, or a number other than 0.
pub fn truth(text: &str) -> bool {
    let t = text.trim();
    t.eq_ignore_ascii_case("true") || t.parse::<f64>().is_ok_and(|v| v != 0.0)
}

impl Upgrade<'_> {
    /// The value OpenSim uses after it wrote `v` with six significant digits (C++ streams'
    /// default precision), unless all digits are asked for.
    pub fn as_opensim_keeps(&mut self, v: f64, line: u32) -> f64 {
        if !self.options.round_like_opensim || !v.is_finite() {
            return v;
        }
        let kept: f64 = format!("{v:.5e}").parse().unwrap_or(v);
        if kept != v {
            if self.rounded == 0 {
                self.rounded_line = line;
            }
            self.rounded += 1;
        }
        kept
    }
}

/// The absolute path of a body named in a file before 4.0, where all bodies are in one set.
pub fn body_path(name: &str) -> String {
    match clean_name(name).as_str() {
        "" => String::new(),
        "ground" => "/ground".to_string(),
        body => format!("/bodyset/{body}"),
    }
}

/// A name as version 30500 wants it: without white space.
pub fn clean_name(name: &str) -> String {
    name.split_whitespace().collect()
}

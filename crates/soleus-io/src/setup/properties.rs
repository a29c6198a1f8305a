//! Typed reading of a tool's properties.

use soleus_model::{Diagnostics, Element};

/// The properties of one tool; remembers which were asked for.
pub(super) struct Properties<'a, 'l> {
    element: &'a Element,
    log: &'l mut Diagnostics,
    asked: Vec<&'static str>,
}

impl<'a, 'l> Properties<'a, 'l> {
    pub fn new(element: &'a Element, log: &'l mut Diagnostics) -> Self {
        Properties { element, log, asked: Vec::new() }
    }

    /// Where problems are told.
    pub fn log(&mut self) -> &mut Diagnostics {
        self.log
    }

    /// The element of a property.
    pub fn find(&mut self, tag: &'static str) -> Option<&'a Element> {
        self.asked.push(tag);
        self.element.child(tag)
    }

    /// Says that properties are known although they do not matter.
    pub fn skip(&mut self, tags: &[&'static str]) {
        self.asked.extend_from_slice(tags);
    }

    /// Text; `None` when absent, empty or `Unassigned`.
    pub fn text(&mut self, tag: &'static str) -> Option<String> {
        let text = self.find(tag)?.text();
        (!text.is_empty() && !text.eq_ignore_ascii_case("unassigned")).then_some(text)
    }

    /// Words separated by white space.
    pub fn words(&mut self, tag: &'static str) -> Vec<String> {
        self.text(tag).map_or(Vec::new(), |t| t.split_whitespace().map(str::to_string).collect())
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, tag: &'static str, default: bool) -> bool {
        let Some(e) = self.find(tag) else { return default };
        match e.text_cow().to_ascii_lowercase().as_str() {
            "true" | "1" => true,
            "false" | "0" => false,
            "" => default,
            other => {
                self.log.error(e.line, "", format!("`{tag}`: `{other}` is neither true nor false"), "");
                default
            }
        }
    }

    /// One number, infinite ones among them.
    pub fn number(&mut self, tag: &'static str, default: f64) -> f64 {
        self.numbers::<1>(tag).map_or(default, |[x]| x)
    }

    /// So many numbers; `None` when absent or empty.
    pub fn numbers<const N: usize>(&mut self, tag: &'static str) -> Option<[f64; N]> {
        let e = self.find(tag)?;
        let text = e.text_cow();
        if text.is_empty() {
            return None;
        }
        let mut words = text.split_whitespace().map(number);
        let mut list = [0.0; N];
        let all = list.iter_mut().all(|x| match words.next().flatten() {
            Some(found) => {
                *x = found;
                true
            }
            None => false,
        });
        if all && words.next().is_none() {
            return Some(list);
        }
        self.log.error(e.line, "", format!("`{tag}` needs {N} number(s), found `{text}`"), "");
        None
    }

    /// Warns about properties that nobody asked for.
    pub fn finish(self) {
        for child in self.element.children() {
            if !self.asked.contains(&child.tag.as_str()) {
                let message = format!("`{}` has no property `{}`; ignored", self.element.tag, child.tag);
                self.log.warn(child.line, "", message, "");
            }
        }
    }
}

/// A number as files write it.
fn number(word: &str) -> Option<f64> {
    word.parse().ok().filter(|x: &f64| !x.is_nan())
}

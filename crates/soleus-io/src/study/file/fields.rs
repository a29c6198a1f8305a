//! Access to the fields of a table for [`describe`](super::describe): the same list of fields is used for reading and
//! writing.

use crate::study::{ContactGroup, FramePair, NamedFormula, NamedSource, PeriodicPair, TableSource, Weight};
use soleus_math::Function;
use soleus_model::Element;

/// A table that is read into values, or that values are written to. A field that is not there leaves its value as it is; one
/// that is wrong is told with its line.
pub(super) trait Fields {
    fn text(&mut self, name: &'static str, value: &mut String);
    /// Empty text is none.
    fn optional_text(&mut self, name: &'static str, value: &mut Option<String>);
    /// One of several words.
    fn word(&mut self, name: &'static str, value: &mut String, words: &[&'static str]);
    fn number(&mut self, name: &'static str, value: &mut f64);
    fn optional_number(&mut self, name: &'static str, value: &mut Option<f64>);
    /// A number above zero.
    fn positive(&mut self, name: &'static str, value: &mut Option<f64>);
    /// A whole number, at least one.
    fn count(&mut self, name: &'static str, value: &mut Option<usize>);
    /// A place in a vector, from zero; negative is none.
    fn index(&mut self, name: &'static str, value: &mut Option<usize>);
    fn boolean(&mut self, name: &'static str, value: &mut bool);
    fn numbers(&mut self, name: &'static str, value: &mut Vec<f64>);
    fn vector(&mut self, name: &'static str, value: &mut [f64; 3]);
    fn texts(&mut self, name: &'static str, value: &mut Vec<String>);
    fn bounds(&mut self, name: &'static str, value: &mut Option<[f64; 2]>);
    /// Bounds that may be given in degrees under another name.
    fn angle_bounds(&mut self, name: &'static str, in_degrees: &'static str, value: &mut Option<[f64; 2]>);
    /// One pair of bounds, or several.
    fn bounds_list(&mut self, name: &'static str, value: &mut Vec<[f64; 2]>);
    fn weights(&mut self, name: &'static str, value: &mut Vec<Weight>);
    fn table_source(&mut self, name: &'static str, value: &mut TableSource);
    /// Pairs, and those where one is minus the other.
    fn pairs(&mut self, name: &'static str, negated: &'static str, value: &mut Vec<PeriodicPair>);
    fn contact_groups(&mut self, name: &'static str, value: &mut Vec<ContactGroup>);
    fn frame_pairs(&mut self, name: &'static str, value: &mut Vec<FramePair>);
    /// A formula, which must be one.
    fn formula(&mut self, name: &'static str, value: &mut String);
    /// Formulas by name.
    fn formulas(&mut self, name: &'static str, value: &mut Vec<NamedFormula>);
    /// Tables by name.
    fn table_sources(&mut self, name: &'static str, value: &mut Vec<NamedSource>);
    fn function(&mut self, name: &'static str, value: &mut Option<Function>);
    /// Functions by name.
    fn functions(&mut self, name: &'static str, value: &mut Vec<(String, Function)>);
    /// Elements as XML.
    fn elements(&mut self, name: &'static str, value: &mut Vec<Element>);
    /// An element as XML.
    fn element(&mut self, name: &'static str, value: &mut Option<Element>);
}

/// A choice between two words: the second is `true`.
pub(super) fn choice(f: &mut dyn Fields, name: &'static str, words: [&'static str; 2], value: &mut bool) {
    let mut word = words[usize::from(*value)].to_string();
    f.word(name, &mut word, &words);
    *value = word == words[1];
}

//! Typed reading of one element's properties.
//!
//! A [`PropertyReader`] hands out the values of an object's properties: from its element, else
//! from the object of the same class in the document's `<defaults>`, else the value the class
//! has by itself. It checks them, remembers which were asked for, and at the end names those
//! that nobody asked for.

use super::context::Context;
use crate::components::PropertyValue;
use crate::document::Element;
use soleus_math::{Vec3, vec3};
use std::cell::RefCell;

/// Properties that only change what is drawn. They stay in the document.
const DISPLAY_ONLY: [&str; 21] = [
    "Appearance",
    "appearance",
    "attached_geometry",
    "color",
    "default_color",
    "display_preference",
    "display",
    "frame_geometry",
    "FrameGeometry",
    "geometry_files",
    "GeometrySet",
    "ModelVisualPreferences",
    "Mesh",
    "scale_factors",
    "show_axes",
    "SurfaceProperties",
    "transform_axes",
    "VisibleObject",
    "visible_object",
    "representation",
    "opacity",
];

/// Properties of older versions that OpenSim 4.6 does not read, class by class.
const RETIRED: [(&str, &[&str]); 11] = [
    ("Coordinate", RETIRED_OF_COORDINATE),
    ("SimmSpline", &["min_x", "min_y", "min_z", "max_x", "max_y", "max_z"]),
    ("Thelen2003Muscle", &["damping", "Vmax", "Vmax0", "muscle_model"]),
    ("Schutte1993Muscle_Deprecated", &["force_velocity_curve", "muscle_model"]),
    ("MovingPathPoint", &["location"]),
    ("ConditionalPathPoint", &["coordinate"]),
    ("TransformAxis", &["is_rotation"]),
    ("FreeJoint", &["use_euler_angles"]),
    ("PinJoint", &["use_euler_angles"]),
    ("BallJoint", &["use_euler_angles"]),
    ("SmoothSphereHalfSpaceForce", &["derivative_smoothing"]),
];
const RETIRED_OF_COORDINATE: &[&str] = &[
    "initial_value",
    "tolerance",
    "stiffness",
    "keys",
    "restraint_active",
    "restraint_function",
    "min_restraint_function",
    "max_restraint_function",
];

/// The properties of one object.
pub(super) struct PropertyReader<'a, 'd> {
    /// The object's element.
    pub element: &'d Element,
    /// Absolute path of the component that owns the object, for messages and sockets.
    pub path: &'a str,
    cx: &'a Context<'d>,
    default: Option<&'d Element>,
    asked: RefCell<Vec<&'static str>>,
    used: RefCell<Vec<&'d Element>>,
}

impl<'a, 'd> PropertyReader<'a, 'd> {
    /// Reads `element`, an object of the class its tag names, owned by the component at `path`.
    pub fn new(cx: &'a Context<'d>, element: &'d Element, path: &'a str) -> Self {
        Self::with_class(cx, element, &element.tag, path)
    }

    /// As `new`, where the class is not the tag (`<ground>` holds a `Ground`).
    pub fn with_class(cx: &'a Context<'d>, element: &'d Element, class: &str, path: &'a str) -> Self {
        let default = cx.default_of(class).filter(|d| !std::ptr::eq(*d, element));
        PropertyReader { element, path, cx, default, asked: RefCell::default(), used: RefCell::default() }
    }

    /// The element of a property, if the file gives it.
    pub fn find(&self, tag: &'static str) -> Option<&'d Element> {
        self.asked.borrow_mut().push(tag);
        self.note(tag, || PropertyValue::Other);
        self.element.child(tag).or_else(|| self.default.and_then(|d| d.child(tag)))
    }

    /// The first of several spellings of a property.
    pub fn find_any(&self, tags: &[&'static str]) -> Option<&'d Element> {
        tags.iter().filter_map(|t| self.find(t)).next()
    }

    /// Says that a property is known although it does not matter here.
    pub fn skip(&self, tags: &[&'static str]) {
        self.asked.borrow_mut().extend_from_slice(tags);
        tags.iter().for_each(|tag| self.note(tag, || PropertyValue::Other));
    }

    /// Takes down the value of a property that counts, for those who want to know.
    fn note(&self, tag: &'static str, value: impl FnOnce() -> PropertyValue) {
        let Some(record) = &self.cx.record else { return };
        let (mut record, value) = (record.borrow_mut(), value());
        let list = record.entry(std::ptr::from_ref(self.element)).or_default();
        match list.iter_mut().find(|(name, _)| *name == tag) {
            // A kind that is known is not forgotten when the property is looked at again.
            Some((_, old)) if !matches!(value, PropertyValue::Other) => *old = value,
            Some(_) => {}
            None => list.push((tag, value)),
        }
    }

    /// Reports an error of this object at `line`.
    pub fn error(&self, line: u32, message: impl Into<String>, hint: &str) {
        self.cx.diags.borrow_mut().error(line, self.path, message, hint);
    }

    /// Reports a warning of this object at `line`.
    pub fn warn(&self, line: u32, message: impl Into<String>, hint: &str) {
        self.cx.diags.borrow_mut().warn(line, self.path, message, hint);
    }

    /// The numbers of a property; `None` when it is absent or could not be read.
    fn numbers(&self, tag: &'static str) -> Option<(Vec<f64>, u32)> {
        let e = self.find(tag)?;
        match parse_numbers(&e.text()) {
            Ok(list) => Some((list, e.line)),
            Err(word) => {
                self.error(e.line, format!("`{tag}`: `{word}` is not a number"), "");
                None
            }
        }
    }

    /// As `numbers`, of a given count.
    fn counted(&self, tag: &'static str, count: usize) -> Option<(Vec<f64>, u32)> {
        let (list, line) = self.numbers(tag)?;
        if list.len() != count {
            let (want, have) = (count, list.len());
            self.error(line, format!("`{tag}` needs {want} number(s), found {have}"), "");
            return None;
        }
        Some((list, line))
    }

    /// A number that may be infinite, but not NaN.
    pub fn number(&self, tag: &'static str, default: f64) -> f64 {
        let value = self.optional_number(tag).unwrap_or(default);
        self.note(tag, || PropertyValue::Number(Some(value)));
        value
    }

    /// A number that may be absent.
    pub fn optional_number(&self, tag: &'static str) -> Option<f64> {
        self.note(tag, || PropertyValue::Number(None));
        // An empty element is an optional property without a value.
        if self.find(tag)?.text().is_empty() {
            return None;
        }
        let (list, line) = self.counted(tag, 1)?;
        if list[0].is_nan() {
            self.error(line, format!("`{tag}` is NaN"), "give it a number");
            return None;
        }
        self.note(tag, || PropertyValue::Number(Some(list[0])));
        Some(list[0])
    }

    /// A finite number.
    pub fn finite(&self, tag: &'static str, default: f64) -> f64 {
        let value = self.number(tag, default);
        if value.is_finite() {
            return value;
        }
        self.error(self.line_of(tag), format!("`{tag}` is {value}, which is not finite"), "");
        default
    }

    /// A finite number above zero.
    pub fn positive(&self, tag: &'static str, default: f64) -> f64 {
        let value = self.finite(tag, default);
        if value > 0.0 {
            return value;
        }
        self.error(self.line_of(tag), format!("`{tag}` is {value}, but must be above zero"), "");
        if default > 0.0 { default } else { 1.0 }
    }

    /// A finite number, zero or above.
    pub fn nonnegative(&self, tag: &'static str, default: f64) -> f64 {
        let value = self.finite(tag, default);
        if value >= 0.0 {
            return value;
        }
        self.error(self.line_of(tag), format!("`{tag}` is {value}, but must not be negative"), "");
        0.0
    }

    /// Line of a property, or of the object when the property is absent.
    pub fn line_of(&self, tag: &str) -> u32 {
        let given = self.element.child(tag).or_else(|| self.default.and_then(|d| d.child(tag)));
        given.map_or(self.element.line, |e| e.line)
    }

    /// A whole number.
    pub fn integer(&self, tag: &'static str, default: i64) -> i64 {
        let value = self.finite(tag, default as f64);
        if value.fract() != 0.0 || value.abs() > 1e15 {
            self.error(self.line_of(tag), format!("`{tag}` is {value}, which is not a whole number"), "");
            return default;
        }
        value as i64
    }

    /// `true` or `false`.
    pub fn boolean(&self, tag: &'static str, default: bool) -> bool {
        let value = match self.find(tag) {
            None => default,
            Some(e) => match e.text().to_ascii_lowercase().as_str() {
                "true" | "1" => true,
                "false" | "0" => false,
                "" => default,
                other => {
                    self.error(e.line, format!("`{tag}`: `{other}` is neither true nor false"), "");
                    default
                }
            },
        };
        self.note(tag, || PropertyValue::Boolean(value));
        value
    }

    /// Three finite numbers.
    pub fn vec3(&self, tag: &'static str, default: Vec3<f64>) -> Vec3<f64> {
        self.fixed(tag, default.to_array()).map_or(default, |a| vec3(a[0], a[1], a[2]))
    }

    /// `N` finite numbers.
    pub fn array<const N: usize>(&self, tag: &'static str, default: [f64; N]) -> [f64; N] {
        self.fixed(tag, default).unwrap_or(default)
    }

    fn fixed<const N: usize>(&self, tag: &'static str, mut out: [f64; N]) -> Option<[f64; N]> {
        self.note(tag, || PropertyValue::Numbers(out.to_vec()));
        let (list, line) = self.counted(tag, N)?;
        for (o, x) in out.iter_mut().zip(&list) {
            if !x.is_finite() {
                self.error(line, format!("`{tag}` contains {x}, which is not finite"), "");
                return None;
            }
            *o = *x;
        }
        self.note(tag, || PropertyValue::Numbers(out.to_vec()));
        Some(out)
    }

    /// Any number of numbers, NaN among them (optional entries are written so).
    pub fn list(&self, tag: &'static str) -> Vec<f64> {
        let list = self.numbers(tag).map_or(Vec::new(), |(list, _)| list);
        self.note(tag, || PropertyValue::Numbers(list.clone()));
        list
    }

    /// Text.
    pub fn string(&self, tag: &'static str, default: &str) -> String {
        let text = self.find(tag).map_or_else(|| default.to_string(), Element::text);
        self.note(tag, || PropertyValue::Text(text.clone()));
        text
    }

    /// Words separated by white space, or quoted.
    pub fn words(&self, tag: &'static str) -> Vec<String> {
        let words = self.find(tag).map_or(Vec::new(), |e| split_words(&e.text()));
        self.note(tag, || PropertyValue::Words(words.clone()));
        words
    }

    /// The object that a property holds: `<tag><Class/></tag>` or `<Class name="tag"/>`.
    pub fn object(&self, tag: &'static str) -> Option<&'d Element> {
        if let Some(e) = self.find(tag) {
            return e.children().next();
        }
        let named = |e: &'d Element| e.children().find(|c| c.name() == tag);
        let found = named(self.element).or_else(|| self.default.and_then(named))?;
        self.used.borrow_mut().push(found);
        Some(found)
    }

    /// A reader of the part of this object that is of that class. What a given part leaves out comes
    /// from the document's default of the class; a part that is not given, from the owner's class alone.
    pub fn part(&self, class: &'static str) -> Option<PropertyReader<'a, 'd>> {
        self.find(class).map(|e| PropertyReader::new(self.cx, e, self.path))
    }

    /// A function: as `object`, or an unnamed child of a function class.
    pub fn function(&self, tag: &'static str) -> Option<&'d Element> {
        if let Some(e) = self.object(tag) {
            return Some(e);
        }
        let is_function =
            |c: &&'d Element| c.name().is_empty() && super::functions::is_function_class(&c.tag);
        let found = self.element.children().find(is_function)?;
        self.used.borrow_mut().push(found);
        Some(found)
    }

    /// The objects that a list property holds.
    pub fn objects(&self, tag: &'static str) -> impl Iterator<Item = &'d Element> + use<'d> {
        self.find(tag).into_iter().flat_map(Element::children)
    }

    /// What a socket, or a property that names a component, says, with its line. `tags` are its
    /// spellings, the newest first.
    pub fn reference(&self, tags: &[&'static str]) -> Option<(String, u32)> {
        let e = self.find_any(tags)?;
        let text = e.text();
        tags.iter().filter(|t| **t == e.tag).for_each(|t| self.note(t, || PropertyValue::Text(text.clone())));
        if text.is_empty() { None } else { Some((text, e.line)) }
    }

    /// Reports each property that was not asked for: a note if an older version had it and the
    /// current one does without, else a warning.
    pub fn finish(self) {
        let (asked, used) = (self.asked.borrow(), self.used.borrow());
        let class = self.element.tag.as_str();
        for child in self.element.children() {
            let tag = child.tag.as_str();
            let known = asked.contains(&tag) || DISPLAY_ONLY.contains(&tag) || tag == "components";
            if !known && !used.iter().any(|e| std::ptr::eq(*e, child)) {
                let is_retired = RETIRED.iter().any(|(c, tags)| *c == class && tags.contains(&tag));
                self.cx.ignored_property(class, child, self.path, is_retired);
            }
        }
    }
}

/// Numbers separated by white space; commas, parentheses and brackets count as white space.
/// The error is the word that is not a number.
pub(crate) fn parse_numbers(text: &str) -> Result<Vec<f64>, String> {
    let mut list = Vec::new();
    let is_gap = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '[' | ']' | '~');
    for word in text.split(is_gap).filter(|w| !w.is_empty()) {
        list.push(parse_number(word).ok_or_else(|| word.to_string())?);
    }
    Ok(list)
}

/// A number as C++ and older Windows programs write it.
fn parse_number(word: &str) -> Option<f64> {
    if let Ok(x) = word.parse() {
        return Some(x);
    }
    let lower = word.to_ascii_lowercase();
    if lower.contains("1.#qnan") || lower.contains("1.#ind") || lower.contains("nan") {
        return Some(f64::NAN);
    }
    match lower.as_str() {
        "1.#inf" | "+1.#inf" => Some(f64::INFINITY),
        "-1.#inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Words separated by white space; a word in double quotes may hold white space.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in text.split('"').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_numbers_of_text() {
        assert_eq!(parse_numbers(" 1 -2e3\n(0.5,Inf) ").unwrap(), vec![1.0, -2000.0, 0.5, f64::INFINITY]);
        assert!(parse_numbers("-1.#IND").unwrap()[0].is_nan());
        assert_eq!(parse_numbers("1 two"), Err("two".to_string()));
        assert_eq!(split_words("a \"b c\" d"), vec!["a", "b c", "d"]);
    }
}

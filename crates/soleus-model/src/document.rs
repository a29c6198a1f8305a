//! Content of a file with line numbers, without interpretation.

use std::borrow::Cow;

/// A whole file: the root element and surrounding comments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The file as the user named it, for messages.
    pub file: String,
    /// `Version` of the `OpenSimDocument`; 0 if the file has no such root.
    pub version: u32,
    /// Comments before the root element.
    pub preamble: Vec<String>,
    /// The outermost element (`OpenSimDocument`, or the object itself in very old files).
    pub root: Element,
    /// Comments after the root element.
    pub epilogue: Vec<String>,
}

/// One element: a tag, its attributes and its content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    /// The tag: a class name or a property name.
    pub tag: String,
    /// Attributes in file order.
    pub attributes: Vec<(String, String)>,
    /// Children, text and comments in file order. White space between elements is not kept.
    pub content: Vec<Content>,
    /// Line of the opening tag, from 1. An element created by an upgrade has the line of the element it replaces; 0 if
    /// there is none.
    pub line: u32,
}

/// Content of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A child element.
    Element(Element),
    /// Character data, with the predefined entities decoded.
    Text(String),
    /// A comment.
    Comment(String),
}

impl Element {
    /// An empty element.
    pub fn new(tag: impl Into<String>, line: u32) -> Self {
        Element { tag: tag.into(), line, ..Default::default() }
    }
    /// An element that holds only text.
    pub fn with_text(tag: impl Into<String>, text: impl Into<String>, line: u32) -> Self {
        let mut e = Element::new(tag, line);
        e.content.push(Content::Text(text.into()));
        e
    }
    /// The attribute with that name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
    /// Sets or replaces an attribute.
    pub fn set_attribute(&mut self, name: &str, value: impl Into<String>) {
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, v)) => *v = value.into(),
            None => self.attributes.push((name.to_string(), value.into())),
        }
    }
    /// The `name` attribute, or the empty string.
    pub fn name(&self) -> &str {
        self.attribute("name").unwrap_or("")
    }
    /// Child elements in order.
    pub fn children(&self) -> impl Iterator<Item = &Element> {
        self.content.iter().filter_map(|c| match c {
            Content::Element(e) => Some(e),
            _ => None,
        })
    }
    /// Child elements in order, mutable.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Element> {
        self.content.iter_mut().filter_map(|c| match c {
            Content::Element(e) => Some(e),
            _ => None,
        })
    }
    /// The first child with that tag.
    pub fn child(&self, tag: &str) -> Option<&Element> {
        self.children().find(|e| e.tag == tag)
    }
    /// The first child with that tag, mutable.
    pub fn child_mut(&mut self, tag: &str) -> Option<&mut Element> {
        self.children_mut().find(|e| e.tag == tag)
    }
    /// Appends a child element.
    pub fn push(&mut self, child: Element) {
        self.content.push(Content::Element(child));
    }
    /// Removes the first child with that tag.
    pub fn take_child(&mut self, tag: &str) -> Option<Element> {
        let i = self.content.iter().position(|c| matches!(c, Content::Element(e) if e.tag == tag))?;
        match self.content.remove(i) {
            Content::Element(e) => Some(e),
            _ => None,
        }
    }
    /// All character data of this element (not of its children), trimmed.
    pub fn text(&self) -> String {
        self.text_cow().into_owned()
    }
    /// As [`text`](Self::text), without a copy if the text is in one piece, as it nearly always is.
    pub fn text_cow(&self) -> Cow<'_, str> {
        let mut pieces = self.content.iter().filter_map(|c| match c {
            Content::Text(t) => Some(t.as_str()),
            _ => None,
        });
        let first = pieces.next().unwrap_or("");
        match pieces.next() {
            None => Cow::Borrowed(first.trim()),
            Some(second) => {
                let all: String = [first, second].into_iter().chain(pieces).collect();
                Cow::Owned(all.trim().to_string())
            }
        }
    }
    /// The trimmed text of the first child with that tag; `None` if there is no such child.
    pub fn child_text(&self, tag: &str) -> Option<String> {
        self.child(tag).map(Element::text)
    }
    /// Replaces the content of the element by text.
    pub fn set_text(&mut self, text: impl Into<String>) {
        self.content.clear();
        self.content.push(Content::Text(text.into()));
    }
    /// Changes the tag of the first child with that tag; returns whether there was one.
    pub fn rename_child(&mut self, from: &str, to: &str) -> bool {
        match self.child_mut(from) {
            Some(e) => {
                e.tag = to.to_string();
                true
            }
            None => false,
        }
    }
}

//! Components of a document by path, and their properties by name: for inspecting and changing a model with OpenSim's
//! names.
//!
//! ```
//! use soleus_model::components::{Components, PropertyValue, set_property};
//! use soleus_model::{Document, Element};
//! let mut body = Element::new("Body", 3);
//! body.set_attribute("name", "thigh");
//! body.push(Element::with_text("mass", "8.5", 4));
//! let (mut objects, mut set, mut model) = (Element::new("objects", 2), Element::new("BodySet", 2), Element::new("Model", 1));
//! objects.push(body);
//! set.push(objects);
//! model.push(set);
//! let mut document = Document { root: model, ..Document::default() };
//! let found = Components::of(&document);
//! let place = found.find("/bodyset/thigh").unwrap();
//! assert_eq!(found.value(&document, &place, "mass"), Some(PropertyValue::Number(Some(8.5))));
//! set_property(&mut document, &place, "mass", "9");
//! assert_eq!(found.value(&document, &place, "mass"), Some(PropertyValue::Number(Some(9.0))));
//! assert_eq!(found.value(&document, &place, "mass_center"), Some(PropertyValue::Numbers(vec![0.0; 3]))); // by default
//! ```

use crate::build::build_recorded;
use crate::build::properties::{parse_numbers, split_words};
use crate::diagnostic::Diagnostics;
use crate::document::{Document, Element};
use crate::model::Model;
use std::collections::HashMap;

/// Value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyValue {
    /// A number; an optional one may be absent.
    Number(Option<f64>),
    /// `true` or `false`.
    Boolean(bool),
    /// Several numbers.
    Numbers(Vec<f64>),
    /// Text.
    Text(String),
    /// Words.
    Words(Vec<String>),
    /// Anything else: an object, a list of objects, display properties.
    Other,
}

impl PropertyValue {
    /// What the text of an element says, if it is of the kind that this one is; text where it is not.
    fn read(&self, element: &Element) -> PropertyValue {
        let text = element.text();
        let numbers = || parse_numbers(&text).ok();
        let read = match self {
            PropertyValue::Number(_) => numbers().and_then(|list| match list[..] {
                [] => Some(PropertyValue::Number(None)),
                [x] => Some(PropertyValue::Number(Some(x))),
                _ => None,
            }),
            PropertyValue::Boolean(_) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Some(PropertyValue::Boolean(true)),
                "false" | "0" => Some(PropertyValue::Boolean(false)),
                _ => None,
            },
            PropertyValue::Numbers(_) => numbers().map(PropertyValue::Numbers),
            PropertyValue::Words(_) => Some(PropertyValue::Words(split_words(&text))),
            PropertyValue::Other if element.children().next().is_some() => Some(PropertyValue::Other),
            // Nobody reads it: the value says what it is.
            PropertyValue::Other => Some(guessed(element).read(element)),
            _ => None,
        };
        read.unwrap_or(PropertyValue::Text(text))
    }
}

/// A component of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentInfo {
    /// Absolute path, `/forceset/soleus_r`.
    pub path: String,
    /// Class, `Millard2012EquilibriumMuscle`.
    pub class: String,
    /// Position of its element; see [`element`].
    pub place: Vec<usize>,
}

/// The components of a document, and the types of their properties. Values are read from the document, which may change
/// in the meantime as long as no element is removed or inserted between others.
#[derive(Clone, Debug, Default)]
pub struct Components {
    /// In OpenSim's order.
    pub list: Vec<ComponentInfo>,
    by_path: HashMap<String, usize>,
    /// What was asked of each element while the model was built, and the value that counted.
    asked: HashMap<Vec<usize>, Vec<(&'static str, PropertyValue)>>,
}

impl Components {
    /// The components of a document of the newest version.
    pub fn of(document: &Document) -> Components {
        Components::build(document, &mut Diagnostics::default()).1
    }

    /// Also builds the model, as [`build`](crate::build()) does.
    pub fn build(document: &Document, log: &mut Diagnostics) -> (Option<Model>, Components) {
        let (model, recorded) = build_recorded(document, log, Some(HashMap::new()));
        let mut places = HashMap::new();
        note_places(&document.root, &mut Vec::new(), &mut places);
        let place = |e: &*const Element| places.get(e).cloned();
        let list: Vec<ComponentInfo> = (recorded.components.into_iter())
            // A ground that the file does not have was made of the model.
            .filter_map(|(path, class, e)| Some(ComponentInfo { path, class, place: place(&e)? }))
            .collect();
        let asked = recorded.asked.into_iter().filter_map(|(e, asked)| Some((place(&e)?, asked)));
        let mut by_path = HashMap::new();
        for (i, c) in list.iter().enumerate() {
            by_path.entry(c.path.clone()).or_insert(i);
        }
        (model, Components { by_path, asked: asked.collect(), list })
    }

    /// The component at a path.
    pub fn component(&self, path: &str) -> Option<&ComponentInfo> {
        self.by_path.get(path).map(|&i| &self.list[i])
    }

    /// The position of the component at a path.
    pub fn find(&self, path: &str) -> Option<Vec<usize>> {
        self.component(path).map(|c| c.place.clone())
    }

    /// The position of the component at a path, or of an object inside a component, by its name or its class
    /// (`/forceset/soleus_r/GeometryPath/PathPointSet/soleus_r-P1`). The path `/` is the model.
    pub fn find_part(&self, document: &Document, path: &str) -> Option<Vec<usize>> {
        let mut parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        let mut rest = Vec::new();
        let mut place = loop {
            if parts.is_empty() {
                break model_place(document)?;
            }
            if let Some(place) = self.find(&format!("/{}", parts.join("/"))) {
                break place;
            }
            rest.extend(parts.pop());
        };
        for part in rest.into_iter().rev() {
            place = inside(element(document, &place)?, &place, part)?;
        }
        Some(place)
    }

    /// Names of the properties of the element at a position, in the order of the class, followed by properties that are
    /// only in the file.
    pub fn property_names(&self, document: &Document, place: &[usize]) -> Vec<String> {
        let asked = self.asked.get(place).into_iter().flatten();
        let mut names: Vec<String> = asked.map(|(name, _)| name.to_string()).collect();
        for child in element(document, place).into_iter().flat_map(Element::children) {
            if !names.contains(&child.tag) {
                names.push(child.tag.clone());
            }
        }
        names
    }

    /// The value of a property: from the document, or its default. `None` if there is no such property.
    pub fn value(&self, document: &Document, place: &[usize], name: &str) -> Option<PropertyValue> {
        let asked = self.asked.get(place).into_iter().flatten();
        let known = asked.into_iter().find(|(n, _)| *n == name).map(|(_, value)| value);
        match element(document, place)?.child(name) {
            Some(e) => Some(known.unwrap_or(&guessed(e)).read(e)),
            None => known.cloned(),
        }
    }
}

/// The kind that the text of a property looks like, where nothing asked for it.
fn guessed(e: &Element) -> PropertyValue {
    match parse_numbers(&e.text()) {
        _ if e.children().next().is_some() => PropertyValue::Other,
        Ok(list) if list.len() == 1 => PropertyValue::Number(None),
        Ok(list) if list.len() > 1 => PropertyValue::Numbers(list),
        _ => match e.text().as_str() {
            "true" | "false" => PropertyValue::Boolean(false),
            _ => PropertyValue::Text(String::new()),
        },
    }
}

/// The element at a position: the index of a child element at each level.
pub fn element<'d>(document: &'d Document, place: &[usize]) -> Option<&'d Element> {
    place.iter().try_fold(&document.root, |e, &i| e.children().nth(i))
}

/// The element at a position, mutable.
pub fn element_mut<'d>(document: &'d mut Document, place: &[usize]) -> Option<&'d mut Element> {
    place.iter().try_fold(&mut document.root, |e, &i| e.children_mut().nth(i))
}

/// Sets the text of a property, which is created if it is missing. False if there is no such position.
pub fn set_property(document: &mut Document, place: &[usize], name: &str, text: &str) -> bool {
    let Some(owner) = element_mut(document, place) else { return false };
    match owner.child_mut(name) {
        Some(e) => e.set_text(text),
        None => owner.push(Element::with_text(name, text, 0)),
    }
    true
}

/// The `Model` element: the root, or a child of it.
fn model_place(document: &Document) -> Option<Vec<usize>> {
    if document.root.tag == "Model" {
        return Some(Vec::new());
    }
    document.root.children().position(|e| e.tag == "Model").map(|i| vec![i])
}

/// The place of the child that has a name or a class; those of a list `objects` are children too.
fn inside(owner: &Element, place: &[usize], part: &str) -> Option<Vec<usize>> {
    let at = |wanted: &dyn Fn(&Element) -> bool| owner.children().position(wanted);
    let found = at(&|e| e.name() == part).or_else(|| at(&|e| e.tag == part));
    if let Some(i) = found {
        return Some([place, &[i]].concat());
    }
    let i = at(&|e| e.tag == "objects")?;
    inside(owner.child("objects")?, &[place, &[i]].concat(), part)
}

/// Where every element is.
fn note_places(e: &Element, place: &mut Vec<usize>, places: &mut HashMap<*const Element, Vec<usize>>) {
    places.insert(std::ptr::from_ref(e), place.clone());
    for (i, child) in e.children().enumerate() {
        place.push(i);
        note_places(child, place, places);
        place.pop();
    }
}

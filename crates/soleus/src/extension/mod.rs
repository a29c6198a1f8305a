//! User-defined forces, muscles and goals.
//!
//! A law is a function of a few numbers, generic over [`Real`]. It is called once, with numbers that record all
//! operations ([`soleus_graph::Recorded`]), and converted to formulas. These have exact first and second derivatives,
//! run on any number of threads and in WebAssembly, C and CUDA, and can be written to a model file. A [`Registry`]
//! assigns names to laws. With a registry in the [`Context`](crate::Context), `<MyForce>` can be used in model files
//! like a built-in class, and `my_goal` in formulas of studies.
//!
//! ```
//! use soleus::engine::math::Real;
//! use soleus::extension::{Acts, Description, Law, Registry};
//! use soleus::states::Evaluator;
//! use soleus::{Context, Memory};
//!
//! /// A spring that stiffens: τ = −k (q + b q³).
//! struct Stiffening;
//!
//! impl Law for Stiffening {
//!     fn describe(&self) -> Description {
//!         Description {
//!             sees: vec!["q"],
//!             properties: vec![("stiffness", None), ("stiffening", Some(2.0))],
//!             ..Description::new("StiffeningSpring", Acts::OnCoordinate)
//!         }
//!     }
//!
//!     fn compute<T: Real>(&self, x: &[T], p: &[T], _z: &[T], out: &mut [T]) {
//!         out[0] = -p[0] * (x[0] + p[1] * x[0] * x[0] * x[0]);
//!     }
//! }
//!
//! let mut registry = Registry::new();
//! registry.add_force(&Stiffening)?;
//! let brace = "<StiffeningSpring name='brace'><coordinate>knee_angle</coordinate><stiffness>30</stiffness></StiffeningSpring>";
//! let text = include_str!("../../models/leg_swing.osim");
//! let text = text.replacen("<ForceSet name=\"forceset\">\n\t\t<objects>", &format!("<ForceSet><objects>{brace}"), 1);
//! let files = Memory::new().with("leg.osim", text.as_bytes());
//! let cx = Context::new(&files).with_registry(&registry);
//! let evaluator = Evaluator::read(&cx, &"leg.osim".into())?;
//! # Ok::<(), soleus::Error>(())
//! ```

mod trace;

use crate::error::Error;
use soleus_math::Real;
use soleus_math::formula::Expr;
use soleus_math::names::nearest_name;
use soleus_model::{Diagnostics, Document, Element};
use std::path::Path;

/// Where a force acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acts {
    /// On the coordinate named in `<coordinate>`: one number, N or N·m. `q` and `u` are its value and speed.
    OnCoordinate,
    /// At the point `<point>` of the frame named in `<frame>`: three numbers, a force in ground, N.
    OnPoint,
    /// Along its path (`<GeometryPath>` or another), like a muscle: one number, the tension, N. The only inputs are
    /// `length`, `lengthening_speed` and `control`.
    AlongPath,
}

/// Name, inputs and properties of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The class in a model file: `<MyForce>`.
    pub class: &'static str,
    /// Where it acts.
    pub acts: Acts,
    /// Inputs, as names of the formula language, in the order of `x`: `q`, `u`, `time`, `control`, `u[hip_flexion]`,
    /// `length`. A position, velocity or axis has three numbers: `position[foot]`. `{frame}` is replaced by the value
    /// in the element: `velocity[{frame}]`.
    pub sees: Vec<&'static str>,
    /// Numeric properties of the element by name, with a default value if they are optional. They can be parameters of
    /// studies.
    pub properties: Vec<(&'static str, Option<f64>)>,
    /// Additional states: names and initial values.
    pub states: Vec<(&'static str, f64)>,
    /// Bounds of the control, if not given in the element.
    pub control: [f64; 2],
}

impl Description {
    /// A force without inputs.
    pub fn new(class: &'static str, acts: Acts) -> Self {
        Description {
            class,
            acts,
            sees: Vec::new(),
            properties: Vec::new(),
            states: Vec::new(),
            control: [0.0, 1.0],
        }
    }
}

/// A force or a muscle: a function of its inputs.
///
/// Branches that depend on a value must use [`Real::where_below`], [`Real::max`] and similar functions, because the law
/// is recorded once for all states.
pub trait Law {
    /// Name, inputs and properties.
    fn describe(&self) -> Description;

    /// Computes the force (one number, or three for a point), followed by the rates of its states. `x` are the inputs,
    /// `p` the properties, `z` the states.
    fn compute<T: Real>(&self, x: &[T], p: &[T], z: &[T], out: &mut [T]);
}

/// A goal or another quantity that can be used by name in formulas of studies.
pub trait Goal {
    /// Name in formulas.
    fn name(&self) -> &'static str;

    /// Inputs, as names of the formula language, as in [`Description::sees`]; also terms of goals such as
    /// `displacement`, `activation[soleus_r]`, `sum(activation[*])`.
    fn sees(&self) -> Vec<&'static str>;

    /// Value.
    fn compute<T: Real>(&self, x: &[T]) -> T;
}

/// A force class as formulas.
#[derive(Clone, Debug)]
struct Class {
    description: Description,
    formula: String,
    rates: Vec<String>,
    uses_control: bool,
}

/// Laws by name, to be passed to a [`Context`](crate::Context). There is no global state; registries are independent.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    classes: Vec<Class>,
    words: Vec<(String, String)>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds a class of forces or muscles.
    pub fn add_force(&mut self, law: &impl Law) -> Result<(), Error> {
        let d = law.describe();
        let wrong = |message: String, hint: &str| Error::content(Path::new(d.class), 0, "", message, hint);
        if self.classes.iter().any(|c| c.description.class == d.class) {
            return Err(wrong(
                format!("the class `{}` is already registered", d.class),
                "choose another name",
            ));
        }
        let width = if d.acts == Acts::OnPoint { 3 } else { 1 };
        let sees = d.sees.iter().map(|w| trace::seen(w)).collect::<Result<Vec<_>, _>>();
        let mut inputs = sees.map_err(|m| wrong(m, ""))?.concat();
        let uses_control = d.sees.contains(&"control");
        let names = d.properties.iter().map(|p| p.0).chain(d.states.iter().map(|s| s.0));
        inputs.extend(names.map(Expr::input));
        let (nx, np) = (inputs.len() - d.properties.len() - d.states.len(), d.properties.len());
        let count = width + d.states.len();
        let found = trace::traced(&inputs, count, |v, out| {
            let (x, rest) = v.split_at(nx);
            let (p, z) = rest.split_at(np);
            law.compute(x, p, z, out);
        });
        let mut found = found.map_err(|m| wrong(m, trace::HINT))?.into_iter();
        let force: Vec<Expr> = found.by_ref().take(width).collect();
        let formula = match <[Expr; 3]>::try_from(force) {
            Ok([x, y, z]) => Expr::vector(x, y, z).to_string(),
            Err(list) => list.first().map_or(String::new(), Expr::to_string),
        };
        let rates = found.map(|e| e.to_string()).collect();
        self.classes.push(Class { description: d, formula, rates, uses_control });
        Ok(())
    }

    /// Adds a name for formulas.
    pub fn add_goal(&mut self, goal: &impl Goal) -> Result<(), Error> {
        let name = goal.name();
        let wrong = |message: String, hint: &str| Error::content(Path::new(name), 0, "", message, hint);
        if self.words.iter().any(|(n, _)| n == name) {
            return Err(wrong(format!("the word `{name}` is already in use"), "choose another name"));
        }
        let sees = goal.sees().iter().map(|w| trace::seen(w)).collect::<Result<Vec<_>, _>>();
        let inputs = sees.map_err(|m| wrong(m, ""))?.concat();
        let found = trace::traced(&inputs, 1, |v, out| out[0] = goal.compute(v));
        let found = found.map_err(|m| wrong(m, trace::HINT))?;
        self.words.push((name.to_string(), found.first().map_or(String::new(), Expr::to_string)));
        Ok(())
    }

    /// Whether the registry is empty.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty() && self.words.is_empty()
    }

    /// Names of the classes.
    pub fn classes(&self) -> impl Iterator<Item = &'static str> {
        self.classes.iter().map(|c| c.description.class)
    }

    /// Names for formulas, and their definitions.
    pub fn words(&self) -> impl Iterator<Item = (&str, &str)> {
        self.words.iter().map(|(n, f)| (n.as_str(), f.as_str()))
    }

    /// Replaces elements of registered classes by formulas. Errors in an element are reported with its line.
    pub fn expand(&self, document: &mut Document, log: &mut Diagnostics) {
        if !self.classes.is_empty() {
            self.expand_element(&mut document.root, log);
        }
    }

    fn expand_element(&self, e: &mut Element, log: &mut Diagnostics) {
        for child in e.children_mut() {
            match self.classes.iter().find(|c| c.description.class == child.tag) {
                Some(class) => *child = class.element(child, log),
                None => self.expand_element(child, log),
            }
        }
    }
}

impl Class {
    /// The same force by formulas. OpenSim's properties of all forces, sockets and paths stay as they are.
    fn element(&self, from: &Element, log: &mut Diagnostics) -> Element {
        let d = &self.description;
        let line = from.line;
        let mut e = Element::new("FormulaForce", line);
        e.attributes = from.attributes.clone();
        let known = |tag: &str| {
            let always =
                ["appliesForce", "min_control", "max_control"].contains(&tag) || tag.starts_with("socket_");
            let own: &[&str] = match d.acts {
                Acts::OnCoordinate => &["coordinate"],
                Acts::OnPoint => &["frame", "point"],
                Acts::AlongPath => &["path", "GeometryPath", "FunctionBasedPath", "Scholz2015GeometryPath"],
            };
            always || own.contains(&tag)
        };
        let is_property = |tag: &str| d.properties.iter().any(|p| p.0 == tag);
        for child in from.children() {
            if known(&child.tag) {
                e.push(child.clone());
            } else if !is_property(&child.tag) && !child.tag.ends_with("_frames") {
                let names = d.properties.iter().map(|p| p.0);
                let near = nearest_name(&child.tag, names, 2);
                let hint = near.map_or(String::new(), |n| format!("the nearest property is `{n}`"));
                let message = format!("`{}` is not a property of {}", child.tag, d.class);
                log.error(child.line, from.name(), message, &hint);
            }
        }
        let mut constants = Element::new("constants", line);
        for &(name, default) in &d.properties {
            let found = from.child(name);
            let text = found.map(|p| p.text().trim().to_string());
            let value = match &text {
                Some(text) => text.parse::<f64>().ok().filter(|x| x.is_finite()),
                None => default,
            };
            match value {
                Some(x) => {
                    constants.push(Element::with_text(name, format!("{x:?}"), found.map_or(line, |p| p.line)))
                }
                None => {
                    let message = match text {
                        Some(text) => format!("`{name}` is `{text}`, not a number"),
                        None => format!("`{name}` is missing"),
                    };
                    log.error(found.map_or(line, |p| p.line), from.name(), message, "");
                }
            }
        }
        // Names that the element gives.
        let named = |formula: &str| {
            from.children().fold(formula.to_string(), |text, child| {
                text.replace(&format!("{}{}]", trace::OWN, child.tag), &format!("{}]", child.text().trim()))
            })
        };
        let mut states = Element::new("states", line);
        for (&(name, start), rate) in d.states.iter().zip(&self.rates) {
            let mut state = Element::new(name, line);
            state.push(Element::with_text("rate", named(rate), line));
            state.push(Element::with_text("default_value", format!("{start:?}"), line));
            states.push(state);
        }
        e.push(Element::with_text("formula", named(&self.formula), line));
        e.push(constants);
        e.push(states);
        for (tag, x) in ["min_control", "max_control"].into_iter().zip(d.control) {
            if self.uses_control && e.child(tag).is_none() {
                e.push(Element::with_text(tag, format!("{x:?}"), line));
            }
        }
        e
    }
}

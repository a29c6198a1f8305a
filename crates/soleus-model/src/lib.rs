#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Musculoskeletal models as plain data.
//!
//! Files are represented as a [`document::Document`], a tree of elements with line numbers, independent of XML. `build`
//! converts a document to a [`Model`](model), resolves all sockets, checks all properties, and reports unused content.

#![allow(non_snake_case)] // Kernel symbols follow the literature: X_BF, p_BS.

pub mod angles;
pub mod body;
pub mod build;
pub mod components;
pub mod constraint;
pub mod contact;
pub mod controller;
pub mod diagnostic;
pub mod document;
pub mod external_loads;
pub mod force;
pub mod id;
pub mod joint;
pub mod marker_set;
pub mod model;
pub mod muscle;
pub mod operator;
pub mod path;
pub mod probe;
pub mod scale;

pub use build::{build, build_external_loads, build_function};
pub use components::{ComponentInfo, Components, PropertyValue};
pub use contact::{ContactGeometry, ContactShape, TriangleMesh};
pub use diagnostic::{Diagnostic, Diagnostics, Printable, Severity};
pub use document::{Content, Document, Element};
pub use force::{Force, ForceKind};
pub use model::Model;
pub use operator::ModelOperator;
pub use scale::{ScaleOptions, scale_document, scale_lengths};
pub use soleus_math::names::{edit_distance, nearest_name};

//! Errors of the library as Python's exceptions, which hold their diagnostics.

use pyo3::prelude::*;
use soleus::{Diagnostic, Error, ErrorKind, Severity};

/// A diagnostic as the package takes it: severity, file, line, component, message, hint.
pub type DiagnosticFields = (&'static str, String, u32, String, String, String);

/// A diagnostic as Python takes it.
pub fn diagnostic_fields(d: &Diagnostic) -> DiagnosticFields {
    let severity = match d.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    (severity, d.file.clone(), d.line, d.component.clone(), d.message.clone(), d.hint.clone())
}

/// The exception of an error. `what` it is about (`model`, `table`, …) chooses the class.
pub fn raise(py: Python<'_>, what: &str, e: &Error) -> PyErr {
    let kind = match (e, e.kind()) {
        (Error::Read { .. }, _) => "read",
        (Error::Write { .. }, _) => "write",
        (_, ErrorKind::NotSolved) => "not solved",
        (_, ErrorKind::Cancelled) => "cancelled",
        (_, ErrorKind::Input) => what,
    };
    let number = match e {
        Error::Read { source, .. } | Error::Write { source, .. } => source.raw_os_error(),
        _ => None,
    };
    make(py, kind, &e.to_string(), e.diagnostics().iter().map(diagnostic_fields).collect(), number)
}

/// An exception that the package makes.
pub fn make(
    py: Python<'_>,
    kind: &str,
    message: &str,
    diagnostics: Vec<DiagnosticFields>,
    number: Option<i32>,
) -> PyErr {
    let made = py
        .import("soleus.errors")
        .and_then(|m| m.getattr("_make"))
        .and_then(|make| make.call1((kind, message, diagnostics, number)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(e) => e,
    }
}

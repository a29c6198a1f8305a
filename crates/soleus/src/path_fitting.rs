//! Path fitting: replaces muscle paths by polynomials in the coordinates, for optimal control and real-time use.
//!
//! ```no_run
//! use soleus::{Context, Disk, FitPaths, Outcome};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = FitPaths {
//!     model: "rajagopal.osim".into(),
//!     output: Some("rajagopal_polynomial.osim".into()),
//!     ..Default::default()
//! };
//! let fitted = request.run(&context)?;
//! println!("{} paths", fitted.paths.len());
//! fitted.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::numbers::{not_negative, positive};
use crate::inputs::table::read_numbers;
use crate::inputs::{model, setup};
use crate::source::{ModelSource, Source};
use serde::{Deserialize, Serialize};
use soleus_dynamics::Options;
use soleus_io::osim::write_document;
use soleus_math::{Function, Table};
use soleus_model::document::Element;
use soleus_model::{Document, Force, Model, angles};
use soleus_simulation::system::state_column;
pub use soleus_tools::fit_paths::FitOptions;
use soleus_tools::fit_paths::{FittedPath, MOST_ORDER, fit_paths};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Replaces the paths of a model by polynomials.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct FitPaths {
    /// The model: a file, or its document.
    pub model: ModelSource,
    /// Motion around which paths are fitted; default: the whole ranges of the coordinates.
    pub coordinates: Option<Source<Table>>,
    /// Margin around the poses of the motion, rad; one centimeter for translations.
    pub margin: f64,
    /// Maximum order of the polynomials.
    pub max_order: usize,
    /// Maximum number of terms of a polynomial.
    pub max_terms: usize,
    /// Replace only paths with wrap objects or conditional points; all others are kept as they are.
    pub only_wrapping: bool,
    /// Target RMS error of the lengths, m.
    pub length_tolerance: f64,
    /// Target RMS error of the moment arms, m.
    pub moment_arm_tolerance: f64,
    /// Output model file.
    pub output: Option<PathBuf>,
}

impl Default for FitPaths {
    fn default() -> Self {
        let options = FitOptions::default();
        FitPaths {
            model: ModelSource::default(),
            coordinates: None,
            margin: options.margin[0],
            max_order: options.max_order,
            max_terms: options.max_terms,
            only_wrapping: options.only_branching,
            length_tolerance: options.length_tolerance,
            moment_arm_tolerance: options.moment_arm_tolerance,
            output: None,
        }
    }
}

/// Refuses orders of polynomials that make no sense.
pub(crate) fn check_order(path: &Path, order: usize) -> Result<(), Error> {
    let message = match order {
        0 => "polynomials of order 0 have no moment arms".to_string(),
        1..=MOST_ORDER => return Ok(()),
        _ => format!("polynomials of order {order} are not supported"),
    };
    Err(Error::content(path, 0, "", message, &format!("give an order from 1 to {MOST_ORDER}; 6 is typical")))
}

impl FitPaths {
    /// Fits all paths and replaces them in the model.
    pub fn run(&self, cx: &Context) -> Result<FittedModel, Error> {
        let path = self.model.path();
        not_negative(path, "margin around the motion, rad", self.margin)?;
        positive(path, "tolerance of lengths, m", self.length_tolerance)?;
        positive(path, "tolerance of moment arms, m", self.moment_arm_tolerance)?;
        check_order(path, self.max_order)?;
        let (model, system) = model::system(cx, &self.model, &Options::default())?;
        let options = FitOptions {
            max_order: self.max_order,
            max_terms: self.max_terms,
            only_branching: self.only_wrapping,
            length_tolerance: self.length_tolerance,
            moment_arm_tolerance: self.moment_arm_tolerance,
            poses: match &self.coordinates {
                Some(source) => poses(cx, &model, source)?,
                None => Vec::new(),
            },
            margin: [self.margin, FitOptions::default().margin[1]],
            ..FitOptions::default()
        };
        let paths = fit_paths(&model, &system, &options, &mut |done, all| {
            cx.progress("paths", done, all);
            !cx.monitor.is_cancelled()
        });
        // Half of the paths are no model.
        cx.go_on()?;
        report(&model, &paths).lines().for_each(|line| cx.note(line));

        let mut document = self.document(cx)?;
        for f in &paths {
            let force = &model.forces[f.force];
            if f.terms == 0 {
                let n = f.path.coordinates.len();
                let message =
                    format!("`{}` keeps its path: no polynomial in {n} coordinates was found", force.name);
                cx.warn(path, message, "lock coordinates that do not move");
                continue;
            }
            if let Some(d) = &mut document
                && !replace(&mut d.root, force, &element(&model, f))
            {
                let message =
                    format!("the path of `{}` is not a GeometryPath, and was not replaced", force.name);
                return Err(Error::content(path, model.line_of(&force.path), &force.path, message, ""));
            }
        }
        Ok(FittedModel { paths, document, output: self.output.clone() })
    }

    /// The elements of the model, with their comments.
    fn document(&self, cx: &Context) -> Result<Option<Document>, Error> {
        match &self.model {
            // What is odd about the file was told when the model was built.
            ModelSource::File(path) => Ok(Some(setup::upgraded(cx, path)?.0)),
            ModelSource::Model(_) if self.output.is_none() => Ok(None),
            source => Ok(Some(model::document(cx, source)?)),
        }
    }
}

/// A model with polynomial paths.
#[derive(Debug)]
pub struct FittedModel {
    /// All paths, with their errors at poses not used for the fit.
    pub paths: Vec<FittedPath>,
    /// The model; `None` if the model was given without its document.
    pub document: Option<Document>,
    output: Option<PathBuf>,
}

impl Outcome for FittedModel {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let files = self.output.iter().zip(&self.document);
        files.map(|(path, document)| Artifact::text(path, write_document(document))).collect()
    }
}

/// The poses of a motion, one value for every coordinate of the model.
fn poses(cx: &Context, model: &Model, source: &Source<Table>) -> Result<Vec<Vec<f64>>, Error> {
    let (table, path) = (read_numbers(cx, source)?, source.path());
    let mut columns = Vec::with_capacity(model.coordinates.len());
    let mut missing = Vec::new();
    for c in &model.coordinates {
        let unit = angles::unit_of(&table, c);
        match state_column(table.labels(), &format!("{}/value", c.path)) {
            Some(i) => columns.push(table.columns()[i].iter().map(|x| unit * x).collect()),
            None => {
                missing.push(c.name.as_str());
                columns.push(vec![c.default_value; table.rows()]);
            }
        }
    }
    if missing.len() == model.coordinates.len() || table.rows() == 0 {
        let message = "the table has no column for any coordinate of the model, or no rows";
        return Err(Error::content(path, 0, "", message, "give a motion of this model"));
    }
    if let Some(first) = missing.first() {
        let n = missing.len();
        let message =
            format!("{n} coordinates have no column ({first}, …): they stay near their default values");
        cx.warn(path, message, "");
    }
    let pose = |row: usize| columns.iter().map(|c: &Vec<f64>| c[row]).collect::<Vec<f64>>();
    let all = (0..table.rows()).map(pose);
    Ok(all.filter(|p| p.iter().all(|x| x.is_finite())).collect())
}

/// A table of orders and errors. Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
fn report(model: &Model, fitted: &[FittedPath]) -> String {
    let mut s = String::new();
    let _ = writeln!(
        s,
        "{:<24} {:>5} {:>6} {:>24} {:>24}",
        "path", "order", "terms", "length rms, max (mm)", "arm rms, max (mm)"
    );
    for f in fitted {
        let mm = |e: [f64; 2]| format!("{:.3} {:.3}", e[0] * 1e3, e[1] * 1e3);
        let _ = writeln!(
            s,
            "{:<24} {:>5} {:>6} {:>24} {:>24}{}",
            model.forces[f.force].name,
            f.order,
            f.terms,
            mm(f.length_error),
            mm(f.moment_arm_error),
            match (f.converged, f.path.moment_arms.is_empty()) {
                (false, _) => "  above tolerance",
                (true, false) => "  moment arms separate",
                (true, true) => "",
            }
        );
    }
    for f in fitted {
        if let Some(misfit) = &f.misfit {
            let _ = writeln!(s, "{}: {}", model.forces[f.force].name, misfit.describe(model, f.force));
        }
    }
    let worst = |e: fn(&FittedPath) -> f64| fitted.iter().map(e).fold(0.0, f64::max) * 1e3;
    let done = fitted.iter().filter(|f| f.converged).count();
    let _ = writeln!(
        s,
        "{done} of {} paths within tolerance; worst length {:.3} mm, worst moment arm {:.3} mm",
        fitted.len(),
        worst(|f| f.length_error[1]),
        worst(|f| f.moment_arm_error[1])
    );
    s
}

/// The fitted path as a file says it.
fn element(model: &Model, f: &FittedPath) -> Element {
    let mut length = Element::new("length_function", 0);
    polynomial(&f.path.length, &mut length);
    let names: Vec<&str> = f.path.coordinates.iter().map(|c| model.coordinates[c.0].path.as_str()).collect();
    let mut path = Element::new("FunctionBasedPath", 0);
    path.set_attribute("name", "path");
    path.push(Element::with_text("coordinate_paths", names.join(" "), 0));
    path.push(length);
    if !f.path.moment_arms.is_empty() {
        let mut arms = Element::new("moment_arm_functions", 0);
        f.path.moment_arms.iter().for_each(|arm| polynomial(arm, &mut arms));
        path.push(arms);
    }
    path
}

/// Adds a polynomial to an element.
fn polynomial(f: &Function, to: &mut Element) {
    let Function::MultivariatePolynomial(f) = f else { return };
    let coefficients: Vec<String> = f.coefficients().iter().map(f64::to_string).collect();
    let mut e = Element::new("MultivariatePolynomialFunction", 0);
    e.push(Element::with_text("coefficients", coefficients.join(" "), 0));
    e.push(Element::with_text("dimension", f.dimension().to_string(), 0));
    e.push(Element::with_text("order", f.order().to_string(), 0));
    to.push(e);
}

/// Puts `path` in the place of the geometry path of a force, wherever the force is; tells whether it was found.
fn replace(e: &mut Element, force: &Force, path: &Element) -> bool {
    if e.tag == force.class && e.name() == force.name {
        // Directly in the force, or in a property `path` of it.
        return put(e, path) || e.child_mut("path").is_some_and(|p| put(p, path));
    }
    e.children_mut().any(|child| replace(child, force, path))
}

fn put(e: &mut Element, path: &Element) -> bool {
    match e.child_mut("GeometryPath") {
        Some(old) => {
            *old = path.clone();
            true
        }
        None => false,
    }
}
